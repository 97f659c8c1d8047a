"""The parts that tables, pages and charts are made of, each at the places where it changes."""

from __future__ import annotations

import io
import json
import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.present.clean import clean, clean_all
from deniable.present.cumulative import _as_numbers, cumulative_chart
from deniable.present.estimates import (
    _between,
    _in_two_lines,
    _items,
    _layout,
    _rising_numbers,
    _shortened,
    _wrapped,
    estimate_chart,
)
from deniable.present.export import _page, rendered
from deniable.present.heat import _budget_look, _chance_look, _names, _sides
from deniable.present.html import Bar, bars_html, counts_html, facts_html, parts_html, scaled
from deniable.present.lines import _bars, _decades, _linear, _log_domain, _ticks, line_chart
from deniable.present.maps import _apart, _size
from deniable.present.renderer import drawn, request
from deniable.present.scatter import _room, _scale, _share, scatter_chart
from deniable.present.studies import direction_table, frequency_table, keyvalue_table, mean_table, release_table
from deniable.present.tables import (
    Column,
    Table,
    number,
    parameters,
    percent,
    printable,
    properties_table,
    quantiles_table,
    shares_table,
    width_of,
)
from deniable.present.theme import PALETTE, in_order


def test_what_xml_has_no_place_for_is_marked_and_all_else_stays() -> None:
    kept = "\t\n\r ~\xa0ÿ\ud7ff\ue000\ufdcf\ufdf0\ufffd😀"
    assert clean(kept) == kept
    bad = [*range(9), 11, 12, *range(14, 32), *range(127, 160), 0xD800, 0xDFFF, 0xFDD0, 0xFDEF]
    bad += [plane * 0x10000 + end for plane in range(17) for end in (0xFFFE, 0xFFFF)]
    assert clean("".join(map(chr, bad))) == "\ufffd" * len(bad)
    given = {"a\x00": ["b\x01", ("c\x02", 3, None)], "d": {"e": "\x7f"}}
    assert clean_all(given) == {"a\ufffd": ["b\ufffd", ["c\ufffd", 3, None]], "d": {"e": "\ufffd"}}


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("ａ", 2), ("a日\u0301", 3), ("ü", 1)],
)
def test_signs_take_as_many_columns_as_a_terminal_gives_them(text: str, width: int) -> None:
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0"), (-0.0, "0"), (5.0, "5"), (12345, "12,345"), (-12345.0, "-12,345"), (10**15, "1e+15"),
        (10**15 - 1, "999,999,999,999,999"),
        (0.5, "0.5"), (1234.56789, "1234.57"), (math.inf, "inf"), (math.nan, "nan"), (1e-7, "1e-07"),
    ],
)  # fmt: skip
def test_numbers_are_whole_or_have_some_digits(x: float, text: str) -> None:
    assert number(x) == text


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.12345, 2, "12.35 %"), (0.12344, 2, "12.34 %"), (0.5, 0, "50 %"), (1.0, 2, "100.00 %"), (-0.02, 1, "-2.0 %"),
        (-1e-9, 2, "0.00 %"), (0.0004, 1, "0.0 %"), (1.2, 3, "120.000 %"),
    ],
)  # fmt: skip
def test_shares_are_told_in_per_cent(share: float, decimals: int, text: str) -> None:
    assert percent(share, decimals) == text
    assert percent(share) == percent(share, 2)


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["1", "2"], True), (["2", "1"], False), (["1", "1"], False), (["1", "1", "2"], True), (["1"], False),
        (["< 18", "18-24", "25+"], True), (["18-24", "25+", "no answer"], True), (["1", "2", "a", "b"], True),
        (["1", "2", "a", "b", "c"], False), (["1", "a", "2"], False), (["a", "1", "2"], False), (["7th", "8th"], False),
        (["-5", "0", "5"], True), (["1.5", "1.25"], False), (["[0, 10)", "[10, 20)"], True), (["a", "b"], False),
        (["≥ 3", "≤ 4"], True), (["1", "x"], False), (["1", "x", "y"], False), (["1", "2", "x"], True),
    ],
)  # fmt: skip
def test_labels_that_begin_with_rising_numbers_have_an_order(labels: list[str], ordered: bool) -> None:
    assert in_order(labels) == ordered


def test_parameters_are_told_without_what_is_left_out() -> None:
    assert parameters({"a": None, "certificate": 1, "multipliers": [1]}) == ""
    assert parameters({"size": 3, "on": True, "p": 1 / 3}) == "size = 3, on = yes, p = 0.333333"
    assert parameters({"sensitive": [0, 1]}) == "sensitive = answer 0"
    assert parameters({"sensitive": [0, 2]}) == "sensitive = answers 0 to 1"
    assert parameters({"sensitive": []}) == "sensitive = none"
    assert parameters({"sensitive": [1, 2, 4, 5]}) == "sensitive = answers 1 and 4"
    many = [x for i in range(7) for x in (2 * i, 2 * i + 1)]
    assert parameters({"sensitive": many[:12]}).endswith("answers 0 and 2 and 4 and 6 and 8 and 10")
    assert parameters({"sensitive": many}).endswith("answers 0 and 2 and 4 and 6 and 8 and 10 and others")
    assert parameters({"levels": [1, 2, 3, 4, 5, 6]}) == "levels = [1, 2, 3, 4, 5, 6]"
    assert parameters({"levels": [1, 2, 3, 4, 5, 6, 7]}) == "levels = [1, 2, 3, 4, 5, 6, ...]"
    assert parameters({"base": {"mechanism": "ss", "params": {"size": 2}}}) == "base = ss (size = 2)"
    assert parameters({"base": {"mechanism": "grr", "params": {}}}) == "base = grr"


ESTIMATE: dict[str, Any] = {
    "value": [0.1234, -0.05],
    "stderr": [0.0102, 0.034],
    "low": [0.1, -0.1],
    "high": [0.15, 0.0],
}


def test_estimates_stand_in_per_cent_with_two_digits_of_the_least_standard_error() -> None:
    table = shares_table(ESTIMATE, ["a", "b"], level=0.9)
    assert [c.title for c in table.columns] == ["label", "estimate", "std. error", "90 % interval"]
    assert [list(row) for row in table.rows] == [
        ["a", "12.3 %", "1.0", "10.0 to 15.0 %"],
        ["b", "-5.0 %", "3.4", "-10.0 to 0.0 %"],
    ]
    for stderr, cell in ((0.1, "10.0"), (0.01, "1.0"), (0.00999, "1.00"), (0.001, "0.10"), (0.0001, "0.010")):
        (row,) = shares_table({**{n: [0.5] for n in ESTIMATE}, "stderr": [stderr]}, ["a"], level=0.95).rows
        assert row[2] == cell
    for odd in (0.0, math.inf):
        (row,) = shares_table({**{n: [0.5] for n in ESTIMATE}, "stderr": [odd]}, ["a"], level=0.95).rows
        assert row[1] == "50.0 %"
    (tiny,) = shares_table({**{n: [0.5] for n in ESTIMATE}, "stderr": [1e-12]}, ["a"], level=0.95).rows
    assert tiny[1] == "50.00000000 %"


def test_means_stand_as_they_are_and_truth_before_the_estimate() -> None:
    table = shares_table(ESTIMATE | {"truth": [0.1, 0.0]}, ["a", "b"], level=0.95, numbers=True)
    assert [c.title for c in table.columns] == ["label", "truth", "estimate", "std. error", "95 % interval"]
    assert list(table.rows[0]) == ["a", "0.100", "0.123", "0.010", "0.100 to 0.150"]
    means = {"mean": [0.5, 9.0], "mean_low": [0.4, 8.0], "mean_high": [0.6, 10.0], "too_rare": [False, True]}
    keyed = shares_table(ESTIMATE | means | {"truth_mean": [0.55, 9.5]}, ["a", "b"], level=0.95)
    assert [c.title for c in keyed.columns][-3:] == ["true mean", "mean", "its interval"]
    assert [list(row)[-3:] for row in keyed.rows] == [
        ["0.55", "0.5", "0.4 to 0.6"],
        ["9.5", "", "too rare to say"],
    ]


def test_quantiles_have_a_set_of_answers() -> None:
    columns = {"share": [0.25, 0.5], "value": ["a", "b"], "low": ["a", "a"], "high": ["a", "c"]}
    table = quantiles_table(columns, level=0.9)
    assert [c.title for c in table.columns] == ["at or below", "answer", "90 % set"]
    assert [list(row) for row in table.rows] == [["25 %", "a", "a"], ["50 %", "b", "a to c"]]


def test_properties_have_the_root_of_the_error_after_it() -> None:
    table = properties_table({"mechanism": "grr", "mse": 0.0004, "bound": 0.0001, "gap": 3.0, "k": 4, "n": 2000})
    rows = {row[0]: list(row[1:]) for row in table.rows}
    names = [row[0] for row in table.rows]
    assert names[names.index("mse") + 1] == "std. error"
    assert rows["std. error"] == ["2 points", "sqrt(mse): the usual error of an estimated share, n = 2,000"]
    assert rows["gap"] == ["300.000 %", "how far the mse is above that bound"]
    assert properties_table({"asr": 0.5, "k": 4}).rows[-1][2].endswith("(blind guess: 1/k = 0.25)")
    several = properties_table({"mse": [0.0004, 0.01], "k": 4, "n": 1})
    assert next(row for row in several.rows if row[0] == "std. error")[1] == "2, 10 points"
    mean = properties_table({"variance_mean": 0.1, "bound": 0.05, "gap": 120.0, "k": 4})
    told = {row[0]: row for row in mean.rows}
    assert list(told["gap"][1:]) == ["1.2e+04 %", "how far the variance_mean is above that bound"]
    assert not any(row[0] == "std. error" for row in mean.rows)
    hidden = properties_table({"k": 4, "design": {}, "effective": {}, "note": "x", "kept": True, "other": 5})
    assert [row[0] for row in hidden.rows] == ["k", "other"]


WIDE = Table(
    (Column("label", wrap=True), Column("share", right=True)), [["a long name of an answer", "5 %"], ["b", "10 %"]]
)


def test_tables_are_as_wide_as_their_cells_or_as_there_is_room() -> None:
    plain = WIDE.render()
    assert plain.splitlines() == [
        "label                     share",
        "a long name of an answer    5 %",
        "b                          10 %",
    ]
    for width in range(27, 60):
        lines = WIDE.render(width=width).splitlines()
        assert max(map(len, lines)) <= min(width, 31)
        text = " ".join(" ".join(lines).split())
        assert all(word in text for word in ("long", "name", "answer", "5", "10"))
    for width in (20, 12):
        lines = WIDE.render(width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert "  share: 5 %" in lines
    assert Table(WIDE.columns, WIDE.rows, title="T\x1b").render().startswith("T\\x1b\n\nlabel")
    bold = WIDE.render(width=80, styled=True)
    assert "\x1b[1m" in bold
    assert "\x1b" not in WIDE.render(width=80)
    assert printable("a\x1b[1m\u202eb\n日") == "a\\x1b[1m\\u202eb\\n日"


def _facts(table: Table) -> dict[str, list[str]]:
    return {row[0]: list(row[1:]) for row in table.rows}


STUDY: dict[str, Any] = {
    "mechanism": "grr", "epsilon": 1.5, "params": {"size": 3}, "data": "zipf", "n": 1200, "runs": 4, "seed": 9,
    "k": 1000,
    "mse": 0.0004, "mse_predicted": 0.0005, "ratio": 0.8, "ratio_stderr": 0.05, "max_abs_error": 0.031, "level": 0.9,
    "coverage": 0.91, "coverage_stderr": 0.02, "mse_projected": 0.0002, "interval": [0.0, 24.0], "truth": 3.25,
    "resultant": 0.5, "bias": 0.01, "bias_stderr": 0.02, "loss": 2.0, "loss_predicted": 1.9, "loss_remapped": 1.5,
    "unit": "km", "loss_remapped_predicted": 1.4, "pairs": 2400, "top": 7, "coverage_mean": 0.5, "ncr": 0.75,
    "coverage_mean_stderr": 0.0, "mse_frequency_top": 0.001, "mse_mean_top": None,
}  # fmt: skip


def test_a_study_of_shares_tells_errors_in_points_and_coverage_in_per_cent() -> None:
    found = _facts(frequency_table(STUDY))
    assert found["mechanism"] == ["grr", "epsilon = 1.5, k = 1,000, size = 3"]
    assert found["population"] == ["zipf", "1,200 people, 4 runs, seed 9"]
    assert found["measured mse"] == ["0.0004", "usual error 2 points"]
    assert found["predicted mse"][0] == "0.0005"
    assert found["ratio"] == ["0.800 ± 0.050", "measured / predicted ± its standard error over the runs"]
    assert found["largest error"][0] == "3.1 points"
    assert found["coverage"] == ["91.00 % ± 2.00", "of the 90 % intervals ± its standard error"]
    assert found["mse, projected"][0] == "0.0002"
    alone = STUDY | {"mse_predicted": None, "coverage_stderr": None, "params": {}}
    found = _facts(frequency_table(alone))
    assert found["mechanism"][1] == "epsilon = 1.5, k = 1,000"
    assert not {"predicted mse", "ratio"} & set(found)
    assert found["coverage"] == ["91.00 %", "of the 90 % intervals"]
    same = _facts(frequency_table(STUDY | {"coverage_stderr": 0.0}))
    assert same["coverage"] == ["91.00 %", "of the 90 % intervals, the same in all 4 runs"]
    once = _facts(frequency_table(STUDY | {"ratio_stderr": None}))
    assert once["ratio"][0] == "0.800"


def test_studies_of_numbers_directions_losses_and_keys_tell_theirs() -> None:
    mean = _facts(mean_table(STUDY))
    assert mean["mechanism"][1] == "epsilon = 1.5, 1,000 points from 0 to 24, size = 3"
    assert (mean["true mean"][0], mean["mean error"][0]) == ("3.25", "0.01 ± 0.02")
    assert mean["measured mse"] == ["0.0004", "usual error 0.02"]
    assert mean["ratio"][0] == "0.8 ± 0.05"
    around = _facts(direction_table(STUDY))
    assert around["resultant"][0] == "0.5"
    assert around["mechanism"][1] == "epsilon = 1.5, 1,000 directions from 0 to 24, which is 0 again, size = 3"
    near = _facts(release_table(STUDY | {"params": {"size": 3, "table": [1, 2]}}))
    assert near["mechanism"][1] == "epsilon = 1.5, 1,000 answers, size = 3"
    assert [near[f"{what} loss"][0] for what in ("measured", "predicted", "remapped")] == ["2 km", "1.9 km", "1.5 km"]
    assert near["ratio"][0] == "0.8000 ± 0.0500"
    assert _facts(release_table(STUDY | {"unit": ""}))["measured loss"][0] == "2"
    keys = _facts(keyvalue_table(STUDY))
    assert keys["people"] == ["1,200", "2,400 pairs of zipf, 4 runs, seed 9"]
    assert keys["mse of frequencies"] == ["0.0004", "usual error 2 points"]
    assert keys["coverage, mean"] == [
        "50.00 %", "of the 90 % intervals of means, keys that somebody has, the same in all 4 runs"
    ]  # fmt: skip
    assert keys["coverage"][1] == "of the 90 % intervals of frequencies ± its standard error"
    assert keys["ncr"][0] == "0.75"
    assert keys["mse frequency top"] == ["0.001", "of frequencies, over the 7 most frequent keys"]
    assert "mse mean top" not in keys


def test_pages_escape_whatever_is_told_and_count_what_they_leave_out() -> None:
    evil = "<b>&'\"\x00"
    safe = "&lt;b&gt;&amp;&#x27;&quot;\ufffd"
    pages = [
        facts_html(evil, {evil: evil}),
        counts_html(evil, [(evil, [1, 2], [evil, "b"])]),
        bars_html(evil, (evil, evil), [(evil, evil)], notes=[evil]),
        parts_html(evil, [evil, Table((Column(evil), Column("x")), [[evil, evil]])]),
    ]
    for page, times in zip(pages, (3, 3, 6, 5), strict=True):
        assert evil not in page
        assert page.count(safe) == times
    for size in (11, 12, 13, 1200):
        rows = [(f"n{i}", "x") for i in range(size)]
        page = bars_html("T", ("a", "b"), rows)
        assert page.count("<tr>") == min(size, 12) + 1 + (size > 12)
        assert (f"and {size - 12:,} more" in page) == (size > 12)
        counted = counts_html("T", [("c", list(range(size)), [])])
        assert (f"and {size - 12:,} more" in counted) == (size > 12)
        assert ">11<" in counted or size < 12
    assert "SIMULATED: not private" in bars_html("T", ("a",), [("b",)], simulated=True)
    assert "SIMULATED" not in bars_html("T", ("a",), [("b",)])


def test_bars_are_as_long_as_their_numbers_beside_the_largest() -> None:
    page = counts_html("T", [("c", [5, -20, 10, 0], ["a", "b", "c", "d"])])
    assert re.findall(r"left:0\.00%;width:([0-9.]+)%", page) == ["25.00", "100.00", "50.00", "0.00"]
    assert re.findall(r">(-?[0-9]+)<", page) == ["5", "-20", "10", "0"]
    empty = counts_html("T", [("c", [0, 0], ["a", "b"])])
    assert re.findall(r"left:0\.00%;width:([0-9.]+)%", empty) == ["0.00", "0.00"]
    value, low, high = (np.array(x) for x in ([0.2, -0.1, np.nan], [0.1, -0.2, np.nan], [0.4, 0.1, np.nan]))
    assert scaled(value, low, high) == [Bar(0.5, 0.25, 1.0), Bar(0.0, 0.0, 0.25), Bar(0.0, 0.0, 0.0)]
    drawn_bar = facts_html("T", {"a": 1, "b": 2}, bar=Bar(0.5, 0.25, 1.0))
    assert "left:25.00%;width:75.00%" in drawn_bar
    assert drawn_bar.count("<div style='position:relative") == 1


def test_a_label_cannot_end_the_script_of_a_page() -> None:
    page = _page({"description": "<a>", "data": {"values": [{"label": "</script><script>x"}]}}, "SCRIPTS")
    assert "<title>&lt;a&gt;</title>" in page
    assert page.count("</script>") == 2
    assert "\\u003c/script>\\u003cscript>x" in page
    assert "default-src 'none'" in page
    assert json.loads(rendered({"a": "b\x00", "ü": 1}, ".json")) == {"a": "b\ufffd", "ü": 1}
    pytest.importorskip("vl_convert")
    with pytest.raises(dn.ParameterError, match=r"chart must be a chart of Vega-Lite that says its version"):
        rendered({"mark": "bar"}, ".svg")


def test_pictures_of_the_drawing_process_are_whole_or_none() -> None:
    assert request(b"{}", "png") == b"p\0\0\0\2{}"
    assert request(b"x" * 258, "svg")[:5] == b"s\0\0\1\2"
    assert drawn(io.BytesIO(b"p\0\0\0\3abcd")) == b"abc"
    assert drawn(io.BytesIO(b"p\0\0\0\0")) == b""
    for cut in (b"", b"p\0\0\0", b"p\0\0\0\3ab"):
        assert drawn(io.BytesIO(cut)) is None


# ---- places in charts


def test_names_are_cut_in_the_middle_unless_two_would_look_the_same() -> None:
    for size in (41, 42, 60):
        name = "".join(chr(97 + i % 26) for i in range(size))
        (short,) = _shortened([name])
        assert short == (name if size <= 41 else f"{name[:21]}…{name[-19:]}")
        assert len(short) <= 41
    one, two = "a" * 30 + "b" + "c" * 30, "a" * 30 + "d" + "c" * 30
    assert _shortened([one, two]) == (one, two)
    assert _wrapped(["short", "x" * 41]) == ("short", "x" * 41)
    words = " ".join(["word"] * 9)
    assert [len(line) for line in _in_two_lines(words).split("\n")] == [39, 4]
    long = _in_two_lines(" ".join(["word"] * 40))
    assert len(long.split("\n")) == 2
    assert long.split("\n")[1].startswith("…word")
    assert all(width_of(line) <= 41 for line in _in_two_lines("日" * 30).split("\n"))


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["1", "2"], None), (["1", "2", "3"], (1.0, 2.0, 3.0)), (["1", "2", "9"], (1.0, 2.0, 9.0)),
        (["1", "2", "10"], (1.0, 2.0, 10.0)), (["1", "2", "11"], None), (["1", "3", "2"], None),
        (["1", "2", "2"], None), (["1.0", "2", "3"], None), (["1", "2", "inf"], None), (["a", "1", "2"], None),
        (["-1", "0", "1"], (-1.0, 0.0, 1.0)),
    ],
)  # fmt: skip
def test_labels_stand_on_an_axis_of_numbers_if_they_fill_a_third_of_it(
    labels: list[str], numbers: tuple[float, ...] | None
) -> None:
    assert _rising_numbers(labels) == numbers


def test_rows_are_lower_where_there_are_more_and_give_way_to_columns() -> None:
    for k, slot in ((1, 26), (20, 26), (21, 19), (60, 19), (61, 15), (150, 15)):
        layout = _layout([f"n{i}" for i in range(k)])
        assert (layout.rows, layout.slot, layout.width, layout.height) == (True, slot, 560, slot * k)
    assert _layout(["word " * 12, "b"]).slot == 34
    many = _layout([f"n{i}" for i in range(151)])
    assert (many.rows, many.width, many.height) == (False, 1100, 340)
    for k, width, height in (
        (3, 420, 260),
        (9, 420, 260),
        (10, 540, 260),
        (12, 540, 260),
        (13, 540, 340),
        (100, 860, 340),
    ):
        found = _layout([str(i) for i in range(k)])
        assert (found.rows, found.height) == (False, height)
        assert found.width == pytest.approx(width)
        assert found.slot == pytest.approx(width / k)
    assert _layout(["0", "2", "6"]).slot == pytest.approx(420 / 4)
    assert [_between(1, x, 3) for x in (0, 2, 4)] == [1, 2, 3]


def test_axes_of_shares_have_zero_and_air_and_those_of_means_the_ends_of_their_range() -> None:
    def domain(low: float, high: float, ends: tuple[float, float] | None = None) -> list[float]:
        items = _items(["a"], [(low + high) / 2], [low], [high], None)
        return type(items)(items.labels, items.columns, ends).domain()

    assert domain(0.2, 0.4) == pytest.approx([0.0, 0.412])
    assert domain(-0.2, 0.4) == pytest.approx([-0.218, 0.418])
    assert domain(-0.4, -0.2) == pytest.approx([-0.412, 0.0])
    assert domain(0.0, 0.0) == [0.0, 0.0]
    assert domain(1.0, 2.0, (0.0, 5.0)) == [0.0, 5.0]
    assert domain(-1.0, 7.0, (0.0, 5.0)) == [-1.0, 7.0]


@pytest.mark.parametrize(
    ("order", "labels", "first"),
    [
        (None, "abc", "b"), ("value", "abc", "b"), ("given", "abc", "a"), (None, ["1 a", "2 b", "3 c"], "1 a"),
        ("value", ["1 a", "2 b", "3 c"], "2 b"), ("given", ["1 a", "2 b", "3 c"], "1 a"),
    ],
)  # fmt: skip
def test_items_stand_by_their_estimates_unless_they_have_an_order(order: Any, labels: Any, first: str) -> None:
    pytest.importorskip("altair")
    three = [0.2, 0.5, 0.3]
    spec = estimate_chart(list(labels), three, three, three, title="T", order=order).to_dict()
    rows = _rows(spec)
    assert next(row["label"] for row in rows if "label" in row) == first
    top = _rows(estimate_chart(list(labels), three, three, three, title="T", order=order, top=2).to_dict())
    assert {row["label"] for row in top if "label" in row} == {labels[1], labels[2]}


def _rows(spec: Any) -> list[dict[str, Any]]:
    """All rows of data in a chart."""
    if isinstance(spec, list):
        return [row for part in spec for row in _rows(part)]
    if not isinstance(spec, dict):
        return []
    data = spec.get("data")
    own = data["values"] if isinstance(data, dict) and isinstance(data.get("values"), list) else []
    named = [row for rows in spec.get("datasets", {}).values() for row in rows]
    return own + named + [row for name, part in spec.items() if name not in ("data", "datasets") for row in _rows(part)]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"labels": []}, "labels must be at least one label"),
        ({"labels": ["a", "a"]}, "labels must be unique"),
        ({"value": [0.1]}, "value must be one number for each of the 2 labels"),
        ({"high": [0.3, math.nan]}, "high must be finite numbers"),
        ({"low": [0.1, 0.5]}, r"low must be at most `high`, got a higher number for \['b'\]"),
        ({"level": 1}, "level must be a number between 0 and 1"),
        ({"order": "size"}, "order must be one of value, given, or None"),
        ({"top": 0}, "top must be an integer >= 1"),
        ({"edges": [0, 1]}, "edges must be 3 numbers, one more than there are bins, got 2 numbers"),
    ],
)
def test_estimates_that_cannot_be_drawn_are_refused(wrong: dict[str, Any], told: str) -> None:
    pytest.importorskip("altair")
    good: dict[str, Any] = {"labels": ["a", "b"], "value": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.2, 0.3]}
    with pytest.raises(dn.ParameterError, match=told):
        estimate_chart(**{**good, "title": "T", **wrong})


def test_cumulative_shares_have_their_whole_band_in_the_chart() -> None:
    pytest.importorskip("altair")
    assert _as_numbers(["1", "2.5"]) == (1.0, 2.5)
    for labels in (["1"], ["2", "1"], ["1", "1"], ["1", "a"], ["1", "inf"]):
        assert _as_numbers(labels) is None
    for low, high, domain in (
        ([0.1, 0.2], [0.3, 0.9], [-0.02, 1.02]),
        ([-0.5, 0.2], [0.3, 1.5], [-0.54, 1.54]),
    ):
        spec = cumulative_chart(["a", "b"], [0.2, 0.5], low, high, title="T").to_dict()
        text = json.dumps(spec)
        assert all(json.dumps(round(end, 12)) in text or f"{end:.12g}" in text for end in domain), text
    for k, every in ((30, 1), (31, 2), (60, 2), (61, 3)):
        names = [f"n{i}" for i in range(k)]
        spec = cumulative_chart(names, *([0.5] * k for _ in range(3)), title="T").to_dict()
        shown = json.dumps(names[::every])
        assert f'"values": {shown}' in json.dumps(spec)


def test_ticks_on_logarithms_are_at_round_numbers_and_enough() -> None:
    for least, most in ((0.9, 1.2), (1, 9), (0.5, 40), (1, 99), (1, 100), (1e-4, 2), (1e-12, 1e12), (20, 3e5)):
        ticks = _decades(least, most)["values"]
        assert ticks == sorted(ticks)
        assert all(least <= tick <= most for tick in ticks)
        steps = {float(f"{tick:e}".partition("e")[0]) for tick in ticks}
        wide = most / least
        assert steps <= ({1} if wide >= 100 else {1, 2, 5} if wide >= 10 else {1, 1.5, 2, 3, 4, 5, 7})
        assert 1 <= len(ticks) <= 13
    assert _decades(1, 99)["values"] == [1, 2, 5, 10, 20, 50]
    assert _decades(1, 9)["values"] == [1, 1.5, 2, 3, 4, 5, 7]
    assert _decades(1, 100)["values"] == [1, 10, 100]
    assert [_decades(*ends)["format"] for ends in ((0.5, 9), (0.4, 9), (5e-4, 1), (4e-4, 1), (0.1, 1e4))] == [
        "~s", "~r", "~r", "~e", "~e"
    ]  # fmt: skip
    low, high = _log_domain([1.0, 100.0])
    assert (low, high) == (pytest.approx(10**-0.08), pytest.approx(10**2.08))
    low, high = _log_domain([7.0])
    assert (low, high) == (pytest.approx(7 / 10**0.5), pytest.approx(7 * 10**0.5))


def test_axes_of_numbers_begin_at_zero_unless_all_are_far_from_it() -> None:
    assert _linear([5.0, 11.0], "y") == {"zero": True, "nice": True}
    for values in ([5.0, 10.0], [6.0, 10.0], [-1.0, 10.0]):
        assert _linear(values, "y") == {"zero": False, "nice": True}
    assert _linear([0.0, 1.0], "y")["zero"]
    assert _linear([0.0, 1.0], "x") == {"zero": False, "nice": False, "padding": 14}
    twelve, thirteen = [float(x) for x in range(12)], [float(x) for x in range(13)]
    assert _ticks(twelve * 2, "x", free=False)["values"] == twelve
    assert "values" not in _ticks(thirteen, "x", free=False)
    assert "values" not in _ticks(twelve, "x", free=True)
    assert "values" not in _ticks(twelve, "y", free=False)
    assert [_ticks([x], "y", free=False)["format"] for x in (9999.0, 10_000.0, -10_000.0)] == [".6~r", "~s", "~s"]


def test_bars_reach_from_below_to_above_or_to_the_end_of_an_axis_with_logarithms() -> None:
    def ends(log: bool, *rows: tuple[float | None, object]) -> list[tuple[Any, Any]]:
        table: list[dict[str, Any]] = [{"y": y, "error": error} for y, error in rows]
        _bars(table, log=log)
        assert not any("error" in row for row in table)
        return [(row.get("low"), row.get("high")) for row in table]

    none = (None, None)
    assert ends(False, (3.0, 1.0), (1.0, 2.0), (1.0, 0), (1.0, None), (None, 1.0), (1.0, math.nan)) == [
        (2.0, 4.0), (-1.0, 3.0), none, none, none, none
    ]  # fmt: skip
    assert ends(True, (3.0, 1.0), (1.5, 2.0), (4.0, 4.0)) == [(2.0, 4.0), (1.5, 3.5), (1.5, 8.0)]
    assert ends(True, (9.0, 8.0), (5.0, 6.0)) == [(1.0, 17.0), (1.0, 11.0)]


def test_numbers_that_have_no_logarithm_are_refused_and_gaps_stay() -> None:
    pytest.importorskip("altair")
    row = {"x": 1.0, "y": 2.0, "s": "a"}
    how: dict[str, Any] = {"x": "x", "y": "y", "series": "s", "title": "T"}
    for axis in "xy":
        for odd in (0.0, -1.0):
            with pytest.raises(dn.ParameterError, match=f"{axis} must be a column of positive numbers"):
                line_chart([row, row | {axis: odd}], **how, **{f"log_{axis}": True})
    spec = line_chart([row, row | {"x": 2.0, "y": None}, row | {"x": 3.0, "y": math.inf}], **how).to_dict()
    assert [one["y"] for one in _rows(spec) if "y" in one] == [2.0, None, None]
    many = [row | {"s": f"s{i}"} for i in range(15)]
    with pytest.raises(dn.ParameterError, match="series must be at most 14 series, got 15 series"):
        line_chart(many, **how)
    line_chart(many[:14], **how)


def test_points_that_span_more_than_a_factor_of_three_have_logarithms() -> None:
    assert _scale([1.0, 3.0], "y")["type"] == "linear"
    assert _scale([1.0, 3.01], "y")["type"] == "log"
    assert _scale([1.0, 3.0], "y")["domain"] == pytest.approx([0.88, 3.12])
    assert _scale([1.0, 3.0], "x")["domain"] == pytest.approx([0.88, 3.24])
    assert _scale([0.1, 0.11], "y")["domain"][0] > 0
    assert _scale([2.0], "x")["domain"] == pytest.approx([1.8, 2.4])
    air = 100**0.05
    assert _scale([1.0, 100.0], "y")["domain"] == pytest.approx([1 / air, 100 * air])
    assert _scale([1.0, 100.0], "x")["domain"] == pytest.approx([1 / air, 100 * air**2])
    assert _share(10.0, {"type": "log", "domain": [1.0, 100.0]}) == pytest.approx(0.5)
    assert _share(25.0, {"type": "linear", "domain": [0.0, 100.0]}) == 0.25
    align, dx, dy, box = _room(330.0, 210.0, 50.0, [])
    assert (align, dx, dy) == ("left", 9.0, 0.0)
    assert (box.left, box.right, box.top, box.bottom) == (339.0, 389.0, 203.0, 217.0)
    assert _room(640.0, 210.0, 50.0, [])[0] == "right"
    taken = _room(330.0, 210.0, 50.0, [box])
    assert (taken[0], taken[2]) == ("right", 0.0)


@pytest.mark.parametrize(("count", "text"), [(5, "a0, a1, a2, a3, a4"), (6, "a0, a1, a2, a3, a4 and 1 more")])
def test_points_that_lie_together_share_a_label(count: int, text: str) -> None:
    pytest.importorskip("altair")
    points = [{"a": 1.0, "b": 1.0, "label": f"a{i}", "kind": "good"} for i in range(count)]
    spec = scatter_chart(
        [*points, {"a": 2.0, "b": 2.0, "label": "far", "kind": "out"}], x="a", y="b", title="T"
    ).to_dict()
    assert sorted(row["text"] for row in _rows(spec) if "text" in row) == [text, "far"]


def test_cells_of_a_heat_map_tell_what_they_are() -> None:
    assert _budget_look(math.inf, False, 1.0)[:2] == ("free", "∞")
    assert _budget_look(math.inf, True, 1.0)[:2] == ("own", "")
    assert _budget_look(math.log(4), False, 2.0) == ("number", "1.39", "1.38629, a factor of at most 4")
    assert _chance_look(0.0, True, 1.0) == ("own", "", "never")
    looks = [_chance_look(x, False, 1.0)[1] for x in (0.0004, 0.0005, 0.0994, 0.0996, 0.5, 1.0)]
    assert looks == ["", "0.05", "9.9", "10.0", "50.0", "100.0"]
    assert _chance_look(0.25, False, 1.0)[2] == "25 %"
    assert _names(["x" * 26, "y" * 27, "a", "a"]) == ["x" * 26, "y" * 25 + "…", "a (2)", "a (3)"]
    assert _sides(4, 2) == (92.0, 184.0)
    assert _sides(10, 20) == (pytest.approx(460.0), pytest.approx(230.0))


def test_maps_have_one_scale_both_ways_and_degrees_that_shrink_towards_the_poles() -> None:
    places = np.array([[0.0, 59.0], [2.0, 61.0]])
    assert _size(places, False) == (300.0, 300.0)
    wide, high = _size(places, True)
    assert (wide, high) == (pytest.approx(150.0), pytest.approx(300.0))
    assert _size(np.array([[0.0, 0.0], [4.0, 2.0]]), False) == (300.0, 150.0)
    assert _size(np.array([[0.0, 0.0], [40.0, 0.0]]), False) == (300.0, 120.0)
    for k in (1, 7):
        line = np.array([[float(i), 0.0] for i in range(k)])
        assert len({*_apart(line)}) == k
    nine = _apart(np.array([[float(i), 0.0] for i in range(9)]))
    assert nine[7] == PALETTE[0]
    assert all(a != b for a, b in pairwise(nine))
