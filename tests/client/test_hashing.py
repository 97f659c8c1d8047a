"""The one hash: scalar equals bulk, a bijection inside, pairwise uniform, and for guesses as good as random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from deniable.kernels import hashing as bulk
from deniable.randomness import simulation
from deniable_client import hashing as scalar

M32 = (1 << 32) - 1


def test_scalar_and_bulk_hash_are_the_same() -> None:
    stream = simulation(11)
    seeds = np.concatenate([stream.draw(64, 500), np.array([0, 1, 2**63, 2**64 - 1], np.uint64)]).astype(np.uint64)
    items = np.concatenate([stream.draw(32, 500), np.array([0, 1, 2**31, 2**32 - 1])]).astype(np.int64)
    assert bulk.mix32(items).tolist() == [scalar.mix32(int(x)) for x in items]
    pairs = list(zip(seeds.tolist(), items.tolist(), strict=True))
    assert bulk.hash_values(seeds, items).tolist() == [scalar.hash32(s, x) for s, x in pairs]
    a, b = bulk.expand(seeds)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [scalar.expand(s) for s in seeds.tolist()]
    for g in (2, 3, 56, 2**31):
        assert bulk.bucket(seeds, items, g).tolist() == [scalar.bucket(s, x, g) for s, x in pairs]


def unshift(y: int, by: int) -> int:
    """The inverse of x ^ (x >> by) on 32 bits, bit by bit from the top."""
    x = 0
    for bit in range(31, -1, -1):
        above = x >> (bit + by) & 1 if bit + by < 32 else 0
        x |= ((y >> bit & 1) ^ above) << bit
    return x


def unmix32(y: int) -> int:
    """The inverse of `mix32`, written from its steps: odd factors have inverses modulo 2**32."""
    y = unshift(y, 16)
    y = unshift(y * pow(0x846CA68B, -1, 1 << 32) & M32, 15)
    return unshift(y * pow(0x7FEB352D, -1, 1 << 32) & M32, 16)


def test_mix_is_a_bijection_because_every_step_is() -> None:
    corners = [0, 1, 2, 3, 2**16 - 1, 2**16, 2**31, 2**32 - 1, *range(100, 130)]
    sample = simulation(3).draw(32, 3000).tolist()
    for x in corners + sample:
        assert unmix32(scalar.mix32(x)) == x
        assert scalar.mix32(unmix32(x)) == x


@pytest.mark.parametrize("structure", ["first", "multiples of 2^16", "last"])
def test_mix_of_2_16_structured_items_has_no_collision(structure: str) -> None:
    count = np.arange(1 << 16, dtype=np.uint64)
    items = {"first": count, "multiples of 2^16": count << np.uint64(16), "last": np.uint64(M32) - count}[structure]
    assert np.unique(bulk.mix32(items)).size == 1 << 16


PAIRS = [(0, 1), (0, 2), (1, 2), (0, 65536), (7, 8), (1000, 2**31), (2**32 - 2, 2**32 - 1)]
RANGES = [2, 3, 10, 56, 1000]


@pytest.mark.stat
def test_two_items_collide_with_probability_one_in_g() -> None:
    """Alpha 1e-4 for all 35 tests together (Bonferroni, exact binomial). 3 % off 1/g would show at g = 2 and 3."""
    n, alpha = 400_000, 1e-4
    seeds = simulation(20).draw(64, n).astype(np.uint64)
    found = {}
    for x, y in PAIRS:
        hx, hy = bulk.hash_values(seeds, np.full(n, x)), bulk.hash_values(seeds, np.full(n, y))
        for g in RANGES:
            same = int(((hx * np.uint64(g)) >> np.uint64(32) == (hy * np.uint64(g)) >> np.uint64(32)).sum())
            found[x, y, g] = binomtest(same, n, 1 / g).pvalue
    worst = min(found, key=lambda key: found[key])
    assert found[worst] * len(found) > alpha, f"items {worst[:2]} in {worst[2]} buckets: p = {found[worst]:.2g}"
    for g in (2, 3):
        assert binomtest(round(n / g), n, 1.03 / g).pvalue * len(found) < alpha


@pytest.mark.stat
def test_hash_values_of_two_items_are_independent_and_uniform() -> None:
    """Alpha 1e-4: joint counts of 8 x 8 buckets for each pair, every cell exactly binomial (448 of them)."""
    n, alpha = 400_000, 1e-4
    seeds = simulation(21).draw(64, n).astype(np.uint64)
    pvalues = []
    for x, y in PAIRS:
        joint = bulk.bucket(seeds, np.full(n, x), 8) * 8 + bulk.bucket(seeds, np.full(n, y), 8)
        pvalues += [binomtest(int(c), n, 1 / 64).pvalue for c in np.bincount(joint, minlength=64)]
    assert min(pvalues) * len(pvalues) > alpha


def occupied(values: np.ndarray, g: int) -> np.ndarray:
    """How many of g buckets each row of 32-bit hash values hits."""
    buckets = np.sort((values * np.uint64(g)) >> np.uint64(32), axis=1)
    return 1 + (np.diff(buckets, axis=1) != 0).sum(axis=1)


def z_of_guess(values: np.ndarray, k: int, g: int) -> float:
    """How many standard errors the occupied buckets, which decide the best guess, are from a random function's."""
    hit = occupied(values, g)
    mean = g * -math.expm1(k * math.log1p(-1 / g))
    return float((hit.mean() - mean) / (hit.std(ddof=1) / math.sqrt(hit.size)))


@pytest.mark.stat
@pytest.mark.parametrize("g", [13, 56, 100])
def test_best_guess_of_the_seeded_family_is_that_of_random_functions(g: int) -> None:
    """k = 100, alpha 1e-4 each; a family whose guess is 3 % off would be seen, and plain multiply-shift is.

    A report's best guess succeeds with [p (occupied) + p' (empty)]/k buckets [AdaptiveLDP Sec. IV-D], so the mean
    number of occupied buckets is compared (normal approximation of a mean of 4000 bounded numbers).
    """
    k, n, alpha = 100, 4000, 1e-4
    limit = float(norm.isf(alpha / 2))
    seeds = simulation(22 + g).draw(64, n).astype(np.uint64)
    a, b = (c[:, None] for c in bulk.expand(seeds))
    mixed = (a * bulk.mix32(np.arange(k))[None, :] + b) >> np.uint64(32)
    assert abs(z_of_guess(mixed, k, g)) < limit
    # Power: were all values 3 % larger, the same test would reject, with room to spare.
    hit = occupied(mixed, g)
    assert 0.03 * hit.mean() > 2 * limit * hit.std() / math.sqrt(n)
    # Control: without the mixing step consecutive items land too evenly.
    plain = (a * np.arange(k, dtype=np.uint64)[None, :] + b) >> np.uint64(32)
    if g >= 56:
        assert abs(z_of_guess(plain, k, g)) > limit
