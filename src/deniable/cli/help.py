"""What `--help` shows: words and names stay whole in every width from 40 columns up, and no text is cut."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

import typer

__all__ = ["HelpContext"]

_LEAST, _MOST = 20, 78
"""Columns that the text of a line may take."""
_READABLE = 24
"""Columns that a meaning needs to stand beside its name; else it stands below."""
_BOLD, _USUAL = "\x1b[1m", "\x1b[0m"


class _Formatter(typer.Context.formatter_class):  # type: ignore[valid-type, misc]
    """Lays help out within the columns of the terminal; headings and names are bold on one."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(width=max(_LEAST, min(shutil.get_terminal_size().columns - 2, _MOST)))
        self._styled = sys.stdout.isatty()

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line that shows how the command is called."""
        start, rest = f"{prefix or 'Usage: '}{prog} ", " " * min(len(prefix or "Usage: ") + len(prog) + 1, 11)
        first, _, _ = args.partition(" ")
        if len(start) + len(first) > self.width:  # not even the first word fits beside a long name
            self.write(f"{start.rstrip()}\n{self._wrapped(args, rest, rest)}\n")
            return
        self.write(f"{self._wrapped(args, start, rest)}\n")

    def write_heading(self, heading: str) -> None:
        """The name of a section."""
        self.write(f"{self._bold(f'{heading}:')}\n")

    def write_text(self, text: str) -> None:
        """Paragraphs, separated by an empty line."""
        indent = " " * self.current_indent
        found = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))
        self.write("\n\n".join(self._wrapped(part, indent, indent) for part in found) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Names and what they mean, side by side where there is room."""
        indent = " " * self.current_indent
        column = min(max(len(name) for name, _ in rows), col_max) + col_spacing
        aside = self.width - len(indent) - column >= _READABLE
        margin = indent + " " * (column if aside else 4)
        for name, meaning in rows:
            shown = "\n".join(indent + self._bold(line) for line in _listed(name, self.width - len(indent)))
            told = self._wrapped(meaning, margin, margin)
            if aside and len(name) <= column - col_spacing:
                self.write(f"{shown}{told[len(indent) + len(name) :]}\n")
            else:
                self.write("".join(f"{text}\n" for text in (shown, told) if text))

    def _wrapped(self, text: str, first: str, rest: str) -> str:
        return textwrap.fill(
            text,
            self.width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_USUAL}" if self._styled and text else text


def _listed(name: str, width: int) -> list[str]:
    """An option and what may follow it; a long list of choices goes on in the next line behind one of its bars.

    >>> _listed("--rule mean|min|median", 16)
    ['--rule mean|min|', '  median']
    """
    lines = [""]
    for part in re.findall(r"[^|]+\|?|\|", name):
        if len(lines[-1] + part) > width and lines[-1].strip():
            lines.append("  ")
        lines[-1] += part
    return lines


class HelpContext(typer.Context):
    """A context whose help is laid out here."""

    formatter_class = _Formatter
