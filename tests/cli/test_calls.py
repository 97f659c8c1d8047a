"""Thousands of command lines, right and wrong: exit codes, errors that name the option, nothing half-written."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from fuzz import lines

SAMPLE = 100
"""Lines of the default tier (about 2 s); the full tier has MANY (about a minute)."""
MANY = 2000

pytestmark = pytest.mark.filterwarnings("default")  # as for people: told, and no reason to stop


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def tidy(folder: Path, before: dict[str, bytes | None]) -> None:
    """Put the folder back to what it was."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, data in before.items():
        (folder / name).mkdir() if data is None else (folder / name).write_bytes(data)


def rows(data: bytes | None) -> list[str]:
    """All that a database says, however its pages lie; of another file its bytes."""
    if not data or not data.startswith(b"SQLite format 3"):
        return [repr(data)]
    with closing(sqlite3.connect(":memory:")) as link:
        link.deserialize(data[:18] + b"\x01\x01" + data[20:])  # without the mark for a log in a file beside it
        return list(link.iterdump())


def told(line: lines.Line, done) -> str:
    """What a failed line says is wrong: one error, as JSON where JSON was asked for and nothing else on that side."""
    if "--json" in line.words:
        return json.loads(done.out)["error"]["message"]
    said = [text for text in done.err.splitlines() if text.startswith("error: ")]
    assert len(said) == 1, (line.words, done.err)
    assert done.out == "", (line.words, done.err)
    return said[0]


def problems(line: lines.Line, done, before: dict[str, bytes | None], after: dict[str, bytes | None]) -> list[str]:
    """What is wrong with what a line did."""
    found = []
    changed = {name for name in {*before, *after} if before.get(name, ()) != after.get(name, ())}
    named = {value for flag, value in line.options if flag in ("--out", "--chart", "--chart-means", "--resume")}
    named |= {*line.places} if line.command == "store backup" else set()
    urls = {value for flag, value in line.options if flag == "--database" and value}
    bases = {url.removeprefix("sqlite:///") for url in urls}
    if done.code == 2:  # a database that was not there is made before anything is asked of it
        bases = {name for name in bases if name not in before or rows(before[name]) == rows(after.get(name))}
    changed -= bases | {f"{name}.journal" for name in bases}
    if done.code not in (0, 1, 2):
        found.append(f"exit code {done.code}")
    if changed - named or (done.code == 2 and changed):
        found.append(f"left {sorted(changed)}")
    if "Traceback" in done.err:
        found.append("a traceback")
    if done.code == 2:
        message = told(line, done)
        what, which = line.done[0] if len(line.done) == 1 else ("", "")
        given = {str(value).removeprefix("sqlite:///") for flag, value in line.options if flag == which and value}
        values = {value if len(value) > 3 else repr(value) for value in given}
        if what in ("odd", "more", "no value", "misspelt") and not any(name in message for name in {which, *values}):
            found.append(f"{which} is not named")
    return found


def check(run, folder: Path, seeds: range) -> Counter[int]:
    """Run the lines; all of their problems at once."""
    lines.files(folder)
    before, codes, wrong = contents(folder), Counter[int](), []
    for seed in seeds:
        line = lines.make(seed)
        done = run(*line.words)
        after = contents(folder)
        codes[done.code] += 1
        for problem in problems(line, done, before, after):
            wrong.append(f"{seed}: {problem}: {line.words}\n    {(done.err or done.out)[-300:]}")
        if after != before:
            tidy(folder, before)
    assert not wrong, "\n".join(wrong)
    return codes


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """The results are the same; nothing has to be compiled, and no collector is started."""
    monkeypatch.setenv("DENIABLE_KERNELS", "reference")
    monkeypatch.setattr("deniable.service.http.serve.run", lambda chosen, ready: ready(f"http://{chosen.host}"))


def test_lines_of_all_kinds_end_well(run, tmp_path):
    codes = check(run, tmp_path, range(SAMPLE))
    assert min(codes[0], codes[2]) > SAMPLE // 5, codes


@pytest.mark.turns(3)
@pytest.mark.slow
def test_thousands_of_lines_end_well(run, tmp_path):
    codes = check(run, tmp_path, range(10_000, 10_000 + MANY))
    assert min(codes[0], codes[2]) > MANY // 5, codes
    assert set(codes) <= {0, 1, 2}


def test_lines_reach_every_command_row_and_option():
    """The generator's reach: what it never tries it cannot find."""
    made = [lines.make(seed) for seed in range(10_000, 10_000 + 5 * MANY)]
    wanted = set(lines.COMMANDS) - lines.NOT_TRIED
    assert {line.command for line in made} == wanted
    assert {line.places[0] for line in made if line.places} >= set(lines.ROWS)
    tried = {flag for line in made for flag, _ in line.options}
    assert tried >= {flag for name in wanted for flag in lines.Line(name).known} - {"--help"}


@pytest.mark.parametrize("text", ["1e5", "100_000", "1.0e5", "+100000", "1E+5"])
def test_whole_numbers_as_people_type_them(run, text):
    assert run("design", "ss", "--epsilon", 1, "--k", 10, "--n", text, "--json").json["n"] == 100_000


@pytest.mark.parametrize("text", ["1e-1", "1.5", "1_0", "1__000", "1e", "_1", "1.55e1", "1e999", "1,000"])
def test_what_is_not_a_whole_number_is_named_as_typed(run, text):
    done = run("design", "ss", "--epsilon", 1, "--k", 10, "--n", text)
    assert done.code == 2
    assert f"error: --n must be a whole number, got {text!r}." in done.err
