"""Levels of protection as they are given, the data mechanism of each, and the channel that hides the level."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import cast

import numpy as np

from deniable.core.domain import Domain
from deniable.core.laws import epsilon_to
from deniable.core.types import IntArray
from deniable.errors import InWords, ParameterError, is_whole, require, show
from deniable.mechanisms.frequency.affine import Affine, best_numbers
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.personal.laws import UNCALIBRATED, common_range, places
from deniable.mechanisms.personal.options import LEVEL_REPORTS
from deniable.mechanisms.support import SupportMechanism
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Bit, Kernel, Response
from deniable_client.kernels.affine import CELLS_MAX, primitive_root

__all__ = [
    "BASES",
    "check_base",
    "check_blocks",
    "check_level_report",
    "check_levels",
    "check_shares",
    "common_blocks",
    "level_kernels",
    "level_numbers",
    "listed",
    "make_bases",
]

BASES: Mapping[str, Callable[..., SupportMechanism]] = {
    "sue": Unary.symmetric,
    "oue": Unary.optimised,
    "grr": GRR,
    "lh": LocalHashing,
    "affine": Affine,
}
"""The data mechanisms that levels may have: those whose report format does not depend on epsilon."""


def check_levels(levels: object) -> list[float]:
    """Levels as floats, in the order given; refused unless they are different numbers > 0."""
    given = levels.split(",") if isinstance(levels, str) else levels
    try:
        numbers = [float(level) for level in given]  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"levels must be numbers, got {show(levels)}.", "For example 0.5,1,2.") from error
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
    """Expected shares of t levels, in the order of the levels given; equal if left out."""
    if shares is None:
        return [1 / t] * t
    given = shares.split(",") if isinstance(shares, str) else shares
    try:
        numbers = np.array([float(share) for share in given])  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"shares must be numbers, got {show(shares)}.") from error
    ok = numbers.shape == (t,) and bool(np.isfinite(numbers).all()) and bool((numbers >= 0).all())
    require(ok, "shares", shares, f"{t} numbers >= 0, one for each level")
    total = float(numbers.sum())
    require(abs(total - 1) <= 1e-9, "shares", total, "numbers whose sum is 1", "Divide them by their sum.")
    return [float(share) for share in numbers / total]


def listed(levels: tuple[float, ...]) -> str:
    """Levels as text."""
    return ", ".join(f"{level:g}" for level in levels)


def level_numbers(known: tuple[float, ...], levels: object, n: int) -> IntArray:
    """The numbers of levels that are given by their epsilon, one for each of n people or one for all."""
    try:
        given = np.asarray(levels, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"levels must be numbers, got {show(levels)}.") from error
    require(
        given.shape in ((), (n,)), "levels", InWords(f"an array of shape {given.shape}"), f"one level, or {n} of them"
    )
    every = np.array(known)
    at = np.minimum(np.searchsorted(every, given), every.size - 1)
    odd = np.atleast_1d(given)[np.atleast_1d(every[at] != given)]
    if odd.size:
        raise ParameterError(f"levels must be among {listed(known)}, got {float(odd[0])!r}.")
    return np.broadcast_to(at, (n,)).astype(np.int64)


# ---- the data


_BLOCKS = ("q", "m", "j", "zero", "g")
"""The numbers of affine response, which all levels have in common."""


def make_bases(
    base: str, levels: tuple[float, ...], domain: Domain, g: int | None, blocks: tuple[int, ...] | None
) -> tuple[SupportMechanism, ...]:
    """The data mechanism of each level."""
    own = {} if g is None else {"g": g}
    if blocks is not None:
        own = dict(zip(_BLOCKS, blocks, strict=True))
    return tuple(BASES[base](epsilon=level, domain=domain, **own) for level in levels)


def check_base(base: str, levels: tuple[float, ...], level_report: str, g: int | None) -> int | None:
    """The hash range common to all levels, or None; refuses bases that do not fit the level report."""
    require(base in BASES, "base", base, f"one of {', '.join(BASES)}")
    if base in UNCALIBRATED and level_report == "none" and len(levels) > 1:
        raise ParameterError(
            f"level_report must not be none for base {base}: its reports do not tell how p and q are blended.",
            "Report the level (response or bit), or use base sue, oue or lh.",
        )
    if base == "lh":
        return common_range(levels) if g is None else g
    require(g is None, "g", g, "left out unless the base is lh")
    return None


def common_blocks(levels: Sequence[float], k: int) -> tuple[int, ...] | None:
    """Numbers of affine response for all levels: of least error at the middle one, which also leaks least.

    None where no design has few enough reports: a tally counts every one of them for each reported level.
    """
    w, v = epsilon_to((levels[0] + levels[-1]) / 2)
    found = best_numbers(k, w, v, w / (1 + w), lambda law: law.mse(k), cells=CELLS_MAX // len(levels))
    return None if found is None else (*found, primitive_root(found.q))


def check_blocks(base: str, levels: tuple[float, ...], k: int, blocks: object) -> tuple[int, ...] | None:
    """The numbers of affine response on k values, chosen if left out; None for other bases."""
    if base != "affine":
        require(blocks is None, "blocks", blocks, "left out unless the base is affine")
        return None
    if blocks is None:
        found = common_blocks(levels, k)
        more = "Use base lh, which has as many as you like."
        most = f"at most about {CELLS_MAX // len(levels)} for base affine at {len(levels)} levels"
        require(found is not None, "number of protected answers", k, most, more)
        return found
    listed = isinstance(blocks, list | tuple) and len(blocks) == len(_BLOCKS)
    fits = listed and all(is_whole(number, 0) for number in cast(Sequence[object], blocks))
    require(fits, "blocks", blocks, f"{len(_BLOCKS)} whole numbers: {', '.join(_BLOCKS)}")
    return tuple(int(number) for number in cast(Sequence[int], blocks))


# ---- the level report


def check_level_report(level_report: str, level_epsilon: float | None, t: int) -> tuple[str, float | None]:
    """What is sent about one of t levels, and how well that is protected; nothing is sent about a single level."""
    require(level_report in LEVEL_REPORTS, "level_report", level_report, ", ".join(LEVEL_REPORTS))
    if t == 1 or level_report == "none":
        return "none", None
    hint = "It protects the level that a person chose."
    number = isinstance(level_epsilon, Real) and not isinstance(level_epsilon, bool) and 0 < level_epsilon <= 700
    require(number, "level_epsilon", level_epsilon, "a number > 0, at most 700", hint)
    return level_report, check_epsilon(cast(float, level_epsilon))


def level_kernels(level_report: str, level_epsilon: float | None, told: Sequence[float]) -> tuple[Kernel, ...]:
    """The channel of the level report, or none; `told` are the levels' numbers whose mean one bit is to tell."""
    if level_epsilon is None:
        return ()
    if level_report == "response":
        return (Response.calibrate(level_epsilon, len(told)),)
    check_epsilon(level_epsilon, sampling=True)
    return (Bit.calibrate(level_epsilon, tuple(Fraction(place) for place in places(told))),)
