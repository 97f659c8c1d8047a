"""The main job in one go, told as a story: choose, prove, report, add up, estimate, compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from deniable.audit.exact import Audit, audit
from deniable.collect.codec import dump
from deniable.collect.tally import Tally
from deniable.datasets.population import Population
from deniable.datasets.tables import load
from deniable.errors import MergeError, MissingExtraError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.present.tables import Table, designs_table, percent, shares_table
from deniable.randomness import Stream, secure, simulation
from deniable.run.describe import describe
from deniable.run.files import open_output
from deniable.run.local import estimate_tally, tally_files, write_tally
from deniable.run.results import Shown

__all__ = ["FILES", "demonstrate"]

Teller: TypeAlias = Callable[[str, str, Table | None], None]
"""Called at each step with its title, a few sentences and perhaps a table."""

_DATA, _EPSILON, _LEVEL = "adult-education", 1.0, 0.95
_CANDIDATES = ("grr", "sue", "oue", "blh", "olh", "ss")
_HALVES = ("a", "b")
_REPORTS, _TALLIES = ([f"{what}-{half}.bin" for half in _HALVES] for what in ("reports", "tally"))
_WHOLE, _TABLE, _CHARTS = "tally.bin", "estimate.csv", ("estimate.html", "estimate.png")
FILES = (*_REPORTS, *_TALLIES, _WHOLE, _TABLE, *_CHARTS)
"""What is written to the folder."""


def demonstrate(folder: Path, *, seed: int | None = None, tell: Teller) -> dict[str, Any]:
    """Run the whole way on the education levels of the Adult data set and write its files to a folder.

    Reports come from the secure generator; with `seed` from a seeded one, and all files say that they are simulated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    people = load(_DATA)
    m = _choose(people, tell)
    proved = _prove(m, tell)
    rng: Stream = secure() if seed is None else simulation(seed)
    reports = _report(m, people, rng, folder, tell)
    tally, tallies = _add_up(reports, folder, tell)
    shares = Shown.of(estimate_tally(tally), level=_LEVEL, truth=people.frequencies)
    found = _compare(m, people, shares, tell)
    files = [*reports, *tallies, *_publish(shares, folder, tell)]
    return {
        "data": people.name,
        "design": describe(m, people.n),
        "audit": proved.document(),
        "simulated": rng.simulated,
        **found,
        "estimate": shares.document(),
        "folder": str(folder),
        "files": [path.name for path in files],
    }


def _choose(people: Population, tell: Teller) -> Mechanism:
    made = {name: mechanism(name, epsilon=_EPSILON, labels=people.labels) for name in _CANDIDATES}
    documents = sorted((describe(m, people.n) for m in made.values()), key=lambda d: d["mse"])
    best = documents[0]["mechanism"]
    text = (
        f"{people.n:,} people are asked for their education, one of {people.k} levels, under epsilon = {_EPSILON:g}. "
        f"These mechanisms could be used; {best} has the least error, so {best} it is. "
        f"(A blind guess of someone's level is right {percent(1 / people.k, 1)} of the time.)"
    )
    tell("Choose", text, designs_table(documents))
    return made[best]


def _prove(m: Mechanism, tell: Teller) -> Audit:
    found = audit(m)
    ways = f"By {found.proof.method}" + (" and by enumeration" if found.enumerated else "")
    text = (
        f"{ways}, in whole numbers, not by sampling: the largest likelihood ratio of any report between any two values "
        f"gives epsilon = {found.exact!r}, promised is {found.promised!r}. "
        f"The promise is {'kept' if found.holds else 'BROKEN'}."
    )
    tell("Prove", text, None)
    return found


def _report(m: Mechanism, people: Population, rng: Stream, folder: Path, tell: Teller) -> list[Path]:
    """Every second person reports to one collector, the others to another."""
    values, paths = people.values(), []
    for start, name in enumerate(_REPORTS):
        reports = m.privatize_items(values[start :: len(_HALVES)], rng)
        paths.append(folder / name)
        with open_output(str(paths[-1])) as out:
            out.write(dump(reports))
    how = "a SEEDED generator: simulated, not private" if rng.simulated else "the secure generator"
    text = (
        f"Every device perturbs its own value with {how}, and sends {m.bulk.row_bytes} bytes to one of two collectors. "
        f"Any single report could come from any person. Written: {', '.join(path.name for path in paths)}."
    )
    tell("Report", text, None)
    return paths


def _add_up(reports: list[Path], folder: Path, tell: Teller) -> tuple[Tally, list[Path]]:
    """Tallies of both halves, and their sum, which must be the tally of everything."""
    paths = [folder / name for name in _TALLIES]
    for source, target in zip(reports, paths, strict=True):
        write_tally(tally_files([str(source)]), str(target))
    total, whole = tally_files([str(path) for path in paths]), tally_files([str(path) for path in reports])
    if dump(total) != dump(whole):
        raise MergeError("the tallies of both halves do not add up to the tally of all reports.", "Please report this.")
    paths.append(folder / _WHOLE)
    write_tally(total, str(paths[-1]))
    text = (
        f"Each collector counts on its own; the two tallies of integers add up to {total.n:,} reports. The sum and a "
        "tally of all reports at once are the same, byte by byte."
    )
    tell("Add up", text, None)
    return total, paths


def _compare(m: Mechanism, people: Population, shares: Shown, tell: Teller) -> dict[str, Any]:
    columns, truth = shares.columns, people.frequencies
    inside = int(((columns["low"] <= truth) & (truth <= columns["high"])).sum())
    error = columns["value"] - truth
    mse, predicted = float(np.mean(error**2)), float(m.effective(people.n)["mse"])
    worst = int(np.abs(error).argmax())
    text = (
        f"The estimates with {100 * _LEVEL:g} % intervals, beside the truth that no collector ever saw. "
        f"{inside} of {people.k} intervals hold the truth; the usual error is {100 * math.sqrt(mse):.2f} points "
        f"(predicted: {100 * math.sqrt(predicted):.2f}), the largest {100 * abs(error[worst]):.2f} points, at "
        f"{people.labels[worst]}."
    )
    tell("Estimate and compare", text, shares_table(columns, shares.labels, level=_LEVEL))
    return {
        "mse": mse,
        "mse_predicted": predicted,
        "max_abs_error": float(abs(error[worst])),
        "covered": inside,
        "intervals": people.k,
    }


def _publish(shares: Shown, folder: Path, tell: Teller) -> list[Path]:
    files = [folder / _TABLE]
    shares.save(str(files[0]))
    charts = [folder / name for name in _CHARTS]
    try:
        for path in charts:
            shares.draw(str(path), "Education, estimated from deniable reports")
        text = f"Open {charts[0]} in a browser; it needs no network. {charts[1].name} is the same as a picture."
        files += charts
    except MissingExtraError as error:
        text = f"No chart was drawn: {error} The numbers are in {files[0]}."
    tell("Look", text, None)
    return files
