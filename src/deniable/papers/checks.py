"""Checks that papers share: a printed formula against the truth, and a simulation against closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.papers.evidence import Evidence
from deniable.papers.montecarlo import Trials
from deniable.papers.paper import Context
from deniable.papers.rules import ALPHA, EXACT

__all__ = ["Agreement", "Equation", "design", "off", "small_designs", "small_designs_of"]

Formula = Callable[[Any], float]
Example = tuple[str, Mapping[str, Any], Mapping[str, Formula]]
"""A registry name, its arguments, and formulas by name whose values are shown."""


def design(name: str, k: int, epsilon: float, **own: Any) -> SupportMechanism:
    """A mechanism whose error and best guess have closed forms."""
    made = mechanism(name, k=k, epsilon=epsilon, **own)
    assert isinstance(made, SupportMechanism)
    return made


def off(value: float, truth: float) -> float:
    """Relative deviation."""
    return abs(value / truth - 1)


def small_designs(context: Context, *families: type[Mechanism]) -> list[tuple[SupportMechanism, dict[str, float]]]:
    """The registry's small cases of these families, with what follows from the list of all their outputs."""
    return [pair for family in families for pair in context.once(small_designs_of, family)]


def small_designs_of(_: Context, family: type[Mechanism]) -> list[tuple[SupportMechanism, dict[str, float]]]:
    """Those of one family."""
    made = (mechanism(n, **case) for n, entry in MECHANISMS.items() if entry.cls is family for case in entry.small)
    return [(m, _enumerate(m)) for m in made if isinstance(m, SupportMechanism)]


def _enumerate(m: SupportMechanism) -> dict[str, float]:
    """ASR and MSE from the outputs alone; the MSE for the least and the most even population."""
    channel = m.channel()
    assert channel.supported is not None
    members = np.array([[i in items for i in range(m.k)] for items in channel.supported], float)
    chance = channel.matrix() @ members
    p, q = chance[0, 0], chance[0, 1]
    noise = (chance * (1 - chance)).mean(axis=1) / (p - q) ** 2
    return {
        "asr": float(channel.asr()),
        "mse_approx": float(q * (1 - q) / (p - q) ** 2),
        "mse_uneven": float(noise[0]),
        "mse_even": float(noise.mean()),
    }


@dataclass(frozen=True)
class Equation:
    """Check of a printed formula for `asr` or `mse_approx`, over a grid and over all small designs of the family.

    The mechanism's own closed form is held against the small designs' outputs, the printed one against both. Values of
    `examples` are shown with them.
    """

    quantity: str
    printed: Formula
    grid: Callable[[], Iterable[SupportMechanism]]
    examples: tuple[Example, ...] = ()

    def __call__(self, context: Context) -> Evidence:
        """Deviations of the printed formula and of the closed form."""
        grid = [(m, self._closed(m)) for m in self.grid()]
        small = [(m, truth[self.quantity]) for m, truth in small_designs(context, type(grid[0][0]))]
        found: dict[str, float] = {}
        for name, given, formulas in self.examples:
            label = " ".join(f"{key}={value:g}" for key, value in given.items())
            m = mechanism(name, **given)
            found |= {f"{label}, {which}": float(formula(m)) for which, formula in formulas.items()}
        found["largest relative deviation"] = max(off(self.printed(m), truth) for m, truth in (*grid, *small))
        found["largest relative deviation of the correct form"] = max(off(self._closed(m), truth) for m, truth in small)
        return found | {"settings": len(grid), "enumerated": len(small)}

    def _closed(self, m: SupportMechanism) -> float:
        value = getattr(m, self.quantity)
        return float(value() if callable(value) else value)


@dataclass(frozen=True)
class Agreement:
    """Check of simulated `mse` or `asr` against closed forms: printed ones if they are given, and exact ones.

    Bonferroni's correction makes ALPHA the chance of a false alarm over all trials together.
    """

    quantity: str
    trials: Callable[[Context], list[Trials]]
    printed: Callable[[Trials], float] | None = None

    def __call__(self, context: Context) -> Evidence:
        """Adjusted p-values, who is rejected, and what was seen over what was expected."""
        trials = context.once(self.trials)
        exact = [t.expected(self.quantity) for t in trials]
        printed = [self.printed(t) for t in trials] if self.printed else exact
        found: dict[str, str | int | float] = {"alpha": ALPHA}
        for what, values in {"exact": exact, "printed": printed}.items():
            found[f"smallest p-value, {what} values"], rejected = self._reject(trials, values)
            found[f"{what} values rejected"] = ", ".join(rejected) or "none"
        found["collections"] = trials[0].errors.size
        for name, t, one, two in zip(_names(trials), trials, exact, printed, strict=True):
            found[f"{name}, simulated/exact"] = t.seen(self.quantity) / one
            if off(two, one) > EXACT:
                found[f"{name}, simulated/printed"] = t.seen(self.quantity) / two
        return found

    def _reject(self, trials: list[Trials], expected: list[float]) -> tuple[float, list[str]]:
        """The smallest adjusted p-value, and the trials that are rejected."""
        all_of = zip(_names(trials), trials, expected, strict=True)
        values = {name: min(1.0, len(trials) * t.pvalue(self.quantity, value)) for name, t, value in all_of}
        return min(values.values()), [name for name, value in values.items() if value <= ALPHA]


def _names(trials: list[Trials]) -> list[str]:
    """Names of the trials, with the number of people where these differ."""
    several = len({t.population.n for t in trials}) > 1
    return [f"{t.name} n={t.population.n}" if several else t.name for t in trials]
