"""Fitting frequencies to reports by name: maximum likelihood (`em`), smoothed (`ems`), linear by counts of ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import ParameterError, require
from deniable.estimate.count_aware import CountAware
from deniable.estimate.em import Climb, ConvergenceWarning, Move, em_move, ems_move, squarem, uniform
from deniable.estimate.evidence import Evidence, RowEvidence
from deniable.estimate.fitted import (
    MATRIX_MAX,
    FittedPart,
    Spread,
    bootstrap_spread,
    information_spread,
    smoothed_spread,
)
from deniable.estimate.result import Part
from deniable.randomness import Simulation, Stream

__all__ = ["METHODS", "Fit", "FitOptions", "fit_frequencies"]

STDERR = ("information", "bootstrap", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How a fit is made; see `Mechanism.fit`."""

    stderr: str | None = "information"
    tolerance: float | None = None
    max_steps: int = 2000
    runs: int = 100
    rng: Stream | None = None
    progress: Callable[[int, float], None] | None = None

    def __post_init__(self) -> None:
        require(self.stderr in STDERR, "stderr", self.stderr, "'information', 'bootstrap' or None")
        ok = self.tolerance is None or (isinstance(self.tolerance, int | float) and self.tolerance > 0)
        require(ok, "tolerance", self.tolerance, "a number > 0")
        require(_whole(self.max_steps, 1), "max_steps", self.max_steps, "an integer >= 1")
        require(_whole(self.runs, 2), "runs", self.runs, "an integer >= 2", "Fifty to a few hundred are usual.")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Fitted frequencies, whether they are biased, and what was done."""

    part: Part
    biased: bool
    steps: tuple[str, ...]


def fit_frequencies(evidence: Evidence, method: str, options: FitOptions) -> Fit:
    """Fit by one of the METHODS."""
    require(method in METHODS, "method", method, f"one of {', '.join(METHODS)}")
    require(evidence.n > 0, "reports", "none", "at least one report", "Empty data have no estimate.")
    return METHODS[method](evidence, options)


def _fit_em(evidence: Evidence, options: FitOptions) -> Fit:
    tolerance = 0.02 if options.tolerance is None else options.tolerance
    climb = _climb(em_move(evidence), uniform(evidence.k), tolerance, options)
    end = f"at most {climb.gap:.2g} nats below the maximum (certificate)"
    if not climb.met:
        end = f"the certificate of {tolerance:g} nats was not met: up to {climb.gap:.2g} nats below the maximum"
        _warn(end, options)
    text = f"maximum likelihood by EM from {evidence.n} reports: {_told(climb)}, {end}"
    spread, kind = _spread(evidence, climb.value, em_move, information_spread, tolerance, options)
    if kind == "information":
        kind = ("expected" if evidence.complete else "observed") + " information"
    return Fit(FittedPart(climb.value, spread), True, (text, _told_spread(spread, kind)))


def _fit_ems(evidence: Evidence, options: FitOptions) -> Fit:
    tolerance = 1e-8 if options.tolerance is None else options.tolerance
    climb = _climb(ems_move(evidence), uniform(evidence.k), tolerance, options)
    end = f"a further step changes no value by more than {climb.gap:.2g}; no certificate, since nothing is maximised"
    if not climb.met:
        end = f"not settled: a further step still changes a value by {climb.gap:.2g}"
        _warn(end, options)
    text = f"EM with smoothing over neighbours from {evidence.n} reports, for values in an order: {_told(climb)}, {end}"
    spread, kind = _spread(evidence, climb.value, ems_move, smoothed_spread, tolerance, options)
    kind = "delta method" if kind == "information" else kind
    return Fit(FittedPart(climb.value, spread), True, (text, _told_spread(spread, kind)))


def _fit_count_aware(evidence: Evidence, options: FitOptions) -> Fit:
    if not isinstance(evidence, RowEvidence) or evidence.size_law is None:
        raise ParameterError(
            "method 'count-aware' is for reports of independent bits (ue, sue, oue, the) only.",
            "For other mechanisms use method='em', or estimate() for the linear estimator.",
        )
    if options.stderr == "bootstrap":
        raise ParameterError(
            "stderr must be 'information' or None for method 'count-aware', got 'bootstrap'.",
            "Its standard errors are exact second moments and need no simulation.",
        )
    linear = CountAware(evidence.odds, evidence.size_law)
    part = linear.estimate(evidence.rows)
    gain = f"predicted average MSE {linear.mse(evidence.n):.3g}"
    text = f"unbiased estimate from {evidence.n} reports, each weighed by its number of ones ({gain})"
    return Fit(part, False, (text, "standard errors: exact second moments of the reports' weights"))


METHODS: Mapping[str, Callable[[Evidence, FitOptions], Fit]] = {
    "em": _fit_em,
    "ems": _fit_ems,
    "count-aware": _fit_count_aware,
}
"""What `Mechanism.fit` can do, by name."""


def _climb(move: Callable[[FloatArray], Move], start: FloatArray, tolerance: float, options: FitOptions) -> Climb:
    return squarem(move, start, tolerance=tolerance, max_steps=options.max_steps, progress=options.progress)


def _spread(
    evidence: Evidence,
    f: FloatArray,
    move: Callable[[Evidence], Callable[[FloatArray], Move]],
    analytic: Callable[[Evidence, FloatArray], Spread],
    tolerance: float,
    options: FitOptions,
) -> tuple[Spread | None, str]:
    """The spread that is asked for, and what kind it is."""
    if options.stderr is None:
        return None, "none"
    if options.stderr == "information":
        hint = "Ask for stderr='bootstrap', or for none with stderr=None."
        require(evidence.k <= MATRIX_MAX, "k", evidence.k, f"at most {MATRIX_MAX} for stderr='information'", hint)
        return analytic(evidence, f), "information"
    rng = options.rng
    if not isinstance(rng, Simulation):
        raise ParameterError(
            f"rng must be a seeded stream for stderr='bootstrap', got {type(rng).__name__}.",
            "Give deniable.simulation(seed).",
        )
    streams = rng.spawn(options.runs)
    start = 0.9 * f + 0.1 * uniform(evidence.k)

    def again(run: int) -> FloatArray:
        climb = _climb(move(evidence.resampled(streams[run])), start, tolerance, options)
        if not climb.met:
            _warn(f"bootstrap run {run} has not converged", options)
        return climb.value

    return bootstrap_spread(
        again, options.runs
    ), f"bootstrap of {options.runs} runs, for both targets that of the population"


def _told(climb: Climb) -> str:
    return f"{climb.steps} steps, log-likelihood {climb.gain:.6g} nats above equal frequencies"


def _told_spread(spread: Spread | None, kind: str) -> str:
    if spread is None:
        return "no standard errors were asked for; the estimate is biased near the edge of the simplex"
    text = f"standard errors: {kind}; intervals are approximate and cut to [0, 1]; biased near the edge of the simplex"
    if spread.unknown:
        text += f"; {spread.unknown} values cannot be told apart by these reports: their standard errors are infinite"
    return text


def _warn(text: str, options: FitOptions) -> None:
    hint = f"raise max_steps (now {options.max_steps}) or the tolerance"
    warnings.warn(f"{text}; {hint}.", ConvergenceWarning, stacklevel=5)


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least
