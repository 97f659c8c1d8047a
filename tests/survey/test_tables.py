"""Tables of two questions: golden costs, exact privacy of small designs, unbiasedness and covariance by enumeration."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.errors import ParameterError
from deniable.mechanisms.survey.joined import JoinedPart
from deniable.mechanisms.survey.shares import pair_shares, wanted
from deniable.mechanisms.survey.tables import (
    Tables,
    effects_parts,
    part_of,
    refuse_association,
    table_costs,
    table_parts,
)
from deniable_client.exact import exp_bounds

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tables.json").read_text())["settings"]
SMALL = {"a": 2, "b": 2, "c": 3}
MANY = 1 << 44
"""People of an expected tally: so many that its whole numbers are as good as exact."""


@pytest.mark.parametrize(
    "case", [row for row in GOLDEN if row["kind"] == "two_way_tables"], ids=lambda c: f"{c['k']}-{c['d']}"
)
def test_costs_and_shares_are_the_golden_ones(case: dict[str, Any]) -> None:
    questions = {f"q{i}": case["k"] for i in range(case["d"])}
    tables, told = math.comb(case["d"], 2), case["n_var_per_table"]
    costs = table_costs(questions, case["epsilon"])
    assert costs["effects"] / tables == pytest.approx(told["effects"], rel=1e-10)
    assert costs["pairs"] / tables == pytest.approx(told["pairs"], rel=1e-10)
    assert costs["split"] / tables == pytest.approx(told["spl"], rel=1e-10)
    assert costs["bound"] / tables == pytest.approx(case["bound"], rel=1e-10)
    plan = effects_parts(questions, case["epsilon"])
    assert plan.chances[0] == pytest.approx(case["q_main"], rel=1e-10)
    assert plan.chances[-1] == pytest.approx(case["q_pair"], rel=1e-10)
    best = table_parts(questions, case["epsilon"])
    assert best.cost == min(costs["effects"], costs["pairs"]) >= best.bound


def test_the_better_design_wins_and_none_is_below_the_bound() -> None:
    rng = np.random.default_rng(3)
    schemes = set()
    for _ in range(40):
        questions = {f"q{i}": int(k) for i, k in enumerate(rng.integers(2, 9, rng.integers(2, 6)))}
        weights = rng.uniform(0.2, 5.0, math.comb(len(questions), 2)).tolist()
        epsilon = float(rng.uniform(0.1, 4.0))
        plan, costs = table_parts(questions, epsilon, weights=weights), table_costs(questions, epsilon, weights=weights)
        assert plan.cost == min(costs["pairs"], costs["effects"])
        assert plan.cost >= costs["bound"] * (1 - 1e-12)
        schemes.add(plan.scheme)
    assert schemes == {"pairs", "effects"}


def test_shares_of_pairs_are_the_best() -> None:
    """No other shares cost less; the cost is convex, and at its least all pairs that are asked save the same."""
    want = wanted({"a": 2, "b": 3, "c": 5, "d": 4}, weights=[1, 2, 0.5, 1, 3, 1])
    cost, chances = pair_shares(1.0, want)
    assert sum(chances) == pytest.approx(1.0, rel=1e-12)

    def at(q: Any) -> float:
        found = 0.0
        known = dict.fromkeys(want.mains, 0.0)
        told = {}
        for pair, share in zip(want.tables, q, strict=True):
            a, b = want.sizes(pair)
            m = dn.mechanism("ss", epsilon=1.0, k=a * b, rounding="best")
            own = (a * b - 1) / (m.mse() * a * b + 1 - 1 / (a * b))
            told[pair] = share * own
            known[pair[0]] += share * own / b
            known[pair[1]] += share * own / a
        for pair, weight in zip(want.tables, want.weights, strict=True):
            a, b = want.sizes(pair)
            mains = (a - 1) / known[pair[0]] / b + (b - 1) / known[pair[1]] / a
            found += weight * (mains + (a - 1) * (b - 1) / told[pair])
        return found

    assert at(chances) == pytest.approx(cost, rel=1e-9)
    rng = np.random.default_rng(0)
    near = [np.array(chances) * np.exp(rng.normal(0, scale, 6)) for scale in (0.01, 0.1, 1.0) for _ in range(20)]
    assert all(at(q / q.sum()) > cost for q in near)


def channel_of(plan: Tables) -> tuple[list[tuple[int, ...]], list[list[Fraction]]]:
    """All sets of answers, and for each the chances of all reports of the whole deal."""
    records = list(product(*(range(domain.k) for domain in plan.questions.values())))
    answers = {name: [record[i] for record in records] for i, name in enumerate(plan.questions)}
    columns, total = plan.columns(answers), sum(plan.shares)
    rows: list[list[Fraction]] = [[] for _ in records]
    for name, m, share in zip(plan.names, plan.mechanisms, plan.shares, strict=True):
        channel = m.channel()
        for row, item in zip(rows, columns[name], strict=True):
            row += [Fraction(weights[item] * share, channel.total * total) for weights in channel.weights]
    return records, rows


@pytest.mark.parametrize("scheme", ["pairs", "effects"])
def test_exact_epsilon_of_all_answers_and_of_one(scheme: str) -> None:
    """Both are what one report has: a record is not protected less than an answer, nor an answer less than a record."""
    plan = table_parts({"a": 2, "b": 2, "c": 2}, 1.0, scheme=scheme)
    records, rows = channel_of(plan)
    assert all(sum(row) == 1 for row in rows)
    whole = max(max(p / q for p, q in zip(x, y, strict=True)) for x in rows for y in rows)
    one = max(
        max(p / q for p, q in zip(rows[i], rows[j], strict=True))
        for i, x in enumerate(records)
        for j, y in enumerate(records)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    )
    assert whole == one == max(m.proof.ratio or 0 for m in plan.mechanisms) <= exp_bounds(1.0)[0]


def population(plan: Tables) -> np.ndarray[Any, Any]:
    """Shares of all sets of answers, falling and with associations."""
    sizes = [domain.k for domain in plan.questions.values()]
    f = np.arange(math.prod(sizes), 0, -1.0) ** 2 + 5 * (np.arange(math.prod(sizes)) % 3 == 0)
    return (f / f.sum()).reshape(sizes)


def table_of(plan: Tables, one: str, two: str) -> np.ndarray[Any, Any]:
    names = list(plan.questions)
    away = tuple(i for i, name in enumerate(names) if name not in (one, two))
    found = population(plan).sum(axis=away)
    return found if names.index(one) < names.index(two) else found.T


def expected(plan: Tables) -> tuple[dict[str, Tally], dict[str, np.ndarray[Any, Any]]]:
    """The expected tally of every part, and the covariance of the shares that support its cells, from one report."""
    tallies, noise = {}, {}
    for name, m, chance in zip(plan.names, plan.mechanisms, plan.chances, strict=True):
        pair = next((pair for pair in plan.tables if part_of(*pair) == name), None)
        names = list(plan.questions)
        away = tuple(i for i, other in enumerate(names) if other != name)
        f = population(plan).sum(axis=away) if pair is None else table_of(plan, *pair)
        channel = m.channel()
        held = np.array([[x in own for x in range(m.k)] for own in channel.supported or ()], float)
        law = channel.matrix().T @ f.reshape(-1)
        share = law @ held
        n = round(MANY * chance)
        support = np.rint(n * share).astype(np.int64)
        if m.name == "ss":
            support[0] += n * m.params["size"] - support.sum()  # rounding must not change their sum
        tallies[name] = tally_of(m, n, support)
        noise[name] = (np.einsum("y,yi,yj->ij", law, held, held) - np.outer(share, share)) / n
    return tallies, noise


@pytest.mark.parametrize(("scheme", "pooled"), [("pairs", True), ("pairs", False), ("effects", True)])
@pytest.mark.parametrize("pair", [("a", "b"), ("c", "a"), ("b", "c")], ids=str)
def test_tables_are_unbiased_with_the_covariance_of_all_reports(scheme: str, pooled: bool, pair: Any) -> None:
    plan = table_parts(SMALL, 1.0, scheme=scheme)
    tallies, noise = expected(plan)
    table = plan.table(tallies, *pair, pooled=pooled)
    assert np.abs(table.value - table_of(plan, *pair)).max() < 1e-9
    assert table.value.sum() == pytest.approx(1.0, abs=1e-12)
    true = np.zeros((table.value.size, table.value.size))
    for name, matrix in noise.items():
        moves = slopes(plan, tallies, name, pair, pooled)
        true += moves @ matrix @ moves.T
    assert np.abs(table.covariance() - true).max() < 1e-6 * np.abs(true).max()
    joined = isinstance(table.estimate.parts["frequency"], JoinedPart)
    assert joined or (scheme, pooled) == ("pairs", False)
    if joined:  # of different people, so that there is no one group of reporters
        assert table.covariance("reporters").tolist() == table.covariance("population").tolist()
        assert table.estimate.variance("reporters") == pytest.approx(np.diag(true), rel=1e-5)
    for question in pair:
        value, matrix = table.margin(question)
        if pooled:
            margin = plan.margin(tallies, question)
            assert np.abs(value - margin.value).max() < 1e-12
            assert np.abs(matrix - margin.covariance("population")).max() < 1e-9 * np.abs(matrix).max()


def slopes(plan: Tables, tallies: dict[str, Tally], name: str, pair: Any, pooled: bool) -> np.ndarray[Any, Any]:
    """How the table moves with the share of a part's reports that support each cell.

    Estimates are linear, so that one step shows it. Reports of subset selection support equally many cells each, so
    there only moves from the first cell to another one are possible, and only these count.
    """
    m = plan.mechanisms[plan.names.index(name)]
    n, own = tallies[name].n, tallies[name].cells["support"][0]
    at, step = plan.table(tallies, *pair, pooled=pooled).value.reshape(-1), n >> 8
    found = []
    for x in range(m.k):
        moved = own.copy()
        moved[x] += step
        moved[0] -= step * (m.name == "ss")
        changed = {**tallies, name: tally_of(m, n, moved)}
        found.append((plan.table(changed, *pair, pooled=pooled).value.reshape(-1) - at) * (n / step))
    return np.array(found).T


def tally_of(m: Any, n: int, support: Any) -> Tally:
    cells = {"n": np.array([n]), "support": np.asarray(support)[None, :]}
    return Tally(m.design, m.bulk.strata, cells, simulated=True)


def test_people_end_to_end_with_labels() -> None:
    """Answers by label, dealt, reported and counted; tables and margins are within five standard errors."""
    rng = np.random.default_rng(1)
    n = 60_000
    smokes, sport = rng.integers(0, 2, n), rng.integers(0, 3, n)
    sport = np.where(smokes == 1, rng.integers(0, 2, n), sport)
    region = rng.integers(0, 4, n)
    answers = {"smokes": np.array(["no", "yes"])[smokes].tolist(), "sport": sport, "region": region}
    for scheme in ("pairs", "effects"):
        plan = table_parts({"smokes": ["no", "yes"], "sport": 3, "region": 4}, 2.0, scheme=scheme)
        tally = plan.mechanism.tally(plan.mechanism.privatize(plan.columns(answers), rng=dn.simulation(2)))
        table = plan.table(tally, "smokes", "sport")
        true = np.zeros((2, 3))
        np.add.at(true, (smokes, sport), 1 / n)
        assert (np.abs(table.value - true) < 5 * table.stderr).all()
        assert table.rows == ("no", "yes")
        assert table.columns == ("0", "1", "2")
        assert table.simulated
        told = table.to_columns()
        assert told["smokes"][:4] == ["no", "no", "no", "yes"]
        assert len(told["low"]) == 6
        turned = plan.table(tally, "sport", "smokes")
        assert np.allclose(turned.value.T, table.value)
        assert np.allclose(turned.stderr.T, table.stderr)
        assert "SIMULATED" in repr(table)


def test_a_single_pair_is_the_mechanism_itself() -> None:
    plan = table_parts({"a": 2, "b": 3}, 1.0)
    assert plan.scheme == "pairs"
    assert plan.mechanism.name == "ss"
    assert plan.mechanism.k == 6
    reports = plan.mechanism.privatize(plan.columns({"a": [0, 1, 1], "b": [2, 0, 1]})["a x b"], rng=dn.simulation(0))
    assert plan.table(reports, "a", "b").value.shape == (2, 3)


def test_what_cannot_be_told_is_refused_with_the_reason() -> None:
    plan = table_parts(SMALL, 1.0, tables=[("a", "b")])
    tallies, _ = expected(plan)
    with pytest.raises(ParameterError, match="a and c have no table: no report is about both"):
        plan.table(tallies, "a", "c")
    with pytest.raises(ParameterError, match="reports of the very same law"):
        refuse_association("a", "b")
    with pytest.raises(ParameterError, match="question must be one of a, b, c"):
        plan.table(tallies, "a", "d")
    empty = {name: m.empty() for name, m in zip(plan.names, plan.mechanisms, strict=True)}
    with pytest.raises(ParameterError, match="was not asked"):
        plan.table(empty, "a", "b")
    whole = effects_parts(SMALL, 1.0)
    with pytest.raises(ParameterError, match="pooled must be left out for effects"):
        whole.table({}, "a", "b", pooled=False)
    for questions, tables, weights, told in (
        ({"a": 2}, None, None, "at least two names"),
        (SMALL, [("a", "a")], None, "pairs of two"),
        (SMALL, [("a", "x")], None, "pairs of two of a, b, c"),
        (SMALL, [("a", "b"), ("b", "a")], None, "each pair once"),
        (SMALL, [], None, "a list of pairs"),
        (SMALL, None, [1, 2], "3 numbers > 0"),
        (SMALL, None, [1, 0, 1], "3 numbers > 0"),
        ({"a": 1, "b": 2}, None, None, "k must be an integer >= 2"),
    ):
        with pytest.raises(ParameterError, match=told):
            table_parts(questions, 1.0, tables=tables, weights=weights)
    with pytest.raises(ParameterError, match="scheme must be auto, pairs or effects"):
        table_parts(SMALL, 1.0, scheme="split")
