"""Results of studies and audits as tables for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from deniable.audit.exact import Audit
from deniable.present.tables import Column, Table, facts_table, number, percent
from deniable_client.exact import exp_bounds

__all__ = [
    "audit_table",
    "numbers_table",
    "pairs_table",
    "protocol_table",
    "release_table",
    "steps_table",
    "study_table",
]

_DIGITS = 30


def study_table(d: Mapping[str, Any]) -> Table:
    """What a simulation measured, against what was predicted."""
    own = "".join(f", {name} = {value}" for name, value in d["params"].items())
    ratio = f"{d['ratio']:.3f}" + (f" ± {d['ratio_stderr']:.3f}" if d["ratio_stderr"] is not None else "")
    coverage = percent(d["coverage"]) + (
        f" ± {100 * d['coverage_stderr']:.2f}" if d["coverage_stderr"] is not None else ""
    )
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, k = {d['k']:,}{own}"),
        ("population", d["data"], f"{d['n']:,} people, {d['runs']} runs, seed {d['seed']}"),
        ("measured mse", number(d["mse"], 4), f"usual error {100 * math.sqrt(d['mse']):.3g} points"),
        ("predicted mse", number(d["mse_predicted"], 4), "closed form, for the integers that are sampled"),
        ("ratio", ratio, "measured / predicted ± its standard error over the runs"),
        ("largest error", f"{100 * d['max_abs_error']:.3g} points", "of any value, mean over the runs"),
        ("coverage", coverage, f"of the {100 * d['level']:g} % intervals ± its standard error"),
        ("mse, projected", number(d["mse_projected"], 4), "after moving to shares >= 0 that sum to 1 (biased)"),
    ]
    return facts_table(rows)


def numbers_table(d: Mapping[str, Any]) -> Table:
    """What a simulation measured of a mean, against what was predicted."""
    own = "".join(f", {name} = {value}" for name, value in d["params"].items())
    low, high = d["interval"]
    spread = {name: "" if d[f"{name}_stderr"] is None else d[f"{name}_stderr"] for name in ("bias", "ratio")}
    told = {name: f"{d[name]:.4g}" + (f" ± {s:.2g}" if s != "" else "") for name, s in spread.items()}
    coverage = percent(d["coverage"]) + (
        f" ± {100 * d['coverage_stderr']:.2f}" if d["coverage_stderr"] is not None else ""
    )
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, {d['k']:,} points from {low:g} to {high:g}{own}"),
        ("population", d["data"], f"{d['n']:,} people, {d['runs']} runs, seed {d['seed']}"),
        ("true mean", f"{d['truth']:.6g}", "of these people's numbers, rounded to the points"),
        ("mean error", told["bias"], "estimate - truth ± its standard error over the runs"),
        ("measured mse", number(d["mse"], 4), f"usual error {math.sqrt(d['mse']):.3g}"),
        ("predicted mse", number(d["mse_predicted"], 4), "closed form, for these people and the integers sampled"),
        ("ratio", told["ratio"], "measured / predicted ± its standard error over the runs"),
        ("coverage", coverage, f"of the {100 * d['level']:g} % intervals ± its standard error"),
    ]
    return facts_table(rows)


def release_table(d: Mapping[str, Any]) -> Table:
    """What a simulation measured of single answers, against what was predicted."""
    own = "".join(f", {name} = {value}" for name, value in d["params"].items() if not isinstance(value, list))
    unit = f" {d['unit']}" if d["unit"] else ""
    ratio = f"{d['ratio']:.4f}" + (f" ± {d['ratio_stderr']:.4f}" if d["ratio_stderr"] is not None else "")
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, {d['k']:,} answers{own}"),
        ("population", d["data"], f"{d['n']:,} people, {d['runs']} runs, seed {d['seed']}"),
        ("measured loss", f"{d['loss']:.5g}{unit}", "mean distance of a report from its value"),
        ("predicted loss", f"{d['loss_predicted']:.5g}{unit}", "exactly, for these people and the integers sampled"),
        ("ratio", ratio, "measured / predicted ± its standard error over the runs"),
        ("remapped loss", f"{d['loss_remapped']:.5g}{unit}", "reports taken for the likeliest near answer: free"),
    ]
    return facts_table(rows)


def pairs_table(d: Mapping[str, Any]) -> Table:
    """What a simulation with key-value data measured."""
    own = "".join(f", {name} = {value}" for name, value in d["params"].items())
    best = f"over the {d['top']} most frequent keys"
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, k = {d['k']:,}{own}"),
        ("people", number(d["n"]), f"{d['pairs']:,} pairs of {d['data']}, {d['runs']} runs, seed {d['seed']}"),
        ("mse of frequencies", number(d["mse"], 4), f"usual error {100 * math.sqrt(d['mse']):.3g} points"),
    ]
    if d["mse_predicted"] is not None:
        ratio = f"{d['ratio']:.3f}" + (f" ± {d['ratio_stderr']:.3f}" if d["ratio_stderr"] is not None else "")
        rows.append(("predicted", number(d["mse_predicted"], 4), "closed form, for these people and their pairs"))
        rows.append(("ratio", ratio, "measured / predicted ± its standard error over the runs"))
    for name, what in (("coverage", "frequencies"), ("coverage_mean", "means, keys that somebody has")):
        spread = f" ± {100 * d[f'{name}_stderr']:.2f}" if d[f"{name}_stderr"] is not None else ""
        rows.append(
            (name.replace("_", ", "), percent(d[name]) + spread, f"of the {100 * d['level']:g} % intervals of {what}")
        )
    for name, what in (
        ("ncr", "how well the most frequent keys are found, 1 at best"),
        ("mse_frequency_top", f"of frequencies, {best}"),
        ("mse_mean_top", f"of means on a range from -1 to 1, {best}"),
    ):
        if d[name] is not None:
            rows.append((name.replace("_", " "), number(d[name], 4), what))
    return facts_table(rows)


def protocol_table(d: Mapping[str, Any]) -> Table:
    """A protocol: what it promises, and how people take part."""
    own = ", ".join(f"{name} = {value}" for name, value in d["params"].items())
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


def audit_table(found: Audit) -> Table:
    """The evidence of an audit."""
    document = found.document()
    low = exp_bounds(found.promised)[0]
    ratio = None if document["ratio"] == "infinite" else Fraction(document["ratio"])
    proof = found.proof if found.enumerated is None else found.enumerated
    rows = [
        ("mechanism", found.name),
        ("promised epsilon", repr(found.promised)),
        ("exact epsilon", repr(found.exact) + " (rounded up)"),
        ("spare epsilon", "none: some report rules a value out" if ratio is None else _spare(low, ratio)),
        ("largest ratio", "infinite" if ratio is None else decimal(ratio)),
        ("e^promise", f"{decimal(low)} (rounded down)"),
        ("as a fraction", "infinite" if ratio is None else f"{_short(ratio.numerator)} / {_short(ratio.denominator)}"),
        ("witness", str(proof.witness)),
        ("method", found.proof.method),
        ("argument", found.proof.argument),
    ]
    if found.enumerated is not None:
        same = "the same ratio" if found.agrees else "ANOTHER ratio: one of the two is wrong"
        rows.append(("enumeration", f"{found.enumerated.argument}: {same}"))
    elif found.proof.method != "enumeration":
        rows.append(("enumeration", "not done: there are too many outputs to write down"))
    if found.guarantee is not None:
        rows.append(("own budgets", "kept" if found.budgets_kept else "NOT KEPT"))
    if found.guarantee is not None and "pair" in found.guarantee:
        told = ", ".join(f"{name} {found.guarantee[name]:.6g}" for name in ("data", "level", "pair"))
        rows.append(("levels", f"largest log-ratios of values at a known level, of levels, and of both: {told}"))
    rows.append(("vetted", "yes" if found.vetted else "no"))
    return Table((Column("evidence"), Column("", wrap=True)), rows)


def decimal(x: Fraction, digits: int = _DIGITS) -> str:
    """A fraction as a decimal of so many digits.

    >>> decimal(Fraction(1, 3), 5)
    '0.33333'
    """
    with localcontext() as context:
        context.prec = digits
        return str(Decimal(x.numerator) / Decimal(x.denominator))


def _spare(low: Fraction, ratio: Fraction) -> str:
    """ln(e^promise / ratio): what is left of the promise, to three digits however little it is."""
    left = low / ratio - 1
    return f"{math.log1p(left):.3g}" if abs(left) < 1e300 else "very much"


def _short(x: int, keep: int = 12) -> str:
    text = str(x)
    return text if len(text) <= 2 * keep + 3 else f"{text[:keep]}...{text[-keep:]} ({len(text)} digits)"
