"""Questionnaires of other tools: what can be asked is taken over, everything else is listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.run.numbers import Doubt, read_number
from deniable.service.questionnaire.document import LIMITS, TAG, Questionnaire, json_of, read
from deniable.service.questionnaire.sheets import sheets_of

__all__ = ["imported", "read_file"]

_BYTES = 5 << 20
_CHOICES = ("radiogroup", "dropdown", "buttongroup", "imagepicker")
_TICKED = ("checkbox", "tagbox")
_MOST_NESTED = 20
_ENDS = ("minRateDescription", "maxRateDescription")
_Say = Callable[[object], str]
"""A text of a file in one language."""


def read_file(path: str) -> tuple[Questionnaire, list[str]]:
    """The questionnaire in a file, of ours, of SurveyJS or of XLSForm, and what was not taken over, in words."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_BYTES + 1)
    except OSError as error:
        raise ParameterError(f"the file {path} cannot be read: {error.strerror or error}.") from None
    if len(data) > _BYTES:
        raise FormatError(f"{path} has more than {_BYTES:,} bytes.")
    return imported(data)


def imported(data: bytes) -> tuple[Questionnaire, list[str]]:
    """A questionnaire from the bytes of a file of any of the three kinds."""
    if len(data) > _BYTES:
        raise FormatError(f"the file has more than {_BYTES:,} bytes.")
    if data[:4] == b"PK\x03\x04":
        document, left = _xlsform(sheets_of(data))
        return read(document), left
    try:
        found = json_of(data)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, Mapping) and "questionnaire" not in found and {"pages", "elements", "questions"} & set(found):
        document, left = _surveyjs(found)
        return read(document), left
    return read(data), []


# ---- SurveyJS


def _surveyjs(found: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    language = str(found.get("locale") if isinstance(found.get("locale"), str) and found.get("locale") else "en")
    say, items, left = _first_of(language), list[dict[str, Any]](), list[str]()
    others = sorted({tag for each in _spoken(found) for tag in each} - {"default", language})
    left += [f"the language {tag:.40}" for tag in others if not TAG.fullmatch(tag)]
    left += _under_default(found, language)
    spoken = [(tag, f"the language {tag}") for tag in others if TAG.fullmatch(tag)]
    told = {tag: _Told(_only(tag)) for tag in _others(spoken, language, left)}
    for element in _elements(found, 0):
        named = str(element.get("name") or element.get("title") or element.get("type"))[:60]
        for logic in ("visibleIf", "enableIf", "requiredIf"):
            if element.get(logic):
                left.append(f"{named}: the condition {logic}")
        item = _element(element, say)
        if item is None:
            left.append(f"{named}: questions of the type {element.get('type')!s:.30}")
            continue
        items.append(item | {"name": f"q{len(items) + 1}"})
        for other in told.values():
            other.keep(items[-1]["name"], _element(element, other.say) or {})
    translations = {tag: other.document(other.say(found.get("title"))) for tag, other in told.items()}
    return _document(say(found.get("title")), language, items, translations, left), left


def _document(
    title: str, language: str, items: list[dict[str, Any]], translations: Mapping[str, Any], left: list[str]
) -> dict[str, Any]:
    """A questionnaire of ours, with as many questions as it may have; those beyond are listed."""
    left += [f"{item['text'][:60]}: more than {LIMITS['questions']} questions" for item in items[LIMITS["questions"] :]]
    kept = {item["name"] for item in items[: LIMITS["questions"]]}
    own = {
        tag: told | {"questions": {name: texts for name, texts in told["questions"].items() if name in kept}}
        for tag, told in translations.items()
    }
    head = {"questionnaire": 1, "title": title[:200], "language": language, "translations": own}
    return head | {"questions": items[: LIMITS["questions"]]}


def _others(spoken: Iterable[tuple[str, str]], language: str, left: list[str]) -> dict[str, str]:
    """Where texts in other languages are, by their tags: each language once, and as many as there may be.

    The others are listed. So is the language of the questionnaire itself: it is not a translation of itself.
    """
    found, known = dict[str, str](), {language.lower()}
    for tag, where in spoken:
        if tag.lower() in known:
            left.append(f"{where:.80}: the language is there twice")
        elif len(found) == LIMITS["languages"]:
            left.append(f"{where:.80}: more than {LIMITS['languages']} other languages")
        else:
            found[tag] = where
            known.add(tag.lower())
    return found


class _Told:
    """The texts of questions in another language, as far as the file has them."""

    def __init__(self, say: _Say) -> None:
        self.say, self._questions = say, dict[str, dict[str, Any]]()

    def keep(self, name: str, item: Mapping[str, Any]) -> None:
        """The texts of a question; a list of them only if it is whole."""
        own = {part: item[part] for part in ("text", "options", "ends") if item.get(part)}
        self._questions[name] = {part: text for part, text in own.items() if isinstance(text, str) or all(text)}

    def document(self, title: str) -> dict[str, Any]:
        """As a questionnaire of ours has them."""
        return {"title": title[:200], "questions": self._questions}


def _first_of(language: str) -> _Say:
    """Says a text in the language of a questionnaire, else in any."""
    return lambda given: _localised(given, language)


def _only(tag: str) -> _Say:
    """Says a text in another language, or nothing; a text that is the same in all languages is itself."""

    return lambda given: _text_of(given.get(tag) if isinstance(given, Mapping) else given)


def _under_default(found: Mapping[str, Any], language: str) -> list[str]:
    """That texts in no named language are not taken over, since there are others in that of the questionnaire."""
    for text in _spoken(found):
        plain, own = _text_of(text.get("default")), _text_of(text.get(language))
        if plain and own and plain != own:
            return [f"texts under default that are others in {language}, such as “{plain[:60]}”"]
    return []


def _spoken(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All texts of a survey that it has in several languages."""
    elements = list(_elements(found, 0))
    listed = (each.get("choices") for each in elements)
    choices = [one for each in listed if isinstance(each, list) for one in each if isinstance(one, Mapping)]
    texts = [each.get(name) for each in (found, *elements) for name in ("title", *_ENDS)]
    for text in (*texts, *(choice.get("text") for choice in choices)):
        if isinstance(text, Mapping):
            yield text


def _elements(part: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """All questions of pages and panels, in their order."""
    if depth > _MOST_NESTED:
        raise FormatError("panels are nested too deeply.")
    for name in ("pages", "elements", "questions"):
        inner = part.get(name)
        for each in inner if isinstance(inner, list) else ():
            if not isinstance(each, Mapping):
                continue
            if name == "pages" or each.get("type") == "panel":
                yield from _elements(each, depth + 1)
            else:
                yield each


def _element(element: Mapping[str, Any], say: _Say) -> dict[str, Any] | None:
    """A question of ours, or None if it cannot be asked."""
    kind = element.get("type")
    common: dict[str, Any] = {"text": _called(element.get("title"), say, element.get("name") or "")[:10_000]}
    other = bool(element.get("hasOther") or element.get("showOtherItem"))
    choices = element.get("choices")
    options = [_choice(each, say) for each in choices] if isinstance(choices, list) else []
    if kind in _CHOICES and options:
        return common | {"kind": "one", "options": options[: LIMITS["options"]], "other": other}
    if kind in _TICKED and options:
        most = element.get("maxSelectedChoices")
        ticks: dict[str, Any] = {"kind": "several", "options": options[: LIMITS["options"]], "other": other}
        if isinstance(most, int) and not isinstance(most, bool) and 0 < most < len(options) + other:
            ticks["most"] = min(most, LIMITS["ticks"])
        return common | ticks
    if kind == "boolean":
        return common | {"kind": "yes-no"}
    if kind == "rating":
        return _rating(element, common, say)
    if kind == "text" and element.get("inputType") in ("number", "range"):
        low, high = element.get("min"), element.get("max")
        if _is_number(low) and _is_number(high):
            return common | {"kind": "number", "low": low, "high": high, "unit": ""}
        return None
    if kind == "text" and element.get("inputType") == "time":
        return common | {"kind": "time"}
    return None


def _rating(element: Mapping[str, Any], common: dict[str, Any], say: _Say) -> dict[str, Any] | None:
    low, high = element.get("rateMin", 1), element.get("rateMax", 5)
    values = element.get("rateValues")
    points = len(values) if isinstance(values, list) and values else element.get("rateCount")
    if points is None and isinstance(low, int) and isinstance(high, int):
        points = high - low + 1
    if not isinstance(points, int) or not 2 <= points <= 11:
        return None
    ends = [say(element.get(name))[:100] for name in _ENDS]
    return common | {"kind": "rating", "points": points, "ends": ends}


def _choice(given: object, say: _Say) -> str:
    if isinstance(given, Mapping):
        return _called(given.get("text"), say, given.get("value", ""))[:1000]
    return str(given)[:1000]


def _called(given: object, say: _Say, name: object) -> str:
    """A text, or the name of what has none in any language."""
    return say(given) if _localised(given, "") else str(name)


def _localised(given: object, language: str) -> str:
    """A text, or the one of its language where there are several, else the first that there is."""
    if not isinstance(given, Mapping):
        return _text_of(given)
    texts = (_text_of(each) for each in (given.get(language), given.get("default"), *given.values()))
    return next((text for text in texts if text), "")


def _text_of(given: object) -> str:
    """A text, or a number as one; empty for anything else."""
    fits = isinstance(given, str | int | float) and not isinstance(given, bool)
    return str(given).strip() if fits else ""


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e12


# ---- XLSForm

_BOUND = re.compile(r"\.\s*(>=?|<=?)\s*(-?[\d.,]+)")


_COUNTED = re.compile(r"count-selected\(\s*\.\s*\)\s*(<=?)\s*(\d{1,2})\b")
"""How many may be ticked."""


def _xlsform(sheets: Mapping[str, Sequence[Mapping[str, str]]]) -> tuple[dict[str, Any], list[str]]:
    if "survey" not in sheets:
        raise FormatError("the workbook has no sheet named survey.", "XLSForm has the sheets survey and choices.")
    settings = (sheets.get("settings") or [{}])[0]
    label, language = _label_of(sheets["survey"], settings.get("default_language", ""))
    choices = sheets.get("choices", ())
    lists = _lists(choices, lambda row: row.get(label) or row.get("label") or row.get("name", ""))
    items, left = list[dict[str, Any]](), list[str]()
    others = _others(_other_labels(sheets["survey"], label, left), language, left)
    columns = {tag: where.removeprefix(_WHERE) for tag, where in others.items()}
    told = {tag: (column, _lists(choices, _column(column)), _Told(_only(tag))) for tag, column in columns.items()}
    for row in sheets["survey"]:
        kind = row.get("type", "").strip()
        if not kind or kind in ("begin_group", "end_group", "begin group", "end group", "note", *_META):
            continue
        named = row.get("name") or row.get(label, "")
        if row.get("relevant"):
            left.append(f"{named}: the condition relevant")
        item = _row(kind, row, lists)
        if item is None:
            left.append(f"{named}: questions of the type {kind:.30}")
        else:
            items.append(item | {"name": f"q{len(items) + 1}", "text": (row.get(label) or named)[:10_000]})
            for column, options, other in told.values():
                own = _row(kind, row, options) or {}
                other.keep(items[-1]["name"], own | {"text": row.get(column, "")[:10_000]})
    translations = {tag: other.document("") for tag, (_, _, other) in told.items()}
    return _document(settings.get("form_title", ""), language, items, translations, left), left


def _lists(rows: Sequence[Mapping[str, str]], text_of: Callable[[Mapping[str, str]], str]) -> dict[str, list[str]]:
    """The answers of each list of choices, in one language."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.get("list_name") or row.get("list name") or "", []).append(text_of(row))
    return found


def _column(name: str) -> Callable[[Mapping[str, str]], str]:
    return lambda row: row.get(name, "")


_WHERE = "the column "


def _other_labels(rows: Sequence[Mapping[str, str]], label: str, left: list[str]) -> Iterator[tuple[str, str]]:
    """The columns of texts in other languages, with their tags; one without a tag is listed."""
    for head in rows[0] if rows else ():
        if head != label and head.startswith("label:"):
            tag = _tag_in(head)
            if tag is None:
                left.append(f"{_WHERE}{head:.60}: it has no tag of a language, such as (fr)")
            else:
                yield tag, f"{_WHERE}{head}"


_META = ("start", "end", "today", "deviceid", "subscriberid", "simserial", "phonenumber", "username", "calculate")
"""What is collected without being asked; it is not collected here."""


def _label_of(rows: Sequence[Mapping[str, str]], usual: str) -> tuple[str, str]:
    """The column of texts, and its language: `label`, or the first one such as `label::Deutsch (de)`."""
    heads = list(rows[0]) if rows else []
    found = next((head for head in heads if head == "label"), None) or next(
        (head for head in heads if head.startswith("label:")), "label"
    )
    return found, _tag_in(usual if found == "label" else found) or "en"


def _tag_in(head: str) -> str | None:
    """The tag of a language in the head of a column."""
    told = re.search(r"\(([A-Za-z0-9-]+)\)\s*$", head)
    return told[1] if told and TAG.fullmatch(told[1]) else None


def _row(kind: str, row: Mapping[str, str], lists: Mapping[str, list[str]]) -> dict[str, Any] | None:
    word, _, rest = kind.partition(" ")
    options = lists.get(rest.replace("or_other", "").strip(), [])
    if word == "select_one" and options:
        return {"kind": "one", "options": options, "other": rest.endswith("or_other")}
    if word == "select_multiple" and options:
        most = _COUNTED.search(row.get("constraint", ""))
        other = rest.endswith("or_other")
        number = int(most[2]) - (most[1] == "<") if most else 0
        fits = 0 < number < len(options) + other
        return {"kind": "several", "options": options, "other": other} | ({"most": number} if fits else {})
    if word in ("integer", "decimal"):
        ends = _bounds(row.get("constraint", ""))
        return None if ends is None else {"kind": "number", "low": ends[0], "high": ends[1], "unit": ""}
    if word == "range":
        told = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get("parameters", "")))
        low, high = _plain(told.get("start", "")), _plain(told.get("end", ""))
        return None if low is None or high is None else {"kind": "number", "low": low, "high": high, "unit": ""}
    return {"kind": "time"} if word == "time" else None


def _bounds(constraint: str) -> tuple[float, float] | None:
    """The lowest and the highest number that a constraint such as `. >= 0 and . <= 24` allows."""
    found: dict[str, float] = {}
    for sign, text in _BOUND.findall(constraint):
        number = _plain(text)
        if number is not None:
            found["low" if sign.startswith(">") else "high"] = number
    return (found["low"], found["high"]) if len(found) == 2 else None


def _plain(text: str) -> float | None:
    try:
        found = read_number(text)
    except DeniableError:
        return None
    return None if isinstance(found, Doubt) else found
