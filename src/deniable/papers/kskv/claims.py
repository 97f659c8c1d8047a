"""What KSKV says, checked: formulas exactly, statements about figures from the figures' own tables."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.mechanisms.keyvalue.laws import SHAPES, Signal, ratio_of
from deniable.mechanisms.keyvalue.protocols import choose_length
from deniable.mechanisms.registry import mechanism
from deniable.papers.kskv.study import enough, load_data
from deniable.papers.paper import Claims, Context, Verdict

__all__ = ["CLAIMS"]

CLAIMS = Claims()
claim = CLAIMS.add

_SURE = 4.0
"""From so many standard errors on a difference is no chance. With 3 the verdict on fig3-ue came out differently for two
seeds (z = 3.04, and less than 3), so it was not decided; all others are the same for both."""
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


@claim("thm41", "KS-UE is epsilon-LDP", "Thm. 4.1", "epsilon")
def _privacy(_: Context) -> Verdict:
    """Thm. 4.1 by enumeration, with one pair and with padding."""
    worst = -math.inf
    for epsilon in (0.1, 1.0, 4.0):
        cases: tuple[dict[str, Any], ...] = ({"k": 3}, {"k": 4, "length": 2})
        for own in cases:
            m = mechanism("ks-ue", epsilon=epsilon, **own)
            ratio = m.channel().proof().ratio
            assert ratio is not None
            worst = max(worst, math.log(ratio) - epsilon)
    note = "the printed proof conditions on an impossible report and leaves out two signs of one key; the theorem holds"
    return Verdict("reproduced" if worst <= 1e-12 else "refuted", {"largest excess over epsilon": worst}, note)


@claim("eq9", "Variance of KS-UE's frequencies", "Eq. 9", "8e/((e-1)^2 n) + (e-3)f/((e-1)n)")
def _eq9(_: Context) -> Verdict:
    off = 0.0
    for epsilon in _BUDGETS:
        e = math.exp(epsilon)
        for f in (0.0, 0.01, 0.3, 1.0):
            printed = 8 * e / (e - 1) ** 2 + (e - 3) * f / (e - 1)
            off = max(off, abs(printed / float(_signal("ks-ue", epsilon).frequency_variance(Fraction(f))) - 1))
    return Verdict("reproduced" if off < 1e-9 else "refuted", {"largest relative deviation": off})


@claim("eq11", "The variance of the mean is at most this", "Eq. 11", "8(e+2)n/((e-1)^2 n_k^2) + ...")
def _eq11(_: Context) -> Verdict:
    n, held, e = 400.0, 40.0, math.e
    bound = 8 * (e + 2) * n / ((e - 1) ** 2 * held**2) + 2 * (e + 2) / ((e - 1) * held)
    true = _mean_variance("ks-ue", 1.0, n, held, 0.6)
    note = "it is the variance for values in the middle; for others a rare key's is larger (n = 400, f = 0.1, v = 0.6)"
    return Verdict("refuted" if true > bound else "reproduced", {"printed bound": bound, "variance": true}, note)


@claim("frequency-lower", "Frequencies of KS-UE have a lower variance than those of PCKV-UE", "Sec. 4.4", "lower")
def _lower_frequency(_: Context) -> Verdict:
    ratios = {
        f"epsilon={x:g}": _signal("ks-ue", x).limits()[0] / _signal("pckv-ue", x).limits()[0] for x in (1.0, 2.0, 4.0)
    }
    return Verdict("reproduced" if max(ratios.values()) < 1 else "refuted", ratios)


@claim("mean-lower", "Means of KS-UE have a lower variance than those of PCKV-UE", "Sec. 4.4", "lower")
def _lower_mean(_: Context) -> Verdict:
    ratios = {
        f"epsilon={x:g} m={v:g}": _mean_variance("ks-ue", x, 1e6, 1e3, v) / _mean_variance("pckv-ue", x, 1e6, 1e3, v)
        for x in (1.0, 2.0, 4.0)
        for v in (0.0, 1.0)
    }
    note = "KS-UE spends more on keys, so its means are worse: (e+2)(e+3)/(e+1)^2 times at m = 0 for rare keys"
    return Verdict("refuted" if min(ratios.values()) > 1 else "reproduced", ratios, note)


@claim("alg2-mean", "KS-GRR's mean is divided by p + q", "Alg. 2, line 18", "p + q")
def _divisor(_: Context) -> Verdict:
    found = {}
    for epsilon in (1.0, 2.0, 4.0):
        signal = mechanism("pckv-grr", epsilon=epsilon, k=40, length=1).ideal()[0].signal  # type: ignore[attr-defined]
        found[f"shrunk to, epsilon={epsilon:g}"] = float(signal.gain / signal.held)
    note = "n+ - n- has mean n f m (p - q): the mean must be divided by p - q; as printed it is shrunk by (e-1)/(e+1)"
    return Verdict("corrected" if max(found.values()) < 1 else "reproduced", found, note)


@claim("a-range", "a is below 1/2", "Sec. 4.1", "0 < a < 1/2")
def _range_of_a(_: Context) -> Verdict:
    found = {f"a at epsilon={x:g}": float(SHAPES["ks-ue"](ratio_of(x))[2]) for x in (0.1, 0.5, 0.7, 2.0)}
    wrong = max(found.values()) >= 0.5
    return Verdict(
        "corrected" if wrong else "reproduced",
        found,
        "a = 2/(e+2) is below 1/2 only for epsilon > ln 2; it ranges over (0, 2/3)",
    )


@claim("length", "A longer l means more bias and less variance", "Sec. 4.3", "more bias, less variance")
def _length(_: Context) -> Verdict:
    """Bias and variance of a key that people with one to three pairs have."""
    s, r, a = (float(x) for x in SHAPES["ks-ue"](ratio_of(1.0)))
    sizes, found = (1, 2, 3), {}
    for length in (1, 2, 3):
        chances = np.array([1 / max(size, length) for size in sizes])
        pi = np.r_[a + (s + r - a) * chances, [a] * 3]
        found[f"mean l={length}"] = float(length * chances.sum() / 6)
        found[f"variance l={length}"] = float(length**2 * (pi * (1 - pi)).sum() / (6 * (s + r - a)) ** 2)
    wrong = found["mean l=1"] < found["mean l=3"] <= 0.5 and found["variance l=1"] < found["variance l=3"]
    note = "the reverse: a longer length has less bias (the truth is 0.5) and a variance that grows with its square"
    return Verdict("refuted" if wrong else "reproduced", found, note)


@claim("sizes", "The length is chosen from estimated sizes", "Sec. 4.3", "smallest l above 0.9")
def _sizes(context: Context) -> Verdict:
    """The rule for the length with 41 noisy shares as printed, and with capped, projected ones."""
    truth = np.repeat([0, 1, 2, 3], [9000, 1450, 80, 20])
    printed, capped = [], []
    wide, few = mechanism("olh", epsilon=2.0, k=41), mechanism("grr", epsilon=2.0, k=6)
    for rng in context.stream("sizes").spawn(20 if context.quick else 60):
        shares = np.maximum(wide.estimate(wide.tally(wide.privatize_items(truth, rng))).value[1:], 0)
        printed.append(int(np.flatnonzero(np.cumsum(shares) > 0.9 * shares.sum())[0]) + 1)
        capped.append(choose_length(few.estimate(few.tally(few.privatize_items(truth, rng))).value))
    found = {"median as printed": float(np.median(printed)), "median capped and projected": float(np.median(capped))}
    note = "the noise of 2t estimates swamps the sum (right would be 1; 10,550 people, epsilon 2, t = 20)"
    good = found["median as printed"] > 5 >= found["median capped and projected"]
    return Verdict("corrected" if good else "reproduced", found, note)


@claim("clothing", "The clothing data", "Sec. 5.1", {"users": 47959, "keys": 5850, "pairs": 82789})
def _clothing(context: Context) -> Verdict:
    data = context.once(load_data, "Clothing")
    if data.made_up:
        return Verdict("not tested", None, "it needs the file renttherunway.csv.gz in the data folder")
    found = {"users": len(data.pairs), "keys": data.k, "pairs": int(data.pairs.keys.size)}
    note = "the paper's users and records are those of ModCloth, its number of keys that of RentTheRunway, used here"
    return Verdict("corrected", found, note)


def _compare(context: Context, figure: str, one: str, two: str, quantity: str, *, lower: bool) -> dict[str, float]:
    """How often the first mechanism is better than the second over all rows of a figure, and by how much on average.

    Errors (`lower`) are compared by the logarithm of their ratio, NCR by the difference. All data and epsilon count
    alike (weights by precision would look at the largest epsilon alone, where all keys are found); `z` is the mean in
    standard errors, from the spread of the runs. Numbers of top keys share their runs, so they count as one.
    """
    cells: dict[tuple[Any, ...], dict[str, tuple[float, float]]] = {}
    for row in context.rows(figure):
        value, spread = row[quantity], row[f"{quantity}_stderr"]
        if value is not None and spread is not None and (not lower or enough(row)):
            cell = cells.setdefault((row["data"], row["epsilon"], row["top"]), {})
            cell[str(row["mechanism"])] = float(value), float(spread)
    groups: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for (data, epsilon, _), cell in cells.items():
        if one in cell and two in cell:
            (a, da), (b, db) = cell[one], cell[two]
            gain = (math.log(b / a), math.hypot(da / a, db / b)) if lower else (a - b, math.hypot(da, db))
            groups.setdefault((data, epsilon), []).append(gain)
    means = np.array([np.mean(group, axis=0) for group in groups.values()]).reshape(-1, 2)
    total, noise = float(means[:, 0].sum()), float(np.sqrt((means[:, 1] ** 2).sum()))
    every = [gain for group in groups.values() for gain, _ in group]
    mean = total / max(len(groups), 1)
    size = {"mean ratio": math.exp(-mean)} if lower else {"mean difference": mean}
    return {"settings": len(every), "better": sum(g > 0 for g in every), **size, "z": total / noise if noise else 0.0}


def _beats(kind: str, text: str, says: str, one: str, two: str, quantity: str = "ncr") -> None:
    """Add the claim that a mechanism is better than another one in a figure, on average over data and epsilon."""
    figure = kind.partition("-")[0]

    @claim(kind, text, f"Fig. {figure.removeprefix('fig')}", says, figure)
    def check(context: Context) -> Verdict:
        found = _compare(context, figure, one, two, quantity, lower=quantity != "ncr")
        note = "on average over data and epsilon; a setting is data, top and epsilon; all by one clipping rule"
        if abs(found["z"]) < _SURE:
            numbers = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
            return Verdict("not tested", None, f"the runs do not decide it {note}: {numbers}")
        return Verdict("reproduced" if found["z"] > 0 else "refuted", found, note)


_FINDS, _LOWER = "{} finds frequent keys better than {}", "Frequencies of {} have a lower error than those of {}"
_beats("fig3-ue", _FINDS.format("KS-UE", "PCKV-UE"), "consistently", "ks-ue", "pckv-ue")
_beats("fig3-grr", _FINDS.format("KS-GRR", "PCKV-GRR"), "notably", "ks-grr", "pckv-grr")
_beats("fig4-ue", _LOWER.format("KS-UE", "PCKV-UE"), "continuously", "ks-ue", "pckv-ue", "mse_frequency")
_beats("fig4-grr", _LOWER.format("KS-GRR", "PCKV-GRR"), "considerably", "ks-grr", "pckv-grr", "mse_frequency")


@claim("fig5-ue", "Errors of means of KS-UE and PCKV-UE are alike", "Fig. 5", "closely intersect", "fig5")
def _alike(context: Context) -> Verdict:
    found = _compare(context, "fig5", "ks-ue", "pckv-ue", "mse_mean", lower=True)
    close = 0.67 <= found["mean ratio"] <= 1.5
    note = "on the keys that were found, which are others for each mechanism"
    return Verdict("reproduced" if close else "refuted", found, note)


_SEVERAL = f"{_FINDS}, several pairs"
_beats("fig6-ue", _SEVERAL.format("KS-UE", "PCKV-UE"), "consistently", "ks-ue l=2", "pckv-ue l=2")
_beats("fig6-adap", _SEVERAL.format("KS-Adap", "PCKV-GRR"), "significantly", "ks-adap", "pckv-grr l=2")


@claim("best", "KS-UE and KS-GRR surpass other algorithms", "Sec. 5.2", "predominantly")
def _frontier(_: Context) -> Verdict:
    """How far KS-UE is above the least error that any mechanism can have."""
    found = {}
    for epsilon in (1.0, 2.0, 4.0):
        gap = mechanism("ks-ue", epsilon=epsilon, k=1206).properties()["gap"]
        found[f"KS-UE above the least F, epsilon={epsilon:g}"] = float(gap)
        best = mechanism("kv-ss2", epsilon=epsilon, k=1206).properties()["gap"]
        found[f"kv-ss2 above it, epsilon={epsilon:g}"] = max(0.0, float(best))
    note = (
        "at its own error of means KS-UE has a larger error of frequencies than needed; subset selection has the least"
    )
    beaten = min(v for k, v in found.items() if "KS-UE" in k) > 0.01
    return Verdict("refuted" if beaten else "reproduced", found, note)
