"""Key-value reports that do not grow with the number of keys: hashes of signed keys, or of keys with a public sign."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.guess import covered_by_independent
from deniable.core.laws import hashing, ratio_to
from deniable.errors import require, whole
from deniable.mechanisms.frequency.local_hashing import HashingBulk
from deniable.mechanisms.keyvalue.base import KeyValue, check_interest
from deniable.mechanisms.keyvalue.bulk import KeyBulk, OnKeys
from deniable.mechanisms.keyvalue.laws import Group, Signal, alone, ratio_of, told_by_signs, told_by_support, variances
from deniable.mechanisms.keyvalue.seeded_bulk import SignedHashingBulk
from deniable_client.exact import check_epsilon
from deniable_client.hashing import RANGE_MAX
from deniable_client.kernels import Hashing
from deniable_client.kernels.keyvalue_seeded import SignedHashing

__all__ = ["SignedKeyHashing", "SignedLocalHashing"]

_RANGES = 4096
"""Ranges of the hash that are looked at where there are more."""


def _turned(e: Any, g: Any) -> Any:
    """Weight of the own bucket with the wrong sign, others having 1: as in the best three-way answers with a = 1/g."""
    ideal = 2 * (g - 1) * (e - 1) / e - e + 2
    if isinstance(e, Fraction):
        return min(max(ideal, Fraction(1)), e)
    return np.clip(ideal, 1, e)


@dataclass(frozen=True, kw_only=True)
class SignedLocalHashing(KeyValue):
    """Signed keys by a hash to g buckets and a public random sign: errors of three-way answers with a = 1/g.

    A seed, a bucket and a sign per report, whatever the number of keys. Without public signs people who share a bucket
    would share the sign too, and means would be biased (docs/maths/keyvalue.md, section 8).
    """

    g: int
    family: ClassVar[str] = "kv-lh"
    argument: ClassVar[str] = (
        "the seed is drawn without looking at the pairs, so its probability cancels; given any hash function a report "
        "has one of three probabilities, for the own value, for the one with the other sign and for all others"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "g", whole("g", self.g, 2, hint="The best is near (e^epsilon + 3)/2."))
        e = ratio_of(self.epsilon)
        require(self.g - 1 < e, "g", self.g, f"below e^epsilon + 1 = {float(e) + 1:.4g}", "Signs would say nothing.")
        require(self.g <= RANGE_MAX // 2, "g", self.g, f"at most {RANGE_MAX // 2}")

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain, g: int | None = None, interest: float = 1.0, **own: Any
    ) -> SignedLocalHashing:
        """The g with the least interest^2 F + M, unless one is given."""
        check_epsilon(epsilon)
        check_interest(interest)
        chosen = _best_range(epsilon, Domain.of(domain).k, interest) if g is None else g
        return cls(epsilon=epsilon, domain=domain, g=chosen, **own)

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        turned = _turned(ratio_of(self.epsilon), self.g)
        return (SignedHashingBulk(SignedHashing.calibrate(self.epsilon, self.total, self.g, turned)),)

    def favoured(self) -> float:
        return told_by_signs(self.ideal()[0].signal, self.k)

    def ideal(self) -> tuple[Group, ...]:
        e = ratio_of(self.epsilon)
        turned = _turned(e, self.g)
        unit = 1 / (e + turned + 2 * self.g - 2)
        return alone(Signal.of(e * unit, turned * unit, Fraction(1, self.g)))


@dataclass(frozen=True, kw_only=True)
class SignedKeyHashing(KeyValue):
    """kv-olh: local hashing on signed keys, both signs of a key on their own; the errors of kv-ss2 for many keys.

    A seed and a hash value per report, whatever the number of keys (docs/maths/keyvalue.md, section 8).
    """

    g: int
    family: ClassVar[str] = "kv-olh"
    argument: ClassVar[str] = (
        "the seed is drawn without looking at the pairs, so its probability cancels; given any hash function a report "
        "has one probability for the own hash value and another for all others"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "g", whole("g", self.g, 2, RANGE_MAX, hint="The best is near e^epsilon + 1."))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain, g: int | None = None, **own: Any) -> SignedKeyHashing:
        """The g next to e + 1 with the least F + M, unless one is given."""
        if g is None:
            ideal = math.exp(min(check_epsilon(epsilon), 30.0)) + 1
            near = sorted({max(2, min(x, RANGE_MAX)) for x in (math.floor(ideal), math.ceil(ideal))})
            f = Fraction(1, Domain.of(domain).k)
            g = min(near, key=lambda g: sum(variances(_hashed(epsilon, g), f)))
        return cls(epsilon=epsilon, domain=domain, g=g, **own)

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        return (OnKeys.of(HashingBulk(Hashing.calibrate(self.epsilon, 2 * self.total, self.g))),)

    def ideal(self) -> tuple[Group, ...]:
        return _hashed(self.epsilon, self.g)

    def favoured(self) -> float:
        e, covered = ratio_of(self.epsilon), float(covered_by_independent(2 * self.k, 1 / self.g))
        return told_by_support(hashing(*ratio_to(e), self.g), e, covered)


def _hashed(epsilon: float, g: int) -> tuple[Group, ...]:
    return alone(Signal.of_signed(hashing(*ratio_to(ratio_of(epsilon)), g)))


def _best_range(epsilon: float, k: int, interest: float) -> int:
    """The range of the hash with the least interest^2 F + M, at frequencies 1/k."""
    e = math.exp(min(epsilon, 300.0))
    most = max(2, min(math.ceil(e), RANGE_MAX // 2))  # the signs say something below e + 1
    g = np.unique(np.rint(np.geomspace(2, most, _RANGES))) if most > _RANGES else np.arange(2.0, most + 1)
    turned = _turned(e, g)
    unit, a, f = 1 / (e + turned + 2 * g - 2), 1 / g, 1 / k
    h, gain = (e + turned) * unit, (e - turned) * unit
    first = (f * h * (1 - h) + (1 - f) * a * (1 - a)) / (h - a) ** 2
    second = (f * h + (1 - f) * a) / gain**2
    return int(g[np.argmin(interest**2 * first + second)])
