"""What answers to all of the planner's questions share: designs within limits, best first, and how they are told."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from deniable.collect.frames import as_frame
from deniable.core.protection import weakest
from deniable.errors import DeniableError, require
from deniable.mechanisms.entry import Entry
from deniable.mechanisms.registry import MECHANISMS, mechanism
from deniable.plan.advice import UP_TO
from deniable.plan.cautions import about_epsilon, about_weights
from deniable.plan.prediction import Prediction, command
from deniable.plan.scoring import BESIDE, LIMITED, Weights, excess, missed, misses, rounded, value
from deniable.plan.smallest import smallest_n
from deniable.present.tables import Column, Table, Whole, right

if TYPE_CHECKING:
    import altair

__all__ = ["Plan", "Rejected", "check_top", "made", "rows_for", "sift"]

D = TypeVar("D", bound=Prediction[Any])

_MANY, _MANY_PEOPLE = 10_000, 1_000_000
"""Up to so many answers and people a simulation takes seconds."""
_NAMED = 6
"""So many mechanisms are named in a sentence."""
_ABOVE = 5e-4
"""What is above the least by no more is as good as the least."""
_MOST_OUT = 12
"""Designs that are out, as many as a table tells."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A design, or a mechanism that made none, and why it is out."""

    title: str
    reason: str
    design: Prediction[Any] | None = None
    twin: bool = False
    """Whether it is out only because another name stands for it, or serves the question so much better."""

    def document(self) -> dict[str, Any]:
        """As plain data."""
        numbers = {} if self.design is None else {"design": self.design.document()}
        return {"title": self.title, "reason": self.reason} | numbers


@dataclass(frozen=True, repr=False)
class Plan(ABC, Generic[D]):
    """What was asked, as plain data, and the designs that meet it, best first."""

    request: Mapping[str, Any]
    limits: Mapping[str, float]
    designs: tuple[D, ...]
    out: tuple[Rejected, ...]
    compared: str = field(default="everything", kw_only=True)
    """In what a design is at least as good that beats another."""
    labels: tuple[str, ...] | None = field(default=None, kw_only=True)
    """What people may answer by name, where it has one."""

    meanings: ClassVar[Mapping[str, str]] = {}
    """What the columns mean, by heading."""

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
        return self._no() if self.best is None else self._told(self.best)

    @property
    def weighed(self) -> bool:
        """Whether something beside the error counts."""
        return any(d.score is not None for d in self.designs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must not be overlooked beside the answer."""
        if self.best is None:
            return ()
        return (
            *about_epsilon(self.best.mechanism.epsilon),
            *about_weights(self.request.get("weights", {}), self.limits),
        )

    @property
    def protection(self) -> tuple[str, ...]:
        """Who is protected from what by the first design, and by others as far as they promise something else.

        Others of one kind are told together, by the weakest of their numbers. An epsilon of one's own is in the table.
        """
        if self.best is None:
            return ()
        lead, others = self.best.mechanism.protection, dict[str, list[D]]()
        for d in self.designs:
            told = d.mechanism.protection
            if not told.same_but(lead):
                others.setdefault(told.kind, []).append(d)
        rest = (
            f"Different with {_few(dict.fromkeys(d.name for d in kind))}{_at_most(kind)}: "
            f"{weakest([d.mechanism.protection for d in kind]).beside(lead)}"
            for kind in others.values()
        )
        return (lead.text, *rest)

    @property
    def next(self) -> str:
        """The command to type next: the first design tried out on made-up people, or shown where that takes long."""
        if self.best is None:
            return ""
        options = {"epsilon": self.best.mechanism.epsilon, **self.domain_options, **self.best.options}
        if not all(isinstance(x, int | float | str | list | tuple) for x in options.values()):
            return ""
        people = {"n": n} if (n := getattr(self.best, "n", None)) else {}
        small = self.best.mechanism.k <= _MANY and (n or 0) <= _MANY_PEOPLE
        if not small:
            return command("design", self.best.name, options | people)
        return command("simulate", self.best.name, options | people | {"data": "uniform"})

    @property
    def domain_options(self) -> Mapping[str, Any]:
        """The options that say what people may answer, beside those of the designs."""
        if self.labels is not None:
            return {"labels": self.labels}
        return {"k": self.request["k"]} if "k" in self.request else {}

    @property
    def limits_text(self) -> str:
        """The limits in words."""
        told = ", ".join(f"{LIMITED[name]} at most {most:g}" for name, most in self.limits.items())
        return f"the limits ({told})" if told else "the question"

    @property
    def within(self) -> str:
        """The same as a part of a sentence, if there are limits."""
        return f" within {self.limits_text}" if self.limits else ""

    def _chosen(self, best: D, least: str, error: str) -> tuple[str, str]:
        """How the first design comes to be first, and what is to be added where it has not quite the least `error`."""
        weights = [name for name in self.request.get("weights", {}) if self.weighed]
        if weights:
            return f"has {BESIDE[weights[0]]}" if len(weights) == 1 else "is the best compromise", ""
        other = min(self.designs, key=lambda d: getattr(d, error))
        above = getattr(best, error) / (getattr(other, error) or math.inf) - 1
        if above <= _ABOVE:
            return least, ""
        more = (
            f", {100 * above:.2g} % above the least, in {best.bytes:,} bytes instead of {other.bytes:,} ({other.name})"
        )
        return "is advised", more

    def nearest(self) -> Prediction[Any] | None:
        """If no design meets the limits: the one that misses them by least."""
        able = [] if self.designs else [o.design for o in self.out if o.design is not None]
        return min(able, key=lambda d: excess(d, self.limits), default=None)

    def _no(self) -> str:
        """The answer if there is none."""
        text, near = f"No design meets {self.limits_text}", self.nearest()
        if near is None:
            return f"{text}: none can be made."
        at = f" at epsilon {near.epsilon:g}" if self.request["epsilon"] is None else ""
        text += f"; the closest is {near.title}{at}: {missed(near, self.limits)}."
        blind = getattr(near, "blind", None)
        if blind is not None and self.limits.get("asr", math.inf) <= blind:
            text += f" Without any report a guess is right {100 * blind:.3g} % of the time already."
        return text

    def _takes(self, error_of: Callable[[Any, int], float]) -> str:
        """How many people the target takes, if the error is all that some design misses."""
        able = [o.design for o in self.out if o.design is not None and misses(o.design, self.limits) == ["stderr"]]
        if not able:
            return ""
        best = min(able, key=lambda d: value(d, "stderr"))
        n = smallest_n(lambda n: error_of(best.mechanism, n), self.limits["stderr"])
        return f" That error takes {n:,} people with {best.title}."

    @abstractmethod
    def _told(self, best: D) -> str:
        """The answer if there is one."""

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Callable[[D], str]]:
        """What a table tells of each design, by heading."""

    @property
    def shown(self) -> Mapping[str, Callable[[D], str]]:
        """The same, where weights are given with the score instead of the excess, which is of the error alone."""
        if not self.weighed:
            return self.columns
        return {name: cell for name, cell in self.columns.items() if name != "excess"} | {"score": _score}

    @property
    def legend(self) -> str:
        """What the columns mean, in a sentence."""
        told = {**self.meanings, "score": "the weighted sum, relative to the design of least error"}
        parts = [f"{name}: {told[name]}" for name in self.shown if name in told]
        return f"{'; '.join(parts)}." if parts else ""

    @abstractmethod
    def chart(self) -> altair.LayerChart:
        """The designs between two quantities that should be small; `deniable.present.charts.save` writes it."""

    def found(self) -> dict[str, Prediction[Any] | None]:
        """Single designs that answer a part of the question."""
        return {"closest": self.nearest()}

    def document(self) -> dict[str, Any]:
        """As plain data: `designs` best first, and the `design` of the first as devices take it."""
        return {
            "request": dict(self.request) | {"limits": dict(self.limits)},
            "feasible": self.feasible,
            "message": self.message,
            "next": self.next or None,
            **({"notes": list(self.notes)} if self.notes else {}),
            "designs": [d.document() for d in self.designs],
            **{name: d.document() for name, d in self.found().items() if d is not None},
            "out": [o.document() for o in self.out],
            **({} if self.best is None else {"design": self.best.mechanism.design}),
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """The designs, best first, as plain lists by the names of `document`; what is not one number is left out."""
        rows = [{"design": d.title, "mechanism": d.name, "epsilon": d.epsilon, **d.document()} for d in self.designs]
        plain = (int, float, str, bool, type(None))
        names = dict.fromkeys(key for row in rows for key in row)
        kept = [name for name in names if all(isinstance(row.get(name), plain) for row in rows)]
        return {name: [row.get(name) for row in rows] for name in kept}

    def to_frame(self) -> Any:
        """`to_columns` as a frame of Polars or pandas, whichever is installed (Polars first), else the columns."""
        return as_frame(self.to_columns())

    def parts(self) -> list[Table | str]:
        """For people: the answer, the designs with their numbers, why each, and what is out."""
        return [*self.overview(), *self.reasons(), *([Whole(f"Next: {self.next}")] if self.next else [])]

    def overview(self) -> list[Table | str]:
        """The answer, and the designs with their numbers."""
        parts: list[Table | str] = [self.message, *self.protection, *self.notes]
        if self.designs:
            head = (Column("design", wrap=True, most=24), *right(*self.shown))
            parts.append(Table(head, [[d.title, *(cell(d) for cell in self.shown.values())] for d in self.designs]))
            parts += [self.legend] if self.legend else []
        return parts

    def reasons(self) -> list[Table | str]:
        """Why each design is worth a choice or not, and what is out."""
        parts: list[Table | str] = []
        if self.designs:
            good = [[d.title, d.why] for d in self.designs if not d.beaten_by]
            parts.append(Table((Column("worth a choice", wrap=True, most=24), Column("why", wrap=True)), good))
            beaten, kept = dict[str, list[str]](), {d.name for d in self.designs if not d.beaten_by}
            for d in self.designs:
                beaten.setdefault(d.beaten_by, []).append(d.title if d.name in kept else d.name)
            lost = [f"{winner} beats {', '.join(dict.fromkeys(names))}" for winner, names in beaten.items() if winner]
            nearly = UP_TO * any(UP_TO in d.why for d in self.designs if d.beaten_by)
            told = f"Not worth a choice, since another design is at least as good in {self.compared}{nearly}"
            parts += [f"{told}: {'; '.join(lost)}."] if lost else []
        rows = [[o.title, o.reason] for o in self.out if not o.twin]
        if rows:
            more = f" ({len(rows) - _MOST_OUT} more with --json)" if len(rows) > _MOST_OUT else ""
            head = (Column("design", wrap=True, most=24), Column("why not", wrap=True))
            parts += [f"Left out{more}:", Table(head, rows[:_MOST_OUT])]
        return parts

    def __repr__(self) -> str:
        return f"<Plan: {self.message}>"

    def _repr_html_(self) -> str:
        """A small table with bars for notebooks: the message and the designs, the bars of their errors."""
        from deniable.present.html import Bar, parts_html

        errors = [getattr(d, "stderr", getattr(d, "loss", None)) for d in self.designs]
        most = max((x for x in errors if x is not None and math.isfinite(x)), default=0.0) or 1.0
        bars = [None if x is None or not math.isfinite(x) else Bar(x / most) for x in errors]
        return parts_html("Plan", self.overview(), bars)

    def naming(self, **names: str) -> Self:
        """The same, with options told by what the asker calls them: a file's name for what was read from it."""
        designs = tuple(replace(d, options={o: names.get(o, x) for o, x in d.options.items()}) for d in self.designs)
        return replace(self, request={**self.request, **names}, designs=designs)


def _score(d: Prediction[Any]) -> str:
    return "unknown" if d.score is None else f"{d.score:.4g}"


def _at_most(kind: Sequence[Prediction[Any]]) -> str:
    """That the largest epsilon is told, where there are several."""
    return " (told for the largest epsilon among them)" if len({d.epsilon for d in kind}) > 1 else ""


def _few(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    every = list(names)
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def rows_for(question: str) -> Iterator[tuple[str, Entry]]:
    """The mechanisms that answer a question, by name."""
    return ((name, entry) for name, entry in MECHANISMS.items() if entry.question == question)


def made(name: str, **options: Any) -> Any:
    """The mechanism, of the class that the question knows; refused where no reports can be drawn."""
    m = mechanism(name, **options)
    if m.refusal is not None:
        raise m.refusal
    return m


def sift(
    makers: Iterable[tuple[str, Callable[[], D]]],
    limits: Mapping[str, float],
    weights: Weights,
    between: Callable[[D], float] = lambda _: 0.0,
) -> tuple[list[D], tuple[Rejected, ...]]:
    """The designs within limits, best first, and what is out with the reason; what is unknown meets no limit.

    Those that are out count for the units of the weighed sum, so that a limit moves no design past another. What is
    less decides `between` equals.
    """
    found: list[D] = []
    out: list[Rejected] = []
    for name, make in makers:
        try:
            found.append(make())
        except DeniableError as error:
            out.append(Rejected(name, f"cannot be made: {error.message}"))
    score = weights.among(found)
    out += [Rejected(d.title, missed(d, limits), d) for d in found if misses(d, limits)]
    inside = (score.marked(d) for d in found if not misses(d, limits))
    return sorted(inside, key=lambda d: (*score.key(d), *rounded([between(d)]))), tuple(out)


def check_top(top: int | None) -> None:
    """Refuse what is no number of designs."""
    require(top is None or (isinstance(top, int) and top >= 1), "top", top, "an integer >= 1; left out for all")
