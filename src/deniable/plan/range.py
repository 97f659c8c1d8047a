"""The planner's question about answers in an order: which mechanism errs least on ranges, how many people it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.ranges import RANGES, least_variance
from deniable.errors import is_whole, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import RANGE
from deniable.mechanisms.ordinal.laws import ideal_law
from deniable.mechanisms.registry import entry_of
from deniable.plan.advice import LITTLE_WORK, LOW_GUESS, SHORT_REPORTS, advise, fewest, least_error
from deniable.plan.answer import Plan, check_top, made, rows_for, sift
from deniable.plan.cautions import about_people, about_target
from deniable.plan.charts import answer_chart, reason
from deniable.plan.prediction import Prediction, counted, excess_percent
from deniable.plan.scoring import WEIGHED, check_limits, check_weights
from deniable.plan.smallest import smallest_n
from deniable.present.tables import number
from deniable_client.exact import check_epsilon

if TYPE_CHECKING:
    import altair

__all__ = ["plan_range"]

_FLAT = "ss"
"""The best mechanism for single answers, whose sums over ranges are compared."""


@dataclass(frozen=True, kw_only=True)
class RangePrediction(Prediction[Mechanism]):
    """What is predicted of a mechanism for answers in an order, for n people that all answers are equally likely for.

    Variances are averages over all ranges, the sampling of people included.
    """

    n: int
    variance_range: float
    mse: float
    """Of single answers, without the sampling of people."""
    gap: float | None
    """How far the variance is above the least that any mechanism can have; None where that is not computed."""
    asr: float
    blind: float
    work: float | None = None
    """Operations of the server per report; None where the row does not say."""
    told = ("n", "variance_range", "stderr", "mse", "gap", "asr", "blind", "bits", "bytes", "work")

    @property
    def own(self) -> Mapping[str, Any]:
        """See `Prediction.own`: circles, widths and shares follow from rules, and are long."""
        return self.options

    @property
    def stderr(self) -> float:
        """Standard error of the share of a range: the root of the mean variance."""
        return math.sqrt(self.variance_range)


_COLUMNS: dict[str, Callable[[RangePrediction], str]] = {
    "error": lambda d: f"{100 * d.stderr:.3g} pt",
    "excess": lambda d: excess_percent(d.gap),
    "answers": lambda d: f"{100 * math.sqrt(d.mse):.3g} pt",
    "guess": lambda d: f"{100 * d.asr:.3g} %",
    "bytes": lambda d: number(d.bytes),
    "work": lambda d: "unknown" if d.work is None else number(round(d.work)),
}


@dataclass(frozen=True, repr=False)
class RangePlan(Plan[RangePrediction]):
    """Mechanisms for answers in an order, best first."""

    meanings: ClassVar[Mapping[str, str]] = {
        "people": "the fewest that reach the target",
        "error": "standard error of the share of a range, over all ranges",
        "excess": "how far its square is above the least possible",
        "answers": "standard error of the share of a single answer",
        "guess": "how often the best guess of the answer from a report is right",
        "bytes": "of a report",
        "work": "operations of the server per report",
    }

    @property
    def columns(self) -> Mapping[str, Callable[[RangePrediction], str]]:
        if self.request["n"] is not None:
            return _COLUMNS
        people: dict[str, Callable[[RangePrediction], str]] = {"people": lambda d: f"{d.n:,}"}
        return people | _COLUMNS

    def _told(self, best: RangePrediction) -> str:
        if self.request["n"] is None:
            enough = counted(best.n, "person is", "people are")
            target = 100 * self.limits["stderr"]
            return f"{enough} enough for a standard error of {target:g} percentage points of ranges: {best.title}."
        what, more = self._chosen(best, "has the least error", "stderr")
        error = f"a standard error of {100 * best.stderr:.3g} percentage points of ranges{more}"
        return f"{best.title} {what}{self.within}: {error}."

    def _no(self) -> str:
        return super()._no() + self._takes(_error)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear: also that a target tells nothing."""
        if self.best is None:
            return super().notes
        many = about_people(self.best.n) if self.request["n"] is None else ()
        return (*super().notes, *about_target(self.limits.get("stderr")), *many)

    def chart(self) -> altair.LayerChart:
        x, y = "standard error of single answers, points", "standard error of ranges, points"
        rows = [
            {"label": d.name, x: 100 * math.sqrt(d.mse), y: 100 * d.stderr, "people": f"{d.n:,}"}
            | {"best guess": f"{100 * d.asr:.4g} %", "size": f"{d.bytes} bytes"}
            | reason(d)
            for d in self.designs
        ]
        title = f"Ranges of {self.request['k']:,} answers at epsilon {self.request['epsilon']:g}"
        n = "each with the fewest people that do" if self.request["n"] is None else f"n = {self.request['n']:,}"
        return answer_chart(rows, x=x, y=y, title=title, subtitle=n)


def plan_range(
    *,
    epsilon: float,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    n: int | None = None,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    top: int | None = None,
) -> RangePlan:
    """Ranked mechanisms for ranges of answers in an order, for n people and a promise epsilon.

    Without n, `limits` must have the wanted stderr of a range; every design then has the fewest people that reach it.
    """
    where = Domain.given(k, labels, domain)
    epsilon, most = check_epsilon(epsilon, sampling=True), check_limits(limits)
    weighed = check_weights(weight, weights, "n" if n is None else "variance_range")
    known = [word for word in WEIGHED if word != "poisoning"]
    require("poisoning" not in weighed.columns, "weights", "poisoning", f"named by {', '.join(known)} for ranges")
    check_top(top)
    hint = "Without it, a target for the standard error says how many people are needed."
    fits = is_whole(n, 1) if n is not None else "stderr" in most
    require(fits, "n", n, "an integer >= 1, the number of people", hint)
    names = [*(name for name, _ in rows_for(RANGE)), _FLAT]
    makers = ((name, partial(_design, name, epsilon, where, n, most)) for name in names)
    found, out = sift(makers, most, weighed, lambda d: d.variance_range)
    lead = fewest("people") if n is None else least_error("the least error of ranges")
    ranked = advise(found, aspects=(lead, LOW_GUESS, SHORT_REPORTS, LITTLE_WORK), weights=weighed)
    asked = {"question": RANGE, "k": where.k, "n": n, "epsilon": epsilon} | weighed.document()
    return RangePlan(asked, most, ranked[:top], out, labels=where.labels)


def _variance(m: Mechanism) -> float:
    """The mean variance of all ranges from one report; of a flat design it is that of cells of one point."""
    if m.name != _FLAT:
        return float(m.properties()["variance_range"])
    size = best_subset_size(m.k, m.epsilon)
    return ideal_law(m.epsilon, m.k, m.k, [1], [1], [1], [size]).mean_variance(RANGES)


def _error(m: Mechanism, n: int) -> float:
    return math.sqrt(_variance(m) / n)


def _design(name: str, epsilon: float, domain: Domain, n: int | None, limits: Mapping[str, float]) -> RangePrediction:
    flat = {"size": best_subset_size(domain.k, epsilon)} if name == _FLAT else {}
    m: Mechanism = made(name, epsilon=epsilon, domain=domain, **flat)
    variance, least = _variance(m), least_variance(domain.k, epsilon)
    people = smallest_n(lambda n: math.sqrt(variance / n), limits["stderr"]) if n is None else n
    own, work, guess = m.properties(people), entry_of(name).traits.work, m.guess()
    return RangePrediction(
        mechanism=m,
        options=flat,
        n=people,
        variance_range=variance / people,
        gap=None if least is None else variance / least - 1,
        asr=guess.success,
        blind=guess.blind,
        work=None if work is None else float(work(m, people)),
        **{name: own[name] for name in ("mse", "bits", "bytes")},
    )
