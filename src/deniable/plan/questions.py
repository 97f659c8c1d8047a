"""`plan`: one function for all of the planner's questions, and the table of what each of them may be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import ParameterError, meant, require
from deniable.mechanisms.entry import DIRECTION, FREQUENCY, KEY_VALUE, MEAN, RANGE, RELEASE
from deniable.mechanisms.spaces import INTERVAL, SPACE
from deniable.plan.answer import Plan
from deniable.plan.direction import plan_direction
from deniable.plan.frequency import plan_frequency
from deniable.plan.keyvalue import plan_keyvalue
from deniable.plan.mean import plan_mean
from deniable.plan.range import plan_range
from deniable.plan.release import plan_release

if TYPE_CHECKING:
    from typing import Never

    from deniable.core.domain import Domain
    from deniable.core.promise import Promise

__all__ = ["PLANS", "check", "plan"]


@dataclass(frozen=True, slots=True)
class Planning:
    """Who plans for a question, and what a plan for it may be told; what is not listed is refused."""

    make: Callable[..., Plan[Any]]
    takes: tuple[str, ...]
    """What it may be told beside limits."""
    limits: Mapping[str, str]
    """What it may limit: arguments by the columns of its designs."""
    needed: Mapping[str, str]
    """What it must be told, each with an example."""


_WEIGHED = ("weight", "weights", "top")
_COSTS = {"max_asr": "asr", "max_bits": "bits", "max_bytes": "bytes", "max_work": "work", "max_poisoning": "poisoning"}
_ANSWERS = ("k", "labels", "domain", "n", "epsilon", "targets")
_EPSILON = {"epsilon": "epsilon=1"}

PLANS: Mapping[str, Planning] = {
    FREQUENCY: Planning(
        plan_frequency,
        (*_ANSWERS, *_WEIGHED, "sensitive", "prior", "given", "promise"),
        {"target_error": "stderr", **_COSTS},
        {},
    ),
    KEY_VALUE: Planning(
        plan_keyvalue,
        (*_ANSWERS, *_WEIGHED, "length", "interest"),
        {"target_error": "stderr", **_COSTS},
        {"n": "n=10000", **_EPSILON},
    ),
    RELEASE: Planning(
        plan_release,
        ("epsilon", "promise", *SPACE, *_WEIGHED),
        {"target_error": "loss", **_COSTS, "max_worst": "worst"},
        {},
    ),
    MEAN: Planning(
        plan_mean,
        ("epsilon", "n", *INTERVAL, *_WEIGHED),
        {"target_error": "stderr", **_COSTS},
        {**_EPSILON, "interval": "interval=(0, 100)"},
    ),
    DIRECTION: Planning(
        plan_direction,
        ("epsilon", "n", "interval", "points", *_WEIGHED),
        {"target_error": "stderr", **_COSTS},
        {**_EPSILON, "interval": "interval=(0, 24)"},
    ),
    RANGE: Planning(
        plan_range,
        ("k", "labels", "domain", "n", "epsilon", *_WEIGHED),
        {"target_error": "stderr", "max_asr": "asr", "max_bits": "bits", "max_bytes": "bytes", "max_work": "work"},
        _EPSILON,
    ),
}
"""By what `Entry.question` says."""


def plan(
    *,
    question: str = FREQUENCY,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    points: int | None = None,
    interval: Any = None,
    layout: str | None = None,
    clip: bool | None = None,
    distances: object = None,
    n: int | None = None,
    epsilon: float | None = None,
    promise: Promise | None = None,
    target_error: float | None = None,
    max_asr: float | None = None,
    max_bits: float | None = None,
    max_bytes: float | None = None,
    max_work: float | None = None,
    max_poisoning: float | None = None,
    max_worst: float | None = None,
    targets: int | None = None,
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    sensitive: object = None,
    prior: object = None,
    given: Mapping[str, Any] | None = None,
    length: int | None = None,
    interest: float | None = None,
    top: int | None = None,
    **unknown: Never,
) -> Plan[Any]:
    """Ranked designs for shares ("frequency"), "key-value" pairs, near answers ("release"), a "mean", or a "range".

    What people may answer: `k` answers or keys, or their `labels`, or a `domain`; for near answers `points` on a line,
    an `interval` (with points, layout and clip) or `distances`; for a mean an interval. Answers of
    ranges are in their order. `n` are the reports, one per person, and `epsilon` is the promise. A design must keep
    within the limits that are given: `target_error` is the largest standard error of a share (0.01 is one percentage
    point), of a frequency, of a range or of the mean, or the largest expected loss of near answers; with it n may be
    left out for shares, ranges and means, and epsilon for shares: the smallest is found. `max_asr`: success of the
    best guess from a report; `max_bits` and `max_bytes` of a report; `max_work`: operations of the server per report;
    `max_poisoning`: what 1 % of forged reports can add to the summed shares of `targets` answers (10 unless given),
    to the mean or to the loss; `max_worst`: loss of the value that is worst off.

    Designs are ranked by their error, or by a weighted sum relative to the design of least error: `weight` is that of
    the best guess, the error has the rest; or `weights` of error, asr, bits, work and poisoning. `top` leaves the best.
    For shares, `sensitive` says which answers need protection, by their labels or as the number of the first ones;
    `prior` is what a guesser knows beforehand, and `given` has further options of mechanisms. For pairs, `length` is
    how many to allow for per person (left out: everybody has exactly one), and `interest` weighs frequencies against
    means: the error is interest^2 F + M, 0 is for means alone. For shares and for near answers a `promise` of any kind
    may stand for epsilon: the best channel for it is listed, and others as they keep it too; their excess is that over
    the least possible under this promise.

    >>> found = plan(k=1000, n=100_000, epsilon=1.0)
    >>> found.best.title, round(100 * found.best.stderr, 3)
    ('affine', 0.606)
    >>> from deniable.core.promise.making import promise as made
    >>> [d.name for d in plan(promise=made(item_epsilon=[1, 2, 3, 4], rule="min"), n=1000, top=2).designs]
    ['optimal', 'grr']
    >>> plan(question="key-value", k=1206, n=23_486, epsilon=2.0).best.title
    'kv-ss2 (size = 288)'
    >>> plan(question="release", points=40, epsilon=2.0).best.title
    'codebook (size = 3)'
    >>> plan(question="mean", interval=(0, 100), epsilon=1.0, target_error=0.5).message
    '39,954 people are enough for a standard error of 0.5: om (points = 17, outputs = 21, objective = worst).'
    >>> plan(question="range", k=64, n=50_000, epsilon=1.0).best.name
    'windows'
    """
    every = {name: x for name, x in locals().items() if name not in ("question", "unknown")} | unknown
    told = {name: x for name, x in every.items() if x is not None}
    check(question, told)
    row = PLANS[question]
    for name, example in row.needed.items():
        if name not in told:
            raise ParameterError(f"{name} must be given for the question {question!r}.", f"For example {example}.")
    limits = {row.limits[name]: x for name, x in told.items() if name in row.limits}
    return row.make(limits=limits, **{name: x for name, x in told.items() if name in row.takes})


def check(question: str, told: Mapping[str, Any]) -> None:
    """Refuse what a plan for a question is not told, with the questions that it belongs to."""
    require(question in PLANS, "question", question, f"one of {', '.join(PLANS)}")
    for name, value in told.items():
        those = [each for each, row in PLANS.items() if name in (*row.takes, *row.limits)]
        hint = f"It belongs to {' and to '.join(f'question={each!r}' for each in those)}."
        if not those:
            row = PLANS[question]
            every = f"Limits are arguments of their own: {', '.join(row.limits)}."
            hint = every if name == "limits" else meant(name, (*row.takes, *row.limits))
        require(question in those, name, value, f"left out for the question {question!r}", hint)
