"""What every kernel has, and the checks that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from deniable_client.errors import ParameterError, PrivacyError, require
from deniable_client.exact import WORD, WORD_BITS, check_epsilon, keep_threshold, two_level_lift, two_level_ratio
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.laws import Law
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = [
    "AnyKernel",
    "Base",
    "Disclosing",
    "Kernel",
    "Mixed",
    "Numbered",
    "Work",
    "check_coin",
    "check_k",
    "check_plain",
    "check_promise",
    "check_seed_words",
    "check_threshold",
    "check_value",
    "check_whole",
    "favoured",
    "inner_of",
    "other_than",
    "promised_ratio",
]


class Kernel(Protocol):
    """Randomises one value of 0..k-1 into bytes of constant length, and protects all values alike.

    Only such kernels may stand inside another one, unless that one says itself what its parts disclose.
    """

    kind: ClassVar[str]

    @property
    def k(self) -> int:
        """Number of values."""

    @property
    def ratio(self) -> Fraction:
        """The exact largest likelihood ratio of any report between any two values."""

    @property
    def width(self) -> int:
        """Bytes of a report."""

    @property
    def words(self) -> int:
        """Random words of a report, on average and at most; a few more where numbers have to be drawn again."""

    def randomise(self, x: int, words: Words) -> bytes:
        """A report for value `x`."""


class Work(NamedTuple):
    """What a proof goes through one by one: `work` of the kernels that have such parts."""

    what: str
    number: int
    most: int
    """More than these are refused."""
    steps: int
    """All of them together, in about microseconds (docs/protocol.md, section 2)."""


class Disclosing(ABC):
    """A kernel that protects some values: a report may give away one of the others, and then says nothing else.

    It has no `ratio`, so it cannot be taken for a `Kernel` by anything that would forget what it discloses.
    """

    __slots__ = ()
    kind: ClassVar[str]
    names_alone: ClassVar[bool] = True
    """Whether a report that gives a value away could come from no other one, and all others are within the ratio."""
    if TYPE_CHECKING:  # a data class would take it for the default of its field

        @property
        def k(self) -> int:
            """Number of values."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Bytes of a report."""

    @property
    @abstractmethod
    def words(self) -> int:
        """See `Kernel.words`."""

    @abstractmethod
    def randomise(self, x: int, words: Words) -> bytes:
        """A report for value `x`."""

    @property
    @abstractmethod
    def hidden_ratio(self) -> Fraction:
        """The exact largest likelihood ratio between any two values, of all reports that give none away."""

    @property
    @abstractmethod
    def protected(self) -> tuple[int, ...]:
        """The values that no report gives away: half-open ranges (start, end, start, end, ...)."""

    @property
    @abstractmethod
    def disclosed(self) -> Fraction:
        """Chance that a report gives away its value, if that is one of the others; the largest there is."""

    @property
    def limited(self) -> bool:
        """Whether anything is promised: to the protected values, unless a kernel promises something of others too."""
        return bool(self.protected)


AnyKernel = Kernel | Disclosing
"""What can be sampled."""


class Mixed:
    """What mixtures of two kernels share: both take the same values, and their reports are of one length."""

    __slots__ = ()
    first: Any
    second: Any
    coin: int

    @property
    def k(self) -> int:
        """Number of values."""
        return int(self.first.k)

    @property
    def width(self) -> int:
        """Bytes of a report."""
        return int(self.first.width)

    @property
    def words(self) -> int:
        """See `Kernel.words`: the coin, and those of the kernel that draws more."""
        return int(1 + max(self.first.words, self.second.words))

    def randomise(self, x: int, words: Words) -> bytes:
        """A report for value `x`."""
        told: bytes = (self.second if happens(self.coin, words) else self.first).randomise(x, words)
        return told


class Base(ABC):
    """What a transform asks of the kernel it builds on: reports made without any value, and how they compare.

    Two-level kernels say their `reports` only: they keep their own value with probability keep/2**64; given that they
    do, or do not, the report is a blind one under the condition that it supports the value, or does not.
    """

    __slots__ = ()
    k: int
    keep: int

    @classmethod
    def calibrate(cls, epsilon: float, *numbers: Any, **named: Any) -> Self:
        """The kernel with these numbers that keeps its own value as often as e^epsilon allows: the most accurate one.

        Of two-level kernels, whose other numbers are checked first.
        """
        check_epsilon(epsilon, sampling=True)
        made: Any = cls
        own = [tuple(each) if isinstance(each, list) else each for each in numbers]
        checked = made(*own, **named, keep=1)
        kept: Self = replace(checked, keep=keep_threshold(epsilon, *checked.levels))
        return kept

    @property
    def reports(self) -> tuple[int, int]:
        """How many reports support a given value and how many do not, exactly; all of them are equally likely if blind.

        Where reports begin with a public seed: of those with one seed, whichever it is.
        """
        raise ParameterError(f"reports of {type(self).__name__} do not support values.")

    @property
    def levels(self) -> tuple[int, int]:
        """The same up to a factor, so that they are never large numbers; enough for what one report tells."""
        return self.reports

    @property
    def lift(self) -> Fraction:
        """How many times as likely a report is for a value that it supports as for another one; may be below 1."""
        return two_level_lift(self.keep, *self.levels)

    @property
    def ratio(self) -> Fraction:
        """The exact largest likelihood ratio of any report between any two values."""
        return two_level_ratio(self.keep, *self.levels)

    @abstractmethod
    def blind(self, words: Words) -> bytes:
        """A report made without any value."""

    @property
    def favours(self) -> int | None:
        """How many values each report favours, or slights; 0: as many as there are; None: that is not worked out."""
        return None

    @property
    def law(self) -> Law | None:
        """What its reports tell about the level that they were made at; None: that is not worked out."""
        return None

    @property
    def share(self) -> Fraction:
        """Chance that a blind report supports a given value."""
        return Fraction(self.levels[0], sum(self.levels))

    @property
    def blind_peak(self) -> Fraction:
        """The largest quotient of a report's likelihoods given some value, and for a blind report."""
        keep, share = Fraction(self.keep, WORD), self.share
        return max(keep / share, (1 - keep) / (1 - share))

    @property
    def least(self) -> int:
        """How many values share the largest likelihood of any report, at least; 1 holds for every kernel."""
        return 1


class Numbered(Base):
    """A kernel whose reports are numbers below its `order`, blind ones all alike."""

    __slots__ = ()

    @property
    @abstractmethod
    def order(self) -> int:
        """Number of reports."""

    @property
    def width(self) -> int:
        """Bytes of a report."""
        return uint_width(self.order)

    def blind(self, words: Words) -> bytes:
        """See `Base.blind`: any number."""
        return pack_int(below(self.order, words), self.width)


def favoured(kernel: Base) -> int:
    """`Base.least` where blind reports support equally many values each, up to rounding."""
    values = kernel.k * kernel.share
    return floor(values) if Fraction(kernel.keep, WORD) >= kernel.share else kernel.k - ceil(values)


def check_whole(name: str, value: int, least: int, most: int, hint: str = "") -> None:
    """Refuse what is no integer from `least` to `most`."""
    ok = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    require(ok, name, value, f"an integer from {least} to {most}", hint)


def check_k(k: int, limit: int = ITEMS_MAX) -> None:
    """Refuse a number of values that is no integer from 2 to `limit`."""
    check_whole("k", k, 2, limit, "For a yes/no question use k=2.")


def check_value(x: int, k: int) -> None:
    """Refuse a value that is no integer from 0 to k-1."""
    check_whole("value", x, 0, k - 1)


def check_threshold(name: str, t: int) -> None:
    """Refuse a threshold that never or always decides."""
    require(isinstance(t, int) and 0 < t < WORD, name, t, f"an integer between 0 and 2**{WORD_BITS}")


def check_coin(coin: int) -> None:
    """Refuse a dealt seed that is no integer of 64 bits."""
    ok = isinstance(coin, int) and not isinstance(coin, bool) and 0 <= coin < WORD
    require(ok, "coin", coin, f"an integer from 0 to 2**{WORD_BITS} - 1", "It is the seed that the collector dealt.")


def check_seed_words(words: Words) -> None:
    """A seed is one word of 64 bits."""
    require(words.bits == WORD_BITS, "words.bits", words.bits, f"{WORD_BITS}", "A seed is one word.")


def other_than(x: int, k: int, words: Words) -> int:
    """A uniform number of 0..k-1 other than x."""
    r = below(k - 1, words)
    return r + (r >= x)


def check_plain(what: str, *parts: AnyKernel) -> None:
    """`PrivacyError` for parts of a kernel that do not protect all of their values alike."""
    for part in parts:
        if not hasattr(type(part), "ratio") and "ratio" not in getattr(part, "__dict__", ()):
            kind = getattr(part, "kind", type(part).__name__)
            raise PrivacyError(
                f"{what} must not disclose: reports of a {kind} kernel may give away the value they were made of, or "
                "the level they were made at.",
                "Use a kernel that protects all of its values alike.",
            )


def promised_ratio(kernel: AnyKernel) -> Fraction:
    """The exact largest likelihood ratio between any two values, of all reports but those that give one away."""
    return kernel.hidden_ratio if isinstance(kernel, Disclosing) else kernel.ratio


def inner_of(kernel: Any) -> Any:
    """The kernel itself, or the base of one that discloses."""
    return getattr(kernel, "inner", kernel)


def check_promise(kernel: AnyKernel, low: Fraction, epsilon: float) -> Fraction:
    """The kernel's exact ratio; `PrivacyError` unless it is at most the certified lower bound `low` of e^epsilon."""
    ratio = promised_ratio(kernel)
    if ratio > low:
        raise PrivacyError(
            f"this design promises epsilon {epsilon!r} but its {kernel.kind} kernel has likelihood ratio "
            f"{_readable(ratio)}, above e^epsilon = {float(low)!r}; no report was made.",
            "Do not take part; tell whoever runs the task.",
        )
    return ratio


def _readable(ratio: Fraction) -> str:
    """A ratio as a number, also where it is beyond any float."""
    return repr(float(ratio)) if ratio < 1 << 1000 else "beyond 2**1000"
