"""Names and options of mechanisms for answers in an order: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.core.ranges import WORKLOADS
from deniable.mechanisms.entry import Option

__all__ = ["LEVELS", "NAMES", "OPTIONS"]

LEVELS = ("best", "equal")
"""How often the levels of a tree are used."""

NAMES: Mapping[str, tuple[str, ...]] = {"mechanism": ("windows", "tree")}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "queries": Option(str, "What windows are chosen for: all ranges, or prefixes (cumulative shares).", WORKLOADS),
    "widths": Option(
        str, "Widths of the cells, divisors of the circle that rise from 1 (windows); 1, 2, 4, .. usually."
    ),
    "circle": Option(int, "Points of the circle that the answers stand on, at least as many (windows)."),
    "shares": Option(str, "How often each width is used (windows, tree): whole numbers, the narrowest first."),
    "fanout": Option(int, "Nodes that a node of the tree is cut into; 2 unless given."),
    "levels": Option(str, "How often the levels of a tree are used: as is best for ranges, or all alike."),
}
