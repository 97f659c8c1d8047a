"""The chart of a trade-off: every point and name is in it, the frontier, the limits, the details on hovering."""

from __future__ import annotations

import json
import math

import pytest

import deniable as dn

pytest.importorskip("altair", reason="charts need: pip install 'deniable[charts]'")

from deniable.plan.charts import plan_chart
from deniable.present.charts import scatter_chart

POINTS = [
    {"a": 1.0, "b": 8.0, "label": "one", "kind": "good", "more": "x"},
    {"a": 1.01, "b": 8.0, "label": "twin", "kind": "plain", "more": "y"},
    {"a": 5.0, "b": 2.0, "label": "far", "kind": "out", "more": "z"},
]

_COST = "only for bytes, work or forged reports"


def draw(**options):
    return scatter_chart(POINTS, x="a", y="b", title="T", tooltip=("more",), **options).to_dict()


def layer(spec, mark):
    return [part for part in spec["layer"] if part["mark"]["type"] == mark]


def test_points_that_are_close_share_a_label_and_all_are_drawn():
    spec = draw()
    (points,) = layer(spec, "point")
    assert sorted(row["label"] for row in points["data"]["values"]) == ["far", "one", "twin"]
    (labels,) = layer(spec, "text")
    assert sorted(row["text"] for row in labels["data"]["values"]) == ["far", "one, twin"]
    assert [tip["title"] for tip in points["encoding"]["tooltip"]] == ["design", "more"]
    assert {tip["field"] for tip in points["encoding"]["tooltip"]} == {"label", "t0"}


def test_line_limits_and_kinds():
    line = [{"a": 1 + i / 10, "b": 9 - i / 8} for i in range(40)]
    spec = draw(line=line, line_name="edge", limits={"x": 3.0}, kinds={"good": "fine"})
    (curve,) = layer(spec, "line")
    assert len(curve["data"]["values"]) > 20
    (rule,) = layer(spec, "rule")
    assert rule["encoding"]["x"] == {"datum": 3.0}
    (points,) = layer(spec, "point")
    assert points["encoding"]["fill"]["scale"]["domain"] == ["fine", "plain", "out"]
    (labels,) = layer(spec, "text")
    assert "edge" in [row["text"] for row in labels["data"]["values"]]


def test_axes_are_logarithmic_where_values_span_much():
    spec = draw()
    assert layer(spec, "point")[0]["encoding"]["x"]["scale"]["type"] == "log"
    near = scatter_chart(POINTS[:2], x="a", y="b", title="T").to_dict()
    assert layer(near, "point")[0]["encoding"]["x"]["scale"]["type"] == "linear"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1.0, "b": 1.0, "label": "x"}, "without \\['kind'\\]"),
        ({"a": 0.0, "b": 1.0, "label": "x", "kind": "good"}, "positive finite numbers"),
        ({"a": 1.0, "b": math.inf, "label": "x", "kind": "good"}, "positive finite numbers"),
        ({"a": 1.0, "b": 1.0, "label": "x", "kind": "odd"}, "kind must be one of good, cost, plain, out, got 'odd'"),
    ],
)
def test_wrong_points_are_refused(row, message):
    with pytest.raises(dn.ParameterError, match=message):
        scatter_chart([row], x="a", y="b", title="T")


def test_a_plan_is_drawn_with_all_its_designs():
    found = dn.plan(k=100, n=10_000, epsilon=4.0, max_asr=0.15)
    spec = plan_chart(found).to_dict()
    drawn = layer(spec, "point")[0]["data"]["values"]
    shown = len(found.designs) + sum(o.design is not None for o in found.out)
    assert len(drawn) == shown
    assert {row["kind"] for row in drawn} == {"worth a choice", "beaten by another", "breaks a limit"}
    assert layer(spec, "rule")[0]["encoding"]["x"] == {"datum": 15.0}
    best = next(row for row in drawn if row["label"] == found.best.name and row["kind"] == "worth a choice")
    assert best["y"] == pytest.approx(100 * found.best.stderr)
    assert found.best.why in json.dumps(best)


def test_what_is_behind_on_both_axes_is_worth_a_choice_only_for_what_they_do_not_show():
    spec = plan_chart(dn.plan(k=100, n=10_000, epsilon=2.0)).to_dict()
    drawn = layer(spec, "point")[0]["data"]["values"]
    good, cost = ([row for row in drawn if row["kind"] == kind] for kind in ("worth a choice", _COST))
    assert {"grr", "pgr"} <= {row["label"] for row in cost}  # of one byte each
    assert {"ass", "aue", "hr"} <= {row["label"] for row in good}
    for row in good:
        assert not any(other["x"] < 0.999 * row["x"] and other["y"] < 0.999 * row["y"] for other in good)
    for row in cost:
        assert any(other["x"] < row["x"] and other["y"] < row["y"] for other in good)


def test_what_lies_far_out_is_named_in_the_subtitle():
    spec = plan_chart(dn.plan(k=1000, n=100_000, epsilon=1.0)).to_dict()
    assert "off the chart: grr (5.827 points)" in " ".join(spec["title"]["subtitle"])
    assert "grr" not in {row["label"] for row in layer(spec, "point")[0]["data"]["values"]}


def test_a_prior_has_no_frontier():
    prior = [0.5] + [0.5 / 9] * 9
    spec = plan_chart(dn.plan(k=10, n=1000, epsilon=1.0, prior=prior)).to_dict()
    assert not layer(spec, "line")
    assert "a guess without a report is right 50 % of the time" in " ".join(spec["title"]["subtitle"])


def test_labels_that_stand_apart_are_led_to_their_points():
    spec = dn.plan(k=100, n=100_000, epsilon=1.0).chart().to_dict()
    rows = [row for layer in spec["layer"] for row in layer.get("data", {}).get("values", ())]
    led = [row for row in rows if "to" in row]
    labels = [row for row in rows if "dy" in row and "to" not in row]
    apart = [row["text"] for row in labels if abs(row["dy"]) > 16 and row["kind"] != "line"]
    assert apart
    assert [row["text"] for row in led] == apart
    for row in led:
        assert 0 < row["to"] / row["dy"] < 1


def test_no_name_is_written_over_another():
    """The size of a name is what the chart itself reckons with; names that crowd go further out."""
    from deniable.present.scatter import _HEIGHT, _LINE_HEIGHT, _WIDTH, _Box, _share, _wide

    for k in (50, 1000):
        spec = dn.plan(k=k, n=1000, epsilon=1.0).chart().to_dict()
        (labels,) = layer(spec, "text")
        scales = {axis: labels["encoding"][axis]["scale"] for axis in ("x", "y")}
        boxes = []
        for row in labels["data"]["values"]:
            x, y = _share(row["x"], scales["x"]) * _WIDTH, (1 - _share(row["y"], scales["y"])) * _HEIGHT
            left = x + row["dx"] - (_wide(row["text"]) if row["align"] == "right" else 0)
            top = y + row["dy"] - _LINE_HEIGHT / 2
            boxes.append(_Box(left, top, left + _wide(row["text"]), top + _LINE_HEIGHT))
        assert len(boxes) > 5
        assert not [(i, j) for i, one in enumerate(boxes) for j in range(i) if one.meets(boxes[j])]
