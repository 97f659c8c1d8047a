"""Kernels of rows for numbers, in bulk, and the mechanisms that have them: `om` and `lu`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deniable.collect.reports import Design
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.guess import Guess
from deniable.core.support import check_n
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, ParameterError, is_whole, require
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.kernels.sampling import below, below_each, draw_by_row, row_thresholds
from deniable.mechanisms.base import report_size
from deniable.mechanisms.bulk import Cells
from deniable.mechanisms.numeric.base import Numeric
from deniable.mechanisms.numeric.certificate import LIMIT_ONE, LIMIT_TWO, Certificate, Row, least_at_centre, least_worst
from deniable.mechanisms.numeric.lattice_laws import RowsLaw
from deniable.mechanisms.numeric.optimum import (
    EPSILON_LEAST,
    EPSILON_MOST,
    Aim,
    Progress,
    best_measure,
    most_weighed,
    prove_bound,
    usual_half,
)
from deniable.mechanisms.numeric.options import OBJECTIVES
from deniable.mechanisms.numeric.whole import FINEST, log_uniform, whole_table
from deniable.mechanisms.outputs import OutputBulk, OutputReader, Weights
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Lattice, kernel_from

if TYPE_CHECKING:
    _Numbers = Numeric
else:
    _Numbers = object

__all__ = ["LogUniform", "OptimalMean"]

_OUTPUTS = 256
"""Outputs unless told otherwise, at most: a report has one byte."""
_OUTPUTS_LU = 16
"""Outputs of `lu`: its error is then within a thousandth of what it can be."""
_GAP_MOST = 0.03
"""A design that is farther above the bound is refused."""
_POINTS_MOST = 513
_COARSE = 1024
"""Numbers of a made-up population lie on so many cells."""


class _RowsReader(OutputReader):
    """Fits are of the places: a number between two of them counts as a part of each."""

    bulk: LatticeBulk

    def tally_evidence(self, cells: Cells) -> Evidence:
        counts = cells["value"][0]
        seen = np.flatnonzero(counts)
        return DenseEvidence(np.ascontiguousarray(self.bulk.law.table.T[seen]), counts[seen].astype(np.float64))

    def labels(self, domain: Domain) -> tuple[str, ...]:
        """See `Reader.labels`: the numbers at the places."""
        assert isinstance(domain, Grid)
        return tuple(f"{number:.6g}" for number in domain.at(np.array(self.bulk.kernel.places)).tolist())


class LatticeBulk(OutputBulk[Lattice]):
    """Rounding by chance to a place, and its row, for many people."""

    reads = _RowsReader

    @cached_property
    def law(self) -> RowsLaw:
        """The law of what is sampled."""
        return RowsLaw(self.kernel)

    @cached_property
    def _places(self) -> IntArray:
        return np.array(self.kernel.places, np.int64)

    @cached_property
    def _thresholds(self) -> NDArray[np.uint64]:
        return row_thresholds([self.kernel.row(i) for i in range(self.kernel.points)])

    def _between(self, items: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The place at or before each item but the last, how far the item is from it, and how far the next one is."""
        gaps = np.diff(self._places)
        if (gaps == gaps[0]).all():
            row = np.minimum(items // gaps[0], gaps.size - 1)
        else:
            row = np.minimum(np.searchsorted(self._places, items, side="right") - 1, gaps.size - 1)
        return row, items - self._places[row], gaps[row]

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        row, off, gap = self._between(items)
        same = bool((gap == gap[:1]).all())
        drawn = below(rng, int(gap[0]), items.size) if same and items.size else below_each(rng, gap)
        return {"value": draw_by_row(rng, self._thresholds, row + (drawn < off)).astype(self.fields[0].dtype)}

    def weights(self) -> Weights:
        scale = math.lcm(*(end - start for start, end in pairwise(self.kernel.places)))
        rows = [self.kernel.row(i) for i in range(self.kernel.points)]
        made = [[scale * weight for weight in rows[0]]]
        for i, (start, end) in enumerate(pairwise(self.kernel.places)):
            part = scale // (end - start)
            pairs = list(zip(rows[i], rows[i + 1], strict=True))
            made += [
                [part * ((end - x) * one + (x - start) * two) for one, two in pairs] for x in range(start + 1, end + 1)
            ]
        return made, scale << WORD_BITS

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        held = np.flatnonzero(counts)
        return self.simulate_items(held, counts[held], rng)

    def simulate_items(self, items: IntArray, counts: IntArray, rng: Simulation) -> Cells:
        """The cells of the tally of counts[i] people with the number items[i] each, drawn without any report."""
        row, off, gap = self._between(items)
        generator = rng.generator()
        up = generator.binomial(counts, off / gap)
        people = np.zeros(self.kernel.points, np.int64)
        np.add.at(people, row, counts - up)
        np.add.at(people, row + 1, up)
        drawn = generator.multinomial(people, self.law.table).sum(axis=0)
        return {"n": np.array([counts.sum()], np.int64), "value": np.asarray(drawn, np.int64)[None, :]}


class _Rows(_Numbers):
    """Mechanisms whose integers are rows of weights: the design carries them, and its reader does not search again."""

    table: Lattice
    finest: ClassVar[int] = FINEST

    def __post_init__(self) -> None:
        super().__post_init__()
        same = self.k == self.table.k and self.grid.layout == "endpoints"
        require(same, "domain", self.domain, f"a grid of {self.table.k} points from end to end, as the table has")

    @classmethod
    def of_design(cls, design: Design, domain: Domain) -> Self:
        own = {name: value for name, value in design["params"].items() if name not in ("points", "outputs")}
        table = kernel_from(design["kernel"])
        given: dict[str, Any] = {"table": table, "name": design["mechanism"], **own}
        return cls(epsilon=design["epsilon"], domain=domain, **given)

    @cached_property
    def bulk(self) -> LatticeBulk:
        return LatticeBulk(self.table)

    @property
    def law(self) -> RowsLaw:  # type: ignore[override]  # it has all that is asked of a law
        return self.bulk.law

    law_exact = law  # type: ignore[assignment]  # the integers are all there is

    @property
    def params(self) -> dict[str, Any]:
        return {"points": self.table.points, "outputs": self.table.outputs}

    def entry_names(self, cell: str) -> Sequence[str]:
        """See `Mechanism.entry_names`: reports are counted, whatever the numbers of the interval are."""
        return tuple(str(y) for y in range(self.bulk.cells[cell].size))

    @cached_property
    def coarse(self) -> tuple[Grid, IntArray]:
        """See `Numeric.coarse`: some numbers from end to end."""
        cells = min(self.k - 1, _COARSE)
        grid = Grid.of(self.grid.low, self.grid.high, cells + 1, layout="endpoints", clip=self.grid.clip)
        return grid, np.rint(np.linspace(0, self.k - 1, cells + 1)).astype(np.int64)

    @cached_property
    def proof(self) -> Proof:
        found, kernel = self.table.ratio, self.table
        text = (
            "rounding mixes the rows of two places, so no likelihood is beyond those of the rows; in the rows "
            "the weight of every output is between its least and its most"
        )
        pairs = [(Fraction(high, low), y) for y, (low, high) in enumerate(kernel.extremes())]
        _, worst = max(pairs)
        column = [kernel.row(i)[worst] for i in range(kernel.points)]
        likely, rare = (kernel.places[column.index(end)] for end in (max(column), min(column)))
        return Proof(found, "rows of whole numbers", text, Witness(f"report {worst}", likely, rare))

    # ---- closed forms

    @property
    def unit(self) -> float:
        """A squared step of the grid in squared halves of the interval."""
        return (2 / (self.k - 1)) ** 2

    def guess_half(self) -> Guess:
        middle, law = self.k // 2, self.law
        half = law.shares(middle, middle + 1) / 2 if self.k % 2 else 0.0
        sides = law.shares(0, middle) + half, law.shares(self.k - middle, self.k) + half
        lower, upper = (side / self.k @ law.table for side in sides)
        return Guess(float(np.maximum(lower, upper).sum()), 0.5)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the largest variance in units of the half interval, beside the least there is."""
        size = {"bits": math.log2(self.law.answers)} | report_size(self)
        return self._numbers(self.law, n) | {"asr": self.guess().success} | size | self._against(check_n(n))

    def _numbers(self, law: Any, n: float) -> dict[str, float]:
        worst, step = float(law.worst), self.grid.step**2
        return {"variance_mean": worst * self.unit / check_n(n), "variance_worst": worst * step / n} | {
            "variance_even": float(law.average) * step / n
        }

    def _against(self, n: float) -> dict[str, Any]:
        """The least variance that any mechanism can have, and how far above it this one is."""
        value, bound = self.value, self.bound
        told = {"value": value / n, "bound": bound / n, "gap": value / bound - 1, "by": self.proved_by}
        return {"bound": bound / n, "gap": told["gap"], "certificate": told}

    @property
    def value(self) -> float:
        """What is least: the largest variance of one report, in units of the half interval."""
        return float(self.law.worst) * self.unit

    @property
    def bound(self) -> float:
        """The least that it can be for any unbiased mechanism with this epsilon, whatever its reports are."""
        return least_worst(self.epsilon)

    @property
    def proved_by(self) -> str:
        """Which formula of docs/maths/mean-optimum.md proves the bound."""
        return "(I)" if self.epsilon <= LIMIT_ONE else "(II)" if self.epsilon <= LIMIT_TWO else "(O2)"


def _fine_grid(domain: Domain | Span, k: int) -> Grid:
    """The grid of k points on the interval that is given."""
    hint = "Give interval=(low, high); points=N are those that have a row of their own."
    if isinstance(domain, Grid):
        require(domain.k == k and domain.layout == "endpoints", "domain", domain.allowed, "an interval", hint)
        return domain
    if not isinstance(domain, Span):
        raise ParameterError(f"domain must be an interval of numbers, got {domain.allowed}.", hint)
    return Grid.of(domain.low, domain.high, k, layout="endpoints", clip=domain.clip)


@dataclass(frozen=True, kw_only=True)
class OptimalMean(_Rows, Numeric):
    """The least largest variance that any unbiased mechanism for means has, nearly, in whole numbers; or another aim.

    The `certificate` proves how near (docs/maths/mean-optimum.md).
    """

    table: Lattice
    objective: str = "worst"
    certificate: tuple[Row, ...] = ()
    family: ClassVar[str] = "om"

    def __post_init__(self) -> None:
        require(self.objective in OBJECTIVES, "objective", self.objective, f"one of {', '.join(OBJECTIVES)}")
        object.__setattr__(self, "certificate", tuple(tuple(map(int, row)) for row in self.certificate))
        super().__post_init__()

    @classmethod
    def optimal(
        cls,
        *,
        epsilon: float,
        domain: Domain | Span,
        points: int | None = None,
        outputs: int | None = None,
        objective: str | None = None,
        prior: object = None,
        fine: int | None = None,
        progress: Progress | None = None,
    ) -> OptimalMean:
        """The best table: `points` have a row of their own, an odd number; a report is one of at most `outputs`.

        `objective`: the largest variance (worst), its mean over equally likely points (even), that in the middle
        (centre), or its mean by `prior`, a weight for each point. `progress` hears what is done.
        """
        epsilon = _check_range(check_epsilon(epsilon))
        objective = objective or ("worst" if prior is None else "prior")
        require(objective in OBJECTIVES, "objective", objective, f"one of {', '.join(OBJECTIVES)}")
        weights = _check_prior(objective, prior)
        half = _check_points(epsilon, points, weights)
        if objective in ("even", "prior"):
            _check_weighed(epsilon, 2 * half + 1)
        most = _OUTPUTS if outputs is None else outputs
        require(is_whole(most, 2, 1 << 10), "outputs", outputs, "an integer from 2 to 1024")
        aim = Aim(half, _weights(objective, half, weights))
        values, measure = best_measure(epsilon, aim, most, progress)
        _check_room(values, half, outputs)
        table = whole_table(epsilon, half, values, measure, fine)
        rows = () if _closed(objective, epsilon) else prove_bound(epsilon, aim, progress).rows
        made = cls(
            epsilon=epsilon, domain=_fine_grid(domain, table.k), table=table, objective=objective, certificate=rows
        )
        hint = "Take more outputs, more points, or another objective."
        told = f"{100 * (made.value / made.bound - 1):.3g} % above the least error"
        require(
            made.value <= (1 + _GAP_MOST) * made.bound, "design", told, f"at most {100 * _GAP_MOST:g} % above", hint
        )
        return made

    def at(self, epsilon: float) -> Self:
        """See `Mechanism.at`: the best table for the other epsilon on the same grid, with the same weights."""
        if epsilon == self.epsilon:  # another search would go by weights that were rounded for the certificate
            return self
        own: dict[str, Any] = {"points": self.table.points, "outputs": self.table.outputs, "objective": self.objective}
        fine = int(math.log2((self.k - 1) // (self.table.points - 1)))
        prior = self.weights if self.objective == "prior" else None
        made: Any = self.optimal(epsilon=epsilon, domain=self.domain, prior=prior, fine=fine, **own)
        return made  # type: ignore[no-any-return]

    @property
    def params(self) -> dict[str, Any]:
        rows = [list(row) for row in self.certificate]
        return {**super().params, "objective": self.objective, "certificate": rows}

    @property
    def proof_of_bound(self) -> Certificate:
        """The certificate that the design carries, to be checked by whoever reads it."""
        return Certificate(self.certificate, all(X >= 0 for X, *_ in self.certificate))

    @cached_property
    def weights(self) -> list[int]:
        """The weight of each point, where a mean of variances is least: the P of the certificate."""
        half = self.table.points // 2
        found = [0] * self.table.points
        if self.objective == "centre":
            found[half] = 1
        for X, D, P, _, _ in self.proof_of_bound.all_rows():
            if X * half % D:
                raise FormatError(f"the certificate has the point {X}/{D}, which is none of the design's.")
            found[half + X * half // D] += P
        return found

    @cached_property
    def value(self) -> float:
        """What is least: the largest variance of one report, or a mean of them, in units of the half interval."""
        if self.objective == "worst":
            return super().value
        pairs = zip(self.weights, self.law.noises, strict=True)
        return float(sum((weight * noise for weight, noise in pairs), Fraction(0)) / sum(self.weights)) * self.unit

    @cached_property
    def bound(self) -> float:
        """The least that it can be: a formula, or what the certificate proves in fractions, rounded down."""
        if self.objective == "centre":
            return least_at_centre(self.epsilon)
        proved = 0.0
        if self.certificate:
            proved = math.nextafter(float(self.proof_of_bound.bound(self.epsilon)), -math.inf)
        return max(proved, least_worst(self.epsilon)) if self.objective == "worst" else proved

    @property
    def proved_by(self) -> str:
        if self.objective == "centre":
            return "(O4)"
        return super().proved_by if _closed(self.objective, self.epsilon) else f"(O1), {len(self.certificate)} points"

    def properties(self, n: float = 1) -> dict[str, Any]:
        found = super().properties(n)
        told = {} if self.objective == "worst" else {f"variance_{self.objective}": self.value / n}
        return found | told


def _check_range(epsilon: float) -> float:
    hint = "Use pm for a larger epsilon." if epsilon > EPSILON_MOST else "Use duchi for a smaller one."
    fits = EPSILON_LEAST <= epsilon <= EPSILON_MOST
    require(fits, "epsilon", epsilon, f"from {EPSILON_LEAST:g} to {EPSILON_MOST:g} for om", hint)
    return epsilon


def _check_prior(objective: str, prior: object) -> FloatArray | None:
    """Weights of the points, from numbers or a text such as "1,2,1"."""
    hint = "A weight >= 0 for each point, an odd number of them: prior=[1, 2, 1]."
    if objective != "prior":
        require(prior is None, "prior", prior, "left out unless the objective is prior")
        return None
    given = prior.split(",") if isinstance(prior, str) else prior
    try:
        found = np.array(list(given), np.float64)  # type: ignore[call-overload]  # what is no list is told by the error
    except (TypeError, ValueError):
        raise ParameterError("prior must be weights of the points.", hint) from None
    fits = found.ndim == 1 and found.size % 2 == 1 and found.size >= 3 and bool(np.isfinite(found).all())
    fits = fits and bool((found >= 0).all()) and 0 < found.sum() < math.inf
    require(fits, "prior", prior, "an odd number of finite weights >= 0, not all of them 0", hint)
    return np.asarray(found / found.sum())


def _check_points(epsilon: float, points: int | None, weights: FloatArray | None) -> int:
    """Half the points."""
    if points is None:
        return usual_half(epsilon) if weights is None else weights.size // 2
    need = f"an odd integer from 3 to {_POINTS_MOST}"
    require(
        is_whole(points, 3, _POINTS_MOST) and points % 2 == 1, "points", points, need, "The middle is a point, too."
    )
    fits = weights is None or weights.size == points
    require(fits, "points", points, "as many as the prior has weights")
    return int(points) // 2


def _check_weighed(epsilon: float, points: int) -> None:
    """Refuse more points with weights than a program can have."""
    most = most_weighed(epsilon)
    hint = "Add the weights of neighbours; objectives worst and centre take more points."
    need = f"at most {most} at epsilon {epsilon:g} where the mean over all of them is least"
    require(points <= most, "points", points, need, hint)


def _weights(objective: str, half: int, prior: FloatArray | None) -> FloatArray | None:
    if objective == "even":
        return np.full(2 * half + 1, 1 / (2 * half + 1))
    if objective == "centre":
        return np.asarray(np.eye(2 * half + 1)[half])
    return prior


def _closed(objective: str, epsilon: float) -> bool:
    """Whether the bound is a formula, so that no certificate is needed."""
    return objective == "centre" or (objective == "worst" and epsilon <= LIMIT_TWO)


def _check_room(values: IntArray, half: int, outputs: int | None) -> None:
    fits = values.size >= 2 and values[0] <= -half and values[-1] >= half
    require(bool(fits), "outputs", outputs, "so many that reports reach beyond both ends", "Take more outputs.")


@dataclass(frozen=True, kw_only=True)
class LogUniform(_Rows, Numeric):
    """Estimates of either sign, log-uniform in size: the best law up to epsilon .71, without any search."""

    table: Lattice
    family: ClassVar[str] = "lu"

    @classmethod
    def over(
        cls, *, epsilon: float, domain: Domain | Span, outputs: int | None = None, fine: int | None = None
    ) -> LogUniform:
        """With so many outputs, a power of 2, all of which are whole numbers of a fine grid."""
        epsilon = check_epsilon(epsilon, sampling=True)
        many = _OUTPUTS_LU if outputs is None else outputs
        power = is_whole(many, 2, 1 << 10) and many & (many - 1) == 0
        require(
            power, "outputs", outputs, "a power of 2 from 2 to 1024", "Weights are whole numbers, the same for all."
        )
        table = log_uniform(epsilon, int(many), FINEST if fine is None else fine)
        return cls(epsilon=epsilon, domain=_fine_grid(domain, table.k), table=table)

    def at(self, epsilon: float) -> Self:
        made: Any = self.over(epsilon=epsilon, domain=self.domain, outputs=self.table.outputs, fine=self.k)
        return made  # type: ignore[no-any-return]
