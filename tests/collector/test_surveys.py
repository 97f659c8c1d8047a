"""What a survey asks as a task: its parts in their order, with texts, shares and words of their own."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.plan.survey import survey
from deniable.service.access.identity import Identity
from deniable.service.tasks import Terms, asked_by, new_task
from deniable_client.task import Task
from service.calling import OPENS

QUESTIONS = {"a": 2, "b": ["no", "yes", "maybe"], "c": 5}


def made(scheme: str, **more: Any) -> Any:
    return survey(QUESTIONS, epsilon=1.0, scheme=scheme, **more)


def test_each_part_of_a_survey_has_the_text_the_design_and_the_share_of_its_question() -> None:
    found = made("one", weights={"a": 1, "b": 9, "c": 4})
    design = found.design()
    asked = asked_by(found, ["A?", "B?", "C?"])
    assert [(each.name, each.text, each.labels, list(each.together)) for each in asked] == [
        ("a", "A?", None, []),
        ("b", "B?", None, []),
        ("c", "C?", None, []),
    ]
    assert [each.share for each in asked] == design["shares"]
    assert [each.design for each in asked] == design["parts"]
    task = Task.load(new_task(asked, Terms(opens=OPENS), Identity(bytes(32))))
    assert [question.name for question in task.questions] == ["a", "b", "c"]
    assert [question.share for question in task.questions] == design["shares"]


def test_questions_that_are_asked_together_have_words_for_all_their_answers() -> None:
    """Those of the question, or numbers where it has none."""
    asked = asked_by(made("box"), ["A?", "B?", "C?"])
    words = {"a": ["0", "1"], "b": ["no", "yes", "maybe"], "c": ["0", "1", "2", "3", "4"]}
    texts = {"a": "A?", "b": "B?", "c": "C?"}
    together = [each for each in asked if each.together]
    assert together
    for each in together:
        assert (each.text, each.name) == ("", "")
        assert len(each.together) > 1
        for one in each.together:
            assert (one.text, list(one.labels)) == (texts[one.name], words[one.name])
    document = new_task(asked, Terms(opens=OPENS), Identity(bytes(32)))
    assert document["subject"] == "A?"
    told = [one for part in document["questions"] for one in part]
    assert all(one["text"] == texts[one["name"]] for one in told)
    assert {one["name"] for one in told} == set(texts)


def test_a_question_without_weight_is_not_asked_and_needs_no_text() -> None:
    found = made("one", weights={"a": 1, "b": 0, "c": 1})
    assert [(each.name, each.text) for each in asked_by(found, ["A?", "C?"])] == [("a", "A?"), ("c", "C?")]
    with pytest.raises(ParameterError, match="question must be given once for each of a, c, in this order"):
        asked_by(found, ["A?", "B?", "C?"])


@pytest.mark.parametrize("texts", [["A?", "B?"], ["A?", "B?", "C?", "D?"], []])
def test_each_question_has_one_text(texts: list[str]) -> None:
    with pytest.raises(ParameterError, match="question must be given once for each of a, b, c, in this order"):
        asked_by(made("one"), texts)


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_text_can_be_seen(blank: str) -> None:
    with pytest.raises(ParameterError, match="question must be a text that people can see"):
        asked_by(made("one"), ["A?", blank, "C?"])


@pytest.mark.parametrize("name", ["A", "a b", "\u00e4", "a" * 65])
def test_names_of_questions_are_those_that_devices_take(name: str) -> None:
    found = survey({name: 2, "b": 3}, epsilon=1.0, scheme="one")
    with pytest.raises(ParameterError, match="small letters, digits, - or _, at most 64"):
        asked_by(found, ["A?", "B?"])
    fine = survey({"a-b_0" + "a" * 59: 2, "b": 3}, epsilon=1.0, scheme="one")
    assert len(asked_by(fine, ["A?", "B?"])) == 2
