"""Templates into responses, with the headers that keep pages to themselves."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import Response

from deniable.present.clean import clean
from deniable.service.pages import assets
from deniable.service.texts.catalogue import Texts, bdi, texts
from deniable.service.texts.languages import LANGUAGES, language, preferred

__all__ = [
    "FRAMING",
    "POLICY",
    "compressed",
    "desk",
    "drawn_page",
    "html",
    "own_page",
    "page",
    "refused",
    "silent_page",
    "takes_gzip",
]

html = "text/html"
_ALONE = "frame-ancestors 'none'"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    f"form-action 'self'; base-uri 'none'; {_ALONE}"
)
"""Nothing inline, nothing from elsewhere, in nobody's frame."""
FRAMING = f"{POLICY}; frame-src 'self'"
"""The same for a page that shows another one of ours in a frame."""
_SILENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
"""For a page in such a frame: it sends nothing, whatever its scripts do."""
_HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
}


def _drawable(part: Any) -> Any:
    """What a template shows, without characters that pages cannot have."""
    return type(part)(clean(part)) if isinstance(part, str) else part


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("deniable.service.pages"),
        autoescape=True,
        finalize=_drawable,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["bdi"] = bdi
    return made


def page(template: str, status: int = 200, /, **parts: Any) -> Response:
    """A page from its template; every part is escaped as text."""
    text = _templates().get_template(template).render(static=assets.base(), **parts)
    return Response(text, status, dict(_HEADERS), f"{html}; charset=utf-8")


def desk(request: Request) -> Texts:
    """The texts of the pages for those who sign in, in the language that the browser asks for first."""
    return texts("desk", preferred(request.headers.get("accept-language", ""), list(LANGUAGES)))


def own_page(request: Request, template: str, status: int = 200, /, **parts: Any) -> Response:
    """Such a page: `d` says its texts, `number` writes its numbers."""
    say = desk(request)
    common = {"d": say.html, "number": say.language.number, "lang": say.language.tag, "dir": say.language.direction}
    return page(template, status, **common, **parts)


def silent_page(text: bytes) -> Response:
    """A page for a frame of ours that cannot send anything."""
    headers = {**_HEADERS, "content-security-policy": _SILENT}
    return Response(text, 200, headers, f"{html}; charset=utf-8")


def drawn_page(text: bytes, small: bool, frames: Sequence[str] = ()) -> Response:
    """A page for browsers of every language that was drawn before; `small` if it is compressed.

    `frames` are the sites that may show it in a frame.
    """
    more = {"content-encoding": "gzip"} if small else {}
    if frames:
        more["content-security-policy"] = POLICY.replace(_ALONE, f"frame-ancestors {' '.join(frames)}")
    headers = {**_HEADERS, **more, "vary": "accept-encoding, accept-language"}
    return Response(text, 200, headers, f"{html}; charset=utf-8")


def refused(status: int, title: str, text: str, tag: str = "en") -> Response:
    """A page that says why there is none, in the language of a tag."""
    shown = language(tag)
    return page("refused.html", status, title=title, text=text, lang=shown.tag, dir=shown.direction)


def takes_gzip(request: Request) -> bool:
    """Whether the browser says that it takes what is compressed."""
    for part in request.headers.get("accept-encoding", "").split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def compressed(response: Response, request: Request) -> Response:
    """The same response, compressed if the browser takes it; cookies are strict, so other sites learn no size."""
    response.headers.add_vary_header("accept-encoding")
    if takes_gzip(request):
        response.body = gzip.compress(bytes(response.body), 6, mtime=0)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
    return response
