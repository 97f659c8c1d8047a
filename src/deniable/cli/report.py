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

__all__ = ["audit_table", "study_table"]

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
