"""What KSKV reads from its figures: every statement at every budget and on every data set that it is made of.

Two mechanisms are compared by the logarithm of the ratio of their errors, or by the difference of their NCR, so that a
gain above 0 is in favour of the first. "Consistently" means everywhere, also for each number of top keys: better on
average, and nowhere worse, beyond chance. What is said of KS-GRR and KS-Adap is tested on the protocols as printed;
where only their repaired forms bear it out it is corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from deniable.papers.kskv.study import SERIES, enough
from deniable.papers.paper import Claim, Claims, Context
from deniable.papers.rules import ALPHA, Evidence, Missing, Rule, above, at_least, below, spread_of

__all__ = ["CLAIMS"]

_CLOSE, _SAME = math.log(1.5), math.log(1.1)
_SMALL, _LARGE = "mean gain, epsilon up to 2", "mean gain, epsilon from 4 on"
_NOTE = "a setting is a data set, a budget and a number of top keys; means by one clipping rule for all"
EVERYWHERE = Rule(
    (above("mean gain", 0, noisy=True), at_least("gain, *", 0, noisy=True)),
    why="there are settings in which it is the other way round",
    note=_NOTE,
    alpha=ALPHA,
)
REPAIRED = Rule(
    EVERYWHERE.holds,
    (above("repaired: mean gain", 0, noisy=True), at_least("repaired: gain, *", 0, noisy=True)),
    "as printed there are settings in which it is the other way round; with the repairs there are none",
    note=_NOTE,
    alpha=ALPHA,
)
NO_MORE = Rule(
    (below("mean gain", _CLOSE, noisy=True),),
    note="an advantage is significant from a factor of 1.5 on; " + _NOTE,
    alpha=ALPHA,
)
ALIKE = Rule(
    tuple(c for at in (_SMALL, _LARGE) for c in (above(at, -_SAME, noisy=True), below(at, _SAME, noisy=True))),
    (below(_SMALL, 0, noisy=True), above(_LARGE, -_SAME, noisy=True), below(_LARGE, _SAME, noisy=True)),
    "at large budgets only; at small ones KS-UE, which spends less on values, has the larger error of means, as its "
    "variance says (mean-lower)",
    note="alike: within 10 % on average. On the keys that were found, which are others for each mechanism",
    alpha=ALPHA,
)
MOSTLY = Rule(
    (above("share of settings with a gain", 0.5, noisy=True),),
    note="the settings are those of the figures, all of them; chance is in which way a gain goes that is small against "
    "its own error, all that is read from the same runs together",
    alpha=ALPHA,
)


Runs: TypeAlias = tuple[str, float]
"""Data and budget: what has runs of its own."""
Setting: TypeAlias = tuple[str, float, int, str]
"""Data, budget, number of top keys, and the other mechanism."""


@dataclass(frozen=True)
class Comparison:
    """One mechanism against others in a figure, where the statement speaks of: some budgets, some data."""

    figure: str
    one: str
    others: tuple[str, ...]
    quantity: str = "ncr"
    budgets: Callable[[float], bool] = lambda epsilon: True
    data: str = ""
    repaired: str = ""
    """The series that may bear the statement out if `one` does not."""

    def __call__(self, context: Context) -> Evidence | Missing:
        """Gains by setting and on average, with standard errors."""
        found = self._found(context)
        if not found:
            return Missing("the budgets or data that it speaks of are not in a quick run; leave out --quick")
        if self.repaired:
            found |= {f"repaired: {name}": x for name, x in replace(self, one=self.repaired)._found(context).items()}
        return found

    def _found(self, context: Context) -> dict[str, float]:
        gains, runs = self.gains(context)
        if not gains:
            return {}
        found: dict[str, float] = {}
        alike: dict[Runs, float] = {}
        for (data, epsilon, top, other), (gain, spread) in gains.items():
            name = f"gain, {data}, epsilon={epsilon:g}, top {top}" + (f", over {other}" if len(self.others) > 1 else "")
            found |= {name: gain, spread_of(name): spread}
            alike[data, epsilon] = alike.get((data, epsilon), 0.0) + spread
        for name, fits in (("mean gain", None), (_SMALL, _small), (_LARGE, _large)):
            own = [gain for (_, epsilon, *_), (gain, _) in gains.items() if fits is None or fits(epsilon)]
            errors = [spread for (_, epsilon), spread in alike.items() if fits is None or fits(epsilon)]
            if own:
                found |= {name: float(np.mean(own)), spread_of(name): math.hypot(*errors) / len(own)}
        values = [gain for gain, _ in gains.values()]
        return found | {"settings": len(gains), "better": sum(gain > 0 for gain in values), "runs": runs}

    def gains(self, context: Context) -> tuple[dict[Setting, tuple[float, float]], int]:
        """Gain and standard error by setting and other mechanism, and the fewest runs.

        Those with the same data and budget come from the same runs of `one`: their errors may go all the same way.
        """
        lower = self.quantity != "ncr"
        cells: dict[tuple[str, float, int], dict[str, tuple[float, float]]] = {}
        runs = 10**9
        for row in context.rows(self.figure):
            value, spread, epsilon = row[self.quantity], row[f"{self.quantity}_stderr"], float(row["epsilon"] or 0)
            fits = self.budgets(epsilon) and str(row["data"]).startswith(self.data)
            if fits and value is not None and spread is not None and (not lower or enough(row)):
                cell = cells.setdefault((str(row["data"]), epsilon, int(row["top"] or 0)), {})
                cell[str(row["mechanism"])] = float(value), float(spread)
                if row["mechanism"] in (self.one, *self.others):
                    runs = min(runs, int(row["runs"] or 0))
        return {
            (*at, other): _gain(cell[self.one], cell[other], lower=lower)
            for at, cell in cells.items()
            for other in self.others
            if self.one in cell and other in cell
        }, runs


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
KS_GRR, KS_ADAP = SERIES["ks-grr"], SERIES["ks-adap"]
_FREQUENCY, _MEAN = "mse_frequency", "mse_mean"
_FINDS, _LOWER, _MEANS = (
    "{} finds frequent keys better than {}",
    "Frequencies of {} have a lower error than those of {}",
    "Means of {} have a lower error than those of {}",
)
_SEVERAL = ", several pairs"
_ALL_FIVE, _ALL_EIGHT = (UE, GRR, "ks-ue"), (UE2, GRR2, "ks-ue l=2")
_MULTIPLE, _CLOTHING = "E-Commerce", "Clothing"


def _statement(
    id: str,
    text: str,
    says: str,
    rule: Rule,
    one: str,
    others: tuple[str, ...],
    quantity: str = "ncr",
    **where: Any,
) -> Claim:
    """A claim that is read from the figure in its id."""
    figure = id.partition("-")[0]
    return Claim(id, text, f"Fig. {figure[3:]}", says, rule, Comparison(figure, one, others, quantity, **where), figure)


def _about_grr(id: str, text: str, says: str, others: tuple[str, ...], quantity: str, **where: Any) -> Claim:
    """A claim about KS-GRR, whose means are not the same as printed and repaired; keys and frequencies are."""
    rule, also = (REPAIRED, {"repaired": KS_GRR["repaired"]}) if quantity == _MEAN else (EVERYWHERE, {})
    return _statement(id, text, says, rule, KS_GRR["paper"], others, quantity, **also, **where)


def _about_adap(id: str, text: str, says: str, others: tuple[str, ...], quantity: str, **where: Any) -> Claim:
    """A claim about KS-Adap."""
    repaired = KS_ADAP["repaired"]
    return _statement(
        id, text + _SEVERAL, says, REPAIRED, KS_ADAP["paper"], others, quantity, repaired=repaired, **where
    )


def _ours(id: str, text: str, quantity: str) -> Claim:
    """A claim of our own: what is gained if the pairs of KS-GRR are asked for by kv-ss, and all people count."""
    says = "nothing: a claim of our own"
    return _statement(id, text, says, EVERYWHERE, KS_GRR["pooled"], (KS_GRR["repaired"],), quantity)


_SINGLE = (
    _statement("fig3-ue", _FINDS.format("KS-UE", "PCKV-UE"), "consistently", EVERYWHERE, "ks-ue", (UE,)),
    _about_grr("fig3-grr", _FINDS.format("KS-GRR", "PCKV-GRR"), "notably", (GRR,), "ncr"),
    _about_grr(
        "fig3-small",
        "At smaller epsilon KS-GRR finds frequent keys best of all",
        "the best performance",
        _ALL_FIVE,
        "ncr",
        budgets=_small,
    ),
    _ours("fig3-pooled", "KS-GRR finds frequent keys better with pooled kv-ss", "ncr"),
    _statement("fig4-ue", _LOWER.format("KS-UE", "PCKV-UE"), "continuously", EVERYWHERE, "ks-ue", (UE,), _FREQUENCY),
    _about_grr("fig4-grr", _LOWER.format("KS-GRR", "PCKV-GRR"), "considerably", (GRR,), _FREQUENCY),
    _ours("fig4-pooled", "Frequencies of KS-GRR have a lower error with pooled kv-ss", _FREQUENCY),
    _statement(
        "fig5-ue", "Errors of means of KS-UE and PCKV-UE are alike", "closely intersect", ALIKE, "ks-ue", (UE,), _MEAN
    ),
    _about_grr(
        "fig5-grr",
        _MEANS.format("KS-GRR", "PCKV-GRR") + ", for epsilon > 3",
        "lower for epsilon > 3",
        (GRR,),
        _MEAN,
        budgets=_large,
    ),
    _about_grr(
        "fig5-large",
        _MEANS.format("KS-GRR", "PCKV-UE and KS-UE") + ", for epsilon >= 6",
        "surpasses both for epsilon >= 6",
        (UE, "ks-ue"),
        _MEAN,
        budgets=lambda epsilon: epsilon >= 6,
    ),
    _statement(
        "fig5-advantage",
        "Means of KS-GRR have no significant advantage over those of PCKV-UE",
        "no significant advantage",
        NO_MORE,
        KS_GRR["paper"],
        (UE,),
        _MEAN,
    ),
    _ours("fig5-pooled", "Means of KS-GRR have a lower error with pooled kv-ss", _MEAN),
)
_MORE = (
    _statement(
        "fig6-ue", _FINDS.format("KS-UE", "PCKV-UE") + _SEVERAL, "consistently", EVERYWHERE, "ks-ue l=2", (UE2,)
    ),
    _about_adap("fig6-adap", _FINDS.format("KS-Adap", "PCKV-GRR"), "significantly", (GRR2,), "ncr"),
    _about_adap(
        "fig6-best",
        "On E-Commerce KS-Adap finds frequent keys best of all at every epsilon",
        "best across all epsilon",
        _ALL_EIGHT,
        "ncr",
        data=_MULTIPLE,
    ),
    _about_adap(
        "fig6-clothing",
        "On Clothing KS-Adap finds frequent keys best of all at smaller epsilon",
        "optimal under smaller privacy budgets",
        _ALL_EIGHT,
        "ncr",
        data=_CLOTHING,
        budgets=_small,
    ),
    _statement(
        "fig7-ue",
        _LOWER.format("KS-UE", "PCKV-UE") + _SEVERAL,
        "consistently",
        EVERYWHERE,
        "ks-ue l=2",
        (UE2,),
        _FREQUENCY,
    ),
    _about_adap("fig7-adap", _LOWER.format("KS-Adap", "PCKV-GRR"), "considerably", (GRR2,), _FREQUENCY),
    _about_adap(
        "fig7-best",
        "On E-Commerce frequencies of KS-Adap have the lowest error of all for large epsilon",
        "best for large privacy budgets",
        _ALL_EIGHT,
        _FREQUENCY,
        data=_MULTIPLE,
        budgets=_large,
    ),
    _statement(
        "fig8-ue",
        "Errors of means of KS-UE and PCKV-UE are alike" + _SEVERAL,
        "closely intertwine",
        ALIKE,
        "ks-ue l=2",
        (UE2,),
        _MEAN,
    ),
    _about_adap(
        "fig8-small",
        "At small epsilon means of KS-Adap have the lowest error of all",
        "generally optimal for small epsilon",
        _ALL_EIGHT,
        _MEAN,
        budgets=_small,
    ),
    _about_adap(
        "fig8-best",
        "On E-Commerce means of KS-Adap have the lowest error of all for large epsilon",
        "best for large epsilon",
        _ALL_EIGHT,
        _MEAN,
        data=_MULTIPLE,
        budgets=_large,
    ),
    _about_adap("fig8-adap", _MEANS.format("KS-Adap", "PCKV-GRR"), "improvement", (GRR2,), _MEAN),
    _statement(
        "fig8-advantage",
        "Means of KS-Adap have no significant advantage over those of PCKV-UE" + _SEVERAL,
        "no significant advantage",
        NO_MORE,
        KS_ADAP["paper"],
        (UE2,),
        _MEAN,
    ),
)
CLAIMS = Claims((*_SINGLE, *_MORE))


@CLAIMS.add("best", "KS-UE and KS-GRR surpass other algorithms in most situations", "Sec. 5.2", "predominantly", MOSTLY)
def _mostly(context: Context) -> Evidence:
    """In what share of all settings of Figures 3 to 8 the new mechanism comes out better than both others."""
    single, several = (("ks-ue", KS_GRR["paper"]), (UE, GRR)), (("ks-ue l=2", KS_ADAP["paper"]), (UE2, GRR2))
    better, settings = 0, 0
    unsure: dict[tuple[str, Runs], float] = {}
    for first, (new, others) in ((3, single), (6, several)):
        for (i, quantity), one in product(enumerate(("ncr", _FREQUENCY, _MEAN)), new):
            gains, _ = Comparison(f"fig{first + i}", one, others, quantity).gains(context)
            for (data, epsilon, *_), (gain, spread) in gains.items():
                better, settings, at = better + (gain > 0), settings + 1, (one, (data, epsilon))
                unsure[at] = unsure.get(at, 0.0) + _doubt(gain, spread)
    share = "share of settings with a gain"
    found = {"settings": settings, "better": better, share: better / settings}
    return found | {spread_of(share): math.hypot(*unsure.values()) / settings}


def _doubt(gain: float, spread: float) -> float:
    """The standard deviation of whether a gain is above 0, of a number with this error."""
    chance = 0.5 * math.erfc(abs(gain) / (spread * math.sqrt(2))) if spread else 0.5 * (gain == 0)
    return math.sqrt(chance * (1 - chance))
