"""ULDP: sensitive and harmless answers [figures in `figures` and `simulated`; measurements of the claims in `checks`,
`formulas`, `claims`, `regimes` and `collected`]."""

from __future__ import annotations

from deniable.papers.paper import read_paper
from deniable.papers.uldp import checks, claims, collected, figures, formulas, regimes, simulated

__all__ = ["PAPER"]

_FIGURES = (*figures.FIGURES, *simulated.FIGURES)

PAPER = read_paper(
    "uldp",
    tuple(sorted(_FIGURES, key=lambda figure: figure.id)),
    *(part.measures for part in (checks, formulas, claims, regimes, collected)),
)
