"""KSKV's experiments: the data, or populations like them, and repeated collections with every mechanism."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.intervals import spread
from deniable.core.types import FloatArray
from deniable.datasets.folder import data_folder
from deniable.estimate.result import Estimate
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.bulk import SignedUnaryBulk
from deniable.mechanisms.keyvalue.estimate import MeanPart, Score, score
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.mechanisms.protocol import permutation
from deniable.mechanisms.registry import mechanism, protocol
from deniable.papers.paper import Context, Rows, made_up
from deniable.randomness import Simulation

__all__ = ["SERIES", "KeyValueData", "enough", "load_data", "run_forms", "several", "single", "unary_counts"]

_CHUNK = 1 << 14
_FILES = {"E-Commerce": ("ecommerce.csv.gz", 1206, (1.0, 5.0)), "Clothing": ("renttherunway.csv.gz", 5850, (2.0, 10.0))}

_UNARY, _OFTEN = ("ks-ue", "pckv-ue"), {True: 100, False: 400}
"""Mechanisms whose counts are drawn without reports, which takes little time, and their runs: quick, and in full."""

SERIES: Mapping[str, Mapping[str, str]] = {
    "ks-grr": {"repaired": "ks-grr, repaired", "pooled": "ks-grr, pooled kv-ss", "paper": "ks-grr, as printed"},
    "ks-adap": {"repaired": "ks-adap, repaired", "paper": "ks-adap, as printed"},
}
"""What the forms of the protocols are called in figures."""


def _often(name: str, epsilon: float, quick: bool) -> int:
    """Runs of what takes little time: four times as many where few keys are found, so that means are seen rarely."""
    base, _, length = name.partition(" l=")
    times = 4 if length == "2" and epsilon <= 2 and not quick else 1
    return times * _OFTEN[quick] if base in _UNARY else 0


@dataclass(frozen=True, slots=True, eq=False)
class KeyValueData:
    """Pairs of many people; `made_up` if the real ones are not there."""

    name: str
    pairs: PairSets
    k: int
    made_up: bool

    def records(self) -> KeyValueData:
        """Every pair as a person of its own: what is promised is then about single pairs, not about people."""
        count = self.pairs.keys.size
        alone = PairSets(np.arange(count + 1), self.pairs.keys, self.pairs.values)
        return KeyValueData(self.name, alone, self.k, self.made_up)


def load_data(context: Context, name: str) -> KeyValueData:
    """E-Commerce reviews or clothing rentals (RentTheRunway), from the data folder; else a population like them."""
    file, k, ends = _FILES[name]
    folder = data_folder(context.data_dir)
    if folder is None or not (folder / file).is_file():
        return _made_up(context, name, k)
    with gzip.open(folder / file, "rt", encoding="utf-8", newline="") as stream:
        table = np.array(list(csv.reader(stream))[1:], dtype=np.int64)
    table = table[np.argsort(table[:, 0], kind="stable")]
    offsets = np.r_[0, np.cumsum(np.bincount(table[:, 0]))]
    pairs = PairSets.of((offsets, table[:, 1], table[:, 2]), Domain.of(k), ends, duplicates="first")
    return KeyValueData(name, pairs, k, False)


def _made_up(context: Context, name: str, k: int) -> KeyValueData:
    """Keys by Zipf's law, values high as ratings are, one pair per person or a few."""
    draw = context.stream(f"made up {name}").generator()
    n = 23_486 if name == "E-Commerce" else 105_508
    sizes = np.ones(n, np.int64) if name == "E-Commerce" else np.minimum(draw.geometric(0.6, n), 8)
    weights = 1 / (np.arange(k) + 10.0)
    people = np.repeat(np.arange(n), sizes)
    keys = draw.choice(k, people.size, p=weights / weights.sum())
    unique = np.unique(people * k + keys)
    means = np.clip(draw.normal(0.6, 0.15, k), -1, 1)
    values = np.clip(draw.normal(means[unique % k], 0.4), -1, 1)
    offsets = np.r_[0, np.cumsum(np.bincount(unique // k, minlength=n))]
    return KeyValueData(name, PairSets.of((offsets, unique % k, values), Domain.of(k), (-1, 1)), k, True)


def _collect(m: KeyValue, data: KeyValueData, rng: Simulation) -> tuple[FloatArray, FloatArray]:
    """Frequencies and means on a range from -1 to 1, people in chunks; of a unary encoding the counts are drawn."""
    if isinstance(m.bulk.groups[0], SignedUnaryBulk):
        return _read(m.estimate(unary_counts(m, data.pairs, rng)))
    total = m.empty(simulated=True)
    for start in range(0, len(data.pairs), _CHUNK):
        who = np.arange(start, min(start + _CHUNK, len(data.pairs)))
        total = total + m.tally(m.privatize(data.pairs.take(who), rng=rng))
    return _read(m.estimate(total))


def unary_counts(m: KeyValue, pairs: PairSets, rng: Simulation) -> Tally:
    """The tally of a unary encoding in the same law as if all people had reported, in much less time.

    What reports say of a key depends on nothing but who chose it, and with which sign; keys are independent.
    """
    own, flip, other = (float(chance) for chance in m.bulk.groups[0].kernel.chances)
    held = np.bincount(m.choose(pairs, rng), minlength=2 * m.total).reshape(2, m.total)[:, : m.k]
    draw, idle = rng.generator(), len(pairs) - held.sum(axis=0)
    same, turned = np.moveaxis(draw.multinomial(held, [own, flip, 1 - own - flip])[..., :2], -1, 0)
    found = draw.multinomial(idle, [other / 2, other / 2, 1 - other])[:, :2].T
    plus, minus = found + same + turned[::-1]
    cells = {"n": np.array([len(pairs)]), "plus": plus[None, :], "minus": minus[None, :]}
    return Tally(m.design, m.bulk.strata, cells, simulated=True)


def _read(estimate: Estimate) -> tuple[FloatArray, FloatArray]:
    part = estimate.parts["mean"]
    assert isinstance(part, MeanPart)
    return estimate["frequency"].value, part.unit


def _scores(
    name: str, data: KeyValueData, epsilon: float, tops: tuple[int, ...], rng: Simulation
) -> Iterator[tuple[str, int, Score]]:
    """One collection with a mechanism, scored for each number of top keys; of a protocol one for each of its forms."""
    truth = data.pairs.truth(data.k)
    if name in SERIES:
        for series, top, f, mean in run_forms(name, data, epsilon, tops, rng):
            yield series, top, score(truth, f, mean, top)
        return
    base, _, length = name.partition(" l=")
    own: dict[str, Any] = {"length": int(length)} if length else {}
    m: Any = mechanism(base, epsilon=epsilon, k=data.k, **own)
    f, mean = _collect(m, data, rng)
    yield from ((name, top, score(truth, f, mean, top)) for top in tops)


def run_forms(
    name: str, data: KeyValueData, epsilon: float, tops: tuple[int, ...], rng: Simulation
) -> Iterator[tuple[str, int, FloatArray, FloatArray]]:
    """All forms of a protocol after one first step, which none of them and no number of top keys changes.

    Forms that ask the same in every step differ in what they make of one and the same answers.
    """
    order, first = permutation(rng, len(data.pairs)), list[Tally]()
    for top in tops:
        known: dict[str, list[Tally]] = {}
        for form, series in SERIES[name].items():
            made = protocol(name, epsilon=epsilon, k=data.k, top=top, form=form)
            same = known.get("repaired", first) if (name, form) == ("ks-grr", "paper") else first
            found, _, known[form] = made.go_on(data.pairs, order, same, rng)
            first = known[form][:1]
            f, mean = np.full(data.k, -1.0), np.zeros(data.k)
            places = [int(label) for label in found.labels]
            f[places], mean[places] = _read(found)
            yield series, top, f, mean


def _rows_of(
    context: Context, data: KeyValueData, names: tuple[str, ...], budgets: tuple[float, ...], runs: int
) -> list[dict[str, str | int | float | None]]:
    """Mean scores over the runs, for every mechanism or form of a protocol, budget and number of top keys."""
    tops = (20,) if context.quick else (20, 50, 100)
    rows: list[dict[str, str | int | float | None]] = []
    for name in names:
        for epsilon in budgets:
            often = max(runs, _often(name, epsilon, context.quick))
            context.progress(f"collecting {data.name} {often} times with {name}, epsilon {epsilon:g}")
            streams = context.stream(f"{data.name}, {len(data.pairs)} people, {name}, {epsilon:g}").spawn(often)
            found: dict[tuple[str, int], list[Score]] = {}
            for rng in streams:
                for series, top, one in _scores(name, data, epsilon, tops, rng):
                    found.setdefault((series, top), []).append(one)
            rows += [_row(data, series, epsilon, top, scores) for (series, top), scores in found.items()]
    return rows


def _row(
    data: KeyValueData, name: str, epsilon: float, top: int, found: list[Score]
) -> dict[str, str | int | float | None]:
    shown = made_up(data.name) if data.made_up else data.name
    row: dict[str, str | int | float | None] = {"data": shown, "top": top, "epsilon": epsilon}
    row |= {"mechanism": name, "runs": len(found), "found": float(np.mean([s.found for s in found]))}
    for key in ("ncr", "mse_frequency", "mse_mean", "mse_frequency_top", "mse_mean_top"):
        values = [v for s in found if not math.isnan(v := getattr(s, key))]
        row[key] = float(np.mean(values)) if values else None
        row[f"{key}_stderr"] = spread(np.array(values))
    return row


def enough(row: Mapping[str, Any]) -> bool:
    """Whether a key was found per run on average, so that errors of the keys found say something."""
    return float(row["found"]) >= 1


def _plan(context: Context) -> tuple[tuple[float, ...], dict[str, int]]:
    """Budgets, and runs of each data set: twice the paper's 10, or twelve times where that takes little time.

    Unary encodings have more (`_OFTEN`).
    """
    if context.quick:
        return (2.0, 4.0), {"E-Commerce": 16}
    return (1.0, 2.0, 4.0, 6.0), {"E-Commerce": 120, "Clothing": 20}


_BEYOND = ("ks-ue", "pckv-ue", "ks-grr"), (8.0, 10.0)
"""What is said of epsilon >= 6 is about these, and about larger budgets, too."""


def single(context: Context) -> Rows:
    """Figures 3 to 5: one pair per record."""
    budgets, runs = _plan(context)
    own = ("ks-ue", "pckv-ue", "pckv-grr", "kv-ss2", "ks-grr")
    return [
        row
        for name in runs
        for names, at in ((own, budgets), *(() if context.quick else (_BEYOND,)))
        for row in _rows_of(context, context.once(load_data, name).records(), names, at, runs[name])
    ]


def several(context: Context) -> Rows:
    """Figures 6 to 8: several pairs per person, length 2 for all but the protocol."""
    budgets, runs = _plan(context)
    own = ("ks-ue l=2", "pckv-ue l=2", "pckv-grr l=2", "ks-ue l=1", "ks-adap")
    return [row for name in runs for row in _rows_of(context, context.once(load_data, name), own, budgets, runs[name])]
