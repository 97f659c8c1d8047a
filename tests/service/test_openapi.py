"""The description of the service: it has all routes, and what is sent by it is answered as it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.service.http.app import ROWS
from deniable.service.http.openapi import openapi
from deniable.service.http.problems import KINDS, Problem, respond
from deniable.service.settings import Settings
from service.calling import Service, item
from service.running import Running


def test_every_route_is_described_with_its_role_and_problems() -> None:
    found = Service().get("/openapi.json").json
    assert found == json.loads(json.dumps(openapi(ROWS)))
    assert found["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    assert described == {(row.method, row.path) for row in ROWS}
    for row in ROWS:
        operation = found["paths"][row.path][row.method.lower()]
        assert ("security" in operation) == (row.role.name != "PUBLIC")
        assert f"Role: {row.role.name.lower()}." in operation["description"]
        for name in (*row.problems, "method", "fault"):  # the last two may come on every route
            assert str(KINDS[name].status) in operation["responses"]


def test_problems_that_pass_say_when_to_try_again() -> None:
    """Seconds, of all problems that are over by themselves; of no other."""
    assert {name: kind.retry for name, kind in KINDS.items() if kind.retry} == {
        "slow": 5, "rate": 1, "busy": 2, "unavailable": 10,
    }  # fmt: skip
    for name, kind in KINDS.items():
        headers = respond(Problem(name, "no.", headers={"connection": "close"})).headers
        assert headers.get("retry-after") == (str(kind.retry) if kind.retry else None)
        assert headers["connection"] == "close"
        assert (kind.status in (408, 429, 503)) == bool(kind.retry)


def test_references_lead_somewhere() -> None:
    document = openapi(ROWS)
    asked = {name.rpartition("/")[2] for name in _references(document)}
    assert asked
    assert asked <= set(document["components"]["schemas"])


def _references(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if "$ref" in part else []
        return own + [name for value in part.values() for name in _references(value)]
    return [name for value in part for name in _references(value)] if isinstance(part, list) else []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("role", ["public", "administrator"])
def test_requests_made_from_the_description_are_answered_as_it_says(role: str) -> None:
    """Schemathesis: right and wrong requests for each route; no 5xx, statuses, kinds and schemas as described."""
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install schemathesis")
    from hypothesis import HealthCheck, Phase, given, settings

    known = schemathesis.checks
    checks = [
        known.not_a_server_error,
        known.status_code_conformance,
        known.content_type_conformance,
        known.response_schema_conformance,
    ]
    sent = 0
    with Running(Settings(port=0)) as running:
        service = running.service
        assert service.fates(running.id, item(1)) == ["accepted"]
        headers = {} if role == "public" else service.key("administrator")
        schema = schemathesis.openapi.from_dict(_with_task(openapi(ROWS), running.id))
        right, wrong = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
        operations = [result.ok() for result in schema.get_all_operations()]
        for operation, mode in [(o, mode) for o in operations for mode in (right, *([wrong] if o.body else []))]:

            @settings(
                max_examples=60,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def trial(case: Any) -> None:
                nonlocal sent
                sent += 1
                case.headers = {**dict(case.headers or {}), **headers}
                response = case.call(base_url=f"http://127.0.0.1:{running.port}")
                case.validate_response(response, checks=checks)

            trial()
        assert service.get("/healthz").status == 200
    assert sent > 200


def _with_task(document: dict[str, Any], id: str) -> dict[str, Any]:
    """The description for this task: half of the time it is the one that is asked for."""
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["name"] == "id":
                    parameter["schema"] = {"enum": [id, "0" * 64]}
    return document
