"""Everyone chooses their own level of protection, and sends it noisily beside the data [PLDP].

What a report promises about the value, about the level and about both is computed exactly (`guarantee`); the level
reports are not the whole of it, since the data tell about the level too (docs/maths/personal.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import Guess
from deniable.core.laws import epsilon_to, response
from deniable.core.personal import LevelLaw, Moments, common_range, level_leakage, pair_bound
from deniable.core.support import Support
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import ParameterError, require
from deniable.estimate.fit import FitOptions
from deniable.estimate.linear import check_reports
from deniable.estimate.personal import LevelCounts, choose, linear, plausible_shares
from deniable.estimate.personal_em import LevelEvidence, fit_levels
from deniable.estimate.result import Estimate, Part
from deniable.kernels.sampling import respond
from deniable.mechanisms.base import Mechanism, SupportMechanism, check_outputs, refuse_values
from deniable.mechanisms.fitting import checked_batches
from deniable.mechanisms.grr import GRR
from deniable.mechanisms.local_hashing import LocalHashing
from deniable.mechanisms.personal_evidence import row_evidence, table_evidence
from deniable.mechanisms.personal_levels import check_levels, check_shares, listed
from deniable.mechanisms.unary import Unary
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Bit, Response
from deniable_client.kernels import Personal as PersonalKernel
from deniable_client.packing import uint_width

__all__ = ["BASES", "FITS", "LEVEL_REPORTS", "Personal"]

BASES = ("sue", "oue", "grr", "lh")
"""Data mechanisms whose report format does not depend on epsilon."""
LEVEL_REPORTS = ("response", "bit", "none")
"""A response over the levels; one bit, enough for the mean of p and q; nothing."""
FITS = ("em", "em-known", "em-blind")
"""Maximum likelihood: the shares of the levels fitted too, known to be `shares`, or fitted without level reports."""


@dataclass(frozen=True, kw_only=True)
class Personal(Mechanism):
    """A person at level i reports by the base mechanism with epsilon levels[i], and the level through a channel.

    `epsilon` is the promise to someone at the weakest level, whose level is known: at least the largest of `levels`.
    Everyone else is promised their own level. `shares` (expected shares of the levels) and `frequency` are for closed
    forms and simulations; neither privacy nor estimates from level reports depend on them.
    """

    levels: tuple[float, ...]
    base: str = "lh"
    level_epsilon: float | None = None
    level_report: str = "response"
    g: int | None = None
    shares: tuple[float, ...] | None = field(default=None, compare=False)
    frequency: float = field(default=0.0, compare=False)
    family: ClassVar[str] = "pldp"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = check_levels(self.levels)
        require(self.base in BASES, "base", self.base, f"one of {', '.join(BASES)}")
        require(self.level_report in LEVEL_REPORTS, "level_report", self.level_report, ", ".join(LEVEL_REPORTS))
        hint = "It is the promise to people at the largest level; leave it out to have just that."
        require(
            self.epsilon >= max(levels), "epsilon", self.epsilon, f"at least the largest level, {max(levels)}", hint
        )
        object.__setattr__(self, "levels", tuple(sorted(levels)))
        shares = check_shares(self.shares, len(levels))
        object.__setattr__(self, "shares", tuple(np.asarray(shares)[np.argsort(levels)].tolist()))
        self._check_level_report()
        self._check_range()
        ok = isinstance(self.frequency, int | float) and 0 <= self.frequency <= 1
        require(ok, "frequency", self.frequency, "from 0 to 1")
        object.__setattr__(self, "frequency", float(self.frequency))
        strata = [f"reported {level:g}" for level in self.levels]
        names = {"response": strata, "bit": ["bit 0", "bit 1"], "none": ["all"]}[self.level_report]
        object.__setattr__(self, "strata", tuple(names))
        object.__setattr__(self, "sufficient", self.base == "grr")

    def _check_level_report(self) -> None:
        if len(self.levels) == 1:
            object.__setattr__(self, "level_report", "none")
        if self.level_report == "none":
            object.__setattr__(self, "level_epsilon", None)
            if self.base == "grr" and len(self.levels) > 1:
                raise ParameterError(
                    "level_report must not be none for base grr: its reports do not tell how p and q are blended.",
                    "Report the level (response or bit), or use base sue, oue or lh.",
                )
            return
        hint = "It protects the level that a person chose."
        require(self.level_epsilon is not None, "level_epsilon", None, "a number > 0", hint)
        object.__setattr__(self, "level_epsilon", check_epsilon(self.level_epsilon or 0.0))

    def _check_range(self) -> None:
        if self.base == "lh":
            object.__setattr__(self, "g", common_range(self.levels) if self.g is None else self.g)
        else:
            require(self.g is None, "g", self.g, "left out unless the base is lh")

    # ---- client

    @cached_property
    def bases(self) -> tuple[SupportMechanism, ...]:
        """The data mechanism of each level."""
        make: dict[str, Callable[..., SupportMechanism]] = {
            "sue": Unary.symmetric,
            "oue": Unary.optimised,
            "grr": GRR,
            "lh": LocalHashing,
        }
        own = {"g": self.g} if self.base == "lh" else {}
        return tuple(make[self.base](epsilon=level, domain=self.domain, **own) for level in self.levels)

    @cached_property
    def kernel(self) -> PersonalKernel:
        """See `Mechanism.kernel`."""
        t = len(self.levels)
        channel: tuple[Response | Bit, ...] = ()
        if self.level_report == "response":
            channel = (Response.calibrate(self._channel_epsilon, t),)
        elif self.level_report == "bit":
            check_epsilon(self._channel_epsilon, sampling=True)
            channel = (Bit.calibrate(self._channel_epsilon, tuple(Fraction(p) for p in self._places)),)
        return PersonalKernel(tuple(base.kernel for base in self.bases), channel)

    @property
    def _channel_epsilon(self) -> float:
        assert self.level_epsilon is not None
        return self.level_epsilon

    @property
    def _places(self) -> list[float]:
        """Where the levels' q (for hashing p, since q is the same) lie in their range, from -1 to 1."""
        told = [b.support.p if self.base == "lh" else b.support.q for b in self.bases]
        middle, half = (max(told) + min(told)) / 2, (max(told) - min(told)) / 2
        return [min(1.0, max(-1.0, (value - middle) / half)) for value in told]

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {
            "levels": list(self.levels),
            "base": self.base,
            "level_epsilon": self.level_epsilon,
            "level_report": self.level_report,
            "g": self.g,
        }

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`: those of the base, and the noisy level."""
        own = self.bases[0].fields
        return own if self.level_report == "none" else (*own, Field("level", "uint", uint_width(len(self.strata))))

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`. The number of the level is in the item: level * k + item; 0 is the first level."""
        level, item = np.divmod(items, self.k)
        columns: Columns = {f.name: np.empty(f.shape(items.size), f.dtype) for f in self.fields}
        for i, base in enumerate(self.bases):
            mine = np.flatnonzero(level == i)
            if mine.size:
                for name, column in base.perturb(item[mine], rng).items():
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

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: reports and support by reported level."""
        told = self.told(columns)
        own = [f.name for f in self.bases[0].fields]
        counts = []
        for r in range(len(self.strata)):
            mine = told == r
            counts.append(self.bases[0].count({name: columns[name][mine] for name in own}))
        return {name: np.concatenate([part[name] for part in counts]) for name in ("n", "support")}

    def told(self, columns: Columns) -> IntArray:
        """The numbers of the strata."""
        if self.level_report == "none":
            return np.zeros(len(next(iter(columns.values()))), np.int64)
        refuse_values(columns["level"], len(self.strata), "level")
        return columns["level"].astype(np.int64)

    # ---- laws

    def _supports(self, *, ideal: bool) -> tuple[Support[float], ...]:
        return tuple(base.support if ideal else base.support_effective for base in self.bases)

    def _channel(self, *, ideal: bool) -> FloatArray:
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

    @cached_property
    def law(self) -> LevelLaw:
        """Ideal support by level and level channel, with the expected shares."""
        return LevelLaw(self._supports(ideal=True), np.array(self.shares), self._channel(ideal=True))

    @cached_property
    def law_effective(self) -> LevelLaw:
        """The same for the integers that are sampled: what estimators use."""
        return LevelLaw(self._supports(ideal=False), np.array(self.shares), self._channel(ideal=False))

    # ---- estimators

    def counts(self, tally: Tally) -> LevelCounts:
        """What linear estimators read."""
        self.check_tally(tally)
        check_reports(tally)
        return LevelCounts(tally.cells["n"], tally.cells["support"], self.law_effective, self.base)

    def estimate(self, tally: Tally, method: str = "auto") -> Estimate:
        """Linear estimates from a tally: `auem`, `self` (self-calibrated), `grouped`, or the best for this design."""
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        counts = self.counts(tally)
        reason = ""
        if method == "auto":
            law = replace(counts.law, shares=plausible_shares(counts))
            method, why = choose(self.base, self.k, law, counts.total)
            reason = f"; chosen because {why}"
        part, text = linear(counts, method)
        steps = (f"estimate from {tally.n} reports, unbiased to first order, {text}{reason}",)
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
        t, counts = len(self.levels), self.counts(tally)
        known = np.array(self.shares)
        start = known if method == "em-known" else (plausible_shares(counts) + 1 / t) / 2
        origin = np.full(self.k, 1 / self.k)
        part, shares, steps = fit_levels(evidence, start, options, known=method == "em-known" or t == 1, origin=origin)
        told = ", ".join(f"{level:g}: {share:.3g}" for level, share in zip(self.levels, shares.tolist(), strict=True))
        steps = (*steps, f"shares of the levels: {told}")
        labels = self.domain.labels_or_numbers
        return Estimate(labels, {"frequency": part}, tally.n, self.design, tally.simulated, steps, biased=True)

    def evidence_of(self, data: object, *, blind: bool = False) -> tuple[Tally, LevelEvidence]:
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
            return data, table_evidence(self, data)
        tally, kept = checked_batches(self, data, keep=not self.sufficient)
        return tally, table_evidence(self, tally) if self.sufficient else row_evidence(self, kept, blind)

    # ---- what is promised

    @cached_property
    def guarantee(self) -> dict[str, Any]:
        """Largest log-ratios of a whole report, exactly, rounded up: see docs/maths/personal.md, section 3.

        `data`: between values, at a known level (by level in `data_by_level`); `level`: between levels, the value being
        known, which is `level_report` and `leakage` together; `pair`: between any values and levels at once.
        """
        t, base, told = len(self.levels), self.base, self.level_epsilon or 0.0
        found: dict[str, Any] = {"data": self.levels[-1], "data_by_level": list(self.levels)}
        bound = pair_bound(base, self.levels, self.k, told) if t > 1 else self.levels[-1]
        leak = level_leakage(base, self.levels, self.k, self.g)
        if self.refusal:
            found |= {"level_report": told, "leakage": leak, "level": told + leak, "pair": bound}
            method = "ideal parameters; the pair is an upper bound"
        else:
            kernel = self.kernel
            found |= {"data": self.epsilon_exact, "data_by_level": [b.epsilon_exact for b in self.bases]}
            found |= {"level_report": kernel.report, "leakage": kernel.leakage, "level": kernel.level_guarantee}
            found["pair"] = kernel.pair_guarantee
            method = "exact, from the integers that are sampled: the report's independent parts one by one"
        found |= {"pair_bound": max(bound, found["pair"]), "method": method, "warning": ""}
        if found["leakage"] > found["level_report"] > 0:
            least = level_leakage("lh", self.levels, self.k)
            other = f"; base lh with g = {common_range(self.levels)} tells {least:.3g}" if least < leak else ""
            found["warning"] = (
                f"the data tell more about the level ({found['leakage']:.3g}) than the level report does "
                f"({found['level_report']:.3g}){other}"
            )
        return found

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`: of the data at a known level."""
        worst = max(self.bases, key=lambda base: base.kernel.ratio)
        text = (
            f"given the level, known to the attacker, the level report does not depend on the value and cancels; at "
            f"level {worst.epsilon:g}: {worst.proof.argument}"
        )
        witness = Witness(worst.proof.witness.output, worst.proof.witness.likely, worst.proof.witness.unlikely)
        return Proof(self.kernel.ratio, f"{worst.proof.method}, at a known level", text, witness)

    def channel(self) -> Channel:
        """See `Mechanism.channel`: at the level with the largest ratio; data and reported level."""
        worst = max(range(len(self.levels)), key=lambda i: self.bases[i].kernel.ratio)
        base, told = self.bases[worst].channel(), self._level_weights(worst)
        check_outputs(len(base.outputs) * len(told), self.name, self.k)
        rows = [
            (f"{name}, {stratum}", tuple(w * weight for w in row), held)
            for name, row, held in zip(base.outputs, base.weights, base.supported or (), strict=True)
            for stratum, weight in zip(self.strata, told, strict=True)
        ]
        names, weights, supported = zip(*rows, strict=True)
        return Channel(names, weights, base.total * sum(told), supported)

    def _level_weights(self, level: int) -> list[int]:
        """Whole numbers in proportion to the chances of the reported levels."""
        for kernel in self.kernel.level:
            if isinstance(kernel, Bit):
                return [(1 << WORD_BITS) - kernel.chances[level], kernel.chances[level]]
            assert isinstance(kernel, Response)
            other = (1 << WORD_BITS) - kernel.keep
            return [kernel.keep * (kernel.k - 1) if r == level else other for r in range(kernel.k)]
        return [1]

    @property
    def channel_error(self) -> Fraction:
        """See `Mechanism.channel_error`."""
        return max(base.channel_error for base in self.bases)

    # ---- closed forms

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return self.bases[0].outputs + math.log2(len(self.strata))

    def moments(self, f: float, n: float, method: str = "auem", *, effective: bool = False) -> Moments:
        """First-order moments of one item's estimate by `auem` or `self`."""
        law = self.law_effective if effective else self.law
        return law.auem(f, n) if method == "auem" else law.self_calibrated(self.base, self.k, f, n)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`. `variance`: of one item at `frequency`, by the level reports, levels drawn."""
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return self._numbers(self.law, n) | size | {"guarantee": self.guarantee}

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_effective, n)

    def _numbers(self, law: LevelLaw, n: float) -> dict[str, Any]:
        name, why = choose(self.base, self.k, law, n)
        told = law.reported or len(self.levels) == 1
        chosen = law.auem if name == "auem" else self._self_calibrated(law)
        by_report = law.auem(self.frequency, n) if told else chosen(self.frequency, n)
        return {
            "p": law.p,
            "q": law.q,
            "shares": list(self.shares or ()),
            "frequency": self.frequency,
            "variance": by_report.random_levels,
            "estimator": name,
            "estimator_reason": why,
            "variance_estimator": chosen(self.frequency, n).random_levels,
            "mse": chosen(1 / self.k, n).random_levels,
            "asr": self.guess().success,
        }

    def _self_calibrated(self, law: LevelLaw) -> Callable[[float, float], Moments]:
        return lambda f, n: law.self_calibrated(self.base, self.k, f, n)

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: at the largest level, known to the attacker."""
        return self.bases[-1].guess(prior)
