"""Counts of whole populations, drawn from their law without anybody's report: for studies of errors over many runs."""

from __future__ import annotations

import numpy as np

from deniable.core.types import IntArray
from deniable.errors import require
from deniable.randomness import Simulation

__all__ = ["sets_of_others"]

_MOST = 900_000_000
"""People at a time: NumPy draws hypergeometric numbers for fewer than a billion."""
_PARTS = 100
"""Times that are drawn one after the other: beyond, a study would not end."""


def sets_of_others(rng: Simulation, people: IntArray, size: int) -> IntArray:
    """How often each item is in somebody's set: people[x] people have item x, and each a random set of `size` others.

    Item by item: who still has to choose r of m items takes the next one with probability r/m, so people with the same
    r and m are one number, and those of them who take the item are binomial. People whose own item comes now leave it
    out; they are a random part of all whose own item had not come yet, since until then nobody's set depends on it.
    """
    total = int(people.sum())
    parts = -(-total // _MOST)
    require(parts <= _PARTS, "counts", total, f"at most {_PARTS * _MOST:,} people where reports are sets")
    if parts > 1:
        each, rest = np.divmod(people, parts)
        rows = [sets_of_others(rng, each + (i < rest), size) for i in range(parts)]
        return np.asarray(np.sum(rows, axis=0, dtype=np.int64))
    draw, k, left = rng.generator(), people.size, np.arange(size + 1)
    ahead, behind = np.zeros((2, size + 1), np.int64)  # by r: whose own item is still to come, and the others
    ahead[size] = people.sum()
    found = np.zeros(k, np.int64)
    for x in range(k):
        own = draw.multivariate_hypergeometric(ahead, people[x], method="marginals")
        ahead -= own
        for group, m in ((ahead, k - x - 1), (behind, k - x)):
            taken = draw.binomial(group, np.minimum(left / max(m, 1), 1))
            found[x] += taken.sum()
            group -= taken
            group[:-1] += taken[1:]
        behind += own
    return found
