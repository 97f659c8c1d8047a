"""Surveys in files: questions that are described, surveys that are kept, answers in columns, estimates by question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.collect.limits import parse_header
from deniable.collect.parquet import LAYOUTS
from deniable.core.types import Target
from deniable.errors import FormatError, ParameterError, require, show
from deniable.estimate.result import Estimate
from deniable.mechanisms.registry import from_design
from deniable.plan.survey import Survey, pays_from, restored, survey
from deniable.randomness import Stream
from deniable.run.files import Chunk, Progress, encode, naming, open_input, open_output, read_columns
from deniable.run.inputs import CHUNK_VALUES, Batch
from deniable.run.layout import Layout
from deniable.run.local import count_files, write_reports
from deniable.run.results import Shown

__all__ = [
    "described",
    "planned",
    "privatize_survey",
    "read_people",
    "read_questions",
    "read_survey",
    "shown",
    "write_survey",
]

_VERSION = 1
_SETTINGS = ("epsilon", "weights", "stderr", "tables", "scheme")
"""What a file of questions may say beside these."""
_MOST = 1 << 25
"""Bytes of a file of questions, at most."""


# ---- questions and surveys as documents


def read_questions(source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The questions that a JSON file describes, by name, and what it says beside them.

    It has the questions themselves, or `questions` and perhaps epsilon, weights, stderr and scheme.
    """
    document = _read_json(source)
    if not isinstance(document.get("questions"), Mapping):
        return document, {}
    unknown = [name for name in document if name not in ("questions", *_SETTINGS)]
    need = f"questions, {', '.join(_SETTINGS)}"
    require(not unknown, "questions", unknown and unknown[0], f"a file with {need} and nothing else")
    return dict(document["questions"]), {name: document[name] for name in _SETTINGS if name in document}


def _read_json(source: str) -> dict[str, Any]:
    with open_input(source) as stream, naming(source):
        try:
            found: dict[str, Any] = parse_header(stream.read(_MOST))
        except FormatError as error:
            hint = 'For example {"smokes": 2, "income": {"interval": [0, 5000]}}.'
            raise FormatError("this is not a mapping in JSON.", hint) from error
        return found


def _document(made: Survey) -> dict[str, Any]:
    """A survey as plain data: its design, and the names and answers of the questions, which that does not have."""
    goal = {"stderr": list(made.goal.stderr)} if made.goal.stderr else {"weights": list(made.goal.weights)}
    return {
        "survey": _VERSION,
        "epsilon": made.epsilon,
        "scheme": made.scheme,
        **goal,
        "questions": {question.name: question.mechanism.design for question in made.questions},
        **({"tables": [list(pair) for pair in made.tables]} if made.tables else {}),
        "parts": [list(block.members) for block in made.blocks],
        "design": made.design(),
    }


def write_survey(made: Survey, target: str) -> None:
    """Write a survey file, whole or not at all; `read_survey` reads it."""
    document = _document(made)
    with open_output(target) as out:
        out.write((json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode())


def read_survey(source: str) -> Survey:
    """The survey that a file holds; every number in it is checked against its design."""
    document = _read_json(source)
    with naming(source):
        if document.get("survey") != _VERSION:
            hint = "`deniable survey design` writes one."
            raise FormatError(f"this is no survey of version {_VERSION}.", hint)
        return restored(document, from_design)


# ---- what a plan says


def described(made: Survey, n: int) -> dict[str, Any]:
    """A survey with its closed forms for n people, and what other ways of asking would come to."""
    told = made.properties(n)
    people = {name: told["shares"][name] * n for name in made.names}
    mechanisms = {name: _title(made, name) for name in made.names}
    exact = {} if made.scheme == "split" else {"design": made.design()}
    more = {"mechanisms": mechanisms, "people": people, "guarantee": made.guarantee()}
    return told | more | {"alternatives": dict(made.alternatives)} | exact


def _title(made: Survey, name: str) -> str:
    """The mechanism that asks a question."""
    parts = dict(zip(made.parts, made.mechanisms, strict=True))
    found = next((part for part in made.parts if name in made.about(part)), None)
    return "not asked" if found is None else str(parts[found].name)


def planned(questions: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Survey, dict[str, Any]]:
    """The survey of some questions, and the same with a split budget and from when on asking together pays."""
    made = survey(questions, **settings)
    compared: dict[str, Any] = {}
    if not made.tables and made.scheme != "split" and len(made.questions) > 1:
        try:
            compared["split"] = survey(questions, **{**settings, "scheme": "split"}).properties()["mse_sum"]
        except ParameterError:  # questions with budgets of their own cannot share one
            compared["split"] = None
    free = {question.name: question.k for question in made.questions if question.free and question.plain}
    if len(free) > 1 and not made.goal.stderr and not made.tables:
        weights = dict(zip(made.names, made.goal.weights, strict=True))
        compared["together_from"] = pays_from(free, {name: weights[name] for name in free})
    return made, compared


# ---- answers in files


def privatize_survey(
    made: Survey,
    source: str,
    target: str,
    *,
    columns: Sequence[str] | None = None,
    part_column: str | None = None,
    format: str | Layout = "auto",
    layout: str = LAYOUTS[0],
    rng: Stream | None = None,
    progress: Progress | None = None,
) -> int:
    """Privatise a file with a column for each question into a report file; returns how many reports.

    `columns` are those of the questions that are asked, in their order, if they have other names; `part_column` has the
    number of the part that was dealt to each person beforehand (`Survey.assign`).
    """
    asked = made.asked
    names = list(columns or asked)
    require(len(names) == len(asked), "columns", names, f"{len(asked)} names, for {', '.join(asked)}")
    wanted = names + ([part_column] if part_column is not None else [])
    called = ["columns"] * len(names) + ["part-column"]
    size = min(CHUNK_VALUES, made.mechanism.bulk.block)

    def batches() -> Iterator[Batch]:
        for chunks in read_columns(source, size, wanted, called=called, format=format, progress=progress):
            yield lambda rng, chunks=chunks: _reports(made, asked, chunks, rng)  # type: ignore[misc]

    return write_reports(made.mechanism, batches(), source, target, layout=layout, rng=rng)


def _reports(made: Survey, asked: Sequence[str], chunks: Sequence[Chunk], rng: Stream) -> Any:
    """The reports of some people, from the cells of their columns."""
    kinds = {question.name: question.mechanism for question in made.questions}
    values = {name: _answers(kinds[name], chunk) for name, chunk in zip(asked, chunks, strict=False)}
    numbers = None if len(chunks) == len(asked) else _parts(made, chunks[-1])
    return made.privatize(values, assigned=numbers, rng=rng)


def _answers(m: Any, chunk: Chunk) -> Any:
    """Answers as `Survey.privatize` takes them; lists, such as those of pairs, stand in their cells as JSON."""
    if m.takes == "values":
        return m.domain.decode(encode(m.domain, chunk))
    return [_listed(cell, chunk, i) for i, cell in enumerate(chunk.cells)]


def _listed(cell: Any, chunk: Chunk, i: int) -> list[Any]:
    """A list in a cell: as it is in Parquet, as JSON in a text; an empty cell is an empty one."""
    found: Any = [] if cell is None or (isinstance(cell, str) and not cell.strip()) else cell
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            found = None
    if not isinstance(found, list | tuple):
        hint = 'Pairs stand in their cell as a list in JSON: [["films", 0.5], ["books", -1]].'
        raise ParameterError(f"{chunk.place(i)}: a list is needed, got {show(cell)}.", hint)
    return list(found)


def _parts(made: Survey, chunk: Chunk) -> list[int]:
    """The numbers of the parts that people were dealt."""
    most, found = len(made.parts) - 1, []
    for i, cell in enumerate(chunk.cells):
        text = str(cell).strip()
        if not text.isdecimal() or int(text) > most:
            hint = "`deniable survey assign` deals them out."
            raise ParameterError(f"{chunk.place(i)}: a part is a number from 0 to {most}, got {show(cell)}.", hint)
        found.append(int(text))
    return found


def read_people(
    made: Survey,
    source: str,
    *,
    columns: Sequence[str] | None = None,
    format: str | Layout = "auto",
    progress: Progress | None = None,
) -> dict[str, list[Any]]:
    """The answers of a file with a column for each question that is asked: what a simulation compares with."""
    asked = made.asked
    names = list(columns or asked)
    require(len(names) == len(asked), "columns", names, f"{len(asked)} names, for {', '.join(asked)}")
    kinds = {question.name: question.mechanism for question in made.questions}
    found: dict[str, list[Any]] = {name: [] for name in asked}
    called = ["columns"] * len(names)
    for chunks in read_columns(source, CHUNK_VALUES, names, called=called, format=format, progress=progress):
        for name, chunk in zip(asked, chunks, strict=True):
            found[name] += list(_answers(kinds[name], chunk))
    require(bool(found[asked[0]]), "data", source, "a file with at least one row")
    return found


# ---- estimates


def shown(
    made: Survey,
    files: Sequence[str],
    *,
    level: float,
    target: Target,
    simultaneous: bool,
    strict: bool = False,
    progress: Progress | None = None,
) -> tuple[dict[str, Shown], dict[str, Any]]:
    """The estimates of all questions from report and tally files, each with its intervals; and what they are of."""
    counted = count_files(files, design=made.design(), strict=strict, progress=progress)
    found = made.estimate(counted.tally)
    each = {name: _shown(estimate, level, target, simultaneous) for name, estimate in found.items()}
    facts = {"n": found.n, "epsilon": made.record, "simulated": found.simulated, "not_asked": list(found.silent)}
    return each, facts | {"skipped": dict(counted.skipped)}


def _shown(estimate: Estimate, level: float, target: Target, simultaneous: bool) -> Shown:
    return Shown.of(estimate, level=level, target=target, simultaneous=simultaneous)
