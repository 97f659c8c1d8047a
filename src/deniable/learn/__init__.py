"""Learning from perturbed data, in scikit-learn's manner: vectors, boosted trees, gradient descent, small networks.

>>> from deniable.learn import BoostedTrees
>>> model = BoostedTrees(epsilon=2.0, trees=3, seed=1).fit([[0.1], [0.9]] * 200, [-0.5, 0.5] * 200)
>>> model.ledger_.total
Fraction(2, 1)
"""

from deniable.learn.boosting import BoostedTrees
from deniable.learn.ledger import Ledger
from deniable.learn.network import LocalNetwork
from deniable.learn.release import Release
from deniable.learn.sgd import LocalSGDClassifier, LocalSGDRegressor
from deniable.learn.vectors import VectorRelease

__all__ = [
    "BoostedTrees",
    "Ledger",
    "LocalNetwork",
    "LocalSGDClassifier",
    "LocalSGDRegressor",
    "Release",
    "VectorRelease",
]
