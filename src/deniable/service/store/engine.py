"""What an engine adds to the SQL that all of them share: transactions, ids in bulk, erasing, copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.service.store.contract import Batch

__all__ = ["HASH", "MARK", "ROW", "Engine", "Row", "Session", "hashes", "placed"]

HASH, MARK = 16, 4
"""Bytes of the hash of an id, and of the mark that tells another body from the first one."""
ROW = HASH + MARK

Row = tuple[Any, ...]


class Session(Protocol):
    """A transaction. Statements have `?` for parameters, whatever the engine."""

    def execute(self, sql: str, params: Sequence[object] = ()) -> list[Row]:
        """Run a statement; its rows."""

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run a statement for each row."""

    def scan(self, sql: str) -> Iterator[Row]:
        """The rows of a statement, a few at a time."""

    def has(self, table: str) -> bool:
        """Whether there is such a table."""

    def lock(self, task: int, *, alone: bool = False) -> None:
        """Hold a task until the end of the transaction: together with others that count, or alone."""

    def add_ids(self, task: int, rows: Bytes) -> BoolArray:
        """Keep hashes and marks, which are in order and all different; which of them are new."""

    def marks(self, task: int, rows: Bytes) -> tuple[IntArray, Bytes]:
        """Which of these hashes are known, as row numbers, and the marks that they have."""

    def add_bodies(self, task: int, batch: Batch, rows: Bytes) -> None:
        """Keep bodies; each row is the hash of an id, then the body."""


class Engine(Protocol):
    """A database with transactions that are durable when they end."""

    shard: int
    """The part of each tally that this process adds to."""

    def write(self) -> AbstractContextManager[Session]:
        """A transaction that is durable once it is left without an error."""

    def read(self) -> AbstractContextManager[Session]:
        """One consistent state to look at."""

    def words(self) -> dict[str, str]:
        """What this engine calls `{bytes}` and `{sorted}` in the schema."""

    def erase(self) -> None:
        """Make sure that what was deleted is not in the files any more, as far as the engine can."""

    def empty_log(self) -> None:
        """Leave nothing in a log that is the database's own."""

    def faults(self) -> Iterator[str]:
        """What the engine itself finds wrong."""

    def copy(self, path: Path) -> bool:
        """A consistent copy as an SQLite file, if the engine has a way of its own; False if it has none."""

    def close(self) -> None:
        """Let go of the database."""


def hashes(rows: Bytes) -> list[bytes]:
    """The hashes of rows, as bytes."""
    data, width = rows.tobytes(), rows.shape[1]
    return [data[i : i + HASH] for i in range(0, len(data), width)]


def placed(found: Sequence[Row]) -> tuple[IntArray, Bytes]:
    """Pairs of a row number and a mark, as two arrays."""
    marks = np.frombuffer(b"".join(mark for _, mark in found), np.uint8).reshape(len(found), MARK)
    return np.array([number for number, _ in found], np.int64), marks
