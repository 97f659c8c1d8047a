"""`simulate`, `audit`, `reproduce` and `demo`."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.errors import MissingExtraError
from deniable.mechanisms.registry import MECHANISMS
from deniable.service.demo import BROWSERS
from deniable_client.exact import exp_bounds

# ---- simulate


def study(m, population, seed, runs, level=0.95):
    """What `simulate` should say, with the library alone."""
    root = dn.simulation(seed)
    root.spawn(1)
    values = [population.labels[i] for i in population.values()]
    truth = population.frequencies
    found = []
    for rng in root.spawn(runs):
        e = m.estimate(m.tally(m.privatize(values, rng=rng)))
        found.append(
            (
                np.mean((e.value - truth) ** 2),
                np.mean((e.project().value - truth) ** 2),
                np.abs(e.value - truth).max(),
                e.interval(level).covers(truth).mean(),
                e,
            )
        )
    return found


def test_simulation_is_what_the_library_gives(run):
    line = ["--data", "bank-job", "--n", 2000, "--runs", 3, "--seed", 5, "--level", 0.8]
    found = run("simulate", "oue", "--epsilon", 2, *line, "--json").json
    population = dn.datasets.resolve("bank-job", n=2000)
    m = dn.mechanism("oue", epsilon=2.0, labels=population.labels)
    runs = study(m, population, 5, 3, 0.8)
    mse = np.array([r[0] for r in runs])
    predicted = m.effective(2000)["mse"]
    assert found["mse"] == pytest.approx(mse.mean(), rel=1e-12)
    assert found["mse_predicted"] == predicted
    assert found["ratio"] == pytest.approx(mse.mean() / predicted, rel=1e-12)
    assert found["ratio_stderr"] == pytest.approx(mse.std(ddof=1) / predicted / math.sqrt(3), rel=1e-12)
    assert found["mse_projected"] == pytest.approx(np.mean([r[1] for r in runs]), rel=1e-12)
    assert found["max_abs_error"] == pytest.approx(np.mean([r[2] for r in runs]), rel=1e-12)
    assert found["coverage"] == pytest.approx(np.mean([r[3] for r in runs]), rel=1e-12)
    assert found["first"]["value"] == runs[0][4].value.tolist()
    assert found["first"]["truth"] == population.frequencies.tolist()
    assert found["first"]["labels"] == list(population.labels)
    facts = ("mechanism", "epsilon", "k", "n", "runs", "seed", "simulated", "level")
    assert [found[key] for key in facts] == ["oue", 2.0, 12, 2000, 3, 5, True, 0.8]


def test_simulation_of_a_made_up_population(run):
    line = ["simulate", "grr", "--epsilon", 1, "--data", "dirichlet:0.5", "--k", 4, "--runs", 1, "--json"]
    found = run(*line).json
    assert (found["k"], found["n"], found["ratio_stderr"]) == (4, 10_000, None)
    assert found["first"]["labels"] == ["0", "1", "2", "3"]
    assert sum(found["first"]["truth"]) == pytest.approx(1)
    assert run(*line).json == found
    assert run(*line, "--seed", 1).json["first"]["truth"] != found["first"]["truth"]


def test_simulation_tables_and_files(run, tmp_path):
    pytest.importorskip("altair")
    line = ["--data", "adult-education", "--n", 500, "--runs", 2, "--project", "--chart", "c.json", "--out", "runs.csv"]
    done = run("simulate", "ss", "--epsilon", 1, *line)
    assert done.code == 0
    assert "measured / predicted" in done.out
    assert len(done.out.split("First run, projected")[1].splitlines()) == 13
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == ["1"] * 16 + ["2"] * 16
    assert all(float(row["value"]) >= 0 for row in rows)
    chart = json.loads((tmp_path / "c.json").read_text())
    assert "simulated" in " ".join(chart["title"]["subtitle"])


# ---- audit


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh"])
def test_audit_is_the_librarys(run, name):
    done = run("audit", name, "--epsilon", 1, "--k", 4, "--json")
    assert done.code == 0
    assert done.json == dn.audit(dn.mechanism(name, epsilon=1.0, k=4)).document()


def test_a_broken_promise_has_exit_code_1(run):
    done = run("audit", "ss", "--epsilon", 1, "--k", 6, "--promise", 0.999, "--json")
    assert (done.code, done.json["holds"], done.json["epsilon"]) == (1, False, 0.999)
    text = run("audit", "ss", "--epsilon", 1, "--k", 6, "--promise", 0.999)
    assert text.code == 1
    assert "BROKEN" in text.out


def test_audit_shows_its_evidence(run):
    out = run("audit", "ss", "--epsilon", 1, "--k", 6).out
    m = dn.mechanism("ss", epsilon=1.0, k=6)
    rows = {line[:18].rstrip(): line[18:].strip() for line in out.splitlines()}
    ratio = m.proof.ratio
    shown, low = (Fraction(rows[key].split()[0]) for key in ("largest ratio", "e^promise"))
    assert abs(shown - ratio) < Fraction(1, 10**25)
    assert abs(low - exp_bounds(1.0)[0]) < Fraction(1, 10**25)
    assert rows["as a fraction"] == f"{ratio.numerator} / {ratio.denominator}"
    assert float(rows["spare epsilon"]) == pytest.approx(float(exp_bounds(1.0)[0] / ratio - 1), rel=0.01)
    assert rows["method"] == "symmetry"
    assert "outputs" in rows["enumeration"]
    assert "Pr[report {" in rows["witness"]


MODULE = """
import deniable as dn
print("hello from the module")
fair = dn.Channel(("no", "yes"), ((2, 1), (1, 2)), 3)
class Own:
    epsilon = 0.5
    def channel(self):
        print("hello from the channel")
        return fair
own = Own()
certain = dn.Channel(("no", "yes"), ((1, 0), (0, 1)), 1)
def fails():
    return 1 / 0
def odd():
    raise dn.ParameterError("a channel of its own mind.")
class Ill:
    epsilon = 1.0
    def channel(self):
        raise KeyError("nothing there")
"""


@pytest.fixture
def module(run, tmp_path):
    """A module in the current folder; its name is fresh, so that no other test has imported it."""
    name = f"own_{tmp_path.parent.name}_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    return name


def test_own_objects_can_be_audited(run, module):
    done = run("audit", f"{module}:Own", "--json")
    assert (done.code, done.json["holds"], done.json["ratio"], done.json["epsilon"]) == (1, False, "2", 0.5)
    assert done.err == "hello from the module\nhello from the channel\n"
    assert run("audit", f"{module}:own", "--promise", 0.7, "--json").json["holds"] is True
    assert run("audit", f"{module}:fair", "--promise", 0.7, "--json").code == 0
    certain = run("audit", f"{module}:certain", "--promise", 5, "--json")
    assert (certain.code, certain.json["ratio"]) == (1, "infinite")
    assert "rules a value out" in run("audit", f"{module}:certain", "--promise", 5).out


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("fails", "ZeroDivisionError: division by zero"),
        ("odd", "a channel of its own mind."),
        ("Ill", "KeyError: 'nothing there'"),
        ("fair", "--promise must be given for"),
    ],
)
def test_what_own_objects_raise_is_their_fault(run, module, what, message):
    done = run("audit", f"{module}:{what}", "--json")
    assert done.code == 2
    assert message in done.json["error"]["message"]


# ---- reproduce


class Summary:
    claims = ({"id": "adaptive-1"},)
    against = ()

    def document(self):
        return {"paper": "adaptive", "claims": [{"id": "a"}]}

    def table(self):
        return [{"id": "a", "claim": "It holds.", "paper": "1", "measured": "1.01", "verdict": "reproduced"}]

    pages = (Path("results/uldp/report.html"),)


def test_reproduce_passes_everything_on(run, monkeypatch):
    from deniable.papers import runner

    seen = []

    def reproduce(paper, *, progress, **rest):
        progress("half-way")
        seen.append((paper, rest))
        return Summary()

    monkeypatch.setattr(runner, "reproduce", reproduce)
    name = next(iter(runner.PAPERS))
    done = run("reproduce", name, "--figure", "fig1", "--quick", "--out", "res", "--data-dir", ".", "--json")
    assert done.json == Summary().document()
    assert "half-way" in done.err
    assert f"{name}: {int(name == 'adaptive')} claims tested; " in done.err
    table = run("reproduce", "all").out.splitlines()
    assert table[1].split() == ["a", "reproduced", "It", "holds.", "1", "1.01"]
    assert "1 claims: 1 reproduced. Details: results/uldp/report.html" in table[3]
    usual = {"seed": 1, "against": None, "fresh": False}
    assert seen == [
        (name, {"figure": "fig1", "quick": True, "out": Path("res"), "data_dir": Path(), **usual}),
        ("all", {"figure": None, "quick": False, "out": Path("results"), "data_dir": None, **usual}),
    ]


# ---- demo


@pytest.mark.turns(2)
@pytest.mark.slow
def test_the_demonstration_draws(run, tmp_path):
    pytest.importorskip("altair")
    assert run("demo").code == 0
    folder = tmp_path / "demo-output"
    assert (folder / "estimate.png").read_bytes()[:4] == b"\x89PNG"
    assert b"vegaEmbed" in (folder / "estimate.html").read_bytes()
    page = (folder / "dashboard.html").read_text()
    assert "What is your job?" in page
    assert "<svg" in page
    assert "http" not in re.sub("http://www.w3.org|http://127.0.0.1", "", page)
    assert (folder / "dashboard.png").is_file() == any(map(shutil.which, BROWSERS))


def test_the_demonstration(run, tmp_path, monkeypatch):
    def missing(*args, **rest):
        raise MissingExtraError("this needs altair, which is not installed.", "Install it.")

    monkeypatch.setattr("deniable.present.charts.estimate_chart", missing)
    done = run("demo", "--people", 1000, "--out", "d", "--json")
    assert done.code == 0
    found, folder = done.json, tmp_path / "d"
    assert {"collector.db", "task.json", "tally.bin", "estimate.csv"} == set(found["files"])
    assert set(found["files"]) == {path.name for path in folder.iterdir()} - {
        "collector.db-wal",
        "collector.db-shm",
        "collector.db.journal",
    }
    tally = dn.load((folder / "tally.bin").read_bytes())
    assert (tally.n, tally.simulated, found["devices"]) == (1000, False, 1000)
    m = dn.from_design(tally.design)
    people = dn.datasets.load("bank-job")
    assert m.design == found["task"]["design"]
    assert m.bulk.row_bytes <= 2
    assert m.mse() == min(d.mse for d in dn.plan(labels=people.labels, n=1, epsilon=1.0, max_bytes=2).designs)
    e = m.estimate(tally)
    assert found["estimate"]["value"] == e.value.tolist()
    assert found["audit"]["holds"] is True
    assert json.loads((folder / "task.json").read_bytes()) == found["task"]


@pytest.mark.slow
def test_the_demonstration_tells_its_steps_and_what_it_left_out(run, tmp_path, monkeypatch):
    def missing(*args, **rest):
        raise MissingExtraError("this needs altair, which is not installed.", "Install it.")

    monkeypatch.setattr("deniable.present.charts.estimate_chart", missing)
    done = run("demo", "--people", 1000)
    assert done.code == 0
    titles = ["1. PLAN", "2. PROVE", "3. OPEN", "4. ANSWER", "5. CLOSE", "6. ESTIMATE AND COMPARE", "7. LOOK"]
    assert re.findall(r"^\d\. [A-Z ]+$", done.out, re.MULTILINE) == titles
    assert "No chart was drawn: this needs altair" in done.out.replace("\n", " ")
    assert "Everything is in demo-output:" in done.out
    assert run("demo", "--people", 5, "--out", "e").code == 2


def test_all_mechanisms_that_need_no_parameter_can_be_simulated(run):
    for name, entry in MECHANISMS.items():
        if entry.kind == "mechanism" and entry.question == "frequency" and not entry.needed:
            line = ["--epsilon", 1, "--data", "uniform", "--k", 3, "--n", 200, "--runs", 1, "--json"]
            assert run("simulate", name, *line).json["mechanism"] == name


def test_simulate_takes_a_column_of_a_file(run, tmp_path):
    (tmp_path / "people.csv").write_text("age,pet\n" + "0,cat\n1,dog\n2,cat\n1,newt\n" * 50)
    line = ("simulate", "ss", "--epsilon", 2, "--data", "people.csv", "--runs", 2, "--json")
    found = run(*line, "--column", "pet").json
    assert (found["n"], found["k"], found["first"]["truth"]) == (200, 3, [0.5, 0.25, 0.25])
    assert found["first"]["labels"] == ["cat", "dog", "newt"]
    numbered = run(*line, "--column", "age", "--k", 5, "--n", 1000).json
    assert (numbered["n"], numbered["first"]["truth"]) == (1000, [0.25, 0.5, 0.25, 0.0, 0.0])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--data", "people.csv"), "--column must be given, since people.csv has the columns age, pet"),
        (("--data", "people.csv", "--column", "pets"), "--column must be one of the columns of people.csv: age, pet"),
        (("--data", "people.csv", "--column", "pet"), "a file without missing values, got 'people.csv, line 3'"),
        (("--data", "people.csv", "--column", "age", "--k", 2), "people.csv, line 4"),
        (("--data", "zipf", "--k", 3, "--column", "pet"), "--column must be left out: only a file has columns"),
        (("--data", "none.csv", "--column", "pet"), "cannot read 'none.csv'"),
    ],
)
def test_what_is_wrong_with_a_file_of_values_is_told(run, tmp_path, more, said):
    (tmp_path / "people.csv").write_text("age,pet\n0,cat\n1,\n2,dog\n")
    done = run("simulate", "ss", "--epsilon", 2, "--runs", 1, *more)
    assert done.code == 2
    assert said in done.err
