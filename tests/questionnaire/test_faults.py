"""What keeps a questionnaire from being opened, at its borders; and the task that is made of it, field by field."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from deniable.errors import FormatError
from deniable.service.access.identity import Identity
from deniable.service.questionnaire import complete
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import Group, Item, Questionnaire, read
from deniable.service.questionnaire.opening import questionnaire_of, task_of
from deniable.service.questionnaire.outlook import outlook
from deniable_client.task import NOT_TOLD, Task

TODAY = date(2026, 11, 16)
SELF = Identity(bytes(32))


def item(name: str = "q1", kind: str = "one", **more: Any) -> Item:
    usual: dict[str, Any] = {"options": ("a", "b", "c")} if kind in ("one", "several", "ordered") else {}
    return Item(name=name, kind=kind, **{"text": f"{name}?", **usual, **more})


def asked(*items: Item, **more: Any) -> Questionnaire:
    usual: dict[str, Any] = {"title": "T", "who": "W", "why": "Y", "people": 4000}
    return Questionnaire(questions=items, **{**usual, **more})


def faults(made: Questionnaire, today: date | None = None) -> list[tuple[str, str]]:
    return [(fault.where, fault.id) for fault in problems(made, today)]


HOURS: dict[str, Any] = {"low": 0.0, "high": 24.0, "unit": "h"}
MANY = tuple(f"answer {i}" for i in range(4097))


@pytest.mark.parametrize(
    ("made", "wrong"),
    [
        (item(options=("a", "b")), []),
        (item(options=("a",)), [("q.q1.options", "fault.options")]),
        (item(options=MANY[:1000]), []),
        (item(options=MANY[:1001]), [("q.q1.options", "fault.options")]),
        (item(kind="ordered"), []),
        (item(kind="ordered", options=("a", "b")), [("q.q1.options", "fault.options")]),
        (item(kind="ordered", options=MANY[:4096]), []),
        (item(kind="ordered", options=MANY), [("q.q1.options", "fault.options")]),
        (item(kind="several", options=("a",)), [("q.q1.options", "fault.options")]),
        (item(kind="several", most=3), []),
        (item(kind="several", most=4), [("q.q1.most", "fault.ticks")]),
        (item(kind="several", most=4, other=True), []),
        (item(kind="several", most=5, other=True), [("q.q1.most", "fault.ticks")]),
        (item(kind="several", options=MANY[:64], most=1), []),
        (item(kind="several", options=MANY[:64], most=1, other=True), [("q.q1.options", "fault.most")]),
        (item(kind="number", **HOURS), []),
        (item(kind="number", **{**HOURS, "low": None}), [("q.q1.low", "fault.range")]),
        (item(kind="number", **{**HOURS, "high": None}), [("q.q1.low", "fault.range")]),
        (item(kind="number", **{**HOURS, "low": 24.0}), [("q.q1.high", "fault.range.order")]),
        (item(kind="number", **{**HOURS, "unit": ""}), [("q.q1.unit", "fault.unit")]),
        (item(kind="rating", ends=("l", "h")), []),
        (item(kind="rating", ends=("l", "")), [("q.q1.ends", "fault.ends")]),
        (item(options=("a", "a")), [("q.q1.options", "fault.labels")]),
        (item(options=("Something else", "b"), other=True), [("q.q1.options", "fault.labels")]),
        (item(sensitive=("b",)), []),
        (item(sensitive=("b", "d")), [("q.q1.sensitive", "fault.sensitive")]),
        (item(sensitive=("I prefer not to say",)), []),
        (item(sensitive=("I prefer not to say",), skip=False), [("q.q1.sensitive", "fault.sensitive")]),
        (item(kind="ordered", sensitive=("b",)), [("q.q1.sensitive", "fault.sensitive.kind")]),
        (item(text=""), [("q.q1.text", "fault.question")]),
        (item(mechanism="grr"), []),
        (item(mechanism="duchi"), [("q.q1.mechanism", "fault.mechanism")]),
        (item(mechanism="grr", options=("a",)), [("q.q1.options", "fault.options")]),
    ],
)
def test_each_kind_of_question_has_its_faults_and_no_others(made: Item, wrong: list[tuple[str, str]]) -> None:
    words = {"other": "Something else"}
    assert faults(asked(made, words=words)) == wrong


@pytest.mark.parametrize("most", [1, 6, 7, 8, 9])
def test_as_many_may_be_ticked_as_there_are_sets_that_can_be_counted(most: int) -> None:
    """2^32 sets of so many of 64 answers or fewer: by binomials. The fault names the largest number that can be."""
    sets = sum(math.comb(64, i) for i in range(most + 1))
    (found,) = problems(asked(item(kind="several", options=MANY[:64], most=most))) or [None]
    assert (found is None) is (sets <= 1 << 32)
    if found is not None:
        assert (found.where, found.id, found.values) == ("q.q1.most", "fault.ticks.sets", {"n": 7, "options": 64})


def test_what_is_asked_twice_is_found_at_the_second() -> None:
    two = asked(item(), item("q2"), item("q3", text="q1?"))
    assert faults(two) == [("q.q3.text", "fault.twice")]
    assert faults(asked()) == [("questions", "fault.questions")]
    empty = Questionnaire(questions=(item(),), people=None)
    assert faults(empty) == [(name, f"fault.{name}") for name in ("title", "who", "why", "people")]


def test_words_that_lack_are_asked_for_where_they_are_read() -> None:
    """A language without words in the catalogue."""
    for made, lack in (
        (item(skip=False), False),
        (item(), True),
        (item(skip=False, other=True), True),
        (item(kind="yes-no", skip=False), True),
        (item(kind="several"), False),
        (item(kind="rating", ends=("l", "h"), skip=False), False),
    ):
        assert faults(asked(made, language="rm")) == ([("words", "fault.words")] if lack else [])


def test_a_block_has_two_to_six_questions_and_no_table_that_is_too_large() -> None:
    six = tuple(item(f"q{i}", options=("a", "b"), skip=False) for i in range(7))
    names = tuple(each.name for each in six)
    for size, wrong in ((1, True), (2, False), (6, False), (7, True)):
        assert faults(asked(*six, together=(names[:size],))) == ([("b.1", "fault.together")] if wrong else [])
    ids = [fault for _, fault in faults(asked(*six, together=(names[:2], names[1:3])))]
    assert ids == ["fault.together.twice"]
    (twice,) = problems(asked(*six, together=(names[:2], names[2:4], ("q3", "q5"))))
    assert (twice.where, twice.values) == ("b.3", {"question": "q3?"})


@pytest.mark.parametrize(
    ("sizes", "most", "wrong"), [((3, 4, 5), 20, False), ((3, 4, 5), 19, True), ((5, 3, 4), 19, True)]
)
def test_cells_are_those_of_the_two_longest_questions(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], most: int, wrong: bool
) -> None:
    monkeypatch.setattr(complete, "CELLS_MAX", most)
    items = [item(f"q{i}", options=MANY[:k], skip=False) for i, k in enumerate(sizes)]
    found = problems(asked(*items, together=(("q0", "q1", "q2"),)))
    assert [(fault.id, fault.values) for fault in found] == (
        [("fault.together.cells", {"n": 20, "most": most})] if wrong else []
    )


@pytest.mark.parametrize(("most", "wrong"), [(7, False), (6, True)])
def test_parts_are_questions_and_tables_of_two(monkeypatch: pytest.MonkeyPatch, most: int, wrong: bool) -> None:
    """Four questions, of which three have three tables."""
    monkeypatch.setattr(complete, "PARTS_MAX", most)
    items = [item(f"q{i}", options=("a", "b"), skip=False) for i in range(4)]
    found = faults(asked(*items, together=(("q0", "q1", "q3"),)))
    assert found == ([("together", "fault.together.many")] if wrong else [])


def test_a_survey_opens_today_or_later() -> None:
    made = asked(item(), opens=TODAY.isoformat())
    assert faults(made, TODAY) == faults(made, TODAY - timedelta(1)) == faults(made) == []
    assert faults(made, TODAY + timedelta(1)) == [("opens", "fault.past")]


def test_groups_have_a_title_and_two_values_that_differ() -> None:
    group = Group(name="g1", title="Where?", values=("a", "b"))
    for changes, wrong in (
        ({}, []),
        ({"title": ""}, [("g.g1.title", "fault.group.title")]),
        ({"values": ("a",)}, [("g.g1.values", "fault.group.values")]),
        ({"values": ("a", "a")}, [("g.g1.values", "fault.labels")]),
    ):
        assert faults(asked(item(), groups=(replace(group, **changes),))) == wrong  # type: ignore[arg-type]


# ---- the task

GROUPS = (
    Group(name="g1", title="Where?", values=("North", "South")),
    Group(name="g2", title="Term?", values=("1", "2")),
)
FULL = asked(
    item("hours", "number", **HOURS),
    item("how", "rating", points=3, ends=("bad", "good")),
    item("which", options=("a", "b"), other=True),
    item("take", "several", most=2),
    item("ill", sensitive=("b",)),
    opens="2026-12-01",
    days=10,
    windows=2,
    groups=GROUPS,
    protection=0.5,
    language="de",
)


def made(questionnaire: Questionnaire, **more: Any) -> Task:
    return Task.load(task_of(questionnaire, SELF, today=TODAY, **more))


def test_a_task_has_what_its_questionnaire_says() -> None:
    task = made(FULL)
    assert (task.opens, task.days, task.count, task.closes) == (date(2026, 12, 1), 10, 2, date(2026, 12, 21))
    assert (task.subject, task.collector, task.purpose, task.language) == ("T", "W", "Y", "de")
    assert (task.epsilon, task.results, task.min_batch) == (0.5, "private", outlook(FULL).min_batch)
    assert [question.name for question in task.questions] == ["hours", "how", "which", "take", "ill"]
    assert [question.unit for question in task.questions] == ["h", None, None, None, None]
    assert [question.ends for question in task.questions] == [None, ("bad", "good"), None, None, None]
    assert [question.kind for question in task.questions] == ["number", "rating", "one", "several", "one"]
    assert {name: [value for value in values if value != NOT_TOLD] for name, values in task.strata.items()} == {
        "g1": ["North", "South"],
        "g2": ["1", "2"],
    }
    assert dict(task.titles) == {"g1": "Where?", "g2": "Term?"}


def test_what_is_left_out_has_its_usual_value_in_the_task() -> None:
    task = made(asked(item()))
    assert (task.opens, task.days, task.count, task.results) == (TODAY, 7, 1, "private")
    assert (task.strata, task.language) == ({}, "en")
    assert made(asked(item(), public=True)).results == "public"
    assert made(asked(item()), min_batch=33).min_batch == 33
    assert made(replace(asked(item()), opens="2026-11-20")).opens == date(2026, 11, 20)


def test_people_are_dealt_as_the_outlook_says() -> None:
    """Shares of the task are whole numbers; each question has the one that it was worked out for."""
    reports = outlook(FULL).shares
    task = made(FULL)
    whole = sum(question.share for question in task.questions)
    for question in task.questions:
        assert question.share / whole == pytest.approx(reports[question.name], rel=1e-3)
    turned = made(replace(FULL, questions=FULL.questions[::-1]))
    assert [question.name for question in turned.questions] == ["ill", "take", "which", "how", "hours"]


def test_parts_of_a_task_stand_as_their_first_questions_were_written() -> None:
    items = tuple(item(name, options=("a", "b"), skip=False) for name in ("q1", "q2", "q3"))
    for block, order in (
        (("q1", "q3"), [("q1", "q3"), ("q2",)]),
        (("q2", "q3"), [("q1",), ("q2", "q3")]),
        (("q1", "q2"), [("q1", "q2"), ("q3",)]),
    ):
        task = made(asked(*items, together=(block,)))
        assert [tuple(one.name for one in part.together) or (part.name,) for part in task.questions] == order


def test_a_questionnaire_comes_back_from_its_task() -> None:
    """All but what a task does not know: how many are invited, and the words of what nobody listed."""
    again = questionnaire_of(made(replace(FULL, public=True)))
    other = FULL.questions[2]
    own = replace(other, options=("a", "b", "Etwas anderes"), other=False)
    assert again.questions[2].options[:2] == own.options[:2]
    kept = [each for each in FULL.questions if each is not other]
    assert [each for each in again.questions if each.name != "which"] == kept
    assert (again.groups, again.public, again.days, again.windows, again.protection) == (GROUPS, True, 10, 2, 0.5)
    assert (again.people, again.response, again.opens, again.later) == (None, None, "", None)
    for most, kept_most in ((0, 0), (1, 1), (2, 2), (3, 0)):
        back = questionnaire_of(made(asked(item(kind="several", most=most))))
        assert back.questions[0].most == kept_most
    plain = questionnaire_of(made(asked(item(sensitive=("b",)), item("q2", skip=False, sensitive=("a", "c")))))
    assert [each.sensitive for each in plain.questions] == [("b",), ("a", "c")]
    for kind, more in (
        ("time", {"slots": 48}),
        ("yes-no", {"skip": False}),
        ("rating", {"points": 4, "ends": ("l", "h")}),
    ):
        whole = asked(item(kind=kind, **more))
        assert questionnaire_of(made(whole)).questions == whole.questions


@pytest.mark.parametrize(("shares", "fits"), [([], True), ([0.5, 0.5], True), ([1], False), ([0.5, 0.25, 0.25], False)])
def test_each_value_of_a_grouping_has_its_share_or_none_has(shares: list[float], fits: bool) -> None:
    document = {"questionnaire": 1, "groups": [{"values": ["a", "b"], "shares": shares}]}
    if fits:
        assert read(document).groups[0].shares == tuple(shares)
    else:
        with pytest.raises(FormatError, match="shares of a group must be one for each value, or left out"):
            read(document)
