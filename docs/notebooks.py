"""Notebooks from their sources: `python docs/notebooks.py` runs docs/notebooks/*.py and writes the .ipynb beside each.

A source is plain Python in cells: `# %% [markdown]` begins a text (comment lines), `# %%` begins code. What a cell
prints, and a chart that its last line leaves in `chart`, is its output. A test runs the sources and compares what they
print with the notebooks.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
_MARK = "# %%"
_TEXT = "[markdown]"


def cells_of(source: str) -> list[tuple[str, str]]:
    """The cells of a source: (markdown or code, its text)."""
    found: list[tuple[str, str]] = []
    for part in source.split(f"{_MARK}")[1:]:
        first, _, body = part.partition("\n")
        text = first.strip() == _TEXT
        lines = body.strip("\n").split("\n")
        lines = [line.removeprefix("#").removeprefix(" ") for line in lines] if text else lines
        found.append(("markdown" if text else "code", "\n".join(lines)))
    return found


def run(source: str, *, pictures: bool) -> list[dict[str, Any]]:
    """The cells with their outputs, run in order in one process."""
    names: dict[str, Any] = {"__name__": "__main__"}
    made: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells_of(source)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": _lines(text)}
        if kind == "code":
            names.pop("chart", None)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(text, f"cell {number}", "exec"), names)
            outputs: list[dict[str, Any]] = []
            if said.getvalue():
                outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
            if pictures and "chart" in names:
                outputs.append(_picture(names["chart"]))
            cell |= {"execution_count": None, "outputs": outputs}
        made.append(cell)
    return made


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _picture(chart: Any) -> dict[str, Any]:
    from deniable.present.charts import save

    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(save(chart, str(Path(folder) / "chart.svg"))).read_text()
    return {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": _lines(drawn)}}


def notebook(cells: list[dict[str, Any]]) -> str:
    """The file."""
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    document = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def printed(cells: list[dict[str, Any]]) -> list[str]:
    """What code cells print, in order."""
    return ["".join("".join(out.get("text", ())) for out in cell.get("outputs", ())) for cell in cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", nargs="*", help="names of sources; all of them if left out")
    wanted = parser.parse_args().name
    for path in sorted(FOLDER.glob("*.py")):
        if not wanted or path.stem in wanted:
            path.with_suffix(".ipynb").write_text(notebook(run(path.read_text(), pictures=True)))
            sys.stdout.write(f"wrote {path.with_suffix('.ipynb')}\n")


if __name__ == "__main__":
    main()
