"""What a promise says, as a command."""

from __future__ import annotations

import math
from typing import Annotated

from deniable.cli.options import argument, option
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.core.promise import Promise
from deniable.core.promise.ranges import members, size
from deniable.core.promise.value import few
from deniable.core.types import FloatArray
from deniable.errors import ParameterError
from deniable.present.charts import promise_chart, save
from deniable.present.tables import Column, Table, number, right
from deniable.run.files import named
from deniable.run.given.promises import promise_document, read_promise_file
from deniable.run.results import check_chart

__all__ = ["promise"]

_WIDE = 12
"""Up to so many values (or classes of values) there is a table with a column for each."""
_PATHS = 20
"""Budgets that follow from others, as many as are listed for people."""


def promise(
    file: Annotated[str, argument("FILE", "The promise, as JSON or CSV; - for standard input.")],
    out: Output,
    explain: Annotated[
        str | None, option("--explain", "LABEL", "Say what somebody with this value is promised.")
    ] = None,
    chart: Annotated[str | None, option("--chart", "FILE", "Draw the budgets: .html, .png, .svg or .json.")] = None,
    force: Force = False,
) -> None:
    """Show what a promise says, and what follows from it.

    FILE has a budget for each two values, {"budgets": [[0, 1], ["inf", 0]], "labels": ["ill", "well"]}, or other
    arguments of dn.promise: epsilon with k or labels and sensitive; item_epsilon with rule (own or min); graph;
    distances, points or places with epsilon; blocks with inside and across. Or it is a CSV matrix of budgets, with
    labels or without. The row of a budget is what a report speaks for, the column against what. Budgets along a path
    add up: where that is less than what was given, it is shown with the path.

    Example: deniable promise promise.json --explain ill
    """
    out.claim(chart, "chart", sources=[file], force=force)
    if chart is not None:
        check_chart(chart)
    out.note(f"reading {named(file)}")
    found = read_promise_file(file)
    sentence = None if explain is None else _explained(found, explain)
    if chart is not None:
        out.note(f"drew {save(promise_chart(found), chart)}")
    if out.as_json:
        told = {} if sentence is None else {"explain": {"value": explain, "text": sentence}}
        out.show(promise_document(found) | told)
        return
    out.tell(*_parts(found, sentence))


def _explained(found: Promise, given: str) -> str:
    """What somebody with a value is promised; errors name the option."""
    try:
        return found.explain(_value(found, given))
    except ParameterError as error:
        raise ParameterError(error.message.replace("value must ", "explain must ", 1), error.hint) from None


def _value(found: Promise, given: str) -> object:
    """A label, or the number of a value where there are no labels."""
    return int(given) if found.labels is None and given.isascii() and given.isdigit() else given


def _parts(found: Promise, sentence: str | None) -> list[Table | str]:
    closed, implied = found.closed, found.implied
    many = f"{found.k:,} values" + f" in {len(found.classes):,} classes" * (1 < len(found.classes) < found.k)
    finite = sorted(found.value_budgets)
    range_ = f"{finite[0]:g}" + f" to {finite[-1]:g}" * (len(finite) > 1) if finite else "no limit at all"
    parts: list[Table | str] = [f"A promise to {many}: {range_}. A row says what a report speaks for."]
    parts += [_budgets(found, found.table, "Budgets as given")]
    if implied:
        follows = _budgets(closed, closed.table, "What follows from them")
        parts += [follows] if isinstance(follows, Table) else []
        rows = [
            (
                i.likely,
                i.unlikely,
                _word(i.given),
                _word(i.budget),
                " > ".join(i.path) if len(i.path) > 2 else "one law",
            )
            for i in implied[:_PATHS]
        ]
        columns = (Column("for"), Column("against"), *right("given", "follows"), Column("path", wrap=True))
        more = len(implied) - len(rows)
        parts.append(Table(columns, rows, "Less than was given"))
        parts += [f"And {more:,} more: --json lists all of them."] if more else []
    else:
        parts.append("Nothing smaller follows from them.")
    return parts + ([sentence] if sentence is not None else [])


def _budgets(p: Promise, table: FloatArray, title: str) -> Table | str:
    """Budgets of values, or of classes where values are many."""
    if p.inputs <= _WIDE:
        names, matrix = [p.name(x) for x in range(p.inputs)], p.budgets
        rows = [
            (name, *("" if i == j else _word(b) for j, b in enumerate(row)))
            for i, (name, row) in enumerate(zip(names, matrix.tolist(), strict=True))
        ]
        return Table((Column("for \\ against", wrap=True), *right(*names)), rows, title)
    if len(p.classes) > _WIDE:
        return f"{title}: too many for a table. --json writes them out, and --chart draws them."
    names = [few(map(p.label, members(ends))) for ends in p.classes]
    several = [size(ends) for ends in p.classes]
    rows = [
        (names[i], f"{several[i]:,}", *("" if i == j and several[i] == 1 else _word(b) for j, b in enumerate(row)))
        for i, row in enumerate(table.tolist())
    ]
    letters = [f"class {i + 1}" for i in range(len(names))]
    body = [(letters[i], *row) for i, row in enumerate(rows)]
    head = (Column("for \\ against"), Column("values", wrap=True), *right("how many"), *right(*letters))
    return Table(head, body, title)


def _word(budget: float) -> str:
    return number(budget) if math.isfinite(budget) else "inf"
