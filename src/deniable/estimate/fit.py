"""Fitting frequencies to reports by name: maximum likelihood (`em`), smoothed (`ems`), linear by counts of ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_number, is_whole, require
from deniable.estimate.count_aware import CountAware
from deniable.estimate.em import EMS_SLACK, Climb, ConvergenceWarning, Move, em_move, ems_move, squarem, uniform
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

__all__ = ["FitOptions", "fit_frequencies"]


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
        known = self.stderr in ("information", "bootstrap", None)
        require(known, "stderr", self.stderr, "'information', 'bootstrap' or None")
        ok = self.tolerance is None or (is_number(self.tolerance) and self.tolerance > 0)
        require(ok, "tolerance", self.tolerance, "a number > 0")
        require(is_whole(self.max_steps, 1), "max_steps", self.max_steps, "an integer >= 1")
        require(is_whole(self.runs, 2), "runs", self.runs, "an integer >= 2", "Fifty to a few hundred are usual.")
        if self.stderr == "bootstrap" and not isinstance(self.rng, Simulation):
            raise ParameterError(
                f"rng must be a seeded stream for stderr='bootstrap', got {type(self.rng).__name__}.",
                "Give deniable.simulation(seed).",
            )


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Fitted frequencies, what makes them biased, and what was done."""

    part: Part
    bias: tuple[str, ...]
    steps: tuple[str, ...]


def fit_frequencies(evidence: Evidence, method: str, options: FitOptions) -> Fit:
    """Fit by one of the methods that read a likelihood."""
    require(method in _FITS, "method", method, f"one of {', '.join(_FITS)}")
    if options.stderr == "information" and method != "count-aware":
        hint = "Ask for stderr='bootstrap', or for no standard errors with stderr=None."
        require(evidence.k <= MATRIX_MAX, "k", evidence.k, f"at most {MATRIX_MAX} with stderr='information'", hint)
    return _FITS[method](evidence, options)


@dataclass(frozen=True, slots=True)
class _Iteration:
    """An iteration that can be fitted with: how it moves, when it stops, how its end spreads."""

    move: Callable[[Evidence], Callable[[FloatArray], Move]]
    spread: Callable[[Evidence, FloatArray], Spread]
    tolerance: float
    slack: float = 0.0

    def climb(self, evidence: Evidence, start: FloatArray, options: FitOptions) -> Climb:
        """From `start` to where the stopping rule is met; a warning if it is not."""
        tolerance = self.tolerance if options.tolerance is None else options.tolerance
        climb = squarem(
            self.move(evidence),
            start,
            tolerance=tolerance,
            max_steps=options.max_steps,
            slack=self.slack,
            progress=options.progress,
        )
        if not climb.met:
            text = f"the fit stopped after {climb.steps} steps at {climb.gap:.2g}, above the tolerance {tolerance:g}"
            warnings.warn(f"{text}; raise max_steps or the tolerance.", ConvergenceWarning, stacklevel=6)
        return climb

    def spread_of(self, evidence: Evidence, f: FloatArray, options: FitOptions) -> Spread | None:
        """The spread that is asked for."""
        if options.stderr is None:
            return None
        if options.stderr == "information":
            return self.spread(evidence, f)
        assert isinstance(options.rng, Simulation)
        near = 0.9 * f + 0.1 * uniform(evidence.k)
        again = (self.climb(evidence.resampled(rng), near, options) for rng in options.rng.spawn(options.runs))
        return bootstrap_spread([climb.value for climb in again])


_EM = _Iteration(em_move, information_spread, tolerance=0.02)
_EMS = _Iteration(ems_move, smoothed_spread, tolerance=1e-7, slack=EMS_SLACK)


def _fit_em(evidence: Evidence, options: FitOptions) -> Fit:
    climb = _EM.climb(evidence, uniform(evidence.k), options)
    bound = f"at most {climb.gap:.2g} nats below the maximum"
    end = f"{bound} (certificate)" if climb.met else f"stopped before the certificate was met: {bound}"
    text = f"maximum likelihood by EM from {evidence.n} reports: {_told(climb)}, {end}"
    spread = _EM.spread_of(evidence, climb.value, options)
    kind = f"{'expected' if evidence.complete else 'observed'} information"
    bias = "the estimate is biased near the edge of the simplex"
    return Fit(FittedPart(climb.value, spread), ("fitted",), (text, _told_spread(spread, kind, bias, options)))


def _fit_ems(evidence: Evidence, options: FitOptions) -> Fit:
    climb = _EMS.climb(evidence, uniform(evidence.k), options)
    change = f"a further step changes no value by more than {climb.gap:.2g}"
    settled = f"{change}; smoothing maximises nothing, so there is no certificate"
    end = settled if climb.met else f"stopped before it settled: {change}"
    text = f"EM with smoothing from {evidence.n} reports, for values in an order: {_told(climb)}, {end}"
    spread = _EMS.spread_of(evidence, climb.value, options)
    bias = "the estimate is biased by the smoothing, which neither standard errors nor intervals know of"
    steps = (text, _told_spread(spread, "delta method", bias, options))
    return Fit(FittedPart(climb.value, spread), ("smoothed",), steps)


def _fit_count_aware(evidence: Evidence, options: FitOptions) -> Fit:
    if not isinstance(evidence, RowEvidence) or evidence.size_law is None:
        raise ParameterError(
            "method 'count-aware' is for reports of independent bits only (unary encodings, thresholded histograms).",
            "For other mechanisms use method='em', or estimate() for the linear estimator.",
        )
    if options.stderr == "bootstrap":
        raise ParameterError(
            "stderr must be 'information' or None for method 'count-aware', got 'bootstrap'.",
            "Its standard errors are exact second moments and need no simulation.",
        )
    linear = CountAware(evidence.odds, evidence.size_law)
    text = f"unbiased estimate from {evidence.n} reports, each weighed by its number of ones"
    return Fit(linear.estimate(evidence.rows), (), (text,))


_FITS: Mapping[str, Callable[[Evidence, FitOptions], Fit]] = {
    "em": _fit_em,
    "ems": _fit_ems,
    "count-aware": _fit_count_aware,
}
"""Who fits, by the names of `METHODS`: those that read a likelihood."""


def _told(climb: Climb) -> str:
    return f"{climb.steps} steps, log-likelihood {climb.gain:.6g} nats above equal frequencies"


def _told_spread(spread: Spread | None, kind: str, bias: str, options: FitOptions) -> str:
    if spread is None:
        return f"no standard errors were asked for; {bias}"
    if options.stderr == "bootstrap":
        kind = f"bootstrap of {options.runs} runs, for both targets that of the population"
    text = f"standard errors: {kind}; intervals are approximate and cut to [0, 1]; {bias}"
    if spread.unknown:
        text += f"; {spread.unknown} values cannot be told apart by these reports: their standard errors are infinite"
    return text
