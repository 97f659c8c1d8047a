"""What is published, to take away: pictures, CSV, JSON, Parquet."""

from __future__ import annotations

import asyncio
import io
import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from deniable.errors import need_extra
from deniable.run.files import csv_bytes
from deniable.service.access.keys import Role
from deniable.service.collector import Collector
from deniable.service.http.problems import Problem
from deniable.service.http.routes import Row
from deniable.service.logs import log
from deniable.service.pages.charts import ALONE, KINDS, picture
from deniable.service.pages.dashboard import known_task, windows_of
from deniable.service.pages.looking import strata_of
from deniable.service.pages.render import compressed
from deniable.service.pages.signin import told
from deniable.service.release import PUBLISHED, Window
from deniable_client.task import Task

__all__ = ["ROWS", "rows_of"]


def rows_of(task: Task, windows: Sequence[Window]) -> list[dict[str, Any]]:
    """One row for each answer, group, question and window that is published."""
    found = []
    for window in windows:
        document = window.told(task)
        for part in document.get("questions", ()):
            if part["state"] != PUBLISHED or not part.get("estimate"):
                continue
            head = {
                "window": window.number,
                "from": document["from"],
                "to": document["to"],
                "question": part["question"],
            }
            found += _rows(head | {"group": ""}, part)
            for group in part.get("groups", ()):
                found += _rows(head | {"group": strata_of(group)}, group) if group.get("estimate") else []
    return found


def _rows(head: Mapping[str, Any], part: Mapping[str, Any]) -> list[dict[str, Any]]:
    estimate = part["estimate"]
    count = len(estimate["labels"])
    columns = {name: column for name, column in estimate.items() if name not in _WHOLE and _is_column(column, count)}
    columns = {"answer": columns.pop("labels"), **columns}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return [{**head, "reports": estimate["n"], **row, "simulated": estimate["simulated"]} for row in rows]


_WHOLE = ("steps", "interval")
"""Lists in an estimate that are about all of it."""


def _is_column(cells: object, count: int) -> bool:
    return isinstance(cells, list) and len(cells) == count


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    need_extra("pyarrow", "frames")
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


def _json(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False).encode()


_FORMS: Mapping[str, tuple[str, Callable[[Sequence[Mapping[str, Any]]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", csv_bytes),
    "json": ("application/json", _json),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}


async def export(collector: Collector, request: Request) -> Response:
    """Everything that is published about a task as one table."""
    kind = request.path_params["kind"]
    if kind not in _FORMS:
        raise Problem("not-found", f"There are tables as {', '.join(_FORMS)}.")
    known = await known_task(collector, request)
    rows = await asyncio.to_thread(rows_of, known.intake.task, await windows_of(collector, known))
    if not rows:
        raise Problem("conflict", "Nothing is published yet: windows are open, or below the minimum batch.")
    media, write = _FORMS[kind]
    log("download", id=known.row.id, what=kind, by=request.state.key.name)
    name = f"deniable-{known.row.id[:8]}.{kind}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(await asyncio.to_thread(write, rows), 200, headers, media)


async def chart(collector: Collector, request: Request) -> Response:
    """The estimate of a question in a window as a picture."""
    window, name, kind = (request.path_params[part] for part in ("window", "question", "kind"))
    if kind not in KINDS:
        raise Problem("not-found", f"There are pictures as {', '.join(KINDS)}.")
    known = await known_task(collector, request)
    task = known.intake.task
    for found in await windows_of(collector, known):
        for part in (found.document or {}).get("questions", ()):
            if str(found.number) == window and part["question"] == name and part.get("estimate"):
                labels = task.question(name).labels
                data = await picture(b64decode(part["tally"]), labels, part["text"], kind)
                drawn = Response(data, 200, dict(ALONE), KINDS[kind])
                return compressed(drawn, request) if kind == "svg" else drawn
    raise Problem("not-found", "Nothing is published about this question and window.")


_PROBLEMS = ("no-key", "wrong-role", "not-found")
_COMMON: dict[str, Any] = {"method": "GET", "role": Role.ANALYST, "problems": _PROBLEMS, "page": told}

ROWS = (
    Row(
        path="/tasks/{id}/export.{kind}",
        handler=export,
        summary="All that is published about a task as a table.",
        answers={200: "application/octet-stream"},
        **{**_COMMON, "problems": (*_PROBLEMS, "conflict")},
    ),
    Row(
        path="/tasks/{id}/{window}/{question}.{kind}",
        handler=chart,
        summary="An estimate as a picture.",
        answers={200: KINDS["svg"]},
        **_COMMON,
    ),
)
