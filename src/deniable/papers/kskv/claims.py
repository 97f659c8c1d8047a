"""What KSKV says, checked: formulas exactly, statements about figures from the figures' own tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.mechanisms.keyvalue.laws import SHAPES, Signal, ratio_of
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import choose_length, printed_budget, printed_length
from deniable.mechanisms.registry import mechanism
from deniable.papers.evidence import Evidence, Missing, Sampled
from deniable.papers.kskv.study import SERIES, KeyValueData, load_data, run_forms
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()

_BUDGETS = (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)


def _signal(name: str, epsilon: float) -> Signal:
    return Signal.of(*SHAPES[name](ratio_of(epsilon)))


def _mean_variance(name: str, epsilon: float, n: float, held: float, v: float) -> float:
    """Variance of the mean by the delta method, `held` people of n with the key and value v each."""
    s, r, a = (float(x) for x in SHAPES[name](ratio_of(epsilon)))
    h, z = s + r, 1 - s - r
    ex, ey = (s - r) * held * v, (h - a) * held
    vx = n * a + held * (h - a) - (s - r) ** 2 * held * v * v
    vy = held * h * (1 - h) + (n - held) * a * (1 - a)
    scale = ((h - a) / (s - r)) ** 2
    return scale * (vx / ey**2 - 2 * ex * z * ex / ey**3 + ex**2 * vy / ey**4)


@measures("thm41")
def _privacy(_: Context) -> Evidence:
    """Thm. 4.1 by enumeration, with one pair and with padding."""
    worst = -math.inf
    for epsilon in (0.1, 1.0, 4.0):
        cases: tuple[dict[str, Any], ...] = ({"k": 3}, {"k": 4, "length": 2})
        for own in cases:
            m = mechanism("ks-ue", epsilon=epsilon, **own)
            ratio = m.channel().proof().ratio
            assert ratio is not None
            worst = max(worst, math.log(ratio) - epsilon)
    return {"largest excess over epsilon": worst}


_HELD, _PEOPLE, _VALUE, _OFTEN = {1.0: 2_000, 2.0: 900}, 10_000, 0.6, 300_000
"""Simulations of one key: people who have it by epsilon, all people, the value of the former, and how often."""


def _one_key(context: Context, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Frequencies and means of one key that KS-UE gives, often: sums of the signs that people report."""
    s, r, a = (float(x) for x in SHAPES["ks-ue"](ratio_of(epsilon)))
    up, down = (s * (1 + sign * _VALUE) / 2 + r * (1 - sign * _VALUE) / 2 for sign in (1, -1))
    draw, own = context.stream(f"one key {epsilon:g}").generator(), _HELD[epsilon]
    signs = draw.multinomial(own, [up, down, 1 - up - down], _OFTEN)[:, :2]
    signs = signs + draw.multinomial(_PEOPLE - own, [a / 2, a / 2, 1 - a], _OFTEN)[:, :2]
    held = (signs.sum(axis=1) - _PEOPLE * a) / (s + r - a)
    return held / _PEOPLE, (signs[:, 0] - signs[:, 1]) / (s - r) / held


@measures("eq8")
def _eq8(context: Context) -> Evidence:
    found: dict[str, float | Sampled] = {"runs": _OFTEN}
    for epsilon, held in _HELD.items():
        off = context.once(_one_key, epsilon)[0] / (held / _PEOPLE) - 1
        found[f"mean error over the frequency, epsilon={epsilon:g}"] = Sampled.over_runs(off)
    return found


@measures("eq10")
def _eq10(context: Context) -> Evidence:
    found: dict[str, float | Sampled] = {"runs": _OFTEN}
    for epsilon, held in _HELD.items():
        e = math.exp(epsilon)
        printed = 8 * e * _PEOPLE / ((e - 1) ** 2 * held**2) - 4 / ((e - 1) * held)
        bias = Sampled.over_runs(context.once(_one_key, epsilon)[1] / _VALUE - 1)
        found[f"printed bias, epsilon={epsilon:g}"] = printed
        found[f"bias over the printed one, epsilon={epsilon:g}"] = bias / printed
    return found


@measures("eq9")
def _eq9(_: Context) -> Evidence:
    off = 0.0
    for epsilon in _BUDGETS:
        e = math.exp(epsilon)
        for f in (0.0, 0.01, 0.3, 1.0):
            printed = 8 * e / (e - 1) ** 2 + (e - 3) * f / (e - 1)
            off = max(off, abs(printed / float(_signal("ks-ue", epsilon).frequency_variance(Fraction(f))) - 1))
    return {"largest relative deviation": off}


@measures("eq11")
def _eq11(_: Context) -> Evidence:
    """The bound against the variance of keys that 10 % or 80 % of 400 people have, by their value."""

    def bound(held: float, e: float) -> float:
        return 8 * (e + 2) * _CROWD / ((e - 1) ** 2 * held**2) + 2 * (e + 2) / ((e - 1) * held)

    at = {"printed bound": bound(40.0, math.e), "variance": _mean_variance("ks-ue", 1.0, _CROWD, 40.0, 0.6)}
    return at | _above("ks-ue", bound)


_CROWD = 400.0


def _above(name: str, bound: Callable[[float, float], float]) -> dict[str, float]:
    """In how many settings the variance of a mean is above a bound, of which are given people with the key and e."""
    settings = [(x, held, v) for x in (0.5, 1.0, 2.0) for held in (40.0, 320.0) for v in (0.0, 0.6, 1.0)]
    over = sum(_mean_variance(name, x, _CROWD, h, v) > bound(h, math.exp(x)) * (1 + EXACT) for x, h, v in settings)
    return {"settings": len(settings), "settings above the printed bound": over}


@measures("pckv-variance")
def _pckv(_: Context) -> Evidence:
    """Both against the laws of the reports."""

    def bound(held: float, e: float) -> float:
        first = 8 * (e + 1) ** 2 * _CROWD / ((e + 3) * (e - 1) ** 2 * held**2)
        return first + 2 * (e + 1) ** 2 / ((e + 3) * (e - 1) * held)

    off = 0.0
    for epsilon, f in product(_BUDGETS, (0.0, 0.01, 0.3, 1.0)):
        e = math.exp(epsilon)
        exact = float(_signal("pckv-ue", epsilon).frequency_variance(Fraction(f)))
        off = max(off, abs((8 * (e + 1) / (e - 1) ** 2 + f) / exact - 1))
    return {"frequencies, largest relative deviation": off} | _above("pckv-ue", bound)


@measures("frequency-lower")
def _lower_frequency(_: Context) -> Evidence:
    """For keys that nobody has, that some have and that all have."""
    found = {}
    for epsilon, f in product(_BUDGETS, (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1))):
        own, other = (_signal(name, epsilon).frequency_variance(f) for name in ("ks-ue", "pckv-ue"))
        found[f"epsilon={epsilon:g} f={float(f):g}"] = float(own / other)
    return found


@measures("mean-lower")
def _lower_mean(_: Context) -> Evidence:
    return {
        f"epsilon={x:g} m={v:g}": _mean_variance("ks-ue", x, 1e6, 1e3, v) / _mean_variance("pckv-ue", x, 1e6, 1e3, v)
        for x in (1.0, 2.0, 4.0)
        for v in (0.0, 1.0)
    }


def _one_for_all(context: Context, epsilon: float) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Frequencies and means of KS-GRR by form, 20 times with 20,000 people who all have one key with the value 0.6."""
    pairs = (np.arange(20_001), np.zeros(20_000, np.int64), np.full(20_000, 0.6))
    people = KeyValueData("one key", PairSets.of(pairs, Domain.of(2), (-1, 1)), 2, True)
    seen: dict[str, list[tuple[float, float]]] = {}
    for rng in context.stream(f"divisor {epsilon:g}").spawn(20):
        for series, _, f, mean in run_forms("ks-grr", people, epsilon, (1,), rng):
            seen.setdefault(series, []).append((float(f[0]), float(mean[0])))
    return {series: (np.array(each)[:, 0], np.array(each)[:, 1]) for series, each in seen.items()}


@measures("alg2-mean")
def _divisor(context: Context) -> Evidence:
    """The mean of KS-GRR as printed and repaired."""
    found: dict[str, float] = {}
    for epsilon in (1.0, 2.0, 4.0):
        seen = context.once(_one_for_all, epsilon)
        for form, name in (("paper", "as printed"), ("repaired", "repaired")):
            mean = Sampled.over_runs(seen[SERIES["ks-grr"][form]][1])
            found[f"{name}: mean, epsilon={epsilon:g}"] = mean.value
            worst = f"{name}: error in standard errors"
            found[worst] = max(found.get(worst, 0.0), mean.away(0.6))
        both = (found[f"{name}: mean, epsilon={epsilon:g}"] for name in ("as printed", "repaired"))
        found[f"shrunk to, epsilon={epsilon:g}"] = next(both) / next(both)
    return found


@measures("alg2-frequency")
def _frequency(context: Context) -> Evidence:
    """The frequency of a key that everybody has, by KS-GRR as printed."""
    found: dict[str, float] = {}
    for epsilon in (1.0, 2.0, 4.0):
        seen = Sampled.over_runs(context.once(_one_for_all, epsilon)[SERIES["ks-grr"]["paper"]][0])
        found[f"frequency, epsilon={epsilon:g}"] = seen.value
        found["error in standard errors"] = max(found.get("error in standard errors", 0.0), seen.away(1.0))
    return found


@measures("a-range")
def _range_of_a(_: Context) -> Evidence:
    return {f"a at epsilon={x:g}": float(SHAPES["ks-ue"](ratio_of(x))[2]) for x in (0.1, 0.5, 0.7, 2.0)}


@measures("length")
def _length(_: Context) -> Evidence:
    """Bias and variance of a key that people with one to three pairs have."""
    s, r, a = (float(x) for x in SHAPES["ks-ue"](ratio_of(1.0)))
    sizes, found = (1, 2, 3), {}
    for length in (1, 2, 3):
        chances = np.array([1 / max(size, length) for size in sizes])
        pi = np.r_[a + (s + r - a) * chances, [a] * 3]
        found[f"mean l={length}"] = float(length * chances.sum() / 6)
        found[f"variance l={length}"] = float(length**2 * (pi * (1 - pi)).sum() / (6 * (s + r - a)) ** 2)
        found[f"bias l={length}"] = abs(found[f"mean l={length}"] - 0.5)
    return found


@measures("sizes")
def _sizes(context: Context) -> Evidence:
    """The rule for the length with 41 noisy shares as printed, or without negative ones, and with capped ones."""
    truth = np.repeat([0, 1, 2, 3], [9000, 1450, 80, 20])
    lengths: dict[str, list[int]] = {"as printed": [], "negative shares as 0": [], "capped and projected": []}
    wide, few = mechanism("olh", epsilon=2.0, k=41), mechanism("grr", epsilon=2.0, k=6)
    for rng in context.stream("sizes").spawn(200):
        shares = wide.estimate(wide.tally(wide.privatize_items(truth, rng))).value
        lengths["as printed"].append(printed_length(shares))
        lengths["negative shares as 0"].append(printed_length(np.maximum(shares, 0)))
        own = few.estimate(few.tally(few.privatize_items(truth, rng))).value
        lengths["capped and projected"].append(choose_length(own))
    found: dict[str, float | Sampled] = {"collections": 200}
    for name, seen in lengths.items():
        found[f"{name}: mean length"] = Sampled.over_runs(np.array(seen, float))
        found[f"{name}: one length in ten is above"] = float(np.percentile(seen, 90))
    return found


@measures("budget")
def _spent(_: Context) -> Evidence:
    """The exact epsilon of KS-GRR's and KS-Adap's last step, by enumeration of all sets of pairs with 4 candidates."""
    found: dict[str, float] = {}
    for epsilon in (1.0, 4.0):
        for length in (1, 2):
            forms = {"as printed": printed_budget(epsilon, length), "amplified": epsilon}
            for form, given in forms.items():
                ratio = mechanism("pckv-grr", epsilon=given, k=4, length=length).channel().proof().ratio
                assert ratio is not None
                told = f"{form}: share of epsilon that is spent, epsilon={epsilon:g} l={length}"
                found[told] = math.log(ratio) / epsilon
    return found


@measures("clothing")
def _clothing(context: Context) -> Evidence | Missing:
    """Counted in the file."""
    data = context.once(load_data, "Clothing")
    if data.made_up:
        return Missing("it needs the file renttherunway.csv.gz in the data folder")
    keys = data.pairs.keys
    return {"users": len(data.pairs), "keys": int(np.unique(keys).size), "pairs": int(keys.size)}


@measures("ecommerce")
def _ecommerce(context: Context) -> Evidence | Missing:
    """Counted in the file."""
    data = context.once(load_data, "E-Commerce")
    if data.made_up:
        return Missing("it needs the file ecommerce.csv.gz in the data folder")
    return {
        "users": len(data.pairs),
        "keys": int(np.unique(data.pairs.keys).size),
        "most pairs of a user": int(np.diff(data.pairs.offsets).max()),
    }


@measures("least-error")
def _frontier(_: Context) -> Evidence:
    """How far KS-UE is above the least error that any mechanism can have at its error of means, by closed forms."""
    found = {}
    for epsilon in (1.0, 2.0, 4.0):
        own, best = (mechanism(name, epsilon=epsilon, k=1206).properties() for name in ("ks-ue", "kv-ss2"))
        at = f"epsilon={epsilon:g}"
        found[f"KS-UE above the least F, {at}"] = float(own["gap"])
        found[f"kv-ss2 above it, {at}"] = max(0.0, float(best["gap"]))
        found[f"kv-ss2 above KS-UE in M, {at}"] = float(best["variance_mean"] / own["variance_mean"] - 1)
    return found
