"""What is measured: numbers by name, those that were sampled with their standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deniable.core.intervals import spread
from deniable.core.types import FloatArray

__all__ = ["Evidence", "Missing", "Plain", "Sampled", "as_evidence", "as_plain"]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A number that another run would give otherwise, and its standard error.

    Two of them are from different runs, so that their errors are independent.
    """

    value: float
    error: float

    @classmethod
    def over_runs(cls, values: FloatArray) -> Sampled:
        """The mean over independent runs; of one run alone the error is infinite."""
        error = spread(values)
        return cls(float(values.mean()), math.inf if error is None else error)

    @classmethod
    def mean(cls, several: Iterable[Sampled]) -> Sampled:
        """The mean of several.

        >>> Sampled.mean([Sampled(1.0, 0.3), Sampled(2.0, 0.4)])
        Sampled(value=1.5, error=0.25)
        """
        own = list(several)
        error = math.sqrt(sum(one.error**2 for one in own)) / len(own)
        return cls(float(np.mean([one.value for one in own])), error)

    def __sub__(self, other: Sampled) -> Sampled:
        return Sampled(self.value - other.value, math.hypot(self.error, other.error))

    def __truediv__(self, number: float) -> Sampled:
        return Sampled(self.value / number, self.error / abs(number))

    def log_ratio(self, other: Sampled) -> Sampled:
        """The logarithm of this one over the other, to first order.

        >>> Sampled(2.0, 0.0).log_ratio(Sampled(2.0, 0.2))
        Sampled(value=0.0, error=0.1)
        """
        return Sampled(math.log(self.value / other.value), math.hypot(self.relative, other.relative))

    @property
    def relative(self) -> float:
        """The standard error as a share of the value."""
        return self.error / self.value

    def away(self, number: float) -> float:
        """How many standard errors it is away from a number."""
        return abs(self.value - number) / self.error


Evidence: TypeAlias = Mapping[str, str | int | float | Sampled]
"""What is measured: numbers by name, and texts that explain them."""

Plain: TypeAlias = Mapping[str, str | int | float]
"""The same as it is written: the standard error of "x" is a number of its own, "x, standard error"."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why nothing could be measured in this run."""

    reason: str


_ERROR = ", standard error"


def as_plain(evidence: Evidence) -> Plain:
    """Evidence as it is written.

    >>> as_plain({"runs": 5, "gain": Sampled(0.5, 0.1)})
    {'runs': 5, 'gain': 0.5, 'gain, standard error': 0.1}
    """
    plain: dict[str, str | int | float] = {}
    for name, found in evidence.items():
        plain |= {name: found.value, name + _ERROR: found.error} if isinstance(found, Sampled) else {name: found}
    return plain


def as_evidence(plain: Plain) -> Evidence:
    """What was written, read again.

    >>> as_evidence({"runs": 5, "gain": 0.5, "gain, standard error": 0.1})
    {'runs': 5, 'gain': Sampled(value=0.5, error=0.1)}
    """
    errors = {name: error for name in plain if isinstance(error := plain.get(name + _ERROR), int | float)}
    written = {name + _ERROR for name in errors}
    return {
        name: Sampled(found, errors[name]) if name in errors and not isinstance(found, str) else found
        for name, found in plain.items()
        if name not in written
    }
