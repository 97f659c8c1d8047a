"""Questions of our own to AdaptiveLDP: guesses that know how common values are, and the constants of two selectors."""

from __future__ import annotations

from itertools import product
from typing import Any

from deniable.core.selection import Preference
from deniable.core.types import FloatArray
from deniable.datasets import resolve
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.families import FAMILIES, choose
from deniable.mechanisms.registry import mechanism
from deniable.papers.adaptive.designs import ORIGIN, chosen_at
from deniable.papers.checks import design
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures

__all__ = ["measures"]

measures = Measures()

_K, _EPSILON = 100, 4.0
_PEOPLE = 10**9
"""How finely the made-up prior is divided."""


def _priors() -> dict[str, FloatArray]:
    """A skewed prior, and one of a real attribute of as many values."""
    zipf = resolve("zipf:1.2", n=_PEOPLE, k=_K)
    return {"Zipf 1.2": zipf.frequencies, "Adult age": resolve("adult-age").frequencies}


def _made(name: str, **own: Any) -> Mechanism:
    return mechanism(name, k=_K, epsilon=_EPSILON, **own)


@measures("prior-uniform")
def uniform_choice(_: Context) -> Evidence:
    """The best guess under two priors from SS and from ASS as the paper chooses it, k = 100, epsilon 4."""
    found: dict[str, float] = {}
    ss, ass = design("ss", _K, _EPSILON), _made("ass", form="paper")
    for label, prior in _priors().items():
        known, tuned = ss.guess(prior).success, ass.guess(prior).success
        found |= {f"{label}, blind guess": ss.guess(prior).blind, f"{label}, ASR of SS": known}
        found |= {f"{label}, ASR of ASS": tuned, f"{label}, ASR of ASS over SS": tuned / known}
    return found


@measures("prior-tuned")
def prior_choice(_: Context) -> Evidence:
    """ASR and weighted sum under a prior of the choice for it, over those of the choice without it."""
    found: dict[str, float] = {}
    for (label, prior), name in product(_priors().items(), (*ORIGIN, "ssmix")):
        plain, tuned = _made(name), _made(name, prior=prior)
        least = _made(name, prior=prior, weight=0.0)
        at = f"{label}, {name.upper()}"
        known, best = _sum(plain, least, prior), _sum(tuned, least, prior)
        ratio = tuned.guess(prior).success / plain.guess(prior).success
        found |= {f"{at}, ASR": tuned.guess(prior).success, f"{at}, {_CHOICE.format('ASR')}": ratio}
        found |= {f"{at}, MSE": tuned.properties()["mse"], f"{at}, {_CHOICE.format('sum')}": best / known}
    prior = _priors()["Zipf 1.2"]
    known = design("ss", _K, _EPSILON).guess(prior).success
    return found | {"Zipf 1.2, ASS, ASR over that of SS": found["Zipf 1.2, ASS, ASR"] / known}


_CHOICE = "{} over that of the choice without the prior"


def _sum(m: Mechanism, least: Mechanism, prior: FloatArray) -> float:
    """What the weighted choice makes small."""
    asr = m.guess(prior).success / least.guess(prior).success
    return (asr + float(m.properties()["mse"]) / float(least.properties()["mse"])) / 2


@measures("constants")
def constants(_: Context) -> Evidence:
    """The choices for k = 100, epsilon 4 by the paper's metrics and grids, with other constants."""
    found: dict[str, float] = {"protocols": len(ORIGIN)}
    moved: list[str] = []
    steps: list[int] = []
    for name in ORIGIN:
        family, usual = FAMILIES[name], chosen_at(name, _K, _EPSILON, select="hypervolume").value
        found[f"{name.upper()}, corner (1, 1)"] = usual
        for corner in ((1.0, 5.0), (0.3, 1.0)):
            how = Preference("hypervolume", "none", reference=corner)
            value = choose(family, _K, _EPSILON, how, metric="paper").value
            found[f"{name.upper()}, corner ({corner[0]:g}, {corner[1]:g})"] = value
            moved += [name] if value != usual else []
        grid = family.grid(_K, _EPSILON).tolist()
        usual = grid.index(chosen_at(name, _K, _EPSILON, select="tchebycheff").value)
        for rho in (0.0, 1e-3, 1e-2):
            how = Preference("tchebycheff", "none", rho=rho)
            steps.append(abs(grid.index(choose(family, _K, _EPSILON, how, metric="paper").value) - usual))
    found["Tchebycheff, choices that change with rho"] = sum(step > 0 for step in steps)
    found["Tchebycheff, largest move with rho in steps of the grid"] = max(steps)
    found["hypervolume, choices that change"] = len(moved)
    return found | {"hypervolume, protocols whose choice changes": len(set(moved))}
