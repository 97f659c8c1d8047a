"""ULDP reports of many people: those of any base on the sensitive items, harmless items disclosed or hidden among them.

All of it is made from the base's bulk, which is asked for reports, counts and likelihoods, never for its type.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from deniable.collect.reports import Field
from deniable.core.channel import Channel
from deniable.core.types import BoolArray, Bytes, Columns, FloatArray, IntArray
from deniable.errors import FormatError, ParameterError, require
from deniable.estimate.evidence import DenseEvidence, Evidence, PackedRows, RowEvidence
from deniable.kernels.sampling import below
from deniable.mechanisms.bulk import Bulk, Cells, SupportBulk, check_outputs, refuse_values
from deniable.mechanisms.possible import LABELS, Cell, Entries, loosened, nothing
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.utility.estimate import UtilityEvidence
from deniable.mechanisms.utility.sensitive import split_items
from deniable.randomness import Simulation, Stream, bernoulli
from deniable_client.exact import WORD
from deniable_client.kernels import AnyKernel
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.packing import bits_width, uint_width

__all__ = ["DisclosingBulk", "Protected", "UtilityBulk", "count_disclosed", "disclosing_channel", "ranked", "spread"]

_SENSITIVE = "sensitive label"
_SAME = 1e-9
"""Likelihoods that differ by less are one: thresholds are whole numbers."""

K = TypeVar("K", bound=AnyKernel)
Protected = tuple[str, Sequence[int], frozenset[int]]
"""An output that discloses nothing: its label, its weight given each item, and the items it supports."""


class DisclosingBulk(Bulk[K]):
    """Reports of many people that protect some items, and may disclose one of the others alone."""

    strata: ClassVar[tuple[str, ...]] = ("protected", "disclosed")

    @property
    @abstractmethod
    def ranges(self) -> tuple[int, ...]:
        """Ends of the half-open ranges of sensitive items."""

    @cached_property
    def items(self) -> tuple[IntArray, IntArray]:
        """Numbers of the sensitive and of the harmless items."""
        return split_items(self.ranges, self.k)

    @property
    def disclosures(self) -> int:
        """How many different disclosures there are."""
        return self.items[1].size

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: 0 or what is disclosed, then bits of the sensitive items."""
        return self.head, Field("bits", "bytes", bits_width(self.items[0].size))

    @property
    def head(self) -> Field:
        """The first field."""
        return Field("disclosed", "uint", uint_width(1 + self.disclosures))

    def heads(self, columns: Columns) -> IntArray:
        """What reports disclose; `FormatError` for those that disclose an item alone and say more."""
        refuse_values(columns["disclosed"], 1 + self.disclosures, "disclosed")
        told = columns["disclosed"].astype(np.int64)
        alone = (told > 0) & (told <= self.items[1].size)
        for name, column in columns.items():
            if name != "disclosed" and column[alone].any():
                raise FormatError(f"a report that discloses an item alone has field {name!r} not zero.")
        return told

    @property
    def disclosed(self) -> Mapping[str, Cell]:
        """The cell of what is disclosed, if anything can be."""
        rest = self.items[1]
        about = Entries("harmless label", rest.tolist())
        return {"disclosed": Cell(rest.size, total=(0, 1), about=about)} if rest.size else {}

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: which sensitive items reports support, and what they disclose."""
        own = self.items[0]
        return {"support": Cell(own.size, about=LABELS.among(_SENSITIVE, own.tolist())), **self.disclosed}

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: reports of the last stratum disclose one item each, and only those."""
        super().check(cells)
        *hidden, told = cells["n"].tolist()
        entries = cells.get("disclosed", np.zeros((len(self.strata), 0), np.int64))
        for n, row in zip(hidden, entries, strict=False):
            nothing(row.size).check("disclosed", row, n)
        Cell(entries.shape[1], total=(1, 1)).check("disclosed", entries[-1], told)
        self.check_hidden(cells)

    def check_hidden(self, cells: Cells) -> None:
        """The part of `check` about how items are protected: reports that disclose one support none."""
        entries = cells["support"][-1]
        nothing(entries.size).check("support", entries, int(cells["n"][-1]))

    def count_heads(self, told: IntArray) -> dict[str, IntArray]:
        """The cells of the strata `protected` and `disclosed` that do not depend on how items are protected."""
        cells = {"n": np.array([np.count_nonzero(told == 0), np.count_nonzero(told)], np.int64)}
        if self.items[1].size:
            counts = count_disclosed(told, self.items[1].size)
            cells["disclosed"] = np.stack([np.zeros_like(counts), counts])
        return cells


class UtilityReader(Reader["UtilityBulk"]):
    """Harmless items that are disclosed are certain; for all else the base's likelihoods, and those of the branch."""

    def likelihood(self, columns: Columns) -> FloatArray:
        told, harmless = columns["disclosed"].astype(np.int64), self.bulk.items[1]
        out = np.zeros((told.size, self.bulk.k))
        out[told == 0] = self._hidden({name: column[told == 0] for name, column in columns.items()})
        where = np.flatnonzero(told)
        if where.size:
            out[where, harmless[(told[where] - 1) % harmless.size]] = 1.0
        return out

    def _hidden(self, columns: Columns) -> FloatArray:
        """Likelihoods of all items given reports that disclose nothing."""
        base, kernel = self.bulk.base, self.bulk.kernel
        if base is None:
            return self._widened(np.ones((len(columns["disclosed"]), kernel.s)), 1.0)
        seen = base.reader.likelihood(columns)
        return self._widened(seen, self._blind if kernel.blind else seen.mean(axis=1))

    def _widened(self, seen: FloatArray, branch: FloatArray | float) -> FloatArray:
        """Likelihoods of the sensitive items, and those of the branch for all others."""
        own, rest = self.bulk.items
        out = np.empty((len(seen), self.bulk.k))
        out[:, own] = seen
        out[:, rest] = np.reshape(float(self.bulk.kernel.kept) * np.asarray(branch), (-1, 1))
        return out

    @property
    def _blind(self) -> float:
        found = None if self.bulk.base is None else self.bulk.base.reader.blind_likelihood
        if found is None:
            raise ParameterError("the likelihood of this base's blind reports is not written out.", "Use estimate().")
        return found

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """See `Reader.evidence`: packed sets where a harmless item is as likely as an unsupported one, else rows."""
        k, harmless = self.bulk.k, self.bulk.items[1]
        told, hidden = np.zeros(k), list[Columns]()
        for columns in batches:
            head = columns["disclosed"].astype(np.int64)
            if harmless.size:
                told[harmless] += count_disclosed(head, harmless.size)
            hidden.append({name: column[head == 0] for name, column in columns.items()})
        base = self._two_level
        if base is not None:
            sets = [self._sets(base, columns) for columns in hidden]
            return UtilityEvidence(RowEvidence(PackedRows.of(sets, k), base.odds), told)
        rows = np.concatenate([np.empty((0, k)), *(self._hidden(columns) for columns in hidden)])
        return UtilityEvidence(DenseEvidence(rows, np.ones(len(rows))), told)

    @property
    def _two_level(self) -> SupportBulk[Any] | None:
        """The base, if a hidden harmless item is as likely as a sensitive one that a report does not support."""
        base: Any = self.bulk.base
        if base is None or base.support is None or not self.bulk.kernel.blind:
            return None
        found: SupportBulk[Any] = base
        return found if abs(float(self.bulk.kernel.kept) * self._blind * found.odds - 1) < _SAME else None

    def _sets(self, base: SupportBulk[Any], columns: Columns) -> Bytes:
        """The sensitive items that reports support, as packed bits of all k items."""
        member = np.unpackbits(base.supported(columns), axis=1, count=base.k, bitorder="little")
        wide = np.zeros((len(member), self.bulk.k), np.uint8)
        wide[:, self.bulk.items[0]] = member
        return np.packbits(wide, axis=1, bitorder="little")

    @property
    def sufficient(self) -> bool:
        """See `Reader.sufficient`: what stands beside a disclosed item tells nothing, so the base's counts decide."""
        base = self.bulk.base
        return base is not None and base.support is None and base.reader.sufficient

    def tally_evidence(self, cells: Cells) -> Evidence:
        counts = self.bulk.output_counts(cells)
        seen = np.flatnonzero(counts)
        return DenseEvidence(np.ascontiguousarray(self.bulk.reduced.T[seen]), counts[seen].astype(np.float64))


@dataclass(frozen=True)
class UtilityBulk(DisclosingBulk[UtilityKernel]):
    """The transform of a base for many people; `base` is None if there are fewer than two sensitive items."""

    reads = UtilityReader
    base: Bulk[Any] | None

    @property
    def ranges(self) -> tuple[int, ...]:
        return self.kernel.sensitive

    @property
    def disclosures(self) -> int:
        return (self.k - self.kernel.s) * (2 if self.kernel.attach else 1)

    # ---- client

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """See `Bulk.fields`: 0 or what is disclosed, then the base's report (zeros if there is none)."""
        return (self.head, *(() if self.base is None else self.base.fields))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        marked, ranks = ranked(*self.items)
        sensitive, rank = marked[items], ranks[items]
        told = np.zeros(items.size, np.int64)
        alone = ~sensitive & bernoulli(rng, self.kernel.plain, items.size)
        told[alone] = 1 + rank[alone]
        hidden = np.flatnonzero(~sensitive & ~alone)
        columns = {f.name: np.zeros(f.shape(items.size), f.dtype) for f in self.fields}
        if self.kernel.attach:
            beside = hidden[bernoulli(rng, self.kernel.attach, hidden.size)]
            told[beside] = 1 + self.k - self.kernel.s + rank[beside]
        columns["disclosed"] = told.astype(self.fields[0].dtype)
        if self.base is not None:
            own, n, base = np.flatnonzero(sensitive), hidden.size, self.base
            first = base.perturb(rank[own], rng)
            branch = base.blind(n, rng) if self.kernel.blind else base.perturb(below(rng, base.k, n), rng)
            parts = ((own, first), (hidden, branch))
            for rows, reports in parts:
                for name, column in reports.items():
                    columns[name][rows] = column
        return columns

    # ---- counter

    @property
    def cells(self) -> Mapping[str, Cell]:
        """See `Bulk.cells`: those of the base; only some reports are of it."""
        own, base = self.items[0].tolist(), self._base_cells.items()
        found = {name: replace(loosened(cell), about=cell.about.among(_SENSITIVE, own)) for name, cell in base}
        return found | dict(self.disclosed)

    @property
    def _base_cells(self) -> Mapping[str, Cell]:
        return {} if self.base is None else self.base.cells

    def check_hidden(self, cells: Cells) -> None:
        """See `DisclosingBulk.check_hidden`: the base's own rules, and no report of it alone beside a disclosure."""
        if self.base is None:
            return
        self.base.check(self.base_cells(cells))
        if not self.kernel.attach:
            for name, cell in self._base_cells.items():
                nothing(cell.size).check(name, cells[name][-1], int(cells["n"][-1]))

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: zeros beside an item that is disclosed alone, else a report of the base."""
        told = columns["disclosed"].astype(np.int64)
        alone, fine = (told > 0) & (told <= self.items[1].size), told <= self.disclosures
        if self.base is None:
            return fine
        own = {f.name: columns[f.name] for f in self.base.fields}
        fine[~alone] &= self.base.possible({name: column[~alone] for name, column in own.items()})
        for column in own.values():
            fine &= ~(alone & np.not_equal(column if column.ndim == 1 else column.any(axis=1), 0))
        return fine

    def count(self, columns: Columns) -> Cells:
        """See `Bulk.count`: the base's cells by stratum, and how often each harmless item was disclosed."""
        told = self.heads(columns)
        cells = self.count_heads(told)
        if self.base is not None:
            names, kinds = [f.name for f in self.base.fields], (told == 0, told > self.items[1].size)
            parts = [self.base.count({name: columns[name][rows] for name in names}) for rows in kinds]
            cells |= {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "n"}
        return cells

    @property
    def knows_counts(self) -> bool:
        return self.base is None or self.base.knows_counts

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: harmless items are disclosed or hidden; the base knows the law of the rest."""
        require(blind == 0, "blind", blind, "0 for kernels that disclose")
        draw, (sensitive, harmless) = rng.generator(), (counts[items] for items in self.items)
        alone = draw.binomial(harmless, self.kernel.plain / WORD)
        beside = draw.binomial(harmless - alone, self.kernel.attach / WORD)
        told, hidden = alone + beside, int((harmless - alone - beside).sum())
        cells = {"n": np.array([sensitive.sum() + hidden, told.sum()])}
        if harmless.size:
            cells["disclosed"] = np.stack([np.zeros_like(told), told])
        if self.base is not None:
            parts = []
            for own, rest in ((sensitive, hidden), (np.zeros_like(sensitive), int(beside.sum()))):
                drawn = 0 if self.kernel.blind else draw.multinomial(rest, np.full(own.size, 1 / own.size))
                parts.append(self.base.simulate_counts(own + drawn, rng, rest if self.kernel.blind else 0))
            cells |= {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "n"}
        return cells

    def base_cells(self, cells: Cells) -> Cells:
        """The base's cells of the reports that disclose nothing."""
        return {name: cell[:1] for name, cell in cells.items() if name != "disclosed"}

    @cached_property
    def reduced(self) -> FloatArray:
        """Chance of each of the base's outputs, hidden, and then of disclosing each harmless item; a row per item.

        What stands beside a disclosed item does not depend on it and is left out.
        """
        base = self._base_channel()
        own, rest = self.items
        matrix = np.zeros((self.k, len(base.outputs) + rest.size))
        matrix[own, : len(base.outputs)] = base.matrix()
        matrix[rest, : len(base.outputs)] = [float(self.kernel.kept * mass) for mass in self._branch_law(base)]
        matrix[rest, len(base.outputs) + np.arange(rest.size)] = float(1 - self.kernel.kept)
        return matrix

    def output_counts(self, cells: Cells) -> IntArray:
        """How many reports are of each kind of `reduced`, where the base's tally counts every output."""
        (name,) = (name for name in cells if name not in ("n", "disclosed"))
        told = [cells["disclosed"][1]] if self.items[1].size else []
        return np.concatenate([cells[name][0], *told])

    # ---- channel

    @property
    def outputs(self) -> float:
        harmless, pairs = self.k - self.kernel.s, self.k - self.kernel.s if self.kernel.attach else 0
        if not self.kernel.s:
            return math.log2(harmless)
        protected = math.log2(1 + pairs) + (0.0 if self.base is None else self.base.outputs)
        return protected if protected > 1000 or not harmless else math.log2(2**protected + harmless)

    @property
    def channel_error(self) -> Fraction:
        return Fraction(0) if self.base is None else self.base.channel_error

    def channel(self) -> Channel:
        """See `Bulk.channel`: the base's outputs, harmless items alone, and pairs of both."""
        base, kernel = self._base_channel(), self.kernel
        own, rest = (part.tolist() for part in self.items)
        pairs = len(base.outputs) * len(rest) if kernel.attach else 0
        check_outputs(math.log2(len(base.outputs) + pairs + len(rest)), "this ULDP mechanism", self.k)
        branch, plain = self._branch_law(base), Fraction(kernel.plain, WORD)
        hidden = [kernel.kept * mass for mass in branch]
        beside = [(1 - kernel.kept - plain) * mass for mass in branch]
        total = math.lcm(base.total, *(mass.denominator for mass in (plain, *hidden, *beside)))
        protected = _protected(base, [int(mass * total) for mass in hidden], own, self.k, total // base.total)
        told = [(f"discloses {x}", x, plain, frozenset({x})) for x in rest]
        for (label, _, items), mass in zip(protected, beside, strict=True):
            told += [(f"{label} with {x}", x, mass, items | {x}) for x in rest if mass]
        return disclosing_channel(protected, told, rest, total)

    def _base_channel(self) -> Channel:
        if self.base is not None:
            return self.base.channel()
        return Channel(("discloses nothing",), ((1,),), 1, (frozenset({0}) if self.kernel.s else frozenset(),))

    def _branch_law(self, base: Channel) -> list[Fraction]:
        """Probability of each of the base's outputs in the branch."""
        if self.base is None:
            return [Fraction(1)] * len(base.outputs)
        if self.kernel.blind:
            return self.base.blind_weights(base)
        return [Fraction(sum(row), base.total * base.k) for row in base.weights]


# ---- what all kinds of ULDP reports have in common


def ranked(own: IntArray, rest: IntArray) -> tuple[BoolArray, IntArray]:
    """For each item whether it is sensitive, and its rank among its kind."""
    marked, rank = np.zeros(own.size + rest.size, np.bool_), np.empty(own.size + rest.size, np.int64)
    marked[own] = True
    rank[own], rank[rest] = np.arange(own.size), np.arange(rest.size)
    return marked, rank


def count_disclosed(told: IntArray, harmless: int) -> IntArray:
    """How many reports disclose each harmless item, alone or beside a report."""
    return np.bincount((told[told > 0] - 1) % harmless, minlength=harmless).astype(np.int64)


def spread(weights: Sequence[int], other: int, own: Sequence[int], k: int) -> list[int]:
    """Weights of the sensitive items at their places among all k, and `other` at the places between them."""
    row = [other] * k
    for x, weight in zip(own, weights, strict=False):
        row[x] = weight
    return row


def _protected(base: Channel, hidden: Sequence[int], own: Sequence[int], k: int, scale: int) -> list[Protected]:
    """The base's outputs as outputs of all k items; `hidden` are their weights given a harmless one."""
    held = base.supported or (frozenset[int](),) * len(base.outputs)
    return [
        (label, spread([w * scale for w in row], other, own, k), frozenset(own[i] for i in items))
        for label, row, other, items in zip(base.outputs, base.weights, hidden, held, strict=True)
    ]


def disclosing_channel(
    protected: Sequence[Protected],
    told: Sequence[tuple[str, int, Fraction, frozenset[int]]],
    rest: Sequence[int],
    total: int,
) -> Channel:
    """The channel of outputs that disclose nothing, and of some that only one harmless item leads to."""
    k = len(protected[0][1])
    rows = [
        *protected,
        *((label, [int(mass * total) if y == x else 0 for y in range(k)], items) for label, x, mass, items in told),
    ]
    labels, weights, supported = zip(*rows, strict=True)
    disclosing = frozenset(range(len(protected), len(rows)))
    strata = (0,) * len(protected) + (1,) * len(told)
    return Channel(labels, tuple(map(tuple, weights)), total, supported, frozenset(rest), disclosing, strata)
