"""The pipeline on one machine, chunk by chunk: values to reports, reports to a tally, a tally to estimates."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from deniable.collect.codec import ReportReader, ReportWriter, dump, kind_of, new_id, read
from deniable.collect.limits import CELLS
from deniable.collect.reports import Reports, title_of
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MergeError, ParameterError, require
from deniable.estimate.result import Estimate
from deniable.kernels import using
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.fitting import CALIBRATED, check_tally
from deniable.mechanisms.registry import from_design
from deniable.randomness import Stream, stream_of
from deniable.run.files import Progress, named, naming, open_input, open_output, refuse_loss, regular_size
from deniable.run.inputs import input_of, with_streams
from deniable.run.layout import STANDARD, Layout

__all__ = [
    "UNBIASED",
    "estimate_files",
    "estimate_tally",
    "privatize_file",
    "spent_before",
    "tally_files",
    "write_tally",
]

P = TypeVar("P")


def privatize_file(
    m: Mechanism,
    source: str,
    target: str,
    *,
    format: str | Layout = "auto",
    rng: Stream | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> int:
    """Privatise what a file holds into a report file; returns how many reports. Secure unless `rng` says otherwise.

    What a mechanism takes says what may be told about the `columns` (`deniable.run.inputs`); None is not told. Nothing
    is left behind when a value is refused: the report file appears when all of them are in it. It gets an id of its
    own, so that it is not counted twice.
    """
    _refuse_reports(source)
    refuse_loss(target, [source], force=True)
    given = {name: value for name, value in columns.items() if value is not None}
    batches = input_of(m, given).read(m, source, format, progress, **given)
    simulated = rng is not None and rng.simulated
    with ExitStack() as stack:
        out = stack.enter_context(open_output(target))
        own = "" if simulated else new_id()  # from a seed, files repeat byte for byte
        writer = stack.enter_context(ReportWriter(out, m.design, m.fields, simulated=simulated, id=own))
        stream = stream_of(rng)
        for reports in ahead(lambda job: job[0](job[1]), with_streams(batches, stream)):
            writer.write(reports)
        if writer.total == 0:
            raise ParameterError(f"{named(source)} has no values.", "At least one is needed.")
        return writer.total


def _refuse_reports(source: str) -> None:
    """Refuse to privatise what was privatised already."""
    if regular_size(source):
        kind = ""
        with open_input(source) as stream, suppress(FormatError):  # which says that these are neither
            kind = kind_of(stream.read(4))
        hint = "Privatise the values themselves; a second set of reports costs the same people a second epsilon."
        require(not kind, "values", source, f"a file of values: this one holds {kind}", hint)


def spent_before(target: str) -> str:
    """What to tell whoever replaces a file by new reports; nothing if there is none."""
    if not regular_size(target):
        return ""
    held, spent = "", ""
    with open_input(target) as stream, suppress(FormatError):  # which says that it holds no reports
        design = ReportReader(stream).design
        held, spent = f", reports of {title_of(design)}", f": {design.get('epsilon')} and that of the new ones"
    return (
        f"replacing {target}{held}. If reports of the same people were handed to anybody before, these cost them "
        f"a second epsilon{spent}; the two add up."
    )


def tally_files(sources: Sequence[str], *, progress: Progress | None = None) -> Tally:
    """The tally of all reports in report and tally files of one design, added up, in bounded memory.

    It remembers which report files it counts: one that comes twice, also within a tally, is refused.
    """
    total: list[Tally] = []

    def add(part: Tally) -> None:
        total[:] = [total[0] + part if total else part]

    counted = _walk(sources, _tallies, add, progress)
    return replace(total[0], sources=counted)


def _walk(
    sources: Sequence[str],
    parts: Callable[[Tally | ReportReader], Iterator[P]],
    add: Callable[[P], None],
    progress: Progress | None,
) -> tuple[str, ...]:
    """Hand on what the files hold, part by part; errors, also of `add`, say in which file they were found.

    Returns the ids of the report files.
    """
    require(len(sources) > 0, "files", list(sources), "at least one report or tally file")
    require(list(sources).count(STANDARD) <= 1, "files", list(sources), "a list with - at most once")
    sizes = [regular_size(source) for source in sources]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    done, seen = 0, _Seen()
    for source, size in zip(sources, sizes, strict=True):
        with open_input(source) as stream, naming(source):
            found = read(stream)
            seen.start(found, source)
            for part in parts(found):
                add(part)
                if progress is not None and whole is not None:
                    progress(done + stream.tell(), whole)
            seen.end(found, source)
        done += size or 0
    return tuple(sorted(seen.reports))


class _Seen:
    """The files that were read, and the refusal of one that comes again."""

    def __init__(self) -> None:
        self.reports: dict[str, str] = {}
        self.contents: dict[str, str] = {}
        self.tallies: dict[bytes, str] = {}

    def start(self, found: Tally | ReportReader, source: str) -> None:
        """Take note of the ids that a file tells at once."""
        own = found.sources if isinstance(found, Tally) else (found.id,) if found.id else ()
        for id in own:
            _once(self.reports, id, source)
        if isinstance(found, Tally) and not own:
            self._compare(found, source)

    def end(self, found: Tally | ReportReader, source: str) -> None:
        """Take note of a report file that has no id, by its content."""
        if isinstance(found, ReportReader) and not found.id:
            _once(self.contents, found.content, source)

    def _compare(self, tally: Tally, source: str) -> None:
        """Tallies of which nobody knows the reports: the same file is refused, the same counts are pointed out."""
        content = dump(tally)
        before = self.tallies.get(content)
        self.tallies[content] = source
        if before is None or tally.n == 0:
            return
        if STANDARD not in (before, source) and os.path.samefile(before, source):
            raise MergeError("this tally was counted already.", "Everybody counts once: leave it out.")
        told = f"{named(before)} and {named(source)} hold the same counts"
        warnings.warn(f"{told}; if they are of the same people, these were counted twice.", stacklevel=2)


def _once(seen: dict[str, str], what: str, source: str) -> None:
    """Take note of where something was read, if for the first time."""
    if what in seen:
        told = f"these reports were counted already, in {named(seen[what])}"
        raise MergeError(f"{told}.", "Everybody counts once: leave one of the two out.")
    seen[what] = source


def write_tally(tally: Tally, target: str) -> None:
    """Write a tally file, whole or not at all."""
    with open_output(target) as out:
        out.write(dump(tally))


UNBIASED = "unbiased"
"""The method that every mechanism has: its own estimator, from the tally."""


def estimate_tally(tally: Tally, method: str = UNBIASED) -> Estimate:
    """Estimate with the mechanism that the tally's own design describes, by one of its methods."""
    m = from_design(tally.design)
    _check_method(m, method)
    with using("reference"):  # nothing is counted here, so there is no need to load what counts fast
        if method == UNBIASED:
            return m.estimate(tally)
        if method in m.linear_methods:
            named: Any = m
            found: Estimate = named.estimate(tally, method)
            return found
        return m.fit(tally, method)


def estimate_files(sources: Sequence[str], method: str = UNBIASED, *, progress: Progress | None = None) -> Estimate:
    """Estimate from report and tally files of one design, by a method that its mechanism has.

    A fit needs the reports themselves where a tally does not tell all that they do; then they are kept in memory.
    """
    if method == UNBIASED:
        return estimate_tally(tally_files(sources, progress=progress))
    parts: list[Tally | Reports] = []
    _walk(sources, partial(_fittable, method), parts.append, progress)
    reports = [part for part in parts if isinstance(part, Reports)]
    tallies = [part for part in parts if isinstance(part, Tally)]
    if not reports or tallies:
        counted = [from_design(part.design).tally(part) for part in reports]
        return estimate_tally(sum(tallies[1:] + counted, tallies[0]), method)
    together = Reports.concat(reports)
    return from_design(together.design).fit(together, method)


def _check_method(m: Mechanism, method: str) -> None:
    known = (UNBIASED, *m.linear_methods, *m.fit_methods)
    require(method in known, "method", method, f"one of {', '.join(known)} for reports of {m.name}")


def _fittable(method: str, found: Tally | ReportReader) -> Iterator[Tally | Reports]:
    """The reports of a file, where the method needs them; else their tallies."""
    m = _reader_of(found)[0]
    _check_method(m, method)
    counted = method in m.linear_methods or (m.bulk.sufficient and method != CALIBRATED)
    if isinstance(found, Tally) or counted:
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
