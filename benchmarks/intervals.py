"""How often 95 % intervals contain the truth: every mechanism, both targets, few and many people.

    python benchmarks/intervals.py                       the whole table (about a quarter of an hour of one core)
    python benchmarks/intervals.py --quick               50 runs per setting and few settings, printed only
    python benchmarks/intervals.py --only duchi,ussmix   some mechanisms or families; other rows stay as they are

Writes docs/data/coverage.csv; docs/generate.py writes the page. In every run people are drawn from a
known population, report once, and the intervals of both targets are compared with their own truth: that of these
people, and that of the population. Exit code 1 if a coverage is outside of 93 to 97 % beyond chance and the estimates
do not say so in a note.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from measure import DATA, read_csv, table, write_csv
from scipy.stats import binomtest

import deniable as dn
from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError
from deniable.estimate.result import Part
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable_client.kernels.box import number_of
from deniable_client.kernels.keyvalue import GRID

SEED, RUNS, QUICK_RUNS, LEVEL = 20261116, 2000, 50, 0.95
EPSILONS = (0.5, 1.0, 4.0)
PEOPLE = {100: EPSILONS, 300: (4.0,), 1000: (1.0,), 10_000: (1.0,)}
"""How many there are, and the epsilons at which that is measured: few people and a large epsilon are hardest."""
LOW, HIGH = 0.93, 0.97
"""Where coverage is to lie."""
AGAIN = 5
"""A setting with a coverage outside of that and without a note is measured once more, with so many times the runs and
other random numbers, which then count: among thousands of cells some are outside by chance."""
FLAGGED = 0.5
"""Share of a cell's runs from which on its note counts."""
CHANCE = 0.9999
"""A cell is outside beyond chance if the Clopper-Pearson interval of this level for its coverage excludes all of LOW to
HIGH: of 2,500 cells with a coverage of LOW or HIGH itself, one in eight such tables would have one."""
TARGETS: tuple[Target, ...] = ("reporters", "population")
BATCH = 200_000
"""People whose reports are drawn together."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism with n people of a population."""

    family: str
    mechanism: str
    epsilon: float
    n: int
    part: str
    population: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def shares(k: int, groups: Sequence[Sequence[int]]) -> tuple[FloatArray, dict[str, int]]:
    """A population, and the items that are looked at: in each group a frequent, a rare (2 %) and an absent one."""
    f, seen = np.ones(k), {}
    kinds = ("sensitive ", "harmless ") if len(groups) > 1 else ("",)
    for kind, group in zip(kinds, groups, strict=True):
        for name, item in zip(("frequent", "rare", "absent"), group, strict=True):
            seen[kind + name] = item
    told = {"frequent": 0.3 if len(groups) > 1 else 0.4, "rare": 0.02, "absent": 0.0}
    fixed = {item: told[name.split()[-1]] for name, item in seen.items()}
    rest = [i for i in range(k) if i not in fixed]
    f[rest] = (1 - sum(fixed.values())) / len(rest)
    for item, share in fixed.items():
        f[item] = share
    return f, seen


FREQUENCY = {"ue": {"p": 0.8}, "lh": {"g": 3}, "affine": {"k": 31}}
"""Options beside the number of answers, or another number of them where the usual one has no design."""
LEVELS = {"levels": "0.5,1,4", "level_epsilon": 1.0}
K, K_SENSITIVE, POINTS = 20, 40, 8
SENSITIVE = 20
"""The first so many of K_SENSITIVE items."""
NUMBERS: Mapping[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "all at an end": lambda rng, n: np.ones(n),
    "all alike": lambda rng, n: np.full(n, 0.3),
    "spread": lambda rng, n: rng.random(n),
    "rare large ones": lambda rng, n: (rng.random(n) < 0.02).astype(np.float64),
}
"""Populations of numbers from 0 to 1."""
HOURS: Mapping[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "all alike": lambda rng, n: np.full(n, 0.5),
    "spread": lambda rng, n: 0.25 + rng.random(n) / 2,
    "hardly any direction": lambda rng, n: np.where(rng.random(n) < 0.1, 0.5, rng.random(n)),
}
"""Populations of directions, as shares of the circle; the mean of each is half of it, where an interval goes past no
end of the circle without holding all of it."""
MARGINS = {"box": "frequency"}
"""What reports about several questions tell, where it is not named as the mechanism is."""
SIZES = (3, 4)
"""Answers to questions that are asked together."""
MEANS = {"all at an end": 1.0, "all alike": 0.3, "spread": 0.5, "rare large ones": 0.02}


def settings(quick: bool) -> Iterator[Setting]:
    """All of them. Where epsilon does not enter (levels) there is one of it."""
    people = (100,) if quick else tuple(PEOPLE)
    for name, row in dn.MECHANISMS.items():
        if row.kind != "mechanism":
            continue
        family = row.cls.__module__.split(".")[-2]
        budgets = (1.0,) if family == "personal" or row.default_epsilon or quick else EPSILONS
        for epsilon in budgets:
            for n in people:
                if epsilon in PEOPLE[n] and (name != "she" or n < max(PEOPLE)):  # its noise takes too long to draw
                    yield from of(family, name, epsilon, n)


def of(family: str, name: str, epsilon: float, n: int) -> Iterator[Setting]:
    """The settings of a mechanism with n people at this epsilon."""
    options: dict[str, Any] = {}
    if name == "arc":
        for population in HOURS:
            yield Setting("direction", name, epsilon, n, "mean", population, {"interval": (0, 24), "points": 48})
    elif name == "several":
        yield Setting("ticks", name, epsilon, n, "frequency", options={"k": 4, "most": 2})
    elif family == "survey":
        yield Setting(family, name, epsilon, n, MARGINS.get(name, name), options={"sizes": SIZES})
    elif family in ("optimal", "release"):
        yield Setting(family, name, epsilon, n, "frequency", options=written()[name])
    elif family == "numeric":
        for population in NUMBERS:
            yield Setting(family, name, epsilon, n, "mean", population, {"interval": (0, 1)})
    elif family == "keyvalue":
        yield Setting(family, name, epsilon, n, "frequency, mean", options={"k": K})
    elif family == "metric":
        yield Setting(family, name, epsilon, n, "frequency", options={"interval": (0, 1), "points": POINTS})
    elif family == "utility":
        options = {"k": K_SENSITIVE, "sensitive": SENSITIVE}
        if name == "uue-levels":
            options["item_epsilon"] = ",".join(["0.5"] * 10 + ["2"] * 10)
        if name == "utility":
            options["base"] = "plh"
        yield Setting(family, name, epsilon, n, "frequency", options=options)
    elif name == "upldp":
        yield Setting(family, name, epsilon, n, "frequency", options={"k": K, "sensitive": K // 2, **LEVELS})
    elif name == "pldp":
        for base in ("sue", "oue", "grr", "lh"):
            yield Setting(family, name, epsilon, n, "frequency", f"base {base}", {"k": K, "base": base, **LEVELS})
    else:
        yield Setting(family, name, epsilon, n, "frequency", options={"k": K, **FREQUENCY.get(name, {})})


def written() -> Mapping[str, Mapping[str, Any]]:
    """Matrices and promises to POINTS answers: near ones are reported more often, or the first two are sensitive."""
    near = [[max(1, 9 - 3 * min((x - y) % POINTS, (y - x) % POINTS)) for y in range(POINTS)] for x in range(POINTS)]
    budgets = [[0.0 if x == y else 1.0 if min(x, y) < 2 else 2.0 for y in range(POINTS)] for x in range(POINTS)]
    distances = dn.promise(points=list(range(POINTS)), epsilon=1 / (POINTS - 1))
    return {
        "matrix": {"matrix": near},
        "optimal": {"promise": dn.promise(budgets=budgets)},
        "optimal-release": {"promise": distances, "points": POINTS},
    }


def make(s: Setting) -> Any:
    """The mechanism of a setting."""
    free = dn.MECHANISMS[s.mechanism].default_epsilon is not None
    return dn.mechanism(s.mechanism, **({} if free else {"epsilon": s.epsilon}), **s.options)


Truths = dict[str, tuple[FloatArray, FloatArray]]
"""By part: what is true of these people, and of the population."""


def measure(s: Setting, runs: int, seed: int = SEED) -> list[dict[str, Any]]:
    """Shares of runs whose intervals contain the truth, by part, label and target; notes are those on this label."""
    m = make(s)
    rng = dn.simulation(seed ^ zlib.crc32(repr((s.mechanism, s.epsilon, s.n, s.population)).encode()))
    run = RUNS_OF.get(s.family, _values)
    hits: dict[tuple[str, str, str], list[bool]] = {}
    widths: dict[tuple[str, str, str], list[float]] = {}
    notes: dict[tuple[str, str, str], list[str]] = {}
    start, refused = time.process_time(), 0
    for found, truths, seen in run(s, m, rng, runs):
        if found is None:
            refused += 1
            continue
        for part, both in truths.items():
            for target, truth in zip(TARGETS, both, strict=True):
                ends = found[part].interval(LEVEL, target, False)
                inside = ends.covers(truth)
                for label, item in seen.items():
                    if not np.isnan(truth[item]):
                        key = (part, label, target)
                        hits.setdefault(key, []).append(bool(inside[item]))
                        widths.setdefault(key, []).append(float(ends.high[item] - ends.low[item]))
                        notes.setdefault(key, []).append(ends.note_of(item))
    return [
        {
            "family": s.family,
            "mechanism": s.mechanism,
            "epsilon": s.epsilon,
            "n": s.n,
            "population": s.population,
            "part": part,
            "label": label,
            "target": target,
            "runs": len(hits[part, label, target]),
            "refused": refused,
            "coverage": round(float(np.mean(hits[part, label, target])), 4),
            "width": float(f"{np.median(widths[part, label, target]):.4g}"),
            "flagged": round(float(np.mean([bool(note) for note in notes[part, label, target]])), 4),
            "note": re.sub(r"\d+ of \d+", "some", max(notes[part, label, target])),
            "seconds": round(time.process_time() - start, 2),
        }
        for part, label, target in hits
    ]


Parts = Mapping[str, Part]
Run = tuple[Parts | None, Truths, dict[str, int]]
"""What is estimated (None: refused), what is true, and which items are looked at."""


def _values(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """Single values, with or without levels: by the law of the tally where it is known, else by reports."""
    k = m.k
    half = s.options.get("sensitive")
    groups = [(0, 1, 2), (half, half + 1, half + 2)] if half else [(1, 2, 3)]
    f, seen = shares(k, groups)
    generator = rng.generator()
    counts = generator.multinomial(s.n, f, size=runs)
    for tally, people in zip(_tallies(m, counts, rng), counts, strict=True):
        yield _parts(m, tally), {"frequency": (people / s.n, f)}, seen


def _tallies(m: Any, counts: IntArray, rng: dn.Simulation) -> Iterator[dn.Tally]:
    try:
        m.simulate_tally(counts[0], rng)
    except (ParameterError, AttributeError):
        yield from _reported(m, counts, rng)
        return
    for people in counts:
        yield m.simulate_tally(people, rng)


def _reported(m: Any, counts: IntArray, rng: dn.Simulation) -> Iterator[dn.Tally]:
    n, k = int(counts[0].sum()), counts.shape[1]
    step = max(1, BATCH // n)
    for at in range(0, len(counts), step):
        some = counts[at : at + step]
        items = np.repeat(np.tile(np.arange(k), len(some)), some.ravel()).astype(np.int64)
        reports = m.privatize_items(items, rng)
        for i in range(len(some)):
            yield m.tally(reports[i * n : (i + 1) * n])


def _numbers(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """Numbers from 0 to 1, on the grid without loss where the population allows."""
    generator = rng.generator()
    draw = NUMBERS[s.population]
    whole = MEANS[s.population]
    if s.population == "all alike":
        whole = float(m.grid.at(np.rint(np.array([whole * (m.k - 1)])).astype(np.int64))[0])
    for _ in range(runs):
        items = np.rint(draw(generator, s.n) * (m.k - 1)).astype(np.int64)
        tally = m.tally(m.privatize_items(items, rng))
        own = float(m.grid.at(items).mean())
        yield _parts(m, tally), {"mean": (np.array([own]), np.array([whole]))}, {"mean": 0}


def _directions(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """Hours of the day; what is true of these people is the direction of the sum of theirs."""
    generator, draw = rng.generator(), HOURS[s.population]
    for _ in range(runs):
        items = np.rint(draw(generator, s.n) * m.k).astype(np.int64) % m.k
        turned = np.exp(2j * np.pi * items / m.k).sum()
        found = _parts(m, m.tally(m.privatize_items(items, rng)))
        near = 12.0 if found is None else float(found["mean"].value[0])
        own = near + (float(np.angle(turned)) / (2 * np.pi) * 24 - near + 12) % 24 - 12  # in the turn of the interval
        yield found, {"mean": (np.array([own]), np.array([12.0]))}, {"mean": 0}


def _several(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """Answers to two questions, of which some go together: shares of the answers to each, or the interactions."""
    first, second = (np.array([0.6, 0.4 - 0.02 * (k > 3), *[0.0] * (k - 3), 0.02 * (k > 3)]) for k in SIZES)
    table = np.outer(first, second)
    table[:2, :2] += [[0.1, -0.1], [-0.1, 0.1]]
    counts = rng.generator().multinomial(s.n, table.ravel(), size=runs)
    names = ("frequent", "absent", "rare")
    for tally, people in zip(_tallies(m, counts, rng), counts, strict=True):
        both = [each.reshape(SIZES) for each in (people / s.n, table)]
        if s.part == "interaction":
            own, whole = (m.interaction_of(each) for each in both)
            seen = dict(zip(names, (0, 2 * SIZES[1] + 2, SIZES[1] - 1), strict=True))
        else:
            own, whole = (np.concatenate([each.sum(axis=1), each.sum(axis=0)]) for each in both)
            seen = dict(zip(names, (0, 2, sum(SIZES) - 1), strict=True))
        yield _parts(m, tally), {s.part: (own, whole)}, seen


TICKED = {(): 0.2, (0,): 0.38, (1,): 0.18, (0, 1): 0.2, (0, 3): 0.02, (1, 3): 0.02}
"""Shares of people who tick these of four options."""


def _ticks(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """What people tick: shares of those who tick each option."""
    f = np.zeros(m.k)
    for chosen, share in TICKED.items():
        f[number_of(chosen, m.options)] = share
    counts = rng.generator().multinomial(s.n, f, size=runs)
    ticked, seen = m.bulk.stands_for, {"frequent": 0, "absent": 2, "rare": 3}
    for tally, people in zip(_tallies(m, counts, rng), counts, strict=True):
        yield _parts(m, tally), {"frequency": (people / s.n @ ticked, f @ ticked)}, seen


def _pairs(s: Setting, m: Any, rng: dn.Simulation, runs: int) -> Iterator[Run]:
    """One pair each; values of a key are 0.2 to 1 (mean 0.6), so that rounding them to an end adds noise."""
    f, seen = shares(m.k, [(1, 2, 3)])
    generator = rng.generator()
    step = max(1, BATCH // s.n)
    whole = np.where(f > 0, 0.6, np.nan)
    for at in range(0, runs, step):
        size = min(step, runs - at)
        keys = generator.choice(m.k, size=size * s.n, p=f)
        values = generator.uniform(0.2, 1.0, keys.size)
        steps = np.rint((1 + values) / 2 * GRID).astype(np.int64)
        reports = m.privatize(PairSets(np.arange(keys.size + 1), keys, steps), rng=rng)
        for i in range(size):
            part = slice(i * s.n, (i + 1) * s.n)
            held = np.bincount(keys[part], minlength=m.k)
            sums = np.bincount(keys[part], values[part], minlength=m.k)
            own = np.where(held > 0, sums / np.maximum(held, 1), np.nan)
            truths = {"frequency": (held / s.n, f), "mean": (own, whole)}
            yield _parts(m, m.tally(reports[part])), truths, seen


RUNS_OF = {"numeric": _numbers, "keyvalue": _pairs, "direction": _directions, "survey": _several, "ticks": _ticks}
"""How people answer, by what they are asked; single values otherwise."""


def _parts(m: Any, tally: dn.Tally) -> Parts | None:
    """The estimates, or None where the mechanism refuses to make one of so few reports."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return m.parts(tally)  # type: ignore[no-any-return]
    except ParameterError:
        return None


# ---- files


def study(only: set[str], runs: int, quick: bool) -> list[dict[str, Any]]:
    """Measure all settings, or those of some mechanisms or families."""
    rows: list[dict[str, Any]] = []
    start = time.perf_counter()
    for s in settings(quick):
        if only and not only & {s.mechanism, s.family}:
            continue
        found = measure(s, runs)
        if any(verdict(row) in UNTOLD for row in found) and not quick:
            found = measure(s, AGAIN * runs, SEED + 1)
        rows += found
        least = f"least coverage {min(r['coverage'] for r in found):.1%}" if found else "no unbiased estimate"
        told = (
            f"{time.perf_counter() - start:6.0f} s: {s.mechanism} epsilon {s.epsilon:g} n {s.n} {s.population}: {least}"
        )
        print(told, file=sys.stderr, flush=True)
    return rows


def keep(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the table; rows of mechanisms that were not measured now stay as they are."""
    now = {r["mechanism"] for r in rows}
    path = DATA / "coverage.csv"
    before = [r for r in read_csv("coverage") if r["mechanism"] not in now] if path.exists() else []
    order = list(dn.MECHANISMS)
    write_csv("coverage", sorted([*before, *rows], key=lambda r: order.index(r["mechanism"])))


def render(rows: Sequence[Mapping[str, str]]) -> str:
    """The measured part of the page: by family and part, and all settings outside of the range."""
    lines = []
    for family, part in dict.fromkeys((r["family"], r["part"]) for r in rows):
        for target in TARGETS:
            own = [r for r in rows if (r["family"], r["part"], r["target"]) == (family, part, target)]
            found = np.array([float(r["coverage"]) for r in own])
            low, high = found < LOW, found > HIGH
            names = len({r["mechanism"] for r in own})
            counts = [str(found.size), str(int((~low & ~high).sum())), str(int(high.sum())), str(int(low.sum()))]
            least, middle, most = (f"{100 * x:.1f} %" for x in (found.min(), float(np.median(found)), found.max()))
            lines.append([family, str(names), part, target, *counts, least, middle, most])
    head = ["family", "mechanisms", "part", "target", "settings", "93 to 97 %", "above", "below"]
    return table([*head, "least", "median", "most"], lines, 4) + "\n\n" + _outside(rows)


UNTOLD = ("above unflagged", "below unflagged")


def verdict(row: Mapping[str, Any]) -> str:
    """Where the coverage of a cell lies, and if outside of the range, whether its estimates say so."""
    found = float(row["coverage"])
    if LOW <= found <= HIGH:
        return "within"
    told = "flagged" if float(row["flagged"]) >= FLAGGED else "unflagged"
    return f"{'below' if found < LOW else 'above'} {told}"


def beyond_chance(row: Mapping[str, Any]) -> bool:
    """Whether the cell's coverage would be outside of the range with any number of runs: see CHANCE."""
    runs = int(row["runs"])
    likely = binomtest(round(float(row["coverage"]) * runs), runs).proportion_ci(CHANCE, "exact")
    return bool(likely.high < LOW or likely.low > HIGH)


def summary(rows: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Cells by verdict in one line, and the number of unflagged ones that are outside beyond chance."""
    found = [verdict(row) for row in rows]
    beyond = sum(beyond_chance(row) for row, name in zip(rows, found, strict=True) if name in UNTOLD)
    names = ("within", "above flagged", UNTOLD[0], "below flagged", UNTOLD[1])
    told = ", ".join(f"{found.count(name):,} {name}" for name in names)
    return f"{len(rows):,} cells: {told}; unflagged beyond chance {beyond}", beyond


def _outside(rows: Sequence[Mapping[str, str]]) -> str:
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        where, _, told = verdict(row).partition(" ")
        if told:
            why = row["note"] if told == "flagged" else "none: within what chance makes of 93 to 97 %"
            groups.setdefault((where, why), []).append(float(row["coverage"]))
    lines = [
        [why, where, str(len(found)), f"{100 * min(found):.1f} to {100 * max(found):.1f} %"]
        for (where, why), found in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]
    cells = table(["note", "coverage is", "settings", "from, to"], lines, 2)
    line = summary(rows)[0].replace("; ", ";\n")
    return f"{line}.\n\nOutside of 93 to 97 %, and what the estimates say of it:\n\n{cells}"


def main(arguments: Sequence[str]) -> int:
    """Measure, and keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs and few settings, printed only")
    parser.add_argument("--only", default="", help="some mechanisms or families; other rows stay as they are")
    parser.add_argument("--runs", type=int, default=RUNS, help="of every setting")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args(arguments)
    rows = study(set(options.only.split(",")) - {""}, QUICK_RUNS if options.quick else options.runs, options.quick)
    if options.json:
        print(json.dumps({"rows": rows}))
    elif options.quick:
        print(render([{key: str(value) for key, value in row.items()} for row in rows]))
    if not options.quick:
        keep(rows)
        rows = read_csv("coverage")
    told, beyond = summary(rows)
    print(told, file=sys.stderr)
    return int(beyond > 0 and not options.quick)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
