"""`deniable promise`: budgets as given, what follows from them, and files that are no promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.run.given.promises import read_promise_file

LEVELS = {"item_epsilon": [1, 2, 3, 4], "rule": "min", "labels": ["HIV", "flu", "cold", "well"]}


def write(what: object, name: str = "p.json") -> str:
    Path(name).write_text(what if isinstance(what, str) else json.dumps(what))
    return name


def test_budgets_what_follows_and_the_sentence_are_those_of_the_promise(run):
    p = dn.promise(**LEVELS)
    found = run("promise", write(LEVELS), "--explain", "HIV", "--json").json
    assert found["budgets"] == p.budgets.tolist()
    assert found["closed"] == p.closed.budgets.tolist() != found["budgets"]
    assert found["epsilon"] == 3.0
    assert found["implied"][0] == {
        "likely": "cold",
        "unlikely": "well",
        "given": 3.0,
        "budget": 2.0,
        "path": ["cold", "HIV", "well"],
    }
    assert found["explain"] == {"value": "HIV", "text": p.explain("HIV")}
    told = run("promise", "p.json", "--explain", "cold")
    assert "cold > HIV > well" in told.out
    assert p.explain("cold") in " ".join(told.out.split())


SAME: list[tuple[str, Any, dict[str, Any]]] = [
    ("a matrix", {"budgets": [[0, 1], ["inf", 0]], "labels": ["ill", "well"]}, {}),
    ("a csv matrix", "0,1\ninf,0\n", {"budgets": [[0, 1], ["inf", 0]]}),
    ("with labels", "ill,well\n0,1\nINF,0\n", {"budgets": [[0, 1], ["inf", 0]], "labels": ["ill", "well"]}),
    ("in front too", ",ill,well\nill,0,1\nwell,inf,0\n", {"budgets": [[0, 1], ["inf", 0]], "labels": ["ill", "well"]}),
    ("sensitive", {"epsilon": 1, "k": 6, "sensitive": 3}, {}),
    ("a graph", {"graph": [[0, 1], [1, 2]], "epsilon": 0.5, "k": 4}, {}),
    ("points", {"points": [[0, 0], [3, 4]], "epsilon": 0.5}, {}),
    ("blocks", {"blocks": [2, 2], "inside": 1, "across": "inf"}, {}),
    ("a mark of the encoding", '\ufeff{"epsilon": 1, "k": 3}', {"epsilon": 1, "k": 3}),
    ("places", {"places": [[52.5, 13.4], [48.9, 2.4]], "epsilon": 0.01},
     {"space": dn.Space.places([[52.5, 13.4], [48.9, 2.4]]), "epsilon": 0.01}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "file", "arguments"), SAME, ids=[case[0] for case in SAME])
def test_a_file_says_what_the_arguments_say(run, tmp_path, name, file, arguments):
    assert read_promise_file(write(file, str(tmp_path / "p"))) == dn.promise(**(arguments or file))


def test_the_document_of_a_promise_is_a_file_of_it(run):
    first = run("promise", write(LEVELS), "--json").json
    assert run("promise", "-", "--json", stdin=json.dumps(first["promise"])).json == first


BAD: list[tuple[str, Any, str]] = [
    ("nothing", "", "nothing"),
    ("a list", "[[0, 1], [1, 0]]", "a JSON object"),
    ("half of it", '{"epsilon": 1, "k"', "not JSON"),
    ("twice", '{"epsilon": 1, "epsilon": 9, "k": 3}', "'epsilon' is there twice"),
    ("NaN", '{"budgets": [[0, NaN], [1, 0]]}', "NaN is not a number of JSON"),
    ("an infinity of its own", '{"budgets": [[0, -Infinity], [1, 0]]}', "is not a number of JSON"),
    ("a wrong name", {"epsilons": 1, "k": 3}, "Did you mean epsilon"),
    ("negative", {"budgets": [[0, -1], [1, 0]]}, "budgets[0][1]"),
    ("a diagonal", {"budgets": [[1, 1], [1, 0]]}, "budgets[0][0]"),
    ("not square", {"budgets": [[0, 1], [1, 0], [1, 1]]}, "square"),
    ("too large a budget", {"budgets": [[0, 41], [1, 0]]}, "at most 40"),
    ("a truth value", {"budgets": [[0, True], [1, 0]]}, "budgets[0][1]"),
    ("labels as a text", {"epsilon": 1, "labels": "abc"}, "a list of texts"),
    ("labels of numbers", {"epsilon": 1, "labels": [1, 2]}, "a list of texts"),
    ("k as a text", {"epsilon": 1, "k": "9"}, "a whole number"),
    ("one value", {"budgets": [[0]]}, ">= 2"),
    ("a rule left out", {"item_epsilon": [1, 2]}, "rule"),
    ("two ways", {"item_epsilon": [1, 2], "rule": "own", "blocks": [1, 1]}, "in one way"),
    ("a graph of everybody", {"graph": [[0, 1]], "epsilon": 1, "k": 10**12}, "at most 1,024"),
    ("a block of everybody", {"blocks": [10**12], "inside": 1, "across": 1}, "at most 1,000,000"),
    ("budgets of everybody", {"item_epsilon": [1], "rule": "own", "sensitive": 1, "k": 10**12}, "at most 1,000,000"),
    ("far too deep", '{"budgets": ' + "[" * 100_000 + "]" * 100_000 + "}", "not JSON"),
    ("no number", "a,b\n0,1\nx,0\n", "budgets[1][0]"),
    ("a torn csv", '"0,1\n1,0', "not CSV"),
    ("labels only", "a,b\n", "a square of numbers"),
    ("other labels in front", ",a,b\na,0,1\nc,1,0\n", "labels in front of the rows"),
    ("a csv with nan", "0,nan\n1,0\n", "budgets[0][1]"),
    ("labels twice", "a,a\n0,1\n1,0\n", "label"),
    ("half a document", {"classes": [[0, 2]], "budgets": [[1]], "other": 1}, "a promise is a mapping"),
    ("classes that overlap", {"k": 2, "classes": [[0, 2], [1, 2]], "budgets": [[1, 1], [1, 1]]}, "classes"),
]


@pytest.mark.parametrize(("name", "file", "part"), BAD, ids=[case[0] for case in BAD])
def test_a_file_that_is_no_promise_is_refused_in_words(run, name, file, part):
    done = run("promise", write(file))
    assert (done.code, done.out) == (2, "")
    assert part in done.err, done.err
    assert "p.json" in done.err
    assert "something went wrong" not in done.err


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_refused(run):
    Path("b").write_bytes(b"\xff\xfe{}")
    assert "not UTF-8" in run("promise", "b").err
    assert "cannot read 'no.json'" in run("promise", "no.json").err
    assert "one of" not in run("promise", write(LEVELS), "--explain", "flu").err
    assert run("promise", "p.json", "--explain", "plague").code == 2


def test_large_promises_are_told_by_their_classes(run):
    found = run("promise", write({"epsilon": 1, "k": 1_000_000, "sensitive": 10}))
    assert found.code == 0
    assert "999,990" in found.out
    whole = run("promise", "p.json", "--json").json
    assert "budgets" not in whole
    assert whole["promise"]["budgets"] == [[1.0, 1.0], ["inf", "inf"]]


def test_a_chart_has_every_budget_and_is_not_overwritten(run):
    one_sided = {"budgets": [[0, 1, 9], ["inf", 0, 1], [2, 2, 0]], "labels": ["a", "b", "c"]}
    assert run("promise", write(one_sided), "--chart", "c.json").code == 0
    spec = json.loads(Path("c.json").read_text())
    cells = [cell for panel in spec["hconcat"] for cell in panel["data"]["values"]]
    assert len(cells) == 18, "given ones, and what follows: 9 is the sum of 1 and 1"
    assert [cell["text"] for cell in cells[:9]] == ["", "1", "9", "∞", "", "1", "2", "2", ""]
    assert [cell["text"] for cell in cells[9:12]] == ["", "1", "2"]
    refused = run("promise", "p.json", "--chart", "c.json")
    assert refused.code == 2
    assert "--force" in refused.err
    assert run("promise", "p.json", "--chart", "c.json", "--force").code == 0
    written = Path("p.json").read_bytes()
    for more in ([], ["--force"]):
        itself = run("promise", "p.json", "--chart", "p.json", *more)
        assert (itself.code, Path("p.json").read_bytes()) == (2, written)


# ---- the best release from files


def test_the_best_release_is_made_audited_and_simulated_from_files(run):
    write({"points": list(range(6)), "epsilon": 0.5})
    asked = ("optimal", "--objective", "release", "--promise", "p.json")
    found = run("design", *asked, "--json").json
    m = dn.mechanism("optimal", objective="release", promise=dn.promise(points=list(range(6)), epsilon=0.5))
    assert (found["mechanism"], found["loss"]) == ("optimal-release", m.properties()["loss"])
    assert found["gap"] < 1e-10
    assert found["certificate"]["bound"] == found["bound"]
    assert run("audit", *asked).code == 0
    study = run("simulate", *asked, "--data", "uniform", "--n", 600, "--runs", 5, "--json").json
    assert study["ratio"] == pytest.approx(1, abs=0.15)
    write("1\n2\n5\n", "v.txt")
    assert run("privatize", *asked, "v.txt", "--out", "r").code == 0
    assert len(run("release", "r", "--json").json["values"]) == 3


def test_losses_values_and_priors_come_from_files(run):
    write({"epsilon": 1, "labels": ["a", "b", "c"]})
    write("a,b,c\n0,1,2\n1,0,1\n2,1,0\n", "loss.csv")
    write("label,number\nc,4\na,0\nb,1\n", "values.csv")
    write({"a": 0.5, "b": 0.5, "c": 0.0}, "prior.json")
    write("a,0.5\nb,0.5\nc,0\n", "prior.csv")
    asked = ("design", "optimal", "--objective", "release", "--promise", "p.json", "--json")
    plain = run(*asked).json["loss"]
    assert run(*asked, "--loss", "loss.csv").json["loss"] == pytest.approx(plain, rel=1e-9)
    p = dn.promise(epsilon=1, labels=["a", "b", "c"])
    want = dn.mechanism("optimal", objective="release", promise=p, values=[0, 1, 4], loss="squared")
    own = ("--values", "values.csv", "--loss", "squared")
    assert run(*asked, *own).json["loss"] == pytest.approx(want.properties()["loss"], rel=1e-9)
    likely = dn.mechanism("optimal", objective="release", promise=p, prior=[0.5, 0.5, 0])
    for file in ("prior.json", "prior.csv"):
        assert run(*asked, "--prior", file).json["loss"] == pytest.approx(likely.properties()["loss"], rel=1e-9)
    worst = dn.mechanism("optimal", objective="release", promise=p, worst=True)
    assert run(*asked, "--worst").json["loss"] == pytest.approx(worst.properties()["loss"], rel=1e-9)


@pytest.mark.parametrize(
    ("own", "part"),
    [
        (("--loss", "cubed"), "absolute, squared, zero-one"),
        (("--loss", "no.csv"), "cannot read"),
        (("--loss", "bad.csv"), "loss"),
        (("--values", "short.txt"), "a number for each of the 3 values"),
        (("--prior", "bad.json"), "prior"),
        (("--objective", "luck"), "--objective"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_words(run, own, part):
    write({"epsilon": 1, "k": 3})
    write("0,1\n1,nan\n", "bad.csv")
    write("1\n2\n", "short.txt")
    write("[0.5, 0.6, -0.1]", "bad.json")
    objective = () if own[0] == "--objective" else ("--objective", "release")
    done = run("design", "optimal", "--promise", "p.json", *objective, *own)
    assert done.code == 2
    assert part in done.err, done.err


def test_places_have_labels(run):
    write({"places": [[52.5, 13.4], [48.9, 2.4]], "labels": ["Berlin", "Paris"], "epsilon": 0.01})
    assert "Berlin" in run("promise", "p.json", "--explain", "Paris").out


def test_a_channel_is_drawn_with_every_probability():
    from deniable.present.charts import channel_chart

    pytest.importorskip("altair")
    spec = channel_chart([[0.75, 0.25], [0.0, 1.0]], values=["ill", "well"]).to_dict()
    cells = (spec["data"] if "data" in spec else spec["hconcat"][0]["data"])["values"]
    assert [cell["text"] for cell in cells] == ["75.0", "25.0", "", "100.0"]
    assert cells[2]["told"] == "never"
    with pytest.raises(dn.ParameterError, match="probabilities"):
        channel_chart([[0.5, 0.6]])


@pytest.mark.parametrize(
    ("options", "reports"),
    [
        (("optimal", "--promise", "P"), None),
        (("optimal", "--promise", "P", "--objective", "release"), None),
        (("matrix", "--matrix", "M"), 3),
        (("grr", "--k", 3, "--epsilon", 1), 3),
    ],
    ids=lambda each: str(each),
)
def test_a_design_is_drawn_with_what_it_promises_and_sends(options, reports, run, tmp_path):
    (tmp_path / "P.json").write_text(
        '{"item_epsilon": [1, 2, "inf"], "rule": "min", "labels": ["ill", "hurt", "well"]}'
    )
    (tmp_path / "M.csv").write_text("a,b,c\n0.5,0.25,0.25\n0.25,0.5,0.25\n")
    named = [{"P": tmp_path / "P.json", "M": tmp_path / "M.csv"}.get(each, each) for each in options]
    made = run("design", *named, "--chart", tmp_path / "chart.json", "--json").json
    drawn = json.loads((tmp_path / "chart.json").read_text())
    promised, sent = drawn["vconcat"]
    cells = sent["data"]["values"]
    values = {cell["row"] for cell in cells}
    assert values == set(made["design"]["domain"].get("labels") or map(str, range(made["k"])))
    assert len({cell["column"] for cell in cells}) == (reports or made["outputs"])
    for value in values:
        assert sum(cell["number"] for cell in cells if cell["row"] == value) == pytest.approx(1, abs=1e-6)
    assert promised["title"]["text"] == [f"What is promised to {made['k']} values"]


def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(run, tmp_path):
    many = run("design", "ss", "--k", 100, "--epsilon", 1, "--chart", tmp_path / "chart.json")
    assert (many.code, "too many to enumerate" in many.err) == (2, True)
    steps = run("design", "ks-adap", "--k", 100, "--epsilon", 1, "--top", 5, "--chart", tmp_path / "chart.json")
    assert (steps.code, "chart must be left out for a protocol" in steps.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
