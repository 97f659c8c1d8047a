"""Estimates ready to be shown: one interval chosen, largest items on request, as data, CSV or a chart."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.errors import need_extra, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.keyvalue.estimate import MeanPart
from deniable.present.export import SUFFIXES
from deniable.run.files import STANDARD, check_output, open_output

__all__ = ["Shares", "check_chart", "check_table", "write_rows"]

_COLUMNS = ("value", "stderr", "low", "high")


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """An estimate with one kind of interval, and the truth where it is known."""

    labels: tuple[str, ...]
    columns: dict[str, FloatArray]
    """`value`, `stderr`, `low`, `high` and, where it is known, `truth`; for key-value data the same for means."""
    facts: dict[str, Any]
    """Where the numbers come from and what the intervals promise."""
    total: int
    """How many labels there are, also where only the largest are kept."""

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
    ) -> Shares:
        """The estimate with its intervals; for key-value data also the means of the values with theirs."""
        ends = estimate.interval(level, target, simultaneous=simultaneous)
        numbers = (estimate.value, np.sqrt(estimate.variance(target)), ends.low, ends.high)
        columns = dict(zip(_COLUMNS, numbers, strict=True)) | ({} if truth is None else {"truth": truth})
        if isinstance(estimate.parts.get("mean"), MeanPart):
            columns |= _means(estimate, level, target, simultaneous, truth_mean)
        of_mean: dict[str, Any] = {"part": "mean"} if next(iter(estimate.parts)) == "mean" else {}
        if "too_rare" in columns:
            of_mean["range"] = list(estimate.design["params"]["range"])
        facts = {
            **of_mean,
            "mechanism": estimate.design["mechanism"],
            "epsilon": estimate.design["epsilon"],
            "n": estimate.n,
            "simulated": estimate.simulated,
            "steps": list(estimate.steps),
            "biased": estimate.biased,
            "level": level,
            "target": target,
            "simultaneous": simultaneous,
        }
        return cls(estimate.labels, columns, facts, len(estimate.labels))

    @property
    def numbers(self) -> bool:
        """Whether these are means of numbers rather than shares."""
        return self.facts.get("part") == "mean"

    def top(self, t: int) -> Shares:
        """Only the items with the largest estimates, largest first; equal ones keep their order."""
        require(t >= 1, "top", t, "an integer >= 1")
        order = np.argsort(-self.columns["value"], kind="stable")[:t]
        columns = {name: column[order] for name, column in self.columns.items()}
        return replace(self, labels=tuple(self.labels[i] for i in order), columns=columns)

    def document(self) -> dict[str, Any]:
        """As plain data."""
        lists = {name: column.tolist() for name, column in self.columns.items()}
        return {**self.facts, "labels": list(self.labels), **lists}

    def rows(self) -> list[dict[str, Any]]:
        """One row per label."""
        lists = {"label": list(self.labels)} | {name: c.tolist() for name, c in self.columns.items()}
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def save(self, target: str) -> None:
        """Write a table as .csv (also `-`), or everything as .json; whole or not at all."""
        if check_table(target) == ".csv":
            write_rows(self.rows(), target)
            return
        with open_output(target) as out:
            out.write((json.dumps(self.document(), indent=1, allow_nan=False) + "\n").encode())

    def draw(self, target: str, title: str) -> None:
        """Save a chart; the suffix says of what kind (.html, .png, .svg or .json)."""
        from deniable.present.charts import caption, estimate_chart, save

        require(not self.numbers, "chart", target, "left out: a mean is one number, and nothing to draw")
        facts, columns = self.facts, self.columns
        subtitle = caption(facts["mechanism"], epsilon=facts["epsilon"], n=facts["n"], simulated=facts["simulated"])
        if facts["biased"]:
            subtitle += (
                f" · {'projected' if any('projected' in step for step in facts['steps']) else 'shrunk'} (biased)"
            )
        if len(self.labels) < self.total:
            subtitle += f" · the {len(self.labels)} largest of {self.total:,}"
        chart = estimate_chart(
            self.labels,
            columns["value"],
            columns["low"],
            columns["high"],
            title=title,
            subtitle=subtitle,
            truth=columns.get("truth"),
            level=facts["level"],
        )
        save(chart, target)

    def draw_means(self, target: str, title: str) -> None:
        """Save a chart of the means of key-value data, without those of keys that are too rare to say."""
        from deniable.present.charts import caption, estimate_chart, save

        ends = self.facts.get("range")
        require(ends is not None, "chart", target, "left out: there are no means of keys")
        assert ends is not None
        facts, told = self.facts, np.flatnonzero(~self.columns["too_rare"].astype(np.bool_))
        require(told.size > 0, "chart", target, "left out: all keys are too rare to say", "Collect more reports.")
        columns = {name: column[told] for name, column in self.columns.items()}
        subtitle = caption(facts["mechanism"], epsilon=facts["epsilon"], n=facts["n"], simulated=facts["simulated"])
        rare = len(self.labels) - told.size
        chart = estimate_chart(
            tuple(self.labels[i] for i in told),
            columns["mean"],
            columns["mean_low"],
            columns["mean_high"],
            title=title,
            subtitle=subtitle + (f" · {rare:,} key{'s are' if rare > 1 else ' is'} too rare to say" if rare else ""),
            truth=columns.get("truth_mean"),
            level=facts["level"],
            ends=(float(ends[0]), float(ends[1])),
        )
        save(chart, target)


def _means(
    estimate: Estimate, level: float, target: Target, simultaneous: bool, truth: FloatArray | None
) -> dict[str, FloatArray]:
    """Means of values with their intervals, and which keys are too rare to say anything of theirs."""
    part = estimate.parts["mean"]
    assert isinstance(part, MeanPart)
    ends = part.interval(level, target, simultaneous)
    found: dict[str, Any] = {
        "mean": part.value,
        "mean_low": ends.low,
        "mean_high": ends.high,
        "too_rare": part.too_rare(level),
    }
    return found if truth is None else found | {"truth_mean": truth}


def check_chart(target: str) -> None:
    """Refuse a chart that cannot be written, before any work is done for it."""
    known = Path(target).suffix.lower() in SUFFIXES
    require(known, "chart", target, f"a name that ends in one of {', '.join(SUFFIXES)}")
    check_output(target)
    need_extra("altair", "charts")


def check_table(target: str, suffixes: Sequence[str] = (".csv", ".json")) -> str:
    """Refuse a table that cannot be written, before any work is done for it; else its kind (`-` is the first)."""
    suffix = suffixes[0] if target == STANDARD else Path(target).suffix.lower()
    require(suffix in suffixes, "out", target, f"a name that ends in {' or '.join(suffixes)}")
    check_output(target)
    return suffix


def write_rows(rows: Sequence[dict[str, Any]], target: str) -> None:
    """Write rows of equal keys as CSV with a header, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with open_output(target) as out:
        out.write(text.getvalue().encode())
