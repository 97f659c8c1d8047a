"""Codebooks: the value's nearest representative through randomised response [BRR, docs/maths/metric.md]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Codes, Span
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.laws import epsilon_to, ratio_to, response
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import ParameterError, require
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.kernels.sampling import respond
from deniable.mechanisms.metric.base import MetricMechanism, Rows, check_nearest, refuse_prior
from deniable.mechanisms.metric.brr import line_bound
from deniable.mechanisms.metric.codes_search import (
    POINTS_MAX,
    Book,
    code_loss,
    equal_bins,
    interval_codes,
    line_codes,
    ratio_loss,
    search_codes,
)
from deniable.mechanisms.metric.losses import Line, Losses
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Constant, Recode, Response, kernel_from

__all__ = ["VARIANTS", "Codebook", "make_codebook"]

VARIANTS = ("optimal", "bins")
"""The codes of least expected loss, or the middles of equal parts (randomised response on bins)."""


@dataclass(frozen=True, kw_only=True)
class Codebook(MetricMechanism):
    """Each value counts as the nearest of K codes; randomised response among the codes makes the report.

    `codes` are the numbers of the answers that are codes, in rising order. Without them every answer is its own code:
    the codes of an interval are a domain (`Codes`).
    """

    codes: Sequence[int] | None = None
    size: int | None = None
    """Number of codes; it follows from them."""
    family: ClassVar[str] = "codebook"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.codes is None:
            require(isinstance(self.domain, Codes), "codes", None, "given unless the domain is an interval by codes")
        else:
            self._check_codes(self.codes)
        found = self.k if self.codes is None else len(self.codes)
        require(self.size is None or self.size == found, "size", self.size, f"the number of codes, {found}")
        object.__setattr__(self, "size", found)

    def _check_codes(self, given: Sequence[int]) -> None:
        require(not isinstance(self.domain, Codes), "codes", given, "left out: the domain's codes are the codes")
        codes, outputs = tuple(given), self.losses.outputs
        whole = all(isinstance(c, int | np.integer) and 0 <= c < outputs for c in codes)
        rising = whole and all(a < b for a, b in pairwise(codes))
        require(rising and len(codes) > 0, "codes", given, f"rising numbers of answers from 0 to {outputs - 1}")
        object.__setattr__(self, "codes", tuple(int(c) for c in codes))

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"size": self.output_count} | ({} if self.codes is None else {"codes": list(self.codes)})

    @property
    def output_count(self) -> int:
        """See `MetricMechanism.output_count`: the number of codes."""
        assert self.size is not None
        return self.size

    @property
    def output_points(self) -> IntArray | None:
        """See `MetricMechanism.output_points`."""
        return None if self.codes is None else np.array(self.codes, np.int64)

    @cached_property
    def runs(self) -> tuple[IntArray, IntArray]:
        """Where runs of values with one code start, and their codes."""
        assert self.codes is not None
        codes = np.array(self.codes, np.int64)
        if isinstance(self.losses, Line):
            return np.concatenate([[0], (codes[1:] + codes[:-1]) // 2 + 1]), np.arange(codes.size)
        nearest = np.asarray(self.losses.matrix()[:, codes].argmin(axis=1), np.int64)
        starts = np.flatnonzero(np.concatenate([[True], nearest[1:] != nearest[:-1]]))
        return starts, nearest[starts]

    @cached_property
    def kernel(self) -> Response | Recode | Constant:
        """See `Mechanism.kernel`."""
        if self.output_count == 1:
            return Constant(self.k)
        response = Response.calibrate(self.epsilon, self.output_count)
        if self.codes is None:
            return response
        starts, codes = self.runs
        return Recode(self.k, tuple(starts.tolist()), tuple(codes.tolist()), response)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: with the runs of the design, as floats may break ties in other ways elsewhere."""
        made = super().of_design(design, domain)
        kernel = kernel_from(design["kernel"])
        if isinstance(kernel, Recode) and made.codes is not None and not isinstance(made.losses, Line):
            table, mine = made.loss_matrix(), made.coded(np.arange(made.k))
            made = cls(epsilon=made.epsilon, domain=domain, name=made.name, codes=made.codes)
            vars(made)["runs"] = (np.array(kernel.starts, np.int64), np.array(kernel.codes, np.int64))
            check_nearest(table, made.coded(np.arange(made.k))[:, None], mine[:, None])
        return made

    @property
    def response(self) -> Response:
        """The kernel on codes; there must be several."""
        kernel = self.kernel
        assert not isinstance(kernel, Constant)
        return kernel.base if isinstance(kernel, Recode) else kernel

    def coded(self, items: IntArray) -> IntArray:
        """The code of each value."""
        if self.codes is None:
            return items
        starts, codes = self.runs
        return np.asarray(codes[np.searchsorted(starts, items, side="right") - 1])

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        dtype = self.fields[0].dtype
        if self.output_count == 1:
            return {"value": np.zeros(items.size, dtype)}
        return {"value": respond(rng, self.coded(items), self.output_count, self.response.keep, dtype)}

    # ---- channel

    def _levels(self, w: float, v: float) -> FloatArray:
        self.check_matrix()
        p = 1 / (1 + (self.output_count - 1) * w)
        own = self.coded(np.arange(self.k))[:, None] == np.arange(self.output_count)
        return np.asarray(np.where(own, p, w * p))

    def matrix(self) -> FloatArray:
        """See `MetricMechanism.matrix`."""
        return self._levels(*epsilon_to(self.epsilon))

    @property
    def _exact(self) -> tuple[float, float]:
        w, v = ratio_to(self.response.ratio)
        return float(w), float(v)

    @cached_property
    def matrix_exact(self) -> FloatArray:
        """See `MetricMechanism.matrix_exact`."""
        return np.ones((self.k, 1)) if self.output_count == 1 else self._levels(*self._exact)

    def exact_rows(self) -> tuple[Rows, int]:
        """See `MetricMechanism.exact_rows`."""
        if self.output_count == 1:
            return [[1]] * self.k, 1
        keep, rest = self.response.keep, self.output_count - 1
        own, other = keep * rest, (1 << WORD_BITS) - keep
        codes = self.coded(np.arange(self.k)).tolist()
        return [[own if y == code else other for y in range(self.output_count)] for code in codes], rest << WORD_BITS

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "a report depends on the value only through its code, and is randomised response on the codes: one "
            "probability for the own code and one for every other"
        )
        codes = self.coded(np.array([0, self.k - 1])) if self.output_count > 1 else np.zeros(2, np.int64)
        other = self.k - 1
        if codes[0] == codes[1] and self.output_count > 1:
            other = int(np.flatnonzero(self.coded(np.arange(self.k)) != codes[0])[0])
        return Proof(self.kernel.ratio, "two levels", text, Witness(f"report {codes[0]}", 0, other))

    @cached_property
    def rank(self) -> int:
        """See `MetricMechanism.rank`: the number of codes that some value has."""
        return self.output_count if self.codes is None else int(np.unique(self.runs[1]).size)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: those of randomised response where every value is its own code."""
        own = self.output_count == self.k and bool((self.coded(np.arange(self.k)) == np.arange(self.k)).all())
        if not own:
            return super().parts(tally)
        check_reports(tally)
        law = response(*ratio_to(self.response.ratio), self.k).map(float)
        return {"frequency": SupportPart(tally.cells["value"][0] / tally.n, law, tally.n)}

    # ---- closed forms

    def loss(self, prior: object = None) -> float:
        """See `MetricMechanism.loss`: from distances to the nearest code and to all codes."""
        return self._loss(*epsilon_to(self.epsilon), prior)

    def loss_effective(self) -> float:
        """See `MetricMechanism.loss_effective`."""
        return self.loss() if self.output_count == 1 else self._loss(*self._exact, None)

    def _loss(self, t: float, v: float, prior: object) -> float:
        if prior is None and isinstance(self.losses, Line) and self.k > POINTS_MAX:
            near, spread = _long_sums(self.losses, np.array(self.codes, np.int64))
            return ratio_loss(near, spread, self.output_count, t, v)
        if prior is None and isinstance(self.domain, Codes):
            span = self.domain.high - self.domain.low
            return span * code_loss((self.domain.points - self.domain.low) / span, t, v)
        weights, table = self.losses.weights(prior), self.loss_matrix()
        own = table[np.arange(self.k), self.coded(np.arange(self.k))]
        return ratio_loss(float(weights @ own), float((weights @ table).sum()), self.output_count, t, v)

    def bound(self) -> float | None:
        """See `MetricMechanism.bound`."""
        if isinstance(self.domain, Codes):
            return (self.domain.high - self.domain.low) * interval_codes(self.epsilon).loss
        return line_bound(self.domain, self.losses, self.epsilon)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: the likeliest value of the reported code."""
        if prior is not None:
            return super().guess(prior)
        w = epsilon_to(self.epsilon)[0]
        p = 1 / (1 + (self.output_count - 1) * w)
        return Guess((self.rank * p + (self.output_count - self.rank) * w * p) / self.k, 1 / self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`."""
        own = {}
        if self.output_count > 1:
            law = response(*epsilon_to(self.epsilon), self.output_count)
            own = {"p": law.p, "q": law.q}
        points = self.output_points
        codes = self._answers(np.arange(self.output_count) if points is None else points).tolist()
        told = {} if codes == self.params.get("codes") else {"codes": codes}
        return super().properties(n) | own | told


def _long_sums(line: Line, codes: IntArray) -> tuple[float, float]:
    """Mean distance to the nearest code and sum of those to all codes on a line of any length, all values alike."""
    k, scale = line.k, line.step / line.k
    require(line.cells != "endpoints", "layout", line.cells, f"midpoints for more than {POINTS_MAX} points")
    own = 0.0 if line.cells == "points" else 0.25
    c = [int(code) for code in codes]
    ends = _rising(c[0]) + _rising(k - 1 - c[-1])
    gaps = sum(_rising((b - a) // 2) + _rising((b - a - 1) // 2) for a, b in pairwise(c))
    near = (ends + gaps + own * len(c)) * scale
    spread = sum((_rising(a) + _rising(k - 1 - a) + own) * scale for a in c)
    return near, spread


def _rising(n: int) -> int:
    """1 + 2 + ... + n."""
    return n * (n + 1) // 2


def make_codebook(
    *,
    epsilon: float,
    domain: Domain | Span,
    size: int | None = None,
    prior: object = None,
    variant: str = VARIANTS[0],
) -> Codebook:
    """With the codes of least expected loss, `size` of them if that is given; `variant` bins: equal parts."""
    require(variant in VARIANTS, "variant", variant, f"one of {', '.join(VARIANTS)}")
    _check_size(size)
    if isinstance(domain, Span):
        refuse_prior(prior, "an interval without a number of points")
        book = interval_codes(epsilon, size) if variant == VARIANTS[0] else equal_bins(epsilon, size)
        places = [domain.low + (domain.high - domain.low) * code for code in book.codes]
        made = Codes.over(domain.low, domain.high, places, clip=domain.clip)
        return Codebook(epsilon=epsilon, domain=made, selection=_record(book.size, variant, "closed form", prior))
    require(not isinstance(domain, Codes), "domain", "codes", "an interval, points or a space, whose codes are chosen")
    losses = Codebook(epsilon=epsilon, domain=domain, codes=(0,)).losses
    codes, how = _choose(losses, epsilon, size, prior, variant)
    return Codebook(epsilon=epsilon, domain=domain, codes=codes, selection=_record(len(codes), variant, how, prior))


def _check_size(size: int | None) -> None:
    whole = size is None or (isinstance(size, int) and not isinstance(size, bool) and size >= 2)
    require(whole, "size", size, "an integer >= 2", "It is the number of codes.")


def _choose(
    losses: Losses, epsilon: float, size: int | None, prior: object, variant: str
) -> tuple[tuple[int, ...], str]:
    """The codes for points on a line or in a space, and how they were found."""
    if not isinstance(losses, Line):
        require(variant == VARIANTS[0], "variant", variant, f"{VARIANTS[0]} where answers are not on a line")
        book = search_codes(losses.matrix(), losses.weights(prior), epsilon, size)
        return tuple(int(c) for c in book.codes), "local search"
    if size is not None and size > losses.k:
        raise ParameterError(f"size must be at most the number of points, {losses.k}, got {size}.")
    if variant == "bins":
        refuse_prior(prior, "equal bins")
        return _rounded(equal_bins(epsilon, size, losses.k), losses.k), "equal parts"
    if losses.k <= POINTS_MAX:
        return tuple(int(c) for c in line_codes(losses, epsilon, prior, size).codes), "exact search"
    refuse_prior(prior, f"more than {POINTS_MAX} points")
    return _rounded(interval_codes(epsilon, size), losses.k), "closed form, rounded to points"


def _rounded(book: Book, k: int) -> tuple[int, ...]:
    """Codes in [0, 1] as the nearest of k points in the middles of equal cells."""
    at = np.clip(np.ceil(np.array(book.codes) * k) - 1, 0, k - 1)
    return tuple(int(c) for c in np.unique(at))


def _record(size: int, variant: str, how: str, prior: object) -> dict[str, Any]:
    return {"variant": variant, "size": size, "by": how, "prior": "uniform" if prior is None else "given"}
