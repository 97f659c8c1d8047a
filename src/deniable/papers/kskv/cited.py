"""What KSKV says about mechanisms of others, and about the order of the keys; by closed forms and expected counts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from deniable.mechanisms.keyvalue.laws import Signal
from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.kskv.study import load_data
from deniable.papers.paper import Context, Measures

__all__ = ["measures"]

measures = Measures()


@measures("olh-cost")
def _cost(_: Context) -> Evidence:
    """Operations of the server for a report of OLH, as the planner counts them, by the number of keys."""
    counted = MECHANISMS["olh"].traits.work
    assert counted is not None
    spent = {k: float(counted(mechanism("olh", k=k, epsilon=1.0), 10_000)) for k in (10, 1000)}
    told = {f"{k} keys, operations for a report": x for k, x in spent.items()}
    return told | {"work for a report, 1,000 keys over 10": spent[1000] / spent[10]}


@measures("pckv-privkv")
def _privkv(_: Context) -> Evidence:
    """Variances of frequencies and means over those of PrivKV, the largest over budgets and numbers of keys."""
    found: dict[str, float] = {}
    for name, k, epsilon in product(("pckv-ue", "pckv-grr"), (10, 100, 5850), (0.5, 1.0, 2.0, 4.0, 6.0)):
        own, other = (mechanism(which, k=k, epsilon=epsilon).properties() for which in (name, "privkv"))
        for what, key in (("frequencies", "variance"), ("means", "variance_mean")):
            told = f"{what}: {name}, {k} keys, variance over that of PrivKV"
            found[told] = max(found.get(told, 0.0), float(own[key] / other[key]))
    return found


_PAIRS, _KEYS, _PEOPLE = 3, 20, 10_000
"""Everybody has so many pairs, keys equally often."""


@measures("pckv-length")
def _lengths(_: Context) -> Evidence:
    """Squared error of a frequency by the length that is set: its bias, where pairs are cut off, and its variance."""
    found: dict[str, float] = {}
    share = Fraction(_PAIRS, _KEYS)
    for name, epsilon in product(("pckv-ue", "pckv-grr"), (1.0, 2.0, 4.0)):

        def error(length: int, name: str = name, epsilon: float = epsilon) -> float:
            chosen = share / max(_PAIRS, length)
            kept: Any = _signal(name, epsilon, length).frequency_variance(chosen)
            return float((length * chosen - share) ** 2 + length**2 * kept / _PEOPLE)

        for length in (1, 2, 4, 6):
            told = (
                f"{name}, epsilon={epsilon:g}, l={length}: squared error at another length over that at the right one"
            )
            found[told] = error(length) / error(_PAIRS)
    return found


def _signal(name: str, epsilon: float, length: int) -> Signal:
    """The law of what reports say of a key, keys that pad among the others."""
    made: Any = mechanism(name, k=_KEYS, epsilon=epsilon, length=length)
    signal: Signal = made.ideal()[0].signal
    return signal


@measures("task1-order")
def _order(context: Context) -> Evidence | Missing:
    """Ranks of the keys by who has them, and by how often they are drawn if everybody draws one of the own pairs."""
    data = context.once(load_data, "Clothing")
    if data.made_up:
        return Missing("it needs the file renttherunway.csv.gz in the data folder")
    sizes = np.diff(data.pairs.offsets)
    held = np.bincount(data.pairs.keys, minlength=data.k)
    drawn = np.bincount(data.pairs.keys, weights=np.repeat(1 / sizes, sizes), minlength=data.k)
    ranks = [np.argsort(-counts, kind="stable")[:100] for counts in (held, drawn)]
    return {
        "top 100 keys that keep their place": int((ranks[0] == ranks[1]).sum()),
        "top 100 keys that stay among them": int(np.isin(ranks[0], ranks[1]).sum()),
    }
