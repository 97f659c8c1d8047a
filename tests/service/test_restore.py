"""Restored copies: what was published, closed or revoked stays so, or nothing of it is published ever again."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.errors import FormatError, ParameterError
from deniable.service.access.keys import is_valid, new_key, rotate
from deniable.service.ingest import Intake
from deniable.service.release import kept_reports, windows
from deniable.service.store import engine_of, open_store, restoring, schema
from deniable.service.store import journal as journals
from deniable.service.store.contract import Incoming, Store, StoreUnavailableError, Upload
from deniable.service.store.database import Database
from deniable_client.task import Task
from service.databases import ENGINES, new_database
from service.making import DAY, fresh_id, opened

LEAST = 10
TOLD = b'{"reports": 0, "state": "withheld"}'
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Place:
    """A folder with a database, its journal, and copies of it."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder, self.engine = folder, engine
        self.journal = folder / "journal"
        self.store = self.new()

    def new(self) -> Database:
        self.url = new_database(self.engine, self.folder)
        return open_store(self.url, str(self.journal))

    def backup(self) -> Path:
        path = self.folder / f"copy-{os.urandom(4).hex()}"
        self.store.backup(path)
        return path

    def restore(self, copy: Path, *, with_journal: bool = True) -> restoring.Restored:
        """Into another database, which takes the place of the first one."""
        self.store.close()
        self.url = new_database(self.engine, self.folder)
        if not with_journal:
            self.journal.rename(self.folder / "moved-away")
        target = engine_of(self.url)
        known = self.journal if with_journal else None
        found = restoring.restore(copy, target, journal=known, own=self.journal, today=DAY)
        target.close()
        self.store = open_store(self.url, str(self.journal))
        return found


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path, request.param)
    yield found
    assert found.store.check() == []
    found.store.close()


def asked(store: Store, **more: Any) -> Task:
    return opened(store, dn.mechanism("grr", epsilon=1.0, k=64).design, **{"count": 2} | more)


def answer(store: Store, task: Task, people: range, days: int = 0) -> list[str]:
    sent = [Incoming(fresh_id(), bytes([person])) for person in people]
    (found,) = store.add([Upload(task.id, DAY + timedelta(days), sent)])
    return sorted({outcome.reason or outcome.status for outcome in found})


def told(store: Store, task: Task, now: datetime = NOON) -> list[Any]:
    row = store.task(task.id)
    assert row is not None
    return [window.document for window in windows(store, row, Intake(row.document), now)]


# ---- with the journal


def test_a_window_is_published_once_over_all_copies(place: Place) -> None:
    """Copied, one more report, closed, read; restored and read again: the difference was that one report."""
    task = asked(place.store)
    answer(place.store, task, range(LEAST))
    copy = place.backup()
    answer(place.store, task, range(LEAST, LEAST + 1))
    place.store.set_state(task.id, "closed")
    before = told(place.store, task)
    found = place.restore(copy)
    assert found.noted == {"closed": 1, "sealed": 1, "released": 1}
    assert place.store.tasks()[0].state == "closed"
    assert told(place.store, task) == before
    assert before[0]["reports"] == LEAST + 1
    assert answer(place.store, task, range(40, 41)) == ["not-open"]


def test_a_sealed_window_stays_sealed(place: Place) -> None:
    task = asked(place.store)
    copy = place.backup()
    place.store.seal(task.id, 0)
    place.restore(copy)
    assert answer(place.store, task, range(5)) == ["sealed"]
    assert answer(place.store, task, range(5), days=7) == ["accepted"]


def test_void_keys_stay_void_and_others_valid(place: Place) -> None:
    for name in ("one", "two", "three"):
        new_key(place.store, "analyst", today=DAY, name=name)
    place.store.revoke_key("one", DAY + timedelta(3), later=True)
    copy = place.backup()
    place.store.revoke_key("one", DAY + timedelta(1), later=True)
    place.store.revoke_key("two", DAY)
    place.restore(copy)
    found = {key.name: key.revoked for key in list(place.store.keys())}
    assert found == {"one": DAY + timedelta(1), "two": DAY, "three": None}
    behind = {key.name: is_valid(key, DAY - timedelta(9)) for key in list(place.store.keys())}
    assert behind == {"one": True, "two": False, "three": True}, "void at once is for ever, whatever the clock says"


def test_a_task_that_was_made_after_the_copy_is_there_again(place: Place) -> None:
    old = asked(place.store)
    copy = place.backup()
    task, running = asked(place.store, subject="food"), asked(place.store, subject="work")
    answer(place.store, task, range(LEAST))
    place.store.set_state(task.id, "closed")
    before = told(place.store, task)
    place.restore(copy)
    states = {row.id: row.state for row in place.store.tasks()}
    assert states == {old.id: "open", task.id: "closed", running.id: "open"}
    assert told(place.store, task) == before
    assert answer(place.store, running, range(3)) == ["accepted"]


def test_a_copy_of_a_restored_database_can_be_restored(place: Place) -> None:
    task = asked(place.store)
    answer(place.store, task, range(LEAST))
    first = place.backup()
    place.restore(first)
    second = place.backup()
    place.store.set_state(task.id, "closed")
    before = told(place.store, task)
    for copy in (second, first):
        place.restore(copy)
        assert told(place.store, task) == before


def test_a_closed_task_of_the_clock_stays_closed(place: Place) -> None:
    """Ids are erased when a task is over, which closes it for ever."""
    task = asked(place.store)
    copy = place.backup()
    place.store.purge(task.closes + timedelta(2))
    place.restore(copy)
    assert place.store.tasks()[0].state == "closed"


def test_the_database_that_was_replaced_can_publish_nothing(place: Place) -> None:
    task = asked(place.store)
    answer(place.store, task, range(LEAST))
    old, copy = open_store(place.url, str(place.journal)), place.backup()
    place.restore(copy)
    answer(old, task, range(LEAST, LEAST + 1))
    with pytest.raises(FormatError, match="goes on with another database"):
        old.set_state(task.id, "closed")
    with pytest.raises(FormatError, match="goes on with another database"):
        told(old, task, NOON + timedelta(30))
    assert old.release(task.id, 0) is None
    old.close()
    place.store.set_state(task.id, "closed")
    assert told(place.store, task)[0]["reports"] == LEAST


def test_kept_reports_that_are_not_the_published_ones_are_not_exported(place: Place) -> None:
    """The copy has fewer of them: tally minus export would be about the few that are missing."""
    task = asked(place.store, keep="30")
    answer(place.store, task, range(LEAST))
    copy = place.backup()
    answer(place.store, task, range(LEAST, LEAST + 1))
    place.store.set_state(task.id, "closed")
    told(place.store, task)
    place.restore(copy)
    row = place.store.tasks()[0]
    intake = Intake(row.document)
    found = windows(place.store, row, intake, NOON)
    with pytest.raises(FormatError, match=r"10 reports are kept .* not the 11 that were published"):
        list(kept_reports(place.store, intake, found, "q0"))


def test_a_task_whose_published_reports_may_be_sent_again_is_closed(place: Place) -> None:
    """The copy does not know the ids of the first window: sent again, they would be counted in the second one, too."""
    task, other, quiet = asked(place.store), asked(place.store, subject="food"), asked(place.store, subject="work")
    answer(place.store, quiet, range(LEAST))
    copy = place.backup()
    for each in (task, other):
        answer(place.store, each, range(LEAST))
    first = told(place.store, task, NOON + timedelta(8))[0]
    told(place.store, quiet, NOON + timedelta(8))
    found = place.restore(copy)
    assert (found.closed, found.voided) == ([task.id], 1)
    assert [row.state for row in place.store.tasks()] == ["closed", "open", "open"]
    again, second = told(place.store, task, NOON + timedelta(60))
    assert again == first
    assert "lacks reports which are published" in second["questions"][0]["why"]
    assert answer(place.store, quiet, range(3), days=8) == ["accepted"]  # all of its published reports are known


def test_as_many_reports_are_not_the_same_ones_after_another_restore(place: Place) -> None:
    """The copy has as many as are published, others though: what is published came after a restore of an older copy."""
    task = asked(place.store)
    empty = place.backup()
    answer(place.store, task, range(LEAST))
    full = place.backup()
    place.restore(empty)
    answer(place.store, task, range(20, 20 + LEAST))
    first = told(place.store, task, NOON + timedelta(8))[0]
    assert first["reports"] == LEAST
    found = place.restore(full)
    assert found.closed == [task.id]
    assert told(place.store, task)[0] == first


def test_a_question_that_may_have_been_published_is_not_asked_again(place: Place) -> None:
    task = asked(place.store, memory="remembered", count=1)
    copy = place.backup()
    answer(place.store, task, range(LEAST))
    told(place.store, task, NOON + timedelta(30))
    place.restore(copy, with_journal=False)
    same = asked(place.store, memory="remembered", count=1, min_batch=9)
    answer(place.store, same, range(LEAST + 1))
    (document,) = told(place.store, same, NOON + timedelta(30))
    assert document["state"] == "withheld"
    assert f"window 1 of the task {task.id[:12]} is published, or may have been" in document["questions"][0]["why"]


# ---- without it


def test_without_a_journal_everything_is_closed_withheld_and_void(place: Place) -> None:
    task, other = asked(place.store), asked(place.store, subject="food")
    answer(place.store, task, range(LEAST))
    told(place.store, task, NOON + timedelta(8))  # its first window is published in the copy
    answer(place.store, task, range(20, 20 + LEAST), days=8)
    answer(place.store, other, range(LEAST))
    for name in ("one", "two"):
        new_key(place.store, "analyst", today=DAY, name=name)
    rotate(place.store, "two", today=DAY, days=3)  # the old one would be valid for a while
    first = told(place.store, task, NOON + timedelta(8))[0]
    place.store.seal(other.id, 1)  # somebody was about to publish it
    copy = place.backup()
    found = place.restore(copy, with_journal=False)
    assert found.closed == [task.id, other.id]
    assert found.voided == 3
    assert found.revoked == ["one", "two", "two-1"]
    assert found.journal is None
    assert [row.state for row in place.store.tasks()] == ["closed", "closed"]
    assert [(key.revoked, key.digest) for key in list(place.store.keys())] == [(DAY, b"")] * 3
    again, second = told(place.store, task, NOON + timedelta(60))
    assert again == first
    for document in (second, *told(place.store, other, NOON + timedelta(60))):
        assert document["state"] == "withheld"
        assert "without its journal" in document["questions"][0]["why"]
        assert "tally" not in document["questions"][0]
    assert answer(place.store, task, range(3)) == ["not-open"]


# ---- the file


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path, "sqlite")
    yield found
    found.store.close()


def test_a_journal_is_private_and_beside_the_database(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    asked(store)
    store.close()
    path = tmp_path / "x.db.journal"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["what"] for line in lines] == ["began", "opened"]
    assert len({line["life"] for line in lines}) == 1


def test_nothing_is_published_that_is_not_in_the_journal(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    task = asked(local.store)
    answer(local.store, task, range(LEAST))
    local.store.seal(task.id, 0)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journals.os, "fsync", full)
    with pytest.raises(StoreUnavailableError, match=r"journal .* cannot be written now: No space left"):
        local.store.put_release(task.id, 0, b"{}")
    monkeypatch.undo()
    assert local.store.release(task.id, 0) is None
    assert local.store.put_release(task.id, 0, TOLD) == TOLD


def test_the_last_of_several_lines_is_what_was_published(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody wrote the line and stopped before the database had it; whoever came next published."""
    task = asked(local.store)
    copy = local.backup()
    real = journals._set_meta

    def killed(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(journals, "_set_meta", killed)
    with pytest.raises(KeyboardInterrupt):
        local.store.put_release(task.id, 0, b"{}")
    monkeypatch.setattr(journals, "_set_meta", real)
    assert local.store.release(task.id, 0) is None
    assert local.store.put_release(task.id, 0, TOLD) == TOLD
    local.restore(copy)
    assert local.store.release(task.id, 0) == TOLD


def test_a_line_that_was_not_finished_is_cut_off(local: Place) -> None:
    task = asked(local.store)
    copy = local.backup()
    with local.journal.open("ab") as file:
        file.write(b'{"after": 1, "life"')
    local.store.seal(task.id, 0)
    assert [json.loads(line)["what"] for line in local.journal.read_text().splitlines()] == [
        "began",
        "opened",
        "sealed",
    ]
    local.restore(copy)
    assert answer(local.store, task, range(1)) == ["sealed"]


@pytest.mark.parametrize("moved", [False, True])
def test_a_line_that_was_not_finished_does_not_spoil_a_restore(local: Place, moved: bool, tmp_path: Path) -> None:
    """The disk was full in the midst of a line: the journal goes on behind the last whole one, here and elsewhere."""
    task = asked(local.store)
    copy, own = local.backup(), tmp_path / "own.journal" if moved else local.journal
    local.store.seal(task.id, 0)
    with local.journal.open("ab") as file:
        file.write(b'{"after": 1, "life"')
    target = engine_of(new_database("sqlite", tmp_path))
    restoring.restore(copy, target, journal=local.journal, own=own, today=DAY)
    restored = Database(target, journals.Journal(own))
    restored.set_state(task.id, "closed")
    for path in {own, local.journal}:
        whats = [json.loads(line)["what"] for line in path.read_text().splitlines()]
        assert whats == ["began", "opened", "sealed", "restored", *(["closed"] if path == own else [])]
    with pytest.raises(FormatError, match="goes on with another database"):
        local.store.set_state(task.id, "closed")
    restored.close()


def test_long_lines_are_read_from_their_end(local: Place) -> None:
    task = asked(local.store)
    document = json.dumps({"text": "x" * 300_000}).encode()
    local.store.put_release(task.id, 0, document)
    local.store.seal(task.id, 1)
    assert local.store.release(task.id, 0) == document


@pytest.mark.parametrize(
    ("harm", "error"),
    [
        (lambda lines: lines[:1] + lines[2:], "something is missing in the midst"),
        (lambda lines: [b"no journal\n"], "damaged or not a journal"),
        (lambda lines: [b"[]\n"], "damaged or not a journal"),
        (lambda lines: lines[:1], "is not that of this copy"),
        (lambda lines: [], "is not that of this copy"),
    ],
)
def test_a_journal_that_does_not_fit_is_refused(local: Place, harm: Any, error: str, tmp_path: Path) -> None:
    task = asked(local.store)
    copy = local.backup()
    local.store.seal(task.id, 0)
    lines = local.journal.read_bytes().splitlines(keepends=True)
    (tmp_path / "harmed").write_bytes(b"".join(harm(lines)))
    target = engine_of(new_database("sqlite", tmp_path))
    with pytest.raises((FormatError, ParameterError), match=error):
        restoring.restore(copy, target, journal=tmp_path / "harmed", today=DAY)
    assert not restoring._filled(target)
    target.close()


def test_what_a_journal_has_is_checked(local: Place, tmp_path: Path) -> None:
    asked(local.store)
    copy, target = local.backup(), engine_of(new_database("sqlite", tmp_path))
    lines = local.journal.read_bytes().splitlines(keepends=True)
    after = journals._mark(lines[-1])
    for what, content, error in (("later", {}, "does not know"), ("sealed", {"window": "x"}, "says too little")):
        line = journals._line(1, after, what, content)
        (tmp_path / "other").write_bytes(b"".join([*lines, line]))
        with pytest.raises(FormatError, match=error):
            restoring.restore(copy, target, journal=tmp_path / "other", today=DAY)
    target.close()


def test_a_copy_that_is_used_as_it_is_can_publish_nothing(local: Place, tmp_path: Path) -> None:
    """It may be looked at; but it does not know what was published after it was made."""
    task = asked(local.store)
    answer(local.store, task, range(LEAST))
    used = open_store(f"sqlite:///{shutil.copy(local.backup(), tmp_path / 'used.db')}")
    assert used.check() == []
    assert told(used, task)[0] is None
    for act in (lambda: used.set_state(task.id, "closed"), lambda: used.seal(task.id, 0)):
        with pytest.raises(FormatError, match=r"the journal .*used\.db\.journal is missing"):
            act()
    used.close()


def test_a_new_database_does_not_take_the_journal_of_one_that_is_lost(local: Place) -> None:
    asked(local.store)
    with pytest.raises(ParameterError, match="belongs to a database that is not here"):
        asked(open_store(new_database("sqlite", local.folder), str(local.journal)))


def test_a_database_without_a_setting_for_its_journal_says_so(local: Place) -> None:
    task = asked(local.store)
    bare = Database(local.store.engine)
    with pytest.raises(ParameterError, match="nobody says where it is"):
        bare.set_state(task.id, "closed")


def test_the_journal_follows_to_a_new_place(local: Place, tmp_path: Path) -> None:
    """The old file is ended too: a database that still uses it can change nothing."""
    task = asked(local.store)
    target = engine_of(new_database("sqlite", tmp_path))
    own = tmp_path / "own.journal"
    restoring.restore(local.backup(), target, journal=local.journal, own=own, today=DAY)
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    moved = Database(target, journals.Journal(own))
    moved.set_state(task.id, "closed")
    with pytest.raises(FormatError, match="goes on with another database"):
        local.store.set_state(task.id, "closed")
    moved.close()


def test_a_copy_of_a_newer_program_is_refused(local: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    later = (*schema.MIGRATIONS, ("CREATE TABLE more (x INTEGER)",))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", later)
        newer = open_store(f"sqlite:///{tmp_path}/newer.db")
        newer.backup(tmp_path / "newer.backup")
        newer.close()
    target = engine_of(new_database("sqlite", tmp_path))
    with pytest.raises(FormatError, match=r"this program knows versions up to .*Upgrade deniable"):
        restoring.restore(tmp_path / "newer.backup", target, today=DAY)
    target.close()
