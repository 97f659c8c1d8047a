"""What is asked of the planner, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.guess import check_prior
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_whole, require
from deniable.mechanisms.registry import OPTIONS
from deniable.plan.answer import check_top
from deniable_client.exact import check_epsilon

__all__ = ["Request", "check_weight", "check_weights", "request"]

_WEIGHTS = {"error": "mse", "asr": "asr", "bits": "bits", "work": "work", "poisoning": "poisoning"}
"""What can be weighed, and the column that it is."""


@dataclass(frozen=True, slots=True)
class Request:
    """People, answers, and what must hold. Either n or epsilon may be None: then it is what is looked for."""

    domain: Domain
    n: int | None
    epsilon: float | None
    limits: Mapping[str, float]
    """The largest allowed value of each limited column; the target error is that of `stderr`."""
    weights: Mapping[str, float]
    """Weight of each column, of sum 1; the error alone unless asked otherwise."""
    targets: int
    """Answers that a forger wants to push."""
    prior: FloatArray | None
    given: Mapping[str, Any]
    """Options that some mechanisms need."""
    top: int | None

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.domain.k

    @property
    def target(self) -> float | None:
        """The wanted standard error."""
        return self.limits.get("stderr")

    @property
    def weighed(self) -> bool:
        """Whether something beside the error counts."""
        return set(self.weights) != {"mse"}

    def document(self) -> dict[str, Any]:
        """As plain data."""
        asked = {"k": self.k, "n": self.n, "epsilon": self.epsilon, "limits": dict(self.limits)}
        prior = "uniform" if self.prior is None else "given"
        return asked | {"weights": dict(self.weights), "targets": self.targets, "prior": prior}


def request(
    answers: Domain,
    n: Any,
    epsilon: float | None,
    limits: Mapping[str, float | None],
    weights: Mapping[str, float],
    targets: int | None,
    prior: object,
    given: Mapping[str, Any],
    top: int | None,
) -> Request:
    """A checked request."""
    unknown = [name for name in given if name not in OPTIONS]
    require(not unknown, "given", unknown, f"named by options of mechanisms: {', '.join(OPTIONS)}")
    set_limits = {name: _limit(name, most) for name, most in limits.items() if most is not None}
    _check_known(n, epsilon, set_limits)
    epsilon = None if epsilon is None else check_epsilon(epsilon, sampling=True)
    check_top(top)
    most, known = answers.k - 1, None if prior is None else check_prior(prior, answers.k)
    ok = targets is None or (is_whole(targets, 1) and targets <= most)
    require(ok, "targets", targets, f"an integer from 1 to {most}")
    aim = min(10, most) if targets is None else targets
    return Request(answers, None if n is None else int(n), epsilon, set_limits, weights, aim, known, dict(given), top)


def _check_known(n: Any, epsilon: float | None, limits: Mapping[str, float]) -> None:
    """Two of n, epsilon and the target say what is looked for."""
    require(n is None or is_whole(n, 1), "n", n, "an integer >= 1", "It is the number of reports.")
    known = [name for name, x in (("n", n), ("epsilon", epsilon), ("target_error", limits.get("stderr"))) if x]
    if len(known) < 2:
        raise ParameterError(
            f"two of n, epsilon and target_error must be given, got {' and '.join(known) or 'none'}.",
            "n and epsilon give errors; a target error with one of them gives the smallest value of the other.",
        )


def _limit(name: str, most: Any) -> float:
    word = "target_error" if name == "stderr" else f"max_{name}"
    number = isinstance(most, int | float | np.integer | np.floating) and not isinstance(most, bool)
    require(number and 0 < most < math.inf, word, most, "a finite number > 0")
    require(name != "asr" or most <= 1, word, most, "at most 1", "It is a probability.")
    require(name != "stderr" or most < 1, word, most, "below 1", "It is a share: 0.01 is one percentage point.")
    return float(most)


def check_weight(weight: float) -> float:
    """The weight of the best guess, where an error or a loss has the rest."""
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    require(number and 0 <= weight <= 1, "weight", weight, "from 0 to 1", "It is that of the best guess (ASR).")
    return weight


def check_weights(weight: float | None, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Weights by columns, of sum 1: that of the ASR alone, or all of them."""
    if weight is not None:
        require(weights is None, "weight", weight, "left out if weights are given")
        weights = {"asr": check_weight(weight), "error": 1 - weight}
    found = {"error": 1.0} if weights is None else dict(weights)
    for name, w in found.items():
        require(name in _WEIGHTS, "weights", name, f"named by {', '.join(_WEIGHTS)}")
        require(isinstance(w, int | float) and 0 <= w < math.inf, "weights", w, "numbers >= 0")
    total = sum(found.values())
    require(total > 0, "weights", weights, "not all 0")
    return {_WEIGHTS[name]: w / total for name, w in found.items() if w > 0}
