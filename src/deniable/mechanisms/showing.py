"""Mechanisms as people see them in a shell and in a notebook: a line, and a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.collect.reports import title_of
from deniable.present.html import facts_html

if TYPE_CHECKING:
    from deniable.mechanisms.base import Mechanism

__all__ = ["as_html", "as_line", "keep_line"]

_FEW = 6
"""Labels that are listed."""


def as_line(m: Mechanism) -> str:
    """`repr` of a mechanism: its name and its numbers."""
    labels = m.domain.labels
    told = "" if labels is None else f": {', '.join(labels[:_FEW])}{', ...' * (len(labels) > _FEW)}"
    return f"<{_title(m)}{told}>"


def as_html(m: Mechanism) -> str:
    """A small table for notebooks."""
    facts: dict[str, Any] = {"epsilon": f"{m.epsilon:g}", "answers": f"{m.k:,}"}
    if m.domain.labels is not None:
        facts["labels"] = ", ".join(m.domain.labels[:_FEW]) + ", ..." * (m.k > _FEW)
    facts |= {name: value for name, value in m.params.items() if isinstance(value, int | float | str)}
    facts["report"] = f"none can be drawn: {m.refusal}" if m.refusal else f"{m.bulk.row_bytes:,} bytes"
    facts["vetted"] = "yes" if m.vetted else "no"
    return facts_html(_title(m), facts)


def keep_line(cls: type[Mechanism], /, **given: Any) -> None:
    """Make every family show the same line: data classes would write out all their fields."""
    cls.__repr__ = as_line  # type: ignore[method-assign, assignment]


def _title(m: Mechanism) -> str:
    return title_of({"mechanism": m.name, "epsilon": m.epsilon, "domain": {"k": m.k}, "params": m.params})
