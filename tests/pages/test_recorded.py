"""What leaves a browser, recorded by a proxy: the answer is nowhere in it, not even in lengths or times."""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.types import FloatArray
from pages.asks import OFTEN, Paged, mechanisms, task
from pages.browsing import STORED, Tab, answer, begin, browser, check, ready, send
from pages.ranks import permutation
from pages.recording import Proxy, Running

pytestmark = pytest.mark.slow

PEOPLE = int(os.environ.get("DENIABLE_ANSWERS", "40"))
"""Answers that are recorded; more with the variable."""
LABELS = ["kestrel-one", "kestrel-two"]
ALPHA = 1e-3
DELAY = 1.0
"""Seconds that a page would wait with one of the answers, to see that the test notices: more than what happens to
others on a busy machine."""


CLICKED = (
    "() => document.getElementById('send').addEventListener('click', () => {"
    " window.clicked = performance.now(); }, { capture: true })"
)
SENT = "performance.getEntriesByType('resource').find((each) => each.name.endsWith('/reports')).startTime"
"""When the page was told to send, and when it asked for the request, by its own clock."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


def recorded(chromium: Any, slow: bool = False, people: int = PEOPLE) -> tuple[Proxy, FloatArray, Any]:
    """So many people, one after the other, each with empty storage: the recording, the times from click to request.

    The page's own clock says when the click was, and sending takes the same way as for people. With `slow`
    the page is made to wait with one of the answers.
    """
    service = Paged()
    made = [dn.mechanism("olh", epsilon=1.0, labels=LABELS)]
    id = service.add(task(made, min_batch=2))
    answers = np.arange(people) % 2 == 1
    np.random.default_rng(5).shuffle(answers)
    times = []
    with Running(service) as site, Proxy(site.url) as proxy:
        context = chromium.new_context()
        if slow:
            context.add_init_script(
                "const real = window.fetch; window.fetch = async (url, options) => {"
                " if (options?.method === 'POST' && document.querySelector('input[value=\"1\"]').checked)"
                f" await new Promise((done) => setTimeout(done, {1000 * DELAY}));"
                " return real(url, options); };"
            )
        tab = Tab(context, "about:blank")
        session = context.new_cdp_session(tab.page)
        for own in answers:
            tab.page.goto(f"{proxy.url}/t/{id}")
            ready(tab.page)
            answer(tab.page, int(own))
            check(tab.page)
            tab.page.evaluate(CLICKED)
            assert send(tab.page) == "Thank you. Your report was counted."
            times.append(tab.page.evaluate(f"() => {SENT} - window.clicked"))
            tab.fine()
            tab.page.goto("about:blank")
            session.send("Storage.clearDataForOrigin", {"origin": proxy.url, "storageTypes": "all"})
        context.close()
        assert sum(tally.n for tally in service.store.tallies(id).values()) == people
    return proxy, np.array(times), answers


@pytest.mark.turns(2)
def test_the_answer_is_nowhere_in_what_is_sent(chromium: Any) -> None:
    """Requests have one length, the same headers and no label; their times do not depend on the answer.

    Times: permutation test of the mean ranks, alpha 1e-3; what it finds must be found again in a second recording, so
    that a false alarm is once in a million runs.
    """
    proxy, times, answers = recorded(chromium)
    sent = proxy.sent("/reports")
    assert len(sent) == PEOPLE
    for request in proxy.requests:
        for label in LABELS:
            assert label.encode() not in request.head + request.body
    assert len({len(request.body) for request in sent}) == 1
    assert len({request.head for request in sent}) == 1
    bodies = [json.loads(request.body) for request in sent]
    for body in bodies:
        assert set(body) == {"reports"}
        (report,) = body["reports"]
        assert set(report) == {"id", "report"}
    reports = [b64decode(body["reports"][0]["report"]) for body in bodies]
    assert {len(report) for report in reports} == {9}
    assert len({body["reports"][0]["id"] for body in bodies}) == len(set(reports)) == PEOPLE
    others = {request.path for request in proxy.requests if not request.path.startswith(("/static/", "/t/", "/v1/"))}
    assert others == set()
    p = permutation(times, answers)
    least = noticed(times, answers)
    print(
        f"{PEOPLE} answers, {len(proxy.requests)} requests, {len(sent[0].body)} bytes each; times: p = {p:.3g}, median "
        f"{np.median(times):.1f} ms; {least} ms more with one of the answers would have been noticed"
    )
    if p < ALPHA:
        again = permutation(*recorded(chromium)[1:])
        assert again >= ALPHA, f"times depend on the answer: p = {p:.3g}, and {again:.3g} in a second recording"


def noticed(times: FloatArray, answers: Any) -> float:
    """The smallest delay of one of the answers, in milliseconds, that the test would have noticed in these times."""
    steps = (0.5 * 2**i for i in range(20))
    found = (step for step in steps if permutation(times + np.where(answers, step, 0.0), answers) < ALPHA)
    return next(found, float("inf"))


@pytest.mark.turns(2)
def test_a_page_that_waited_with_one_answer_would_be_noticed(chromium: Any) -> None:
    """The same test, on a page that sends one of the answers a second later."""
    _, times, answers = recorded(chromium, slow=True, people=24)
    assert permutation(times, answers) < ALPHA


# ---- the same steps

KINDS = {"choice": 4, "sensitive": 4, "level": 3, "number": 3, "places": 4, "ratings": 3}
"""Answers that are tried of each kind of question."""
PLANTED = tuple(
    f"{more}await ledger.flush(origin,{{task:this.task}})"
    for more in ("", f"if ($('said').textContent === '{OFTEN[1]}') Math.max(1, 2); ")
)
"""What the page's script is made to do more for the second of the answers: one comparison."""


HELD = (
    "const real = window.fetch; window.fetch = async (url, options) => {"
    " if (options?.method === 'POST') await new Promise((done) => { window.released = done; });"
    " return real(url, options); };"
)
"""Requests that send something wait until they are let go."""


def steps(chromium: Any, url: str, number: int, change: tuple[str, str] | None = None) -> list[str]:
    """How often each block of the page's scripts is run from the click on "send" until it asks for the request."""
    context = chromium.new_context()
    context.add_init_script(HELD)
    if change is not None:

        def changed(route: Any) -> None:
            text = route.fetch().text()
            assert change[0] in text
            route.fulfill(body=text.replace(*change), content_type="text/javascript")

        context.route("**/survey.js", changed)
    tab = Tab(context, "about:blank")
    session = context.new_cdp_session(tab.page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
    tab.page.goto(url)
    ready(tab.page)
    answer(tab.page, number)
    check(tab.page)
    session.send("Profiler.takePreciseCoverage")  # what was run before does not count
    tab.page.click("#send")
    tab.page.wait_for_function("() => window.released")
    rows = [
        f"{script['url'].rpartition('/')[2]} {function['functionName']} {json.dumps(function['ranges'])}"
        for script in session.send("Profiler.takePreciseCoverage")["result"]
        for function in script["functions"]
        if "/static/" in script["url"] and function["ranges"][0]["count"]
    ]
    tab.page.evaluate("() => window.released()")
    tab.page.wait_for_selector("#receipt-title:has-text('Thank you')")
    tab.fine()
    context.close()
    assert any(row.startswith("survey.js post ") for row in rows)
    return sorted(rows)


@pytest.mark.turns(3)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_takes_the_same_steps_for_every_answer(chromium: Any, kind: str) -> None:
    """From the click to the request, block by block, in the page itself; one comparison more would be noticed."""
    service = Paged()
    id = service.add(task(mechanisms()[kind]))
    with Running(service) as site:
        found = [steps(chromium, f"{site.url}/t/{id}", number) for number in range(KINDS[kind])]
        for each in found[1:]:
            assert each == found[0]
        if kind == "choice":
            planted = [steps(chromium, f"{site.url}/t/{id}", number, PLANTED) for number in (0, 1)]
            assert planted[0] != planted[1]


# ---- a thousand answers

MANY = int(os.environ.get("DENIABLE_RECORDED", "1000"))
"""Answers that the nightly tier records; others with the variable."""
LIMIT = 7200
"""Seconds on the clock for them: one takes one to three, and what is found in their times is recorded again."""
DECIMALS = 7_000_000_000
"""The decimals of the first. Seven digits of somebody are somewhere in the random ids of a thousand reports, which are
written to the base of 16, in one run of twelve; ten digits in one of 45,000."""


def numbered(chromium: Any, people: int) -> tuple[Proxy, FloatArray, Any, list[str], list[str]]:
    """So many people with a number that nobody else has: the recording, times, which were large, and all that is kept.

    What is kept is looked at after typing, before sending, after it and after coming back.
    """
    service = Paged()
    id = service.add(task([dn.mechanism("sw", epsilon=1.0, interval=(0, 2000))], "How much?", min_batch=2))
    large = np.arange(people) % 2 == 1
    np.random.default_rng(6).shuffle(large)
    secrets = [f"{1001 if own else 101}.{DECIMALS + i}" for i, own in enumerate(large)]
    times, kept = [], []
    with Running(service) as site, Proxy(site.url) as proxy:
        context = chromium.new_context()
        tab = Tab(context, "about:blank")
        session = context.new_cdp_session(tab.page)
        for secret in secrets:
            tab.page.goto(f"{proxy.url}/t/{id}")
            ready(tab.page)
            begin(tab.page)
            tab.page.fill("[data-number]", secret)
            own = [tab.page.evaluate(STORED)]
            check(tab.page)
            own.append(tab.page.evaluate(STORED))
            tab.page.evaluate(CLICKED)
            assert send(tab.page) == "Thank you. Your report was counted."
            times.append(tab.page.evaluate(f"() => {SENT} - window.clicked"))
            own += [tab.page.evaluate(STORED), tab.page.content()]
            tab.page.reload()
            ready(tab.page)
            own += [tab.page.evaluate(STORED), tab.page.content()]
            kept.append("\n".join(own))
            tab.fine()
            tab.page.goto("about:blank")
            session.send("Storage.clearDataForOrigin", {"origin": proxy.url, "storageTypes": "all"})
        context.close()
        assert sum(tally.n for tally in service.store.tallies(id).values()) == people
    return proxy, np.array(times), large, secrets, kept


@pytest.mark.turns(365)
@pytest.mark.timeout(LIMIT)
def test_a_thousand_answers_leave_nothing_anywhere(chromium: Any) -> None:
    """In no request, stored value or key, cookie, cache, address, title, state or page; nor in lengths and times.

    Times as above: alpha 1e-3, and what is found must be found again.
    """
    proxy, times, large, secrets, kept = numbered(chromium, MANY)
    sent = proxy.sent("/reports")
    assert len(sent) == MANY
    assert len({(request.head, len(request.body)) for request in sent}) == 1
    requests = b"\n".join(request.head + request.body for request in proxy.requests).decode("latin-1")
    for secret, own in zip(secrets, kept, strict=True):
        assert "deniable" in own, "the ledger was looked at"
        decimals = secret.partition(".")[2]
        for form in (secret, decimals, f"{float(secret):,}"):
            assert form not in own
            assert form not in requests
    p = permutation(times, large)
    print(f"{MANY} answers; times: p = {p:.3g}; {noticed(times, large)} ms more would have been noticed")
    if p < ALPHA:
        _, again, halves, *_ = numbered(chromium, MANY)
        assert permutation(again, halves) >= ALPHA, "times depend on the answer, in a second recording too"
