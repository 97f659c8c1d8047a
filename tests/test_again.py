"""Failures that are tried again: green only where every one of them passes alone, and then named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import again

HERE = Path(__file__).parent
STABLE = "def test_stable():\n    assert True\n"
UNSTABLE = """
from pathlib import Path

def test_first_of_two():
    known = Path("known")
    first = not known.exists()
    known.touch()
    assert not first, "a | b"
"""
BROKEN = "def test_broken():\n    assert 1 == 2\n"
CRASHES = """
import os
from pathlib import Path

def test_ends_its_worker():
    known = Path("ended")
    if not known.exists():
        known.touch()
        os._exit(1)
"""
MANY = """
import pytest
from pathlib import Path

@pytest.mark.parametrize("i", range(11))
def test_many(i):
    known = Path(str(i))
    first = not known.exists()
    known.touch()
    assert not first
"""
TORN_DOWN = """
import pytest
from pathlib import Path

@pytest.fixture
def resource():
    yield
    known = Path("torn")
    first = not known.exists()
    known.touch()
    assert not first

def test_torn_down(resource):
    assert True
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[int, list[str], list[tuple[str, str, str]]]]:
    """Runs some tests in a folder of their own: exit status, lines, and the list of unstable tests."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("conftest.py", "tiers.py", "again.py", "unstable.md"):
        text = (HERE / name).read_text()
        (tests / name).write_text("".join(f"{line}\n" for line in text.splitlines() if not line.startswith("| 2")))
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = tests\n")

    def run(*files: str, workers: int = 0) -> tuple[int, list[str], list[tuple[str, str, str]]]:
        for i, text in enumerate(files):
            (tests / f"test_{i}.py").write_text(text)
        command = [sys.executable, "tests/again.py", "-n", str(workers), "tests"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), again.rows_of((tests / "unstable.md").read_text())

    return run


@pytest.mark.slow
def test_what_passes_alone_is_unstable(run) -> None:
    status, lines, rows = run(STABLE, UNSTABLE)
    assert status == 0
    assert lines[-1].startswith("unstable, passed alone: tests/test_1.py::test_first_of_two (AssertionError: a / b")
    assert [test for _, test, _ in rows] == ["tests/test_1.py::test_first_of_two"]
    assert rows[0][2].startswith("not known yet: AssertionError: a / b")


@pytest.mark.slow
def test_what_fails_again_is_broken(run) -> None:
    status, lines, rows = run(UNSTABLE, BROKEN)
    assert status == 1
    assert "broken: tests/test_1.py::test_broken" in lines
    assert [test for _, test, _ in rows] == ["tests/test_0.py::test_first_of_two"]


@pytest.mark.slow
def test_failures_after_the_test_count_too(run) -> None:
    assert [test for _, test, _ in run(TORN_DOWN)[2]] == ["tests/test_0.py::test_torn_down"]


@pytest.mark.slow
def test_a_worker_that_ends_is_a_failure_of_its_test(run) -> None:
    status, _, rows = run(STABLE, CRASHES, workers=2)
    assert (status, [test for _, test, _ in rows]) == (0, ["tests/test_1.py::test_ends_its_worker"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "files", [(STABLE, "import nothing_of_this_name\n"), (STABLE, BROKEN.replace("():", "(missing):")), (BROKEN,)]
)
def test_what_cannot_run_stays_red(run, files: tuple[str, ...]) -> None:
    status, _, rows = run(*files)
    assert status != 0
    assert rows == []


@pytest.mark.slow
def test_many_failures_are_no_accident(run) -> None:
    status, lines, rows = run(MANY)
    assert status == 1
    assert "11 tests failed: too many to be tried again alone." in lines
    assert rows == []


def test_the_list_names_tests_that_are_there() -> None:
    """A test that was mended, renamed or taken away has no row any more."""
    for day, test, cause in again.rows_of((HERE / "unstable.md").read_text()):
        path, _, name = test.partition("::")
        assert len(day) == len("2026-01-01"), test
        assert f"def {name.rpartition('::')[2].partition('[')[0]}(" in (HERE.parent / path).read_text(), test
        assert cause, test
