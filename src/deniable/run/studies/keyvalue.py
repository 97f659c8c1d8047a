"""A study of key-value collections by simulation: pairs that are known, privatised, estimated, compared with the truth.

Pairs come from a file, or are made up: one pair per person, keys as a population says, values around a mean that falls
from key to key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.datasets.spec import resolve
from deniable.errors import ParameterError, require
from deniable.estimate.metrics import spread
from deniable.estimate.result import Estimate
from deniable.kernels.parallel import ahead
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.estimate import MeanPart, Score, score
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import PairStep
from deniable.mechanisms.protocol import Protocol
from deniable.randomness import Simulation, simulation
from deniable.run.files import FORMATS, Progress, read_columns
from deniable.run.keyvalue_files import PAIR_COLUMNS, chunks_of_people, read_pairs
from deniable.run.local import CHUNK_VALUES, with_streams
from deniable.run.results import Shares
from deniable.run.studies.frequency import PEOPLE

__all__ = ["PairStudy", "is_pair_file", "simulate_pairs"]

_SUFFIXES = (".csv", ".parquet")
_SPREAD = 0.1
"""Made-up values lie so far around the mean of their key, as a share of the range."""


def is_pair_file(data: str) -> bool:
    """Whether this names a file rather than a population."""
    return Path(data).suffix.lower() in _SUFFIXES


@dataclass(frozen=True, slots=True, eq=False)
class PairStudy:
    """What `runs` independent collections of the same pairs gave; a row of the arrays is a run."""

    made: KeyValue | Protocol[PairSets]
    data: str
    pairs: PairSets
    top: int
    seed: int
    level: float
    mse: FloatArray
    coverage: FloatArray
    coverage_mean: FloatArray
    scores: tuple[Score, ...]
    predicted: float | None
    """The squared error of frequencies that the formulas promise for these very people; None for protocols."""
    shares: tuple[Shares, ...]

    def document(self) -> dict[str, Any]:
        """As plain data; standard errors over the runs are None where there is only one."""
        m, first = self.made, self.shares[0].document()
        names = ("ncr", "mse_frequency", "mse_mean", "mse_frequency_top", "mse_mean_top")
        scores = {name: _average([getattr(s, name) for s in self.scores]) for name in names}
        found: dict[str, Any] = {
            "mechanism": m.name if isinstance(m, KeyValue) else m.family,
            "epsilon": m.epsilon,
            "params": m.params if isinstance(m, KeyValue) else _own(m),
            "data": self.data,
            "k": m.k,
            "n": len(self.pairs),
            "pairs": int(self.pairs.keys.size),
            "runs": len(self.shares),
            "seed": self.seed,
            "simulated": True,
            "mse": float(self.mse.mean()),
            "mse_predicted": self.predicted,
            "level": self.level,
            "coverage": float(self.coverage.mean()),
            "coverage_stderr": spread(self.coverage),
            "coverage_mean": float(self.coverage_mean.mean()),
            "coverage_mean_stderr": spread(self.coverage_mean),
            "top": self.top,
            **scores,
        }
        if self.predicted is not None:
            found |= {"ratio": float(self.mse.mean()) / self.predicted}
            found |= {"ratio_stderr": spread(self.mse / self.predicted)}
        facts = ("mechanism", "epsilon", "n", "simulated", "steps", "level", "target", "simultaneous", "range")
        return found | {"first": {key: value for key, value in first.items() if key not in facts}}

    def rows(self) -> list[dict[str, Any]]:
        """One row per run and key."""
        return [{"run": run, **row} for run, s in enumerate(self.shares, start=1) for row in s.rows()]


def simulate_pairs(
    data: str,
    make: Callable[[Domain], KeyValue | Protocol[PairSets]],
    *,
    n: int | None = None,
    k: int | None = None,
    columns: Sequence[str] = PAIR_COLUMNS,
    format: str = FORMATS[0],
    duplicates: str = "refuse",
    top: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress | None = None,
) -> PairStudy:
    """Collect pairs of a file, or made-up ones, `runs` times; `make` gives mechanism or protocol for the keys.

    The keys of a file are those in it, sorted, unless `k` says that they are numbers. `top` keys are scored: how well
    the most frequent ones are found, and their errors (20 unless given, or all if there are fewer).
    """
    require(runs >= 1, "runs", runs, "an integer >= 1")
    require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")
    root = simulation(seed)
    if is_pair_file(data):
        require(n is None, "n", n, "left out: everybody in the file takes part")
        keys = Domain.of(k) if k is not None else _keys(data, columns[1], format)
        m = make(keys)
        pairs = read_pairs(data, keys, m.range, columns=columns, format=format, duplicates=duplicates)  # type: ignore[union-attr]
    else:
        population = resolve(data, n=PEOPLE if n is None else n, k=k, rng=root.spawn(1)[0])
        m = make(Domain.of(population.k))
        pairs = _made_up(population.values(), population.k, root.spawn(1)[0])
    wanted = _top(m, top)
    found = []
    for run, rng in enumerate(root.spawn(runs), start=1):
        found.append(_run(m, pairs, rng, level, wanted))
        if progress is not None:
            progress(run, runs)
    mse, coverage, coverage_mean = np.array([row[0] for row in found]).T
    predicted = float(np.mean(m.expected_error(pairs))) if isinstance(m, KeyValue) else None
    scores, shares = tuple(row[1] for row in found), tuple(row[2] for row in found)
    return PairStudy(m, data, pairs, wanted, seed, level, mse, coverage, coverage_mean, scores, predicted, shares)


def _own(m: Protocol[PairSets]) -> dict[str, Any]:
    """A protocol's own parameters."""
    return {name: getattr(m, name) for name in ("top", "rounds") if hasattr(m, name)}


def _top(m: KeyValue | Protocol[PairSets], top: int | None) -> int:
    own = getattr(m, "top", None)
    if own is not None:
        return int(own)
    whole = top is None or (isinstance(top, int) and not isinstance(top, bool) and 1 <= top <= m.k)
    require(whole, "top", top, f"an integer from 1 to the number of keys, {m.k}")
    return min(20, m.k) if top is None else top


def _keys(source: str, column: str, format: str) -> Domain:
    """The keys in a file, sorted."""
    seen: set[str] = set()
    for (chunk,) in read_columns(source, CHUNK_VALUES, (column,), format=format):
        seen.update(str(cell) for cell in chunk.cells if cell is not None and cell != "" and cell == cell)
    if len(seen) < 2:
        raise ParameterError(f"{source} has {len(seen)} different keys; at least 2 are needed.", "Say --k K.")
    return Domain.of(sorted(seen))


def _made_up(items: Any, k: int, rng: Simulation) -> PairSets:
    """One pair per person; means fall evenly from 0.8 to -0.8 of a range from -1 to 1."""
    means = np.linspace(0.8, -0.8, k)[items]
    values = means + 2 * _SPREAD * (2 * rng.generator().random(items.size) - 1)
    return PairSets.of((np.arange(items.size + 1), items, values), Domain.of(k), (-1.0, 1.0))


def _run(
    m: KeyValue | Protocol[PairSets], pairs: PairSets, rng: Simulation, level: float, top: int
) -> tuple[tuple[float, float, float], Score, Shares]:
    """Error of frequencies and coverage of both intervals, the scores, and the estimates with the truth."""
    estimate, places = _collect(m, pairs, rng)
    f, unit = pairs.truth(m.k)
    part = estimate.parts["mean"]
    assert isinstance(part, MeanPart)
    mean = part.scaled(unit[places])
    some = f[places] > 0
    covered = estimate["mean"].interval(level).covers(mean)[some]
    numbers = (
        float(np.mean((estimate.value - f[places]) ** 2)),
        float(estimate.interval(level).covers(f[places]).mean()),
        float(covered.mean()) if some.any() else math.nan,
    )
    every, means = np.full((2, m.k), np.nan)  # what a protocol does not ask for comes last
    every[places], means[places] = estimate.value, part.unit
    scores = score((f, unit), every, means, top)
    return numbers, scores, Shares.of(estimate, level=level, truth=f[places], truth_mean=mean)


def _collect(m: KeyValue | Protocol[PairSets], pairs: PairSets, rng: Simulation) -> tuple[Estimate, Any]:
    """An estimate, and which keys it is of."""
    if isinstance(m, Protocol):
        estimate, steps, _ = m.run(pairs, rng)
        last = steps[-1]
        return estimate, np.array(last.places) if isinstance(last, PairStep) else np.arange(m.k)
    jobs = with_streams(chunks_of_people(m, pairs), rng)
    parts = ahead(lambda job: m.tally(m.privatize(job[0], rng=job[1])), jobs)
    return m.estimate(sum(parts, m.empty(simulated=True))), np.arange(m.k)


def _average(values: Sequence[float]) -> float | None:
    """Over the runs where there is a value."""
    known = [v for v in values if math.isfinite(v)]
    return float(np.mean(known)) if known else None
