"""Which answers are sensitive: how that is given, checked and kept by mechanisms that protect only some."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.promise import Promise
from deniable.core.promise.ranges import others, sensitive_ranges
from deniable.core.protection import Protection
from deniable.core.types import IntArray
from deniable.errors import require
from deniable.mechanisms.base import Mechanism

__all__ = [
    "SensitiveItems",
    "SensitiveMechanism",
    "check_theta",
    "promise_sensitive",
    "sensitive_in_words",
    "split_items",
    "split_sensitive",
]


class SensitiveItems(ABC):
    """Which items are sensitive, for mechanisms that have the ends of half-open ranges of item numbers."""

    sensitive: tuple[int, ...]

    @property
    @abstractmethod
    def disclosed_chance(self) -> Fraction:
        """The largest chance that a harmless item is disclosed, of the integers that are sampled."""

    @property
    @abstractmethod
    def k(self) -> int:
        """Number of items."""

    @property
    def s(self) -> int:
        """Number of sensitive items."""
        return sum(self.sensitive[1::2]) - sum(self.sensitive[::2])

    @cached_property
    def items(self) -> tuple[IntArray, IntArray]:
        """Numbers of the sensitive and of the harmless items."""
        return split_items(self.sensitive, self.k)


def promise_sensitive(m: Any) -> Promise:
    """The same to all sensitive items, nothing to others; reports that disclose nothing keep it in both directions.

    If all items are sensitive, there is no other report.
    """
    if m.s == m.k:
        return Promise.plain(m.epsilon, m.k, m.domain.labels)
    rest = others(m.sensitive, m.k)
    return Promise.by_class(m.k, (m.sensitive, rest), (m.epsilon, math.inf), m.domain.labels, strict=m.epsilon)


def sensitive_in_words(m: Any) -> Protection:
    """See `Mechanism.protection`. Where nothing can be sampled the chance to disclose is not known, and told as 1."""
    told = Fraction(1) if m.refusal else m.disclosed_chance
    return Protection(
        promise=m.promise, epsilon=m.epsilon, disclosed=told if m.promise.sensitive is not None else Fraction(0)
    )


@dataclass(frozen=True, kw_only=True)
class SensitiveMechanism(Mechanism, SensitiveItems):
    """A mechanism of which some items are sensitive.

    `theta` is the share of people with a harmless item that parameters and closed-form errors are for; privacy and
    unbiasedness do not depend on it.
    """

    sensitive: tuple[int, ...]
    theta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sensitive", tuple(int(r) for r in self.sensitive))
        object.__setattr__(self, "theta", check_theta(self.theta, self.s, self.k))

    promise = cached_property(promise_sensitive)
    protection = cached_property(sensitive_in_words)


def check_theta(theta: Any, s: int, k: int) -> float:
    """A share between 0 and 1 that fits the number of sensitive items; s/k decides where it is None."""
    if theta is None:
        return (k - s) / k
    theta = _read(theta) if isinstance(theta, str) else theta
    ok = isinstance(theta, int | float | np.floating) and not isinstance(theta, bool) and bool(0 <= theta <= 1)
    require(
        ok,
        "theta",
        theta,
        "between 0 and 1",
        "It is the share of people with a harmless answer; uss, uue and others also take minimax.",
    )
    forced = {0: 1.0, k: 0.0}.get(s)
    fits = forced is None or float(theta) == forced
    require(fits, "theta", theta, f"{forced} with {s} of {k} answers sensitive", "Leave it out.")
    return float(theta)


def _read(text: str) -> float | str:
    """A share that is written as text, as command lines have it."""
    try:
        return float(text)
    except ValueError:
        return text


def split_sensitive(sensitive: object, domain: Domain, theta: object) -> tuple[tuple[int, ...], int, float]:
    """The ranges of sensitive items, how many these are, and the share of people with another one."""
    ranges = sensitive_ranges(sensitive, domain)
    s = sum(ranges[1::2]) - sum(ranges[::2])
    return ranges, s, check_theta(theta, s, domain.k)


def split_items(ranges: Sequence[int], k: int) -> tuple[IntArray, IntArray]:
    """Numbers of the items inside the half-open ranges, and of the others."""
    marked = np.zeros(k, np.bool_)
    for start, end in zip(ranges[::2], ranges[1::2], strict=True):
        marked[start:end] = True
    return np.flatnonzero(marked), np.flatnonzero(~marked)
