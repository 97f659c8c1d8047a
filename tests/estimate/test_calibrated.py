"""Calibrated estimates from reports with public coins: unbiased, with the gain that the theory predicts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.types import FloatArray, IntArray
from deniable.estimate.calibrated import _halves, calibrate
from deniable.estimate.simplex import project_simplex
from deniable.kernels.hashing import bucket
from deniable.kernels.permutation import permute


def heavy(k: int, n: int, share: float = 0.7) -> IntArray:
    """One item has a share of the people, the others are alike."""
    rest = int(n * (1 - share)) // (k - 1)
    return np.repeat(np.arange(k), [n - (k - 1) * rest, *[rest] * (k - 1)])


def frequencies(items: IntArray, k: int) -> FloatArray:
    return np.bincount(items, minlength=k) / items.size


def gain(m: Any, f: FloatArray) -> float:
    """Share of the plain MSE that public coins make, G/V: its part between coins, from its definition.

    With a constant chance of collision c, mu_i(coin, x) = (1[same bucket] - c)/(1 - c). G_i is the variance over coins
    of sum_x f_x mu_i: for buckets that are independent for different items (F - f_i^2)/(g - 1), F the sum of f^2.
    """
    total = float((f**2).sum())
    return float(((total - f**2) / (m.g - 1)).mean() / m.mse())


# ---- exact


@pytest.mark.parametrize("n", [3, 4, 7])
@pytest.mark.parametrize("name", ["lh", "plh"])
def test_both_halves_count_by_their_size_and_errors_are_those_of_a_sample(name: str, n: int) -> None:
    """Written anew: the guess of one half, and what the other one's reports say beyond it, weighed by their number."""
    m: Any = dn.mechanism(name, k=3, epsilon=1.0, g=2)
    columns = m.privatize_items(np.arange(n) % 3, dn.simulation(n)).columns
    parts = [{key: column[half] for key, column in columns.items()} for half in _halves(n)]
    held = [np.unpackbits(m.bulk.supported(p), axis=1, count=3, bitorder="little").astype(float) for p in parts]
    gap, q = m.support_effective.gap, m.support_effective.q
    rough = [project_simplex((h.mean(axis=0) - q) / gap) for h in held][::-1]
    rests = [h - m.bulk.given_coins(p, f) for h, p, f in zip(held, parts, rough, strict=True)]
    value = sum(len(r) / n * (f + r.mean(axis=0) / gap) for r, f in zip(rests, rough, strict=True))
    found = calibrate(m.bulk, columns)
    assert found.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    centred = np.concatenate([r - r.mean(axis=0) for r in rests])
    sample = centred.T @ centred / (n - 2) / gap**2 / n
    f = np.asarray(value)
    assert found.variance("population") == pytest.approx(np.diag(sample), rel=1e-9, abs=1e-12)
    own = np.maximum(np.diag(sample) - f * (1 - f) / n, 0.0)
    assert found.variance("reporters") == pytest.approx(own, rel=1e-9, abs=1e-12)
    off = ~np.eye(3, dtype=bool)
    assert found.covariance("population")[off] == pytest.approx(sample[off], rel=1e-9, abs=1e-12)
    assert found.covariance("reporters")[off] == pytest.approx((sample + np.outer(f, f) / n)[off], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["olh", "plh"])
def test_expectation_given_a_coin_is_that_of_the_response(name: str) -> None:
    """By the definition: p if the sender's item is in the same bucket, p' else, one item and one coin at a time."""
    m: Any = dn.mechanism(name, k=7, epsilon=1.0, **({"g": 3} if name == "plh" else {}))
    assert m.bulk.reader.coins is m.bulk
    f = np.array([0.4, 0.1, 0.0, 0.2, 0.1, 0.15, 0.05])
    seeds = dn.simulation(1).draw(64, 6).astype(np.uint64)
    found = m.bulk.given_coins({"seed": seeds}, f)
    p = m.support_effective.p
    for c, i in product(range(6), range(7)):
        seed = seeds[c : c + 1]
        place = {
            "olh": lambda x, s=seed: int(bucket(s, np.array([x]), m.g)[0]),
            "plh": lambda x, s=seed: int(permute(s, np.array([x]), 7)[0]) * m.g // 7,
        }[name]
        same = sum(f[x] for x in range(7) if place(x) == place(i))
        assert found[c, i] == pytest.approx(same * p + (1 - same) * (1 - p) / (m.g - 1), rel=1e-12)


def test_many_empty_buckets_are_numbered() -> None:
    m: Any = dn.mechanism("lh", k=5, epsilon=1.0, g=1 << 20)
    found = m.bulk.given_coins({"seed": np.arange(3, dtype=np.uint64)}, np.full(5, 0.2))
    p = m.support_effective.p
    assert found == pytest.approx(np.full((3, 5), 0.2 * p + 0.8 * (1 - p) / (m.g - 1)), rel=1e-9)


def test_over_all_coins_the_estimate_is_exactly_unbiased() -> None:
    """All g^k functions as the coins of two people, all reports, in floats: the mean of the estimate is the truth.

    Two people are the two halves; the sum goes over every coin and every report of both, with its probability.
    """
    k, g, p = 3, 2, 0.7
    functions = [np.array(h) for h in product(range(g), repeat=k)]

    class Coins:
        """Local hashing whose seed numbers one of the functions."""

        def __init__(self) -> None:
            self.k = k
            m: Any = dn.mechanism("lh", k=k, epsilon=float(np.log(p / (1 - p))), g=g)
            self.support = m.support

        def supported(self, columns: Any) -> Any:
            held = [functions[s] == v for s, v in zip(columns["seed"], columns["value"], strict=True)]
            return np.packbits(np.array(held), axis=1, bitorder="little")

        def given_coins(self, columns: Any, f: FloatArray) -> FloatArray:
            shares = [[f[functions[s] == functions[s][i]].sum() for i in range(k)] for s in columns["seed"]]
            return (1 - p) + (2 * p - 1) * np.array(shares)

    values = (0, 2)
    mean = np.zeros(k)
    for one, two, y, z in product(range(8), range(8), range(g), range(g)):
        chance = 1 / 64
        for s, x, answer in ((one, values[0], y), (two, values[1], z)):
            chance *= p if functions[s][x] == answer else 1 - p
        columns = {"seed": np.array([one, two], np.uint64), "value": np.array([y, z], np.uint8)}
        mean += chance * calibrate(Coins(), columns).value  # type: ignore[arg-type]
    assert mean == pytest.approx([0.5, 0.0, 0.5], abs=1e-12)


def test_halves_are_a_split_that_repeats() -> None:
    one, two = _halves(101)
    assert sorted([*one, *two]) == list(range(101))
    assert abs(one.size - two.size) == 1
    assert all((a == b).all() for a, b in zip(_halves(101), (one, two), strict=True))
    assert 10 < np.count_nonzero(one % 2) < 40  # not every second one


# ---- measured


def runs(m: Any, items: IntArray, count: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Plain and calibrated estimates, and the calibrated ones' variances, of repeated collections."""
    plain, tuned, spread = [], [], []
    for stream in dn.simulation(seed).spawn(count):
        reports = m.privatize_items(items, stream)
        plain.append(m.estimate(m.tally(reports)).value)
        found = m.fit(reports, "calibrated")
        tuned.append(found.value)
        spread.append(found.variance())
    return np.array(plain), np.array(tuned), np.array(spread)


@pytest.mark.slow
@pytest.mark.stat
def test_gain_of_olh_at_a_heavy_item() -> None:
    """k = 100, epsilon 4, 70 % item, 80 runs of 9,900: 10.3 % less error are predicted.

    The difference of the two errors of a run has a spread of about 7 % of the mean error, so 80 runs give a standard
    error near 0.8 %; alpha 1e-6 for both sides, and no gain at all would be rejected.
    """
    m, items = dn.mechanism("olh", k=100, epsilon=4.0), heavy(100, 9900)
    f = frequencies(items, 100)
    expected = gain(m, f)
    assert expected == pytest.approx(0.103, abs=5e-4)
    plain, tuned, spread = runs(m, items, 80, 2026)
    less = ((plain - f) ** 2).mean(axis=1) - ((tuned - f) ** 2).mean(axis=1)
    found = less / m.mse(items.size)  # type: ignore[attr-defined]
    error = float(found.std(ddof=1)) / np.sqrt(found.size)
    assert abs(found.mean() - expected) < 4.9 * error
    assert found.mean() > 4.9 * error
    assert np.abs((tuned.mean(axis=0) - f) / (tuned.std(axis=0, ddof=1) / np.sqrt(80))).max() < 6.5
    assert spread.mean() == pytest.approx(tuned.var(axis=0, ddof=1).mean(), rel=0.1)


@pytest.mark.stat
def test_uniform_frequencies_lose_and_gain_nothing() -> None:
    """k = 100, epsilon 4, 100 runs of 1,000: the theory says at most 0.2 %. Alpha 1e-6."""
    m, items = dn.mechanism("olh", k=100, epsilon=4.0), np.arange(1000) % 100
    f = frequencies(items, 100)
    plain, tuned, _ = runs(m, items, 100, 7)
    less = (((plain - f) ** 2).mean(axis=1) - ((tuned - f) ** 2).mean(axis=1)) / m.mse(1000)  # type: ignore[attr-defined]
    error = float(less.std(ddof=1)) / 10
    assert error < 0.004
    assert abs(less.mean() - gain(m, f)) < 4.9 * error


@pytest.mark.stat
@pytest.mark.slow
def test_gain_of_balanced_hashing_at_a_heavy_item() -> None:
    """k = 100, g = 50, epsilon 4: 7.6 % by ((w-1)/(k-w))(F - 1/k), w = k/g = 2. 100 runs of 3,300, alpha 1e-6."""
    m, items = dn.mechanism("plh", k=100, epsilon=4.0), heavy(100, 3300)
    assert m.params == {"g": 50}
    f = frequencies(items, 100)
    expected = ((f**2).sum() - 0.01) / 98 / m.mse()  # type: ignore[attr-defined]
    assert expected == pytest.approx(0.076, abs=5e-4)
    plain, tuned, _ = runs(m, items, 100, 11)
    less = (((plain - f) ** 2).mean(axis=1) - ((tuned - f) ** 2).mean(axis=1)) / m.mse(3300)  # type: ignore[attr-defined]
    error = float(less.std(ddof=1)) / 10
    assert abs(less.mean() - expected) < 4.9 * error
    assert less.mean() > 4.9 * error


@pytest.mark.stat
def test_intervals_cover() -> None:
    """90 % intervals of 16 items in 150 runs, both targets; five binomial standard errors."""
    m, k = dn.mechanism("olh", k=16, epsilon=2.0), 16
    people = heavy(k, 1600)
    f = frequencies(people, k)
    law = np.concatenate([[0.7], np.full(15, 0.02)])
    reporters, population = [], []
    for stream in dn.simulation(3).spawn(150):
        reporters.append(m.fit(m.privatize_items(people, stream), "calibrated").interval(0.9).covers(f))
        drawn = stream.generator().choice(k, size=1600, p=law)
        found = m.fit(m.privatize_items(drawn, stream), "calibrated")
        population.append(found.interval(0.9, "population").covers(law))
    for hits in (reporters, population):
        assert np.mean(hits) == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / 2400))


# ---- as a method of fit


def test_fit_says_what_was_done_and_takes_batches() -> None:
    m = dn.mechanism("olh", k=20, epsilon=2.0)
    reports = m.privatize(heavy(20, 600), rng=dn.simulation(1))
    found = m.fit(reports, "calibrated")
    assert found.n == 600
    assert not found.biased
    assert found.simulated
    assert "calibrated to their public coins" in found.steps[0]
    assert (m.fit([reports[:100], reports[100:]], "calibrated").value == found.value).all()
    matrix = found.covariance()
    assert np.diag(matrix) == pytest.approx(found.variance())
    assert np.linalg.eigvalsh(found.covariance("population")).min() > -1e-12
    assert abs(found.project().value.sum() - 1) < 1e-12


def test_what_has_no_coins_is_refused() -> None:
    m = dn.mechanism("oue", k=20, epsilon=2.0)
    with pytest.raises(dn.ParameterError, match="public hash seed"):
        m.fit(m.privatize([1, 2, 3]), "calibrated")
    h = dn.mechanism("olh", k=20, epsilon=2.0)
    with pytest.raises(dn.ParameterError, match="a tally does not keep"):
        h.fit(h.tally(h.privatize([1, 2, 3])), "calibrated")
    with pytest.raises(dn.ParameterError, match="at least 2"):
        h.fit(h.privatize([1]), "calibrated")
