"""Small parts of reproductions at their ends: evidence, pages, marks, guesses, recipes and names of schemes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError, ParameterError
from deniable.papers import beside as compared
from deniable.papers.beside import beside, read_run, together
from deniable.papers.charts import bar_chart, cell_chart, marked
from deniable.papers.checks import Agreement, Equation, off
from deniable.papers.evidence import Sampled, as_evidence, as_plain
from deniable.papers.leaks import _window, bounded_noise, clipping_by_data, interval_by_sign, places, region_restriction
from deniable.papers.montecarlo import Trials, _hits
from deniable.papers.page import Drawn, _article, _beside, _counts, _entry, _values, said
from deniable.papers.paper import SEED, Context, Figure, fewest_runs, made_up, made_up_in
from deniable.papers.runner import PAPERS, Summary, _brief
from deniable.papers.schemes import find, try_scheme

# ---- evidence


def test_errors_of_numbers_that_were_drawn_add_by_their_squares() -> None:
    one, two = Sampled(2.0, 0.3), Sampled(4.0, 0.4)
    assert one - two == Sampled(-2.0, pytest.approx(0.5))
    assert two / -2 == Sampled(-2.0, 0.2)
    assert two.log_ratio(one) == Sampled(pytest.approx(math.log(2)), pytest.approx(math.hypot(0.1, 0.15)))
    assert (one.relative, one.away(2.6), one.away(1.4)) == (0.15, pytest.approx(2.0), pytest.approx(2.0))
    assert Sampled.mean([one, two, two]) == Sampled(pytest.approx(10 / 3), pytest.approx(math.sqrt(0.41) / 3))
    assert Sampled.over_runs(np.array([1.0, 2.0, 6.0])) == Sampled(3.0, pytest.approx(math.sqrt(7 / 3)))
    assert Sampled.over_runs(np.array([4.0])) == Sampled(4.0, math.inf)
    told = {"a": one, "text": "b", "n": 3, "text, standard error": "none"}
    assert as_evidence(as_plain(told)) == told
    assert off(1.5, 2.0) == off(2.5, 2.0) == 0.25


def test_runs_are_counted_by_the_fewest_and_made_up_data_named_once() -> None:
    assert fewest_runs([{"runs": 50}, {"runs": 8}, {"runs": 9}]) == {"runs": 8}
    rows = [
        {"data": made_up("B"), "n": 3},
        {"data": "C", "n": 1},
        {"data": made_up("A"), "n": None},
        {"data": made_up("B"), "n": 3},
    ]
    assert made_up_in(rows) == ("B", "A")


def test_streams_are_those_of_their_seed_paper_and_name() -> None:
    first, other = (Context(PAPERS[name]) for name in list(PAPERS)[:2])

    def word(context: Context, name: str) -> int:
        return int(context.stream(name).draw(64, 1)[0])

    assert first.seed == SEED
    assert word(first, "a") == word(first, "a") == int(first.sample("a").draw(64, 1)[0])
    told = {word(first, "a"), word(first, "b"), word(other, "a"), word(Context(PAPERS[first.paper.name], seed=2), "a")}
    assert len(told) == 4


# ---- two runs


def claim(id: str, verdict: str = "reproduced", rule: str = "r") -> dict[str, str]:
    return {"id": id, "verdict": verdict, "rule": rule}


def test_claims_of_two_runs_stand_beside_each_other() -> None:
    here = [claim("a"), claim("b"), claim("c"), claim("d")]
    there = [claim("b", "refuted"), claim("a"), claim("c", rule="s"), claim("e")]
    assert beside(here, there) == [
        {"id": "a", "verdict": "reproduced", "other": "reproduced", "together": "the same"},
        {"id": "b", "verdict": "reproduced", "other": "refuted", "together": "not decided"},
        {"id": "c", "verdict": "reproduced", "other": "reproduced", "together": "by another rule there"},
        {"id": "d", "verdict": "reproduced", "other": "", "together": "not in the other run"},
    ]
    assert together(["refuted", "corrected", "refuted"]) == "not decided (corrected or refuted by seed)"


def test_what_is_no_earlier_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    file = folder / "claims.json"
    file.write_text(json.dumps([claim("a")]))
    assert read_run(tmp_path, ["p"]) == [claim("a")]
    for text in ('{"a": 1}', '[{"id": "a"}]', json.dumps([claim("a", "perhaps")]), "[1]"):
        file.write_text(text)
        with pytest.raises(ParameterError, match="against must be a list of claims with id, verdict and rule"):
            read_run(tmp_path, ["p"])
    file.write_text("[")
    with pytest.raises(FormatError, match="is not JSON"):
        read_run(tmp_path, ["p"])
    monkeypatch.setattr(compared, "_MOST", 1)
    file.write_text("[]")
    for papers in (["p"], ["q"]):
        with pytest.raises(ParameterError, match="against must be a folder that `deniable reproduce` wrote"):
            read_run(tmp_path, papers)
    monkeypatch.setattr(compared, "_MOST", 2)
    assert read_run(tmp_path, ["p"]) == []


# ---- pages and tables


def record(verdict: str, whose: str = "the paper's", **more: Any) -> dict[str, Any]:
    usual = {"id": "p-a", "claim": "x < y", "quote": "", "where": "p Sec. 1", "paper": 1.0, "measured": 0.123456789}
    return usual | {"verdict": verdict, "whose": whose, "note": "", "rule": "r", "error_rate": 0.0} | more


def test_verdicts_are_counted_apart_by_who_says_it() -> None:
    told = _counts([record("reproduced"), record("reproduced"), record("not tested"), record("refuted", "ours")])
    assert "<p>3 claims of the paper:</p>" in told
    assert '<li class="reproduced"><span class="verdict">2 reproduced</span>' in told
    assert '<li class="not-tested"><span class="verdict">1 not tested</span>' in told
    assert "corrected" not in told.split("</ul>")[0].replace("not as printed", "")
    assert "<p>1 of our own, which the paper does not state: 1 refuted.</p>" in told
    assert _counts([]) == "<p>No claims were tested.</p>"
    assert "of our own" not in _counts([record("refuted")])
    summary: Any = SimpleNamespace(claims=[record("refuted"), record("refuted", "ours"), record("corrected")])
    assert Summary.counts(summary) == {"reproduced": 0, "corrected": 1, "refuted": 2, "not tested": 0}
    assert Summary.counts(summary, "ours") == {"reproduced": 0, "corrected": 0, "refuted": 1, "not tested": 0}
    assert _entry("f<1", "Fig. 1", [record("refuted"), record("corrected")]).endswith(
        "1 corrected, 1 refuted</span></li>"
    )


def test_a_claim_is_told_with_its_reason_and_its_error_rate() -> None:
    told = _article(record("corrected", note="a & b", error_rate=0.001, quote="<q>"))
    assert "<h3>x &lt; y</h3>" in told
    for name, part in (
        ("reason", "a &amp; b"),
        ("error rate", "at most 0.001"),
        ("measured", "0.12346"),
        ("in its words", "<q>&lt;q&gt;</q>"),
    ):
        assert f"<dt>{name}</dt><dd>{part}</dd>" in told
    plain = _article(record("reproduced", "ours"))
    assert "<dd>none: no random draws</dd>" in plain
    assert "<dt>whose</dt>" in plain
    assert "in its words" not in plain
    assert "what was measured agrees with the paper" in plain
    assert [said(x) for x in (None, 0.1234567, 3, "a", 1234567.0)] == ["-", "0.12346", "3", "a", "1.2346e+06"]
    few, many = ({f"n{i}": i for i in range(count)} for count in (3, 60))
    assert _brief(few) == "n0: 0; n1: 1; n2: 2"
    assert _brief(many) == "n0: 0; n1: 1; n2: 2; and 57 more"
    assert "<details>" not in _values(few)
    shown, _, rest = _values(many).partition("<details>")
    assert f"<summary>{rest.count('<tr>')} more</summary>" in rest
    assert shown.count("<tr>") + rest.count("<tr>") == 60


def test_a_claim_stands_beside_its_figure_or_the_first_that_its_place_names() -> None:
    one, two = (Figure(f"fig{i}", "t", f"Fig. {i}", lambda _: [], lambda _: None) for i in (1, 12))  # type: ignore[arg-type, return-value]

    def at(where: str, figure: str | None = None) -> str:
        return _beside(SimpleNamespace(where=where, figure=figure), [one, two])  # type: ignore[arg-type]

    named = [at(where) for where in ("Sec. 2, Fig. 1", "Fig. 12", "Fig. 1(a)", "Sec. 1")]
    assert named == ["fig1", "fig12", "", ""]
    assert (at("Fig. 12", "fig1"), at("Fig. 1", "fig9")) == ("fig1", "")
    assert Drawn("p", one, (Path("a.csv"),), ("m",)).document() == {
        "paper": "p", "id": "fig1", "title": "t", "where": "Fig. 1", "files": ["a.csv"], "marks": ["m"],
    }  # fmt: skip


def test_marks_stand_first_below_the_title_and_in_the_description() -> None:
    pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")
    rows = [{"x": x, "y": 1.0, "p": "a"} for x in range(13)]
    chart: Any = bar_chart(rows, x="x", y="y", panel="p", title="Title", subtitle="Below", own=3)
    told = marked(chart, ["MADE-UP DATA (A)."]).to_dict()
    assert told["title"]["subtitle"][:2] == ["MADE-UP DATA (A).", "Below"]
    assert told["description"].endswith("MADE-UP DATA (A).")
    assert marked(chart, []) is chart
    spec = chart.to_dict()
    axis = spec["spec"]["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == ["1", "3", "5", "7", "9", "11"], "of more than twelve every second one"
    assert [row["own"] for row in spec["data"]["values"]] == [x == 3 for x in range(13)]
    kinds = [{"x": 0, "y": i, "t": "t", "k": f"k{i}"} for i in range(5)]
    cell_chart(kinds, x="x", y="y", text="t", kind="k", title="T")
    with pytest.raises(ParameterError, match="kind must be at most 5 of them"):
        cell_chart([*kinds, {"x": 1, "y": 1, "t": "t", "k": "k5"}], x="x", y="y", text="t", kind="k", title="T")


# ---- simulations


def test_guesses_are_right_with_the_chance_of_the_likeliest_items() -> None:
    """Of a report that supports two items the own one is guessed half the time; of none each of all."""
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    rows = np.array([[0b0011], [0b0010], [0b0000], [0b1111]], np.uint8)
    reports: Any = SimpleNamespace(columns={"bits": rows})
    items = np.zeros(4, np.int64)
    for drawn, hits in ((0.0, 3), (0.24, 3), (0.26, 1), (0.49, 1), (0.51, 0)):
        stream: Any = SimpleNamespace(generator=lambda drawn=drawn: SimpleNamespace(random=lambda n: np.full(n, drawn)))
        assert _hits(m, reports, items, stream) == hits, drawn


def trials(hits: int, *errors: float) -> Trials:
    people: Any = SimpleNamespace(n=100, k=4, frequencies=np.full(4, 0.25), name="made")
    return Trials(dn.mechanism("grr", epsilon=1.0, k=4), people, np.array(errors), hits)


def test_what_was_simulated_is_counted_over_all_collections() -> None:
    some = trials(90, 0.01, 0.03)
    assert (some.guesses, some.seen("asr"), some.seen("mse"), some.name) == (200, 0.45, 0.02, "grr epsilon=1")
    assert some.expected("mse") == pytest.approx(some.mechanism.effective(100)["mse"])
    from scipy.stats import binomtest

    assert some.pvalue("asr", 0.5) == pytest.approx(binomtest(90, 200, 0.5).pvalue)
    assert some.pvalue("mse", some.seen("mse")) > 0.5 > 1e-3 > some.pvalue("mse", 100 * some.seen("mse"))


def test_agreement_is_rejected_by_all_trials_together() -> None:
    made = [trials(100, 0.01), trials(100, 0.01)]
    context: Any = SimpleNamespace(once=lambda make: make(None))
    found = Agreement("asr", lambda _: made, lambda t: 0.9)(context)
    exact = made[0].expected("asr")
    alone = made[0].pvalue("asr", exact)
    assert found["smallest p-value, exact values"] == pytest.approx(min(1.0, 2 * alone))
    assert found["printed values rejected"] == "grr epsilon=1"
    assert (found["collections"], found["alpha"]) == (1, 1e-3)
    assert found["grr epsilon=1, simulated/exact"] == pytest.approx(1.0 / exact)
    assert found["grr epsilon=1, simulated/printed"] == pytest.approx(1.0 / 0.9)
    assert "grr epsilon=1, simulated/printed" not in Agreement("asr", lambda _: made)(context)


def test_an_equation_is_held_against_the_closed_form_and_all_outputs() -> None:
    small = [dn.mechanism("grr", epsilon=1.0, k=3)]
    context: Any = SimpleNamespace(once=lambda make, family: [(small[0], {"asr": small[0].asr})])
    examples = (("grr", {"k": 4, "epsilon": 2.0}, {"printed": lambda m: 0.5, "own": lambda m: m.k}),)
    found = Equation("asr", lambda m: 1.1 * m.asr, lambda: small, examples)(context)
    assert found["largest relative deviation"] == pytest.approx(0.1)
    assert found["largest relative deviation of the correct form"] == 0.0
    assert (found["k=4 epsilon=2, printed"], found["k=4 epsilon=2, own"]) == (0.5, 4.0)
    assert (found["settings"], found["enumerated"]) == (1, 1)


# ---- recipes and names


def test_windows_stay_within_the_answers_at_both_ends() -> None:
    answers = list("abcde")
    for own, inside in ((0, "abc"), (1, "abc"), (2, "bcd"), (3, "cde"), (4, "cde")):
        law = _window(own, answers, 3, 1.0)
        assert sum(law.values()) == 1
        most = max(law.values())
        assert "".join(y for y, p in law.items() if p == most) == inside
        assert float(most / min(law.values())) == pytest.approx(math.e, rel=1e-9)


def test_recipes_refuse_what_they_are_not_about() -> None:
    assert len(bounded_noise(steps=5, reach=2).laws) == 6
    for steps, reach in ((4, 2), (20, 0)):
        with pytest.raises(ParameterError, match="reach must be between 0 and half of steps"):
            bounded_noise(steps=steps, reach=reach)
    for regions in ((4,), (4, 1)):
        with pytest.raises(ParameterError, match="regions must be sizes >= 2 of at least two regions"):
            region_restriction(regions=regions)
    assert len(region_restriction(regions=(2, 3)).channel().outputs) == 5
    assert sorted(interval_by_sign(points=2).laws[0]) == ["-1/2 C", "-2/2 C"]
    assert [*clipping_by_data(points=3).laws[1]] == ["-1", "0", "1"]


def test_places_wind_around_their_centres() -> None:
    assert places((6, 2), ((10, 10), (50, 50))).tolist() == [
        [10, 10], [11, 10], [11, 11], [10, 11], [9, 11], [9, 10], [50, 50], [51, 50],
    ]  # fmt: skip
    every = places((30,), ((0, 0),))
    assert len({tuple(at) for at in every.tolist()}) == 30
    assert (np.abs(np.diff(every, axis=0)).sum(axis=1) == 1).all()


def test_schemes_are_found_in_any_spelling_and_simulated_only_if_they_can_be() -> None:
    assert find(" auem CODED ").name == "AUEM-coded"
    assert find("ks_adap").call == 'dn.protocol("ks-adap", form="paper", ...)'
    with pytest.raises(ParameterError, match="got 'emoo'"):
        find("emoo")
    people: Any = None
    for given, said_ in (
        ({"name": "urr"}, "scheme must be one that is simulated only"),
        ({"name": "ppda", "shares": "equal"}, "shares must be uniform or power law"),
        ({"name": "ppda", "runs": 1}, "runs must be a whole number >= 2"),
    ):
        with pytest.raises(ParameterError, match=said_):
            try_scheme(population=people, **given)
