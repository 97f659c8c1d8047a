"""The JavaScript client in a real browser: IndexedDB, several tabs, reloads, full storage."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable_client import Device
from js.families import FAMILIES, MORE, SEED, task_of
from js.site import SOURCE, Site

pytestmark = pytest.mark.slow

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-extensions")
LOAD = """
    await import("/src/index.js");
    const { Task } = await import("/src/task.js");
    const { Ledger } = await import("/src/ledger.js");
    const clock = () => Date.parse(given.now ?? "2026-11-16T12:00:00Z");
    const open = (options = {}) => new Ledger(given.name ?? "ledger", { clock, delay: 0, ...options });
    const kind = (work) => work.then(() => null, (error) => error.kind ?? String(error));
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: install it to test the client in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="install playwright to drive a browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Any) -> Iterator[Any]:
    """A profile of its own, with its own storage."""
    made = chromium.new_context()
    yield made
    made.close()


def page_of(context: Any, site: Site) -> Any:
    """A new tab."""
    page = context.new_page()
    page.goto(site.url)
    return page


def run(page: Any, code: str, **given: Any) -> Any:
    """Run code in a page, with the client at hand."""
    return page.evaluate("async (given) => {" + LOAD + code + "}", given)


def coin(**changes: Any) -> dict[str, Any]:
    """A task with a yes/no question."""
    return task_of(dn.mechanism("grr", epsilon=1.0, k=2), **changes)


@pytest.mark.turns(2)
def test_a_browser_requests_the_core_and_the_family_and_no_more(context: Any, site: Site) -> None:
    """What is asked of the server to prove a design and draw a report, byte by byte, in a tab that has nothing yet."""
    for family in (*FAMILIES, *MORE):
        page = page_of(context, site)
        m = family.mechanism()
        value = family.people(np.random.default_rng(SEED), 1)[0]
        width, names = page.evaluate(
            """async ({ design, value, harmless }) => {
              const { deviceFor } = await import("/src/load.js");
              const report = (await deviceFor(design, { harmless })).report(value);
              const asked = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
              return [report.length, asked];
            }""",
            {"design": dict(m.design), "value": value, "harmless": family.harmless},
        )
        page.close()
        asked = {name for name in names if name.endswith(".js")}
        assert width == len(Device(dict(m.design), harmless=family.harmless).report(value))
        assert {"/src/load.js", "/src/device.js", "/src/designs.js"} < asked
        assert not {f"/src/{name}.js" for name in ("index", "types", "explain", "task", "ledger", "outbox")} & asked
        besides = {"/src/intervals.js"} & asked
        size = sum((SOURCE.parent / name.lstrip("/")).stat().st_size for name in asked - besides)
        assert 35_000 < size < 60_000, (family.name, size)


def test_a_task_of_each_family_is_answered_sent_and_counted(context: Any, site: Site) -> None:
    page = page_of(context, site)
    rng = np.random.default_rng(SEED)
    for family in FAMILIES:
        m = family.mechanism()
        task, values = task_of(m), family.people(rng, 12)
        receipts = run(
            page,
            """
            const task = Task.load(given.task);
            const receipts = [];
            for (const [i, value] of given.values.entries()) {
              const ledger = new Ledger(`${task.id} ${i}`, { clock, delay: 0 });
              const level = given.levels?.[i % given.levels.length] ?? null;
              receipts.push(await ledger.answer(task, value, { harmless: given.harmless, level }));
              await ledger.flush(given.url);
            }
            return receipts;
            """,
            task=task,
            values=values,
            harmless=family.harmless,
            url=site.url,
            levels=None if family.levels is None else list(family.levels),
        )
        rows = site.reports(task["id"])
        assert {receipt["id"] for receipt in receipts} == set(rows)
        assert all(receipt["answered"] for receipt in receipts)
        width = Device(m.design, harmless=family.harmless).kernel.width
        assert {len(row) for row in rows.values()} == {width}
        reports = dn.Reports.from_rows(m.design, m.fields, list(rows.values()), simulated=False)
        assert m.tally(reports).n == len(values), family.name


def test_nothing_tells_devices_apart(context: Any, site: Site) -> None:
    """No cookie, no referrer, no header of our own, even where the page has a cookie."""
    page = page_of(context, site)
    page.evaluate("document.cookie = 'person=1'")
    site.headers.clear()
    run(
        page,
        "const l = open(); await l.answer(Task.load(given.task), 1); await l.flush(given.url)",
        task=coin(),
        url=site.url,
    )
    (headers,) = site.headers
    assert headers["content-type"] == "application/json"
    assert "cookie" not in headers
    assert "referer" not in headers
    assert "authorization" not in headers


def test_the_ledger_survives_a_reload(context: Any, site: Site) -> None:
    """The window stays open under one id; another answer takes its place until it is sent; it is counted once."""
    task = coin(min_batch=2)
    answer = "const ledger = open(); const task = Task.load(given.task);"
    first = run(page := page_of(context, site), answer + "return ledger.answer(task, 1);", task=task)
    assert first["new"]
    page.reload()
    again = run(page, answer + "return ledger.answer(task, 0);", task=task)
    assert again == first | {"new": False, "cost": 0}
    page.close()
    page = page_of(context, site)
    sent = run(page, answer + "return ledger.flush(given.url);", task=task, url=site.url)
    assert sent == {"sent": 1, "refused": 0, "expired": 0, "waiting": 0}
    page.reload()
    assert run(page, answer + "return ledger.flush(given.url);", task=task, url=site.url)["sent"] == 0
    assert run(page, answer + "return kind(ledger.answer(task, 1));", task=task) == "WindowError"
    assert set(site.reports(task["id"])) == {first["id"]}
    assert run(page, answer + "return (await ledger.overview()).left.spent;", task=task) == 1


def test_two_tabs_do_not_spend_twice(context: Any, site: Site) -> None:
    """Both take many tasks up at the same time; what one collector gets holds for both together."""
    m = dn.mechanism("grr", epsilon=1.0, k=2)
    tasks = [task_of(m, budget=9, questions=[[{"name": "q", "text": f"question {i}", "none": 0}]]) for i in range(8)]
    start = """
        const tasks = given.tasks.map((task) => Task.load(task));
        const ledger = open({ collector: 5 });
        const turn = new BroadcastChannel("turn");
        window.done = new Promise((resolve) => {
          turn.onmessage = () => resolve(Promise.all(tasks.map((task) => kind(ledger.answer(task, 1)))));
        });
    """
    tabs = [page_of(context, site) for _ in range(2)]
    for tab, own in zip(tabs, (tasks, tasks[::-1]), strict=True):
        run(tab, start, tasks=own)
    page_of(context, site).evaluate("new BroadcastChannel('turn').postMessage(1)")
    outcomes = [outcome for tab in tabs for outcome in tab.evaluate("window.done")]
    assert set(outcomes) == {None, "BudgetError"}
    seen = run(tabs[0], "return open({ collector: 5 }).overview();")
    assert seen["left"]["spent"] == 5
    assert seen["counts"]["waiting"] == 5
    assert len({report["task"] for report in seen["sent"]}) == 5


WEEKLY = {"opens": "2026-11-16", "days": 7, "count": 4}


def test_a_site_that_clears_its_storage_gets_no_second_draw_of_a_window(context: Any, site: Site) -> None:
    """A ledger that is new takes tasks of several windows up only after a whole window; one window it takes at once."""
    task = task_of(dn.mechanism("grr", epsilon=0.5, k=2), epsilon=0.5, window=WEEKLY, min_batch=5)
    take = "return kind(open().take(Task.load(given.task), { url: given.url }));"
    page = page_of(context, site)
    run(page, "await open().overview();", now="2026-11-08T12:00:00Z")
    assert run(page, take, task=task, url=site.url) is None
    send = "return (await open().flush()).sent;"
    assert run(page, send) == 1
    for _ in range(3):
        page.goto(f"{site.url}/clear")
        page.goto(site.url)
        assert run(page, "return (await open().overview()).left.spent;") == 0, "the storage was not cleared"
        assert run(page, take, task=task, url=site.url) == "WindowError"
        assert run(page, send) == 0
    assert run(page, take, task=coin(min_batch=5), url=site.url) is None
    assert len(site.reports(task["id"])) == 1


def test_the_browser_is_asked_to_keep_the_ledger(context: Any, site: Site) -> None:
    page = page_of(context, site)
    page.evaluate("() => { window.asked = 0; navigator.storage.persist = async () => (window.asked += 1) > 0; }")
    seen = run(page, "return open().overview();")
    assert seen["persistent"] is False
    run(
        page,
        "const l = open(); const t = Task.load(given.task); await l.take(t); await l.answer(t, 1);",
        task=coin(min_batch=6),
    )
    assert page.evaluate("window.asked") == 1


def test_full_storage_is_a_refusal(context: Any, site: Site) -> None:
    """Nothing is spent and nothing is sent if the browser has no room for the ledger."""
    page = page_of(context, site)
    wide = task_of(dn.mechanism("oue", epsilon=1.0, k=2**19))
    answer = "const ledger = open(); const task = Task.load(given.task);"
    session = context.new_cdp_session(page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": site.url, "quotaSize": 10_000})
    assert run(page, answer + "return kind(ledger.answer(task, 1));", task=wide) == "LedgerError"
    session.send("Storage.overrideQuotaForOrigin", {"origin": site.url})
    assert run(page, answer + "return (await ledger.overview()).left.spent;", task=wide) == 0
    assert run(page, answer + "return ledger.flush(given.url);", task=wide, url=site.url)["sent"] == 0
    assert site.reports(wide["id"]) == {}
    assert run(page, answer + "return kind(ledger.answer(task, 1));", task=wide) is None


def test_storage_that_fails_is_a_refusal(context: Any, site: Site) -> None:
    """At each step of the database: opening it, writing to it, keeping what was written."""
    page = page_of(context, site)
    faults = {
        "opening": "indexedDB.open = () => { throw new DOMException('no', 'SecurityError'); };",
        "writing": "IDBObjectStore.prototype.put = () => { throw new DOMException('no', 'DataError'); };",
        "keeping": """
            const { put } = IDBObjectStore.prototype;
            IDBObjectStore.prototype.put = function (...given) {
              const request = put.apply(this, given);
              request.onsuccess = () => this.transaction.abort();
              return request;
            };
        """,
    }
    task = coin(min_batch=3)
    for fault in faults.values():
        page.reload()
        page.evaluate("() => {" + fault + "}")
        assert run(page, "return kind(open().answer(Task.load(given.task), 1));", task=task) == "LedgerError"
    page.reload()
    seen = run(page, "return open().overview();")
    assert seen["left"]["spent"] == 0
    assert seen["sent"] == []


def test_a_person_can_forget_and_see_in_a_browser(context: Any, site: Site) -> None:
    task = coin(min_batch=4)
    seen = run(
        page_of(context, site),
        """
        const ledger = open();
        await ledger.answer(Task.load(given.task), 1);
        const exported = await ledger.export();
        return [exported.reports.length, await ledger.forget(given.task.id), (await ledger.export()).tasks.length];
        """,
        task=task,
    )
    assert seen == [1, 2, 0]
