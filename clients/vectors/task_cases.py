"""Task documents that every client must read, and those that it must refuse; `make.py` writes them to `tasks.json`."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

from rules import good_cases  # so does this
from texts_cases import LABELS  # and this

from deniable_client.canonical import digest
from deniable_client.errors import DeniableError
from deniable_client.texts import labels_fault

Document = dict[str, Any]
Case = dict[str, Any]

DESIGNS = {case["about"]: case for case in good_cases()}


def kind_of(error: DeniableError) -> str:
    """The name of an error's class, as vectors have it: format, privacy, ..."""
    return type(error).__name__.removesuffix("Error").lower()


def compact(document: Any) -> bytes:
    """A document in one line."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def question(name: str, about: str = "grr", share: int = 1, **more: Any) -> Document:
    """A question with one of the good designs."""
    return {"name": name, "text": f"{name}?", "design": DESIGNS[about]["design"], "share": share} | more


def task(**changes: Any) -> Document:
    """A task with its id; None leaves a field out."""
    made: Document = {
        "version": 1,
        "collector": "Example Institute",
        "subject": "sleep",
        "epsilon": 1,
        "questions": [question("q")],
        "window": {"opens": "2026-11-16", "days": 7, "count": 4},
        "precision": "day",
        "min_batch": 100,
        "memory": "remembered",
        "budget": {"task": 2, "subject": 2, "lifetime": 8},
        "retention": {"keep": "tally"},
        "expires": "2027-01-31",
    }
    made |= changes
    return sealed({name: part for name, part in made.items() if part is not None})


def sealed(document: Document) -> Document:
    """A document with the id of its content, whatever it is."""
    return document | {"id": digest({name: part for name, part in document.items() if name != "id"})}


def of_design(about: str, **changes: Any) -> Document:
    """A task about one of the good designs."""
    epsilon = max(1, math.ceil(DESIGNS[about]["design"]["epsilon"]))
    budget = {"task": 2 * epsilon, "subject": 2 * epsilon, "lifetime": 8 * epsilon}
    return task(**({"epsilon": epsilon, "questions": [question("q", about)], "budget": budget} | changes))


COUNTRY = {"name": "country", "values": ["DE", "FR"]}
PHONE = {"name": "phone", "values": ["yes", "no", "not said"]}
SURVEY = task(
    questions=[question("first", "grr", 3), question("second", "ss", 1), question("third-1_x", "lh", 2)],
    strata=[COUNTRY, PHONE],
)
"""Three questions with reports of different lengths."""


def good_tasks() -> dict[str, Document]:
    """Tasks of every design, and of every form."""
    made = {about: of_design(about) for about in DESIGNS}
    labels = ["never", "sometimes"]
    return made | {
        "a survey": SURVEY,
        "strata": task(strata=[COUNTRY]),
        "labels of the task": task(questions=[question("q", labels=labels)]),
        "nobody asks": task(collector=None),
        "reports are kept": task(retention={"keep": "reports", "days": 0}),
        "fresh": task(memory="fresh"),
        "first": task(memory="first"),
        "one day": task(window={"opens": "2026-11-16", "days": 1, "count": 1}, expires="2026-11-17"),
        "the last days there are": task(window={"opens": "9999-12-30", "days": 1, "count": 1}, expires="9999-12-31"),
        "numbers with many digits": task(
            epsilon=1.1, budget={"task": 2.2, "subject": 3.3000000000000003, "lifetime": 1000}
        ),
        "labels of many kinds": task(
            questions=[
                question(
                    "q", text="\u0421\u043f\u0438\u0442\u0435?\n\u0394t", labels=["\u0434\u0430", "\u043d\u0435\u0442"]
                )
            ]
        ),
        "joiners": task(
            questions=[question("q", labels=["\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645", "\u0628\u0644\u0647"])]
        ),
        "text of many kinds": task(subject="Schlaf \u20ac \U0001f634", collector="\u05d0\u05d1"),
    }


def spellings() -> dict[str, bytes]:
    """The first good task, written in other ways."""
    plain = task()
    pretty = json.dumps(plain, indent=2, sort_keys=True).encode()
    return {
        "white space, sorted": pretty,
        "backwards": compact(dict(reversed(plain.items()))),
        "escapes": compact(plain).replace(b"sleep", b"\\u0073l\\u0065ep"),
        "1.0 for 1": compact(plain).replace(b'"version":1', b'"version":1.0').replace(b'"days":7', b'"days":0.7e1'),
    }


def without(document: Document, *path: str) -> Document:
    """A copy in which one field is missing."""
    made = copy.deepcopy(document)
    part = made
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return sealed(made)


FIELDS: dict[str, list[Any]] = {
    "version": [0, 2, 3, 1.5, "1", True, None, [1]],
    "collector": ["", " \u200b", 1, "x" * 201, None, "Institute\u202e", "\u0430pple", "a\nb", "a\U000e0100", "a\ue000"],
    "subject": ["", "\u200b", 1, None, "x" * 201, "\u2066sleep\u2069", "sl\u0435ep", "sleep\ufe00", "sle\u034fep"],
    "epsilon": [0, -1, 1e-13, 1001, "1", True, None, 1e300, [1]],
    "questions": [[], {}, None, [None], [question("q"), question("q")], [question(f"q{i}") for i in range(256)]],
    "strata": [
        {},
        None,
        [COUNTRY] * 2,
        [{"name": "country", "values": ["DE"]}],
        [{"name": "country", "values": ["DE", "DE"]}],
        [{"name": "Country", "values": ["DE", "FR"]}],
        [{"name": "country", "values": ["DE", 1]}],
        [{"name": "country", "values": ["DE", "\uff24\uff25"]}],
        [{"name": "country", "values": ["DE", "De"]}],
        [{"name": "country", "values": ["DE", "\u202eED "]}],
        [{"name": "country", "values": ["DE", "FR"], "more": 1}],
        [{"name": "country", "values": [str(i) for i in range(256)]}],
        [{"name": f"s{i}", "values": ["a", "b"]} for i in range(9)],
    ],
    "window": [
        None,
        {"opens": "2026-11-16", "days": 7},
        {"opens": "2026-11-16", "days": 7, "count": 4, "more": 1},
        {"opens": "2026-11-16", "days": 0, "count": 4},
        {"opens": "2026-11-16", "days": 3661, "count": 1},
        {"opens": "2026-11-16", "days": 7.5, "count": 1},
        {"opens": "2026-11-16", "days": 1, "count": 0},
        {"opens": "2026-11-16", "days": 1, "count": 10_001},
        {"opens": "2026-11-16", "days": 1e300, "count": 1},
        {"opens": "2026-11-16", "days": 3660, "count": 10_000},
        {"opens": "2026-02-29", "days": 7, "count": 4},
        {"opens": "2026-13-01", "days": 7, "count": 4},
        {"opens": "0000-01-01", "days": 7, "count": 4},
        {"opens": "2026-1-1", "days": 7, "count": 4},
        {"opens": "20261116", "days": 7, "count": 4},
        {"opens": "2026-11-16T00:00:00Z", "days": 7, "count": 4},
        {"opens": "\u0662026-11-16", "days": 7, "count": 4},
        {"opens": "2026-11-16\n", "days": 7, "count": 4},
        {"opens": 20261116, "days": 7, "count": 4},
    ],
    "precision": ["hour", "", None, 1],
    "min_batch": [0, 1.5, "100", 10**9 + 1, None, True],
    "memory": ["kept", "", None, 1, ["fresh"]],
    "budget": [
        None,
        {"task": 2, "subject": 2},
        {"task": 2, "subject": 2, "lifetime": 8, "more": 1},
        {"task": 0.5, "subject": 2, "lifetime": 8},
        {"task": 3, "subject": 2, "lifetime": 8},
        {"task": 2, "subject": 9, "lifetime": 8},
        {"task": 2, "subject": 2, "lifetime": 1001},
        {"task": "2", "subject": 2, "lifetime": 8},
    ],
    "retention": [
        None,
        "tally",
        {"keep": "all"},
        {"keep": "tally", "days": 1},
        {"keep": "reports"},
        {"keep": "reports", "days": -1},
        {"keep": "reports", "days": 3661},
        {"keep": ["tally"]},
    ],
    "expires": ["2026-12-13", "2026-11-15", "never", None, 0],
    "more": [1],
    "__proto__": [1],
    "toString": [1],
    "design": [DESIGNS["grr"]["design"]],
}
"""Values of a field that make a document another thing than a task."""

LOOKALIKES = [each for each in LABELS if len(each) == 2 and labels_fault(each)]

QUESTION_FIELDS: dict[str, list[Any]] = {
    "name": ["", "Q", "a b", "\u00e9", "x" * 65, "q\n", 1, None],
    "text": [
        "",
        "\u3164",
        1,
        None,
        "x" * 10_001,
        "a\u202eb?",
        "a\u200bb?",
        "a\x1b[2J?",
        "a\u2028b?",
        "\ue000?",
        "\u0378?",
    ],
    "share": [0, -1, 1.5, "1", True, None, 1_000_001, 1e300],
    "labels": [["a"], ["a", "b", "c"], ["a", "a"], ["a", "a "], ["a", "\u200b"], ["a", 1], "ab", None, *LOOKALIKES],
    "block": [[]],
    "design": [None, [], "grr", {}],
}


def wrong_tasks() -> Iterator[tuple[str, str, bytes]]:
    """What is wrong, the kind of the error, and the bytes."""
    plain = task()
    for name in plain:
        if name not in ("collector", "id"):
            yield f"no {name}", "format", compact(without(plain, name))
    yield "no id", "format", compact({name: part for name, part in plain.items() if name != "id"})
    for name, values in FIELDS.items():
        for value in values:
            yield f"{name} is {value!r}"[:100], "format", compact(sealed(plain | {name: value}))
    for name in ("name", "text", "design", "share"):
        yield f"no {name} of a question", "format", compact(without(plain, "questions", 0, name))  # type: ignore[arg-type]
    for name, values in QUESTION_FIELDS.items():
        for value in values:
            made = question("q") | {name: value}
            yield f"{name} of a question is {value!r}"[:100], "format", compact(task(questions=[made]))
    own = question("q", "labels", labels=["c", "d"])
    yield "labels of task and design", "format", compact(task(questions=[own]))
    for change in ("0" * 64, plain["id"].upper(), plain["id"][:-1], None, 1, ""):
        yield f"id is {change!r}", "format", compact(plain | {"id": change})
    yield "altered text", "format", compact(plain).replace(b"q?", b"Q?")
    yield "altered budget", "format", compact(plain).replace(b'"lifetime":8', b'"lifetime":9')
    yield from leaking_tasks()
    yield from hostile_bytes(compact(plain))


def leaking_tasks() -> Iterator[tuple[str, str, bytes]]:
    """Designs that leak, with the right id."""
    good = DESIGNS["grr"]["design"]
    keep = "13485650502877570763"
    for about, kernel, epsilon in (("by one unit of 2^-64", keep, 1.0), ("half as much", good["kernel"]["keep"], 0.5)):
        bad = good | {"epsilon": epsilon, "kernel": good["kernel"] | {"keep": kernel}}
        yield f"leaks {about}", "privacy", compact(task(questions=[question("q") | {"design": bad}]))
    second = [question("q"), question("r") | {"design": good | {"kernel": good["kernel"] | {"keep": keep}}}]
    yield "the second question leaks", "privacy", compact(task(questions=second))
    yield (
        "a design promises more than the task",
        "privacy",
        compact(task(epsilon=0.9, budget={"task": 2, "subject": 2, "lifetime": 8})),
    )
    huge = good | {"kernel": good["kernel"] | {"keep": "9" * 41}}
    yield "a threshold of 41 digits", "format", compact(task(questions=[question("q") | {"design": huge}]))
    clear = good | {"kernel": good["kernel"] | {"keep": str(1 << 64)}}
    yield "a threshold that always decides", "format", compact(task(questions=[question("q") | {"design": clear}]))
    yield (
        "a large epsilon",
        "privacy",
        compact(
            task(
                epsilon=50,
                budget={"task": 50, "subject": 50, "lifetime": 50},
                questions=[question("q") | {"design": good | {"epsilon": 50.0}}],
            )
        ),
    )


def hostile_bytes(plain: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Bytes that are no document, or one that readers understand differently."""
    for about, old, new in (
        ("a field twice, with the same value", b'"min_batch":100', b'"min_batch":100,"min_batch":100'),
        ("a field twice, first the lie", b'"min_batch":100', b'"min_batch":1,"min_batch":100'),
        ("a field twice, then the lie", b'"min_batch":100', b'"min_batch":100,"min_batch":1'),
        ("a field twice, spelled differently", b'"min_batch":100', b'"min_batch":100,"min_b\\u0061tch":100'),
        ("NaN", b'"min_batch":100', b'"min_batch":NaN'),
        ("Infinity", b'"min_batch":100', b'"min_batch":Infinity'),
        ("a number beyond all doubles", b'"min_batch":100', b'"min_batch":1e999'),
        ("a number of 5,000 digits", b'"min_batch":100', b'"min_batch":' + b"1" * 5000),
        ("a number just above 100", b'"min_batch":100', b'"min_batch":100.00000000000001'),
        ("a lone surrogate", b'"sleep"', b'"sleep\\ud800"'),
        ("a surrogate in UTF-8", b'"sleep"', b'"sleep\xed\xa0\x80"'),
        ("bytes that are not UTF-8", b'"sleep"', b'"sleep\xff"'),
        ("a zero byte", b'"sleep"', b'"sleep\0"'),
        ("200 deep", b'"sleep"', b"[" * 200 + b"]" * 200),
    ):
        assert plain.count(old) == 1
        yield about, "format", plain.replace(old, new)
    yield "a byte order mark", "format", b"\xef\xbb\xbf" + plain
    yield "more after it", "format", plain + b"x"
    yield "half of it", "format", plain[: len(plain) // 2]
    yield "a list of it", "format", b"[" + plain + b"]"
    yield "nothing", "format", b""
    yield "UTF-16", "format", plain.decode().encode("utf-16")


DAYS = ("2026-11-15", "2026-11-16", "2026-11-22", "2026-11-23", "2026-12-13", "2026-12-14", "2027-01-30", "2027-01-31")
