"""Errors over HTTP: problem documents (RFC 9457), one table of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from deniable.errors import DeniableError
from deniable.present.renderer import DrawingError
from deniable.service.collector import RateError, StoppingError
from deniable.service.limits.held import CrowdedError
from deniable.service.store.contract import StoreUnavailableError
from deniable.service.writer import OverloadedError

__all__ = ["KINDS", "MEDIA_TYPE", "Problem", "document", "problem_of", "respond"]

MEDIA_TYPE = "application/problem+json"


class Kind(NamedTuple):
    """A row of the table: the status, what it is called, and after how many seconds to try again (0: never)."""

    status: int
    title: str
    retry: int = 0


KINDS: Mapping[str, Kind] = {
    "malformed": Kind(400, "The request is not well formed"),
    "no-key": Kind(401, "A valid key is needed"),
    "wrong-role": Kind(403, "This key may not do that"),
    "not-found": Kind(404, "There is nothing here"),
    "method": Kind(405, "This cannot be done here"),
    "slow": Kind(408, "The request took too long to arrive", retry=5),
    "conflict": Kind(409, "This is not possible now"),
    "too-large": Kind(413, "The request is too large"),
    "media-type": Kind(415, "This kind of content is not taken"),
    "invalid": Kind(422, "The content is not what it should be"),
    "rate": Kind(429, "Too many reports at once", retry=1),
    "headers": Kind(431, "The headers are too large"),
    "fault": Kind(500, "Something went wrong inside"),
    "busy": Kind(503, "The collector is busy", retry=2),
    "unavailable": Kind(503, "The database cannot be used now", retry=10),
}
"""All problems, by the last part of their type."""


class Problem(Exception):  # noqa: N818  # the word of RFC 9457
    """Ends a request with a problem document."""

    def __init__(self, kind: str, detail: str, *, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.hint, self.headers = kind, detail, hint, headers or {}


def problem_of(error: DeniableError) -> Problem:
    """An error of the project as a problem."""
    for what, kind, told, headers in _PROBLEMS:
        if isinstance(error, what):
            own = f"{error.message[:1].upper()}{error.message[1:]} {error.hint}"
            return Problem(kind, told or own, headers=headers)
    return Problem("invalid", error.message, hint=error.hint)


_CLOSE = {"connection": "close"}
"""What is still to come of the request is not waited for."""
_PROBLEMS: tuple[tuple[type[DeniableError], str, str, Mapping[str, str]], ...] = (
    (StoreUnavailableError, "unavailable", "Nothing of this request was acknowledged. Try again later.", {}),
    (DrawingError, "fault", "", {}),
    (RateError, "rate", "", {}),
    (CrowdedError, "busy", "", _CLOSE),
    (StoppingError, "busy", "", _CLOSE),
    (OverloadedError, "busy", "More reports are waiting than can be held. Try again later.", {}),
)
"""What errors are, by the first row that fits: the problem, how it is told (else in the error's own words), headers."""


def document(problem: Problem) -> dict[str, Any]:
    """The problem as plain data."""
    kind = KINDS[problem.kind]
    found = {"type": f"urn:deniable:problem:{problem.kind}", "title": kind.title, "status": kind.status}
    return found | {"detail": problem.detail} | ({"hint": problem.hint} if problem.hint else {})


def respond(problem: Problem) -> Response:
    """The response that tells a problem."""
    kind = KINDS[problem.kind]
    headers = {**({"retry-after": str(kind.retry)} if kind.retry else {}), **problem.headers}
    return Response(msgspec.json.encode(document(problem)), kind.status, headers, MEDIA_TYPE)
