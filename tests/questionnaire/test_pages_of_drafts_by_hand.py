"""Robots, previews, uploads and what pages of drafts work out, piece by piece, from values that are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.service.builder import forms, preview, trial, uploads, views
from deniable.service.http.problems import Problem
from deniable.service.questionnaire.document import Group, Item, Questionnaire, Translated
from deniable.service.questionnaire.outlook import Known
from deniable.service.texts.catalogue import texts
from deniable_client.questions import Single

EN = texts("build", "en")


def question(labels: Sequence[str] | None = None, **domain: Any) -> Any:
    return SimpleNamespace(design={"domain": domain}, labels=labels)


# ---- robots


@pytest.mark.parametrize(
    ("asked", "values", "shares"),
    [
        (question("abc"), ["a", "b", "c"], [3, 2, 1]),
        (question("ab"), ["a", "b"], [2, 1]),
        (Single("q", "?", ("a", "b", "c"), None, None, None, None), ["a", "b", "c"], [3, 2, 1]),
        (question(interval=(-2.0, 8.0)), [float(i) for i in range(-2, 9)], list(range(11, 0, -1))),
        (question("abc", ticks=3, most=2), [["a", "b"], ["b", "c"], ["c"], []], [4, 4 + 3, 3 + 2]),
        (question("abc", ticks=3, most=3), [["a", "b"], ["b", "c"], ["c"], []], [4, 4 + 3, 3 + 2]),
        (question("abc", ticks=3, most=1), [["a"], ["b"], ["c"], []], [4, 3, 2]),
    ],
)
def test_robots_answer_the_first_values_most_often(asked: Any, values: list[Any], shares: list[int]) -> None:
    """Of k values the first is k times as common as the last; of ticks the truth is about each option."""
    assert trial._values(asked) == values
    whole = sum(range(len(values) + 1))
    assert trial._truth(asked) == pytest.approx([share / whole for share in shares])


@pytest.mark.parametrize("count", [1, 2, 4, 11])
def test_robots_draw_by_the_shares_that_are_told(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """All numbers that can be drawn, once each."""
    whole = count * (count + 1) // 2
    drawn = []
    for number in range(whole):
        monkeypatch.setattr(trial, "below", lambda most, words, number=number: number if most == whole else -1)
        words: Any = None
        drawn.append(trial._drawn(count, words))
    assert [Fraction(drawn.count(i), whole) for i in range(count)] == [Fraction(count - i, whole) for i in range(count)]
    assert drawn == sorted(drawn)


def estimate(k: int) -> dict[str, Any]:
    return {
        "labels": [f"l{i}" for i in range(k)],
        **{name: [i + j / 10 for i in range(k)] for j, name in enumerate(("value", "low", "high"))},
    }


def test_reports_of_trials_have_the_truth_beside_what_was_found() -> None:
    part: dict[str, Any] = {"question": "q", "reports": 9, "estimate": estimate(2)}
    told = trial._report(part, [0.75, 0.25], 0.1)
    assert told["rows"] == [
        {"label": "l0", "truth": 0.75, "found": 0.0, "low": 0.1, "high": 0.2},
        {"label": "l1", "truth": 0.25, "found": 1.0, "low": 1.1, "high": 1.2},
    ]
    assert (told["mean"], told["truth"], told["half"], told["reports"]) == (False, [0.75, 0.25], 0.1, 9)
    mean = trial._report({**part, "estimate": estimate(1)}, [0.5, 0.5], 0.1)
    assert (mean["mean"], mean["rows"][0]["truth"]) == (True, None)
    assert len(trial._report({**part, "estimate": estimate(40)}, [0.0] * 41, 0.1)["rows"]) == 40
    assert len(trial._report({**part, "estimate": estimate(41)}, [0.0] * 41, 0.1)["rows"]) == 40
    none = trial._report({"question": "q", "reports": 3, "why": "too few"}, [1.0], 0.1)
    assert (none["rows"], none["why"]) == ([], "too few")


def test_tables_of_trials_have_the_products_of_both_truths() -> None:
    cells = {
        "one": ["a", "a", "b", "b"],
        "two": ["x", "y", "x", "y"],
        "value": [1, 2, 3, 4],
        "low": [5, 6, 7, 8],
        "high": [9, 8, 7, 6],
    }
    truths, planned = {"one": [0.75, 0.25], "two": [0.5, 0.5]}, {("one", "two"): 0.05}
    told = trial._crossed({"questions": ["one", "two"], "reports": 7, "cells": cells}, truths, planned)
    assert (told["reports"], told["half"]) == (7, 0.05)
    assert [(row["label"], row["truth"], row["found"], row["low"], row["high"]) for row in told["rows"]] == [
        ("a, x", 0.375, 1, 5, 9), ("a, y", 0.375, 2, 6, 8), ("b, x", 0.125, 3, 7, 7), ("b, y", 0.125, 4, 8, 6),
    ]  # fmt: skip
    none = trial._crossed({"questions": ["one", "two"], "cells": None, "why": "few"}, truths, planned)
    assert (none["rows"], none["why"], none["reports"]) == ([], "few", 0)


def test_rows_of_a_trial_are_points_or_in_the_unit() -> None:
    row = {"label": "Yes", "truth": 0.5, "found": 0.4567, "low": 0.0, "high": 1.0}
    shares = views._rows({"rows": [row], "half": 0.1234, "truth": [0.5, 0.5]}, Item(name="q"), EN)
    assert shares == {"rows": [{"label": "Yes", "truth": "50%", "found": "46%", "planned": "± 12.3"}]}
    hours = Item(name="q", kind="number", low=-2.0, high=22.0)
    part = {"rows": [{**row, "truth": None, "found": 6.254}], "half": 1.264, "mean": True, "truth": [0.5, 0.25, 0.25]}
    mean = views._rows(part, hours, EN)
    assert mean == {"rows": [{"label": EN("trial.mean"), "truth": "7", "found": "6.25", "planned": "± 1.3"}]}


# ---- what pages of drafts say


@pytest.mark.parametrize(
    ("tasks", "count", "left"),
    [
        ([(0, "open", 0.5, 2)], 1, "1"),
        ([(0, "open", 0.5, 1), (365, "closed", 0.25, 2)], 2, "1"),
        ([(366, "open", 1.0, 1)], 0, ""),
        ([(0, "draft", 1.0, 1)], 0, ""),
        ([(0, "open", 2.0, 1), (3, "open", 1.0, 1)], 2, "0"),
        ([(-5, "open", 0.75, 1)], 1, "1.25"),
    ],
)
def test_surveys_of_the_last_year_leave_so_much_on_devices(
    monkeypatch: pytest.MonkeyPatch, tasks: list[tuple[int, str, float, int]], count: int, left: str
) -> None:
    """Days ago, state, protection and windows of each; a device gives 2 in a year, and a task costs all its windows."""
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    rows = [SimpleNamespace(state=state, document=i) for i, (_, state, _, _) in enumerate(tasks)]

    def load(number: int) -> Any:
        ago, _, epsilon, windows = tasks[number]
        return SimpleNamespace(version=2, opens=now.date() - timedelta(ago), epsilon=epsilon, count=windows)

    monkeypatch.setattr(views, "Task", SimpleNamespace(load=load))
    collector: Any = SimpleNamespace(clock=lambda: now, store=SimpleNamespace(tasks=lambda: rows))
    expected = EN("out.spent", count=count, n=count, left=left) if count else ""
    assert views._spent(collector, EN) == expected


def test_of_each_group_the_question_that_is_known_worst_is_told() -> None:
    items = (Item(name="q1"), Item(name="q2", kind="number", low=0.0, high=10.0, unit="h"))
    groups = (Group(name="g1", title="Where?", values=("a", "b")), Group(name="g2", title="Who?", values=("c",)))

    def of_group(item: Item, part: float) -> Known:
        half = {"q1": 0.1 / part, "q2": 0.75}[item.name]
        return Known(item.name, 10.0, half, 0.5 if item.name == "q1" else 1.0)

    found: Any = SimpleNamespace(
        asked=Questionnaire(questions=items, groups=groups), groups={"g1": (0.5, 0.1), "g2": (1.0,)}, of_group=of_group
    )
    assert views._groups(found, EN) == [
        ("Where?", "a", "0.75 h", "usable"),
        ("Where?", "b", "100 points", "coarse"),
        ("Who?", "c", "0.75 h", "usable"),
    ]


# ---- names of what is added


@pytest.mark.parametrize(
    ("names", "free"),
    [([], "q1"), (["q1"], "q2"), (["q2"], "q1"), (["q1", "q3"], "q2"), (["q3", "q1", "q2"], "q4"), (["x"], "q1")],
)
def test_what_is_added_gets_a_name_that_is_free(names: list[str], free: str) -> None:
    assert forms._free("q", names) == free


# ---- previews


def written(**more: Any) -> Questionnaire:
    items = (Item(name="q1", kind="yes-no", text="A?"), Item(name="q2", kind="one", text="B?", options=("a", "b")))
    groups = (Group(name="g1", title="Where?", values=("x", "y")),)
    head: dict[str, Any] = {"title": "T", "who": "W", "why": "Y", "questions": items, "groups": groups}
    return Questionnaire(**{**head, **more})


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, {"people": 1000}),
        ({"people": 77}, {"people": 77}),
        ({"opens": "2020-01-01"}, {"opens": ""}),
        ({"windows": 2}, {"windows": 2}),
        ({"windows": 3}, {"windows": 1}),
        ({"windows": 3, "protection": 0.5}, {"windows": 3, "protection": 0.5}),
        ({"protection": 4.0}, {"windows": 1, "protection": 2.0}),
        ({"protection": 4.0, "windows": 9}, {"windows": 1, "protection": 2.0}),
        ({"title": "", "who": "", "why": ""}, {"title": "…", "who": "…", "why": "…"}),
        ({"title": "\u202e"}, {"title": "…", "who": "W"}),
        ({"together": (("q1", "q2"),)}, {"together": (("q1", "q2"),)}),
        ({"together": (("q1",),)}, {"together": ()}),
        ({"groups": (Group(name="g1", title="", values=("x", "y")),)}, {"groups": ()}),
        ({"translations": {"de": Translated(title="T")}}, {"translations": {}}),
    ],
)
def test_what_is_complete_of_a_draft_is_shown(changes: dict[str, Any], shown: dict[str, Any]) -> None:
    asked = written(**changes)
    found = preview._written(asked)
    assert {name: getattr(found, name) for name in shown} == shown
    assert found.questions == asked.questions


def test_questions_that_are_not_ready_are_left_out_of_the_preview() -> None:
    asked = written()
    half = replace(asked, questions=(asked.questions[0], replace(asked.questions[1], options=("a",))))
    assert [item.name for item in preview._written(half).questions] == ["q1"]
    assert preview._written(replace(asked, language="rm")).questions == (), "without words for yes and no nothing is"


# ---- uploads

MARK = b"--mark"


def sent(
    *parts: tuple[str, bytes], head: str = 'content-disposition: form-data; name="{}"', end: bytes = b"--\r\n"
) -> bytes:
    body = b"".join(MARK + b"\r\n" + head.format(name).encode() + b"\r\n\r\n" + data + b"\r\n" for name, data in parts)
    return body + MARK + end


def test_files_of_forms_are_taken_byte_by_byte() -> None:
    for data in (b"", b"\r\n", b"a\r\n\r\nb", b"x" * 1900, b"\r\n\r\n" * 2000, bytes(range(256)) * 40, b"x" * 5000):
        for end in (b"--", b"--\r\n"):
            assert uploads._parts(sent(("file", data), ("document", b"d"), end=end), MARK) == {
                "file": data,
                "document": b"d",
            }
    named = 'Content-Disposition: form-data; name="{}"; filename="a b.json"\r\ncontent-type: text/plain'
    assert uploads._parts(sent(("file", b"1"), head=named), MARK) == {"file": b"1"}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (sent(("file", b"1"), ("file", b"2")), "invalid"),
        (sent(("other", b"1")), "malformed"),
        (sent(("file", b"1"))[:-4], "malformed"),
        (b"x" + sent(("file", b"1")), "malformed"),
        (sent(("file", b"1")) + b"x", "malformed"),
        (MARK, "malformed"),
        (b"", "malformed"),
        (MARK + b'\r\ncontent-disposition: form-data; name="file"\r\n1\r\n' + MARK + b"--", "malformed"),
        (sent(("file", b"1"), head='x: y\r\ncontent-disposition: form-data; name="{}"'), "malformed"),
        (sent(("file", b"1"), head='content-disposition: form-data; name="{}"; x=' + "y" * 2000), "malformed"),
        (sent(*[("file", b"1")] * 9), "malformed"),
    ],
)
def test_what_no_browser_sends_is_refused_by_its_kind(body: bytes, kind: str) -> None:
    with pytest.raises(Problem) as refused:
        uploads._parts(body, MARK)
    assert refused.value.kind == kind


@pytest.mark.parametrize("count", [7, 8])
def test_a_form_has_at_most_eight_parts(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    names = [f"f{chr(97 + i)}" for i in range(count)]
    monkeypatch.setattr(uploads, "_FIELDS", tuple(names))
    assert list(uploads._parts(sent(*[(name, b"1") for name in names]), MARK)) == names
    more = [*names, "x", "y"]
    monkeypatch.setattr(uploads, "_FIELDS", tuple(more))
    with pytest.raises(Problem, match="too many"):
        uploads._parts(sent(*[(name, b"1") for name in more]), MARK)
