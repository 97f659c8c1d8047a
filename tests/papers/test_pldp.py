"""PLDP: claims that need no luck, the printed algorithm, and the whole quick run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.datasets.tables import load
from deniable.mechanisms.personal.plain import Personal
from deniable.papers.paper import Context
from deniable.papers.pldp import claims
from deniable.papers.pldp.paper import PAPER, largest
from deniable.papers.pldp.printed import emoa
from deniable.papers.pldp.study import LEVELS, power_law, study
from deniable.papers.runner import PAPERS, reproduce

VERDICTS = {
    "corrected": {"level-private", "thm52", "thm53", "emoa", "pbp", "table1"},
    "reproduced": {"fig2"},
    "refuted": {"ppda", "country"},
    "not tested": {"fig3", "rcf"},
}


def test_the_paper_is_listed() -> None:
    assert PAPERS["pldp"] is PAPER
    assert [figure.id for figure in PAPER.figures] == [f"fig{i}" for i in range(2, 9)]


def test_the_level_leaks_more_than_its_budget() -> None:
    found = claims.level_private(Context(PAPER, quick=True))
    assert found.verdict == "corrected"
    assert isinstance(found.measured, dict)
    assert found.measured["sue, 16 values"] == pytest.approx(4.3899, abs=1e-4)
    assert min(found.measured.values()) > 0.7


def test_country_has_the_larger_variance() -> None:
    found = claims.country(Context(PAPER, quick=True))
    assert found.verdict == "refuted"
    assert found.measured == pytest.approx({"bank-job": 1.22e-3, "adult-country": 1.44e-3}, rel=5e-3)


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


@pytest.mark.slow
def test_quick_run(tmp_path: Path) -> None:
    summary = reproduce("pldp", quick=True, out=tmp_path)
    found = json.loads((tmp_path / "pldp/claims.json").read_text("utf-8"))
    by_verdict = {
        verdict: {c["id"].removeprefix("pldp-") for c in found if c["verdict"] == verdict} for verdict in VERDICTS
    }
    assert by_verdict == VERDICTS
    assert len(summary.figures) == 7
    rows = list(csv.DictReader((tmp_path / "pldp/fig7.csv").read_text("utf-8").splitlines()))
    assert {row["shares"] for row in rows} == {"uniform", "power law"}
    assert {row["data"] for row in rows} == {"Education", "Job", "Country"}
