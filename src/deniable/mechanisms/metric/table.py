"""The registry's rows of mechanisms whose report is near to the value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from deniable.core.codes import Codes
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable.mechanisms.entry import RELEASE, Entry, Traits, one_counter
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.mechanisms.metric.brr import BRR, make_brr
from deniable.mechanisms.metric.codebook import Codebook, make_codebook
from deniable.mechanisms.metric.options import RULES, TIES
from deniable.mechanisms.metric.tables import TableMechanism, make_table
from deniable.mechanisms.spaces import SPACE, space_of

__all__ = ["ROWS"]

_PLACES: Mapping[str, Any] = {"distances": Space.places([[52.5, 13.4], [52.5, 13.4], [48.9, 2.4], [41.9, 12.5]])}
_SETS: Mapping[str, Any] = {"distances": Space.sets([[], [1], [1, 2], [1, 2, 3], [4]])}
_TABLE: Mapping[str, Any] = {"distances": [[0, 1, 1, 2, 3], [2, 0, 1, 1, 1], [1, 1, 0, 1, 1]]}


def _pull(m: MetricMechanism, r: int) -> float:
    """The largest loss of any report, for the value that it is farthest from."""
    domain, held, line = m.domain, m.output_points, m.losses.line
    if isinstance(domain, Grid | Codes):
        answers = domain.points if held is None else domain.points[held]
        first, last = (domain.cells[0], domain.cells[-1]) if isinstance(domain, Codes) else (domain.low, domain.high)
        return float(max(last - answers.min(), answers.max() - first))
    if line is not None:
        low, high = (0, line.k - 1) if held is None else (held.min(), held.max())
        return float(max(line.k - 1 - low, high) * line.step)
    table = m.losses.matrix()
    return float((table if held is None else table[:, held]).max())


_RULES = tuple({"form": "paper"} if rule == "min" else {"rule": rule} for rule in RULES)
_row = partial(Entry, question=RELEASE, space=space_of, traits=Traits(one_counter, _pull))

ROWS: Mapping[str, Entry] = {
    "brr": _row(
        BRR,
        make_brr,
        "the nearest answers are favoured, all others equally unlikely (bipartite randomised response)",
        "BRR Sec. 3",
        "a report that is near the value, whatever the value, and in the same domain",
        ("rule", "size", "tie", *SPACE),
        inner=("prior", "form"),
        printed={"rule": "min"},
        small=(
            *({"k": 2, "epsilon": e} for e in (0.1, 1.0, 4.0)),
            *({"points": 8, "epsilon": e, **rule} for e in (0.5, 1.0, 2.0) for rule in _RULES),
            *({"points": 9, "epsilon": 1.0, "size": 4, "tie": tie} for tie in TIES),
            {"interval": "0,10", "epsilon": 2.0},
            {"interval": "0,10", "points": 7, "layout": "endpoints", "epsilon": 1.0},
            *({"epsilon": 1.0, "size": 2, **space} for space in (_PLACES, _SETS, _TABLE)),
        ),
    ),
    "codebook": _row(
        Codebook,
        make_codebook,
        "the nearest of a few codes through randomised response",
        "docs/maths/metric.md",
        "a report that is near the value: on a line no mechanism is nearer on average",
        ("size", "variant", *SPACE),
        inner=("prior",),
        small=(
            *({"k": 2, "epsilon": e} for e in (0.1, 1.0, 4.0)),
            {"points": 3, "epsilon": 0.1},
            *({"points": 8, "epsilon": e} for e in (0.5, 1.0, 2.0)),
            {"points": 9, "epsilon": 1.0, "variant": "bins", "size": 3},
            {"interval": "0,10", "epsilon": 2.0},
            {"interval": "0,10", "epsilon": 1.0, "variant": "bins"},
            {"interval": "0,10", "points": 7, "layout": "endpoints", "epsilon": 1.0},
            *({"epsilon": 1.0, "size": 2, **space} for space in (_PLACES, _SETS, _TABLE)),
        ),
    ),
    "exponential": _row(
        TableMechanism,
        make_table("exponential"),
        "probabilities that fall exponentially with the loss, calibrated to the exact level",
        "McSherry07",
        "comparison: any loss, but far from the best",
        ("variant", *SPACE),
        inner=("form",),
        printed={"variant": "printed"},
        small=(
            *({"points": 4, "epsilon": e} for e in (1.0, 2.0, 4.0)),
            {"points": 5, "epsilon": 2.0, "form": "paper"},
            {"interval": "0,10", "points": 4, "epsilon": 2.0},
            *({"epsilon": 2.0, **space} for space in (_PLACES, _SETS, _TABLE)),
        ),
    ),
    "laplace": _row(
        TableMechanism,
        make_table("laplace"),
        "Laplace noise that stays on the line (truncate), or is moved to its ends (clamp)",
        "Dwork06",
        "comparison: the usual noise on numbers, as good as it can be",
        ("variant", *SPACE),
        small=(
            *({"points": 4, "epsilon": e} for e in (1.0, 4.0)),
            *({"points": 4, "epsilon": e, "variant": "clamp"} for e in (1.0, 4.0)),
            {"interval": "0,10", "points": 4, "epsilon": 2.0, "variant": "clamp"},
        ),
    ),
    "geometric": _row(
        TableMechanism,
        make_table("geometric"),
        "two-sided geometric noise on the points of a line, moved to its ends",
        "Ghosh09",
        "comparison: the usual noise on whole numbers",
        SPACE,
        small=(
            *({"points": 4, "epsilon": e} for e in (1.0, 4.0)),
            {"interval": "0,10", "points": 3, "epsilon": 2.0},
        ),
    ),
    "lsrr": _row(
        TableMechanism,
        make_table("lsrr"),
        "places in groups from near to far, probabilities falling in equal steps (staircase)",
        "LSRR",
        "comparison: location release; brr and codebook are nearer",
        ("variant", "size", *SPACE),
        inner=("form",),
        printed={"variant": "printed"},
        small=(
            *({"points": 8, "epsilon": e} for e in (1.0, 4.0)),
            {"points": 8, "epsilon": 2.0, "form": "paper"},
            {"points": 6, "epsilon": 2.0, "variant": "rank", "size": 2},
            *({"epsilon": 2.0, **space} for space in (_PLACES, _SETS, _TABLE)),
        ),
    ),
}
