"""Kinds of questions: which answers they have, how they are designed, and what one report of them is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from deniable.core.domain import Domain
from deniable.errors import require
from deniable.plan.questions import plan
from deniable.service.questionnaire.document import WORDS, Item, Questionnaire
from deniable.service.texts.catalogue import texts
from deniable.service.texts.languages import LANGUAGES

__all__ = ["LISTED", "can_join", "can_skip", "candidates", "cost", "described", "labels_of", "relevant", "words_of"]

ORDERED_SMALL = 7
"""Answers in an order up to which each is asked for by itself; more of them are asked in ranges."""
LISTED = {"one": (2, 1000), "several": (2, 64), "ordered": (3, 4096)}
"""Kinds of questions whose answers are listed, and how many there are."""
_HALF = 0.25
"""The largest variance of a share of one person drawn at random."""
_DAY = 24 * 60
_PEOPLE = 10_000
"""For whom mechanisms are compared; which of them can ask does not depend on it."""


def words_of(asked: Questionnaire, tag: str) -> Mapping[str, str]:
    """Yes, no, "I prefer not to say" and "something else" in a language: its own words, or those of the catalogue."""
    own = asked.words if tag == asked.language else asked.translations[tag].words
    if tag.partition("-")[0].lower() not in LANGUAGES:
        return {name: own.get(name, "") for name in WORDS}
    say = texts("build", tag)
    usual = (say("word.yes"), say("word.no"), texts("answer", tag)("question.skip"), say("word.other"))
    return dict(zip(WORDS, usual, strict=True)) | {name: text for name, text in own.items() if text}


def can_skip(item: Item) -> bool:
    """Whether "I prefer not to say" can be an answer of its own."""
    small = item.kind == "ordered" and len(item.options) <= ORDERED_SMALL
    return small or item.kind in ("yes-no", "one", "rating")


def can_join(item: Item) -> bool:
    """Whether it can be asked together with others: each answer by itself, all protected, by the usual mechanism."""
    return can_skip(item) and not item.sensitive and not item.mechanism and item.weight == 1


def labels_of(item: Item, words: Mapping[str, str], options: tuple[str, ...] | None = None) -> list[str]:
    """The answers that people read, in their order; none for numbers. `options`: those of another language."""
    if item.kind == "number":
        return []
    if item.kind == "time":
        step = _DAY // item.slots
        return [f"{minutes // 60:02}:{minutes % 60:02}" for minutes in range(0, _DAY - _DAY % item.slots, step)]
    if item.kind == "yes-no":
        found = [words["yes"], words["no"]]
    elif item.kind == "rating":
        found = [str(point) for point in range(1, item.points + 1)]
    else:
        found = list(item.options if options is None else options)
    found += [words["other"]] if item.other and item.kind in ("one", "several") else []
    return found + ([words["skip"]] if item.skip and can_skip(item) else [])


def described(item: Item, words: Mapping[str, str], epsilon: float) -> Any:
    """A question as `deniable.survey` takes it: in words, or the mechanism that its author chose."""
    told = _described(item, words)
    if not item.mechanism:
        return told
    found = candidates(item, words, epsilon)
    require(item.mechanism in found, "mechanism", item.mechanism, f"one of {', '.join(found) or 'none'}")
    return found[item.mechanism]


def candidates(item: Item, words: Mapping[str, str], epsilon: float) -> Mapping[str, Any]:
    """The mechanisms that can ask a question, by name, best first; none for what only one kind of mechanism asks."""
    told = _described(item, words)
    if "ordinal" in told or "several" in told:
        return {}
    plain = {name: tuple(part) if isinstance(part, list) else part for name, part in told.items()}
    return _candidates(epsilon, **plain)


@lru_cache(maxsize=64)
def _candidates(epsilon: float, **told: Any) -> Mapping[str, Any]:
    if "interval" in told:
        designs = plan(question="mean", epsilon=epsilon, n=_PEOPLE, **told).designs
    else:
        where = Domain.of(told["labels"], missing=told.get("missing"))
        more = {"sensitive": told["sensitive"]} if "sensitive" in told else {}
        designs = plan(domain=where, epsilon=epsilon, n=_PEOPLE, **more).designs
    found: dict[str, Any] = {}
    for design in designs:
        found.setdefault(design.mechanism.name, design.mechanism)
    return found


def _described(item: Item, words: Mapping[str, str]) -> dict[str, Any]:
    labels = labels_of(item, words)
    if item.kind == "number":
        return {"interval": (item.low, item.high)}
    if item.kind == "time" or (item.kind == "ordered" and len(item.options) > ORDERED_SMALL):
        return {"ordinal": labels}
    if item.kind == "several":
        return {"several": labels, "most": item.most or None}
    skips = item.skip and can_skip(item)
    missing = {"missing": words["skip"]} if skips else {}
    if not item.sensitive:
        return {"labels": labels, **missing}
    own = [label for label in labels if label in item.sensitive or (skips and label == words["skip"])]
    return {"labels": labels, **missing, "sensitive": own}


def cost(question: Any) -> float:
    """The variance of one report about a share in the population, at the worst of the shares 1/k and 1/2 (Q1).

    Of numbers it is that of the mean, in their unit. Where some answers are harmless, that of a design which protects
    all of them is taken: those who are protected are known at least as well.
    """
    m, told = question.mechanism, question.mechanism.properties(1)
    if "variance_worst" in told:
        return float(told["variance_worst"]) + _range(question) ** 2 / 12
    if "variance_range" in told:
        return float(question.noise) + _HALF
    if "ticked" in told:
        return max(float(m.weights.cost(f)) for f in (told["ticked"], 0.5))
    if "p" in told:
        return max(_share(told["p"], told["q"], f) for f in (1 / m.k, 0.5))
    if question.plain:
        return float(told["mse"]) + _HALF
    return subset_cost(m.k, m.epsilon)


def subset_cost(k: int, epsilon: float) -> float:
    """(Q1) for subsets of the best size.

    >>> round(subset_cost(2, 1.0), 4), round(subset_cost(10, 1.0), 4)
    (1.1707, 3.4452)
    """
    laws = [_law(k, size, epsilon) for size in range(1, k)]
    p, q = min(laws, key=lambda law: _share(law[0], law[1], 1 / k))
    return max(_share(p, q, f) for f in (1 / k, 0.5))


def _law(k: int, size: int, epsilon: float) -> tuple[float, float]:
    """How often a report names its own answer, and another one (Q1)."""
    kept = size * math.exp(epsilon)
    p = kept / (kept + k - size)
    return p, (size - p) / (k - 1)


def _share(p: float, q: float, f: float) -> float:
    mean = q + f * (p - q)
    return mean * (1 - mean) / (p - q) ** 2


def _range(question: Any) -> float:
    return math.sqrt(question.unit)


def relevant(item: Item, answers: int) -> float:
    """The error up to which a result is of use (Q8): 10 points, or fewer; of numbers a tenth of the range.

    Where people tick several of some options, a share is that of one option.
    """
    if item.kind == "number":
        return ((item.high or 0.0) - (item.low or 0.0)) / 10
    if item.kind == "several":
        options = len(item.options) + item.other
        return min(0.1, (item.most or options) / max(options, 1))
    ranges = item.kind == "time" or (item.kind == "ordered" and answers > ORDERED_SMALL)
    return 0.1 if ranges else min(0.1, 1 / max(answers, 1))
