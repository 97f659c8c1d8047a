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
from deniable.mechanisms.registry import mechanism
from deniable.papers.brr.places import find_table
from deniable.papers.paper import Context, Rows, made_up
from deniable.randomness import Simulation

__all__ = [
    "LARGER",
    "LEAVES",
    "NETWORKS",
    "Examples",
    "boosting",
    "digits",
    "examples",
    "local_sgd",
    "networks",
    "recipe_sgd",
]

LEAVES = {
    "DPBoost (Laplace)": {"leaf": "laplace"},
    "Laplace, clamped": {"leaf": "clamped"},
    "Laplace, truncated": {"leaf": "truncated"},
    "DPBoost-BRR (paper: half the sensitivity)": {"leaf": "brr", "c": "half_sensitivity"},
    "BRR, all of the range": {"leaf": "brr"},
    "codebook": {"leaf": "codebook"},
    "noisy sums and counts": {"leaf": "sums"},
}
"""Ways to release the leaves of boosted trees."""

LARGER = "always the larger class"
NETWORKS = ("Laplace, clamped", "Laplace, truncated", "BRR", "codebook, few features")

_TABLES = {
    "Bias": ("bias_temperature_7588.csv.gz", "Slope", 7588, 23),
    "abalone": ("abalone.csv.gz", "rings", 4177, 8),
    "superconduct": ("superconduct_76f.csv.gz", "critical_temp", 21263, 76),
    "US Census": ("adult.csv.gz", "income", 48842, 14),
    "bank": ("bank_additional_full.csv.gz", "y", 41188, 20),
}
_WAYS = {"piecewise mechanism": ("pm", "best"), "Duchi": ("duchi", 1), "BRR": ("brr", 1), "codebook": ("codebook", 1)}
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
    return Examples("MNIST", parts[0], parts[1])


def _seed(context: Context, name: str) -> int:
    return int(context.stream(name).draw(32, 1)[0])


# ---- boosted trees


def boosting(context: Context) -> Rows:
    """Root mean squared errors on the test part, as means over the runs."""
    budgets, runs = ((1.0, 5.0), 4) if context.quick else ((0.5, 1.0, 2.0, 5.0, 8.0), 10)
    rows: list[dict[str, str | int | float | None]] = []
    for name in ("Bias", "abalone", "superconduct"):
        data = examples(context, name, 2000 if context.quick else None)
        context.progress(f"brr: boosted trees on {data.name}, {runs} runs for each budget and way")
        own = [_rmse(data, None, {}, _seed(context, f"{name} {run}")) for run in range(runs)]
        for epsilon in budgets:
            rows.append(_row(data.name, epsilon, "not private", own))
            for label, options in LEAVES.items():
                seeds = (_seed(context, f"{name} {epsilon:g} {label} {run}") for run in range(runs))
                rows.append(_row(data.name, epsilon, label, [_rmse(data, epsilon, options, seed) for seed in seeds]))
    return rows


def _rmse(data: Examples, epsilon: float | None, options: dict[str, str], seed: int) -> float:
    chosen: dict[str, Any] = dict(options)
    model = BoostedTrees(epsilon=epsilon, low=-1.0, high=1.0, target=data.ends, clip=True, seed=seed, **chosen)
    found = model.fit(*data.train).predict(data.test[0])
    return float(np.sqrt(np.mean((found - data.test[1]) ** 2)))


def _row(data: str, epsilon: float, label: str, values: list[float]) -> dict[str, str | int | float | None]:
    """Mean and standard error over the runs."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {
        "data": data,
        "epsilon": epsilon,
        "method": label,
        "runs": len(values),
        "value": float(np.mean(values)),
        "standard error": error,
    }


# ---- gradient descent


def recipe_sgd(context: Context) -> Rows:
    """Appendix B.2 as printed: the mean gradient of a batch, every coordinate perturbed with all of epsilon.

    Its total budget is epsilon times coordinates times iterations, and C follows the raw gradients; that is not private
    at the stated level for any of them. What it shows is where the advantage comes from.
    """
    data = digits(context)
    steps, runs = (60, 3) if context.quick else (200, 5)
    rows: list[dict[str, str | int | float | None]] = []
    for epsilon in (0.3, 0.5, 0.7):
        for method in ("not private", "Laplace", "BRR, interval by sign (paper)", "BRR, [-C, C]"):
            context.progress(f"brr: gradient descent with {method}, epsilon {epsilon:g}, {runs} runs")
            streams = context.stream(f"sgd {epsilon:g} {method}").spawn(runs)
            curves = np.array([_descend(data, method, epsilon, steps, stream) for stream in streams])
            for step, values in zip(range(10, steps + 1, 10), curves.T, strict=True):
                rows.append(_row(data.name, epsilon, method, values.tolist()) | {"iteration": step})
    return rows


def _descend(data: Examples, method: str, epsilon: float, steps: int, stream: Simulation) -> list[float]:
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
        weights = weights - 0.5 * _perturb(gradient, method, epsilon, bound, stream)
        if step % 10 == 0:
            found.append(float(np.mean((tests @ weights).argmax(axis=1) == data.test[1])))
    return found


def _perturb(gradient: FloatArray, method: str, epsilon: float, bound: float, stream: Simulation) -> FloatArray:
    """Every coordinate on its own."""
    if method == "not private":
        return gradient
    if method == "Laplace":
        return gradient + stream.generator().laplace(0, bound / epsilon, gradient.shape)
    release = Release("brr", epsilon, 21)
    share = np.clip(gradient / bound, -1, 1)
    if method.endswith("[-C, C]"):
        return bound * release.draw(share, stream)
    return np.asarray(np.sign(gradient) * bound * (release.draw(2 * np.abs(share) - 1, stream) + 1) / 2)


def local_sgd(context: Context) -> Rows:
    """The safe version: everybody takes part once, with epsilon for all that is sent; the bound is public.

    People are drawn from the 5,000 digits with replacement, so that there are enough of them to learn anything.
    """
    data, people = digits(context), 20_000 if context.quick else 100_000
    at = context.stream("people").generator().integers(0, len(data.train[0]), people)
    crowd = Examples(data.name, (data.train[0][at], data.train[1][at]), data.test)
    budgets, runs = ((1.0, 8.0), 2) if context.quick else ((0.5, 1.0, 2.0, 4.0, 8.0), 4)
    rows: list[dict[str, str | int | float | None]] = []
    context.progress(
        f"brr: local gradient descent, {people} people of {data.name}, {runs} runs for each budget and way"
    )
    plain = [_accuracy(crowd, None, "pm", 1, _seed(context, f"local {run}")) for run in range(runs)]
    for epsilon in budgets:
        rows.append(_row(data.name, epsilon, "not private", plain) | {"people": people})
        for label, (kind, coordinates) in _WAYS.items():
            seeds = (_seed(context, f"local {epsilon:g} {label} {run}") for run in range(runs))
            found = [_accuracy(crowd, epsilon, kind, coordinates, seed) for seed in seeds]
            rows.append(_row(data.name, epsilon, label, found) | {"people": people})
    return rows


def _accuracy(data: Examples, epsilon: float | None, kind: str, coordinates: Any, seed: int) -> float:
    model = LocalSGDClassifier(
        epsilon=epsilon,
        kind=kind,
        coordinates=coordinates,
        classes=range(10),
        bound=0.3,
        batch=len(data.train[0]) // 20,
        learning_rate=2.0,
        seed=seed,
    )
    return model.fit(*data.train).score(*data.test)


# ---- networks


def networks(context: Context) -> Rows:
    """Accuracy and area under the curve on the test part; features are perturbed once, with epsilon for all of them."""
    budgets, runs, most = ((0.25, 3.5), 2, 3000) if context.quick else ((0.25, 0.5, 1.0, 2.0, 3.5, 14.0), 5, 12_000)
    rows: list[dict[str, str | int | float | None]] = []
    for name in ("US Census", "bank"):
        data = examples(context, name, most)
        share = float(np.mean(data.test[1]))
        context.progress(f"brr: networks on {data.name}, {runs} runs for each budget and way")
        plain = [_network(data, "", None, _seed(context, f"{name} plain {run}")) for run in range(runs)]
        for epsilon in budgets:
            found = {"not private": plain, LARGER: [(max(share, 1 - share), 0.5)]}
            for label in NETWORKS:
                seeds = (_seed(context, f"{name} {epsilon:g} {label} {run}") for run in range(runs))
                found[label] = [_network(data, label, epsilon, seed) for seed in seeds]
            for label, values in found.items():
                row = _row(data.name, epsilon, label, [accuracy for accuracy, _ in values])
                rows.append(row | {"area": float(np.mean([area for _, area in values]))})
    return rows


def _network(data: Examples, label: str, epsilon: float | None, seed: int) -> tuple[float, float]:
    """Accuracy, and the chance that one of the second class is ranked above one of the first."""
    features, labels = data.train
    options: dict[str, Any] = {"epsilon": None}
    if epsilon is not None and label.startswith("Laplace"):
        features = _noisy(features, label, epsilon, seed)
    elif epsilon is not None:
        few = {"kind": "codebook", "coordinates": "best"} if label != "BRR" else {"kind": "brr"}
        options = {"epsilon": epsilon, **few}
    model = LocalNetwork(low=-1.0, high=1.0, clip=True, hidden=(16,), epochs=5, seed=seed, **options)
    chance = model.fit(features, labels.astype(int)).predict_proba(data.test[0])[:, 1]
    truth = data.test[1] > 0.5
    return float(np.mean((chance > 0.5) == truth)), _area(chance, truth)


def _area(score: FloatArray, truth: np.ndarray[Any, Any]) -> float:
    """The area under the curve; equal scores count half."""
    ranks = (np.searchsorted(np.sort(score), score, "left") + np.searchsorted(np.sort(score), score, "right") + 1) / 2
    many, few = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - many * (many + 1) / 2) / (many * few))


def _noisy(features: FloatArray, label: str, epsilon: float, seed: int) -> FloatArray:
    """Laplace noise on every feature with an equal share of epsilon."""
    variant = "clamp" if label.endswith("clamped") else "truncate"
    made: Any = mechanism("laplace", epsilon=epsilon / features.shape[1], interval=(-1, 1), points=65, variant=variant)
    reports = made.privatize(features.ravel(), rng=Simulation(seed))
    return np.asarray(made.released(reports), np.float64).reshape(features.shape)
