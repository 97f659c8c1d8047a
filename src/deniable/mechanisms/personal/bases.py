"""The data mechanisms that levels may have: their reports have one format whatever epsilon is."""

from __future__ import annotations

from collections.abc import Callable

from deniable.core.domain import Domain
from deniable.errors import ParameterError, require
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.local_hashing import LocalHashing
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.personal.laws import common_range
from deniable.mechanisms.support import SupportMechanism

__all__ = ["BASES", "check_base", "make_bases"]

BASES = ("sue", "oue", "grr", "lh")
"""Data mechanisms whose report format does not depend on epsilon."""

_MAKE: dict[str, Callable[..., SupportMechanism]] = {
    "sue": Unary.symmetric,
    "oue": Unary.optimised,
    "grr": GRR,
    "lh": LocalHashing,
}


def make_bases(base: str, levels: tuple[float, ...], domain: Domain, g: int | None) -> tuple[SupportMechanism, ...]:
    """The data mechanism of each level."""
    own = {"g": g} if base == "lh" else {}
    return tuple(_MAKE[base](epsilon=level, domain=domain, **own) for level in levels)


def check_base(base: str, levels: tuple[float, ...], level_report: str, g: int | None) -> int | None:
    """The hash range common to all levels, or None; refuses bases that do not fit the level report."""
    require(base in BASES, "base", base, f"one of {', '.join(BASES)}")
    if base == "grr" and level_report == "none" and len(levels) > 1:
        raise ParameterError(
            "level_report must not be none for base grr: its reports do not tell how p and q are blended.",
            "Report the level (response or bit), or use base sue, oue or lh.",
        )
    if base == "lh":
        return common_range(levels) if g is None else g
    require(g is None, "g", g, "left out unless the base is lh")
    return None
