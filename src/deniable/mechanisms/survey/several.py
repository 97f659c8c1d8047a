"""Several of many options: what people tick of a list, in one report (docs/maths/several.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NoReturn

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain, Ticks
from deniable.core.guess import Guess, check_prior, first_to_cover, prior_success
from deniable.core.intervals import Interval, curve_interval, drawn
from deniable.core.laws import epsilon_to, ratio_to
from deniable.core.protection import ANSWERS
from deniable.core.support import Support, check_n
from deniable.core.types import BoolArray, Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, ParameterError, is_whole, require
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Estimate, Part, Shares
from deniable.kernels import loops
from deniable.kernels.parallel import blocks
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Cells, Packed, check_outputs, no_ones_after, one_stratum
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.possible import Cell, Entries
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.survey.ticks import Weights, best_design, least_ticks, ticked_law, typical
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD, WORD_BITS, check_epsilon
from deniable_client.kernels import Several as SeveralKernel
from deniable_client.kernels.box import ways

__all__ = ["Several"]

_AT_ONCE = 1 << 20
"""Outputs of reports that are drawn together."""


class SeveralReader(Reader["SeveralBulk"]):
    """The likelihood of sets of options; shares of options cannot be fitted to it, since there are far more sets."""

    traits = ()
    """See `Reader.traits`: none, as no method fits shares of options."""

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: 1 for sets whose own outputs the report meets, else one over the ratio."""
        bits = self.bulk.sets(columns).astype(np.int64)
        met = bits @ self.bulk.own(np.arange(self.bulk.k)).T > 0
        return np.where(met, 1.0, 1 / float(self.bulk.kernel.lift))


class SeveralBulk(Packed[SeveralKernel]):
    """Ticked options for many people: a report has a bit for each output."""

    reads: ClassVar[type[Reader[Any]]] = SeveralReader

    @property
    def outputs(self) -> float:
        return log2_comb(self.kernel.outputs, self.kernel.size)

    @cached_property
    def weights(self) -> Weights:
        """The estimator of the integers that are sampled."""
        kernel = self.kernel
        law = ticked_law(*ratio_to(kernel.lift), kernel.outputs, kernel.marks, kernel.size)
        return Weights.of(law.map(float), kernel.options, kernel.ticks, kernel.marks)

    @cached_property
    def where(self) -> Ticks:
        """The sets of options by their numbers."""
        return Ticks.over(self.kernel.options, self.kernel.ticks)

    @cached_property
    def stands_for(self) -> IntArray:
        """See `Bulk.stands_for`: the options that are ticked."""
        return np.asarray(self.where.members(np.arange(self.k)), np.int64)

    def own(self, items: IntArray) -> IntArray:
        """The own outputs (columns) of people with these values (rows): `Several.own_of` of the kernel."""
        ticked = self.where.members(items)
        if self.kernel.marks == self.kernel.options:
            return np.concatenate([ticked, ~ticked], axis=1).astype(np.int64)
        missing = self.kernel.marks - ticked.sum(axis=1)
        return np.concatenate([ticked, np.arange(self.kernel.marks) < missing[:, None]], axis=1).astype(np.int64)

    # ---- client

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        width = max(1, _AT_ONCE // self.kernel.outputs)
        rows = [self._drawn(items[part], rng) for part in blocks(items.size, width)]
        return {"bits": np.concatenate([np.zeros((0, self.kernel.width), np.uint8), *rows])}

    def _drawn(self, items: IntArray, rng: Stream) -> np.ndarray[Any, Any]:
        """How many own outputs a report holds, then which of them and which others."""
        kernel, n = self.kernel, items.size
        held = np.where(bernoulli(rng, kernel.keep, n), self._held(n, rng), 0)
        order = np.argsort(-self.own(items), axis=1, kind="stable")  # own outputs first
        mine = _subsets(rng, kernel.marks, held)
        others = _subsets(rng, kernel.options, kernel.size - held)
        bits = np.zeros((n, kernel.outputs), np.uint8)
        np.put_along_axis(bits, order, np.concatenate([mine, others], axis=1), axis=1)
        return np.packbits(bits, axis=1, bitorder="little")

    def _held(self, n: int, rng: Stream) -> IntArray:
        """How many own outputs a report holds if it holds any: one of all such sets, each as likely as any other."""
        _, *hits = ways(self.kernel.outputs, self.kernel.marks, self.kernel.size)
        total = sum(hits)
        most = (1 << 64) // total * total - 1
        words = rng.draw(64, n)
        again = np.flatnonzero(words > np.uint64(most))
        while again.size:
            words[again] = rng.draw(64, again.size)
            again = again[words[again] > np.uint64(most)]
        ends = np.cumsum(np.array(hits, np.uint64)[:-1])
        drawn = words if total == 1 << 64 else words % np.uint64(total)
        return np.searchsorted(ends, drawn, side="right") + 1

    def blind(self, n: int, rng: Stream) -> Columns:
        kernel = self.kernel
        bits = _subsets(rng, kernel.outputs, np.full(n, kernel.size))
        return {"bits": np.packbits(bits, axis=1, bitorder="little")}

    # ---- counter

    @property
    def cells(self) -> Mapping[str, Cell]:
        size = self.kernel.size
        return {"support": Cell(self.kernel.outputs, total=(size, size), about=Entries("output", answers=False))}

    def sets(self, columns: Columns) -> BoolArray:
        """The outputs that each report holds."""
        rows = columns["bits"].astype(np.uint8, copy=False)
        return np.unpackbits(rows, axis=1, count=self.kernel.outputs, bitorder="little").astype(np.bool_)

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: a set of the right size."""
        rows = columns["bits"].astype(np.uint8, copy=False)
        right: BoolArray = np.equal(loops().popcounts(rows), self.kernel.size)
        return right & no_ones_after(rows, self.kernel.outputs)

    def count(self, columns: Columns) -> Cells:
        if not self.possible(columns).all():
            raise FormatError(f"a report is not a set of {self.kernel.size} out of {self.kernel.outputs} outputs.")
        return one_stratum(columns, loops().count_bits(columns["bits"], 8 * self.kernel.width)[: self.kernel.outputs])

    # ---- channel

    def channel(self) -> Channel:
        kernel, k = self.kernel, self.k
        check_outputs(self.outputs, "these sets", k)
        (inside, outside), keep = kernel.reports, kernel.keep
        likely, unlikely = keep * outside, (WORD - keep) * inside
        own = [set(kernel.own_of(x)) for x in range(k)]
        sets = [frozenset(chosen) for chosen in combinations(range(kernel.outputs), kernel.size)]
        weights = tuple(tuple(likely if chosen & each else unlikely for each in own) for chosen in sets)
        names = tuple("report {" + ", ".join(map(str, sorted(chosen))) + "}" for chosen in sets)
        return Channel(names, weights, inside * outside << WORD_BITS, tuple(sets))


def _subsets(rng: Stream, k: int, sizes: IntArray) -> np.ndarray[Any, Any]:
    """A uniform set of so many of k places for each row, as zeros and ones."""
    first = below(rng, k, sizes.size) < sizes
    rows = subset_bits(rng, k, sizes, np.zeros(sizes.size, np.int64), first)
    return np.unpackbits(rows, axis=1, count=k, bitorder="little")


# ---- what is estimated


def _together() -> NoReturn:
    raise ParameterError(
        "the covariance of options is not told by their shares: it depends on which ones people tick together.",
        "Ask for two of them as questions of their own, with a table.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class TickedPart(SupportPart):
    """Shares of people who tick each option, where dummies fill up what is ticked."""

    several = True
    """See `Part.several`: people tick as many as they like."""

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: refused."""
        return _together()


@dataclass(frozen=True, slots=True, eq=False)
class AskedPart(Shares):
    """The same where a report is about one option, ticked or not."""

    value: FloatArray
    weights: Weights
    n: int
    several = True
    """See `Part.several`: people tick as many as they like."""

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: at the estimated share, brought to [0, 1]."""
        f = np.clip(self.value, 0, 1)
        return np.asarray(self.weights.variance(f, target) / self.n)

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: refused."""
        return _together()

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        first, last = (float(self.weights.variance(np.float64(f), "reporters")) / self.n for f in (0, 1))
        curve = drawn((first, last - first, 0.0), self.n, target)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)


@dataclass(frozen=True, kw_only=True)
class Several(Mechanism):
    """A set of outputs that is e^epsilon times as likely if it holds one of the own ones: what is ticked, and more.

    `marks` outputs are everybody's own. As many as may be ticked (`most`): dummies fill up what is ticked. As many as
    there are options: a report is about one option, ticked or not, and people tick as many as they like.
    """

    most: int
    marks: int
    size: int

    family: ClassVar[str] = "several"
    vetted: ClassVar[bool] = True
    subject: ClassVar[str] = ANSWERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", Ticks.over(self.domain, self.most))
        super().__post_init__()
        options, most = self.options, self.most
        either = self.marks in (most, options)
        require(either, "marks", self.marks, f"{most}, as many as may be ticked, or {options}, as many as there are")
        right = "1 where there are as many marks as options" if self.marks == options else f"from 1 to {options}"
        require(is_whole(self.size, 1, 1 if self.marks == options else options), "size", self.size, right)
        _ = SeveralKernel(options, most, self.marks, self.size, 1)  # its own limits

    @classmethod
    def best(
        cls, *, epsilon: float, domain: Domain, most: int, marks: int | None = None, size: int | None = None
    ) -> Several:
        """The marks and the size of least error, unless they are given."""
        where = Ticks.over(domain, most)
        found = best_design(check_epsilon(epsilon), where.options.k, where.most, marks, size)
        return cls(epsilon=epsilon, domain=where, most=where.most, marks=found[0], size=found[1])

    @property
    def where(self) -> Ticks:
        """The domain, which has options."""
        found = self.domain
        assert isinstance(found, Ticks)
        return found

    @property
    def options(self) -> int:
        """Number of options."""
        return self.where.options.k

    @cached_property
    def bulk(self) -> SeveralBulk:
        return SeveralBulk(SeveralKernel.calibrate(self.epsilon, self.options, self.most, self.marks, self.size))

    def entry_names(self, cell: str) -> Sequence[str]:
        """See `Mechanism.entry_names`: options, then what makes own outputs as many for everybody."""
        labels = self.domain.labels_or_numbers
        if self.marks == self.options:
            return (*labels, *(f"not {label}" for label in labels))
        return (*labels, *(f"dummy {i + 1}" for i in range(self.marks)))

    @cached_property
    def law(self) -> Support[float]:
        """How likely a report holds an output that is one of the own, or another; ideally."""
        return ticked_law(*epsilon_to(self.epsilon), self.options + self.marks, self.marks, self.size)

    @cached_property
    def weights(self) -> Weights:
        """The estimator with ideal parameters."""
        return Weights.of(self.law, self.options, self.most, self.marks)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "all sets that hold an own output share the probability keep/2^64 equally, all others the rest; everybody "
            "has as many own outputs, so these two likelihoods are all there are"
        )
        report = "report {" + ", ".join(map(str, range(self.size))) + "}"
        return Proof(self.bulk.kernel.ratio, "symmetry", text, Witness(report, 1, 0))

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        share, weights = tally.cells["support"][0] / tally.n, self.bulk.weights
        ticked, rest = share[: self.options], share[self.options :]
        if self.marks < self.options:
            return {"frequency": TickedPart(ticked, weights.law, tally.n)}
        return {"frequency": AskedPart(np.asarray(weights.unbias(ticked, rest)), weights, tally.n)}

    def estimate(self, tally: Tally) -> Estimate:
        """Unbiased shares of the people who tick each option; they do not sum to 1."""
        found = super().estimate(tally)
        return replace(found, steps=(*found.steps, "people tick several options: shares do not sum to 1"))

    def _fit(self, data: object, method: str, options: object) -> NoReturn:
        hint = "estimate() gives the share of people who tick each option."
        raise ParameterError("reports of ticks are about sets of options: their shares cannot be fitted.", hint)

    # ---- closed forms

    def _numbers(self, weights: Weights, n: float) -> dict[str, Any]:
        share = typical(self.options, self.most)[0]
        noise = float(weights.variance(np.float64(share), "reporters"))
        return {"p": weights.law.p, "q": weights.law.q, "mse": noise / n}

    @property
    def asr(self) -> float:
        """Success of the best guess of all that is ticked from one report, if all sets are equally common."""
        return float(self.law.p) * (self.options + self.marks) / (self.size * self.k)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the mean over options where all sets of options are equally common."""
        n, share = check_n(n), typical(self.options, self.most)[0]
        least = least_ticks(self.epsilon, self.options, self.most)
        found = {"ticked": share, **self._numbers(self.weights, n), "asr": self.asr} | report_size(self)
        cost = found["mse"] * n + share * (1 - share)
        bound = {"bound": (least - share * (1 - share)) / n} if least > share * (1 - share) else {}
        return found | bound | {"gap": cost / least - 1}

    def effective(self, n: float = 1) -> dict[str, Any]:
        kernel = self.bulk.kernel
        hits = sum(ways(kernel.outputs, kernel.marks, kernel.size)[1:])
        asr = kernel.keep / 2**WORD_BITS * math.comb(kernel.outputs, kernel.size) / hits / self.k
        return {"epsilon": self.epsilon_exact, **self._numbers(self.bulk.weights, check_n(n)), "asr": asr}

    def guess(self, prior: object = None) -> Guess:
        """The best guess of all that a person ticks, under a prior of all sets; uniform unless given."""
        if prior is None:
            return Guess(self.asr, 1 / self.k)
        pi = check_prior(prior, self.k)
        check_outputs(self.bulk.outputs, "these sets", self.k)
        own = self.bulk.own(np.arange(self.k))
        sets = list(combinations(range(self.bulk.kernel.outputs), self.size))
        member = np.array([own[:, list(chosen)].any(axis=1) for chosen in sets]).T
        order = np.argsort(-pi, kind="stable")
        first = first_to_cover(order, lambda item, outputs: member[item, outputs], len(sets))
        (inside, outside), (w, _) = self.bulk.kernel.reports, epsilon_to(self.epsilon)
        p = inside / (inside + w * outside)
        support = Support(p, 0.0, 0.0, 1 - p, 1.0, 0.0, 0.0)
        success = prior_success(support, math.exp(-self.epsilon), pi[order], first)
        return Guess(float(success), float(pi.max()))
