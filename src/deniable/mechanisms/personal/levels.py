"""Levels of protection and expected shares of them, as they are given."""

from __future__ import annotations

import math

import numpy as np

from deniable.errors import ParameterError, require
from deniable_client.exact import check_epsilon

__all__ = ["check_levels", "check_shares", "listed"]


def check_levels(levels: object) -> list[float]:
    """Levels as floats, in the order given; refused unless they are different numbers > 0."""
    given = levels.split(",") if isinstance(levels, str) else levels
    try:
        numbers = [float(level) for level in given]  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"levels must be numbers, got {levels!r}.", "For example 0.5,1,2.") from error
    require(len(numbers) > 0, "levels", levels, "at least one number > 0")
    wrong = [level for level in numbers if not 0 < level < math.inf]
    hint = "Nobody can report at level 0: leave those people out."
    require(not wrong, "levels", wrong[0] if wrong else None, "finite numbers > 0", hint)
    twice = [level for level in numbers if numbers.count(level) > 1]
    require(not twice, "levels", twice[0] if twice else None, "different from each other")
    for level in numbers:
        check_epsilon(level)
    return numbers


def check_shares(shares: object, t: int) -> list[float]:
    """Expected shares of t levels, in the order of the levels given; alike if left out."""
    if shares is None:
        return [1 / t] * t
    given = shares.split(",") if isinstance(shares, str) else shares
    try:
        numbers = np.array([float(share) for share in given])  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"shares must be numbers, got {shares!r}.") from error
    ok = numbers.shape == (t,) and bool(np.isfinite(numbers).all()) and bool((numbers >= 0).all())
    require(ok, "shares", shares, f"{t} numbers >= 0, one for each level")
    total = float(numbers.sum())
    require(abs(total - 1) <= 1e-9, "shares", total, "numbers whose sum is 1", "Divide them by their sum.")
    return [float(share) for share in numbers / total]


def listed(levels: tuple[float, ...]) -> str:
    """Levels as text."""
    return ", ".join(f"{level:g}" for level in levels)
