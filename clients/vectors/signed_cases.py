"""Tasks of version 2 that every client must read, and those that it must refuse; part of `tasks.json`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from canonical_cases import data  # beside this file
from rules import design as design_of
from rules import kernel, response, utility
from signature_cases import _ORDER, key_of
from task_cases import DAYS, DESIGNS, compact, good_tasks, hostile_bytes, kind_of, spellings, task, wrong_tasks

from deniable_client.canonical import digest
from deniable_client.errors import DeniableError
from deniable_client.task import Task, signed_part

Document = dict[str, Any]
Case = dict[str, Any]

PRIVATE = key_of(b"\7" * 32)
OTHER = key_of(b"\x08" * 32)
URL = "https://collect.example.org"
NONE: dict[str, Any] = {
    "kv-ss2": [],
    "kv-olh": [],
    "privkv": [[0, 0]],
    "a grid": 0.5,
    "codes": 0.2,
    "places": "a",
    "labels": "a",
    "uue-levels": 1,
    "several": [],
    "several, any number": [0, 2],
}
"""The answer for no answer, where it is not 0."""


def public(private: Any = PRIVATE) -> str:
    """The key that a task shows."""
    return str(private.public_key().public_bytes_raw().hex())


def signed(document: Document, private: Any = PRIVATE) -> Document:
    """A document with its id and signature, whatever it is."""
    name = digest({name: part for name, part in document.items() if name not in ("id", "signature")})
    return document | {"id": name, "signature": private.sign(signed_part(name)).hex()}


def asks(name: str = "q", about: str = "grr", **more: Any) -> Document:
    """What is asked about one of the good designs."""
    return {"name": name, "text": f"{name}?", "none": NONE.get(about, 0)} | more


def second(**changes: Any) -> Document:
    """A task of version 2; None leaves a field out."""
    made: Document = {
        "version": 2,
        "collector": {"name": "Example Institute", "key": public(), "url": URL},
        "language": "en",
        "subject": "sleep",
        "epsilon": 1,
        "design": DESIGNS["grr"]["design"],
        "questions": [[asks()]],
        "window": {"opens": "2026-11-16", "days": 7, "count": 2},
        "memory": "fresh",
        "sending": {"attempts": 8, "days": 7},
        "budget": 2,
        "min_batch": 100,
        "retention": {"keep": "tally"},
    }
    made |= changes
    return signed({name: part for name, part in made.items() if part is not None})


def about(name: str, **changes: Any) -> Document:
    """A task about one of the good designs."""
    epsilon = max(1, math.ceil(DESIGNS[name]["design"]["epsilon"]))
    own = {"epsilon": epsilon, "budget": 2 * epsilon, "design": DESIGNS[name]["design"]}
    return second(**(own | {"questions": [[asks(about=name)]]} | changes))


def dealt(*parts: str, shares: Any = None, **changes: Any) -> Document:
    """A design of parts."""
    own = [DESIGNS[name]["design"] for name in parts]
    made = {"mechanism": "dealt", "version": 1, "epsilon": 1, "shares": shares or [1] * len(own), "parts": own}
    return made | changes


COUNTRY = {"name": "country", "values": ["DE", "FR"]}
PHONE = {"name": "phone", "values": ["yes"]}
LABELS = ["never", "sometimes"]
GERMAN = {"subject": "Schlaf", "questions": [[{"text": "Wie oft?"}]]}
LABELLED = {"subject": "Schlaf", "questions": [[{"text": "Wie oft?", "labels": ["nie", "manchmal"]}]]}
TITLED = COUNTRY | {"title": "Where do you live?"}
SHOWN: Document = {
    "purpose": "To plan beds.",
    "questions": [[asks(kind="rating", ends=["bad", "good"])]],
    "strata": [TITLED],
}
GROUPED = [{"title": "Wo leben Sie?", "values": ["Deutschland", "Frankreich"]}]
IN_GERMAN = {
    "subject": "Schlaf",
    "purpose": "Um Betten zu planen.",
    "questions": [[{"text": "Wie gut?", "ends": ["schlecht", "gut"]}]],
    "strata": GROUPED,
}
SURVEY2 = second(
    design=dealt("grr", "ss", "lh", shares=[3, 1, 2]),
    questions=[[asks("first")], [asks("second")], [asks("third-1_x")]],
    strata=[COUNTRY, PHONE],
)
"""Three questions with reports of different lengths."""


def good_second() -> dict[str, Document]:
    """Tasks of every design, and of every form."""
    made = {f"2: {name}": about(name) for name in DESIGNS}
    forms = {
        "a survey": SURVEY2,
        "the same design twice": second(design=dealt("grr", "grr"), questions=[[asks("a")], [asks("b")]]),
        "strata": second(strata=[COUNTRY]),
        "4,096 groups": second(strata=[{"name": f"s{i}", "values": ["a", "b", "c"]} for i in range(6)]),
        "labels of the task": second(questions=[[asks(labels=LABELS, none="never")]]),
        "a translation": second(translations={"de": GERMAN, "pt-BR": GERMAN}),
        "a translation with labels": second(
            questions=[[asks(labels=LABELS, none="never")]], translations={"de": LABELLED}
        ),
        "a translation of the design's labels": about("labels", translations={"de": LABELLED}),
        "no address": second(collector={"name": "Example Institute", "key": public()}),
        "this machine": second(collector={"name": "Test", "key": public(), "url": "http://localhost:8000/a"}),
        "another key": signed({**second(), "collector": {"name": "Example Institute", "key": public(OTHER)}}, OTHER),
        "reports are kept": second(retention={"keep": "reports", "days": 0}),
        "sent once": second(sending={"attempts": 1, "days": 1}),
        "one window": second(window={"opens": "2026-11-16", "days": 1, "count": 1}, budget=1),
        "the last days there are": second(window={"opens": "9999-12-29", "days": 1, "count": 1}),
        "tenths": second(epsilon=0.1, design=TENTH, window={"opens": "2026-11-16", "days": 1, "count": 3}, budget=0.3),
        "pairs for no answer": about("kv-ss2", questions=[[asks(none=[[1, -0.25]])]]),
        "a random answer for none": second(questions=[[asks(none=None)]]),
        "a random protected answer for none": about("urr", questions=[[asks(none=None)]]),
        "random pairs for no answer": about("kv-ss2", questions=[[asks(none=None)]]),
        "text of many kinds": second(subject="Schlaf \u20ac \U0001f634"),
        "a purpose, for everybody": second(purpose="To plan beds.\nAnd nurses.", results="public"),
        "a rating with ends": second(questions=[[asks(kind="rating", ends=["bad", "good"])]]),
        "a number with its unit": about("a grid", questions=[[asks(about="a grid", kind="number", unit="hours")]]),
        "all of it in German": second(**SHOWN, translations={"de": IN_GERMAN}),
    }
    return made | {f"2: {name}": document for name, document in forms.items()}


TENTH = DESIGNS["grr"]["design"] | {
    "epsilon": 0.1,
    "kernel": {"kind": "response", "k": "2", "keep": "9592306918328967168"},
}

FIELDS: dict[str, list[Any]] = {
    "version": [3, "2", True, None],
    "collector": [
        "Example Institute",
        {"name": "x"},
        {"key": public()},
        {"name": "", "key": public()},
        {"name": "x" * 201, "key": public()},
        {"name": "x", "key": public().upper()},
        {"name": "x", "key": public()[:-2]},
        {"name": "x", "key": public() + "00"},
        {"name": "x", "key": None},
        {"name": "x", "key": public(), "more": 1},
        *(
            {"name": "x", "key": public(), "url": url}
            for url in (
                None,
                "",
                "collect.example.org",
                "http://collect.example.org",
                "https://Collect.example.org",
                "https://collect.example.org/",
                "https://user@collect.example.org",
                "https://collect.example.org?a=b",
                "https://collect.example.org#a",
                "https://collect.example.org:0",
                "https://collect.example.org:65536",
                "https://collect .example.org",
                "https://c\u00f6llect.example.org",
                "https://collect.example.org/\u00e9",
                "https://collect..example.org",
                "http://[::1].evil.example",
                "http://localhost.evil.example",
                "http://127.0.0.1.evil.example",
                "https://" + "a" * 64,
                "https://collect.example.org/" + "a" * 2000,
                "javascript:alert(1)",
            )
        ),
    ],
    "language": ["", "e", "en_GB", "en-", "-en", "123456789", "en " * 3, None, 1, "en-" + "a1-" * 12],
    "subject": ["", 1, None, "x" * 201],
    "epsilon": [0, -1, 1e-13, 1001, "1", True, None],
    "design": [None, [], "grr", {}, DESIGNS["grr"]["design"] | {"mechanism": "unknown"}],
    "questions": [
        [],
        {},
        None,
        [None],
        [[]],
        [[None]],
        [asks()],
        [[asks()], [asks("r")]],
        [[asks(), asks("r")]],
    ],
    "translations": [
        None,
        [],
        {"en": GERMAN},
        {"d": GERMAN},
        {"de": {"subject": "Schlaf"}},
        {"de": GERMAN | {"more": 1}},
        {"de": GERMAN | {"subject": ""}},
        {"de": LABELLED},
        {"de": GERMAN | {"questions": []}},
        {"de": GERMAN | {"questions": [[]]}},
        {"de": GERMAN | {"questions": [[{"text": ""}]]}},
        {"de": GERMAN | {"questions": [[{"text": "x", "name": "q"}]]}},
    ],
    "strata": [
        {},
        None,
        [COUNTRY] * 2,
        [{"name": "country", "values": []}],
        [{"name": "country", "values": ["DE", "DE"]}],
        [{"name": "country", "values": ["DE", "not told"]}],
        [{"name": "country", "values": [str(i) for i in range(255)]}],
        [{"name": f"s{i}", "values": ["a"]} for i in range(9)],
        [{"name": f"s{i}", "values": ["a", "b", "c"]} for i in range(7)],
    ],
    "window": [
        None,
        {"opens": "2026-11-16", "days": 7},
        {"opens": "2026-11-16", "days": 0, "count": 1},
        {"opens": "2026-11-16", "days": 3661, "count": 1},
        {"opens": "2026-11-16", "days": 1, "count": 0},
        {"opens": "2026-11-16", "days": 7, "count": 3},
        {"opens": "2026-02-29", "days": 7, "count": 1},
        {"opens": "9999-12-30", "days": 1, "count": 1},
    ],
    "memory": ["remembered", "first", "design", "", None, 1],
    "sending": [
        None,
        {"attempts": 8},
        {"attempts": 0, "days": 7},
        {"attempts": 9, "days": 7},
        {"attempts": 8, "days": 0},
        {"attempts": 8, "days": 8},
        {"attempts": 1.5, "days": 7},
        {"attempts": "8", "days": 7},
        {"attempts": 8, "days": 7, "more": 1},
    ],
    "budget": [None, 0, 1.9, 1.9999999999999998, 1001, "2", {"task": 2, "subject": 2, "lifetime": 8}],
    "min_batch": [0, 1.5, "100", 10**9 + 1, None],
    "retention": [None, {"keep": "all"}, {"keep": "tally", "days": 1}, {"keep": "reports"}],
    "purpose": ["", 1, None, "x" * 1001, "a\u202eb"],
    "results": ["private", "", None, True, ["public"]],
    "precision": ["day"],
    "expires": ["2027-01-31"],
    "more": [1],
    "__proto__": [1],
}
"""Values of a field that make a document another thing than a task of version 2."""

QUESTION_FIELDS: dict[str, list[Any]] = {
    "name": ["", "Q", "a b", 1, None],
    "text": ["", 1, None, "x" * 10_001],
    "none": [2, -1, 0.5, "0", True, [], [0], "no"],
    "labels": [["a"], ["a", "a"], LABELS, None],
    "share": [1],
    "design": [DESIGNS["grr"]["design"]],
    "kind": ["", "text", 1, None, ["one"], "toString"],
    "unit": ["hours", "", None],
    "ends": [["bad", "good"], None],
}


def wrongly_shown() -> Iterator[tuple[str, str, Document]]:
    """What people see beside a question that does not fit it, and translations that lack something or have more."""
    for more in ({"kind": "number", "unit": "x" * 41}, {"kind": "number", "unit": 1}, {"kind": "one", "unit": "h"}):
        yield f"shown as {more}"[:100], "format", second(questions=[[asks(**more)]])
    for ends in ([], ["bad"], ["a", "b", "c"], ["a", ""], ["a", 1], "ab", ["a", "x" * 101]):
        yield f"ends are {ends}"[:100], "format", second(questions=[[asks(kind="rating", ends=ends)]])
    for title in ("", 1, None, "x" * 201):
        yield f"title of a group is {title!r}"[:100], "format", second(strata=[COUNTRY | {"title": title}])
    lacking: dict[str, Any] = {
        "no purpose": {name: part for name, part in IN_GERMAN.items() if name != "purpose"},
        "no ends": IN_GERMAN | {"questions": [[{"text": "Wie gut?"}]]},
        "a unit": IN_GERMAN | {"questions": [[{"text": "Wie gut?", "ends": ["a", "b"], "unit": "h"}]]},
        "two groups": IN_GERMAN | {"strata": GROUPED * 2},
        "groups without a title": IN_GERMAN | {"strata": [{"values": ["a", "b"]}]},
        "one value of two": IN_GERMAN | {"strata": [{"title": "a", "values": ["a"]}]},
        "two values alike": IN_GERMAN | {"strata": [{"title": "a", "values": ["a", "A"]}]},
        "an odd list": IN_GERMAN | {"strata": None},
    }
    for what, german in lacking.items():
        yield f"in German: {what}", "format", second(**SHOWN, translations={"de": german})
    yield "a purpose in German only", "format", second(translations={"de": GERMAN | {"purpose": "x"}})


def nothing_to_say() -> Iterator[tuple[str, str, Document]]:
    """Answers for no answer that are none of the design's, or that reports may name."""
    for name, value, kind in (
        ("urr", 2, "privacy"),
        ("urr", 3, "privacy"),
        ("urr", 4, "format"),
        ("uss", 2, "privacy"),
        ("upldp", 3, "privacy"),
        ("ussmix", 2, "privacy"),
        ("one protected answer", 1, "privacy"),
        ("labels", "c", "format"),
        ("labels", 0, "format"),
        ("places", 0, "format"),
        ("a grid", 1.5, "format"),
        ("a grid", "0.5", "format"),
        ("codes", -0.1, "format"),
        ("codes", 1.1, "format"),
        ("kv-ss2", [[2, 0.5]], "format"),
        ("kv-ss2", [[0, 1.5]], "format"),
        ("kv-ss2", [[0, 0.5], [0, 0.5]], "format"),
        ("kv-ss2", [0], "format"),
        ("kv-ss2", 0, "format"),
    ):
        yield f"none of {name} is {value!r}", kind, about(name, questions=[[asks(none=value)]])
    hidden = asks(none=0, labels=LABELS)
    yield "none is a number where there are labels", "format", second(questions=[[hidden]])


def of_parts() -> Iterator[tuple[str, str, Document]]:
    """Designs of parts that are none, or promise too much."""
    two = [[asks("a")], [asks("b")]]
    good = dealt("grr", "grr")
    for what, kind, changes in (
        ("one part", "format", {"parts": good["parts"][:1], "shares": [1]}),
        ("256 parts", "format", {"parts": good["parts"] * 128, "shares": [1] * 256}),
        ("three shares", "format", {"shares": [1, 1, 1]}),
        ("a share of 0", "format", {"shares": [0, 1]}),
        ("a share of 1,000,001", "format", {"shares": [1, 1_000_001]}),
        ("a share of a half", "format", {"shares": [0.5, 1]}),
        ("another version", "format", {"version": 2}),
        ("more fields", "format", {"domain": {}}),
        ("no epsilon", "format", {"epsilon": None}),
        ("parts in parts", "format", {"parts": [good, good["parts"][0]]}),
        ("a part that is no design", "format", {"parts": [good["parts"][0], None]}),
        ("more epsilon than the task", "privacy", {"epsilon": 1.5}),
        ("a part with more epsilon", "privacy", {"epsilon": 0.9}),
    ):
        yield f"a design of parts: {what}", kind, second(design=good | changes, questions=two)
    yield "one text for two parts", "format", second(design=good, questions=two[:1])
    yield "two questions of one name", "format", second(design=good, questions=[two[0], two[0]])
    bad = dealt("grr", "grr")
    bad["parts"][1] = bad["parts"][1] | {"kernel": bad["parts"][1]["kernel"] | {"keep": "13485650502877570763"}}
    yield "the second part leaks", "privacy", second(design=bad, questions=two)


def wide(levels: int, number: int) -> Document:
    """A design whose proof looks at each two of many levels; every `number` gives another one."""
    data = [utility(4, ["0", "2"], [response(2, 0.6 + 0.0005 * i)], 0.25) for i in range(levels)]
    data[0]["plain"] = str(int(data[0]["plain"]) - number)
    params = {
        "levels": [0.5 + 0.01 * i for i in range(levels)],
        "base": "grr",
        "level_epsilon": 0.5,
        "level_report": "response",
        "g": None,
        "sensitive": [0, 2],
        "disclosure": "common",
    }
    own = kernel("personal", data=data, level=[response(levels, 1.3 / (levels + 0.3))])
    return design_of("upldp", 1.0, 4, params, own)


def too_much() -> Iterator[tuple[str, str, Document]]:
    """Documents that are more work than a device takes part in."""
    designs = [wide(16, i) for i in range(20)]
    parts = {"mechanism": "dealt", "version": 1, "epsilon": 1, "shares": [1] * 20, "parts": designs}
    yield "20 proofs of 16 levels", "format", second(design=parts, questions=[[asks(f"q{i}")] for i in range(20)])


def wrong_second() -> Iterator[tuple[str, str, bytes]]:
    """What is wrong, the kind of the error, and the bytes."""
    plain = second()
    for name in plain:
        if name not in ("id", "signature"):
            yield f"2: no {name}", "format", compact(signed({n: part for n, part in plain.items() if n != name}))
    for name, values in FIELDS.items():
        for value in values:
            yield f"2: {name} is {str(value)[-80:]}", "format", compact(signed(plain | {name: value}))
    for name in ("name", "text", "none"):
        made = {n: part for n, part in asks().items() if n != name}
        yield f"2: no {name} of a question", "format", compact(second(questions=[[made]]))
    for name, values in QUESTION_FIELDS.items():
        for value in values:
            made = asks() | {name: value}
            yield f"2: {name} of a question is {value!r}"[:100], "format", compact(second(questions=[[made]]))
    for what, kind, document in (*nothing_to_say(), *of_parts(), *too_much(), *wrongly_shown()):
        yield f"2: {what}", kind, compact(document)
    good = DESIGNS["grr"]["design"]
    leaks = good | {"kernel": good["kernel"] | {"keep": "13485650502877570763"}}
    yield "2: leaks by one unit of 2^-64", "privacy", compact(second(design=leaks))
    yield "2: a design promises more than the task", "privacy", compact(second(epsilon=0.9))
    yield from ((f"2: {what}", kind, content) for what, kind, content in hostile_bytes(compact(plain)))
    yield from forged()


def forged() -> Iterator[tuple[str, str, bytes]]:
    """Tasks whose id or signature is not theirs."""
    plain = second()
    r, s = plain["signature"][:64], int.from_bytes(bytes.fromhex(plain["signature"][64:]), "little")
    neutral = (1).to_bytes(32, "little").hex()
    weak = {"name": "x", "key": neutral}
    for what, change in {
        "id of another task": {"id": second(min_batch=101)["id"]},
        "id in capitals": {"id": plain["id"].upper()},
        "no id": {"id": None},
        "signature of another task": {"signature": second(min_batch=101)["signature"]},
        "signature of another key": {"signature": signed(plain, OTHER)["signature"]},
        "signature of zeros": {"signature": "0" * 128},
        "signature in capitals": {"signature": plain["signature"].upper()},
        "signature too short": {"signature": plain["signature"][:-2]},
        "signature is nothing": {"signature": None},
        "S is not below the order": {"signature": r + (s + _ORDER).to_bytes(32, "little").hex()},
        "S is another": {"signature": r + (s ^ 1).to_bytes(32, "little").hex()},
    }.items():
        yield f"2: {what}", "format", compact(plain | change)
    base = "58" + "66" * 31
    one = (1).to_bytes(32, "little").hex()
    yield "2: a key of small order", "format", compact(signed(plain | {"collector": weak}) | {"signature": base + one})
    yield "2: altered text", "format", compact(plain).replace(b"q?", b"Q?")
    yield "2: altered budget", "format", compact(plain).replace(b'"budget":2', b'"budget":3')
    first = {name: plain[name] for name in plain if name != "signature"}
    yield "2: without a signature", "format", compact(first)


DAYS2 = ("2026-11-15", "2026-11-16", "2026-11-22", "2026-11-23", "2026-11-29", "2026-11-30", "2026-12-01")


def days_of(document: Document, days: Sequence[str]) -> Iterator[Case]:
    """The window of each day, or the kind of the error."""
    read = Task.load(document)
    for day in days:
        try:
            yield {"today": day, "window": read.window(date.fromisoformat(day))}
        except DeniableError as error:
            yield {"today": day, "error": kind_of(error)}


def tasks_vectors() -> Case:
    """Tasks that are read, those that are refused, and days on which one is open."""
    from together_cases import good_together, joint_cases, wrong_together  # they are made of what is above

    good = []
    for what, document in (good_tasks() | good_second() | good_together()).items():
        read = Task.load(compact(document))
        design = DESIGNS.get(what.removeprefix("2: "), {})
        urr = DESIGNS["urr"] if read.questions[0].design == DESIGNS["urr"]["design"] else {}
        case = {"about": what, "harmless": (design or urr).get("harmless"), "width": read.width}
        places = {"question_at": read.question_at, "strata_at": read.strata_at, "expires": str(read.expires)}
        good.append(case | places | {"questions": [each.key for each in read.questions], "task": document})
    bad = [{"about": what, "error": kind} | data(content) for what, kind, content in (*wrong_tasks(), *wrong_second())]
    bad += [{"about": f"2: {what}", "error": kind} | data(compact(made)) for what, kind, made in wrong_together()]
    return {
        "about": "good: width of a body, where it has the numbers of question and strata, the first day when nothing"
        " is sent any more, keys of the questions; spellings, days and days2: one more task, and its windows;"
        " cases: bytes (as text, or in base64) and the kind of error; joint: answers to questions that are asked"
        " together, and the number that they have, or null",
        "good": good,
        "spellings": [{"about": what} | data(content) for what, content in spellings().items()],
        "days": {"task": task(), "cases": list(days_of(task(), DAYS))},
        "days2": {"task": second(), "cases": list(days_of(second(), DAYS2))},
        "cases": bad,
        "joint": joint_cases(),
    }
