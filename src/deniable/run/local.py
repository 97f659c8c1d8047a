"""The pipeline on one machine, chunk by chunk: values to reports, reports to a tally, a tally to estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

from deniable.collect.codec import ReportReader, ReportWriter, dump, read
from deniable.collect.limits import CELLS
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, ParameterError, require
from deniable.estimate.result import Estimate
from deniable.kernels import using
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.registry import from_design
from deniable.randomness import Stream, secure
from deniable.run.files import STANDARD, Progress, named, open_input, open_output, regular_size
from deniable.run.inputs import input_of, with_streams

__all__ = ["ESTIMATORS", "estimate_files", "estimate_tally", "privatize_file", "tally_files", "write_tally"]

P = TypeVar("P")


def privatize_file(
    m: Mechanism,
    source: str,
    target: str,
    *,
    format: str = "auto",
    rng: Stream | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> int:
    """Privatise what a file holds into a report file; returns how many reports. Secure unless `rng` says otherwise.

    What a mechanism takes says what may be told about the `columns` (`deniable.run.inputs`); None is not told. Nothing
    is left behind when a value is refused: the report file appears when all of them are in it.
    """
    given = {name: value for name, value in columns.items() if value is not None}
    batches = input_of(m, given).read(m, source, format, progress, **given)
    simulated = rng is not None and rng.simulated
    with open_output(target) as out, ReportWriter(out, m.design, m.fields, simulated=simulated) as writer:
        stream = secure() if rng is None else rng
        for reports in ahead(lambda job: job[0](job[1]), with_streams(batches, stream)):
            writer.write(reports)
        if writer.total == 0:
            raise ParameterError(f"{named(source)} has no values.", "At least one is needed.")
        return writer.total


def tally_files(sources: Sequence[str], *, progress: Progress | None = None) -> Tally:
    """The tally of all reports in report and tally files of one design, added up, in bounded memory."""
    total: list[Tally] = []

    def add(part: Tally) -> None:
        total[:] = [total[0] + part if total else part]

    _walk(sources, lambda stream: _tallies(read(stream)), add, progress)
    return total[0]


def _walk(
    sources: Sequence[str],
    parts: Callable[[BinaryIO], Iterator[P]],
    add: Callable[[P], None],
    progress: Progress | None,
) -> None:
    """Hand on what the files hold, part by part; errors, also of `add`, say in which file they were found."""
    require(len(sources) > 0, "files", list(sources), "at least one report or tally file")
    require(list(sources).count(STANDARD) <= 1, "files", list(sources), "a list with - at most once")
    sizes = [regular_size(source) for source in sources]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    done = 0
    for source, size in zip(sources, sizes, strict=True):
        with open_input(source) as stream, _naming(source):
            for part in parts(stream):
                add(part)
                if progress is not None and whole is not None:
                    progress(done + stream.tell(), whole)
        done += size or 0


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


def estimate_files(
    sources: Sequence[str], method: str = ESTIMATORS[0], *, progress: Progress | None = None
) -> Estimate:
    """Estimate from report and tally files of one design.

    A fit needs the reports themselves where a tally does not tell all that they do; then they are kept in memory.
    """
    require(method in ESTIMATORS, "method", method, f"one of {', '.join(ESTIMATORS)}")
    if method == ESTIMATORS[0]:
        return estimate_tally(tally_files(sources, progress=progress))
    parts: list[Tally | Reports] = []
    _walk(sources, _fittable, parts.append, progress)
    reports = [part for part in parts if isinstance(part, Reports)]
    tallies = [part for part in parts if isinstance(part, Tally)]
    if not reports or tallies:
        counted = [from_design(part.design).tally(part) for part in reports]
        return estimate_tally(sum(tallies[1:] + counted, tallies[0]), method)
    together = Reports.concat(reports)
    return from_design(together.design).fit(together, method)


def _fittable(stream: BinaryIO) -> Iterator[Tally | Reports]:
    """The reports of a file, where a fit needs them; else their tallies."""
    found = read(stream)
    if isinstance(found, Tally) or _reader_of(found)[0].bulk.sufficient:
        yield from _tallies(found)
    else:
        yield found.empty()
        yield from found


def _tallies(found: Tally | ReportReader) -> Iterator[Tally]:
    """The tally of each block of reports, or the one tally, that a file holds."""
    m, none = _reader_of(found)
    if isinstance(found, Tally):
        check_tally(m, found)
        yield found
    else:
        reader = found
        yield none
        yield from ahead(lambda block: m.tally(reader.decode(block)), reader.blocks())


def _reader_of(found: Tally | ReportReader) -> tuple[Mechanism, Tally]:
    """The mechanism of a file, and its tally of no reports, which is not too large."""
    m = from_design(found.design)
    return m, m.empty(simulated=found.simulated, most=CELLS)


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Errors say in which file they were found."""
    try:
        yield
    except DeniableError as error:
        raise type(error)(f"{named(source)}: {error.message}", error.hint) from error
