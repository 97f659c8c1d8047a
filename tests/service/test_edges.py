"""What happens exactly at an edge: of a window, a share, a limit, a version; and one step to either side of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service import ingest
from deniable.service.access.identity import Identity
from deniable.service.alerts.notices import alerts_of
from deniable.service.export import write_reports
from deniable.service.groups import shared_names
from deniable.service.ingest import Intake, check_strata, intake_of
from deniable.service.limits.clocks import Watch
from deniable.service.metrics import Metrics
from deniable.service.release import OPEN, Window, windows
from deniable.service.settings import settings
from deniable.service.store import open_store
from deniable.service.store.contract import Incoming, Store, Upload
from deniable.service.store.schema import MIGRATIONS
from deniable.service.tasks import Asked, Terms, new_task, usual_none
from deniable_client.canonical import canonical
from deniable_client.task import Task
from service.calling import task_of
from service.making import DAY, body, fresh_id, make_task, opened, report, task_document

MIDNIGHT = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TERMS, OWN = Terms(opens=DAY), Identity(bytes(32))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = open_store(f"sqlite:///{tmp_path}/a.db")
    yield found
    found.close()


def seen(store: Store, task: Any, now: datetime) -> list[Window]:
    row = store.task(task.id)
    assert row is not None
    return windows(store, row, Intake(row.document), now)


def test_combinations_of_strata_are_multiplied() -> None:
    def values(n: int) -> list[str]:
        return [str(i) for i in range(n)]

    check_strata({"a": values(64), "b": values(64)})
    with pytest.raises(ParameterError, match="at most 4,096 combinations, got 4,160"):
        check_strata({"a": values(65), "b": values(64)})


def test_the_task_that_was_asked_for_last_stays_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_TASKS", 2)
    monkeypatch.setattr(ingest, "_proved", type(ingest._proved)())
    one, two, three = (canonical(task_document(subject=name)) for name in ("one", "two", "three"))
    found = {document: intake_of(document) for document in (one, two, three)}
    assert intake_of(three) is found[three]
    assert intake_of(two) is found[two]
    assert intake_of(one) is not found[one]


def test_seconds_of_uploads_add_up() -> None:
    metrics = Metrics({})
    metrics.uploaded(0.25)
    metrics.uploaded(0.5)
    assert "deniable_upload_seconds_sum 0.750000\n" in metrics.text()


def test_a_clock_that_went_back_by_more_than_a_day_is_not_believed(store: Store) -> None:
    now = MIDNIGHT + timedelta(40)
    assert Watch(store, 7, lambda: now, lambda: 0.0).look() == ""
    assert Watch(store, 7, lambda: now - timedelta(1), lambda: 0.0).look() == ""
    assert (
        "the last day on which a collector ran was" in Watch(store, 7, lambda: now - timedelta(9), lambda: 0.0).look()
    )


def test_a_window_is_over_five_minutes_after_its_last_day(store: Store) -> None:
    task = opened(store, count=2)
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(10)])])
    end = MIDNIGHT + timedelta(7)
    assert [w.state for w in seen(store, task, end + 4 * MINUTE)] == ["open", "open"]
    assert [w.state for w in seen(store, task, end + 5 * MINUTE)] == ["published", "open"]


def test_a_window_is_published_if_one_of_its_questions_is(store: Store) -> None:
    """And reports of questions that are shorter than the others are written without what fills them up."""
    short, long = dn.mechanism("grr", epsilon=1.0, k=8), dn.mechanism("olh", epsilon=1.0, k=8)
    task = opened(store, [short.design, long.design], count=1, keep="30")
    assert long.bulk.row_bytes > short.bulk.row_bytes
    few = long.privatize([0] * 9, rng=dn.simulation(1))
    sent = [Incoming(fresh_id(), body(task, 0, [], bytes([i % 8]))) for i in range(12)]
    sent += [Incoming(fresh_id(), body(task, 1, [], few.row(i))) for i in range(9)]
    (outcomes,) = store.add([Upload(task.id, DAY, sent)])
    assert {outcome.status for outcome in outcomes} == {"accepted"}
    (told,) = seen(store, task, MIDNIGHT + timedelta(9))
    assert told.document is not None
    assert [told.document["state"], *(part["state"] for part in told.document["questions"])] == [
        "published",
        "published",
        "withheld",
    ]
    row = store.task(task.id)
    assert row is not None

    class Sink:
        data = b""

        def write(self, data: bytes) -> int:
            self.data += data
            return len(data)

    sink = Sink()
    assert write_reports(store, Intake(row.document), [told], "q0", sink, None) == 12
    found = dn.load(sink.data)
    assert isinstance(found, dn.Reports)
    assert sorted(found.row(i) for i in range(12)) == sorted(bytes([i % 8]) for i in range(12))


@pytest.mark.parametrize(("rejected", "kinds"), [(10, []), (11, ["refused"])])
def test_refused_reports_are_told_of_if_more_than_one_in_a_hundred(rejected: int, kinds: list[str]) -> None:
    window = Window(0, OPEN, 990, None)
    found = alerts_of(make_task(), [window], "open", {"early": rejected}, MIDNIGHT + timedelta(1))
    assert [kind for kind, _ in found] == kinds


def test_a_window_that_is_over_does_not_end_soon() -> None:
    window, end = Window(0, OPEN, 1, None), MIDNIGHT + timedelta(7)
    for now, kinds in ((end - MINUTE, ["few"]), (end, [])):
        assert [kind for kind, _ in alerts_of(make_task(), [window], "open", {}, now)] == kinds


def test_groups_of_several_questions_have_enough_reports_of_each() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=2)

    def cells(*counts: int) -> dict[tuple[int, ...], dn.Tally]:
        return {(i,): m.simulate_tally([n, 0], dn.simulation(1)) for i, n in enumerate(counts)}

    assert shared_names([cells(20, 20), cells(20, 20)], 10, [2]) == [((0,),), ((1,),)]
    assert shared_names([cells(20, 20), cells(20, 3)], 10, [2]) == [((),)]


def test_ids_that_are_partly_lost_are_found_in_closed_tasks_too(store: Store, tmp_path: Path) -> None:
    task = opened(store, count=1)
    store.add([Upload(task.id, DAY, [report(i % 8) for i in range(12)])])
    store.set_state(task.id, "closed")
    assert list(store.check()) == []
    with sqlite3.connect(tmp_path / "a.db") as session:
        session.execute("DELETE FROM seen WHERE id = (SELECT min(id) FROM seen)")
    assert [fault for fault in store.check() if "11 ids are known and 12 reports are counted" in fault] != []


def test_a_database_of_the_next_version_is_not_touched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_store(url).close()
    with sqlite3.connect(tmp_path / "a.db") as session:
        session.execute("UPDATE meta SET value = ? WHERE name = 'version'", (len(MIGRATIONS) + 1,))
    with pytest.raises(FormatError, match="this program knows versions up to"):
        open_store(url)


def test_a_file_that_is_no_database_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 400)
    with pytest.raises(FormatError, match="damaged or not a database"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_webhook_that_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("webhooks = [5]\n")
    with pytest.raises(DeniableError, match=r"webhooks must be addresses .*got 5"):
        settings({}, file=str(tmp_path / "s.toml"), environment={})


@pytest.mark.parametrize(
    ("windows", "given", "budget"), [(1, None, 2), (2, None, 2), (3, None, 3), (1, 1.0, 1), (1, 5, 5)]
)
def test_a_collector_asks_for_what_devices_give_unless_its_task_costs_more(
    windows: int, given: float | None, budget: float
) -> None:
    """What it says first holds for the year: as little as one task costs would leave nothing for a second one."""
    assert task_of(windows=windows, budget=given)["budget"] == budget


@pytest.mark.parametrize("ends", [(0, 24), (10, 20), (-5, 5), (-3, -1), (30, 200), (0.25, 0.5), (-4e9, 8e9)])
def test_no_answer_counts_as_the_middle_of_an_interval(ends: tuple[float, float]) -> None:
    """Unless something else is said: as far from one end as from the other, and an answer that devices take."""
    design = dn.mechanism("sw", epsilon=1.0, interval=ends).design
    asked = (Asked(text="?", design=design), Asked(text="?", design=design, none=ends[0]))
    own, said = (new_task([one], TERMS, OWN) for one in asked)
    none = own["questions"][0][0]["none"]
    assert none - ends[0] == pytest.approx(ends[1] - none, rel=1e-12)
    assert said["questions"][0][0]["none"] == ends[0]
    assert [Task.load(document).questions[0].none for document in (own, said)] == [none, ends[0]]


@pytest.mark.parametrize(
    ("name", "options", "none"),
    [
        ("ss", {"labels": ["a", "b", "not said"], "missing": "not said"}, "not said"),
        ("ss", {"labels": ["a", "b", "not said"]}, None),
        ("several", {"labels": ["a", "b", "c"], "most": 2}, []),
        ("kv-ss2", {"k": 4, "length": 2}, []),
        ("kv-ss2", {"k": 4}, None),
        ("oue", {"k": 4}, None),
    ],
)
def test_what_no_answer_counts_as_follows_from_the_design(name: str, options: dict[str, Any], none: Any) -> None:
    """Of a random answer nothing is said."""
    assert usual_none(dn.mechanism(name, epsilon=1.0, **options).design) == none
