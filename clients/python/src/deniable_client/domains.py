"""From a person's value to the number of an answer, as the domain of a design says."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from deniable_client.errors import FormatError, ParameterError

__all__ = ["answer_reader"]

Reader = Callable[[object], int]


def answer_reader(domain: Mapping[str, Any], answers: int) -> Reader:
    """How values are read under a domain with so many answers; `FormatError` where it has another number of them.

    Labels are looked up; numbers of an interval count as the nearest point of its grid, or the nearest of its codes
    (the lower one in a tie); otherwise a value is the number of an answer, from 0 on.

    >>> answer_reader({"interval": [0, 1], "points": 4, "layout": "midpoints", "clip": False}, 4)(0.6)
    2
    """
    try:
        count, read = _codes(domain) if "codes" in domain else _grid(domain) if "interval" in domain else _list(domain)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the domain of the design is not well formed: {error!r}.") from error
    if count != answers:
        raise FormatError(f"the kernel is for {answers} values, the domain has another number of them.")
    return read


def _list(domain: Mapping[str, Any]) -> tuple[object, Reader]:
    """Answers one by one: with labels, places or other points of a space, or just a number of them."""
    labels = domain.get("labels")
    if labels:
        if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
            raise FormatError("the labels of a design's domain must be texts.")
        index = {label: i for i, label in enumerate(labels)}

        def look_up(value: object) -> int:
            if not isinstance(value, str) or value not in index:
                raise ParameterError(f"value {value!r} is not one of this question's {len(labels)} labels.")
            return index[value]

        return len(labels), look_up
    count = len(domain["points"]) if "space" in domain else domain.get("k")

    def number(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            most = count - 1 if isinstance(count, int) else "k-1"
            raise ParameterError(f"value must be an integer from 0 to {most}, got {value!r}.")
        return value

    return count, number


def _interval(domain: Mapping[str, Any]) -> Callable[[object], float]:
    """Numbers of the interval as they are; others are refused, or moved to its nearer end where the design says so."""
    low, high = (float(end) for end in domain["interval"])
    clip = domain["clip"]
    if not (math.isfinite(low) and math.isfinite(high) and low < high) or not isinstance(clip, bool):
        raise ValueError(f"interval {domain['interval']!r} with clip {clip!r}")

    def inside(value: object) -> float:
        real = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not real or not (clip or low <= value <= high):  # type: ignore[operator]  # it is a number here
            hint = "" if clip else "Nothing is clipped."
            raise ParameterError(f"value must be a number from {low:g} to {high:g}, got {value!r}.", hint)
        return min(max(float(value), low), high)  # type: ignore[arg-type]

    return inside


def _grid(domain: Mapping[str, Any]) -> tuple[int, Reader]:
    inside, points, layout = _interval(domain), domain["points"], domain["layout"]
    low, high = (float(end) for end in domain["interval"])
    if layout not in ("midpoints", "endpoints") or not isinstance(points, int) or points < 2:
        raise ValueError(f"{points!r} points with layout {layout!r}")

    def nearest(value: object) -> int:
        share = (inside(value) - low) / (high - low)
        place = math.ceil(share * points) - 1 if layout == "midpoints" else math.ceil(share * (points - 1) - 0.5)
        return min(max(place, 0), points - 1)

    return points, nearest


def _codes(domain: Mapping[str, Any]) -> tuple[int, Reader]:
    inside, codes = _interval(domain), [float(code) for code in domain["codes"]]
    if any(a >= b for a, b in pairwise(codes)):
        raise ValueError("codes that do not rise")
    borders = [(a + b) / 2 for a, b in pairwise(codes)]
    return len(codes), lambda value: bisect_left(borders, inside(value))
