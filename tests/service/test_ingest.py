"""What a collector takes is what a device can have sent: against a check of its own, and against the counters."""

from __future__ import annotations

import random
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports, split_rows
from deniable.mechanisms.bulk import Bulk
from deniable.mechanisms.dealt.base import dealt
from deniable.mechanisms.registry import MECHANISMS, from_design
from deniable.service.access.identity import Identity
from deniable.service.ingest import REASONS, Intake, first_day_after, window_of
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.canonical import canonical
from service.making import DAY, make_task, task_document
from service.oracle import body_check, report_shape

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    """The script that alters reports."""
    sys.path.insert(0, str(ROOT / "tests" / "faults"))
    try:
        import mutated_reports
    finally:
        sys.path.remove(str(ROOT / "tests" / "faults"))
    return mutated_reports


def test_altered_reports_are_judged_as_another_check_does(fuzz: ModuleType) -> None:
    found = fuzz.mutated(4_000, lambda text: None)
    bad = {name: found[name] for name in ("accepted_invalid", "refused_valid", "crashes")}
    assert bad == {"accepted_invalid": 0, "refused_valid": 0, "crashes": 0}
    assert found["valid"] > 400


@pytest.mark.slow
def test_many_altered_reports(fuzz: ModuleType) -> None:
    found = fuzz.mutated(300_000, lambda text: None, seed=5)
    assert (found["accepted_invalid"], found["refused_valid"], found["crashes"]) == (0, 0, 0)


def test_a_wrong_decoder_would_be_noticed(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that forgets one rule: subsets of any size."""
    from deniable.mechanisms.frequency.subset import SubsetBulk
    from deniable.mechanisms.frequency.unary import UnaryBulk

    monkeypatch.setattr(SubsetBulk, "count", UnaryBulk.count)
    monkeypatch.setattr(SubsetBulk, "possible", UnaryBulk.possible)
    assert fuzz.mutated(4_000, lambda text: None)["accepted_invalid"] > 0


def golden() -> list[Reports]:
    found = [dn.load(path) for path in sorted((ROOT / "tests" / "golden").glob("*.reports"))]
    return [each for each in found if isinstance(each, Reports)]


def test_all_mechanisms_are_looked_at() -> None:
    assert {reports.design["mechanism"] for reports in golden()} >= set(MECHANISMS) - {"the", "labels"}


@pytest.mark.parametrize("reports", golden(), ids=lambda reports: reports.design["mechanism"])
def test_rows_that_are_possible_are_those_that_count(reports: Reports) -> None:
    """The quick rule of each kernel is the slow one, which asks the counter, on honest, altered and random rows."""
    bulk, rng = from_design(reports.design).bulk, random.Random(1)
    rows = [reports.row(i) for i in range(len(reports))]
    for _ in range(150):
        row = bytearray(rng.choice(rows))
        row[rng.randrange(len(row))] ^= 1 << rng.randrange(8)
        rows += [bytes(row), rng.randbytes(len(row))]
    table = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    columns = split_rows(reports.fields, table)
    quick = bulk.possible(columns)
    assert quick[: len(reports)].all()
    assert quick.tolist() == Bulk.possible(bulk, columns).tolist()
    alone = [bulk.possible({name: column[i : i + 1] for name, column in columns.items()}) for i in range(20)]
    assert [bool(each[0]) for each in alone] == quick[:20].tolist()  # also where a batch has one kind of report only
    assert bulk.possible({name: column[:0] for name, column in columns.items()}).tolist() == []
    shape = report_shape(reports.design)
    assert quick.tolist() == [len(row) == shape.width and shape.fits(row) for row in rows]


def test_many_bad_reports_are_found_at_once() -> None:
    """Each of many reports gets its own verdict, in the order of the reports."""
    intake = Intake(canonical(task_document()))
    bodies = [bytes([i % 16]) for i in range(1000)] + [b"", b"\1\1", b"\7"]
    checked = intake.check(bodies)
    expected = [None if i % 16 < 8 else "impossible" for i in range(1000)]
    assert checked.reasons == [*expected, "length", "length", None]
    assert set(filter(None, checked.reasons)) <= set(REASONS)
    assert intake.check([]).reasons == []


QUESTIONS = (("grr", {"k": 5}), ("uss", {"k": 9, "sensitive": 4}), ("duchi", {"interval": (0, 1)}))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("strata", [{}, {"country": ["DE", "FR"], "age": ["old", "young", "neither"]}], ids=str)
def test_bodies_of_several_questions_are_reports_of_parts(version: int, strata: dict[str, list[str]]) -> None:
    """Where the strata stand is all that differs; what is counted is the tally of the parts, in any order."""
    made = [dn.mechanism(name, epsilon=1.0, **own) for name, own in QUESTIONS]
    document = task_document([m.design for m in made], strata=strata)
    if version == 2:
        asked = [Asked(text=f"Question {i}?", design=m.design) for i, m in enumerate(made)]
        document = new_task(asked, Terms(opens=DAY, strata=strata), Identity(bytes(32)))
    intake, m, rng = Intake(canonical(document)), dealt(made), random.Random(version)
    reports = m.privatize_items(
        np.stack([np.arange(90) % 5, np.arange(90) % 9, np.arange(90)], axis=1), dn.simulation(1)
    )
    heads = [bytes(rng.randrange(1, len(values)) for values in intake.task.strata.values()) for _ in range(90)]
    rows = [reports.row(i) for i in range(90)]
    at = intake.task.strata_at
    bodies = [row[:at] + head + row[at:] for row, head in zip(rows, heads, strict=True)]
    checked = intake.check(bodies)
    assert checked.reasons == [None] * 90
    found = [made[i].empty() for i in range(3)]
    for batch, tally, own in intake.tallies(checked, np.array(rng.sample(range(90), 90)), 0):
        assert {rows[i][0] for i in own} == {batch.question}
        assert {heads[i] for i in own} == {bytes(batch.strata)}
        assert tally.n == own.size
        found[batch.question] += tally
    whole = m.tally(reports)
    assert [dict(part.cells).keys() for part in found] == [dict(part.cells).keys() for part in whole.parts]
    for part, want in zip(found, whole.parts, strict=True):
        assert all(np.array_equal(part.cells[name], cell) for name, cell in want.cells.items())


def test_what_is_wrong_with_a_report_of_a_part() -> None:
    """The question, then the stratum, then the bytes that fill it up, then the report itself."""
    made = [dn.mechanism("grr", epsilon=1.0, k=5), dn.mechanism("grr", epsilon=1.0, k=300)]
    intake = Intake(canonical(task_document([m.design for m in made], strata={"country": ["DE", "FR"]})))
    wanted = {
        "000004": "length",
        "00000400": None,
        "01012b01": None,
        "01012c01": "impossible",
        "00000401": "padding",
        "00000501": "padding",
        "00000500": "impossible",
        "00020500": "stratum",
        "02020501": "question",
    }
    assert intake.check([bytes.fromhex(body) for body in wanted]).reasons == list(wanted.values())
    assert [intake.check([bytes.fromhex(body)]).reasons[0] for body in wanted] == list(wanted.values())


def test_another_check_knows_bodies() -> None:
    document = task_document(strata={"country": ["DE", "FR"]})
    check = body_check(document)
    assert [check(body) for body in (b"\0\7", b"\1\0", b"\2\0", b"\0\10", b"\0", b"\0\0\0")] == [True] * 2 + [False] * 4


def test_windows_have_an_end() -> None:
    task = make_task(days=3, count=2)
    assert [first_day_after(task, window) - DAY for window in (0, 1)] == [timedelta(3), timedelta(7)]
    for window in (0, 1):
        last = first_day_after(task, window) - timedelta(1)
        assert window_of(task, last) == window
        assert window_of(task, last + timedelta(1)) in (window + 1, "late")
