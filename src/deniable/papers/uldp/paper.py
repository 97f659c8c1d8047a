"""ULDP: sensitive and harmless answers [figures in `figures` and `simulated`; claims in `checks`, `claims`, "
"`regimes`, `collected` and, of our own, `worst`]."""

from __future__ import annotations

from deniable.papers.paper import Claims, LeftOut, Paper
from deniable.papers.uldp import claims, collected, figures, regimes, simulated, worst

__all__ = ["PAPER"]

_FIGURES = (*figures.FIGURES, *simulated.FIGURES)

LEFT_OUT = (
    LeftOut(
        "Any LDP mechanism can be converted, with order-optimality and unbiased estimation preserved",
        "Sec. 3 and 4",
        "about all mechanisms; eq28, eq30, eq31 and table1-order check it on those of the paper",
    ),
    LeftOut(
        "Aggregation of uLH takes many hash evaluations, so that others suit where computation is dear",
        "Sec. 5.4",
        "a matter of the program; no number is given",
    ),
    LeftOut(
        "uHR is not recommended from a share of sensitive items of 40 % on",
        "Sec. 6.2",
        "advice that follows from share-uhr; no number is given for what is too much",
    ),
    LeftOut(
        "Numbers of people, items and sensitive items of Foursquare and Census, and their theta of 0.95 and 0.56",
        "Sec. 6.1 and 6.3",
        "their records are not at hand; the populations that are made up have these numbers by construction",
    ),
)

PAPER = Paper(
    "uldp",
    "ULDP",
    "Addressing Sensitivity Distinction in Local Differential Privacy: A General Utility-Optimized Framework",
    tuple(sorted(_FIGURES, key=lambda figure: figure.id)),
    Claims((*claims.CLAIMS, *regimes.CLAIMS, *collected.CLAIMS, *worst.CLAIMS)),
    LEFT_OUT,
)
