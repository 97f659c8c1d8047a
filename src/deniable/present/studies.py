"""What studies measured, and the steps of protocols, as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.present.tables import Column, Table, facts_table, number, parameters, percent

__all__ = [
    "direction_table",
    "frequency_table",
    "keyvalue_table",
    "mean_table",
    "protocol_table",
    "release_table",
    "steps_table",
]

_Facts = list[tuple[str, str, str]]


def _head(d: Mapping[str, Any], size: str, people: tuple[str, str] | None = None) -> _Facts:
    """The mechanism with its parameters, and who took part."""
    own = f", {parameters(d['params'])}".removesuffix(", ")
    name, told = people or ("population", f"{d['n']:,} people")
    return [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, {size}{own}"),
        (name, d["data"] if people is None else number(d["n"]), f"{told}, {d['runs']} runs, seed {d['seed']}"),
    ]


def _within(text: str, stderr: float | None, form: str) -> str:
    """A number with its standard error over the runs, where there are several."""
    return text if stderr is None else f"{text} ± {stderr:{form}}"


def _predicted(d: Mapping[str, Any], name: str, meaning: str, form: str = ".3f", stderr: str = ".3f") -> _Facts:
    """The predicted error and the ratio of the measured one to it, where there is a prediction."""
    if d["mse_predicted"] is None:
        return []
    ratio = _within(f"{d['ratio']:{form}}", d["ratio_stderr"], stderr)
    return [(name, number(d["mse_predicted"], 4), meaning), _ratio(ratio)]


def _ratio(text: str) -> tuple[str, str, str]:
    return "ratio", text, "measured / predicted ± its standard error over the runs"


def _coverage(d: Mapping[str, Any], of: str = "", part: str = "") -> tuple[str, str, str]:
    """Runs that are all alike say little of how sure it is: no standard error is shown then."""
    key = f"coverage_{part}" if part else "coverage"
    stderr, told = d[f"{key}_stderr"], f"of the {100 * d['level']:g} % intervals{of}"
    told += " ± its standard error" if stderr else "" if stderr is None else f", the same in all {d['runs']} runs"
    return (
        f"coverage{f', {part}' * bool(part)}",
        _within(percent(d[key]), 100 * stderr if stderr else None, ".2f"),
        told,
    )


def frequency_table(d: Mapping[str, Any]) -> Table:
    """Shares: what a simulation measured, against what was predicted."""
    rows = [
        *_head(d, f"k = {d['k']:,}"),
        ("measured mse", number(d["mse"], 4), f"usual error {100 * math.sqrt(d['mse']):.3g} points"),
        *_predicted(d, "predicted mse", "closed form, for the integers that are sampled"),
        ("largest error", f"{100 * d['max_abs_error']:.3g} points", "of any value, mean over the runs"),
        _coverage(d),
        ("mse, projected", number(d["mse_projected"], 4), "after moving to shares >= 0 that sum to 1 (biased)"),
    ]
    return facts_table(rows)


def mean_table(d: Mapping[str, Any]) -> Table:
    """A mean: what a simulation measured, against what was predicted."""
    low, high = d["interval"]
    truth = [("true mean", f"{d['truth']:.6g}", "of these people's numbers, rounded to the points")]
    told = "closed form, for these people and the integers sampled"
    return _one_number(d, f"{d['k']:,} points from {low:g} to {high:g}", truth, "estimate - truth", told)


def direction_table(d: Mapping[str, Any]) -> Table:
    """A mean direction: what a simulation measured, against what was predicted."""
    low, high = d["interval"]
    truth = [
        ("true mean", f"{d['truth']:.6g}", "direction of these people's mean vector"),
        ("resultant", f"{d['resultant']:.3g}", "length of that vector: 1 if all are the same, 0 if none prevails"),
    ]
    size = f"{d['k']:,} directions from {low:g} to {high:g}, which is {low:g} again"
    told = "to first order, for these people and the integers sampled"
    return _one_number(d, size, truth, "estimate - truth, the shorter way around", told)


def _one_number(d: Mapping[str, Any], size: str, truth: Sequence[tuple[str, str, str]], off: str, told: str) -> Table:
    """What is told of the estimates of one number; `off` says what an error is, `told` what was predicted."""
    bias = _within(f"{d['bias']:.4g}", d["bias_stderr"], ".2g")
    rows = [
        *_head(d, size),
        *truth,
        ("mean error", bias, f"{off} ± its standard error over the runs"),
        ("measured mse", number(d["mse"], 4), f"usual error {math.sqrt(d['mse']):.3g}"),
        *_predicted(d, "predicted mse", told, ".4g", ".2g"),
        _coverage(d),
    ]
    return facts_table(rows)


def release_table(d: Mapping[str, Any]) -> Table:
    """Single answers: what a simulation measured, against what was predicted."""
    unit = f" {d['unit']}" if d["unit"] else ""
    short = {name: value for name, value in d["params"].items() if not isinstance(value, list)}
    rows = [
        *_head({**d, "params": short}, f"{d['k']:,} answers"),
        ("measured loss", f"{d['loss']:.5g}{unit}", "mean distance of a report from its value"),
        ("predicted loss", f"{d['loss_predicted']:.5g}{unit}", "exactly, for these people and the integers sampled"),
        _ratio(_within(f"{d['ratio']:.4f}", d["ratio_stderr"], ".4f")),
        ("remapped loss", f"{d['loss_remapped']:.5g}{unit}", "reports taken for the likeliest near answer: free"),
    ]
    return facts_table(rows)


def keyvalue_table(d: Mapping[str, Any]) -> Table:
    """Keys and values: what a simulation measured."""
    best = f"over the {d['top']} most frequent keys"
    rows = [
        *_head(d, f"k = {d['k']:,}", ("people", f"{d['pairs']:,} pairs of {d['data']}")),
        ("mse of frequencies", number(d["mse"], 4), f"usual error {100 * math.sqrt(d['mse']):.3g} points"),
        *_predicted(d, "predicted", "closed form, for these people and their pairs"),
        _coverage(d, " of frequencies"),
        _coverage(d, " of means, keys that somebody has", "mean"),
    ]
    scores = {
        "ncr": "how well the most frequent keys are found, 1 at best",
        "mse_frequency_top": f"of frequencies, {best}",
        "mse_mean_top": f"of means on a range from -1 to 1, {best}",
    }
    known = {name: what for name, what in scores.items() if d[name] is not None}
    return facts_table(rows + [(name.replace("_", " "), number(d[name], 4), what) for name, what in known.items()])


def protocol_table(d: Mapping[str, Any]) -> Table:
    """A protocol: what it promises, and how people take part."""
    own = parameters(d["params"])
    part = "everybody in every step, with a part of epsilon each" if d["repeated"] else "everybody in one step"
    rows = [
        ("protocol", d["mechanism"], own),
        ("epsilon", number(d["epsilon"]), "promised: for all that one person sends"),
        ("epsilon_exact", repr(d["epsilon_exact"]), "of the integers that are sampled, rounded up"),
        ("people", number(d["n"]), part),
        ("vetted", "yes" if d["vetted"] else "no", "privacy proved by enumeration and by a written argument"),
    ]
    return facts_table(rows)


def steps_table(d: Mapping[str, Any]) -> Table:
    """The steps of a protocol."""
    names = ("share", "epsilon", "mechanism", "k", "bytes")
    columns = (Column("step"), *(Column(name, right=name != "mechanism") for name in names))
    rows = [
        [s["step"], percent(s["share"], 0), f"{s['epsilon']:.4g}", s["mechanism"], number(s["k"]), number(s["bytes"])]
        for s in d["steps"]
    ]
    return Table(columns, rows)
