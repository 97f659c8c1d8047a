"""Boosted trees with differential privacy: what of the gain comes from where.

    python examples/boosting.py

A trusted curator grows trees on made-up data; the model is what is released. Laplace noise on leaves leaves the range
of the target by far; keeping it inside repairs most of that. Adding noise to sums and counts instead of to their
quotient beats both, because it uses that a large leaf depends little on any one person.
"""

from __future__ import annotations

import numpy as np

from deniable.learn import BoostedTrees
from deniable.learn.boosting import LEAVES
from deniable.randomness import simulation


def people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Six features in [0, 1] and a target in [-1, 1.5]."""
    rows = simulation(seed).generator().random((n, 6))
    return rows, np.clip(np.sin(3 * rows[:, 0]) + rows[:, 1] * rows[:, 2] - rows[:, 3], -1, 1.5)


def main() -> None:
    """Fit with all ways to release a leaf, five times each, and print errors and a ledger."""
    train, test = people(5000, 1), people(2000, 2)
    print(f"root mean squared error; predicting the mean for everybody: {test[1].std():.3f}")
    for epsilon in (0.5, 2.0):
        for leaf in LEAVES:
            errors = []
            for seed in range(5):
                model = BoostedTrees(epsilon=epsilon, leaf=leaf, target=(-1, 1.5), seed=seed).fit(*train)
                errors.append(np.sqrt(np.mean((model.predict(test[0]) - test[1]) ** 2)))
            print(f"epsilon {epsilon:<4g} {leaf:10} {np.mean(errors):.3f} +- {np.std(errors) / np.sqrt(5):.3f}")
    model = BoostedTrees(epsilon=2.0, trees=2, ensembles=2, target=(-1, 1.5)).fit(*train)
    print("\nthe ledger of a small model (trees of one ensemble have people of their own):")
    print(model.ledger_)


if __name__ == "__main__":
    main()
