"""From a questionnaire to its task, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, TypeAlias

from deniable.errors import ParameterError, require
from deniable.plan.survey import survey
from deniable.service.access.identity import Identity
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import Group, Item, Questionnaire, Translated
from deniable.service.questionnaire.kinds import described, labels_of, words_of
from deniable.service.questionnaire.outlook import Outlook, outlook
from deniable.service.tasks import Asked, Terms, new_task
from deniable.service.texts.catalogue import texts
from deniable_client.questions import Question, Single
from deniable_client.task import NOT_TOLD, Task

__all__ = ["questionnaire_of", "task_of"]


def task_of(
    asked: Questionnaire,
    identity: Identity,
    *,
    today: date,
    url: str | None = None,
    min_batch: int | None = None,
    found: Outlook | None = None,
) -> dict[str, Any]:
    """The signed task document of a questionnaire; `ParameterError` for what is missing.

    `min_batch` if it is another than the one that was derived: for those who know what they do.
    """
    wrong = problems(asked)
    if wrong:
        say = texts("build", "en")
        told = [f"{fault.where}: {say(fault.id, **fault.values)}" for fault in wrong]
        raise ParameterError("the questionnaire cannot be opened yet. " + " ".join(told))
    made = outlook(asked) if found is None else found
    windows, protection = made.ways_out["windows"], made.ways_out["protection"]
    ways = [f"in {windows:.0f} window{'s' * (windows > 1)}"] if windows >= 1 else []
    ways += [f"with protection {protection:g} or less"] if protection else []
    hint = f"Ask {', or '.join(ways)}." if ways else "Choose a smaller number for protection, and fewer windows."
    cost = f"epsilon {made.cost:g} of each person, in {asked.windows} windows"
    require(
        made.possible, "protection", asked.protection, f"such that all windows cost 2 at most; it costs {cost}", hint
    )
    parts = _parts(made)
    items = [_asked(asked, names, design, share) for names, design, share in parts]
    terms = Terms(
        opens=date.fromisoformat(asked.opens) if asked.opens else today,
        window_days=asked.days,
        windows=asked.windows,
        min_batch=made.min_batch if min_batch is None else min_batch,
        subject=asked.title,
        collector=asked.who,
        url=url,
        language=asked.language,
        purpose=asked.why,
        results="public" if asked.public else None,
        strata={group.name: group.values for group in asked.groups} or None,
        titles={group.name: group.title for group in asked.groups},
        translations={
            tag: _translated(asked, tag, other, [names for names, _, _ in parts])
            for tag, other in asked.translations.items()
        }
        or None,
    )
    return new_task(items, terms, identity)


_Part: TypeAlias = tuple[tuple[str, ...], Mapping[str, Any], int]
"""What one person may be dealt: the questions, the design, and its share as a whole number."""


def _parts(made: Outlook) -> list[_Part]:
    """What people are dealt, in the order in which its first question was written."""
    design, asked = made.survey.design(), made.asked
    each = zip(design.get("parts", [design]), design.get("shares", [1]), strict=True)
    found = [
        (made.survey.about(part), own, int(share)) for part, (own, share) in zip(made.survey.parts, each, strict=True)
    ]
    order = [item.name for item in asked.questions]
    return sorted(found, key=lambda part: [order.index(name) for name in part[0]])


def _asked(asked: Questionnaire, names: Sequence[str], design: Mapping[str, Any], share: int) -> Asked:
    """A part of the task: a question, or two that are asked together."""
    if len(names) > 1:
        words = words_of(asked, asked.language)
        together = [_single(asked.item(name), words) for name in names]
        return Asked(text="", design=dict(design), share=share, together=together)
    item = asked.item(names[0])
    return Asked(
        text=item.text,
        design=dict(design),
        name=item.name,
        share=share,
        kind=item.kind,
        unit=item.unit or None if item.kind == "number" else None,
        ends=_ends(item),
    )


def _single(item: Item, words: Mapping[str, str]) -> Single:
    """A question that is asked together with others."""
    none = words["skip"] if item.skip else None
    return Single(item.name, item.text, tuple(labels_of(item, words)), none, item.kind, None, _ends(item))


def _ends(item: Item) -> tuple[str, str] | None:
    return item.ends if item.kind == "rating" else None


def _translated(asked: Questionnaire, tag: str, other: Translated, parts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The texts of the task in another language, part by part."""
    words = words_of(asked, tag)

    def told_of(name: str) -> dict[str, Any]:
        item, told = asked.item(name), other.questions[name]
        labels = labels_of(item, words, told.get("options"))
        more = {"ends": list(told["ends"])} if item.kind == "rating" else {}
        more |= {"unit": told["unit"]} if item.kind == "number" else {}
        return {"text": told["text"]} | ({"labels": labels} if labels else {}) | more

    questions = [[told_of(name) for name in names] for names in parts]
    found: dict[str, Any] = {"subject": other.title, "purpose": other.why, "questions": questions}
    if asked.groups:
        found["strata"] = [
            {"title": other.groups[group.name]["title"], "values": list(other.groups[group.name]["values"])}
            for group in asked.groups
        ]
    return found


# ---- and back


def questionnaire_of(task: Task) -> Questionnaire:
    """The questionnaire that a task asks; what a task does not know (people, response) is left open."""
    language = task.language or "en"
    known: dict[str, tuple[Question | Single, Question]] = {}
    for part in task.questions:
        known |= {one.name: (one, part) for one in part.together or (part,) if part.together or one.name not in known}
    own = _own_words([one for one, _ in known.values()], language)
    words = words_of(Questionnaire(language=language, words=own), language)
    items = tuple(
        _joined(one, words, part) if isinstance(one, Single) else _chosen(_item(one), one.design, words)
        for one, part in known.values()
    )
    blocks, names = _blocks(task), list(task.strata)
    return Questionnaire(
        title=task.subject,
        who=task.collector or "",
        why=task.purpose or "",
        language=language,
        questions=items,
        words=own,
        together=blocks,
        groups=tuple(
            Group(name=name, title=task.titles.get(name, name), values=_told(values))
            for name, values in task.strata.items()
        ),
        translations={tag: _back(task, texts, items, names) for tag, texts in task.translations.items()},
        days=task.days,
        windows=task.count,
        protection=task.epsilon,
        public=task.results == "public",
    )


def _told(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value != NOT_TOLD)


def _item(question: Any) -> Item:
    """A question from its design and texts; `ParameterError` for a design that a questionnaire does not have."""
    design, labels = question.design, list(question.labels or ())
    missing = design["domain"].get("missing")
    options = tuple(label for label in labels if label != missing)
    if "ticks" in design["domain"]:
        most = design["domain"]["most"]
        told: dict[str, Any] = {"name": question.name, "text": question.text, "most": most if most < len(labels) else 0}
        return Item(**told, kind="several", options=options)
    common: dict[str, Any] = {"name": question.name, "text": question.text, "skip": missing is not None}
    if "interval" in design["domain"]:
        low, high = design["domain"]["interval"]
        return Item(**common | {"skip": True}, kind="number", low=low, high=high, unit=question.unit or "")
    if not labels:
        hint = "It was made of a design, not of a questionnaire."
        raise ParameterError(f"the question {question.name} has answers without texts.", hint)
    kind = question.kind or "one"
    if kind in ("time", "yes-no"):
        return Item(
            **common | ({"skip": True} if kind == "time" else {}),
            kind=kind,
            slots=len(labels) if kind == "time" else 24,
        )
    if kind == "rating":
        return Item(**common, kind=kind, points=len(options), ends=question.ends or ("", ""))
    named = question.explanation.disclosed
    open_ = {number for start, end in zip(named[::2], named[1::2], strict=True) for number in range(start, end)}
    sensitive = tuple(label for i, label in enumerate(labels) if open_ and i not in open_ and label != missing)
    ordered = kind == "ordered" and len(options) > 7
    return Item(**common | ({"skip": True} if ordered else {}), kind=kind, options=options, sensitive=sensitive)


def _blocks(task: Task) -> tuple[tuple[str, ...], ...]:
    """The questions that are asked together: those that hang together by pairs.

    `ParameterError` where some two of them have no table.
    """
    blocks: list[list[str]] = []
    for part in task.questions:
        names = [one.name for one in part.together]
        hit = [block for block in blocks if set(block) & set(names)]
        rest = [block for block in blocks if block not in hit]
        joined = list(dict.fromkeys(name for block in (*hit, names) for name in block))
        blocks = [*rest, joined] if names else blocks
    pairs = sum(bool(part.together) for part in task.questions)
    if pairs < sum(math.comb(len(block), 2) for block in blocks):
        hint = "It was made of a survey, not of a questionnaire."
        raise ParameterError("of the questions that are asked together some two have no table.", hint)
    return tuple(tuple(block) for block in blocks)


def _joined(one: Single, words: Mapping[str, str], part: Question) -> Item:
    """A question that is asked together with others; `ParameterError` for a way that a questionnaire does not have."""
    if len(part.together) != 2 or part.explanation.design.kernel.kind == "box":
        hint = "It was made of a survey, not of a questionnaire."
        raise ParameterError(f"the questions {part.name} are asked in one report without a table of two.", hint)
    skip = one.none is not None and one.labels[-1] == one.none == words["skip"]
    labels = one.labels[: len(one.labels) - skip]
    told: dict[str, Any] = {"name": one.name, "text": one.text, "kind": one.kind or "one", "skip": skip}
    if one.kind == "rating":
        return Item(**told, points=len(labels), ends=one.ends or ("", ""))
    return Item(**told) if one.kind == "yes-no" else Item(**told, options=labels)


def _chosen(item: Item, design: Any, words: Any) -> Item:
    """A question with the name of its mechanism, if that is not the one which it would get by itself."""
    usual = survey({item.name: described(item, words, design["epsilon"])}, epsilon=design["epsilon"]).mechanisms[0]
    return item if usual.name == design["mechanism"] else replace(item, mechanism=design["mechanism"])


def _own_words(questions: Any, language: str) -> dict[str, str]:
    """Words for yes, no and not to say that are not those of the catalogue."""
    usual = words_of(Questionnaire(language=language), language)
    found: dict[str, str] = {}
    for question in questions:
        together = isinstance(question, Single)
        missing = question.none if together else question.design["domain"].get("missing")
        if missing is not None and missing != usual["skip"]:
            found["skip"] = missing
        if question.kind == "yes-no" and question.labels is not None:
            own = dict(zip(("yes", "no"), question.labels, strict=False))
            found |= {name: text for name, text in own.items() if text != usual[name]}
    return found


def _back(task: Task, told: Any, items: tuple[Item, ...], names: list[str]) -> Translated:
    """The texts of another language, by the names of what they are of."""
    questions: dict[str, dict[str, Any]] = {}
    texts: dict[str, Any] = {}
    for part, each in zip(task.questions, told["questions"], strict=True):
        asks: Sequence[Question | Single] = part.together or (part,)
        texts |= {one.name: text for one, text in zip(asks, each, strict=True)}
    for item in items:
        text = texts[item.name]
        own: dict[str, Any] = {"text": text["text"]}
        if item.options:
            own["options"] = tuple(text["labels"][: len(item.options)])
        if item.kind == "rating":
            own["ends"] = tuple(text["ends"])
        if item.kind == "number":
            own["unit"] = text["unit"]
        questions[item.name] = own
    groups = {
        name: {"title": group["title"], "values": tuple(group["values"])}
        for name, group in zip(names, told.get("strata", ()), strict=False)
    }
    return Translated(title=told["subject"], why=told.get("purpose", ""), questions=questions, groups=groups)
