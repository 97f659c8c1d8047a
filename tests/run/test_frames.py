"""Frames of every kind in, and the same kind back; the tally is that of the reports themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.mechanisms.frequency.grr import GRR
from deniable.run import frames
from deniable.run.counting import Counted, Counting, _Skips, groups_of
from deniable.run.inputs import INPUTS

pa = pytest.importorskip("pyarrow")
LABELS = ["no", "yes", "often"]
VALUES = {"answer": ["no", "yes", "often", "no"] * 30, "day": ["mon", "tue"] * 60}


def kinds():
    """The same table as a frame of every library that is here."""
    import duckdb
    import pandas as pd
    import polars as pl

    table = pa.table(VALUES)
    return {
        "pandas": pd.DataFrame(VALUES),
        "polars": pl.DataFrame(VALUES),
        "lazy": pl.LazyFrame(VALUES),
        "arrow": table,
        "reader": table.to_reader(),
        "duckdb": duckdb.from_arrow(table),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "reader", "duckdb"])
def test_the_callers_kind_comes_back(kind):
    m = dn.mechanism("grr", epsilon=8.0, labels=LABELS)
    given = kinds()[kind]
    reports = frames.privatize(given, m, column="answer", keep=["day"])
    assert type(reports) is type(given)
    held = pa.table(reports.read_all() if kind == "reader" else frames._batches(reports).read_all())
    assert held.column_names == ["report", "day"]
    again = frames._like(given, held)
    groups = frames.tally(again, m, by="day")
    assert type(groups) is type(given)
    counted = frames.tally(held, m)
    assert counted.tally.n == 120
    assert counted.skipped == {}
    rows = frames._batches(groups).read_all().to_pylist()
    assert {row["day"]: row["n"] for row in rows} == {"mon": 60, "tue": 60}
    assert sum(dn.load(row["tally"]) for row in rows) == counted.tally
    shares = frames.estimate(frames._like(given, held), m, by=["day"])
    assert type(shares) is type(given)
    assert frames._batches(shares).read_all().num_rows == 6


def test_values_are_not_kept_beside_their_reports():
    m = dn.mechanism("grr", epsilon=1.0, labels=LABELS)
    with pytest.raises(dn.ParameterError, match="keep must be other columns"):
        frames.privatize(pa.table(VALUES), m, column="answer", keep=["answer"])
    assert frames.privatize(pa.table(VALUES), m, column="answer").column_names == ["report"]


def test_arrow_tables_carry_their_design_and_the_mark():
    m = dn.mechanism("oue", epsilon=1.0, labels=LABELS)
    reports = frames.privatize(pa.table(VALUES), m, column="answer", rng=dn.simulation(1))
    found = frames.tally(reports)
    assert found.tally.design == m.design
    assert found.tally.simulated
    with pytest.raises(dn.ParameterError, match="does not say"):
        frames.tally(reports.replace_schema_metadata(None))


def test_what_may_stay_beside_reports_is_for_the_row_of_the_input_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name of an input is known to frames: new data of which people have several rows are refused in its words."""
    diary = replace(INPUTS["values"], names=("person", "day"))
    monkeypatch.setattr("deniable.run.frames.INPUTS", {**INPUTS, "diaries": diary})
    m = type("Diary", (GRR,), {"takes": "diaries"})(epsilon=1.0, domain=dn.Domain.of(2))
    frame = pa.table({"value": [0, 1], "day": [1, 2]})
    with pytest.raises(ParameterError, match="keep must be left out for diaries, of which a person has several rows"):
        frames.privatize(frame, m, column="value", keep=["day"])


def test_the_level_and_strictness_reach_what_a_frame_tells():
    """The ends of intervals are those of the estimate at this level; what does not count is refused if one says so."""
    m = dn.mechanism("grr", epsilon=1.0, labels=LABELS)
    reports = frames.privatize(pa.table(VALUES), m, column="answer", rng=dn.simulation(3))
    whole = m.estimate(frames.tally(reports).tally)
    for level in (0.5, 0.99):
        found, ends = frames.estimate(reports, level=level).to_pydict(), whole.interval(level)
        assert found["low"] == pytest.approx(ends.low.tolist(), abs=1e-12)
        assert found["high"] == pytest.approx(ends.high.tolist(), abs=1e-12)
    rows = [*reports.column("report").to_pylist(), b"\xff\xff"]
    wrong = pa.table({"report": pa.array(rows, pa.binary())})
    assert sum(frames.tally(wrong, m).skipped.values()) == 1
    for ask in (frames.tally, frames.estimate):
        with pytest.raises(dn.DeniableError, match="row 120"):
            ask(wrong, m, strict=True)


def test_groups_of_two_columns_are_those_of_their_pairs() -> None:
    """Also where the numbers of their values add up to the same."""
    batch = pa.record_batch({"a": ["x", "y", "x", "y", "x"], "b": ["u", "u", "v", "v", "u"], "n": [0, 1, 2, 3, 4]})
    found = {key: (rows.tolist(), part.column("n").to_pylist()) for key, rows, part in groups_of(batch, ["a", "b"])}
    assert found == {
        ("x", "u"): ([0, 4], [0, 4]),
        ("y", "u"): ([1], [1]),
        ("x", "v"): ([2], [2]),
        ("y", "v"): ([3], [3]),
    }


def test_the_first_of_each_kind_that_is_skipped_is_told() -> None:
    """Of several rows, of several batches, and of several counts that are added up."""
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    rows = [m.privatize_items(np.array([i % 3]), dn.simulation(i)).row(0) for i in range(3)]
    counting = Counting(m)
    counting.add(pa.record_batch({"report": [rows[0], None, rows[1], b"", None]}))
    assert (counting.result().skipped, counting.result().places) == (
        {"null": 2, "length": 1},
        {"null": "row 1", "length": "row 3"},
    )
    counting.add(pa.record_batch({"report": [rows[2], None]}), "later row {}".format)
    found = counting.result()
    assert (found.reports, found.skipped, found.places["null"]) == (3, {"length": 1, "null": 3}, "row 1")
    skips = _Skips(False, "row {}".format)
    skips.add("damaged", np.array([3, 4]), 70)
    skips.add("damaged", np.array([6]))
    assert (skips.counts, skips.places) == ({"damaged": 71}, {"damaged": "row 3"})
    other = Counted(m.empty(), {"design": 1}, {"design": "elsewhere"})
    assert (found + other).places == {"null": "row 1", "length": "row 3", "design": "elsewhere"}


def test_places_and_numbers_of_what_is_skipped_are_those_of_the_whole_frame() -> None:
    """A frame is read in batches; each group tells how many of its own rows do not count, not how many reasons."""
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    good = m.privatize_items(np.array([1]), dn.simulation(1)).row(0)
    rows: list[bytes | None] = [good, None, good, None, None, b"", good, good]
    days = ["mon", "tue"] * 4
    for size in (1, 3, 8):
        batches = pa.table({"report": pa.array(rows, pa.binary()), "day": days}).to_batches(max_chunksize=size)
        found = frames.tally(pa.Table.from_batches(batches), m)
        assert found.places == {"null": "row 1", "length": "row 5"}
        found = frames.tally(pa.Table.from_batches(batches[5 // size :]), m)
        assert found.places["length"] == f"row {5 - 5 // size * size}"
        told = frames.estimate(pa.Table.from_batches(batches), m, by="day").to_pydict()
        assert dict(zip(told["day"], told["skipped"], strict=True)) == {"mon": 1, "tue": 3}
        assert dict(zip(told["day"], told["n"], strict=True)) == {"mon": 3, "tue": 1}
    assert set(frames.estimate(pa.Table.from_batches(batches), m).to_pydict()["skipped"]) == {4}


def test_blocks_of_another_design_count_as_what_they_hold() -> None:
    """One that does not say how much counts as one; reports that are kept for a fit are those that count."""
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    counting = Counting(m)
    blocks = {"payload": [b"\x01\x01", b"\x01", b"\x01"], "n": [2, None, 5], "crc": [0, 0, 0]}
    counting.add(pa.record_batch({**blocks, "design": ["other"] * 3}))
    assert counting.result().skipped == {"design": 8}
    keeping = Counting(m, keep=True)
    keeping.add(pa.record_batch({"report": [b"\x01", b"\x09", b"\x02", b"\x07", b"\x00"]}))
    assert (keeping.result().reports, keeping.result().skipped) == (3, {"impossible": 2})
    assert [held.row(0) for kept in keeping.kept for held in (kept[i] for i in range(len(kept)))] == [
        b"\x01",
        b"\x02",
        b"\x00",
    ]
