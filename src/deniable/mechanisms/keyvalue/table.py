"""The registry's rows of key-value mechanisms and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.mechanisms.entry import KEY_VALUE, Entry, Traits
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.bulk import KeyBulk
from deniable.mechanisms.keyvalue.hashing import SignedKeyHashing, SignedLocalHashing
from deniable.mechanisms.keyvalue.laws import Group
from deniable.mechanisms.keyvalue.protocols import KsAdap, KsGrr
from deniable.mechanisms.keyvalue.rounds import PrivKvm
from deniable.mechanisms.keyvalue.signed import (
    OneSampledKey,
    SignedResponse,
    SignedSelection,
    SignedUnaryEncoding,
    SplitSelection,
    SplitUnary,
)

__all__ = ["ROWS"]


def _cases(*own: Mapping[str, Any], **more: Any) -> tuple[dict[str, Any], ...]:
    """One pair at three budgets, and the given further cases."""
    single = [{"k": 3, "epsilon": e, **more} for e in (0.1, 1.0, 4.0)]
    return (*single, *({"epsilon": 1.0, **more, **case} for case in own))


_PADDED = ({"k": 3, "length": 1}, {"k": 4, "length": 2}, {"k": 4, "length": 2, "epsilon": 4.0, "range": "1,5"})


def _shaped(shape: str) -> Callable[..., SignedUnaryEncoding]:
    return lambda **given: SignedUnaryEncoding(shape=shape, **given)


def _work(m: KeyValue, n: float) -> float:
    """A report of the group that is the more work."""
    return max(group.work for group in m.bulk.groups)


def _pull(m: KeyValue, r: int) -> float:
    """A report of the group that suits the forger, for the summed frequencies of r keys."""

    def of(group: Group, bulk: KeyBulk[Any]) -> float:
        s = group.signal
        told = min(r, 1) if s.asked < 1 else r  # keys that the report speaks of
        return float(group.weight / (group.share * s.asked * s.step) * (bulk.most(r) - told * s.idle))

    both = zip(m.groups, m.bulk.groups, strict=True)
    return (m.length or 1) * max(of(group, bulk) for group, bulk in both if group.weight)


_OWN = ("length", "range")
_CYCLIC = {"encoding": "cyclic"}


def _row(
    cls: type[Any],
    summary: str,
    source: str,
    best_for: str,
    options: tuple[str, ...],
    small: tuple[dict[str, Any], ...],
    *,
    make: Callable[..., Any] | None = None,
    inner: tuple[str, ...] = (),
) -> Entry:
    """A mechanism; made with the parameters of least error where it has such."""
    made = getattr(cls, "optimal", cls) if make is None else make
    told = (summary, source, best_for, options)
    return Entry(cls, made, *told, inner=inner, small=small, question=KEY_VALUE, traits=Traits(_work, _pull))


def _protocol(cls: type[Any], summary: str, source: str, best_for: str, *own: str) -> Entry:
    return Entry(cls, cls, summary, source, best_for, (*own, "range"), question=KEY_VALUE)


ROWS: Mapping[str, Entry] = {
    "kv-ss2": _row(
        SignedSelection,
        "subset selection on keys with signs",
        "docs/maths/keyvalue.md",
        "key-value data: no mechanism has a lower error of frequency and mean together",
        ("size", "encoding", *_OWN),
        _cases(*_PADDED, {"k": 5, "size": 3}, {"k": 3, **_CYCLIC}, {"k": 2, "length": 1, **_CYCLIC}),
    ),
    "kv-ss": _row(
        SplitSelection,
        "subset selection on keys, for a share of the people, and on keys with signs for the rest",
        "docs/maths/keyvalue.md",
        "key-value data where frequencies matter more than means, or less",
        ("mix", "interest", "size", "encoding", *_OWN),
        _cases(
            *_PADDED,
            {"k": 4, "mix": 0.0},
            {"k": 4, "mix": 0.25, "size": 3},
            {"k": 2, "mix": 0.5},
            {"k": 4, "mix": 0.5, **_CYCLIC},
            {"k": 2, "length": 2, **_CYCLIC},
        ),
    ),
    "kv-mix": _row(
        SplitUnary,
        "unary encoding of keys, for a share of the people, and three-way answers for the rest",
        "docs/maths/keyvalue.md",
        "key-value data with many keys and simple clients",
        ("mix", *_OWN),
        _cases(*_PADDED, {"k": 4, "mix": 0.0}, {"k": 4, "mix": 0.5}),
    ),
    "kv-lh": _row(
        SignedLocalHashing,
        "keys hashed to a few buckets with a public random sign, and a response on bucket and sign",
        "docs/maths/keyvalue.md",
        "key-value data with very many keys: a seed and one small number per report",
        ("g", "interest", *_OWN),
        _cases({"k": 2, "g": 3, "epsilon": 2.0}, {"k": 2, "length": 1}, {"k": 2, "length": 2}, g=2),
    ),
    "kv-olh": _row(
        SignedKeyHashing,
        "local hashing on keys with signs",
        "docs/maths/keyvalue.md",
        "key-value data with very many keys, for frequencies and means equally: a seed and one small number",
        ("g", *_OWN),
        _cases({"k": 2, "g": 3}, {"k": 2, "length": 1}, {"k": 2, "length": 2}, g=2),
    ),
    "ks-ue": _row(
        SignedUnaryEncoding,
        "three-way answers for every key, most of the budget on keys (KS-UE)",
        "KSKV Sec. 4.1",
        "comparison",
        _OWN,
        _cases(*_PADDED),
        make=_shaped("ks-ue"),
    ),
    "pckv-ue": _row(
        SignedUnaryEncoding,
        "three-way answers for every key (PCKV-UE)",
        "Gu20",
        "comparison",
        _OWN,
        _cases(*_PADDED),
        make=_shaped("pckv-ue"),
    ),
    "pckv-grr": _row(
        SignedResponse,
        "randomised response on keys with signs (PCKV-GRR)",
        "Gu20",
        "key-value data with few keys: one small number per report",
        _OWN,
        _cases(*_PADDED, {"k": 6, "length": 3}),
    ),
    "privkv": _row(
        OneSampledKey,
        "one key that is drawn blindly, with a three-way answer (PrivKV)",
        "Ye19",
        "comparison: the error grows with the number of keys, and part of the budget is unused",
        ("range",),
        _cases({"k": 5}, {"k": 3, "key_epsilon": 0.25}),
        inner=("key_epsilon", "told"),
    ),
    "ks-grr": _protocol(
        KsGrr,
        "frequent keys from half of the people, pairs with these from the other half (KS-GRR)",
        "KSKV Sec. 4.2",
        "the most frequent of very many keys, one pair per person",
        "top",
        "form",
    ),
    "ks-adap": _protocol(
        KsAdap,
        "frequent keys, then how many of them people have, then pairs with these (KS-Adap)",
        "KSKV Sec. 4.3",
        "the most frequent of very many keys, several pairs per person",
        "top",
        "form",
    ),
    "privkvm": _protocol(
        PrivKvm,
        "PrivKV in rounds: people without a key answer by the mean of the round before (PrivKVM)",
        "Ye19",
        "comparison: the means are biased, for rare keys nearly as much as after one round",
        "rounds",
    ),
}
