"""`deniable store`: what people see, and exit codes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from deniable.cli import main
from deniable.service.store import open_store
from deniable.service.store.contract import Upload
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
    assert told(capsys, "migrate", "--database", other) == "The database has version 1 already.\n"
    fresh = json.loads(told(capsys, "migrate", "--database", f"sqlite:///{tmp_path}/new.db", "--json"))
    assert fresh == {"before": 0, "after": 1}
    told(capsys, "backup", copy, "--database", url, code=2)
    told(capsys, "restore", copy, "--database", other, code=2)


def test_check_says_what_is_wrong(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as link:
        link.execute("DELETE FROM seen WHERE id = (SELECT min(id) FROM seen)")
    link.close()
    text = " ".join(told(capsys, "check", "--database", url, code=1).split())
    assert "1199 ids are known and 1200 reports are counted" in text
