"""Reconstruction: how often the best possible guess from a report is right, expected and measured.

Of the value; or of the level of protection that a person chose, where that is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.core.channel import Channel
from deniable.core.guess import Guess, check_prior
from deniable.core.same import Same
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import ParameterError, is_whole, require
from deniable.mechanisms.base import Mechanism
from deniable.randomness import Simulation, simulation

__all__ = ["attack", "best_guesses", "check_size"]

_TARGETS = ("value", "level")
"""What can be guessed."""

VALUES_MAX = 1 << 22
"""Values among which a guess is made: a prior and the likelihoods of a report are lists of so many numbers."""
_REPORTS = 20_000
"""Reports that are attacked unless told otherwise."""

_CELLS = 1 << 21
"""Likelihoods that are looked at together."""


@dataclass(frozen=True, slots=True)
class _Bare:
    """A channel on its own, as an attack tells of it."""

    channel: Channel
    name: str = "channel"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Number of inputs."""
        return self.channel.k

    @property
    def epsilon(self) -> float | None:
        """What it leaks; None where some output rules an input out."""
        found = self.channel.proof().epsilon
        return found if math.isfinite(found) else None

    epsilon_exact = epsilon


@dataclass(frozen=True, slots=True, eq=False)
class Attack(Same):
    """What an attacker gains who knows the mechanism and the prior: always beside the best guess without a report."""

    mechanism: Mechanism | _Bare
    prior: FloatArray
    expected: Guess
    """By the closed form of the ideal parameters."""
    hits: int
    """Reports whose value was guessed."""
    reports: int
    """Reports that were attacked: 0 where a mechanism does not tell the likelihood of its reports."""
    seed: int
    target: str = "value"
    """What is guessed: the value, or the level."""
    tells: ClassVar[tuple[str, ...]] = ("mechanism", "expected", "hits", "reports", "seed", "target", "prior")

    def __repr__(self) -> str:
        told = f"the best guess of a {self.target} is right {100 * self.expected.success:.3g} % of the time"
        seen = f", {self.hits:,} of {self.reports:,} simulated ones were" if self.reports else ""
        return f"<Attack on {self.mechanism.name}: {told}, blind {100 * self.expected.blind:.3g} %{seen}>"

    def _repr_html_(self) -> str:
        """A small table with a bar for notebooks: how often the best guess is right."""
        from deniable.present.html import Bar, facts_html

        right, blind = self.expected.success, self.expected.blind
        facts = {"right with a report": f"{100 * right:.3g} %", "right without one": f"{100 * blind:.3g} %"}
        if self.reports:
            facts["simulated"] = f"{self.hits:,} of {self.reports:,} reports, seed {self.seed}"
        return facts_html(f"Attack on {self.mechanism.name}: best guess of a {self.target}", facts, bar=Bar(right))

    @property
    def measured(self) -> float | None:
        """Share of the reports whose value was guessed; None if no report was attacked."""
        return self.hits / self.reports if self.reports else None

    @property
    def stderr(self) -> float | None:
        """Standard error of `measured`, from what is expected."""
        chance = self.expected.success
        return math.sqrt(max(0.0, chance * (1 - chance)) / self.reports) if self.reports else None

    def document(self) -> dict[str, Any]:
        """As plain data."""
        m, more = self.mechanism, {}
        if self.target == "level":
            level: Any = self.expected
            more = {"target": self.target, "level_report": level.report, "bound": level.bound}
        return more | {
            "mechanism": m.name,
            "epsilon": m.epsilon,
            "epsilon_exact": m.epsilon_exact,
            "k": m.k,
            "params": m.params,
            "blind": self.expected.blind,
            "asr": self.expected.success,
            "gain": self.expected.gain,
            "lift": self.expected.success / self.expected.blind,
            "measured": self.measured,
            "measured_stderr": self.stderr,
            "reports": self.reports,
            "seed": self.seed,
            "simulated": True,
        }


def check_size(m: Mechanism) -> None:
    """Refuse to guess among more values than are weighed one by one."""
    hint = "A guess of one number among so many is hardly ever right; attack sw, pm or hm with fewer points."
    require(m.k <= VALUES_MAX, f"values of {m.name}", m.k, f"at most {VALUES_MAX:,} to be guessed", hint)


def attack(
    m: Mechanism | Channel,
    *,
    prior: object = None,
    target: str = "value",
    reports: int = _REPORTS,
    seed: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
) -> Attack:
    """Guess values from their reports as well as anyone can, under a prior (k numbers that sum to 1; uniform if None).

    Values are drawn from the prior, privatised by a seeded stream, and guessed by their largest posterior probability.
    Where a mechanism does not tell the likelihood of its reports, only the expected success is there.
    A channel (`dn.Channel`) is attacked in the same way, by its exact chances.
    With `target` "level" the level is guessed that a person chose (`pldp`), by someone who knows the value and the
    shares of the levels; the bound that follows from the promise stands beside it. `progress` hears how many
    reports are done, from 0 on, and of how many.

    >>> import deniable as dn
    >>> found = dn.attack(dn.mechanism("grr", epsilon=1.0, k=4), reports=1000)
    >>> round(found.expected.success, 3), found.expected.blind, abs(found.measured - 0.475) < 0.08
    (0.475, 0.25, True)
    """
    require(is_whole(reports, 1), "reports", reports, "an integer >= 1")
    require(target in _TARGETS, "target", target, f"one of {', '.join(_TARGETS)}")
    if isinstance(m, Channel):
        require(target == "value", "target", target, "value for a channel, which hides no level")
        return _attack_channel(m, prior, int(reports), seed)
    if not isinstance(m, Mechanism):
        hint = "Make one with dn.mechanism(...); chances become a channel by dn.Channel.from_matrix(...)."
        raise ParameterError(f"attack takes a mechanism or a channel, got {type(m).__name__}.", hint)
    check_size(m)
    if target == "level":
        return _attack_level(m, prior, int(reports), seed, progress or _unheard)
    pi = np.full(m.k, 1 / m.k) if prior is None else check_prior(prior, m.k)
    expected = m.guess(None if prior is None else pi)
    values, drawn = simulation(seed).spawn(2)
    if not m.bulk.reader.known:
        return Attack(m, pi, expected, 0, 0, seed)
    items = _draw(pi, reports, values)
    step = max(1, _CELLS // m.k)
    hits = 0
    for start in range(0, reports, step):
        (progress or _unheard)(start, reports)
        part = items[start : start + step]
        sent = m.privatize_items(part, drawn.spawn(1)[0])
        hits += int(np.count_nonzero(best_guesses(m, sent.columns, pi) == part))
    return Attack(m, pi, expected, hits, int(reports), seed)


def _attack_channel(channel: Channel, prior: object, reports: int, seed: int) -> Attack:
    """Values are drawn from the prior, reports from the exact chances, and guessed by the largest posterior."""
    pi = np.full(channel.k, 1 / channel.k) if prior is None else check_prior(prior, channel.k)
    chances = channel.matrix()
    joint = chances * pi[:, None]
    expected = Guess(float(joint.max(axis=0).sum()), float(pi.max()))
    values, drawn = simulation(seed).spawn(2)
    items, draws, hits = _draw(pi, reports, values), drawn.generator().random(reports), 0
    best = joint.argmax(axis=0)
    for x in np.unique(items).tolist():
        own = draws[items == x]
        sent = np.searchsorted(np.cumsum(chances[x]), own, side="right").clip(max=chances.shape[1] - 1)
        hits += int(np.count_nonzero(best[sent] == x))
    return Attack(_Bare(channel), pi, expected, hits, reports, seed)


def _unheard(_done: int, _total: int | None) -> None:
    """Nobody wants to know how far it is."""


def _attack_level(
    m: Any, prior: object, reports: int, seed: int, progress: Callable[[int, int | None], None]
) -> Attack:
    """Levels are drawn from the design's shares, and guessed from the whole report and the value."""
    hint = "Personal budgets are those of pldp."
    require(bool(m.protection.levels), "target", "level", f"value for {m.name}, which hides no level", hint)
    require(len(m.levels) > 1, "target", "level", "value where there is one level only")
    expected, pi = m.guess_level(prior), np.full(m.k, 1 / m.k) if prior is None else check_prior(prior, m.k)
    values, chosen, drawn = simulation(seed).spawn(3)
    items, levels = _draw(pi, reports, values), _draw(np.array(m.shares), reports, chosen)
    step = max(1, _CELLS // m.k)
    hits = 0
    for start in range(0, reports, step):
        progress(start, reports)
        part, own = (of[start : start + step] for of in (items, levels))
        sent = m.privatize_items(part, drawn.spawn(1)[0], levels=np.array(m.levels)[own])
        hits += int(np.count_nonzero(m.guessed_levels(sent, part) == own))
    return Attack(m, pi, expected, hits, reports, seed, "level")


def best_guesses(m: Mechanism, columns: Columns, prior: FloatArray) -> IntArray:
    """For each report the value of largest posterior probability; of several equal ones the first, which is as good."""
    best: IntArray = np.argmax(m.bulk.reader.likelihood(columns) * prior, axis=1).astype(np.int64)
    return best


def _draw(prior: FloatArray, size: int, stream: Simulation) -> IntArray:
    """Values from the prior; those of probability 0 never come."""
    held = np.flatnonzero(prior)
    ends = np.cumsum(prior[held])
    at = np.searchsorted(ends, stream.generator().random(size) * ends[-1], side="right")
    drawn: IntArray = held[np.minimum(at, held.size - 1)].astype(np.int64)
    return drawn
