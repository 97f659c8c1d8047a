"""Pictures drawn in a process of their own: if the renderer fails, hangs or grows, that process ends and no other.

The process is started when a picture is first asked for and used again for the next ones. It has none of our sockets
and files, and of our environment only what Python needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Lock, Timer

from deniable.present.renderer import DrawingError, drawn, request

__all__ = ["Renderer"]

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "FONTCONFIG_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
"""What the process sees of the environment: no address and no password of a database."""
_PICTURES = 500
"""After so many a new process takes over, and whatever the old one gathered is gone."""


class Renderer:
    """One process that draws, one picture at a time: drawing uses all of a core. All calls may come from any thread."""

    def __init__(self, seconds: float = 20.0) -> None:
        """`seconds`: how long a picture may take, and how long one may wait for its turn."""
        self._seconds, self._turn = seconds, Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        return None if self._process is None else self._process.pid

    def draw(self, spec: bytes, kind: str) -> bytes:
        """The picture of a chart in Vega-Lite; `DrawingError` if there is none."""
        if not self._turn.acquire(timeout=self._seconds):
            raise DrawingError("too many pictures are being drawn.", "Try again later.")
        try:
            return self._draw(spec, kind)
        finally:
            self._turn.release()

    def _draw(self, spec: bytes, kind: str) -> bytes:
        process = self._ready()
        assert process.stdin is not None
        assert process.stdout is not None
        late = Timer(self._seconds, process.kill)
        late.start()
        try:
            process.stdin.write(request(spec, kind))
            process.stdin.flush()
            found = drawn(process.stdout)  # type: ignore[arg-type]  # a pipe that is read as bytes
        except OSError:
            found = None
        finally:
            late.cancel()
        if found is None:
            self._end()
        if not found:
            raise DrawingError("this picture cannot be drawn.", "The table has the same numbers.")
        self._made += 1
        return found

    def _ready(self) -> subprocess.Popen[bytes]:
        """The process; a new one if there is none, if it ended, or if it has done enough."""
        if self._process is not None and (self._process.poll() is not None or self._made >= _PICTURES):
            self._end()
        if self._process is None:
            self._made = 0
            self._process = subprocess.Popen(
                [sys.executable, "-m", "deniable.present.renderer"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                close_fds=True,
                start_new_session=True,
                env=_environment(),
            )
        return self._process

    def _end(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.communicate()

    def close(self) -> None:
        """End the process, also in the middle of a picture."""
        process = self._process
        if process is not None:
            process.kill()  # whoever waits for a picture is told at once
        with self._turn:
            self._end()


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
