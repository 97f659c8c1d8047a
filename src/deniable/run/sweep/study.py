"""`dn.study`: all combinations of mechanisms and budgets on one population, measured beside their closed forms."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.values import cells_of as values_of
from deniable.core.values import is_missing
from deniable.datasets.population import Population
from deniable.errors import InWords, ParameterError, is_number, is_whole, require
from deniable.mechanisms.entry import RELEASE
from deniable.run.files import Progress
from deniable.run.layout import Layout
from deniable.run.questions import Question
from deniable.run.studies.study import PEOPLE, check_study
from deniable.run.sweep.cells import Cell, Job, cells_of, question_for
from deniable.run.sweep.journal import Done
from deniable.run.sweep.metrics import LOSS, Metric, OwnMetric, metrics_of, number_of
from deniable.run.sweep.result import Sweep
from deniable.run.sweep.workers import done, usual

__all__ = ["study"]

_MOST = 700
"""Beyond it e^epsilon is not a float."""
_CHUNK = 2_000_000
"""Reports of a job: what is lost at most, for each process, when a study is stopped."""


def study(
    mechanisms: object,
    epsilons: Sequence[float] | float = (),
    *,
    data: object = "zipf",
    k: int | None = None,
    labels: Sequence[str] | None = None,
    domain: Domain | None = None,
    n: int | None = None,
    metrics: object = None,
    runs: int = 20,
    seed: int = 0,
    resume: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Measure every mechanism at every epsilon on a known population, `runs` times.

    `mechanisms`: names (`"ss"`, `"ue:p=0.4"`, or `("ue", {"p": 0.4})`), mechanisms that are made already, which stand
    at their own epsilon, or functions that make one for an epsilon; a mapping gives them labels. `data` is named as in
    `deniable simulate`, or is a `Population`, or people's values. `metrics`: mse (the usual one), mae, wasserstein,
    ndcg, f1 and ncr (`ndcg:10`: of the ten most frequent answers), best guess, loss; or functions of the estimated and
    the true shares. Every run is the same as that of a single `simulate` with this seed.
    Work is done by several processes (`workers`). With `resume`, a file keeps what is done: a study that was stopped
    and is asked for again goes on from there, with the same result. `progress` hears how many runs are done.

    >>> import deniable as dn
    >>> found = dn.study(["grr", "oue"], [1, 2], data="uniform", k=8, n=1000, runs=5)
    >>> [(row["mechanism"], row["epsilon"], row["mse"] > 0) for row in found.rows()][:2]
    [('grr', 1.0, True), ('grr', 2.0, True)]
    """
    check_study(runs, n=n)
    require(is_whole(seed, 0), "seed", seed, "an integer >= 0")
    cells = cells_of(_listed(mechanisms), _budgets(epsilons))
    require(len(cells) > 0, "mechanisms", mechanisms, "at least one", 'For example ["grr", "ss"].')
    asked = question_for(cells)
    named, own = metrics_of(metrics, LOSS if asked.name == RELEASE else "mse")
    release = asked.name == RELEASE and bool(own)
    require(not release, "metrics", sorted(own), "names: near answers have no estimates")
    people = _people(data)
    where = _domain(cells, {"k": k, "labels": labels, "domain": domain}, people)
    cells = [_checked(cell, where, n) for cell in cells]
    what = {
        "mechanisms": [cell.told() for cell in cells],
        "data": _told(people),
        "domain": None if where is None else where.document(),
        "n": n,
        "metrics": [*(m.name for m in named), *own],
        "runs": int(runs),
        "seed": int(seed),
    }
    journal = Done(resume, what)
    try:
        jobs = _jobs(cells, journal, Job(cells[0], people, n, where, int(runs), range(0), int(seed), named, bool(own)))
        _work(jobs, cells, asked, own, journal, workers, int(runs) * len(cells), progress)
    finally:
        journal.close()
    return _result(cells, journal, named, own, int(runs), int(seed))


def _listed(mechanisms: Any) -> list[Any]:
    """What was given, one by one; those of a mapping with their labels."""
    if isinstance(mechanisms, Mapping):
        return [(label, each) for label, each in mechanisms.items()]
    if isinstance(mechanisms, str) or callable(mechanisms) or hasattr(mechanisms, "epsilon"):
        return [mechanisms]
    hint = 'For example ["grr", "ss"].'
    require(isinstance(mechanisms, Iterable), "mechanisms", mechanisms, "names or mechanisms, or a mapping", hint)
    return list(mechanisms)


def _budgets(epsilons: Any) -> list[float]:
    given = [epsilons] if isinstance(epsilons, str | bytes) or np.ndim(epsilons) == 0 else list(epsilons)
    odd = [epsilon for epsilon in given if not (is_number(epsilon) and 0 < epsilon <= _MOST)]
    require(not odd, "epsilons", odd, f"numbers > 0 and at most {_MOST}")
    found = sorted(map(float, given))
    require(len({*found}) == len(found), "epsilons", given, "different from each other")
    return found


def _people(data: Any) -> str | Population:
    """A population by its name, as it is, or of people's values."""
    if isinstance(data, str | Population):
        return data
    if isinstance(data, os.PathLike):
        return str(Path(data))
    hint = "For example data='zipf', a Population, or a list with the value of every person."
    require(data is not None, "data", data, "a population, its name, or people's values", hint)
    cells = values_of(data)
    require(cells.size > 0, "data", data, "a population, its name, or people's values", hint)
    lost = next((i for i, cell in enumerate(cells.tolist()) if is_missing(cell)), None)
    require(
        lost is None, "data", InWords(f"none at position {lost}"), "a value for every person", "Leave such people out."
    )
    found, counts = np.unique(np.asarray([str(value) for value in cells.tolist()]), return_counts=True)
    names: list[str] = found.tolist()
    order = sorted(range(len(names)), key=lambda i: (_number(names[i]), names[i]))
    return Population("values", tuple(names[i] for i in order), counts[order])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.inf


def _domain(cells: Sequence[Cell], given: Mapping[str, Any], people: str | Population) -> Domain | None:
    """The one that is given, or that of mechanisms that are made already, or None where the data say it."""
    if any(what is not None for what in given.values()):
        return Domain.given(**given)
    own: list[Domain] = [cell.made.domain for cell in cells if cell.made is not None]
    if own:
        return own[0]
    return None if isinstance(people, str) else Domain.of(people.labels)


def _checked(cell: Cell, domain: Domain | None, n: int | None) -> Cell:
    """The cell, refused now if its mechanism cannot be made for the domain, or has another one."""
    if domain is None and not cell.placed:
        return cell
    try:
        m = cell.make(domain, n=n)
    except ParameterError as error:
        at = "" if cell.epsilon is None else f" at epsilon {cell.epsilon:g}"
        raise ParameterError(f"{cell.label}{at} cannot be made: {error.message}", error.hint) from error
    fits = domain is None or cell.made is None or m.k == domain.k
    require(fits, "mechanisms", cell.label, f"for {0 if domain is None else domain.k} answers, as the others")
    return cell


def _told(people: str | Population) -> Any:
    """What tells the data from others: a name, or a hash of what is in a file or was counted."""
    if isinstance(people, Population):
        shape = repr((people.labels, people.counts.tolist())).encode()
        return {"name": people.name, "sha256": hashlib.sha256(shape).hexdigest()}
    path = Path(people)
    if Layout().names_file(people) and path.is_file():
        return {"name": people, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return people


def _jobs(cells: Sequence[Cell], journal: Done, shape: Job) -> list[tuple[int, Job]]:
    """What is left to do: neighbouring runs together, as many as are over soon."""
    size = max(1, _CHUNK // (shape.n or PEOPLE))
    found = []
    for i, cell in enumerate(cells):
        left = [run for run in range(shape.runs) if (i, run) not in journal.done]
        start = 0
        while start < len(left):
            stop = start + 1
            while stop < len(left) and stop - start < size and left[stop] == left[stop - 1] + 1:
                stop += 1
            only = range(left[start], left[stop - 1] + 1)
            job = Job(
                cell, shape.data, shape.n, shape.domain, shape.runs, only, shape.seed, shape.metrics, shape.values
            )
            found.append((i, job))
            start = stop
    return found


def _work(
    jobs: Sequence[tuple[int, Job]],
    cells: Sequence[Cell],
    asked: Question,
    own: Mapping[str, OwnMetric],
    journal: Done,
    workers: int | None,
    total: int,
    progress: Callable[[int, int | None], None] | None,
) -> None:
    """Do the jobs; what each gives is kept as soon as it is there."""
    require(workers is None or is_whole(workers, 1), "workers", workers, "an integer >= 1")
    ready = total - sum(len(job.only) for _, job in jobs)
    if progress is not None:
        progress(ready, total)
    reports = sum(len(job.only) * (job.n or PEOPLE) for _, job in jobs)
    for number, (rows, closed) in done([job for _, job in jobs], asked, int(workers or usual(reports))):
        i, job = jobs[number]
        for row in rows:
            value, truth = (np.array(row.pop(name, ())) for name in ("value", "truth"))
            row |= {name: number_of(name, function, value, truth) for name, function in own.items()}
        journal.add(i, job.only[0], rows, closed)
        ready += len(job.only)
        if progress is not None:
            progress(ready, total)


def _result(
    cells: Sequence[Cell],
    journal: Done,
    metrics: Sequence[Metric],
    own: Mapping[str, OwnMetric],
    runs: int,
    seed: int,
) -> Sweep:
    every = (*metrics, *(Metric(name, name, None, more=None) for name in own))
    facts = [{"mechanism": cell.label, **journal.closed[i], "runs": runs, "seed": seed} for i, cell in enumerate(cells)]
    found = [[journal.done[i, run] for run in range(runs)] for i in range(len(cells))]
    return Sweep(every, tuple(facts), tuple(map(tuple, found)))
