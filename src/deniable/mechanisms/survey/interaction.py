"""What several questions have to do with each other, without their margins: `interaction`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, ClassVar, NoReturn

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import ratio_to, subset
from deniable.core.protection import ANSWERS
from deniable.core.support import check_n
from deniable.core.types import BoolArray, Bytes, Columns, FloatArray, IntArray, Target, UintArray
from deniable.errors import EnumerationError, FormatError, InWords, ParameterError, is_whole, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import NormalPart, Part
from deniable.kernels import loops
from deniable.kernels.hashing import split64
from deniable.kernels.parallel import blocks
from deniable.kernels.permutation import permute, permute_all
from deniable.kernels.sampling import below, subset_bits
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Bulk, Cells, check_outputs, fresh_seeds, no_ones_after, one_stratum, two_level
from deniable.mechanisms.frequency.subset import log2_comb
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.survey.box import whole_numbers
from deniable.mechanisms.survey.effects import Effects, best_buckets, interaction_of
from deniable.randomness import Stream, bernoulli
from deniable_client.kernels import Interaction as InteractionKernel
from deniable_client.kernels import promised_ratio
from deniable_client.kernels.interaction import BUCKETS_MAX, QUESTIONS_MAX

__all__ = ["Interaction"]

CELLS_MAX = 1 << 20
"""Tallies count every cell."""
_AT_ONCE = 1 << 20
"""Cells of reports that are looked up together."""


def check_sizes(sizes: object) -> tuple[int, ...]:
    """Numbers of answers of several questions: a list, or text such as "3,4"."""
    found = whole_numbers("sizes", sizes)
    hint = "For example sizes=(3, 4), or --sizes 3,4."
    several = 2 <= len(found) <= QUESTIONS_MAX and min(found) >= 2
    require(several, "sizes", sizes, f"those of 2 to {QUESTIONS_MAX} questions, with 2 answers or more each", hint)
    few = "Group answers, or take fewer questions together."
    require(math.prod(found) <= CELLS_MAX, "sizes", sizes, f"such that there are at most {CELLS_MAX:,} cells", few)
    return found


class InteractionReader(Reader["InteractionBulk"]):
    """The likelihood of cells; it tells interactions alone, so that no table can be fitted to it."""

    traits = ()
    """See `Reader.traits`: none, as no method fits interactions."""

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: 1 where a cell is supported, else 1/`ratio`."""
        member = np.unpackbits(self.bulk.supported(columns), axis=1, count=self.bulk.k, bitorder="little")
        lift = float(self.bulk.kernel.lift)
        return np.where(member == 1, lift, 1.0) / max(lift, 1.0)


class InteractionBulk(Bulk[InteractionKernel]):
    """Interactions for many people: a report is a seed, and a set of buckets as bits."""

    reads: ClassVar[type[Reader[Any]]] = InteractionReader

    @property
    def fields(self) -> tuple[Field, ...]:
        return Field("seed", "uint", 8), Field("bits", "bytes", self.kernel.width - 8)

    @property
    def outputs(self) -> float:
        return 64 + log2_comb(self.kernel.g, self.kernel.size)

    @cached_property
    def effects(self) -> Effects:
        """The law of what is sampled."""
        kernel = self.kernel
        return Effects(kernel.sizes, kernel.g, subset(*ratio_to(kernel.ratio), kernel.g, kernel.size).map(float))

    # ---- client

    def places(self, items: IntArray, coins: UintArray) -> IntArray:
        """The buckets of cells, each under its own seed: `Interaction.place` of the kernel."""
        answers = np.unravel_index(items, self.kernel.sizes)
        hashed = (
            permute(split64(coins, i), own, full)
            for i, (own, full) in enumerate(zip(answers, self.kernel.padded, strict=True), start=1)
        )
        return np.asarray(sum(hashed) % self.kernel.g)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return self.perturb_dealt(items, fresh_seeds(items.size, rng), rng)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        kernel = self.kernel
        kept = bernoulli(rng, kernel.keep, items.size)
        sizes = np.full(items.size, kernel.size)
        return {"seed": coins, "bits": subset_bits(rng, kernel.g, sizes, self.places(items, coins), kept)}

    def blind(self, n: int, rng: Stream) -> Columns:
        kernel, seeds = self.kernel, fresh_seeds(n, rng)
        first, sizes = below(rng, kernel.g, n) < kernel.size, np.full(n, kernel.size)
        return {"seed": seeds, "bits": subset_bits(rng, kernel.g, sizes, np.zeros(n, np.int64), first)}

    # ---- counter

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"support": Cell(self.k, total=(0, self.k))}

    def possible(self, columns: Columns) -> BoolArray:
        """See `Bulk.possible`: any seed with a set of the right size."""
        rows = columns["bits"].astype(np.uint8, copy=False)
        right: BoolArray = np.equal(loops().popcounts(rows), self.kernel.size)
        return right & no_ones_after(rows, self.kernel.g)

    def members(self, columns: Columns) -> BoolArray:
        """Which cells (columns) each report (rows) supports."""
        kernel, seeds = self.kernel, columns["seed"].astype(np.uint64, copy=False)
        n, total = seeds.size, np.zeros((seeds.size, 1), np.uint16)
        for i, (own, full) in enumerate(zip(kernel.sizes, kernel.padded, strict=True), start=1):
            each = (permute_all(split64(seeds, i), own, full) % kernel.g).astype(np.uint16)
            total = (total[:, :, None] + each[:, None, :]).reshape(n, -1)
        total %= np.uint16(kernel.g)
        bits = columns["bits"].astype(np.uint8, copy=False)
        width = next((width for width in (1, 2, 4, 8) if kernel.g <= 8 * width), None)
        if width is None:
            held = np.unpackbits(bits, axis=1, count=kernel.g, bitorder="little")
            return np.take_along_axis(held, total, axis=1).astype(np.bool_)
        rows = np.zeros((n, width), np.uint8)
        rows[:, : bits.shape[1]] = bits
        words = rows.view(f"<u{width}")  # the whole set as one number
        told: BoolArray = (np.right_shift(words, total.astype(words.dtype)) & words.dtype.type(1)).astype(np.bool_)
        return told

    def _members(self, columns: Columns) -> Any:
        """The same, block by block."""
        for part in blocks(len(columns["seed"]), max(1, _AT_ONCE // self.k)):
            yield self.members({name: column[part] for name, column in columns.items()})

    def count(self, columns: Columns) -> Cells:
        if not self.possible(columns).all():
            raise FormatError(f"a report is not a set of {self.kernel.size} out of {self.kernel.g} buckets.")
        support = np.zeros(self.k, np.int64)
        for member in self._members(columns):
            support += member.sum(axis=0)
        return one_stratum(columns, support)

    def supported(self, columns: Columns) -> Bytes:
        """The cells that reports support, one row of packed bits (lowest first) per report."""
        rows = [np.packbits(member, axis=1, bitorder="little") for member in self._members(columns)]
        return np.concatenate([np.zeros((0, -(-self.k // 8)), np.uint8), *rows])

    # ---- channel

    def channel(self) -> Channel:
        """See `Bulk.channel`: over all balanced hashes of each question, each as likely as any other."""
        kernel = self.kernel
        g, size = kernel.g, kernel.size
        hashes = sum(math.lgamma(full + 1) - g * math.lgamma(full // g + 1) for full in kernel.padded) / math.log(2)
        check_outputs(hashes + log2_comb(g, size), "these interactions", self.k)
        every = list(product(*(_balanced(full, g) for full in kernel.padded)))
        sets = [frozenset(chosen) for chosen in combinations(range(g), size)]
        cells = list(product(*(range(own) for own in kernel.sizes)))
        sums = [[sum(h[a] for h, a in zip(each, cell, strict=True)) % g for cell in cells] for each in every]
        held = [frozenset(x for x, z in enumerate(own) if z in chosen) for own in sums for chosen in sets]
        labels = [f"hashes {each} buckets {sorted(chosen)}" for each in every for chosen in sets]
        return two_level(kernel, labels, held, math.comb(g - 1, size - 1), math.comb(g - 1, size), len(every))


def _balanced(full: int, g: int) -> list[tuple[int, ...]]:
    """All maps of so many answers to g buckets that send as many to each."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(full):
        found = [(*own, bucket) for own in found for bucket in range(g) if own.count(bucket) < full // g]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class InteractionPart(NormalPart):
    """Interactions of all cells, estimated from support counts.

    Reports do not tell how far the people who sent them are from the population, since that depends on the margins: the
    variances for both are those for the population, which are the larger ones.
    """

    share: FloatArray
    """Share of the reports that support each cell."""
    law: Effects
    n: int
    several = True
    """See `Part.several`: they are no shares, and do not sum to 1."""

    @property
    def value(self) -> FloatArray:
        return np.asarray((self.share - self.law.base) / self.law.slope)

    def variance(self, target: Target) -> FloatArray:
        return np.asarray(self.share * (1 - self.share) / (self.n * self.law.slope**2))

    def covariance(self, target: Target) -> FloatArray:
        joint = self.law.joint(self.value.reshape(self.law.sizes))
        return np.asarray((joint - np.outer(self.share, self.share)) / (self.n * self.law.slope**2))


@dataclass(frozen=True, kw_only=True)
class Interaction(Mechanism):
    """The interaction of two or more questions: what is left of their table after its margins.

    Every answer is hashed to one of `g` buckets by a public balanced hash of the report's own; the report is a set of
    `size` buckets that holds the sum of the buckets, modulo g, with probability size e/(size e + g - size). A value is
    the number of a cell, the last question counting fastest (`cell`). Privacy holds for all hashes; that they behave
    like random ones is an assumption, as for `plh` (docs/maths/tables.md).
    """

    sizes: tuple[int, ...]
    g: int
    size: int
    family: ClassVar[str] = "interaction"
    vetted: ClassVar[bool] = True
    subject: ClassVar[str] = ANSWERS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sizes", check_sizes(self.sizes))
        cells = math.prod(self.sizes)
        require(self.k == cells, "domain", InWords(f"{self.k} answers"), f"the {cells} cells of {self.sizes}")
        require(is_whole(self.g, 2, BUCKETS_MAX), "g", self.g, f"an integer from 2 to {BUCKETS_MAX}")
        require(is_whole(self.size, 1, self.g - 1), "size", self.size, f"an integer from 1 to g-1 = {self.g - 1}")

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Any = None, sizes: object = None, g: int | None = None, size: int | None = None
    ) -> Interaction:
        """With the buckets of least variance, unless they are given."""
        given = getattr(domain, "sizes", None) if sizes is None else sizes
        hint = "A table needs the numbers of answers of its questions."
        require(given is not None, "sizes", given, "given for interaction, such as sizes=(3, 4)", hint)
        found = check_sizes(given)
        cells = domain if domain is not None and sizes is not None else Domain.of(math.prod(found))
        if g is None:
            require(size is None, "size", size, "left out where g is", "Give both, or neither.")
            g, size = best_buckets(epsilon, found)
        require(is_whole(g, 2, BUCKETS_MAX), "g", g, f"an integer from 2 to {BUCKETS_MAX}")
        if size is None:
            size = best_subset_size(g, epsilon)
        return cls(epsilon=epsilon, domain=cells, sizes=found, g=g, size=size)

    @property
    def params(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes), "g": self.g, "size": self.size}

    @cached_property
    def bulk(self) -> InteractionBulk:
        return InteractionBulk(InteractionKernel.calibrate(self.epsilon, self.sizes, self.g, self.size))

    @cached_property
    def effects(self) -> Effects:
        """The law with ideal probabilities."""
        return Effects.ideal(self.epsilon, self.sizes, self.g, self.size)

    def cell(self, *answers: object) -> IntArray:
        """The numbers of cells, from the numbers of the answers to each question.

        >>> Interaction.optimal(epsilon=1.0, sizes=(3, 4)).cell([0, 2], [3, 0]).tolist()
        [3, 8]
        """
        require(len(answers) == len(self.sizes), "answers", len(answers), f"lists of {len(self.sizes)} questions")
        each = [Domain.of(own).encode(given) for own, given in zip(self.sizes, answers, strict=True)]
        people = sorted({own.size for own in each})
        require(len(people) == 1, "answers", InWords(f"of {people} people"), "of the same people")
        return np.asarray(np.ravel_multi_index(each, self.sizes))

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the seed is drawn independently of the answers, so its probability cancels; given any hashes the report "
            "is subset selection on the sum of the buckets: a set that holds it has the mass "
            "keep/(2^64 C(g-1,size-1)), any other one (2^64 - keep)/(2^64 C(g-1,size))"
        )
        output = "any seed that sends cells 0 and 1 to different sums, with a set that holds that of 0 alone"
        return Proof(promised_ratio(self.kernel), "conditioning on the public seed", text, Witness(output, 0, 1))

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the interaction of every cell."""
        check_reports(tally)
        share = tally.cells["support"][0] / tally.n
        return {"interaction": InteractionPart(share, self.bulk.effects, tally.n)}

    def _fit(self, data: object, method: str, options: object) -> NoReturn:
        hint = "estimate() gives the interactions; a table needs reports about its margins too."
        raise ParameterError("reports of interactions say nothing about margins: no table can be fitted to them.", hint)

    def interaction_of(self, table: object) -> FloatArray:
        """The interactions of a known table, by the same definition: what estimates are on average."""
        shares = np.asarray(table, np.float64)
        require(shares.size == self.k, "table", InWords(f"{shares.size} cells"), f"the shares of {self.k} cells")
        return interaction_of(shares.reshape(self.sizes), self.effects.padded).reshape(-1)

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of the whole cell; where there are too many hashes to go through, at most that."""
        known = np.full(self.k, 1 / self.k) if prior is None else np.asarray(check_prior(prior, self.k))
        blind = float(known.max())
        try:
            channel = None if self.refusal else self.channel()
        except EnumerationError:
            channel = None
        if channel is not None:
            chances = np.array([[weight / channel.total for weight in row] for row in channel.weights])
            return Guess(float((chances * known).max(axis=1).sum()), blind)
        w = math.exp(-self.epsilon)
        told = blind * self.g / (self.size + (self.g - self.size) * w)
        return Guess(min(told, blind / (blind + (1 - blind) * w)), blind)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: errors of an interaction, all answers being equally common."""
        return self._numbers(self.effects, n) | {"asr": self.guess().success} | report_size(self)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._numbers(self.bulk.effects, n)

    def _numbers(self, law: Effects, n: float) -> dict[str, Any]:
        n, variance = check_n(n), law.variance()
        mse = (variance - law.drawn()) / n
        told = {"p": law.buckets.p, "slope": law.slope, "mse": mse, "mse_sum": self.k * mse}
        return told | {"variance_population": variance / n, "padded": list(law.padded)}
