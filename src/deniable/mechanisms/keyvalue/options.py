"""Names and options of key-value mechanisms and protocols: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.mechanisms.entry import Option

__all__ = ["FORMS", "NAMES", "OPTIONS"]

FORMS = ("repaired", "pooled", "paper")
"""Forms of `ks-grr` and, but for `pooled`, of `ks-adap`: what is wrong in the paper put right; `kv-ss` for pairs, and
frequencies from all people; as printed."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "kv-ss2",
        "kv-ss",
        "kv-mix",
        "kv-lh",
        "kv-olh",
        "ks-ue",
        "pckv-ue",
        "pckv-grr",
        "privkv",
    ),
    "protocol": (
        "ks-grr",
        "ks-adap",
        "privkvm",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "length": Option(int, "Pairs of a key and a value to allow for per person; left out, everybody has exactly one."),
    "range": Option(str, "Lowest and highest value of a key, separated by a comma; from minus 1 to 1 if left out."),
    "mix": Option(float, "Share of the reports that speak of keys only, not of values."),
    "interest": Option(float, "Weight of frequencies against means in the choice of mix; 1 if left out."),
    "rounds": Option(int, "How often everybody is asked, each time with a part of the budget (privkvm)."),
    "form": Option(
        str,
        "Of ks-grr and ks-adap: repaired; pooled (ks-grr only); or as in the paper, private but with biased means.",
        FORMS,
    ),
    "top": Option(int, "How many frequent keys are wanted (protocols for keys and values)."),
}
