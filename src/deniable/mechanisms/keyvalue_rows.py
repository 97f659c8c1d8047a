"""The registry's rows and options of key-value mechanisms and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from deniable.mechanisms.keyvalue_families import (
    OneSampledKey,
    SignedResponse,
    SignedSelection,
    SignedUnaryEncoding,
    SplitSelection,
    SplitUnary,
)
from deniable.mechanisms.keyvalue_protocols import KsAdap, KsGrr

__all__ = ["KEY_VALUE", "OPTION_ROWS", "keyvalue_rows", "protocol_rows"]

E = TypeVar("E")

KEY_VALUE = "key-value"
"""What these rows estimate."""

OPTION_ROWS: Mapping[str, tuple[type, str]] = {
    "length": (int, "Pairs per person that key-value reports allow for; left out, everybody has exactly one."),
    "range": (str, "Lowest and highest value of key-value data, e.g. 1,5 for ratings; -1,1 if left out."),
    "mix": (float, "Share of key-value reports that speak of keys only (kv-mix, kv-ss)."),
    "interest": (float, "Weight of frequencies against means when kv-ss chooses its share; 1 weighs them alike."),
    "top": (int, "How many frequent keys are wanted (ks-grr, ks-adap)."),
}


def _cases(*own: Mapping[str, Any], **more: Any) -> tuple[dict[str, Any], ...]:
    """One pair at three budgets, and the given further cases."""
    single = [{"k": 3, "epsilon": e, **more} for e in (0.1, 1.0, 4.0)]
    return (*single, *({"epsilon": 1.0, **more, **case} for case in own))


_PADDED = ({"k": 3, "length": 1}, {"k": 4, "length": 2}, {"k": 4, "length": 2, "epsilon": 4.0, "range": "1,5"})


def _named(name: str) -> Callable[..., SignedUnaryEncoding]:
    return lambda **given: SignedUnaryEncoding(name=name, **given)


def keyvalue_rows(entry: Callable[..., E]) -> dict[str, E]:
    """The mechanisms, as entries of the registry."""
    common: dict[str, Any] = {"question": KEY_VALUE}
    own = ("length", "range")
    return {
        "kv-ss2": entry(
            SignedSelection,
            SignedSelection.optimal,
            "subset selection on keys with signs",
            "docs/maths/keyvalue.md",
            "key-value data: no mechanism has a lower error of frequency and mean together",
            ("size", *own),
            small=_cases(*_PADDED, {"k": 5, "size": 3}),
            **common,
        ),
        "kv-ss": entry(
            SplitSelection,
            SplitSelection.optimal,
            "subset selection on keys, for a share of the people, and on keys with signs for the rest",
            "docs/maths/keyvalue.md",
            "key-value data where frequencies and means do not matter alike",
            ("mix", "interest", "size", *own),
            small=_cases(*_PADDED, {"k": 4, "mix": 0.0}, {"k": 4, "mix": 0.25, "size": 3}, {"k": 2, "mix": 0.5}),
            **common,
        ),
        "kv-mix": entry(
            SplitUnary,
            SplitUnary.optimal,
            "unary encoding of keys, for a share of the people, and three-way answers for the rest",
            "docs/maths/keyvalue.md",
            "key-value data with many keys and simple clients",
            ("mix", *own),
            small=_cases(*_PADDED, {"k": 4, "mix": 0.0}, {"k": 4, "mix": 0.5}),
            **common,
        ),
        "ks-ue": entry(
            SignedUnaryEncoding,
            _named("ks-ue"),
            "three-way answers for every key, most of the budget on keys (KS-UE)",
            "KSKV Sec. 4.1",
            "comparison",
            own,
            small=_cases(*_PADDED),
            **common,
        ),
        "pckv-ue": entry(
            SignedUnaryEncoding,
            _named("pckv-ue"),
            "three-way answers for every key (PCKV-UE)",
            "Gu20",
            "comparison",
            own,
            small=_cases(*_PADDED),
            **common,
        ),
        "pckv-grr": entry(
            SignedResponse,
            SignedResponse,
            "randomised response on keys with signs (PCKV-GRR)",
            "Gu20",
            "key-value data with few keys: one small number per report",
            own,
            small=_cases(*_PADDED, {"k": 6, "length": 3}),
            **common,
        ),
        "privkv": entry(
            OneSampledKey,
            OneSampledKey,
            "one key that is drawn blindly, with a three-way answer (PrivKV)",
            "Ye19",
            "comparison: the error grows with the number of keys, and part of the budget is unused",
            ("range",),
            small=_cases({"k": 5}),
            **common,
        ),
    }


def protocol_rows(entry: Callable[..., E]) -> dict[str, E]:
    """The protocols."""
    common: dict[str, Any] = {"kind": "protocol", "question": KEY_VALUE}
    return {
        "ks-grr": entry(
            KsGrr,
            KsGrr,
            "frequent keys from half of the people, pairs with these from the other half (KS-GRR)",
            "KSKV Sec. 4.2",
            "the most frequent of very many keys, one pair per person",
            ("top", "range"),
            **common,
        ),
        "ks-adap": entry(
            KsAdap,
            KsAdap,
            "frequent keys, then how many of them people have, then pairs with these (KS-Adap)",
            "KSKV Sec. 4.3",
            "the most frequent of very many keys, several pairs per person",
            ("top", "range"),
            **common,
        ),
    }
