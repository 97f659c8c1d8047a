"""From a person's value to the number of an answer, as the domain of a design says."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from deniable_client.documents import fields_of, is_list, is_number, is_whole
from deniable_client.errors import FormatError, ParameterError, show
from deniable_client.kernels.box import OPTIONS_MAX, number_of, sets_up_to
from deniable_client.texts import labels_fault

__all__ = ["Domain", "read_domain"]

_ANSWERS_MAX = 1 << 32
_POINTS_MAX = 1 << 30
_DIRECTIONS_MAX = 1 << 20
_CHOICES = ("missing", "other")

Reader = Callable[[object], int]


@dataclass(frozen=True, slots=True)
class Domain:
    """How values are read: labels are looked up, numbers rounded to the nearest point, else they are answers' numbers.

    >>> read_domain({"interval": [0, 1], "points": 4, "layout": "midpoints", "clip": False}, 4).index(0.6)
    2
    """

    answers: int
    index: Reader
    """The number of the answer that a value is; `ParameterError` for one that is none."""
    labels: tuple[str, ...] | None = None
    missing: str | None = None
    """The label that no value (None, an empty text, not a number) counts as."""
    other: str | None = None
    """The label that a value which is none of the labels counts as."""
    options: tuple[str, ...] | None = None
    """What may be ticked, where an answer is a list of options: their labels, or their numbers as texts."""
    border: Callable[[int], float] | None = None
    """Where the numbers of an answer begin, in an interval; for one answer more than there are, where the last end."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """What people read: the labels of answers, or those of the options that they may tick."""
        return self.labels if self.options is None else self.options


def read_domain(document: object, answers: int) -> Domain:
    """The domain of a design whose kernel has so many answers; `FormatError` where it is another, or none at all."""
    given = document if isinstance(document, Mapping) else {}
    form = next((form for form in _FORMS if form in given), "k")
    made = _FORMS[form](document)
    if made.answers != answers:
        raise FormatError(f"the kernel is for {answers} values, the domain has another number of them.")
    return made


def _number_reader(count: int) -> Reader:
    def number(value: object) -> int:
        if isinstance(value, float) or not is_whole(value, 0, count - 1):
            raise ParameterError(f"value must be an integer from 0 to {count - 1}, got {show(value)}.")
        return value  # type: ignore[return-value]  # it is a whole number

    return number


def _count(document: object) -> Domain:
    count = fields_of(document, "the domain", ("k",))["k"]
    _need(is_whole(count, 2, _ANSWERS_MAX), "k", count, f"a whole number from 2 to {_ANSWERS_MAX}")
    return Domain(int(count), _number_reader(int(count)))


def _listed(document: object) -> Domain:
    return _labelled(fields_of(document, "the domain", ("labels",), _CHOICES))


def _labelled(given: Mapping[str, Any]) -> Domain:
    labels = given["labels"]
    texts = is_list(labels) and len(labels) >= 2 and all(isinstance(label, str) for label in labels)
    _need(texts, "labels", labels, "at least two texts")
    index = {label: i for i, label in enumerate(labels)}
    wrong = labels_fault(labels)
    if wrong:
        raise FormatError(f"labels of the design's domain must be texts that people can see and tell apart: {wrong}.")
    for name in _CHOICES:
        choice = given.get(name, labels[0])
        _need(isinstance(choice, str) and choice in index, name, choice, "one of the labels")
    missing, other = given.get("missing"), given.get("other")

    def look_up(value: object) -> int:
        if isinstance(value, str) and value in index:
            return index[value]
        counted = missing if _nothing(value) else other
        if counted is None:
            raise ParameterError(f"value {show(value)} is not one of this question's {len(labels)} labels.")
        return index[counted]

    return Domain(len(labels), look_up, tuple(labels), missing, other)


def _ticked(document: object) -> Domain:
    """Lists of options, at most so many of them."""
    given = fields_of(document, "the domain", ("ticks", "most"))
    ticks, most = given["ticks"], given["most"]
    if is_list(ticks):
        named = _labelled({"labels": ticks})
    else:
        _need(is_whole(ticks, 2, OPTIONS_MAX), "ticks", ticks, f"labels, or a whole number from 2 to {OPTIONS_MAX}")
        named = Domain(int(ticks), _number_reader(int(ticks)))
    count = named.answers
    _need(count <= OPTIONS_MAX, "ticks", count, f"at most {OPTIONS_MAX} options")
    _need(is_whole(most, 1, count), "most", most, f"a whole number from 1 to {count}")
    sets = sets_up_to(count, int(most))
    _need(sets <= _ANSWERS_MAX, "most", most, f"such that there are at most {_ANSWERS_MAX} sets of so many options")

    def number(value: object) -> int:
        if not isinstance(value, list | tuple) or len(value) > count:
            raise ParameterError(f"value must be a list of what is ticked of {count} options, got {show(value)}.")
        chosen = {named.index(each) for each in value}
        if len(chosen) < len(value):
            raise ParameterError(f"value must have every option at most once, got {show(value)}.")
        if len(chosen) > most:
            raise ParameterError(f"value must have at most {int(most)} options, got {len(chosen)}.")
        return number_of(chosen, count)

    return Domain(sets, number, options=named.labels or tuple(map(str, range(count))))


def _nothing(value: object) -> bool:
    """Whether no value was given."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _space(document: object) -> Domain:
    given = fields_of(document, "the domain", ("space", "points"), ("labels", *_CHOICES))
    points, kind = given["points"], given["space"]
    _need(kind in _SPACES and isinstance(kind, str), "space", kind, f"one of {', '.join(_SPACES)}")
    good = isinstance if kind == "sets" else lambda cell, _: is_number(cell)
    rows = is_list(points) and all(is_list(row) and all(good(cell, str) for cell in row) for row in points)
    _need(rows and len(points) >= 2, "points", points, "at least two lists")
    if "labels" not in given:
        fields_of(document, "a space without labels", ("space", "points"))
        return Domain(len(points), _number_reader(len(points)))
    made = _labelled(given)
    _need(made.answers == len(points), "labels", made.answers, f"one for each of {len(points)} points")
    return made


_SPACES = ("places", "euclidean", "manhattan", "chebyshev", "sets", "integers", "losses")


def _inside(given: Mapping[str, Any]) -> tuple[float, float, Callable[[object], float]]:
    """The ends of the interval, and how its numbers are read: others are refused, or moved to its nearer end."""
    ends, clip = given["interval"], given["clip"]
    two = is_list(ends) and len(ends) == 2 and all(is_number(end) for end in ends)
    low, high = (float(end) for end in ends) if two else (0.0, 0.0)
    fits = low < high and math.isfinite(high - low)
    _need(fits, "interval", ends, "two numbers, the lower one first and not too far from each other")
    _need(isinstance(clip, bool), "clip", clip, "true or false")

    def inside(value: object) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool) and not _nothing(value)
        if not number or not (clip or low <= value <= high):  # type: ignore[operator]  # it is a number here
            hint = "" if clip else "Nothing is clipped."
            raise ParameterError(f"value must be a number from {low:g} to {high:g}, got {show(value)}.", hint)
        return float(min(max(value, low), high))  # type: ignore[call-overload]  # some are larger than any float

    return low, high, inside


def _check_steps(low: float, high: float, points: int) -> None:
    step = (high - low) / points
    _need(low < low + step and high - step < high, "points", points, "so few that floats tell neighbours apart")


def _grid(document: object) -> Domain:
    given = fields_of(document, "the domain", ("interval", "points", "layout", "clip"))
    low, high, inside = _inside(given)
    points, layout = given["points"], given["layout"]
    _need(is_whole(points, 2, _POINTS_MAX), "points", points, f"a whole number from 2 to {_POINTS_MAX}")
    _need(layout in ("midpoints", "endpoints"), "layout", layout, "midpoints or endpoints")
    points = int(points)
    _check_steps(low, high, points)

    def nearest(value: object) -> int:
        share = (inside(value) - low) / (high - low)
        place = math.ceil(share * points) - 1 if layout == "midpoints" else math.ceil(share * (points - 1) - 0.5)
        return int(min(max(place, 0), points - 1))

    def border(i: int) -> float:
        share = i / points if layout == "midpoints" else (i - 0.5) / (points - 1)
        return low + (high - low) * min(max(share, 0.0), 1.0) if i < points else high

    return Domain(points, nearest, border=border)


def _codes(document: object) -> Domain:
    given = fields_of(document, "the domain", ("interval", "codes", "clip"))
    low, high, inside = _inside(given)
    codes = given["codes"]
    numbers = is_list(codes) and len(codes) >= 2 and all(is_number(code) and low <= code <= high for code in codes)
    _need(numbers and all(a < b for a, b in pairwise(codes)), "codes", codes, "at least two rising numbers inside")
    borders = [float(a) / 2 + float(b) / 2 for a, b in pairwise(codes)]
    ends = [low, *borders, high]
    return Domain(len(codes), lambda value: bisect_left(borders, inside(value)), border=ends.__getitem__)


def _circle(document: object) -> Domain:
    """Directions around a circle: `high` is `low` once more."""
    given = fields_of(document, "the domain", ("circle", "points"))
    low, high, inside = _inside({"interval": given["circle"], "clip": False})
    points = given["points"]
    _need(is_whole(points, 3, _DIRECTIONS_MAX), "points", points, f"a whole number from 3 to {_DIRECTIONS_MAX}")
    points = int(points)
    _check_steps(low, high, points)

    def nearest(value: object) -> int:
        return math.floor((inside(value) - low) / (high - low) * points + 0.5) % points

    def border(i: int) -> float:
        """See `Domain.border`; those of the first answer end where all begin, and go on before the end of all."""
        return low + (high - low) * (max(i - 0.5, 0.0) / points) if i < points else high

    return Domain(points, nearest, border=border)


def _need(ok: bool, name: str, got: object, need: str) -> None:
    if not ok:
        raise FormatError(f"{name} of the design's domain must be {need}, got {show(got)}.")


_FORMS: Mapping[str, Callable[[object], Domain]] = {
    "ticks": _ticked,
    "space": _space,
    "circle": _circle,
    "codes": _codes,
    "interval": _grid,
    "labels": _listed,
    "k": _count,
}
"""Domains by the field that tells them."""
