"""What commands print: results on standard output (tables, or one JSON object), the rest on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError, require
from deniable.present.tables import Table, Whole, printable
from deniable.run.files import Progress, check_output, refuse_loss
from deniable.run.layout import STANDARD

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["Output", "heard", "write_json"]

_PATIENCE = 1.0
"""Seconds after which a progress bar appears."""


class Output:
    """The one way out for commands."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._taken = False
        self._files: set[str] = set()

    def claim(
        self,
        target: str | None,
        name: str = "out",
        *,
        sources: Sequence[str | None] = (),
        force: bool = False,
        plain: bool = True,
    ) -> None:
        """Take a file, if one is named, for something that will be written; before any work is done for it.

        It must be none of the `sources`, no file that is there unless `force` says so, and nothing that was taken
        before; if it is a `plain` file, its folder must be there, too. Standard output is taken for bytes if `target`
        is `-`: then no table is printed there.
        """
        if target is None:
            return
        refuse_loss(target, [source for source in sources if source is not None], force=force, name=name)
        if plain:
            check_output(target, name)
        path = os.path.realpath(target)
        require(path not in self._files, name, target, "another file than the other outputs")
        self._files.add(path)
        if target != STANDARD:
            return
        if self.as_json:
            raise ParameterError(
                f"{name} must not be - together with --json: both would go to standard output.", "Name a file."
            )
        self._taken = True

    def note(self, text: str) -> None:
        """Say on standard error what is done."""
        sys.stderr.write(f"{printable(text)}\n")

    def show(self, document: Mapping[str, Any], *parts: Table | str) -> None:
        """The result: the document for --json, else the tables and texts."""
        if self.as_json:
            write_json(document)
        else:
            self.tell(*parts)

    def tell(self, *parts: Table | str) -> None:
        """Tables and texts for people; nothing with --json or where standard output is taken."""
        if self.as_json or self._taken:
            return
        width, styled = _width(), sys.stdout.isatty()
        blocks = [
            part.render(width=width, styled=styled)
            if isinstance(part, Table)
            else printable(part)
            if isinstance(part, Whole)
            else textwrap.fill(printable(part), min(width or 100, 100), break_on_hyphens=False)
            for part in parts
        ]
        sys.stdout.write("\n\n".join(blocks) + "\n")
        sys.stdout.flush()

    @contextmanager
    def progress(self, what: str, announcement: str | None = None) -> Iterator[Progress]:
        """A callback that shows a bar on standard error, if that is a terminal and the work takes over a second.

        An announcement is made as soon as the callback hears that nothing is done yet: then all is in order.
        """
        bar = _Bar(what)

        def update(done: int, total: int | None) -> None:
            if done == 0 and announcement is not None:
                self.note(announcement)
            bar.update(done, total)

        try:
            yield update
        finally:
            bar.stop()


def heard() -> Callable[[str, float], None]:
    """A callback that says on standard error what takes long: one line for each step, from the second second on."""
    start, told = time.monotonic(), set[str]()

    def hear(step: str, number: float) -> None:
        if time.monotonic() - start > _PATIENCE and step not in told:
            told.add(step)
            sys.stderr.write(f"{printable(step)} ...\n")
            sys.stderr.flush()

    return hear


def write_json(document: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")
    sys.stdout.flush()


def _width() -> int | None:
    """Columns of the terminal, or those asked for; None (as wide as it gets) in a pipe."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    return None


class _Bar:
    def __init__(self, what: str) -> None:
        self._what, self._start = what, time.monotonic()
        self._bar: tuple[RichProgress, TaskID] | None = None

    def update(self, done: int, total: int | None) -> None:
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._start > _PATIENCE:
            from rich.console import Console
            from rich.progress import Progress as RichProgress

            progress = RichProgress(console=Console(stderr=True), transient=True)
            self._bar = progress, progress.add_task(self._what, total=total)
            progress.start()
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=done, total=total)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar[0].stop()
