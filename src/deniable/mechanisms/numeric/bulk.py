"""Kernels of numbers in bulk: bits that lean with the value, and windows or bits; why they are private.

Windows in bulk are those of mechanisms/outputs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.channel import Proof, Witness
from deniable.core.types import Columns, IntArray
from deniable.errors import ParameterError
from deniable.estimate.evidence import Evidence
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.outputs import OutputBulk, OutputReader, Weights, WindowBulk
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import WORD
from deniable_client.kernels import Leaning, Window, WindowOrBit

__all__ = ["LeaningBulk", "WindowOrBitBulk", "prove"]


class LeaningBulk(OutputBulk[Leaning]):
    """A bit that leans with the value, for many people."""

    size = 2

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        thresholds = np.uint64(self.kernel.base) + items.astype(np.uint64) * np.uint64(self.kernel.slope)
        return {"value": (rng.draw(64, items.size) < thresholds).astype(np.uint8)}

    def weights(self) -> Weights:
        ones = (self.kernel.base + x * self.kernel.slope for x in range(self.k))
        return [(WORD - one, one) for one in ones], WORD

    @property
    def reader(self) -> _MeansReader:
        return _MeansReader(self, f"tell the mean and nothing else: their channel has rank 2, for {self.k} points")


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
        window, bit = two * (WORD - self.kernel.coin), one * self.kernel.coin
        pairs = zip(windows, bits, strict=True)
        return [(*(w * window for w in answers), *(w * bit for w in own)) for answers, own in pairs], one * two * WORD

    @property
    def reader(self) -> _MeansReader:
        return _MeansReader(self, "are for means: some of them are bits")


@dataclass(frozen=True, eq=False)
class _MeansReader(OutputReader):
    """Reports from which no distribution follows, and why."""

    why: str
    traits = ()

    def tally_evidence(self, cells: Cells) -> Evidence:
        hint = "Use estimate() for the mean, or collect with sw for a distribution."
        raise ParameterError(f"no frequencies can be fitted: these reports {self.why}.", hint)


# ---- proofs


def _prove_sliding(kernel: Window) -> Proof:
    """Why the ratio of a sliding window is that of two levels."""
    text = (
        "an answer has the probability keep/(2^64 m) given every value whose window it is in and (2^64 - keep)/"
        "(2^64 (k - 1)) given all others; answer 0 is in the window of value 0 only"
    )
    return Proof(kernel.ratio, "two levels", text, Witness("report 0", 0, 1))


def _prove_leaning(kernel: Leaning) -> Proof:
    """Why the ends of the grid have the largest ratio."""
    text = "the probability of a 1 rises with the value, so the first and the last value are farthest apart"
    ends = (0, kernel.k - 1)
    one = Fraction(kernel.base + (kernel.k - 1) * kernel.slope, kernel.base)
    likely = ("report 1", *ends[::-1]) if one == kernel.ratio else ("report 0", *ends)
    return Proof(kernel.ratio, "monotone", text, Witness(*likely))


def _prove_either(kernel: WindowOrBit) -> Proof:
    """Why the larger of both ratios counts."""
    worse = max(prove(kernel.window), prove(kernel.bit), key=lambda proof: proof.ratio or 0)
    text = "the coin does not look at the value and every report tells how it fell, so the larger ratio counts; "
    return Proof(kernel.ratio, "two kinds of report", text + worse.argument, worse.witness)


_PROOFS: Mapping[type, Callable[[Any], Proof]] = {
    Window: _prove_sliding,
    Leaning: _prove_leaning,
    WindowOrBit: _prove_either,
}


def prove(kernel: object) -> Proof:
    """The exact worst likelihood ratio of a kernel of this family, with the argument why it is the worst."""
    return _PROOFS[type(kernel)](kernel)
