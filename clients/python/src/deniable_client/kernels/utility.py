"""Sensitive and harmless values: a base kernel on the sensitive ones, and a branch for the others.

A harmless value is disclosed with some probability; otherwise the report looks like one of the base kernel's. What is
promised is utility-optimised local privacy (ULDP): a report that does not disclose a harmless value has likelihoods
within the ratio for *all* pairs of values, sensitive or not. Sensitive values may have budgets of their own: then the
base is independent bits whose noise depends on the value that they stand for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any, ClassVar, TypeGuard

from deniable_client.errors import ParameterError, PrivacyError, require
from deniable_client.exact import WORD, WORD_BITS, check_epsilon, exp_bounds, flip_threshold
from deniable_client.kernels.contract import (
    AnyKernel,
    Base,
    Disclosing,
    Kernel,
    Mixed,
    Work,
    check_k,
    check_plain,
    check_threshold,
    check_value,
    check_whole,
)
from deniable_client.kernels.laws import Hiding
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = [
    "Utility",
    "UtilityBudgets",
    "UtilityMixture",
    "base_half",
    "check_budgets",
    "check_ranges",
    "has_blind",
    "most_disclosure",
]


@dataclass(frozen=True, slots=True)
class Utility(Disclosing):
    """A base kernel for the values in the half-open ranges `sensitive` = (start, end, start, end, ...).

    Any other value is disclosed alone with probability plain/2**64; else a report is made, and the value is put beside
    it with probability attach/2**64. That report is one without any value (`blind` = 1) or that of a uniformly drawn
    sensitive value (`blind` = 0). `base` holds one kernel, or none if there are fewer than two sensitive values.

    The first field of a report is 0 (nothing disclosed), 1 + j (the j-th harmless value alone), or 1 + m + j (with a
    report beside it; m harmless values); the base's bytes follow, zero if there are none.
    """

    k: int
    sensitive: tuple[int, ...]
    base: tuple[Kernel, ...]
    plain: int
    attach: int
    blind: int
    kind: ClassVar[str] = "utility"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_ranges(self.sensitive, self.k)
        check_plain("a base", *self.base)
        s = self.s
        kernels = len(self.base) == (s >= 2) and all(kernel.k == s for kernel in self.base)
        require(kernels, "base", self.base, f"one kernel on {s} values" if s >= 2 else "empty for fewer than 2 values")
        full = s == 0 and self.plain == WORD
        require(full or (0 <= self.plain < WORD and s > 0), "plain", self.plain, f"from 0 to 2**{WORD_BITS} - 1")
        require(0 <= self.attach < WORD and (s > 0 or not self.attach), "attach", self.attach, "a threshold")
        require(self.blind in (0, 1), "blind", self.blind, "0 or 1")

    @classmethod
    def null(cls, epsilon: float, k: int, sensitive: tuple[int, ...], base: tuple[Kernel, ...]) -> Utility:
        """Null branch: the most disclosure within e^epsilon, blind reports otherwise, nothing beside them."""
        peak = base_half(base[0]).blind_peak if base else Fraction(1)
        plain = WORD if not sensitive else most_disclosure(epsilon, peak)
        return cls(k, sensitive, base, plain, 0, 1)

    @classmethod
    def separate(cls, epsilon: float, k: int, sensitive: tuple[int, ...], base: tuple[Kernel, ...]) -> Utility:
        """Blind reports always, the value put beside them as often as e^epsilon allows (uRAP as published)."""
        if not base:
            return cls.null(epsilon, k, sensitive, base)
        return cls(k, sensitive, base, 0, most_disclosure(epsilon, base_half(base[0]).blind_peak), 1)

    @classmethod
    def mapped(
        cls, epsilon: float, k: int, sensitive: tuple[int, ...], base: tuple[Kernel, ...], share: Fraction
    ) -> Utility:
        """GLUTF: a share of the harmless values is turned into sensitive ones, and put beside their reports if allowed.

        The largest total disclosure within e^epsilon for every output, whatever public hash function it names.
        """
        if not base:
            return cls.null(epsilon, k, sensitive, base)
        most = most_disclosure(epsilon, mapped_peak(base[0]))
        plain = min(most, int((1 - share) * WORD))
        attach = WORD - -(-(WORD - most) * WORD // (WORD - plain))
        return cls(k, sensitive, base, plain, attach, 0)

    @property
    def s(self) -> int:
        """Number of sensitive values."""
        return sum(end - start for start, end in zip(self.sensitive[::2], self.sensitive[1::2], strict=True))

    @property
    def kept(self) -> Fraction:
        """Chance that a harmless value is not disclosed."""
        return Fraction((WORD - self.plain) * (WORD - self.attach), WORD * WORD)

    @property
    def protected(self) -> tuple[int, ...]:
        return self.sensitive

    @property
    def disclosed(self) -> Fraction:
        return 1 - self.kept

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`.

        Sensitive values against each other have the base's ratio. An output is at most `peak` times as likely for a
        sensitive value as it is for the branch, which has the mass `kept`; and at most the base's ratio less likely,
        since the branch is a mixture of likelihoods between the smallest and the largest one.
        """
        if self.s == 0:
            return Fraction(1)
        if not self.base:
            return 1 / self.kept
        base = self.base[0]
        if self.s == self.k:
            return base.ratio
        peak = base_half(base).blind_peak if self.blind else mapped_peak(base)
        return max(base.ratio, peak / self.kept)

    @property
    def width(self) -> int:
        return self.head + sum(kernel.width for kernel in self.base)

    @property
    def words(self) -> int:
        return 3 + sum(kernel.words for kernel in self.base)

    @property
    def inner(self) -> Kernel:
        """The kernel on the sensitive values, where there is one: see `inner_of`."""
        return self.base[0]

    @property
    def law(self) -> Hiding:
        """See `Base.law`: only where there is a base, of which it is known too."""
        return Hiding(base_half(self.inner).law, Fraction(self.plain, WORD))  # type: ignore[arg-type]

    @property
    def head(self) -> int:
        """Bytes of the first field."""
        harmless = self.k - self.s
        return uint_width(1 + harmless * (2 if self.attach else 1))

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        sensitive, rank = place(self.sensitive, x)
        if sensitive:
            return pack_int(0, self.head) + b"".join(kernel.randomise(rank, words) for kernel in self.base)
        if happens(self.plain, words):
            return pack_int(1 + rank, self.head) + bytes(self.width - self.head)
        body = b"".join(self._branch(kernel, words) for kernel in self.base)
        beside = self.attach > 0 and happens(self.attach, words)
        return pack_int(1 + self.k - self.s + rank if beside else 0, self.head) + body

    def _branch(self, kernel: Kernel, words: Words) -> bytes:
        return base_half(kernel).blind(words) if self.blind else kernel.randomise(below(self.s, words), words)


@dataclass(frozen=True, slots=True)
class UtilityMixture(Mixed, Disclosing):
    """The second kernel with probability coin/2**64, else the first one: a `Mixture` of two that disclose.

    Both protect the same values and have one report format, so that every report discloses under both or under neither;
    those that do not are at most as telling as the more telling of the two kernels.
    """

    first: Utility
    second: Utility
    coin: int
    kind: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        check_whole("coin", self.coin, 0, WORD - 1)
        both = isinstance(self.first, Utility) and isinstance(self.second, Utility)
        require(both, "kernels of a mixture", (self.first, self.second), "both utility kernels, or neither")
        for name in ("k", "width", "head", "sensitive"):
            one, two = getattr(self.first, name), getattr(self.second, name)
            require(one == two, f"{name} of the kernels in a mixture", (one, two), "the same")

    @property
    def protected(self) -> tuple[int, ...]:
        return self.first.sensitive

    @property
    def disclosed(self) -> Fraction:
        more = Fraction(self.coin, WORD)
        return (1 - more) * self.first.disclosed + more * self.second.disclosed

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: the larger one, of those that can happen."""
        return max(part.hidden_ratio for part in ((self.first, self.second) if self.coin else (self.first,)))


def most_disclosure(epsilon: float, peak: Fraction) -> int:
    """Largest threshold T with peak/(1 - T/2**64) <= e^epsilon, at least 0."""
    low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
    top, bottom = (peak / low).as_integer_ratio()
    return max(0, WORD - -(-WORD * top // bottom))


def place(ranges: Sequence[int], x: int) -> tuple[bool, int]:
    """Whether `x` is sensitive, and its rank among its kind.

    >>> place((1, 3), 2), place((1, 3), 3)
    ((True, 1), (False, 1))
    """
    at = bisect_right(ranges, x)
    before = sum(end - start for start, end in zip(ranges[::2], ranges[1::2], strict=True) if end <= x)
    if at % 2:
        return True, before + x - ranges[at - 1]
    return False, x - before


def check_ranges(ranges: tuple[int, ...], k: int) -> None:
    """Refuse what are no ends of half-open ranges of 0..k-1, in order and apart from each other."""
    whole = all(isinstance(r, int) and not isinstance(r, bool) for r in ranges) and len(ranges) % 2 == 0
    ok = whole and all(a < b for a, b in pairwise((-1, *ranges)))
    ok = ok and (not ranges or ranges[-1] <= k)
    require(ok, "sensitive", ranges, f"increasing ends of half-open ranges within 0..{k}")


# ---- what a base is asked for


def has_blind(kernel: AnyKernel) -> TypeGuard[Base]:
    """Whether a kernel has reports without a value."""
    return isinstance(kernel, Base)


def base_half(kernel: AnyKernel) -> Base:
    """The base half of a kernel; `ParameterError` where it has no reports without a value."""
    if not has_blind(kernel):
        raise ParameterError(f"a {kernel.kind} kernel has no reports without a value.", "Use blind = 0.")
    return kernel


def mapped_peak(kernel: Kernel) -> Fraction:
    """The largest quotient of a report's likelihoods given some value, and on average over all s values.

    Written down in the kernel, or s ratio/(m ratio + s - m), where at least m values share the largest likelihood of an
    output; m = 1 holds for any kernel and is exact for hashing and independent bits, where a value can be alone.
    """
    exact: Fraction | None = getattr(kernel, "mapped_peak", None)
    if exact is not None:
        return exact
    s, m, ratio = kernel.k, kernel.least if has_blind(kernel) else 1, kernel.ratio
    return s * ratio / (m * ratio + s - m)


# ---- sensitive values with budgets of their own


@dataclass(frozen=True, slots=True)
class UtilityBudgets(Disclosing):
    """One bit for each value in the half-open ranges `sensitive` = (start, end, start, end, ...).

    Bits are independent: 1 with probability keep/2**64 for the own value, and flips[i]/2**64 for the i-th sensitive
    value if it is another one. Any other value is disclosed alone with probability plain/2**64, else all bits are those
    of other values.

    The first field of a report is 0 (nothing disclosed) or 1 + j (the j-th harmless value); the bits follow, zero if
    something is disclosed.
    """

    k: int
    sensitive: tuple[int, ...]
    keep: int
    flips: tuple[int, ...]
    plain: int
    kind: ClassVar[str] = "utility-levels"

    def __post_init__(self) -> None:
        check_k(self.k)
        check_ranges(self.sensitive, self.k)
        s = sum(self.sensitive[1::2]) - sum(self.sensitive[::2])
        fits = isinstance(self.flips, tuple) and len(self.flips) == s >= 1
        require(fits, "flips", self.flips, f"one threshold for each of the {s} sensitive values, at least one")
        check_threshold("keep", self.keep)
        for flip in self.flips:
            check_threshold("flips", flip)
            require(flip < self.keep, "flips", flip, "less than keep")
        ok = isinstance(self.plain, int) and 0 <= self.plain < WORD
        require(ok, "plain", self.plain, f"from 0 to 2**{WORD_BITS} - 1")

    @classmethod
    def calibrate(cls, epsilons: Sequence[float], k: int, sensitive: tuple[int, ...], flip: int) -> UtilityBudgets:
        """Own bits 1 with probability 1/2; the least flips within all budgets, and the most disclosure.

        `flip` is for the values of the smallest budget (at least what that budget needs is taken): the noisier their
        bits are, the less noise the bits of the others need.
        """
        keep = WORD // 2
        found: dict[float, int] = {}
        for epsilon in sorted(set(epsilons)):
            own = flip_threshold(epsilon, keep)
            needs = [_least(WORD - found[e], exp_bounds(e)[0]) for e in found]
            found[epsilon] = max(own, *needs) if needs else max(own, flip)
        flips = tuple(found[epsilon] for epsilon in epsilons)
        plain = min(most_disclosure(epsilon, Fraction(keep, found[epsilon])) for epsilon in found)
        return cls(k, sensitive, keep, flips, plain)

    @property
    def s(self) -> int:
        """Number of sensitive values."""
        return len(self.flips)

    @property
    def protected(self) -> tuple[int, ...]:
        return self.sensitive

    @property
    def disclosed(self) -> Fraction:
        return Fraction(self.plain, WORD)

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: whatever the budgets are."""
        return max(self.item_ratios([0.0] * self.s))

    def item_ratios(self, epsilons: Sequence[float]) -> tuple[Fraction, ...]:
        """For each sensitive value the largest ratio against harmless values and those with no smaller a budget.

        All pairs keep the smaller of their two budgets if and only if each of these is within its own value's budget.
        A report's likelihood, relative to other values' bits only, is p/q or (1-p)/(1-q) by the own bit, and the chance
        that nothing is disclosed for harmless values; bits are independent, so any two of them meet in some report.
        Both quotients are farthest from 1 for the least q, so of the other values that one alone counts.
        """
        require(len(epsilons) == self.s, "epsilons", len(epsilons), f"one for each of {self.s} sensitive values")
        order = sorted(range(self.s), key=lambda i: -epsilons[i])
        found, least = [Fraction(1)] * self.s, [WORD, WORD]  # the two least flips so far, by falling budget
        for _, group in groupby(order, key=lambda i: epsilons[i]):
            alike = list(group)
            least = sorted([*least, *(self.flips[i] for i in alike)])[:2]
            for i in alike:
                found[i] = self._farthest(self.flips[i], least[self.flips[i] == least[0]])
        return tuple(found)

    def _farthest(self, flip: int, other: int) -> Fraction:
        """Largest ratio of a sensitive value's bit against harmless values, and against one with another's flip."""
        kept = Fraction(WORD - self.plain, WORD)
        others = [(kept, kept)] if self.s < self.k else []
        others += [self._ends(other)] if other < WORD else []
        high, low = self._ends(flip)
        return max((max(high / under, over / low) for over, under in others), default=Fraction(1))

    def _ends(self, flip: int) -> tuple[Fraction, Fraction]:
        return Fraction(self.keep, flip), Fraction(WORD - self.keep, WORD - flip)

    @property
    def head(self) -> int:
        """Bytes of the first field."""
        return uint_width(1 + self.k - self.s)

    @property
    def width(self) -> int:
        return self.head + bits_width(self.s)

    @property
    def words(self) -> int:
        return self.s + 1

    @property
    def work(self) -> Work:
        """See `Work`: each budget is compared with those that are no smaller."""
        return Work("budgets of answers", self.s, 1 << 12, 80 * self.s)

    def check_promises(self, params: Mapping[str, Any]) -> None:
        """See `Personal.check_promises`: those of all budgets."""
        check_budgets(self, [float(epsilon) for epsilon in params["item_epsilon"]])

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        sensitive, rank = place(self.sensitive, x)
        if not sensitive and happens(self.plain, words):
            return pack_int(1 + rank, self.head) + bytes(self.width - self.head)
        own = rank if sensitive else -1
        ones = [i for i, flip in enumerate(self.flips) if happens(self.keep if i == own else flip, words)]
        return pack_int(0, self.head) + pack_bits(ones, self.s)


def _least(mass: int, limit: Fraction) -> int:
    """Least whole number that is at least mass/limit."""
    top, bottom = limit.as_integer_ratio()
    return -(-mass * bottom // top)


def check_budgets(kernel: UtilityBudgets, epsilons: Sequence[float]) -> None:
    """`PrivacyError` unless every pair of values is within the smaller of its budgets; harmless values have none."""
    for i, (epsilon, ratio) in enumerate(zip(epsilons, kernel.item_ratios(epsilons), strict=True)):
        low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
        if ratio > low:
            raise PrivacyError(
                f"sensitive value number {i} is promised epsilon {epsilon!r} but has likelihood ratio "
                f"{float(ratio)!r}, above e^epsilon = {float(low)!r}; no report was made.",
                "Do not take part; tell whoever runs the task.",
            )
