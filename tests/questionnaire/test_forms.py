"""Forms of drafts and documents: what nobody touched does not change, and what is allowed ends where it says."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

import pytest

from deniable.errors import FormatError
from deniable.service.builder.forms import Filled, changed, done, fields_of, language_fields, translated
from deniable.service.questionnaire.complete import cautions, problems
from deniable.service.questionnaire.document import Group, Item, Questionnaire, Translated, dumped, read, written
from deniable.service.questionnaire.outlook import outlook
from pages.written import questionnaire

FLAGS = {
    "yes-no": ("skip",),
    "one": ("skip", "other"),
    "several": ("other",),
    "rating": ("skip",),
    "ordered": ("skip",),
}


def sent(asked: Questionnaire) -> dict[str, str]:
    """What a browser sends of a form that nobody touched: fields, and boxes that are ticked."""
    found = fields_of(asked) | ({"public": "1"} if asked.public else {})
    for item in asked.questions:
        ticked = [name for name in FLAGS.get(item.kind, ()) if getattr(item, name)]
        found |= {f"q.{item.name}.{name}": "1" for name in ticked}
    for number, block in enumerate(asked.together, start=1):
        found |= {f"b.{number}": "1"} | {f"b.{number}.{name}": "1" for name in block}
    return found


def test_a_form_that_nobody_touched_changes_nothing() -> None:
    asked = questionnaire()
    asked = replace(asked, questions=tuple(replace(item, skip=True) if item.kind in ("several", "number", "time")
                                           else item for item in asked.questions))  # fmt: skip
    filled = Filled(sent(asked))
    assert changed(asked, filled) == asked
    other = Filled(language_fields(asked, "ar"))
    again = translated(asked, "ar", other).translations["ar"]
    assert (filled.faults, other.faults) == ({}, {})
    told = asked.translations["ar"]
    assert (again.title, again.why, again.words) == (told.title, told.why, told.words)
    for name, own in told.questions.items():
        assert {part: text for part, text in again.questions[name].items() if text not in ("", ("", ""), ())} == own
    assert {name: dict(group) for name, group in again.groups.items()} == told.groups


SHOWN: list[tuple[str, dict[str, Any], str]] = [
    *(("response", {"response": share}, text) for share, text in (
        (0.125, "12.5"), (0.45, "45"), (1.0, "100"), (0.07, "7"), (0.014, "1.4"), (0.12345, "12.345"),
        (1 / 3, "33.3333"), (0.00004, "0.004 %"))),
    *(("protection", {"protection": number}, text) for number, text in (
        (1.0, "1"), (0.25, "0.25"), (1.125, "1.125"), (2 / 3, "0.666667"))),
    *((name, {name: number}, str(number)) for name, number in (
        ("people", 10**10), ("people", 1000), ("days", 3660), ("windows", 10_000), ("windows", 12))),
]  # fmt: skip
"""Numbers of documents, and what the form shows of them: rounded, beyond what it takes, or with two readings."""


@pytest.mark.parametrize(("name", "changes", "text"), SHOWN)
def test_a_number_is_shown_as_it_is_and_left_as_it_was(name: str, changes: dict[str, Any], text: str) -> None:
    """Whoever saves something else, with that field or without it, has not typed what the form has shown."""
    asked = replace(questionnaire(), **changes)
    assert fields_of(asked)[name] == text
    for form in (sent(asked), {**sent(asked), name: f" {text} "}, {}):
        filled = Filled(form)
        assert (changed(asked, filled), filled.faults) == (asked, {})
    other: dict[str, Any] = {name: 0.03 if name == "response" else 3}
    assert changed(asked, Filled({name: "3"})) == replace(asked, **other)


@pytest.mark.parametrize("number", [1.125, -1234.5, 1e11 + 0.25, 1 / 3])
def test_ends_and_shares_that_nobody_touched_stay_as_they_were(number: float) -> None:
    """1.125 was refused as one of two readings, three equal shares became a little less than one."""
    asked = questionnaire()
    item = replace(asked.item("q6"), low=min(number, 0.5), high=max(number, 0.5))
    questions = tuple(item if each.name == "q6" else each for each in asked.questions)
    where, term = asked.groups
    groups = (replace(where, shares=(0.12345, 0.87655)), replace(term, shares=(1 / 3, 1 / 3, 1 / 3)))
    asked = replace(asked, questions=questions, groups=groups)
    form = sent(asked)
    assert (form["g.g1.shares"], form["g.g2.shares"]) == ("12.345\n87.655", "33.3333\n33.3333\n33.3333")
    for each in (form, {name: text.replace("\n", "\r\n") for name, text in form.items()}):
        filled = Filled(each)
        assert (changed(asked, filled), filled.faults) == (asked, {})
    other = changed(asked, Filled(form | {"g.g1.title": "Which?", "g.g2.shares": "50\n25\n25"}))
    assert [(group.title, group.shares) for group in other.groups] == [
        ("Which?", (0.12345, 0.87655)),
        ("Term?", (0.5, 0.25, 0.25)),
    ]
    fewer = changed(asked, Filled(form | {"g.g2.values": "1\n2"}))
    assert (fewer.groups[1].values, fewer.groups[1].shares) == (("1", "2"), ())


def test_a_part_of_a_form_changes_that_part_only() -> None:
    """A script, or a page in another state, sends some fields: all else stays as it was."""
    asked, form = questionnaire(), sent(questionnaire())
    for name in ("who", "why", "opens", "days", "windows", "people", "response", "protection"):
        assert changed(asked, Filled({name: form[name]})) == asked, name
    assert changed(asked, Filled({"title": asked.title})) == replace(asked, public=False), "a box that is not ticked"
    assert changed(asked, Filled({})) == asked


NUMBERS = {
    "people": (1, 10**9, 1),
    "response": (0.01, 100, 0.01),
    "days": (1, 3660, 1),
    "windows": (1, 1000, 1),
    "protection": (0.01, 8, 0.005),
    "q.q4.points": (2, 11, 1),
    "q.q3.most": (1, 64, 1),
    "q.q7.slots": (24, 48, 24),
    "q.q6.low": (-1e12, 1e12, 1),
    "q.q6.high": (-1e12, 1e12, 1),
}
"""The least and the most that a field takes, and how far beyond it takes nothing."""


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_taken_up_to_its_ends_and_not_beyond(name: str) -> None:
    low, high, step = NUMBERS[name]
    asked = questionnaire()
    for number, fits in ((low, True), (high, True), (low - step, False), (high + step, False)):
        sign = " %" if name == "response" and number < 1 else ""
        filled = Filled(sent(asked) | {name: (f"{number:.15g}" if abs(number) < 1e6 else f"{number:.0f}") + sign})
        found = changed(asked, filled)
        assert (name not in filled.faults) is fits, number
        item = found.item(name.split(".")[1]) if name.startswith("q.") else found
        kept = getattr(item, name.rpartition(".")[2])
        before = getattr(asked.item(name.split(".")[1]) if name.startswith("q.") else asked, name.rpartition(".")[2])
        assert kept == ((number / 100 if name == "response" else number) if fits else before)


LONGEST = {
    "title": 200, "who": 200, "why": 1000, "opens": 40, "q.q1.text": 10_000, "q.q6.unit": 40, "q.q4.low_end": 100,
    "q.q4.high_end": 100, "q.q1.mechanism": 40, "g.g1.title": 200, "q.q2.options": 1000, "g.g1.values": 200,
}  # fmt: skip


@pytest.mark.parametrize("name", LONGEST)
def test_a_text_is_taken_up_to_its_length_and_not_beyond(name: str) -> None:
    for more, fits in ((0, True), (1, False)):
        lines = "b\n" if name.endswith(("options", "values")) else ""
        filled = Filled(sent(questionnaire()) | {name: lines + "x" * (LONGEST[name] + more)})
        changed(questionnaire(), filled)
        assert (filled.faults.get(name) is None or filled.faults[name].id != "fault.long") is fits


BUTTONS: dict[str, Any] = {
    "up:q2": lambda asked: [item.name for item in asked.questions][:3] == ["q2", "q1", "q3"],
    "up:q1": lambda asked: asked == questionnaire(),
    "down:q8": lambda asked: asked == questionnaire(),
    "down:q1": lambda asked: [item.name for item in asked.questions][:3] == ["q2", "q1", "q3"],
    "remove:q1": lambda asked: asked.together == (("q4",), ("q2", "q5")) and len(asked.questions) == 7,
    "unblock:1": lambda asked: asked.together == (("q2", "q5"),),
    "unblock:9": lambda asked: asked == questionnaire(),
    "block:": lambda asked: asked.together == (*questionnaire().together, ()),
    "group:": lambda asked: [group.name for group in asked.groups] == ["g1", "g2", "g3"],
    "ungroup:g1": lambda asked: [group.name for group in asked.groups] == ["g2"],
    "unlanguage:ar": lambda asked: not asked.translations,
    "unlanguage:de": lambda asked: asked == questionnaire(),
    "add:rating": lambda asked: (asked.questions[-1].name, asked.questions[-1].kind) == ("q9", "rating"),
    "add:essay": lambda asked: asked == questionnaire(),
    "up:q99": lambda asked: asked == questionnaire(),
    "save": lambda asked: asked == questionnaire(),
}


@pytest.mark.parametrize("what", BUTTONS)
def test_a_button_does_what_it_says_and_nothing_else(what: str) -> None:
    found, _ = done(questionnaire(), what, Filled({}))
    assert BUTTONS[what](found)
    named = {name for block in found.together for name in block}
    assert named <= {item.name for item in found.questions}


def test_lists_of_parts_are_full_at_their_limits() -> None:
    asked = questionnaire()
    for what, part, most in (("add:one", "questions", 255), ("block:", "together", 32), ("group:", "groups", 8)):
        for _ in range(300):
            asked, _ = done(asked, what, Filled({}))
        assert len(getattr(asked, part)) == most
    for i in range(60):
        asked, _ = done(asked, "language:", Filled({"tag": f"x{chr(97 + i // 26)}{chr(97 + i % 26)}"}))
    assert len(asked.translations) == 40
    assert len({item.name for item in asked.questions}) == 255
    assert read(dumped(asked)) == asked, "what the form makes can be read"
    for tag in ("en", "ar"):
        filled = Filled({"language": tag})
        assert changed(questionnaire(), filled).language == "en"
        assert ("language" in filled.faults) is (tag == "ar"), "no language twice"


# ---- documents

UNUSUAL: dict[str, Any] = {
    "title": "T", "who": "W", "why": "Y\nZ", "language": "de", "opens": "2026-03-05", "days": 3, "windows": 2,
    "people": 9, "response": 0.25, "protection": 0.5, "later": 0, "public": True, "words": {"yes": "Ja"},
    "questions": [{
        "name": "a", "kind": "several", "text": "A?\nB?", "options": ["x", "y"], "other": True, "most": 2,
        "skip": False, "sensitive": ["x"], "points": 7, "ends": ["l", "h"], "low": -1.5, "high": 2.5, "unit": "u",
        "slots": 48, "weight": 2.5, "mechanism": "grr",
    }, {"name": "b", "kind": "yes-no", "text": "C?"}],
    "together": [["a", "b"]],
    "groups": [{"name": "z", "title": "G", "values": ["m", "n"], "shares": [0.25, 0.75]}],
    "translations": {"fr": {
        "title": "F", "why": "P\nQ", "questions": {"a": {"text": "D\nE", "options": ["r", "s"], "unit": "v",
                                                         "ends": ["c", "d"]}},
        "groups": {"z": {"title": "H", "values": ["o", "p"]}}, "words": {"no": "Non"},
    }},
}  # fmt: skip


def test_everything_that_a_document_may_say_is_read_and_written() -> None:
    """No field is left out, in whatever part it stands."""
    asked = read({"questionnaire": 1} | UNUSUAL)
    told = written(asked)
    assert {**told, "questions": [told["questions"][0], UNUSUAL["questions"][1]]} == {"questionnaire": 1} | UNUSUAL
    parts = ((Questionnaire(), asked), (Item(name="-"), asked.questions[0]), (Group(name="-"), asked.groups[0]),
             (Translated(), asked.translations["fr"]))  # fmt: skip
    for usual, own in parts:
        for each in fields(own):  # type: ignore[arg-type]  # a dataclass
            assert getattr(own, each.name) != getattr(usual, each.name), f"{each.name} is not tried"


BOUNDS: list[tuple[str, float, float, float]] = [
    ("people", 1, 10**10, 1), ("response", 1e-6, 1, 1e-7), ("protection", 0.01, 8, 0.001), ("days", 1, 3660, 1),
    ("windows", 1, 10_000, 1), ("later", 0, 100, 1), ("q.most", 0, 64, 1), ("q.points", 2, 11, 1),
    ("q.slots", 2, 48, 1), ("q.weight", 0.01, 100, 0.001), ("q.low", -1e12, 1e12, 1), ("q.high", -1e12, 1e12, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "low", "high", "step"), BOUNDS)
def test_numbers_of_documents_are_taken_up_to_their_ends_and_not_beyond(
    name: str, low: float, high: float, step: float
) -> None:
    def reading(number: float) -> Questionnaire:
        part, _, field = name.rpartition(".")
        return read({"questionnaire": 1, **({"questions": [{field: number}]} if part else {field: number})})

    for number in (low, high):
        found = reading(number)
        own: Any = found.questions[0] if name.startswith("q.") else found
        assert getattr(own, name.rpartition(".")[2]) == number
    for number in (low - step, high + step, float("nan"), float("inf")):
        with pytest.raises(FormatError):
            reading(number)


def test_some_of_the_questions_keep_the_blocks_that_are_left() -> None:
    asked = questionnaire()
    assert asked.asking(["q1", "q2", "q5"]).together == (("q2", "q5"),)
    assert asked.asking(["q1"]).together == ()
    assert [item.name for item in asked.asking(["q5", "q1"]).questions] == ["q1", "q5"]


# ---- what is wrong, and what is foreseen


def test_a_survey_may_open_today_and_not_yesterday() -> None:
    asked = questionnaire()
    opens = date.fromisoformat(asked.opens)
    for days, wrong in ((-1, []), (0, []), (1, ["fault.past"])):
        assert [fault.id for fault in problems(asked, opens + timedelta(days))] == wrong


LACKING: list[tuple[str, Any]] = [
    ("t.ar.title", {"title": ""}), ("t.ar.why", {"why": ""}),
    *((f"t.ar.q.{name}", {"questions": {name: own}}) for name, own in (
        ("q1", {"text": ""}), ("q2", {"options": ("a",)}), ("q2", {"options": ("a", "")}), ("q4", {"ends": ("a", "")}),
        ("q4", {"ends": ("a",)}), ("q6", {"unit": ""}), ("q3", {"options": ("a", "b", "c", "d")}))),
    *((f"t.ar.g.{name}", {"groups": {name: own}}) for name, own in (
        ("g1", {"title": ""}), ("g1", {"values": ("a",)}), ("g2", {"values": ("a", "b", "")}),
        ("g2", {"values": ("a", "b", "c", "d")}))),
]  # fmt: skip


@pytest.mark.parametrize(("where", "changes"), LACKING, ids=str)
def test_a_text_that_is_missing_in_another_language_is_found_where_it_is(where: str, changes: Any) -> None:
    asked = questionnaire()
    told = asked.translations["ar"]
    for part, own in changes.items():
        new: Any = own
        if not isinstance(own, str):
            before: Any = getattr(told, part)
            new = {**before, **{name: {**before[name], **more} for name, more in own.items()}}
        told = replace(told, **{part: new})
    assert [(fault.where, fault.id) for fault in problems(replace(asked, translations={"ar": told}))] == [
        (where, "fault.translation")
    ]


def test_cautions_begin_above_their_limits() -> None:
    """160 characters, 12 questions and 3 groupings are well."""
    for more, wrong in ((0, []), (1, ["caution.long", "caution.many", "caution.groups"])):
        asked = Questionnaire(
            questions=tuple(Item(name=f"q{i}", text="x" * (160 + more) if i == 0 else "") for i in range(12 + more)),
            groups=tuple(Group(name=f"g{i}") for i in range(3 + more)),
        )
        assert [fault.id for fault in cautions(asked)] == wrong


def test_chances_that_are_kept_are_those_of_the_minimum_batch() -> None:
    full = questionnaire()
    few = replace(full, questions=full.questions[:1], together=(), groups=(), translations={})
    found = outlook(replace(few, people=60, windows=1))
    assert found.chance == found.chance_of(found.min_batch)
    assert found.chance_half == found.chance_of(found.min_batch, 0.5) > found.chance
