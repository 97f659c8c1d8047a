"""What KSKV says, checked: formulas exactly, statements about figures from the figures' own tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.intervals import spread
from deniable.mechanisms.keyvalue.laws import SHAPES, Signal, ratio_of
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import choose_length, printed_budget, printed_length
from deniable.mechanisms.registry import mechanism
from deniable.papers.kskv.study import load_data
from deniable.papers.paper import Claims, Context
from deniable.papers.rules import (
    ALPHA,
    EXACT,
    Evidence,
    Missing,
    Rule,
    above,
    at_least,
    at_most,
    below,
    equal,
    spread_of,
)

__all__ = ["CLAIMS"]

CLAIMS = Claims()
claim = CLAIMS.add

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


@claim(
    "thm41",
    "KS-UE is epsilon-LDP",
    "Thm. 4.1",
    "epsilon",
    Rule(
        (at_most("largest excess over epsilon", 1e-12),),
        note="the printed proof conditions on an impossible report and leaves out two signs of one key",
    ),
)
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


@claim(
    "eq9",
    "Variance of KS-UE's frequencies",
    "Eq. 9",
    "8e/((e-1)^2 n) + (e-3)f/((e-1)n)",
    Rule((at_most("largest relative deviation", EXACT),)),
)
def _eq9(_: Context) -> Evidence:
    off = 0.0
    for epsilon in _BUDGETS:
        e = math.exp(epsilon)
        for f in (0.0, 0.01, 0.3, 1.0):
            printed = 8 * e / (e - 1) ** 2 + (e - 3) * f / (e - 1)
            off = max(off, abs(printed / float(_signal("ks-ue", epsilon).frequency_variance(Fraction(f))) - 1))
    return {"largest relative deviation": off}


@claim(
    "eq11",
    "The variance of the mean is at most this",
    "Eq. 11",
    "8(e+2)n/((e-1)^2 n_k^2) + ...",
    Rule(
        (equal("settings above the printed bound", 0),),
        why="it is the variance for values in the middle; for others a rare key's is larger",
    ),
)
def _eq11(_: Context) -> Evidence:
    """The bound against the variance of keys that 10 % or 80 % of 400 people have, by their value."""

    def bound(held: float, e: float, n: float = 400.0) -> float:
        return 8 * (e + 2) * n / ((e - 1) ** 2 * held**2) + 2 * (e + 2) / ((e - 1) * held)

    settings = [(x, held, v) for x in (0.5, 1.0, 2.0) for held in (40.0, 320.0) for v in (0.0, 0.6, 1.0)]
    over = sum(_mean_variance("ks-ue", x, 400.0, h, v) > bound(h, math.exp(x)) * (1 + EXACT) for x, h, v in settings)
    at = {"printed bound": bound(40.0, math.e), "variance": _mean_variance("ks-ue", 1.0, 400.0, 40.0, 0.6)}
    return {**at, "settings": len(settings), "settings above the printed bound": over}


@claim(
    "frequency-lower",
    "Frequencies of KS-UE have a lower variance than those of PCKV-UE",
    "Sec. 4.4",
    "lower",
    Rule((below("epsilon=*", 1),)),
)
def _lower_frequency(_: Context) -> Evidence:
    return {
        f"epsilon={x:g}": _signal("ks-ue", x).limits()[0] / _signal("pckv-ue", x).limits()[0] for x in (1.0, 2.0, 4.0)
    }


@claim(
    "mean-lower",
    "Means of KS-UE have a lower variance than those of PCKV-UE",
    "Sec. 4.4",
    "lower",
    Rule(
        (below("epsilon=*", 1),),
        why="KS-UE spends more on keys, so its means are worse: (e+2)(e+3)/(e+1)^2 times at m = 0 for rare keys",
    ),
)
def _lower_mean(_: Context) -> Evidence:
    return {
        f"epsilon={x:g} m={v:g}": _mean_variance("ks-ue", x, 1e6, 1e3, v) / _mean_variance("pckv-ue", x, 1e6, 1e3, v)
        for x in (1.0, 2.0, 4.0)
        for v in (0.0, 1.0)
    }


@claim(
    "alg2-mean",
    "KS-GRR's mean is divided by p + q",
    "Alg. 2, line 18",
    "p + q",
    Rule(
        (at_most("p + q: error in standard errors", 5),),
        (at_most("p - q: error in standard errors", 5),),
        "n+ - n- has mean n f m (p - q): the mean must be divided by p - q; as printed it is shrunk by (e-1)/(e+1)",
        alpha=1e-5,
    ),
)
def _divisor(context: Context) -> Evidence:
    """20,000 people with one key and the value 0.6: the mean of many, divided as printed and by p - q."""
    found: dict[str, float] = {}
    worst = {"+": 0.0, "-": 0.0}
    for epsilon in (1.0, 2.0, 4.0):
        m: Any = mechanism("pckv-grr", epsilon=epsilon, k=2, length=1)
        signal = m.ideal()[0].signal
        shrunk = float(signal.gain / signal.held)
        people = PairSets.of(
            (np.arange(20_001), np.zeros(20_000, np.int64), np.full(20_000, 0.6)), Domain.of(2), (-1, 1)
        )
        part = m.estimate(m.tally(m.privatize(people, rng=context.stream(f"divisor {epsilon:g}"))))["mean"]
        mean, spread = float(part.value[0]), float(part.stderr[0])
        found |= {f"shrunk to, epsilon={epsilon:g}": shrunk, f"mean by p - q, epsilon={epsilon:g}": mean}
        for sign, value, noise in (("+", mean * shrunk, spread * shrunk), ("-", mean, spread)):
            worst[sign] = max(worst[sign], abs(value - 0.6) / noise)
    return found | {f"p {sign} q: error in standard errors": value for sign, value in worst.items()}


@claim(
    "a-range",
    "a is below 1/2",
    "Sec. 4.1",
    "0 < a < 1/2",
    Rule(
        (below("a at epsilon=*", 0.5),),
        (below("a at epsilon=0.7", 0.5), below("a at epsilon=*", 2 / 3)),
        "a = 2/(e+2) is below 1/2 only for epsilon > ln 2; it ranges over (0, 2/3)",
    ),
)
def _range_of_a(_: Context) -> Evidence:
    return {f"a at epsilon={x:g}": float(SHAPES["ks-ue"](ratio_of(x))[2]) for x in (0.1, 0.5, 0.7, 2.0)}


@claim(
    "length",
    "A longer l means more bias and less variance",
    "Sec. 4.3",
    "more bias, less variance",
    Rule(
        (above("bias l=3", "bias l=1"), below("variance l=3", "variance l=1")),
        (below("bias l=3", "bias l=1"), above("variance l=3", "variance l=1")),
        "the reverse: a longer length has less bias (the truth is 0.5) and a variance that grows with its square",
    ),
)
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


@claim(
    "sizes",
    "The length is chosen from estimated sizes",
    "Sec. 4.3",
    "smallest l above 0.9",
    Rule(
        (below("as printed: mean length", 2, noisy=True),),
        (below("capped and projected: mean length", 2, noisy=True),),
        "the noise of 2t estimates swamps the sum (right would be 1; 10,550 people, epsilon 2, t = 20); with a cap and "
        "projected shares the length is right, or one more",
        note="as printed means with negative shares; without them the length is larger still",
        alpha=ALPHA,
    ),
)
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
    found: dict[str, float] = {"collections": 200}
    for name, seen in lengths.items():
        quantity = f"{name}: mean length"
        found |= {quantity: float(np.mean(seen)), spread_of(quantity): spread(np.array(seen, float)) or 0.0}
        found[f"{name}: one length in ten is above"] = float(np.percentile(seen, 90))
    return found


@claim(
    "budget",
    "Every group of users has the entirety of the privacy budget",
    "Sec. 4.2 and 4.3",
    "all of epsilon",
    Rule(
        (at_least("as printed: share of epsilon that is spent, *", 1 - EXACT),),
        (
            at_most("as printed: share of epsilon that is spent, *", 1 + 1e-12),
            at_least("amplified: share of epsilon that is spent, *", 1 - EXACT),
            at_most("amplified: share of epsilon that is spent, *", 1 + 1e-12),
        ),
        "private, but with several pairs the last step as printed leaves part of the budget unused: padding hides "
        "which pair is sent; randomised response that counts on it spends all",
    ),
)
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


CLOTHING = {"users": 47_959, "keys": 5_850, "pairs": 82_789}
"""As printed."""


@claim(
    "clothing",
    "The clothing data",
    "Sec. 5.1",
    CLOTHING,
    Rule(
        tuple(equal(name, value) for name, value in CLOTHING.items()),
        (equal("keys", CLOTHING["keys"]),),
        "the data with so many keys are RentTheRunway's, used here, and have other users and pairs; the printed ones "
        "are those with which ModCloth is published",
    ),
)
def _clothing(context: Context) -> Evidence | Missing:
    """Counted in the file."""
    data = context.once(load_data, "Clothing")
    if data.made_up:
        return Missing("it needs the file renttherunway.csv.gz in the data folder")
    keys = data.pairs.keys
    return {"users": len(data.pairs), "keys": int(np.unique(keys).size), "pairs": int(keys.size)}


@claim(
    "least-error",
    "The error of KS-UE is lower than that of other algorithms",
    "Sec. 5.2",
    "lower",
    Rule(
        (at_most("KS-UE above the least F, *", 0.01),),
        (at_most("kv-ss2 above it, *", 1e-6), at_most("kv-ss2 above KS-UE in M, *", 0.0)),
        "at its own error of means KS-UE has a larger error of frequencies than needed; subset selection has the least "
        "and no larger error of means",
    ),
)
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
