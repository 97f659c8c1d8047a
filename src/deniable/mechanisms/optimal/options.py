"""Names and options of mechanisms that are written down whole: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OPTIONS"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": ("matrix",),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "matrix": Option(str, "A .csv or .json file of chances: a row for each answer, a column for each output."),
}
