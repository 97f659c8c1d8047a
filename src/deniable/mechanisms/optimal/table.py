"""The registry's rows of mechanisms that are written down whole: matrices, and the best channels for any promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.promise.making import promise
from deniable.core.space import Space
from deniable.errors import require
from deniable.mechanisms.entry import RELEASE, Entry, Traits
from deniable.mechanisms.optimal.base import Optimal, domain_of, make_optimal, promised_epsilon
from deniable.mechanisms.optimal.matrix import Matrix, make_matrix, rows_domain, rows_epsilon
from deniable.mechanisms.optimal.options import RELEASED
from deniable.mechanisms.optimal.release.mechanism import OptimalRelease, make_release, release_domain
from deniable.mechanisms.spaces import SPACE

__all__ = ["ROWS"]

_COIN = ((3, 1), (1, 3))
_TRIANGLE = Space.places([(52.52, 13.40), (48.86, 2.35), (41.89, 12.48)])
_THREE = ((4, 2, 1, 1), (1, 5, 1, 1), (2, 2, 2, 2))


def _work(m: Optimal, n: float) -> float:
    """One counter per report, and a product for each output and answer per release."""
    return 1 + m.k * m.table.outputs / n


def _pull(m: Optimal, r: int) -> float:
    """The largest sum of r scores of an output, in the worst case all from people with other answers."""
    return float(np.sort(m.worth.scores, axis=1)[:, -r:].sum(axis=1).max())


def _counts(m: OptimalRelease, n: float) -> float:
    """One counter per report."""
    return 1.0


def _far(m: OptimalRelease, r: int) -> float:
    """The largest loss of any report, whoever it is from."""
    return float(m.loss_matrix().max())


def _where(options: dict[str, Any]) -> Domain | Span | None:
    """The domain that a promise is about; of a release, with its losses."""
    plain = domain_of(options)
    return plain if plain is None or options.get("objective") != RELEASED else release_domain(options)


def _near(options: dict[str, Any]) -> Domain | Span | None:
    return None if domain_of(options) is None else release_domain(options)


def _make(*, objective: str = "frequency", **given: Any) -> Optimal | OptimalRelease:
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


_UNEVEN = promise(budgets=[[0, 0.5, 1.2, "inf"], [1.0, 0, 0.7, 2.0], [0.4, 0.9, 0, 1.5], [1.0, 1.0, 0.3, 0]])

ROWS: Mapping[str, Entry] = {
    "matrix": Entry(
        Matrix,
        make_matrix,
        "a matrix of chances, of your own",
        "docs/maths/written.md",
        "an idea of your own: audited exactly, then drawn, counted and estimated like any other",
        ("matrix",),
        needed=("matrix",),
        inner=("promise", "outputs", "prior"),
        small=(
            {"matrix": _COIN},
            {"matrix": _COIN, "epsilon": 4.0},
            {"matrix": _THREE, "epsilon": 2.0},
            {"matrix": _THREE},
        ),
        default_epsilon=rows_epsilon,
        space=rows_domain,
        brings=True,
    ),
    "optimal": Entry(
        Optimal,
        _make,
        "the best channel for any promise: budgets between any two answers, found with a certificate",
        "docs/maths/optimal.md",
        "few answers, and a promise that is not the same to all: the least error there is",
        ("promise", "objective", "prior", "values", "worst", "loss", *SPACE),
        needed=("promise",),
        inner=("functionals", "progress"),
        small=(
            {"promise": promise(epsilon=1.0, k=4)},
            {"promise": promise(epsilon=1.0, k=5, sensitive=3), "prior": (0.02, 0.02, 0.01, 0.35, 0.6)},
            {"promise": promise(graph=[(0, 1), (1, 2), (2, 3)], epsilon=0.5, k=4)},
            {"promise": promise(item_epsilon=[0.5, 1, 2], rule="own", labels=["a", "b", "c"]), "worst": True},
            {"promise": promise(budgets=[[0, 0.5], [2, 0]])},
            {"promise": _UNEVEN},
        ),
        traits=Traits(_work, _pull),
        default_epsilon=promised_epsilon,
        space=_where,
        brings=True,
    ),
    "optimal-release": Entry(
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
        traits=Traits(_counts, _far),
        default_epsilon=promised_epsilon,
        space=_near,
        brings=True,
    ),
}
