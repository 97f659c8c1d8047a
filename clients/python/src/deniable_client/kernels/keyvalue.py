"""Key-value kernels: which key a person has, and how much of it.

The input of most of them is a *signed key* of 0..2 keys - 1: key + 0 for a value that was rounded to the top of its
range (+1), key + keys for one rounded to the bottom (-1). `Pairs` turns the pairs of a person into one signed key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.domains import Domain
from deniable_client.errors import ParameterError, PrivacyError, require, show
from deniable_client.exact import WORD, WORD_BITS, check_epsilon, exp_bounds, keep_within, two_level_lift
from deniable_client.kernels.basic import Response, Subset
from deniable_client.kernels.contract import (
    Base,
    Kernel,
    Work,
    check_k,
    check_plain,
    check_threshold,
    check_value,
    check_whole,
)
from deniable_client.kernels.dealt import Deal
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width
from deniable_client.words import Words, below, happens, subset

__all__ = ["GRID", "Grouped", "KeysOnly", "OneKey", "Pairs", "Signed", "SignedSubset", "SignedUnary"]

GRID = 1 << 32
"""Values lie on this many equal steps of their range, so that rounding one to an end compares integers."""


def signed_ratio(s: Fraction, r: Fraction, a: Fraction) -> Fraction:
    """Exact ratio of independent positions in {+1, -1, 0}: own s, r, z = 1-s-r; others a/2, a/2, 1-a.

    Between two keys U W, the largest quotient own/other times the largest other/own; at one key, of both signs, s/r.
    """
    z = 1 - s - r
    up = max(2 * s / a, 2 * r / a, z / (1 - a))
    down = max(a / (2 * s), a / (2 * r), (1 - a) / z)
    return max(up * down, s / r, r / s)


class Signed:
    """A kernel on signed keys."""

    __slots__ = ()
    keys: int

    @property
    def k(self) -> int:
        """See `Kernel.k`: signed keys."""
        return 2 * self.keys


@dataclass(frozen=True, slots=True)
class SignedUnary(Signed):
    """One of {+1, -1, 0} per key, independently: thresholds own (sign kept), flip (sign turned), other (not held, any).

    A report has the bits of all keys at +1, then those of all keys at -1.
    """

    keys: int
    own: int
    flip: int
    other: int
    kind: ClassVar[str] = "signed-unary"

    def __post_init__(self) -> None:
        check_k(self.keys)
        for name in ("own", "flip", "other"):
            check_threshold(name, getattr(self, name))
        require(self.own + self.flip < WORD, "own + flip", self.own + self.flip, f"below 2**{WORD_BITS}")

    @classmethod
    def calibrate(
        cls, epsilon: float, keys: int, shape: Callable[[Fraction], tuple[Fraction, Fraction, Fraction]]
    ) -> SignedUnary:
        """The probabilities (s, r, a) that `shape` gives for e^epsilon, rounded; for a little less until they fit."""
        low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
        for less in range(WORD_BITS, 4, -1):
            near = 1 + (low - 1) * (1 - Fraction(1, 1 << less))
            own, flip, other = (round(p * WORD) for p in shape(near))
            if min(own, flip, other) > 0 and own + flip < WORD:
                made = cls(keys, own, flip, other)
                if made.ratio <= low:
                    return made
        raise PrivacyError(f"epsilon {epsilon!r} needs more than {WORD_BITS}-bit words for three-way answers.")

    @property
    def chances(self) -> tuple[Fraction, Fraction, Fraction]:
        """(s, r, a), exactly."""
        return Fraction(self.own, WORD), Fraction(self.flip, WORD), Fraction(self.other, WORD)

    @property
    def ratio(self) -> Fraction:
        return signed_ratio(*self.chances)

    def padded(self, keys: int, length: int) -> Fraction:
        """Exact ratio between sets of pairs: positions that are independent gain nothing."""
        return self.ratio

    @property
    def width(self) -> int:
        return 2 * bits_width(self.keys)

    @property
    def words(self) -> int:
        return 2 * self.keys

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        minus, key = divmod(x, self.keys)
        sides: tuple[list[int], list[int]] = ([], [])
        for i in range(self.keys):
            if i == key:
                word = words.word()
                if word < self.own + self.flip:
                    sides[minus if word < self.own else 1 - minus].append(i)
            elif happens(self.other, words):
                sides[below(2, words)].append(i)
        return pack_bits(sides[0], self.keys) + pack_bits(sides[1], self.keys)


@dataclass(frozen=True, slots=True)
class SignedSubset(Signed):
    """`size` different keys, each with a sign; the own signed key is among them with probability keep/2**64.

    The other sets, those with the own key and the wrong sign among them, are all alike.
    """

    keys: int
    size: int
    keep: int
    kind: ClassVar[str] = "signed-subset"

    def __post_init__(self) -> None:
        check_k(self.keys)
        check_whole("size", self.size, 1, self.keys)
        check_threshold("keep", self.keep)

    @property
    def lift(self) -> Fraction:
        """See `Base.lift`: a share size/(2 keys) of all signed sets holds a given signed key."""
        return two_level_lift(self.keep, self.size, 2 * self.keys - self.size)

    @property
    def ratio(self) -> Fraction:
        return max(self.lift, 1 / self.lift)

    def padded(self, keys: int, length: int) -> Fraction:
        """Exact ratio between sets of pairs, fewer of which are in a small set."""
        return _padded_sets(self.lift, self.size, length)

    @property
    def width(self) -> int:
        return 2 * bits_width(self.keys)

    @property
    def words(self) -> int:
        return 2 * self.size + 2

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        minus, key = divmod(x, self.keys)
        kept = happens(self.keep, words)
        turned = not kept and below(2 * self.keys - self.size, words) < self.size
        others = subset(self.keys - 1, self.size - (kept or turned), words)
        sides: tuple[list[int], list[int]] = ([], [])
        for i in sorted(others):
            sides[below(2, words)].append(i + (i >= key))
        if kept or turned:
            sides[minus if kept else 1 - minus].append(key)
        return pack_bits(sides[0], self.keys) + pack_bits(sides[1], self.keys)


@dataclass(frozen=True, slots=True)
class KeysOnly:
    """A kernel on keys that does not look at the sign."""

    base: Kernel
    kind: ClassVar[str] = "keys-only"

    def __post_init__(self) -> None:
        check_plain("a kernel on keys", self.base)

    @property
    def keys(self) -> int:
        """Number of keys."""
        return self.base.k

    @property
    def k(self) -> int:
        """See `Kernel.k`: signed keys."""
        return 2 * self.base.k

    @property
    def ratio(self) -> Fraction:
        return self.base.ratio

    def padded(self, keys: int, length: int) -> Fraction:
        """Exact ratio between sets of pairs."""
        if isinstance(self.base, Base) and self.base.favours:
            return _padded_keys(self.base.lift, self.base.favours, keys, length)
        return self.base.ratio

    @property
    def width(self) -> int:
        return self.base.width

    @property
    def words(self) -> int:
        return self.base.words

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return self.base.randomise(x % self.base.k, words)


@dataclass(frozen=True, slots=True)
class OneKey(Signed):
    """One key, drawn without looking at the own one and sent in clear, with +1, -1 or 0 for it [PrivKV].

    Held: 0 with probability 1 - keep/2**64, else the sign, turned with probability flip/2**64. Not held: 0 with
    probability keep/2**64, else a uniform sign. A report is 3 key + (0 for none, 1 for +1, 2 for -1).
    """

    keys: int
    keep: int
    flip: int
    kind: ClassVar[str] = "one-key"
    words: ClassVar[int] = 5

    def __post_init__(self) -> None:
        check_k(self.keys)
        check_threshold("keep", self.keep)
        check_threshold("flip", self.flip)

    @property
    def chances(self) -> tuple[Fraction, Fraction, Fraction]:
        """(s, r, a) of the key that is asked for, exactly."""
        p, turn = Fraction(self.keep, WORD), Fraction(self.flip, WORD)
        return p * (1 - turn), p * turn, 1 - p

    @property
    def guesses(self) -> tuple[int, ...]:
        """By which people without the key answer, in 2**-32 of the chance of +1; none: they toss an even coin."""
        return ()

    def answers(self, guess: int = GRID // 2) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """Chances of 0, +1 and -1 for a key with this guess: held with +1, held with -1, not held."""
        (s, r, a), share = self.chances, Fraction(guess, GRID)
        turn = r / (s + r)
        plus = share * (1 - turn) + (1 - share) * turn
        return (1 - s - r, s, r), (1 - s - r, r, s), (1 - a, a * plus, a * (1 - plus))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the key is public, so only what is said of it counts; the worst over all guesses."""
        told = self.guesses or (GRID // 2,)
        laws = (self.answers(guess) for guess in {min(told), max(told)})  # quotients are monotone in the guess
        quotients: list[Fraction] = [max(said) / min(said) for law in laws for said in zip(*law, strict=True)]
        return max(quotients)

    @property
    def width(self) -> int:
        return uint_width(3 * self.keys)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        minus, key = divmod(x, self.keys)
        asked = below(self.keys, words)
        said = 0
        if happens(self.keep, words) == (asked == key):
            said = 1 + self._sign(asked, minus, asked == key, words)
        return pack_int(3 * asked + said, self.width)

    def _sign(self, asked: int, minus: int, held: bool, words: Words) -> int:
        """What is said of the key, 0 for +1 and 1 for -1."""
        return minus ^ (happens(self.flip, words) if held else below(2, words))


@dataclass(frozen=True, slots=True)
class Grouped(Deal):
    """The second of two kernels with probability coin/2**64: a deal of two parts, of which both have the same input."""

    first: Kernel
    second: Kernel
    coin: int
    kind: ClassVar[str] = "grouped"

    def __post_init__(self) -> None:
        check_plain("a group", self.first, self.second)
        require(self.first.k == self.second.k, "k of both groups", (self.first.k, self.second.k), "the same")
        check_threshold("coin", self.coin)

    @property
    def parts(self) -> tuple[Kernel, Kernel]:
        """See `Deal.parts`: both kernels."""
        return self.first, self.second

    @property
    def shares(self) -> tuple[int, int]:
        """See `Deal.shares`: in 2**-64."""
        return WORD - self.coin, self.coin

    @property
    def k(self) -> int:
        return self.first.k

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: the coin is public and does not look at the value."""
        return max(part.ratio for part in self.parts)

    def padded(self, keys: int, length: int) -> Fraction:
        """Exact ratio between sets of pairs: the worse of both."""
        return max(padded_ratio(part, keys, length) for part in self.parts)

    def deal(self, words: Words) -> int:
        """See `Deal.deal`: the second part for the low words."""
        return int(happens(self.coin, words))

    def randomise(self, x: int, words: Words) -> bytes:
        part = self.deal(words)
        return self.frame(part, self.parts[part].randomise(x, words))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of one person, by padding and sampling, through a kernel on signed keys.

    `length` 0: everybody has exactly one pair. Else people with fewer than `length` pairs are filled up from `length`
    further keys that mean nothing, one key is drawn, and the kernel covers keys + length keys. No key is then drawn
    with more than chance 1/length, so a kernel that favours few keys may have a larger ratio itself (`amplified`).
    """

    base: Kernel
    keys: int
    length: int
    kind: ClassVar[str] = "pairs"

    def __post_init__(self) -> None:
        check_plain("a kernel for pairs", self.base)
        check_k(self.keys)
        check_whole("length", self.length, 0, self.keys, "Give at most as many pairs per person as there are keys.")
        need = 2 * (self.keys + self.length)
        hint = "Padding needs as many dummy keys as the length says; with fewer an amplified kernel leaks."
        require(self.base.k == need, "signed keys of the kernel", self.base.k, f"2 (keys + length) = {need}", hint)

    @property
    def k(self) -> int:
        """See `Kernel.k`: people with one pair, by signed key; with padding, also a person with none."""
        return 2 * self.keys + (self.length > 0)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`, over all sets of pairs with different keys."""
        return padded_ratio(self.base, self.keys, self.length) if self.length else self.base.ratio

    @property
    def answers(self) -> int:
        """How many answers the domain has: keys."""
        return self.keys

    @property
    def width(self) -> int:
        return self.base.width

    @property
    def words(self) -> int:
        return 3 + self.base.words

    @property
    def work(self) -> Work:
        """See `Work`: the ratio is looked for over all numbers of keys that a set may hold."""
        return Work("pairs per person", self.length, 1 << 12, 40 * self.length)

    def pairs_of(self, pairs: object, domain: Domain, ends: Sequence[float]) -> list[tuple[int, int]]:
        """Pairs with keys by number, and values in steps of their range from one end to the other."""
        low, high = map(float, ends)
        if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise ParameterError(f"value must be a list of pairs (key, number), got {show(pairs)}.")
        for _, number in pairs:
            real = isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high
            require(real, "the number of a pair", number, f"from {low:g} to {high:g}", "Nothing is clipped.")
        numbers = [(domain.index(key), round((n - low) / (high - low) * GRID)) for key, n in pairs]
        if domain.other is not None and len({str(key) for key, _ in pairs}) == len(pairs):
            numbers = _merged(numbers)
        self.check_pairs(numbers)
        return numbers

    def randomise(self, x: int | Sequence[tuple[int, int]], words: Words) -> bytes:
        """A report for pairs (key, value in steps of 1/GRID of the range), or for one signed key."""
        if isinstance(x, Sequence):
            return self.base.randomise(self._choose(x, words), words)
        check_value(x, self.k)
        minus, key = divmod(x, self.keys)
        return self.randomise([] if minus == 2 else [(key, GRID * (1 - minus))], words)

    def check_pairs(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Refuse what are no pairs of one person."""
        keys = [key for key, _ in pairs]
        for key, value in pairs:
            check_whole("key", key, 0, self.keys - 1)
            check_whole("value", value, 0, GRID, "It is the number of steps from the low end of the range.")
        if len(set(keys)) < len(keys):
            raise ParameterError("pairs must have different keys.", "Keep one value of each key, e.g. their mean.")
        if not self.length:
            require(
                len(pairs) == 1, "pairs", len(pairs), "exactly one", "For several, or none, the task needs a length."
            )

    def _choose(self, pairs: Sequence[tuple[int, int]], words: Words) -> int:
        self.check_pairs(pairs)
        total, number = self.keys + self.length, below(max(len(pairs), self.length, 1), words)
        key, value = pairs[number] if number < len(pairs) else (self.keys + below(self.length, words), GRID // 2)
        return key if below(GRID, words) < value else key + total


def _merged(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Different keys that count as one key become one pair with their mean: how many there are does not show."""
    found: dict[int, list[int]] = {}
    for key, steps in pairs:
        found.setdefault(key, []).append(steps)
    return [(key, sum(steps) // len(steps)) for key, steps in found.items()]


def padded_ratio(base: Kernel, keys: int, length: int) -> Fraction:
    """Exact ratio between sets of pairs, for a kernel on keys + length keys (docs/maths/keyvalue.md, section 4).

    Kernels of this family say it themselves. A report of a two-level kernel has a likelihood proportional to
    1 + (lift - 1) share, share being the chance that the key drawn is one of the report's. Positions that are
    independent gain nothing, nor do buckets, which may hold all pairs of a person.
    """
    own = getattr(base, "padded", None)
    if own is not None:
        ratio: Fraction = own(keys, length)
        return ratio
    favours = base.favours if isinstance(base, Base) else None
    require(favours is not None, "kernel", base.kind, "one that padding is worked out for")
    return _padded_sets(base.lift, favours, length) if favours else base.ratio  # type: ignore[attr-defined]


def _padded_sets(lift: Fraction, size: int, length: int) -> Fraction:
    """Sets of `size` signed keys, against people who have none of them; the lift may be below 1."""
    most = 1 + (lift - 1) * Fraction(min(size, length), length)
    return max(most, 1 / most)


def _padded_keys(lift: Fraction, size: int, keys: int, length: int) -> Fraction:
    """Sets of keys: `held` of them real, the rest dummies, which may not be avoided where there are few keys."""
    gain, worst = lift - 1, Fraction(1)
    for held in range(max(0, size - length), min(size, keys) + 1):
        idle = Fraction(size - held, length * length)
        most, least = min(held, length), min(keys - held, length)
        high = 1 + gain * (Fraction(most, length) + (length - most) * idle)
        low = 1 + gain * (length - least) * idle
        worst = max(worst, high / low, low / high)
    return worst


def amplified(epsilon: float, size: int, length: int) -> Fraction:
    """The largest ratio of a kernel with sets of `size` keys that `Pairs` brings down to e^epsilon."""
    low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
    return 1 + (low - 1) * Fraction(length, min(size, length)) if length else low


def response(epsilon: float, keys: int, length: int) -> Response:
    """One signed key, or another one, for people with `length` pairs."""
    total = 2 * (keys + length)
    return Response(total, keep_within(amplified(epsilon, 1, length), 1, total - 1))


def subset_of_signed(epsilon: float, keys: int, length: int, size: int) -> Subset:
    """Subset selection on signed keys, for people with `length` pairs."""
    return _subset(epsilon, 2 * (keys + length), length, size)


def subset_of_keys(epsilon: float, keys: int, length: int, size: int) -> Subset:
    """Subset selection on keys, for people with `length` pairs."""
    return _subset(epsilon, keys + length, length, size)


def _subset(epsilon: float, total: int, length: int, size: int) -> Subset:
    check_whole("size", size, 1, total - 1)
    return Subset(total, size, keep_within(amplified(epsilon, size, length), size, total - size))


def signed_subset(epsilon: float, keys: int, length: int, size: int) -> SignedSubset:
    """`SignedSubset` for people with `length` pairs."""
    total = keys + length
    check_whole("size", size, 1, total)
    return SignedSubset(total, size, keep_within(amplified(epsilon, size, length), size, 2 * total - size))
