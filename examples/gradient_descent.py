"""Logistic regression from people who perturb their own gradients.

    python examples/gradient_descent.py

Everybody takes part once: clips the own gradient to a public bound, draws one coordinate, and releases it. Nobody,
the server included, sees a feature, a label or a gradient.
"""

from __future__ import annotations

import numpy as np

from deniable.learn import LocalSGDClassifier, Release
from deniable.randomness import simulation


def people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features in [-1, 1] and a yes or no that leans on them."""
    draw = simulation(seed).generator()
    rows = draw.uniform(-1, 1, (n, 5))
    lean = rows @ [3.0, -2.0, 1.0, 0.0, 0.0]
    return rows, (draw.random(n) < 1 / (1 + np.exp(-2 * lean))).astype(int)


def main() -> None:
    """Learn at several budgets, and show what bias the near kinds have."""
    train, test = people(50_000, 1), people(5000, 2)
    clear = LocalSGDClassifier(epsilon=None, seed=3).fit(*train)
    print(f"share of answers found without privacy: {clear.score(*test):.3f}")
    for epsilon in (0.5, 1.0, 4.0):
        for kind in ("pm", "duchi", "codebook", "brr"):
            model = LocalSGDClassifier(epsilon=epsilon, kind=kind, batch=1000, seed=3).fit(*train)
            print(f"epsilon {epsilon:<4g} {kind:9} {model.score(*test):.3f}")
    print("\nwhat a gradient of 0.8 C is on average, as released at epsilon 1 (in units of C):")
    for kind in ("pm", "duchi", "codebook", "brr"):
        print(f"{kind:9} {Release(kind, 1.0).mean_of(np.array([0.8]))[0]:.3f}")
    print(
        f"\nspent on each person: {float(model.ledger_.total):g}, in {len(model.ledger_)} batches of other people each"
    )


if __name__ == "__main__":
    main()
