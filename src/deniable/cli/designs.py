"""Commands about mechanisms themselves: the registry, and a design with its properties."""

from __future__ import annotations

from typing import Annotated, Any

from deniable.cli.options import Choice, option
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.errors import require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import kept
from deniable.mechanisms.protocol import Protocol
from deniable.present.charts import channel_chart, promise_chart, save, stacked
from deniable.present.studies import protocol_table, steps_table
from deniable.present.tables import mechanisms_table, properties_table
from deniable.run.describe import describe, describe_protocol, registry_rows
from deniable.run.results import check_chart

__all__ = ["design", "mechanisms"]


def mechanisms(out: Output) -> None:
    """List the mechanisms, what each is best for, and its options."""
    rows = registry_rows()
    out.show({"mechanisms": rows}, mechanisms_table(rows))


def design(
    choice: Choice,
    out: Output,
    n: Annotated[int, option("--n", "N", "Reports that the errors are computed for.")] = 1,
    chart: Annotated[
        str | None, option("--chart", "FILE", "Draw what is promised, and how likely each report is: .html, .png, ...")
    ] = None,
    force: Force = False,
) -> None:
    """Show a mechanism's parameters and properties.

    Closed forms: errors for n reports, the best guess from one report, its size, and the distance to the optimum. Of a
    protocol its steps are shown. --chart draws the budgets between answers and the chances of all reports, where these
    are few enough to be listed.

    Example: deniable design ss --epsilon 1 --k 16 --n 10000
    """
    out.claim(chart, "chart", sources=choice.files, force=force)
    if chart is not None:
        check_chart(chart)
    made = choice.make_any(n=n)
    if isinstance(made, Protocol):
        require(
            chart is None, "chart", chart, "left out for a protocol", "Its steps have charts: see their mechanisms."
        )
        found = describe_protocol(made, n)
        told = found["protection"]["text"]
        out.show(found, told, protocol_table(found), "Its steps, for made-up people:", steps_table(found))
        return
    if chart is not None:
        out.note(f"drew {save(_drawn(made), chart)}")
    document = describe(made, n)
    note = [f"No reports can be drawn: {document['note']}"] if "note" in document else []
    chosen = document.get("selection", {}).get("note")
    note += [f"The choice: {chosen}"] if chosen else []
    warning = document.get("guarantee", {}).get("warning")
    note += [f"Warning: {warning}."] if warning else []
    told = ["What people are told:", *document["explain"].splitlines()] if "explain" in document else []
    out.show(document, _statement(made), properties_table(document), *note, *told)


def _drawn(m: Mechanism) -> Any:
    """The budgets between answers, and the chances of reports; `EnumerationError` where these are too many."""
    law = m.bulk.channel()
    matrix = [[weight / law.total for weight in row] for row in zip(*law.weights, strict=True)]
    names = m.domain.labels_or_numbers
    points = getattr(m, "output_points", None)
    read = [name.removeprefix("report ") for name in law.outputs]
    read = read if points is None else [names[y] if y < len(names) else str(y) for y in points]
    told = channel_chart(matrix, values=names, reports=read, title="How likely each report is, in per cent")
    return stacked([promise_chart(m.promise), told], title=f"{m.name}, epsilon {m.epsilon:g}")


def _statement(m: Mechanism) -> str:
    """Who is protected from what; or that the design does not keep what it promises."""
    if m.refusal is not None or kept(m):
        return m.protection.text
    return f"THE PROMISE IS BROKEN: `deniable audit` shows where. It was: {m.protection.text}"
