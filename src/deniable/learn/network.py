"""A small neural network trained on features that each person perturbs before sending them.

The features of a row are released once (`VectorRelease`), with epsilon in all; training on what was released is
post-processing and may go on as long as one likes. Feature importances that decide on budgets must be public: those
that are fitted on the private data give the data away.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import require
from deniable.learn.estimator import inside, matrix_of, span_of
from deniable.learn.labels import Classifier
from deniable.learn.ledger import Ledger, float_below
from deniable.learn.sgd import chances
from deniable.learn.vectors import VectorRelease
from deniable.mechanisms.frequency.grr import GRR
from deniable.randomness import Stream
from deniable_client.exact import check_epsilon

__all__ = ["LocalNetwork"]

Layers = list[tuple[FloatArray, FloatArray]]


@dataclass(eq=False, kw_only=True)
class LocalNetwork(Classifier):
    """Classification by a network with one or two hidden layers, trained on released features.

    `epsilon` is what a person spends in all. `label_epsilon` of it protects the label, by randomised response, whose
    law the training then allows for; with 0, the default, the label is public, as in the published studies: say so
    when you use it. `kind`, `coordinates` (`best` unless `weights` are given), `weights`, `low`, `high`, `points`,
    `clip`: see `VectorRelease`.
    `classes`: all labels, a public list; without it those that occur. `epsilon` None: no privacy at all. `predict`
    takes features as they are: whoever asks about themselves need not perturb anything.
    """

    epsilon: float | None = 1.0
    label_epsilon: float = 0.0
    kind: str = "codebook"
    coordinates: Any = "best"
    weights: Any = None
    low: Any = 0.0
    high: Any = 1.0
    points: int | None = None
    clip: bool = False
    hidden: tuple[int, ...] = (32,)
    epochs: int = 10
    batch: int = 128
    learning_rate: float = 0.01
    l2: float = 1e-4

    learned: ClassVar[str] = "layers_"

    def fit(self, X: object, y: object) -> LocalNetwork:
        """Release the rows, then train."""
        self._check()
        rows = matrix_of(X)
        self.n_features_in_ = rows.shape[1]
        codes = self._codes(y, len(rows))
        unit, stream = self._unit(rows), self._stream()
        noise = np.eye(self.classes_.size)
        self.ledger_ = None
        if self.epsilon is not None:
            self.ledger_ = Ledger(float(self.epsilon))
            codes, noise = self._release_labels(codes, stream)
            unit = self._release_features(unit, stream)
        self._train(unit, codes, noise, stream)
        return self

    def predict_proba(self, X: object) -> FloatArray:
        return chances(_forward(self._unit(self._matrix(X)), self.layers_)[-1])

    # ---- release

    def _release_labels(self, codes: IntArray, stream: Stream) -> tuple[IntArray, FloatArray]:
        """Labels by randomised response, and the matrix Pr[released | true]."""
        assert self.ledger_ is not None
        count = self.classes_.size
        if not self.label_epsilon:
            self.ledger_.add("label: public, not protected", Fraction(0))
            return codes, np.eye(count)
        made = GRR(epsilon=self.label_epsilon, domain=count)  # type: ignore[arg-type]
        self.ledger_.add("label", Fraction(made.epsilon))
        p, q = float(made.support.p), float(made.support.q)
        sent = made.privatize_items(codes, stream).columns["value"].astype(np.int64)
        return sent, np.full((count, count), q) + (p - q) * np.eye(count)

    def _release_features(self, unit: FloatArray, stream: Stream) -> FloatArray:
        assert self.ledger_ is not None
        assert self.epsilon is not None
        left = float_below(Fraction(float(self.epsilon)) - self.ledger_.total)
        hint = "Features need some of epsilon, too."
        require(left > 0, "label_epsilon", self.label_epsilon, f"below epsilon = {self.epsilon!r}", hint)
        self.release_ = VectorRelease(
            epsilon=left,
            kind=self.kind,
            coordinates=self.coordinates if self.weights is None or self.coordinates != "best" else "all",
            weights=self.weights,
            points=self.points,
        ).fit(unit)
        for line in self.release_.ledger_:
            self.ledger_.add(f"features, {line.what}", line.epsilon)
        return self.release_.release_unit(unit, stream)

    def _unit(self, rows: FloatArray) -> FloatArray:
        """Features scaled to [-1, 1] by their public bounds."""
        low, high = span_of(self.low, self.high, rows.shape[1])
        return np.asarray(2 * (inside(rows, low, high, self.clip, "X") - low) / (high - low) - 1)

    # ---- training

    def _train(self, unit: FloatArray, codes: IntArray, noise: FloatArray, stream: Stream) -> None:
        """Adam on the cross-entropy of the released labels."""
        sizes = (unit.shape[1], *self.hidden, self.classes_.size)
        layers = [_start(a, b, stream) for a, b in pairwise(sizes)]
        moments = [tuple((np.zeros_like(part), np.zeros_like(part)) for part in layer) for layer in layers]
        step = 0
        for _ in range(self.epochs):
            order = np.argsort(stream.draw(64, len(unit)), kind="stable")
            for start in range(0, len(unit), self.batch):
                at, step = order[start : start + self.batch], step + 1
                slopes = _slopes(unit[at], codes[at], noise, layers, self.l2)
                layers = [
                    tuple(
                        _adam(part, slope, moment, step, self.learning_rate)
                        for part, slope, moment in zip(layer, slope_pair, moment_pair, strict=True)
                    )
                    for layer, slope_pair, moment_pair in zip(layers, slopes, moments, strict=True)
                ]
        self.layers_ = layers

    def _check(self) -> None:
        if self.epsilon is not None:
            check_epsilon(self.epsilon, sampling=True)
            below = 0 <= self.label_epsilon < self.epsilon
            require(below, "label_epsilon", self.label_epsilon, f"from 0 to below epsilon = {self.epsilon!r}")
        sizes = tuple(self.hidden)
        ok = 1 <= len(sizes) <= 2 and all(isinstance(s, int) and s >= 1 for s in sizes)
        require(ok, "hidden", self.hidden, "the sizes of one or two layers")
        for name in ("epochs", "batch"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, value, "an integer >= 1")
        require(0 < self.learning_rate < np.inf, "learning_rate", self.learning_rate, "a finite number > 0")
        require(0 <= self.l2 < np.inf, "l2", self.l2, "a finite number >= 0")


def _start(inputs: int, outputs: int, stream: Stream) -> tuple[FloatArray, FloatArray]:
    """Weights uniform within +-sqrt(6/(inputs + outputs)) [Glorot10], and no offsets."""
    reach = np.sqrt(6 / (inputs + outputs))
    words = stream.draw(64, inputs * outputs).reshape(inputs, outputs)
    return reach * (words / 2.0**63 - 1), np.zeros(outputs)


def _forward(unit: FloatArray, layers: Layers) -> list[FloatArray]:
    """The activity of every layer; hidden ones by max(0, .), the last one as scores."""
    found = [unit]
    for i, (weights, offsets) in enumerate(layers):
        scores = found[-1] @ weights + offsets
        found.append(np.maximum(scores, 0) if i < len(layers) - 1 else scores)
    return found


def _slopes(unit: FloatArray, codes: IntArray, noise: FloatArray, layers: Layers, l2: float) -> Layers:
    """Derivatives of the loss by all weights: minus the log-probability of the label that was released."""
    found = _forward(unit, layers)
    chance = chances(found[-1])
    sent = noise[:, codes].T  # Pr[the released label | each true one]
    posterior = chance * sent
    posterior /= posterior.sum(axis=1, keepdims=True)
    back = (chance - posterior) / len(unit)
    out: Layers = []
    for i in range(len(layers) - 1, -1, -1):
        weights = layers[i][0]
        out.append((found[i].T @ back + l2 * weights, back.sum(axis=0)))
        back = (back @ weights.T) * (found[i] > 0)
    return out[::-1]


def _adam(part: FloatArray, slope: FloatArray, moment: tuple[FloatArray, FloatArray], step: int, rate: float) -> Any:
    """One step of Adam [Kingma15]; the moments are updated in place."""
    first, second = moment
    first += 0.1 * (slope - first)
    second += 0.001 * (slope * slope - second)
    return part - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
