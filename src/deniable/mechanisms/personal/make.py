"""Making a personal mechanism from options: levels as text, and a base that keeps a leak budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable.core.domain import Domain
from deniable.core.promise.ranges import sensitive_ranges, size
from deniable.errors import ParameterError, require
from deniable.mechanisms.personal.base import LevelMechanism
from deniable.mechanisms.personal.laws import UNCALIBRATED, common_range
from deniable.mechanisms.personal.levels import BASES, check_levels, common_blocks
from deniable.mechanisms.personal.options import DISCLOSURES
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.sensitive import PersonalUtility

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
    sensitive: object = None,
    **own: Any,
) -> LevelMechanism:
    """`Personal`, or `PersonalUtility` if only some items are `sensitive`; what is left out is chosen.

    With a `leak_budget` it is the design with the least predicted error among those whose reports are within that
    budget for the level, the value being known. Without one it is lh with the range that leaks least, and the
    disclosure with the least error of those that leak no more than a common one.
    """
    given: dict[str, Any] = {"epsilon": epsilon, "domain": domain, "levels": tuple(check_levels(levels))}
    given |= {name: value for name, value in own.items() if value is not None}
    if sensitive is None:
        for name in ("theta", "disclosure"):
            require(name not in given, name, given.get(name), "left out unless some answers are sensitive")
    else:
        require("frequency" not in given, "frequency", given.get("frequency"), "left out where some are sensitive")
        given["sensitive"] = sensitive_ranges(sensitive, Domain.of(domain))
    if leak_budget is None:
        return _default(base or "lh", given)
    require(leak_budget > 0, "leak_budget", leak_budget, "a number > 0")
    return _within(leak_budget, base, given)


def _default(base: str, given: dict[str, Any]) -> LevelMechanism:
    if "sensitive" not in given or "disclosure" in given:
        return _one(base, given)
    common = _one(base, given | {"disclosure": "common"})
    if common.level_report != "response":
        return common
    capped = _one(base, given | {"disclosure": "capped"})
    fits = capped.guarantee["level"] <= common.guarantee["level"] * (1 + 1e-12)
    return min((common, capped) if fits else (common,), key=lambda m: m.error)


def _within(leak_budget: float, base: str | None, given: dict[str, Any]) -> LevelMechanism:
    found = list(_candidates(base, given))
    fitting = [m for m in found if m.guarantee["level"] <= leak_budget]
    least = min(found, key=lambda m: float(m.guarantee["level"]))
    if not fitting:
        raise ParameterError(
            f"leak_budget must be at least {least.guarantee['level']:.4g} for these levels"
            f"{f' and base {base}' if base else ''}, got {leak_budget!r}: the least is that of {_told(least)}.",
            "Choose levels that are nearer to each other, or a smaller level epsilon.",
        )
    best = min(fitting, key=lambda m: m.error)
    told = [_told(m) for m in found if m not in fitting]
    note = f"{_told(best)} has the least error of {len(fitting)} designs within the leak budget {leak_budget:g}"
    note += f"; beyond it: {', '.join(told)}" if told else ""
    chosen = given | _own(best) | {"selection": {"note": note, "leak_budget": leak_budget}}
    return _one(best.base, chosen)


def _one(base: str, given: dict[str, Any]) -> LevelMechanism:
    return PersonalUtility(base=base, **given) if "sensitive" in given else Personal(base=base, **given)


def _candidates(base: str | None, given: dict[str, Any]) -> Iterator[LevelMechanism]:
    for name in BASES if base is None else (base,):
        if name != "lh" or given.get("g") is not None:
            yield from _possible(name, given)
            continue
        best = common_range(sorted(given["levels"]))
        for g in sorted({*range(2, _RANGES + 1), best}):
            yield from _possible(name, given | {"g": g})


def _possible(name: str, given: dict[str, Any]) -> Iterator[LevelMechanism]:
    """The designs, if there are any: some bases need a level report, or more than two values."""
    silent, several = given.get("level_report") == "none", len(given["levels"]) > 1
    if name in UNCALIBRATED and silent and several:
        return
    if name == "affine" and not _blocks_fit(given):
        return
    if "sensitive" not in given:
        if name != "sue" or not silent or Domain.of(given["domain"]).k > 2:
            yield _one(name, given)
        return
    rules = DISCLOSURES if given.get("level_report", "response") == "response" else ("common",)
    for rule in rules if "disclosure" not in given else (given["disclosure"],):
        yield _one(name, given | {"disclosure": rule})


def _blocks_fit(given: dict[str, Any]) -> bool:
    """Whether base affine is for these answers."""
    protected = given.get("sensitive", (0, Domain.of(given["domain"]).k))
    return common_blocks(sorted(given["levels"]), size(protected)) is not None


def _own(m: LevelMechanism) -> dict[str, Any]:
    return {name: m.params[name] for name in ("g", "disclosure") if m.params.get(name) is not None}


def _told(m: LevelMechanism) -> str:
    own = f" with g = {m.g}" if m.g is not None else ""
    own += f", {m.params['disclosure']} disclosure" if "disclosure" in m.params else ""
    return f"base {m.base}{own} ({m.guarantee['level']:.3g})"
