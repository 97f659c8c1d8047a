"""The people of a study, by the value that each has: those of a file, of a table of `datasets`, or made up."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import IntArray
from deniable.core.values import is_missing
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.synthetic import apportion
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError, require
from deniable.randomness import Stream
from deniable.run.files import ask_header, encode, read_values
from deniable.run.layout import Layout
from deniable.run.studies.study import PEOPLE

__all__ = ["at_points", "check_source", "counted", "has_own_values", "met"]

_CHUNK = 1 << 16
"""Values of a file that are read at a time."""
_WHOLE = re.compile(r"0|[1-9][0-9]{0,8}")


def has_own_values(data: str, layout: Layout) -> bool:
    """Whether the values are people's own, of a table or of a file, and not made up."""
    return data in NAMES or layout.names_file(data)


def check_source(data: str | Population, column: str | None, layout: Layout) -> None:
    """Refuse what only a file can have."""
    if isinstance(data, Population) or not layout.names_file(data):
        told = {"column": column, "delimiter": layout.delimiter, "text-encoding": layout.encoding}
        told |= {"compression": None if layout.compression == "auto" else layout.compression}
        for name, given in (told | {"no-header": None if layout.header else True}).items():
            require(given is None, name, given, "left out: only a file has columns and a layout")


def met(
    data: str | Population, n: int | None, domain: Domain | None, column: str | None, layout: Layout, rng: Stream
) -> tuple[Population, Domain]:
    """The people, and the domain that they answer in: the given one, or the one that their values make."""
    if isinstance(data, Population):
        require(n is None or n == data.n, "n", n, f"left out, or {data.n:,}, the people that were given")
        where = domain or Domain.of(data.labels)
        return sorted_into(data, where, "Name all answers, or say which one the rest counts as."), where
    if layout.names_file(data):
        people = counted(data, n, domain, column, layout)
        return people, domain or Domain.of(people.labels)
    table = data in NAMES
    labelled = domain is not None and domain.labels is not None
    k = None if domain is None or (table and labelled) else domain.k
    people = resolve(data, n=PEOPLE if n is None and not table else n, k=k, rng=rng)
    if domain is None or not labelled:
        return people, Domain.of(people.labels if table else people.k)
    if table:
        return sorted_into(people, domain, "Name all of them, or say with --other what the rest counts as."), domain
    return Population(people.name, domain.labels_or_numbers, people.counts), domain


def sorted_into(people: Population, domain: Domain, hint: str) -> Population:
    """The same people by the answers of a domain; where these are numbers, so are the names of people's answers."""
    named: list[str | int] = list(people.labels)
    if type(domain) is Domain and domain.labels is None and all(map(_WHOLE.fullmatch, people.labels)):
        named = [int(label) for label in people.labels]
    try:
        items: IntArray = domain.encode(named)
    except ParameterError as error:
        raise ParameterError(f"{people.name} has values that do not fit: {error.message}", hint) from error
    counts = np.bincount(items, people.counts, minlength=domain.k).astype(np.int64)
    return Population(people.name, domain.labels_or_numbers, counts)


def at_points(
    data: str, points: Domain, n: int | None, column: str | None, layout: Layout, rng: Stream, such_as: str = ""
) -> Population:
    """How many people have each number of a grid or of a circle; `such_as` names a table that fits."""
    if not has_own_values(data, layout):
        made = resolve(data, n=PEOPLE if n is None else n, k=points.k, rng=rng)
        return Population(made.name, points.labels_or_numbers, made.counts)
    if data not in NAMES:
        return counted(data, n, points, column, layout)
    return sorted_into(resolve(data, n=n), points, f"Take a table of numbers{such_as}, or a made-up population.")


def counted(source: str, n: int | None, domain: Domain | None, column: str | None, layout: Layout) -> Population:
    """The people of a file: by the answers of a domain, or by whatever stands there; scaled to n if that is given."""
    found: Counter[str] = Counter()
    header: str | None = None
    for chunk in read_values(source, _CHUNK, column=column, format=layout):
        header = chunk.header or header
        if domain is not None:
            labels = domain.labels_or_numbers
            counts = np.bincount(encode(domain, chunk), minlength=domain.k)
            found.update({labels[i]: int(counts[i]) for i in np.flatnonzero(counts).tolist()})
            continue
        for i, cell in enumerate(chunk.cells):
            require(not is_missing(cell) and str(cell) != "", "data", chunk.place(i), "a file without missing values")
        found.update(map(str, chunk.cells))
    kept = tuple(sorted(found)) if domain is None else domain.labels_or_numbers
    if domain is None and header is not None and header in found:
        ask_header(header, source)
    require(len(kept) >= 2, "data", source, "a file with at least two different values")
    every = [found[label] for label in kept]
    if n is None or n == sum(every):
        return Population(source, kept, np.array(every))
    require(n >= 1, "n", n, "an integer >= 1", f"Leave it out for all {sum(every)} people.")
    return Population(f"{source}, scaled to {n}", kept, apportion(every, n))
