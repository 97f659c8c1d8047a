"""How fast pages open and how much they weigh, on this machine.

    python benchmarks/pages.py [--quick] [--json]

`deniable serve` in a process of its own, on a new SQLite database.

* `dashboard`: the page of a task with k = 1,000 answers and two weeks of reports, in milliseconds: `server` until the
  last byte of the page, `text` until the browser has all numbers, `browser` until its load event, with the pictures in
  view. `first` is the first time that anybody looks: the two windows are published, estimated and drawn for it.
  `again` is the median of later times, each in a new profile of the browser. `cold` is `first` in a process that has
  drawn nothing yet, where nobody signed in before (that loads what draws); only its `text` has a bar. At most 1,000.
  `bare` is the same for a page with two lines of text: what browser and machine take for themselves.
* `survey`: bytes of everything that the survey page loads until it has proved its promise, for each kind of question,
  as a proxy between browser and collector counts them: bodies as they are compressed, and the heads of HTTP. At most
  60,000.
* `paint`: milliseconds until the browser has painted the survey page (first contentful paint) while all of its scripts
  are held back; null if it paints nothing without them.

Without Chromium and Playwright only `server` is measured. Ends with 1 if a bar is missed, and names it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [str(ROOT / "tests"), *(part for part in sys.path if part != str(ROOT / "benchmarks"))]
"""Without this folder: its scripts have the names of folders of tests."""

import deniable as dn  # noqa: E402
from deniable.service.access.keys import new_key  # noqa: E402
from deniable.service.access.sessions import LOCAL, begin  # noqa: E402
from deniable.service.demo import serving  # noqa: E402
from deniable.service.settings import Settings  # noqa: E402
from deniable.service.store import open_store  # noqa: E402
from deniable_client.canonical import canonical  # noqa: E402
from pages.asks import TODAY, fill, kinds, task  # noqa: E402
from pages.browsing import browser, browser_path, painted, ready  # noqa: E402
from pages.recording import Proxy  # noqa: E402

sys.path.append(str(ROOT / "benchmarks"))
from measure import machine  # noqa: E402

ANSWERS, REPORTS = 1000, 2000
MOST_MS, MOST_BYTES = 1000.0, 60_000
TIMES = ("server", "text", "browser")
LOADED = """() => {
  const [page] = performance.getEntriesByType("navigation");
  return page.loadEventEnd && { text: page.domContentLoadedEventEnd, browser: page.loadEventEnd };
}"""


# ---- what is measured


def prepared(url: str, tasks: int) -> tuple[list[str], dict[str, str], str, str]:
    """Tasks with k answers whose two windows are over and not published yet, open ones of each kind; key and token."""
    store = open_store(url)
    begun, design = (
        TODAY - timedelta(14),
        dn.mechanism("olh", epsilon=1.0, labels=[f"city {i}" for i in range(ANSWERS)]),
    )
    large, open_ones = [], {}
    for number in range(tasks):
        document = task([design], "Where do you live?", opens=begun, windows=4, budget=8)
        large.append(document["id"])
        _opened(store, document)
        for week in range(2):
            fill(store, document, [design], REPORTS, day=begun + timedelta(7 * week), seed=2 * number + week)
    for name, document in kinds().items():
        open_ones[name] = document["id"]
        _opened(store, document)
    name, key = new_key(store, "analyst", today=TODAY)
    token = begin(store, name, datetime.now(UTC), Settings())
    store.close()
    return large, open_ones, key, token


def _opened(store: Any, document: dict[str, Any]) -> None:
    store.put_task(document["id"], canonical(document))
    store.set_state(document["id"], "open")


def from_server(address: str, path: str, key: str) -> tuple[float, int]:
    """Milliseconds until the last byte of a page, and its size."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    start = time.perf_counter()
    connection.request("GET", path, headers={"authorization": f"Bearer {key}", "accept-encoding": "gzip"})
    answer = connection.getresponse()
    size = len(answer.read())
    spent = 1000 * (time.perf_counter() - start)
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path} was answered {answer.status}")
    return spent, size


@contextmanager
def profile(chromium: Any, **more: Any) -> Iterator[Any]:
    """A page in a new profile: nothing is kept from before."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    if more:
        context.add_cookies([more])
    yield context.new_page()
    context.close()


def in_browser(chromium: Any, address: str, path: str, token: str) -> dict[str, float]:
    """Milliseconds from the start until all numbers are there, and until all pictures are."""
    with profile(chromium, name=LOCAL, value=token, url=address) as page:
        page.goto(f"{address}{path}", wait_until="load")
        drawn = page.evaluate("() => [...document.images].filter((each) => each.naturalWidth > 0).length")
        if page.locator("img.chart").count() != 2 or not drawn:
            raise RuntimeError(f"{drawn} charts are drawn; two windows are published, the last one is in view")
        found = page.wait_for_function(LOADED).json_value()
        return {name: round(spent, 1) for name, spent in found.items()}


def bare(chromium: Any, address: str) -> float:
    """Milliseconds until a page with hardly anything on it is loaded, the second time that the browser does that."""
    times = []
    for _ in range(2):
        with profile(chromium) as page:
            page.goto(f"{address}/t/{'0' * 64}", wait_until="load")
            times.append(page.wait_for_function(LOADED).json_value()["browser"])
    return round(times[-1], 1)


def weight(chromium: Any, address: str, id: str) -> int:
    """Bytes that the survey page loads until it may be answered."""
    with Proxy(address) as proxy, profile(chromium) as page:
        page.goto(f"{proxy.url}/t/{id}")
        ready(page)
        return proxy.received


def first_paint(chromium: Any, address: str, id: str) -> float | None:
    """Milliseconds until something is painted while no script has come."""
    with profile(chromium) as page:
        return painted(page, f"{address}/t/{id}")


def measure(quick: bool) -> dict[str, Any]:
    """All figures."""
    rounds = 3 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/x.db"
        (one, two, three), open_ones, key, token = prepared(url, 3)
        with serving(url) as address:
            server = [from_server(address, f"/tasks/{one}", key) for _ in range(rounds)]
            dashboard: dict[str, Any] = {"server": _times([spent for spent, _ in server]), "bytes": server[0][1]}
            found: dict[str, Any] = {"k": ANSWERS, "dashboard": dashboard}
            if browser_path() is None or find_spec("playwright") is None:
                return found
            with browser() as chromium:
                dashboard["bare"] = bare(chromium, address)
                dashboard["cold"] = in_browser(chromium, address, f"/tasks/{two}", token)
                opened = [in_browser(chromium, address, f"/tasks/{three}", token) for _ in range(rounds)]
                dashboard |= {what: _times([each[what] for each in opened]) for what in ("text", "browser")}
                found["survey"] = {kind: weight(chromium, address, id) for kind, id in open_ones.items()}
                paints = [first_paint(chromium, address, open_ones["choice"]) for _ in range(rounds)]
                found["paint"] = None if None in paints else round(median(p for p in paints if p is not None), 1)
    return found


def _times(spent: list[float]) -> dict[str, float]:
    return {"first": round(spent[0], 1), "again": round(median(spent[1:]), 1)}


def missed(found: dict[str, Any]) -> list[str]:
    """The bars that were missed, in words."""
    dashboard, wrong = found["dashboard"], []
    times = {f"{what}, {when}": spent for what in TIMES for when, spent in dashboard.get(what, {}).items()}
    if "cold" in dashboard:
        times["text, cold"] = dashboard["cold"]["text"]
    for what, spent in times.items():
        if spent >= MOST_MS:
            wrong.append(f"the dashboard takes {spent:,.0f} ms ({what}); at most {MOST_MS:,.0f}")
    for kind, size in found.get("survey", {}).items():
        if size > MOST_BYTES:
            wrong.append(f"the survey page of the kind {kind} loads {size:,} bytes; at most {MOST_BYTES:,}")
    if "paint" in found and found["paint"] is None:
        wrong.append("the survey page paints nothing without its scripts")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    found = measure(given.quick)
    result = {**found, "missed": missed(found), "machine": machine()}
    print(json.dumps(result) if given.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return 1 if result["missed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
