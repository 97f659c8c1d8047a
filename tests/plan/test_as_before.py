"""Plans for every question are those that were looked at: numbers, order, reasons, sentences, charts.

After a change that is meant: `KEPT=write pytest tests/plan/test_as_before.py`, and look at the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
import kept
from deniable.plan.questions import PLANS

pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")

LINE = dn.promise(budgets=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], labels=["low", "middle", "high"])
SHARES: dict[str, Any] = {"k": 6, "epsilon": 1.0, "n": 2000}
MEAN: dict[str, Any] = {"question": "mean", "interval": (0, 10), "epsilon": 1.0, "top": 5}
PAIRS: dict[str, Any] = {"question": "key-value", "k": 5, "n": 3000, "epsilon": 1.5}
NEAR: dict[str, Any] = {"question": "release", "epsilon": 1.0}
RANGES: dict[str, Any] = {"question": "range", "k": 12, "epsilon": 1.0}
ROUND: dict[str, Any] = {"question": "direction", "interval": (0, 360), "epsilon": 1.0, "points": 36}
ASKED: Mapping[str, dict[str, Any]] = {
    "shares": SHARES,
    "shares, how many people": {"k": 6, "epsilon": 1.0, "target_error": 0.02, "top": 4},
    "shares, how much epsilon": {"k": 4, "n": 3000, "target_error": 0.03, "top": 3},
    "shares, limits and weights": SHARES | {"max_bytes": 2, "weights": "error=3,asr=1,poisoning=1", "targets": 2},
    "shares, a prior": SHARES | {"weight": 0.5, "prior": [0.18, 0.18, 0.16, 0.16, 0.16, 0.16]},
    "shares, sensitive ones": SHARES | {"sensitive": 2, "given": {"theta": 0.25}},
    "shares, a promise": {"promise": LINE, "n": 2000},
    "shares, none": SHARES | {"max_asr": 0.1, "target_error": 0.001},
    "mean": MEAN | {"n": 500},
    "mean, how many people": MEAN | {"target_error": 0.25},
    "mean, none": MEAN | {"n": 10, "target_error": 0.01, "max_asr": 0.51},
    "direction": ROUND | {"n": 500},
    "direction, how many people": ROUND | {"target_error": 10.0},
    "range": RANGES | {"n": 5000},
    "range, how many people": RANGES | {"target_error": 0.02},
    "key-value": PAIRS | {"interest": 2.0},
    "key-value, several": PAIRS | {"length": 2, "targets": 2},
    "key-value, none": PAIRS | {"max_bytes": 1, "max_asr": 0.11, "target_error": 0.001},
    "release": NEAR | {"points": 6},
    "release, an interval": NEAR | {"interval": (0, 10), "points": 8, "weights": "error=1,poisoning=1"},
    "release, a promise": {"question": "release", "promise": LINE},
    "release, none": NEAR | {"points": 6, "target_error": 0.1},
}


def _told(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan says, without the designs themselves, of which every mechanism has a golden file."""
    found = dn.plan(**asked)
    document = found.document()
    told = {name: document.get(name) for name in ("message", "next", "notes")}
    told["request"] = {name: x for name, x in document["request"].items() if name != "promise"}
    told |= {"found": {name: _numbers(d.document()) for name, d in found.found().items() if d is not None}}
    told |= {"designs": [_numbers(d) for d in document["designs"]], "frontier": document.get("frontier", [])[::40]}
    told["out"] = [[o["title"], o["reason"]] for o in document["out"]]
    told["overview"] = [part if isinstance(part, str) else [part.render()] for part in found.overview()]
    told["reasons"] = [part if isinstance(part, str) else [part.render()] for part in found.reasons()]
    return told | ({"chart": _drawn(found.chart().to_dict())} if found.designs else {})


def _numbers(design: Mapping[str, Any]) -> dict[str, Any]:
    left = ("params", "options", "protection", "epsilon_exact", "vetted", "why")
    return {name: x for name, x in design.items() if name not in left}


def _drawn(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The points and the words; where labels go is for `tests/present`."""
    points = next(part for part in spec["layer"] if part["mark"]["type"] == "point")
    places = {axis: points["encoding"][axis]["title"] for axis in ("x", "y")}
    rest = [part["data"]["values"][:: max(1, len(part["data"]["values"]) // 4)] for part in spec["layer"]]
    rest = [rows for rows in rest if rows and "text" not in rows[0] and "label" not in rows[0] and "to" not in rows[0]]
    return {"title": spec["title"], "axes": places, "points": points["data"]["values"], "other": rest}


@pytest.mark.parametrize("question", PLANS)
def test_a_plan_says_what_it_said(question: str) -> None:
    own = {name: asked for name, asked in ASKED.items() if asked.get("question", next(iter(PLANS))) == question}
    path = Path(__file__).parents[1] / "golden" / "plans" / f"{question}.json"
    assert own, f"a question of which no plan is kept: {question}"
    assert kept.differences(path, {name: _told(asked) for name, asked in own.items()}) == []
