"""The pages in a real browser: every kind of question answered, and what people and networks do to a page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable_client.task import Task
from pages.asks import kinds, mechanisms, task
from pages.browsing import Tab, answer, axe, browser, painted, preview, ready, send
from pages.conftest import published
from pages.recording import Proxy, Running

pytestmark = pytest.mark.slow

NEXT_WEEK = "{ const now = Date.now; Date.now = () => now() + 8 * 86400000; }"
"""Run before a page's scripts: its clock is eight days ahead, in the next window."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
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
    """On a phone: the promise is proved, the report shown, sent and counted; the receipt has the budget.

    All that the page loads until then, with the heads of HTTP, has at most 60,000 bytes.
    """
    strata = {"strata": [{"name": "country", "values": ["DE", "FR"]}]} if kind == "survey" else {}
    id = open_task(site, kind, **strata)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page = tab.page
    ready(page)
    assert 20_000 < proxy.received <= 60_000
    assert page.inner_text("#proof").startswith("Checked on your device:")
    page.screenshot(path=artefacts / f"survey-{kind}-1.png", full_page=True)
    if kind == "places":
        page.locator(".map path").nth(2).click()
        assert page.locator("fieldset input[type=radio]").nth(2).is_checked()
        answer(page, 3)
        assert page.locator(".map path").nth(3).get_attribute("class") == "chosen"
    else:
        answer(page)
    if kind == "level":
        page.locator("[data-levels]").press("ArrowRight")
        assert page.inner_text(".level") == "1: good protection"
    report = preview(page)
    assert page.evaluate("() => scrollY") == 0
    page.screenshot(path=artefacts / f"survey-{kind}-2.png", full_page=True)
    assert "people who send exactly this" in page.inner_text("#meant") or kind == "ratings"
    meaning = page.inner_text("#meant > p:last-child")
    assert meaning.startswith(("Somebody who thought two ", "This report names your answer openly"))
    assert counted(site, id) == 0
    assert send(page) == "Thank you, your report was counted"
    page.screenshot(path=artefacts / f"survey-{kind}-3.png", full_page=True)
    assert page.inner_text("#outcome") == f"The collector has your report. {meaning}"
    assert counted(site, id) == 1
    assert "Left in all" in page.inner_text("#facts")
    assert len(report.split()) == int(page.inner_text("#told").split()[3])
    tab.fine()


def test_a_question_in_other_scripts_is_answered(site: Running, proxy: Proxy, context: Any) -> None:
    """Unicode's tables are loaded for it; labels are isolated, and the question stands under whose words it is."""
    labels = ["\u0628\u0644\u0647", "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645", "\u043d\u0435\u0442"]
    made = [dn.mechanism("grr", epsilon=1.0, labels=labels)]
    id = site.service.add(task(made, "\u062e\u0648\u0627\u0628\u06cc\u062f?"))
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    assert tab.page.inner_text("legend").splitlines()[0] == "The collector\u2019s words"
    assert tab.page.locator(".choice bdi").all_inner_texts() == labels
    assert 60_000 < proxy.received <= 78_000
    answer(tab.page)
    preview(tab.page)
    assert sorted(tab.page.locator(".bars bdi").all_inner_texts()) == sorted(labels)
    assert send(tab.page) == "Thank you, your report was counted"
    tab.fine()


def test_the_question_is_painted_before_any_script_comes(site: Running, context: Any) -> None:
    """And what is shown by then is the question with its answers; that nothing can be sent yet is shown, too."""
    page = context.new_page()
    assert painted(page, f"{site.url}/t/{open_task(site)}") is not None
    assert page.locator("h1").is_visible()
    assert page.locator("input[type=radio]").count() == 4
    assert page.inner_text("#proof").startswith("Checking the promise")
    assert page.locator("#go").is_disabled()


def test_consent_comes_first(site: Running, context: Any) -> None:
    """Without it, and without an answer, nothing is drawn."""
    id = open_task(site, "sensitive")
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    tab.page.click("#go")
    assert "choose an answer" in tab.page.inner_text("#problem")
    tab.page.locator("input[type=radio]").nth(2).check()
    tab.page.click("#go")
    assert "agree first" in tab.page.inner_text("#problem")
    assert tab.page.locator("#preview").is_hidden()
    tab.fine()


def test_the_same_answer_is_the_same_report_and_another_is_refused(site: Running, context: Any, proxy: Proxy) -> None:
    """After reload, back button and in another tab; what was left is not sent with it; two clicks send once."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    page = tab.page
    ready(page)
    answer(page)
    first = preview(page)
    page.click("#leave")
    assert preview(page) == first
    page.reload()
    ready(page)
    answer(page)
    assert preview(page) == first
    page.goto(f"{proxy.url}/t/{'0' * 64}")
    page.go_back()
    ready(page)
    answer(page)
    assert preview(page) == first
    other = Tab(context, f"{proxy.url}/t/{id}")
    ready(other.page)
    answer(other.page, 2)
    other.page.click("#go")
    other.page.wait_for_selector("#problem:not([hidden])")
    assert "another answer" in other.page.inner_text("#problem") or "answered" in other.page.inner_text("#problem")
    answer(other.page)
    assert preview(other.page) == first
    assert proxy.sent("/reports") == []
    page.dblclick("#send")
    page.wait_for_selector("#receipt:not([hidden])")
    assert send(other.page) == "Thank you, your report was counted"
    assert counted(site, id) == 1
    assert len({request.body for request in proxy.sent("/reports")}) == 1
    tab.errors = [error for error in tab.errors if "404" not in error]  # the page that it came back from
    tab.fine()
    other.fine()


def test_a_report_that_was_left_stays_even_when_another_is_sent(site: Running, context: Any, proxy: Proxy) -> None:
    """Shown in one window and not sent; the next window's is sent alone."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    answer(tab.page)
    preview(tab.page)
    tab.page.click("#leave")
    second = context.new_page()
    second.add_init_script(NEXT_WEEK)
    second.goto(f"{proxy.url}/t/{id}")
    ready(second)
    answer(second)
    preview(second)
    second.click("#send")
    second.wait_for_selector("#receipt:not([hidden])")
    assert len(proxy.sent("/reports")) == 1
    tab.fine()


def test_offline_and_back(site: Running, context: Any, proxy: Proxy) -> None:
    """What was sent without a network is kept, told so, and sent when it is back; also after a reload."""
    ids = [open_task(site), open_task(site)]
    tab = Tab(context, f"{proxy.url}/t/{ids[0]}")
    for id in ids:
        tab.page.goto(f"{proxy.url}/t/{id}")
        ready(tab.page)
        answer(tab.page)
        preview(tab.page)
        context.set_offline(True)
        assert send(tab.page) == "Not sent yet"
        assert counted(site, id) == 0
        context.set_offline(False)
        if id == ids[1]:
            tab.page.goto(f"{proxy.url}/t/{id}")
        tab.page.wait_for_selector("#receipt-title:has-text('Thank you')")
        assert counted(site, id) == 1
    assert all("ERR_INTERNET_DISCONNECTED" in error for error in tab.errors)


def test_who_comes_back_sees_what_became_of_the_report(site: Running, context: Any, proxy: Proxy) -> None:
    """Nothing is sent a second time; the next window asks again, and sends what an earlier one left."""
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    ready(tab.page)
    answer(tab.page)
    preview(tab.page)
    assert send(tab.page) == "Thank you, your report was counted"
    tab.page.reload()
    ready(tab.page)
    assert tab.page.inner_text("#receipt-title") == "Thank you, your report was counted"
    assert tab.page.locator("#answer").is_hidden()
    assert len(proxy.sent("/reports")) == counted(site, id) == 1
    second = context.new_page()
    second.add_init_script(NEXT_WEEK)
    second.goto(f"{proxy.url}/t/{id}")
    ready(second)
    assert second.locator("#answer").is_visible()
    assert second.locator("#receipt").is_hidden()
    answer(second)
    preview(second)
    second.route("**/reports", lambda route: route.abort())
    assert send(second) == "Not sent yet"
    third = context.new_page()
    third.add_init_script(NEXT_WEEK * 2)
    third.goto(f"{proxy.url}/t/{id}")
    ready(third)
    assert third.locator("#answer").is_visible()
    assert len(proxy.sent("/reports")) == 2
    wrong = context.new_page()
    wrong.add_init_script(NEXT_WEEK * 5)  # this clock is wrong: the task is over
    wrong.goto(f"{proxy.url}/t/{id}")
    ready(wrong)
    assert "this task" in wrong.inner_text("#problem")
    tab.fine()


def test_a_task_that_closes_meanwhile_is_told(site: Running, context: Any) -> None:
    id = open_task(site)
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    answer(tab.page)
    preview(tab.page)
    site.service.store.set_state(id, "closed")
    site.service.collector.forget(id)
    assert send(tab.page) == "Your report was not counted"
    tab.page.reload()
    assert "not open" in tab.page.inner_text("h1")


@pytest.mark.parametrize("fault", ["indexedDB.open", "localStorage.setItem"])
def test_storage_that_fails_sends_nothing(site: Running, context: Any, proxy: Proxy, fault: str) -> None:
    """And says so."""
    name = fault.partition(".")[0]
    owner = "IDBFactory" if name == "indexedDB" else "Storage"
    method = fault.partition(".")[2]
    broken = "() => { throw new DOMException('no', 'QuotaExceededError'); }"
    context.add_init_script(f"{owner}.prototype.{method} = {broken};")
    id = open_task(site)
    tab = Tab(context, f"{proxy.url}/t/{id}")
    if name == "indexedDB":
        tab.page.wait_for_selector('#survey[data-ready="no"]')
        assert "Nothing can be sent" in tab.page.inner_text("#proof")
        assert tab.page.locator("#go").is_disabled()
    else:
        ready(tab.page)
        answer(tab.page)
        preview(tab.page)
        tab.page.click("#send")
        tab.page.wait_for_selector("#preview .problem:not([hidden])")
        assert "could not be sent" in tab.page.inner_text("#preview .problem")
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
    assert page.locator("#go").is_disabled()


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


@pytest.mark.parametrize("look", ["light", "dark"])
def test_nothing_stands_in_anybodys_way(site: Running, chromium: Any, artefacts: Path, look: str) -> None:
    """axe-core finds no violation on any page, light and dark, wide and narrow; pictures are kept."""
    rules = axe()
    context = chromium.new_context(color_scheme=look, bypass_csp=True)
    tab = _signed_in(site, context)
    ids = _ids(site)
    paths = {"tasks": "/", "plan": PLAN, "refused": f"/t/{'0' * 64}"}
    for kind in ("choice", "number", "ratings", "list", "sensitive"):
        paths[f"task-{kind}"] = f"/tasks/{ids[f'A question of the kind {kind}?']}?error=1"
    paths["task-survey"] = f"/tasks/{ids['One of several?']}"
    paths["certificate"] = f"/tasks/{ids['A question of the kind sensitive?']}/certificate"
    for name, document in kinds().items():
        paths[f"survey-{name}"] = f"/t/{site.service.add(document)}"
    paths["signin"] = "/"
    found: dict[str, Any] = {}
    for name, path in paths.items():
        if name == "signin":
            context.clear_cookies()
        for width in (360, 1280):
            tab.page.set_viewport_size({"width": width, "height": 800})
            tab.page.goto(f"{site.url}{path}", wait_until="load")
            if name.startswith("survey"):
                ready(tab.page)
            wide = tab.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} pixels wide"
            photograph(tab.page, artefacts / f"{name}-{width}-{look}.png")
        if name == "certificate":
            tab.page.emulate_media(media="print")
            photograph(tab.page, artefacts / f"{name}-print-{look}.png")
            tab.page.emulate_media(media="screen")
        tab.page.evaluate(rules)
        for each in tab.page.evaluate("axe.run().then((found) => found.violations)"):
            found[f"{name} {each['id']}"] = [node["html"][:200] for node in each["nodes"]][:2]
    context.close()
    assert found == {}


def photograph(page: Any, path: Path) -> None:
    """The whole page, with the pictures that would come when somebody scrolls to them."""
    page.evaluate("() => document.querySelectorAll('img').forEach((each) => { each.loading = 'eager'; })")
    page.wait_for_function("() => [...document.images].every((each) => each.complete)")
    page.screenshot(path=path, full_page=True)


def test_a_plan_is_opened_answered_and_looked_at(site: Running, context: Any) -> None:
    """The whole way by hand: plan, open, answer on a phone, and the count on the dashboard goes up without a reload."""
    tab = _signed_in(site, context, PLAN)
    tab.page.goto(f"{site.url}{PLAN}")
    tab.page.locator("text=Open this task").first.click()
    tab.page.wait_for_selector("#live")
    assert tab.page.inner_text("#reports") == "0"
    person = Tab(context, site.url + tab.page.get_attribute("text=Survey page", "href"))
    ready(person.page)
    answer(person.page)
    preview(person.page)
    assert send(person.page) == "Thank you, your report was counted"
    tab.page.wait_for_selector("#reports:text-is('1')")
    tab.fine()
    person.fine()


def test_the_keyboard_is_enough(site: Running, context: Any) -> None:
    """Tab, arrows, space and enter; no pointer."""
    id = open_task(site)
    tab = Tab(context, f"{site.url}/t/{id}")
    ready(tab.page)
    keys = tab.page.keyboard
    keys.press("Tab")
    keys.press("Space")
    for _ in range(6):
        if tab.page.evaluate("document.activeElement.id") == "go":
            break
        keys.press("Tab")
    keys.press("Enter")
    tab.page.wait_for_selector("#preview:not([hidden])")
    assert tab.page.evaluate("document.activeElement.id") == "preview"
    for _ in range(6):
        if tab.page.evaluate("document.activeElement.id") == "send":
            break
        keys.press("Tab")
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
