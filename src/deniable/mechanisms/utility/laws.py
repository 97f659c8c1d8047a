"""ULDP mathematics: laws of reports when only some items are sensitive, and the parameters of least error.

s of the d items are sensitive; theta is the share of people whose item is not. A person with a sensitive item sends a
report of a base mechanism on the s sensitive items. A person with a harmless item x discloses it with probability z
(z* in the paper), and otherwise sends a report that looks like one of the base mechanism. Functions of epsilon take
w = e^-epsilon and v = 1 - e^-epsilon, so that nothing overflows or cancels. Derivations: docs/maths/utility.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from deniable.core.support import Support

__all__ = [
    "UtilityLaw",
    "branch_law",
    "golden",
    "leaking_odds",
    "mapped_disclosure",
    "mapped_law",
    "mapped_range",
    "mapped_share",
    "mapped_size",
    "near",
    "null_law",
    "null_range",
    "null_share",
    "null_size",
    "printed_disclosure",
    "printed_range",
    "separate_law",
    "size_costs",
    "walk",
]

N = TypeVar("N", float, Fraction)


@dataclass(frozen=True, slots=True)
class UtilityLaw(Generic[N]):
    """What linear estimation needs to know of a ULDP report.

    `base` speaks of people with sensitive items. Of a person with a harmless item: `z` is the chance that it is
    disclosed, `r` that the report counts as support of a given sensitive item, `paired` that both happen, and `both`
    that it counts for two given ones. A disclosed report counts as the fraction `credit` of a support for every
    sensitive item, so that its expectation r + credit z is the base's q: the estimate is unbiased.
    """

    base: Support[N]
    z: N
    r: N
    paired: N
    both: N
    credit: N

    @property
    def spread(self) -> N:
        """Variance of what one harmless report adds to the count of a sensitive item (its mean is q)."""
        a, z, r = self.credit, self.z, self.r
        return r * (1 - r) + 2 * a * (self.paired - r * z) + a * a * z * (1 - z)

    def variance_sensitive(self, f: Any, theta: Any, n: Any = 1) -> Any:
        """Variance of the estimate of a sensitive item with frequency f [ULDP Eq. 25, corrected for what is sent]."""
        b = self.base
        own = f * b.p * b.p_not + (1 - theta - f) * b.q * b.q_not + theta * self.spread
        return own / (b.gap * b.gap) / n

    def variance_harmless(self, f: Any, n: Any = 1) -> Any:
        """Variance of the estimate of a harmless item with frequency f."""
        return f * (1 - self.z) / self.z / n

    def mse_sum(self, s: int, theta: Any, n: Any = 1) -> Any:
        """Variances summed over all items [ULDP Eq. 28]; the same for all frequencies with this theta."""
        b = self.base
        own = (1 - theta) * (b.p * b.p_not + (s - 1) * b.q * b.q_not) + s * theta * self.spread
        return (own / (b.gap * b.gap) + self.variance_harmless(theta)) / n

    def map(self, f: Callable[[N], float]) -> UtilityLaw[float]:
        """The same with every number converted, e.g. fractions to floats."""
        rest = (f(x) for x in (self.z, self.r, self.paired, self.both, self.credit))
        return UtilityLaw(self.base.map(f), *rest)


# ---- laws


def null_law(base: Support[Any], w: Any, v: Any, odds: Any = None) -> UtilityLaw[Any]:
    """Null branch, disclosed values alone: the rest sends a blind report, with the least mass that ULDP allows.

    A report's largest likelihood is (p + (1-p) odds) times that of a blind one; `odds` is e^epsilon unless the base
    leaks less. So r = p w, and with full odds z = p(1 - w) and credit = both_one/p.
    """
    z = base.p * v + (0 if odds is None else base.p_not * (1 - w * odds))
    return UtilityLaw(base, z, base.p * w, base.p * 0, base.both_one * w, base.both_one / base.p)


def mapped_law(base: Support[Any], s: int, z: Any) -> UtilityLaw[Any]:
    """GLUTF: the rest reports as a random sensitive item would, and most disclosed values bring such a report along.

    With f = s q/(p + (s-1) q) [ULDP Eq. 9] all reports together support every sensitive item with probability q.
    """
    f = mapped_share_of(base, s)
    attach = 1 - (1 - z) / f
    pairs = 2 * base.both_one + max(0, s - 2) * base.both_none
    return UtilityLaw(base, z, base.q, attach * base.q, f * pairs / s, base.q * 0)


def mapped_share_of(base: Support[Any], s: int) -> Any:
    """f: the share of harmless values that are turned into sensitive ones [ULDP Eq. 9]."""
    return s * base.q / (base.p + (s - 1) * base.q)


def separate_law(base: Support[Any], z: Any) -> UtilityLaw[Any]:
    """Every report has a blind part, and a harmless value is put beside it with probability z (uRAP as published)."""
    return UtilityLaw(base, z, base.q, base.q * z, base.q * base.q, base.q * 0)


def branch_law(base: Support[Any], one: Any, two: Any, plain: Any, attach: Any) -> UtilityLaw[Any]:
    """From the chances that are sampled: `plain` disclosure; else a report, and the value beside it with `attach`.

    `one` and `two` are the chances that such a report supports a given sensitive item, and two given ones.
    """
    rest = 1 - plain
    z = plain + rest * attach
    r = rest * one
    credit = (base.q - r) / z if z else r * 0
    return UtilityLaw(base, z, r, attach * r, rest * two, credit)


def leaking_odds(leak: float, epsilon: float) -> float | None:
    """The `odds` argument of `null_law` for a base that leaks `leak` of the promised epsilon."""
    return None if leak == epsilon else math.exp(leak)


def mapped_disclosure(least: int, s: int, w: Any, v: Any, odds: Any = None) -> Any:
    """The largest z of GLUTF if every output that supports anything supports at least `least` of the s items.

    1 - z = (1/e) max/mean of an output's likelihoods, s e/(least e + s - least) at worst [ULDP Theorem 1]. With a
    public hash this is for every hash function, where one item may be alone in its bucket: least = 1.
    `odds`: see `null_law`.
    """
    if odds is not None:
        return 1 - w * s * odds / (least * odds + s - least)
    return least * v / (least + (s - least) * w)


def printed_disclosure(base: Support[Any], s: int, attach: Any) -> Any:
    """z as ULDP Eq. 45 and 59 have it, from their own chance `attach` to put the value beside the report.

    They average over the hash function, which the report reveals: not private. For comparison only.
    """
    return 1 - mapped_share_of(base, s) * (1 - attach)


# ---- parameters of least error; `near` and `walk` make them whole


def _balance(s: int, theta: float, w: float) -> float:
    """A w/(1 + (s-1) w) with A = t(1 + (s-1) e) + s theta, t = 1 - theta."""
    t = 1 - theta
    return (t * (w + s - 1) + s * theta * w) / (1 + (s - 1) * w)


def null_size(s: int, theta: float, w: float, v: float) -> float:
    """Real subset size of least error with the null branch: s/(1 + sqrt(a2/a1))."""
    a1, a2 = size_costs(s, theta, w, v)
    return s / (1 + math.sqrt(a2 / a1))


def size_costs(s: int, theta: float, w: float, v: float) -> tuple[float, float]:
    """(a1, a2) of n MSE = a1/k + a2/(s-k) - (s-1)(1-theta), the error of subset size k with the null branch."""
    a1 = ((s - 1) ** 2 * w * w + theta * (s + 1) * w * v) / (v * v)
    a2 = (s - 1) ** 2 * (1 - theta + theta * w) / (v * v)
    return a1, a2


def null_share(s: int, theta: float, w: float) -> float:
    """p of unary encoding of least error with the null branch: 1/(1 + sqrt(A/(e(e+s-1))))."""
    return 1 / (1 + math.sqrt(w * _balance(s, theta, w)))


def null_range(s: int, theta: float, w: float) -> float:
    """Real hash range g of least error with the null branch: 1 + sqrt(e A/(e+s-1)); the wheel's arc is 1/g."""
    return 1 + math.sqrt(_balance(s, theta, w) / w)


def mapped_size(s: int, theta: float, w: float, v: float) -> float:
    """Real subset size of least error under GLUTF [ULDP Eq. 37]."""
    above = (s - 1) * ((s + theta - 1) - theta * w)
    below = w * (v * theta + (s - 1) ** 2 * w)
    return s / (1 + math.sqrt(above / below)) if below else 1.0


def mapped_share(s: int, theta: float, w: float, v: float) -> float:
    """p of unary encoding of least error under GLUTF [ULDP Eq. 43]."""
    t = 1 - theta
    return 1 / (1 + math.sqrt(w * (s - v * t) / (s * w + v * t)))


def mapped_range(s: int, theta: float, w: float, v: float) -> float:
    """Real hash range of least error under GLUTF with the z that is valid for every hash function."""
    t = 1 - theta
    return 1 + math.sqrt((s - v * t) / (w * (s * w + v * t)))


def printed_range(s: int, theta: float, w: float) -> float:
    """Real hash range as printed [ULDP Eq. 49, 63]: for s much larger than g, and the invalid z."""
    t = 1 - theta
    return 1 + math.sqrt(((s - t) + t * w) / (w * (1 + (s - 1) * w)))


def near(real: float, low: int, high: int, cost: Callable[[int], float]) -> int:
    """The whole number next to `real`, within low..high, of the lower cost."""
    around: Iterable[int] = {min(high, max(low, x)) for x in (math.floor(real), math.ceil(real))}
    return min(sorted(around), key=cost)


def walk(real: float, low: int, high: int, cost: Callable[[int], float]) -> int:
    """A whole number of locally least cost, found step by step from the one next to `real`."""
    here = near(real, low, high, cost)
    while True:
        best = min((x for x in (here, here - 1, here + 1) if low <= x <= high), key=cost)
        if best == here:
            return here
        here = best


def golden(cost: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """A number between `low` and `high` of locally least cost, by golden sections."""
    share = (math.sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - share * (high - low), low + share * (high - low)
        low, high = (low, right) if cost(left) <= cost(right) else (left, high)
    return (low + high) / 2
