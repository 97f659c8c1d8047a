"""The wheel: local hashing with a real range [Wang20, ULDP App. B]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.laws import epsilon_to, ratio_to, wheel
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, IntArray, UintArray
from deniable.errors import is_number, require
from deniable.kernels.hashing import hash_values, interval_rows
from deniable.kernels.sampling import below
from deniable.kernels.transforms import count_intervals
from deniable.mechanisms.bulk import Cells, Seeded, SupportBulk, check_outputs, fresh_seeds, one_stratum, two_level
from deniable.mechanisms.frequency.costs import HASH_WORK
from deniable.mechanisms.frequency.local_hashing import best_range
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Wheel as WheelKernel
from deniable_client.kernels import promised_ratio

__all__ = ["Wheel"]


class WheelBulk(Seeded, SupportBulk[WheelKernel]):
    """The wheel for many people: a seed and a point of the ring."""

    @property
    def numbers(self) -> int:
        return 1 << self.kernel.ring

    @cached_property
    def support(self) -> Support[Fraction]:
        return wheel(*ratio_to(self.kernel.ratio), Fraction(self.kernel.arc, 1 << self.kernel.ring))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return self.perturb_dealt(items, fresh_seeds(items.size, rng), rng)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        ring, arc = self.kernel.ring, self.kernel.arc
        start = (hash_values(coins, items) >> np.uint64(32 - ring)).astype(np.int64)
        kept = bernoulli(rng, self.kernel.keep, items.size)
        size = 1 << ring
        inside, outside = below(rng, arc, items.size), below(rng, size - arc, items.size)
        value = (start + np.where(kept, inside, arc + outside)) & (size - 1)
        return {"seed": coins, "value": value.astype(self.fields[1].dtype)}

    def _intervals(self, columns: Columns) -> tuple[Any, Any]:
        """First hash value, and number of them, of the places whose arc holds the reported point (mod 2**32)."""
        ring, arc = self.kernel.ring, self.kernel.arc
        first = (columns["value"].astype(np.uint64) + np.uint64((1 << ring) - arc + 1)) << np.uint64(32 - ring)
        return first & np.uint64(0xFFFFFFFF), np.full(len(first), arc << (32 - ring), np.uint64)

    def count(self, columns: Columns) -> Cells:
        return one_stratum(columns, count_intervals(self.seeds(columns), *self._intervals(columns), self.k))

    def supported(self, columns: Columns) -> Bytes:
        return interval_rows(columns["seed"], *self._intervals(columns), self.k)

    @property
    def work(self) -> float:
        """See `SupportBulk.work`: a hash value for each item."""
        return float(HASH_WORK * self.k)

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all places of the items, each as likely as any other; small rings only."""
        k, arc, size = self.k, self.kernel.arc, 1 << self.kernel.ring
        check_outputs((k + 1) * self.kernel.ring, "this wheel", k)
        outputs = [(h, y) for h in product(range(size), repeat=k) for y in range(size)]
        held = [frozenset(x for x in range(k) if (y - h[x]) % size < arc) for h, y in outputs]
        return two_level(self.kernel, [f"places {h} point {y}" for h, y in outputs], held, arc, size - arc, size**k)


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
        ok = is_number(self.arc) and 0 < self.arc < 1
        require(ok, "arc", self.arc, "between 0 and 1", "The best is near 1/(e^epsilon + 1).")
        object.__setattr__(self, "arc", float(self.arc))

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain, rounding: Literal["paper", "best"] = "paper", ring: int = 32
    ) -> Wheel:
        """An arc of 1/(e+1) (`paper`), or of the lowest exact MSE (`best`)."""
        w, domain = math.exp(-check_epsilon(epsilon)), Domain.of(domain)
        arc = w / (1 + w) if rounding == "paper" else 1 / (1 + best_range(domain.k, epsilon))
        return cls(epsilon=epsilon, domain=domain, arc=arc, ring=ring)

    @cached_property
    def bulk(self) -> WheelBulk:
        size = 1 << self.ring
        arc = min(size - 1, max(1, round(Fraction(self.arc) * size)))
        return WheelBulk(WheelKernel.calibrate(self.epsilon, self.k, arc, self.ring))

    @cached_property
    def support(self) -> Support[float]:
        return wheel(*epsilon_to(self.epsilon), self.arc)

    def alone(self, support: Support[float]) -> float:
        """See `SupportMechanism.alone`: for random places."""
        return float(support.q)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the seed is drawn independently of the value, so its probability cancels; given any places of the items a "
            "point has the mass keep/(2^64 arc) on the own arc and (2^64 - keep)/(2^64 (2^32 - arc)) off it"
        )
        output = "any seed and a point that is on the arc of value 0 and not on that of value 1"
        return Proof(promised_ratio(self.kernel), "conditioning on the public seed", text, Witness(output, 0, 1))
