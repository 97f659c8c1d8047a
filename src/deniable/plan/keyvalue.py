"""The planner's question about key-value data: which mechanism, for which interest in frequencies and in means.

F and M (variance and variance_mean of a design) are exact; designs are ranked by interest^2 F + M. No mechanism with
this epsilon lies beyond the frontier of docs/maths/keyvalue.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.errors import DeniableError, ParameterError, is_whole, require
from deniable.mechanisms.entry import KEY_VALUE, Entry
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.laws import frontier
from deniable.mechanisms.registry import entry_of
from deniable.plan.advice import FEW_FORGERS, LITTLE_WORK, LOW_GUESS, SHORT_REPORTS, advise, relative
from deniable.plan.answer import Plan, made, rows_for, sift
from deniable.plan.cautions import about_keys
from deniable.plan.charts import keyvalue_chart
from deniable.plan.prediction import Prediction, excess_percent, figure, forged_gain, points
from deniable.plan.request import Request, request
from deniable.plan.scoring import Score, check_weights, excess
from deniable.present.tables import number

if TYPE_CHECKING:
    import altair

__all__ = ["KeyValuePlan", "KeyValuePrediction", "plan_keyvalue"]

_TOLD = 0.1
"""A mean is told where its standard error is at most this share of the range."""
_POINTS, _REACH = 200, 100
"""Points on the frontier beside its corners, and up to how many times the least variance of means."""
_SHARES = np.r_[0.0, np.geomspace(1e-3, 0.98, 60)]
"""Shares of key-only reports that are tried where the mechanism has no rule for the interest."""
_EMPTY = 1e-6
"""Largest chance that nobody sends one of two kinds of reports."""
_MOVED = ("size", "g", "mix")
"""Parameters that limits and weights may move."""
_GAIN = 5e-3
"""A parameter is moved if limits are met by it, or the score is better by so much."""
_PLACES, _ROUNDS = 7, 6
"""How many values of such a parameter are tried at once, and how often around the best of them."""
_RANGES, _LARGE = 16, 10
"""Ranges of a hash are tried up to so many times the best; at a larger epsilon up to those for this one."""


@dataclass(frozen=True, kw_only=True)
class KeyValuePrediction(Prediction[KeyValue]):
    """What is predicted of a key-value mechanism for n people.

    Averages over the keys, at uniform frequencies, values in the middle of their range and one pair per person.
    """

    n: int
    variance: float
    """Of an estimated frequency: F/n."""
    variance_mean: float
    """Of an estimated frequency times mean, on a range from -1 to 1: M/n."""
    cost: float
    """interest^2 F/n + M/n, what designs are ranked by."""
    bound: float | None
    """The least variance of frequencies that any mechanism with this epsilon can have at this variance_mean."""
    gap: float | None
    """How far the variance is above it, as a fraction."""
    asr: float
    """Success of the best guess of somebody's key and end of the range, all of them being equally likely."""
    blind: float
    """The same without a report."""
    work: float
    """Operations of the server per report."""
    poisoning: float
    """By how much a hundredth of forged reports can raise the summed frequencies of the targets."""
    told = (
        *("n", "stderr", "variance", "variance_mean", "rarest", "cost", "bound", "gap"),
        *("asr", "blind", "bits", "bytes", "work", "poisoning"),
    )

    @property
    def own(self) -> Mapping[str, Any]:
        """Own parameters; the range and the length are those of the question."""
        own = dict(self.mechanism.own_params)
        if own.get("mix") == 0:
            own.pop("key_size", None)  # nobody sends keys alone
        return own

    @property
    def stderr(self) -> float:
        """Standard error of an estimated frequency."""
        return math.sqrt(self.variance)

    @property
    def rarest(self) -> float:
        """The share of people who must have a key for its mean to have a standard error of a tenth of the range."""
        return math.sqrt(self.variance_mean) / (2 * _TOLD)


_LEAST = "the least error of frequencies and means together"
_ASPECTS = (
    relative(lambda d: d.cost, _LEAST, "an error {:.2g} % above the least", "a weighted error"),
    relative(
        lambda d: d.variance,
        "the best frequencies",
        "frequencies {:.2g} % worse than the best",
        "a variance of frequencies",
    ),
    relative(lambda d: d.variance_mean, "the best means", "means {:.2g} % worse than the best", "a variance of means"),
    LOW_GUESS,
    SHORT_REPORTS,
    LITTLE_WORK,
    FEW_FORGERS,
)


@dataclass(frozen=True, repr=False)
class KeyValuePlan(Plan[KeyValuePrediction]):
    """Key-value mechanisms, best first."""

    columns: ClassVar[Mapping[str, Callable[[KeyValuePrediction], str]]] = {
        "error": lambda d: f"{figure(100 * d.stderr)} pt",
        "rarest": lambda d: f"{100 * d.rarest:.3g} %" if d.rarest <= 1 else "none",
        "excess": lambda d: excess_percent(d.gap),
        "guess": lambda d: f"{100 * d.asr:.3g} %",
        "bytes": lambda d: number(d.bytes),
        "work": lambda d: number(round(d.work)),
        "forged": lambda d: points(d.poisoning),
    }
    meanings: ClassVar[Mapping[str, str]] = {
        "error": "standard error of a frequency, in percentage points",
        "rarest": (
            "share of people who must have a key for its mean to have a standard error of a tenth of the range, none "
            "if even all are too few"
        ),
        "excess": "how far the squared error is above the least possible at this error of means",
        "guess": (
            "how often the best guess from a report, of somebody's key and of whether its value is high or low, is "
            "right"
        ),
        "bytes": "of a report",
        "work": "operations of the server per report",
        "forged": "what 1 % of forged reports can add to the frequencies of the targets",
    }

    def _told(self, best: KeyValuePrediction) -> str:
        interest = self.request["interest"]
        words = {0.0: "means alone", 1.0: "frequencies and means equally"}
        what = words.get(interest, f"an interest of {figure(interest)} in frequencies against means")
        how, more = self._chosen(best, "is best", "cost")
        means = (
            f"of a tenth of the range for the mean of a key that {100 * best.rarest:.3g} % of the people have"
            if best.rarest <= 1
            else "of more than a tenth of the range for the mean of a key, even if everybody has it"
        )
        return (
            f"{best.title} {how} for {what}{self.within}{more}: a standard error of {figure(100 * best.stderr)} "
            f"percentage points for a frequency, and {means}."
        )

    def _no(self) -> str:
        return super()._no() + self._takes(lambda m, n: math.sqrt(m.properties(n)["variance"]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear: also that an error hides most keys."""
        if self.best is None:
            return super().notes
        keys, length = self.request["k"], self.request["length"] or 1
        return (*super().notes, *about_keys(keys, length, self.best.n, self.best.stderr))

    @cached_property
    def frontier(self) -> tuple[dict[str, float], ...]:
        """The least variance of frequencies of any mechanism, against that of frequency times mean.

        For one pair per person; it holds for several pairs too, but need not be reached there.
        """
        edge = frontier(self.request["epsilon"], self.request["k"])
        first = 1 / edge.b[-1]
        corners = 1 / edge.b[edge.b > 0]
        return self.least(np.unique(np.r_[corners, np.geomspace(first, _REACH * first, _POINTS)]) / self.request["n"])

    def least(self, variance_mean: FloatArray) -> tuple[dict[str, float], ...]:
        """Points of the frontier at these variances of frequency times mean, without those that nobody reaches."""
        n, edge = self.request["n"], frontier(self.request["epsilon"], self.request["k"])
        found = [(edge.least_frequency(float(x) * n) / n, float(x)) for x in variance_mean]
        return tuple({"variance": y, "variance_mean": x} for y, x in found if math.isfinite(y))

    def chart(self) -> altair.LayerChart:
        return keyvalue_chart(self)

    def document(self) -> dict[str, Any]:
        return super().document() | {"frontier": [dict(row) for row in self.frontier]}


def plan_keyvalue(
    *,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    n: int,
    epsilon: float,
    length: int | None = None,
    interest: float = 1.0,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    targets: int | None = None,
    top: int | None = None,
) -> KeyValuePlan:
    """Ranked key-value mechanisms for k keys (or `labels`), n people and a promise epsilon.

    `length`: how many pairs per person to allow for; None if everybody has exactly one. `interest` weighs frequencies
    against means: designs are ranked by interest^2 F + M, 0 is for means alone, and this is the error that `weights`
    weigh. The standard error that is limited is that of a frequency. asr is the success of the best guess of the key
    and the rounded value (an end of the range) of somebody with one pair.
    """
    keys = Domain.given(k, labels, domain)
    number = isinstance(interest, int | float) and not isinstance(interest, bool) and 0 <= interest < math.inf
    require(number, "interest", interest, "a number >= 0", "1 gives both the same weight, 0 is for means alone.")
    if length is not None:
        fits = is_whole(length, 1) and length <= keys.k
        hint = "Leave it out where everybody has exactly one pair."
        require(fits, "length", length, f"an integer from 1 to the number of keys, {keys.k}", hint)
    weighed = check_weights(weight, weights, "cost")
    wanted = request(keys, n, epsilon, limits, weighed, targets, None, {}, top)
    return _Planner(wanted, int(n), float(epsilon), length, float(interest)).plan()


@dataclass(frozen=True, slots=True)
class _Planner:
    """One request on its way to a plan: for so many people, with this promise."""

    wanted: Request
    n: int
    epsilon: float
    length: int | None
    interest: float

    def plan(self) -> KeyValuePlan:
        """All designs, those with several encodings once for each; those beyond the limits out.

        Where limits or weights ask for something else than the least error, also with a parameter moved to it.
        """
        limits, weights, domain = self.wanted.limits, self.wanted.weights, self.wanted.domain
        makers: list[tuple[str, Callable[[], KeyValuePrediction]]] = [
            (name, cache(partial(self._best, name, entry, encoding)))
            for name, entry in rows_for(KEY_VALUE)
            for encoding in ([{}, {"encoding": "cyclic"}] if "encoding" in entry.options else [{}])
        ]
        if limits or weights.weighed:
            usual, _ = sift(makers, {}, weights)
            score = weights.among(usual)
            moved = [self._moved(d, limits, score) for d in usual]
            makers += [(d.name, partial(replace, d)) for d in moved if d is not None]
        found, out = sift(makers, limits, weights)
        ranked = advise(found, aspects=_ASPECTS, weights=weights)
        asked = {"question": KEY_VALUE, "k": domain.k, "n": self.n, "epsilon": self.epsilon}
        rest = {"length": self.length, "interest": self.interest, "targets": self.wanted.targets} | weights.document()
        return KeyValuePlan(asked | rest, limits, ranked[: self.wanted.top], out, labels=domain.labels)

    def _best(self, name: str, entry: Entry, encoding: Mapping[str, Any]) -> KeyValuePrediction:
        """The row with its own parameters chosen for the interest."""
        made: list[KeyValuePrediction] = []
        errors: list[DeniableError] = []
        for options in self._choices(entry):
            try:
                made.append(self._design(name, entry, {**options, **encoding}))
            except DeniableError as error:
                errors.append(error)
        if not made and "mix" in entry.options:  # too few would send keys alone, or pairs: the best of other shares
            for share in _SHARES:
                with suppress(DeniableError):
                    made.append(self._design(name, entry, {**options, **encoding, "mix": float(share)}))
        if not made:
            raise errors[0]
        return min(made, key=lambda d: d.cost)

    def _moved(self, usual: KeyValuePrediction, limits: Mapping[str, float], score: Score) -> KeyValuePrediction | None:
        """The design with one parameter moved to where limits are met, or missed by less, and the score is least.

        None if that is no gain.
        """

        def rank(d: KeyValuePrediction) -> tuple[float, ...]:
            return (max(1.0, excess(d, limits)), *score.key(d))

        entry, own = entry_of(usual.name), usual.mechanism.own_params
        options = [option for option in _MOVED if option in entry.options]
        base = {**usual.options, **{option: own[option] for option in options if option in own}}
        tried = [d for option in options for d in self._tried(usual.name, entry, base, option, rank)]
        best = min(tried, key=rank, default=usual)
        gain = rank(best)[0] < rank(usual)[0] or score.of(best) < (1 - _GAIN) * score.of(usual)
        return best if gain else None

    def _tried(
        self,
        name: str,
        entry: Entry,
        base: Mapping[str, Any],
        option: str,
        rank: Callable[[KeyValuePrediction], tuple[float, ...]],
    ) -> list[KeyValuePrediction]:
        """Designs with many values of a parameter, ever closer around the best."""
        found: dict[float, KeyValuePrediction] = {}
        low, high = self._reach(option)
        for _ in range(_ROUNDS):
            for x in _between(low, high, option != "mix"):
                if x not in found:
                    with suppress(DeniableError):  # not every value suits every row
                        found[x] = self._design(name, entry, {**base, option: x})
            order = sorted(found)
            if not order:
                break
            at = min(range(len(order)), key=lambda i: rank(found[order[i]]))
            low, high = order[max(at - 1, 0)], order[min(at + 1, len(order) - 1)]
        return list(found.values())

    def _reach(self, option: str) -> tuple[float, float]:
        """The least and the largest value of a parameter that are tried."""
        ratio = math.exp(min(self.epsilon, _LARGE))
        most = {"size": 2 * (self.wanted.k + (self.length or 0)) - 1, "g": _RANGES * (ratio + 1), "mix": _SHARES[-1]}
        return {"size": 1, "g": 2, "mix": 0.0}[option], most[option]

    def _choices(self, entry: Entry) -> Iterator[dict[str, Any]]:
        known: dict[str, Any] = {}
        if self.length is not None:
            require("length" in entry.options, "length", self.length, "left out: it takes one pair per person only")
            known["length"] = self.length
        if "interest" in entry.options:
            yield known | {"interest": self.interest}
        elif "mix" in entry.options:
            yield from (known | {"mix": float(share)} for share in _SHARES)
        else:
            yield known

    def _design(self, name: str, entry: Entry, options: dict[str, Any]) -> KeyValuePrediction:
        m: KeyValue = made(name, epsilon=self.epsilon, domain=self.wanted.domain, **options)
        self._check_groups(m)
        own, traits, guess = m.properties(self.n), entry.traits, m.guess_pair()
        assert traits.work is not None
        assert traits.pull is not None
        return KeyValuePrediction(
            mechanism=m,
            options=options,
            n=self.n,
            cost=self.interest**2 * own["variance"] + own["variance_mean"],
            bound=own.get("bound"),
            gap=own.get("gap"),
            asr=guess.success,
            blind=guess.blind,
            work=float(traits.work(m, self.n)),
            poisoning=float(forged_gain(traits.pull(m, self.wanted.targets))),
            **{name: own[name] for name in ("variance", "variance_mean", "bits", "bytes")},
        )

    def _check_groups(self, m: KeyValue) -> None:
        """Refuse two kinds of reports where hardly anybody would send one of them: there is no estimate without it."""
        least = min(float(group.share) for group in m.groups)
        if least < 1 and self.n * math.log1p(-least) > math.log(_EMPTY):
            told = f"{m.name} has two kinds of reports, and of {self.n:,} people nobody might send one of them."
            raise ParameterError(told, "Collect more reports.")


def _between(low: float, high: float, whole: bool) -> list[Any]:
    """Values to try, both ends among them: whole ones at equal ratios."""
    if not whole:
        return [float(x) for x in np.linspace(low, high, _PLACES)]
    return sorted({int(x) for x in np.rint(np.geomspace(low, high, _PLACES))})
