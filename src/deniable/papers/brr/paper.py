"""BRR: near answers [figures in `figures`, `release` and `applications`; claims with their checks there, too]."""

from __future__ import annotations

from deniable.papers.brr import applications, checks, figures, release, runtime, theorems, theory
from deniable.papers.paper import Claims, LeftOut, Paper

__all__ = ["PAPER"]

_FIGURES = (*figures.FIGURES, *release.FIGURES, *applications.FIGURES, *runtime.FIGURES)
_ORDER = ("1", "3", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10", "10b", "11", "11b", "12", "12b")
_CLAIMS = Claims(
    (*theory.CLAIMS, *theorems.CLAIMS, *checks.CLAIMS, *release.CLAIMS, *runtime.CLAIMS, *applications.CLAIMS)
)
_CLAIMS_ORDER = """
alg3-even thm1-m alg3-line1 alg3-line3 eq15 m1-floor step2 eq12-14 end-or-middle fig3 own-m min-m thm1-limit thm1-ldp
never-worse thm2-bounds thm2-gap thm3 exponential-times eq20 thm4 optimal more-points alg4 two-steps explosive fig5-6
exponential region fig7 fig8 fig8-largest fig8-falls fig8-best fig8-others lsrr-level fig12 fig12-growth fig12-seconds
sizes half-range laplace-range sgd-sign sgd-clip dnn-noise fig9 fig9-size fig9-best fig10 fig10-high fig10-safe fig11
"""

LEFT_OUT = (
    LeftOut(
        "DP-SGD involves the Laplace mechanism",
        "App. B.2",
        "about another paper, not a number: the cited DP-SGD adds Gaussian noise",
    ),
    LeftOut(
        "BRR converges more slowly but more stably than Laplace noise",
        "App. B.2",
        "stable is not defined; fig10 has the curves of the printed recipe, which is not private",
    ),
    LeftOut(
        "At small budgets the error of DPBoost is excessively high",
        "App. B.1",
        "excessively is not defined; fig9 has the errors over those without privacy",
    ),
    LeftOut(
        "BRR is more stable than Laplace noise across budgets in boosted trees",
        "App. B.1",
        "stability is not defined; fig9 has the errors with their spread",
    ),
)

PAPER = Paper(
    "brr",
    "BRR",
    "Bipartite Randomized Response Mechanism for Local Differential Privacy",
    tuple(sorted(_FIGURES, key=lambda figure: _ORDER.index(figure.id.removeprefix("fig")))),
    _CLAIMS.ordered(_CLAIMS_ORDER),
    LEFT_OUT,
)
