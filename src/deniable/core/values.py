"""Values as people have them: lists, arrays, series, and columns of frames, of whatever library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from deniable.errors import InWords, ParameterError, meant, need_extra, require

__all__ = ["arrays_of", "cells_of", "columns_of", "is_missing", "labels_of"]

_READABLE = "a list, an array, a series, or a frame with column=NAME"
_FRAME_MARKS = ("columns", "column_names", "__dataframe__", "__arrow_c_stream__")
"""What only frames have; going through one of them item by item would give the names of its columns."""


_SHOWN = 12
"""Names of columns that a message lists."""


def is_missing(cell: object) -> bool:
    """Whether a cell holds nothing: None, an empty text, NaN, NaT or the NA of pandas."""
    if cell is None or isinstance(cell, str):
        return not cell
    if type(cell).__name__ == "NAType":  # neither equal to itself nor different from itself
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):  # an array in a cell: something, and no value
        return False


def cells_of(values: object, column: str | None = None) -> np.ndarray[Any, Any]:
    """A one-dimensional array of what is given; one value is a batch of one.

    `column` names the column of a frame (or of a mapping, or of a list of mappings), and may be left out where there is
    only one. Frames of polars, pandas, pyarrow and whatever else narwhals or Arrow's own interface can read, in memory
    or not yet: only the column is fetched of a DuckDB relation or a lazy frame.
    """
    values = _column_of(values, column)
    if isinstance(values, str | int | float | bool | np.generic) or values is None:
        values = [values]
    refused = {
        bytes: "bytes",
        bytearray: "bytes",
        set: "a set, which has no order and no two alike",
        frozenset: "a set",
    }
    for kind, name in refused.items():
        require(not isinstance(values, kind), "values", values, _READABLE, f"This is {name}.")
    if not isinstance(values, np.ndarray | list | tuple):
        values = _from_series(values)
    if isinstance(values, np.ndarray) and values.ndim == 0:
        values = values.reshape(1)
    if isinstance(values, np.ma.MaskedArray):
        values = [None if gap else v for v, gap in zip(values.data.tolist(), np.ma.getmaskarray(values), strict=True)]
    cells = values if isinstance(values, np.ndarray) else _objects_or_integers(list(values))
    require(
        cells.ndim == 1,
        "values",
        InWords(f"an array of shape {cells.shape}"),
        "one-dimensional",
        "Give one column of it" + (", such as values[:, 0]." if cells.ndim == 2 else "."),
    )
    return cells


def labels_of(given: object) -> tuple[str, ...]:
    """Labels as text, in their order, from a list, an array or a series; nothing is left out or put in order."""
    hint = "For example labels=['no', 'yes']."
    if isinstance(given, int | np.integer):
        hint = f"A number of answers without labels is k={given}."
    elif isinstance(given, set | frozenset):
        hint = "A set has another order in every run, and with it every design: give sorted(...)."
    elif isinstance(given, Mapping):
        hint = "Of a mapping give list(its keys) or list(its values), whichever are the answers."
    odd = isinstance(given, str | bytes | set | frozenset) or not isinstance(given, Iterable)
    frame = None if odd else _frame(given, asked=False)
    if frame is not None and not isinstance(given, Mapping):
        hint = f"Give one of its columns, for example [{frame[0][0]!r}]." if frame[0] else ""
    odd = odd or frame is not None
    shown = InWords(_kind(given)) if frame is not None and not isinstance(given, Mapping) else given
    require(not odd, "labels", shown, "a list of labels", hint)
    cells = cells_of(given).tolist()
    bad = [cell for cell in cells if is_missing(cell)]
    hint = "A label for missing values is a text of its own: list it, and name it by missing=LABEL."
    require(not bad, "labels", bad[:1] and bad[0], "text that is not empty and can be stored as UTF-8", hint)
    bad = [cell for cell in cells if isinstance(cell, Iterable) and not isinstance(cell, str)]
    hint = "Bytes are decoded first." if bad and isinstance(bad[0], bytes) else "Give a flat list."
    require(not bad, "labels", bad[:1] and bad[0], "single texts or numbers", hint)
    return tuple(str(cell) for cell in cells)


def _column_of(given: object, column: str | None = None) -> object:
    """What a frame has in a column; something that is no frame as it is."""
    frame = _frame(given, asked=column is not None)
    if frame is None:
        hint = "A column is named where there are several: give a frame, or the values alone."
        require(column is None, "column", column, f"left out for {_kind(given)}", hint)
        return given
    names, fetch = frame
    if column is None:
        known = _listed(names)
        told = f"{_kind(given)} with the columns {known}" if names else f"{_kind(given)} without columns"
        if len(names) != 1 or isinstance(given, Mapping):
            raise ParameterError(
                f"values must be one column, got {told}.", f"Say which: column={names[0]!r}." if names else ""
            )
        return fetch(names[0])
    require(column in names, "column", column, f"one of {', '.join(map(repr, names))}", meant(column, names))
    return fetch(column)


def columns_of(given: object, columns: Sequence[str]) -> list[list[Any]] | None:
    """Several columns of a frame, cell by cell in the same order; None for what is no frame."""
    found = arrays_of(given, columns)
    return None if found is None else [part.tolist() for part in found]


def arrays_of(given: object, columns: Sequence[str]) -> list[np.ndarray[Any, Any]] | None:
    """Several columns of a frame as arrays, fetched together; None for what is no frame."""
    frame = _frame(given, asked=True)
    if frame is None:
        return None
    names, fetch = frame
    unknown = [column for column in columns if column not in names]
    if unknown:
        told = "Say what they are called: column=(USER, KEY, VALUE)." if len(columns) == 3 else ""
        hint = meant(unknown[0], names) or told
        known = _listed(names)
        raise ParameterError(f"the frame has no column {unknown[0]!r}; it has {known or 'none'}.", hint)
    found = fetch(*columns) if len(columns) > 1 else [fetch(columns[0])]
    return [cells_of(part) for part in found]


def _listed(names: Sequence[str]) -> str:
    """The first names of columns."""
    return ", ".join(map(repr, names[:_SHOWN])) + ", ..." * (len(names) > _SHOWN)


Frame = tuple[list[str], Callable[..., Any]]
"""Names of the columns, and what fetches one of them, or several at once as a list."""


def _frame(given: object, *, asked: bool) -> Frame | None:
    """What can be asked of a frame, or None for what is none. `asked`: a column was asked for."""
    if isinstance(given, np.ndarray):
        fields = given.dtype.names
        return None if fields is None else _from(list(fields), given.__getitem__)
    if isinstance(given, Mapping):
        return _from(list(given), given.__getitem__)
    if isinstance(given, list | tuple):
        rows = asked and len(given) > 0 and all(isinstance(row, Mapping) for row in given)
        return _records(given) if rows else None
    if isinstance(given, str | bytes | int | float) or given is None:
        return None
    return _known_frame(given)


def _from(names: list[str], get: Callable[[str], Any]) -> Frame:
    _refuse_twins(names)
    return names, lambda *columns: get(columns[0]) if len(columns) == 1 else [get(column) for column in columns]


def _records(rows: Sequence[Any]) -> Frame:
    """A list of mappings, each of which must have the column."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def get(column: str) -> list[Any]:
        without = next((i for i, row in enumerate(rows) if column not in row), None)
        if without is not None:
            raise ParameterError(f"the row at position {without} has no {column!r}.", "Give None where it is missing.")
        return [row[column] for row in rows]

    return _from(names, get)


def _refuse_twins(names: Iterable[Any]) -> None:
    seen = list(names)
    for name in seen:
        hint = "Rename one of them, or give the column itself."
        if seen.count(name) > 1:
            raise ParameterError(f"columns must have different names, but two are called {name!r}.", hint)


def _known_frame(given: Any) -> Frame | None:
    import narwhals as nw

    try:
        found: Any = nw.from_native(given, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        _refuse_twins(getattr(given, "column_names", None) or given.columns)
        raise
    if isinstance(found, nw.Series):
        return None
    if isinstance(found, nw.LazyFrame):
        if found.implementation.is_duckdb():  # its schema has one of two columns of a name
            _refuse_twins(given.columns)
        return found.collect_schema().names(), lambda *columns: _fetched(found, columns)
    if isinstance(found, nw.DataFrame):
        return _from(list(found.columns), found.get_column)
    if hasattr(type(given), "__arrow_c_stream__"):
        arrow = need_extra("pyarrow", "frames")
        try:
            table = arrow.table(given)
        except (TypeError, arrow.ArrowException) as error:
            raise ParameterError(f"values must be {_READABLE}, got {_kind(given)}: {error}.") from error
        return _from(list(table.column_names), table.column)
    if any(hasattr(type(given), mark) for mark in _FRAME_MARKS):
        raise ParameterError(f"values must be {_READABLE}, got {_kind(given)}.", "Give one of its columns as a list.")
    return None


def _fetched(lazy: Any, columns: tuple[str, ...]) -> Any:
    """Columns of a frame that is not in memory yet: they are fetched together, so that their rows belong together."""
    try:
        frame = lazy.select(*columns).collect()
    except ImportError as error:
        need_extra("pyarrow", "frames")
        raise ParameterError(f"the column {columns[0]!r} cannot be fetched: {error}.") from error
    return frame.get_column(columns[0]) if len(columns) == 1 else [frame.get_column(column) for column in columns]


def _from_series(values: Any) -> np.ndarray[Any, Any] | list[Any]:
    import narwhals as nw

    found: Any = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(found, nw.Series):
        if found.implementation.is_pandas() and isinstance(found.dtype, nw.Categorical | nw.Enum):
            return _from_categories(found.to_native())
        whole: bool = found.dtype.is_integer() and found.null_count() == 0
        return np.asarray(found.to_numpy()) if whole else list(found.to_list())
    if hasattr(values, "to_pylist"):  # an array of Arrow, whose items are no values but hold them
        return list(values.to_pylist())
    if isinstance(values, Iterable):
        return list(values)
    raise ParameterError(f"values must be {_READABLE}, got {_kind(values)}.")


def _from_categories(series: Any) -> list[Any]:
    """A categorical series of pandas by its categories as they are: intervals would become others beside a gap."""
    names = [*series.cat.categories, None]
    return [names[code] for code in series.cat.codes.tolist()]


def _objects_or_integers(cells: list[Any]) -> np.ndarray[Any, Any]:
    if cells and all(isinstance(v, int) and not isinstance(v, bool) for v in cells):
        return np.array(cells)
    return np.fromiter(cells, object, len(cells))


def _kind(given: object) -> str:
    """What it is, in a word: with its library, where several have a thing of that name."""
    kind = type(given)
    home = kind.__module__.partition(".")[0].lstrip("_")
    return kind.__name__ if home in ("builtins", "collections") else f"a {home} {kind.__name__}"
