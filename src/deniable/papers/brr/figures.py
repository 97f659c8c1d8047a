"""BRR's figures about lines and similarities: laws of reports, monotonicity, losses, ratios and their limits."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.space import Space
from deniable.core.types import FloatArray
from deniable.mechanisms.metric.baselines import exponential
from deniable.mechanisms.metric.bipartite import loss_of
from deniable.mechanisms.metric.codes_search import line_codes, search_codes
from deniable.mechanisms.metric.losses import Line, Losses, MatrixLosses
from deniable.mechanisms.registry import mechanism
from deniable.papers.brr.printed import lower_limit, mean_limit, slope, upper_limit
from deniable.papers.brr.theorems import mean_loss, mean_ratio
from deniable.papers.brr.theory import local_ratios
from deniable.papers.charts import Axes, bar_chart, cell_chart, lines
from deniable.papers.paper import Context, Figure, Rows

if TYPE_CHECKING:
    import altair

__all__ = ["FIGURES"]

_BUDGETS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
_CHANGES = ("lower than in the row above", "higher than in the row above")
_SHOWN = (0.5, 1.0, 3.0)
_BY_SIZE = Axes(
    "points",
    "share of the range",
    "mechanism",
    "panel",
    x_title="number of points N",
    y_title="mean loss / range of the points, N - 1",
    log="x",
)
_SIZES = (5, 10, 20, 50, 100, 200, 400)


def _release_losses(losses: Losses, epsilon: float) -> dict[str, float]:
    """Mean losses of all ways to release one answer, by name; all but the printed exponential use epsilon up."""
    table = losses.matrix()
    weights = losses.weights()

    def under(matrix: FloatArray) -> float:
        return float(weights @ (matrix * table).sum(axis=1))

    book = line_codes(losses, epsilon) if isinstance(losses, Line) else search_codes(table, weights, epsilon)
    return {
        "GRR": loss_of(losses, epsilon, 1),
        "exponential, printed": under(exponential(table, epsilon, calibrated=False)),
        "exponential, calibrated": under(exponential(table, epsilon)),
        "BRR, rule min (paper)": mean_loss(losses, epsilon, "min"),
        "BRR, rule mean": mean_loss(losses, epsilon, "mean"),
        "codebook": book.loss,
    }


# ---- laws and monotonicity


def _fig1(_: Context) -> Rows:
    """What is reported for the 8th of 20 points."""
    points, own, epsilon = 20, 8, 1.0
    rows: list[dict[str, str | int | float]] = []
    for label, name, options in (
        ("GRR", "brr", {"size": 1}),
        ("BRR", "brr", {"form": "paper", "tie": "low"}),
        ("codebook", "codebook", {}),
    ):
        made: Any = mechanism(name, epsilon=epsilon, points=points, **options)
        law = np.zeros(points)
        at = made.output_points
        law[np.arange(points) if at is None else at] = made.matrix()[own - 1]
        rows += [{"mechanism": label, "report": y + 1, "probability": float(p)} for y, p in enumerate(law)]
    return rows


def _draw_fig1(rows: Rows) -> altair.TopLevelMixin:
    most = {
        row["mechanism"]: max(float(r["probability"] or 0) for r in rows if r["mechanism"] == row["mechanism"])
        for row in rows
    }
    shown = [{**row, "high": row["probability"] == most[row["mechanism"]]} for row in rows]
    return bar_chart(
        shown,
        x="report",
        y="probability",
        panel="mechanism",
        strong="high",
        own=8,
        title="What is reported for the 8th of 20 points",
        subtitle="ε = 1. GRR favours the true point (the mark) alone, BRR the 7 nearest ones, each e times as likely "
        "as the others; the codebook has two outputs, e to 1, and the least mean error of all. After BRR Fig. 1.",
        x_title="reported point",
        y_title="probability",
    )


def _slopes(points: int, epsilon: float) -> FloatArray:
    """Numerators of BRR Eq. 9, the reports before the i-th raised: a row for each answer of the first half."""
    rows = np.sort(Line(points).matrix()[: (points + 1) // 2], axis=1)
    e = math.exp(epsilon)
    return np.array([[slope(row, i, e) for i in range(1, points + 1)] for row in rows])


def _fig3(_: Context) -> Rows:
    """The first half of 16 points at epsilon 1: sorted distances, derivatives, and how they change from row to row."""
    points, epsilon = 16, 1.0
    found = _slopes(points, epsilon)
    sorted_rows = np.sort(Line(points).matrix(), axis=1)
    rows: list[dict[str, str | int | float]] = []
    for k, i in product(range(points // 2), range(points)):
        change = "first row" if k == 0 else _CHANGES[int(found[k, i] > found[k - 1, i])]
        raised = bool((found[k, 1 : i + 1] < 0).all())
        rows.append(
            {
                "answer": k + 1,
                "nearest": i + 1,
                "distance": int(sorted_rows[k, i]),
                "derivative": float(found[k, i]),
                "change": change,
                "raised": int(raised),
            }
        )
    return rows


def _draw_fig3(rows: Rows) -> altair.TopLevelMixin:
    return cell_chart(
        rows,
        x="nearest",
        y="answer",
        text="distance",
        kind="change",
        strong="raised",
        title="Where raising the i-th nearest report starts to hurt",
        subtitle="16 points, ε = 1. Cells: distances, in bold where the report is raised; colour: the derivative of "
        "the loss against that of the row above. m is the fewest bold cells of a row. After BRR Fig. 3.",
        x_title="i-th nearest report",
        y_title="answer",
    )


# ---- losses and their limits


def _fig5(context: Context) -> Rows:
    sizes = _SIZES[:-1] if context.quick else (*_SIZES, 800)
    rows: list[dict[str, str | int | float]] = []
    for epsilon, points in product(_SHOWN, sizes):
        for label, loss in _release_losses(Line(points), epsilon).items():
            rows.append(
                {
                    "epsilon": epsilon,
                    "points": points,
                    "mechanism": label,
                    "loss": loss,
                    "share of the range": loss / (points - 1),
                }
            )
    return rows


_draw_fig5 = lines(
    _BY_SIZE,
    "Mean distance of a report from the truth, against the number of points",
    "As a share of the range N - 1, all points equally likely; the constant middle has 0.25 if many. The codebook is "
    "the optimum. After BRR Fig. 5(a).",
    panel="ε = {epsilon:g}",
)


def _fig5b(_: Context) -> Rows:
    rows: list[dict[str, str | int | float]] = []
    sizes = (3, 5, 9, 15, 31, 63, 125, 251, 501, 1001, 4001, 20001)
    for epsilon, points in product((1.0, 2.0, 4.0), sizes):
        ratios = local_ratios(points, epsilon)
        found = {
            "largest local ratio": float(ratios.max()),
            "ratio of mean losses": mean_ratio(points, epsilon),
            "smallest local ratio": float(ratios.min()),
        }
        if points in (sizes[0], sizes[-1]):
            found |= {
                "limit of the largest (Theorem 2)": upper_limit(epsilon),
                "limit of the mean (Theorem 3)": mean_limit(epsilon),
                "limit of the smallest (Theorem 2)": lower_limit(epsilon),
            }
        rows += [{"epsilon": epsilon, "points": points, "what": what, "ratio": r} for what, r in found.items()]
    return rows


_draw_fig5b = lines(
    replace(_BY_SIZE, y="ratio", series="what", y_title="loss of BRR / loss of GRR", reference=1.0),
    "Loss of BRR relative to GRR, and its limits",
    "m = min over all answers (Alg. 2); local ratios are those of single answers. After BRR Fig. 5(b).",
    panel="ε = {epsilon:g}",
)


# ---- similarities


def _similarities(settings: list[tuple[int, float]]) -> Rows:
    return [
        {"points": points, "epsilon": epsilon, "mechanism": label, "similarity": 1 - loss}
        for points, epsilon in settings
        for label, loss in _release_losses(MatrixLosses(Space.integers(range(1, points + 1)).matrix()), epsilon).items()
    ]


def _fig6(context: Context) -> Rows:
    budgets = _BUDGETS[1::2] if context.quick else _BUDGETS
    return _similarities([(points, epsilon) for points in (20, 50, 100) for epsilon in budgets])


def _fig6b(context: Context) -> Rows:
    sizes = (10, 30, 100) if context.quick else (10, 20, 30, 50, 75, 100, 150, 200)
    return _similarities([(points, epsilon) for epsilon in (0.5, 1.0, 3.0) for points in sizes])


_SIMILAR = Axes("epsilon", "similarity", "mechanism", "panel", y_title="expected similarity, 1 for the truth")
_SIMILAR_TEXT = (
    "Similarity of a report to the truth",
    "Jaccard similarity of the numbers 1 to N as the utility, xy/(x²+y²-xy), all equally likely. After BRR Fig. 6.",
)
_draw_fig6 = lines(_SIMILAR, *_SIMILAR_TEXT, panel="N = {points}")
_MORE = replace(_SIMILAR, x="points", x_title="number of candidates N", log="x")
_draw_fig6b = lines(_MORE, *_SIMILAR_TEXT, panel="ε = {epsilon:g}")


def fig3_holds(points: int, epsilon: float) -> tuple[int, int]:
    """Cells of Fig. 3 in which the derivative changes from row to row as the paper says, and all of them.

    From answer k - 1 to k the distances beyond the first j0 shrink by one; up to j0 the derivative grows, then falls.
    """
    found, rows = _slopes(points, epsilon), np.sort(Line(points).matrix(), axis=1)
    good = total = 0
    for k, (above, below) in enumerate(pairwise(found), start=1):
        same = int((rows[k - 1] == rows[k]).sum())
        good += int((below > above)[1:same].sum()) + int((below < above)[same:].sum())
        total += points - 1
    return good, total


FIGURES = (
    Figure("fig1", "Laws of reports of GRR, BRR and the codebook", "Fig. 1", _fig1, _draw_fig1),
    Figure("fig3", "Derivatives of the loss from row to row", "Fig. 3", _fig3, _draw_fig3),
    Figure("fig5", "Loss against the number of points", "Fig. 5(a)", _fig5, _draw_fig5),
    Figure("fig5b", "Ratio to GRR and its limits", "Fig. 5(b)", _fig5b, _draw_fig5b),
    Figure("fig6", "Jaccard similarity against the budget", "Fig. 6", _fig6, _draw_fig6),
    Figure("fig6b", "Jaccard similarity against the number of candidates", "Fig. 6", _fig6b, _draw_fig6b),
)
