"""Mechanisms at levels that people choose: the levels, what is sent about them, and who reports at which."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.laws import epsilon_to, response
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import ParameterError, PrivacyError, require
from deniable.estimate.fit import FitOptions
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.kernels.sampling import respond
from deniable.mechanisms.bulk import refuse_values
from deniable.mechanisms.fitting import checked_batches
from deniable.mechanisms.legacy import Legacy
from deniable.mechanisms.personal.bases import check_base
from deniable.mechanisms.personal.em import Levelled, fit_levels
from deniable.mechanisms.personal.estimate import LevelCounts, plausible_shares
from deniable.mechanisms.personal.levels import check_levels, check_shares, listed
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD_BITS, check_epsilon, exp_bounds, log_upper
from deniable_client.kernels import Bit, Response
from deniable_client.kernels import Personal as PersonalKernel
from deniable_client.packing import uint_width

__all__ = ["FITS", "LEVEL_REPORTS", "LevelMechanism"]

LEVEL_REPORTS = ("response", "bit", "none")
"""A response over the levels; one bit, enough for the mean of p and q; nothing."""

FITS = ("em", "em-known", "em-blind")
"""Maximum likelihood: the shares of the levels fitted too, known to be `shares`, or fitted without level reports."""


@dataclass(frozen=True, kw_only=True)
class LevelMechanism(Legacy):
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
    shares: tuple[float, ...] | None = field(default=None, compare=False)
    takes: ClassVar[str] = "values with levels"

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = check_levels(self.levels)
        require(self.level_report in LEVEL_REPORTS, "level_report", self.level_report, ", ".join(LEVEL_REPORTS))
        hint = "It is the promise to people at the largest level; leave it out to have just that."
        require(
            self.epsilon >= max(levels), "epsilon", self.epsilon, f"at least the largest level, {max(levels)}", hint
        )
        object.__setattr__(self, "levels", tuple(sorted(levels)))
        shares = check_shares(self.shares, len(levels))
        object.__setattr__(self, "shares", tuple(np.asarray(shares)[np.argsort(levels)].tolist()))
        self._check_level_report()
        strata = [f"reported {level:g}" for level in self.levels]
        names = {"response": strata, "bit": ["bit 0", "bit 1"], "none": ["all"]}[self.level_report]
        object.__setattr__(self, "strata", tuple(names))
        object.__setattr__(self, "g", check_base(self.base, self.levels, self.level_report, self.g))
        object.__setattr__(self, "sufficient", self.base == "grr")

    def _check_level_report(self) -> None:
        if len(self.levels) == 1:
            object.__setattr__(self, "level_report", "none")
        if self.level_report == "none":
            object.__setattr__(self, "level_epsilon", None)
            return
        hint = "It protects the level that a person chose."
        require(self.level_epsilon is not None, "level_epsilon", None, "a number > 0", hint)
        object.__setattr__(self, "level_epsilon", check_epsilon(self.level_epsilon or 0.0))

    # ---- client

    @property
    @abstractmethod
    def bases(self) -> tuple[SupportMechanism, ...]:
        """The data mechanism of each level."""

    @property
    @abstractmethod
    def kernel(self) -> PersonalKernel:
        """See `Mechanism.kernel`."""

    @property
    @abstractmethod
    def data_fields(self) -> tuple[Field, ...]:
        """The fields of a report but for the noisy level."""

    @abstractmethod
    def perturb_at(self, level: int, items: IntArray, rng: Stream) -> Columns:
        """The data fields of reports for items 0..k-1 of people at the level of this number."""

    @property
    def told_by_level(self) -> list[float]:
        """The numbers of the levels whose mean one bit is to tell: q, or p for hashing, where q is the same for all."""
        return [base.support.p if self.base == "lh" else base.support.q for base in self.bases]

    def level_kernels(self) -> tuple[Response | Bit, ...]:
        """The channel of the level report, or none."""
        if self.level_report == "response":
            return (Response.calibrate(self._channel_epsilon, len(self.levels)),)
        if self.level_report == "bit":
            check_epsilon(self._channel_epsilon, sampling=True)
            return (Bit.calibrate(self._channel_epsilon, tuple(Fraction(p) for p in self._places)),)
        return ()

    @property
    def _channel_epsilon(self) -> float:
        assert self.level_epsilon is not None
        return self.level_epsilon

    @property
    def _places(self) -> list[float]:
        """Where the levels' numbers lie in their range, from -1 to 1."""
        told = self.told_by_level
        middle, half = (max(told) + min(told)) / 2, (max(told) - min(told)) / 2
        return [min(1.0, max(-1.0, (value - middle) / half)) for value in told]

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`: those of the data, and the noisy level."""
        own = self.data_fields
        return own if self.level_report == "none" else (*own, Field("level", "uint", uint_width(len(self.strata))))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`. The number of the level is in the item: level * k + item; 0 is the first level."""
        level, item = np.divmod(items, self.k)
        columns: Columns = {f.name: np.empty(f.shape(items.size), f.dtype) for f in self.fields}
        for i in range(len(self.levels)):
            mine = np.flatnonzero(level == i)
            if mine.size:
                for name, column in self.perturb_at(i, item[mine], rng).items():
                    columns[name][mine] = column
        for kernel in self.kernel.level:
            columns["level"] = self._report_level(kernel, level, rng)
        return columns

    def _report_level(self, kernel: Any, level: IntArray, rng: Stream) -> Any:
        dtype = self.fields[-1].dtype
        if isinstance(kernel, Bit):
            chances = np.array(kernel.chances, np.uint64)[level]
            return (rng.draw(64, level.size) < chances).astype(dtype)
        return respond(rng, level, len(self.levels), kernel.keep, dtype)

    def privatize(
        self, values: object, *, levels: object = None, coins: object = None, rng: Stream | None = None
    ) -> Reports:
        """Perturb values, each at the level that its person chose: one of `levels` for each value.

        A level must not be chosen by looking at the value: then estimates are wrong, and only `guarantee`'s promise
        for the pair is left.
        """
        if levels is None and len(self.levels) > 1:
            raise ParameterError(
                f"levels must be given for {self.name}: one for each value, of {listed(self.levels)}.",
                "Whoever made no choice may be given the smallest one, the most protective.",
            )
        return self.privatize_items(self.domain.encode(values), rng, coins=coins, levels=levels)

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
            numbers = self.level_numbers(self.levels[0] if levels is None else levels, items.size)
        return super().privatize_items(np.asarray(numbers * self.k + items, np.int64), rng)

    def level_numbers(self, levels: object, n: int) -> IntArray:
        """The numbers of levels that are given by their epsilon, one for each of n people or one for all."""
        try:
            given = np.asarray(levels, np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"levels must be numbers, got {levels!r}.") from error
        require(given.shape in ((), (n,)), "levels", f"an array of shape {given.shape}", f"one level, or {n} of them")
        known = np.array(self.levels)
        at = np.minimum(np.searchsorted(known, given), known.size - 1)
        odd = np.atleast_1d(given)[np.atleast_1d(known[at] != given)]
        if odd.size:
            raise ParameterError(f"levels must be of {listed(self.levels)}, got {float(odd[0])!r}.")
        return np.broadcast_to(at, (n,)).astype(np.int64)

    # ---- counter

    def told(self, columns: Columns) -> IntArray:
        """The numbers of the strata."""
        if self.level_report == "none":
            return np.zeros(len(next(iter(columns.values()))), np.int64)
        refuse_values(columns["level"], len(self.strata), "level")
        return columns["level"].astype(np.int64)

    # ---- the level report

    def level_channel(self, *, ideal: bool) -> FloatArray:
        """Chances of the reported levels, a row for each level."""
        t = len(self.levels)
        if self.level_report == "none":
            return np.ones((t, 1))
        word = 1 << WORD_BITS
        if self.level_report == "bit":
            steep = math.tanh(self._channel_epsilon / 2) / 2
            ones = [0.5 + place * steep for place in self._places]
            if not ideal:
                bit = self.kernel.level[0]
                assert isinstance(bit, Bit)
                ones = [chance / word for chance in bit.chances]
            return np.array([[1 - one, one] for one in ones])
        law = response(*epsilon_to(self._channel_epsilon), t)
        keep, flip = law.p, law.q
        if not ideal:
            kernel = self.kernel.level[0]
            assert isinstance(kernel, Response)
            keep, flip = kernel.keep / word, (word - kernel.keep) / (word * (t - 1))
        return np.asarray(np.full((t, t), flip) + np.eye(t) * (keep - flip))

    def level_weights(self, level: int) -> list[int]:
        """Whole numbers in proportion to the chances of the reported levels."""
        for kernel in self.kernel.level:
            if isinstance(kernel, Bit):
                return [(1 << WORD_BITS) - kernel.chances[level], kernel.chances[level]]
            assert isinstance(kernel, Response)
            other = (1 << WORD_BITS) - kernel.keep
            return [kernel.keep * (kernel.k - 1) if r == level else other for r in range(kernel.k)]
        return [1]

    # ---- what is promised

    @property
    @abstractmethod
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly: at least for `data`, `level` and `pair`."""

    @property
    def budgets_kept(self) -> bool:
        """Every level's exact ratio is within its own e^level, and the level report's within its epsilon."""
        kernel = self.kernel
        data = all(each.ratio <= exp_bounds(level)[0] for each, level in zip(kernel.data, self.levels, strict=True))
        return data and all(each.ratio <= exp_bounds(self._channel_epsilon)[0] for each in kernel.level)

    @cached_property
    def _broken(self) -> bool:
        return not self.budgets_kept or self.kernel.ratio > exp_bounds(self.epsilon)[0]

    def _refuse_broken(self) -> None:
        if not self.budgets_kept:
            exact = ", ".join(f"{log_upper(kernel.ratio):.6g}" for kernel in self.kernel.data)
            told = f" and its level report has {self.kernel.report:.6g}" if self.kernel.level else ""
            raise PrivacyError(
                f"{self.name} promises the levels {listed(self.levels)} but its exact ones are {exact}{told}; "
                "no report was made.",
                "Do not use this design.",
            )
        super()._refuse_broken()

    # ---- estimators

    @abstractmethod
    def level_counts(self, tally: Tally) -> LevelCounts:
        """Reports and support by reported level, from a tally of this very design."""

    @abstractmethod
    def linear_part(self, tally: Tally, method: str) -> tuple[Part, str]:
        """A linear estimate, and what was done."""

    @abstractmethod
    def tally_levels(self, tally: Tally) -> Levelled:
        """What a tally says about values and levels; base grr only."""

    @abstractmethod
    def report_levels(self, batches: list[Columns], *, blind: bool) -> Levelled:
        """What reports say about values and levels; `blind` leaves the level reports out."""

    def estimate(self, tally: Tally, method: str = "auto") -> Estimate:
        """Linear estimates from a tally: `auem`, `self` (self-calibrated), `grouped`, or the best for this design."""
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        part, text = self.linear_part(tally, method)
        steps = (f"estimate from {tally.n} reports, unbiased to first order, {text}",)
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, steps)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`."""
        return dict(self.estimate(tally).parts)

    def fit(
        self,
        data: object,
        method: str = "em",
        *,
        stderr: str | None = "information",
        tolerance: float | None = None,
        max_steps: int = 5000,
        runs: int = 100,
        rng: Stream | None = None,
        progress: Callable[[int, float], None] | None = None,
    ) -> Estimate:
        """Maximum likelihood from reports (base grr: or a tally): see `FITS`. For other arguments: `Mechanism.fit`."""
        require(method in FITS, "method", method, f"one of {', '.join(FITS)}")
        options = FitOptions(
            stderr=stderr, tolerance=tolerance, max_steps=max_steps, runs=runs, rng=rng, progress=progress
        )
        tally, evidence = self.evidence_of(data, blind=method == "em-blind")
        t, counts = len(self.levels), self.level_counts(tally)
        known = np.array(self.shares)
        start = known if method == "em-known" else (plausible_shares(counts) + 1 / t) / 2
        origin = np.full(self.k, 1 / self.k)
        part, shares, steps = fit_levels(evidence, start, options, known=method == "em-known" or t == 1, origin=origin)
        told = ", ".join(f"{level:g}: {share:.3g}" for level, share in zip(self.levels, shares.tolist(), strict=True))
        steps = (*steps, f"shares of the levels: {told}")
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, steps, biased=True)

    def evidence_of(self, data: object, *, blind: bool = False) -> tuple[Tally, Levelled]:
        """What reports say about values and levels; `blind` leaves the level reports out."""
        if blind and self.base == "grr" and len(self.levels) > 1:
            raise ParameterError(
                "method em-blind is not for base grr: values and levels cannot be told apart then.",
                "Use method='em'.",
            )
        if isinstance(data, Tally):
            if not self.sufficient:
                raise ParameterError(
                    f"a tally of {self.name} with base {self.base} does not tell the sets of items in a report.",
                    "Keep the reports and fit those; or use estimate(), which needs no more than the tally.",
                )
            self.check_tally(data)
            check_reports(data)
            return data, self.tally_levels(data)
        tally, kept = checked_batches(self, data, keep=not self.sufficient)
        return tally, self.tally_levels(tally) if self.sufficient else self.report_levels(kept, blind=blind)
