"""The halves of a mechanism that depend on integers alone: one kernel for many people at once.

Whatever epsilon the integers came from, they say how reports look, how they are drawn and counted, what they support
and how likely each of them is. A mechanism adds how the integers are chosen, ideal values and the estimator. Transforms
take the bulk of any base: the null branch one with `blind` reports, linear estimates a `SupportBulk`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.core.channel import Channel
from deniable.core.support import Support
from deniable.core.types import BoolArray, Bytes, Columns, FloatArray, IntArray, UintArray
from deniable.errors import EnumerationError, FormatError, ParameterError
from deniable.kernels import loops, sparing
from deniable.kernels.parallel import blocks, run, shares
from deniable.kernels.sampling import below
from deniable.mechanisms.possible import NUMBERED, Cell, Cells, check_reports_of
from deniable.mechanisms.reader import Reader, SupportReader
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.kernels import AnyKernel, promised_ratio
from deniable_client.packing import uint_width

__all__ = [
    "Bulk",
    "Cells",
    "Numbered",
    "Seeded",
    "SupportBulk",
    "check_outputs",
    "fresh_seeds",
    "log2_factorial",
    "no_ones_after",
    "one_stratum",
    "refuse_values",
    "two_level",
]

OUTPUTS_MAX = 20_000
"""Channels with at most this many outputs are enumerated."""
ENTRIES_MAX = 1 << 19
"""... and with at most this many outputs times values."""

_BLOCK_BYTES, _BLOCK_LEAST, _BLOCK_MOST = 1 << 20, 1 << 6, 1 << 16
"""Bytes of the reports that are made from one stream, and the least and the largest number of them."""
_COUNT_ROWS, _COUNT_BYTES = 1 << 14, 1 << 21
"""Fewer reports, and in fewer bytes, are counted by one thread."""

K = TypeVar("K", bound=AnyKernel)


@dataclass(frozen=True)
class Bulk(ABC, Generic[K]):
    """A kernel for many people at once."""

    kernel: K

    @property
    def k(self) -> int:
        """Number of values that the kernel takes."""
        return self.kernel.k

    # ---- client

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """The fields of a report, in order."""

    @abstractmethod
    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """Reports for items 0..k-1, as columns."""

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        """`perturb` with public seeds dealt beforehand, one for each item; `ParameterError` where there are none."""
        raise ParameterError(
            f"coins must be left out: a {self.kernel.kind} kernel has no public seed that could be dealt.",
            "Local hashing, the wheel and affine have one.",
        )

    @property
    def coins(self) -> int:
        """How many public seeds there are to be dealt from, numbered from 0 on; all of 64 bits unless there are few."""
        return WORD

    def blind(self, n: int, rng: Stream) -> Columns:
        """n reports made without any value, as `blind` of the kernel makes one; `ParameterError` where it has none."""
        raise ParameterError(
            f"a {self.kernel.kind} kernel has no reports without a value.", "Use another base or form."
        )

    # ---- counter

    @property
    def strata(self) -> tuple[str, ...]:
        """The kinds of reports that are counted apart from each other."""
        return ("all",)

    @property
    @abstractmethod
    def cells(self) -> Mapping[str, Cell]:
        """The cells of a tally beside n, the number of reports: their sizes, and what one report adds to them."""

    @abstractmethod
    def count(self, columns: Columns) -> Cells:
        """The tally's cells (by stratum) of a batch; `FormatError` for reports that no device can have sent."""

    def possible(self, columns: Columns) -> BoolArray:
        """Which reports of a batch a device can have sent: those that `count` does not refuse.

        Kernels whose rule is simple look at all rows at once; here halves are counted until the others are found.
        """
        found = np.ones(len(next(iter(columns.values()))), np.bool_)
        todo = [np.arange(found.size)] if found.size else []
        while todo:
            rows = todo.pop()
            try:
                self.count({name: column[rows] for name, column in columns.items()})
            except FormatError:
                found[rows] = rows.size > 1
                todo += np.array_split(rows, 2) if rows.size > 1 else []
        return found

    def check(self, cells: Cells) -> None:
        """`FormatError` for cells that no reports can have added up to; strata of unlike reports say more."""
        for name, cell in self.cells.items():
            for n, entries in zip(cells["n"].tolist(), cells[name], strict=True):
                cell.check(name, entries, n)

    @property
    def knows_counts(self) -> bool:
        """Whether `simulate_counts` knows the law of the cells, which is not always simple."""
        return False

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """The cells of the tally of counts[x] people with item x each, drawn from their law without any report.

        With so many `blind` reports more. `ParameterError` where the law is not known (`knows_counts`).
        """
        raise ParameterError(
            f"the counts of {self.kernel.kind} kernels are not drawn without reports: they support items jointly.",
            "Draw the reports: m.tally(m.privatize_items(items, rng)).",
        )

    # ---- channel

    @property
    @abstractmethod
    def outputs(self) -> float:
        """Number of different reports, as a base-2 logarithm."""

    @property
    def inputs(self) -> int:
        """Number of inputs that `channel` lists: the answers, unless people may give several at once."""
        return self.k

    @property
    def stands_for(self) -> IntArray | None:
        """What each input counts for in estimates, a row for each, where these are not about the inputs themselves."""
        return None

    @abstractmethod
    def channel(self) -> Channel:
        """The exact channel of the integers that are sampled, output by output (small cases only)."""

    @property
    def channel_error(self) -> Fraction:
        """How far a probability of what is sampled may be from `channel`: 0 unless that idealises a hash."""
        return Fraction(0)

    def blind_weights(self, channel: Channel) -> list[Fraction]:
        """Probability of each output of the channel for a blind report: all alike, unless a kernel says otherwise."""
        return [Fraction(1, len(channel.outputs))] * len(channel.outputs)

    reads: ClassVar[type[Reader[Any]]] = Reader
    """Whoever knows the likelihood of reports; the plain reader knows none."""

    @property
    def reader(self) -> Reader[Any]:
        """What reports and tallies say about the frequencies."""
        return self.reads(self)

    @property
    def support(self) -> Support[Fraction] | None:
        """The support probabilities of the sampled integers, where reports support items; else None."""
        return None

    @property
    def noise(self) -> float | None:
        """Variance of a coordinate, where reports are noisy vectors that `sums` adds up; else None."""
        return None

    # ---- derived

    @property
    def layout(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the cells of a tally, in the order of their names."""
        strata = len(self.strata)
        shapes = {"n": (strata,)} | {name: (strata, cell.size) for name, cell in self.cells.items()}
        return dict(sorted(shapes.items()))

    def refuse_impossible(self, cells: Cells) -> None:
        """`FormatError` unless some reports give these cells, whose layout is right."""
        check_reports_of(cells["n"])
        self.check(cells)

    @cached_property
    def row_bytes(self) -> int:
        """Bytes of one report."""
        return sum(f.width for f in self.fields)

    @property
    def block(self) -> int:
        """How many reports are made from one stream; it depends on the design alone, so that seeded runs repeat."""
        return max(_BLOCK_LEAST, min(_BLOCK_MOST, _BLOCK_BYTES // self.row_bytes))

    def draw(self, items: IntArray, stream: Stream, coins: UintArray | None = None) -> Columns:
        """`perturb` (or `perturb_dealt`) block by block, on all cores, each block with a stream of its own."""

        def perturb(part: slice, own: Stream) -> Columns:
            if coins is None:
                return self.perturb(items[part], own)
            return self.perturb_dealt(items[part], coins[part], own)

        people = len(items)
        if people <= self.block:
            with sparing(people * self.k):
                return perturb(slice(None), stream)
        columns: Columns = {f.name: np.empty(f.shape(people), f.dtype) for f in self.fields}

        def fill(job: tuple[slice, Stream]) -> None:
            part, own = job
            for name, column in perturb(part, own).items():
                columns[name][part] = column

        parts = blocks(people, self.block)
        run(fill, zip(parts, stream.spawn(len(parts)), strict=True))
        return columns

    def tally(self, reports: Reports) -> Cells:
        """`count` on all cores where there is much to count; counts are whole numbers, so their sum is the same."""
        if len(reports) < _COUNT_ROWS and reports.nbytes < _COUNT_BYTES:
            with sparing(len(reports) * self.k):
                return self.count(reports.columns)
        counts = run(lambda part: self.count(reports[part].columns), shares(len(reports)))
        return {name: np.asarray(sum(c[name] for c in counts[1:]) + cell) for name, cell in counts[0].items()}


class Numbered(ABC):
    """Reports that are the number of one of some outputs; a tally counts every output, so it tells as much as they."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of different reports."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: the number."""
        return (Field("value", "uint", uint_width(self.size)),)

    @property
    def outputs(self) -> float:
        """See `Bulk.outputs`: the numbers."""
        return math.log2(self.size)

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: a report is one of the outputs."""
        return {"value": Cell(self.size, total=(1, 1), about=NUMBERED)}

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: the numbers that there are."""
        return np.less(columns["value"], self.size)

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: how often each output was reported, from which all else follows."""
        values = columns["value"]
        refuse_values(values, self.size, "value")
        return {"n": np.array([values.size], np.int64), "value": loops().count_values(values, self.size)[None, :]}


class Packed(Bulk[K]):
    """Reports that are sets, as bits."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: the bits."""
        return (Field("bits", "bytes", self.kernel.width),)

    def supported(self, columns: Columns) -> Bytes:
        """See `SupportBulk.supported`: the reports themselves."""
        return columns["bits"].astype(np.uint8, copy=False)


class Seeded(ABC):
    """Reports that are a public seed and one of some numbers."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers there are beside a seed."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: the seed and the number."""
        return Field("seed", "uint", 8), Field("value", "uint", uint_width(self.numbers))

    @property
    def outputs(self) -> float:
        """See `Bulk.outputs`: seeds and numbers."""
        return 64 + math.log2(self.numbers)

    def blind(self, n: int, rng: Stream) -> Columns:
        """See `Bulk.blind`: any seed with any number."""
        value = below(rng, self.numbers, n).astype(self.fields[1].dtype)
        return {"seed": fresh_seeds(n, rng), "value": value}

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: any seed with one of the numbers."""
        return np.less(columns["value"], self.numbers)

    def seeds(self, columns: Columns) -> UintArray:
        """The seeds of reports; `FormatError` where their numbers are none of those that there are."""
        refuse_values(columns["value"], self.numbers, "value")
        return columns["seed"].astype(np.uint64, copy=False)


class SupportBulk(Bulk[K]):
    """Reports that support items with the same p and q for all, and reports made without any value."""

    reads: ClassVar[type[Reader[Any]]] = SupportReader

    @property
    @abstractmethod
    def support(self) -> Support[Fraction]:
        """The support probabilities of the integers that are sampled."""

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: a report supports each item or does not, and at most `most` of all."""
        return {"support": Cell(self.k, total=(0, self.most(self.k)))}

    @abstractmethod
    def supported(self, columns: Columns) -> Bytes:
        """The sets of items that reports support, one row of packed bits (lowest first) per report."""

    def support_counts(self, cells: Cells) -> IntArray:
        """How many reports of the first stratum support each item."""
        return np.asarray(cells["support"][0])

    @property
    def uneven(self) -> bool:
        """Whether third values are not all alike to a pair of items, so that there are `extra_pairs`."""
        return False

    def extra_pairs(self, f: FloatArray, support: Support[float]) -> FloatArray:
        """What third values add to `both_none` of each pair at frequencies `f`."""
        return np.zeros((self.k, self.k))

    def most(self, r: int) -> int:
        """How many of r items one report can support at most: all of them, unless a kernel says otherwise."""
        return r

    @property
    def work(self) -> float:
        """Operations of the server per report: one counter, or one for each byte, unless there is more to do."""
        return 1.0 if self.reader.sufficient else float(self.row_bytes)

    @cached_property
    def odds(self) -> float:
        """Likelihood of a value that a report supports, relative to one that it does not: the same for all reports."""
        return float(promised_ratio(self.kernel))

    @property
    def size_law(self) -> FloatArray | None:
        """Law of the number of supported items, where reports of one size are subset-selection reports; else None."""
        return None


def fresh_seeds(n: int, rng: Stream) -> UintArray:
    """New public seeds."""
    return rng.draw(64, n).astype(np.uint64, copy=False)


def one_stratum(columns: Columns, support: IntArray) -> Cells:
    """The number of reports, and how many of them support each item."""
    n = len(next(iter(columns.values())))
    return {"n": np.array([n], np.int64), "support": support[None, :]}


def no_ones_after(rows: Bytes, k: int) -> BoolArray:
    """Which bit sets of k items have nothing in what is left of their last byte."""
    return np.equal(rows[:, -1] >> np.uint8(k % 8), 0) if k % 8 else np.ones(len(rows), np.bool_)


def two_level(
    kernel: Any, labels: Sequence[str], held: Sequence[frozenset[int]], inside: int, outside: int, copies: int = 1
) -> Channel:
    """The channel of a kernel that keeps its value with chance keep/2**64.

    Every value is in `inside` of the reports `held`, for each of `copies` public seeds, and outside of `outside` of
    them; those that hold it share the mass keep, all alike, the others the rest.
    """
    own, other = kernel.keep * outside, (WORD - kernel.keep) * inside
    weights = tuple(tuple(own if x in items else other for x in range(kernel.k)) for items in held)
    return Channel(tuple(labels), weights, inside * outside * copies << WORD_BITS, tuple(held))


def log2_factorial(n: int) -> float:
    """log2 of n!, which may be too large to write down."""
    return math.lgamma(n + 1) / math.log(2)


def check_outputs(bits: float, name: str, k: int = 1) -> None:
    """`EnumerationError` if a channel has too many outputs (2^bits), or outputs times values, to enumerate."""
    if bits > math.log2(OUTPUTS_MAX) or bits + math.log2(k) > math.log2(ENTRIES_MAX):
        raise EnumerationError(
            f"the channel of {name} has 2^{bits:.1f} outputs, too many to enumerate.",
            f"Use a smaller domain (at most {OUTPUTS_MAX} outputs); `proof` works for any size.",
        )


def refuse_values(column: np.ndarray[Any, Any], limit: int, name: str) -> None:
    """`FormatError` if a column has a value that is not below `limit`."""
    if column.size and int(column.max()) >= limit:
        raise FormatError(
            f"report field {name!r} has the value {int(column.max())}, the largest possible is {limit - 1}."
        )
