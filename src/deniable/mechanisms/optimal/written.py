"""A mechanism that is its table: whole numbers for each answer and output, and a budget for each two answers.

Whoever chooses the table, by a solver or by hand, gets the rest from here: drawing, counting, the exact audit of every
pair, unbiased estimates with their covariances, likelihoods and the best guess. Mathematics: docs/maths/written.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import distance
from deniable.core.guess import Guess, check_prior
from deniable.core.promise import Promise
from deniable.core.protection import Protection
from deniable.core.types import FloatArray
from deniable.errors import FormatError, InWords, PrivacyError, require
from deniable.estimate.inverse import best_inverse, inverse_part, no_inverse
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.optimal.ratios import largest_ratios, worst_of
from deniable.mechanisms.optimal.rounding import flattened, table_of
from deniable.mechanisms.outputs import TableBulk
from deniable_client.exact import WORD, check_epsilon, exp_bounds, log_upper
from deniable_client.kernels import Channel as Table
from deniable_client.kernels import kernel_from

__all__ = ["Written", "budgets_of", "table_in"]

_LEAST = 1e-9
"""The least share of a prior that estimates may be best at."""


def _promise(m: Written) -> Promise:
    """See `plain_promise`: the budgets of the table."""
    return Promise.of_matrix(np.array(m.table.budgets, np.float64), m.domain.labels)


def _in_words(m: Written) -> Protection:
    """See `Mechanism.protection`: by what follows from the budgets, and the chance that an answer is shown."""
    chances = [0] * m.k
    for column in zip(*m.table.weights, strict=True):
        senders = [x for x, weight in enumerate(column) if weight]
        if len(senders) == 1 and m.promise.is_harmless(senders[0]):
            chances[senders[0]] += column[senders[0]]
    disclosed = Fraction(max(chances), WORD)
    return Protection(promise=m.promise, epsilon=m.promise.closed.epsilon, subject=m.subject, disclosed=disclosed)


@dataclass(frozen=True, kw_only=True)
class Written(Mechanism):
    """A table of whole numbers that keeps its limits, which is proved when it is made; epsilon is the largest of them.

    `prior` is where estimates have the least error; all answers alike unless given. It is no part of what is sampled.
    """

    table: Table
    prior: tuple[float, ...] | None = None
    family: ClassVar[str] = "written"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        limited = self.table.limited
        hint = "Give a finite budget to some pair, or hand the answers in as they are."
        require(limited, "promise", InWords("no limit between any two answers"), "at least one finite budget", hint)
        super().__post_init__()
        fits = self.table.k == self.k
        require(fits, "table", InWords(f"a table of {self.table.k} values"), f"one of {self.k}, as many as answers")
        same = self.epsilon == self.table.limit
        require(same, "epsilon", self.epsilon, f"the largest limit of the table, {self.table.limit!r}")
        if self.prior is not None:
            object.__setattr__(self, "prior", tuple(check_prior(self.prior, self.k).tolist()))
        self._refuse_breach()

    def _refuse_breach(self) -> None:
        """`PrivacyError` for a table that is not within all of its limits, in whole numbers."""
        found = next(self.table.breaches(), None)
        if found is None:
            return
        x, z, budget = found.likely, found.unlikely, self.table.budgets[found.likely][found.unlikely]
        one, two = (self.table.weights[value][found.output] for value in (x, z))
        ratio = f"{one / two:.6g} times as likely" if two else "possible for one and impossible for the other"
        names = self.domain.labels_or_numbers
        raise PrivacyError(
            f"the table breaks its promise: {self._output_names[found.output]} is {ratio} for {names[x]} as for "
            f"{names[z]}, above e^{budget:g} = {float(exp_bounds(budget)[0]):.6g}.",
            "Make the rows more alike in that column, or promise less.",
        )

    @classmethod
    def of_table(cls, table: Table, domain: Domain, **own: Any) -> Self:
        """The mechanism of a table, whose largest limit is its epsilon."""
        return cls(epsilon=table.limit or 1.0, domain=domain, table=table, **own)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: a design carries its table, which nobody makes again."""
        kernel, own = table_in(design)
        if kernel.work.number > kernel.work.most:
            raise FormatError(f"a table of {kernel.k} x {kernel.outputs} entries is more than devices take part in.")
        return cls(epsilon=design["epsilon"], domain=domain, name=design["mechanism"], table=kernel, **own)

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: all budgets in proportion, and the table flattened or sharpened until it keeps them."""
        share = check_epsilon(epsilon, sampling=True) / self.epsilon
        budgets = tuple(tuple(share * b for b in row) for row in self.table.budgets)
        most = max(b for row in budgets for b in row if b < math.inf)
        exact = tuple(tuple(epsilon if b == most else b for b in row) for row in budgets)
        matrix = flattened(self.bulk.matrix, self._budgets, share)
        return replace(self, epsilon=epsilon, table=table_of(matrix.tolist(), exact))

    # ---- what is sampled

    @property
    def output_names(self) -> tuple[str, ...]:
        """What outputs are called, if they have names."""
        return ()

    @property
    def _output_names(self) -> tuple[str, ...]:
        return self.output_names or tuple(f"report {y}" for y in range(self.table.outputs))

    @cached_property
    def bulk(self) -> TableBulk:
        endless = {(x, z) for x, row in enumerate(self.table.budgets) for z, b in enumerate(row) if b == math.inf}
        return TableBulk(self.table, names=self.output_names, unlimited=frozenset(endless))

    @property
    def params(self) -> dict[str, Any]:
        return {} if self.prior is None else {"prior": list(self.prior)}

    # ---- what is promised, and kept

    promise = cached_property(_promise)
    protection = cached_property(_in_words)

    @cached_property
    def _budgets(self) -> FloatArray:
        """The budgets of the table."""
        return np.array(self.table.budgets, np.float64)

    @cached_property
    def kept(self) -> Promise:
        """What is kept, exactly: the logarithm of each two answers' largest ratio, rounded up; inf where it is."""
        ratios = largest_ratios(self.table.weights)
        known = {ratio: math.inf if ratio is None else log_upper(ratio) for row in ratios for ratio in row}
        return Promise.of_matrix(np.array([[known[ratio] for ratio in row] for row in ratios]), self.domain.labels)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: the largest ratio of the pairs of each budget."""
        apart = ~np.eye(self.k, dtype=bool)
        budgets = sorted(set(self._budgets[apart & np.isfinite(self._budgets)].tolist()))
        found = [worst_of(self.table.weights, apart & (self._budgets == budget)) for budget in budgets]
        names = self._output_names
        told = tuple((worst.ratio, Witness(names[worst.output], worst.likely, worst.unlikely)) for worst in found)
        most, witness = max(told, key=lambda each: each[0] or 0)
        pairs = int((apart & np.isfinite(self._budgets)).sum())
        text = f"the table has the weights of all reports; all of them were compared for {pairs} pairs of answers"
        return Proof(most, "table", text, witness, told if len(told) > 1 else ())

    # ---- estimates

    @property
    def _prior(self) -> FloatArray:
        """Where estimates are best; refused where an answer is (as good as) impossible."""
        if self.prior is None:
            return np.full(self.k, 1 / self.k)
        least = min(self.prior)
        hint = "An answer that nobody can have is no answer; leave it out."
        require(least >= _LEAST, "prior", least, f"at least {_LEAST:g} for each answer, to estimate all of them", hint)
        return np.array(self.prior)

    @cached_property
    def scores(self) -> FloatArray:
        """What each output adds to the estimate of each answer, a row for each output; without an inverse refused."""
        return best_inverse(self.bulk.matrix, self.name, self._prior)

    @cached_property
    def rank(self) -> int:
        """Rank of the channel: below k there is no unbiased estimate of all frequencies."""
        return int(np.linalg.matrix_rank(self.bulk.matrix))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`; refused where the channel has no inverse."""
        check_reports(tally)
        if self.rank < self.k:
            raise no_inverse(self.name, self.rank, self.k)
        return {"frequency": inverse_part(tally.cells["value"][0], self.bulk.matrix, tally.n, self.name, self._prior)}

    def mse_sum(self, n: float = 1) -> float:
        """The summed variance of the reporters' frequencies at the prior; `ParameterError` without an inverse."""
        seen = self._prior @ self.bulk.matrix
        return float((seen @ self.scores**2).sum() - 1) / n

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(float((pi[:, None] * self.bulk.matrix).max(axis=0).sum()), float(pi.max()))

    def properties(self, n: float = 1) -> dict[str, Any]:
        asr, size = self.guess().success, report_size(self)
        if self.rank < self.k:
            return {"asr": asr} | size
        total = self.mse_sum(n)
        known = {"mse": total / self.k, "mse_sum": total, "asr": asr} | size
        best = distance(self.k, self.epsilon, total / self.k, asr, n) if self._plain and self.prior is None else {}
        return known | best

    @property
    def _plain(self) -> bool:
        """Whether one budget holds between any two answers."""
        return bool((self._budgets[~np.eye(self.k, dtype=bool)] == self.epsilon).all())

    def effective(self, n: float = 1) -> dict[str, Any]:
        known = {"mse": self.mse_sum(n) / self.k} if self.rank == self.k else {}
        return {"epsilon": self.epsilon_exact} | known | {"asr": self.guess().success}


def table_in(design: Design) -> tuple[Any, dict[str, Any]]:
    """The table of a design, and its parameters, lists as tuples."""
    kernel = kernel_from(design["kernel"])
    if kernel.kind != Table.kind:
        raise FormatError(f"a design of {design['mechanism']} needs a channel, got a {kernel.kind} kernel.")
    params = design["params"].items()
    return kernel, {name: tuple(value) if isinstance(value, list) else value for name, value in params}


def budgets_of(promise: Promise) -> tuple[tuple[float, ...], ...]:
    """The budgets of a promise as a table has them: between each two values, as they were given."""
    levels = promise.levels or promise.strict is not None
    hint = "A table is for promises between values alone: dn.promise(...) makes them."
    require(not levels, "promise", promise, "one without levels and without rules of its own for disclosures", hint)
    return tuple(tuple(map(float, row)) for row in promise.budgets.tolist())
