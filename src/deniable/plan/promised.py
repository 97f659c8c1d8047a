"""Designs for a promise of any kind: which rows of the registry keep it, and with which options they do.

The best channel for it is made for the promise itself. All others are made for what they can keep: one epsilon for all
answers is the smallest budget of any two; answers without any limit are harmless to mechanisms that know such; and a
budget for each answer is what mechanisms with item budgets take. Whatever is made, its own promise is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.promise import Promise
from deniable.core.promise.paths import implies
from deniable.core.promise.ranges import members
from deniable.core.types import FloatArray
from deniable.errors import DeniableError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import FREQUENCY
from deniable.plan.answer import made, rows_for
from deniable.plan.candidates import Recipe, recipes

__all__ = ["Promised", "arguments", "item_promise", "smallest_budget"]

_PAIRS = 1024
"""Answers of the largest promise whose budgets are looked at pair by pair."""
_OWN = ("sensitive", "item_epsilon", "promise")
"""Options that say what is promised: a promise says it already."""


def smallest_budget(promise: Promise) -> float:
    """The smallest finite budget that is above 0: a mechanism that keeps it between all values keeps the promise."""
    require(isinstance(promise, Promise), "promise", promise, "a promise", "dn.promise(...) makes one.")
    closed = promise.closed
    found = closed.value_budgets
    some = len(found) > 0 and min(found) > 0
    require(some, "promise", promise, "with finite budgets above 0 alone, or none", "promise.merged() leaves out 0.")
    return float(min(found))


def arguments(promise: Promise) -> dict[str, Any]:
    """The arguments that say a promise, as plain data: options of a design are."""
    rows = [["inf" if b == np.inf else b for b in row] for row in promise.budgets.tolist()]
    return {"budgets": rows} | ({} if promise.labels is None else {"labels": list(promise.labels)})


def item_promise(options: Mapping[str, Any], answers: Domain) -> Promise | None:
    """What budgets of sensitive answers promise: the smaller one between any two of them; None without such budgets."""
    own = {name: options[name] for name in ("item_epsilon", "sensitive") if name in options}
    if len(own) < 2:
        return None
    name = next(name for name, entry in rows_for(FREQUENCY) if "item_epsilon" in entry.needed)
    kept: Promise = made(name, epsilon=None, domain=answers, **own).promise
    return replace(kept, strict=None)


@dataclass(frozen=True, eq=False)
class Promised:
    """A promise to the answers of a domain, and the people at whom errors are looked at."""

    promise: Promise
    domain: Domain
    theta: float | None
    """The share of people with a harmless answer; None: all answers are equally frequent."""

    @classmethod
    def of(cls, promise: Promise, answers: Domain, given: Mapping[str, Any]) -> Promised:
        """Checked: one to the values of the domain, and nothing else that says what is promised."""
        smallest_budget(promise)
        fits = promise.k == answers.k
        require(fits, "promise", promise, f"one to {answers.k} answers, as many as there are")
        hint = "A plan is for promises between answers alone: dn.promise(...) makes them."
        require(not promise.levels, "promise", promise, "one without levels", hint)
        for name in _OWN:
            require(name not in given, name, given.get(name), "left out: the promise says it")
        theta = given.get("theta")
        number = theta is None or (isinstance(theta, float | int) and 0 < theta < 1)
        require(number, "theta", theta, "a share between 0 and 1", "All designs are compared for the same people.")
        free = promise.sensitive is not None
        require(theta is None or free, "theta", theta, "left out: no answer of this promise is harmless")
        return cls(promise, answers, theta)

    @cached_property
    def epsilon(self) -> float:
        """What mechanisms with one epsilon are made for."""
        return smallest_budget(self.promise)

    @cached_property
    def prior(self) -> FloatArray:
        """How frequent answers are where errors are looked at."""
        own = self._sensitive
        k = self.promise.k
        if self.theta is None or len(own) in (0, k):
            return np.full(k, 1 / k)
        found = np.full(k, self.theta / (k - len(own)))
        found[own] = (1 - self.theta) / len(own)
        return found

    @cached_property
    def _sensitive(self) -> list[int]:
        """The answers that have a limit."""
        ranges = self.promise.sensitive
        return list(range(self.promise.k)) if ranges is None else list(members(ranges))

    def recipes(self, given: Mapping[str, Any]) -> Iterator[Recipe]:
        """All rows with options with which they may keep it; the best channel first, which the others are held to."""
        own = {name: x for name, x in given.items() if name != "theta"}
        known = own | {"promise": arguments(self.promise)} if self.promise.k <= _PAIRS else own
        known |= {} if self.theta is None else {"prior": tuple(self.prior.tolist())}
        harmless = len(self._sensitive) < self.promise.k
        if harmless:
            own |= {"sensitive": self._told, "theta": float(1 - self.prior[self._sensitive].sum())}
        made = list(recipes(known))
        yield from (Recipe(r.name, r.entry, r.options, at_default=True) for r in made if "promise" in r.options)
        yield from (r for r in recipes(own) if "item_epsilon" not in r.entry.needed)
        budgets = self._item_budgets
        if budgets is not None:
            several = own | {"sensitive": self._told, "item_epsilon": budgets}
            every = (r for r in recipes(several) if "item_epsilon" in r.options)
            yield from (Recipe(r.name, r.entry, r.options, at_default=True) for r in every)

    @property
    def _told(self) -> int | list[str]:
        """The sensitive answers: how many of the first, or their names."""
        own = self._sensitive
        names = self.domain.labels_or_numbers
        return len(own) if own == list(range(len(own))) else [names[x] for x in own]

    @cached_property
    def _item_budgets(self) -> str | None:
        """Budgets of the sensitive answers of which the smaller one is allowed to each two; None if all are one."""
        budgets = np.array(self.promise.closed.budgets) if self.promise.k <= _PAIRS else np.zeros((0, 0))
        if not budgets.size:
            return None
        own = np.array(self._sensitive)
        np.fill_diagonal(budgets, -math.inf)
        largest = np.where(np.isfinite(budgets), budgets, -math.inf).max(axis=1)
        np.fill_diagonal(budgets, math.inf)
        for found in (largest, budgets.min(axis=1)):
            allowed = np.where(np.isin(np.arange(self.promise.k), own), found, math.inf)
            if len(set(found[own].tolist())) > 1 and (np.minimum.outer(found[own], allowed) <= budgets[own]).all():
                return ",".join(repr(float(b)) for b in found[own])
        return None

    def refuse_other(self, m: Mechanism) -> None:
        """`DeniableError` for a design that keeps something else."""
        if not implies(m.promise, self.promise):
            raise DeniableError("what it keeps is not the promise.", "Ask for another design.")
