"""Mechanisms and protocols as people see them in a shell and in a notebook: a line, and a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.collect.reports import title_of
from deniable.core.grid import Grid
from deniable.present.html import facts_html

if TYPE_CHECKING:
    from deniable.mechanisms.base import Mechanism
    from deniable.mechanisms.protocol import Protocol

__all__ = ["as_html", "as_line", "keep_line"]

_FEW = 6
"""Labels that are listed."""


def as_line(m: Mechanism | Protocol[Any]) -> str:
    """`repr` of a mechanism or a protocol: its name and its numbers."""
    told = [_answers(m), _range(m)]
    return f"<{_title(m)}{': ' * any(told)}{'; '.join(filter(None, told))}>"


def _answers(m: Mechanism | Protocol[Any]) -> str:
    """The first labels, or the interval of numbers; nothing for answers that are only counted."""
    if isinstance(m.domain, Grid):
        return m.domain.allowed
    labels = m.domain.labels or ()
    return ", ".join(labels[:_FEW]) + ", ..." * (len(labels) > _FEW)


def _range(m: Mechanism | Protocol[Any]) -> str:
    """From where to where the values of keys go, if not from -1 to 1; nothing where there are none."""
    ends = m.params.get("range")
    return "" if ends is None or tuple(ends) == (-1, 1) else f"values from {ends[0]:g} to {ends[1]:g}"


def as_html(m: Mechanism) -> str:
    """A small table for notebooks."""
    facts: dict[str, Any] = {"epsilon": f"{m.epsilon:g}", "answers": f"{m.k:,}"}
    shown = {"answers are" if isinstance(m.domain, Grid) else "labels": _answers(m), "values": _range(m)}
    facts |= {name: text for name, text in shown.items() if text}
    facts |= {name: value for name, value in m.params.items() if isinstance(value, int | float | str)}
    facts["report"] = f"none can be drawn: {m.refusal}" if m.refusal else f"{m.bulk.row_bytes:,} bytes"
    facts["vetted"] = "yes" if m.vetted else "no"
    return facts_html(_title(m), facts)


def keep_line(cls: type[Mechanism] | type[Protocol[Any]], /, **given: Any) -> None:
    """Make every family show the same line: data classes would write out all their fields."""
    cls.__repr__ = as_line  # type: ignore[method-assign, assignment]


def _title(m: Mechanism | Protocol[Any]) -> str:
    return title_of({"mechanism": m.name, "epsilon": m.epsilon, "domain": {"k": m.k}, "params": m.params})
