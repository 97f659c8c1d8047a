"""What executors of Spark do, without Spark: parts that are counted apart add up, also a second time."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.parquet import TableReader, write_table
from deniable.mechanisms.base import Mechanism
from deniable.run.counting import Counted, Counting, head_of
from deniable.run.frames import estimate, tally
from deniable.run.local import count_files
from deniable.run.tables import Group

pa = pytest.importorskip("pyarrow")
tasks = pytest.importorskip("deniable.run.spark.tasks")
parts = pytest.importorskip("deniable.run.spark.parts")

M = dn.mechanism("grr", epsilon=2.0, labels=["no", "yes", "often"])
REPORTS = M.privatize_items(np.arange(60) % 3, dn.simulation(1))
ROWS: list[bytes | None] = [REPORTS.row(i) for i in range(60)]
ODD: list[bytes | None] = [*ROWS[:20], None, *ROWS[20:45], b"", b"\x09", None, *ROWS[45:]]
DAYS = [f"day {i % 3}" for i in range(len(ODD))]


def batch(start: int, stop: int) -> Any:
    """Some rows of a frame, four of which hold no report that counts."""
    return pa.record_batch({"report": pa.array(ODD[start:stop], pa.binary()), "day": DAYS[start:stop]})


PARTITIONS = [[batch(0, 7), batch(7, 19)], [batch(19, 22)], [], [batch(22, 64)]]


def frame(by: Sequence[str], partitions: Sequence[Sequence[Any]] = PARTITIONS, **more: Any) -> Any:
    """The rows that all partitions give, one after the other."""
    how = {"designs": M.design, "many": False, "column": "report", "simulated": True, "strict": False} | more
    task = pickle.loads(pickle.dumps(tasks.CountFrame(by=tuple(by), **how)))  # as it travels
    return pa.Table.from_batches([row for partition in partitions for row in task(iter(partition))])


def whole(by: Sequence[str] = ()) -> Counting:
    """The same rows counted at once."""
    counting = Counting(M, by, simulated=True)
    counting.add(batch(0, 64), "row {} of a batch of a partition".format)
    return counting


def collected(table: Any) -> list[Any]:
    """Rows as Spark hands them over."""
    return [
        type("Row", (), {**row, "skipped": dict(row["skipped"]), "places": dict(row["places"])})()
        for row in table.to_pylist()
    ]


def test_partitions_add_up_to_one_count_whatever_is_in_them() -> None:
    found = tasks.total_of(collected(frame(())), lambda: Counted(M.empty()))
    expected = whole().result()
    assert (found.tally, dict(found.skipped)) == (expected.tally, dict(expected.skipped))
    assert found.skipped == {"impossible": 1, "length": 1, "null": 2}
    added = tasks.Adding(0)(frame(()))
    assert added.num_rows == 1
    assert tasks.total_of(collected(added), lambda: Counted(M.empty())).tally == expected.tally
    assert tasks.total_of([], lambda: Counted(M.empty())).tally == M.empty()


def test_groups_of_partitions_are_those_of_all_rows() -> None:
    table, expected = frame(["day"]), whole(["day"]).found
    assert table.num_rows > len(expected) == 3
    for key, own in expected.items():
        rows = table.filter(pa.array([day == key[0] for day in table.column("day").to_pylist()]))
        row = tasks.Adding(1)(rows).to_pylist()
        assert len(row) == 1
        assert (row[0]["day"], row[0]["n"]) == (key[0], own.tally.n)
        found = tasks.counted_in(row[0]["tally"], row[0]["skipped"], row[0]["places"])
        assert (found.tally, dict(found.skipped)) == (own.tally, dict(own.skipped))


def test_designs_by_group_and_strictness_travel_with_a_task() -> None:
    other = dn.mechanism("grr", epsilon=1.0, k=3)
    designs = {"day 0": M.design, "day 1": other.design, "day 2": M.design}
    good = [[pa.record_batch({"report": pa.array(ROWS, pa.binary()), "day": [f"day {i % 3}" for i in range(60)]})]]
    rows = frame(["day"], good, designs=designs, many=True, strict=True).to_pylist()
    assert {row["day"]: dn.load(row["tally"]).design for row in rows} == designs
    assert all(dn.load(row["tally"]).simulated for row in rows)
    with pytest.raises(dn.FormatError, match="row 1 of a batch of a partition: the report is missing"):
        frame((), strict=True)


@pytest.mark.parametrize("layout", ["packed", "rows"])
def test_parts_of_files_add_up_to_the_files(tmp_path: Path, layout: str) -> None:
    paths = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for i, path in enumerate(paths):
        write_table(
            path,
            head_of(M, simulated=True),
            [REPORTS[20 * i : 20 * i + 13], REPORTS[20 * i + 13 : 20 * i + 20]],
            layout=layout,
        )
    groups = [Group(path, number, None) for path in paths for number in range(TableReader(path).groups)]
    shares = parts._shares(groups, [1.0] * len(groups), 2)
    rows = list(tasks.CountGroups(shares, True)([pa.record_batch({"id": list(range(len(shares)))})]))
    found = tasks.total_of(collected(pa.Table.from_batches(rows)), lambda: Counted(M.empty()))
    assert found.tally == M.tally(REPORTS)
    assert found.tally.cells["n"].tolist() == count_files(paths).tally.cells["n"].tolist()


@pytest.mark.parametrize(("sizes", "count"), [([1.0] * 12, 3), ([5.0, 1, 1, 1, 4], 3), ([0.0] * 4, 2), ([9.0, 1.0], 2)])
def test_tasks_are_about_as_long_as_each_other(sizes: list[float], count: int) -> None:
    """None has more than its part and one share more."""
    shares = parts._shares(list(range(len(sizes))), sizes, count)
    loads = [sum(sizes[i] for i in share) for share in shares]
    assert max(loads) <= sum(sizes) / count + max(sizes)
    assert sum(sizes) == 0 or len(shares) > 1


# ---- a stream's tallies


def state_of(folder: Path) -> Any:
    return pytest.importorskip("deniable.run.spark.stream").State(folder)


def counted(start: int, stop: int, by: Sequence[str] = ()) -> dict[Any, Counted]:
    counting = Counting(M, by, simulated=True)
    counting.add(batch(start, stop))
    return counting.found


def test_a_batch_counts_once_however_often_and_by_whomever_it_is_handed_over(tmp_path: Path) -> None:
    held, day = state_of(tmp_path), pa.schema([("day", pa.string())])
    assert (held.read(), held.tallies) == ((-1, "", {}, pa.schema([])), {})
    expected = whole(["day"]).found
    for number, (start, stop) in enumerate([(0, 20), (20, 47), (47, 64)]):
        assert held.add(number, "query", counted(start, stop, ["day"]), day)
        before = held.path.read_bytes()
        for again in range(number + 1):
            assert not state_of(tmp_path).add(again, "query", counted(start, stop, ["day"]), day), "a second time"
        assert held.path.read_bytes() == before
        with pytest.raises(dn.MergeError, match="of another stream"):
            held.add(number + 1, "other", counted(start, stop, ["day"]), day)
        assert state_of(tmp_path).read()[:2] == (number, "query")
    assert list(tmp_path.iterdir()) == [held.path]
    found = state_of(tmp_path).tallies
    assert {key: part.tally for key, part in found.items()} == {key: part.tally for key, part in expected.items()}
    assert {key: dict(part.skipped) for key, part in found.items()} == {k: dict(p.skipped) for k, p in expected.items()}
    assert state_of(tmp_path).read()[3].names == ["day"]
    assert held.add(3, "query", {}, pa.schema([])), "a batch without a row"
    assert state_of(tmp_path).tallies.keys() == found.keys()


def test_a_stream_without_groups_has_one_tally(tmp_path: Path) -> None:
    held, none = state_of(tmp_path), pa.schema([])
    for number, (start, stop) in enumerate([(0, 20), (20, 64)]):
        assert held.add(number, "query", counted(start, stop), none)
    assert {key: part.tally for key, part in held.tallies.items()} == {(): whole().result().tally}


# ---- reports and estimates


def privatized(seed: int | None, partition: int, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The reports of a partition of ten equal values, in two batches; the column that is kept goes along."""
    context = type(
        "TaskContext", (), {"get": staticmethod(lambda: type("C", (), {"partitionId": lambda self: partition})())}
    )
    monkeypatch.setitem(sys.modules, "pyspark", type(sys)("pyspark"))
    monkeypatch.setattr(sys.modules["pyspark"], "TaskContext", context, raising=False)
    m = dn.mechanism("oue", epsilon=1.0, k=40)
    given = [pa.record_batch({"v": [3] * 10, "day": list(range(start, start + 10))}) for start in (0, 10)]
    task = tasks.Privatize(m.design, ("v",), False, ("day",), seed)
    made = pa.Table.from_batches(list(task([given[0], given[0][:0], given[1]])))
    assert made.column("day").to_pylist() == list(range(20))
    found: list[bytes] = made.column("report").to_pylist()
    return found


def test_partitions_draw_apart_and_a_seeded_one_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    one, again = (privatized(5, 0, monkeypatch) for _ in range(2))
    assert one == again, "a task that is run again"
    everything = [*one, *privatized(5, 1, monkeypatch), *privatized(6, 0, monkeypatch)]
    everything += [*privatized(None, 0, monkeypatch), *privatized(None, 0, monkeypatch)]
    assert len(set(everything)) == len(everything) == 100, "40 bits each: no two are the same by chance"


def test_levels_and_pairs_reach_the_reports() -> None:
    personal: Any = dn.mechanism("pldp", k=4, levels="0.5,1", level_epsilon=1.0, base="grr")
    rows = pa.record_batch({"v": [1] * 8, "level": [0.5] * 5 + [1.0] * 3})
    with_levels: Callable[..., Any] = tasks.Privatize(personal.design, ("v", "level"), False, (), None)
    made = pa.Table.from_batches(list(with_levels([rows])))
    assert tally(made, personal).tally.n == 8
    with pytest.raises(dn.ParameterError, match="level"):
        list(with_levels([pa.record_batch({"v": [1], "level": [0.75]})]))
    keyed: Mechanism = dn.mechanism("kv-ss", epsilon=2.0, k=3, length=3)
    users = [0, 0, 1, 2, 2, 2, 3, 3, 4, 5]
    keys = [0, 1, 0, 0, 1, 2, 1, 2, 0, 2]
    table = pa.table({"user": users, "key": keys, "value": [0.5] * len(users)})
    pairs = tasks.Privatize(keyed.design, ("user", "key", "value"), True, (), None)
    done = pa.Table.from_batches(list(pairs(table.to_batches(max_chunksize=2))))
    assert tally(done, keyed).tally.n == 6


@pytest.mark.parametrize(("level", "method"), [(0.8, "unbiased"), (0.95, "em")])
def test_estimates_of_groups_are_those_of_their_tallies(level: float, method: str) -> None:
    frames = pytest.importorskip("deniable.run.spark.frames")
    counted_rows = frame(["day"], [[batch(0, 64)]])
    batches = [*counted_rows.to_batches(), *frame(["day"], [[batch(20, 21)]]).to_batches()]  # a group without a report
    found = pa.Table.from_batches(list(frames._Estimating(("day",), method, level)(batches)))
    rows = pa.table({"report": pa.array(ODD, pa.binary()), "day": DAYS})
    expected = estimate(rows, M, by="day", level=level, method=method)
    assert sorted(found.column("day").to_pylist()) == sorted(expected.column("day").to_pylist())
    for name in ("value", "stderr", "low", "high", "n"):
        own = {
            (d, label): x
            for d, label, x in zip(*(found.column(c).to_pylist() for c in ("day", "label", name)), strict=True)
        }
        for d, label, x in zip(*(expected.column(c).to_pylist() for c in ("day", "label", name)), strict=True):
            assert own[d, label] == pytest.approx(x, abs=1e-9)
    assert set(found.column("simulated").to_pylist()) == {True}
