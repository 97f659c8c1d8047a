"""How frequencies are estimated: the one table of methods by name, which mechanisms, files, commands and errors ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = [
    "BITS",
    "EVIDENCE",
    "IN_WORDS",
    "LEVELS",
    "LEVELS_ALIKE",
    "LIKELIHOOD",
    "METHODS",
    "REPORTS",
    "SEEDS",
    "TALLY",
    "UNBIASED",
    "methods_for",
]

LIKELIHOOD, BITS, SEEDS, LEVELS = "likelihood", "independent bits", "public seeds", "levels"
LEVELS_ALIKE = "levels that protect all answers alike"
"""What reports may have that a method needs."""
TALLY, EVIDENCE, REPORTS = "tally", "evidence", "reports"
"""What a method reads: the tally; the tally where that tells as much as the reports, else these; always the reports."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to estimate."""

    needs: tuple[str, ...]
    """It is there for reports that have one of these; for all reports if there are none."""
    reads: str
    does: str = ""
    """For people, in a few words."""


UNBIASED = "unbiased"
"""The method that every mechanism has: its own estimator."""

METHODS: Mapping[str, Method] = {
    UNBIASED: Method((), TALLY),
    "em": Method((LIKELIHOOD, LEVELS), EVIDENCE, "maximum likelihood"),
    "ems": Method((LIKELIHOOD,), EVIDENCE, "smoothed, for values in an order"),
    "count-aware": Method((BITS,), EVIDENCE, "where reports have bits"),
    "calibrated": Method((SEEDS,), REPORTS, "where reports have public seeds"),
    "auto": Method((LEVELS,), TALLY),
    "auem": Method((LEVELS,), TALLY),
    "self": Method((LEVELS,), TALLY),
    "grouped": Method((LEVELS,), TALLY),
    "pbp": Method((LEVELS_ALIKE,), TALLY),
    "emoa": Method((LEVELS_ALIKE,), REPORTS),
    "em-known": Method((LEVELS,), EVIDENCE),
    "em-blind": Method((LEVELS,), EVIDENCE),
}


def methods_for(traits: Iterable[str], *reads: str) -> tuple[str, ...]:
    """The methods for reports that have these, beside the one for all; with `reads` only those that read such."""
    own = set(traits)
    return tuple(
        name for name, method in METHODS.items() if own & {*method.needs} and (not reads or method.reads in reads)
    )


_FITS = ", ".join(f"{name} ({method.does})" for name, method in METHODS.items() if method.does)
_BY_LEVELS = ", ".join(
    name for name, method in METHODS.items() if {LEVELS, LEVELS_ALIKE} & {*method.needs} and not method.does
)
IN_WORDS = f"Or fit the shares: {_FITS}; with levels also {_BY_LEVELS}."
"""All methods that somebody may ask for, in a sentence."""
