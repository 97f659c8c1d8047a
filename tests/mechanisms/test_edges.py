"""What a mechanism refuses, tells and counts at its edges: one step to either side, and one rule for all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collect.parquet import PACKED
from deniable.core.domain import Ticks
from deniable.estimate.change import equality
from deniable.estimate.ordered import band_width
from deniable.mechanisms.keyvalue.pairs import steps_of
from deniable.plan.scoring import check_weights, misses
from deniable.present.tables import shares_table
from deniable.run.counting import Counting


def test_shares_of_parts_are_whole_numbers_from_one() -> None:
    made = dn.survey({"a": 2, "b": 3}, epsilon=1.0).mechanism
    shares = made.shares
    for wrong in ((0, 1), (1, -1), (1,), (1, 1.5), (*shares, 1)):
        with pytest.raises(dn.ParameterError, match="shares must be 2 whole numbers from 1 to"):
            replace(made, shares=wrong)


def test_every_size_of_a_window_is_below_its_number_of_cells() -> None:
    m = dn.mechanism("windows", epsilon=1.0, k=8, widths=[1, 2])
    good = m.sizes
    assert len(good) == 2
    for wrong in ((8, good[1]), (good[0], 4)):
        with pytest.raises(dn.ParameterError, match="sizes must be whole numbers from 1 to one less than the cells"):
            replace(m, sizes=wrong)


def test_values_are_one_dimensional() -> None:
    assert steps_of([0.0, 1.0], (0.0, 1.0)).shape == (2,)
    with pytest.raises(dn.ParameterError, match=r"values must be one-dimensional, got an array of shape \(1, 2\)"):
        steps_of([[0.0, 1.0]], (0.0, 1.0))


def test_ticks_have_a_domain_of_sets() -> None:
    m = dn.mechanism("several", epsilon=1.0, k=5, most=2)
    assert isinstance(m.domain, Ticks)
    assert m.domain.most == 2


def test_a_question_has_at_most_the_epsilon_of_its_survey() -> None:
    dn.survey({"a": {"k": 2, "epsilon": 1.0}, "b": 2}, epsilon=1.0)
    with pytest.raises(dn.ParameterError, match=r"epsilon of a must be at most that of the survey, 1, got 1\.5"):
        dn.survey({"a": {"k": 2, "epsilon": 1.5}, "b": 2}, epsilon=1.0)


def test_a_table_is_of_its_pair_alone_or_of_all_reports() -> None:
    """Of a survey: reports about a and c say something of the table of a and b, unless that is not wanted."""
    s = dn.survey({"a": 2, "b": 3, "c": 2}, epsilon=1.0, tables=[("a", "b"), ("a", "c")], scheme="pairs")
    people = {"a": [0, 1] * 300, "b": [0, 1, 2] * 200, "c": [1] * 600}
    told = s.tally(s.privatize(people, rng=dn.simulation(1)))
    assert (s.table(told, "a", "b").value != s.table(told, "a", "b", pooled=False).value).any()
    assert (s.table(told, "a", "b").value == s.table(told, "a", "b", pooled=True).value).all()


def test_functions_that_make_mechanisms_need_an_epsilon() -> None:
    with pytest.raises(dn.ParameterError, match="epsilons must be"):
        dn.study([lambda epsilon: dn.mechanism("grr", epsilon=epsilon, k=4)], (), k=4, n=100, runs=1)


@pytest.mark.parametrize("name", ["kv-ss", "kv-mix", "kv-olh"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_key_is_too_rare_where_its_mean_may_be_anything(name: str, level: float) -> None:
    """What is told and what the interval says are one rule, at every level."""
    m = dn.mechanism(name, epsilon=1.0, k=12)
    pairs = [(f"u{i}", min(11, int(i**0.5) // 4), 0.5) for i in range(2000)]
    part = m.parts(m.tally(m.privatize(pairs, rng=dn.simulation(1))))["mean"]
    ends, (low, high) = part.interval(level, "reporters", False), part.range
    rare = part.too_rare(level)
    assert rare.any() or level < 0.9
    assert ((ends.low == low) & (ends.high == high))[rare].all()
    told = next(
        (where for note, where in ends.notes.items() if "too rare to say" in note and "nearly" not in note), False
    )
    assert rare.tolist() == np.broadcast_to(told, rare.shape).tolist()


def test_a_need_is_told_where_a_target_is_missed() -> None:
    """With n, epsilon and a target: how many people it takes, or which epsilon."""
    found = dn.plan(k=8, n=200, epsilon=1.0, target_error=0.01)
    assert not found.feasible
    assert found.smallest_n is not None
    people = found.smallest_n.smallest_n
    assert dn.plan(k=8, n=people, epsilon=1.0, target_error=0.01).feasible


def test_a_limit_is_met_by_what_is_equal_to_it() -> None:
    best = dn.plan(k=8, n=1000, epsilon=1.0).best
    assert best is not None
    assert misses(best, {"bits": best.bits}) == []
    assert misses(best, {"bits": math.nextafter(best.bits, 0)}) == ["bits"]


def test_units_of_scores_are_above_zero() -> None:
    first = dn.plan(k=8, n=1000, epsilon=1.0).best
    assert first is not None
    free, dear = replace(first, work=0.0), replace(first, work=3.0, mse=2 * first.mse)
    score = check_weights(None, {"error": 1, "work": 1}, "mse").among([free, dear])
    assert [score.of(free), score.of(dear)] == [0.5, 1.5]


def test_means_are_not_per_cent() -> None:
    columns = {"value": [3.0], "stderr": [0.5], "low": [2.0], "high": [4.0]}
    assert "%" not in shares_table(columns, ["mean"], level=0.95, numbers=True).render().replace("95 %", "")
    assert "300" in shares_table(columns, ["share"], level=0.95).render()


def test_the_excess_is_that_over_the_least() -> None:
    """Of ranges: what is least is the same for all designs, and they come in the order of their excess."""
    found = dn.plan(question="range", k=16, n=1000, epsilon=1.0).designs
    least = [d.variance_range / (1 + d.gap) for d in found]
    assert len(found) > 2
    assert least == pytest.approx([least[0]] * len(found))


def test_a_block_without_a_checksum_is_missing_not_damaged() -> None:
    arrow = pytest.importorskip("pyarrow")
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    batch = arrow.record_batch(
        [arrow.array([1, 1]), arrow.array([None, 5], arrow.int64()), arrow.array([b"\0", b"\0"])], names=list(PACKED)
    )
    counting = Counting(m)
    counting.add(batch)
    assert counting.result().skipped == {"null": 1, "damaged": 1}


def test_bands_hold_whatever_their_correlations_are_rounded_to() -> None:
    """The width by the bound itself, with correlations that are not rounded: never wider than what is used."""
    from deniable.estimate import ordered

    variance, singles = np.array([1.0, 1.3, 0.9, 0.7]), np.array([1.0, 0.5013, 0.6017, 0.4011])
    used = band_width(variance, singles, 0.95)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered, "_GRID", 1 << 40)
        exact = band_width(variance, singles, 0.95)
    assert exact < used < exact + 0.01


def test_where_all_estimates_sum_to_one_or_not_yes_and_no_are_one_test() -> None:
    """A design whose shares do not sum to 1: one degree of freedom for two answers, and k - 1 for k."""
    for k in (2, 3, 5):
        m = dn.mechanism("oue", epsilon=1.0, k=k)
        both = [m.estimate(m.simulate_tally([400] * k, dn.simulation(seed))) for seed in (1, 2)]
        assert equality(both).degrees == k - 1
        assert dn.trend(both).degrees == k - 1


def test_one_file_is_written_once_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.cli.output import Output

    monkeypatch.chdir(tmp_path)
    out = Output(as_json=False)
    out.claim("a.csv")
    for same in (str(tmp_path / "a.csv"), "./a.csv", "b/../a.csv"):
        (tmp_path / "b").mkdir(exist_ok=True)
        with pytest.raises(dn.ParameterError, match="another file than the other outputs"):
            out.claim(same, "chart")
