"""What the command reads and says, word for word; and what the client asks a server, byte for byte."""

from __future__ import annotations

import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from deniable_client import Ledger, LedgerError, ParameterError, Task
from deniable_client.command import ask_answer, ask_consent, ask_strata, main, read_consent, read_value
from deniable_client.ledger import http
from deniable_client.ledger.http import Reply, fetch, post
from deniable_client.questions import Question
from tasks import noon, signed, vectors

DAY = 86_400
GOOD = {row["about"]: row["task"] for row in vectors("tasks")["good"]}


def question(about: str) -> Question:
    """The question of a task of the vectors."""
    return Task.load(GOOD[f"2: {about}"]).questions[0]


# ---- what is read


@pytest.mark.parametrize(
    ("about", "text", "value"),
    [
        ("grr", "1", 1),
        ("grr", " 1 ", 1),
        ("grr", "1.0", "1.0"),
        ("grr", "yes", "yes"),
        ("grr", "", ""),
        ("labels", "a", "a"),
        ("labels", " a", " a"),
        ("labels of the task", "never", "never"),
        ("labels of the task", "0", "0"),
        ("a grid", "0.7", 0.7),
        ("a grid", "1", 1.0),
        ("a grid", "-3e2", -300.0),
        ("a grid", "x", "x"),
        ("codes", "0.2", 0.2),
        ("kv-ss2", "0=1,1=-0.5", [(0, 1.0), (1, -0.5)]),
        ("kv-ss2", " 0 = 1 , , 1= 0.25 ,", [(0, 1.0), (1, 0.25)]),
        ("kv-ss2", "a=b=0.5", [("a=b", 0.5)]),
        ("kv-ss2", "0=x", [(0, "x")]),
        ("kv-ss2", "", []),
        ("kv-ss2", "0.5", [("", 0.5)]),
        ("several", "a; c", ["a", "c"]),
        ("several", ";a;;b c ;-", ["a", "b c"]),
        ("several", "-", []),
        ("several", "  ", []),
        ("several, any number", "0;3", [0, 3]),
        ("several, any number", "1; x", [1, "x"]),
    ],
)
def test_what_is_typed_means_what_the_question_has(about: str, text: str, value: object) -> None:
    found = read_value(question(about), text)
    assert found == value
    assert repr(found) == repr(value), "whole numbers and others are told apart"


@pytest.mark.parametrize(
    ("about", "given", "agreed"),
    [
        ("grr", None, None),
        ("grr", [], None),
        ("urr", ["2", "3"], [2, 3]),
        ("urr", ["2:3"], ["2:3"]),
        ("labels", ["a", "b"], ["a", "b"]),
        ("a grid", ["0:0.5", "0.5:1"], [(0.0, 0.5), (0.5, 1.0)]),
        ("a grid", ["0.5", "x:1"], [(0.5, ""), ("x", 1.0)]),
    ],
)
def test_consent_is_read_as_answers_or_as_ends_of_numbers(about: str, given: Any, agreed: object) -> None:
    assert read_consent(question(about), given) == agreed


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Somebody types this, and then nothing any more."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.parametrize(
    ("about", "lines", "value", "refused"),
    [
        ("labels", ["0", "4", "x", "\u0662", "2"], "a", 4),
        ("labels", ["3"], "b", 0),
        ("labels", ["1"], None, 0),
        ("labels of the task", ["3"], "sometimes", 0),
        ("grr", ["2", "-1", "x", "1"], 1, 3),
        ("grr", [""], None, 0),
        ("a grid", ["1.5", "0.25"], 0.25, 1),
        ("a grid", ["  "], None, 0),
        ("kv-ss2", ["7=1", "0=9", "0=1"], [(0, 1.0)], 2),
        ("several", ["a;b;c", "e", "b;a"], ["b", "a"], 2),
        ("several", ["-"], [], 0),
        ("several, any number", ["4", "0;0", "3;0"], [3, 0], 2),
    ],
)
def test_an_answer_is_asked_for_until_it_is_one(
    about: str,
    lines: list[str],
    value: object,
    refused: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed(monkeypatch, *lines)
    assert ask_answer(question(about)) == value
    told = capsys.readouterr().out
    assert told.count("This question has no answer") + told.count("Please type a number from 1 to 3.") == refused
    with pytest.raises(EOFError):
        ask_answer(question(about))


def test_consent_and_strata_are_asked_for_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_ = question("urr")
    assert ask_consent(question("grr")) is None
    for says, agreed in (("y", (range(2, 4),)), (" YES ", (range(2, 4),)), ("n", None), ("", None), ("yeah", None)):
        typed(monkeypatch, says)
        assert ask_consent(open_) == agreed
        assert open_.explanation.disclosure in capsys.readouterr().out
    task = signed(strata=[{"name": name, "values": ["a", "b"]} for name in ("one", "two")])
    typed(monkeypatch, "3", "2")
    assert ask_strata(task, {}) == {"one": "b", "two": "a"}
    typed(monkeypatch, "1")
    assert ask_strata(task, {"one": "b"}) == {"one": "b", "two": "not told"}
    assert "two (sent openly), 1 to 3: " in capsys.readouterr().out


# ---- what is said


def test_the_status_says_all_that_a_ledger_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [noon("2020-01-01")]
    path = tmp_path / "ledger"

    def status() -> list[str]:
        assert main(["status", "--ledger", str(path)]) == 0
        return capsys.readouterr().out.splitlines()

    ledger = Ledger(path, clock=lambda: clock[0])
    empty = status()
    assert empty[:2] == ["Nothing was asked.", "Reports: 0 planned, 0 waiting, 0 sent, 0 refused, 0 expired."]
    assert len(empty) == 4
    assert empty[3] == "Spent in all: epsilon 0."
    week = {"opens": "2020-01-01", "days": 7, "count": 1}
    task = signed(window=week, epsilon=1.5)
    name = ledger.answer(task, "yes", url="https://a.example").id
    clock[0] += 7 * DAY
    ledger.flush()
    told = status()
    assert told[:6] == [
        "Asked:",
        f"  {task.id[:16]} Tired? (about sleep by Institute)",
        "Reports: 0 planned, 0 waiting, 0 sent, 0 refused, 1 expired.",
        f"  2020-01-01 {name} expired: its window was over before it could be sent",
        "Not counted, and spent all the same: 1 reports, which cost epsilon 1.5.",
        "Place of Institute: 0.5 of 2 left (spent 1.5, reserved 0), ended on 2020-12-31.",
    ]
    assert told[6].startswith("Places for other collectors: ")
    assert told[7:] == ["Spent in all: epsilon 1.5."]
    assert main(["forget", "--all", "--ledger", str(path)]) == 0
    assert capsys.readouterr().out == "Erased 2 entries. What was spent stays written down.\n"
    told = status()
    assert told[2].startswith("Place of a collector that was forgotten: 0.5 of 2 left (spent 1.5, reserved 0), ended")
    assert told[0] == "Nothing was asked."


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "TASK"], 0),
        (["show", "none"], 2),
        (["answer", "TASK"], 2),
        (["answer", "TASK", "--none", "--stratum", "x"], 2),
        (["answer", "TASK", "--none", "--agree", "no"], 1),
        (["forget", "--task", "0"], 2),
        (["allow", "--epsilon", "1"], 2),
        (["allow"], 0),
        (["verify", "TASK"], 0),
        (["send"], 0),
        (["send", "--url", "http://example.org"], 2),
    ],
)
def test_commands_end_with_0_with_1_if_something_was_refused_with_2_if_they_were_used_wrongly(
    arguments: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    window = {"opens": "2020-01-01", "days": 3660, "count": 1}
    path = tmp_path / "task.json"
    path.write_text(json.dumps(dict(signed(window=window).document)))
    given = [str(path) if each == "TASK" else each for each in arguments]
    assert main([*given, "--ledger", str(tmp_path / "ledger")]) == code
    out, err = capsys.readouterr()
    assert bool(out) == (code == 0)
    assert err.partition(": ")[0] == ("", "refused", "error")[code]


# ---- what is asked of a server


def asked_for(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> tuple[list[tuple[str, int]], socket.socket]:
    """A server that has given its answer already, and where it is looked for."""
    ours, theirs = socket.socketpair()
    reached: list[tuple[str, int]] = []

    def connect(host: str, port: int, url: str, deadline: float) -> socket.socket:
        reached.append((host, port))
        return ours

    monkeypatch.setattr(http, "_connect", connect)
    theirs.sendall(answer)
    return reached, theirs


FINE = b"HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nX-Own: a\r\n\r\nok"


@pytest.mark.parametrize(
    ("url", "body", "place", "first"),
    [
        ("http://localhost", None, ("localhost", 80), b"GET / HTTP/1.1"),
        ("http://127.0.0.1:81/a/b", None, ("127.0.0.1", 81), b"GET /a/b HTTP/1.1"),
        ("https://a.example", b"{}", ("a.example", 443), b"POST / HTTP/1.1"),
        ("https://a.example:80/x", b"{}", ("a.example", 80), b"POST /x HTTP/1.1"),
    ],
)
def test_requests_have_what_they_need_and_no_more(
    url: str, body: bytes | None, place: tuple[str, int], first: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, theirs = asked_for(monkeypatch, FINE)
    if body is None:
        assert fetch(url, 20, 10) == b"ok"
    else:
        told = {"content-length": "2", "x-own": "a"}
        assert post(url, body, 20) == Reply(200, told, b"ok")
    seen = theirs.recv(10_000)
    theirs.close()
    assert reached == [place]
    head, _, rest = seen.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    wanted = {
        b"Host: " + url.split("/")[2].encode(),
        b"Accept-Encoding: identity",
        b"User-Agent: deniable-client",
        b"Connection: close",
    }
    wanted |= set() if body is None else {b"Content-Length: 2", b"Content-Type: application/json"}
    assert (line, set(headers), len(headers)) == (first, wanted, len(wanted))
    assert rest == (body or b"")


@pytest.mark.parametrize("status", [201, 204, 206, 301, 302, 400, 403, 404, 410, 429, 500, 503])
def test_a_document_comes_with_status_200_or_not_at_all(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, theirs = asked_for(monkeypatch, FINE.replace(b"200 Fine", f"{status} So".encode()))
    with pytest.raises(LedgerError, match=f"https://a.example/x gave no task: status {status}"):
        fetch("https://a.example/x", 20, 10)
    theirs.close()


def test_what_is_no_answer_is_told_and_other_addresses_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    _, theirs = asked_for(monkeypatch, b"nonsense\r\n")
    with pytest.raises(LedgerError, match=r"gave no task: no answer \("):
        fetch("https://a.example/x", 20, 10)
    theirs.close()
    for wrong in ("http://a.example", "ftp://localhost", "a"):
        with pytest.raises(ParameterError, match="url must be an address"):
            fetch(wrong, 20, 10)
