"""Corners of the parameter space, labels, errors, and the way of a value through files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise.ranges import sensitive_ranges
from deniable.mechanisms.utility.base import Utility
from deniable.randomness import simulation
from deniable_client import Device, explain

NAMES = ("uss", "uue", "ulh", "uwheel", "upgr", "urr", "urap", "uhr", "utility")


def made(name: str, **given: Any) -> Utility:
    m = dn.mechanism(name, **given)
    assert isinstance(m, Utility)
    return m


def run(m: Utility, seed: int = 3) -> dn.Estimate:
    values = np.arange(3000) % m.k
    tally = m.tally(m.privatize_items(values, simulation(seed)))
    return m.estimate(dn.load(dn.dump(tally)))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["null", "glutf"])
@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_sensitive_items(name: str, form: str) -> None:
    for s in (0, 1, 2, 6):
        if form == "glutf" and name in ("upgr", "uhr") and s >= 2:
            with pytest.raises(dn.ParameterError, match="form must be null"):
                made(name, epsilon=1.0, k=6, sensitive=s, form=form)
            continue
        m = made(name, epsilon=1.0, k=6, sensitive=s, form=form)
        assert dn.audit(m).holds
        if s:
            assert Device(m.design, harmless=explain(m.design).harmless).report(5) != b""
        else:
            with pytest.raises(dn.PrivacyError, match="protects no answer"):
                Device(m.design, harmless=range(6))
        assert dn.from_design(m.design) == m
        found = run(m)
        assert np.isfinite(found.value).all()
        assert np.isfinite(found.stderr).all()
        ends = found.interval()
        assert (ends.low <= ends.high).all()
        assert m.theta == {0: 1.0, 6: 0.0}.get(s, (6 - s) / 6)


def test_nothing_sensitive_means_everyone_discloses() -> None:
    m = made("uss", epsilon=1.0, k=4, sensitive=0)
    found = run(m)
    assert np.allclose(found.value, 0.25)
    assert found.stderr.tolist() == [0.0] * 4
    assert (m.properties()["mse_sum"], m.properties()["gap"]) == (0.0, 0.0)
    assert m.kernel.hidden_ratio == 1


def test_everything_sensitive_is_the_plain_mechanism() -> None:
    m, plain = made("uss", epsilon=1.0, k=8, sensitive=8), dn.mechanism("ss", epsilon=1.0, k=8, rounding="best")
    assert m.properties()["mse_sum"] == pytest.approx(plain.properties()["mse_sum"], rel=1e-12)
    assert m.properties()["gap"] == pytest.approx(0, abs=1e-9)
    assert m.kernel.hidden_ratio == plain.kernel.ratio
    assert m.guess().success == pytest.approx(plain.guess().success)


@pytest.mark.parametrize("name", NAMES)
def test_one_sensitive_item_is_the_same_for_all_bases_and_optimal(name: str) -> None:
    m = made(name, epsilon=2.0, k=5, sensitive=1, theta=0.7)
    e = math.exp(2.0)
    assert m.mse_sum() == pytest.approx(2 * 0.7 / (e - 1), rel=1e-12)
    assert m.properties()["gap"] == pytest.approx(0, abs=1e-12)
    assert m.bulk.row_bytes == 1
    assert run(m).value.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("theta", [0.0, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_extreme_budgets_and_shares(name: str, theta: float, epsilon: float) -> None:
    for s, k in ((2, 5), (30, 40)):
        m = made(name, epsilon=epsilon, k=k, sensitive=s, theta=theta)
        numbers = m.properties(1000) | m.effective(1000)
        assert all(math.isfinite(v) for v in numbers.values())
        assert m.epsilon_exact <= epsilon
        assert m.effective()["mse_sum"] == pytest.approx(m.mse_sum(), rel=1e-6)
        assert np.isfinite(run(m).value).all()


@pytest.mark.parametrize("name", NAMES)
def test_formulas_go_further_than_samplers(name: str) -> None:
    m = made(name, epsilon=300.0, k=30, sensitive=9, theta=0.5)
    found = m.properties()
    assert 0 <= found["mse_sum"] < 10
    assert math.isfinite(found["gap"])
    with pytest.raises(dn.PrivacyError, match="at most 40"):
        m.privatize([1])


def test_subset_selection_estimates_sum_to_one() -> None:
    assert run(made("uss", epsilon=1.0, k=9, sensitive=5)).value.sum() == pytest.approx(1, abs=1e-12)


# ---- labels and errors


def test_labels_anywhere_in_the_domain_can_be_sensitive() -> None:
    labels = ["well", "ill", "tired", "pregnant", "busy"]
    m = dn.utility("ss", ["pregnant", "ill"], epsilon=1.0, labels=labels)
    assert (m.sensitive, m.s, [labels[i] for i in m.items[0]]) == ((1, 2, 3, 4), 2, ["ill", "pregnant"])
    truth = {"well": 0.5, "ill": 0.1, "tired": 0.2, "pregnant": 0.1, "busy": 0.1}
    people = [label for label, share in truth.items() for _ in range(int(40_000 * share))]
    found = m.estimate(m.tally(m.privatize(people, rng=simulation(11))))
    assert found.labels == tuple(labels)
    assert (np.abs(found.value - list(truth.values())) < 5 * found.stderr).all()


def test_a_harmless_answer_can_be_kept_private() -> None:
    m = dn.utility("ss", ["ill"], epsilon=1.0, labels=["well", "ill"], kept_private=True)
    assert m.domain.labels == ("well", "ill", "kept private")
    assert [m.domain.labels[i] for i in m.items[0]] == ["ill", "kept private"]
    with pytest.raises(dn.ParameterError, match="without labels"):
        dn.utility("ss", 1, epsilon=1.0, k=3, kept_private=True)


@pytest.mark.parametrize(
    ("given", "ranges"),
    [(2, (0, 2)), ("2", (0, 2)), (0, ()), ([], ()), ("a,c,d", (0, 1, 2, 4)), (["d", "c"], (2, 4)), (4, (0, 4))],
)
def test_ways_to_say_what_is_sensitive(given: object, ranges: tuple[int, ...]) -> None:
    assert sensitive_ranges(given, dn.Domain.of(["a", "b", "c", "d"])) == ranges


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sensitive": ["x"]}, "sensitive must be among the 3 labels of the domain \\(a, b, c\\), got 'x'"),
        ({"sensitive": "a,z"}, "got 'z'"),
        ({"sensitive": 4}, "a number from 0 to 3"),
        ({"sensitive": -1}, "a number from 0 to 3"),
        ({"sensitive": 1.5}, "a number of items or a list of labels"),
        ({}, "needs its own parameter sensitive"),
        ({"sensitive": 2, "theta": 1.5}, "theta must be between 0 and 1"),
        ({"sensitive": 3, "theta": 0.5}, "theta must be 0.0 with 3 of 3 answers sensitive"),
        ({"sensitive": 2, "form": "best"}, "form must be one of null, glutf, paper"),
    ],
)
def test_errors_say_what_is_allowed(given: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.mechanism("uss", epsilon=1.0, labels=["a", "b", "c"], **given)


def test_a_base_must_fit() -> None:
    with pytest.raises(dn.ParameterError, match="one for the 2 sensitive items"):
        dn.utility(dn.mechanism("ss", epsilon=1.0, k=4), 2, k=6)
    with pytest.raises(dn.ParameterError, match="base must be one of"):
        dn.utility("uss", 2, epsilon=1.0, k=6)
    with pytest.raises(dn.ParameterError, match="base grr has no option 'size'"):
        dn.utility("grr", 2, epsilon=1.0, k=6, size=1)
    m = dn.utility(dn.mechanism("olh", epsilon=0.7, k=4), 4, k=6)
    assert (m.epsilon, dn.audit(m).holds) == (0.7, True)


def test_reports_that_no_device_can_have_sent_are_refused() -> None:
    m = made("ulh", epsilon=1.0, k=6, sensitive=3)
    reports = m.privatize([0, 5, 5], rng=simulation(2))
    for field, value, told in (("disclosed", 9, "largest possible"), ("value", 200, "largest possible")):
        columns = {name: column.copy() for name, column in reports.columns.items()}
        columns[field][0] = value
        with pytest.raises(dn.FormatError, match=told):
            m.tally(dn.Reports(m.design, m.fields, columns))
    columns = {name: column.copy() for name, column in reports.columns.items()}
    columns["disclosed"][:], columns["seed"][:] = 1, 7
    with pytest.raises(dn.FormatError, match="not zero"):
        m.tally(dn.Reports(m.design, m.fields, columns))


def test_a_mixture_on_many_harmless_answers_needs_no_table_of_pairs() -> None:
    """200,000 answers have 40 billion pairs."""
    large = dn.mechanism("ussmix", epsilon=1.0, k=200_000, sensitive=10)
    assert large.properties(1)["mse"] > 0
    counted = large.estimate(large.tally(large.privatize_items(np.arange(1000), simulation(3))))
    assert np.isfinite(counted.interval().low).all()
    assert np.isfinite(counted.stderr).all()


def test_squares_and_products_of_a_mixtures_weights_fit_together() -> None:
    """The weights of a report sum to 1, and so do the mean products of all pairs of them."""
    law = dn.mechanism("ussmix", epsilon=1.3, k=12, sensitive=4, size=1, share=0.3).law
    shares = np.arange(1.0, 13.0) / 78
    own, cross, rest = law.second(shares[:4], shares[4:])
    assert own.sum() + 2 * cross.sum() + rest.sum() == pytest.approx(1.0, abs=1e-12)
    squares = law.squares(shares[:4], shares[4:])
    for found, matrix in zip(squares, (own, rest), strict=True):
        assert found == pytest.approx(np.diag(matrix), rel=1e-15)


@pytest.mark.parametrize(
    ("labels", "given", "ends"),
    [
        (["0", "1", "2", "3"], ["2"], (2, 3)),
        (["0", "1", "2", "3"], '"2"', (2, 3)),
        (["0", "1", "2", "3"], "0,1", (0, 2)),
        (["0", "1", "2", "3"], 2, (0, 2)),
        (["0", "1", "2", "3"], "2", (0, 2)),
        (["a", "b", "c"], 2, (0, 2)),
        (None, 2, (0, 2)),
    ],
)
def test_a_number_is_how_many_and_a_label_stands_in_a_list_or_in_quotation_marks(
    labels: list[str] | None, given: object, ends: tuple[int, ...]
) -> None:
    where = {"k": 4} if labels is None else {"labels": labels}
    assert dn.mechanism("uss", epsilon=1.0, sensitive=given, **where).sensitive == ends
