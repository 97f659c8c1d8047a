"""Exports of reports: the published groups, in the order of their bytes, and nothing else."""

from __future__ import annotations

import io
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collect.codec import ReportReader, dump, read
from deniable.collect.reports import Reports
from deniable.service.export import write_reports
from deniable.service.ingest import Intake
from deniable.service.release import windows
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Upload
from service.making import DAY, body, fresh_id, opened

NOW = datetime(2027, 1, 1, tzinfo=UTC)
M = dn.mechanism("grr", epsilon=1.0, k=250)


def blocks(store: Any, id: str, question: str = "q0") -> list[bytes]:
    """The bytes of each block of an export."""
    row, out = store.task(id), io.BytesIO()
    intake = Intake(row.document)
    found = windows(store, row, intake, NOW)
    n = write_reports(store, intake, found, question, out, None)
    reader = read(io.BytesIO(out.getvalue()))
    assert isinstance(reader, ReportReader)
    written = [block.payload for block in reader.blocks()]
    assert sum(map(len, written)) == n
    return written


@pytest.fixture
def store(tmp_path: Path) -> Any:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    yield store
    store.close()


def test_no_block_is_about_fewer_than_the_minimum_batch(store: Any) -> None:
    """Combinations of 150, 1 and 120 reports: the one was a block of its own."""
    task = opened(store, M.design, strata={"country": ["DE", "FR", "IT"]}, min_batch=100, keep="30", count=1)
    sizes, first = (150, 1, 99), 0
    for country, n in enumerate(sizes):
        sent = [Incoming(fresh_id(), body(task, 0, [country], bytes([first + i]))) for i in range(n)]
        first += n
        store.add([Upload(task.id, DAY, sent)])
    found = blocks(store, task.id)
    assert sorted(map(len, found)) == [100, 150]
    assert found == [bytes(range(150)), bytes(range(150, 250))]  # sorted, whatever the order of arrival


def test_blocks_are_those_of_the_published_tallies(store: Any) -> None:
    task = opened(store, [M.design] * 2, strata={"a": ["0", "1"], "b": ["0", "1", "2"]}, min_batch=5, keep="30")
    for number in range(200):
        strata = [number % 7 == 0, min(2, number * number % 11 // 4)]
        sent = Incoming(fresh_id(), body(task, number % 2, map(int, strata), bytes([number * 37 % 250])))
        store.add([Upload(task.id, DAY, [sent])])
    row = store.task(task.id)
    documents = [window.document for window in windows(store, row, Intake(row.document), NOW)]
    for question in ("q0", "q1"):
        told = [part for part in documents[0]["questions"] if part["question"] == question]
        assert len(told[0]["groups"]) > 2
        for group, block in zip(told[0]["groups"], blocks(store, task.id, question), strict=True):
            rows = [bytes([value]) for value in block]
            assert rows == sorted(rows)
            reports = dn.load(_file(rows))
            assert group["tally"] == b64encode(dump(M.tally(reports))).decode()  # type: ignore[arg-type]  # these are reports


def test_windows_that_are_withheld_are_not_exported(store: Any) -> None:
    """Too few in the first, copies in the third."""
    task = opened(store, M.design, min_batch=10, keep="30", count=3, memory="remembered")
    for window, n in enumerate((9, 10, 11)):
        sent = [Incoming(fresh_id(), bytes([person])) for person in range(n)]
        store.add([Upload(task.id, DAY + window * timedelta(7), sent)])
    assert blocks(store, task.id) == [bytes(range(10))]


def test_windows_questions_and_strata_are_exported_each_for_itself(store: Any, tmp_path: Path) -> None:
    """Three windows, two questions, two strata: of each question what is published, with the day of its window.

    The third window is not over, the second has too few of the second question. The two questions' reports are told
    apart by their values, below and above 100; the byte of the question is none of them.
    """
    pq = pytest.importorskip("pyarrow.parquet")
    task = opened(store, [M.design] * 2, strata={"a": ["0", "1"]}, min_batch=10, keep="60", days=5, count=3)
    sizes = {(0, 0): 12, (0, 1): 15, (1, 0): 20, (1, 1): 9, (2, 0): 30, (2, 1): 30}
    for (window, question), n in sizes.items():
        sent = [
            Incoming(fresh_id(), body(task, question, [i % 2], bytes([100 * question + 30 * window + i])))
            for i in range(n)
        ]
        store.add([Upload(task.id, DAY + timedelta(5 * window), sent)])
    row, intake = store.task(task.id), Intake(store.task(task.id).document)
    found = windows(store, row, intake, datetime(2026, 11, 28, tzinfo=UTC))
    told: dict[str, list[tuple[str, int]]] = {}
    for question in ("q0", "q1"):
        out = tmp_path / f"{question}.parquet"
        with out.open("wb") as file:
            n = write_reports(store, intake, found, question, file, "rows")
        table = pq.read_table(out)
        assert table.num_rows == n
        names = [name for name in table.column_names if name != "window"]
        values = [report[0] for report in table.column(names[0]).to_pylist()]
        told[question] = sorted(zip(map(str, table.column("window").to_pylist()), values, strict=True))
    first, second = "2026-11-16", "2026-11-21"
    assert told["q0"] == [(first, i) for i in range(12)] + [(second, 30 + i) for i in range(20)]
    assert told["q1"] == [(first, 100 + i) for i in range(15)]


def test_exports_of_one_question_pass_for_the_same_and_no_others_do(store: Any) -> None:
    """A later export has the reports of an earlier one, too: the two are not counted together."""

    def id_of(task: str, question: str) -> str:
        row, out = store.task(task), io.BytesIO()
        intake = Intake(row.document)
        write_reports(store, intake, windows(store, row, intake, NOW), question, out, None)
        found = read(io.BytesIO(out.getvalue()))
        assert isinstance(found, ReportReader)
        return str(found.id)

    tasks = [opened(store, [M.design] * 2, subject=name, keep="30").id for name in ("first", "second")]
    made = {(task, question): id_of(task, question) for task in tasks for question in ("q0", "q1")}
    assert len(set(made.values())) == 4
    assert made == {key: id_of(*key) for key in made}


def _file(rows: list[bytes]) -> bytes:
    return dn.dump(Reports.from_rows(M.design, M.fields, rows, simulated=False))
