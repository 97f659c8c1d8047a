"""The contract of a mechanism: small halves; everything else is derived from them here, once.

Client, counter and channel: `bulk`, what depends on the sampled integers alone (mechanisms/bulk.py), and `proof`.
Estimator: `parts` (named point estimates with their covariance).
Own parameters and closed forms: `params`, `properties`, `effective`, `guess`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.collect.coins import check_coins
from deniable.collect.reports import Design, Field, Reports, new_id
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess
from deniable.core.promise.value import plain_promise
from deniable.core.protection import ANSWER
from deniable.core.types import IntArray
from deniable.errors import DeniableError, ParameterError
from deniable.estimate.result import Part
from deniable.mechanisms import common
from deniable.mechanisms.bulk import Bulk
from deniable.mechanisms.showing import as_html, as_line, keep_line
from deniable.randomness import Stream, stream_of
from deniable_client.exact import check_epsilon
from deniable_client.kernels import AnyKernel, kernel_to

__all__ = ["Mechanism", "report_size"]


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
        common.refuse_broken(self)
        stream = stream_of(rng)
        dealt = None if coins is None else check_coins(coins, items.size, self.bulk.coins)
        columns = self.bulk.draw(items, stream, dealt)
        return Reports(self.design, self.fields, columns, stream.simulated, batches=(new_id(),))

    from_functions = staticmethod(common.from_functions)
    from_matrix = staticmethod(common.from_matrix)
    promise = cached_property(plain_promise)
    protection = cached_property(common.in_words)
    entry_names = common.entry_names
    tally = common.tally
    simulate_tally = common.simulate_tally
    empty = common.empty
    estimate = common.estimate
    fit = common.fit
    _fit = common.fitted
    """`fit` with its options put together: families that have other methods replace it."""


def report_size(m: Mechanism) -> dict[str, float]:
    """The properties `bits` and `bytes` of a report, where any can be drawn."""
    return {} if m.refusal else {"bits": m.bulk.outputs, "bytes": m.bulk.row_bytes}
