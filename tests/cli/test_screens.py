"""What the main commands show at four widths, kept as text: nothing is lost, nothing is wider than the screen.

After a change that is meant: `SCREENS=write pytest tests/cli/test_screens.py`, and look at the difference.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import deniable as dn
from deniable.cli import main
from deniable.cli.app import build
from deniable.present.tables import Column, Table

FOLDER = Path(__file__).with_name("screens")
WIDTHS = (40, 60, 80, 120)
LABELS = ["never", "sometimes", "often, but not every day of the week", "\u6bcf\u5929 (every day)"]
_PAIRS = ("--question", "key-value")
PROMISE = '{"item_epsilon": [1, 2, 3, 4, "inf"], "rule": "min", "labels": ["always", "often", "rarely", "never", "?"]}'
SCREENS = {
    "help": ("--help",),
    "help-task-new": ("task", "new", "--help"),
    "mechanisms": ("mechanisms",),
    "design": ("design", "uss", "--epsilon", 1, "--k", 10, "--sensitive", 3, "--n", "1e4"),
    "plan": ("plan", "--k", 100, "--n", 100_000, "--epsilon", 1, "--top", 6),
    "plan-keyvalue": ("plan", *_PAIRS, "--k", 8, "--n", 5000, "--epsilon", 1, "--weights", "error=2,asr=1", "--top", 4),
    "plan-mean": ("plan", "--question", "mean", "--interval", "0,10", "--n", 500, "--epsilon", 2, "--weight", 0.5),
    "audit": ("audit", "ss", "--epsilon", 1, "--k", 6),
    "estimate": ("estimate", "r.bin"),
    "promise": ("promise", "p.json", "--explain", "always"),
    "simulate": ("simulate", "ss", "--epsilon", 1, "--k", 5, "--data", "zipf", "--n", 2000, "--runs", 3),
}


@pytest.fixture
def reports(tmp_path):
    m = dn.mechanism("ss", epsilon=2.0, labels=LABELS)
    people = [LABELS[i] for i in (0, 0, 0, 1, 1, 2, 3)] * 300
    (tmp_path / "r.bin").write_bytes(dn.dump(m.privatize(people, rng=dn.simulation(5))))
    (tmp_path / "p.json").write_text(PROMISE)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was(run, reports, monkeypatch, name, width):
    monkeypatch.setenv("DENIABLE_KERNELS", "reference")
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*SCREENS[name])
    assert done.code == 0, done.err
    path = FOLDER / f"{name}-{width}.txt"
    if os.environ.get("SCREENS") == "write":
        path.write_text(done.out)
    assert done.out == path.read_text()
    for line in done.out.splitlines():
        wide = sum(1 + (ord(sign) > 0x2E7F) for sign in line)
        assert wide <= width or "deniable " in line, line  # a command to copy stays whole


COLUMNS = (Column("name"), Column("what it is", wrap=True), Column("share", right=True), Column("interval", right=True))
ROWS = [
    ("plain", "a few words that say what it is and go on for a while", "12.34 %", "11.10 to 13.58 %"),
    ("a-name-that-is-long", "", "0.00 %", "-0.10 to 0.10 %"),
    ("\u6bcf\u5929", "x" * 70, "100.00 %", "99.00 to 101.00 %"),
]


@pytest.mark.parametrize("width", range(20, 121, 5))
def test_no_cell_is_lost_at_any_width(width):
    text = Table(COLUMNS, ROWS).render(width=width)
    together = "".join(text.split())
    for word in (word for row in ROWS for cell in row for word in cell.split()):
        kept = word in together if len(word) < 20 else together.count("x") >= 70
        assert kept, (word, text)
    assert max(sum(1 + (ord(sign) > 0x2E7F) for sign in line) for line in text.splitlines()) <= width


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The program, its commands and their second words."""
    yield words, group
    for name, each in getattr(group, "commands", {}).items():
        yield from commands(each, (*words, name))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("styled", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize("width", WIDTHS)
def test_help_says_all_and_breaks_no_word_at_any_width(monkeypatch, width, styled):
    monkeypatch.setenv("COLUMNS", str(width))
    for words, each in commands(typer.main.get_command(build())):
        screen = Terminal() if styled else io.StringIO()
        monkeypatch.setattr(sys, "stdout", screen)
        assert main([*words, "--help"]) == 0
        assert styled == ("\x1b[1mOptions:\x1b[0m" in screen.getvalue())
        text = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
        assert max(map(len, text.splitlines())) <= width, words
        assert "\u2026" not in text
        told = " ".join(text.split())
        listed = getattr(each, "commands", {}).values()
        meanings = [each.help, *(param.help for param in each.params), *(one.short_help for one in listed)]
        for meaning in meanings:
            assert " ".join(meaning.split()) in told, (words, meaning)
        for flag in (flag for param in each.params for flag in param.opts if flag.startswith("--")):
            assert re.search(rf"^  {flag}(?: |$)", text, re.MULTILINE), (words, flag)
