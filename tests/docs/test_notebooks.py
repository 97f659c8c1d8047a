"""Notebooks are what their sources print."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks", FOLDER.parent / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_every_source_has_its_notebook_with_the_same_cells(tool: ModuleType) -> None:
    assert [path.stem for path in SOURCES] == [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    assert len(SOURCES) >= 2
    for path in SOURCES:
        kept = json.loads(path.with_suffix(".ipynb").read_text())
        assert (kept["nbformat"], kept["nbformat_minor"]) == (4, 5)
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in kept["cells"]]
        assert cells == tool.cells_of(path.read_text()), f"python docs/notebooks.py {path.stem}"


@pytest.mark.slow
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path: Path, tool: ModuleType) -> None:
    kept = json.loads(path.with_suffix(".ipynb").read_text())["cells"]
    said = tool.printed(tool.run(path.read_text(), pictures=False))
    assert said == tool.printed(kept), f"python docs/notebooks.py {path.stem}"
    assert sum(map(bool, said)) >= 5


def test_what_is_printed_is_noticed(tool: ModuleType) -> None:
    cells = tool.run("# %% [markdown]\n# Two words\n\n# %%\nprint(1 + 1)\n\n# %%\nchart = 3\n", pictures=False)
    assert tool.printed(cells) == ["", "2\n", ""]
    assert cells[0]["source"] == ["Two words"]
