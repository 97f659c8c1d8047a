"""The loggers of the service, which a collector in the same process sets up: for a while, then as they were."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["NAMES", "kept"]

NAMES = ("deniable.service", "uvicorn", "asyncio")


@contextmanager
def kept() -> Iterator[None]:
    """Afterwards nothing is left of what was set up: handlers, levels, and whether lines go on to the root."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(each.handlers, each.propagate, each.level) for each in loggers]
    try:
        yield
    finally:
        for each, (handlers, propagate, level) in zip(loggers, before, strict=True):
            each.handlers, each.propagate = handlers, propagate
            each.setLevel(level)
