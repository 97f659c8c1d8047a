"""Vectors: fourteen numbers per person on one budget, divided evenly or spent on one of them.

    python examples/vectors.py

Dividing a budget evenly over many coordinates is the worst that one can do with it; the constant middle of the range,
which costs no privacy at all, is better than bipartite response at a fourteenth of the budget.
"""

from __future__ import annotations

import numpy as np

from deniable.learn import VectorRelease
from deniable.randomness import simulation

WIDTH, PEOPLE, EPSILON = 14, 20_000, 3.5


def main() -> None:
    """Release the same people in several ways and print the mean error."""
    rows = simulation(1).generator().random((PEOPLE, WIDTH))
    print(f"{PEOPLE} people, {WIDTH} numbers each in [0, 1], epsilon {EPSILON:g} for all of a person's numbers")
    print(f"{'the middle for everybody':40} mean error {np.abs(rows - 0.5).mean():.4f}")
    for kind, coordinates in (("brr", "all"), ("codebook", "all"), ("brr", "best"), ("codebook", "best")):
        model = VectorRelease(epsilon=EPSILON, kind=kind, coordinates=coordinates, seed=2)
        error = np.abs(model.fit_transform(rows) - rows).mean()
        print(f"{f'{kind} on {model.count_} of {WIDTH} coordinates':40} mean error {error:.4f}")
    weighted = VectorRelease(epsilon=EPSILON, weights=[5] + [0] * (WIDTH - 2) + [2], seed=2)
    weighted.fit(rows)
    print("budgets from public weights, exactly:", ", ".join(str(b) for b in weighted.budgets_ if b))
    print(f"their sum: {weighted.ledger_.total} = {float(weighted.ledger_.total):g}")


if __name__ == "__main__":
    main()
