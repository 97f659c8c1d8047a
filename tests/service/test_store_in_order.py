"""The store, part by part: orders, pages of reports, settings of the database, rows at hand, addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.service import store as stores
from deniable.service.store import database, engine_of, journal, journal_of, open_store, restoring, rows
from deniable.service.store.address import hidden, shown
from deniable.service.store.contract import Batch, Incoming, KeyRow, Upload
from deniable.service.store.database import Database
from deniable.service.store.engine import hashes, placed
from deniable.service.store.restoring import restore
from deniable.service.store.sqlite import SqliteEngine
from deniable_client.canonical import canonical
from service.making import DAY, body, opened, report, task_document

ALL = Batch(0, 0, ())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    made = open_store(f"sqlite:///{tmp_path}/x.db")
    yield made
    made.close()


def test_tasks_and_keys_are_listed_in_the_order_in_which_they_were_made(store: Database) -> None:
    """Ids of tasks and names of keys are in another one."""
    ids = [opened(store, subject=f"subject {i}").id for i in range(6)]
    assert ids != sorted(ids)
    assert [row.id for row in store.tasks()] == ids
    for i, name in enumerate(["c", "b", "d", "a"]):
        store.put_key(KeyRow(name, "analyst", bytes([i]), DAY - timedelta(i // 2)))
    keys = store.keys()
    assert [key.name for key in keys] == ["a", "d", "b", "c"], "of one day by their names"


def test_a_task_is_kept_once_and_under_its_own_id(store: Database) -> None:
    document = task_document()
    store.put_task(document["id"], canonical(document))
    store.put_task(document["id"], canonical(document))
    (row,) = store.tasks()
    assert row == store.task(document["id"])
    assert (row.state, row.document) == ("draft", canonical(document))
    with pytest.raises(ParameterError, match="in another spelling already"):
        store.put_task(document["id"], canonical(document) + b"\n")
    with pytest.raises(ParameterError, match="the task's own"):
        store.put_task("0" * 64, canonical(document))
    assert store.task("0" * 64) is None
    with pytest.raises(ParameterError, match="one of draft, open, closed"):
        store.set_state(document["id"], "over")


@pytest.mark.parametrize("count", [0, 2, 3, 4, 6, 7])
def test_reports_are_read_page_by_page_to_the_last(
    store: Database, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(database, "_PAGE", 3)
    task = opened(store, keep="10")
    sent = [Incoming(bytes([i]) * 16, bytes([i])) for i in range(count)]
    store.add([Upload(task.id, DAY, sent)])
    assert sorted(store.reports(task.id, ALL)) == [each.body for each in sent]
    assert list(store.reports(task.id, Batch(1, 0, ()))) == []


def test_reports_of_several_days_and_tasks_get_their_own_outcomes(store: Database) -> None:
    """In the order in which they came, whatever the order in which they are decided."""
    one, two = (opened(store, subject=name) for name in ("one", "two"))
    late, soon, again = DAY + timedelta(40), DAY + timedelta(8), report(1)
    found = store.add(
        [
            Upload(two.id, soon, [report(2), report(200)]),
            Upload(one.id, late, [report(3)]),
            Upload("0" * 64, DAY, [report(4)]),
            Upload(one.id, DAY, [again, report(5)]),
            Upload(two.id, DAY, []),
            Upload(one.id, DAY, [again]),
        ]
    )
    told = [[outcome.reason or outcome.status for outcome in each] for each in found]
    assert told == [
        ["accepted", "impossible"], ["late"], ["not-open"], ["accepted", "accepted"], [], ["duplicate"],
    ]  # fmt: skip
    assert {batch.window: tally.n for batch, tally in store.tallies(one.id).items()} == {0: 2}
    assert {batch.window: tally.n for batch, tally in store.tallies(two.id).items()} == {1: 1}
    assert store.rejections(one.id) == {"late": 1}
    assert store.rejections(two.id) == {"impossible": 1}


@pytest.mark.parametrize("window", [-1, 4])
def test_windows_are_those_of_the_task(store: Database, window: int) -> None:
    task = opened(store, count=4)
    for call in (store.seal, store.release):
        with pytest.raises(ParameterError, match="a number from 0 to 3"):
            call(task.id, window)
    for call in (store.seal, store.release):
        call(task.id, 0)
        call(task.id, 3)


def test_the_first_claim_and_the_first_release_stay(store: Database) -> None:
    one, two = (opened(store, subject=name) for name in ("one", "two"))
    assert store.claimed("key") is None
    assert store.claim("key", two.id, 1) == store.claim("key", one.id, 0) == store.claimed("key") == (two.id, 1)
    assert store.release(one.id, 1) is None
    assert store.put_release(one.id, 1, b"first") == store.put_release(one.id, 1, b"second") == b"first"
    assert (store.release(one.id, 1), store.release(one.id, 0), store.release(two.id, 1)) == (b"first", None, None)
    assert [store.note("n"), store.put_note("n", 3), store.note("n"), store.put_note("n", 2), store.note("n")] == [
        None, None, 3, None, 2,
    ]  # fmt: skip
    assert store.identity() == store.identity()
    assert len(store.identity()) == 32


def test_tallies_that_are_remembered_are_those_of_the_row(store: Database) -> None:
    """Another process may have changed it meanwhile."""
    task = opened(store)
    store.add([Upload(task.id, DAY, [report(1)])])
    other = Database(store.engine)
    other.add([Upload(task.id, DAY, [report(1), report(2)])])
    store.add([Upload(task.id, DAY, [report(3)])])
    assert store.tallies(task.id)[ALL].cells["support"][0].tolist()[:5] == [0, 2, 1, 1, 0]
    assert store.check() == []
    other._settler.stop()


# ---- rows


def test_tallies_at_hand_are_forgotten_when_they_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_RECENT_BYTES", 64)
    recent = rows.Recent()

    def tally(cells: int) -> Any:
        return SimpleNamespace(cells={"n": np.zeros(cells, np.int64)})

    keys = [(number, ALL) for number in range(7)]
    kept = [tally(2) for _ in keys]
    for key, each in zip(keys[:4], kept, strict=False):  # 16 bytes each
        recent.keep(key, b"x", each)
    assert [recent.of(key, b"x") for key in keys[:4]] == kept[:4]
    assert recent.of(keys[0], b"y") is None, "the row has become another one"
    recent.keep(keys[0], b"y", kept[0])
    assert recent.of(keys[0], b"y") is kept[0], "what is there already takes no more room"
    assert recent.of(keys[1], b"x") is kept[1]
    recent.keep(keys[4], b"x", kept[4])
    assert [recent.of(key, b"x") for key in keys[:5]] == [None] * 4 + [kept[4]]
    for key, each in zip(keys[5:], kept[5:], strict=True):
        recent.keep(key, b"x", each)
    assert [recent.of(key, b"x") is not None for key in keys[4:]] == [True] * 3, "there is room for four again"


def test_hashes_and_marks_are_taken_from_their_places() -> None:
    given = np.arange(40, dtype=np.uint8).reshape(2, 20)
    assert hashes(given) == [bytes(range(16)), bytes(range(20, 36))]
    numbers, marks = placed([(3, b"abcd"), (1, b"wxyz")])
    assert numbers.tolist() == [3, 1]
    assert [bytes(mark) for mark in marks] == [b"abcd", b"wxyz"]
    nothing, none = placed([])
    assert (nothing.tolist(), none.shape) == ([], (0, 4))


# ---- the database


def test_connections_sync_each_commit_wipe_what_is_deleted_and_wait_for_others(tmp_path: Path) -> None:
    """As SQLite itself says: FULL is 2, memory is 2, the cache has 64 MiB."""
    engine = SqliteEngine(tmp_path / "x.db")
    expected = {
        "busy_timeout": 10_000, "journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "temp_store": 2,
        "cache_size": -65_536,
    }  # fmt: skip
    for use in (engine.write, engine.read):
        with use() as session:
            assert {name: session.execute(f"PRAGMA {name}")[0][0] for name in expected} == expected
    engine.close()
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o600


def test_what_is_given_up_in_the_midst_leaves_nothing(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "x.db")
    with engine.write() as session:
        session.execute("CREATE TABLE t (x)")

    def given_up() -> None:
        with engine.write() as session:
            session.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        given_up()
    with engine.write() as session:
        session.execute("INSERT INTO t VALUES (2)")
    with engine.read() as session:
        assert session.execute("SELECT x FROM t") == [(2,)]
        assert (session.has("t"), session.has("u")) == (True, False)
    engine.close()


def test_addresses_name_files_as_they_are_written_and_as_they_are_meant(tmp_path: Path) -> None:
    for text, name in (("a b.db", "a b.db"), ("a%20b.db", "a b.db"), ("a+b%23.db", "a+b#.db")):
        engine = engine_of(f"sqlite:///{tmp_path}/{text}")
        assert isinstance(engine, SqliteEngine)
        assert engine.path == tmp_path / name
        assert journal_of(engine) == tmp_path / f"{name}.journal"
        assert journal_of(engine, "/else/where") == Path("/else/where")
    assert isinstance(engine_of("sqlite:///x.db"), SqliteEngine)
    other: Any = SimpleNamespace(path=tmp_path)
    assert journal_of(other) is None


def test_a_store_that_cannot_be_opened_lets_go_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = SqliteEngine(tmp_path / "x.db")

    def refused() -> None:
        raise ParameterError("the role may not.")

    monkeypatch.setattr(engine, "prepare", refused)
    monkeypatch.setattr(stores, "engine_of", lambda url: engine)
    with pytest.raises(ParameterError, match="may not"):
        open_store("sqlite:///x.db")
    assert engine._links == {}


# ---- the journal


@pytest.mark.parametrize("rest", [b"", b'{"life"', b"x" * 20])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_the_last_whole_line_is_read_and_what_comes_after_it_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: bytes, chunk: int
) -> None:
    monkeypatch.setattr(journal, "_CHUNK", chunk)
    path = tmp_path / "journal"
    for whole, last in ((b"", b""), (b"one\n", b"one\n"), (b"one\ntwo two\n", b"two two\n"), (b"one\n\n", b"\n")):
        path.write_bytes(whole + rest)
        with path.open("r+b") as file:
            found = journal._last_line(file)
        if whole:
            assert (found, path.read_bytes()) == (last, whole)


def test_marks_of_lines_are_numbers_that_every_database_holds() -> None:
    marks = [journal._mark(bytes([i])) for i in range(99)]
    assert all(0 <= mark < 1 << 63 for mark in marks)
    assert max(marks) > 1 << 60
    assert journal._file_bytes(journal.file_text(b"\x00\xff")) == b"\x00\xff"


def test_a_key_is_void_in_a_restored_copy_only_if_it_was_void() -> None:
    entry = {"key": "ann", "on": "2026-11-16"}
    for void, steps in ((True, 2), (False, 1), (None, 1)):
        told = entry if void is None else entry | {"void": void}
        found = list(journal._revoked(told))
        assert len(found) == steps
        assert found[0][1] == ("2026-11-16", "ann", "2026-11-16")


# ---- checks and addresses

STRAY = {
    "seen": "INSERT INTO seen VALUES (9, x'01', x'02')",
    "tallies": "INSERT INTO tallies VALUES (9, 0, 0, x'', 0, x'00')",
    "kept": "INSERT INTO kept VALUES (9, 0, 0, x'', x'01', x'02')",
    "rejections": "INSERT INTO rejections VALUES (9, 'late', 0, 1)",
    "sealed": "INSERT INTO sealed (task, window_number) VALUES (9, 0)",
    "once": "INSERT INTO once VALUES ('key', 9, 0)",
}


@pytest.mark.parametrize("table", STRAY)
def test_rows_of_a_task_that_is_not_there_are_found_in_every_table(store: Database, table: str) -> None:
    opened(store)
    assert store.check() == []
    with store.engine.write() as session:
        session.execute(STRAY[table])
    assert store.check() == [f"{table}: there is no task number 9"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("a+b", ["a+b", "a b"]), ("p%2Bq", ["p%2Bq", "p+q"]), ("x%20y", ["x%20y", "x y"]), ("plain", ["plain"])],
)
def test_a_password_is_hidden_in_every_spelling(written: str, meant: list[str]) -> None:
    """A plus may stand for itself or for a space."""
    for url in (f"postgresql://ann:{written}@db/x", f"postgresql://db/x?user=ann&password={written}"):
        for spelling in meant:
            assert hidden(f"refused “{spelling}” of ann", url) == "refused “***” of ann"
            assert spelling not in shown(url)


# ---- restoring


@pytest.mark.parametrize("has", ["a task", "a key"])
def test_a_copy_is_not_restored_over_anything(store: Database, tmp_path: Path, has: str) -> None:
    store.backup(tmp_path / "copy")
    target = open_store(f"sqlite:///{tmp_path}/y.db")
    if has == "a task":
        opened(target)
    else:
        target.put_key(KeyRow("ann", "analyst", b"1", DAY))
    with pytest.raises(ParameterError, match="has tasks or keys already"):
        restore(tmp_path / "copy", target.engine, today=DAY)
    assert len(target.tasks()) + len(list(target.keys())) == 1
    target.close()


def test_a_window_that_is_withheld_tells_the_reports_of_all_its_groups(store: Database) -> None:
    task = opened(store, strata={"country": ["DE", "FR"]}, count=2)
    sent = [Incoming(bytes([i]) * 16, body(task, 0, [place], b"\1")) for i, place in enumerate((1, 1, 0, 0, 1, 0))]
    store.add([Upload(task.id, DAY, sent)])
    with store.engine.write() as session:
        assert restoring._withhold(session, 1, task, "why") == 2
    told = [json.loads(store.release(task.id, window) or b"") for window in range(2)]
    assert [each["questions"][0]["reports"] for each in told] == [6, 0]
    with store.engine.write() as session:
        assert restoring._withhold(session, 1, task, "again") == 0, "what is published stays"
