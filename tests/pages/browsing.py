"""A real browser that fails a test at any script error, and people who answer in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deniable.service.demo import BROWSERS

__all__ = [
    "AXE",
    "STORED",
    "WAIT",
    "Tab",
    "answer",
    "axe",
    "begin",
    "browser",
    "browser_path",
    "check",
    "painted",
    "ready",
    "send",
]

STILL = "--force-prefers-reduced-motion"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-extensions",
    STILL,
)
"""Movement is asked not to be: the coin takes its time otherwise."""
AXE = "DENIABLE_NODE_MODULES"
"""The folder with axe-core in it, as npm makes it."""
WAIT = 30_000
"""Milliseconds that a page may take for a step, on a machine that others use, too; what takes longer has failed."""


def browser_path() -> str | None:
    """The browser of this machine, if there is one."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def browser(*more: str, without: Sequence[str] = ()) -> Iterator[Any]:
    """A browser without a window, with `more` arguments, `without` usual ones; skips the test where there is none."""
    path = browser_path()
    if path is None:
        pytest.skip("there is no Chromium: install it to test pages in a browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="install playwright to drive a browser")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, *more], ignore_default_args=list(without)
        )
        yield made
        made.close()


class Tab:
    """A page in a profile; `errors` has what its scripts, its policy or its console complained about."""

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(WAIT)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.goto(url)

    def fine(self) -> None:
        """No error so far."""
        assert self.errors == [], self.errors


def ready(page: Any) -> None:
    """The page has proved the promise."""
    page.wait_for_selector('#survey[data-ready="yes"]')


PAINT = """() => new Promise((done) => {
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (each.name === "first-contentful-paint") done(each.startTime);
  }).observe({ type: "paint", buffered: true });
  setTimeout(() => done(null), 30000);
})"""


def painted(page: Any, url: str) -> float | None:
    """Milliseconds until a page has painted something of its content with all scripts held back; None if it does not.

    The scripts never come.
    """
    held: list[Any] = []
    page.route("**/*.js", lambda route: held.append(route))
    page.goto(url, wait_until="commit")
    found = page.evaluate(PAINT)
    assert held, "the page asked for no script"
    for route in held:
        route.abort()
    return None if found is None else float(found)


def begin(page: Any) -> None:
    """Take part: agree, choose a group and press "Take part"; the question is shown then, and was not before."""
    assert page.locator("#answer").is_hidden()
    for consent in page.locator("[data-consent]").all():
        if consent.is_visible():
            consent.check()
    for stratum in page.locator("[data-stratum]").all():
        stratum.select_option(index=1)
    page.click("#begin")
    page.wait_for_selector("#answer:not([hidden])")


def answer(page: Any, number: int | None = 1) -> None:
    """Take part, if that is not done, and fill in the question; `None` prefers not to say."""
    if page.locator("#start").is_visible():
        begin(page)
    field = page.locator("fieldset.question:not([hidden])")
    kind = field.get_attribute("data-kind")
    choices = field.locator("select")
    if kind == "ratings":
        boxes = field.locator("input[type=checkbox]")
        for i in range(boxes.count()):
            boxes.nth(i).set_checked(i == number)
    elif choices.count():
        choices.select_option("none" if number is None else str(number))
    elif number is None:
        field.locator("[data-none]").check()
    elif kind == "number":
        field.locator("[data-none]").uncheck()
        field.locator("[data-number]").fill(str(70 + number))
    else:
        field.locator(f'input[type=radio][value="{number}"]').check()


def check(page: Any) -> str:
    """Continue: the answer as the page says it back. Nothing of a report is shown before it is sent."""
    page.click("#go")
    page.wait_for_selector("#check:not([hidden])")
    for place in ("#told", "#meant", "#outcome", "#facts"):
        assert page.text_content(place).strip() == "", place
    return str(page.inner_text("#said"))


def send(page: Any) -> str:
    """Send; what the page says of it."""
    page.click("#send")
    page.wait_for_selector("#receipt:not([hidden])")
    return str(page.inner_text("#receipt-title"))


def axe() -> str:
    """The text of axe-core; skips the test where it is missing."""
    folder = os.environ.get(AXE)
    path = Path(folder or ".") / "axe-core" / "axe.min.js"
    if folder is None or not path.is_file():
        pytest.skip(f"there is no axe-core: npm install axe-core, and name the folder node_modules in {AXE}")
    return path.read_text("utf-8")


STORED = """async () => {
  const found = [localStorage, sessionStorage, history.state, await caches.keys()].map((each) => JSON.stringify(each));
  found.push(document.cookie, location.href, document.title);
  for (const { name } of await indexedDB.databases()) {
    found.push(name);
    const open = indexedDB.open(name);
    const base = await new Promise((done) => { open.onsuccess = () => done(open.result); });
    for (const table of base.objectStoreNames) {
      const rows = base.transaction(table).objectStore(table);
      for (const how of ["getAll", "getAllKeys"]) {
        const asked = rows[how]();
        found.push(await new Promise((done) => { asked.onsuccess = () => done(JSON.stringify(asked.result)); }));
      }
    }
    base.close();
  }
  return found.join("\\n");
}"""
"""All that a page keeps: stores with their keys, cookies, names of caches, address, title, state of its history."""
