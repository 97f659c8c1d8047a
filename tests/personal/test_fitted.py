"""Standard errors of fits at hidden levels: by hand from all reports, of twice the reports, of a share of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.core.types import FloatArray
from deniable.mechanisms.personal import em
from deniable.mechanisms.personal.base import evidence_of
from deniable.mechanisms.personal.plain import Personal

PLAIN: dict[str, Any] = {"k": 3, "levels": "0.5,3", "base": "sue", "level_epsilon": 1.0, "shares": "0.4,0.6"}


def collected(**given: Any) -> tuple[Any, Reports]:
    m = dn.mechanism("pldp", **{**PLAIN, **given})
    return m, m.privatize_items(np.repeat(np.arange(m.k), 3000 // (1 + np.arange(m.k))), dn.simulation(8))


def scores(m: Personal, reports: Reports, f: FloatArray, rho: FloatArray) -> FloatArray:
    """A row for each report: derivatives of its log-likelihood by the frequencies and by the shares of the levels."""
    law, told = m.law_effective, m.bulk.told(reports.columns)
    bits = np.unpackbits(m.bases[0].bulk.supported(reports.columns), axis=1, count=m.k, bitorder="little") > 0
    chance = np.empty((len(reports), m.k, len(m.levels)))
    for i, (p, q) in enumerate(zip(law.of("p"), law.of("q"), strict=True)):
        for x in range(m.k):
            on = np.where(np.arange(m.k) == x, p, q)
            chance[:, x, i] = law.channel[i, told] * np.where(bits, on, 1 - on).prod(axis=1)
    found = np.concatenate([chance @ rho, np.einsum("nxi,x->ni", chance, f)], axis=1)
    return np.asarray(found / np.einsum("nxi,x,i->n", chance, f, rho)[:, None])


@pytest.mark.parametrize("method", ["em", "em-known"])
def test_the_covariance_of_a_fit_is_the_inverse_of_the_scores_of_all_reports(method: str) -> None:
    """Frequencies sum to 1 and so do shares, which Lagrange's bordered matrix says; known shares have no scores."""
    m, reports = collected()
    found = m.fit(reports, method, tolerance=1e-7)
    told = {float(level): float(share) for level, share in (p.split(": ") for p in found.steps[-1][22:].split(", "))}
    rho, k, n = np.array(list(told.values())), m.k, len(reports)
    each = scores(m, reports, found.value, rho)
    size = k if method == "em-known" else k + len(rho)
    sums = np.array([np.arange(size) < k, np.arange(size) >= k], float)[: 1 if size == k else 2]
    bordered = np.block([[each[:, :size].T @ each[:, :size], sums.T], [sums, np.zeros((len(sums),) * 2)]])
    population = np.linalg.inv(bordered)[:k, :k]
    drawn = (np.diag(found.value) - np.outer(found.value, found.value)) / n
    for target, true in (("population", population), ("reporters", population - drawn)):
        assert found.covariance(target) == pytest.approx(true, rel=0.02, abs=1e-3 * true.max()), target
        assert found.variance(target) == pytest.approx(np.diag(found.covariance(target)), rel=1e-12)
    assert found.covariance("population") - found.covariance("reporters") == pytest.approx(drawn, rel=1e-9)


@pytest.mark.parametrize("given", [{}, {"base": "grr"}, {"k": 4, "base": "oue", "sensitive": 2, "disclosure": "own"}])
def test_every_report_twice_is_half_the_covariance(given: dict[str, Any]) -> None:
    m, reports = collected(**given)
    again = Reports(m.design, m.fields, reports.columns, True)
    one, two = (m.fit(data, tolerance=1e-7) for data in ([reports], [reports, again]))
    assert two.value == pytest.approx(one.value, abs=1e-5)
    for target in ("reporters", "population"):
        half = one.covariance(target) / 2
        assert two.covariance(target) == pytest.approx(half, rel=1e-3, abs=1e-3 * half.max())


@pytest.mark.parametrize("given", [{}, {"k": 4, "sensitive": 2}])
def test_some_reports_stand_for_as_many_as_there_are(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By their weight, not by the number of rows: every third of eleven rows, the first weighing more."""
    m, reports = collected(**given)
    evidence: Any = evidence_of(m, reports)[1]
    hidden = getattr(evidence, "hidden", evidence)
    weights = np.r_[5.0, np.ones(10)]
    eleven = replace(hidden, rows=hidden.rows[:11], weights=weights, kinds=hidden.kinds[:11])
    monkeypatch.setattr(em, "_SCORED", 5)
    few, factor = eleven.thinned()
    assert (len(few.rows), factor) == (4, pytest.approx(15 / 8))
    f, rho = np.full(m.k, 1 / m.k), np.array([0.4, 0.6])
    whole = eleven if hidden is evidence else replace(evidence, hidden=eleven, disclosed=0 * evidence.disclosed)
    part = few if hidden is evidence else replace(whole, hidden=few)
    assert whole.scores(f, rho) == pytest.approx(factor * part.scores(f, rho), rel=1e-12)
