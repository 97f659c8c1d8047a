"""Baselines of near answers as tables of whole numbers: exponential, Laplace, geometric, and the staircase of L-SRR.

The ideal probabilities are floats; the table made from them is what is sampled and what is proved. Each is calibrated:
as little as can be is left of what epsilon allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.reports import Design
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Span, on_grid
from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.errors import FormatError, ParameterError, PrivacyError, require
from deniable.mechanisms.metric.base import MetricMechanism, outputs_of
from deniable.mechanisms.metric.baselines import exponential, geometric, laplace_clamped, laplace_truncated, level
from deniable.mechanisms.metric.staircase import (
    band_groups,
    calibrated_staircase,
    group_sizes,
    prefix_groups,
    rank_groups,
    shared_levels,
    staircase,
)
from deniable.mechanisms.outputs import TableBulk, check_matrix
from deniable_client.kernels import Kernel, Table

__all__ = ["TableMechanism", "make_table"]

INTERVAL_POINTS = 256
"""Points of an interval whose number is not given: fine, and a report still has one byte."""

_NEAR = 1e-9
"""Share by which the weights of a design may differ from those made here: floats differ in their last digits."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an ideal table is made of a mechanism's parameters."""

    ideal: Callable[[TableMechanism], FloatArray]
    variants: tuple[str | None, ...] = (None,)
    """The values of `variant`, the default first; None where there is only one way."""
    size: int | None = None
    """The default of `size`; None where there are no groups."""
    noise: bool = False
    """Whether it adds noise, which has a direction: it needs a line."""


@dataclass(frozen=True, kw_only=True)
class TableMechanism(MetricMechanism):
    """A mechanism whose channel is written down, each value's outputs with their weights, by one of the `RECIPES`."""

    recipe: str
    variant: str | None = None
    size: int | None = None
    """Number of groups, where outputs are in groups."""
    given: Table | None = field(default=None, repr=False)
    carries: ClassVar[type[Kernel]] = Table
    family: ClassVar[str] = "table"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self.recipe in RECIPES, "recipe", self.recipe, f"one of {', '.join(RECIPES)}")
        object.__setattr__(self, "name", self.name or self.recipe)
        super().__post_init__()
        recipe = RECIPES[self.recipe]
        if recipe.noise and self.losses.line is None:
            kind = self.domain.document().get("space", "codes")
            raise ParameterError(
                f"{self.name} adds noise to points of a line at equal distances, got a domain of kind {kind!r}.",
                "Use points=N or an interval; for other spaces: exponential, lsrr, brr or codebook.",
            )
        object.__setattr__(self, "variant", self.variant or recipe.variants[0])
        known = ", ".join(variant for variant in recipe.variants if variant)
        require(self.variant in recipe.variants, "variant", self.variant, f"one of {known}" if known else "left out")
        object.__setattr__(self, "size", _check_size(self.size, recipe.size))
        if self.recipe == "lsrr" and self.variant == "printed":
            self.matrix()  # refused at once where it is not private
        if self.given is not None:
            _check_near(self.given, self._own)
            object.__setattr__(self, "given", None if self.given == self._own else self.given)

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        """See `MetricMechanism.of_design`: the row of a design is that of its recipe."""
        name, kind = design["mechanism"], design["kernel"]["kind"]
        if kind != Table.kind:
            raise FormatError(f"a design of {name} needs a table, got a kernel of kind {kind!r}.")
        return super().of_design({**design, "params": {"recipe": name, **design["params"]}}, domain)

    @property
    def params(self) -> dict[str, Any]:
        own = {"variant": self.variant, "size": self.size}
        return {name: value for name, value in own.items() if value is not None}

    @cached_property
    def _ideal(self) -> FloatArray:
        check_matrix(self.k, self.output_count, self.name)
        return RECIPES[self.recipe].ideal(self)

    def matrix(self) -> FloatArray:
        return self._ideal

    @cached_property
    def _own(self) -> Table:
        return Table.calibrate(self.epsilon, self.matrix().tolist())

    @cached_property
    def bulk(self) -> TableBulk:
        return TableBulk(self.given or self._own, about=outputs_of(self))

    @cached_property
    def proof(self) -> Proof:
        columns = list(zip(*self.bulk.kernel.weights, strict=True))
        ratios = [Fraction(max(column), min(column)) for column in columns]
        worst = max(ratios)
        y = ratios.index(worst)
        witness = Witness(f"report {y}", columns[y].index(max(columns[y])), columns[y].index(min(columns[y])))
        text = "the table has the weights of all reports; for each of them the largest was compared with the least"
        return Proof(worst, "table", text, witness)


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


def _check_size(size: int | None, default: int | None) -> int | None:
    if default is None:
        require(size is None, "size", size, "left out where there are no groups")
        return None
    given = default if size is None else size
    good = isinstance(given, int) and not isinstance(given, bool) and 2 <= given <= 16
    require(good, "size", given, "an integer from 2 to 16, the number of groups")
    return given


# ---- recipes


def _exponential(m: TableMechanism) -> FloatArray:
    """The exponential mechanism on the losses [BRR Eq. 5], calibrated to its exact level or as printed (half of it)."""
    return exponential(m.domain.distances(), m.epsilon, calibrated=m.variant == "calibrated")


def _laplace(m: TableMechanism) -> FloatArray:
    """Laplace noise on a line, given that it stays there (truncate) or moved to the ends if it does not (clamp)."""
    made = laplace_truncated if m.variant == "truncate" else laplace_clamped
    return made(m.k, m.epsilon)


def _geometric(m: TableMechanism) -> FloatArray:
    """Two-sided geometric noise on a line, moved to the ends where it leaves it."""
    return geometric(m.k, m.epsilon)


def _staircase(m: TableMechanism) -> FloatArray:
    """L-SRR: outputs in `size` groups from near to far, probabilities falling in equal steps [LSRR].

    `calibrated` lowers the ratio of the steps until the level is epsilon; `rank` gives the groups the same sizes for
    all values, by rank of the loss. `printed` has c = e^epsilon: where groups have other sizes for other values it is
    not private, and refused.
    """
    assert m.size is not None
    near = _nearness(m.domain, m.size)
    if m.variant == "printed":
        return _printed_staircase(m, near, m.size)
    if m.variant == "calibrated":
        return np.asarray(np.exp(calibrated_staircase(near, m.size, m.epsilon)))
    require(m.size <= m.output_count, "size", m.size, f"at most {m.output_count}, one output per group")
    groups = rank_groups(m.domain.distances(), group_sizes(near, m.size))
    return np.asarray(np.exp(staircase(groups, m.size, m.epsilon)))


def _printed_staircase(m: TableMechanism, near: IntArray, size: int) -> FloatArray:
    logs = staircase(near, size, m.epsilon)
    found = level(logs)
    if found > m.epsilon * (1 + 1e-9):
        raise PrivacyError(
            f"L-SRR as printed promises epsilon {m.epsilon:g}, but its exact epsilon here is {found:.4g}: groups have "
            "other sizes for other values.",
            "Leave form out (calibrated), or look at it: deniable audit deniable.papers.leaks:staircase_as_printed.",
        )
    return np.asarray(np.exp(logs))


def _nearness(domain: Domain, size: int) -> IntArray:
    """The group of each value's outputs, 0 the nearest.

    Groups follow a tree over the places (quadtree of a map, halves of a line): the nearest shares size-1 of its levels,
    the farthest none. Spaces without coordinates have bands of the loss instead.
    """
    places = domain.coordinates()
    if places is None:
        return band_groups(domain.distances(), size)
    return prefix_groups(shared_levels(places, size - 1), tuple(range(size - 1, 0, -1)))


RECIPES: Mapping[str, Recipe] = {
    "exponential": Recipe(_exponential, ("calibrated", "printed")),
    "laplace": Recipe(_laplace, ("truncate", "clamp"), noise=True),
    "geometric": Recipe(_geometric, noise=True),
    "lsrr": Recipe(_staircase, ("calibrated", "rank", "printed"), size=3),
}
"""By the name of the registry's row."""


def make_table(recipe: str) -> Callable[..., TableMechanism]:
    """How the registry makes a mechanism by a recipe: an interval without a number of points gets `INTERVAL_POINTS`."""

    def make(*, epsilon: float, domain: Domain | Span, **options: Any) -> TableMechanism:
        return TableMechanism(epsilon=epsilon, domain=on_grid(domain, INTERVAL_POINTS), recipe=recipe, **options)

    return make
