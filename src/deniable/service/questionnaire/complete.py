"""What keeps a questionnaire from being opened, and what its author should know; each a text of the catalogue."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from deniable.run.joint import CELLS_MAX
from deniable.service.questionnaire.document import LIMITS, WORDS, Item, Questionnaire
from deniable.service.questionnaire.kinds import LISTED, can_join, can_skip, candidates, labels_of, words_of
from deniable.service.texts.languages import name_of
from deniable_client.hashing import ITEMS_MAX
from deniable_client.kernels.box import sets_up_to
from deniable_client.kernels.dealt import PARTS_MAX
from deniable_client.texts import labels_fault, text_fault

__all__ = ["Fault", "cautions", "problems"]

_LONG, _MANY, _GROUPS = 160, 12, 3
"""Characters, questions and groupings above which a questionnaire gets a caution."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong or doubtful: where, and in which words of the catalogue (`fault.` or `caution.`)."""

    where: str
    """`title`, `people`, `q.NAME.text`, `g.NAME.values`, `t.TAG.title`, ..: as the form calls it."""
    id: str
    values: dict[str, Any] = field(default_factory=dict)


def problems(asked: Questionnaire, today: date | None = None) -> list[Fault]:
    """Everything that keeps it from being opened, in the order of the form."""
    asks = list(_questions(asked))
    joint = _together(asked) if not asks else ()  # what is wrong with a question alone comes first
    return [*_head(asked), *asks, *joint, *_when(asked, today), *_groups(asked), *_translations(asked)]


def _head(asked: Questionnaire) -> Iterator[Fault]:
    for name, text, prose in (("title", asked.title, False), ("who", asked.who, False), ("why", asked.why, True)):
        if not text:
            yield Fault(name, f"fault.{name}")
        else:
            yield from _odd(name, text, prose)


def _odd(where: str, text: str, prose: bool = False) -> Iterator[Fault]:
    """A text that devices would refuse, by what is wrong with it."""
    wrong = text_fault(text, prose=prose)
    if wrong:
        yield Fault(where, "fault.text", {"why": wrong})


def _questions(asked: Questionnaire) -> Iterator[Fault]:
    if not asked.questions:
        yield Fault("questions", "fault.questions")
    words = words_of(asked, asked.language)
    lacking = [name for name in WORDS if not words[name]]
    if lacking and any(
        item.kind == "yes-no" or (item.skip and can_skip(item)) or item.other for item in asked.questions
    ):
        yield Fault("words", "fault.words", {"language": asked.language})
        return
    texts: dict[str, str] = {}
    for item in asked.questions:
        where = f"q.{item.name}"
        if not item.text:
            yield Fault(f"{where}.text", "fault.question")
        elif item.text in texts:
            yield Fault(f"{where}.text", "fault.twice")
        else:
            yield from _odd(f"{where}.text", item.text, prose=True)
        texts[item.text] = item.name
        wrong = list(_answers(item, where, labels_of(item, words)))
        yield from wrong
        if item.mechanism and not wrong:
            yield from _mechanism(item, where, candidates(item, words, asked.protection))


def _together(asked: Questionnaire) -> Iterator[Fault]:
    """Blocks of questions that are asked together: whose tables a collector can count and people can read."""
    words = words_of(asked, asked.language)
    sizes = {item.name: len(labels_of(item, words)) for item in asked.questions if can_join(item)}
    seen: set[str] = set()
    for number, block in enumerate(asked.together, start=1):
        where = f"b.{number}"
        odd = [name for name in block if name not in sizes]
        if not 2 <= len(block) <= LIMITS["block"]:
            yield Fault(where, "fault.together", {"n": LIMITS["block"]})
        elif odd:
            yield Fault(where, "fault.together.kind", {"question": asked.item(odd[0]).text})
        elif seen.intersection(block):
            yield Fault(where, "fault.together.twice", {"question": asked.item(seen.intersection(block).pop()).text})
        else:
            one, two = sorted(sizes[name] for name in block)[-2:]
            if one * two > CELLS_MAX:
                yield Fault(where, "fault.together.cells", {"n": one * two, "most": CELLS_MAX})
        seen.update(block)
    tables = sum(math.comb(len(block), 2) for block in asked.together)
    if len(asked.questions) + tables > PARTS_MAX:
        yield Fault("together", "fault.together.many", {"n": PARTS_MAX})


def _answers(item: Item, where: str, labels: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the answers of a question."""
    if item.kind in LISTED:
        least, most = LISTED[item.kind]
        if not least <= len(item.options) <= most:
            yield Fault(f"{where}.options", "fault.options", {"low": least, "high": most, "n": len(item.options)})
            return
    if item.kind == "several":
        yield from _ticks(item, where)
    if item.kind == "number":
        yield from _ends_of_number(item, where)
    if item.kind == "rating" and not all(item.ends):
        yield Fault(f"{where}.ends", "fault.ends")
    wrong = labels_fault(labels) if labels else ""
    if wrong:
        yield Fault(f"{where}.options", "fault.labels", {"why": wrong})
    unknown = [label for label in item.sensitive if label not in labels]
    if unknown:
        yield Fault(f"{where}.sensitive", "fault.sensitive", {"answer": unknown[0]})
    elif item.sensitive and item.kind not in ("yes-no", "one"):
        yield Fault(f"{where}.sensitive", "fault.sensitive.kind")


def _mechanism(item: Item, where: str, able: Iterable[str]) -> Iterator[Fault]:
    """A mechanism that was chosen must be one that can ask the question."""
    if item.mechanism not in able:
        yield Fault(f"{where}.mechanism", "fault.mechanism", {"name": item.mechanism, "names": list(able) or ["–"]})


def _ticks(item: Item, where: str) -> Iterator[Fault]:
    """How many may be ticked: no more than there are, and not so many that there are too many sets of them."""
    options = len(item.options) + item.other
    if item.most > options:
        yield Fault(f"{where}.most", "fault.ticks", {"n": options})
    elif options > LIMITS["ticks"]:
        yield Fault(f"{where}.options", "fault.most", {"n": LIMITS["ticks"]})
    elif sets_up_to(options, item.most or options) > ITEMS_MAX:
        most = max(most for most in range(1, options) if sets_up_to(options, most) <= ITEMS_MAX)
        yield Fault(f"{where}.most", "fault.ticks.sets", {"n": most, "options": options})


def _ends_of_number(item: Item, where: str) -> Iterator[Fault]:
    if item.low is None or item.high is None:
        yield Fault(f"{where}.low", "fault.range")
    elif not item.low < item.high:
        yield Fault(f"{where}.high", "fault.range.order", {"low": item.low, "high": item.high})
    if not item.unit:
        yield Fault(f"{where}.unit", "fault.unit")


def _when(asked: Questionnaire, today: date | None) -> Iterator[Fault]:
    if today is not None and asked.opens and date.fromisoformat(asked.opens) < today:
        yield Fault("opens", "fault.past", {"date": date.fromisoformat(asked.opens)})
    if asked.people is None:
        yield Fault("people", "fault.people")


def _groups(asked: Questionnaire) -> Iterator[Fault]:
    for group in asked.groups:
        where = f"g.{group.name}"
        if not group.title:
            yield Fault(f"{where}.title", "fault.group.title")
        if len(group.values) < 2:
            yield Fault(f"{where}.values", "fault.group.values")
        elif wrong := labels_fault(group.values):
            yield Fault(f"{where}.values", "fault.labels", {"why": wrong})


def _translations(asked: Questionnaire) -> Iterator[Fault]:
    """A text that is missing in another language keeps the whole from being opened: nobody reads half a survey.

    One that is missing in the first language is told there.
    """
    for tag, other in asked.translations.items():
        if tag == asked.language:
            yield Fault(f"t.{tag}", "fault.language", {"language": tag})
            continue
        own = {"title": asked.title, "why": asked.why}
        lacking = {name: text for name, text in own.items() if text and not getattr(other, name)}
        lacking |= {
            f"q.{item.name}": item.text
            for item in asked.questions
            if item.text and not _whole(item, other.questions.get(item.name, {}))
        }
        for group in asked.groups:
            told = other.groups.get(group.name, {})
            if not told.get("title") or len(told.get("values", ())) != len(group.values) or not all(told["values"]):
                lacking[f"g.{group.name}"] = group.title or group.name
        words = words_of(asked, tag)
        if not all(words.values()):
            lacking["words"] = ", ".join(words_of(asked, asked.language).values())
        for name, text in lacking.items():
            yield Fault(f"t.{tag}.{name}", "fault.translation", {"language": name_of(tag), "text": text})
        if not lacking:
            yield from _alike(asked, tag, words)


def _alike(asked: Questionnaire, tag: str, words: Any) -> Iterator[Fault]:
    for item in asked.questions:
        options = asked.translations[tag].questions.get(item.name, {}).get("options")
        wrong = labels_fault(labels) if (labels := labels_of(item, words, options)) else ""
        if wrong:
            yield Fault(f"t.{tag}.q.{item.name}", "fault.labels", {"why": wrong})


def _whole(item: Item, told: Any) -> bool:
    """Whether a question has all its texts in another language."""
    options = told.get("options", ())
    return bool(
        told.get("text")
        and (item.kind not in LISTED or (len(options) == len(item.options) and all(options)))
        and (item.kind != "rating" or (len(told.get("ends", ())) == 2 and all(told["ends"])))
        and (item.kind != "number" or told.get("unit"))
    )


def cautions(asked: Questionnaire) -> list[Fault]:
    """What its author should know, though it can be opened."""
    found = [
        Fault(f"q.{item.name}.text", "caution.long", {"n": len(item.text)})
        for item in asked.questions
        if len(item.text) > _LONG
    ]
    found += [Fault(f"q.{item.name}.other", "caution.other") for item in asked.questions if item.other]
    if len(asked.questions) > _MANY:
        found.append(Fault("questions", "caution.many", {"n": len(asked.questions)}))
    if len(asked.groups) > _GROUPS:
        found.append(Fault("groups", "caution.groups", {"n": len(asked.groups)}))
    return found
