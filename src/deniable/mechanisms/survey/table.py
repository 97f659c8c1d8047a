"""The registry's rows of mechanisms for several questions."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Entry
from deniable.mechanisms.survey.box import Box, joint
from deniable.mechanisms.survey.interaction import Interaction

__all__ = ["ROWS"]

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
    ),
}
