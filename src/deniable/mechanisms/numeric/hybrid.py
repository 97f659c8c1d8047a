"""Means of numbers by a window or a bit, as a coin says [Wang19]: the largest variance is below that of either."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.core.codes import Span, on_grid
from deniable.core.domain import Domain
from deniable.errors import require
from deniable.mechanisms.numeric.base import (
    POINTS_MEAN,
    Duchi,
    Numeric,
    check_window,
    sliding,
)
from deniable.mechanisms.numeric.bulk import WindowOrBitBulk
from deniable.mechanisms.numeric.laws import Blend, Lean, Sliding, best_blend
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Leaning, WindowOrBit

__all__ = ["Hybrid"]

_WORD = 1 << WORD_BITS


@dataclass(frozen=True, kw_only=True)
class Hybrid(Numeric):
    """Duchi's bit with probability `share`, else an answer of a window of `m`."""

    m: int
    share: float
    family: ClassVar[str] = "hm"

    def __post_init__(self) -> None:
        super().__post_init__()
        number = isinstance(self.share, int | float | np.floating) and not isinstance(self.share, bool)
        ok = number and 0 <= self.share <= 1
        require(ok, "share", self.share, "a number from 0 to 1", "It is the chance that a report is a bit.")
        object.__setattr__(self, "share", float(self.share))
        object.__setattr__(self, "m", check_window(self.m, self.k))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span) -> Hybrid:
        """With the window and the share whose largest variance is least."""
        grid = on_grid(domain, POINTS_MEAN)
        Duchi(epsilon=epsilon, domain=grid)  # refuses what is no grid, or too fine, before the search
        m, share = best_blend(check_epsilon(epsilon), grid.k)
        return cls(epsilon=epsilon, domain=grid, m=m, share=share)

    @cached_property
    def bulk(self) -> WindowOrBitBulk:
        coin = min(max(int(self.share * _WORD), 1), _WORD - 1)  # both kinds of report always stay possible
        window = sliding(self.epsilon, self.k, self.m).kernel
        return WindowOrBitBulk(WindowOrBit(window, Leaning.calibrate(self.epsilon, self.k), coin))

    @cached_property
    def law(self) -> Blend[float]:
        window, bit = Sliding.ideal(self.epsilon, self.k, self.m), Lean.ideal(self.epsilon, self.k)
        return Blend(window, bit, self.share)
