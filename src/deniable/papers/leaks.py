"""Recipes from the literature that are said to be private and are not: each as a channel, so that an audit shows it.

Every function gives a small case in whole numbers or fractions. None of them is offered as a mechanism; the safe
version is named with each. On the command line: `deniable audit deniable.papers.leaks:region_restriction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import IntArray
from deniable.errors import require
from deniable.mechanisms.metric.bipartite import local_m
from deniable.mechanisms.metric.losses import Line
from deniable.mechanisms.metric.staircase import prefix_groups, shared_levels
from deniable_client.exact import check_epsilon, exp_bounds

__all__ = [
    "LEAKS",
    "Leak",
    "bounded_noise",
    "clipping_by_data",
    "interval_by_sign",
    "own_window_sizes",
    "places",
    "region_restriction",
    "staircase_as_printed",
]

_BITS = 32
"""Ratios are taken as fractions of so many bits below e^epsilon: what leaks here would leak more with e^epsilon."""

Law = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Leak:
    """A recipe with what it promises, why it fails and what to do instead; `deniable.audit` takes it."""

    name: str
    epsilon: float
    laws: tuple[Law, ...]
    why: str
    instead: str

    def channel(self) -> Channel:
        """The channel: for each value the outputs that it can lead to, with their probabilities."""
        outputs = sorted({output for law in self.laws for output in law})
        zero = Fraction(0)
        return Channel.from_matrix([[law.get(output, zero) for output in outputs] for law in self.laws], outputs)


def _below(epsilon: float) -> Fraction:
    """A fraction of few bits just below e^epsilon."""
    low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
    return Fraction(int(low * (1 << _BITS)), 1 << _BITS)


def _window(own: int, answers: Sequence[str], m: int, epsilon: float) -> Law:
    """The law of bipartite randomised response on a line of answers: the m around the own one e times as likely."""
    ratio, start = _below(epsilon), min(max(own - m // 2, 0), len(answers) - m)
    total = m * ratio + len(answers) - m
    return {y: (ratio if start <= i < start + m else 1) / total for i, y in enumerate(answers)}


def region_restriction(epsilon: float = 1.0, regions: Sequence[int] = (4, 3)) -> Leak:
    """Report only places of the region one is in [BRR Sec. 5.3]: the region itself is told with certainty."""
    require(len(regions) >= 2 and min(regions) >= 2, "regions", tuple(regions), "sizes >= 2 of at least two regions")
    names = [[f"region {r} place {i}" for i in range(size)] for r, size in enumerate(regions)]
    laws = tuple(_window(i, own, 1, epsilon) for own in names for i in range(len(own)))
    why = "a place of one region is never reported from another one"
    return Leak("region restriction", epsilon, laws, why, "report any place, or promise epsilon within a region only")


def interval_by_sign(epsilon: float = 1.0, points: int = 5) -> Leak:
    """Perturb a gradient on [-C, 0] or on [0, C], whichever holds it [BRR App. B.2]: the sign is told for sure."""
    low = [f"-{points - i}/{points} C" for i in range(points)]
    high = [f"{i + 1}/{points} C" for i in range(points)]
    laws = tuple(_window(i, side, 1, epsilon) for side in (low, high) for i in range(points))
    return Leak("interval by sign", epsilon, laws, "no negative report comes from a positive value", "use [-C, C]")


def clipping_by_data(epsilon: float = 1.0, points: int = 5, keep: Fraction = Fraction(9, 10)) -> Leak:
    """Clip at C = keep C_before + (1 - keep) |g|, g the raw gradient [BRR App. B.2]: the grid of reports tells |g|."""
    laws = []
    for size in (Fraction(1, 2), Fraction(1), Fraction(2)):
        bound = keep + (1 - keep) * size
        grid = [str(bound * Fraction(2 * i - points + 1, points - 1)) for i in range(points)]
        laws.append(_window(points - 1, grid, 1, epsilon))
    why = "the points that can be reported are multiples of a number computed from the value"
    return Leak("clipping by data", epsilon, tuple(laws), why, "a public bound, or one released with its own budget")


def bounded_noise(epsilon: float = 1.0, steps: int = 20, reach: int = 2) -> Leak:
    """Add uniform noise of at most reach/steps to a feature of [0, 1], as published code does: it ignores epsilon."""
    require(0 < 2 * reach < steps, "reach", reach, f"between 0 and half of steps = {steps}")
    chance = Fraction(1, 2 * reach + 1)
    laws = tuple({str(Fraction(x + d, steps)): chance for d in range(-reach, reach + 1)} for x in range(steps + 1))
    why = "values further apart than twice the largest noise have no report in common"
    return Leak("bounded noise", epsilon, laws, why, "perturb the feature itself on its declared interval")


def own_window_sizes(epsilon: float = 1.0, points: int = 20) -> Leak:
    """Let each value favour as many answers as suit it best: the normalisers differ, which adds to epsilon."""
    sizes = local_m(np.sort(Line(points).matrix(), axis=1), epsilon)
    answers = [f"{i:04d}" for i in range(points)]
    laws = tuple(_window(i, answers, m, epsilon) for i, m in enumerate(sizes.tolist()))
    why = f"values favour from {sizes.min()} to {sizes.max()} answers, so that the others have different chances"
    return Leak("own window sizes", epsilon, laws, why, "one m for all values (brr)")


def places(
    sizes: Sequence[int] = (20, 8, 2), centres: Sequence[tuple[int, int]] = ((8, 8), (48, 40), (24, 56))
) -> IntArray:
    """Clustered places of a map of 64 by 64: spirals around centres, the first place at the centre itself."""
    steps = [(0, 0)]
    turn = 1
    for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)) * 4:
        steps += [(steps[-1][0] + dx * (i + 1), steps[-1][1] + dy * (i + 1)) for i in range(turn)]
        turn += dx == 0
    return np.array([(x + dx, y + dy) for n, (x, y) in zip(sizes, centres, strict=True) for dx, dy in steps[:n]])


def staircase_as_printed(
    epsilon: float = 1.0, points: IntArray | None = None, prefixes: Sequence[int] = (2, 1)
) -> Leak:
    """L-SRR with c = e^epsilon between its nearest and its farthest group, for groups of unequal sizes [LSRR].

    Without points, those of `places()`; groups by levels of the quadtree that are shared, `prefixes`.
    """
    spots = places() if points is None else points
    groups, steps = prefix_groups(shared_levels(spots, max(prefixes)), prefixes), len(prefixes)
    ratio = _below(epsilon)
    laws = []
    for row in groups.tolist():
        heights = [(steps - j) * ratio + j for j in row]
        laws.append({f"place {y:04d}": h / sum(heights) for y, h in enumerate(heights)})
    why = "the least probability of a row depends on how many places are near, so ratios exceed c"
    return Leak("L-SRR as printed", epsilon, tuple(laws), why, "calibrate c (lsrr), or groups of fixed sizes")


LEAKS = {
    leak.__name__: leak
    for leak in (
        region_restriction,
        interval_by_sign,
        clipping_by_data,
        bounded_noise,
        own_window_sizes,
        staircase_as_printed,
    )
}
"""All of them by name; each can be called without arguments."""
