"""What needs no extra works without any: commands on text files where nothing optional is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from deniable.cli import main
for line in sys.argv[1:]:
    print(main(line.split()), line, file=sys.stderr)
"""
STEPS = (
    "design uss --epsilon 1 --labels yes,no,maybe --sensitive yes",
    "audit kv-ss2 --epsilon 1 --k 4",
    "plan --k 16 --n 10000 --epsilon 1",
    "simulate olh --epsilon 1 --labels yes,no,maybe --data values.csv --column answer --runs 2",
    "attack ss --epsilon 1 --k 16",
    "privatize olh --epsilon 1 --labels yes,no,maybe values.csv --column answer --out a.reports",
    "privatize grr --epsilon 1 --labels yes,no,maybe lines.txt --out b.reports",
    "privatize kv-ss2 --epsilon 1 --labels x,y pairs.csv --out c.reports",
    "privatize pm --epsilon 1 --interval 0,1 numbers.csv --column x --out d.reports",
    "tally a.reports --out a.tally",
    "estimate a.tally --out a.csv",
    "estimate a.reports --method em",
    "estimate d.reports",
    "privatize brr --epsilon 1 --interval 0,1 --points 8 numbers.csv --column x --out e.reports",
    "release e.reports --out near.csv",
)


def modules() -> set[str]:
    """What the extras bring, by the names that are imported."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {name for extra, names in extras.items() if extra not in ("all", "test", "docs") for name in names}
    plain = {name.split(";")[0].split("[")[0].split(">")[0].split("<")[0].strip() for name in wanted}
    named = {"vl-convert-python": "vl_convert"}
    return {named.get(name, name) for name in plain} | {"pandas", "polars", "duckdb", "sklearn"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bare")
    (made / "values.csv").write_text("who,answer\n" + "".join(f"{i},{('yes', 'no')[i % 2]}\n" for i in range(40)))
    (made / "lines.txt").write_text("yes\nno\nmaybe\n" * 5)
    (made / "pairs.csv").write_text("user,key,value\nann,x,0.5\nben,y,-1\n")
    (made / "numbers.csv").write_text("x\n0.25\n0.5\n1\n")
    return made


def test_the_extras_are_known() -> None:
    assert {"pyarrow", "numba", "altair", "starlette", "pyspark", "vl_convert"} < modules()
    assert not {"numpy", "scipy", "typer", "rich", "narwhals"} & modules()


def run_bare(folder: Path, lines: Iterable[str]) -> tuple[list[int], str]:
    """Exit codes of commands where nothing optional can be imported, and what they said."""
    command = [sys.executable, "-c", BARE.format(missing=sorted(modules())), *lines]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr
    return [int(code) for code in re.findall(r"^(\d) \w", done.stderr, re.MULTILINE)], done.stderr


def test_commands_on_text_need_no_extra(folder: Path) -> None:
    codes, said = run_bare(folder, STEPS)
    assert codes == [0] * len(STEPS), said


def test_what_needs_an_extra_says_which(folder: Path) -> None:
    (folder / "x.parquet").write_bytes(b"PAR1")
    asked = {
        "charts": "plan --k 4 --n 100 --epsilon 1 --chart x.png",
        "frames": "privatize grr --epsilon 1 --k 4 x.parquet --out y.reports",
        "service": "demo",
    }
    codes, said = run_bare(folder, asked.values())
    assert codes == [2] * len(asked), said
    assert re.findall(r"pip install 'deniable\[(\w+)\]'", said) == list(asked)
    assert not (folder / "y.reports").exists()
