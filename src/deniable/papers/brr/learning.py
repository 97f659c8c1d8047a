"""The learning experiments of BRR's appendix: data, the paper's recipes as printed, and the safe versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.folder import data_folder, read_images
from deniable.learn.boosting import BoostedTrees
from deniable.learn.network import LocalNetwork
from deniable.learn.release import Release
from deniable.learn.sgd import LocalSGDClassifier, chances
from deniable.learn.vectors import coordinates_of
from deniable.papers.brr.places import find_table, mean_row
from deniable.papers.paper import Context, Rows, made_up
from deniable.randomness import Simulation

__all__ = [
    "BOOSTED",
    "LARGER",
    "LEAVES",
    "NETWORKS",
    "PUBLISHED",
    "SIGNED",
    "SYMMETRIC",
    "Examples",
    "boosting",
    "digits",
    "examples",
    "local_sgd",
    "networks",
    "plain_leaves",
    "recipe_sgd",
]

LEAVES = {
    "DPBoost (Laplace)": {"leaf": "laplace"},
    "Laplace, clamped": {"leaf": "clamped"},
    "Laplace, truncated": {"leaf": "truncated"},
    "DPBoost-BRR (paper: half the sensitivity)": {"leaf": "alg4", "c": "half_sensitivity"},
    "Alg. 4, all of the range": {"leaf": "alg4"},
    "codebook": {"leaf": "codebook"},
    "noisy sums and counts": {"leaf": "sums"},
}
"""Ways to release the leaves of boosted trees; BRR by Algorithm 4 with 21 points."""

COMPARED = ("DPBoost (Laplace)", "DPBoost-BRR (paper: half the sensitivity)")
"""What the paper compares; they have twice the runs."""

_SHORT = (*COMPARED, "noisy sums and counts")
"""Those of a quick run."""

PUBLISHED: dict[str, Any] = {"trees": 50, "depth": 5, "learning_rate": 0.1, "l2": 0.1}
"""The trees of the published program."""

LARGER = "always the larger class"
NETWORKS: dict[str, dict[str, Any]] = {
    "DNN-DP (Laplace, by importance)": {"kind": "clamped", "weights": "importances"},
    "Laplace, equal shares": {"kind": "clamped", "coordinates": "all"},
    "Laplace, truncated, equal shares": {"kind": "truncated", "coordinates": "all"},
    "DNN-BRR (Alg. 4, by importance)": {"kind": "alg4", "weights": "importances"},
    "Alg. 4, equal shares": {"kind": "alg4", "coordinates": "all"},
    "codebook, equal shares": {"kind": "codebook", "coordinates": "all"},
    "codebook, few features": {"kind": "codebook", "coordinates": "few"},
}
"""Ways to release features; all of them, but for the last, which releases as few as pay, and one at least."""
_APART = 1000
"""People who are public: on them importances are found and steps are tuned, and nothing else is done with them."""

_TABLES = {
    "Bias": ("bias_temperature_7588.csv.gz", "Slope", 7588, 23),
    "abalone": ("abalone.csv.gz", "rings", 4177, 8),
    "superconduct": ("superconduct_76f.csv.gz", "critical_temp", 21263, 76),
    "US Census": ("adult.csv.gz", "income", 48842, 14),
    "bank": ("bank_additional_full.csv.gz", "y", 41188, 20),
}
BOOSTED = ("Bias", "abalone", "superconduct")
"""Data on which trees are grown."""
_WAYS = {
    "piecewise mechanism": ("pm", "best"),
    "Duchi": ("duchi", 1),
    "BRR (Alg. 4)": ("alg4", 1),
    "codebook": ("codebook", 1),
}
"""Kind of release and number of coordinates that a person sends."""
_SIDE = 28
_POOL = 4
"""Images are averaged over squares of so many pixels: 7 by 7 remain."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """People with features from -1 to 1 (by the ends of each column, taken as public) and a target, in two parts."""

    name: str
    train: tuple[FloatArray, FloatArray]
    test: tuple[FloatArray, FloatArray]
    """Features and targets; classes are numbers, too."""

    def apart(self, count: int) -> tuple[tuple[FloatArray, FloatArray], Examples]:
        """The first ones to learn from, as public people, and all the others."""
        (rows, targets), rest = self.train, self.test
        return (rows[:count], targets[:count]), Examples(self.name, (rows[count:], targets[count:]), rest)

    @property
    def ends(self) -> tuple[float, float]:
        """The range of the target, taken as public."""
        both = np.concatenate([self.train[1], self.test[1]])
        return float(both.min()), float(both.max())


def examples(context: Context, name: str, most: int | None = None) -> Examples:
    """A data set, or one made up of the same shape; four fifths to learn from, at most `most` people in all."""
    file, target, n, width = _TABLES[name]
    found = find_table(context, file)
    draw = context.stream(f"examples of {name}").generator()
    if found is None:
        label = made_up(name)
        features = draw.random((n, width))
        score = np.sin(3 * features[:, 0]) + features[:, 1] * features[:, 2] + 0.1 * draw.normal(size=n)
        values = score if n < 30_000 else (score > np.quantile(score, 0.8)).astype(np.float64)
    else:
        label, features, values = name, found.without(target, "test"), found.column(target)
    low, span = features.min(axis=0), np.ptp(features, axis=0)
    unit = 2 * (features - low) / np.where(span > 0, span, 1) - 1
    order = draw.permutation(len(unit))[:most]
    cut = 4 * order.size // 5
    one, two = order[:cut], order[cut:]
    return Examples(label, (unit[one], values[one]), (unit[two], values[two]))


def digits(context: Context) -> Examples:
    """MNIST: 5,000 digits to learn from and the 10,000 of the test set, averaged to 7 by 7; else made up like them."""
    folder = data_folder(context.data_dir)
    if folder is None or not (folder / "mnist_train5k_images.idx3.gz").is_file():
        draw = context.stream("digits").generator()
        shapes = draw.random((10, 49)) > 0.6
        labels = draw.integers(0, 10, 6000)
        targets = labels.astype(np.float64)
        images = np.clip(0.7 * shapes[labels] + 0.35 * draw.random((6000, 49)), 0, 1)
        return Examples(made_up("digits"), (images[:5000], targets[:5000]), (images[5000:], targets[5000:]))
    parts = []
    for name in ("train5k", "t10k"):
        pixels = read_images(folder / f"mnist_{name}_images.idx3.gz")
        small = pixels.reshape(len(pixels), _SIDE // _POOL, _POOL, _SIDE // _POOL, _POOL).mean(axis=(2, 4)) / 255
        answers = read_images(folder / f"mnist_{name}_labels.idx1.gz").astype(np.float64)
        parts.append((small.reshape(len(small), -1), answers))
    order = context.stream("digits").generator().permutation(len(parts[0][0]))  # the file has them digit by digit
    return Examples("MNIST", (parts[0][0][order], parts[0][1][order]), parts[1])


def _seed(context: Context, name: str) -> int:
    return int(context.stream(name).draw(32, 1)[0])


# ---- boosted trees


def boosting(context: Context) -> Rows:
    """Root mean squared errors on the test part, as means over the runs: 50 trees of depth 5, as published."""
    budgets, runs = ((1.0, 5.0), 2) if context.quick else ((0.5, 1.0, 2.0, 3.0, 4.0, 5.0), 8)
    ways = {label: LEAVES[label] for label in _SHORT} if context.quick else LEAVES
    rows: list[dict[str, str | int | float | None]] = []
    for name in BOOSTED:
        data = examples(context, name, 1500 if context.quick else None)
        context.progress(f"brr: boosted trees on {data.name}, {runs} runs for each budget and way")
        own = [_rmse(data, None, {}, _seed(context, f"{name} {run}")) for run in range(runs)]
        for epsilon in budgets:
            rows.append(mean_row(data.name, epsilon, "not private", own))
            for label, options in ways.items():
                often = 2 * runs if label in COMPARED else runs
                seeds = (_seed(context, f"{name} {epsilon:g} {label} {run}") for run in range(often))
                found = [_rmse(data, epsilon, options, seed) for seed in seeds]
                rows.append(mean_row(data.name, epsilon, label, found))
    return rows


def _rmse(data: Examples, epsilon: float | None, options: dict[str, str], seed: int) -> float:
    chosen: dict[str, Any] = PUBLISHED | options
    model = BoostedTrees(epsilon=epsilon, low=-1.0, high=1.0, target=data.ends, clip=True, seed=seed, **chosen)
    found = model.fit(*data.train).predict(data.test[0])
    return float(np.sqrt(np.mean((found - data.test[1]) ** 2)))


def plain_leaves(context: Context, name: str) -> tuple[str, list[FloatArray]]:
    """The data's name and the values of all leaves of the published trees, grown without noise, tree by tree."""
    data = examples(context, name, 1500 if context.quick else None)
    seed = _seed(context, f"{name} leaves")
    model = BoostedTrees(epsilon=None, low=-1.0, high=1.0, target=data.ends, clip=True, seed=seed, **PUBLISHED)
    return data.name, [tree.value for tree in model.fit(*data.train).trees_]


# ---- gradient descent


SIGNED, SYMMETRIC = "BRR, interval by sign (paper)", "BRR (Alg. 4), [-C, C]"
RECIPES = ("not private", "Laplace", SIGNED, SYMMETRIC)
_RECIPE_BUDGETS = (0.3, 0.5, 0.7, 2.0, 8.0, 32.0)
"""The printed ones, and larger ones."""
_PRINTED_MOST, _BARELY = 0.7, ("Laplace", SYMMETRIC)
"""At the printed budgets these two are near each other; they have eight times the runs."""
_RATES = (0.02, 0.1, 0.5, 2.0, 8.0)


def recipe_sgd(context: Context) -> Rows:
    """Appendix B.2 as printed: the mean gradient of a batch, every coordinate perturbed with all of epsilon.

    Its total budget is epsilon times coordinates times iterations, and C follows the raw gradients; that is not private
    at the stated level for any of them. What it shows is where the advantage comes from. Every one has the step that is
    best for it at its budget, among five, on digits that are public.
    """
    public, data = digits(context).apart(_APART)
    trial = Examples(data.name, data.train, public)
    budgets, steps, runs = ((0.3, 0.5, 0.7, 32.0), 60, 3) if context.quick else (_RECIPE_BUDGETS, 200, 16)
    rows: list[dict[str, str | int | float | None]] = []
    for epsilon in budgets:
        for method in RECIPES:
            context.progress(f"brr: gradient descent with {method}, epsilon {epsilon:g}")
            alike = method if method == "not private" else f"{epsilon:g} {method}"
            streams = context.stream(f"tuning {alike}").spawn(len(_RATES))
            ends = [
                _descend(trial, method, epsilon, steps, rate, own)[-1]
                for rate, own in zip(_RATES, streams, strict=True)
            ]
            best = _RATES[int(np.argmax(ends))]
            often = 8 * runs if method in _BARELY and epsilon <= _PRINTED_MOST and not context.quick else runs
            streams = context.stream(f"sgd {alike}").spawn(often)
            curves = np.array([_descend(data, method, epsilon, steps, best, stream) for stream in streams])
            for step, values in zip(range(10, steps + 1, 10), curves.T, strict=True):
                row = mean_row(data.name, epsilon, method, values.tolist())
                rows.append(row | {"iteration": step, "learning rate": best})
    return rows


def _descend(data: Examples, method: str, epsilon: float, steps: int, rate: float, stream: Simulation) -> list[float]:
    """Accuracy on the test part after every ten iterations of softmax regression."""
    inputs, tests = (np.column_stack([part[0], np.ones(len(part[0]))]) for part in (data.train, data.test))
    labels = np.eye(10)[data.train[1].astype(int)]
    draw = stream.generator()
    weights, bound, found = np.zeros((inputs.shape[1], 10)), 1.0, []
    for step in range(1, steps + 1):
        at = draw.integers(0, len(inputs), 128)
        gradient = inputs[at].T @ (chances(inputs[at] @ weights) - labels[at]) / at.size
        norm = float(np.linalg.norm(gradient))
        bound = max(0.9 * bound + 0.1 * norm, 0.05)
        gradient *= min(1.0, bound / norm)
        weights = weights - rate * _perturb(gradient, method, epsilon, bound, stream)
        if step % 10 == 0:
            found.append(float(np.mean((tests @ weights).argmax(axis=1) == data.test[1])))
    return found


def _perturb(gradient: FloatArray, method: str, epsilon: float, bound: float, stream: Simulation) -> FloatArray:
    """Every coordinate on its own; BRR with steps of C/10, so with 11 points from 0 to C."""
    if method == "not private":
        return gradient
    if method == "Laplace":
        return gradient + stream.generator().laplace(0, bound / epsilon, gradient.shape)
    share = np.clip(gradient / bound, -1, 1)
    if method == SYMMETRIC:
        return bound * Release("alg4", epsilon, 21).draw(share, stream)
    kept = Release("alg4", epsilon, 11).draw(2 * np.abs(share) - 1, stream)
    return np.asarray(np.sign(gradient) * bound * (kept + 1) / 2)


_ONE_PASS, _CONVERGED = "not private, one pass", "not private, converged"


def local_sgd(context: Context) -> Rows:
    """The safe version: everybody takes part once, with epsilon for all that is sent; the bound is public.

    People are drawn from the digits with replacement, so that there are enough of them to learn anything. Step and
    number of batches are the best for each way and budget, on digits that are public; so they are for the one pass
    without privacy. What could be had at all is learned in many passes.
    """
    public, data = digits(context).apart(_APART)
    people = 20_000 if context.quick else 100_000
    at = context.stream("people").generator().integers(0, len(data.train[0]), people)
    crowd = Examples(data.name, (data.train[0][at], data.train[1][at]), data.test)
    budgets, runs, most = ((1.0, 8.0), 3, 3) if context.quick else ((0.5, 1.0, 2.0, 4.0, 8.0, 16.0), 5, 16)
    rows: list[dict[str, str | int | float | None]] = []
    context.progress(f"brr: local gradient descent, {people} people of {data.name}, up to {most} runs for each way")
    seeds = [_seed(context, f"local {run}") for run in range(runs)]
    plain = {
        _ONE_PASS: _tuned(context, crowd, public, None, ("pm", 1), seeds),
        _CONVERGED: [_accuracy(data, None, ("pm", 1), (32.0, 30), seed, passes=100) for seed in seeds],
    }
    for epsilon in budgets:
        rows += [mean_row(data.name, epsilon, label, found) | {"people": people} for label, found in plain.items()]
        for label, way in _WAYS.items():
            often = most if epsilon <= 1 else runs  # little is learned there, so that ways are near each other
            seeds = [_seed(context, f"local {epsilon:g} {label} {run}") for run in range(often)]
            found = _tuned(context, crowd, public, epsilon, way, seeds)
            rows.append(mean_row(data.name, epsilon, label, found) | {"people": people})
    return rows


def _tuned(
    context: Context,
    crowd: Examples,
    public: tuple[FloatArray, FloatArray],
    epsilon: float | None,
    way: tuple[str, Any],
    seeds: list[int],
) -> list[float]:
    """Accuracies with the step and the number of batches that do best in a trial, which public digits judge."""
    trial = Examples(crowd.name, crowd.train, public)
    rates = (8.0, 32.0) if context.quick else (0.5, 2.0, 8.0, 32.0)
    tried = [(rate, batches) for rate in rates for batches in (20, 200)]
    seed = _seed(context, f"trial {epsilon} {way}")
    best = max(tried, key=lambda one: _accuracy(trial, epsilon, way, one, seed))
    return [_accuracy(crowd, epsilon, way, best, seed) for seed in seeds]


def _accuracy(
    data: Examples,
    epsilon: float | None,
    way: tuple[str, Any],
    step: tuple[float, int],
    seed: int,
    passes: int = 1,
) -> float:
    """On the test part; `step` is the learning rate and the number of batches of a pass."""
    model = LocalSGDClassifier(
        epsilon=epsilon,
        kind=way[0],
        coordinates=way[1],
        classes=range(10),
        bound=0.3,
        batch=len(data.train[0]) // step[1],
        learning_rate=step[0],
        passes=passes,
        seed=seed,
    )
    return model.fit(*data.train).score(*data.test)


# ---- networks


def networks(context: Context) -> Rows:
    """Accuracy and area under the curve on the test part; features are perturbed once, with epsilon for all of them."""
    budgets, runs, most = ((0.25, 3.5), 2, 3000) if context.quick else ((0.25, 0.5, 1.0, 2.0, 3.5, 14.0), 6, 13_000)
    rows: list[dict[str, str | int | float | None]] = []
    for name in ("US Census", "bank"):
        public, data = examples(context, name, most).apart(_APART)
        important = _importances(public, _seed(context, f"{name} importances"))
        share = float(np.mean(data.test[1]))
        context.progress(f"brr: networks on {data.name}, {runs} runs for each budget and way")
        plain = [_network(data, {"epsilon": None}, _seed(context, f"{name} plain {run}")) for run in range(runs)]
        for epsilon in budgets:
            found = {"not private": plain, LARGER: [(max(share, 1 - share), 0.5)]}
            for label, options in NETWORKS.items():
                seeds = (_seed(context, f"{name} {epsilon:g} {label} {run}") for run in range(runs))
                given = _given(options, epsilon, important)
                found[label] = [_network(data, given, seed) for seed in seeds]
            for label, values in found.items():
                row = mean_row(data.name, epsilon, label, [accuracy for accuracy, _ in values])
                rows.append(row | {"area": float(np.mean([area for _, area in values]))})
    return rows


def _given(options: dict[str, Any], epsilon: float, important: FloatArray) -> dict[str, Any]:
    """The options of a network, with the words for weights and coordinates made numbers."""
    given = {"epsilon": epsilon, **options}
    if "weights" in given:
        given["weights"] = important
    elif given["coordinates"] == "few":
        given["coordinates"] = max(1, coordinates_of("best", important.size, given["kind"], epsilon))
    return given


def _importances(public: tuple[FloatArray, FloatArray], seed: int) -> FloatArray:
    """What each feature is worth: the area that is lost if its column is shuffled, on public people.

    No feature counts for less than a tenth of the mean, so that all of them are released.
    """
    rows, truth = public[0], public[1] > 0.5
    model = LocalNetwork(epsilon=None, low=-1.0, high=1.0, hidden=(16,), epochs=20, seed=seed).fit(rows, truth)
    draw = Simulation(seed).generator()

    def area(shown: FloatArray) -> float:
        return _area(model.predict_proba(shown)[:, 1], truth)

    whole, lost = area(rows), np.zeros(rows.shape[1])
    for j in range(rows.shape[1]):
        mixed = rows.copy()
        mixed[:, j] = draw.permutation(mixed[:, j])
        lost[j] = max(whole - area(mixed), 0.0)
    return np.asarray(np.maximum(lost, max(float(lost.mean()), 1e-9) / 10))


def _network(data: Examples, options: dict[str, Any], seed: int) -> tuple[float, float]:
    """Accuracy, and the chance that one of the second class is ranked above one of the first."""
    model = LocalNetwork(low=-1.0, high=1.0, clip=True, hidden=(16,), epochs=5, seed=seed, **options)
    chance = model.fit(data.train[0], data.train[1].astype(int)).predict_proba(data.test[0])[:, 1]
    truth = data.test[1] > 0.5
    return float(np.mean((chance > 0.5) == truth)), _area(chance, truth)


def _area(score: FloatArray, truth: np.ndarray[Any, Any]) -> float:
    """The area under the curve; equal scores count half."""
    ranks = (np.searchsorted(np.sort(score), score, "left") + np.searchsorted(np.sort(score), score, "right") + 1) / 2
    many, few = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - many * (many + 1) / 2) / (many * few))
