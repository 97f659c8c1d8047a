"""What a guesser knows beforehand, as command lines say it: the name of a law or of a data set, or a file of counts."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from deniable.core.domain import Domain
from deniable.core.guess import check_prior
from deniable.core.types import FloatArray
from deniable.datasets import NAMES, Population, resolve
from deniable.datasets.synthetic import KINDS
from deniable.errors import FormatError, require
from deniable.randomness import simulation
from deniable.run.files import naming
from deniable.run.given.promises import read_numbers

__all__ = ["PRIOR", "domain_of_prior", "read_prior"]

PRIOR = (
    "uniform, zipf[:s], normal[:s], dirichlet[:a], a data set, or a .csv or .json file of labels and counts or shares"
)
"""What a prior may be."""

_DECIMAL = re.compile(r"[,;\n]\s*[0-9]*\.[0-9]|^\s*[0-9]*\.[0-9]")
"""A share: a number with decimals that stands in a cell of its own."""
_PEOPLE = 10**9
"""How finely a made-up prior is divided."""


def read_prior(text: str, domain: Domain, seed: int = 0) -> FloatArray | None:
    """The probabilities of the domain's answers that a text names; None if all are equally likely.

    Counts belong to answers by their labels. Where answers are only numbered, other labels stand for them in their
    order. The seed is for a prior that is drawn.
    """
    if text == "uniform":
        return None
    if _has_shares(text):
        return check_prior(read_numbers(text, domain.labels_or_numbers, "prior"), domain.k)
    counted = _counted(text)
    if counted is None:
        return resolve(text, n=_PEOPLE, k=domain.k, rng=simulation(seed).spawn(1)[0], called="prior").frequencies
    answers = domain.labels_or_numbers
    if set(counted.labels) == set(answers):
        place = {label: i for i, label in enumerate(counted.labels)}
        return counted.frequencies[[place[answer] for answer in answers]]
    need = f"counts of the {domain.k} answers" + ("" if domain.labels is None else ", by their labels")
    fits = domain.labels is None and counted.k == domain.k
    require(fits, "prior", f"{text}, which has {counted.k} labels", need, "Leave out --k and --labels to use its own.")
    return counted.frequencies


def _has_shares(text: str) -> bool:
    """Whether this is a file of shares: JSON, or a table whose numbers have decimals."""
    if text.lower().endswith(".json"):
        return True
    try:
        return text.lower().endswith(".csv") and _DECIMAL.search(Path(text).read_text("utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False  # whoever reads the counts says why


def domain_of_prior(text: str) -> Domain | None:
    """The answers that a prior brings: those of a data set or of a file."""
    counted = _counted(text)
    return None if counted is None else Domain.of(counted.labels)


def _counted(text: str) -> Population | None:
    """A prior that has answers of its own; None for one that fits any number of them."""
    if text in NAMES:
        return resolve(text)
    if text.lower().endswith(".csv"):
        return _read(Path(text))
    require(text.partition(":")[0] in KINDS, "prior", text, PRIOR, f"The data sets are {', '.join(NAMES)}.")
    return None


def _read(path: Path) -> Population:
    """A table of labels and counts, with a line of names above it or without."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file, strict=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(
            f"the prior cannot be read from {path}: {getattr(error, 'strerror', None) or error}."
        ) from error
    with naming(str(path)):
        wide = next((row for row in rows if len(row) != 2), None)
        require(wide is None and bool(rows), "prior", wide, "lines of a label and a count", "For example tea,120.")
        body = rows[1:] if not rows[0][1].isdecimal() else rows
        odd = next((row for row in body if not row[1].isdecimal() or len(row[1]) > 15), None)
        require(odd is None, "prior", odd, "whole counts of at most 15 digits", "Counts, not shares: 3 and 1 for 75 %.")
        return Population(
            path.name, tuple(label for label, _ in body), np.array([int(count) for _, count in body], np.int64)
        )
