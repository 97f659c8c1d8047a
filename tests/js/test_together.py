"""Questions that are asked together, over HTTP: both ledgers, estimates by question, tables of two, and groups."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.cli import main
from deniable.run.survey import read_survey
from deniable.service.settings import Settings
from deniable_client import Task
from deniable_client.ledger import Ledger
from service.running import Running

SCRIPT = """
import { readFileSync } from "node:fs";
const [source, url] = process.argv.slice(2);
await import(source + "/src/index.js");
const { Ledger } = await import(source + "/src/ledger.js");
const { Task } = await import(source + "/src/task.js");
const { FastStore } = await import(source + "/test/tasks.js");
const { exchange } = await import(source + "/src/exchange_node.js");
const { task: document, people } = JSON.parse(readFileSync(0, "utf8"));
const task = Task.load(document);
let sent = 0;
for (const person of people) {
  const ledger = new Ledger(new FastStore(), { delay: 0 });
  const { name, together } = await ledger.question(task);
  const value = together.length ? together.map((one) => person[one.name]) : person[name];
  const { answered } = await ledger.answer(task, value, { strata: { city: person.city }, url });
  if (!answered) throw new Error(`${name} was not answered by ${JSON.stringify(value)}`);
  sent += (await ledger.flush(url, { exchange })).sent;
}
console.log(sent);
"""
PAIRS = ["--question", "a=no,yes", "--question", "b=never,often", "--tables", "a:b", "--scheme", "pairs"]
EFFECTS = [*PAIRS[:-1], "effects"]
BOX = ["--question", "a=no,yes", "--question", "b=never,often", "--question", "c=3"]


def task_of(capsys: Any, tmp_path: Path, asked: list[str]) -> tuple[Any, dict[str, Any]]:
    file, kept = tmp_path / "survey.json", f"sqlite:///{tmp_path}/t.db"
    assert main(["survey", "design", *asked, "--epsilon", "2", "--out", str(file), "--force"]) == 0
    made = read_survey(str(file))
    texts = [part for name in made.names for part in ("--question", f"What about {name}?")]
    today = datetime.now(UTC).date().isoformat()
    terms = ["--opens", today, "--min-batch", "5", "--strata", "city=Bern,Basel", "--database", kept, "--json"]
    capsys.readouterr()
    assert main(["task", "new", "--survey", str(file), *texts, *terms]) == 0
    return made, json.loads(capsys.readouterr().out)["task"]


def people_of(n: int) -> list[dict[str, Any]]:
    """Whoever says yes says often."""
    rng = np.random.default_rng(3)
    yes, third = rng.random(n) < 0.5, rng.integers(0, 3, n).tolist()
    cities = rng.choice(["Bern", "Basel"], n).tolist()
    return [
        {"a": "yes" if own else "no", "b": "often" if own else "never", "c": c, "city": city}
        for own, c, city in zip(yes.tolist(), third, cities, strict=True)
    ]


def answer(task: Task, ledger: Ledger, person: dict[str, Any], url: str) -> None:
    asked = ledger.question(task)
    value = [person[one.name] for one in asked.together] if asked.together else person[asked.name]
    assert ledger.answer(task, value, strata={"city": person["city"]}, url=url).answered
    assert ledger.flush(url).sent == 1


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.parametrize("asked", [PAIRS, EFFECTS, BOX], ids=["pairs", "effects", "box"])
def test_questions_asked_together_are_told_one_by_one_in_pairs_and_by_group(
    capsys: Any, tmp_path: Path, node: str, asked: list[str]
) -> None:
    made, document = task_of(capsys, tmp_path, asked)
    assert document["design"] == made.design(), "what devices check is the survey's own design"
    people = people_of(300)
    with Running(Settings(port=0)) as running:
        running.service.now = datetime.now(UTC)
        id_, url = running.service.add(document), f"http://127.0.0.1:{running.port}"
        task = Task.load(document)
        for number, person in enumerate(people[:40]):
            answer(task, Ledger(tmp_path / f"{number}.ledger", delay=0), person, url)
        (tmp_path / "crowd.mjs").write_text(SCRIPT)
        source = Path(__file__).resolve().parents[2] / "clients" / "js"
        said = json.dumps({"task": document, "people": people[40:]})
        command = [node, str(tmp_path / "crowd.mjs"), str(source), url]
        done = subprocess.run(command, input=said, capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "260"), done.stderr
        running.service.store.set_state(id_, "closed")
        key = running.service.key("analyst")
        (window,) = running.service.get(f"/v1/tasks/{id_}/estimate", key).json["windows"]
        rows = running.service.get(f"/v1/tasks/{id_}/results.json", key).json
        counted = running.service.store.tallies(id_)
    apart = {
        part: sum_of([tally for batch, tally in counted.items() if batch.question == i])
        for i, part in enumerate(made.parts)
    }
    check(made, window, apart)
    assert {row["question"] for row in rows} >= set(made.names)
    assert {row["group"] for row in rows} == {"", *(group["name"] for group in window["survey"]["groups"])}


def sum_of(tallies: list[Any]) -> Any:
    return sum(tallies[1:], tallies[0])


def check(made: Any, window: dict[str, Any], apart: dict[str, Any]) -> None:
    """All questions and tables are there, with the numbers that the survey itself reads from the same tallies."""
    told = window["survey"]
    assert (window["state"], window["reports"]) == ("published", 300)
    assert sum(part["reports"] for part in window["questions"]) == 300
    own = made._found(apart)
    assert [each["question"] for each in told["questions"]] == list(made.names)
    for each in told["questions"]:
        np.testing.assert_allclose(each["estimate"]["value"], own[each["question"]].value, rtol=1e-12, atol=1e-12)
        assert each["estimate"]["labels"] == list(own[each["question"]].labels)
    assert [each["questions"] for each in told["tables"]] == [list(pair) for pair in made.tables]
    for table in told["tables"]:
        found = made.plan.table(made._about(apart), "a", "b")
        np.testing.assert_allclose(table["cells"]["value"], found.value.reshape(-1), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(table["covariance"], found.covariance(), rtol=1e-9, atol=1e-15)
        assert table["cells"]["a"] == ["no", "no", "yes", "yes"]
        margins = np.reshape(table["cells"]["value"], (2, 2)).sum(axis=1)
        np.testing.assert_allclose(margins, told["questions"][0]["estimate"]["value"], rtol=1e-9, atol=1e-12)
        assert (table["independence"] is None) == ("why" in table)
    assert len(told["groups"]) == 2
    for group in told["groups"]:
        assert [each["question"] for each in group["questions"]] == list(made.names)
        assert len(group["tables"]) == len(made.tables)


def test_a_survey_says_how_often_a_text_is_needed(capsys: Any, tmp_path: Path) -> None:
    made, _ = task_of(capsys, tmp_path, PAIRS)
    line = ["task", "new", "--survey", str(tmp_path / "survey.json"), "--question", "One?"]
    assert main([*line, "--database", f"sqlite:///{tmp_path}/t.db"]) == 2
    assert "once for each of a, b" in capsys.readouterr().err
    assert main([*line, "--question", "Two?", "--share", "1", "--database", f"sqlite:///{tmp_path}/t.db"]) == 2
    assert "left out with --survey" in capsys.readouterr().err
    assert made.parts == ("a x b",)
