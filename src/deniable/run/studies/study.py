"""What studies by simulation share: who took part, how often, what the runs gave, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from deniable.core.intervals import spread
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_whole, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.protocol import Protocol
from deniable.present.tables import Table, shares_table
from deniable.randomness import Simulation
from deniable.run.files import Progress
from deniable.run.results import Shown

__all__ = ["PEOPLE", "Study", "against", "averaged", "check_study", "repeated"]

PEOPLE = 10_000
"""How many people a made-up population has unless told otherwise."""
_FACTS = ("part", "range", "mechanism", "epsilon", "n", "simulated", "steps", "level", "target", "simultaneous")
_LARGEST = 10
_REPORTS = 10**10
"""Reports that a study draws at most; that many take hours."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """What `runs` independent collections from the same people gave."""

    made: Mechanism | Protocol[Any]
    data: str
    n: int
    seed: int
    runs: int
    measured: Mapping[str, Any]
    """What was measured, beside what was predicted; standard errors over the runs are None if there is only one."""
    shown: tuple[Shown, ...] = ()
    """The estimates of every run, with the truth."""
    numbers: Sequence[dict[str, Any]] = ()
    """What every run measured, where it gives no estimates."""

    def document(self) -> dict[str, Any]:
        """As plain data."""
        m = self.made
        head = {"mechanism": m.name, "epsilon": m.epsilon, "params": m.params, "data": self.data, "k": m.k}
        how = {"n": self.n, "runs": self.runs, "seed": self.seed, "simulated": True}
        first = [{key: x for key, x in s.document().items() if key not in _FACTS} for s in self.shown[:1]]
        return head | how | dict(self.measured) | ({"first": first[0]} if first else {})

    def rows(self) -> list[dict[str, Any]]:
        """One row per run, or per run and label."""
        every = [s.rows() for s in self.shown] or [[{**row, "simulated": True}] for row in self.numbers]
        return [{"run": run, **row} for run, rows in enumerate(every, start=1) for row in rows]

    def parts(self, table: Table) -> list[Table | str]:
        """For people: a table of what was measured, and the largest estimates of the first run."""
        found: list[Table | str] = [table]
        if self.shown:
            first, largest = self.shown[0], self.shown[0].top(_LARGEST)
            several = f"{', projected' * first.projected}: the {len(largest.labels)} largest of {first.total:,} "
            found.append("First run:" if first.numbers else f"First run{several}estimates.")
            level = first.facts["level"]
            found.append(shares_table(largest.columns, largest.labels, level=level, numbers=first.numbers))
        return found


def against(name: str, values: FloatArray, predicted: float | None) -> dict[str, Any]:
    """A measured error beside the predicted one, and their ratio, where there is a prediction."""
    found: dict[str, Any] = {name: float(values.mean()), f"{name}_predicted": predicted}
    if predicted is None:
        return found
    if predicted == 0:
        return found | {"ratio": 1.0, "ratio_stderr": None}
    return found | {"ratio": found[name] / predicted, "ratio_stderr": spread(values / predicted)}


def averaged(name: str, values: FloatArray) -> dict[str, Any]:
    """The mean over the runs, with its standard error."""
    return {name: float(values.mean()), f"{name}_stderr": spread(values)}


def check_study(runs: int, level: float = 0.95, n: int | None = None) -> None:
    """Refuse what no study can be made with, and what would take days."""
    require(is_whole(runs, 1), "runs", runs, "an integer >= 1", "The collection is repeated so often.")
    require(n is None or is_whole(n, 1), "n", n, "an integer >= 1", "So many people take part.")
    reports = runs * (1 if n is None else n)
    if reports > _REPORTS:
        hint = "Simulate fewer: closed forms (`deniable design`) give the errors for any number of reports."
        raise ParameterError(f"n and runs must give at most {_REPORTS:,} reports, got {reports:,}.", hint)
    require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")


def repeated(
    one: Callable[[Simulation], T],
    root: Simulation,
    runs: int,
    progress: Progress | None = None,
    only: range | None = None,
) -> list[T]:
    """What `runs` runs gave, each with a stream of its own; `progress` hears of 0 runs once all is in order.

    With `only`, just these of them are run, the first being number 0: each as it is among all.
    """
    found, streams = [], root.spawn(runs)
    if progress is not None:
        progress(0, runs)
    for run in range(runs) if only is None else only:
        found.append(one(streams[run]))
        if progress is not None:
            progress(len(found), runs)
    return found
