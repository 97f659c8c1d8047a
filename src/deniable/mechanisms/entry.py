"""What a row of the registry says about a mechanism, and about an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

__all__ = [
    "ADDED",
    "DIRECTION",
    "FREQUENCY",
    "KEY_VALUE",
    "MEAN",
    "RANGE",
    "RELEASE",
    "Curve",
    "Entry",
    "Option",
    "Traits",
    "grid",
    "one_counter",
]

FREQUENCY, KEY_VALUE, RELEASE, MEAN, RANGE = "frequency", "key-value", "release", "mean", "range"
DIRECTION = "direction"
"""The questions: how often each answer occurs, keys with their means, how near single reports are, a mean, ranges, and
the mean of directions."""


@dataclass(frozen=True, slots=True)
class Option:
    """An own parameter of some mechanisms, as an argument and as a command-line option."""

    kind: type
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """A family at many values of its own parameter, with the exact numbers of each; one number may stand for all."""

    option: str
    values: Any
    k: int
    mse: Any
    """Exact MSE of one report."""
    asr: Any
    """Success of the best guess, all answers being equally likely."""
    bits: Any
    bytes: Any
    own: SimpleNamespace
    """The parameters by the names of the mechanism's attributes, for `costs`."""

    def options(self, i: int) -> dict[str, Any]:
        """The options of `mechanism` at the i-th value."""
        value = self.values[i].item()
        if self.option == "share":
            return {"size": int(value), "share": value - int(value)}
        return {self.option: value}


@dataclass(frozen=True, slots=True)
class Traits:
    """What the planner asks of a row; what is None is unknown and meets no limit on it."""

    work: Callable[[Any, float], Any] | None = None
    """Steps of the server per report, if there are n of them (`costs`)."""
    pull: Callable[[Any, int], Any] | None = None
    """What one forged report can add to n times the summed estimates of r targets (`costs`)."""
    curve: Callable[..., Curve] | None = None
    """The family along its own parameter, from which the planner chooses: made of (epsilon, k), or (epsilon, k, values)
    for chosen values of the parameter."""


def one_counter(m: Any, n: float) -> float:
    """Work of the server that is one counter per report."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: how to make the mechanism, what it is, and small cases for the tests."""

    cls: type[Any]
    make: Callable[..., Any]
    summary: str
    source: str
    best_for: str
    options: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    """Options without a default."""
    inner: tuple[str, ...] = ()
    """Arguments for tests and research that the command line does not offer."""
    small: tuple[Mapping[str, Any], ...] = ()
    """Arguments of `mechanism` whose channel can be enumerated."""
    question: str = FREQUENCY
    """What is estimated: the planner compares designs that answer the same question."""
    traits: Traits = Traits()
    default_epsilon: Callable[[Mapping[str, Any]], float] | None = None
    """Epsilon where none is given, from the options; without it epsilon must be given."""
    space: Callable[[dict[str, Any]], Any] | None = None
    """Takes the options that describe a domain out of all options and makes it of them; None if there were none."""
    printed: Mapping[str, Any] | None = None
    """The options that make it as its paper prints it, where `form=paper` is not an option of its own."""
    instead: Callable[[Mapping[str, Any]], tuple[str, float, dict[str, Any]] | None] | None = None
    """Another row that makes what is asked for by these options, with its epsilon and options; None: this row does."""
    brings: bool = False
    """Whether `space` is only asked where no domain is given: the options stay what they are."""

    @property
    def kind(self) -> str:
        """`mechanism`, or `protocol` if people are asked in several steps: as the class is."""
        from deniable.mechanisms.protocol import Protocol  # not for those who only look for names

        return "protocol" if issubclass(self.cls, Protocol) else "mechanism"


ADDED: dict[str, Entry] = {}
"""Rows of mechanisms that were registered, for those who cannot ask the registry."""


def grid(*ks: int, **options: Any) -> tuple[dict[str, Any], ...]:
    """Small cases: each k at three budgets."""
    return tuple({"k": k, "epsilon": e, **options} for k in ks for e in (0.1, 1.0, 4.0))
