"""The optimum of ULDP: null-branch subset selection with two adjacent sizes (docs/maths/utility.md, section 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior, first_of_subset
from deniable.core.laws import epsilon_to
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.bulk import check_outputs, refuse_values
from deniable.mechanisms.utility.bound import best_mixture, best_single, least_mse_sum, single_mse
from deniable.mechanisms.utility.mixture_estimate import MixtureLaw, MixtureUtilityPart
from deniable.mechanisms.utility.sensitive import SensitiveMechanism, check_theta, sensitive_ranges
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Mixture, Subset, Whole
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.packing import bits_width, uint_width

__all__ = ["UtilityMixture", "make_mixture", "mixture_gain"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True, kw_only=True)
class UtilityMixture(SensitiveMechanism):
    """Null-branch subset selection on the sensitive items, its size being `size`, or with chance `share` one more.

    The size is drawn without looking at the value and shows in reports that disclose nothing, and only there. With the
    best size and share it has the least error of all ULDP mechanisms; over one size it gains a few per cent where few
    items are sensitive and most answers harmless. `theta` is also in the estimator's weights: unbiased whatever it is,
    of least variance if it is right.
    """

    size: int
    share: float
    family: ClassVar[str] = "ussmix"
    vetted: ClassVar[bool] = True
    strata: ClassVar[tuple[str, ...]] = ("smaller", "larger", "disclosed")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(2 <= self.s < self.k, "sensitive", self.s, f"from 2 to {self.k - 1} items", "Else use uss.")
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        require(whole and 1 <= self.size < self.s, "size", self.size, f"an integer from 1 to s-1 = {self.s - 1}")
        ok = isinstance(self.share, int | float) and not isinstance(self.share, bool) and 0 <= self.share < 1
        require(ok, "share", self.share, "from 0 to below 1", "A share of 1 is the next size with share 0.")
        object.__setattr__(self, "size", int(self.size))
        object.__setattr__(self, "share", float(self.share))

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"size": self.size, "share": self.share, "sensitive": list(self.sensitive), "theta": self.theta}

    # ---- client

    @cached_property
    def _kernels(self) -> tuple[UtilityKernel, UtilityKernel]:
        bases = (
            Subset.calibrate(self.epsilon, self.s, size) if size < self.s else Whole(self.s)
            for size in (self.size, self.size + 1)
        )
        one, two = (UtilityKernel.null(self.epsilon, self.k, self.sensitive, (base,)) for base in bases)
        return one, two

    @cached_property
    def kernel(self) -> Mixture:
        """See `Mechanism.kernel`."""
        return Mixture(*self._kernels, min(round(Fraction(self.share) * _WORD), _WORD - 1))

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        told = Field("disclosed", "uint", uint_width(1 + self.k - self.s))
        return told, Field("bits", "bytes", bits_width(self.s))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        own, rest = self.items
        rank = np.empty(self.k, np.int64)
        rank[own], rank[rest] = np.arange(own.size), np.arange(rest.size)
        sensitive = np.isin(items, own)
        n, more = items.size, bernoulli(rng, self.kernel.coin, items.size)
        told, kept = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        for kernel, which in zip(self._kernels, (~more, more), strict=True):
            plain = which & ~sensitive & bernoulli(rng, kernel.plain, n)
            told[plain] = 1 + rank[items[plain]]
            base = kernel.base[0]
            kept |= which & sensitive & (bernoulli(rng, base.keep, n) if isinstance(base, Subset) else True)
        size = self.size + more.astype(np.int64)
        item = np.where(sensitive, rank[items], 0)
        kept = np.where(sensitive, kept, below(rng, self.s, n) < size)
        bits = subset_bits(rng, self.s, size, item, kept)
        bits[told > 0] = 0
        return {"disclosed": told.astype(self.fields[0].dtype), "bits": bits}

    # ---- counter

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`."""
        harmless, told = self.k - self.s, columns["disclosed"].astype(np.int64)
        refuse_values(columns["disclosed"], 1 + harmless, "disclosed")
        sizes = loops().popcounts(columns["bits"]) - self.size
        if sizes[told > 0].size and (sizes[told > 0] != -self.size).any():
            raise FormatError("a report that discloses an item alone has field 'bits' not zero.")
        limit = 1 if self.kernel.coin else 0
        hidden = sizes[told == 0]
        if hidden.size and (hidden.min() < 0 or hidden.max() > limit):
            raise FormatError(f"a report is no subset of {self.size} or {self.size + 1} out of {self.s} items.")
        stratum = np.where(told > 0, 2, sizes)
        support = np.zeros((3, 8 * columns["bits"].shape[1]), np.int64)
        for i in (0, 1):
            rows = np.ascontiguousarray(columns["bits"][stratum == i])
            support[i] = loops().count_bits(rows, support.shape[1])
        if support[:, self.s :].any():
            raise FormatError(f"a report has ones after its {self.s} bits.")
        disclosed = np.zeros((3, harmless), np.int64)
        disclosed[2] = np.bincount(told[told > 0] - 1, minlength=harmless)
        n = np.bincount(stratum, minlength=3).astype(np.int64)
        return {"n": n, "support": support[:, : self.s].copy(), "disclosed": disclosed}

    # ---- estimator

    @cached_property
    def law(self) -> MixtureLaw:
        """The estimator's weights and the chances behind them."""
        share = self.share if self.refusal else self.kernel.coin / _WORD
        return MixtureLaw.of(self.size, share, self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`."""
        check_reports(tally)
        value = self.law.estimate(tally.cells["n"], tally.cells["support"][:2], tally.cells["disclosed"][2])
        return {"frequency": MixtureUtilityPart(*self.items, self.law, *value, tally.n)}

    def theta_of(self, tally: Tally) -> float:
        """Unbiased estimate of the share of people with a harmless item; it may lie outside [0, 1]."""
        check_reports(tally)
        return self.law.theta_hat(tally.cells["n"])

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates from n reports at frequencies `f`."""
        own, rest = self.items
        return MixtureUtilityPart(own, rest, self.law, f[own], f[rest], n).covariance(target)

    def mse_sum(self, n: float = 1, *, theta: float | None = None) -> float:
        """Variances summed over all items for a population with this share of harmless items; `theta` unless given."""
        return self.law.mse_sum(self.theta if theta is None else theta) / n

    # ---- closed forms

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        larger = math.comb(self.s, self.size + 1) if self.share else 0
        return math.log2(math.comb(self.s, self.size) + larger + self.k - self.s)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for a population with `theta` harmless answers."""
        total = self.mse_sum(n)
        bound = least_mse_sum(self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon)) / n
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return self._numbers(total) | size | {"bound": bound / self.k, "gap": total / bound - 1}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.mse_sum(n))

    def _numbers(self, total: float) -> dict[str, float]:
        return {"z": self.law.z, "mse": total / self.k, "mse_sum": total, "asr": self.guess().success}

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: a set of size K has the likelihood alpha e given its items, alpha given all others."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        own, rest = (pi[part] for part in self.items)
        w, floor = math.exp(-self.epsilon), max(float(own.max()), float(rest.max()))
        ranked = np.sort(own)[::-1]
        success = float(rest.sum() * self.law.z)
        for size, chance in zip((self.size, self.size + 1), self.law.hidden, strict=True):
            first = first_of_subset(self.s, size)
            success += chance * float(np.sum(first * np.maximum(ranked / w, floor)))
        return Guess(success, float(pi.max()))

    # ---- channel

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        own, rest = (part.tolist() for part in self.items)
        sets = [
            c
            for size in (self.size, self.size + 1)[: 2 if self.kernel.coin else 1]
            for c in combinations(range(self.s), size)
        ]
        check_outputs(len(sets) + len(rest), self.name)
        coin = Fraction(self.kernel.coin, _WORD)
        rows: list[tuple[str, dict[int, Fraction], frozenset[int]]] = []
        told = Fraction(0)
        for kernel, size, chance in zip(self._kernels, (self.size, self.size + 1), (1 - coin, coin), strict=True):
            base, all_sets = kernel.base[0], math.comb(self.s, size)
            keep = Fraction(base.keep, _WORD) if isinstance(base, Subset) else Fraction(1)
            inside = chance * keep / math.comb(self.s - 1, size - 1)
            outside = chance * (1 - keep) / max(1, math.comb(self.s - 1, size))
            told += chance * Fraction(kernel.plain, _WORD)
            for c in (c for c in sets if len(c) == size):
                mass = {x: inside if i in c else outside for i, x in enumerate(own)}
                mass |= dict.fromkeys(rest, chance * kernel.kept / all_sets)
                rows.append((f"report {set(c)}", mass, frozenset(own[i] for i in c)))
        hidden = len(rows)
        rows += [(f"discloses {x}", {x: told}, frozenset({x})) for x in rest]
        total = math.lcm(*(value.denominator for _, mass, _ in rows for value in mass.values()))
        weights = tuple(tuple(int(mass.get(x, Fraction(0)) * total) for x in range(self.k)) for _, mass, _ in rows)
        labels, supported = tuple(row[0] for row in rows), tuple(row[2] for row in rows)
        return Channel(labels, weights, total, supported, frozenset(rest), frozenset(range(hidden, len(rows))))

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "the size is drawn independently of the value and shows in the report, so its probability cancels; given "
            "the size a report has two likelihoods, and that of the branch is no smaller than the lower one"
        )
        own, rest = self.items
        witness = Witness("a set with this sensitive value", int(own[0]), int(rest[0]))
        return Proof(self.kernel.ratio, "conditioning on the size", text, witness)


def mixture_gain(s: int, m: int, theta: float, epsilon: float) -> float:
    """How much lower the least error of two sizes is than that of the best single one, as a share of the former."""
    w, v = epsilon_to(epsilon)
    return single_mse(best_single(s, theta, w, v), s, theta, w, v) / best_mixture(s, m, theta, w, v).mse - 1


def make_mixture(
    *,
    epsilon: float,
    domain: Domain,
    sensitive: object,
    theta: float | None = None,
    size: int | None = None,
    share: float | None = None,
) -> UtilityMixture:
    """With the size and share of least error for `theta` unless they are given."""
    epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
    ranges = sensitive_ranges(sensitive, domain)
    s = sum(ranges[1::2]) - sum(ranges[::2])
    expected = check_theta(theta, s, domain.k)
    require(2 <= s < domain.k, "sensitive", s, f"from 2 to {domain.k - 1} items", "Else use uss.")
    best = best_mixture(s, domain.k - s, expected, *epsilon_to(epsilon))
    more = (0.0 if size is not None else 1 - best.weight) if share is None else share
    return UtilityMixture(
        epsilon=epsilon,
        domain=domain,
        sensitive=ranges,
        theta=expected,
        size=best.size if size is None else size,
        share=more,
    )
