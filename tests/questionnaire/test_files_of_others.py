"""Files of other tools, sign by sign: types of questions, limits of ticks, scales, bounds, columns, cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from deniable.errors import FormatError, ParameterError
from deniable.service.questionnaire import imports, sheets
from deniable.service.questionnaire.imports import imported, read_file

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SAY = imports._first_of("en")


def element(**told: Any) -> dict[str, Any] | None:
    """A question of ours from one of SurveyJS."""
    return imports._element({"name": "n", "title": "What?", **told}, SAY)


ABC = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("told", "made"),
    [
        *(({"type": kind, "choices": ABC}, {"kind": "one", "options": ABC, "other": False})
          for kind in ("radiogroup", "dropdown", "buttongroup", "imagepicker")),
        *(({"type": kind, "choices": ABC}, {"kind": "several", "options": ABC, "other": False})
          for kind in ("checkbox", "tagbox")),
        ({"type": "radiogroup", "choices": ABC, "hasOther": True}, {"kind": "one", "options": ABC, "other": True}),
        ({"type": "radiogroup", "choices": ABC, "showOtherItem": True}, {"kind": "one", "options": ABC, "other": True}),
        ({"type": "radiogroup", "choices": []}, None),
        ({"type": "checkbox"}, None),
        ({"type": "boolean"}, {"kind": "yes-no"}),
        ({"type": "text", "inputType": "time"}, {"kind": "time"}),
        ({"type": "text", "inputType": "date"}, None),
        ({"type": "text"}, None),
        *(({"type": "text", "inputType": kind, "min": 0, "max": 2.5},
           {"kind": "number", "low": 0, "high": 2.5, "unit": ""}) for kind in ("number", "range")),
        ({"type": "text", "inputType": "number", "min": 0}, None),
        ({"type": "text", "inputType": "number", "min": "0", "max": 9}, None),
        ({"type": "text", "inputType": "number", "min": True, "max": 9}, None),
        ({"type": "text", "inputType": "number", "min": -1e12, "max": 9}, None),
        ({"type": "matrix"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_each_type_of_surveyjs_has_its_kind_or_none(told: dict[str, Any], made: dict[str, Any] | None) -> None:
    assert element(**told) == (None if made is None else {"text": "What?", **made})


@pytest.mark.parametrize(
    ("most", "other", "kept"),
    [
        (1, False, 1),
        (2, False, 2),
        (3, False, None),
        (3, True, 3),
        (4, True, None),
        (0, False, None),
        (-1, False, None),
        (True, False, None),
        (1.0, False, None),
    ],
)
def test_a_limit_of_ticks_is_kept_if_it_limits(most: Any, other: bool, kept: int | None) -> None:
    found = element(type="checkbox", choices=ABC, maxSelectedChoices=most, hasOther=other)
    assert found is not None
    assert found.get("most") == kept
    many = element(type="checkbox", choices=list(map(str, range(99))), maxSelectedChoices=80)
    assert many is not None
    assert many["most"] == 64


@pytest.mark.parametrize(
    ("told", "points"),
    [
        ({}, 5), ({"rateMax": 7}, 7), ({"rateMin": 0, "rateMax": 10}, 11), ({"rateMin": -1, "rateMax": 10}, None),
        ({"rateMin": 3, "rateMax": 4}, 2), ({"rateMin": 4, "rateMax": 4}, None), ({"rateCount": 6}, 6),
        ({"rateCount": 1}, None), ({"rateCount": 12}, None), ({"rateValues": ABC, "rateMax": 9}, 3),
        ({"rateValues": [], "rateMax": 9}, 9), ({"rateMax": "9"}, None), ({"rateCount": 2.5}, None),
    ],
)  # fmt: skip
def test_a_scale_has_as_many_points_as_it_says(told: dict[str, Any], points: int | None) -> None:
    ends = {"minRateDescription": "bad", "maxRateDescription": {"default": "good"}}
    found = element(type="rating", **told, **ends)
    expected = {"text": "What?", "kind": "rating", "points": points, "ends": ["bad", "good"]}
    assert found == (None if points is None else expected)


def test_choices_are_called_by_their_text_or_their_value() -> None:
    given = ["a", 7, {"value": "x"}, {"value": "x", "text": "X"}, {"value": 3, "text": {"de": "drei"}}, {"text": 5}, {}]
    assert [imports._choice(each, SAY) for each in given] == ["a", "7", "x", "X", "drei", "5", ""]
    assert len(imports._choice("y" * 2000, SAY)) == len(imports._choice({"text": "y" * 2000}, SAY)) == 1000
    assert imports._localised({"de": "d", "default": "x", "en": "e"}, "en") == "e"
    assert imports._localised({"de": "d", "default": "x"}, "en") == "x"
    assert imports._localised({"fr": "", "de": "d"}, "en") == "d"
    assert imports._localised(True, "en") == ""


def test_pages_and_panels_are_read_in_their_order_and_conditions_are_listed() -> None:
    yes = {"type": "boolean"}
    survey = {
        "locale": "de",
        "title": "T",
        "pages": [
            {"elements": [{**yes, "name": "a"}, {"type": "panel", "elements": [{**yes, "name": "b"}, "nothing"]}]},
            {"questions": [{**yes, "name": "c", "enableIf": "x", "requiredIf": "y", "visibleIf": "z"}]},
        ],
        "elements": [{**yes, "title": {"de": "D?", "default": "X?"}}, {"type": "html"}],
    }
    asked, left = imported(json.dumps(survey).encode())
    assert [item.text for item in asked.questions] == ["a", "b", "c", "D?"]
    assert [item.name for item in asked.questions] == ["q1", "q2", "q3", "q4"]
    assert (asked.language, asked.title) == ("de", "T")
    assert left == [
        "texts under default that are others in de, such as “X?”",
        *(f"c: the condition {logic}" for logic in ("visibleIf", "enableIf", "requiredIf")),
        "html: questions of the type html",
    ]


@pytest.mark.parametrize(("depth", "fits"), [(19, True), (20, False)])
def test_panels_are_read_to_a_depth(depth: int, fits: bool) -> None:
    """The survey itself and twenty panels within each other."""
    part: dict[str, Any] = {"type": "panel", "elements": [{"type": "boolean", "name": "a"}]}
    for _ in range(depth):
        part = {"type": "panel", "elements": [part]}
    file = json.dumps({"elements": [part]}).encode()
    if fits:
        assert len(imported(file)[0].questions) == 1
    else:
        with pytest.raises(FormatError, match="nested too deeply"):
            imported(file)


# ---- XLSForm

LISTS = {"l": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("kind", "row", "made"),
    [
        ("select_one l", {}, {"kind": "one", "options": ABC, "other": False}),
        ("select_one l or_other", {}, {"kind": "one", "options": ABC, "other": True}),
        ("select_one none", {}, None),
        ("select_multiple l", {}, {"kind": "several", "options": ABC, "other": False}),
        *((f"select_multiple l{' or_other' * other}", {"constraint": f"count-selected(.) {sign} {n}"},
           {"kind": "several", "options": ABC, "other": other} | ({"most": most} if most else {}))
          for sign, n, other, most in (("<=", 2, False, 2), ("<", 2, False, 1), ("<", 1, False, 0), ("<=", 0, False, 0),
                                       ("<=", 3, False, 0), ("<", 4, False, 0), ("<", 4, True, 3), ("<=", 3, True, 3),
                                       ("<=", 4, True, 0), (">", 2, False, 0))),
        ("integer", {"constraint": ". >= 0 and . <= 24"}, {"kind": "number", "low": 0, "high": 24, "unit": ""}),
        ("decimal", {"constraint": ".<9.5 and .>-1"}, {"kind": "number", "low": -1, "high": 9.5, "unit": ""}),
        ("integer", {"constraint": ". >= 0"}, None),
        ("integer", {"constraint": ". <= 0 and . <= 1"}, None),
        ("integer", {}, None),
        ("range", {"parameters": "start=1 end=10 step=1"}, {"kind": "number", "low": 1, "high": 10, "unit": ""}),
        ("range", {"parameters": "end=2.5;start=-1"}, {"kind": "number", "low": -1, "high": 2.5, "unit": ""}),
        ("range", {"parameters": "start=1"}, None),
        ("time", {}, {"kind": "time"}),
        ("dateTime", {}, None),
    ],
)  # fmt: skip
def test_each_type_of_xlsform_has_its_kind_or_none(kind: str, row: dict[str, str], made: dict[str, Any] | None) -> None:
    assert imports._row(kind, row, LISTS) == made


@pytest.mark.parametrize(
    ("head", "tag"),
    [
        ("label::Deutsch (de)", "de"),
        ("label::pt (pt-BR) ", "pt-BR"),
        ("label::Deutsch", None),
        ("label (de) x", None),
        ("label (d)", None),
    ],
)
def test_tags_stand_at_the_end_of_a_head(head: str, tag: str | None) -> None:
    assert imports._tag_in(head) == tag


def test_the_column_of_texts_is_the_plain_one_or_the_first() -> None:
    both = {"type": "", "label::Deutsch (de)": "", "label": ""}
    assert imports._label_of([both], "") == ("label", "en")
    assert imports._label_of([both], "Italiano (it)") == ("label", "it")
    two = {"type": "", "label::Deutsch (de)": "", "label::English (en)": ""}
    assert imports._label_of([two], "English (en)") == ("label::Deutsch (de)", "de")
    assert imports._label_of([{"label::Deutsch": ""}], "") == ("label::Deutsch", "en")
    assert imports._label_of([], "") == ("label", "en")


def test_answers_of_lists_stand_under_either_head() -> None:
    rows = [{"list_name": "a", "label": "1"}, {"list name": "b", "label": "2"}, {"list_name": "a", "label": "3"}]
    assert imports._lists(rows, lambda row: row["label"]) == {"a": ["1", "3"], "b": ["2"]}
    survey: Any = [{"type": "select_one a", "name": "x", "label": "X?"}, {"type": "note", "name": "n", "label": "N"}]
    choices: Any = [{"list_name": "a", "name": "one", "label": ""}, {"list_name": "a", "name": "two", "label": "Two"}]
    told, left = imports._xlsform({"survey": survey, "choices": choices})
    assert told["questions"] == [{"kind": "one", "options": ["one", "Two"], "other": False, "name": "q1", "text": "X?"}]
    assert (left, told["title"], told["language"]) == ([], "", "en")


# ---- workbooks


def cell(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(f'<c xmlns="{MAIN}" {text}')


def test_cells_are_texts_numbers_or_shared() -> None:
    shared = ["zero", "one"]
    given = {
        't="s"><v>1</v></c>': "one",
        't="s"><v>2</v></c>': "",
        't="s"><v>-1</v></c>': "",
        't="s"/>': "",
        "><v>12.5</v></c>": "12.5",
        'r="A1"/>': "",
        't="inlineStr"><is><r><t>a </t></r><r><t>b</t></r></is></c>': "a b",
        f"><v>{'x' * 40_000}</v></c>": "x" * 32_767,
        f't="inlineStr"><is><t>{"x" * 40_000}</t></is></c>': "x" * 32_767,
    }
    for text, said in given.items():
        assert sheets._value(cell(text), shared) == said


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        ("A1", 0),
        ("Z9", 25),
        ("AA1", 26),
        ("AZ1", 51),
        ("BA1", 52),
        ("ZZ1", 701),
        ("AAA1", 702),
        ("", -1),
        ("7", -1),
        ("a1", -1),
    ],
)
def test_columns_are_counted_by_their_letters(reference: str, number: int) -> None:
    assert sheets._column(reference) == number


def rows(*texts: list[str]) -> ElementTree.Element:
    told = "".join(
        "<row>" + "".join(f'<c r="{"ABC"[i]}1"><v>{text}</v></c>' for i, text in enumerate(row)) + "</row>"
        for row in texts
    )
    return ElementTree.fromstring(f'<worksheet xmlns="{MAIN}"><sheetData>{told}</sheetData></worksheet>')


def test_rows_are_read_by_the_first_one_that_says_something() -> None:
    found = sheets._rows(rows(["", " "], [" a ", "", "c"], ["1", "2", " 3 "], ["", "4", ""], ["5"]), [])
    assert found == [{"a": "1", "c": "3"}, {"a": "5", "c": ""}], "nothing stands under a head that is empty"


def test_rows_of_a_sheet_are_read_up_to_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sheets._ROWS == 5000
    monkeypatch.setattr(sheets, "_ROWS", 3)
    assert len(sheets._rows(rows(["a"], ["1"], ["2"], [""], ["3"]), [])) == 3
    with pytest.raises(FormatError, match="a sheet has more than 3 rows"):
        sheets._rows(rows(["a"], *[["1"]] * 4), [])


def test_a_file_is_read_up_to_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, file = tmp_path / "draft.json", b'{"questionnaire": 1, "title": "T"}'
    path.write_bytes(file)
    monkeypatch.setattr(imports, "_BYTES", len(file))
    assert read_file(str(path))[0].title == imported(file)[0].title == "T"
    path.write_bytes(file + b" ")
    with pytest.raises(FormatError, match=f"draft.json has more than {len(file)} bytes"):
        read_file(str(path))
    with pytest.raises(FormatError, match=f"the file has more than {len(file)} bytes"):
        imported(file + b" ")
    with pytest.raises(ParameterError, match="cannot be read: No such file"):
        read_file(str(tmp_path / "other.json"))
