"""Key-value kernels with something public in them: a seed in the report, or a guess in the question.

Inputs are signed keys, as in `keyvalue`. Privacy holds for every seed and every guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import PrivacyError, require
from deniable_client.exact import WORD, WORD_BITS, check_epsilon, exp_bounds
from deniable_client.hashing import RANGE_MAX, bucket, hash32, permute
from deniable_client.kernels.contract import check_k, check_seed_words, check_threshold, check_value, check_whole
from deniable_client.kernels.keyvalue import GRID, OneKey, Signed, SignedSubset
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, happens

__all__ = ["SignedHashing", "SignedInterval", "ToldKey", "sign_of"]


def sign_of(seed: int, key: int) -> int:
    """The public random sign of a key, 0 or 1: the top bit of its hash value, which the permutation does not use."""
    return hash32(seed, key) >> 31


@dataclass(frozen=True, slots=True)
class SignedInterval(SignedSubset):
    """`size` neighbouring positions on a ring of keys, and one sign: `SignedSubset` in a seed and log2(2 keys) bits.

    The seed gives a permutation of the keys and a public sign for each. Report y is the first position, plus `keys` for
    the other sign; it stands for the keys at these positions, each with the sign of the report times its public one.
    The own signed key is among them with probability keep/2**64: given any seed, `size` of the 2 keys reports have one
    mass and the rest another, as the sets of `SignedSubset` do.
    """

    kind: ClassVar[str] = "signed-interval"
    words: ClassVar[int] = 5

    @property
    def width(self) -> int:
        return 8 + uint_width(2 * self.keys)

    def randomise(self, x: int, words: Words) -> bytes:
        """See `Kernel.randomise`: the reports that do not hold the own signed key are numbered wrong sign first."""
        check_value(x, self.k)
        check_seed_words(words)
        minus, key = divmod(x, self.keys)
        seed = words.word()
        kept = happens(self.keep, words)
        back = below(self.size, words) if kept else below(2 * self.keys - self.size, words)
        turned = not kept and back < self.keys
        if not kept and not turned:
            back = back - self.keys + self.size
        y = (permute(seed, key, self.keys) - back) % self.keys
        sign = minus ^ sign_of(seed, key) ^ turned
        return pack_int(seed, 8) + pack_int(y + self.keys * sign, uint_width(2 * self.keys))


@dataclass(frozen=True, slots=True)
class SignedHashing(Signed):
    """Keys hashed to g buckets with a public random sign: a report is a seed, a bucket and a sign.

    Value 2 bucket + sign: the own one with probability own/2**64, that with the other sign with flip/2**64, else any of
    the other 2g - 2.
    """

    keys: int
    g: int
    own: int
    flip: int
    kind: ClassVar[str] = "signed-hashing"
    words: ClassVar[int] = 5

    def __post_init__(self) -> None:
        check_k(self.keys)
        check_whole("g", self.g, 2, RANGE_MAX // 2)
        for name in ("own", "flip"):
            check_threshold(name, getattr(self, name))
        require(self.own + self.flip < WORD, "own + flip", self.own + self.flip, f"below 2**{WORD_BITS}")

    @classmethod
    def calibrate(cls, epsilon: float, keys: int, g: int, turned: Fraction) -> SignedHashing:
        """Chances proportional to e^epsilon (own), `turned` (from 1 to e^epsilon: the other sign) and 1 (any other)."""
        low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
        check_whole("g", g, 2, RANGE_MAX // 2)
        require(1 <= turned <= low, "turned", turned, "from 1 to e^epsilon")
        for less in range(WORD_BITS, 4, -1):
            near = 1 + (low - 1) * (1 - Fraction(1, 1 << less))
            unit = WORD / (near + min(turned, near) + 2 * g - 2)
            own, flip = round(near * unit), round(min(turned, near) * unit)
            if min(own, flip) > 0 and own + flip < WORD:
                made = cls(keys, g, own, flip)
                if made.ratio <= low:
                    return made
        raise PrivacyError(f"epsilon {epsilon!r} needs more than {WORD_BITS}-bit words for {g} buckets.")

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Of the own value and of the one with the other sign, exactly."""
        return Fraction(self.own, WORD), Fraction(self.flip, WORD)

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: given any hash function a report has one of three probabilities."""
        own, flip = self.chances
        levels = (own, flip, (1 - own - flip) / (2 * self.g - 2))
        return max(levels) / min(levels)

    def padded(self, keys: int, length: int) -> Fraction:
        """Exact ratio between sets of pairs: buckets may hold them all, so padding gains nothing."""
        return self.ratio

    @property
    def width(self) -> int:
        return 8 + uint_width(2 * self.g)

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        check_seed_words(words)
        minus, key = divmod(x, self.keys)
        seed = words.word()
        value = bucket(seed, key, 2 * self.g) ^ minus
        word = words.word()
        if word >= self.own:
            value ^= 1
        if word >= self.own + self.flip:
            other = below(2 * self.g - 2, words)
            value = other + 2 * (other >= value - value % 2)
        return pack_int(seed, 8) + pack_int(value, uint_width(2 * self.g))


@dataclass(frozen=True, slots=True)
class ToldKey(OneKey):
    """`OneKey` where people without the key answer as if its value were a public guess [PrivKVM].

    The guess for key i rounds to +1 with probability told[i]/2**32. Held: 0 with probability 1 - keep/2**64; not held:
    0 with probability keep/2**64; else the sign of the value, or of the guess, turned with probability flip/2**64.
    """

    told: tuple[int, ...]
    kind: ClassVar[str] = "told-key"

    def __post_init__(self) -> None:
        OneKey.__post_init__(self)
        require(len(self.told) == self.keys, "told", len(self.told), f"one number for each of the {self.keys} keys")
        for number in self.told:
            check_whole("told", number, 0, GRID)

    @property
    def guesses(self) -> tuple[int, ...]:
        return self.told

    def _sign(self, asked: int, minus: int, held: bool, words: Words) -> int:
        sign = minus if held else int(below(GRID, words) >= self.told[asked])
        return sign ^ happens(self.flip, words)
