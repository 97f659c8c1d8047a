"""Mechanisms as plain data: the registry's rows, and a design with its closed-form properties."""

from __future__ import annotations

from typing import Any

from deniable.errors import PrivacyError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.common import kept
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable_client import explain
from deniable_client.grammar import FORMS

__all__ = ["describe", "describe_protocol", "registry_rows"]


def registry_rows() -> list[dict[str, Any]]:
    """All mechanisms and protocols: what they are, what they are good for, their own options and their source."""
    return [
        {
            "name": name,
            "kind": entry.kind,
            "summary": entry.summary,
            "best_for": entry.best_for,
            "options": list(entry.options),
            "source": entry.source,
            "vetted": entry.cls.vetted,
        }
        for name, entry in {**MECHANISMS, **PROTOCOLS}.items()
    ]


def describe_protocol(p: Protocol[Any], n: int = 1) -> dict[str, Any]:
    """A protocol's parameters and its steps as they come for made-up people, each with its properties.

    `n` people take part: those of a step are their share of them, where not everybody answers every step.
    """
    require(n >= 1, "n", n, "an integer >= 1", "It is the number of people.")
    steps = []
    for step in p.outline:
        m, people = step.mechanism, n if p.repeated else step.share * n
        own = {"epsilon": m.epsilon, "epsilon_exact": m.epsilon_exact, "people": people, **m.properties(people)}
        steps.append(step.document() | own)
    promise = {"epsilon": p.epsilon, "epsilon_exact": p.proof.epsilon}
    head = {"mechanism": p.name, "kind": "protocol", "protection": p.protection.document(), **promise}
    rest = {"k": p.k, "n": n, "params": p.params, "shares": list(p.shares), "repeated": p.repeated}
    return head | rest | {"steps": steps, "vetted": p.vetted}


def describe(m: Mechanism, n: int = 1) -> dict[str, Any]:
    """A mechanism's parameters and properties for n reports.

    Where epsilon is too large to draw reports, what speaks of the sampled integers is left out, and `note` says why.
    """
    require(n >= 1, "n", n, "an integer >= 1", "It is the number of reports.")
    exact = {} if m.refusal else {"epsilon_exact": m.epsilon_exact}
    promise = {"protection": m.protection.document(), "epsilon": m.epsilon}
    head = {"mechanism": m.name, **promise, **exact, "k": m.k, "n": n, "params": m.params}
    chosen = {} if m.selection is None else {"selection": dict(m.selection)}
    sampled = {"note": str(m.refusal)} if m.refusal else {"effective": m.effective(n)}
    design = {} if m.refusal else {"design": m.design, **_told(m)}
    return head | chosen | m.properties(n) | sampled | {"vetted": m.vetted} | design


def _told(m: Mechanism) -> dict[str, str]:
    """What a device tells its owner, where devices know the mechanism and draw its reports, or that they refuse it."""
    if m.name not in FORMS or not kept(m):
        return {}
    try:
        return {"explain": str(explain(m.design))}
    except PrivacyError as error:
        return {"explain": f"Devices refuse it: {error.message}"}
