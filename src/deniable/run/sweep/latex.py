"""The numbers of a sweep as a table in LaTeX."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.run.sweep.metrics import Metric
    from deniable.run.sweep.result import Sweep

__all__ = ["table_of"]

_SIGNS = re.compile(r"([&%$#_{}])")
_NAMES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is.

    >>> escaped("ue:p=0.5_{a} 10%")
    'ue:p=0.5\\\\_\\\\{a\\\\} 10\\\\%'
    """
    parts = re.split(r"([\\~^])", text)
    return "".join(_NAMES.get(part, _SIGNS.sub(r"\\\1", part)) for part in parts)


def table_of(sweep: Sweep, metric: Metric) -> str:
    """A table of one metric: mechanisms by budgets, mean and standard error, the best of a column in bold.

    Of a function of somebody's own nothing says whether more is better: no number is bold.
    """
    name = metric.name.replace(" ", "_")
    rows = sweep.rows()
    names = list(dict.fromkeys(row["mechanism"] for row in rows))
    budgets = sorted({row["epsilon"] for row in rows})
    at = {(row["mechanism"], row["epsilon"]): row for row in rows}
    best: dict[float, float] = {}
    for budget in budgets:
        seen = [at[n, budget][name] for n in names if (n, budget) in at and at[n, budget][name] is not None]
        if seen and metric.more is not None:
            best[budget] = max(seen) if metric.more else min(seen)
    body = []
    for each in names:
        cells = [_cell(at.get((each, b)), name, best.get(b)) for b in budgets]
        body.append(f"{escaped(each)} & {' & '.join(cells)} \\\\")
    fact = rows[0]
    told = f"{metric.about}; {fact['data']}, $k = {fact['k']}$, $n = {fact['n']}$, {fact['runs']} runs"
    told = escaped(metric.about) + told[len(metric.about) :].replace(fact["data"], escaped(fact["data"]), 1)
    head = " & ".join(f"$\\varepsilon = {b:g}$" for b in budgets)
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{told[:1].upper()}{told[1:]} (mean $\\pm$ standard error).}}",
            f"\\begin{{tabular}}{{l{'r' * len(budgets)}}}",
            "\\toprule",
            f"mechanism & {head} \\\\",
            "\\midrule",
            *body,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def _cell(row: Any, name: str, best: float | None) -> str:
    """A number with its standard error; powers of ten where it is small or large."""
    if row is None or row[name] is None:
        return "--"
    value, stderr = row[name], row[f"{name}_stderr"]
    power = math.floor(math.log10(abs(value))) if value else 0
    power = 0 if -3 < power < 4 else power
    scale = 10.0**power
    digits = 3 if not stderr else max(0, min(6, 1 - math.floor(math.log10(stderr / scale))))
    body = f"{value / scale:.{digits}f}"
    if stderr:
        body = f"{body} \\pm {stderr / scale:.{digits}f}"
    if power:
        body = f"({body}) \\times 10^{{{power}}}" if stderr else f"{body} \\times 10^{{{power}}}"
    return f"$\\mathbf{{{body}}}$" if value == best else f"${body}$"
