"""The wheel: local hashing with a real range [Wang20, ULDP App. B]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import first_of_independent
from deniable.core.laws import epsilon_to, ratio_to, wheel
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, UintArray
from deniable.errors import require
from deniable.kernels.hashing import hash_values, interval_rows
from deniable.kernels.sampling import below
from deniable.kernels.transforms import count_intervals
from deniable.mechanisms.base import check_outputs, refuse_values
from deniable.mechanisms.frequency.local_hashing import best_range
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Wheel as WheelKernel
from deniable_client.packing import uint_width

__all__ = ["Wheel"]


@dataclass(frozen=True, kw_only=True)
class Wheel(SupportMechanism):
    """Answers sit at hashed places of a ring; a report is a point, more likely on the arc that starts at the own place.

    `arc` is its length as a share of the ring, taken to the grid of 2**ring points. The same error as local hashing
    with the real range 1/arc, so that nothing is lost to rounding when epsilon is small.
    """

    arc: float
    ring: int = 32
    family: ClassVar[str] = "wheel"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.arc, int | float) and not isinstance(self.arc, bool) and 0 < self.arc < 1
        require(ok, "arc", self.arc, "between 0 and 1", "The best is near 1/(e^epsilon + 1).")
        object.__setattr__(self, "arc", float(self.arc))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain, rounding: Literal["paper", "best"] = "paper") -> Wheel:
        """An arc of 1/(e+1) (`paper`), or of the lowest exact MSE (`best`)."""
        w, domain = math.exp(-check_epsilon(epsilon)), Domain.of(domain)
        arc = w / (1 + w) if rounding == "paper" else 1 / (1 + best_range(domain.k, epsilon))
        return cls(epsilon=epsilon, domain=domain, arc=arc)

    @cached_property
    def points(self) -> int:
        """Length of the arc in points of the ring."""
        size = 1 << self.ring
        return min(size - 1, max(1, round(Fraction(self.arc) * size)))

    @cached_property
    def kernel(self) -> WheelKernel:
        """See `Mechanism.kernel`."""
        return WheelKernel.calibrate(self.epsilon, self.k, self.points, self.ring)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"arc": self.arc, "ring": self.ring}

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support`."""
        return wheel(*epsilon_to(self.epsilon), self.arc)

    @cached_property
    def support_exact(self) -> Support[Fraction]:
        """See `SupportMechanism.support_exact`."""
        return wheel(*ratio_to(self.kernel.ratio), Fraction(self.points, 1 << self.ring))

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: some item's arc holds the point; for random places."""
        return -math.expm1(self.k * math.log1p(-support.q))

    def best_ranked(self, order: IntArray) -> FloatArray:
        """See `SupportMechanism.best_ranked`."""
        return first_of_independent(self.k, float(self.support.q))

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return Field("seed", "uint", 8), Field("value", "uint", uint_width(1 << self.ring))

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`: seeds and points."""
        return 64.0 + self.ring

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        return self.perturb_dealt(items, rng.draw(64, items.size).astype(np.uint64, copy=False), rng)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb_dealt`."""
        start = (hash_values(coins, items) >> np.uint64(32 - self.ring)).astype(np.int64)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        size = 1 << self.ring
        inside, outside = below(rng, self.points, items.size), below(rng, size - self.points, items.size)
        value = (start + np.where(kept, inside, self.points + outside)) & (size - 1)
        return {"seed": coins, "value": value.astype(self.fields[1].dtype)}

    def _intervals(self, columns: Columns) -> tuple[Any, Any]:
        """First hash value, and number of them, of the places whose arc holds the reported point (mod 2**32)."""
        shift = np.uint64(32 - self.ring)
        first = (columns["value"].astype(np.uint64) + np.uint64((1 << self.ring) - self.points + 1)) << shift
        return first & np.uint64(0xFFFFFFFF), np.full(len(first), self.points << (32 - self.ring), np.uint64)

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        refuse_values(columns["value"], 1 << self.ring, "value")
        seeds = columns["seed"].astype(np.uint64, copy=False)
        return self._one_stratum(columns, count_intervals(seeds, *self._intervals(columns), self.k))

    def rows(self, columns: Columns) -> Bytes:
        """See `SupportMechanism.rows`: the items whose arc holds the point."""
        return interval_rows(columns["seed"], *self._intervals(columns), self.k)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: over all places of the items, each as likely as any other; small rings only."""
        size = 1 << self.ring
        check_outputs(size ** (self.k + 1) if self.ring * self.k < 64 else 1 << 64, self.name, self.k)
        own, other = self.kernel.keep * (size - self.points), ((1 << WORD_BITS) - self.kernel.keep) * self.points
        outputs = [(h, y) for h in product(range(size), repeat=self.k) for y in range(size)]
        held = [frozenset(x for x in range(self.k) if (y - h[x]) % size < self.points) for h, y in outputs]
        weights = tuple(tuple(own if x in s else other for x in range(self.k)) for s in held)
        total = self.points * (size - self.points) * size**self.k << WORD_BITS
        return Channel(tuple(f"places {h} point {y}" for h, y in outputs), weights, total, tuple(held))

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any places of the items a "
            "point has the mass keep/(2^64 arc) on the own arc and (2^64 - keep)/(2^64 (2^32 - arc)) off it"
        )
        output = "any seed and a point that is on the arc of value 0 and not on that of value 1"
        return Proof(self.kernel.ratio, "conditioning on the public seed", text, Witness(output, 0, 1))
