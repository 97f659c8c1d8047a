"""What the ULDP transform needs of its base mechanisms: blind reports in bulk, and parameters of least error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from deniable.core.domain import Domain
from deniable.core.laws import balanced, epsilon_to, hashing, projective, subset
from deniable.core.support import Support
from deniable.errors import ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.hadamard import Hadamard
from deniable.mechanisms.frequency.histogram import SHE, THE
from deniable.mechanisms.frequency.interval import IntervalSelection
from deniable.mechanisms.frequency.local_hashing import BalancedHashing, LocalHashing
from deniable.mechanisms.frequency.projective import Projective
from deniable.mechanisms.frequency.subset import SubsetSelection
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.frequency.wheel import Wheel
from deniable.mechanisms.utility.bound import best_single
from deniable.mechanisms.utility.laws import (
    UtilityLaw,
    mapped_disclosure,
    mapped_law,
    mapped_range,
    mapped_share,
    mapped_size,
    near,
    null_law,
    null_range,
    null_share,
    printed_disclosure,
    printed_range,
    walk,
)
from deniable_client.hashing import RANGE_MAX
from deniable_client.kernels.geometry import is_prime, rank_of

__all__ = [
    "BASES",
    "FORMS",
    "base_from",
    "ideal_law",
    "least_of",
    "tuned",
]

FORMS = ("null", "glutf", "paper")
"""Null branch; ULDP's Algorithm 1 with a disclosure valid for every hash function; the same as printed (audit only)."""

BASES: Mapping[str, type[Mechanism]] = {
    "grr": GRR,
    "ss": SubsetSelection,
    "iss": IntervalSelection,
    "ue": Unary,
    "sue": Unary,
    "oue": Unary,
    "lh": LocalHashing,
    "blh": LocalHashing,
    "olh": LocalHashing,
    "plh": BalancedHashing,
    "wheel": Wheel,
    "hr": Hadamard,
    "pgr": Projective,
    "the": THE,
    "she": SHE,
}
"""Mechanisms that the transform takes, by registry name."""


# ---- which items, and how many people


def base_from(document: Mapping[str, Any], epsilon: float, s: int) -> Mechanism:
    """The base that `Utility.params` describes."""
    name = document["mechanism"]
    require(name in BASES, "base", name, f"one of {', '.join(BASES)}")
    return BASES[name](epsilon=epsilon, domain=Domain.of(s), name=name, **document["params"])


# ---- parameters of least error


def least_of(base: Mechanism) -> int | None:
    """How many items share the largest likelihood of an output, at least; None where GLUTF is not offered."""
    if isinstance(base, Hadamard | Projective):
        return None
    return (
        base.size
        if isinstance(base, SubsetSelection | IntervalSelection)
        else (base.k // base.g if isinstance(base, BalancedHashing) else 1)
    )


def ideal_law(support: Support[float], s: int, least: int, form: str, w: float, v: float) -> UtilityLaw[float]:
    """The ideal law of a form; `paper` puts values beside reports with chance p(1-w), as Eq. 45 and 59 do."""
    if form == "null":
        return null_law(support, w, v)
    if form == "paper":
        return mapped_law(support, s, printed_disclosure(support, s, support.p * v))
    return mapped_law(support, s, mapped_disclosure(least, s, w, v))


def tuned(name: str, *, epsilon: float, s: int, theta: float, form: str, own: Mapping[str, Any]) -> Mechanism | None:
    """The base `name` on s sensitive items, with `own` parameters or else those of least error for this theta and form.

    None if there are fewer than two sensitive items: no base is needed then.
    """
    require(name in BASES, "base", name, f"one of {', '.join(BASES)}")
    given = {key: value for key, value in own.items() if value is not None}
    parameter, choose = _TUNED.get(name, ("", None))
    allowed = [x for x in (parameter, *_INNER.get(name, ())) if x]
    wrong = [key for key in given if key not in allowed]
    if wrong:
        listed = parameter or "none"
        raise ParameterError(f"base {name} has no option {wrong[0]!r}; its own options are: {listed}.")
    if s < 2:
        return None
    domain = Domain.of(s)
    if choose is None:
        made = _FIXED[name](epsilon=epsilon, domain=domain, **given)
        return made if made.name == name else replace(made, name=name)
    if parameter not in given:
        given[parameter] = choose(s, theta, form, *epsilon_to(epsilon))
    return BASES[name](epsilon=epsilon, domain=domain, name=name, **given)


def _cost(
    law: Callable[[int], Support[float]],
    least: Callable[[int], int],
    at: tuple[int, float, str],
    w: float,
    v: float,
) -> Callable[[int], float]:
    """n MSE as a function of a whole-number parameter, at (s, theta, form)."""
    s, theta, form = at
    return lambda x: float(ideal_law(law(x), s, least(x), form, w, v).mse_sum(s, theta))


def _size(s: int, theta: float, form: str, w: float, v: float) -> int:
    if form == "null":
        return best_single(s, theta, w, v)
    cost = _cost(lambda k: subset(w, v, s, k), lambda k: k, (s, theta, "glutf"), w, v)
    return near(mapped_size(s, theta, w, v), 1, s - 1, cost)


def _p(s: int, theta: float, form: str, w: float, v: float) -> float:
    p = null_share(s, theta, w) if form == "null" else mapped_share(s, theta, w, v)
    return min(p, math.nextafter(1, 0))


def _real_range(s: int, theta: float, form: str, w: float, v: float) -> float:
    if form == "null":
        return null_range(s, theta, w)
    return printed_range(s, theta, w) if form == "paper" else mapped_range(s, theta, w, v)


def _g(s: int, theta: float, form: str, w: float, v: float) -> int:
    cost = _cost(lambda g: hashing(w, v, g), lambda g: 1, (s, theta, form), w, v)
    real = _real_range(s, theta, form, w, v)
    return (walk if form == "paper" else near)(min(real, RANGE_MAX), 2, RANGE_MAX, cost)


def _arc(s: int, theta: float, form: str, w: float, v: float) -> float:
    return 1 / _real_range(s, theta, form, w, v)


def _blocks(s: int, theta: float, form: str, w: float, v: float) -> int:
    cost = _cost(lambda g: balanced(w, v, s, g), lambda g: s // g, (s, theta, form), w, v)
    return walk(min(_real_range(s, theta, form, w, v), s), 2, s, cost)


def _prime(s: int, theta: float, form: str, w: float, v: float) -> int:
    """All primes up to the first one >= s-1, with as few coordinates as the s items need."""
    last = max(2, s - 1)
    while not is_prime(last):
        last += 1
    cost = _cost(lambda q: projective(w, v, q, rank_of(s, q)), lambda q: 1, (s, theta, "null"), w, v)
    return min((q for q in range(2, last + 1) if is_prime(q)), key=cost)


_TUNED: Mapping[str, tuple[str, Callable[..., Any] | None]] = {
    "ss": ("size", _size),
    "iss": ("size", _size),
    "ue": ("p", _p),
    "lh": ("g", _g),
    "plh": ("g", _blocks),
    "wheel": ("arc", _arc),
    "pgr": ("prime", _prime),
}
_INNER: Mapping[str, tuple[str, ...]] = {"wheel": ("ring",), "she": ("grid", "reach")}
"""Arguments of bases for tests and research."""
_FIXED: Mapping[str, Callable[..., Mechanism]] = {
    "grr": GRR,
    "sue": Unary.symmetric,
    "oue": Unary.optimised,
    "blh": LocalHashing.binary,
    "olh": LocalHashing.optimal,
    "hr": Hadamard,
    "the": THE.optimal,
    "she": SHE,
}
