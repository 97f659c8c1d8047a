"""AdaptiveLDP: the error of frequency oracles, what a guess from one report gains, and parameters that trade the two.

So far this is what the paper says of the protocols that were known before it. Formulas stand here as they are printed,
for n = 1 and even where they are wrong; nothing outside this module uses them. ASR is the success of the best guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.laplace import asr_laplace
from deniable.datasets import load
from deniable.mechanisms.base import SupportMechanism
from deniable.mechanisms.local_hashing import LocalHashing
from deniable.mechanisms.registry import mechanism
from deniable.papers import adaptive_claims as claims
from deniable.papers.adaptive_claims import LOW, PROTOCOLS, SETTINGS, SMALL
from deniable.papers.checks import Agreement, Equation, design, off
from deniable.papers.montecarlo import Trials, collect_often
from deniable.papers.paper import Claim, Context, Figure, Paper, Rows, Verdict
from deniable.present.charts import line_chart

if TYPE_CHECKING:
    import altair

__all__ = ["PAPER", "eq8", "eq8_joined", "eq12", "eq15", "eq20", "eq21", "eq31"]

# ---- the paper's formulas, as printed


def e(m: Any) -> float:
    """e^epsilon."""
    return math.exp(m.epsilon)


def eq8(m: Any) -> float:
    """MSE of subset selection: the sum of two fractions."""
    first, second, third, below = _eq8(m)
    return (first + second * third) / below


def eq8_joined(m: Any) -> float:
    """The same as one fraction, its numerator a product."""
    first, second, third, below = _eq8(m)
    return second * (first + third) / below


def _eq8(m: Any) -> tuple[float, float, float, float]:
    k, w = m.k, m.size
    below = w * (-k + w + (k - 1) * e(m) - (w - 1) * e(m)) ** 2
    terms = (k - 1) * (k + 2 * w * e(m) - w), k - w + (w - 1) * e(m), -w * (k - w) - w * (w - 1) * e(m)
    return (*terms, below)


def eq12(m: Any) -> float:
    """ASR of unary encodings: a sum over the number of ones."""
    from scipy.stats import binom

    p, q, ones = m.support.p, m.support.q, np.arange(1, m.k + 1)
    return float((1 - p) * (1 - q) ** (m.k - 1) / m.k + p * (binom.pmf(ones - 1, m.k - 1, q) / ones).sum())


def eq15(m: Any) -> float:
    """ASR of local hashing, as if every bucket held k/g items but at least one."""
    return float(e(m) / ((e(m) + m.g - 1) * max(m.k / m.g, 1)))


def eq20(m: Any) -> float:
    """MSE of thresholded histograms."""
    s = math.exp(m.epsilon * m.theta / 2)
    return (2 * s - 1) / (1 + math.exp(m.epsilon * (m.theta - 1 / 2)) - 2 * s) ** 2


def eq21(m: Any) -> float:
    """ASR of thresholded histograms."""
    p, q = m.support.p, m.support.q
    return float((1 - p) * (1 - q) ** (m.k - 1) / m.k + p / (m.k * q) * (1 - (1 - q) ** m.k))


def eq31(k: int, epsilon: float) -> float:
    """ASR of summed histograms: an integral over the largest of the other coordinates."""
    from scipy.integrate import quad

    b = 2 / epsilon

    def law(z: float) -> float:
        return math.exp(z / b) / 2 if z <= 0 else 1 - math.exp(-z / b) / 2

    def integrand(m: float) -> float:
        density = math.exp(-abs(m) / b) / (2 * b)
        return (1 - law(m - 1)) * (k - 1) * law(m) ** (k - 2) * density

    top = b * math.log(k)
    value, _ = quad(integrand, -40 * b, top + 40 * b, points=(0, 1, top), limit=400, epsabs=0, epsrel=1e-10)
    return float(value)


def _printed_asr(m: SupportMechanism) -> float:
    """What the paper plots; for all but local hashing it is the exact value."""
    return eq15(m) if isinstance(m, LocalHashing) else m.asr


def _grid(*designs: tuple[str, dict[str, Any]]) -> Callable[[], Iterable[SupportMechanism]]:
    return lambda: (design(name, k, epsilon, **own) for name, own in designs for k, epsilon in SETTINGS)


_GRR = _grid(("grr", {}))
_SS = _grid(("ss", {}), ("ss", {"size": 1}), ("ss", {"size": 7}))
_UE = _grid(("sue", {}), ("oue", {}), ("ue", {"p": 0.818}))
_LH = _grid(("blh", {}), ("olh", {}), ("lh", {"g": 13}))
_THE = _grid(("the", {}), ("the", {"threshold": 0.5}), ("the", {"threshold": 1.0}))
_AT = {"k": 100, "epsilon": 4.0}

EQ8_WRONG = (
    "the first numerator has 2we where we is right, and as two fractions the MSE is negative; correct is "
    "A((k-1)D - wA)/(nw(k-w)^2(e-1)^2) with A = k-w+(w-1)e and D = we+k-w"
)
EQ15_WRONG = (
    "an approximation for g much smaller than k: too high where buckets run empty, too low, even below 1/k, where "
    "g > k; exact for a uniformly random function is (g/k)(p(1-z) + qz) with z = (1-1/g)^k"
)

EQ6 = Equation("mse_approx", lambda m: (e(m) + m.k - 2) / (e(m) - 1) ** 2, _GRR)
EQ7 = Equation("asr", lambda m: e(m) / (e(m) + m.k - 1), _GRR)
EQ8 = Equation(
    "mse_approx",
    eq8,
    _SS,
    EQ8_WRONG,
    tuple(
        ("ss", _AT | {"size": w}, {"printed": eq8, "as one fraction": eq8_joined, "correct": lambda m: m.mse_approx()})
        for w in (2, 7)
    ),
)
EQ9 = Equation("asr", lambda m: e(m) / (m.size * e(m) + m.k - m.size), _SS)
EQ11 = Equation(
    "mse_approx",
    lambda m: ((e(m) - 1) * m.support.q + 1) ** 2 / ((e(m) - 1) ** 2 * (1 - m.support.q) * m.support.q),
    _UE,
)
EQ12 = Equation("asr", eq12, _UE)
EQ14 = Equation("mse_approx", lambda m: (e(m) - 1 + m.g) ** 2 / ((e(m) - 1) ** 2 * (m.g - 1)), _LH)
EQ15 = Equation(
    "asr",
    eq15,
    _LH,
    EQ15_WRONG,
    tuple(
        ("lh", case, {"printed": eq15, "exact": lambda m: m.asr})
        for case in (*(_AT | {"g": g} for g in (13, 56, 100)), {"k": 2, "epsilon": 1.0, "g": 4})
    ),
)


EQ20 = Equation(
    "mse_approx",
    eq20,
    _THE,
    examples=(("the", _AT, {"theta": lambda m: m.theta, "epsilon that is spent": lambda m: m.epsilon_exact}),),
)
EQ21 = Equation("asr", eq21, _THE)


def _eq16(context: Context) -> Verdict:
    """The variance of the noise that is sampled, on a grid, against the printed one."""
    del context
    budgets = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
    ratios = [mechanism("she", k=25, epsilon=x).effective()["mse"] * x**2 / 8 for x in budgets]
    found = {"largest relative deviation": max(off(ratio, 1) for ratio in ratios), "settings": len(ratios)}
    note = "for the mean of the reports; deviations up to 1e-6 are those of the grid on which noise is sampled"
    return Verdict("reproduced" if found["largest relative deviation"] <= 1e-6 else "refuted", found, note)


def _eq17(context: Context) -> Verdict:
    """Eq. 31 by adaptive quadrature against the closed form used here, whose terms are all positive."""
    del context
    at = [(k, epsilon) for k in (2, 25, 100, 10000) for epsilon in (0.5, 2.0, 4.0, 10.0)]
    worst = max(off(eq31(*each), asr_laplace(*each)) for each in at)
    found = {"largest relative deviation": worst, "settings": len(at)}
    found |= {f"k=100 epsilon={epsilon:g}": asr_laplace(100, epsilon) for epsilon in (4, 8, 10)}
    note = "a one-dimensional integral: the paper's simulation of it is not needed"
    return Verdict("reproduced" if worst <= 1e-7 else "refuted", found, note)


# ---- Figure 5: best guess against error


def _fig5(context: Context) -> Rows:
    """ASR and MSE as the paper computes them, and exactly."""
    del context
    rows: list[dict[str, str | int | float | None]] = []
    for name, k, epsilon in product(PROTOCOLS, SMALL, LOW):
        m = design(name, k, epsilon)
        for metrics, mse, asr in (("printed", m.mse_approx(), _printed_asr(m)), ("exact", m.mse(), m.asr)):
            rows.append({"protocol": name, "k": k, "epsilon": epsilon, "metrics": metrics, "mse": mse, "asr": asr})
    return rows


def _draw_fig5(rows: Rows) -> altair.TopLevelMixin:
    """The largest and the smallest domain; the table has the two between them, too."""
    shown = [
        {**row, "protocol": str(row["protocol"]).upper(), "series": f"k = {row['k']}, {row['metrics']}"}
        for k in (SMALL[-1], SMALL[0])
        for row in rows
        if row["k"] == k
    ]
    return line_chart(
        shown,
        x="mse",
        y="asr",
        series="series",
        facet="protocol",
        log_x=True,
        title="What one report gives away, against the error of the estimate",
        subtitle="ε from 2 (right end of a line) to 10 (left end). Printed: MSE by Eq. 4, and the ASR of BLH and OLH "
        "by Eq. 15. After AdaptiveLDP Fig. 5.",
        x_title="MSE for n = 1",
        y_title="ASR",
    )


def _inverse(context: Context) -> Verdict:
    """Along each curve of the figure, whether the error falls while the ASR rises."""
    curves: dict[tuple[Any, ...], list[tuple[Any, Any]]] = {}
    for row in context.rows("fig5"):
        curves.setdefault((row["metrics"], row["protocol"], row["k"]), []).append((row["mse"], row["asr"]))
    steps = [(curve, a, b) for curve, points in curves.items() for a, b in pairwise(points)]
    odd = [curve for curve, a, b in steps if not (b[0] < a[0] and b[1] > a[1])]
    found: dict[str, int] = {"curves": len(curves), "steps": len(steps)}
    found |= {f"steps against it, {which}": sum(c[0] == which for c in odd) for which in ("exact", "printed")}
    who = ", ".join(dict.fromkeys(f"{name}" for _, name, _ in odd))
    note = f"not so by the printed metrics for {who}: Eq. 15 wavers about 1/2 where g >= k" if odd else ""
    return Verdict("refuted" if found["steps against it, exact"] else "reproduced", found, note)


# ---- Figure 8: simulation


def _trials(context: Context) -> list[Trials]:
    """Ages of the Adult data, collected with each protocol 20 times at one budget, or 100 times at three."""
    people, runs = load("adult-age"), 20 if context.quick else 100
    trials = []
    for epsilon, name in product((4.0,) if context.quick else (2.0, 4.0, 8.0), PROTOCOLS):
        stream = context.stream(f"{name} {epsilon:g}")
        trials.append(collect_often(design(name, people.k, epsilon), people, runs, stream, context.progress))
    return trials


EQ3_SEEN = Agreement("mse", _trials)
EQ4_SEEN = Agreement("mse", _trials, lambda t: t.mechanism.mse_approx(t.population.n))
ASR_SEEN = Agreement("asr", _trials, lambda t: _printed_asr(t.mechanism))


# ---- the tables

FIGURES = (
    Figure(
        "fig5", "ASR against MSE of the known protocols, k up to 100, epsilon from 2 to 10", "Fig. 5", _fig5, _draw_fig5
    ),
)

CLAIMS = (
    Claim(
        "eq1",
        "GRR, SS, SUE, OUE, BLH and OLH are epsilon-LDP",
        "Eq. 1, Sec. IV",
        "Pr[y|x] <= e Pr[y|x']",
        claims.privacy,
    ),
    Claim(
        "eq3",
        "The estimator is unbiased with the variance of Eq. 3 (averaged over the items, simulated)",
        "Eq. 2 and 3",
        "Var = q(1-q)/(n(p-q)^2) + f(1-p-q)/(n(p-q))",
        EQ3_SEEN,
    ),
    Claim(
        "eq4",
        "The second term of the variance can be ignored, so that Eq. 4 is the MSE",
        "Eq. 4",
        "MSE = q(1-q)/(n(p-q)^2)",
        claims.dropped_term,
        "fig5",
    ),
    Claim("eq6", "MSE of GRR", "Eq. 6", "(e+k-2)/(n(e-1)^2)", EQ6),
    Claim("eq7", "ASR of GRR", "Eq. 7", "e/(e+k-1)", EQ7),
    Claim(
        "eq8",
        "MSE of SS",
        "Eq. 8 and 24",
        "(k-1)(k+2we-w)/(nw(-k+w+(k-1)e-(w-1)e)^2) + (k-w+(w-1)e)(-w(k-w)-w(w-1)e)/(nw(-k+w+(k-1)e-(w-1)e)^2)",
        EQ8,
    ),
    Claim("eq9", "ASR of SS", "Eq. 9", "e/(we+k-w)", EQ9),
    Claim("eq11", "MSE of unary encodings", "Eq. 11", "((e-1)q+1)^2/(n(e-1)^2(1-q)q)", EQ11),
    Claim(
        "eq12",
        "ASR of unary encodings",
        "Eq. 12",
        "(1-p)(1-q)^(k-1)/k + sum over m=1..k of (p/m) C(k-1,m-1) q^(m-1) (1-q)^(k-m)",
        EQ12,
    ),
    Claim("eq14", "MSE of local hashing", "Eq. 14", "(e-1+g)^2/(n(e-1)^2(g-1))", EQ14),
    Claim("eq15", "ASR of local hashing", "Eq. 15 and 26", "e/((e+g-1) max(k/g, 1))", EQ15, "fig5"),
    Claim("ss-size", "This subset size minimises the MSE of Eq. 8", "Sec. IV-B", "max(1, [k/(e+1)])", claims.best_size),
    Claim("oue-p", "p = 1/2 minimises the MSE of Eq. 11", "Sec. IV-C", 0.5, claims.best_p),
    Claim("olh-g", "This g minimises the MSE of Eq. 14", "Sec. IV-D", "[e+1]", claims.best_g),
    Claim(
        "weight-one",
        "With all weight on the MSE the adaptive SS is SS",
        "Sec. V-C",
        "w_MSE = 1 recovers the original protocols",
        claims.weight_one,
    ),
    Claim(
        "fig7-known",
        "Parameters of SS and OLH at k=100, epsilon=4",
        "Fig. 7, Sec. VI-F",
        claims.FIG7,
        claims.fixed_parameters,
    ),
    Claim("asr-rises", "ASR increases with epsilon, for all protocols", "Fig. 2, Sec. VI-B", "increases", claims.rises),
    Claim(
        "grr-ss-highest",
        "GRR and SS have the highest ASR of the known protocols, for all budgets and domains",
        "Fig. 2, Sec. VI-B",
        "highest across all",
        claims.highest,
    ),
    Claim(
        "blh-lowest",
        "BLH has an exceptionally low ASR for all budgets and domains",
        "Fig. 2, Sec. VI-B",
        "low",
        claims.lowest,
    ),
    Claim("oue-olh-half", "The largest ASR of OUE and OLH is about one half", "Fig. 2, Sec. VI-B", 0.5, claims.limit),
    Claim(
        "mse-free-of-k",
        "The MSE of SUE, OUE, BLH and OLH does not depend on k",
        "Fig. 3, Sec. VI-C",
        "independent of the domain size",
        claims.free_of_k,
    ),
    Claim(
        "inverse",
        "For all protocols a lower MSE goes with a higher ASR",
        "Fig. 5, Sec. VI-D",
        "inverse",
        _inverse,
        "fig5",
    ),
    Claim("fig8-mse", "Simulated MSE closely agrees with Eq. 4", "Fig. 8, Sec. VI-G", "closely align", EQ4_SEEN),
    Claim(
        "fig8-asr", "Simulated ASR closely agrees with Eq. 7, 9, 12, 15", "Fig. 8, Sec. VI-G", "closely align", ASR_SEEN
    ),
    Claim("eq16", "MSE of SHE", "Eq. 16", "8/(n epsilon^2)", _eq16, needs=("she",)),
    Claim("she-sum", "SHE estimates by the sum of the reports", "Sec. IV-E", "sum", claims.she_sum, needs=("she",)),
    Claim("eq17", "ASR of SHE", "Eq. 17 and 31", "Pr[y_x > all other y_i]", _eq17, needs=("she",)),
    Claim(
        "eq20",
        "MSE of THE",
        "Eq. 18 to 20",
        "(2s-1)/(n(1+e^(epsilon(theta-1/2))-2s)^2), s = e^(epsilon theta/2)",
        EQ20,
        needs=("the",),
    ),
    Claim("eq21", "ASR of THE", "Eq. 21 and 32", "(1-p)(1-q)^(k-1)/k + p(1-(1-q)^k)/(kq)", EQ21, needs=("the",)),
    Claim(
        "the-after",
        "Thresholding after the report was sent protects as Eq. 21 says",
        "Sec. V-D",
        "post-processing",
        claims.the_after,
        needs=("she", "the"),
    ),
    Claim(
        "fig7-adaptive",
        "Parameters chosen at k=100, epsilon=4, equal weights",
        "Fig. 7, Sec. VI-F",
        {"ASS": 7, "AUE": 0.818, "ALH": 13, "ATHE": 0.783},
        needs=("ass", "aue", "alh", "athe"),
    ),
    Claim(
        "asr-adaptive",
        "The adaptive protocols have lower ASR for all budgets, by up to 5 orders of magnitude",
        "Fig. 2, Sec. VI-B",
        "at most 5 orders",
        needs=("ass", "aue", "alh", "athe"),
    ),
    Claim(
        "mse-adaptive",
        "The adaptive protocols' MSE is higher by at most 2 orders of magnitude",
        "Fig. 3 and 4, Sec. VI-C",
        "at most 2 orders",
        needs=("ass", "aue", "alh", "athe"),
    ),
    Claim("ass-cap", "The ASR of adaptive SS stays below 0.25", "Fig. 2, Sec. VI-B", 0.25, needs=("ass",)),
    Claim(
        "aue-order", "The MSE of adaptive UE stays within 10 times that of OUE", "Fig. 3, Sec. VI-C", 10, needs=("aue",)
    ),
    Claim(
        "selectors",
        "Most selection rules choose similar parameters",
        "Fig. 9, App. B",
        "similar",
        needs=("ass", "aue", "alh", "athe"),
    ),
    Claim(
        "fig15",
        "The number of users does not alter the trade-off",
        "Fig. 15, App. D",
        "unaltered",
        needs=("ass", "aue", "alh", "athe"),
    ),
)

PAPER = Paper(
    "adaptive",
    "AdaptiveLDP",
    "Revisiting Locally Differentially Private Protocols: Towards Better Trade-offs in Privacy, Utility, and Attack "
    "Resistance",
    FIGURES,
    CLAIMS,
)
