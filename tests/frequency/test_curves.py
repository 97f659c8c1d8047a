"""Curves and costs of families agree with the mechanisms at every value; costs are the known ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.core.laws import epsilon_to, projective
from deniable.mechanisms.entry import DIRECTION, MEAN, RELEASE
from deniable.mechanisms.frequency import costs
from deniable.mechanisms.frequency.curves import mixture_curve, subset_curve
from deniable.mechanisms.frequency.geometry import best_prime
from deniable.mechanisms.registry import MECHANISMS
from deniable_client.kernels.geometry import is_prime, rank_of

CURVED = [name for name, entry in MECHANISMS.items() if entry.traits.curve is not None]
WORKED = [name for name, entry in MECHANISMS.items() if entry.traits.work is not None and not entry.needed]


def test_the_families_with_a_parameter_have_curves():
    assert {"ss", "ue", "lh", "plh", "the", "wheel", "pgr", "ssmix", "iss"} <= set(CURVED)


@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (3, 0.1), (10, 4.0), (100, 1.0), (100, 10.0), (1000, 0.5)])
def test_curves_are_the_mechanisms_own_closed_forms(name, k, epsilon):
    traits = MECHANISMS[name].traits
    curve = traits.curve(epsilon, k)
    columns = {
        "mse": np.asarray(curve.mse) / 7,
        "asr": curve.asr,
        "bits": curve.bits,
        "bytes": curve.bytes,
        "work": traits.work(curve.own, 7),
        "pull": traits.pull(curve.own, min(3, k - 1)),
    }
    for i in sorted(set(np.linspace(0, curve.values.size - 1, 7).astype(int).tolist())):
        m = dn.mechanism(name, epsilon=epsilon, k=k, **curve.options(i))
        own = m.properties(7) | {"work": traits.work(m, 7), "pull": traits.pull(m, min(3, k - 1))}
        if m.refusal is not None:
            own.pop("bytes", None)
        for column, values in columns.items():
            if column in own:
                value = float(np.broadcast_to(values, curve.values.shape)[i])
                assert value == pytest.approx(float(own[column]), rel=1e-9), (column, m.params)


def test_curves_hold_the_best_design_of_the_family():
    curve = MECHANISMS["ss"].traits.curve(4.0, 100)
    best = dn.mechanism("ss", epsilon=4.0, k=100, rounding="best")
    assert curve.options(int(np.argmin(curve.mse))) == {"size": best.size}
    curve = MECHANISMS["plh"].traits.curve(1.0, 1000)
    assert curve.options(int(np.argmin(curve.mse))) == {"g": dn.mechanism("plh", epsilon=1.0, k=1000).g}


@pytest.mark.parametrize("k", [5, 20, 60, 150])
def test_no_prime_is_better_than_the_one_that_is_taken(k):
    """Against all of them, one by one: the best one may lie above the ideal number or below it."""
    for epsilon in (0.3, 1.0, 1.7, 2.5, 3.2, 4.0):
        w, v = epsilon_to(epsilon)
        costs_of = {q: float(projective(w, v, q, rank_of(k, q)).mse(k)) for q in range(2, 300) if is_prime(q)}
        taken = dn.mechanism("pgr", epsilon=epsilon, k=k).params["prime"]
        assert costs_of[taken] <= min(costs_of.values()) * (1 + 1e-12), epsilon


@pytest.mark.parametrize("name", ["lh", "plh"])
def test_bytes_of_a_seed_and_a_number_grow_where_the_number_does(name):
    """At every end of a byte: 256 numbers take one, one more takes two."""
    values = np.array([2, 255, 256, 257, 1 << 16, (1 << 16) + 1])
    curve = MECHANISMS[name].traits.curve(1.0, 1 << 20, values)
    made = [dn.mechanism(name, epsilon=1.0, k=1 << 20, g=g) for g in values.tolist()]
    assert np.broadcast_to(curve.bytes, values.shape).tolist() == [m.bulk.row_bytes for m in made]
    assert curve.bits == pytest.approx([m.bulk.outputs for m in made], rel=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "gain"),
    [
        ("grr", {}, 2.68),
        ("ss", {"size": 2}, 3.61),
        ("ss", {"size": 7}, 8.59),
        ("ssmix", {"size": 7, "share": 0.0}, 8.59),
        ("lh", {"g": 13}, 12.4),
        ("ue", {"p": 0.818}, 12.5),
        ("the", {}, 16.2),
        ("oue", {}, 20.4),
        ("olh", {}, 20.4),
    ],
)
def test_poisoning_gains_are_the_published_ones(name, options, gain):
    """k = 100, epsilon 4, ten targets that nobody holds [AdaptiveLDP; docs/planning.md]."""
    m = dn.mechanism(name, epsilon=4.0, k=100, **options)
    assert MECHANISMS[name].traits.pull(m, 10) == pytest.approx(gain, abs=0.06)


@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh", "plh", "wheel", "hr", "pgr", "she", "ssmix", "iss"])
def test_no_forged_report_does_more_than_the_pull(name):
    """Any report that the codec accepts moves the summed estimates of the targets by at most the pull."""
    k, r, n = 7, 2, 50
    m = dn.mechanism(name, epsilon=1.0, k=k)
    reports = m.privatize(np.arange(n) % k, rng=dn.simulation(1))
    bound = float(MECHANISMS[name].traits.pull(m, r))
    sums = [float(np.sort(m.estimate(m.tally(reports[i : i + 1])).value)[-r:].sum()) for i in range(n)]
    assert max(sums) <= bound + 1e-6
    if name in ("grr", "ss", "ssmix", "iss", "plh"):
        assert max(sums) == pytest.approx(bound, rel=1e-6)


def test_a_mixture_lets_the_forger_choose_the_worse_size():
    m = dn.mechanism("ssmix", epsilon=1.0, k=10, size=2, share=0.5)
    a = float(np.mean([costs.pull_mixture(dn.mechanism("ssmix", epsilon=1.0, k=10, size=s), 3) for s in (2, 3)]))
    assert costs.pull_mixture(m, 3) > 0.9 * a


def possible_reports(m):
    """Of a mechanism for numbers: its table's (om, lu), the directions (arc), two (duchi), the places under a sliding
    window (sw, pm), or both of these (hm)."""
    if m.family in ("om", "lu"):
        return m.table.outputs
    if m.family == "arc":
        return m.k
    ends = 2 if m.family in ("duchi", "hm") else 0
    return ends + (0 if m.family == "duchi" else m.k + m.m - 1)


def spaces_of(name):
    """A small space and a large one; tables of om have an odd number of points, and are not quickly made of many."""
    if name == "om":
        return [{"interval": (0, 1), "points": points} for points in (17, 65)]
    if name == "lu":
        return [{"interval": (0, 1), "outputs": outputs} for outputs in (64, 512)]
    numbers = MECHANISMS[name].question in (MEAN, DIRECTION)
    return [{"interval": (0, 1), "points": k} if numbers else {"k": k} for k in (64, 512)]


@pytest.mark.parametrize("name", WORKED)
def test_work_grows_as_it_should(name):
    work = MECHANISMS[name].traits.work
    question = MECHANISMS[name].question
    small, large = (dn.mechanism(name, epsilon=1.0, **space) for space in spaces_of(name))
    few, many = work(small, 10_000), work(large, 10_000)
    assert 0 < few <= many < math.inf
    flat = {"grr": 1.0, "pckv-grr": 1.0, "privkv": 1.0, "hr": 1 + 128 * 7 / 10_000}
    if question == RELEASE:  # a report is its answer, however many there are
        assert (few, many) == (1.0, 1.0)
    elif question in (MEAN, DIRECTION):  # a counter, and the release's products: one for each report that there can be
        assert (few, many) == (1 + possible_reports(small) / 10_000, 1 + possible_reports(large) / 10_000)
    elif name in flat:
        assert few == flat[name]
    elif name != "pgr":
        assert many >= 4 * few / (2.1 if name in ("plh", "iss") else 1)


def test_bits_of_subsets_are_those_of_whole_numbers():
    for k in (2, 63, 64, 65, 200, 1000):
        sizes = np.arange(1, k)
        found = subset_curve(1.0, k, sizes).bits
        assert found == pytest.approx([math.log2(math.comb(k, s)) for s in sizes.tolist()], abs=1e-9)


def test_curves_of_huge_domains_need_no_table_of_them(monkeypatch):
    monkeypatch.setattr(np, "arange", _short_range(np.arange))
    for curve_of in (subset_curve, mixture_curve):
        bits = curve_of(1.0, 10**9, np.array([1.0, 2.0])).bits
        assert bits == pytest.approx([math.log2(10**9), math.log2(math.comb(10**9, 2))], rel=1e-5)


def _short_range(real):
    def made(*args):
        assert max(args) <= 10**6, "a table as long as the domain"
        return real(*args)

    return made


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.5, 4.0, 8.0, 40.0])
def test_the_best_prime_is_found_without_trying_all(epsilon):
    w, v = epsilon_to(epsilon)
    for k in (2, 3, 4, 5, 8, 14, 50, 133, 134, 500, 1999):

        def cost(q, k=k):
            return float(projective(w, v, q, rank_of(k, q)).mse(k))

        every = [q for q in range(2, k + 60) if is_prime(q)]
        assert best_prime(k, 1 + 1 / w, cost) == min(every, key=cost)
    asked = []
    best_prime(10**8, 1 + 1 / w, lambda q: asked.append(q) or cost(q, 10**8))
    assert len(asked) < 200
