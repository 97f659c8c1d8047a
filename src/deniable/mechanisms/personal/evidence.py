"""From reports at hidden levels to the evidence that EM reads: classes of reports and their likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.core.types import Columns, FloatArray, IntArray
from deniable.kernels import loops
from deniable.kernels.bits import pack_one
from deniable.mechanisms.bulk import SupportBulk
from deniable.mechanisms.personal.em import LevelEvidence
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.sensitive_em import UtilityLevelEvidence
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw
from deniable_client.kernels.utility import base_half

__all__ = ["log_masses", "row_evidence", "table_evidence", "with_disclosed"]


def table_evidence(base: SupportBulk[Any], law: LevelLaw, counts: IntArray) -> tuple[LevelEvidence, FloatArray]:
    """Every reported level and value as often as it occurs, and the log-likelihoods of reports of no item.

    For bases whose report is one value.
    """
    high, low, none = log_masses(base, law, blind=False)
    strata, k = counts.shape
    rows = np.tile(pack_one(np.arange(k, dtype=np.uint64), k), (strata, 1))
    kinds = np.repeat(np.arange(strata), k)
    some = counts.ravel() > 0
    weights = counts.ravel()[some].astype(np.float64)
    return LevelEvidence.of(rows[some], weights, kinds[some], high, low, k), none


def row_evidence(
    base: SupportBulk[Any], law: LevelLaw, batches: Sequence[Columns], told: Sequence[IntArray], *, blind: bool
) -> tuple[LevelEvidence, FloatArray]:
    """Every report with its reported level, and the log-likelihoods of reports of no item.

    The class of a report is its reported level, which `blind` leaves out, and for independent bits the number of ones.
    """
    high, low, none = log_masses(base, law, blind=blind)
    rows = np.ascontiguousarray(np.concatenate([base.supported(columns) for columns in batches]))
    kinds = np.zeros(len(rows), np.int64) if blind else np.concatenate(told)
    if base.size_law is not None:
        kinds = kinds * (base.k + 1) + loops().popcounts(rows)
    return LevelEvidence.of(rows, np.ones(len(rows)), kinds, high, low, base.k), none


def with_disclosed(
    hidden: LevelEvidence,
    none: FloatArray,
    counts: FloatArray,
    law: UtilityLevelLaw,
    items: tuple[IntArray, IntArray],
    *,
    blind: bool = False,
) -> UtilityLevelEvidence:
    """Evidence of hidden reports, together with counts of disclosed items by reported level."""
    mid = np.exp(none + np.log1p(-law.z)[:, None] - hidden.scale)
    if blind:
        return UtilityLevelEvidence(hidden, mid, counts.sum(axis=0, keepdims=True), law.z[:, None], items)
    return UtilityLevelEvidence(hidden, mid, counts, law.own.channel * law.z[:, None], items)


def log_masses(base: SupportBulk[Any], law: LevelLaw, *, blind: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihoods at each level of each class: for supported items, for others, and of a report of no item."""
    t, k = len(law.supports), base.k
    told = np.zeros((t, 1)) if blind else np.log(law.channel)
    p, q, p_not, q_not = (law.of(name)[:, None, None] for name in ("p", "q", "p_not", "q_not"))
    if base.size_law is not None:
        ones = np.arange(k + 1)[None, None, :]
        none = told[:, :, None] + ones * np.log(q) + (k - ones) * np.log(q_not)
        high, low = none + np.log(p / q), none + np.log(p_not / q_not)
    else:
        size = float(1 / base_half(base.kernel).share)
        high, low = told[:, :, None] + np.log(p), told[:, :, None] + np.log(p_not / (size - 1))
        none = told[:, :, None] - np.log(size)
    high, low, none = (np.asarray(part, np.float64).reshape(t, -1) for part in (high, low, none))
    return high, low, none
