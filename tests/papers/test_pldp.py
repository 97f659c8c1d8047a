"""PLDP: claims that need no luck, the printed algorithm, and the whole quick run."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.datasets.tables import load
from deniable.mechanisms.personal.plain import Personal
from deniable.papers.paper import Context
from deniable.papers.pldp.baselines import apldp, rcf, response_is_better
from deniable.papers.pldp.experiments import largest
from deniable.papers.pldp.paper import PAPER
from deniable.papers.pldp.printed import emoa, emoa_as_coded
from deniable.papers.pldp.study import LEVELS, power_law, study
from deniable.papers.rules import Verdict
from deniable.papers.runner import PAPERS


def test_the_paper_is_listed() -> None:
    assert PAPERS["pldp"] is PAPER
    assert [figure.id for figure in PAPER.figures] == [f"fig{i}" for i in range(2, 9)]


def verdict_on(id: str) -> Verdict:
    return next(claim for claim in PAPER.claims if claim.id == id).test(Context(PAPER, quick=True))


def test_the_level_leaks_more_than_its_budget() -> None:
    found = verdict_on("level-private")
    assert found.verdict == "corrected"
    assert found.measured is not None
    assert found.measured["whole report, sue, 16 values"] == pytest.approx(4.3899, abs=1e-4)
    assert min(float(v) for name, v in found.measured.items() if name.startswith("whole")) > 0.7


def test_the_level_is_guessed_more_often_than_its_budget_allows() -> None:
    found = verdict_on("level-guess")
    assert found.verdict == "corrected"
    assert found.measured is not None
    assert found.measured["most that the level's budget allows"] == pytest.approx(0.1304, abs=5e-5)
    assert found.measured["best guess, oue, 42 values"] == pytest.approx(0.218, abs=5e-4)
    assert found.measured["most that the whole report allows, lh, 16 values"] == pytest.approx(0.195, abs=5e-4)


def test_country_has_the_larger_variance() -> None:
    found = verdict_on("country")
    assert found.verdict == "corrected"
    assert found.measured is not None
    assert found.measured["bank-job"] == pytest.approx(1.22e-3, rel=5e-3)
    assert found.measured["adult-country"] == pytest.approx(1.44e-3, rel=5e-3)
    assert verdict_on("table1").verdict == "corrected"


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
    few = study(largest(load("bank-job"), 3), 200, dn.simulation(3), methods=("rcf", "apldp"))
    mean, error = few.log_ratio("apldp", "rcf")
    assert mean < -3 * error


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


def test_the_study_is_paired_and_repeats() -> None:
    people = largest(load("bank-job"), 4)
    assert people.k == 4
    one, two = (study(people, 2, dn.simulation(7), shares=power_law(LEVELS), methods=("auem", "em")) for _ in range(2))
    assert np.array_equal(one.mse["em"], two.mse["em"])
    assert one.mse["auem"][0] != one.mse["auem"][1]
