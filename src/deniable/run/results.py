"""Estimates ready to be shown: one interval chosen, largest items on request, as data, CSV or a chart."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import need_extra, require
from deniable.estimate.bins import edges_of, is_fine
from deniable.estimate.result import CUMULATIVE, Estimate
from deniable.present.estimates import ORDERS
from deniable.present.export import SUFFIXES
from deniable.run.files import check_output, csv_bytes, open_output
from deniable.run.layout import STANDARD

__all__ = ["Shown", "check_chart", "check_order", "check_table", "write_rows"]

_COLUMNS = ("value", "stderr", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """An estimate with one kind of interval, and the truth where it is known."""

    labels: tuple[str, ...]
    columns: dict[str, FloatArray]
    """`value`, `stderr`, `low`, `high` and, where it is known, `truth`; for key-value data the same for means."""
    facts: dict[str, Any]
    """Where the numbers come from and what the intervals promise."""
    total: int
    """How many labels there are, also where only the largest are kept."""
    drawn: Shown | None = None
    """What a chart shows instead, where single numbers say nothing: their shares in bins."""
    edges: FloatArray | None = None
    """Where bins begin and end."""
    bias: tuple[str, ...] = ()
    """What made the estimate biased; see `Estimate.bias`."""

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        *,
        level: float = 0.95,
        target: Target = "reporters",
        simultaneous: bool = False,
        truth: FloatArray | None = None,
        truth_mean: FloatArray | None = None,
    ) -> Shown:
        """The estimate with its intervals; of shares of keys also their means, and which are too rare to say."""
        span = estimate.range
        ends = estimate.interval(level, target, simultaneous=simultaneous)
        numbers = (estimate.value, np.sqrt(estimate.variance(target)), ends.low, ends.high)
        columns: dict[str, Any] = dict(zip(_COLUMNS, numbers, strict=True)) | (
            {} if truth is None else {"truth": truth}
        )
        first: dict[str, Any] = {}
        last: dict[str, Any] = {}
        means = dict(list(estimate.parts.items())[1:]).get("mean")  # those beside shares
        if means is not None and means.range is not None:
            about = means.interval(level, target, simultaneous)
            own = {"mean": means.value, "mean_low": about.low, "mean_high": about.high}
            columns |= own | {"too_rare": means.too_rare(level)}
            columns |= {} if truth_mean is None else {"truth_mean": truth_mean}
            first, last = {"range": list(means.range)}, {"note_mean": about.note} if about.note else {}
        facts = {
            **first,
            **({} if span is None else {"part": "mean", "interval": list(span)}),
            **({"part": CUMULATIVE} if next(iter(estimate.parts)) == CUMULATIVE else {}),
            "mechanism": estimate.design["mechanism"],
            "epsilon": estimate.design["epsilon"],
            "n": estimate.n,
            "simulated": estimate.simulated,
            "steps": list(estimate.steps),
            "biased": estimate.biased,
            "level": level,
            "target": target,
            "simultaneous": simultaneous,
            **({"note": ends.note_on(estimate.labels)} if ends.notes else {}),
            **last,
        }
        again: dict[str, Any] = {"level": level, "target": target, "simultaneous": simultaneous}
        coarse = cls.of(estimate.binned(), **again) if truth is None and is_fine(estimate) else None
        return cls(estimate.labels, columns, facts, len(estimate.labels), coarse, edges_of(estimate), estimate.bias)

    @property
    def numbers(self) -> bool:
        """Whether these are means of numbers rather than shares."""
        return self.facts.get("part") == "mean"

    @property
    def added_up(self) -> bool:
        """Whether these are cumulative shares."""
        return self.facts.get("part") == CUMULATIVE

    @property
    def projected(self) -> bool:
        """Whether these were moved to shares >= 0 that sum to 1."""
        return "projected" in self.bias

    def top(self, t: int) -> Shown:
        """Only the items with the largest estimates, largest first; equal ones keep their order."""
        require(t >= 1, "top", t, "an integer >= 1")
        order = np.argsort(-self.columns["value"], kind="stable")[:t]
        columns = {name: column[order] for name, column in self.columns.items()}
        return replace(self, labels=tuple(self.labels[i] for i in order), columns=columns)

    def document(self) -> dict[str, Any]:
        """As plain data; JSON has no infinity, so None stands for a standard error that is not finite."""
        lists = {
            name: [None if isinstance(x, float) and not math.isfinite(x) else x for x in column.tolist()]
            for name, column in self.columns.items()
        }
        return {**self.facts, "labels": list(self.labels), **lists}

    def rows(self) -> list[dict[str, Any]]:
        """One row per label, each with the mark of simulated data."""
        lists = {"label": list(self.labels)} | {name: c.tolist() for name, c in self.columns.items()}
        lists["simulated"] = [self.facts["simulated"]] * len(self.labels)
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def save(self, target: str) -> None:
        """Write a table as .csv (also `-`), or everything as .json; whole or not at all."""
        if check_table(target) == ".csv":
            write_rows(self.rows(), target)
            return
        with open_output(target) as out:
            out.write((json.dumps(self.document(), indent=1, allow_nan=False) + "\n").encode())

    def draw(self, target: str, title: str, order: str | None = None) -> None:
        """Save a chart; the suffix says of what kind (.html, .png, .svg or .json). `order` is that of the answers."""
        from deniable.present.charts import save

        save(self.chart(title, order), target)

    def chart(self, title: str, order: str | None = None) -> Any:
        """The chart that `draw` saves."""
        if self.drawn is not None and len(self.labels) == self.total:
            return self.drawn.chart(title, order)
        notes = []
        if self.bias:
            notes.append(f"{', '.join(self.bias)} (biased)")
        if len(self.labels) < self.total:
            notes.append(f"the {len(self.labels)} largest of {self.total:,}")
        more: dict[str, Any] = {"ends": tuple(self.facts["interval"])} if self.numbers else {}
        more |= {"edges": self.edges, "order": order}
        return self._made(title, notes, ("value", "low", "high", "truth"), np.arange(len(self.labels)), **more)

    def draw_means(self, target: str, title: str) -> None:
        """Save a chart of the means of key-value data, without those of keys that are too rare to say."""
        require("range" in self.facts, "chart_means", target, "left out: there are no means of keys")
        told = np.flatnonzero(~self.columns["too_rare"].astype(np.bool_))
        require(told.size > 0, "chart_means", target, "left out: all keys are too rare to say", "Collect more reports.")
        rare = len(self.labels) - told.size
        notes = [f"{rare:,} key{'s are' if rare > 1 else ' is'} too rare to say"] * (rare > 0)
        low, high = self.facts["range"]
        from deniable.present.charts import save

        save(self._made(title, notes, ("mean", "mean_low", "mean_high", "truth_mean"), told, ends=(low, high)), target)

    def _made(self, title: str, notes: Sequence[str], names: Sequence[str], rows: IntArray, **more: Any) -> Any:
        from deniable.present.charts import caption, estimate_chart
        from deniable.present.cumulative import cumulative_chart

        facts = self.facts
        source = caption(facts["mechanism"], epsilon=facts["epsilon"], n=facts["n"], simulated=facts["simulated"])
        value, low, high = (self.columns[name][rows] for name in names[:3])
        truth = self.columns[names[3]][rows] if names[3] in self.columns else None
        labels = tuple(self.labels[i] for i in rows)
        told: dict[str, Any] = {"subtitle": " · ".join([source, *notes]), "truth": truth}
        own = {"simultaneous": facts["simultaneous"]} if self.added_up else more
        drawn = cumulative_chart if self.added_up else estimate_chart
        return drawn(labels, value, low, high, title=title, level=facts["level"], **told, **own)


def check_chart(target: str, name: str = "chart") -> None:
    """Refuse a chart that cannot be written, before any work is done for it."""
    known = Path(target).suffix.lower() in SUFFIXES
    require(known, name, target, f"a name that ends in one of {', '.join(SUFFIXES)}")
    check_output(target, name)
    need_extra("altair", "charts")


def check_order(order: str, chart: str | None) -> None:
    """Refuse an order of answers that is none, or without a chart that would show it."""
    require(order in ORDERS, "chart-order", order, f"one of {', '.join(ORDERS)}")
    require(chart is not None, "chart-order", order, "given together with --chart")


def check_table(target: str, suffixes: Sequence[str] = (".csv", ".json")) -> str:
    """Refuse a table that cannot be written, before any work is done for it; else its kind (`-` is the first)."""
    suffix = suffixes[0] if target == STANDARD else Path(target).suffix.lower()
    require(suffix in suffixes, "out", target, f"a name that ends in {' or '.join(suffixes)}")
    check_output(target)
    return suffix


def write_rows(rows: Sequence[dict[str, Any]], target: str) -> None:
    """Write rows of equal keys as CSV with a header, whole or not at all."""
    with open_output(target) as out:
        out.write(csv_bytes(rows))
