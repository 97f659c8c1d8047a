"""What is said of designs and tasks, word for word, for `sentences.json`: every client says the same."""

from __future__ import annotations

from typing import Any

from deniable_client import Task, explain
from deniable_client.explanation import Explanation
from deniable_client.kernels import Response, Utility, kernel_to

__all__ = ["sentence_vectors"]

COUNTS = (1, 12)
"""Reports that are told together."""


def _apart(count: int) -> dict[str, Any]:
    """So many protected answers, each between two that are not."""
    ends = tuple(end for x in range(count) for end in (2 * x + 1, 2 * x + 2))
    kernel = Utility.null(1.0, 2 * count + 1, ends, (Response.calibrate(1.0, count),))
    params = {"base": {"mechanism": "grr", "params": {}}, "sensitive": list(ends), "theta": 0.5, "form": "null"}
    design = {"mechanism": "urr", "version": 1, "epsilon": 1.0, "domain": {"k": 2 * count + 1}, "params": params}
    return {"about": f"{count} answers apart", "design": design | {"kernel": kernel_to(kernel)}}


HALF = str(1 << 63)
FOLLOWS = {
    "mechanism": "matrix",
    "version": 1,
    "epsilon": 0.5,
    "domain": {"k": 3},
    "params": {},
    "kernel": {
        "kind": "channel",
        "weights": [[HALF, HALF]] * 3,
        "budgets": [[0, 0.5, "inf"], ["inf", 0, 0.25], ["inf", "inf", 0]],
    },
}
"""A limit that follows from two others."""
OWN = [_apart(12), _apart(13), {"about": "limits that follow", "design": FOLLOWS}]


def sentence_vectors(designs: list[dict[str, Any]], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Of designs that everybody takes part in, and of tasks, both by what they are about."""
    return {
        "about": "texts for people: designs are those of hostile.json and dealt.json, tasks those of tasks.json",
        "own": OWN,
        "designs": [{"about": case["about"], **_told(explain(case["design"]))} for case in designs + OWN],
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
