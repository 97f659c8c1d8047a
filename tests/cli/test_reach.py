"""What a command shows is what the library gives for the same options, and files say who wrote them over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli.bench.conformance import conformance
from deniable.cli.output import Output

from .conftest import Run

LABELS = "never,rarely,often,always"


@pytest.fixture
def reports(tmp_path: Path) -> dn.Tally:
    """Reports in `r.bin`; their tally."""
    m = dn.mechanism("ss", epsilon=2.0, labels=LABELS.split(","))
    made = m.privatize_items(np.repeat(np.arange(4), [400, 100, 300, 200]), dn.simulation(1))
    (tmp_path / "r.bin").write_bytes(dn.dump(made))
    return m.tally(made)


def test_quantiles_and_intervals_are_for_whom_they_were_asked(run: Run, reports: dn.Tally) -> None:
    found = dn.from_design(reports.design).estimate(reports)
    shown = {}
    for target in ("reporters", "population"):
        more = ("--level", "0.8", "--target", target, "--quantile", "0.5", "--quantile", "0.9")
        shown[target] = run("estimate", "r.bin", *more, "--json").json
        wanted = found.quantiles(0.5, 0.9, level=0.8, target=target).to_columns()
        assert shown[target]["quantiles"] == json.loads(json.dumps(wanted))
        ends = found.interval(0.8, target)
        assert shown[target]["low"] == ends.low.tolist()
        assert shown[target]["high"] == ends.high.tolist()
        assert shown[target]["stderr"] == np.sqrt(found.variance(target)).tolist()
        assert (shown[target]["level"], shown[target]["target"], shown[target]["n"]) == (0.8, target, 1000)
    assert shown["reporters"]["low"] != shown["population"]["low"]
    assert run("estimate", "r.bin", "--quantile", "half").code == 2


def test_cumulative_shares_hold_everywhere_at_once(run: Run, reports: dn.Tally) -> None:
    found = dn.from_design(reports.design).estimate(reports).cumulative()
    ends = found.interval(0.95, "reporters", simultaneous=True)
    shown = run("estimate", "r.bin", "--cdf", "--json").json
    assert (shown["low"], shown["high"]) == (ends.low.tolist(), ends.high.tolist())
    assert shown["simultaneous"] is True
    alone = found.interval(0.95, "reporters")
    assert shown["low"] != alone.low.tolist()
    plain = run("estimate", "r.bin", "--json").json
    assert plain["simultaneous"] is False
    together = run("estimate", "r.bin", "--simultaneous", "--json").json
    own = dn.from_design(reports.design).estimate(reports).interval(0.95, "reporters", simultaneous=True)
    assert together["low"] == own.low.tolist()
    for wrong in (("--cdf", "--top", 2), ("--cdf", "--range", "never,rarely"), ("--top", 0)):
        assert run("estimate", "r.bin", *wrong).code == 2


def test_the_largest_are_listed_and_all_are_drawn(run: Run, reports: dn.Tally, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    done = run("estimate", "r.bin", "--top", 2, "--chart", "c.json", "--out", "x.csv", "--json")
    assert done.json["labels"] == ["never", "often"]
    assert [line.partition(",")[0] for line in (tmp_path / "x.csv").read_text().splitlines()] == [
        "label",
        "never",
        "often",
    ]
    text = (tmp_path / "c.json").read_text()
    assert all(f'"label": "{label}"' in text for label in LABELS.split(","))
    assert "Estimated shares" in text
    assert run("estimate", "r.bin", "--chart", "c.json").code == 2
    assert run("estimate", "r.bin", "--chart", "c.json", "--force").code == 0


def test_what_is_counted_of_levels_has_a_column_for_each(run: Run, tmp_path: Path) -> None:
    m = dn.mechanism("pldp", base="grr", levels=(0.5, 2.0), level_epsilon=1.0, labels=["a", "b", "c"])
    made = m.privatize_items(np.arange(30) % 3, dn.simulation(1), levels=np.array([0.5, 2.0] * 15))
    (tmp_path / "r.bin").write_bytes(dn.dump(made))
    tally = m.tally(made)
    assert len(tally.strata) == 2
    done = run("tally", "r.bin")
    head, first = (next(line for line in done.out.splitlines() if line.startswith(start)) for start in ("label", "a "))
    assert [f"support, {stratum}" in head for stratum in tally.strata] == [True, True]
    assert first.split()[1:] == [str(row[0]) for row in tally.cells["support"].tolist()]
    assert "SIMULATED" in done.out
    found = run("tally", "r.bin", "--json").json
    assert found["cells"] == {name: cell.tolist() for name, cell in tally.cells.items()}
    assert (found["n"], found["simulated"], found["strata"]) == (30, True, list(tally.strata))


def test_whoever_replaces_reports_is_told_of_the_second_epsilon(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("0\n1\n2\n")
    words = ("privatize", "grr", "--epsilon", 1, "--k", 3, "v.txt", "--out", "r.bin")
    first = run(*words)
    assert first.code == 0
    assert "second epsilon" not in first.err
    assert "wrote 3 reports (1 byte each) to r.bin" in first.err
    assert run(*words).code == 2
    again = run(*words, "--force")
    assert "a second epsilon: 1.0 and that of the new ones" in again.err
    assert "SIMULATED" not in again.err
    seeded = run(*words, "--force", "--seed", 1, "--json")
    assert "second epsilon" not in seeded.err
    assert "SIMULATED: these reports come from seed 1" in seeded.err
    assert (seeded.json["simulated"], seeded.json["n"], seeded.json["k"], seeded.json["bytes"]) == (True, 3, 3, 1)
    assert run(*words, "--table", "rows", "--force").code == 2


def test_a_survey_is_planned_dealt_and_tabled_for_its_people(run: Run, tmp_path: Path) -> None:
    asked = ("--question", "smokes=no,yes", "--question", "age=4", "--epsilon", 2)
    plain = run("survey", "plan", *asked, "--n", 500, "--json").json
    assert plain["n"] == 500
    assert plain["people"] == {name: share * 500 for name, share in plain["shares"].items()}
    wanted = run("survey", "plan", *asked, "--stderr", "0.05", "--n", 7, "--json").json
    assert wanted["n"] > 300
    assert max(wanted["stderr"].values()) <= 0.05
    told = " ".join(run("survey", "plan", *asked, "--stderr", "0.05").out.split())
    assert f"{wanted['n']:,.0f} people are enough." in told
    assert run("survey", "design", *asked, "--out", "s.json").code == 0
    done = run("survey", "assign", "s.json", "--n", 90, "--seed", 1, "--out", "p.csv", "--json").json
    dealt = [int(line) for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert list(done["parts"].values()) == [dealt.count(i) for i in range(len(done["parts"]))]
    assert sum(done["parts"].values()) == done["n"] == 90


def test_a_study_writes_every_run_where_it_is_asked_to(run: Run, tmp_path: Path) -> None:
    words = ("study", "grr", "--epsilons", "1,2", "--k", 3, "--n", 50, "--runs", 3, "--seed", 4)
    assert run(*words, "--out", "x.csv", "--every").code == 0
    rows = (tmp_path / "x.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 3
    assert "run" in rows[0].split(",")
    done = run(*words, "--out", "y.csv", "--json")
    assert len((tmp_path / "y.csv").read_text().splitlines()) == 1 + 2
    assert [(row["epsilon"], row["runs"], row["seed"]) for row in done.json["rows"]] == [(1.0, 3, 4), (2.0, 3, 4)]
    for wrong in (("--every",), ("--every", "--out", "z.json"), ("--every", "--out", "z.tex"), ("--epsilons", "1,x")):
        assert run(*words, *wrong).code == 2
    assert not (tmp_path / "z.json").exists()


@pytest.mark.parametrize("seconds", [0.0, -1.0, 3600.1])
def test_an_answer_may_take_an_hour_at_most(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(dn.ParameterError, match="seconds must be a number above 0, at most 3600"):
        conformance("x", Output(True), vectors=str(tmp_path), seconds=seconds)
    with pytest.raises(dn.ParameterError) as caught:
        conformance("x", Output(True), vectors=str(tmp_path), seconds=3600)
    assert "seconds" not in str(caught.value)  # the folder has no vectors


def test_levels_of_an_attack_stand_behind_the_gain(run: Run) -> None:
    own_levels = ("--base", "grr", "--levels", "0.5,2", "--level-epsilon", 1, "--target", "level")
    names = ["mechanism", "target", "prior", "blind guess", "asr", "level report", "bound", "gain", "measured"]
    lines = run("attack", "pldp", *own_levels, "--k", 3, "--reports", 50).out.splitlines()
    assert [row for row in (line.split("  ")[0].strip() for line in lines) if row in names] == names
    own = run("attack", "grr", "--epsilon", 1, "--k", 4, "--prior", "zipf", "--reports", 50, "--json").json
    assert own["k"] == 4
    brought = run("attack", "grr", "--epsilon", 1, "--prior", "bank-job", "--reports", 50, "--json").json
    assert brought["k"] == 12
    named = run("attack", "grr", "--epsilon", 1, "--k", 12, "--prior", "bank-job", "--reports", 50, "--json").json
    assert (named["k"], named["asr"]) == (12, brought["asr"])


def test_a_design_that_breaks_its_promise_says_so_and_chances_sum_to_one(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    done = run("design", "ss", "--epsilon", 1, "--labels", "a,b,c", "--chart", "d.json")
    assert done.code == 0
    assert "THE PROMISE IS BROKEN" not in done.out
    spec = json.loads((tmp_path / "d.json").read_text())
    rows = [
        row
        for part in _lists(spec)
        for row in part
        if isinstance(row, dict) and str(row.get("told", "")).endswith(" %")
    ]
    for label in "abc":
        own = [row["number"] for row in rows if row["row"] == label]
        assert sum(own) == pytest.approx(1.0)


def _lists(part: Any) -> list[list[Any]]:
    """All lists of values in a chart."""
    if isinstance(part, dict):
        own = [part["values"]] if isinstance(part.get("values"), list) else []
        named = list(part.get("datasets", {}).values())
        return own + named + [found for name, each in part.items() if name != "datasets" for found in _lists(each)]
    return [found for each in part for found in _lists(each)] if isinstance(part, list) else []
