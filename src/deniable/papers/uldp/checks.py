"""Checks of ULDP's claims about privacy and closed forms: enumerated channels and exact algebra decide them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.laws import epsilon_to, hashing, subset, unary
from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.mechanisms.utility import laws
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.estimate import noise_square
from deniable.papers.checks import off
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT
from deniable.papers.uldp.figures import made

__all__ = ["measures"]

measures = Measures()

_GRID = tuple(product((2, 3, 10, 25, 100, 230, 424), (0.1, 0.5, 1.0, 2.0, 3.0, 5.0), (0.0, 0.3, 0.56, 0.77, 0.95, 1.0)))


VALID = "valid"
"""Algorithm 1 with a z that is valid: as printed where that is private, else repaired."""


def small(*names: str, form: str) -> list[Utility]:
    """The registry's small cases with this form, or with the valid one."""
    forms = {n: form if form != VALID else "glutf" if MECHANISMS[n].printed is None else "paper" for n in names}
    made: list[Any] = [mechanism(n, **{**case, "form": forms[n]}) for n in names for case in MECHANISMS[n].small]
    return [m for m in made if m.s >= 2]


@measures("privacy")
def privacy(_: Context) -> Evidence:
    """Definition 3 for all forms: all outputs, all hash functions of small cases; arguments for large ones."""
    printed = small("uss", "uue", "urr", "urap", "ulh", "uwheel", form="paper")
    kept = small("ulh", "uwheel", form=VALID)
    kept += small("uss", "uue", "ulh", "uwheel", "upgr", "urr", "urap", "uhr", form="null")
    large = [made((name, "null"), (25, 0.95, 625), e) for name in ("uss", "uue", "ulh", "uhr") for e in (0.5, 1.0, 5.0)]
    broken = [m for m in printed if not audit(m).holds]
    return {
        "enumerated as printed": len(printed),
        "broken as printed": len(broken),
        "which": ", ".join(sorted({m.name for m in broken})) or "none",
        "enumerated with the corrected z or the null branch": len(kept),
        "by argument": len(large),
        "broken with the corrected z, or with the null branch": sum(not audit(m).holds for m in (*kept, *large)),
    }


@measures("thm1")
def theorem1(_: Context) -> Evidence:
    """The largest z from the enumerated likelihoods: 1 - (1/e) max over i, y of p_i(y)/((f/s) sum_t p_t(y)).

    That is Theorem 1; Eq. (13) in its proof has 1/s for f/s.
    """
    right = other = 0.0
    designs = small("uss", "uue", "ulh", form=VALID)
    for m in designs:
        assert m.base is not None
        channel = m.base.channel()
        peak = max(Fraction(max(row) * m.s, sum(row)) for row in channel.weights)
        share = float(laws.mapped_share_of(m.base.support, m.s))  # type: ignore[attr-defined]
        stated = 1 - (1 - m.law.z) / share
        right = max(right, abs(1 - float(peak) * math.exp(-m.epsilon) / share - stated))
        other = max(other, abs(1 - float(peak) * math.exp(-m.epsilon) - stated))
    return {
        "largest deviation of z": right,
        "largest deviation with 1/s, as in Eq. 13": other,
        "designs": len(designs),
    }


@measures("eq45")
def eq45(_: Context) -> Evidence:
    """What uLH as printed leaks, exactly, and whether the corrected z does not."""
    found: dict[str, float] = {}
    for s, epsilon, g in ((25, 0.5, 3), (25, 1.0, 4), (25, 2.0, 8), (25, 3.0, 17), (25, 5.0, 60), (230, 1.0, 4)):
        leak = audit(made(("ulh", "paper"), (s, 0.9, 2 * s), epsilon, g=g)).exact
        found[f"s={s} g={g} epsilon={epsilon:g}, exact epsilon"] = leak
    cases = small("ulh", form="paper")
    found["enumerated cases"] = len(cases)
    found["of them broken"] = sum(not audit(m).holds for m in cases)
    valid = small("ulh", form=VALID) + small("ulh", form="null")
    return found | {"broken with the corrected z or the null branch": sum(not audit(m).holds for m in valid)}


@measures("eq59")
def eq59(_: Context) -> Evidence:
    """The same for uWheel."""
    cases = small("uwheel", form="paper")
    found: dict[str, float] = {"enumerated cases": len(cases)}
    found["of them broken"] = sum(not audit(m).holds for m in cases)
    m = mechanism("uwheel", epsilon=math.log(12), k=5, sensitive=3, theta=0.5, arc=0.25, form="paper")
    found["e=12 s=3 l=1/4, exact ratio"] = math.exp(audit(m).exact)
    valid = small("uwheel", form=VALID) + small("uwheel", form="null")
    return found | {"broken with the corrected z or the null branch": sum(not audit(m).holds for m in valid)}


def enumerated_mse(m: Utility) -> float:
    """n MSE of the estimator from the list of all outputs, at falling frequencies."""
    channel, law = m.channel(), m.law_effective
    own, rest = m.items
    adds = np.zeros((len(channel.outputs), m.k))
    for o, (label, items) in enumerate(zip(channel.outputs, channel.supported or (), strict=True)):
        told = o in channel.disclosing
        hit = np.array([i in items and not (told and label.startswith("discloses")) for i in own])
        adds[o, own] = (hit + (law.credit if told else 0) - law.base.q) / law.base.gap
        adds[o, rest] = [(told and x in items) / law.z for x in rest]
    f = np.array([2 * (m.k - i) / (m.k * (m.k + 1)) for i in range(m.k)])
    chance = channel.matrix()
    mean = chance @ adds
    return float(f @ (chance @ adds**2 - mean**2).sum(axis=1))


def _share(m: Utility) -> float:
    f = np.array([2 * (m.k - i) / (m.k * (m.k + 1)) for i in range(m.k)])
    return float(f[m.items[1]].sum())


@measures("eq28")
def eq28(_: Context) -> Evidence:
    """Eq. 28 against enumerated channels of uSS, uUE, uRAP and valid uLH."""
    cases = small("uss", "uue", "urap", "ulh", form=VALID)

    def printed(m: Utility) -> float:
        b, t, z = m.law.base, 1 - _share(m), m.law.z
        return float(t * (1 - b.p - b.q) / b.gap + m.s * b.q * (1 - b.q) / b.gap**2 + (1 - t) * (1 - z) / z)

    worst = max(off(printed(m), enumerated_mse(m)) for m in cases)
    return {"largest relative deviation": worst, "enumerated": len(cases)}


# ---- parameters


@measures("eq37")
def eq37(_: Context) -> Evidence:
    """The rounded size of Eq. 37 against all sizes."""
    worst, wrong = 1.0, 0
    for s, epsilon, theta in _GRID:
        w, v = epsilon_to(epsilon)
        cost = [_ss(s, k, theta, w, v) for k in range(1, s)]
        real = min(s - 1, max(1, laws.mapped_size(s, theta, w, v)))
        near = min(cost[k - 1] for k in {math.floor(real), math.ceil(real)})
        worst, wrong = max(worst, near / min(cost)), wrong + (near > min(cost) * (1 + EXACT))
    return {"settings": len(_GRID), "another size is best": wrong, "largest MSE over its least": worst}


def _ss(s: int, k: int, theta: float, w: float, v: float) -> float:
    return float(laws.mapped_law(subset(w, v, s, k), s, laws.mapped_disclosure(k, s, w, v)).mse_sum(s, theta))


@measures("eq43")
def eq43(_: Context) -> Evidence:
    """Eq. 43 against a numeric minimum."""
    from scipy.optimize import minimize_scalar

    worst = 0.0
    for s, epsilon, theta in _GRID:
        w, v = epsilon_to(epsilon)

        def cost(p: float, s: int = s, theta: float = theta, w: float = w, v: float = v) -> float:
            return float(
                laws.mapped_law(unary(p, 1 - p, w, v), s, laws.mapped_disclosure(1, s, w, v)).mse_sum(s, theta)
            )

        found = minimize_scalar(cost, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-12})
        worst = max(worst, cost(laws.mapped_share(s, theta, w, v)) / float(found.fun) - 1)
    return {"settings": len(_GRID), "largest MSE over its least, minus 1": worst}


@measures("eq49")
def eq49(_: Context) -> Evidence:
    """What g of Eq. 49, rounded, loses against the best g for the same (printed) error."""

    def loss(s: int, epsilon: float, theta: float) -> float:
        w, v = epsilon_to(epsilon)

        def cost(g: int) -> float:
            law = hashing(w, v, g)
            return float(laws.mapped_law(law, s, laws.printed_disclosure(law, s, law.p * v)).mse_sum(s, theta))

        real = laws.printed_range(s, theta, w)
        return cost(max(2, round(real))) / cost(laws.walk(real, 2, 1 << 31, cost)) - 1

    found: dict[str, Any] = {
        f"s={s} epsilon={e:g} theta={t:g}": loss(s, e, t) for s, e, t in ((2, 5, 1.0), (25, 8, 1.0))
    }
    wide = [loss(s, e, t) for s, e, t in _GRID if s >= 25 and e <= math.log(s)]
    found["largest for s >= 25, epsilon <= ln s"] = max(wide)
    found["largest excess over the least error, all settings"] = max(loss(s, e, t) for s, e, t in _GRID)
    return found


# ---- mechanisms that are not pure


@measures("eq30")
def eq30(context: Context) -> Evidence:
    """One collection with noisy vectors, aggregated both ways: divided by the number of their reports, and by all n."""
    truth = np.array([0.2, 0.1, 0.05, 0.25, 0.25, 0.15])
    n = 200_000
    m = made(("utility", "glutf"), (3, 0.65, 6), math.log(3), base="she")
    tally = m.tally(m.privatize_items(np.repeat(np.arange(6), (n * truth).round().astype(int)), context.stream("eq30")))
    right = m.estimate(tally)
    law = m.law_effective
    shift = right.value[:3] + law.r * m.theta_of(tally)
    wrong = shift * n / float(tally.cells["n"][0]) - law.r * m.theta_of(tally)
    found: dict[str, float] = {}
    for i in range(3):
        found |= {f"item {i}, truth": float(truth[i]), f"item {i}, divided by |Y'|": float(wrong[i])}
        found |= {f"item {i}, divided by n": float(right.value[i]), f"item {i}, standard error": float(right.stderr[i])}
    off_n, off_y = (float(np.max(np.abs(v - truth[:3]) / right.stderr[:3])) for v in (right.value[:3], wrong))
    return found | {"largest error in standard errors, by n": off_n, "by |Y'|": off_y}


@measures("eq31")
def eq31(_: Context) -> Evidence:
    """The variance of a sensitive item for noisy vectors, by Eq. 31 and exactly, and the size of the difference."""
    m = made(("utility", "glutf"), (3, 0.65, 6), math.log(3), base="she")
    law, noise, theta = m.law, 8 / m.epsilon**2, m.theta
    b = law.r
    ua = (1 - theta) * noise + theta * ((1 - law.z) * noise + b - b * b)
    f = 3 / (math.exp(m.epsilon) + 2)
    printed = ua + b * b * theta * f / (1 - f)
    plain = ua + b * b * theta * f / (1 - f) + 2 * b * b * theta
    exact = (1 - theta) * noise + theta * noise_square(law, noise)
    found = {"printed": printed, "with the covariance": plain, "with pairs used (ours)": exact}
    found["ours, by adding up"] = ua + b * b * (1 / law.z + 1) * theta
    found["printed, relative deviation"] = off(printed, exact)
    found["with the covariance, relative deviation"] = off(plain, exact)
    return found | {"ours, relative deviation": off(found["ours, by adding up"], exact)}


@measures("uhr-mse")
def uhr(_: Context) -> Evidence:
    """The closed form of uHR's error against enumerated channels, and its limit for large epsilon."""

    def closed(m: Utility) -> float:
        e, theta = math.exp(m.epsilon), _share(m)
        return m.s * ((e + 1) / (e - 1)) ** 2 * (1 - theta * (e - 1) / (e + 1)) - (1 - theta) + 2 * theta / (e - 1)

    cases = small("uhr", form="null")
    worst = max(off(closed(m), enumerated_mse(m)) for m in cases)
    found = {"closed form, largest relative deviation": worst, "enumerated": len(cases)}
    for name, limit in (("Foursquare", 24 * 0.05), ("Census", 423 * 0.44), ("Drug", 2 * 0.22), ("Normal", 229 * 0.23)):
        found[f"{name}, n MSE at epsilon 3.5 over the limit (s-1)(1-theta)"] = (
            made(("uhr", "null"), name, 3.5).mse_sum() / limit
        )
    return found
