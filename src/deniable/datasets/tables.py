"""The count tables that come with the package (their origin: `tables/SOURCES.md`)."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

import numpy as np

from deniable.datasets.population import Population
from deniable.errors import require

__all__ = ["NAMES", "load"]

NAMES = ("adult-age", "adult-education", "adult-country", "bank-job")
"""Names of the tables, as `load` takes them."""


def load(name: str) -> Population:
    """The population counted in one of the tables.

    >>> load("adult-education")
    Population(name='adult-education', k=16, n=32561)
    """
    hint = "For a made-up population use deniable.datasets.synthetic."
    require(name in NAMES, "name", name, f"one of {', '.join(NAMES)}", hint)
    return _read(name)


@cache
def _read(name: str) -> Population:
    text = (resources.files("deniable.datasets") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    counts = np.array([int(row["count"]) for row in rows], dtype=np.int64)
    return Population(name, tuple(row["value"] for row in rows), counts)
