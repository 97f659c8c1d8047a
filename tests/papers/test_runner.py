"""The runner's mechanics, with a tiny paper made up for it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import DeniableError, MissingExtraError, ParameterError
from deniable.papers import runner
from deniable.papers.beside import APART, SAME, together
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.paper import Claim, Context, Figure, LeftOut, Paper, Rows
from deniable.papers.rules import Condition, Rule, Verdict
from deniable.papers.runner import reproduce
from deniable.papers.unfinished import journal_of
from deniable.present.charts import line_chart

COLUMNS = {"id", "claim", "whose", "quote", "where", "paper", "measured", "verdict", "note", "figure", "rule"}
COLUMNS |= {"error_rate"}


def compute(context: Context) -> Rows:
    noise = context.stream("noise").draw(64, 3).tolist()
    return [{"x": x, "y": 0.1 * x, "noise": word, "who": "us"} for x, word in enumerate(noise)]


def draw(rows: Rows) -> Any:
    return line_chart(rows, x="x", y="y", series="who", title="A line")


def figure(name: str) -> Figure:
    return Figure(name, f"the {name}", f"Fig. {name[3:]}", compute, draw)


RULE = Rule((Condition("x", ">", 0),), (Condition("rows", "==", 3),), "read from it")


def says(**measured: float) -> Callable[[Context], Evidence]:
    return lambda context: measured


def reads_figure(context: Context) -> Evidence:
    return {"x": 0, "rows": len(context.rows("fig1")), "quick": int(context.quick)}


CLAIMS = (
    Claim("a", "it holds", "Eq. 1", 0.5, replace(RULE, note="why"), says(x=0.123456789, rows=0)),
    Claim("b", "it does not", "Eq. 2", "x < y", RULE, says(x=-1, rows=0)),
    Claim("c", "nearly", "Fig. 1", {"one": 1, "two": 2}, RULE, reads_figure, "fig1"),
    Claim("d", "later", "Fig. 2", "?", RULE, lambda context: Missing("it needs data that nobody has")),
)
LEFT_OUT = (LeftOut("it is fast", "Sec. 9", "fast is not defined"),)


def toy(name: str = "toy", claims: tuple[Claim, ...] = CLAIMS) -> Paper:
    return Paper(name, "Toy25", "A toy", (figure("fig1"), figure("fig2")), claims, LEFT_OUT)


@pytest.fixture(autouse=True)
def papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy(), "other": toy("other")})


@pytest.fixture
def no_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chart files hold their description only: rendering takes most of the time and is tested once."""

    def describe(chart: Any, path: Path) -> Path:
        path.write_text(chart.to_json())
        return path

    monkeypatch.setattr(runner, "save", describe)


def claims_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "claims.json").read_text("utf-8"))
    return found


# What is written


def test_a_paper_gets_its_files(tmp_path: Path) -> None:
    reproduce("toy", out=tmp_path / "new" / "out")
    folder = tmp_path / "new" / "out" / "toy"
    charts = {f"fig{i}.{suffix}" for i in (1, 2) for suffix in ("csv", "html", "png")}
    assert {path.name for path in folder.iterdir()} == charts | {"claims.json", "provenance.json", "report.html"}
    assert (folder / "fig1.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "new" / "out" / "other").exists()


@pytest.mark.usefixtures("no_rendering")
def test_claims_have_the_columns_of_the_contract(tmp_path: Path) -> None:
    reproduce("toy", out=tmp_path)
    claims = claims_of(tmp_path / "toy")
    assert all(set(claim) == COLUMNS for claim in claims)
    assert [claim["verdict"] for claim in claims] == ["reproduced", "refuted", "corrected", "not tested"]
    assert [claim["id"] for claim in claims] == ["toy-a", "toy-b", "toy-c", "toy-d"]
    assert claims[0] | {"claim": ""} == {
        "id": "toy-a",
        "claim": "",
        "whose": "the paper's",
        "quote": "",
        "where": "Toy25 Eq. 1",
        "paper": 0.5,
        "measured": {"x": 0.123456789, "rows": 0},
        "verdict": "reproduced",
        "note": "why",
        "figure": None,
        "rule": "reproduced if 'x' is above 0; else corrected if 'rows' is 3",
        "error_rate": 0.0,
    }
    assert claims[1]["note"] == "'x' is -1; not even what is given instead holds: 'rows' is 0"
    assert claims[2]["measured"] == {"x": 0, "rows": 3, "quick": 0}
    assert (claims[2]["figure"], claims[2]["note"]) == ("fig1", "read from it")
    assert (claims[3]["measured"], claims[3]["note"]) == (None, "it needs data that nobody has")


@pytest.mark.usefixtures("no_rendering")
def test_csv_has_all_rows_in_full_precision(tmp_path: Path) -> None:
    reproduce("toy", out=tmp_path)
    with (tmp_path / "toy" / "fig1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [["x", "y", "noise", "who"]] * 3
    assert [float(row["y"]) for row in rows] == [0.1 * x for x in range(3)]


@pytest.mark.usefixtures("no_rendering")
def test_provenance_says_how_to_make_it_again(tmp_path: Path) -> None:
    reproduce("toy", out=tmp_path, quick=True, seed=5, figure="fig2")
    found = json.loads((tmp_path / "toy" / "provenance.json").read_text())
    assert {key: found[key] for key in ("paper", "key", "quick", "seed", "figure")} == {
        "paper": "toy",
        "key": "Toy25",
        "quick": True,
        "seed": 5,
        "figure": "fig2",
    }
    assert found["files"] == ["fig2.csv", "fig2.html", "fig2.png", "claims.json", "report.html"]
    assert found["marks"] == {"fig2": ["Simulated with seed 5: no real reports."]}
    assert set(found["versions"]) == {"deniable", "numpy", "scipy", "python"}


@pytest.mark.usefixtures("no_rendering")
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        reproduce("toy", out=tmp_path / name, seed=seed)
    one, two, three = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "toy").iterdir()}
        for name in ("one", "two", "three")
    )
    assert one == two
    assert one["fig1.csv"] != three["fig1.csv"]


def test_streams_have_names() -> None:
    one, two = Context(toy()), Context(toy("other"))
    words = [c.stream(name).draw(64, 4).tolist() for c, name in ((one, "a"), (one, "b"), (two, "a"), (one, "a"))]
    assert words[0] == words[3]
    assert words[0] != words[1]
    assert words[0] != words[2]


# A run that was ended goes on


class EndedError(Exception):
    """Something ends the process."""


@pytest.mark.usefixtures("no_rendering")
def test_a_run_that_was_ended_goes_on_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def counted(name: str) -> Figure:
        def rows(context: Context) -> Rows:
            computed.append(name)
            return compute(context)

        return replace(figure(name), compute=rows)

    def ends(context: Context) -> Evidence:
        if "c" not in computed:
            computed.append("c")
            raise EndedError
        return {"x": 0.1 + 0.2, "rows": len(context.rows("fig1")), "what": "a text"}

    claims = (CLAIMS[0], CLAIMS[3], replace(CLAIMS[2], measure=ends), CLAIMS[1])
    paper = Paper("toy", "Toy25", "A toy", (counted("fig1"), counted("fig2")), claims, LEFT_OUT)
    monkeypatch.setattr(runner, "PAPERS", {"toy": paper})
    with pytest.raises(EndedError):
        reproduce("toy", out=tmp_path / "ended", seed=3)
    assert computed == ["fig1", "fig2", "c"]
    with journal_of(tmp_path / "ended" / "toy").open("ab") as file:
        file.write(b'{"claim":"b","meas')  # as if the machine had gone off while it wrote
    told: list[str] = []
    reproduce("toy", out=tmp_path / "ended", seed=3, progress=told.append)
    assert computed == ["fig1", "fig2", "c"]  # nothing was computed again
    assert told[0] == "toy: going on; 2 of 2 figures and 2 claims are there from before"
    reproduce("toy", out=tmp_path / "whole", seed=3)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "toy").iterdir()} for name in ("ended", "whole")
    )
    assert one == two
    assert not journal_of(tmp_path / "ended" / "toy").exists()


@pytest.mark.usefixtures("no_rendering")
def test_only_the_same_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(context: Context) -> Evidence:
        raise EndedError

    monkeypatch.setattr(runner, "PAPERS", {"toy": toy("toy", (replace(CLAIMS[0], measure=ends),))})
    with pytest.raises(EndedError):
        reproduce("toy", out=tmp_path, seed=3)
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy()})
    with pytest.raises(ParameterError, match="of another reproduction: it has seed 3, not 4"):
        reproduce("toy", out=tmp_path, seed=4)
    with pytest.raises(ParameterError, match="it has quick False, not True"):
        reproduce("toy", out=tmp_path, seed=3, quick=True)
    path = journal_of(tmp_path / "toy")
    path.write_bytes(path.read_bytes() + b'{"figure":"fig7","rows":[],"streams":[]}\n')
    with pytest.raises(DeniableError, match=r"figure must be one of fig1, fig2"):
        reproduce("toy", out=tmp_path, seed=3)
    assert reproduce("toy", out=tmp_path, seed=4, fresh=True).counts()["reproduced"] == 1
    assert not path.exists()


# What is chosen


@pytest.mark.usefixtures("no_rendering")
def test_a_figure_alone_brings_only_its_claims(tmp_path: Path) -> None:
    summary = reproduce("toy", out=tmp_path, figure="fig1")
    assert [claim["id"] for claim in claims_of(tmp_path / "toy")] == ["toy-c"]
    assert [drawn.figure.id for drawn in summary.figures] == ["fig1"]
    assert not (tmp_path / "toy" / "fig2.csv").exists()


@pytest.mark.usefixtures("no_rendering")
def test_a_figure_may_be_given_by_its_number(tmp_path: Path) -> None:
    assert [drawn.figure.id for drawn in reproduce("toy", out=tmp_path, figure="2").figures] == ["fig2"]


@pytest.mark.usefixtures("no_rendering")
def test_all_runs_every_paper(tmp_path: Path) -> None:
    summary = reproduce("all", out=tmp_path, quick=True)
    assert [claim["id"] for claim in summary.claims] == [f"{p}-{i}" for p in ("toy", "other") for i in "abcd"]
    assert list(summary.claims) == claims_of(tmp_path / "toy") + claims_of(tmp_path / "other")
    assert summary.counts() == {"reproduced": 2, "corrected": 2, "refuted": 2, "not tested": 2}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"paper": "toys"}, "paper must be one of toy, other or all, got 'toys'"),
        ({"paper": "toy", "figure": "fig3"}, "figure must be one of fig1, fig2 for toy, got 'fig3'"),
        ({"paper": "all", "figure": "fig1"}, "figure must be left out when all papers are run"),
        ({"paper": "toy", "data_dir": Path("no such folder")}, "data_dir must be a folder that exists"),
    ],
)
@pytest.mark.usefixtures("no_rendering")
def test_bad_choices_say_what_is_allowed(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        reproduce(**given, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_rendering")
def test_out_must_not_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ParameterError, match="out must be a folder"):
        reproduce("toy", out=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


# What happens when something is missing or fails


def test_without_charts_there_is_a_csv_and_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: object) -> None:
        raise MissingExtraError("this needs altair.", "Install it with: pip install 'deniable[charts]'")

    monkeypatch.setattr(runner, "save", missing)
    heard: list[str] = []
    summary = reproduce("toy", out=tmp_path, progress=heard.append)
    names = {path.name for path in (tmp_path / "toy").iterdir()}
    assert names == {"fig1.csv", "fig2.csv", "claims.json", "provenance.json", "report.html"}
    assert "There is no picture, only the table." in (tmp_path / "toy" / "report.html").read_text("utf-8")
    assert len(summary.notes) == 2
    assert "fig1 was written as CSV only" in summary.notes[0]
    assert "deniable[charts]" in summary.notes[0]
    assert summary.notes[0] in heard
    assert summary.document()["notes"] == list(summary.notes)


@pytest.mark.usefixtures("no_rendering")
def test_a_check_that_fails_leaves_the_old_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce("toy", out=tmp_path)
    before = (tmp_path / "toy" / "claims.json").read_bytes()

    def broken(context: Context) -> Evidence:
        raise ZeroDivisionError("a bug")

    claims = (CLAIMS[0], Claim("e", "broken", "Eq. 3", 1, RULE, broken))
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy(claims=claims)})
    with pytest.raises(ZeroDivisionError, match="a bug"):
        reproduce("toy", out=tmp_path)
    assert (tmp_path / "toy" / "claims.json").read_bytes() == before
    assert not [path for path in (tmp_path / "toy").iterdir() if path.name.endswith(".part")]


@pytest.mark.usefixtures("no_rendering")
def test_rows_with_other_columns_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Figure("fig1", "odd", "Fig. 1", lambda context: [{"x": 1}, {"x": 1, "y": 2}], draw)
    monkeypatch.setattr(runner, "PAPERS", {"odd": Paper("odd", "Odd25", "Odd", (odd,), ())})
    with pytest.raises(ParameterError, match="other columns in row"):
        reproduce("odd", out=tmp_path)
    assert not (tmp_path / "odd" / "fig1.csv").exists()


# What is returned


@pytest.mark.usefixtures("no_rendering")
def test_the_summary_is_plain_data(tmp_path: Path) -> None:
    summary = reproduce("toy", out=tmp_path, quick=True)
    document = json.loads(json.dumps(summary.document(), allow_nan=False))
    assert document["paper"] == "toy"
    assert document["quick"] is True
    assert document["claims"] == claims_of(tmp_path / "toy")
    assert document["counts"] == {"reproduced": 1, "corrected": 1, "refuted": 1, "not tested": 1}
    lost = {"paper": "toy", "statement": "it is fast", "where": "Sec. 9", "reason": "fast is not defined"}
    assert document["left_out"] == [lost]
    assert all(Path(file).is_file() for drawn in document["figures"] for file in drawn["files"])
    assert [(drawn["paper"], drawn["id"], drawn["where"]) for drawn in document["figures"]] == [
        ("toy", "fig1", "Fig. 1"),
        ("toy", "fig2", "Fig. 2"),
    ]
    assert 0 < document["seconds"] < 60


@pytest.mark.usefixtures("no_rendering")
def test_the_table_has_short_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = Claim("m", "many", "Eq. 4", "?", RULE, lambda context: {"x": 1.0, **{str(i): i / 3 for i in range(4)}})
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy(claims=(*CLAIMS, many))})
    table = reproduce("toy", out=tmp_path).table()
    assert [list(row) for row in table] == [["id", "claim", "where", "paper", "measured", "verdict"]] * 5
    assert [row["measured"] for row in table] == [
        "x: 0.12346; rows: 0",
        "x: -1; rows: 0",
        "x: 0; rows: 3; quick: 0",
        "-",
        "x: 1; 0: 0; 1: 0.33333; and 2 more",
    ]
    assert table[2]["paper"] == "one: 1; two: 2"


@pytest.mark.usefixtures("no_rendering")
def test_progress_names_paper_and_figures(tmp_path: Path) -> None:
    heard: list[str] = []
    reproduce("toy", out=tmp_path, progress=heard.append)
    assert heard == [
        "toy: fig1 (1 of 2), the fig1",
        "toy: fig2 (2 of 2), the fig2",
        *(f"toy: claim {i} of 4, {id}" for i, id in enumerate("abcd", start=1)),
    ]


# What a paper may say


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("proved", 1.0, "why"), "verdict must be one of reproduced, corrected, refuted, not tested"),
        (("refuted", 1.0, ""), "note must be given, because the verdict is refuted"),
        (("corrected", 1.0, ""), "note must be given"),
        (("not tested", None, ""), "note must be given"),
        (("reproduced", None, ""), "measured must be given if it was tested"),
        (("reproduced", float("nan"), ""), "measured must be text, finite numbers"),
        (("reproduced", {"a": float("inf")}, ""), "measured must be text, finite numbers"),
        (("reproduced", object(), ""), "measured must be text, finite numbers"),
    ],
)
def test_a_verdict_is_checked(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Verdict(*given)


def test_a_good_result_needs_no_note() -> None:
    assert Verdict("reproduced", {"a": 1}).note == ""


@pytest.mark.parametrize(
    ("figures", "claims", "message"),
    [
        ((figure("fig1"), figure("fig1")), (), "figures must be different"),
        ((figure("fig1"),), (CLAIMS[0], CLAIMS[0]), "claims must be different"),
        ((), (CLAIMS[2],), "figure must be one of none"),
    ],
)
def test_the_tables_of_a_paper_are_checked(
    figures: tuple[Figure, ...], claims: tuple[Claim, ...], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        Paper("bad", "Bad25", "Bad", figures, claims)


def test_once_computes_once() -> None:
    context, calls = Context(toy()), []

    def slow(given: Context, *more: int) -> int:
        calls.append((given, *more))
        return 7 + sum(more)

    assert [context.once(slow), context.once(slow), context.once(slow, 1), context.once(slow, 1)] == [7, 7, 8, 8]
    assert calls == [(context,), (context, 1)]
    assert context.rows("fig1") is context.rows("1")


# ---- two runs beside each other


def test_verdicts_of_two_runs_stand_beside_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where nothing differs; not decided where one run says otherwise; not compared by another rule."""
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy()})
    one = reproduce("toy", out=tmp_path / "1")
    same = reproduce("toy", out=tmp_path / "2", seed=2, against=tmp_path / "1")
    assert one.against == ()
    assert [row["together"] for row in same.against] == [SAME] * 4
    other = (
        Claim("a", "it holds", "Eq. 1", 0.5, replace(RULE, note="why"), says(x=-1, rows=0)),
        Claim("b", "it does not", "Eq. 2", "x < y", Rule((Condition("x", ">", 1),)), says(x=-1, rows=0)),
        Claim("e", "more", "Eq. 3", "?", RULE, says(x=1, rows=0)),
    )
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy(claims=other)})
    found = reproduce("toy", out=tmp_path / "3", against=tmp_path / "1")
    assert [(row["verdict"], row["other"], row["together"]) for row in found.against] == [
        ("refuted", "reproduced", APART),
        ("refuted", "refuted", "by another rule there"),
        ("reproduced", "", "not in the other run"),
    ]
    assert found.document()["against"] == list(found.against)
    assert together(found.against[0][key] for key in ("verdict", "other")).startswith(APART)
    with (tmp_path / "3" / "verdicts.csv").open(newline="") as lines:
        assert list(csv.DictReader(lines)) == [dict(row) for row in found.against]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "against must be a folder that `deniable reproduce` wrote: with toy/claims.json"),
        ("[", "is not JSON"),
        ("{}", "a list of claims with id, verdict and rule"),
        ('[{"id": "a", "verdict": "maybe", "rule": ""}]', "a list of claims with id, verdict and rule"),
    ],
)
def test_another_run_is_read_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, message: str
) -> None:
    monkeypatch.setattr(runner, "PAPERS", {"toy": toy()})
    if text is not None:
        (tmp_path / "toy").mkdir()
        (tmp_path / "toy" / "claims.json").write_text(text)
    with pytest.raises(DeniableError, match=message):
        reproduce("toy", out=tmp_path / "out", against=tmp_path)
    assert not (tmp_path / "out").exists()
