"""Temporary: mechanisms whose halves are still methods of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import Columns, FloatArray, IntArray, UintArray
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.mechanisms.base import Mechanism, refuse_broken
from deniable.mechanisms.bulk import Bulk, Cells
from deniable.mechanisms.fitting import check_tally
from deniable.randomness import Simulation, Stream


class OwnBulk(Bulk[Any]):
    """The halves of a mechanism that has them itself."""

    def __init__(self, m: Any, act: Any = None) -> None:
        object.__setattr__(self, "kernel", m.kernel)
        object.__setattr__(self, "m", m)
        object.__setattr__(self, "act", act)

    m: Any
    act: Any

    @property
    def k(self) -> int:
        return int(self.m.k)

    @property
    def fields(self) -> Any:
        return self.m.fields

    @property
    def strata(self) -> Any:
        return self.m.strata

    @property
    def outputs(self) -> Any:
        return self.m.outputs

    @property
    def inputs(self) -> Any:
        return self.m.inputs

    @property
    def sufficient(self) -> bool:
        return bool(self.m.sufficient)

    @property
    def channel_error(self) -> Any:
        return self.m.channel_error

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return (self.act or self.m.perturb)(items, rng)  # type: ignore[no-any-return]

    def count(self, columns: Columns) -> Cells:
        return self.m.count(columns)  # type: ignore[no-any-return]

    def simulate_counts(self, counts: IntArray, rng: Simulation) -> Cells:
        if type(self.m).simulate_counts is Legacy.simulate_counts:
            return super().simulate_counts(counts, rng)
        return self.m.simulate_counts(counts, rng)  # type: ignore[no-any-return]

    def channel(self) -> Channel:
        return self.m.channel()  # type: ignore[no-any-return]

    def likelihood(self, columns: Columns) -> FloatArray:
        if type(self.m).likelihood is Legacy.likelihood:
            return super().likelihood(columns)
        return self.m.likelihood(columns)  # type: ignore[no-any-return]

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        return self.m.evidence(batches)  # type: ignore[no-any-return]

    def tally_evidence(self, cells: Cells) -> Evidence:
        from deniable.collect.tally import Tally

        return self.m.tally_evidence(Tally(self.m.design, self.m.strata, cells))  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Legacy(Mechanism):
    """A mechanism that has its halves itself."""

    strata: ClassVar[Any] = ("all",)
    sufficient: ClassVar[bool] = False

    @property
    def bulk(self) -> Bulk[Any]:
        return OwnBulk(self)

    @property
    def channel_error(self) -> Fraction:
        return Fraction(0)

    @property
    def inputs(self) -> int:
        return self.k

    @property
    def row_bytes(self) -> int:
        return sum(f.width for f in self.fields)

    def simulate_counts(self, counts: Any, rng: Any) -> Any:
        return OwnBulk(self).simulate_counts(counts, rng)

    def likelihood(self, columns: Any) -> Any:
        return OwnBulk(self).likelihood(columns)

    def evidence(self, batches: Any) -> Any:
        rows = np.concatenate([np.empty((0, self.k)), *(self.likelihood(columns) for columns in batches)])
        return DenseEvidence(rows, np.ones(len(rows)))

    def tally_evidence(self, tally: Any) -> Any:
        return Bulk.tally_evidence(OwnBulk(self), tally)

    def check_tally(self, tally: Any) -> None:
        check_tally(self, tally)

    def _refuse_broken(self) -> None:
        refuse_broken(self)

    def _perturb_blocks(
        self, items: IntArray, stream: Stream, coins: UintArray | None = None, act: Callable[..., Any] | None = None
    ) -> Columns:
        return OwnBulk(self, act).draw(items, stream, coins)
