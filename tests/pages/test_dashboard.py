"""The pages of analysts, without a browser: every kind of task, every number on them, and names that try to be more."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import sqlite3
from base64 import b64encode
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.errors import MissingExtraError
from deniable.estimate.change import equality
from deniable.service.access.identity import Identity
from deniable.service.ingest import NEVER, REASONS
from deniable.service.pages import charts, dashboard
from deniable.service.pages.charts import picture
from deniable.service.pages.looking import _compared, alarm, compared, needed, told
from deniable.service.pages.render import POLICY
from deniable.service.questionnaire.document import dumped, read
from deniable.service.questionnaire.opening import questionnaire_of, task_of
from deniable.service.release import PUBLISHED, windows
from deniable.service.results.flat import COLUMNS, flat
from deniable.service.results.reading import tally_in
from deniable.service.results.view import views
from deniable.service.texts.catalogue import area, texts
from deniable_client import Ledger
from deniable_client.task import Task
from pages.asks import EVIL, TODAY, Paged, fill, mechanisms, signed_in, task
from pages.conftest import Shown
from service.calling import item
from tiers import every

ENGLISH = texts("desk", "en")
FORM = {"content-type": "application/x-www-form-urlencoded"}

SHAPES = ("svg", "g", "path", "text", "line", "rect", "defs", "clipPath", "circle")
"""What a picture consists of."""


class Parsed(HTMLParser):
    """What a browser makes of a page: its elements and their text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page(shown: Shown, path: str) -> str:
    reply = shown.service.get(path, shown.headers)
    assert reply.status == 200, reply.body[:500]
    assert reply.headers["content-security-policy"] == POLICY
    return reply.body.decode()


def only_text(text: str) -> Parsed:
    """No element that we did not write: no handler, no script but ours, no picture but ours."""
    found = Parsed(text)
    for tag, attributes in found.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes), attributes
        assert tag not in ("iframe", "object", "embed", "style", "b", "i") or "id" in attributes or not attributes
        for name in ("src", "href"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "data:,")), attributes
    return found


@pytest.mark.parametrize("kind", ["evil", *every(4, mechanisms())])
def test_every_kind_of_task_has_its_page(shown: Shown, kind: str) -> None:
    """With all numbers of all windows, whatever error is wanted."""
    base = f"/tasks/{shown.ids[kind]}"
    for query in ("", "?error=1", "?error=0", "?error=-1", "?error=nan", "?error=1e-300", "?error=inf", "?error=x"):
        found = only_text(page(shown, base + query))
    assert "reports counted" in found.text
    assert found.text.count("published") >= 2
    assert "x" in found.text
    only_text(page(shown, f"{base}/certificate"))


def test_names_are_text_on_every_page(shown: Shown) -> None:
    """Everything that a task may say, as it was written; nothing of it is an element or ends its line's direction."""
    id = shown.ids["evil"]
    texts = [page(shown, path) for path in (f"/tasks/{id}", f"/tasks/{id}/certificate", "/", f"/t/{id}")]
    for text in texts:
        found = only_text(text)
        assert EVIL[0] in found.text
        scripts = [
            attributes.get("src") or ""
            for tag, attributes in found.tags
            if tag == "script" and attributes.get("type") != "application/json"  # texts for scripts
        ]
        assert all(source.startswith("/static/") for source in scripts)
    for label in EVIL:
        assert label in only_text(texts[0]).text
        assert label in only_text(texts[3]).text
    assert "49" not in only_text(texts[3]).text.replace("{{ 7 * 7 }}", "")[:400]
    bare = re.sub(r"<bdi[^>]*>[^<]*</bdi>|<option[^>]*>[^<]*|<title>[^<]*", "", texts[0])
    assert "\u202e" not in bare, "a right-to-left mark stands outside of what isolates it"


def test_pictures_have_names_as_text(shown: Shown) -> None:
    reply = shown.service.get(f"/tasks/{shown.ids['evil']}/0/q0.svg", shown.headers)
    assert (reply.status, reply.headers["content-type"]) == (200, "image/svg+xml")
    assert reply.headers["content-security-policy"] == "default-src 'none'; sandbox"
    text = reply.body.decode()
    assert "<svg" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text or "&lt;script" in text
    for element in ElementTree.fromstring(text).iter():
        assert element.tag.rpartition("}")[2] in (
            "svg",
            "g",
            "path",
            "text",
            "tspan",
            "line",
            "rect",
            "defs",
            "clipPath",
            "circle",
        )
        assert not any(name.startswith("on") or name.endswith("href") for name in element.attrib)


def test_tables_have_names_as_text(shown: Shown) -> None:
    """A spreadsheet must not take a label for a formula; whoever reads the table gets all of it."""
    base = f"/tasks/{shown.ids['evil']}/export."
    rows = list(csv.DictReader(io.StringIO(shown.service.get(base + "csv", shown.headers).body.decode())))
    assert len(rows) == 2 * len(EVIL)
    assert not any(row["answer"].startswith(("=", "+", "-", "@")) for row in rows)
    assert any(row["answer"].endswith("=HYPERLINK(1)") for row in rows)
    assert {row["answer"] for row in rows} >= {EVIL[0], EVIL[-1]}
    reply = shown.service.get(base + "json", shown.headers)
    assert reply.headers["content-disposition"].startswith("attachment")
    assert {row["answer"] for row in reply.json} == set(EVIL)
    import pyarrow.parquet as pq

    parquet = shown.service.get(base + "parquet", shown.headers).body
    assert pq.read_table(io.BytesIO(parquet)).to_pylist() == reply.json


@pytest.mark.parametrize("kind", mechanisms())
def test_exports_have_every_answer_once(shown: Shown, kind: str) -> None:
    """For each window, question and group; numbers and nothing else beside the names."""
    rows = shown.service.get(f"/tasks/{shown.ids[kind]}/export.json", shown.headers).json
    keys = [(row["window"], row["question"], row["group"], row["answer"]) for row in rows]
    assert len(set(keys)) == len(keys) > 0
    names = {"window", "from", "to", "question", "text", "group", "answer", "target", "reports", "simulated"}
    assert list(rows[0]) == [name for name in COLUMNS if name in rows[0]]
    assert set(COLUMNS) - set(rows[0]) <= {"mean", "mean_low", "mean_high", "too_rare"}
    numbers = {name: cell for row in rows for name, cell in row.items() if name not in names}
    assert {"value", "stderr", "low", "high"} <= set(numbers)
    assert all(isinstance(cell, float | int | None) for cell in numbers.values()), numbers


def test_nothing_published_is_said(shown: Shown) -> None:
    service = Paged()
    id = service.add(task(mechanisms()["choice"]))
    headers = signed_in(service)
    assert b"published when the window is over" in service.get(f"/tasks/{id}", headers).body
    reply = service.get(f"/tasks/{id}/export.csv", headers)
    assert (reply.status, b"Nothing is published yet" in reply.body) == (409, True)
    assert service.get(f"/tasks/{id}/0/q0.svg", headers).status == 404
    assert service.get(f"/tasks/{'0' * 64}", headers).status == 404


# ---- numbers


def _windows(shown: Shown, kind: str) -> tuple[Task, Any]:
    row = shown.service.store.task(shown.ids[kind])
    assert row is not None
    known = asyncio.run(shown.service.collector.task(row.id))
    assert known is not None
    return known.intake.task, windows(shown.service.store, row, known.intake, shown.service.now)


def test_p_values_are_corrected_for_answers_and_pairs(shown: Shown) -> None:
    """Holm for the answers of a pair, times the number of pairs: never below the plain p-value times both."""
    known, found = _windows(shown, "choice")
    pairs = compared(known.questions[0], found, ENGLISH)
    assert [(pair.first, pair.second) for pair in pairs] == [("window 2", "window 1")]
    parts = [window.document["questions"][0] for window in found if window.state == PUBLISHED]
    m = mechanisms()["choice"][0]
    plain = m.estimate(tally_in(parts[1])).compare(m.estimate(tally_in(parts[0])))
    assert {row[0]: row[3] for row in pairs[0].rows} == {
        label: f"{p:.3g}" for label, p in zip(plain.labels, plain.pvalue_adjusted, strict=True)
    }
    known, found = _windows(shown, "survey")
    view = views(known, found, "population", "en")[0]
    parts = [window.document["questions"][0] for window in found if window.state == PUBLISHED]
    groups = [mechanisms()["survey"][0].estimate(tally_in(group)) for group in parts[-1]["groups"]]
    (pair,) = view.pairs
    assert pair[2] == groups[0].compare(groups[1])
    assert pair[3] == 1.0
    assert view.equal == equality(groups)


@pytest.mark.stat
def test_no_difference_is_rarely_called_clear() -> None:
    """Groups that are alike, 300 pages: false alarms in at most 5 %; P(more than 30) < 1e-3 if all is right. Seeded.

    With a difference of half of the people every page calls it clear.
    """
    m = dn.mechanism("grr", epsilon=2.0, labels=["a", "b", "c"])
    false, true = 0, 0
    for seed in range(300):
        rng = dn.simulation(seed)
        one, two, other = (
            m.estimate(m.tally(m.privatize_items((np.arange(400) + i) % size, rng)))
            for i, size in ((0, 3), (1, 3), (0, 1))
        )
        false += _compared("a", "b", one, two, 3, ENGLISH).clear > 0
        true += _compared("a", "b", one, other, 3, ENGLISH).clear > 0
    assert false <= 30
    assert true == 300


def test_people_needed_give_the_wanted_error() -> None:
    """The error that was asked for, simulated: the spread of 400 estimates from as many reports. Seeded."""
    m = dn.mechanism("ss", epsilon=1.0, labels=["a", "b", "c", "d"])
    first = m.estimate(m.tally(m.privatize_items(np.arange(1000) % 4, dn.simulation(1))))
    part = {"estimate": {"n": 1000, "stderr": first.to_columns()["stderr"]}}
    n = needed(part, 2.0)
    spread = np.std(
        [m.estimate(m.tally(m.privatize_items(np.arange(n) % 4, dn.simulation(seed)))).value for seed in range(400)]
    )
    assert spread == pytest.approx(0.02, rel=0.08)
    assert needed(part, 1.0) == pytest.approx(4 * n, rel=1e-3)
    mean = {"estimate": {"n": 1000, "stderr": [7.9], "part": "mean"}}
    assert needed(mean, 7.9) == 1000
    uneven = {"estimate": {"n": 1000, "stderr": [0.01, 0.04, 0.02]}}
    assert needed(uneven, 4.0) == 1000, "for every answer, so for the one that is known least"
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e-300):
        assert needed(part, wrong) is None


def test_tables_unfold_and_say_what_is_too_rare() -> None:
    labels = [str(i) for i in range(60)]
    estimate = {"labels": labels, "value": [0.1] * 60, "stderr": [0.2] * 60, "low": [None] * 60, "high": [0.5] * 60}
    part = {"question": "q", "text": "?", "reports": 9, "state": PUBLISHED, "estimate": estimate}
    found = told(part, ENGLISH, 5)
    assert (len(found.rows), len(found.rest)) == (50, 10)
    assert found.head == ("answer", "share", "standard error of the share", "share from", "share to")
    assert found.rows[0][3] == "too rare to say"
    assert told({**part, "state": "withheld", "why": "elsewhere"}, ENGLISH, 5).why == "elsewhere"
    few = told({**part, "state": "withheld", "why": "few"}, ENGLISH, 10)
    assert (few.why, few.english) == ("9 reports are fewer than the minimum batch of 10", False)


def test_rows_of_a_mean_have_no_list_in_them(shown: Shown) -> None:
    known, found = _windows(shown, "number")
    (first, _) = flat(known, found)
    assert first["answer"] == "mean"
    assert "steps" not in first
    assert "interval" not in first


def test_a_picture_is_drawn_once(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/tasks/{shown.ids['choice']}/0/q0.svg"
    first = shown.service.get(path, shown.headers)
    monkeypatch.setattr(charts.RENDERER, "draw", lambda *_: b"drawn again")
    assert shown.service.get(path, shown.headers).body == first.body


def test_what_draws_is_loaded_when_an_analyst_comes(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, in the background, by the list of tasks; where charts are not installed nothing happens."""
    drawn: list[str] = []

    def draw(_: Any, kind: str) -> bytes:
        drawn.append(kind)
        raise MissingExtraError("altair", "charts")

    monkeypatch.setattr(charts, "drawn", draw)
    charts.get_ready.cache_clear()
    for _ in range(2):
        page(shown, "/")
    charts.get_ready().join()
    charts.get_ready.cache_clear()
    assert drawn == ["svg"]


def test_a_chart_of_many_answers_shows_the_largest() -> None:
    m = dn.mechanism("grr", epsilon=4.0, labels=[f"answer-{i}" for i in range(charts.MOST + 30)])
    data = dump(m.tally(m.privatize_items(np.arange(4000) % (charts.MOST + 30), dn.simulation(1))))
    text = asyncio.run(picture(data, None, "Many", "svg")).decode()
    assert f"the {charts.MOST} largest of {charts.MOST + 30}" in text
    assert len(set(re.findall(r">(answer-\d+)<", text))) == charts.MOST


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("choice", r"raise the share of one answer by at most [\d.]+ percentage points\."),
        ("ratings", r"raise the frequency of one key by at most [\d.]+ percentage points\."),
        ("number", r"move the mean by at most [\d.]+\."),
        ("places", r"add at most [\d.]+ to the mean loss\."),
    ],
)
def test_what_forgers_can_do_is_told_in_its_own_unit(shown: Shown, kind: str, words: str) -> None:
    text = only_text(page(shown, f"/tasks/{shown.ids[kind]}")).text
    assert re.search(rf"1 % of forged reports can {words}", text)
    unit = "in the unit of the numbers" if kind == "number" else "in percentage points"
    assert f"Wanted standard error, {unit}" in text


def test_reports_that_no_device_sends_are_an_alarm() -> None:
    """Rejected ones that are late are not, nor others under a known id; which reasons are is counted out."""
    said = {id.removeprefix("refused.") for id in area("desk", "en") if id.startswith("refused.")}
    assert said == {reason.replace("-", "") for reason in REASONS}
    assert set(REASONS) - NEVER == {"not-open", "early", "late", "sealed", "other-body"}
    service = Paged()
    id = service.add(task(mechanisms()["choice"]))
    path, headers = f"/tasks/{id}", signed_in(service)
    assert "No alarm: every report was one" in only_text(service.get(path, headers).body.decode()).text
    service.send(id, item(1, b"\x0f"), item(2, b"too long"))
    text = only_text(service.get(path, headers).body.decode()).text
    assert "Alarm: reports that no device sends which keeps to the task: 2." in text
    assert REASONS["impossible"] in text
    assert alarm({"late": 5, "sealed": 2}) == 0
    assert alarm({"late": 5, "impossible": 1}) == 1


def test_a_lost_ledger_is_no_alarm(tmp_path: Path) -> None:
    """A device with a secret loses its ledger and answers otherwise: honest, not counted, and nobody is accused."""
    service = Paged()
    document = task(mechanisms()["choice"])
    id = service.add(document)
    sent: list[dict[str, str]] = []
    while len({each["report"] for each in sent}) < 2:  # two answers of one secret may give the same report
        sent, secret = [], os.urandom(32)
        for value in ("never", "often"):
            path = tmp_path / os.urandom(4).hex()
            report = Ledger(path, secret=secret).answer(Task.load(document), value)
            with closing(sqlite3.connect(path)) as link:
                (body,) = link.execute("SELECT body FROM report").fetchone()
            sent.append({"id": report.id, "report": b64encode(body).decode()})
    assert sent[0]["id"] == sent[1]["id"]
    assert service.fates(id, *sent) == ["accepted", "other-body"]
    text = only_text(service.get(f"/tasks/{id}", signed_in(service)).body.decode()).text
    assert "No alarm:" in text
    assert "forges" not in text
    assert "Reports that came under ids of other reports: 1. A device that lost its ledger" in text
    assert alarm({"other-body": 4}) == 0


def test_differences_say_what_is_taken_from_what(shown: Shown) -> None:
    text = only_text(page(shown, f"/tasks/{shown.ids['choice']}")).text
    assert "window 2 minus window 1, percentage points" in text
    number = only_text(page(shown, f"/tasks/{shown.ids['number']}")).text
    assert "window 2 minus window 1standard error" in number


# ---- live counts


def test_live_counts_follow_the_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events on a stream: counts, nothing new, new counts; the stream ends when the page is closed."""
    service = Paged()
    made = mechanisms()["choice"]
    document = task(made)
    id = service.add(document)
    idle = [lambda: None] * 3  # counts are told every second time
    steps = iter([*idle, lambda: fill(service.store, document, made, 30, day=TODAY, seed=1)])

    async def sleep(_: float) -> None:
        step = next(steps, None)
        if step is None:
            service.collector.stopping = True
        else:
            step()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the page stays open
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        parts.append(message)

    parts: list[Any] = []
    key = service.key("analyst")["authorization"].encode()
    head = {"type": "http", "method": "GET", "path": f"/tasks/{id}/events", "query_string": b""}
    monkeypatch.setattr(dashboard.asyncio, "sleep", sleep)  # type: ignore[attr-defined]
    asyncio.run(service.app({**head, "headers": [(b"authorization", key)]}, receive, send))
    assert dict(parts[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
    lines = b"".join(part.get("body", b"") for part in parts[1:]).decode().split("\n\n")
    assert lines[1] == ": still here"
    counts = [json.loads(line.removeprefix("data: ")) for line in (lines[0], lines[2])]
    assert counts == [{"reports": 0, "rejected": 0}, {"reports": 30, "rejected": 0}]


# ---- forms


def _post(service: Paged, path: str, fields: dict[str, str], headers: dict[str, str]) -> Any:
    return service.call("POST", path, urlencode(fields).encode(), {**FORM, **headers})


OWN = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (OWN, 303),
        ({"sec-fetch-site": "same-origin", "host": "127.0.0.1:8000"}, 303),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8001"}, 403),
        ({"host": "127.0.0.1:8000", "origin": "null"}, 403),
        ({"host": "127.0.0.1:8000"}, 403),
        ({"sec-fetch-site": "cross-site", **OWN}, 403),
        ({"sec-fetch-site": "same-site", **OWN}, 403),
    ],
)
def test_forms_of_other_sites_do_nothing(headers: dict[str, str], status: int) -> None:
    service = Paged()
    id = service.add(task(mechanisms()["choice"]))
    reply = _post(service, f"/tasks/{id}/state", {"state": "closed"}, {**signed_in(service), **headers})
    assert reply.status == status
    row = service.store.task(id)
    assert row is not None
    assert row.state == ("closed" if status == 303 else "open")
    assert _post(service, "/sign-in", {"key": "x"}, headers).status == (401 if status == 303 else 403)


def test_a_subject_that_is_the_question_is_not_said_twice() -> None:
    service = Paged()
    question, headers = "How do you sleep?", signed_in(service)
    for subject, said in (("sleep", True), (question, False)):
        id = service.add(task(mechanisms()["choice"], question, subject=subject))
        text = Parsed(service.get(f"/tasks/{id}", headers).body.decode()).text
        assert question in text
        assert (f"about {subject}" in text) is said


def test_an_analyst_may_look_and_not_touch() -> None:
    service = Paged()
    id = service.add(task(mechanisms()["choice"]))
    headers = {**signed_in(service, "analyst"), **OWN}
    assert b"Close it for ever" not in service.get(f"/tasks/{id}", headers).body
    assert _post(service, f"/tasks/{id}/state", {"state": "closed"}, headers).status == 403
    assert _post(service, "/plan/draft", {}, headers).status == 403


@pytest.mark.parametrize(
    ("next", "to"),
    [
        ("/tasks/1", "/tasks/1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("/a\r\nset-cookie: x=1", "/"),
        ("/\t/evil.example", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_inside_only(next: str, to: str) -> None:
    service = Paged()
    key = service.key("analyst")["authorization"].removeprefix("Bearer ")
    reply = _post(service, "/sign-in", {"key": key, "next": next}, OWN)
    assert (reply.status, reply.headers["location"]) == (303, to)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    again = service.get("/", {"cookie": reply.headers["set-cookie"].split(";")[0]})
    assert again.status == 200


def test_without_a_key_there_is_only_the_page_to_sign_in(shown: Shown) -> None:
    for path in ("/", f"/tasks/{shown.ids['choice']}", "/plan", f"/tasks/{shown.ids['choice']}/export.csv"):
        reply = shown.service.get(path)
        assert reply.status == 401
        assert b"Access key" in reply.body
        assert b"sleep" not in reply.body


PLAN = {"text": "How often?", "kind": "shares", "answers": "never\nsometimes\noften", "people": "10000", "epsilon": "1"}


def test_a_plan_becomes_a_draft_and_opens_nothing() -> None:
    """Who asks was never said on tasks of this page, and one press made them live."""
    service = Paged()
    headers = {**signed_in(service), **OWN}
    text = service.get(f"/plan?{urlencode(PLAN)}", headers).body.decode()
    design = re.search(r'name="design" value="([^"]+)"', text)
    assert design is not None
    reply = _post(service, "/plan/draft", {**PLAN, "design": design[1]}, headers)
    assert reply.status == 303
    assert service.store.tasks() == []
    row = service.store.draft(reply.headers["location"].removeprefix("/q/"))
    assert row is not None
    asked = read(row.document)
    assert (asked.people, asked.protection, asked.item("q1").options) == (10_000, 1.0, ("never", "sometimes", "often"))
    assert asked.item("q1").mechanism == "", "the recommended one needs no name"
    page = service.get(f"{reply.headers['location']}/outlook", headers).body.decode()
    assert "Say who asks" in page, "it cannot be opened before that is said"
    assert _post(service, f"{reply.headers['location']}/open", {"anyway": "1"}, headers).status == 303
    assert service.store.tasks() == []
    assert _post(service, "/plan/draft", {**PLAN, "design": "nonsense"}, headers).status == 422
    assert _post(service, "/plan/open", {**PLAN, "design": design[1]}, headers).status == 404
    drafts = service.store.drafts()
    reply = _post(service, "/plan/draft", {**PLAN, "text": "x" * 10_001, "design": design[1]}, headers)
    assert (reply.status, b"at most 10,000 characters" in reply.body) == (422, True)
    assert service.store.drafts() == drafts, "what could not be read again is not kept"


def test_a_plan_recommends_one_design_and_folds_the_others() -> None:
    """Six equal buttons stood beside code names, also of designs that were beaten in everything."""
    service = Paged()
    headers = {**signed_in(service), **OWN}
    text = service.get(f"/plan?{urlencode(PLAN | {'answers': chr(10).join('abcdefgh')})}", headers).body.decode()
    best, rest = text[text.index('id="best"') : text.index('id="others"')], text[text.index('id="others"') :]
    assert best.count("<button>") == 1
    assert "subset selection" in best, "designs have names that can be looked up"
    others, beaten = rest[: rest.index('id="beaten"')], rest[rest.index('id="beaten"') :]
    assert "<button>" not in others
    assert others.count('<button class="quiet"') >= 1
    assert "Beaten by" in beaten
    assert "<button" not in beaten
    assert "Beaten by" not in others + best
    assert '<details class="card" id="others">' in text


@pytest.mark.parametrize(
    ("more", "name"),
    [({}, "pgr"), ({"kind": "mean", "low": "0", "high": "24"}, "duchi"), ({"sensitive": "often"}, "grr")],
)
def test_another_design_of_a_plan_is_the_one_of_the_task(more: dict[str, str], name: str) -> None:
    service = Paged()
    headers = {**signed_in(service), **OWN}
    fields = PLAN | {"sensitive": "", "low": "", "high": ""} | more
    text = unescape(service.get(f"/plan?{urlencode(fields)}", headers).body.decode())
    design = next(each for each in re.findall(r'name="design" value="([^"]+)"', text) if each.split()[0] == name)
    path = _post(service, "/plan/draft", {**fields, "design": design}, headers).headers["location"]
    row = service.store.draft(path.removeprefix("/q/"))
    assert row is not None
    asked = read(row.document)
    assert (asked.item("q1").mechanism, asked.item("q1").sensitive) == (name, ())
    told = replace(asked, title="Sleep", who="Uni Bern", why="To know.")
    told = replace(told, questions=tuple(replace(item, unit="h") for item in told.questions))
    assert service.store.put_draft(replace(row, changed=2, document=dumped(told)))
    opened = _post(service, f"{path}/open", {"anyway": "1"}, headers).headers["location"]
    task = Task.load(service.store.task(opened.removeprefix("/tasks/")).document)  # type: ignore[union-attr]
    assert task.questions[0].design["mechanism"] == name
    again = replace(questionnaire_of(task), people=10_000)
    assert task_of(again, Identity(bytes(32)), today=TODAY)["design"] == task.document["design"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": "nan"},
        {"people": "inf"},
        {"people": "1e400"},
        {"people": "-1"},
        {"people": "many"},
        {"epsilon": "nan"},
        {"answers": "one"},
        {"sensitive": "nobody said this"},
        {"kind": "mean", "low": "inf", "high": "1"},
        {"kind": "mean", "low": "", "high": ""},
    ],
    ids=str,
)
def test_a_plan_says_what_is_wrong(wrong: dict[str, str]) -> None:
    service = Paged()
    headers = {**signed_in(service), **OWN}
    reply = service.get(f"/plan?{urlencode(PLAN | wrong)}", headers)
    assert reply.status == 200
    assert b'class="problem"' in reply.body
    assert _post(service, "/plan/draft", PLAN | wrong | {"design": "grr"}, headers).status == 422


def test_a_plan_shows_names_as_text() -> None:
    service = Paged()
    headers = signed_in(service)
    fields = PLAN | {"text": EVIL[0] + EVIL[2], "answers": "\n".join(EVIL[:6])}
    reply = service.get(f"/plan?{urlencode(fields)}", headers)
    assert reply.status == 200
    found = only_text(reply.body.decode())
    assert dict(found.tags[[a.get("name") for _, a in found.tags].index("text")][1])["value"] == EVIL[0] + EVIL[2]
    assert quote(EVIL[1]) in reply.body.decode().replace("+", "%20") or EVIL[1] in found.text
    chart = service.get(f"/plan/chart.svg?{urlencode(fields)}", headers)
    assert (chart.status, b"<script" in chart.body) == (200, False)


def test_windows_are_weeks(shown: Shown) -> None:
    known, found = _windows(shown, "choice")
    assert [window.state for window in found][:2] == [PUBLISHED, PUBLISHED]
    assert found[1].told(known)["from"] == (TODAY - timedelta(7)).isoformat()
