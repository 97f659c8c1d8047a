"""The best guess of a value from a ULDP report under any prior, exactly, for bases whose reports support items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.guess import Guess, first_of_subset
from deniable.core.types import FloatArray, IntArray
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
    base: Any = m.base
    w = math.exp(-base.leak)
    low = float(law.base.p_not + law.base.p * w)
    high = low / w
    order: IntArray = np.argsort(-own, kind="stable").astype(np.int64)
    hidden = 0.0
    for first, size in _supports(base, order, blind=m.form in ("null", "separate")):
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
    else:
        for size, chance in base.sizes.items():
            none = chance if size == 0 else 0.0
            first = chance * first_of_subset(base.k, size) if size else np.zeros(base.k)
            yield np.concatenate([[none], first]), size
