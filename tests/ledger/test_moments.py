"""Moments of a ledger to the second: when reports may be sent, are missed or given up, when places end and begin."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deniable_client import BudgetError, Ledger, ParameterError, Task, WindowError
from deniable_client.ledger import outbox, windows
from deniable_client.ledger.http import Reply
from tasks import noon, signed

DAY, QUARTER = 86_400, 7_889_400
START = noon() - DAY / 2
"""When the first window begins."""
HERE = "https://here.example"
LONG = {"opens": "2026-11-16", "days": 3660, "count": 1}


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No collector answers."""
    monkeypatch.setattr(outbox, "post", lambda url, body, timeout: Reply(500, {}, b""))


@pytest.fixture
def taking(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A collector that takes everything; the ids of the reports in the order in which they come."""
    seen: list[str] = []

    def post(url: str, body: bytes, timeout: float) -> Reply:
        (report,) = json.loads(body)["reports"]
        seen.append(report["id"])
        return Reply(200, {}, json.dumps({"results": [{"id": report["id"], "status": "accepted"}]}).encode())

    monkeypatch.setattr(outbox, "post", post)
    return seen


def chance(monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    """All random times are the shortest (0) or the longest (1) that there are."""
    for module in (windows, outbox):
        monkeypatch.setattr(module, "seconds_up_to", lambda most: share * most)


def column(path: Path, name: str) -> list[Any]:
    """What a file has of each report."""
    with sqlite3.connect(path) as link:
        found = [row[0] for row in link.execute(f"SELECT {name} FROM report ORDER BY number")]
    link.close()
    return found


def another(text: str, **changes: Any) -> Task:
    """A task of the same collector that asks something else."""
    return signed(questions=[[{"name": "q", "text": text, "none": "no"}]], **changes)


# ---- the moment of a window


@pytest.mark.parametrize(
    ("left", "first", "last"),
    [
        (DAY, 600, 4200),
        (4201, 600, 4200),
        (3600, 600, 3599),
        (601, 600, 600),
        (600, 0, 599),
        (300, 0, 299),
        (2, 0, 1),
        (1, 0, 0),
    ],
)
def test_the_first_moment_is_after_ten_minutes_within_the_delay_and_before_the_window_ends(
    left: int, first: int, last: int, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.now = START + 7 * DAY - left
    for share, moment in enumerate((first, last)):
        chance(monkeypatch, share)
        Ledger(tmp_path / f"{share}", clock=clock, delay=3600).take(signed())
        assert column(tmp_path / f"{share}", "due - until") == [moment - left]


@pytest.mark.parametrize("days", [1, 2, 7])
def test_later_moments_are_from_the_middle_of_a_window_to_its_last_second_but_one(
    days: int, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = signed(window={"opens": "2026-11-16", "days": days, "count": 3})
    for share, moment in enumerate((days * DAY / 2, days * DAY - 1)):
        path = tmp_path / f"{share}"
        clock.now = START
        chance(monkeypatch, share)
        ledger = Ledger(path, clock=clock, collector=9, delay=0)
        ledger.take(task)
        clock.now = START + 2 * days * DAY
        ledger.flush(due=True)
        assert column(path, "due")[-1] == clock.now + moment
        assert column(path, "until")[-1] == clock.now + days * DAY


def test_windows_are_opened_in_the_second_of_their_moment_and_the_last_one_too(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, taking: list[str]
) -> None:
    chance(monkeypatch, 0)
    task = signed(window={"opens": "2026-11-16", "days": 1, "count": 3})
    ledger = Ledger(tmp_path / "ledger", clock=clock, collector=9, delay=0)
    ledger.take(task, url=HERE)
    found = []
    for window in range(4):
        for second in (DAY // 2 - 1, DAY // 2):
            clock.now = START + window * DAY + second
            ledger.flush(due=True)
            found.append(len(taking))
    assert found == [1, 1, 1, 2, 2, 3, 3, 3]
    assert ledger.overview()["left"]["spent"] == 3


@pytest.mark.parametrize(("delay", "late"), [(0, 600), (60, 600), (600, 600), (3600, 3600), (7200, 7200)])
def test_a_moment_is_missed_after_the_delay_and_ten_minutes_at_least_and_then_drawn_again_once(
    delay: int, late: int, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, taking: list[str]
) -> None:
    chance(monkeypatch, 0)
    for more in (0, 1):
        clock.now = START
        path = tmp_path / f"{more}"
        ledger = Ledger(path, clock=clock, delay=delay)
        name = ledger.take(signed(), url=HERE).id
        (due,) = column(path, "due")
        assert due == START + 600
        clock.now = due + late + more
        chance(monkeypatch, 1)
        ledger.flush(due=True)
        chance(monkeypatch, 0)
        if not more or not delay:
            assert name in taking
            continue
        assert name not in taking
        assert column(path, "due") == [clock.now + delay]
        clock.now += delay + late + 1
        ledger.flush(due=True)
        assert name in taking, "it moves once"


def test_a_moment_that_is_drawn_again_is_before_the_window_ends(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance(monkeypatch, 0)
    for left, moment in ((7200, 3600), (3601, 3600), (3600, 3599), (2, 1), (1, 0)):
        path = tmp_path / f"{left}"
        clock.now = START
        ledger = Ledger(path, clock=clock)
        ledger.take(signed(), url=HERE)
        clock.now = START + 7 * DAY - left
        chance(monkeypatch, 1)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(outbox, "post", lambda url, body, timeout: Reply(500, {}, b""))
            ledger.flush(due=True)
        chance(monkeypatch, 0)
        assert column(path, "due") == [clock.now + moment]


def test_what_was_tried_keeps_its_moment(tmp_path: Path, clock: Clock, failing: None) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    ledger.take(signed(), url=HERE)
    ledger.flush()
    before = column(tmp_path / "ledger", "due")
    clock.now += 2 * DAY
    ledger.flush(due=True)
    assert column(tmp_path / "ledger", "due") == before


# ---- given up


@pytest.mark.parametrize(
    ("tried", "sending", "ends", "why"),
    [
        (None, 7, 7 * DAY, "its window was over before it could be sent"),
        (0, 7, 7 * DAY, "the collector did not confirm it in as many days as there are"),
        (3600, 1, DAY + 3600, "the collector did not confirm it in as many days as there are"),
        (3600, 7, 7 * DAY + 3600, "the collector did not confirm it in as many days as there are"),
        (2 * DAY, 7, 8 * DAY, "the task was void before the collector confirmed it"),
    ],
)
def test_a_report_is_given_up_in_the_very_second_and_why_is_told(
    tried: int | None, sending: int, ends: int, why: str, tmp_path: Path, clock: Clock, failing: None
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, delay=0)
    ledger.take(signed(sending={"attempts": 8, "days": sending}), url=HERE)
    if tried is not None:
        clock.now = START + tried
        assert ledger.flush().waiting == 1
    clock.now = START + ends - 1
    nobody = signed(min_batch=99)
    assert ledger.flush(task=nobody).waiting == 1
    clock.now += 1
    told = ledger.flush(task=nobody)
    assert (told.expired, told.waiting) == (1, 0)
    (seen,) = ledger.overview()["sent"]
    assert (seen["state"], seen["reason"]) == ("expired", why)
    assert ledger.overview()["lost"] == {"reports": 1, "epsilon": 1}
    assert ledger.overview()["counts"] == {"planned": 0, "waiting": 0, "sent": 0, "refused": 0, "expired": 1}


def test_reports_of_one_collector_go_in_the_order_of_their_moments(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, taking: list[str]
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, collector=99)
    moments = (5, 2, 9, 1, 7)
    for i, moment in enumerate(moments):
        monkeypatch.setattr(windows, "seconds_up_to", lambda most, moment=moment: moment)
        ledger.take(another(f"{i}?"), url=HERE)
    names = [seen["id"] for seen in ledger.overview()["sent"]]
    ledger.flush()
    assert taking == [names[moments.index(moment)] for moment in sorted(moments)]


# ---- places


def test_a_place_lasts_a_year_to_the_second(tmp_path: Path, clock: Clock) -> None:
    clock.now = noon()
    ledger = Ledger(tmp_path / "ledger", clock=clock)
    for text in ("a", "b"):
        ledger.take(another(text, window=LONG), url=HERE)
    for later, over in ((0, False), (QUARTER, False), (4 * QUARTER - 1, False), (4 * QUARTER, True)):
        clock.now = noon() + later
        (place,) = ledger.overview()["places"]
        assert (place["over"], place["ends"], place["spent"]) == (over, "2027-11-16", 2)
        if not over:
            with pytest.raises(BudgetError, match="of the 2 for this collector in a year 2 is spent or reserved"):
                ledger.take(another("c", window=LONG), url=HERE)
    ledger.take(another("c", window=LONG), url=HERE)
    assert [(place["over"], place["spent"]) for place in ledger.overview()["places"]] == [(True, 2), (False, 1)]


def test_places_and_the_day_of_the_next_one_change_with_each_quarter_to_the_second(
    tmp_path: Path, clock: Clock
) -> None:
    clock.now = noon()
    ledger = Ledger(tmp_path / "ledger", clock=clock, places=1)
    for later, more in ((-DAY, 0), (0, 0), (QUARTER - 1, 0), (QUARTER, 1), (2 * QUARTER - 1, 1), (9 * QUARTER, 9)):
        clock.now = noon() + later
        told = ledger.overview()["left"]
        next_ = datetime.fromtimestamp(noon() + (more + 1) * QUARTER, UTC).date().isoformat()
        assert told == {"places": 1 + more, "next": next_, "spent": 0}
    ledger.allow(places=3)
    ledger.allow(places=2)
    assert ledger.overview()["left"]["places"] == 1 + 9 + 5


@pytest.mark.parametrize(
    ("signed_to", "allowed_at", "taken_at", "fits"),
    [
        (None, None, None, True),
        (None, HERE, HERE, True),
        (None, f"{HERE.upper()}/", HERE, True),
        (None, HERE, "https://other.example", False),
        (None, None, HERE, False),
        (HERE, None, None, True),
        (HERE, HERE, HERE, True),
    ],
)
def test_what_is_allowed_is_for_the_place_that_a_task_is_answered_in(
    signed_to: str | None, allowed_at: str | None, taken_at: str | None, fits: bool, tmp_path: Path, clock: Clock
) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, collector=1)
    task = signed(epsilon=2, url=signed_to)
    ledger.allow(task=task, epsilon=0.5, url=allowed_at)
    with pytest.raises(BudgetError, match=r"of the 1\.?5? for this collector"):
        ledger.take(task, url=taken_at)
    ledger.allow(task=task, epsilon=0.5, url=allowed_at)
    if not fits:
        with pytest.raises(BudgetError, match="of the 1 for this collector"):
            ledger.take(task, url=taken_at)
        return
    assert ledger.take(task, url=taken_at).cost == 2
    ledger.allow(task=task, epsilon=1)  # from now on the ledger knows where it is answered
    ledger.take(another("b"), url=taken_at)
    assert ledger.overview()["places"][0]["most"] == 3


def test_what_can_be_allowed_has_ends(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.allow(places=1000)
    ledger.allow(task=signed(), epsilon=1000)
    for wrong in ({"places": 1001}, {"places": True}, {"places": 1.0}, {"places": -1}):
        with pytest.raises(ParameterError, match="places must be a whole number from 0 to 1000"):
            ledger.allow(**wrong)  # type: ignore[arg-type]
    for epsilon in (1000.5, -0.5, True, float("nan"), "1"):
        with pytest.raises(ParameterError, match="epsilon must be a number from 0 to 1000"):
            ledger.allow(task=signed(), epsilon=epsilon)  # type: ignore[arg-type]
    for apart in ({"task": signed()}, {"epsilon": 1}, {"places": 1, "epsilon": 1}):
        with pytest.raises(ParameterError, match="allow needs a task and an epsilon above 0 together"):
            ledger.allow(**apart)  # type: ignore[arg-type]
    assert ledger.overview()["left"]["places"] == 1002


def test_the_same_question_waits_until_the_last_day_of_the_other_task_is_over(tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(tmp_path / "ledger", clock=clock, collector=99)
    ledger.take(signed(window={"opens": "2026-11-16", "days": 2, "count": 3}), url=HERE)
    other = signed(window=LONG)
    for days in range(6):
        clock.now = START + days * DAY + DAY - 1
        with pytest.raises(WindowError, match="the same collector asks the same question in another task"):
            ledger.take(other, url=HERE)
    clock.now += 1
    assert ledger.take(other, url=HERE).new


def test_a_new_ledger_that_may_follow_another_waits_out_windows_to_the_second(tmp_path: Path, clock: Clock) -> None:
    for made, first in ((START - 1, 1), (START, 1), (START + 1, 2), (START + DAY, 2)):
        path = tmp_path / f"{made}"
        clock.now = made
        ledger = Ledger(path, clock=clock, pause=True, collector=99)
        clock.now = START + first * DAY - 1
        task = signed(window={"opens": "2026-11-15", "days": 1, "count": 9})
        with pytest.raises(WindowError, match="this ledger is too new"):
            ledger.take(task, url=HERE)
        clock.now += 1
        assert ledger.take(task, url=HERE).window == first + 1


# ---- another level, other strata


def test_a_level_that_is_chosen_again_holds_for_all_later_windows(tmp_path: Path, clock: Clock) -> None:
    levels = {"opens": "2026-11-16", "days": 1, "count": 4}
    task = signed(window=levels, strata=[{"name": "land", "values": ["DE", "FR"]}])
    path = tmp_path / "ledger"
    ledger = Ledger(path, clock=clock, collector=99)
    heads = []
    given: tuple[Mapping[str, str] | None, ...] = ({"land": "DE"}, None, {"land": "FR"}, None)
    for strata in given:
        ledger.answer(task, "yes", strata=strata, url=None)
        heads.append(column(path, "body")[-1][0])
        clock.now += DAY
    assert heads == [1, 1, 2, 2]
