"""The oracles beyond the four basic families: golden numbers, exact channels, laws of their own, edge cases."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

import deniable as dn
from deniable.kernels import geometry, permutation, reference, using
from deniable.mechanisms.frequency.histogram import THE
from deniable.mechanisms.frequency.noise import asr_laplace, asr_laplace_prior
from deniable_client.hashing import hash32, permute, unpermute
from deniable_client.kernels import Balanced, Hadamard, Laplace, Projective, Wheel
from deniable_client.kernels.geometry import point, point_index, points
from deniable_client.words import SystemWords

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "oracles.json").read_text())
SETTINGS = [pytest.param(row, id=f"k={row['k']}-eps={row['epsilon']}") for row in GOLDEN]


def make(name: str, **arguments: Any) -> Any:
    return dn.mechanism(name, **arguments)


@pytest.mark.parametrize("row", SETTINGS)
def test_thresholding_equals_golden(row: dict[str, Any]) -> None:
    m, want = make("the", epsilon=row["epsilon"], k=row["k"]), row["the"]
    found = {
        "theta": m.theta,
        "epsilon_effective": m.leak,
        "p_star": m.support.p,
        "q_star": m.support.q,
        "mse_approx": m.mse_approx(),
        "mse_full": m.mse(),
        "asr": m.asr,
    }
    assert found == pytest.approx(want, rel=1e-12)
    assert m.epsilon_exact == pytest.approx(want["epsilon_effective"], rel=1e-9)
    assert m.epsilon_exact < row["epsilon"]


@pytest.mark.parametrize("row", SETTINGS)
def test_summing_equals_golden_and_its_grid_changes_less_than_a_millionth(row: dict[str, Any]) -> None:
    m, want = make("she", epsilon=row["epsilon"], k=row["k"]), row["she"]
    found = m.properties()
    assert (found["mse"], found["mse_approx"]) == pytest.approx((want["mse_full"], want["mse_approx"]), rel=1e-12)
    assert found["asr"] == pytest.approx(want["asr"], rel=1e-12)
    assert m.effective()["mse"] == pytest.approx(want["mse_full"], rel=1e-6)
    assert m.epsilon_exact <= row["epsilon"]


@pytest.mark.parametrize("row", SETTINGS)
def test_balanced_hashing_equals_golden(row: dict[str, Any]) -> None:
    m, want = make("plh", epsilon=row["epsilon"], k=row["k"]), row["plh"]
    assert m.g == want["g"]
    assert (m.support.p, m.support.q) == pytest.approx((want["p_star"], want["q_star"]), rel=1e-12)
    assert (m.mse(), m.mse_approx(), m.asr) == pytest.approx(
        (want["mse_full"], want["mse_approx"], want["asr"]), rel=1e-9
    )


def test_sampled_sums_guess_converges_to_the_continuous_one() -> None:
    """The grid's effect on the best guess falls by four with every bit: at 16 bits it is far below a millionth."""
    closed = asr_laplace(2, 2.0)
    errors = [make("she", epsilon=2.0, k=2, grid=g).guess().success - closed for g in (0, 1, 2, 3, 8)]
    assert all(a > 3.5 * b > 0 for a, b in pairwise(errors[:4]))
    assert errors[4] == pytest.approx(errors[3] / 4.0**5, rel=0.01)
    assert 0 < make("she", epsilon=2.0, k=2).guess().success - closed < 1e-11


def test_sums_of_coarse_steps_tell_more_than_continuous_noise() -> None:
    """Of two answers, one twice as likely: by continuous noise they tell less than whole steps do."""
    m = make("she", epsilon=2.0, k=2, grid=0, reach=6)
    prior = [Fraction(2, 3), Fraction(1, 3)]
    found = m.guess([float(v) for v in prior]).success
    assert found == pytest.approx(float(m.channel().asr(prior)), rel=1e-14)
    assert asr_laplace_prior(np.array([2 / 3, 1 / 3]), 2.0) < found - 0.005
    assert m.effective()["asr"] == pytest.approx(float(m.channel().asr()), rel=1e-14)


def test_priors_of_very_many_shares_are_for_fine_steps() -> None:
    """Where going through all steps would take too long, continuous noise stands for fine ones and is refused else."""
    prior = np.arange(1, 2001) / 2_001_000
    fine, coarse = make("she", epsilon=1.0, k=2000), make("she", epsilon=2.0, k=2000, grid=12)
    assert fine.guess(prior).success == asr_laplace_prior(prior, 1.0)
    with pytest.raises(dn.ParameterError, match="prior must be fewer of them for so coarse a grid"):
        coarse.guess(prior)
    assert coarse.guess().success == pytest.approx(asr_laplace(2000, 2.0), rel=1e-6)


# ---- exact channels


@pytest.mark.stat
def test_best_guess_from_sums_under_a_prior_in_simulation() -> None:
    """400,000 reports, alpha 1e-4; a guess 2 % off would be found (its p-value is checked)."""
    m, pi = make("she", epsilon=2.0, k=5), np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    stream = dn.simulation(31)
    x = stream.generator().choice(5, p=pi, size=400_000)
    hits = int(np.sum((m.bulk.reader.likelihood(m.privatize(x, rng=stream).columns) * pi).argmax(axis=1) == x))
    expected = m.guess(pi).success
    assert binomtest(hits, x.size, expected).pvalue > 1e-4
    assert binomtest(hits, x.size, expected * 1.02).pvalue < 1e-4


@pytest.mark.parametrize("prior", [[0.5, 0.5, 0.5], [0.5, 0.5], [1.5, -0.5, 0.0], [math.nan, 0.5, 0.5], "abc"])
def test_bad_priors_are_refused(prior: object) -> None:
    with pytest.raises(dn.ParameterError, match="prior must"):
        make("oue", epsilon=1.0, k=3).guess(prior)


# ---- the keyed permutation and balanced hashing


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 16, 100, 257, 1000])
def test_permutation_is_one_and_scalar_equals_bulk(k: int) -> None:
    for seed in (0, 1, 2**64 - 1, 0x123456789ABCDEF):
        forward = [permute(seed, x, k) for x in range(k)]
        assert sorted(forward) == list(range(k))
        assert [unpermute(seed, y, k) for y in forward] == list(range(k))
        seeds = np.full(k, seed, np.uint64)
        assert permutation.permute(seeds, np.arange(k), k).tolist() == forward
        assert permutation.unpermute(seeds, np.array(forward), k).tolist() == list(range(k))


@pytest.mark.stat
@pytest.mark.parametrize("k", [3, 4, 5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_small_permutations_are_all_equally_likely(k: int) -> None:
    """Chi-square over all k! permutations, 5 tests at alpha 1e-4; all values occur, so no structure is left out."""
    n = 200 * math.factorial(k)
    seeds = dn.simulation(41).draw(64, n)
    code = sum(permutation.permute(seeds, np.full(n, x), k) * k**x for x in range(k))
    _, counts = np.unique(code, return_counts=True)
    assert counts.size == math.factorial(k)
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize(("k", "g"), [(100, 50), (100, 8), (1000, 3), (37, 5)])
def test_pairs_and_triples_meet_as_often_as_under_random_permutations(k: int, g: int) -> None:
    """Binomial tests, 8 at alpha 1e-4; a pair probability 10 % off would be found (6 standard errors or more)."""
    n = 400_000
    seeds = dn.simulation(43).draw(64, n)
    block = [permutation.permute(seeds, np.full(n, x), k) * g // k for x in (0, 1, k - 1)]
    sizes = np.bincount(np.arange(k) * g // k)
    c = float((sizes * (sizes - 1)).sum() / (k * (k - 1)))
    c3 = float((sizes * (sizes - 1) * (sizes - 2)).sum() / (k * (k - 1) * (k - 2)))
    pairs, triples = int((block[0] == block[1]).sum()), int(((block[0] == block[1]) & (block[1] == block[2])).sum())
    assert binomtest(pairs, n, c).pvalue > 1e-4
    assert binomtest(pairs, n, 1.1 * c).pvalue < 1e-4
    assert binomtest(triples, n, c3).pvalue > 1e-4


def test_balanced_hashing_is_a_fifth_better_than_olh_and_decodes_few_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    m, olh = make("plh", epsilon=4.0, k=100), make("olh", epsilon=4.0, k=100)
    assert m.mse() <= 0.8 * olh.mse()
    looked_up: Counter[int] = Counter()
    real = reference.walk

    def counting(seeds: Any, places: Any, k: int, sign: int) -> Any:
        looked_up.update(seeds.tolist())
        return real(seeds, places, k, sign)

    for epsilon in (1.0, 4.0):
        m = make("plh", epsilon=epsilon, k=100)
        reports = m.privatize(np.arange(100).repeat(5), rng=dn.simulation(3))
        looked_up.clear()
        with monkeypatch.context() as patch, using("reference"):
            patch.setattr(reference, "walk", counting)
            m.tally(reports)
        assert 1 <= max(looked_up.values()) <= math.ceil(100 / m.g)


# ---- designs and noise


@pytest.mark.parametrize(("prime", "t"), [(2, 2), (2, 4), (3, 3), (5, 2), (7, 3), (11, 2)])
def test_points_of_projective_geometries(prime: int, t: int) -> None:
    total = points(prime, t)
    vectors = [point(i, prime, t) for i in range(total)]
    assert vectors == sorted(vectors)
    assert geometry.coordinates(np.arange(total), prime, t).tolist() == vectors
    scaled = [[v * (prime - 1) % prime for v in vector] for vector in vectors]
    assert [point_index(v, prime) for v in scaled] == list(range(total))
    assert geometry.point_numbers(np.array(scaled), prime).tolist() == list(range(total))
    meets = [sum(sum(a * b for a, b in zip(x, y, strict=True)) % prime == 0 for y in vectors) for x in vectors]
    assert set(meets) == {points(prime, t - 1)}


def test_hadamard_orders_and_decoding() -> None:
    for k in (2, 3, 4, 7, 8, 9, 100):
        m = make("hr", epsilon=1.0, k=k)
        assert m.kernel.order == 2 ** math.ceil(math.log2(k + 1))
        reports = m.privatize(np.arange(k).repeat(3), rng=dn.simulation(k))
        bits = np.unpackbits(m.bulk.supported(reports.columns), axis=1, bitorder="little")[:, :k]
        assert m.bulk.support_counts(m.tally(reports).cells).tolist() == bits.sum(axis=0).tolist()


def test_projective_decoding_agrees_with_rows_and_prime_choice_is_the_best() -> None:
    for k in (2, 5, 13, 40):
        m = make("pgr", epsilon=1.0, k=k)
        reports = m.privatize(np.arange(k).repeat(3), rng=dn.simulation(k))
        bits = np.unpackbits(m.bulk.supported(reports.columns), axis=1, bitorder="little")[:, :k]
        assert m.bulk.support_counts(m.tally(reports).cells).tolist() == bits.sum(axis=0).tolist()
        others = [make("pgr", epsilon=1.0, k=k, prime=q).mse() for q in (2, 3, 5, 7, 11, 13, 37, 41, 43)]
        assert m.mse() <= min(others) * (1 + 1e-12)


def test_laplace_kernel_is_as_tight_as_64_bits_allow_and_never_above() -> None:
    from deniable_client.exact import exp_bounds, log_upper

    for epsilon in (0.01, 0.1, 1.0, 4.0, 12.0):
        kernel = Laplace.calibrate(epsilon, 10)
        assert kernel.ratio <= exp_bounds(epsilon)[0]
        assert epsilon - log_upper(kernel.ratio) < 1e-12
        looser = Laplace(10, kernel.again - 1, kernel.grid, kernel.reach, kernel.level_top, kernel.level_bottom)
        assert looser.ratio > exp_bounds(epsilon)[0]


KERNELS = {
    "plh": lambda: Balanced.calibrate(1.0, 5, 2),
    "wheel": lambda: Wheel.calibrate(1.0, 5, 1 << 30),
    "hr": lambda: Hadamard.calibrate(1.0, 5),
    "pgr": lambda: Projective.calibrate(1.0, 5, 3),
    "she": lambda: Laplace.calibrate(1.0, 5),
}
OPTIONS: dict[str, dict[str, Any]] = {"plh": {"g": 2}, "wheel": {"arc": 0.25}, "pgr": {"prime": 3}}


@pytest.mark.stat
@pytest.mark.parametrize("name", KERNELS)
def test_device_reports_are_tallied_and_follow_the_same_law(name: str) -> None:
    """Reports made one by one for value 2 of 5, by the device's kernel: z-test of every estimate, 25 at alpha 4e-5."""
    m, kernel, words = make(name, epsilon=1.0, k=5, **OPTIONS.get(name, {})), KERNELS[name](), SystemWords()
    assert m.kernel == kernel
    rows = [kernel.randomise(2, words) for _ in range(4000)]
    assert {len(row) for row in rows} == {kernel.width}
    estimate = m.estimate(m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=True)))
    z = (estimate.value - np.eye(5)[2]) / estimate.stderr
    assert np.abs(z).max() < 4.11, f"{name}: {z}"
    assert abs(estimate.value[2] / estimate.stderr[2]) > 6, "no power: an estimate of nothing would pass"


@pytest.mark.parametrize(("ring", "arc"), [(1, 0.5), (2, 0.25), (2, 0.75), (3, 0.125), (3, 0.5), (9, 0.3), (32, 0.25)])
def test_a_point_of_the_wheel_supports_the_places_whose_arc_it_is_on(ring: int, arc: float) -> None:
    """An arc begins at the own place and has so many points: both ends of it, one point more and one less."""
    m = make("wheel", epsilon=1.0, k=5, arc=arc, ring=ring)
    kernel, size, rows = m.kernel, 1 << ring, []
    assert isinstance(kernel, Wheel)
    for seed in (0, 1, 2**64 - 1, *range(100, 120)):
        starts = [hash32(seed, x) >> (32 - ring) for x in range(5)]
        points = {(start + step) % size for start in starts for step in (-1, 0, 1, kernel.arc - 1, kernel.arc)}
        rows += [(seed, point, [(point - start) % size < kernel.arc for start in starts]) for point in sorted(points)]
    width = kernel.width - 8
    sent = [seed.to_bytes(8, "little") + point.to_bytes(width, "little") for seed, point, _ in rows]
    reports = dn.Reports.from_rows(m.design, m.fields, sent, simulated=True)
    held = np.unpackbits(m.bulk.supported(reports.columns), axis=1, bitorder="little")[:, :5]
    assert held.tolist() == [own for _, _, own in rows]
    assert m.tally(reports).cells["support"].tolist() == [np.sum([own for _, _, own in rows], axis=0).tolist()]


# ---- edges


@pytest.mark.parametrize("name", ["the", "she", "plh", "wheel", "hr", "pgr"])
@pytest.mark.parametrize("k", [2, 3, 6, 17])
def test_every_size_of_domain_gives_an_estimate(name: str, k: int) -> None:
    m = make(name, epsilon=2.0, k=k)
    estimate = m.estimate(m.tally(m.privatize(np.arange(k).repeat(2000 // k), rng=dn.simulation(k))))
    assert np.abs((estimate.value - 1 / k) / estimate.stderr).max() < 6


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plh", {"g": 11}, "g must be an integer from 2 to k = 10"),
        ("plh", {"g": 1}, "g must be"),
        ("the", {"threshold": 1.5}, "threshold must be between 0 and 1"),
        ("wheel", {"arc": 1.0}, "arc must be between 0 and 1"),
        ("pgr", {"prime": 4}, "prime must be a prime number"),
        ("hr", {"g": 3}, "hr has no option 'g'"),
    ],
)
def test_impossible_parameters_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.ParameterError, match=message):
        make(name, epsilon=1.0, k=10, **options)


def test_large_range_of_plain_hashing_still_works() -> None:
    """g > k is allowed there: most buckets are empty, which the best guess takes into account."""
    m = make("lh", epsilon=1.0, k=2, g=16)
    assert m.asr == pytest.approx(float(make("lh", epsilon=1.0, k=2, g=16).channel().asr()), abs=1e-12)


def test_thresholding_spends_less_than_it_may() -> None:
    m = make("the", epsilon=4.0, k=10)
    assert isinstance(m, THE)
    assert m.leak == pytest.approx(2.859, abs=5e-4)
    assert dn.audit(m).holds


@pytest.mark.parametrize("at_once", [3, 1 << 16])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_the_search_for_blocks_ends_where_no_larger_number_can_win(monkeypatch, epsilon, at_once):
    """Against the search of all, and the bound that ends it against the errors themselves."""
    from deniable.core.laws import balanced
    from deniable.mechanisms.frequency import local_hashing

    monkeypatch.setattr(local_hashing, "_AT_ONCE", at_once)
    w, v = local_hashing.epsilon_to(epsilon)
    for k in (2, 3, 17, 400, 3000):
        g = np.arange(2, k + 1)
        mse = balanced(w, v, k, g).mse(k)
        assert dn.mechanism("plh", epsilon=epsilon, k=k).g == g[np.argmin(mse)]
        far = (g - 1) * w >= 1
        assert (mse[far] >= w * w * (g[far] - 1) / 4).all()


def test_many_answers_take_no_longer():
    assert dn.mechanism("plh", epsilon=1.0, k=10**8).g == 4
