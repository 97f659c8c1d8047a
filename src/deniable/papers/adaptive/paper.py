"""AdaptiveLDP: the error of frequency oracles, what a guess from one report gains, and parameters that trade the two.

Printed formulas are in `equations`, figures in `figures` and `simulation`, claims with their checks in `claims`
(protocols known before), `tuned` (adaptive ones) and `priors` (questions of our own).
"""

from __future__ import annotations

from deniable.papers.adaptive import claims, equations, priors, selectors, simulation, tuned
from deniable.papers.adaptive.figures import FIGURES
from deniable.papers.paper import Claims, LeftOut, Paper

__all__ = ["PAPER"]

_ORDER = """
eq1 eq3 eq4 eq6 eq7 eq8 eq9 eq11 eq12 eq14 eq15 ss-size oue-p olh-g weight-one fig7-known asr-rises grr-ss-highest
blh-lowest oue-olh-half mse-free-of-k inverse fig8-mse fig8-asr eq16 she-sum eq17 eq20 eq21 the-after adaptive-eq1
athe-budget fig7-adaptive aue-grid g-bound weights asr-lower asr-orders ass-cap aue-asr mse-orders aue-order aue-sue
sandwich frontier selectors elbow hypervolume fig15-n fig15-mse fig15-asr prior-uniform prior-tuned
constants
"""

LEFT_OUT = (
    LeftOut(
        "It is the first work to optimise ASR and MSE jointly",
        "Sec. VII",
        "a statement about the literature, not a number",
    ),
)

PAPER = Paper(
    "adaptive",
    "AdaptiveLDP",
    "Revisiting Locally Differentially Private Protocols: Towards Better Trade-offs in Privacy, Utility, and Attack "
    "Resistance",
    FIGURES,
    Claims(
        (*claims.CLAIMS, *equations.CLAIMS, *simulation.CLAIMS, *tuned.CLAIMS, *selectors.CLAIMS, *priors.CLAIMS)
    ).ordered(_ORDER),
    LEFT_OUT,
)
