"""Signing in to the pages of analysts: a key starts a session, whose token is a cookie that scripts cannot read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deniable.service.access.keys import Role, holder
from deniable.service.access.sessions import COOKIES, Failures, begin, cookie_name, end
from deniable.service.collector import Collector
from deniable.service.http.bodies import read_body
from deniable.service.http.problems import KINDS, Problem
from deniable.service.http.routes import H, Rows, check_origin, check_private
from deniable.service.logs import log
from deniable.service.pages.charts import get_ready
from deniable.service.pages.render import desk, html, own_page, refused
from deniable.service.settings import Settings

__all__ = ["FORM", "ROWS", "Pages", "form_of"]

FORM = "application/x-www-form-urlencoded"
_FORMS = {FORM: {"type": "object"}}
_UNREADABLE = ("malformed", "invalid", "media-type")
"""What may be wrong with a form."""
_COMMAND = "deniable key new --role analyst --database URL"

ROWS = Rows()


def told(problem: Problem, request: Request) -> Response:
    """A problem as a page; without a key it is the page to sign in."""
    if problem.kind == "no-key":
        over = any(name in request.cookies for name in COOKIES)
        return _asked(request, 401, request.url.path, "over" if over else "")
    found = refused(KINDS[problem.kind].status, KINDS[problem.kind].title, f"{problem.detail} {problem.hint}".strip())
    found.headers.update(problem.headers)
    return found


class Pages(Rows):
    """Routes of pages behind a key."""

    def page(self, path: str, summary: str, *problems: str, **own: Any) -> Callable[[H], H]:
        """A decorator: the function answers analysts with a page, unless something else is said."""
        more = {"answers": {200: html}, **own}
        return self.add("GET", path, summary, *_keyed(path), *problems, role=Role.ANALYST, page=told, **more)

    def form(self, path: str, summary: str, **own: Any) -> Callable[[H], H]:
        """A decorator: the function takes a form of administrators, and leads to another page."""
        more = {"takes": _FORMS, "answers": {303: html}, **own}
        problems = (*_keyed(path), *_UNREADABLE, "conflict")
        return self.add("POST", path, summary, *problems, role=Role.ADMINISTRATOR, page=told, **more)


def _keyed(path: str) -> tuple[str, ...]:
    """What may be wrong with a request for a path behind a key."""
    return ("no-key", "wrong-role", *(["not-found"] if "{id}" in path else []))


async def form_of(collector: Collector, request: Request, *, most: int = 200) -> dict[str, str]:
    """The fields of a form, each once and so many at most; `Problem` for anything else."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Problem("media-type", f"Send {FORM}.")
    body = bytes(await read_body(request, collector.settings, collector.held))
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=most)
    except ValueError as error:
        raise Problem("malformed", f"The form is not well formed: {error}.") from None
    if any(len(values) > 1 for values in fields.values()):
        raise Problem("invalid", "A field of the form was sent twice.")
    return {name: values[0] for name, values in fields.items()}


def _asked(request: Request, status: int, next: str, wrong: str) -> Response:
    """The page that asks for a key, after what was wrong: a key, many of them, or that a session is over."""
    parts = {"title": desk(request)("sign.title"), "next": _inside(next), "wrong": wrong, "command": _COMMAND}
    return own_page(request, "signin.html", status, **parts)


@ROWS.add(
    "POST",
    "/sign-in",
    "Sign in to the pages with a key.",
    *(*_UNREADABLE, "wrong-role", "conflict"),
    role=Role.PUBLIC,
    takes=_FORMS,
    answers={303: html, 401: html, 429: html},
    page=told,
)
async def sign_in(collector: Collector, request: Request) -> Response:
    """Start a session, if the key is valid. Whatever is wrong with a key, the answer is the same."""
    check_private(request, collector.settings)
    check_origin(request, collector.settings)
    fields = await form_of(collector, request)
    key, next = fields.get("key", "").strip(), fields.get("next", "/")
    found = holder(await asyncio.to_thread(collector.store.keys), key, collector.clock().date())
    if found is None:
        collector.metrics.failed_sign_ins += 1
        return _failed(request, collector.failures, next)
    await _end(collector, request)
    token = await asyncio.to_thread(begin, collector.store, found.name, collector.clock(), collector.settings)
    log("sign-in", by=found.name)
    get_ready()
    response = RedirectResponse(_inside(next), 303, {"cache-control": "no-store"})
    _keep(response, collector.settings, token, collector.settings.session_seconds)
    return response


def _failed(request: Request, failures: Failures, next: str) -> Response:
    told = failures.note(asyncio.get_running_loop().time())
    if told:
        log("sign-in", failed=told)
        return _asked(request, 401, next, "key")
    response = _asked(request, 429, next, "many")
    response.headers["retry-after"] = f"{failures.SECONDS:.0f}"
    return response


@ROWS.add("POST", "/sign-out", "Sign out of the pages.", "wrong-role", role=Role.PUBLIC, answers={303: html}, page=told)
async def sign_out(collector: Collector, request: Request) -> Response:
    """End the session."""
    check_origin(request, collector.settings)
    await _end(collector, request)
    response = RedirectResponse("/", 303, {"cache-control": "no-store"})
    _keep(response, collector.settings, "", 0)
    return response


async def _end(collector: Collector, request: Request) -> None:
    token = request.cookies.get(cookie_name(collector.settings))
    name = None if token is None else await asyncio.to_thread(end, collector.store, token)
    if name is not None:
        log("sign-out", by=name)


def _keep(response: Response, settings: Settings, token: str, seconds: int) -> None:
    name, secure = cookie_name(settings), bool(settings.public_url)
    response.set_cookie(name, token, max_age=seconds, httponly=True, samesite="strict", secure=secure)


def _inside(path: str) -> str:
    """A path of this site, else the first page."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if plain else "/"
