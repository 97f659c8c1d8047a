"""A channel that is simply written down, as a base: what makes any finite LDP mechanism a ULDP mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior
from deniable.core.promise.judge import within
from deniable.errors import InWords, PrivacyError, require
from deniable.estimate.inverse import inverse_part
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.outputs import TableBulk
from deniable_client.exact import WORD
from deniable_client.kernels import Table

__all__ = ["Explicit", "written_down"]


@dataclass(frozen=True, kw_only=True)
class Explicit(Mechanism):
    """A mechanism that is its table: for each answer, how often each output comes.

    It has no registry name of its own: designs of the ULDP mechanism that it is the base of carry the table.
    """

    table: Table
    family: ClassVar[str] = "explicit"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.table.k == self.k, "table", InWords(f"a table of {self.table.k} values"), f"one of {self.k}")

    @cached_property
    def bulk(self) -> TableBulk:
        return TableBulk(self.table)

    @property
    def params(self) -> dict[str, Any]:
        return {}

    @cached_property
    def proof(self) -> Proof:
        return self.channel().proof()

    def parts(self, tally: Tally) -> dict[str, Part]:
        check_reports(tally)
        return {"frequency": inverse_part(tally.cells["value"][0], self.bulk.matrix, tally.n, self.name)}

    def guess(self, prior: object = None) -> Guess:
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(float((pi[:, None] * self.bulk.matrix).max(axis=0).sum()), float(pi.max()))

    def properties(self, n: float = 1) -> dict[str, Any]:
        return {"asr": self.guess().success} | report_size(self)

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact, "asr": self.guess().success}


def written_down(channel: Channel, epsilon: float | None) -> Explicit:
    """A channel as a mechanism: its own epsilon unless one is given; whole 64-bit weights, as it is or the nearest.

    >>> written_down(Channel(("no", "yes"), ((3, 1), (1, 3)), 4), None).proof.ratio
    Fraction(3, 1)
    """
    found = Channel(channel.outputs, channel.weights, channel.total).proof()
    if found.ratio is None:
        raise PrivacyError(
            f"a base must not rule values out: {found.witness} has no bound.", "No epsilon allows that; add noise."
        )
    level = found.epsilon if epsilon is None else epsilon
    weights = [[Fraction(row[x], channel.total) * WORD for row in channel.weights] for x in range(channel.k)]
    if within(found.ratio, level) and all(w.denominator == 1 for row in weights for w in row):
        table = Table(tuple(tuple(map(int, row)) for row in weights))
    else:
        table = Table.calibrate(level, channel.matrix().tolist())
    return Explicit(epsilon=level, domain=Domain.of(channel.k), table=table)
