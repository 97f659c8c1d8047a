"""The registry's rows of ULDP: only some answers are sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.utility import costs
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.budgets import UtilityBudgets, check_item_epsilon, make_budgets
from deniable.mechanisms.utility.collaborative import CollaborativeSampling
from deniable.mechanisms.utility.make import make_separate, make_utility
from deniable.mechanisms.utility.mixture import UtilityMixture, make_mixture
from deniable.mechanisms.utility.options import MIXTURE

__all__ = ["ROWS"]

_PRIVATE_AS_PRINTED = {"uss": "glutf", "uue": "glutf", "urr": "glutf", "urap": "glutf", "uhr": "null"}
"""Whose z is valid as printed, and the form that is the paper's then. Of the others the printed one is audited only."""
_TRAITS = Traits(costs.work_utility, costs.pull_utility)


def _with_any_base(*, base: str = "ss", **given: Any) -> Mechanism:
    return make_mixture(**given) if base == MIXTURE else make_utility(base, **given)


def _utility(name: str, base: str, own: tuple[str, ...]) -> Entry:
    """A row of a ULDP mechanism, with small cases for both valid forms."""
    cases: list[dict[str, Any]] = [
        {"k": k, "sensitive": s, "epsilon": e, "theta": 0.6} for k, s, e in ((4, 2, 1.0), (5, 3, 0.5), (4, 3, 4.0))
    ]
    if own in (("g",), ("arc",)):
        fixed: dict[str, Any] = {"g": 2} if own == ("g",) else {"arc": 0.25, "ring": 2}
        cases = [case | fixed for case in cases[:2]] + [{**cases[0], "sensitive": 2, "epsilon": 4.0} | fixed]
    printed = {"form": _PRIVATE_AS_PRINTED[name]} if name in _PRIVATE_AS_PRINTED else None
    cases += [] if base in ("hr", "pgr") else [cases[0] | {"form": "paper" if printed else "glutf"}]
    inner = ("ring",) if base == "wheel" else ()
    options = ("sensitive", "theta", "form", *own)
    make = partial(make_separate, name=name) if name == "urap" else partial(make_utility, base, name=name)
    how: dict[str, Any] = {"options": options, "needed": ("sensitive",), "inner": inner, "printed": printed}
    return Entry(Utility, make, small=tuple(cases), traits=_TRAITS, **how)


ROWS: Mapping[str, Entry] = {
    "uss": _utility("uss", "ss", ("size",)),
    "ussmix": Entry(
        UtilityMixture,
        make_mixture,
        options=("sensitive", "theta", "size", "share"),
        needed=("sensitive",),
        small=(
            {"k": 5, "sensitive": 3, "epsilon": 1.0, "theta": 0.95},
            {"k": 6, "sensitive": "0,2,4,5", "epsilon": 3.0, "theta": 0.95},
            {"k": 5, "sensitive": 2, "epsilon": 2.0, "theta": 0.95},
            {"k": 6, "sensitive": 4, "epsilon": 0.5, "theta": 0.5, "size": 2, "share": 0.25},
        ),
        traits=Traits(costs.work_bits, costs.pull_mixture),
    ),
    "uue": _utility("uue", "ue", ("p",)),
    "ulh": _utility("ulh", "lh", ("g",)),
    "uwheel": _utility("uwheel", "wheel", ("arc",)),
    "upgr": _utility("upgr", "pgr", ("prime",)),
    "urr": _utility("urr", "grr", ()),
    "urap": _utility("urap", "sue", ()),
    "uhr": _utility("uhr", "hr", ()),
    "utility": Entry(
        Utility,
        _with_any_base,
        options=("base", "sensitive", "theta", "form", "size", "p", "g", "arc", "prime"),
        needed=("sensitive",),
        inner=("ring", "grid", "reach", "q", "m", "j", "zero"),
        small=(
            {"k": 4, "sensitive": "1,3", "epsilon": 1.0, "base": "plh", "g": 2},
            {"k": 9, "sensitive": 6, "epsilon": 1.0, "base": "affine", "q": 7, "m": 3, "j": 1, "zero": 0},
            {"k": 5, "sensitive": 4, "epsilon": 1.0, "base": "iss", "size": 2, "form": "glutf"},
            {"k": 4, "sensitive": 2, "epsilon": 2.0, "base": "the"},
            {"k": 3, "sensitive": 1, "epsilon": 1.0},
            {"k": 3, "sensitive": 0, "epsilon": 1.0},
            {"k": 3, "sensitive": 3, "epsilon": 1.0},
        ),
        traits=_TRAITS,
    ),
    "uue-levels": Entry(
        cls=UtilityBudgets,
        make=make_budgets,
        options=("item_epsilon", "sensitive", "theta", "flip"),
        needed=("item_epsilon", "sensitive"),
        small=(
            {"k": 6, "sensitive": 4, "item_epsilon": "1,1,2,2", "theta": 0.6, "flip": 0.35},
            {"k": 5, "sensitive": "0,2,4", "item_epsilon": "0.5,4,1", "theta": 0.5},
            {"k": 3, "sensitive": 3, "item_epsilon": "0.5,1,1"},
            {"k": 3, "sensitive": 1, "item_epsilon": "1"},
        ),
        traits=Traits(costs.work_bits, costs.pull_budgets),
        default_epsilon=lambda options: max(check_item_epsilon(options["item_epsilon"])),
    ),
    "collaborative": Entry(
        CollaborativeSampling,
        CollaborativeSampling,
        options=("sensitive", "base", "form", "mix"),
        needed=("sensitive",),
        inner=("guess", "first_share"),
    ),
}
