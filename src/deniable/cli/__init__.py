"""The command line: `deniable COMMAND`. Commands parse, call one function of `run`, and print through one helper."""

from __future__ import annotations

import os

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # typer's parser needs none; looking for them takes 0.1 s

from deniable.cli.app import main  # after the setting above

__all__ = ["main"]
