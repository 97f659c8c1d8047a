"""Claims of docs/maths that are about formulas rather than one module: identities, optima, the bound, the hash."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

import deniable as dn
from deniable.core.frontier import best_subset_size, least_mse
from deniable.core.intervals import critical, score_interval
from deniable.core.laws import epsilon_to, hashing, response, subset, unary
from deniable.core.support import Support
from deniable.kernels.hashing import expand, interval_of, mix32
from deniable.mechanisms.support import SupportMechanism
from deniable_client.exact import EPSILON_MAX, exp_bounds, keep_threshold, two_level_ratio

KS = (2, 3, 5, 16, 100, 1000)
EPSILONS = (0.05, 0.3, 1.0, 2.0, 4.0, 8.0)
PAIRS = [(k, e) for k in KS for e in EPSILONS]
FAMILIES = ("grr", "ss", "sue", "oue", "blh", "olh")


def made(name: str, epsilon: float, k: int) -> SupportMechanism:
    m = dn.mechanism(name, epsilon=epsilon, k=k)
    assert isinstance(m, SupportMechanism)
    return m


# ---- exact-privacy


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 7.3, 20.0, 33.3, EPSILON_MAX])
@pytest.mark.parametrize("k", [2, 100, 10**6])
def test_unused_epsilon_is_less_than_a_step(k: int, epsilon: float) -> None:
    """(P6): the unused part of epsilon, to first order the exact relative distance of ratio and bound."""
    word, low = 1 << 64, exp_bounds(epsilon)[0]
    t = keep_threshold(epsilon, 1, k - 1)
    unused = low / two_level_ratio(t, 1, k - 1) - 1
    assert 0 <= unused <= Fraction(1, t) + Fraction(1, word - t - 1) + Fraction(1, t * (word - t - 1))


def test_a_threshold_that_is_too_low_leaks_as_one_that_is_too_high() -> None:
    """(P2) looks in both directions; an epsilon too small for the words is refused, not rounded to its mirror."""
    word = 1 << 64
    assert two_level_ratio(1, 1, 1) == two_level_ratio(word - 1, 1, 1) == word - 1
    assert two_level_ratio(word // 4, 2, 6) == 1
    for own, rest in ((1, 1), (1, 2), (3, 4), (1, 999)):
        with pytest.raises(dn.PrivacyError, match="32-bit words"):
            keep_threshold(1e-12, own, rest, bits=32)


# ---- support


@pytest.mark.parametrize("name", FAMILIES)
def test_plug_in_variance_is_never_negative(name: str) -> None:
    """(S8), with fractions: an identity, and both of its terms are non-negative for every share."""
    s = made(name, 1.0, 6).bulk.support
    for numerator in range(13):
        share = Fraction(numerator, 12)
        value = s.unbias(share)
        identity = s.p * s.q * (1 - share) + s.p_not * s.q_not * share
        assert value * s.p * s.p_not + (1 - value) * s.q * s.q_not == identity >= 0
        for target in ("reporters", "population"):
            assert s.plug_in(share, 1, target) == s.variance(value, 1, target) >= 0


@pytest.mark.parametrize("name", FAMILIES)
def test_plug_in_variance_is_unbiased_for_reporters_only(name: str) -> None:
    """The mean of the plug-in over the exact law of the share: n people, one in four holds the item."""
    s, n, holders = made(name, 1.0, 6).bulk.support.map(float), 40, 10
    counts = np.convolve(
        binom.pmf(np.arange(holders + 1), holders, s.p), binom.pmf(np.arange(n - holders + 1), n - holders, s.q)
    )
    share = np.arange(n + 1) / n
    assert counts @ s.plug_in(share, n) == pytest.approx(s.variance(holders / n, n), rel=1e-9)
    drawn = binom.pmf(np.arange(n + 1), n, s.q + s.gap / 4)
    wanted = (1 - 1 / n) * s.variance(0.25, n, "population")
    assert drawn @ s.plug_in(share, n, "population") == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_average_error_does_not_depend_on_the_truth(name: str) -> None:
    """(S7), with fractions, at three very different populations."""
    k, s = 5, made(name, 2.0, 5).bulk.support
    whole = Fraction(1)
    for f in ([whole / 5] * 5, [whole, 0, 0, 0, 0], [whole / 2, whole / 3, whole / 6, 0, 0]):
        assert sum(s.variance(x, Fraction(7)) for x in f) / k == s.mse(k, Fraction(7))


# ---- mechanisms


@pytest.mark.parametrize(("k", "epsilon"), PAIRS)
def test_printed_errors_are_those_of_the_support(k: int, epsilon: float) -> None:
    """(G3), (B5), (B6), (U3), (U4), (H3) and (H5) against p and q."""
    e, (w, v) = math.exp(epsilon), epsilon_to(epsilon)
    assert response(w, v, k).mse_approx() == pytest.approx((e + k - 2) / (e - 1) ** 2)
    for s in {1, max(1, k // 3), k - 1}:
        d, a, law = s * e + k - s, k - s + (s - 1) * e, subset(w, v, k, s)
        exact = (k - 1) ** 2 * d**2 / (k**2 * s * (k - s) * (e - 1) ** 2) - (k - 1) / k**2
        assert law.mse(k) == pytest.approx(exact)
        approximate = a * ((k - 1) * d - s * a) / (s * (k - s) ** 2 * (e - 1) ** 2)
        assert law.mse_approx() == pytest.approx(approximate)
    half = math.exp(epsilon / 2)
    assert unary(0.5, 0.5, w, v).mse_approx() == pytest.approx(4 * e / (e - 1) ** 2)
    assert made("sue", epsilon, k).mse() == pytest.approx(half / (half - 1) ** 2)
    for g in (2, 3, 20):
        u, law = g - 1, hashing(w, v, g)
        assert law.mse_approx() == pytest.approx((e + g - 1) ** 2 / ((e - 1) ** 2 * (g - 1)))
        exact = (2 * e + u * (1 + (e - 1) / k) + e * (e - (e - 1) / k) / u) / (e - 1) ** 2
        assert law.mse(k) == pytest.approx(exact)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_response_beats_unary_below_its_limit_only(epsilon: float) -> None:
    """k < 3e + 2, by the approximate MSE."""
    e, (w, v) = math.exp(epsilon), epsilon_to(epsilon)
    limit = 3 * e + 2
    oue = unary(0.5, 0.5, w, v).mse_approx()
    assert response(w, v, math.ceil(limit) - 1).mse_approx() < oue
    assert response(w, v, math.floor(limit) + 1).mse_approx() > oue


@pytest.mark.parametrize(("k", "epsilon"), PAIRS)
def test_best_p_of_unary_is_above_one_half(k: int, epsilon: float) -> None:
    """With fractions: a little above 1/2 the exact MSE is smaller, a little below it is larger; the approximate one
    grows on both sides, and at half the distance by a quarter as much."""
    ratio = Fraction(math.exp(epsilon))
    step = Fraction(1, 10**9)

    def law(p: Fraction) -> Support[Fraction]:
        return unary(p, 1 - p, 1 / ratio, 1 - 1 / ratio)

    below, middle, above = (law(Fraction(1, 2) + d) for d in (-step, 0, step))
    assert above.mse(k) < middle.mse(k) < below.mse(k)
    nearer = law(Fraction(1, 2) + step / 2).mse_approx() - middle.mse_approx()
    assert min(above.mse_approx(), below.mse_approx()) > middle.mse_approx()
    assert float((above.mse_approx() - middle.mse_approx()) / nearer) == pytest.approx(4, rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_best_p_of_unary_for_two_answers_is_symmetric(epsilon: float) -> None:
    logit = np.linspace(-1, 1, 2001) * epsilon
    found = unary(1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(logit)), *epsilon_to(epsilon)).mse(2)
    assert logit[np.argmin(found)] == pytest.approx(epsilon / 2, abs=2e-3 * epsilon)


# ---- intervals


@pytest.mark.parametrize("target", ["reporters", "population"])
@pytest.mark.parametrize("name", FAMILIES)
def test_interval_ends_are_where_the_score_test_turns(name: str, target: str) -> None:
    """(I2) and (I4): at both ends the squared distance is exactly z^2 variances, and between them less."""
    s, n = made(name, 1.0, 10).support_effective, 200
    share = np.linspace(0, 1, 41)
    found = score_interval(share, s, n, level=0.9, target=target)
    z = norm.ppf(0.95)
    assert critical(0.9) == pytest.approx(z)

    def score(f: np.ndarray) -> np.ndarray:
        return (share - s.q - f * s.gap) ** 2 - z**2 * s.gap**2 * s.variance(f, n, target)

    for end in (found.low, found.high):
        np.testing.assert_allclose(score(end), 0, atol=1e-12)
    middle = (found.low + found.high) / 2
    assert (found.low < found.high).all()
    assert (score(middle) < 0).all()
    value = s.unbias(share)
    assert ((found.low <= value + 1e-12) & (value - 1e-12 <= found.high)).all()


@pytest.mark.parametrize("k", [2, 5, 40])
def test_simultaneous_intervals_share_the_error(k: int) -> None:
    """Each of k intervals has the level 1 - (1 - level)/k, for both targets."""
    s, share = made("oue", 1.0, k).support_effective, np.linspace(0.1, 0.6, k)
    for target in ("reporters", "population"):
        together = score_interval(share, s, 500, level=0.9, target=target, simultaneous=True)
        alone = score_interval(share, s, 500, level=1 - 0.1 / k, target=target)
        np.testing.assert_allclose([together.low, together.high], [alone.low, alone.high], rtol=1e-9)
        narrow = score_interval(share, s, 500, level=0.9, target=target)
        assert ((together.high - together.low) > (narrow.high - narrow.low)).all()


def test_adjusted_p_values_are_those_of_holm() -> None:
    """By the definition: the i-th smallest times k - i, never falling, at most 1."""
    difference = np.array([0.1, 2.5, -3.0, 0.0, 2.0])
    found = dn.Comparison(tuple("abcde"), difference, np.ones(5), "population", (1, 1), simulated=True)
    p = 2 * norm.sf(abs(difference))
    np.testing.assert_allclose(found.pvalue, p)
    order, running, wanted = np.argsort(p), 0.0, np.empty(5)
    for i, label in enumerate(order):
        running = max(running, min(1.0, (5 - i) * p[label]))
        wanted[label] = running
    np.testing.assert_allclose(found.pvalue_adjusted, wanted)
    assert wanted[4] == pytest.approx(3 * p[4])


# ---- frontier


def information(channel: np.ndarray) -> tuple[float, np.ndarray]:
    """n MSE of the best unbiased additive estimator at the uniform population, (F5), and its matrix M."""
    k = channel.shape[1]
    m = channel.mean(axis=1)
    profiles = channel / m[:, None]
    matrix = (profiles * m[:, None]).T @ profiles
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < 1e-9:  # no unbiased estimator
        return math.inf, matrix
    return float(((1 / eigenvalues).sum() - 1) / k), matrix


def random_channel(rng: np.random.Generator, k: int, outputs: int, epsilon: float) -> np.ndarray:
    """Rows are outputs. Profiles of ratio at most e^epsilon, each in all rotations so that every column sums to 1."""
    high = rng.uniform(0.05, 0.95)
    profiles = np.exp(epsilon * rng.beta(0.2 * high, 0.2 * (1 - high), (outputs, k)))
    rotated = np.concatenate([np.roll(profiles, shift, axis=1) for shift in range(k)])
    return rotated / rotated.sum(axis=0)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (3, 0.5), (4, 2.0), (5, 1.0), (6, 4.0)])
def test_no_random_mechanism_beats_the_bound(k: int, epsilon: float) -> None:
    """Five hundred channels, from nearly two-valued to smooth; the best estimator of each."""
    rng, bound = np.random.default_rng(20240229), least_mse(k, epsilon)
    found = []
    for trial in range(500):
        channel = random_channel(rng, k, 1 + trial % 7, epsilon)
        assert (channel.max(axis=1) <= np.exp(epsilon) * channel.min(axis=1) * (1 + 1e-12)).all()
        np.testing.assert_allclose(channel.sum(axis=0), 1)
        found.append(information(channel)[0])
    assert np.isfinite(found).sum() > 250
    assert min(found) >= bound * (1 - 1e-9)
    assert min(found) < 2 * bound, "the channels are too weak to challenge the bound"


@pytest.mark.parametrize(("k", "epsilon"), [(3, 0.5), (4, 2.0), (5, 1.0), (6, 1.5)])
def test_subset_selection_attains_the_bound(k: int, epsilon: float) -> None:
    size = best_subset_size(k, epsilon)
    m = dn.mechanism("ss", epsilon=epsilon, k=k, size=size)
    error, matrix = information(m.channel().matrix().T)
    assert error == pytest.approx(least_mse(k, epsilon), rel=1e-9)
    eigenvalues = np.linalg.eigvalsh(matrix)
    np.testing.assert_allclose(eigenvalues[:-1], eigenvalues[0], rtol=1e-9)
    assert eigenvalues[-1] == pytest.approx(k)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_most_informative_profile_is_a_corner(k: int, epsilon: float) -> None:
    """Step 4: on a grid of the cube [1, e]^k no profile has a larger variance than the best corner, (F7)."""
    e = math.exp(epsilon)
    steps = np.linspace(1, e, 9)
    grid = np.array(list(product(steps, repeat=k)))
    variance = grid.var(axis=1) / grid.mean(axis=1) ** 2
    corners = [s * (k - s) * (e - 1) ** 2 / (s * e + k - s) ** 2 for s in range(1, k)]
    assert variance.max() == pytest.approx(max(corners), rel=1e-9)


@pytest.mark.parametrize(("k", "epsilon"), PAIRS)
def test_best_size_is_the_best_of_all(k: int, epsilon: float) -> None:
    law = subset(*epsilon_to(epsilon), k, np.arange(1, k))
    assert np.min(law.mse(k)) == pytest.approx(least_mse(k, epsilon), rel=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_design_is_below_the_bound(name: str) -> None:
    assert all(made(name, e, k).mse() >= least_mse(k, e) * (1 - 1e-9) for k, e in PAIRS)


# ---- the hash


def pairs_are_uniform(word: int, item: int, kept: int, first: int, second: int) -> bool:
    """Whether the top `kept` bits of (a m + b) mod 2^word, for two items of `item` bits, are uniform pairs."""
    a, b = np.divmod(np.arange(1 << (2 * word)), 1 << word)
    top = [((a * m + b) & ((1 << word) - 1)) >> (word - kept) for m in (first, second)]
    counts = np.bincount(top[0] << kept | top[1], minlength=1 << (2 * kept))
    assert max(first, second) < 1 << item
    return bool((counts == counts[0]).all())


def test_multiply_shift_is_pairwise_independent_for_all_small_words() -> None:
    """All (a, b) of 8 bits, all pairs of 4-bit items, the top 4 bits: the real hash with 64, 32 and 32, scaled down."""
    assert all(pairs_are_uniform(8, 4, 4, x, y) for x in range(16) for y in range(16) if x != y)


def test_items_with_more_bits_would_not_do() -> None:
    """Where the proof's condition fails, so does the claim: items 2^5 apart, and 4 of 8 bits kept."""
    assert not pairs_are_uniform(8, 6, 4, 0, 32)


def test_mix_is_a_bijection_on_two_hundred_thousand_items() -> None:
    assert len(np.unique(mix32(np.arange(200_000)))) == 200_000


@pytest.mark.stat
@pytest.mark.parametrize(("k", "g"), [(100, 56), (100, 20), (16, 4)])
def test_buckets_are_filled_as_by_a_random_function_only_because_of_mix(k: int, g: int) -> None:
    """Share of non-empty buckets under 40,000 seeds; normal test at alpha 1e-6, two-sided, seed fixed beforehand.

    Power: without `mix` the same test rejects.
    """
    seeds = dn.simulation(20240229).draw(64, 40_000).astype(np.uint64)
    a, b = expand(seeds)

    def z_score(places: np.ndarray) -> float:
        values = (a[:, None] * places + b[:, None]) >> np.uint64(32)
        buckets = ((values * np.uint64(g)) >> np.uint64(32)).astype(np.int64)
        filled = np.zeros((len(seeds), g), np.bool_)
        filled[np.arange(len(seeds))[:, None], buckets] = True
        share = filled.mean(axis=1)
        return float((share.mean() - (1 - (1 - 1 / g) ** k)) / (share.std() / math.sqrt(len(seeds))))

    limit = norm.isf(5e-7)
    assert abs(z_score(mix32(np.arange(k)))) < limit
    assert abs(z_score(np.arange(k, dtype=np.uint64))) > limit


@pytest.mark.stat
@pytest.mark.parametrize("g", [3, 8])
def test_three_items_meet_as_often_as_under_a_random_function(g: int) -> None:
    """All triples of 20 items, 100,000 seeds: the mean number of triples in one bucket is C(20,3)/g^2.

    Normal test at alpha 1e-6, two-sided, seed fixed beforehand. Power: without `mix` the same test rejects. (With two
    buckets there is nothing to test: their triples follow from their pairs.)
    """
    k, seeds = 20, dn.simulation(20240301).draw(64, 100_000).astype(np.uint64)
    a, b = expand(seeds)

    def z_score(places: np.ndarray) -> float:
        values = (a[:, None] * places + b[:, None]) >> np.uint64(32)
        buckets = ((values * np.uint64(g)) >> np.uint64(32)).astype(np.int64)
        sizes = np.stack([(buckets == y).sum(axis=1) for y in range(g)], axis=1)
        triples = (sizes * (sizes - 1) * (sizes - 2) // 6).sum(axis=1)
        return float((triples.mean() - math.comb(k, 3) / g**2) / (triples.std() / math.sqrt(len(seeds))))

    limit = norm.isf(5e-7)
    assert abs(z_score(mix32(np.arange(k)))) < limit
    assert abs(z_score(np.arange(k, dtype=np.uint64))) > limit


@pytest.mark.parametrize(("k", "epsilon"), PAIRS)
def test_best_range_is_the_best_of_all(k: int, epsilon: float) -> None:
    chosen = dn.mechanism("olh", epsilon=epsilon, k=k, rounding="best")
    g = np.arange(2, 4 * int(math.exp(epsilon)) + 10)
    assert chosen.properties()["mse"] == pytest.approx(np.min(hashing(*epsilon_to(epsilon), g).mse(k)), rel=1e-12)


@pytest.mark.parametrize("g", [2, 3, 56, 1000, 2**16 + 1])
def test_buckets_differ_by_one_hash_value_at_most(g: int) -> None:
    """The bucket sizes behind (H2), and how far q may be from 1/g."""
    _, length = interval_of(np.arange(g, dtype=np.uint64), g)
    sizes = [int(x) for x in length]
    assert sum(sizes) == 1 << 32
    assert max(sizes) - min(sizes) <= 1
    squares = Fraction(sum(size * size for size in sizes), 1 << 64)
    assert 0 <= squares - Fraction(1, g) <= Fraction(g, 1 << 66)
    m = dn.mechanism("lh", epsilon=1.0, k=5, g=g)
    assert isinstance(m, SupportMechanism)
    exact: Support[Fraction] = m.bulk.support
    lie = exact.p_not / (g - 1)
    assert exact.q == (exact.p - lie) * squares + lie
