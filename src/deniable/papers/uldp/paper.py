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
        "The advantage becomes more pronounced the further s/(e+1) is from 1 and p from 1/2",
        "Sec. 6.2",
        "more pronounced is not defined; Figures 3 and 4 show the errors by s and epsilon",
    ),
    LeftOut(
        "How precisely theta is known has minimal impact",
        "Sec. 6.3",
        "minimal is not defined; collaborative measures what not knowing it costs",
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
