"""Counts drawn without reports have the law of counts of reports."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare, norm

import deniable as dn
from deniable.core.channel import Channel
from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.errors import ParameterError
from deniable.mechanisms.frequency.subset import SubsetSelection
from tiers import every

ALPHA = 1e-6
KNOWN = ["grr", "oue", "sue", "the"]
DESIGNS = ["hr", "pgr"]
UTILITY = {
    "urr": {},
    "urap": {"form": "glutf"},
    "uss": {},
    "uss, glutf": {"form": "glutf", "theta": 0.6},
    "uue": {"form": "glutf", "theta": 0.3},
    "uhr": {},
    "upgr": {},
}
"""Null branches and mapped ones, with something put beside a report and without."""


def supports(channel: Channel) -> list[list[int]]:
    """What each output adds to the support counts."""
    assert channel.supported is not None
    return [[int(i in s) for i in range(len(channel.weights[0]))] for s in channel.supported]


def law_of_counts(channel: Channel, counts: list[int], adds: list[list[int]]) -> dict[tuple[int, ...], Fraction]:
    """The exact law of the counts of so many people per item, from the channel, report by report."""
    law = {(0,) * len(adds[0]): Fraction(1)}
    for x, people in enumerate(counts):
        reports = [
            (Fraction(weights[x], channel.total), each) for weights, each in zip(channel.weights, adds, strict=True)
        ]
        for _ in range(people):
            new: dict[tuple[int, ...], Fraction] = Counter()
            for done, p in law.items():
                for q, support in reports:
                    new[tuple(a + b for a, b in zip(done, support, strict=True))] += p * q
            law = new
    return law


def p_value(found: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    """Chi-square test; outcomes that are expected fewer than 10 times are one class."""
    runs = sum(found.values())
    often = [outcome for outcome, p in law.items() if runs * p >= 10]
    expected = np.array([float(law[outcome]) for outcome in often])
    observed = np.array([found[outcome] for outcome in often])
    rest = 1 - expected.sum()
    if runs * rest >= 10:
        expected, observed = np.append(expected, rest), np.append(observed, runs - observed.sum())
    return float(chisquare(observed, expected / expected.sum() * observed.sum()).pvalue)


def test_huge_populations_are_drawn_in_parts_that_lose_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy draws for a part at a time: every set is counted, whatever does not divide evenly."""
    from deniable.kernels import populations

    people = np.array([7, 0, 5, 11], np.int64)
    whole = populations.sets_of_others(dn.simulation(1), people, 2)
    monkeypatch.setattr(populations, "_MOST", 4)
    assert populations.sets_of_others(dn.simulation(1), people, 2).sum() == whole.sum() == 2 * people.sum()
    others = populations.sets_of_others(dn.simulation(1), people, 3)
    assert others.tolist() == [23 - 7, 23, 23 - 5, 23 - 11], "with three others each takes all but the own item"
    monkeypatch.setattr(populations, "_PARTS", 5)
    with pytest.raises(ParameterError, match="counts must be at most 20 people where reports are sets, got 23"):
        populations.sets_of_others(dn.simulation(1), people, 2)


@pytest.mark.stat
@pytest.mark.parametrize("name", KNOWN)
def test_joint_law_of_a_small_population(name: str) -> None:
    """All joint counts of five people, against the exact channel: alpha = 1e-6, and epsilon 1.3 for 1 is rejected."""
    counts, runs = [2, 0, 3], 8_000
    m = dn.mechanism(name, epsilon=1.0, k=3)
    rng = dn.simulation(6_001)
    found = Counter(tuple(m.simulate_tally(counts, rng).cells["support"][0].tolist()) for _ in range(runs))
    channel = m.channel()
    law = law_of_counts(channel, counts, supports(channel))
    assert sum(law.values()) == 1
    assert set(found) <= set(law)
    assert p_value(found, law) > ALPHA
    other = law_of_counts(dn.mechanism(name, epsilon=1.3, k=3).channel(), counts, supports(channel))
    assert p_value(found, other) < ALPHA


@pytest.mark.stat
@pytest.mark.parametrize("name", DESIGNS)
def test_joint_law_of_all_outputs(name: str) -> None:
    """How often each output is reported, as above."""
    counts, runs = [2, 0, 2], 4_000
    m, rng = dn.mechanism(name, epsilon=1.0, k=3), dn.simulation(6_003)
    found = Counter(tuple(m.simulate_tally(counts, rng).cells["value"][0].tolist()) for _ in range(runs))
    channel = m.channel()
    each = np.eye(len(channel.outputs), dtype=int).tolist()
    law = law_of_counts(channel, counts, each)
    assert set(found) <= set(law)
    assert p_value(found, law) > ALPHA
    assert p_value(found, law_of_counts(dn.mechanism(name, epsilon=1.5, k=3).channel(), counts, each)) < ALPHA


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("size", [2, 1, 3])
def test_sets_of_all_sizes(size: int) -> None:
    """Sets of four items, each person's own one left out or not, and sets of people without one."""
    counts, runs = [1, 0, 2, 1], 1_500
    m, rng = SubsetSelection(epsilon=1.0, domain=Domain.of(4), size=size), dn.simulation(6_004)
    channel = m.channel()
    found = Counter(tuple(m.simulate_tally(counts, rng).cells["support"][0].tolist()) for _ in range(runs))
    law = law_of_counts(channel, counts, supports(channel))
    assert set(found) <= set(law)
    assert p_value(found, law) > ALPHA
    even = law_of_counts(channel, [1, 1, 1, 1], supports(channel))
    assert p_value(found, even) < ALPHA
    blind = Counter(
        tuple(m.bulk.simulate_counts(np.zeros(4, int), rng, blind=2)["support"][0].tolist()) for _ in range(runs)
    )
    sets = list(combinations(range(4), size))
    pairs = Counter(tuple(int(i in a) + int(i in b) for i in range(4)) for a in sets for b in sets)
    assert p_value(blind, {both: Fraction(count, len(sets) ** 2) for both, count in pairs.items()}) > ALPHA


@pytest.mark.stat
@pytest.mark.parametrize("name", every(6, UTILITY))
def test_sensitive_and_harmless_answers(name: str) -> None:
    """Means of all cells and of all products of two, against counts of reports; another epsilon is seen."""
    counts, runs = np.array([2, 1, 0, 2, 1]), 800
    options = {"k": 5, "sensitive": 3, **UTILITY[name]}
    kind = name.partition(",")[0]
    m, items = dn.mechanism(kind, epsilon=1.0, **options), np.repeat(np.arange(5), counts)
    streams = dn.simulation(6_005).spawn(3)
    drawn = moments([m.simulate_tally(counts, streams[0]) for _ in range(runs)])
    reported = moments([m.tally(m.privatize_items(items, streams[1])) for _ in range(runs)])
    assert p_value_of_means(drawn, reported) > ALPHA
    other = dn.mechanism(kind, epsilon=2.5, **options)
    assert p_value_of_means(moments([other.simulate_tally(counts, streams[2]) for _ in range(runs)]), reported) < ALPHA


def moments(tallies: list[dn.Tally]) -> FloatArray:
    """A row for each tally: its cells and the products of any two of them."""
    cells = np.array([np.concatenate([t.cells[name].ravel() for name in sorted(t.cells)]) for t in tallies], float)
    return np.hstack([cells, (cells[:, :, None] * cells[:, None, :]).reshape(len(cells), -1)])


def p_value_of_means(one: FloatArray, two: FloatArray) -> float:
    """The least of normal tests of all columns' means, times their number (Bonferroni)."""
    gap, squares = one.mean(axis=0) - two.mean(axis=0), (one.var(axis=0) + two.var(axis=0)) / len(one)
    moving = squares > 0
    assert np.array_equal(gap[~moving], np.zeros((~moving).sum()))
    return float(2 * norm.sf(np.abs(gap[moving]) / np.sqrt(squares[moving])).min() * moving.sum())


@pytest.mark.stat
@pytest.mark.parametrize("name", [*KNOWN, "ss"])
def test_moments_of_a_large_population(name: str) -> None:
    """Means and all covariances of the estimates of 10^9 people, 400 runs; Bonferroni over them at alpha = 1e-6."""
    k, n, runs = 6, 10**9, 400
    people = np.array([n // 2, n // 4, n // 8, n // 8, 0, 0])
    m = dn.mechanism(name, epsilon=1.0, k=k)
    rng = dn.simulation(6_002)
    tallies = [m.simulate_tally(people, rng) for _ in range(runs)]
    assert all(t.n == n and t.simulated and t.design == m.design for t in tallies)
    values = np.array([m.estimate(t).value for t in tallies])
    f = people / n
    covariance = m.support_effective.covariance(f, n)
    spread = np.sqrt(np.diag(covariance))
    z = (values.mean(axis=0) - f) / (spread / np.sqrt(runs))
    products = (values - f)[:, :, None] * (values - f)[:, None, :]
    expected = np.sqrt((np.outer(spread**2, spread**2) + covariance**2) / runs)  # of a normal sample covariance
    zz = (products.mean(axis=0) - covariance) / expected
    limit = norm.isf(ALPHA / 2 / (k + k * k))
    assert np.abs(z).max() < limit
    assert np.abs(zz).max() < limit
    wrong = products.mean(axis=0) / 1.6 - covariance  # a variance 60 % off would be seen
    assert np.abs(wrong / expected).max() > limit


def test_seeded_counts_repeat() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    one, two, three = (m.simulate_tally([5, 6, 7, 8], dn.simulation(seed)) for seed in (1, 1, 2))
    assert one == two
    assert one != three


def test_only_seeded_streams() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    with pytest.raises(ParameterError, match=r"rng must be a seeded stream.*deniable\.simulation"):
        m.simulate_tally([1, 2, 3, 4], dn.secure())  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, -1], [1, 2, 0.5], [[1, 2, 3]]])
def test_other_counts_are_refused(counts: object) -> None:
    with pytest.raises(ParameterError, match="counts must be 3 whole numbers"):
        dn.mechanism("grr", epsilon=1.0, k=3).simulate_tally(counts, dn.simulation(1))


@pytest.mark.parametrize("name", ["olh", "plh", "wheel", "ulh"])
def test_families_without_a_simple_law_say_so(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=3, **({"sensitive": 2} if name == "ulh" else {}))
    assert not m.bulk.knows_counts
    with pytest.raises(ParameterError, match=r"not drawn without reports.*privatize_items"):
        m.simulate_tally([1, 2, 3], dn.simulation(1))


@pytest.mark.parametrize("name", [*KNOWN, "ss", *DESIGNS, *UTILITY])
def test_the_others_know_that_they_do(name: str) -> None:
    """Also where nobody has an item, where all have it, and where all items are sensitive or none is."""
    kind, options = name.partition(",")[0], UTILITY.get(name)
    for sensitive in (0, 2, 3) if options is not None and "theta" not in options else (2,):
        more = {} if options is None else {"sensitive": sensitive, **options}
        m = dn.mechanism(kind, epsilon=1.0, k=3, **more)
        assert m.bulk.knows_counts
        for counts in ([0, 0, 0], [4, 0, 0], [0, 0, 5]):
            tally = m.simulate_tally(counts, dn.simulation(1))
            m.bulk.check(tally.cells)
            assert tally.layout == m.empty().layout
            assert tally.n == sum(counts)


def test_more_people_than_can_be_drawn_are_refused() -> None:
    """Instead of billions of parts, one after the other."""
    with pytest.raises(ParameterError, match=r"counts must be at most 90,000,000,000 people.*got 1\d{18}"):
        dn.mechanism("ss", epsilon=1.0, k=3).simulate_tally([10**18, 10**18, 0], dn.simulation(1))
