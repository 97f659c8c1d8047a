"""The key-value mechanisms of the registry, each one a choice of kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.laws import ratio_to, response, subset, unary
from deniable.core.support import Support
from deniable.errors import InWords, is_number, require, whole
from deniable.estimate.result import Part
from deniable.mechanisms.base import report_size
from deniable.mechanisms.bulk import SupportBulk
from deniable.mechanisms.frequency.grr import ResponseBulk
from deniable.mechanisms.frequency.subset import IntervalBulk, SubsetBulk
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.keyvalue import laws
from deniable.mechanisms.keyvalue.base import KeyValue, check_interest, check_length, check_share
from deniable.mechanisms.keyvalue.bulk import KeyBulk, OneKeyBulk, OnKeys, SignedSubsetBulk, SignedUnaryBulk
from deniable.mechanisms.keyvalue.laws import SHAPES, Group, Signal, alone, pooled, raised, ratio_of
from deniable.mechanisms.keyvalue.seeded_bulk import SignedIntervalBulk
from deniable_client.exact import WORD, check_epsilon, exp_bounds
from deniable_client.kernels import Interval, OneKey, SignedInterval, SignedUnary, Subset, ToldKey, Unary
from deniable_client.kernels import keyvalue as kernels

__all__ = ["OneSampledKey", "SignedResponse", "SignedSelection", "SignedUnaryEncoding", "SplitSelection", "SplitUnary"]

ENCODINGS = ("bits", "interval", "cyclic")
_TWO_LEVELS = (
    "a report has one probability given any signed key in its set and another given any other one, the same for all "
    "reports, since every signed key is in equally many sets"
)
_THREE_WAY = (
    "the answers for different keys are independent, so for two keys all factors cancel but those of these two: the "
    "largest quotient own/other times the largest other/own; for two signs of one key s/r is left"
)


def check_encoding(encoding: str) -> str:
    """How sets are sent: `bits`, or `cyclic`, which subset selection calls `interval`."""
    require(encoding in ENCODINGS, "encoding", encoding, f"one of {', '.join(ENCODINGS)}")
    return "bits" if encoding == "bits" else "cyclic"


def _sets(made: Subset, encoding: str) -> SupportBulk[Any]:
    """Subset selection for many people, in this encoding."""
    return SubsetBulk(made) if encoding == "bits" else IntervalBulk(Interval(made.k, made.size, made.keep))


@dataclass(frozen=True, kw_only=True)
class SignedUnaryEncoding(KeyValue):
    """ks-ue and pckv-ue: +1, -1 or 0 for every key, independently [KSKV Sec. 4.1, Gu20].

    `shape` says with which chances; the registry fixes it, so it is no part of a design's parameters.
    """

    shape: str = "ks-ue"
    family: ClassVar[str] = "ks-ue"
    argument: ClassVar[str] = _THREE_WAY

    def __post_init__(self) -> None:
        require(self.shape in SHAPES, "shape", self.shape, f"one of {', '.join(SHAPES)}")
        object.__setattr__(self, "name", self.name or self.shape)
        super().__post_init__()

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: the registry names its rows after their shapes."""
        name = design["mechanism"]
        return cls(epsilon=design["epsilon"], domain=domain, name=name, shape=name, **design["params"])

    @property
    def own_params(self) -> dict[str, Any]:
        return {}

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        return (SignedUnaryBulk(SignedUnary.calibrate(self.epsilon, self.total, SHAPES[self.shape])),)

    def ideal(self) -> tuple[Group, ...]:
        return alone(Signal.of(*SHAPES[self.shape](ratio_of(self.epsilon))))

    def favoured(self) -> float:
        return laws.told_by_signs(self.ideal()[0].signal, self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`, with the chances (s, r, z, a)."""
        s, r, a = (float(v) for v in SHAPES[self.shape](ratio_of(self.epsilon)))
        return super().properties(n) | {"s": s, "r": r, "z": 1 - s - r, "a": a}


@dataclass(frozen=True, kw_only=True)
class SignedResponse(KeyValue):
    """pckv-grr: the own signed key or another one; amplified by padding [Gu20]. Also the second phase of KS-GRR."""

    family: ClassVar[str] = "pckv-grr"
    argument: ClassVar[str] = _TWO_LEVELS

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        return (OnKeys.of(ResponseBulk(kernels.response(self.epsilon, self.k, self.pad))),)

    def ideal(self) -> tuple[Group, ...]:
        return alone(Signal.of_signed(self._law))

    @property
    def _law(self) -> Support[Fraction]:
        return response(*ratio_to(raised(self.epsilon, 1, self.pad)), 2 * self.total)

    def favoured(self) -> float:
        return laws.told_by_support(self._law, raised(self.epsilon, 1, self.pad), self.k / self.total)


@dataclass(frozen=True, kw_only=True)
class SignedSelection(KeyValue):
    """kv-ss2: subset selection on signed keys, on the frontier with equal weights (docs/maths/keyvalue.md)."""

    size: int
    encoding: str = "bits"
    family: ClassVar[str] = "kv-ss2"
    argument: ClassVar[str] = _TWO_LEVELS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "size", whole("size", self.size, 1, 2 * self.total - 1))
        object.__setattr__(self, "encoding", check_encoding(self.encoding))

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain, size: int | None = None, length: int | None = None, **own: Any
    ) -> SignedSelection:
        """The size with the least F + M, unless one is given."""
        if size is None:
            check_epsilon(epsilon)
            k = Domain.of(domain).k
            pad = check_length(length, k) or 0
            size = laws.best_subset_size(epsilon, k + pad, d=k, length=pad)
        return cls(epsilon=epsilon, domain=domain, size=size, length=length, **own)

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        return (OnKeys.of(_sets(kernels.subset_of_signed(self.epsilon, self.k, self.pad, self.size), self.encoding)),)

    def ideal(self) -> tuple[Group, ...]:
        return alone(Signal.of_signed(self._law))

    @property
    def _law(self) -> Support[Fraction]:
        return subset(*ratio_to(raised(self.epsilon, self.size, self.pad)), 2 * self.total, self.size)

    def favoured(self) -> float:
        covered = laws.covered_by_subset(2 * self.total, self.size, 2 * self.pad)
        return laws.told_by_support(self._law, raised(self.epsilon, self.size, self.pad), covered)


# ---- a share `mix` of the reports speaks of keys only, by a public coin; the rest of keys and signs


def _signed_share(mix: float) -> int:
    """Chance of the group that speaks of signs, in 2**-64; 0 where it is the only one."""
    return WORD - min(max(round(Fraction(mix) * WORD), 1), WORD - 1) if mix else 0


def _mixed(mix: float, keys: Signal, signed: Signal, spread: list[Fraction | None]) -> tuple[Group, ...]:
    """The ideal groups, weighed by `spread`."""
    share = Fraction(mix)
    return pooled([(share, keys), (1 - share, signed)], spread) if mix else alone(signed)


@dataclass(frozen=True, kw_only=True)
class SplitUnary(KeyValue):
    """kv-mix: OUE on keys, and three-way answers with s = 1/2 for the others (docs/maths/keyvalue.md)."""

    mix: float
    family: ClassVar[str] = "kv-mix"
    argument: ClassVar[str] = _THREE_WAY

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mix", check_share(self.mix))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain, mix: float | None = None, **own: Any) -> SplitUnary:
        """The share 1/(e+1), with the least F + M for many keys, unless one is given."""
        w = math.exp(-check_epsilon(epsilon))
        return cls(epsilon=epsilon, domain=domain, mix=w / (1 + w) if mix is None else mix, **own)

    @property
    def group_share(self) -> int:
        return _signed_share(self.mix)

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        signed = SignedUnaryBulk(SignedUnary.calibrate(self.epsilon, self.total, SHAPES["soue"]))
        if not self.mix:
            return (signed,)
        return OnKeys.of(UnaryBulk(Unary.calibrate(self.epsilon, self.total, WORD // 2)), signed=False), signed

    def weighed(self, groups: tuple[KeyBulk[Any], ...]) -> list[Fraction | None]:
        """See `KeyValue.weighed`: the variance of a frequency near 0."""
        return [group.signal.frequency_variance(Fraction(0)) for group in groups]

    def favoured(self) -> float:
        return sum(float(group.share) * laws.told_by_signs(group.signal, self.k) for group in self.ideal())

    def ideal(self) -> tuple[Group, ...]:
        e = ratio_of(self.epsilon)
        half = Fraction(1, 2)
        signed, keys = Signal.of(*SHAPES["soue"](e)), Signal.of_keys(unary(half, half, *ratio_to(e)))
        return _mixed(self.mix, keys, signed, [s.frequency_variance(Fraction(0)) for s in (keys, signed)])


@dataclass(frozen=True, kw_only=True)
class SplitSelection(KeyValue):
    """kv-ss: subsets of keys, and subsets of keys with signs, for any interest in frequency and mean."""

    mix: float
    key_size: int
    size: int
    encoding: str = "bits"
    family: ClassVar[str] = "kv-ss"
    argument: ClassVar[str] = _TWO_LEVELS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mix", check_share(self.mix))
        object.__setattr__(self, "encoding", check_encoding(self.encoding))
        object.__setattr__(self, "key_size", whole("key_size", self.key_size, 1, self.total - 1))
        most = self.total if self.mix else self.total - 1  # all keys with a sign say nothing of frequencies
        object.__setattr__(self, "size", whole("size", self.size, 1, most))

    @classmethod
    def optimal(
        cls,
        *,
        epsilon: float,
        domain: Domain,
        mix: float | None = None,
        interest: float = 1.0,
        size: int | None = None,
        length: int | None = None,
        **own: Any,
    ) -> SplitSelection:
        """The share and the sizes that minimise interest^2 F + M, unless they are given.

        Sizes are those next to d/(e+1) and 2d/(e+1), with a `length` also small ones up to it; where the share is 0,
        everybody sends keys with signs.
        """
        check_epsilon(epsilon)
        check_interest(interest)
        k = Domain.of(domain).k
        length = check_length(length, k)
        if length is not None:
            share, first, size = laws.best_split(epsilon, k, length, interest, mix, size)
        else:
            share = min(laws.best_share(epsilon, k, interest), math.nextafter(1, 0)) if mix is None else mix
            if size is None:
                size = laws.best_signed_size(epsilon, k) if share else laws.best_signed_alone(epsilon, k, interest)
            first = laws.best_key_size(epsilon, k)
        return cls(epsilon=epsilon, domain=domain, mix=share, key_size=first, size=size, length=length, **own)

    @property
    def group_share(self) -> int:
        return _signed_share(self.mix)

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        made = kernels.signed_subset(self.epsilon, self.k, self.pad, self.size)
        signed: KeyBulk[Any] = SignedSubsetBulk(made)
        if self.encoding != "bits":
            signed = SignedIntervalBulk(SignedInterval(made.keys, made.size, made.keep))
        if not self.mix:
            return (signed,)
        keys = _sets(kernels.subset_of_keys(self.epsilon, self.k, self.pad, self.key_size), self.encoding)
        return OnKeys.of(keys, signed=False), signed

    def weighed(self, groups: tuple[KeyBulk[Any], ...]) -> list[Fraction | None]:
        """See `KeyValue.weighed`: the inverse of what each group tells of frequencies."""
        return self._spread([group.kernel.ratio for group in groups])

    def _spread(self, ratios: list[Fraction]) -> list[Fraction | None]:
        kinds = [(0, self.key_size), (self.size, 0)][-len(ratios) :]
        told = [laws.information(e, self.total, *kind)[0] for e, kind in zip(ratios, kinds, strict=True)]
        return [1 / a if a > 0 else None for a in told]

    def favoured(self) -> float:
        first, second = (raised(self.epsilon, w, self.pad) for w in (self.key_size, self.size))
        keys = subset(*ratio_to(first), self.total, self.key_size)
        covered = [laws.covered_by_subset(self.total, size, self.pad) for size in (self.key_size, self.size)]
        signed = laws.told_by_signed_subset(second, self.total, self.size, covered[1])
        return self.mix * laws.told_by_support(keys, first, covered[0]) + (1 - self.mix) * signed

    def ideal(self) -> tuple[Group, ...]:
        first, second = (raised(self.epsilon, w, self.pad) for w in (self.key_size, self.size))
        keys = Signal.of_keys(subset(*ratio_to(first), self.total, self.key_size))
        signed = laws.signal_of_signed_subset(second, self.total, self.size)
        return _mixed(self.mix, keys, signed, self._spread([first, second]))


@dataclass(frozen=True, kw_only=True)
class OneSampledKey(KeyValue):
    """privkv: one key that is drawn blindly; half of epsilon for whether it is held, half for the sign [Ye19].

    Less than epsilon is spent. The mean is estimated without the published estimator's pull by people without the key.

    For PrivKVM: `key_epsilon` is what is spent on whether the key is held, the rest is for the sign; 0 says nothing of
    it. `told` has a public guess of each key's mean, in 2^-32 of the range from its low end, by which those without
    the key answer; all of epsilon is spent then.
    """

    length: int | None = field(default=None, init=False)
    key_epsilon: float | None = None
    told: tuple[int, ...] | None = None
    family: ClassVar[str] = "privkv"
    argument: ClassVar[str] = (
        "the key that is asked for is public and drawn without looking at the pairs; what is said of it has the "
        "chances (s, r, 1-s-r) if it is held and (a/2, a/2, 1-a), or by a public guess, if not, whose quotients were "
        "all compared"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        spent = self.key_epsilon
        ok = spent is None or (is_number(spent) and 0 <= spent < self.epsilon)
        require(ok, "key_epsilon", spent, "from 0 to below epsilon", "The rest of epsilon is for values.")
        if self.told is not None:
            object.__setattr__(self, "told", tuple(int(x) for x in self.told))
            require(len(self.told) == self.k, "told", len(self.told), f"a guess for each of the {self.k} keys")

    @cached_property
    def group_bulks(self) -> tuple[KeyBulk[Any], ...]:
        check_epsilon(self.epsilon, sampling=True)
        keep = self._keep
        if self.key_epsilon is None:
            low = exp_bounds(self.epsilon / 2)[0]
        else:  # what is left of the whole, so that both together stay within it
            low = exp_bounds(self.epsilon)[0] * Fraction(WORD - keep, keep)
        flip = -int(-WORD / (1 + low) // 1)
        kernel = OneKey(self.k, keep, flip) if self.told is None else ToldKey(self.k, keep, flip, self.told)
        return (OneKeyBulk(kernel),)

    @property
    def _keep(self) -> int:
        """Chance of speaking of a key that is held, in 2**-64."""
        low = exp_bounds(self.epsilon / 2 if self.key_epsilon is None else self.key_epsilon)[0]
        return int(WORD * low / (1 + low))

    def ideal(self) -> tuple[Group, ...]:
        if self.key_epsilon is None:
            first = second = ratio_of(self.epsilon / 2)
        else:
            first = exp_bounds(self.key_epsilon)[0]
            second = ratio_of(self.epsilon) / first
        p, q = first / (1 + first), second / (1 + second)
        return alone(Signal.of(p * q, p * (1 - q), 1 - p, Fraction(1, self.k)))

    def favoured(self) -> float:
        """See `KeyValue.favoured`: a sign is likeliest for its own signed key, silence for any other key."""
        signal = self.ideal()[0].signal
        return float(signal.held + signal.gain + 1 - signal.idle)

    @property
    def _later(self) -> bool:
        """Frequencies need a key budget; means need the answers of people without the key to be even."""
        return self.key_epsilon == 0 or self.told is not None

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`; refused for the later steps of PrivKVM."""
        hint = "It is a step of the protocol privkvm, which reads its tally."
        require(not self._later, "mechanism", InWords("privkv with a guess"), "one without", hint)
        return super().parts(tally)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; of the later steps of PrivKVM only the size."""
        return dict(report_size(self)) if self._later else super().properties(n)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} if self._later else super().effective(n)
