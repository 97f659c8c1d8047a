"""What KSKV reads from its figures: every statement at every budget and on every data set that it is made of.

Two mechanisms are compared by the logarithm of the ratio of their errors, or by the difference of their NCR, so that a
gain above 0 is in favour of the first. Numbers of top keys share their runs: their mean counts, with the mean of their
standard errors. "Consistently" means everywhere: better on average, and nowhere worse, beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.papers.kskv.study import enough
from deniable.papers.paper import Claim, Claims, Context
from deniable.papers.rules import ALPHA, Evidence, Missing, Rule, above, at_least, at_most, below, spread_of

__all__ = ["CLAIMS"]

_CLOSE = math.log(1.5)
_NOTE = "gains of single settings are means over the numbers of top keys; means by one clipping rule for all"
EVERYWHERE = Rule(
    (above("mean gain", 0, noisy=True), at_least("gain, *", 0, noisy=True)),
    why="there are settings in which it is the other way round",
    note=_NOTE,
    alpha=ALPHA,
)
ALIKE = Rule(
    (
        above("mean gain", -_CLOSE, noisy=True),
        below("mean gain", _CLOSE, noisy=True),
        at_least("gain, *", -_CLOSE, noisy=True),
        at_most("gain, *", _CLOSE, noisy=True),
    ),
    note="alike: within a factor of 1.5. On the keys that were found, which are others for each mechanism",
    alpha=ALPHA,
)
MOSTLY = Rule(
    (above("share of settings with a gain", 0.5, noisy=True),),
    note="a sign test; errors and NCR of a setting come from the same runs and count as one",
    alpha=ALPHA,
)


@dataclass(frozen=True)
class Comparison:
    """One mechanism against others in a figure, where the statement speaks of: some budgets, some data."""

    figure: str
    one: str
    others: tuple[str, ...]
    quantity: str = "ncr"
    budgets: Callable[[float], bool] = lambda epsilon: True
    data: str = ""

    def __call__(self, context: Context) -> Evidence | Missing:
        """Gains by setting and on average, with standard errors."""
        gains, runs = self.gains(context)
        if not gains:
            return Missing("the budgets or data that it speaks of are not in a quick run; leave out --quick")
        found: dict[str, float] = {}
        for name, (gain, spread) in gains.items():
            found |= {f"gain, {name}": gain, spread_of(f"gain, {name}"): spread}
        values = np.array(list(gains.values()))
        found["mean gain"] = float(values[:, 0].mean())
        found[spread_of("mean gain")] = float(np.sqrt((values[:, 1] ** 2).sum()) / len(values))
        return found | {"settings": len(gains), "better": int((values[:, 0] > 0).sum()), "runs": runs}

    def gains(self, context: Context) -> tuple[dict[str, tuple[float, float]], int]:
        """Gain and standard error by setting, and the fewest runs."""
        lower = self.quantity != "ncr"
        cells: dict[tuple[Any, ...], dict[str, tuple[float, float]]] = {}
        runs = 10**9
        for row in context.rows(self.figure):
            value, spread, epsilon = row[self.quantity], row[f"{self.quantity}_stderr"], float(row["epsilon"] or 0)
            fits = self.budgets(epsilon) and str(row["data"]).startswith(self.data)
            if fits and value is not None and spread is not None and (not lower or enough(row)):
                cell = cells.setdefault((row["data"], epsilon, row["top"]), {})
                cell[str(row["mechanism"])] = float(value), float(spread)
                runs = min(runs, int(row["runs"] or 0))
        groups: dict[str, list[tuple[float, float]]] = {}
        for (data, epsilon, _), cell in cells.items():
            for other in self.others:
                if self.one in cell and other in cell:
                    name = f"{data}, epsilon={epsilon:g}" + (f", over {other}" if len(self.others) > 1 else "")
                    groups.setdefault(name, []).append(_gain(cell[self.one], cell[other], lower=lower))
        return {name: (float(m[0]), float(m[1])) for name, g in groups.items() if len(m := np.mean(g, axis=0))}, runs


def _gain(one: tuple[float, float], two: tuple[float, float], *, lower: bool) -> tuple[float, float]:
    """By how much the first is better, and the standard error of that."""
    (a, da), (b, db) = one, two
    if lower:
        return math.log(b / a), math.hypot(da / a, db / b)
    return a - b, math.hypot(da, db)


def _small(epsilon: float) -> bool:
    return epsilon <= 2


def _large(epsilon: float) -> bool:
    return epsilon >= 4


UE, GRR, UE2, GRR2 = "pckv-ue", "pckv-grr", "pckv-ue l=2", "pckv-grr l=2"
_FREQUENCY, _MEAN = "mse_frequency", "mse_mean"
_FINDS, _LOWER, _MEANS = (
    "{} finds frequent keys better than {}",
    "Frequencies of {} have a lower error than those of {}",
    "Means of {} have a lower error than those of {}",
)
_SEVERAL = ", several pairs"
_ALL_FIVE, _ALL_EIGHT = (UE, GRR, "ks-ue"), (UE2, GRR2, "ks-ue l=2")
_MULTIPLE = "E-Commerce"

CLAIMS = Claims(
    Claim(id, text, f"Fig. {id[3]}", says, rule, Comparison(id.partition("-")[0], *what), id.partition("-")[0])
    for id, text, says, rule, what in (
        ("fig3-ue", _FINDS.format("KS-UE", "PCKV-UE"), "consistently", EVERYWHERE, ("ks-ue", (UE,))),
        ("fig3-grr", _FINDS.format("KS-GRR", "PCKV-GRR"), "notably", EVERYWHERE, ("ks-grr", (GRR,))),
        (
            "fig3-small",
            "At smaller epsilon KS-GRR finds frequent keys best of all",
            "the best performance",
            EVERYWHERE,
            ("ks-grr", _ALL_FIVE, "ncr", _small),
        ),
        ("fig4-ue", _LOWER.format("KS-UE", "PCKV-UE"), "continuously", EVERYWHERE, ("ks-ue", (UE,), _FREQUENCY)),
        ("fig4-grr", _LOWER.format("KS-GRR", "PCKV-GRR"), "considerably", EVERYWHERE, ("ks-grr", (GRR,), _FREQUENCY)),
        (
            "fig5-ue",
            "Errors of means of KS-UE and PCKV-UE are alike",
            "closely intersect",
            ALIKE,
            ("ks-ue", (UE,), _MEAN),
        ),
        (
            "fig5-grr",
            _MEANS.format("KS-GRR", "PCKV-GRR") + ", for epsilon > 3",
            "lower for epsilon > 3",
            EVERYWHERE,
            ("ks-grr", (GRR,), _MEAN, _large),
        ),
        (
            "fig5-large",
            _MEANS.format("KS-GRR", "PCKV-UE and KS-UE") + ", for epsilon >= 6",
            "surpasses both for epsilon >= 6",
            EVERYWHERE,
            ("ks-grr", (UE, "ks-ue"), _MEAN, lambda epsilon: epsilon >= 6),
        ),
        ("fig6-ue", _FINDS.format("KS-UE", "PCKV-UE") + _SEVERAL, "consistently", EVERYWHERE, ("ks-ue l=2", (UE2,))),
        (
            "fig6-adap",
            _FINDS.format("KS-Adap", "PCKV-GRR") + _SEVERAL,
            "significantly",
            EVERYWHERE,
            ("ks-adap", (GRR2,)),
        ),
        (
            "fig6-best",
            "On E-Commerce KS-Adap finds frequent keys best of all at every epsilon, several pairs",
            "best across all epsilon",
            EVERYWHERE,
            ("ks-adap", _ALL_EIGHT, "ncr", lambda epsilon: True, _MULTIPLE),
        ),
        (
            "fig7-ue",
            _LOWER.format("KS-UE", "PCKV-UE") + _SEVERAL,
            "consistently",
            EVERYWHERE,
            ("ks-ue l=2", (UE2,), _FREQUENCY),
        ),
        (
            "fig7-adap",
            _LOWER.format("KS-Adap", "PCKV-GRR") + _SEVERAL,
            "considerably",
            EVERYWHERE,
            ("ks-adap", (GRR2,), _FREQUENCY),
        ),
        (
            "fig7-best",
            "On E-Commerce frequencies of KS-Adap have the lowest error of all for large epsilon, several pairs",
            "best for large privacy budgets",
            EVERYWHERE,
            ("ks-adap", _ALL_EIGHT, _FREQUENCY, _large, _MULTIPLE),
        ),
        (
            "fig8-ue",
            "Errors of means of KS-UE and PCKV-UE are alike" + _SEVERAL,
            "closely intertwine",
            ALIKE,
            ("ks-ue l=2", (UE2,), _MEAN),
        ),
        (
            "fig8-small",
            "At small epsilon means of KS-Adap have the lowest error of all, several pairs",
            "generally optimal for small epsilon",
            EVERYWHERE,
            ("ks-adap", _ALL_EIGHT, _MEAN, _small),
        ),
        (
            "fig8-best",
            "On E-Commerce means of KS-Adap have the lowest error of all for large epsilon, several pairs",
            "best for large epsilon",
            EVERYWHERE,
            ("ks-adap", _ALL_EIGHT, _MEAN, _large, _MULTIPLE),
        ),
    )
)


@CLAIMS.add("best", "KS-UE and KS-GRR surpass other algorithms in most situations", "Sec. 5.2", "predominantly", MOSTLY)
def _mostly(context: Context) -> Evidence:
    """In what share of all settings of Figures 3 to 8 the new mechanism comes out better."""
    pairs = {"ks-ue": UE, "ks-grr": GRR}, {"ks-ue l=2": UE2, "ks-adap": GRR2}
    quantities = ("ncr", _FREQUENCY, _MEAN)
    gains = [
        gain
        for several, chosen in enumerate(pairs)
        for i, quantity in enumerate(quantities)
        for one, two in chosen.items()
        for gain, _ in Comparison(f"fig{3 * several + 3 + i}", one, (two,), quantity).gains(context)[0].values()
    ]
    better, apart = sum(gain > 0 for gain in gains), len(gains) / len(quantities)
    share = "share of settings with a gain"
    found = {"settings": len(gains), "better": better, share: better / len(gains)}
    return found | {spread_of(share): 0.5 / math.sqrt(apart)}
