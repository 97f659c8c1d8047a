"""The scalar randomisers: the integers that are sampled, their exact likelihood ratio, and one report's bytes.

A kernel is what a device needs and nothing else. The core builds its mechanisms on the same objects, so the
integers of a design have one home.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar, Protocol

from deniable_client.errors import FormatError, PrivacyError, require
from deniable_client.exact import WORD_BITS, flip_threshold, keep_threshold, two_level_ratio, unary_ratio
from deniable_client.hashing import ITEMS_MAX, RANGE_MAX, bucket
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, below, happens, subset

__all__ = ["KERNELS", "Hashing", "Kernel", "Response", "Subset", "Unary", "kernel_from", "kernel_to"]

_WORD = 1 << WORD_BITS


class Kernel(Protocol):
    """Randomises one value of 0..k-1 into bytes of constant length."""

    kind: ClassVar[str]

    @property
    def k(self) -> int:
        """Number of values."""
        ...

    @property
    def ratio(self) -> Fraction:
        """The exact largest likelihood ratio of any report between any two values."""
        ...

    @property
    def width(self) -> int:
        """Bytes of a report."""
        ...

    def randomise(self, x: int, words: Words) -> bytes:
        """A report for value `x`."""
        ...


def _check_k(k: int, limit: int = ITEMS_MAX) -> None:
    ok = isinstance(k, int) and not isinstance(k, bool) and 2 <= k <= limit
    require(ok, "k", k, f"an integer from 2 to {limit}", "For a yes/no question use k=2.")


def _check_value(x: int, k: int) -> None:
    ok = isinstance(x, int) and not isinstance(x, bool) and 0 <= x < k
    require(ok, "value", x, f"an integer from 0 to {k - 1}")


def _check_threshold(name: str, t: int) -> None:
    require(isinstance(t, int) and 0 < t < _WORD, name, t, f"an integer between 0 and 2**{WORD_BITS}")


def _other_than(x: int, k: int, words: Words) -> int:
    r = below(k - 1, words)
    return r + (r >= x)


@dataclass(frozen=True, slots=True)
class Response:
    """Generalised randomised response: the value with probability keep/2**64, else another one, all alike."""

    k: int
    keep: int
    kind: ClassVar[str] = "response"

    def __post_init__(self) -> None:
        _check_k(self.k)
        _check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int) -> Response:
        """The most accurate integers within e^epsilon."""
        _check_k(k)
        return cls(k, keep_threshold(epsilon, 1, k - 1))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`."""
        return two_level_ratio(self.keep, 1, self.k - 1)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return uint_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        _check_value(x, self.k)
        y = x if happens(self.keep, words) else _other_than(x, self.k, words)
        return pack_int(y, self.width)


@dataclass(frozen=True, slots=True)
class Subset:
    """Subset selection: `size` values, the own one among them with probability keep/2**64, as bits (no order)."""

    k: int
    size: int
    keep: int
    kind: ClassVar[str] = "subset"

    def __post_init__(self) -> None:
        _check_k(self.k)
        ok = isinstance(self.size, int) and 1 <= self.size < self.k
        require(ok, "size", self.size, f"an integer from 1 to k-1 = {self.k - 1}")
        _check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, size: int) -> Subset:
        """The most accurate integers within e^epsilon."""
        _check_k(k)
        require(1 <= size < k, "size", size, f"an integer from 1 to k-1 = {k - 1}")
        return cls(k, size, keep_threshold(epsilon, size, k - size))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. A set with x has mass keep/C(k-1,size-1), one without (1-keep)/C(k-1,size)."""
        return two_level_ratio(self.keep, self.size, self.k - self.size)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        _check_value(x, self.k)
        kept = happens(self.keep, words)
        others = subset(self.k - 1, self.size - kept, words)
        chosen = {i + (i >= x) for i in others} | ({x} if kept else set())
        return pack_bits(chosen, self.k)


@dataclass(frozen=True, slots=True)
class Unary:
    """Unary encoding: k independent bits, 1 with probability keep/2**64 (own value) or flip/2**64 (others)."""

    k: int
    keep: int
    flip: int
    kind: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        _check_k(self.k)
        _check_threshold("keep", self.keep)
        _check_threshold("flip", self.flip)
        require(self.flip < self.keep, "flip", self.flip, "less than keep")

    @classmethod
    def calibrate(cls, epsilon: float, k: int, keep: int) -> Unary:
        """The most accurate `flip` within e^epsilon for a given `keep`."""
        _check_k(k)
        return cls(k, keep, flip_threshold(epsilon, keep))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. Only the two bits that differ between two inputs count."""
        return unary_ratio(self.keep, self.flip)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return bits_width(self.k)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        _check_value(x, self.k)
        ones = [i for i in range(self.k) if happens(self.keep if i == x else self.flip, words)]
        return pack_bits(ones, self.k)


@dataclass(frozen=True, slots=True)
class Hashing:
    """Local hashing: a fresh public seed, then randomised response on the hash value in 0..g-1."""

    k: int
    g: int
    keep: int
    kind: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        _check_k(self.k)
        ok = isinstance(self.g, int) and 2 <= self.g <= RANGE_MAX
        require(
            ok,
            "g",
            self.g,
            f"an integer from 2 to {RANGE_MAX}",
            "Larger ranges need more than 32-bit hash values.",
        )
        _check_threshold("keep", self.keep)

    @classmethod
    def calibrate(cls, epsilon: float, k: int, g: int) -> Hashing:
        """The most accurate integers within e^epsilon."""
        _check_k(k)
        return cls(k, g, keep_threshold(epsilon, 1, g - 1))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`. The seed is independent of the value, so the ratio is that of the response on 0..g-1."""
        return two_level_ratio(self.keep, 1, self.g - 1)

    @property
    def width(self) -> int:
        """See `Kernel.width`."""
        return 8 + uint_width(self.g)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`."""
        _check_value(x, self.k)
        require(words.bits == WORD_BITS, "words.bits", words.bits, f"{WORD_BITS}", "A seed is one word.")
        seed = words.word()
        h = bucket(seed, x, self.g)
        y = h if happens(self.keep, words) else _other_than(h, self.g, words)
        return pack_int(seed, 8) + pack_int(y, uint_width(self.g))


KERNELS: Mapping[str, type[Response] | type[Subset] | type[Unary] | type[Hashing]] = {
    "response": Response,
    "subset": Subset,
    "unary": Unary,
    "hashing": Hashing,
}


def kernel_to(kernel: Kernel) -> dict[str, str]:
    """The integers of a kernel as a document; decimal strings, since JSON numbers lose bits in browsers.

    >>> kernel_to(Response(k=2, keep=2**63))
    {'kind': 'response', 'k': '2', 'keep': '9223372036854775808'}
    """
    cls = KERNELS[kernel.kind]
    return {"kind": kernel.kind} | {f.name: str(getattr(kernel, f.name)) for f in fields(cls)}


def kernel_from(document: Mapping[str, object]) -> Kernel:
    """The inverse of `kernel_to`; `FormatError` for an unknown kind or fields that do not fit."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KERNELS:
        raise FormatError(f"kernel kind {kind!r} is unknown; known are {', '.join(KERNELS)}.", "Upgrade the client.")
    names = {f.name for f in fields(KERNELS[kind])}
    given = set(document) - {"kind"}
    if given != names:
        raise FormatError(f"a {kind} kernel has fields {sorted(names)}, got {sorted(given)}.")
    try:
        numbers = {name: int(str(document[name])) for name in names}
    except ValueError as error:
        raise FormatError(f"a {kind} kernel needs whole numbers: {error}.") from error
    return KERNELS[kind](**numbers)


def check_promise(kernel: Kernel, low: Fraction, epsilon: float) -> None:
    """`PrivacyError` unless the kernel's exact ratio is at most the certified lower bound `low` of e^epsilon."""
    if kernel.ratio > low:
        raise PrivacyError(
            f"this design promises epsilon {epsilon!r} but its {kernel.kind} kernel has likelihood ratio "
            f"{float(kernel.ratio)!r}, above e^epsilon = {float(low)!r}; no report was made.",
            "Do not take part; tell whoever runs the task.",
        )
