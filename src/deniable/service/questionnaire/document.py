"""The questionnaire as a document: JSON that is read by an allow-list, and written again as it was.

A draft may lack things; `problems` of the module `complete` says what keeps it from being opened. What is not a
questionnaire at all is refused here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from typing import Any

from deniable.errors import FormatError, ParameterError, meant, show

__all__ = [
    "KINDS",
    "LEAST_PROTECTION",
    "LEAST_SHARE",
    "LIMITS",
    "TAG",
    "Group",
    "Item",
    "Questionnaire",
    "Translated",
    "dumped",
    "json_of",
    "read",
    "written",
]

VERSION = 1
KINDS = ("yes-no", "one", "several", "rating", "ordered", "number", "time")
"""What can be asked."""
LEAST_PROTECTION = 0.01
"""The smallest number that protection can be: what would need a smaller one cannot be asked."""
LEAST_SHARE = 1e-6
"""The smallest part of the people that a group, or those who answer, can be."""
LIMITS = {
    "bytes": 1 << 20,
    "questions": 255,
    "options": 4096,
    "ticks": 64,
    "groups": 8,
    "blocks": 32,
    "block": 6,
    "values": 254,
    "languages": 40,
    "mechanism": 40,
}
_TEXTS = {"title": 200, "who": 200, "why": 1000, "text": 10_000, "unit": 40, "option": 1000, "end": 100, "value": 200}
_NAME = re.compile("[a-z0-9_-]{1,64}")
TAG = re.compile("(?=.{2,35}$)[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
"""What the tag of a language looks like."""
WORDS = ("yes", "no", "skip", "other")
"""Answers that a questionnaire need not spell out where the catalogue has their words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question."""

    name: str
    kind: str = "one"
    text: str = ""
    options: tuple[str, ...] = ()
    other: bool = False
    """Whether there is an answer for what is not listed, before the last one."""
    most: int = 0
    """How many of several answers a person may tick; 0: any number."""
    skip: bool = True
    """Whether "I prefer not to say" is an answer of its own."""
    sensitive: tuple[str, ...] = ()
    """Answers that must never be disclosed, if not all of them are; the others may be named openly."""
    points: int = 5
    """Of a rating."""
    ends: tuple[str, str] = ("", "")
    low: float | None = None
    high: float | None = None
    unit: str = ""
    slots: int = 24
    """Of a day."""
    weight: float = 1.0
    """How much its error counts."""
    mechanism: str = ""
    """The mechanism that asks it, by its name; the best one if left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A public grouping: it is sent openly with a report."""

    name: str
    title: str = ""
    values: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    """How the people are spread over the values; equally if left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """The texts in another language, by the names of questions and groups."""

    title: str = ""
    why: str = ""
    questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """What is asked, of whom, when, and under which protection."""

    title: str = ""
    who: str = ""
    why: str = ""
    language: str = "en"
    questions: tuple[Item, ...] = ()
    translations: Mapping[str, Translated] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    """Yes, no, "I prefer not to say" and "something else" in the language, where the catalogue has no words for it."""
    groups: tuple[Group, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    """Questions that are asked together, by their names: each two of a block get a table of two."""
    opens: str = ""
    """The first day; the day of opening if left out."""
    days: int = 7
    windows: int = 1
    people: int | None = None
    """Those who are invited in each window, or the answers that are expected, if no response is given."""
    response: float | None = None
    """The share of the invited who will answer."""
    protection: float = 1.0
    """The epsilon of one report."""
    later: int | None = None
    """Further surveys of this size that the same people are to be asked within a year; one, if it fits."""
    public: bool = False
    """Whether everybody may read the results."""

    def item(self, name: str) -> Item:
        """A question by its name."""
        found = next((item for item in self.questions if item.name == name), None)
        if found is None:
            raise ParameterError(f"there is no question {name!r} in this questionnaire.")
        return found

    def asking(self, names: Iterable[str]) -> Questionnaire:
        """The same with some of its questions only, by their names; what is not asked is in no block."""
        kept = set(names)
        blocks = (tuple(name for name in block if name in kept) for block in self.together)
        items = tuple(item for item in self.questions if item.name in kept)
        return replace(self, questions=items, together=tuple(block for block in blocks if len(block) > 1))


# ---- reading


def read(source: str | bytes | Mapping[str, Any]) -> Questionnaire:
    """A questionnaire; `FormatError` for what is not one, by the name of the field."""
    document = _parsed(source) if not isinstance(source, Mapping) else source
    known = ("questionnaire", *(each.name for each in fields(Questionnaire)))
    _allowed(document, known, "a questionnaire")
    if document.get("questionnaire") != VERSION:
        hint = 'It begins with "questionnaire": 1; `deniable task questionnaire` takes other tools\' files.'
        raise FormatError(f"this is no questionnaire of version {VERSION}.", hint)
    listed = _list(document.get("questions", []), "questions", LIMITS["questions"])
    items = tuple(_item(each, f"q{number}", f"questions[{number}]") for number, each in enumerate(listed, start=1))
    groups = tuple(_group(each, f"g{i}") for i, each in enumerate(_list(document.get("groups", []), "groups", 8), 1))
    for names, what in (([item.name for item in items], "questions"), ([group.name for group in groups], "groups")):
        _need(len(set(names)) == len(names), f"names of {what}", "different", names)
    opens = document.get("opens") or ""
    return Questionnaire(
        **{name: _text(document.get(name, ""), name) for name in ("title", "who", "why")},
        language=_tag(document.get("language", "en"), "language"),
        questions=items,
        groups=groups,
        together=_blocks(document.get("together", []), [item.name for item in items]),
        translations=_translations(document.get("translations", {})),
        words=_words(document.get("words", {}), "words"),
        opens=_day(opens) if opens else "",
        days=_whole(document.get("days", 7), "days", 1, 3660),
        windows=_whole(document.get("windows", 1), "windows", 1, 10_000),
        people=_some(document, "people", lambda given: _whole(given, "people", 1, 10**10)),
        response=_some(document, "response", lambda given: _number(given, "response", LEAST_SHARE, 1.0)),
        protection=_number(document.get("protection", 1.0), "protection", LEAST_PROTECTION, 8.0),
        later=_some(document, "later", lambda given: _whole(given, "later", 0, 100)),
        public=_flag(document.get("public", False), "public"),
    )


def json_of(source: str | bytes) -> Any:
    """What a JSON document says; `ValueError` also for half a character ("\\ud800"), which no page or file can have."""
    found = json.loads(source)
    json.dumps(found, ensure_ascii=False).encode()
    return found


def _parsed(source: str | bytes) -> Mapping[str, Any]:
    _fits(len(source))
    try:
        found = json_of(source)
    except (ValueError, RecursionError) as error:
        told = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"is not JSON: {error}"
        raise FormatError(f"the file {told}.", "A questionnaire is a JSON document.") from None
    if not isinstance(found, Mapping):
        raise FormatError("a questionnaire is a JSON object.", 'It begins with {"questionnaire": 1, ...')
    return found


def _fits(size: int) -> None:
    if size > LIMITS["bytes"]:
        hint = "Shorten its texts, or ask in fewer languages."
        raise FormatError(f"a questionnaire has at most {LIMITS['bytes']:,} bytes, this has {size:,}.", hint)


def _item(given: object, usual: str, where: str) -> Item:
    told = _allowed(given, [each.name for each in fields(Item)], where)
    kind = told.get("kind", "one")
    _need(isinstance(kind, str) and kind in KINDS, f"kind of {where}", f"one of {', '.join(KINDS)}", kind)
    ends = _list(told.get("ends", ["", ""]), f"ends of {where}", 2)
    _need(len(ends) == 2, f"ends of {where}", "two texts", ends)
    return Item(
        name=_named(told.get("name", usual), f"name of {where}"),
        kind=kind,
        text=_text(told.get("text", ""), f"text of {where}", _TEXTS["text"], prose=True),
        options=_texts(told.get("options", []), f"options of {where}", LIMITS["options"], _TEXTS["option"]),
        other=_flag(told.get("other", False), f"other of {where}"),
        most=_whole(told.get("most", 0), f"most of {where}", 0, LIMITS["ticks"]),
        skip=_flag(told.get("skip", True), f"skip of {where}"),
        sensitive=_texts(told.get("sensitive", []), f"sensitive of {where}", LIMITS["options"], _TEXTS["option"]),
        points=_whole(told.get("points", 5), f"points of {where}", 2, 11),
        ends=(_text(ends[0], f"ends of {where}", _TEXTS["end"]), _text(ends[1], f"ends of {where}", _TEXTS["end"])),
        low=_some(told, "low", lambda x: _number(x, f"low of {where}", -1e12, 1e12)),
        high=_some(told, "high", lambda x: _number(x, f"high of {where}", -1e12, 1e12)),
        unit=_text(told.get("unit", ""), f"unit of {where}", _TEXTS["unit"]),
        slots=_whole(told.get("slots", 24), f"slots of {where}", 2, 48),
        weight=_number(told.get("weight", 1.0), f"weight of {where}", 0.01, 100.0),
        mechanism=_text(told.get("mechanism", ""), f"mechanism of {where}", LIMITS["mechanism"]),
    )


def _group(given: object, usual: str) -> Group:
    told = _allowed(given, [each.name for each in fields(Group)], "a group")
    values = _texts(told.get("values", []), "values of a group", LIMITS["values"], _TEXTS["value"])
    shares = _list(told.get("shares", []), "shares of a group", LIMITS["values"])
    _need(len(shares) in (0, len(values)), "shares of a group", "one for each value, or left out", shares)
    return Group(
        name=_named(told.get("name", usual), "name of a group"),
        title=_text(told.get("title", ""), "title of a group", _TEXTS["value"]),
        values=values,
        shares=tuple(_number(share, "share of a group", LEAST_SHARE, 1.0) for share in shares),
    )


def _blocks(given: object, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Questions that are asked together, by their names; which of them can be, is for `problems` to say."""
    found = []
    for block in _list(given, "together", LIMITS["blocks"]):
        listed = _list(block, "a block of together", LIMITS["questions"])
        for name in listed:
            _need(name in names, "a name in together", f"one of the questions {', '.join(names)}", name)
        _need(len(set(listed)) == len(listed), "names in a block of together", "different", listed)
        found.append(tuple(listed))
    return tuple(found)


def _translations(given: object) -> Mapping[str, Translated]:
    _need(isinstance(given, Mapping) and len(given) <= LIMITS["languages"], "translations", "texts by language", given)
    found = {}
    for tag, texts in given.items():  # type: ignore[attr-defined]  # it is a mapping
        where = f"translation {_tag(tag, 'a translation')}"
        told = _allowed(texts, [each.name for each in fields(Translated)], where)
        found[tag] = Translated(
            title=_text(told.get("title", ""), f"title of {where}", _TEXTS["title"]),
            why=_text(told.get("why", ""), f"why of {where}", _TEXTS["why"], prose=True),
            questions=_by_name(told.get("questions", {}), ("text", "options", "ends", "unit"), where),
            groups=_by_name(told.get("groups", {}), ("title", "values"), where),
            words=_words(told.get("words", {}), f"words of {where}"),
        )
    return found


def _by_name(given: object, known: Sequence[str], where: str) -> Mapping[str, Mapping[str, Any]]:
    """Texts of questions or groups in another language, by their names."""
    need = 'texts by the names of questions or groups, such as {"copied": {"text": ".."}}'
    _need(isinstance(given, Mapping) and len(given) <= LIMITS["questions"], where, need, given)
    found: dict[str, Mapping[str, Any]] = {}
    for name, texts in given.items():  # type: ignore[attr-defined]  # it is a mapping
        told = _allowed(texts, known, f"{_named(name, where)} in the {where}")
        found[name] = {
            part: _text(text, f"{part} of {name}", _TEXTS["text"], prose=True)
            if part in ("text", "unit", "title")
            else _texts(text, f"{part} of {name}", LIMITS["options"], _TEXTS["option"])
            for part, text in told.items()
        }
    return found


def _words(given: object, where: str) -> Mapping[str, str]:
    return {name: _text(text, f"{where}.{name}", 100) for name, text in _allowed(given, WORDS, where).items()}


# ---- parts


def _allowed(given: object, known: Sequence[str], where: str) -> Mapping[str, Any]:
    _need(isinstance(given, Mapping), where, "an object with fields", given)
    odd = [name for name in given if name not in known]  # type: ignore[attr-defined]  # it is a mapping
    if odd:
        hint = meant(odd[0], known) if isinstance(odd[0], str) else ""
        raise FormatError(f"{where} has no field {show(odd[0])}; it has {', '.join(known)}.", hint)
    return given  # type: ignore[return-value]  # it is a mapping


def _some(given: Mapping[str, Any], name: str, reading: Any) -> Any:
    return None if given.get(name) is None else reading(given[name])


def _text(given: object, where: str, most: int | None = None, *, prose: bool = False) -> str:
    longest = _TEXTS[where] if most is None else most
    _need(isinstance(given, str) and len(given) <= longest, where, f"a text of at most {longest:,} characters", given)
    text = str(given).replace("\r\n", "\n").replace("\r", "\n").strip()
    return text if prose or where == "why" else " ".join(text.split())


def _texts(given: object, where: str, most: int, longest: int) -> tuple[str, ...]:
    return tuple(_text(each, where, longest) for each in _list(given, where, most))


def _list(given: object, where: str, most: int) -> Sequence[Any]:
    fits = isinstance(given, list | tuple) and len(given) <= most
    _need(fits, where, f"a list of at most {most:,}", given)
    return given  # type: ignore[return-value]  # it is a list


def _whole(given: object, where: str, least: int, most: int) -> int:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and given == given // 1
    _need(fits and least <= given <= most, where, f"a whole number from {least:,} to {most:,}", given)  # type: ignore[operator]
    return int(given)  # type: ignore[call-overload,no-any-return]  # it is a number


def _number(given: object, where: str, least: float, most: float) -> float:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    _need(fits and least <= given <= most, where, f"a number from {least:g} to {most:g}", given)  # type: ignore[operator]
    return float(given)  # type: ignore[arg-type]  # it is a number


def _flag(given: object, where: str) -> bool:
    _need(isinstance(given, bool), where, "true or false", given)
    return bool(given)


def _named(given: object, where: str) -> str:
    fits = isinstance(given, str) and _NAME.fullmatch(given) is not None
    _need(fits, where, "1 to 64 small letters, digits, - or _", given)
    return str(given)


def _tag(given: object, where: str) -> str:
    fits = isinstance(given, str) and TAG.fullmatch(given) is not None
    _need(fits, where, "a language tag such as en or pt-BR", given)
    return str(given)


def _day(given: object) -> str:
    need = "a day such as 2026-12-01"
    _need(
        isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", str(given), re.ASCII) is not None,
        "opens",
        need,
        given,
    )
    try:
        return date.fromisoformat(str(given)).isoformat()
    except ValueError:
        raise FormatError(f"opens must be {need}, got {show(given)}.") from None


def _need(ok: bool, where: str, need: str, got: object) -> None:
    if not ok:
        raise FormatError(f"{where} must be {need}, got {show(got)}.")


# ---- writing


def written(asked: Questionnaire) -> dict[str, Any]:
    """A questionnaire as plain data; what is as usual is left out."""
    plain = asdict(asked)
    plain["questions"] = [_short(item, Item(name=item["name"])) for item in plain["questions"]]
    plain["groups"] = [_short(group, Group(name=group["name"])) for group in plain["groups"]]
    plain["together"] = [list(block) for block in asked.together]
    plain["translations"] = {tag: _short(texts, Translated()) for tag, texts in plain["translations"].items()}
    usual = Questionnaire()
    return {"questionnaire": VERSION} | {
        name: part
        for name, part in plain.items()
        if name == "language" or part not in (_plain(getattr(usual, name)), [])
    }


def dumped(asked: Questionnaire) -> bytes:
    """A questionnaire as a file; `FormatError` if it is too long to be read again."""
    file = (json.dumps(written(asked), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    _fits(len(file))
    return file


def _short(given: Mapping[str, Any], usual: Any) -> dict[str, Any]:
    kept = ("name", "kind", "text")
    return {
        name: _plain(part)
        for name, part in given.items()
        if name in kept or _plain(part) != _plain(getattr(usual, name))
    }


def _plain(part: Any) -> Any:
    """Tuples as JSON has them."""
    if isinstance(part, Mapping):
        return {name: _plain(inner) for name, inner in part.items()}
    return [_plain(inner) for inner in part] if isinstance(part, tuple | list) else part
