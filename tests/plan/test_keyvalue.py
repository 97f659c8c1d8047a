"""The planner's answers about key-value data: ranked by exact errors, never beyond the frontier."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.mechanisms.keyvalue.laws import best_signed_alone, frontier, information
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.keyvalue import KeyValuePrediction
from tiers import every

JOB: dict[str, Any] = {"k": 100, "n": 10_000, "epsilon": 1.0}
ROWS = [name for name, entry in MECHANISMS.items() if entry.question == "key-value"]


@pytest.mark.parametrize(
    ("k", "epsilon", "interest"),
    every(5, [(k, e, i) for i in (0.0, 0.4, 1.0, 3.0) for k, e in ((10, 0.5), (10, 4.0), (1206, 2.0))]),
)
def test_designs_are_ranked_by_what_was_asked_and_the_best_is_near_the_frontier(
    k: int, epsilon: float, interest: float
) -> None:
    found = dn.plan(question="key-value", k=k, n=10_000, epsilon=epsilon, interest=interest)
    assert {d.name for d in found.designs} == set(ROWS)
    costs = [d.cost for d in found.designs]
    assert costs == pytest.approx(sorted(costs), rel=1e-8)
    for d in found.designs:
        own = d.mechanism.properties(10_000)
        assert d.cost == interest**2 * own["variance"] + own["variance_mean"]
    edge = frontier(epsilon, k)
    places = np.geomspace(1 / edge.b[-1], 1e4 / edge.b[-1], 4000)
    least = min((interest and interest**2 * edge.least_frequency(float(m))) + float(m) for m in places) / 10_000
    assert least * (1 - 1e-5) <= found.designs[0].cost <= least * 1.06, "whole sizes cost up to 6 % for few keys"
    for row in found.frontier:
        assert edge.least_frequency(row["variance_mean"] * 10_000) / 10_000 == pytest.approx(row["variance"], rel=1e-9)


def test_interest_moves_the_share_and_several_pairs_are_planned_for() -> None:
    shares = [
        _named(dn.plan(question="key-value", **JOB, interest=i).designs, "kv-mix").mechanism.params["mix"]
        for i in (0.5, 1, 2)
    ]
    assert shares == sorted(shares)
    assert shares[0] < shares[2]
    padded = dn.plan(question="key-value", **JOB, length=3)
    assert [o.title for o in padded.out] == ["privkv"]
    assert all(d.mechanism.params["length"] == 3 for d in padded.designs)
    assert all(d.gap is not None and d.gap > 1 for d in padded.designs), "padding costs at least that"


def _named(designs: tuple[KeyValuePrediction, ...], name: str) -> KeyValuePrediction:
    return next(d for d in designs if d.name == name)


def test_short_encodings_are_designs_of_their_own() -> None:
    found = dn.plan(question="key-value", k=1206, n=10_000, epsilon=2.0)
    ring = next(d for d in found.designs if d.name == "kv-ss2" and d.options == {"encoding": "cyclic"})
    bits = _named(found.designs, "kv-ss2")
    assert (ring.cost, ring.bytes, bits.bytes) == (bits.cost, 10, 302)
    assert ring.work > 100 * bits.work
    assert dn.plan(question="key-value", k=1206, n=10_000, epsilon=2.0, max_bytes=16).designs[0].title == ring.title


def test_limits_leave_out_and_no_design_is_an_answer() -> None:
    short = dn.plan(question="key-value", **JOB, max_bytes=2)
    assert {d.bytes for d in short.designs} <= {1, 2}
    assert all("instead of at most 2" in o.reason for o in short.out)
    none = dn.plan(question="key-value", **JOB, max_bytes=2, target_error=1e-4)
    assert (none.feasible, none.best) == (False, None)
    told = "No design meets the limits (standard error at most 0.0001, bytes at most 2); the closest is "
    assert none.message.startswith(told)
    assert len(dn.plan(question="key-value", **JOB, top=2).designs) == 2


@pytest.mark.parametrize("n", [1, 10, 200])
def test_no_design_waits_for_reports_that_hardly_anybody_sends(n: int) -> None:
    """With two kinds of reports there is no estimate unless both come in."""
    for more in ({}, {"weights": {"poisoning": 1}}):
        found = dn.plan(question="key-value", k=17, n=n, epsilon=1.0, interest=4.0, **more)
        shares = [min(float(g.share) for g in d.mechanism.groups) for d in found.designs]
        assert all(share == 1 or (1 - share) ** n <= 1e-6 for share in shares)
        assert {d.name for d in found.designs} == set(ROWS)
        mixed = any(share < 1 for share in shares)
        assert mixed == (n == 200)


def test_forged_reports_gain_what_is_predicted() -> None:
    """One report, made to measure, moves the summed estimates of the targets by the stated amount."""
    m = dn.mechanism("ks-ue", epsilon=1.0, k=20)
    traits = MECHANISMS["ks-ue"].traits
    assert traits.pull is not None
    reports = m.privatize_items(np.zeros(1000, np.int64), dn.simulation(1))
    before = m.estimate(m.tally(reports)).value[:5].sum()
    row = np.zeros_like(reports.columns["report"][:1])
    row[0, 0] = 0b11111
    reports.columns["report"] = np.concatenate([reports.columns["report"], row])
    after = m.estimate(m.tally(reports)).value[:5].sum()
    assert after * 1001 - before * 1000 == pytest.approx(traits.pull(m, 5), rel=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"interest": -1}, "interest must be"),
        ({"interest": math.nan}, "interest must be"),
        ({"max_worst": 0.1}, "max_worst must be left out for the question 'key-value', got 0.1. .*question='release'"),
        ({"max_asr": 2}, "max_asr must be at most 1"),
        ({"weights": {"loss": 1}}, "weights must be named by error, asr, bits, work, poisoning"),
        ({"weight": 1.5}, "weight must be from 0 to 1"),
        ({"max_bytes": -1}, "max_bytes must be a finite number"),
        ({"targets": 100}, "targets must be"),
        ({"top": 0}, "top must be"),
        ({"n": 0}, "n must be"),
        ({"labels": ["a", "b"]}, "exactly one of k, labels"),
    ],
)
def test_bad_questions_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dn.plan(question="key-value", **(JOB | given))


def test_document_is_plain_and_the_chart_has_all_designs() -> None:
    found = dn.plan(question="key-value", **JOB)
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert [d["mechanism"] for d in document["designs"]] == [d.name for d in found.designs]
    again = document["designs"][0]
    made = dn.mechanism(again["mechanism"], epsilon=1.0, k=100, **again["options"])
    assert made.properties(10_000)["variance"] == again["variance"]
    pytest.importorskip("altair")
    chart = json.dumps(found.chart().to_dict())
    assert all(name in chart for name in ROWS)


@pytest.mark.parametrize("interest", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 30), (2.0, 30), (4.0, 30), (6.0, 9), (1.0, 2)])
def test_size_of_signed_sets_alone_is_the_best_of_all(epsilon: float, k: int, interest: float) -> None:
    def total(size: int) -> float:
        a, b = information(math.exp(epsilon), k, float(size), 0.0)
        return float(interest**2 * (k - 1) / k * (1 / a - 1 / k) + 1 / b)

    assert total(best_signed_alone(epsilon, k, interest)) == pytest.approx(min(map(total, range(1, k))), rel=1e-12)
