"""Names and options of mechanisms for several questions: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS"]

NAMES: Mapping[str, tuple[str, ...]] = {"mechanism": ("box", "interaction", "several")}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "sizes": Option(
        str, "How many answers each question has that is asked together (box, interaction), with commas: 2,2,3."
    ),
    "g": Option(int, "Buckets that the answers to all questions are hashed to (interaction); the best if left out."),
    "size": Option(int, "Buckets in a report (interaction), or outputs (several); the best if left out."),
    "most": Option(int, "How many of the k options somebody may tick (several)."),
    "marks": Option(
        int,
        "Outputs that stand for what somebody ticks (several): as many as may be ticked, with dummies that fill up, or "
        "as many as options, one of which a report is about; the better if left out.",
    ),
    "shape": Option(str, "How many answers to each question a report names (box), with commas; the best if left out."),
}
