"""AdaptiveLDP: the error of frequency oracles, what a guess from one report gains, and parameters that trade the two.

Printed formulas are in `equations`, figures in `figures` and `simulation`, measurements in `claims` (protocols known
before), `tuned` (adaptive ones) and `priors` (questions of our own); what is claimed is in `claims.toml`.
"""

from __future__ import annotations

from deniable.papers.adaptive import claims, equations, priors, selectors, simulation, tradeoff, tuned
from deniable.papers.adaptive.figures import FIGURES
from deniable.papers.paper import read_paper

__all__ = ["PAPER"]

_PARTS = (claims, equations, simulation, tuned, tradeoff, selectors, priors)

PAPER = read_paper("adaptive", FIGURES, *(part.measures for part in _PARTS))
