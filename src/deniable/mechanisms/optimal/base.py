"""The best channel for any promise and purpose, with its certificate: a table that nobody has to solve for again.

Whoever reads a design checks the promise in whole numbers, recomputes the error that it states, and how near that is
to the least possible one. Mathematics: docs/maths/optimal.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.guess import check_prior
from deniable.core.promise import Promise
from deniable.core.promise.making import promise as made_promise
from deniable.core.support import check_n
from deniable.core.types import FloatArray
from deniable.errors import EnumerationError, FormatError, InWords, ParameterError, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.base import report_size
from deniable.mechanisms.optimal.bounds import least_error
from deniable.mechanisms.optimal.estimation import LOST_MAX, Progress, best, rounded, written
from deniable.mechanisms.optimal.extremes import extremes
from deniable.mechanisms.optimal.goal import Goal, Worth
from deniable.mechanisms.optimal.options import OBJECTIVES
from deniable.mechanisms.optimal.scores import ScorePart
from deniable.mechanisms.optimal.whole import BLIND_MAX
from deniable.mechanisms.optimal.worst import minimax
from deniable.mechanisms.optimal.written import Written, budgets_of
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Channel as Table

__all__ = ["Optimal", "as_promise", "domain_of", "make_optimal", "promised_epsilon"]

_STATED = 1e-6
"""Share by which the error that a design states may differ from that of its whole numbers."""
_LEAST = 1e-9
"""The least share of a prior."""
_WORST = "worst"

Numbers = tuple[float, ...]
Rows = tuple[Numbers, ...]


@dataclass(frozen=True, kw_only=True)
class Optimal(Written):
    """The channel of least error under its promise; `case` is `worst` where the prior is the least favourable one."""

    objective: str = OBJECTIVES[0]
    values: Numbers | None = None
    """Of a mean: the number that each answer stands for."""
    functionals: Rows | None = None
    """The functionals, a row for each of them."""
    case: str | None = None
    error: float
    """The summed squared error of one report, at the prior: what is recomputed from the table must agree with it."""
    blind: int = 0
    """Words, of 2**64, that were set aside for rounding."""
    family: ClassVar[str] = "optimal"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.objective in OBJECTIVES, "objective", self.objective, f"one of {', '.join(OBJECTIVES)}")
        require(self.case in (None, _WORST), "case", self.case, f"{_WORST}, or left out")
        small = isinstance(self.blind, int) and 0 <= self.blind <= BLIND_MAX * 2**WORD_BITS
        require(small, "blind", self.blind, f"whole, and at most {BLIND_MAX:g} of all words")
        _ = self.goal
        near = abs(self.error - self.worth_error) <= _STATED * self.worth_error + LOST_MAX * self._spread
        if not (math.isfinite(self.error) and near):
            raise FormatError(
                f"the design does not agree with itself: it states an error of {self.error:.9g}, but that of its table "
                f"is {self.worth_error:.9g}.",
                "It was changed, or its prior was.",
            )

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: with the rows of functionals as they were."""
        rows = design["params"].get("functionals")
        own = {} if rows is None else {"functionals": tuple(tuple(map(float, row)) for row in rows)}
        return super().of_design({**design, "params": {**design["params"], **own}}, domain)

    def at(self, epsilon: float) -> Self:
        """See `Written.at`: the same outputs, flattened or sharpened; no longer the best ones for their promise."""
        table = Written.of_table(self.table, self.domain, prior=self.prior).at(epsilon).table
        matrix = np.array([[weight / 2**WORD_BITS for weight in row] for row in table.weights])
        worth = Worth(self.goal, matrix)
        error = float(worth.errors.max()) if self.case == _WORST else worth.error
        return replace(self, epsilon=epsilon, table=table, error=error)

    @property
    def params(self) -> dict[str, Any]:
        own: dict[str, Any] = {"objective": self.objective, **super().params}
        own |= {} if self.values is None else {"values": list(self.values)}
        own |= {} if self.functionals is None else {"functionals": [list(row) for row in self.functionals]}
        own |= {} if self.case is None else {"case": self.case}
        return own | {"error": self.error, "blind": self.blind}

    # ---- what it is worth

    @cached_property
    def goal(self) -> Goal:
        """What is estimated, and where it is best."""
        return _goal(self.objective, self.k, self._prior, self.values, self.functionals)

    @cached_property
    def worth(self) -> Worth:
        """The table's own worth, from its whole numbers."""
        return Worth(self.goal, self.bulk.matrix)

    @property
    def worth_error(self) -> float:
        """The recomputed error: at the prior, or in the worst case."""
        return float(self.worth.errors.max()) if self.case == _WORST else self.worth.error

    @cached_property
    def _spread(self) -> float:
        problem, chance = self.worth.used
        return problem.spread(chance)

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """Error, least possible error, and what is between them as a share of the spread.

        `EnumerationError` where there are too many extreme outputs. All are recomputed from the whole numbers, for one
        report: nothing that the design says of itself is believed.
        """
        every = extremes(self._budgets)
        proof = self.worth.certificate(every)
        bound = max(0.0, self.worth.error - (proof.spread - proof.least))
        value = self.worth_error
        gap = max(0.0, value - bound) / (proof.spread + value - self.worth.error)
        return {"value": value, "bound": bound, "gap": gap, "extremes": len(every)}

    # ---- estimates

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: frequencies, or what was asked for instead."""
        if self.objective == OBJECTIVES[0]:
            return super().parts(tally)
        check_reports(tally)
        scores = self.worth.scores @ self.goal.functionals.T
        ends = None if self.values is None else (min(self.values), max(self.values))
        matrix = self.bulk.matrix
        least = (matrix @ scores**2 - (matrix @ scores) ** 2).min(axis=0)
        return {self.objective: ScorePart(tally.cells["value"][0] / tally.n, scores, ends, tally.n, least)}

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`: of a mean or of functionals, these alone; `fit` gives likely frequencies."""
        if self.objective == OBJECTIVES[0]:
            return super().estimate(tally)
        from deniable.mechanisms.fitting import check_tally

        tally = check_tally(self, tally)
        labels = (
            ("mean",)
            if self.values is not None
            else tuple(f"functional {i}" for i in range(len(self.goal.functionals)))
        )
        steps = (f"unbiased estimate from {tally.n} reports",)
        return Estimate(labels, self.parts(tally), tally.n, self.design, tally.simulated, steps)

    # ---- closed forms

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the error at the prior, or in the worst case, with what is the least possible."""
        n = check_n(n)
        return self._errors(n) | {"asr": self.guess().success} | report_size(self) | self._distance(n) | self._made

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._errors(check_n(n)) | {"asr": self.guess().success}

    def _errors(self, n: float) -> dict[str, float]:
        total = self.worth_error / n
        if self.objective == OBJECTIVES[0]:
            return {"mse": total / self.k, "mse_sum": total}
        return {"mse_sum": total} if self.values is None else {"variance_mean": total / self._half**2}

    def _distance(self, n: float) -> dict[str, Any]:
        """`bound` in the unit of the first error, and `gap`; nothing where the extreme outputs are too many."""
        try:
            known = self.certificate
        except EnumerationError:
            return {}
        share = self.k if self.objective == OBJECTIVES[0] else 1 if self.values is None else self._half**2
        return {"bound": known["bound"] / share / n, "gap": known["gap"], "certificate": known}

    @property
    def _made(self) -> dict[str, Any]:
        kept = [[b if math.isfinite(b) else "inf" for b in row] for row in self.kept.budgets.tolist()]
        return {"blind": self.blind / 2**WORD_BITS, "outputs": self.table.outputs, "kept": kept}

    @property
    def _half(self) -> float:
        """Half of the interval of the numbers that answers stand for."""
        assert self.values is not None
        return (max(self.values) - min(self.values)) / 2


# ---- what is asked for


def _goal(objective: str, k: int, prior: FloatArray, values: object, functionals: object) -> Goal:
    """What is estimated, checked."""
    wanted = {"mean": values, "functional": functionals}
    for name, given, needed in (("values", values, "mean"), ("functionals", functionals, "functional")):
        if given is not None and objective != needed:
            require(False, name, given, f"left out unless objective is {needed}")
        if given is None and objective == needed:
            require(False, name, None, f"given for objective {needed}", "One number for each answer, in their order.")
    if objective == OBJECTIVES[0]:
        return Goal(prior, np.eye(k))
    name = "values" if objective == "mean" else "functionals"
    try:
        rows = np.atleast_2d(np.asarray(wanted[objective], np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be numbers, got {wanted[objective]!r}.") from None
    shape = InWords(f"an array of shape {rows.shape}")
    fits = rows.ndim == 2 and rows.shape[1] == k and len(rows) > 0 and (objective != "mean" or len(rows) == 1)
    require(fits, name, shape, f"{k} numbers" + ", one for each answer" + "; or rows of them" * (objective != "mean"))
    require(bool(np.isfinite(rows).all()), name, InWords("numbers that are not finite"), "finite numbers")
    told = bool((rows.max(axis=1) > rows.min(axis=1)).any())
    require(told, name, InWords("the same number for all answers"), "different for some answers")
    return Goal(prior, rows)


def domain_of(options: dict[str, Any]) -> Domain | None:
    """The domain that a promise is about."""
    given = options.get("promise")
    if given is None:
        return None
    options["promise"] = promised = as_promise(given)
    return Domain.of(promised.k) if promised.labels is None else Domain.of(tuple(promised.labels))


def promised_epsilon(options: Mapping[str, Any]) -> float:
    """The largest finite budget of a promise."""
    promised = as_promise(options.get("promise"))
    found = [b for row in promised.budgets.tolist() for b in row if math.isfinite(b) and b > 0]
    hint = "Give a finite budget to some pair, or hand the answers in as they are."
    told = "no limit between any two answers"
    if not found and bool((promised.budgets[~np.eye(promised.k, dtype=bool)] == 0).any()):
        told, hint = "0 where there is a limit", "Answers with budget 0 are one answer: no report may tell them apart."
    require(bool(found), "promise", InWords(told), "one with at least one finite budget above 0", hint)
    return float(max(found))


def as_promise(given: object) -> Promise:
    """A promise, or the arguments of one."""
    if isinstance(given, Mapping):
        return made_promise(**given)
    hint = "Make one: dn.promise(epsilon=1, k=4), dn.promise(budgets=[[0, 1], [2, 0]]), ..."
    require(isinstance(given, Promise), "promise", given, "a promise", hint)
    assert isinstance(given, Promise)
    return given


def make_optimal(
    *,
    epsilon: float,
    domain: Domain,
    promise: Promise | Mapping[str, Any],
    objective: str = OBJECTIVES[0],
    prior: object = None,
    values: object = None,
    functionals: object = None,
    worst: bool = False,
    progress: Progress | None = None,
) -> Optimal:
    """The best channel for a promise; `progress` hears what is done, and how far from the end it is."""
    promised = as_promise(promise)
    require(promised.k == domain.k, "promise", promised, f"one to {domain.k} answers, as many as the domain has")
    require(
        promised.k >= 2, "promise", InWords("one answer"), "to two answers or more", "One answer needs no question."
    )
    most = promised_epsilon({"promise": promised})
    hint = "Leave epsilon out: the promise says it."
    require(epsilon == most, "epsilon", epsilon, f"the largest budget of the promise, {most!r}", hint)
    budgets = budgets_of(promised)
    _refuse_zero(promised)
    f = np.full(domain.k, 1 / domain.k) if prior is None else _prior(prior, domain.k)
    goal = _goal(objective, domain.k, f, values, functionals)
    require(isinstance(worst, bool), "worst", worst, "True or False")
    heard = None if progress is None else lambda many: progress("listing extreme outputs", float(many))
    try:
        every = extremes(np.array(budgets), heard)
    except EnumerationError as many:
        raise _out_of_reach(many, promised, f if objective == OBJECTIVES[0] and not worst else None) from many
    own: dict[str, Any] = {"objective": objective}
    own |= {} if values is None else {"values": tuple(goal.functionals[0].tolist())}
    own |= {} if functionals is None else {"functionals": tuple(tuple(row) for row in goal.functionals.tolist())}
    if worst:
        found = minimax(every, goal, progress)
        table = rounded(every, found.tops, np.array(budgets))
        goal = found.worth.goal
        own |= {"case": _WORST, "prior": tuple(goal.prior.tolist())}
    else:
        table = written(best(every, goal, progress), np.array(budgets))
        own |= {} if prior is None else {"prior": tuple(f.tolist())}
    worth = Worth(goal, table.matrix)
    error = float(worth.errors.max()) if worst else worth.error
    rows = tuple(zip(*table.columns, strict=True))
    return Optimal(epsilon=epsilon, domain=domain, table=Table(rows, budgets), error=error, blind=table.blind, **own)


def _out_of_reach(error: EnumerationError, promised: Promise, prior: FloatArray | None) -> EnumerationError:
    """The error, with the least error that is known all the same where many values can be exchanged."""
    least = None if prior is None else least_error(promised, prior)
    if least is None:
        return error
    return EnumerationError(
        str(error),
        f"The least error is known here, since values of one budget can be exchanged: {least.error:.6g}, summed "
        "over all answers, for one report. Where several such classes have limits no mechanism is known that reaches "
        "it; the planner ranks those that keep the promise by how far above it they are (deniable plan --promise).",
    )


def _prior(prior: object, k: int) -> FloatArray:
    found = check_prior(prior, k)
    hint = "An answer that nobody can have is no answer: leave it out, or give it a small share."
    require(float(found.min()) >= _LEAST, "prior", float(found.min()), f"at least {_LEAST:g} for each answer", hint)
    return found


def _refuse_zero(promised: Promise) -> None:
    """Values that no report can tell apart have no frequencies of their own."""
    closed = promised.closed.budgets
    same = np.argwhere((closed == 0) & ~np.eye(promised.k, dtype=bool)).tolist()
    if same:
        one, two = (promised.label(x) for x in same[0])
        raise ParameterError(
            f"promise must leave a budget above 0 between answers whose frequencies are asked for, got 0 between "
            f"{one} and {two}: no report may tell them apart.",
            "Ask for them as one answer: promise.merged() has their budgets.",
        )
