"""Designs whose parameter is a decision between error and best guess [AdaptiveLDP Sec. V]: `ass aue alh athe ssmix`.

The mechanisms are those of the plain families; added here is how their parameter is chosen, and the record of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, cast

from deniable.core.domain import Domain
from deniable.core.frontier import Mixture, best_subset_size, least_mse, mixture_mse, mixture_success, weighted_mixture
from deniable.core.guess import check_prior
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

RULES = ("select", "objectives", "normalize", "weight", "limit", "reference", "rho", "prior")
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
    reference: tuple[float, float] = (1.0, 1.0)
    rho: float = 1e-6
    n: float = 1
    prior: Any = None

    @cached_property
    def preference(self) -> Preference:
        """The default scale: none for the authors' objectives and selectors that read raw ones, else the anchor."""
        scale = "anchor" if self.select in NORMALISED and self.objectives == "exact" else "none"
        own = self.weight, self.limit, self.reference, self.rho
        return Preference(self.select, self.normalize or cast(Normalize, scale), *own)

    def choose(self, family: Family, k: int, epsilon: float) -> Chosen:
        """The value of a family's parameter."""
        prior = None if self.prior is None else check_prior(self.prior, k)
        return choose(family, k, epsilon, self.preference, metric=self.objectives, n=self.n, prior=prior)

    def record(self, chosen: Chosen) -> dict[str, Any]:
        """How the parameter was chosen, as plain data; the best guess under the prior is that of the chosen design."""
        notes, choice = [chosen.fallback] if chosen.fallback else [], f"the choice is for n = {self.n:g} reports"
        if self.select not in NORMALISED:
            notes.append(f"{self.select} reads raw objectives: {choice}.")
        elif not self.preference.scaled:
            notes.append(f"raw objectives: {choice} and would be another for another n.")
        found = {"objective": chosen.objective, "candidates": chosen.looked_at, "note": " ".join(notes)}
        asked = {"prior": "uniform"} if self.prior is None else {"prior": "given", "asr_under_prior": chosen.asr}
        used = {"normalize": self.preference.normalize, "reference": list(self.preference.reference)}
        return {f.name: getattr(self, f.name) for f in fields(self)} | used | asked | found


_SELECTORS_OF = {
    "weight": NORMALISED,
    "limit": ("epsilon-constraint",),
    "reference": ("hypervolume",),
    "rho": ("tchebycheff",),
}
"""Options that only some selectors read."""


def _rule(options: dict[str, Any]) -> _Rule:
    """The rule that options ask for; one that would have no effect is refused."""
    rule = _Rule(**options)
    select = rule.preference.select
    for name, readers in _SELECTORS_OF.items():
        hint = f"For example select={readers[0]}."
        wanted = f"left out unless select is {' or '.join(readers)}; it is {select}"
        require(name not in options or select in readers, name, options.get(name), wanted, hint)
    raw = select in NORMALISED or rule.normalize in (None, "none")
    need = f"left out, or none, unless select is {' or '.join(NORMALISED)}; it is {select}, which reads raw objectives"
    require(raw, "normalize", rule.normalize, need)
    hint = "The authors' objectives are for equally likely values: leave one of the two out."
    require(rule.prior is None or rule.objectives == "exact", "objectives", rule.objectives, "exact with a prior", hint)
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
        return SubsetMixture(epsilon=epsilon, domain=domain, size=size, share=0.0 if share is None else share)
    if share is not None:
        hint = "Leave out both to have them chosen."
        raise ParameterError(f"share must be given together with size, got {share!r} alone.", hint)
    chosen = rule.choose(MIXTURES, domain.k, epsilon)
    best = _mixture_at(chosen.value)
    if rule.select == "weighted" and rule.preference.normalize != "log" and rule.prior is None:
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
