"""Every command that reads a database is given an address with a password, in every way: it is shown by none.

The commands come from the command line's own table, so a new one is tried by itself. What is looked at: what they
print, also as JSON, and the files that they leave behind.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from canary.forms import leaked
from canary.loggers import NAMES, kept
from deniable.cli import main
from deniable.cli.app import build
from deniable.service.settings import settings
from deniable_client import DeniableError, Ledger
from tasks import noon, signed

PASSWORD, HOOK = b"canary-of-a-password", b"canary-of-a-hook"
URL = f"postgresql://ann:{PASSWORD.decode()}@127.0.0.1:1/db"
"""Nobody listens there."""
KNOWN = {"serve", "key new", "key list", "key rotate", "task new", "task export", "store check", "store backup"}


def commands() -> Iterator[tuple[list[str], list[Any]]]:
    """Every command that takes a database, and its parameters."""

    def walk(command: Any, path: list[str]) -> Iterator[tuple[list[str], list[Any]]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, [*path, name])
        if any("--database" in each.opts for each in command.params):
            yield path, list(command.params)

    app = build()
    yield from walk(app if hasattr(app, "commands") else typer.main.get_command(app), [])


def needed(parameters: list[Any]) -> list[str]:
    """What a command cannot be called without."""
    given = {"--role": "analyst", "--design": "design.json", "--days": "3"}
    found: list[str] = []
    for each in parameters:
        if each.required and each.opts[-1].startswith("--"):
            found += [each.opts[-1], given.get(each.opts[-1], "x")]
        elif each.required:
            found.append("design.json" if each.name == "file" else "x" * 64)
    return found


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, bytes]:
    with kept():  # `serve` sets the log up before it opens the database
        code = main(words)
    told = capsys.readouterr()
    return code, (told.out + told.err).encode()


def test_no_command_shows_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By an option, in the environment and in a file of settings; the address is wrong, or nobody answers there."""
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    Path("design.json").write_text("{}")
    Path("settings.toml").write_text(f'database = "{URL}"\nwebhooks = "https://example.org/{HOOK.decode()}"\n')
    every = {" ".join(path): (path, parameters) for path, parameters in commands()}
    assert set(every) >= KNOWN
    reached = 0
    monkeypatch.setenv("DENIABLE_DATABASE", URL.replace("postgresql", "postgresqll"))
    for number, (path, parameters) in enumerate(every.values()):
        rest = needed(parameters)
        ways = ([], ["--database", URL.replace("@127", "@[127"), "--json"], ["--config", "settings.toml"])
        for way in (["--database", URL], ways[number % 3]):  # all of them for all commands would take long
            code, told = said([*path, *rest, *way], capsys)
            assert code == 2, (path, way, told)
            assert leaked(told, [PASSWORD, HOOK]) == set(), (path, way)
            reached += b"cannot be used now" in told
    assert reached >= len(every) / 2, "most came as far as the database"
    assert all(logging.getLogger(name).propagate for name in NAMES), "tests after this one read the log"
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "settings.toml"]
    assert [path for path in left if leaked(path.read_bytes(), [PASSWORD, HOOK])] == []


def without_database() -> set[str]:
    """Every command that takes none."""

    def walk(command: Any, path: list[str]) -> Iterator[str]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, [*path, name])
        if not hasattr(command, "commands") and not any("--database" in each.opts for each in command.params):
            yield " ".join(path)

    app = build()
    return set(walk(app if hasattr(app, "commands") else typer.main.get_command(app), []))


def test_commands_on_files_take_along_nothing_that_they_were_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns beside the answers, and secrets of the environment, are in no output, no error and no file."""
    names, notes = b"canary-of-a-name", b"canary-of-a-note"
    secrets = [names, notes, PASSWORD, HOOK]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENIABLE_DATABASE", URL)
    monkeypatch.setenv("DENIABLE_WEBHOOKS", f"https://example.org/{HOOK.decode()}")
    rows = "".join(f"{names.decode()}-{i},{i % 2},{i % 3},{notes.decode()}\n" for i in range(60))
    Path("people.csv").write_text("name,a,b,note\n" + rows)
    Path("wrong.csv").write_text("name,a,b,note\n" + rows + f"{names.decode()},7,8,{notes.decode()}\n")
    grr, asked = ["grr", "--epsilon", "1", "--k", "2"], ["survey", "design", "--epsilon", "1", "--out", "s.json"]
    steps = [
        ["design", *grr],
        ["plan", "--k", "2", "--n", "60", "--epsilon", "1"],
        ["privatize", *grr, "people.csv", "--column", "a", "--out", "r.bin"],
        ["tally", "r.bin", "--out", "t.bin"],
        ["estimate", "t.bin", "--out", "e.csv"],
        ["simulate", *grr, "--data", "people.csv", "--column", "a"],
        ["verify", "r.bin"],
        [*asked, "--question", "a=2", "--question", "b=3"],
        ["survey", "privatize", "s.json", "people.csv", "--columns", "a,b", "--out", "sr.bin"],
        ["survey", "tally", "s.json", "sr.bin", "--out", "st.bin"],
        ["survey", "estimate", "s.json", "st.bin", "--out", "se.csv"],
        ["privatize", *grr, "wrong.csv", "--column", "a", "--out", "x.bin"],
        ["survey", "privatize", "s.json", "wrong.csv", "--columns", "a,b", "--out", "y.bin"],
    ]
    known = without_database()
    for number, words in enumerate(steps):
        assert words[0] in known or " ".join(words[:2]) in known
        code, told = said([*words, "--json"], capsys)
        assert code == (2 if number >= len(steps) - 2 else 0), (words, told)
        assert leaked(told, secrets) == set(), words
    made = {path.name for path in tmp_path.iterdir()} - {"people.csv", "wrong.csv"}
    assert made == {"r.bin", "t.bin", "e.csv", "s.json", "sr.bin", "st.bin", "se.csv"}
    assert [name for name in made if leaked(Path(name).read_bytes(), secrets)] == []


def test_settings_do_not_show_where_they_lead() -> None:
    found = settings({"database": URL, "webhooks": f"https://example.org/{HOOK.decode()}"})
    assert leaked(repr(found).encode(), [PASSWORD, HOOK]) == set()
    for wrong in (f"ftp://example.org/{HOOK.decode()}", f"https://ann:{HOOK.decode()}@example.org /x"):
        with pytest.raises(DeniableError, match=r"webhooks must be addresses.*got '.*example.org.*/\.\.\.'") as error:
            settings({"webhooks": wrong})
        assert leaked(str(error.value).encode(), [HOOK]) == set()


def test_a_ledger_keeps_neither_its_secret_nor_the_answer(tmp_path: Path) -> None:
    """Of a device: the secret is in no file, no export and no error; the file is the same size whatever was said."""
    secret = b"canary-of-the-secret-of-a-device"
    sizes = []
    for answer in ("yes", "no"):
        ledger = Ledger(tmp_path / answer, secret=secret, clock=noon)
        ledger.answer(signed(budget=1), answer)
        told = repr(ledger.export()) + repr(ledger.overview()) + repr(ledger)
        with pytest.raises(DeniableError) as wrong:
            Ledger(tmp_path / answer, secret=os.urandom(32), clock=noon).answer(signed(budget=1), answer)
        told += str(wrong.value)
        assert leaked(told.encode(), [secret]) == set()
        assert leaked((tmp_path / answer).read_bytes(), [secret]) == set()
        sizes.append((tmp_path / answer).stat().st_size)
    assert sizes[0] == sizes[1]
