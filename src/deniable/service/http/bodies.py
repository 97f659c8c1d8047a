"""What clients send: bodies read within limits of size and time, and the reports in them."""

from __future__ import annotations

import asyncio
import binascii
import zlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from starlette.requests import ClientDisconnect, Request

from deniable.service.http.problems import Problem
from deniable.service.settings import Settings
from deniable.service.store.contract import REJECTED, Incoming, Outcome

__all__ = ["JSON", "OCTETS", "Batch", "Held", "Results", "read_body", "read_reports", "results"]

JSON, OCTETS = "application/json", "application/octet-stream"
ID_BYTES = 16
MALFORMED = "malformed"
"""The reason of a report that is not even an id and base64."""


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """A report as JSON has it; base64 is read at once."""

    id: str
    report: bytes


class Batch(msgspec.Struct, forbid_unknown_fields=True):
    """A body of JSON."""

    reports: list[Item]


class _LooseItem(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    report: str


class _LooseBatch(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[_LooseItem]


class Result(msgspec.Struct, omit_defaults=True):
    """What became of a report."""

    id: str
    status: str
    reason: str | None = None


class Results(msgspec.Struct):
    """What became of all reports of a request, in its order."""

    results: list[Result]


_strict = msgspec.json.Decoder(Batch)
_loose = msgspec.json.Decoder(_LooseBatch)
_encoder = msgspec.json.Encoder()


class Held:
    """Bytes of bodies that are in memory, all requests together."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, 0

    def take(self, size: int) -> None:
        """Make room for a body, or refuse it."""
        if self.now + size > self.most:
            raise Problem("busy", "Too many requests are being read. Try again later.", headers={"connection": "close"})
        self.now += size

    def free(self, size: int) -> None:
        """Give room back."""
        self.now -= size


async def read_body(request: Request, settings: Settings, held: Held) -> bytes:
    """The body, decompressed; refused if it is too large, too slow, or if memory is short."""
    length = request.headers.get("content-length", "")
    size = int(length) if length.isdecimal() and len(length) < 16 else settings.max_body
    if size > settings.max_body:
        raise _too_large(settings)
    held.take(size)
    try:
        async with asyncio.timeout(settings.body_seconds):
            body = await _whole(request, settings)
    except TimeoutError:
        detail = f"The body must arrive within {settings.body_seconds} seconds."
        raise Problem("slow", detail, headers={"connection": "close"}) from None
    finally:
        held.free(size)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding == "gzip":
        return _unzip(body, settings)
    headers = {"accept-encoding": "gzip, identity"}
    raise Problem("media-type", "The content encoding must be gzip, or none.", headers=headers)


async def _whole(request: Request, settings: Settings) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > settings.max_body:
            raise _too_large(settings)
        if not message.get("more_body", False):
            return b"".join([*parts, part]) if parts else part
        parts.append(part)


def _unzip(body: bytes, settings: Settings) -> bytes:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, settings.max_body + 1)
    except zlib.error:
        raise Problem("malformed", "The body is not gzip.") from None
    if len(found) > settings.max_body or unpacking.unconsumed_tail:
        raise _too_large(settings)
    if not unpacking.eof or unpacking.unused_data:
        raise Problem("malformed", "The body must be one whole gzip member and nothing more.")
    return found


def _too_large(settings: Settings) -> Problem:
    detail = f"A body may have {settings.max_body:,} bytes, also after decompression."
    return Problem("too-large", detail, hint="Send fewer reports at once.", headers={"connection": "close"})


class Reading(NamedTuple):
    """Reports of a request: their ids as they were written, those that can be looked at, and where those are."""

    ids: Sequence[str]
    reports: Sequence[Incoming]
    places: Sequence[int] | None
    """Which of the ids the reports have; None: all of them."""


def read_reports(kind: str, body: bytes, width: int, settings: Settings) -> Reading:
    """The reports of a body, `width` bytes each."""
    found = _read_json(body) if kind == JSON else _read_octets(body, width)
    if len(found.ids) > settings.max_reports:
        detail = f"A request may have {settings.max_reports:,} reports, this one has {len(found.ids):,}."
        raise Problem("too-large", detail, hint="Send fewer reports at once.")
    return found


def _read_octets(body: bytes, width: int) -> Reading:
    record = ID_BYTES + width
    if len(body) % record:
        detail = f"The body must be records of {record} bytes, {ID_BYTES} of id and {width} of report"
        raise Problem("invalid", f"{detail}; it has {len(body):,} bytes.")
    starts = range(0, len(body), record)
    reports = [Incoming(body[i : i + ID_BYTES], body[i + ID_BYTES : i + record]) for i in starts]
    return Reading([report.id.hex() for report in reports], reports, None)


def _read_json(body: bytes) -> Reading:
    try:
        items = _strict.decode(body).reports
    except msgspec.ValidationError:  # some report is not base64, or the whole is something else
        return _one_by_one(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _not_json() from None
    ids = [item.id for item in items]
    if not all(map(_is_id, ids)):
        return _one_by_one(body)
    return Reading(ids, [Incoming(bytes.fromhex(item.id), item.report) for item in items], None)


def _one_by_one(body: bytes) -> Reading:
    try:
        items = _loose.decode(body).reports
    except msgspec.ValidationError as error:
        raise Problem("invalid", f"The body is not a list of reports: {error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _not_json() from None
    reports, places = [], []
    for place, item in enumerate(items):
        content = _octets(item.report)
        if _is_id(item.id) and content is not None:
            reports.append(Incoming(bytes.fromhex(item.id), content))
            places.append(place)
    return Reading([item.id for item in items], reports, places)


def _not_json() -> Problem:
    return Problem("malformed", "The body is not JSON in UTF-8.")


_HEX = frozenset("0123456789abcdefABCDEF")


def _is_id(text: str) -> bool:
    """32 hexadecimal digits."""
    return len(text) == 2 * ID_BYTES and _HEX.issuperset(text)


def _octets(text: str) -> bytes | None:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def results(reading: Reading, outcomes: Sequence[Outcome], count: Callable[[Outcome], None]) -> bytes:
    """The answer: one result for each report, in the order of the request."""
    if reading.places is not None:
        every = [Outcome(REJECTED, MALFORMED)] * len(reading.ids)
        for place, outcome in zip(reading.places, outcomes, strict=True):
            every[place] = outcome
        outcomes = every
    for outcome in outcomes:
        count(outcome)
    found = [Result(id, outcome.status, outcome.reason) for id, outcome in zip(reading.ids, outcomes, strict=True)]
    return _encoder.encode(Results(found))
