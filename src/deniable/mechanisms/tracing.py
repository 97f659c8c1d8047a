"""Programs that draw, followed along all of their branches: the exact chance of everything they can give back.

A program is a function of a value and of a random generator as NumPy has it. Here it is run with one that, instead of
drawing, takes each of the ways that a draw can go, one after the other, and keeps their chances as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["UntraceableError", "chances_of"]

_FORKS, _LONG = 50_000, 24
"""Branches that are taken for one value in all, and on one way: what takes more is over too late."""


_ELSEWHERE = "it does not always do the same with the same draws: all must be drawn from rng"
_AGAIN = 16
"""Times that a program is run again for each value at least: with the same draws it must do the same."""


class UntraceableError(Exception):
    """A program does something of which the exact chances are not known here, or has too many ways to go."""


def chances_of(program: Callable[[int, Any], Hashable], value: int) -> dict[Hashable, Fraction]:
    """The exact chance of every output of a program for a value; `UntraceableError` where that cannot be told.

    >>> def coin(value, rng):
    ...     return value if rng.random() < 0.75 else 1 - value
    >>> chances_of(coin, 0)
    {0: Fraction(3, 4), 1: Fraction(1, 4)}
    """
    found: dict[Hashable, Fraction] = {}
    ways: list[tuple[list[int], Hashable]] = []
    for path in _paths():
        output = _run(program, value, path)
        found[output] = found.get(output, Fraction(0)) + math.prod(path.taken, start=Fraction(1))
        ways.append((list(path.script), output))
    for script, output in ways * -(-_AGAIN // len(ways)):
        again = _Branches(script)
        if _run(program, value, again) != output or again.script != script:
            raise UntraceableError(_ELSEWHERE)
    return found


def _run(program: Callable[[int, Any], Hashable], value: int, path: _Branches) -> Hashable:
    try:
        output = program(value, path)
    except UntraceableError:
        raise
    except Exception as error:  # it may do with numbers what cannot be done with branches
        raise UntraceableError(f"{type(error).__name__}: {error}") from error
    try:
        hash(output)
    except TypeError as error:
        told = f"its reports cannot be compared, as they are of the type {type(output).__name__}: tuples can"
        raise UntraceableError(told) from error
    return output


def _paths() -> Iterator[_Branches]:
    """Generators that go all ways, as long as somebody runs the program with each of them."""
    script: list[int] = []
    spent = 0
    while spent <= _FORKS:
        path = _Branches(script)
        yield path
        script, widths = path.script, path.widths
        if len(script) != len(widths):
            raise UntraceableError(_ELSEWHERE)
        spent += len(script)
        while script and script[-1] + 1 == widths[-1]:
            script.pop()
            widths.pop()
        if not script:
            return
        script[-1] += 1
    raise UntraceableError("there are too many ways through the program")


class _Branches:
    """Stands for `numpy.random.Generator`: what it does not have cannot be traced."""

    def __init__(self, script: Sequence[int]) -> None:
        self.script, self.widths = list(script), list[int]()
        self.taken: list[Fraction] = []

    def __getattr__(self, name: str) -> Any:
        raise UntraceableError(f"rng.{name} is drawn from and cannot be followed; random, integers and choice can")

    def fork(self, chances: Sequence[Fraction]) -> int:
        """One of several ways to go; those of chance 0 are not there."""
        ways = [way for way, chance in enumerate(chances) if chance > 0]
        at = len(self.widths)
        if at == _LONG:
            raise UntraceableError(f"it draws more than {_LONG} times for one report")
        if at == len(self.script):
            self.script.append(0)
        self.widths.append(len(ways))
        way = ways[self.script[at]]
        self.taken.append(chances[way])
        return way

    def random(self, size: Any = None) -> Any:
        """Numbers from 0 to 1, which can be compared."""
        if size is None:
            return _Uniform(self)
        return _filled(size, lambda: _Uniform(self))

    def integers(self, low: int, high: int | None = None, size: Any = None, endpoint: bool = False, **_: Any) -> Any:
        """Whole numbers."""
        first, last = (0, low) if high is None else (low, high)
        count = int(last) - int(first) + bool(endpoint)
        if count < 1:
            raise ValueError("low >= high")

        def one() -> int:
            return int(first) + self.fork([Fraction(1, count)] * count)

        return one() if size is None else _filled(size, one).astype(np.int64)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """One of several things, or several of them."""
        things = list(range(int(a))) if np.ndim(a) == 0 else list(a)
        given = None if p is None else [Fraction(float(x)) for x in p]
        weights = [Fraction(1, len(things))] * len(things) if given is None else [w / sum(given) for w in given]
        if size is None:
            return things[self.fork(weights)]
        if replace or np.ndim(size):
            return np.array([things[self.fork(weights)] for _ in range(int(np.prod(size)))]).reshape(size)
        if given is not None:
            raise UntraceableError("rng.choice without replacement and with chances cannot be followed")
        taken = []
        for _ in range(int(size)):
            taken.append(things.pop(self.fork([Fraction(1, len(things))] * len(things))))
        return np.array(taken)


def _filled(size: Any, one: Callable[[], Any]) -> Any:
    found = np.empty(size, object)
    for at in np.ndindex(found.shape):
        found[at] = one()
    return found


class _Uniform:
    """A number of which is known only between which two it lies; a comparison that this leaves open is a branch."""

    __slots__ = ("_high", "_low", "_path")

    def __init__(self, path: _Branches) -> None:
        self._path, self._low, self._high = path, Fraction(0), Fraction(1)

    def _below(self, limit: Any) -> bool:
        at = Fraction(limit.item() if hasattr(limit, "item") else limit)
        if at <= self._low or at >= self._high:
            return at >= self._high
        share = (at - self._low) / (self._high - self._low)
        if self._path.fork([share, 1 - share]) == 0:
            self._high = at
            return True
        self._low = at
        return False

    def __lt__(self, limit: Any) -> bool:
        return self._below(limit)

    __le__ = __lt__

    def __ge__(self, limit: Any) -> bool:
        return not self._below(limit)

    __gt__ = __ge__
