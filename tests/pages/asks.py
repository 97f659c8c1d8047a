"""Tasks of every kind that pages show, a collector that has them, and reports for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode

import numpy as np

import deniable as dn
from deniable.core.space import Space
from deniable.service.access.identity import SEED_BYTES, Identity
from deniable.service.access.keys import new_key
from deniable.service.access.sessions import begin, cookie_name
from deniable.service.http.app import application
from deniable.service.pages.table import PAGES
from deniable.service.store.contract import Incoming, Store, Upload
from deniable.service.tasks import Asked, Terms, new_task
from deniable_client.questions import Single
from deniable_client.task import Task
from service.calling import HOST, Reply, Service

__all__ = [
    "EVIL",
    "FORM",
    "LOCAL",
    "TODAY",
    "Browser",
    "Paged",
    "fill",
    "joint",
    "kinds",
    "mechanisms",
    "new_key_of",
    "post",
    "signed_in",
    "task",
]

TODAY = datetime.now(UTC).date()
"""Pages in browsers read the real clock, and so do these tasks."""
FORM = {"content-type": "application/x-www-form-urlencoded"}
LOCAL = {"origin": f"http://{HOST}"}
OFTEN = ["never", "sometimes", "often", "every night"]
CITIES = {"Berlin": (52.5, 13.4), "Munich": (48.1, 11.6), "Frankfurt": (50.1, 8.7), "Hamburg": (53.6, 10.0)}
EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"\' onmouseover="alert(3)',
    "=HYPERLINK(1)",
    "\u0634\u0631 (evil)",
    "{{ 7 * 7 }}",
    "x" * 1000,
]
"""Labels that are text to everyone."""


class Paged(Service):
    """The service with its pages, today."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.app = application(self.collector, more=PAGES)
        self.to_day(TODAY)


def post(service: Paged, path: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
    found = service.call("POST", path, urlencode(fields).encode(), {**FORM, **headers})
    assert found is not None
    return found


def new_key_of(service: Paged, role: str = "administrator") -> str:
    return service.key(role)["authorization"].removeprefix("Bearer ")


class Browser:
    """Someone who signs in and keeps the cookie."""

    def __init__(self, service: Paged, key: str, headers: Mapping[str, str] = LOCAL) -> None:
        self.service, self.headers = service, headers
        self.reply = post(service, "/sign-in", {"key": key}, headers)
        self.set_cookie = self.reply.headers.get("set-cookie", "")
        self.cookie = self.set_cookie.partition(";")[0]
        self.token = self.cookie.partition("=")[2]

    def get(self, path: str = "/", service: Paged | None = None) -> int:
        return (service or self.service).get(path, {**self.headers, "cookie": self.cookie}).status

    def post(self, path: str, **fields: str) -> Reply:
        return post(self.service, path, fields, {**self.headers, "cookie": self.cookie})


def mechanisms() -> dict[str, list[Any]]:
    """The designs of a task of each kind of question."""
    places = Space.places([list(place) for place in CITIES.values()], list(CITIES))
    some = {"labels": ["flu", "hay fever", "depression", "HIV"], "sensitive": ["depression", "HIV"]}
    own = {"levels": [0.5, 1.0, 2.0], "shares": [0.3, 0.3, 0.4], "level_epsilon": 1.0, "labels": ["no", "yes", "quit"]}
    return {
        "choice": [dn.mechanism("ss", epsilon=1.0, labels=OFTEN)],
        "list": [dn.mechanism("olh", epsilon=1.0, labels=[f"city {i}" for i in range(40)])],
        "sensitive": [dn.mechanism("uss", epsilon=1.0, **some)],
        "level": [dn.mechanism("pldp", base="oue", epsilon=2.0, **own)],
        "number": [dn.mechanism("sw", epsilon=1.0, interval=(30, 200))],
        "places": [dn.mechanism("brr", epsilon=1.0, distances=places)],
        "ratings": [dn.mechanism("kv-ss", epsilon=1.0, labels=["down", "foam", "wool"], length=2)],
        "survey": [
            dn.mechanism("ss", epsilon=1.0, labels=OFTEN),
            dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"]),
        ],
    }


def task(
    made: Sequence[Any], text: str = "How do you sleep?", *, opens: date = TODAY, windows: int = 1, **more: Any
) -> dict[str, Any]:
    """The document of a task; each has a collector of its own unless it is said: browsers have a place for it."""
    asked = [Asked(text=text + (f" ({i + 1})" if i else ""), design=m.design, name=f"q{i}") for i, m in enumerate(made)]
    usual = {"collector": "Example Health Institute", "subject": "sleep", "min_batch": 5, "windows": windows}
    identity = more.pop("identity", None) or Identity(os.urandom(SEED_BYTES))
    return new_task(asked, Terms(opens=opens, **{**usual, **more}), identity)


def joint(none: str | None = None, **more: Any) -> dict[str, Any]:
    """A task of a box of two questions; beside it a pair that is dealt, if that is asked for by `pair`.

    Its questions are in Arabic, too. `none`: what the first counts as for those who do not say; the second has an
    answer of its own for them.
    """
    labels, more_labels = ("no", "yes"), ("I prefer not to say", "never", "often")
    snore = Single("snore", "Do you snore?", labels, none)
    dream = Single("dream", "How often do you dream?", more_labels, more_labels[0])
    nap = Single("nap", "Do you nap?", labels, "no")
    pair, identity = more.pop("pair", False), Identity(os.urandom(SEED_BYTES))
    asked = [Asked(text="", design=dn.mechanism("box", epsilon=2.0, sizes=(2, 3)).design, together=(snore, dream))]
    if pair:
        made = dn.mechanism("ss", epsilon=2.0, k=4)
        asked.append(Asked(text="", design=made.design, together=(snore, nap)))
    texts = {
        "snore": {
            "text": "\u0627\u0644\u0634\u062e\u064a\u0631\u061f",
            "labels": ["\u0625\u0637\u0644\u0627\u0642\u0627", "\u0628\u0627\u0644\u062a\u0623\u0643\u064a\u062f"],
        },
        "dream": {"text": "\u0623\u062d\u0644\u0627\u0645\u061f", "labels": ["1", "2", "3"]},
        "nap": {
            "text": "\u0642\u064a\u0644\u0648\u0644\u0629\u061f",
            "labels": ["\u0625\u0637\u0644\u0627\u0642\u0627", "\u0628\u0627\u0644\u062a\u0623\u0643\u064a\u062f"],
        },
    }
    told = [[texts[one.name] for one in each.together] for each in asked]
    usual = {"collector": "Example Health Institute", "subject": "sleep", "min_batch": 5, "opens": TODAY}
    usual["translations"] = {"ar": {"subject": "\u0627\u0644\u0646\u0648\u0645", "questions": told}}
    return new_task(asked, Terms(**{**usual, **more}), identity)


def kinds(**more: Any) -> dict[str, dict[str, Any]]:
    """A task of each kind; the survey has strata."""
    found = {name: task(made, f"A question of the kind {name}?", **more) for name, made in mechanisms().items()}
    strata = {"country": ["DE", "FR"]}
    return found | {"survey": task(mechanisms()["survey"], "One of several?", strata=strata, **more)}


def fill(
    store: Store, document: Mapping[str, Any], made: Sequence[Any], n: int, *, day: date, seed: int, shift: int = 0
) -> None:
    """Count reports of simulated people: for each question, and each stratum in turn."""
    known = Task.load(document)
    for number, m in enumerate(made):
        size = m.bulk.k if not hasattr(m, "k") else m.k
        items = (np.arange(n) ** 2 // 7 + shift) % size
        reports = m.privatize_items(items, dn.simulation(seed + number))
        rows = []
        for i in range(n):
            strata = [1 + i % (len(values) - 1) for values in known.strata.values()]
            head = bytes([*strata, number] if len(made) > 1 else strata)
            rows.append(Incoming(os.urandom(16), (head + reports.row(i)).ljust(known.width, b"\0")))
        outcomes = store.add([Upload(known.id, day, rows)])[0]
        assert len(outcomes) == n
    counted = sum(tally.n for tally in store.tallies(known.id).values())
    assert counted >= n * len(made), "reports were rejected"


def signed_in(service: Paged, role: str = "administrator") -> dict[str, str]:
    """The headers of a browser that has signed in."""
    name, _ = new_key(service.store, role, today=service.now.date())
    return {"cookie": f"{cookie_name(service.settings)}={begin(service.store, name, service.now, service.settings)}"}
