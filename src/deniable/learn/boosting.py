"""Gradient boosting whose splits and leaves are released with differential privacy, by a curator who is trusted.

The curator sees the data; the model that leaves the house is epsilon-differentially private for adding or removing a
person [LiWu20]. Every tree of an ensemble is grown on people of its own (parallel composition); ensembles follow each
other on all of them (sequential composition). Bounds of features and of the target are public, and so are the
candidate splits: thresholds taken from the data, as in the original, are not covered by its proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import is_whole, require
from deniable.learn.choice import choose
from deniable.learn.estimator import Learner, inside, matrix_of, numbers_of, span_of
from deniable.learn.labels import determination
from deniable.learn.leaves import Leaf, clamped_laplace, laplace, noisy_ratio, truncated_laplace
from deniable.learn.ledger import Ledger, float_below
from deniable.learn.release import Release
from deniable.randomness import Stream
from deniable_client.exact import check_epsilon

__all__ = ["LEAVES", "BoostedTrees", "Tree", "values_of"]

UNIT = 1 << 10
"""Gradients are whole numbers from -UNIT to UNIT: what is summed and compared is exact."""
_AT_ONCE = 1 << 18
"""Leaves that are looked up together."""
LEAVES = ("sums", "codebook", "brr", "alg4", "truncated", "clamped", "laplace")
"""How a leaf's value is released."""

_DIRECT: dict[str, Callable[[list[Leaf], Fraction, Stream], FloatArray]] = {
    "laplace": laplace,
    "clamped": clamped_laplace,
    "truncated": truncated_laplace,
    "sums": noisy_ratio,
}


@dataclass(frozen=True)
class Tree:
    """A full binary tree: `feature` and `threshold` of the inner nodes level by level, `value` of the leaves."""

    feature: IntArray
    threshold: IntArray
    value: FloatArray


def values_of(trees: Sequence[Tree], bins: IntArray) -> FloatArray:
    """The value that each tree (a row) has for each row of binned features (a column); all trees are equally deep."""
    feature, threshold, value = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "threshold", "value")
    )
    inner, width = trees[0].feature.size, bins.shape[1]
    number = np.arange(len(trees))[:, None]
    rows, flat = width * np.arange(len(bins)), bins.ravel()
    at = np.zeros((len(trees), len(bins)), np.int64)
    for _ in range((inner + 1).bit_length() - 1):
        node = at + inner * number
        at = 2 * at + 1 + (flat[rows + feature[node]] >= threshold[node])
    return np.asarray(value[at - inner + (inner + 1) * number])


@dataclass(eq=False, kw_only=True)
class BoostedTrees(Learner):
    """Regression by boosted trees, squared loss, with `epsilon` for the whole model.

    `leaf`: `sums` (noisy sum and count, divided: the default, since its noise shrinks with the leaf), `laplace`
    (noise scaled to how far one person can move the value; it may leave the range), `clamped` (moved back to the
    range's ends), `truncated` (conditioned on staying in range), `brr`, `alg4` (BRR's Algorithm 4 as published) and
    `codebook` (which make no use of that limit: any two values of the range are told apart within epsilon).
    `c`: the range of these three: `clip` (where leaves are clipped) or `half_sensitivity` (narrower, biased:
    the published choice). `low`, `high`, `target`: public bounds; values outside are errors unless `clip`.
    `split_share`: the part of a tree's budget that its splits have, the leaves have the rest.
    `epsilon` None: no privacy at all, for comparison. After `fit`, `ledger_` lists what was spent.
    """

    epsilon: float | None = 1.0
    leaf: str = "sums"
    split_share: float = 0.5
    c: str = "clip"
    trees: int = 10
    ensembles: int = 1
    depth: int = 3
    learning_rate: float = 0.3
    l2: float = 0.1
    bins: int = 16
    points: int | None = None
    low: Any = 0.0
    high: Any = 1.0
    target: tuple[float, float] = (-1.0, 1.0)
    clip: bool = False

    kind_of_learner: ClassVar[str] = "regressor"
    learned: ClassVar[str] = "trees_"

    def fit(self, X: object, y: object) -> BoostedTrees:
        """Grow the trees. Rows are people; one row must hold all that a person contributes."""
        self._check()
        rows = matrix_of(X)
        values = numbers_of(y, len(rows))
        self.n_features_in_ = rows.shape[1]
        low, high = self._target()
        scaled = 2 * (inside(values, low, high, self.clip, "y") - low) / (high - low) - 1
        stream = self._stream()
        self.ledger_ = None if self.epsilon is None else Ledger(float(self.epsilon))
        trees: list[Tree] = []
        bins, guess = self._bins(rows), np.zeros(len(rows))
        for ensemble in range(self.ensembles):
            if ensemble:
                guess = guess + self._steps(trees[-self.trees :], bins)
            trees += self._ensemble(bins, scaled, guess, ensemble, stream)
        self.trees_ = trees
        return self

    def predict(self, X: object) -> FloatArray:
        """Predictions, in the target's unit."""
        bins = self._bins(self._matrix(X))
        low, high = self._target()
        total = np.clip(self._steps(self.trees_, bins), -1, 1)
        return np.asarray(low + (total + 1) / 2 * (high - low))

    def score(self, X: object, y: object) -> float:
        """The coefficient of determination."""
        found = self.predict(X)
        return determination(numbers_of(y, len(found)), found)

    # ---- one ensemble

    def _ensemble(self, bins: IntArray, y: FloatArray, guess: FloatArray, ensemble: int, stream: Stream) -> list[Tree]:
        """Trees on disjoint people: who is in which tree is drawn without looking at anybody."""
        rate = self.learning_rate
        shares = (1 - rate) ** np.arange(self.trees)
        edges = np.cumsum(shares / shares.sum())[:-1]
        own = np.searchsorted(edges, stream.draw(64, len(y)) / 2.0**64, side="right")
        budget = None if self.epsilon is None else Fraction(float(self.epsilon)) / self.ensembles
        grown: list[Tree] = []
        for number in range(self.trees):
            at = np.flatnonzero(own == number)
            now = guess[at] + self._steps(grown, bins[at])
            gradients = np.clip(np.rint((now - y[at]) * UNIT), -UNIT, UNIT).astype(np.int64)
            bound = Fraction((1 - rate) ** number)
            self._write(ensemble, number, budget)
            grown.append(self._grow(bins[at], gradients, bound, budget, stream))
        return grown

    def _write(self, ensemble: int, number: int, budget: Fraction | None) -> None:
        if self.ledger_ is not None and budget is not None:
            for what, share in (("splits", self._split), ("leaves", 1 - self._split)):
                name = f"{what} of tree {number + 1}, ensemble {ensemble + 1}"
                self.ledger_.add(name, budget * share, step=ensemble, part=number)

    def _grow(
        self, bins: IntArray, gradients: IntArray, bound: Fraction, budget: Fraction | None, stream: Stream
    ) -> Tree:
        """A share of the budget for the splits, level by level on disjoint people, the rest for the leaves."""
        inner = 2**self.depth - 1
        feature, threshold = np.zeros(inner, np.int64), np.ones(inner, np.int64)
        at, l2 = np.zeros(len(bins), np.int64), self._l2
        rate = None if budget is None else budget * self._split / self.depth / (2 * 3 * UNIT**2)
        for node in range(inner):
            here = np.flatnonzero(at == node)
            gains = split_gains(bins[here], gradients[here], self.bins, l2)
            pick = int(np.argmax(gains)) if rate is None else choose(stream, gains, rate)
            feature[node], threshold[node] = pick // (self.bins - 1), pick % (self.bins - 1) + 1
            at[here] = 2 * node + 1 + (bins[here, feature[node]] >= threshold[node])
        leaf = at - inner
        totals = np.bincount(leaf, weights=gradients, minlength=inner + 1).astype(np.int64)
        counts = np.bincount(leaf, minlength=inner + 1)
        leaves = [Leaf(int(s), int(n), UNIT, l2, bound) for s, n in zip(totals, counts, strict=True)]
        return Tree(feature, threshold, self._leaves(leaves, budget, stream))

    def _leaves(self, leaves: list[Leaf], budget: Fraction | None, stream: Stream) -> FloatArray:
        if budget is None:
            return np.array([float(leaf.value) for leaf in leaves])
        if self.leaf in _DIRECT:
            return _DIRECT[self.leaf](leaves, budget * (1 - self._split), stream)
        first = leaves[0]
        c = float(first.bound if self.c == "clip" else first.sensitivity / 2)
        release = Release(self.leaf, float_below(budget * (1 - self._split)), self.points)
        return c * release.draw(np.clip([float(leaf.value) / c for leaf in leaves], -1, 1), stream)

    # ---- small parts

    def _steps(self, trees: Sequence[Tree], bins: IntArray) -> FloatArray:
        """What the trees add up to for each row, one tree after the other."""
        total = np.zeros(len(bins))
        few = max(1, _AT_ONCE // max(1, len(trees)))
        for start in range(0, len(bins) if trees else 0, few):
            part = bins[start : start + few]
            total[start : start + few] = (self.learning_rate * values_of(trees, part)).cumsum(axis=0)[-1]
        return total

    def _bins(self, rows: FloatArray) -> IntArray:
        """Each feature as a number of 0..bins-1, by its public bounds."""
        low, high = span_of(self.low, self.high, rows.shape[1])
        share = (inside(rows, low, high, self.clip, "X") - low) / (high - low)
        return np.asarray(np.minimum((share * self.bins).astype(np.int16), self.bins - 1))

    def _target(self) -> tuple[float, float]:
        low, high = span_of(self.target[0], self.target[1], 1)
        return float(low[0]), float(high[0])

    @property
    def _split(self) -> Fraction:
        """Exactly the share that was written down."""
        return Fraction(str(self.split_share))

    @property
    def _l2(self) -> Fraction:
        return Fraction(str(self.l2))

    def _check(self) -> None:
        if self.epsilon is not None:
            check_epsilon(self.epsilon, sampling=True)
        require(self.leaf in LEAVES, "leaf", self.leaf, f"one of {', '.join(LEAVES)}")
        ranges = ("clip", "half_sensitivity")
        require(self.c in ranges, "c", self.c, f"one of {', '.join(ranges)}")
        for name, least, most in (("trees", 1, 1000), ("ensembles", 1, 1000), ("depth", 1, 10), ("bins", 2, 1024)):
            value = getattr(self, name)
            require(is_whole(value, least, most), name, value, f"an integer from {least} to {most}")
        require(0 < self.split_share < 1, "split_share", self.split_share, "between 0 and 1", "Half is 0.5.")
        require(0 < self.learning_rate < 1, "learning_rate", self.learning_rate, "between 0 and 1")
        require(0 <= self.l2 <= 1000 and self._l2.denominator <= 1000, "l2", self.l2, "from 0 to 1000, in thousandths")


def split_gains(bins: IntArray, gradients: IntArray, size: int, l2: Fraction) -> IntArray:
    """Gain of each split (feature by feature, thresholds 1..size-1), in units of (g/UNIT)^2, as whole numbers.

    S_L^2/(n_L + l2) + S_R^2/(n_R + l2), each rounded down. One person changes one of both by at most 3 UNIT^2
    [LiWu20 Lemma 1], a whole number, so that rounding down changes nothing about that.
    """
    n, width = bins.shape
    cells = (bins + size * np.arange(width)).ravel()
    sums = np.bincount(cells, np.repeat(gradients, width), size * width).astype(np.int64).reshape(width, size)
    counts = np.bincount(cells, minlength=size * width).reshape(width, size)
    left_sum, left_count = np.cumsum(sums, axis=1)[:, :-1], np.cumsum(counts, axis=1)[:, :-1]
    right_sum, right_count = int(gradients.sum()) - left_sum, n - left_count
    top, bottom = l2.as_integer_ratio()
    if (n * UNIT) ** 2 * bottom >= 1 << 62:
        left_sum, left_count, right_sum, right_count = (
            part.astype(object) for part in (left_sum, left_count, right_sum, right_count)
        )

    def part(total: Any, count: Any) -> Any:
        return total * total * bottom // np.maximum(count * bottom + top, 1)

    return np.asarray(part(left_sum, left_count) + part(right_sum, right_count), np.int64).ravel()
