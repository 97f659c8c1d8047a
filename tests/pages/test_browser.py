"""The pages in a real browser: every kind of question answered, and what people and networks do to a page."""

from __future__ import annotations

import json
import os
import time
from base64 import b64decode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable_client.task import Task
from pages.asks import TODAY, kinds, mechanisms, task
from pages.browsing import WAIT, Tab, answer, axe, begin, browser, check, painted, ready, send
from pages.conftest import published
from pages.recording import Proxy, Running

pytestmark = pytest.mark.slow

DAY = 86_400_000
"""Milliseconds; what could not be delivered is tried again before the next."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """As people have it: it keeps pages for the way back."""
    with browser(without=["--disable-back-forward-cache"]) as found:
        yield found


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """Open tasks, and others with estimates."""
    with Running(published(400).service) as found:
        yield found


@pytest.fixture
def proxy(site: Running) -> Iterator[Proxy]:
    with Proxy(site.url) as found:
        yield found


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    made = chromium.new_context(viewport={"width": 360, "height": 740})
    yield made
    made.close()


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Where pictures go, for people to look at."""
    found = Path(os.environ.get("DENIABLE_ARTIFACTS", tmp_path))
    found.mkdir(parents=True, exist_ok=True)
    return found


def open_task(site: Running, kind: str = "choice", **more: Any) -> str:
    return site.service.add(task(mechanisms()[kind], f"A question of the kind {kind}?", **more))


def counted(site: Running, id: str) -> int:
    return sum(tally.n for tally in site.service.store.tallies(id).values())


@pytest.mark.parametrize("kind", mechanisms())
def test_each_kind_of_question_is_answered(
    site: Running, proxy: Proxy, context: Any, artefacts: Path, kind: str
) -> None:
    """On a phone: the promise is proved, then the question asked, the answer said back, the report sent and counted.

    All that the page loads until the question can be asked, with the heads of HTTP, has at most 60,000 bytes.
    """
    strata = {"strata": {"country": ["DE", "FR"]}} if kind == "survey" else {}
    id = open_task(site, kind, **strata)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page = tab.page
    ready(page)
    assert 20_000 < proxy.received <= 60_000
    assert page.inner_text("#proof") == "Your device has checked this by itself."
    if kind == "level":
        page.locator("[data-levels]").press("ArrowRight")
        assert page.inner_text(".level") == "1: good protection"
    page.screenshot(path=artefacts / f"survey-{kind}-1.png", full_page=True)
    begin(page)
    assert page.evaluate("() => scrollY") == 0
    if kind == "places":
        page.locator(".map path").nth(2).click()
        assert page.locator('fieldset input[type=radio][value="2"]').is_checked()
        answer(page, 3)
        assert page.locator(".map path").nth(3).get_attribute("class") == "chosen"
    else:
        answer(page)
    page.screenshot(path=artefacts / f"survey-{kind}-2.png", full_page=True)
    said = check(page)
    assert said.startswith({"number": "71", "places": "Hamburg", "list": "city 1", "ratings": "foam: "}.get(kind, ""))
    assert page.evaluate("() => scrollY") == 0
    page.screenshot(path=artefacts / f"survey-{kind}-3.png", full_page=True)
    assert counted(site, id) == 0
    assert proxy.sent("/reports") == []
    assert send(page) == "Thank you. Your report was counted."
    assert counted(site, id) == 1
    page.click("#sent summary")
    page.screenshot(path=artefacts / f"survey-{kind}-4.png", full_page=True)
    assert "people who send exactly this" in page.inner_text("#meant") or kind == "ratings"
    told = page.inner_text("#outcome").removeprefix("The collector has your report. ")
    assert told.startswith(("Whoever saw this report", "It names your answer openly"))
    assert "Left for this collector" in page.inner_text("#facts")
    (request,) = proxy.sent("/reports")
    body = b64decode(json.loads(request.body)["reports"][0]["report"])
    assert page.inner_text("#told code") == body.hex(" ")
    tab.fine()


def test_a_question_in_other_scripts_is_answered(site: Running, proxy: Proxy, context: Any) -> None:
    """Unicode's tables are loaded for it; labels are isolated, and the question stands under whose words it is."""
    labels = ["\u0628\u0644\u0647", "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645", "\u043d\u0435\u0442"]
    made = [dn.mechanism("grr", epsilon=1.0, labels=labels)]
    id = site.service.add(task(made, "\u062e\u0648\u0627\u0628\u06cc\u062f?"))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    assert 60_000 < proxy.received <= 78_000
    begin(tab.page)
    assert tab.page.inner_text("legend").splitlines()[0] == "The collector\u2019s words"
    assert tab.page.locator(".choice bdi").all_inner_texts() == labels
    answer(tab.page)
    check(tab.page)
    assert send(tab.page) == "Thank you. Your report was counted."
    assert sorted(tab.page.locator(".bars bdi").all_text_contents()) == sorted(labels)
    tab.fine()


@pytest.mark.parametrize("kind", mechanisms())
def test_no_answer_is_offered_first_and_sent_like_any_other(
    site: Running, proxy: Proxy, context: Any, kind: str
) -> None:
    """ "I prefer not to say" stands before all answers; its report is as long as every other, and is counted."""
    id = open_task(site, kind)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    field = tab.page.locator("fieldset.question:not([hidden])")
    offered = field.locator("label.choice, option:not([disabled])")
    if kind != "ratings":
        assert "I prefer not to say" in offered.first.inner_text()
    answer(tab.page, None)
    assert check(tab.page) == "I prefer not to say"
    assert send(tab.page) == "Thank you. Your report was counted."
    (request,) = proxy.sent("/reports")
    body = b64decode(json.loads(request.body)["reports"][0]["report"])
    assert len(body) == Task.load(site.service.store.task(id).document).width
    assert counted(site, id) == 1
    tab.fine()


@pytest.mark.parametrize("given", ["-5", "1e300"])
def test_a_number_beyond_the_ends_is_taken(site: Running, context: Any, given: str) -> None:
    """Who is refused tells that the value is beyond."""
    id = open_task(site, "number")
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    tab.page.fill("[data-number]", given)
    assert check(tab.page) == given
    assert send(tab.page) == "Thank you. Your report was counted."
    assert counted(site, id) == 1
    tab.fine()


def test_a_task_that_costs_too_much_is_declined_before_the_question(site: Running, context: Any, proxy: Proxy) -> None:
    """One collector gets 2 in a year: a task of 2.5 is not asked, and nothing is sent, also not later."""
    made = [dn.mechanism("ss", epsilon=2.5, labels=["never", "sometimes", "often"])]
    id = site.service.add(task(made, budget=2.5))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    for _ in range(2):
        assert tab.page.inner_text("#no h1") == "No question for you this time"
        assert (
            "would cost more than one collector may learn from this device in a year (epsilon 2)"
            in tab.page.inner_text("#no")
        )
        assert tab.page.locator("#start").is_hidden()
        assert tab.page.locator("#answer").is_hidden()
        tab.page.reload()
        ready(tab.page)
    assert proxy.sent("/reports") == []
    tab.fine()


def test_the_page_is_painted_before_any_script_comes(site: Running, context: Any) -> None:
    """And what is shown by then is what taking part means; that nobody can take part yet is shown, too."""
    page = context.new_page()
    assert painted(page, f"{site.url}/t/{open_task(site)}") is not None
    assert page.locator("h1").first.is_visible()
    assert page.locator("#start .note").is_visible()
    assert page.inner_text("#proof").startswith("Checking the promise")
    assert page.locator("#begin").is_disabled()
    assert page.locator("#answer").is_hidden()


def test_consent_comes_first(site: Running, context: Any, proxy: Proxy) -> None:
    """Without it the question is not asked, and nothing is sent; without an answer nothing goes on."""
    id = open_task(site, "sensitive")
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    tab.page.click("#begin")
    assert "Please agree" in tab.page.inner_text("#start .problem")
    assert tab.page.evaluate("document.activeElement.matches('[data-consent]')")
    assert tab.page.locator("#answer").is_hidden()
    tab.page.reload()
    ready(tab.page)
    assert proxy.sent("/reports") == []
    begin(tab.page)
    tab.page.click("#go")
    assert "Choose an answer" in tab.page.inner_text("#answer .problem")
    assert tab.page.locator("#check").is_hidden()
    tab.fine()


def test_an_answer_can_be_changed_until_it_is_sent(site: Running, context: Any, proxy: Proxy) -> None:
    """One report leaves, that of the last answer; two clicks send once; after that the receipt is all there is."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page = tab.page
    ready(page)
    answer(page, 1)
    assert check(page) == "sometimes"
    page.click("#change")
    answer(page, 2)
    assert check(page) == "often"
    assert proxy.sent("/reports") == []
    page.dblclick("#send")
    page.wait_for_selector("#receipt:not([hidden])")
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    page.goto(f"{proxy.url}/t/{'0' * 64}")
    page.go_back()
    page.wait_for_selector("#receipt-title:has-text('You have already answered')")
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    tab.errors = [error for error in tab.errors if "404" not in error]  # the page that it came back from
    tab.fine()


@pytest.mark.parametrize("stage", ["question", "check"])
def test_who_comes_back_after_leaving_finds_the_report_sent(
    site: Running, context: Any, proxy: Proxy, stage: str
) -> None:
    """From "Take part" on there is one report: reloading the page sends it, answered or not, and asks no more."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    if stage == "check":
        answer(tab.page)
        check(tab.page)
    tab.page.reload()
    ready(tab.page)
    assert tab.page.inner_text("#receipt-title") == "Thank you. Your report was counted."
    assert tab.page.locator("#answer").is_hidden()
    assert counted(site, id) == 1
    assert len({request.body for request in proxy.sent("/reports")}) == 1
    tab.fine()


@pytest.mark.parametrize("how", ["closes", "goes elsewhere", "goes back"])
@pytest.mark.parametrize("stage", ["question", "check"])
def test_who_leaves_sends_one_report(site: Running, context: Any, proxy: Proxy, stage: str, how: str) -> None:
    """At once, without coming back, answered or not."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{'0' * 64}")  # to go back to
    tab.page.goto(f"{proxy.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    if stage == "check":
        answer(tab.page)
        check(tab.page)
    assert proxy.sent("/reports") == []
    if how == "closes":
        tab.page.close(run_before_unload=True)
    elif how == "goes elsewhere":
        tab.page.goto("about:blank")
    else:  # to the page before, past the steps of this one
        for _ in range(2 if stage == "question" else 3):
            tab.page.go_back()
    deadline = time.monotonic() + WAIT / 1000
    while not counted(site, id) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    assert all("404" in error for error in tab.errors)


def test_a_page_that_comes_back_as_it_was_left_asks_no_more(site: Running, context: Any, proxy: Proxy) -> None:
    """Browsers may keep pages for the way back: the report is sent by then, and a receipt is shown."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    begin(tab.page)
    for event in ("pagehide", "pageshow"):
        tab.page.evaluate(
            "(name) => { dispatchEvent(new PageTransitionEvent(name, { persisted: true })); }",
            event,
        )
    tab.page.wait_for_selector("#receipt-title:has-text('Thank you')")
    assert tab.page.locator("#answer").is_hidden()
    assert counted(site, id) == 1
    assert len({request.body for request in proxy.sent("/reports")}) == 1
    tab.fine()


def test_two_tabs_send_one_report(site: Running, context: Any, proxy: Proxy) -> None:
    """Whoever takes part second has it sent as it is; the first then sees the receipt in place of another answer."""
    id = open_task(site)
    tabs = [Tab(context, f"{proxy.url}/t/{id}") for _ in range(2)]
    for tab in tabs:
        ready(tab.page)
    begin(tabs[0].page)
    tabs[1].page.click("#begin")
    tabs[1].page.wait_for_selector("#receipt-title:has-text('Thank you')")
    answer(tabs[0].page, 2)
    tabs[0].page.click("#go")
    tabs[0].page.wait_for_selector("#receipt-title:has-text('Thank you')")
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    for tab in tabs:
        tab.fine()


def visit(context: Any, url: str, days: int = 0) -> Tab:
    """A page whose clock is so many days ahead."""
    tab = Tab(context, "about:blank")
    clock = "const now = Date.now; Date.now = () => now() + window.ahead;"
    tab.page.add_init_script(f"window.ahead = {days * DAY}; {{ {clock} }}")
    tab.page.goto(url)
    ready(tab.page)
    return tab


@pytest.mark.parametrize("how", ["stays", "comes back"])
def test_offline_and_back(site: Running, context: Any, proxy: Proxy, how: str) -> None:
    """What was sent without a network is kept, told so, and sent when it is back; also after a reload."""
    id = open_task(site)
    tab = visit(context, f"{proxy.url}/t/{id}")
    answer(tab.page)
    check(tab.page)
    context.set_offline(True)
    assert send(tab.page) == "Not sent yet"
    assert tab.page.locator("#sent").is_hidden()
    assert counted(site, id) == 0
    if how == "comes back":
        tab.page.close()
        context.set_offline(False)
        tab = visit(context, f"{proxy.url}/t/{id}", 1)
    else:
        tab.page.evaluate(f"() => {{ window.ahead = {DAY}; }}")
        context.set_offline(False)
    tab.page.wait_for_selector("#receipt-title:has-text('Thank you')")
    assert counted(site, id) == 1
    assert all("ERR_INTERNET_DISCONNECTED" in error for error in tab.errors)


def test_who_comes_back_sees_what_became_of_the_report(site: Running, context: Any, proxy: Proxy) -> None:
    """Nothing is sent a second time; the next window asks again; a new ledger waits until it knows a whole window."""
    id = open_task(site, opens=TODAY - timedelta(7), windows=2, budget=2)
    url = f"{proxy.url}/t/{id}"
    new = visit(context, url, -5)
    assert "too new" in new.page.inner_text("#no-text")
    session = context.new_cdp_session(new.page)
    session.send("Storage.clearDataForOrigin", {"origin": proxy.url, "storageTypes": "all"})
    visit(context, url, -20)  # it is known since then
    first = visit(context, url, -5)
    answer(first.page)
    check(first.page)
    assert send(first.page) == "Thank you. Your report was counted."
    back = visit(context, url, -4)
    assert back.page.inner_text("#receipt-title") == "You have already answered"
    assert back.page.locator("#start").is_hidden()
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    second = visit(context, url, 0)
    assert second.page.locator("#start").is_visible()
    assert second.page.locator("#receipt").is_hidden()
    answer(second.page)
    check(second.page)
    assert send(second.page) == "Thank you. Your report was counted."
    assert len(proxy.sent("/reports")) == counted(site, id) == 2
    over = visit(context, url, 40)  # this clock is wrong: the task is over
    assert over.page.inner_text("#receipt-title") == "You have already answered"
    assert over.page.locator("#start").is_hidden()
    assert len(proxy.sent("/reports")) == 2
    for tab in (new, first, back, second):
        tab.fine()


def test_a_task_that_closes_meanwhile_is_told(site: Running, context: Any) -> None:
    id = open_task(site)
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    answer(tab.page)
    check(tab.page)
    site.service.store.set_state(id, "closed")
    site.service.collector.forget(id)
    assert send(tab.page) == "Your report was not counted"
    tab.page.reload()
    assert tab.page.inner_text("h1") == "This survey is over"


@pytest.mark.parametrize("fault", ["opening", "writing"])
def test_storage_that_fails_sends_nothing(site: Running, context: Any, proxy: Proxy, fault: str) -> None:
    """And says so, before the question: a report that is not written down first could be drawn twice."""
    broken = "() => { throw new DOMException('no', 'QuotaExceededError'); }"
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}" if fault == "writing" else "about:blank")
    if fault == "opening":
        tab.page.add_init_script(f"IDBFactory.prototype.open = {broken};")
        tab.page.goto(f"{proxy.url}/t/{id}")
        tab.page.wait_for_selector('#survey[data-ready="no"]')
        assert "nothing is sent" in tab.page.inner_text("#proof")
        assert tab.page.locator("#begin").count() == 0
    else:
        ready(tab.page)
        tab.page.evaluate(f"() => {{ IDBObjectStore.prototype.put = {broken}; }}")
        tab.page.click("#begin")
        tab.page.wait_for_selector("#start .problem:not([hidden])")
    assert tab.page.locator("#answer").is_hidden()
    assert proxy.sent("/reports") == []
    tab.fine()


def test_a_task_that_was_changed_on_the_way_is_not_asked(site: Running, context: Any) -> None:
    """A collector that serves another document under this id: the page proves nothing, and nothing can be sent."""
    id = open_task(site)
    other = open_task(site)
    page = context.new_page()
    page.route(f"**/v1/tasks/{id}", lambda route: route.continue_(url=f"{site.url}/v1/tasks/{other}"))
    page.goto(f"{site.url}/t/{id}")
    page.wait_for_selector('#survey[data-ready="no"]')
    assert "Nothing can be sent" in page.inner_text("#proof")
    assert page.locator("#begin").count() == 0


def _signed_in(site: Running, context: Any, path: str = "/") -> Tab:
    tab = Tab(context, f"{site.url}{path}")
    tab.errors.clear()  # 401, to sign in
    key = site.service.key("administrator")["authorization"].removeprefix("Bearer ")
    tab.page.fill("input[name=key]", key)
    tab.page.click("button")
    tab.page.wait_for_selector("nav")
    return tab


def _ids(site: Running) -> dict[str, str]:
    found = {}
    for row in site.service.store.tasks():
        known = Task.load(row.document)
        found.setdefault(known.questions[0].text, row.id)
    return found


PLAN = "/plan?text=How+often%3F&kind=shares&answers=never%0Aoften&people=10000&epsilon=1"


@pytest.mark.turns(2)
@pytest.mark.parametrize("look", ["light", "dark"])
def test_nothing_stands_in_anybodys_way(site: Running, chromium: Any, artefacts: Path, look: str) -> None:
    """axe-core finds no violation on any page, light and dark, wide and narrow; pictures are kept."""
    rules = axe()
    found: dict[str, Any] = {}

    def look_at(page: Any, name: str) -> None:
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide"
            photograph(page, artefacts / f"{name}-{width}-{look}.png")
        page.evaluate(rules)
        for each in page.evaluate("axe.run().then((found) => found.violations)"):
            found[f"{name} {each['id']}"] = [node["html"][:200] for node in each["nodes"]][:2]

    context = chromium.new_context(color_scheme=look, bypass_csp=True)
    tab = _signed_in(site, context)
    ids = _ids(site)
    paths = {"tasks": "/", "plan": PLAN, "refused": f"/t/{'0' * 64}"}
    for kind in ("choice", "number", "ratings", "list", "sensitive"):
        paths[f"task-{kind}"] = f"/tasks/{ids[f'A question of the kind {kind}?']}?error=1"
    paths["task-survey"] = f"/tasks/{ids['One of several?']}"
    paths["certificate"] = f"/tasks/{ids['A question of the kind sensitive?']}/certificate"
    paths["signin"] = "/"
    for name, path in paths.items():
        if name == "signin":
            context.clear_cookies()
        tab.page.goto(f"{site.url}{path}", wait_until="load")
        look_at(tab.page, name)
        if name == "certificate":
            tab.page.emulate_media(media="print")
            photograph(tab.page, artefacts / f"{name}-print-{look}.png")
            tab.page.emulate_media(media="screen")
    context.close()
    for name, document in kinds().items():
        context = chromium.new_context(color_scheme=look, bypass_csp=True)  # a browser has few places for collectors
        page = Tab(context, f"{site.url}/t/{site.service.add(document)}").page
        ready(page)
        look_at(page, f"survey-{name}-1-start")
        answer(page)
        look_at(page, f"survey-{name}-2-question")
        check(page)
        look_at(page, f"survey-{name}-3-check")
        send(page)
        page.click("#sent summary")
        look_at(page, f"survey-{name}-4-receipt")
        context.close()
    assert found == {}


def photograph(page: Any, path: Path) -> None:
    """The whole page, with the pictures that would come when somebody scrolls to them."""
    page.evaluate("() => document.querySelectorAll('img').forEach((each) => { each.loading = 'eager'; })")
    page.wait_for_function("() => [...document.images].every((each) => each.complete)")
    page.screenshot(path=path, full_page=True)


def test_a_plan_is_opened_answered_and_looked_at(site: Running, context: Any) -> None:
    """The whole way by hand: plan, draft, open, answer on a phone, and the count on the dashboard goes up by itself."""
    tab = _signed_in(site, context, PLAN)
    tab.page.goto(f"{site.url}{PLAN}")
    tab.page.click("text=Write a questionnaire with it")
    tab.page.wait_for_selector("#draft")
    for name in ("title", "who", "why"):
        tab.page.fill(f"#{name}", f"The {name}")
    tab.page.click('button[value="next"]')
    tab.page.wait_for_selector(".grade")
    tab.page.click("text=Open it")
    tab.page.click("text=Open for good")
    tab.page.wait_for_selector("#live")
    assert tab.page.inner_text("#reports") == "0"
    person = Tab(context, site.url + tab.page.get_attribute("text=Survey page", "href"))
    ready(person.page)
    answer(person.page)
    check(person.page)
    assert send(person.page) == "Thank you. Your report was counted."
    tab.page.wait_for_selector("#reports:text-is('1')")
    tab.fine()
    person.fine()


def test_the_keyboard_is_enough(site: Running, context: Any) -> None:
    """Tab, arrows, space and enter; no pointer."""
    id = open_task(site)
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    keys = tab.page.keyboard

    def reach(what: str) -> None:
        for _ in range(8):
            if tab.page.evaluate("(what) => document.activeElement.matches(what)", what):
                return
            keys.press("Tab")
        raise AssertionError(f"{what} is not reached")

    reach("#begin")
    keys.press("Enter")
    tab.page.wait_for_selector("#answer:not([hidden])")
    assert tab.page.evaluate("document.activeElement.id") == "answer"
    reach("input[type=radio]")
    keys.press("Space")
    reach("#go")
    keys.press("Enter")
    tab.page.wait_for_selector("#check:not([hidden])")
    assert tab.page.evaluate("document.activeElement.id") == "check"
    reach("#send")
    keys.press("Enter")
    tab.page.wait_for_selector("#receipt:not([hidden])")
    assert tab.page.evaluate("document.activeElement.id") == "receipt"
    assert counted(site, id) == 1


def test_a_new_browser_knows_no_tasks(site: Running, context: Any) -> None:
    """Pages of analysts are not shown without a key, and the key is nothing that scripts can read."""
    tab = _signed_in(site, context)
    assert tab.page.evaluate("document.cookie") == ""
    tab.page.click("text=Sign out")
    tab.page.wait_for_selector("input[name=key]")
