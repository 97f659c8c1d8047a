"""Baselines of near answers as tables of whole numbers: exponential, Laplace, geometric, and the staircase of L-SRR.

The ideal probabilities are floats; the table made from them is what is sampled and what is proved. Each is calibrated:
as little as can be is left of what epsilon allows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deniable.collect.reports import Design
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Codes, Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, ParameterError, require
from deniable.kernels.tables import draw_by_row, row_thresholds
from deniable.mechanisms.metric.base import MetricMechanism, Rows
from deniable.mechanisms.metric.baselines import exponential, geometric, laplace_clamped, laplace_truncated
from deniable.mechanisms.metric.brr import line_bound
from deniable.mechanisms.metric.staircase import (
    band_groups,
    calibrated_staircase,
    group_sizes,
    prefix_groups,
    rank_groups,
    shared_levels,
    staircase,
)
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Table, kernel_from

__all__ = ["INTERVAL_POINTS", "Exponential", "Geometric", "Laplace", "Staircase", "TableMechanism", "make_table"]

INTERVAL_POINTS = 256
"""Points of an interval whose number is not given: fine, and a report still has one byte."""

_NEAR = 1e-9
"""Share by which the weights of a design may differ from those made here: floats differ in their last digits."""


@dataclass(frozen=True, kw_only=True)
class TableMechanism(MetricMechanism):
    """A mechanism whose channel is written down, each value's outputs with their weights.

    Floats may differ in their last digits from one machine to another, and then so do whole numbers made from them.
    A design carries the numbers; whoever reads it takes those, after checking that they are what they should be.
    """

    vetted: ClassVar[bool] = True

    @abstractmethod
    def ideal(self) -> FloatArray:
        """The ideal channel, made anew."""

    @cached_property
    def _ideal(self) -> FloatArray:
        self.check_matrix()
        return self.ideal()

    def matrix(self) -> FloatArray:
        """See `MetricMechanism.matrix`."""
        return self._ideal

    @cached_property
    def distances(self) -> FloatArray:
        """Losses between values and outputs; on a line in steps, whatever lies between two points."""
        if isinstance(self.domain, Space):
            return self.domain.matrix()
        where = _line_places(self.domain)
        return np.abs(where[:, None] - where)

    def bound(self) -> float | None:
        """See `MetricMechanism.bound`: that of the best codebook, on a line."""
        return line_bound(self.domain, self.losses, self.epsilon)

    # ---- client and channel

    @cached_property
    def kernel(self) -> Table:
        """See `Mechanism.kernel`."""
        return Table.calibrate(self.epsilon, self.matrix().tolist())

    @cached_property
    def _thresholds(self) -> NDArray[np.uint64]:
        return row_thresholds(self.kernel.weights)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        return {"value": draw_by_row(rng, self._thresholds, items).astype(self.fields[0].dtype)}

    def exact_rows(self) -> tuple[Rows, int]:
        """See `MetricMechanism.exact_rows`."""
        return self.kernel.weights, 1 << WORD_BITS

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        columns = list(zip(*self.kernel.weights, strict=True))
        ratios = [Fraction(max(column), min(column)) for column in columns]
        worst = max(ratios)
        y = ratios.index(worst)
        witness = Witness(f"report {y}", columns[y].index(max(columns[y])), columns[y].index(min(columns[y])))
        text = "the table has the weights of all reports; for each of them the largest was compared with the least"
        return Proof(worst, "table", text, witness)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `Mechanism.of_design`: with the weights that the design carries."""
        made = super().of_design(design, domain)
        given = kernel_from(design["kernel"])
        if not isinstance(given, Table):
            raise FormatError(f"a design of {made.name} needs a table, got a kernel of kind {given.kind!r}.")
        _check_near(given, made.kernel)
        vars(made)["kernel"] = given  # in place of the cached one
        return made


def _line_places(domain: Domain) -> FloatArray:
    """Where values lie on a line: codes at their numbers, points of a grid in steps."""
    return domain.points if isinstance(domain, Codes) else np.arange(domain.k, dtype=np.float64)


def _check_near(given: Table, made: Table) -> None:
    """Refuse the weights of a design that are not what its parameters say, up to rounding."""
    fits = (given.k, given.outputs) == (made.k, made.outputs)
    slack = 2 * made.outputs
    if not fits or any(
        abs(one - two) > _NEAR * two + slack
        for rows in zip(given.weights, made.weights, strict=True)
        for one, two in zip(*rows, strict=True)
    ):
        raise FormatError(
            "the design does not agree with itself: its table is not the one that its parameters give.",
            "It was changed, or made by another version.",
        )


def _check_variant(variant: str, known: tuple[str, ...]) -> None:
    require(variant in known, "variant", variant, f"one of {', '.join(known)}")


@dataclass(frozen=True, kw_only=True)
class Exponential(TableMechanism):
    """The exponential mechanism on the losses [BRR Eq. 5], calibrated to its exact level or as printed (half of it)."""

    family: ClassVar[str] = "exponential"
    variant: str = "calibrated"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_variant(self.variant, ("calibrated", "printed"))

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"variant": self.variant}

    def ideal(self) -> FloatArray:
        """See `TableMechanism.ideal`."""
        return exponential(self.distances, self.epsilon, calibrated=self.variant == "calibrated")


@dataclass(frozen=True, kw_only=True)
class LineTable(TableMechanism):
    """A table for values on a line only: noise has a direction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.domain, Space | Codes):
            kind = "codes" if isinstance(self.domain, Codes) else f"a space of kind {self.domain.kind!r}"
            raise ParameterError(
                f"{self.name} adds noise to points of a line at equal distances, got {kind}.",
                "Use points=N or an interval; for other spaces: exponential, lsrr, brr or codebook.",
            )


@dataclass(frozen=True, kw_only=True)
class Laplace(LineTable):
    """Laplace noise on a line, given that it stays there (truncate) or moved to the ends if it does not (clamp)."""

    family: ClassVar[str] = "laplace"
    variant: str = "truncate"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_variant(self.variant, ("truncate", "clamp"))

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"variant": self.variant}

    def ideal(self) -> FloatArray:
        """See `TableMechanism.ideal`."""
        made = laplace_truncated if self.variant == "truncate" else laplace_clamped
        return made(self.k, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Geometric(LineTable):
    """Two-sided geometric noise on a line, moved to the ends where it leaves it."""

    family: ClassVar[str] = "geometric"

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {}

    def ideal(self) -> FloatArray:
        """See `TableMechanism.ideal`."""
        return geometric(self.k, self.epsilon)


@dataclass(frozen=True, kw_only=True)
class Staircase(TableMechanism):
    """L-SRR: outputs in `size` groups from near to far, probabilities falling in equal steps [LSRR].

    Groups follow a tree over the places (quadtree of a map, halves of a line): the nearest shares size-1 of its levels,
    the farthest none. Spaces without coordinates have bands of the loss instead. `calibrated` lowers the ratio of the
    steps until the level is epsilon; `rank` gives the groups the same sizes for all values, by rank of the loss.
    """

    family: ClassVar[str] = "lsrr"
    variant: str = "calibrated"
    size: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_variant(self.variant, ("calibrated", "rank"))
        good = isinstance(self.size, int) and not isinstance(self.size, bool) and 2 <= self.size <= 16
        require(good, "size", self.size, "an integer from 2 to 16, the number of groups")

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"variant": self.variant, "size": self.size}

    @cached_property
    def groups(self) -> IntArray:
        """The group of each value's outputs, 0 the nearest."""
        near = self._nearness()
        if self.variant == "calibrated":
            return near
        require(self.size <= self.output_count, "size", self.size, f"at most {self.output_count}, one output per group")
        return rank_groups(self.distances, group_sizes(near, self.size))

    def _nearness(self) -> IntArray:
        places = self._coordinates()
        if places is None:
            return band_groups(self.distances, self.size)
        levels = range(self.size - 1, 0, -1)
        return prefix_groups(shared_levels(places, self.size - 1), tuple(levels))

    def _coordinates(self) -> FloatArray | None:
        """Where values lie: numbers of a line, vectors, or places on the map of web tiles; None if nowhere."""
        if not isinstance(self.domain, Space):
            return _line_places(self.domain)
        if self.domain.kind in ("euclidean", "manhattan", "chebyshev"):
            return np.array(self.domain.data, np.float64)
        if self.domain.kind != "places":
            return None
        latitude, longitude = np.radians(np.array(self.domain.data, np.float64)).T
        most = np.arctan(np.sinh(np.pi))  # where the square map of the world ends
        return np.stack([longitude, np.arcsinh(np.tan(np.clip(latitude, -most, most)))], axis=1)

    def ideal(self) -> FloatArray:
        """See `TableMechanism.ideal`."""
        make = calibrated_staircase if self.variant == "calibrated" else staircase
        return np.asarray(np.exp(make(self.groups, self.size, self.epsilon)))


def make_table(cls: type[TableMechanism]) -> Callable[..., TableMechanism]:
    """How the registry makes a mechanism of a class: an interval without a number of points gets `INTERVAL_POINTS`."""

    def make(*, epsilon: float, domain: Domain | Span, **options: Any) -> TableMechanism:
        if isinstance(domain, Span):
            domain = Grid.of(domain.low, domain.high, INTERVAL_POINTS, layout=domain.layout, clip=domain.clip)
        return cls(epsilon=epsilon, domain=domain, **options)

    return make
