"""Files and addresses that are verified: fetched within limits of size and time, never from elsewhere than was said."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from deniable_client.canonical import BYTES_MAX
from deniable_client.checking.changes import changes
from deniable_client.checking.verdict import Verdict, verify
from deniable_client.errors import FormatError, LedgerError, ParameterError

__all__ = ["verify_place", "verify_places"]

_TASK = re.compile(r".*/v1/tasks/([0-9a-f]{64})/?")
_SECONDS = 20


def verify_place(place: str, name: str = "FILE") -> Verdict:
    """Verify a file, an address (https, or http to this machine; no redirects), or standard input for `-`."""
    if place.startswith(("http:", "https:")):
        from deniable_client.ledger.http import fetch  # for those who have an address

        found = _TASK.fullmatch(place)
        try:
            data = fetch(place, _SECONDS, BYTES_MAX)
        except LedgerError as error:
            raise ParameterError(f"{name} {place!r} cannot be fetched: {error.message}") from error
        return _verified(io.BytesIO(data), place, name, None if found is None else found[1])
    if place == "-":
        return _verified(sys.stdin.buffer, place, name)
    try:
        with Path(place).open("rb") as stream:
            return _verified(stream, place, name)
    except OSError as error:
        told = f"{name} {place!r} cannot be read ({error.strerror})."
        raise ParameterError(told, "Name a file or an address.") from error


def _verified(stream: BinaryIO, place: str, name: str, expect: str | None = None) -> Verdict:
    try:
        return verify(stream, expect=expect)
    except FormatError as error:
        raise ParameterError(f"{name} {place!r} cannot be verified: {error.message}", error.hint) from error


def verify_places(place: str, other: str | None = None) -> tuple[dict[str, Any], list[str], bool]:
    """The verdict on a file as data and as lines, and whether all is well; with `other`, also what changed to it.

    A difference is no fault of either file, and still not "the same": then the last is False.
    """
    one = verify_place(place)
    if other is None:
        return one.told(), list(one.lines), one.holds
    two = verify_place(other, "--diff")
    if one.document is None or two.document is None or one.kind != two.kind:
        told = f"a {one.kind} and a {two.kind}"
        raise ParameterError(
            f"--diff must be of the same kind as FILE, got {told}.", "Compare two tasks, or two designs."
        )
    found = changes(_content(one), _content(two))
    lines = [*one.lines[:1], *two.lines[:1], *(_lines(found) or ["Nothing changed."])]
    document = {"one": one.told(), "two": two.told(), "changes": found, "same": not found}
    return document, lines, one.holds and two.holds and not found


def _content(verdict: Verdict) -> Mapping[str, Any]:
    """What is compared; of reports and tallies their header."""
    return verdict.document or {}


def _lines(found: list[dict[str, Any]]) -> list[str]:
    return [f"What changed ({len(found):,}):", *(f"  {each['line']}" for each in found)] if found else []
