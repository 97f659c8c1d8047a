"""Key-value data on the command line: files in, estimates of frequencies and means out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

KV = ["--epsilon", 3, "--range", "1,5"]


@pytest.fixture
def pairs(tmp_path: Path) -> None:
    """4,000 people with two of three keys; shoes are rated 5, hats 2, coats are unknown to nearly all."""
    draw, rows = np.random.default_rng(1), ["person,item,stars"]
    for i in range(4000):
        rows.append(f"{i},shoes,5")
        rows += [f"{i},hats,2"] if draw.random() < 0.5 else []
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n4000,coats,3\n4001,,\n")


COLUMNS = ["--columns", "person,item,stars"]
LABELS = ["--labels", "shoes,hats,coats", "--length", 2]


def test_pairs_to_estimates(run, pairs, tmp_path):
    done = run("privatize", "kv-ss2", *KV, *LABELS, *COLUMNS, "pairs.csv", "--out", "r.bin", "--seed", 1, "--json")
    assert (done.code, done.json["n"], done.json["mechanism"]) == (0, 4002, "kv-ss2")
    found = run("estimate", "r.bin", "--json").json
    assert found["labels"] == ["shoes", "hats", "coats"]
    assert found["value"] == pytest.approx([1.0, 0.5, 0.0], abs=0.15)
    assert found["mean"][:2] == pytest.approx([5, 2], abs=0.4)
    assert found["too_rare"] == [False, False, True]
    assert (found["mean_low"][2], found["mean_high"][2]) == (1.0, 5.0)
    shown = run("estimate", "r.bin", "--out", "e.csv")
    assert "too rare to say" in shown.out
    assert (tmp_path / "e.csv").read_text().splitlines()[
        0
    ] == "label,value,stderr,low,high,mean,mean_low,mean_high,too_rare,simulated"
    assert run("estimate", "r.bin", "--project").code == 2
    assert run("estimate", "r.bin", "--chart", "f.json", "--chart-means", "m.json").code == 0
    means = (tmp_path / "m.json").read_text()
    assert "mean of the values" in means
    assert "1 key is too rare" in means
    assert '"coats"' not in means
    assert "share of people" in (tmp_path / "f.json").read_text()
    shrunk = run("estimate", "r.bin", "--shrink", 2, "--json").json
    assert shrunk["biased"]
    assert "shrunk towards" in shrunk["steps"][-1]
    assert 1 <= shrunk["mean"][2] <= 5
    assert run("estimate", "r.bin", "--shrink", 9).code == 2


def test_bad_use_is_refused(run, pairs):
    base = ["privatize", "ks-ue", *KV, *LABELS, "pairs.csv", "--out", "r.bin"]
    assert "columns of pairs.csv: person, item, stars" in run(*base).err
    assert "column must be left out" in run(*base, *COLUMNS, "--column", "item").err
    assert "exactly one pair" in run(*base[:-5], "pairs.csv", *COLUMNS, "--out", "r.bin").err
    assert "--column must be given" in run("simulate", "ss", "--epsilon", 1, "--data", "pairs.csv").err
    assert "project must be left out" in run("simulate", "kv-ss2", *KV, "--k", 4, "--data", "zipf", "--project").err


@pytest.mark.parametrize("name", ["kv-ss", "ks-adap"])
def test_simulation_from_a_file(run, pairs, name):
    own = ["--length", 2] if name == "kv-ss" else ["--top", 1]
    done = run("simulate", name, *KV, *own, *COLUMNS, "--data", "pairs.csv", "--runs", 2, "--json")
    assert done.code == 0, done.err
    assert (done.json["n"], done.json["k"], done.json["runs"]) == (4002, 3, 2)
    assert done.json["ncr"] == 1.0
    assert "coverage" in run("simulate", name, *KV, *own, *COLUMNS, "--data", "pairs.csv", "--runs", 1).out


@pytest.mark.parametrize("name", ["ks-grr", "ks-adap", "privkvm"])
def test_protocols_have_designs_and_audits(run, name):
    job = [name, "--epsilon", 2, "--k", 40, *(["--rounds", 2] if name == "privkvm" else ["--top", 3])]
    found = run("design", *job, "--n", 1000, "--json").json
    assert (found["mechanism"], found["kind"], found["k"]) == (name, "protocol", 40)
    assert found["epsilon_exact"] <= 2
    assert [s["share"] for s in found["steps"]] == found["shares"]
    assert sum(s["people"] for s in found["steps"]) == (2000 if name == "privkvm" else pytest.approx(1000))
    assert all(s["epsilon_exact"] <= s["epsilon"] for s in found["steps"])
    assert "Its steps" in run("design", *job).out
    audit = run("audit", *job, "--json")
    assert (audit.code, audit.json["holds"], audit.json["method"]) == (0, True, "composition of steps")
    assert run("audit", *job, "--promise", 1, "--json").code == 1
