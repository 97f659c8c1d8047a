"""Codebooks: the value's nearest representative through randomised response [BRR, docs/maths/metric.md]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Codes, Span
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.laws import epsilon_to, response
from deniable.core.types import FloatArray, IntArray
from deniable.errors import InWords, ParameterError, require
from deniable.estimate.result import Part
from deniable.mechanisms.metric.base import MetricMechanism, check_nearest, outputs_of, refuse_prior, response_parts
from deniable.mechanisms.metric.bulk import CodeBulk, ConstantBulk, code_matrix, code_of
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
from deniable.mechanisms.outputs import check_matrix, odds_to
from deniable_client.kernels import Constant, Kernel, Recode, Response, promised_ratio

__all__ = ["Codebook", "make_codebook"]

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
    given: Recode | None = field(default=None, repr=False)
    """The runs of a design, where they are others than those found here: ties may be broken in other ways."""
    carries: ClassVar[type[Kernel]] = Recode
    family: ClassVar[str] = "codebook"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.codes is None:
            require(self._interval is not None, "codes", None, "given unless the domain is an interval by codes")
        else:
            require(self._interval is None, "codes", self.codes, "left out: the domain's codes are the codes")
            object.__setattr__(self, "codes", _check_codes(self.codes, self.losses.outputs))
        found = self.k if self.codes is None else len(self.codes)
        require(self.size is None or self.size == found, "size", self.size, f"the number of codes, {found}")
        object.__setattr__(self, "size", found)
        if self.given is not None and not _differs(self, self.given):
            object.__setattr__(self, "given", None)

    @property
    def _interval(self) -> Codes | None:
        """The domain, where it is an interval by codes."""
        return self.domain if isinstance(self.domain, Codes) else None

    @property
    def params(self) -> dict[str, Any]:
        return {"size": self.output_count} | ({} if self.codes is None else {"codes": list(self.codes)})

    @property
    def output_count(self) -> int:
        """See `MetricMechanism.output_count`: the number of codes."""
        assert self.size is not None
        return self.size

    @property
    def output_points(self) -> IntArray | None:
        return None if self.codes is None else np.array(self.codes, np.int64)

    @cached_property
    def runs(self) -> tuple[IntArray, IntArray]:
        """Where runs of values with one code start, and their codes."""
        return self._nearest if self.given is None else _runs_of(self.given)

    @cached_property
    def _nearest(self) -> tuple[IntArray, IntArray]:
        if self.codes is None:
            return np.arange(self.k), np.arange(self.k)
        codes = np.array(self.codes, np.int64)
        if self.losses.line is not None:
            return np.concatenate([[0], (codes[1:] + codes[:-1]) // 2 + 1]), np.arange(codes.size)
        nearest = np.asarray(self.losses.matrix()[:, codes].argmin(axis=1), np.int64)
        starts = np.flatnonzero(np.concatenate([[True], nearest[1:] != nearest[:-1]]))
        return starts, nearest[starts]

    @cached_property
    def bulk(self) -> CodeBulk | ConstantBulk:
        if self.output_count == 1:
            return ConstantBulk(Constant(self.k), about=outputs_of(self))
        response, (starts, codes) = Response.calibrate(self.epsilon, self.output_count), self.runs
        if self.codes is None:
            return CodeBulk(response, response, starts, codes, about=outputs_of(self))
        kernel = Recode(self.k, tuple(starts.tolist()), tuple(codes.tolist()), response)
        return CodeBulk(kernel, response, starts, codes, about=outputs_of(self))

    def _own(self) -> IntArray:
        """The code of every value."""
        return code_of(np.arange(self.k), *self.runs)

    # ---- channel

    def matrix(self) -> FloatArray:
        check_matrix(self.k, self.output_count, self.name)
        return code_matrix(self._own(), self.output_count, epsilon_to(self.epsilon)[0])

    @cached_property
    def proof(self) -> Proof:
        text = (
            "a report depends on the value only through its code, and is randomised response on the codes: one "
            "probability for the own code and one for every other"
        )
        starts, codes = self.runs
        others = starts[codes != codes[0]]
        other = int(others[0]) if codes[-1] == codes[0] and others.size else self.k - 1
        return Proof(promised_ratio(self.kernel), "two levels", text, Witness(f"report {codes[0]}", 0, other))

    @cached_property
    def rank(self) -> int:
        """See `MetricMechanism.rank`: the number of codes that some value has."""
        return int(np.unique(self.runs[1]).size)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: those of randomised response where every value is its own code."""
        own = self.output_count == self.k and bool((self._own() == np.arange(self.k)).all())
        return response_parts(tally, self.bulk.odds, self.k) if own else super().parts(tally)

    # ---- closed forms

    def loss(self, prior: object = None) -> float:
        """See `MetricMechanism.loss`: from distances to the nearest code and to all codes."""
        return self._loss(*epsilon_to(self.epsilon), prior)

    def loss_effective(self) -> float:
        return self._loss(*odds_to(self.bulk.odds))

    def _loss(self, t: float, v: float, prior: object = None) -> float:
        line, interval = self.losses.line, self._interval
        if prior is None and line is not None and self.k > POINTS_MAX:
            return ratio_loss(*_long_sums(line, np.array(self.codes, np.int64)), self.output_count, t, v)
        if prior is None and interval is not None:
            span = interval.high - interval.low
            return span * code_loss((interval.points - interval.low) / span, t, v)
        weights, table = self.losses.weights(prior), self.loss_matrix()
        own = table[np.arange(self.k), self._own()]
        return ratio_loss(float(weights @ own), float((weights @ table).sum()), self.output_count, t, v)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: the likeliest value of the reported code."""
        if prior is not None:
            return super().guess(prior)
        w = epsilon_to(self.epsilon)[0]
        p = 1 / (1 + (self.output_count - 1) * w)
        return Guess((self.rank * p + (self.output_count - self.rank) * w * p) / self.k, 1 / self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        own = {}
        if self.output_count > 1:
            law = response(*epsilon_to(self.epsilon), self.output_count)
            own = {"p": law.p, "q": law.q}
        points = self.output_points
        codes = self.domain.decode(np.arange(self.output_count) if points is None else points).tolist()
        told = {} if codes == self.params.get("codes") else {"codes": codes}
        return super().properties(n) | own | told


def _differs(m: Codebook, given: Recode) -> bool:
    """Whether the runs of a design are to be taken: other ones whose codes are as near."""
    if m.codes is None or m.losses.line is not None:
        return False
    items = np.arange(m.k)
    theirs, own = code_of(items, *_runs_of(given)), code_of(items, *m._nearest)
    check_nearest(m.loss_matrix(), theirs[:, None], own[:, None])
    return [given.starts, given.codes] != [tuple(part.tolist()) for part in m._nearest]


def _check_codes(codes: Sequence[int], outputs: int) -> tuple[int, ...]:
    whole = all(isinstance(c, int | np.integer) and 0 <= c < outputs for c in codes)
    rising = whole and all(a < b for a, b in pairwise(codes))
    require(rising and len(codes) > 0, "codes", codes, f"rising numbers of answers from 0 to {outputs - 1}")
    return tuple(int(c) for c in codes)


def _runs_of(kernel: Recode) -> tuple[IntArray, IntArray]:
    return np.array(kernel.starts, np.int64), np.array(kernel.codes, np.int64)


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
    require(
        not isinstance(domain, Codes),
        "domain",
        InWords("codes"),
        "an interval, points or a space, whose codes are chosen",
    )
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
    line = losses.line
    if line is None:
        require(variant == VARIANTS[0], "variant", variant, f"{VARIANTS[0]} where answers are not on a line")
        book = search_codes(losses.matrix(), losses.weights(prior), epsilon, size)
        return tuple(int(c) for c in book.codes), "local search"
    if size is not None and size > losses.k:
        raise ParameterError(f"size must be at most the number of points, {losses.k}, got {size}.")
    if variant == "bins":
        refuse_prior(prior, "equal bins")
        return _rounded(equal_bins(epsilon, size, losses.k), losses.k), "equal parts"
    if losses.k <= POINTS_MAX:
        return tuple(int(c) for c in line_codes(line, epsilon, prior, size).codes), "exact search"
    refuse_prior(prior, f"more than {POINTS_MAX} points")
    return _rounded(interval_codes(epsilon, size), losses.k), "closed form, rounded to points"


def _rounded(book: Book, k: int) -> tuple[int, ...]:
    """Codes in [0, 1] as the nearest of k points in the middles of equal cells."""
    at = np.clip(np.ceil(np.array(book.codes) * k) - 1, 0, k - 1)
    return tuple(int(c) for c in np.unique(at))


def _record(size: int, variant: str, how: str, prior: object) -> dict[str, Any]:
    return {"variant": variant, "size": size, "by": how, "prior": "uniform" if prior is None else "given"}
