"""`deniable verify`: what anybody can check of a file; and designs in files, for the audit."""

from __future__ import annotations

from typing import Annotated

from deniable.cli.options import argument, option
from deniable.cli.output import Output
from deniable.present.tables import Column, Table
from deniable_client.checking import verify_places

__all__ = ["verify"]


def verify(
    file: Annotated[
        str, argument("FILE", "A file, - for standard input, or an https address such as .../v1/tasks/ID.")
    ],
    out: Output,
    diff: Annotated[
        str | None, option("--diff", "OTHER", "Say what changed from FILE to this one, e.g. between two tasks.")
    ] = None,
) -> int:
    """Verify a file: ids recomputed, promises proved, in words.

    A design, a task, a report file, a tally, a release or a certificate. The exit code is 1 if it is not as it says,
    or with --diff if something changed. The same with the client alone: python -m deniable_client verify FILE.

    Example: deniable verify task.json --diff task-of-last-year.json
    """
    told, lines, holds = verify_places(file, diff)
    rows = [
        [str(each["where"]), str(each["line"]).removeprefix(f"{each['where']}: ")] for each in told.get("changes", [])
    ]
    shown: list[Table | str] = [*lines[: 2 if rows else len(lines)]]
    shown += [Table((Column("what changed", wrap=True, most=30), Column("", wrap=True)), rows)] if rows else []
    out.show(told, *shown)
    return 0 if holds else 1
