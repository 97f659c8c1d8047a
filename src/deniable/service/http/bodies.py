"""What clients send: bodies read within limits of size and time, and the reports in them."""

from __future__ import annotations

import asyncio
import binascii
import zlib
from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec
from starlette.requests import ClientDisconnect, Request

from deniable.service.http.problems import Problem
from deniable.service.limits.held import CrowdedError, Held, Lease
from deniable.service.settings import Settings
from deniable.service.store.contract import ID_BYTES, REJECTED, Incoming, Outcome

__all__ = ["JSON", "OCTETS", "Batch", "Results", "body_of", "read_body", "read_reports", "results", "room_of_reports"]

JSON, OCTETS = "application/json", "application/octet-stream"
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


class _RawBatch(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[msgspec.Raw]


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
_raw = msgspec.json.Decoder(_RawBatch)
_encoder = msgspec.json.Encoder()


_PACE = 10.0
"""Seconds over which the least rate of a body is looked at: whoever stands still for less than that is waited for."""
_STEP = 1 << 18
"""Bytes that are unpacked at a time."""
_FLOOR = 64 << 10
"""Bytes to which any body may be unpacked."""
_AROUND = 128
"""Bytes around a report and its id in JSON: names, quotes, blanks."""
_LEAST_ITEM = len('{"id":"","report":""},')


def room_of_reports(width: int) -> Callable[[int], int]:
    """The most to which so many bytes of gzip may be unpacked, if they are reports of `width` bytes each.

    Ids are random, so no compression brings a report below the 16 bytes of its id: more than that is no honest upload,
    and is not unpacked.
    """
    each = width * 4 // 3 + _AROUND + 2 * ID_BYTES
    return lambda size: _FLOOR + size // ID_BYTES * each


async def body_of(
    request: Request, settings: Settings, lease: Lease, room: Callable[[int], int] | None = None
) -> bytes:
    """The body, decompressed; refused if it is too large, too slow, or if memory is short. The lease holds it.

    `room`: the most to which so many bytes of gzip may be unpacked; the largest body if left out.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 15 or int(length) > settings.max_body):
        raise _too_large(settings)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        headers = {"accept-encoding": "gzip, identity", "connection": "close"}
        raise Problem("media-type", "The content encoding must be gzip, or none.", headers=headers)
    body = await _arrived(request, settings, lease)
    if encoding == "gzip":
        most = settings.max_body if room is None else min(settings.max_body, room(len(body)))
        body = await _unpacked(body, most, settings, lease)
    return body


async def read_body(request: Request, settings: Settings, held: Held) -> bytes:
    """The body of a request that is small, or whose sender is known: its memory is not counted once it was read."""
    with held.lease() as lease:
        return await body_of(request, settings, lease)


async def _arrived(request: Request, settings: Settings, lease: Lease) -> bytes:
    """The body as it was sent. Every `body_rate` x `_PACE` bytes of it must come within so many seconds."""
    clock = asyncio.get_running_loop().time
    end, lot = clock() + settings.body_seconds, settings.body_rate * _PACE
    parts: list[bytes] = []
    size, due = 0, lot
    try:
        async with asyncio.timeout_at(min(end, clock() + _PACE)) as limit:
            lease.give_up = lambda: limit.reschedule(clock())
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                part = message.get("body", b"")
                size += len(part)
                if size > settings.max_body:
                    raise _too_large(settings)
                lease.take(len(part))
                if not message.get("more_body", False):
                    return b"".join([*parts, part]) if parts else part
                parts.append(part)
                if size >= due:
                    due = size + lot
                    limit.reschedule(min(end, clock() + _PACE))
    except TimeoutError:
        if lease.lost:
            raise CrowdedError("too many requests are being read or answered.", "Try again later.") from None
        detail = f"The body must arrive within {settings.body_seconds} seconds, at {settings.body_rate} bytes a second."
        raise Problem("slow", detail, headers={"connection": "close"}) from None
    finally:
        lease.give_up = None


async def _unpacked(body: bytes, most: int, settings: Settings, lease: Lease) -> bytes:
    """What is in gzip, step by step and never more than may be; beside the event loop if it is much."""
    unpacking, parts, rest, size = zlib.decompressobj(wbits=31), list[bytes](), body, 0
    while not unpacking.eof:
        step = min(_STEP, most + 1 - size)
        try:
            if most <= _STEP:
                part = unpacking.decompress(rest, step)
            else:
                part = await asyncio.to_thread(unpacking.decompress, rest, step)
        except zlib.error:
            raise Problem("malformed", "The body is not gzip.") from None
        rest, size = unpacking.unconsumed_tail, size + len(part)
        if size > most:
            raise _too_large(settings, most)
        lease.take(len(part))
        parts.append(part)
        if not rest and not part:
            break
    if not unpacking.eof or unpacking.unused_data:
        raise Problem("malformed", "The body must be one whole gzip member and nothing more.")
    return b"".join(parts)


def _too_large(settings: Settings, most: int | None = None) -> Problem:
    detail = f"A body may have {settings.max_body:,} bytes, also after decompression."
    if most is not None and most < settings.max_body:
        detail = f"A body of this size may have {most:,} bytes after decompression: reports have random ids."
    return Problem("too-large", detail, hint="Send fewer reports at once.", headers={"connection": "close"})


class Reading(NamedTuple):
    """Reports of a request: their ids as they were written, those that can be looked at, and where those are."""

    ids: Sequence[str]
    reports: Sequence[Incoming]
    places: Sequence[int] | None
    """Which of the ids the reports have; None: all of them."""


def read_reports(kind: str, body: bytes, width: int, settings: Settings) -> Reading:
    """The reports of a body, `width` bytes each. How many there are is known before they are looked at."""
    if kind != JSON:
        _few(len(body) // (ID_BYTES + width), settings)
        return _read_octets(body, width)
    if len(body) > settings.max_reports * _LEAST_ITEM and body.count(b"{") > settings.max_reports + 1:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # what it is instead is told below
            _few(len(_raw.decode(body).reports), settings)
    found = _read_json(body)
    _few(len(found.ids), settings)
    return found


def _few(reports: int, settings: Settings) -> None:
    if reports > settings.max_reports:
        detail = f"A request may have {settings.max_reports:,} reports, this one has {reports:,}."
        raise Problem("too-large", detail, hint="Send fewer reports at once.")


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
