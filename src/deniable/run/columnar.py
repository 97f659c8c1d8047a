"""Columns of Parquet and Arrow files, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from deniable.errors import FormatError, need_extra

__all__ = ["COLUMNAR", "table_parts"]

COLUMNAR = ("parquet", "arrow")
"""Formats whose columns are stored apart; Arrow is the IPC format, file or stream, that Feather is too."""


def table_parts(
    stream: BinaryIO, source: str, kind: str, size: int, pick: Callable[[Sequence[str]], list[str]]
) -> Iterator[tuple[list[NDArray[Any]], int | None]]:
    """Some columns of a file, `size` rows at a time (the last ones may be fewer), and how many rows there are in all.

    `pick` chooses among the names of its columns. `FormatError` where the file is damaged.
    """
    arrow = need_extra("pyarrow", "frames")
    with _sound(arrow, source, kind, "is not in the {kind} format, or damaged"):
        names, total, batches = (_parquet if kind == "parquet" else _arrow)(stream, size)
    picked = pick(names)
    rows = ([_cells(arrow, batch.column(name)) for name in picked] for batch in batches(picked))
    parts = _regroup(rows, size)
    while True:
        with _sound(arrow, source, kind, "is a damaged {kind} file"):
            part = next(parts, None)
        if part is None:
            return
        yield part, total


Opened = tuple[Sequence[str], int | None, Callable[[list[str]], Iterator[Any]]]
"""Names of the columns, number of rows where it is known, and what gives batches of some columns."""


def _parquet(stream: BinaryIO, size: int) -> Opened:
    """In this thread alone: none may still read a stream that is closed since the file is damaged."""
    file = need_extra("pyarrow.parquet", "frames").ParquetFile(stream, pre_buffer=False)
    return (
        file.schema_arrow.names,
        file.metadata.num_rows,
        lambda names: file.iter_batches(batch_size=size, columns=names, use_threads=False),
    )


def _arrow(stream: BinaryIO, size: int) -> Opened:
    ipc = need_extra("pyarrow.ipc", "frames")
    start = stream.read(6)
    stream.seek(0)
    if start == b"ARROW1":
        file = ipc.open_file(stream)
        held: Iterable[Any] = (file.get_batch(i) for i in range(file.num_record_batches))
    else:
        file = held = ipc.open_stream(stream)
    return file.schema.names, None, lambda names: (batch.select(names) for batch in held)


@contextmanager
def _sound(arrow: Any, source: str, kind: str, told: str) -> Iterator[None]:
    """`FormatError` for what a damaged file makes its reader say."""
    try:
        yield
    except (arrow.ArrowException, OSError, UnicodeDecodeError, ArithmeticError) as error:
        raise FormatError(f"{source} {told.format(kind=kind.title())}: {error}.") from error


def _cells(arrow: Any, column: Any) -> NDArray[Any]:
    """Whole numbers as such, everything else as objects."""
    if arrow.types.is_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    out = np.empty(len(column), object)
    out[:] = column.to_pylist()
    return out


def _regroup(batches: Iterable[list[NDArray[Any]]], size: int) -> Iterator[list[NDArray[Any]]]:
    """The same columns in parts of `size` rows; the last one may be shorter."""
    held: list[NDArray[Any]] | None = None
    for batch in batches:
        held = batch if held is None else [np.concatenate(pair) for pair in zip(held, batch, strict=True)]
        while len(held[0]) >= size:
            yield [column[:size] for column in held]
            held = [column[size:] for column in held]
    if held is not None and len(held[0]):
        yield held
