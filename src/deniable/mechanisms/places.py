"""Domains that have a distance, from options: points on a line, numbers of an interval, or a table of distances."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid, check_interval
from deniable.core.space import Space
from deniable.errors import FormatError, ParameterError, require
from deniable.mechanisms.entry import Option

__all__ = ["INTERVAL", "PLACES", "PLACE_OPTIONS", "place", "read_space"]

INTERVAL = ("interval", "points", "layout", "clip")
"""Options that give numbers of an interval."""
PLACES = (*INTERVAL, "distances")
"""Options that give a domain with a distance."""

PLACE_OPTIONS: Mapping[str, Option] = {
    "points": Option(int, "Number of points on a line; with --interval, of the grid in it."),
    "interval": Option(str, "Lowest and highest number, separated by a comma."),
    "layout": Option(str, "Points in the middles of equal cells, or both ends included.", ("midpoints", "endpoints")),
    "clip": Option(bool, "Numbers outside of the interval count as its nearer end."),
    "distances": Option(str, "A .csv file: a table of losses, or places with the columns latitude and longitude."),
}
"""The same as command-line options."""

_PLACE_NAMES = ({"lat", "latitude"}, {"lon", "lng", "longitude"})


def place(options: dict[str, Any]) -> Domain | Span | None:
    """The domain that options describe, which are taken out of them; None where there are none.

    An interval without points is a `Span`: the mechanism chooses the points.
    """
    given = {name: options.pop(name) for name in PLACES if name in options}
    if not given:
        return None
    if "distances" in given:
        require(len(given) == 1, "distances", sorted(given), "given alone", "They are the whole domain.")
        return _space(given["distances"])
    points = given.get("points")
    if "interval" not in given:
        for name in ("layout", "clip"):
            require(name not in given, name, given.get(name), "left out without an interval")
        return Domain.of(_count(points))
    low, high = check_interval(given["interval"])
    choices = {name: given[name] for name in ("layout", "clip") if name in given}
    if points is None:
        return Span(low=low, high=high, **choices)
    return Grid.of(low, high, points, **choices)


def _count(points: Any) -> int:
    whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
    require(bool(whole and points >= 2), "points", points, "an integer >= 2", "An empty domain has nothing to report.")
    return int(points)


def _space(given: object) -> Space:
    """A space itself, a matrix of losses, or a file with one of them."""
    if isinstance(given, Space):
        return given
    return read_space(given) if isinstance(given, str | Path) else Space.losses(given)


def read_space(path: str | Path) -> Space:
    """A table of losses from a .csv file, with labels in its first line or without; or places, by their columns.

    Places have the columns latitude and longitude (or lat and lon), and if wanted `label`.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"the distances cannot be read from {path}: {error}.") from error
    require(len(rows) >= 2, "distances", f"{len(rows)} lines in {path}", "a table of at least 2 lines")
    head = [name.lower() for name in rows[0]]
    at = [next((i for i, name in enumerate(head) if name in names), None) for names in _PLACE_NAMES]
    if None not in at:
        return _places(rows[1:], [i for i in at if i is not None], head)
    numbers = [_is_float(cell) for cell in rows[0]]
    if all(numbers):
        return Space.losses(rows)
    need = "numbers, or else labels"
    require(not any(numbers), f"the first line of {path}", rows[0], need, "Labels that are numbers cannot be told.")
    body = rows[1:]
    square = len(body) == len(head)
    return Space.losses(body, rows[0] if square else None)


def _places(rows: list[list[str]], at: list[int], head: list[str]) -> Space:
    short = next((i for i, row in enumerate(rows) if len(row) != len(head)), None)
    if short is not None:
        raise ParameterError(f"line {short + 2} has {len(rows[short])} cells, the first line has {len(head)}.")
    labels = [row[head.index("label")] for row in rows] if "label" in head else None
    return Space.places([[row[i] for i in at] for row in rows], labels)


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
