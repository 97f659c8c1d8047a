"""ULDP: sensitive and harmless answers [figures in `figures`, claims in `checks` and `claims`]."""

from __future__ import annotations

from deniable.papers.paper import Paper
from deniable.papers.uldp.claims import CLAIMS
from deniable.papers.uldp.figures import FIGURES

__all__ = ["PAPER"]

PAPER = Paper(
    "uldp",
    "ULDP",
    "Addressing Sensitivity Distinction in Local Differential Privacy: A General Utility-Optimized Framework",
    FIGURES,
    CLAIMS,
)
