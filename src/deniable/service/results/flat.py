"""Everything that is published about a task as one flat table, and the files that it can be taken away as."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from deniable.core.types import Target
from deniable.errors import ParameterError, need_extra
from deniable.run.files import csv_bytes
from deniable.service.release import Window
from deniable.service.results.reading import estimated, published, strata_of
from deniable_client.task import Question, Task

__all__ = ["COLUMNS", "FORMS", "NOTHING", "flat"]

COLUMNS: Mapping[str, str] = {
    "window": "Number of the window, from 0 on",
    "from": "First day of the window",
    "to": "Last day of the window",
    "question": "Name of the question in the task",
    "text": "The question as it was asked",
    "group": "The group in words; empty for all who answered",
    "answer": "The answer, as people saw it; `mean` for the mean of numbers",
    "value": "Estimated share from 0 to 1, or mean; unbiased, so a rare answer may be below 0",
    "stderr": "Its standard error",
    "low": "Lower end of the interval",
    "high": "Upper end of the interval",
    "mean": "Of keys with values: the mean of the values, else not there",
    "mean_low": "Lower end of its interval",
    "mean_high": "Upper end of its interval",
    "too_rare": "Whether too few people have the key to say anything of its mean",
    "level": "Level of the intervals",
    "target": "What the intervals are for: `population`, with the spread of who answered, or `reporters`",
    "reports": "Reports behind the estimate",
    "simulated": "Whether the reports were made by a simulation",
}
"""The columns of the table in their order; those of keys with values only where such a question was asked."""
_KEYS = ("mean", "mean_low", "mean_high", "too_rare")
NOTHING = "Nothing is published yet: windows are open, or below the minimum batch."


def flat(task: Task, windows: Sequence[Window], target: Target = "population") -> list[dict[str, Any]]:
    """One row for each answer, group, question and window that is published, by window first."""
    lone = [question for question in task.questions if not question.together]
    if len(lone) < len(task.questions):
        found = [row for window in windows for row in _together(task, window)]
    else:
        found = [row for question in lone for row in _of(task, question, windows, target)]
    found.sort(key=lambda row: row["window"])
    with_keys = any(name in row for row in found for name in _KEYS)
    names = [name for name in COLUMNS if with_keys or name not in _KEYS]
    return [{name: row.get(name) for name in names} for row in found]


def _together(task: Task, window: Window) -> Iterator[dict[str, Any]]:
    """What a window tells of a task with questions that are asked together, as it was published."""
    told = window.told(task)
    texts = {one.name: one.text for question in task.questions for one in question.together or (question,)}
    head = {"window": window.number, "from": told["from"], "to": told["to"]}
    whole = told.get("survey", {"questions": [], "tables": []})
    for part in (whole, *whole.get("groups", ())):
        group = strata_of(part) if "strata" in part else ""
        for own in part["questions"]:
            name = own["question"]
            yield from _rows(head | {"question": name, "text": texts[name], "group": group}, own["estimate"])
        for table in part["tables"]:
            yield from _cells(head | {"group": group}, table, texts)


def _cells(head: Mapping[str, Any], table: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A row for each cell of a table of two questions: its answer has both."""
    if table["cells"] is None:
        return
    (one, two), cells = table["questions"], table["cells"]
    own = {"question": f"{one} x {two}", "text": f"{texts[one]} / {texts[two]}"}
    own |= {"level": table["level"], "target": table["target"], "reports": table["reports"]}
    own |= {"simulated": table["simulated"]}
    for i, both in enumerate(zip(cells[one], cells[two], strict=True)):
        numbers = {name: cells[name][i] for name in ("value", "stderr", "low", "high")}
        yield {**head, **own, "answer": ", ".join(both), **numbers}


def _of(task: Task, question: Question, windows: Sequence[Window], target: Target) -> Iterator[dict[str, Any]]:
    for window, part in published(windows, question.name):
        told = window.told(task)
        head = {"window": window.number, "from": told["from"], "to": told["to"], "question": question.name}
        head["text"] = question.text
        yield from _rows(head | {"group": ""}, estimated(part, question, target))
        for group in part.get("groups", ()):
            yield from _rows(head | {"group": strata_of(group)}, estimated(group, question, target))


def _rows(head: Mapping[str, Any], estimate: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if estimate is None:
        return
    whole = {"level": estimate["level"], "target": estimate["target"], "reports": estimate["n"]}
    whole["simulated"] = estimate["simulated"]
    columns = {"answer": estimate["labels"]} | {
        name: estimate[name] for name in ("value", "stderr", "low", "high", *_KEYS) if name in estimate
    }
    for cells in zip(*columns.values(), strict=True):
        yield {**head, **dict(zip(columns, cells, strict=True)), **whole}


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    need_extra("pyarrow", "frames")
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


def _json(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _told(write: Callable[[Sequence[Mapping[str, Any]]], bytes]) -> Callable[[Sequence[Mapping[str, Any]]], bytes]:
    """The same for rows that there are; an error says why there are none."""

    def checked(rows: Sequence[Mapping[str, Any]]) -> bytes:
        if not rows:
            raise ParameterError(NOTHING[:1].lower() + NOTHING[1:])
        return write(rows)

    return checked


FORMS: Mapping[str, tuple[str, Callable[[Sequence[Mapping[str, Any]]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _told(csv_bytes)),
    "json": ("application/json", _told(_json)),
    "parquet": ("application/vnd.apache.parquet", _told(_parquet)),
}
"""The kinds of file, by their ending: media type, and what writes them."""
