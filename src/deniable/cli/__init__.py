"""The command line: `deniable COMMAND`. Commands parse, call one function of `run`, and print through one helper."""

from __future__ import annotations

from deniable.cli.app import main

__all__ = ["main"]
