"""What docs/architecture.md says of the sources: the tree, the walks, the reach of a new mechanism, and the shape."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms import registry

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
Row = dict[str, Any]


def check(*names: str) -> Any:
    """Parameters for a test, each by what it is about."""
    return [pytest.param(name.split()[-1], id=name) for name in names]


def script(name: str, *options: str) -> Row:
    """What a script in benchmarks/ prints as JSON, in a process of its own."""
    command = [sys.executable, str(ROOT / f"benchmarks/{name}.py"), "--json", *options]
    found: Row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return found


@pytest.fixture(scope="module")
def walks() -> Row:
    found: Row = script("walks")["walks"]
    return found


@pytest.fixture(scope="module")
def shape() -> Row:
    found: Row = script("shape")["now"]
    return found


# ---- the tree


def test_tree_names_every_module(generate: ModuleType) -> None:
    """Whether it is fresh is asked of all generated parts in test_docs.py; here, that it is there and complete."""
    assert f"<!-- generated: tree -->\n{generate.tree()}\n<!-- end -->" in PAGE
    words = set(re.findall(r"\w+", generate.tree()))
    assert {path.stem for path in (ROOT / "src/deniable").rglob("*.py")} - words == {"__init__"}


# ---- the walks


def told(name: str) -> list[tuple[str, str]]:
    """Files and functions that the page names on a walk, in order; a file alone has an empty function."""
    section = re.search(rf"^### [^\n]*`{name}`\n(.*?)^##", PAGE, re.DOTALL | re.MULTILINE)
    assert section is not None
    cells = [line.split(" | ")[-1] for line in section[1].splitlines() if line.startswith("| ")][1:]
    return re.findall(r"`([\w/]+\.py)`(?: `([\w.]+)`)?", "\n".join(cells))


def follow(steps: list[tuple[str, str]], visits: list[list[str]]) -> list[tuple[str, str]]:
    """The steps that do not come after the ones before them among the visits (command, file, function)."""
    todo, lost = iter(visits), []
    for file, function in steps:
        if not any(place == file and function in ("", name) for _, place, name in todo):
            lost.append((file, function))
            todo = iter(visits)
    return lost


@pytest.mark.turns(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", check("walk ss", "walk uss"))
def test_walk_is_the_one_that_is_traced(name: str, walks: Row) -> None:
    steps = told(name)
    assert len(steps) >= 12
    assert follow(steps, walks[name]["visits"]) == []


def test_a_wrong_walk_would_be_noticed() -> None:
    visits = [["privatize", "a.py", "f"], ["privatize", "b.py", "g"], ["tally", "a.py", "h"]]
    assert follow([("a.py", "f"), ("b.py", ""), ("a.py", "h")], visits) == []
    assert follow([("b.py", "g"), ("a.py", "f")], visits) == [("a.py", "f")]
    assert follow([("c.py", "")], visits) == [("c.py", "")]


@pytest.mark.slow
@pytest.mark.parametrize("name", check(*(f"there_and_backs {name}" for name in ("ss", "uss", "kv-ss2", "brr"))))
def test_walks_do_not_turn_back_more_often(name: str, walks: Row) -> None:
    """Before the rooms it was 17, 23, 29 and 22 times; since then files became folders, tables and engines,
    and labels are checked as devices check them."""
    most = {"ss": 16, "uss": 26, "kv-ss2": 34, "brr": 25}
    assert walks[name]["there_and_backs"] <= most[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", check(*(f"own_folders {name}" for name in ("ss", "uss", "kv-ss2", "brr"))))
def test_a_family_has_one_room_and_its_kernels(name: str, walks: Row) -> None:
    assert len(walks[name]["own_folders"]) <= 2, walks[name]["own_files"]


# ---- the reach of the worked example


@pytest.fixture
def page() -> Iterator[ModuleType]:
    """The code of the worked example."""
    module = ModuleType("page_reach")
    sys.modules[module.__name__] = module
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        if ">>>" not in block:
            exec(compile(block, module.__name__, "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


def serves_utility(page: ModuleType) -> None:
    """Sensitive answers by a stranger's base, with the errors of its kin."""
    made = dn.utility(page.Warner(epsilon=1.0, domain=2), sensitive=2, k=6)
    kin = dn.utility("grr", sensitive=2, k=6, epsilon=1.0)
    assert made.properties(100) == kin.properties(100)
    assert made.channel().weights == kin.channel().weights
    assert made.estimate(made.tally(made.privatize([0, 1, 5, 5]))).n == 4


def serves_keyvalue(page: ModuleType) -> None:
    """One key, whose two signs are the answers."""
    bulk = importlib.import_module("deniable.mechanisms.keyvalue.bulk")
    mine, kin = (
        bulk.OnKeys.of(made.bulk)
        for made in (page.Warner(epsilon=1.0, domain=2), dn.mechanism("grr", epsilon=1.0, k=2))
    )
    assert mine.signal == kin.signal
    assert mine.channel().weights == kin.channel().weights


def serves_planner(page: ModuleType) -> None:
    """A registered row takes part in plans."""
    with dn.register("warner", page.registry["warner"]):
        assert "warner" in [found.mechanism.name for found in dn.plan(k=2, n=1000, epsilon=1.0).designs]
    assert "warner" not in registry.MECHANISMS


def serves_command_line(page: ModuleType) -> None:
    """Commands know a registered row."""
    from deniable.cli import main

    with dn.register("warner", page.registry["warner"]):
        assert main(["design", "warner", "--epsilon", "1", "--k", "2"]) == 0
    assert main(["design", "warner", "--epsilon", "1", "--k", "2"]) == 2


SERVES: dict[str, Callable[[ModuleType], None]] = {
    "utility": serves_utility,
    "key-value": serves_keyvalue,
    "planner": serves_planner,
    "line": serves_command_line,
}


@pytest.mark.parametrize("what", check("serves utility", "serves key-value", "serves planner", "serves command line"))
def test_example_serves(what: str, page: ModuleType) -> None:
    SERVES[what](page)


# ---- the shape

MOST: dict[str, Callable[[Row], tuple[float, int]]] = {
    "largest_folder": lambda found: (found["largest_folder"]["files"], 20),
    "depth": lambda found: (found["depth"]["most"], 3),
    "mechanism_functions": lambda found: (found["mechanism_functions"], 25),
    "most_functions": lambda found: (found["most_functions"]["functions"], 50),
    "isinstance_on_roles": lambda found: (len(found["isinstance_on_roles"]), 44),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", check(*MOST))
def test_shape(what: str, shape: Row) -> None:
    value, most = MOST[what](shape)
    assert value <= most, shape[what]
