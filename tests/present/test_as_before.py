"""Every chart and every table of fixed numbers is the one that was looked at: marks, places, order, words.

After a change that is meant: `KEPT=write pytest tests/present/test_as_before.py`, and look at the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
import kept
from deniable.present import charts, html, studies, tables
from deniable.present.cumulative import cumulative_chart
from deniable.present.maps import regions_chart

pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")

NUMBERS = {"value": [0.31, -0.04, 0.42, 0.2, 0.11], "low": [0.2, -0.1, 0.35, 0.05, 0.01]}
NUMBERS |= {"high": [0.4, 0.02, 0.5, 0.3, 0.25], "truth": [0.3, 0.0, 0.41, 0.19, 0.1]}
NAMES = ["tea", "cocoa", "coffee", "milk", "the longest name of a drink that anybody ever gave, or nearly so"]
AGES = ["18", "20", "24", "26", "32"]


def _part(names: list[str], columns: Mapping[str, Any], **more: Any) -> Any:
    known = ("value", "low", "high")
    return charts.estimate_chart(names, *(columns[name] for name in known), **{"title": "T"} | more)


def _lines(rows: list[dict[str, Any]], **more: Any) -> Any:
    return charts.line_chart(rows, **{"x": "x", "y": "y", "series": "s", "title": "T"} | more)


ROWS = [
    {"x": x, "y": y, "s": s, "e": 0.4 * y, "f": f, "r": x == 4, "l": y + 1}
    for f in ("one", "two")
    for s, y in (("a", 3.0), ("b", 0.02))
    for x in (1, 2, 4, 30)
]
POINTS = [
    {"a": 1.0, "b": 8.0, "label": "one", "kind": "good", "more": "x"},
    {"a": 1.01, "b": 8.0, "label": "twin", "kind": "plain", "more": "y"},
    {"a": 2.9, "b": 5.0, "label": "dear", "kind": "cost", "more": "w"},
    {"a": 5.0, "b": 2.0, "label": "far", "kind": "out", "more": "z"},
]
NEAR = [{**row, "a": 1 + row["a"] / 9, "b": 1 + row["b"] / 9} for row in POINTS]
LINE = [{"a": 1.2, "b": 7.0}, {"a": 3.0, "b": 3.0}, {"a": 4.5, "b": 2.1}, {"a": 99.0, "b": 1.0}]
PLACES = [[60.0, 10.0], [60.5, 10.2], [60.2, 11.0], [60.9, 10.5], [60.4, 10.9]]
LAWS = {"brr": [0.4, 0.3, 0.2, 0.1, 0.0], "codebook": [0.0, 0.75, 0.25, 0.0, 0.0]}
OWN = ["a", "a", "a", "b", "b"]
PROMISE = dn.promise(budgets=[[0, 1, "inf"], [2, 0, 1], [0.5, 3, 0]], labels=["no", "yes", "often"])
LAW = [[0.5, 0.4, 0.0996, 0.0004], [0.25, 0.25, 0.25, 0.25]]

CHARTS: Mapping[str, Callable[[], Any]] = {
    "estimate_chart": lambda: _part(NAMES, NUMBERS, truth=NUMBERS["truth"], subtitle="S", level=0.9),
    "estimate_chart top": lambda: _part(AGES, NUMBERS, top=3),
    "estimate_chart numbers": lambda: _part(AGES, NUMBERS, truth=NUMBERS["truth"]),
    "estimate_chart given": lambda: _part(NAMES, NUMBERS, order="given"),
    "estimate_chart means": lambda: _part(NAMES, NUMBERS, ends=(-1.0, 2.0)),
    "estimate_chart bins": lambda: _part(AGES, NUMBERS, edges=[0, 1, 2, 4, 8, 9], truth=NUMBERS["truth"]),
    "estimate_chart many": lambda: charts.estimate_chart(
        [f"n{i}" for i in range(160)], *([x + i / 400 for i in range(160)] for x in (0.1, 0.0, 0.3)), title="T"
    ),
    "cumulative_chart": lambda: cumulative_chart(
        AGES, [0.1, 0.3, 0.5, 0.9, 1.0], [-0.1, 0.2, 0.4, 0.8, 1], [0.2, 0.4, 0.7, 1.1, 1], title="T"
    ),
    "cumulative_chart names": lambda: cumulative_chart(
        [f"n{i}" for i in range(31)],
        *([min(1.0, x + i / 31) for i in range(31)] for x in (0.1, 0.0, 0.3)),
        title="T",
        level=0.8,
        simultaneous=False,
        truth=[i / 31 for i in range(31)],
    ),
    "line_chart": lambda: _lines(ROWS[:8], error="e", log_x=True, log_y=True, reference=1.0, ring="r", line="l"),
    "line_chart linear": lambda: _lines(ROWS, error="e", facet="f", free="x", x_title="X", y_title="Y"),
    "line_chart small": lambda: _lines(ROWS[:4], small=True),
    "line_chart text": lambda: _lines([row | {"x": f"n{row['x']}"} for row in ROWS[:8]]),
    "scatter_chart": lambda: charts.scatter_chart(
        POINTS, x="a", y="b", title="T", tooltip=("more",), line=LINE, limits={"x": 3.0, "y": 6.0}, kinds={"out": "no"}
    ),
    "scatter_chart linear": lambda: charts.scatter_chart(NEAR, x="a", y="b", title="T", x_title="X", y_title="Y"),
    "map_chart": lambda: charts.map_chart(PLACES, LAWS, own=2, title="T", released={"brr": 1}),
    "map_chart flat": lambda: charts.map_chart(PLACES, LAWS, own=0, title="T", globe=False, labels=NAMES),
    "regions_chart": lambda: regions_chart({"m": (PLACES, OWN, True), "n": (PLACES, OWN[::-1], False)}, title="T"),
    "promise_chart": lambda: charts.promise_chart(PROMISE),
    "channel_chart": lambda: charts.channel_chart(LAW, values=["no", "yes"], reports=NAMES[1:]),
    "channel_chart wide": lambda: charts.channel_chart([[1 / 13] * 13] * 2),
    "panels": lambda: charts.panels([_lines(ROWS[:4], small=True), _lines(ROWS[4:8], small=True)], title="T"),
    "stacked": lambda: charts.stacked([_part(NAMES, NUMBERS), _part(AGES, NUMBERS)], title="T", subtitle="S"),
}
NO_CHART = {"caption", "save"}

HEAD = {"mechanism": "ss", "epsilon": 1.25, "params": {"size": 3, "base": None}, "data": "zipf", "k": 1200}
HEAD |= {"n": 34567, "runs": 4, "seed": 9, "level": 0.9}
ERRORS = {"mse": 0.000123, "mse_predicted": 0.000456, "ratio": 1.0625, "ratio_stderr": 0.03125}
ERRORS |= {"coverage": 0.8765, "coverage_stderr": 0.0123}
OF_ONE = HEAD | ERRORS | {"interval": [-2.0, 7.5], "truth": 1.2345678, "bias": -0.0123456, "bias_stderr": 0.00234}
NEAR_ANSWERS = HEAD | {"unit": "km", "loss": 1.2345678, "loss_predicted": 1.3456789, "ratio": 0.9174, "params": {}}
NEAR_ANSWERS |= {"ratio_stderr": 0.0123, "loss_remapped": 0.9876543, "loss_remapped_predicted": 0.99}
OF_KEYS = HEAD | ERRORS | {"pairs": 45678, "coverage_mean": 0.91, "coverage_mean_stderr": 0.0, "top": 7, "ncr": 0.625}
OF_KEYS |= {"mse_frequency_top": 0.00034, "mse_mean_top": None}
STEP = {"step": "find", "share": 0.25, "epsilon": 0.75, "mechanism": "oue", "k": 4321, "bytes": 541}
PROTOCOL = HEAD | {"repeated": False, "epsilon_exact": 1.2500000001, "vetted": True, "steps": [STEP, STEP | {"k": 7}]}
DESIGN = {"mechanism": "ss", "mse": 0.0004, "gap": 0.125, "asr": 0.0625, "bytes": 1234}
SHARES = {name: NUMBERS[name] for name in ("value", "low", "high", "truth")} | {"stderr": [0.1, 0.02, 0.3, 0.01, 0.2]}
MEANS = {"mean": [1.0, 2.0, 3.0, 4.0, 5.0], "mean_low": [0.5] * 5, "mean_high": [9.5] * 5, "truth_mean": [1.25] * 5}
MEANS |= {"too_rare": [False, True, False, True, False]}
QUANTILES = {"share": [0.25, 0.5], "value": ["b", "c"], "low": ["a", "c"], "high": ["d", "c"]}
CLAIM = {"id": "c-1", "verdict": "reproduced", "claim": "It holds.", "paper": "1", "measured": "1.01"}
ROW = {"name": "ss", "summary": "S", "best_for": "B", "options": ["size", "leak_budget"], "source": "W", "vetted": True}

TABLES: Mapping[str, Callable[[], tables.Table]] = {
    "frequency_table": lambda: studies.frequency_table(
        HEAD | ERRORS | {"max_abs_error": 0.0345, "mse_projected": 9e-5}
    ),
    "mean_table": lambda: studies.mean_table(OF_ONE),
    "mean_table one run": lambda: studies.mean_table(
        OF_ONE | {"bias_stderr": None, "ratio_stderr": None, "coverage_stderr": None}
    ),
    "direction_table": lambda: studies.direction_table(OF_ONE | {"resultant": 0.8765, "mse_predicted": None}),
    "release_table": lambda: studies.release_table(NEAR_ANSWERS),
    "keyvalue_table": lambda: studies.keyvalue_table(OF_KEYS),
    "protocol_table": lambda: studies.protocol_table(PROTOCOL),
    "protocol_table repeated": lambda: studies.protocol_table(PROTOCOL | {"repeated": True, "vetted": False}),
    "steps_table": lambda: studies.steps_table(PROTOCOL),
    "designs_table": lambda: tables.designs_table([DESIGN, DESIGN | {"bytes": 7}]),
    "shares_table": lambda: tables.shares_table(SHARES | MEANS, NAMES, level=0.9),
    "shares_table numbers": lambda: tables.shares_table(SHARES, NAMES, level=0.9, numbers=True),
    "quantiles_table": lambda: tables.quantiles_table(QUANTILES, level=0.9),
    "mechanisms_table": lambda: tables.mechanisms_table([ROW, ROW | {"vetted": False}]),
    "claims_table": lambda: tables.claims_table([CLAIM]),
    "facts_table": lambda: tables.facts_table([("a", "1", "one")]),
    "properties_table": lambda: tables.properties_table(
        HEAD | ERRORS | {"gap": 1234.5, "bound": 1e-5, "asr": 0.2, "selection": {"prior": "zipf", "by": "elbow"}}
    ),
    "properties_table lists": lambda: tables.properties_table(
        {
            "mechanism": "pldp",
            "params": {
                "sensitive": [0, 2, 5, 6],
                "base": {"mechanism": "grr", "params": {"p": 0.75}},
                "certificate": 1,
            },
            "guarantee": {"data": 0.5, "level": 1.25, "pair": 1.75},
            "shares": [0.125] * 8,
            "variance": 0.25,
            "variance_mean": 0.5,
            "selection": {"select": "utopia", "objectives": "paper", "normalize": "log", "asr_under_prior": 0.375},
        }
    ),
    "properties_table proved": lambda: tables.properties_table(
        {
            "mechanism": "optimal",
            "n": 9,
            "bound": 0.5,
            "certificate": {"value": 0.75, "bound": 0.5, "gap": 0.25, "proved": False},
            "guarantee": {"by_level": [[1.0, 0.9999], [2.0, 1.5]]},
            "variance_mean": 2.0,
            "mse": [0.25, 0.0625],
            "selection": {},
        }
    ),
}
HTML: Mapping[str, Callable[[], str]] = {
    "facts_html": lambda: html.facts_html("T", {"a": 1, "b": "<2>"}, simulated=True, bar=html.Bar(0.25, 0.1, 0.4)),
    "counts_html": lambda: html.counts_html("T", [("n", list(range(14)), [f"n{i}" for i in range(14)])]),
    "bars_html": lambda: html.bars_html("T", ("a", "b"), [("x", "y" * 31)] * 13, notes=["N"]),
    "parts_html": lambda: html.parts_html("T", ["text", tables.facts_table([("a", "1", "one")] * 13)], [None] * 13),
    "scaled": lambda: str(html.scaled(*(_array(NUMBERS[n]) for n in ("value", "low", "high")))),
}


def _array(numbers: list[float]) -> Any:
    import numpy as np

    return np.array(numbers)


def _as_text(name: str) -> list[str]:
    """A table as rows, and within widths that make it wrap and fold."""
    made = TABLES[name]()
    return [made.render(), *(made.render(width=width) for width in (40, 64)), made.render(width=64, styled=True)]


def _drawn(name: str) -> Any:
    """What a chart shows: without the version of the language, and without names that only tell parts apart."""
    spec = CHARTS[name]().to_dict()
    spec.pop("$schema")
    spec.pop("config")
    return _numbered(spec, {})


def _numbered(part: Any, known: dict[str, str]) -> Any:
    if isinstance(part, dict):
        return {name: _numbered(each, known) for name, each in part.items()}
    if isinstance(part, list):
        return [_numbered(each, known) for each in part]
    if isinstance(part, str) and re.fullmatch(r"(param|view|concat|layer)_\d+", part):
        return known.setdefault(part, f"name {len(known)}")
    return part


@pytest.mark.parametrize(
    ("kind", "names", "made"),
    [("charts", CHARTS, _drawn), ("tables", TABLES, _as_text), ("html", HTML, lambda name: HTML[name]())],
    ids=["charts", "tables", "html"],
)
def test_what_is_shown_is_what_was_looked_at(kind: str, names: Mapping[str, Any], made: Callable[[str], Any]) -> None:
    changed = kept.differences(Path(__file__).with_name(f"{kind}.json"), {name: made(name) for name in names})
    assert changed == []


def test_no_chart_and_no_table_is_left_out() -> None:
    """A new one stands above, with what was made of it."""
    tried = {name.partition(" ")[0] for name in CHARTS}
    assert tried >= set(charts.__all__) - NO_CHART
    tried = {name.partition(" ")[0] for name in TABLES}
    assert tried >= {name for name in (*studies.__all__, *tables.__all__) if name.endswith("_table")}
    assert set(HTML) >= set(html.__all__) - {"Bar"}
