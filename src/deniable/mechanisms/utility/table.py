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


def _utility(name: str, base: str, own: tuple[str, ...], summary: str, source: str, best_for: str) -> Entry:
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
    told = (summary, source, best_for, options, ("sensitive",), inner)
    return Entry(Utility, make, *told, small=tuple(cases), traits=_TRAITS, printed=printed)


ROWS: Mapping[str, Entry] = {
    "uss": _utility(
        "uss",
        "ss",
        ("size",),
        "subset selection for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.1",
        "some answers sensitive: the least error, within 3 % or better of the optimum",
    ),
    "ussmix": Entry(
        UtilityMixture,
        make_mixture,
        "subset selection of two adjacent sizes for sensitive answers",
        "docs/maths/utility.md",
        "the optimum: up to 5 % better than uss where few answers are sensitive and theta is well known",
        ("sensitive", "theta", "size", "share"),
        needed=("sensitive",),
        small=(
            {"k": 5, "sensitive": 3, "epsilon": 1.0, "theta": 0.95},
            {"k": 6, "sensitive": "0,2,4,5", "epsilon": 3.0, "theta": 0.95},
            {"k": 5, "sensitive": 2, "epsilon": 2.0, "theta": 0.95},
            {"k": 6, "sensitive": 4, "epsilon": 0.5, "theta": 0.5, "size": 2, "share": 0.25},
        ),
        traits=Traits(costs.work_bits, costs.pull_mixture),
    ),
    "uue": _utility(
        "uue",
        "ue",
        ("p",),
        "unary encoding for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.2",
        "some answers sensitive, simple clients",
    ),
    "ulh": _utility(
        "ulh",
        "lh",
        ("g",),
        "local hashing for sensitive answers, harmless ones mostly disclosed",
        "ULDP Sec. 5.3",
        "many sensitive answers, short reports",
    ),
    "uwheel": _utility(
        "uwheel",
        "wheel",
        ("arc",),
        "wheel for sensitive answers, harmless ones mostly disclosed",
        "ULDP App. B",
        "many sensitive answers at small epsilon",
    ),
    "upgr": _utility(
        "upgr",
        "pgr",
        ("prime",),
        "projective-geometry response for sensitive answers",
        "docs/maths/utility.md",
        "many sensitive answers: log2 k bits, no seed, near the least error",
    ),
    "urr": _utility(
        "urr",
        "grr",
        (),
        "randomised response for sensitive answers (uRR)",
        "ULDP Sec. 2",
        "one to three sensitive answers, or a large epsilon",
    ),
    "urap": _utility(
        "urap", "sue", (), "symmetric unary encoding for sensitive answers (uRAP)", "ULDP Sec. 2", "comparison"
    ),
    "uhr": _utility(
        "uhr",
        "hr",
        (),
        "Hadamard response for sensitive answers (uHR)",
        "ULDP Sec. 2",
        "small epsilon, very many sensitive answers",
    ),
    "utility": Entry(
        Utility,
        _with_any_base,
        "any mechanism for sensitive answers, harmless ones mostly disclosed",
        "ULDP Alg. 1",
        "research: the transform with a base of choice",
        ("base", "sensitive", "theta", "form", "size", "p", "g", "arc", "prime"),
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
        summary="unary encoding for sensitive answers with budgets of their own, harmless ones mostly disclosed",
        source="docs/maths/utility.md",
        best_for="many answers, some more sensitive than others; for few answers optimal has far less error",
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
        "the share of harmless answers from a few people, then answers from the rest, pooled",
        "ULDP Sec. 5.4",
        "some answers sensitive, and nobody knows how many people have a harmless one",
        ("sensitive", "base", "form", "mix"),
        needed=("sensitive",),
        inner=("guess", "first_share"),
    ),
}
