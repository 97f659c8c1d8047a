"""Sentences for people: one file has all of them, both clients say them, and what is filled in stays as it is."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable_client import Task, explain, telling
from deniable_client.kernels import Disclosing

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = ROOT / "clients" / "python" / "src" / "deniable_client" / "texts" / "english.json"
TASKS = ROOT / "clients" / "vectors" / "tasks.json"
ONLY_JAVASCRIPT = {"names", "now_level"}
"""What is said of a report that somebody looks at, which the Python client does not show."""
COUNTS = (1, 8)
ODD = ["{label}", "{0} {{count}}", "$& $1 $$", "%s \\"]
"""Labels that would do something else in a template."""


@cache
def _designs() -> list[dict[str, Any]]:
    """Every kind of design, and answers of every kind that a report may name."""
    labels = [*ODD, *(f"no. {number}" for number in range(20))]
    kinds = [dn.mechanism(name, **row.small[0]) for name, row in MECHANISMS.items()]
    own = [
        dn.mechanism("urr", epsilon=9.0, labels=labels, sensitive=labels[2:20], missing=labels[0], other=labels[1]),
        dn.mechanism("grr", epsilon=0.2, labels=labels, missing=labels[2], other=labels[3]),
        dn.mechanism("upldp", k=40, sensitive=30, levels="0.25,8,9", level_epsilon=0.5),
        *(dn.mechanism("optimal", **case) for case in MECHANISMS["optimal"].small[1:]),
    ]
    made = [m.design for m in kinds + own if not isinstance(m.kernel, Disclosing) or m.kernel.protected]
    blocks = dn.mechanism("optimal", promise=dn.promise(blocks=[1, 2], inside=1, across="inf"))
    word, half = str(1 << 64), str(1 << 63)
    rows = [[word, "0", "0"], ["0", half, half], ["0", half, half]]
    made += [blocks.design, {**blocks.design, "kernel": {**blocks.design["kernel"], "weights": rows}}]
    hostile = json.loads((TASKS.parent / "hostile.json").read_text("utf-8"))
    made += [case["design"] for case in hostile["good"] if case["about"].startswith("matrix,")]
    numbers = {"interval": [-1, 1e15], "points": 8, "layout": "midpoints", "clip": True}
    made.append({**dn.mechanism("urr", epsilon=1.0, k=8, sensitive=4).design, "domain": numbers})
    return [*made, {"mechanism": "dealt", "version": 1, "epsilon": 9.0, "shares": [1, 2], "parts": made[-2:]}]


def _tasks() -> list[Any]:
    """All tasks of the vectors."""
    found: list[Any] = [each["task"] for each in json.loads(TASKS.read_text("utf-8"))["good"]]
    return found


def _say() -> list[list[str]]:
    """What this client says of them."""
    found = [(explain(design), count) for design in _designs() for count in COUNTS]
    told = [[*each.over(count).text.split("\n"), each.unread] for each, count in found]
    return told + [list(Task.load(document).terms()) for document in _tasks()]


_told = cache(_say)


@pytest.fixture(scope="module")
def sentences() -> dict[str, str | list[str]]:
    """All of them, by name."""
    parts = json.loads(ENGLISH.read_text("utf-8"))
    found = {name: text for part in parts.values() for name, text in part.items()}
    assert len(found) == sum(map(len, parts.values()))
    return found


def test_every_sentence_is_said(monkeypatch: pytest.MonkeyPatch, sentences: dict[str, str | list[str]]) -> None:
    """So that all of them are compared below; both texts, where there are two."""
    said: set[tuple[str, bool]] = set()

    class Noting(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            text = super().__getitem__(name)
            if isinstance(text, str):
                said.add((name, False))
                return text
            return type("Both", (), {"__getitem__": lambda _, several: said.add((name, several)) or text[several]})()

    monkeypatch.setattr(telling, "_SENTENCES", Noting(sentences))
    assert sum(map(len, _say())) > 500
    every = {(name, several) for name, text in sentences.items() for several in {False, not isinstance(text, str)}}
    left = {each for each in every - said if not each[0].startswith("grade_")}
    assert left == {(name, False) for name in ONLY_JAVASCRIPT}
    grades = {name for name in sentences if name.startswith("grade_")}
    assert grades == {f"grade_{1000 * most}" for most, _ in telling.GRADES} | {"grade_1000"}


def test_nothing_else_is_said(sentences: dict[str, str | list[str]]) -> None:
    """Every line is a sentence of the file, with its places filled in."""
    texts = [text for entry in sentences.values() for text in ([entry] if isinstance(entry, str) else entry)]
    whole = [re.escape(text) for text in texts if text.endswith((".", ": {text}"))]
    known = re.compile("|".join(re.sub(r"\\{\w+\\}", ".+", text) for text in whole))
    assert len(whole) > 30
    for lines in _told():
        for line in lines:
            assert known.fullmatch(line), line


def test_what_is_filled_in_stays_as_it_is() -> None:
    found = explain(
        dn.mechanism("urr", epsilon=1.0, labels=ODD, sensitive=ODD[1:], missing=ODD[0], other=ODD[2]).design
    )
    lines = found.text.splitlines()
    assert lines[0].startswith("Good protection: '{0} {{count}}', '$& $1 $$', '%s \\\\'. With such an answer")
    assert lines[2].startswith("Not protected: '{label}'. The report names such an answer in ")
    assert lines[3:] == [
        "If you leave the answer empty, that is reported as '{label}', which is not protected.",
        "Anything else is reported as '$& $1 $$'.",
    ]


def test_both_clients_say_the_same(node: str) -> None:
    """Of designs with any labels, and of tasks; tests/client/test_telling.py has all small cases."""
    code = f"""
        import {{ Task, explain }} from {json.dumps((ROOT / "clients" / "js" / "src" / "index.js").as_uri())};
        import fs from "fs";
        const {{ designs, tasks, counts }} = JSON.parse(fs.readFileSync(0, "utf8"));
        const told = designs.flatMap((design) => {{
          const found = explain(design);
          return counts.map((count) => [...found.over(count).text.split("\\n"), found.unread]);
        }});
        process.stdout.write(JSON.stringify([...told, ...tasks.map((task) => Task.load(task).terms())]));
    """
    given = json.dumps({"designs": _designs(), "tasks": _tasks(), "counts": COUNTS})
    done = subprocess.run([node, "--input-type=module", "-e", code], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == _told()
