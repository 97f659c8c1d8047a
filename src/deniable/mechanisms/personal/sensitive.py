"""Personal levels that protect sensitive answers only: harmless ones are disclosed now and then [PLDP over ULDP].

All levels protect the same items: a level that protects more would be ruled out by each disclosed item that it
protects. When chances of disclosure tell the level, and how much, is counted exactly (docs/maths/personal.md,
section 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import epsilon_to
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.bulk import check_outputs, refuse_values
from deniable.mechanisms.personal.base import LevelMechanism
from deniable.mechanisms.personal.bases import make_bases
from deniable.mechanisms.personal.estimate import LevelCounts
from deniable.mechanisms.personal.evidence import utility_row_evidence, utility_table_evidence
from deniable.mechanisms.personal.laws import LevelLaw, level_leakage
from deniable.mechanisms.personal.sensitive_em import UtilityLevelEvidence
from deniable.mechanisms.personal.sensitive_estimate import UtilityLevelCounts, choose_utility, linear_utility
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.laws import null_law
from deniable.mechanisms.utility.sensitive import SensitiveItems, check_theta
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon, exp_bounds
from deniable_client.kernels import Personal as PersonalKernel
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.kernels.personal_ratios import disclosure, same_value
from deniable_client.kernels.utility import base_half, check_ranges, most_disclosure
from deniable_client.packing import uint_width

__all__ = ["DISCLOSURES", "PersonalUtility"]

DISCLOSURES = ("common", "capped", "own")
"""Chance that a harmless item is disclosed: one for all levels, which tells nothing about the level; as much as each
level allows, but no more telling than reports of sensitive items are; as much as each level allows."""

_WORD = 1 << WORD_BITS
_CAP_MAX = 50.0
"""A cap of e^50 on quotients of chances binds nothing: no threshold is below 2^-64."""


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
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sensitive", tuple(int(r) for r in self.sensitive))
        check_ranges(self.sensitive, self.k)
        hint = "If all answers are sensitive, leave the option out; for a single one use utility or uss."
        require(2 <= self.s < self.k, "sensitive", f"{self.s} of {self.k} answers", "from 2 to all but one", hint)
        require(self.disclosure in DISCLOSURES, "disclosure", self.disclosure, f"one of {', '.join(DISCLOSURES)}")
        told = self.disclosure == "common" or self.level_report == "response" or len(self.levels) == 1
        hint = "Without such reports the blended chance is not known, and no share could be estimated."
        require(told, "disclosure", self.disclosure, "common unless level_report is response", hint)
        object.__setattr__(self, "theta", check_theta(self.theta, self.s, self.k))

    # ---- layout

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {
            "levels": list(self.levels),
            "base": self.base,
            "sensitive": list(self.sensitive),
            "disclosure": self.disclosure,
            "level_epsilon": self.level_epsilon,
            "level_report": self.level_report,
            "g": self.g,
        }

    # ---- client

    @cached_property
    def bases(self) -> tuple[SupportMechanism, ...]:
        """The data mechanism of each level, on the sensitive items."""
        return make_bases(self.base, self.levels, Domain.of(self.s), self.g)

    @cached_property
    def kernel(self) -> PersonalKernel:
        """See `Mechanism.kernel`."""
        check_epsilon(self.epsilon, sampling=True)
        own = [base.kernel for base in self.bases]
        most = [
            most_disclosure(level, base_half(kernel).blind_peak) for level, kernel in zip(self.levels, own, strict=True)
        ]
        cap = _WORD
        if self.disclosure == "common":
            cap = min(most)
        elif self.disclosure == "capped" and len(own) > 1:
            leak = max(same_value(a, b) for a, b in permutations(own, 2))
            cap = int(min(most) * exp_bounds(min(leak, _CAP_MAX))[0])
        data = [
            UtilityKernel(self.k, self.sensitive, (kernel,), min(plain, cap), 0, 1)
            for kernel, plain in zip(own, most, strict=True)
        ]
        return PersonalKernel(tuple(data), self.level_kernels())

    @cached_property
    def _plain(self) -> list[int]:
        """Thresholds of disclosure by level."""
        return [kernel.plain for kernel in self.kernel.data if isinstance(kernel, UtilityKernel)]

    @property
    def data_fields(self) -> tuple[Field, ...]:
        """See `LevelMechanism.data_fields`: 0 or what is disclosed, then the base's report (zeros if there is none)."""
        return (Field("disclosed", "uint", uint_width(1 + self.k - self.s)), *self.bases[0].fields)

    def perturb_at(self, level: int, items: IntArray, rng: Stream) -> Columns:
        """See `LevelMechanism.perturb_at`."""
        own, rest = self.items
        rank = np.empty(self.k, np.int64)
        rank[own], rank[rest] = np.arange(own.size), np.arange(rest.size)
        sensitive = np.isin(items, own)
        alone = ~sensitive & bernoulli(rng, self._plain[level], items.size)
        columns: Columns = {f.name: np.zeros(f.shape(items.size), f.dtype) for f in self.data_fields}
        columns["disclosed"][alone] = 1 + rank[items[alone]]
        mine, hidden = np.flatnonzero(sensitive), np.flatnonzero(~sensitive & ~alone)
        base = self.bases[level]
        for where, made in (
            (mine, base.bulk.perturb(rank[items[mine]], rng)),
            (hidden, base.bulk.blind(hidden.size, rng)),
        ):
            for name, column in made.items():
                columns[name][where] = column
        return columns

    # ---- counter

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: reports, support of sensitive items and disclosed harmless ones, by reported level."""
        told, hidden = self.told(columns), columns["disclosed"] == 0
        disclosed = self.disclosed_counts(columns)
        own = [f.name for f in self.bases[0].fields]
        for name in own:
            if columns[name][~hidden].any():
                raise FormatError(f"a report that discloses an item alone has field {name!r} not zero.")
        support = []
        for r in range(len(self.strata)):
            mine = hidden & (told == r)
            support.append(self.bases[0].bulk.count({name: columns[name][mine] for name in own})["support"])
        n = np.bincount(told, minlength=len(self.strata)).astype(np.int64)
        return {"n": n, "support": np.concatenate(support), "disclosed": disclosed}

    def disclosed_counts(self, columns: Columns) -> IntArray:
        """How often each harmless item was disclosed: a row for each reported level."""
        harmless, strata = self.k - self.s, len(self.strata)
        refuse_values(columns["disclosed"], 1 + harmless, "disclosed")
        seen = columns["disclosed"] > 0
        at = self.told(columns)[seen] * harmless + columns["disclosed"][seen].astype(np.int64) - 1
        return np.bincount(at, minlength=strata * harmless).reshape(strata, harmless).astype(np.int64)

    # ---- laws

    def _law(self, supports: Any, z: FloatArray, blind: FloatArray, *, ideal: bool) -> UtilityLevelLaw:
        pair = np.array([s.both_one * b / s.p for s, b in zip(supports, blind.tolist(), strict=True)])
        own = LevelLaw(tuple(supports), np.array(self.shares), self.level_channel(ideal=ideal))
        return UtilityLevelLaw(own, z, blind, pair, self.s)

    @cached_property
    def law(self) -> UtilityLevelLaw:
        """The ideal law, with the expected shares."""
        supports = [base.support for base in self.bases]
        z = np.array([null_law(s, *epsilon_to(e)).z for s, e in zip(supports, self.levels, strict=True)])
        if self.disclosure == "common":
            z = np.full(z.size, z.min())
        elif self.disclosure == "capped":
            leak = level_leakage(self.base, self.levels, self.s, self.g)
            z = np.minimum(z, z.min() * math.exp(min(leak, _CAP_MAX)))
        share = {"grr": 1 / self.s, "lh": 1 / (self.g or 1)}.get(self.base)
        blind = np.array([support.q if share is None else share for support in supports])
        return self._law(supports, z, blind, ideal=True)

    @cached_property
    def law_effective(self) -> UtilityLevelLaw:
        """The law of the integers that are sampled: what estimators use."""
        blind = np.array([float(base_half(base.kernel).share) for base in self.bases])
        z = np.array([plain / _WORD for plain in self._plain])
        return self._law([base.support_effective for base in self.bases], z, blind, ideal=False)

    # ---- estimators

    def counts(self, tally: Tally) -> UtilityLevelCounts:
        """What linear estimators read."""
        law = self.law_effective
        return UtilityLevelCounts(self.level_counts(tally), tally.cells["disclosed"], law, self.items)

    def level_counts(self, tally: Tally) -> LevelCounts:
        """See `LevelMechanism.level_counts`."""
        self.check_tally(tally)
        check_reports(tally)
        return LevelCounts(tally.cells["n"], tally.cells["support"], self.law_effective.own, self.base)

    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        """See `LevelMechanism.linear_part`."""
        return linear_utility(self.counts(tally), method)

    def tally_levels(self, tally: Tally) -> UtilityLevelEvidence:
        """See `LevelMechanism.tally_levels`."""
        return utility_table_evidence(self, tally)

    def report_levels(self, batches: list[Columns], *, blind: bool) -> UtilityLevelEvidence:
        """See `LevelMechanism.report_levels`."""
        return utility_row_evidence(self, batches, blind)

    # ---- what is promised

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly, rounded up: see docs/maths/personal.md, section 8.

        `data`: between values at a known level, of reports that disclose nothing; `level`: between levels, the value
        being known, `level_report` and `leakage` together, of which `disclosure` is the part of disclosing; `pair`:
        between any values and levels, of reports that disclose nothing.
        """
        found = self._promised_ideally() if self.refusal else self._promised_exactly()
        found["warning"] = ""
        if found["leakage"] > found["level_report"] > 0:
            found["warning"] = (
                f"the data tell more about the level ({found['leakage']:.3g}) than the level report does "
                f"({found['level_report']:.3g})"
            )
        return found

    def _promised_exactly(self) -> dict[str, Any]:
        kernel = self.kernel
        data = [each for each in kernel.data if isinstance(each, UtilityKernel)]
        return {
            "data": self.epsilon_exact,
            "data_by_level": [self.proof_at(i).epsilon for i in range(len(data))],
            "level_report": kernel.report,
            "leakage": kernel.leakage,
            "disclosure": max((disclosure(a, b) for a, b in permutations(data, 2)), default=0.0),
            "level": kernel.level_guarantee,
            "pair": kernel.pair_guarantee,
            "method": "exact, from the integers that are sampled: the report's independent parts one by one",
        }

    def _promised_ideally(self) -> dict[str, Any]:
        told, z = self.level_epsilon or 0.0, self.law.z
        seen, open_ = level_leakage(self.base, self.levels, self.s, self.g), math.log(z.max() / z.min())
        bits = {"sue": seen, "oue": self.s * level_leakage("oue", self.levels, 2)}.get(self.base, 0.0)
        top = self.bases[-1].support  # at the largest level; 1 - z = 1 - p + p/e where z = p (1 - 1/e) is all of it
        least = max(1 - float(z[-1]), top.p_not + top.p * epsilon_to(self.levels[-1])[0])
        leak = max(seen, open_, math.log((1 - float(z[0])) / least) + bits)
        return {
            "data": self.levels[-1],
            "data_by_level": list(self.levels),
            "level_report": told,
            "leakage": leak,
            "disclosure": open_,
            "level": told + leak,
            "pair": told + leak + self.levels[-1],
            "method": "ideal parameters; level and pair are upper bounds",
        }

    @property
    def _worst(self) -> int:
        """The level with the largest ratio."""
        return max(range(len(self.levels)), key=lambda i: self.kernel.data[i].ratio)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: of the data at a known level."""
        return self.proof_at(self._worst)

    def proof_at(self, level: int) -> Proof:
        """What is promised to people at the level of this number, whose level is known."""
        own, rest = self.items
        text = (
            "given the level, known to the attacker, the level report does not depend on the value and cancels; a "
            "report that discloses has one possible sender's item, a harmless one. Any other report: sensitive items "
            "against each other have the base's ratio; a sensitive item against a harmless one at most (largest "
            "likelihood over that of a report of no item)/(chance to hide); the other way round at most the base's "
            "ratio; two harmless items have the same likelihood"
        )
        witness = Witness("a report of the base that favours this sensitive value", int(own[0]), int(rest[0]))
        return Proof(self.kernel.data[level].ratio, "decomposition, at a known level", text, witness)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: at the level with the largest ratio; data and reported level."""
        return self.channel_at(self._worst)

    def channel_at(self, level: int) -> Channel:
        """The exact channel at the level of this number: the base's outputs and harmless items, by reported level."""
        own, rest = (part.tolist() for part in self.items)
        base, told = self.bases[level].channel(), self.level_weights(level)
        check_outputs((len(base.outputs) + len(rest)) * len(told), self.name, self.k)
        plain = Fraction(self._plain[level], _WORD)
        hidden = [(1 - plain) * mass for mass in self.bases[level].bulk.blind_weights(base)]
        total = math.lcm(base.total, plain.denominator, *(mass.denominator for mass in hidden))
        scale, held = total // base.total, base.supported or ()
        rows: list[tuple[str, list[int], frozenset[int]]] = []
        for label, mass, weights, items in zip(base.outputs, hidden, base.weights, held, strict=True):
            row = [int(mass * total)] * self.k
            for i, x in enumerate(own):
                row[x] = weights[i] * scale
            rows.append((label, row, frozenset(own[i] for i in items)))
        alone = len(rows) * len(told)
        for x in rest:
            rows.append(
                (f"discloses {x}", [int(plain * total) if y == x else 0 for y in range(self.k)], frozenset({x}))
            )
        every = [
            (f"{label}, {stratum}", tuple(w * weight for w in row), items)
            for label, row, items in rows
            for stratum, weight in zip(self.strata, told, strict=True)
        ]
        labels, weights_, supported = zip(*every, strict=True)
        disclosing = frozenset(range(alone, len(every)))
        return Channel(labels, weights_, total * sum(told), supported, frozenset(rest), disclosing)

    @property
    def channel_error(self) -> Fraction:
        """See `Mechanism.channel_error`."""
        return max(base.bulk.channel_error for base in self.bases)

    # ---- closed forms

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        own, harmless = self.bases[0].bulk.outputs, self.k - self.s
        more = math.log2(1 + harmless * 2.0**-own) if own < 1000 else 0.0
        return own + more + math.log2(len(self.strata))

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for `theta` harmless answers, items of a kind being equally frequent."""
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return self._numbers(self.law, n) | size | {"guarantee": self.guarantee}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_effective, n)

    def _numbers(self, law: UtilityLevelLaw, n: float) -> dict[str, Any]:
        s, h, theta = self.s, self.k - self.s, float(self.theta or 0.0)
        name, why = choose_utility(self.base, law, s, h, theta, n)
        f, rest = np.full(s, (1 - theta) / s), np.full(h, theta / h)
        own, other = law.variances("self" if name == "self" else "auem", self.base, f, rest, n, "reporters")
        p, q, _, z = law.blended().tolist()
        total = float(own.sum() + other.sum())
        return {
            "p": p,
            "q": q,
            "z": z,
            "theta": theta,
            "shares": list(self.shares or ()),
            "estimator": name,
            "estimator_reason": why,
            "mse": total / self.k,
            "mse_sum": total,
            "asr": self._success(law, np.full(self.k, 1 / self.k)),
        }

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: at the largest level, known to the attacker."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(self._success(self.law, pi), float(pi.max()))

    def _success(self, law: UtilityLevelLaw, pi: FloatArray) -> float:
        """Chance of the best guess at the largest level, with blind reports as the measure of hidden ones.

        An item that a report supports has the likelihood p/b, another sensitive one (1-p)/(1-b), a harmless one 1-z.
        """
        own, rest = (pi[items] for items in self.items)
        support, z, b = law.own.supports[-1], float(law.z[-1]), float(law.blind[-1])
        order = np.argsort(-own, kind="stable").astype(np.int64)
        first = self.bases[-1].best_ranked(order)
        floor = max(support.p_not / (1 - b) * float(own.max()), (1 - z) * float(rest.max()))
        hidden = float(np.sum(first * np.maximum(support.p / b * own[order], floor)))
        return z * float(rest.sum()) + hidden + max(0.0, 1 - float(first.sum())) * floor
