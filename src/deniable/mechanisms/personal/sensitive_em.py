"""Maximum likelihood of values and levels where harmless values are disclosed now and then.

A hidden report has, at each level, one likelihood for the sensitive items it supports, one for the others, and one for
all harmless items; a disclosed one tells its item and, by its chance, something about the level. Derivation:
docs/maths/personal.md, section 8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.kernels.parallel import blocks
from deniable.mechanisms.personal.em import SCORE_CELLS, LevelEvidence, Step

__all__ = ["UtilityLevelEvidence"]


@dataclass(frozen=True, slots=True, eq=False)
class UtilityLevelEvidence:
    """Hidden reports by the sensitive items they support, and counts of disclosed items by reported level.

    `mid` is the likelihood of hidden reports' classes for harmless items, on the scale of `hidden`; `told` is that of
    disclosing at each reported level. Rows of both are the levels.
    """

    hidden: LevelEvidence
    mid: FloatArray
    disclosed: FloatArray
    """A row for each reported level, a column for each harmless item."""
    told: FloatArray
    items: tuple[IntArray, IntArray]
    """Numbers of the sensitive and of the harmless items."""

    @property
    def k(self) -> int:
        """Number of items."""
        return self.items[0].size + self.items[1].size

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.hidden.n + round(float(self.disclosed.sum()))

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.told)

    def step(self, f: FloatArray, rho: FloatArray) -> Step:
        """The EM step of frequencies and shares, and the log-likelihood there."""
        own, rest = f[self.items[0]], f[self.items[1]]
        t, theta = float(own.sum()), float(rest.sum())
        high, low, mid = (rho @ part for part in (self.hidden.high, self.hidden.low, self.mid))
        base = t * low + theta * mid
        gained, inside, outside, log = self.hidden.sums(own, base + high - low, base)
        each = inside + outside  # sums of 1/likelihood by class
        factor = np.empty(self.k)
        factor[self.items[0]] = gained + float(low @ each)
        counts, seen = self.disclosed.sum(axis=0), self.disclosed.sum(axis=0) > 0
        factor[self.items[1]] = float(mid @ each) + np.divide(counts, rest, out=np.zeros(rest.size), where=seen)
        level = self.hidden.high @ inside + self.hidden.low @ (t * each - inside) + theta * (self.mid @ each)
        heard, blend = self.disclosed.sum(axis=1), rho @ self.told
        level = level + self.told @ (heard / blend)
        log += float(counts[seen] @ np.log(rest[seen])) + float(heard @ np.log(blend))
        return Step(factor / self.n, np.asarray(level / self.n), log)

    def scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        """Sum over reports of the outer products of their scores, frequencies first, then shares."""
        return self._hidden_scores(f, rho) + self._disclosed_scores(f, rho)

    def _disclosed_scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        rest, k = self.items[1], self.k
        total = np.zeros((k + self.levels, k + self.levels))
        counts = self.disclosed.sum(axis=0)
        own = np.divide(1.0, f[rest], out=np.zeros(rest.size), where=counts > 0)
        total[rest, rest] = counts * own**2
        level = (self.told / (rho @ self.told)).T  # a row for each reported level
        total[k:, k:] = level.T @ (self.disclosed.sum(axis=1)[:, None] * level)
        cross = (self.disclosed * own).T @ level
        total[rest, k:] = cross
        total[k:, rest] = cross.T
        return total

    def _hidden_scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        hidden, k = self.hidden, self.k
        few, factor = hidden.thinned()
        if few is not hidden:
            return np.asarray(replace(self, hidden=few)._hidden_scores(f, rho) * factor)
        own, rest = self.items
        high, low, mid = (rho @ part for part in (hidden.high, hidden.low, self.mid))
        t, theta = float(f[own].sum()), float(f[rest].sum())
        total = np.zeros((k + self.levels, k + self.levels))
        for part in blocks(len(hidden.rows), max(1, SCORE_CELLS // (k + self.levels))):
            member = np.unpackbits(hidden.rows[part], axis=1, count=own.size, bitorder="little").astype(np.float64)
            kind = hidden.kinds[part]
            share = (member @ f[own])[:, None]
            score = np.empty((len(kind), k + self.levels))
            score[:, own] = low[kind][:, None] + (high - low)[kind][:, None] * member
            score[:, rest] = mid[kind][:, None]
            by_level = (hidden.high[:, kind].T, hidden.low[:, kind].T, self.mid[:, kind].T)
            score[:, k:] = by_level[0] * share + by_level[1] * (t - share) + by_level[2] * theta
            den = score[:, k:] @ rho
            score *= (np.sqrt(hidden.weights[part]) / den)[:, None]
            total += score.T @ score
        return total
