"""Saving and loading, and what objects look like in a shell and in a notebook."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError, MergeError, MissingExtraError, ParameterError

EVIL = "<script>alert(1)</script>"
M = dn.mechanism("ss", epsilon=2.0, labels=["never", "often", EVIL])
REPORTS = M.privatize(["never", "often", "never"] * 100)
TALLY = M.tally(REPORTS)
ESTIMATE = M.estimate(TALLY)
SIMULATED = M.privatize(["never"] * 30, rng=dn.simulation(1))


@pytest.mark.parametrize("what", [REPORTS, SIMULATED, REPORTS[:0], TALLY, M], ids=lambda x: type(x).__name__)
def test_what_is_saved_is_loaded_again(what: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "x", str(tmp_path / "y")):
        assert dn.save(what, path) == Path(path)
        assert dn.load(path) == what
    if what is not M:
        assert dn.load(dn.dump(what)) == what


def test_saving_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(ParameterError, match=r"path must be the name of a new file.*force=True"):
        dn.save(TALLY, tmp_path / "x")
    assert (tmp_path / "x").read_text() == "mine"
    dn.save(TALLY, tmp_path / "x", force=True)
    assert dn.load(tmp_path / "x") == TALLY
    with pytest.raises(ParameterError, match="path must be in a folder that exists"):
        dn.save(TALLY, tmp_path / "no" / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_saved_reports_have_one_id_however_often_they_are_saved(tmp_path: Path) -> None:
    """So that copies are not counted twice; other reports have another one, parts one of their own."""
    for what in (REPORTS, SIMULATED):
        dn.save(what, tmp_path / "a", force=True)
        dn.save(what, tmp_path / "b", force=True)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    copies = []
    for name in ("c", "d"):
        dn.save(REPORTS, tmp_path / name)
        copies.append(dn.load(tmp_path / name))
        dn.save(copies[-1], tmp_path / f"{name}, again")
        copies.append(dn.load(tmp_path / f"{name}, again"))
    assert {copy.sources for copy in copies} == {copies[0].sources}
    with pytest.raises(MergeError, match="counted twice"):
        M.tally(copies[0]) + M.tally(copies[2])
    for other in (M.privatize(["never"] * 3), REPORTS[:2]):
        dn.save(other, tmp_path / "e", force=True)
        assert dn.load(tmp_path / "e").sources not in {copies[0].sources, ()}


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ("nowhere.bin", ParameterError, r"cannot read 'nowhere\.bin': No such file"),
        (Path("nowhere.bin"), ParameterError, r"cannot read 'nowhere\.bin'"),
        (b"x", FormatError, "the file ends inside the magic"),
        (None, ParameterError, "path must be the path of a file, or bytes"),
        (3, ParameterError, "path must be the path of a file, or bytes"),
    ],
)
def test_what_cannot_be_loaded_is_told(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        dn.load(given)


@pytest.mark.parametrize("text", ["{", '{"mechanism": "ss"}', "label,value\n", "DNRP"])
def test_files_of_other_kinds_are_refused_by_name(text: str, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text(text)
    with pytest.raises(FormatError, match=r"odd: "):
        dn.load(tmp_path / "odd")


def test_what_is_not_saved_is_told_where_it_goes(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"only reports, tallies and mechanisms.*got Estimate.*to_pandas"):
        dn.save(ESTIMATE, tmp_path / "x")  # type: ignore[arg-type]


# ---- like lists and numbers


def test_reports_are_picked_like_items_of_a_list() -> None:
    assert [REPORTS[i].row(0) for i in (0, -1)] == [REPORTS.row(0), REPORTS.row(299)]
    assert [one.row(0) for one in REPORTS[:5]] == [REPORTS.row(i) for i in range(5)]
    assert REPORTS[np.array([3, 1])] == REPORTS[3] + REPORTS[1]
    for index in (300, -301):
        with pytest.raises(IndexError, match="there are 300 reports"):
            _ = REPORTS[index]


def test_sums_start_at_zero() -> None:
    parts = [REPORTS[:100], REPORTS[100:]]
    assert sum(parts) == REPORTS
    assert sum(M.tally(part) for part in parts) == TALLY
    with pytest.raises(TypeError):
        sum(parts, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _ = TALLY + 1  # type: ignore[operator]


def test_things_are_equal_by_content() -> None:
    assert REPORTS[:] == REPORTS
    assert REPORTS[:10] != REPORTS[10:20] or REPORTS.row(0) == REPORTS.row(10)
    assert M.estimate(REPORTS) == ESTIMATE
    assert ESTIMATE.project() != ESTIMATE
    assert M.estimate(M.tally(REPORTS[:299])) != ESTIMATE
    assert M.fit(REPORTS, stderr=None) == M.fit(REPORTS, stderr=None) != M.fit(REPORTS)
    assert dn.plan(k=4, n=100, epsilon=1.0) == dn.plan(k=4, n=100, epsilon=1.0)
    assert dn.audit(M) == dn.audit(M)
    assert REPORTS != 3
    assert ESTIMATE != "x"
    for what in (REPORTS, TALLY, ESTIMATE):
        with pytest.raises(TypeError, match="unhashable"):
            hash(what)


# ---- what they look like

PLAN = dn.plan(k=4, n=1000, epsilon=1.0)
SHOWN: dict[str, tuple[Any, str]] = {
    "mechanism": (M, r"<ss \(epsilon = 2, k = 3, size = 1\): never, often, <script>"),
    "reports": (REPORTS, r"<300 reports of ss \(.*\), 1 byte each>"),
    "one report": (REPORTS[0], r"<1 report of ss"),
    "simulated": (SIMULATED, r"<30 reports of ss .* SIMULATED>"),
    "tally": (TALLY, r"<Tally of 300 reports, ss \(.*\): support \[\d+ \d+ \d+\]>"),
    "estimate": (ESTIMATE, r"<Estimate from 300 reports of ss, epsilon = 2: never [\d.]+ % ± [\d.]+, often "),
    "fit without errors": (M.fit(REPORTS, stderr=None), r": never [\d.]+ %, often [\d.]+ %, "),
    "audit": (dn.audit(M), r"<Audit of ss: the promise 2\.0 is kept, exact epsilon [\d.]+>"),
    "plan": (PLAN, r"<Plan: \w+ has the least error"),
    "means": (dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0), "<Plan: "),
    "pairs": (dn.plan(question="key-value", k=4, n=100, epsilon=1.0), "<Plan: "),
    "near": (dn.plan(question="release", points=5, epsilon=1.0), "<Plan: "),
    "numbers": (dn.mechanism("sw", epsilon=1.0, interval=(0, 1)), r"<sw \(epsilon = 1, k = 512"),
    "many labels": (dn.mechanism("grr", epsilon=1.0, labels=[f"x{i}" for i in range(999)]), "x5, ...>"),
}


class Page(HTMLParser):
    """Whether tags are closed in order, which there are, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


PLANS = (
    dn.plan(k=20, n=10_000, epsilon=1.0, max_bytes=1),
    dn.plan(k=20, n=10_000, epsilon=1.0, max_bytes=1, target_error=1e-6),
    dn.plan(question="mean", interval=(0, 1), n=100, epsilon=1.0, max_bytes=1),
)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_in_a_notebook_has_no_heading_without_its_table(plan: Any) -> None:
    text = Page(plan._repr_html_()).text
    assert plan.message in text
    assert any(isinstance(part, str) and part.startswith("Left out") for part in plan.parts())
    assert "Left out" not in text
    assert all(d.title in text for d in plan.designs)


@pytest.mark.parametrize("name", SHOWN)
def test_a_line_shows_the_numbers(name: str) -> None:
    what, said = SHOWN[name]
    assert re.search(said, repr(what)), repr(what)
    assert len(repr(what)) < 330
    assert "\n" not in repr(what)


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_show_a_small_table_of_escaped_text(name: str) -> None:
    html = SHOWN[name][0]._repr_html_()
    page = Page(html)
    assert page.open == []
    assert {"table", "td"} <= page.tags <= {"div", "p", "b", "table", "thead", "tr", "th", "td"}
    assert len(html) < 25_000
    assert ("SIMULATED" in html) == (name == "simulated")
    if name in ("mechanism", "tally", "estimate"):
        assert EVIL in page.text


@pytest.mark.parametrize("name", ["tally", "estimate", "audit", "plan"])
def test_bars_are_as_long_as_the_numbers(name: str) -> None:
    widths = [float(x) for x in re.findall(r"left:0\.00%;width:([\d.]+)%", SHOWN[name][0]._repr_html_())]
    assert widths
    assert all(0 <= width <= 100 for width in widths)
    if name == "tally":
        counts = TALLY.cells["support"][0]
        assert np.allclose(widths, 100 * counts / counts.max(), atol=0.01)


def test_long_tables_are_cut_and_say_so() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=50)
    tally = m.tally(m.privatize(list(range(50))))
    assert "and 38 more" in tally._repr_html_()
    assert "and 38 more" in m.estimate(tally)._repr_html_()


def test_estimates_become_frames_and_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ESTIMATE.to_columns(0.9)
    assert ESTIMATE.to_polars(0.9).to_dict(as_series=False) == columns
    pandas = pytest.importorskip("pandas", reason="pandas is in the extra test")
    assert ESTIMATE.to_pandas(0.9).to_dict(orient="list") == columns
    assert isinstance(ESTIMATE.to_pandas(), pandas.DataFrame)
    spec = ESTIMATE.chart(0.9, truth=[0.5, 0.5, 0.0], title="Habits").to_dict()
    assert spec["title"]["text"] in ("Habits", ["Habits"])
    assert "90 % interval" in str(spec)
    with pytest.raises(ValueError, match="order must be one of value, given, or None, got 'name'"):
        ESTIMATE.chart(order="name")
    means = dn.mechanism("duchi", epsilon=1.0, interval=(0, 1))
    drawn = means.estimate(means.privatize([0.5] * 10_000, rng=dn.simulation(1))).chart().to_dict()
    assert drawn["title"]["text"] == ["Estimated mean"]
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 1.0]


def test_frames_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"this needs pandas.*pip install pandas; or take to_columns\(\)"):
        ESTIMATE.to_pandas()


def test_tallies_with_sensitive_answers_name_what_they_count() -> None:
    m = dn.mechanism("uss", epsilon=1.0, labels=["a", "b", "c", "d"], sensitive=["a", "c"])
    tally = m.tally(m.privatize(["a", "b", "c", "d"] * 100))
    told, held = tally.cells["disclosed"][1], tally.cells["support"][0]
    assert told.min() > 0 < held.min()
    text = Page(tally._repr_html_()).text.split()[-12:]
    expected = f"disclosed b {told[0]} d {told[1]} support, protected a {held[0]} c {held[1]}"
    assert " ".join(text).endswith(expected)


# ---- the smaller things

OTHER = M.estimate(M.privatize(["often"] * 200))
FOUND: dict[str, tuple[Callable[[], Any], str]] = {
    "comparison": (lambda: ESTIMATE.compare(OTHER), r"<Comparison of 300 and 200 reports: never [+-][\d.]+ ± "),
    "interval": (lambda: ESTIMATE.interval(0.9), r"<Interval, level 0\.9, of the reporters: [\d.]+ to [\d.]+, "),
    "attack": (lambda: dn.attack(M, reports=50, seed=1), r"<Attack on ss: .* of 50 simulated ones were>"),
    "channel": (M.channel, "<Channel of 3 values to 3 outputs: "),
    "protection": (lambda: M.protection, "<Protection, LDP: Protects every answer: no report is more than e"),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_is_short_and_equal_by_content(name: str) -> None:
    make, said = FOUND[name]
    assert re.match(said, repr(make())), repr(make())
    assert len(repr(make())) < 330
    assert make() == make() == pickle.loads(pickle.dumps(make()))
    assert make() != "x"


def test_what_is_found_differs_where_its_numbers_do() -> None:
    assert ESTIMATE.compare(OTHER) != OTHER.compare(ESTIMATE)
    assert ESTIMATE.interval(0.9) != ESTIMATE.interval(0.95)
    assert dn.attack(M, reports=50, seed=1) != dn.attack(M, reports=50, seed=1, prior=[0.5, 0.25, 0.25])


def test_a_comparison_becomes_a_frame() -> None:
    found = ESTIMATE.compare(OTHER)
    columns = ["label", "value", "stderr", "low", "high", "pvalue", "pvalue_adjusted", "simulated"]
    assert list(found.to_pandas().columns) == found.to_polars().columns == columns
    assert found.to_polars()["pvalue_adjusted"].to_list() == found.pvalue_adjusted.tolist()
    assert found.to_pandas(level=0.5)["low"].tolist() == found.interval(0.5).low.tolist()


@pytest.mark.parametrize("name", ["comparison", "attack"])
def test_notebooks_show_what_is_found(name: str) -> None:
    page = Page(FOUND[name][0]()._repr_html_())
    assert page.open == []
    assert {"table", "td"} <= page.tags
    assert "<script>" not in FOUND[name][0]()._repr_html_()


def test_mechanisms_of_numbers_tell_their_interval() -> None:
    tall, short = (dn.mechanism("hm", epsilon=1.0, interval=ends) for ends in ((0, 250), (0, 2)))
    assert repr(tall).endswith(": numbers from 0 to 250>")
    assert repr(tall) != repr(short)
    assert "numbers from 0 to 250" in tall._repr_html_()
    rated = dn.mechanism("kv-ss2", epsilon=1.0, labels=["a", "b"], range=(1, 5))
    assert repr(rated).endswith(": a, b; values from 1 to 5>")
    assert repr(dn.MECHANISMS).startswith("<54 names: grr, ss, ")
    assert "ks-grr" in repr(dn.PROTOCOLS)
