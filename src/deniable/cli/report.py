"""The evidence of an audit as a table for people."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from deniable.audit.exact import Audit
from deniable.present.tables import Column, Table, facts_table, number
from deniable_client.exact import exp_bounds

__all__ = ["audit_table", "fakes_table"]

_DIGITS = 30


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
        rows.append(("enumeration", "not done: there are too many different reports to list"))
    if found.guarantee is not None:
        rows.append(("own budgets", "kept" if found.own_kept else "NOT KEPT"))
    if found.guarantee is not None and "pair" in found.guarantee:
        told = ", ".join(f"{name} {found.guarantee[name]:.6g}" for name in ("data", "level", "pair"))
        rows.append(("levels", f"largest log-ratios of values at a known level, of levels, and of both: {told}"))
    rows.append(("vetted", "yes" if found.vetted else "no"))
    return Table((Column("evidence"), Column("", wrap=True)), rows)


def fakes_table(made: Any) -> Table:
    """What hiding an answer among fakes leaks and costs, beside asking one question openly."""
    told, kept = made.compared(), "kept" if made.document()["one_answer_holds"] else "NOT KEPT"
    rows = [
        ("promised", f"{made.epsilon:.4f}", "epsilon of all answers of a person together"),
        ("all answers", f"{made.record:.4f}", "exact: ln(d(e - 1) + 1), between people who share no answer"),
        ("one answer", f"{made.one_answer:.4f}", f"exact, between people who differ in one answer alone: {kept}"),
        (
            "variance",
            number(told["recipe"], 4),
            "of an item from one report of this recipe, all answers equally common",
        ),
        (
            "one question",
            number(told["one_question"], 4),
            "the same, of subset selection on one openly drawn question, with the exact epsilon of all answers",
        ),
        (
            "all questions",
            number(told["all_questions"], 4),
            "the same, of subset selection on every question, where the promise is about one answer alone",
        ),
        ("instead", "", made.instead),
    ]
    return facts_table(rows)


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
