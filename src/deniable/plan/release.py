"""The planner's question about near answers: which mechanism releases single values with the least expected loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.codes import Codes
from deniable.core.grid import Grid
from deniable.core.promise import Promise
from deniable.core.space import Space
from deniable.errors import ParameterError
from deniable.mechanisms.entry import RELEASE
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.mechanisms.registry import entry_of, mechanism
from deniable.mechanisms.spaces import space_of
from deniable.plan.advice import LITTLE_WORK, LOW_GUESS, SHORT_REPORTS, Aspect, advise, forged, join, relative
from deniable.plan.answer import Plan, check_top, made, rows_for, sift
from deniable.plan.cautions import about_saved
from deniable.plan.charts import answer_chart, reason
from deniable.plan.prediction import Prediction, excess_percent, figure, forged_gain, plain
from deniable.plan.promised import arguments, smallest_budget
from deniable.plan.scoring import check_limits, check_weights
from deniable.present.tables import number, percent
from deniable_client.exact import check_epsilon

if TYPE_CHECKING:
    import altair

__all__ = ["ReleasePrediction", "plan_release"]

_WRITTEN = 1 << 20
"""Entries of the largest channel that is looked through for the value that is worst off."""
_PROGRAMME = 1 << 10
"""Entries of the largest table of losses whose best release for one epsilon is found by linear programming."""
_SAME = 1e-9
_NOT_TOLD = ("codes", "points", "loss", "bound", "blind", "multipliers")
"""Own parameters that are long, or have columns of their own."""
_RULES = {
    "mean": "Reports stay in the domain, and every value favours equally many of them.",
    "min": "Reports stay in the domain, and no value has a larger expected loss than with randomised response.",
}
"""What holds of brr with a rule, whatever the other designs are; the printed closed form is for comparison only."""


@dataclass(frozen=True, kw_only=True)
class ReleasePrediction(Prediction[MetricMechanism]):
    """What is predicted of a mechanism for near answers."""

    loss: float
    """Expected loss of a report, all values being equally likely."""
    worst: float | None
    """The same of the value that is worst off; None where there are too many values to look at."""
    bound: float | None
    """The least expected loss that any mechanism with this epsilon can have, where it is known."""
    gap: float | None
    """How far the loss is above it, as a fraction."""
    asr: float
    """Success of the best guess of a value (of a cell or code, on an interval) from its report."""
    constant: float | None = None
    """The expected loss of one and the same answer for everybody, the best there is; None where it is not known."""
    work: float | None = None
    """Operations of the server per report; None where the row does not say."""
    poisoning: float | None = None
    """How much one per cent of forged reports can add to the mean loss; None where it is not known."""
    told = (
        *("unit", "loss", "constant", "saved", "worst", "bound", "gap", "asr"),
        *("bits", "bytes", "work", "poisoning"),
    )

    @property
    def saved(self) -> float | None:
        """How much of the loss of a constant answer is saved, as a fraction; below 0 it is better not to ask."""
        return None if not self.constant else 1 - self.loss / self.constant

    @property
    def unit(self) -> str | None:
        """What the loss is measured in."""
        return self.mechanism.losses.unit or None

    @property
    def own(self) -> Mapping[str, Any]:
        """The rule, the points where they were chosen, and own parameters."""
        m = self.mechanism
        own = {name: rule for name, rule in (("rule", _rule(self.options)),) if rule}
        points = {"points": m.k} if isinstance(m.domain, Grid) and "points" not in self.options else {}
        return own | points | {name: x for name, x in m.params.items() if x != "random" and name not in _NOT_TOLD}


_ASPECTS = (
    relative(
        lambda d: d.loss,
        "the least expected loss",
        "an expected loss {:.2g} % above the least",
        "an expected loss",
        name="loss",
    ),
    relative(
        lambda d: d.worst,
        "the least loss of the value that is worst off",
        "a loss of the worst value {:.2g} % above the least",
        "a loss of the worst value",
        name="worst loss",
    ),
    SHORT_REPORTS,
)
_IF_WEIGHED: Mapping[str, Aspect] = {
    "asr": LOW_GUESS,
    "work": LITTLE_WORK,
    "poisoning": forged("{} to the mean loss", figure),
}
"""What designs are not compared by unless it is weighed."""


@dataclass(frozen=True, repr=False)
class ReleasePlan(Plan[ReleasePrediction]):
    """Mechanisms for near answers, best first."""

    columns: ClassVar[Mapping[str, Callable[[ReleasePrediction], str]]] = {
        "loss": lambda d: figure(d.loss, 4),
        "saved": lambda d: "unknown" if d.saved is None else percent(d.saved, 1),
        "worst": lambda d: "unknown" if d.worst is None else figure(d.worst, 4),
        "excess": lambda d: excess_percent(d.gap),
        "guess": lambda d: f"{100 * d.asr:.3g} %",
        "bytes": lambda d: number(d.bytes),
        "forged": lambda d: "unknown" if d.poisoning is None else figure(d.poisoning),
    }
    meanings: ClassVar[Mapping[str, str]] = {
        "loss": "expected distance of a report from the value, all values being equally likely",
        "saved": "of the loss of one constant answer for everybody",
        "worst": "the loss of the value that is worst off",
        "excess": "how far the loss is above the least possible",
        "guess": "how often the best guess of a value from its report is right",
        "bytes": "of a report",
        "forged": "what 1 % of forged reports can add to the mean loss",
    }

    def _told(self, best: ReleasePrediction) -> str:
        unit = f" {best.unit}" if best.unit else ""
        least = "" if best.bound is None else f"; no mechanism has less than {figure(best.bound, 4)}{unit}"
        what, more = self._chosen(best, "has the least expected loss", "loss")
        told = f"{best.title} {what}{self.within}: {figure(best.loss, 4)}{unit}{more}{least}."
        if self.weighed:
            told = f"{best.title} {what}{self.within}: the best guess is right {100 * best.asr:.3g} % of the time, and "
            told += f"the expected loss is {figure(best.loss, 4)}{unit}{least}."
        if best.saved is None or best.constant is None:
            return told
        much = f"{figure(100 * abs(best.saved))} % {'less' if best.saved > 0 else 'more'} than"
        constant = f"one constant answer for everybody ({figure(best.constant, 4)}{unit})"
        return f"{told} That is {much if abs(best.saved) > _SAME else 'no less than'} {constant}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear: also that reports tell hardly anything."""
        return (*super().notes, *(() if self.best is None else about_saved(self.best.saved)))

    @property
    def legend(self) -> str:
        if "interval" not in self.request:
            return super().legend
        own = "of a value from its report is right"
        cells = "from a report of the cell that a value is in is right, which is harder the more points a design has"
        return super().legend.replace(own, cells)

    def chart(self) -> altair.LayerChart:
        x, y, rows = "expected loss of the value that is worst off", "expected loss", []
        for d in self.designs:
            if d.worst and d.loss > 0:
                gap = "unknown" if d.gap is None else f"{100 * d.gap:.3g} %"
                label = f"{d.name} {_rule(d.options)}".rstrip()
                cells = {"label": label, x: d.worst, y: d.loss, "above bound": gap, "size": f"{d.bytes:,} bytes"}
                rows.append(cells | reason(d))
        title = f"Near answers at epsilon {self.request['epsilon']:g}"
        return answer_chart(rows, x=x, y=y, title=title, subtitle="all values are equally likely")


def plan_release(
    *,
    epsilon: float | None = None,
    promise: Promise | None = None,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    top: int | None = None,
    **where: Any,
) -> ReleasePlan:
    """Ranked mechanisms that release single values near the truth, for a promise epsilon.

    `where` is the domain as mechanisms take it: points, interval (with points, layout and clip) or distances. Designs
    are ranked by their expected loss, and this is the error that `weights` weigh. asr is the success of the best guess
    of a value, poisoning what forged reports can add to the mean loss. With a `promise` of any kind the best release
    for it is among them, and all others are made for its smallest budget: these keep it too.
    """
    if (epsilon is None) == (promise is None):
        hint = "For example epsilon=1; a promise of another kind is said by dn.promise(...), or by a file."
        raise ParameterError("epsilon or a promise must be given for the question 'release', one of them.", hint)
    epsilon = check_epsilon(smallest_budget(promise) if promise is not None else epsilon or 0.0, sampling=True)
    where = {"points": promise.k} if promise is not None and not where else where
    most = check_limits(limits)
    check_top(top)
    weighed = check_weights(weight, weights, "loss")
    mechanism("brr", epsilon=epsilon, domain=_checked(where))  # an error in the domain is one of the question
    bounds: dict[str, float] = {}
    own = _makers(epsilon, where, bounds, promise)
    found, out = sift(own, most, weighed, lambda d: float("promise" in d.options))  # of equals the one without a table
    asked = {} if promise is None else {"promise": promise.to_document()}
    told = {name: plain(x) for name, x in where.items()} | {"epsilon": epsilon} | asked | weighed.document()
    known = [aspect for aspect in _ASPECTS if all(aspect.value(d) is not None for d in found)]
    known += [aspect for name, aspect in _IF_WEIGHED.items() if name in weighed.columns]
    what = join([aspect.name for aspect in known])
    ranked = tuple(_noted(d) for d in advise(found, aspects=known, weights=weighed, compared=what))
    return ReleasePlan({"question": RELEASE, **told}, most, ranked[:top], out, compared=what)


def _checked(where: Mapping[str, Any]) -> Any:
    domain = space_of(dict(where))
    if domain is None:
        raise ParameterError("the domain must be given by points, interval or distances.", "For example points=100.")
    return domain


def _makers(
    epsilon: float, where: Mapping[str, Any], bounds: dict[str, float], promise: Promise | None
) -> Iterator[tuple[str, Callable[[], ReleasePrediction]]]:
    """All rows that answer the question; brr with both of its rules; the best release for a promise before others."""
    domain = space_of(dict(where))
    solved = isinstance(domain, Space) and domain.k * domain.outputs <= _PROGRAMME
    if promise is None and solved and isinstance(domain, Space):
        promise = Promise.plain(epsilon, domain.k, domain.labels)
    for name, entry in sorted(rows_for(RELEASE), key=lambda row: "promise" not in row[1].options):
        if "promise" in entry.options:
            if promise is not None:
                yield name, partial(_design, name, None, {**where, "promise": arguments(promise)}, bounds)
            continue
        for own in [{"rule": "mean"}, {"form": "paper"}] if "rule" in entry.options else [{}]:
            yield name, partial(_design, name, epsilon, {**where, **own}, bounds)


def _rule(options: Mapping[str, Any]) -> str:
    """The rule of brr, also where it is as printed; of others none."""
    return "min" if options.get("form") == "paper" else str(options.get("rule", ""))


def _design(
    name: str, epsilon: float | None, options: Mapping[str, Any], bounds: dict[str, float]
) -> ReleasePrediction:
    m: MetricMechanism = made(name, epsilon=epsilon, **options)
    own = m.properties()
    if epsilon is None:  # the best release for what was promised: all others are compared with it
        bounds["least"] = own["bound"]
    bound = bounds.get("least", own.get("bound"))
    gap = None if not bound else own["loss"] / bound - 1
    told = {name: own[name] for name in ("loss", "asr", "bits", "bytes")}
    traits, few = entry_of(name).traits, m.losses.line is not None or m.losses.k * m.losses.outputs <= _WRITTEN
    return ReleasePrediction(
        mechanism=m,
        options=options,
        worst=_worst(m),
        bound=bound,
        gap=gap,
        constant=_constant(m),
        work=None if traits.work is None else float(traits.work(m, 1)),
        poisoning=float(forged_gain(traits.pull(m, 1))) if traits.pull is not None and few else None,
        **told,
    )


def _constant(m: MetricMechanism) -> float | None:
    """The least expected loss of one answer for everybody: on a line that of the middle."""
    losses = m.losses
    if losses.width is not None:
        return losses.width / 4
    if losses.line is not None:
        k = losses.line.k
        return (k * k // 4) / k * losses.line.step
    if losses.k * losses.outputs > _WRITTEN:
        return None
    return float((losses.weights() @ losses.matrix()).min())


def _worst(m: MetricMechanism) -> float | None:
    """The expected loss of the value that is worst off; on an interval over all numbers, not only over points.

    Within a cell the channel is one and the loss is convex in the number, so the worst number is at an end of a cell.
    """
    domain = m.domain
    if m.k * m.output_count > _WRITTEN:
        return None
    if not isinstance(domain, Grid | Codes):
        return m.worst_loss()
    points = domain.points
    ends = domain.cells if isinstance(domain, Codes) else np.r_[domain.low, (points[1:] + points[:-1]) / 2, domain.high]
    outputs = points if m.output_points is None else points[m.output_points]
    matrix = m.matrix()
    return max(float((matrix * np.abs(x[:, None] - outputs)).sum(axis=1).max()) for x in (ends[:-1], ends[1:]))


def _noted(d: ReleasePrediction) -> ReleasePrediction:
    """With what holds of the design whatever the others are."""
    best = ["No mechanism with this epsilon has less."] if d.gap is not None and d.gap <= _SAME else []
    rule = [_RULES[_rule(d.options)]] if _rule(d.options) else []
    return replace(d, why=" ".join([d.why, *best, *rule]))
