"""From reports or tallies to the evidence that likelihood methods read, and to the estimate they give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from deniable.collect.reports import Reports, difference
from deniable.collect.tally import Tally
from deniable.core.types import Columns
from deniable.errors import FormatError, MergeError, ParameterError, require
from deniable.estimate.calibrated import calibrate
from deniable.estimate.evidence import Evidence
from deniable.estimate.fit import FitOptions, fit_frequencies
from deniable.estimate.linear import check_reports
from deniable.estimate.methods import BITS, LIKELIHOOD, METHODS, REPORTS, SEEDS, UNBIASED, methods_for
from deniable.estimate.result import Estimate

if TYPE_CHECKING:
    from deniable.mechanisms.base import Mechanism

__all__ = ["PLAIN", "check_tally", "checked_batches", "fit_reports", "methods_of"]

PLAIN = (LIKELIHOOD, BITS, SEEDS)
"""What reports without levels may have for a fit."""


def methods_of(m: Mechanism) -> tuple[str, ...]:
    """The methods that a mechanism has."""
    return (UNBIASED, *methods_for(m.bulk.reader.traits))


def fit_reports(m: Mechanism, data: object, method: str, options: FitOptions) -> Estimate:
    """The estimate that a method of fitting gives: what `Mechanism.fit` does."""
    known = methods_for(PLAIN)
    require(method in known, "method", method, f"one of {', '.join(known)}")
    if METHODS[method].reads == REPORTS:
        return _fit_calibrated(m, data)
    tally, evidence = _from_tally(m, data) if isinstance(data, Tally) else _from_reports(m, data)
    fit = fit_frequencies(evidence, method, options)
    labels, parts = m.bulk.reader.labels(m.domain), {"frequency": fit.part}
    return Estimate(labels, parts, tally.n, m.design, tally.simulated, fit.steps, fit.bias)


def _fit_calibrated(m: Mechanism, data: object) -> Estimate:
    """Unbiased, with what the realised public coins are known to do subtracted; it reads the reports."""
    coins = m.bulk.reader.coins
    if coins is None:
        raise ParameterError(
            f"method calibrated is for reports with a public hash seed; those of {m.name} have none.",
            "Use estimate(), or a mechanism such as olh or plh.",
        )
    if isinstance(data, Tally):
        raise ParameterError("method calibrated reads reports, whose coins a tally does not keep.", "Give the reports.")
    tally, kept = checked_batches(m, data)
    columns = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
    part = calibrate(coins, columns)
    steps = (f"unbiased estimate from {tally.n} reports, calibrated to their public coins by cross-fitting",)
    return Estimate(m.domain.labels_or_numbers, {"frequency": part}, tally.n, m.design, tally.simulated, steps)


def check_tally(m: Mechanism, tally: Tally) -> Tally:
    """The tally, or that of the reports that are given.

    Refused if it is not of this very design, or if no reports of it can have added up to it.
    """
    if isinstance(tally, Reports):
        tally = m.tally(tally)
    hint = "Answers become reports first: m.estimate(m.privatize(values))."
    require(isinstance(tally, Tally), "tally", tally, "what m.tally(reports) gives, or reports", hint)
    if tally.design != m.design:
        raise MergeError(
            f"this tally is of another design: {difference(m.design, tally.design)}.",
            "A tally carries its design: dn.from_design(tally.design) is the mechanism to estimate it with.",
        )
    bulk = m.bulk
    if tally.layout != bulk.layout:
        raise FormatError(f"a tally of this design has the cells {bulk.layout}, got {tally.layout}.")
    if tally.strata != bulk.strata:
        raise FormatError(f"a tally of this design has the strata {bulk.strata}, got {tally.strata}.")
    bulk.refuse_impossible(tally.cells)
    return tally


def _from_tally(m: Mechanism, tally: Tally) -> tuple[Tally, Evidence]:
    check_tally(m, tally)
    check_reports(tally)
    if not m.bulk.reader.sufficient:
        raise ParameterError(
            f"a tally of {m.name} does not tell which items a report supports together, and the likelihood needs that.",
            "Keep the reports and fit those; or use estimate(), which needs no more than the tally.",
        )
    return tally, m.bulk.reader.tally_evidence(tally.cells)


def _from_reports(m: Mechanism, data: object) -> tuple[Tally, Evidence]:
    reader = m.bulk.reader
    tally, kept = checked_batches(m, data, keep=not reader.sufficient)
    return tally, reader.tally_evidence(tally.cells) if reader.sufficient else reader.evidence(kept)


def checked_batches(m: Mechanism, data: object, *, keep: bool = True) -> tuple[Tally, list[Columns]]:
    """Batches are counted one by one, which checks them, and kept where the tally does not tell as much."""
    batches: object = [data] if isinstance(data, Reports) else data
    hint = "Answers become reports first: m.fit(m.privatize(values))."
    known = "reports, batches of reports or a tally"
    require(isinstance(batches, Iterable), "data", data, known, hint)
    assert isinstance(batches, Iterable)
    tally, kept = m.empty(), list[Columns]()
    for batch in batches:
        require(isinstance(batch, Reports), "data", data, known, hint)
        tally = tally + m.tally(batch)
        if keep:
            kept.append(batch.columns)
    check_reports(tally)
    return tally, kept
