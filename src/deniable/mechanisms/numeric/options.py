"""Names and options of mechanisms for means of numbers: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS", "WINDOWS"]

WINDOWS = ("best", "paper")
"""Windows of the piecewise mechanism: of least largest variance, or of the paper's size."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "sw",
        "pm",
        "duchi",
        "hm",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "window": Option(str, "Window of pm: of least largest variance, or of the paper's size.", WINDOWS),
}
