"""Answers in an order: a public grid of cells on a circle of points, then subset selection among the cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable_client.errors import require
from deniable_client.exact import WORD, WORD_BITS, keep_threshold
from deniable_client.kernels.basic import Subset
from deniable_client.kernels.contract import Base, check_k, check_threshold, check_value, check_whole
from deniable_client.packing import pack_int, uint_width
from deniable_client.words import Words, below, by_shares

__all__ = ["WIDTHS_MAX", "Windows"]

CIRCLE_MAX = 1 << 20
"""Points of the largest circle: the cells of width 1 are bits of a report."""
WIDTHS_MAX = 64
"""Widths of a design: the number of one is a byte of a report."""


@dataclass(frozen=True, slots=True)
class Windows(Base):
    """One of some widths, by shares, and one of some shifts, all alike; then the own cell or others by `Subset`.

    Points 0..k-1 stand on a circle of `circle` points. A width w cuts the circle into circle/w cells; shifted by s,
    point x is in the cell ((x + s) mod circle) // w. Width and shift are drawn without looking at the value and stand
    in the report, so the ratio of the whole is that of the worst width. With as many shifts as a cell has points, every
    grid of this width is as likely as any other; with one shift the grid stands still, as in a tree.
    """

    k: int
    circle: int
    widths: tuple[int, ...]
    shifts: tuple[int, ...]
    shares: tuple[int, ...]
    sizes: tuple[int, ...]
    keeps: tuple[int, ...]
    kind: ClassVar[str] = "windows"

    def __post_init__(self) -> None:
        check_k(self.k, CIRCLE_MAX)
        check_whole("circle", self.circle, self.k, CIRCLE_MAX)
        count = len(self.widths)
        check_whole("number of widths", count, 1, WIDTHS_MAX)
        for name in ("shifts", "shares", "sizes", "keeps"):
            given = getattr(self, name)
            require(len(given) == count, name, given, f"{count} numbers, one for each width")
        before = 0
        for i, width in enumerate(self.widths):
            check_whole("width", width, before + 1, self.k - 1, "Widths rise, and two points are in different cells.")
            require(self.circle % width == 0, "width", width, f"a divisor of the circle's {self.circle} points")
            check_whole("number of shifts", self.shifts[i], 1, width)
            check_whole("share", self.shares[i], 1, WORD)
            check_whole("size", self.sizes[i], 1, self.circle // width - 1)
            check_threshold("keep", self.keeps[i])
            before = width
        total = sum(self.shares)
        require(total <= WORD, "sum of shares", total, f"at most 2**{WORD_BITS}")

    @classmethod
    def calibrate(
        cls,
        epsilon: float,
        k: int,
        circle: int,
        widths: tuple[int, ...],
        shifts: tuple[int, ...],
        shares: tuple[int, ...],
        sizes: tuple[int, ...],
    ) -> Windows:
        """The most accurate integers within e^epsilon at every width."""
        cells = [circle // max(1, width) for width in widths]
        fits = len(widths) == len(sizes) and all(0 < m < c for m, c in zip(sizes, cells, strict=True))
        require(fits, "sizes", sizes, f"for each width fewer cells than there are, {cells}")
        keeps = tuple(keep_threshold(epsilon, m, c - m) for m, c in zip(sizes, cells, strict=True))
        return cls(k, circle, widths, shifts, shares, sizes, keeps)

    @property
    def parts(self) -> tuple[Subset, ...]:
        """Subset selection among the cells of each width."""
        cells = (self.circle // width for width in self.widths)
        return tuple(map(Subset, cells, self.sizes, self.keeps))

    @property
    def ratio(self) -> Fraction:
        """See `Kernel.ratio`: width and shift are public and look at no value, so the worst width's."""
        return max(part.ratio for part in self.parts)

    @property
    def share(self) -> Fraction:
        """See `Base.share`: the mean over the widths."""
        every = (Fraction(s * m, c.k) for s, m, c in zip(self.shares, self.sizes, self.parts, strict=True))
        return sum(every, Fraction(0)) / sum(self.shares)

    @property
    def blind_peak(self) -> Fraction:
        """See `Base.blind_peak`: that of the worst width."""
        return max(part.blind_peak for part in self.parts)

    @property
    def shift_width(self) -> int:
        """Bytes of the shift."""
        return uint_width(max(self.shifts))

    @property
    def width(self) -> int:
        """See `Kernel.width`: the number of the width, the shift, and the set of cells of the narrowest."""
        return 1 + self.shift_width + max(part.width for part in self.parts)

    @property
    def words(self) -> int:
        """See `Kernel.words`: a width, a shift, and the most of any subset."""
        return 2 + max(part.words for part in self.parts)

    def cell(self, x: int, i: int, shift: int) -> int:
        """Where a point is in the i-th grid, shifted."""
        return (x + shift) % self.circle // self.widths[i]

    def randomise(self, x: int, words: Words) -> bytes:
        check_value(x, self.k)
        i, shift, part = self._grid(words)
        return self._report(i, shift, part.randomise(self.cell(x, i, shift), words))

    def blind(self, words: Words) -> bytes:
        i, shift, part = self._grid(words)
        return self._report(i, shift, part.blind(words))

    def _grid(self, words: Words) -> tuple[int, int, Subset]:
        """A public width and shift, and subset selection among its cells."""
        i = by_shares(self.shares, words)
        return i, below(self.shifts[i], words), self.parts[i]

    def _report(self, i: int, shift: int, cells: bytes) -> bytes:
        return (bytes([i]) + pack_int(shift, self.shift_width) + cells).ljust(self.width, b"\0")
