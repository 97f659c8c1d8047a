"""The description of the service (OpenAPI 3.1), made of the table of routes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from deniable.service.access.keys import Role
from deniable.service.http.problems import KINDS, MEDIA_TYPE
from deniable.service.http.routes import Row

__all__ = ["openapi"]

_REF = "#/components/schemas/{name}"
_PATHS: Mapping[str, dict[str, Any]] = {
    "id": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,62}$"},
    "kind": {"type": "string", "enum": ["csv", "json", "parquet"]},
}
_PROBLEM: Mapping[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
    },
}
_UPLOAD = {
    "id": {"type": "string", "pattern": "^[0-9a-fA-F]{32}$", "description": "16 random bytes"},
    "report": {"type": "string", "contentEncoding": "base64"},
}
_NEVER = ("method", "fault")
"""Problems that may come on every route."""


def openapi(rows: Sequence[Row]) -> dict[str, Any]:
    """The document as plain data."""
    types = [kind for row in rows for kind in (*row.answers.values(), *(row.takes or {}).values()) if _is_type(kind)]
    _, schemas = msgspec.json.schema_components(types, ref_template=_REF)
    schemas["Problem"] = dict(_PROBLEM)
    schemas["Item"]["properties"] = _UPLOAD
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    security = {"key": {"type": "http", "scheme": "bearer"}}
    about = {"title": "Deniable collector", "version": "1", "description": "See docs/protocol.md."}
    return {
        "openapi": "3.1.0",
        "info": about,
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": security},
    }


def _operation(row: Row) -> dict[str, Any]:
    known = re.findall(r"{(\w+)}", row.path)
    parameters = [{"name": n, "in": "path", "required": True, "schema": _PATHS[n]} for n in known]
    for name, (schema, help) in (row.query or {}).items():
        parameters.append({"name": name, "in": "query", "schema": dict(schema), "description": help})
    found: dict[str, Any] = {
        "operationId": row.handler.__name__,
        "summary": row.summary,
        "description": f"{row.handler.__doc__} Role: {row.role.name.lower()}.",
        "parameters": parameters,
        "responses": {str(status): _response(kind) for status, kind in row.answers.items()} | _problems(row),
    }
    if row.takes:
        found["requestBody"] = {"required": True, "content": {kind: _content(of) for kind, of in row.takes.items()}}
    if row.role is not Role.PUBLIC:
        found["security"] = [{"key": []}]
    return found


def _response(kind: Any) -> dict[str, Any]:
    if kind is None:
        return {"description": "Done"}
    if isinstance(kind, str | tuple):  # media types of what has no schema
        return {"description": "Done", "content": {each: {} for each in ([kind] if isinstance(kind, str) else kind)}}
    return {"description": "Done", "content": {"application/json": _content(kind)}}


def _problems(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (*row.problems, *_NEVER):
        kind = KINDS[name]
        content = {MEDIA_TYPE: {"schema": {"$ref": _REF.format(name="Problem")}}}
        known: dict[str, Any] = {"description": kind.title, "content": content}
        if kind.retry:
            known["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
        found.setdefault(str(kind.status), known)
    return found


def _content(kind: Any) -> dict[str, Any]:
    if kind is None:
        return {"schema": {"type": "string", "format": "binary"}}
    if isinstance(kind, Mapping):
        return {"schema": dict(kind)}
    return {"schema": {"$ref": _REF.format(name=kind.__name__)}}


def _is_type(kind: Any) -> bool:
    return isinstance(kind, type)
