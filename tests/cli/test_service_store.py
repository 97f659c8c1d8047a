"""`deniable store`: what people see, and exit codes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from deniable.cli import main
from deniable.service.access.keys import new_key
from deniable.service.store import open_store
from deniable.service.store.contract import Upload
from deniable.service.store.schema import VERSION
from service.making import DAY, opened, report


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    task = opened(store)
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(1200)])])
    store.close()
    return url


def told(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert main(["store", *args]) == code
    return capsys.readouterr().out


def test_backup_restore_check_and_migrate(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, other = f"{tmp_path}/copy", f"sqlite:///{tmp_path}/other.db"
    assert told(capsys, "check", "--database", url) == "Nothing is wrong.\n"
    assert told(capsys, "backup", copy, "--database", url).startswith(f"Wrote {copy}, ")
    assert "Restored 1 task and 1,200 ids" in told(capsys, "restore", copy, "--database", other)
    assert json.loads(told(capsys, "check", "--database", other, "--json")) == {"faults": [], "notes": []}
    assert told(capsys, "migrate", "--database", other) == f"The database has version {VERSION} already.\n"
    fresh = json.loads(told(capsys, "migrate", "--database", f"sqlite:///{tmp_path}/new.db", "--json"))
    assert fresh == {"before": 0, "after": VERSION}
    told(capsys, "backup", copy, "--database", url, code=2)
    told(capsys, "restore", copy, "--database", other, code=2)


def test_restored_with_its_journal_everything_stays(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, other = f"{tmp_path}/copy", f"sqlite:///{tmp_path}/other.db"
    told(capsys, "backup", copy, "--database", url)
    store = open_store(url)
    id = store.tasks()[0].id
    store.set_state(id, "closed")
    store.close()
    journal = f"{tmp_path}/x.db.journal"
    text = told(capsys, "restore", copy, "--database", other, "--journal", journal)
    assert "all that happened since then stays so: 1 closed task." in " ".join(text.split())
    store = open_store(other)
    assert store.tasks()[0].state == "closed"
    store.close()
    told(capsys, "restore", copy, "--database", f"sqlite:///{tmp_path}/x.db", code=2)  # it is there
    (tmp_path / "x.db").unlink()
    found = json.loads(told(capsys, "restore", copy, "--database", url, "--json"))  # its journal is beside it
    assert (found["journal"], found["noted"], found["closed"]) == (journal, {"closed": 1}, [])


def test_restored_without_a_journal_it_says_what_is_lost(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(url)
    id = store.tasks()[0].id
    new_key(store, "analyst", today=DAY, name="ada")
    store.close()
    copy = f"{tmp_path}/copy"
    told(capsys, "backup", copy, "--database", url)
    text = " ".join(told(capsys, "restore", copy, "--database", f"sqlite:///{tmp_path}/one.db").split())
    assert "There is no journal, so nobody knows" in text
    assert f"1 task closed for good: {id[:12]}." in text
    assert "4 windows will never be published" in text
    assert "1 key made void: ada." in text
    found = json.loads(told(capsys, "restore", copy, "--database", f"sqlite:///{tmp_path}/two.db", "--json"))
    assert (found["journal"], found["closed"], found["voided"], found["revoked"]) == (None, [id], 4, ["ada"])


def test_check_says_what_is_wrong(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as link:
        link.execute("DELETE FROM seen WHERE id = (SELECT min(id) FROM seen)")
    link.close()
    text = " ".join(told(capsys, "check", "--database", url, code=1).split())
    assert "1199 ids are known and 1200 reports are counted" in text
