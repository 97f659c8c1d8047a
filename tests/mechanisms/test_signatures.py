"""Whoever calls a mechanism need not know its class: overrides take what the base takes, with the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.base import Mechanism

CLASSES = sorted({entry.cls for entry in dn.MECHANISMS.values() if issubclass(entry.cls, Mechanism)}, key=str)
CALLED = ("fit", "estimate", "tally", "privatize", "privatize_items", "simulate_tally", "properties", "guess")


def strays(override: Any, base: Any) -> list[str]:
    """What callers of the base method cannot rely on in an override."""
    own, known = (list(inspect.signature(method).parameters.values()) for method in (override, base))
    told = [(p.name, p.kind, p.default) for p in own]
    faults = [f"{p}" for i, p in enumerate(known) if (p.name, p.kind, p.default) not in told]
    first = [p.name for p in own if p.kind is not p.KEYWORD_ONLY]
    order = [p.name for p in known if p.kind is not p.KEYWORD_ONLY]
    faults += [] if first[: len(order)] == order else [f"order {first}"]
    more = {p.name for p in own} - {p.name for p in known}
    return faults + [f"{p} has no default" for p in own if p.name in more and p.default is p.empty]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_overrides_take_what_the_base_class_takes(cls: type[Mechanism]) -> None:
    found = {name: strays(getattr(cls, name), getattr(Mechanism, name)) for name in CALLED}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_another_default_order_or_parameter_would_be_found() -> None:
    def base(self: Any, data: Any, method: str = "em", *, steps: int = 2000) -> None: ...

    def more(self: Any, data: Any, method: str = "em", extra: int = 0, *, steps: int = 2000) -> None: ...

    def default(self: Any, data: Any, method: str = "em", *, steps: int = 5000) -> None: ...

    def order(self: Any, method: str = "em", data: Any = None, *, steps: int = 2000) -> None: ...

    def needed(self: Any, data: Any, method: str = "em", *, steps: int = 2000, extra: int) -> None: ...

    assert strays(more, base) == []
    assert all(strays(wrong, base) for wrong in (default, order, needed))
