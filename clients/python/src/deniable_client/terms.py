"""What a task says, in sentences for a person who decides whether to take part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from deniable_client.telling import say
from deniable_client.texts import printable, quoted

if TYPE_CHECKING:
    from deniable_client.task import Task

__all__ = ["terms_of"]


def terms_of(task: Task) -> tuple[str, ...]:
    """One line each, safe to print."""
    lines = [*_who(task), *_questions(task), *_sent(task), *_course(task), *_use(task)]
    return tuple(map(printable, lines))


def _who(task: Task) -> Iterator[str]:
    yield say("asks", collector=task.collector) if task.collector else say("asks_unnamed")
    if task.key is None:
        yield say("old")
    else:
        yield say("key" if task.url is None else "key_url", key=task.key[:16], url=task.url)
    if task.purpose is not None:
        yield say("purpose", text=quoted(task.purpose))


def _questions(task: Task) -> Iterator[str]:
    if task.several:
        yield say("drawn", count=len(task.questions))
    for question in task.questions:
        for one in question.together:
            yield say("question", text=quoted(one.text))
            yield say("numbered", answers=_numbered(one.labels))
        yield (
            say("together", count=len(question.together))
            if question.together
            else say("question", text=quoted(question.text))
        )
        yield from question.explanation.over(_windows(task)).text.splitlines()
        if question.labels and question.explanation.design.domain.labels is None:
            yield say("numbered", answers=_numbered(question.labels))
        if task.version > 1:
            yield say("none", answer=_named(question.none))
    for name, values in task.strata.items():
        yield say("openly", name=name, values=", ".join(values))


def _numbered(labels: Sequence[str]) -> str:
    return ", ".join(say("numbered_one", number=number, label=label) for number, label in enumerate(labels))


def _named(none: object) -> str:
    return say("none_pairs") if none == [] else say("none_random") if none is None else _written(none)


def _written(part: object) -> str:
    """A value as all clients write it."""
    if isinstance(part, list):
        return f"[{', '.join(map(_written, part))}]"
    return quoted(part) if isinstance(part, str) else repr(part)


def _sent(task: Task) -> Iterator[str]:
    yield say("hidden")
    tries, days = say("tries", count=task.attempts), say("days", count=task.send_days)
    yield say("sent", tries=tries, days=days, expires=task.expires)


def _course(task: Task) -> Iterator[str]:
    first, last, days = task.opens, task.closes - timedelta(1), say("days", count=task.days)
    asked = say("asked", count=task.count, days=days, first=first, last=last)
    windows = _windows(task)
    yield say("asked_first", asked=asked) if windows < task.count else asked
    epsilon, total = f"{task.epsilon:.12g}", f"{task.epsilon * windows:.12g}"
    yield say("costs", count=windows, epsilon=epsilon, total=total)
    if task.version > 1:
        yield say("year", most=f"{task.most:.12g}")


def _windows(task: Task) -> int:
    """How many reports are drawn: one, or one in each window."""
    return 1 if task.memory == "first" else task.count


def _use(task: Task) -> Iterator[str]:
    yield say(f"kept_{task.keep}", batch=task.min_batch, days=task.keep_days)
    if task.results == "public":
        yield say("results_public")
