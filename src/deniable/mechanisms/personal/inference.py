"""Guessing the level that a person chose, from the whole report and the value: docs/maths/personal.md, section 9.

The attacker knows the value, as the promise about levels allows, and how many people choose each level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.guess import Guess, check_prior
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import InWords, require
from deniable.mechanisms.personal.em import LevelEvidence, UtilityLevelEvidence
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw

if TYPE_CHECKING:
    from deniable.mechanisms.personal.base import LevelMechanism

__all__ = ["LevelGuess", "best_levels", "guess_level"]


@dataclass(frozen=True, slots=True)
class LevelGuess(Guess):
    """The best guess of a level; `blind` is the largest share."""

    report: float
    """Success from the level report alone."""
    bound: float
    """The most that the promise about levels allows, whatever the reports are."""


def guess_level(m: LevelMechanism, prior: object = None) -> LevelGuess:
    """How often the best guess of the level is right, the value being known.

    `prior`: of the values, where some are harmless (their reports tell levels in another way); uniform unless given.
    """
    law, weighted = m.law, np.array(m.shares)[:, None]
    own = law.own if isinstance(law, UtilityLevelLaw) else law
    level = weighted * own.channel
    if isinstance(law, UtilityLevelLaw):
        hidden = _sum(level, _sensitive(m, own, law.s))
        pi = np.full(m.k, 1 / m.k) if prior is None else check_prior(prior, m.k)
        some: Any = m  # some of its items are harmless
        rest = float(pi[some.items[1]].sum())
        success = (1 - rest) * hidden + rest * _sum(level, _harmless(m, law))
    else:
        hint = "All values are protected alike, so it makes no difference which are likely."
        require(prior is None, "prior", InWords("given"), "left out for the guess of levels", hint)
        success = _sum(level, _sensitive(m, own, m.k))
    blind = max(m.shares or ())
    odds = math.exp(min(m.guarantee["level"], 700.0)) * blind
    return LevelGuess(success, blind, float(level.max(axis=0).sum()), odds / (odds + 1 - blind))


def _sum(level: FloatArray, data: FloatArray) -> float:
    """The chance of the likeliest level, over all noisy levels and all that the data part tells; a row per level."""
    joint = level[:, :, None] * data[:, None, :]
    return float(joint.max(axis=0).sum())


def _sensitive(m: LevelMechanism, law: LevelLaw, k: int) -> FloatArray:
    """Chances at each level that the own item is supported or not and, for bits, how many others are with it."""
    own = np.stack([law.of("p"), law.of("p_not")], axis=1)
    if m.base not in _BITS:
        return own
    return np.asarray((own[:, :, None] * _ones(law, k - 1)[:, None, :]).reshape(len(own), -1))


def _harmless(m: LevelMechanism, law: UtilityLevelLaw) -> FloatArray:
    """The same for a harmless item: disclosed, or a report of no item, whose ones tell the level if it is bits."""
    blind = _ones(law.own, law.s) if m.base in _BITS else np.ones((law.z.size, 1))
    return np.hstack([law.z[:, None], (1 - law.z)[:, None] * blind])


_BITS = ("sue", "oue")


def _ones(law: LevelLaw, bits: int) -> FloatArray:
    """Chances of each number of ones in so many bits of other items, at each level."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(bits + 1)[None, :], bits, law.of("q")[:, None]))


def best_levels(m: LevelMechanism, columns: Columns, items: IntArray) -> IntArray:
    """For each report of a known item the number of the likeliest level."""
    evidence = m.bulk.level_evidence([columns])
    rho = np.array(m.shares)[:, None]
    if isinstance(evidence, LevelEvidence):
        return np.asarray(np.argmax(rho * _likelihood(evidence, items), axis=0), np.int64)
    return _best_disclosing(m, evidence, columns, items, rho)


def _likelihood(evidence: LevelEvidence, items: IntArray) -> FloatArray:
    """A row for each level, a column for each report."""
    held = evidence.rows[np.arange(items.size), items >> 3] >> (items & 7) & 1
    return np.where(held > 0, evidence.high[:, evidence.kinds], evidence.low[:, evidence.kinds])


def _best_disclosing(
    m: LevelMechanism, evidence: UtilityLevelEvidence, columns: Columns, items: IntArray, rho: FloatArray
) -> IntArray:
    own, _ = evidence.items
    told, place = columns["disclosed"] > 0, np.full(m.k, -1)
    place[own] = np.arange(own.size)
    chance = np.empty((len(rho), items.size))
    chance[:, told] = evidence.told[:, m.bulk.told(columns)[told]]
    at = place[items[~told]]
    hidden = evidence.mid[:, evidence.hidden.kinds]
    chance[:, ~told] = np.where(at >= 0, _likelihood(evidence.hidden, np.maximum(at, 0)), hidden)
    return np.asarray(np.argmax(rho * chance, axis=0), np.int64)
