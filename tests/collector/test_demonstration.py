"""The demonstration in pieces: whom it takes, what it compares, and a connection whose collector is busy."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.datasets.population import Population
from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.service import demo


def silent(*_: Any) -> None:
    """Says nothing."""


@pytest.mark.parametrize("people", [1000, 4001, None])
def test_those_who_are_taken_have_the_jobs_of_all_in_the_same_shares(
    people: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not the first ones of a sorted file: each job has its share of them, to less than one person."""
    asked: list[Population] = []

    def planned(found: Population, _: Any) -> Any:
        asked.append(found)
        raise KeyError("enough")

    monkeypatch.setattr(demo, "_plan", planned)
    with pytest.raises(KeyError):
        demo.demonstrate(tmp_path, people=people, tell=silent, progress=silent, keep=None)
    whole = dn.datasets.load("bank-job")
    (found,) = asked
    assert found.n == (people or whole.n)
    assert np.abs(found.counts - whole.counts * (found.n / whole.n)).max() <= 1
    assert found.labels == whole.labels


@pytest.mark.parametrize("people", [999, 45_212])
def test_as_many_people_are_asked_as_there_are_data_of(people: int, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="people must be from 1,000 to 45,211"):
        demo.demonstrate(tmp_path, people=people, tell=silent, progress=silent, keep=None)


def test_estimates_are_compared_with_the_truth() -> None:
    """Four jobs by hand: ends belong to an interval, and the worst error is the largest in either direction."""
    people = Population("four", ("a", "b", "c", "d"), np.array([50, 30, 15, 5]))
    columns = {
        "value": np.array([0.53, 0.30, 0.08, 0.06]),
        "stderr": np.array([0.01, 0.01, 0.01, 0.01]),
        "low": np.array([0.50, 0.20, 0.01, 0.051]),
        "high": np.array([0.60, 0.30, 0.149, 0.07]),
    }
    m = SimpleNamespace(effective=lambda n: {"mse": 0.0004 if n == 100 else 9.0})
    told: list[Any] = []
    shown = SimpleNamespace(columns=columns, labels=people.labels)
    found = demo._compare(m, people, shown, lambda *given: told.append(given))  # type: ignore[arg-type]
    mse = (0.03**2 + 0.07**2 + 0.01**2) / 4
    assert found == {
        "mse": pytest.approx(mse),
        "mse_predicted": 0.0004,
        "max_abs_error": pytest.approx(0.07),
        "covered": 2,
        "intervals": 4,
    }
    ((title, text, _),) = told
    assert title == "Estimate and compare"
    assert "95 % intervals" in text
    assert "2 of 4 intervals hold the truth" in text
    usual = f"{100 * mse**0.5:.2f}"
    assert f"the usual error is {usual} points (predicted: 2.00), the largest 7.00 points, at c." in text


def test_the_plan_says_whom_it_asks_and_what_a_blind_guess_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    people = Population("pets", ("cat", "dog", "newt", "owl"), np.array([500, 400, 300, 34]))
    m, told, asked = dn.mechanism("grr", epsilon=1.0, labels=people.labels), list[Any](), list[dict[str, Any]]()
    made = SimpleNamespace(best=SimpleNamespace(mechanism=m), designs=[SimpleNamespace(mechanism=m)], message="Why.")
    monkeypatch.setattr(demo, "plan", lambda **given: asked.append(given) or made)
    assert demo._plan(people, lambda *given: told.append(given)) is m
    assert asked == [{"labels": people.labels, "n": 1234, "epsilon": 1.0, "max_bytes": 2}]
    ((title, text, table),) = told
    assert title == "Plan"
    assert text == (
        "1,234 people are asked for their job, one of 4, under epsilon = 1, with reports of at most two bytes. Why. "
        "(A blind guess of someone's job is right 25.0 % of the time.)"
    )
    assert len(table.rows) == 1
    told.clear()
    document = demo._prove(m, lambda *given: told.append(given))
    assert document["holds"]
    assert "The promise is kept." in told[0][1]
    assert f"gives epsilon = {m.epsilon_exact!r}, promised is 1.0" in told[0][1]


# ---- a connection


class Socket:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def sendall(self, data: bytes) -> None:
        self.sent.append(data)


def answers(*each: tuple[int, dict[str, str], Any]) -> io.BytesIO:
    text = b""
    for status, headers, content in each:
        body = json.dumps(content).encode()
        lines = [f"HTTP/1.1 {status} x", *(f"{k}: {v}" for k, v in headers.items()), f"content-length: {len(body)}"]
        text += "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    return io.BytesIO(text)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(demo, "time", SimpleNamespace(sleep=found.append))
    return found


def line_of() -> Any:
    return demo._Line(demo.Running("http://127.0.0.1:4711", "f" * 64, "key"), None)  # type: ignore[arg-type]


def test_a_device_waits_as_long_as_a_busy_collector_says_and_sends_the_same_again(slept: list[float]) -> None:
    wire = Socket()
    came = answers(
        (503, {"Retry-After": "7"}, {}),
        (429, {"retry-after": "2"}, {}),
        (503, {}, {}),
        (200, {"date": "now"}, {"a": 1}),
    )
    assert line_of()._sent(wire, came, '{"x": 1}') == {"a": 1}
    assert slept == [7, 2, 1]
    assert len(wire.sent) == 4
    assert len(set(wire.sent)) == 1
    head = f"POST /v1/tasks/{'f' * 64}/reports HTTP/1.1\r\nhost: 127.0.0.1:4711\r\n"
    assert wire.sent[0] == (head + 'content-type: application/json\r\ncontent-length: 8\r\n\r\n{"x": 1}').encode()


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_device_that_is_refused_says_so(status: int, slept: list[float]) -> None:
    with pytest.raises(FormatError, match=r"the collector refused a report: .*why not"):
        line_of()._sent(Socket(), answers((status, {}, "why not")), "{}")
    assert slept == []


def test_a_collector_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not left behind."""
    ended: list[str] = []

    def start(command: list[str], *, stdout: int, stderr: Any, text: bool) -> Any:
        assert "--port" in command
        assert command[command.index("--database") + 1] == "sqlite:///x.db"
        stderr.write("x" * 3000 + "no such folder\n")
        stderr.flush()
        return SimpleNamespace(
            stdout=io.StringIO(""),
            terminate=lambda: ended.append("told"),
            communicate=lambda timeout: ended.append("gone"),
        )

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(DeniableError) as told, demo.serving("sqlite:///x.db"):
        pass
    text = str(told.value)
    assert text.startswith("the collector did not start: xxx")
    assert text.endswith("no such folder")
    assert len(text) < 2100
    assert ended == ["told", "gone"]


def test_a_collector_that_starts_tells_its_address_and_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    process = SimpleNamespace(
        stdout=io.StringIO('{"address": "http://127.0.0.1:9"}\n'),
        terminate=lambda: ended.append("told"),
        communicate=lambda timeout: ended.append("gone"),
    )
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)

    def used() -> None:
        with demo.serving("sqlite:///x.db") as address:
            assert (address, ended) == ("http://127.0.0.1:9", [])
            raise KeyError

    with pytest.raises(KeyError):
        used()
    assert ended == ["told", "gone"]


def test_a_page_that_is_kept_needs_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Styles and charts are inside; scripts are not, and links to elsewhere stay."""
    page = (
        '<link rel="stylesheet" href="/static/a.css"><img class="chart" alt="x" src="/tasks/1/chart.svg?a=1">'
        '<script type="module" src="/static/a.js"></script><a href="/tasks">all</a><img src="/other.svg">'
    )
    files = {
        "/tasks/f": ("text/html", page.encode()),
        "/static/a.css": ("text/css", b"a{}"),
        "/tasks/1/chart.svg?a=1": ("image/svg+xml", b"<svg/>"),
    }
    monkeypatch.setattr(demo, "_get", lambda running, path: files[path])
    assert demo._snapshot(demo.Running("http://x", "f", "key")).decode() == (
        '<link rel="stylesheet" href="data:text/css;base64,YXt9">'
        '<img class="chart" alt="x" src="data:image/svg+xml;base64,PHN2Zy8+">'
        '<a href="/tasks">all</a><img src="/other.svg">'
    )


def test_a_picture_is_taken_with_the_first_browser_that_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page, target, ran = tmp_path / "page.html", tmp_path / "page.png", list[list[str]]()
    monkeypatch.setattr(demo.shutil, "which", lambda name: None)
    assert not demo._photograph(page, target)
    here = {"google-chrome": "/usr/bin/g", "google-chrome-stable": "/usr/bin/s"}
    monkeypatch.setattr(demo.shutil, "which", here.get)

    def run(command: list[str], **_: Any) -> None:
        ran.append(command)
        if len(ran) == 2:
            raise subprocess.TimeoutExpired(command, 60)
        if len(ran) == 3:
            raise OSError
        if len(ran) == 4:
            target.write_bytes(b"picture")

    monkeypatch.setattr(subprocess, "run", run)
    assert [demo._photograph(page, target) for _ in range(4)] == [False, False, False, True]
    assert {command[0] for command in ran} == {"/usr/bin/g"}
    assert ran[0][-1] == page.resolve().as_uri()
    assert f"--screenshot={target}" in ran[0]


def test_the_task_that_is_left_open_asks_the_same_once_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a small batch, so that a single visitor sees what comes of it, and with others who answer it."""
    from deniable.service.store import open_store
    from deniable_client.task import Task

    m, values = dn.mechanism("grr", epsilon=1.0, labels=["a", "b"]), np.array([0, 1, 1])
    answered: list[Any] = []
    monkeypatch.setattr(demo, "_devices", lambda *given: answered.append(given))
    url, running = f"sqlite:///{tmp_path / 'c.db'}", demo.Running("http://x", "f" * 64, "key")
    found = demo._another(m, url, running, values, silent)
    store = open_store(url)
    (row,) = store.tasks()
    store.close()
    task = Task.load(row.document)
    assert (found.address, found.key, found.task) == ("http://x", "key", row.id)
    assert (row.state, task.min_batch, task.subject, task.questions[0].text) == (
        "open",
        10,
        "your job",
        "What is your job?",
    )
    ((given, sent, _),) = answered
    assert (given, sent.tolist()) == (found, [0, 1, 1])
