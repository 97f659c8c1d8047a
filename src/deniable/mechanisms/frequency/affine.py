"""Affine response: blocks of cyclotomic classes, one of m q reports, no seed; the law of subset selection exactly.

A balanced design on q points, q a prime, that needs no more than a table of powers: docs/maths/affine.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import least_mse
from deniable.core.guess import first_to_cover
from deniable.core.laws import epsilon_to, ratio_to, response, subset
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, UintArray
from deniable.errors import ParameterError, is_number, is_whole, require
from deniable.estimate.blocks import BlockEvidence
from deniable.estimate.evidence import Evidence
from deniable.kernels.cyclotomic import Blocks
from deniable.mechanisms.bulk import Cells, SupportBulk, check_outputs, two_level
from deniable.mechanisms.frequency.geometry import BlockNumbers
from deniable.mechanisms.outputs import MATRIX_MAX
from deniable.mechanisms.reader import SupportReader
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Affine as AffineKernel
from deniable_client.kernels import promised_ratio
from deniable_client.kernels.affine import CELLS_MAX, primitive_root

__all__ = ["Affine", "OutdoneError", "best_numbers", "make_affine"]

TOLERANCE = 1e-4
"""Share of error that is given for fewer reports, unless more is."""
EXCESS_MAX = 0.01
"""A design whose error is further above the least there is, is refused: another mechanism is better."""
_SETS_MAX = 400
"""Up to so many answers, sets of them are short reports."""


# ---- reports


class BlockReader(SupportReader["AffineBulk"]):
    """Numbers of blocks: a tally tells as much as they do, and steps of a fit are transforms of it."""

    sufficient = True

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        counts = np.zeros((1, self.bulk.size), np.int64)
        for columns in batches:
            counts += self.bulk.count(columns)["value"]
        return self.tally_evidence({"value": counts})

    def tally_evidence(self, cells: Cells) -> Evidence:
        return BlockEvidence.of(self.bulk.blocks, cells["value"][0], self.bulk.odds, self.bulk.k)


class AffineBulk(BlockNumbers, SupportBulk[AffineKernel]):
    """Affine response for many people: the number of a block."""

    reads = BlockReader
    uneven = True

    @cached_property
    def blocks(self) -> Blocks:
        """All blocks: which items they hold, and sums over them."""
        return Blocks(self.kernel.q, self.kernel.m, self.kernel.j, self.kernel.zero, self.kernel.g)

    @cached_property
    def support(self) -> Support[Fraction]:
        """See `SupportBulk.support`; `both_none` is the mean over all third points, of which some may not be items."""
        return subset(*ratio_to(self.kernel.ratio), self.kernel.q, self.kernel.points)

    def extra_pairs(self, f: FloatArray, support: Support[float]) -> FloatArray:
        """See `SupportBulk.extra_pairs`: by how many blocks hold the pair and a third value, beyond their mean."""
        own, rest = self.kernel.reports
        return self.blocks.third_sums(f) * (support.p / own - support.p_not / rest)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": self.blocks.draw(rng, items, self.kernel.keep, self.fields[0].dtype)}

    @property
    def coins(self) -> int:
        """See `Bulk.coins`: the unions."""
        return self.kernel.m

    def perturb_dealt(self, items: IntArray, coins: UintArray, rng: Stream) -> Columns:
        """See `Bulk.perturb_dealt`: with a union that was dealt, for every one of which reports are private."""
        return {"value": self.blocks.draw(rng, items, self.kernel.keep, self.fields[0].dtype, unions=coins)}

    @property
    def knows_counts(self) -> bool:
        return self.k * self.size <= MATRIX_MAX

    def support_counts(self, cells: Cells) -> IntArray:
        """See `SupportBulk.support_counts`: by one fast Fourier transform for each class."""
        counts = cells["value"][0].reshape(self.kernel.m, self.kernel.q)
        return np.asarray(self.blocks.by_point(counts)[: self.k])

    def supported(self, columns: Columns) -> Bytes:
        return self.blocks.rows(columns["value"].astype(np.int64), self.k)

    def most(self, r: int) -> int:
        return min(r, self.kernel.points)

    def channel(self) -> Channel:
        check_outputs(math.log2(self.size), "this affine response", self.k)
        sets: Bytes = self.blocks.rows(np.arange(self.size), self.k)
        rows = np.unpackbits(sets, axis=1, count=self.k, bitorder="little")
        held = [frozenset(np.flatnonzero(row).tolist()) for row in rows]
        return two_level(self.kernel, [f"report {y}" for y in range(self.size)], held, *self.kernel.reports)


# ---- the mechanism


@dataclass(frozen=True, kw_only=True)
class Affine(SupportMechanism):
    """A block of w of q points, which holds the point of the true answer with probability w e/(w e + q - w).

    Points are numbers modulo a prime q, the answers the first k of them. Blocks are unions of j of the m cosets of the
    m-th powers, with 0 or without, moved by any number; w = j (q-1)/m + zero. The error is that of subset selection on
    q points, exactly and without an assumption; the server keeps one counter for each of the m q blocks.
    """

    q: int
    m: int
    j: int
    zero: int
    g: int
    family: ClassVar[str] = "affine"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("q", "m", "j", "zero", "g"):
            value = getattr(self, name)
            require(is_whole(value, 0), name, value, "an integer >= 0")
            object.__setattr__(self, name, int(value))
        AffineKernel(self.k, self.q, self.m, self.j, self.zero, self.g, 1)  # checks all but the threshold

    @classmethod
    def optimal(
        cls, *, epsilon: float, domain: Domain, cells: int | None = None, tolerance: float | None = None
    ) -> Affine:
        """The numbers of least exact MSE, or of fewest reports within `tolerance` (a share of the error) of it.

        `ParameterError` where the best of them has more than 1 % (or `tolerance`) above the least error there is.
        """
        epsilon, domain = check_epsilon(epsilon), Domain.of(domain)
        (w, v), k = epsilon_to(epsilon), domain.k
        slack = TOLERANCE if tolerance is None else _check_tolerance(tolerance)
        most = CELLS_MAX if cells is None else _check_cells(cells)

        def cost(support: Support[Any]) -> Any:
            return support.mse(k)

        least, above, excess = least_mse(k, epsilon), max(EXCESS_MAX, slack), math.inf
        limits = {"cells": most, "tolerance": slack, "limit": least * (1 + above)}
        numbers = best_numbers(k, w, v, w / (1 + w), cost, **limits)
        if numbers is not None:
            made = cls(epsilon=epsilon, domain=domain, **numbers._asdict(), g=primitive_root(numbers.q))
            excess = made.mse() / least - 1
            if excess <= above:
                return made
        raise _no_design(k, excess, most, float(response(w, v, k).mse(k)) / least - 1)

    @property
    def points(self) -> int:
        """Points of a block: w."""
        return self.j * ((self.q - 1) // self.m) + self.zero

    @property
    def order(self) -> int:
        """Number of blocks."""
        return self.m * self.q

    @cached_property
    def bulk(self) -> AffineBulk:
        numbers = (self.q, self.m, self.j, self.zero, self.g)
        return AffineBulk(AffineKernel.calibrate(self.epsilon, self.k, *numbers))

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.q, self.m, self.j, self.zero, self.g)

    @cached_property
    def support(self) -> Support[float]:
        return subset(*epsilon_to(self.epsilon), self.q, self.points)

    def covered(self, support: Support[float]) -> float:
        """See `SupportMechanism.covered`: some blocks may have all their points among those that are no items."""
        return 1 - self._blocks.empty(self.k) / self.order

    def best_ranked(self, order: IntArray) -> FloatArray:
        return first_to_cover(order, self._blocks.hold, self.order)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "for each of the m unions, w of the q shifts hold a given value, so a report has the mass "
            "keep/(2^64 m w) given any value that its block holds and (2^64 - keep)/(2^64 m (q - w)) given any other"
        )
        output = "a block that holds value 0 and not value 1"
        return Proof(promised_ratio(self.kernel), "symmetry", text, Witness(output, 0, 1))


def make_affine(
    *, epsilon: float, domain: Domain, cells: int | None = None, tolerance: float | None = None, **numbers: Any
) -> Affine:
    """With the numbers that are given (q, m, j, zero, and g where it is not the least root), or else the best ones."""
    if not numbers:
        return Affine.optimal(epsilon=epsilon, domain=domain, cells=cells, tolerance=tolerance)
    for name, value in (("cells", cells), ("tolerance", tolerance)):
        require(value is None, name, value, "left out where q is given", "It chooses q, m, j and zero.")
    missing = [name for name in ("q", "m", "j", "zero") if name not in numbers]
    require(not missing, "numbers", sorted(numbers), f"given with {', '.join(missing) or 'no more'}")
    root = numbers.pop("g", None)
    return Affine(epsilon=epsilon, domain=domain, g=primitive_root(numbers["q"]) if root is None else root, **numbers)


def _check_cells(cells: object) -> int:
    more = "It is the number of reports, and of the cells of a tally."
    require(is_whole(cells, 3, CELLS_MAX), "cells", cells, f"an integer from 3 to {CELLS_MAX}", more)
    return int(cells)  # type: ignore[call-overload, no-any-return]  # it is a number here


def _check_tolerance(tolerance: object) -> float:
    more = "It is the share of error that may be given for shorter reports and smaller tallies."
    require(is_number(tolerance) and 0 <= tolerance <= 1, "tolerance", tolerance, "a number from 0 to 1", more)  # type: ignore[operator]
    return float(tolerance)  # type: ignore[arg-type]  # it is a number here


class OutdoneError(ParameterError):
    """Another mechanism, which the hint names, is clearly better for this domain."""


def _no_design(k: int, excess: float, cells: int, direct: float) -> OutdoneError:
    """The refusal of a domain that other mechanisms serve better, naming the one to take."""
    better = "grr" if direct <= min(excess, EXCESS_MAX) else "ss" if k <= _SETS_MAX else "plh"
    found = f"its best design is {excess:.1%} above the least error" if excess < math.inf else "it has no design"
    fewer = f", at most {cells} reports being allowed" if cells < CELLS_MAX else ""
    return OutdoneError(f"affine is not for {k} answers at this epsilon: {found}{fewer}.", f"Use {better}.")


# ---- the choice of numbers


class Numbers(NamedTuple):
    """What a design consists of, beside the root."""

    q: int
    m: int
    j: int
    zero: int


def best_numbers(
    k: int,
    w: float,
    v: float,
    share: float,
    cost: Callable[[Support[Any]], Any],
    *,
    cells: float = CELLS_MAX,
    tolerance: float = TOLERANCE,
    limit: float = math.inf,
) -> Numbers | None:
    """The numbers of least cost, or of fewest reports within `tolerance` of it and the `limit`; None if there are none.

    `share` is the best share of the points for a block of any size, on both sides of which the cost grows. Looked at
    are the primes above k as far as a good one is to be expected, and all divisors of q - 1 that `cells` allow.
    """
    rows, costs = [np.empty((0, 4), np.int64)], [np.empty(0)]
    for q in _primes(k, k + max(64, math.floor(4 * math.log(k + 2) ** 2))):
        found = _candidates(q, share, int(cells // q))
        if len(found):
            rows.append(found)
            costs.append(np.asarray(cost(subset(w, v, q, found[:, 2] * ((q - 1) // found[:, 1]) + found[:, 3]))))
    numbers, costly = np.concatenate(rows), np.concatenate(costs)
    if not costly.size:
        return None
    least = float(costly.min())
    good = np.flatnonzero(costly <= max(least, min(limit, least * (1 + tolerance))))
    q, m, j, zero = numbers[good].T
    first = good[np.lexsort((zero, j, m, q, costly[good], m * q))[0]]
    return Numbers(*numbers[first].tolist())


def _candidates(q: int, share: float, most: int) -> IntArray:
    """Rows (q, m, j, zero) whose blocks are nearest to a share of the points, for all divisors m up to `most`."""
    every = np.arange(1, min(q - 1, most) + 1)
    m = every[(q - 1) % every == 0]
    whole = np.minimum(np.floor(share * q * m / (q - 1)).astype(np.int64), m - 1)
    rows = [np.column_stack([np.full_like(m, q), m, whole + up, np.full_like(m, zero)]) for up, zero in _NEAR]
    found = np.concatenate(rows)
    return np.asarray(found[(found[:, 2] < found[:, 1]) & (found[:, 2] + found[:, 3] > 0)])


_NEAR = tuple(product((0, 1), (0, 1)))


def _primes(low: int, high: int) -> list[int]:
    """The primes from max(3, low) to high."""
    numbers = np.arange(max(3, low), high + 1)
    left = np.ones(numbers.size, np.bool_)
    for d in range(2, isqrt(high) + 1):
        left &= (numbers % d != 0) | (numbers == d)
    return [int(n) for n in numbers[left]]
