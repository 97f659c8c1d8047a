"""The pipeline on one machine, chunk by chunk: values to reports, reports to a tally, a tally to estimates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import BinaryIO, TypeVar

from deniable.collect.codec import ReportWriter, dump, read
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, FormatError, ParameterError, require
from deniable.estimate.result import Estimate
from deniable.kernels import using
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.randomness import Stream, secure
from deniable.run.files import (
    STANDARD,
    Progress,
    encode,
    open_input,
    open_output,
    read_values,
    regular_size,
)

__all__ = [
    "CHUNK_VALUES",
    "ESTIMATORS",
    "chunk_size",
    "estimate_tally",
    "privatize_file",
    "tally_files",
    "with_streams",
    "write_tally",
]

C = TypeVar("C")

CHUNK_VALUES = 1 << 16
"""Most values that are handled at a time."""


def chunk_size(m: Mechanism) -> int:
    """How many values of this mechanism are handled at a time: those that share a stream, so seeded runs repeat."""
    return min(CHUNK_VALUES, m.bulk.block)


def with_streams(chunks: Iterable[C], stream: Stream) -> Iterator[tuple[C, Stream]]:
    """Each chunk with the stream that `Mechanism.privatize` would use for it, were they given all at once."""
    todo = iter(chunks)
    held = list(islice(todo, 2))
    if len(held) < 2:
        yield from ((chunk, stream) for chunk in held)
        return
    for chunk in chain(held, todo):
        yield chunk, stream.spawn(1)[0]


def privatize_file(
    m: Mechanism,
    source: str,
    target: str,
    *,
    column: str | None = None,
    format: str = "auto",
    rng: Stream | None = None,
    progress: Progress | None = None,
) -> int:
    """Privatise the values of a file into a report file; returns how many. Secure unless `rng` says otherwise.

    Nothing is left behind when a value is refused: the report file appears when all of them are in it.
    """
    if m.takes != "values":
        raise ParameterError(f"{m.name} takes {m.takes}, this reads single values.", "Use m.privatize(...) in Python.")
    design, stream = m.design, secure() if rng is None else rng
    with (
        open_output(target) as out,
        ReportWriter(out, design, m.fields, simulated=stream.simulated) as writer,
    ):
        chunks = read_values(source, chunk_size(m), column=column, format=format, progress=progress)
        jobs = with_streams(chunks, stream)
        for reports in ahead(lambda job: m.privatize_items(encode(m.domain, job[0]), job[1]), jobs):
            writer.write(reports)
        if writer.total == 0:
            raise ParameterError(f"{_name(source)} has no values.", "At least one is needed.")
        return writer.total


def tally_files(sources: Sequence[str], *, progress: Progress | None = None) -> Tally:
    """The tally of all reports in report and tally files of one design, added up, in bounded memory."""
    require(len(sources) > 0, "files", list(sources), "at least one report or tally file")
    require(list(sources).count(STANDARD) <= 1, "files", list(sources), "a list with - at most once")
    sizes = [regular_size(source) for source in sources]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    total: Tally | None = None
    done = 0
    for source, size in zip(sources, sizes, strict=True):
        with open_input(source) as stream, _naming(source):
            for part in _tallies(stream):
                total = part if total is None else total + part
                if progress is not None and whole is not None:
                    progress(done + stream.tell(), whole)
        done += size or 0
    assert total is not None
    return total


def write_tally(tally: Tally, target: str) -> None:
    """Write a tally file, whole or not at all."""
    with open_output(target) as out:
        out.write(dump(tally))


ESTIMATORS = ("unbiased", "em", "ems")
"""How a tally is read: by the unbiased estimator, or by fitting (`Mechanism.fit`)."""


def estimate_tally(tally: Tally, method: str = ESTIMATORS[0]) -> Estimate:
    """Estimate with the mechanism that the tally's own design describes."""
    require(method in ESTIMATORS, "method", method, f"one of {', '.join(ESTIMATORS)}")
    m = from_design(tally.design)
    with using("reference"):  # nothing is counted here, so there is no need to load what counts fast
        return m.estimate(tally) if method == ESTIMATORS[0] else m.fit(tally, method)


def _tallies(stream: BinaryIO) -> Iterator[Tally]:
    """The tally of each block of reports, or the one tally, that a file holds."""
    found = read(stream)
    m = from_design(found.design)
    if isinstance(found, Tally):
        with using("reference"):
            layout = m.empty().layout
        if found.layout != layout or (found.cells["n"] < 0).any():
            raise FormatError(f"a tally of this design has the cells {layout} and no count of reports below zero.")
        yield found
    else:
        reader = found
        with using("reference"):
            none = m.empty(simulated=reader.simulated)
        yield none
        yield from ahead(lambda block: m.tally(reader.decode(block)), reader.blocks())


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Errors say in which file they were found."""
    try:
        yield
    except DeniableError as error:
        raise type(error)(f"{_name(source)}: {error.message}", error.hint) from error


def _name(source: str) -> str:
    return "standard input" if source == STANDARD else source
