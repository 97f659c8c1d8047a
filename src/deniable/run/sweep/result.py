"""What a sweep found: numbers over the runs with their standard errors, beside closed forms; as tables and charts."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.collect.frames import Columned
from deniable.core.intervals import spread
from deniable.errors import require
from deniable.present.tables import Column, Table, number, right
from deniable.run.files import csv_bytes, open_output
from deniable.run.sweep.metrics import Metric

if TYPE_CHECKING:
    import altair

__all__ = ["Sweep"]

_FACTS = ("mechanism", "epsilon", "data", "k", "n", "runs", "seed", "bytes")


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Columned):
    """Several mechanisms at several budgets, each measured over the runs."""

    metrics: tuple[Metric, ...]
    facts: tuple[Mapping[str, Any], ...]
    """Of each mechanism at each budget: what it is, and its closed forms."""
    measured: tuple[tuple[Mapping[str, Any], ...], ...]
    """The same, run by run."""

    def values(self, metric: str, i: int) -> Any:
        """What the runs of the i-th row measured; NaN where there is no number."""
        return np.array([math.nan if row[metric] is None else row[metric] for row in self.measured[i]], np.float64)

    def rows(self, *, every: bool = False) -> list[dict[str, Any]]:
        """One row per mechanism and budget, with means over the runs, their standard errors and closed forms.

        With `every`, one row per run. All of it is simulated, and says so.
        """
        found = []
        for i, fact in enumerate(self.facts):
            head = {name: fact[name] for name in _FACTS}
            if every:
                runs = enumerate(self.measured[i], start=1)
                found += [{**head, "run": run, **dict(row), "simulated": True} for run, row in runs]
                continue
            found.append({**head, **self._numbers[i], "simulated": True})
        return found

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        """By metric: its mean, its standard error over the runs, and the closed form where there is one."""
        found = []
        for i, fact in enumerate(self.facts):
            own: dict[str, Any] = {}
            for metric in self.metrics:
                values, name = self.values(metric.name, i), metric.name.replace(" ", "_")
                known = bool(np.isfinite(values).all())
                own[name] = float(values.mean()) if known else None
                own[f"{name}_stderr"] = spread(values) if known else None
                if any(f["closed"].get(metric.name) is not None for f in self.facts):
                    own[f"{name}_predicted"] = fact["closed"].get(metric.name)
            found.append(own)
        return found

    def to_columns(self, *, every: bool = False) -> dict[str, list[Any]]:
        """The rows (see `rows`) as plain lists, by name."""
        rows = self.rows(every=every)
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, every: bool = False) -> str:
        """The rows as CSV; written to a file if one is named, whole or not at all."""
        data = csv_bytes(self.rows(every=every))
        if path is not None:
            with open_output(os.fspath(path)) as out:
                out.write(data)
        return data.decode()

    def to_latex(self, path: str | os.PathLike[str] | None = None, *, metric: str | None = None) -> str:
        """A table for a paper: a row for each mechanism, a column for each budget, the best of each in bold.

        It needs the LaTeX package `booktabs`. One table for each metric, or for the one that is named. Of functions of
        your own nothing is bold, as nothing says whether more is better.
        """
        from deniable.run.sweep.latex import table_of

        text = "\n".join(table_of(self, each) for each in self._asked(metric))
        if path is not None:
            with open_output(os.fspath(path)) as out:
                out.write(text.encode())
        return text

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, metric: str | None = None, level: float = 0.95
    ) -> Any:
        """Small multiples, a panel for each metric: points are measured, with intervals of this level over the runs.

        Lines are closed forms where there are some, else they join the points. Saved as .pdf, .svg, .png, .html or
        .json if a file is named.
        """
        from scipy.stats import t as student

        from deniable.present.charts import panels, save

        require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")
        freedom = len(self.measured[0]) - 1
        times = float(student.ppf((1 + level) / 2, freedom)) if freedom else 0.0
        asked = self._asked(metric)
        charts = [self._panel(each, times, len(asked)) for each in asked]
        fact = self.facts[0]
        told = f"{fact['data']} · k = {fact['k']:,} · n = {fact['n']:,} · {fact['runs']} runs, simulated"
        closed = any(f["closed"].get(m.name) is not None for f in self.facts for m in asked)
        lines = "; lines: closed forms where there are some" if closed else ""
        what = f"points: mean over the runs with {100 * level:g} % intervals{lines}"
        chart = panels(charts, title="Mechanisms side by side", subtitle=f"{told} · {what}")
        if path is not None:
            save(chart, path)
        return chart

    def _panel(self, metric: Metric, times: float, panels: int) -> altair.LayerChart | altair.FacetChart:
        from deniable.present.charts import line_chart

        name = metric.name.replace(" ", "_")
        rows = []
        for fact, own in zip(self.facts, self._numbers, strict=True):
            value, closed = own[name], fact["closed"].get(metric.name)
            bar = (own[f"{name}_stderr"] or 0.0) * times
            row = {"mechanism": fact["mechanism"], "epsilon": fact["epsilon"], "value": value, "bar": bar}
            rows.append(row | {"line": value if closed is None else closed})
        seen = [row["value"] for row in rows if row["value"] is not None]
        require(bool(seen), "metric", metric.name, "one that was measured")
        budgets = [row["epsilon"] for row in rows]
        return line_chart(
            rows,
            x="epsilon",
            y="value",
            series="mechanism",
            error="bar",
            line="line",
            title="",
            x_title="epsilon",
            y_title=metric.about,
            log_x=max(budgets) >= 4 * min(budgets),
            log_y=metric.log and min(seen) > 0 and max(seen) >= 3 * min(seen),
            small=panels > 1,
        )

    def _asked(self, metric: str | None) -> Sequence[Metric]:
        known = {m.name: m for m in self.metrics}
        require(metric is None or metric in known, "metric", metric, f"one of {', '.join(known)}")
        return list(self.metrics) if metric is None else [known[metric]]

    def table(self) -> Table:
        """For people."""
        heads = ["mechanism", "epsilon"]
        cells: list[list[str]] = []
        for fact, own in zip(self.facts, self._numbers, strict=True):
            row = [str(fact["mechanism"]), f"{fact['epsilon']:g}"]
            for metric in self.metrics:
                row += _told(own, metric)
            cells.append(row)
        for metric in self.metrics:
            predicted = f"{metric.name.replace(' ', '_')}_predicted" in self._numbers[0]
            heads += [metric.name, *["closed form"] * predicted]
        return Table((Column(heads[0], wrap=True, most=28), *right(*heads[1:])), cells)

    def document(self) -> dict[str, Any]:
        """As plain data."""
        shared = {name: self.facts[0][name] for name in ("data", "k", "n", "runs", "seed")}
        return {**shared, "metrics": [m.name for m in self.metrics], "simulated": True, "rows": self.rows()}

    def __repr__(self) -> str:
        names = list(dict.fromkeys(str(fact["mechanism"]) for fact in self.facts))
        fact = self.facts[0]
        counts = {"mechanism": len(names), "row": len(self.facts), "run": fact["runs"]}
        told = ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items()) + " each"
        return f"<Study of {fact['data']}: {told}; {', '.join(m.name for m in self.metrics)}>"

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        from deniable.present.html import parts_html

        return parts_html("Study", [repr(self)[1:-1], self.table()])


def _told(own: Mapping[str, Any], metric: Metric) -> list[str]:
    """Measured with its standard error, and the closed form."""
    name = metric.name.replace(" ", "_")
    value, stderr = own[name], own[f"{name}_stderr"]
    seen = "not known" if value is None else number(value, 4)
    found = [seen if stderr is None or value is None else f"{seen} ± {stderr:.2g}"]
    if f"{name}_predicted" in own:
        closed = own[f"{name}_predicted"]
        found.append("not known" if closed is None else number(closed, 4))
    return found
