"""What an engine adds to the SQL that all of them share: transactions, ids in bulk, erasing, copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from deniable.core.types import BoolArray, Bytes, IntArray
from deniable.service.store.contract import Batch, StoreUnavailableError

__all__ = ["HASH", "MARK", "PROBE", "ROW", "CrossedError", "Engine", "Row", "Session", "hashes", "placed"]

HASH, MARK = 16, 4
"""Bytes of the hash of an id, and of the mark that tells another body from the first one."""
ROW = HASH + MARK

Row = tuple[Any, ...]

PROBE = (
    "INSERT INTO meta (name, value) VALUES ('probe', 1) "
    "ON CONFLICT (name) DO UPDATE SET value = (meta.value + 1) % 1000000"
)
"""A small change that is kept, to see whether the database takes any."""


class CrossedError(StoreUnavailableError):
    """Two transactions waited for each other, and this one was given up: trying again at once helps."""


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
    most_fresh: int
    """Reports after which `settle` is due, whatever the time."""

    def prepare(self) -> None:
        """Make what the engine needs beside the tables of the schema; refuse a role that could not erase."""

    def write(self, *, patient: bool = False) -> AbstractContextManager[Session]:
        """A transaction that is durable once it is left without an error; a `patient` one may take its time."""

    def read(self, *, patient: bool = False) -> AbstractContextManager[Session]:
        """One consistent state to look at."""

    def words(self) -> dict[str, str]:
        """What this engine calls `{bytes}` and `{sorted}` in the schema."""

    def settle(self, *, log: bool = True) -> None:
        """Leave nothing in the files that tells one report from another, or their order: no former tally, no log.

        Without `log`, the log of the database may wait for the next time.
        """

    def disorder(self) -> bool:
        """Whether rows may be in the order of their arrival that no process will settle: one was killed."""

    def erase(self) -> None:
        """Make sure that what was deleted is not in the files any more, as far as the engine can; settles too.

        Rows are written in the order of their keys, which leaves nothing of the order of former `settle`s either.
        """

    def empty_log(self) -> None:
        """Leave nothing in a log that is the database's own."""

    def writable(self) -> None:
        """Write a little, durably; `StoreUnavailableError` if that is not possible now."""

    def advice(self) -> Iterator[str]:
        """Which settings of the database keep what was erased, in sentences for whoever runs it."""

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
