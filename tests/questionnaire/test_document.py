"""The questionnaire as a document: what is read and refused, what keeps it from being opened, the task and back."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from deniable.errors import DeniableError, FormatError, ParameterError
from deniable.run.forms import number_of
from deniable.run.numbers import Doubt, read_number
from deniable.service.access.identity import Identity
from deniable.service.questionnaire.complete import cautions, problems
from deniable.service.questionnaire.document import LIMITS, Questionnaire, dumped, read, written
from deniable.service.questionnaire.imports import imported, read_file
from deniable.service.questionnaire.kinds import can_skip
from deniable.service.questionnaire.opening import questionnaire_of, task_of
from deniable.service.questionnaire.telling import in_words
from deniable_client.task import Task

TODAY = date(2026, 12, 1)
ORDER = [f"step {i}" for i in range(9)]
FULL: dict[str, Any] = {
    "questionnaire": 1,
    "title": "Sleep and exams",
    "who": "Uni Bern",
    "why": "To plan exams.",
    "people": 30_000,
    "response": 0.5,
    "windows": 2,
    "public": True,
    "questions": [
        {"kind": "yes-no", "text": "Did you ever copy in an exam? " + "Think of all exams. " * 15},
        {"kind": "one", "text": "Which subject?", "options": ["Law", "Physics"], "other": True, "name": "subject"},
        {"kind": "number", "text": "How long do you sleep?", "low": 0, "high": 24, "unit": "hours"},
        {"kind": "time", "text": "When do you get up?"},
        {"kind": "rating", "text": "How well do you sleep?", "ends": ["badly", "very well"]},
        {"kind": "ordered", "text": "How far are you?", "options": ORDER},
        {"kind": "one", "text": "What are you ill with?", "options": ["none", "flu", "HIV"], "sensitive": ["HIV"]},
        {
            "kind": "several",
            "text": "What do you take?",
            "options": ["tea", "pills", "wine"],
            "most": 2,
            "name": "take",
        },
    ],
    "groups": [{"name": "term", "title": "Which term?", "values": ["first", "later"], "shares": [0.25, 0.75]}],
    "translations": {
        "ar": {
            "title": "النوم",
            "why": "للتخطيط",
            "questions": {
                "q1": {"text": "هل نسخت؟"},
                "subject": {"text": "أي مادة؟", "options": ["قانون", "فيزياء"]},
                "q3": {"text": "كم تنام؟", "unit": "ساعات"},
                "q4": {"text": "متى تستيقظ؟"},
                "q5": {"text": "كيف تنام؟", "ends": ["سيئ", "جيد"]},
                "q6": {"text": "إلى أين وصلت؟", "options": [f"خطوة {i}" for i in range(9)]},
                "q7": {"text": "ما مرضك؟", "options": ["لا شيء", "إنفلونزا", "إيدز"]},
                "take": {"text": "ماذا تتناول؟", "options": ["شاي", "حبوب", "نبيذ"]},
            },
            "groups": {"term": {"title": "أي فصل؟", "values": ["الأول", "لاحق"]}},
        }
    },
}


def full(**changes: Any) -> Questionnaire:
    return read({**FULL, **changes})


def made(asked: Questionnaire) -> Task:
    return Task.load(task_of(asked, Identity(bytes(32)), today=TODAY))


# ---- reading and writing


def test_a_questionnaire_is_written_as_it_was_read() -> None:
    asked = full()
    assert read(written(asked)) == asked == read(dumped(asked))
    assert read({"questionnaire": 1}) == Questionnaire()
    assert written(Questionnaire()) == {"questionnaire": 1, "language": "en"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"questionnaire": 2}, "no questionnaire of version 1"),
        ({"tittle": "x"}, "has no field 'tittle'.*title"),
        ({"title": 3}, "title must be a text"),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"people": 1.5}, "people must be a whole number"),
        ({"people": True}, "people must be"),
        ({"people": 0}, "people must be"),
        ({"people": 1e400}, "people must be"),
        ({"response": 1.1}, "response must be a number"),
        ({"response": float("nan")}, "response must be a number"),
        ({"protection": 0}, "protection must be"),
        ({"protection": "1"}, "protection must be"),
        ({"opens": "tomorrow"}, "opens must be a day"),
        ({"opens": "2026-02-30"}, "opens must be a day"),
        ({"days": 0}, "days must be"),
        ({"windows": 10_001}, "windows must be"),
        ({"language": "e"}, "language tag"),
        ({"public": 1}, "public must be true or false"),
        ({"questions": {}}, "questions must be a list"),
        ({"questions": [1]}, "must be an object"),
        ({"questions": [{"kind": "text"}]}, "kind of .* must be one of yes-no"),
        ({"questions": [{"kind": ["one"]}]}, "kind of"),
        ({"questions": [{"name": "A b"}]}, "small letters"),
        ({"questions": [{"name": "a"}, {"name": "a"}]}, "different"),
        ({"questions": [{}] * 256}, "at most 255"),
        ({"questions": [{"options": ["x"] * 4097}]}, "at most 4,096"),
        ({"questions": [{"options": "ab"}]}, "must be a list"),
        ({"questions": [{"ends": ["a"]}]}, "two texts"),
        ({"questions": [{"points": 99}]}, "points of"),
        ({"questions": [{"low": "0"}]}, "low of"),
        ({"groups": [{"values": ["a", "b"], "shares": [1]}]}, "one for each value"),
        ({"groups": [{}] * 9}, "at most 8"),
        ({"translations": []}, "translations must be"),
        ({"translations": {"x": {}}}, "language tag"),
        ({"translations": {"de": {"questions": {"q1": {"name": "x"}}}}}, "has no field 'name'"),
        ({"words": {"maybe": "x"}}, "has no field 'maybe'"),
    ],
)
def test_what_is_not_a_questionnaire_is_refused_by_its_field(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read({**FULL, **changes})


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b'{"questionnaire": 1}' + b" " * (1 << 20)]
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        read(data)


# ---- complete


def test_a_draft_says_what_is_missing() -> None:
    wrong = {fault.where: fault.id for fault in problems(Questionnaire())}
    assert wrong == {
        **{name: f"fault.{name}" for name in ("title", "who", "why")},
        "questions": "fault.questions",
        "people": "fault.people",
    }
    assert problems(full(), TODAY) == []


@pytest.mark.parametrize(
    ("changes", "where", "told"),
    [
        ({"title": "a\u202eb"}, "title", "Devices refuse"),
        ({"opens": "2026-11-30"}, "opens", "is over"),
        ({"questions": [{"kind": "one", "text": "?", "options": ["a"]}]}, "q.q1.options", "2 to 1,000 answers"),
        ({"questions": [{"kind": "one", "text": "?", "options": ["a", "A"]}]}, "q.q1.options", "tell these apart"),
        (
            {"questions": [{"kind": "one", "text": "?", "options": ["a", "I prefer not to say"]}]},
            "q.q1.options",
            "apart",
        ),
        ({"questions": [{"kind": "yes-no"}]}, "q.q1.text", "Write the question"),
        ({"questions": [{"kind": "yes-no", "text": "?"}] * 2}, "q.q2.text", "twice"),
        ({"questions": [{"kind": "number", "text": "?"}]}, "q.q1.low", "lowest and the highest"),
        (
            {"questions": [{"kind": "number", "text": "?", "low": 2, "high": 2, "unit": "h"}]},
            "q.q1.high",
            "above the lowest, 2",
        ),
        ({"questions": [{"kind": "number", "text": "?", "low": 0, "high": 2}]}, "q.q1.unit", "what is counted"),
        ({"questions": [{"kind": "rating", "text": "?"}]}, "q.q1.ends", "first and the last point"),
        (
            {"questions": [{"kind": "one", "text": "?", "options": ["a", "b"], "sensitive": ["c"]}]},
            "q.q1.sensitive",
            "not one of",
        ),
        (
            {"questions": [{"kind": "rating", "text": "?", "ends": ["a", "b"], "sensitive": ["1"]}]},
            "q.q1.sensitive",
            "Only",
        ),
        (
            {"questions": [{"kind": "several", "text": "?", "options": ["a", "b"], "other": True, "most": 4}]},
            "q.q1.most",
            "only 3 answers",
        ),
        (
            {"questions": [{"kind": "several", "text": "?", "options": [f"a{i}" for i in range(40)]}]},
            "q.q1.most",
            "at most 11",
        ),
        (
            {"questions": [{"kind": "several", "text": "?", "options": [f"a{i}" for i in range(65)], "most": 2}]},
            "q.q1.options",
            "2 to 64 answers",
        ),
        (
            {"questions": [{"kind": "several", "text": "?", "options": list("ab"), "sensitive": ["a"]}]},
            "q.q1.sensitive",
            "Only",
        ),
        ({"questions": [{"kind": "yes-no", "text": "?", "mechanism": "hm"}]}, "q.q1.mechanism", "cannot ask this"),
        ({"questions": [{"kind": "time", "text": "?", "mechanism": "grr"}]}, "q.q1.mechanism", "cannot ask this"),
        ({"groups": [{"title": "x", "values": ["a"]}]}, "g.g1.values", "at least two"),
        ({"groups": [{"values": ["a", "b"]}]}, "g.g1.title", "what the group is"),
        ({"language": "it"}, "words", "no words for"),
    ],
)
def test_what_keeps_it_from_being_opened(changes: dict[str, Any], where: str, told: str) -> None:
    asked = full(**{"translations": {}, **changes})
    found = {fault.where: in_words(fault) for fault in problems(asked, TODAY)}
    assert told in found.get(where, ""), found
    if where != "opens":  # a day that is over is for the page and the command line to find
        with pytest.raises(ParameterError, match="cannot be opened yet"):
            task_of(asked, Identity(bytes(32)), today=TODAY)


def test_half_a_translation_keeps_it_from_being_opened() -> None:
    arabic = FULL["translations"]["ar"]
    for part in ("title", "why", "questions", "groups"):
        lacking = {name: text for name, text in arabic.items() if name != part}
        wrong = problems(full(translations={"ar": lacking}))
        assert {fault.id for fault in wrong} == {"fault.translation"}, part
        assert all(fault.where.startswith("t.ar.") for fault in wrong)
    assert problems(full(translations={"en": arabic}))[0].id == "fault.language"


def test_cautions() -> None:
    found = [fault.id for fault in cautions(full())]
    assert found == ["caution.long", "caution.other"]


# ---- the task


def test_the_task_says_what_the_questionnaire_says() -> None:
    """Also with a question of more than 200 characters: the subject is the title."""
    task = made(full())
    assert len(task.questions[0].text) > 200
    assert (task.subject, task.collector, task.purpose) == ("Sleep and exams", "Uni Bern", "To plan exams.")
    assert (task.results, task.count, task.min_batch, task.epsilon) == ("public", 2, 100, 1.0)
    assert [question.kind for question in task.questions] == [
        *("yes-no", "one", "number", "time", "rating", "ordered", "one", "several")
    ]
    first, subject, hours, time, rating, _, ill, take = task.questions
    assert (first.labels, first.none) == (("Yes", "No", "I prefer not to say"), "I prefer not to say")
    assert subject.labels == ("Law", "Physics", "Something else", "I prefer not to say")
    assert (hours.unit, hours.none) == ("hours", 12.0)
    assert (time.labels or ())[:2] == ("00:00", "01:00")
    assert rating.ends == ("badly", "very well")
    assert ill.explanation.harmless == ("none", "flu")
    assert ill.none == "I prefer not to say", "not to say is protected"
    assert (take.labels, take.none, take.design["domain"]["most"]) == (("tea", "pills", "wine"), [], 2)
    assert task.titles == {"term": "Which term?"}
    arabic = task.translations["ar"]
    assert arabic["questions"][0][0]["labels"][0] == "نعم"
    assert arabic["strata"] == [{"title": "أي فصل؟", "values": ["الأول", "لاحق"]}]


def test_a_task_becomes_the_questionnaire_again() -> None:
    asked = full()
    again = questionnaire_of(made(asked))
    (group,) = asked.groups
    listed = replace(asked.item("subject"), options=("Law", "Physics", "Something else"), other=False)
    same = replace(
        asked,
        people=None,
        response=None,
        groups=(replace(group, shares=()),),
        questions=tuple(listed if item.name == "subject" else item for item in asked.questions),
    )
    assert replace(again, translations={}) == replace(same, translations={})
    assert made(replace(again, people=30_000)).document["design"] == made(asked).document["design"]


# ---- numbers as people write them


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2000", 2000),
        ("2,000.5", 2000.5),
        ("2.000,5", 2000.5),
        ("2'000", 2000),
        ("2’000,5", 2000.5),
        ("2 000", 2000),
        ("2\u00a0000", 2000),
        ("2\u202f000", 2000),
        ("1,234,567", 1234567),
        ("1,234,567.5", 1234567.5),
        ("1.234.567,5", 1234567.5),
        ("1'234'567.5", 1234567.5),
        ("1 234 567,5", 1234567.5),
        ("-12,345.25", -12345.25),
        ("1,234.567", 1234.567),
        ("1'000,000", 1000),
        ("1.234.567", 1234567),
        ("\u0662\u0660\u0660\u0660", 2000),
        ("\u06f2\u06f0", 20),
        ("\u0662\u066c\u0660\u0660\u0660\u066b\u0665", 2000.5),
        ("12,5", 12.5),
        ("0,500", 0.5),
        ("0.125", 0.125),
        ("-3", -3),
        ("\u22123,5", -3.5),
        (" 7 ", 7),
        ("many", None),
        ("", None),
        ("1.2.3", None),
        ("1,23,456", None),
        ("12a", None),
        ("1e5", None),
        ("--1", None),
        ("1.5,000", None),
        *((text, None) for text in ("1'000,000.5", "1,000'000.5", "1.000'000,5", "1'000.000,5", "1 000,000.5")),
        *((text, None) for text in ("1,000.000,5", "1.000,000.5", "1.000'000", "1,000.5'5")),
        *((text, None) for text in ("1,00.5", "1000,000.5", "1,0000.5", ",000.5", "1,000.", "1,000.5.5")),
        ("9" * 50, None),
        ("nan", None),
        ("\u00bd", None),
    ],
)
def test_numbers_are_understood(text: str, number: float | None) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["1.000", "1,000", "12.345", "\u0661\u066c\u0660\u0660\u0660"])
def test_numbers_with_two_readings_are_asked_about(text: str) -> None:
    """1.000 people were read as one."""
    found = read_number(text)
    assert isinstance(found, Doubt)
    assert (found.large, found.small) in ((1000, 1), (12345, 12.345))


def test_the_planner_asks_too() -> None:
    assert number_of("2 000", "people") == 2000
    with pytest.raises(ParameterError, match=r"people can be read as 1,000 or 1, got '1.000'"):
        number_of("1.000", "people")


# ---- other tools


SURVEYJS = {
    "title": {"default": "Sleep", "de": "Schlaf"},
    "pages": [
        {
            "elements": [
                {
                    "type": "radiogroup",
                    "name": "a",
                    "title": "Which?",
                    "choices": ["x", {"value": 2, "text": "y"}],
                    "showOtherItem": True,
                },
                {"type": "boolean", "name": "b", "title": "Did you?", "visibleIf": "{a} = 'x'"},
                {"type": "comment", "name": "c"},
                {
                    "type": "panel",
                    "elements": [
                        {
                            "type": "rating",
                            "name": "d",
                            "rateMax": 7,
                            "minRateDescription": "bad",
                            "maxRateDescription": "good",
                        }
                    ],
                },
                {"type": "text", "inputType": "number", "name": "e", "min": 0, "max": 24},
                {"type": "text", "inputType": "number", "name": "f"},
                {"type": "checkbox", "name": "g", "choices": ["x", "y", "z"], "maxSelectedChoices": 2},
                {"type": "tagbox", "name": "i", "choices": ["x", "y"], "maxSelectedChoices": True, "hasOther": True},
                {"type": "matrix", "name": "h"},
            ]
        }
    ],
}


def test_surveyjs_is_taken_over_and_the_rest_is_listed() -> None:
    asked, left = imported(json.dumps(SURVEYJS).encode())
    assert (asked.title, [item.kind for item in asked.questions]) == (
        "Sleep",
        ["one", "yes-no", "rating", "number", "several", "several"],
    )
    assert [(item.options, item.most, item.other) for item in asked.questions[4:]] == [
        (("x", "y", "z"), 2, False),
        (("x", "y"), 0, True),
    ]
    assert (asked.questions[0].options, asked.questions[0].other) == (("x", "y"), True)
    assert (asked.questions[2].points, asked.questions[2].ends) == (7, ("bad", "good"))
    assert left == [
        "b: the condition visibleIf",
        "c: questions of the type comment",
        "f: questions of the type text",
        "h: questions of the type matrix",
    ]


def test_surveyjs_is_taken_over_in_all_its_languages() -> None:
    """What is the same in all of them is itself; what lacks one is not there, and keeps the draft from being opened."""
    asked, left = imported(
        json.dumps(
            {
                "title": {"default": "Sleep", "ar": "النوم", "x": "?"},
                "elements": [
                    {
                        "type": "radiogroup",
                        "name": "a",
                        "title": {"default": "Which?", "ar": "أي؟"},
                        "choices": [{"value": 1, "text": {"default": "tea", "ar": "شاي"}}, "7 Up"],
                    },
                    {
                        "type": "rating",
                        "name": "b",
                        "title": {"default": "How?", "ar": "كيف؟"},
                        "minRateDescription": {"default": "bad", "ar": "سيئ"},
                        "maxRateDescription": {"default": "good"},
                    },
                    {"type": "boolean", "name": "c", "title": {"default": "Did you?"}},
                ],
            }
        ).encode()
    )
    (other,) = asked.translations.values()
    assert (asked.language, list(asked.translations), other.title) == ("en", ["ar"], "النوم")
    assert other.questions["q1"] == {"text": "أي؟", "options": ("شاي", "7 Up")}
    assert other.questions["q2"] == {"text": "كيف؟"}, "half a scale is none"
    assert other.questions["q3"] == {}
    assert left == ["the language x"]
    wrong = {fault.where for fault in problems(asked) if fault.id == "fault.translation"}
    assert wrong == {"t.ar.q.q2", "t.ar.q.q3"}, "why it is asked lacks in both"


def test_surveyjs_texts_that_are_numbers_or_nothing_have_words() -> None:
    """A number is its own text; what has no text in any language is called by its name or its value."""
    nothing = {"default": " ", "de": ""}
    asked, left = imported(
        json.dumps(
            {
                "elements": [
                    {
                        "type": "radiogroup",
                        "name": "a",
                        "title": 5,
                        "choices": [{"value": 9, "text": i} for i in range(3)],
                    },
                    {
                        "type": "radiogroup",
                        "name": "b",
                        "title": nothing,
                        "choices": [
                            {"value": 1, "text": nothing},
                            {"value": 2, "text": {}},
                            {"value": 3, "text": True},
                        ],
                    },
                    {"type": "boolean", "name": "c", "title": {"default": "", "de": "", "fr": 7}},
                ]
            }
        ).encode()
    )
    assert [item.text for item in asked.questions] == ["5", "b", "7"]
    assert [item.options for item in asked.questions] == [("0", "1", "2"), ("1", "2", "3"), ()]
    assert asked.translations["de"].questions == {
        "q1": {"text": "5", "options": ("0", "1", "2")},
        "q2": {"text": "b", "options": ("1", "2", "3")},
        "q3": {},
    }
    assert left == []


def test_what_surveyjs_has_under_default_and_is_not_taken_over_is_listed() -> None:
    def left_of(title: object) -> list[str]:
        survey = {"locale": "de", "elements": [{"type": "boolean", "name": "a", "title": title}]}
        asked, left = imported(json.dumps(survey).encode())
        assert (asked.language, asked.questions[0].text, asked.translations) == ("de", "y?", {})
        return left

    assert left_of({"default": "x?", "de": "y?"}) == ["texts under default that are others in de, such as “x?”"]
    assert left_of({"default": "y?", "de": "y?"}) == left_of({"default": "y?"}) == left_of("y?") == []


def test_more_languages_than_there_can_be_are_listed() -> None:
    tags = [a + b for a in "abcdefgh" for b in "qrstuv"][:42]
    survey = {"elements": [{"type": "boolean", "name": "a", "title": dict.fromkeys([*tags, "EN"], "?") | {"en": "!"}}]}
    asked, left = imported(json.dumps(survey).encode())
    assert len(asked.translations) == 40
    assert {*asked.translations} < {*tags}
    assert left == [
        "the language EN: the language is there twice",
        *(f"the language {tag}: more than 40 other languages" for tag in tags[40:]),
    ]


def test_a_questionnaire_is_not_a_translation_of_itself() -> None:
    """A column of texts without a tag is in the language that the settings name, else in English."""
    heads = ["type", "name", "label", "label::English (en)", "label::French (fr)", "label::Canada (FR)"]
    sheets = {"survey": [heads, ["time", "a", "Hi", "Hello", "Salut", "Allo"]]}
    asked, left = imported(workbook(sheets))
    assert (asked.language, asked.questions[0].text, list(asked.translations)) == ("en", "Hi", ["fr"])
    assert left == [
        "the column label::English (en): the language is there twice",
        "the column label::Canada (FR): the language is there twice",
    ]
    told = {"settings": [["default_language"], ["Deutsch (de)"]]}
    asked, left = imported(workbook(sheets | told))
    assert (asked.language, list(asked.translations), len(left)) == ("de", ["en", "fr"], 1)
    assert asked.translations["en"].questions == {"q1": {"text": "Hello"}}


def test_what_could_not_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of reading, to the byte: of a file, not of what it says."""
    asked = read({"questionnaire": 1, "questions": [{"text": "é" * 500}]})
    file = dumped(asked)
    monkeypatch.setitem(LIMITS, "bytes", len(file))
    assert read(dumped(asked)) == asked
    monkeypatch.setitem(LIMITS, "bytes", len(file) - 1)
    for refused in (lambda: dumped(asked), lambda: read(file)):
        with pytest.raises(FormatError, match=f"at most {len(file) - 1:,} bytes, this has {len(file):,}. Shorten"):
            refused()


def test_more_questions_than_there_can_be_are_listed() -> None:
    elements = [{"type": "boolean", "name": f"n{i}", "title": {"default": f"Q{i}", "de": f"F{i}"}} for i in range(257)]
    asked, left = imported(json.dumps({"elements": elements}).encode())
    assert len(asked.questions) == len(asked.translations["de"].questions) == 255
    assert left == ["Q255: more than 255 questions", "Q256: more than 255 questions"]


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def column(number: int) -> str:
    """The letters of a column, counted from 0: A to Z, then AA."""
    return (column(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)


def workbook(sheets: dict[str, list[list[str]]], **parts: str) -> bytes:
    """An .xlsx file, with cells in line and some that are shared."""
    target = io.BytesIO()
    names = list(sheets)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(names, 1))
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
        )
        related = "".join(f'<Relationship Id="r{i}" Target="worksheets/s{i}.xml"/>' for i in range(1, len(names) + 1))
        file.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{related}</Relationships>")
        file.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>type</t></si></sst>')
        for number, rows in enumerate(sheets.values(), 1):
            body = ""
            for r, row in enumerate(rows, 1):
                cells = "".join(
                    f'<c r="{column(c)}{r}" t="s"><v>0</v></c>'
                    if text == "type"
                    else f'<c r="{column(c)}{r}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
                    for c, text in enumerate(row)
                )
                body += f'<row r="{r}">{cells}</row>'
            sheet = parts.get(f"s{number}", f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>')
            file.writestr(f"xl/worksheets/s{number}.xml", sheet)
    return target.getvalue()


SHEETS = {
    "survey": [
        ["type", "name", "label::Deutsch (de)", "constraint", "relevant"],
        ["start", "start", "", "", ""],
        ["select_one places", "where", "Wo?", "", ""],
        ["select_multiple places or_other", "all", "Wo überall?", "count-selected(.) < 3", ""],
        ["select_multiple nowhere", "lost", "Wo noch?", "", ""],
        ["integer", "hours", "Wie lange?", ". >= 0 and . <= 24", ""],
        ["integer", "free", "Wie viel?", "", ""],
        ["text", "words", "Was noch?", "", "${hours} > 3"],
        ["time", "up", "Wann?", "", ""],
    ],
    "choices": [["list_name", "name", "label::Deutsch (de)"], ["places", "b", "Bern"], ["places", "z", "Zürich"]],
    "settings": [["form_title"], ["Schlaf"]],
}


def test_xlsform_is_taken_over_and_the_rest_is_listed(tmp_path: Path) -> None:
    (tmp_path / "form.xlsx").write_bytes(workbook(SHEETS))
    asked, left = read_file(str(tmp_path / "form.xlsx"))
    assert (asked.title, asked.language) == ("Schlaf", "de")
    assert [(item.kind, item.text) for item in asked.questions] == [
        ("one", "Wo?"),
        ("several", "Wo überall?"),
        ("number", "Wie lange?"),
        ("time", "Wann?"),
    ]
    assert asked.questions[0].options == ("Bern", "Zürich")
    assert (asked.questions[1].options, asked.questions[1].other, asked.questions[1].most) == (
        ("Bern", "Zürich"),
        True,
        2,
    )
    assert (asked.questions[2].low, asked.questions[2].high) == (0, 24)
    assert [each.partition(":")[0] for each in left] == ["lost", "free", "words", "words"]


def test_xlsform_is_taken_over_in_all_its_languages() -> None:
    sheets = {
        "survey": [
            ["type", "name", "label::English (en)", "label::العربية (ar)", "label::Français"],
            ["select_one places", "where", "Where?", "أين؟", "Où ?"],
            ["select_one others", "also", "Where else?", "", "Où encore ?"],
        ],
        "choices": [
            ["list_name", "name", "label::English (en)", "label::العربية (ar)"],
            ["places", "b", "Bern", "برن"],
            ["places", "z", "Zurich", "زيورخ"],
            ["others", "b", "Bern", "برن"],
            ["others", "c", "Chur", ""],
        ],
    }
    asked, left = imported(workbook(sheets))
    assert (asked.language, [item.text for item in asked.questions]) == ("en", ["Where?", "Where else?"])
    assert asked.translations["ar"].questions == {"q1": {"text": "أين؟", "options": ("برن", "زيورخ")}, "q2": {}}
    assert left == ["the column label::Français: it has no tag of a language, such as (fr)"]


@pytest.mark.parametrize("place", [25, 26, 27, 51, 52, 53, 78, 199])
def test_columns_far_to_the_right_are_read_in_their_place(place: int) -> None:
    """Z, AA, AB, AZ, BA, BB and CA; 200 columns are read."""
    beside = [""] * (place - 2)
    sheets = {
        "survey": [
            ["type", "name", *beside, "label"],
            ["integer", "lost", *beside, ""],
            ["time", "up", *beside, "When?"],
        ],
        "settings": [["form_title"], ["Sleep"]],
    }
    asked, left = imported(workbook(sheets))
    assert [(item.kind, item.text) for item in asked.questions] == [("time", "When?")]
    assert [each.partition(":")[0] for each in left] == ["lost"]


def test_cells_that_do_not_say_where_they_stand_are_in_no_column() -> None:
    """Nor are those beyond the 200th."""
    cells = "".join(
        f'<c{place} t="inlineStr"><is><t>{text}</t></is></c>'
        for place, text in (
            ("", "name"),
            (' r="1"', "name"),
            (' r="GS1"', "name"),
            (' r="A1"', "type"),
            (' r="B1"', "label"),
        )
    )
    row = "".join(
        f'<c r="{place}2" t="inlineStr"><is><t>{text}</t></is></c>' for place, text in (("A", "time"), ("B", "?"))
    )
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData><row>{cells}</row><row>{row}</row></sheetData></worksheet>'
    asked, left = imported(workbook(SHEETS, s1=sheet))
    assert ([(item.kind, item.text) for item in asked.questions], left) == ([("time", "?")], [])


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04",
        workbook(SHEETS)[:-200],
        workbook({"other": [["type"]]}),
        workbook(SHEETS, s1="<worksheet"),
        workbook(SHEETS, s1='<!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>'),
        workbook(SHEETS, s1="<worksheet>" + " " * (9 << 20) + "</worksheet>"),
    ],
    ids=["head alone", "cut", "no survey", "damaged", "entities", "unpacks to much"],
)
def test_broken_workbooks_are_refused(data: bytes) -> None:
    with pytest.raises(DeniableError):
        imported(data)


@pytest.mark.parametrize(
    ("kind", "more", "faults"),
    [
        ("several", {"options": ["a", "b"], "most": 2}, []),
        ("several", {"options": ["a", "b"], "most": 3}, ["q1.most"]),
        ("one", {"options": ["a", "b"], "most": 3}, []),
        ("rating", {"ends": ["low", "high"]}, []),
        ("rating", {"ends": ["low", ""]}, ["q1.ends"]),
        ("rating", {"ends": ["", "high"]}, ["q1.ends"]),
    ],
)
def test_answers_that_a_kind_needs(kind: str, more: dict[str, Any], faults: list[str]) -> None:
    asked = read(FULL | {"questions": [{"kind": kind, "text": "How?", "name": "q1", **more}], "translations": {}})
    assert [fault.where.removeprefix("q.") for fault in problems(asked)] == faults


def test_seven_steps_can_be_skipped_and_eight_cannot() -> None:
    for n, able in ((7, True), (8, False)):
        document = FULL | {"questions": [{"kind": "ordered", "text": "How?", "options": ORDER[:n]}], "translations": {}}
        assert can_skip(read(document).questions[0]) is able


@pytest.mark.parametrize(
    "text", ['{"elements": [{"type": "boolean", "title": "%s"}]}', '{"questionnaire": 1, "title": "%s"}']
)
def test_half_a_character_is_refused_and_a_whole_one_is_not(text: str) -> None:
    """It ended in a fault of the server: neither a page nor a file can say it."""
    with pytest.raises(FormatError, match=r"is not JSON: .* can't encode"):
        imported((text % "\\ud800").encode())
    assert "\U0001f600" in repr(imported((text % "\\ud83d\\ude00").encode())[0])
