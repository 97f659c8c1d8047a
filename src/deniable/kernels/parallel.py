"""All cores for large inputs: blocks of work on threads, while the loops run without the interpreter's lock.

Threads live as long as a call, so that nothing is left behind in processes that fork; they see the context variables of
their caller. DENIABLE_THREADS limits them.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, copy_context
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

from deniable.errors import require

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["ahead", "blocks", "run", "shares", "threads"]

T = TypeVar("T")
R = TypeVar("R")
_here = threading.local()
"""Says in a worker that it is one: work within work stays on its thread."""


def threads() -> int:
    """How many threads work at a time: the cores this process may use, or what DENIABLE_THREADS says.

    Within a worker it is one.
    """
    if getattr(_here, "worker", False):
        return 1
    text = os.environ.get("DENIABLE_THREADS", "")
    if text:
        require(text.isdecimal() and int(text) >= 1, "DENIABLE_THREADS", text, "an integer >= 1", "1: one thread.")
        return int(text)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blocks(n: int, size: int) -> list[slice]:
    """0..n-1 in blocks of `size`; the last one may be shorter.

    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def shares(n: int) -> list[slice]:
    """0..n-1 in as many equal blocks as there are threads (fewer if n is less)."""
    return blocks(n, max(1, -(-n // threads())))


def run(work: Callable[[T], R], jobs: Iterable[T]) -> list[R]:
    """The results of `work` for all jobs, in their order; several at a time where there are several threads."""
    todo = list(jobs)
    count = min(threads(), len(todo))
    if count <= 1:
        return [work(job) for job in todo]
    with _pool(count) as pool:
        return list(pool.map(Context.run, (copy_context() for _ in todo), repeat(work), todo))


def ahead(work: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]:
    """The results of `work`, in the order of the jobs, while the next few jobs are fetched and worked on already.

    Jobs are fetched by the caller's thread, no more of them than threads and one. An error appears at its place.
    """
    count = threads()
    if count == 1:
        yield from map(work, jobs)
        return
    todo = iter(jobs)
    waiting: deque[Future[R]] = deque()
    failure: Exception | None = None
    with _pool(count) as pool:
        while failure is None:
            try:
                waiting.append(pool.submit(copy_context().run, work, next(todo)))
            except StopIteration:
                break
            except Exception as error:
                failure = error
            if len(waiting) > count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    if failure is not None:
        raise failure


def _pool(count: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # brings logging and more, which small designs do without

    return ThreadPoolExecutor(count, initializer=lambda: setattr(_here, "worker", True))
