"""What a task says, in sentences for a person who decides whether to take part."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from deniable_client.texts import printable, quoted

if TYPE_CHECKING:
    from deniable_client.task import Task

__all__ = ["terms_of"]


def terms_of(task: Task) -> tuple[str, ...]:
    """One line each, safe to print."""
    lines = [*_who(task), *_questions(task), *_sent(task), *_course(task), *_use(task)]
    return tuple(map(printable, lines))


def _who(task: Task) -> Iterator[str]:
    yield f"{task.collector} asks." if task.collector else "The collector does not say who it is."
    if task.version == 1:
        yield (
            "This is an old task (version 1): nobody signed it, and it has no answer for no answer. "
            "If you give none, a random answer is reported."
        )
    elif task.url is None:
        yield f"Its key is {task.key[:16] if task.key else ''}..; no address vouches for it."
    else:
        yield f"Its key is {task.key[:16] if task.key else ''}..; reports go to {task.url} and nowhere else."


def _questions(task: Task) -> Iterator[str]:
    if task.several:
        yield f"One of {len(task.questions)} questions is drawn for you; only that one is answered."
    for question in task.questions:
        yield f"The collector asks: {quoted(question.text)}"
        yield from question.explanation.over(_windows(task)).text.splitlines()
        if question.labels and question.explanation.design.domain.labels is None:
            named = (f"{number} is {label}" for number, label in enumerate(question.labels))
            yield f"Answers by number: {', '.join(named)}."
        if task.version > 1:
            yield f"No answer, or one that the question does not have, counts as {_named(question.none)}."
    for name, values in task.strata.items():
        yield f"Sent openly with your report: {name}, one of {', '.join(values)}."


def _named(none: object) -> str:
    return "no pairs at all" if none == [] else "a random one" if none is None else _written(none)


def _written(part: object) -> str:
    """A value as all clients write it."""
    if isinstance(part, list):
        return f"[{', '.join(map(_written, part))}]"
    return quoted(part) if isinstance(part, str) else repr(part)


def _sent(task: Task) -> Iterator[str]:
    yield "That you take part is not hidden. Once you do, a report is sent, whatever you answer and if you do not."
    tries = "once" if task.attempts == 1 else f"at most {task.attempts} times"
    days = "a day" if task.send_days == 1 else f"{task.send_days} days"
    yield f"A report is tried to be delivered {tries} within {days}; from {task.expires} on nothing is sent any more."


def _course(task: Task) -> Iterator[str]:
    until = f"{task.opens} to {task.closes - timedelta(1)}"
    days = "a day" if task.days == 1 else f"{task.days} days"
    often = "once" if task.count == 1 else f"once in each of {task.count} windows of {days}"
    windows = _windows(task)
    first = " The first answer is sent, and no other." if windows < task.count else ""
    yield f"Asked {often}, {until}.{first}"
    cost = f"A report costs epsilon {task.epsilon:.12g}, whether or not you answered"
    yield cost + (f"; {windows} of them, {task.epsilon * windows:.12g} in all." if windows > 1 else ".")
    if task.version > 1:
        yield f"This collector asks at most epsilon {task.most:.12g} of you in a year, with all its tasks."


def _windows(task: Task) -> int:
    """How many reports are drawn: one, or one in each window."""
    return 1 if task.memory == "first" else task.count


def _use(task: Task) -> Iterator[str]:
    kept = f"Reports are kept for {task.keep_days} days after the last window."
    yield f"Results are published for at least {task.min_batch} reports. " + (
        "Reports are erased once they are counted." if task.keep == "tally" else kept
    )
