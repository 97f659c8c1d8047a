"""The optimum of ULDP: null-branch subset selection with two adjacent sizes (docs/maths/utility.md, section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior, first_of_subset
from deniable.core.laws import epsilon_to
from deniable.core.support import check_n
from deniable.core.types import Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, is_number, require, whole
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.base import report_size
from deniable.mechanisms.bulk import Cells, check_outputs
from deniable.mechanisms.frequency.mixture import check_sizes
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.utility.bound import best_mixture, best_single, least_mse_sum, single_mse
from deniable.mechanisms.utility.bulk import (
    DisclosingBulk,
    Protected,
    count_disclosed,
    disclosing_channel,
    ranked,
    spread,
)
from deniable.mechanisms.utility.minimax import MINIMAX, least_favourable
from deniable.mechanisms.utility.mixture_estimate import MixtureLaw, MixtureUtilityPart
from deniable.mechanisms.utility.sensitive import SensitiveMechanism, split_sensitive
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD, check_epsilon
from deniable_client.kernels import Subset, Whole, promised_ratio
from deniable_client.kernels import Utility as UtilityKernel
from deniable_client.kernels import UtilityMixture as MixtureKernel

__all__ = ["UtilityMixture", "make_mixture", "mixture_gain"]

_NONE = Fraction(0)
_LEAST = 1e-12
"""Of sums of variances below it, for one report, the bound would be lost in rounding; it is left out."""


class UtilityMixtureBulk(DisclosingBulk[MixtureKernel]):
    """Subsets of two sizes for many people; the kernel mixes two null-branch kernels of subset selection."""

    strata = ("smaller", "larger", "disclosed")

    @property
    def _parts(self) -> tuple[Any, Any]:
        """The two ULDP kernels that are mixed."""
        return self.kernel.first, self.kernel.second

    @property
    def _bases(self) -> tuple[Any, Any]:
        one, two = (part.base[0] for part in self._parts)
        return one, two

    @property
    def _chances(self) -> tuple[Fraction, Fraction]:
        coin = Fraction(self.kernel.coin, WORD)
        return 1 - coin, coin

    @property
    def _s(self) -> int:
        return self.items[0].size

    @property
    def _size(self) -> int:
        return int(self._bases[0].size)

    @property
    def disclosed_chance(self) -> Fraction:
        """Chance that a harmless item is disclosed, over both sizes."""
        return sum((chance * (1 - part.kept) for chance, part in zip(self._chances, self._parts, strict=True)), _NONE)

    @property
    def ranges(self) -> tuple[int, ...]:
        found: tuple[int, ...] = self._parts[0].sensitive
        return found

    @property
    def outputs(self) -> float:
        # Sets of both sizes together are as many as those of the larger one out of an item more.
        more = 1 if self.kernel.coin else 0
        sets, rest = log2_comb(self._s + more, self._size + more), self.k - self._s
        return float(np.logaddexp2(sets, math.log2(rest))) if rest else sets

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        marked, rank = ranked(*self.items)
        sensitive, n = marked[items], items.size
        more = bernoulli(rng, self.kernel.coin, n)
        told, kept = np.zeros(n, np.int64), np.zeros(n, np.bool_)
        for part, base, which in zip(self._parts, self._bases, (~more, more), strict=True):
            plain = which & ~sensitive & bernoulli(rng, part.plain, n)
            told[plain] = 1 + rank[items[plain]]
            keep = _keep(base)
            kept |= which & sensitive & (keep == WORD or bernoulli(rng, keep, n))
        size = self._size + more.astype(np.int64)
        item = np.where(sensitive, rank[items], 0)
        kept = np.where(sensitive, kept, below(rng, self._s, n) < size)
        bits = subset_bits(rng, self._s, size, item, kept)
        bits[told > 0] = 0
        return {"disclosed": told.astype(self.fields[0].dtype), "bits": bits}

    def check_hidden(self, cells: Cells) -> None:
        """See `DisclosingBulk.check_hidden`: the other strata have one size each."""
        super().check_hidden(cells)
        check_sizes(cells["support"], cells["n"], self._size, larger=self.kernel.coin > 0)

    def count(self, columns: Columns) -> Cells:
        harmless, s, size, told = self.k - self._s, self._s, self._size, self.heads(columns)
        stratum = np.where(told > 0, 2, loops().popcounts(columns["bits"]) - size)
        hidden = stratum[told == 0]
        if hidden.size and (hidden.min() < 0 or hidden.max() > (1 if self.kernel.coin else 0)):
            raise FormatError(f"a report is not a subset of {size} or {size + 1} out of {s} items.")
        support = np.zeros((3, 8 * columns["bits"].shape[1]), np.int64)
        for i in (0, 1):
            support[i] = loops().count_bits(np.ascontiguousarray(columns["bits"][stratum == i]), support.shape[1])
        if support[:, s:].any():
            raise FormatError(f"a report has ones after its {s} bits.")
        disclosed = np.zeros((3, harmless), np.int64)
        disclosed[2] = count_disclosed(told, harmless)
        n = np.bincount(stratum, minlength=3).astype(np.int64)
        return {"n": n, "support": support[:, :s].copy(), "disclosed": disclosed}

    def channel(self) -> Channel:
        own, rest = (part.tolist() for part in self.items)
        sizes = [mix for mix in zip(self._chances, self._parts, (self._size, self._size + 1), strict=True) if mix[0]]
        check_outputs(self.outputs, "this mixture of subset sizes")
        masses = [_masses(*mix) for mix in sizes]
        told = sum((chance * Fraction(part.plain, WORD) for chance, part, _ in sizes), Fraction(0))
        total = math.lcm(told.denominator, *(mass.denominator for three in masses for mass in three))
        protected: list[Protected] = []
        for (*_, size), three in zip(sizes, masses, strict=True):
            protected += _sets(size, tuple(int(mass * total) for mass in three), own, self.k)
        plain = [(f"discloses {x}", x, told, frozenset({x})) for x in rest]
        strata = tuple(len(held) - self._size for *_, held in protected) + (2,) * len(rest)
        return replace(disclosing_channel(protected, plain, rest, total), strata=strata)


def _keep(base: Any) -> int:
    """Chance to keep the own value, of 2**64; the set of all values always does."""
    return base.keep if isinstance(base, Subset) else WORD


def _masses(chance: Fraction, part: Any, size: int) -> tuple[Fraction, Fraction, Fraction]:
    """Probability of one set of this size given a member, another sensitive value, and a harmless one."""
    s, kept = part.s, Fraction(_keep(part.base[0]), WORD)
    inside = chance * kept / math.comb(s - 1, size - 1)
    outside = chance * (1 - kept) / max(1, math.comb(s - 1, size))
    return inside, outside, chance * part.kept / math.comb(s, size)


def _sets(size: int, weights: tuple[int, ...], own: Sequence[int], k: int) -> list[Protected]:
    """All sets of one size as outputs, by their weights given a member, another sensitive item and a harmless one."""
    inside, outside, hidden = weights
    found: list[Protected] = []
    for c in combinations(range(len(own)), size):
        row = spread([inside if i in c else outside for i in range(len(own))], hidden, own, k)
        found.append((f"report {set(c)}", row, frozenset(own[i] for i in c)))
    return found


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

    def __post_init__(self) -> None:
        super().__post_init__()
        require(2 <= self.s < self.k, "sensitive", self.s, f"from 2 to {self.k - 1} items", "Else use uss.")
        need = f"an integer from 1 to s-1 = {self.s - 1}"
        object.__setattr__(self, "size", whole("size", self.size, 1, self.s - 1, need))
        ok = is_number(self.share) and 0 <= self.share < 1
        require(ok, "share", self.share, "from 0 to below 1", "A share of 1 is the next size with share 0.")
        object.__setattr__(self, "share", float(self.share))

    @property
    def params(self) -> dict[str, Any]:
        return {"size": self.size, "share": self.share, "sensitive": list(self.sensitive), "theta": self.theta}

    @cached_property
    def bulk(self) -> UtilityMixtureBulk:
        bases = (
            Subset.calibrate(self.epsilon, self.s, size) if size < self.s else Whole(self.s)
            for size in (self.size, self.size + 1)
        )
        one, two = (UtilityKernel.null(self.epsilon, self.k, self.sensitive, (base,)) for base in bases)
        return UtilityMixtureBulk(MixtureKernel(one, two, min(round(Fraction(self.share) * WORD), WORD - 1)))

    @property
    def disclosed_chance(self) -> Fraction:
        return self.bulk.disclosed_chance

    # ---- estimator

    @cached_property
    def law(self) -> MixtureLaw:
        """The estimator's weights and the chances behind them."""
        share = self.share if self.refusal else self.bulk.kernel.coin / WORD
        return MixtureLaw.of(self.size, share, self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon))

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        told = tally.cells["disclosed"][2]
        value = self.law.estimate(tally.cells["n"], tally.cells["support"][:2], told)
        return {"frequency": MixtureUtilityPart(*self.items, self.law, *value, tally.n, told / tally.n)}

    def theta_of(self, tally: Tally) -> float:
        """Unbiased estimate of the share of people with a harmless item; it may lie outside [0, 1]."""
        check_reports(tally)
        return self.law.theta_hat(tally.cells["n"])

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates from n reports at frequencies `f`."""
        own, rest = self.items
        return MixtureUtilityPart(own, rest, self.law, f[own], f[rest], n).covariance(target)

    def mse_sum(self, n: float = 1, *, theta: float | None = None) -> float:
        """Variances summed over all items for a population with this share of harmless items; `theta` unless given.

        From about epsilon 36 on they are below what floats resolve, and told as 0.
        """
        return max(0.0, self.law.mse_sum(self.theta if theta is None else theta)) / check_n(n)

    # ---- closed forms

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`; errors for a population with `theta` harmless answers."""
        total = self.mse_sum(n)
        bound = least_mse_sum(self.s, self.k - self.s, self.theta, *epsilon_to(self.epsilon)) / n
        known = {"bound": bound / self.k, "gap": total / bound - 1} if bound * n > _LEAST else {}
        return self._numbers(total) | report_size(self) | known

    def effective(self, n: float = 1) -> dict[str, Any]:
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

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the size is drawn independently of the value and shows in the report, so its probability cancels; given "
            "the size a report has two likelihoods, and that of the branch is no smaller than the lower one"
        )
        own, rest = self.items
        witness = Witness("a set with this sensitive value", int(own[0]), int(rest[0]))
        return Proof(promised_ratio(self.kernel), "conditioning on the size", text, witness)


def mixture_gain(s: int, m: int, theta: float, epsilon: float) -> float:
    """How much lower the least error of two sizes is than that of the best single one, as a share of the former."""
    w, v = epsilon_to(epsilon)
    return single_mse(best_single(s, theta, w, v), s, theta, w, v) / best_mixture(s, m, theta, w, v).mse - 1


def make_mixture(
    *,
    epsilon: float,
    domain: Domain,
    sensitive: object,
    theta: float | str | None = None,
    size: int | None = None,
    share: float | None = None,
) -> UtilityMixture:
    """With the size and share of least error for `theta` unless they are given."""
    epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
    if theta == MINIMAX:
        given: dict[str, Any] = {"epsilon": epsilon, "domain": domain, "size": size, "share": share}
        return least_favourable(lambda at: make_mixture(sensitive=sensitive, theta=at, **given))
    ranges, s, expected = split_sensitive(sensitive, domain, theta)
    require(2 <= s < domain.k, "sensitive", s, f"from 2 to {domain.k - 1} items", "Else use uss.")
    best = best_mixture(s, domain.k - s, expected, *epsilon_to(epsilon))
    more = (0.0 if size is not None else 1 - best.weight) if share is None else share
    made = best.size if size is None else size
    if share is None and more >= 1:  # all of the next size
        made, more = made + 1, 0.0
    return UtilityMixture(epsilon=epsilon, domain=domain, sensitive=ranges, theta=expected, size=made, share=more)
