"""The formulas of AdaptiveLDP as they are printed, for n = 1 and even where they are wrong, and checks in its settings.

Nothing outside the reproduction uses them. ASR is the success of the best guess.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np

from deniable.mechanisms.frequency.noise import asr_laplace
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.papers.checks import Equation, design, off
from deniable.papers.paper import Claim, Claims, Context
from deniable.papers.rules import Evidence, Rule, at_most

__all__ = ["BUDGETS", "CLAIMS", "DOMAINS", "LOW", "SETTINGS", "SMALL", "K", "eq8", "eq8_joined", "eq15"]

SMALL = (25, 50, 75, 100)
DOMAINS = (*SMALL, 250, 500, 750, 1000, 2500, 5000, 7500, 10000)
LOW = tuple(i / 2 for i in range(4, 21))
BUDGETS = (*(i / 10 for i in range(5, 20)), *LOW)
"""Budgets of medium to low privacy, and all of them; with the domain sizes above they are those of Sec. VI-A."""

SETTINGS = tuple(product(DOMAINS, BUDGETS))

K = 100
"""Domain of the figures that have only one."""


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


def eq11(m: Any) -> float:
    """MSE of unary encodings."""
    q = m.support.q
    return float(((e(m) - 1) * q + 1) ** 2 / ((e(m) - 1) ** 2 * (1 - q) * q))


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


def _grid(*designs: tuple[str, dict[str, Any]]) -> Callable[[], Iterable[SupportMechanism]]:
    return lambda: (design(name, k, epsilon, **own) for name, own in designs for k, epsilon in SETTINGS)


_GRR = _grid(("grr", {}))
_SS = _grid(("ss", {}), ("ss", {"size": 1}), ("ss", {"size": 7}))
_UE = _grid(("sue", {}), ("oue", {}), ("ue", {"p": 0.818}))
_LH = _grid(("blh", {}), ("olh", {}), ("lh", {"g": 13}))
_THE = _grid(("the", {}), ("the", {"threshold": 0.5}), ("the", {"threshold": 1.0}))
_AT = {"k": 100, "epsilon": 4.0}

_EQ8_WRONG = (
    "the first numerator has 2we where we is right, and as two fractions the MSE is negative; correct is "
    "A((k-1)D - wA)/(nw(k-w)^2(e-1)^2) with A = k-w+(w-1)e and D = we+k-w"
)
_EQ15_WRONG = (
    "an approximation for g much smaller than k: too high where buckets run empty, too low, even below 1/k, where "
    "g > k; exact for a uniformly random function is (g/k)(p(1-z) + qz) with z = (1-1/g)^k"
)

_EQ8_SHOWN = {"printed": eq8, "as one fraction": eq8_joined, "correct": lambda m: m.mse_approx()}
_EQ8_CASES = tuple(("ss", _AT | {"size": w}, _EQ8_SHOWN) for w in (2, 7))
_EQ15_AT = (*(_AT | {"g": g} for g in (13, 56, 100)), {"k": 2, "epsilon": 1.0, "g": 4})
_EQ15_CASES = tuple(("lh", case, {"printed": eq15, "exact": lambda m: m.asr}) for case in _EQ15_AT)
_EQ20_CASE = ("the", _AT, {"theta": lambda m: m.theta, "epsilon that is spent": lambda m: m.epsilon_exact})

EQ6 = Equation("mse_approx", lambda m: (e(m) + m.k - 2) / (e(m) - 1) ** 2, _GRR)
EQ7 = Equation("asr", lambda m: e(m) / (e(m) + m.k - 1), _GRR)
EQ8 = Equation("mse_approx", eq8, _SS, _EQ8_WRONG, _EQ8_CASES)
EQ9 = Equation("asr", lambda m: e(m) / (m.size * e(m) + m.k - m.size), _SS)
EQ11 = Equation("mse_approx", eq11, _UE)
EQ12 = Equation("asr", eq12, _UE)
EQ14 = Equation("mse_approx", lambda m: (e(m) - 1 + m.g) ** 2 / ((e(m) - 1) ** 2 * (m.g - 1)), _LH)
EQ15 = Equation("asr", eq15, _LH, _EQ15_WRONG, _EQ15_CASES)
EQ20 = Equation("mse_approx", eq20, _THE, examples=(_EQ20_CASE,))
EQ21 = Equation("asr", eq21, _THE)

_EQ8 = "(k-1)(k+2we-w)/(nw(-k+w+(k-1)e-(w-1)e)^2) + (k-w+(w-1)e)(-w(k-w)-w(w-1)e)/(nw(-k+w+(k-1)e-(w-1)e)^2)"
_EQ12 = "(1-p)(1-q)^(k-1)/k + sum over m=1..k of (p/m) C(k-1,m-1) q^(m-1) (1-q)^(k-m)"
_EQ20 = "(2s-1)/(n(1+e^(epsilon(theta-1/2))-2s)^2), s = e^(epsilon theta/2)"

CLAIMS = Claims(
    (
        Claim("eq6", "MSE of GRR", "Eq. 6", "(e+k-2)/(n(e-1)^2)", EQ6.rule, EQ6),
        Claim("eq7", "ASR of GRR", "Eq. 7", "e/(e+k-1)", EQ7.rule, EQ7),
        Claim("eq8", "MSE of SS", "Eq. 8 and 24", _EQ8, EQ8.rule, EQ8),
        Claim("eq9", "ASR of SS", "Eq. 9", "e/(we+k-w)", EQ9.rule, EQ9),
        Claim("eq11", "MSE of unary encodings", "Eq. 11", "((e-1)q+1)^2/(n(e-1)^2(1-q)q)", EQ11.rule, EQ11),
        Claim("eq12", "ASR of unary encodings", "Eq. 12", _EQ12, EQ12.rule, EQ12),
        Claim("eq14", "MSE of local hashing", "Eq. 14", "(e-1+g)^2/(n(e-1)^2(g-1))", EQ14.rule, EQ14),
        Claim("eq15", "ASR of local hashing", "Eq. 15 and 26", "e/((e+g-1) max(k/g, 1))", EQ15.rule, EQ15, "fig5"),
        Claim("eq20", "MSE of THE", "Eq. 18 to 20", _EQ20, EQ20.rule, EQ20),
        Claim("eq21", "ASR of THE", "Eq. 21 and 32", "(1-p)(1-q)^(k-1)/k + p(1-(1-q)^k)/(kq)", EQ21.rule, EQ21),
    )
)
claim = CLAIMS.add


_GRID = "for the mean of the reports; deviations up to 1e-6 are those of the grid on which noise is sampled"


@claim(
    "eq16", "MSE of SHE", "Eq. 16", "8/(n epsilon^2)", Rule((at_most("largest relative deviation", 1e-6),), note=_GRID)
)
def eq16_holds(_: Context) -> Evidence:
    """The variance of the noise that is sampled, on a grid, against the printed one."""
    budgets = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
    ratios = [mechanism("she", k=25, epsilon=x).effective()["mse"] * x**2 / 8 for x in budgets]
    return {"largest relative deviation": max(off(ratio, 1) for ratio in ratios), "settings": len(ratios)}


_INTEGRAL = "a one-dimensional integral: the paper's simulation of it is not needed"


@claim(
    "eq17",
    "ASR of SHE",
    "Eq. 17 and 31",
    "Pr[y_x > all other y_i]",
    Rule((at_most("largest relative deviation", 1e-7),), note=_INTEGRAL),
)
def eq17_holds(_: Context) -> Evidence:
    """Eq. 31 by adaptive quadrature against the closed form used here, whose terms are all positive."""
    at = [(k, epsilon) for k in (2, 25, 100, 10000) for epsilon in (0.5, 2.0, 4.0, 10.0)]
    worst = max(off(eq31(*each), asr_laplace(*each)) for each in at)
    shown = {f"k=100 epsilon={epsilon:g}": asr_laplace(100, epsilon) for epsilon in (4, 8, 10)}
    return {"largest relative deviation": worst, "settings": len(at), **shown}
