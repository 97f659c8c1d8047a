"""Questions that are asked together: in the document, on the pages, in what is foreseen, tried and opened."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.survey.tabled import TableSurvey
from deniable.plan.survey import survey
from deniable.service.access.identity import Identity
from deniable.service.builder.forms import Filled, done
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import Questionnaire, dumped, read
from deniable.service.questionnaire.opening import questionnaire_of, task_of
from deniable.service.questionnaire.outlook import outlook
from deniable.service.questionnaire.telling import lines
from deniable_client.task import Task
from questionnaire.test_builder import Writer, complete, filled

TODAY = date(2026, 11, 16)
SELF = Identity(bytes(32))
FULL: dict[str, Any] = {
    "questionnaire": 1,
    "title": "Health",
    "who": "Uni Bern",
    "why": "To plan.",
    "people": 20_000,
    "questions": [
        {"name": "hours", "kind": "number", "text": "Hours of sleep?", "low": 0, "high": 24, "unit": "h"},
        {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"},
        {"name": "sport", "kind": "one", "text": "Sport?", "options": ["never", "weekly", "daily"]},
        {"name": "happy", "kind": "rating", "text": "Happy?", "points": 3, "ends": ["no", "yes"], "skip": False},
        {"name": "often", "kind": "ordered", "text": "Often?", "options": ["low", "middle", "high"]},
        {"name": "tea", "kind": "several", "text": "What do you drink?", "options": ["tea", "wine"]},
    ],
    "together": [["smokes", "sport"]],
    "translations": {
        "de": {
            "title": "Gesundheit",
            "why": "Zum Planen.",
            "questions": {
                "hours": {"text": "Stunden Schlaf?", "unit": "Std."},
                "smokes": {"text": "Rauchen Sie?"},
                "sport": {"text": "Sport?", "options": ["nie", "wöchentlich", "täglich"]},
                "happy": {"text": "Zufrieden?", "ends": ["nein", "ja"]},
                "often": {"text": "Oft?", "options": ["wenig", "mittel", "viel"]},
                "tea": {"text": "Was trinken Sie?", "options": ["Tee", "Wein"]},
            },
        }
    },
}


def full(*blocks: Any, **more: Any) -> Questionnaire:
    return read({**FULL, "together": list(blocks) or FULL["together"], **more})


def made(asked: Questionnaire) -> Task:
    return Task.load(task_of(asked, SELF, today=TODAY))


# ---- the document


def test_a_file_keeps_what_is_asked_together() -> None:
    asked = full(["smokes", "sport"], ["happy", "often"])
    assert read(dumped(asked)) == asked
    assert json.loads(dumped(asked))["together"] == [["smokes", "sport"], ["happy", "often"]]
    assert "together" not in json.loads(dumped(read({**FULL, "together": []})))


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ("smokes", "together must be a list"),
        (["smokes"], "a block of together must be a list"),
        ([["smokes", "age"]], "a name in together must be one of the questions hours, smokes"),
        ([["smokes", "smokes"]], "names in a block of together must be different"),
        ([["smokes", 1]], "a name in together must be one of"),
        ([[]] * 33, "together must be a list of at most 32"),
    ],
)
def test_what_is_not_a_block_is_refused(blocks: Any, told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read({**FULL, "together": blocks})


MANY = [{"name": f"q{i}", "kind": "yes-no", "text": f"Did you, {i}?"} for i in range(250)]
WIDE = [{"name": n, "kind": "one", "text": f"Which {n}?", "options": list(map(str, range(16)))} for n in "ab"]


@pytest.mark.parametrize(
    ("asked", "id"),
    [
        (full([]), "fault.together"),
        (full(["smokes"]), "fault.together"),
        (full(["smokes", "hours"]), "fault.together.kind"),
        (full(["smokes", "tea"]), "fault.together.kind"),
        (full(["smokes", "sport"], ["sport", "happy"]), "fault.together.twice"),
        (read({**FULL, "questions": WIDE, "together": [["a", "b"]], "translations": {}}), "fault.together.cells"),
        (
            read({**FULL, "questions": MANY, "together": [[f"q{i}" for i in range(4)]], "translations": {}}),
            "fault.together.many",
        ),
        (
            read({**FULL, "questions": MANY[:9], "together": [[f"q{i}" for i in range(7)]], "translations": {}}),
            "fault.together",
        ),
        *(
            (replace(each, questions=(replace(each.questions[1], **own), *each.questions[2:])), "fault.together.kind")
            for each in (full(translations={}),)
            for own in ({"sensitive": ("Yes",)}, {"mechanism": "grr"}, {"weight": 2.0})
        ),
    ],
)
def test_what_cannot_be_asked_together_keeps_it_from_being_opened(asked: Questionnaire, id: str) -> None:
    assert [fault.id for fault in problems(asked)] == [id]
    with pytest.raises(ParameterError, match="cannot be opened"):
        task_of(asked, SELF, today=TODAY)


@pytest.mark.parametrize("block", [["smokes", "sport"], ["smokes", "sport", "happy", "often"]])
def test_the_task_asks_them_together_and_becomes_the_questionnaire_again(block: list[str]) -> None:
    """Two questions are one part of cells; of four, single questions and what two have in common cost less."""
    asked = full(block)
    task = made(asked)
    joint = [tuple(one.name for one in part.together) for part in task.questions if part.together]
    assert joint == [(a, b) for i, a in enumerate(block) for b in block[i + 1 :]]
    kinds = {part.explanation.design.kernel.kind for part in task.questions if part.together}
    assert kinds == ({"subset"} if len(block) == 2 else {"interaction"})
    singles = {one.name: one for part in task.questions for one in part.together}
    assert singles["smokes"].none == "I prefer not to say"
    if len(block) > 2:
        assert (singles["happy"].none, singles["happy"].ends) == (None, ("no", "yes"))
        assert {part.name for part in task.questions if not part.together} == set(block) | {"hours", "tea"}
    again = questionnaire_of(task)
    assert again.together == asked.together
    assert {item.name: item for item in again.questions} == {item.name: item for item in asked.questions}
    assert again.translations == asked.translations
    assert made(replace(again, people=20_000)).document["design"] == task.document["design"]


def test_a_task_without_a_table_of_two_is_no_questionnaire() -> None:
    labels = {name: ["no", "yes"] for name in "abc"}
    for wanted in ({"scheme": "box"}, {"tables": [("a", "b"), ("b", "c")]}):
        found = survey(labels, epsilon=2.0, **wanted)  # type: ignore[arg-type]  # one of two options
        task = Task.load(dn_task(found))
        with pytest.raises(ParameterError, match=r"table|one report"):
            questionnaire_of(task)


def dn_task(found: Any) -> dict[str, Any]:
    """A task of a survey, as the command line makes one."""
    from deniable.service.tasks import Terms, asked_by, new_task

    return new_task(asked_by(found, ["A?", "B?", "C?"]), Terms(opens=TODAY), SELF)


# ---- what is foreseen


@pytest.mark.parametrize(("sizes", "epsilon"), [((2, 2), 1.0), ((3, 4), 1.0), ((4, 4, 4, 4), 1.0), ((2, 3, 5), 2.0)])
def test_the_worst_errors_are_those_of_closed_forms_or_larger(sizes: tuple[int, ...], epsilon: float) -> None:
    """Where all answers are equally common they are the closed forms; half of the people make them larger."""
    names = "abcd"[: len(sizes)]
    found = survey(dict(zip(names, sizes, strict=True)), epsilon=epsilon, tables=pairs(names))
    assert isinstance(found, TableSurvey)
    assert found.scheme == ("effects" if len(sizes) == 4 else "pairs")
    closed = {name: error**2 for name, error in found.properties(1)["stderr"].items()}
    for name, k in zip(names, sizes, strict=True):
        # the mean over answers of a question with two answers is the variance of both
        assert found.worst.questions[name] >= closed[name] * (1 - 1e-6)
        assert found.worst.questions[name] <= closed[name] * (1 + 1e-6 if k == 2 and len(sizes) == 2 else 1.4)
    least = found.properties(1)["table_sum"] / sum(math.prod(found.plan.want.sizes(pair)) for pair in found.tables)
    assert least * (1 - 1e-6) <= max(found.worst.cells.values()) <= 2 * least


def pairs(names: str) -> list[tuple[str, str]]:
    return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]


@pytest.mark.stat
@pytest.mark.parametrize(("sizes", "shape"), [((3, 4), "pairs"), ((4, 4, 4, 4), "effects")])
def test_tables_are_known_as_well_as_told(sizes: tuple[int, ...], shape: str) -> None:
    """Half of 60,000 simulated people in one cell: the error that estimates say is the one that was told (seed 11)."""
    names, n = "abcd"[: len(sizes)], 60_000
    found = survey(dict(zip(names, sizes, strict=True)), epsilon=1.0, tables=pairs(names))
    assert isinstance(found, TableSurvey)
    assert found.scheme == shape
    rng = dn.simulation(11).generator()
    answers = {name: rng.integers(0, k, n) for name, k in zip(names, sizes, strict=True)}
    cells = math.prod(sizes[:2])
    drawn = rng.choice(cells, n, p=[0.5, *[0.5 / (cells - 1)] * (cells - 1)])
    answers["a"], answers["b"] = np.divmod(drawn, sizes[1])
    tally = found.tally(found.privatize(answers, rng=dn.simulation(12)))
    table = found.table("a", "b", tally)
    told = math.sqrt(found.worst.cells["a", "b"] / n)
    assert float(table.stderr.max()) == pytest.approx(told, rel=0.03)
    assert abs(float(table.value[0, 0]) - 0.5) < 5 * told, "alpha 1e-6"
    assert 10 * told < 0.5, "a cell of nobody, or of all, would be noticed"
    half = found.estimate(tally)["a"]
    assert float(np.sqrt(half.variance("population")).max()) <= 1.03 * math.sqrt(found.worst.questions["a"] / n)


def test_what_it_gives_and_what_it_costs_is_said() -> None:
    found = outlook(full())
    (table,) = found.crossed
    assert (table.question, table.other, table.cells) == ("smokes", "sport", 12)
    assert table.reports == pytest.approx(found.answers * found.shares["smokes"])
    apart = outlook(read({**FULL, "together": []}))
    own = {each.question: each.half for each in found.apart(["smokes", "sport"])}
    assert own == {each.question: each.half for each in apart.known if each.question in own}
    told = lines(found)["told"]
    assert any("Asked together (Do you smoke? and Sport?): you also get their table, 12 cells" in line for line in told)
    (price,) = [line for line in told if "dealt one by one, without the table" in line]
    worst = {name: max(100 * each.rounded for each in found.known if each.question == name) for name in own}
    assert f"within about {max(worst.values()):g} points" in price
    assert not any("Asked together" in line or "without the table" in line for line in lines(apart)["told"])
    assert len(outlook(full(["smokes", "sport", "happy", "often"])).crossed) == 6


def test_one_recommendation_also_where_the_table_is_too_coarse() -> None:
    """The grade is that of the worst result; to deal the questions one by one is offered where that is enough."""
    found = outlook(full(["smokes", "sport"], people=9000))
    assert found.grade == "coarse"
    assert max(found.crossed[0].half / found.crossed[0].relevant, found.worst.half / found.worst.relevant) > 1
    assert found.suggestions[0] == ("apart", {"names": ("smokes", "sport")})
    assert outlook(full(["smokes", "sport"], people=found.people_needed)).grade == "usable"
    assert outlook(full(["smokes", "sport"], people=int(0.98 * found.people_needed))).grade == "coarse"
    told = lines(found)["cautions"]
    assert "Ask these one by one, without the table, and shares are known well enough: Do you smoke? and Sport?" in told


# ---- on the pages


def test_from_the_form_to_the_open_task() -> None:
    writer = Writer()
    writer.new()
    complete(writer)
    writer.save(people="20000")
    writer.save("add:one")
    writer.save("add:number")
    writer.save(q__q2__text="Sport?", q__q2__options="never\nweekly", q__q3__text="Hours?", q__q3__low="0")
    writer.save(q__q3__high="24", q__q3__unit="h")
    assert writer.save("block:").headers["location"].endswith("#b.1")
    page = writer.get()
    assert "Set 1: tick at least two" in page
    assert 'name="b.1.q1"' in page
    assert 'name="b.1.q3"' not in page, "a number cannot be asked together with others"
    assert "Tick 2 to 6 questions" in writer.get("/outlook")
    assert writer.save(b__1__q1="1", b__1__q2="1").status == 303
    assert writer.asked.together == (("q1", "q2"),)
    writer.save(title="Exams and sport")
    assert writer.asked.together == (("q1", "q2"),), "what is ticked stays"
    page = writer.get("/outlook")
    assert "you also get their table, 9 cells" in page
    assert "Did you ever copy in an exam? × Sport?" in page
    assert "dealt one by one, without the table" in page
    assert "Did you ever copy in an exam?" in writer.get("/preview/page")
    assert writer.post("/trial").status == 303
    last = json.loads(writer.row.trial)
    assert [part["question"] for part in last["questions"]] == ["q1", "q2", "q3"]
    (table,) = last["tables"]
    assert (table["questions"], len(table["rows"])) == (["q1", "q2"], 9)
    assert sum(row["truth"] for row in table["rows"]) == pytest.approx(1)
    assert "× Sport?" in writer.get("/trial")
    opened = writer.post("/open").headers["location"]
    task = Task.load(writer.service.store.task(opened.rpartition("/")[2]).document)
    assert [part.name for part in task.questions] == ["q1.q2", "q3"]
    again = writer.post("/copy").headers["location"]
    assert read(writer.service.store.draft(again.rpartition("/")[2]).document).together == (("q1", "q2"),)


def test_a_block_follows_its_questions() -> None:
    writer = Writer()
    writer.new()
    for _ in range(3):
        writer.save("add:yes-no")
    writer.save("block:")
    writer.save("block:")
    writer.save(b__1__q1="1", b__1__q3="1", b__2__q2="1")
    assert writer.asked.together == (("q1", "q3"), ("q2",))
    writer.save("up:q3")
    writer.save("remove:q1")
    assert writer.asked.together == (("q3",), ("q2",))
    writer.save("unblock:1")
    assert writer.asked.together == (("q2",),)
    sent = filled(writer.get())
    del sent["b.1.q2"]
    writer.post(**sent, do="save")
    assert writer.asked.together == ((),)


def test_no_draft_becomes_one_that_cannot_be_read() -> None:
    asked = read({**FULL, "together": [[]] * 31})
    for _ in range(2):
        asked, _ = done(asked, "block:", Filled({}))
    assert len(asked.together) == 32
    assert read(dumped(asked)) == asked


def test_the_preview_shows_a_draft_whose_block_is_not_ready() -> None:
    writer = Writer()
    writer.new()
    writer.save("add:yes-no")
    writer.save("add:yes-no")
    writer.save("block:")
    writer.save(q__q1__text="Did you?", b__1__q1="1", b__1__q2="1")
    assert "Did you?" in writer.get("/preview/page")
    writer.save(q__q2__text="Did they?")
    assert "Did they?" in writer.get("/preview/page")
