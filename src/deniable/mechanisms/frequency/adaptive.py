"""Designs whose parameter is a decision between error and best guess [AdaptiveLDP Sec. V]: `ass aue alh athe ssmix`.

The mechanisms are those of the plain families; added here is how their parameter is chosen, and the record of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deniable.core.domain import Domain
from deniable.core.frontier import (
    Mixture,
    best_subset_size,
    least_mse,
    mixture_mse,
    mixture_success,
    weighted_mixture,
)
from deniable.core.laws import epsilon_to
from deniable.core.selection import NORMALISED, Normalize, Preference, Selector
from deniable.errors import ParameterError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.frequency.families import FAMILIES, MIXTURES, Chosen, Metric, choose
from deniable.mechanisms.frequency.histogram import THE
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.mixture import SubsetMixture
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


def adaptive(name: str) -> Callable[..., Mechanism]:
    """How to make `ass`, `aue`, `alh` or `athe`."""

    def make(
        *,
        epsilon: float,
        domain: Domain,
        select: Selector = "weighted",
        objectives: Metric = "exact",
        normalize: Normalize | None = None,
        weight: float = 0.5,
        limit: float = 0.1,
        n: float = 1,
    ) -> Mechanism:
        domain, epsilon = Domain.of(domain), check_epsilon(epsilon)
        preference = _preference(select, objectives, normalize, weight, limit)
        chosen = choose(FAMILIES[name], domain.k, epsilon, preference, metric=objectives, n=n)
        record = _record(preference, objectives, normalize, n, chosen)
        return _MAKERS[name](epsilon, domain, chosen.value, record)

    return make


def mixed(
    *,
    epsilon: float,
    domain: Domain,
    size: int | None = None,
    share: float | None = None,
    select: Selector = "weighted",
    objectives: Metric = "exact",
    normalize: Normalize | None = None,
    weight: float = 0.5,
    limit: float = 0.1,
    n: float = 1,
) -> SubsetMixture:
    """`ssmix`: a given mixture of two sizes, or the one on the frontier that a rule chooses."""
    domain, epsilon = Domain.of(domain), check_epsilon(epsilon)
    if size is not None:
        return SubsetMixture(epsilon=epsilon, domain=domain, size=size, share=share or 0.0)
    if share is not None:
        hint = "Leave out both to have them chosen."
        raise ParameterError(f"share must be given together with size, got {share!r} alone.", hint)
    preference = _preference(select, objectives, normalize, weight, limit)
    chosen = choose(MIXTURES, domain.k, epsilon, preference, metric=objectives, n=n)
    best = _mixture_at(chosen.value)
    if preference.select == "weighted" and preference.normalize != "log":
        best, objective = _closed_form(domain.k, epsilon, preference, n)
        chosen = replace(chosen, objective=objective)
    record = _record(preference, objectives, normalize, n, chosen)
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


def _preference(
    select: Selector, objectives: Metric, normalize: Normalize | None, weight: float, limit: float
) -> Preference:
    """With the default scale: none for the authors' objectives and selectors that read raw ones, else the anchor."""
    raw: Normalize = "none" if objectives == "paper" else "anchor"
    scale = (normalize or raw) if select in NORMALISED else "none"
    Preference(select, normalize or raw, weight, limit)  # refuses an unknown one even where it has no effect
    return Preference(select, scale, weight, limit)


def _record(how: Preference, objectives: Metric, asked: Normalize | None, n: float, chosen: Chosen) -> dict[str, Any]:
    """How the parameter was chosen, as plain data."""
    notes = [chosen.fallback] if chosen.fallback else []
    if how.select not in NORMALISED:
        ignored = f"normalize={asked} has no effect on it; " if asked not in (None, "none") else ""
        notes.append(f"{how.select} reads raw objectives: {ignored}the choice is for n = {n:g} reports.")
    elif not how.scaled:
        notes.append(f"raw objectives: the choice is for n = {n:g} reports and would be another for another n.")
    return {
        "select": how.select,
        "objectives": objectives,
        "normalize": how.normalize,
        "weight": how.weight,
        "limit": how.limit,
        "n": n,
        "objective": chosen.objective,
        "candidates": chosen.looked_at,
        "note": " ".join(notes),
    }
