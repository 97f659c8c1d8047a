"""The one place that decides whether what is sampled keeps a promise, by exact ratios and certified bounds of e^budget.

Whole numbers and fractions decide, no logarithm and no float. `kept` of a pair is the verdict; pairs come from the
argument of a proof (`proved`) or from looking at every output (`enumerated`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import NamedTuple

from deniable.core.channel import Channel, Proof, Witness
from deniable.core.promise.ranges import members
from deniable.core.promise.value import Promise
from deniable.errors import require
from deniable_client.exact import exp_bounds, log_upper

__all__ = ["Pair", "breach", "enumerated", "proved", "within"]

_MOST = 700
"""The largest exponent that is bounded at once."""


@lru_cache(maxsize=4096)
def _low(budget: float | Fraction) -> Fraction:
    """A certified lower bound of e^budget."""
    whole, rest = divmod(budget, _MOST)
    return exp_bounds(_MOST)[0] ** int(whole) * exp_bounds(rest)[0]


def within(ratio: Fraction, budget: float | Fraction) -> bool:
    """Whether a ratio is at most a certified lower bound of e^budget: no rounding is forgiven."""
    return ratio <= _low(budget)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two inputs, what is promised between them, and the exact largest ratio of a report; None: infinite.

    They stand for all inputs that are promised the same. Where `output` is a part of a report, there are no inputs.
    """

    likely: str
    unlikely: str
    budget: float
    ratio: Fraction | None
    output: str

    @property
    def kept(self) -> bool:
        """Whether there is a largest ratio, and it is `within` the budget."""
        return self.ratio is not None and within(self.ratio, self.budget)

    @property
    def epsilon(self) -> float:
        """ln(ratio), rounded up to a float."""
        return math.inf if self.ratio is None else log_upper(max(self.ratio, Fraction(1)))

    def __str__(self) -> str:
        between = f" for {self.likely} against {self.unlikely}" if self.likely else ""
        return f"{self.output}{between}: promised {self.budget:g}, exact {self.epsilon:.6g}"


def breach(pairs: Sequence[Pair]) -> Pair | None:
    """The first pair that is not within its budget; None if the promise is kept."""
    return next((pair for pair in pairs if not pair.kept), None)


def proved(promise: Promise, proof: Proof) -> tuple[Pair, ...]:
    """What the argument of a proof says, the worst pair first.

    One of the proof's `ratios` is the largest of all pairs that have the same budget; `ratio`, the largest of all, is
    held against the smallest of the other budgets.
    """
    told = [(promise.limit(w.likely, w.unlikely), ratio, w) for ratio, w in proof.ratios]
    rest = promise.value_budgets - {budget for budget, _, _ in told}
    if rest:
        told.append((min(rest), proof.ratio, proof.witness))
    found = [
        Pair(promise.name(w.likely), promise.name(w.unlikely), budget, ratio, w.output)
        for budget, ratio, w in told
        if math.isfinite(budget)
    ]
    return _sorted(found + _parts(promise, proof))


def _parts(promise: Promise, proof: Proof) -> list[Pair]:
    """What is promised of parts of a report; a part of which nothing is proved is broken."""
    known = dict(proof.parts)
    return [Pair("", "", budget, known.get(name), f"the {name}") for name, budget in promise.parts.items()]


def enumerated(promise: Promise, channels: Sequence[Channel], proof: Proof | None = None) -> tuple[Pair, ...]:
    """The worst pair of each two classes, by looking at every output of a channel, or of one for each level.

    A report that only one value leads to, and one without any limit, discloses it: then nothing is asked of it where
    the promise is `strict` about all others. What is promised of parts of a report is taken from `proof`.
    """
    levels = max(1, len(promise.levels))
    require(len(channels) == levels, "channels", len(channels), f"{levels}, one for each level")
    same = all(channel.k == promise.k and channel.outputs == channels[0].outputs for channel in channels)
    require(same, "channels", channels, f"of {promise.k} values each, with the same outputs")
    common = math.lcm(*(channel.total for channel in channels))
    scales = [common // channel.total for channel in channels]
    best: dict[tuple[int, ...], _Found] = {}
    for o, name in enumerate(channels[0].outputs):
        rows = [[scale * w for w in channel.weights[o]] for scale, channel in zip(scales, channels, strict=True)]
        for kind, likely, unlikely in _worst(promise, rows):
            (i, x), (j, z) = divmod(likely, promise.k), divmod(unlikely, promise.k)
            found = _Found(rows[i][x], rows[j][z], Witness(name, likely, unlikely))
            if found.likely and (kind not in best or found.beats(best[kind])):
                best[kind] = found
    pairs = [
        Pair(promise.name(w.likely), promise.name(w.unlikely), promise.limit(w.likely, w.unlikely), ratio, w.output)
        for ratio, w in ((found.ratio, found.witness) for found in best.values())
    ]
    return _sorted(pairs + ([] if proof is None else _parts(promise, proof)))


class _Found(NamedTuple):
    """Whole numbers in proportion to the likelihoods of an output for two inputs."""

    likely: int
    unlikely: int
    witness: Witness

    def beats(self, other: _Found) -> bool:
        """Whether the ratio is the larger one; neither is 0/0."""
        return self.likely * other.unlikely > other.likely * self.unlikely

    @property
    def ratio(self) -> Fraction | None:
        """The ratio; None: infinite."""
        return Fraction(self.likely, self.unlikely) if self.unlikely else None


def _worst(promise: Promise, rows: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Inputs that can have the largest ratio of an output: of each two classes, and of one value at two levels."""
    k, c, t = promise.k, len(promise.classes), len(rows)
    for i, j in permutations(range(t), 2):
        for a, ends in enumerate(promise.classes):
            if math.isfinite(promise.limit(i * k + ends[0], j * k + ends[0])):
                yield from (((i, a, j, a, 1), i * k + x, j * k + x) for x in members(ends))
    senders = {x for row in rows for x, weight in enumerate(row) if weight}
    if not senders or (promise.strict is not None and len(senders) == 1 and promise.is_harmless(*senders)):
        return
    order = [[sorted(members(ends), key=row.__getitem__) for ends in promise.classes] for row in rows]
    for (i, a), (j, b) in product(product(range(t), range(c)), repeat=2):
        if math.isfinite(promise.limits[i * c + a, j * c + b]):
            likely, unlikely = order[i][a][:-3:-1], order[j][b][:2]
            several = [(x, z) for x in likely for z in unlikely if x != z]
            for x, z in several[:1] if likely[0] != unlikely[0] else several:
                yield (i, a, j, b, 0), i * k + x, j * k + z


def _sorted(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The one that comes nearest to its budget, or is farthest beyond it, first."""
    return tuple(
        sorted(pairs, key=lambda p: (p.ratio is not None, 0 if p.ratio is None else -p.ratio / _low(p.budget)))
    )
