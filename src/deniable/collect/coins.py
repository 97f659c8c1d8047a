"""Public coins that the collector deals: seeds given out beforehand, and reports that must carry them."""

from __future__ import annotations

import numpy as np

from deniable.collect.reports import Reports
from deniable.core.types import Words
from deniable.errors import FormatError, InWords, ParameterError, is_whole, require

__all__ = ["check_coins", "refuse_undealt"]


_WORDS = 1 << 64


def check_coins(coins: object, n: int, number: int = _WORDS) -> Words:
    """Dealt coins as an array: n whole numbers below `number`, one for each person."""
    need = f"{n} whole numbers from 0 to {'2**64 - 1' if number == _WORDS else number - 1}"
    try:
        given = np.asarray(coins)
    except ValueError as error:
        raise ParameterError(f"coins must be {need}: {error}.") from error
    if given.dtype.kind == "f":  # numbers of Python on both sides of 2**63
        plain = np.asarray(coins, object)
        given = plain.astype(np.uint64) if all(is_whole(x, 0, _WORDS - 1) for x in plain.flat) else given
    whole = np.issubdtype(given.dtype, np.integer) and bool((given >= 0).all() if given.size else True)
    shown = InWords(f"{given.dtype} of shape {given.shape}")
    require(whole and given.shape == (n,), "coins", shown, f"{need}, one per value")
    found = given.astype(np.uint64)
    most = int(found.max()) if found.size else 0
    require(most < number, "coins", most, f"{need}, one per value", "Draw one at random for each person.")
    return found


def refuse_undealt(reports: Reports, coins: object) -> None:
    """`FormatError` unless report i carries the coin that was dealt to person i.

    Fake users who may choose their seed look for one that sends many of their targets to one bucket; with a dealt coin
    they must take what they get (docs/maths/coins.md, section 5).
    """
    wrong = np.flatnonzero(_carried(reports) != check_coins(coins, len(reports)))
    if wrong.size:
        raise FormatError(
            f"report {int(wrong[0])} carries another coin than the one dealt ({wrong.size} of {len(reports)} do).",
            "Leave such reports out: whoever chooses the coin can make one report count for many items.",
        )


def _carried(reports: Reports) -> Words:
    """The coins that reports carry: their seeds, or the unions of their blocks."""
    if "seed" in reports.columns:
        return reports.columns["seed"].astype(np.uint64)
    kernel = reports.design["kernel"]
    if kernel["kind"] != "affine":
        raise FormatError("these reports have no public seed, so no coin can have been dealt for them.")
    return reports.columns["value"].astype(np.uint64) // np.uint64(int(kernel["q"]))
