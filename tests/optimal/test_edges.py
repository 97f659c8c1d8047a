"""The best channels and matrices at their edges: units, rounding, what is stated, remembered and left over."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.errors import EnumerationError, FormatError, ParameterError
from deniable.mechanisms.optimal.bounds import Least, least_at_levels, least_told
from deniable.mechanisms.optimal.certificate import _bound
from deniable.mechanisms.optimal.extremes import _KNOWN, MOST_VALUES, closed_units, extremes
from deniable.mechanisms.optimal.matrix import _nearest, from_matrix
from deniable.mechanisms.optimal.ratios import largest_ratios, worst_of
from deniable.mechanisms.optimal.release.mechanism import LOSSES
from deniable.mechanisms.optimal.release.proof import _below
from deniable.mechanisms.optimal.release.solution import _points
from deniable.mechanisms.optimal.scores import ScorePart
from deniable.mechanisms.optimal.whole import Whole, _with_rest
from deniable.mechanisms.registry import MECHANISMS

UNEVEN = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.2, 0.2, 0.6]]
FOR_A_MEAN: dict[str, Any] = {"promise": dn.promise(epsilon=1.0, k=3), "objective": "mean", "values": (0.0, 4.0, 10.0)}


# ---- what is said of errors


def test_errors_of_a_mean_are_in_halves_of_its_interval() -> None:
    m: Any = dn.mechanism("optimal", **FOR_A_MEAN)
    told, known = m.properties(20), m.certificate
    assert told["variance_mean"] == pytest.approx(m.worth_error / 25 / 20)
    assert told["bound"] == pytest.approx(known["bound"] / 25 / 20)
    assert m.effective(20)["variance_mean"] == pytest.approx(told["variance_mean"])
    scores, numbers = m.worth.scores @ np.array([0.0, 4.0, 10.0]), np.array([0.0, 4.0, 10.0])
    table = m.bulk.matrix
    assert table @ scores == pytest.approx(numbers, abs=1e-6)
    assert m.worth_error == pytest.approx(((table * (scores[None] - numbers[:, None]) ** 2).sum(axis=1)).mean())


def test_errors_of_frequencies_are_those_of_each_and_of_several_functionals_their_sum() -> None:
    m: Any = dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3))
    told = m.properties(20)
    assert told["mse_sum"] == pytest.approx(3 * told["mse"])
    assert told["bound"] == pytest.approx(m.certificate["bound"] / 3 / 20)
    assert told["mse"] >= told["bound"] * (1 - 1e-9)
    rows = ((1.0, 0.0, 2.0), (0.0, 3.0, 1.0))
    f: Any = dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3), objective="functional", functionals=rows)
    scores = f.worth.scores @ np.array(rows).T
    each = (f.bulk.matrix[:, :, None] * (scores[None] - np.array(rows).T[:, None]) ** 2).sum(axis=1)
    assert f.worth_error == pytest.approx(each.sum(axis=1).mean())
    assert f.properties(4)["mse_sum"] == pytest.approx(f.worth_error / 4)
    found = f.estimate(f.tally(f.privatize([0, 1, 2], rng=dn.simulation(1))))
    assert found.labels == ("functional 0", "functional 1")


def test_one_report_of_a_mean_varies_by_what_the_surest_answer_does() -> None:
    m: Any = dn.mechanism("optimal", **FOR_A_MEAN)
    scores, table = m.worth.scores @ np.array([0.0, 4.0, 10.0]), m.bulk.matrix
    each = table @ scores**2 - (table @ scores) ** 2
    part = m.parts(m.tally(m.privatize([1], rng=dn.simulation(1))))["mean"]
    assert part.variance("population") == pytest.approx([each.min()])
    assert part.range == (0.0, 10.0)


def test_the_variance_of_scores_is_that_of_a_sample() -> None:
    part = ScorePart(np.array([0.5, 0.25, 0.25]), np.array([[2.0], [0.0], [4.0]]), None, 4, np.array([0.1]))
    assert part.value.tolist() == [2.0]
    assert part.variance("population") == pytest.approx([2.0 / 3])
    assert replace(part, least=np.array([8.0])).variance("reporters") == pytest.approx([2.0])
    for target, noted in (("reporters", True), ("population", False)):
        ends = part.interval(0.95, target, False)  # type: ignore[arg-type]
        assert any("covers more than its level" in note for note in ends.notes) == noted
        assert ends.high[0] - 2 == pytest.approx(1.95996 * math.sqrt(2 / 3), rel=1e-4)


@pytest.mark.parametrize("share", [1 - 1e-4, 1 + 1e-4, 1.01])
def test_a_design_that_states_another_error_is_refused(share: float) -> None:
    m: Any = dn.mechanism("optimal", promise=dn.promise(budgets=[[0, 0.5], [2, 0]]))
    with pytest.raises(FormatError, match="states an error of"):
        replace(m, error=m.error * share)
    assert replace(m, error=m.error * (1 + 1e-9)).error > m.error


def test_at_another_epsilon_the_worst_case_is_stated_as_such() -> None:
    own = dn.promise(item_epsilon=[0.5, 1, 2], rule="own")
    m: Any = dn.mechanism("optimal", promise=own, worst=True)
    other = m.at(1.5)
    assert other.error == pytest.approx(other.worth.errors.max())
    assert other.error > other.worth.error
    assert other.table.limit == other.epsilon == 1.5


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"prior": [0.5, 0.5, 0.0]}, "at least 1e-09 for each answer"),
        ({"objective": "mean", "values": [[0, 1, 2], [1, 2, 3]]}, "values must be 3 numbers, one for each answer"),
        ({"objective": "mean", "values": [1, 1, 1]}, "different for some answers"),
        ({"objective": "mean"}, "given for objective mean"),
        ({"values": [0, 1, 2]}, "left out unless objective is mean"),
        ({"worst": 1}, "True or False"),
    ],
)
def test_what_cannot_be_estimated_is_refused(own: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3), **own)


# ---- bounds


def test_a_bound_is_of_the_mean_over_answers_and_reports() -> None:
    assert Least(0.8, "outputs").distance(0.3, 4, 10) == pytest.approx(
        {"bound": 0.02, "gap": 14.0, "bound_by": "outputs"}
    )
    assert Least(1e-13, "outputs").distance(0.3, 4, 10) == {}


def test_levels_that_nobody_chose_tell_nothing_and_others_by_their_shares() -> None:
    one = least_told(np.array([1.0]), np.array([1.0]), 5).error
    two = least_told(np.array([2.0]), np.array([1.0]), 5).error
    assert least_told(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 5).error == pytest.approx(one)
    assert least_told(np.array([1.0, 2.0]), np.array([0.0, 1.0]), 5).error == pytest.approx(two)
    both = least_told(np.array([1.0, 2.0]), np.array([0.25, 0.75]), 5).error
    told = [1 / (error / 4 + 1 / 5) for error in (one, two)]
    assert both == pytest.approx(4 * (1 / (0.25 * told[0] + 0.75 * told[1]) - 1 / 5))
    promised: Any = dn.mechanism("pldp", k=2, levels="1,2", base="grr", level_epsilon=0.3).promise
    even = np.full(2, 0.5)
    some = [least_at_levels(promised, even, np.array(shares)) for shares in ([1.0, 0.0], [0.5, 0.5], [0.0, 1.0])]
    errors = [found.error for found in some if found is not None]
    assert len(errors) == 3
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == pytest.approx(math.exp(1) / (math.exp(1) - 1) ** 2 * 2), "of randomised response"
    assert errors[2] == pytest.approx(math.exp(2) / (math.exp(2) - 1) ** 2 * 2)


def test_the_bound_of_a_certificate_is_never_above_what_was_found() -> None:
    flat, q = np.zeros((3, 1)), np.array([0.5, 1.0, 1.5])
    assert _bound(2.0, np.zeros(1), flat, q) == 2.0
    assert _bound(1.0, np.zeros(1), flat, q) == pytest.approx(1 / 1.5)
    assert _bound(2.0, np.zeros(1), flat, -q) == 2.0


# ---- extreme outputs


def test_extreme_outputs_are_remembered_by_their_very_budgets_and_forgotten() -> None:
    one, two = np.array([[0.0, 0.5], [2.0, 0.0]]), np.array([[0.0, 2.0], [0.5, 0.0]])
    for budgets in (one, two, one):
        rays = extremes(budgets).rays
        likely = sorted((rays[:, 0] / rays[:, 1]).tolist())
        assert likely == pytest.approx([math.exp(-budgets[1, 0]), math.exp(budgets[0, 1])])
    assert extremes(one) is extremes(one.copy())
    for more in range(12):
        extremes(one + (1 + more) * (1 - np.eye(2)) / 7)
    assert len(_KNOWN) <= 8
    assert extremes(one).rays.shape == (2, 2)


def test_budgets_are_rounded_down_to_units() -> None:
    for budget in (0.1, 1 / 3, 1.0, 2.7):
        units, bits = closed_units(np.array([[0.0, budget], [budget, 0.0]]))
        assert 0 <= Fraction(budget) - Fraction(int(units[0, 1]), 1 << bits) < Fraction(1, 1 << bits)


def test_more_values_than_can_be_listed_are_refused() -> None:
    k = MOST_VALUES + 1
    with pytest.raises(EnumerationError, match="17 values are more than the 16"):
        extremes(np.ones((k, k)) - np.eye(k))


def test_ratios_are_the_largest_of_outputs_that_occur() -> None:
    """What neither value sends says nothing; what one of them alone sends has no limit."""
    weights = [[0, 2, 2, 4], [0, 1, 4, 3], [1, 3, 4, 0]]
    none = None
    assert largest_ratios(weights) == [[1, 2, none], [2, 1, none], [none, none, 1]]
    pairs = np.array([[False, True, False], [True, False, False], [False] * 3])
    worst = worst_of(weights, pairs)
    assert (worst.ratio, worst.output, worst.likely, worst.unlikely) == (2, 1, 0, 1)
    pairs[:] = False
    pairs[1, 2] = True
    assert worst_of(weights, pairs).ratio is None


# ---- matrices


def test_chances_become_the_nearest_whole_numbers() -> None:
    """What lost most is raised first; what is possible stays so, at the cost of the largest."""
    word = 1 << 64
    third = word // 3
    assert _nearest([Fraction(1, 3), Fraction(2, 3)]) == (third, word - third)
    assert _nearest([Fraction(2, 3), Fraction(1, 3)]) == (word - third, third)
    assert _nearest([Fraction(1, 3)] * 3) == (third + 1, third, third)
    tiny = Fraction(1, 1 << 70)
    assert _nearest([tiny, 1 - 2 * tiny, tiny]) == (1, word - 2, 1)
    assert _nearest([Fraction(0), Fraction(1, 2), Fraction(1, 2)]) == (0, word // 2, word // 2)


@pytest.mark.parametrize(
    ("matrix", "own", "told"),
    [
        ([[0.9, 0.2], [0.1, 0.8]], {}, "turn it round"),
        ([[0.9, 0.2], [0.2, 0.8]], {}, "matrix.0. must sum to 1, got 1.1"),
        ([[3, 1], [1, 4]], {}, "must sum to 1"),
        ([[0.5005, 0.5], [0.25, 0.75]], {}, "must sum to 1, got 1.0005"),
        ([[True, 1], [1, 1]], {}, "a number >= 0"),
        ([[0.75, 0.25], [0.25, 0.75]], {"outputs": ["a", ""]}, "2 different names"),
        ([[0.75, 0.25], [0.25, 0.75]], {"outputs": ["a", "a"]}, "2 different names"),
        ([[0.75, 0.25], [0.25, 0.75]], {"outputs": ["a"]}, "2 different names"),
    ],
)
def test_what_is_no_matrix_is_refused_with_what_to_do(matrix: Any, own: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        from_matrix(matrix, **own)


def test_rows_that_sum_to_1_up_to_rounding_are_divided() -> None:
    made = from_matrix([[0.7500004, 0.25], [0.25, 0.7499999]])
    assert all(sum(row) == 1 << 64 for row in made.table.weights)
    assert made.bulk.matrix[0, 0] == pytest.approx(0.7500004 / 1.0000004, rel=1e-12)


def test_a_forged_report_reaches_the_largest_scores_of_an_output() -> None:
    m = from_matrix(UNEVEN)
    assert np.allclose(m.bulk.matrix @ m.scores, np.eye(3), atol=1e-9)
    for r in (1, 2, 3):
        for name, own in (("matrix", m), ("optimal", dn.mechanism("optimal", promise=dn.promise(epsilon=1.0, k=3)))):
            scores = own.scores if name == "matrix" else own.worth.scores  # type: ignore[attr-defined]
            most = max(sum(sorted(row, reverse=True)[:r]) for row in scores.tolist())
            assert MECHANISMS[name].traits.pull(own, r) == pytest.approx(most)  # type: ignore[misc]
            outputs = own.bulk.matrix.shape[1]  # type: ignore[attr-defined]
            assert MECHANISMS[name].traits.work(own, 6) == pytest.approx(1 + 3 * outputs / 6)  # type: ignore[misc]


def test_errors_of_a_table_are_those_at_its_prior() -> None:
    prior = [0.7, 0.2, 0.1]
    for given in (None, prior):
        m = from_matrix(UNEVEN, prior=given)
        f = np.full(3, 1 / 3) if given is None else np.array(prior)
        table = m.bulk.matrix
        each = [(table[x] * ((m.scores - np.eye(3)[x]) ** 2).sum(axis=1)).sum() for x in range(3)]
        assert m.mse_sum() == pytest.approx(f @ each)
        assert m.mse_sum(10) == pytest.approx(f @ each / 10)
        assert ("bound" in m.properties()) == (given is None)
    several = from_matrix(UNEVEN, promise=dn.promise(budgets=[[0, 1, 1], [1, 0, 1], [1.2, 1, 0]]))
    assert "bound" not in several.properties(), "a bound is known for one budget between all answers"


def test_pairs_without_a_limit_are_not_compared_and_shown_answers_are_counted() -> None:
    inf = math.inf
    budgets = [[0, 1.2, 1.2, 1.2], [1.2, 0, 1.2, 1.2], [inf, inf, 0, inf], [inf, inf, inf, 0]]
    rows = [["1/2", "1/2", 0, 0], ["1/4", "3/4", 0, 0], ["1/4", "1/2", "1/4", 0], ["1/4", "1/4", 0, "1/2"]]
    m = from_matrix(rows, promise=dn.promise(budgets=budgets))
    assert "compared for 6 pairs of answers" in m.proof.argument
    assert float(m.protection.disclosed) == pytest.approx(0.5, abs=1e-9), "the largest chance of any answer"


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.1, 2.3])
def test_a_table_at_another_epsilon_has_it_to_the_last_digit(epsilon: float) -> None:
    m = from_matrix(UNEVEN, promise=dn.promise(budgets=[[0, 1, 1], [1, 0, 1], [1.2, 1, 0]]))
    other = m.at(epsilon)
    assert other.table.limit == other.epsilon == epsilon
    assert other.table.budgets[0][1] == pytest.approx(epsilon / 1.2)
    assert not list(other.table.breaches())


def test_what_rounding_leaves_goes_to_the_output_that_all_send_most_often() -> None:
    assert _with_rest([(5, 5), (7, 3), (5, 9)], (1, 2)) == ((6, 7), (7, 3), (5, 9))
    assert _with_rest([(7, 3), (5, 9), (6, 5)], (1, 2)) == ((7, 3), (6, 11), (6, 5))
    assert _with_rest([(7, 0), (0, 9)], (1, 2)) == ((7, 0), (0, 9), (1, 2))
    assert _with_rest([(7, 1), (1, 9)], (0, 0)) == ((7, 1), (1, 9))


# ---- releases


def test_losses_by_their_names() -> None:
    numbers = np.array([0.0, 1.0, 3.0])
    assert LOSSES["absolute"](numbers).tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    assert LOSSES["squared"](numbers).tolist() == [[0, 1, 9], [1, 0, 4], [9, 4, 0]]
    assert LOSSES["zero-one"](numbers).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_a_release_states_its_loss_at_its_prior_and_how_far_above_the_bound_it_is() -> None:
    prior = (0.1, 0.2, 0.3, 0.4)
    m: Any = dn.mechanism("optimal-release", promise=dn.promise(epsilon=2.0, k=4), loss="squared", prior=prior)
    each = (m.matrix() * m.loss_matrix()).sum(axis=1)
    assert m.loss() == m.stated_loss == pytest.approx(np.array(prior) @ each)
    assert m.loss([0.25] * 4) == pytest.approx(each.mean())
    assert m.worst_loss() == pytest.approx(each.max())
    known, proved = m.certificate, m.bound()
    assert known["gap"] == pytest.approx(max(0.0, known["value"] - proved) / proved)
    assert replace(m, least=0.9 * m.least).certificate["bound"] == known["bound"], "proved, whatever is stated"
    for wrong in ({"least": 1.01 * m.least}, {"value": 1.001 * m.value}, {"least": -0.1}, {"least": math.inf}):
        with pytest.raises(FormatError, match="does not agree with itself"):
            replace(m, **wrong)
    stated = replace(m, multipliers=None, least=0.5 * m.least)
    assert stated.certificate["gap"] == pytest.approx((m.value - stated.least) / stated.least)
    with pytest.raises(ParameterError, match="left out for the worst case"):
        dn.mechanism("optimal-release", promise=dn.promise(epsilon=2.0, k=4), worst=True, prior=prior)


def test_what_a_proof_shows_is_rounded_down() -> None:
    for x in (Fraction(1, 10), Fraction(2, 3), Fraction(1, 3), Fraction(5, 7), Fraction(1, 2), Fraction(-1, 10)):
        found = _below(x)
        assert Fraction(found) <= x < Fraction(math.nextafter(found, math.inf))


def test_what_is_left_over_stands_for_the_answer_that_costs_least() -> None:
    loss = np.array([[0.0, 1.0, 5.0], [5.0, 1.0, 0.0]])
    two, three = Whole(((1, 1), (1, 1)), 0), Whole(((1, 1), (1, 1), (1, 1)), 0)
    assert _points([0, 2], two, loss) == (0, 2)
    assert _points([0, 2], three, loss) == (0, 2, 1)


def test_domains_of_promises_have_their_labels() -> None:
    m = dn.mechanism("optimal", promise=dn.promise(item_epsilon=[0.5, 1, 2], rule="own", labels=["a", "b", "c"]))
    assert m.domain == Domain.of(("a", "b", "c"))
    assert m.epsilon == 2.0
