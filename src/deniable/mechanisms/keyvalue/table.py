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
    options: tuple[str, ...],
    small: tuple[dict[str, Any], ...],
    *,
    make: Callable[..., Any] | None = None,
    inner: tuple[str, ...] = (),
) -> Entry:
    """A mechanism; made with the parameters of least error where it has such."""
    made = getattr(cls, "optimal", cls) if make is None else make
    how: dict[str, Any] = {"question": KEY_VALUE, "traits": Traits(_work, _pull)}
    return Entry(cls, made, options=options, inner=inner, small=small, **how)


def _protocol(cls: type[Any], *own: str) -> Entry:
    return Entry(cls, cls, options=(*own, "range"), question=KEY_VALUE)


ROWS: Mapping[str, Entry] = {
    "kv-ss2": _row(
        SignedSelection,
        ("size", "encoding", *_OWN),
        _cases(*_PADDED, {"k": 5, "size": 3}, {"k": 3, **_CYCLIC}, {"k": 2, "length": 1, **_CYCLIC}),
    ),
    "kv-ss": _row(
        SplitSelection,
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
    "kv-mix": _row(SplitUnary, ("mix", *_OWN), _cases(*_PADDED, {"k": 4, "mix": 0.0}, {"k": 4, "mix": 0.5})),
    "kv-lh": _row(
        SignedLocalHashing,
        ("g", "interest", *_OWN),
        _cases({"k": 2, "g": 3, "epsilon": 2.0}, {"k": 2, "length": 1}, {"k": 2, "length": 2}, g=2),
    ),
    "kv-olh": _row(
        SignedKeyHashing, ("g", *_OWN), _cases({"k": 2, "g": 3}, {"k": 2, "length": 1}, {"k": 2, "length": 2}, g=2)
    ),
    "ks-ue": _row(SignedUnaryEncoding, _OWN, _cases(*_PADDED), make=_shaped("ks-ue")),
    "pckv-ue": _row(SignedUnaryEncoding, _OWN, _cases(*_PADDED), make=_shaped("pckv-ue")),
    "pckv-grr": _row(SignedResponse, _OWN, _cases(*_PADDED, {"k": 6, "length": 3})),
    "privkv": _row(
        OneSampledKey, ("range",), _cases({"k": 5}, {"k": 3, "key_epsilon": 0.25}), inner=("key_epsilon", "told")
    ),
    "ks-grr": _protocol(KsGrr, "top", "form"),
    "ks-adap": _protocol(KsAdap, "top", "form"),
    "privkvm": _protocol(PrivKvm, "rounds"),
}
