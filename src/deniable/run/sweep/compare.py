"""Designs side by side: what each promises, how far its estimates are off, what it sends and what it gives away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.errors import DeniableError, require
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan.prediction import FORGED, forged_gain, points
from deniable.present.tables import Column, Table, number, percent, right
from deniable.run.questions import question_of

__all__ = ["compared"]

_ERRORS = {
    "mse": "std. error",
    "variance": "std. error",
    "variance_mean": "std. error of the mean",
    "loss": "mean loss",
}
"""Properties that say how far off a design is, in the order in which they are looked for, and what they are called."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row for each design."""

    rows: tuple[Mapping[str, Any], ...]
    n: float

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {"n": self.n, "forged_share": FORGED, "designs": [dict(row) for row in self.rows]}

    def table(self) -> Table:
        """For people."""
        names = list(dict.fromkeys(str(row["error_is"]) for row in self.rows))
        error = names[0] if len(names) == 1 else "error"
        head = (Column("design", wrap=True, most=28), *right("epsilon", error, "bytes", "best guess", "forged", "gap"))
        return Table(head, [_cells(row) for row in self.rows])

    def promises(self) -> list[str]:
        """What each promises in words; those that promise the same are told together."""
        told: dict[str, list[str]] = {}
        for row in self.rows:
            told.setdefault(str(row["promise"]), []).append(str(row["design"]))
        return [f"{', '.join(names)}: {text}" for text, names in told.items()]

    def chart(self) -> Any:
        """Error against the best guess; designs of which both are known."""
        from deniable.present.charts import scatter_chart

        rows = [
            {"label": row["design"], "kind": "good", "guess": 100 * row["best_guess"], "error": row["error"]}
            for row in self.rows
            if row["best_guess"] is not None and row["error"]
        ]
        hint = "None of these designs has a known error and a known best guess."
        require(bool(rows), "chart", len(rows), "of at least one design", hint)
        names = {str(row["error_is"]) for row in self.rows}
        require(len(names) == 1, "chart", sorted(names), "of designs whose errors are of one kind")
        return scatter_chart(
            rows,
            x="guess",
            y="error",
            title="Designs side by side: error against the best guess",
            subtitle=f"n = {self.n:,.0f}",
            x_title="best guess from a report is right, %",
            y_title=next(iter(names)),
            kinds={"good": "design"},
        )


def compared(designs: Sequence[tuple[str, Mechanism]], n: float) -> Comparison:
    """Set designs side by side for n reports; what is not known is None, never 0."""
    require(len(designs) >= 1, "designs", len(designs), "at least one")
    names = [name for name, _ in designs]
    numbered = [f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names, start=1)]
    return Comparison(tuple(_row(name, m, n) for name, (_, m) in zip(numbered, designs, strict=True)), n)


def _row(name: str, m: Mechanism, n: float) -> dict[str, Any]:
    known = m.properties(n)
    kind = next((each for each in _ERRORS if isinstance(known.get(each), int | float)), None)
    value = None if kind is None else float(known[kind])
    error = value if kind in (None, "loss") or value is None else math.sqrt(value)
    guess = known.get("asr")
    gap = known.get("gap")
    gap = gap.get("mse") if isinstance(gap, Mapping) else gap
    return {
        "design": name,
        "mechanism": m.name,
        "params": m.params,
        "k": m.k,
        "epsilon": m.epsilon,
        "epsilon_exact": m.epsilon_exact,
        "vetted": m.vetted,
        "promise": m.protection.text,
        "error": error,
        "error_is": _ERRORS.get(kind or "", "error"),
        "mse": known.get("mse"),
        "bytes": known.get("bytes"),
        "best_guess": guess if isinstance(guess, int | float) else _guess(m),
        "forged": _forged(m),
        "forged_text": _forged_text(m),
        "gap": gap if isinstance(gap, int | float) else None,
    }


def _guess(m: Mechanism) -> float | None:
    try:
        return float(m.guess().success)
    except DeniableError:  # there is no best guess of one value
        return None


def _forged(m: Mechanism) -> float | None:
    """What a hundredth of forged reports can add."""
    pull = MECHANISMS[m.name].traits.pull if m.name in MECHANISMS else None
    return None if pull is None else float(forged_gain(pull(m, 1)))


def _forged_text(m: Mechanism) -> str:
    found = _forged(m)
    if found is None:
        return "not known"
    return points(found) if "percentage" in question_of(m.name).unit else number(found, 3)


def _cells(row: Mapping[str, Any]) -> list[str]:
    error, gap = row["error"], row["gap"]
    shares = row["error_is"] == "std. error"
    return [
        str(row["design"]),
        f"{row['epsilon']:g}",
        "not known" if error is None else f"{100 * error:.3g} points" if shares else number(error, 4),
        "not known" if row["bytes"] is None else f"{row['bytes']:,}",
        "not known" if row["best_guess"] is None else percent(row["best_guess"]),
        row["forged_text"],
        "not known" if gap is None else percent(max(gap, 0.0), 1),
    ]
