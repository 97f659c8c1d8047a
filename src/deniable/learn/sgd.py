"""Stochastic gradient descent on gradients that each person perturbs before sending them.

The server publishes the model; a person computes the gradient of the own example, clips its coordinates to [-C, C]
for a public C, draws k of them, and releases each with epsilon/k. The interval is symmetric: one that is chosen by the
sign gives the sign away. C is fixed beforehand: one that follows the norms of the people's gradients gives those away.
Everybody takes part once, or `passes` times at epsilon/passes each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import is_whole, require
from deniable.learn.estimator import Learner, matrix_of, numbers_of
from deniable.learn.labels import Classifier, determination
from deniable.learn.ledger import Ledger, float_below
from deniable.learn.release import KINDS, Release
from deniable.learn.vectors import coordinates_for_means, coordinates_of, sample_coordinates
from deniable.randomness import Stream, bernoulli
from deniable_client.exact import check_epsilon

__all__ = ["LocalSGDClassifier", "LocalSGDRegressor"]


@dataclass(eq=False, kw_only=True)
class _LocalSGD(Learner):
    """What classification and regression share.

    `kind`: `pm` (default) and `duchi` give clipped gradients without bias; `codebook` and `brr` draw them to 0.
    `bound`: the public C. What is clipped off is a bias, what is left unused of [-C, C] is noise: a quarter of the
    largest gradient is a fair start. `coordinates`: how many a person releases, `all`, or `best` for means. `epsilon`
    None: no privacy at all, for comparison. After `fit`, `ledger_` lists what was spent.
    """

    epsilon: float | None = 1.0
    kind: str = "pm"
    coordinates: Any = "best"
    bound: float = 0.25
    passes: int = 1
    batch: int = 256
    learning_rate: float = 1.0
    l2: float = 1e-3
    average: bool = True

    learned: ClassVar[str] = "coef_"

    def _learn(self, rows: FloatArray, targets: FloatArray) -> None:
        self._check()
        stream, self.n_features_in_ = self._stream(), rows.shape[1]
        inputs = np.column_stack([rows, np.ones(len(rows))])
        weights = np.zeros((inputs.shape[1], targets.shape[1]))
        each = None if self.epsilon is None else Fraction(float(self.epsilon)) / self.passes
        self.ledger_ = None if self.epsilon is None else Ledger(float(self.epsilon))
        self.count_ = weights.size if each is None else self._count(weights.size, float(each))
        kept, step = np.zeros_like(weights), 0
        steps = self.passes * -(-len(rows) // self.batch)
        for turn in range(self.passes):
            order = np.argsort(stream.draw(64, len(rows)), kind="stable")
            for part, start in enumerate(range(0, len(rows), self.batch)):
                at = order[start : start + self.batch]
                if self.ledger_ is not None and each is not None:
                    self.ledger_.add(f"gradients of batch {part + 1}, pass {turn + 1}", each, turn, part)
                step += 1
                gradient = self._gradient(inputs[at], targets[at], weights, each, stream)
                decay = self.l2 * weights * (np.arange(len(weights)) < len(weights) - 1)[:, None]
                weights = weights - self.learning_rate / np.sqrt(step) * (gradient + decay)
                kept += weights if 2 * step > steps else 0
        if self.average:
            weights = kept / (steps - steps // 2)
        self.intercept_, self.coef_ = weights[-1], weights[:-1]

    def _count(self, width: int, budget: float) -> int:
        """How many coordinates of the gradient a person releases."""
        if self.coordinates == "best":
            return coordinates_for_means(width, budget)
        return coordinates_of(self.coordinates, width, self.kind, budget)

    def _gradient(
        self, inputs: FloatArray, targets: FloatArray, weights: FloatArray, budget: Fraction | None, stream: Stream
    ) -> FloatArray:
        """Mean gradient of a batch, from what its people release."""
        slopes = self._slopes(inputs @ weights, targets)
        own = (inputs[:, :, None] * slopes[:, None, :]).reshape(len(inputs), -1)
        if budget is None:
            return np.asarray(own.mean(axis=0).reshape(weights.shape))
        return self._released(np.clip(own, -self.bound, self.bound), budget, stream).reshape(weights.shape)

    def _released(self, own: FloatArray, budget: Fraction, stream: Stream) -> FloatArray:
        people, width = own.shape
        count = self.count_
        at = sample_coordinates(people, width, count, stream)
        sign = np.where(bernoulli(stream, 1 << 63, at.size), 1.0, -1.0).reshape(at.shape)  # no side is favoured at 0
        unit = np.clip(np.take_along_axis(own, at, axis=1) / self.bound, -1, 1)
        sent = sign * Release(self.kind, float_below(budget / count)).draw(sign * unit, stream) * self.bound
        return np.asarray(np.bincount(at.ravel(), sent.ravel(), width) * (width / count / people))

    def _slopes(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        """Derivative of each person's loss by the scores."""
        return scores - targets

    def _scores(self, X: object) -> FloatArray:
        return np.asarray(self._matrix(X) @ self.coef_ + self.intercept_)

    def _check(self) -> None:
        if self.epsilon is not None:
            check_epsilon(self.epsilon, sampling=True)
        require(self.kind in KINDS, "kind", self.kind, f"one of {', '.join(KINDS)}")
        for name in ("passes", "batch"):
            value = getattr(self, name)
            require(is_whole(value, 1), name, value, "an integer >= 1")
        for name in ("bound", "learning_rate"):
            value = getattr(self, name)
            require(0 < value < np.inf, name, value, "a finite number > 0")
        require(0 <= self.l2 < np.inf, "l2", self.l2, "a finite number >= 0")


@dataclass(eq=False, kw_only=True)
class LocalSGDClassifier(_LocalSGD, Classifier):
    """Logistic regression; softmax for more than two classes. `classes`: all labels, a public list; without it
    those that occur, and that they occur is then no secret.

    A label is part of the gradient and protected with it.
    """

    def fit(self, X: object, y: object) -> LocalSGDClassifier:
        """Learn from one example per person."""
        rows = matrix_of(X)
        codes = self._codes(y, len(rows))
        two = self.classes_.size == 2
        self._learn(rows, codes[:, None].astype(np.float64) if two else np.eye(self.classes_.size)[codes])
        return self

    def _slopes(self, scores: FloatArray, targets: FloatArray) -> FloatArray:
        return chances(scores) - targets

    def predict_proba(self, X: object) -> FloatArray:
        found = chances(self._scores(X))
        return np.column_stack([1 - found, found]) if self.classes_.size == 2 else found


@dataclass(eq=False, kw_only=True)
class LocalSGDRegressor(_LocalSGD):
    """Linear regression, squared loss. Scale features and target to about [-1, 1] by public bounds."""

    kind_of_learner: ClassVar[str] = "regressor"

    def fit(self, X: object, y: object) -> LocalSGDRegressor:
        """Learn from one example per person."""
        rows = matrix_of(X)
        self._learn(rows, numbers_of(y, len(rows))[:, None])
        return self

    def predict(self, X: object) -> FloatArray:
        """Predictions."""
        return self._scores(X)[:, 0]

    def score(self, X: object, y: object) -> float:
        """The coefficient of determination."""
        return determination(numbers_of(y, len(matrix_of(X))), self.predict(X))


def chances(scores: FloatArray) -> FloatArray:
    """Softmax over the columns; for one column the logistic function."""
    if scores.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -500, 500))))
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
