"""Likelihoods of items given ULDP reports, for maximum likelihood and other methods that read reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.types import Bytes, Columns, FloatArray
from deniable.errors import ParameterError
from deniable.estimate.evidence import DenseEvidence, Evidence, PackedRows, RowEvidence
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.estimate import UtilityEvidence

if TYPE_CHECKING:
    from deniable.mechanisms.utility.base import Utility

__all__ = ["evidence_of", "likelihood_of"]


def evidence_of(m: Utility, batches: Sequence[Columns]) -> Evidence:
    """Packed sets where a harmless item is as likely as a sensitive one that is not supported; else written out."""
    harmless = m.k - m.s
    told = np.zeros(m.k)
    hidden: list[Columns] = []
    for columns in batches:
        head = columns["disclosed"].astype(np.int64)
        if harmless:
            told[m.items[1]] += np.bincount((head[head > 0] - 1) % harmless, minlength=harmless)
        hidden.append({name: column[head == 0] for name, column in columns.items()})
    if isinstance(m.base, SupportMechanism) and m.form == "null" and m.base.leak == m.epsilon:
        sets = [_sets(m, m.base, columns) for columns in hidden]
        return UtilityEvidence(RowEvidence(PackedRows.of(sets, m.k), m.base.bulk.odds), told)
    rows = np.concatenate([np.empty((0, m.k)), *(_hidden(m, columns) for columns in hidden)])
    return UtilityEvidence(DenseEvidence(rows, np.ones(len(rows))), told)


def _sets(m: Utility, base: SupportMechanism, columns: Columns) -> Bytes:
    """The sensitive items that reports support, as packed bits of all k items."""
    member = np.unpackbits(base.bulk.supported(columns), axis=1, count=m.s, bitorder="little")
    wide = np.zeros((len(member), m.k), np.uint8)
    wide[:, m.items[0]] = member
    return np.packbits(wide, axis=1, bitorder="little")


def likelihood_of(m: Utility, columns: Columns) -> FloatArray:
    """Likelihood of every item given each report, up to a factor per report."""
    head = columns["disclosed"].astype(np.int64)
    out = np.zeros((head.size, m.k))
    out[head == 0] = _hidden(m, {name: column[head == 0] for name, column in columns.items()})
    where = np.flatnonzero(head)
    if where.size:
        out[where, m.items[1][(head[where] - 1) % (m.k - m.s)]] = 1.0
    return out


def _hidden(m: Utility, columns: Columns) -> FloatArray:
    """Likelihoods of all items given reports that disclose nothing."""
    own, rest = m.items
    out, kept = np.empty((len(columns["disclosed"]), m.k)), float(m.kernel.kept)
    if m.base is None:
        out[:, own], out[:, rest] = 1.0, kept
        return out
    seen = m.base.bulk.likelihood(columns)
    out[:, own] = seen
    branch = seen.mean(axis=1)
    if m.kernel.blind and isinstance(m.base, SupportMechanism):
        # an item outside the set has the likelihood 1/odds here, which is (1 - p + p/odds) times a blind report's
        odds, law = m.base.bulk.odds, m.base.support_effective
        branch = np.full(len(seen), 1 / odds / (law.p_not + law.p / odds))
    elif m.kernel.blind:
        raise ParameterError(f"the likelihood of blind reports of {m.base.name} is not written out.", "Use estimate().")
    out[:, rest] = (kept * branch)[:, None]
    return out
