"""Damaged ledgers: every byte that is another is harmless or refused in words; what was spent is never less."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Ledger, LedgerError, Task, WindowError
from deniable_client.canonical import canonical
from deniable_client.questions import amount_of
from tasks import document, noon, signed

SEED = 26
DAMAGES = 1500
TWO = signed(window={"opens": "2026-11-16", "days": 1, "count": 2})


def content(path: Path) -> list[Any]:
    """Everything that is in a ledger."""
    db = sqlite3.connect(path)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master ORDER BY name")]
    found = [db.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
    db.close()
    return found


def everything(path: Path) -> list[Any]:
    """All that one can do with a ledger, and what it gives."""
    ledger = Ledger(path, clock=lambda: noon() + 300, patience=0.01)
    seen = [ledger.overview(), ledger.export(), ledger.flush(due=True)]
    ledger.answer(TWO, "yes")
    spent = [place["spent"] for place in ledger.overview()["places"]]
    return [*seen, spent]


def damaged(tmp_path: Path, count: int) -> Counter[str]:
    """Change one byte of a ledger at a time, and try everything."""
    path, copy = tmp_path / "ledger", tmp_path / "copy"
    Ledger(path, clock=noon).answer(TWO, "no", url="https://a.example")
    good = path.read_bytes()
    copy.write_bytes(good)
    whole = content(copy)
    usual = everything(copy)
    drawn = random.Random(SEED)
    used = [i for i in range(len(good)) if good[i] or i % 4096 < 120]
    found: Counter[str] = Counter()
    for _ in range(count):
        place = drawn.choice(used) if drawn.random() < 0.8 else drawn.randrange(len(good))
        other = bytearray(good)
        other[place] ^= drawn.randrange(1, 256)
        copy.write_bytes(other)
        (tmp_path / "copy-journal").unlink(missing_ok=True)
        try:
            told = everything(copy)
        except LedgerError as error:
            told_in_words = ("nothing was spent or sent", "not a ledger", "is a ledger of version")
            found["refused" if any(words in str(error) for words in told_in_words) else str(error)] += 1
        else:
            assert told == usual
            copy.write_bytes(other)
            assert content(copy) == whole
            found["harmless"] += 1
    return found


def test_every_byte_that_is_another_is_harmless_or_refused(tmp_path: Path) -> None:
    """Some of them; all in the test below. Bytes that are not used, and counters of SQLite's, are harmless."""
    found = damaged(tmp_path, 60)
    assert set(found) == {"harmless", "refused"}
    assert found["refused"] > 20


@pytest.mark.turns(3)
@pytest.mark.slow
def test_fifteen_hundred_damages(tmp_path: Path) -> None:
    found = damaged(tmp_path, DAMAGES)
    assert set(found) == {"harmless", "refused"}
    assert found["refused"] > DAMAGES // 3


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE spend SET amount = '1'",
        "DELETE FROM spend",
        "DELETE FROM opened",
        "DELETE FROM place",
        "UPDATE place SET began = 0",
        "UPDATE own SET value = x'30' WHERE name = 'born'",
        "DELETE FROM own WHERE name = 'tag'",
        "UPDATE own SET value = 'x' WHERE name = 'tag'",
        "INSERT INTO allowed VALUES ('', '9')",
        "UPDATE report SET attempts = 0, state = 'waiting', body = x'07'",
        "UPDATE taken SET url = 'https://evil.example'",
        "UPDATE report SET url = 'https://evil.example'",
        "CREATE TRIGGER t AFTER INSERT ON spend BEGIN DELETE FROM spend; END",
        "CREATE INDEX i ON spend (task)",
        "DROP TABLE deal",
        "UPDATE spend SET amount = CAST(amount AS BLOB)",
    ],
)
@pytest.mark.parametrize("secret", [None, bytes(range(32))], ids=["kept", "derived"])
def test_what_was_altered_is_refused(change: str, secret: bytes | None, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=noon, secret=secret)
    ledger.answer(TWO, "no")
    db = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
    db.execute(change)
    db.close()
    before = (tmp_path / "ledger").read_bytes()
    for act in (
        ledger.overview,
        ledger.export,
        ledger.flush,
        lambda: ledger.answer(TWO, "no"),
        lambda: ledger.forget(TWO),
    ):
        with pytest.raises(LedgerError, match="is damaged; nothing was spent or sent"):
            act()
    assert (tmp_path / "ledger").read_bytes() == before


# ---- ledgers of version 1

OLD = """
CREATE TABLE own (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE spend (task TEXT NOT NULL, subject BLOB NOT NULL, amount TEXT NOT NULL, day TEXT NOT NULL);
CREATE TABLE promise (task TEXT PRIMARY KEY, subject BLOB NOT NULL, most_subject TEXT NOT NULL,
 most_lifetime TEXT NOT NULL);
CREATE TABLE answered (task TEXT NOT NULL, window INTEGER NOT NULL, PRIMARY KEY (task, window));
CREATE TABLE deal (task TEXT PRIMARY KEY, question INTEGER NOT NULL);
CREATE TABLE task (id TEXT PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE memo (number INTEGER PRIMARY KEY, question TEXT NOT NULL, answer BLOB NOT NULL,
 report BLOB NOT NULL, UNIQUE (question, answer));
CREATE TABLE report (id TEXT PRIMARY KEY, task TEXT NOT NULL, window INTEGER NOT NULL, question TEXT NOT NULL,
 answer BLOB NOT NULL, body BLOB NOT NULL, cost TEXT NOT NULL, day TEXT NOT NULL, url TEXT, state TEXT NOT NULL,
 reason TEXT NOT NULL, attempts INTEGER NOT NULL, due REAL, later REAL NOT NULL, expires REAL NOT NULL,
 UNIQUE (task, window));
PRAGMA application_id = 1148079207;
PRAGMA user_version = 1;
"""
FRESH: dict[str, Any] = {
    "memory": "fresh",
    "window": {"opens": "2026-11-16", "days": 1, "count": 2},
    "budget": {"task": 2, "subject": 4, "lifetime": 8},
    "expires": "9999-12-31",
}


def old_ledger(path: Path, made: dict[str, Any], key: bytes = b"k" * 32, attempts: int = 0) -> None:
    """As version 1 left it: one window answered, its report waiting."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(OLD)
    unit = str(amount_of(1))
    db.execute("INSERT INTO own VALUES ('key', ?)", (key,))
    db.execute("INSERT INTO spend VALUES (?, ?, ?, '2026-11-16')", (made["id"], b"s", unit))
    db.execute("INSERT INTO promise VALUES (?, ?, ?, ?)", (made["id"], b"s", unit, unit))
    db.execute("INSERT INTO answered VALUES (?, 0)", (made["id"],))
    db.execute("INSERT INTO task VALUES (?, ?)", (made["id"], canonical(made)))
    row = (
        "ab" * 16,
        made["id"],
        0,
        "q",
        b"a",
        b"\1",
        unit,
        "2026-11-16",
        None,
        "waiting",
        "",
        attempts,
        noon(),
        0,
        9e9,
    )
    db.execute(f"INSERT INTO report VALUES ({', '.join('?' * 15)})", row)
    db.close()


def test_a_ledger_of_version_1_loses_nothing(tmp_path: Path, collector: Any) -> None:
    made = document(**FRESH)
    old_ledger(tmp_path / "ledger", made)
    now = [noon()]
    ledger = Ledger(tmp_path / "ledger", clock=lambda: now[0])
    seen = ledger.overview()
    assert (seen["left"]["spent"], seen["places"][0]["spent"], seen["left"]["places"]) == (1, 1, 1)
    with pytest.raises(WindowError, match="was answered in this window already"):
        ledger.answer(Task.load(made), "yes")
    assert ledger.flush(collector.url).sent == 1
    assert collector.kept == {"ab" * 16: "AQ=="}
    now[0] += 86_400
    assert ledger.answer(Task.load(made), "yes").cost == 1
    assert [place["spent"] for place in ledger.overview()["places"]] == [2]


def test_what_waits_from_version_1_ends_too(tmp_path: Path, collector: Any) -> None:
    """Its task expires in the year 9999: eight attempts, seven days, and no more."""
    old_ledger(tmp_path / "ledger", document(**FRESH))
    collector.answers = [(500, {}, b"")] * 99
    now = [noon()]
    ledger = Ledger(tmp_path / "ledger", clock=lambda: now[0])
    for _ in range(40):
        ledger.flush(collector.url)
        now[0] += 6 * 3600
    assert len(collector.seen) == 8
    assert ledger.overview()["counts"]["expired"] == 1


def test_what_waits_from_version_1_is_sent_until_its_task_expires_and_for_seven_days_at_most(tmp_path: Path) -> None:
    """Reports of tasks that expire after a day, hardly seven days, seven, a little more, and a year."""
    path, days = tmp_path / "ledger", (1, 6.999, 7, 7.001, 365)
    old_ledger(path, document(**FRESH))
    db = sqlite3.connect(path)
    names = [name for _, name, *_ in db.execute("PRAGMA table_info(report)")]
    kept = ", ".join(name for name in names if name not in ("id", "window", "expires"))
    more = f"INSERT INTO report (id, window, expires, {kept}) SELECT ?, ?, ?, {kept} FROM report LIMIT 1"
    db.executemany(more, [(f"{i:032x}", i, noon() + 86_400 * day) for i, day in enumerate(days, start=1)])
    db.commit()
    Ledger(path, clock=noon).overview()
    found = db.execute("SELECT (until - ?) / 86400, until = void FROM report ORDER BY window", (noon(),)).fetchall()
    db.close()
    assert [(round(ends, 6), alike) for ends, alike in found] == [(ends, True) for ends in (7, 1, 6.999, 7, 7, 7)]


@pytest.mark.parametrize("attempts", [0, 7, 8, 50])
def test_what_waits_from_version_1_is_sent_however_often_it_was_tried(
    attempts: int, tmp_path: Path, collector: Any
) -> None:
    """That version counted no attempts against it: once more at least."""
    old_ledger(tmp_path / "ledger", document(**FRESH), attempts=attempts)
    assert Ledger(tmp_path / "ledger", clock=noon).flush(collector.url).sent == 1
    assert len(collector.seen) == 1


@pytest.mark.parametrize("change", ["DROP TABLE memo", "UPDATE spend SET amount = 'x'", "CREATE TABLE more (x)"])
def test_a_damaged_ledger_of_version_1_is_refused(change: str, tmp_path: Path) -> None:
    old_ledger(tmp_path / "ledger", document(**FRESH))
    db = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
    db.execute(change)
    db.close()
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(tmp_path / "ledger", clock=noon)


def test_a_ledger_of_version_1_is_opened_with_its_secret_only(tmp_path: Path) -> None:
    old_ledger(tmp_path / "ledger", document(**FRESH))
    with pytest.raises(LedgerError, match="was made with another secret, or without one"):
        Ledger(tmp_path / "ledger", clock=noon, secret=bytes(32))
    assert Ledger(tmp_path / "ledger", clock=noon).overview()["left"]["spent"] == 1


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (5, "is in use by another program"),
        (6, "is in use by another program"),
        (5 + (2 << 8), "is in use by another program"),
        (8, "must not be written"),
        (10, "could not be read or written by the disk"),
        (10 + (13 << 8), "could not be read or written by the disk"),
        (13, "cannot grow: the disk is full"),
        (14, "cannot be opened"),
        (26, "is not a ledger"),
        (1, "is damaged"),
        (11, "is damaged"),
        (None, "is damaged"),
    ],
)
def test_errors_of_the_file_are_told_in_words(
    code: int | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=noon)
    error = sqlite3.OperationalError("it failed")
    if code is not None:
        error.sqlite_errorcode = code

    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(sqlite3, "connect", fails)
    with pytest.raises(LedgerError) as refused:
        ledger.answer(TWO, "yes")
    assert refused.value.message == f"the ledger {tmp_path / 'ledger'} {told}; nothing was spent or sent."
    assert refused.value.hint
