"""Runs the command line within the test's process, in a folder of its own."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deniable.cli import main


class Done(NamedTuple):
    """What a command did."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def json(self) -> Any:
        """The one JSON object on standard output; anything else there is a failure."""
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsysbinary: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """`run("design", "ss", "--k", 4)`: arguments as on a command line; `stdin` is text or bytes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(*args: object, stdin: str | bytes = b"") -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = main([str(arg) for arg in args])
        found = capsysbinary.readouterr()
        return Done(code, found.out, found.err.decode())

    return call
