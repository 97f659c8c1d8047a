"""The planner's question about means of numbers: which mechanism errs least, and how many people it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from deniable.core.grid import check_interval
from deniable.errors import is_whole, require
from deniable.mechanisms.entry import MEAN
from deniable.mechanisms.numeric.base import Numeric
from deniable.mechanisms.registry import entry_of
from deniable.plan.advice import LITTLE_WORK, LOW_GUESS, SHORT_REPORTS, Aspect, advise, fewest, forged, least_error
from deniable.plan.answer import Plan, check_top, made, rows_for, sift
from deniable.plan.cautions import about_mean, about_people, about_rounding
from deniable.plan.charts import answer_chart, reason
from deniable.plan.prediction import Prediction, counted, figure, forged_gain
from deniable.plan.scoring import check_limits, check_weights
from deniable.plan.smallest import smallest_n
from deniable.present.tables import number
from deniable_client.exact import check_epsilon

if TYPE_CHECKING:
    import altair

__all__ = ["OTHERS", "MeanPlan", "MeanPrediction", "plan_mean"]


@dataclass(frozen=True, kw_only=True)
class MeanPrediction(Prediction[Numeric]):
    """What is predicted of a mechanism for means, for n people.

    Variances are those of the noise: of the estimated mean around the mean of these very people.
    """

    n: int
    variance_mean: float
    """Of the mean, on average over the values that people may have."""
    variance_worst: float
    """Of the mean if all people have the value that is worst off: what designs are ranked by."""
    asr: float
    """Success of the best guess of the half of the interval that a number is in, all numbers being equally likely."""
    blind: float
    """The same without a report: one half."""
    rounding: float
    """By how much a number is moved at most when it is rounded to the grid."""
    work: float | None = None
    """Operations of the server per report; None where the row does not say."""
    poisoning: float | None = None
    """How far one per cent of forged reports can move the mean; None where the row does not say."""
    gap: float | None = None
    """How far its variance is above the least that is possible, as it proves itself; None where it does not."""
    told = (
        *("n", "variance_mean", "variance_worst", "stderr", "stderr_mean", "asr", "blind", "rounding"),
        *("bits", "bytes", "work", "poisoning", "gap"),
    )

    @property
    def stderr(self) -> float:
        """Standard error of the mean, whatever the values are."""
        return math.sqrt(self.variance_worst)

    @property
    def stderr_mean(self) -> float:
        """Standard error of the mean where all values are equally likely."""
        return math.sqrt(self.variance_mean)


OTHERS = (
    Aspect(
        lambda d: d.variance_mean * d.n,
        "the least error for values that are spread evenly",
        "a variance for evenly spread values {:.2g} % above the least",
        lambda d, b: (
            "a variance for evenly spread values "
            f"{d.variance_mean * d.n / (b.variance_mean * b.n):.3g} times {b.name}'s"
        ),
    ),
    LOW_GUESS,
    SHORT_REPORTS,
    LITTLE_WORK,
    forged("{} to the mean", figure),
)
"""What designs are good for beside their error."""


_COLUMNS: dict[str, Callable[[MeanPrediction], str]] = {
    "error": lambda d: figure(d.stderr, 4),
    "evenly spread": lambda d: figure(d.stderr_mean, 4),
    "guess": lambda d: f"{100 * d.asr:.3g} %",
    "bytes": lambda d: number(d.bytes),
    "work": lambda d: "unknown" if d.work is None else number(round(d.work)),
    "forged": lambda d: "unknown" if d.poisoning is None else figure(d.poisoning),
}


@dataclass(frozen=True, repr=False)
class MeanPlan(Plan[MeanPrediction]):
    """Mechanisms for means, best first."""

    meanings: ClassVar[Mapping[str, str]] = {
        "error": "standard error of the mean, whatever the values are",
        "evenly spread": "the same where all values are equally likely",
        "guess": (
            "how often the best guess from a report, of the half of the interval that a number is in, is right "
            "(without a report 50 %)"
        ),
        "bytes": "of a report",
        "work": "operations of the server per report",
        "forged": "how far 1 % of forged reports can move the mean",
    }

    @property
    def columns(self) -> Mapping[str, Callable[[MeanPrediction], str]]:
        if self.request["n"] is not None:
            return _COLUMNS
        target = self.limits["stderr"]
        few: dict[str, Callable[[MeanPrediction], str]] = {
            "people": lambda d: f"{d.n:,}",
            "evenly spread": lambda d: f"{math.ceil(d.n * (d.stderr_mean / target) ** 2):,}",
        }
        return {name: few.get(name, cell) for name, cell in ({"people": few["people"]} | _COLUMNS).items()}

    @property
    def legend(self) -> str:
        told = super().legend
        if self.request["n"] is not None:
            return told
        return told.replace("the same where all", "people that are enough where all")

    def _told(self, best: MeanPrediction) -> str:
        if self.request["n"] is None:
            enough = counted(best.n, "person is", "people are")
            return f"{enough} enough for a standard error of {self.limits['stderr']:g}: {best.title}."
        what, more = self._chosen(best, "has the least error", "stderr")
        error = f"a standard error of at most {figure(best.stderr, 4)} for the mean{more}"
        return f"{best.title} {what}{self.within}: {error}."

    def _no(self) -> str:
        return super()._no() + self._takes(_worst)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear: also that a mean remains open."""
        if self.best is None:
            return super().notes
        low, high = self.request["interval"]
        many = about_people(self.best.n) if self.request["n"] is None else ()
        vague = about_mean(low, high, self.best.n, self.best.stderr)
        coarse = about_rounding(self.best.mechanism.k, self.best.rounding, self.best.stderr)
        return (*super().notes, *many, *vague, *coarse)

    def chart(self) -> altair.LayerChart:
        x, y = "standard error, values spread evenly", "standard error, whatever the values"
        rows = [
            {"label": d.name, x: d.stderr_mean, y: d.stderr, "people": f"{d.n:,}"}
            | {"best guess": f"{100 * d.asr:.4g} %", "size": f"{d.bytes} bytes"}
            | reason(d)
            for d in self.designs
        ]
        title = f"Means of numbers at epsilon {self.request['epsilon']:g}"
        n = "each with the fewest people that do" if self.request["n"] is None else f"n = {self.request['n']:,}"
        return answer_chart(rows, x=x, y=y, title=title, subtitle=n)


def plan_mean(
    *,
    interval: Any,
    epsilon: float,
    n: int | None = None,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    top: int | None = None,
    **grid: Any,
) -> MeanPlan:
    """Ranked mechanisms for the mean of numbers of an interval, for n people and a promise epsilon.

    Without n, `limits` must have the wanted stderr; every design then has the fewest people that reach it. asr is the
    success of the best guess of the half of the interval that a number is in, poisoning how far forged reports can move
    the mean. Designs are ranked by the largest variance of the mean, or without n by the number of people, and this is
    the error that `weights` weigh. `grid` has points, layout and clip where they are not left to the mechanism.
    """
    low, high = check_interval(interval)
    epsilon, most = check_epsilon(epsilon, sampling=True), check_limits(limits)
    weighed = check_weights(weight, weights, "n" if n is None else "variance_worst")
    check_top(top)
    whole = is_whole(n, 1)
    hint = "Without it, a target for the standard error says how many people are needed."
    require(whole if n is not None else "stderr" in most, "n", n, "an integer >= 1, the number of people", hint)
    where = {"interval": (low, high), **grid}
    makers = ((name, partial(_design, name, epsilon, where, n, most)) for name, _ in rows_for(MEAN))
    found, out = sift(makers, most, weighed, lambda d: d.variance_worst)
    lead = fewest("people") if n is None else least_error("the least error, whatever the values are")
    ranked = advise(found, aspects=(lead, *OTHERS), weights=weighed)
    asked = {"question": MEAN, "interval": [low, high], **grid, "n": n, "epsilon": epsilon} | weighed.document()
    return MeanPlan(asked, most, ranked[:top], out)


def _worst(m: Numeric, n: int) -> float:
    """The standard error, whatever the values are."""
    return math.sqrt(m.variances(n)[1])


def _design(
    name: str, epsilon: float, where: Mapping[str, Any], n: int | None, limits: Mapping[str, float]
) -> MeanPrediction:
    own_grid = "layout" not in entry_of(name).options
    told = {key: value for key, value in where.items() if not own_grid or key in ("interval", "clip")}
    m: Numeric = made(name, epsilon=epsilon, **told)
    people = smallest_n(partial(_worst, m), limits["stderr"]) if n is None else n
    own, traits, guess = m.properties(people), entry_of(name).traits, m.guess_half()
    average, worst = m.variances(people)
    return MeanPrediction(
        mechanism=m,
        options=told,
        n=people,
        asr=guess.success,
        blind=guess.blind,
        rounding=m.grid.step / 2,
        work=None if traits.work is None else float(traits.work(m, people)),
        poisoning=None if traits.pull is None else float(forged_gain(traits.pull(m, 1))),
        variance_mean=average,
        variance_worst=worst,
        gap=own.get("gap"),
        **{name: own[name] for name in ("bits", "bytes")},
    )
