"""Which answers are sensitive: how that is given, checked and kept by mechanisms that protect only some."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.protection import Protection
from deniable.core.types import IntArray
from deniable.errors import ParameterError, meant, require, show
from deniable.mechanisms.base import Mechanism

__all__ = [
    "SensitiveItems",
    "SensitiveMechanism",
    "check_theta",
    "protect_sensitive",
    "sensitive_ranges",
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

    @property
    def protection(self) -> Protection:
        return protect_sensitive(self)


def protect_sensitive(m: Any, **more: Any) -> Protection:
    """What a mechanism with sensitive items promises: the same to all items if all are sensitive.

    Where nothing can be sampled the chance to disclose is not known, and told as 1.
    """
    if m.s == m.k and "budgets" not in more:
        return Protection(epsilon=m.epsilon, **more)
    told = Fraction(1) if m.refusal else m.disclosed_chance
    return Protection(epsilon=m.epsilon, sensitive=m.sensitive, names=m.domain.labels, disclosed=told, **more)


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


def sensitive_ranges(sensitive: object, domain: Domain) -> tuple[int, ...]:
    """The sensitive items as ends of half-open ranges.

    A whole number (also as text) means the first so many items, whatever their labels are; else labels, in a list or
    separated by commas. A label that is a number stands in a list, or in quotation marks.

    >>> sensitive_ranges("b,d", Domain.of(["a", "b", "c", "d"])), sensitive_ranges(2, Domain.of(5))
    ((1, 2, 3, 4), (0, 2))
    """
    if isinstance(sensitive, str) and sensitive.strip().isascii() and sensitive.strip().isdigit():
        sensitive = int(sensitive)
    if isinstance(sensitive, int | np.integer) and not isinstance(sensitive, bool):
        ok = bool(0 <= sensitive <= domain.k)
        require(ok, "sensitive", sensitive, f"a number from 0 to {domain.k}, or labels of the domain")
        return (0, int(sensitive)) if sensitive else ()
    names = next(csv.reader([sensitive]), []) if isinstance(sensitive, str) else sensitive
    listed = isinstance(names, Sequence | set | frozenset | np.ndarray)
    require(listed, "sensitive", sensitive, "a number of items or a list of labels")
    index = {label: i for i, label in enumerate(domain.labels_or_numbers)}
    wanted = [str(name) for name in names]  # type: ignore[attr-defined]
    unknown = [name for name in wanted if name not in index]
    if unknown:
        shown = ", ".join(list(index)[:6]) + (", ..." if domain.k > 6 else "")
        raise ParameterError(
            f"sensitive must be among the {domain.k} labels of the domain ({shown}), got {show(unknown[0])}.",
            f"{meant(unknown[0], index)} Correct it, or add the label to the domain.".lstrip(),
        )
    ranges: list[int] = []
    for i in sorted({index[name] for name in wanted}):
        if ranges and ranges[-1] == i:
            ranges[-1] = i + 1
        else:
            ranges += [i, i + 1]
    return tuple(ranges)


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
