"""The table of routes: each with its method, its role and what it answers. No route exists outside of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from deniable.errors import DeniableError
from deniable.service.access.keys import KEY_ROLES, Role, holder
from deniable.service.access.sessions import cookie_name, is_local, visitor
from deniable.service.collector import Collector
from deniable.service.http.connections import ABORT, SLICE
from deniable.service.http.problems import Problem, problem_of, respond
from deniable.service.limits.held import CrowdedError
from deniable.service.logs import log
from deniable.service.settings import Settings
from deniable.service.store.contract import KeyRow

__all__ = ["FOR_EVER", "H", "Row", "Rows", "check_origin", "check_private", "key_of", "routes"]

Handler = Callable[[Collector, Request], Awaitable[Response]]
H = TypeVar("H", bound=Handler)
_SAFE = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
"""On every answer."""
FOR_EVER = "public, max-age=31536000, immutable"
"""How long an answer may be kept that never changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A route."""

    method: str
    path: str
    role: Role
    handler: Handler
    summary: str
    answers: Mapping[int, Any]
    """What is answered, by status: a type, or media types for what has no schema; problems are in `problems`."""
    problems: Sequence[str] = ()
    takes: Mapping[str, Any] | None = None
    """Bodies by media type."""
    query: Mapping[str, tuple[Mapping[str, Any], str]] | None = None
    """Parameters: schema and help."""
    shared: bool = False
    """Whether pages of other sites may call it, as far as the settings allow them (CORS)."""
    page: Callable[[Problem, Request], Response] | None = None
    """For browsers: how problems are told. Who signed in then needs no key."""
    live: bool = False
    """Whether pages ask for it by themselves: then it does not keep a session from running out."""


class Rows(list[Row]):
    """The routes of a module: each is told where its handler stands, in their order, always with its role."""

    def add(self, method: str, path: str, summary: str, *problems: str, role: Role, **own: Any) -> Callable[[H], H]:
        """A decorator: the function answers there."""

        def keep(handler: H) -> H:
            self.append(
                Row(method=method, path=path, role=role, handler=handler, summary=summary, problems=problems, **own)
            )
            return handler

        return keep

    def public(self, path: str, summary: str, *problems: str, **own: Any) -> Callable[[H], H]:
        """A decorator: the function answers everybody who asks there."""
        return self.add("GET", path, summary, *problems, role=Role.PUBLIC, **own)


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
        self._methods, self._allow = frozenset(known), ", ".join(known)
        self._private = any(row.role is not Role.PUBLIC for row in methods.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._in_time(request)
        except ClientDisconnect:
            self._collector.metrics.requests[self._path, request.method, 499] += 1
            return
        if self._shared:
            self._share(request, response)
        if self._private:
            response.headers["cache-control"] = "no-store"
        own = {name for name, _ in response.raw_headers}
        response.raw_headers += [header for header in _SAFE if header[0] not in own]
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
        return method if method in self._methods else "other"

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
    found = await key_of(collector, request, pages=row.page is not None, used=not row.live)
    if found is None:
        detail = "Send a valid key as `Authorization: Bearer KEY`."
        raise Problem("no-key", detail, headers={"www-authenticate": "Bearer"})
    if not KEY_ROLES[found.role].includes(row.role):
        raise Problem("wrong-role", f"This needs a key of the role {row.role.name.lower()}.")
    return found


async def key_of(collector: Collector, request: Request, *, pages: bool, used: bool) -> KeyRow | None:
    """The key that a request has, or with which its sender signed in to the pages, if it is valid now."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key:
        return holder(await asyncio.to_thread(collector.store.keys), key.strip(), collector.clock().date())
    if scheme or not pages:
        return None
    check_private(request, collector.settings)
    token = request.cookies.get(cookie_name(collector.settings))
    if token is None:
        return None
    check_origin(request, collector.settings)
    return await asyncio.to_thread(visitor, collector.store, token, collector.clock(), collector.settings, used=used)


def check_private(request: Request, settings: Settings) -> None:
    """`Problem` for a browser elsewhere that would send keys and cookies without TLS, as far as the settings know."""
    if not settings.public_url and not is_local(request.headers.get("host", "")):
        detail = "Pages behind a key are for this machine only, until the collector knows its address with TLS."
        raise Problem("conflict", detail, hint="Set public_url, such as https://collect.example.org.")


def check_origin(request: Request, settings: Settings) -> None:
    """`Problem` for a form that a page of another site, or of another port of this host, sent with its cookie."""
    if request.method in ("GET", "HEAD"):
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = settings.public_url or f"http://{request.headers.get('host', '')}"
    same = origin == own if site is None else site == "same-origin" and origin in (None, own)
    if not same:
        raise Problem("wrong-role", "This form was sent by another site; nothing was done.")
