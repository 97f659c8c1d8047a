"""The registry's rows of personal levels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from deniable.errors import ParameterError
from deniable.mechanisms.entry import Entry, Traits
from deniable.mechanisms.personal.costs import pull_levels, work_levels
from deniable.mechanisms.personal.make import largest_level, make_personal
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.schemes import HiddenLevels, PublicLevels, make_scheme
from deniable.mechanisms.personal.sensitive import PersonalUtility

__all__ = ["ROWS"]

_OPTIONS = (
    "levels",
    "base",
    "g",
    "level_epsilon",
    "level_report",
    "leak_budget",
    "shares",
    "sensitive",
    "theta",
    "disclosure",
)

_RECONSTRUCTED = "comparison in simulations: a reconstruction, its article was not at hand"
_PRINTED = "comparison in simulations: as printed"


def _scheme(name: str, summary: str, best_for: str, *own: str) -> Entry:
    """A scheme that is simulated only; its form is the paper's, and there is no other."""
    cls = PublicLevels if name in ("rcf", "apldp") else HiddenLevels
    return Entry(
        cls,
        partial(make_scheme, cls, name),
        summary,
        "PLDP App. A.5" if best_for == _RECONSTRUCTED else "PLDP Sec. 5 and 6",
        best_for,
        ("levels", "shares", *own),
        default_epsilon=_largest,
        inner=("form",),
        printed={},
    )


def _largest(options: Mapping[str, Any]) -> float:
    if "levels" in options:
        return largest_level(options["levels"])
    raise ParameterError("epsilon must be given, or levels.", "Without levels they are tenths of epsilon.")


ROWS: Mapping[str, Entry] = {
    "pldp": Entry(
        Personal,
        make_personal,
        "everyone chooses a level of protection, which is sent noisily beside the data",
        "PLDP Sec. 5",
        "people differ in what they want protected",
        (*_OPTIONS, "frequency"),
        ("levels",),
        inner=("form",),
        printed={"base": "sue", "level_report": "response"},
        small=(
            {"k": 4, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.5},
            {"k": 3, "levels": "0.5,2", "base": "oue", "level_epsilon": 1.0, "level_report": "bit"},
            {"k": 5, "levels": "0.5,1", "base": "grr", "level_epsilon": 0.3},
            {"k": 3, "levels": "0.1,1", "base": "lh", "level_report": "none"},
            {"k": 3, "levels": "1", "base": "sue"},
            {"k": 9, "levels": "0.5,2", "base": "affine", "level_epsilon": 0.5},
        ),
        traits=Traits(work_levels, pull_levels),
        default_epsilon=lambda options: largest_level(options["levels"]),
    ),
    "upldp": Entry(
        PersonalUtility,
        make_personal,
        "everyone chooses a level, which protects sensitive answers only; harmless ones are disclosed now and then",
        "docs/maths/personal.md",
        "people differ in what they want protected, and only some answers are sensitive",
        _OPTIONS,
        ("levels", "sensitive"),
        small=(
            {"k": 5, "sensitive": 3, "levels": "0.5,1,2", "base": "sue", "level_epsilon": 0.5},
            {"k": 4, "sensitive": "0,2", "levels": "0.5,2", "base": "oue", "level_epsilon": 1.0, "level_report": "bit"},
            {"k": 6, "sensitive": 4, "levels": "0.5,1", "base": "grr", "level_epsilon": 0.3, "disclosure": "own"},
            {"k": 5, "sensitive": 3, "levels": "0.5,2", "base": "lh", "level_epsilon": 0.5, "disclosure": "capped"},
            {"k": 4, "sensitive": 3, "levels": "0.1,1", "base": "lh", "level_report": "none"},
            {"k": 11, "sensitive": 9, "levels": "0.5,2", "base": "affine", "level_epsilon": 0.5},
            {"k": 4, "sensitive": 2, "levels": "1", "base": "grr"},
        ),
        traits=Traits(work_levels, pull_levels),
        default_epsilon=lambda options: largest_level(options["levels"]),
    ),
    "rcf": _scheme("rcf", "levels are public; SUE at each of them, combined by their variances (RCF)", _RECONSTRUCTED),
    "apldp": _scheme(
        "apldp", "levels are public; randomised response or SUE at each, whichever is better (APLDP)", _RECONSTRUCTED
    ),
    "ppda": _scheme(
        "ppda", "no level is sent; bits that nobody holds tell how much noise there is (PPDA)", _RECONSTRUCTED
    ),
    "pbp": _scheme("pbp", "no level is sent; the shares of the levels are public (PBP)", _RECONSTRUCTED),
    "auem": _scheme(
        "auem", "levels are told noisily; their shares are estimated, without a guard (AUEM)", _PRINTED, "level_epsilon"
    ),
    "emoa": _scheme("emoa", "the same reports, by PLDP's Algorithm 1 (EMOA)", _PRINTED, "level_epsilon"),
}
