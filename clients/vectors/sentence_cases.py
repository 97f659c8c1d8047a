"""What is said of designs and tasks, word for word, for `sentences.json`: every client says the same."""

from __future__ import annotations

from typing import Any

from deniable_client import Task, explain
from deniable_client.explanation import Explanation

__all__ = ["sentence_vectors"]

COUNTS = (1, 12)
"""Reports that are told together."""


def sentence_vectors(designs: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Of designs that everybody takes part in, and of tasks, both by what they are about."""
    return {
        "about": "texts for people: designs are those of hostile.json and dealt.json, tasks those of tasks.json",
        "designs": [{"about": case["about"], **_told(explain(case["design"]))} for case in designs],
        "tasks": [{"about": case["about"], "terms": Task.load(case["task"]).terms()} for case in tasks],
    }


def _told(found: Explanation) -> dict[str, Any]:
    """All that is said of a design; exact numbers as fractions."""
    over = [found.over(count) for count in COUNTS]
    return {
        "epsilon": found.epsilon,
        "unread": found.unread,
        "over": [
            {
                "reports": told.reports,
                "phrase": told.phrase,
                "sure": str(told.sure) if told.reports == 1 else float(told.sure),
                "named": float(told.named),
                "levels": [words for _, words in found.levels(told.reports)],
                "lines": told.text.split("\n"),
            }
            for told in over
        ],
    }
