"""What a name of files stands for: one file, all files of a folder, or those that fit a pattern."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import TypeAlias

from deniable.errors import ParameterError
from deniable.run.layout import STANDARD

__all__ = ["Progress", "files_of", "regular_size", "told_of"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called now and then with how much is done and how much there is (None: unknown)."""

_HINT = "Give the name of a file, of a folder with files, or a pattern in quotes: 'day-*.csv'."


def files_of(source: str) -> list[str]:
    """The files that a name stands for, in the order of their names.

    A folder stands for what is in it and below it, without names that begin with `_` or `.`, which are not data. A name
    with `*`, `?` or `[` is a pattern (`**` for folders of any depth), unless there is a file of that very name.
    """
    if source == STANDARD or os.path.isfile(source):
        return [source]
    if os.path.isdir(source):
        found = [str(path) for path in Path(source).rglob("*") if path.is_file() and _is_data(path, Path(source))]
        if not found:
            raise ParameterError(f"{source!r} is a folder without any file to read.", _HINT)
        return sorted(found)
    if has_magic(source):
        found = [path for path in glob(source, recursive=True) if os.path.isfile(path)]
        if not found:
            raise ParameterError(f"no file fits the pattern {source!r}.", _HINT)
        return sorted(found)
    return [source]  # whoever opens it says what is wrong


def _is_data(path: Path, folder: Path) -> bool:
    return not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)


def regular_size(source: str) -> int | None:
    """Bytes of a regular file; None for standard input, pipes and what is not there."""
    if source == STANDARD:
        return None
    try:
        found = os.stat(source)
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def told_of(source: str, progress: Progress | None) -> Iterator[tuple[str, Progress | None]]:
    """The files that a name stands for, each with what tells how much of all of them is done."""
    paths = files_of(source)
    if len(paths) == 1 or progress is None:
        yield from ((path, progress) for path in paths)
        return
    sizes = [regular_size(path) or 0 for path in paths]
    done, whole = 0, sum(sizes)
    for path, size in zip(paths, sizes, strict=True):
        yield path, _share(progress, done, size, whole)
        done += size


def _share(progress: Progress, before: int, size: int, whole: int) -> Progress:
    """The progress of one of several files."""

    def told(done: int, total: int | None) -> None:
        progress(before + (size * done // total if total else 0), whole)

    return told
