"""Mechanism of the best release: a table with its promise, and what each of its outputs is read as.

A design carries its whole numbers, the expected loss, and a bound with its proof. Whoever reads it checks every pair of
the promise exactly, recomputes the loss, and the bound from its proof. Mathematics: docs/maths/release.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.core.channel import Proof
from deniable.core.codes import Span, on_grid
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.protection import Protection
from deniable.core.space import Space
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, InWords, ParameterError, require
from deniable.mechanisms.base import report_size
from deniable.mechanisms.metric.base import MetricMechanism, outputs_of
from deniable.mechanisms.metric.losses import losses_of
from deniable.mechanisms.optimal.base import promised_epsilon
from deniable.mechanisms.optimal.release.programme import Progress
from deniable.mechanisms.optimal.release.proof import PROOF_MAX, Row, proved
from deniable.mechanisms.optimal.release.solution import LOST_MAX, check_loss, release
from deniable.mechanisms.optimal.whole import BLIND_MAX
from deniable.mechanisms.optimal.written import Written, budgets_of, table_in
from deniable.mechanisms.outputs import TableBulk
from deniable.mechanisms.spaces import space_of
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Channel as Table

__all__ = ["OptimalRelease", "make_release", "release_domain"]

_STATED = 1e-6
"""Share by which the loss that a design states may differ from that of its whole numbers."""
_WORST = "worst"


def _squared(numbers: FloatArray) -> FloatArray:
    return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)


LOSSES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "absolute": lambda numbers: np.abs(numbers[:, None] - numbers[None, :]),
    "squared": _squared,
    "zero-one": lambda numbers: 1 - np.eye(numbers.size),
}
"""Losses by their names, from the numbers that values stand for."""


def _promise(m: OptimalRelease) -> Promise:
    """See `plain_promise`: the budgets of the table."""
    return m.written.promise


def _in_words(m: OptimalRelease) -> Protection:
    """See `Mechanism.protection`: that of the table."""
    return m.written.protection


@dataclass(frozen=True, kw_only=True)
class OptimalRelease(MetricMechanism):
    """The channel of least expected loss under its promise; `case` is `worst` if the worst value's loss is least."""

    table: Table
    points: tuple[int, ...]
    """The answer (or column of the losses) that each output is read as."""
    prior: tuple[float, ...] | None = None
    """Where the loss is least; all values alike unless given."""
    case: str | None = None
    value: float
    """The expected loss of one report: what is recomputed from the table must agree with it."""
    least: float
    """No channel that keeps the promise has less: proved by `multipliers`, or stated where these would be too many."""
    multipliers: tuple[Row, ...] | None = None
    """The proof of the bound."""
    blind: int = 0
    """Words, of 2**64, that were set aside for rounding."""
    family: ClassVar[str] = "optimal-release"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.written  # refuses a table that breaks its promise, and one of other values
        require(self.case in (None, _WORST), "case", self.case, f"{_WORST}, or left out")
        many = self.losses.outputs
        fits = len(self.points) == self.table.outputs and all(
            isinstance(y, int) and not isinstance(y, bool) and 0 <= y < many for y in self.points
        )
        require(fits, "points", self.points, f"one of 0..{many - 1} for each of the {self.table.outputs} outputs")
        if self.prior is not None:
            object.__setattr__(self, "prior", tuple(check_prior(self.prior, self.k).tolist()))
        small = isinstance(self.blind, int) and 0 <= self.blind <= BLIND_MAX * 2**WORD_BITS
        require(small, "blind", self.blind, f"whole, and at most {BLIND_MAX:g} of all words")
        self._check_stated()

    def _check_stated(self) -> None:
        """`FormatError` unless the stated loss is that of the whole numbers, and the bound not above it."""
        own, scale = self.stated_loss, float(self.loss_matrix().max())
        near = math.isfinite(self.value) and abs(self.value - own) <= _STATED * own + LOST_MAX * scale
        most = own if self.multipliers is None else self._proved
        below = math.isfinite(self.least) and 0 <= self.least <= most + LOST_MAX * scale
        if not (near and below):
            raise FormatError(
                f"the design does not agree with itself: it states a loss of {self.value:.9g} and a bound of "
                f"{self.least:.9g}, but the loss of its table is {own:.9g}"
                + ("." if self.multipliers is None else f", and its certificate proves {self._proved:.9g}."),
                "It was changed, or its prior or its losses were.",
            )

    @cached_property
    def _proved(self) -> float:
        """The bound that the multipliers prove."""
        require(len(self.multipliers or ()) <= PROOF_MAX, "multipliers", len(self.multipliers or ()), f"<= {PROOF_MAX}")
        prior = None if self.case == _WORST else self.losses.weights(self.prior)
        return proved(self.multipliers or (), self.losses.matrix(), prior, self.promise.closed.budgets)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: a design carries its table, and nothing is solved again."""
        kernel, own = table_in(design)
        stated = {"value": own.pop("loss"), "least": own.pop("bound")}
        if "multipliers" in own:
            stated["multipliers"] = tuple(map(tuple, own.pop("multipliers")))
        return cls(epsilon=design["epsilon"], domain=domain, name=design["mechanism"], table=kernel, **stated, **own)

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: the best release for all budgets in proportion."""
        share = epsilon / self.epsilon
        budgets = np.array([[epsilon if b == self.epsilon else share * b for b in row] for row in self.table.budgets])
        promised = Promise.of_matrix(budgets, self.domain.labels)
        made = make_release(
            epsilon=epsilon, domain=self.domain, promise=promised, prior=self.prior, worst=self.case == _WORST
        )
        assert isinstance(made, type(self))
        return made

    @property
    def params(self) -> dict[str, Any]:
        own: dict[str, Any] = {"points": list(self.points)}
        own |= {} if self.prior is None else {"prior": list(self.prior)}
        own |= {} if self.case is None else {"case": self.case}
        own |= {"loss": self.value, "bound": self.least, "blind": self.blind}
        return own if self.multipliers is None else own | {"multipliers": [list(row) for row in self.multipliers]}

    # ---- what is sampled, promised and kept

    @cached_property
    def written(self) -> Written:
        """The table as a mechanism of its own: its promise, and the exact audit of every pair."""
        return Written(epsilon=self.epsilon, domain=self.domain, table=self.table, name=self.name)

    promise = cached_property(_promise)
    protection = cached_property(_in_words)

    @property
    def kept(self) -> Promise:
        """What is kept, exactly."""
        return self.written.kept

    @property
    def proof(self) -> Proof:
        return self.written.proof

    @cached_property
    def bulk(self) -> TableBulk:
        return replace(self.written.bulk, about=outputs_of(self))

    @property
    def output_count(self) -> int:
        return self.table.outputs

    @property
    def output_points(self) -> IntArray:
        return np.array(self.points, np.int64)

    def matrix(self) -> FloatArray:
        """See `MetricMechanism.matrix`: what is sampled is what was found."""
        return self.bulk.matrix

    # ---- losses

    def loss(self, prior: object = None) -> float:
        """See `MetricMechanism.loss`: without a prior that of the design."""
        return super().loss(self.prior if prior is None else prior)

    @property
    def stated_loss(self) -> float:
        """What was to be small: the loss at the prior, or that of the worst value."""
        return self.worst_loss() if self.case == _WORST else self.loss()

    def loss_effective(self) -> float:
        return self.stated_loss

    def bound(self) -> float:
        """The least loss of any mechanism with this promise: as it is proved, or stated where there is no proof."""
        return self.least if self.multipliers is None else max(0.0, self._proved)

    @property
    def certificate(self) -> dict[str, Any]:
        """The loss of the whole numbers, the bound, the gap as a share of it, and whether the bound is proved."""
        own, bound = self.stated_loss, self.bound()
        gap = max(0.0, own - bound) / bound if bound > 0 else 0.0
        return {"value": own, "bound": bound, "gap": gap, "proved": self.multipliers is not None}

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: without a prior all values are equally likely."""
        return super().guess(prior)

    def properties(self, n: float = 1) -> dict[str, Any]:
        known = self.certificate
        unit = {"unit": self.losses.unit} if self.losses.unit else {}
        size = {"bits": math.log2(self.output_count)} | report_size(self)
        made = {"blind": self.blind / 2**WORD_BITS, "outputs": self.output_count}
        best = {"bound": known["bound"], "gap": known["gap"], "certificate": known}
        return {"loss": known["value"], **unit, "asr": self.guess().success} | size | best | made


# ---- what is asked for


def release_domain(options: dict[str, Any]) -> Domain | Span:
    """The domain with the losses that options describe: places, points, numbers, or the answers of the promise."""
    promised: Promise = options["promise"]
    where = space_of(options)
    if where is not None:
        return where
    plain = Domain.of(promised.k) if promised.labels is None else Domain.of(tuple(promised.labels))
    return _with_losses(plain, options.pop("loss", None), options.pop("values", None))


def _with_losses(domain: Domain, loss: object, values: object) -> Domain:
    """The domain with a loss by its name, or a matrix; with the distances of its own if nothing is given."""
    named = isinstance(loss, str)
    if loss is None and values is None:
        return domain
    if loss is not None and not named:
        require(values is None, "values", values, "left out with a matrix of losses")
        return Space.losses(check_loss(loss, domain.k).tolist(), domain.labels)
    name = "absolute" if loss is None else str(loss)
    require(name in LOSSES, "loss", loss, f"one of {', '.join(LOSSES)}, or a matrix")
    return Space.losses(LOSSES[name](_numbers(values, domain.k)).tolist(), domain.labels)


def _numbers(values: object, k: int) -> FloatArray:
    """The numbers that values stand for: their places in a row if nothing is given."""
    if values is None:
        return np.arange(k, dtype=np.float64)
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"values must be numbers, got {values!r}.") from None
    fits = found.shape == (k,) and bool(np.isfinite(found).all())
    require(fits, "values", InWords(f"an array of shape {found.shape}"), f"{k} finite numbers, one for each value")
    return found


def make_release(
    *,
    epsilon: float,
    domain: Domain | Span,
    promise: Promise,
    prior: object = None,
    loss: object = None,
    values: object = None,
    worst: bool = False,
    progress: Progress | None = None,
) -> OptimalRelease:
    """The best release for a promise; losses are those of the domain, unless others are given."""
    where = on_grid(domain, promise.k)
    fits = promise.k == where.k
    require(fits, "promise", promise, f"one to {where.k} values, as many as the domain has")
    if loss is not None or values is not None:
        where = _with_losses(where, loss, values)
    most = promised_epsilon({"promise": promise})
    hint = "Leave epsilon out: the promise says it."
    require(epsilon == most, "epsilon", epsilon, f"the largest budget of the promise, {most!r}", hint)
    require(isinstance(worst, bool), "worst", worst, "True or False")
    own = InWords("a prior")
    require(not worst or prior is None, "prior", own, "left out for the worst case", "It looks at every value.")
    budgets = budgets_of(promise)
    losses = losses_of(where)
    weights = losses.weights(prior)
    table = losses.matrix()
    check_loss(table, where.k)
    found = release(promise, table, weights, worst=worst, progress=progress)
    if len(found.points) == 1:
        raise ParameterError(
            f"promise must leave something to tell: under this one the same answer for everybody, number "
            f"{found.points[0]}, has the least loss there is, {found.value:.6g}.",
            "Use larger budgets, or ask nobody: no report would tell anything.",
        )
    return OptimalRelease(
        epsilon=epsilon,
        domain=where,
        table=Table(found.rows, budgets),
        points=found.points,
        prior=None if prior is None else tuple(weights.tolist()),
        case=_WORST if worst else None,
        value=found.value,
        least=found.bound,
        multipliers=found.proof,
        blind=round(found.blind * 2**WORD_BITS),
    )
