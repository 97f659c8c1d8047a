"""Everyone chooses their own level of protection, and sends it noisily beside the data [PLDP].

What a report promises about the value, about the level and about both is computed exactly (`guarantee`); the level
reports are not the whole of it, since the data tell about the level too (docs/maths/personal.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.guess import Guess
from deniable.errors import InWords, require
from deniable.estimate.fit import FitOptions
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.fitting import checked_batches
from deniable.mechanisms.personal.base import LevelMechanism, level_channel
from deniable.mechanisms.personal.bulk import PersonalBulk
from deniable.mechanisms.personal.estimate import choose, linear
from deniable.mechanisms.personal.laws import LevelLaw, Moments, common_range, ideal_guarantee, level_leakage
from deniable.mechanisms.personal.levels import check_blocks, make_bases
from deniable.mechanisms.support import SupportMechanism
from deniable_client.kernels import promised_ratio

__all__ = ["Personal"]


@dataclass(frozen=True, kw_only=True)
class Personal(LevelMechanism):
    """A person at level i reports by the base mechanism with epsilon levels[i], and the level through a channel.

    `frequency` is, like `shares`, for closed forms: see `LevelMechanism`.
    """

    frequency: float = field(default=0.0, compare=False)
    family: ClassVar[str] = "pldp"

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = isinstance(self.frequency, int | float) and 0 <= self.frequency <= 1
        require(ok, "frequency", self.frequency, "from 0 to 1")
        object.__setattr__(self, "frequency", float(self.frequency))
        object.__setattr__(self, "blocks", check_blocks(self.base, self.levels, self.k, self.blocks))

    @cached_property
    def bases(self) -> tuple[SupportMechanism, ...]:
        return make_bases(self.base, self.levels, self.domain, self.g, self.blocks)

    @cached_property
    def bulk(self) -> PersonalBulk:
        data = tuple(base.bulk for base in self.bases)
        return PersonalBulk.of(data, data, level_channel(self), self.levels)

    # ---- laws

    @property
    def law(self) -> LevelLaw:
        """The ideal law, with the expected shares."""
        return self.level_law

    @cached_property
    def law_effective(self) -> LevelLaw:
        """The law of the integers that are sampled: what estimators use."""
        return self.bulk.level_law(np.array(self.shares))

    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        return linear(self.level_counts(tally), method)

    def _fit(self, data: object, method: str, options: FitOptions) -> Estimate:
        """See `LevelMechanism._fit`; `emoa`: as PLDP prints it, which is no likelihood's maximum."""
        if method != "emoa":
            return super()._fit(data, method, options)
        from deniable.mechanisms.personal.schemes import fit_emoa  # which is made of this class

        hint = "Give the reports; or use estimate(), which needs no more than the tally."
        require(not isinstance(data, Tally), "data", InWords("a tally"), f"reports: {method} reads every one", hint)
        tally, kept = checked_batches(self, data)
        columns = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
        part, text = fit_emoa(self, tally, columns)
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, (text,), ("fitted",))

    # ---- what is promised

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """See `LevelMechanism.guarantee`; `pair_bound` is the closed form above `pair`."""
        found, ideal = super().guarantee, self._ideal_guarantee()
        least = level_leakage("lh", self.levels, self.k)
        if found["warning"] and least < ideal["leakage"]:
            found["warning"] += f"; base lh with g = {common_range(self.levels)} tells {least:.3g}"
        return found | {"pair_bound": max(ideal["pair"], found["pair"])}

    def _ideal_guarantee(self) -> dict[str, Any]:
        return ideal_guarantee(self.base, self.levels, self.k, self.one_in, self.level_epsilon or 0.0)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: of the data at a known level."""
        worst = self.bases[self.bulk.worst]
        text = (
            f"given the level, known to the attacker, the level report does not depend on the value and cancels; at "
            f"level {worst.epsilon:g}: {worst.proof.argument}"
        )
        witness = Witness(worst.proof.witness.output, worst.proof.witness.likely, worst.proof.witness.unlikely)
        found = Proof(promised_ratio(self.kernel), f"{worst.proof.method}, at a known level", text, witness)
        return self.by_level(found)

    # ---- closed forms

    def moments(self, f: float, n: float, method: str = "auem", *, effective: bool = False) -> Moments:
        """First-order moments of one item's estimate by `auem` or `self`."""
        law = self.law_effective if effective else self.law
        return law.moments(method, self.base, self.k, f, n)

    def _numbers(self, law: LevelLaw, n: float) -> dict[str, Any]:
        """See `LevelMechanism`. `variance`: of one item at `frequency`, by the level reports, levels drawn."""
        name, why = choose(self.base, self.k, law, n)
        told = "auem" if law.reported or len(self.levels) == 1 else name

        def variance(method: str, f: float) -> float:
            return law.moments(method, self.base, self.k, f, n).random_levels

        return {
            "p": law.p,
            "q": law.q,
            "shares": list(self.shares or ()),
            "frequency": self.frequency,
            "variance": variance(told, self.frequency),
            "estimator": name,
            "estimator_reason": why,
            "variance_estimator": variance(name, self.frequency),
            "mse": variance(name, 1 / self.k),
            "asr": self.guess().success,
        }

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: at the largest level, known to the attacker."""
        return self.bases[-1].guess(prior)
