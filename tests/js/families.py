"""A task of each family of kernels, with people who answer it and what is true of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.types import FloatArray
from deniable_client.task import seal
from tasks import PRIVATE

SEED = 20261116
"""Of people's answers; their devices draw from the system."""


@dataclass(frozen=True)
class Family:
    """Designs of one kind, the people, and what an estimate is compared with."""

    name: str
    options: dict[str, Any]
    people: Callable[[np.random.Generator, int], list[Any]]
    truth: Callable[[Any, list[Any]], dict[str, FloatArray]]
    levels: Sequence[float] | None = None
    harmless: list[int] | None = field(default=None)

    def mechanism(self) -> Any:
        """The mechanism of this family."""
        return dn.mechanism(self.name, epsilon=1.0, **self.options)


def task_of(m: Any, **changes: Any) -> dict[str, Any]:
    """A task with one question, in one window; no answer counts as the first one, or as no pairs."""
    kernel = m.design["kernel"]
    none: Any = 0 if kernel["kind"] != "pairs" else [] if int(kernel["length"]) else [[0, 0]]
    none = [] if kernel["kind"] == "several" else none
    document = {
        "version": 2,
        "collector": {"name": "Families", "key": PRIVATE.public_key().public_bytes_raw().hex()},
        "language": "en",
        "subject": "families",
        "epsilon": 1,
        "design": m.design,
        "questions": [[{"name": "q", "text": "Which?", "none": none}]],
        "window": {"opens": "2026-11-16", "days": 7, "count": 1},
        "memory": "fresh",
        "sending": {"attempts": 8, "days": 7},
        "budget": 2,
        "min_batch": 1,
        "retention": {"keep": "tally"},
    }
    return seal(document | changes, PRIVATE.sign)


# ---- people


def _answers(k: int) -> Callable[[np.random.Generator, int], list[Any]]:
    """Numbers of answers, smaller ones more often."""
    weights = 1 / np.arange(1, k + 1)
    return lambda rng, n: rng.choice(k, n, p=weights / weights.sum()).tolist()


def _numbers(rng: np.random.Generator, n: int) -> list[Any]:
    return rng.beta(2, 5, n).tolist()


def _pairs(rng: np.random.Generator, n: int) -> list[Any]:
    """One pair of a person; values lean differently for each key."""
    keys = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    values = np.clip(rng.normal(np.array([0.5, -0.5, 0.0])[keys], 0.3), -1, 1)
    return [[[int(key), float(value)]] for key, value in zip(keys, values, strict=True)]


# ---- what is true


def _shares(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    return {"frequency": np.bincount(values, minlength=m.domain.k) / len(values)}


def _mean(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    return {"mean": np.array([np.mean(values)])}


def _means(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    keys = np.array([pairs[0][0] for pairs in values])
    numbers = np.array([pairs[0][1] for pairs in values])
    means = np.array([numbers[keys == key].mean() for key in range(3)])
    return {"frequency": np.bincount(keys, minlength=3) / len(keys), "mean": means}


def _ticks(rng: np.random.Generator, n: int) -> list[Any]:
    """At most two of the first four options."""
    return [sorted(set(rng.choice(4, size, p=[0.4, 0.3, 0.2, 0.1]).tolist())) for size in rng.integers(0, 3, n)]


def _ticked(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    return {"frequency": np.array([sum(i in own for own in values) for i in range(m.options)]) / len(values)}


def _hours(rng: np.random.Generator, n: int) -> list[Any]:
    """Hours of the day, most of them in the morning."""
    return (rng.normal(8.0, 3.0, n) % 24).tolist()


def _hour(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    turn = np.exp(2j * np.pi * np.array(values) / 24).mean()
    return {"mean": np.array([np.angle(turn) / (2 * np.pi) * 24 % 24])}


def _each(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    """Shares of the answers to the first question, then of those to the second; the last one changes first."""
    rows = _shares(m, values)["frequency"].reshape(m.sizes)
    return {"frequency": np.concatenate([rows.sum(axis=1), rows.sum(axis=0)])}


def _together(m: Any, values: list[Any]) -> dict[str, FloatArray]:
    return {"interaction": m.interaction_of(_shares(m, values)["frequency"])}


_GRID = {"interval": (0, 1), "points": 256}
FAMILIES: tuple[Family, ...] = (
    Family("grr", {"k": 4}, _answers(4), _shares),
    Family("ss", {"k": 8}, _answers(8), _shares),
    Family("oue", {"k": 8}, _answers(8), _shares),
    Family("olh", {"k": 8}, _answers(8), _shares),
    Family("plh", {"k": 8}, _answers(8), _shares),
    Family("wheel", {"k": 8}, _answers(8), _shares),
    Family("iss", {"k": 8}, _answers(8), _shares),
    Family("hr", {"k": 8}, _answers(8), _shares),
    Family("pgr", {"k": 8}, _answers(8), _shares),
    Family("she", {"k": 4}, _answers(4), _shares),
    Family("ssmix", {"k": 8}, _answers(8), _shares),
    Family("uss", {"k": 8, "sensitive": 3}, _answers(8), _shares, harmless=[3, 4, 5, 6, 7]),
    Family(
        "pldp",
        {"k": 4, "base": "oue", "levels": [0.5, 1.0], "shares": [0.5, 0.5], "level_epsilon": 1.0},
        _answers(4),
        _shares,
        levels=(0.5, 1.0),
    ),
    Family("kv-ss2", {"k": 3, "length": 1}, _pairs, _means),
    Family("kv-olh", {"k": 3, "length": 1}, _pairs, _means),
    Family("exponential", {"points": 4}, _answers(4), _shares),
    Family("affine", {"k": 8, "tolerance": 1.0}, _answers(8), _shares),
    Family("matrix", {"matrix": [[5, 2, 2], [2, 5, 2], [2, 2, 5]]}, _answers(3), _shares),
    Family("duchi", {"interval": (0, 1)}, _numbers, _mean),
    Family("pm", {"interval": (0, 1)}, _numbers, _mean),
    Family("hm", {"interval": (0, 1)}, _numbers, _mean),
)
"""One of each family; the JavaScript client is tried with these in a browser too."""

_LEVELS = {"levels": [0.5, 1.0], "shares": [0.5, 0.5], "level_epsilon": 1.0}
MORE: tuple[Family, ...] = (
    Family("ussmix", {"k": 8, "sensitive": 3}, _answers(8), _shares, harmless=[3, 4, 5, 6, 7]),
    Family(
        "uue-levels", {"k": 5, "sensitive": 3, "item_epsilon": [0.5, 1.0, 1.0]}, _answers(5), _shares, harmless=[3, 4]
    ),
    Family(
        "upldp",
        {"k": 5, "sensitive": 3, "base": "lh", **_LEVELS},
        _answers(5),
        _shares,
        levels=(0.5, 1.0),
        harmless=[3, 4],
    ),
    Family("interaction", {"sizes": (3, 3)}, _answers(9), _together),
    Family("box", {"sizes": (4, 3), "shape": (2, 1)}, _answers(12), _each),
    Family("several", {"k": 5, "most": 2}, _ticks, _ticked),
    Family("several", {"k": 4, "most": 4}, _ticks, _ticked),
    Family("windows", {"points": 8}, _answers(8), _shares),
    Family("om", {"interval": (0, 1)}, _numbers, _mean),
    Family("arc", {"interval": (0, 24)}, _hours, _hour),
    Family("kv-mix", {"k": 3, "length": 1}, _pairs, _means),
    Family("kv-ss", {"k": 3, "length": 1}, _pairs, _means),
    Family("kv-lh", {"k": 3, "length": 1}, _pairs, _means),
    Family("pckv-grr", {"k": 3, "length": 1}, _pairs, _means),
    Family("privkv", {"k": 3}, _pairs, _means),
)
"""Further forms of these families."""
