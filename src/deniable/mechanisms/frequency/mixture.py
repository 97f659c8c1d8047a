"""Mixtures of two neighbouring subset sizes: the exact frontier between error and best guess [AdaptiveLDP Sec. V]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.frontier import distance, mixture_mse, mixture_success
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import epsilon_to, ratio_to, subset
from deniable.core.support import Support, check_n, mean_product
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, is_number, require
from deniable.estimate.linear import check_reports
from deniable.estimate.moments import MomentsPart
from deniable.estimate.result import Part
from deniable.kernels import loops
from deniable.kernels.sampling import subset_bits
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Cells, Packed, check_outputs
from deniable.mechanisms.frequency.subset import SubsetBulk, SubsetSelection, check_size, log2_comb
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD
from deniable_client.kernels import Kernel, Mixture, Subset, Whole, promised_ratio

__all__ = ["SubsetMixture", "check_sizes"]


@dataclass(frozen=True, slots=True)
class _Stratum:
    """Reports of one size: how likely they are, and how likely for a value inside relative to one outside."""

    size: int
    chance: Fraction
    support: Support[Fraction]
    w: Fraction
    """Likelihood of a value outside the set, relative to one inside."""

    def profile(self, k: int) -> tuple[Fraction, Fraction]:
        """L of a value inside and outside of a set of this size: likelihoods relative to their mean over the values."""
        scale = self.size + (k - self.size) * self.w
        return k / scale, k * self.w / scale

    def information(self, k: int) -> Fraction:
        """(k/(k-1)) times the variance of L over the values."""
        inside, outside = self.profile(k)
        return self.size * (k - self.size) * (inside - outside) ** 2 / (k * (k - 1))


class _MixtureReader(Reader["MixtureBulk"]):
    def likelihood(self, columns: Columns) -> FloatArray:
        rows = self.bulk.supported(columns)
        member = np.unpackbits(rows, axis=1, count=self.bulk.k, bitorder="little")
        smaller, larger = self.bulk.sizes
        low = np.array([float(smaller.w), float(larger.w)])
        outside = low[loops().popcounts(rows) - smaller.size]
        return np.where(member == 1, 1.0, outside[:, None])


class MixtureBulk(Packed[Mixture]):
    """Subset selection of two sizes for many people: the set as k bits; its size is the stratum."""

    reads = _MixtureReader
    strata = ("smaller", "larger")

    @cached_property
    def parts(self) -> tuple[SubsetBulk, SubsetBulk | None]:
        """The two sizes; None is the set of everything, which says nothing."""
        one, two = (SubsetBulk(part) if isinstance(part, Subset) else None for part in self._kernels)
        assert one is not None
        return one, two

    @property
    def _kernels(self) -> tuple[Kernel, Kernel]:
        return self.kernel.first, self.kernel.second

    @cached_property
    def outputs(self) -> float:
        one, two = self.parts
        larger = two.outputs if two is not None else 0.0
        return one.outputs + math.log2(1 + 2.0 ** (larger - one.outputs)) if self.kernel.coin else one.outputs

    @property
    def _size(self) -> int:
        return self.parts[0].kernel.size

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        more = bernoulli(rng, self.kernel.coin, items.size)
        one, two = self.parts
        kept = bernoulli(rng, one.kernel.keep, items.size)
        where = np.flatnonzero(more)
        kept[where] = True if two is None else bernoulli(rng, two.kernel.keep, where.size)
        return {"bits": subset_bits(rng, self.k, self._size + more.astype(np.int64), items, kept)}

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k, total=(self._size, self._size + 1))}

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: each stratum has one size; nobody reports the larger one if the coin never says so."""
        check_sizes(cells["support"], cells["n"], self._size, larger=self.kernel.coin > 0)

    def count(self, columns: Columns) -> Cells:
        rows, size = columns["bits"], self._size
        sizes = loops().popcounts(rows) - size
        limit = 1 if self.kernel.coin else 0
        if sizes.size and (sizes.min() < 0 or sizes.max() > limit):
            raise FormatError(f"a report is not a subset of {size} or {size + 1} out of {self.k} items.")
        counts = np.stack(
            [loops().count_bits(np.ascontiguousarray(rows[sizes == s]), 8 * rows.shape[1]) for s in (0, 1)]
        )
        if counts[:, self.k :].any():
            raise FormatError(f"a report has ones after its {self.k} bits.")
        return {"n": np.bincount(sizes, minlength=2).astype(np.int64), "support": counts[:, : self.k].copy()}

    def channel(self) -> Channel:
        one, two = self.parts
        size, coin = self._size, self.kernel.coin
        check_outputs(log2_comb(self.k + 1, size + 1), "this mixture of subset sizes", self.k)
        first = one.channel()
        if not coin:
            return first
        whole = Channel(("report everything",), ((1,) * self.k,), 1, (frozenset(range(self.k)),))
        second = two.channel() if two is not None else whole
        weights = [[w * second.total * (WORD - coin) for w in row] for row in first.weights]
        weights += [[w * first.total * coin for w in row] for row in second.weights]
        supported = (first.supported or ()) + (second.supported or ())
        total = first.total * second.total * WORD
        strata = (0,) * len(first.outputs) + (1,) * len(second.outputs)
        names = first.outputs + second.outputs
        return Channel(names, tuple(map(tuple, weights)), total, supported, strata=strata)

    @cached_property
    def sizes(self) -> tuple[_Stratum, _Stratum]:
        """Both sizes as they are sampled, in fractions; with all items in, every value is as likely."""
        share, size = Fraction(self.kernel.coin, WORD), self._size
        one, two = (ratio_to(part.ratio) for part in self._kernels)
        return (
            _Stratum(size, 1 - share, subset(*one, self.k, size), one[0]),
            _Stratum(size + 1, share, subset(*two, self.k, size + 1), two[0]),
        )


@dataclass(frozen=True, kw_only=True)
class SubsetMixture(Mechanism):
    """Subset selection whose size is `size`, or with probability `share` one more, by a coin that sees no value.

    Of all mechanisms with the same epsilon and the same best guess it has the least error. A report is the set as k
    bits; its size is the stratum. Size k, the set of all answers, says nothing.
    """

    size: int
    share: float = 0.0
    family: ClassVar[str] = "ssmix"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.share) and 0 <= self.share < 1
        require(ok, "share", self.share, "from 0 to below 1", "A share of 1 is the next size with share 0.")
        object.__setattr__(self, "size", check_size(self.size, self.k))
        object.__setattr__(self, "share", float(self.share))

    @cached_property
    def _sizes(self) -> tuple[SubsetSelection, SubsetSelection | None]:
        """The two mechanisms that are mixed; None is the one that says nothing."""
        one, two = (
            SubsetSelection(epsilon=self.epsilon, domain=self.domain, size=size) if size < self.k else None
            for size in (self.size, self.size + 1)
        )
        assert one is not None
        return one, two

    @cached_property
    def bulk(self) -> MixtureBulk:
        one, two = self._sizes
        coin = round(Fraction(self.share) * WORD)
        return MixtureBulk(Mixture(one.bulk.kernel, two.bulk.kernel if two is not None else Whole(self.k), coin))

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the coin is independent of the value and the size of a report shows how it fell, so its probability "
            "cancels; given the size, the report is subset selection, whose ratio is the same for all its sets; the "
            "larger of the two counts"
        )
        (one, two), kernel = self._sizes, self.bulk.kernel
        larger = kernel.coin and kernel.second.ratio > kernel.first.ratio
        worst = two if two is not None and larger else one
        witness = Witness(worst.proof.witness.output, 0, self.k - 1)
        return Proof(promised_ratio(self.kernel), "conditioning on the size", text, witness)

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: 1/k + mean of (L(i) - 1)/a, L the profile of a report and a the mean information."""
        check_reports(tally)
        total = np.zeros(self.k)
        for s, n, hits in zip(self.bulk.sizes, tally.cells["n"], tally.cells["support"], strict=True):
            inside, outside = (float(x - 1) for x in s.profile(self.k))
            total += hits * inside + (n - hits) * outside
        value = 1 / self.k + total / (tally.n * float(_information(self.bulk.sizes, self.k)))
        own, other, one, none = (float(x) for x in self._moments)
        return {"frequency": MomentsPart(value, own, other, one, none, tally.n)}

    @cached_property
    def _moments(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """(own, other, one, none) of `MomentsPart`, exactly."""
        k, a = self.k, _information(self.bulk.sizes, self.k)
        own = other = one = none = Fraction(0)
        for s in self.bulk.sizes:
            (x, y), p = (tuple(v - 1 for v in s.profile(k))), s.support
            own += s.chance * mean_product(x, y, p.p, p.p, p.p)
            other += s.chance * mean_product(x, y, p.q, p.q, p.q)
            one += s.chance * mean_product(x, y, p.both_one, p.p, p.q)
            none += s.chance * mean_product(x, y, p.both_none, p.q, p.q) if k > 2 else 0
        mean, rest = 1 - Fraction(1, k), -Fraction(1, k)
        square = a * a
        return own / square - mean**2, other / square - rest**2, one / square - mean * rest, none / square - rest**2

    # ---- closed forms

    @property
    def asr(self) -> float:
        """Success of the best guess of the value from one report, all values being equally likely."""
        return float(mixture_success(math.exp(-self.epsilon), self.k, self.size, self.share))

    def mse(self, n: float = 1) -> float:
        """Exact variance averaged over the items; the same for every population."""
        return float(mixture_mse(*epsilon_to(self.epsilon), self.k, self.size, self.share, check_n(n)))

    def properties(self, n: float = 1) -> dict[str, Any]:
        mse, asr = self.mse(n), self.asr
        return _numbers(self.k, mse, asr) | report_size(self) | distance(self.k, self.epsilon, mse, asr, n)

    def effective(self, n: float = 1) -> dict[str, Any]:
        least = (1 / _information(self.bulk.sizes, self.k) - Fraction(1, self.k)) * Fraction(self.k - 1, self.k)
        mse, asr = float(least) / check_n(n), float(_success(self.bulk.sizes, self.k))
        return {"epsilon": self.epsilon_exact} | _numbers(self.k, mse, asr)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: the mean over both sizes, since a report shows its size."""
        blind = 1 / self.k if prior is None else float(check_prior(prior, self.k).max())
        found = [part.guess(prior).success if part is not None else blind for part in self._sizes]
        return Guess(found[0] + self.share * (found[1] - found[0]), blind)


def _information(strata: Iterable[_Stratum], k: int) -> Fraction:
    return sum((s.chance * s.information(k) for s in strata), Fraction(0))


def _success(strata: Iterable[_Stratum], k: int) -> Fraction:
    return sum((s.chance * s.profile(k)[0] for s in strata), Fraction(0)) / k


def _numbers(k: int, mse: float, asr: float) -> dict[str, float]:
    return {"mse": mse, "mse_sum": k * mse, "asr": asr}


def check_sizes(support: IntArray, n: IntArray, size: int, *, larger: bool) -> None:
    """`FormatError` unless the first two strata count sets of `size` items and, if any are `larger`, of one more."""
    for i, length in enumerate((size, size + 1)):
        Cell(support.shape[1], total=(length, length)).check("support", support[i], int(n[i]))
    if n[1] and not larger:
        raise FormatError(f"no reports give these counts: all of them are sets of {size} items.")
