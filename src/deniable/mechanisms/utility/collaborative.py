"""Collaborative sampling: a few people first, to learn how many answers are harmless, then the rest [ULDP Sec. 5.4]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from deniable.collect.tally import Tally
from deniable.core.promise.ranges import sensitive_ranges
from deniable.core.protection import Protection
from deniable.core.types import IntArray
from deniable.errors import require
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.protocol import ItemStep, OfItems, Protocol, Step
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.make import make_utility
from deniable.mechanisms.utility.mixture import UtilityMixture, make_mixture, mixture_gain
from deniable_client.exact import exp_bounds

__all__ = ["CollaborativeSampling"]

GAIN = 0.005
"""Two subset sizes are mixed where that is predicted to lower the error by more than this share."""


@dataclass(frozen=True, kw_only=True)
class CollaborativeSampling(OfItems, Protocol[IntArray]):
    """Two steps: a first share of the people reports under a guess of theta, the rest under its estimate.

    Everyone reports once. Nothing of the first step is thrown away: both are unbiased, and pooled.

    >>> import deniable as dn
    >>> protocol = CollaborativeSampling(epsilon=1.0, domain=dn.Domain.of(50), sensitive=10)
    >>> first = protocol.first().mechanism
    >>> tally = first.tally(first.privatize([3, 40] * 100))
    >>> protocol.next([tally]).mechanism.theta == protocol.theta(tally)
    True
    """

    sensitive: object
    base: str = "ss"
    form: str = "null"
    guess: float | None = None
    """theta of the first step; the harmless share of the labels unless given."""
    first_share: float = 0.05
    mix: bool = True
    """In the second step, mix two subset sizes where that lowers the error by more than half a per cent."""
    family: ClassVar[str] = "collaborative"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.mix in (0, 1), "mix", self.mix, "1 (yes) or 0 (no): whether two subset sizes may be mixed")
        object.__setattr__(self, "mix", bool(self.mix))
        require(0 < self.first_share < 1, "first_share", self.first_share, "between 0 and 1", "5 % is 0.05.")
        require(self.form in ("null", "glutf"), "form", self.form, "null or glutf", "Others make no reports.")
        self._with(self.guess)

    @property
    def params(self) -> dict[str, Any]:
        """See `Protocol.params`; the sensitive answers as ends of half-open ranges, as mechanisms have them."""
        return super().params | {"sensitive": list(sensitive_ranges(self.sensitive, self.domain))}

    @property
    def protection(self) -> Protection:
        """See `Protocol.protection`: the second step is not known yet; none discloses more often than 1 - e^-epsilon.

        Reports that disclose nothing are at most e^epsilon times as likely for a sensitive item as for a harmless one,
        and sum to 1 for the first.
        """
        found = replace(self._with(self.guess).protection, steps="one")
        return replace(found, disclosed=1 - 1 / exp_bounds(self.epsilon)[1]) if found.sensitive else found

    @property
    def shares(self) -> tuple[float, ...]:
        return self.first_share, 1 - self.first_share

    @property
    def outline(self) -> tuple[Step[IntArray], ...]:
        """See `Protocol.outline`: people with all answers equally often."""
        first = self.first()
        made = first.mechanism
        assert isinstance(made, Utility)
        return first, self._answers((made.k - made.s) / made.k)

    def first(self) -> Step[IntArray]:
        return ItemStep(name="share of harmless answers", share=self.first_share, mechanism=self._with(self.guess))

    def next(self, tallies: Sequence[Tally]) -> Step[IntArray] | Estimate:
        """The second step; in the end, frequencies among the people of both steps."""
        require(1 <= len(tallies) <= 2, "tallies", len(tallies), "one tally per step that is over (1 or 2)")
        step = self._answers(self.theta(tallies[0]))
        if len(tallies) == 1:
            return step
        return pool([self._with(self.guess).estimate(tallies[0]), step.mechanism.estimate(tallies[1])])

    def _answers(self, theta: float) -> ItemStep:
        return ItemStep(name="answers", share=1 - self.first_share, mechanism=self._second(theta))

    def theta(self, tally: Tally) -> float:
        """The share of harmless answers estimated from the first step, moved into [0, 1]: a parameter, not a result."""
        first = self._with(self.guess)
        check_tally(first, tally)
        return first.theta if first.s in (0, first.k) else min(1.0, max(0.0, first.theta_of(tally)))

    def _second(self, theta: float) -> Utility | UtilityMixture:
        made = self._with(theta)
        mixable = self.mix and self.base == "ss" and self.form == "null" and 2 <= made.s < made.k and 0 < theta < 1
        if mixable and mixture_gain(made.s, made.k - made.s, theta, self.epsilon) > GAIN:
            return make_mixture(epsilon=self.epsilon, domain=self.domain, sensitive=self.sensitive, theta=theta)
        return made

    def _with(self, theta: float | None) -> Utility:
        where = {"epsilon": self.epsilon, "domain": self.domain, "sensitive": self.sensitive}
        return make_utility(self.base, **where, theta=theta, form=self.form)  # type: ignore[arg-type]
