"""Names and options of mechanisms for several questions: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS"]

NAMES: Mapping[str, tuple[str, ...]] = {"mechanism": ("interaction",)}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "sizes": Option(str, "How many answers each question has that is asked together (interaction), with commas: 3,4."),
    "g": Option(int, "Buckets that answers are hashed to (interaction); the best if left out."),
    "size": Option(int, "Buckets in a report (interaction)."),
}
