"""Count tables, made-up populations and the texts that name them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.core.types import UintArray
from deniable.datasets import NAMES, Population, load, resolve, synthetic
from deniable.datasets.synthetic import KINDS, apportion
from deniable.randomness import Simulation, simulation

PETS = Population("pets", ("newt", "dog", "cat"), np.array([0, 2, 5]))


# Tables


@pytest.mark.parametrize(
    ("name", "n", "k"),
    [
        ("adult-age", 48842, 100),
        ("adult-education", 32561, 16),
        ("adult-country", 48842, 42),
        ("bank-job", 45211, 12),
    ],
)
def test_table_sizes(name: str, n: int, k: int) -> None:
    table = load(name)
    assert (table.name, table.n, table.k) == (name, n, k)
    assert table.values().shape == (n,)
    assert math.isclose(table.frequencies.sum(), 1.0, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("name", "label", "count"),
    [
        ("adult-education", "HS-grad", 10501),
        ("adult-country", "United-States", 43832),
        ("adult-country", "?", 857),
        ("bank-job", "blue-collar", 9732),
        ("adult-age", "16", 0),
        ("adult-age", "99", 0),
    ],
)
def test_table_counts(name: str, label: str, count: int) -> None:
    table = load(name)
    assert table.counts[table.labels.index(label)] == count


def test_names_are_the_tables() -> None:
    assert NAMES == ("adult-age", "adult-education", "adult-country", "bank-job")
    assert load("adult-age").labels == tuple(str(age) for age in range(100))


def test_unknown_table_lists_the_names() -> None:
    with pytest.raises(ValueError, match="name must be one of") as caught:
        load("iris")
    assert all(name in str(caught.value) for name in (*NAMES, "'iris'"))


# Population


def test_population_properties() -> None:
    assert (PETS.n, PETS.k) == (7, 3)
    assert PETS.frequencies.tolist() == [0.0, 2 / 7, 5 / 7]
    assert PETS.values().tolist() == [1, 1, 2, 2, 2, 2, 2]
    assert PETS.values().dtype == PETS.counts.dtype == np.int64


def test_population_is_a_value() -> None:
    source = np.array([0, 2, 5])
    other = Population("pets", ("newt", "dog", "cat"), source)
    source[0] = 9
    assert {other} == {PETS}
    assert other != Population("pets", ("newt", "dog", "cat"), np.array([1, 2, 5]))
    assert other != Population("zoo", ("newt", "dog", "cat"), np.array([0, 2, 5]))
    assert other != "pets"
    assert repr(other) == "Population(name='pets', k=3, n=7)"


def test_population_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        PETS.counts[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        PETS.frequencies[0] = 1


def test_top_takes_the_most_frequent_first_and_keeps_ties_in_order() -> None:
    table = Population("t", ("a", "b", "c", "d"), np.array([1, 4, 4, 9]))
    assert table.top(3) == Population("t, top 3", ("d", "b", "c"), np.array([9, 4, 4]))
    assert load("bank-job").top(9).n == 45211 - sum(sorted(load("bank-job").counts.tolist())[:3])


@pytest.mark.parametrize("t", [0, 1, 4, 2.0, True])
def test_top_refuses_other_numbers(t: Any) -> None:
    with pytest.raises(ValueError, match="t must be an integer from 2 to 3"):
        PETS.top(t)


@pytest.mark.parametrize(
    ("labels", "counts", "text"),
    [
        (("a", "b"), [1, -1], r"counts must be non-negative integers, got \[-1\]"),
        (
            ("a", "b"),
            [0.5, 0.5],
            "counts must be non-negative integers, got 'values of type float64'.*synthetic",
        ),
        (("a", "b"), [True, False], "counts must be non-negative integers"),
        (("a", "b"), [[1, 2]], "counts must be one-dimensional"),
        (("a", "b"), [0, 0], "counts must be a population of 1"),
        (("a", "b"), [2**62, 2**62], "counts must be a population of 1"),
        (("a", "b", "c"), [1, 2], "labels must be as many as there are counts, got '3 labels and 2 counts'"),
        (("a",), [1], "labels must be at least 2"),
        (("a", "b", "a"), [1, 2, 3], r"labels must be unique, got \['a'\]"),
        ((1, 2), [1, 2], r"labels must be strings, got \[1, 2\].*str\(\)"),
        ("ab", [1, 2], "labels must be a tuple of strings, got 'ab'"),
    ],
)
def test_population_errors(labels: Any, counts: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Population("x", labels, counts)


# Made-up populations


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 7, 64, 1001])
@pytest.mark.parametrize("n", [1, 2, 10, 999, 48842, 10**9, 10**17 + 1])
def test_counts_sum_exactly(kind: str, k: int, n: int) -> None:
    made = synthetic(kind, k=k, n=n, rng=simulation(k))
    assert (made.n, made.k) == (n, k)
    assert made.labels == tuple(str(i) for i in range(k))


def test_rounding_stays_within_one_of_the_share() -> None:
    for kind in KINDS:
        few = synthetic(kind, k=50, n=1234, rng=simulation(5))
        many = synthetic(kind, k=50, n=10**15, rng=simulation(5))
        assert np.abs(few.counts - 1234 * many.frequencies).max() < 1 + 1e-9


def test_uniform_differs_by_at_most_one() -> None:
    assert synthetic("uniform", k=7, n=24).counts.tolist() == [4, 4, 4, 3, 3, 3, 3]


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0, 2.5])
def test_zipf_ratios(s: float) -> None:
    made = synthetic("zipf", k=20, n=10**15, s=s)
    ratios = made.counts[0] / made.counts
    assert np.allclose(ratios, np.arange(1, 21) ** s, rtol=1e-9)


def test_normal_is_a_symmetric_bell() -> None:
    for k in (9, 10):
        made = synthetic("normal", k=k, n=10**15, spread=0.2)
        assert np.abs(made.counts - made.counts[::-1]).max() <= 1
        assert made.counts.argmax() in (k // 2, (k - 1) // 2)
        assert (np.diff(made.counts)[: (k - 1) // 2] > 0).all()


def test_normal_has_the_spread_that_was_asked_for() -> None:
    made = synthetic("normal", k=600, n=10**12, spread=0.1)
    at = np.arange(600) + 0.5
    mean = made.frequencies @ at
    sd = math.sqrt(made.frequencies @ (at - mean) ** 2)
    assert mean == pytest.approx(300, abs=1e-6)
    assert sd == pytest.approx(math.sqrt(60**2 + 1 / 12), rel=1e-4)
    assert synthetic("normal", k=60, n=1000).name == "normal:0.166667"


@pytest.mark.parametrize("alpha", [1e-4, 0.05, 0.5, 1.0, 3.0, 500.0])
def test_dirichlet_is_fixed_by_its_stream(alpha: float) -> None:
    first, again = (synthetic("dirichlet", k=30, n=10_000, alpha=alpha, rng=simulation(3)) for _ in range(2))
    assert first == again
    assert first != synthetic("dirichlet", k=30, n=10_000, alpha=alpha, rng=simulation(4))


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0])
def test_dirichlet_has_the_second_moment_of_its_law(alpha: float) -> None:
    """E[sum of squares] = (alpha + 1) / (k alpha + 1). Seeds are fixed; the bound is 5 standard errors."""
    k, runs = 12, 400
    stream = simulation(11)
    squares = []
    for _ in range(runs):
        shares = synthetic("dirichlet", k=k, n=10**12, alpha=alpha, rng=stream).frequencies
        squares.append(float(shares @ shares))
    expected = (alpha + 1) / (k * alpha + 1)
    assert abs(np.mean(squares) - expected) < 5 * np.std(squares) / math.sqrt(runs)


def test_dirichlet_at_alpha_one_agrees_with_its_neighbours() -> None:
    near = synthetic("dirichlet", k=25, n=10**6, alpha=1 + 1e-12, rng=simulation(8))
    mirrored = synthetic("dirichlet", k=25, n=10**6, alpha=1.0, rng=_Mirror(8))
    assert np.abs(near.counts - mirrored.counts).max() <= 1


class _Mirror(Simulation):
    """The stream whose uniforms are 1 - u: -log(u) falls in u while the quantile of the Gamma law rises."""

    def draw(self, bits: int, size: int) -> UintArray:
        return ~super().draw(bits, size)


def test_apportion_ties_go_to_the_earlier_item_and_are_exact() -> None:
    assert apportion([2, 2, 2, 2], 6).tolist() == [2, 2, 1, 1]
    assert apportion([0, 1], 5).tolist() == [0, 5]
    assert apportion([10**30, 2 * 10**30], 10**18).tolist() == [333333333333333333, 666666666666666667]


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        ("gauss", {}, "kind must be one of uniform, zipf, normal, dirichlet, got 'gauss'"),
        ("uniform", {"k": 1}, "k must be an integer >= 2, got 1"),
        ("uniform", {"n": 0}, "n must be an integer >= 1, got 0"),
        ("uniform", {"n": 10.0}, "n must be an integer >= 1, got 10.0"),
        ("uniform", {"s": 1.0}, r"shape must be left out: uniform has no shape, got \['s'\]"),
        ("zipf", {"alpha": 1.0}, r"shape must be 's', the only shape of zipf, got \['alpha'\]"),
        ("zipf", {"s": -1.0}, "s must be a number from 0 to 1000, got -1.0"),
        ("zipf", {"s": math.nan}, "s must be a number from 0 to 1000, got nan"),
        ("normal", {"spread": 0}, "spread must be a number > 0, at most 1000, got 0"),
        ("normal", {"spread": "wide"}, "spread must be a number > 0, at most 1000, got 'wide'"),
        (
            "dirichlet",
            {"alpha": math.inf, "rng": simulation(1)},
            "alpha must be a number > 0, at most 1000, got inf",
        ),
        ("dirichlet", {}, "rng must be a random stream.*simulation"),
    ],
)
def test_synthetic_errors(kind: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        synthetic(kind, **({"k": 4, "n": 10} | options))


# Texts that name a population


@pytest.mark.parametrize("name", NAMES)
def test_resolve_gives_tables_as_they_are(name: str) -> None:
    table = load(name)
    assert resolve(name) == resolve(name, n=table.n, k=table.k) == table


def test_resolve_scales_a_table() -> None:
    scaled = resolve("adult-age", n=1000)
    assert (scaled.n, scaled.labels) == (1000, load("adult-age").labels)
    assert np.abs(scaled.counts - 1000 * load("adult-age").frequencies).max() < 1
    assert resolve("bank-job", n=10 * 45211).counts.tolist() == (10 * load("bank-job").counts).tolist()


@pytest.mark.parametrize(
    ("spec", "kind", "shape"),
    [
        ("uniform", "uniform", {}),
        ("zipf", "zipf", {"s": 1.0}),
        ("zipf:1.5", "zipf", {"s": 1.5}),
        ("normal", "normal", {"spread": 1 / 6}),
        ("normal:0.1", "normal", {"spread": 0.1}),
        ("dirichlet", "dirichlet", {"alpha": 1.0}),
        ("dirichlet:0.5", "dirichlet", {"alpha": 0.5}),
    ],
)
def test_resolve_makes_populations(spec: str, kind: str, shape: dict[str, float]) -> None:
    made = resolve(spec, n=5000, k=40, rng=simulation(2))
    assert made == synthetic(kind, k=40, n=5000, rng=simulation(2), **shape)


@pytest.mark.parametrize(
    ("spec", "options", "text"),
    [
        (
            "iris",
            {},
            r"data must be one of adult-age, .*bank-job, uniform, zipf\[:S\].*\[:ALPHA\], got 'iris'",
        ),
        ("adult-age:2", {}, "data must be one of adult-age"),
        ("uniform:2", {"n": 9, "k": 3}, "data must be .*got 'uniform:2'. uniform takes no number"),
        ("zipf:x", {"n": 9, "k": 3}, "got 'zipf:x'. s after the colon is a number, as in zipf:0.5"),
        ("zipf:", {"n": 9, "k": 3}, "got 'zipf:'. s after the colon is a number"),
        ("zipf:-1", {"n": 9, "k": 3}, "s must be a number from 0 to 1000, got -1.0"),
        ("zipf", {"k": 3}, "n must be given, the number of people, got None. A zipf population"),
        ("normal", {"n": 9}, "k must be given, the number of items, got None. A normal population"),
        ("dirichlet", {"n": 9, "k": 3}, "rng must be a random stream"),
        ("bank-job", {"k": 9}, "k must be 12, the number of items of bank-job, got 9.*top"),
        ("bank-job", {"n": 0}, "n must be an integer >= 1, got 0. Leave it out for all 45211 people"),
    ],
)
def test_resolve_errors(spec: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        resolve(spec, **options)
