"""The best guess of a value from a ULDP report under any prior, exactly, for bases whose reports support items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.guess import Guess, first_of_independent, first_of_subset
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError
from deniable.mechanisms.frequency.local_hashing import BalancedHashing
from deniable.mechanisms.frequency.subset import SizedSelection
from deniable.mechanisms.support import SupportMechanism

if TYPE_CHECKING:
    from deniable.mechanisms.utility.base import Utility

__all__ = ["guess_under"]


def guess_under(m: Utility, pi: FloatArray) -> Guess:
    """Success of the best guess of the value under the prior `pi`, and of the best guess without a report.

    Given a report that discloses nothing, blind reports being the measure, a sensitive item has the likelihood `high`
    if it is supported and `low` if not; a harmless one has the branch's, which depends on how many items are supported
    unless the branch is blind.
    """
    own, rest = pi[m.items[0]], pi[m.items[1]]
    law, blind = m.law, float(pi.max())
    told, other = float(rest.sum() * law.z), float(rest.max(initial=0.0)) * (1 - law.z)
    if m.s == 0:
        return Guess(told, blind)
    if m.base is None:
        return Guess(told + max(float(own[0]), other), blind)
    if not isinstance(m.base, SupportMechanism):
        raise ParameterError(f"the best guess under a prior is not known for the base {m.base.name}.")
    w = math.exp(-m.base.leak)
    low = float(law.base.p_not + law.base.p * w)
    high = low / w
    order: IntArray = np.argsort(-own, kind="stable").astype(np.int64)
    hidden = 0.0
    for first, size in _supports(m.base, order, blind=m.form == "null" or m.name == "urap"):
        branch = 1.0 if size is None else (size * high + (m.s - size) * low) / m.s
        floor = max(low * float(own.max()), other * branch)
        hidden += float(np.sum(first[1:] * np.maximum(high * own[order], floor))) + float(first[0]) * floor
    return Guess(told + hidden, blind)


def _supports(base: SupportMechanism, order: IntArray, *, blind: bool) -> Iterator[tuple[FloatArray, int | None]]:
    """For blind reports: chances that none or the j-th item in `order` is the first one supported, by number of items.

    The number is None where it does not matter.
    """
    if blind:
        first = base.best_ranked(order)
        yield np.concatenate([[max(0.0, 1 - float(first.sum()))], first]), None
    elif isinstance(base, SizedSelection):
        yield np.concatenate([[0.0], first_of_subset(base.k, base.size)]), base.size
    elif isinstance(base, BalancedHashing):
        small, more = divmod(base.k, base.g)
        for size, blocks in ((small, base.g - more), (small + 1, more)):
            if blocks:
                yield np.concatenate([[0.0], first_of_subset(base.k, size)]) * (blocks / base.g), size
    elif base.family == "grr":
        yield np.concatenate([[0.0], np.full(base.k, 1 / base.k)]), 1
    else:  # independent supports: hashing, the wheel, bits
        from scipy.stats import binom

        share = float(base.support.q)
        first, after = first_of_independent(base.k, share), base.k - 1 - np.arange(base.k)
        yield np.concatenate([[(1 - share) ** base.k], np.zeros(base.k)]), 0
        for size in range(1, base.k + 1):
            yield np.concatenate([[0.0], first * binom.pmf(size - 1, after, share)]), size
