"""The registry's rows of mechanisms for answers in an order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from deniable.mechanisms.entry import RANGE, Entry, Traits, grid
from deniable.mechanisms.ordinal.base import Ordered, Tree, Windows
from deniable.mechanisms.spaces import INTERVAL, space_of

__all__ = ["ROWS"]


def _work(m: Ordered, n: float) -> float:
    """A counter for each cell of a set, on average over the widths."""
    cells = sum(share * size for share, size in zip(m.shares, m.sizes, strict=True))
    return cells / sum(m.shares)


def _pull(m: Ordered, r: int) -> float:
    """What is asked for are ranges: the one that suits the forger best, however many answers it has."""
    return m.law.most_of_ranges


_row = partial(Entry, question=RANGE, traits=Traits(_work, _pull), space=space_of)

ROWS: Mapping[str, Entry] = {
    "windows": _row(
        Windows,
        Windows.optimal,
        "sets of cells of a random width and shift",
        "docs/maths/ordinal.md",
        "answers in an order: shares of ranges, cumulative shares, quantiles",
        ("queries", "widths", "shares", "circle", *INTERVAL),
        inner=("sizes",),
        small=(
            *grid(2, 8),
            {"k": 12, "epsilon": 1.0},
            {"k": 6, "epsilon": 1.0, "circle": 9, "widths": "1,3", "shares": "2,1"},
            {"k": 6, "epsilon": 2.0, "widths": "1,2,3"},
        ),
    ),
    "tree": _row(
        Tree,
        Tree.optimal,
        "sets of nodes of one level of a tree (hierarchical histogram)",
        "docs/maths/ordinal.md",
        "comparison with windows: ranges from a tree of answers that stands still",
        ("fanout", "levels", "shares", *INTERVAL),
        small=(*grid(8), {"k": 9, "epsilon": 1.0, "fanout": 3}, {"k": 6, "epsilon": 1.0, "levels": "equal"}),
    ),
}
