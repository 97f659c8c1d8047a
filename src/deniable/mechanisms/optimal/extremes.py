"""Extreme outputs: the columns of which every channel that keeps a promise is a post-processing.

Budgets are rounded down to whole numbers of a small unit and closed, so that tightness is a matter of integers and
nothing is lost but the rounding. With u = ln(column) the extreme outputs are the vertices of {u_x - u_z <= B[x,z]}, on
every set of values that a report may be confined to. Proofs: docs/maths/optimal.md, section 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import BoolArray, FloatArray, IntArray
from deniable.errors import EnumerationError, InWords, require

__all__ = ["IMPOSSIBLE", "MOST_VALUES", "NONE", "Extremes", "closed_units", "extremes", "generating"]

NONE = 1 << 61
"""Units of a budget without limit."""
IMPOSSIBLE = -1
"""The potential of a value that never sends an output."""
UNIT_BITS = 50
MOST_VALUES = 16
"""Values of the largest domain whose extreme outputs are looked for."""
_CHECKS = 1 << 26
"""(Vertex, set) pairs that are looked at; any promise of 10 values needs less."""
_BATCH = 1 << 19
"""Entries of a table of subsets that are in memory at once."""

Sets = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Extremes:
    """All extreme outputs of a promise, in a fixed order."""

    units: IntArray
    """Closed budgets in units, `NONE` for no limit."""
    bits: int
    """A unit is 2^-bits."""
    potentials: IntArray
    """ln of each output's likelihoods in units, the least being 0; `IMPOSSIBLE` for values that never send it."""

    @property
    def rays(self) -> FloatArray:
        """The outputs' likelihoods for each value (columns), the largest being 1."""
        return rays_of(self.potentials, self.bits)

    def __len__(self) -> int:
        return len(self.potentials)


def rays_of(potentials: IntArray, bits: int) -> FloatArray:
    """Likelihoods from potentials, the largest of each output being 1."""
    possible = potentials != IMPOSSIBLE
    most = potentials.max(axis=1, keepdims=True)
    return np.where(possible, np.exp(np.ldexp((potentials - most).astype(np.float64), -bits)), 0.0)


def closed_units(budgets: FloatArray) -> tuple[IntArray, int]:
    """Budgets as whole numbers of 2^-bits, rounded down, and shortest paths of them; with `bits`."""
    k, finite = len(budgets), np.isfinite(budgets)
    longest = (k - 1) * float(budgets[finite].max(initial=0.0))
    bits = UNIT_BITS - max(0, math.frexp(longest)[1] - 9)
    units = np.where(finite, np.floor(np.ldexp(np.where(finite, budgets, 0.0), bits)), NONE).astype(np.int64)
    for m in range(k):
        units = np.minimum(units, np.minimum(units[:, m, None] + units[None, m, :], NONE))
    return units, bits


def generating(units: IntArray) -> BoolArray:
    """The pairs whose closed budgets follow from no others: all conditions follow from theirs."""
    k = len(units)
    found = (units < NONE) & ~np.eye(k, dtype=bool)
    for m in range(k):
        through = units[:, m, None] + units[None, m, :]
        through[m, :] = through[:, m] = NONE
        found &= through > units
    return np.asarray(found)


def extremes(budgets: FloatArray, progress: Callable[[int], None] | None = None) -> Extremes:
    """All extreme outputs of a matrix of budgets (inf: no limit); `EnumerationError` where they are too many.

    `progress` hears how many are known, now and then.
    """
    known = _KNOWN.get(key := budgets.tobytes())
    if known is None:
        known = _KNOWN[key] = _all(budgets, progress)
        while len(_KNOWN) > _REMEMBERED:
            del _KNOWN[next(iter(_KNOWN))]
    return known


_KNOWN: dict[bytes, Extremes] = {}
_REMEMBERED = 8
"""Promises whose extreme outputs are remembered: whoever makes a design also certifies it."""


def _all(budgets: FloatArray, progress: Callable[[int], None] | None) -> Extremes:
    k = len(budgets)
    if k > MOST_VALUES:
        raise _too_many(k, f"{k} values are more than the {MOST_VALUES} whose extreme outputs can be listed.")
    units, bits = closed_units(budgets)
    apart = bool((units[~np.eye(k, dtype=bool)] > 0).all())
    given = InWords("0 between different values")
    require(apart, "budgets", given, f"at least 2^-{bits}", "Values that no report can tell apart are one: p.merged().")
    found: list[IntArray] = []
    meter = _Meter(k, progress)
    for some in _confined(units < NONE):
        at = np.flatnonzero(some)
        inner = _vertices(units[np.ix_(at, at)], meter)
        rows = np.full((len(inner), k), IMPOSSIBLE, np.int64)
        rows[:, at] = inner
        found.append(rows)
    every = np.concatenate(found)
    order = np.lexsort([-column for column in every.T[::-1]])
    return Extremes(units, bits, every[order])


class _Meter:
    """How much has been looked at, and who hears of it."""

    def __init__(self, k: int, progress: Callable[[int], None] | None) -> None:
        self.k, self.progress, self.checks, self.found = k, progress, 0, 0

    def add(self, vertices: int, sets: int) -> None:
        """Count vertices that are about to be looked at; an error beyond the limit."""
        self.checks += vertices * sets
        self.found += vertices
        if self.checks > _CHECKS:
            raise _too_many(self.k, f"this promise to {self.k} values has more extreme outputs than can be listed.")
        if self.progress is not None:
            self.progress(self.found)


def _too_many(k: int, what: str) -> EnumerationError:
    about = math.lgamma(2 * k - 1) - 2 * math.lgamma(k)  # of binom(2k - 2, k - 1), which may be larger than any float
    most = f"{math.comb(2 * k - 2, k - 1):.6g}" if about < 700 else f"about 10^{about / math.log(10):.0f}"
    return EnumerationError(
        f"{what} There may be binom({2 * k - 2}, {k - 1}) = {most} of them.",
        "At most 10 values can have any promise, 16 one epsilon or budgets along a tree. Join values that are told "
        "apart less, or ask for objective release; for one epsilon, or sensitive answers, see affine and ussmix.",
    )


# ---- sets of values, as bits


def _unions(out: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """For every subset of values, the union of their masks; `out` has a row of masks for each case."""
    cases, k = out.shape
    table = np.zeros((cases, 1 << k), np.uint32)
    for i in range(k):
        np.bitwise_or(table[:, : 1 << i], out[:, i, None], out=table[:, 1 << i : 2 << i])
    return table


def _masks(pairs: BoolArray) -> NDArray[np.uint32]:
    """The last axis of truth values as bits."""
    return np.asarray((pairs.astype(np.uint32) << np.arange(pairs.shape[-1], dtype=np.uint32)).sum(-1, dtype=np.uint32))


def _whole(near: NDArray[np.uint32], case: IntArray, sets: Sets) -> BoolArray:
    """Whether each set is connected by the pairs of its case; `near` has the unions of neighbours of all sets."""
    reached = sets & (~sets + np.uint32(1))
    while True:
        more = (reached | near[case, reached]) & sets
        if np.array_equal(more, reached):
            return np.asarray(reached == sets)
        reached = more


def _confined(finite: BoolArray) -> Iterator[BoolArray]:
    """The sets of values that an extreme output may be confined to: closed under finite budgets, and connected."""
    k = len(finite)
    sets = np.arange(1, 1 << k, dtype=np.uint32)
    out = _unions(_masks(finite)[None])[0]
    sets = sets[(out[sets] & ~sets) == 0]
    near = _unions(_masks(finite | finite.T)[None])
    sets = sets[_whole(near, np.zeros(sets.size, np.int64), sets)]
    return iter((sets[:, None] >> np.arange(k, dtype=np.uint32) & 1).astype(bool))


# ---- vertices


def _vertices(units: IntArray, meter: _Meter) -> IntArray:
    """The vertices on a connected set of values, the least potential being 0."""
    k = len(units)
    if k == 1:
        return np.zeros((1, 1), np.int64)
    others = units[~np.eye(k, dtype=bool)]
    if (others == others[0]).all():
        sets = np.arange(1, (1 << k) - 1)
        return np.asarray((sets[:, None] >> np.arange(k) & 1) * others[0], np.int64)
    steps = generating(units)
    pairs = np.argwhere(np.triu(steps | steps.T))
    if len(pairs) == k - 1 and (steps == steps.T).all():
        return _tree(units, pairs)
    return _walk(units, meter)


def _tree(units: IntArray, pairs: IntArray) -> IntArray:
    """Budgets along a tree: every edge has its largest difference in one direction or the other."""
    k = len(units)
    known: dict[int, IntArray] = {0: np.zeros(1 << (k - 1), np.int64)}
    signs = np.arange(1 << (k - 1))[:, None] >> np.arange(k - 1) & 1
    while len(known) < k:
        for i, (x, z) in enumerate(pairs.tolist()):
            rise = np.where(signs[:, i] == 1, units[x, z], -units[z, x])
            if x in known:
                known.setdefault(z, known[x] - rise)
            elif z in known:
                known.setdefault(x, known[z] + rise)
    found = np.stack([known[x] for x in range(k)], axis=1)
    return np.asarray(found - found.min(axis=1, keepdims=True))


def _walk(units: IntArray, meter: _Meter) -> IntArray:
    """From vertex to vertex along the edges of the polyhedron."""
    k = len(units)
    new = _first(units)[None]
    seen = {new[0].tobytes()}
    found = [new]
    size = max(1, _BATCH >> k)
    while len(new):
        meter.add(len(new), 1 << k)
        ahead: list[Any] = []
        for start in range(0, len(new), size):
            for row in _neighbours(units, new[start : start + size]):
                key = row.tobytes()
                if key not in seen:
                    seen.add(key)
                    ahead.append(row)
        new = np.array(ahead, np.int64).reshape(-1, k)
        found.append(new)
    return np.concatenate(found)


def _slack(units: IntArray, u: IntArray) -> IntArray:
    """How far each pair is from being tight, `NONE` or about that where there is no limit and for a value itself."""
    apart = np.where(np.eye(len(units), dtype=bool), NONE, units)
    return np.asarray(apart + u[:, None, :] - u[:, :, None])


def _first(units: IntArray) -> IntArray:
    """One vertex: from all equal, components of tight pairs are raised until they touch others."""
    k = len(units)
    u = np.zeros((1, k), np.int64)
    while True:
        slack = _slack(units, u)[0]
        near = _unions(_masks((slack == 0) | (slack == 0).T | np.eye(k, dtype=bool))[None])[0]
        for x in range(k):
            part = 1 << x
            while int(near[part]) != part:
                part = int(near[part])
            inside = np.array([part >> z & 1 for z in range(k)], bool)
            if inside.all():
                return np.asarray(u[0] - u.min())
            step = slack[np.ix_(inside, ~inside)].min()
            if step < NONE // 2:
                u[0, inside] += step
                break


def _neighbours(units: IntArray, u: IntArray) -> IntArray:
    """The vertices at the other ends of all bounded edges of some vertices.

    An edge raises a set of values that no tight arc leaves, and which is connected by tight pairs, as the others are.
    """
    k = u.shape[1]
    slack = _slack(units, u)
    tight = slack == 0
    sets = np.arange(1 << k, dtype=np.uint32)
    whole = np.uint32((1 << k) - 1)
    leaving = _unions(_masks(tight)) & ~sets
    leaving[:, 0] = leaving[:, whole] = 1
    case, place = np.nonzero(leaving == 0)
    raised = place.astype(np.uint32)
    near = _unions(_masks(tight | tight.transpose(0, 2, 1)))
    for flip in (np.uint32(0), whole):
        good = _whole(near, case, raised ^ flip)
        case, raised = case[good], raised[good]
    inside = (raised[:, None] >> np.arange(k, dtype=np.uint32) & 1).astype(bool)
    across = inside[:, :, None] & ~inside[:, None, :]
    step = np.where(across, slack[case], NONE).min(axis=(1, 2))
    ends = step < NONE // 2
    moved = u[case[ends]] + step[ends, None] * inside[ends]
    return np.asarray(moved - moved.min(axis=1, keepdims=True))
