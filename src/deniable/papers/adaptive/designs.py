"""The twelve protocols of AdaptiveLDP in its settings, with what the paper plots for them and what is exact."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from deniable.core.selection import Preference, SelectionWarning, Selector
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.families import FAMILIES, Chosen, choose
from deniable.mechanisms.frequency.noise import asr_laplace
from deniable.mechanisms.frequency.options import Metric
from deniable.mechanisms.registry import mechanism
from deniable.papers.adaptive.equations import SETTINGS, eq15
from deniable.papers.checks import design
from deniable.papers.paper import Context, shared

__all__ = ["ORIGIN", "TWELVE", "Point", "chosen_at", "known_parameter", "make", "point", "points", "printed_asr"]

ORIGIN = {"ass": "ss", "aue": "oue", "alh": "olh", "athe": "the"}
"""The adaptive protocols, and the known ones from which they come."""

TWELVE = ("grr", "sue", "blh", "she", *ORIGIN.values(), *ORIGIN)


@dataclass(frozen=True, slots=True)
class Point:
    """A protocol in one setting, for n = 1: its parameter, error and best guess, as the paper has them and exactly."""

    protocol: str
    k: int
    epsilon: float
    parameter: float | None
    mse_printed: float
    asr_printed: float
    mse: float
    asr: float

    def row(self, metrics: str) -> dict[str, str | int | float | None]:
        """As a row of a table, by the metrics `printed` or `exact`."""
        mse, asr = (self.mse, self.asr) if metrics == "exact" else (self.mse_printed, self.asr_printed)
        where: dict[str, str | int | float | None] = {
            "protocol": self.protocol,
            "k": self.k,
            "epsilon": self.epsilon,
            "parameter": self.parameter,
        }
        return {**where, "metrics": metrics, "mse": mse, "asr": asr}


Table = dict[tuple[str, int, float], Point]


def printed_asr(m: Mechanism) -> float:
    """What the paper plots; for all but local hashing it is the exact value."""
    return eq15(m) if "g" in m.params else float(m.properties()["asr"])


def make(name: str, k: int, epsilon: float) -> Mechanism:
    """A protocol as the paper uses it; the adaptive ones by its objectives, for n = 1."""
    own: dict[str, Any] = {"form": "paper"} if name in ORIGIN else {}
    return mechanism(name, k=k, epsilon=epsilon, **own)


def chosen_at(
    name: str,
    k: int,
    epsilon: float,
    *,
    select: Selector = "weighted",
    weight: float = 0.5,
    metric: Metric = "paper",
    n: float = 1,
    continuous: bool | None = None,
) -> Chosen:
    """What a rule chooses on raw objectives; that another rule took its place stands in `fallback` of the result."""
    how = Preference(select, "none", weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        return choose(FAMILIES[name], k, epsilon, how, metric=metric, n=n, continuous=continuous)


def known_parameter(name: str, k: int, epsilon: float) -> float:
    """The parameter of the known protocol from which an adaptive one comes."""
    params = design(ORIGIN[name], k, epsilon).params
    return float(params[FAMILIES[name].parameter])


def point(name: str, k: int, epsilon: float) -> Point:
    """One protocol in one setting."""
    if name in ORIGIN:
        family, chosen = FAMILIES[name], chosen_at(name, k, epsilon)
        place = family.place(np.array([chosen.value]))
        asr, mse = (float(x[0]) for x in family.objectives(k, epsilon, place, "exact"))
        return Point(name, k, epsilon, chosen.value, chosen.mse, chosen.asr, mse, asr)
    if name == "she":
        mse, asr = 8 / epsilon**2, asr_laplace(k, epsilon)
        return Point(name, k, epsilon, None, mse, asr, mse, asr)
    m = design(name, k, epsilon)
    parameter = next(iter(m.params.values()), None)
    return Point(name, k, epsilon, parameter, m.mse_approx(), printed_asr(m), m.mse(), m.asr)


@shared
def points(context: Context) -> Table:
    """All protocols in all settings of Sec. VI-A."""
    context.progress(f"choosing parameters in {len(SETTINGS)} settings")
    return {(name, k, epsilon): point(name, k, epsilon) for name, (k, epsilon) in product(TWELVE, SETTINGS)}
