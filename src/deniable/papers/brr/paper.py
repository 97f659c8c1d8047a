"""BRR: near answers [figures in `figures`, `release` and `applications`; measurements of the claims there, too]."""

from __future__ import annotations

from deniable.papers.brr import applications, checks, figures, release, runtime, theorems, theory
from deniable.papers.paper import read_paper

__all__ = ["PAPER"]

_FIGURES = (*figures.FIGURES, *release.FIGURES, *applications.FIGURES, *runtime.FIGURES)
_ORDER = ("1", "3", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10", "10b", "11", "11b", "12", "12b")
_PARTS = (theory, theorems, checks, release, runtime, applications)

PAPER = read_paper(
    "brr",
    tuple(sorted(_FIGURES, key=lambda figure: _ORDER.index(figure.id.removeprefix("fig")))),
    *(part.measures for part in _PARTS),
)
