"""What all mechanisms do alike: they refuse to draw if their promise is broken, count, simulate, estimate and fit.

`Mechanism` has most of these as its own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.collect.limits import too_many
from deniable.collect.reports import Reports, difference
from deniable.collect.tally import Tally
from deniable.core.channel import Channel
from deniable.core.promise import Promise
from deniable.core.promise.judge import Pair, breach, proved
from deniable.core.protection import Protection
from deniable.core.types import IntArray
from deniable.errors import FormatError, InWords, MergeError, ParameterError, PrivacyError, require
from deniable.estimate.result import Estimate
from deniable.randomness import Simulation, Stream

if TYPE_CHECKING:
    from deniable.estimate.fit import FitOptions
    from deniable.mechanisms.base import Mechanism

__all__ = [
    "channels_of",
    "empty",
    "entry_names",
    "estimate",
    "fit",
    "fitted",
    "from_functions",
    "from_matrix",
    "in_words",
    "kept",
    "numbers_of",
    "refuse_broken",
    "simulate_tally",
    "tally",
]


def kept(m: Mechanism) -> bool:
    """Whether what is sampled keeps the promise, by the argument of the proof."""
    return _breach(m) is None


def _breach(m: Mechanism) -> Pair | None:
    """The pair that is farthest beyond its budget, by the argument of the proof."""
    proof = m.proof
    return breach(proved(m.promise, proof))


def refuse_broken(m: Mechanism) -> None:
    """`PrivacyError` for a mechanism that leaks more than it promises."""
    found = _breach(m)
    if found is not None:
        raise PrivacyError(
            f"{m.name} promises epsilon {found.budget!r} but its exact epsilon is {found.epsilon!r}; "
            "no report was made.",
            f"Witness: {found}.",
        )


def channels_of(m: Mechanism) -> list[Channel]:
    """The exact channel, or one for each level; `EnumerationError` where there are too many outputs."""
    bulk: Any = m.bulk
    return [bulk.channel_at(i) for i in range(len(m.promise.levels))] or [m.channel()]


def fitted(m: Mechanism, data: object, method: str, options: FitOptions) -> Estimate:
    """What `Mechanism.fit` does where a family has no methods of its own; loaded when somebody fits."""
    from deniable.mechanisms.fitting import fit_reports

    return fit_reports(m, data, method, options)


def in_words(m: Mechanism) -> Protection:
    """Who is protected from what: the promise in words."""
    return Protection(promise=m.promise, epsilon=m.epsilon, subject=m.subject)


def entry_names(self: Mechanism, cell: str) -> Sequence[str]:
    """The names of what the entries of a cell of its tallies are about."""
    found = self.bulk.cells[cell]
    return found.about.names(self.domain.labels_or_numbers, found.size)


def tally(self: Mechanism, reports: Reports) -> Tally:
    """Count reports of this very design."""
    hint = (
        "Answers become reports first: m.tally(m.privatize(values)). Batches are added up: "
        "sum(m.tally(part) for part in batches). Bytes of devices: "
        "m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=False))."
    )
    require(isinstance(reports, Reports), "reports", reports, "what m.privatize(values) gives", hint)
    if reports.design != self.design:
        raise MergeError(f"these reports are of another design: {difference(self.design, reports.design)}.")
    if reports.fields != self.fields:
        own, got = (", ".join(f"{f.name} ({f.width} bytes)" for f in x.fields) for x in (self, reports))
        raise FormatError(f"reports of this design have the fields {own}, got {got}.")
    known = {"sources": reports.sources, "batches": reports.batches}
    cells = self.bulk.tally(reports)
    return Tally(self.design, self.bulk.strata, cells, reports.simulated, **known, names=self.entry_names)


def numbers_of(m: Mechanism, reports: Reports) -> IntArray:
    """The numbers that reports of this very design have."""
    own = reports.design == m.design
    require(own, "reports", InWords("reports of another design"), "reports of this very design")
    return np.asarray(reports.columns["value"].astype(np.int64))


def simulate_tally(self: Mechanism, counts: object, rng: Simulation) -> Tally:
    """The tally of a population with counts[x] people of item x, in the same law as if all of them had reported.

    For studies of errors over many runs: the time depends on k, not on the number of people.
    """
    if not isinstance(rng, Simulation):
        raise ParameterError(
            f"rng must be a seeded stream, got {type(rng).__name__}.", "Give deniable.simulation(seed)."
        )
    people = np.asarray(counts)
    whole = people.shape == (self.k,) and np.issubdtype(people.dtype, np.integer) and bool((people >= 0).all())
    require(whole, "counts", counts, f"{self.k} whole numbers >= 0, one per item")
    refuse_broken(self)
    cells = self.bulk.simulate_counts(people.astype(np.int64), rng)
    return Tally(self.design, self.bulk.strata, cells, simulated=True, names=self.entry_names)


def empty(self: Mechanism, *, simulated: bool = False, most: float = math.inf) -> Tally:
    """The tally of no reports: the identity of `+`. `FormatError` where it has more than `most` cells."""
    bulk = self.bulk
    size = sum(map(math.prod, bulk.layout.values()))
    if size > most:
        raise too_many(size)
    none = {name: np.zeros(shape, np.int64) for name, shape in bulk.layout.items()}
    return Tally(self.design, bulk.strata, none, simulated, names=self.entry_names)


def estimate(self: Mechanism, tally: Tally) -> Estimate:
    """Unbiased estimates with standard errors, from a tally of this very design."""
    from deniable.mechanisms.fitting import check_tally  # loaded when somebody estimates

    tally = check_tally(self, tally)
    steps = (f"unbiased estimate from {tally.n} reports",)
    return Estimate(self.domain.labels_or_numbers, self.parts(tally), tally.n, self.design, tally.simulated, steps)


def fit(
    self: Mechanism,
    data: object,
    method: str = "em",
    *,
    stderr: str | None = "information",
    tolerance: float | None = None,
    max_steps: int = 2000,
    runs: int = 100,
    rng: Stream | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Estimate:
    """Frequencies fitted to reports, to batches of them, or to a tally where it is `sufficient`.

    `em`: maximum likelihood, stopped when the log-likelihood is provably within `tolerance` (0.02) nats of its
    maximum. `ems`: the same iteration with smoothing, for values in an order; stopped when no value changes by more
    than `tolerance` (1e-7). `count-aware`: the linear estimator for independent bits that weighs a report by its
    number of ones, unbiased. `calibrated`: unbiased, for mechanisms with a public hash seed; what the seeds at
    hand are known to do is taken off (docs/maths/coins.md). `stderr`: from the `information`, by `bootstrap`
    (`runs` times, `rng` seeded) or None. At most `max_steps` passes over the reports; `progress` hears of each
    with what the tolerance is compared to.
    """
    from deniable.estimate.fit import FitOptions

    options = FitOptions(stderr=stderr, tolerance=tolerance, max_steps=max_steps, runs=runs, rng=rng, progress=progress)
    return self._fit(data, method, options)


def from_matrix(
    matrix: object,
    *,
    labels: Sequence[str] | None = None,
    epsilon: float | None = None,
    promise: Promise | None = None,
    outputs: Sequence[str] | None = None,
    prior: Sequence[float] | None = None,
) -> Mechanism:
    """The mechanism of a matrix of chances: a row for each answer, a column for each output.

    Entries are numbers, fractions (also as text, "1/3"), or whole numbers whose rows have one sum; columns may have
    names (`outputs`, a frame, or a mapping of names to columns), and rows those of a frame's index. `epsilon`: the
    promise, else the exact one of the whole numbers that are sampled. `promise`: limits for pairs of answers;
    `prior`: where estimates are best.

    >>> import deniable as dn
    >>> coin = dn.Mechanism.from_matrix([[3, 1], [1, 3]], labels=["no", "yes"])
    >>> coin.epsilon, dn.audit(coin).holds
    (1.0986122886681098, True)
    """
    room = import_module("deniable.mechanisms.optimal.matrix")  # which is made of mechanisms
    made: Mechanism = room.from_matrix(
        matrix, labels=labels, epsilon=epsilon, promise=promise, outputs=outputs, prior=prior
    )
    return made


def from_functions(
    perturb: Callable[[int, Any], Hashable],
    supports: Callable[[Any], Iterable[int]],
    *,
    epsilon: float | None = None,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    name: str = "own",
    trials: int = 40_000,
    seed: int = 0,
) -> Mechanism:
    """An idea that is code, for simulations: a program that perturbs, and what its reports support.

    `perturb(value, rng)` gives a report (anything that can be hashed) for a value, a number from 0 to k-1, and draws
    from `rng` as NumPy's generators do; `supports(report)` gives the values that it supports. Where the program only
    compares `rng.random()` and takes `rng.integers` and `rng.choice`, it is followed along all branches: the channel,
    its epsilon and the support probabilities are exact. Else these are measured from `trials` reports of a `seed`,
    and `epsilon` is what you claim. It is never vetted, and no device and no collection takes it.

    >>> import deniable as dn
    >>> def keep(value, rng):
    ...     return value if rng.random() < 0.5 else int(rng.integers(4))
    >>> idea = dn.Mechanism.from_functions(keep, lambda report: [report], k=4)
    >>> idea.support.p, idea.support.q, round(idea.epsilon, 3)
    (0.625, 0.125, 1.609)
    """
    from deniable.mechanisms.functions import from_functions as made  # which is made of mechanisms

    return made(perturb, supports, epsilon=epsilon, k=k, labels=labels, name=name, trials=trials, seed=seed)
