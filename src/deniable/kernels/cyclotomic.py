"""Blocks of cyclotomic classes of a prime field, moved by any shift: which points they hold, summed either way.

Block (i, b), the report i q + b, holds the point x if x - b is in one of the classes i, ..., i+j-1 (mod m), or is 0
where `zero` is 1; class c is the set of g^(c + m l) mod q. Sums over all blocks are cyclic correlations, one for each
class, by fast Fourier transforms of whole numbers that come back exactly (docs/maths/affine.md, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import BoolArray, Bytes, FloatArray, IntArray, UintArray
from deniable.kernels import loops
from deniable.kernels.parallel import blocks
from deniable.randomness import Stream

__all__ = ["Blocks"]

_TOTAL = 1 << 32
"""Counts of a larger sum are transformed in two parts, so that what is rounded stays far below one half."""
_DIGITS = 16
"""Bits of the lower part: of 2^48 reports, the most there are, the upper part sums to `_TOTAL` at most."""
_KEPT = 1 << 26
"""Bytes of the classes' transforms that are kept for the next sum."""
_ITEMS = 1 << 16
"""Items that blocks are drawn for together."""
_CELLS = 1 << 22
"""Pairs of report and item that are looked at together."""

_Spectrum = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Blocks:
    """All m q blocks of a design."""

    q: int
    m: int
    j: int
    zero: int
    g: int

    @cached_property
    def powers(self) -> NDArray[np.int32]:
        """1, g, g^2, ..., all points but 0: as many more in every step as there are."""
        out = np.ones(self.q - 1, np.int64)
        done, factor = 1, self.g
        while done < out.size:
            more = min(done, out.size - done)
            out[done : done + more] = out[:more] * factor % self.q
            done, factor = done + more, factor * factor % self.q
        return out.astype(np.int32)

    @cached_property
    def classes(self) -> NDArray[np.int32]:
        """The class of each point; m for the point 0, which has none."""
        out = np.full(self.q, self.m, np.int32)
        out[self.powers] = np.arange(self.q - 1, dtype=np.int32) % self.m
        return out

    @cached_property
    def _inside(self) -> BoolArray:
        """Whether union i has class c, for c = 0..m."""
        unions = np.arange(self.m, dtype=np.int32)
        turns = (unions[None, :] - unions[:, None]) % self.m
        return np.hstack([turns < self.j, np.full((self.m, 1), bool(self.zero))])

    def draw(
        self,
        stream: Stream,
        items: IntArray,
        keep: int,
        dtype: Any = np.int64,
        *,
        bits: int = 32,
        unions: UintArray | None = None,
    ) -> Any:
        """For each item a uniform block of those that hold it with probability keep / 2**64, else of the others.

        The answers are of type `dtype`; words of `bits` bits choose the union, unless the `unions` are given, and the
        item's point in it.
        """
        out, shape = np.empty(items.size, dtype), (self.m, self.j, self.zero, bits)

        def drawn(dealt: UintArray | None, n: int) -> UintArray:
            if dealt is None:
                return stream.draw(bits, 2 * n).reshape(2, -1)
            return np.stack([self._words_of(dealt, bits), stream.draw(bits, n)])

        for at in blocks(items.size, _ITEMS):
            part, own, dealt = out[at], items[at], None if unions is None else unions[at]
            coins = stream.draw(64, own.size)
            again = loops().block_of(part, own, coins, keep, drawn(dealt, own.size), self.powers, shape)
            while again.size:
                words, fresh = drawn(None if dealt is None else dealt[again], again.size), np.empty(again.size, dtype)
                left = loops().block_of(fresh, own[again], coins[again], keep, words, self.powers, shape)
                part[again] = fresh
                again = again[left]
        return out

    def _words_of(self, unions: UintArray, bits: int) -> UintArray:
        """For each union a word that chooses it by `scale`: the first one that is not drawn again."""
        below = (unions.astype(np.uint64) << np.uint64(bits)) + np.uint64((1 << bits) % self.m)
        return np.asarray((below + np.uint64(self.m - 1)) // np.uint64(self.m)).astype(f"u{bits // 8}")

    # ---- which points blocks hold

    def points(self, i: int) -> IntArray:
        """The points of block (i, 0), in rising order."""
        held = self._inside[i][self.classes]
        return np.flatnonzero(held)

    def holding(self, x: int) -> BoolArray:
        """Which blocks hold a point, by union and shift."""
        classes = self.classes[(x - np.arange(self.q)) % self.q]
        return np.asarray(self._inside[:, classes])

    def hold(self, x: int, reports: IntArray) -> BoolArray:
        """Which of some reports hold a point."""
        i, b = np.divmod(reports, self.q)
        return np.asarray(self._inside[i, self.classes[(x - b) % self.q]])

    def rows(self, reports: IntArray, k: int) -> Bytes:
        """Which of the first k points reports hold, as rows of packed bits, lowest first."""
        out = np.empty((reports.size, -(-k // 8)), np.uint8)
        twice = np.concatenate([self.classes, self.classes[: k - 1]])
        places = np.lib.stride_tricks.sliding_window_view(twice, k)
        for part in blocks(reports.size, max(1, _CELLS // k)):
            i, b = np.divmod(reports[part], self.q)
            held = self._inside[i[:, None], places[-b % self.q]]
            out[part] = np.packbits(held, axis=1, bitorder="little")
        return out

    def empty(self, k: int) -> int:
        """How many blocks hold none of the first k points: those whose points leave a gap of k or more, by its room."""
        if self.q - k < self.j * ((self.q - 1) // self.m) + self.zero:
            return 0
        found = 0
        for i in range(self.m):
            points = self.points(i)
            gaps = np.diff(np.append(points, points[0] + self.q)) - 1
            found += int(np.maximum(gaps - k + 1, 0).sum())
        return found

    # ---- sums

    def by_point(self, cells: IntArray) -> IntArray:
        """For each point the sum of whole numbers over the blocks that hold it, exactly; `cells` as m rows of q.

        >>> Blocks(5, 2, 1, 0, 2).by_point(np.array([[1, 0, 0, 0, 0], [0, 0, 7, 0, 0]]))
        array([7, 1, 0, 0, 8])
        """
        if int(cells.sum()) < _TOTAL:
            return np.rint(self.sum_by_point(cells)).astype(np.int64)
        high, low = cells >> _DIGITS, cells & ((1 << _DIGITS) - 1)
        upper, lower = (np.rint(self.sum_by_point(part)).astype(np.int64) for part in (high, low))
        return np.asarray((upper << _DIGITS) + lower)

    def sum_by_point(self, cells: NDArray[Any]) -> FloatArray:
        """The same for any numbers, as floats."""
        total = np.zeros(self._length // 2 + 1, np.complex128)
        window = cells[[-back % self.m for back in range(self.j)]].sum(axis=0)
        for c in range(self.m if self.j else 0):
            if c:
                window = window + cells[c] - cells[(c - self.j) % self.m]
            total += np.fft.rfft(window, self._length) * self._spectrum(c)
        wide = np.fft.irfft(total, self._length)
        out = wide[: self.q]
        out[: self.q - 1] += wide[self.q : 2 * self.q - 1]
        return np.asarray(out + cells.sum(axis=0) if self.zero else out)

    def sum_by_block(self, f: FloatArray) -> FloatArray:
        """For each block the sum of f over the points that it holds, as m rows of q; f may be shorter than q."""
        longer = np.zeros(self.q)
        longer[: f.size] = f
        out = np.zeros((self.m, self.q))
        if self.j:
            sums = self._sums_by_class(longer)
            window = sums[: self.j].sum(axis=0)
            for i in range(self.m):
                if i:
                    window = window + sums[(i + self.j - 1) % self.m] - sums[i - 1]
                out[i] = window
        return out + longer if self.zero else out

    def _sums_by_class(self, f: FloatArray) -> FloatArray:
        own, out = np.fft.rfft(f, self._length), np.empty((self.m, self.q))
        for c in range(self.m):
            wide = np.fft.irfft(own * self._spectrum(c).conj(), self._length)
            out[c] = wide[: self.q]
            out[c, 1:] += wide[self._length - self.q + 1 :]
        return out

    @cached_property
    def _length(self) -> int:
        """Room for two vectors of q that follow each other, of small prime factors."""
        least = 2 * self.q - 1
        return min(size for size in _smooth(2 * least) if size >= least and size % 2 == 0)

    @cached_property
    def _kept(self) -> dict[int, _Spectrum]:
        return {}

    def _spectrum(self, c: int) -> _Spectrum:
        """The transform of a class; all are kept where they are small."""
        if c in self._kept:
            return self._kept[c]
        made = np.fft.rfft(np.equal(self.classes, c).astype(np.float64), self._length)
        if 16 * self.m * made.size <= _KEPT:
            self._kept[c] = made
        return made

    # ---- pairs and triples of points

    @cached_property
    def pairs(self) -> int:
        """How many blocks hold two given points; any two, since x -> ax + b takes them to any other two."""
        w = self.j * ((self.q - 1) // self.m) + self.zero
        return self.m * w * (w - 1) // (self.q - 1)

    @cached_property
    def triples(self) -> IntArray:
        """How many blocks hold the points 0, 1 and c, for c = 0..q-1 (`pairs` for c = 0 and 1).

        So many hold x, y and z with (z-x)/(y-x) = c, since x -> ax + b takes one triple to the other.
        """
        return self.by_point((self.holding(0) & self.holding(1)).astype(np.int64))

    def third_sums(self, f: FloatArray) -> FloatArray:
        """For each pair x != y of the first k points: sum of f_z (t - mean t) over all others z, t their `triples`.

        For every distance d = y - x the sum over z is a correlation of f with t at (z-x)/d.
        """
        k, q = f.size, self.q
        out = np.zeros((k, k))
        if q < 4:
            return out
        rest = self.triples.astype(np.float64)
        rest -= (rest.sum() - 2 * self.pairs) / (q - 2)
        rest[:2] = 0.0
        size = next(n for n in sorted(_smooth(4 * k)) if n >= 2 * k - 1)
        lags = np.concatenate([np.arange(k), np.arange(-(k - 1), 0)])
        own, at = np.fft.rfft(f, size), np.arange(k)
        for d in range(1, k):
            kernel = np.zeros(size)
            kernel[lags] = rest[lags * pow(d, -1, q) % q]
            sums = np.fft.irfft(own * np.fft.rfft(kernel).conj(), size)[: k - d]
            out[at[: k - d], at[d:]] = out[at[d:], at[: k - d]] = sums
        return out


def _smooth(most: int) -> Iterator[int]:
    """Whole numbers up to `most` without prime factors above 5."""
    two = 1
    while two <= most:
        three = two
        while three <= most:
            five = three
            while five <= most:
                yield five
                five *= 5
            three *= 3
        two *= 2
