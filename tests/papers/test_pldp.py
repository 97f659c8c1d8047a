"""PLDP: what is measured decides, and the printed algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.datasets.tables import load
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import emoa, rcf, response_is_better
from deniable.papers.paper import Context
from deniable.papers.pldp import claims, comparisons
from deniable.papers.pldp.comparisons import _FIVE
from deniable.papers.pldp.experiments import _SIZES, largest
from deniable.papers.pldp.paper import PAPER, SHOWN, TWO
from deniable.papers.pldp.printed import emoa_as_coded
from deniable.papers.pldp.study import LEVELS, METHODS, Errors, apldp, power_law, study
from deniable.papers.rules import Verdict
from deniable.papers.runner import PAPERS


def test_the_paper_is_listed() -> None:
    assert PAPERS["pldp"] is PAPER
    assert [figure.id for figure in PAPER.figures] == [f"fig{i}" for i in range(2, 9)]


def test_figures_have_what_is_printed_what_was_coded_and_what_is_right() -> None:
    for shown in (SHOWN, TWO):
        assert {"auem", "em", "emoa normalised", "auem as coded", "emoa as coded"} <= set(shown) <= set(METHODS)
    assert {"rcf", "apldp", "ppda"} <= set(SHOWN)
    assert {"pbp", "pbp random"} <= set(TWO)


def verdict_on(id: str) -> Verdict:
    return PAPER.claim(id).test(Context(PAPER, quick=True))


# ---- what is measured decides: errors that are made up, with hardly any noise


def faked(mae: float = 1.0, **mse: float) -> Errors:
    """Errors of 40 runs: 1 for every method but for those that are named (spaces as underscores), MAE times `mae`."""
    wobble = np.exp(np.linspace(-1e-3, 1e-3, 40))
    named = {name.replace("_", " "): value for name, value in mse.items()}
    errors = {method: wobble * named.get(method, 1.0) for method in METHODS}
    # no two methods or runs move alike, so that ratios vary a little
    errors = {name: value ** (1 + i / 100) for i, (name, value) in enumerate(errors.items())}
    return Errors(errors, {name: mae * value for name, value in errors.items()}, np.zeros(40), np.zeros(40))


def decided(monkeypatch: pytest.MonkeyPatch, id: str, **experiments: Any) -> str:
    for name, run in experiments.items():
        for module in (claims, comparisons):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, run)
    return verdict_on(id).verdict


def test_country_is_decided_by_errors_and_not_by_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    def tables(low: str) -> Callable[..., Errors]:
        return lambda _, data, kind: faked(**dict.fromkeys(_FIVE, 0.5 if data == low else 1.0))

    def people(gain: float) -> Callable[..., Errors]:
        return lambda _, n: faked(**dict.fromkeys(("rcf", "ppda"), gain if n > 48_000 else 1.0))

    def verdict(low: str, gain: float) -> str:
        return decided(monkeypatch, "country", ten_levels_often=tables(low), more_people=people(gain))

    assert verdict("Country", 0.5) == "reproduced"
    assert verdict("Country", 0.93) == "refuted"
    assert verdict("Job", 0.93) == "corrected"
    assert verdict("Education", 0.93) == "not tested"  # the same on Country and Job: nothing to go by
    assert verdict("Job", 0.5) == "refuted"


def test_emoa_counts_against_pbp_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(**mse: float) -> str:
        return decided(monkeypatch, "pbp", two_levels_often=lambda *_: faked(**mse))

    assert verdict(auem=0.5, emoa_as_coded=0.5) == "reproduced"
    assert verdict(auem=0.5, emoa_as_coded=2.0) == "refuted"
    assert verdict(auem=1.5, emoa_as_coded=2.0, pbp_random=3.0) == "corrected"


def test_the_mean_absolute_error_must_fall_too(monkeypatch: pytest.MonkeyPatch) -> None:
    falling = {0.1: 9.0, 0.4: 2.0, 1.0: 1.0}

    def verdict(mae: Callable[[float], float]) -> str:
        return decided(monkeypatch, "fig2", by_budget=lambda _, __, budget: faked(mae(budget), auem=falling[budget]))

    assert verdict(lambda budget: 1.0) == "reproduced"
    assert verdict(lambda budget: 1 / falling[budget] ** 2) == "refuted"


def test_the_source_of_the_error_is_looked_for_at_all_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(id: str, ends: float) -> str:
        return decided(monkeypatch, id, by_budget_often=lambda _, __, budget: faked(auem=4.0 if budget < ends else 1.2))

    assert [verdict("source", ends) for ends in (0.25, 0.45)] == ["refuted", "reproduced"]


def test_a_minor_source_is_less_than_half_of_the_variance_which_errors_must_bear_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Better protected levels make it more than half, worse ones less; errors far from the formula refute it."""
    real, wide = claims._design, np.exp(np.linspace(-1, 1, 40))

    def verdict(factor: float, ratio: float) -> str:
        errors = {"auem": ratio * wide, "pbp": wide[::-1]}
        monkeypatch.setattr(claims, "_design", lambda k, level_epsilon: real(k, level_epsilon=factor * level_epsilon))
        return decided(
            monkeypatch, "source-minor", by_budget=lambda *_: Errors(errors, errors, np.zeros(40), np.zeros(40))
        )

    assert verdict(1, 1.5) == "corrected"
    assert verdict(2, 1.2) == "reproduced"
    assert verdict(0.5, 4.0) == "refuted"
    assert verdict(2, 9.0) == "refuted"


def test_two_levels_count_as_ten_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def kinds(more: float) -> Callable[..., Errors]:
        return lambda _, __, kind: faked(**dict.fromkeys((*_FIVE, "pbp"), more if kind == "power law" else 1.0))

    assert decided(monkeypatch, "uniform-better", two_levels_often=kinds(2), ten_levels_often=kinds(2)) == "reproduced"
    assert decided(monkeypatch, "uniform-better", two_levels_often=kinds(0.5), ten_levels_often=kinds(2)) == "refuted"


def test_those_that_see_the_levels_are_compared_for_every_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(*lost: int) -> str:
        return decided(
            monkeypatch,
            "rcf-better",
            by_size=lambda _, __, k: faked(**dict.fromkeys(("rcf", "apldp"), 2.0 if k in lost else 0.5)),
            few_values=lambda _, __, k, runs: faked(**dict.fromkeys(("rcf", "apldp"), 2.0 if k in lost else 0.5)),
            sizes=lambda _, data: _SIZES[data],
        )

    assert verdict() == "reproduced"
    assert verdict(9) == "refuted"
    assert verdict(3) == "refuted"


def test_close_is_close_in_the_panels_that_the_paper_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(far: str, **mse: float) -> str:
        run = lambda _, data, __: faked(emoa_as_coded=5.0 if data == far else 1.2, **mse)  # noqa: E731
        return decided(monkeypatch, "rcf", ten_levels=run, ten_levels_fitted=run)

    assert verdict("Job") == "reproduced"
    assert verdict("Country") == "corrected"
    assert verdict("Country", em=3.0) == "refuted"


def test_emoa_must_be_close_for_every_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(far: int) -> str:
        return decided(monkeypatch, "rcf-sizes", by_size=lambda _, __, k: faked(emoa_as_coded=5.0 if k == far else 1.2))

    assert [verdict(far) for far in (0, 9, 42)] == ["reproduced", "refuted", "refuted"]


def test_emoa_must_improve_for_every_number_of_values_as_printed_and_as_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(lost: int, em: float = 0.5, **mse: float) -> str:
        good = {"emoa_as_coded": 0.5, "emoa_normalised": 0.5, "em": em}
        run = lambda _, __, k: faked(**good | (mse if k == lost else {}))  # noqa: E731
        return decided(monkeypatch, "emoa-sizes", by_size=run, by_size_fitted=run)

    assert verdict(0) == "reproduced"
    assert verdict(12, emoa_as_coded=2.0) == "corrected"
    assert verdict(30, emoa_normalised=2.0) == "corrected"
    assert verdict(30, em=2.0, emoa_normalised=2.0) == "refuted"


def test_the_share_that_is_saved_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(left: float, true: float) -> str:
        errors = faked(emoa_as_coded=left, pbp=left / true)
        return decided(monkeypatch, "improvement", two_levels_often=lambda *_: errors, nine_jobs=lambda *_: errors)

    assert verdict(0.13, 0.13) == "reproduced"
    assert verdict(0.13, 0.5) == "corrected"
    assert verdict(0.6, 0.6) == "refuted"


@pytest.mark.stat
def test_bias_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up estimates of 1,000 runs: a bias at either budget is found, and at 0.5 one beside the formula."""
    f = float(load("adult-education").frequencies.max())
    noise = np.random.default_rng(3).normal(0, 1, (2, 1000)) * [[0.02], [0.01]]

    def verdict(half: float, tenth: float) -> str:
        shift = {0.5: half, 0.1: tenth}
        monkeypatch.setattr(
            claims, "_of_education", lambda _, budget: f + np.array([noise.sum(axis=0) + shift[budget], noise[0]])
        )
        return verdict_on("thm52").verdict

    assert verdict(-0.0004, 0.0) == "reproduced"
    assert verdict(-0.0004, -0.02) == "corrected"
    assert verdict(-0.02, -0.02) == "refuted"
    monkeypatch.setattr(claims, "_of_education", lambda _, budget: f + noise)
    assert verdict_on("thm51").verdict == "reproduced"
    monkeypatch.setattr(claims, "_of_education", lambda _, budget: f + noise + 0.01)
    assert verdict_on("thm51").verdict == "refuted"


def test_the_authors_code_ends_elsewhere() -> None:
    """Where it tends to for the most frequent value of Education, 0.3225, without any noise: 0.144 and 0.105."""
    people = load("adult-education")
    top = int(np.argmax(people.counts))
    for shares, limit in ((tuple([0.1] * 10), 0.144), (tuple(power_law(LEVELS).tolist()), 0.105)):
        m = Personal(epsilon=1.0, domain=dn.Domain.of(16), levels=LEVELS, base="sue", level_epsilon=0.3, shares=shares)
        share = m.law.q + people.frequencies * m.law.gap
        found = emoa_as_coded(m.law, share)
        assert found[top] == pytest.approx(limit, abs=2e-3)
        assert found.sum() == pytest.approx(1)


@pytest.mark.stat
def test_apldp_is_rcf_for_many_values_and_better_for_few() -> None:
    """One fixed seed. For 4 values it answers by randomised response at every level: its error is lower than RCF's."""
    assert all(response_is_better(4, level) for level in LEVELS)
    assert not any(response_is_better(12, level) for level in LEVELS)
    m = Personal(epsilon=1.0, domain=dn.Domain.of(12), levels=LEVELS, base="sue", level_epsilon=0.3)
    draw = np.random.default_rng(5)
    held = draw.integers(50, 90, (10, 12))
    support = draw.integers(300, 400, (10, 12))
    both = apldp(m.law, np.array(LEVELS), held, support, dn.simulation(1)), rcf(m.law, held.sum(axis=1), support)
    assert both[0] == pytest.approx(both[1])
    few = study(largest(load("bank-job"), 3), 200, dn.simulation(3), methods=("rcf", "apldp adaptive"))
    found = few.log_ratio("apldp adaptive", "rcf")
    assert found.value < -3 * found.error


def test_printed_emoa_does_not_depend_on_the_reports() -> None:
    """Two opposite populations end at almost the same output, which sums to about half the number of values."""
    m = Personal(epsilon=1.0, domain=dn.Domain.of(8), levels=LEVELS, base="sue", level_epsilon=0.3)
    ends = []
    for x in (0, 7):
        reports = m.privatize_items(np.full(5000, x), dn.simulation(1))
        sets = np.unpackbits(reports.columns["bits"], axis=1, count=8, bitorder="little").astype(np.float64)
        ends.append(emoa(sets, m.law, np.full(8, 1 / 8), np.full(10, 0.1)))
    assert np.abs(ends[0] - ends[1]).max() < 0.06
    assert all(end.sum() == pytest.approx(4, rel=0.05) for end in ends)


@pytest.mark.parametrize("runs", [2, 3, 5, 50])
def test_standard_errors_are_of_paired_differences_over_one_run_less(runs: int) -> None:
    """By hand: the difference of two methods in each run, its variance over n - 1; the luck of a run is in both."""
    one, luck = np.arange(float(runs)) ** 2 * 0.25, np.arange(float(runs)) % 2 * 100.0
    none = np.zeros(0)
    errors = Errors({"a": one + luck, "b": luck + 1}, {"a": none, "b": none}, none, none)
    mean, error = errors.difference("a", "b")
    assert mean == pytest.approx(sum(one.tolist()) / runs - 1)
    squares = sum((x - sum(one.tolist()) / runs) ** 2 for x in one.tolist())
    assert error == pytest.approx((squares / (runs - 1) / runs) ** 0.5, rel=1e-9)
    assert errors.difference("b", "a") == pytest.approx((-mean, error))


def test_the_study_is_paired_and_repeats() -> None:
    people = largest(load("bank-job"), 4)
    assert people.k == 4
    one, two = (study(people, 2, dn.simulation(7), shares=power_law(LEVELS), methods=("auem", "em")) for _ in range(2))
    assert np.array_equal(one.mse["em"], two.mse["em"])
    assert one.mse["auem"][0] != one.mse["auem"][1]
