"""BRR: near answers [figures in `brr_figures`, `brr_release` and `brr_applications`, claims in `brr_claims`]."""

from __future__ import annotations

from deniable.papers.brr import applications as brr_applications
from deniable.papers.brr import figures as brr_figures
from deniable.papers.brr import release as brr_release
from deniable.papers.brr.claims import CLAIMS
from deniable.papers.paper import Paper

__all__ = ["PAPER"]

_FIGURES = (*brr_figures.FIGURES, *brr_release.FIGURES, *brr_applications.FIGURES)
_ORDER = ("1", "3", "5", "5b", "6", "6b", "7", "8", "8b", "9", "10", "10b", "11", "11b", "12")

PAPER = Paper(
    "brr",
    "BRR",
    "Bipartite Randomized Response Mechanism for Local Differential Privacy",
    tuple(sorted(_FIGURES, key=lambda figure: _ORDER.index(figure.id.removeprefix("fig")))),
    CLAIMS,
)
