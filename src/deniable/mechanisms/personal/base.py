"""Mechanisms at levels that people choose: the levels, what is sent about them, and who reports at which."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.promise.value import Promise, plain_promise
from deniable.core.support import check_n
from deniable.core.types import FloatArray, IntArray
from deniable.core.values import columns_of
from deniable.errors import ParameterError, require
from deniable.estimate.fit import FitOptions
from deniable.estimate.linear import check_reports
from deniable.estimate.methods import EVIDENCE, REPORTS, methods_for
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.fitting import check_tally, checked_batches
from deniable.mechanisms.optimal.bounds import Least, least_at_levels, least_told
from deniable.mechanisms.personal import levels as given
from deniable.mechanisms.personal.bulk import LevelBulk
from deniable.mechanisms.personal.em import Levelled, fit_levels
from deniable.mechanisms.personal.estimate import LevelCounts, plausible_shares
from deniable.mechanisms.personal.inference import LevelGuess, best_levels, guess_level
from deniable.mechanisms.personal.laws import LevelLaw, ideal_channel, leak_warning
from deniable.mechanisms.personal.levels import level_kernels, level_numbers, listed
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream
from deniable_client.exact import EPSILON_MAX
from deniable_client.kernels import Kernel, promised_ratio
from deniable_client.kernels import Personal as PersonalKernel

__all__ = ["LevelMechanism", "evidence_of"]

LEVEL_REPORT = "level report"
"""The part of a report that tells the level, as promises and proofs call it."""


def _promise(m: LevelMechanism) -> Promise:
    """See `Mechanism.promise`: of values and levels; what is told about levels is counted from the integers."""
    made = m.value_promise.with_levels(m.levels, m.guarantee["level"], m.guarantee["pair"])
    return made if m.level_epsilon is None else replace(made, parts={LEVEL_REPORT: m.level_epsilon})


@dataclass(frozen=True, kw_only=True)
class LevelMechanism(Mechanism):
    """A person at level i reports by a data mechanism with epsilon levels[i], and the level through a channel.

    `epsilon` is the promise to someone at the weakest level, whose level is known: at least the largest of `levels`.
    Everyone else is promised their own level. `shares` (expected shares of the levels) are for closed forms and
    simulations; neither privacy nor estimates from level reports depend on them.
    """

    levels: tuple[float, ...]
    base: str = "lh"
    level_epsilon: float | None = None
    level_report: str = "response"
    g: int | None = None
    blocks: tuple[int, ...] | None = None
    """Of base affine: q, m, j, zero and g, the same at all levels."""
    shares: tuple[float, ...] | None = field(default=None, compare=False)
    vetted: ClassVar[bool] = True
    takes: ClassVar[str] = "values with levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = given.check_levels(self.levels)
        hint = "It is the promise to people at the largest level; leave it out to have just that."
        promise = f"at least the largest level, {max(levels)}"
        require(self.epsilon >= max(levels), "epsilon", self.epsilon, promise, hint)
        shares = np.asarray(given.check_shares(self.shares, len(levels)))
        told, epsilon = given.check_level_report(self.level_report, self.level_epsilon, len(levels))
        object.__setattr__(self, "levels", tuple(sorted(levels)))
        object.__setattr__(self, "shares", tuple(shares[np.argsort(levels)].tolist()))
        object.__setattr__(self, "level_report", told)
        object.__setattr__(self, "level_epsilon", epsilon)
        object.__setattr__(self, "g", given.check_base(self.base, self.levels, told, self.g))

    @property
    @abstractmethod
    def bulk(self) -> LevelBulk:
        """The levels in bulk."""

    @property
    def kernel(self) -> PersonalKernel:
        return self.bulk.kernel

    @property
    def params(self) -> dict[str, Any]:
        own = {} if self.blocks is None else {"blocks": list(self.blocks)}
        return {
            "levels": list(self.levels),
            "base": self.base,
            "level_epsilon": self.level_epsilon,
            "level_report": self.level_report,
            "g": self.g,
        } | own

    @property
    @abstractmethod
    def bases(self) -> tuple[SupportMechanism, ...]:
        """The data mechanism of each level."""

    @property
    def one_in(self) -> float | None:
        """One in how many reports of no item supports a given one, where that can be chosen; else None."""
        if self.blocks is None:
            return self.g
        q, m, j, zero, _ = self.blocks
        return q / (j * ((q - 1) // m) + zero)

    # ---- the level report

    @cached_property
    def level_law(self) -> LevelLaw:
        """Ideal support by level and level channel, with the expected shares."""
        supports = tuple(base.support for base in self.bases)
        return LevelLaw(
            supports, np.array(self.shares), ideal_channel(self.level_report, self.level_epsilon, _told(self))
        )

    # ---- client

    def privatize(
        self,
        values: object,
        *,
        column: Any = None,
        levels: object = None,
        coins: object = None,
        rng: Stream | None = None,
    ) -> Reports:
        """Perturb values, each at the level that its person chose: one of `levels` for each value.

        Where the values are a column of a frame, `levels` may be the name of another one.

        A level must not be chosen by looking at the value: then estimates are wrong, and only `guarantee`'s promise
        for the pair is left.
        """
        if levels is None and len(self.levels) > 1:
            raise ParameterError(
                f"levels must be given for {self.name}: one for each value, of {listed(self.levels)}.",
                "Whoever made no choice may be given the smallest one, the most protective.",
            )
        if isinstance(levels, str):
            require(column is not None, "column", column, "given with the name of a column of levels")
            found = columns_of(values, (column, levels))
            need = "a list of numbers, or the name of a column of the frame that has the values"
            require(found is not None, "levels", levels, need)
            (values, levels), column = found or [], None
        return self.privatize_items(self.domain.encode(values, column), rng, coins=coins, levels=levels)

    def privatize_items(
        self, items: IntArray, rng: Stream | None = None, *, coins: object = None, levels: object = None
    ) -> Reports:
        """`privatize` for items that are encoded already. Levels left out are drawn from `shares` in a simulation."""
        if coins is not None:
            raise ParameterError(f"coins must be left out for {self.name}: its seeds are drawn by the devices.")
        if levels is None and len(self.levels) > 1:
            if not isinstance(rng, Simulation):
                raise ParameterError(
                    f"levels must be given for {self.name}, of {listed(self.levels)}.",
                    "In Python: m.privatize(values, levels=...); a device: report(value, level=...).",
                )
            numbers = rng.generator().choice(len(self.levels), size=items.size, p=self.shares)
        else:
            numbers = level_numbers(self.levels, self.levels[0] if levels is None else levels, items.size)
        return super().privatize_items(np.asarray(numbers * self.k + items, np.int64), rng)

    # ---- what is promised

    promise = cached_property(_promise)

    @property
    def value_promise(self) -> Promise:
        """The promise at the largest level, if that is known."""
        return plain_promise(self)

    def by_level(self, proof: Proof) -> Proof:
        """A proof at a known level, with the ratios of all levels and that of the level report."""
        w, kernel = proof.witness, self.kernel
        each = enumerate(promised_ratio(data) for data in kernel.data)
        ratios = ((ratio, Witness(w.output, i * self.k + w.likely, i * self.k + w.unlikely)) for i, ratio in each)
        parts = ((LEVEL_REPORT, promised_ratio(channel)) for channel in kernel.level)
        return replace(proof, ratios=tuple(ratios), parts=tuple(parts))

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly, rounded up: see docs/maths/personal.md, sections 3 and 8.

        `data`: between values, at a known level (by level in `data_by_level`); `level`: between levels, the value being
        known, which is `level_report` and `leakage` together; `pair`: between any values and levels at once. Where
        harmless items may be disclosed, `data` and `pair` are of reports that disclose nothing, and `disclosure` is the
        part of disclosing in `leakage`.
        """
        found = self._ideal_guarantee() if self.refusal else self.bulk.guarantee
        return found | {"warning": leak_warning(found)}

    @abstractmethod
    def _ideal_guarantee(self) -> dict[str, Any]:
        """`guarantee` for ideal parameters."""

    # ---- closed forms

    @property
    @abstractmethod
    def law(self) -> Any:
        """The ideal law, with the expected shares."""

    @property
    @abstractmethod
    def law_effective(self) -> Any:
        """The law of the integers that are sampled: what estimators use."""

    @abstractmethod
    def _numbers(self, law: Any, n: float) -> dict[str, Any]:
        """What closed forms say of n reports under one of the laws."""

    def properties(self, n: float = 1) -> dict[str, Any]:
        known = self._numbers(self.law, check_n(n)) | report_size(self)
        shares = self.shares or ()
        return known | _distance(self.promise, self.expected, shares, known["mse"], n) | {"guarantee": self.guarantee}

    @property
    def error(self) -> float:
        """The mean squared error of one report, by the ideal law."""
        return float(self._numbers(self.law, 1)["mse"])

    @property
    def expected(self) -> FloatArray:
        """The frequencies that errors in closed form are for."""
        return np.full(self.k, 1 / self.k)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_effective, check_n(n))

    # ---- guesses of the level

    def guess_level(self, prior: object = None) -> LevelGuess:
        """Success of the best guess of the level from a whole report and the value, and without a report.

        `prior`: of the values, where some of them are harmless; uniform unless given.
        """
        return guess_level(self, prior)

    def guessed_levels(self, reports: Reports, items: IntArray) -> IntArray:
        """For each report of a known item the number of the likeliest level; of equally likely ones the first."""
        return best_levels(self, reports.columns, items)

    # ---- estimators

    def level_counts(self, tally: Tally) -> LevelCounts:
        """Reports and support by reported level, from a tally of this very design."""
        check_tally(self, tally)
        check_reports(tally)
        law = self.bulk.level_law(np.array(self.shares))
        base = self.bulk.bases[0]
        extra = base.extra_pairs if base.uneven else None
        return LevelCounts(tally.cells["n"], self.bulk.supports(tally.cells), law, self.base, extra)

    @abstractmethod
    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        """A linear estimate, and what was done."""

    def estimate(self, tally: Tally, method: str = "auto") -> Estimate:
        """Linear estimates from a tally of this very design.

        `method`: by the level reports (`auem`), by the sum of all support (`self`), by groups of reported levels
        (`grouped`), or the best of these for the design (`auto`); docs/maths/personal.md, section 5. `pbp`: with the
        planned shares of the levels, as if they were public.
        """
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        part, text = self.linear_part(tally, method)
        steps = (f"estimate from {tally.n} reports, unbiased to first order, {text}",)
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, steps)

    def parts(self, tally: Tally) -> dict[str, Part]:
        return dict(self.estimate(tally).parts)

    def _fit(self, data: object, method: str, options: FitOptions) -> Estimate:
        """Maximum likelihood of values and levels, from reports or (bases grr and affine) a tally.

        The shares of the levels are fitted too (`em`), known to be `shares` (`em-known`), or fitted without level
        reports (`em-blind`).
        """
        fits = methods_for(self.bulk.reader.traits, EVIDENCE, REPORTS)
        require(method in fits, "method", method, f"one of {', '.join(fits)}")
        tally, evidence = evidence_of(self, data, blind=method == "em-blind")
        t, known = len(self.levels), method == "em-known"
        start = np.array(self.shares) if known else (plausible_shares(self.level_counts(tally)) + 1 / t) / 2
        origin = np.full(self.k, 1 / self.k)
        part, shares, steps = fit_levels(evidence, start, options, known=known or t == 1, origin=origin)
        told = ", ".join(f"{level:g}: {share:.3g}" for level, share in zip(self.levels, shares.tolist(), strict=True))
        steps = (*steps, f"shares of the levels: {told}")
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, steps, ("fitted",))


def _told(m: LevelMechanism) -> list[float]:
    """The numbers of the levels whose mean one bit is to tell: q, or p for hashing, where q is the same for all."""
    return [base.support.p if m.base == "lh" else base.support.q for base in m.bases]


def level_channel(m: LevelMechanism) -> tuple[Kernel, ...]:
    """What reports the level, or nothing."""
    return level_kernels(m.level_report, m.level_epsilon, _told(m))


def evidence_of(m: LevelMechanism, data: object, *, blind: bool = False) -> tuple[Tally, Levelled]:
    """What reports, or a tally where that is enough, say about values and levels; `blind` ignores the level reports."""
    bulk = m.bulk
    sufficient = bulk.reader.sufficient
    if blind and sufficient and len(m.levels) > 1:
        raise ParameterError(
            f"method em-blind is not for base {m.base}: values and levels cannot be told apart then.",
            "Use method='em'.",
        )
    if isinstance(data, Tally):
        if not sufficient:
            raise ParameterError(
                f"a tally of {m.name} with base {m.base} does not tell the sets of items in a report.",
                "Keep the reports and fit those; or use estimate(), which needs no more than the tally.",
            )
        check_tally(m, data)
        check_reports(data)
        return data, bulk.tally_level_evidence(data.cells)
    tally, kept = checked_batches(m, data, keep=not sufficient)
    return tally, bulk.tally_level_evidence(tally.cells) if sufficient else bulk.level_evidence(kept, blind=blind)


def _distance(promise: Promise, prior: FloatArray, shares: tuple[float, ...], mse: float, n: float) -> dict[str, Any]:
    """How far a design is from the least error: `bound`, `gap` and what it is `bound_by`; nothing if it is not known.

    Where values are too many to list all outputs, there is a bound for levels that protect all values alike, and all
    of them equally frequent; it is that of levels which everybody knows.
    """
    found: Least | None = None
    if promise.levels[-1] <= EPSILON_MAX:
        found = least_at_levels(promise, prior, np.array(shares))
        if found is None and promise.sensitive is None and bool(np.allclose(prior, 1 / prior.size, rtol=1e-12)):
            found = least_told(np.array(promise.levels), np.array(shares), prior.size)
    return {} if found is None else found.distance(mse, prior.size, n)
