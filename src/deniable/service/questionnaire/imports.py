"""Questionnaires of other tools: what can be asked is taken over, everything else is listed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.run.numbers import Doubt, read_number
from deniable.service.questionnaire.document import LIMITS, Questionnaire, read
from deniable.service.questionnaire.sheets import sheets_of

__all__ = ["imported", "read_file"]

_BYTES = 5 << 20
_CHOICES = ("radiogroup", "dropdown", "buttongroup", "imagepicker")
_TICKED = ("checkbox", "tagbox")
_MOST_NESTED = 20


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
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, Mapping) and "questionnaire" not in found and {"pages", "elements", "questions"} & set(found):
        document, left = _surveyjs(found)
        return read(document), left
    return read(data), []


# ---- SurveyJS


def _surveyjs(found: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    language = found.get("locale") if isinstance(found.get("locale"), str) and found.get("locale") else "en"
    items: list[dict[str, Any]] = []
    left: list[str] = []
    for element in _elements(found, 0):
        named = str(element.get("name") or element.get("title") or element.get("type"))[:60]
        for logic in ("visibleIf", "enableIf", "requiredIf"):
            if element.get(logic):
                left.append(f"{named}: the condition {logic}")
        item = _element(element, str(language))
        if item is None:
            left.append(f"{named}: questions of the type {element.get('type')!s:.30}")
        else:
            items.append(item | {"name": f"q{len(items) + 1}"})
    title = _localised(found.get("title"), str(language))
    document = {"questionnaire": 1, "title": title[:200], "language": str(language), "questions": items[:255]}
    return document, left


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


def _element(element: Mapping[str, Any], language: str) -> dict[str, Any] | None:
    """A question of ours, or None if it cannot be asked."""
    kind = element.get("type")
    text = _localised(element.get("title"), language) or str(element.get("name") or "")
    common: dict[str, Any] = {"text": text[:10_000]}
    other = bool(element.get("hasOther") or element.get("showOtherItem"))
    choices = element.get("choices")
    options = [_choice(each, language) for each in choices] if isinstance(choices, list) else []
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
        return _rating(element, common, language)
    if kind == "text" and element.get("inputType") in ("number", "range"):
        low, high = element.get("min"), element.get("max")
        if _is_number(low) and _is_number(high):
            return common | {"kind": "number", "low": low, "high": high, "unit": ""}
        return None
    if kind == "text" and element.get("inputType") == "time":
        return common | {"kind": "time"}
    return None


def _rating(element: Mapping[str, Any], common: dict[str, Any], language: str) -> dict[str, Any] | None:
    low, high = element.get("rateMin", 1), element.get("rateMax", 5)
    values = element.get("rateValues")
    points = len(values) if isinstance(values, list) and values else element.get("rateCount")
    if points is None and isinstance(low, int) and isinstance(high, int):
        points = high - low + 1
    if not isinstance(points, int) or not 2 <= points <= 11:
        return None
    ends = [_localised(element.get(name), language)[:100] for name in ("minRateDescription", "maxRateDescription")]
    return common | {"kind": "rating", "points": points, "ends": ends}


def _choice(given: object, language: str) -> str:
    if isinstance(given, Mapping):
        return (_localised(given.get("text"), language) or str(given.get("value", "")))[:1000]
    return str(given)[:1000]


def _localised(given: object, language: str) -> str:
    """A text, or the one of its language where there are several."""
    if isinstance(given, Mapping):
        found = given.get(language) or given.get("default") or next(iter(given.values()), "")
        return found if isinstance(found, str) else ""
    return given if isinstance(given, str) else ""


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e12


# ---- XLSForm

_BOUND = re.compile(r"\.\s*(>=?|<=?)\s*(-?[\d.,]+)")


_COUNTED = re.compile(r"count-selected\(\s*\.\s*\)\s*(<=?)\s*(\d{1,2})\b")
"""How many may be ticked."""


def _xlsform(sheets: Mapping[str, Sequence[Mapping[str, str]]]) -> tuple[dict[str, Any], list[str]]:
    if "survey" not in sheets:
        raise FormatError("the workbook has no sheet named survey.", "XLSForm has the sheets survey and choices.")
    label, language = _label_of(sheets["survey"])
    lists: dict[str, list[str]] = {}
    for row in sheets.get("choices", ()):
        name = row.get("list_name") or row.get("list name") or ""
        lists.setdefault(name, []).append(row.get(label) or row.get("label") or row.get("name", ""))
    items: list[dict[str, Any]] = []
    left: list[str] = []
    for row in sheets["survey"]:
        kind = row.get("type", "").strip()
        if not kind or kind in ("begin_group", "end_group", "begin group", "end group", "note", *_META):
            continue
        named = row.get("name") or row.get(label, "")
        if row.get("relevant"):
            left.append(f"{named}: the condition relevant")
        item = _row(kind, row, label, lists)
        if item is None:
            left.append(f"{named}: questions of the type {kind:.30}")
        else:
            items.append(item | {"name": f"q{len(items) + 1}", "text": (row.get(label) or named)[:10_000]})
    settings = (sheets.get("settings") or [{}])[0]
    title = settings.get("form_title", "")[:200]
    return {"questionnaire": 1, "title": title, "language": language, "questions": items[:255]}, left


_META = ("start", "end", "today", "deviceid", "subscriberid", "simserial", "phonenumber", "username", "calculate")
"""What is collected without being asked; it is not collected here."""


def _label_of(rows: Sequence[Mapping[str, str]]) -> tuple[str, str]:
    """The column of texts, and its language: the first one, such as `label::Deutsch (de)`."""
    heads = list(rows[0]) if rows else []
    found = next((head for head in heads if head == "label"), None) or next(
        (head for head in heads if head.startswith("label:")), "label"
    )
    tag = re.search(r"\(([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)\)\s*$", found)
    return found, tag[1] if tag else "en"


def _row(kind: str, row: Mapping[str, str], label: str, lists: Mapping[str, list[str]]) -> dict[str, Any] | None:
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
