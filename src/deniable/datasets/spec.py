"""Populations by a short text, as command lines give them."""

from __future__ import annotations

from typing import cast

from deniable.datasets.population import Population
from deniable.datasets.synthetic import KINDS, apportion, synthetic
from deniable.datasets.tables import NAMES, load
from deniable.errors import ParameterError, is_whole, meant, require
from deniable.randomness import Stream

__all__ = ["resolve"]

ALLOWED = f"one of {', '.join(NAMES)}, uniform, zipf[:S], normal[:SPREAD], dirichlet[:ALPHA]"


def resolve(
    spec: str, *, n: int | None = None, k: int | None = None, rng: Stream | None = None, called: str = "data"
) -> Population:
    """The population that a text names; errors name it as it is `called`.

    A table: `adult-age`, `adult-education`, `adult-country`, `bank-job`. If `n` is given and is not the
    table's own number of people, the counts are scaled to it by largest remainders.
    A made-up one: `uniform`, `zipf`, `zipf:1.5` (exponent), `normal`, `normal:0.1` (standard deviation as a
    share of k), `dirichlet`, `dirichlet:0.5` (alpha; needs `rng`). It needs `n` and `k`.

    >>> resolve("bank-job"), resolve("zipf:1.5", n=1000, k=8)
    (Population(name='bank-job', k=12, n=45211), Population(name='zipf:1.5', k=8, n=1000))
    """
    kind, colon, number = spec.partition(":")
    require(spec in NAMES or kind in KINDS, called, spec, ALLOWED, _advice(kind))
    if spec in NAMES:
        return _table(spec, n, k)
    shape = _shape(spec, kind, number, called) if colon else {}
    hint = f"A {kind} population has no size of its own."
    require(n is not None, "n", n, "given, the number of people", hint)
    require(k is not None, "k", k, "given, the number of items", hint)
    try:
        return synthetic(kind, k=cast(int, k), n=cast(int, n), rng=rng, **shape)
    except ParameterError as error:
        if any(error.message.startswith(f"{name} must") for name in shape):
            raise ParameterError(f"{called} must be {ALLOWED}, got {spec!r}.", error.message) from None
        raise


def _advice(kind: str) -> str:
    """What was probably meant by a name that is not known."""
    same = [name for name in NAMES if kind and name.startswith(kind)]
    near = f"Did you mean {' or '.join(same)}?" if same else meant(kind, (*NAMES, *KINDS))
    return f"{near} A file is known by its ending, such as .csv.".lstrip()


def _table(name: str, n: int | None, k: int | None) -> Population:
    table = load(name)
    hint = "Leave it out: a table has its own items (in Python, Population.top takes the most frequent ones)."
    require(k is None or k == table.k, "k", k, f"{table.k}, the number of items of {name}", hint)
    if n is None or n == table.n:
        return table
    require(is_whole(n, 1), "n", n, "an integer >= 1", f"Leave it out for all {table.n} people.")
    return Population(f"{name}, scaled to {n}", table.labels, apportion(table.counts.tolist(), n))


def _shape(spec: str, kind: str, number: str, called: str) -> dict[str, float]:
    known = KINDS[kind]
    if known is None:
        raise ParameterError(f"{called} must be {ALLOWED}, got {spec!r}.", f"{kind} takes no number.")
    try:
        return {known[0]: float(number)}
    except ValueError:
        hint = f"{known[0]} after the colon is a number, as in {kind}:0.5."
        raise ParameterError(f"{called} must be {ALLOWED}, got {spec!r}.", hint) from None
