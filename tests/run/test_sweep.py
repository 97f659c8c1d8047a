"""Sweeps are single studies side by side: the same numbers, in any number of processes, stopped or not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.estimate.scores import f1_top, mean_absolute, mean_square, ncr_top, ndcg_top, wasserstein
from deniable.run.studies.frequency import simulate
from deniable.run.studies.mean import simulate_mean
from deniable.run.sweep.latex import escaped
from deniable.run.sweep.metrics import METRICS, metrics_of

ASKED: dict[str, Any] = {"data": "zipf", "k": 12, "n": 2000, "runs": 4, "seed": 3}


def small(**more: Any) -> Any:
    """Two mechanisms at two budgets."""
    return dn.study(["grr", "ss"], [1.0, 2.0], **{**ASKED, **more})


def test_every_run_is_that_of_a_single_simulation() -> None:
    found = small(metrics=["mse", "mae"])
    for i, row in enumerate(found.rows()):
        one = simulate(
            "zipf",
            lambda domain, row=row: dn.mechanism(row["mechanism"], epsilon=row["epsilon"], domain=domain),
            n=2000,
            domain=Domain.of(12),
            runs=4,
            seed=3,
        )
        assert row["mse"] == one.measured["mse"]
        assert row["mse_predicted"] == one.measured["mse_predicted"]
        shown = [(s.columns["value"], s.columns["truth"]) for s in one.shown]
        assert found.values("mse", i).tolist() == [mean_square(*each) for each in shown]
        assert found.values("mae", i).tolist() == [mean_absolute(*each) for each in shown]
    assert len({row["mse"] for row in found.rows()}) == 4


def test_means_and_standard_errors_are_over_the_runs() -> None:
    row, values = small().rows()[0], small().values("mse", 0)
    assert row["mse_stderr"] == pytest.approx(values.std(ddof=1) / 2)
    assert small(runs=1).rows()[0]["mse_stderr"] is None


def test_measured_and_closed_forms_agree() -> None:
    """12 means of 60 runs, each within 4.5 standard errors: false alarms below 12 * 4e-5, were the seed not fixed."""
    asked: dict[str, Any] = {"data": "zipf", "k": 8, "n": 1000, "runs": 60, "metrics": ["mse", "best guess"]}
    for row in dn.study(["grr", "oue", "olh"], [1.0, 3.0], **asked).rows():
        for name in ("mse", "best_guess"):
            seen, closed, stderr = (row[name + end] for end in ("", "_predicted", "_stderr"))
            assert abs(seen - closed) < 4.5 * stderr, row
            assert abs(seen - 2 * closed) > 4.5 * stderr, row  # half as good would be noticed


def test_best_guesses_are_those_of_an_attack() -> None:
    found = dn.study(["grr"], [1.0], k=4, n=100, runs=2, seed=5, metrics="best guess", data="uniform")
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    assert found.values("best guess", 0).tolist() == [dn.attack(m, reports=2000, seed=s).measured for s in (5, 6)]


def test_a_study_that_was_cut_short_goes_on_with_the_same_result(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    expected = small(resume=whole).rows(every=True)
    data = whole.read_bytes()
    lines = data.splitlines(keepends=True)
    assert len(lines) == 5  # what was asked, and four cells
    for kept in (data[: len(lines[0])], b"".join(lines[:3]), b"".join(lines[:3]) + lines[3][:20], data):
        part.write_bytes(kept)
        heard: list[int] = []
        found = small(resume=part, progress=lambda done, total: heard.append(done))  # noqa: B023
        assert found.rows(every=True) == expected
        assert heard[0] == 4 * (kept.count(b"\n") - 1)
        assert part.read_bytes().count(b"\n") == 5
        written = part.read_bytes()
        assert sorted(written.splitlines()) == sorted(data.splitlines()), "nothing is left of a line that was cut short"
        assert small(resume=part).rows(every=True) == expected
        assert part.read_bytes() == written


def _noted(heard: list[int], done: int, total: int | None) -> None:
    assert total == 20
    heard.append(done)


def test_what_a_study_gives_does_not_depend_on_how_its_runs_were_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one, two by two, or with holes between those that are done: each run is done once, with its own seed."""
    asked = {"metrics": ["mse", "best guess"], "runs": 5}
    expected, path = small(**asked).rows(every=True), tmp_path / "study.jsonl"
    for chunk, kept in ((2000, []), (10_000, [0, 1, 3, 5, 6, 10]), (4000, [0, 2]), (2000, [0, 1, 2])):
        monkeypatch.setattr("deniable.run.sweep.study._CHUNK", chunk)
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        path.write_bytes(b"".join(lines[i] for i in kept))
        heard: list[int] = []
        found = small(resume=path, progress=partial(_noted, heard), **asked)
        assert found.rows(every=True) == expected
        assert heard == sorted(heard)
        assert heard[-1] == 20
        done = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
        runs = sorted((part["cell"], part["first"] + i) for part in done for i in range(len(part["rows"])))
        assert runs == [(cell, run) for cell in range(4) for run in range(5)], "each of them once"


def test_a_file_of_another_study_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    small(resume=path)
    before = path.read_bytes()
    with pytest.raises(dn.ParameterError, match="is of another study: it has seed 3, not 4"):
        small(resume=path, seed=4)
    with pytest.raises(dn.ParameterError, match="is of another study: it has metrics"):
        small(resume=path, metrics="mae")
    with pytest.raises(dn.ParameterError, match=r"it has mechanisms \[\], not \[{'epsilon': 3.0, 'label': 'grr'"):
        dn.study(["grr", "ss"], [1.0, 2.0, 3.0], **ASKED, resume=path)
    assert path.read_bytes() == before
    path.write_text("label,share\nno,0.5\n")
    with pytest.raises(dn.FormatError, match="is not the file of a study"):
        small(resume=path)
    assert path.read_text() == "label,share\nno,0.5\n"
    path.write_bytes(before.splitlines(keepends=True)[0] + b"{}\n")
    with pytest.raises(dn.FormatError, match="line 2, is damaged"):
        small(resume=path)


@pytest.mark.parametrize(
    "changed", ["a\na\nb\nb\n" * 10, "a\na\nc\nb\n" * 10, "a\na\nb\nc\n" * 9], ids=["values", "order", "fewer"]
)
def test_a_study_of_a_file_goes_on_with_the_same_bytes_only(changed: str, tmp_path: Path) -> None:
    """Values that are others, or the same in another order, are other data, also where there are as many bytes."""
    people, path = tmp_path / "people.txt", tmp_path / "study.jsonl"
    first = "a\na\nb\nc\n" * 10
    asked: dict[str, Any] = {"runs": 1, "seed": 3, "resume": path}
    people.write_text(first)
    found = dn.study(["grr"], [1.0], data=str(people), **asked).rows(every=True)
    before = path.read_bytes()
    people.write_text(changed)
    with pytest.raises(dn.ParameterError, match="is of another study: it has data"):
        dn.study(["grr"], [1.0], data=str(people), **asked)
    assert path.read_bytes() == before
    people.write_text(first)
    assert dn.study(["grr"], [1.0], data=str(people), **asked).rows(every=True) == found


@pytest.mark.parametrize(
    ("text", "escaped_text"),
    [
        *((sign, f"\\{sign}") for sign in "&%$#_{}"),
        ("\\", r"\textbackslash{}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        (r"R&D: 5_000 \ {a}~b # 10%", r"R\&D: 5\_000 \textbackslash{} \{a\}\textasciitilde{}b \# 10\%"),
        ("plain (text), ü: 1.5 - 2 = x!", "plain (text), ü: 1.5 - 2 = x!"),
    ],
)  # fmt: skip
def test_no_sign_of_a_name_is_a_command_of_latex(text: str, escaped_text: str) -> None:
    assert escaped(text) == escaped_text


def test_own_metrics_and_made_mechanisms() -> None:
    coin = dn.Mechanism.from_matrix([[3, 1], [1, 3]], labels=["no", "yes"])
    found = dn.study(
        {"coin": coin, "grr": "grr", "mine": lambda epsilon: dn.mechanism("ss", epsilon=epsilon, labels=["no", "yes"])},
        [1.0],
        data="uniform",
        n=500,
        runs=3,
        metrics=["mse", lambda value, truth: float(np.abs(value - truth).max())],
    )
    rows = {row["mechanism"]: row for row in found.rows()}
    assert list(rows) == ["coin", "grr", "mine"]
    assert rows["coin"]["epsilon"] == coin.epsilon
    assert rows["grr"]["epsilon"] == 1.0
    largest = [float(np.sqrt(x)) for x in found.values("mse", 0)]  # of two shares that sum to 1, both are as far off
    assert found.values("lambda", 0).tolist() == pytest.approx(largest)


def test_people_may_be_given_as_they_are() -> None:
    values = ["b"] * 300 + ["a"] * 100
    one = dn.study("grr", 1.0, data=values, runs=2)
    two = dn.study("grr", 1.0, data=dn.datasets.Population("values", ("a", "b"), np.array([100, 300])), runs=2)
    assert one.rows() == two.rows()
    assert one.rows()[0]["n"] == 400


def test_people_may_be_given_as_numbers_of_answers() -> None:
    coin = dn.Mechanism.from_matrix([[3, 1], [1, 3]])
    numbers = dn.study([coin], [coin.epsilon], data=[0] * 300 + [1] * 100, k=2, runs=2)
    named = dn.Mechanism.from_matrix([[3, 1], [1, 3]], labels=["a", "b"])
    assert numbers.rows()[0]["mse"] == dn.study([named], data=["a"] * 300 + ["b"] * 100, runs=2).rows()[0]["mse"]
    for wrong, told in ([0, 2], "got 2 at position 1"), ([0, "1.0"], "got '0'"), ([-1, 0], "got '-1'"):
        with pytest.raises(dn.ParameterError, match=told):
            dn.study([coin], [coin.epsilon], data=wrong, k=2, runs=2)


def test_people_without_a_value_are_refused() -> None:
    for wrong, told in (
        (None, "data must be a population"),
        ([0, float("nan")], "none at position 1"),
        (["a", None], "1"),
    ):
        with pytest.raises(dn.ParameterError, match=told):
            dn.study("grr", [1.0], data=wrong, runs=2)


def test_own_metrics_give_one_number_or_none(tmp_path: Path) -> None:
    unknown = {"x": lambda value, truth: float("nan")}
    found = dn.study("grr", [1.0], k=4, n=100, runs=2, metrics=unknown, resume=tmp_path / "study.jsonl")
    again = dn.study("grr", [1.0], k=4, n=100, runs=2, metrics=unknown, resume=tmp_path / "study.jsonl")
    assert found.rows() == again.rows()
    assert found.rows()[0]["x"] is None
    assert repr(found) == "<Study of zipf:1: 1 mechanism, 1 row, 2 runs each; x>"
    for odd in (lambda value, truth: value, lambda value, truth: "hi", lambda value, truth: float("inf")):
        with pytest.raises(dn.ParameterError, match="metric mine must be a function that gives one number"):
            dn.study("grr", [1.0], k=4, n=100, runs=2, metrics={"mine": odd})
    with pytest.raises(dn.ParameterError, match="metric mine must be a function of two arrays, got ZeroDivisionError"):
        dn.study("grr", [1.0], k=4, n=100, runs=2, metrics={"mine": lambda value, truth: 1 / 0})


def test_other_questions() -> None:
    means = dn.study([("duchi", {"interval": "0,1"})], [2.0], data="uniform", n=500, runs=2)
    make = lambda: dn.mechanism("duchi", epsilon=2.0, interval="0,1")  # noqa: E731
    assert means.rows()[0]["mse"] == simulate_mean("uniform", make, n=500, runs=2).measured["mse"]
    losses = dn.study("brr", [1.0], data="uniform", k=6, n=500, runs=2)
    assert losses.metrics[0].name == "loss"
    assert losses.rows()[0]["loss_predicted"] > 0
    keys = dn.study(["kv-ss2"], [2.0], data="zipf", k=6, n=500, runs=2, metrics=["mse", "ncr:3"])
    assert 0 <= keys.rows()[0]["ncr:3"] <= 1
    with pytest.raises(dn.ParameterError, match=r"must answer one question, got grr .frequency., brr .release."):
        dn.study(["grr", "brr"], [1.0], k=4)
    with pytest.raises(dn.ParameterError, match="about estimates"):
        dn.study("grr", [1.0], k=4, n=100, metrics="loss")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"mechanisms": ["grrr"]}, "mechanism must be one of"),
        ({"mechanisms": []}, "mechanisms must be at least one"),
        ({"mechanisms": [3]}, "mechanisms must be names"),
        ({"mechanisms": ["grr", "grr"]}, r"mechanisms must be different .*, got \['grr', 'grr'\]"),
        ({"mechanisms": ["grr:epsilon=1"]}, "epsilon must be left out of grr:epsilon=1"),
        ({"mechanisms": ["grr:size=2"]}, "grr has no option 'size'"),
        ({"mechanisms": ["ss:size=99"]}, "ss:size=99 at epsilon 1 cannot be made"),
        ({"epsilons": [0]}, "epsilons must be numbers > 0"),
        ({"epsilons": []}, "epsilons must be at least one"),
        ({"epsilons": ["a", None]}, r"epsilons must be numbers > 0 and at most 700, got \['a', None\]"),
        ({"epsilons": "12"}, "epsilons must be numbers > 0"),
        ({"epsilons": [1, 1.0]}, "epsilons must be different"),
        ({"metrics": "mee"}, "metrics must be some of"),
        ({"metrics": "mse:3"}, "metrics must be without a number"),
        ({"metrics": ["mse", "mse"]}, "metrics must be different"),
        ({"metrics": "f1:99"}, "t must be from 1 to the number of items, 4"),
        ({"runs": 0}, "runs must be"),
        ({"runs": 1.5}, "runs must be an integer"),
        ({"seed": -1}, "seed must be"),
        ({"workers": 0}, "workers must be"),
        ({"data": []}, "data must be a population"),
        ({"k": None}, "k must be given"),
        ({"n": "5"}, "n must be an integer >= 1, got '5'"),
        ({"n": 1e5}, "n must be an integer >= 1"),
        ({"metrics": 5}, "metrics must be names or functions, got 5"),
        *(({"mechanisms": none}, "mechanisms must be names or mechanisms, or a mapping, got") for none in (None, 5)),
        ({"epsilons": b"1"}, "epsilons must be numbers > 0"),
    ],
)
def test_refusals(wrong: dict[str, Any], told: str) -> None:
    right = {"mechanisms": ["grr"], "epsilons": [1.0], "data": "zipf", "k": 4, "n": 100, "runs": 1}
    with pytest.raises(dn.ParameterError, match=told):
        dn.study(**{**right, **wrong})


def test_metrics_by_hand() -> None:
    value, truth = np.array([0.5, 0.1, 0.4]), np.array([0.6, 0.3, 0.1])
    assert mean_square(value, truth) == pytest.approx((0.01 + 0.04 + 0.09) / 3)
    assert mean_absolute(value, truth) == pytest.approx(0.2)
    assert wasserstein(value, truth) == pytest.approx((0.1 + 0.3) / 2)
    assert wasserstein(2 * value, truth) == pytest.approx((0.4 + 0.3) / 2), "the last of all shares is no distance"
    assert (f1_top(value, truth, 2), ncr_top(value, truth, 2)) == (0.5, pytest.approx(2 / 3))
    assert ndcg_top(value, truth, 2) == pytest.approx(2 / (2 + 1 / np.log2(3)))
    named, own = metrics_of(["mse", "ndcg:2", {"mine": max}], "mse")
    assert [m.name for m in named] == ["mse", "ndcg:2"]
    assert list(own) == ["mine"]
    assert named[1].measure(value, truth) == ndcg_top(value, truth, 2)
    assert METRICS["ndcg"].measure(value, truth) == ndcg_top(value, truth, 3)


def test_tables_for_papers() -> None:
    found = small(metrics=["mse", "f1:3"])
    text = found.to_latex(metric="mse")
    best = next(line for line in text.splitlines() if line.startswith("ss "))
    assert text.count("\\mathbf") == best.count("\\mathbf") == 2  # ss has the least error at both budgets
    assert text.count(" \\\\") == 3
    assert "\\varepsilon = 1$" in text
    assert "zipf:1, $k = 12$" in text
    assert found.to_latex().count("\\begin{table}") == 2
    own = small(metrics={"hits_%": lambda value, truth: float(value.argmax() == truth.argmax())}).to_latex()
    assert "Hits\\_\\%;" in own
    assert "mathbf" not in own  # nobody said whether more of it is better
    assert own.count("{") == own.count("}")
    lines = found.to_csv().splitlines()
    assert lines[0].startswith("mechanism,epsilon,data,k,n,runs,seed,bytes,mse,mse_stderr,mse_predicted,f1:3")
    assert len(lines) == 5
    assert len(found.to_csv(every=True).splitlines()) == 17
    frame = found.to_columns()
    assert frame["simulated"] == [True] * 4
    assert frame["epsilon"] == [1.0, 2.0, 1.0, 2.0]
    assert "Study of zipf:1: 2 mechanisms" in repr(found)
    assert "closed form" in found._repr_html_()


def test_the_chart_has_points_intervals_and_closed_forms(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    found = small(metrics=["mse", "f1:3"])
    spec = found.plot().to_dict()
    assert len(spec["concat"]) == 2
    first = json.dumps(spec["concat"][0])
    for need in ('"type": "log"', '"field": "line"', '"field": "low"', "mean squared error"):
        assert need in first
    rows = next(iter(spec["datasets"].values())) if "datasets" in spec else spec["concat"][0]["data"]["values"]
    row = found.rows()[0]
    assert any(r["y"] == row["mse"] and r["line"] == row["mse_predicted"] for r in rows)
    with pytest.raises(dn.ParameterError, match="metric must be one of mse, f1:3"):
        found.plot(metric="mae")


SCRIPT = """
import sys, deniable as dn
found = dn.study(["grr", "ss", "oue", lambda e: dn.mechanism("olh", epsilon=e, k=32)], [1.0, 2.0], data="zipf", k=32,
                 n=400_000, runs=10, seed=1, resume=sys.argv[1] or None, workers=int(sys.argv[2]))
sys.stdout.write(found.to_csv(every=True))
"""
"""No `if __name__ == "__main__"`, and a function that other processes do not know: as people write it."""


@pytest.mark.slow
def test_killed_and_resumed_without_a_difference(tmp_path: Path) -> None:
    script, path = tmp_path / "mine.py", tmp_path / "study.jsonl"
    script.write_text(SCRIPT)
    run = [sys.executable, str(script)]
    whole = subprocess.run([*run, "", "1"], capture_output=True, text=True, check=True).stdout
    assert whole.count("\n") == 81
    with subprocess.Popen([*run, str(path), "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 3):
            time.sleep(0.01)
        assert process.poll() is None  # it was not done
        os.kill(process.pid, signal.SIGKILL)
    done = path.read_bytes().count(b"\n")
    assert 3 <= done < 17
    again = subprocess.run([*run, str(path), "2"], capture_output=True, text=True, check=True).stdout
    assert again == whole
    assert path.read_bytes().count(b"\n") == 17


@pytest.mark.slow
def test_errors_of_other_processes_are_told() -> None:
    with pytest.raises(dn.ParameterError, match="t must be from 1 to the number of items, 4"):
        dn.study(["grr"], [1.0], k=4, n=1000, runs=2, metrics="f1:99", workers=2, data="zipf")
