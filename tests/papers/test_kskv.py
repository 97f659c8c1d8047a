"""The reproduction of KSKV: every claim gets a verdict that the formulas force, and the figures have their rows."""

from __future__ import annotations

import pytest

from deniable.papers import kskv
from deniable.papers.paper import Context

FORMULAS = {
    "thm41": "reproduced",
    "eq9": "reproduced",
    "eq11": "refuted",
    "frequency-lower": "reproduced",
    "mean-lower": "refuted",
    "alg2-mean": "corrected",
    "a-range": "corrected",
    "length": "refuted",
    "sizes": "corrected",
    "best": "refuted",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_claims_about_formulas(name: str) -> None:
    claim = next(c for c in kskv.PAPER.claims if c.id == name)
    assert claim.test(Context(kskv.PAPER, quick=True)).verdict == FORMULAS[name]


def test_numbers_of_the_claims_are_those_of_the_errata() -> None:
    checks = {c.id: c.test(Context(kskv.PAPER, quick=True)).measured for c in kskv.PAPER.claims if c.id in FORMULAS}
    assert checks["alg2-mean"]["shrunk to, epsilon=1"] == pytest.approx(0.4621, abs=1e-4)
    assert checks["eq11"]["printed bound"] == pytest.approx(3.33, abs=0.01)
    assert checks["eq11"]["variance"] == pytest.approx(3.95, abs=0.01)
    assert checks["mean-lower"]["epsilon=1 m=0"] == pytest.approx(1.95, abs=0.01)
    assert checks["length"]["mean l=1"] == pytest.approx(0.3056, abs=1e-4)


@pytest.mark.slow
def test_figures_have_all_mechanisms_and_finite_numbers() -> None:
    context = Context(kskv.PAPER, quick=True)
    for figure in ("fig3", "fig6"):
        rows = context.rows(figure)
        assert len(rows) == 10
        assert all(0 <= row["ncr"] <= 1 for row in rows)
        assert {row["epsilon"] for row in rows} == {2.0, 4.0}
