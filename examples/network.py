"""A small network trained on features that people perturb once, before sending them.

    python examples/network.py

Labels are public here unless some of the budget is spent on them. Training on what was released costs nothing more;
deciding by fitted importances which feature gets how much budget would.
"""

from __future__ import annotations

import numpy as np

from deniable.learn import LocalNetwork
from deniable.randomness import simulation


def people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight features in [0, 1]; the label says whether the mean of four of them is above the middle."""
    rows = simulation(seed).generator().random((n, 8))
    return rows, np.where(rows[:, :4].mean(axis=1) > 0.5, "high", "low")


def main() -> None:
    """Learn with several divisions of the budget."""
    train, test = people(20_000, 1), people(4000, 2)
    clear = LocalNetwork(epsilon=None, epochs=5, seed=3).fit(*train)
    print(f"share of labels found without privacy: {clear.score(*test):.3f}, by chance: 0.5")
    ways = {
        "all features alike": {"coordinates": "all"},
        "one feature per person": {"coordinates": 1},
        "the four that are publicly known to matter": {"weights": [1, 1, 1, 1, 0, 0, 0, 0]},
        "and a quarter of the budget for the label": {"weights": [1, 1, 1, 1, 0, 0, 0, 0], "label_epsilon": 1.0},
    }
    for name, options in ways.items():
        model = LocalNetwork(epsilon=4.0, epochs=5, seed=3, **options).fit(*train)
        print(f"epsilon 4, {name:44} {model.score(*test):.3f}")
    print("\nthe last one's ledger:")
    print(model.ledger_)


if __name__ == "__main__":
    main()
