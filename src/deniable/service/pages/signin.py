"""Signing in to the pages of analysts: the key goes into a cookie that scripts and other sites cannot use."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deniable.service.access import Role, holder
from deniable.service.collector import Collector
from deniable.service.http.bodies import read_body
from deniable.service.http.problems import KINDS, Problem
from deniable.service.http.routes import COOKIE, Row, check_origin
from deniable.service.pages.charts import get_ready
from deniable.service.pages.render import html, page, refused

__all__ = ["FORM", "ROWS", "form_of", "told"]

FORM = "application/x-www-form-urlencoded"
_HOURS = 12


def told(problem: Problem, request: Request) -> Response:
    """A problem as a page; without a key it is the page to sign in."""
    if problem.kind == "no-key":
        return page("signin.html", 401, title="Sign in", next=request.url.path, wrong=COOKIE in request.cookies)
    found = refused(KINDS[problem.kind].status, KINDS[problem.kind].title, f"{problem.detail} {problem.hint}".strip())
    found.headers.update(problem.headers)
    return found


async def form_of(collector: Collector, request: Request) -> dict[str, str]:
    """The fields of a form, each once; `Problem` for anything else."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Problem("media-type", f"Send {FORM}.")
    body = bytes(await read_body(request, collector.settings, collector.held))
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=200)
    except ValueError as error:
        raise Problem("malformed", f"The form is not well formed: {error}.") from None
    if any(len(values) > 1 for values in fields.values()):
        raise Problem("invalid", "A field of the form was sent twice.")
    return {name: values[0] for name, values in fields.items()}


async def sign_in(collector: Collector, request: Request) -> Response:
    """Keep a key in a cookie, if it is valid."""
    check_origin(request)
    fields = await form_of(collector, request)
    key = fields.get("key", "").strip()
    keys = await asyncio.to_thread(collector.store.keys)
    if holder(keys, key, collector.clock().date()) is None:
        return page("signin.html", 401, title="Sign in", next=_inside(fields.get("next", "/")), wrong=True)
    get_ready()
    response = RedirectResponse(_inside(fields.get("next", "/")), 303)
    _keep(response, request, key, _HOURS * 3600)
    return response


async def sign_out(_: Collector, request: Request) -> Response:
    """Forget the key."""
    check_origin(request)
    response = RedirectResponse("/", 303)
    _keep(response, request, "", 0)
    return response


def _keep(response: Response, request: Request, key: str, seconds: int) -> None:
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    response.set_cookie(COOKIE, key, max_age=seconds, httponly=True, samesite="strict", secure=secure)


def _inside(path: str) -> str:
    """A path of this site, else the first page."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if plain else "/"


ROWS = (
    Row(
        method="POST",
        path="/sign-in",
        role=Role.PUBLIC,
        handler=sign_in,
        summary="Sign in to the pages with a key.",
        takes={FORM: {"type": "object"}},
        answers={303: html, 401: html},
        problems=("malformed", "invalid", "media-type", "wrong-role"),
        page=told,
    ),
    Row(
        method="POST",
        path="/sign-out",
        role=Role.PUBLIC,
        handler=sign_out,
        summary="Sign out of the pages.",
        answers={303: html},
        problems=("wrong-role",),
        page=told,
    ),
)
