"""From reports at hidden levels to the evidence that EM reads: classes of reports and their likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.types import Columns, FloatArray
from deniable.estimate.personal_em import LevelEvidence
from deniable.kernels import loops
from deniable.kernels.bits import pack_one
from deniable.mechanisms.unary import BitMechanism

if TYPE_CHECKING:
    from deniable.mechanisms.personal import Personal

__all__ = ["log_masses", "row_evidence", "table_evidence"]


def table_evidence(m: Personal, tally: Tally) -> LevelEvidence:
    """Base grr: every reported level and value, as often as it occurs."""
    counts = tally.cells["support"]
    rows = np.tile(pack_one(np.arange(m.k, dtype=np.uint64), m.k), (len(counts), 1))
    kinds = np.repeat(np.arange(len(counts)), m.k)
    some = counts.ravel() > 0
    high, low = log_masses(m, blind=False)
    return LevelEvidence.of(rows[some], counts.ravel()[some].astype(np.float64), kinds[some], high, low, m.k)


def row_evidence(m: Personal, batches: list[Columns], blind: bool) -> LevelEvidence:
    """Other bases: every report; `blind` leaves the level reports out."""
    rows = np.concatenate([m.bases[0].rows(columns) for columns in batches])
    kinds = np.concatenate([m.told(columns) for columns in batches])
    kinds = np.zeros_like(kinds) if blind else kinds
    if isinstance(m.bases[0], BitMechanism):
        kinds = kinds * (m.k + 1) + loops().popcounts(rows)
    high, low = log_masses(m, blind=blind)
    return LevelEvidence.of(np.ascontiguousarray(rows), np.ones(len(rows)), kinds, high, low, m.k)


def log_masses(m: Personal, *, blind: bool) -> tuple[FloatArray, FloatArray]:
    """Log-likelihoods at each level of each class, for items that are supported and for others."""
    law = m.law_effective
    told = np.zeros((len(m.levels), 1)) if blind else np.log(law.channel)
    p, q, p_not, q_not = (law.of(name)[:, None, None] for name in ("p", "q", "p_not", "q_not"))
    if isinstance(m.bases[0], BitMechanism):
        ones = np.arange(m.k + 1)[None, None, :]
        common = told[:, :, None] + ones * np.log(q) + (m.k - ones) * np.log(q_not)
        high, low = common + np.log(p / q), common + np.log(p_not / q_not)
    else:
        size = m.k if m.g is None else m.g
        high, low = told[:, :, None] + np.log(p), told[:, :, None] + np.log(p_not / (size - 1))
    t = len(m.levels)
    return np.asarray(high, np.float64).reshape(t, -1), np.asarray(low, np.float64).reshape(t, -1)
