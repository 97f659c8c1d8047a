"""Surveys at their edges: which questions are asked together, limits, the second of several, and single reports."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.mechanisms.registry import MECHANISMS
from deniable.mechanisms.survey.blocks import Block, Goal, best_blocks, shares_of, singles
from deniable.mechanisms.survey.bounds import least_sum, most_of_all
from deniable.mechanisms.survey.effects import Effects, interaction_of
from deniable.mechanisms.survey.foreseen import worst
from deniable.mechanisms.survey.independence import Independence, _uncertain, independence_people, independence_power
from deniable.mechanisms.survey.laws import best_shape, box_costs, least_cost, sampling
from deniable.mechanisms.survey.several import AskedPart
from deniable.mechanisms.survey.shares import split_budget, wanted
from deniable.mechanisms.survey.tables import effects_parts, pairs_parts
from deniable.mechanisms.survey.ticks import best_design, least_ticks, ticked_law, typical

SMALL = {
    name: [dn.mechanism(name, **case) for case in MECHANISMS[name].small] for name in ("box", "several", "interaction")
}


# ---- blocks


def test_goals_count_weights_or_the_error_that_is_hardest_to_reach() -> None:
    weighed, precise = Goal(weights=(1.0, 4.0, 9.0)), Goal(stderr=(0.1, 0.2, 0.5))
    assert weighed.people((2.0, 3.0, 1.0)) == pytest.approx(math.sqrt(2 + 12 + 9))
    assert precise.people((2.0, 3.0, 1.0)) == pytest.approx(max(200, 75, 4))
    assert (weighed.total([1, 2, 3]), precise.total([1, 2, 3])) == (36, 6)
    assert weighed.of((2, 0)) == Goal(weights=(9.0, 1.0))
    assert precise.of((2, 0)) == Goal(stderr=(0.5, 0.1))
    each = singles((2.0, 3.0, 1.0), weighed)
    assert [block.members for block in each] == [(0,), (1,), (2,)]
    assert [block.people for block in each] == pytest.approx([math.sqrt(2), math.sqrt(12), 3])
    assert shares_of([Block((0,), (), (1.0,), 3.0), Block((1,), (), (1.0,), 1.0)]) == [0.75, 0.25]


def blocks(
    epsilon: float, sizes: list[int | None], least: int = 1, weights: Any = None, stderr: Any = ()
) -> list[Block]:
    goal = Goal(stderr=stderr) if stderr else Goal(tuple(weights or [1.0] * len(sizes)))
    return best_blocks(epsilon, [least_cost(k or 9, epsilon) for k in sizes], sizes, goal, least=least)


def together(found: list[Block]) -> list[tuple[int, ...]]:
    return [block.members for block in found]


def test_questions_with_the_fewest_answers_are_asked_together_where_that_pays() -> None:
    assert together(blocks(1.29, [2, 2])) == [(0,), (1,)]
    assert together(blocks(1.3, [2, 2], least=2)) == [(0, 1)]
    assert together(blocks(0.5, [2, 2], least=2)) == [(0, 1)], "even if that does not pay"
    assert together(blocks(3.0, [2, 2])) == [(0, 1)]
    assert together(blocks(3.0, [9, 2, 50, 2])) == [(0,), (1, 3), (2,)]
    assert together(blocks(3.0, [2, None, 2])) == [(0, 2), (1,)], "one that is asked alone stays so"


def test_two_yes_no_questions_are_asked_together_from_where_on_that_costs_less() -> None:
    assert together(blocks(1.342, [2, 2])) == [(0,), (1,)]
    assert together(blocks(1.343, [2, 2])) == [(0, 1)]
    for epsilon in (1.31, 1.36, 2.0, 2.6, 4.0):
        goal = Goal((1.0, 1.0, 1.0))
        alone = singles([least_cost(k, epsilon) for k in (2, 3, 3)], goal)
        found = goal.total([block.people for block in blocks(epsilon, [2, 3, 3])])
        assert found <= goal.total([block.people for block in alone]) * (1 + 1e-12)


def test_the_cost_of_a_block_is_that_of_its_best_shape_for_what_is_wanted_of_its_own_questions() -> None:
    for own in ({"weights": (5.0, 1.0, 2.0)}, {"stderr": (0.3, 0.01, 0.02)}):
        goal = Goal(**own)  # type: ignore[arg-type]
        found = next(block for block in blocks(4.0, [40, 3, 2], **own) if len(block.members) > 1)
        assert found.members == (1, 2)
        kept = goal.of(found.members)
        assert found.shape == best_shape(4.0, (3, 2), kept.people)
        assert found.costs == pytest.approx(box_costs(4.0, (3, 2), found.shape))
        assert found.people == pytest.approx(kept.people(found.costs))


def test_a_question_that_nobody_wants_is_in_no_block() -> None:
    assert together(blocks(4.0, [2, 2, 2, 2], weights=(1.0, 0.0, 1.0, 1.0))) == [(0, 2, 3), (1,)]


@pytest.mark.parametrize(
    ("sizes", "joined"), [([512, 2], True), ([513, 2], False), ([32, 32], True), ([32, 33], False)]
)
def test_a_block_has_at_most_1024_sets_of_answers(sizes: list[int | None], joined: bool) -> None:
    assert together(blocks(6.0, sizes, least=2)) == ([(0, 1)] if joined else [(0,), (1,)])


def test_at_most_eight_questions_are_in_a_block() -> None:
    assert max(len(block.members) for block in blocks(20.0, [2] * 9)) == 8 or len(blocks(20.0, [2] * 9)) > 1
    for count in (8, 9):
        assert all(len(block.members) <= 8 for block in blocks(30.0, [2] * count))
    assert together(blocks(30.0, [2] * 8)) == [tuple(range(8))]


# ---- bounds


def test_a_question_without_weight_does_not_move_the_bound() -> None:
    for sizes, weights in (((2, 3), (1.0, 2.0)), ((2, 9), (1.0, 1.0)), ((4,), (3.0,))):
        alone = least_sum(1.5, sizes, weights)
        assert least_sum(1.5, (*sizes, 5), (*weights, 0.0)) == pytest.approx(alone)
        assert least_sum(1.5, (7, *sizes), (0.0, *weights)) == pytest.approx(alone)


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (2, 2, 2)])
def test_of_few_sets_of_answers_the_bound_is_the_most_that_any_report_tells(sizes: tuple[int, ...]) -> None:
    """By the definition, over all sets of cells that a report can favour."""
    epsilon, k = 2.0, math.prod(sizes)
    cells, best = np.array(list(product(*map(range, sizes)))), 0.0
    for size in range(1, k):
        for held in combinations(range(k), size):
            likely = np.where(np.isin(np.arange(k), held), math.exp(epsilon), 1.0)
            likely /= likely.mean()
            told = [np.var([likely[cells[:, j] == a].mean() for a in range(own)]) for j, own in enumerate(sizes)]
            best = max(best, float(sum(told)))
    assert most_of_all(epsilon, sizes) == pytest.approx(best)
    assert best < math.sinh(epsilon / 2) ** 2


# ---- boxes and ticks


@pytest.mark.parametrize("m", SMALL["box"], ids=str)
def test_the_bound_of_a_box_is_of_the_reporters_and_its_gap_of_the_population(m: Any) -> None:
    told, drawn = m.properties(), sum(sampling(k) for k in m.sizes)
    assert told["bound"] == pytest.approx(least_sum(m.epsilon, m.sizes, [1.0] * len(m.sizes)) - drawn)
    assert told["gap"] == pytest.approx((sum(told["mse"]) + drawn) / (told["bound"] + drawn) - 1, abs=1e-9)
    exact = m.channel()
    chances = [max(row) / exact.total for row in exact.weights]
    assert told["asr"] == pytest.approx(sum(chances) / m.k, rel=1e-9)
    assert m.effective()["asr"] == pytest.approx(sum(chances) / m.k, rel=1e-12)


@pytest.mark.parametrize("m", SMALL["several"], ids=str)
def test_the_gap_of_ticks_is_of_the_population_too(m: Any) -> None:
    told, share = m.properties(), typical(m.options, m.most)[0]
    least, spread = least_ticks(m.epsilon, m.options, m.most), share * (1 - share)
    assert told["gap"] == pytest.approx((told["mse"] + spread) / least - 1)
    assert ("bound" in told) == (least > spread)
    if "bound" in told:
        assert told["bound"] == pytest.approx(least - spread)
    assert told["ticked"] == share
    assert m.effective()["asr"] == pytest.approx(told["asr"], rel=1e-9)


def test_intervals_of_all_answers_to_all_questions_share_the_level() -> None:
    m: Any = dn.mechanism("box", sizes="3,2", epsilon=3.0)
    tally = m.tally(m.privatize(np.arange(600) % 6, rng=dn.simulation(1)))
    whole, each = m.estimate(tally), m.questions(tally)
    many = whole.interval(0.9, simultaneous=True)
    wanted = [one.interval(1 - 0.1 / 5) for one in each]
    assert many.low == pytest.approx(np.concatenate([ends.low for ends in wanted]))
    assert many.high == pytest.approx(np.concatenate([ends.high for ends in wanted]))
    assert (many.level, many.simultaneous) == (0.9, True)
    alone = whole.interval(0.9)
    assert alone.low == pytest.approx(np.concatenate([one.interval(0.9).low for one in each]))
    assert whole.parts["frequency"].several
    assert not dn.mechanism("box", sizes="3", epsilon=1.0).parts(m_of_one())["frequency"].several


def m_of_one() -> Any:
    m = dn.mechanism("box", sizes="3", epsilon=1.0)
    return m.tally(m.privatize([0, 1, 2], rng=dn.simulation(1)))


def test_shares_of_options_beyond_the_ends_vary_as_those_at_the_ends() -> None:
    m: Any = dn.mechanism("several", k=4, most=2, marks=4, epsilon=1.0)
    for target in ("reporters", "population"):
        part = AskedPart(np.array([-0.3, 0.0, 0.4, 1.0, 1.7]), m.weights, 50)
        found = part.variance(target)  # type: ignore[arg-type]
        assert (found[0], found[4]) == (found[1], found[3])
        assert found[2] == pytest.approx(m.weights.variance(0.4, target) / 50)


@pytest.mark.parametrize(("options", "most"), [(3, 1), (3, 2), (4, 3), (5, 5), (6, 2)])
def test_options_are_ticked_as_often_as_in_all_sets(options: int, most: int) -> None:
    sets = [set(own) for size in range(most + 1) for own in combinations(range(options), size)]
    one, two = typical(options, most)
    assert one == pytest.approx(sum(0 in own for own in sets) / len(sets))
    assert two == pytest.approx(sum({0, 1} <= own for own in sets) / len(sets))


@pytest.mark.parametrize("m", SMALL["several"], ids=str)
def test_the_law_of_ticks_is_that_of_all_sets(m: Any) -> None:
    """Of outputs 0 (an own one) and the last (none): how often a set holds them, by listing all sets."""
    outputs, marks = m.options + m.marks, m.marks
    sets = list(combinations(range(outputs), m.size))
    lift = math.exp(m.epsilon)
    weight = [lift if any(y < marks for y in own) else 1.0 for own in sets]
    total, last = sum(weight), outputs - 1
    p = sum(w for w, own in zip(weight, sets, strict=True) if 0 in own) / total
    q = sum(w for w, own in zip(weight, sets, strict=True) if last in own) / total
    w = math.exp(-m.epsilon)
    law = ticked_law(w, 1 - w, outputs, marks, m.size)
    assert (law.p, law.q, law.gap) == pytest.approx((p, q, p - q))
    assert (law.p_not, law.q_not) == pytest.approx((1 - p, 1 - q))
    both = sum(own_w for own_w, own in zip(weight, sets, strict=True) if {0, last} <= set(own)) / total
    assert law.both_one == pytest.approx(both)


def test_sets_of_outputs_are_no_more_than_a_word_has_numbers() -> None:
    marks, size = best_design(0.01, 200, 20, None, None)
    assert math.comb(200 + marks, size) <= 1 << 64
    with pytest.raises(ParameterError, match="size must be"):
        best_design(0.01, 200, 20, 20, 60)
    for wrong in (0, 5, 1.5, True):
        with pytest.raises(ParameterError, match="size must be a whole number from 1 to 4"):
            best_design(1.0, 4, 2, None, wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="marks must be 2 or 4"):
        best_design(1.0, 4, 2, 3, None)
    with pytest.raises(ParameterError, match="size must be 1"):
        best_design(1.0, 4, 2, 4, 2)


# ---- what a forger reaches, by all reports there are


def reached(scores: Any, r: int) -> float:
    """The largest sum of r of the scores of any report (rows)."""
    return float(np.sort(scores, axis=1)[:, -r:].sum(axis=1).max())


@pytest.mark.parametrize("m", SMALL["box"], ids=str)
def test_a_forged_box_reaches_what_the_registry_says(m: Any) -> None:
    each = [(np.array([s.q, s.gap]), k) for s, k in zip(m.supports, m.sizes, strict=True)]
    rows = []
    for box in m.bulk.boxes():
        held = [np.isin(np.arange(k), own) for (_, k), own in zip(each, box, strict=True)]
        rows.append(np.concatenate([(bits - q) / gap for bits, ((q, gap), _) in zip(held, each, strict=True)]))
    for r in range(1, sum(m.sizes) + 1):
        assert MECHANISMS["box"].traits.pull(m, r) == pytest.approx(reached(np.array(rows), r))  # type: ignore[misc]


@pytest.mark.parametrize("m", SMALL["several"], ids=str)
def test_forged_ticks_reach_what_the_registry_says(m: Any) -> None:
    sets = list(combinations(range(m.options + m.marks), m.size))
    held = np.array([np.isin(np.arange(m.options + m.marks), own) for own in sets], np.float64)
    ticked, rest = held[:, : m.options], held[:, m.options :]
    scores = m.weights.unbias(ticked, rest) if m.marks == m.options else (ticked - m.law.q) / m.law.gap
    for r in range(1, m.options + 1):
        assert MECHANISMS["several"].traits.pull(m, r) == pytest.approx(reached(scores, r))  # type: ignore[misc]


@pytest.mark.parametrize("m", SMALL["interaction"], ids=str)
def test_a_forged_interaction_reaches_at_most_what_the_registry_says(m: Any) -> None:
    """Exactly that where nothing is filled up."""
    held = np.array([[x in own for x in range(m.k)] for own in m.channel().supported or ()], np.float64)
    scores = (held - m.effects.base) / m.effects.slope
    for r in range(1, m.k + 1):
        said, found = MECHANISMS["interaction"].traits.pull(m, r), reached(scores, r)  # type: ignore[misc]
        assert found <= said * (1 + 1e-9) + 1e-12
        if m.effects.padded == m.sizes:
            assert found == pytest.approx(said, abs=1e-12)


# ---- interactions


@pytest.mark.parametrize(("sizes", "g"), [((2, 2), 2), ((3, 2), 2), ((3, 5), 3), ((4, 3, 2), 2), ((3, 3), 5)])
def test_drawing_people_moves_an_interaction_as_it_does_that_of_single_people(sizes: tuple[int, ...], g: int) -> None:
    law = Effects.ideal(1.0, sizes, g, 1)
    assert law.padded == tuple(g * math.ceil(own / g) for own in sizes)
    people = np.eye(math.prod(sizes)).reshape(-1, *sizes)
    first = [interaction_of(one, law.padded).reshape(-1)[0] for one in people]
    assert law.drawn() == pytest.approx(np.var(first))
    assert law.at_uniform == pytest.approx(np.mean(first))


def test_a_guess_of_a_cell_is_no_better_than_the_promise_lets_it_be() -> None:
    """With many buckets, and too many hashes to go through."""
    for epsilon in (0.1, 1.0, 3.0):
        m = dn.mechanism("interaction", sizes=(2, 2), g=64, size=1, epsilon=epsilon)
        found = m.guess()
        assert found.success == pytest.approx(1 / (1 + 3 * math.exp(-epsilon)))
        assert found.blind == 0.25
    few = dn.mechanism("interaction", sizes=(30, 40), g=2, size=1, epsilon=1.0).guess()
    assert few.success == pytest.approx(2 / (1 + math.exp(-1)) / 1200)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"sizes": (2,)}, "sizes must be those of 2 to"),
        ({"sizes": (2, 1)}, "at least 2 answers to each question"),
        ({"sizes": (1 << 11, 1 << 10)}, r"at most 1,048,576 cells"),
        ({"sizes": (2, 2), "size": 1}, "size must be left out where g is"),
        ({"sizes": (2, 2), "g": 1}, "g must be an integer from 2"),
        ({"sizes": (2, 2), "g": 3, "size": 3}, "size must be an integer from 1 to g-1 = 2"),
    ],
)
def test_interactions_that_cannot_be_are_refused(own: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        dn.mechanism("interaction", epsilon=1.0, **own)


# ---- tables of two questions


def test_a_table_is_asked_for_once_in_either_direction_and_has_a_weight() -> None:
    asked = {"a": 2, "b": 3, "c": 4}
    for twice in ([("a", "b"), ("a", "b")], [("a", "b"), ("b", "a")]):
        with pytest.raises(ParameterError, match="each pair once"):
            wanted(asked, twice)
    for wrong in ([1.0, 0.0], [1.0, -1.0], [1.0, math.inf], [1.0], [1.0, 1.0, 1.0], "11"):
        with pytest.raises(ParameterError, match="2 numbers > 0, one for each table"):
            wanted(asked, [("a", "b"), ("c", "a")], wrong)
    found = wanted(asked, [("a", "b"), ("c", "a")], [2.0, 3.0])
    assert found.mains == pytest.approx({"a": 2 / 3 + 3 / 4, "b": 2 / 2, "c": 3 / 2})


def test_a_split_budget_gives_every_question_the_same_part_whatever_tables_are_wanted() -> None:
    """The product of two shares: variances of both, each with a third of epsilon, the means being 1/k."""
    want = wanted({"a": 2, "b": 3, "c": 4}, [("a", "b")], [2.0])
    moments = [1 / k + k * least_cost(k, 1.0 / 3) for k in (2, 3)]
    assert split_budget(1.0, want) == pytest.approx(2 * (math.prod(moments) - 1 / 6))


def test_what_is_foreseen_goes_by_shares_and_tables_and_is_asked_for_twice() -> None:
    plan = pairs_parts({"a": 2, "b": 2, "c": 3}, 1.0, tables=[("a", "b")])
    other = pairs_parts({"a": 2, "b": 2, "c": 3}, 1.0, tables=[("a", "c")])
    for _ in range(2):
        once, half = worst(plan, [1.0]), worst(plan, [0.5])
        assert half.cells["a", "b"] == pytest.approx(2 * once.cells["a", "b"], rel=1e-6)
        assert half.questions == pytest.approx({name: 2 * value for name, value in once.questions.items()}, rel=1e-6)
        assert set(worst(other, [1.0]).cells) == {("a", "c")}
        assert set(worst(pairs_parts({"a": 2, "b": 2, "c": 3}, 2.0, tables=[("a", "b")]), [1.0]).questions) == {
            "a",
            "b",
        }


def test_the_worst_answer_is_one_that_all_or_half_of_the_people_have() -> None:
    """Of effects by the law of a single question; of pairs by the covariance of cells, summed over the other one."""
    plan = effects_parts({"a": 4, "b": 2}, 1.0)
    shares = [0.2, 0.3, 0.5]
    found = worst(plan, shares)
    for name, m, share in list(zip(plan.names, plan.mechanisms, shares, strict=True))[:2]:
        law: Any = m.support_effective  # type: ignore[attr-defined]
        most = max(float(law.variance(np.array([f]), 1, "population")[0]) for f in (0.5, 1 / m.k, 0.5 / (m.k - 1)))
        assert found.questions[name] == pytest.approx(most / share, rel=1e-6)
    pairs = pairs_parts({"a": 4, "b": 2}, 1.0)
    law = pairs.mechanisms[0].support_effective  # type: ignore[attr-defined]

    def margin(first: Any, second: Any, axis: int) -> float:
        matrix = law.covariance(np.outer(first, second).reshape(-1), 1, "population").reshape(4, 2, 4, 2)
        return float(np.diag(matrix.sum(axis=(1 - axis, 3 - axis))).max())

    even, half = (np.full(4, 0.25), np.full(2, 0.5)), np.array([0.5, *[0.5 / 3] * 3])
    told = worst(pairs, [1.0])
    assert told.questions["a"] == pytest.approx(max(margin(*even, 0), margin(half, even[1], 0)), rel=1e-6)
    assert told.questions["b"] == pytest.approx(margin(*even, 1), rel=1e-6)


def margins(**values: Any) -> Any:
    """A table of which only margins are known: shares of the answers to each question, and their standard errors."""
    return SimpleNamespace(
        questions=tuple(values),
        rows=("r0", "r1"),
        columns=("c0", "c1"),
        margin=lambda name: (np.array(values[name][0]), np.diag(np.array(values[name][1]) ** 2)),
    )


def test_the_least_certain_margin_is_named_and_three_standard_errors_are_enough() -> None:
    fine, poor, poorest = ([0.375, 0.625], [0.125, 0.125]), ([0.8, 0.2], [0.1, 0.1]), ([0.9, 0.1], [0.1, 0.1])
    assert _uncertain(margins(a=fine, b=fine)) == ""
    assert _uncertain(margins(a=poor, b=fine)) == "r1 of a, 20.0 ± 10.0 %"
    for one, two, told in (
        (poor, poorest, "c1 of b, 10.0"),
        (poorest, poor, "r1 of a, 10.0"),
        (fine, poor, "c1 of b, 20.0"),
    ):
        assert _uncertain(margins(a=one, b=two)).startswith(told)


@pytest.mark.parametrize(("share", "sure"), [(0.4, True), (0.0, False), (-0.1, False)])
def test_a_margin_that_seems_not_to_vary_is_certain_only_if_it_is_above_0(share: float, sure: bool) -> None:
    """As of very few reports, none of which is about it."""
    told = _uncertain(margins(a=([1 - share, share], [0.0, 0.0]), b=([0.5, 0.5], [0.1, 0.1])))
    assert told == ("" if sure else f"r1 of a, {100 * share:.1f} ± 0.0 %")


def test_people_are_told_of_whom_the_test_is_not_refused() -> None:
    """A strong association of rare answers: the margins need more people than the association."""
    plan, table = pairs_parts({"a": 2, "b": 2}, 1.0), np.array([[0.05, 0.0], [0.0, 0.95]])
    n = independence_people(plan, "a", "b", table)
    assert independence_power(plan, "a", "b", table, n).refused == ""
    assert independence_power(plan, "a", "b", table, n / 1.2).refused != ""
    assert independence_power(plan, "a", "b", table, n / 1.2).power > 0.8


def test_one_person_less_than_is_needed_has_less_than_the_wanted_power() -> None:
    plan, table = pairs_parts({"a": 2, "b": 2}, 4.0), np.array([[0.4, 0.1], [0.15, 0.35]])
    for power in (0.5, 0.8, 0.95):
        n = independence_people(plan, "a", "b", table, power=power)
        if not independence_power(plan, "a", "b", table, n - 1).refused:
            assert independence_power(plan, "a", "b", table, n).power >= power
            assert independence_power(plan, "a", "b", table, n - 1).power < power


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"level": 0.0}, "level must be between 0 and 1"),
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"power": 0.05}, "power must be between the level 0.05 and 1"),
        ({"power": 1.0}, "power must be between the level"),
        ({"table": [[0.5, 0.5], [0.0, 0.0]]}, "people in all rows and columns"),
        ({"table": [[0.5, 0.0], [0.5, 0.0]]}, "people in all rows and columns"),
        ({"table": [[0.6, 0.5], [0.0, -0.1]]}, "shares of 2 times 2 cells"),
    ],
)
def test_powers_that_cannot_be_are_refused(own: dict[str, Any], told: str) -> None:
    plan, table = pairs_parts({"a": 2, "b": 2}, 2.0), own.pop("table", [[0.4, 0.1], [0.1, 0.4]])
    with pytest.raises(ParameterError, match=told):
        independence_people(plan, "a", "b", table, **own)
    if "power" not in own:
        with pytest.raises(ParameterError, match=told):
            independence_power(plan, "a", "b", table, 100, **own)


@pytest.mark.parametrize(("degrees", "told"), [(1, "on 1 degree of freedom"), (2, "on 2 degrees of freedom")])
def test_a_test_tells_its_degrees_of_freedom_and_whether_it_is_simulated(degrees: int, told: str) -> None:
    found = Independence(("a", "b"), 3.0, degrees, 0.1, 1000, True, 50.0, 1e-9)
    assert told in repr(found)
    assert "from 1,000 reports, SIMULATED" in repr(found)
    assert "SIMULATED" not in repr(replace(found, simulated=False))
    assert found.document()["pearson"]["valid"] is False
    assert (found.document()["degrees"], found.document()["simulated"]) == (degrees, True)


def test_exported_tables_have_the_level_that_is_asked_for() -> None:
    plan = pairs_parts({"a": ["no", "yes"], "b": 3}, 2.0)
    tally = plan.mechanism.tally(plan.mechanism.privatize_items(np.arange(600) % 6, dn.simulation(3)))
    table = plan.table(tally, "a", "b")
    for level in (0.5, 0.95):
        columns, ends = table.to_columns(level), table.estimate.interval(level, "population")
        assert columns["low"] == ends.low.tolist()
        assert columns["high"] == ends.high.tolist()
    assert columns["a"] == ["no"] * 3 + ["yes"] * 3
    assert columns["b"] == ["0", "1", "2"] * 2
    turned = table.turned()
    assert turned.questions == ("b", "a")
    assert turned.estimate.labels[:3] == ("0, no", "0, yes", "1, no")
    assert turned.value.tolist() == table.value.T.tolist()
    for own in (table, turned):
        for name, axis in zip(own.questions, (1, 0), strict=True):
            value, matrix = own.margin(name)
            assert value == pytest.approx(own.value.sum(axis=axis))
            assert matrix == pytest.approx(table.margin(name)[1])


# ---- whole surveys


def test_weights_of_groups_are_finite_numbers_from_0_on() -> None:
    made = dn.survey({"a": 2}, epsilon=2.0)
    tallies = {g: made.tally(made.privatize([0, 1, 1], rng=dn.simulation(i))) for i, g in enumerate(("n", "s"))}
    for wrong in (math.inf, -1.0, math.nan, True, "1"):
        with pytest.raises(ParameterError, match="weight of s must be a number >= 0"):
            made.pooled(tallies, {"n": 1.0, "s": wrong})  # type: ignore[dict-item]
    alone = made.pooled(tallies, {"n": 1.0, "s": 0.0})
    assert alone["a"].value == pytest.approx(made.estimate(tallies["n"])["a"].value)
    with pytest.raises(ParameterError, match="a tally of each group"):
        made.pooled({})


def test_a_question_that_one_group_was_not_asked_is_told_of_no_groups_together() -> None:
    made = dn.survey({"a": 2, "b": 2}, epsilon=1.0, scheme="one")
    frame = {"a": [0, 1, 1, 0], "b": [1, 1, 0, 0]}
    both = made.tally(made.privatize(frame, assigned=[0, 1, 0, 1], rng=dn.simulation(1)))
    one = made.tally(made.privatize(frame, assigned=[0, 0, 0, 0], rng=dn.simulation(2)))
    found = made.pooled({"n": both, "s": one})
    assert list(found) == ["a"]
    assert found.silent == ("b",)
    assert found.n == 8
    with pytest.raises(ParameterError, match="b was not asked"):
        found["b"]


def test_a_split_budget_sends_the_reports_of_all_questions() -> None:
    made = dn.survey({"a": 2, "b": 9, "c": 30}, epsilon=3.0, scheme="split")
    told, each = made.properties(), [m.bulk for m in made.mechanisms]
    assert told["bytes"] == sum(bulk.row_bytes for bulk in each)
    assert told["bits"] == pytest.approx(sum(bulk.outputs for bulk in each))
    assert made.record == pytest.approx(3.0)
    assert made.guarantee()["answers"] == pytest.approx({"a": 1.0, "b": 1.0, "c": 1.0})


def test_errors_in_other_units_are_made_comparable_where_none_has_a_weight() -> None:
    asked = {"a": 2, "age": dn.mechanism("hm", interval=(0, 90), points=10, epsilon=1.0)}
    made = dn.survey(asked, epsilon=1.0, stderr={"a": 0.05, "age": 3.0})
    told, units = made.properties(50), [question.unit for question in made.questions]
    assert units == pytest.approx([1.0, 81.0**2]), "from the first point to the last one"
    assert told["mse_sum"] == pytest.approx(
        sum(mse / unit for mse, unit in zip(told["mse"].values(), units, strict=True))
    )


def test_people_are_dealt_to_the_parts_that_miss_most() -> None:
    """Shares 1/6, 1/3 and 1/2 of 1, 2, 4 and 8 people: by hand, by the largest remainders, the first in a tie."""
    made = dn.survey({"a": 2, "b": 2, "c": 2}, epsilon=1.0, scheme="one", weights={"a": 1.0, "b": 4.0, "c": 9.0})
    assert made.shares == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    for n, wanted_counts in ((1, [0, 0, 1]), (2, [0, 1, 1]), (4, [1, 1, 2]), (8, [1, 3, 4]), (12, [2, 4, 6])):
        dealt = made.assign(n, rng=dn.simulation(n))
        assert np.bincount(dealt, minlength=3).tolist() == wanted_counts


def test_tables_are_asked_of_their_share_of_the_people() -> None:
    """In proportion to the root of their error, averaged over the cells of each table, beside other questions."""
    made: Any = dn.survey({"a": 2, "b": 3, "c": 4, "d": 5}, epsilon=1.0, tables=[("a", "b")], scheme="pairs")
    own = math.sqrt(made.plan.cost / 6)
    others = [block.people for block in made.blocks]
    assert len(others) == 2
    assert made.shares == pytest.approx([each / (own + sum(others)) for each in (own, *others)])
    told = made.properties(100)
    assert told["table_sum"] == pytest.approx(made.plan.cost / made.shares[0] / 100)
    assert "bound" not in told
    alone: Any = dn.survey({"a": 2, "b": 3}, epsilon=1.0, tables=[("a", "b")], scheme="pairs")
    whole = alone.properties(100)
    assert whole["gap"] == pytest.approx(whole["table_sum"] / whole["bound"] - 1)
    assert made.worst.cells["a", "b"] == pytest.approx(alone.worst.cells["a", "b"] / made.shares[0], rel=1e-6)
