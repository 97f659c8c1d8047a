"""From a questionnaire to its task, and back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from deniable.errors import ParameterError, require
from deniable.plan.survey import survey
from deniable.service.access.identity import Identity
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import Group, Item, Questionnaire, Translated
from deniable.service.questionnaire.kinds import described, labels_of, words_of
from deniable.service.questionnaire.outlook import Outlook, outlook
from deniable.service.tasks import Asked, Terms, new_task
from deniable.service.texts.catalogue import texts
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
    hint = (
        f"Ask in {made.ways_out['windows']:.0f} windows, or with protection {made.ways_out['protection']:g} or less."
        if made.ways_out["windows"] >= 1
        else "Choose a smaller number for protection."
    )
    cost = f"epsilon {made.cost:g} of each person, in {asked.windows} windows"
    require(
        made.possible, "protection", asked.protection, f"such that all windows cost 2 at most; it costs {cost}", hint
    )
    shares = _shares(made)
    items = [
        Asked(
            text=item.text,
            design=mechanism.design,
            name=item.name,
            share=share,
            kind=item.kind,
            unit=item.unit or None if item.kind == "number" else None,
            ends=list(item.ends) if item.kind == "rating" else None,
        )
        for item, mechanism, share in zip(asked.questions, made.survey.mechanisms, shares, strict=True)
    ]
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
        translations={tag: _translated(asked, tag, other) for tag, other in asked.translations.items()} or None,
    )
    return new_task(items, terms, identity)


def _shares(made: Outlook) -> list[int]:
    """The shares of the design, as whole numbers."""
    design = made.survey.design()
    return [int(share) for share in design["shares"]] if "parts" in design else [1]


def _translated(asked: Questionnaire, tag: str, other: Translated) -> dict[str, Any]:
    """The texts of the task in another language."""
    words, questions = words_of(asked, tag), []
    for item in asked.questions:
        told = other.questions[item.name]
        labels = labels_of(item, words, told.get("options"))
        more = {"ends": list(told["ends"])} if item.kind == "rating" else {}
        more |= {"unit": told["unit"]} if item.kind == "number" else {}
        questions.append([{"text": told["text"]} | ({"labels": labels} if labels else {}) | more])
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
    words = words_of(Questionnaire(language=language, words=_own_words(task.questions, language)), language)
    items = tuple(_chosen(_item(question), question.design, words) for question in task.questions)
    names = list(task.strata)
    return Questionnaire(
        title=task.subject,
        who=task.collector or "",
        why=task.purpose or "",
        language=language,
        questions=items,
        words=_own_words(task.questions, language),
        groups=tuple(
            Group(name=name, title=task.titles.get(name, name), values=_told(values))
            for name, values in task.strata.items()
        ),
        translations={tag: _back(texts, items, names) for tag, texts in task.translations.items()},
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


def _chosen(item: Item, design: Any, words: Any) -> Item:
    """A question with the name of its mechanism, if that is not the one which it would get by itself."""
    usual = survey({item.name: described(item, words, design["epsilon"])}, epsilon=design["epsilon"]).mechanisms[0]
    return item if usual.name == design["mechanism"] else replace(item, mechanism=design["mechanism"])


def _own_words(questions: Any, language: str) -> dict[str, str]:
    """Words for yes, no and not to say that are not those of the catalogue."""
    usual = words_of(Questionnaire(language=language), language)
    found: dict[str, str] = {}
    for question in questions:
        missing = question.design["domain"].get("missing")
        if missing is not None and missing != usual["skip"]:
            found["skip"] = missing
        if question.kind == "yes-no" and question.labels is not None:
            own = dict(zip(("yes", "no"), question.labels, strict=False))
            found |= {name: text for name, text in own.items() if text != usual[name]}
    return found


def _back(told: Any, items: tuple[Item, ...], names: list[str]) -> Translated:
    """The texts of another language, by the names of what they are of."""
    questions = {}
    for item, (text,) in zip(items, told["questions"], strict=True):
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
