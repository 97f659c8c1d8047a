"""What designs of all questions are judged by: limits that they must meet, and the weighted sum that ranks them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from deniable.errors import is_number, meant, require

__all__ = [
    "BESIDE",
    "LIMITED",
    "WEIGHED",
    "Score",
    "Weights",
    "check_limits",
    "check_weights",
    "excess",
    "missed",
    "misses",
    "rounded",
    "value",
]

D = TypeVar("D", bound=Any)
"""A design: a frozen dataclass with `score`."""

LIMITED: Mapping[str, str] = {
    "stderr": "standard error",
    "asr": "best guess",
    "bits": "bits",
    "bytes": "bytes",
    "work": "work",
    "poisoning": "effect of forged reports",
    "loss": "expected loss",
    "worst": "worst loss",
}
"""What can be limited, in the words for people."""
BESIDE: Mapping[str, str] = {
    "asr": "the lowest chance of a right guess",
    "bits": "the fewest bits in a report",
    "work": "the least work for the server",
    "poisoning": "the least effect of forged reports",
}
"""What can be weighed beside the error, with what a design has that is best in it alone."""
WEIGHED = ("error", *BESIDE)
"""What can be weighed. The error is the column that designs are ranked by; the others are columns of that name."""


def value(design: Any, name: str) -> float:
    """A column of a design; infinite where it is not known, so that it meets no limit and wins nothing."""
    x = getattr(design, name)
    return math.inf if x is None else float(x)


def rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    """So that the last bits of closed forms do not decide between equals: then their order does."""
    return tuple(float(f"{x:.9e}") for x in numbers)


# ---- weights


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of columns, of sum 1; `error` is the column of the error, which counts alone unless asked otherwise."""

    error: str
    columns: Mapping[str, float]

    @property
    def weighed(self) -> bool:
        """Whether something beside the error counts."""
        return set(self.columns) != {self.error}

    def instead(self, error: str) -> Weights:
        """The same with another column for the error: people, or epsilon, where they are looked for."""
        return Weights(error, {error if name == self.error else name: w for name, w in self.columns.items()})

    def document(self) -> dict[str, Any]:
        """For a plan's request, as plain data: nothing where the error counts alone."""
        return {"weights": dict(self.columns)} if self.weighed else {}

    def among(self, designs: Iterable[Any]) -> Score:
        """What designs are ranked by, in units of the one with the least error among these.

        What that one has nothing of, or does not know, is in units of the next one that has some.
        """
        order = sorted(designs, key=lambda d: value(d, self.error))
        known = {name: [x for d in order if 0 < (x := value(d, name)) < math.inf] for name in self.columns}
        return Score(self, {name: xs[0] if xs else 1.0 for name, xs in known.items()})


@dataclass(frozen=True, slots=True)
class Score:
    """A weighted sum of columns, each relative to its unit: less is better, and 1 is as good as the least error."""

    weights: Weights
    units: Mapping[str, float]

    def total(self, columns: Mapping[str, Any]) -> Any:
        """Of numbers or of arrays; infinite where something that counts is not known."""
        return sum(w * columns[name] / self.units[name] for name, w in self.weights.columns.items())

    def of(self, design: Any) -> float:
        """That of a design."""
        return float(self.total({name: value(design, name) for name in self.weights.columns}))

    def marked(self, design: D) -> D:
        """The design with its score, where something beside the error counts; None where it is not known."""
        total = self.of(design)
        return replace(design, score=total if math.isfinite(total) else None) if self.weights.weighed else design

    def key(self, design: Any) -> tuple[float, ...]:
        """To sort by: the sum, and the error between equals."""
        return rounded((self.of(design), value(design, self.weights.error)))


def check_weights(weight: float | None, weights: Mapping[str, float] | str | None, error: str) -> Weights:
    """Weights by columns: that of the best guess alone, or all of them; `error` is the column of the error."""
    if weight is not None:
        require(weights is None, "weight", weight, "left out if weights are given")
        share = is_number(weight) and 0 <= weight <= 1
        require(share, "weight", weight, "from 0 to 1", "It is that of the best guess (ASR).")
        weights = {"asr": weight, "error": 1 - weight}
    found = {"error": 1.0} if weights is None else _named(weights)
    for name, w in found.items():
        require(name in WEIGHED, "weights", name, f"named by {', '.join(WEIGHED)}", meant(name, WEIGHED))
        require(is_number(w) and 0 <= w < math.inf, "weights", w, "numbers >= 0")
    total = sum(found.values())
    require(0 < total < math.inf, "weights", weights, "not all 0, and of a finite sum")
    return Weights(error, {error if name == "error" else name: w / total for name, w in found.items() if w > 0})


def _named(weights: Mapping[str, float] | str) -> dict[str, float]:
    """Weights by name, also from a text as on the command line.

    >>> _named("error=3, bits=1")
    {'error': 3.0, 'bits': 1.0}
    """
    hint = "For example error=3,bits=1."
    if not isinstance(weights, str):
        require(isinstance(weights, Mapping), "weights", weights, "numbers by name", hint)
        return dict(weights)
    found: dict[str, float] = {}
    for part in weights.split(","):
        name, sign, text = (word.strip() for word in part.partition("="))
        require(bool(name and sign) and name not in found, "weights", weights, "names with a number each", hint)
        try:
            found[name] = float(text)
        except ValueError:
            require(False, "weights", weights, "names with a number each", hint)
    return found


# ---- limits


def check_limits(limits: Mapping[str, float]) -> dict[str, float]:
    """Limits by their columns, finite and above 0."""
    for name, x in limits.items():
        word = "target_error" if name in ("stderr", "loss") else f"max_{name}"
        require(is_number(x) and 0 < x < math.inf, word, x, "a finite number > 0")
        require(name != "asr" or x <= 1, word, x, "at most 1", "It is a probability.")
    return {name: float(x) for name, x in limits.items()}


def misses(design: Any, limits: Mapping[str, float]) -> list[str]:
    """The limits that a design does not meet; what is not known meets none."""
    return [name for name, most in limits.items() if not value(design, name) <= most]


def missed(design: Any, limits: Mapping[str, float]) -> str:
    """The same in words."""
    values = {name: value(design, name) for name in misses(design, limits)}
    return ", ".join(
        f"{LIMITED[name]} not known" if math.isinf(x) else _beyond(name, x, limits[name]) for name, x in values.items()
    )


def excess(design: Any, limits: Mapping[str, float]) -> float:
    """How many times the limit that is missed by most; infinite where it is not known."""
    return max((value(design, name) / most for name, most in limits.items()), default=0.0)


def _beyond(name: str, x: float, most: float) -> str:
    """A value above its limit, with digits enough to show it.

    >>> _beyond("bytes", 13, 10), _beyond("asr", 0.1000004, 0.1)
    ('bytes 13 instead of at most 10', 'best guess 0.1000004 instead of at most 0.1')
    """
    for digits in range(4, 18):
        short = f"{x:.{digits}g}"
        if float(short) > most:
            break
    return f"{LIMITED[name]} {short} instead of at most {most:g}"
