"""Making a personalised mechanism from options: levels as text, and a base that keeps a leak budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable.core.domain import Domain
from deniable.core.personal import common_range
from deniable.errors import ParameterError, require
from deniable.mechanisms.personal import BASES, Personal
from deniable.mechanisms.personal_levels import check_levels

__all__ = ["largest_level", "make_personal"]

_RANGES = 8
"""How many hash ranges up from 2 are looked at."""


def largest_level(levels: object) -> float:
    """The promise if none is given: that of the largest level."""
    return max(check_levels(levels))


def make_personal(
    *,
    epsilon: float,
    domain: Domain,
    levels: object,
    base: str | None = None,
    leak_budget: float | None = None,
    **own: Any,
) -> Personal:
    """`Personal`, its base chosen where it is left out.

    With a `leak_budget` it is the base and hash range with the least predicted error among those whose reports are
    within that budget for the level, the value being known. Without one it is lh with the range that leaks least.
    """
    given: dict[str, Any] = {"epsilon": epsilon, "domain": domain, "levels": tuple(check_levels(levels))}
    given |= {name: value for name, value in own.items() if value is not None}
    if leak_budget is None:
        return Personal(base=base or "lh", **given)
    require(leak_budget > 0, "leak_budget", leak_budget, "a number > 0")
    found = list(_candidates(base, given))
    fitting = [m for m in found if m.guarantee["level"] <= leak_budget]
    least = min(found, key=lambda m: float(m.guarantee["level"]))
    if not fitting:
        raise ParameterError(
            f"leak_budget must be at least {least.guarantee['level']:.4g} for these levels"
            f"{f' and base {base}' if base else ''}, got {leak_budget!r}: the least is that of {_told(least)}.",
            "Choose levels that are nearer to each other, or a smaller level epsilon.",
        )
    best = min(fitting, key=lambda m: float(m.properties()["mse"]))
    told = [_told(m) for m in found if m not in fitting]
    note = f"{_told(best)} has the least error of {len(fitting)} designs within the leak budget {leak_budget:g}"
    note += f"; beyond it: {', '.join(told)}" if told else ""
    return Personal(**given | _own(best), base=best.base, selection={"note": note, "leak_budget": leak_budget})


def _candidates(base: str | None, given: dict[str, Any]) -> Iterator[Personal]:
    for name in BASES if base is None else (base,):
        if name != "lh" or given.get("g") is not None:
            yield from _possible(name, given)
            continue
        best = common_range(sorted(given["levels"]))
        for g in sorted({*range(2, _RANGES + 1), best}):
            yield from _possible(name, given | {"g": g})


def _possible(name: str, given: dict[str, Any]) -> Iterator[Personal]:
    """The design, if there is one: some bases need a level report, or more than two values."""
    if name == "grr" and given.get("level_report") == "none" and len(given["levels"]) > 1:
        return
    if name == "sue" and given.get("level_report") == "none" and Domain.of(given["domain"]).k == 2:
        return
    yield Personal(base=name, **given)


def _own(m: Personal) -> dict[str, Any]:
    return {"g": m.g} if m.base == "lh" else {}


def _told(m: Personal) -> str:
    own = f" with g = {m.g}" if m.base == "lh" else ""
    return f"base {m.base}{own} ({m.guarantee['level']:.3g})"
