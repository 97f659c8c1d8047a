"""Commands with a seed tell the numbers that were looked at: on the screen, as JSON, in what they write.

That an option reaches the number (`test_options_matter`) does not say that it is the right one. After a change that is
meant: `KEPT=write pytest tests/cli/test_as_before.py`, and look at the difference.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kept
from cli import test_options_matter as options

pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")
pytest.importorskip("pyarrow", reason="tables need the extra: pip install 'deniable[frames]'")

made = options.made
"""The folder that commands read."""
SMALL = "--n 300 --runs 3 --seed 2"
ALL = "--level 0.9 --target population --simultaneous"
LINES: Mapping[str, tuple[str, ...]] = {
    "estimate": (
        f"one.bin {ALL} --project --out OUT.csv --chart OUT.chart.json",
        "two.bin --method em",
        "one.bin two.bin --top 2 --out OUT.json",
        "ordered.bin --cdf --quantile 0.25 --quantile 0.5 --level 0.8 --chart OUT.chart.json",
        "ordered.bin --range a,b --range b,d --target population",
        "pairs.bin --shrink 2 --chart OUT.chart.json",
        "some.csv --design design.json --chart OUT.chart.json --chart-order given",
    ),
    "tally": ("one.bin two.bin", "pairs.bin", "ordered.bin", "some.csv --design design.json"),
    "simulate": (
        f"grr --epsilon 1 --k 4 --data zipf:2 --project --level 0.9 --out OUT.csv --chart OUT.chart.json {SMALL}",
        f"hm --epsilon 1 --interval 0,10 --points 11 --data zipf --out OUT.csv {SMALL}",
        f"arc --epsilon 2 --interval 0,24 --points 12 --data zipf:2 --level 0.9 {SMALL}",
        f"brr --epsilon 1 --points 6 --data zipf --out OUT.csv {SMALL}",
        f"kv-ss --epsilon 2 --k 4 --data zipf --top 2 --level 0.9 {SMALL}",
        "kv-ss --epsilon 2 --labels a,b,c,d --data pairs.csv --runs 2 --seed 4",
    ),
    "study": (
        f"grr ss:size=2 --k 4 --epsilons 1,2 --metrics mse,mae,f1:2 --out OUT.csv {SMALL}",
        f"grr ss:size=2 --k 4 --epsilons 1,2 --metrics mse --out OUT.tex --chart OUT.chart.json {SMALL}",
        "grr --k 4 --epsilons 1,2 --n 50 --runs 2 --seed 2 --every --out OUT.csv",
        "grr --k 4 --epsilons 0.5 --n 50 --runs 2 --seed 2 --metrics ndcg:2 --out OUT.json",
    ),
    "compare": (
        "grr ss:epsilon=2,size=2 design.json --k 4 --epsilon 1 --n 300",
        "grr fair.csv unfair.csv --k 2 --epsilon 1",
        "grr ss oue --k 4 --epsilon 1 --chart OUT.chart.json",
    ),
    "attack": (
        "grr --epsilon 1 --k 4 --reports 300 --seed 1 --prior zipf:2",
        "pldp --base grr --k 4 --levels 0.5,1 --level-epsilon 1 --reports 300 --target level",
    ),
    "audit": ("design.json --promise 2", "rsrfd --epsilon 1 --fakes 0.5,0.5;0.9,0.1", "ss --epsilon 1 --k 4"),
    "promise": ("line.json --explain 1",),
    "verify": ("design.json --diff other.json",),
    "survey": (
        "plan --question a=2 --question b=3 --question c=0..10 --epsilon 1 --weights a=2 --n 500",
        "plan --question a=2 --question b=3 --epsilon 1 --stderr a=0.02,b=0.03",
        "plan --question a=2 --question b=2 --question c=4 --epsilon 2 --tables a:b,b:c --n 500",
        "plan asked-more.json --epsilon 1 --scheme split",
        "assign survey.json --n 7 --seed 3 --out OUT.csv",
        "tally survey.json some-survey.bin more-survey.bin",
        f"estimate survey.json some-survey.bin {ALL} --out OUT.csv --chart OUT.chart.json",
        "estimate tables.json some-tables.bin --target reporters",
        "table tables.json some-tables.bin --of b,a --level 0.9 --out OUT.csv",
        "simulate survey.json --n 200 --runs 3 --seed 2 --out OUT.csv",
        "simulate tables.json --data answers.csv --columns a,b --runs 2",
    ),
    "release": ("near.bin --out OUT.csv", "near.bin --remap --out OUT.csv"),
}
UNTOLD = ("id", "signature", "explain", "protection", "design", "effective", "proof", "witness")


def _written(path: Path) -> Any:
    """A table with its numbers; of a chart the words and the numbers that are drawn."""
    text = path.read_text()
    if path.suffix == ".csv":
        return [[_number(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    if ".chart" not in path.name:
        return json.loads(text) if path.suffix == ".json" else text.splitlines()
    spec = json.loads(text)
    return {"title": spec["title"], "drawn": [rows for rows in _rows(spec) if rows]}


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _rows(part: Any) -> list[Any]:
    if isinstance(part, dict):
        own = [part["data"]["values"]] if "values" in part.get("data", {}) else []
        return own + [rows for each in part.values() for rows in _rows(each)]
    return [rows for each in part for rows in _rows(each)] if isinstance(part, list) else []


def _told(found: Any) -> Any:
    """What came out, without what other tests look at."""
    if isinstance(found, dict):
        return {name: _told(each) for name, each in found.items() if name not in UNTOLD}
    return [_told(each) for each in found] if isinstance(found, list) else found


@pytest.mark.parametrize("command", LINES)
def test_a_command_tells_what_it_told(
    command: str,
    made: Path,
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    if command == "release":
        (folder / "near.txt").write_text("0\n1\n2\n3\n" * 5)
        assert (
            run("privatize", "brr", "--epsilon", 1, "--points", 4, "near.txt", "--seed", 1, "--out", "near.bin").code
            == 0
        )
    found = {}
    for number, line in enumerate(LINES[command]):
        words = [command, *line.replace("OUT", f"out{number}").split()]
        done = run(*words)
        assert done.code in (0, 1), done.err
        seen = {"screen": done.out.splitlines(), "said": done.err.splitlines(), "code": done.code}
        seen |= {path.suffix: _written(path) for path in sorted(folder.glob(f"out{number}.*"))}
        seen["json"] = _told(run(*words, "--json", *(["--force"] if "OUT" in line else [])).json)
        found[line] = seen
    path = Path(__file__).parent / "told" / f"{command}.json"
    assert kept.differences(path, found) == []
