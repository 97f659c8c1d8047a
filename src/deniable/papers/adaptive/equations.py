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
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures

__all__ = ["BUDGETS", "DOMAINS", "LOW", "SETTINGS", "SMALL", "K", "eq8", "eq8_joined", "eq15", "measures"]

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

_EQ8_SHOWN = {"printed": eq8, "as one fraction": eq8_joined, "correct": lambda m: m.mse_approx()}
_EQ8_CASES = tuple(("ss", _AT | {"size": w}, _EQ8_SHOWN) for w in (2, 7))
_EQ15_AT = (*(_AT | {"g": g} for g in (13, 56, 100)), {"k": 2, "epsilon": 1.0, "g": 4})
_EQ15_CASES = tuple(("lh", case, {"printed": eq15, "exact": lambda m: m.asr}) for case in _EQ15_AT)
_EQ20_CASE = ("the", _AT, {"theta": lambda m: m.theta, "epsilon that is spent": lambda m: m.epsilon_exact})

measures = Measures(
    {
        "eq6": Equation("mse_approx", lambda m: (e(m) + m.k - 2) / (e(m) - 1) ** 2, _GRR),
        "eq7": Equation("asr", lambda m: e(m) / (e(m) + m.k - 1), _GRR),
        "eq8": Equation("mse_approx", eq8, _SS, _EQ8_CASES),
        "eq9": Equation("asr", lambda m: e(m) / (m.size * e(m) + m.k - m.size), _SS),
        "eq11": Equation("mse_approx", eq11, _UE),
        "eq12": Equation("asr", eq12, _UE),
        "eq14": Equation("mse_approx", lambda m: (e(m) - 1 + m.g) ** 2 / ((e(m) - 1) ** 2 * (m.g - 1)), _LH),
        "eq15": Equation("asr", eq15, _LH, _EQ15_CASES),
        "eq20": Equation("mse_approx", eq20, _THE, (_EQ20_CASE,)),
        "eq21": Equation("asr", eq21, _THE),
    }
)


@measures("eq16")
def eq16_holds(_: Context) -> Evidence:
    """The variance of the noise that is sampled, on a grid, against the printed one."""
    budgets = (0.5, 1.0, 2.0, 4.0, 8.0, 10.0)
    ratios = [mechanism("she", k=25, epsilon=x).effective()["mse"] * x**2 / 8 for x in budgets]
    return {"largest relative deviation": max(off(ratio, 1) for ratio in ratios), "settings": len(ratios)}


@measures("eq17")
def eq17_holds(_: Context) -> Evidence:
    """Eq. 31 by adaptive quadrature against the closed form used here, whose terms are all positive."""
    at = [(k, epsilon) for k in (2, 25, 100, 10000) for epsilon in (0.5, 2.0, 4.0, 10.0)]
    worst = max(off(eq31(*each), asr_laplace(*each)) for each in at)
    shown = {f"k=100 epsilon={epsilon:g}": asr_laplace(100, epsilon) for epsilon in (4, 8, 10)}
    return {"largest relative deviation": worst, "settings": len(at), **shown}
