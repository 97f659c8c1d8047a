"""Kernels of numbers in bulk: bits that lean with the value, and windows or bits. Windows are those of outputs.py."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from deniable.core.types import Columns, IntArray
from deniable.errors import ParameterError
from deniable.estimate.evidence import Evidence
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.outputs import OutputBulk, Weights, WindowBulk
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Leaning, WindowOrBit

__all__ = ["LeaningBulk", "WindowOrBitBulk"]

_WORD = 1 << WORD_BITS


class LeaningBulk(OutputBulk[Leaning]):
    """A bit that leans with the value, for many people."""

    @property
    def size(self) -> int:
        return 2

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        thresholds = np.uint64(self.kernel.base) + items.astype(np.uint64) * np.uint64(self.kernel.slope)
        return {"value": (rng.draw(64, items.size) < thresholds).astype(np.uint8)}

    def weights(self) -> Weights:
        ones = (self.kernel.base + x * self.kernel.slope for x in range(self.k))
        return [(_WORD - one, one) for one in ones], _WORD

    def tally_evidence(self, cells: Cells) -> Evidence:
        """No distribution follows from bits: `ParameterError`."""
        raise _only_means(f"tell the mean and nothing else: their channel has rank 2, for {self.k} points")


class WindowOrBitBulk(OutputBulk[WindowOrBit]):
    """An answer of a window or a bit, as a coin says, for many people."""

    @cached_property
    def parts(self) -> tuple[WindowBulk, LeaningBulk]:
        """Both kinds of report."""
        return WindowBulk(self.kernel.window), LeaningBulk(self.kernel.bit)

    @property
    def size(self) -> int:
        return self.kernel.window.outputs + 2

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        window, bit = self.parts
        bits = bernoulli(rng, self.kernel.coin, items.size)
        out = np.empty(items.size, self.fields[0].dtype)
        out[~bits] = window.perturb(items[~bits], rng)["value"]
        out[bits] = bit.perturb(items[bits], rng)["value"] + np.uint64(window.size)
        return {"value": out}

    def weights(self) -> Weights:
        (windows, one), (bits, two) = (part.weights() for part in self.parts)
        window, bit = two * (_WORD - self.kernel.coin), one * self.kernel.coin
        pairs = zip(windows, bits, strict=True)
        return [(*(w * window for w in answers), *(w * bit for w in own)) for answers, own in pairs], one * two * _WORD

    def tally_evidence(self, cells: Cells) -> Evidence:
        """It is for means: `ParameterError`."""
        raise _only_means("are for means: some of them are bits")


def _only_means(why: str) -> ParameterError:
    """The error where a distribution is asked of reports that have none."""
    hint = "Use estimate() for the mean, or collect with sw for a distribution."
    return ParameterError(f"no frequencies can be fitted: these reports {why}.", hint)
