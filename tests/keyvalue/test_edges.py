"""Key-value data at their edges: first and last values, keys of nobody, one report, and each target."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.intervals import critical
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.keyvalue.estimate import FrequencyPart, GroupCounts, MeanPart, keyvalue_parts
from deniable.mechanisms.keyvalue.laws import Signal, alone, best_share, covered_by_subset, raised, ratio_of
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import KsAdap, KsGrr
from deniable.mechanisms.keyvalue.rounds import PrivKvm, published_means
from deniable.mechanisms.keyvalue.signed import OneSampledKey, SplitSelection
from deniable_client.kernels.keyvalue import GRID


def frequency_part(**own: Any) -> FrequencyPart:
    given: dict[str, Any] = {"value": np.array([0.5, 0.3, 0.2]), "n": 100, "cross": (0.002, 0.01, 0.0)}
    three = (np.full(3, 0.001), np.full(3, 0.004), np.full(3, -0.002))
    return FrequencyPart(**{"curve": three, **given, **own})


def mean_part(**own: Any) -> MeanPart:
    given: dict[str, Any] = {"frequency": np.array([0.5, 0.2, -0.1]), "total": np.array([0.2, -0.04, 0.01]), "n": 100}
    spread = (np.full(3, 0.0004), np.full(3, 0.0001))
    return MeanPart(**{"spread": spread, "rare_spread": (0.0004, 0.0001), "ends": (1.0, 5.0), **given, **own})


# ---- people and their pairs


def test_everybody_has_exactly_one_pair_where_no_length_is_given() -> None:
    m = dn.mechanism("kv-ss2", epsilon=1.0, k=3)
    for offsets, person, has, several in (([0, 1, 1, 2], 1, 0, 1), ([0, 2, 4, 5], 0, 2, 2)):
        keys = np.arange(offsets[-1]) % 2
        told = rf"person {person} has {has} \({several} of 3 have several or none\)"
        with pytest.raises(ParameterError, match=told):
            m.privatize((np.array(offsets), keys, np.zeros(keys.size)))


@pytest.mark.stat
def test_a_person_with_more_pairs_than_the_length_gives_each_of_them_alike_and_no_dummy() -> None:
    """Of 3 pairs and length 2 each has a third; of one pair half, and of none nothing: dummies have the rest.

    Five standard errors: a false alarm has the probability 6e-7 each, with a fixed seed.
    """
    m: Any = dn.mechanism("kv-ss2", epsilon=1.0, k=5, length=2)
    for held, share in ((3, 1 / 3), (1, 1 / 2), (0, 0.0)):
        n = 3000
        keys = np.tile(np.arange(held), n)
        people = PairSets(np.arange(n + 1) * held, keys, np.full(keys.size, GRID))
        drawn = np.bincount(m.choose(people, dn.simulation(7)) % m.total, minlength=7) / n
        assert drawn[:held] == pytest.approx([share] * held, abs=0.05)
        assert drawn[held:5].sum() == 0
        assert drawn[5:].sum() == pytest.approx(1 - held * share, abs=0.05)


def test_the_first_of_two_values_for_one_key_is_kept_where_that_is_asked_for() -> None:
    rows = [("ann", 0, 1.0), ("bob", 0, -1.0), ("ann", 0, -1.0), ("ann", 1, 0.0), ("ann", 1, 1.0)]
    made = PairSets.of(rows, Domain.of(2), (-1.0, 1.0), duplicates="first")
    assert (made.offsets.tolist(), made.keys.tolist()) == ([0, 2, 3], [0, 1, 0])
    assert made.values.tolist() == [GRID, GRID // 2, 0]
    with pytest.raises(ParameterError, match=r"person 0 has the key '0' twice \(2 such pairs\)"):
        PairSets.of(rows, Domain.of(2), (-1.0, 1.0))


def test_rows_without_key_and_value_are_people_without_a_pair_and_half_rows_are_refused() -> None:
    rows = [("ann", None, None), ("bob", 1, 1.0), ("cyd", None, None)]
    made = PairSets.of(rows, Domain.of(2), (0.0, 1.0))
    assert (made.offsets.tolist(), made.keys.tolist()) == ([0, 0, 1, 1], [1])
    for half in (("ann", 0, None), ("ann", None, 1.0)):
        with pytest.raises(ParameterError):
            PairSets.of([("bob", 1, 1.0), half], Domain.of(2), (0.0, 1.0))
    for twice in ([rows[0], ("ann", 0, 0.5)], [("ann", 0, 0.5), rows[0]], [rows[0], rows[0]]):
        with pytest.raises(ParameterError, match="neither key nor value"):
            PairSets.of(twice, Domain.of(2), (0.0, 1.0))


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [1, 3], [0, 2], [0, 4], [0], [0.0, 3.0], [[0, 3]]], ids=str)
def test_offsets_rise_from_0_to_the_number_of_pairs(offsets: list[Any]) -> None:
    with pytest.raises(ParameterError, match="whole numbers that rise from 0 to the number of pairs, 3"):
        PairSets.of((np.array(offsets), [0, 1, 0], [0.0, 1.0, 0.5]), Domain.of(2), (0.0, 1.0))


def test_true_frequencies_are_shares_of_people_and_means_go_from_minus_1_to_1() -> None:
    people = PairSets(np.array([0, 2, 2, 3, 3]), np.array([0, 1, 0]), np.array([GRID, 0, GRID // 2]))
    frequencies, means = people.truth(3)
    assert frequencies == pytest.approx([2 / 4, 1 / 4, 0])
    assert means == pytest.approx([0.5, -1, 0])
    assert people.take(np.array([2, 0])).keys.tolist() == [0, 0, 1]
    only = people.only(np.array([-1, 0, -1]))
    assert (only.offsets.tolist(), only.keys.tolist(), only.values.tolist()) == ([0, 1, 1, 1, 1], [0], [0])


# ---- what is told of frequencies and means


def test_covariances_of_frequencies_are_those_of_the_target() -> None:
    """Drawing people adds f (1 - f)/n to variances and -f f'/n to covariances."""
    part = frequency_part(value=np.array([0.5, 1.3, -0.2]))
    f = np.array([0.5, 1.0, 0.0])
    own, drawn = part.covariance("reporters"), part.covariance("population")
    assert own[0, 1] == pytest.approx(0.002 + 0.01 * 1.5)
    assert drawn - own == pytest.approx((np.diag(f) - np.outer(f, f)) / 100)
    assert np.diag(own) == pytest.approx(0.001 + 0.004 * f - 0.002 * f * f)
    for target in ("reporters", "population"):
        assert np.diag(part.covariance(target)) == pytest.approx(part.variance(target))


def test_the_frequency_of_a_key_that_is_asked_by_chance_varies_as_one_report_does() -> None:
    """K times a report about the key, 0 for one about another: its moments by hand; no term is left for a split."""
    m: Any = dn.mechanism("privkv", epsilon=1.0, k=4)
    n, s = 1000, m.groups[0].signal
    cells = {
        "asked": np.full((1, 4), n // 4),
        "plus": np.array([[90, 60, 70, 80]]),
        "minus": np.array([[40, 60, 50, 70]]),
    }
    part = m.parts(dn.Tally(m.design, ("all",), {"n": np.array([n]), **cells}))["frequency"]
    held, idle, step = float(s.held), float(s.idle), float(s.step)
    other = 4 * idle * (1 - idle) / step**2
    own = 4 * (held * (1 - held) + (held - idle) ** 2) / step**2 - 1
    assert part.curve[0] == pytest.approx(other / n)
    assert part.curve[1] == pytest.approx((own - other) / n)
    assert np.all(part.curve[2] == 0)
    assert part.cross == (0, 0, 0)


def test_means_are_in_the_units_of_their_range_and_vary_no_more_than_values_can() -> None:
    part = mean_part()
    assert part.unit == pytest.approx([0.4, -0.2, 1.0]), "a key of less than one person counts as that of one"
    assert part.value == pytest.approx([1 + 4 * 0.7, 1 + 4 * 0.4, 5])
    once = [(0.0004 + 0.16 * 0.0001) / 0.25, (0.0004 + 0.04 * 0.0001) / 0.04, 1.0]
    assert part.variance("reporters") == pytest.approx(4 * np.array(once))
    assert part.range == (1.0, 5.0)


def test_intervals_of_all_means_together_are_those_of_one_at_a_higher_level() -> None:
    part = mean_part()
    many, one = part.interval(0.9, "population", True), part.interval(1 - 0.1 / 3, "population", False)
    assert (many.low.tolist(), many.high.tolist()) == (one.low.tolist(), one.high.tolist())
    alone = part.interval(0.9, "population", False)
    assert (alone.low[:2] > many.low[:2]).all()
    assert (many.low[2], many.high[2]) == (1.0, 5.0)
    assert critical(0.9, 3) == pytest.approx(critical(1 - 0.1 / 3))


def test_a_key_with_a_frequency_of_0_or_less_is_too_rare_to_say() -> None:
    part = mean_part(frequency=np.array([0.5, 0.0, -0.5]), spread=(np.full(3, 0.01), np.zeros(3)))
    assert part.too_rare().tolist() == [False, True, True]
    ends = part.interval(0.95, "population", False)
    assert ends.low[1:].tolist() == [1.0, 1.0]
    assert ends.high[1:].tolist() == [5.0, 5.0]
    assert "the whole range for 2 of 3 keys, too rare to say" in ends.notes


def test_one_group_has_no_error_for_its_size_and_several_pairs_add_that_of_the_draw() -> None:
    """By hand from one report of each person: (reported - idle)/step, times the length, for one of so many pairs."""
    signal = Signal.of(Fraction(1, 2), Fraction(1, 8), Fraction(1, 4))
    counts = GroupCounts(alone(signal)[0], np.full(2, 40.0), np.array([12, 3]), np.array([4, 3]))
    for padding, length in ((None, 1), (3, 3)):
        f: Any = keyvalue_parts([counts], 40, padding, (-1.0, 1.0))["frequency"]
        step = 5 / 8 - 1 / 4
        other, own = (1 / 4) * (3 / 4) / step**2, (5 / 8) * (3 / 8) / step**2
        assert f.value == pytest.approx(length * (np.array([16, 6]) / 40 - 1 / 4) / step)
        assert f.curve[0] == pytest.approx(length**2 * other / 40)
        assert f.curve[1] == pytest.approx((length * (own - other) + length - 1) / 40)
        assert f.curve[2] == pytest.approx(0)
        assert f.several == (padding is not None)


# ---- tallies that no reports give


def test_a_key_has_no_more_signs_than_reports_that_speak_of_it() -> None:
    bulk = dn.mechanism("privkv", epsilon=1.0, k=2).bulk

    def cells(plus: list[int], minus: list[int]) -> dict[str, Any]:
        return {"n": np.array([5]), "plus": np.array([plus]), "minus": np.array([minus]), "asked": np.array([[2, 3]])}

    bulk.check(cells([1, 1], [1, 2]))
    for plus, minus in (([2, 0], [1, 0]), ([0, 1], [0, 3]), ([3, 0], [0, 0])):
        with pytest.raises(FormatError):
            bulk.check(cells(plus, minus))


def test_each_group_is_checked_by_what_its_own_reports_can_say() -> None:
    """Reports of keys alone have no -1, those of the other group have."""
    bulk = dn.mechanism("kv-mix", epsilon=1.0, k=2, mix=0.5).bulk

    def cells(minus: list[list[int]], plus: list[list[int]]) -> dict[str, Any]:
        return {"n": np.array([4, 6]), "plus": np.array(plus), "minus": np.array(minus)}

    bulk.check(cells([[0, 0], [2, 3]], [[4, 1], [4, 3]]))
    for minus, plus in (
        ([[1, 0], [2, 3]], [[3, 1], [4, 3]]),
        ([[0, 0], [2, 3]], [[4, 1], [5, 3]]),
        ([[0, 0], [2, 3]], [[5, 1], [4, 3]]),
    ):
        with pytest.raises(FormatError):
            bulk.check(cells(minus, plus))


# ---- designs and their limits


def test_shares_of_key_only_reports_stay_from_0_to_1() -> None:
    for epsilon in (0.5, 1.0, 3.0):
        for keys in (2, 5, 40):
            shares = [best_share(epsilon, keys, interest) for interest in (0, 0.5, 1, 2, 1e9)]
            assert shares == sorted(shares)
            assert shares[0] == 0
            assert shares[-1] == pytest.approx(1, abs=1e-6)
            assert max(shares) <= 1
    assert dn.mechanism("kv-ss", epsilon=1.0, k=5, interest=0).mix == 0  # type: ignore[attr-defined]


def test_a_share_of_0_is_one_that_was_given() -> None:
    for name in ("kv-mix", "kv-ss"):
        given: Any = dn.mechanism(name, epsilon=1.0, k=5, mix=0.0)
        best: Any = dn.mechanism(name, epsilon=1.0, k=5)
        assert (given.mix, len(given.groups)) == (0, 1)
        assert (best.mix > 0, len(best.groups)) == (True, 2)
    assert best.group_share == (1 << 64) - round(Fraction(best.mix) * (1 << 64))
    mixed: Any = dn.mechanism("kv-mix", epsilon=1.0, k=5)
    assert mixed.mix == pytest.approx(1 / (math.e + 1))


def test_sets_of_all_keys_say_nothing_and_are_refused() -> None:
    own: dict[str, Any] = {"epsilon": 1.0, "domain": Domain.of(4)}
    made = SplitSelection(mix=0.5, key_size=3, size=4, **own)
    assert [group.weight for group in made.groups] == [1, 0], "all keys with a sign say nothing of frequencies"
    for wrong in (
        {"mix": 0.5, "key_size": 4, "size": 2},
        {"mix": 0.0, "key_size": 2, "size": 4},
        {"mix": 0.5, "key_size": 2, "size": 5},
    ):
        with pytest.raises(ParameterError):
            SplitSelection(**wrong, **own)


def test_some_of_epsilon_is_left_for_values() -> None:
    own: dict[str, Any] = {"epsilon": 1.0, "domain": Domain.of(4)}
    for spent in (1.0, 1.5, -0.1, math.nan, True):
        with pytest.raises(ParameterError, match="key_epsilon"):
            OneSampledKey(key_epsilon=spent, **own)
    m = OneSampledKey(key_epsilon=0.25, **own)
    signal = m.ideal()[0].signal
    first, second = math.exp(0.25), math.exp(0.75)
    assert float(signal.held) == pytest.approx(first / (1 + first))
    assert float(signal.gain / signal.held) == pytest.approx((second - 1) / (second + 1))
    assert float(signal.asked) == 0.25
    halves = OneSampledKey(**own).ideal()[0].signal
    assert float(halves.held) == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))


def test_padding_raises_the_ratio_of_sets_smaller_than_the_length_only() -> None:
    e = ratio_of(1.0)
    for size, length, times in ((1, 3, 3), (2, 3, 1.5), (3, 3, 1), (4, 3, 1), (9, 3, 1), (1, 1, 1), (5, 0, 1)):
        assert float((raised(1.0, size, length) - 1) / (e - 1)) == pytest.approx(times)


@pytest.mark.parametrize(
    ("k", "length", "likely", "unlikely"),
    [(4, 2, "0011", "1100"), (3, 2, "011", "022"), (2, 1, "01", "10"), (5, 2, "00011", "01100"), (2, 2, "11", "22")],
)
def test_the_sets_that_a_report_tells_apart_best_are_named(k: int, length: int, likely: str, unlikely: str) -> None:
    """Digits are those of the keys, the first one last: 1 for +1, 2 for -1. Other keys where there are enough."""
    m = dn.mechanism("kv-ss2", epsilon=1.0, k=k, length=length)
    witness = m.proof.witness
    assert witness is not None
    assert (witness.likely, witness.unlikely) == (int(likely, 3), int(unlikely, 3))
    assert len(m.promise.value_budgets) == 1
    assert m.promise.k == 3**k


@pytest.mark.parametrize(("total", "size", "others"), [(5, 2, 2), (5, 3, 2), (5, 2, 3), (4, 1, 0), (6, 3, 3)])
def test_a_subset_of_all_has_more_than_the_others_unless_it_is_one_of_theirs(
    total: int, size: int, others: int
) -> None:
    sets = list(combinations(range(total), size))
    wanted = sum(any(x >= others for x in own) for own in sets) / len(sets)
    assert covered_by_subset(total, size, others) == pytest.approx(wanted)


# ---- protocols


@pytest.mark.stat
@pytest.mark.parametrize("held", [0, 1, 4, 5, 6, 9])
def test_people_say_how_many_candidates_they_have_five_at_most(held: int) -> None:
    """At epsilon 12 fewer than one of 30,000 reports is another number; 6 of 400 are so with a chance below 1e-13."""
    protocol = KsAdap(epsilon=12.0, domain=12, top=5)
    step = protocol._ask_sizes(range(10))
    people = PairSets(np.arange(401) * held, np.tile(np.arange(held), 400), np.zeros(400 * held, np.int64))
    found = step.mechanism.estimate(step.mechanism.tally(step.privatize(people, dn.simulation(2)))).value
    assert found[min(held, 5)] == pytest.approx(1, abs=0.015)


@pytest.mark.parametrize("top", [0, 4, 1.5, True])
def test_half_of_the_keys_are_wanted_at_most(top: Any) -> None:
    for kind in (KsGrr, KsAdap):
        assert kind(epsilon=1.0, domain=7, top=3).top == 3
        with pytest.raises(ParameterError, match="top must be an integer from 1 to 3"):
            kind(epsilon=1.0, domain=7, top=top)


def test_an_estimate_is_simulated_if_the_tally_of_any_step_is() -> None:
    for protocol, rows in (
        (KsGrr(epsilon=2.0, domain=6, top=2), [(person, person % 3, 0.5) for person in range(300)]),
        (PrivKvm(epsilon=2.0, domain=3, rounds=2), [(person, person % 3, 0.5) for person in range(60)]),
    ):
        _, _, tallies = protocol.run(protocol.pairs(rows), dn.simulation(1))
        for which in ((True, False), (False, True), (False, False)):
            some = [replace(tally, simulated=own) for tally, own in zip(tallies, which, strict=True)]
            found: Any = protocol.next(some)
            assert found.simulated == any(which)


def test_published_means_are_clipped_and_stay_where_nobody_spoke() -> None:
    m = OneSampledKey(epsilon=1.0, domain=Domain.of(4), key_epsilon=0.5)
    kept = 1 - m.bulk.groups[0].kernel.flip / 2**64
    cells = {"n": [40], "asked": [[10, 10, 10, 10]], "plus": [[10, 0, 4, 0]], "minus": [[0, 0, 6, 9]]}
    tally = dn.Tally(m.design, ("all",), {name: np.array(own) for name, own in cells.items()})
    found = published_means(m, tally, np.array([0.1, -0.7, 0.2, 0.3]))
    assert found == pytest.approx([1, -0.7, (4 - 6) / (2 * kept - 1) / 10, -1])


@pytest.mark.parametrize("rounds", [1, 2, 3, 20])
def test_all_rounds_together_spend_epsilon_and_the_first_one_what_is_for_keys(rounds: int) -> None:
    for epsilon in (0.3, 1.0, 3.7):
        first, *others = PrivKvm(epsilon=epsilon, domain=4, rounds=rounds).budgets
        assert len(others) == rounds - 1
        assert sum(map(Fraction, [first, *others])) <= Fraction(epsilon)
        assert first == pytest.approx(epsilon / 2 + epsilon / 2 / rounds)
        assert others == pytest.approx([epsilon / 2 / rounds] * (rounds - 1))
