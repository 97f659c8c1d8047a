"""The table of protocols, and how to make one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core.domain import Domain
from deniable.errors import require
from deniable.mechanisms.collaborative import CollaborativeSampling
from deniable.mechanisms.keyvalue_rows import PROTOCOL_ROWS
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.registry import Entry

__all__ = ["PROTOCOLS", "protocol"]

_ROWS: Mapping[str, Mapping[str, Any]] = {
    **PROTOCOL_ROWS,
    "collaborative": {
        "cls": CollaborativeSampling,
        "make": CollaborativeSampling,
        "summary": "the share of harmless answers from a few people, then answers from the rest, pooled",
        "source": "ULDP Sec. 5.4",
        "best_for": "some answers sensitive, and nobody knows how many people have a harmless one",
        "options": ("sensitive", "base", "form", "guess", "first_share", "mix"),
        "kind": "protocol",
    },
}

PROTOCOLS: Mapping[str, Entry] = {name: Entry(**row) for name, row in _ROWS.items()}
"""Collections in several steps."""


def protocol(
    name: str, *, epsilon: float, k: int | None = None, labels: Sequence[str] | None = None, **options: Any
) -> Protocol[Any]:
    """The protocol `name` for a domain given by `k` or `labels`, with its own options.

    >>> protocol("ks-adap", epsilon=2.0, k=1000, top=20).first().share
    0.4
    """
    require(name in PROTOCOLS, "protocol", name, f"one of {', '.join(PROTOCOLS)}")
    entry = PROTOCOLS[name]
    unknown = [o for o in options if o not in entry.options]
    require(not unknown, "options", unknown, f"among {', '.join(entry.options)} for {name}")
    given = [what for what in (k, labels) if what is not None]
    require(len(given) == 1, "domain", given, "given by exactly one of k and labels")
    made: Protocol[Any] = entry.make(epsilon=epsilon, domain=Domain.of(given[0]), **options)
    return made
