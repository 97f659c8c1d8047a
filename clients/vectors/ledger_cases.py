"""What ledgers derive from a secret, and what they do one step after the other, for `ledger.json`."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from signed_cases import COUNTRY, OTHER, SURVEY2, TENTH, about, asks, good_second, public, second, signed
from task_cases import SURVEY, good_tasks, kind_of, task  # beside this file

from deniable_client.errors import DeniableError
from deniable_client.ledger import Ledger
from deniable_client.ledger.memory import Derived
from deniable_client.task import Task
from deniable_client.words import Words

Case = dict[str, Any]
SECRET = bytes(range(32))


class Recorded:
    """Words as they come, remembered."""

    bits = 64

    def __init__(self, words: Words) -> None:
        self._words = words
        self.used: list[str] = []

    def word(self) -> int:
        """The next word."""
        word = self._words.word()
        self.used.append(f"{word:016x}")
        return word


VALUES: dict[str, list[Any]] = {
    "kv-ss2": [[[0, 1]], [[1, -0.25]]],
    "kv-olh": [[[0, 1]], [[1, -0.25]]],
    "privkv": [[[0, 1]], [[1, -0.25]]],
    "a grid": [0.2, 0.7],
    "codes": [0.1, 0.9],
    "places": ["a", "b"],
    "labels": ["a", "c"],
    "several": [["c", "a"], []],
    "several, any number": [[0, 1, 3], ["0"]],
}


def derivations() -> Iterator[Case]:
    """What a secret gives for a question and an answer, step by step."""
    source, window = Derived(SECRET), 2
    for what, document in (good_tasks() | good_second()).items():
        read, name = Task.load(document), what.removeprefix("2: ")
        for asked in read.questions:
            device = asked.device(asked.explanation.harmless or None)
            for value in VALUES.get(name, [0, 1]):
                answer = device.known(asked.value(value))
                level = len(device.levels) - 1 if device.levels else None
                if answer is None:
                    answer = asked.nothing(device, source.nothing_words(read.id, window))
                content = {"question": asked.key, "answer": answer, "level": level, "round": (read.id, window)}
                words = Recorded(source.report_words(asked.key, answer, level, read.id, window))
                report = device.randomise(answer, words, level=None if level is None else device.levels[level])
                strata = {name: values[-1] for name, values in read.strata.items()}
                yield {
                    "task": what,
                    "question": asked.name,
                    "value": value,
                    "answer": answer,
                    "level": level,
                    "window": window,
                    "question_key": asked.key,
                    "report_key": source.digest("report", content).hex(),
                    "words": words.used,
                    "report": report.hex(),
                    "strata": strata,
                    "body": read.body(asked, report, strata).hex(),
                    "id": source.report_id(read.id, window),
                }


def deals() -> Iterator[Case]:
    """The question that each of some secrets deals, in tasks of both versions."""
    first, then = Task.load(SURVEY), Task.load(SURVEY2)
    for i in range(24):
        source = Derived(bytes([i]) * 32)
        dealt = [read.deal(source.deal_words(read.id)).name for read in (first, then)]
        yield {"secret": (bytes([i]) * 32).hex(), "question": dealt[0], "question2": dealt[1]}


VALUES_OF_ALL_KINDS: list[Any] = [2, -1, "0", None, 0.5, True, [0], {}, 1e300, "", [[0, 1]], False, {"a": [None]}]


def daily(count: int) -> Case:
    """So many windows of a day."""
    return {"opens": "2026-11-16", "days": 1, "count": count}


def other(**changes: Any) -> Case:
    """A task of another collector."""
    collector = {"name": "Another Institute", "key": public(OTHER)}
    return signed({**second(**changes), "collector": collector} | changes, OTHER)


UNSIGNED = {"collector": {"name": "Example Institute", "key": public()}}
LEDGER_TASKS = {
    "one": second(window=daily(1), budget=2),
    "two": second(window=daily(2)),
    "weekly": second(),
    "large": second(window=daily(3), budget=3),
    "tenths": second(epsilon=0.1, design=TENTH, window=daily(3), budget=0.3),
    "modest": second(window=daily(1), budget=1, min_batch=101, questions=[[asks("modest")]]),
    "again": second(window=daily(1), min_batch=102),
    "reworded": second(window=daily(1), questions=[[asks(text="Really?")]]),
    "third": second(window=daily(1), questions=[[asks(text="And now?")]]),
    "later": second(window={"opens": "2027-11-17", "days": 1, "count": 1}),
    "other": other(window=daily(1)),
    "other, later": other(window={"opens": "2027-02-20", "days": 1, "count": 1}),
    "no address": second(window=daily(1), questions=[[asks(text="Where?")]], **UNSIGNED),
    "survey": SURVEY2,
    "strata": second(strata=[COUNTRY]),
    "levels": about("pldp"),
    "discloses": about("urr"),
    "pairs": about("kv-ss2", window=daily(2)),
    "grid": about("a grid"),
    "codes": about("codes"),
    "labels": second(questions=[[asks(labels=["never", "sometimes"], none="never")]]),
    "other label": about("labels"),
    "random": second(questions=[[asks(none=None)]]),
    "random pairs": about("privkv", questions=[[asks(none=None)]]),
    "random and protected": about("urr", questions=[[asks(none=None)]]),
    "1: fresh": task(memory="fresh", window=daily(2), budget={"task": 2, "subject": 9, "lifetime": 9}),
    "1: fresh, too many": task(memory="fresh", window=daily(3), budget={"task": 2, "subject": 9, "lifetime": 9}),
    "1: remembered": task(window=daily(2)),
    "1: remembered once": task(window=daily(1)),
    "1: first": task(memory="first", window=daily(5)),
    "1: mute": task(
        memory="fresh",
        window=daily(1),
        epsilon=0.1,
        questions=[{"name": "q", "text": "q?", "design": TENTH, "share": 1}],
        budget={"task": 0.1, "subject": 0.1, "lifetime": 0.1},
    ),
}


def step(name: str, value: Any, today: str = "2026-11-16", **options: Any) -> Case:
    """One answer."""
    return {"do": "answer", "task": name, "value": value, "today": today} | options


def take(name: str, today: str = "2026-11-16", **options: Any) -> Case:
    """Taking part, without an answer yet."""
    return {"do": "take", "task": name, "today": today} | options


def forget(name: str, today: str = "2026-11-16") -> Case:
    """Withdrawing from a task."""
    return {"do": "forget", "task": name, "today": today}


def allow(today: str = "2026-11-16", **options: Any) -> Case:
    """What the person allows: places, or epsilon for the collector of a task."""
    return {"do": "allow", "today": today} | options


FR = {"country": "FR", "phone": "yes"}
SEQUENCES: dict[str, tuple[Case, list[Case]]] = {
    "another answer takes the place of the first, at no cost": (
        {},
        [take("weekly"), step("weekly", 1), step("weekly", 0, "2026-11-22"), take("weekly")],
    ),
    "every window costs once": ({}, [step("two", 1, day) for day in ("2026-11-16", "2026-11-16", "2026-11-17")]),
    "windows are reserved as a whole": ({}, [take("large"), take("two"), take("reworded"), take("one")]),
    "what was missed does not stay reserved": (
        {"collector": 9},
        [*(take("large", f"2026-11-{day}") for day in (16, 18)), take("third", "2026-11-16")],
    ),
    "what is left of a task that began": ({}, [take("large", "2026-11-17")]),
    "the same question at the same time": ({}, [take("one"), take("again"), take("reworded"), take("third")]),
    "tenths add up exactly": ({"collector": 0.3}, [take("tenths"), take("one")]),
    "a tenth too much": ({"collector": 0.29}, [take("tenths")]),
    "a collector's budget is its own": ({}, [take("modest"), take("reworded"), take("other")]),
    "nobody mutes another": ({"places": 9}, [take("1: mute"), take("one"), take("other"), take("1: fresh")]),
    "places are given once": (
        {"places": 1},
        [take("one"), take("other"), take("reworded"), take("other, later", "2027-02-20")],
    ),
    "a year later there is another place": (
        {"places": 1},
        [take("one"), take("reworded"), take("third"), take("later", "2027-11-17")],
    ),
    "more places": ({"places": 0}, [take("one"), allow(places=1), take("one"), take("other")]),
    "more for one collector": (
        {},
        [take("large"), allow(task="large", epsilon=1), take("large"), take("other"), take("reworded")],
    ),
    "what cannot be allowed": (
        {"places": 0},
        [
            allow(epsilon=1),
            allow(task="large"),
            *(allow(places=places) for places in (-1, 1001, 0.5)),
            *(allow(task="large", epsilon=epsilon) for epsilon in (-1, 1000.5)),
            allow(places=1000),
            allow(task="large", epsilon=1000),
            allow(),
        ],
    ),
    "no limits at all": ({"collector": 0}, [take("one")]),
    "withdrawn": (
        {},
        [take("two"), forget("two"), take("two"), take("reworded"), take("two", "2026-11-17"), forget("other")],
    ),
    "addresses": (
        {},
        [
            take("one", url="https://other.example"),
            take("one", url="https://collect.example.org/"),
            take("no address", url="https://other.example"),
            step("no address", 1, url="https://collect.example.org"),
            step("no address", 1, url="https://other.example"),
            take("third", url="http://other.example"),
        ],
    ),
    "a survey: one question": (
        {},
        [
            step("survey", 0, question="second", strata=FR, dealt="first"),
            step("survey", 0, question="second", strata=FR),
            step("survey", 0, question="fourth", strata=FR),
            step("survey", 0, dealt="second", strata=FR),
            step("survey", 0, question="first", strata=FR),
            step("survey", 0, "2026-11-23", strata={"country": "DE"}),
            step("survey", 1, "2026-11-23"),
        ],
    ),
    "a survey: the device deals": ({}, [step("survey", 0)]),
    "strata": (
        {},
        [
            step("strata", 0, strata={"country": "IT"}),
            step("strata", 0, strata={"country": "DE", "phone": "yes"}),
            step("strata", 0),
            step("strata", 0, strata={"country": "not told"}),
            step("strata", 0, strata={"country": "FR"}),
            step("strata", 1),
            step("weekly", 0, strata={"country": "FR"}),
        ],
    ),
    "levels": (
        {},
        [
            step("levels", 0, level=7),
            step("levels", 0),
            step("levels", 0, level=1.0),
            step("levels", 0, "2026-11-23"),
            step("weekly", 0, level=1.0),
        ],
    ),
    "consent": (
        {},
        [
            step("discloses", 0),
            step("discloses", 0, harmless=[2]),
            step("discloses", 0, harmless=[1, 2, 3]),
            take("discloses", harmless=[2, 3]),
            step("discloses", 3),
            step("discloses", 9),
            step("weekly", 0, harmless=[0]),
        ],
    ),
    "pairs": (
        {},
        [
            step("pairs", value)
            for value in (
                [[0, 1], [1, -0.5]],
                [[1, -0.5], [0, 1]],
                [[0, 1], [7, 0.5]],
                [[0, 1], [1, 9]],
                [[7, 1]],
                [[0, 1], [0, -0.5]],
                [],
                "x",
                [0],
                [[0, None], [1, 0.5]],
                None,
            )
        ],
    ),
    "labels of the task": (
        {},
        [step("labels", "often"), step("labels", "sometimes"), step("labels", 1), step("labels", 0)],
    ),
    "labels with others": ({}, [step("other label", value) for value in ("a", "b", "c", "", None, 0)]),
    "a random answer for none": (
        {"places": 9},
        [
            *(step("random", value) for value in (1, 7, None, "x")),
            step("random and protected", 7, "2026-11-23", harmless=[2, 3]),
        ],
    ),
    "random pairs for none": ({}, [step("random pairs", value) for value in ([[0, 1]], [], [[7, 1]], None)]),
    "values that are no answers": ({}, [step("weekly", value) for value in VALUES_OF_ALL_KINDS]),
    "numbers outside": ({}, [step("grid", value) for value in (0, 0.7, 1, 1.1, -1, "0.7", None, 1e300, True)]),
    "numbers that are clipped": ({}, [step("codes", value) for value in (0.1, 7, -7, "x", None, 1e308)]),
    "not open, and void": ({}, [take("weekly", f"2026-{day}") for day in ("11-15", "11-29", "11-30", "12-01")]),
    "the first fault is told": (
        {"places": 0},
        [
            step("survey", 9, "2026-11-15", question="second", dealt="first"),
            step("survey", 9, question="second", dealt="first"),
            step("discloses", 9, harmless=[0]),
            step("discloses", 9, harmless=[2, 3], level=1),
            step("discloses", 9, harmless=[2, 3], url="https://other.example"),
            step("discloses", 9, harmless=[2, 3]),
        ],
    ),
    "version 1: fresh": (
        {},
        [step("1: fresh", 1), step("1: fresh", 0), step("1: fresh", "x"), step("1: fresh", 1, "2026-11-17")],
    ),
    "version 1: not enough for all windows": ({}, [step("1: fresh, too many", 1)]),
    "version 1: remembered": ({}, [step("1: remembered", 1), step("1: remembered once", 1)]),
    "version 1: first": (
        {},
        [step("1: first", 1, "2026-11-17"), step("1: first", 0, "2026-11-17"), take("1: first", "2026-11-18")],
    ),
}


def body_of(path: Path, name: str) -> str:
    """The body of a report that waits, as the file has it."""
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("SELECT hex(body) FROM report WHERE id = ?", (name,)).fetchone()[0]).lower()


def run(limits: Case, steps: list[Case], folder: str) -> Iterator[Case]:
    """The steps with their outcomes."""
    now, path = [NOON], Path(folder) / "ledger"
    ledger = Ledger(path, secret=SECRET, clock=lambda: now[0], **limits)
    for given in steps:
        now[0] = datetime.fromisoformat(given["today"]).replace(tzinfo=UTC).timestamp() + 43_200
        options = {name: part for name, part in given.items() if name not in ("do", "task", "value", "today")}
        read = Task.load(LEDGER_TASKS[given["task"]]) if "task" in given else None
        outcome: Case = {}
        try:
            if given["do"] == "allow":
                ledger.allow(task=read, **options)
            elif given["do"] == "forget":
                ledger.forget(read)
            else:
                assert read is not None
                answer = [given["value"]] if given["do"] == "answer" else []
                got = getattr(ledger, given["do"])(read, *answer, **options)
                outcome = {"receipt": asdict(got), "body": body_of(path, got.id)}
        except DeniableError as error:
            outcome = {"error": kind_of(error)}
        left = ledger.overview()
        places = [[place["spent"], place["reserved"], place["left"]] for place in left["places"]]
        yield given | outcome | {"spent": left["left"]["spent"], "accounts": places, "free": left["left"]["places"]}


NOON = datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()


def ledger_vectors() -> Case:
    """What is derived from a secret, and what ledgers do one step after the other."""
    sequences = []
    for what, (limits, steps) in SEQUENCES.items():
        with tempfile.TemporaryDirectory() as folder:
            sequences.append({"about": what, "limits": limits, "steps": list(run(limits, steps, folder))})
    return {
        "about": "derived: tasks are those of tasks.json; sequences: a ledger with this secret and these limits that is"
        " made at noon of 2026-11-16, each step at noon of its day; either a receipt and the body that waits, or the"
        " kind of error; then what was spent in all, [spent, reserved, left] of each place, and places that are free",
        "secret": SECRET.hex(),
        "derived": list(derivations()),
        "deals": {"task": SURVEY, "task2": SURVEY2, "cases": list(deals())},
        "tasks": LEDGER_TASKS,
        "sequences": sequences,
    }
