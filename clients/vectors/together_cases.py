"""Tasks that ask several questions together, those to refuse, and the numbers of answers; part of `tasks.json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from signed_cases import COUNTRY, Case, Document, about, asks, dealt, second  # beside this file
from task_cases import DESIGNS

from deniable_client.task import Task

FOUR, THREE = ["never", "weekly", "daily", "no answer"], ["under 30", "30 to 59", "60 and more"]


def single(name: str, labels: list[str], none: Any = None, **more: Any) -> Document:
    """One of the questions that are asked together."""
    return {"name": name, "text": f"{name}?", "labels": labels, "none": none} | more


SPORT, AGE = single("sport", FOUR, "no answer"), single("age", THREE, "30 to 59")
BLOCK = [SPORT, AGE]
GERMAN = {
    "subject": "Schlaf",
    "questions": [
        [
            {"text": "Sport?", "labels": ["nie", "oft", "immer", "keine Angabe"]},
            {"text": "Alter?", "labels": ["unter 30", "30 bis 59", "ab 60"]},
        ]
    ],
}


def effects() -> Document:
    """Two questions alone, and what they have in common: the questions are the same in all parts."""
    four = DESIGNS["ss"]["design"] | {
        "domain": {"k": 4},
        "params": {"size": 1},
        "kernel": {"kind": "subset", "k": "4", "size": "1", "keep": "8768971294881393556"},
    }
    three = DESIGNS["ss"]["design"] | {
        "domain": {"k": 3},
        "params": {"size": 1},
        "kernel": {"kind": "subset", "k": "3", "size": "1", "keep": "10627480729818066791"},
    }
    parts = [four, three, DESIGNS["interaction"]["design"]]
    return dealt("grr", "grr") | {"parts": parts, "shares": [2, 2, 1]}


ALONE = [[SPORT], [AGE], BLOCK]


def good_together() -> dict[str, Document]:
    """Tasks with questions that are asked together."""
    rated = [SPORT, AGE | {"kind": "rating", "ends": ["young", "old"]}]
    labels = [f"{a}, {b}" for a in FOUR for b in THREE]
    named = DESIGNS["box"]["design"] | {"domain": {"labels": labels}}
    return {
        "2: a box": about("box", questions=[BLOCK]),
        "2: a box in German": about("box", questions=[BLOCK], translations={"de": GERMAN}),
        "2: a box whose sets have labels": about("box", design=named, questions=[BLOCK]),
        "2: a box, of which some answers are random for none": about("box", questions=[[SPORT, single("age", THREE)]]),
        "2: a box with a rating": about("box", questions=[rated]),
        "2: two questions alone and together": about("interaction", design=effects(), questions=ALONE),
        "2: a box and a question": about(
            "box", design=dealt("box", "grr"), questions=[BLOCK, [asks("q")]], strata=[COUNTRY]
        ),
    }


def wrong_together() -> Iterator[tuple[str, str, Document]]:
    """What is wrong, the kind of the error, and the document."""
    for what, block in {
        "a name twice": [SPORT, single("sport", THREE)],
        "other sizes in turn": [AGE, SPORT],
        "too few labels": [single("sport", FOUR[:3]), single("age", THREE)],
        "a label too many": [single("sport", [*FOUR, "more"]), AGE],
        "one label": [single("sport", [f"{i}" for i in range(12)]), single("age", ["all"])],
        "no labels": [SPORT, asks("age", none=None)],
        "labels that look alike": [single("sport", ["no", "yes", "Yes", "so"]), AGE],
        "none that is not an answer": [SPORT, single("age", THREE, "70")],
        "none that is a number": [SPORT, single("age", THREE, 0)],
        "a kind that has no labels": [SPORT, AGE | {"kind": "number"}],
        "a unit": [SPORT, AGE | {"unit": "years"}],
        "ends without a rating": [SPORT, AGE | {"ends": ["young", "old"]}],
        "no text": [SPORT, {name: part for name, part in AGE.items() if name != "text"}],
        "a design of its own": [SPORT, AGE | {"design": DESIGNS["grr"]["design"]}],
        "nothing": [],
        "33 of them": [single(f"q{i}", FOUR) for i in range(33)],
        "a dot in a name": [single("sp.ort", FOUR), AGE],
    }.items():
        yield f"asked together: {what}", "format", about("box", questions=[block])
    known = {"subject": "Schlaf", "questions": [GERMAN["questions"][0][:1]]}
    yield "asked together: one of two translated", "format", about("box", questions=[BLOCK], translations={"de": known})
    other = [[SPORT | {"text": "Do you?"}], [AGE], BLOCK]
    yield "asked together: another text alone", "format", about("interaction", design=effects(), questions=other)
    other = [[SPORT | {"labels": FOUR[::-1]}], [AGE], BLOCK]
    yield "asked together: other labels alone", "format", about("interaction", design=effects(), questions=other)
    yield "asked together: numbers", "format", about("a grid", questions=[[SPORT, AGE]])
    yield "asked together: ticks", "format", about("several", questions=[[SPORT, AGE]])
    yield "asked together: pairs", "format", about("kv-ss2", questions=[[SPORT, AGE]])
    two = [single("a", ["no", "yes"]), single("b", ["no", "yes"])]
    yield "asked together: answers that a report may name", "privacy", about("urr", questions=[two])
    leak = DESIGNS["box"]["design"]
    leak = leak | {"kernel": leak["kernel"] | {"keep": str(int(leak["kernel"]["keep"]) + (1 << 62))}}
    yield "asked together: a box that leaks", "privacy", about("box", design=leak, questions=[BLOCK])
    yield "asked together: two parts of one person", "format", second(design=dealt("grr", "grr"), questions=[[*BLOCK]])
    two_parts = [[asks("a")], [asks("b")]]
    for what, more in {
        "a deal that looks at the answer": {"deal": [[0, 1]]},
        "two parts for each": {"answered": 2},
    }.items():
        yield f"a survey: {what}", "format", second(design=dealt("grr", "grr", **more), questions=two_parts)


GIVEN: list[Any] = [
    ["never", "under 30"],
    ["daily", "60 and more"],
    [2, 1],
    ["weekly", None],
    [None, "under 30"],
    [None, None],
    ["Weekly", "under 30"],
    ["weekly"],
    ["weekly", "under 30", 0],
    [4, 0],
    [-1, 0],
    [True, 0],
    [[0], 0],
    [],
    None,
    5,
    12,
    -1,
    "never",
    "5",
    {"sport": 1},
]
"""What somebody may answer to both."""


def joint_cases() -> list[Case]:
    """The number that answers to questions which are asked together have; null where that is not an answer."""
    found = []
    for what in ("2: a box", "2: a box, of which some answers are random for none"):
        document = good_together()[what]
        asked = Task.load(document).questions[0]
        found.append({"task": document, "cases": [{"given": given, "number": asked.joint(given)} for given in GIVEN]})
    return found
