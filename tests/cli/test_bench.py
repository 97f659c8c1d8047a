"""`compare`, `verify` and `audit FILE`: designs side by side, and files that one is handed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from tasks import GRR, asked, document


def test_designs_side_by_side(run: Any, tmp_path: Path) -> None:
    m = dn.mechanism("ss", epsilon=2.0, k=6)
    (tmp_path / "d.json").write_text(json.dumps(m.design))
    (tmp_path / "w.csv").write_text("3,1\n1,3\n")
    done = run("compare", "grr", "ss:size=2", "d.json", "w.csv", "--epsilon", 1, "--k", 6, "--n", 1000, "--json")
    rows = {row["design"]: row for row in done.json["designs"]}
    assert list(rows) == ["grr", "ss:size=2", "d.json", "w.csv"]
    assert rows["grr"]["mse"] == dn.mechanism("grr", epsilon=1.0, k=6).mse(1000)
    assert rows["grr"]["error"] == pytest.approx(rows["grr"]["mse"] ** 0.5)
    assert rows["d.json"]["epsilon"] == 2.0
    assert rows["d.json"]["best_guess"] == m.asr
    assert rows["w.csv"]["k"] == 2
    for row in rows.values():
        assert row["forged"] > 0
        assert row["bytes"] == 1
        assert row["gap"] is not None
    own = run("compare", "grr:epsilon=2", "grr", "--epsilon", 1, "--k", 6, "--json").json["designs"]
    assert [row["epsilon"] for row in own] == [2.0, 1.0], "what a design has of its own counts"
    text = run("compare", "grr", "brr:points=4", "--epsilon", 1, "--k", 4).out
    assert "best guess" in text
    assert "brr:points=4        1" in text


def test_what_cannot_be_compared_is_told(run: Any) -> None:
    for words, told in (
        (("grr",), "--epsilon must be given for grr"),
        (("grr", "--epsilon", 1), "--k must be given for grr"),
        (("ks-adap", "--epsilon", 1, "--k", 4), "is a protocol"),
        (("none.json",), "cannot be read"),
        (("grrr", "--epsilon", 1, "--k", 4), "must be one of"),
    ):
        done = run("compare", *words)
        assert done.code == 2
        assert told in done.err, words


def test_the_chart_of_a_comparison(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    assert run("compare", "grr", "ss", "--epsilon", 1, "--k", 6, "--chart", "c.json").code == 0
    spec = (tmp_path / "c.json").read_text()
    assert "best guess from a report is right" in spec
    done = run("compare", "grr", "brr:points=4", "--epsilon", 1, "--k", 6, "--chart", "d.json")
    assert done.code == 2
    assert "of one kind" in done.err


def test_files_are_audited(run: Any, tmp_path: Path) -> None:
    m = dn.mechanism("ss", epsilon=1.0, k=6)
    (tmp_path / "design.json").write_text(json.dumps(m.design))
    (tmp_path / "task.json").write_text(json.dumps(asked()))
    (tmp_path / "bad.json").write_text(json.dumps({**m.design, "epsilon": 0.5}))
    own = run("audit", "ss", "--epsilon", 1, "--k", 6, "--json").json
    done = run("audit", "design.json", "--json")
    assert done.code == 0
    assert done.json == {**own, "file": "design.json"}
    assert run("audit", "task.json", "--json").json["mechanism"] == "grr"
    assert run("audit", "task.json", "--promise", "0.5").code == 1
    assert (bad := run("audit", "bad.json")).code == 1
    assert "does NOT hold" in bad.out
    assert run("audit", "none.json").code == 2
    assert run("audit", "design.json", "--epsilon", 1).code == 2


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
def test_one_question_that_breaks_the_promise_is_enough(run: Any, tmp_path: Path, order: int) -> None:
    designs = {"weak": GRR, "strong": dn.mechanism("grr", epsilon=0.5, labels=["no", "yes"]).design}
    questions = [{"name": name, "text": f"{name}?", "design": design, "share": 1} for name, design in designs.items()]
    (tmp_path / "task.json").write_text(json.dumps(document(questions=questions[::order])))
    done = run("audit", "task.json", "--promise", "0.8", "--json")
    assert (done.code, done.json["holds"]) == (1, False)
    assert {one["question"]: one["holds"] for one in done.json["audits"]} == {"weak": False, "strong": True}
    assert run("audit", "task.json", "--promise", "1", "--json").json["holds"] is True


def test_files_are_verified(run: Any, tmp_path: Path) -> None:
    one, two = document(), document(min_batch=20)
    (tmp_path / "one.json").write_text(json.dumps(one))
    (tmp_path / "two.json").write_text(json.dumps(two))
    (tmp_path / "bad.json").write_text(json.dumps({**one, "min_batch": 3}))
    assert run("verify", "one.json", "--json").json["id"] == one["id"]
    done = run("verify", "one.json", "--diff", "two.json")
    assert done.code == 1
    assert "min_batch     10 became 20" in done.out
    assert [run("verify", name).code for name in ("one.json", "bad.json", "none.json")] == [0, 1, 2]
    assert run("verify", "-", stdin=json.dumps(one)).code == 0
