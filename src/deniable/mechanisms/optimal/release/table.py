"""The registry's row of the best release, and how the row of the best channel becomes it where that is asked for."""

from __future__ import annotations

from typing import Any

from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.promise.making import promise
from deniable.core.space import Space
from deniable.errors import require
from deniable.mechanisms.entry import RELEASE, Entry, Traits, one_counter
from deniable.mechanisms.optimal.base import Optimal, domain_of, make_optimal, promised_epsilon
from deniable.mechanisms.optimal.options import RELEASED
from deniable.mechanisms.optimal.release.mechanism import OptimalRelease, make_release, release_domain
from deniable.mechanisms.spaces import SPACE

__all__ = ["ROW", "make_any", "promise_domain"]

_TRIANGLE = Space.places([(52.52, 13.40), (48.86, 2.35), (41.89, 12.48)])
_UNEVEN = promise(budgets=[[0, 0.5, 1.2, "inf"], [1.0, 0, 0.7, 2.0], [0.4, 0.9, 0, 1.5], [1.0, 1.0, 0.3, 0]])


def _far(m: OptimalRelease, r: int) -> float:
    """The largest loss that a report can have, whoever it is from; on an interval, from any of its numbers."""
    if m.losses.width is None:
        return float(m.loss_matrix().max())
    domain: Any = m.domain
    answers = domain.points[m.output_points]
    return float(max(domain.high - answers.min(), answers.max() - domain.low))


def promise_domain(options: dict[str, Any]) -> Domain | Span | None:
    """The domain that a promise is about; of a release, with its losses."""
    plain = domain_of(options)
    return plain if plain is None or options.get("objective") != RELEASED else release_domain(options)


def _near(options: dict[str, Any]) -> Domain | Span | None:
    return None if domain_of(options) is None else release_domain(options)


def make_any(*, objective: str = "frequency", **given: Any) -> Optimal | OptimalRelease:
    """The best channel for estimates, or the best release."""
    if objective == RELEASED:
        return make_release(**_promised(given))
    for name in ("loss", *SPACE):
        require(name not in given, name, given.get(name), f"left out unless objective is {RELEASED}")
    return make_optimal(objective=objective, **given)


def _release(**given: Any) -> OptimalRelease:
    return make_release(**_promised(given))


def _promised(given: dict[str, Any]) -> dict[str, Any]:
    """The same with the promise itself, where its arguments are given."""
    domain_of(given)
    return given


ROW = Entry(
    OptimalRelease,
    _release,
    "the best release for any promise and any loss: reports near their values, found with a certificate",
    "docs/maths/release.md",
    "single reports near their values under distances, or any other promise: the least expected loss there is",
    ("promise", "prior", "values", "worst", "loss", *SPACE),
    needed=("promise",),
    inner=("progress",),
    small=(
        {"promise": promise(epsilon=1.0, k=4)},
        {"promise": promise(points=[0, 1, 2, 3, 4], epsilon=0.5), "points": 5},
        {"promise": promise(points=[0, 1, 2, 3], epsilon=1.0), "points": 4, "interval": "0,8"},
        {"promise": promise(epsilon=1.0, k=5, sensitive=3), "loss": "zero-one", "prior": (0.1, 0.1, 0.0, 0.4, 0.4)},
        {"promise": promise(space=_TRIANGLE, epsilon=0.01), "distances": _TRIANGLE, "worst": True},
        {"promise": _UNEVEN, "loss": "squared", "values": (0.0, 1.0, 3.0, 4.0)},
        {"promise": promise(blocks=[2, 2], inside=0.5, across="inf"), "loss": "zero-one"},
    ),
    question=RELEASE,
    traits=Traits(one_counter, _far),
    default_epsilon=promised_epsilon,
    space=_near,
    brings=True,
)
