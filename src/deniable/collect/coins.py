"""Public coins that the collector deals: seeds given out beforehand, and reports that must carry them."""

from __future__ import annotations

import numpy as np

from deniable.collect.reports import Reports
from deniable.core.types import Words
from deniable.errors import FormatError, InWords, ParameterError, require

__all__ = ["check_coins", "refuse_undealt"]


def check_coins(coins: object, n: int) -> Words:
    """Dealt coins as an array: n whole numbers of 64 bits, one for each person."""
    try:
        given = np.asarray(coins)
    except ValueError as error:
        raise ParameterError(f"coins must be {n} whole numbers from 0 to 2**64 - 1: {error}.") from error
    whole = np.issubdtype(given.dtype, np.integer) and bool((given >= 0).all() if given.size else True)
    shown = InWords(f"{given.dtype} of shape {given.shape}")
    require(whole and given.shape == (n,), "coins", shown, f"{n} whole numbers from 0 to 2**64 - 1, one per value")
    return given.astype(np.uint64)


def refuse_undealt(reports: Reports, coins: object) -> None:
    """`FormatError` unless report i carries the coin that was dealt to person i.

    Fake users who may choose their seed look for one that sends many of their targets to one bucket; with a dealt coin
    they must take what they get (docs/maths/coins.md, section 5).
    """
    if "seed" not in reports.columns:
        raise FormatError("these reports have no public seed, so no coin can have been dealt for them.")
    wrong = np.flatnonzero(reports.columns["seed"] != check_coins(coins, len(reports)))
    if wrong.size:
        raise FormatError(
            f"report {int(wrong[0])} carries another coin than the one dealt ({wrong.size} of {len(reports)} do).",
            "Leave such reports out: whoever chooses the coin can make one report count for many items.",
        )
