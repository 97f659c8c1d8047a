"""What leaves a device: one report at a time, the same bytes under the same id, again until it is counted or void."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client import Ledger, ParameterError, Task, WindowError
from deniable_client.addresses import checked_url
from deniable_client.ledger import Sent, http, outbox
from deniable_client.ledger.outbox import retry_after
from deniable_client.ledger.windows import seconds_up_to
from tasks import noon, signed


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
    return Ledger(tmp_path / "ledger", clock=clock, places=99)


def of(number: int, **changes: Any) -> Task:
    """A task of one of several collectors."""
    return signed(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32), **changes)


DAY = 86_400


def states(ledger: Ledger) -> list[tuple[str, str]]:
    """What became of each report, and why."""
    return [(report["state"], report["reason"]) for report in ledger.overview()["sent"]]


def test_a_report_is_sent_once(ledger: Ledger, collector: Any) -> None:
    task = signed()
    got = ledger.answer(task, "yes")
    assert collector.seen == []
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)
    path, headers, body = collector.seen[0]
    assert path == f"/v1/tasks/{task.id}/reports"
    assert body == {"reports": [{"id": got.id, "report": ledger.export()["reports"][0]["body"]}]}
    told = {"accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
    assert {name.lower() for name in headers} == told
    assert headers["User-Agent"] == "deniable-client"
    with pytest.raises(WindowError, match="sent its report of this window already"):
        ledger.answer(task, "yes")
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 0)
    assert len(collector.seen) == 1
    assert states(ledger) == [("sent", "")]


def test_an_answer_whose_report_was_tried_to_be_sent_stays_as_it_is(
    ledger: Ledger, collector: Any, clock: Clock
) -> None:
    """The collector may have it: another answer would be a second report of one person."""
    task = signed()
    ledger.answer(task, "no")
    got = ledger.answer(task, "yes")
    collector.answers = [(500, {}, b"")]
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 1)
    with pytest.raises(WindowError, match="sent its report of this window already, or tried to"):
        ledger.answer(task, "no")
    clock.now += 3600
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)
    (first, second) = [body["reports"] for _, _, body in collector.seen]
    assert first == second
    assert list(collector.kept) == [got.id]


def test_reports_travel_one_by_one_to_where_they_belong(ledger: Ledger, collector: Any) -> None:
    ledger.answer(of(1), "yes", url=collector.url)
    ledger.answer(of(2), "yes", url="https://127.0.0.1:1")
    ledger.answer(of(3), "yes")
    ledger.answer(of(4, url=f"{collector.url}/signed"), "yes")
    assert ledger.flush() == Sent(2, 0, 0, 2)
    assert ledger.flush(collector.url, task=of(5)) == Sent(0, 0, 0, 2)
    assert ledger.flush(f"{collector.url}/given") == Sent(1, 0, 0, 1)
    assert [len(body["reports"]) for _, _, body in collector.seen] == [1, 1, 1]
    where = {path.partition("/v1/")[0] for path, _, _ in collector.seen}
    assert where == {"", "/signed", "/given"}


def test_a_report_waits_for_its_random_time(ledger: Ledger, collector: Any, clock: Clock) -> None:
    for i in range(8):
        ledger.answer(of(i), "yes")
    found = []
    for _ in range(12):
        found.append(ledger.flush(collector.url, due=True).sent)
        clock.now += 360
    assert found[:2] == [0, 0]  # ten minutes
    ledger.flush(collector.url, due=True)
    assert len(collector.kept) == 8
    assert sum(count > 0 for count in found) > 1  # all eight in six minutes: probability below 1e-6


def test_random_times_are_spread_over_the_delay() -> None:
    times = [seconds_up_to(100) for _ in range(400)]
    assert 0 <= min(times) < 10  # probability of no such time below 1e-18
    assert 90 < max(times) <= 100
    assert seconds_up_to(0) == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 415, 422])
def test_a_refusal_is_final_and_shown(status: int, ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(signed(), "yes")
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
    ledger.answer(signed(), "yes")
    collector.answers = [(200, {}, row(ledger, "rejected", reason="no such window"))]
    assert ledger.flush(collector.url) == Sent(0, 1, 0, 0)
    assert states(ledger) == [("refused", "no such window")]


@pytest.mark.parametrize("status", ["perhaps", "", None, 1, ["accepted"]])
def test_a_status_that_is_not_known_is_not_taken_for_sent(status: Any, ledger: Ledger, collector: Any) -> None:
    ledger.answer(signed(), "yes")
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
    got = ledger.answer(signed(), "yes")
    collector.answers = [answer]
    assert ledger.flush(collector.url, timeout=0.2 if answer == "slow" else 60) == Sent(0, 0, 0, 1)
    assert collector.told.acquire(timeout=60)  # the request is with the collector, however slow that is
    clock.now += DAY
    assert ledger.flush(collector.url) == Sent(1, 0, 0, 0)
    assert {body["reports"][0]["id"] for _, _, body in collector.seen} == {got.id}
    assert len({body["reports"][0]["report"] for _, _, body in collector.seen}) == 1
    assert collector.kept == {got.id: ledger.export()["reports"][0]["body"]}


def test_no_redirect_is_followed(ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(signed(), "yes")
    collector.answers = [(status, {"Location": f"{collector.url}/elsewhere"}, b"") for status in (301, 302, 303, 307)]
    for seen in range(1, 5):
        ledger.flush(collector.url)
        assert len(collector.seen) == seen
        clock.now += DAY
    assert not [path for path, _, _ in collector.seen if "elsewhere" in path]
    assert collector.kept == {}


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(form: str, ledger: Ledger, collector: Any, clock: Clock) -> None:
    ledger.answer(signed(), "yes")
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
        *((f"Fri, 31 Dec 9999 23:59:59{zone}", 0) for zone in ("", " -0000", " -0000 GMT", " +0100", " CET")),
    ],
)
def test_retry_after_in_all_spellings(text: str, seconds: float) -> None:
    assert retry_after({"retry-after": text}, noon()) == seconds


def test_attempts_are_put_off_longer_and_longer_and_end(ledger: Ledger, clock: Clock) -> None:
    """Nobody answers: eight attempts, far fewer than minutes, then it is given up and shown."""
    task = signed(window={"opens": "2026-11-16", "days": 30, "count": 1})
    ledger.answer(task, "yes")
    minutes = 0
    while ledger.flush("http://127.0.0.1:9", timeout=1).waiting:
        clock.now += 600
        minutes += 10
        assert minutes < 7 * 24 * 60
    assert minutes >= 70  # one attempt in each call, eight of them
    seen = ledger.overview()["sent"][0]
    assert (seen["state"], seen["attempts"]) == ("expired", 8)
    assert seen["reason"] == "the collector did not confirm it in as many attempts as there are"
    clock.now += DAY
    assert ledger.flush("http://127.0.0.1:9", timeout=1) == Sent(0, 0, 0, 0)
    assert ledger.overview()["sent"][0]["attempts"] == 8


@pytest.mark.parametrize(("attempts", "days"), [(1, 1), (2, 1), (8, 1), (8, 7)])
def test_no_answer_becomes_a_beacon(attempts: int, days: int, ledger: Ledger, collector: Any, clock: Clock) -> None:
    """A collector that answers 500 for ever, asked four times a day, gets as many requests as the task says at most."""
    long = {"opens": "2026-11-16", "days": 3660, "count": 1}
    ledger.answer(signed(window=long, sending={"attempts": attempts, "days": days}), "yes")
    collector.answers = [(500, {}, b"")] * 99
    for _ in range(40):
        ledger.flush(collector.url)
        clock.now += 6 * 3600
    assert len(collector.seen) == min(attempts, 4 * days)
    assert {body["reports"][0]["id"] for _, _, body in collector.seen} == {ledger.overview()["sent"][0]["id"]}
    assert ledger.overview()["counts"]["expired"] == 1


def test_what_is_void_is_given_up_and_shown(ledger: Ledger, collector: Any, clock: Clock) -> None:
    task = signed(window={"opens": "2026-11-16", "days": 1, "count": 1})
    ledger.answer(task, "yes")
    collector.answers = [(500, {}, b"")]
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 1)
    clock.now = noon("2026-11-18") - 43_200
    assert ledger.flush(collector.url) == Sent(0, 0, 1, 0)
    assert len(collector.seen) == 1
    assert ledger.overview()["lost"] == {"reports": 1, "epsilon": 1}
    assert ledger.overview()["left"]["spent"] == 1


def test_what_was_not_tried_in_its_window_is_given_up(ledger: Ledger, collector: Any, clock: Clock) -> None:
    """It would be counted in another window."""
    ledger.answer(signed(window={"opens": "2026-11-16", "days": 1, "count": 2}), "yes")
    clock.now += DAY
    assert ledger.flush(collector.url).expired == 1
    assert collector.seen == []
    assert states(ledger)[0] == ("expired", "its window was over before it could be sent")


def test_nothing_is_put_off_after_it_was_sent(ledger: Ledger, collector: Any, tmp_path: Path) -> None:
    ledger.answer(signed(), "yes")
    ledger.flush(collector.url)
    db = sqlite3.connect(tmp_path / "ledger")
    assert db.execute("SELECT later, due FROM report").fetchall() == [(0, None)]
    db.close()


def test_what_was_forgotten_is_not_sent(ledger: Ledger, collector: Any) -> None:
    task: Task = signed()
    ledger.answer(task, "yes")
    ledger.forget(task)
    assert ledger.flush(collector.url) == Sent(0, 0, 0, 0)
    assert collector.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://127.0.0.1.example.org",
        "http://[::1].evil.example",
        "http://[::1]@evil.example",
        "http://localhost@evil.example",
        "HTTP://Example.org",
        "http://localhost.example.org",
        "ftp://localhost",
        "file:///etc/passwd",
        "https://",
        "https://user:word@example.org",
        "https://example.org?q=1",
        "https://example.org#a",
        "https://example.org:port",
        "https://example.org:0",
        "https://example.org:65536",
        f"https://{'a' * 64}.example",
        "https://example.org/".ljust(2001, "a"),
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
    "url",
    [
        "https://example.org/",
        "http://localhost:8080/x/",
        "http://[::1]:1",
        "http://127.0.0.1",
        "https://example.org:65535",
        f"https://{'a' * 63}.example",
        "https://example.org/".ljust(2000, "a"),
    ],
)
def test_good_addresses(url: str) -> None:
    assert checked_url(url) == url.rstrip("/")


@pytest.mark.parametrize("scheme", ["http", "HTTP", "Http"])
def test_this_machine_is_reached_without_a_proxy(
    scheme: str, ledger: Ledger, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    ledger.answer(signed(), "yes")
    assert ledger.flush(collector.url.replace("http", scheme, 1)) == Sent(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("environment", "reached"),
    [
        ({}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128"}, ("proxy.example", 3128)),
        ({"HTTPS_PROXY": "http://proxy.example:3128"}, ("proxy.example", 3128)),
        ({"https_proxy": "proxy.example:3128"}, ("proxy.example", 3128)),
        ({"https_proxy": "http://proxy.example"}, ("proxy.example", 80)),
        ({"http_proxy": "http://proxy.example:3128"}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": "a.here.example"}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": "b.example, .here.example"}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128", "NO_PROXY": "here.example"}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": "*"}, ("a.here.example", 443)),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": "b.here.example"}, ("proxy.example", 3128)),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": ""}, ("proxy.example", 3128)),
    ],
)
def test_the_proxy_of_the_environment_is_for_https_to_all_hosts_that_are_not_excepted(
    environment: dict[str, str], reached: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for written in (name, name.upper()):
            monkeypatch.delenv(written, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    asked: list[tuple[str, int]] = []

    def reach(host: str, port: int, deadline: float) -> socket.socket:
        asked.append((host, port))
        raise OSError("nobody is there")

    monkeypatch.setattr(http, "_reach", reach)
    assert http.post("https://a.here.example/x", b"{}", 20).trouble == "no answer ('nobody is there')"
    assert asked == [reached]


@pytest.mark.parametrize("timeout", [0, -1, "20", None, float("nan"), 3601, True])
def test_a_deadline_is_a_number_of_seconds(timeout: Any, ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="timeout must be a number of seconds"):
        ledger.flush(timeout=timeout)


def test_an_address_of_numbers_without_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host is named as it is written: [::1] is neither : nor port 1."""
    ours, theirs = socket.socketpair()
    reached: list[tuple[str, int]] = []

    def reach(host: str, port: int, deadline: float) -> socket.socket:
        reached.append((host, port))
        return ours

    monkeypatch.setattr(http, "_reach", reach)
    theirs.sendall(b"HTTP/1.1 204 Fine\r\n\r\n")
    assert http.post("http://[::1]/x", b"{}", 20).status == 204
    assert reached == [("::1", 80)]
    assert b"\r\nHost: [::1]\r\n" in theirs.recv(10_000)
    theirs.close()


@pytest.mark.parametrize(("status", "becomes"), [(200, "sent"), (404, "refused"), (500, "expired")])
def test_a_last_attempt_that_another_process_gives_up_meanwhile_is_what_the_collector_says(
    status: int, becomes: str, tmp_path: Path, clock: Clock, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that is counted is not told as lost, and one that is lost is not tried again."""
    one, two = (Ledger(tmp_path / "ledger", clock=clock, places=99) for _ in range(2))
    one.answer(signed(sending={"attempts": 1, "days": 7}), "yes", url=collector.url)
    collector.answers = [] if status == 200 else [(status, {}, b"")]
    usual, meanwhile = outbox.post, list[Sent]()

    def post(url: str, body: bytes, timeout: float) -> Any:
        meanwhile.append(two.flush())
        return usual(url, body, timeout)

    monkeypatch.setattr(outbox, "post", post)
    assert one.flush() == Sent(int(becomes == "sent"), int(becomes == "refused"), 0, 0)
    assert meanwhile == [Sent(0, 0, 1, 0)]
    assert [state for state, _ in states(one)] == [becomes]
    with sqlite3.connect(tmp_path / "ledger") as link:
        assert link.execute("SELECT due, later FROM report").fetchall() == [(None, 0)]
    assert one.flush() == Sent(0, 0, 0, 0)
    assert len(collector.seen) == 1


def test_a_report_that_one_process_sends_no_other_sends_meanwhile(
    tmp_path: Path, clock: Clock, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first waits for its answer, a second process finds nothing to send: it was put off before."""
    one, two = (Ledger(tmp_path / "ledger", clock=clock, places=99) for _ in range(2))
    one.answer(signed(), "yes", url=collector.url)
    meanwhile: list[Sent] = []
    usual = outbox.post

    def post(url: str, body: bytes, timeout: float) -> Any:
        if not meanwhile:
            meanwhile.append(Sent(0, 0, 0, 0))  # the second process asks the collector, if it asks it, as usual
            meanwhile[0] = two.flush()
        return usual(url, body, timeout)

    monkeypatch.setattr(outbox, "post", post)
    assert one.flush() == Sent(1, 0, 0, 0)
    assert meanwhile == [Sent(0, 0, 0, 1)]
    assert [len(body["reports"]) for _, _, body in collector.seen] == [1]


@pytest.mark.parametrize("zone", ["EAST-14", "WEST+11"])
def test_windows_begin_by_the_day_of_the_task_wherever_the_device_is(
    zone: str, tmp_path: Path, clock: Clock, collector: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows of a day: at half past eleven and half past midnight of UTC, fourteen hours east and eleven west."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        ledger = Ledger(tmp_path / "ledger", clock=clock, places=99, delay=0)
        task = signed(window={"opens": "2026-11-16", "days": 1, "count": 2})
        ledger.take(task)
        ledger.answer(task, "yes")
        for hours, windows in ((0, [0]), (11.5, [0]), (12.5, [0, 1])):  # after noon of the first day
            clock.now = noon() + hours * 3600
            ledger.flush(collector.url)
            planned = ledger.export()["reports"]
            assert sorted({report["window"] for report in planned}) == windows
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_each_attempt_is_put_off_twice_as_long_up_to_six_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest pauses that chance may choose."""
    monkeypatch.setattr(outbox, "seconds_up_to", lambda most: most)
    later: list[float] = []

    class Noted:
        def execute(self, sql: str, given: tuple[float, int, str]) -> None:
            later.append(given[0])

    db: Any = Noted()
    for attempts in range(12):
        outbox.Outbox._put_off(db, outbox._Entry("a", "b", b"", "", attempts), 0.0)
    assert later == [min(60 * 2**attempts, 6 * 3600) for attempts in range(12)]


def test_a_verdict_is_that_of_the_report_itself() -> None:
    rows = [{"id": "b", "status": "rejected", "reason": "late"}, {"id": "a", "status": "accepted"}]
    reply = http.Reply(200, {}, json.dumps({"results": rows}).encode())
    assert outbox.verdict(reply, "a") == ("sent", "")
    assert outbox.verdict(reply, "b") == ("refused", "late")
    assert outbox.verdict(reply, "c")[0] == "waiting"
