"""Personal levels: EM against AUEM and the schemes that see the levels, EM on a million reports, sensitive values only.

`python benchmarks/personal.py [--runs 50] [--sensitive] [--json]`. Errors are mean squared errors over the values;
every method reads the same reports of a run. `difference` is the paired mean difference of EM and projected AUEM in
standard errors. `--sensitive`: only the designs in which half of the values are sensitive.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from measure import largest_memory

import deniable as dn
from deniable.datasets.tables import load
from deniable.mechanisms.personal.levels import BASES
from deniable.mechanisms.personal.options import DISCLOSURES
from deniable.mechanisms.personal.plain import Personal
from deniable.papers.pldp.study import LEVELS, METHODS, power_law, study, uniform_shares

SEED = 20261115
TABLES = ("adult-education", "bank-job", "adult-country")


def compare(runs: int) -> list[dict[str, Any]]:
    """A row for each table and distribution of people over the levels."""
    rows = []
    for table in TABLES:
        for kind, shares in (("uniform", uniform_shares(len(LEVELS))), ("power law", power_law(LEVELS))):
            found = study(load(table), runs, dn.simulation(SEED), shares=shares)
            mean, error = found.difference("em", "auem projected")
            row: dict[str, Any] = {"table": table, "shares": kind, "runs": runs}
            row |= {method: found.mean(method) for method in METHODS}
            row |= {"difference": mean / error, "em over rcf": found.mean("em") / found.mean("rcf projected")}
            rows.append(row | {"emoa over em": found.mean("emoa normalised") / found.mean("em")})
    return rows


def million(n: int = 1_000_000) -> dict[str, Any]:
    """Seconds and peak memory of a fit to n reports, 42 values and 10 levels, standard errors included."""
    people, rng = load("adult-country"), dn.simulation(SEED)
    m = Personal(epsilon=1.0, domain=dn.Domain.of(people.k), levels=LEVELS, base="sue", level_epsilon=0.3)
    items = rng.generator().choice(people.k, size=n, p=people.frequencies)
    reports = m.privatize_items(items, rng)
    start = time.perf_counter()
    found = m.fit(reports)
    seconds = time.perf_counter() - start
    peak = largest_memory() / 1e3
    truth = np.bincount(items, minlength=people.k) / n
    mse = float(np.mean((found.value - truth) ** 2))
    return {"n": n, "seconds": seconds, "gigabytes": peak, "mse": mse, "steps": found.steps[0]}


def partly_sensitive(runs: int) -> list[dict[str, Any]]:
    """Errors where half of the values are sensitive: a row for each base and chance of disclosure."""
    people = load("adult-education")
    items, truth = np.repeat(np.arange(people.k), people.counts), people.frequencies
    sensitive = [i for i in range(people.k) if i % 2]
    rows = []
    for base in BASES:
        for rule in DISCLOSURES:
            given = {"levels": LEVELS, "level_epsilon": 0.3, "base": base, "sensitive": sensitive, "disclosure": rule}
            m = dn.mechanism("upldp", k=people.k, theta=float(truth[::2].sum()), **given)
            found: dict[str, list[float]] = {"linear": [], "linear projected": [], "em": []}
            for stream in dn.simulation(SEED).spawn(runs):
                reports = m.privatize_items(items, stream)
                linear = m.estimate(m.tally(reports))
                values = (linear.value, linear.project().value, m.fit(reports, stderr=None).value)
                for name, value in zip(found, values, strict=True):
                    found[name].append(float(np.mean((value - truth) ** 2)))
            row: dict[str, Any] = {"base": base, "disclosure": rule, "runs": runs, "level": m.guarantee["level"]}
            row |= {"z": float(m.law.blended()[3]), "predicted": m.properties(people.n)["mse"]}
            rows.append(row | {name: float(np.mean(errors)) for name, errors in found.items()})
    return rows


def main() -> None:
    """Run all and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sensitive", action="store_true", help="only where some values are sensitive")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    result: dict[str, Any] = {} if given.sensitive else {"million": million()}
    if given.runs and not given.sensitive:
        result["rows"] = compare(given.runs)
    if given.runs:
        result["sensitive"] = partly_sensitive(given.runs)
    if given.json:
        print(json.dumps(result))
        return
    for row in [result.get("million", {}), *result.get("rows", []), *result.get("sensitive", [])]:
        print(
            ", ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{value}" for name, value in row.items())
        )


if __name__ == "__main__":
    main()
