"""Several questions in one report: a random box of sets, e^epsilon times as likely if it holds all own answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior, first_to_cover, prior_success
from deniable.core.intervals import Interval
from deniable.core.laws import epsilon_to, ratio_to
from deniable.core.protection import ANSWERS
from deniable.core.support import Support, check_n
from deniable.core.types import BoolArray, Columns, FloatArray, IntArray, Target
from deniable.errors import FormatError, ParameterError, is_whole, require
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Estimate, Part, Shares
from deniable.kernels import loops
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Cells, Packed, check_outputs, no_ones_after, one_stratum
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.possible import Cell, Entries
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.survey.bounds import least_sum
from deniable.mechanisms.survey.laws import best_shape, box, box_costs, box_information, cell, sampling
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD, WORD_BITS, check_epsilon
from deniable_client.kernels import Box as BoxKernel
from deniable_client.kernels.box import QUESTIONS_MAX

__all__ = ["Box", "joint"]


class BoxReader(Reader["BoxBulk"]):
    """Reports seen through their likelihood: all sets of answers in a box are equally likely, and so are the others."""

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: 1 for sets of answers in the box, else one over the ratio."""
        held, k = np.ones((len(columns["bits"]), 1), np.bool_), 1
        for bits, size in zip(self.bulk.sets(columns), self.bulk.kernel.sizes, strict=True):
            k *= size
            held = (held[:, :, None] & bits[:, None, :]).reshape(len(bits), k)
        return np.where(held, 1.0, 1 / float(self.bulk.kernel.lift))


class BoxBulk(Packed[BoxKernel]):
    """Boxes for many people: a report has a bit for each answer to each question."""

    reads: ClassVar[type[Reader[Any]]] = BoxReader

    @property
    def ends(self) -> tuple[int, ...]:
        """The bit of the first answer to each question, and the number of all bits."""
        return (*self.kernel.starts, sum(self.kernel.sizes))

    @cached_property
    def outputs(self) -> float:
        return sum(log2_comb(k, s) for k, s in zip(self.kernel.sizes, self.kernel.shape, strict=True))

    @cached_property
    def supports(self) -> list[Support[Fraction]]:
        """The support probabilities of each question's answers."""
        return box(*ratio_to(self.kernel.lift), self.kernel.sizes, self.kernel.shape)

    @cached_property
    def stands_for(self) -> IntArray:
        """See `Bulk.stands_for`: one answer to each question."""
        numbers = np.unravel_index(np.arange(self.k), self.kernel.sizes)
        return np.concatenate(
            [np.eye(k, dtype=np.int64)[own] for k, own in zip(self.kernel.sizes, numbers, strict=True)], axis=1
        )

    # ---- client

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Bulk.perturb`: sets up to the first one that misses hold the own answer, those after it may."""
        kernel, n = self.kernel, items.size
        kept = bernoulli(rng, kernel.keep, n)
        miss = self._first_miss(below(rng, kernel.levels[1], n))
        own = np.unravel_index(items, kernel.sizes)
        found = []
        for j, (k, s) in enumerate(zip(kernel.sizes, kernel.shape, strict=True)):
            by_chance = (j > miss) & (below(rng, k, n) < s)
            holds = kept | (j < miss) | by_chance
            found.append(subset_bits(rng, k, np.full(n, s), np.asarray(own[j], np.int64), holds))
        return {"bits": self._packed(found)}

    def _first_miss(self, drawn: IntArray) -> IntArray:
        """`Box.first_miss` of the kernel for many numbers."""
        sizes, shape = self.kernel.sizes, self.kernel.shape
        ways = [
            math.prod(shape[:j]) * (k - s) * math.prod(sizes[j + 1 :])
            for j, (k, s) in enumerate(zip(sizes, shape, strict=True))
        ]
        return np.searchsorted(np.cumsum(ways), drawn, side="right")

    def blind(self, n: int, rng: Stream) -> Columns:
        found = []
        for k, s in zip(self.kernel.sizes, self.kernel.shape, strict=True):
            first = below(rng, k, n) < s
            found.append(subset_bits(rng, k, np.full(n, s), np.zeros(n, np.int64), first))
        return {"bits": self._packed(found)}

    def _packed(self, rows: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        """Sets of answers to each question, each packed alone, as one packed row per report."""
        sizes = self.kernel.sizes
        bits = [np.unpackbits(own, axis=1, count=k, bitorder="little") for own, k in zip(rows, sizes, strict=True)]
        return np.packbits(np.concatenate(bits, axis=1), axis=1, bitorder="little")

    # ---- counter

    @property
    def cells(self) -> Mapping[str, Cell]:
        size = sum(self.kernel.sizes)
        held = sum(self.kernel.shape)
        return {"support": Cell(size, total=(held, held), about=Entries("answer", answers=False))}

    def sets(self, columns: Columns) -> list[BoolArray]:
        """The set of answers to each question, one row of truth values per report."""
        rows = columns["bits"].astype(np.uint8, copy=False)
        bits = np.unpackbits(rows, axis=1, count=self.ends[-1], bitorder="little").astype(np.bool_)
        return [bits[:, start:end] for start, end in pairwise(self.ends)]

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: a set of the right size for each question, and nothing else."""
        right = no_ones_after(columns["bits"].astype(np.uint8, copy=False), self.ends[-1])
        for own, size in zip(self.sets(columns), self.kernel.shape, strict=True):
            right &= own.sum(axis=1) == size
        return right

    def count(self, columns: Columns) -> Cells:
        if not self.possible(columns).all():
            shape = ", ".join(map(str, self.kernel.shape))
            raise FormatError(f"a report is no box: its sets must have {shape} answers to the questions, in order.")
        return one_stratum(columns, loops().count_bits(columns["bits"], 8 * self.kernel.width)[: self.ends[-1]])

    def check(self, cells: Cells) -> None:
        """See `Bulk.check`: for each question, every report supports as many answers as its set has."""
        super().check(cells)
        for j, (start, end) in enumerate(pairwise(self.ends)):
            size = self.kernel.shape[j]
            Cell(end - start, total=(size, size)).check("support", cells["support"][0, start:end], int(cells["n"][0]))

    # ---- channel

    def boxes(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """All boxes: a set of answers to each question."""
        sets = (combinations(range(k), s) for k, s in zip(self.kernel.sizes, self.kernel.shape, strict=True))
        return product(*sets)

    def channel(self) -> Channel:
        kernel, k = self.kernel, self.k
        check_outputs(self.outputs, "these boxes", k)
        (inside, outside), keep = kernel.reports, kernel.keep
        own, other = keep * outside, (WORD - keep) * inside
        names, weights, held = [], [], []
        for sets in self.boxes():
            cells = {int(np.ravel_multi_index(x, kernel.sizes)) for x in product(*sets)}
            names.append("report " + " x ".join("{" + ", ".join(map(str, own)) + "}" for own in sets))
            weights.append(tuple(own if x in cells else other for x in range(k)))
            held.append(frozenset(start + i for start, chosen in zip(kernel.starts, sets, strict=True) for i in chosen))
        return Channel(tuple(names), tuple(weights), inside * outside << WORD_BITS, tuple(held))


@dataclass(frozen=True, slots=True, eq=False)
class BoxPart(Shares):
    """Shares of the answers to all questions, those to one after the other."""

    each: tuple[SupportPart, ...]

    @property
    def value(self) -> FloatArray:
        return np.concatenate([part.value for part in self.each])

    def variance(self, target: Target) -> FloatArray:
        return np.concatenate([part.variance(target) for part in self.each])

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: of one question; that of several depends on how answers to them hang together."""
        if len(self.each) == 1:
            return self.each[0].covariance(target)
        raise ParameterError(
            "the covariance of answers to different questions is not told by their shares.",
            "Of each question alone it is: m.questions(tally)[0].covariance().",
        )

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: all at once with the level divided among all answers."""
        own = 1 - (1 - level) / self.value.size if simultaneous else level
        ends = [part.interval(own, target, False) for part in self.each]
        low, high = np.concatenate([e.low for e in ends]), np.concatenate([e.high for e in ends])
        told = {note for e in ends for note in e.notes}
        notes = {note: np.concatenate([_noted(e, note) for e in ends]) for note in sorted(told)}
        return replace(ends[0], low=low, high=high, level=level, simultaneous=simultaneous, notes=notes)

    @property
    def several(self) -> bool:
        """See `Part.several`: everybody has an answer to each question."""
        return len(self.each) > 1


def _noted(ends: Interval, note: str) -> BoolArray:
    """Which intervals a note is about."""
    return np.asarray(ends.notes.get(note, np.zeros(ends.low.size, np.bool_)))


@dataclass(frozen=True, kw_only=True)
class Box(Mechanism):
    """One set of answers to each of several questions, a box, e^epsilon times as likely if it holds all own answers.

    Where answers are few and epsilon is large it tells more of every question than asking one of them would.
    """

    sizes: tuple[int, ...]
    shape: tuple[int, ...]

    family: ClassVar[str] = "box"
    vetted: ClassVar[bool] = True
    subject: ClassVar[str] = ANSWERS

    def __post_init__(self) -> None:
        sizes, shape = whole_numbers("sizes", self.sizes), whole_numbers("shape", self.shape)
        _check_sizes(sizes)
        require(len(shape) == len(sizes), "shape", shape, f"{len(sizes)} whole numbers, one for each question")
        wrong = [s for k, s in zip(sizes, shape, strict=True) if not 1 <= s < k]
        hint = "A set has at least one answer, and not all of them."
        require(not wrong, "shape", shape, "from 1 to the question's number of answers less 1", hint)
        k = math.prod(sizes)
        given = Domain.of(self.domain)
        require(given.k == k, "domain", given.allowed, f"{k:,} sets of answers, as many as these sizes give")
        object.__setattr__(self, "domain", Domain.of(k) if isinstance(given, Joint) else given)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "shape", shape)
        super().__post_init__()

    @classmethod
    def over(cls, *, epsilon: float, domain: Domain, shape: object = None) -> Box:
        """With the best shape, unless one is given."""
        hint = "For example sizes=(2, 3), or --sizes 2,3: how many answers each question has."
        require(isinstance(domain, Joint), "domain", domain, "given by sizes", hint)
        sizes: tuple[int, ...] = domain.sizes  # type: ignore[attr-defined]  # it is one
        chosen = best_shape(check_epsilon(epsilon), sizes) if shape is None else whole_numbers("shape", shape)
        return cls(epsilon=epsilon, domain=domain, sizes=sizes, shape=chosen)

    @cached_property
    def bulk(self) -> BoxBulk:
        return BoxBulk(BoxKernel.calibrate(self.epsilon, self.sizes, self.shape))

    @property
    def params(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes), "shape": list(self.shape)}

    def numbers(self, answers: Sequence[IntArray]) -> IntArray:
        """The number of each person's answers to all questions, given those to each of them."""
        return np.ravel_multi_index(tuple(np.asarray(own, np.int64) for own in answers), self.sizes).astype(np.int64)

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of all answers to all questions, in the order of a report's bits."""
        return tuple(f"q{j + 1}: {a}" for j, k in enumerate(self.sizes) for a in range(k))

    @cached_property
    def supports(self) -> list[Support[float]]:
        """The ideal support probabilities of each question's answers (Y8)."""
        return box(*epsilon_to(self.epsilon), self.sizes, self.shape)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "all boxes that hold the own answers share the probability keep/2^64 equally, all others the rest; as many "
            "boxes hold one set of answers as any other, so these two likelihoods are all there are"
        )
        sets = " x ".join("{" + ", ".join(map(str, range(s))) + "}" for s in self.shape)
        return Proof(self.bulk.kernel.ratio, "symmetry", text, Witness(f"report {sets}", 0, self.k - 1))

    # ---- estimator

    def _each(self, tally: Tally) -> tuple[SupportPart, ...]:
        check_reports(tally)
        share = tally.cells["support"][0] / tally.n
        own = zip(pairwise(self.bulk.ends), self.bulk.supports, strict=True)
        return tuple(SupportPart(share[start:end], support.map(float), tally.n) for (start, end), support in own)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the shares of all answers to all questions; see `questions` for each alone."""
        return {"frequency": BoxPart(self._each(tally))}

    def estimate(self, tally: Tally) -> Estimate:
        """Unbiased shares of the answers to each question, one question after the other."""
        return replace(super().estimate(tally), labels=self.entries)

    def questions(self, tally: Tally, labels: Sequence[Sequence[str]] | None = None) -> list[Estimate]:
        """An estimate for each question, with its labels where these are given."""
        whole = self.estimate(tally)
        named = [tuple(map(str, range(k))) for k in self.sizes] if labels is None else [tuple(own) for own in labels]
        parts = zip(named, self._each(tally), strict=True)
        return [replace(whole, labels=own, parts={"frequency": part}) for own, part in parts]

    # ---- closed forms

    @property
    def asr(self) -> float:
        """Success of the best guess of all answers from one report, if all sets of them are equally common."""
        return float(cell(*epsilon_to(self.epsilon), self.sizes, self.shape)[0] / math.prod(self.shape))

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: lists have a number for each question."""
        n = check_n(n)
        told = box_information(self.epsilon, self.sizes, self.shape)
        costs = box_costs(self.epsilon, self.sizes, self.shape)
        drawn = [sampling(k) for k in self.sizes]
        bound = least_sum(self.epsilon, self.sizes, [1.0] * len(self.sizes))
        numbers = {"information": told, **self._numbers(self.supports, n), "asr": self.asr} | report_size(self)
        return numbers | {"bound": (bound - sum(drawn)) / n, "gap": sum(costs) / bound - 1}

    def effective(self, n: float = 1) -> dict[str, Any]:
        supports = [support.map(float) for support in self.bulk.supports]
        asr = self.bulk.kernel.keep / 2**WORD_BITS / math.prod(self.shape)
        return {"epsilon": self.epsilon_exact, **self._numbers(supports, check_n(n)), "asr": asr}

    def _numbers(self, supports: Sequence[Support[float]], n: float) -> dict[str, Any]:
        mse = [float(support.mse(k, n)) for support, k in zip(supports, self.sizes, strict=True)]
        return {"p": [float(s.p) for s in supports], "q": [float(s.q) for s in supports], "mse": mse}

    def guess(self, prior: object = None) -> Guess:
        """The best guess of all answers of a person, under a prior of all sets of answers; uniform unless given."""
        if prior is None:
            return Guess(self.asr, 1 / self.k)
        pi = check_prior(prior, self.k)
        check_outputs(self.bulk.outputs, "these boxes", self.k)
        held = [{int(np.ravel_multi_index(x, self.sizes)) for x in product(*sets)} for sets in self.bulk.boxes()]
        member = np.array([[x in own for own in held] for x in range(self.k)])
        order = np.argsort(-pi, kind="stable")
        first = first_to_cover(order, lambda item, outputs: member[item, outputs], len(held))
        p, p_not = cell(*epsilon_to(self.epsilon), self.sizes, self.shape)
        support = Support(p, 0.0, 0.0, p_not, 1.0, 0.0, 0.0)
        success = prior_success(support, math.exp(-self.epsilon), pi[order], first)
        return Guess(float(success), float(pi.max()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(Domain):
    """All sets of answers to questions of these sizes, the last of which counts fastest."""

    sizes: tuple[int, ...] = ()


def joint(options: dict[str, Any]) -> Joint | None:
    """The sets of answers that the option `sizes` describes, which is taken out of the options; None without it."""
    if "sizes" not in options:
        return None
    sizes = whole_numbers("sizes", options.pop("sizes"))
    _check_sizes(sizes)
    return Joint(k=math.prod(sizes), sizes=sizes)


def whole_numbers(name: str, given: object) -> tuple[int, ...]:
    """Whole numbers from a list, or from a text with commas between them."""
    parts: Any = given.split(",") if isinstance(given, str) else given
    hint = f"For example {name}=(2, 3), or --{name} 2,3."
    listed = isinstance(parts, Sequence | np.ndarray) and len(parts) > 0
    require(listed, name, given, "whole numbers, one for each question", hint)
    texts = isinstance(given, str)
    numbers = [int(part) if texts and part.strip().isdecimal() else part for part in parts]
    odd = [number for number in numbers if not is_whole(number, 0, 2**32)]
    require(not odd, name, given, "whole numbers, one for each question", hint)
    return tuple(map(int, numbers))


def _check_sizes(sizes: tuple[int, ...]) -> None:
    few = len(sizes) <= QUESTIONS_MAX
    require(few, "sizes", sizes, f"those of at most {QUESTIONS_MAX} questions", "Ask them in several blocks.")
    hint = "A question with one answer asks nothing: leave it out."
    require(min(sizes) >= 2, "sizes", sizes, "at least 2 answers to each question", hint)
    Domain.of(math.prod(sizes))
