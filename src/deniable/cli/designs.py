"""Commands about mechanisms themselves: the registry, and a design with its properties."""

from __future__ import annotations

from typing import Annotated

from deniable.cli.options import Choice, option
from deniable.cli.output import Output
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import kept
from deniable.mechanisms.protocol import Protocol
from deniable.present.studies import protocol_table, steps_table
from deniable.present.tables import mechanisms_table, properties_table
from deniable.run.describe import describe, describe_protocol, registry_rows

__all__ = ["design", "mechanisms"]


def mechanisms(out: Output) -> None:
    """List the mechanisms, what each is best for, and its options."""
    rows = registry_rows()
    out.show({"mechanisms": rows}, mechanisms_table(rows))


def design(
    choice: Choice,
    out: Output,
    n: Annotated[int, option("--n", "N", "Reports that the errors are computed for.")] = 1,
) -> None:
    """Show a mechanism's parameters and properties.

    Closed forms: errors for n reports, the best guess from one report, its size, and the distance to the optimum. Of a
    protocol its steps are shown.

    Example: deniable design ss --epsilon 1 --k 16 --n 10000
    """
    made = choice.make_any(n=n)
    if isinstance(made, Protocol):
        found = describe_protocol(made, n)
        told = found["protection"]["text"]
        out.show(found, told, protocol_table(found), "Its steps, for made-up people:", steps_table(found))
        return
    document = describe(made, n)
    note = [f"No reports can be drawn: {document['note']}"] if "note" in document else []
    chosen = document.get("selection", {}).get("note")
    note += [f"The choice: {chosen}"] if chosen else []
    warning = document.get("guarantee", {}).get("warning")
    note += [f"Warning: {warning}."] if warning else []
    told = ["What people are told:", *document["explain"].splitlines()] if "explain" in document else []
    out.show(document, _statement(made), properties_table(document), *note, *told)


def _statement(m: Mechanism) -> str:
    """Who is protected from what; or that the design does not keep what it promises."""
    if m.refusal is not None or kept(m):
        return m.protection.text
    return f"THE PROMISE IS BROKEN: `deniable audit` shows where. It was: {m.protection.text}"
