"""Answers in an order as a question of its own: what may be answered, and the mechanism that asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.ranges import RANGES, WORKLOADS
from deniable.errors import InWords, require
from deniable.mechanisms.ordinal.base import Windows

__all__ = ["ordinal"]


@dataclass(frozen=True, slots=True)
class Ordinal:
    """Answers whose order counts, and what is to be read from them: all ranges, or prefixes (cumulative shares)."""

    domain: Domain
    queries: str = RANGES

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.domain.k

    def mechanism(self, epsilon: float) -> Windows:
        """What asks it, with this promise."""
        return Windows.optimal(epsilon=epsilon, domain=self.domain, queries=self.queries)


def ordinal(answers: int | Sequence[str] | Domain, *, queries: str = RANGES) -> Ordinal:
    """A question whose answers have an order: so many points, their labels from the first to the last, or a domain.

    >>> age = ordinal(64)
    >>> age.mechanism(1.0).widths
    (1, 2, 4, 8, 16)
    >>> ordinal(["never", "rarely", "often"]).k
    3
    """
    require(queries in WORKLOADS, "queries", queries, f"one of {', '.join(WORKLOADS)}")
    hint = "Say how fine it is: dn.Grid.of(low, high, points)."
    require(not isinstance(answers, Span), "answers", InWords("an interval"), "points, labels or a domain", hint)
    return Ordinal(Domain.of(answers), queries)
