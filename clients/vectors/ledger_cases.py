"""What ledgers derive from a secret, and what they spend on one answer after the other, for `ledger.json`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from task_cases import (  # beside this file
    COUNTRY,
    DAYS,
    DESIGNS,
    SURVEY,
    good_tasks,
    kind_of,
    of_design,
    question,
    task,
)

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
}


def derivations() -> Iterator[Case]:
    """What a secret gives for a question and an answer, step by step."""
    source = Derived(SECRET)
    for about, document in good_tasks().items():
        read = Task.load(document)
        for asked in read.questions:
            device = asked.device(DESIGNS.get(about, {}).get("harmless"))
            for value in VALUES.get(about, [0, 1]):
                answer, window = device.answer(asked.value(value)), 2
                level = len(device.levels) - 1 if device.levels else None
                fresh = (read.id, window) if read.memory == "fresh" else None
                content = {"question": asked.key, "answer": answer, "level": level, "round": fresh}
                words = Recorded(source.report_words(asked.key, answer, level, fresh))
                report = device.randomise(answer, words, level=None if level is None else device.levels[level])
                strata = {name: values[-1] for name, values in read.strata.items()}
                yield {
                    "task": about,
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
    """The question that each of some secrets deals."""
    read = Task.load(SURVEY)
    for i in range(24):
        secret = bytes([i]) * 32
        yield {"secret": secret.hex(), "question": read.deal(Derived(secret).deal_words(read.id)).name}


TENTHS = {"task": 0.3, "subject": 0.3, "lifetime": 0.3}
TINY = DESIGNS["grr"]["design"] | {
    "epsilon": 0.1,
    "kernel": {"kind": "response", "k": "2", "keep": "9592306918328967168"},
}
DAILY = {"opens": "2026-11-16", "days": 1, "count": 30}
LEDGER_TASKS = {
    "plain": task(),
    "fresh": task(memory="fresh", window=DAILY),
    "remembered": task(window=DAILY, budget={"task": 1, "subject": 1, "lifetime": 8}),
    "first": task(memory="first", window=DAILY),
    "tenths": task(
        memory="fresh",
        window=DAILY,
        epsilon=0.1,
        budget=TENTHS,
        questions=[question("q") | {"design": TINY}],
    ),
    "modest": task(window=DAILY, questions=[question("modest")], budget={"task": 1, "subject": 1, "lifetime": 2}),
    "generous": task(window=DAILY, questions=[question("generous")], budget={"task": 9, "subject": 9, "lifetime": 9}),
    "elsewhere": task(subject="food", window=DAILY, budget={"task": 9, "subject": 9, "lifetime": 9}),
    "again": task(window=DAILY, min_batch=101, budget={"task": 1, "subject": 1, "lifetime": 8}),
    "survey": SURVEY,
    "strata": task(strata=[COUNTRY]),
    "levels": of_design("pldp"),
    "discloses": of_design("urr"),
    "pairs": of_design("kv-ss2", window=DAILY),
    "labels": task(questions=[question("q", labels=["never", "sometimes"])]),
}


def step(name: str, value: Any, today: str = "2026-11-16", **options: Any) -> Case:
    """One answer."""
    return {"task": name, "value": value, "today": today} | options


def on(*days: int) -> list[str]:
    """Days of November 2026."""
    return [f"2026-11-{day}" for day in days]


SEQUENCES: dict[str, tuple[Case, list[Case]]] = {
    "remembered: the same answer costs once": ({}, [step("remembered", 1, day) for day in on(16, 16, 17, 18)]),
    "remembered: another answer is over the budget": (
        {},
        [step("remembered", 1), step("remembered", 0, "2026-11-17"), step("remembered", 1, "2026-11-18")],
    ),
    "remembered: the same question in another task": ({}, [step("remembered", 1), step("again", 1), step("again", 0)]),
    "another answer in one window": (
        {},
        [step("plain", 0), step("plain", 1), step("plain", 0), step("plain", 0, "2026-11-22")],
    ),
    "fresh: every window costs": ({}, [step("fresh", 1, day) for day in on(16, 16, 17, 18)]),
    "first: later answers are not looked at": (
        {},
        [step("first", 1), step("first", 0), step("first", 0, "2026-11-17"), step("first", "x", "2026-11-18")],
    ),
    "tenths add up exactly": ({}, [step("tenths", 1, day) for day in on(16, 17, 18, 19)]),
    "the device's own limit of a subject": (
        {"subject": 1},
        [step("generous", 0), step("generous", 1, "2026-11-17"), step("elsewhere", 1)],
    ),
    "the device's own limit in all": (
        {"lifetime": 2},
        [
            step("generous", 0),
            step("elsewhere", 1),
            step("elsewhere", 0, "2026-11-17"),
            step("generous", 0, "2026-11-17"),
        ],
    ),
    "a limit of nothing": ({"lifetime": 0}, [step("plain", 0)]),
    "what one task promised holds for the next": (
        {},
        [step("modest", 0), step("generous", 0), step("elsewhere", 0), step("elsewhere", 1, "2026-11-17")],
    ),
    "a survey: one question": (
        {},
        [
            step("survey", 0, question="second", strata={"country": "FR", "phone": "no"}, dealt="first"),
            step("survey", 0, question="second", strata={"country": "FR", "phone": "no"}),
            step("survey", 0, question="fourth", strata={"country": "FR", "phone": "no"}),
            step("survey", 0, dealt="second", strata={"country": "FR", "phone": "no"}),
            step("survey", 0, question="first", strata={"country": "FR", "phone": "no"}),
            step("survey", 0, "2026-11-23", strata={"country": "FR", "phone": "not said"}),
        ],
    ),
    "a survey: the device deals": ({}, [step("survey", 0, strata={"country": "DE", "phone": "yes"})]),
    "strata": (
        {},
        [
            step("strata", 0),
            step("strata", 0, strata={"country": "IT"}),
            step("strata", 0, strata={"country": "DE", "phone": "yes"}),
            step("strata", 0, strata={"country": "DE"}),
            step("strata", 0, strata={"country": "FR"}),
            step("plain", 0, strata={"country": "FR"}),
        ],
    ),
    "levels": (
        {},
        [
            step("levels", 0, level=7),
            step("levels", 0),
            step("levels", 0, level=1.0),
            step("levels", 0, "2026-11-23", level=1.0),
            step("plain", 0, level=1.0),
        ],
    ),
    "consent": (
        {},
        [
            step("discloses", 0),
            step("discloses", 0, harmless=[2]),
            step("discloses", 0, harmless=[1, 2, 3]),
            step("discloses", 0, harmless=[2, 3]),
            step("plain", 0, harmless=[0]),
        ],
    ),
    "pairs in any order": (
        {},
        [
            step("pairs", [[0, 1], [1, -0.5]]),
            step("pairs", [[1, -0.5], [0, 1]]),
            step("pairs", [[1, -0.5], [0, 1]], "2026-11-17"),
            step("pairs", [[0, 1], [0, -0.5]], "2026-11-18"),
        ],
    ),
    "labels of the task": (
        {},
        [step("labels", "often"), step("labels", "sometimes"), step("labels", 1), step("labels", 0)],
    ),
    "values that are no answers": ({}, [step("plain", value) for value in (2, -1, "0", None, 0.5, True, [0])]),
    "not open, and void": ({}, [step("plain", 0, day) for day in DAYS]),
    "the first fault is told": (
        {"lifetime": 0},
        [
            step("survey", 9, "2026-11-15", question="second", dealt="first"),
            step("survey", 9, question="second", dealt="first"),
            step("discloses", 9, harmless=[0]),
            step("discloses", 9, harmless=[2, 3]),
            step("discloses", 0, harmless=[2, 3]),
        ],
    ),
}


def run(limits: Case, steps: list[Case], folder: str) -> Iterator[Case]:
    """The steps with their outcomes."""
    now = [0.0]
    ledger = Ledger(Path(folder) / "ledger", secret=SECRET, clock=lambda: now[0], **limits)
    for given in steps:
        now[0] = datetime.fromisoformat(given["today"]).replace(tzinfo=UTC).timestamp() + 43_200
        options = {name: part for name, part in given.items() if name not in ("task", "value", "today")}
        try:
            got = ledger.answer(Task.load(LEDGER_TASKS[given["task"]]), given["value"], **options)
            told = {"question": got.question, "window": got.window, "cost": got.cost, "new": got.new, "id": got.id}
            outcome = {"receipt": told | {"body": got.body.hex()}}
        except DeniableError as error:
            outcome = {"error": kind_of(error)}
        yield given | outcome | {"spent": ledger.overview()["left"]["lifetime"]["spent"]}


def ledger_vectors() -> Case:
    """What is derived from a secret, and what ledgers do with answers one after the other."""
    sequences = []
    for about, (limits, steps) in SEQUENCES.items():
        with tempfile.TemporaryDirectory() as folder:
            sequences.append({"about": about, "limits": limits, "steps": list(run(limits, steps, folder))})
    return {
        "about": "derived: tasks are those of tasks.json; sequences: a new ledger with this secret and these limits, at"
        " noon of each day; either a receipt or the kind of error, and what was spent in all after it",
        "secret": SECRET.hex(),
        "derived": list(derivations()),
        "deals": {"task": SURVEY, "cases": list(deals())},
        "tasks": LEDGER_TASKS,
        "sequences": sequences,
    }
