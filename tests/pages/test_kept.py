"""What is kept for one who asks is not shown to another; days decide what a page says; what the renderer may know."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.service.limits.flights import Flights
from deniable.service.pages import assets, charts, drawing
from deniable.service.release import PUBLISHED
from deniable.service.results.reading import TARGETS, estimated
from pages.asks import LOCAL, TODAY, Browser, Paged, fill, mechanisms, new_key_of, post, task

CHOICE = mechanisms()["choice"]
GZIP, ARABIC = {"accept-encoding": "gzip"}, {"accept-language": "ar"}


def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Flights[Hashable, bytes] = Flights(256)
    monkeypatch.setattr(charts, "_KEPT", kept)


# ---- one page for each who asks


def survey(service: Paged, id: str) -> dict[str, Callable[[], bytes]]:
    """Everything that a survey page depends on, each in another way."""
    other = service.add(task(CHOICE, "And you?"))

    def at(path: str, **headers: str) -> Callable[[], bytes]:
        return lambda: service.get(path, headers).body

    def later() -> bytes:
        service.later(30)
        try:
            return service.get(f"/t/{id}").body
        finally:
            service.later(-30)

    return {
        "as it is": at(f"/t/{id}"),
        "another task": at(f"/t/{other}"),
        "on a tablet": at(f"/t/{id}?kiosk"),
        "in a frame": at(f"/t/{id}?embed"),
        "in both": at(f"/t/{id}?embed&kiosk"),
        "in Arabic": at(f"/t/{id}?lang=ar"),
        "compressed": at(f"/t/{id}", **GZIP),
        "when it is over": later,
    }


def results(service: Paged, id: str) -> dict[str, Callable[[], bytes]]:
    """The same of a page of results."""
    other = service.add(task(CHOICE, "And you?", results="public"))

    def at(path: str, **headers: str) -> Callable[[], bytes]:
        return lambda: service.get(path, headers).body

    def later(days: int) -> Callable[[], bytes]:
        def found() -> bytes:
            service.later(days)
            try:
                return service.get(f"/r/{id}").body
            finally:
                service.later(-days)

        return found

    return {
        "as it is": at(f"/r/{id}"),
        "another task": at(f"/r/{other}"),
        "in Arabic": at(f"/r/{id}", **ARABIC),
        "compressed": at(f"/r/{id}", **GZIP),
        "at another address": at(f"/r/{id}", host="localhost:9999"),
        "on another day": later(1),
        "in another window": later(8),
    }


@pytest.mark.parametrize("ways", [survey, results])
def test_a_page_that_is_kept_is_not_that_of_another_way_to_ask(
    ways: Callable[[Paged, str], dict[str, Callable[[], bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two ways is answered the same whether the other one was kept before or nothing was; all differ."""
    service = Paged()
    arabic = {"subject": "\u0627", "questions": [[{"text": "\u0628", "labels": ["1", "2", "3", "4"]}]]}
    document = task(CHOICE, results="public", windows=3, budget=20, translations={"ar": arabic})
    asks = ways(service, service.add(document))
    asks[list(asks)[-1]]()  # windows that are over by then are withheld from now on
    alone = {}
    for name, ask in asks.items():
        empty(monkeypatch)
        alone[name] = ask()
    assert len(set(alone.values())) == len(asks), "no two ways are the same page"
    empty(monkeypatch)
    assert {name: ask() for name, ask in asks.items()} == alone
    assert {name: ask() for name, ask in reversed(asks.items())} == alone


@pytest.mark.parametrize(("n", "state"), [(4, "withheld"), (5, "published")])
@pytest.mark.parametrize("headers", [{}, GZIP, ARABIC], ids=["plain", "compressed", "in Arabic"])
def test_a_page_of_results_is_made_anew_when_a_window_is_over_on_the_same_day(
    n: int, state: str, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is closed at noon; each window counts, not how many there are."""
    service = Paged()
    document = task(CHOICE, results="public", windows=3, budget=20, opens=TODAY - timedelta(7), min_batch=5)
    id = service.add(document)
    fill(service.store, document, CHOICE, 6, day=TODAY - timedelta(7), seed=1)
    fill(service.store, document, CHOICE, n, day=TODAY, seed=2)

    def seen() -> bytes:
        return service.get(f"/r/{id}", headers).body

    before = seen()
    assert seen() == before, "it is kept"
    service.store.set_state(id, "closed")
    after = seen()
    told = [window["state"] for window in map(json.loads, releases(service, id))]
    assert told == ["published", state]
    assert after != before
    empty(monkeypatch)
    assert seen() == after, "as if nothing had been kept"


def releases(service: Paged, id: str) -> list[bytes]:
    """What is published of the first two windows."""
    found = [service.store.release(id, number) for number in range(2)]
    return [each for each in found if each is not None]


def test_a_picture_that_is_kept_is_that_of_its_tally_its_words_and_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    empty(monkeypatch)
    monkeypatch.setattr(charts, "_picture", lambda *given: repr(given).encode())
    for given in ((b"1", None, "Title", "svg"), (b"2", None, "Title", "svg"), (b"1", ("a",), "Title", "svg"),
                  (b"1", None, "Other", "svg"), (b"1", None, "Title", "png")):  # fmt: skip
        assert asyncio.run(charts.picture(*given)) == repr(given).encode()


def test_the_address_of_files_changes_with_what_is_in_any_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsers keep them for ever."""
    known = assets.of_page()
    for name, found in known.items():
        for other in ({name: found._replace(plain=found.plain + b" ")}, {f"{name}x": found}):
            monkeypatch.setattr(assets, "_all", lambda more=other: {**known, **more})
            assert assets.base.__wrapped__() != assets.base(), name


# ---- by the day


def test_a_survey_takes_answers_from_its_first_day_to_its_last() -> None:
    service = Paged()
    id = service.add(task(CHOICE, opens=TODAY, windows=2, window_days=3))
    said = []
    for day in range(-1, 8):
        service.to_day(TODAY + timedelta(day))
        text = service.get(f"/t/{id}").body.decode()
        said.append("open" if 'id="start"' in text else "early" if "is not open yet" in text else "over")
    assert said == ["early", *["open"] * 6, "over", "over"]


def test_the_page_of_a_survey_goes_by_the_day_on_which_reports_arrive() -> None:
    """While the clock is not believed, too."""
    service = Paged()
    id = service.add(task(CHOICE, opens=TODAY, windows=2, window_days=3))
    service.to_day(TODAY)
    service.collector.tidy()
    for wrong in (-400, 0, 400):
        service.wrong = timedelta(wrong)
        assert b'id="start"' in service.get(f"/t/{id}").body, wrong


# ---- who is signed in


def test_who_signs_in_again_has_one_session() -> None:
    """The one before is over, also for whoever copied its cookie."""
    service = Paged()
    key = new_key_of(service)
    first = Browser(service, key)
    assert first.get() == 200
    again = post(service, "/sign-in", {"key": key}, {**LOCAL, "cookie": first.cookie})
    assert (again.status, first.get()) == (303, 401)


# ---- what draws


def test_what_draws_knows_nothing_of_the_environment_but_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ, "DENIABLE_DATABASE", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"]:
        monkeypatch.setenv(name, "a secret")
    found = drawing._environment()
    assert set(found) <= {*drawing._KEPT, "PYTHONPATH", "PYTHONSAFEPATH"}
    assert "PATH" in found


# ---- which target


@pytest.mark.parametrize("said", [None, *TARGETS])
def test_an_estimate_is_told_as_it_was_published_for_the_target_that_it_has(said: Any) -> None:
    """Older documents do not say for whom: for those who answered. For another target it is worked out."""
    m = dn.mechanism("grr", epsilon=2.0, labels=["no", "yes"])
    tally = m.tally(m.privatize_items(np.arange(400) % 2, dn.simulation(1)))
    from base64 import b64encode

    known = {"value": "as published"} | ({} if said is None else {"target": said})
    part = {"tally": b64encode(dump(tally)).decode(), "estimate": known, "state": PUBLISHED}
    question: Any = type("Question", (), {"labels": ("no", "yes")})()
    for target in TARGETS:
        found = estimated(part, question, target)
        assert found is not None
        assert (found is known) is (target == (said or "reporters"))
        assert found is known or found["target"] == target
