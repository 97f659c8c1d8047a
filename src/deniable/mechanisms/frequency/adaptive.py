"""Designs whose parameter is a decision between error and best guess [AdaptiveLDP Sec. V]: `ass aue alh athe ssmix`.

The mechanisms are those of the plain families; added here is how their parameter is chosen, and the record of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from deniable.core.domain import Domain
from deniable.core.frontier import Mixture, best_subset_size, least_mse, mixture_mse, mixture_success, weighted_mixture
from deniable.core.laws import epsilon_to
from deniable.core.selection import NORMALISED, Normalize, Preference, Selector
from deniable.errors import ParameterError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.families import FAMILIES, MIXTURES, Chosen, Family, choose
from deniable.mechanisms.frequency.histogram import THE
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.mixture import SubsetMixture
from deniable.mechanisms.frequency.options import Metric
from deniable.mechanisms.frequency.subset import SubsetSelection
from deniable.mechanisms.frequency.unary import Unary
from deniable_client.exact import check_epsilon

__all__ = ["RULES", "adaptive", "mixed"]

RULES = ("select", "objectives", "normalize", "weight", "limit")
"""The options by which a parameter is chosen; `n`, the number of reports, matters to raw objectives."""

Maker = Callable[[float, Domain, float, dict[str, Any]], Mechanism]

_MAKERS: dict[str, Maker] = {
    "ass": lambda e, d, x, s: SubsetSelection(epsilon=e, domain=d, size=int(x), name="ass", selection=s),
    "aue": lambda e, d, x, s: Unary(epsilon=e, domain=d, p=min(x, math.nextafter(1, 0)), name="aue", selection=s),
    "alh": lambda e, d, x, s: LocalHashing(epsilon=e, domain=d, g=int(x), name="alh", selection=s),
    "athe": lambda e, d, x, s: THE(epsilon=e, domain=d, theta=x, name="athe", selection=s),
}


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """How a parameter is chosen, as asked for."""

    select: Selector = "weighted"
    objectives: Metric = "exact"
    normalize: Normalize | None = None
    weight: float = 0.5
    limit: float = 0.1
    n: float = 1

    @cached_property
    def preference(self) -> Preference:
        """The default scale: none for the authors' objectives and selectors that read raw ones, else the anchor."""
        asked = self.normalize or ("none" if self.objectives == "paper" else "anchor")
        Preference(self.select, asked, self.weight, self.limit)  # refuses an unknown one even where it has no effect
        return Preference(self.select, asked if self.select in NORMALISED else "none", self.weight, self.limit)

    def choose(self, family: Family, k: int, epsilon: float) -> Chosen:
        """The value of a family's parameter."""
        return choose(family, k, epsilon, self.preference, metric=self.objectives, n=self.n)

    def record(self, chosen: Chosen) -> dict[str, Any]:
        """How the parameter was chosen, as plain data."""
        notes, choice = [chosen.fallback] if chosen.fallback else [], f"the choice is for n = {self.n:g} reports"
        if self.select not in NORMALISED:
            no_effect = self.normalize not in (None, "none")
            ignored = f"normalize={self.normalize} has no effect on it; " if no_effect else ""
            notes.append(f"{self.select} reads raw objectives: {ignored}{choice}.")
        elif not self.preference.scaled:
            notes.append(f"raw objectives: {choice} and would be another for another n.")
        found = {"objective": chosen.objective, "candidates": chosen.looked_at, "note": " ".join(notes)}
        return asdict(self) | {"normalize": self.preference.normalize} | found


_SELECTORS_OF = {"weight": NORMALISED, "limit": ("epsilon-constraint",)}
"""Options that only some selectors read."""


def _rule(options: dict[str, Any]) -> _Rule:
    """The rule that options ask for; one that would have no effect is refused."""
    rule = _Rule(**options)
    select = rule.preference.select
    for name, readers in _SELECTORS_OF.items():
        hint = f"For example select={readers[0]}."
        wanted = f"left out unless select is {' or '.join(readers)}; it is {select}"
        require(name not in options or select in readers, name, options.get(name), wanted, hint)
    return rule


def adaptive(name: str) -> Callable[..., Mechanism]:
    """How to make `ass`, `aue`, `alh` or `athe`, by the options of a rule."""

    def make(*, epsilon: float, domain: Domain, **options: Any) -> Mechanism:
        domain, epsilon, rule = Domain.of(domain), check_epsilon(epsilon), _rule(options)
        chosen = rule.choose(FAMILIES[name], domain.k, epsilon)
        return _MAKERS[name](epsilon, domain, chosen.value, rule.record(chosen))

    return make


def mixed(
    *, epsilon: float, domain: Domain, size: int | None = None, share: float | None = None, **options: Any
) -> SubsetMixture:
    """`ssmix`: a given mixture of two sizes, or the one on the frontier that a rule chooses."""
    domain, epsilon, rule = Domain.of(domain), check_epsilon(epsilon), _rule(options)
    if size is not None:
        for name in RULES:
            require(
                name not in options, name, options.get(name), "left out where size is given", "It chooses the size."
            )
        return SubsetMixture(epsilon=epsilon, domain=domain, size=size, share=share or 0.0)
    if share is not None:
        hint = "Leave out both to have them chosen."
        raise ParameterError(f"share must be given together with size, got {share!r} alone.", hint)
    chosen = rule.choose(MIXTURES, domain.k, epsilon)
    best = _mixture_at(chosen.value)
    if rule.select == "weighted" and rule.preference.normalize != "log":
        best, objective = _closed_form(domain.k, epsilon, rule.preference, rule.n)
        chosen = replace(chosen, objective=objective)
    record = rule.record(chosen)
    return SubsetMixture(epsilon=epsilon, domain=domain, size=best.size, share=best.share, selection=record)


def _mixture_at(place: float) -> Mixture:
    """The mixture of a place that was searched for, which is known to about nine digits."""
    near = round(place)
    place = near if abs(place - near) < 1e-9 * near else place
    return Mixture(math.floor(place), place - math.floor(place))


def _closed_form(k: int, epsilon: float, preference: Preference, n: float) -> tuple[Mixture, float]:
    """The weighted optimum in closed form; to anchor is to divide the weights by the objectives of least error."""
    w, v = epsilon_to(epsilon)
    asr, mse = preference.weight, 1 - preference.weight
    if preference.normalize == "anchor":
        asr /= float(mixture_success(w, k, best_subset_size(k, epsilon)))
        mse /= least_mse(k, epsilon, n)
    best = weighted_mixture(k, epsilon, asr_weight=asr, mse_weight=mse, n=n)
    error = mixture_mse(w, v, k, best.size, best.share, n)
    return best, float(asr * mixture_success(w, k, best.size, best.share) + mse * error)
