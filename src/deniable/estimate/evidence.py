"""What reports say about frequencies: their likelihood, in forms that are fast to sum over.

A report y has the likelihood L_y(x) given value x, up to a factor of its own, and `den_y = sum_x f_x L_y(x)` given
frequencies f. All that likelihood methods need are sums over reports of 1/den, of L/den and of L L'/den^2.
For support mechanisms L_y(x) is the mechanism's odds if the report supports x, else 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray
from deniable.kernels.parallel import blocks
from deniable.randomness import Simulation

__all__ = ["DenseEvidence", "Evidence", "PackedRows", "RowEvidence", "ValueEvidence", "redrawn", "two_level"]

_BLOCK = 1 << 14
"""Reports that are worked on at a time: what is computed for them fits a core's cache."""
_CELLS = 1 << 22
"""Most numbers of an unpacked block."""
_SAMPLE, _DISTINCT = 1 << 12, 0.9
"""Equal reports are counted together where at most this share of a sample of reports is distinct."""
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.float64)
"""The bits of every byte, lowest first."""


class Evidence(Protocol):
    """Reports, seen through their likelihood."""

    @property
    def k(self) -> int:
        """Number of values."""

    @property
    def n(self) -> int:
        """Number of reports."""

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        """g_x = (1/n) sum_y L_y(x)/den_y and the log-likelihood up to a constant; an EM step takes f_x to f_x g_x."""

    def information(self, f: FloatArray) -> FloatArray:
        """sum_y L_y L_y'/den_y^2, minus the second derivative of the log-likelihood; expected where `complete`."""

    @property
    def complete(self) -> bool:
        """All outputs that are possible are listed, so that `information` is an expectation over them."""

    def resampled(self, rng: Simulation) -> Evidence:
        """As many reports, drawn from these with replacement."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedRows:
    """Sets of items as packed bits, with how often each occurs; they stay packed.

    Sums over the items of a set go through a table of 256 sums for every byte: eight items at a time.
    """

    columns: Bytes
    """Byte b of all rows is columns[b]; bits lowest first, padding zero."""
    weights: FloatArray
    k: int

    @classmethod
    def of(cls, parts: Sequence[Bytes], k: int, weights: IntArray | None = None) -> PackedRows:
        """From batches of rows, `weights` telling how often each counts (else once); equal rows are put together."""
        rows = np.concatenate([np.empty((0, -(-k // 8)), np.uint8), *parts])
        if weights is not None:
            return cls(np.ascontiguousarray(rows.T), weights.astype(np.float64), k)
        keys = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel()
        if np.unique(keys[:_SAMPLE]).size > _DISTINCT * min(len(keys), _SAMPLE):
            return cls(np.ascontiguousarray(rows.T), np.ones(len(rows)), k)
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        return cls(np.ascontiguousarray(rows[first].T), counts.astype(np.float64), k)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def parts(self) -> list[slice]:
        """The rows in blocks."""
        return blocks(len(self), _BLOCK)

    def tables(self, f: FloatArray) -> FloatArray:
        """For every byte position the sum of f over the bits of each of the 256 bytes."""
        padded = np.zeros(8 * len(self.columns))
        padded[: self.k] = f
        return np.ascontiguousarray(padded.reshape(-1, 8) @ _BITS.T)

    def sums(self, tables: FloatArray, part: slice) -> FloatArray:
        """Sum of f over the items of each row, for the f of `tables`."""
        first, *others = self.columns[:, part].astype(np.intp)
        total = tables[0].take(first)
        for table, column in zip(tables[1:], others, strict=True):
            total += table.take(column)
        return np.asarray(total)

    def scatter(self, v: FloatArray, part: slice) -> FloatArray:
        """Sum of v over the rows of `part` by byte position and byte; `gather` of it is the sum by item."""
        return np.stack([np.bincount(column, weights=v, minlength=256) for column in self.columns[:, part]])

    def gather(self, scattered: FloatArray) -> FloatArray:
        """Sum over the rows that have each item."""
        return np.asarray((scattered @ _BITS).ravel()[: self.k])

    def by_item(self, v: FloatArray) -> FloatArray:
        """Sum of v over the rows that have each item (weights not counted)."""
        empty = np.zeros((len(self.columns), 256))
        return self.gather(sum((self.scatter(v[part], part) for part in self.parts), empty))

    def by_pair(self, v: FloatArray) -> FloatArray:
        """Sum of v >= 0 over the rows that have both items, for every pair (weights not counted)."""
        total = np.zeros((self.k, self.k))
        for part in blocks(len(self), max(1, min(_BLOCK, _CELLS // self.k))):
            rows = np.ascontiguousarray(self.columns[:, part].T)
            bits = np.unpackbits(rows, axis=1, count=self.k, bitorder="little").astype(np.float64)
            bits *= np.sqrt(v[part])[:, None]
            total += bits.T @ bits
        return total

    def sizes(self) -> IntArray:
        """Number of items of each row."""
        return np.asarray(np.bitwise_count(self.columns).sum(axis=0, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class RowEvidence:
    """Reports as the sets of items they support: L_y(x) = odds if x is in the set, else 1."""

    rows: PackedRows
    odds: float
    size_law: FloatArray | None = None
    """Probabilities of 0..k supported items, where every set of the same size is a subset-selection report."""
    complete: bool = False
    """The rows are all outputs, whose likelihoods have one factor in common; some may occur zero times."""

    @property
    def k(self) -> int:
        return self.rows.k

    @property
    def n(self) -> int:
        return round(float(self.rows.weights.sum()))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        rows, more = self.rows, self.odds - 1
        tables = rows.tables(f)
        scattered, plain, loglik = np.zeros_like(tables), 0.0, 0.0
        for part in rows.parts:
            w = rows.weights[part]
            den = 1 + more * rows.sums(tables, part)
            loglik += float(w @ np.log(den))
            share = w / den
            plain += float(share.sum())
            scattered += rows.scatter(share, part)
        return (plain + more * rows.gather(scattered)) / self.n, loglik

    def information(self, f: FloatArray) -> FloatArray:
        rows, more = self.rows, self.odds - 1
        tables = rows.tables(f)
        den = np.concatenate([np.empty(0), *(1 + more * rows.sums(tables, part) for part in rows.parts)])
        w = den * (self.n / den.sum()) if self.complete else rows.weights
        v = w / den**2
        return two_level(float(v.sum()), rows.by_item(v), rows.by_pair(v), more)

    def resampled(self, rng: Simulation) -> RowEvidence:
        return replace(self, rows=replace(self.rows, weights=redrawn(self.rows.weights, self.n, rng)))


@dataclass(frozen=True, slots=True, eq=False)
class ValueEvidence:
    """Counts of reports that each support one item, their own: all of GRR's tally, in O(k) per step."""

    counts: FloatArray
    odds: float
    complete: bool = field(default=True, init=False)

    @property
    def k(self) -> int:
        return len(self.counts)

    @property
    def n(self) -> int:
        return round(float(self.counts.sum()))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        den = 1 + (self.odds - 1) * f
        share = self.counts / den
        return (share.sum() + (self.odds - 1) * share) / self.n, float(self.counts @ np.log(den))

    def information(self, f: FloatArray) -> FloatArray:
        den = 1 + (self.odds - 1) * f
        v = self.n / (den.sum() * den)
        return two_level(float(v.sum()), v, np.diag(v), self.odds - 1)

    def resampled(self, rng: Simulation) -> ValueEvidence:
        return replace(self, counts=redrawn(self.counts, self.n, rng))


@dataclass(frozen=True, slots=True, eq=False)
class DenseEvidence:
    """Any likelihoods, written out: one row per report (or kind of report), one column per value."""

    likelihood: FloatArray
    weights: FloatArray
    complete: bool = field(default=False, init=False)

    @property
    def k(self) -> int:
        return int(self.likelihood.shape[1])

    @property
    def n(self) -> int:
        return round(float(self.weights.sum()))

    def step(self, f: FloatArray) -> tuple[FloatArray, float]:
        den = self.likelihood @ f
        return (self.weights / den) @ self.likelihood / self.n, float(self.weights @ np.log(den))

    def information(self, f: FloatArray) -> FloatArray:
        total = np.zeros((self.k, self.k))
        for part in blocks(len(self.weights), max(1, _CELLS // self.k)):
            rows = self.likelihood[part]
            rows = rows * (np.sqrt(self.weights[part]) / (rows @ f))[:, None]
            total += rows.T @ rows
        return total

    def resampled(self, rng: Simulation) -> DenseEvidence:
        return replace(self, weights=redrawn(self.weights, self.n, rng))


def two_level(plain: float, single: FloatArray, pair: FloatArray, more: float) -> FloatArray:
    """sum v L L' with L = 1 + more s, from the sums of v, v s and v s s'."""
    cross = more * single
    return np.asarray(plain + cross[:, None] + cross[None, :] + more**2 * pair)


def redrawn(weights: FloatArray, n: int, rng: Simulation) -> FloatArray:
    """n draws with replacement from what has these weights."""
    return rng.generator().multinomial(n, weights / weights.sum()).astype(np.float64)
