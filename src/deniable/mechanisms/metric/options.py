"""Names and options of mechanisms whose report is near to the value: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option
from deniable.mechanisms.spaces import SPACE_OPTIONS

__all__ = ["NAMES", "OPTIONS", "RULES", "TIES"]

RULES = ("mean", "min", "alg3")
"""How brr chooses the number of answers that it favours; by the last as BRR's Algorithm 3 prints it, on a line."""
TIES = ("random", "low", "high")
"""Which of two equally near answers is favoured on a line: by a fair coin for each report, the lower, the higher."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "brr",
        "codebook",
        "exponential",
        "laplace",
        "geometric",
        "lsrr",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    **SPACE_OPTIONS,
    "rule": Option(
        str,
        "How many answers brr favours: for the least mean loss (mean), such that no value loses (min), or by the "
        "closed form that is printed for a line (alg3).",
        RULES,
    ),
    "tie": Option(str, "Which of two equally near points brr favours.", TIES),
    "variant": Option(
        str,
        "codebook: optimal or bins; exponential: calibrated; laplace: truncate or clamp; lsrr: calibrated or rank.",
    ),
}
