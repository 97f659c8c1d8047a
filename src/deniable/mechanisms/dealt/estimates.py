"""Estimates of several parts, by the names of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.collect.frames import Columned
from deniable.collect.reports import Design, title_of
from deniable.core.types import Target
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate

__all__ = ["Estimates"]


@dataclass(frozen=True, slots=True, repr=False)
class Estimates(Columned, Mapping[str, Estimate]):
    """The estimate of every part, each from the reports of those who got it: `estimates["age"].value`.

    Errors for the `population` are for all people alike; those for `reporters` speak of the people who got the part.
    """

    each: Mapping[str, Estimate]
    design: Design

    @property
    def n(self) -> int:
        """Number of reports, of all parts together."""
        return sum(estimate.n for estimate in self.each.values())

    @property
    def simulated(self) -> bool:
        """Whether any report came from a seeded stream."""
        return any(estimate.simulated for estimate in self.each.values())

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.each:
            raise ParameterError(f"part must be one of {', '.join(self.each)}, got {name!r}.")
        return self.each[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.each)

    def __len__(self) -> int:
        return len(self.each)

    def __repr__(self) -> str:
        told = "".join(f"\n  {name}: {estimate!r}" for name, estimate in self.each.items())
        return f"<Estimates from {self.n:,} reports of {title_of(self.design)}{', SIMULATED' * self.simulated}:{told}>"

    def _repr_html_(self) -> str:
        """The small tables of all parts, for notebooks."""
        return "".join(estimate._repr_html_() for estimate in self.each.values())

    def to_columns(self, level: float = 0.95, target: Target = "reporters") -> dict[str, list[Any]]:
        """`Estimate.to_columns` of all parts, one below the other, each row with the name of its part."""
        tables = {name: estimate.to_columns(level, target) for name, estimate in self.each.items()}
        parts = [name for name, table in tables.items() for _ in table["label"]]
        first = next(iter(tables.values()))
        return {"part": parts} | {column: [x for table in tables.values() for x in table[column]] for column in first}
