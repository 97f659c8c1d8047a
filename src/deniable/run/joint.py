"""What several parts of a survey tell together, as plain data: estimates by question, tables of two questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.collect.tally import Tally
from deniable.core.types import Target
from deniable.plan.survey import AskedPart, Told, tell
from deniable.run.questions import question_of
from deniable.run.results import Shown

__all__ = ["CELLS_MAX", "joint_document", "told_document"]

CELLS_MAX = 256
"""Of tables with more cells the covariance, which has the square of that, is left to whoever reads their tallies."""


def joint_document(
    parts: Sequence[AskedPart], tallies: Mapping[int, Tally], *, level: float, target: Target = "reporters"
) -> dict[str, Any]:
    """Estimates of all questions and tables of two, from the tallies of some parts by their numbers."""
    return told_document(parts, tell(parts, tallies), level=level, target=target)


def told_document(parts: Sequence[AskedPart], told: Told, *, level: float, target: Target) -> dict[str, Any]:
    """The same of what is told already."""
    kinds = {part.names[0]: part.mechanism.name for part in parts if part.way == "one"}
    questions = []
    for name, estimate in told.questions.items():
        if name in kinds:
            shown = question_of(kinds[name]).show(estimate, level, target, False)
        else:
            shown = Shown.of(estimate, level=level, target=target, simultaneous=False)
        questions.append({"question": name, "reports": estimate.n, "estimate": shown.document()})
    lacking = [{"questions": list(pair), "cells": None, "why": why} for pair, why in told.lacking.items()]
    return {"questions": questions, "tables": [*(_table(told, pair, level) for pair in told.tables), *lacking]}


def _table(told: Told, pair: tuple[str, str], level: float) -> dict[str, Any]:
    table, test = told.tables[pair], told.tests[pair]
    found = {"questions": list(pair), "reports": table.n, "simulated": table.simulated, "level": level}
    found |= {"target": "population", "cells": table.to_columns(level)}
    found["covariance"] = table.covariance().tolist() if table.value.size <= CELLS_MAX else None
    return found | ({"independence": None, "why": test} if isinstance(test, str) else {"independence": test.document()})
