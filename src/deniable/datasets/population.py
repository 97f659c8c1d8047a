"""A population whose true frequencies are known: labels and how many people hold each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import InWords, is_whole, require

__all__ = ["Population"]


@dataclass(frozen=True, eq=False)
class Population:
    """People counted by the one value each of them holds.

    `counts[i]` people hold item `i`, shown to readers as `labels[i]`; an item that nobody holds is allowed.
    Everything is exact: `frequencies` are what an estimate of this population is compared with.

    >>> p = Population("pets", ("cat", "dog", "newt"), [3, 1, 0])
    >>> p.n, p.k, p.frequencies.tolist(), p.values().tolist()
    (4, 3, [0.75, 0.25, 0.0], [0, 0, 0, 1])
    """

    name: str
    labels: tuple[str, ...]
    counts: IntArray

    def __post_init__(self) -> None:
        labels = _checked_labels(self.labels)
        counts = _checked_counts(self.counts)
        both = f"{len(labels)} labels and {len(counts)} counts"
        require(len(labels) == len(counts), "labels", both, "as many as there are counts")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "counts", counts)

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        """Number of items, those with count zero included."""
        return len(self.labels)

    @property
    def frequencies(self) -> FloatArray:
        """Share of the people who hold each item; they sum to 1."""
        shares: FloatArray = self.counts / self.n
        shares.flags.writeable = False
        return shares

    def values(self) -> IntArray:
        """One item index per person, in the order of the items: `n` integers."""
        return np.repeat(np.arange(self.k, dtype=np.int64), self.counts)

    def top(self, t: int) -> Population:
        """The population of those who hold one of the `t` most frequent items, most frequent first.

        Equal counts keep their order. People who hold another item are left out, so `n` shrinks.

        >>> Population("pets", ("newt", "dog", "cat"), [1, 2, 5]).top(2)
        Population(name='pets, top 2', k=2, n=7)
        """
        require(is_whole(t, 2, self.k), "t", t, f"an integer from 2 to {self.k}, the number of items")
        order = np.argsort(-self.counts, kind="stable")[:t]
        return Population(f"{self.name}, top {t}", tuple(self.labels[i] for i in order), self.counts[order])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Population):
            return NotImplemented
        mine, theirs = (self.name, self.labels), (other.name, other.labels)
        return mine == theirs and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.name, self.labels, self.counts.tobytes()))

    def __repr__(self) -> str:
        return f"Population(name={self.name!r}, k={self.k}, n={self.n})"


def _checked_labels(labels: object) -> tuple[str, ...]:
    listed = isinstance(labels, tuple | list | np.ndarray)
    require(listed, "labels", labels, "a tuple of strings", "One label per item, in the order of the counts.")
    out = tuple(str(label) if isinstance(label, np.str_) else label for label in labels)  # type: ignore[attr-defined]
    odd = [label for label in out if not isinstance(label, str)]
    require(not odd, "labels", odd[:3], "strings", "Turn numbers into text with str() first.")
    require(len(out) >= 2, "labels", list(out), "at least 2 labels", "For a yes/no question give both answers.")
    twice = [label for label, times in Counter(out).items() if times > 1]
    require(not twice, "labels", twice[:3], "unique", "Add up the counts of a label that occurs more than once.")
    return out


def _checked_counts(counts: object) -> IntArray:
    given = np.asarray(counts)
    hint = "Counts are numbers of people; for shares or weights use deniable.datasets.synthetic."
    require(given.ndim == 1, "counts", InWords(f"an array of shape {given.shape}"), "one-dimensional")
    require(given.dtype.kind in "iu", "counts", f"values of type {given.dtype}", "non-negative integers", hint)
    negative = given[given < 0][:3].tolist()
    require(not negative, "counts", negative, "non-negative integers", hint)
    total = sum(given.tolist())
    require(1 <= total < 2**63, "counts", f"a sum of {total}", "a population of 1 to 2^63 - 1 people")
    fixed = given.astype(np.int64)
    fixed.flags.writeable = False
    return fixed
