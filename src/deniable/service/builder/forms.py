"""The form of a draft: what stands in its fields, and what comes of what was filled in.

A field that cannot be read keeps what was there before; what was typed stays on the page, with a sentence beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from deniable.run.numbers import Doubt, read_number
from deniable.service.questionnaire.complete import Fault
from deniable.service.questionnaire.document import (
    KINDS,
    LEAST_PROTECTION,
    LEAST_SHARE,
    LIMITS,
    TAG,
    Group,
    Item,
    Questionnaire,
    Translated,
)
from deniable.service.questionnaire.kinds import LISTED
from deniable.service.texts.languages import tag_of

__all__ = ["Filled", "changed", "done", "fields_of", "language_fields", "translated"]

_MOST_PEOPLE = 10**9
_PERCENT = "%\u066a\uff05"
_FEW = 0.01
"""Below this response its sign is written: without it, it may be meant as a part of 1."""
_LETTERS = 3
"""Letters with which the tag of a language begins, at most."""
_LONGEST = {"title": 200, "who": 200, "why": 1000, "text": 10_000, "unit": 40, "low_end": 100, "high_end": 100}
_FLAGS = {
    "yes-no": ("skip",),
    "one": ("skip", "other"),
    "several": ("other",),
    "rating": ("skip",),
    "ordered": ("skip",),
}
"""The boxes to tick that a kind of question shows."""


@dataclass
class Filled:
    """What was filled in, with what is wrong about it by the names of fields."""

    fields: Mapping[str, str]
    faults: dict[str, Fault] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    """What stood in the fields before: who leaves a number as it was shown, rounded or not, leaves the number."""

    def wrong(self, where: str, id: str, **values: Any) -> None:
        """Note what is wrong with a field."""
        self.faults.setdefault(where, Fault(where, id, values))

    def text(self, where: str, before: str, most: int, *, prose: bool = False) -> str:
        """A text, or the one before if it is too long."""
        given = self.fields.get(where)
        if given is None:
            return before
        text = given.replace("\r\n", "\n").replace("\r", "\n").strip()
        text = text if prose else " ".join(text.split())
        if len(text) > most:
            self.wrong(where, "fault.long", most=most, n=len(text))
            return before
        return text

    def lines(self, where: str, before: tuple[str, ...], most: int, longest: int = 1000) -> tuple[str, ...]:
        """Texts, one on each line."""
        given = self.fields.get(where)
        if given is None:
            return before
        found = tuple(" ".join(line.split()) for line in given.splitlines() if line.strip())
        too_long = [line for line in found if len(line) > longest]
        if too_long:
            self.wrong(where, "fault.long", most=longest, n=len(too_long[0]))
        elif len(found) > most:
            self.wrong(where, "fault.most", n=most)
        else:
            return found
        return before

    def number(
        self, where: str, before: Any, low: float, high: float, *, whole: bool = False, percent: bool = False
    ) -> Any:
        """A number as people write it, or a share in percent; one with two readings is asked about. Empty is None."""
        given = self.fields.get(where)
        if given is None or given.strip() == self.shown.get(where):
            return before
        if not given.strip():
            return None
        found = read_number(given)
        if isinstance(found, Doubt):
            self.wrong(where, "fault.doubt", a=found.large, b=found.small)
        elif found is None:
            self.wrong(where, "fault.number", text=given.strip()[:40])
        elif whole and (found != int(found) or not low <= found <= high):
            self.wrong(where, "fault.whole", low=int(low), high=int(high))
        elif not low <= found <= high:
            self.wrong(where, "fault.between", low=low, high=high)
        else:
            return int(found) if whole else found / 100 if percent else found
        return before

    def flag(self, where: str) -> bool:
        """Whether a box is ticked: those that are not are not sent."""
        return where in self.fields


# ---- from the form


def changed(asked: Questionnaire, filled: Filled) -> Questionnaire:
    """The questionnaire with everything that could be read of a form."""
    text, filled.shown = filled.text, fields_of(asked)
    opens = text("opens", asked.opens, 40)
    if opens and opens != asked.opens and _day(opens) is None:
        filled.wrong("opens", "fault.day", text=opens)
        opens = asked.opens
    windows = filled.number("windows", asked.windows, 1, 1000, whole=True)
    days = filled.number("days", asked.days, 1, 3660, whole=True)
    protection = filled.number("protection", asked.protection, LEAST_PROTECTION, 8)
    return replace(
        asked,
        title=text("title", asked.title, _LONGEST["title"]),
        who=text("who", asked.who, _LONGEST["who"]),
        why=text("why", asked.why, _LONGEST["why"], prose=True),
        language=_language(asked, filled),
        opens=opens,
        days=days if days is not None else asked.days,
        windows=windows if windows is not None else asked.windows,
        people=filled.number("people", asked.people, 1, _MOST_PEOPLE, whole=True),
        response=_response(asked, filled),
        protection=protection if protection is not None else asked.protection,
        public=filled.flag("public") if "title" in filled.fields else asked.public,
        questions=tuple(_question(item, filled) for item in asked.questions),
        together=tuple(_block(i, block, asked, filled) for i, block in enumerate(asked.together, start=1)),
        groups=tuple(_group(group, filled) for group in asked.groups),
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        return None


def _response(asked: Questionnaire, filled: Filled) -> float | None:
    """How many of 100 answer, with or without a sign. One that is below 1 without it may be meant as a part of 1."""
    given = filled.fields.get("response", filled.shown["response"]).strip()
    if given in ("", filled.shown["response"]):
        return asked.response if given else None
    plain = given.rstrip(_PERCENT).rstrip() or given
    signless = replace(filled, fields={**filled.fields, "response": plain})
    found: float | None = signless.number("response", asked.response, 0.01, 100, percent=True)
    if plain == given and "response" not in filled.faults and found is not None and found < _FEW:
        filled.wrong("response", "fault.part", a=10_000 * found, b=100 * found)
        return asked.response
    return found


def _tagged(text: str) -> str | None:
    """The tag of a language by its name or tag; None if it is neither: tags begin with two or three letters."""
    tag = tag_of(text)
    return tag if TAG.fullmatch(tag) and len(tag.partition("-")[0]) <= _LETTERS else None


def _language(asked: Questionnaire, filled: Filled) -> str:
    given = filled.text("language", asked.language, 40)
    tag = given if given == asked.language else _tagged(given)
    if tag is None:
        filled.wrong("language", "fault.tag", text=given)
        return asked.language
    if tag in asked.translations:
        filled.wrong("language", "fault.language", language=tag)
        return asked.language
    return tag


def _question(item: Item, filled: Filled) -> Item:
    where = f"q.{item.name}"
    if f"{where}.text" not in filled.fields:
        return item
    kind = filled.fields.get(f"{where}.kind", item.kind)
    if kind not in KINDS:
        kind = item.kind
    ends = tuple(filled.text(f"{where}.{end}", item.ends[i], 100) for i, end in enumerate(("low_end", "high_end")))
    flags: dict[str, Any] = {
        name: filled.flag(f"{where}.{name}") for name in _FLAGS.get(item.kind, ()) if kind == item.kind
    }
    points = filled.number(f"{where}.points", item.points, 2, 11, whole=True)
    most = filled.number(f"{where}.most", item.most, 1, LIMITS["ticks"], whole=True)
    slots = filled.number(f"{where}.slots", item.slots, 24, 48, whole=True)
    if slots not in (None, 24, 48):
        filled.wrong(f"{where}.slots", "fault.whole", low=24, high=48)
        slots = item.slots
    return replace(
        item,
        kind=kind,
        text=filled.text(f"{where}.text", item.text, _LONGEST["text"], prose=True),
        options=filled.lines(f"{where}.options", item.options, LIMITS["options"]),
        sensitive=filled.lines(f"{where}.sensitive", item.sensitive, LIMITS["options"]),
        points=points or item.points,
        most=most or 0,
        ends=(ends[0], ends[1]),
        low=filled.number(f"{where}.low", item.low, -1e12, 1e12),
        high=filled.number(f"{where}.high", item.high, -1e12, 1e12),
        unit=filled.text(f"{where}.unit", item.unit, _LONGEST["unit"]),
        slots=slots or item.slots,
        mechanism=filled.text(f"{where}.mechanism", item.mechanism, LIMITS["mechanism"]),
        **flags,
    )


def _block(number: int, before: tuple[str, ...], asked: Questionnaire, filled: Filled) -> tuple[str, ...]:
    """The questions of a block that are ticked."""
    where = f"b.{number}"
    if where not in filled.fields:
        return before
    return tuple(item.name for item in asked.questions if filled.flag(f"{where}.{item.name}"))


def _group(group: Group, filled: Filled) -> Group:
    where = f"g.{group.name}"
    values = filled.lines(f"{where}.values", group.values, LIMITS["values"], 200)
    shown = tuple(f"{100 * share:g}" for share in group.shares)
    lines = filled.lines(f"{where}.shares", shown, LIMITS["values"])
    if lines == shown and len(shown) in (0, len(values)):  # nobody touched them
        return replace(group, title=filled.text(f"{where}.title", group.title, 200), values=values)
    shares = [read_number(line.rstrip(_PERCENT).rstrip()) for line in lines]
    fit = all(isinstance(share, float) and LEAST_SHARE <= share / 100 <= 1 for share in shares)
    right = fit and len(shares) in (0, len(values))
    if not right:
        filled.wrong(f"{where}.shares", "fault.shares")
    kept = tuple(share / 100 for share in shares if isinstance(share, float)) if right else group.shares
    return replace(
        group,
        title=filled.text(f"{where}.title", group.title, 200),
        values=values,
        shares=kept if len(kept) in (0, len(values)) else (),
    )


# ---- what a button does


def done(asked: Questionnaire, what: str, filled: Filled) -> tuple[Questionnaire, str]:
    """The questionnaire after a button of the form, and the place of the page to go to.

    A language that was written and not added is added by every button.
    """
    verb, _, name = what.partition(":")
    if verb and verb != "language" and filled.fields.get("tag", "").strip():
        asked, _ = _add_language(asked, filled)
    items, groups = list(asked.questions), list(asked.groups)
    if verb == "add" and name in KINDS and len(items) < LIMITS["questions"]:
        new = Item(name=_free("q", [item.name for item in items]), kind=name)
        return replace(asked, questions=(*items, new)), f"q.{new.name}"
    if verb == "block" and len(asked.together) < LIMITS["blocks"]:
        return replace(asked, together=(*asked.together, ())), f"b.{len(asked.together) + 1}"
    if verb == "unblock":
        left = tuple(block for i, block in enumerate(asked.together, start=1) if str(i) != name)
        return replace(asked, together=left), "together"
    if verb == "group" and len(groups) < LIMITS["groups"]:
        group = Group(name=_free("g", [each.name for each in groups]))
        return replace(asked, groups=(*groups, group)), f"g.{group.name}"
    if verb == "ungroup":
        return replace(asked, groups=tuple(each for each in groups if each.name != name)), "groups"
    if verb == "language":
        return _add_language(asked, filled)
    if verb == "unlanguage":
        others = {tag: texts for tag, texts in asked.translations.items() if tag != name}
        return replace(asked, translations=others), "languages"
    at = next((i for i, item in enumerate(items) if item.name == name), None)
    if at is None:
        return asked, ""
    blocks = asked.together
    if verb == "remove":
        del items[at]
        blocks = tuple(tuple(each for each in block if each != name) for block in blocks)
    elif verb in ("up", "down"):
        to = at - 1 if verb == "up" else at + 1
        if 0 <= to < len(items):
            items[at], items[to] = items[to], items[at]
    return replace(asked, questions=tuple(items), together=blocks), "questions" if verb == "remove" else f"q.{name}"


def _free(start: str, names: Sequence[str]) -> str:
    return next(f"{start}{i}" for i in range(1, len(names) + 2) if f"{start}{i}" not in names)


def _add_language(asked: Questionnaire, filled: Filled) -> tuple[Questionnaire, str]:
    given = filled.fields.get("tag", "").strip()
    tag = _tagged(given)
    if tag is None:
        filled.wrong("tag", "fault.tag", text=given[:40])
    elif tag == asked.language or tag in asked.translations:
        filled.wrong("tag", "fault.language", language=tag)
    elif len(asked.translations) >= LIMITS["languages"]:
        filled.wrong("tag", "fault.most", n=LIMITS["languages"])
    else:
        return replace(asked, translations={**asked.translations, tag: Translated()}), "languages"
    return asked, "languages"


# ---- into the form


def fields_of(asked: Questionnaire) -> dict[str, str]:
    """What stands in the fields of the form."""
    found = {
        name: str(getattr(asked, name)) for name in ("title", "who", "why", "language", "opens", "days", "windows")
    }
    found["people"] = "" if asked.people is None else str(asked.people)
    found["response"] = "" if asked.response is None else f"{100 * asked.response:.6g}"
    found["response"] += " %" if asked.response is not None and asked.response < _FEW else ""
    found["protection"] = f"{asked.protection:g}"
    for item in asked.questions:
        where = f"q.{item.name}"
        found |= {f"{where}.{name}": str(getattr(item, name)) for name in ("kind", "text", "unit", "points", "slots")}
        found[f"{where}.mechanism"] = item.mechanism
        found[f"{where}.most"] = str(item.most or "")
        found |= {f"{where}.{name}": "\n".join(getattr(item, name)) for name in ("options", "sensitive")}
        found |= {f"{where}.low_end": item.ends[0], f"{where}.high_end": item.ends[1]}
        found |= {f"{where}.{name}": _plain(getattr(item, name)) for name in ("low", "high")}
    for group in asked.groups:
        where = f"g.{group.name}"
        found |= {f"{where}.title": group.title, f"{where}.values": "\n".join(group.values)}
        found[f"{where}.shares"] = "\n".join(f"{100 * share:g}" for share in group.shares)
    return found


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:.12g}"


# ---- other languages


def translated(asked: Questionnaire, tag: str, filled: Filled) -> Questionnaire:
    """The questionnaire with the texts of another language that were filled in."""
    other = asked.translations[tag]
    questions = {
        item.name: _translated_item(item, other.questions.get(item.name, {}), filled) for item in asked.questions
    }
    groups = {}
    for group in asked.groups:
        told, where = other.groups.get(group.name, {}), f"g.{group.name}"
        values = filled.lines(f"{where}.values", tuple(told.get("values", ())), LIMITS["values"], 200)
        groups[group.name] = {"title": filled.text(f"{where}.title", told.get("title", ""), 200), "values": values}
    found = replace(
        other,
        title=filled.text("title", other.title, _LONGEST["title"]),
        why=filled.text("why", other.why, _LONGEST["why"], prose=True),
        questions=questions,
        groups=groups,
    )
    return replace(asked, translations={**asked.translations, tag: found})


def _translated_item(item: Item, told: Mapping[str, Any], filled: Filled) -> dict[str, Any]:
    where = f"q.{item.name}"
    found: dict[str, Any] = {"text": filled.text(f"{where}.text", told.get("text", ""), 10_000, prose=True)}
    if item.options and item.kind in LISTED:
        options = filled.lines(f"{where}.options", tuple(told.get("options", ())), LIMITS["options"])
        if options and len(options) != len(item.options):
            n = len(item.options)
            filled.wrong(f"{where}.options", "fault.options", low=n, high=n, n=len(options))
            options = tuple(told.get("options", ()))
        found["options"] = options
    if item.kind == "rating":
        ends = tuple(told.get("ends", ("", "")))
        names: Sequence[str] = ("low_end", "high_end")
        found["ends"] = tuple(filled.text(f"{where}.{name}", ends[i], 100) for i, name in enumerate(names))
    if item.kind == "number":
        found["unit"] = filled.text(f"{where}.unit", told.get("unit", ""), 40)
    return found


def language_fields(asked: Questionnaire, tag: str) -> dict[str, str]:
    """What stands in the fields of the form for another language."""
    other = asked.translations[tag]
    found = {"title": other.title, "why": other.why}
    joined: Callable[[Any], str] = "\n".join
    for item in asked.questions:
        told, where = other.questions.get(item.name, {}), f"q.{item.name}"
        ends = tuple(told.get("ends", ("", "")))
        found |= {f"{where}.text": told.get("text", ""), f"{where}.options": joined(told.get("options", ()))}
        found |= {f"{where}.low_end": ends[0], f"{where}.high_end": ends[1], f"{where}.unit": told.get("unit", "")}
    for group in asked.groups:
        told, where = other.groups.get(group.name, {}), f"g.{group.name}"
        found |= {f"{where}.title": told.get("title", ""), f"{where}.values": joined(told.get("values", ()))}
    return found
