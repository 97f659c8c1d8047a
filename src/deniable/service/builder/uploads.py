"""Files that are sent by forms: one form, two fields, every byte of the envelope as browsers write it."""

from __future__ import annotations

import re

from starlette.requests import Request

from deniable.service.collector import Collector
from deniable.service.http.bodies import read_body
from deniable.service.http.problems import Problem
from deniable.service.pages.signin import form_of

__all__ = ["MULTIPART", "sent_by"]

MULTIPART = "multipart/form-data"
_BOUNDARY = re.compile(r'multipart/form-data;\s*boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?\s*', re.IGNORECASE)
_PART = re.compile(rb'content-disposition: form-data; name="([a-z]{1,20})"(; filename="[^"\r\n]*")?', re.IGNORECASE)
_HEAD, _PARTS = 2000, 8
"""Bytes of the head of a part, and parts, at most."""
_FIELDS = ("document", "file")


async def sent_by(collector: Collector, request: Request) -> dict[str, bytes]:
    """What a form sent by its fields, `document` and `file`; `Problem` for anything else."""
    kind = request.headers.get("content-type", "")
    if not kind.strip().lower().startswith(MULTIPART):
        fields = await form_of(collector, request)
        return {name: text.encode() for name, text in fields.items() if name in _FIELDS}
    boundary = _BOUNDARY.fullmatch(kind.strip())
    if boundary is None:
        raise Problem("malformed", "The form does not say where its parts begin.")
    body = bytes(await read_body(request, collector.settings, collector.held))
    return _parts(body, b"--" + boundary[1].encode())


def _parts(body: bytes, mark: bytes) -> dict[str, bytes]:
    pieces = (b"\r\n" + body).split(b"\r\n" + mark, _PARTS + 1)
    if pieces[0] or pieces[-1] not in (b"--", b"--\r\n") or len(pieces) < 2:
        raise Problem("malformed", "The form is not well formed: a part of it is cut off, or there are too many.")
    found: dict[str, bytes] = {}
    for piece in pieces[1:-1]:
        head, gap, content = piece[:_HEAD].partition(b"\r\n\r\n")
        lines = head.removeprefix(b"\r\n").split(b"\r\n")
        told = _PART.fullmatch(lines[0])
        if not gap or told is None or told[1].decode() not in _FIELDS:
            raise Problem("malformed", "The form has a part that this page did not ask for.")
        name = told[1].decode()
        if name in found:
            raise Problem("invalid", "A field of the form was sent twice.")
        found[name] = piece[len(head) + len(gap) :] if len(piece) > _HEAD else content
    return found
