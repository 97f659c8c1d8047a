"""The best channel for an estimate: golden optima, certificates, whole numbers, and known optima of other rooms."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.frontier import least_mse
from deniable.core.laws import epsilon_to
from deniable.core.types import FloatArray
from deniable.errors import DeniableError
from deniable.mechanisms.metric.baselines import geometric
from deniable.mechanisms.optimal.certificate import certified
from deniable.mechanisms.optimal.estimation import Found, best, written
from deniable.mechanisms.optimal.extremes import extremes
from deniable.mechanisms.optimal.goal import Goal, Worth
from deniable.mechanisms.optimal.whole import Whole, shares_of, whole
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable_client.exact import exp_bounds
from optimal.promises import GOLDEN, budgets_of_case, functionals_of, generic, line, random_promise

WORD = 1 << 64


def solved(budgets: FloatArray, prior: FloatArray | None = None, functionals: FloatArray | None = None) -> Found:
    k = len(budgets)
    f = np.full(k, 1 / k) if prior is None else prior
    return best(extremes(budgets), Goal(f, np.eye(k) if functionals is None else functionals))


def kept(table: Whole, budgets: FloatArray) -> bool:
    """Whether whole numbers sum to 2^64 and are within every budget, by their definition."""
    k = len(budgets)
    lows = {(x, z): exp_bounds(float(budgets[x, z]))[0] for x in range(k) for z in range(k) if budgets[x, z] < math.inf}
    return all(sum(column[x] for column in table.columns) == WORD for x in range(k)) and all(
        column[x] <= low * column[z] for column in table.columns for (x, z), low in lows.items()
    )


# ---- golden numbers


@pytest.mark.parametrize("case", GOLDEN["estimation"], ids=lambda case: case["id"])
def test_golden_optima_in_whole_numbers(case: Any) -> None:
    budgets, prior = budgets_of_case(case), np.array(case["prior"])
    found = solved(budgets, prior / prior.sum(), functionals_of(case))
    mean = case["id"].startswith("mean")
    assert found.error == pytest.approx(case["mse"], rel=GOLDEN["tolerance"]["mean" if mean else "mse"])
    assert found.gap < (1e-8 if mean else 1e-12)
    assert found.least <= found.error
    table = written(found, budgets)
    own = Worth(found.worth.goal, table.matrix)
    assert kept(table, budgets)
    assert own.error == pytest.approx(found.error, rel=2e-12)
    assert own.certificate(found.every).gap < (1e-8 if mean else 1e-9)
    assert table.blind_share < 1e-12


@pytest.mark.parametrize("case", GOLDEN["whole_numbers"], ids=lambda case: case["id"])
def test_golden_whole_numbers_digit_by_digit(case: Any) -> None:
    weights = np.array([float.fromhex(w) for w in case["weights_hex"]])
    shares = shares_of(np.array(case["potentials"], np.int64), case["unit_bits"], weights)
    table = whole(shares, budgets_of_case(case))
    assert [list(column) for column in table.columns] == case["rows_out_of_2^64"]
    assert table.blind == case["blind_units"]


# ---- any promise


def _random_channel(budgets: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A channel that keeps a promise and has nothing to do with extreme outputs: mixed with noise as far as needed."""
    k = len(budgets)
    sharp = rng.dirichlet(np.full(k + 3, rng.choice([0.1, 0.5, 2.0])), size=k)
    blunt = rng.dirichlet(np.ones(k + 3))
    limit = np.exp(np.where(np.isfinite(budgets), budgets, 700.0) + np.eye(k))[:, :, None]
    excess = np.maximum(sharp[:, None] - limit * sharp[None], 0.0)
    room = (limit - 1) * blunt
    share = 0.999999 * float((room / (excess + room)).min())
    found = share * sharp + (1 - share) * blunt
    assert (found[:, None] <= limit * found[None] * (1 + 1e-12)).all()
    return found


def _spread(matrix: FloatArray, prior: FloatArray) -> float:
    """n times the summed variance of the best unbiased linear estimates, people being drawn: straight from the book."""
    chance = prior @ matrix
    return float(np.trace(np.linalg.inv((matrix / chance) @ matrix.T)) - prior @ prior)


def _check(rng: np.random.Generator, endless: bool) -> None:
    budgets, prior = random_promise(rng, endless=endless)
    found = solved(budgets, prior)
    table = written(found, budgets)
    own = Worth(found.worth.goal, table.matrix)
    before, after = (worth.used[0].spread(worth.used[1]) for worth in (found.worth, own))
    assert kept(table, budgets)
    assert after <= before * (1 + 2e-12)
    assert own.certificate(found.every).gap < 1e-9
    assert np.allclose(table.matrix @ own.scores, np.eye(len(budgets)), atol=1e-7), "an estimate with a bias"
    for _ in range(3):
        other = _spread(_random_channel(budgets, rng), prior)
        assert not other < before * (1 - found.gap - 1e-9)


@pytest.mark.parametrize("endless", [False, True])
def test_random_promises_are_kept_and_nothing_is_better(endless: bool) -> None:
    rng = np.random.default_rng(31 + endless)
    for _ in range(13):
        _check(rng, endless)


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("part", range(10))
def test_many_random_promises_are_kept_and_nothing_is_better(part: int) -> None:
    rng = np.random.default_rng(100 + part)
    for i in range(50):
        _check(rng, bool(i % 2))


def test_a_worse_channel_has_no_better_certificate() -> None:
    """The certificate is not a compliment: what is 1 % above the least says so, and no random choice is certified."""
    found = solved(line(4, 0.7))
    matrix = found.worth.matrix
    blunt = 0.99 * matrix + 0.01 * matrix.mean(axis=0)
    proof = Worth(found.worth.goal, blunt).certificate(found.every)
    assert proof.spread > 1.005 * found.worth.certificate(found.every).spread
    assert proof.least <= found.worth.certificate(found.every).least * (1 + 1e-12)
    assert proof.gap > 0.005


def test_certificates_hold_for_any_line() -> None:
    """A bound that is checked against all extremes: with some of them left out it would be too large."""
    found = solved(generic(5, seed=2))
    problem = found.worth.goal.problem(found.every.rays)
    used = np.flatnonzero(found.chance)
    skewed = found.chance[used] * np.linspace(0.5, 1.5, used.size)
    whole_proof = certified(problem, problem.some(used), skewed / skewed.sum())
    few = certified(problem.some(used), problem.some(used), skewed / skewed.sum())
    true = found.worth.certificate(found.every).spread
    assert whole_proof.least <= true
    assert few.least >= whole_proof.least


# ---- whole numbers


def test_a_channel_that_breaks_its_promise_is_refused_not_mended() -> None:
    """Weights 1.2 times too large would be a table that keeps the promise and mostly says nothing."""
    found = solved(line(3, 0.5))
    used = np.flatnonzero(found.chance)
    tops = found.chance[used] / (found.every.rays[used] @ found.worth.goal.prior)
    with pytest.raises(DeniableError, match="no whole numbers near this channel keep the promise"):
        whole(shares_of(found.every.potentials[used], found.every.bits, 1.2 * tops), line(3, 0.5))


def test_a_budget_that_is_too_small_for_64_bits_is_refused() -> None:
    with pytest.raises(DeniableError, match=r"smallest budget is 1e-07; budgets of 0\.0002 or more leave room"):
        written(solved(line(3, 1e-7)), line(3, 1e-7))


def test_small_budgets_cost_nothing_in_whole_numbers() -> None:
    found = solved(line(8, 0.001))
    assert found.error == pytest.approx(1.197644e7, rel=1e-6)
    assert found.gap < 1e-11
    own = Worth(found.worth.goal, written(found, line(8, 0.001)).matrix)
    assert own.error == pytest.approx(found.error, rel=1e-9)


def test_components_keep_what_is_left_as_an_output_of_its_own() -> None:
    """No output is possible for all values, so that the rest cannot be joined to one."""
    budgets = np.array(dn.promise(blocks=[2, 2], inside=1, across="inf").budgets)
    table = written(solved(budgets), budgets)
    assert kept(table, budgets)
    full = [column for column in table.columns if min(column) > 0]
    assert len(full) == 1
    assert max(full[0]) < 1e-12 * WORD


def test_shares_are_exact_for_potentials_beyond_the_digits_of_floats() -> None:
    """e^-u to 2^-100, where u has more than 53 binary digits."""
    units = (39 << 50) + 12345
    share = shares_of(np.array([[units, 0]], np.int64), 50, np.ones(1))[0][1]
    low, high = exp_bounds(39.0)
    more = Fraction(12345, 1 << 50)
    assert WORD / (high * (1 + more + more**2)) <= share <= WORD / (low * (1 + more))


def test_no_limit_at_all_tells_every_value_also_rare_ones() -> None:
    """Sums are exact where weights are ten thousand times apart."""
    endless = np.array([[0, math.inf], [math.inf, 0]])
    found = solved(endless, np.array([0.9999, 0.0001]))
    assert found.error == pytest.approx(0.0, abs=1e-12)
    assert written(found, endless).matrix == pytest.approx(np.eye(2), abs=1e-12)


# ---- known optima


@pytest.mark.parametrize(("k", "epsilon"), [(3, 0.5), (4, 4.0), (6, 2.0), (8, 1.0), (12, 1.0)])
def test_one_epsilon_is_subset_selection(k: int, epsilon: float) -> None:
    assert solved(epsilon * (1 - np.eye(k))).error == pytest.approx(k * least_mse(k, epsilon), rel=1e-10)


@pytest.mark.parametrize(("s", "m", "epsilon", "theta"), [(3, 2, 1.0, 0.95), (4, 3, 2.0, 0.5), (2, 5, 0.5, 0.8)])
def test_sensitive_answers_have_the_known_optimum(s: int, m: int, epsilon: float, theta: float) -> None:
    budgets = dn.promise(epsilon=epsilon, k=s + m, sensitive=s).budgets
    prior = np.array([(1 - theta) / s] * s + [theta / m] * m)
    known = least_mse_sum(s, m, theta, *epsilon_to(epsilon))
    assert solved(budgets, prior).error == pytest.approx(known, rel=1e-10)


def test_geometric_noise_is_best_for_a_mean_on_a_line() -> None:
    """Its level is for the whole line: 5 steps of 0.6."""
    values = np.linspace(-1, 1, 6)[None]
    noise = Worth(Goal(np.full(6, 1 / 6), values), geometric(6, 3.0))
    found = solved(line(6, 0.6), functionals=values)
    assert found.error == pytest.approx(0.66256, rel=1e-5)
    assert noise.error == pytest.approx(found.error, rel=1e-8)


# ---- work


@pytest.mark.slow
def test_eight_values_take_a_moment() -> None:
    start = time.process_time()
    found = solved(generic(8, seed=5))
    written(found, generic(8, seed=5))
    assert found.gap < 1e-12
    assert time.process_time() - start < 2


_MEASURED = """
import sys, time
import numpy as np
import deniable as dn
from fuzz.memory import largest_memory
k = int(sys.argv[1])
budgets = np.random.default_rng(k).uniform(1, 1.9, (k, k))
np.fill_diagonal(budgets, 0)
p = dn.promise(budgets=budgets.tolist())
start = time.process_time()
found = dn.mechanism("optimal", promise=p).properties()
print(time.process_time() - start, largest_memory(), found["gap"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("k", "seconds", "megabytes"), [(8, 2, 200), (10, 30, 500)])
def test_any_promise_to_eight_or_ten_values(k: int, seconds: float, megabytes: float) -> None:
    """Processor time and memory of a process of its own, with all that it loads."""
    line = [sys.executable, "-c", _MEASURED, str(k)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads that wait would count as work
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1], env=alone)
    spent, held, gap = map(float, done.stdout.split())
    assert spent < seconds
    assert held < megabytes
    assert gap < 1e-9
