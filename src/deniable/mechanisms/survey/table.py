"""The registry's rows of mechanisms for several questions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.frequency.costs import ROUND_WORK
from deniable.mechanisms.survey.box import Box, joint
from deniable.mechanisms.survey.interaction import Interaction
from deniable.mechanisms.survey.several import Several
from deniable_client.hashing import rounds

__all__ = ["ROWS"]


def _bytes(m: Box | Several, n: float) -> float:
    """A counter for each byte of a report."""
    return float(m.bulk.row_bytes)


def _box_pull(m: Box, r: int) -> float:
    """The r largest weights of a report: all have as many answers to each question."""
    each = zip(m.supports, m.sizes, m.shape, strict=True)
    weights = [w for s, k, held in each for w in [s.q_not / s.gap] * held + [-s.q / s.gap] * (k - held)]
    return float(sum(sorted(weights, reverse=True)[:r]))


def _work(m: Interaction, n: float) -> float:
    """A hash of every answer, and a bucket of every cell."""
    return float(
        m.k + sum(ROUND_WORK * rounds(full) * own for own, full in zip(m.sizes, m.effects.padded, strict=True))
    )


def _pull(m: Interaction, r: int) -> float:
    """As many of r cells as a report can support; where answers are filled up, at most that."""
    law = m.effects
    most = min(r, m.k, math.prod(law.padded) * m.size // m.g)
    return (most - r * law.base) / law.slope


def _ticked_pull(m: Several, r: int) -> float:
    """As many of r options as a report can hold; of those that it is not about only their mean is taken off."""
    law, level, held = m.law, m.weights.level, min(r, m.size)
    return (held * (1 - level) - r * law.q + r * level / m.options) / law.gap


ROWS: Mapping[str, Entry] = {
    "box": Entry(
        Box,
        Box.over,
        "several questions in one report: a set of answers to each",
        "docs/maths/survey.md",
        "a few questions with few answers, asked together at a large epsilon: two yes/no questions from 1.35 on",
        ("sizes", "shape"),
        needed=("sizes",),
        small=(
            {"sizes": "2,2", "epsilon": 0.1},
            {"sizes": "2,2", "epsilon": 2.0},
            {"sizes": "2,2,2", "epsilon": 4.0},
            {"sizes": "4,3", "shape": "2,1", "epsilon": 1.0},
            {"sizes": "3,3", "shape": "1,2", "epsilon": 4.0},
            {"sizes": "5", "shape": "2", "epsilon": 1.0},
        ),
        space=joint,
        traits=Traits(_bytes, _box_pull),
    ),
    "interaction": Entry(
        Interaction,
        Interaction.optimal,
        "what several questions have to do with each other, without their margins",
        "docs/maths/tables.md",
        "tables of many pairs of questions, beside reports about single ones",
        ("sizes", "g", "size"),
        needed=("sizes",),
        small=(
            {"sizes": "2,2", "epsilon": 0.5},
            {"sizes": "3,3", "epsilon": 1.0},
            {"sizes": "4,2", "g": 2, "epsilon": 4.0},
            {"sizes": "3,2", "g": 2, "epsilon": 2.0},
            {"sizes": "2,2,2", "epsilon": 1.0},
            {"sizes": "4,3", "g": 4, "size": 2, "epsilon": 1.0},
        ),
        space=joint,
        traits=Traits(_work, _pull),
    ),
    "several": Entry(
        Several,
        Several.best,
        "several of many options: what somebody ticks, in one report",
        "PrivSet",
        "questions with several answers: which of these apply to you?",
        ("most", "marks", "size"),
        needed=("most",),
        small=(
            {"k": 3, "most": 2, "epsilon": 0.1},
            {"k": 4, "most": 2, "epsilon": 1.0},
            {"k": 3, "most": 3, "epsilon": 2.0},
            {"k": 5, "most": 1, "size": 2, "epsilon": 1.0},
            {"k": 4, "most": 2, "marks": 4, "epsilon": 4.0},
            {"k": 5, "most": 2, "size": 3, "epsilon": 4.0},
        ),
        traits=Traits(_bytes, _ticked_pull),
    ),
}
