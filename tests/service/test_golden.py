"""Databases of all versions that there ever were open, and answer the same (tests/golden/store)."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from deniable.service.store import engine_of, open_store, restoring
from deniable.service.store.contract import Outcome, Upload
from deniable.service.store.schema import VERSION
from service.databases import ENGINES, new_database
from service.making import DAY

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "store"
FILES = sorted(FOLDER.glob("v*.backup"))


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    """The script that made the newest one."""
    sys.path.insert(0, str(FOLDER))
    try:
        import golden_store
    finally:
        sys.path.remove(str(FOLDER))
    return golden_store


def test_there_is_a_file_for_every_version() -> None:
    assert [path.name for path in FILES] == [f"v{version}.backup" for version in range(1, VERSION + 1)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_opens_and_answers_the_same(file: Path, golden: ModuleType, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{shutil.copy(file, tmp_path)}")
    told = json.loads(file.with_suffix(".json").read_text())
    assert store.check() == []
    assert golden.answers(store) == told
    task = told["tasks"][0]["id"]
    later = DAY + timedelta(8)
    reports = [golden.sent(1, b"\1"), golden.sent(1, b"\2"), golden.sent(999, b"\1")]
    expected = [Outcome("duplicate"), Outcome("rejected", "other-body"), Outcome("accepted")]
    assert store.add([Upload(task, later, reports)]) == [expected]
    assert store.add([Upload(task, DAY, [golden.sent(998, b"\1")])]) == [[Outcome("rejected", "sealed")]]
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_can_be_restored(file: Path, engine: str, golden: ModuleType, tmp_path: Path) -> None:
    """All that was counted is there; without a journal tasks are closed, windows withheld and keys void."""
    url = new_database(engine, tmp_path)
    target = engine_of(url)
    done = restoring.restore(file, target, today=DAY)
    target.close()
    store = open_store(url)
    assert store.check() == []
    found, told = golden.answers(store), json.loads(file.with_suffix(".json").read_text())
    store.close()
    for task, known in zip(found["tasks"], told["tasks"], strict=True):
        assert task.pop("state") == "closed"
        known.pop("state")
        for window, (release, before) in enumerate(zip(task.pop("releases"), known.pop("releases"), strict=True)):
            assert release == before if before else json.loads(release)["state"] == "withheld", window
    assert [(*key[:2], key[3]) for key in found["keys"]] == [(*key[:2], key[3]) for key in told["keys"]]
    assert {key[4] for key in found["keys"]} == {str(DAY)}
    assert found["tasks"] == told["tasks"]
    assert (len(done.closed), done.voided, done.revoked) == (2, 11, ["analyst-1"])
