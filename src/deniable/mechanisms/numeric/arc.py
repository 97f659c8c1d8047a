"""Directions: an arc around the value is favoured, and the mean of (cos, sin) has the least variance there is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.circle import Circle
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.intervals import Interval, noted
from deniable.core.protection import NUMBER
from deniable.core.support import check_n
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import ParameterError, is_whole, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, NormalPart, Part, Shares
from deniable.kernels.sampling import below
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.outputs import OutputBulk, Weights
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD, WORD_BITS, check_epsilon
from deniable_client.kernels import Arc

__all__ = ["Direction"]

_POINTS = 360
"""Directions unless told otherwise: rounding to them shrinks a resultant by less than 2 in 100,000."""
_SEEN = 3.0
"""Twice the angles are told by reports if their resultant is so many standard errors of what can be seen of it."""
_LOST = "no direction: the resultant may be 0, so every direction is within the interval"
_PAST = "past the end of the circle: such numbers are those of the next or the last turn"


def pull_of(k: int, size: int, keep: float, turns: int = 1) -> float:
    """How much of (cos, sin) of `turns` times the angle is left in reports, where arcs are kept with chance `keep`."""
    leant = keep - (1 - keep) * size / (k - size)
    return leant * math.sin(math.pi * turns * size / k) / (size * math.sin(math.pi * turns / k))


def _ideal(epsilon: float, k: int, size: int) -> float:
    return pull_of(k, size, size / (size + (k - size) * math.exp(-epsilon)))


def best_arc(epsilon: float, k: int) -> int:
    """The arc with the least variance; the favoured part shrinks from one half as epsilon grows.

    >>> best_arc(1.0, 360)
    144
    """
    return max(range(1, k // 2 + 1), key=lambda size: _ideal(epsilon, k, size))


def least_trace(epsilon: float) -> float:
    """The least trace of the covariance of (cos, sin), for directions all around the circle: (O5).

    >>> round(least_trace(1.0), 3)
    9.522
    """
    rise = math.expm1(epsilon)
    low, high = 0.0, math.pi / 2
    for _ in range(200):
        middle = (low + high) / 2
        if math.sin(middle) * rise < (middle * rise + math.pi) * math.cos(middle):
            low = middle
        else:
            high = middle
    pull = rise * math.sin(low) / (math.pi + rise * low)
    return 1 / pull**2 - 1


class ArcBulk(OutputBulk[Arc]):
    """Arcs for many people."""

    @property
    def size(self) -> int:
        return self.kernel.k

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        k, size = self.kernel.k, self.kernel.size
        kept = bernoulli(rng, self.kernel.keep, items.size)
        moved = np.empty(items.size, np.int64)
        many = int(np.count_nonzero(kept))
        moved[kept] = -below(rng, size, many)
        moved[~kept] = 1 + below(rng, k - size, items.size - many)
        return {"value": ((items + moved) % k).astype(self.fields[0].dtype)}

    def weights(self) -> Weights:
        k, size, keep = self.kernel.k, self.kernel.size, self.kernel.keep
        own, other = keep * (k - size), (WORD - keep) * size
        rows = [[own if (x - y) % k < size else other for y in range(k)] for x in range(k)]
        return rows, size * (k - size) << WORD_BITS


@dataclass(frozen=True, slots=True, eq=False)
class _Vector:
    """The mean of (cos, sin) of people's directions, with its covariances."""

    cos: float
    sin: float
    reporters: FloatArray
    population: FloatArray

    @property
    def angle(self) -> float:
        """Of the resultant, from 0 to 2 pi."""
        return math.atan2(self.sin, self.cos) % (2 * math.pi)

    @property
    def length(self) -> float:
        """Of the resultant: 1 if all directions are the same, 0 if none prevails."""
        return math.hypot(self.cos, self.sin)

    def spread(self, target: Target) -> FloatArray:
        """The covariance matrix."""
        return self.population if target == "population" else self.reporters


@dataclass(frozen=True, slots=True, eq=False)
class DirectionPart(Shares):
    """The mean direction, as a number of the circle, with an interval around it that may be all of the circle."""

    vector: _Vector
    circle: Circle

    @property
    def value(self) -> FloatArray:
        return np.array([self.circle.turned(float(self.circle.at(self.vector.angle / (2 * math.pi) * self.circle.k)))])

    @property
    def range(self) -> tuple[float, float]:
        return self.circle.low, self.circle.high

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: to first order, from what is across the resultant; infinite without one."""
        cos, sin, spread = self.vector.cos, self.vector.sin, self.vector.spread(target)
        square = self.vector.length**2
        if square == 0:
            return np.array([math.inf])
        across = sin * sin * spread[0, 0] - 2 * sin * cos * spread[0, 1] + cos * cos * spread[1, 1]
        unit = (self.circle.high - self.circle.low) / (2 * math.pi)
        return np.array([across / square**2 * unit**2])

    def covariance(self, target: Target) -> FloatArray:
        return self.variance(target)[:, None]

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: directions that a test does not reject, on the side where the resultant points to.

        The part of the estimated vector across a direction is normal with mean 0 if that is the true one. Where 0 is in
        the ellipse of the level around the vector, nothing is said: all of the circle.
        """
        cos, sin, spread = self.vector.cos, self.vector.sin, self.vector.spread(target)
        mean = np.array([cos, sin])
        far = float(mean @ np.linalg.solve(spread, mean))
        z = NormalDist().inv_cdf((1 + level) / 2)
        centre, half = float(self.value[0]), (self.circle.high - self.circle.low) / 2
        lost = far <= -2 * math.log(1 - level)
        below, above = (half, half) if lost else self._sides(mean, spread, z)
        ends = np.array([centre - below]), np.array([centre + above])
        past = not lost and bool(ends[0][0] < self.circle.low or ends[1][0] > self.circle.high)
        notes = {**noted(_LOST, [lost]), **noted(_PAST, [past])}
        return Interval(*ends, level, target, simultaneous, notes)

    def _sides(self, mean: FloatArray, spread: FloatArray, z: float) -> tuple[float, float]:
        """How far the interval reaches on either side of the resultant.

        With L its length and S the covariance along and across it, the direction at an angle whose tangent is T stands
        if (L^2 - z^2 S11) T^2 + 2 z^2 S12 T - z^2 S22 <= 0; the arc of these around T = 0 may go beyond a right angle.
        """
        angle, length = self.vector.angle, self.vector.length
        turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        s = turn @ spread @ turn.T
        a, b, c = length**2 - z * z * s[0, 0], z * z * s[0, 1], -z * z * s[1, 1]
        root = math.sqrt(max(b * b - a * c, 0.0))
        low, high = sorted(math.atan2(sign * root - b, a) for sign in (-1, 1))
        unit = (self.circle.high - self.circle.low) / (2 * math.pi)
        return -low * unit, high * unit


@dataclass(frozen=True, slots=True, eq=False)
class ResultantPart(NormalPart):
    """The length of the mean vector: 1 if all directions are the same; of few reports it is too large."""

    vector: _Vector
    range = (0.0, 1.0)

    @property
    def value(self) -> FloatArray:
        return np.array([self.vector.length])

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: along the resultant."""
        cos, sin, spread = self.vector.cos, self.vector.sin, self.vector.spread(target)
        along = cos * cos * spread[0, 0] + 2 * sin * cos * spread[0, 1] + sin * sin * spread[1, 1]
        return np.array([along / max(self.vector.length**2, 1e-300)])

    def covariance(self, target: Target) -> FloatArray:
        return self.variance(target)[:, None]


@dataclass(frozen=True, kw_only=True)
class Direction(Mechanism):
    """The mean direction of people's directions: hours of the day, days of the year, angles."""

    size: int
    family: ClassVar[str] = "arc"
    vetted: ClassVar[bool] = True
    subject: ClassVar[str] = NUMBER

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Circle):
            raise ParameterError(
                f"domain must be a circle, got {self.domain.allowed}.", "Give interval=(0, 24) for hours, for example."
            )
        fits = is_whole(self.size, 1, self.k // 2)
        require(fits, "size", self.size, f"an integer from 1 to {self.k // 2}, half the circle at most")

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain | Span, points: int | None = None, size: int | None = None
    ) -> Direction:
        """With the arc of least variance, on so many directions."""
        epsilon = check_epsilon(epsilon)
        if isinstance(domain, Span):
            domain = Circle.around(domain.low, domain.high, _POINTS if points is None else points)
        own = best_arc(epsilon, domain.k) if size is None else size
        return cls(epsilon=epsilon, domain=domain, size=own)

    @property
    def circle(self) -> Circle:
        """The domain, as what it is."""
        assert isinstance(self.domain, Circle)
        return self.domain

    @cached_property
    def bulk(self) -> ArcBulk:
        return ArcBulk(Arc.calibrate(self.epsilon, self.k, self.size))

    @cached_property
    def proof(self) -> Proof:
        text = (
            "a report has the probability keep/(2^64 size) given every direction of its arc and "
            "(2^64 - keep)/(2^64 (k - size)) given all others"
        )
        return Proof(self.bulk.kernel.ratio, "two levels", text, Witness("report 0", 0, self.size))

    @cached_property
    def pull(self) -> float:
        """How much of (cos, sin) is left in reports of the integers that are sampled."""
        return pull_of(self.k, self.size, self.bulk.kernel.keep / WORD)

    @cached_property
    def readings(self) -> FloatArray:
        """What each report is taken for: (cos, sin) over `pull`, on average that of the direction."""
        angles = 2 * np.pi * (np.arange(self.k) + (self.size - 1) / 2) / self.k
        return np.stack([np.cos(angles), np.sin(angles)], axis=1) / self.pull

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the mean direction, and how much it prevails."""
        check_reports(tally)
        vector = self._vector(tally.cells["value"][0])
        return {"mean": DirectionPart(vector, self.circle), "resultant": ResultantPart(vector)}

    def _vector(self, counts: IntArray) -> _Vector:
        """The mean of the readings. The covariance of one report is (1/A^2 - 1)/2 I + (A2/A^2 - 1)/2 M, M the mean of
        (cos, sin; sin, -cos) of twice people's angles, which reports tell with pull A2; else the most it can be."""
        n = int(counts.sum())
        mean = counts @ self.readings / n
        square = (self.readings.T * counts) @ self.readings / n
        whole = (square - np.outer(mean, mean)) / max(n - 1, 1)
        a = self.pull
        second = pull_of(self.k, self.size, self.bulk.kernel.keep / WORD, 2)
        own, lean = (1 / a**2 - 1) / 2 * np.eye(2), (second / a**2 - 1) / 2
        if abs(second) * math.sqrt(n) > _SEEN:
            twice = (square * a**2 - np.eye(2) / 2) * 2 / second
            own = own + lean * twice / max(1.0, math.hypot(twice[0, 0], twice[0, 1]))
        else:
            own = own + abs(lean) * np.eye(2)
        return _Vector(float(mean[0]), float(mean[1]), own / n, whole if n > 1 else own + np.eye(2))

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`: the mean direction; `fit` gives the distribution."""
        tally = check_tally(self, tally)
        steps = (
            f"direction of the unbiased mean vector of {tally.n} reports, of values as rounded to {self.k} directions "
            f"(by at most {self.circle.step / 2:.3g})",
        )
        return Estimate(("mean",), self.parts(tally), tally.n, self.design, tally.simulated, steps)

    # ---- closed forms

    def across(self, shares: FloatArray) -> float:
        """Variance of one report across the resultant of people with these shares of directions, in squared radians."""
        cos, sin = shares @ self.circle.coordinates()
        turn = 2 * self.circle.angles - 2 * math.atan2(sin, cos)
        a, second = self.pull, pull_of(self.k, self.size, self.bulk.kernel.keep / WORD, 2)
        return (1 / a**2 - 1) / 2 - (second / a**2 - 1) / 2 * float(shares @ np.cos(turn))

    def variance_at(self, resultant: float) -> float:
        """Of the mean direction from one report, in its unit: at most, for people with this resultant.

        Twice the angles of people whose directions are all the same have the resultant 1, others any one.
        """
        a, second = self.pull, pull_of(self.k, self.size, self.bulk.kernel.keep / WORD, 2)
        lean = (second / a**2 - 1) / 2
        across = (1 / a**2 - 1) / 2 + (-lean if resultant == 1 else abs(lean))
        return across / resultant**2 * ((self.circle.high - self.circle.low) / (2 * math.pi)) ** 2

    def guess_half(self) -> Guess:
        """The best guess of the half of the circle that a direction is in, all directions being equally likely."""
        w, k, size = math.exp(-self.epsilon), self.k, self.size
        high = 1 / (size + (k - size) * w)
        first = np.clip(k / 2 - np.arange(k), 0, 1)
        sums = np.concatenate([[0.0], np.cumsum(np.tile(first, 2))])
        held = sums[size : size + k] - sums[:k]
        one = high * (w * k / 2 + (1 - w) * held) / k
        two = high * (w * k / 2 + (1 - w) * (size - held)) / k
        return Guess(float(np.maximum(one, two).sum()), 0.5)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: the likeliest direction of the report's arc, or of all."""
        w, k, size = math.exp(-self.epsilon), self.k, self.size
        high = 1 / (size + (k - size) * w)
        if prior is None:
            return Guess(high, 1 / k)
        pi = check_prior(prior, k)
        told = np.max([np.roll(pi, -i) for i in range(size)], axis=0)
        return Guess(float(np.maximum(high * told, high * w * pi.max()).sum()), float(pi.max()))

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the trace of the covariance of (cos, sin), the same for all directions.

        The bound is for estimates without bias at these k directions; `bound_circle` for all directions.
        """
        n = check_n(n)
        trace = 1 / _ideal(self.epsilon, self.k, self.size) ** 2 - 1
        least = 1 / _ideal(self.epsilon, self.k, best_arc(self.epsilon, self.k)) ** 2 - 1
        size = {"bits": math.log2(self.k)} | report_size(self)
        told = {"value": trace / n, "bound": least / n, "gap": trace / least - 1, "by": "(O6)"}
        found = {"variance_mean": trace / n, "asr": self.guess().success} | size
        return (
            found
            | {"bound": least / n, "gap": told["gap"], "certificate": told}
            | {"bound_circle": least_trace(self.epsilon) / n}
        )

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact, "variance_mean": (1 / self.pull**2 - 1) / check_n(n)}
