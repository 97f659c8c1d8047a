"""The web service: its routes, and what each of them does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from typing import Annotated, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.collect.codec import dump
from deniable.service.access import keys as access
from deniable.service.access.keys import Role
from deniable.service.collector import Collector, Known
from deniable.service.http.bodies import (
    JSON,
    OCTETS,
    Batch,
    Results,
    body_of,
    read_body,
    read_reports,
    results,
    room_of_reports,
)
from deniable.service.http.openapi import openapi
from deniable.service.http.problems import Problem, respond
from deniable.service.http.routes import FOR_EVER, H, Row, Rows, routes
from deniable.service.http.tables import FILES, TARGET, as_file, windows_now
from deniable.service.logs import log
from deniable.service.release import Window, tally_of
from deniable.service.store.contract import STATES, Outcome, StoreUnavailableError, Upload
from deniable_client.task import Task

__all__ = ["ROWS", "application"]

_PROBE_SECONDS = 5
"""How long a look at the database may take."""
_MUCH = 64 << 10
"""Bytes of a body that is not read on the event loop."""

_DOCUMENT = {"type": "object"}
_ANSWERED = {"answers": {200: _DOCUMENT}}
_WINDOW = {"window": ({"type": "integer", "minimum": 0}, "Only this window; all that have begun if left out.")}
_QUESTION = {"question": ({"type": "string"}, "The question of the file; the first one if left out.")}
_STORE = ("unavailable",)
_KEYED = ("no-key", "wrong-role", *_STORE)
_SENT = ("malformed", "slow", "too-large", "media-type", "invalid", "busy")
_NONE = ("not-found", "invalid", "conflict")


class _Service(Rows):
    """Routes for devices and for whoever has a key; those with a key answer with a document unless more is said."""

    def analyst(self, path: str, summary: str, *problems: str, **own: Any) -> Callable[[H], H]:
        """A decorator: the function answers analysts."""
        return self.add("GET", path, summary, *problems, *_KEYED, role=Role.ANALYST, **{**_ANSWERED, **own})

    def administrator(
        self, method: str, path: str, summary: str, *problems: str, takes: Any = None, **own: Any
    ) -> Callable[[H], H]:
        """A decorator: the function answers administrators, who may send JSON of a kind."""
        sent, body = (_SENT, {JSON: takes}) if takes else ((), None)
        more = {**_ANSWERED, "takes": body, **own}
        return self.add(method, path, summary, *problems, *sent, *_KEYED, role=Role.ADMINISTRATOR, **more)


ROWS = _Service()
"""All routes; whoever adds one says its role."""


def application(
    collector: Collector, *, more: Sequence[Row] = (), stop: Callable[[], Awaitable[None]] | None = None
) -> Starlette:
    """The service as an ASGI application; `more` routes such as pages, `stop` is called when it ends."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        upkeep = asyncio.create_task(collector.upkeep())
        yield
        collector.stopping = True
        upkeep.cancel()
        with suppress(asyncio.CancelledError):
            await upkeep
        if stop is not None:
            await stop()

    async def elsewhere(_: Request, error: Exception) -> Response:
        found = isinstance(error, HTTPException) and error.status_code != 404
        return respond(Problem("malformed" if found else "not-found", "There is no such path."))

    rows = [*ROWS, *more]
    return Starlette(routes=routes(collector, rows), lifespan=life, exception_handlers={HTTPException: elsewhere})


def _json(content: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(content, allow_nan=False), status, headers or None, JSON)


# ---- about the service


class Health(msgspec.Struct, omit_defaults=True):
    """Whether all is well; if not, why."""

    status: str
    why: list[str] = []


@ROWS.public("/healthz", "The process runs", answers={200: Health})
async def healthz(_: Collector, __: Request) -> Response:
    """The process runs."""
    return _json({"status": "ok"})


@ROWS.public("/readyz", "Reports can be taken", "busy", *_STORE, answers={200: Health})
async def readyz(collector: Collector, _: Request) -> Response:
    """Reports can be taken: the database can be written, and the process is not about to stop."""
    if collector.stopping:
        raise Problem("busy", "The collector is stopping.")
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await collector.probe()
    except TimeoutError:
        raise StoreUnavailableError(f"the database did not answer within {_PROBE_SECONDS} seconds.") from None
    notes = collector.notes
    return Response(msgspec.json.encode(Health("degraded" if notes else "ready", notes)), media_type=JSON)


@ROWS.public("/metrics", "Counters for Prometheus", answers={200: "text/plain"})
async def metrics(collector: Collector, _: Request) -> Response:
    """Counters for Prometheus."""
    return Response(collector.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@ROWS.public("/openapi.json", "This description", answers={200: _DOCUMENT})
async def description(_: Collector, __: Request) -> Response:
    """This description."""
    return _json(openapi(ROWS))


# ---- for devices


async def _found(collector: Collector, request: Request, *, drafts: bool = False) -> Known:
    id = request.path_params["id"]
    known = await collector.task(id) if len(id) == 64 and id.isascii() else None
    if known is None or (known.row.state == "draft" and not drafts):
        raise Problem("not-found", "There is no task with this id here.")
    return known


@ROWS.public(
    "/v1/tasks/{id}", "The task document", "not-found", *_STORE, answers={200: _DOCUMENT, 304: None}, shared=True
)
async def task(collector: Collector, request: Request) -> Response:
    """The task document."""
    known = await _found(collector, request)
    tag = f'"{known.row.id}"'
    headers = {"etag": tag, "cache-control": FOR_EVER}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(known.row.document, 200, headers, JSON)


@ROWS.add(
    "POST",
    "/v1/tasks/{id}/reports",
    "Send reports; answered when all that are accepted are durable",
    *("not-found", "rate", *_SENT, *_STORE),
    role=Role.PUBLIC,
    answers={200: Results},
    takes={JSON: Batch, OCTETS: None},
    shared=True,
)
async def upload(collector: Collector, request: Request) -> Response:
    """Take reports; answered when all that are accepted are durable."""
    collector.admit()
    start = perf_counter()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (JSON, OCTETS):
        headers = {"accept-post": f"{JSON}, {OCTETS}", "connection": "close"}
        raise Problem("media-type", f"Send {JSON} or {OCTETS}.", headers=headers)
    known = await _found(collector, request)
    width, counted = known.intake.task.width, collector.metrics.reports

    def count(outcome: Outcome) -> None:
        counted[outcome.status, outcome.reason or ""] += 1

    with collector.held.lease() as lease:
        body = await body_of(request, collector.settings, lease, room_of_reports(width))
        given = kind, body, width, collector.settings
        reading = read_reports(*given) if len(body) <= _MUCH else await asyncio.to_thread(read_reports, *given)
        outcomes = await collector.upload(Upload(known.row.id, collector.today(), reading.reports))
        answer = results(reading, outcomes, count)
    collector.metrics.uploaded(perf_counter() - start)
    return Response(answer, media_type=JSON)


# ---- for analysts


class Listed(msgspec.Struct):
    """A task in a list."""

    id: str
    state: str
    subject: str
    questions: list[str]
    opens: str
    closes: str


class Tasks(msgspec.Struct):
    """All tasks."""

    tasks: list[Listed]


@ROWS.analyst("/v1/tasks", "All tasks", answers={200: Tasks})
async def tasks(collector: Collector, _: Request) -> Response:
    """All tasks, drafts too."""
    rows = await asyncio.to_thread(collector.store.tasks)
    listed = [(row, await collector.task(row.id)) for row in rows]
    found = [_listed(known.intake.task, row.state) for row, known in listed if known is not None]
    return Response(msgspec.json.encode(Tasks(found)), media_type=JSON)


def _listed(task: Task, state: str) -> Listed:
    texts = [question.text for question in task.questions]
    return Listed(task.id, state, task.subject, texts, task.opens.isoformat(), task.closes.isoformat())


@ROWS.analyst("/v1/tasks/{id}/status", "Reports by window, rejected ones by reason", "not-found")
async def status(collector: Collector, request: Request) -> Response:
    """How a task is doing: reports by window, rejected ones by reason."""
    known = await _found(collector, request, drafts=True)
    found = await windows_now(collector, known)
    rejections = await asyncio.to_thread(collector.store.rejections, known.row.id)
    counted = [{"window": w.number, "state": w.state, "reports": w.reports} for w in found]
    return _json({"task": known.row.id, "state": known.row.state, "windows": counted, "rejected": dict(rejections)})


@ROWS.analyst("/v1/tasks/{id}/estimate", "Estimates of windows that are over", "not-found", "invalid", query=_WINDOW)
async def estimate(collector: Collector, request: Request) -> Response:
    """Estimates of all windows that are over; of others the number of reports."""
    known = await _found(collector, request, drafts=True)
    found = _chosen(request, await windows_now(collector, known))
    told = [_without_tallies(window.told(known.intake.task)) for window in found]
    return _json({"task": known.row.id, "state": known.row.state, "windows": told})


@ROWS.analyst("/v1/tasks/{id}/tally", "Tallies of windows that are over", *_NONE, query=_WINDOW | _QUESTION)
async def tally(collector: Collector, request: Request) -> Response:
    """Tallies of all windows that are over, as files in base64; or one file for all of them, if that is accepted."""
    known = await _found(collector, request, drafts=True)
    task, found = known.intake.task, _chosen(request, await windows_now(collector, known))
    name = request.query_params.get("question", task.questions[0].name)
    if name not in {question.name for question in task.questions}:
        raise Problem("invalid", f"The task has no question {name[:64]!r}.")
    total = await asyncio.to_thread(tally_of, found, name)
    if OCTETS in request.headers.get("accept", ""):
        if total is None:
            raise Problem("conflict", "Nothing is published yet: windows are open, or below the minimum batch.")
        log("download", id=known.row.id, what="tally", by=request.state.key.name)
        return Response(await asyncio.to_thread(dump, total), media_type=OCTETS)
    log("download", id=known.row.id, what="tally", by=request.state.key.name)
    told = [_only_tallies(window.told(task)) for window in found]
    return _json({"task": known.row.id, "state": known.row.state, "windows": told})


@ROWS.analyst(
    "/v1/tasks/{id}/results.{kind}",
    "All that is published as one flat table: CSV, JSON or Parquet",
    *_NONE,
    answers={200: FILES},
    query=TARGET,
)
async def table(collector: Collector, request: Request) -> Response:
    """One row for each window, question, group and answer that is published; docs/formats.md has the columns."""
    known = await _found(collector, request, drafts=True)
    answer = await as_file(request, known.intake.task, await windows_now(collector, known))
    log("download", id=known.row.id, what=request.path_params["kind"], by=request.state.key.name)
    return answer


def _chosen(request: Request, found: Sequence[Window]) -> Sequence[Window]:
    wanted = request.query_params.get("window")
    if wanted is None:
        return found
    chosen = [window for window in found if str(window.number) == wanted]
    if not chosen:
        raise Problem("invalid", f"There is no window {wanted[:20]!r} (yet); there are {len(found)}, from 0 on.")
    return chosen


def _without_tallies(told: dict[str, Any]) -> dict[str, Any]:
    return _mapped(told, lambda part: {name: value for name, value in part.items() if name != "tally"})


def _only_tallies(told: dict[str, Any]) -> dict[str, Any]:
    kept = ("question", "state", "strata", "reports", "tally", "groups")
    return _mapped(told, lambda part: {name: value for name, value in part.items() if name in kept})


def _mapped(told: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A window's document with its questions and their groups changed."""
    if "questions" not in told:
        return told
    questions = [change(question) for question in told["questions"]]
    for question in questions:
        if "groups" in question:
            question["groups"] = [change(group) for group in question["groups"]]
    return {**told, "questions": questions}


# ---- for administrators


class State(msgspec.Struct, forbid_unknown_fields=True):
    """The state that a task is to have."""

    state: Annotated[str, msgspec.Meta(pattern="^(open|closed)$")]


class NewKey(msgspec.Struct, forbid_unknown_fields=True):
    """A key that is to be made."""

    role: Annotated[str, msgspec.Meta(pattern="^(analyst|administrator)$")]
    name: str | None = None


class Key(msgspec.Struct, omit_defaults=True):
    """A key; the key itself only when it is made."""

    name: str
    role: str
    created: str
    revoked: str | None = None
    key: str | None = None


class Keys(msgspec.Struct):
    """All keys."""

    keys: list[Key]


async def _body(collector: Collector, request: Request, kind: Any) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Problem("media-type", f"Send {JSON}.", headers={"connection": "close"})
    body = await read_body(request, collector.settings, collector.held)
    if kind is None:
        return body
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Problem("invalid", f"The body is not what it should be: {error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Problem("malformed", "The body is not JSON in UTF-8.") from None


@ROWS.administrator(
    "POST", "/v1/tasks", "Keep a sealed task document as a draft", "conflict", answers={201: _DOCUMENT}, takes=_DOCUMENT
)
async def new_task(collector: Collector, request: Request) -> Response:
    """Keep a sealed task document as a draft; the same one again changes nothing."""
    body = await _body(collector, request, None)
    made = await asyncio.to_thread(Task.load, body)
    await asyncio.to_thread(collector.store.put_task, made.id, body)
    log("task", id=made.id, state="draft", by=request.state.key.name)
    return _json({"id": made.id, "state": "draft"}, 201, location=f"/v1/tasks/{made.id}")


@ROWS.administrator(
    "PUT", "/v1/tasks/{id}/state", "Open a task, or close it for good", "not-found", "conflict", takes=State
)
async def set_state(collector: Collector, request: Request) -> Response:
    """Open a task, or close it for good."""
    wanted = (await _body(collector, request, State)).state
    known = await _found(collector, request, drafts=True)
    if STATES.index(wanted) < STATES.index(known.row.state):
        raise Problem("conflict", f"The task is {known.row.state}; it cannot become {wanted} again.")
    await asyncio.to_thread(collector.store.set_state, known.row.id, wanted)
    collector.forget(known.row.id)
    log("task", id=known.row.id, state=wanted, by=request.state.key.name)
    return _json({"id": known.row.id, "state": wanted})


@ROWS.administrator("GET", "/v1/keys", "All keys, without the keys themselves", answers={200: Keys})
async def keys(collector: Collector, _: Request) -> Response:
    """All keys, without the keys themselves."""
    rows = await asyncio.to_thread(collector.store.keys)
    found = [Key(k.name, k.role, str(k.created), None if k.revoked is None else str(k.revoked)) for k in rows]
    return Response(msgspec.json.encode(Keys(found)), media_type=JSON)


@ROWS.administrator("POST", "/v1/keys", "Make a key, which is shown this once", answers={201: Key}, takes=NewKey)
async def new_key(collector: Collector, request: Request) -> Response:
    """Make a key; it is shown this once."""
    wanted, today = await _body(collector, request, NewKey), collector.clock().date()
    name, key = await asyncio.to_thread(access.new_key, collector.store, wanted.role, today=today, name=wanted.name)
    log("key", name=name, role=wanted.role, by=request.state.key.name)
    made = Key(name, wanted.role, str(today), None, key)
    return Response(msgspec.json.encode(made), 201, {"cache-control": "no-store"}, JSON)


@ROWS.administrator("DELETE", "/v1/keys/{name}", "Make a key void", "not-found", answers={204: None})
async def revoke_key(collector: Collector, request: Request) -> Response:
    """Make a key void now."""
    name = request.path_params["name"]
    if name not in {key.name for key in await asyncio.to_thread(collector.store.keys)}:
        raise Problem("not-found", "There is no key of this name.")
    await asyncio.to_thread(access.revoke, collector.store, name, collector.clock().date())
    log("key", name=name, revoked=True, by=request.state.key.name)
    return Response(status_code=204)
