"""Names and options of mechanisms for several questions: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS"]

NAMES: Mapping[str, tuple[str, ...]] = {"mechanism": ("box",)}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "sizes": Option(str, "How many answers each question has that is asked together (box), with commas: 2,2,3."),
    "shape": Option(str, "How many answers to each question a report names (box), with commas; the best if left out."),
}
