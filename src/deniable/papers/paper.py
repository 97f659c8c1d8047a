"""What a reproduction is made of: a paper is a table of figures and a table of claims.

To add a paper, write one module with

- a function per figure that returns the rows of a table, and one that draws them (`Figure`; `charts.lines`). Data that
  are made up have a name by `made_up` in some column: the picture then says so, as it does if streams were drawn from;
- a function per claim that measures: it returns numbers by name, under the claim's id (`Measures.add`). Numbers are
  measured when it runs; what the paper itself prints is had from the claim (`Paper.claim`), not written there;
- `claims.toml` beside it: key and title of the paper, and a table per claim in the order of the page: what the paper
  says, where, what it prints (`paper`), and the rule that makes a verdict of the numbers (`rules.read_rule`). Where the
  reading decides, `quote` has the paper's own words, no more of them than needed. What the paper does not say, but this
  project asks, is `ours = true`. Several claims may share a `[rule.NAME]`. Each statement that has no claim is a
  `[[left_out]]`, with the reason;
- `PAPER = read_paper(...)`, which checks the tables;

and put it into `runner.PAPERS`. Functions get a `Context`: whether to be quick, where data sets are, seeded streams by
name, and `once` for results that several claims share (`shared` marks a function that is used so). What cannot be
measured in a run is `rules.Missing`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, TypeVarTuple

from deniable.errors import ParameterError, require
from deniable.papers.evidence import Evidence, Missing
from deniable.papers.rules import Rule, Value, Verdict, decide, read_rule
from deniable.randomness import Simulation, simulation

if TYPE_CHECKING:
    import altair

__all__ = [
    "SEED",
    "Claim",
    "Context",
    "Figure",
    "Found",
    "LeftOut",
    "Measures",
    "Paper",
    "Rows",
    "fewest_runs",
    "made_up",
    "read_paper",
    "shared",
    "silent",
]

SEED = 1
"""Seed of all simulations, fixed once; the numbers of a run can be had again with it."""

Rows: TypeAlias = Sequence[Mapping[str, str | int | float | None]]
"""A table: the same columns in every row."""

Ts = TypeVarTuple("Ts")
T = TypeVar("T")
Measure: TypeAlias = "Callable[[Context], Evidence | Missing]"
Measured = TypeVar("Measured", bound="Callable[[Context], Evidence | Missing]")


_MADE_UP = " (made up)"


def silent(message: str) -> None:
    """Progress that nobody wants to see."""


def made_up(name: str) -> str:
    """The name of data that are made up in place of real ones; rows that hold it make their figure say so.

    >>> made_up("Census")
    'Census (made up)'
    """
    return name + _MADE_UP


def made_up_in(rows: Rows) -> tuple[str, ...]:
    """The data in a table that are made up, without the mark, in the order in which they come.

    >>> made_up_in([{"data": made_up("Census"), "n": 3}, {"data": "Adult", "n": 3}])
    ('Census',)
    """
    texts = dict.fromkeys(text for row in rows for text in row.values() if isinstance(text, str))
    return tuple(text.removesuffix(_MADE_UP) for text in texts if text.endswith(_MADE_UP))


def fewest_runs(rows: Rows) -> dict[str, int]:
    """The evidence of how many runs there were, from a table that tells them; the fewest if they differ.

    >>> fewest_runs([{"runs": 50}, {"runs": 8}])
    {'runs': 8}
    """
    return {"runs": min(int(row["runs"] or 0) for row in rows)}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its file name, what it shows, and how it is computed and drawn."""

    id: str
    title: str
    where: str
    compute: Callable[[Context], Rows]
    draw: Callable[[Rows], altair.TopLevelMixin]


@dataclass(frozen=True, slots=True)
class Found:
    """What a claim's measurement found, and the names of the made-up data that it was shown."""

    measured: Evidence | Missing
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the paper says that can be right or wrong.

    `where` is the place in the paper, without its key; `figure` the id of the figure the claim is read from, if that is
    one of ours. What `measure` finds decides by `rule`, and nothing else does. `quote` has the paper's own words where
    the verdict hangs on how they are read. `ours`: a question that this project asks; the paper does not say it.
    """

    id: str
    claim: str
    where: str
    paper: Value
    rule: Rule
    measure: Measure
    figure: str | None = None
    quote: str = ""
    ours: bool = False

    @property
    def whose(self) -> str:
        """Who says it: the paper, or this project."""
        return "ours" if self.ours else "the paper's"

    def find(self, context: Context) -> Found:
        """What is measured now."""
        before = len(context.shown)
        measured = self.measure(context)
        return Found(measured, tuple(dict.fromkeys(context.shown[before:])))

    def judge(self, found: Found) -> Verdict:
        """The verdict on what was measured; the note says whether data of the figure were made up."""
        if isinstance(found.measured, Missing):
            return Verdict("not tested", None, found.measured.reason)
        verdict = decide(self.rule, found.measured)
        if not found.shown:
            return verdict
        return replace(
            verdict, note="; ".join(filter(None, (f"on made-up data ({', '.join(found.shown)})", verdict.note)))
        )

    def test(self, context: Context) -> Verdict:
        """The verdict on what is measured now."""
        return self.judge(self.find(context))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A statement of the paper that has no claim, and why."""

    statement: str
    where: str
    reason: str


class Measures(dict[str, Measure]):
    """The measurements of a module, by the ids of their claims."""

    def __call__(self, id: str) -> Callable[[Measured], Measured]:
        """A decorator: the function measures what this claim is about."""

        def keep(measure: Measured) -> Measured:
            require(id not in self, "id", id, "another one than those before: each claim is measured once")
            self[id] = measure
            return measure

        return keep


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper under its short `name`; `key` is its key in docs/refs.bib."""

    name: str
    key: str
    title: str
    figures: Sequence[Figure]
    claims: Sequence[Claim]
    left_out: Sequence[LeftOut] = ()

    def __post_init__(self) -> None:
        known = [figure.id for figure in self.figures]
        for kind, ids in (("figures", known), ("claims", [claim.id for claim in self.claims])):
            twice = sorted({i for i in ids if ids.count(i) > 1})
            require(not twice, kind, twice, "different from each other in their ids")
        lost = [c.id for c in self.claims if c.figure is not None and c.figure not in known]
        require(not lost, "figure", lost, f"one of {', '.join(known) or 'none'} for these claims")

    def figure(self, name: str) -> Figure:
        """The figure of this id; "5" is short for "fig5"."""
        known = {figure.id: figure for figure in self.figures}
        found = known.get(name) or known.get(f"fig{name}")
        if found is None:
            listed = ", ".join(known) or "none"
            raise ParameterError(f"figure must be one of {listed} for {self.name}, got {name!r}.")
        return found

    def claim(self, id: str) -> Claim:
        """The claim of this id."""
        known = {claim.id: claim for claim in self.claims}
        require(id in known, "claim", id, f"one of {', '.join(known) or 'none'} for {self.name}")
        return known[id]


_SAYS = ("claim", "where", "paper", "figure", "quote", "ours")


def read_paper(name: str, figures: Sequence[Figure], *parts: Measures) -> Paper:
    """The paper in the folder of this name: what it says is in `claims.toml` there, what is measured in `parts`."""
    told = tomllib.loads((files("deniable.papers") / name / "claims.toml").read_text("utf-8"))
    measures = {id: measure for part in parts for id, measure in part.items()}
    once = len(measures) == sum(map(len, parts)) and set(measures) == set(told["claim"])
    require(once, "parts", ", ".join(measures), f"one measurement for each of {', '.join(told['claim'])}")
    claims = []
    for id, head in told["claim"].items():
        says = {key: head.pop(key) for key in _SAYS if key in head}
        shared = told["rule"][head.pop("rule")] if "rule" in head else {}
        claims.append(Claim(id, rule=read_rule({**shared, **head}), measure=measures[id], **says))
    left_out = [LeftOut(**one) for one in told["left_out"]]
    return Paper(name, told["key"], told["title"], figures, claims, left_out)


@dataclass(frozen=True, slots=True)
class Context:
    """What figures and claims are computed with, in one run for one paper."""

    paper: Paper
    quick: bool = False
    data_dir: Path | None = None
    seed: int = SEED
    progress: Callable[[str], None] = silent
    _made: dict[object, tuple[Any, list[str]]] = field(default_factory=dict, repr=False)
    """Results, each with the names of the streams that it was drawn from."""
    _asked: list[str] = field(default_factory=list, repr=False)
    shown: list[str] = field(default_factory=list, repr=False)
    """Names of made-up data, each time that rows with them were asked for."""

    def stream(self, name: str) -> Simulation:
        """A seeded stream of this name: the same whatever else is computed, and in whatever order."""
        self._asked.append(name)
        return self.sample(name)

    def sample(self, name: str) -> Simulation:
        """The same for choosing among real data: what is shown is then not simulated, and does not say so."""
        text = f"{self.seed}/{self.paper.name}/{name}"
        return simulation(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))

    def once(self, make: Callable[[Context, *Ts], T], *args: *Ts) -> T:
        """What `make` returns for these arguments, computed at the first call only."""
        if (make, args) in self._made:
            self._asked.extend(self._made[make, args][1])
        else:
            before = len(self._asked)
            made = make(self, *args)
            self._made[make, args] = made, self._asked[before:]
        result: T = self._made[make, args][0]
        return result

    def rows(self, figure: str) -> Rows:
        """The rows of one of the paper's figures, computed once for all figures that show them."""
        rows = self.once(self.paper.figure(figure).compute)
        self.shown.extend(made_up_in(rows))
        return rows

    def streams(self, figure: str) -> list[str]:
        """The streams that the rows of a figure were drawn from."""
        self.rows(figure)
        return self._made[self.paper.figure(figure).compute, ()][1]

    def recall(self, figure: str, rows: Rows, streams: list[str]) -> None:
        """The rows of a figure that were computed before, by an earlier process of the same run."""
        self._made[self.paper.figure(figure).compute, ()] = rows, streams

    def marks(self, figure: str) -> tuple[str, ...]:
        """What the picture of a figure must say about its data: made up, simulated, or nothing."""
        names, drawn = made_up_in(self.rows(figure)), self.streams(figure)
        made = [f"MADE-UP DATA ({', '.join(names)})."] if names else []
        return (*made, *([f"Simulated with seed {self.seed}: no real reports."] if drawn else []))


def shared(make: Callable[[Context, *Ts], T]) -> Callable[[Context, *Ts], T]:
    """A decorator: what a function returns for its arguments is computed once in a run, for all who ask for it."""

    @wraps(make)
    def kept(context: Context, *args: *Ts) -> T:
        return context.once(make, *args)

    return kept
