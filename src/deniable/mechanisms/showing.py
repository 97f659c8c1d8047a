"""Mechanisms and protocols as people see them in a shell and in a notebook: a line, and a small table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deniable.collect.reports import title_of
from deniable.core.grid import Grid
from deniable.present.html import facts_html

if TYPE_CHECKING:
    from deniable.mechanisms.base import Mechanism
    from deniable.mechanisms.protocol import Protocol

__all__ = ["as_html", "as_line", "keep_line", "steps_html"]

_FEW = 6
"""Labels that are listed."""


def as_line(m: Mechanism | Protocol[Any]) -> str:
    """`repr` of a mechanism or a protocol: its name and its numbers."""
    told = [_answers(m), f"values {_range(m)}" if _range(m) else ""]
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
    return "" if ends is None or tuple(ends) == (-1, 1) else f"from {ends[0]:g} to {ends[1]:g}"


def as_html(m: Mechanism) -> str:
    """A small table for notebooks."""
    size = 0 if m.refusal else m.bulk.row_bytes
    return _table(m, {"report": f"{size:,} byte{'s' * (size != 1)}" if size else f"none can be drawn: {m.refusal}"})


def steps_html(p: Protocol[Any]) -> str:
    """A small table for notebooks: who is asked in which step."""
    who = ["everybody" if p.repeated else f"{100 * share:g} % of the people" for share in p.shares]
    return _table(p, {f"step {i}": text for i, text in enumerate(who, 1)})


def _table(m: Mechanism | Protocol[Any], own: Mapping[str, str]) -> str:
    facts: dict[str, Any] = {"epsilon": f"{m.epsilon:g}", "answers": f"{m.k:,}"}
    shown = {"answers are" if isinstance(m.domain, Grid) else "labels": _answers(m), "values": _range(m)}
    facts |= {name: text for name, text in shown.items() if text}
    facts |= {name: value for name, value in m.params.items() if isinstance(value, int | float | str)}
    return facts_html(_title(m), {**facts, **own, "vetted": "yes" if m.vetted else "no"})


def keep_line(cls: type[Mechanism] | type[Protocol[Any]], /, **given: Any) -> None:
    """Make every family show the same line: data classes would write out all their fields."""
    cls.__repr__ = as_line  # type: ignore[method-assign, assignment]


def _title(m: Mechanism | Protocol[Any]) -> str:
    return title_of({"mechanism": m.name, "epsilon": m.epsilon, "domain": {"k": m.k}, "params": m.params})
