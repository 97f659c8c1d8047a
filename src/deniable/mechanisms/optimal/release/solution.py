"""The best release under a promise: solved, certified, and written in whole numbers that keep it exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.core.promise import Promise
from deniable.core.promise.ranges import members
from deniable.core.types import FloatArray, IntArray
from deniable.errors import DeniableError, InWords, require
from deniable.mechanisms.optimal.release.programme import Progress, Solution, least_loss
from deniable.mechanisms.optimal.release.proof import PROOF_MAX, Row, proof_of, proved
from deniable.mechanisms.optimal.release.snapping import pieces_of, shares_of_pieces
from deniable.mechanisms.optimal.whole import Whole, whole

__all__ = ["LOST_MAX", "Release", "check_loss", "release"]

LOST_MAX = 1e-9
"""What whole numbers may add to the loss that was solved for, in units of the largest loss."""

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A channel in whole numbers, what its outputs stand for, and how near to the least loss it is."""

    rows: Rows
    """Of each value, how many of 2^64 words lead to each output."""
    points: tuple[int, ...]
    """The column of the losses that each output stands for."""
    value: float
    """The expected loss of the whole numbers, or that of the worst value."""
    bound: float
    """No channel that keeps the promise has less: by `proof`, or by the multipliers of `solution`."""
    proof: tuple[Row, ...] | None
    """What proves the bound, for those who read the design; None where it is too long."""
    blind: float
    """Share of reports that may be made without looking at the value."""
    solution: Solution

    @property
    def gap(self) -> float:
        """How much of the bound the value is above it; nothing where both are 0 up to rounding."""
        return max(0.0, self.value - self.bound) / max(self.bound, np.finfo(float).tiny) if self.bound > 0 else 0.0


def check_loss(loss: object, k: int) -> FloatArray:
    """Losses of k values (rows) and some outputs; `ParameterError` for anything else."""
    try:
        table = np.array(loss, np.float64)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    shape = table.ndim == 2 and table.shape[0] == k and table.shape[1] >= 1
    told = InWords(f"an array of shape {table.shape}" if table.size else "something else")
    require(shape, "loss", told, f"a matrix of numbers with a row for each of the {k} values")
    bad = np.argwhere(~(np.isfinite(table) & (table >= 0))).tolist()
    if bad:
        x, y = bad[0]
        require(False, f"loss[{x}][{y}]", float(table[x, y]), "a finite number >= 0")
    return table


def release(
    promise: Promise,
    loss: object,
    prior: FloatArray | None = None,
    *,
    worst: bool = False,
    progress: Progress | None = None,
) -> Release:
    """The channel of least expected loss that keeps a promise; `worst`: of the least loss of the worst value.

    `loss` has a row for each value and a column for each output. Values that no report may tell apart (budget 0) are
    one value. `DeniableError` where whole numbers would cost more than `LOST_MAX`.
    """
    table = check_loss(loss, promise.k)
    weights = None if worst else np.full(promise.k, 1 / promise.k) if prior is None else prior
    closed = promise.closed
    first, owner = _merged(closed.budgets)
    budgets = closed.budgets[np.ix_(first, first)]
    groups = [[owner[x] for x in members(ends)] for ends in closed.classes] if len(first) == promise.k else []
    scale = float(table.max()) or 1.0
    found = least_loss(budgets, table / scale, weights, owner=owner, groups=groups, progress=progress)
    if progress is not None:
        progress("writing it in whole numbers", 0.0)
    outputs, shares = shares_of_pieces(pieces_of(found.matrix, budgets), len(first))
    made = whole(shares, promise.budgets[np.ix_(first, first)])
    points = _points(outputs, made, table)
    each = (made.matrix[owner] * table[:, points]).sum(axis=1)
    value = float(each.max() if weights is None else weights @ each)
    given = found.prior if weights is None else weights
    proof = proof_of(found.arcs, found.multipliers * scale, table, given, owner.tolist(), worst=weights is None)
    short = len(proof) <= PROOF_MAX
    bound = max(0.0, proved(proof, table, weights, closed.budgets) if short else found.bound * scale)
    if value - found.value * scale > LOST_MAX * scale:
        raise DeniableError(
            f"the whole numbers of this channel lose {value:.9g} instead of {found.value * scale:.9g}.",
            "Use larger budgets, or fewer values.",
        )
    rows = tuple(zip(*made.columns, strict=True))
    return Release(
        tuple(rows[i] for i in owner.tolist()), points, value, bound, proof if short else None, made.blind_share, found
    )


def _merged(budgets: FloatArray) -> tuple[list[int], IntArray]:
    """Values that stand for all that no report can tell from them, and for each value the number of its own."""
    zero = budgets == 0
    firsts = zero.argmax(axis=1)
    kept = sorted(set(firsts.tolist()))
    hint = "nothing is left to tell"
    require(len(kept) > 1, "promise", InWords("0 between all values"), f"above 0 for some of them: else {hint}")
    place = {x: i for i, x in enumerate(kept)}
    return kept, np.array([place[x] for x in firsts.tolist()])


def _points(outputs: Sequence[int], made: Whole, loss: FloatArray) -> tuple[int, ...]:
    """The columns that outputs stand for; what is left over stands for the one that costs least on average."""
    extra = len(made.columns) - len(outputs)
    return (*outputs, *[int(loss.mean(axis=0).argmin())] * extra)
