"""Names and options of mechanisms for several questions: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS"]

NAMES: Mapping[str, tuple[str, ...]] = {"mechanism": ("box", "interaction")}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "sizes": Option(
        str, "How many answers each question has that is asked together (box, interaction), with commas: 2,2,3."
    ),
    "g": Option(int, "Buckets that the answers to all questions are hashed to (interaction); the best if left out."),
    "size": Option(int, "Buckets in a report (interaction); the best if left out."),
    "shape": Option(str, "How many answers to each question a report names (box), with commas; the best if left out."),
}
