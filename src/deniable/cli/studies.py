"""Studies: simulation against the truth, the exact audit, and the reproduction of papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from deniable.audit.exact import audit as check
from deniable.cli.imports import audit_object, audit_recipe
from deniable.cli.options import Choice, argument, changed, option, read_domain, split
from deniable.cli.output import Output
from deniable.cli.pipeline import (
    ColumnName,
    Columns,
    Compression,
    Delimiter,
    Duplicates,
    Force,
    Format,
    Level,
    NoHeader,
    TextEncoding,
)
from deniable.cli.report import audit_table, fakes_table
from deniable.datasets.synthetic import KINDS
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError, require
from deniable.mechanisms.registry import OPTIONS
from deniable.present.tables import Column, Table
from deniable.run.files import named
from deniable.run.given.designs import is_file, read_designs
from deniable.run.layout import COMPRESSIONS, FORMATS, Layout
from deniable.run.questions import question_of
from deniable.run.results import check_chart, check_table, write_rows
from deniable_client.checking import verify_place

__all__ = ["audit", "reproduce", "simulate"]

_MOST = 700
"""Beyond it e^epsilon is not a float."""


def simulate(
    choice: Choice,
    data: Annotated[
        str,
        option(
            "--data",
            "NAME",
            "adult-age, adult-education, adult-country, bank-job; uniform, zipf[:s], normal[:s], dirichlet[:a]; "
            "or a file as `privatize` takes it, of values or of key-value data.",
            (*NAMES, *KINDS),
        ),
    ],
    out: Output,
    n: Annotated[int | None, option("--n", "N", "People; all of a table, 10,000 if made up.")] = None,
    runs: Annotated[int, option("--runs", "R", "How often the collection is repeated.")] = 20,
    seed: Annotated[int, option("--seed", "S", "Seed of the simulation.")] = 0,
    level: Level = 0.95,
    project: Annotated[bool, option("--project", None, "Show projected estimates (>= 0, sum 1; biased).")] = False,
    chart: Annotated[str | None, option("--chart", "FILE", "Draw the first run: .html, .png, .svg or .json.")] = None,
    save: Annotated[str | None, option("--out", "CSV", "Write all runs as CSV; - for standard output.")] = None,
    column: ColumnName = None,
    format: Format = FORMATS[0],
    delimiter: Delimiter = None,
    text_encoding: TextEncoding = None,
    compression: Compression = COMPRESSIONS[0],
    no_header: NoHeader = False,
    columns: Columns = "user,key,value",
    duplicates: Duplicates = "refuse",
    force: Force = False,
) -> None:
    """Privatise a known population and compare with the truth.

    The measured error is set against the predicted one. A file has one value per person: numbers below --k, --labels
    (of a data set, too), or without them the labels that occur in it. For key-value mechanisms and protocols the data
    are a file with the columns user, key and value, or made up: the keys as a population says, values around a mean for
    each key. For means of numbers the population is one over the points of --interval, or a file or table of numbers.
    Mechanisms for near answers are judged by how far reports are from the values.

    Example: deniable simulate ss --epsilon 1 --data adult-education
    """
    for name, file in (("out", save), ("chart", chart)):
        out.claim(file, name, sources=[data, *choice.files], force=force)
    if save is not None:
        check_table(save, [".csv"])
    if chart is not None:
        check_chart(chart)
    hint = "Answers to several questions: `deniable survey`, or in Python m.privatize(cells, rng=dn.simulation(0))."
    several = choice.options.get("sizes")
    require(several is None, "sizes", several, "left out: simulations are of one question", hint)
    asked = question_of(choice.name)
    own = changed(
        simulate,
        level=level,
        project=project,
        chart=chart,
        column=column,
        columns=columns,
        duplicates=duplicates,
    )
    asked.check_study(own)
    domain = read_domain(choice.domain_given) if choice.domain_given and not choice.brings_domain else None
    shared = {"domain": domain, "placed": choice.brings_domain, "top": choice.options.get("top")}
    shared |= {"format": Layout(format, delimiter, text_encoding, compression, not no_header)}
    own |= {name: value for name, value in shared.items() if name in asked.settings}
    own |= {"columns": split(columns, "columns")} if "columns" in own else {}
    own.pop("chart", None)
    maker = partial(choice.without(asked.settings).make_any, n=n)
    announcement = f"simulating {runs:,} collection{'s' * (runs != 1)} of {named(data)} with {choice.name}, seed {seed}"
    with out.progress("simulating", announcement) as progress:
        study = asked.study(data, maker, n=n, runs=runs, seed=seed, progress=progress, **own)
    document = study.document()
    if chart is not None:
        which = "a simulated collection" if runs == 1 else f"first of {runs:,} simulated collections"
        study.shown[0].draw(chart, f"{document['data']}: {which}")
        out.note(f"drew {chart}")
    if save is not None:
        write_rows(study.rows(), save)
        out.note(f"wrote {save}")
    out.show(document, *study.parts(asked.table(document)))


def audit(
    choice: Choice,
    out: Output,
    promise: Annotated[
        str | None,
        option("--promise", "P", f"Check this epsilon instead of the mechanism's own. {OPTIONS['promise'].help}"),
    ] = None,
    fakes: Annotated[
        str | None,
        option(
            "--fakes", "F", "Chances of fake answers (rsrfd): commas between answers, semicolons between questions."
        ),
    ] = None,
) -> int:
    """Prove that no report leaks more than epsilon, or refute it.

    Exactly, in whole numbers, not by sampling. The exit code is 1 if the promise is broken.

    NAME may also be a file with a design or a task; package.module:object, an object with `epsilon` and `channel()` or
    a function that gives one; or rsfd, rsfd-oue-z, rsfd-oue-r or rsrfd, recipes that hide a drawn answer among fakes:
    they leak, and are shown here only.

    Example: deniable audit ss --epsilon 1 --k 16
    """
    if is_file(choice.name):
        return _audit_file(choice, out, promise)
    other = ":" in choice.name
    if promise is not None and not other and "promise" in choice.entry.options:
        choice, promise = replace(choice, options={**choice.options, "promise": promise}), None
    epsilon = None if promise is None else _number(promise)
    recipe = audit_recipe(choice, fakes, epsilon)
    if recipe is not None:
        found, made = recipe
        out.show(found.document() | made.document(), found.verdict, audit_table(found), fakes_table(made))
        return 0 if found.holds else 1
    found = audit_object(choice, epsilon) if other else check(choice.make_any(), epsilon=epsilon)
    out.show(found.document(), found.verdict, *([] if found.proof.method == "reports" else [audit_table(found)]))
    return 0 if found.holds else 1


def _audit_file(choice: Choice, out: Output, promise: str | None) -> int:
    """Audit the design of a file, or those of a task's questions, one after the other."""
    given = {"epsilon": choice.epsilon, **choice.domain_given, **choice.options}
    for name, value in given.items():
        hint = "The file brings its own; --promise checks another epsilon."
        require(value is None, name, value, f"left out for {choice.name}", hint)
    epsilon = None if promise is None else _number(promise)
    if not choice.name.lower().endswith(".csv") and not (seen := verify_place(choice.name)).holds:
        out.show({**seen.told(), "file": choice.name}, *seen.lines)
        return 1
    found = [(name, check(m, epsilon=epsilon)) for name, m in read_designs(choice.name)]
    documents = [{"question": name, **each.document()} for name, each in found]
    document = found[0][1].document() if len(found) == 1 else {"audits": documents}
    holds = all(each.holds for _, each in found)
    shown: list[Table | str] = []
    for name, each in found:
        shown += [f"{name}: {each.verdict}" if len(found) > 1 else each.verdict, audit_table(each)]
    out.show({**document, "file": choice.name, "holds": holds}, *shown)
    return 0 if holds else 1


def _number(promise: str) -> float:
    """The epsilon that an audit is asked to check."""
    found: float | str = promise
    with suppress(ValueError):
        found = float(promise)
    hint = "It is the epsilon to check; files of budgets are for optimal."
    fits = isinstance(found, float) and 0 < found <= _MOST
    require(fits, "promise", found, f"a number > 0 and at most {_MOST}", hint)
    return float(found)


def reproduce(
    paper: Annotated[
        str, argument("PAPER", "Short name of a paper, or all.", ("adaptive", "uldp", "kskv", "pldp", "brr", "all"))
    ],
    out: Output,
    figure: Annotated[str | None, option("--figure", "F", "Only this figure, and the claims read from it.")] = None,
    quick: Annotated[bool, option("--quick", None, "Smaller simulations: minutes become seconds.")] = False,
    target: Annotated[str, option("--out", "DIR", "Folder to write to.")] = "results",
    data_dir: Annotated[str | None, option("--data-dir", "D", "Folder with larger data sets.")] = None,
    seed: Annotated[int, option("--seed", "S", "Seed of the simulations: another one, other draws.")] = 1,
    against: Annotated[
        str | None, option("--against", "DIR", "Folder of an earlier run: its verdicts are set beside these.")
    ] = None,
    force: Force = False,
) -> None:
    """Compute a paper's figures and check its claims.

    report.html shows claims, verdicts, reasons and figures on one page; CSV, charts and claims.json stand beside it.
    With --against, verdicts.csv has those of two runs, for example of two seeds, beside each other. A run that was
    ended goes on where it stood if it is asked for again; with --force it begins again.

    Example: deniable reproduce adaptive --quick
    """
    from deniable.papers.runner import PAPERS
    from deniable.papers.runner import reproduce as run
    from deniable.papers.unfinished import journal_of
    from deniable.present.tables import claims_table

    if paper not in (*PAPERS, "all"):
        raise ParameterError(f"PAPER must be one of {', '.join(PAPERS)} or all, got {paper!r}.")
    other = None if against is None else Path(against)
    apart = other is None or other.resolve() != Path(target).resolve()
    require(apart, "against", against, "another folder than --out", "Write the second run to a folder of its own.")
    several = tuple(PAPERS) if paper == "all" else (paper,)
    going_on = figure is None and not force and any(journal_of(Path(target) / name).is_file() for name in several)
    for name in several:
        out.claim(str(Path(target) / name / "claims.json"), force=force or going_on, plain=False)
    folder = Path(data_dir) if data_dir is not None else None
    asked: dict[str, Any] = {"figure": figure, "quick": quick, "seed": seed, "against": other, "fresh": force}
    summary = run(paper, out=Path(target), data_dir=folder, progress=out.note, **asked)
    document, rows = summary.document(), summary.table()
    for text in document.get("notes", []):
        out.note(text)
    verdicts = Counter(row["verdict"] for row in rows)
    found = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    pages = ", ".join(map(str, summary.pages))
    for name in PAPERS if paper == "all" else (paper,):
        own = (sum(one["id"].startswith(f"{name}-") for one in summary.claims), len(PAPERS[name].left_out))
        out.note(
            f"{name}: {own[0]} claims tested; {own[1]} statements of the paper have none, with reasons in the report"
        )
    out.note(f"wrote {target}")
    shown: list[Table | str] = [f"{len(rows)} claims: {found}. Details: {pages}"]
    shown += [] if not summary.against else _beside(summary.against, str(against))
    out.show(document, claims_table(rows), *shown)


def _beside(rows: Sequence[Mapping[str, str]], other: str) -> list[Table | str]:
    """How many verdicts are those of the other run, and the rest of them."""
    rest = [row for row in rows if row["together"] != "the same"]
    told = f"{len(rows) - len(rest)} of {len(rows)} verdicts are those of {other}."
    if not rest:
        return [told]
    head = (Column("claim"), Column("here"), Column("there"), Column("together", wrap=True))
    return [told, Table(head, [[row[key] for key in ("id", "verdict", "other", "together")] for row in rest])]
