"""Names and options of mechanisms for means of numbers: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OBJECTIVES", "OPTIONS", "WINDOWS"]

WINDOWS = ("best", "paper")
"""Windows of the piecewise mechanism: of least largest variance, or of the paper's size."""

OBJECTIVES = ("worst", "even", "centre", "prior")
"""What om makes least: the largest variance, its mean over all points, that of the middle, or its mean by a prior."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "sw",
        "pm",
        "duchi",
        "hm",
        "om",
        "lu",
        "arc",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "outputs": Option(int, "Most different reports of om; those of lu, a power of 2."),
    "objective": Option(
        str,
        "What om makes least: the largest variance (worst), its mean over equally likely numbers (even), that in the "
        "middle (centre), or its mean by --prior.",
        OBJECTIVES,
    ),
    "prior": Option(str, "om: a weight for each point, with commas between them."),
    "window": Option(str, "Window of pm: of least largest variance, or of the paper's size.", WINDOWS),
}
