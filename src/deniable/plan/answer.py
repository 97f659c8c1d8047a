"""What the planner's smaller questions share: designs within limits, best first, and the answer made of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from deniable.errors import DeniableError, require
from deniable.present.scatter import scatter_chart

if TYPE_CHECKING:
    import altair

__all__ = ["Answer", "answer_chart", "check_limits", "check_top", "sift"]

D = TypeVar("D", bound=Any)
"""A design: a frozen dataclass with `title`, `why`, `beaten_by`, `document()` and what can be limited."""

_KINDS = {"good": "worth a choice", "plain": "beaten by another in every respect"}


@dataclass(frozen=True)
class Answer(ABC, Generic[D]):
    """What was asked, and the designs that meet it, best first."""

    request: Mapping[str, Any]
    limits: Mapping[str, float]
    designs: tuple[D, ...]
    out: tuple[tuple[str, str], ...]
    """What is out, and why."""

    @property
    def feasible(self) -> bool:
        """Whether some design meets all limits."""
        return bool(self.designs)

    @property
    def best(self) -> D | None:
        """The first design."""
        return self.designs[0] if self.designs else None

    @property
    def message(self) -> str:
        """The answer in a sentence or two."""
        if self.best is not None:
            return self._told(self.best)
        told = " and ".join(f"{name} <= {most:g}" for name, most in self.limits.items())
        return f"no design meets {told or 'the question'}."

    @abstractmethod
    def _told(self, best: D) -> str:
        """The answer if there is one."""

    @abstractmethod
    def chart(self) -> altair.LayerChart:
        """The designs between two quantities that should be small."""

    def document(self) -> dict[str, Any]:
        """As plain data: `designs` best first."""
        return {
            "request": dict(self.request) | {"limits": dict(self.limits)},
            "feasible": self.feasible,
            "message": self.message,
            "designs": [d.document() for d in self.designs],
            "out": [{"title": title, "reason": reason} for title, reason in self.out],
        }


def sift(
    makers: Iterable[tuple[str, Callable[[], D]]], limits: Mapping[str, float], rank: Callable[[D], float]
) -> tuple[list[D], tuple[tuple[str, str], ...]]:
    """The designs within limits, best first, and what is out with the reason; what is unknown meets no limit."""
    found: list[D] = []
    out: list[tuple[str, str]] = []
    for name, make in makers:
        try:
            design = make()
        except DeniableError as error:
            out.append((name, f"cannot be made: {error.message}"))
            continue
        missed = [_missed(key, getattr(design, key), most) for key, most in limits.items()]
        if any(missed):
            out.append((design.title, ", ".join(filter(None, missed))))
        else:
            found.append(design)
    return sorted(found, key=lambda d: float(f"{rank(d):.9e}")), tuple(out)


def _missed(name: str, value: float | None, most: float) -> str:
    if value is None:
        return f"{name} unknown instead of at most {most:g}"
    return "" if value <= most else f"{name} {value:.4g} instead of at most {most:g}"


def check_limits(limits: Mapping[str, float] | None, known: Sequence[str]) -> dict[str, float]:
    """Limits by known names, finite and above 0."""
    most = dict(limits or {})
    unknown = [name for name in most if name not in known]
    require(not unknown, "limits", unknown, f"named by {', '.join(known)}")
    wrong = {name: x for name, x in most.items() if not (isinstance(x, int | float) and 0 < x < math.inf)}
    require(not wrong, "limits", wrong, "finite numbers > 0")
    return most


def check_top(top: int | None) -> None:
    """Refuse what is no number of designs."""
    require(top is None or (isinstance(top, int) and top >= 1), "top", top, "an integer >= 1, or None for all")


def answer_chart(
    designs: Sequence[Any], row: Callable[[Any], Mapping[str, Any]], title: str, subtitle: str, x: str, y: str
) -> altair.LayerChart:
    """Designs as points between two columns of their rows; the further columns are shown when pointed at."""
    require(len(designs) > 0, "designs", 0, "at least one", "There is nothing to draw.")
    own = [dict(row(d)) for d in designs]
    more = [name for name in own[0] if name not in (x, y, "label")] + ["why"]
    rows = [
        cells | {"kind": "plain" if d.beaten_by else "good", "why": f"{d.title}: {d.why}"}
        for d, cells in zip(designs, own, strict=True)
    ]
    return scatter_chart(rows, x=x, y=y, title=title, subtitle=subtitle, kinds=_KINDS, tooltip=more)
