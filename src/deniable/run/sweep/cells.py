"""The cells of a sweep: a mechanism at a budget, and what one of them gives, run by run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deniable.audit.reconstruction import attack
from deniable.collect.codec import canonical
from deniable.core.domain import Domain
from deniable.datasets.population import Population
from deniable.errors import ParameterError, require, show
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import DIRECTION, RELEASE
from deniable.mechanisms.protocol import Protocol
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS, entry_of, mechanism, protocol
from deniable.mechanisms.spaces import SPACE
from deniable.run.given.named import read_named
from deniable.run.questions import QUESTIONS, Question
from deniable.run.studies.study import Study
from deniable.run.sweep.metrics import GUESS, LOSS, Metric

__all__ = ["Cell", "Job", "cells_of", "measured", "question_for"]

_Rows: TypeAlias = list[dict[str, Any]]
"""What runs measured: numbers by the names of the metrics, None where there is none."""

_ATTACKED = 2000
"""Reports of a run that are attacked."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A mechanism at a budget: by its name and options, or made already."""

    label: str
    epsilon: float | None
    name: str
    options: Mapping[str, Any]
    made: Any = None

    def make(self, domain: Domain | None = None, *, n: int | None = None) -> Mechanism | Protocol[Any]:
        """The mechanism for a domain, or the one whose own options say what the domain is."""
        if self.made is not None:
            return self.made  # type: ignore[no-any-return]
        inner = entry_of(self.name).inner
        planned: dict[str, Any] = {"n": n} if n is not None and "n" in inner else {}
        where = None if self.placed else domain
        build: Callable[..., Any] = protocol if self.name in PROTOCOLS else mechanism
        return build(self.name, epsilon=self.epsilon, domain=where, **self.options, **planned)  # type: ignore[no-any-return]

    @property
    def placed(self) -> bool:
        """Whether the mechanism brings its domain."""
        return self.made is not None or any(option in SPACE for option in self.options)

    def told(self) -> dict[str, Any]:
        """What tells it from others, as plain data: of a mechanism that is made already, a hash of its design."""
        own = {"label": self.label, "epsilon": self.epsilon, "mechanism": self.name}
        if self.made is None:
            return own | {"options": {key: str(value) for key, value in self.options.items()}}
        return own | {"design": hashlib.sha256(canonical(self.made.design)).hexdigest()}


@dataclass(frozen=True, slots=True)
class Job:
    """Some runs of a cell; all that another process needs to know."""

    cell: Cell
    data: str | Population
    n: int | None
    domain: Domain | None
    runs: int
    only: range
    seed: int
    metrics: tuple[Metric, ...]
    values: bool
    """Whether estimates and truth are wanted, too, for metrics that other processes do not know."""


def cells_of(given: Sequence[Any], epsilons: Sequence[float]) -> list[Cell]:
    """All combinations, mechanism by mechanism.

    A name stands at every epsilon, and so does a function that makes a mechanism for one; a mechanism that is made
    already stands at its own.
    """
    found: list[Cell] = []
    for each in given:
        found += _of_one(each, epsilons)
    seen: dict[tuple[str, float | None], int] = {}
    for cell in found:
        seen[cell.label, cell.epsilon] = seen.get((cell.label, cell.epsilon), 0) + 1
    twice = [label for (label, _), times in seen.items() if times > 1]
    hint = "Give each a name: mechanisms={'mine': ..., 'theirs': ...}."
    require(not twice, "mechanisms", twice[:1] * 2, "different from each other", hint)
    return found


def _of_one(each: Any, epsilons: Sequence[float]) -> list[Cell]:
    label = ""
    if isinstance(each, tuple) and len(each) == 2 and not isinstance(each[1], Mapping):
        label, each = str(each[0]), each[1]
    if isinstance(each, str):
        name, options = read_named(each)
        label = label or each.strip()
    elif isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Mapping):
        name, options = read_named(str(each[0]))
        options |= each[1]
        label = label or (f"{name}:{','.join(f'{key}={value}' for key, value in options.items())}" if options else name)
    elif hasattr(each, "epsilon") and hasattr(each, "domain"):
        return [Cell(label or each.name, each.epsilon, each.name, {}, each)]
    elif callable(each):
        _some(epsilons)
        made = [each(epsilon) for epsilon in epsilons]
        odd = [m for m in made if not hasattr(m, "privatize_items")]
        require(not odd, "mechanisms", odd[:1], "functions that make a mechanism for an epsilon")
        plain = str(getattr(each, "__name__", "")).strip("<>")
        name = label or (plain if plain != "lambda" else made[0].name)
        return [Cell(name, e, m.name, {}, m) for e, m in zip(epsilons, made, strict=True)]
    else:
        need = "names, names with options, mechanisms, or functions that make one for an epsilon"
        raise ParameterError(f"mechanisms must be {need}, got {show(each)}.", 'For example ["grr", "ss"].')
    for fixed in ("epsilon", "k"):
        require(fixed not in options, fixed, options.get(fixed), f"left out of {label}: it is the same for all")
    _some(epsilons)
    return [Cell(label, epsilon, name, options) for epsilon in epsilons]


def _some(epsilons: Sequence[float]) -> None:
    hint = "For example epsilons=[0.5, 1, 2, 4]; only mechanisms that are made already have one of their own."
    require(len(epsilons) > 0, "epsilons", list(epsilons), "at least one number > 0", hint)


def question_for(cells: Sequence[Cell]) -> Question:
    """The one question that all of them answer."""
    known = {**MECHANISMS, **PROTOCOLS}
    asked = {c.label: known[c.name].question if c.name in known else "frequency" for c in cells}
    studies = {QUESTIONS[question].study for question in asked.values()}
    if len(studies) > 1:
        told = ", ".join(f"{label} ({question})" for label, question in asked.items())
        raise ParameterError(f"mechanisms must answer one question, got {told}.", "Make a study of each question.")
    found = QUESTIONS[next(iter(asked.values()))]
    hint = "`deniable simulate` measures it."
    require(found.name != DIRECTION, "mechanisms", next(iter(asked)), "about shares, means, keys or losses", hint)
    return found


def measured(job: Job, asked: Question) -> tuple[_Rows, dict[str, Any]]:
    """What the job's runs measured, each as a single `simulate` of all runs does, and the closed forms."""
    cell, own = job.cell, dict[str, Any]()
    domain = job.domain if cell.made is None else cell.made.domain
    shared = {"domain": domain, "placed": cell.made is None and cell.placed}
    own |= {name: value for name, value in shared.items() if name in asked.settings}

    def make(where: Domain | None = None) -> Mechanism | Protocol[Any]:
        return cell.make(where, n=job.n)

    study = asked.study(job.data, make, n=job.n, runs=job.runs, seed=job.seed, only=job.only, **own)
    rows: _Rows = [_row(job, study, i, asked) for i in range(len(job.only))]
    return rows, _closed_forms(study, job.metrics)


def _row(job: Job, study: Study, i: int, asked: Question) -> dict[str, Any]:
    found: dict[str, Any] = {}
    columns = study.shown[i].columns if study.shown else {}
    for metric in job.metrics:
        if metric.name == GUESS:
            found[metric.name] = _guessed(study.made, job.seed + job.only[i])
        elif asked.name == RELEASE or metric.name == LOSS:
            fits = asked.name == RELEASE and metric.name == LOSS
            require(fits, "metrics", metric.name, f"{GUESS} or {LOSS}" if asked.name == RELEASE else "about estimates")
            found[metric.name] = float(study.numbers[i]["loss"])
        else:
            whole = not metric.ranked or len(study.shown[i].labels) == study.made.k
            require(whole, "metrics", metric.name, f"without it for {job.cell.label}, which asks for some keys only")
            found[metric.name] = metric.measure(columns["value"], columns["truth"])
    if job.values and asked.name != RELEASE:
        found["value"], found["truth"] = (columns[name].tolist() for name in ("value", "truth"))
    return found


def _guessed(m: Any, seed: int) -> float | None:
    """How often the best guess was right, all answers being equally likely: as `dn.attack` with this seed does it."""
    if not isinstance(m, Mechanism) or m.takes != "values":  # of protocols there is no single report
        return None
    return attack(m, reports=_ATTACKED, seed=seed).measured


def _closed_forms(study: Study, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What is predicted, by the names of the metrics, for the integers that are sampled; and the size of a report."""
    m, numbers = study.made, study.measured
    found = {"mse": numbers.get("mse_predicted"), LOSS: numbers.get("loss_predicted")}
    single = m if isinstance(m, Mechanism) else None  # of protocols there is no single report
    if single is not None:
        found[GUESS] = _chance(single)
    told = {metric.name: found.get(metric.name) for metric in metrics}
    size = None if single is None else single.bulk.row_bytes
    return {"closed": told, "bytes": size, "epsilon": m.epsilon, "k": m.k, "n": study.n, "data": study.data}


def _chance(m: Mechanism) -> float | None:
    found = m.effective().get("asr")
    if found is None and m.takes == "values":
        found = m.guess().success
    return None if found is None or not np.isfinite(found) or math.isnan(found) else float(found)
