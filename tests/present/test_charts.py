"""Charts: what is in them, and files that are whole or absent."""

from __future__ import annotations

import json
import math
import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.present.charts import caption, estimate_chart, line_chart, save
from deniable.present.theme import DASHES, PALETTE, SHAPES
from pages.browsing import browser
from tiers import every

pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")
pytest.importorskip("vl_convert", reason="charts need the extra: pip install 'deniable[charts]'")


def estimate(labels: Any, *, truth: bool = True, **options: Any) -> dict[str, Any]:
    """The specification of a chart of falling estimates, the last of them negative."""
    value = np.linspace(0.4, -0.02, len(labels))
    options |= {"truth": value + 0.01} if truth else {}
    chart = estimate_chart(labels, value, value - 0.05, value + 0.05, **({"title": "Jobs"} | options))
    spec: dict[str, Any] = chart.to_dict()
    return spec


def names(k: int) -> list[str]:
    return [f"item {i}" for i in range(k)]


def layer(spec: dict[str, Any], role: str) -> dict[str, Any]:
    """The layer that draws this role."""
    found = [part for part in spec["layer"] if part.get("transform", [{}])[0].get("calculate") == f"'{role}'"]
    assert len(found) == 1
    return dict(found[0])


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = spec["data"]["values"]
    return rows


# Estimates


def test_estimates_stand_on_intervals_with_the_truth() -> None:
    spec = estimate(["b", "a", "c"])
    first = values(spec)[0]
    assert [row["item"] for row in values(spec)] == ["b", "a", "c"]
    shares = {name: share for name, share in first.items() if name not in ("item", "label")}
    assert shares == pytest.approx({"value": 0.4, "low": 0.35, "high": 0.45, "truth": 0.41})
    interval, truth, point = (layer(spec, role) for role in ("95 % interval", "truth", "estimate"))
    assert interval["mark"]["type"] == "rule"
    assert interval["encoding"]["x"]["field"] == "low"
    assert interval["encoding"]["x2"]["field"] == "high"
    assert truth["encoding"]["x"]["field"] == "truth"
    assert point["encoding"]["x"]["field"] == "value"
    assert point["encoding"]["y"] | {"axis": 0} == {"field": "item", "type": "nominal", "sort": None, "axis": 0}


def test_legend_names_the_three_marks_once() -> None:
    spec = estimate(names(5), level=0.9)
    for channel in ("stroke", "fill", "shape"):
        scale = layer(spec, "estimate")["encoding"][channel]["scale"]
        assert scale["domain"] == ["estimate", "90 % interval", "truth"]
        assert len(set(scale["range"])) >= 2
    without = estimate(names(5), truth=False)
    assert layer(without, "estimate")["encoding"]["shape"]["scale"]["domain"] == ["estimate", "95 % interval"]
    assert "truth" not in json.dumps(without)


def test_zero_is_a_line_and_negative_estimates_are_in_range() -> None:
    spec = estimate(names(5))
    assert spec["layer"][0]["mark"]["type"] == "rule"
    assert spec["layer"][0]["encoding"]["x"]["datum"] == 0
    low, high = layer(spec, "estimate")["encoding"]["x"]["scale"]["domain"]
    assert low < -0.07
    assert high > 0.45
    positive = estimate_chart(["a", "b"], [0.4, 0.5], [0.3, 0.4], [0.5, 0.6], title="t").to_dict()
    assert layer(positive, "estimate")["encoding"]["x"]["scale"]["domain"][0] == 0


def test_axis_is_in_per_cent() -> None:
    axis = layer(estimate(names(5)), "estimate")["encoding"]["x"]["axis"]
    assert axis["labelExpr"] == "format(100 * datum.value, '~g') + ' %'"


@pytest.mark.parametrize("k", [1, 5, 16, 42, 60, 150])
def test_a_few_names_get_rows_with_every_name_shown(k: int) -> None:
    spec = estimate(names(k))
    assert spec["height"]["step"] >= (19 if k <= 60 else 15)
    assert layer(spec, "estimate")["encoding"]["y"]["axis"]["labelOverlap"] is False


@pytest.mark.parametrize("k", every(3, [151, 400, 1000, 300, 6000]))
def test_many_names_are_thinned(k: int) -> None:
    spec = estimate(names(k))
    place = layer(spec, "estimate")["encoding"]["x"]
    shown = place["axis"]["values"]
    every = names(k).index(shown[1])
    assert shown == names(k)[::every]
    assert place["axis"]["title"] == f"answers, one in {every} named"
    assert spec["width"] / len(shown) >= 15
    assert spec["width"] <= 1100
    assert len(values(spec)) == k


def test_numbers_get_an_axis_of_numbers() -> None:
    spec = estimate([str(age) for age in range(17, 91)])
    place = layer(spec, "estimate")["encoding"]["x"]
    assert (place["field"], place["type"]) == ("at", "quantitative")
    assert place["scale"]["domain"] == [16.5, 90.5]
    assert place["axis"]["tickMinStep"] == 1
    assert [row["at"] for row in values(spec)] == list(range(17, 91))
    assert layer(spec, "truth")["encoding"]["y"]["field"] == "truth"


@pytest.mark.parametrize(
    "labels",
    [
        ["3", "2", "1"],
        ["01", "02", "03"],
        ["1", "10", "100", "1000"],
        ["1", "2", "other"],
        ["0", "1"],
        ["nan", "1", "2"],
        ["1", "2", "inf"],
    ],
)
def test_other_labels_keep_their_text_and_order(labels: list[str]) -> None:
    spec = estimate(labels)
    assert layer(spec, "estimate")["encoding"]["y"]["field"] == "item"
    assert [row["item"] for row in values(spec)] == labels


def test_long_labels_have_two_lines_and_longer_ones_lose_their_middle() -> None:
    long = "the answer that begins like many others and ends in its own way"
    longer = f"{long} after it has gone on and on for a while"
    spec = estimate(["short", long, longer, "x" * 200, "\u3042" * 35])
    assert [row["item"] for row in values(spec)] == [
        "short",
        "the answer that begins like many others\nand ends in its own way",
        "the answer that begins like many others\n…it has gone on and on for a while",
        f"{'x' * 40}\n…{'x' * 39}",
        "\u3042" * 20 + "\n" + "\u3042" * 15,
    ]
    assert [row["label"] for row in values(spec)][1:3] == [long, longer], "told in full"
    axis = layer(spec, "estimate")["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == "split(datum.label, '\\n')"
    assert axis["labelBaseline"]["condition"]["value"] == "line-bottom"
    assert spec["height"]["step"] > estimate(["short", "x"])["height"]["step"]


def test_labels_side_by_side_are_cut_in_the_middle_and_stay_different() -> None:
    long = "the answer that begins like many others and ends in its own way"
    assert values(estimate([*names(200), long]))[-1]["item"] == "the answer that begin…ends in its own way"
    same = [f"{'a' * 40}{middle}{'b' * 40}" for middle in "123"]
    assert [row["item"] for row in values(estimate(same))] == same, "cut labels must stay different"


def test_marks_shrink_with_the_room_for_one_item() -> None:
    sizes = [layer(estimate(names(k)), "estimate")["mark"]["size"] for k in (5, 151, 400)]
    widths = [layer(estimate(names(k)), "95 % interval")["mark"]["strokeWidth"] for k in (5, 151, 400)]
    assert sizes == sorted(sizes, reverse=True)
    assert widths == sorted(widths, reverse=True)
    assert min(widths) >= 0.9


def items(labels: Any, value: Any, **options: Any) -> list[Any]:
    """The items of a chart, as they stand."""
    numbers = np.asarray(value)
    spec = estimate_chart(labels, numbers, numbers - 0.1, numbers + 0.1, title="t", **options).to_dict()
    return [row["item"] for row in values(spec)]


def test_names_stand_by_their_estimates_and_numbers_in_their_order() -> None:
    """Points in rows, no line and no bar through answers that have no order."""
    names, value = ["tea", "cocoa", "coffee", "milk"], np.array([0.2, 0.1, 0.6, 0.2])
    spec = estimate_chart(names, value, value - 0.1, value + 0.2, title="t", truth=value / 2).to_dict()
    rows = [(row["item"], row["value"], row["low"], row["high"], row["truth"]) for row in values(spec)]
    assert [row[0] for row in rows] == ["coffee", "tea", "milk", "cocoa"], "equal ones keep their order"
    assert rows[0] == pytest.approx(("coffee", 0.6, 0.5, 0.8, 0.3)), "the numbers go with their item"
    assert {part["mark"]["type"] for part in spec["layer"]} == {"rule", "point"}
    assert layer(spec, "estimate")["encoding"]["y"]["sort"] is None
    assert items(["1", "2", "3", "4"], value) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "labels",
    [
        ["< 18", "18-24", "25+", "no answer"],
        ["[0, 10)", "[10, 20)", "[20, 30)", "[30, 40)"],
        ["1 star", "2 stars", "3 stars", "4 stars"],
        ["-5", "0", "not asked", "no answer"],
    ],
)
def test_labels_that_begin_with_rising_numbers_keep_their_order(labels: list[str]) -> None:
    value = [0.2, 0.1, 0.6, 0.2]
    assert items(labels, value) == labels
    assert items(labels, value, order="value") == [labels[i] for i in (2, 0, 3, 1)]


@pytest.mark.parametrize(
    "labels",
    [["9th", "10th", "11th", "12th"], ["20", "10", "30", "40"], ["a", "1", "2", "3"], ["1", "2", "1", "x"]],
)
def test_other_labels_have_no_order(labels: list[str]) -> None:
    unique = [label if labels.count(label) == 1 else f"{label} {i}" for i, label in enumerate(labels)]
    assert items(unique, [0.2, 0.1, 0.6, 0.2]) == [unique[i] for i in (2, 0, 3, 1)]
    assert items(unique, [0.2, 0.1, 0.6, 0.2], order="given") == unique


def test_top_shows_the_largest_and_says_so() -> None:
    value = np.array([0.1, 0.4, 0.2, 0.3])
    spec = estimate_chart("abcd", value, value - 0.1, value + 0.1, title="t", subtitle="olh", top=2).to_dict()
    assert [row["item"] for row in values(spec)] == ["b", "d"]
    assert spec["title"]["subtitle"] == ["olh · the 2 largest estimates of 4 items"]
    whole = estimate_chart("abcd", value, value - 0.1, value + 0.1, title="t", top=9).to_dict()
    assert "subtitle" not in whole["title"]


def test_title_and_subtitle_wrap_and_describe_the_chart() -> None:
    spec = estimate(names(5), title="Jobs " * 30, subtitle=caption("olh", epsilon=1, n=48842, simulated=True))
    assert len(spec["title"]["text"]) > 1
    assert spec["title"]["subtitle"] == ["olh · ε = 1 · n = 48,842 · simulated"]
    assert "simulated" in spec["description"]
    assert spec["config"]["background"] == "white"


def test_caption_marks_only_what_is_simulated() -> None:
    assert caption("grr", epsilon=0.5, n=1000) == "grr · ε = 0.5 · n = 1,000"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"order": "alphabet"}, "order must be one of value, given, or None, got 'alphabet'"),
        ({"labels": []}, "labels must be at least one label"),
        ({"labels": ["a", "a", "b"]}, r"labels must be unique, got \['a'\]"),
        ({"value": [0.1, 0.2]}, r"value must be one number for each of the 3 labels, got an array of shape \(2,\)"),
        ({"high": [0.5, math.nan, 0.5]}, r"high must be finite numbers, got \[nan\]"),
        ({"low": [0.0, 0.9, 0.0]}, "low must be at most `high`.*'b'.*Swap low and high"),
        ({"truth": [math.inf, 0, 0]}, r"truth must be finite numbers, got \[inf\]"),
        ({"level": 95}, "level must be a number between 0 and 1, such as 0.95, got 95"),
        ({"top": 0}, "top must be an integer >= 1, or None for all items, got 0"),
        ({"top": 2.5}, "top must be an integer >= 1, or None for all items, got 2.5"),
    ],
)
def test_estimate_errors(change: dict[str, Any], text: str) -> None:
    good: dict[str, Any] = {
        "labels": ["a", "b", "c"],
        "value": [0.1, 0.2, 0.3],
        "low": [0, 0, 0],
        "high": [0.5, 0.5, 0.5],
    }
    with pytest.raises(ValueError, match=text):
        estimate_chart(**(good | {"title": "t"} | change))


# Lines


def experiment(series: int = 3, *, panels: int = 1) -> list[dict[str, object]]:
    return [
        {"eps.ilon": e, "mse": (i + 1) * 10.0 ** -(e + p), "name": f"m{i}", "k": f"k{9 - p}"}
        for p in range(panels)
        for i in range(series)
        for e in (1, 2, 4)
    ]


def lines(rows: Any, **options: Any) -> dict[str, Any]:
    chart = line_chart(rows, **({"x": "eps.ilon", "y": "mse", "series": "name", "title": "t"} | options))
    spec: dict[str, Any] = chart.to_dict()
    return spec


def test_lines_with_points_in_the_order_of_the_rows() -> None:
    spec = lines(experiment(), x_title="ε")
    line, points = spec["layer"]
    assert (line["mark"]["type"], points["mark"]["type"]) == ("line", "point")
    assert values(spec)[0] == {"x": 1, "y": 0.1, "series": "m0", "pattern": 0}
    assert line["encoding"]["stroke"]["scale"]["domain"] == ["m0", "m1", "m2"]
    assert line["encoding"]["x"]["title"] == "ε"
    assert line["encoding"]["y"]["title"] == "mse"
    assert line["encoding"]["x"]["axis"]["values"] == [1, 2, 4]


def test_fourteen_series_can_be_told_apart() -> None:
    spec = lines(experiment(14))
    points = spec["layer"][1]["encoding"]
    looks = list(zip(*(points[name]["scale"]["range"] for name in ("stroke", "fill", "shape")), strict=True))
    assert len(set(looks)) == 14
    assert len({(shape, fill == "white") for _, fill, shape in looks}) == 14
    assert {row["pattern"] for row in values(spec)} == set(range(len(DASHES)))
    assert len(PALETTE) == len(SHAPES) == 7


def test_logarithmic_axes_have_ticks_at_powers_of_ten() -> None:
    line = lines(experiment(), log_y=True, log_x=True)["layer"][0]["encoding"]
    assert line["y"]["scale"]["type"] == line["x"]["scale"]["type"] == "log"
    assert line["y"]["axis"]["values"] == [1e-4, 1e-3, 1e-2, 1e-1]
    assert line["y"]["axis"]["format"] == "~e"
    assert line["x"]["axis"]["values"] == [1, 1.5, 2, 3, 4], "less than a decade has more ticks"
    assert line["x"]["axis"]["format"] == "~s"
    low, high = line["y"]["scale"]["domain"]
    assert low < 1e-4 < 0.3 < high


def test_facets_stand_side_by_side_in_the_order_of_the_rows() -> None:
    spec = lines(experiment(panels=2), facet="k")
    assert spec["facet"]["sort"] == ["k9", "k8"]
    assert spec["columns"] == 3
    assert "resolve" not in spec
    assert lines(experiment(panels=5), facet="k")["resolve"] == {"axis": {"x": "independent"}}


def test_bars_reach_one_error_up_and_down() -> None:
    """Where the error is no number there is none; with logarithms one that reaches zero ends at the least value."""
    rows = [{"x": i, "y": y, "e": e, "s": "a"} for i, (y, e) in enumerate([(2.0, 0.5), (3.0, None), (1.0, 4.0)])]
    linear, log = (line_chart(rows, x="x", y="y", series="s", error="e", log_y=how, title="t") for how in (False, True))
    ends = [(row.get("low"), row.get("high")) for row in values(linear.to_dict())]
    assert ends == [(1.5, 2.5), (None, None), (-3.0, 5.0)]
    assert [(row.get("low"), row.get("high")) for row in values(log.to_dict())] == [
        (1.5, 2.5),
        (None, None),
        (1.0, 5.0),
    ]
    bars, *_ = log.to_dict()["layer"]
    assert bars["mark"]["type"] == "rule"
    assert (bars["encoding"]["y"]["field"], bars["encoding"]["y2"]["field"]) == ("low", "high")
    assert bars["encoding"]["y"]["scale"]["domain"][1] > 5.0
    assert "error" not in values(linear.to_dict())[0]
    without = line_chart([row | {"e": None} for row in rows], x="x", y="y", series="s", error="e", title="t").to_dict()
    assert len(without["layer"]) == 2


def test_rings_stand_beside_the_line_of_their_series_and_not_on_it() -> None:
    rows = [{"x": x, "y": y, "s": "one", "r": r} for x, y, r in ((1, 2, False), (2, 3, False), (2, 4, True))]
    rings, line, points = line_chart(rows, x="x", y="y", series="s", ring="r", title="t").to_dict()["layer"]
    assert (rings["mark"]["shape"], rings["mark"]["filled"]) == ("circle", False)
    assert rings["encoding"]["stroke"] == line["encoding"]["stroke"]
    assert [part["transform"][0]["filter"] for part in (rings, line, points)] == ["datum.ring", *["!datum.ring"] * 2]
    plain = line_chart([row | {"r": False} for row in rows], x="x", y="y", series="s", ring="r", title="t")
    assert len(plain.to_dict()["layer"]) == 2


def test_a_reference_is_a_line_across_within_the_axis() -> None:
    rows = [{"x": x, "y": y, "s": "a"} for x, y in ((1, 2.0), (2, 3.0))]
    rule, line, _ = line_chart(rows, x="x", y="y", series="s", title="t", log_y=True, reference=1.0).to_dict()["layer"]
    assert (rule["mark"]["type"], rule["encoding"]["y"]["datum"]) == ("rule", 1.0)
    assert rule["encoding"]["y"]["axis"]["grid"] is True
    assert line["encoding"]["y"]["scale"]["domain"][0] < 1.0
    assert line["encoding"]["y"]["axis"]["values"] == [1, 1.5, 2, 3]
    assert len(line_chart(rows, x="x", y="y", series="s", title="t").to_dict()["layer"]) == 2


def test_no_line_joins_what_has_no_order() -> None:
    """Points and their bars stand side by side, series by series; text with rising numbers is an order."""

    def drawn(*xs: str) -> list[dict[str, Any]]:
        rows = [{"x": x, "y": 1.0 + i, "e": 0.1, "s": f"s{i}"} for x in xs for i in (1, 0)]
        layers: list[dict[str, Any]] = lines(rows, x="x", y="y", series="s", error="e")["layer"]
        return layers

    apart = drawn("pear", "apple")
    assert [part["mark"]["type"] for part in apart] == ["rule", "point"]
    for part in apart:
        assert part["encoding"]["xOffset"]["field"] == "series"
        assert part["encoding"]["xOffset"]["scale"]["domain"] == ["s1", "s0"]
    joined = drawn("0.5", "1", "2")
    assert [part["mark"]["type"] for part in joined] == ["rule", "line", "point"]
    assert not any("xOffset" in part["encoding"] for part in joined)


def test_gaps_text_and_numpy_values() -> None:
    rows = [{"rule": r, "y": y, "s": np.int64(1)} for r, y in (("b", None), ("a", math.nan), ("c", np.float64(2)))]
    spec = line_chart(rows, x="rule", y="y", series="s", title="t").to_dict()
    assert [row["y"] for row in values(spec)] == [None, None, 2.0]
    x = spec["layer"][0]["encoding"]["x"]
    assert (x["type"], x["sort"]) == ("nominal", None)
    assert values(spec)[0]["series"] == "1"


@pytest.mark.parametrize(
    ("rows", "options", "text"),
    [
        ([], {}, "rows must be at least one row"),
        ([{"mse": 1, "name": "a"}], {}, r"rows must be mappings with \['eps.ilon', 'mse', 'name'\].*row 0 without"),
        (experiment(15), {}, "series must be at most 14 series, got 15 series. Split"),
        ([{"eps.ilon": 1, "mse": 0.0, "name": "a"}], {"log_y": True}, r"y must be .*positive.*log_y, got \[0.0\]"),
        ([{"eps.ilon": "a", "mse": 1, "name": "a"}], {"log_x": True}, "log_x must be False"),
        ([{"eps.ilon": 1, "mse": None, "name": "a"}], {}, "y must be the name of a column with numbers"),
    ],
)
def test_line_errors(rows: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        lines(rows, **options)


# Files


def chart(*labels: str) -> Any:
    value = np.linspace(0.1, 0.3, len(labels))
    return estimate_chart(labels, value, value - 0.1, value + 0.1, title="Jobs", subtitle="olh")


def test_png_is_twice_the_size_of_the_chart(tmp_path: Path) -> None:
    path = save(chart("clerk", "nurse"), tmp_path / "jobs.png")
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 2 * 560
    assert height > 2 * 52


def test_svg_has_text(tmp_path: Path) -> None:
    text = save(chart("clerk", "nurse"), str(tmp_path / "jobs.SVG")).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert all(f">{word}<" in text for word in ("Jobs", "olh", "clerk", "nurse", "estimate", "95 % interval"))


def test_json_is_the_specification(tmp_path: Path) -> None:
    made = chart("clerk", "nurse")
    assert json.loads(save(made, tmp_path / "jobs.json").read_text(encoding="utf-8")) == made.to_dict()


def test_html_loads_nothing(tmp_path: Path) -> None:
    text = save(chart("clerk", "nurse"), tmp_path / "jobs.html").read_text(encoding="utf-8")
    assert "window.vegaEmbed" in text
    assert '"nurse"' in text
    assert not re.search(r"<(script|link|iframe)[^>]*\s(src|href)\s*=", text)
    assert "Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'" in text
    assert '"editor": false' in text


def test_pdf_is_one(tmp_path: Path) -> None:
    assert save(chart("a", "b"), tmp_path / "jobs.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.slow
def test_html_fits_a_narrow_screen_and_a_dark_one(tmp_path: Path) -> None:
    path = save(chart("a", "b"), tmp_path / "jobs.html")
    with browser() as made:
        for scheme, ground, turned in (("light", "rgb(255, 255, 255)", False), ("dark", "rgb(20, 20, 20)", True)):
            context = made.new_context(viewport={"width": 360, "height": 640}, color_scheme=scheme)
            page = context.new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("#chart svg")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360
            page.wait_for_function("document.querySelector('#chart svg').style.minWidth")
            whole, shown = page.evaluate(
                "(s => [Number(s.getAttribute('width')), s.getBoundingClientRect().width])"
                "(document.querySelector('#chart svg'))"
            )
            assert whole > 400  # more than the screen is wide
            assert shown == pytest.approx(0.8 * whole, abs=1)  # letters stay as large as can be read
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
            assert ("invert" in page.evaluate("getComputedStyle(document.getElementById('chart')).filter")) == turned


def test_html_is_safe_from_the_labels(tmp_path: Path) -> None:
    text = save(chart("</script><script>alert(1)</script>", "<b>"), tmp_path / "jobs.html").read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script") == 2
    assert "alert(1)" in text
    assert "<b>" not in text.split("<main", 1)[1]


@pytest.mark.parametrize("name", ["jobs.gif", "jobs", "png"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ValueError, match=r"path must be a name that ends in one of .html, .png, .svg, .pdf, .json, got"
    ):
        save(chart("a", "b"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must be in a folder that exists.*Create .*away"):
        save(chart("a", "b"), tmp_path / "away" / "jobs.png")


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(chart("a", "b"), tmp_path / "jobs.json")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    for place, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail)
            with pytest.raises(OSError, match="disk full"):
                save(chart("c", "d"), path)
            with pytest.raises(OSError, match="disk full"):
                save(chart("c", "d"), tmp_path / "new.json")
    assert [file.name for file in tmp_path.iterdir()] == ["jobs.json"]
    assert path.read_bytes() == before


def test_a_chart_that_cannot_be_drawn_leaves_no_file(tmp_path: Path) -> None:
    class Broken:
        def to_dict(self) -> dict[str, Any]:
            raise RuntimeError("no chart")

    broken: Any = Broken()
    with pytest.raises(RuntimeError, match="no chart"):
        save(broken, tmp_path / "jobs.png")
    assert list(tmp_path.iterdir()) == []


def test_a_second_save_replaces_the_first(tmp_path: Path) -> None:
    save(chart("a", "b"), tmp_path / "jobs.json")
    save(chart("c", "d"), tmp_path / "jobs.json")
    assert '"c"' in (tmp_path / "jobs.json").read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 1
