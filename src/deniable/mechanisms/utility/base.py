"""Utility-optimised local privacy (ULDP): any mechanism on the sensitive items, harmless items mostly disclosed.

One transform for all bases [ULDP Algorithm 1], by default in a form that is valid for every hash function and more
accurate: null branch, disclosed values alone (docs/maths/utility.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import epsilon_to
from deniable.core.support import Support
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, ParameterError, require
from deniable.estimate.evidence import Evidence
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels.sampling import below
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.bulk import check_outputs, refuse_values
from deniable.mechanisms.frequency.histogram import SHE
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.noise import check_reach, variance_of
from deniable.mechanisms.frequency.wheel import Wheel
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility.bases import BASES, FORMS, base_from, ideal_law, least_of
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.estimate import NoiseUtilityPart, UtilityPart, noise_square
from deniable.mechanisms.utility.evidence import evidence_of, likelihood_of
from deniable.mechanisms.utility.guess import guess_under
from deniable.mechanisms.utility.laws import (
    UtilityLaw,
    branch_law,
    leaking_odds,
    mapped_disclosure,
    mapped_law,
    null_law,
    separate_law,
)
from deniable.mechanisms.utility.sensitive import SensitiveMechanism
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.kernels.utility import base_half
from deniable_client.packing import uint_width

__all__ = ["Utility"]

_WORD = 1 << WORD_BITS
_ALONE: Support[Fraction] = Support(*(Fraction(x) for x in (1, 0, 1, 0, 1, 0, 0)))
"""One sensitive item: a report that discloses nothing supports it."""
_SUMS: Support[float] = Support(1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0)
"""Noisy vectors: the mean of the own coordinate is 1, of the others 0."""


@dataclass(frozen=True, kw_only=True)
class Utility(SensitiveMechanism):
    """Sensitive items are reported by `base`; a harmless one is disclosed if a coin says so, else hidden among them.

    `sensitive` has the ends of half-open ranges of item numbers; `base` is None if there are fewer than two such items.
    `theta` is the share of people with a harmless item that parameters and closed-form errors are for; privacy and
    unbiasedness do not depend on it. Forms: see `FORMS`. A report that discloses nothing keeps epsilon for *all* pairs
    of items; one that discloses does so for a harmless item of its sender and nothing else.
    """

    base: Mechanism | None
    form: str = "null"
    family: ClassVar[str] = "utility"
    vetted: ClassVar[bool] = True
    strata: ClassVar[tuple[str, ...]] = ("protected", "disclosed")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.form in FORMS, "form", self.form, f"one of {', '.join(FORMS)}")
        if self.base is not None:
            made = base_from(self.base, self.epsilon, self.s) if isinstance(self.base, Mapping) else self.base
            object.__setattr__(self, "base", replace(made, epsilon=self.epsilon))
            self._check_base(made)
        if self.form == "paper":
            object.__setattr__(self, "vetted", False)
        require((self.base is None) == (self.s < 2), "base", self.base, "given if there are two sensitive items")

    def _check_base(self, base: Mechanism) -> None:
        known = isinstance(base, SupportMechanism | SHE) and type(base) is BASES.get(base.name)
        require(known, "base", base.name, f"one of {', '.join(BASES)}")
        require(base.k == self.s, "base", f"a mechanism for {base.k} items", f"one for the {self.s} sensitive items")
        if self.form != "null" and least_of(base) is None:
            raise ParameterError(
                f"form must be null for base {base.name}, got {self.form!r}.",
                "What its outputs have in common is known for the null branch only.",
            )

    # ---- layout

    @cached_property
    def _ranks(self) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], IntArray]:
        """For each item whether it is sensitive, and its rank among its kind."""
        own, rest = self.items
        marked, rank = np.zeros(self.k, np.bool_), np.empty(self.k, np.int64)
        marked[own] = True
        rank[own], rank[rest] = np.arange(own.size), np.arange(rest.size)
        return marked, rank

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        base = None if self.base is None else {"mechanism": self.base.name, "params": self.base.params}
        return {"base": base, "sensitive": list(self.sensitive), "theta": self.theta, "form": self.form}

    # ---- client

    @cached_property
    def kernel(self) -> UtilityKernel:
        """See `Mechanism.kernel`."""
        check_epsilon(self.epsilon, sampling=True)
        base = () if self.base is None else (self.base.kernel,)
        where = (self.epsilon, self.k, self.sensitive, base)
        if self.form == "null" or self.base is None:
            return UtilityKernel.null(*where)
        if self.name == "urap":
            return UtilityKernel.separate(*where)
        made = UtilityKernel.mapped(*where, self._share)
        if self.form == "paper" and isinstance(self.base, LocalHashing | Wheel):
            ratio, p = self.base.kernel.ratio, self.base.bulk.support.p
            attach = round(p * (1 - 1 / ratio) * _WORD)
            return replace(made, plain=int((1 - self._share) * _WORD), attach=attach)
        return made

    @property
    def _share(self) -> Fraction:
        """f: the share of harmless items that are turned into sensitive ones [ULDP Eq. 9 and 10]."""
        assert self.base is not None
        if isinstance(self.base, SupportMechanism):
            law = self.base.bulk.support
            return self.s * law.q / (law.p + (self.s - 1) * law.q)
        return self.s / (self.base.kernel.ratio + self.s - 1)

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`: 0 or what is disclosed, then the base's report (zeros if there is none)."""
        values = 1 + (self.k - self.s) * (2 if self.kernel.attach else 1)
        own = () if self.base is None else self.base.fields
        return (Field("disclosed", "uint", uint_width(values)), *own)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        marked, ranks = self._ranks
        sensitive, rank = marked[items], ranks[items]
        told = np.zeros(items.size, np.int64)
        alone = ~sensitive & bernoulli(rng, self.kernel.plain, items.size)
        told[alone] = 1 + rank[alone]
        hidden = np.flatnonzero(~sensitive & ~alone)
        columns = {f.name: np.zeros(f.shape(items.size), f.dtype) for f in self.fields}
        if self.kernel.attach:
            beside = hidden[bernoulli(rng, self.kernel.attach, hidden.size)]
            told[beside] = 1 + self.k - self.s + rank[beside]
        columns["disclosed"] = told.astype(self.fields[0].dtype)
        if self.base is not None:
            own = np.flatnonzero(sensitive)
            for rows, reports in (
                (own, self.base.bulk.perturb(rank[own], rng)),
                (hidden, self._branch(self.base, hidden.size, rng)),
            ):
                for name, column in reports.items():
                    columns[name][rows] = column
        return columns

    def _branch(self, base: Mechanism, n: int, rng: Stream) -> Columns:
        return base.bulk.blind(n, rng) if self.kernel.blind else base.bulk.perturb(below(rng, self.s, n), rng)

    # ---- counter

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: the base's cells by stratum, and how often each harmless item was disclosed."""
        harmless = self.k - self.s
        told = columns["disclosed"].astype(np.int64)
        refuse_values(columns["disclosed"], 1 + harmless * (2 if self.kernel.attach else 1), "disclosed")
        alone, beside = (told > 0) & (told <= harmless), told > harmless
        cells = {"n": np.array([np.count_nonzero(told == 0), np.count_nonzero(told)], np.int64)}
        if harmless:
            counts = np.bincount((told[told > 0] - 1) % harmless, minlength=harmless)
            cells["disclosed"] = np.stack([np.zeros_like(counts), counts]).astype(np.int64)
        if self.base is not None:
            self._refuse_beside(columns, alone)
            parts = [self.base.bulk.count(_take(columns, rows, self.base)) for rows in (told == 0, beside)]
            for name in parts[0]:
                if name != "n":
                    cells[name] = np.concatenate([part[name] for part in parts])
        return cells

    def _refuse_beside(self, columns: Columns, alone: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        for name, column in columns.items():
            if name != "disclosed" and column[alone].any():
                raise FormatError(f"a report that discloses an item alone has field {name!r} not zero.")

    # ---- laws

    @cached_property
    def law(self) -> UtilityLaw[float]:
        """The ideal law of a report; for noisy vectors with p = 1, q = 0."""
        w, v = epsilon_to(self.epsilon)
        if self.base is None:
            law = branch_law(_ALONE.map(float), 1.0, 0.0, v if self.s else 1.0, 0.0)
            return replace(law, r=w if self.s else 0.0, credit=-w / v if self.s else 0.0)
        least = least_of(self.base) or 1
        if not isinstance(self.base, SupportMechanism):
            return self._sums(w, v)
        support, odds = self.base.support, leaking_odds(self.base.leak, self.epsilon)
        if self.form == "null":
            return null_law(support, w, v, odds)
        if self.name == "urap":
            return separate_law(support, support.p * v)
        if self.form == "paper" and isinstance(self.base, LocalHashing | Wheel):
            return ideal_law(support, self.s, least, "paper", w, v)
        return mapped_law(support, self.s, mapped_disclosure(least, self.s, w, v, odds))

    def _sums(self, w: float, v: float) -> UtilityLaw[float]:
        """Noisy vectors: two coordinates share epsilon, so a blind report is within e^(epsilon/2) of any other."""
        if self.form == "null":
            z = -math.expm1(-self.epsilon / 2)
            return UtilityLaw(_SUMS, z, 0.0, 0.0, 0.0, 0.0)
        z = v / (1 + (self.s - 1) * w)
        return UtilityLaw(_SUMS, z, (1 - z) / self.s, 0.0, 0.0, -(1 - z) / (self.s * z))

    @cached_property
    def law_exact(self) -> UtilityLaw[Fraction]:
        """The law of the integers that are sampled; for noisy vectors with p = 1, q = 0."""
        kernel = self.kernel
        plain, attach = Fraction(kernel.plain, _WORD), Fraction(kernel.attach, _WORD)
        if self.base is None:
            return branch_law(_ALONE, Fraction(1), Fraction(0), plain, attach)
        s = self.s
        if not isinstance(self.base, SupportMechanism):
            # a report beside a disclosed value is left out: it is noise
            one = Fraction(0) if kernel.blind else Fraction(1, s)
            return replace(branch_law(_ALONE, one, Fraction(0), 1 - kernel.kept, Fraction(0)), both=Fraction(0))
        law = self.base.bulk.support
        if kernel.blind:
            one = base_half(self.base.kernel).share
            return branch_law(law, one, law.both_one * one / law.p, plain, attach)
        one = (law.p + (s - 1) * law.q) / s
        return branch_law(law, one, (2 * law.both_one + max(0, s - 2) * law.both_none) / s, plain, attach)

    @cached_property
    def law_effective(self) -> UtilityLaw[float]:
        """`law_exact` as floats: what the estimator uses."""
        return self.law_exact.map(float)

    def mse_sum(self, n: float = 1, *, theta: float | None = None) -> float:
        """Variances summed over all items for a population with this share of harmless items; `theta` unless given."""
        return self._error(self.law, self.theta if theta is None else theta, self._noise(ideal=True)) / n

    def _noise(self, *, ideal: bool) -> float:
        """Variance of a coordinate of a noisy vector; 0 for other bases."""
        if not isinstance(self.base, SHE):
            return 0.0
        return 8 / self.epsilon**2 if ideal else variance_of(self.base.bulk.kernel)

    def _error(self, law: UtilityLaw[float], theta: float, noise: float) -> float:
        if self.s == 0:
            return 0.0
        if not isinstance(self.base, SHE):
            return float(law.mse_sum(self.s, theta))
        own = self.s * ((1 - theta) * noise + theta * noise_square(law, noise))
        return float(own + law.variance_harmless(theta))

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`."""
        check_reports(tally)
        own, rest = self.items
        disclosed = tally.cells["disclosed"][1] / tally.n if rest.size else np.zeros(0)
        part = (own, rest, self.law_effective, self._supported(tally) / tally.n, disclosed, tally.n)
        if isinstance(self.base, SHE):
            check_reach(self.base.bulk.kernel)
            return {"frequency": NoiseUtilityPart(*part, noise=variance_of(self.base.bulk.kernel))}
        return {"frequency": UtilityPart(*part, self._extra if self._uneven else None)}

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates from n reports at frequencies `f`, for the integers that are sampled."""
        own, rest = self.items
        law, theta = self.law_effective, float(f[rest].sum())
        supported = law.base.q + law.base.gap * f[own] - law.credit * theta * law.z
        return self._part(supported, f[rest] * law.z, n).covariance(target)

    def _part(self, supported: FloatArray, disclosed: FloatArray, n: float) -> UtilityPart:
        part = (*self.items, self.law_effective, supported, disclosed, n)
        if isinstance(self.base, SHE):
            return NoiseUtilityPart(*part, noise=variance_of(self.base.bulk.kernel))
        return UtilityPart(*part, self._extra if self._uneven else None)

    def _supported(self, tally: Tally) -> FloatArray:
        """How many reports count as support of each sensitive item, or the sums of their coordinates."""
        if self.s < 2:
            return np.full(self.s, float(tally.cells["n"][0]))
        assert self.base is not None
        if isinstance(self.base, SHE):
            return np.asarray(tally.cells["sum"][0] / (1 << self.base.bulk.kernel.grid))
        names = [name for name in tally.cells if name not in ("n", "disclosed")]
        cells = {name: tally.cells[name][:1] for name in names} | {"n": tally.cells["n"][:1]}
        assert isinstance(self.base, SupportMechanism)
        counts = self.base.bulk.support_counts(cells)
        return np.asarray(counts + tally.cells["support"][1] if self.kernel.attach else counts, np.float64)

    @property
    def _uneven(self) -> bool:
        return isinstance(self.base, SupportMechanism) and self.base.bulk.uneven

    def _extra(self, f: FloatArray) -> FloatArray:
        assert isinstance(self.base, SupportMechanism)
        return self.base.bulk.extra_pairs(f, self.base.support)

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """See `Mechanism.evidence`."""
        return evidence_of(self, batches)

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        return likelihood_of(self, columns)

    def theta_of(self, tally: Tally) -> float:
        """Unbiased estimate of the share of people with a harmless item; it may lie outside [0, 1]."""
        check_reports(tally)
        return float(tally.cells["n"][1] / tally.n / self.law_effective.z)

    # ---- closed forms

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        harmless = self.k - self.s
        own = 0.0 if self.base is None else self.base.bulk.outputs
        pairs = harmless if self.form != "null" and not self.refusal and self.kernel.attach else 0
        protected = math.log2(1 + pairs) + own if self.s else -math.inf
        if protected > 1000 or not harmless:
            return protected
        return math.log2((2**protected if self.s else 0) + harmless)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for a population with `theta` harmless answers."""
        total = self.mse_sum(n)
        bound = least_mse_sum(self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon)) / n
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        gap = total / bound - 1 if bound else 0.0
        return self._numbers(self.law, total) | size | {"bound": bound / self.k, "gap": gap}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        law = self.law_effective
        total = self._error(law, self.theta, self._noise(ideal=False)) / n
        return {"epsilon": self.epsilon_exact} | self._numbers(law, total)

    def _numbers(self, law: UtilityLaw[float], total: float) -> dict[str, float]:
        p_and_q = {"p": float(law.base.p), "q": float(law.base.q)} if isinstance(self.base, SupportMechanism) else {}
        asr = self._asr(law)
        return p_and_q | {"z": float(law.z), "mse": total / self.k, "mse_sum": total, "asr": asr}

    def _asr(self, law: UtilityLaw[float]) -> float:
        """All items being equally likely: what is disclosed, and the base's guess; the branch is never the likelier."""
        told = (self.k - self.s) * law.z
        hidden = 0.0 if not self.s else 1.0 if self.base is None else self.s * self.base.guess().success
        return float(told + hidden) / self.k

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`; under a prior for bases that support items."""
        if prior is None:
            return Guess(self._asr(self.law), 1 / self.k)
        return guess_under(self, check_prior(prior, self.k))

    # ---- channel

    def channel(self) -> Channel:
        """See `Mechanism.channel`: the base's outputs, harmless items alone, and pairs of both."""
        own, rest = (part.tolist() for part in self.items)
        base = self.base.channel() if self.base is not None else _alone(self.s)
        pairs = len(rest) if self.kernel.attach else 0
        check_outputs(len(base.outputs) * (1 + pairs) + len(rest), self.name, self.k)
        branch, kept = self._branch_law(base), self.kernel.kept
        plain, attach = Fraction(self.kernel.plain, _WORD), Fraction(self.kernel.attach, _WORD)
        told = [plain, *((1 - plain) * attach * mass for mass in branch)]
        total = math.lcm(base.total, *(mass.denominator for mass in (*told, *(kept * mass for mass in branch))))
        scale, held = total // base.total, base.supported or (frozenset[int](),) * len(base.outputs)
        rows: list[tuple[str, list[int], frozenset[int]]] = []
        for o, label in enumerate(base.outputs):
            row = [int(kept * branch[o] * total)] * self.k
            for i, x in enumerate(own):
                row[x] = base.weights[o][i] * scale
            rows.append((label, row, frozenset(own[i] for i in held[o])))
        hidden = len(rows)
        alone = [(f"discloses {x}", x, plain, frozenset({x})) for x in rest]
        beside = [
            (f"{rows[o][0]} with {x}", x, told[1 + o], rows[o][2] | {x})
            for o in range(hidden if pairs else 0)
            for x in rest
        ]
        for label, x, mass, items in (*alone, *beside):
            rows.append((label, [int(mass * total) if y == x else 0 for y in range(self.k)], items))
        labels, weights, supported = zip(*rows, strict=True)
        disclosing = frozenset(range(hidden, len(rows)))
        return Channel(labels, tuple(map(tuple, weights)), total, supported, frozenset(rest), disclosing)

    def _branch_law(self, base: Channel) -> list[Fraction]:
        """Probability of each of the base's outputs in the branch."""
        if self.base is None:
            return [Fraction(1)] * len(base.outputs)
        if self.kernel.blind:
            return self.base.bulk.blind_weights(base)
        return [Fraction(sum(row), base.total * self.s) for row in base.weights]

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        own, rest = self.items
        text = (
            "a report that discloses has one possible sender's item, a harmless one. Any other report: sensitive items "
            "against each other have the base's ratio; a sensitive item against a harmless one at most (largest "
            "likelihood over that in the branch)/(chance of the branch), for every output and every public seed; the "
            "other way round at most the base's ratio; two harmless items have the same likelihood"
        )
        likely = int(own[0]) if own.size else 0
        unlikely = int(rest[0]) if rest.size else int(own[-1])
        return Proof(self.kernel.ratio, "decomposition", text, Witness(self._worst(), likely, unlikely))

    def _worst(self) -> str:
        if not self.s:
            return "no report"
        if self.base is None:
            return "the report that discloses nothing"
        if not self.kernel.blind and isinstance(self.base, LocalHashing | Wheel):
            return "a seed under which this sensitive value alone is favoured by the report, with such a report"
        return "a report of the base that favours this sensitive value"


def _take(columns: Columns, rows: Any, base: Mechanism) -> Columns:
    return {f.name: columns[f.name][rows] for f in base.fields}


def _alone(s: int) -> Channel:
    """The base's channel for at most one sensitive item: one output that says nothing."""
    return Channel(("discloses nothing",), ((1,),), 1, (frozenset({0}) if s else frozenset(),))
