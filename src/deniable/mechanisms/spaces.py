"""Domains that have a distance, from options: points on a line, numbers of an interval, or a space of distances."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid, check_interval
from deniable.core.space import Space
from deniable.errors import require, whole
from deniable.mechanisms.entry import Option

__all__ = ["INTERVAL", "SPACE", "SPACE_OPTIONS", "space_of"]

INTERVAL = ("interval", "points", "layout", "clip")
"""Options that give numbers of an interval."""
SPACE = (*INTERVAL, "distances")
"""Options that give a domain with a distance."""

SPACE_OPTIONS: Mapping[str, Option] = {
    "points": Option(int, "Number of points on a line; with --interval, of the grid in it."),
    "interval": Option(str, "Lowest and highest number, separated by a comma."),
    "layout": Option(str, "Points in the middles of equal cells, or both ends included.", ("midpoints", "endpoints")),
    "clip": Option(bool, "Numbers outside of the interval count as its nearer end."),
    "distances": Option(str, "A .csv file: a table of losses, or places with the columns latitude and longitude."),
}
"""The same as command-line options."""


def space_of(options: dict[str, Any]) -> Domain | Span | None:
    """The domain that options describe, which are taken out of them; None where there are none.

    An interval without points is a `Span`: the mechanism chooses the points.
    """
    given = {name: options.pop(name) for name in SPACE if name in options}
    if not given:
        return None
    if "distances" in given:
        require(len(given) == 1, "distances", sorted(given), "given alone", "They are the whole domain.")
        return _space(given["distances"])
    points = given.get("points")
    if "interval" not in given:
        for name in ("layout", "clip"):
            require(name not in given, name, given.get(name), "left out without an interval")
        return Domain.of(whole("points", points, 2, hint="An empty domain has nothing to report."))
    low, high = check_interval(given["interval"])
    choices = {name: given[name] for name in ("layout", "clip") if name in given}
    if points is None:
        return Span(low=low, high=high, **choices)
    return Grid.of(low, high, points, **choices)


def _space(given: object) -> Space:
    """A space itself, or a matrix of losses. No file is opened here: what is given may come from anywhere."""
    if isinstance(given, Space):
        return given
    hint = "Read the file where it is yours to read: distances=deniable.load(path)."
    require(not isinstance(given, str | PurePath), "distances", given, "a Space or a matrix of losses", hint)
    return Space.losses(given)
