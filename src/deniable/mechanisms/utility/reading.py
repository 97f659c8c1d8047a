"""How estimates read the base of a ULDP mechanism: by the items that reports support, by sums, or by counts of outputs.

Which of them is asked of the base's bulk; the ideal laws, which go further than samplers do, of the base itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.guess import Guess, first_of_subset
from deniable.core.laws import epsilon_to
from deniable.core.support import Support
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError
from deniable.estimate.inverse import InversePart, inverse_part
from deniable.estimate.result import Part
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.support import SupportMechanism
from deniable.mechanisms.utility import laws
from deniable.mechanisms.utility.bases import SEPARATE, closed_forms, hashed, ideal_law, least_of
from deniable.mechanisms.utility.estimate import NoiseUtilityPart, UtilityPart, noise_square
from deniable.mechanisms.utility.laws import UtilityLaw
from deniable_client.exact import WORD
from deniable_client.kernels.utility import base_half

if TYPE_CHECKING:
    from deniable.mechanisms.utility.base import Utility

__all__ = ["Reading", "reading_of"]

_ALONE: Support[Fraction] = Support(*(Fraction(x) for x in (1, 0, 1, 0, 1, 0, 0)))
"""One sensitive item: a report that discloses nothing supports it."""


@dataclass(frozen=True)
class Reading(ABC):
    """What closed forms and estimates need to know of one mechanism."""

    m: Utility

    @property
    def base(self) -> Any:
        """The base mechanism."""
        return self.m.base

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """f of form glutf: the share of harmless items that are turned into sensitive ones [ULDP Eq. 9 and 10]."""

    @property
    @abstractmethod
    def law(self) -> UtilityLaw[float]:
        """The ideal law of a report."""

    @property
    @abstractmethod
    def law_exact(self) -> UtilityLaw[Fraction]:
        """The law of the integers that are sampled."""

    @abstractmethod
    def error(self, theta: float, *, ideal: bool) -> float | None:
        """n times the variances summed over all items; None where no unbiased estimate exists."""

    @abstractmethod
    def part(self, cells: Cells, n: int) -> Part:
        """Frequencies from a tally's cells of n reports."""

    @abstractmethod
    def expected(self, f: FloatArray, n: float) -> Part:
        """The estimate from reports whose shares are just what frequencies `f` lead to."""

    @abstractmethod
    def guess(self, pi: FloatArray) -> Guess:
        """The best guess under a prior."""

    def numbers(self, *, ideal: bool) -> dict[str, float]:
        """p and q where there are some, and the chance z that a harmless item is disclosed."""
        law = self.law if ideal else self.m.law_effective
        return {"z": float(law.z)}

    def _plain(self) -> tuple[Fraction, Fraction]:
        kernel = self.m.bulk.kernel
        return Fraction(kernel.plain, WORD), Fraction(kernel.attach, WORD)


class Supports(Reading):
    """Reports support items with the same p and q for all; with fewer than two sensitive items there is no base."""

    @property
    def share(self) -> Fraction:
        found: Fraction = laws.mapped_share_of(self.base.bulk.support, self.m.s)
        return found

    @cached_property
    def law(self) -> UtilityLaw[float]:
        m, (w, v) = self.m, epsilon_to(self.m.epsilon)
        if m.base is None:
            law = laws.branch_law(_ALONE.map(float), 1.0, 0.0, v if m.s else 1.0, 0.0)
            return replace(law, r=w if m.s else 0.0, credit=-w / v if m.s else 0.0)
        ideal = closed_forms(m.base)
        odds = laws.leaking_odds(m.epsilon if ideal is None else ideal.leak, m.epsilon)
        support = self.base.bulk.support.map(float) if ideal is None else ideal.support
        if m.form == "null":
            return laws.null_law(support, w, v, odds)
        if m.form == SEPARATE:
            return laws.separate_law(support, support.p * v)
        if m.form == "paper" and hashed(m.base):
            return ideal_law(support, m.s, 1, "paper", w, v)
        return laws.mapped_law(support, m.s, laws.mapped_disclosure(least_of(m.base), m.s, w, v, odds))

    @cached_property
    def law_exact(self) -> UtilityLaw[Fraction]:
        m, chances = self.m, self._plain()
        if m.base is None:
            return laws.branch_law(_ALONE, Fraction(1), Fraction(0), *chances)
        law, s = self.base.bulk.support, m.s
        if m.bulk.kernel.blind:
            one = base_half(m.base.kernel).share
            return laws.branch_law(law, one, law.both_one * one / law.p, *chances)
        one = (law.p + (s - 1) * law.q) / s
        return laws.branch_law(law, one, (2 * law.both_one + max(0, s - 2) * law.both_none) / s, *chances)

    def error(self, theta: float, *, ideal: bool) -> float:
        law = self.law if ideal else self.m.law_effective
        return float(law.mse_sum(self.m.s, theta)) if self.m.s else 0.0

    def supported(self, cells: Cells) -> FloatArray:
        """How many reports count as support of each sensitive item."""
        if self.m.base is None:
            return np.full(self.m.s, float(cells["n"][0]))
        counts = self.base.bulk.support_counts(self.m.bulk.base_cells(cells))
        return np.asarray(counts + cells["support"][1] if self.m.bulk.kernel.attach else counts, np.float64)

    def part(self, cells: Cells, n: int) -> Part:
        return self.part_of(self.supported(cells) / n, _disclosed(cells) / n, n)

    def part_of(self, supported: FloatArray, disclosed: FloatArray, n: float) -> Part:
        """The estimate from the share of reports that support each sensitive and disclose each harmless item."""
        bulk = None if self.m.base is None else self.base.bulk
        extra = (lambda f: bulk.extra_pairs(f, bulk.support.map(float))) if bulk is not None and bulk.uneven else None
        return UtilityPart(*self.m.items, self.m.law_effective, supported, disclosed, n, extra)

    def expected(self, f: FloatArray, n: float) -> Part:
        (own, rest), law = self.m.items, self.m.law_effective
        supported = law.base.q + law.base.gap * f[own] - law.credit * float(f[rest].sum()) * law.z
        return self.part_of(supported, f[rest] * law.z, n)

    def guess(self, pi: FloatArray) -> Guess:
        return _guess_under(self.m, pi)

    def numbers(self, *, ideal: bool) -> dict[str, float]:
        law = (self.law if ideal else self.m.law_effective).base
        own = {} if self.m.base is None else {"p": float(law.p), "q": float(law.q)}
        return own | super().numbers(ideal=ideal)


class Sums(Reading):
    """Noisy vectors: p = 1 and q = 0, and sums of coordinates instead of counts."""

    @property
    def share(self) -> Fraction:
        found: Fraction = self.m.s / (self.base.kernel.ratio + self.m.s - 1)
        return found

    @cached_property
    def law(self) -> UtilityLaw[float]:
        """See `Reading.law`: two coordinates share epsilon, so a blind report is within e^(epsilon/2) of any other."""
        m, (w, v), alone = self.m, epsilon_to(self.m.epsilon), _ALONE.map(float)
        if m.form == "null":
            return UtilityLaw(alone, -math.expm1(-m.epsilon / 2), 0.0, 0.0, 0.0, 0.0)
        z = v / (1 + (m.s - 1) * w)
        return UtilityLaw(alone, z, (1 - z) / m.s, 0.0, 0.0, -(1 - z) / (m.s * z))

    @cached_property
    def law_exact(self) -> UtilityLaw[Fraction]:
        """See `Reading.law_exact`: a report beside a disclosed value is left out, since it is noise."""
        kernel = self.m.bulk.kernel
        one = Fraction(0) if kernel.blind else Fraction(1, self.m.s)
        return replace(laws.branch_law(_ALONE, one, Fraction(0), 1 - kernel.kept, Fraction(0)), both=Fraction(0))

    def error(self, theta: float, *, ideal: bool) -> float:
        law, noise = (self.law, self.base.noise) if ideal else (self.m.law_effective, self.base.bulk.noise)
        own = self.m.s * ((1 - theta) * noise + theta * noise_square(law, noise))
        return float(own + law.variance_harmless(theta))

    def part(self, cells: Cells, n: int) -> Part:
        return self._part(self.base.bulk.sums(cells) / n, _disclosed(cells) / n, n)

    def _part(self, sums: FloatArray, disclosed: FloatArray, n: float) -> Part:
        return NoiseUtilityPart(*self.m.items, self.m.law_effective, sums, disclosed, n, noise=self.base.bulk.noise)

    def expected(self, f: FloatArray, n: float) -> Part:
        (own, rest), law = self.m.items, self.m.law_effective
        return self._part(f[own] - law.credit * float(f[rest].sum()) * law.z, f[rest] * law.z, n)

    def guess(self, pi: FloatArray) -> Guess:
        raise ParameterError(f"the best guess under a prior is not known for the base {self.base.name}.")


class Counts(Reading):
    """The base's tally counts every output: the inverse of the whole channel, where it has one."""

    @property
    def share(self) -> Fraction:
        """See `Reading.share`: all that may be disclosed is disclosed alone, since a report beside it tells nothing."""
        return Fraction(0)

    @property
    def law(self) -> UtilityLaw[float]:
        raise ParameterError(f"reports of the base {self.base.name} have no p and q.", "Use properties() or channel().")

    @property
    def law_exact(self) -> UtilityLaw[Fraction]:
        raise ParameterError(f"reports of the base {self.base.name} have no p and q.", "Use properties() or channel().")

    def error(self, theta: float, *, ideal: bool) -> float | None:
        (own, rest), matrix = self.m.items, self._matrix
        if np.linalg.matrix_rank(matrix) < self.m.k:
            return None
        f = np.zeros(self.m.k)
        f[own], f[rest] = (1 - theta) / own.size, theta / max(1, rest.size)
        return float(np.trace(self.expected(f, 1).covariance("reporters")))

    @property
    def _matrix(self) -> FloatArray:
        if not self.m.bulk.reader.sufficient:
            raise ParameterError(
                f"no linear estimate is known: a tally of the base {self.base.name} neither counts supported items nor "
                "every output.",
                "Use fit() on the reports.",
            )
        return self.m.bulk.reduced

    def part(self, cells: Cells, n: int) -> Part:
        matrix = self._matrix
        return inverse_part(self.m.bulk.output_counts(cells), matrix, n, self.m.name)

    def expected(self, f: FloatArray, n: float) -> Part:
        found = inverse_part(np.zeros(self._matrix.shape[1], np.int64), self._matrix, 1, self.m.name)
        return InversePart(f @ found.matrix, found.matrix, found.inverse, n)

    def guess(self, pi: FloatArray) -> Guess:
        return Guess(float((pi[:, None] * self.m.bulk.reduced).max(axis=0).sum()), float(pi.max()))

    def numbers(self, *, ideal: bool) -> dict[str, float]:
        return {"z": float(1 - self.m.bulk.kernel.kept)}


def reading_of(m: Utility) -> Reading:
    """By support, by sums or by counts: whatever the base's bulk has, or the base itself where nothing is sampled."""
    asked = m.base if m.base is not None and m.base.refusal else m.base and m.base.bulk
    if asked is None or getattr(asked, "support", None) is not None:
        return Supports(m)
    return Sums(m) if getattr(asked, "noise", None) is not None else Counts(m)


def _disclosed(cells: Cells) -> FloatArray:
    return np.asarray(cells["disclosed"][1] if "disclosed" in cells else np.zeros(0), np.float64)


def _guess_under(m: Utility, pi: FloatArray) -> Guess:
    """Success of the best guess of the value under the prior `pi`, and of the best guess without a report.

    Given a report that discloses nothing, blind reports being the measure, a sensitive item has the likelihood `high`
    if it is supported and `low` if not; a harmless one has the branch's, which depends on how many items are supported
    unless the branch is blind.
    """
    own, rest = pi[m.items[0]], pi[m.items[1]]
    law, blind = m.law, float(pi.max())
    told, other = float(rest.sum() * law.z), float(rest.max(initial=0.0)) * (1 - law.z)
    if m.s == 0:
        return Guess(told, blind)
    if m.base is None:
        return Guess(told + max(float(own[0]), other), blind)
    base: Any = m.base
    w = math.exp(-base.leak)
    low = float(law.base.p_not + law.base.p * w)
    high = low / w
    order: IntArray = np.argsort(-own, kind="stable").astype(np.int64)
    hidden = 0.0
    for first, size in _supports(base, order, blind=m.form in ("null", "separate")):
        branch = 1.0 if size is None else (size * high + (m.s - size) * low) / m.s
        floor = max(low * float(own.max()), other * branch)
        hidden += float(np.sum(first[1:] * np.maximum(high * own[order], floor))) + float(first[0]) * floor
    return Guess(told + hidden, blind)


def _supports(base: SupportMechanism, order: IntArray, *, blind: bool) -> Iterator[tuple[FloatArray, int | None]]:
    """For blind reports: chances that none or the j-th item in `order` is the first one supported, by number of items.

    The number is None where it does not matter.
    """
    if blind:
        first = base.best_ranked(order)
        yield np.concatenate([[max(0.0, 1 - float(first.sum()))], first]), None
    else:
        for size, chance in base.sizes.items():
            none = chance if size == 0 else 0.0
            first = chance * first_of_subset(base.k, size) if size else np.zeros(base.k)
            yield np.concatenate([[none], first]), size
