"""Surveys: several questions under one budget, from the plan to the estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Annotated, Any, TypeAlias, cast

from deniable.cli.options import Given, argument, option, split
from deniable.cli.output import Output
from deniable.cli.pipeline import Delimiter, Force, Format, Level, NoHeader, TextEncoding
from deniable.collect.parquet import LAYOUTS
from deniable.core.intervals import critical
from deniable.core.support import check_target
from deniable.core.types import Target
from deniable.errors import InWords, ParameterError, is_whole, require
from deniable.plan.survey import AUTO
from deniable.present.tables import Column, Table, number, percent, right, shares_table
from deniable.run.files import named
from deniable.run.layout import FORMATS, Layout
from deniable.run.local import count_files, spent_before, write_tally
from deniable.run.results import Shown, check_chart, check_table, write_rows
from deniable.run.survey import (
    described,
    planned,
    privatize_survey,
    read_people,
    read_questions,
    read_survey,
    shown,
    write_survey,
)

__all__ = ["ASKED", "COMMANDS"]

Questions: TypeAlias = Annotated[
    list[str] | None,
    option(
        "--question",
        "NAME=WHAT",
        "A question: smokes=no,yes (its answers), age=8 (how many), income=0..5000 (numbers), "
        "'sports=2 of football,chess' (at most so many are ticked, or any). May be repeated.",
    ),
]
QuestionsFile: TypeAlias = Annotated[
    str | None, argument("FILE", "Questions as JSON: name and answers, interval, keys, several, sensitive, mechanism.")
]
SurveyFile: TypeAlias = Annotated[str, argument("SURVEY", "The file that `deniable survey design` wrote.")]
People: TypeAlias = Annotated[int, option("--n", "N", "Number of people; with --stderr it is found.")]
Seed: TypeAlias = Annotated[int | None, option("--seed", "S", "SIMULATE with a seed: repeatable, hence NOT private.")]

ASKED: Given = {
    "epsilon": (float, "E", "The privacy promise for all answers of a person together."),
    "weights": (str, "A=W,...", "How much the error of each question counts; 1 unless said, 0: it is not asked."),
    "stderr": (str, "S|A=S,...", "Wanted standard error, of all questions or of each: 0.01 is a percentage point."),
    "tables": (str, "A:B,...", "Pairs of questions whose answers are wanted together, such as smokes:age."),
    "scheme": (str, "auto|one|box|pairs|effects|split", f"How to ask; {AUTO} takes whichever has the smaller errors."),
}
"""What a plan may be told beside its questions."""


def plan(out: Output, given: Given, file: QuestionsFile = None, question: Questions = None, n: People = 10_000) -> None:
    """Find who is asked which question, by which mechanism, and how well each will be known.

    Everybody answers one question, or some that are asked together, with the whole epsilon. With --stderr the number of
    people that this takes is found.

    Example: deniable survey plan --question smokes=no,yes --question age=8 --epsilon 1 --n 20000
    """
    made, compared = _planned(file, question, given)
    people = made.needed or n
    document = described(made, people) | {"compared": compared}
    out.show(document, _headline(made, document, people), _questions_table(made, document), *_notes(made, document))


def design(
    out: Output,
    given: Given,
    target: Annotated[str, option("--out", "SURVEY", "The survey file to write; - for standard output.")],
    file: QuestionsFile = None,
    question: Questions = None,
    force: Force = False,
) -> None:
    """Write the survey of some questions to a file: its design for devices, and the names of its questions.

    Example: deniable survey design questions.json --epsilon 1 --out survey.json
    """
    out.claim(target, sources=[file], force=force)
    made, _ = _planned(file, question, given)
    write_survey(made, target)
    out.note(f"wrote the survey of {_questions(made.questions)} to {target}")
    if out.as_json:
        out.show(described(made, 1) | {"out": target})


def assign(
    survey: SurveyFile,
    out: Output,
    n: Annotated[int, option("--n", "N", "Number of people.")],
    target: Annotated[str, option("--out", "FILE", "The .csv file to write: a part for each person; - is CSV.")],
    seed: Seed = None,
    force: Force = False,
) -> None:
    """Deal the parts of a survey out to people beforehand, so that their numbers are exact and not left to chance.

    Nothing but the number of people is looked at. Without it, every device draws its part by the shares.

    Example: deniable survey assign survey.json --n 20000 --out parts.csv
    """
    from deniable.randomness import simulation

    out.claim(target, sources=[survey], force=force)
    check_table(target, (".csv",))
    made = read_survey(survey)
    numbers = made.assign(n, None if seed is None else simulation(seed))
    write_rows([{"part": int(i)} for i in numbers], target)
    counts = {part: int((numbers == i).sum()) for i, part in enumerate(made.parts)}
    out.note(f"wrote the parts of {n:,} people to {target}")
    table = Table((Column("part"), *right("people")), [[part, number(count)] for part, count in counts.items()])
    out.show({"n": n, "parts": counts, "out": target}, table)


def privatize(
    survey: SurveyFile,
    values: Annotated[str, argument("ANSWERS", "A .csv or .parquet file, with a column for each question.")],
    target: Annotated[str, option("--out", "REPORTS", "The report file to write, .parquet for a table.")],
    out: Output,
    columns: Annotated[
        str | None, option("--columns", "A,B,...", "The columns of the questions, in their order, if named otherwise.")
    ] = None,
    part_column: Annotated[
        str | None, option("--part-column", "NAME", "The column with the part that each person was dealt beforehand.")
    ] = None,
    format: Format = FORMATS[0],
    delimiter: Delimiter = None,
    text_encoding: TextEncoding = None,
    no_header: NoHeader = False,
    seed: Seed = None,
    force: Force = False,
) -> None:
    """Turn the answers of people into one report each, about one question or some that are asked together.

    Pairs of keys and values stand in their cell as a list in JSON, what is ticked with semicolons between.
    A second report of the same people costs them a second epsilon.

    Example: deniable survey privatize survey.json answers.csv --out reports.bin
    """
    from deniable.randomness import simulation

    out.claim(target, sources=[survey, values], force=force)
    made = read_survey(survey)
    layout = Layout(format, delimiter, text_encoding, header=not no_header)
    if seed is not None:
        out.note(f"SIMULATED: these reports come from seed {seed}; whoever knows it can undo them.")
    elif told := spent_before(target):
        out.note(told)
    out.note(f"privatising {named(values)} with a survey of {_questions(made.questions)}")
    with out.progress("privatising") as progress:
        n = privatize_survey(
            made,
            values,
            target,
            columns=None if columns is None else split(columns, "columns"),
            part_column=part_column,
            format=layout,
            layout=LAYOUTS[0],
            rng=None if seed is None else simulation(seed),
            progress=progress,
        )
    out.note(f"wrote {n:,} report{'s' * (n != 1)} ({made.mechanism.bulk.row_bytes} bytes each) to {target}")
    if out.as_json:
        out.show({"n": n, "epsilon": made.record, "simulated": seed is not None, "out": target})


def tally(
    survey: SurveyFile,
    files: Annotated[list[str], argument("REPORTS...", "Report, tally or Parquet files, folders, patterns.")],
    out: Output,
    target: Annotated[str | None, option("--out", "TALLY", "The tally file to write; - for standard output.")] = None,
    force: Force = False,
) -> None:
    """Count the reports of a survey, part by part.

    Example: deniable survey tally survey.json monday.bin tuesday.bin --out week.bin
    """
    out.claim(target, sources=[survey, *files], force=force)
    made = read_survey(survey)
    out.note(f"tallying {', '.join(map(named, files))}")
    with out.progress("tallying") as progress:
        counted = count_files(files, design=made.design(), progress=progress)
    total = counted.tally
    if target is not None:
        write_tally(total, target)
        out.note(f"wrote the tally of {total.n:,} reports to {target}")
    each = {part: own.n for part, own in made.apart(total).items()}
    facts = {"n": total.n, "simulated": total.simulated, "parts": each, "skipped": dict(counted.skipped), "out": target}
    table = Table((Column("part"), *right("reports")), [[part, number(count)] for part, count in each.items()])
    out.show(facts, table)


def estimate(
    survey: SurveyFile,
    files: Annotated[list[str], argument("FILES...", "Tally, report or Parquet files of the survey.")],
    out: Output,
    level: Level = 0.95,
    target: Annotated[
        str,
        option("--target", "reporters|population", "Of those who answered a question, or of all people behind them."),
    ] = "population",
    simultaneous: Annotated[
        bool, option("--simultaneous", None, "All intervals of a question hold at once with that level.")
    ] = False,
    chart: Annotated[str | None, option("--chart", "FILE", "Also draw a .html, .png, .svg or .json chart.")] = None,
    save: Annotated[str | None, option("--out", "FILE", "Also write a .csv file of all estimates; - is CSV.")] = None,
    force: Force = False,
) -> None:
    """Estimate the answers to every question of a survey, with error bars.

    Example: deniable survey estimate survey.json week.bin --chart answers.html
    """
    for name, file in (("out", save), ("chart", chart)):
        out.claim(file, name, sources=[survey, *files], force=force)
    if save is not None:
        check_table(save, (".csv",))
    if chart is not None:
        check_chart(chart)
    check_target(target)
    critical(level)
    made = read_survey(survey)
    out.note(f"estimating from {', '.join(map(named, files))}")
    with out.progress("tallying") as progress:
        how: dict[str, Any] = {"level": level, "target": cast(Target, target), "simultaneous": simultaneous}
        found, facts = shown(made, files, **how, progress=progress)
    if chart is not None:
        _draw(found, facts, chart)
        out.note(f"drew {chart}")
    if save is not None:
        write_rows(_rows(found), save)
        out.note(f"wrote {save}")
    silent = [f"{name} was not asked: there is no number for it." for name in facts["not_asked"]]
    out.show(facts | {"questions": {name: part.document() for name, part in found.items()}}, *_tables(found), *silent)


def table(
    survey: SurveyFile,
    files: Annotated[list[str], argument("FILES...", "Tally, report or Parquet files of the survey.")],
    questions: Annotated[str, option("--of", "A,B", "The two questions, that of the rows first.")],
    out: Output,
    level: Level = 0.95,
    save: Annotated[str | None, option("--out", "FILE", "Also write a .csv file of all cells; - is CSV.")] = None,
    force: Force = False,
) -> None:
    """Estimate the table of two questions, and test whether they are independent.

    The survey must have been made for it (--tables): from reports about single questions no table follows.

    Example: deniable survey table survey.json week.bin --of smokes,age
    """
    out.claim(save, sources=[survey, *files], force=force)
    if save is not None:
        check_table(save, (".csv",))
    critical(level)
    two = split(questions, "of")
    require(len(two) == 2, "of", questions, "two names of questions, with a comma between")
    made = read_survey(survey)
    require(set(two) <= set(made.names), "of", questions, f"two of {', '.join(made.names)}")
    out.note(f"estimating from {', '.join(map(named, files))}")
    with out.progress("tallying") as progress:
        counted = count_files(files, design=made.design(), progress=progress)
    found = made.table(*two, counted.tally)
    columns = found.to_columns(level)
    if save is not None:
        write_rows([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], save)
        out.note(f"wrote {save}")
    tested, told = _tested(made, two, counted.tally)
    cells = [
        [row, *(f"{percent(x)} ± {100 * s:.2f}" for x, s in zip(values, errors, strict=True))]
        for row, values, errors in zip(found.rows, found.value, found.stderr, strict=True)
    ]
    title = f"{two[0]} (rows) by {two[1]}: {found.n:,} reports{', SIMULATED' * found.simulated}"
    facts = {"questions": two, "n": found.n, "simulated": found.simulated, "cells": columns, "independence": tested}
    out.show(facts, Table((Column(two[0]), *right(*found.columns)), cells, title=title), told)


def simulate(
    survey: SurveyFile,
    out: Output,
    n: Annotated[int, option("--n", "N", "Number of made-up people.")] = 10_000,
    data: Annotated[
        str | None, option("--data", "ANSWERS", "A .csv or .parquet file of answers, in place of made-up people.")
    ] = None,
    columns: Annotated[
        str | None, option("--columns", "A,B,...", "The columns of the questions, in their order, if named otherwise.")
    ] = None,
    runs: Annotated[int, option("--runs", "R", "How often the survey is tried.")] = 20,
    seed: Annotated[int, option("--seed", "S", "Where the random numbers begin: the same seed, the same result.")] = 1,
    save: Annotated[str | None, option("--out", "FILE", "Also write a .csv file; - is CSV.")] = None,
    force: Force = False,
) -> None:
    """Try a survey on people whose answers are known, and compare its estimates with the truth.

    People are made up, or read from a file. In every run parts are dealt and reports drawn anew; errors are those of
    estimates about all of these people.

    Example: deniable survey simulate survey.json --n 20000
    """
    from deniable.run.studies.survey import made_up
    from deniable.run.studies.survey import simulate as tried

    out.claim(save, sources=[survey, data], force=force)
    if save is not None:
        check_table(save, (".csv",))
    made = read_survey(survey)
    require(data is not None or columns is None, "columns", columns, "left out without --data")
    if data is None:
        require(is_whole(n, 2, 10_000_000), "n", n, "a whole number from 2 to 10,000,000")
        people = made_up(made, n, seed)
    else:
        people = read_people(made, data, columns=None if columns is None else split(columns, "columns"))
    count = len(next(iter(people.values())))
    out.note(f"SIMULATED: {count:,} {'made-up ' * (data is None)}people, {runs} runs from seed {seed}")
    with out.progress("simulating") as progress:
        found = tried(made, people, runs=runs, seed=seed, progress=lambda share: progress(round(1000 * share), 1000))
    rows = [
        [*label.split(": "), _rounded(told["rmse"]), _rounded(told["stderr"]), _rounded(told["covered"], share=True)]
        for label, told in found.items()
    ]
    if save is not None:
        write_rows([{"estimate": label} | told for label, told in found.items()], save)
        out.note(f"wrote {save}")
    heads = (Column("question"), Column("of"), *right("error", "std. error", "covered"))
    table = Table(heads, rows, title=f"{count:,} people, {runs} runs, SIMULATED")
    facts = {"n": count, "runs": runs, "seed": seed, "simulated": True, "estimates": found}
    told = (
        "error: root of the mean squared error against the truth; std. error: what estimates say of it; "
        "covered: intervals of 95 % that hold the truth."
    )
    out.show(facts, table, told)


def _rounded(x: float | None, *, share: bool = False) -> str:
    """A number, or that there is none."""
    return "too rare" if x is None else percent(x) if share else number(x, 3)


def _tested(made: Any, two: Sequence[str], tally: Any) -> tuple[dict[str, Any] | None, str]:
    """The test of independence as a document and in words; why there is none, where there is none."""
    try:
        found = made.independence(*two, tally)
    except ParameterError as error:
        return None, error.message
    told = f"chi-square {found.statistic:.3g} on {found.degrees} degrees of freedom, p = {found.pvalue:.3g}"
    return found.document(), f"Are they independent? {told}, with the covariance that these reports have."


COMMANDS: Mapping[str, Callable[..., None]] = {
    "plan": plan,
    "design": design,
    "assign": assign,
    "privatize": privatize,
    "tally": tally,
    "estimate": estimate,
    "table": table,
    "simulate": simulate,
}
"""By the second word of the command."""


# ---- what is given


def _planned(file: str | None, question: Sequence[str] | None, given: Mapping[str, Any]) -> Any:
    """The survey of the questions in a file, or of those on the command line."""
    one = (file is None) != (not question)
    told = InWords("both" if file is not None else "neither")
    require(one, "questions", told, "a file of them, or --question for each", "See `deniable survey plan --help`.")
    questions, settings = read_questions(file) if file is not None else (_listed(question or ()), {})
    own = dict(given)
    own |= {name: _numbers(name, own[name]) for name in ("weights", "stderr") if name in own}
    own |= {"tables": [tuple(pair.split(":")) for pair in split(own["tables"], "tables")]} if "tables" in own else {}
    return planned(questions, {**settings, **own})


def _listed(given: Sequence[str]) -> dict[str, Any]:
    """Questions as they are written on the command line."""
    found: dict[str, Any] = {}
    for text in given:
        name, sign, what = text.partition("=")
        hint = "For example --question smokes=no,yes --question age=8 --question income=0..5000."
        require(bool(name and sign and what), "question", text, "NAME=WHAT", hint)
        require(name not in found, "question", name, "given once")
        low, dots, high = what.partition("..")
        most, of, options = what.partition(" of ")
        if of and (most == "any" or most.isdecimal()):
            found[name] = {"several": int(options) if options.isdecimal() else split(options, "question")}
            found[name] |= {} if most == "any" else {"most": int(most)}
        elif dots:
            found[name] = {"interval": f"{low},{high}"}
        else:
            found[name] = int(what) if what.isdecimal() else {"labels": split(what, "question")}
    return found


def _numbers(name: str, text: str) -> Any:
    """One number for all questions, or NAME=NUMBER with commas between."""
    try:
        if "=" not in text:
            return float(text)
        parts = (part.rpartition("=") for part in split(text, name))
        return {question: float(value) for question, _, value in parts}
    except ValueError as error:
        raise ParameterError(f"{name} must be numbers, got {text!r}.", "For example smokes=2,age=1.") from error


# ---- what is shown


def _headline(made: Any, told: Mapping[str, Any], people: int) -> str:
    ways = {
        "one": "everybody answers one question",
        "box": "some questions are asked together",
        "pairs": "everybody answers two questions of a table at once",
        "effects": "everybody answers one question, or says what two of a table have in common",
        "split": "everybody answers every question with a part of the budget",
    }
    head = f"{_questions(made.questions)}, epsilon = {made.record:g} for all answers together: {ways[made.scheme]}."
    return f"{head} {people:,} people{' are enough' * (made.needed is not None)}."


def _questions_table(made: Any, told: Mapping[str, Any]) -> Table:
    """A row for each question: who asks, how many are asked, and how well it will be known."""
    parts = {name: [part for part in made.parts if name in made.about(part)] for name in made.names}
    rows = []
    for question in made.questions:
        name, error = question.name, told["stderr"][question.name]
        together = ", ".join(part for part in parts[name] if part != name)
        asked = told["mechanisms"][name] + f" ({together})" * bool(together)
        share, people = told["shares"][name], told["people"][name]
        shown_error = "" if error is None else _error(error, question.unit != 1.0)
        rows.append([name, asked, percent(share, 1), number(math.floor(people)), shown_error])
    columns = (
        Column("question", wrap=True),
        Column("asked by", wrap=True),
        *right("of all people", "people", "std. error"),
    )
    return Table(columns, rows)


def _error(error: float, plain: bool) -> str:
    """A standard error: of shares in percentage points, of numbers as it is."""
    return number(error, 3) if plain else f"{100 * error:.3g} pt"


def _notes(made: Any, told: Mapping[str, Any]) -> list[str]:
    """How good that is, and what other ways would come to."""
    notes = []
    if "gap" in told:
        near = f"{percent(told['gap'], 1)} above the least that any survey with this promise can have"
        what = "error of all cells" if made.tables else "error"
        notes.append(f"The summed squared {what} is at most {near}.")
    compared = told["compared"]
    if compared.get("split"):
        factor = compared["split"] / (told["mse_sum"] * told["n"])
        notes.append(
            f"Splitting the budget among all questions would have {number(factor, 3)} times the squared error."
        )
    start = compared.get("together_from", math.nan)
    if start is None:
        notes.append("Asking questions together does not pay at any epsilon up to 12.")
    elif not math.isnan(start):
        notes.append(f"Asking some of them together pays from epsilon {start:.2f} on.")
    return notes


def _tables(found: Mapping[str, Shown]) -> list[Table | str]:
    parts: list[Table | str] = []
    for name, part in found.items():
        level, n = part.facts["level"], part.facts["n"]
        table = shares_table(part.columns, part.labels, level=level, numbers=part.numbers)
        mark = ", SIMULATED" * part.facts["simulated"]
        parts.append(
            Table(table.columns, table.rows, title=f"{name} ({n:,} reports of {part.facts['mechanism']}{mark})")
        )
    return parts


def _rows(found: Mapping[str, Shown]) -> list[dict[str, Any]]:
    names = ("label", "value", "stderr", "low", "high", "simulated")
    return [{"question": name} | {n: row[n] for n in names} for name, part in found.items() for row in part.rows()]


def _draw(found: Mapping[str, Shown], facts: Mapping[str, Any], target: str) -> None:
    from deniable.present.charts import save, stacked

    charts = [part.chart(name) for name, part in found.items()]
    mark = " · simulated" * facts["simulated"]
    told = f"{_questions(found)} · ε = {facts['epsilon']:g} for all of them · n = {facts['n']:,}{mark}"
    save(stacked(charts, title="Estimated answers", subtitle=told), target)


def _questions(asked: Sized) -> str:
    return "1 question" if len(asked) == 1 else f"{len(asked)} questions"
