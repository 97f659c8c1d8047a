"""The planner's question about means of numbers: which mechanism errs least, and how many people it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

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

__all__ = ["OTHERS", "MeanPlan", "MeanPrediction", "plan_mean", "predicted", "ranked"]

P = TypeVar("P", bound="MeanPlan")


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
    drawn: ClassVar[tuple[str, str, str]] = (
        "Means of numbers",
        "standard error, values spread evenly",
        "standard error, whatever the values",
    )
    """What a chart is of, and its axes."""

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
        what, x, y = self.drawn
        rows = [
            {"label": d.name, x: d.stderr_mean, y: d.stderr, "people": f"{d.n:,}"}
            | {"best guess": f"{100 * d.asr:.4g} %", "size": f"{d.bytes} bytes"}
            | reason(d)
            for d in self.designs
        ]
        title = f"{what} at epsilon {self.request['epsilon']:g}"
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
    asked = {"question": MEAN, "interval": [low, high], **grid, "n": n, "epsilon": epsilon}
    aspects = (least_error("the least error, whatever the values are"), *OTHERS)
    where = {"interval": (low, high), **grid}
    return ranked(MeanPlan, _design, asked, where, aspects, limits=limits, weight=weight, weights=weights, top=top)


def ranked(
    plan: type[P],
    design: Callable[..., MeanPrediction],
    asked: dict[str, Any],
    where: Mapping[str, Any],
    aspects: Sequence[Aspect],
    *,
    limits: Mapping[str, float],
    weight: float | None,
    weights: Mapping[str, float] | str | None,
    top: int | None,
) -> P:
    """The plan for a number that is a mean, along a line or around a circle.

    `design` predicts a row, made `where` people's numbers are; the first of the `aspects` is the error, which gives way
    to the number of people where that is asked for.
    """
    epsilon, most, n = check_epsilon(asked["epsilon"], sampling=True), check_limits(limits), asked["n"]
    weighed = check_weights(weight, weights, "n" if n is None else "variance_worst")
    check_top(top)
    fits = is_whole(n, 1) if n is not None else "stderr" in most
    hint = "Without it, a target for the standard error says how many people are needed."
    require(fits, "n", n, "an integer >= 1, the number of people", hint)
    makers = ((name, partial(design, name, epsilon, where, n, most)) for name, _ in rows_for(asked["question"]))
    found, out = sift(makers, most, weighed, lambda d: d.variance_worst)
    told = (fewest("people") if n is None else aspects[0], *aspects[1:])
    best = advise(found, aspects=told, weights=weighed)
    return plan(asked | {"epsilon": epsilon} | weighed.document(), most, best[:top], out)


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
    return predicted(m, told, people, m.variances(people), m.grid.step / 2)


def predicted(
    m: Any, options: Mapping[str, Any], n: int, variances: tuple[float, float], rounding: float
) -> MeanPrediction:
    """What is predicted of a mechanism for n people, with the variances of the evenly spread and of the worst ones."""
    own, traits, guess = m.properties(n), entry_of(m.name).traits, m.guess_half()
    return MeanPrediction(
        mechanism=m,
        options=options,
        n=n,
        asr=guess.success,
        blind=guess.blind,
        rounding=rounding,
        work=None if traits.work is None else float(traits.work(m, n)),
        poisoning=None if traits.pull is None else float(forged_gain(traits.pull(m, 1))),
        variance_mean=variances[0],
        variance_worst=variances[1],
        gap=own.get("gap"),
        **{name: own[name] for name in ("bits", "bytes")},
    )
