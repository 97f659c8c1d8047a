"""The table of routes: each with its method, its role and what it answers. No route exists outside of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from deniable.errors import DeniableError
from deniable.service.access import KEY_ROLES, Role, holder
from deniable.service.collector import Collector
from deniable.service.held import CrowdedError
from deniable.service.http.connections import ABORT, SLICE
from deniable.service.http.problems import Problem, problem_of, respond
from deniable.service.logs import log
from deniable.service.store.contract import KeyRow

__all__ = ["COOKIE", "Row", "check_origin", "routes"]

Handler = Callable[[Collector, Request], Awaitable[Response]]
COOKIE = "deniable-key"
_SAFE = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
"""On every answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A route."""

    method: str
    path: str
    role: Role
    handler: Handler
    summary: str
    answers: Mapping[int, Any]
    """What is answered, by status: a type, or a media type for what has no schema; problems are in `problems`."""
    problems: Sequence[str] = ()
    takes: Mapping[str, Any] | None = None
    """Bodies by media type."""
    query: Mapping[str, tuple[Mapping[str, Any], str]] | None = None
    """Parameters: schema and help."""
    shared: bool = False
    """Whether pages of other sites may call it, as far as the settings allow them (CORS)."""
    page: Callable[[Problem, Request], Response] | None = None
    """For browsers: how problems are told. A key may then come as a cookie, too."""


def routes(collector: Collector, rows: Sequence[Row]) -> list[Route]:
    """Starlette's routes: one for each path, guarded by the roles of the table."""
    paths: dict[str, dict[str, Row]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method] = row
    return [Route(path, _Guarded(collector, path, methods)) for path, methods in paths.items()]


class _Guarded:
    """All methods of a path: checks the role, runs the handler, and makes every error a problem document."""

    def __init__(self, collector: Collector, path: str, methods: Mapping[str, Row]) -> None:
        self._collector, self._path, self.rows = collector, path, methods
        self._shared = any(row.shared for row in methods.values())
        known = [*methods, *(["HEAD"] if "GET" in methods else []), *(["OPTIONS"] if self._shared else [])]
        self._allow = ", ".join(known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._in_time(request)
        except ClientDisconnect:
            self._collector.metrics.requests[self._path, request.method, 499] += 1
            return
        if self._shared:
            self._share(request, response)
        for name, value in _SAFE.items():
            response.headers.setdefault(name, value)
        self._collector.metrics.requests[self._path, self._known(request.method), response.status_code] += 1
        await self._send(response, scope, receive, send)

    async def _send(self, response: Response, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; a large answer goes slice by slice, as it is read, and its memory counts while it does."""
        body = memoryview(getattr(response, "body", b""))
        if len(body) <= SLICE:
            await response(scope, receive, send)
            return

        async def slices(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            for start in range(0, len(body), SLICE):
                part, more = bytes(body[start : start + SLICE]), start + SLICE < len(body)
                await send({"type": "http.response.body", "body": part, "more_body": more})

        with self._collector.held.lease() as lease:
            lease.give_up = scope.get("state", {}).get(ABORT)
            try:
                lease.take(len(body))
            except CrowdedError as error:
                response, lease.give_up = respond(problem_of(error)), None
                await response(scope, receive, send)
            else:
                await response(scope, receive, slices)

    async def _in_time(self, request: Request) -> Response:
        """The answer, or that it took too long to make."""
        settings = self._collector.settings
        seconds = settings.body_seconds + settings.work_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(request)
        except TimeoutError:
            log("late", route=self._path, method=self._known(request.method), seconds=seconds)
            detail = f"There was no answer within {seconds} seconds. What was sent may be sent again: it counts once."
            return respond(Problem("busy", detail, headers={"connection": "close"}))

    def _known(self, method: str) -> str:
        """The method, if it is one of ours: others would be counters that strangers make."""
        return method if method in self._allow.split(", ") else "other"

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        told = self.rows[method].page if method in self.rows else None
        try:
            if method == "OPTIONS" and self._shared:
                return Response(status_code=204, headers={"allow": self._allow})
            if method not in self.rows:
                detail = f"{request.method[:20]} is not possible here; {self._allow} is."
                raise Problem("method", detail, headers={"allow": self._allow})
            row = self.rows[method]
            request.state.key = await _authorised(self._collector, request, row)
            return await row.handler(self._collector, request)
        except Problem as problem:
            return respond(problem) if told is None else told(problem, request)
        except DeniableError as error:
            found = problem_of(error)
            return respond(found) if told is None else told(found, request)
        except ClientDisconnect:
            raise
        except Exception as error:
            log("fault", error=error, route=self._path, method=request.method)
            return respond(Problem("fault", "This is our fault. It was noted; please try again later."))

    def _share(self, request: Request, response: Response) -> None:
        """Let pages of those sites read the answer that the settings name for this task."""
        response.headers["vary"] = "Origin"
        origin = allowed_origin(self._collector.settings.cors, request)
        if origin is not None:
            response.headers["access-control-allow-origin"] = origin
            if request.method == "OPTIONS":
                response.headers["access-control-allow-methods"] = self._allow
                response.headers["access-control-allow-headers"] = "content-type, content-encoding"
                response.headers["access-control-max-age"] = "3600"


def allowed_origin(cors: Mapping[str, tuple[str, ...]], request: Request) -> str | None:
    """The origin of a request, if the settings allow it for its task."""
    origin = request.headers.get("origin")
    known = (*cors.get(request.path_params.get("id", ""), ()), *cors.get("*", ()))
    return origin if origin in known else None


async def _authorised(collector: Collector, request: Request, row: Row) -> KeyRow | None:
    """The key of a request; `Problem` if its role needs one that is not there, not valid, or not enough."""
    if row.role is Role.PUBLIC:
        return None
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if row.page is not None and not scheme and COOKIE in request.cookies:
        check_origin(request)
        scheme, key = "bearer", request.cookies[COOKIE]
    found = None
    if scheme.lower() == "bearer" and key:
        found = holder(await asyncio.to_thread(collector.store.keys), key.strip(), collector.clock().date())
    if found is None:
        detail = "Send a valid key as `Authorization: Bearer KEY`."
        raise Problem("no-key", detail, headers={"www-authenticate": "Bearer"})
    if not KEY_ROLES[found.role].includes(row.role):
        raise Problem("wrong-role", f"This needs a key of the role {row.role.name.lower()}.")
    return found


def check_origin(request: Request) -> None:
    """`Problem` for a form that a page of another site sent with this browser's cookie."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin", "").partition("://")[2]
    own = site == "same-origin" if site is not None else origin == request.headers.get("host")
    if request.method not in ("GET", "HEAD") and not own:
        raise Problem("wrong-role", "This form was sent by another site; nothing was done.")
