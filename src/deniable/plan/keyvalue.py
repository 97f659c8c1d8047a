"""The planner's question about key-value data: which mechanism, for which interest in frequencies and in means.

F and M (variance and variance_mean of a design) are exact; designs are ranked by interest^2 F + M. No mechanism with
this epsilon lies beyond the frontier of docs/maths/keyvalue.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.errors import is_whole, require
from deniable.mechanisms.entry import KEY_VALUE, Entry
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.laws import frontier
from deniable.plan.advice import FEW_FORGERS, LITTLE_WORK, SHORT_REPORTS, advise, relative
from deniable.plan.answer import Answer, check_domain, check_limits, check_top, made, rows_for, sift
from deniable.plan.charts import keyvalue_chart
from deniable.plan.prediction import Prediction, forged_gain, points
from deniable.present.tables import number, percent
from deniable_client.exact import check_epsilon

if TYPE_CHECKING:
    import altair

__all__ = ["KeyValuePlan", "KeyValuePrediction", "plan_keyvalue"]

_LIMITS = ("stderr", "bits", "bytes", "work", "poisoning")
"""What can be limited, by the names that designs have them under."""

_TOLD = 0.1
"""A mean is told where its standard error is at most this share of the range."""
_POINTS, _REACH = 200, 100
"""Points on the frontier beside its corners, and up to how many times the least variance of means."""
_SHARES = np.r_[0.0, np.geomspace(1e-3, 0.98, 60)]
"""Shares of key-only reports that are tried where the mechanism has no rule for the interest."""


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
    work: float
    """Operations of the server per report."""
    poisoning: float
    """By how much a hundredth of forged reports can raise the summed frequencies of the targets."""
    told = (
        *("n", "stderr", "variance", "variance_mean", "rarest", "cost", "bound", "gap"),
        *("bits", "bytes", "work", "poisoning"),
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
    SHORT_REPORTS,
    LITTLE_WORK,
    FEW_FORGERS,
)


@dataclass(frozen=True, repr=False)
class KeyValuePlan(Answer[KeyValuePrediction]):
    """Key-value mechanisms, best first."""

    columns: ClassVar[Mapping[str, Callable[[KeyValuePrediction], str]]] = {
        "error": lambda d: f"{100 * d.stderr:.3g} pt",
        "rarest": lambda d: f"{100 * d.rarest:.3g} %",
        "excess": lambda d: "unknown" if d.gap is None else percent(max(d.gap, 0.0), 1),
        "bytes": lambda d: number(d.bytes),
        "work": lambda d: number(round(d.work)),
        "forged": lambda d: points(d.poisoning),
    }
    legend: ClassVar[str] = (
        "error: standard error of a frequency, in percentage points; rarest: share of people who must have a key for "
        "its mean to have a standard error of a tenth of the range; excess: how far the squared error is above the "
        "least possible at this error of means; bytes: of a report; work: operations of the server per report; "
        "forged: what 1 % of forged reports can add to the frequencies of the targets."
    )
    labels: tuple[str, ...] | None = None
    """The keys by name, where they have one."""

    @property
    def domain_options(self) -> Mapping[str, Any]:
        return {"k": self.request["k"]} if self.labels is None else {"labels": self.labels}

    def _told(self, best: KeyValuePrediction) -> str:
        interest = self.request["interest"]
        words = {0.0: "means alone", 1.0: "frequencies and means equally"}
        what = words.get(interest, f"an interest of {interest:g} in frequencies against means")
        return (
            f"{best.title} is best for {what}: a standard error of {100 * best.stderr:.3g} percentage points for a "
            f"frequency, and of a tenth of the range for the mean of a key that {100 * best.rarest:.3g} % of the "
            "people have."
        )

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
    limits: Mapping[str, float] | None = None,
    targets: int | None = None,
    top: int | None = None,
) -> KeyValuePlan:
    """Ranked key-value mechanisms for k keys (or `labels`), n people and a promise epsilon.

    `length`: how many pairs per person to allow for; None if everybody has exactly one. `interest` weighs frequencies
    against means: designs are ranked by interest^2 F + M, 0 is for means alone. `limits` has the largest allowed
    stderr (of a frequency), bits, bytes, work and poisoning, the last for `targets` keys (10 unless given).

    >>> plan_keyvalue(k=1206, n=23_486, epsilon=2.0).best.title
    'kv-ss2 (size = 288)'
    """
    keys = check_domain(k, labels, domain)
    require(is_whole(n, 1), "n", n, "an integer >= 1", "It is the number of people.")
    number = isinstance(interest, int | float) and not isinstance(interest, bool) and 0 <= interest < math.inf
    require(number, "interest", interest, "a number >= 0", "1 gives both the same weight, 0 is for means alone.")
    most = check_limits(limits, _LIMITS)
    aim = min(10, keys.k - 1) if targets is None else targets
    require(isinstance(aim, int) and 1 <= aim < keys.k, "targets", targets, f"an integer from 1 to {keys.k - 1}")
    check_top(top)
    asked = _Asked(keys, int(n), check_epsilon(epsilon, sampling=True), length, float(interest), aim)
    return asked.plan(most, top)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question on its way to a plan."""

    domain: Domain
    n: int
    epsilon: float
    length: int | None
    interest: float
    targets: int

    def plan(self, limits: Mapping[str, float], top: int | None) -> KeyValuePlan:
        """All designs, those with several encodings once for each; those beyond the limits out."""
        makers = (
            (name, partial(self._best, name, entry, encoding))
            for name, entry in rows_for(KEY_VALUE)
            for encoding in ([{}, {"encoding": "cyclic"}] if "encoding" in entry.options else [{}])
        )
        found, out = sift(makers, limits, lambda d: d.cost)
        ranked = advise(found, aspects=_ASPECTS)
        asked = {"question": KEY_VALUE, "k": self.domain.k, "n": self.n, "epsilon": self.epsilon}
        rest = {"length": self.length, "interest": self.interest, "targets": self.targets}
        return KeyValuePlan(asked | rest, limits, ranked[:top], out, self.domain.labels)

    def _best(self, name: str, entry: Entry, encoding: Mapping[str, Any]) -> KeyValuePrediction:
        """The row with its own parameters chosen for the interest."""
        made = [self._design(name, entry, {**options, **encoding}) for options in self._choices(entry)]
        return min(made, key=lambda d: d.cost)

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
        m: KeyValue = made(name, epsilon=self.epsilon, domain=self.domain, **options)
        own, traits = m.properties(self.n), entry.traits
        assert traits.work is not None
        assert traits.pull is not None
        return KeyValuePrediction(
            mechanism=m,
            options=options,
            n=self.n,
            cost=self.interest**2 * own["variance"] + own["variance_mean"],
            bound=own.get("bound"),
            gap=own.get("gap"),
            work=float(traits.work(m, self.n)),
            poisoning=float(forged_gain(traits.pull(m, self.targets))),
            **{name: own[name] for name in ("variance", "variance_mean", "bits", "bytes")},
        )
