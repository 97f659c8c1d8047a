"""The contract of a mechanism: four small halves; everything else is derived from them here, once.

Client: `kernel` (the integers, and one report), `fields`, `perturb` (many reports at once).
Counter: `strata`, `cells`, `count`.
Channel: `channel` (all outputs, for small cases), `proof` (the exact worst ratio, for any size), `outputs`.
Estimator: `parts` (named point estimates with their covariance).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.coins import check_coins
from deniable.collect.reports import Design, Field, Reports, difference
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.types import Columns, FloatArray, IntArray, UintArray
from deniable.errors import (
    DeniableError,
    EnumerationError,
    FormatError,
    MergeError,
    ParameterError,
    PrivacyError,
    require,
)
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.estimate.fit import FitOptions
from deniable.estimate.result import Estimate, Part
from deniable.kernels import sparing
from deniable.kernels.parallel import blocks, run, shares
from deniable.mechanisms.fitting import fit_reports
from deniable.randomness import Simulation, Stream, secure
from deniable_client.exact import check_epsilon, exp_bounds
from deniable_client.kernels import Kernel, kernel_to

__all__ = ["OUTPUTS_MAX", "Mechanism", "check_outputs", "refuse_values"]

OUTPUTS_MAX = 20_000
"""Channels with at most this many outputs are enumerated."""
ENTRIES_MAX = 1 << 19
"""... and with at most this many outputs times values."""

_BLOCK_BYTES, _BLOCK_LEAST, _BLOCK_MOST = 1 << 20, 1 << 6, 1 << 16
"""Bytes of the reports that are made from one stream, and the least and the largest number of them."""
_COUNT_ROWS, _COUNT_BYTES = 1 << 14, 1 << 21
"""Fewer reports, and in fewer bytes, are counted by one thread."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A frozen value: two mechanisms with the same parameters are equal, and neither holds state or randomness."""

    epsilon: float
    domain: Domain
    name: str = ""
    """The registry name it was made under; families give their own by default."""
    selection: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """How a rule chose the own parameters, where one did: a record for people, no part of the design."""

    family: ClassVar[str]
    version: ClassVar[int] = 1
    vetted: ClassVar[bool] = False
    """Privacy is proved by exact enumeration and a written argument."""
    takes: ClassVar[str] = "values"
    """What one person hands in: a value, or something else that files and simulations of values do not have."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "domain", Domain.of(self.domain))
        object.__setattr__(self, "name", self.name or self.family)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """The mechanism of a design of this class; `from_design` checks that it comes out exactly the same."""
        return cls(epsilon=design["epsilon"], domain=domain, name=design["mechanism"], **design["params"])

    # ---- client

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """The integers that are sampled. `PrivacyError` where epsilon is too large for a sampler."""

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """The fields of a report, in order."""

    @abstractmethod
    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """Reports for items 0..k-1, as columns."""

    # ---- counter

    strata: ClassVar[tuple[str, ...]] = ("all",)

    @abstractmethod
    def count(self, columns: Columns) -> dict[str, IntArray]:
        """The tally's cells (by stratum) of a batch; `FormatError` for reports that no device can have sent."""

    def simulate_counts(self, counts: IntArray, rng: Simulation) -> dict[str, IntArray]:
        """The cells of the tally of counts[x] people with item x each, drawn from their law without any report.

        `ParameterError` where that law is not simple: families that know it say so by a method of their own.
        """
        raise ParameterError(
            f"the counts of {self.name} are not drawn without reports: its reports support items jointly.",
            "Draw the reports: m.tally(m.privatize_items(items, rng)).",
        )

    # ---- channel

    @property
    @abstractmethod
    def outputs(self) -> float:
        """Number of different reports, as a base-2 logarithm."""

    @abstractmethod
    def channel(self) -> Channel:
        """The exact channel of the integers that are sampled, output by output (small cases only)."""

    @property
    def channel_error(self) -> Fraction:
        """How far a probability of what is sampled may be from `channel`: 0 unless that idealises a hash."""
        return Fraction(0)

    @property
    @abstractmethod
    def proof(self) -> Proof:
        """The exact worst likelihood ratio, with the argument why it is the worst."""

    def likelihood(self, columns: Columns) -> FloatArray:
        """Likelihood of every value given each report, up to a factor per report; `ParameterError` where not known."""
        raise ParameterError(
            f"the likelihood of {self.name} is not written out, so nothing can be fitted to its reports.",
            "Use estimate(), or another mechanism.",
        )

    sufficient: ClassVar[bool] = False
    """The tally tells as much about the frequencies as the reports do: it counts every possible report."""

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """What batches of reports say about the frequencies."""
        rows = np.concatenate([np.empty((0, self.k)), *(self.likelihood(columns) for columns in batches)])
        return DenseEvidence(rows, np.ones(len(rows)))

    def tally_evidence(self, tally: Tally) -> Evidence:
        """What a tally says about the frequencies, for mechanisms whose tally is `sufficient`."""
        raise ParameterError(f"a tally of {self.name} tells less than its reports; give the reports.")

    # ---- estimator

    @abstractmethod
    def parts(self, tally: Tally) -> dict[str, Part]:
        """The estimated quantities, `frequency` first where there is one."""

    # ---- own parameters and closed forms

    @property
    @abstractmethod
    def params(self) -> dict[str, Any]:
        """Own parameters beside epsilon and the domain, by option name."""

    @abstractmethod
    def properties(self, n: float = 1) -> dict[str, Any]:
        """Closed-form properties of the ideal parameters for n reports, by the names of `deniable design`."""

    @abstractmethod
    def effective(self, n: float = 1) -> dict[str, Any]:
        """The same properties of the integers that are sampled."""

    @abstractmethod
    def guess(self, prior: object = None) -> Guess:
        """Success of the best guess of a value from its report, and of the best guess without one."""

    # ---- derived

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.domain.k

    @property
    def inputs(self) -> int:
        """Number of inputs that `channel` lists: the answers, unless people may give several at once."""
        return self.k

    @cached_property
    def design(self) -> Design:
        """The canonical design as plain data; what reports and tallies carry and devices check."""
        return {
            "mechanism": self.name,
            "version": self.version,
            "epsilon": self.epsilon,
            "domain": self.domain.document(),
            "params": self.params,
            "kernel": kernel_to(self.kernel),
        }

    @cached_property
    def epsilon_exact(self) -> float:
        """The exact epsilon of what is sampled, rounded up to a float; at most `epsilon`."""
        return self.proof.epsilon

    @cached_property
    def refusal(self) -> DeniableError | None:
        """Why no reports can be drawn (epsilon too large for exact sampling), or None if they can."""
        try:
            _ = self.kernel
        except DeniableError as error:
            return error
        return None

    @property
    def row_bytes(self) -> int:
        """Bytes of one report."""
        return sum(f.width for f in self.fields)

    def privatize(
        self, values: object, *, levels: object = None, coins: object = None, rng: Stream | None = None
    ) -> Reports:
        """Perturb values (labels, or numbers 0..k-1 where there are none), securely unless `rng` says otherwise.

        `coins`: public seeds dealt by the collector, one per value, for mechanisms that have a seed. They must have
        been dealt without looking at the values; the same person keeps the same coin (docs/maths/coins.md, section 4).
        """
        if levels is not None:
            raise ParameterError(f"{self.name} has one privacy level for all; leave out levels.")
        return self.privatize_items(self.domain.encode(values), rng, coins=coins)

    def privatize_items(self, items: IntArray, rng: Stream | None = None, *, coins: object = None) -> Reports:
        """`privatize` for items that are encoded already."""
        self._refuse_broken()
        stream = secure() if rng is None else rng
        dealt = None if coins is None else check_coins(coins, items.size)
        return Reports(self.design, self.fields, self._perturb_blocks(items, stream, dealt), stream.simulated)

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        """`perturb` with public seeds dealt beforehand, one for each item; `ParameterError` where there are none."""
        raise ParameterError(
            f"coins must be left out for {self.name}: its reports have no public seed that could be dealt.",
            "Mechanisms with a seed are lh, blh, olh, alh, plh and wheel.",
        )

    @property
    def block(self) -> int:
        """How many reports are made from one stream; it depends on the design alone, so that seeded runs repeat."""
        return max(_BLOCK_LEAST, min(_BLOCK_MOST, _BLOCK_BYTES // self.row_bytes))

    def _perturb_blocks(
        self,
        items: IntArray,
        stream: Stream,
        coins: UintArray | None = None,
        act: Callable[[IntArray, Stream], Columns] | None = None,
    ) -> Columns:
        """`perturb` (or `act`) block by block, on all cores, each block with a stream of its own."""

        def perturb(part: slice, own: Stream) -> Columns:
            if coins is None:
                return (act or self.perturb)(items[part], own)
            return self.perturb_dealt(items[part], coins[part], own)

        if items.size <= self.block:
            with sparing(items.size * self.k):
                return perturb(slice(None), stream)
        columns: Columns = {f.name: np.empty(f.shape(items.size), f.dtype) for f in self.fields}

        def fill(job: tuple[slice, Stream]) -> None:
            part, own = job
            for name, column in perturb(part, own).items():
                columns[name][part] = column

        parts = blocks(items.size, self.block)
        run(fill, zip(parts, stream.spawn(len(parts)), strict=True))
        return columns

    def tally(self, reports: Reports) -> Tally:
        """Count reports of this very design."""
        if reports.design != self.design:
            raise MergeError(f"these reports are of another design: {difference(self.design, reports.design)}.")
        if reports.fields != self.fields:
            raise FormatError(f"reports of this design have the fields {self.fields}, got {reports.fields}.")
        return Tally(self.design, self.strata, self._count_shares(reports), reports.simulated)

    def _count_shares(self, reports: Reports) -> dict[str, IntArray]:
        """`count` on all cores where there is much to count; counts are whole numbers, so their sum is the same."""
        if len(reports) < _COUNT_ROWS and reports.nbytes < _COUNT_BYTES:
            with sparing(len(reports) * self.k):
                return self.count(reports.columns)
        parts = shares(len(reports))
        counts = run(lambda part: self.count(reports[part].columns), parts)
        return {name: np.asarray(sum(c[name] for c in counts[1:]) + cell) for name, cell in counts[0].items()}

    def simulate_tally(self, counts: object, rng: Simulation) -> Tally:
        """The tally of a population with counts[x] people of item x, in the same law as if all of them had reported.

        For studies of errors over many runs: the time depends on k, not on the number of people.
        """
        if not isinstance(rng, Simulation):
            raise ParameterError(
                f"rng must be a seeded stream, got {type(rng).__name__}.", "Give deniable.simulation(seed)."
            )
        people = np.asarray(counts)
        whole = people.shape == (self.k,) and np.issubdtype(people.dtype, np.integer) and bool((people >= 0).all())
        require(whole, "counts", counts, f"{self.k} whole numbers >= 0, one per item")
        self._refuse_broken()
        return Tally(self.design, self.strata, self.simulate_counts(people.astype(np.int64), rng), simulated=True)

    def empty(self, *, simulated: bool = False) -> Tally:
        """The tally of no reports: the identity of `+`."""
        none = {f.name: np.empty(f.shape(0), f.dtype) for f in self.fields}
        return Tally(self.design, self.strata, self.count(none), simulated)

    def estimate(self, tally: Tally) -> Estimate:
        """Unbiased estimates with standard errors, from a tally of this very design."""
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        self.check_tally(tally)
        steps = (f"unbiased estimate from {tally.n} reports",)
        return Estimate(self.domain.labels_or_numbers, self.parts(tally), tally.n, self.design, tally.simulated, steps)

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally that is not of this very design."""
        if tally.design != self.design:
            raise MergeError(
                f"this tally is of another design: {difference(self.design, tally.design)}.",
                "A tally carries its design: dn.from_design(tally.design) is the mechanism to estimate it with.",
            )
        if tally.layout != self.empty().layout:
            raise FormatError(f"a tally of this design has the cells {self.empty().layout}, got {tally.layout}.")

    def fit(
        self,
        data: object,
        method: str = "em",
        *,
        stderr: str | None = "information",
        tolerance: float | None = None,
        max_steps: int = 2000,
        runs: int = 100,
        rng: Stream | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Estimate:
        """Frequencies fitted to reports, to batches of them, or to a tally where it is `sufficient`.

        `em`: maximum likelihood, stopped when the log-likelihood is provably within `tolerance` (0.02) nats of its
        maximum. `ems`: the same iteration with smoothing, for values in an order; stopped when no value changes by more
        than `tolerance` (1e-7). `count-aware`: the linear estimator for independent bits that weighs a report by its
        number of ones, unbiased. `calibrated`: unbiased, for mechanisms with a public hash seed; what the seeds at
        hand are known to do is taken off (docs/maths/coins.md). `stderr`: from the `information`, by `bootstrap`
        (`runs` times, `rng` seeded) or None. At most `max_steps` passes over the reports; `progress` hears of each
        with what the tolerance is compared to.
        """
        options = FitOptions(
            stderr=stderr, tolerance=tolerance, max_steps=max_steps, runs=runs, rng=rng, progress=progress
        )
        return fit_reports(self, data, method, options)

    @cached_property
    def _broken(self) -> bool:
        ratio = self.proof.ratio
        return ratio is None or ratio > exp_bounds(self.epsilon)[0]

    def _refuse_broken(self) -> None:
        if self._broken:
            raise PrivacyError(
                f"{self.name} promises epsilon {self.epsilon!r} but its exact epsilon is {self.proof.epsilon!r}; "
                "no report was made.",
                f"Witness: {self.proof.witness}.",
            )


def check_outputs(count: int, name: str, k: int = 1) -> None:
    """`EnumerationError` if a channel has too many outputs, or outputs times values, to enumerate."""
    if count > OUTPUTS_MAX or count * k > ENTRIES_MAX:
        raise EnumerationError(
            f"the channel of {name} has 2^{math.log2(count):.1f} outputs, too many to enumerate.",
            f"Use a smaller domain (at most {OUTPUTS_MAX} outputs); `proof` works for any size.",
        )


def refuse_values(column: np.ndarray[Any, Any], limit: int, name: str) -> None:
    """`FormatError` if a column has a value that is not below `limit`."""
    if column.size and int(column.max()) >= limit:
        raise FormatError(
            f"report field {name!r} has the value {int(column.max())}, the largest possible is {limit - 1}."
        )
