"""A survey from its design to estimates over HTTP: ledgers in Python and JavaScript, questions, pairs and groups."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.run.survey import read_survey
from deniable.service.settings import Settings
from deniable_client import Task
from deniable_client.ledger import Ledger
from service.running import Running

SPORTS = ["football", "swimming", "chess"]
SCRIPT = """
import { readFileSync } from "node:fs";
const [source, url] = process.argv.slice(2);
const { Ledger } = await import(source + "/src/ledger.js");
const { Task } = await import(source + "/src/task.js");
const { FastStore } = await import(source + "/test/tasks.js");
const { exchange } = await import(source + "/src/exchange_node.js");
const { task: document, people } = JSON.parse(readFileSync(0, "utf8"));
const task = Task.load(document);
let sent = 0;
for (const person of people) {
  const ledger = new Ledger(new FastStore(), { delay: 0 });
  const { name } = await ledger.question(task);
  await ledger.answer(task, person[name], { strata: { city: person.city }, url });
  sent += (await ledger.flush(url, { exchange })).sent;
}
console.log(sent);
"""


@pytest.fixture
def survey(tmp_path: Path) -> tuple[Any, dict[str, Any]]:
    """A survey of a box, a pair of questions that is not asked together, and ticked options; and its task."""
    file, kept = tmp_path / "survey.json", f"sqlite:///{tmp_path}/t.db"
    asked = ["--question", "a=no,yes", "--question", "b=no,yes", "--question", f"sports=2 of {','.join(SPORTS)}"]
    assert main(["survey", "design", *asked, "--epsilon", "2", "--out", str(file)]) == 0
    made = read_survey(str(file))
    assert made.parts == ("a+b", "sports")
    texts = [part for name in made.parts for part in ("--question", f"About {name}?")]
    return made, {"file": file, "texts": texts, "kept": kept}


def task_of(capsys: Any, given: dict[str, Any]) -> dict[str, Any]:
    today = datetime.now(UTC).date().isoformat()
    terms = ["--opens", today, "--min-batch", "5", "--strata", "city=Bern,Basel", "--database", given["kept"], "--json"]
    capsys.readouterr()
    assert main(["task", "new", "--design", str(given["file"]), *given["texts"], *terms]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["task"]
    return found


def people_of(n: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    cities, both = rng.choice(["Bern", "Basel"], n).tolist(), rng.choice(["no, no", "no, yes", "yes, yes"], n).tolist()
    ticked = [[["football"], ["swimming", "chess"], []][i] for i in rng.integers(0, 3, n)]
    return [{"q1": x, "q2": y, "city": city} for x, y, city in zip(both, ticked, cities, strict=True)]


@pytest.mark.slow
def test_a_survey_is_answered_by_both_clients_and_estimated(
    survey: tuple[Any, dict[str, Any]], capsys: Any, tmp_path: Path, node: str
) -> None:
    made, given = survey
    document, people = task_of(capsys, given), people_of(120)
    assert document["design"] == made.design(), "what devices check is the survey's own design"
    with Running(Settings(port=0)) as running:
        running.service.now = datetime.now(UTC)
        id_, url = running.service.add(document), f"http://127.0.0.1:{running.port}"
        task = Task.load(document)
        for number, person in enumerate(people[:40]):
            ledger = Ledger(tmp_path / f"{number}.ledger", delay=0)
            ledger.answer(task, person[ledger.question(task).name], strata={"city": person["city"]}, url=url)
            assert ledger.flush(url).sent == 1
        (tmp_path / "crowd.mjs").write_text(SCRIPT)
        source = Path(__file__).resolve().parents[2] / "clients" / "js"
        said = json.dumps({"task": document, "people": people[40:]})
        command = [node, str(tmp_path / "crowd.mjs"), str(source), url]
        done = subprocess.run(command, input=said, capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "80"), done.stderr
        running.service.store.set_state(id_, "closed")
        key = running.service.key("analyst")
        told = running.service.get(f"/v1/tasks/{id_}/estimate", key).json["windows"]
        assert [(window["state"], window["reports"]) for window in told] == [("published", 120)]
        first, second = told[0]["questions"]
        assert first["reports"] + second["reports"] == 120
        assert len(first["estimate"]["value"]) == 4, "answers to two questions in one report"
        assert second["estimate"]["labels"] == SPORTS
        counted = sum(tally.n for tally in running.service.store.tallies(id_).values())
        assert counted == 120


def test_a_task_of_a_survey_has_its_parts(survey: tuple[Any, dict[str, Any]], capsys: Any) -> None:
    """Shares and designs are those of the survey; nothing ticked stands for no answer; texts must be as many."""
    made, given = survey
    document = task_of(capsys, given)
    assert document["design"] == made.design()
    assert [part[0]["none"] for part in document["questions"]] == [None, []]
    read = Task.load(document)
    assert [question.labels for question in read.questions][1] == tuple(SPORTS)
    short = ["task", "new", "--design", str(given["file"]), "--question", "One?", "--database", given["kept"]]
    assert main(short) == 2
    assert "2 in all" in capsys.readouterr().err
    assert main([*short[:4], *given["texts"], "--share", "1", "--share", "1", *short[6:]]) == 2
    assert "left out for a design of several parts" in capsys.readouterr().err
    device = dn.from_design(document["design"]).mechanisms[1]
    assert device.name == "several"
