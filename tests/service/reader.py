"""A reader who has everything that was ever published, and adds and subtracts all of it.

Each release is a vector: how often it counts each draw. What the reader can compute by adding and subtracting is the
lattice of all whole-number combinations of these vectors. Draws that every release counts equally often cannot be told
apart by any of them: they are an *atom*, and the lattice is one over atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

__all__ = ["Reader"]


class Reader:
    """Everything that was published, as vectors over draws."""

    def __init__(self) -> None:
        self._seen: dict[frozenset[tuple[int, int]], None] = {}

    def see(self, counts: Mapping[int, int]) -> None:
        """Another release: how often it counts each draw."""
        self._seen.setdefault(frozenset((draw, n) for draw, n in counts.items() if n))

    def atoms(self) -> dict[tuple[int, ...], frozenset[int]]:
        """Draws that are told apart by nothing, by how often each release counts them."""
        columns: dict[int, list[int]] = {}
        for place, release in enumerate(self._seen):
            for draw, n in release:
                columns.setdefault(draw, [0] * len(self._seen))[place] = n
        found: dict[tuple[int, ...], set[int]] = {}
        for draw, column in columns.items():
            found.setdefault(tuple(column), set()).add(draw)
        return {column: frozenset(draws) for column, draws in found.items()}

    def sets(self, below: int) -> Iterator[frozenset[int]]:
        """All sets of fewer than so many draws that are whole-number combinations of what was published."""
        atoms = self.atoms()
        columns, members = list(atoms), list(atoms.values())
        basis = _echelon([list(row) for row in zip(*columns, strict=True)]) if columns else []
        small = [i for i, draws in enumerate(members) if len(draws) < below]
        for size in range(1, below):
            for chosen in combinations(small, size):
                union = frozenset().union(*(members[i] for i in chosen))
                if len(union) < below and _within([int(i in chosen) for i in range(len(members))], basis):
                    yield union


def _echelon(rows: Iterable[list[int]]) -> list[list[int]]:
    """A basis of the lattice that rows span, each row with a pivot further to the right than the one before."""
    left, basis = [row for row in rows if any(row)], []
    while left:
        pivot = min(next(i for i, n in enumerate(row) if n) for row in left)
        while True:  # Euclid's algorithm on the column of the pivot
            here = sorted((row for row in left if row[pivot]), key=lambda row: abs(row[pivot]))
            if len(here) == 1:
                break
            first = here[0]
            for row in here[1:]:
                times = row[pivot] // first[pivot]
                row[:] = [a - times * b for a, b in zip(row, first, strict=True)]
        basis.append(here[0])
        left = [row for row in left if row is not here[0] and any(row)]
    return basis


def _within(wanted: list[int], basis: Iterable[list[int]]) -> bool:
    rest = list(wanted)
    for row in basis:
        pivot = next(i for i, n in enumerate(row) if n)
        times, odd = divmod(rest[pivot], row[pivot])
        if odd:
            return False
        rest = [a - times * b for a, b in zip(rest, row, strict=True)]
    return not any(rest)
