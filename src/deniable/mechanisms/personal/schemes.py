"""Schemes for personal levels by the names that papers give them: what people send, and what is made of it.

For comparison in simulations; no collection is made with them. RCF and APLDP: levels are public, so that everybody at a
level answers a mechanism of that level. PBP, PPDA, AUEM and EMOA: one report from everybody, levels hidden. All of them
are reconstructions but AUEM and EMOA, which are as printed (`published` says from what).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.protection import Protection
from deniable.core.support import check_target
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import ParameterError, require
from deniable.estimate.fitted import FittedPart, Spread
from deniable.estimate.linear import SupportPart
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate, NormalPart, Part
from deniable.estimate.simplex import project_simplex
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.personal.estimate import estimate_shares, linear
from deniable.mechanisms.personal.levels import check_levels, check_shares
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import blended, emoa, ppda, ppda_covariance, precision, response_is_better
from deniable.mechanisms.protocol import Protocol, Step
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, stream_of

__all__ = ["Apldp", "Auem", "Emoa", "LevelScheme", "Pbp", "Ppda", "Rcf", "fit_emoa", "make_scheme"]

_LEVELS = 10
"""How many levels there are unless they are given: as many as in the experiments of PLDP, equally far apart."""
_LEVEL_EPSILON = 0.3
"""Protection of the level report unless given, as in these experiments."""


def make_scheme(
    cls: type[LevelScheme],
    *,
    epsilon: float,
    domain: Domain,
    levels: object = None,
    shares: object = None,
    **own: Any,
) -> LevelScheme:
    """A scheme at the given levels; without them at tenths of epsilon."""
    told = [epsilon * i / _LEVELS for i in range(1, _LEVELS + 1)] if levels is None else check_levels(levels)
    hint = "It is the promise to people at the largest level; leave it out to have just that."
    require(epsilon >= max(told), "epsilon", epsilon, f"at least the largest level, {max(told)}", hint)
    weights = check_shares(shares, len(told))
    order = sorted(range(len(told)), key=told.__getitem__)
    kept = tuple(told[i] for i in order), tuple(weights[i] for i in order)
    return cls(epsilon=epsilon, domain=domain, levels=kept[0], weights=kept[1], **own)


@dataclass(frozen=True, kw_only=True)
class ItemStep(Step[IntArray]):
    """Everybody's item; levels that are hidden are drawn by the planned shares."""

    def privatize(self, data: IntArray, rng: Stream) -> Reports:
        return self.mechanism.privatize_items(data, rng)


@dataclass(frozen=True, kw_only=True)
class LevelScheme(Protocol[IntArray]):
    """What all of them have: levels, and how many people choose each."""

    levels: tuple[float, ...]
    weights: tuple[float, ...]
    """Shares of the levels."""
    only_simulated: ClassVar[str] = (
        "It is here for comparison, in simulations. Collect with pldp, which protects levels too."
    )

    @property
    def params(self) -> dict[str, Any]:
        """See `Protocol.params`."""
        own = super().params
        return {"levels": own.pop("levels"), "shares": own.pop("weights"), **own}

    def people(self, data: IntArray) -> int:
        return int(data.size)

    def part(self, data: IntArray, who: IntArray) -> IntArray:
        return data[who]

    def first(self) -> Step[IntArray]:
        return self.outline[0]


# ---- levels are public


@dataclass(frozen=True, slots=True, eq=False)
class LevelsPart(NormalPart):
    """Estimates of levels that are weighted otherwise than by their people, who are anybody.

    For the reporters, being some of them adds what drawing all of them from a population would not.
    """

    pooled: Part
    n: float

    @property
    def value(self) -> FloatArray:
        return self.pooled.value

    def variance(self, target: Target) -> FloatArray:
        return np.asarray(np.diagonal(self.covariance(target)).copy())

    def covariance(self, target: Target) -> FloatArray:
        check_target(target)
        found = self.pooled.covariance("population")
        if target == "population":
            return found
        f = np.clip(self.value, 0, 1)
        return np.asarray(found - (np.diag(f) - np.outer(f, f)) / self.n)


@dataclass(frozen=True, kw_only=True)
class Rcf(LevelScheme):
    """Everybody at a level answers SUE of that level; estimates of all levels are combined by their variances.

    >>> import deniable as dn
    >>> [step.mechanism.epsilon for step in dn.protocol("rcf", levels="0.5,1", k=8).outline]
    [0.5, 1.0]
    """

    family: ClassVar[str] = "rcf"

    @property
    def protection(self) -> Protection:
        """See `Protocol.protection`: nothing is promised about the level."""
        found = super().protection
        return replace(found, promise=found.promise.with_levels(self.levels, math.inf, math.inf))

    def at_level(self, level: float) -> SupportMechanism:
        """The mechanism of one level."""
        return Unary.symmetric(epsilon=level, domain=self.domain)

    @property
    def shares(self) -> tuple[float, ...]:
        return self.weights

    @cached_property
    def outline(self) -> tuple[Step[IntArray], ...]:
        return tuple(
            ItemStep(name=f"level {level:g}", share=share, mechanism=self.at_level(level))
            for level, share in zip(self.levels, self.weights, strict=True)
        )

    def next(self, tallies: Sequence[Tally]) -> Step[IntArray] | Estimate:
        """The next level; in the end, all of them together, those without people left out."""
        steps = self.outline
        require(1 <= len(tallies) <= len(steps), "tallies", len(tallies), f"one for each level (1 to {len(steps)})")
        if len(tallies) < len(steps):
            return steps[len(tallies)]
        held = [(step.mechanism, tally) for step, tally in zip(steps, tallies, strict=True) if tally.n > 0]
        support: list[Any] = [m for m, _ in held]  # all of them have a support
        weights = [float(precision(np.array(tally.n), m.support)) for m, (_, tally) in zip(support, held, strict=True)]
        pooled = pool([m.estimate(tally) for m, tally in held], weights)
        part = pooled.parts["frequency"]
        told = f"estimates of {len(held)} levels, weighted by one over their variances"
        return replace(pooled, parts={"frequency": LevelsPart(part, pooled.n)}, steps=(told,))


@dataclass(frozen=True, kw_only=True)
class Apldp(Rcf):
    """The same, with randomised response at levels where its error is lower than that of SUE."""

    family: ClassVar[str] = "apldp"

    def at_level(self, level: float) -> SupportMechanism:
        if response_is_better(self.k, level):
            return GRR(epsilon=level, domain=self.domain)
        return super().at_level(level)


# ---- levels are hidden


@dataclass(frozen=True, kw_only=True)
class HiddenLevels(LevelScheme):
    """One report from everybody, by SUE of their own level."""

    fitted: ClassVar[bool] = False
    """Whether estimates are biased, being fitted."""

    @property
    def shares(self) -> tuple[float, ...]:
        return (1.0,)

    def _told(self) -> dict[str, Any]:
        """What is sent about levels."""
        return {"level_report": "none"}

    @property
    def answers(self) -> Domain:
        """What bits stand for."""
        return self.domain

    @cached_property
    def mechanism(self) -> Personal:
        """What everybody answers."""
        made = {"epsilon": self.epsilon, "domain": self.answers, "levels": self.levels, "base": "sue"}
        return Personal(**made, shares=self.weights, **self._told())  # type: ignore[arg-type]

    @property
    def protection(self) -> Protection:
        """See `Protocol.protection`: of the values, and of the levels."""
        return replace(self.mechanism.protection, steps="one")

    @property
    def outline(self) -> tuple[Step[IntArray], ...]:
        return (ItemStep(name="answers", share=1.0, mechanism=self.mechanism),)

    def next(self, tallies: Sequence[Tally]) -> Step[IntArray] | Estimate:
        require(len(tallies) == 1, "tallies", len(tallies), "that of the one step")
        check_tally(self.mechanism, tallies[0])
        part, text = self.estimated(tallies[0])
        return self._estimate(tallies[0], part, text)

    def estimated(self, tally: Tally) -> tuple[Part, str]:
        """The shares, and what was done."""
        raise NotImplementedError

    def _estimate(self, tally: Tally, part: Part, text: str) -> Estimate:
        labels = self.domain.labels_or_numbers
        bias = ("fitted",) if self.fitted else ()
        return Estimate(labels, {"frequency": part}, tally.n, self.mechanism.design, tally.simulated, (text,), bias)


@dataclass(frozen=True, kw_only=True)
class Pbp(HiddenLevels):
    """No level is sent; the shares of the levels are public [PLDP Eq. 3]."""

    family: ClassVar[str] = "pbp"

    def estimated(self, tally: Tally) -> tuple[Part, str]:
        m = self.mechanism
        support = blended(m.law_effective, np.array(self.weights))
        return SupportPart(m.level_counts(tally).share, support, tally.n), "PBP: p and q by public shares of the levels"


@dataclass(frozen=True, slots=True, eq=False)
class PpdaPart(NormalPart):
    """PPDA's estimates with first-order variances."""

    value: FloatArray
    scheme: Ppda
    n: float

    def variance(self, target: Target) -> FloatArray:
        return np.asarray(np.diagonal(self.covariance(target)).copy())

    def covariance(self, target: Target) -> FloatArray:
        f = np.clip(self.value, 0, 1)
        law = self.scheme.mechanism.law_effective
        return ppda_covariance(law, f / max(float(f.sum()), 1.0), self.n, self.scheme.extra, target)


@dataclass(frozen=True, kw_only=True)
class Ppda(HiddenLevels):
    """No level is sent; bits that nobody holds, as many as there are values, tell q."""

    family: ClassVar[str] = "ppda"

    @property
    def extra(self) -> int:
        """How many bits nobody holds."""
        return self.k

    @property
    def answers(self) -> Domain:
        return Domain.of(self.k + self.extra)

    def estimated(self, tally: Tally) -> tuple[Part, str]:
        share = self.mechanism.level_counts(tally).share
        q = float(share[self.k :].mean())
        value = ppda(share[: self.k], q)
        return PpdaPart(value, self, tally.n), f"PPDA: q = {q:.4g} by {self.extra} bits that nobody holds"


@dataclass(frozen=True, kw_only=True)
class Auem(HiddenLevels):
    """Levels are told noisily; their shares are estimated [PLDP Eq. 3 and 4], with no guard against a small p - q."""

    level_epsilon: float = _LEVEL_EPSILON
    family: ClassVar[str] = "auem"

    def _told(self) -> dict[str, Any]:
        return {"level_report": "response", "level_epsilon": self.level_epsilon}

    def estimated(self, tally: Tally) -> tuple[Part, str]:
        return linear(self.mechanism.level_counts(tally), "auem", guard=False)


@dataclass(frozen=True, kw_only=True)
class Emoa(Auem):
    """PLDP Algorithm 1 from where AUEM ends; it reads every report, and its errors are not known."""

    family: ClassVar[str] = "emoa"
    fitted: ClassVar[bool] = True

    def run(self, data: IntArray, rng: Stream) -> tuple[Estimate, list[Step[IntArray]], list[Tally]]:
        """See `Protocol.run`: one step, whose reports are kept."""
        step = self.first()
        reports = step.privatize(data, stream_of(rng))
        tally = self.mechanism.tally(reports)
        part, text = fit_emoa(self.mechanism, tally, reports.columns)
        return self._estimate(tally, part, text), [step], [tally]

    def estimated(self, tally: Tally) -> tuple[Part, str]:
        hint = "dn.protocol('emoa', ...).run(values, rng), or of pldp m.fit(reports, method='emoa')."
        raise ParameterError("emoa reads every report; a tally does not keep them.", hint)


def fit_emoa(m: Personal, tally: Tally, columns: Columns) -> tuple[Part, str]:
    """EMOA as printed, divided by its sum; nothing is known of its errors, so that variances are infinite."""
    counts = m.level_counts(tally)
    start = project_simplex(linear(counts, "auem", guard=False)[0].value)
    sets = np.unpackbits(m.bases[0].bulk.supported(columns), axis=1, count=m.k, bitorder="little")
    found = emoa(sets.astype(np.float64), m.law_effective, start, project_simplex(estimate_shares(counts)))
    total, unknown = float(found.sum()), np.full(m.k, np.inf)
    text = f"EMOA as printed (PLDP Algorithm 1), divided by its sum, {total:.4g}; its standard errors are not known"
    return FittedPart(found / total, Spread(unknown, unknown)), text
