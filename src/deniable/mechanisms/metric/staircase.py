"""The staircase response (L-SRR): outputs in groups by nearness, probabilities falling in equal steps [LSRR].

Groups come from a tree over the places (how many of its levels two places share), from ranks, or from bands of the
loss. Row x has the least probability (m-1)/((m-1) d c - (c-1) sum of (j-1)|G_j(x)|), which depends on x where the sizes
of groups do: then c = e^epsilon breaks the promise, and c must be calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import InWords, ParameterError, require
from deniable.mechanisms.metric.baselines import calibrate, level

__all__ = [
    "band_groups",
    "calibrated_staircase",
    "group_sizes",
    "prefix_groups",
    "rank_groups",
    "shared_levels",
    "staircase",
]


def shared_levels(points: object, depth: int) -> IntArray:
    """How many levels of a tree that halves every coordinate two points share, for all pairs; at most `depth`.

    In the plane it is the quadtree of map tiles. Its root is the smallest cube that starts at the least coordinates and
    holds all points: it is made from the public list of places, never from where anybody is.
    """
    places = np.asarray(points, np.float64)
    places = places[:, None] if places.ndim == 1 else places
    good = places.ndim == 2 and places.shape[0] >= 2 and bool(np.isfinite(places).all())
    require(good, "points", InWords(f"an array of shape {places.shape}"), "at least 2 places with finite coordinates")
    require(isinstance(depth, int) and 1 <= depth <= 30, "depth", depth, "an integer from 1 to 30")
    low = places.min(axis=0)
    side = float((places - low).max())
    require(side > 0, "points", InWords("places that are all the same"), "at least two different ones")
    cells = np.minimum(((places - low) / side * (1 << depth)).astype(np.int64), (1 << depth) - 1)
    shared = np.zeros((len(places), len(places)), np.int64)
    for rest in range(depth):
        part = cells >> rest
        shared += (part[:, None, :] == part[None, :, :]).all(axis=2)
    return shared


def prefix_groups(shared: IntArray, prefixes: Sequence[int]) -> IntArray:
    """Group of each output, 0 the nearest: group j shares at least prefixes[j] levels, the last one fewer than all.

    >>> prefix_groups(np.array([[3, 1], [0, 3]]), (2, 1)).tolist()
    [[0, 1], [2, 0]]
    """
    falling = all(isinstance(p, int | np.integer) for p in prefixes) and list(prefixes) == sorted(
        set(prefixes), reverse=True
    )
    require(len(prefixes) >= 1 and falling and prefixes[-1] >= 1, "prefixes", tuple(prefixes), "falling integers >= 1")
    return np.asarray((shared[:, :, None] < np.asarray(prefixes)).sum(axis=2))


def band_groups(losses: FloatArray, count: int) -> IntArray:
    """Group of each output by its loss: `count` bands of equal width up to the largest loss."""
    require(isinstance(count, int) and count >= 2, "groups", count, "an integer >= 2")
    top = float(losses.max())
    require(top > 0, "losses", InWords("all zero"), "some loss above zero")
    return np.asarray(np.minimum((losses / top * count).astype(np.int64), count - 1))


def rank_groups(losses: FloatArray, sizes: Sequence[int]) -> IntArray:
    """Group of each output by its rank: the sizes[0] nearest outputs first; ties go to the lower index."""
    outputs = losses.shape[1]
    whole = all(isinstance(s, int | np.integer) and s >= 1 for s in sizes)
    require(len(sizes) >= 2 and whole and sum(sizes) == outputs, "sizes", tuple(sizes), f"integers with sum {outputs}")
    of_rank = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(losses, axis=1, kind="stable")
    groups = np.empty(losses.shape, np.int64)
    np.put_along_axis(groups, order, np.broadcast_to(of_rank, losses.shape), axis=1)
    return groups


def group_sizes(groups: IntArray, count: int) -> tuple[int, ...]:
    """Mean sizes of the groups, rounded to whole numbers >= 1 that sum to the number of outputs."""
    outputs = groups.shape[1]
    require(2 <= count <= outputs, "groups", count, f"from 2 to {outputs}, the number of outputs")
    mean = np.bincount(groups.ravel(), minlength=count) / len(groups)
    edges = [0]
    for j, edge in enumerate(np.cumsum(mean)[:-1].tolist()):
        edges.append(min(max(round(edge), edges[-1] + 1), outputs - (count - 1 - j)))
    return tuple(np.diff([*edges, outputs]).tolist())


def staircase(groups: IntArray, count: int, log_ratio: float) -> FloatArray:
    """Logarithms of the probabilities of L-SRR with c = exp(log_ratio) between the first and the last group."""
    if groups.min() < 0 or groups.max() >= count:
        raise ParameterError(f"groups must be from 0 to {count - 1}, got {groups.min()} to {groups.max()}.")
    fall = math.exp(-log_ratio)  # 1/c
    steps = np.arange(count)
    height = ((count - 1 - steps) + steps * fall) / (count - 1)  # relative to the largest probability
    return np.asarray(np.log(height)[groups] - np.log(height[groups].sum(axis=1, keepdims=True)))


def calibrated_staircase(groups: IntArray, count: int, epsilon: float) -> FloatArray:
    """`staircase` with the largest c at which the level of the channel is epsilon; e^epsilon if all rows are alike."""
    sizes = np.sort(groups, axis=1)
    if (sizes == sizes[0]).all():
        return staircase(groups, count, epsilon)
    start = epsilon / 2
    return staircase(groups, count, calibrate(lambda t: level(staircase(groups, count, t)), epsilon, start))
