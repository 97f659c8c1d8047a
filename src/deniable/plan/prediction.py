"""What the planner says of a mechanism: what the predictions for all questions share, said once."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from deniable.mechanisms.base import Mechanism
from deniable.present.tables import percent

__all__ = ["FORGED", "Prediction", "command", "counted", "excess_percent", "figure", "forged_gain", "plain", "points"]

FORGED = 0.01
"""The share of forged reports that `poisoning` is for."""
_SHORT = 24
_MUCH, _TOO_MUCH = 1000, 1_000_000
"""Per cent that are told without digits behind the point, and those that are not told any more."""
_HUGE = 1e15
"""Numbers up to it are written out."""
M = TypeVar("M", bound=Mechanism)


@dataclass(frozen=True, kw_only=True)
class Prediction(Generic[M]):
    """A mechanism with what is predicted of it; `options` make it again: `mechanism(name, **options)`."""

    mechanism: M
    options: Mapping[str, Any]
    bits: float
    bytes: int
    beaten_by: str = ""
    """A design that is at least as good in every respect."""
    why: str = ""
    score: float | None = None
    """Where weights are given: the weighted sum, relative to the design of least error; None where it is not known."""
    told: ClassVar[tuple[str, ...]]
    """What the document tells beside the mechanism itself."""

    @property
    def name(self) -> str:
        """The registry name."""
        return self.mechanism.name

    @property
    def epsilon(self) -> float:
        """The promise."""
        return self.mechanism.epsilon

    @property
    def own(self) -> Mapping[str, Any]:
        """The parameters that the title tells."""
        return self.mechanism.params

    @property
    def title(self) -> str:
        """Name and own parameters, as far as they are short."""
        texts = {key: _short(x) if isinstance(x, float) else str(x) for key, x in self.own.items() if x != []}
        told = ", ".join(f"{key} = {text}" for key, text in texts.items() if len(text) <= _SHORT)
        return f"{self.name} ({told})" if told else self.name

    def document(self) -> dict[str, Any]:
        """As plain data, with the names of `deniable design`."""
        m = self.mechanism
        shown = {name: plain(x) for name, x in self.options.items()}
        head = {"mechanism": m.name, "params": m.params, "options": shown, "epsilon": m.epsilon}
        exact = {"epsilon_exact": m.epsilon_exact, "k": m.k}
        rest: dict[str, Any] = {} if self.score is None else {"score": self.score}
        rest |= {"beaten_by": self.beaten_by or None, "why": self.why}
        rest |= {"protection": m.protection.document(), "vetted": m.vetted}
        return head | exact | {name: getattr(self, name) for name in self.told} | rest


def command(verb: str, name: str, options: Mapping[str, Any]) -> str:
    """A command line that can be typed as it is.

    >>> command("design", "uss", {"epsilon": 1.0, "labels": ("ill", "very well"), "clip": True})
    "deniable design uss --epsilon 1 --labels 'ill,very well' --clip"
    """
    words = ["deniable", verb, name]
    for option, value in options.items():
        words += [f"--{option.replace('_', '-')}", *([] if value is True else [_word(value)])]
    return shlex.join(words)


def _word(value: Any) -> str:
    """A value as the command line takes it: all digits of a number, lists with commas."""
    if isinstance(value, float):
        return repr(int(value)) if value == int(value) else repr(value)
    if not isinstance(value, list | tuple):
        return str(value)
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([_word(part) for part in value])
    return text.getvalue()


def _short(x: float) -> str:
    """Four digits, or all where these would make a whole number of it.

    >>> _short(0.12344), _short(0.9999988), _short(1.0)
    ('0.1234', '0.9999988', '1')
    """
    short = f"{x:.4g}"
    return short if float(short) == x or not float(short).is_integer() else repr(x)


def figure(x: float, digits: int = 3) -> str:
    """A number as people write it: so many digits, those before the point in full.

    >>> figure(1.8122), figure(16_330.1), figure(1_032_000.0, 4), figure(0.00001234)
    ('1.81', '16,300', '1,032,000', '1.23e-05')
    """
    short = float(f"{x:.{digits}g}")
    return f"{short:,.0f}" if 10 ** (digits - 1) <= abs(short) < _HUGE else f"{short:.{digits}g}"


def excess_percent(gap: float | None) -> str:
    """How far something is above the least possible, for a table.

    >>> excess_percent(0.00213), excess_percent(48.5165), excess_percent(1e9), excess_percent(None)
    ('0.2 %', '4,850 %', '> 1,000,000 %', 'unknown')
    """
    if gap is None:
        return "unknown"
    if 100 * gap > _TOO_MUCH:
        return f"> {_TOO_MUCH:,} %"
    return f"{figure(100 * gap)} %" if 100 * gap >= _MUCH else percent(max(gap, 0.0), 1)


def counted(n: int, one: str, many: str) -> str:
    """How many of something.

    >>> counted(1, "person is", "people are"), counted(1200, "person is", "people are")
    ('1 person is', '1,200 people are')
    """
    return f"{n:,} {one if n == 1 else many}"


def plain(x: Any) -> Any:
    """An option as plain data, or else in words."""
    return list(x) if isinstance(x, tuple) else x if isinstance(x, int | float | str | dict) else str(x)


def points(share: float | None) -> str:
    """What forged reports can change at most, in percentage points: rounded up, for a table.

    >>> points(0.1231), points(3280.001), points(None)
    ('12.4 pt', '328,001 pt', 'unknown')
    """
    if share is None:
        return "unknown"
    found = 100 * Decimal(repr(float(share)))
    return f"{math.ceil(found):,} pt" if found >= 100 else f"{_UP.plus(found).normalize():f} pt"


_UP = Context(prec=3, rounding=ROUND_CEILING)


def forged_gain(pull: Any) -> Any:
    """What forged reports gain, from what one can add; a forger who cannot gain can behave. Numbers or arrays."""
    return FORGED * np.maximum(pull, 0.0)
