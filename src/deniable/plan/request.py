"""What is asked of the planner, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.core.domain import Domain
from deniable.core.guess import check_prior
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_whole, require
from deniable.mechanisms.registry import OPTIONS
from deniable.plan.answer import check_top
from deniable.plan.scoring import Weights, check_limits
from deniable_client.exact import check_epsilon

if TYPE_CHECKING:
    from deniable.plan.promised import Promised

__all__ = ["Request", "request"]


@dataclass(frozen=True, slots=True)
class Request:
    """People, answers, and what must hold. Either n or epsilon may be None: then it is what is looked for."""

    domain: Domain
    n: int | None
    epsilon: float | None
    limits: Mapping[str, float]
    """The largest allowed value of each limited column; the target error is that of `stderr`."""
    weights: Weights
    targets: int
    """Answers that a forger wants to push."""
    prior: FloatArray | None
    given: Mapping[str, Any]
    """Options that some mechanisms need."""
    top: int | None
    promised: Promised | None = None
    """What is promised, where it is not one epsilon; then `epsilon` is the smallest budget."""

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.domain.k

    @property
    def target(self) -> float | None:
        """The wanted standard error."""
        return self.limits.get("stderr")

    def document(self) -> dict[str, Any]:
        """As plain data."""
        asked = {"k": self.k, "n": self.n, "epsilon": self.epsilon, "limits": dict(self.limits)}
        prior = "uniform" if self.prior is None else "given"
        asked |= {} if self.promised is None else {"promise": self.promised.promise.to_document()}
        return asked | {"weights": dict(self.weights.columns), "targets": self.targets, "prior": prior}


def request(
    answers: Domain,
    n: Any,
    epsilon: float | None,
    limits: Mapping[str, float],
    weights: Weights,
    targets: int | None,
    prior: object,
    given: Mapping[str, Any],
    top: int | None,
) -> Request:
    """A checked request."""
    unknown = [name for name in given if name not in OPTIONS]
    require(not unknown, "given", unknown, f"named by options of mechanisms: {', '.join(OPTIONS)}")
    set_limits = check_limits(limits)
    target = set_limits.get("stderr", 0.0)
    require(target < 1, "target_error", target, "below 1", "It is a share: 0.01 is one percentage point.")
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
    known = [
        name for name, x in (("n", n), ("epsilon", epsilon), ("target_error", limits.get("stderr"))) if x is not None
    ]
    if len(known) < 2:
        raise ParameterError(
            f"two of n, epsilon and target_error must be given, got {' and '.join(known) or 'none'}.",
            "n and epsilon give errors; a target error with one of them gives the smallest value of the other.",
        )
