"""The one family of errors: each names what was given, what is allowed and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "BudgetError",
    "DeniableError",
    "EntropyError",
    "FormatError",
    "LedgerError",
    "MergeError",
    "MissingExtraError",
    "ParameterError",
    "PrivacyError",
    "WindowError",
    "require",
    "show",
    "within",
]


class DeniableError(Exception):
    """Base of all errors that this project raises on purpose.

    `hint` is the part of the message that says what to do about it; it may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.message = message
        self.hint = hint


class ParameterError(DeniableError, ValueError):
    """A parameter or a value is not one that is allowed."""


class FormatError(DeniableError, ValueError):
    """Bytes, a file or a document are not what they should be."""


class MergeError(DeniableError, ValueError):
    """Two things that do not belong together were to be combined."""


class PrivacyError(DeniableError, ValueError):
    """A design leaks more than it promises, or cannot be sampled exactly."""


class WindowError(DeniableError, ValueError):
    """A task does not ask now: it is not open, has expired, or was answered in this window already."""


class BudgetError(DeniableError, ValueError):
    """An answer would cost more than a budget has left."""


class LedgerError(DeniableError, OSError):
    """What a device spends could not be written down, or what it wrote cannot be read; nothing is reported then."""


class EntropyError(DeniableError, OSError):
    """The operating system gave no randomness; nothing is reported then."""


class MissingExtraError(DeniableError, ImportError):
    """An optional part is not installed."""


def require(ok: bool, name: str, got: object, need: str, hint: str = "") -> None:
    """Raise `ParameterError` for parameter `name` unless `ok`.

    >>> require(False, "k", 1, "an integer >= 2", "For a yes/no question use k=2.")
    Traceback (most recent call last):
        ...
    deniable_client.errors.ParameterError: k must be an integer >= 2, got 1. For a yes/no question use k=2.
    """
    if not ok:
        raise ParameterError(f"{name} must be {need}, got {show(got)}.", hint)


@contextmanager
def within(where: str) -> Iterator[None]:
    """Errors of what is done here say where it is: `question q: ...`."""
    try:
        yield
    except DeniableError as error:
        raise type(error)(f"{where}: {error.message}", error.hint) from error


def show(got: object, limit: int = 80) -> str:
    """A value for a message, cut where it is long; some have no text, such as numbers of thousands of digits."""
    try:
        text = repr(got[:limit] if isinstance(got, str | bytes) else got)
    except (ValueError, RecursionError):
        text = "\n"
    if "\n" in text:  # a table
        return f"a value of type {type(got).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."
