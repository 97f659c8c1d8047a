"""Questions that are asked together, as analysts and readers see them: each question once, and the table of two."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.service.access.identity import Identity
from deniable.service.ingest import Intake
from deniable.service.questionnaire.document import read
from deniable.service.questionnaire.opening import task_of
from deniable.service.release import windows
from deniable.service.results.joint import asks, by_question
from deniable.service.results.view import views
from deniable.service.store.contract import Incoming, Upload
from deniable_client.task import Task
from pages.asks import TODAY, Paged, signed_in

BEGUN = TODAY - timedelta(20)
ITEMS: list[dict[str, Any]] = [
    {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?", "skip": False},
    {"name": "hours", "kind": "number", "text": "Hours of sleep?", "low": 0, "high": 24, "unit": "h"},
    {"name": "sport", "kind": "one", "text": "Sport?", "options": ["never", "weekly", "daily"], "skip": False},
    {"name": "happy", "kind": "rating", "text": "Happy?", "points": 3, "ends": ["no", "yes"], "skip": False},
]
GERMAN = {
    "title": "Gesundheit",
    "why": "Zum Planen.",
    "questions": {
        "smokes": {"text": "Rauchen Sie?"},
        "hours": {"text": "Stunden Schlaf?", "unit": "Std."},
        "sport": {"text": "Bewegung?", "options": ["nie", "wöchentlich", "täglich"]},
        "happy": {"text": "Zufrieden?", "ends": ["nein", "ja"]},
    },
    "groups": {"g1": {"title": "Wo?", "values": ["Nord", "Süd"]}},
}
N = 1200


class Joint:
    """A collector with a public task in which some questions are asked together, in two windows that are over."""

    def __init__(self, block: list[str], *, groups: bool = False, protection: float = 1.0) -> None:
        self.service = Paged()
        document = {
            "questionnaire": 1,
            "title": "Health",
            "who": "Uni Bern",
            "why": "To plan.",
            "people": 9000,
            "questions": [item for item in ITEMS if item["name"] in (*block, "hours")],
            "together": [block],
            "windows": round(2 / protection),
            "protection": protection,
            "public": True,
            "groups": [{"name": "g1", "title": "Where?", "values": ["North", "South"]}] if groups else [],
            "translations": {"de": {name: part for name, part in GERMAN.items() if groups or name != "groups"}},
        }
        identity = Identity(bytes(32))
        made = task_of(read(document), identity, today=BEGUN, min_batch=100)
        self.id = self.service.add(made)
        self.task = Task.load(made)
        self.headers = signed_in(self.service)

    def answer(self, window: int, n: int = N) -> None:
        """So many simulated people: who smokes never does sport, and the others mostly do."""
        rng = dn.simulation(window).generator()
        share = np.array([part.share for part in self.task.questions], float)
        dealt = rng.choice(len(share), n, p=share / share.sum())
        smokes = rng.random(n) < 0.4
        answers = {
            "smokes": np.where(smokes, 0, 1),
            "sport": np.where(smokes, 0, rng.integers(1, 3, n)),
            "happy": rng.integers(0, 3, n),
        }
        bodies = []
        for number, part in enumerate(self.task.questions):
            people = np.flatnonzero(dealt == number)
            m = Intake(self.service.store.task(self.id).document).mechanisms[number]  # type: ignore[union-attr]
            names = [one.name for one in asks_of(part)]
            if names == ["hours"]:
                reports = m.privatize(np.full(len(people), 8.0), rng=dn.simulation(10 * window + number))
            else:
                items = np.zeros(len(people), np.int64)
                for one in asks_of(part):
                    items = items * len(one.labels) + answers[one.name][people]
                reports = m.privatize_items(items, dn.simulation(10 * window + number))
            for i in range(len(people)):
                strata = {name: values[1 + i % (len(values) - 1)] for name, values in self.task.strata.items()}
                bodies.append(Incoming(os.urandom(16), self.task.body(part, reports.row(i), strata)))
        outcomes = self.service.store.add([Upload(self.id, BEGUN + timedelta(7 * window), bodies)])[0]
        assert {outcome.status for outcome in outcomes} == {"accepted"}

    @property
    def windows(self) -> Any:
        row = self.service.store.task(self.id)
        assert row is not None
        return windows(self.service.store, row, Intake(row.document), self.service.now)

    def page(self, path: str = "", **headers: str) -> str:
        reply = self.service.get(path or f"/tasks/{self.id}", {**self.headers, **headers})
        assert reply.status == 200, reply.body[:500]
        return reply.body.decode()


def asks_of(part: Any) -> Any:
    return part.together or (part,)


@pytest.fixture(scope="module")
def pair() -> Joint:
    made = Joint(["smokes", "sport"], groups=True)
    for window in range(2):
        made.answer(window)
    return made


@pytest.fixture(scope="module")
def three() -> Joint:
    made = Joint(["smokes", "sport", "happy"], protection=2.0)
    made.answer(0, 2500)
    return made


@pytest.mark.parametrize("target", ["population", "reporters"])
def test_each_question_is_shown_once_with_its_own_answers(pair: Joint, three: Joint, target: Any) -> None:
    for made, names in ((pair, ["smokes", "sport", "hours"]), (three, ["smokes", "sport", "happy", "hours"])):
        assert sorted(one.name for one in asks(made.task)) == sorted(names)
        shown = {view.question.name: view for view in views(made.task, made.windows, target, "en")}
        assert set(shown) == set(names)
        assert shown["smokes"].labels == ("Yes", "No")
        assert shown["sport"].labels == ("never", "weekly", "daily")
        told = shown["smokes"].published[0].cells[0]
        assert told.value is not None
        assert told.stderr is not None
        assert abs(told.value - 0.4) < 5 * told.stderr < 0.4, "alpha 1e-6, and a share of 0.8 would be noticed"
        (smokes,) = [q for q in made.windows[0].document["survey"]["questions"] if q["question"] == "smokes"]
        assert told.value == smokes["estimate"]["value"][0], "as it was published"


def test_the_trend_and_groups_of_a_question_that_is_asked_together(pair: Joint) -> None:
    shown = {view.question.name: view for view in views(pair.task, pair.windows, "population", "en")}
    assert shown["smokes"].trend is not None
    assert [group.name for group in shown["smokes"].groups] == ["North", "South; I prefer not to say"]
    assert shown["smokes"].equal is not None
    wide, narrow = (views(pair.task, pair.windows, target, "en")[0].last for target in ("population", "reporters"))
    assert wide is not None
    assert narrow is not None
    assert all(a.stderr >= b.stderr for a, b in zip(wide.cells, narrow.cells, strict=True))  # type: ignore[operator]


def test_the_dashboard_has_the_table_with_intervals_and_the_test_in_words(pair: Joint) -> None:
    page = pair.page()
    assert page.count('<table class="cross">') == 1
    table = page[page.index('<table class="cross">') :]
    table = table[: table.index("</table>")]
    (told,) = pair.windows[-1].document["survey"]["tables"]
    cells = told["cells"]
    written = re.findall(r"<b>(-?[\d.]+)%</b><br><small>(-?[\d.]+)% to (-?[\d.]+)%", table)
    assert len(written) == 6
    for row, value, low, high in zip(written, cells["value"], cells["low"], cells["high"], strict=True):
        assert row == tuple(f"{100 * x:.1f}".removesuffix(".0") for x in (value, low, high))
    assert told["independence"]["pvalue"] < 0.001
    assert "have to do with each other (p\u00a0&lt;\u00a00.001)" in page
    assert "smokes.sport" not in page, "the part has no name that people read"


def test_what_has_nothing_to_do_with_each_other_is_not_claimed(three: Joint) -> None:
    page = three.page()
    assert page.count('<table class="cross">') == 3
    tables = three.windows[0].document["survey"]["tables"]
    claims = [each["independence"]["pvalue"] for each in tables if each["independence"]]
    assert page.count("cannot be told: reports are too few") == 3 - len(claims)
    assert page.count("have to do with each other") == sum(p < 0.05 for p in claims)
    assert page.count("No connection between the answers") == sum(p >= 0.05 for p in claims) > 0


def test_the_public_page_has_them_too_in_the_words_of_its_language(pair: Joint) -> None:
    page = pair.page(f"/r/{pair.id}?lang=de")
    assert "Rauchen Sie?" in page
    assert "wöchentlich" in page
    assert "Die Antworten auf beide hängen zusammen" in page
    assert "oder zwei, die in einer Meldung gemeinsam beantwortet wurden" in page
    assert page.count('<table class="cross">') == 1


def test_what_was_withheld_is_not_shown(three: Joint) -> None:
    """A window with a part below the minimum batch: no table that needs it, and the reason for each question."""
    made = Joint(["smokes", "sport"])
    made.answer(0, 150)
    (first, *_) = by_question(made.task, made.windows, "population")
    parts = {part["question"]: part for part in first.document["questions"]}  # type: ignore[index]
    assert {parts[name]["state"] for name in ("smokes", "sport")} == {"withheld"}
    assert first.document["tables"] == []  # type: ignore[index]
    page = made.page()
    assert '<table class="cross">' not in page
    assert "fewer than 100 reports came" in page


def test_wanted_errors_are_worked_out_by_question(pair: Joint) -> None:
    """A share to 10 points takes fewer reports than there are, one to 1 point many more."""
    page = pair.page(f"/tasks/{pair.id}?error=10")
    assert "reports are enough" in page
    assert "more than the" in pair.page(f"/tasks/{pair.id}?error=1")


def test_a_test_that_cannot_be_made_is_said() -> None:
    made = Joint(["smokes", "sport"])
    made.answer(0, 400)
    (told,) = made.windows[0].document["survey"]["tables"]
    assert told["independence"] is None, "this window is too small for the test"
    assert "cannot be told: reports are too few, or some answers too rare" in made.page()
