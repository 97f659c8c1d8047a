"""What KSKV reads from its figures: every statement at every budget and on every data set that it is made of.

Two mechanisms are compared by the logarithm of the ratio of their errors, or by the difference of their NCR, so that a
gain above 0 is in favour of the first. "Consistently" means everywhere, also for each number of top keys: better on
average, and nowhere worse, beyond chance. "Best" is ahead of each of the
others, not of their mean. What is said of KS-GRR and KS-Adap is tested on the protocols as printed;
where only their repaired forms bear it out it is corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from deniable.papers.evidence import Evidence, Missing, Sampled
from deniable.papers.kskv.study import SERIES, enough
from deniable.papers.paper import Context, Measures

__all__ = ["measures"]

_SMALL, _LARGE = "mean gain, epsilon up to 2", "mean gain, epsilon from 4 on"

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
    budgets: Callable[[float], bool] = lambda epsilon: epsilon <= 6
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

    def _found(self, context: Context) -> dict[str, float | Sampled]:
        gains, runs = self.gains(context)
        if not gains:
            return {}
        found: dict[str, float | Sampled] = {}
        for (data, epsilon, top, other), gain in gains.items():
            name = f"gain, {data}, epsilon={epsilon:g}, top {top}" + (f", over {other}" if len(self.others) > 1 else "")
            found[name] = gain
        parts = {"mean gain": gains}
        parts |= {name: {at: x for at, x in gains.items() if fits(at[1])} for name, fits in _HALVES.items()}
        if len(self.others) > 1:
            parts |= {f"mean gain over {o}": {at: x for at, x in gains.items() if at[3] == o} for o in self.others}
        found |= {name: mean_gain(own) for name, own in parts.items() if own}
        better = sum(gain.value > 0 for gain in gains.values())
        return found | {"settings": len(gains), "better": better, "runs": runs}

    def gains(self, context: Context) -> tuple[dict[Setting, Sampled], int]:
        """Gains by setting and other mechanism, and the fewest runs.

        Those with the same data and budget come from the same runs of `one`: their errors may go all the same way.
        """
        lower = self.quantity != "ncr"
        cells: dict[tuple[str, float, int], dict[str, Sampled]] = {}
        runs = 10**9
        for row in context.rows(self.figure):
            value, error, epsilon = row[self.quantity], row[f"{self.quantity}_stderr"], float(row["epsilon"] or 0)
            fits = self.budgets(epsilon) and str(row["data"]).startswith(self.data)
            if fits and value is not None and error is not None and (not lower or enough(row)):
                cell = cells.setdefault((str(row["data"]), epsilon, int(row["top"] or 0)), {})
                cell[str(row["mechanism"])] = Sampled(float(value), float(error))
                if row["mechanism"] in (self.one, *self.others):
                    runs = min(runs, int(row["runs"] or 0))
        return {
            (*at, other): cell[other].log_ratio(cell[self.one]) if lower else cell[self.one] - cell[other]
            for at, cell in cells.items()
            for other in self.others
            if self.one in cell and other in cell
        }, runs


def mean_gain(gains: Mapping[Setting, Sampled]) -> Sampled:
    """The mean, with the errors of the same runs going all the same way."""
    alike: dict[Runs, float] = {}
    for (data, epsilon, *_), gain in gains.items():
        alike[data, epsilon] = alike.get((data, epsilon), 0.0) + gain.error
    return Sampled(float(np.mean([gain.value for gain in gains.values()])), math.hypot(*alike.values()) / len(gains))


def _small(epsilon: float) -> bool:
    return epsilon <= 2


def _large(epsilon: float) -> bool:
    return epsilon >= 4


_HALVES: Mapping[str, Callable[[float], bool]] = {_SMALL: _small, _LARGE: _large}
_QUANTITIES = dict(zip((f"fig{i}" for i in range(3, 9)), 2 * ("ncr", "mse_frequency", "mse_mean"), strict=True))
UE, GRR, UE2, GRR2 = "pckv-ue", "pckv-grr", "pckv-ue l=2", "pckv-grr l=2"
KS_GRR, KS_ADAP = SERIES["ks-grr"], SERIES["ks-adap"]
_ALL_FIVE, _ALL_EIGHT = (UE, GRR, "ks-ue"), (UE2, GRR2, "ks-ue l=2")
_OF_GRR, _OF_ADAP = {"repaired": KS_GRR["repaired"]}, {"repaired": KS_ADAP["repaired"]}
"""Of KS-GRR only the means are others as printed and repaired; of KS-Adap everything is."""

_STATEMENTS: Mapping[str, tuple[str, tuple[str, ...], Mapping[str, Any]]] = {
    "fig3-ue": ("ks-ue", (UE,), {}),
    "fig3-grr": (KS_GRR["paper"], (GRR,), {}),
    "fig3-small": (KS_GRR["paper"], _ALL_FIVE, {"budgets": _small}),
    "fig3-pooled": (KS_GRR["pooled"], (KS_GRR["repaired"],), {}),
    "fig4-ue": ("ks-ue", (UE,), {}),
    "fig4-grr": (KS_GRR["paper"], (GRR,), {}),
    "fig4-pooled": (KS_GRR["pooled"], (KS_GRR["repaired"],), {}),
    "fig5-ue": ("ks-ue", (UE,), {}),
    "fig5-grr": (KS_GRR["paper"], (GRR,), {**_OF_GRR, "budgets": _large}),
    "fig5-large": (KS_GRR["paper"], (UE, "ks-ue"), {**_OF_GRR, "budgets": lambda epsilon: epsilon >= 6}),
    "fig5-advantage": (KS_GRR["paper"], (UE,), {}),
    "fig5-pooled": (KS_GRR["pooled"], (KS_GRR["repaired"],), {}),
    "fig6-ue": ("ks-ue l=2", (UE2,), {}),
    "fig6-adap": (KS_ADAP["paper"], (GRR2,), _OF_ADAP),
    "fig6-best": (KS_ADAP["paper"], _ALL_EIGHT, {**_OF_ADAP, "data": "E-Commerce"}),
    "fig6-clothing": (KS_ADAP["paper"], _ALL_EIGHT, {**_OF_ADAP, "data": "Clothing", "budgets": _small}),
    "fig7-ue": ("ks-ue l=2", (UE2,), {}),
    "fig7-adap": (KS_ADAP["paper"], (GRR2,), _OF_ADAP),
    "fig7-best": (KS_ADAP["paper"], _ALL_EIGHT, {**_OF_ADAP, "data": "E-Commerce", "budgets": _large}),
    "fig8-ue": ("ks-ue l=2", (UE2,), {}),
    "fig8-small": (KS_ADAP["paper"], _ALL_EIGHT, {**_OF_ADAP, "budgets": _small}),
    "fig8-best": (KS_ADAP["paper"], _ALL_EIGHT, {**_OF_ADAP, "data": "E-Commerce", "budgets": _large}),
    "fig8-adap": (KS_ADAP["paper"], (GRR2,), _OF_ADAP),
    "fig8-advantage": (KS_ADAP["paper"], (UE2,), {}),
}
"""Claims that are read from the figure in their id: one mechanism, the others, and where the statement speaks of."""

measures = Measures(
    {
        id: Comparison(figure := id.partition("-")[0], one, others, _QUANTITIES[figure], **where)
        for id, (one, others, where) in _STATEMENTS.items()
    }
)


@measures("best")
def _mostly(context: Context) -> Evidence:
    """In what share of all settings of Figures 3 to 8 the new mechanism comes out better than both others."""
    single, several = (("ks-ue", KS_GRR["paper"]), (UE, GRR)), (("ks-ue l=2", KS_ADAP["paper"]), (UE2, GRR2))
    better, settings = 0, 0
    unsure: dict[tuple[str, Runs], float] = {}
    for first, (new, others) in ((3, single), (6, several)):
        for figure, one in product((f"fig{first + i}" for i in range(3)), new):
            gains, _ = Comparison(figure, one, others, _QUANTITIES[figure]).gains(context)
            for (data, epsilon, *_), gain in gains.items():
                better, settings, at = better + (gain.value > 0), settings + 1, (one, (data, epsilon))
                unsure[at] = unsure.get(at, 0.0) + _doubt(gain)
    share = Sampled(better / settings, math.hypot(*unsure.values()) / settings)
    return {"settings": settings, "better": better, "share of settings with a gain": share}


def _doubt(gain: Sampled) -> float:
    """The standard deviation of whether a gain is above 0."""
    chance = 0.5 * math.erfc(abs(gain.value) / (gain.error * math.sqrt(2))) if gain.error else 0.5 * (gain.value == 0)
    return math.sqrt(chance * (1 - chance))
