"""What a ledger derives from a secret, or draws and keeps: words of reports, ids, the question that is dealt."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from typing import Any

from deniable_client.canonical import canonical
from deniable_client.errors import EntropyError, ParameterError
from deniable_client.words import SystemWords, Words

__all__ = ["ID_BYTES", "Derived", "DerivedWords", "Drawn", "checked_secret", "random_bytes"]

SECRET_LEAST = 32
ID_BYTES = 16
"""Of the id of a report."""


class DerivedWords:
    """64-bit words from a key: HMAC-SHA-256 of a counter, four words each."""

    bits = 64

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        self._left: list[int] = []

    def word(self) -> int:
        """The next word."""
        if not self._left:
            block = _hmac(self._key, self._counter.to_bytes(8, "big"))
            self._counter += 1
            self._left = [int.from_bytes(block[i : i + 8], "big") for i in (24, 16, 8, 0)]
        return self._left.pop()


class Drawn:
    """Everything is drawn by the operating system; the ledger keeps it."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def report_words(self, question: str, answer: Any, level: int | None, task: str, window: int) -> Words:
        """Random words for a report of this answer in a window of a task."""
        return SystemWords()

    def nothing_words(self, task: str, window: int) -> Words:
        """Random words to draw an answer with where there is none (tasks of version 1)."""
        return SystemWords()

    def deal_words(self, task: str) -> Words:
        """Random words to deal a question of a task with."""
        return SystemWords()

    def report_id(self, task: str, window: int) -> str:
        """The id of the report of a window."""
        return random_bytes(ID_BYTES).hex()

    def digest(self, what: str, content: Mapping[str, Any]) -> bytes:
        """What a ledger knows something by that it does not keep itself."""
        return _hmac(self.key, f"deniable/1 {what}\0".encode() + canonical(content))


class Derived(Drawn):
    """Everything follows from a secret, so that a lost ledger draws nothing anew."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)

    def report_words(self, question: str, answer: Any, level: int | None, task: str, window: int) -> Words:
        content = {"question": question, "answer": answer, "level": level, "round": (task, window)}
        return DerivedWords(self.digest("report", content))

    def nothing_words(self, task: str, window: int) -> Words:
        return DerivedWords(self.digest("none", {"task": task, "window": window}))

    def deal_words(self, task: str) -> Words:
        return DerivedWords(self.digest("deal", {"task": task}))

    def report_id(self, task: str, window: int) -> str:
        return self.digest("id", {"task": task, "window": window})[:ID_BYTES].hex()


def checked_secret(secret: object) -> bytes:
    """A secret, if it is one."""
    if not isinstance(secret, bytes) or len(secret) < SECRET_LEAST:
        got = f"{len(secret)} bytes" if isinstance(secret, bytes) else type(secret).__name__
        raise ParameterError(
            f"secret must be at least {SECRET_LEAST} random bytes, got {got}.", "Make it once: secrets.token_bytes(32)."
        )
    return secret


def random_bytes(count: int) -> bytes:
    """Bytes of the operating system; `EntropyError` if it has none."""
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise EntropyError("the operating system gave no randomness; nothing was spent or sent.") from error


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")
