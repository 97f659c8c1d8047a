"""What leaves a device: one report at a time, the same bytes under the same id, again until it is counted or void."""

from __future__ import annotations

import base64
import json
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Ledger, ParameterError, Task
from deniable_client.ledger import Sent
from deniable_client.ledger.outbox import checked_url, retry_after, seconds_up_to
from tasks import loaded, noon


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = noon()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path / "ledger", clock=clock)


DAY = 86_400


def states(ledger: Ledger) -> list[tuple[str, str]]:
    """What became of each report, and why."""
    return [(report["state"], report["reason"]) for report in ledger.overview()["sent"]]


def test_a_report_is_sent_once(ledger: Ledger, collector: Any) -> None:
    task = loaded()
    got = ledger.answer(task, "yes")
    assert collector.seen == []
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)
    path, headers, body = collector.seen[0]
    assert path == f"/v1/tasks/{task.id}/reports"
    assert body == {"reports": [{"id": got.id, "report": base64.b64encode(got.body).decode()}]}
    told = {"accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert {name.lower() for name in headers} == told
    assert headers["User-Agent"] == "deniable-client"
    ledger.answer(task, "yes")
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 0)
    assert len(collector.seen) == 1
    assert states(ledger) == [("sent", "")]


def test_reports_travel_one_by_one_to_where_they_belong(ledger: Ledger, collector: Any) -> None:
    ledger.answer(loaded(), "yes", url=collector.url)
    ledger.answer(loaded(min_batch=11), "yes", url="https://127.0.0.1:1")
    ledger.answer(loaded(min_batch=12), "yes")
    assert ledger.flush() == Sent(1, 0, 0, 2)
    assert ledger.flush(collector.url, task=loaded(min_batch=13)) == Sent(0, 0, 0, 2)
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 1)
    assert [len(body["reports"]) for _, _, body in collector.seen] == [1, 1]


def test_a_report_waits_for_its_random_time(ledger: Ledger, collector: Any, clock: Clock) -> None:
    for i in range(8):
        ledger.answer(loaded(min_batch=11 + i), "yes")
    found = []
    for _ in range(60):
        found.append(ledger.flush(collector.url, due=True).sent)
        clock.now += 60
    ledger.flush(collector.url, due=True)
    assert len(collector.kept) == 8
    assert sum(count > 0 for count in found) > 1  # all eight in one minute: probability below 1e-11


def test_random_times_are_spread_over_the_delay() -> None:
    times = [seconds_up_to(100) for _ in range(400)]
    assert 0 <= min(times) < 10  # probability of no such time below 1e-18
    assert 90 < max(times) <= 100
    assert seconds_up_to(0) == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 415, 422])
def test_a_refusal_is_final_and_shown(status: int, ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(loaded(), "yes")
    collector.answers = [(status, {}, b"{}")]
    assert ledger.flush(collector.url) == Sent(0, 1, 0, 0)
    clock.now += DAY
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 0)
    assert states(ledger) == [("refused", f"the collector answered {status}")]
    assert ledger.overview()["lost"] == {"reports": 1, "epsilon": 1}


def row(ledger: Ledger, status: Any, **more: Any) -> bytes:
    """An answer about the report of a ledger."""
    return json.dumps({"results": [{"id": ledger.overview()["sent"][0]["id"], "status": status} | more]}).encode()


def test_a_rejected_report_is_not_sent_again(ledger: Ledger, collector: Any) -> None:
    ledger.answer(loaded(), "yes")
    collector.answers = [(200, {}, row(ledger, "rejected", reason="no such window"))]
    assert ledger.flush(collector.url) == Sent(0, 1, 0, 0)
    assert states(ledger) == [("refused", "no such window")]


@pytest.mark.parametrize("status", ["perhaps", "", None, 1, ["accepted"]])
def test_a_status_that_is_not_known_is_not_taken_for_sent(status: Any, ledger: Ledger, collector: Any) -> None:
    ledger.answer(loaded(), "yes")
    collector.answers = [(200, {}, row(ledger, status))]
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 1)
    assert states(ledger) == [("waiting", "the collector's answer was not understood")]


@pytest.mark.parametrize(
    "answer",
    [
        "drop",
        "slow",
        *[(status, {}, b"") for status in (301, 302, 307, 308, 408, 418, 425, 429, 500, 502, 503, 599)],
        *[
            (200, {}, body)
            for body in (b"", b"x", b"[]", b"{}", b'{"results":[]}', b'{"results":[{"id":1}]}', b"[" * 9999)
        ],
        (200, {}, b'{"results":7}'),
        (201, {}, b"{}"),
        (204, {}, b""),
    ],
)
def test_anything_else_is_tried_again_with_the_same_id(
    answer: Any, ledger: Ledger, collector: Any, clock: Clock
) -> None:
    got = ledger.answer(loaded(), "yes")
    collector.answers = [answer]
    assert ledger.flush(collector.url, timeout=0.2 if answer == "slow" else 60) == Sent(0, 0, 0, 1)
    assert collector.told.acquire(timeout=60)  # the request is with the collector, however slow that is
    clock.now += DAY
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)
    assert {body["reports"][0]["id"] for _, _, body in collector.seen} == {got.id}
    assert len({body["reports"][0]["report"] for _, _, body in collector.seen}) == 1
    assert collector.kept == {got.id: base64.b64encode(got.body).decode()}


def test_no_redirect_is_followed(ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(loaded(), "yes")
    collector.answers = [(status, {"Location": f"{collector.url}/elsewhere"}, b"") for status in (301, 302, 303, 307)]
    for seen in range(1, 5):
        ledger.flush(collector.url)
        assert len(collector.seen) == seen
        clock.now += DAY
    assert not [path for path, _, _ in collector.seen if "elsewhere" in path]
    assert collector.kept == {}


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(form: str, ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(loaded(), "yes")
    wait = "7200" if form == "seconds" else formatdate(clock.now + 7200, usegmt=True)
    collector.answers = [(429, {"Retry-After": wait}, b"")]
    ledger.flush(collector.url)
    clock.now += 7199
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 1)
    assert len(collector.seen) == 1
    clock.now += 62
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("0", 0),
        ("10", 10),
        ("9" * 400, DAY),
        ("-5", 0),
        ("1.5", 0),
        ("soon", 0),
        ("\u0661", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
        ("Mon, 99 Foo 2026 00:00:00 GMT", 0),
    ],
)
def test_retry_after_in_all_spellings(text: str, seconds: float) -> None:
    assert retry_after({"retry-after": text}, noon()) == seconds


def test_attempts_are_put_off_longer_and_longer(ledger: Ledger, clock: Clock) -> None:
    """Nobody answers: over a day of minutes there are attempts, and far fewer than minutes."""
    ledger.answer(loaded(), "yes")
    attempts = []
    for _ in range(200):
        ledger.flush("http://127.0.0.1:9", timeout=1)
        attempts.append(ledger.overview()["sent"][0]["attempts"])
        clock.now += 600
    assert 5 < attempts[-1] < 100
    assert attempts[-1] - attempts[99] < 60


def test_what_expires_is_given_up_and_shown(ledger: Ledger, collector: Any, clock: Clock) -> None:
    task = loaded(window={"opens": "2026-11-16", "days": 1, "count": 1}, expires="2026-11-17")
    ledger.answer(task, "yes")
    clock.now = noon("2026-11-17") - 43_200
    assert ledger.flush(collector.url) == Sent(0, 0, 1, 0)
    assert collector.seen == []
    assert ledger.overview()["lost"] == {"reports": 1, "epsilon": 1}
    assert ledger.overview()["left"]["lifetime"]["spent"] == 1


def test_the_delay_ends_before_the_task_does(tmp_path: Path, collector: Any, clock: Clock) -> None:
    task = loaded(window={"opens": "2026-11-16", "days": 1, "count": 1}, expires="2026-11-17")
    ledger = Ledger(tmp_path / "long", clock=clock, delay=7 * DAY)
    ledger.answer(task, "yes")
    clock.now = noon("2026-11-17") - 43_201
    assert ledger.flush(collector.url, due=True).sent in (0, 1)
    clock.now += 0.999
    assert ledger.flush(collector.url, due=True).waiting == 0


def test_what_was_forgotten_is_not_sent(ledger: Ledger, collector: Any) -> None:
    task: Task = loaded()
    ledger.answer(task, "yes")
    ledger.forget(task)
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 0)
    assert collector.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "ftp://localhost",
        "file:///etc/passwd",
        "https://",
        "https://user:word@example.org",
        "https://example.org?q=1",
        "https://example.org#a",
        "https://example.org:port",
        "https://exam\nple.org",
        "//example.org",
        "",
        None,
        7,
    ],
)
def test_reports_go_by_https_or_stay_on_this_machine(url: Any, ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="url must be"):
        checked_url(url)
    if url is not None:
        with pytest.raises(ParameterError, match="url must be"):
            ledger.flush(url)


@pytest.mark.parametrize(
    "url", ["https://example.org/", "http://localhost:8080/x/", "http://[::1]:1", "http://127.0.0.1"]
)
def test_good_addresses(url: str) -> None:
    assert checked_url(url) == url.rstrip("/")
