"""The pipeline: values to reports, reports to a tally, a tally to estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypeAlias, cast

from deniable.cli.options import Choice, argument, changed, option, split
from deniable.cli.output import Output
from deniable.collect.parquet import LAYOUTS
from deniable.collect.tally import Tally
from deniable.core.intervals import critical
from deniable.core.support import check_target
from deniable.core.types import Target
from deniable.errors import ParameterError, require
from deniable.estimate.methods import IN_WORDS, METHODS, UNBIASED
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.registry import from_design
from deniable.present.estimates import ORDERS
from deniable.present.tables import Column, Table, number, parameters, quantiles_table, shares_table
from deniable.run.counting import Counted, skipped_text
from deniable.run.engines import ENGINES, check_engine, count_with, estimate_with, privatize_on_spark
from deniable.run.files import named
from deniable.run.layout import COMPRESSIONS, FORMATS, STANDARD, Layout
from deniable.run.local import is_table, privatize_file, spent_before, write_tally
from deniable.run.questions import question_of
from deniable.run.results import Shown, check_chart, check_order, check_table
from deniable.run.store import read_design

__all__ = [
    "ColumnName",
    "Columns",
    "Compression",
    "Delimiter",
    "Duplicates",
    "Force",
    "Format",
    "Level",
    "NoHeader",
    "TextEncoding",
    "estimate",
    "privatize",
    "tally",
]

ColumnName: TypeAlias = Annotated[
    str | None, option("--column", "NAME", "The column to read, where there are several.")
]
Format: TypeAlias = Annotated[str, option("--format", "|".join(FORMATS), "How the values lie in the file.")]
Delimiter: TypeAlias = Annotated[
    str | None, option("--delimiter", "D", "Between the cells of CSV: one sign, or tab, semicolon; comma if left out.")
]
TextEncoding: TypeAlias = Annotated[
    str | None, option("--text-encoding", "NAME", "Of text, e.g. cp1252; UTF-8 if left out.")
]
Compression: TypeAlias = Annotated[
    str, option("--compression", "|".join(COMPRESSIONS), "Of text; by the ending .gz, .bz2 or .xz if left out.")
]
NoHeader: TypeAlias = Annotated[
    bool, option("--no-header", None, "CSV starts with values; columns are named 1, 2, ...")
]
Columns: TypeAlias = Annotated[str, option("--columns", "USER,KEY,VALUE", "The columns of key-value data.")]
Duplicates: TypeAlias = Annotated[
    str, option("--duplicates", "refuse|first", "What happens to a second value of one user for one key.")
]
Engine: TypeAlias = Annotated[str, option("--engine", "|".join(ENGINES), "Where it is done; Spark needs Java 17.")]
Master: TypeAlias = Annotated[
    str | None, option("--master", "URL", "Of Spark, e.g. local[4] or spark://HOST:7077; this machine if left out.")
]
Strict: TypeAlias = Annotated[
    bool, option("--strict", None, "An error for the first row of a table that does not count, instead of a number.")
]
DesignFile: TypeAlias = Annotated[
    str | None, option("--design", "FILE", "The design, for tables of reports that do not carry it, such as CSV.")
]
Force: TypeAlias = Annotated[bool, option("--force", None, "Replace files that are there already.")]
Level: TypeAlias = Annotated[float, option("--level", "L", "Confidence level of the intervals.")]


def privatize(
    choice: Choice,
    people: Annotated[
        str,
        argument(
            "VALUES",
            "A .csv, .tsv, .parquet, .arrow or .txt file, also .gz; a folder; or - for standard input, one per line.",
        ),
    ],
    target: Annotated[
        str, option("--out", "REPORTS", "The report file to write, .parquet for a table; - for standard output.")
    ],
    out: Output,
    column: ColumnName = None,
    format: Format = FORMATS[0],
    delimiter: Delimiter = None,
    text_encoding: TextEncoding = None,
    compression: Compression = COMPRESSIONS[0],
    no_header: NoHeader = False,
    level_column: Annotated[
        str | None, option("--level-column", "NAME", "The column with the level each person chose (pldp, upldp).")
    ] = None,
    columns: Columns = "user,key,value",
    duplicates: Duplicates = "refuse",
    seed: Annotated[int | None, option("--seed", "S", "SIMULATE with a seed: repeatable, hence NOT private.")] = None,
    table: Annotated[
        str, option("--table", "|".join(LAYOUTS), "How reports lie in a .parquet file: packed, or one per row.")
    ] = LAYOUTS[0],
    engine: Engine = ENGINES[0],
    master: Master = None,
    force: Force = False,
) -> None:
    """Turn values into deniable reports, one for each value.

    Values are labels, whole numbers from 0 to K-1, or numbers of an interval. The report file carries its design.
    Key-value mechanisms take one row per pair, with the columns user, key and value, and make one report per user; a
    row with neither key nor value is a user without any pair. Where people choose a level, --level-column names the
    column that has it. A second set of reports of the same people costs them a second epsilon.
    Of a folder, or of a pattern in quotes, all files are read. With --engine spark the output is a folder.

    Example: deniable privatize ss --epsilon 1 --labels no,yes answers.csv --out reports.bin
    """
    from deniable.randomness import simulation

    layout = Layout(format, delimiter, text_encoding, compression, not no_header)
    check_engine(engine, master)
    plain = table == LAYOUTS[0] or (engine == ENGINES[0] and is_table(target))
    require(plain, "table", table, "left out, unless --out ends in .parquet", "Spark writes one report per row.")
    out.claim(target, sources=[people, *choice.files], force=force, plain=engine == ENGINES[0])
    twice = people == STANDARD and choice.domain_given.get("labels_file") == STANDARD
    require(not twice, "labels-file", "-", "a file while the values come from standard input")
    m = choice.make()
    how = changed(privatize, column=column, level_column=level_column, columns=columns, duplicates=duplicates)
    how |= {"columns": split(columns, "columns")} if "columns" in how else {}
    if seed is not None:
        out.note(
            f"SIMULATED: these reports come from seed {seed}; whoever knows it can undo them. Not for real people."
        )
    if seed is None and (told := spent_before(target)):
        out.note(told)
    out.note(f"privatising {named(people)} with {_title(m)}")
    with out.progress("privatising") as progress:
        if engine == "spark":
            n = privatize_on_spark(m, people, target, master=master, layout=layout, seed=seed, force=force, **how)
        else:
            rng = None if seed is None else simulation(seed)
            n = privatize_file(m, people, target, format=layout, layout=table, rng=rng, progress=progress, **how)
    size = f"{m.bulk.row_bytes} byte{'s' * (m.bulk.row_bytes != 1)}"
    out.note(f"wrote {n:,} report{'s' * (n != 1)} ({size} each) to {_target(target)}")
    facts = {"mechanism": m.name, "epsilon": m.epsilon, "k": m.k, "n": n, "simulated": seed is not None}
    if out.as_json:
        out.show(facts | {"bytes": m.bulk.row_bytes, "out": target, "design": m.design})


def tally(
    files: Annotated[
        list[str], argument("REPORTS...", "Report, tally or Parquet files, folders, patterns; - for standard input.")
    ],
    out: Output,
    target: Annotated[str | None, option("--out", "TALLY", "The tally file to write; - for standard output.")] = None,
    design: DesignFile = None,
    strict: Strict = False,
    engine: Engine = ENGINES[0],
    master: Master = None,
    force: Force = False,
) -> None:
    """Count reports, and add up tallies of one design.

    Without --out the counts are shown. A report file that comes twice, also within a tally, is refused. Rows of tables
    that do not count (missing, damaged, of another design) are counted by reason, and refused with --strict.

    Example: deniable tally monday.bin tuesday.bin --out week.bin
    """
    out.claim(target, sources=files, force=force)
    check_engine(engine, master)
    known = None if design is None else read_design(design)
    out.note(f"tallying {', '.join(map(named, files))}{' on Spark' * (engine == 'spark')}")
    with out.progress("tallying") as progress:
        counted = count_with(engine, files, master=master, design=known, strict=strict, progress=progress)
    total = counted.tally
    m = from_design(total.design)
    _note_skipped(out, counted)
    if target is not None:
        write_tally(total, target)
        out.note(f"wrote the tally of {total.n:,} reports to {_target(target)}")
    facts = {"mechanism": m.name, "epsilon": m.epsilon, "k": m.k, "n": total.n, "simulated": total.simulated}
    cells = {name: cell.tolist() for name, cell in total.cells.items()}
    rest = {"labels": list(m.bulk.reader.labels(m.domain)), "strata": list(total.strata), "cells": cells, "out": target}
    rest |= {"skipped": dict(counted.skipped), "places": dict(counted.places)}
    if out.as_json or target is None:
        title = f"{_title(m)}: {total.n:,} reports{', SIMULATED' * total.simulated}"
        parts = total.parts if "parts" in total.design else (total,)
        tables = [table for part in parts for table in _counts(part, m if part is total else from_design(part.design))]
        out.show(facts | rest, title, *tables)


def _note_skipped(out: Output, counted: Counted) -> None:
    """Say on standard error what was not counted."""
    if told := skipped_text(counted):
        out.note(f"{told}. {counted.tally.n:,} were counted.")


def _counts(total: Tally, m: Mechanism) -> list[Table]:
    """What was counted: tables with a row per label and a column per cell (and per stratum where there are several).

    Cells of the sensitive and of the harmless labels only have a table each; a cell that counts reports by what they
    say, which is no label, has rows with numbers.
    """
    cells = m.bulk.cells
    tables: dict[tuple[str, tuple[str, ...]], list[tuple[Column, list[int]]]] = {}
    for name, cell in total.cells.items():
        if name == "n":
            continue
        rows = tables.setdefault((cells[name].about.what, tuple(m.entry_names(name))), [])
        for stratum, row in zip(total.strata, cell.tolist(), strict=True):
            rows.append((Column(f"{name}, {stratum}" if len(total.strata) > 1 else name, right=True), row))
    return [
        Table(
            (Column(first, wrap=True), *(column for column, _ in rows)),
            [[name, *map(number, row)] for name, *row in zip(names, *(row for _, row in rows), strict=True)],
        )
        for (first, names), rows in tables.items()
    ]


def estimate(
    files: Annotated[
        list[str],
        argument("FILES...", "Tally, report or Parquet files of one design, folders, patterns; - for standard input."),
    ],
    out: Output,
    level: Level = 0.95,
    target: Annotated[
        str, option("--target", "reporters|population", "Whose shares: of those who reported, or of those behind them.")
    ] = "reporters",
    simultaneous: Annotated[
        bool, option("--simultaneous", None, "All intervals hold at once with that level.")
    ] = False,
    project: Annotated[
        bool, option("--project", None, "Move to the nearest shares >= 0 that sum to 1 (biased).")
    ] = False,
    method: Annotated[
        str,
        option(
            "--method",
            "unbiased|em|...",
            IN_WORDS,
            lambda: METHODS,
        ),
    ] = UNBIASED,
    shrink: Annotated[
        int | None,
        option(
            "--shrink", "T", "Key-value: draw means towards that of the T most frequent keys, rare ones more (biased)."
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        option("--range", "A,B", "Answers in an order: the share of those from A to B, both included; repeatable."),
    ] = None,
    quantile: Annotated[
        list[str] | None,
        option("--quantile", "Q", "Answers in an order: also the answer that a share Q is at or below; repeatable."),
    ] = None,
    cdf: Annotated[
        bool, option("--cdf", None, "Answers in an order: cumulative shares, with a band that holds everywhere.")
    ] = False,
    top: Annotated[
        int | None, option("--top", "T", "Only the T largest estimates, largest first; charts show all.")
    ] = None,
    chart: Annotated[str | None, option("--chart", "FILE", "Also draw a .html, .png, .svg or .json chart.")] = None,
    chart_means: Annotated[
        str | None, option("--chart-means", "FILE", "Key-value: also draw the means of the values.")
    ] = None,
    chart_order: Annotated[
        str | None,
        option(
            "--chart-order",
            "|".join(ORDERS),
            "Answers in the chart: value (largest first, as usual for names) or given.",
        ),
    ] = None,
    save: Annotated[str | None, option("--out", "FILE", "Also write a .csv or .json file; - is CSV.")] = None,
    design: DesignFile = None,
    strict: Strict = False,
    engine: Engine = ENGINES[0],
    master: Master = None,
    force: Force = False,
) -> None:
    """Estimate the share of every value, or the mean of numbers, with error bars.

    From tallies, or straight from reports. Fits need the reports, unless their tally tells all that they do.

    Example: deniable estimate week.bin --top 10 --chart shares.html
    """
    for name, file in (("out", save), ("chart", chart), ("chart-means", chart_means)):
        out.claim(file, name, sources=files, force=force)
        if file is not None and name == "out":
            check_table(file)
        elif file is not None:
            check_chart(file, name)
    if chart_order is not None:
        check_order(chart_order, chart)
    check_target(target)
    critical(level)
    require(top is None or top >= 1, "top", top, "an integer >= 1")
    require(not (cdf and ranges), "cdf", cdf, "left out where ranges are asked for", "Ask twice: tallies stay.")
    require(top is None or not cdf, "top", top, "left out for cumulative shares, which have an order")
    check_engine(engine, master)
    known = None if design is None else read_design(design)
    out.note(f"estimating from {', '.join(map(named, files))}{' on Spark' * (engine == 'spark')}")
    with out.progress("tallying") as progress:
        found, counted = estimate_with(
            engine, files, method, master=master, design=known, strict=strict, progress=progress
        )
    _note_skipped(out, counted)
    m = from_design(found.design)
    found = found.project() if project else found
    read = {"shrink": shrink, "range": ranges or None, "cdf": cdf or None}
    shares = question_of(m.name).show(found, level, cast(Target, target), simultaneous or cdf, **read)
    known_quantiles = (
        found.quantiles(*map(_share, quantile), level=level, target=cast(Target, target)) if quantile else None
    )
    shares = replace(shares, facts=shares.facts | {"skipped": dict(counted.skipped)})
    largest = shares if top is None else shares.top(top)
    if chart is not None:
        shares.draw(chart, _heading(shares), chart_order)
        out.note(f"drew {chart}")
    if chart_means is not None:
        shares.draw_means(chart_means, "Estimated means")
        out.note(f"drew {chart_means}")
    shares = largest
    if save is not None:
        shares.save(save)
        out.note(f"wrote {_target(save)}")
    title = f"{_title(m)}{', SIMULATED' * found.simulated}: {'; '.join(shares.facts['steps'])}."
    notes = [f"Intervals: {note}." for note in (shares.facts.get("note"), shares.facts.get("note_mean")) if note]
    tables = [shares_table(shares.columns, shares.labels, level=level, numbers=shares.numbers)]
    tables += [] if known_quantiles is None else [quantiles_table(known_quantiles.to_columns(), level=level)]
    more = {} if known_quantiles is None else {"quantiles": known_quantiles.to_columns()}
    out.show(shares.document() | more, " ".join([title, *notes]), *tables)


def _share(text: str) -> float:
    """A share that a quantile is of."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"quantile must be a number between 0 and 1, got {text!r}.", "The median is 0.5."
        ) from None


def _heading(shares: Shown) -> str:
    """What a chart is of."""
    return f"Estimated {'mean' if shares.numbers else 'cumulative shares' if shares.added_up else 'shares'}"


def _title(m: Mechanism) -> str:
    return f"{m.name} ({', '.join(filter(None, [f'epsilon = {m.epsilon:g}, k = {m.k:,}', parameters(m.params)]))})"


def _target(name: str) -> str:
    return "standard output" if name == STANDARD else name
