"""The contract of a mechanism: small halves; everything else is derived from them here, once.

Client, counter and channel: `bulk`, what depends on the sampled integers alone (mechanisms/bulk.py), and `proof`.
Estimator: `parts` (named point estimates with their covariance).
Own parameters and closed forms: `params`, `properties`, `effective`, `guess`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from deniable.collect.coins import check_coins
from deniable.collect.limits import too_many
from deniable.collect.reports import Design, Field, Reports, difference, new_id
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.protection import ANSWER, Protection
from deniable.core.types import IntArray
from deniable.errors import (
    DeniableError,
    FormatError,
    MergeError,
    ParameterError,
    PrivacyError,
    require,
)
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.bulk import Bulk
from deniable.mechanisms.showing import as_html, as_line, keep_line
from deniable.randomness import Simulation, Stream, stream_of
from deniable_client.exact import check_epsilon, exp_bounds
from deniable_client.kernels import AnyKernel, kernel_to

if TYPE_CHECKING:
    from deniable.estimate.fit import FitOptions

__all__ = ["Mechanism", "kept", "refuse_broken", "report_size"]


def _fitted(m: Mechanism, data: object, method: str, options: FitOptions) -> Estimate:
    """What `Mechanism.fit` does where a family has no methods of its own; loaded when somebody fits."""
    from deniable.mechanisms.fitting import fit_reports

    return fit_reports(m, data, method, options)


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
    subject: ClassVar[str] = ANSWER
    """The same by the name that statements of protection have for it."""

    __repr__ = as_line
    _repr_html_ = as_html
    __init_subclass__ = classmethod(keep_line)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "domain", Domain.of(self.domain))
        object.__setattr__(self, "name", self.name or self.family)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """The mechanism of a design of this class; `from_design` checks that it comes out exactly the same."""
        return cls(epsilon=design["epsilon"], domain=domain, name=design["mechanism"], **design["params"])

    def at(self, epsilon: float) -> Self:
        """The same mechanism with the same own parameters at another epsilon."""
        return replace(self, epsilon=epsilon)

    # ---- the half that depends on integers alone

    @property
    @abstractmethod
    def bulk(self) -> Bulk[Any]:
        """The kernel in bulk. `PrivacyError` where epsilon is too large for a sampler."""

    @property
    def kernel(self) -> AnyKernel:
        """The integers that are sampled."""
        kernel: AnyKernel = self.bulk.kernel
        return kernel

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a report, in order."""
        return self.bulk.fields

    def channel(self) -> Channel:
        """The exact channel of the integers that are sampled, output by output (small cases only)."""
        return self.bulk.channel()

    @property
    @abstractmethod
    def proof(self) -> Proof:
        """The exact worst likelihood ratio, with the argument why it is the worst."""

    @property
    def protection(self) -> Protection:
        """Who is protected from what: claims that the channel must keep (`deniable.testing.check_protection`)."""
        return Protection(epsilon=self.epsilon, subject=self.subject)

    # ---- estimator

    @abstractmethod
    def parts(self, tally: Tally) -> dict[str, Part]:
        """The estimated quantities, `frequency` first where there is one."""

    # ---- own parameters and closed forms

    @property
    def params(self) -> dict[str, Any]:
        """Own parameters beside epsilon and the domain, by option name: the fields that a family adds."""
        common = {f.name for f in fields(Mechanism)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in common}

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

    @cached_property
    def design(self) -> Design:
        """The canonical design as plain data; what reports and tallies carry and devices check."""
        kernel = kernel_to(self.kernel)
        return {
            "mechanism": self.name,
            "version": self.version,
            "epsilon": self.epsilon,
            "domain": self.domain.document(),
            "params": self.params,
            "kernel": kernel,
        }

    @cached_property
    def epsilon_exact(self) -> float:
        """The exact epsilon of what is sampled, rounded up to a float; at most `epsilon`."""
        return self.proof.epsilon

    @cached_property
    def refusal(self) -> DeniableError | None:
        """Why no reports can be drawn (epsilon too large for exact sampling), or None if they can."""
        try:
            _ = self.bulk
        except DeniableError as error:
            return error
        return None

    def privatize(
        self,
        values: object,
        *,
        column: Any = None,
        levels: object = None,
        coins: object = None,
        rng: Stream | None = None,
    ) -> Reports:
        """Perturb values (labels, or numbers 0..k-1 where there are none), securely unless `rng` says otherwise.

        They are a list, an array, a series, or a `column` of a frame.
        `coins`: public seeds dealt by the collector, one per value, for mechanisms that have a seed. They must have
        been dealt without looking at the values; the same person keeps the same coin (docs/maths/coins.md, section 4).
        """
        if levels is not None:
            raise ParameterError(f"{self.name} has one privacy level for all; leave out levels.")
        return self.privatize_items(self.domain.encode(values, column), rng, coins=coins)

    def privatize_items(self, items: IntArray, rng: Stream | None = None, *, coins: object = None) -> Reports:
        """`privatize` for items that are encoded already."""
        refuse_broken(self)
        stream = stream_of(rng)
        dealt = None if coins is None else check_coins(coins, items.size)
        columns = self.bulk.draw(items, stream, dealt)
        return Reports(self.design, self.fields, columns, stream.simulated, batches=(new_id(),))

    def tally(self, reports: Reports) -> Tally:
        """Count reports of this very design."""
        hint = (
            "Answers become reports first: m.tally(m.privatize(values)). Batches are added up: "
            "sum(m.tally(part) for part in batches). Bytes of devices: dn.Reports.from_rows."
        )
        require(isinstance(reports, Reports), "reports", reports, "what m.privatize(values) gives", hint)
        if reports.design != self.design:
            raise MergeError(f"these reports are of another design: {difference(self.design, reports.design)}.")
        if reports.fields != self.fields:
            own, got = (", ".join(f"{f.name} ({f.width} bytes)" for f in x.fields) for x in (self, reports))
            raise FormatError(f"reports of this design have the fields {own}, got {got}.")
        known = {"sources": reports.sources, "batches": reports.batches}
        cells, names = self.bulk.tally(reports), partial(entry_names, self)
        return Tally(self.design, self.bulk.strata, cells, reports.simulated, **known, names=names)

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
        refuse_broken(self)
        cells = self.bulk.simulate_counts(people.astype(np.int64), rng)
        return Tally(self.design, self.bulk.strata, cells, simulated=True, names=partial(entry_names, self))

    def empty(self, *, simulated: bool = False, most: float = math.inf) -> Tally:
        """The tally of no reports: the identity of `+`. `FormatError` where it has more than `most` cells."""
        bulk = self.bulk
        size = sum(map(math.prod, bulk.layout.values()))
        if size > most:
            raise too_many(size)
        none = {name: np.zeros(shape, np.int64) for name, shape in bulk.layout.items()}
        return Tally(self.design, bulk.strata, none, simulated, names=partial(entry_names, self))

    def estimate(self, tally: Tally) -> Estimate:
        """Unbiased estimates with standard errors, from a tally of this very design."""
        from deniable.mechanisms.fitting import check_tally  # loaded when somebody estimates

        if isinstance(tally, Reports):
            tally = self.tally(tally)
        check_tally(self, tally)
        steps = (f"unbiased estimate from {tally.n} reports",)
        return Estimate(self.domain.labels_or_numbers, self.parts(tally), tally.n, self.design, tally.simulated, steps)

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
        from deniable.estimate.fit import FitOptions

        options = FitOptions(
            stderr=stderr, tolerance=tolerance, max_steps=max_steps, runs=runs, rng=rng, progress=progress
        )
        return self._fit(data, method, options)

    _fit = _fitted
    """`fit` with its options put together: families that have other methods replace it."""


def entry_names(m: Mechanism, cell: str) -> Sequence[str]:
    """The names of what the entries of a cell of its tallies are about."""
    found = m.bulk.cells[cell]
    return found.about.names(m.domain.labels_or_numbers, found.size)


def report_size(m: Mechanism) -> dict[str, float]:
    """The properties `bits` and `bytes` of a report, where any can be drawn."""
    return {} if m.refusal else {"bits": m.bulk.outputs, "bytes": m.bulk.row_bytes}


def kept(m: Mechanism) -> bool:
    """Whether the exact ratio is at most a certified lower bound of e^epsilon."""
    return m.proof.ratio is not None and m.proof.ratio <= exp_bounds(m.epsilon)[0]


def refuse_broken(m: Mechanism) -> None:
    """`PrivacyError` for a mechanism that leaks more than it promises."""
    if not kept(m):
        raise PrivacyError(
            f"{m.name} promises epsilon {m.epsilon!r} but its exact epsilon is {m.proof.epsilon!r}; "
            "no report was made.",
            f"Witness: {m.proof.witness}.",
        )
