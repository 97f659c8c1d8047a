"""Answers as people type them, and the questions that a terminal asks for what is not given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deniable_client.errors import DeniableError, ParameterError
from deniable_client.task import Question, Task, printable

__all__ = ["ask_answer", "ask_consent", "ask_strata", "read_consent", "read_value"]

_LISTED_MAX = 50
"""Answers that are shown one by one."""


def read_value(question: Question, text: str) -> object:
    """What a text means as an answer: a label, a number, or pairs KEY=NUMBER."""
    if question.explanation.design.kernel.kind == "pairs":
        return [_pair(question, part) for part in text.split(",") if part.strip()]
    return _plain(question, text)


def _plain(question: Question, text: str) -> object:
    if question.labels is not None:
        return text
    return _number(text, float if question.explanation.design.domain.border is not None else int)


def _pair(question: Question, text: str) -> tuple[object, object]:
    key, sign, number = text.rpartition("=")
    if not sign:
        raise ParameterError(f"--value must be KEY=NUMBER,KEY=NUMBER, got {text!r}.")
    return _plain(question, key.strip()), _number(number, float)


def _number(text: str, kind: Callable[[str], float]) -> float:
    try:
        return kind(text)
    except ValueError as error:
        need = "a whole number" if kind is int else "a number"
        raise ParameterError(f"--value must be {need} here, got {text!r}.") from error


def read_consent(question: Question, given: Sequence[str] | None) -> list[object] | None:
    """The answers that a person agrees to disclose: labels, numbers, or LOW:HIGH for numbers of an interval."""
    if not given:
        return None
    if question.explanation.design.domain.border is None:
        return [_plain(question, text) for text in given]
    pairs = [text.partition(":") for text in given]
    return [(_number(low, float), _number(high, float)) for low, _, high in pairs]


def ask_consent(question: Question) -> Sequence[object] | None:
    """Ask whether the answers that a report may name may be named."""
    harmless = question.explanation.harmless
    if not harmless:
        return None
    told = next(line for line in question.explanation.text.splitlines() if line.startswith("Not protected"))
    print(printable(told))
    agreed = input("Do you agree to that? [y/N] ").strip().lower() in ("y", "yes")
    return harmless if agreed else None


def ask_strata(task: Task, given: Mapping[str, str]) -> dict[str, str]:
    """Ask for the strata that are not given yet."""
    missing = [name for name in task.strata if name not in given]
    return {**given, **{name: _choose(f"{name} (sent openly)", task.strata[name]) for name in missing}}


def ask_answer(question: Question) -> object:
    """Ask for the answer until it is one."""
    kind = question.explanation.design.kernel.kind
    if kind != "pairs" and question.labels is not None and len(question.labels) <= _LISTED_MAX:
        return _choose("Your answer", question.labels)
    told = "KEY=NUMBER,KEY=NUMBER" if kind == "pairs" else "a label" if question.labels else "a number"
    device = question.device(question.explanation.harmless or None)
    while True:
        try:
            value = read_value(question, input(f"Your answer ({told}): ").strip())
            device.answer(question.value(value))
        except DeniableError as error:
            print(printable(str(error)))
        else:
            return value


def _choose(what: str, listed: Sequence[str]) -> Any:
    for number, label in enumerate(listed, start=1):
        print(f"  {number}  {printable(label)}")
    while True:
        text = input(f"{what}, 1 to {len(listed)}: ").strip()
        if text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= len(listed):
            return listed[int(text) - 1]
        print(f"Please type a number from 1 to {len(listed)}.")
