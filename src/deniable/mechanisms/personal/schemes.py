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
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.levels import check_levels, check_shares
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import emoa, ppda, ppda_covariance, precision, response_is_better
from deniable.mechanisms.protocol import ItemStep, OfItems, Protocol, Step
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream, stream_of

__all__ = ["HiddenLevels", "PublicLevels", "fit_emoa", "make_scheme"]

_LEVELS = 10
"""How many levels there are unless they are given: as many as in the experiments of PLDP, equally far apart."""
_LEVEL_EPSILON = 0.3
"""Protection of the level report unless given, as in these experiments."""


def make_scheme(
    cls: type[LevelScheme],
    scheme: str,
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
    return cls(epsilon=epsilon, domain=domain, scheme=scheme, levels=kept[0], weights=kept[1], **own)


@dataclass(frozen=True, kw_only=True)
class LevelScheme(OfItems, Protocol[IntArray]):
    """What all of them have: levels, and how many people choose each."""

    scheme: str
    levels: tuple[float, ...]
    weights: tuple[float, ...]
    """Shares of the levels."""
    family: ClassVar[str] = "levels"
    only_simulated: ClassVar[str] = (
        "It is here for comparison, in simulations. Collect with pldp, which protects levels too."
    )

    @property
    def name(self) -> str:
        """The name that papers give it."""
        return self.scheme

    @property
    def params(self) -> dict[str, Any]:
        """See `Protocol.params`; `shares` are those of the levels."""
        own = {name: value for name, value in super().params.items() if name != "scheme" and value is not None}
        return {"levels": own.pop("levels"), "shares": own.pop("weights"), **own}

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
class PublicLevels(LevelScheme):
    """RCF: everybody at a level answers SUE of that level; estimates of all levels are combined by their variances.

    APLDP: the same, with randomised response at levels where its error is lower than that of SUE.

    >>> import deniable as dn
    >>> [step.mechanism.epsilon for step in dn.protocol("rcf", levels="0.5,1", k=8).outline]
    [0.5, 1.0]
    """

    @property
    def protection(self) -> Protection:
        """See `Protocol.protection`: nothing is promised about the level."""
        found = super().protection
        return replace(found, promise=found.promise.with_levels(self.levels, math.inf, math.inf))

    def at_level(self, level: float) -> SupportMechanism:
        """The mechanism of one level."""
        if self.scheme == "apldp" and response_is_better(self.k, level):
            return GRR(epsilon=level, domain=self.domain)
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


# ---- levels are hidden


@dataclass(frozen=True, slots=True, eq=False)
class PpdaPart(NormalPart):
    """PPDA's estimates with first-order variances."""

    value: FloatArray
    law: LevelLaw
    n: float
    extra: int
    """How many bits nobody holds."""

    def variance(self, target: Target) -> FloatArray:
        return np.asarray(np.diagonal(self.covariance(target)).copy())

    def covariance(self, target: Target) -> FloatArray:
        f = np.clip(self.value, 0, 1)
        return ppda_covariance(self.law, f / max(float(f.sum()), 1.0), self.n, self.extra, target)


@dataclass(frozen=True, kw_only=True)
class HiddenLevels(LevelScheme):
    """One report from everybody, by SUE of their own level.

    PBP: no level is sent; the shares of the levels are public [PLDP Eq. 3]. PPDA: no level is sent; bits that nobody
    holds, as many as there are values, tell q. AUEM: levels are told noisily; their shares are estimated [PLDP Eq. 3
    and 4], with no guard against a small p - q. EMOA: PLDP Algorithm 1 from where AUEM ends; it reads every report, and
    its errors are not known.
    """

    level_epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheme in ("auem", "emoa") and self.level_epsilon is None:
            object.__setattr__(self, "level_epsilon", _LEVEL_EPSILON)

    @property
    def shares(self) -> tuple[float, ...]:
        return (1.0,)

    @cached_property
    def mechanism(self) -> Personal:
        """What everybody answers; for PPDA as many values that nobody holds come after the others."""
        told = "none" if self.level_epsilon is None else "response"
        domain = Domain.of(2 * self.k) if self.scheme == "ppda" else self.domain
        made: dict[str, Any] = {"epsilon": self.epsilon, "domain": domain, "levels": self.levels, "base": "sue"}
        return Personal(**made, level_report=told, level_epsilon=self.level_epsilon, shares=self.weights)

    @property
    def protection(self) -> Protection:
        """See `Protocol.protection`: of the values, and of the levels."""
        return replace(self.mechanism.protection, steps="one")

    @property
    def outline(self) -> tuple[Step[IntArray], ...]:
        return (ItemStep(name="answers", share=1.0, mechanism=self.mechanism),)

    def next(self, tallies: Sequence[Tally]) -> Step[IntArray] | Estimate:
        """The estimate from the one tally."""
        require(len(tallies) == 1, "tallies", len(tallies), "that of the one step")
        check_tally(self.mechanism, tallies[0])
        return self._estimate(tallies[0], *self._estimated(tallies[0]))

    def run(self, data: IntArray, rng: Stream) -> tuple[Estimate, list[Step[IntArray]], list[Tally]]:
        """See `Protocol.run`: one step, whose reports EMOA keeps."""
        if self.scheme != "emoa":
            return super().run(data, rng)
        step = self.first()
        reports = step.privatize(data, stream_of(rng))
        tally = self.mechanism.tally(reports)
        return self._estimate(tally, *fit_emoa(self.mechanism, tally, reports.columns)), [step], [tally]

    def _estimated(self, tally: Tally) -> tuple[Part, str]:
        """The shares, and what was done."""
        m = self.mechanism
        counts = m.level_counts(tally)
        if self.scheme == "pbp":
            return SupportPart(counts.share, m.law_effective.mixed(), tally.n), "PBP: public shares of the levels"
        if self.scheme == "ppda":
            q = float(counts.share[self.k :].mean())
            part = PpdaPart(ppda(counts.share[: self.k], q), m.law_effective, tally.n, self.k)
            return part, f"PPDA: q = {q:.4g} by {self.k} bits that nobody holds"
        hint = "dn.protocol('emoa', ...).run(values, rng), or of pldp m.fit(reports, method='emoa')."
        if self.scheme == "emoa":
            raise ParameterError("emoa reads every report; a tally does not keep them.", hint)
        return linear(counts, "auem", guard=False)

    def _estimate(self, tally: Tally, part: Part, text: str) -> Estimate:
        labels, bias = self.domain.labels_or_numbers, ("fitted",) if self.scheme == "emoa" else ()
        return Estimate(labels, {"frequency": part}, tally.n, self.mechanism.design, tally.simulated, (text,), bias)


def fit_emoa(m: Personal, tally: Tally, columns: Columns) -> tuple[Part, str]:
    """EMOA as printed, divided by its sum; nothing is known of its errors, so that variances are infinite."""
    counts = m.level_counts(tally)
    start = project_simplex(linear(counts, "auem", guard=False)[0].value)
    sets = np.unpackbits(m.bases[0].bulk.supported(columns), axis=1, count=m.k, bitorder="little")
    found = emoa(sets.astype(np.float64), m.law_effective, start, project_simplex(estimate_shares(counts)))
    total, unknown = float(found.sum()), np.full(m.k, np.inf)
    text = f"EMOA as printed (PLDP Algorithm 1), divided by its sum, {total:.4g}; its standard errors are not known"
    return FittedPart(found / total, Spread(unknown, unknown)), text
