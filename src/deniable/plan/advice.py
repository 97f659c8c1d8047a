"""Why a design: what it wins on and what it costs, in a sentence made from its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from deniable.plan.prediction import FORGED, points
from deniable.plan.scoring import Weights

__all__ = [
    "FEW_FORGERS",
    "LITTLE_WORK",
    "LOW_GUESS",
    "SHORT_REPORTS",
    "UP_TO",
    "Aspect",
    "advise",
    "fewest",
    "forged",
    "join",
    "least_error",
    "relative",
]

D = TypeVar("D", bound=Any)
"""A design: a frozen dataclass with `name`, `title`, `why` and `beaten_by`."""

_SAME = 1e-6
_NEAR, _DEAR = 1.05, 1.5
"""Up to 5 % above the best is near it; from half as much again on it is a cost."""
_LONG, _SHORTER = 1000, 10
"""Reports of more bytes are long; from a tenth on a report is much shorter."""
_BRIEF = ((8, 50, 6, 5e-4), (50, math.inf, 10, 5e-3))
"""Where the error of shares counts: of reports of more than some bytes and up to others, one so many times shorter goes
ahead, if its error is so little larger."""
_QUICK = 1000
"""Operations per report up to which the server's work does not keep it from that."""
_BETTER = 0.99
"""One design beats another only if it is better by 1 % in something."""
_ALIKE = 0.005
"""Where the error of shares leads, designs that differ by no more in anything else are as good there."""
UP_TO = ", up to half a percent"
"""How that is told."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One respect in which designs differ; less is better."""

    value: Callable[[Any], float | None]
    win: str
    near: str
    """With the excess in per cent."""
    cost: Callable[[Any, Any], str]
    """Of a design and of the best one."""
    floor: float = 0.0
    """Less than it hardly matters."""
    name: str = ""
    """The column, where a plan tells what it compares by."""

    def of(self, d: Any) -> float:
        """Its value; infinite where it is unknown."""
        x = self.value(d)
        return math.inf if x is None else x


def relative(value: Callable[[Any], float | None], win: str, near: str, what: str, name: str = "") -> Aspect:
    """An aspect whose cost is told as so many times that of the best."""
    return Aspect(value, win, near, lambda d, b: f"{what} {_times(value(d), value(b))} that of {b.name}", name=name)


def _times(x: float | None, least: float | None) -> str:
    if x is None or least is None:
        return "that is not known, instead of"
    return f"{x / least:.3g} times" if least else f"of {x:.3g} instead of"


def least_error(win: str = "the least error") -> Aspect:
    """The standard error."""
    return relative(lambda d: d.stderr, win, "an error {:.2g} % above the least", "an error")


def fewest(who: str) -> Aspect:
    """How many reports or people it takes."""
    more = f"{{:.2g}} % more {who} than the fewest"
    return Aspect(lambda d: d.n, f"the fewest {who}", more, lambda d, b: f"{d.n:,} {who} instead of {b.n:,} ({b.name})")


_LEADS = {
    "n": fewest("reports"),
    "epsilon": Aspect(
        lambda d: d.mechanism.epsilon,
        "the least epsilon",
        "an epsilon {:.2g} % above the least",
        lambda d, b: f"epsilon {d.mechanism.epsilon:.4g} instead of {b.mechanism.epsilon:.4g} ({b.name})",
    ),
    "mse": least_error(),
}
"""What a plan is about: the error, or what a target error takes."""

SHORT_REPORTS = Aspect(
    lambda d: d.bytes,
    "the shortest reports",
    "reports {:.2g} % above the shortest",
    lambda d, b: f"{_bytes(d)} per report instead of {_bytes(b)} ({b.name})",
    floor=8,
    name="bytes",
)
_FEW_BITS = relative(lambda d: d.bits, "the fewest bits", "{:.2g} % more bits than the fewest", "bits in a report")
_BEST_SCORE = relative(lambda d: d.score, "the best score", "a score {:.2g} % above the best", "a score")
LITTLE_WORK = Aspect(
    lambda d: d.work,
    "the least work for the server",
    "server work {:.2g} % above the least",
    lambda d, b: f"{_steps(d)} operations per report instead of {_steps(b)} ({b.name})",
    floor=100,
    name="work",
)


def forged(what: str, told: Callable[[float], str]) -> Aspect:
    """What forged reports can add to `what`, which has a place for the amount."""

    def cost(d: Any, b: Any) -> str:
        if d.poisoning is None or b.poisoning is None:
            return "an effect of forged reports that is not known"
        much, least = what.format(told(d.poisoning)), told(b.poisoning)
        return f"{100 * FORGED:g} % of forged reports add up to {much} instead of {least} ({b.name})"

    return Aspect(
        lambda d: d.poisoning,
        "the least effect of forged reports",
        "an effect of forged reports {:.2g} % above the least",
        cost,
        name="forged reports",
    )


FEW_FORGERS = forged("{} points to the targets", lambda x: points(x).removesuffix(" pt"))
LOW_GUESS = Aspect(
    lambda d: d.asr,
    "the lowest chance to guess an answer from its report",
    "a chance to guess an answer {:.2g} % above the lowest",
    lambda d, b: f"the best guess is right {100 * d.asr:.3g} % of the time instead of {100 * b.asr:.3g} % ({b.name})",
    name="guess",
)
_OTHERS = (LOW_GUESS, SHORT_REPORTS, LITTLE_WORK, FEW_FORGERS)


def _bytes(d: Any) -> str:
    return f"{d.bytes:,} byte{'s' * (d.bytes != 1)}"


def _steps(d: Any) -> str:
    return "an unknown number of" if d.work is None else f"{d.work:,.0f}"


def advise(
    designs: Sequence[D],
    lead: str = "mse",
    *,
    aspects: Sequence[Aspect] | None = None,
    weights: Weights | None = None,
    compared: str = "everything",
) -> tuple[D, ...]:
    """The designs, each with a reason, and with the name of one that beats it throughout if there is one.

    What counts is `lead` with the best guess, bytes, work and forgers; or other `aspects`, of which the first is what
    designs are ranked by, and `compared` says which. With `weights` the score counts, too, and bits if they are
    weighed. Designs stay in their order, but for the first (`_headed`).
    """
    aspects = (_LEADS[lead], *_OTHERS) if aspects is None else tuple(aspects)
    if weights is not None and weights.weighed:
        aspects = (_BEST_SCORE, *aspects, *([_FEW_BITS] if "bits" in weights.columns else []))
    weighed = weights is not None and weights.weighed
    shares = not weighed and aspects == (_LEADS["mse"], *_OTHERS)
    slack = _ALIKE if shares else _SAME
    able = [d for d in designs if _winner(d, designs, aspects, slack) is None] or designs
    best = [_first_best(able, aspect) for aspect in aspects] if designs else []
    told = [_advised(d, designs, list(zip(aspects, best, strict=True)), compared, slack) for d in designs]
    return _headed(told, aspects[0], heed_size=not weighed, brief=shares)


def _first_best(designs: Sequence[D], aspect: Aspect) -> D:
    """The first of those that are best in a respect, up to rounding."""
    least = min(map(aspect.of, designs))
    return next(d for d in designs if _ratio(aspect.of(d), least) <= 1 + _SAME)


def _winner(d: D, designs: Sequence[D], aspects: Sequence[Aspect], slack: float) -> D | None:
    """A design that beats this one: one that is as good throughout, or else as good up to the slack."""
    exact = next((other for other in designs if _beats(other, d, aspects, _SAME)), None)
    return exact or next((other for other in designs if _beats(other, d, aspects, slack)), None)


def _headed(designs: Sequence[D], lead: Aspect, *, heed_size: bool, brief: bool) -> tuple[D, ...]:
    """With a first design that no other beats, and whose reports are not needlessly long.

    Who beats another is as good in what designs are ranked by, up to rounding, since all that is weighed is among the
    aspects. Where reports of the first are long, a design within 5 % of it whose reports are a tenth as long goes
    ahead; if `brief`, the shortest of those that are as good up to much less (`_BRIEF`).
    """
    able = [d for d in designs if not d.beaten_by]
    if not able:
        return tuple(designs)
    first = able[0]

    def near(times: float, more: float) -> list[D]:
        return [d for d in able if lead.of(d) <= more * lead.of(first) and times * d.bytes <= first.bytes]

    short = [near(times, 1 + more) for least, most, times, more in _BRIEF if brief and least < first.bytes <= most]
    quick = [d for d in chain(*short) if LITTLE_WORK.of(d) <= max(_QUICK, LITTLE_WORK.of(first))]
    if quick:
        first = min(quick, key=lambda d: d.bytes)
    elif heed_size and first.bytes > _LONG:
        first = next(iter(near(_SHORTER, _NEAR)), first)
    return (first, *(d for d in designs if d is not first))


def _advised(d: D, designs: Sequence[D], best: Sequence[tuple[Aspect, D]], compared: str, slack: float) -> D:
    aspects = [aspect for aspect, _ in best]
    if (winner := _winner(d, designs, aspects, slack)) is not None:
        exact = _beats(winner, d, aspects, _SAME)
        return replace(d, beaten_by=winner.title, why=_beaten(d, winner, aspects, compared + UP_TO * (not exact)))
    wins, near, costs = [], [], []
    for aspect, top in best:
        if math.isinf(aspect.of(top)):
            continue  # nobody knows it, so nobody wins
        ratio = _ratio(aspect.of(d), aspect.of(top))
        if ratio <= 1 + _SAME:
            wins.append(aspect.win)
        elif ratio <= _NEAR:
            near.append(aspect.near.format(100 * (ratio - 1)))
        elif ratio >= _DEAR and aspect.of(d) >= _DEAR * aspect.floor:
            costs.append(aspect.cost(d, top))
    good = join(wins + near) or "a middle way"
    price = f"; the price: {join(costs[:3])}." if costs else "; elsewhere little worse than others."
    return replace(d, why=f"{good[0].upper()}{good[1:]}{price}")


def _beats(a: Any, b: Any, aspects: Sequence[Aspect], slack: float) -> bool:
    """Whether a is not worse than b in what leads, nowhere else by more than a slack, and somewhere clearly better."""
    lead, *rest = (_ratio(aspect.of(a), aspect.of(b)) for aspect in aspects)
    return lead <= 1 + _SAME and max(rest, default=0.0) <= 1 + slack and min([lead, *rest]) < _BETTER


def _beaten(d: Any, winner: Any, aspects: Sequence[Aspect], compared: str) -> str:
    ratios = [(_ratio(aspect.of(d), aspect.of(winner)), aspect.cost(d, winner)) for aspect in aspects]
    worse = [text for ratio, text in sorted(ratios, key=lambda pair: -pair[0]) if ratio * _BETTER > 1]
    return f"Beaten by {winner.title}, which is at least as good in {compared}: {join(worse[:2])}."


def _ratio(x: float, least: float) -> float:
    """How many times the least; equal if both are nothing or unknown."""
    return 1.0 if x == least else math.inf if least == 0 or math.isinf(x) else x / least


def join(parts: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
