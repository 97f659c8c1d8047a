"""Everyone chooses a level of protection: one data kernel per level, and a channel that hides the chosen level.

All data kernels have one report format, so that no report shows its level by its form. Its content may still tell: the
largest log-ratios between two levels are computed here for any number of values (`laws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD, exp_bounds, log_upper
from deniable_client.kernels.contract import (
    Disclosing,
    Kernel,
    Work,
    check_k,
    check_promise,
    check_threshold,
    check_value,
    inner_of,
    promised_ratio,
)
from deniable_client.kernels.laws import add_up, largest
from deniable_client.kernels.utility import Utility
from deniable_client.packing import pack_int
from deniable_client.words import Words, happens

__all__ = ["Bit", "Personal", "disclosure", "other_value", "same_value"]


# ---- data kernels: bases, or utility kernels on them


def form_of(kernel: Any) -> tuple[object, ...]:
    """What a kernel's reports show of it: kernels of one form cannot be told apart by the form of a report."""
    if isinstance(kernel, Utility):
        beside = bool(kernel.attach)
        return kernel.kind, kernel.k, kernel.sensitive, beside, kernel.blind, *(form_of(base) for base in kernel.base)
    return kernel.kind, kernel.k, kernel.width, getattr(kernel, "blocks", getattr(kernel, "g", 0))


def check_data(kernel: Any) -> None:
    """Refuse kernels of which it is not known what they tell about the level."""
    if isinstance(kernel, Utility):
        some = len(kernel.base) == 1 and kernel.s < kernel.k
        require(some, "data", kernel, "with two sensitive values and a harmless one")
        told = kernel.blind == 1 and kernel.attach == 0 and kernel.plain > 0
        hint = "A level that never discloses would be ruled out by every disclosed value."
        require(told, "data", kernel, "with blind reports, and values disclosed alone now and then", hint)
    inner = inner_of(kernel)
    known = getattr(inner, "law", None) is not None
    require(known, "data", inner.kind, "response, unary, hashing or affine kernels, or utility kernels on these")


def same_value(a: Any, b: Any) -> float:
    """Largest log-ratio of a report of kernel a and of kernel b for one value."""
    return float(a.law.same(b.law))


def other_value(a: Any, b: Any) -> float:
    """Largest log-ratio of a report of kernel a for one value and of kernel b for another one.

    Where values are disclosed: of reports that disclose nothing.
    """
    return float(a.law.other(b.law))


def disclosure(a: Any, b: Any) -> float:
    """Log-ratio of the chances that a harmless value is disclosed, of two kernels that do so."""
    return float(a.law.open(b.law))


# ---- kernels


@dataclass(frozen=True, slots=True)
class Bit:
    """One bit: 1 with probability chances[x]/2**64 for value x. A level report that says no more than a mean needs."""

    chances: tuple[int, ...]
    kind: ClassVar[str] = "bit"
    words: ClassVar[int] = 1
    width: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_k(len(self.chances))
        for chance in self.chances:
            check_threshold("chances", chance)

    @classmethod
    def calibrate(cls, epsilon: float, places: tuple[Fraction, ...]) -> Bit:
        """Chances that rise linearly with `places`, from -1 to 1, as steeply as e^epsilon allows.

        1/2 + place (e-1)/(2(e+1)), rounded towards 1/2.
        """
        ok = len(places) >= 2 and all(abs(place) <= 1 for place in places)
        require(ok, "places", places, "at least two numbers from -1 to 1")
        low = exp_bounds(epsilon)[0]
        steep = (low - 1) / (low + 1) / 2
        half = WORD // 2
        return cls(tuple(half + int(place * steep * WORD) for place in places))

    @property
    def k(self) -> int:
        return len(self.chances)

    @property
    def ratio(self) -> Fraction:
        low, high = min(self.chances), max(self.chances)
        return max(Fraction(high, low), Fraction(WORD - low, WORD - high))

    def odds(self, x: int) -> list[int]:
        """See `Response.odds`: of a bit that is 0, and that is 1."""
        return [WORD - self.chances[x], self.chances[x]]

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        return pack_int(int(happens(self.chances[x], words)), 1)


@dataclass(frozen=True, slots=True)
class Personal(Disclosing):
    """The data kernel of the chosen level, then the level itself through a channel of its own.

    `data` has one kernel for each level, from the most protective on; `level` has the channel on the numbers of the
    levels, or is empty: then nothing is sent about the level. The two draws are independent given value and level.
    """

    data: tuple[Kernel | Utility, ...]
    level: tuple[Kernel, ...]
    kind: ClassVar[str] = "personal"

    def __post_init__(self) -> None:
        hint = "Reports of another form, e.g. another hash range, would show the level."
        alike = len({form_of(kernel) for kernel in self.data}) == 1
        require(alike, "data", self.data, "kernels of one kind, size and report format", hint)
        for kernel in self.data:
            check_data(kernel)
        t = len(self.data)
        channel = len(self.level) <= 1 and all(hasattr(c, "odds") and c.k == t for c in self.level)
        require(channel, "level", self.level, f"empty, or one response or bit kernel on {t} levels")

    @property
    def k(self) -> int:
        """Number of values."""
        return self.data[0].k

    @property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: of values at one level, which may be known; the largest over the levels.

        The level report does not depend on the value given the level, so it cancels.
        """
        return max(promised_ratio(kernel) for kernel in self.data)

    @property
    def protected(self) -> tuple[int, ...]:
        """See `Disclosing.protected`: the same at all levels, which have reports of one form."""
        first = self.data[0]
        return first.sensitive if isinstance(first, Utility) else (0, first.k)

    @property
    def disclosed(self) -> Fraction:
        return max(kernel.disclosed if isinstance(kernel, Utility) else Fraction(0) for kernel in self.data)

    @property
    def work(self) -> Work:
        """See `Work`: levels are looked at two by two."""
        t = len(self.data)
        return Work("levels", t, 16, 400 * t * t)

    def check_promises(self, params: Mapping[str, Any]) -> None:
        """`PrivacyError` unless every level's kernel keeps its own promise, and so does the level report."""
        promised = list(zip(params["levels"], self.data, strict=True))
        promised += [(params["level_epsilon"], each) for each in self.level]
        for epsilon, each in promised:
            check_promise(each, exp_bounds(float(epsilon))[0], epsilon)

    @property
    def width(self) -> int:
        return self.data[0].width + sum(kernel.width for kernel in self.level)

    @property
    def words(self) -> int:
        return max(kernel.words for kernel in self.data) + 2 * len(self.level)

    def randomise(self, x: int, words: Words, level: int = 0) -> bytes:
        """A report for value `x` at a level, given by its number; the most protective one unless told otherwise."""
        t = len(self.data)
        ok = isinstance(level, int) and not isinstance(level, bool) and 0 <= level < t
        require(ok, "level", level, f"the number of one of the {t} levels, from 0 to {t - 1}")
        told = self.data[level].randomise(x, words)
        return told + b"".join(kernel.randomise(level, words) for kernel in self.level)

    # ---- what a report tells about the level

    def told(self, level: int) -> list[int]:
        """Whole numbers in proportion to the chances of the level's reports; one number if nothing is sent."""
        return next((kernel.odds(level) for kernel in self.level), [1])  # type: ignore[attr-defined]  # it is there: see above

    @property
    def report(self) -> float:
        """Exact epsilon of the level report alone, rounded up; 0 if there is none."""
        return max((log_upper(kernel.ratio) for kernel in self.level), default=0.0)

    @property
    def leakage(self) -> float:
        """Exact largest log-ratio of a data report between two levels, the value being the same; rounded up."""
        return max((same_value(a, b) for a, b in permutations(self.data, 2)), default=0.0)

    @property
    def level_guarantee(self) -> float:
        """Exact largest log-ratio of the whole report between two levels, the value being the same; rounded up."""
        return max(self._between(same_value), default=0.0)

    @property
    def pair_guarantee(self) -> float:
        """The same between any two pairs of a value and a level: what is left if the level depends on the value.

        Where values may be disclosed: of reports that disclose nothing, and between levels of those that do.
        """
        return max(log_upper(self.hidden_ratio), *self._between(same_value), *self._between(other_value), 0.0)

    def _between(self, data: Callable[[Any, Any], float]) -> list[float]:
        """Largest log-ratios of whole reports for each two levels, `data` being those of their data."""
        return [
            add_up(data(self.data[i], self.data[j]), largest(self.told(i), self.told(j)))
            for i, j in permutations(range(len(self.data)), 2)
        ]
