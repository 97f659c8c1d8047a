"""From an idea to a published result: built on the pages in two languages, tried, opened, answered on phones, read."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from deniable.service.questionnaire.document import Questionnaire
from deniable.service.questionnaire.kinds import words_of
from deniable.service.store.contract import Incoming, Upload
from deniable_client.task import Task
from deniable_client.words import SystemWords
from pages.asks import TODAY, Paged
from pages.browsing import ARGUMENTS, WAIT, axe, browser, browser_path
from pages.recording import Running
from pages.said import COLLECTED, beside, said_on
from questionnaire.test_browser import signed_in

pytestmark = pytest.mark.slow

PEOPLE = 300
STORAGE = "local_storage,indexeddb,cache_storage,cookies,service_workers"
"""What a phone forgets between two people: all but the files that are the same for everybody."""
ENGLISH = {
    "title": "Exams and sleep",
    "who": "Uni Bern",
    "why": "To plan fair exams.",
    "q.q1.text": "Did you ever copy in an exam?",
    "q.q2.text": "What do you study?",
    "q.q2.options": "Law\nPhysics\nHistory",
    "q.q3.text": "How do you feel about exams?",
    "q.q3.low_end": "badly",
    "q.q3.high_end": "well",
    "q.q4.text": "How often do you study at night?",
    "q.q4.options": "never\nrarely\noften",
    "q.q5.text": "How long did you learn yesterday?",
    "q.q5.unit": "hours",
    "q.q6.text": "When did you go to bed?",
}
OTHER = {
    "title": "الامتحانات والنوم",
    "why": "لتخطيط امتحانات عادلة.",
    "q.q1.text": "هل سبق أن غششت في امتحان؟",
    "q.q2.text": "ماذا تدرس؟",
    "q.q2.options": "القانون\nالفيزياء\nالتاريخ",
    "q.q3.text": "ما شعورك تجاه الامتحانات؟",
    "q.q3.low_end": "سيئ",
    "q.q3.high_end": "جيد",
    "q.q4.text": "كم مرة تدرس ليلا؟",
    "q.q4.options": "أبدا\nنادرا\nغالبا",
    "q.q5.text": "كم تعلمت أمس؟",
    "q.q5.unit": "ساعات",
    "q.q6.text": "متى ذهبت إلى النوم؟",
}
WORDS = [words_of(Questionnaire(), "en")[name] for name in ("yes", "no", "skip")]
"""Answers that a questionnaire in English has from the catalogue: others read them in English, too."""
NUMBERS = {"people": str(PEOPLE), "response": "100", "q.q5.low": "0", "q.q5.high": "24"}
ANSWERS = {"q1": 1, "q2": 2, "q3": 4, "q4": 1, "q5": 18, "q6": 22}
"""What four of five people answer; the fifth gives the first answer. Of `q5` the number, else which answer."""
LIMIT = 3600
"""Seconds on the clock that the whole crowd may take, beside what else a machine does."""
FAR = 6.0
"""Standard errors by which an estimate may be wrong. Six tests of normal estimates: by chance once in 80 million runs;
that the count of a question is a sum of 30 or more draws leaves a wide margin to one in 100,000."""


T = TypeVar("T")


def aside(work: Callable[[], T]) -> T:
    """What needs a loop of its own: the thread of the browser has one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def own_of(texts: dict[str, str]) -> list[str]:
    return [line for text in texts.values() for line in text.split("\n")]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where pictures go, for people to look at."""
    found = Path(os.environ.get("DENIABLE_ARTIFACTS", tmp_path))
    found.mkdir(parents=True, exist_ok=True)
    return found


class Looked:
    """Looks at every page of a researcher or reader: words, sideways, with axe-core, and as pictures."""

    def __init__(self, page: Any, folder: Path, look: str, tag: str) -> None:
        self.page, self.folder, self.look, self.tag = page, folder, look, tag
        self.rules = axe()
        self.found: dict[str, Any] = {}

    def at(self, name: str) -> None:
        for width in (360, 1280):
            self.page.set_viewport_size({"width": width, "height": 800})
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide"
            path = self.folder / f"whole-{name}-{self.tag}-{width}-{self.look}.png"
            self.page.screenshot(path=path, full_page=True)
        self.page.evaluate(self.rules)
        for each in self.page.evaluate("axe.run().then((found) => found.violations)"):
            self.found[f"{name} {each['id']}"] = [node["html"][:200] for node in each["nodes"]][:2]
        words = [] if self.tag == "en" else WORDS  # its own sentences have them, such as "No further survey fits"
        beside = said_on(self.page, self.tag, [*own_of(ENGLISH), *own_of(OTHER), *words])
        if beside:
            self.found[f"{name}: not from the catalogue"] = beside


def built(site: Running, looked: Looked) -> str:
    """A draft of six questions in two languages, tried with robots and opened: the id of its task."""
    page = looked.page
    page.click('form[action="/q/new"] button')
    page.wait_for_selector("#draft")
    page.fill("#language", "en")
    for i, kind in enumerate(("yes-no", "one", "rating", "ordered", "number", "time"), start=1):
        page.click(f'button[value="add:{kind}"]')
        page.wait_for_selector(f'[id="q.q{i}"]')
    for name, text in (ENGLISH | NUMBERS).items():
        page.fill(f'[id="{name}"]', text)
    page.select_option("#protection", "2")
    page.set_checked('input[name="public"]', True)
    page.fill("#tag", "ar")
    page.click('button[value="language:"]')
    page.wait_for_selector(".tags a")
    looked.at("draft")
    page.click(".tags a")
    page.wait_for_selector('form[action*="/language/"]')
    for name, text in OTHER.items():
        page.fill(f'[id="{name}"]', text)
    looked.at("translation")
    page.click('button[value="back"]')
    page.wait_for_selector(".tags a")
    page.click('button[value="next"]')
    page.wait_for_selector(".grade")
    looked.at("outlook")
    page.click(".steps li:nth-child(3) a")
    page.select_option("select[name=language]", "ar")
    page.click("form.links button")
    page.wait_for_selector('iframe.phone[src*="language=ar"]')
    page.frame_locator("iframe.phone").locator("#start-title").wait_for()
    looked.at("preview")
    page.click(".steps li:nth-child(4) a")
    page.click('form[action$="/trial"] button')
    page.wait_for_selector("table")
    looked.at("trial")
    page.click(".steps li:nth-child(5) a")
    looked.at("open")
    if page.locator('a[href$="?anyway"]').count():
        page.click('a[href$="?anyway"]')
    page.click('form[action$="/open"] button')
    page.wait_for_url("**/tasks/*")
    looked.at("opened")
    return str(page.url.rpartition("/")[2])


def answer_of(question: str, before: int) -> int:
    """What the next person who is asked a question answers."""
    return 0 if before % 5 == 2 else ANSWERS[question]


PHONES = [("en", "light"), ("ar", "dark"), ("en", "dark"), ("ar", "light"), ("en", "light"), ("en", "dark")]
"""Languages and looks of the phones that people answer on, one after the other; all of them at once."""
BEGUN = '#survey[data-ready="yes"] #begin:enabled'
ASKED = "fieldset.question:not([hidden])"


class Crowd:
    """People with phones, a third in Arabic, half in the dark. Who takes a phone finds nothing of those before."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.given: dict[str, Counter[int]] = {name: Counter() for name in ANSWERS}
        self.found: dict[str, Any] = {}
        self.seen: set[tuple[str, str, str]] = set()
        self.people: Counter[str] = Counter()

    def answered(self, question: str) -> int:
        given = self.given[question]
        number = answer_of(question, given.total())
        given[number] += 1
        return number

    async def look(self, page: Any, state: str, tag: str, look: str) -> None:
        """The first time that a state is reached: its words, and a picture."""
        if (state, tag, look) in self.seen:
            return
        self.seen.add((state, tag, look))
        await page.screenshot(path=self.folder / f"whole-{state}-{tag}-360-{look}.png", full_page=True)
        wide = await page.evaluate("document.documentElement.scrollWidth")
        own = [*own_of(ENGLISH if tag == "en" else OTHER), ENGLISH["who"]]
        words = beside(await page.evaluate(COLLECTED), tag, own)
        if words or wide > 360:
            self.found[f"{state} {tag} {look}"] = words, wide

    async def person(self, page: Any, tag: str, look: str) -> None:
        await page.goto(self.url, wait_until="commit")
        await page.wait_for_selector(BEGUN)
        await self.look(page, "start", tag, look)
        await page.tap("#begin")
        await page.wait_for_selector("#answer:not([hidden])")
        field = page.locator(ASKED)
        question, kind, listed = await field.evaluate(
            "(field) => [field.dataset.name, field.dataset.kind, field.querySelector('select') !== null]"
        )
        answer = self.answered(question)
        await self.look(page, f"question-{question}", tag, look)
        if kind == "number":
            await field.locator("[data-number]").fill(str(answer))
        elif listed:
            await field.locator("select").select_option(str(answer))
        else:
            await field.locator(f'input[type=radio][value="{answer}"]').tap()
        await page.tap("#go")
        await page.wait_for_selector("#check:not([hidden])")
        await self.look(page, "check", tag, look)
        await page.tap("#send")
        await page.wait_for_selector("#receipt:not([hidden])")
        await self.look(page, "receipt", tag, look)

    async def phone(self, made: Any, numbers: Iterator[int], tag: str, look: str) -> None:
        """Answer on a phone for as long as there are people; what it keeps is thrown away after each."""
        shape: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
        context = await made.new_context(**shape, color_scheme=look, locale={"en": "en-GB", "ar": "ar-EG"}[tag])
        page = await context.new_page()
        page.set_default_timeout(WAIT)
        session = await context.new_cdp_session(page)
        origin = self.url.partition("/t/")[0]
        page.on("pageerror", lambda error: self.found.setdefault(f"{tag} {look}", str(error)))
        for _ in numbers:
            await self.person(page, tag, look)
            self.people[tag] += 1
            await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORAGE})
        await context.close()

    async def all(self, people: int) -> None:
        from playwright.async_api import async_playwright

        numbers = iter(range(people))
        async with async_playwright() as playwright:
            made = await playwright.chromium.launch(executable_path=browser_path(), args=list(ARGUMENTS))
            await asyncio.gather(*(self.phone(made, numbers, tag, look) for tag, look in PHONES))
            await made.close()


def others(site: Running, id: str, crowd: Crowd, people: int) -> None:
    """More people, by the Python client: their answers are of the same kind."""
    row = site.service.store.task(id)
    assert row is not None
    task, reports = Task.load(row.document), []
    for _ in range(people):
        question = task.deal(SystemWords())
        number = crowd.answered(question.name)
        value = number if question.name == "q5" else (question.labels or ())[number]
        reports.append(Incoming(os.urandom(16), task.body(question, question.device().report(value), {})))
    outcomes = site.service.store.add([Upload(id, TODAY, reports)])[0]
    assert {outcome.status for outcome in outcomes} <= {"accepted"}


def errors(site: Running, id: str, crowd: Crowd, shift: int = 0) -> dict[str, float]:
    """By how many standard errors each question's commonest answer is away from what these people answered.

    With `shift` the answers are taken for others, so many places further.
    """
    path = f"/r/{id}/results.csv?target=reporters"
    text = aside(lambda: site.service.get(path)).body.decode()
    found: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault(row["question"], []).append((float(row["value"]), float(row["stderr"])))
    far = {}
    for name, rows in found.items():
        given = crowd.given[name]
        if name == "q5":
            value, error = rows[0]
            truth = sum(number * count for number, count in given.items()) / given.total() - 3 * shift
        else:
            value, error = rows[(ANSWERS[name] + shift) % len(rows)]
            truth = given[ANSWERS[name]] / given.total()
        far[name] = (value - truth) / error
    return far


@pytest.mark.parametrize(
    ("people", "look", "tag"),
    [(20, "dark", "ar"), pytest.param(PEOPLE, "light", "en", marks=[pytest.mark.turns(4), pytest.mark.timeout(LIMIT)])],
)
def test_six_questions_in_two_languages_are_answered_and_published(
    chromium: Any, artefacts: Path, people: int, look: str, tag: str
) -> None:
    """By somebody who has never seen it, and `people` on phones in Chromium (the others by the Python client).

    Estimates are held to the truth of those who answered: see FAR. Answers taken for their neighbours would be noticed
    in most of the questions. Every text on every page is from the catalogue of its language, or from the questionnaire.
    """
    with Running(Paged()) as site:
        context = chromium.new_context(color_scheme=look, locale=tag, bypass_csp=True)
        tab = signed_in(site, context)
        looked = Looked(tab.page, artefacts, look, tag)
        looked.at("list")
        id = built(site, looked)
        crowd = Crowd(f"{site.url}/t/{id}", artefacts)
        aside(lambda: asyncio.run(crowd.all(people)))
        others(site, id, crowd, PEOPLE - people)
        looked.found |= crowd.found
        assert crowd.people.total() == people
        assert crowd.people["ar"] >= people // 10, "many read Arabic"
        assert sum(each.total() for each in crowd.given.values()) == PEOPLE
        assert sum(tally.n for tally in site.service.store.tallies(id).values()) == PEOPLE
        tab.page.goto("about:blank")  # a page of somebody who is signed out by then would ask again
        site.service.to_day(TODAY + timedelta(14))
        far = errors(site, id, crowd)
        assert sorted(far) == sorted(ANSWERS), "every question is published"
        assert max(map(abs, far.values())) < FAR, far
        assert sum(abs(each) > FAR for each in errors(site, id, crowd, 1).values()) >= 3, "others would be noticed"
        signed_in(site, context)  # two weeks later
        tab.page.goto(f"{site.url}/tasks/{id}")
        looked.at("task")
        for each in ("en", "ar"):
            looked.tag = each
            tab.page.goto(f"{site.url}/r/{id}?lang={each}")
            assert tab.page.locator("table[data-question]").count() == len(ANSWERS), "each has its numbers"
            looked.at("result")
        tab.page.goto("about:blank")
        assert not looked.found, json.dumps(looked.found, indent=1, ensure_ascii=False)
        tab.fine()
        context.close()


def test_a_word_that_is_hard_coded_is_found() -> None:
    """Words beside the catalogue, another language than the page's, and what its author wrote."""
    assert beside(["Check your answer"], "en") == []
    assert beside(["Check your answers twice"], "en") == ["Check your answers twice"]
    assert beside(["Check your answer"], "de") == ["Check your answer"]
    assert beside(["Law 3 (12 %)"], "de", ["Law"]) == []
    assert beside(["Lawyer"], "de", ["Law"]) == ["Lawyer"]
