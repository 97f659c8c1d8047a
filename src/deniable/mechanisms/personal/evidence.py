"""From reports at hidden levels to the evidence that EM reads: classes of reports and their likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.kernels import loops
from deniable.kernels.bits import pack_one
from deniable.mechanisms.personal.em import LevelEvidence
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.sensitive_em import UtilityLevelEvidence
from deniable.mechanisms.support import SupportMechanism

if TYPE_CHECKING:
    from deniable.mechanisms.personal.base import LevelMechanism
    from deniable.mechanisms.personal.plain import Personal
    from deniable.mechanisms.personal.sensitive import PersonalUtility

__all__ = ["log_masses", "row_evidence", "table_evidence", "utility_row_evidence", "utility_table_evidence"]


def table_evidence(m: Personal, tally: Tally) -> LevelEvidence:
    """Base grr: every reported level and value, as often as it occurs."""
    high, low, _ = log_masses(m.bases[0], m.law_effective, blind=False)
    return _of_table(tally.cells["support"], high, low)


def row_evidence(m: Personal, batches: list[Columns], blind: bool) -> LevelEvidence:
    """Other bases: every report; `blind` leaves the level reports out."""
    rows, kinds = _classes(m, batches, blind)
    high, low, _ = log_masses(m.bases[0], m.law_effective, blind=blind)
    return LevelEvidence.of(rows, np.ones(len(rows)), kinds, high, low, m.k)


def utility_table_evidence(m: PersonalUtility, tally: Tally) -> UtilityLevelEvidence:
    """Base grr: every reported level and sensitive value, and the disclosed ones."""
    high, low, none = log_masses(m.bases[0], m.law_effective.own, blind=False)
    hidden = _of_table(tally.cells["support"], high, low)
    return _with_disclosed(m, hidden, none, tally.cells["disclosed"].astype(np.float64), blind=False)


def utility_row_evidence(m: PersonalUtility, batches: list[Columns], blind: bool) -> UtilityLevelEvidence:
    """Other bases: every report that hides its value, and counts of the disclosed ones."""
    kept = [{name: c[columns["disclosed"] == 0] for name, c in columns.items()} for columns in batches]
    rows, kinds = _classes(m, kept, blind)
    high, low, none = log_masses(m.bases[0], m.law_effective.own, blind=blind)
    hidden = LevelEvidence.of(rows, np.ones(len(rows)), kinds, high, low, m.s)
    counts = np.asarray(sum(m.disclosed_counts(columns) for columns in batches), np.float64)
    return _with_disclosed(m, hidden, none, counts, blind=blind)


def _with_disclosed(
    m: PersonalUtility, hidden: LevelEvidence, none: FloatArray, counts: FloatArray, *, blind: bool
) -> UtilityLevelEvidence:
    law = m.law_effective
    mid = np.exp(none + np.log1p(-law.z)[:, None] - hidden.scale)
    if blind:
        return UtilityLevelEvidence(hidden, mid, counts.sum(axis=0, keepdims=True), law.z[:, None], m.items)
    return UtilityLevelEvidence(hidden, mid, counts, law.own.channel * law.z[:, None], m.items)


def _of_table(counts: IntArray, high: FloatArray, low: FloatArray) -> LevelEvidence:
    strata, k = counts.shape
    rows = np.tile(pack_one(np.arange(k, dtype=np.uint64), k), (strata, 1))
    kinds = np.repeat(np.arange(strata), k)
    some = counts.ravel() > 0
    return LevelEvidence.of(rows[some], counts.ravel()[some].astype(np.float64), kinds[some], high, low, k)


def _classes(m: LevelMechanism, batches: list[Columns], blind: bool) -> tuple[Bytes, IntArray]:
    """The supported items of every report, and its class: the reported level and, for bits, the number of ones."""
    base = m.bases[0]
    rows = np.concatenate([base.bulk.supported(columns) for columns in batches])
    kinds = np.concatenate([m.told(columns) for columns in batches])
    kinds = np.zeros_like(kinds) if blind else kinds
    if base.bulk.size_law is not None:
        kinds = kinds * (base.k + 1) + loops().popcounts(rows)
    return np.ascontiguousarray(rows), kinds


def log_masses(base: SupportMechanism, law: LevelLaw, *, blind: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihoods at each level of each class: for supported items, for others, and of a report of no item."""
    t, k = len(law.supports), base.k
    told = np.zeros((t, 1)) if blind else np.log(law.channel)
    p, q, p_not, q_not = (law.of(name)[:, None, None] for name in ("p", "q", "p_not", "q_not"))
    if base.bulk.size_law is not None:
        ones = np.arange(k + 1)[None, None, :]
        none = told[:, :, None] + ones * np.log(q) + (k - ones) * np.log(q_not)
        high, low = none + np.log(p / q), none + np.log(p_not / q_not)
    else:
        size = int(getattr(base, "g", k))
        high, low = told[:, :, None] + np.log(p), told[:, :, None] + np.log(p_not / (size - 1))
        none = told[:, :, None] - np.log(size)
    high, low, none = (np.asarray(part, np.float64).reshape(t, -1) for part in (high, low, none))
    return high, low, none
