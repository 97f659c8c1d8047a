"""Collaborative sampling: a few people first, to learn how many answers are harmless, then the rest [ULDP Sec. 5.4]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.errors import require
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate
from deniable.mechanisms.utility import Utility
from deniable.mechanisms.utility_make import make_utility
from deniable.mechanisms.utility_mixture import UtilityMixture, make_mixture, mixture_gain

__all__ = ["GAIN", "CollaborativeSampling"]

GAIN = 0.005
"""Two subset sizes are mixed where that is predicted to lower the error by more than this share."""


@dataclass(frozen=True, kw_only=True)
class CollaborativeSampling:
    """A protocol of two phases: a first share of the people reports under a guess of theta, the rest under its estimate.

    Everyone reports once. Nothing of the first phase is thrown away: both are unbiased, and pooled.

    >>> protocol = CollaborativeSampling(epsilon=1.0, domain=Domain.of(50), sensitive=10)
    >>> first = protocol.first()
    >>> tally = first.tally(first.privatize([3, 40] * 100))
    >>> second = protocol.next([tally])
    >>> second is not None and second.theta == protocol.theta(tally)
    True
    """

    epsilon: float
    domain: Domain
    sensitive: object
    base: str = "ss"
    form: str = "null"
    guess: float | None = None
    """theta of the first phase; the harmless share of the labels unless given."""
    first_share: float = 0.05
    mix: bool = True
    """In the second phase, mix two subset sizes where that lowers the error by more than half a per cent."""
    name: str = field(default="collaborative", init=False)

    def __post_init__(self) -> None:
        require(0 < self.first_share < 1, "first_share", self.first_share, "between 0 and 1", "5 % is 0.05.")
        object.__setattr__(self, "domain", Domain.of(self.domain))
        self.first()

    def first(self) -> Utility:
        """The mechanism of the first phase."""
        return self._with(self.guess)

    def next(self, tallies: Sequence[Tally]) -> Utility | UtilityMixture | None:
        """The mechanism of the next phase, given the tallies of all phases so far; None when there is none."""
        if len(tallies) != 1:
            require(len(tallies) == 2, "tallies", len(tallies), "one tally per phase that is over (1 or 2)")
            return None
        made = self._with(theta := self.theta(tallies[0]))
        mixable = self.mix and self.base == "ss" and self.form == "null" and 2 <= made.s < made.k and 0 < theta < 1
        if mixable and mixture_gain(made.s, made.k - made.s, theta, self.epsilon) > GAIN:
            return make_mixture(epsilon=self.epsilon, domain=self.domain, sensitive=self.sensitive, theta=theta)
        return made

    def theta(self, tally: Tally) -> float:
        """The estimated share of harmless answers, moved into [0, 1]: a parameter, not a result."""
        first = self.first()
        first.check_tally(tally)
        if first.s in (0, first.k):
            return first.theta
        return min(1.0, max(0.0, first.theta_of(tally)))

    def estimate(self, tallies: Sequence[Tally]) -> Estimate:
        """Frequencies among the people of both phases."""
        require(len(tallies) == 2, "tallies", len(tallies), "the tallies of both phases")
        second = self.next(tallies[:1])
        assert second is not None
        return pool([self.first().estimate(tallies[0]), second.estimate(tallies[1])])

    def _with(self, theta: float | None) -> Utility:
        return make_utility(
            self.base,
            epsilon=self.epsilon,
            domain=self.domain,
            sensitive=self.sensitive,
            theta=theta,
            form=self.form,
        )
