"""The registry's rows of mechanisms for several questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.domain import Domain
from deniable.mechanisms.entry import Entry
from deniable.mechanisms.survey.interaction import Interaction, check_sizes

__all__ = ["ROWS"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(Domain):
    """All sets of answers to questions of these sizes, the last of which counts fastest."""

    sizes: tuple[int, ...] = ()


def joint(options: dict[str, Any]) -> Joint | None:
    """The sets of answers that the option `sizes` describes, which is taken out of the options; None without it."""
    if "sizes" not in options:
        return None
    sizes = check_sizes(options.pop("sizes"))
    return Joint(k=math.prod(sizes), sizes=sizes)


ROWS: Mapping[str, Entry] = {
    "interaction": Entry(
        Interaction,
        Interaction.optimal,
        "what several questions have to do with each other, without their margins",
        "docs/maths/tables.md",
        "tables of many pairs of questions, beside reports about single ones",
        ("sizes", "g", "size"),
        needed=("sizes",),
        small=(
            {"sizes": "2,2", "epsilon": 0.1},
            {"sizes": "3,3", "epsilon": 1.0},
            {"sizes": "4,2", "g": 2, "epsilon": 4.0},
            {"sizes": "3,2", "g": 2, "epsilon": 2.0},
            {"sizes": "2,2,2", "epsilon": 1.0},
            {"sizes": "4,3", "g": 4, "size": 2, "epsilon": 1.0},
        ),
        space=joint,
    ),
}
