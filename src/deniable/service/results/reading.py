"""Estimates read from what was published: for those who answered, as it was published, or for the population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args

from deniable.collect.tally import Tally
from deniable.core.types import Target
from deniable.errors import DeniableError, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.registry import from_design
from deniable.run.questions import question_of
from deniable.run.results import Shown
from deniable.service.release import LEVEL, PUBLISHED, Window, tally_in
from deniable.service.texts.catalogue import Texts, texts
from deniable_client.questions import Single
from deniable_client.task import NOT_TOLD, Question, Task

__all__ = [
    "TARGETS",
    "check_target",
    "estimate_in",
    "estimated",
    "group_names",
    "published",
    "shown_of",
    "strata_of",
]

TARGETS: tuple[Target, ...] = get_args(Target)
"""What intervals may be for; pages and tables are for the population unless they are told otherwise."""
Labels = tuple[str, ...] | None
_FEW = 4
"""Values that are named where the rest of a grouping is told about together."""


def check_target(given: str) -> Target:
    """The target of a name; an error for any other."""
    require(given in TARGETS, "target", given, f"one of {', '.join(TARGETS)}")
    return next(target for target in TARGETS if target == given)


def _estimate_of(tally: Tally, labels: Labels) -> Estimate:
    """The estimate of a published tally, with the task's labels where it has numbers only."""
    found = from_design(tally.design).estimate(tally)
    plain = found.labels == tuple(map(str, range(len(labels or ()))))
    return replace(found, labels=labels) if labels is not None and plain else found


def shown_of(tally: Tally, labels: Labels, target: Target = "reporters") -> Shown:
    """The same with intervals, ready for tables and charts."""
    mechanism = from_design(tally.design).name
    return question_of(mechanism).show(_estimate_of(tally, labels), LEVEL, target, False)


@lru_cache(maxsize=512)
def _read(tally: str, labels: Labels) -> Estimate:
    return _estimate_of(tally_in({"tally": tally}), labels)


@lru_cache(maxsize=512)
def _shown(tally: str, labels: Labels, target: Target) -> Mapping[str, Any]:
    return shown_of(tally_in({"tally": tally}), labels, target).document()


def estimate_in(part: Mapping[str, Any], question: Question | Single) -> Estimate:
    """The estimate of what was published about a question or a group; it is made once for all who ask."""
    known: Estimate | None = part.get("found")
    return _read(part["tally"], question.labels) if known is None else known


def estimated(part: Mapping[str, Any], question: Question | Single, target: Target) -> Mapping[str, Any] | None:
    """The published estimate as plain data, with intervals for a target; None where there is none.

    For the reporters it is what was published, to the last digit. Of questions that are asked together it is there for
    the target already (`deniable.service.results.joint`).
    """
    known: Mapping[str, Any] | None = part.get("estimate")
    if known is None or "found" in part or target == known.get("target", "reporters"):
        return known
    try:
        return _shown(part["tally"], question.labels, target)
    except DeniableError:  # this design has intervals for those who answered only; the document says for whom
        return known


def published(windows: Sequence[Window], question: str) -> Iterator[tuple[Window, Mapping[str, Any]]]:
    """The windows in which a question is published, and what is told there."""
    for window in windows:
        for part in (window.document or {}).get("questions", ()):
            if part["question"] == question and part["state"] == PUBLISHED:
                yield window, part


def strata_of(group: Mapping[str, Any]) -> str:
    """A group in words: the name that it was published with, or, by older programs, the strata that it has."""
    return group.get("name") or "; ".join(", ".join(strata.values()) for strata in group["strata"])


def group_names(task: Task, told: Sequence[Mapping[str, Any]], say: Texts) -> list[str]:
    """The groups of a part in the language of a page, and in its author's words for it.

    What is left of one grouping is named by what it has, if that is little: a group is not lost among "all others".
    """
    shown = _values(task, say.language.tag)
    named = [
        [tuple((name, strata[name]) for name in task.strata if name in strata) for strata in group["strata"]]
        for group in told
    ]
    every = {name for names in named for name in names}

    def spelled(name: tuple[tuple[str, str], ...]) -> str:
        said = [shown[stratum][value] for stratum, value in name]
        others = any(len(other) > len(name) and other[: len(name)] == name for other in every)
        if name or not others:
            return ", ".join([*said, say("others.some")] if others else said) or say("others.every")
        ((stratum, values),) = list(shown.items())[:1]
        left = [words for value, words in values.items() if ((stratum, value),) not in every]
        return "; ".join(left) if len(shown) == 1 and len(left) <= _FEW else say("others.all")

    return ["; ".join(map(spelled, names)) for names in named]


def _values(task: Task, tag: str) -> dict[str, dict[str, str]]:
    """The values of each grouping in the words of a language."""
    own = (task.translations.get(tag) or {}).get("strata") or []
    found = {}
    for i, (name, values) in enumerate(task.strata.items()):
        rest = [value for value in values if value != NOT_TOLD]
        found[name] = dict(zip(rest, own[i]["values"] if own else rest, strict=True))
        if NOT_TOLD in values:
            found[name][NOT_TOLD] = texts("answer", tag)("question.skip")
    return found
