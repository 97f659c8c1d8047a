"""Everyone chooses their own level of protection, and sends it noisily beside the data [PLDP].

What a report promises about the value, about the level and about both is computed exactly (`guarantee`); the level
reports are not the whole of it, since the data tell about the level too (docs/maths/personal.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import Guess
from deniable.core.support import Support
from deniable.core.types import Columns, IntArray
from deniable.errors import require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.bulk import check_outputs
from deniable.mechanisms.personal.base import LevelMechanism
from deniable.mechanisms.personal.bases import make_bases
from deniable.mechanisms.personal.em import LevelEvidence
from deniable.mechanisms.personal.estimate import LevelCounts, choose, linear, plausible_shares
from deniable.mechanisms.personal.evidence import row_evidence, table_evidence
from deniable.mechanisms.personal.laws import LevelLaw, Moments, common_range, level_leakage, pair_bound
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream
from deniable_client.kernels import Personal as PersonalKernel

__all__ = ["Personal"]


@dataclass(frozen=True, kw_only=True)
class Personal(LevelMechanism):
    """A person at level i reports by the base mechanism with epsilon levels[i], and the level through a channel.

    `frequency` is, like `shares`, for closed forms: see `LevelMechanism`.
    """

    frequency: float = field(default=0.0, compare=False)
    family: ClassVar[str] = "pldp"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.frequency, int | float) and 0 <= self.frequency <= 1
        require(ok, "frequency", self.frequency, "from 0 to 1")
        object.__setattr__(self, "frequency", float(self.frequency))

    # ---- client

    @cached_property
    def bases(self) -> tuple[SupportMechanism, ...]:
        """The data mechanism of each level."""
        return make_bases(self.base, self.levels, self.domain, self.g)

    @cached_property
    def kernel(self) -> PersonalKernel:
        """See `Mechanism.kernel`."""
        return PersonalKernel(tuple(base.kernel for base in self.bases), self.level_kernels())

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {
            "levels": list(self.levels),
            "base": self.base,
            "level_epsilon": self.level_epsilon,
            "level_report": self.level_report,
            "g": self.g,
        }

    @property
    def data_fields(self) -> tuple[Field, ...]:
        """See `LevelMechanism.data_fields`: those of the base."""
        return self.bases[0].fields

    def perturb_at(self, level: int, items: IntArray, rng: Stream) -> Columns:
        """See `LevelMechanism.perturb_at`."""
        return self.bases[level].bulk.perturb(items, rng)

    # ---- counter

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: reports and support by reported level."""
        told = self.told(columns)
        own = [f.name for f in self.bases[0].fields]
        counts = []
        for r in range(len(self.strata)):
            mine = told == r
            counts.append(self.bases[0].bulk.count({name: columns[name][mine] for name in own}))
        return {name: np.concatenate([part[name] for part in counts]) for name in ("n", "support")}

    # ---- laws

    def _supports(self, *, ideal: bool) -> tuple[Support[float], ...]:
        return tuple(base.support if ideal else base.support_effective for base in self.bases)

    @cached_property
    def law(self) -> LevelLaw:
        """Ideal support by level and level channel, with the expected shares."""
        return LevelLaw(self._supports(ideal=True), np.array(self.shares), self.level_channel(ideal=True))

    @cached_property
    def law_effective(self) -> LevelLaw:
        """The same for the integers that are sampled: what estimators use."""
        return LevelLaw(self._supports(ideal=False), np.array(self.shares), self.level_channel(ideal=False))

    # ---- estimators

    def counts(self, tally: Tally) -> LevelCounts:
        """What linear estimators read."""
        self.check_tally(tally)
        check_reports(tally)
        return LevelCounts(tally.cells["n"], tally.cells["support"], self.law_effective, self.base)

    def level_counts(self, tally: Tally) -> LevelCounts:
        """See `LevelMechanism.level_counts`."""
        return self.counts(tally)

    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        """See `LevelMechanism.linear_part`."""
        counts = self.counts(tally)
        reason = ""
        if method == "auto":
            law = replace(counts.law, shares=plausible_shares(counts))
            method, why = choose(self.base, self.k, law, counts.total)
            reason = f"; chosen because {why}"
        part, text = linear(counts, method)
        return part, text + reason

    def tally_levels(self, tally: Tally) -> LevelEvidence:
        """See `LevelMechanism.tally_levels`."""
        return table_evidence(self, tally)

    def report_levels(self, batches: list[Columns], *, blind: bool) -> LevelEvidence:
        """See `LevelMechanism.report_levels`."""
        return row_evidence(self, batches, blind)

    # ---- what is promised

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly, rounded up: see docs/maths/personal.md, section 3.

        `data`: between values, at a known level (by level in `data_by_level`); `level`: between levels, the value being
        known, which is `level_report` and `leakage` together; `pair`: between any values and levels at once.
        """
        t, base, told = len(self.levels), self.base, self.level_epsilon or 0.0
        found: dict[str, Any] = {"data": self.levels[-1], "data_by_level": list(self.levels)}
        bound = pair_bound(base, self.levels, self.k, told) if t > 1 else self.levels[-1]
        leak = level_leakage(base, self.levels, self.k, self.g)
        if self.refusal:
            found |= {"level_report": told, "leakage": leak, "level": told + leak, "pair": bound}
            method = "ideal parameters; the pair is an upper bound"
        else:
            kernel = self.kernel
            found |= {"data": self.epsilon_exact, "data_by_level": [b.epsilon_exact for b in self.bases]}
            found |= {"level_report": kernel.report, "leakage": kernel.leakage, "level": kernel.level_guarantee}
            found["pair"] = kernel.pair_guarantee
            method = "exact, from the integers that are sampled: the report's independent parts one by one"
        found |= {"pair_bound": max(bound, found["pair"]), "method": method, "warning": ""}
        if found["leakage"] > found["level_report"] > 0:
            least = level_leakage("lh", self.levels, self.k)
            other = f"; base lh with g = {common_range(self.levels)} tells {least:.3g}" if least < leak else ""
            found["warning"] = (
                f"the data tell more about the level ({found['leakage']:.3g}) than the level report does "
                f"({found['level_report']:.3g}){other}"
            )
        return found

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: of the data at a known level."""
        worst = max(self.bases, key=lambda base: base.kernel.ratio)
        text = (
            f"given the level, known to the attacker, the level report does not depend on the value and cancels; at "
            f"level {worst.epsilon:g}: {worst.proof.argument}"
        )
        witness = Witness(worst.proof.witness.output, worst.proof.witness.likely, worst.proof.witness.unlikely)
        return Proof(self.kernel.ratio, f"{worst.proof.method}, at a known level", text, witness)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: at the level with the largest ratio; data and reported level."""
        worst = max(range(len(self.levels)), key=lambda i: self.bases[i].kernel.ratio)
        base, told = self.bases[worst].channel(), self.level_weights(worst)
        check_outputs(len(base.outputs) * len(told), self.name, self.k)
        rows = [
            (f"{name}, {stratum}", tuple(w * weight for w in row), held)
            for name, row, held in zip(base.outputs, base.weights, base.supported or (), strict=True)
            for stratum, weight in zip(self.strata, told, strict=True)
        ]
        names, weights, supported = zip(*rows, strict=True)
        return Channel(names, weights, base.total * sum(told), supported)

    @property
    def channel_error(self) -> Fraction:
        """See `Mechanism.channel_error`."""
        return max(base.bulk.channel_error for base in self.bases)

    # ---- closed forms

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return self.bases[0].bulk.outputs + math.log2(len(self.strata))

    def moments(self, f: float, n: float, method: str = "auem", *, effective: bool = False) -> Moments:
        """First-order moments of one item's estimate by `auem` or `self`."""
        law = self.law_effective if effective else self.law
        return law.auem(f, n) if method == "auem" else law.self_calibrated(self.base, self.k, f, n)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`. `variance`: of one item at `frequency`, by the level reports, levels drawn."""
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return self._numbers(self.law, n) | size | {"guarantee": self.guarantee}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_effective, n)

    def _numbers(self, law: LevelLaw, n: float) -> dict[str, Any]:
        name, why = choose(self.base, self.k, law, n)
        told = law.reported or len(self.levels) == 1
        chosen = law.auem if name == "auem" else self._self_calibrated(law)
        by_report = law.auem(self.frequency, n) if told else chosen(self.frequency, n)
        return {
            "p": law.p,
            "q": law.q,
            "shares": list(self.shares or ()),
            "frequency": self.frequency,
            "variance": by_report.random_levels,
            "estimator": name,
            "estimator_reason": why,
            "variance_estimator": chosen(self.frequency, n).random_levels,
            "mse": chosen(1 / self.k, n).random_levels,
            "asr": self.guess().success,
        }

    def _self_calibrated(self, law: LevelLaw) -> Callable[[float, float], Moments]:
        return lambda f, n: law.self_calibrated(self.base, self.k, f, n)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: at the largest level, known to the attacker."""
        return self.bases[-1].guess(prior)
