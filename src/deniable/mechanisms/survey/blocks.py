"""Which questions are asked together, and how many people are asked which of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from deniable.mechanisms.survey.laws import best_shape, box_costs

__all__ = ["Block", "Goal", "best_blocks", "shares_of", "singles"]

_TOGETHER = 8
"""Questions in a block, at most."""
_ANSWERS = 1024
"""Sets of answers of a block, at most: beyond it, a report would have to tell more than any epsilon in use lets it."""
_LEAST = 1.3
"""Below this epsilon nothing is asked together: two yes/no questions, which gain first, do so from 1.3424 on (Y9)."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted of each question: a small weighted sum of variances, or standard errors of its own."""

    weights: tuple[float, ...] = ()
    stderr: tuple[float, ...] = ()

    def of(self, members: Sequence[int]) -> Goal:
        """The same for some of the questions."""
        return Goal(*(tuple(of[j] for j in members) if of else () for of in (self.weights, self.stderr)))

    def people(self, costs: Sequence[float]) -> float:
        """In proportion to how many people a block with these costs is asked of (Y5); or how many it takes (Y6)."""
        if self.stderr:
            return max(cost / wanted**2 for cost, wanted in zip(costs, self.stderr, strict=True))
        return math.sqrt(sum(w * cost for w, cost in zip(self.weights, costs, strict=True)))

    def total(self, people: Sequence[float]) -> float:
        """The least weighted sum of variances from one report (Y5), or the number of people that it takes (Y6)."""
        return math.fsum(people) if self.stderr else math.fsum(people) ** 2


@dataclass(frozen=True, slots=True)
class Block:
    """Questions that are asked together, by their numbers."""

    members: tuple[int, ...]
    shape: tuple[int, ...]
    """How many answers to each of them a report names; nothing for a question that is asked alone."""
    costs: tuple[float, ...]
    """The variance of one report of each of them, the drawing of people included."""
    people: float
    """See `Goal.people`."""


def singles(costs: Sequence[float], goal: Goal) -> list[Block]:
    """Every question alone."""
    return [Block((j,), (), (cost,), goal.of((j,)).people((cost,))) for j, cost in enumerate(costs)]


def shares_of(blocks: Sequence[Block]) -> list[float]:
    """The share of the people that each block is asked of."""
    total = math.fsum(block.people for block in blocks)
    return [block.people / total for block in blocks]


def best_blocks(
    epsilon: float, costs: Sequence[float], sizes: Sequence[int | None], goal: Goal, *, least: int = 1
) -> list[Block]:
    """The best of many ways to put questions into blocks; `sizes` is None for those that are asked alone.

    Questions with few answers gain most, so those with the fewest are put together, as many as it takes, in blocks of
    (nearly) one length. With `least` 2 some are put together even if that does not pay.
    """
    alone = singles(costs, goal)
    free = [j for j, k in enumerate(sizes) if k is not None and k <= _ANSWERS // 2 and alone[j].people > 0]
    free.sort(key=lambda j: (sizes[j] or 0, alone[j].people))
    best, found = math.inf if least > 1 else goal.total([block.people for block in alone]), alone
    for joined in _ways(free) if epsilon >= _LEAST or least > 1 else ():
        blocks = [_block(epsilon, members, sizes, goal) for members in joined]
        if any(block is None for block in blocks):
            continue
        held = {j for members in joined for j in members}
        made = [block for block in alone if block.members[0] not in held] + [block for block in blocks if block]
        total = goal.total([block.people for block in made])
        if total < best * (1 - 1e-12):
            best, found = total, made
    return sorted(found, key=lambda block: block.members)


def _ways(free: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """The first so many questions in so many blocks, each of at least two."""
    for count in range(2, len(free) + 1):
        for blocks in range(-(-count // _TOGETHER), count // 2 + 1):
            ends = [round(i * count / blocks) for i in range(blocks + 1)]
            yield [tuple(sorted(free[a:b])) for a, b in pairwise(ends)]


def _block(epsilon: float, members: tuple[int, ...], sizes: Sequence[int | None], goal: Goal) -> Block | None:
    """A block of these questions in its best shape; None where they have too many sets of answers."""
    own, wanted = tuple(sizes[j] or 0 for j in members), goal.of(members)
    if math.prod(own) > _ANSWERS:
        return None
    shape, costs, people = _shaped(epsilon, own, wanted)
    return Block(members, shape, costs, people)


@lru_cache(maxsize=4096)
def _shaped(epsilon: float, sizes: tuple[int, ...], goal: Goal) -> tuple[tuple[int, ...], tuple[float, ...], float]:
    score: Callable[[Sequence[float]], float] = goal.people
    shape = best_shape(epsilon, sizes, score)
    costs = tuple(box_costs(epsilon, sizes, shape))
    return shape, costs, score(costs)
