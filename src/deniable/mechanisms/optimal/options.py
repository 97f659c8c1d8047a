"""Names and options of written tables and of the best channels for any promise: all that is known before any is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OBJECTIVES", "OPTIONS"]

OBJECTIVES = ("frequency", "mean", "functional")
"""What is estimated: how often each answer occurs, the mean of numbers that answers stand for, or functionals."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": ("matrix", "optimal"),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "matrix": Option(str, "A .csv or .json file of chances: a row for each answer, a column for each output."),
    "promise": Option(str, "optimal: a file with the budgets between answers, or with the arguments that say them."),
    "objective": Option(str, "optimal: what the reports are for.", OBJECTIVES),
    "prior": Option(str, "optimal: how often each answer is expected; all equally unless given."),
    "values": Option(str, "optimal for a mean: the numbers that answers stand for, in their order."),
    "worst": Option(bool, "optimal: for the least error in the worst case, whatever the population is."),
}
