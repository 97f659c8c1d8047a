"""Personal levels that protect sensitive answers only: harmless ones are disclosed now and then [PLDP over ULDP].

All levels protect the same items: a level that protects more would be ruled out by each disclosed item that it
protects. When chances of disclosure tell the level, and how much, is counted exactly (docs/maths/personal.md,
section 8).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.types import FloatArray
from deniable.errors import InWords, require
from deniable.estimate.result import Part
from deniable.mechanisms.personal import sensitive_laws
from deniable.mechanisms.personal.base import LevelMechanism, level_channel
from deniable.mechanisms.personal.bulk import SensitiveBulk
from deniable.mechanisms.personal.estimate import UtilityLevelCounts, choose_utility, linear_utility
from deniable.mechanisms.personal.levels import check_blocks, make_bases
from deniable.mechanisms.personal.options import DISCLOSURES
from deniable.mechanisms.personal.sensitive_laws import CAP_MAX, UtilityLevelLaw
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.bulk import UtilityBulk
from deniable.mechanisms.utility.sensitive import SensitiveItems, check_theta, promise_sensitive, sensitive_in_words
from deniable_client.exact import WORD, check_epsilon, exp_bounds
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.kernels import promised_ratio
from deniable_client.kernels.personal import same_value
from deniable_client.kernels.utility import base_half, check_ranges, most_disclosure

__all__ = ["PersonalUtility"]


@dataclass(frozen=True, kw_only=True)
class PersonalUtility(LevelMechanism, SensitiveItems):
    """A person at level i reports a sensitive item by the base on those items with epsilon levels[i].

    A harmless item is disclosed with a chance that `disclosure` chooses, else hidden by a report of no item.
    `sensitive` has the ends of half-open ranges of item numbers. `theta`, the expected share of people with a harmless
    item, is for closed forms only, like `shares`.
    """

    sensitive: tuple[int, ...]
    disclosure: str = "common"
    theta: float | None = field(default=None, compare=False)
    family: ClassVar[str] = "upldp"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sensitive", tuple(int(r) for r in self.sensitive))
        check_ranges(self.sensitive, self.k)
        hint = "If all answers are sensitive, leave the option out; for a single one use utility or uss."
        require(
            2 <= self.s < self.k, "sensitive", InWords(f"{self.s} of {self.k} answers"), "from 2 to all but one", hint
        )
        require(self.disclosure in DISCLOSURES, "disclosure", self.disclosure, f"one of {', '.join(DISCLOSURES)}")
        told = self.disclosure == "common" or self.level_report == "response" or len(self.levels) == 1
        hint = "Without such reports the blended chance is not known, and no share could be estimated."
        require(told, "disclosure", self.disclosure, "common unless level_report is response", hint)
        object.__setattr__(self, "theta", check_theta(self.theta, self.s, self.k))
        object.__setattr__(self, "blocks", check_blocks(self.base, self.levels, self.s, self.blocks))

    @property
    def params(self) -> dict[str, Any]:
        return super().params | {"sensitive": list(self.sensitive), "disclosure": self.disclosure}

    @cached_property
    def bases(self) -> tuple[SupportMechanism, ...]:
        """See `LevelMechanism.bases`: on the sensitive items."""
        return make_bases(self.base, self.levels, Domain.of(self.s), self.g, self.blocks)

    @cached_property
    def bulk(self) -> SensitiveBulk:
        check_epsilon(self.epsilon, sampling=True)
        bases = tuple(base.bulk for base in self.bases)
        data = tuple(
            UtilityBulk(UtilityKernel(self.k, self.sensitive, (base.kernel,), plain, 0, 1), base)
            for base, plain in zip(bases, _thresholds(self), strict=True)
        )
        return SensitiveBulk.of(data, bases, level_channel(self), self.levels)

    # ---- laws

    @cached_property
    def law(self) -> UtilityLevelLaw:
        """The ideal law, with the expected shares."""
        return sensitive_laws.ideal_law(self.level_law, self.base, self.levels, self.s, self.one_in, self.disclosure)

    @cached_property
    def law_effective(self) -> UtilityLevelLaw:
        """The law of the integers that are sampled: what estimators use."""
        return self.bulk.law(np.array(self.shares))

    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        counts = UtilityLevelCounts(self.level_counts(tally), tally.cells["disclosed"], self.law_effective, self.items)
        return linear_utility(counts, method)

    # ---- what is promised

    @property
    def value_promise(self) -> Promise:
        return promise_sensitive(self)

    protection = cached_property(sensitive_in_words)

    @property
    def disclosed_chance(self) -> Fraction:
        return max(1 - each.kernel.kept for each in self.bulk.data)

    def _ideal_guarantee(self) -> dict[str, Any]:
        return sensitive_laws.ideal_utility_guarantee(
            self.law, self.base, self.levels, self.one_in, self.level_epsilon or 0.0
        )

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: of the data at a known level."""
        own, rest = self.items
        text = (
            "given the level, known to the attacker, the level report does not depend on the value and cancels; a "
            "report that discloses has one possible sender's item, a harmless one. Any other report: sensitive items "
            "against each other have the base's ratio; a sensitive item against a harmless one at most (largest "
            "likelihood over that of a report of no item)/(chance to hide); the other way round at most the base's "
            "ratio; two harmless items have the same likelihood"
        )
        witness = Witness("a report of the base that favours this sensitive value", int(own[0]), int(rest[0]))
        return self.by_level(Proof(promised_ratio(self.kernel), "decomposition, at a known level", text, witness))

    # ---- closed forms

    def _numbers(self, law: UtilityLevelLaw, n: float) -> dict[str, Any]:
        """See `LevelMechanism`; errors for `theta` harmless answers, items of a kind being equally frequent."""
        s, h, theta = self.s, self.k - self.s, float(self.theta or 0.0)
        name, why = choose_utility(self.base, law, s, h, theta, n)
        f, rest = np.full(s, (1 - theta) / s), np.full(h, theta / h)
        own, other = law.variances("self" if name == "self" else "auem", self.base, f, rest, n, "reporters")
        p, q, _, z = law.blended().tolist()
        total = float(own.sum() + other.sum())
        chosen = {"estimator": name, "estimator_reason": why, "mse": total / self.k, "mse_sum": total}
        asr = _success(self, law, np.full(self.k, 1 / self.k))
        return {"p": p, "q": q, "z": z, "theta": theta, "shares": list(self.shares or ())} | chosen | {"asr": asr}

    @property
    def expected(self) -> FloatArray:
        """See `LevelMechanism.expected`: `theta` harmless answers, items of a kind being equally frequent."""
        (own, rest), theta, f = self.items, float(self.theta or 0.0), np.zeros(self.k)
        f[own], f[rest] = (1 - theta) / own.size, theta / rest.size
        return f

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: at the largest level, known to the attacker."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(_success(self, self.law, pi), float(pi.max()))


def _success(m: PersonalUtility, law: UtilityLevelLaw, pi: FloatArray) -> float:
    """Chance of the best guess at the largest level, with blind reports as the measure of hidden ones.

    An item that a report supports has the likelihood p/b, another sensitive one (1-p)/(1-b), a harmless one 1-z.
    """
    own, rest = (pi[items] for items in m.items)
    support, z, b = law.own.supports[-1], float(law.z[-1]), float(law.blind[-1])
    order = np.argsort(-own, kind="stable").astype(np.int64)
    first = m.bases[-1].best_ranked(order)
    floor = max(support.p_not / (1 - b) * float(own.max()), (1 - z) * float(rest.max()))
    hidden = float(np.sum(first * np.maximum(support.p / b * own[order], floor)))
    return z * float(rest.sum()) + hidden + max(0.0, 1 - float(first.sum())) * floor


def _thresholds(m: PersonalUtility) -> list[int]:
    """Thresholds of disclosure by level."""
    own = [base.kernel for base in m.bases]
    most = [most_disclosure(e, base_half(kernel).blind_peak) for e, kernel in zip(m.levels, own, strict=True)]
    cap = min(most) if m.disclosure == "common" else WORD
    if m.disclosure == "capped" and len(own) > 1:
        leak = max(same_value(a, b) for a, b in permutations(own, 2))
        cap = int(min(most) * exp_bounds(min(leak, CAP_MAX))[0])
    return [min(plain, cap) for plain in most]
