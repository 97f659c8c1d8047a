"""What a newcomer should hear beside an answer: weak promises, errors that hide all, targets that say nothing."""

from __future__ import annotations

from collections.abc import Iterator

from deniable.core.protection import times

__all__ = ["about_epsilon", "about_shares", "about_target"]

_WEAK = 4.0
"""Above it a report nearly gives an answer away."""
_COARSE = 0.1
"""Targets from here on are no use for shares."""


def about_epsilon(epsilon: float) -> Iterator[str]:
    """A promise that is hardly one."""
    if epsilon > _WEAK:
        yield (
            f"Caution: epsilon {epsilon:g} protects little, since a report may be {times(epsilon)} as likely for one "
            f"answer as for another. Values from 0.5 to {_WEAK:g} are usual."
        )


def about_target(target: float | None) -> Iterator[str]:
    """A target error that tells nothing about shares."""
    if target is not None and target >= _COARSE:
        yield (
            f"Caution: a standard error of {100 * target:g} percentage points tells next to nothing about shares. "
            "A usual target is 1 point: 0.01."
        )


def about_shares(k: int, n: int, stderr: float) -> Iterator[str]:
    """An error above the share that an answer has on average."""
    if stderr * k > 1:
        need = float(f"{n * (stderr * k) ** 2:.2g}")
        yield (
            f"Caution: the error is larger than the average share of an answer ({100 / k:.3g} points), so most answers "
            f"cannot be distinguished from answers that nobody gives. About {need:,.0f} reports would bring it down to "
            "that; fewer possible answers or a larger epsilon help too."
        )
