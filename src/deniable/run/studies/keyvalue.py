"""A study of key-value collections by simulation: pairs that are known, privatised, estimated, compared with the truth.

Pairs come from a file, or are made up: one pair per person, keys as a population says, values around a mean that falls
from key to key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.datasets.spec import resolve
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate
from deniable.kernels.parallel import ahead
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.estimate import MeanPart, Score, score, shrink_means
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.keyvalue.protocols import PairStep
from deniable.mechanisms.protocol import Protocol
from deniable.randomness import Simulation, simulation
from deniable.run.files import Progress, read_columns
from deniable.run.inputs import CHUNK_VALUES, PAIR_COLUMNS, chunks_of_people, read_pairs, with_streams
from deniable.run.layout import FORMATS, Layout
from deniable.run.results import Shown
from deniable.run.studies.people import check_source
from deniable.run.studies.study import PEOPLE, Study, against, averaged, check_study, repeated

__all__ = ["shrink_means", "simulate_keyvalue"]

_SPREAD = 0.1
"""Made-up values lie so far around the mean of their key, as a share of the range."""
_ASKED = ("top", "form", "rounds")
"""Parameters of a protocol that are told: what it is asked for."""
_SCORES = ("ncr", "mse_frequency", "mse_mean", "mse_frequency_top", "mse_mean_top")


def simulate_keyvalue(
    data: str,
    make: Callable[[Domain], KeyValue | Protocol[PairSets]],
    *,
    n: int | None = None,
    domain: Domain | None = None,
    columns: Sequence[str] = PAIR_COLUMNS,
    format: str | Layout = FORMATS[0],
    duplicates: str = "refuse",
    top: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress | None = None,
    only: range | None = None,
) -> Study:
    """Collect pairs of a file, or made-up ones, `runs` times; `make` gives mechanism or protocol for the keys.

    The keys of a file are those in it, sorted, unless a `domain` is given. `top` keys are scored: how well
    the most frequent ones are found, and their errors (20 unless given, or all if there are fewer). The predicted error
    of frequencies is for these very people; None for protocols.
    """
    check_study(runs, level, n)
    root, layout = simulation(seed), Layout.of(format)
    check_source(data, None, layout)
    if layout.names_file(data):
        require(n is None, "n", n, "left out: everybody in the file takes part")
        keys = domain or _keys(data, columns[1], layout)
        m = make(keys)
        pairs = read_pairs(data, keys, m.range, columns=columns, format=layout, duplicates=duplicates)  # type: ignore[union-attr]
    else:
        k = None if domain is None else domain.k
        population = resolve(data, n=PEOPLE if n is None else n, k=k, rng=root.spawn(1)[0])
        m = make(domain or Domain.of(population.k))
        pairs = _made_up(population.values(), population.k, root.spawn(1)[0])
    wanted = _top(m, top)
    found = repeated(lambda rng: _run(m, pairs, rng, level, wanted), root, runs, progress, only)
    mse, coverage, coverage_mean = np.array([numbers for numbers, _, _ in found]).T
    own = _ASKED if isinstance(m, Protocol) else m.params
    measured = {
        "params": {name: x for name, x in m.params.items() if name in own},
        "pairs": int(pairs.keys.size),
        **against("mse", mse, None if isinstance(m, Protocol) else float(np.mean(m.expected_error(pairs)))),
        "level": level,
        **averaged("coverage", coverage),
        **averaged("coverage_mean", coverage_mean),
        "top": wanted,
        **{name: _average([getattr(scores, name) for _, scores, _ in found]) for name in _SCORES},
    }
    shown = tuple(shown for _, _, shown in found)
    return Study(made=m, data=data, n=len(pairs), seed=seed, runs=len(found), measured=measured, shown=shown)


def _top(m: KeyValue | Protocol[PairSets], top: int | None) -> int:
    own = m.params.get("top")
    if own is not None:
        return int(own)
    whole = top is None or (isinstance(top, int) and not isinstance(top, bool) and 1 <= top <= m.k)
    require(whole, "top", top, f"an integer from 1 to the number of keys, {m.k}")
    return min(20, m.k) if top is None else top


def _keys(source: str, column: str, format: Layout) -> Domain:
    """The keys in a file, sorted."""
    seen: set[str] = set()
    for (chunk,) in read_columns(source, CHUNK_VALUES, (column,), format=format):
        seen.update(str(cell) for cell in chunk.cells if cell is not None and cell != "" and cell == cell)
    if len(seen) < 2:
        hint = "Name all that there may be with --labels."
        raise ParameterError(f"{source} has {len(seen)} different keys; at least 2 are needed.", hint)
    return Domain.of(sorted(seen))


def _made_up(items: Any, k: int, rng: Simulation) -> PairSets:
    """One pair per person; means fall evenly from 0.8 to -0.8 of a range from -1 to 1."""
    means = np.linspace(0.8, -0.8, k)[items]
    values = means + 2 * _SPREAD * (2 * rng.generator().random(items.size) - 1)
    return PairSets.of((np.arange(items.size + 1), items, values), Domain.of(k), (-1.0, 1.0))


def _run(
    m: KeyValue | Protocol[PairSets], pairs: PairSets, rng: Simulation, level: float, top: int
) -> tuple[tuple[float, float, float], Score, Shown]:
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
    return numbers, scores, Shown.of(estimate, level=level, truth=f[places], truth_mean=mean)


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
