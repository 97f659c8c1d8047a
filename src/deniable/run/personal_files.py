"""Values with the level of protection that each person chose: two columns of a file, one report per row."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.collect.codec import ReportWriter
from deniable.core.types import FloatArray
from deniable.errors import ParameterError
from deniable.kernels.parallel import ahead
from deniable.mechanisms.personal.base import LevelMechanism
from deniable.mechanisms.personal.levels import listed
from deniable.randomness import Stream, secure
from deniable.run.files import Chunk, Progress, encode, open_output, read_columns
from deniable.run.local import chunk_size, with_streams

__all__ = ["privatize_levels"]


def privatize_levels(
    m: LevelMechanism,
    source: str,
    target: str,
    *,
    column: str | None,
    level_column: str | None,
    format: str = "auto",
    rng: Stream | None = None,
    progress: Progress | None = None,
) -> int:
    """Privatise the values of one column, each at the level in another one; returns how many.

    As `privatize_file`: secure unless `rng` says otherwise, and nothing is left behind when a row is refused.
    """
    if level_column is None:
        raise ParameterError(
            f"level-column must be given for {m.name}: everyone reports at a level of their own choice.",
            f"Name the column that has it, one of {listed(m.levels)} in each row, and the column of the values.",
        )
    if column is None:
        raise ParameterError("column must be given with level-column.", "Name the column of the values: --column NAME.")
    stream = secure() if rng is None else rng
    with (
        open_output(target) as out,
        ReportWriter(out, m.design, m.fields, simulated=stream.simulated) as writer,
    ):
        rows = read_columns(source, chunk_size(m), (column, level_column), format=format, progress=progress)

        def report(job: tuple[tuple[Chunk, ...], Stream]) -> Any:
            (values, levels), own = job
            return m.privatize_items(encode(m.domain, values), own, levels=_levels(m, levels))

        for reports in ahead(report, with_streams(rows, stream)):
            writer.write(reports)
        if writer.total == 0:
            raise ParameterError(f"{source} has no values.", "At least one is needed.")
        return writer.total


def _levels(m: LevelMechanism, chunk: Chunk) -> FloatArray:
    """The levels of the rows; the error for one that is not offered says where it stands."""
    numbers = np.array([_number(cell) for cell in chunk.cells], np.float64)
    odd = np.flatnonzero(~np.isin(numbers, m.levels))
    if odd.size:
        i = int(odd[0])
        cell = chunk.cells[i]
        missing = cell is None or (isinstance(cell, str) and not cell.strip())
        given = "it is missing" if missing else f"got {cell if isinstance(cell, str) else float(cell)!r}"
        raise ParameterError(
            f"{chunk.place(i)}: the level must be one of {listed(m.levels)}, {given}.",
            "Nothing was assumed: whoever made no choice may be given the smallest level, the most protective.",
        )
    return numbers


def _number(cell: Any) -> float:
    """A number; NaN for what is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")
