"""What the scripts that look at the sources count: walks and shape, on made-up ones."""

from __future__ import annotations

from types import ModuleType

import pytest

Modules = dict[str, ModuleType]

BASE = "deniable/mechanisms/base.py"
X = "deniable/core/x.py"
MECHANISM = "class Mechanism:\n    def f(self): 'Doc.'\n    def g(self): 'Doc.'\n"


@pytest.mark.parametrize(
    ("place", "folder"),
    [
        ("client/kernels/basic.py", "client"),
        ("mechanisms/base.py", "mechanisms"),
        ("mechanisms/utility/base.py", "mechanisms/utility"),
        ("kernels/reference/draws.py", "kernels"),
        ("randomness.py", "randomness"),
    ],
)
def test_folder_of_a_file(benchmarks: Modules, place: str, folder: str) -> None:
    assert benchmarks["walks"].folder_of(place) == folder


@pytest.mark.parametrize(("folders", "times"), [("abc", 0), ("aba", 1), ("abab", 2), ("abcba", 1), ("ab", 0)])
def test_there_and_back(benchmarks: Modules, folders: str, times: int) -> None:
    assert benchmarks["walks"].there_and_backs(folders) == times


def test_own_files_are_visited_by_one_walk_and_are_no_part_of_what_others_visit(benchmarks: Modules) -> None:
    visit = benchmarks["walks"].Visit
    walks = {
        "a": [visit("tally", "deniable", f"{file}.py", "f") for file in ("core/a", "core/both", "core/part")],
        "b": [visit("tally", "deniable", "core/both.py", "f"), visit("tally", "deniable", "core/__init__.py", "f")],
    }
    imported = {"core/both.py": {"core/part.py"}, "core/__init__.py": {"core/a.py"}}
    assert benchmarks["walks"].own("a", walks, imported) == ["core/a.py"]


@pytest.mark.parametrize(
    ("file", "function", "counted"),
    [
        ("core/x.py", "f", True),
        ("core/x.py", "f.<locals>.g", True),
        ("core/x.py", "f.<locals>.<lambda>", False),
        ("core/x.py", "<module>", False),
        ("cli/options.py", "f", False),
        ("cli/pipeline.py", "tally", True),
        ("present/tables.py", "f", False),
    ],
)
def test_what_counts_as_a_visit(benchmarks: Modules, file: str, function: str, counted: bool) -> None:
    walks = benchmarks["walks"]
    assert walks.counts(walks.Visit("tally", "deniable", file, function)) == counted


def counted(benchmarks: Modules, **more: str) -> dict[str, object]:
    """The shape of a contract and one more module."""
    found: dict[str, object] = benchmarks["shape"].shape(benchmarks["shape"].Sources({BASE: MECHANISM, **more}))
    return found


def test_inheritance_is_followed_through_modules_that_pass_names_on(benchmarks: Modules) -> None:
    face = "from deniable.mechanisms.base import Mechanism as M\n"
    own = "from deniable import core\nclass A(core.M[int]):\n    def g(self): 1\n    def h(self): 1\nclass B(A): 1\n"
    found = counted(benchmarks, **{"deniable/core/__init__.py": face, X: own})
    assert found["depth"] == {"most": 3, "above_3": []}
    assert found["most_functions"] == {"name": "deniable.core.x.B", "functions": 3}
    assert found["mechanism_functions"] == 2


@pytest.mark.parametrize(
    ("asked", "times"),
    [("Mechanism", 1), ("int | Mechanism", 1), ("(int, Mechanism)", 1), ("KINDS", 1), ("int", 0), ("Other", 0)],
)
def test_questions_for_types_of_mechanisms_are_found(benchmarks: Modules, asked: str, times: int) -> None:
    head = "from deniable.mechanisms.base import Mechanism\nclass Other: 'Doc.'\nKINDS = (int, Mechanism)\n"
    found = counted(benchmarks, **{X: f"{head}isinstance(m, {asked})\n"})
    assert found["isinstance"] == 1
    assert len(list(found["isinstance_on_roles"])) == times  # type: ignore[call-overload]


def test_what_is_gone_has_moved_nowhere(benchmarks: Modules) -> None:
    shape = benchmarks["shape"]
    before = shape.Sources({X: "class A: 'Doc.'\ndef f(): 1\ndef g(): 1", BASE: MECHANISM})
    now = shape.Sources({"deniable/core/y.py": "class A: 'Doc.'\ndef g(): 1", BASE: MECHANISM})
    assert shape.gone(before, now) == {"modules": [X], "classes": [], "functions": ["f"]}
