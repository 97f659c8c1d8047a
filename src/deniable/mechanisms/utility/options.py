"""Names and options of ULDP: only some answers are sensitive: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["BASES", "FORMS", "MIXTURE", "NAMES", "OPTIONS"]

FORMS = ("null", "glutf", "paper")
"""Null branch; ULDP's Algorithm 1 with a disclosure valid for every hash function; the same as printed (audit only)."""
BASES: tuple[str, ...] = (
    "grr",
    "ss",
    "iss",
    "ue",
    "sue",
    "oue",
    "lh",
    "blh",
    "olh",
    "plh",
    "wheel",
    "hr",
    "pgr",
    "affine",
    "the",
    "she",
)
BASES += ("ass", "aue", "alh", "athe")
"""Mechanisms that the transform makes by registry name; others are made first and handed over."""
MIXTURE = "ssmix"
"""The base that is a mechanism of its own here: the two sizes of a mixture disclose different shares."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "uss",
        "ussmix",
        "uue",
        "ulh",
        "uwheel",
        "upgr",
        "urr",
        "urap",
        "uhr",
        "utility",
        "uue-levels",
    ),
    "protocol": ("collaborative",),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "sensitive": Option(
        str,
        "Sensitive answers: how many of the first ones, or labels separated by commas; '\"2\"' is the label 2 (ULDP).",
    ),
    "theta": Option(
        str,
        "Expected share of people with a harmless answer (ULDP): a number from 0 to 1, their share of labels if left "
        "out; or minimax, for the least favourable share.",
    ),
    "form": Option(str, "How ULDP is reached: null branch; as in the paper but valid; as printed (audit only).", FORMS),
    "base": Option(
        str,
        "The mechanism on the sensitive answers (utility), or of the data (pldp: sue, oue, grr, lh).",
        (*BASES, MIXTURE),
    ),
    "item_epsilon": Option(str, "Budgets of the sensitive answers, in their order, separated by commas (uue-levels)."),
    "flip": Option(float, "In uue-levels: chance of a 1 in bits of the smallest budget that are not the own one."),
}
