"""The pages of questionnaires in a real browser: a draft saves itself, nothing is in anybody's way, light and dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.service.questionnaire.document import read
from pages.asks import Paged
from pages.browsing import Tab, axe, browser
from pages.recording import Running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with Running(Paged()) as found:
        yield found


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where pictures go, for people to look at."""
    found = Path(os.environ.get("DENIABLE_ARTIFACTS", tmp_path))
    found.mkdir(parents=True, exist_ok=True)
    return found


CUT = """[...document.querySelectorAll(".robots")].filter(
  (each) => each.parentElement.scrollWidth > each.parentElement.clientWidth).length"""
"""How many tables of a trial are wider than their place."""


def signed_in(site: Running, context: Any) -> Tab:
    tab = Tab(context, f"{site.url}/q")
    tab.errors.clear()  # 401, to sign in
    tab.page.fill("input[name=key]", site.service.key("administrator")["authorization"].removeprefix("Bearer "))
    tab.page.click("button")
    tab.page.wait_for_selector("nav")
    return tab


class Watched:
    """Looks at every page: sideways, with axe-core, and as a picture."""

    def __init__(self, page: Any, folder: Path, look: str) -> None:
        self.page, self.folder, self.look = page, folder, look
        self.rules = axe()
        self.found: dict[str, Any] = {}

    def look_at(self, name: str) -> None:
        for width in (360, 1280):
            self.page.set_viewport_size({"width": width, "height": 800})
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide"
            self.page.screenshot(path=self.folder / f"q-{name}-{width}-{self.look}.png", full_page=True)
        self.page.evaluate(self.rules)
        for each in self.page.evaluate("axe.run().then((found) => found.violations)"):
            self.found[f"{name} {each['id']}"] = [node["html"][:200] for node in each["nodes"]][:2]


def walk_through(page: Any, watched: Watched) -> None:
    """The preview by its own buttons, from the beginning to the end; nothing is asked of the network."""
    frame = page.frame(name="phone")
    frame.wait_for_selector("#begin:enabled")
    watched.look_at("preview")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    frame.click("#begin")
    frame.click("#go")
    assert frame.is_visible("#answer .problem"), "nothing is chosen yet"
    frame.click("fieldset:not([hidden]) label.choice >> nth=1")
    frame.click("#go")
    frame.wait_for_selector("#check:not([hidden])")
    assert frame.inner_text("#said")
    watched.look_at("preview-check")
    frame.click("#send")
    frame.wait_for_selector("#receipt:not([hidden])")
    assert sent == []
    page.click("nav a[href*='#answer:q4']")
    frame.wait_for_selector("fieldset[data-name=q4]:not([hidden])")
    watched.look_at("preview-question")


@pytest.mark.parametrize(("look", "language"), [("light", "en"), ("dark", "ar")])
def test_a_questionnaire_is_written_tried_and_opened(
    site: Running, chromium: Any, artefacts: Path, look: str, language: str
) -> None:
    """By somebody who has never seen it: six questions, two languages, saved without a press, tried, opened."""
    context = chromium.new_context(color_scheme=look, locale=language, bypass_csp=True)
    tab = signed_in(site, context)
    page, watched = tab.page, Watched(tab.page, artefacts, look)
    watched.look_at("list-empty")
    page.click('form[action="/q/new"] button')
    page.wait_for_selector("#draft")
    for i, kind in enumerate(("yes-no", "one", "rating", "several", "number", "time"), start=1):
        page.click(f'button[value="add:{kind}"]')
        page.wait_for_selector(f'[id="q.q{i}"]')
    texts = {"title": "Exams", "who": "Uni Bern", "why": "To plan fair exams.", "people": "20 000"}
    texts |= {f"q.q{i}.text": f"Question number {i}?" for i in range(1, 7)}
    texts |= {"q.q2.options": "Law\nPhysics\nHistory", "q.q4.options": "never\nrarely\noften"}
    texts |= {"q.q3.low_end": "badly", "q.q3.high_end": "well", "q.q5.low": "0", "q.q5.high": "24", "q.q5.unit": "h"}
    for name, text in texts.items():
        page.fill(f'[id="{name}"]', text)
    page.fill("#windows", "twice")
    page.wait_for_selector('[id="why.windows"]')
    assert page.input_value("#windows") == "twice", "what was typed is there"
    watched.look_at("draft-wrong")
    page.fill("#windows", "1")
    page.wait_for_selector('[id="why.windows"]', state="detached")
    id = page.url.rpartition("/")[2].partition("#")[0]
    asked = read(site.service.store.draft(id).document)
    assert (asked.people, asked.title, asked.item("q2").options) == (20_000, "Exams", ("Law", "Physics", "History"))
    page.fill("#tag", "ar" if language == "en" else "fr")
    page.click('button[value="language:"]')
    page.wait_for_selector(".tags a")
    page.click(".tags a")
    page.wait_for_selector('input[name="title"]')
    for field in page.query_selector_all("#draft input:not([type=hidden]), #draft textarea"):
        name = field.get_attribute("name")
        lines = {"q.q2.options": "أ\nب\nج", "q.q4.options": "د\nه\nو"}
        field.fill(
            lines.get(name, f"نص {name.replace('.', ' ')}" if language == "en" else lines.get(name, f"texte {name}"))
        )
    watched.look_at("translation")
    page.click('button[value="back"]')
    page.wait_for_selector(".tags a")
    page.click('button[value="next"]')
    page.wait_for_selector(".grade")
    watched.look_at("outlook")
    page.goto(f"{site.url}/q/{id}/preview?language={'ar' if language == 'en' else 'fr'}&dark=1")
    walk_through(page, watched)
    page.goto(f"{site.url}/q/{id}/trial")
    page.click(f'form[action="/q/{id}/trial"] button')
    page.wait_for_selector("table")
    watched.look_at("trial")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate(CUT) == 0, "what robots found stands beside what was made up, on a phone too"
    page.goto(f"{site.url}/q/{id}/open")
    watched.look_at("open")
    page.click(f'form[action="/q/{id}/open"] button')
    page.wait_for_url("**/tasks/*")
    assert site.service.store.draft(id).trial is None
    page.goto(f"{site.url}/q")
    watched.look_at("list")
    tab.fine()
    assert watched.found == {}
    context.close()


def test_who_leaves_a_moment_after_writing_loses_nothing(site: Running, chromium: Any) -> None:
    """A draft saves itself after a pause, and a link that was pressed within it lost what was written last.

    What cannot be read keeps people on the page, beside the field; a second press leaves it.
    """
    context = chromium.new_context(locale="en")
    tab = signed_in(site, context)
    page = tab.page
    page.click('form[action="/q/new"] button')
    page.wait_for_selector("#draft")
    page.fill("#why", "Because.")
    page.click('.steps a[href$="/preview"]')
    page.wait_for_url("**/preview")
    assert read(site.service.store.draft(page.url.split("/")[-2]).document).why == "Because."
    page.click(".steps a")
    page.wait_for_selector("#draft")
    page.fill("#people", "1.000")
    page.click('.steps a[href$="/preview"]')
    page.wait_for_selector('[id="why.people"]')
    assert page.evaluate("document.activeElement.id") == "people"
    assert page.input_value("#people") == "1.000"
    page.click('.steps a[href$="/preview"]')
    page.wait_for_url("**/preview")
    tab.fine()
    context.close()


def test_what_was_saved_is_said_where_people_write(site: Running, chromium: Any) -> None:
    """The page is long, and only its end said it; a box to tick stands beside its first line."""
    context = chromium.new_context(locale="en", viewport={"width": 360, "height": 740})
    tab = signed_in(site, context)
    page = tab.page
    page.click('form[action="/q/new"] button')
    page.wait_for_selector("#draft")
    page.click('button[value="add:one"]')
    page.wait_for_selector('[id="q.q1"]')
    page.evaluate("scrollTo(0, 0)")
    page.fill("#title", "Exams")
    page.wait_for_selector("#state:has-text('Saved.')")
    assert page.evaluate("document.getElementById('state').getBoundingClientRect().bottom <= innerHeight")
    box, line = (page.locator(f".pick:has([name=public]) {part}").bounding_box() for part in ("input", "span"))
    assert abs(box["y"] - line["y"]) < 8
    page.focus("#tag")
    field, keep = (page.locator(place).bounding_box() for place in ("#tag", ".keep"))
    assert field["y"] + field["height"] <= keep["y"], "what is written in is not behind what stays"
    tab.fine()
    context.close()
