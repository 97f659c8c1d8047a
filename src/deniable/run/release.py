"""Near answers read back as values: what single reports of brr, codebook and the like stand for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from deniable.collect.codec import ReportReader, read
from deniable.collect.reports import Reports, title_of
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MergeError, ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import RELEASE
from deniable.mechanisms.registry import entry_of, from_design
from deniable.run.files import Progress, csv_bytes, naming, open_input, open_output, regular_size
from deniable.run.layout import STANDARD
from deniable.run.local import Seen

__all__ = ["read_released", "release_files"]

_IN_MEMORY = 1 << 26
"""Bytes for standard output that are kept in memory until all is read; more of them wait in a file."""


def read_released(
    sources: Sequence[str],
    add: Callable[[list[Any], bool], object],
    *,
    remap: bool = False,
    progress: Progress | None = None,
) -> Mechanism:
    """Hand on what near answers stand for, block by block in their order, each with whether it is simulated.

    With `remap` each is taken for the answer that is nearest on average, all values being equally likely: that costs no
    privacy.
    """
    made: list[Mechanism] = []
    reading: list[Callable[[Reports], Any]] = []

    def read_block(part: Reports) -> None:
        if not made:
            made.append(from_design(part.design))
            reading.append(_reading(made[0], remap))
        if part.design != made[0].design:
            told = f"{title_of(part.design)}, and the reports before are {title_of(made[0].design)}"
            raise MergeError(f"the reports are {told}.", "Read files of different designs one by one.")
        add(reading[0](part).tolist(), part.simulated)

    require(len(sources) > 0, "files", list(sources), "at least one report file")
    require(list(sources).count(STANDARD) <= 1, "files", list(sources), "a list with - at most once")
    sizes = [regular_size(source) for source in sources]
    whole = None if None in sizes else sum(size or 0 for size in sizes)
    done, seen = 0, Seen()
    for source, size in zip(sources, sizes, strict=True):
        with open_input(source) as stream, naming(source):
            found = read(stream)
            seen.start(found, source)
            for part in _reports(found):
                read_block(part)
                if progress is not None and whole is not None:
                    progress(done + stream.tell(), whole)
            seen.end(found, source)
        done += size or 0
    return made[0]


def release_files(
    sources: Sequence[str], target: str, *, remap: bool = False, progress: Progress | None = None
) -> tuple[Mechanism, int, bool]:
    """`read_released` into a CSV file with a row per report, whole or not at all: how many, and if any is simulated."""
    count, simulated, head = 0, False, b"value,simulated\n"
    with _whole(target) as out:

        def add(values: list[Any], made_up: bool) -> None:
            nonlocal count, simulated, head
            rows = csv_bytes([{"value": value, "simulated": made_up} for value in values or [""]])
            out.write(head + (rows.partition(b"\n")[2] if values else b""))
            count, simulated, head = count + len(values), simulated or made_up, b""

        return read_released(sources, add, remap=remap, progress=progress), count, simulated


@contextmanager
def _whole(target: str) -> Iterator[IO[bytes]]:
    """Like `open_output`, also for standard output: nobody sees of a CSV file that it ends early."""
    if target != STANDARD:
        with open_output(target) as out:
            yield out
        return
    with open_output(target) as out, SpooledTemporaryFile(max_size=_IN_MEMORY) as kept:
        yield kept
        kept.seek(0)
        shutil.copyfileobj(kept, out)


def _reports(found: Tally | ReportReader) -> Iterator[Reports]:
    """The reports of a file, block by block, and that there are none."""
    if isinstance(found, Tally):
        raise FormatError("this is a tally, which has no single reports any more.", "Give the report files.")
    yield found.empty()
    yield from found


def _reading(m: Any, remap: bool) -> Callable[[Reports], Any]:
    """How reports of a mechanism become values."""
    if entry_of(m.name).question != RELEASE:
        hint = "Near answers come from brr, codebook, exponential, laplace, geometric and lsrr; see deniable estimate."
        raise ParameterError(f"single reports of {m.name} say nothing that can be read as a value.", hint)
    return m.remap().apply if remap else m.released  # type: ignore[no-any-return]
