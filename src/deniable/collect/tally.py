"""Tallies: integer cells that add up, in any order, on any engine, to the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from deniable.collect.frames import Columned
from deniable.collect.reports import Design, batches_of, difference, once, title_of
from deniable.core.same import Same
from deniable.core.types import IntArray
from deniable.errors import FormatError, MergeError

__all__ = ["Tally", "exact_sum", "part_name"]

_PART = "/"
"""What stands between the name of a part and that of its stratum or cell."""


@dataclass(frozen=True, slots=True, eq=False)
class Tally(Same, Columned):
    """What a collection of reports adds up to.

    `cells["n"]` counts reports by stratum; every other cell has the stratum as its first axis too. Strata are the
    public kinds of reports that are counted apart (one for most mechanisms).
    Of a design of parts, strata and cells are those of the parts, `q2/support` of the second one: such a cell has the
    strata of its own part only.
    """

    design: Design
    strata: tuple[str, ...]
    cells: Mapping[str, IntArray]
    simulated: bool = False
    sources: tuple[str, ...] = ()
    """Ids of the report files that are counted here, as far as they are known: none is counted twice."""
    batches: tuple[str, ...] = ()
    """The same of reports in memory: the last batches that were counted here. No part of the tally's bytes."""
    names: Callable[[str], Sequence[str]] | None = None
    """What the entries of a cell are about, by the cell's name, where that is known. No part of the bytes either."""

    tells: ClassVar[tuple[str, ...]] = ("design", "simulated", "cells")

    def __post_init__(self) -> None:
        if not all(isinstance(name, str) for name in self.strata):
            raise FormatError("the strata of a tally are names.")
        for name, cell in self.cells.items():
            rows = len(self._at(name))
            if cell.dtype != np.int64 or cell.ndim < 1 or cell.shape[0] != rows:
                raise FormatError(f"tally cell {name!r} must be int64 with {rows} strata, got {cell.shape}.")
        if "n" not in self.cells or self.cells["n"].ndim != 1:
            raise FormatError("a tally needs the cell 'n', the number of reports by stratum.")

    @property
    def layout(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the cells, the same for all tallies of a design."""
        return {name: self.cells[name].shape for name in sorted(self.cells)}

    @property
    def n(self) -> int:
        """Number of reports."""
        return exact_sum(self.cells["n"])

    @property
    def parts(self) -> tuple[Tally, ...]:
        """Of a design of parts, the tally of each of them; none of any other design."""
        return tuple(self._part(part_name(i), design) for i, design in enumerate(self.design.get("parts", ())))

    def _part(self, part: str, design: Design) -> Tally:
        own = {name.removeprefix(part): cell for name, cell in self.cells.items() if name.startswith(part)}
        at = self._at(part)
        strata = tuple(self.strata[i].removeprefix(part) for i in at)
        names = None if self.names is None else partial(_of_part, self.names, part)
        return Tally(design, strata, {"n": self.cells["n"][at], **own}, self.simulated, names=names)

    def _at(self, cell: str) -> list[int]:
        """The strata that a cell has: all of them, or those of its part in a design of parts."""
        part = "".join(cell.partition(_PART)[:2]) if "parts" in self.design and _PART in cell else ""
        return [i for i, stratum in enumerate(self.strata) if stratum.startswith(part)]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.design != other.design:
            raise MergeError(
                f"tallies of different designs do not add up: {difference(self.design, other.design)}.",
                "Estimate each with its own design, then compare or combine the estimates.",
            )
        if self.layout != other.layout:
            raise FormatError(f"a tally is damaged: its cells are {other.layout}, those of the other {self.layout}.")
        sources, batches = once(self.sources, other.sources), batches_of(self.batches, other.batches)
        cells = {name: _added(name, cell, other.cells[name]) for name, cell in self.cells.items()}
        simulated, names = self.simulated or other.simulated, self.names or other.names
        return Tally(self.design, self.strata, cells, simulated, sources, batches, names)

    def __radd__(self, other: object) -> Tally:
        """So that `sum` adds up, which starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def to_columns(self) -> dict[str, list[Any]]:
        """A row for each count, as plain lists: stratum, cell, label (if the cell has some), count, and the mark.

        The cell `n`, the number of reports, comes first; it has no label. Entries that are not about answers, such as
        the reports of a code, have their number.
        """
        if self.parts:
            each = [(part_name(i), part.to_columns()) for i, part in enumerate(self.parts)]
            for part, columns in each:
                columns["stratum"] = [part + stratum for stratum in columns["stratum"]]
            return {name: [x for _, columns in each for x in columns[name]] for name in each[0][1]}
        rows: list[tuple[str, str, str | None, int]] = []
        for i, stratum in enumerate(self.strata):
            rows.append((stratum, "n", None, int(self.cells["n"][i])))
            for name, cell in sorted(self.cells.items()):
                if name != "n":
                    counts = zip(self._named(name), cell[i].tolist(), strict=True)
                    rows += [(stratum, name, label, count) for label, count in counts]
        columns = {name: [row[j] for row in rows] for j, name in enumerate(("stratum", "cell", "label", "count"))}
        return {**columns, "simulated": [self.simulated] * len(rows)}

    def __repr__(self) -> str:
        mark = ", SIMULATED" if self.simulated else ""
        told = [f"{name} {_few(cell)}" for name, cell in sorted(self.cells.items()) if name != "n"]
        return f"<Tally of {self.n:,} reports, {title_of(self.design)}{mark}: {'; '.join(told)}>"

    def _repr_html_(self) -> str:
        """A small table with bars for notebooks."""
        from deniable.present.html import counts_html

        return counts_html(f"{self.n:,} reports of {title_of(self.design)}", self._shown(), simulated=self.simulated)

    def _shown(self) -> list[tuple[str, IntArray, Sequence[object]]]:
        """Rows of counts, each with its name and those of its entries."""
        if self.parts:
            each = ((part_name(i), part._shown()) for i, part in enumerate(self.parts))
            return [(part + name, *rest) for part, rows in each for name, *rest in rows]  # type: ignore[misc]
        return [
            (f"{name}{f', {stratum}' * (len(self.strata) > 1 and stratum != name)}", cell[i], self._named(name))
            for name, cell in sorted(self.cells.items())
            for i, stratum in enumerate(self.strata)
            if name != "n" and (cell[i].any() or not cell.any())
        ]

    def _named(self, cell: str) -> Sequence[str]:
        """What the entries of a cell are about, as the mechanism says; where nobody knows it, their numbers."""
        return self.names(cell) if self.names is not None else tuple(map(str, range(self.cells[cell].shape[-1])))


def _of_part(names: Callable[[str], Sequence[str]], part: str, cell: str) -> Sequence[str]:
    """What the entries of a part's cell are about."""
    return names(part + cell)


def _few(cell: IntArray, most: int = 6) -> str:
    """The first numbers of a cell."""
    flat = cell.ravel()
    return "[" + " ".join(f"{x}" for x in flat[:most].tolist()) + " ..." * (flat.size > most) + "]"


def part_name(i: int) -> str:
    """What the strata and cells of the part with this number begin with, counted from 0 as reports do.

    >>> part_name(0) + "support"
    'q1/support'
    """
    return f"q{i + 1}{_PART}"


def exact_sum(cells: IntArray) -> int:
    """The sum of 64-bit integers, which need not fit 64 bits itself.

    >>> exact_sum(np.array([2**62, 2**62])) == 2**63
    True
    """
    return (int((cells >> 32).sum()) << 32) + int((cells & 0xFFFFFFFF).sum())


def _added(name: str, one: IntArray, two: IntArray) -> IntArray:
    """The sum of two cells; `MergeError` where it does not fit: its sign differs from that of both."""
    found = one + two
    if bool((((one ^ found) & (two ^ found)) < 0).any()):
        raise MergeError(f"the tallies' cells {name!r} add up to more than 64 bits hold.", "Is one of them damaged?")
    return found
