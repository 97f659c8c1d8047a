"""Takes the pictures of pages: python docs/photograph.py [--playground] (needs Chromium and playwright)

Those of docs/howto/survey.md: the demonstration runs with part of its devices; then somebody answers on a telephone,
and an analyst looks at the task that is over. With --playground that of docs/playground.md, alone. Everything is drawn
anew each time, so the numbers in a picture differ from the last one's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from make_pictures import PICTURES, squeezed
from playwright.sync_api import Browser, Page, sync_playwright

from deniable.service.demo import BROWSERS, Running, demonstrate

PEOPLE = 20_000


def _keep(page: Page, name: str, whole: bool = False) -> None:
    """Write what the window shows, or the `whole` page."""
    path = PICTURES / f"{name}.png"
    path.write_bytes(squeezed(page.screenshot(full_page=whole)))
    print(f"{path.name}: {path.stat().st_size:,} bytes")


@contextmanager
def _chromium() -> Iterator[Browser]:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit("no Chromium was found; install it to take the pictures")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--headless", "--no-sandbox"])
        yield chromium
        chromium.close()


def _photograph_playground(folder: Path) -> None:
    """An answer, its report, and what it could have meant."""
    script = Path(__file__).parent / "site" / "playground" / "make.py"
    subprocess.run([sys.executable, str(script), "--out", str(folder)], check=True)
    with _chromium() as chromium:
        desk = chromium.new_page(viewport={"width": 1280, "height": 760}, reduced_motion="reduce")
        desk.goto((folder / "index.html").as_uri())
        desk.click("#report")
        desk.locator(".settings").evaluate("it => it.scrollIntoView()")
        desk.evaluate("scrollBy(0, -16)")
        _keep(desk, "playground")


def _photograph(running: Running, dashboard: Path) -> None:
    """What is promised, the question, what was sent, and the results of the task before."""
    with _chromium() as chromium:
        phone = chromium.new_page(viewport={"width": 390, "height": 700}, reduced_motion="reduce")
        phone.goto(running.survey)
        phone.wait_for_selector('#survey[data-ready="yes"]')
        _keep(phone, "survey-start", whole=True)
        phone.click("#begin")
        phone.wait_for_selector("#answer:not([hidden])")
        phone.locator('fieldset.question:not([hidden]) input[type=radio][value="1"]').check()
        _keep(phone, "survey-question", whole=True)
        phone.click("#go")
        phone.click("#send")
        phone.wait_for_selector("#receipt-title:has-text('Thank you')")
        phone.click("#sent summary")
        _keep(phone, "survey-receipt", whole=True)
        desk = chromium.new_page(viewport={"width": 1000, "height": 900})
        desk.goto(dashboard.as_uri())
        _keep(desk, "dashboard")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:] == ["--playground"]:
            sys.exit(_photograph_playground(Path(folder)))
        demonstrate(
            Path(folder),
            people=PEOPLE,
            tell=lambda *_: None,
            progress=lambda *_: None,
            keep=lambda running: _photograph(running, Path(folder) / "dashboard.html"),
        )
