"""Faults that have been seen in published code for local privacy: each is a property that holds here."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import deniable as dn
from deniable.mechanisms.support import SupportMechanism
from deniable.testing import StreamWords

NAMES = ["grr", "ss", "ue", "sue", "oue", "lh", "blh", "olh", "plh", "the", "wheel", "hr", "pgr"]
OPTIONS: dict[str, dict[str, Any]] = {"ue": {"p": 0.75}, "lh": {"g": 7}}


def make(name: str, **arguments: Any) -> Any:
    return dn.mechanism(name, **({"epsilon": 1.0, "k": 10} | OPTIONS.get(name, {}) | arguments))


# ---- privacy


@pytest.mark.parametrize("name", ["sue", "oue", "ue"])
def test_a_true_bit_can_be_reported_as_zero_and_a_false_one_as_one(name: str) -> None:
    """Had the one never become a zero, any zero in a report would rule a value out."""
    m = make(name, k=3)
    bits = np.unpackbits(
        m.privatize(np.zeros(2000, int), rng=dn.simulation(1)).columns["bits"], axis=1, bitorder="little"
    )
    assert 0 < bits[:, 0].mean() < 1
    assert 0 < bits[:, 1].mean() < 1
    assert all(0 < p < 1 for p in (m.support.p, m.support.q))


def test_a_kept_value_has_no_place_of_its_own_in_a_subset() -> None:
    """As bits a set has no order: the report of {1, 4} is the same bytes whichever of the two is the true value."""
    m = make("ss", k=6, size=2)
    rows: dict[int, set[bytes]] = {}
    for x in (1, 4):
        reports = m.privatize(np.full(3000, x), rng=dn.simulation(x))
        rows[x] = {reports.row(i) for i in range(len(reports))}
    assert rows[1] == rows[4]
    assert len(rows[1]) == math.comb(6, 2)


@pytest.mark.stat
def test_guessing_the_first_listed_member_is_no_better_than_any_member() -> None:
    """Alpha 1e-4. Reading the set in its stored order and taking the first member: success p/size, as for any other."""
    m, n = make("ss", k=20, size=5, epsilon=2.0), 40_000
    values = np.arange(n) % 20
    rows = np.unpackbits(m.privatize(values, rng=dn.simulation(8)).columns["bits"], axis=1, count=20, bitorder="little")
    first = rows.argmax(axis=1)
    found = binomtest(int((first == values).sum()), n, m.guess().success)
    assert found.pvalue > 1e-4
    assert binomtest(round(n * m.support.p), n, m.guess().success).pvalue < 1e-100


@pytest.mark.parametrize("name", NAMES)
def test_kept_and_changed_answers_have_the_same_type_and_length(name: str) -> None:
    m = make(name)
    words = StreamWords(dn.simulation(2))
    made = [m.kernel.randomise(3, words) for _ in range(200)]
    assert {type(report) for report in made} == {bytes}
    assert {len(report) for report in made} == {m.bulk.row_bytes}
    assert len(set(made)) > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [-1, 10])
def test_a_value_outside_the_domain_never_becomes_a_report(name: str, bad: int) -> None:
    with pytest.raises(dn.ParameterError, match="values must be from 0 to 9"):
        make(name).privatize([bad])


def test_global_generators_have_no_say() -> None:
    """Seeding Python's or NumPy's own generator neither repeats reports nor is disturbed by drawing them."""
    m, seen = make("olh"), []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)
        seen.append(dn.dump(m.privatize(np.arange(50) % 10)))
        assert random.random() == random.Random(1).random()
    assert seen[0] != seen[1]


def test_hash_seeds_are_drawn_fresh_and_not_taken_from_the_row_number() -> None:
    reports = make("olh").privatize(np.zeros(5000, int))
    seeds = reports.columns["seed"]
    assert np.unique(seeds).size == 5000
    assert int(seeds.max()) > 2**60
    again = make("olh").privatize(np.zeros(5000, int)).columns["seed"]
    assert not np.isin(seeds, again).any()


def test_published_seeds_and_secret_coins_come_from_a_cipher() -> None:
    """The stream behind a report cannot be rebuilt from seeds that other reports publish."""
    assert type(dn.secure()).__name__ == "Secure"
    assert not make("olh").privatize([1]).simulated


# ---- correctness


def test_both_sides_have_the_same_parameters_because_reports_carry_them() -> None:
    """A range of 2 at one end and of 21 at the other is refused, not silently estimated."""
    two, many = make("blh", epsilon=3.0), make("olh", epsilon=3.0)
    with pytest.raises(dn.MergeError, match="another design: mechanism is 'olh' in one and 'blh' in the other"):
        many.tally(two.privatize([1]))


def test_a_new_collection_starts_from_nothing() -> None:
    m = make("olh")
    m.tally(m.privatize(np.ones(1000, int)))
    later = m.tally(m.privatize(np.full(10, 2)))
    assert later.n == 10
    assert m.empty().n == 0
    assert int(m.bulk.support_counts(later.cells).max()) <= 10


def test_mechanisms_cannot_be_changed_after_the_fact() -> None:
    m = make("lh")
    with pytest.raises(FrozenInstanceError):
        m.g = 3
    assert m == make("lh")
    assert m != make("lh", g=8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [2, 3, 6, 7, 33])
def test_domains_need_not_be_powers_of_two(name: str, k: int) -> None:
    m = make(name, k=k)
    e = m.estimate(m.tally(m.privatize(np.arange(500) % k, rng=dn.simulation(k))))
    assert e.value.shape == (k,)
    assert np.isfinite(e.value).all()


def test_every_subset_size_up_to_k_minus_1_can_be_had() -> None:
    for k in (2, 3, 5):
        sizes = [make("ss", k=k, size=size).size for size in range(1, k)]
        assert sizes == list(range(1, k))


@pytest.mark.stat
def test_the_unbiased_estimate_of_a_point_mass_is_not_shrunk() -> None:
    """5000 users who all hold value 0, k = 50, epsilon 0.5: clipping and renormalising would give about 0.26.

    The mean of 20 runs is within 4.9 of its standard errors of 1 (alpha 1e-6); 0.26 is further off than twice that.
    """
    m, runs = make("grr", k=50, epsilon=0.5), 20
    found = [m.estimate(m.tally(m.privatize(np.zeros(5000, int), rng=r))) for r in dn.simulation(6).spawn(runs)]
    error = float(np.sqrt(m.support.variance(1.0, 5000) / runs))
    assert abs(np.mean([e.value[0] for e in found]) - 1) < 4.9 * error
    assert 2 * 4.9 * error < 1 - 0.26
    assert min(e.value.min() for e in found) < 0


def test_all_estimates_negative_is_an_answer_and_not_a_division_by_zero() -> None:
    m = make("oue", k=4, epsilon=0.5)
    cells = {"n": np.array([100]), "support": np.zeros((1, 4), np.int64)}
    e = m.estimate(dn.Tally(m.design, m.bulk.strata, cells))
    assert (e.value < 0).all()
    assert np.isfinite(e.stderr).all()
    assert e.project().value == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("k", [2000, 10_000, 10**6])
@pytest.mark.parametrize("name", ["sue", "oue", "olh", "blh", "ss", "grr"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
def test_the_best_guess_does_not_vanish_for_large_domains(name: str, k: int, epsilon: float) -> None:
    """Binomial sums overflow beyond a thousand items; closed forms do not."""
    guess = make(name, k=k, epsilon=epsilon).guess().success
    assert 1 / k < guess <= 1 / (1 + (k - 1) * math.exp(-epsilon)) * (1 + 1e-12)


@pytest.mark.stat
@pytest.mark.parametrize("name", ["oue", "ss", "olh"])
def test_the_best_guess_at_2000_items_is_the_one_that_an_attacker_gets(name: str) -> None:
    """Alpha 1e-4 each; guesses uniformly among the supported items, or any item if there is none. 30 % off is seen."""
    m, n = make(name, k=2000, epsilon=8.0), 20_000
    assert isinstance(m, SupportMechanism)
    generator = dn.simulation(17).generator()
    values = generator.integers(2000, size=n)
    hits = 0
    for start in range(0, n, 2000):
        part = values[start : start + 2000]
        rows = m.bulk.supported(m.privatize_items(part, dn.simulation(100 + start)).columns)
        held = np.unpackbits(rows, axis=1, count=2000, bitorder="little").astype(bool)
        size = held.sum(axis=1)
        chance = np.where(held[np.arange(part.size), part], 1 / np.maximum(size, 1), np.where(size, 0, 1 / 2000))
        hits += int((generator.random(part.size) < chance).sum())
    assert binomtest(hits, n, m.guess().success).pvalue > 1e-4
    assert binomtest(hits, n, min(1.0, 1.3 * m.guess().success)).pvalue < 1e-4


def test_a_report_of_item_zero_alone_is_not_taken_for_an_empty_one() -> None:
    m = make("oue", k=10)
    only_zero = dn.Reports.from_rows(m.design, m.fields, [b"\x01\x00"], simulated=True)
    assert m.bulk.support_counts(m.tally(only_zero).cells).tolist() == [1] + [0] * 9
    assert m.bulk.supported(only_zero.columns).tobytes() == b"\x01\x00"


def test_reports_are_packed() -> None:
    assert make("oue", k=1000).bulk.row_bytes == 125
    assert make("ss", k=1000).bulk.row_bytes == 125
    assert make("olh", k=1000).bulk.row_bytes == 9
    assert make("grr", k=1000).bulk.row_bytes == 2
    assert make("grr", k=256).bulk.row_bytes == 1


def test_importing_changes_no_warnings_filter_and_no_generator() -> None:
    code = (
        "import warnings, random, numpy as np; before = list(warnings.filters), random.getstate(); "
        "import deniable; "
        "after = list(warnings.filters), random.getstate(); print(before == after)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "True"


def test_values_of_one_batch_are_perturbed_independently() -> None:
    """Equal values in one call do not get equal reports, nor do equal batches."""
    m = make("grr", k=4, epsilon=0.1)
    reports = m.privatize(np.zeros(4000, int), rng=dn.simulation(12)).columns["value"]
    pairs = Counter(zip(reports[::2].tolist(), reports[1::2].tolist(), strict=True))
    assert len(pairs) == 16
    assert max(pairs.values()) < 250
