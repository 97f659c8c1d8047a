"""The survey page in a real browser: its languages and states, and that nothing of an answer stays anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import deniable as dn
from deniable.service.access.identity import Identity
from deniable.service.settings import Settings
from deniable.service.tasks import Asked, Terms, new_task
from deniable.service.texts.catalogue import say
from deniable_client.task import Task
from pages.asks import TODAY, Paged, mechanisms, task
from pages.browsing import STORED, Tab, answer, axe, begin, browser, check, ready, send
from pages.recording import Proxy, Running
from pages.test_browser import artefacts, context, counted
from pages.test_languages import ARABIC, spoken

__all__ = ["artefacts", "context"]

pytestmark = pytest.mark.slow

AROUND = "<!doctype html><script src='{0}/embed.js'></script><deniable-survey task='{1}'></deniable-survey>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser(without=["--disable-back-forward-cache"]) as found:
        yield found


class Somebody:
    """The web site of somebody else, of one page."""

    def __init__(self) -> None:
        self.text = ""
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(pages.text.encode())

            def log_message(self, *_: Any) -> None:
                """Nothing is told."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://localhost:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def others() -> Iterator[list[Somebody]]:
    """Two web sites; the first one is listed."""
    found = [Somebody(), Somebody()]
    yield found
    for each in found:
        each.server.shutdown()
        each.server.server_close()


@pytest.fixture(scope="module")
def site(others: list[Somebody]) -> Iterator[Running]:
    with Running(Paged(settings=Settings(frames={"*": (others[0].origin,)}))) as found:
        yield found


@pytest.fixture
def proxy(site: Running) -> Iterator[Proxy]:
    with Proxy(site.url) as found:
        yield found


def opened(site: Running, document: dict[str, Any]) -> str:
    return str(site.service.add(document))


@pytest.mark.parametrize("look", ["light", "dark"])
def test_an_arabic_reader_answers_on_a_small_phone(site: Running, chromium: Any, artefacts: Path, look: str) -> None:
    """320 pixels, right to left, without sideways scroll; axe-core finds nothing in any state; forced colours too."""
    rules = axe()
    forced = "active" if look == "dark" else "none"
    made = chromium.new_context(
        viewport={"width": 320, "height": 640}, color_scheme=look, forced_colors=forced, bypass_csp=True, locale="ar-EG"
    )
    tab = Tab(made, f"{site.url}/t/{opened(site, spoken())}")
    page, found = tab.page, {}

    def look_at(name: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        page.screenshot(path=artefacts / f"arabic-{name}-{look}.png", full_page=True)
        page.evaluate(rules)
        for each in page.evaluate("axe.run().then((found) => found.violations)"):
            found[f"{name} {each['id']}"] = [node["html"][:200] for node in each["nodes"]][:2]

    ready(page)
    assert page.evaluate("[document.documentElement.lang, getComputedStyle(document.body).direction]") == ["ar", "rtl"]
    look_at("start")
    page.click("#decline")
    look_at("declined")
    page.click("#again")
    begin(page)
    look_at("question")
    answer(page)
    assert check(page) == ARABIC["questions"][0][0]["labels"][1]
    look_at("check")
    send(page)
    page.click("#sent summary")
    assert sorted(page.locator(".bars bdi").all_text_contents()) == sorted(ARABIC["questions"][0][0]["labels"])
    look_at("receipt")
    page.reload()
    ready(page)
    look_at("return")
    assert found == {}
    tab.fine()
    made.close()


def test_a_number_is_said_back_corrected_and_asked_about(site: Running, context: Any, proxy: Proxy) -> None:
    """37, back, 45, "1.000": nothing is refused or sent until it is sent, once; what is beyond is said."""
    id = opened(site, task([dn.mechanism("sw", epsilon=1.0, interval=(0, 2000))], "How much?"))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page = tab.page
    ready(page)
    begin(page)
    page.fill("[data-number]", "\u0663\u0667")
    assert check(page) == "37"
    page.go_back()
    page.wait_for_selector("#answer:not([hidden])")
    page.fill("[data-number]", "2.5e3")
    assert check(page) == "2,500"
    assert "counts as no answer" in page.inner_text("#beyond")
    page.click("#change")
    page.fill("[data-number]", "1.000")
    page.click("#go")
    page.wait_for_selector("[data-asked] button")
    assert "1,000 or 1?" in page.inner_text("#answer .problem")
    assert page.title().startswith("There is a problem: ")
    page.click("[data-asked] button >> nth=0")
    assert check(page) == "1,000"
    assert page.locator("#beyond").is_hidden()
    page.click("#change")
    page.click("#back")
    page.wait_for_selector("#start:not([hidden])")
    assert page.locator("#decline").is_disabled()
    page.click("#begin")
    assert page.input_value("[data-number]") == "1,000"
    check(page)
    assert proxy.sent("/reports") == []
    send(page)
    page.go_back()
    assert page.locator("#receipt").is_visible()
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    tab.fine()


def test_a_number_is_said_back_with_its_unit(site: Running, context: Any) -> None:
    """7.5 was said back as 7.5, of hours or of minutes."""
    design = dn.mechanism("om", epsilon=1.0, interval=(0, 24)).design
    asked = Asked(text="How long?", design=design, kind="number", unit="hours")
    terms = Terms(opens=TODAY, collector="Us", subject="sleep", min_batch=5)
    id = opened(site, new_task([asked], terms, Identity(os.urandom(32))))
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    tab.page.fill("[data-number]", "7,5")
    assert check(tab.page) == "7.5 hours"
    tab.fine()


def test_a_long_list_is_searched(site: Running, context: Any) -> None:
    id = opened(site, task(mechanisms()["list"], "Where?"))
    tab = Tab(context, f"{site.url}/t/{id}")
    page = tab.page
    ready(page)
    begin(page)
    page.fill("[data-search]", "city 3")
    assert page.inner_text("[data-found]") == "13 answers fit"
    assert page.locator("select option").count() == 13
    page.select_option("select", "39")
    page.fill("[data-search]", "nothing like it")
    assert page.locator("select option").count() == 1, "what was chosen stays"
    assert check(page) == "city 39"
    tab.fine()


def test_a_shared_tablet_keeps_nothing(site: Running, context: Any, proxy: Proxy) -> None:
    """Several people answer one after the other; after each the screen is clear, and the way back shows the start."""
    id = opened(site, spoken())
    tab = Tab(context, f"{proxy.url}/t/{id}?kiosk")
    page = tab.page
    for person in range(3):
        ready(page)
        assert page.locator("#start").is_visible()
        answer(page, person % 2)
        check(page)
        send(page)
        page.click("#finish")
        page.wait_for_selector("#start:not([hidden])")
    page.go_back()
    ready(page)
    assert page.locator("#start").is_visible()
    assert page.evaluate("indexedDB.databases()") == []
    assert len(proxy.sent("/reports")) == counted(site, id) == 3
    tab.fine()


def test_frames_are_for_listed_sites_and_say_where_they_come_from(
    site: Running, context: Any, others: list[Somebody]
) -> None:
    id = opened(site, spoken())
    seen: list[str] = []
    for listed, other in zip((True, False), others, strict=True):
        other.text = AROUND.format(site.url, id)
        page = context.new_page()
        page.on("console", lambda said: seen.append(said.text))
        page.goto(other.origin)
        frame = page.frame_locator("deniable-survey iframe")
        if listed:
            frame.locator("#survey[data-ready]").wait_for()
            assert "127.0.0.1" in frame.locator("#embedded").inner_text()
            own = frame
            if (
                frame.locator("#survey").get_attribute("data-ready") == "no"
            ):  # this browser lets no frame store anything
                assert "so nothing is sent" in frame.locator("#proof").inner_text()
                assert frame.locator("#begin").count() == 0
                with context.expect_page() as window:
                    frame.locator("#embedded a").click()
                own = window.value
                ready(own)
            own.locator("#begin").click()
            own.locator("input[type=radio][value='1']").check()
            own.locator("#go").click()
            own.locator("#send").click()
            own.locator("#receipt:not([hidden])").wait_for()
            assert page.evaluate("document.querySelector('iframe').contentDocument") is None
            assert not [text for text in seen if "frame-ancestors" in text]
        else:
            while not [text for text in seen if "frame-ancestors" in text]:
                page.wait_for_timeout(50)
            assert frame.locator("#survey").count() == 0
        page.close()
    assert counted(site, id) == 1


def test_the_coin_moves_where_that_is_wanted(site: Running, chromium: Any) -> None:
    """It stands still where people ask for that, and the same report is sent."""
    for wanted, moves in (("reduce", False), ("no-preference", True)):
        made = chromium.new_context(reduced_motion=wanted)
        tab = Tab(made, f"{site.url}/t/{opened(site, spoken())}")
        ready(tab.page)
        moving = "document.querySelector('#start .coin').getAnimations({ subtree: true }).length"
        tab.page.evaluate("document.querySelector('#replay').click()")
        assert (tab.page.evaluate(moving) > 0) is moves
        answer(tab.page)
        check(tab.page)
        assert send(tab.page) == "Thank you. Your report was counted."
        tab.fine()
        made.close()


def test_nothing_of_an_answer_is_kept_or_sent(site: Running, context: Any, proxy: Proxy) -> None:
    """A number that occurs nowhere else is typed and sent: it is in no request, storage, address, title or state.

    At no step; and in no page that is shown after that.
    """
    secret = "1357.24680"
    forms = (secret, "1357.2468", "1,357.2468", "1357")
    id = opened(site, task([dn.mechanism("sw", epsilon=1.0, interval=(0, 2000))], "How much?"))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page, seen = tab.page, []

    def kept() -> None:
        seen.append(page.evaluate(STORED))

    ready(page)
    begin(page)
    page.fill("[data-number]", secret)
    kept()
    assert check(page) == "1,357.2468"
    kept()
    send(page)
    kept()
    assert not any(form in page.content() for form in forms)
    page.reload()
    ready(page)
    kept()
    assert not any(form in page.content() for form in forms)
    assert len(seen) == 4
    assert "deniable" in seen[-1], "the ledger was looked at"
    requests = "\n".join(f"{each.path} {each.body!r}" for each in proxy.requests)
    assert "/reports" in requests
    for text in (*seen, requests):
        assert not [form for form in forms if form in text]
    (report,) = [json.loads(each.body)["reports"][0] for each in proxy.sent("/reports")]
    assert sorted(report) == ["id", "report"]
    assert TODAY.isoformat() not in requests
    tab.fine()


def test_a_tablet_that_was_left_is_cleared(site: Running, context: Any, proxy: Proxy) -> None:
    """After a minute it asks; who stays goes on, who is gone has sent one report, and nothing of the answer is left."""
    id = opened(site, spoken())
    tab = Tab(context, "about:blank")
    page = tab.page
    page.clock.install()
    page.goto(f"{proxy.url}/t/{id}?kiosk")
    ready(page)
    page.clock.run_for(100_000)
    assert page.locator("#start").is_visible(), "nobody has begun: there is nothing to clear"
    assert page.locator("#idle").is_hidden()
    answer(page, 1)
    check(page)
    page.clock.run_for(59_000)
    assert page.locator("#idle").is_hidden()
    page.clock.run_for(5_000)
    assert "1" in page.inner_text("#idle-text")
    page.click("#stay")
    assert page.locator("#idle").is_hidden()
    page.clock.run_for(59_000)
    assert page.inner_text("#said") == "often"
    with page.expect_navigation():
        page.clock.run_for(22_000)
    ready(page)
    assert page.locator("#start").is_visible()
    assert page.locator("input:checked").count() == 0
    assert page.text_content("#said") == ""
    assert page.evaluate("indexedDB.databases()") == []
    while not counted(site, id):
        page.wait_for_timeout(50)
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    tab.fine()


BODIES = """async () => {
  const open = indexedDB.open("deniable");
  const base = await new Promise((done) => { open.onsuccess = () => done(open.result); });
  const asked = base.transaction("ledger").objectStore("ledger").get("state");
  const state = await new Promise((done) => { asked.onsuccess = () => done(asked.result); });
  base.close();
  return state.report.map((each) => String(each.body));
}"""


def test_who_goes_back_and_forth_cannot_choose_the_noise(site: Running, context: Any, proxy: Proxy) -> None:
    """A, B, A, B, A: one report waits at any time, none is shown before it is sent (`check`), and the last is sent."""
    id = opened(site, task([dn.mechanism("oue", epsilon=1.0, labels=[f"answer {i}" for i in range(64)])], "Which?"))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page, drawn = tab.page, []
    ready(page)
    begin(page)
    for number in (3, 40, 3, 40, 3):
        answer(page, number)
        check(page)
        drawn.append(page.evaluate(BODIES))
        page.click("#change")
    assert [len(each) for each in drawn] == [1] * 5
    assert drawn[0] != drawn[1]
    check(page)
    last = page.evaluate(BODIES)
    send(page)
    (sent,) = proxy.sent("/reports")
    assert [json.loads(sent.body)["reports"][0]["report"]] == last
    assert counted(site, id) == 1
    tab.fine()


def test_a_report_that_could_not_be_sent_in_time_is_told(site: Running, context: Any) -> None:
    """No network at the press, and back after the task's last day: nothing is sent any more, and that is said."""
    document = spoken()
    id = opened(site, document)
    tab = Tab(context, f"{site.url}/t/{id}")
    page = tab.page
    ready(page)
    page.route("**/reports", lambda route: route.abort())
    answer(page)
    check(page)
    assert send(page) == say("en", "answer", "offline.title")
    tab.errors.clear()  # that there is no network
    later = Tab(context, "about:blank")
    page.close()
    later.page.clock.set_fixed_time(datetime.fromisoformat(Task.load(document).expires.isoformat()) + timedelta(2))
    later.page.goto(f"{site.url}/t/{id}")
    ready(later.page)
    assert later.page.inner_text("#receipt-title") == say("en", "answer", "rejected.title")
    assert later.page.inner_text("#outcome") == say("en", "answer", "rejected.gone")
    assert later.page.locator("#retry").is_hidden()
    assert counted(site, id) == 0
    later.fine()
