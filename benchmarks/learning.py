"""Learners on perturbed data, compared on real tables: boosted trees, gradient descent, a small network.

    python benchmarks/learning.py              the whole study (about 15 minutes on two cores); keeps the numbers
    python benchmarks/learning.py --quick      two runs per setting, printed only

Writes docs/data/learning.csv; docs/generate.py writes the page. Data are read from the folder named by
DENIABLE_DATA; parts whose files are missing are left out with a note. All methods of a run see the same split.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from measure import DATA, read_csv, write_csv
from measure import table as markdown
from scipy.stats import rankdata

from deniable.datasets.folder import data_folder, read_images, read_table
from deniable.learn import BoostedTrees, LocalNetwork, LocalSGDClassifier
from deniable.randomness import simulation

SEED, RUNS, QUICK_RUNS = 20261116, 10, 2

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Features and target of the people who are learned from, then of those who are predicted."""


# ---- data


def outwards(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the columns, rounded outwards to one digit of their width: taken as public knowledge here."""
    low, high = values.min(axis=0), values.max(axis=0)
    unit = 10.0 ** np.floor(np.log10(np.maximum(high - low, 1e-9)))
    return np.floor(low / unit) * unit, np.ceil(high / unit) * unit + (high == low)


@cache
def table(file: str, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Features scaled to [0, 1] by their public bounds, and the target as it is."""
    read = read_table(folder() / file)
    rows = read.without(target, "test", "fnlwgt")
    low, high = outwards(rows)
    return (rows - low) / (high - low), read.column(target)


def split(rows: np.ndarray, target: np.ndarray, run: int) -> Arrays:
    """Four fifths to learn from, one fifth to predict."""
    order = simulation(SEED + run).generator().permutation(len(rows))
    cut = len(rows) * 4 // 5
    return rows[order[:cut]], target[order[:cut]], rows[order[cut:]], target[order[cut:]]


@cache
def digits() -> Arrays:
    """Handwritten digits, averaged over 4 x 4 pixels: 10,000 people to learn from, 5000 to predict."""
    out = []
    for name in ("mnist_t10k", "mnist_train5k"):
        pixels = read_images(folder() / f"{name}_images.idx3.gz").reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)) / 255
        out += [pixels.reshape(-1, 49), read_images(folder() / f"{name}_labels.idx1.gz").astype(np.int64)]
    return out[0], out[1], out[2], out[3]


def many_people(run: int) -> Arrays:
    """200,000 made-up people with 10 features, whose yes or no depends on all of them."""
    draw = simulation(SEED + run).generator()
    weights = draw.normal(size=10)
    rows = draw.uniform(-1, 1, (205_000, 10))
    labels = (draw.random(len(rows)) < 1 / (1 + np.exp(-3 * rows @ weights))).astype(np.int64)
    return rows[:-5000], labels[:-5000], rows[-5000:], labels[-5000:]


def folder() -> Path:
    found = data_folder()
    if found is None:
        raise SystemExit("set DENIABLE_DATA to the folder with the data sets (abalone.csv.gz, adult.csv.gz, ...)")
    return found


# ---- what is compared


@dataclass(frozen=True)
class Work:
    """One learner on one data set: `score` gives its result for a run."""

    part: str
    data: str
    method: str
    epsilon: float | None
    score: Callable[[int], float]


def boosting() -> Iterator[Work]:
    """Root mean squared error of boosted trees, in units of the target."""
    sets = {
        "abalone": ("abalone.csv.gz", "rings", (0.0, 30.0)),
        "bias": ("bias_temperature_7588.csv.gz", "Slope", (0.0, 6.0)),
        "superconduct": ("superconduct_76f.csv.gz", "critical_temp", (0.0, 200.0)),
    }
    methods: dict[str, dict[str, Any]] = {
        "sums": {"leaf": "sums"},
        "codebook": {"leaf": "codebook"},
        "codebook, half": {"leaf": "codebook", "c": "half_sensitivity"},
        "brr": {"leaf": "brr"},
        "brr, half": {"leaf": "brr", "c": "half_sensitivity"},
        "truncated Laplace": {"leaf": "truncated"},
        "clamped Laplace": {"leaf": "clamped"},
        "Laplace": {"leaf": "laplace"},
    }
    for data, (file, target, span) in sets.items():

        def score(run: int, options: dict[str, Any], file: str = file, target: str = target, span: Any = span) -> float:
            X, y, X_new, y_new = split(*table(file, target), run)
            model = BoostedTrees(target=span, clip=True, seed=SEED + run, **options).fit(X, y)
            return float(np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2)))

        def constant(run: int, file: str = file, target: str = target) -> float:
            _, y, _, y_new = split(*table(file, target), run)
            return float(np.sqrt(np.mean((y_new - y.mean()) ** 2)))

        yield Work("boosting", data, "the mean for all", None, constant)
        yield Work("boosting", data, "no privacy", None, lambda run, score=score: score(run, {"epsilon": None}))
        for epsilon in (0.5, 1.0, 2.0, 5.0):
            for name, options in methods.items():
                given = {"epsilon": epsilon, **options}
                yield Work("boosting", data, name, epsilon, lambda run, given=given, score=score: score(run, given))


def descent() -> Iterator[Work]:
    """Accuracy of logistic regression by gradient descent, everybody once."""
    sets: dict[str, Callable[[int], Arrays]] = {
        "odd digits": lambda run: tuple(a % 2 if a.ndim == 1 else a for a in digits()),  # type: ignore[return-value]
        "ten digits": lambda run: digits(),
        "made up": many_people,
    }
    for data, get in sets.items():

        def score(run: int, options: dict[str, Any], get: Any = get) -> float:
            X, y, X_new, y_new = get(run)
            model = LocalSGDClassifier(seed=SEED + run, batch=max(256, len(X) // 50), **options).fit(X, y)
            return model.score(X_new, y_new)

        yield Work("descent", data, "no privacy", None, lambda run, score=score: score(run, {"epsilon": None}))
        for epsilon in (1.0, 2.0, 4.0, 8.0):
            for kind in ("pm", "duchi", "codebook", "brr", "truncated"):
                given = {"epsilon": epsilon, "kind": kind}
                yield Work("descent", data, kind, epsilon, lambda run, given=given, score=score: score(run, given))


def area(truth: np.ndarray, score: np.ndarray) -> float:
    """Chance that a yes has a higher score than a no, ties counting half."""
    ranks = rankdata(score)
    yes, no = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - yes * (yes + 1) / 2) / (yes * no))


def network() -> Iterator[Work]:
    """Area under the ROC curve of a network trained on released features; labels are public, as in the study.

    The share of labels found says little here: three quarters of one data set and nine tenths of the other have the
    same label.
    """
    sets = {"adult": ("adult.csv.gz", "income"), "bank": ("bank_additional_full.csv.gz", "y")}
    kinds = ("codebook", "brr", "truncated", "clamped")
    for data, (file, target) in sets.items():

        def score(run: int, options: dict[str, Any], file: str = file, target: str = target) -> float:
            X, y, X_new, y_new = split(*table(file, target), run)
            model = LocalNetwork(epochs=5, seed=SEED + run, **options).fit(X, y)
            return area(y_new == 1, model.predict_proba(X_new)[:, 1])

        yield Work("network", data, "no privacy", None, lambda run, score=score: score(run, {"epsilon": None}))
        for epsilon in (0.5, 1.0, 2.0, 3.5):
            for kind in kinds:
                for coordinates in ("all", 1) if kind in ("codebook", "brr") else ("all",):
                    given = {"epsilon": epsilon, "kind": kind, "coordinates": coordinates}
                    name = f"{kind}, {'all' if coordinates == 'all' else 'one'}"
                    yield Work("network", data, name, epsilon, lambda run, given=given, score=score: score(run, given))


PARTS = {"boosting": boosting, "descent": descent, "network": network}


def one(job: tuple[str, int, int]) -> tuple[list[float], float]:
    """All runs of one piece of work, by its number in its part."""
    part, number, runs = job
    work = list(PARTS[part]())[number]
    start = time.perf_counter()
    found = [work.score(run) for run in range(runs)]
    return found, time.perf_counter() - start


def study(part: str, runs: int, workers: int) -> list[dict[str, Any]]:
    """A row for each piece of work: mean over the runs, and its standard error."""
    works, rows = list(PARTS[part]()), []
    jobs = [(part, number, runs) for number in range(len(works))]
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for work, (found, seconds) in zip(works, pool.map(one, jobs), strict=True):
            mean, spread = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
            row = {"part": part, "data": work.data, "method": work.method, "epsilon": work.epsilon, "runs": runs}
            rows.append(row | {"mean": float(f"{mean:.6g}"), "error": float(f"{spread:.3g}")})
            print(f"{part} {work.data} {work.method} {work.epsilon}: {mean:.4f} ({seconds:.1f} s)", file=sys.stderr)
    return rows


# ---- page


def render(rows: Sequence[dict[str, Any]]) -> str:
    """A table per part: a row for each data set and method, a column for each epsilon."""
    titles = {
        "boosting": "**Boosted trees**: root mean squared error, in units of the target (less is better).",
        "descent": "**Gradient descent**: share of classes found (more is better).",
        "network": "**Network on released features**: area under the ROC curve (1/2 is chance, more is better).",
    }
    out = []
    for part, title in titles.items():
        own = [row for row in rows if row["part"] == part]
        if own:
            out += [title, _table(own)]
    return "\n\n".join(out)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    levels = sorted({float(row["epsilon"]) for row in rows if row["epsilon"] not in ("", None)})
    lines = []
    for data in dict.fromkeys(row["data"] for row in rows):
        for method in dict.fromkeys(row["method"] for row in rows if row["data"] == data):
            own = [row for row in rows if (row["data"], row["method"]) == (data, method)]
            found = {float(row["epsilon"]) if row["epsilon"] not in ("", None) else None: row for row in own}
            cells = [_cell(found.get(level, found.get(None))) for level in levels]
            lines.append([data, method, *cells])
    return markdown(["data", "method", *(f"epsilon {level:g}" for level in levels)], lines, 2)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    mean, error = float(row["mean"]), float(row["error"])
    digits = 3 if mean < 10 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def main(arguments: Sequence[str]) -> int:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two runs per setting, printed only")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part, stored parts are kept")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    for part in given.part or list(PARTS):
        rows = study(part, QUICK_RUNS if given.quick else RUNS, given.workers)
        if given.quick:
            print(render(rows))
            continue
        kept = read_csv("learning") if (DATA / "learning.csv").exists() else []
        write_csv(
            "learning", [row for name in PARTS for row in (rows if name == part else kept) if row["part"] == name]
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
