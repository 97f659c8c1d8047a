"""The bases that the ULDP transform makes itself, by name, with the parameters of least error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deniable.core.domain import Domain
from deniable.core.laws import balanced, epsilon_to, hashing, projective, subset
from deniable.core.support import Support
from deniable.errors import FormatError, ParameterError, meant, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.adaptive import RULES, adaptive
from deniable.mechanisms.frequency.affine import Affine, best_numbers, make_affine
from deniable.mechanisms.frequency.geometry import Hadamard, Projective, best_prime
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.histogram import SHE, THE
from deniable.mechanisms.frequency.local_hashing import BalancedHashing, LocalHashing
from deniable.mechanisms.frequency.subset import IntervalSelection, SubsetSelection
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.frequency.wheel import Wheel
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility import laws
from deniable.mechanisms.utility.bound import best_single
from deniable.mechanisms.utility.explicit import Explicit
from deniable.mechanisms.utility.laws import UtilityLaw, near, walk
from deniable_client.hashing import RANGE_MAX
from deniable_client.kernels import Kernel
from deniable_client.kernels.affine import CELLS_MAX, primitive_root
from deniable_client.kernels.geometry import rank_of

__all__ = ["BASES", "SEPARATE", "base_from", "document_of", "hashed", "ideal_law", "least_of", "tuned"]

SEPARATE = "separate"
"""uRAP's own form: always a blind report, and the value beside it as often as epsilon allows."""


# ---- documents


def document_of(base: Mechanism) -> Mapping[str, Any]:
    """A base as a parameter of a design: by name where it can be made again from that, else its whole design."""
    plain = type(base) is _classes().get(base.name) and base.domain == Domain.of(base.k)
    return {"mechanism": base.name, "params": base.params} if plain else base.design


def base_from(document: Mapping[str, Any], epsilon: float, kernel: Kernel) -> Mechanism:
    """The base that a document by name describes; `kernel` is the design's, which a table is taken from."""
    name, params = document["mechanism"], document["params"]
    cls = _classes().get(name)
    if cls is None:
        raise FormatError(f"base {name!r} is unknown to this version.", "Upgrade deniable.")
    own: dict[str, Any] = {"table": kernel} if name == Explicit.family else {}
    made: Mechanism = cls(epsilon=epsilon, domain=Domain.of(kernel.k), name=name, **params, **own)
    return made


def _classes() -> dict[str, type[Mechanism]]:
    return {name: row.cls for name, row in BASES.items()} | {Explicit.family: Explicit}


def _row(name: str) -> Base:
    more = "Any other mechanism is made first and given itself, in Python: dn.utility(dn.mechanism(...), ...)."
    hint = " ".join(filter(None, (meant(name, BASES), more)))
    require(name in BASES, "base", name, f"one of {', '.join(BASES)}", hint)
    return BASES[name]


# ---- what bases have in common


def closed_forms(base: Mechanism | None) -> SupportMechanism | None:
    """The base, if its laws are those of `Support`; bases of somebody else may have no more than a bulk."""
    return base if isinstance(base, SupportMechanism) else None


def least_of(base: Any) -> int:
    """How many items share the largest likelihood of an output, at least; 1 holds for every base."""
    ideal = closed_forms(base)
    sizes = ideal.sizes if ideal is not None and _alone(base) is None else {}
    return min((size for size, chance in sizes.items() if size and chance), default=1)


def hashed(base: Any) -> bool:
    """Whether a public hash of range g or with an arc is part of a report, under which an item may be alone."""
    return _alone(base) is not None and not {"g", "arc"}.isdisjoint(base.params)


def _alone(base: Any) -> float | None:
    """Chance that a blind report supports an item, where it supports all of them independently; else None."""
    ideal = closed_forms(base)
    return None if ideal is None else ideal.alone(ideal.support)


def ideal_law(support: Support[float], s: int, least: int, form: str, w: float, v: float) -> UtilityLaw[float]:
    """The ideal law of a form; `paper` puts values beside reports with chance p(1-w), as Eq. 45 and 59 do."""
    if form == "null":
        return laws.null_law(support, w, v)
    if form == "paper":
        return laws.mapped_law(support, s, laws.printed_disclosure(support, s, support.p * v))
    return laws.mapped_law(support, s, laws.mapped_disclosure(least, s, w, v))


# ---- parameters of least error


def tuned(name: str, *, epsilon: float, s: int, theta: float, form: str, own: Mapping[str, Any]) -> Mechanism | None:
    """The base `name` on s sensitive items, with `own` parameters or else those of least error for this theta and form.

    None if there are fewer than two sensitive items: no base is needed then.
    """
    row = _row(name)
    given = {key: value for key, value in own.items() if value is not None}
    wrong = [key for key in given if key not in (row.parameter, *row.inner)]
    if wrong:
        listed = row.parameter or "none"
        raise ParameterError(f"base {name} has no option {wrong[0]!r}; its own options are: {listed}.")
    if s < 2:
        return None
    if row.choose is not None and row.parameter not in given:
        chosen = row.choose(s, theta, form, *epsilon_to(epsilon))
        given |= chosen if isinstance(chosen, Mapping) else {row.parameter: chosen}
    made: Mechanism = row.make(epsilon=epsilon, domain=Domain.of(s), **given)
    return made if made.name == name else replace(made, name=name)


def _cost(
    law: Callable[[int], Support[float]], least: Callable[[int], int], at: tuple[int, float, str], w: float, v: float
) -> Callable[[int], float]:
    """n MSE as a function of a whole-number parameter, at (s, theta, form)."""
    s, theta, form = at
    return lambda x: float(ideal_law(law(x), s, least(x), form, w, v).mse_sum(s, theta))


def _size(s: int, theta: float, form: str, w: float, v: float) -> int:
    if form == "null":
        return best_single(s, theta, w, v)
    cost = _cost(lambda k: subset(w, v, s, k), lambda k: k, (s, theta, "glutf"), w, v)
    return near(laws.mapped_size(s, theta, w, v), 1, s - 1, cost)


def _p(s: int, theta: float, form: str, w: float, v: float) -> float:
    p = laws.null_share(s, theta, w) if form == "null" else laws.mapped_share(s, theta, w, v)
    return min(p, math.nextafter(1, 0))


def _real_range(s: int, theta: float, form: str, w: float, v: float) -> float:
    if form == "null":
        return laws.null_range(s, theta, w)
    return laws.printed_range(s, theta, w) if form == "paper" else laws.mapped_range(s, theta, w, v)


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
    """The prime of least error, with as few coordinates as the s items need."""
    cost = _cost(lambda q: projective(w, v, q, rank_of(s, q)), lambda q: 1, (s, theta, "null"), w, v)
    return best_prime(s, _real_range(s, theta, form, w, v), cost)


def _numbers(s: int, theta: float, form: str, w: float, v: float) -> Mapping[str, int]:
    """The numbers of `affine` of least error."""
    share = 1 / _real_range(s, theta, "null", w, v)
    found = best_numbers(s, w, v, share, lambda law: ideal_law(law, s, 1, "null", w, v).mse_sum(s, theta))
    if found is None:
        more = "Use plh, which has as many as you like."
        raise ParameterError(f"base affine is for at most about {CELLS_MAX} sensitive answers, got {s}.", more)
    return found._asdict() | {"g": primitive_root(found.q)}


@dataclass(frozen=True, slots=True)
class Base:
    """How a base is made on some items, and its own parameter with the rule that chooses it, and others with it."""

    cls: type[Any]
    make: Callable[..., Any]
    parameter: str = ""
    choose: Callable[..., Any] | None = None
    inner: tuple[str, ...] = ()
    """Arguments for tests and research, and rules of choice."""


_RULES = (*RULES, "n")

BASES: Mapping[str, Base] = {
    "grr": Base(GRR, GRR),
    "ss": Base(SubsetSelection, SubsetSelection, "size", _size),
    "iss": Base(IntervalSelection, IntervalSelection, "size", _size),
    "ue": Base(Unary, Unary, "p", _p),
    "sue": Base(Unary, Unary.symmetric),
    "oue": Base(Unary, Unary.optimised),
    "lh": Base(LocalHashing, LocalHashing, "g", _g),
    "blh": Base(LocalHashing, LocalHashing.binary),
    "olh": Base(LocalHashing, LocalHashing.optimal),
    "plh": Base(BalancedHashing, BalancedHashing, "g", _blocks),
    "wheel": Base(Wheel, Wheel, "arc", _arc, ("ring",)),
    "hr": Base(Hadamard, Hadamard),
    "pgr": Base(Projective, Projective, "prime", _prime),
    "affine": Base(Affine, make_affine, "q", _numbers, ("m", "j", "zero", "g")),
    "the": Base(THE, THE.optimal),
    "she": Base(SHE, SHE, inner=("grid", "reach")),
    "ass": Base(SubsetSelection, adaptive("ass"), inner=_RULES),
    "aue": Base(Unary, adaptive("aue"), inner=_RULES),
    "alh": Base(LocalHashing, adaptive("alh"), inner=_RULES),
    "athe": Base(THE, adaptive("athe"), inner=_RULES),
}
"""How those of `options` are made."""
