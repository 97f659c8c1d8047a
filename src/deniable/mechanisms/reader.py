"""What reports and tallies say about frequencies: the likelihoods that fits and attacks read, beside each bulk.

A bulk whose likelihood is written out has a `reader` of its own; one that has none gives the plain one, which says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import Columns, FloatArray
from deniable.errors import ParameterError
from deniable.estimate.calibrated import PublicCoin
from deniable.estimate.evidence import DenseEvidence, Evidence, PackedRows, RowEvidence
from deniable.estimate.methods import BITS, LIKELIHOOD
from deniable.kernels.parallel import blocks
from deniable.mechanisms.possible import Cells

if TYPE_CHECKING:
    from deniable.mechanisms.bulk import Bulk, SupportBulk

__all__ = ["NumberReader", "Reader", "SupportReader"]

B = TypeVar("B", bound="Bulk[Any]")
S = TypeVar("S", bound="SupportBulk[Any]")


@dataclass(frozen=True, eq=False)
class Reader(Generic[B]):
    """Reports of a bulk, seen through their likelihood."""

    bulk: B

    @property
    def known(self) -> bool:
        """Whether `likelihood` is written out."""
        return type(self).likelihood is not Reader.likelihood

    @property
    def traits(self) -> tuple[str, ...]:
        """What reports have that methods of `estimate.methods` need."""
        return (LIKELIHOOD,) if self.known else ()

    @property
    def coins(self) -> PublicCoin | None:
        """The reports' public coins, where there is a law given the coin; else None."""
        return None

    def likelihood(self, columns: Columns) -> FloatArray:
        """Likelihood of every value given each report, up to a factor per report; `ParameterError` where not known."""
        kind = self.bulk.kernel.kind
        raise ParameterError(
            f"the likelihood of {kind} kernels is not written out, so nothing can be fitted to reports.",
            "Use estimate(), or another mechanism.",
        )

    @property
    def blind_likelihood(self) -> float | None:
        """Likelihood of a blind report on the scale of `likelihood`, where that is one number for all; else None."""
        return None

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """What batches of reports say about the frequencies."""
        rows = np.concatenate([np.empty((0, self.bulk.k)), *(self.likelihood(columns) for columns in batches)])
        return DenseEvidence(rows, np.ones(len(rows)))

    def labels(self, domain: Domain) -> tuple[str, ...]:
        """What the evidence is about: the answers of a domain, unless a kernel has fewer rows than answers."""
        return domain.labels_or_numbers

    @property
    def sufficient(self) -> bool:
        """Whether the tally tells as much about the frequencies as the reports do: it counts every possible report."""
        return False

    def tally_evidence(self, cells: Cells) -> Evidence:
        """What a tally says about the frequencies, where it is `sufficient`."""
        raise ParameterError("a tally of this mechanism tells less than its reports; give the reports.")


class SupportReader(Reader[S]):
    """Reports that support items: a supported value is `odds` times as likely as one that is not."""

    @property
    def traits(self) -> tuple[str, ...]:
        return super().traits if self.bulk.size_law is None else (*super().traits, BITS)

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: 1 where a value is supported, else 1/`odds`."""
        member = np.unpackbits(self.bulk.supported(columns), axis=1, count=self.bulk.k, bitorder="little")
        return np.where(member == 1, 1.0, 1 / self.bulk.odds)

    @property
    def blind_likelihood(self) -> float | None:
        """See `Reader.blind_likelihood`: 1/odds is (1 - p + p/odds) times that of a blind report."""
        odds, support = self.bulk.odds, self.bulk.support
        return 1 / odds / (float(support.p_not) + float(support.p) / odds)

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """See `Reader.evidence`: the supported items, packed."""
        rows = PackedRows.of([self.bulk.supported(columns) for columns in batches], self.bulk.k)
        return RowEvidence(rows, self.bulk.odds, self.bulk.size_law)


class NumberReader(SupportReader[S]):
    """The same for reports that are one number, how often each of which was reported is the cell `value`."""

    sufficient = True

    def tally_evidence(self, cells: Cells) -> Evidence:
        bulk, counts = self.bulk, cells["value"][0]
        outputs = [
            np.arange(part.start, part.stop, dtype=bulk.fields[0].dtype) for part in blocks(counts.size, 1 << 12)
        ]
        rows = PackedRows.of([bulk.supported({"value": values}) for values in outputs], bulk.k, counts)
        return RowEvidence(rows, bulk.odds, complete=True)
