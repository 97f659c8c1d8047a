"""The command line: `deniable COMMAND`. Commands parse, call one function of `run`, and print through one helper."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # as type checkers read it: `typing` takes as long as all else before Control-C is minded
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["main"]

INTERRUPTED = 130
"""Exit code as shells give it for the signal that this is."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Control-C ends it with one line at any moment."""
    if argv is None:
        _start_light()
    code = INTERRUPTED
    with suppress(KeyboardInterrupt):
        with _stopping_at_once():
            from deniable.cli.app import run
        code = run(list(sys.argv[1:] if argv is None else argv))
    if code == INTERRUPTED:
        _say_interrupted()
    return code


def _start_light() -> None:
    """A command that ends soon need not look for garbage in what it loads, nor start threads for linear algebra."""
    gc.set_threshold(100_000)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextmanager
def _stopping_at_once() -> Iterator[None]:
    """While modules are loaded nothing is half-done: an interruption need not wait for one that swallows it."""
    ours = threading.current_thread() is threading.main_thread()
    usual = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(_: int, __: FrameType | None) -> None:
    _say_interrupted()
    os._exit(INTERRUPTED)


def _say_interrupted() -> None:
    sys.stderr.write("interrupted; nothing half-done was left behind.\n")
    sys.stderr.flush()
