"""Tasks for tests: one document with changes, and the designs and tasks of the shared vectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client.canonical import digest
from deniable_client.task import Task, seal

__all__ = ["GRR", "PRIVATE", "VECTORS", "asked", "document", "loaded", "noon", "sealed", "signed", "vectors"]

VECTORS = Path(__file__).parents[1] / "clients" / "vectors"

GRR: dict[str, Any] = {
    "mechanism": "grr",
    "version": 1,
    "epsilon": 1,
    "domain": {"labels": ["no", "yes"]},
    "params": {},
    "kernel": {"kind": "response", "k": "2", "keep": "13485650502877570762"},
}


def vectors(name: str) -> dict[str, Any]:
    """A file of the vectors that all clients share."""
    found: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_text())
    return found


def document(**changes: Any) -> dict[str, Any]:
    """A task that asks every day, with its id."""
    made: dict[str, Any] = {
        "version": 1,
        "subject": "sleep",
        "epsilon": 1,
        "questions": [{"name": "q", "text": "Tired?", "design": GRR, "share": 1}],
        "window": {"opens": "2026-11-16", "days": 1, "count": 2000},
        "precision": "day",
        "min_batch": 10,
        "memory": "remembered",
        "budget": {"task": 2, "subject": 4, "lifetime": 8},
        "retention": {"keep": "tally"},
        "expires": "2033-01-01",
    }
    return sealed(made | changes)


def sealed(made: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the id of its content."""
    return {**made, "id": digest({name: part for name, part in made.items() if name != "id"})}


def loaded(**changes: Any) -> Task:
    """The same, read."""
    return Task.load(document(**changes))


PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
"""A collector's key."""


def asked(private: Ed25519PrivateKey = PRIVATE, **changes: Any) -> dict[str, Any]:
    """A signed task that asks in one week; None leaves a field out, and `url` is the address that is signed."""
    own = {"name": "Institute", "key": private.public_key().public_bytes_raw().hex()}
    url = changes.pop("url", None)
    made: dict[str, Any] = {
        "version": 2,
        "collector": own if url is None else own | {"url": url},
        "language": "en",
        "subject": "sleep",
        "epsilon": 1,
        "design": GRR,
        "questions": [[{"name": "q", "text": "Tired?", "none": "no"}]],
        "window": {"opens": "2026-11-16", "days": 7, "count": 1},
        "memory": "fresh",
        "sending": {"attempts": 8, "days": 7},
        "budget": 1000,
        "min_batch": 10,
        "retention": {"keep": "tally"},
    }
    return seal({name: part for name, part in (made | changes).items() if part is not None}, private.sign)


def signed(private: Ed25519PrivateKey = PRIVATE, **changes: Any) -> Task:
    """The same, read."""
    return Task.load(asked(private, **changes))


def noon(day: str = "2026-11-16") -> float:
    """Seconds at noon of a day."""
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()
