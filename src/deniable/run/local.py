"""The pipeline on one machine, chunk by chunk: values to reports, reports to a tally, a tally to estimates."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from deniable.collect.codec import ReportReader, ReportWriter, dump, kind_of, read
from deniable.collect.limits import CELLS
from deniable.collect.parquet import LAYOUTS, TableReader, TableWriter, head_in
from deniable.collect.reports import Design, Reports, difference, new_id, title_of
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MergeError, ParameterError, require
from deniable.estimate.methods import EVIDENCE, METHODS, REPORTS, TALLY, UNBIASED, methods_for
from deniable.estimate.result import Estimate
from deniable.kernels import using
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.fitting import PLAIN, check_tally, methods_of
from deniable.mechanisms.registry import from_design
from deniable.randomness import Stream, stream_of
from deniable.run.counting import Counted, head_of
from deniable.run.files import Progress, named, naming, open_input, open_output, refuse_loss, regular_size
from deniable.run.inputs import Batch, input_of, with_streams
from deniable.run.layout import STANDARD, Layout
from deniable.run.sources import files_of
from deniable.run.tables import Group, claimed, count_group, open_table

__all__ = [
    "Seen",
    "count_files",
    "estimate_counted",
    "estimate_files",
    "estimate_tally",
    "is_table",
    "privatize_file",
    "spent_before",
    "tally_files",
    "write_reports",
    "write_tally",
]

Found: TypeAlias = Tally | ReportReader | TableReader
"""What a file holds."""


class Part(NamedTuple):
    """What was counted of a part of a file, and the reports themselves where they are asked for."""

    counted: Counted
    reports: list[Reports]


def privatize_file(
    m: Mechanism,
    source: str,
    target: str,
    *,
    format: str | Layout = "auto",
    layout: str = LAYOUTS[0],
    rng: Stream | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> int:
    """Privatise what a file, or all files of a folder, hold into a report file; returns how many reports.

    Secure unless `rng` says otherwise. A target that ends in .parquet gets a table, packed or one report per row
    (`layout`).
    What a mechanism takes says what may be told about the `columns` (`deniable.run.inputs`); None is not told. Nothing
    is left behind when a value is refused: the report file appears when all of them are in it. It gets an id of its
    own, so that it is not counted twice.
    """
    given = {name: value for name, value in columns.items() if value is not None}
    batches = input_of(m, given).read(m, source, format, progress, **given)
    return write_reports(m, batches, source, target, layout=layout, rng=rng)


def write_reports(
    m: Mechanism,
    batches: Iterable[Batch],
    source: str,
    target: str,
    *,
    layout: str = LAYOUTS[0],
    rng: Stream | None = None,
) -> int:
    """Write the reports of batches that are read from a file into a report file; returns how many reports."""
    for path in files_of(source):
        _refuse_reports(path)
        refuse_loss(target, [path], force=True)
    simulated = rng is not None and rng.simulated
    stream = stream_of(rng)  # loads what it needs now: modules that swallow an interruption leave no output waiting
    with ExitStack() as stack:
        out = stack.enter_context(open_output(target))
        own = "" if simulated else new_id()  # from a seed, files repeat byte for byte
        head = head_of(m, simulated=simulated, id=own)
        writer: ReportWriter | TableWriter
        if is_table(target):
            writer = stack.enter_context(TableWriter(out, head, layout=layout))
        else:
            writer = stack.enter_context(ReportWriter(out, m.design, m.fields, simulated=simulated, id=own))
        for reports in ahead(lambda job: job[0](job[1]), with_streams(batches, stream)):
            writer.write(reports)
        if writer.total == 0:
            raise ParameterError(f"{named(source)} has no values.", "At least one is needed.")
        return writer.total


def is_table(target: str) -> bool:
    """Whether an output is a table by its name."""
    return Path(target).suffix.lower() == ".parquet"


def _refuse_reports(source: str) -> None:
    """Refuse to privatise what was privatised already."""
    if regular_size(source):
        kind = ""
        with open_input(source) as stream, suppress(FormatError):  # which says that these are neither
            kind = kind_of(stream.read(4))
        with suppress(FormatError):  # which says that this is no table, or a damaged one: whoever reads it says so
            table = open_table(source)
            kind = "reports" if table is not None and table.metadata and head_in(table.metadata) else kind
        hint = "Privatise the values themselves; a second set of reports costs the same people a second epsilon."
        require(not kind, "values", source, f"a file of values: this one holds {kind}", hint)


def spent_before(target: str) -> str:
    """What to tell whoever replaces a file by new reports; nothing if there is none."""
    if not regular_size(target):
        return ""
    held, spent = "", ""
    with open_input(target) as stream, suppress(FormatError):  # which says that it holds no reports
        table = open_table(target)
        design = ReportReader(stream).design if table is None else table.design
        held, spent = f", reports of {title_of(design)}", f": {design.get('epsilon')} and that of the new ones"
    return (
        f"replacing {target}{held}. If reports of the same people were handed to anybody before, these cost them "
        f"a second epsilon{spent}; the two add up."
    )


def tally_files(sources: Sequence[str], *, progress: Progress | None = None) -> Tally:
    """The tally of all reports in report and tally files of one design, added up, in bounded memory.

    It remembers which report files it counts: one that comes twice, also within a tally, is refused. So is whatever
    `count_files` would skip.
    """
    return count_files(sources, strict=True, progress=progress).tally


def count_files(
    sources: Sequence[str], *, design: Design | None = None, strict: bool = False, progress: Progress | None = None
) -> Counted:
    """The tally of all reports in files, folders and patterns, and what of their tables was not counted.

    Tables (Parquet, Arrow; CSV with a `design`) may have rows without a report, or with one that does not count: these
    are counted by reason, or refused if `strict`. Report files are refused with all that is wrong in them.
    """
    total: list[Counted] = []
    for part in _walk(sources, design, strict, progress):
        total[:] = [total[0] + part.counted if total else part.counted]
    return total[0]


def _walk(
    sources: Sequence[str], given: Design | None, strict: bool, progress: Progress | None, *, fit: str | None = None
) -> Iterator[Part]:
    """What the files hold, part by part; errors say in which file they were found. The last part has their ids."""
    require(len(sources) > 0, "files", list(sources), "at least one report or tally file")
    require(list(sources).count(STANDARD) <= 1, "files", list(sources), "a list with - at most once")
    paths = [(origin, path) for origin in sources for path in files_of(origin)]
    sizes = [regular_size(path) for _, path in paths]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    done, told, seen, first = 0, 0, Seen(), None
    for (origin, source), size in zip(paths, sizes, strict=True):
        with open_input(source) as stream, naming(source):
            found: Found = open_table(source, given) or read(stream)
            seen.start(found, source, origin)
            first = first or found.design
            for count, part in enumerate(_parts(found, first, strict, fit), 1):
                if part.counted.tally.design != first:
                    raise MergeError(
                        f"tallies of different designs do not add up: {difference(first, part.counted.tally.design)}.",
                        "Estimate each with its own design, then compare or combine the estimates.",
                    )
                yield part
                if progress is not None and whole is not None:
                    groups = found.groups + 1 if isinstance(found, TableReader) else 0
                    told = done + ((size or 0) * count // groups if groups else stream.tell())
                    progress(told, whole)
            seen.end(found, source)
        done += size or 0
        if progress is not None and whole is not None and told < done:
            progress(done, whole)  # blocks are read ahead: the last one may be told before the end of its file is read
    if first is not None:
        none = from_design(first).empty()
        yield Part(Counted(replace(none, sources=tuple(sorted(seen.reports)))), [])


class Seen:
    """The files that were read, and the refusal of one that comes again."""

    def __init__(self) -> None:
        self.reports: dict[str, str] = {}
        self.contents: dict[str, str] = {}
        self.tallies: dict[bytes, str] = {}
        self.folders: dict[str, set[str]] = {}

    def start(self, found: Found, source: str, origin: str = "") -> None:
        """Take note of the ids that a file tells at once; `origin` is the folder that it was found in."""
        own = found.sources if isinstance(found, Tally) else (found.id,) if found.id else ()
        for id in own:
            if isinstance(found, TableReader) and found.parts:
                self._part(id, source, {origin, os.path.dirname(os.path.abspath(source))})
            else:
                _once(self.reports, id, source)
        if isinstance(found, Tally) and not own:
            self._compare(found, source)

    def end(self, found: Found, source: str) -> None:
        """Take note of a report file that has no id, by its content."""
        alone = not (isinstance(found, TableReader) and found.parts)
        if not isinstance(found, Tally) and not found.id and alone:
            _once(self.contents, found.content, source)

    def _part(self, id: str, source: str, folders: set[str]) -> None:
        """Files of one folder that were written together share an id; the same one in another folder is a copy."""
        if id in self.reports and not folders & self.folders.get(id, set()):
            _once(self.reports, id, source)
        self.reports.setdefault(id, source)
        self.folders.setdefault(id, set()).update(folders)

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


def estimate_tally(tally: Tally, method: str = UNBIASED) -> Estimate:
    """Estimate with the mechanism that the tally's own design describes, by one of its methods."""
    if "parts" in tally.design:
        count = len(tally.design["parts"])
        raise ParameterError(
            f"these are reports of {count} parts, of which everybody answered one; give those of one part.",
            "In Python: dn.from_design(tally.design).estimate(tally) has them all, by name.",
        )
    m = from_design(tally.design)
    _check_method(m, method)
    with using("reference"):  # nothing is counted here, so there is no need to load what counts fast
        if method == UNBIASED:
            return m.estimate(tally)
        if METHODS[method].reads == TALLY:
            named: Any = m
            found: Estimate = named.estimate(tally, method)
            return found
        return m.fit(tally, method)


def estimate_files(sources: Sequence[str], method: str = UNBIASED, *, progress: Progress | None = None) -> Estimate:
    """Estimate from report and tally files of one design; whatever would be skipped is refused."""
    return estimate_counted(sources, method, strict=True, progress=progress)[0]


def estimate_counted(
    sources: Sequence[str],
    method: str = UNBIASED,
    *,
    design: Design | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> tuple[Estimate, Counted]:
    """The estimate from files, and what was counted for it and what was not.

    A fit needs the reports themselves where a tally does not tell all that they do; then they are kept in memory.
    """
    if method == UNBIASED:
        counted = count_files(sources, design=design, strict=strict, progress=progress)
        return estimate_tally(counted.tally), counted
    parts = list(_walk(sources, design, strict, progress, fit=method))
    counted = sum((part.counted for part in parts[1:]), parts[0].counted)
    reports = [batch for part in parts for batch in part.reports]
    whole = sum(map(len, reports)) == counted.tally.n
    if not reports or not whole:
        return estimate_tally(counted.tally, method), counted
    together = Reports.concat(reports)
    return from_design(together.design).fit(together, method), counted


def _check_method(m: Mechanism, method: str) -> None:
    """Names that it does not know are refused; why it does not have one that others have, it says itself."""
    if method != UNBIASED and method not in methods_for(PLAIN):
        known = methods_of(m)
        require(method in known, "method", method, f"one of {', '.join(known)} for reports of {m.name}")


def _parts(found: Found, first: Design, strict: bool, fit: str | None) -> Iterator[Part]:
    """What a file holds, part by part, in tallies; with `fit` its reports too, where that method needs them."""
    m, none = _reader_of(found)
    keep = False
    if fit is not None:
        _check_method(m, fit)
        reads = METHODS[fit].reads
        keep = reads == REPORTS or (reads == EVIDENCE and not m.bulk.reader.sufficient)
    if isinstance(found, Tally):
        check_tally(m, found)
        yield Part(Counted(replace(found, sources=())), [])  # `Seen` has them
    elif isinstance(found, ReportReader):
        reader = found
        yield Part(Counted(none), [found.empty()] * keep)

        def count(block: Any) -> Part:
            reports = reader.decode(block)
            return Part(Counted(m.tally(reports)), [reports] * keep)

        yield from ahead(count, reader.blocks())
    elif found.design != first:
        yield _other(found, first, strict)
    else:
        empty = Reports.from_rows(m.design, m.fields, [], simulated=found.simulated)
        yield Part(Counted(none), [empty] * keep)
        given = None if found.given is None else found.given.design
        groups = [Group(found.path, number, given) for number in range(found.groups)]
        yield from ahead(lambda group: Part(*count_group(group, strict=strict, keep=keep)), groups)


def _other(found: TableReader, first: Design, strict: bool) -> Part:
    """A table of another design than the first one: none of it counts."""
    if strict:
        raise MergeError(f"these reports are of another design: {difference(first, found.design)}.")
    told = f"{found.path}: {difference(first, found.design)}"
    return Part(Counted(from_design(first).empty(), {"design": claimed(found)}, {"design": told}), [])


def _reader_of(found: Found) -> tuple[Mechanism, Tally]:
    """The mechanism of a file, and its tally of no reports, which is not too large."""
    m = from_design(found.design)
    return m, m.empty(simulated=found.simulated, most=CELLS)
