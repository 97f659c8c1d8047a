"""Cells of points in an order for many people at once: reports, counts, channel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Columns, FloatArray, IntArray
from deniable.errors import FormatError
from deniable.kernels import loops
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.bulk import Bulk, Cells, check_outputs
from deniable.mechanisms.framing import log2_sum
from deniable.mechanisms.ordinal.laws import Law, law_of
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD
from deniable_client.kernels import Windows

__all__ = ["WindowsBulk"]


class _CellReader(Reader["WindowsBulk"]):
    """A point in a reported cell is so much likelier than another one as its width's subsets say."""

    def likelihood(self, columns: Columns) -> FloatArray:
        odds = np.array([float(part.ratio) for part in self.bulk.kernel.parts])
        rest = 1 / odds[columns["cut"].astype(np.int64)]
        return np.where(self.bulk.held(columns), 1.0, rest[:, None])


class WindowsBulk(Bulk[Windows]):
    """A report is the number of a width, a shift, and a set of cells as bits; each width is a stratum."""

    reads = _CellReader

    @property
    def fields(self) -> tuple[Field, ...]:
        shift = self.kernel.shift_width
        cells = Field("cells", "bytes", self.kernel.width - 1 - shift)
        return Field("cut", "uint", 1), Field("shift", "uint", shift), cells

    @cached_property
    def law(self) -> Law:
        """The law of the integers that are sampled."""
        return law_of(self.kernel)

    @cached_property
    def _sizes(self) -> IntArray:
        return np.array(self.kernel.sizes)

    @cached_property
    def _widths(self) -> IntArray:
        return np.array(self.kernel.widths)

    # ---- client

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return self._draw(len(items), items, rng)

    def blind(self, n: int, rng: Stream) -> Columns:
        return self._draw(n, None, rng)

    def _draw(self, n: int, items: IntArray | None, rng: Stream) -> Columns:
        """Reports of n people: the width and the shift first, which look at no item."""
        kernel = self.kernel
        cut = np.searchsorted(np.cumsum(kernel.shares), below(rng, sum(kernel.shares), n), side="right")
        out: dict[str, np.ndarray] = {f.name: np.zeros(f.shape(n), f.dtype) for f in self.fields}
        out["cut"][:] = cut
        for i, part in enumerate(kernel.parts):
            at = np.flatnonzero(cut == i)
            shift = below(rng, kernel.shifts[i], at.size)
            out["shift"][at] = shift
            if items is None:
                own, kept = np.zeros(at.size, np.int64), below(rng, part.k, at.size) < part.size
            else:
                own = (items[at] + shift) % kernel.circle // kernel.widths[i]
                kept = bernoulli(rng, part.keep, at.size)
            out["cells"][at, : part.width] = subset_bits(rng, part.k, np.full(at.size, part.size), own, kept)
        return out

    # ---- counter

    @property
    def strata(self) -> tuple[str, ...]:
        return tuple(f"width {width}" for width in self.kernel.widths)

    @property
    def cells(self) -> Mapping[str, Cell]:
        ends = list(self._totals())
        return {"support": Cell(self.k, total=(min(low for low, _ in ends), max(high for _, high in ends)))}

    def _totals(self) -> list[tuple[int, int]]:
        """How many points a report of each width supports: all of its cells', but for points that are no answers."""
        points = [size * width for size, width in zip(self.kernel.sizes, self.kernel.widths, strict=True)]
        return [(max(0, own - (self.kernel.circle - self.k)), min(self.k, own)) for own in points]

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: each width supports as many points as its cells have."""
        for n, entries, total in zip(cells["n"].tolist(), cells["support"], self._totals(), strict=True):
            Cell(self.k, total=total).check("support", entries, n)

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: a width and a shift that there are, and a set of the right size."""
        known = self._known(columns)
        rows = {name: column[known] for name, column in columns.items()}
        known[known] = self._right(rows, self._starts(rows)[1])
        return known

    def _known(self, columns: Columns) -> BoolArray:
        """Which reports have a width and a shift that there are."""
        cut = columns["cut"].astype(np.int64)
        known = cut < len(self._widths)
        most = np.array(self.kernel.shifts)[np.where(known, cut, 0)]
        return np.asarray(known & (columns["shift"].astype(np.int64) < most))

    def _starts(self, columns: Columns) -> tuple[IntArray, IntArray]:
        cut, shift = (columns[name].astype(np.int64) for name in ("cut", "shift"))
        rows = np.ascontiguousarray(columns["cells"].astype(np.uint8, copy=False))
        found: tuple[IntArray, IntArray] = loops().count_cells(rows, cut, shift, self._widths, self.kernel.circle)
        return found

    def _right(self, columns: Columns, sizes: IntArray) -> BoolArray:
        """Which sets have the size of their width, and no cells that there are not."""
        every = loops().popcounts(columns["cells"].astype(np.uint8, copy=False))
        return np.asarray((sizes == self._sizes[columns["cut"].astype(np.int64)]) & (every == sizes))

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: a report supports the points of its cells."""
        if not self._known(columns).all():
            raise FormatError("a report has a width or a shift that its design does not have.")
        starts, sizes = self._starts(columns)
        if not self._right(columns, sizes).all():
            raise FormatError("a report is not a set of as many cells as its width has.")
        support = [_covered(row, width)[: self.k] for row, width in zip(starts, self.kernel.widths, strict=True)]
        n = np.bincount(columns["cut"].astype(np.int64), minlength=len(self._widths)).astype(np.int64)
        return {"n": n, "support": np.stack(support)}

    def held(self, columns: Columns) -> BoolArray:
        """Which points are in the cells of each report."""
        kernel, out = self.kernel, np.zeros((len(columns["cut"]), self.k), np.bool_)
        for i, part in enumerate(kernel.parts):
            at = np.flatnonzero(columns["cut"] == i)
            rows = columns["cells"][at, : part.width].astype(np.uint8, copy=False)
            bits = np.unpackbits(rows, axis=1, count=part.k, bitorder="little")
            own = (np.arange(self.k) + columns["shift"][at].astype(np.int64)[:, None]) % kernel.circle
            out[at] = np.take_along_axis(bits, own // kernel.widths[i], axis=1) == 1
        return out

    # ---- channel

    @cached_property
    def outputs(self) -> float:
        parts = zip(self.kernel.shifts, self.kernel.parts, strict=True)
        return log2_sum([math.log2(shifts) + _log2_sets(part.k, part.size) for shifts, part in parts])

    def channel(self) -> Channel:
        """See `Bulk.channel`: every width, shift and set of cells."""
        check_outputs(self.outputs, "these windows", self.k)
        kernel = self.kernel
        sets = [(math.comb(part.k - 1, part.size - 1), math.comb(part.k - 1, part.size)) for part in kernel.parts]
        each = math.lcm(*(shifts * own * rest for shifts, (own, rest) in zip(kernel.shifts, sets, strict=True)))
        names, weights, supported, strata = [], [], [], []
        for i, part in enumerate(kernel.parts):
            scale, (own, rest) = kernel.shares[i] * each // kernel.shifts[i], sets[i]
            inside, outside = scale // own * part.keep, scale // rest * (WORD - part.keep)
            for shift in range(kernel.shifts[i]):
                cells = [kernel.cell(x, i, shift) for x in range(self.k)]
                for chosen in combinations(range(part.k), part.size):
                    held = frozenset(x for x, cell in enumerate(cells) if cell in chosen)
                    names.append(f"width {kernel.widths[i]} shift {shift} cells {set(chosen)}")
                    weights.append(tuple(inside if x in held else outside for x in range(self.k)))
                    supported.append(held)
                    strata.append(i)
        total = sum(kernel.shares) * each * WORD
        return Channel(tuple(names), tuple(weights), total, tuple(supported), strata=tuple(strata))

    def blind_weights(self, channel: Channel) -> list[Fraction]:
        """See `Bulk.blind_weights`: all sets of one width and shift alike."""
        kernel = self.kernel
        every = zip(kernel.shares, kernel.shifts, kernel.parts, strict=True)
        own = [
            Fraction(share, sum(kernel.shares) * shifts * math.comb(part.k, part.size)) for share, shifts, part in every
        ]
        return [own[i] for i in channel.strata]


def _covered(starts: IntArray, width: int) -> IntArray:
    """How many cells that begin at the given places cover each point of the circle."""
    before = np.concatenate([starts[len(starts) - width + 1 :], starts]) if width > 1 else starts
    total = np.concatenate([[0], np.cumsum(before)])
    return np.asarray(total[width:] - total[:-width])


def _log2_sets(cells: int, size: int) -> float:
    return (math.lgamma(cells + 1) - math.lgamma(size + 1) - math.lgamma(cells - size + 1)) / math.log(2)
