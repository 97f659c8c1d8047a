"""Tables for terminals and pipes: aligned columns, wrapped where space is short, plain where nobody looks."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from deniable.core.types import FloatArray

__all__ = [
    "Column",
    "Table",
    "Whole",
    "claims_table",
    "designs_table",
    "facts_table",
    "mechanisms_table",
    "number",
    "parameters",
    "percent",
    "printable",
    "properties_table",
    "quantiles_table",
    "right",
    "shares_table",
    "width_of",
]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, on which side the cells are flush, whether they may be broken over several lines, and how early.

    `most` is the width at which cells are broken where space is short.
    """

    title: str
    right: bool = False
    wrap: bool = False
    most: int | None = None


class Whole(str):
    """A text that is shown on one line however long it is: something to copy."""

    __slots__ = ()


def right(*titles: str) -> tuple[Column, ...]:
    """Columns of numbers: flush right."""
    return tuple(Column(title, right=True) for title in titles)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings.

    >>> print(Table((Column("label"), Column("share", right=True)), (("no", "61 %"), ("yes", "9 %"))).render())
    label  share
    no      61 %
    yes      9 %
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]
    title: str = ""

    def render(self, *, width: int | None = None, styled: bool = False) -> str:
        """As text: one line per row, or within `width`; `styled` has bold headings and a rule under them.

        Where the columns cannot stand side by side, every row becomes a paragraph: nothing is left out.
        """
        rows = [[printable(cell) for cell in row] for row in self.rows]
        columns = [replace(column, title=printable(column.title)) for column in self.columns]
        if width is None and not styled:
            lines = _plain(columns, rows)
        elif width is not None and _least(columns, rows) > width:
            lines = _folded(columns, rows, width, styled)
        else:
            lines = _rich(columns, rows, width or 10_000, styled)
        return "\n".join(([printable(self.title), ""] if self.title else []) + [line.rstrip() for line in lines])


def printable(text: str) -> str:
    """Text in which nothing moves the cursor or changes colours: control characters are written out.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def number(x: float, digits: int = 6) -> str:
    """A number as a reader wants it: whole ones with separators, others with some significant digits.

    >>> number(32561), number(0.1234567), number(1.5e-09)
    ('32,561', '0.123457', '1.5e-09')
    """
    if math.isfinite(x) and x == int(x) and abs(x) < 1e15:
        return f"{int(x):,}"
    return f"{x:.{digits}g}"


def percent(share: float, decimals: int = 2) -> str:
    """A share in per cent.

    >>> percent(0.1234), percent(1.0, 0), percent(-1e-16)
    ('12.34 %', '100 %', '0.00 %')
    """
    return f"{round(100 * share, decimals) + 0.0:.{decimals}f} %"


def shares_table(
    columns: Mapping[str, Sequence[float] | FloatArray], labels: Sequence[str], *, level: float, numbers: bool = False
) -> Table:
    """Estimates in per cent with standard errors and intervals, and the truth where it is among the columns.

    `numbers`: they are no shares but means of numbers, shown as they are.
    """
    unit, sign = (1, "") if numbers else (100, " %")
    decimals = _decimals([unit / 100 * s for s in columns["stderr"]])
    told = {
        name: [f"{unit * x:.{decimals}f}" for x in columns[name]]
        for name in ("truth", "value", "stderr", "low", "high")
        if name in columns
    }
    cells: dict[str, Sequence[str]] = {"label": labels}
    cells |= {"truth": [x + sign for x in told["truth"]]} if "truth" in told else {}
    cells |= {"estimate": [x + sign for x in told["value"]], "std. error": told["stderr"]}
    cells[f"{100 * level:g} % interval"] = [
        f"{low} to {high}{sign}" for low, high in zip(told["low"], told["high"], strict=True)
    ]
    cells |= _mean_cells(columns) if "mean" in columns else {}
    return Table((Column("label", wrap=True), *right(*list(cells)[1:])), list(zip(*cells.values(), strict=True)))


def quantiles_table(columns: Mapping[str, Sequence[Any]], *, level: float) -> Table:
    """Quantiles of answers in an order, with the first and the last answer that may be them."""
    sets = f"{100 * level:g} % set"
    rows = [
        (f"{100 * share:g} %", value, low if low == high else f"{low} to {high}")
        for share, value, low, high in zip(*(columns[c] for c in ("share", "value", "low", "high")), strict=True)
    ]
    return Table((Column("at or below", right=True), Column("answer"), Column(sets)), rows)


def _mean_cells(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """The means of the labels' values, by heading; nothing is told of those that are too rare."""
    rare = columns["too_rare"]
    ends = zip(rare, columns["mean_low"], columns["mean_high"], strict=True)
    truth = {"true mean": [f"{x:.4g}" for x in columns["truth_mean"]]} if "truth_mean" in columns else {}
    return truth | {
        "mean": ["" if unknown else f"{x:.4g}" for unknown, x in zip(rare, columns["mean"], strict=True)],
        "its interval": ["too rare to say" if unknown else f"{low:.4g} to {high:.4g}" for unknown, low, high in ends],
    }


def mechanisms_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The registry."""
    columns = (
        Column("name"),
        Column("what it is", wrap=True),
        Column("best for", wrap=True),
        Column("options", wrap=True, most=10),
        Column("source", wrap=True, most=11),
        Column("vetted"),
    )
    cells = [
        [
            row["name"],
            row["summary"],
            row["best_for"],
            " ".join(f"--{option.replace('_', '-')}" for option in row["options"]),
            row["source"],
            "yes" if row["vetted"] else "no",
        ]
        for row in rows
    ]
    return Table(columns, cells)


def designs_table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """Several designs for one job, side by side."""
    columns = (Column("mechanism"), *right("std. error", "mse above the bound", "best guess right", "bytes"))
    rows = [
        [
            d["mechanism"],
            f"{100 * math.sqrt(d['mse']):.3f} points",
            percent(d["gap"], 1),
            percent(d["asr"], 1),
            number(d["bytes"]),
        ]
        for d in documents
    ]
    return Table(columns, rows)


def properties_table(document: Mapping[str, Any]) -> Table:
    """A design: each property with its value and what it means."""
    meanings = _MEANING | _among_others(document)
    rows = [(key, _value(key, document[key]), meaning) for key, meaning in meanings.items() if key in document]
    rows += [
        (key, _value(key, value), "") for key, value in document.items() if key not in _MEANING | dict.fromkeys(_NO_ROW)
    ]
    n, k = document.get("n", 1), document.get("k", 1)
    if "mse" in document:
        own = document["mse"] if isinstance(document["mse"], list) else [document["mse"]]  # of each question, or one
        points = ", ".join(f"{100 * math.sqrt(mse):.4g}" for mse in own) + " points"
        at = next(i for i, row in enumerate(rows) if row[0] == "mse") + 1
        rows.insert(at, ("std. error", points, f"sqrt(mse): the usual error of an estimated share, n = {n:,}"))
    error = next((name for name in ("loss", "mse", "variance", "variance_mean") if name in document), "mse")
    kind = "this promise" if "certificate" in document else "this epsilon"
    rows = [
        (
            name,
            value,
            meaning.replace("mse", error).replace("this epsilon", kind) if "bound" in meaning + name else meaning,
        )
        for name, value, meaning in rows
    ]
    filled = [[name, value, meaning.replace("1/k", f"1/k = {1 / k:.3g}")] for name, value, meaning in rows]
    value = Column("value", right=True, wrap=True, most=_VALUE)
    return Table((Column("property"), value, Column("meaning", wrap=True)), filled)


def facts_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    """Named values, each with a word of explanation."""
    return Table((Column("measure"), Column("value", right=True), Column("meaning", wrap=True)), rows)


def claims_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """The claims of a paper and what became of them."""
    told = (Column(name, wrap=True) for name in ("what it says", "paper", "measured"))
    columns = (Column("claim"), Column("verdict"), *told)
    return Table(columns, [[row[key] for key in ("id", "verdict", "claim", "paper", "measured")] for row in rows])


_MEANING = {
    "mechanism": "",
    "epsilon": "the promise; the statement above says what it protects",
    "epsilon_exact": "of the integers that are sampled, rounded up",
    "k": "number of possible values",
    "n": "number of reports that the errors below are for",
    "params": "own parameters of the mechanism",
    "selection": "how the own parameters were chosen",
    "p": "chance that a report supports the value its sender holds",
    "q": "chance that a report supports a value its sender does not hold",
    "z": "chance that a harmless value is disclosed",
    "theta": "expected share of people with a harmless value",
    "shares": "expected shares of the levels",
    "loss": "expected distance (or other loss) of a report from the value, all values being equally likely",
    "codes": "what the reports stand for",
    "loss_fine": "the same on an ever finer grid, with the rule min",
    "unit": "what the loss is measured in",
    "mse": "mean squared error of an estimated share, averaged over the values",
    "mse_sum": "the same, summed over the values",
    "mse_approx": "the same for a value that nobody holds",
    "slope": "how fast the share of reports that support a cell grows with its interaction",
    "variance_population": "of an estimated interaction, all answers equally common, the drawing of people included",
    "padded": "numbers of answers after filling up with such as nobody has, so that g divides them",
    "asr": "chance that the best guess of a value from its report is right (blind guess: 1/k)",
    "frequency": "frequency of the item that the variances are for",
    "variance": "of the estimated frequency of one item, levels drawn at random",
    "variance_mean": "of the mean, averaged over the points of the interval",
    "variance_range": "of the share of a range, averaged over all ranges, equally frequent values, people drawn",
    "variance_prefix": "of a cumulative share, averaged alike",
    "variance_worst": "of the mean, if all people had the value whose reports vary most",
    "variance_even": "of the mean, if all numbers of the interval are equally likely",
    "bound_circle": "the least variance_mean for directions all around the circle, of which the design has k",
    "certificate": "what is least, the bound and who proves it (docs/maths/mean-optimum.md)",
    "bound_mean": "the least variance_mean that any mechanism with this epsilon and this variance can have",
    "estimator": "the linear estimator with the least predicted variance",
    "variance_estimator": "of that item's estimate by it",
    "guarantee": "largest log-ratios of a report: between values, between levels, between both",
    "bits": "log2 of the number of different reports",
    "bytes": "size of one report",
    "bound": "the least mse that any mechanism with this epsilon can have",
    "gap": "how far the mse is above that bound",
    "bound_by": "what the bound looks at: all outputs, classes of values, or levels as if they were told",
    "outputs": "number of different reports",
    "blind": "share of reports that rounding to whole numbers may have cost",
    "bound_at_asr": "the least mse that any mechanism with this epsilon and at most this asr can have",
    "gap_at_asr": "how far the mse is above that one",
    "vetted": "privacy proved by enumeration and by a written argument",
}


def _among_others(document: Mapping[str, Any]) -> dict[str, str]:
    """Meanings that depend on what else there is."""
    found = {}
    if "slope" in document:
        found["mse"] = "mean squared error of an estimated interaction, all answers equally common"
    if {"variance", "variance_mean"} <= set(document):
        found["variance"] = "of an estimated frequency, averaged over keys that are equally frequent"
        found["variance_mean"] = "of frequency times mean, averaged alike, values in the middle of their range"
    if "variance_range" in document:
        found["bound"] = "the least variance_range that any mechanism with this epsilon can have"
        found["gap"] = "how far variance_range is above that bound"
    if "gap" in (known := document.get("certificate") or {}):
        found["certificate"] = "what was to be small, and the least that any mechanism with this promise can have"
        found["variance_mean"] = "of the mean, at the prior or in the worst case, in units of half the interval"
    elif known and "bound_circle" not in document:
        found["variance_mean"] = "of the mean, for the worst value, in units of half the interval"
    elif "bound_circle" in document:
        found["variance_mean"] = "of the mean vector (cos, sin): the trace of its covariance"
    if "by_level" in document.get("guarantee", {}):
        found["guarantee"] = "largest log-ratio of the answers with each budget"
    return found


_AMPLE = 140
"""Columns of text from which on space is not short."""

_NO_ROW = ("design", "effective", "note", "estimator_reason", "protection", "explain", "certificate", "kept")


_VALUE = 48
"""Columns that a value may take where space is short, so that its meaning is still told."""
_LISTED = 6
"""So many numbers of a list are shown."""


def _value(key: str, value: Any) -> str:
    return _BY_KEY.get(key, _plain_value)(value)


def _plain_value(value: Any) -> str:
    return next((show for kind, show in _BY_TYPE if isinstance(value, kind)), str)(value)


def parameters(params: Mapping[str, Any]) -> str:
    """A mechanism's own parameters for people; what it does without is left out.

    >>> parameters({"base": None, "sensitive": [0, 2, 5, 6], "theta": 2 / 3})
    'sensitive = answers 0 to 1 and 5, theta = 0.666667'
    """
    known = {name: x for name, x in params.items() if x is not None and name not in _PROOFS}
    texts = {name: _ranges(x) if name == "sensitive" else _plain_value(x) for name, x in known.items()}
    return ", ".join(f"{name} = {text}" for name, text in texts.items())


_PROOFS = ("certificate", "multipliers")
"""Parameters that prove something and are nothing to be read."""


def _ranges(ends: Sequence[int]) -> str:
    """The answers of half-open ranges, by number."""
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    told = [f"{a}" if b == a + 1 else f"{a} to {b - 1}" for a, b in pairs[:_LISTED]]
    several = len(pairs) > 1 or any(b > a + 1 for a, b in pairs)
    named = " and ".join([*told, *(["others"] if len(pairs) > _LISTED else [])])
    return f"answer{'s' * several} {named}" if pairs else "none"


def _params(value: Mapping[str, Any]) -> str:
    return parameters(value) or "none"


def _guarantee(value: Mapping[str, Any]) -> str:
    if "by_level" in value:
        return ", ".join(f"{exact:.6g} of {budget:g}" for budget, exact in value["by_level"])
    return ", ".join(f"{name} {value[name]:.4g}" for name in ("data", "level", "pair"))


def _selection(value: Mapping[str, Any]) -> str:
    if "select" in value:
        told = f"{value['select']}, {value['objectives']} objectives, normalize {value['normalize']}"
        known = f", for a prior: asr {value['asr_under_prior']:.4g}" if "asr_under_prior" in value else ""
        return told + known
    if "prior" in value:
        return f"{value.get('rule') or value['by']}, {value['prior']} prior"
    return "by a limit"


def _certificate(value: Any) -> str:
    """What was to be small with its bound, where a design has both; else as it is."""
    if not isinstance(value, Mapping) or "gap" not in value:
        return _plain_value(value)
    told = f"{value['value']:.9g}, at least {value['bound']:.9g}"
    return told if value.get("proved", True) else f"{told} (stated)"


def _gap(value: float) -> str:
    return percent(value, 3) if value < 100 else f"{100 * value:.4g} %"


def _list(value: list[Any]) -> str:
    shown = ", ".join(map(_plain_value, value[:_LISTED]))
    return f"[{shown}{', ...' * (len(value) > _LISTED)}]"


def _mapping(value: Mapping[str, Any]) -> str:
    """A mechanism inside of another, or whatever it is."""
    if set(value) != {"mechanism", "params"}:
        return str(value)
    own = f" ({_params(value['params'])})" if value["params"] else ""
    return f"{value['mechanism']}{own}"


_BY_KEY: Mapping[str, Callable[[Any], str]] = {
    "params": _params,
    "guarantee": _guarantee,
    "selection": _selection,
    "certificate": _certificate,
    "gap": _gap,
    "gap_at_asr": _gap,
    "epsilon_exact": repr,
}
_BY_TYPE: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, lambda yes: "yes" if yes else "no"),
    (int, number),
    (float, number),
    (list, _list),
    (Mapping, _mapping),
)


def _decimals(stderr: Sequence[float] | FloatArray) -> int:
    """Decimals of percentages such that the least standard error shows two digits, within reason."""
    least = min((s for s in stderr if 0 < s < math.inf), default=0.01)
    return max(1, min(8, 1 - math.floor(math.log10(100 * least))))


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes: signs of East Asian scripts take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _plain(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    """Padded with spaces to the widest cell of each column."""
    table = [[column.title for column in columns], *rows]
    widths = [max(width_of(row[i]) for row in table) for i in range(len(columns))]
    lines = []
    for row in table:
        cells = []
        for cell, width, column in zip(row, widths, columns, strict=True):
            space = " " * (width - width_of(cell))
            cells.append(space + cell if column.right else cell + space)
        lines.append("  ".join(cells))
    return lines


_READABLE = 18
"""Columns that a text needs so that it can be read where it is broken."""


def _least(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """The width that the columns need side by side."""
    total = 2 * (len(columns) - 1)
    for i, column in enumerate(columns):
        widest = max([width_of(column.title), *(width_of(row[i]) for row in rows)])
        total += min(widest, max(_READABLE, width_of(column.title))) if column.wrap else widest
    return total


def _folded(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, styled: bool) -> list[str]:
    """Every row as a paragraph: its first cell (with the value that it names), then the others with their headings."""
    valued = columns[1].title in ("", "value")
    bold = ("\x1b[1m", "\x1b[0m") if styled else ("", "")
    lines = []
    for row in rows:
        name, shown = (f"{row[0]}: {row[1]}", 2) if valued else (row[0], 1)
        lines += [f"{bold[0]}{line}{bold[1]}" for line in _broken(name, width)]
        for column, cell in zip(columns[shown:], row[shown:], strict=True):
            lines += [f"  {line}" for line in _broken(f"{column.title}: {cell}", width - 2, hang="  ")] if cell else []
    return lines


def _broken(text: str, width: int, hang: str = "") -> list[str]:
    """A text in lines of at most so many columns, those after the first behind `hang`; long words are broken, too."""
    lines, line = [], ""
    for word in text.split(" "):
        rest = word
        while True:
            start = f"{line} " if line.strip() else line
            if width_of(start + rest) <= width:
                line = start + rest
                break
            if line.strip():
                lines.append(line)
                line = hang
                continue
            fits = next(i for i in range(len(rest), 0, -1) if i == 1 or width_of(line + rest[:i]) <= width)
            lines.append(line + rest[:fits])
            line, rest = hang, rest[fits:]
    return [*lines, line]


def _rich(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int, styled: bool) -> list[str]:
    """Laid out within a width; cells are taken as they are, never as mark-up."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(
        box=box.SIMPLE_HEAD if styled else None, show_edge=False, pad_edge=False, padding=(0, 2 - styled, 0, 0)
    )
    for column in columns:
        table.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=not column.wrap,
            overflow="fold",
            max_width=column.most if width < _AMPLE else None,
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=styled, legacy_windows=False, highlight=False)
    console.print(table)
    return text.getvalue().splitlines()
