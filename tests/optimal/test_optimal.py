"""The row `optimal`: designs that carry their table, what their readers recompute, and what is refused."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise.judge import enumerated
from deniable.core.promise.paths import implies
from deniable.core.types import Target
from deniable.errors import DeniableError, EnumerationError, FormatError, ParameterError, PrivacyError
from deniable.mechanisms.common import channels_of, kept
from deniable.mechanisms.optimal.base import Optimal
from deniable.mechanisms.optimal.bounds import least_error
from deniable.mechanisms.optimal.table import ROWS
from deniable.mechanisms.registry import from_design
from deniable_client.grammar import read_design
from optimal.promises import generic, line

LINE = dn.promise(graph=[(0, 1), (1, 2), (2, 3)], epsilon=0.7, k=4)
CASES: list[dict[str, Any]] = [
    *(dict(case) for case in ROWS["optimal"].small),
    {"promise": LINE, "objective": "mean", "values": [0, 1, 2, 10]},
    {
        "promise": LINE,
        "objective": "functional",
        "functionals": [[1, 0, 0, 0], [0, 1, 1, 0]],
        "prior": [0.1, 0.2, 0.3, 0.4],
    },
    {"promise": LINE, "objective": "mean", "values": [0, 1, 2, 3], "worst": True},
]


def made(**own: Any) -> Optimal:
    found = dn.mechanism("optimal", **own)
    assert isinstance(found, Optimal)
    return found


@cache
def number(i: int) -> Optimal:
    """The i-th case, once for all tests."""
    return made(**CASES[i])


@pytest.mark.parametrize("i", range(len(CASES)))
def test_a_design_is_read_without_solving_and_means_the_same(i: int, monkeypatch: pytest.MonkeyPatch) -> None:
    m = number(i)
    for name in ("best", "minimax", "rounded", "written"):
        monkeypatch.setattr(f"deniable.mechanisms.optimal.base.{name}", None)
    document = json.loads(json.dumps(m.design))
    again = from_design(document)
    assert again == m
    assert again.properties(7) == m.properties(7)
    assert read_design(document).kernel == m.kernel
    assert kept(m)
    assert all(pair.kept for pair in enumerated(m.promise, channels_of(m)))


@pytest.mark.parametrize("i", range(len(CASES)))
def test_what_it_says_of_itself(i: int) -> None:
    m = number(i)
    found = m.properties(10)
    proof = found["certificate"]
    worst = CASES[i].get("worst", False)
    assert proof["gap"] == found["gap"] <= (1e-6 if worst else 1e-9)
    assert proof["bound"] <= proof["value"] * (1 + 1e-12)
    assert found["outputs"] == m.table.outputs
    assert 0 < found["blind"] < 1e-12
    assert (np.array(found["kept"], float) <= m.promise.closed.budgets * (1 + 1e-9)).all()
    if m.objective == "frequency":
        assert found["mse_sum"] == pytest.approx(proof["value"] / 10)
        assert found["bound"] == pytest.approx(proof["bound"] / 10 / m.k)
    if m.objective == "mean":
        assert m.values is not None
        half = (max(m.values) - min(m.values)) / 2
        assert found["variance_mean"] == pytest.approx(proof["value"] / half**2 / 10)
    if m.objective == "functional":
        assert found["mse_sum"] == pytest.approx(proof["value"] / 10)


def test_errors_are_those_of_the_channel() -> None:
    """The stated error, from the whole numbers by the definition: E |estimate - truth|^2 of one person at the prior."""
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    m = made(promise=LINE, prior=prior.tolist())
    matrix = m.bulk.matrix
    chance = prior @ matrix
    scores = np.linalg.solve((matrix / chance) @ matrix.T, matrix / chance)
    assert np.allclose(scores @ matrix.T, np.eye(4))
    error = sum(
        prior[x] * matrix[x, y] * ((scores[:, y] - np.eye(4)[x]) ** 2).sum()
        for x in range(4)
        for y in range(matrix.shape[1])
    )
    assert m.error == pytest.approx(error, rel=1e-10)
    assert m.properties()["mse_sum"] == pytest.approx(error, rel=1e-10)


@pytest.mark.stat
def test_means_and_functionals_have_no_bias_and_their_error() -> None:
    """2000 runs of 100 people, fixed: means within 5 standard errors (alpha below 1e-6), variances within 17 %
    (5.4 standard errors).

    A mean that is off by a quarter of its standard deviation would be 11 of these standard errors away.
    """
    values = [0.0, 1.0, 2.0, 10.0]
    m = made(promise=LINE, objective="mean", values=values)
    counts, runs = np.array([40, 30, 20, 10]), 2000
    rng = dn.simulation(11)
    drawn = np.array([m.simulate_tally(counts, rng).cells["value"][0] for _ in range(runs)]) / 100
    scores = m.worth.scores @ np.array(values)
    means = drawn @ scores
    spread = m.worth.errors @ counts / 100 / 100
    assert abs(means.mean() - counts @ values / 100) < 5 * math.sqrt(spread / runs)
    assert means.var() == pytest.approx(spread, rel=0.17)
    estimate = m.estimate(m.simulate_tally(counts * 100, rng))
    assert estimate.labels == ("mean",)
    low, high = float(estimate.interval().low[0]), float(estimate.interval().high[0])
    assert low < estimate.value[0] < high
    assert estimate["mean"].value[0] == estimate.value[0]


@pytest.mark.parametrize("values", [[0], [3], [3, 3], [0, 1], [0, 0, 1], [0, 1, 1, 2, 3, 3, 3]], ids=str)
def test_variances_of_what_was_asked_for_are_those_of_the_scores_that_were_sent(values: list[int]) -> None:
    """By hand from single reports: the variance in the sample, over n - 1, divided by n.

    It is no less than what a report varies by, whoever sends it: one report, or a few equal ones, are not sure.
    """
    n, functionals = len(values), np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 10.0]])
    m = made(promise=LINE, objective="functional", functionals=functionals.tolist())
    width = sum(field.width for field in m.fields)
    rows = [y.to_bytes(width, "little") for y in values]
    estimate = m.estimate(m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=True)))
    sent = (m.worth.scores @ functionals.T)[values]
    assert estimate.value == pytest.approx(sent.mean(axis=0), rel=1e-12)
    off = sent - sent.mean(axis=0)
    by_hand = off.T @ off / (n * max(n - 1, 1))
    scores = m.worth.scores @ functionals.T
    means = [row @ scores for row in m.bulk.matrix]
    least = np.min([row @ (scores - mean) ** 2 for row, mean in zip(m.bulk.matrix, means, strict=True)], axis=0) / n
    by_hand += np.diag(np.maximum(0.0, least - np.diag(by_hand)))
    targets: tuple[Target, ...] = ("reporters", "population")
    for target in targets:
        assert np.allclose(estimate.covariance(target), by_hand, rtol=1e-12, atol=1e-15)
        assert estimate.variance(target) == pytest.approx(np.diag(by_hand), rel=1e-12)
    ends = estimate.interval()
    assert (ends.high - ends.low > 2 * np.sqrt(least)).all()


def test_frequencies_of_functionals_can_still_be_fitted() -> None:
    m = made(promise=LINE, objective="functional", functionals=[[1, 0, 0, 0]])
    tally = m.simulate_tally(np.array([4000, 3000, 2000, 1000]), dn.simulation(3))
    assert m.estimate(tally).labels == ("functional 0",)
    assert m.estimate(tally).value[0] == pytest.approx(0.4, abs=0.05)
    assert m.fit(tally).value.sum() == pytest.approx(1)


# ---- designs from elsewhere


def _tampered(m: Optimal, change: Any) -> Any:
    document = deepcopy(json.loads(json.dumps(m.design)))
    change(document)
    return document


def _move(document: Any, x: int, y: int, z: int, by: int) -> None:
    row = document["kernel"]["weights"][x]
    row[y], row[z] = str(int(row[y]) + by), str(int(row[z]) - by)


def test_a_wrong_whole_number_is_caught() -> None:
    m = made(promise=dn.promise(epsilon=1.0, k=3))
    with pytest.raises(PrivacyError, match=r"breaks its promise.*above e\^1"):
        from_design(_tampered(m, lambda d: _move(d, 0, 0, 1, 1 << 24)))
    with pytest.raises(DeniableError, match=r"sum is 2\*\*64|do not fit"):
        from_design(_tampered(m, lambda d: d["kernel"]["weights"][0].__setitem__(0, "5")))


def test_a_table_that_keeps_the_promise_but_not_the_error_is_caught() -> None:
    """Three halves noise: private, but not what it says."""
    m = made(promise=LINE)

    def blunt(d: Any) -> None:
        rows = [[int(w) for w in row] for row in d["kernel"]["weights"]]
        means = [sum(column) // len(rows) for column in zip(*rows, strict=True)]
        for row in rows:
            row[:] = [(w + mean) // 2 for w, mean in zip(row, means, strict=True)]
            row[0] += (1 << 64) - sum(row)
        d["kernel"]["weights"] = [[str(w) for w in row] for row in rows]

    with pytest.raises(FormatError, match="states an error of"):
        from_design(_tampered(m, blunt))
    with pytest.raises(FormatError, match="states an error of"):
        from_design(_tampered(m, lambda d: d["params"].__setitem__("error", m.error * (1 + 1e-5))))
    with pytest.raises(FormatError, match="states an error of"):
        from_design(_tampered(m, lambda d: d["params"].__setitem__("prior", [0.7, 0.1, 0.1, 0.1])))
    assert from_design(_tampered(m, lambda d: d["params"].__setitem__("error", m.error * (1 + 1e-8)))).k == 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"objective": "guess"}, "objective of optimal must be one of"),
        ({"functionals": [[1, 0]]}, "functionals of optimal must be"),
        ({"functionals": [[1, 0, 0, 0]]}, "functionals must be left out"),
        ({"values": [0, 1, 2, 3]}, "values must be left out unless objective is mean"),
        ({"case": "best"}, "case of optimal must be one of worst"),
        ({"error": math.nan}, "error of optimal must be a number|nan"),
        ({"blind": 1 << 60}, "blind must be whole"),
        ({"prior": [0.5, 0.5, 0.0, 0.0]}, "prior must be at least 1e-09"),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else "",
)
def test_parameters_from_elsewhere_are_not_believed(change: Any, told: str) -> None:
    document = _tampered(made(promise=LINE), lambda d: d["params"].update(change))
    with pytest.raises(DeniableError, match=told):
        from_design(document)


# ---- what is refused


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"promise": 1.0}, "promise must be a promise"),
        ({"promise": {"epsilon": 1, "k": 1}}, "k must be|one answer"),
        ({"promise": dn.promise(budgets=[[0, "inf"], ["inf", 0]])}, "no limit between any two answers"),
        (
            {"promise": dn.promise(budgets=[[0, 0, 1], [0, 0, 1], [1, 1, 0]], labels=["a", "b", "c"])},
            "0 between a and b",
        ),
        ({"promise": LINE, "epsilon": 1.0}, "epsilon must be the largest budget of the promise, 2.09"),
        ({"promise": LINE, "k": 5}, "promise must be one to 5 answers"),
        ({"promise": LINE, "prior": [1, 0, 0, 0]}, "prior must be at least 1e-09"),
        ({"promise": LINE, "prior": [0.5, 0.5, 0.5, 0.5]}, "prior must sum to 1"),
        ({"promise": LINE, "objective": "mean"}, "values must be given for objective mean"),
        ({"promise": LINE, "objective": "mean", "values": [1, 1, 1, 1]}, "values must be different for some"),
        ({"promise": LINE, "objective": "mean", "values": [1, 2, 3]}, "values must be 4 numbers"),
        ({"promise": LINE, "objective": "mean", "values": [1, 2, 3, math.nan]}, "values must be finite"),
        ({"promise": LINE, "objective": "mean", "values": "abcd"}, "values must be numbers"),
        ({"promise": LINE, "objective": "functional", "functionals": [[1, 2]]}, "functionals must be 4 numbers"),
        ({"promise": LINE, "values": [1, 2, 3, 4]}, "values must be left out"),
        ({"promise": LINE, "worst": "yes"}, "worst must be True or False"),
        ({"promise": LINE, "objective": "anything"}, "objective must be one of"),
        ({}, "optimal needs its own parameter promise|promise must be"),
    ],
)
def test_what_cannot_be_asked_for_is_said(own: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        dn.mechanism("optimal", **own)


def test_too_many_values_say_what_to_do() -> None:
    several = dn.promise(item_epsilon=[1] * 10 + [2] * 90, rule="min")
    with pytest.raises(
        EnumerationError, match=r"The least error is known here.* 185\.02\d*, summed(.|\n)*plan --promise"
    ):
        made(promise=several)
    with pytest.raises(EnumerationError, match=r"see affine and ussmix\.$"):
        made(promise=several, worst=True)
    with pytest.raises(EnumerationError, match="17 values are more than the 16"):
        made(promise=dn.promise(epsilon=1.0, k=17), worst=True)
    far = dn.promise(points=list(range(12)), epsilon=0.5)
    assert made(promise=far).properties()["gap"] < 1e-9


# ---- edges


def test_two_values_with_two_budgets() -> None:
    m = made(promise=dn.promise(budgets=[[0, 0.5], [2, 0]]))
    assert m.table.outputs == 2
    assert np.allclose(m.kept.budgets, [[0, 0.5], [2, 0]], atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 8.0, 40.0])
def test_small_and_large_budgets(epsilon: float) -> None:
    found = made(promise=dn.promise(epsilon=epsilon, k=4)).properties()
    assert found["gap"] < 1e-9
    assert found["mse"] >= 0
    known = dn.mechanism("ss", epsilon=epsilon, k=4).properties()
    assert found["mse"] == pytest.approx(known["mse"], rel=1e-7, abs=1e-15)


def test_budgets_that_follow_from_others_are_not_used_up() -> None:
    """Nothing can use a budget that is longer than a path, and what is kept says so."""
    loose = line(3, 1.0)
    loose[0, 2] = 5.0
    m = made(promise=dn.promise(budgets=loose.tolist()))
    assert m.kept.between(0, 2) <= 2.0 + 1e-12
    assert m.epsilon == 5.0


def test_one_harmless_answer_is_told_and_others_are_not() -> None:
    m = made(promise=dn.promise(epsilon=1.0, labels=["ill", "well"], sensitive=["ill"]), prior=[0.1, 0.9])
    assert m.protection.sensitive == (0, 1)
    assert m.kept.between("well", "ill") == math.inf
    assert m.kept.between("ill", "well") <= 1.0


def test_a_promise_by_its_arguments() -> None:
    given = {"item_epsilon": [1, 2, 3], "rule": "own", "labels": ["a", "b", "c"]}
    assert made(promise=given) == made(promise=dn.promise(**given))


def test_somebody_hears_of_long_work() -> None:
    heard: list[tuple[str, float]] = []
    made(promise=dn.promise(budgets=generic(4, seed=9).tolist()), worst=True, progress=lambda *told: heard.append(told))
    assert {what for what, _ in heard} == {"listing extreme outputs", "least favourable frequencies"}
    heard.clear()
    made(promise=dn.promise(budgets=generic(4, seed=10).tolist()), progress=lambda *told: heard.append(told))
    assert {what for what, _ in heard} == {"listing extreme outputs", "choosing outputs"}


# ---- many values that can be exchanged


@pytest.mark.parametrize(
    ("said", "prior", "row", "error"),
    [
        ({"epsilon": 1.0, "k": 1000}, None, "ss", 3674.33375),
        ({"epsilon": 1.0, "k": 625, "sensitive": 25}, [0.05 / 25] * 25 + [0.95 / 600] * 600, "ussmix", 58.0656),
        ({"epsilon": 1.0, "k": 40, "sensitive": [3, 5, 9]}, None, "ussmix", None),
    ],
)
def test_many_values_that_can_be_exchanged_have_the_row_that_is_their_optimum(
    said: dict[str, Any], prior: list[float] | None, row: str, error: float | None
) -> None:
    p = dn.promise(**said)
    m = dn.mechanism("optimal", promise=p, **({} if prior is None else {"prior": prior}))
    assert (m.name, m.k, m.epsilon) == (row, p.k, 1.0)
    known = m.properties()
    assert known["gap"] == pytest.approx(0, abs=1e-9)
    least = least_error(p, np.full(p.k, 1 / p.k) if prior is None else np.array(prior))
    assert least is not None
    assert known["mse"] * p.k == pytest.approx(least.error, rel=1e-6)
    assert error is None or known["mse"] * p.k == pytest.approx(error, rel=1e-5)
    assert implies(m.promise, p)
    assert dn.audit(m).holds
    assert dn.from_design(json.loads(json.dumps(m.design))) == m


@pytest.mark.parametrize(
    "asked",
    [
        {"promise": dn.promise(item_epsilon=[1] * 10 + [2] * 20, rule="min")},
        {"promise": dn.promise(epsilon=1.0, k=30), "worst": True},
        {"promise": dn.promise(epsilon=1.0, k=30), "prior": np.linspace(1, 2, 30) / 45},
        {"promise": dn.promise(epsilon=1.0, k=30), "objective": "mean", "values": list(range(30))},
    ],
)
def test_others_of_so_many_values_are_refused_with_what_to_do(asked: dict[str, Any]) -> None:
    with pytest.raises(EnumerationError, match=r"extreme outputs can be listed(.|\n)*Join values"):
        dn.mechanism("optimal", **asked)


@pytest.mark.parametrize(
    ("budgets", "told"), [(0, "got 0 where there is a limit"), ("inf", "got no limit between any")]
)
def test_nothing_to_tell_and_nothing_to_hide_are_told_apart(budgets: object, told: str) -> None:
    p = dn.promise(budgets=[[0, budgets], [budgets, 0]])
    for objective in ("frequency", "release"):
        with pytest.raises(ParameterError, match=told):
            dn.mechanism("optimal", promise=p, objective=objective)


def test_an_audit_says_what_the_design_says_where_less_follows_than_was_given() -> None:
    m = made(promise=dn.promise(item_epsilon=[1, 2, 3, 4], rule="min"))
    assert dn.audit(m).verdict == f"The promise is kept. {m.protection.text}"


def test_few_values_keep_their_table_and_epsilon_is_that_of_the_promise() -> None:
    assert dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=5)).name == "optimal"
    with pytest.raises(dn.ParameterError, match=r"epsilon must be left out, or 1\.0"):
        dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=30), epsilon=2.0)
