"""AdaptiveLDP: the error of frequency oracles, what a guess from one report gains, and parameters that trade the two.

Printed formulas are in `equations`, figures in `figures` and `simulation`, claims with their checks in `claims`
(protocols known before), `tuned` (adaptive ones) and `priors` (questions of our own).
"""

from __future__ import annotations

from deniable.papers.adaptive import claims, equations, priors, selectors, simulation, tradeoff, tuned
from deniable.papers.adaptive.figures import FIGURES
from deniable.papers.paper import Claims, LeftOut, Paper

__all__ = ["PAPER"]

_ORDER = """
eq1 eq3 eq4 eq6 eq7 eq8 eq9 eq11 eq12 eq14 eq15 ss-size oue-p olh-g weight-one fig7-known asr-rises asr-domain ss-one
grr-ss-highest blh-lowest oue-olh-half mse-free-of-k inverse fig8-mse fig8-asr eq16 she-sum eq17 eq20 eq21 the-after
adaptive-eq1 athe-budget fig7-adaptive aue-grid g-bound weights asr-lower asr-orders ass-cap aue-asr alh-asr
mse-orders aue-order aue-gap aue-sue sandwich none-dominates frontier closer selectors elbow hypervolume fig15-n
fig15-mse fig15-asr prior-uniform prior-tuned constants
"""

_PARTS = (claims, equations, simulation, tuned, tradeoff, selectors, priors)
_CLAIMS = Claims(claim for part in _PARTS for claim in part.CLAIMS)

LEFT_OUT = (
    LeftOut(
        "For small domains the ASR rises sharply, for large ones gradually; SUE, SHE and THE rise more gradually",
        "Sec. VI-B",
        "sharply and gradually are not defined; fig2 shows all curves",
    ),
    LeftOut(
        "GRR and SS cluster at low MSE and high ASR; OUE and OLH are in between; BLH is a poor trade-off",
        "Sec. VI-D",
        "regions of a picture without bounds; fig5 and fig10 to fig14 show them, none-dominates compares all pairs",
    ),
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
        (
            *claims.CLAIMS,
            *equations.CLAIMS,
            *simulation.CLAIMS,
            *tuned.CLAIMS,
            *tradeoff.CLAIMS,
            *selectors.CLAIMS,
            *priors.CLAIMS,
        )
    ).ordered(_ORDER),
    LEFT_OUT,
)
