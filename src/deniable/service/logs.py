"""Logs: one JSON object a line on standard error, about the service and who runs it; not about reports or senders.

There is no log of uploads: the time of one is finer than the day that tasks promise. What is done with a key is logged
with the key's name (`by`); keys, tokens and what was sent are not.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Any

__all__ = ["log", "set_up"]

_LOGGER = logging.getLogger("deniable.service")


class _Lines(logging.Formatter):
    """One object a line. Of an error its type and where it was raised: its message may quote what was sent."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        found: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        found |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)[-5:]
            found |= {"error": type(error).__name__, "at": [f"{f.filename}:{f.lineno} {f.name}" for f in frames]}
        return json.dumps(found)


def set_up() -> None:
    """Send our own lines, and the errors of the server, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    for name, level in (("deniable.service", logging.INFO), ("uvicorn", logging.ERROR), ("asyncio", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def log(event: str, *, error: BaseException | None = None, **facts: object) -> None:
    """Note that something happened to the service."""
    level = logging.INFO if error is None else logging.ERROR
    _LOGGER.log(level, event, exc_info=error, extra={"facts": facts})
