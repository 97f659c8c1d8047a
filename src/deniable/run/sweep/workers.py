"""Jobs of a sweep on several processes, which know nothing of the script that started them.

    python -m deniable.run.sweep.workers

reads jobs from its standard input and writes what they gave to its output: 8 bytes of length, then a pickle, as one
process of a program says it to another. It ends when its input does.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, BinaryIO

from deniable.errors import DeniableError
from deniable.kernels.parallel import threads
from deniable.run.questions import QUESTIONS, Question
from deniable.run.sweep.cells import Job, measured

__all__ = ["done", "usual"]

_HEAD = 8
_SMALL = 2_000_000
"""Studies of fewer reports are over before another process has started."""


def usual(reports: int) -> int:
    """How many processes work unless told otherwise."""
    return 1 if reports <= _SMALL else threads()


def done(jobs: Sequence[Job], asked: Question, workers: int) -> Iterator[tuple[int, Any]]:
    """What the jobs gave, by their numbers, in whatever order they end. Errors are raised as they come."""
    sent = [_pickled((asked.name, job)) if workers > 1 else None for job in jobs]
    here = [i for i, text in enumerate(sent) if text is None]
    away = [i for i, text in enumerate(sent) if text is not None]
    yield from _away(away, sent, jobs, asked, min(workers, len(away)))
    for i in here:
        yield i, measured(jobs[i], asked)


def _pickled(what: Any) -> bytes | None:
    """Bytes for another process; None for what only this one knows: functions, and classes of a script."""
    try:
        found = pickle.dumps(what)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return None if b"__main__" in found else found


def _away(
    away: Sequence[int], sent: Sequence[bytes | None], jobs: Sequence[Job], asked: Question, count: int
) -> Iterator[tuple[int, Any]]:
    if not away:
        return
    crew = _Crew()
    try:
        with ThreadPoolExecutor(count) as pool:
            try:
                todo: dict[Future[Any], int] = {pool.submit(crew.ask, sent[i]): i for i in away}
                while todo:
                    for future in wait(todo, return_when=FIRST_COMPLETED).done:
                        i = todo.pop(future)
                        found = future.result()
                        yield i, measured(jobs[i], asked) if found is None else found
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                crew.stop()
                raise
    finally:
        crew.stop()


class _Crew:
    """A process for each thread that asks."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []

    def ask(self, job: bytes | None) -> Any:
        """What a job gave; None where the other process does not know what it is about."""
        assert job is not None
        if not hasattr(self._own, "process"):
            env = {**os.environ, "DENIABLE_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            paths = [path for path in sys.path if path]
            env["PYTHONPATH"] = os.pathsep.join(paths)
            command = [sys.executable, "-m", "deniable.run.sweep.workers"]
            self._own.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
            self._all.append(self._own.process)
        process = self._own.process
        _put(process.stdin, job)
        answer = _take(process.stdout)
        if answer is None:
            raise RuntimeError(f"a process of the study ended with {process.wait()}; what is done is kept.")
        kind, found = pickle.loads(answer)  # from a process that this one started
        if kind == "error":
            raise found
        return found if kind == "found" else None

    def stop(self) -> None:
        """End the processes: what they have not told by now is not wanted."""
        for process in self._all:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        self._all.clear()


def _put(stream: BinaryIO, data: bytes) -> None:
    stream.write(len(data).to_bytes(_HEAD, "big") + data)
    stream.flush()


def _take(stream: BinaryIO) -> bytes | None:
    head = stream.read(_HEAD)
    if len(head) < _HEAD:
        return None
    size = int.from_bytes(head, "big")
    found = stream.read(size)
    return found if len(found) == size else None


def _answered(data: bytes) -> tuple[str, Any]:
    """What a job gives: `found`, an `error` of ours, or `unknown` for what this process cannot read."""
    try:
        name, job = pickle.loads(data)  # from the process that started this one
    except (pickle.UnpicklingError, ImportError, AttributeError):
        return "unknown", None
    try:
        return "found", measured(job, QUESTIONS[name])
    except DeniableError as error:
        return "error", error


def main() -> None:
    """Work until the input ends."""
    source, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else writes to the output must not stand between answers
    while (data := _take(source)) is not None:
        _put(answers, pickle.dumps(_answered(data)))


if __name__ == "__main__":
    main()
