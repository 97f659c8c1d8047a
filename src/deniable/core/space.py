"""Domains with a distance: places, vectors, sets, or a matrix of losses between answers and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, InWords, ParameterError, require

__all__ = ["Space"]

_ENTRIES_MAX = 1 << 18
"""Numbers of the largest space: every design carries them all."""
_EARTH = 6371.0088
"""Mean radius of the earth in kilometres."""
_POINTS = 4096
"""Points of the largest space whose losses are written out as a matrix."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Space(Domain):
    """k answers with losses between them: what it costs to report one of them instead of another.

    `kind` says how the losses follow from `data`, a row for each answer; make one with `places`, `vectors`, `sets`,
    `integers`, `losses` or `similarities`. Losses need not be symmetric or a metric; with `losses` the reports may
    be other things than the answers.

    >>> Space.vectors([[0, 0], [3, 4]]).matrix()
    array([[0., 5.],
           [5., 0.]])
    """

    kind: str = "losses"
    data: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        hint = "Spaces are made by dn.Space.vectors, places, sets, integers, losses or similarities, from their points."
        require(len(self.data) >= 2, "points", len(self.data), "at least 2", hint)
        Domain.__post_init__(self)
        require(self.kind in _KINDS, "kind", self.kind, f"one of {', '.join(_KINDS)}")
        require(len(self.data) == self.k, "points", len(self.data), f"one row for each of the k = {self.k} answers")
        require(self.k <= _POINTS, "points", self.k, f"at most {_POINTS}", "Numbers in an interval need no matrix.")
        if self.kind == "sets":
            return
        _check_rows(self.data, self.kind)
        check = _KINDS[self.kind].check
        if check is not None:
            check(np.array(self.data))

    # ---- ways to make one

    @classmethod
    def of_rows(cls, kind: str, rows: object, labels: Sequence[str] | None = None) -> Space:
        """A space of a kind from its rows of numbers (or sets)."""
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise ParameterError(f"points must be rows of numbers, got {type(rows).__name__}.")
        data = tuple(_set_row(row, i) if kind == "sets" else _number_row(row, i) for i, row in enumerate(rows))
        names = None if labels is None else tuple(str(label) for label in labels)
        return cls(len(data), names, kind=kind, data=data)

    @classmethod
    def places(cls, points: object, labels: Sequence[str] | None = None) -> Space:
        """Places on the globe as (latitude, longitude) in degrees; losses are great-circle distances in kilometres."""
        return cls.of_rows("places", points, labels)

    @classmethod
    def vectors(cls, points: object, labels: Sequence[str] | None = None, norm: str = "euclidean") -> Space:
        """Points in space; the norm is `euclidean`, `manhattan` or `chebyshev`."""
        names = ("euclidean", "manhattan", "chebyshev")
        require(norm in names, "norm", norm, f"one of {', '.join(names)}")
        return cls.of_rows(norm, points, labels)

    @classmethod
    def sets(cls, sets: object, labels: Sequence[str] | None = None) -> Space:
        """Sets of things; the loss is 1 minus the Jaccard index, and 0 between two empty sets."""
        return cls.of_rows("sets", sets, labels)

    @classmethod
    def integers(cls, numbers: Sequence[float], labels: Sequence[str] | None = None) -> Space:
        """Positive numbers; the loss is 1 minus the Tanimoto coefficient xy / (x^2 + y^2 - xy) [BRR Sec. 5.2]."""
        return cls.of_rows("integers", [[v] for v in numbers], labels)

    @classmethod
    def losses(cls, matrix: object, labels: Sequence[str] | None = None) -> Space:
        """Any losses >= 0: a row for each answer, a column for each report."""
        return cls.of_rows("losses", matrix, labels)

    @classmethod
    def similarities(cls, matrix: object, labels: Sequence[str] | None = None) -> Space:
        """The same from utilities, of which more is better: the largest of them minus each [BRR Sec. 4.2]."""
        array: FloatArray = np.array(cls.of_rows("utilities", matrix, labels).data)
        return cls.of_rows("losses", (array.max() - array).tolist(), labels)

    # ---- what it is

    @property
    def outputs(self) -> int:
        """Number of different reports: the answers themselves, unless the losses have other columns."""
        return len(self.data[0]) if self.kind == "losses" else self.k

    @property
    def unit(self) -> str:
        """What losses are measured in."""
        return _KINDS[self.kind].unit

    def matrix(self) -> FloatArray:
        """The losses: a row for each answer, a column for each report."""
        if self.kind == "sets":
            return _jaccard(self.data)
        array = np.array(self.data, dtype=np.float64)
        return np.asarray(_KINDS[self.kind].between(array, array), np.float64)

    def decode(self, items: IntArray) -> np.ndarray[Any, Any]:
        """See `Domain.decode`: labels are those of the answers, and reports may be other things."""
        return Domain.decode(self, items) if self.outputs == self.k else items

    def coordinates(self) -> FloatArray | None:
        """See `Domain.coordinates`: vectors, or places on the map of web tiles."""
        where = _KINDS[self.kind].where
        return None if where is None else where(np.array(self.data, np.float64))

    def distances(self) -> FloatArray:
        """See `Domain.distances`: the losses, as they are given or follow from the kind."""
        return self.matrix()

    def nearest(self, points: object) -> IntArray:
        """The nearest answers to other points of the same kind (the first of several at one distance)."""
        flat = self.kind in ("losses", "utilities", "sets")
        require(not flat, "kind", self.kind, "one whose points have coordinates")
        rows = np.array([_number_row(row, i) for i, row in enumerate(points)])  # type: ignore[arg-type, var-annotated]
        here = np.array(self.data, dtype=np.float64)
        shape = rows.ndim == 2 and rows.shape[1] == here.shape[1]
        require(shape, "points", InWords(f"an array of shape {rows.shape}"), f"rows of {here.shape[1]} numbers")
        return np.asarray(np.argmin(_KINDS[self.kind].between(rows, here), axis=1), np.int64)

    def document(self) -> dict[str, Any]:
        plain = Domain.document(self) if self.labels is not None else {}
        return {"space": self.kind, "points": [list(row) for row in self.data], **plain}

    @classmethod
    def from_points(cls, document: Mapping[str, Any]) -> Space:
        """The inverse of `document`."""
        try:
            rows, labels = document["points"], document.get("labels")
            made = cls.of_rows(document["space"], rows, labels)
            choices = {name: document[name] for name in ("missing", "other") if name in document}
            return cls(made.k, made.labels, **choices, kind=made.kind, data=made.data)
        except (KeyError, TypeError) as error:
            raise FormatError(f"a space needs its kind and points: {error!r}.") from error


@dataclass(frozen=True, slots=True)
class _Kind:
    """How losses follow from rows of numbers, and which rows are possible."""

    between: Callable[[FloatArray, FloatArray], FloatArray]
    check: Callable[[FloatArray], None] | None = None
    """Which finite numbers will do, if not all."""
    unit: str = ""
    where: Callable[[FloatArray], FloatArray] | None = None
    """Coordinates on a map, where there is one."""


def _number_row(row: object, i: int) -> Row:
    """A row of numbers; text is taken where it is a number, as files give it."""
    cells = row.tolist() if isinstance(row, np.ndarray) else row
    if isinstance(cells, str | bytes) or not isinstance(cells, Iterable):
        raise ParameterError(f"points must be rows of numbers, got {row!r} at position {i}.")
    try:
        return tuple(float(cell) for cell in cells)
    except (TypeError, ValueError):
        raise ParameterError(f"points must be rows of numbers, got {row!r} at position {i}.") from None


def _set_row(row: object, i: int) -> Row:
    """The members of a set as sorted text, each once."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ParameterError(f"sets must be lists or sets of things, got {row!r} at position {i}.")
    return tuple(sorted({str(member) for member in row}))


def _check_rows(rows: tuple[Row, ...], kind: str) -> None:
    """Refuse rows of different lengths, empty ones, too many numbers, and numbers that are none."""
    sizes = [len(row) for row in rows]
    wrong = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    if wrong is not None:
        raise ParameterError(
            f"points must all have the same dimension, got {sizes[0]} numbers at position 0 and {sizes[wrong]} at "
            f"position {wrong}.",
            "Give every point (or every row of a matrix) as many numbers.",
        )
    require(sizes[0] >= (2 if kind == "losses" else 1), "points", f"rows of {sizes[0]} numbers", "longer rows")
    room = f"at most {_ENTRIES_MAX}, since every design carries them"
    require(len(rows) * sizes[0] <= _ENTRIES_MAX, "numbers", len(rows) * sizes[0], room, "Use coordinates, or bins.")
    bad = np.argwhere(~np.isfinite(np.array(rows)))
    if len(bad):
        i, j = (int(v) for v in bad[0])
        raise ParameterError(f"points must be finite numbers, got {rows[i][j]!r} at position {i}, column {j}.")


def _check_losses(rows: FloatArray) -> None:
    bad = np.argwhere(rows < 0)
    if len(bad):
        i, j = (int(v) for v in bad[0])
        raise ParameterError(
            f"losses must be >= 0, got {float(rows[i, j])!r} at position {i}, column {j}.",
            "Utilities, of which more is better, become losses by Space.similarities(matrix).",
        )


def _check_places(rows: FloatArray) -> None:
    require(rows.shape[1] == 2, "places", f"rows of {rows.shape[1]} numbers", "latitude and longitude")
    bad = np.flatnonzero((np.abs(rows[:, 0]) > 90) | (np.abs(rows[:, 1]) > 180))
    if bad.size:
        raise ParameterError(
            f"places must have a latitude from -90 to 90 and a longitude from -180 to 180, got "
            f"{tuple(rows[bad[0]].tolist())} at position {bad[0]}.",
            "Degrees, latitude first.",
        )


def _check_positive(rows: FloatArray) -> None:
    require(rows.shape[1] == 1, "integers", f"rows of {rows.shape[1]} numbers", "single numbers")
    bad = np.flatnonzero(rows[:, 0] <= 0)
    if bad.size:
        raise ParameterError(f"integers must be > 0, got {float(rows[bad[0], 0])!r} at position {bad[0]}.")


def _haversine(a: FloatArray, b: FloatArray) -> FloatArray:
    one, two = np.radians(a)[:, None, :], np.radians(b)[None, :, :]
    half = np.sin((one - two) / 2) ** 2
    square = half[..., 0] + np.cos(one[..., 0]) * np.cos(two[..., 0]) * half[..., 1]
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.minimum(square, 1.0))))


def _on_map(places: FloatArray) -> FloatArray:
    """Places on the square map of the world that web tiles have."""
    latitude, longitude = np.radians(places).T
    most = np.arctan(np.sinh(np.pi))  # where the map ends
    return np.stack([longitude, np.arcsinh(np.tan(np.clip(latitude, -most, most)))], axis=1)


def _tanimoto(a: FloatArray, b: FloatArray) -> FloatArray:
    x, y = a[:, :1], b[:, 0][None, :]
    return np.asarray((x - y) ** 2 / (x * x + y * y - x * y))


def _difference(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.abs(a[:, None, :] - b[None, :, :])


def _as_given(a: FloatArray, *_: FloatArray) -> FloatArray:
    return a


def _jaccard(sets: tuple[Row, ...]) -> FloatArray:
    members = {member: j for j, member in enumerate(sorted({m for row in sets for m in row}))}
    held = np.zeros((len(sets), max(1, len(members))))
    for i, row in enumerate(sets):
        held[i, [members[member] for member in row]] = 1
    both, sizes = held @ held.T, held.sum(axis=1)
    either = sizes[:, None] + sizes[None, :] - both
    return np.asarray(np.where(either > 0, 1 - both / np.maximum(either, 1), 0.0))


_KINDS: Mapping[str, _Kind] = {
    "losses": _Kind(_as_given, _check_losses),
    "utilities": _Kind(_as_given),
    "places": _Kind(_haversine, _check_places, "km", _on_map),
    "euclidean": _Kind(lambda a, b: np.sqrt((_difference(a, b) ** 2).sum(axis=2)), where=_as_given),
    "manhattan": _Kind(lambda a, b: _difference(a, b).sum(axis=2), where=_as_given),
    "chebyshev": _Kind(lambda a, b: _difference(a, b).max(axis=2), where=_as_given),
    "integers": _Kind(_tanimoto, _check_positive),
    "sets": _Kind(_as_given),
}
"""The kinds of spaces."""
