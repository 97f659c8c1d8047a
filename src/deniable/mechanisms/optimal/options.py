"""Names and options of written tables and of the best channels for any promise: known before any is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["NAMES", "OBJECTIVES", "OPTIONS", "RELEASED"]

OBJECTIVES = ("frequency", "mean", "functional")
"""What is estimated: how often each answer occurs, the mean of numbers that answers stand for, or functionals."""

RELEASED = "release"
"""The objective of single reports that are near their values; it has a row of its own."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": ("matrix", "optimal", "optimal-release"),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "matrix": Option(str, "A .csv or .json file of chances: a row for each answer, a column for each output."),
    "promise": Option(str, "optimal: a file with the budgets between answers, or with the arguments that say them."),
    "objective": Option(str, "optimal: what the reports are for.", (*OBJECTIVES, RELEASED)),
    "prior": Option(str, "optimal: how often each answer is expected; all equally unless given."),
    "values": Option(str, "optimal for a mean or a release: the numbers that answers stand for, in their order."),
    "loss": Option(
        str, "optimal for a release: absolute, squared or zero-one, or a .csv file of losses; distances if left out."
    ),
    "worst": Option(bool, "optimal: for the least error in the worst case, whatever the population is."),
}
