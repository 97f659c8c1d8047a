"""Mechanisms that are a table with limits: exactly what they sample, promise, keep and estimate."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.promise.judge import enumerated
from deniable.mechanisms.optimal.ratios import largest_ratios
from deniable.mechanisms.optimal.rounding import table_of
from deniable.mechanisms.optimal.written import Written, budgets_of
from deniable.testing import conformance
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Channel
from deniable_client.words import ReplayWords

WORD, HALF = 1 << 64, 1 << 63
INF = math.inf
QUIET = ["rows", "privacy", "protection", "closed_forms", "merge", "bytes", "reports", "unbiased"]

OPEN = Channel(((HALF, HALF, 0), (HALF // 2, HALF // 2, HALF)), ((0.0, 0.7), (INF, 0.0)))
BLOCKS = Channel(
    (
        (HALF + (HALF >> 1), HALF >> 1, 0, 0),
        (HALF >> 1, HALF + (HALF >> 1), 0, 0),
        (0, 0, HALF + (HALF >> 3), HALF - (HALF >> 3)),
        (0, 0, HALF - (HALF >> 3), HALF + (HALF >> 3)),
    ),
    ((0.0, 1.1, INF, INF), (1.1, 0.0, INF, INF), (INF, INF, 0.0, 0.5), (INF, INF, 0.5, 0.0)),
)


def written(table: Channel, labels: Any = None, **own: Any) -> Written:
    return Written.of_table(table, Domain.of(labels or table.k), **own)


def line(k: int, epsilon: float) -> Written:
    """Geometric noise between neighbours, made for `epsilon` a step."""
    budgets = dn.promise(points=list(range(k)), epsilon=epsilon)
    rows = [[math.exp(-epsilon * abs(x - y) / 2) for y in range(k)] for x in range(k)]
    ideal = [[p / sum(row) for p in row] for row in rows]
    return written(table_of(ideal, budgets_of(budgets)))


@pytest.mark.parametrize(
    "m", [written(OPEN, ["ill", "well"]), written(BLOCKS), line(4, 0.8)], ids=["open", "blocks", "line"]
)
def test_it_conforms_whatever_its_limits_are(m: Written) -> None:
    outcomes = dict(conformance(m, checks=QUIET))
    assert "by enumeration" in outcomes["privacy"]
    assert "all moments of frequency" in outcomes["closed_forms"]


def test_a_mechanism_that_draws_by_another_table_is_noticed() -> None:
    assert "follow the law" in dict(conformance(line(3, 1.0), checks=["sampler"]))["sampler"]
    assert "are rejected" in dict(conformance(line(3, 1.0), checks=["power"]))["power"]


class Replay:
    """A stream of given words."""

    def __init__(self, words: list[int]) -> None:
        self.words = np.array(words, np.uint64)

    def draw(self, bits: int, size: int) -> Any:
        assert (bits, size) == (64, self.words.size)
        return self.words


def test_many_people_draw_what_one_device_draws() -> None:
    """The largest word of all is below no threshold, and an output that never comes must not come of it either."""
    for m in (written(OPEN), written(BLOCKS)):
        edges = {0, 1, WORD - 1} | {
            c + d for row in m.table.weights for c in np.cumsum(row, dtype=object) for d in (-1, 0)
        }
        words = sorted(word for word in edges if 0 <= word < WORD)
        for x in range(m.k):
            bulk = m.bulk.perturb(np.full(len(words), x), Replay(words))["value"]  # type: ignore[arg-type]
            one = [m.table.randomise(x, ReplayWords([word]))[0] for word in words]
            assert bulk.tolist() == one


def check_scores(m: Written) -> None:
    """(W4) and (W5), by hand: the estimate of a tally is by the scores at the prior, and its variances are theirs."""
    tally = m.tally(m.privatize([0, 0, 1, 2, 3] * 20, rng=dn.simulation(4)))
    share = tally.cells["value"][0] / 100
    estimate = m.estimate(tally)
    assert np.allclose(estimate.value, share @ m.scores, rtol=0, atol=1e-13)
    squares = m.scores.T @ np.diag(share) @ m.scores - np.outer(estimate.value, estimate.value)
    assert np.allclose(estimate.covariance("population"), squares / 100, rtol=0, atol=1e-13)
    others = share @ np.linalg.pinv(m.bulk.matrix)
    assert np.abs(estimate.value - others).max() > 1e-3, "the pseudo-inverse says something else"


def test_estimates_are_exactly_unbiased_and_best_at_the_prior() -> None:
    """With more outputs than answers there are many unbiased estimates; with as many there is only one."""
    ideal = [[math.exp(-0.4 * abs(2 * x - y) / 2) for y in range(7)] for x in range(4)]
    m = written(table_of([[p / sum(row) for p in row] for row in ideal], budgets_of(dn.promise(epsilon=2.0, k=4))))
    for prior in (None, (0.7, 0.1, 0.1, 0.1)):
        own = written(m.table, prior=prior)
        assert np.allclose(own.bulk.matrix @ own.scores, np.eye(4), rtol=0, atol=1e-13)
        others = [written(m.table, prior=tuple(p / sum(q) for p in q)) for q in ((1, 2, 3, 4), (1, 1, 1, 5))]
        f = own._prior
        errors = [float((f @ own.bulk.matrix @ each.scores**2).sum() - 1) for each in (own, *others)]
        assert errors[0] == pytest.approx(own.mse_sum(), rel=1e-12)
        assert errors[0] * 1.001 < min(errors[1:])
        check_scores(own)
    assert own.properties(10)["mse_sum"] == pytest.approx(own.mse_sum() / 10)


def test_a_channel_without_an_inverse_points_to_fitting() -> None:
    same = Channel(((HALF, HALF), (HALF, HALF), (HALF // 2, HALF + HALF // 2)), tuple(map(tuple, 1.0 - np.eye(3))))
    m = written(same)
    assert m.rank == 2
    assert "mse" not in m.properties()
    tally = m.tally(m.privatize([0, 1, 2] * 20, rng=dn.simulation(3)))
    with pytest.raises(dn.ParameterError, match=r"rank 2, below the 3 answers.*fit"):
        m.estimate(tally)
    with pytest.raises(dn.ParameterError, match=r"rank 2, below the 3 answers.*fit"):
        dn.study([m], data="zipf", n=60, runs=1)
    assert m.fit(tally).value.sum() == pytest.approx(1)


def test_what_is_kept_is_the_exact_largest_ratio_of_each_pair() -> None:
    rng = random.Random(5)
    for _ in range(60):
        k, outputs = rng.randint(2, 5), rng.randint(2, 6)
        rows = []
        for _ in range(k):
            row = [rng.choice([0, 1, 2, 3, rng.randrange(1 << 40)]) for _ in range(outputs)]
            row[rng.randrange(outputs)] += 1
            rows.append(row)
        found = largest_ratios(rows)
        for x in range(k):
            for z in range(k):
                pairs = list(zip(rows[x], rows[z], strict=True))
                true = None if any(a and not b for a, b in pairs) else max(Fraction(a, b) for a, b in pairs if b)
                assert found[x][z] == true


def test_a_table_that_breaks_a_limit_is_refused_with_the_pair() -> None:
    broken = Channel(((HALF, HALF), (HALF // 4, WORD - HALF // 4)), ((0.0, 1.0), (1.0, 0.0)))
    with pytest.raises(dn.PrivacyError, match=r"report 0 is 4 times as likely for yes as for no, above e\^1 = 2\.718"):
        written(broken, ["yes", "no"])
    with pytest.raises(dn.PrivacyError, match="possible for one and impossible for the other"):
        written(Channel(OPEN.weights, ((0.0, 0.7), (5.0, 0.0))))


def test_every_pair_of_a_metric_promise_is_audited() -> None:
    m = line(5, 0.6)
    found = dn.audit(m)
    assert found.holds
    assert sorted({pair.budget for pair in found.pairs}) == pytest.approx([0.6, 1.2, 1.8, 2.4])
    assert all(pair.kept for pair in enumerated(m.promise, [m.channel()]))
    assert m.kept.between(0, 4) <= m.promise.between(0, 4) == m.epsilon


@pytest.mark.parametrize("seed", range(12))
def test_rounding_keeps_every_limit_and_gives_little_away(seed: int) -> None:
    """Random matrices at exactly their own limits, some without any: whole numbers stay within, and near."""
    rng = np.random.default_rng(seed)
    k, outputs = rng.integers(2, 6), rng.integers(2, 7)
    ideal = rng.dirichlet(np.full(outputs, 0.7), size=k) + 1e-3
    ideal /= ideal.sum(axis=1, keepdims=True)
    if seed % 2:
        ideal[0, 0] = 0.0
        ideal[0] /= ideal[0].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(ideal[:, None] > 0, np.log(ideal[:, None] / ideal[None]), -INF).max(axis=2)
    budgets = np.where(np.eye(k), 0.0, np.maximum(logs, 1e-3))
    table = table_of(ideal.tolist(), tuple(map(tuple, budgets.tolist())))
    assert not list(table.breaches())
    assert all(sum(row) == WORD for row in table.weights)
    near = np.array(table.weights, np.float64) / WORD
    assert np.abs(near[:, :outputs] - ideal).max() < 1e-11
    assert not seed % 2 or table.weights[0][0] == 0


def test_a_matrix_beyond_its_limits_is_no_matter_of_rounding() -> None:
    with pytest.raises(dn.PrivacyError, match="farther beyond what is promised"):
        table_of([[0.5, 0.5, 0.0], [0.1, 0.4, 0.5]], ((0.0, 1.0), (INF, 0.0)))


def test_other_budgets_are_in_proportion() -> None:
    m = line(4, 0.8)
    half = m.at(m.epsilon / 2)
    assert half.epsilon == m.epsilon / 2
    assert half.promise.between(0, 1) == pytest.approx(0.4)
    assert half.proof.ratio <= exp_bounds(half.epsilon)[0]
    assert math.log(half.proof.ratio) == pytest.approx(math.log(m.proof.ratio) / 2, rel=0.1)
    assert written(OPEN).at(1.4).table.weights[0][2] == 0


def test_a_design_is_read_as_it_is_and_not_made_again() -> None:
    m = written(BLOCKS, ["a", "b", "c", "d"], prior=(0.1, 0.2, 0.3, 0.4))
    again = Written.of_design(m.design, m.domain)
    assert again == m
    assert again.design == m.design


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"prior": (0.5, 0.6)}, "prior must sum to 1"),
        ({"prior": (1.0,)}, "prior must be 2 finite numbers"),
        ({"epsilon": 0.8}, "epsilon must be the largest limit of the table, 0.7"),
        ({"domain": Domain.of(3)}, "a table of 2 values"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(own: dict[str, Any], said: str) -> None:
    with pytest.raises(dn.ParameterError, match=said):
        Written(**({"epsilon": 0.7, "domain": Domain.of(2), "table": OPEN} | own))


def test_estimates_at_a_prior_need_every_answer_and_a_promise_some_limit() -> None:
    m = written(OPEN, prior=(1.0, 0.0))
    with pytest.raises(dn.ParameterError, match="prior must be at least 1e-09 for each answer"):
        m.estimate(m.privatize([0, 1] * 5, rng=dn.simulation(1)))
    with pytest.raises(dn.ParameterError, match="at least one finite budget"):
        written(Channel(((WORD, 0), (0, WORD)), ((0.0, INF), (INF, 0.0))))
