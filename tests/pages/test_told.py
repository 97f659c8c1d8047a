"""What is said of a questionnaire's results: ratings with their ends and mean, the methods paragraph, titles, days."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.service.access.identity import Identity
from deniable.service.ingest import Intake
from deniable.service.release import windows
from deniable.service.results import words
from deniable.service.results.reading import estimate_in
from deniable.service.results.view import Cell, QuestionView, Wording, _middle, points_of, views
from deniable.service.tasks import Asked, Terms, new_task
from deniable.service.texts.catalogue import texts
from deniable.service.texts.languages import LANGUAGES
from deniable_client.questions import Single
from deniable_client.task import Task
from pages.asks import Paged, signed_in
from pages.said import beside
from pages.test_dashboard import only_text
from pages.test_results import BEGUN, counted, plain

POINTS = ["1", "2", "3", "4", "5"]
SKIP = "I prefer not to say"
ENDS = ("badly", "well")
GERMAN = {"text": "Wie?", "labels": [*POINTS, "Keine Angabe"], "ends": ["schlecht", "gut"]}


def rated(skip: bool = True, **more: Any) -> tuple[dict[str, Any], list[Any]]:
    """A task of two ratings and a question with two answers, and its mechanisms."""
    labels = [*POINTS, SKIP] if skip else POINTS
    made = [dn.mechanism("ss", epsilon=2.0, labels=labels)] * 2 + [dn.mechanism("grr", epsilon=2.0, labels=["a", "b"])]
    common: dict[str, Any] = {"kind": "rating", "ends": ENDS, "none": SKIP if skip else None}
    asked = [Asked(text=f"How? ({i})", name=f"q{i}", design=made[i].design, **common) for i in range(2)]
    asked.append(Asked(text="Which?", name="q2", design=made[2].design))
    terms = Terms(opens=BEGUN, collector="Us", subject="exams", min_batch=20, results="public", **more)
    return new_task(asked, terms, Identity(os.urandom(32))), made


def viewed(skip: bool = True, counts: list[int] | None = None) -> tuple[Paged, Task, list[QuestionView], Any]:
    service = Paged()
    document, made = rated(skip)
    service.add(document)
    own = counts or [40, 60, 80, 100, 120, 100][: 6 if skip else 5]
    counted(service, document, made, 0, [own, own, [200, 300]])
    row = service.store.tasks()[0]
    known = Intake(row.document)
    found = windows(service.store, row, known, service.now)
    return service, known.task, views(known.task, found, "population", "en"), found


def test_points_of_a_rating_say_what_they_mean() -> None:
    """On results and on paper: nobody can read a 5 who does not know whether it is good."""
    service, task, found, _ = viewed()
    assert found[0].labels == ("1 (badly)", "2", "3", "4", "5 (well)", SKIP)
    assert found[2].labels == ("a", "b")
    assert "5 (well)" in only_text(service.get(f"/r/{task.id}").body.decode()).text
    open_task, _ = rated()
    id = service.add(open_task)
    told = plain(service.get(f"/t/{id}/print").body.decode())
    assert "1 (badly)" in told
    assert "5 (well)" in told


def test_ends_are_those_of_the_language() -> None:
    asked = [[GERMAN], [GERMAN], [{"text": "Was?", "labels": ["x", "y"]}]]
    document, _ = rated(translations={"de": {"subject": "Prüfungen", "questions": asked}})
    said = Wording.of(Task.load(document), "de").labels[0]
    assert said is not None
    assert (said[0], said[4], said[5]) == ("1 (schlecht)", "5 (gut)", "Keine Angabe")


@pytest.mark.parametrize("skip", [True, False])
def test_the_mean_of_a_rating_is_of_those_who_gave_one(skip: bool) -> None:
    """The ends are where points - mean * ratings is as far from 0 as chance takes it (Fieller), in the last digits."""
    _, task, found, told = viewed(skip)
    cell, ends = found[0].rating, found[0].ends
    assert ends == ("1 (badly)", "5 (well)")
    assert cell is not None
    estimate = estimate_in(told[0].document["questions"][0], task.questions[0])
    spread, z = estimate.covariance("population"), NormalDist().inv_cdf(0.975)
    for end in (cell.low, cell.high):
        assert end is not None
        weights = np.array([*(i + 1 - end for i in range(5)), *([0.0] if skip else [])])
        assert abs(weights @ estimate.value) == pytest.approx(z * math.sqrt(weights @ spread @ weights), rel=1e-6)
    assert cell.low is not None
    assert cell.high is not None
    assert cell.value is not None
    assert cell.low < cell.value < cell.high
    assert cell.low < (40 + 120 + 240 + 400 + 600) / 400 < cell.high
    said = plain(words.sentences(found[0], texts("see", "en"))[0])
    assert said.startswith("The mean rating is ")
    assert said.endswith("from 1 (badly) to 5 (well).")
    assert found[2].rating is None
    rough = replace(found[0], rating=Cell(3.0, -0.5, 5.5))
    assert "is 3 (1 to 5)," in plain(words.sentences(rough, texts("see", "en"))[0]), "within the scale"


def test_where_hardly_anybody_gave_a_rating_no_mean_is_told() -> None:
    _, _, found, _ = viewed(counts=[0, 0, 0, 0, 1, 60])
    assert found[0].rating is None


def test_ordered_answers_have_a_middle_among_those_who_gave_one() -> None:
    """Of 300 who say, 100 say "never": the middle is "rarely", also where 200 others prefer not to say."""
    labels = ["never", "rarely", "often", "always", SKIP]
    m = dn.mechanism("grr", epsilon=8.0, labels=labels)
    asked = Asked(text="How often?", name="q0", design=m.design, kind="ordered", none=SKIP)
    service = Paged()
    terms = Terms(opens=BEGUN, collector="Us", subject="exams", min_batch=20, budget=20)
    document = new_task([asked], terms, Identity(os.urandom(32)))
    service.add(document)
    counted(service, document, [m], 0, [[100, 120, 50, 30, 200]])
    row = service.store.tasks()[0]
    known = Intake(row.document)
    (view,) = views(known.task, windows(service.store, row, known, service.now), "population", "en")
    assert view.middle == ("rarely", "rarely", "rarely")
    assert view.rating is None
    said = plain(words.sentences(view, texts("see", "en"))[0])
    assert said.startswith("The middle answer is “rarely” (rarely to rarely)")


@pytest.mark.parametrize(
    ("kind", "labels", "none", "on"),
    [
        ("rating", "1 2 3 4 5", None, [0, 1, 2, 3, 4]),
        *(("rating", "1 2 3 4 5", none, [0, 1, 2, 3, 4]) for none in "135"),
        ("rating", "1 2 3 ?", "?", [0, 1, 2]),
        ("ordered", "never rarely often", "never", [0, 1, 2]),
        ("ordered", "never rarely often ?", "?", [0, 1, 2]),
        ("one", "a b ?", "?", []),
    ],
)
def test_what_no_answer_counts_as_is_on_the_scale_unless_it_stands_for_that_alone(
    kind: str, labels: str, none: str | None, on: list[int]
) -> None:
    """A point that people choose, too, was left out, and the ends were given to others."""
    own = labels.split()
    terms = Terms(opens=BEGUN, collector="Us", subject="exams", min_batch=20, budget=20)
    ends = ("badly", "well") if kind == "rating" else None

    def points(missing: bool, none: str | None) -> list[int]:
        more = {"missing": own[-1]} if missing else {}
        m = dn.mechanism("grr", epsilon=4.0, labels=own, **more)
        asked = Asked(text="How?", name="q0", design=m.design, kind=kind, none=none, ends=ends)
        return points_of(Task.load(new_task([asked], terms, Identity(os.urandom(32)))).questions[0])

    assert points(False, none) == on
    assert points(True, own[-1]) == ([] if kind == "one" else [*range(len(own) - 1)]), "told by its design"
    asked_together: Any = Single("q", "How?", tuple(own), none, kind, None, ends)
    assert points_of(asked_together) == on


def test_the_middle_of_thousands_of_answers_is_quick() -> None:
    """In processor time: it is asked for whenever a page is drawn."""
    k = 2501
    found = SimpleNamespace(value=np.full(k, 1 / k), covariance=lambda _: 1e-9 * np.eye(k))
    question: Any = SimpleNamespace(kind="ordered", labels=tuple(map(str, range(k))), none=None)
    start = time.process_time()
    assert _middle({"found": found}, question, question.labels, "population")["middle"][0] == "1250"
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("shares", "told"),
    [([0.5, 0.5, 0.0], "b a b"), ([0.45, 0.1, 0.45], "b a c"), ([0.9, 0.1, 0.0], "a a a"), ([0.0, 0.0, 1.0], "c c c")],
)
def test_the_middle_is_between_answers_that_cannot_be_told_from_it(shares: list[float], told: str) -> None:
    """With a standard error of a tenth for each share; the first case is on the border, a hair above it."""
    found = SimpleNamespace(value=np.array(shares) - [1e-9, -1e-9, 0], covariance=lambda _: 0.01 * np.eye(3))
    question: Any = SimpleNamespace(kind="ordered", labels=("a", "b", "c"), none=None)
    assert _middle({"found": found}, question, question.labels, "population")["middle"] == tuple(told.split())


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_methods_paragraph_can_be_pasted(tag: str) -> None:
    """Questions that were protected alike are told in one sentence, and people are dealt in hundredths."""
    _, task, found, _ = viewed()
    t = texts("see", tag)
    ratio = {"ratio": "7389056/1000000", "epsilon": 2.0, "reports": 500}
    made = [
        {"asked": view.text, "mechanism": name, **ratio} for view, name in zip(found, ("ss", "ss", "grr"), strict=True)
    ]
    said = words.method(task, found, made, t, "https://example.org")
    quoted = [t("method.quoted", question=view.text) for view in found]
    assert t.language.list(quoted[:2]) in said
    assert said.count(words._ratio_text(made[0], t)) == 2, "of two mechanisms"
    assert beside([said], tag, [*(view.text for view in found), "Us"]) == [], "in the words of the language alone"
    assert t.language.list([t.language.share(100 / 3, 1)] * 3) in said


def test_a_task_of_several_questions_has_the_title_of_the_questionnaire() -> None:
    """Not that of its first question, which is one of them; and its last day is the last on which people answer."""
    service = Paged()
    document, _ = rated()
    id, headers = service.add(document), signed_in(service)
    page = service.get(f"/tasks/{id}", headers).body.decode()
    assert '<h1><bdi dir="auto">exams</bdi></h1>' in page
    assert "about exams" not in only_text(page).text
    task = Task.load(document)
    days = [texts("desk", "en").language.date(task.closes - timedelta(n)) for n in (0, 1)]
    assert days[1] in page
    assert days[0] not in page
    assert "How? (0) – 1 % of forged reports" in only_text(page).text, "each by its question, without ?: between"
    listed = only_text(service.get("/", headers).body.decode()).text
    assert listed.index("exams") < listed.index("How? (0) and 2 more")
    assert str(task.closes) not in listed


@pytest.mark.parametrize("tag", LANGUAGES)
def test_a_button_that_must_wait_says_so(tag: str) -> None:
    """Without a network "Try again" did nothing for up to a minute after a try, and nobody was told."""
    outbox = (Path(__file__).parents[2] / "clients/js/src/outbox.js").read_text("utf-8")
    assert "const STEP = 30 * SECOND;" in outbox
    assert "upTo(Math.min(STEP * 2 ** Math.min(attempts, STEPS_MAX), LATER_MAX))" in outbox
    minute = {"en": "within a minute", "de": "innerhalb einer Minute", "fr": "en une minute", "es": "en un minuto"}
    minute["ar"] = "\u0641\u064a \u063a\u0636\u0648\u0646 \u062f\u0642\u064a\u0642\u0629"
    assert minute[tag] in texts("answer", tag)("offline.text")
