"""Names and options of personal levels: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["DISCLOSURES", "LEVEL_REPORTS", "NAMES", "OPTIONS"]

LEVEL_REPORTS = ("response", "bit", "none")
"""A response over the levels; one bit, enough for the mean of p and q; nothing."""
DISCLOSURES = ("common", "capped", "own")
"""Chance that a harmless item is disclosed: one for all levels, which tells nothing about the level; as much as each
level allows, but no more telling than reports of sensitive items are; as much as each level allows."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "pldp",
        "upldp",
    ),
    "protocol": (
        "rcf",
        "apldp",
        "ppda",
        "pbp",
        "auem",
        "emoa",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "levels": Option(str, "Levels of protection that people choose from, separated by commas (pldp)."),
    "shares": Option(str, "Expected shares of the levels, for closed forms and simulations; equal if left out (pldp)."),
    "level_epsilon": Option(float, "Protection of the level report (pldp)."),
    "level_report": Option(str, "What is sent about the level: a response, one bit, or nothing (pldp).", LEVEL_REPORTS),
    "leak_budget": Option(float, "Most that a report may tell about the level; base and g are chosen for it (pldp)."),
    "disclosure": Option(
        str,
        "Chance that a harmless answer is disclosed: one for all levels, capped, or each level's own (upldp).",
        DISCLOSURES,
    ),
    "frequency": Option(float, "Frequency of the item that `variance` is for (pldp)."),
}
