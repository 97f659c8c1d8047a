"""The pages of questionnaires: from an empty draft to an open task; what is wrong, and what is kept."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest

from deniable.errors import DeniableError
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import LIMITS, dumped, read
from deniable.service.questionnaire.imports import imported
from deniable_client.task import Task
from pages.asks import LOCAL, TODAY, Paged, post, signed_in
from pages.written import questionnaire
from questionnaire.test_document import SHEETS, SURVEYJS, workbook


class Writer:
    """Somebody who is signed in and writes a questionnaire."""

    def __init__(self, role: str = "administrator") -> None:
        self.service = Paged()
        self.headers = {**signed_in(self.service, role), **LOCAL} if role == "administrator" else {}
        self.path = ""

    def get(self, path: str = "", **headers: str) -> str:
        reply = self.service.get(self.path + path, {**self.headers, **headers})
        assert reply.status == 200, reply.body[:500]
        return reply.body.decode()

    def post(self, path: str = "", **fields: str) -> Any:
        return post(self.service, self.path + path, fields, self.headers)

    def new(self) -> str:
        reply = post(self.service, "/q/new", {}, self.headers)
        assert reply.status == 303, reply.body
        self.path = reply.headers["location"]
        return self.path

    @property
    def row(self) -> Any:
        return self.service.store.draft(self.path.rpartition("/")[2])

    @property
    def asked(self) -> Any:
        return read(self.row.document)

    def save(self, do: str = "save", **fields: str) -> Any:
        """What a browser sends: everything that stands in the form, with some of it changed."""
        sent = dict(filled(self.get())) | {name.replace("__", "."): text for name, text in fields.items()}
        return self.post(**sent, do=do)


def filled(page: str) -> dict[str, str]:
    """The fields of the form of a draft, as a browser sends them."""
    form = page[page.index('id="draft"') : page.rindex("</form>")]
    found = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]+)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and ('type="checkbox"' not in tag or " checked" in tag):
            found[unescape(name[1])] = unescape(value[1]) if value else ""
    for name, text in re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        found[name] = unescape(text)
    for name, inner in re.findall(r'<select[^>]*name="([^"]+)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]+)" selected', inner) or re.search(r'value="([^"]+)"', inner)
        found[name] = chosen[1] if chosen else ""
    return found


@pytest.fixture
def writer() -> Writer:
    made = Writer()
    made.new()
    return made


def complete(writer: Writer, **more: str) -> None:
    writer.save(title="Exams", who="Uni Bern", why="To plan.", people="2000", **more)
    writer.save("add:yes-no")
    assert writer.save(q__q1__text="Did you ever copy in an exam?").status == 303


# ---- the way


def test_from_nothing_to_an_open_task(writer: Writer) -> None:
    assert "Before it can be opened" in writer.get("/outlook")
    complete(writer)
    page = writer.get("/outlook")
    assert "Shares to within about 6 points, 19 times in 20." in page
    assert "usable" in page
    assert "Results are published from 100 answers on." in page
    assert "I prefer not to say" in writer.get("/preview/page")
    assert "No robot has answered" in writer.get("/trial")
    assert writer.post("/trial").status == 303
    shown = writer.get("/trial")
    assert shown.count("SIMULATED") >= 2
    assert "200 robots were dealt this question." in shown
    last = json.loads(writer.row.trial)
    assert last["simulated"] is True
    share = re.search(r"About (\d+) in 100 answered “<bdi dir=\"auto\">Yes</bdi>”", shown)
    assert share is not None, "the report as it will be: its sentence"
    assert abs(int(share[1]) - 100 * last["questions"][0]["rows"][0]["found"]) <= 0.5
    assert shown.count('class="track"') == 4, "and its chart: three answers and their axis"
    older = {name: part for name, part in last.items() if name not in ("task", "windows")}
    row = writer.row
    writer.service.store.put_draft(replace(row, changed=row.changed + 1, trial=json.dumps(older).encode()))
    assert "200 robots were dealt this question." in writer.get("/trial"), "what an older program kept is still read"
    before = writer.get("/open")
    assert "none of this can be changed" in before
    opened = writer.post("/open")
    task = Task.load(writer.service.store.task(opened.headers["location"].rpartition("/")[2]).document)
    assert (task.subject, task.collector, task.min_batch, task.opens) == ("Exams", "Uni Bern", 100, TODAY)
    assert writer.row.trial is None, "what robots answered is erased"
    assert writer.row.task == task.id
    assert writer.service.store.task(task.id).state == "open"
    assert writer.save(title="Other").status == 409
    assert writer.post("/delete").status == 409
    assert writer.post("/open").headers["location"] == f"/tasks/{task.id}"
    again = writer.post("/copy").headers["location"]
    assert read(writer.service.store.draft(again.rpartition("/")[2]).document).title == "Copy of Exams"


def test_drafts_are_listed_copied_exported_and_deleted(writer: Writer) -> None:
    complete(writer)
    file = writer.service.get(f"{writer.path}/questionnaire.json", writer.headers)
    assert read(file.body) == writer.asked
    assert "attachment" in file.headers["content-disposition"]
    writer.post("/copy")
    assert len(writer.service.store.drafts()) == 2
    assert writer.post("/delete").status == 303
    page = writer.service.get("/q", writer.headers).body.decode()
    assert "Copy of Exams" in page
    reply = post(writer.service, "/q/import", {"document": file.body.decode()}, writer.headers)
    assert reply.status == 303
    wrong = post(writer.service, "/q/import", {"document": '{"questionnaire": 7, "mine": 1}'}, writer.headers)
    assert wrong.status == 422
    assert "has no field" in wrong.body.decode()
    assert "&#34;mine&#34;: 1" in wrong.body.decode(), "what was pasted is still there"
    js = {"elements": [{"type": "boolean", "name": "a", "title": "Did you?"}, {"type": "comment", "name": "c"}]}
    taken = post(writer.service, "/q/import", {"document": json.dumps(js)}, writer.headers)
    assert "Not taken over: c: questions of the type comment." in unescape(taken.body.decode())


def test_a_copy_is_the_same_but_for_its_title_and_the_day_on_which_it_opens(writer: Writer) -> None:
    """That day may be over; whoever copies an old questionnaire opens it on another one."""
    store = writer.service.store
    for title, copied in (("Sleep", "Copy of Sleep"), ("", ""), ("x" * 200, "Copy of " + "x" * 192)):
        asked = replace(questionnaire(), title=title, opens=(TODAY - timedelta(1)).isoformat())
        row = writer.row
        assert store.put_draft(replace(row, changed=row.changed + 1, document=dumped(asked)))
        again = writer.post("/copy").headers["location"].rpartition("/")[2]
        draft = store.draft(again)
        assert draft is not None
        assert read(draft.document) == replace(asked, title=copied, opens="")
        assert writer.asked == asked, "the original stays as it was"
        assert [fault.id for fault in problems(asked, TODAY)][-1:] == ["fault.past"]
        assert "fault.past" not in [fault.id for fault in problems(read(draft.document), TODAY)]


def test_analysts_read_and_do_not_write() -> None:
    writer = Writer()
    writer.new()
    reader = signed_in(writer.service, "analyst")
    assert writer.service.get("/q", reader).status == 200
    for path in ("/q/new", "/q/import", f"{writer.path}", f"{writer.path}/open", f"{writer.path}/trial"):
        assert post(writer.service, path, {}, {**reader, **LOCAL}).status == 403
    assert (
        post(writer.service, writer.path, {"title": "x"}, {**writer.headers, "origin": "https://evil.example"}).status
        == 403
    )
    assert writer.service.get(writer.path).status == 401


def test_questions_are_added_moved_and_removed(writer: Writer) -> None:
    kinds = ["yes-no", "one", "rating", "ordered", "number", "time", "several"]
    for kind in kinds:
        assert writer.save(f"add:{kind}").status == 303
    assert [item.kind for item in writer.asked.questions] == kinds
    writer.save("up:q2")
    writer.save("down:q2")
    writer.save("down:q6")
    writer.save("remove:q3")
    assert [item.name for item in writer.asked.questions] == ["q1", "q2", "q4", "q5", "q7", "q6"]
    writer.save(
        q__q2__text="Which?",
        q__q2__options="a\n b \n\nc",
        q__q5__low="0",
        q__q5__high="24",
        q__q5__unit="h",
    )
    assert writer.asked.item("q2").options == ("a", "b", "c")
    assert (writer.asked.item("q5").low, writer.asked.item("q5").high) == (0, 24)
    sent = filled(writer.get())
    del sent["q.q2.skip"]
    writer.post(**sent, do="save")
    assert not writer.asked.item("q2").skip
    assert writer.asked.item("q1").skip


def test_languages_and_groups(writer: Writer) -> None:
    complete(writer)
    writer.save("group:")
    writer.save(g__g1__title="Where?", g__g1__values="North\nSouth", g__g1__shares="30\n70")
    assert writer.asked.groups[0].shares == (0.3, 0.7)
    writer.save("language:", tag="ar")
    page = unescape(writer.get("/outlook"))
    for text in ("Did you ever copy in an exam?", "Exams", "To plan."):
        assert f"A text is missing in the language العربية: “{text}”" in page, "each by its name"
    assert '<datalist id="tags">' in writer.get(), "nobody knows tags by heart"
    page = writer.get("/language/ar")
    assert 'dir="rtl"' in page
    fields = {
        "title": "امتحانات",
        "why": "للتخطيط",
        "q.q1.text": "هل نسخت؟",
        "g.g1.title": "أين؟",
        "g.g1.values": "شمال\nجنوب",
    }
    sent = filled(page) | fields
    assert writer.post("/language/ar", **sent, do="back").status == 303
    assert "Shares to within" in writer.get("/outlook")
    assert "/preview/page?language=ar&amp;dark" in writer.get("/preview?language=ar&dark=1")
    shown = writer.get("/preview/page?language=ar&dark")
    assert "survey-dark.css" in shown
    assert '<html lang="ar" dir="rtl">' in shown
    assert "هل نسخت؟" in shown
    assert "نعم" in shown
    assert writer.service.get(f"{writer.path}/language/fr", writer.headers).status == 404
    german = writer.get("/outlook", **{"accept-language": "de-CH"})
    assert '<html lang="de" dir="ltr">' in german
    assert "Was Sie bekommen" in german
    assert '<html lang="ar" dir="rtl">' in writer.get("/open", **{"accept-language": "ar"})


def test_the_preview_is_the_survey_page_and_cannot_send(writer: Writer) -> None:
    """Byte for byte what people get, but for the script, a note, and what depends on the id of a task."""
    assert "preview/page" not in writer.get("/preview"), "there is nothing to show yet"
    assert writer.service.get(f"{writer.path}/preview/page", writer.headers).status == 404
    writer.save("add:yes-no")
    writer.save("add:number")
    writer.save(q__q1__text="Did you?")
    page = writer.get("/preview")
    assert "Give the lowest and the highest number." in page, "what is missing is said"
    assert (
        "frame-src 'self'"
        in writer.service.get(f"{writer.path}/preview", writer.headers).headers["content-security-policy"]
    )
    assert "#answer:q1" in page
    assert "#answer:q2" not in page, "what is not written yet is not shown"
    complete(writer)
    writer.save("remove:q2")
    writer.save("remove:q3")
    frame = writer.service.get(f"{writer.path}/preview/page", writer.headers)
    policy = frame.headers["content-security-policy"]
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    assert "form-action 'none'" in policy
    opened = writer.post("/open", anyway="1").headers["location"]
    real = writer.service.get(f"/t/{opened.rpartition('/')[2]}").body.decode()
    shown = frame.body.decode().replace("preview.js", "survey.js").replace("survey-light.css", "survey.css")
    shown = shown.replace('content="light"', 'content="light dark"')
    note = '<p class="note">A preview for the author: nothing is kept, and nothing is sent.</p>'
    ids = [re.sub("[0-9a-f]{64}", "ID", text) for text in (shown.replace(note, ""), real)]
    assert ids[0].split() == ids[1].split()


def test_what_is_not_worth_it_has_a_page_of_its_own(writer: Writer) -> None:
    complete(writer)
    writer.save(people="60", response="80")
    page = writer.get("/open")
    assert "nearly any result is possible" in page
    assert "Open for good" not in page
    assert writer.post("/open").headers["location"].endswith("/open")
    assert writer.row.task is None
    assert "Open for good" in writer.get("/open?anyway")
    assert writer.post("/open", anyway="1").headers["location"].startswith("/tasks/")


def test_twelve_windows_cannot_be_opened_and_say_why(writer: Writer) -> None:
    complete(writer)
    writer.save(windows="12")
    page = writer.get("/open")
    assert "They would all decline." in page
    assert "Ask 2 times only" in page
    writer.post("/open", anyway="1")
    assert writer.row.task is None


def test_earlier_surveys_are_said(writer: Writer) -> None:
    """The fifth question in a browser was refused without a word before."""
    complete(writer)
    writer.post("/open")
    writer.path = writer.post("/copy").headers["location"]
    page = writer.get("/outlook")
    assert "have 1 left for you" in page


def test_several_answers_are_ticked_tried_and_published(writer: Writer) -> None:
    """From the form to the report of a trial: robots tick sets of options, shares are of options."""
    complete(writer)
    writer.save("add:several")
    writer.save(q__q2__text="Which do you take?", q__q2__options="tea\npills\nwine", q__q2__most="2", q__q2__other="1")
    item = writer.asked.item("q2")
    assert (item.options, item.most, item.other) == (("tea", "pills", "wine"), 2, True)
    page = writer.get("/outlook")
    assert "shares do not add up to 100" in page
    assert "<code>several</code>" in page
    assert "Something else" in writer.get("/preview/page")
    assert writer.post("/trial").status == 303
    _, ticked = json.loads(writer.row.trial)["questions"]
    assert [row["label"] for row in ticked["rows"]] == ["tea", "pills", "wine", "Something else"]
    assert [round(row["truth"] * 15) for row in ticked["rows"]] == [5, 9, 7, 5], (
        "5, 4, 3, 2 of 15 tick one and the next"
    )
    assert all(row["low"] <= row["found"] <= row["high"] for row in ticked["rows"])
    writer.save(q__q2__most="")
    assert writer.asked.item("q2").most == 0
    opened = writer.post("/open", anyway="1").headers["location"]
    task = Task.load(writer.service.store.task(opened.rpartition("/")[2]).document)
    assert (task.questions[1].kind, task.questions[1].design["mechanism"]) == ("several", "several")


def test_fewer_ticks_are_suggested_where_that_is_enough(writer: Writer) -> None:
    writer.save("add:several", title="Exams", who="Uni Bern", why="To plan.", people="4000")
    options = "\n".join(f"o{i}" for i in range(10))
    writer.save(q__q1__text="Which?", q__q1__options=options)
    assert "Let people tick at most 3 answers: Which?." in writer.get("/outlook")
    writer.save(q__q1__most="3")
    page = writer.get("/outlook")
    assert "Let people tick" not in page
    assert 'class="grade usable"' in page


# ---- wrong inputs

LONG = "x" * 10_001
NESTED: dict[str, Any] = {"type": "panel"}
for _ in range(30):
    NESTED = {"type": "panel", "elements": [NESTED]}
WRONG: list[tuple[str, str, str]] = [
    *((name, "x" * 201, "At most 200 characters; there are 201") for name in ("title", "who")),
    ("why", "x" * 1001, "At most 1,000 characters"),
    ("language", "", "is not a language that we know"),
    ("language", "e", "is not a language that we know"),
    ("language", "en_GB", "is not a language that we know"),
    ("people", "many", "“many” is not a number"),
    ("people", "1.000", "Did you mean 1,000 or 1?"),
    ("people", "12,345", "Did you mean 12,345 or 12.345?"),
    ("people", "-5", "whole number from 1"),
    ("people", "0", "whole number from 1"),
    ("people", "1.5", "whole number from 1"),
    ("people", "9" * 30, "whole number from 1"),
    ("people", "9" * 50, "is not a number"),
    ("people", "1e5", "is not a number"),
    ("people", "NaN", "is not a number"),
    ("people", "<b>", "is not a number"),
    ("people", "=1+1", "is not a number"),
    ("response", "101", "from 0.01 to 100"),
    ("response", "0", "from 0.01 to 100"),
    ("response", "half", "is not a number"),
    ("response", "-1", "from 0.01 to 100"),
    ("opens", "tomorrow", "is not a day"),
    ("opens", "2026-02-30", "is not a day"),
    ("opens", "1.12.2026", "is not a day"),
    ("opens", "x" * 41, "At most 40 characters"),
    ("days", "0", "whole number from 1 to 3,660"),
    ("days", "4000", "whole number from 1 to 3,660"),
    ("days", "a week", "is not a number"),
    ("windows", "0", "whole number from 1 to 1,000"),
    ("windows", "2.5", "whole number from 1 to 1,000"),
    ("windows", "twice", "is not a number"),
    ("protection", "0", "from 0.01 to 8"),
    ("protection", "9", "from 0.01 to 8"),
    ("protection", "strong", "is not a number"),
    ("protection", "inf", "is not a number"),
    ("q.q1.text", LONG, "At most 10,000 characters"),
    ("q.q2.text", LONG, "At most 10,000 characters"),
    ("q.q2.options", "a\n" + "y" * 1001, "At most 1,000 characters"),
    ("q.q2.options", "\n".join(map(str, range(4097))), "At most 4,096 of these"),
    ("q.q2.sensitive", "z" * 1001, "At most 1,000 characters"),
    ("q.q3.low_end", "x" * 101, "At most 100 characters"),
    ("q.q3.high_end", "x" * 101, "At most 100 characters"),
    ("q.q3.points", "1", "whole number from 2 to 11"),
    ("q.q3.points", "12", "whole number from 2 to 11"),
    ("q.q3.points", "five", "is not a number"),
    ("q.q4.low", "zero", "is not a number"),
    ("q.q4.low", "1.000", "Did you mean"),
    ("q.q4.high", "24h", "is not a number"),
    ("q.q4.high", "1" * 14, "It must be a number from"),
    ("q.q4.unit", "x" * 41, "At most 40 characters"),
    ("q.q5.slots", "25", "whole number from 24 to 48"),
    ("q.q5.slots", "0", "whole number from 24 to 48"),
    ("q.q5.slots", "all", "is not a number"),
    ("q.q6.text", LONG, "At most 10,000 characters"),
    ("q.q6.options", "a\n" + "y" * 1001, "At most 1,000 characters"),
    ("q.q6.most", "0", "whole number from 1 to 64"),
    ("q.q6.most", "65", "whole number from 1 to 64"),
    ("q.q6.most", "1.5", "whole number from 1 to 64"),
    ("q.q6.most", "all", "is not a number"),
    ("q.q2.mechanism", "x" * 41, "At most 40 characters"),
    ("g.g1.title", "x" * 201, "At most 200 characters"),
    ("g.g1.values", "a\n" + "b" * 201, "At most 200 characters"),
    ("g.g1.values", "\n".join(map(str, range(255))), "At most 254 of these"),
    ("g.g1.shares", "50", "one share for each group"),
    ("g.g1.shares", "50\nhalf", "one share for each group"),
    ("g.g1.shares", "0\n100", "one share for each group"),
    ("g.g1.shares", "-1\n101", "one share for each group"),
]


@pytest.fixture(scope="module")
def full() -> Writer:
    made = Writer()
    made.new()
    for kind in ("yes-no", "one", "rating", "number", "time", "several"):
        made.save(f"add:{kind}")
    made.save("group:")
    made.save("language:", tag="ar")
    made.save(
        title="Exams",
        people="2000",
        q__q1__text="Did you?",
        q__q2__text="Which?",
        q__q2__options="a\nb",
        g__g1__title="Where?",
        g__g1__values="North\nSouth",
    )
    return made


@pytest.mark.parametrize(("name", "text", "told"), WRONG, ids=[f"{name}-{i}" for i, (name, _, _) in enumerate(WRONG)])
def test_wrong_inputs_are_explained_and_nothing_is_lost(full: Writer, name: str, text: str, told: str) -> None:
    """The sentence stands beside the field, what was typed stays, the rest is saved, the draft is as it was."""
    before = full.asked
    sent = filled(full.get()) | {"why": f"Because of {name}" if name != "why" else text, name: text}
    reply = full.post(**sent, do="save")
    page = unescape(reply.body.decode())
    assert reply.status == 422
    assert told in page
    assert f'id="why.{name}"' in page, "beside its field"
    assert f'href="#{name}"' in page, "and in the list at the top"
    if name != "protection":  # it is chosen, not typed
        assert filled(reply.body.decode())[name].strip() == text.strip(), "what was typed is there"
    after = full.asked
    if name != "why":
        assert after.why == f"Because of {name}", "the rest is saved"
    assert (after.title, after.people, after.questions, after.groups) == (
        before.title,
        before.people,
        before.questions,
        before.groups,
    )


WRONG_TEXTS: list[tuple[str, str, str]] = [
    ("title", "x" * 201, "At most 200 characters"),
    ("why", "x" * 1001, "At most 1,000 characters"),
    ("q.q1.text", LONG, "At most 10,000 characters"),
    ("q.q2.text", LONG, "At most 10,000 characters"),
    ("q.q2.options", "one", "Give 2 to 2 answers"),
    ("q.q2.options", "one\ntwo\nthree", "Give 2 to 2 answers"),
    ("q.q2.options", "one\n" + "y" * 1001, "At most 1,000 characters"),
    ("q.q3.low_end", "x" * 101, "At most 100 characters"),
    ("q.q3.high_end", "x" * 101, "At most 100 characters"),
    ("q.q4.unit", "x" * 41, "At most 40 characters"),
    ("g.g1.title", "x" * 201, "At most 200 characters"),
    ("g.g1.values", "a\n" + "b" * 201, "At most 200 characters"),
    ("g.g1.values", "\n".join(map(str, range(255))), "At most 254 of these"),
]


def test_wrong_texts_of_another_language_are_explained_and_kept(full: Writer) -> None:
    for name, text, told in WRONG_TEXTS:
        before = full.asked.translations["ar"]
        reply = full.post("/language/ar", **filled(full.get("/language/ar")) | {name: text}, do="save")
        page = unescape(reply.body.decode())
        assert (reply.status, told in page) == (422, True), (name, told)
        assert f'id="why.{name}"' in page, name
        assert filled(reply.body.decode())[name].strip() == text.strip(), "what was typed is there"
        assert full.asked.translations["ar"].title == before.title


WRONG_TAGS = [
    ("", "is not a language that we know"),
    ("x", "tag"),
    ("en_GB", "tag"),
    ("en", "already"),
    ("ar", "already"),
    ("<b>", "tag"),
]


def test_wrong_languages_are_explained_and_none_is_added(full: Writer) -> None:
    for tag, told in WRONG_TAGS:
        reply = full.post(**filled(full.get()) | {"tag": tag}, do="language:")
        assert (reply.status, told in unescape(reply.body.decode())) == (422, True), tag
        assert list(full.asked.translations) == ["ar"]


def multipart(**parts: bytes) -> tuple[bytes, dict[str, str]]:
    """As browsers send it."""
    mark = b"----WebKitFormBoundary7MA4YWxkTrZu0gW"
    body = b""
    for name, content in parts.items():
        file = b'; filename="a b.xlsx"\r\nContent-Type: application/octet-stream' if name == "file" else b""
        body += b'--%s\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
            mark,
            name.encode(),
            file,
            content,
        )
    return body + b"--" + mark + b"--\r\n", {"content-type": f"multipart/form-data; boundary={mark.decode()}"}


def upload(writer: Writer, **parts: bytes) -> Any:
    body, kind = multipart(**parts)
    return writer.service.call("POST", "/q/import", body, {**writer.headers, **kind})


def test_files_are_taken_by_the_page(writer: Writer) -> None:
    """Of XLSForm and SurveyJS, and our own; what cannot be asked is listed."""
    taken = upload(writer, file=workbook(SHEETS), document=b"")
    page = unescape(taken.body.decode())
    assert taken.status == 200
    assert "Wo überall?" in page
    assert "Not taken over: lost: questions of the type select_multiple nowhere" in page
    js = upload(writer, file=json.dumps(SURVEYJS).encode(), document=b"")
    assert "questions of the type matrix" in unescape(js.body.decode())
    own = upload(writer, file=b"", document=writer.row.document)
    assert (own.status, read(writer.service.store.draft(own.headers["location"][3:]).document)) == (303, writer.asked)
    assert 'enctype="multipart/form-data"' in writer.service.get("/q", writer.headers).body.decode()


WRONG_FILES: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "Choose a file, or paste"),
    ("blank", b"  \n ", "is not JSON"),
    ("words", b"hello", "is not JSON"),
    ("cut", b'{"questionnaire": 1', "is not JSON"),
    ("not UTF-8", b"\xff\xfe", "is not"),
    ("a list", b"[]", "a JSON object"),
    ("a number", b"7", "a JSON object"),
    ("another version", b'{"questionnaire": 2}', "no questionnaire of version 1"),
    ("an unknown field", b'{"questionnaire": 1, "colour": 1}', "has no field"),
    ("an unknown kind", b'{"questionnaire": 1, "questions": [{"kind": "essay"}]}', "one of yes-no"),
    ("nan", b'{"questionnaire": 1, "people": NaN}', "people must be"),
    ("nested", b"[" * 100_000, "is not JSON"),
    ("panels in panels", json.dumps({"elements": [NESTED]}).encode(), "nested too deeply"),
    ("too large", b" " * (3 << 20), "at most 1,048,576 bytes"),
    ("an image", b"\x89PNG\r\n\x1a\n" + bytes(100), "is not"),
    ("a zip of nothing", workbook({}), "no sheet named survey"),
    ("a workbook without a survey", workbook({"other": [["type"]]}), "no sheet named survey"),
    ("half a workbook", workbook(SHEETS)[:500], "not a workbook that can be read"),
    ("a damaged sheet", workbook(SHEETS, s1="<worksheet"), "is damaged"),
    ("entities", workbook(SHEETS, s1='<!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>'), "declarations"),
    ("a bomb", workbook(SHEETS, s1="<worksheet>" + " " * (9 << 20) + "</worksheet>"), "more than 8,388,608 bytes"),
    ("too many rows", workbook({"survey": [["type"], *[["text"]] * 5002]}), "more than 5,000 rows"),
]


def test_wrong_files_are_explained_and_no_draft_is_made(writer: Writer) -> None:
    for name, data, told in WRONG_FILES:
        reply = upload(writer, file=data, document=b"what was pasted" if data else b"")
        page = unescape(reply.body.decode())
        assert (reply.status, told in page) == (422, True), (name, page[-900:])
        assert "what was pasted" in page or not data, "nothing is lost"
        assert len(writer.service.store.drafts()) == 1, name


@pytest.fixture
def crammed(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> Writer:
    """A draft in two languages that has room for a thousand bytes more."""
    for kind in ("yes-no", "yes-no", "one"):
        writer.save(f"add:{kind}")
    writer.save("language:", tag="de")
    writer.save(q__q1__text="Did you?", q__q2__text="And now?", q__q3__text="Which?")
    monkeypatch.setitem(LIMITS, "bytes", len(writer.row.document) + 1000)
    return writer


def test_what_is_too_long_is_told_and_nothing_is_lost(crammed: Writer) -> None:
    """A draft is never kept that could not be read again, whichever form made it so long."""
    before = crammed.row
    sent = filled(crammed.get()) | {"title": "Exams", "q.q3.text": "é" * 501, "people": "1.000", "tag": "fr"}
    sent.pop("q.q2.skip")
    for do in ("add:rating", "up:q2", "language:"):
        reply = crammed.post(**sent, do=do)
        page = reply.body.decode()
        assert (reply.status, "longer than a draft can hold" in page) == (422, True)
        assert 'id="why.people"' in page, "what else is wrong is told, too"
        assert filled(page) == sent, "as it was typed"
    told = post(crammed.service, crammed.path, sent, {**crammed.headers, "accept": "application/json"})
    assert (told.status, json.loads(told.body)) == (422, {"large": True})
    late = crammed.post(**sent | {"changed": "1"}, do="save")
    assert (late.status, "Somebody changed this draft" in late.body.decode()) == (409, True)
    path = "/language/de"
    texts = filled(crammed.get(path)) | {"q.q1.text": "y" * 500, "q.q2.text": "z" * 500}
    reply = crammed.post(path, **texts, do="back")
    page = reply.body.decode()
    assert (reply.status, "longer than a draft can hold" in page) == (422, True)
    assert filled(page) == texts
    assert crammed.row == before
    assert crammed.post(path, **texts | {"q.q2.text": ""}, do="back").status == 303
    assert crammed.asked.translations["de"].questions["q1"]["text"] == "y" * 500


def test_a_file_that_is_too_long_as_a_draft_is_refused(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written out it may be longer than it came; the list can still be read."""
    choices = [{"value": i, "text": {"default": f"country {i}", "de": f"Land {i}"}} for i in range(50)]
    document = json.dumps({"elements": [{"type": "dropdown", "name": "a", "choices": choices}]})
    monkeypatch.setitem(LIMITS, "bytes", 1000)
    reply = post(writer.service, "/q/import", {"document": document}, writer.headers)
    page = unescape(reply.body.decode())
    assert (reply.status, "at most 1,000 bytes" in page) == (422, True)
    assert document in page, "what was pasted is still there"
    assert len(writer.service.store.drafts()) == 1
    assert writer.service.get("/q", writer.headers).status == 200


def test_a_draft_that_cannot_be_read_is_listed_downloaded_and_deleted(writer: Writer) -> None:
    """It stands in nobody's way."""
    mine = writer.path
    odd = b'{"questionnaire": 1, "colour": 1}'
    for document in (odd, b" " * (1 << 20) + b"{}", b"\xff"):
        writer.new()
        writer.service.store.put_draft(replace(writer.row, changed=writer.row.changed + 1, document=document))
        page = writer.service.get("/q", writer.headers)
        assert (page.status, "cannot be read" in page.body.decode()) == (200, True)
        assert f'href="{mine}"' in page.body.decode()
        assert f'href="{writer.path}"' not in page.body.decode(), "there is no form of it"
        refused = post(writer.service, "/q/import", {"document": "[]"}, writer.headers)
        assert (refused.status, "a JSON object" in refused.body.decode()) == (422, True)
        assert writer.service.get(f"{writer.path}/questionnaire.json", writer.headers).body == document
        assert writer.service.get(writer.path, writer.headers).status == 422
        assert writer.post("/copy").status == 422
        assert writer.post("/delete").status == 303
        assert writer.row is None
    assert "cannot be read" not in writer.service.get("/q", writer.headers).body.decode()


def test_a_hundred_wrong_inputs() -> None:
    assert len(WRONG) + len(WRONG_TEXTS) + len(WRONG_TAGS) + len(WRONG_FILES) >= 100


@pytest.mark.parametrize(
    "break_it",
    [
        lambda body: body[:-4],
        lambda body: b"x" + body,
        lambda body: body.replace(b'name="file"', b'name="other"'),
        lambda body: body.replace(b'name="document"', b'name="file"'),
        lambda body: body.replace(b"form-data; name", b"attachment; name"),
        lambda body: body.replace(b"\r\n\r\n", b"\r\n", 1),
        lambda body: b"",
        lambda body: body[: body.index(b"\r\n")] * 10 + body,
    ],
)
def test_forms_that_no_browser_sends_are_refused(writer: Writer, break_it: Any) -> None:
    body, kind = multipart(file=b"{}", document=b"")
    reply = writer.service.call("POST", "/q/import", break_it(body), {**writer.headers, **kind})
    assert reply.status in (400, 422)
    for odd in ("multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=x", "text/plain"):
        assert writer.service.call("POST", "/q/import", body, {**writer.headers, "content-type": odd}).status in (
            400,
            415,
        )
    assert len(writer.service.store.drafts()) == 1


@pytest.mark.slow
def test_damaged_workbooks_end_in_words() -> None:
    """Any byte of a workbook changed, or cut off: it is read, or refused in words."""
    data, rng = workbook(SHEETS), random.Random(11)
    ends: dict[bool, int] = {True: 0, False: 0}
    for _ in range(1500):
        bad = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            bad[rng.randrange(4, len(bad))] = rng.randrange(256)
        try:
            imported(bytes(bad[: rng.choice([len(bad), rng.randrange(4, len(bad))])]))
            ends[True] += 1
        except DeniableError:
            ends[False] += 1
    assert min(ends.values()) > 20, "both ends are seen"


def test_numbers_are_taken_as_people_write_them(writer: Writer) -> None:
    for text, number in (("2 000", 2000), ("2'500", 2500), ("\u0663\u0660\u0660\u0660", 3000), ("1,234,567", 1234567)):
        assert writer.save(people=text).status == 303
        assert writer.asked.people == number


def test_shares_of_the_people_are_taken_with_their_sign_and_asked_about_below_one(writer: Writer) -> None:
    """50% was no number, and 0.5, meant as one half, was taken for one of 200."""
    for text in ("50%", "50 %", "50", "\u0665\u0660\u066a"):
        assert writer.save(response=text).status == 303, text
        assert writer.asked.response == 0.5
        assert writer.save(response="").status == 303
    for text, told in (("0.5", "do you mean 50 or 0.5? Write 50, or 0.5 %."), ("%", "“%” is not a number")):
        reply = writer.save(response=text)
        assert reply.status == 422
        assert told in unescape(reply.body.decode())
        assert writer.asked.response is None
    for _ in range(2):
        assert writer.save(response=filled(writer.get())["response"] or "0.5 %").status == 303
        assert writer.asked.response == pytest.approx(0.005)


def test_parts_of_groups_are_taken_with_their_sign(writer: Writer) -> None:
    writer.save("group:")
    assert writer.save(g__g1__title="Age", g__g1__values="young\nold", g__g1__shares="20 %\n80%").status == 303
    assert writer.asked.groups[0].shares == (0.2, 0.8)
    reply = writer.save(g__g1__shares="0.00009\n99.99991")
    assert (reply.status, "Give one share for each group" in unescape(reply.body.decode())) == (422, True)
    assert writer.save(g__g1__shares="0.0001\n99.9999").status == 303
    assert writer.asked.groups[0].shares == pytest.approx((1e-6, 0.999999)), "the least that is read again"


def test_what_is_chosen_can_be_told_on_a_phone(writer: Writer) -> None:
    """A list that is closed shows the beginning of what is chosen: all choices differ in it."""
    listed = re.findall(r"<option value=\"[\d.]+\"[^>]*>([^<]*)</option>", writer.get())
    assert len(listed) == len({text[:4] for text in listed}) == 11
    assert unescape(listed[-1]) == "89%: limited protection"


def test_languages_are_taken_by_their_names_and_with_every_button(writer: Writer) -> None:
    """The name "Arabic" was taken for a tag, from left to right; a tag and Enter, or another button, added nothing."""
    complete(writer)
    for do, tag, known in (("language:", "Arabic", "ar"), ("save", "de", "de"), ("next", "espa\u00f1ol", "es")):
        assert writer.save(do, tag=tag).status == 303
        assert list(writer.asked.translations)[-1] == known
    assert writer.save("save", language="English").status == 303
    assert writer.asked.language == "en"
    for do in ("next", "save", "add:yes-no"):
        reply = writer.save(do, tag="Klingon")
        assert reply.status == 422
        assert 'value="Klingon"' in reply.body.decode()
    assert list(writer.asked.translations) == ["ar", "de", "es"]
    assert writer.save("", tag="f").status == 303, "a draft that saves itself adds no language that is half written"


def test_an_open_questionnaire_and_a_reader_have_nothing_to_write_in(writer: Writer) -> None:
    """Its fields could be written in and its buttons pressed, and only then was said that nothing changes."""
    complete(writer)
    writer.save("language:", tag="de")
    assert not any('<fieldset class="all" disabled>' in writer.get(path) for path in ("", "/language/de"))
    writer.save("unlanguage:de")
    reader = signed_in(writer.service, "analyst")
    assert '<fieldset class="all" disabled>' in writer.service.get(writer.path, reader).body.decode()
    assert writer.post("/open", anyway="1").status == 303
    page = writer.get()
    assert '<fieldset class="all" disabled>' in page
    assert f'action="{writer.path}/copy"' in page


def test_what_is_said_before_opening_names_what_is_erased(writer: Writer) -> None:
    """That "it" is erased stood behind a sentence about the questionnaire."""
    complete(writer)
    page = unescape(writer.get("/open"))
    assert "It can be closed at any time, and copied. The trial is erased when you open the questionnaire." in page


def test_only_what_is_there_can_lack_a_translation(writer: Writer) -> None:
    """A reason that nobody had given was missed in each other language, as “…”."""
    writer.save("add:rating")
    writer.save("language:", tag="de")
    page = unescape(writer.get())
    assert "Say why you ask." in page
    assert "A text is missing" not in page
    writer.save(title="Exams", q__q1__text="How fair?")
    page = unescape(writer.get())
    assert page.count("A text is missing") == 2
    arabic = unescape(writer.get(**{"accept-language": "ar"}))
    assert "\u2068How fair?\u2069" in arabic, "a question from left to right keeps its sign at its end"


def test_two_who_write_at_once_do_not_overwrite_each_other(writer: Writer) -> None:
    sent = filled(writer.get())
    writer.save(title="First")
    late = writer.post(**{**sent, "title": "Second"}, do="save")
    assert late.status == 409
    assert 'value="Second"' in late.body.decode(), "what was typed is there"
    assert writer.asked.title == "First"
    told = post(writer.service, writer.path, sent, {**writer.headers, "accept": "application/json"})
    assert (told.status, json.loads(told.body)) == (409, {"crossed": True})


def test_a_script_saves_the_same_form(writer: Writer) -> None:
    sent = filled(writer.get()) | {"title": "Exams", "people": "1.000"}
    told = post(writer.service, writer.path, sent, {**writer.headers, "accept": "application/json"})
    found = json.loads(told.body)
    assert found["changed"] == writer.row.changed
    assert list(found["faults"]) == ["people"]
    assert (writer.asked.title, writer.asked.people) == ("Exams", None)


def test_hostile_forms_are_refused(writer: Writer) -> None:
    assert writer.post(**{f"f{i}": "" for i in range(4001)}).status == 400
    evil = '"><script>alert(1)</script>'
    writer.save("add:one", title=evil)
    page = writer.get()
    assert "<script>alert" not in page
    assert writer.save("add:essay").status == 303
    assert [item.kind for item in writer.asked.questions] == ["one"]
    writer.save(q__q1__kind="essay")
    assert writer.asked.questions[0].kind == "one"
    policy = writer.service.get(writer.path, writer.headers).headers["content-security-policy"]
    assert "default-src 'none'" in policy
