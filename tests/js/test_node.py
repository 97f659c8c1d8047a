"""The tests of the JavaScript client's tasks and ledger, and both clients side by side."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fuzz import tasks

JS = Path(__file__).resolve().parents[2] / "clients" / "js"


def run(node: str, name: str, least: int) -> None:
    """Run a file of tests; all of at least so many pass, and none is skipped."""
    done = subprocess.run([node, "--test", f"test/{name}.test.js"], cwd=JS, capture_output=True, text=True)
    counts = {
        what: int(count)
        for what, count in re.findall(r"^# (tests|pass|skipped|todo) (\d+)$", done.stdout, re.MULTILINE)
    }
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts["pass"] == counts["tests"] >= least, counts
    assert counts["skipped"] == counts["todo"] == 0


@pytest.mark.turns(2)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("memory", 2), ("faults", 9)])
def test_ledger(node: str, name: str, least: int) -> None:
    """Tests that take long; the others run with those of the device."""
    run(node, f"slow/{name}", least)


@pytest.mark.turns(2)
@pytest.mark.slow
def test_both_clients_say_the_same_of_every_document(node: str) -> None:
    """Thousands of altered tasks: the same task or the same kind of error."""
    found = tasks.compare(seed=7, count=4000)
    assert found["differences"] == 0, found["shown"]
    assert {"taken", "FormatError", "PrivacyError"} <= set(found["outcomes"])
    assert min(found["outcomes"].values()) >= 10, found["outcomes"]


FAULTS = {
    "names that appear twice are taken": ("canonical.js", "if (name in found)", "if (false)"),
    "white space of all kinds is taken": ("canonical.js", r"/[ \t\n\r]*/y", r"/\s*/y"),
    "the id is not compared": ("task.js", "given.id !== found", "false"),
    "the signature is not checked": ("reading.js", "if (!verified(", "if (false && !verified("),
    "characters are counted as UTF-16 units": ("parts.js", "lengthOf(given) <= most", "given.length <= most"),
    "a question may cost more than the task says": ("question.js", "explanation.design.epsilon <= epsilon", "true"),
    "no answer may be one that is disclosed": ("question.js", "start <= number && number < end)) {", "false)) {"),
    "the window is one day late": ("task.js", "(day - opens) / this.days", "(day - opens - 1) / this.days"),
    "labels are no part of a question": ("question.js", "labels: given.labels ?? null }", "labels: null }"),
}
"""What a client might do wrong: the file, what stands there, and what would."""


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_fit_the_sources(fault: str) -> None:
    name, right, wrong = FAULTS[fault]
    text = (JS / "src" / name).read_text("utf-8")
    assert (text.count(right), right == wrong) == (1, False)


@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(node: str, fault: str, tmp_path: Path) -> None:
    """The same comparison finds a difference if the other client is slightly wrong."""
    name, right, wrong = FAULTS[fault]
    source = tmp_path / "src"
    shutil.copytree(JS / "src", source)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    text = (source / name).read_text("utf-8")
    (source / name).write_text(text.replace(right, wrong), "utf-8")
    assert any(tasks.compare(seed=seed, count=1000, source=source)["differences"] for seed in range(7, 17))
