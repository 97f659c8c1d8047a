"""Tasks: make one of a design, open it, see what came in, close it, take its results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from deniable.cli.options import Choice, argument, option, split
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.cli.plans import questionnaire
from deniable.cli.service import Config, DatabaseUrl, opened, today
from deniable.collect.parquet import LAYOUTS
from deniable.errors import ParameterError, require
from deniable.present.tables import Column, Table, Whole, number, shares_table
from deniable.run.files import open_output
from deniable.run.layout import STANDARD
from deniable.run.local import is_table

if TYPE_CHECKING:
    from deniable.service.ingest import Intake
    from deniable.service.store.contract import Store, TaskRow
    from deniable.service.tasks import Asked

__all__ = ["COMMANDS", "known_task"]

TaskId: TypeAlias = Annotated[str, argument("ID", "The task's id, or how it begins.")]
_LEAST_PREFIX = 4


def new(
    out: Output,
    source: Annotated[
        str | None,
        option("--from", "FILE", "A questionnaire: ours as JSON, SurveyJS's, or an .xlsx file of XLSForm."),
    ] = None,
    design: Annotated[
        list[str] | None,
        option("--design", "FILE", "A design, or what `design --json` or `plan --json` prints; - for standard input."),
    ] = None,
    survey: Annotated[
        str | None,
        option("--survey", "FILE", "A survey that `survey design` wrote; with a --question for each of its questions."),
    ] = None,
    question: Annotated[
        list[str] | None, option("--question", "TEXT", "What people are asked; one for each --design.")
    ] = None,
    share: Annotated[
        list[str] | None,
        option("--share", "N", "Of several questions: how many of the people get each, in proportion; 1 if left out."),
    ] = None,
    min_batch: Annotated[
        int | None,
        option("--min-batch", "N", "Nothing is published about fewer reports; 100, or what a questionnaire leads to."),
    ] = None,
    opens: Annotated[str | None, option("--opens", "DAY", "The first day, e.g. 2026-11-16; today if left out.")] = None,
    window_days: Annotated[
        int | None, option("--window-days", "D", "Days of a window: people answer once in each; 7 if left out.")
    ] = None,
    windows: Annotated[int | None, option("--windows", "N", "How many windows; one if left out.")] = None,
    none: Annotated[
        list[str] | None,
        option("--none", "ANSWER", "What no answer counts as, one for each --design; see below if left out."),
    ] = None,
    retention: Annotated[
        str, option("--retention", "tally|reports", "Erase reports once they are counted, or keep them.")
    ] = "tally",
    retention_days: Annotated[
        int | None,
        option("--retention-days", "D", "How long reports are kept after the last window; 30 if left out."),
    ] = None,
    subject: Annotated[
        str | None,
        option("--subject", "TEXT", "What it is about; the question if left out."),
    ] = None,
    strata: Annotated[
        list[str] | None,
        option("--strata", "NAME=A,B,...", "Groups that are sent openly with a report, e.g. country=DE,FR."),
    ] = None,
    collector: Annotated[str | None, option("--collector", "NAME", "Who asks, for people to read.")] = None,
    url: Annotated[
        str | None,
        option("--url", "URL", "Where devices send reports, and nowhere else; the setting public_url if left out."),
    ] = None,
    language: Annotated[
        str | None, option("--language", "TAG", "The language of the texts, such as en or de-CH; en if left out.")
    ] = None,
    budget: Annotated[
        float | None,
        option("--budget", "E", "The most that you ask of one device in a year, over all your tasks."),
    ] = None,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Make a task of a design; it takes reports once it is opened.

    A task is public and never changes: its id is the hash of its content. All checks are made that a device will make.
    With several --design and --question it is a survey: each person gets one of the questions. So is --survey with the
    file of `deniable survey design`, and a --question for each question that is asked, in their order: those that it
    asks together stand together in the task, and its releases have their tables. A task is signed with the key that
    the database keeps, so that nobody else can ask in your name.

    Every device that takes part sends one report in each window, also if its person gives no answer: that counts as
    --none. If it is left out: as the design's --missing, the middle of an interval, nothing ticked, no pairs, or else a
    random answer.

    With --from it is made of a questionnaire, which says everything but the database and the address; of the others
    only --min-batch and --opens can be given besides. `deniable task questionnaire` says what will come of it.

    Example: deniable plan --k 4 --n 10000 --epsilon 1 --json | deniable task new --design - --question "How often?"
    """
    if source is not None:
        kept = None if retention == "tally" else retention
        given: dict[str, Any] = {
            "survey": survey,
            "design": design,
            "question": question,
            "share": share,
            "none": none,
            "strata": strata,
        }
        given |= {"subject": subject, "collector": collector, "language": language, "windows": windows}
        given |= {"window_days": window_days, "budget": budget, "retention_days": retention_days, "retention": kept}
        _refuse_given(given)
        _from_questionnaire(out, source, min_batch, opens, url, database, config)
        return
    design, question = design or [], question or []
    require(bool(design or survey), "design", None, "given, or --survey, or --from with a questionnaire")
    from deniable.run.store import read_design
    from deniable.service.access.identity import SEED_BYTES, Identity
    from deniable.service.settings import settings
    from deniable.service.tasks import Terms, caution, counted_as, new_task
    from deniable_client.canonical import canonical
    from deniable_client.task import Task

    asked = _surveyed(survey, question, {"design": design, "share": share, "none": none}) if survey else []
    asked = asked or _asked([read_design(file) for file in design], question, share, none)
    terms = Terms(
        opens=today() if opens is None else _day(opens),
        window_days=7 if window_days is None else window_days,
        windows=1 if windows is None else windows,
        min_batch=100 if min_batch is None else min_batch,
        retention=retention,
        retention_days=30 if retention_days is None else retention_days,
        subject=subject,
        collector=collector,
        url=url or settings({}, file=config).public_url or None,
        language=language or "en",
        strata=_strata(strata or []),
        budget=budget,
    )
    new_task(asked, terms, Identity(bytes(SEED_BYTES)))  # all checks, before a database is made
    with opened(database, config, new=True) as store:
        document = new_task(asked, terms, Identity(store.identity()))
        store.put_task(document["id"], canonical(document))
    task = Task.load(document)
    idle = "--share has no effect: there is one question, for everybody." if share and len(asked) == 1 else ""
    unkept = retention_days is not None and retention == "tally"
    vain = "--retention-days has no effect: with --retention tally no reports are kept." if unkept else ""
    for told in filter(None, (_over(task), idle, vain, caution(task))):
        out.note(f"warning: {told}")
    for asking in task.questions:
        if counted := counted_as(asking):
            out.note(f"{asking.name}: {counted}")
    out.show(
        {"task": document, "id": task.id},
        f"Task {task.id}",
        *_terms(task),
        Whole(f"Next: deniable task open {task.id[:12]}"),
    )


def _refuse_given(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        require(value is None, name, value, "left out with --from", "The questionnaire says it.")


def _from_questionnaire(
    out: Output,
    source: str,
    min_batch: int | None,
    opens: str | None,
    url: str | None,
    database: str | None,
    config: str | None,
) -> None:
    """Make a task of a questionnaire: what was not taken over is said first."""
    from deniable.service.access.identity import SEED_BYTES, Identity
    from deniable.service.questionnaire.imports import read_file
    from deniable.service.questionnaire.opening import task_of
    from deniable.service.questionnaire.outlook import outlook
    from deniable.service.questionnaire.telling import lines
    from deniable.service.settings import settings
    from deniable_client.canonical import canonical
    from deniable_client.task import Task

    asked, left = read_file(source)
    asked = asked if opens is None else replace(asked, opens=_day(opens).isoformat())
    for part in left:
        out.note(f"not taken over: {part}")
    given: dict[str, Any] = {"today": today(), "min_batch": min_batch}
    given["url"] = url or settings({}, file=config).public_url or None
    task_of(asked, Identity(bytes(SEED_BYTES)), **given)  # all checks, before a database is made
    with opened(database, config, new=True) as store:
        document = task_of(asked, Identity(store.identity()), **given)
        store.put_task(document["id"], canonical(document))
    task, found = Task.load(document), outlook(asked)
    for told in filter(None, (_over(task), *lines(found, task.min_batch)["cautions"])):
        out.note(f"warning: {told}")
    out.show(
        {"task": document, "id": task.id, "left": left},
        f"Task {task.id}",
        *lines(found, task.min_batch)["told"],
        *_terms(task),
        Whole(f"Next: deniable task open {task.id[:12]}"),
    )


def _surveyed(file: str, question: Sequence[str], others: Mapping[str, Any]) -> list[Asked]:
    """What a survey asks, with a text for each question."""
    from deniable.run.survey import read_survey
    from deniable.service.tasks import asked_by

    for name, value in others.items():
        require(not value, name, value, "left out with --survey", "The survey says it.")
    return asked_by(read_survey(file), question)


def _asked(
    designs: Sequence[Mapping[str, Any]],
    question: Sequence[str],
    share: Sequence[str] | None,
    none: Sequence[str] | None,
) -> list[Asked]:
    """What is asked: a text for each design, or for each part of a survey's."""
    from deniable.service.tasks import Asked, none_in

    need, shares = "given as often as --design, once for each", share
    if len(designs) == 1 and "parts" in designs[0]:
        hint = "The survey says who is asked what."
        require(share is None, "share", share, "left out for a design of several parts", hint)
        shares, designs = [str(own) for own in designs[0]["shares"]], list(designs[0]["parts"])
        need = f"given once for each part of the survey's design, {len(designs)} in all"
    require(len(designs) == len(question), "question", question, need)
    require(all(text.strip() for text in question), "question", "", "a text that people can see")
    require(none is None or len(none) == len(designs), "none", none, need)
    each = zip(designs, question, _shares(shares, len(designs)), strict=True)
    asked = [Asked(text=text, design=dict(own), share=one) for own, text, one in each]
    if none is None:
        return asked
    return [replace(one, none=none_in(one.design, text)) for one, text in zip(asked, none, strict=True)]


def _shares(given: Sequence[str] | None, questions: int) -> list[int]:
    shares = given or ["1"] * questions
    whole = all(share.isascii() and share.isdecimal() and int(share) > 0 for share in shares)
    require(whole and len(shares) == questions, "share", given, "a whole number > 0 for each --design")
    return [int(share) for share in shares]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError(f"opens must be a day such as 2026-11-16, got {text!r}.") from None


def _strata(given: Sequence[str]) -> Mapping[str, Sequence[str]]:
    found = {}
    for text in given:
        name, mark, values = text.partition("=")
        require(bool(mark and values), "strata", text, "a name and its values, such as country=DE,FR")
        found[name] = split(values, "strata")
    return found


def _terms(task: Any) -> list[str]:
    return [line for line in task.terms() if line]


def next_round(
    choice: Choice,
    out: Output,
    question: Annotated[
        str | None, option("--question", "TEXT", "What people are asked; that of the round before if left out.")
    ] = None,
    after: Annotated[
        list[str] | None, option("--after", "ID", "The rounds before, in order; left out for the first one.")
    ] = None,
    subject: Annotated[str | None, option("--subject", "TEXT", "What all rounds are about.")] = None,
    min_batch: Annotated[int | None, option("--min-batch", "N", "Nothing is published about fewer reports.")] = None,
    window_days: Annotated[int | None, option("--window-days", "D", "Days of the round.")] = None,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Make the next round of a protocol from the rounds before; when all are over, show the estimate.

    Give the same protocol with the same options each time, and the tasks of the rounds that are over with --after. Show
    each round to other people: a device that answers in several pays for each.

    Example: deniable task next collaborative --epsilon 1 --k 50 --sensitive 10 --after 3f6a0c
    """
    from datetime import UTC, datetime

    from deniable.estimate.result import Estimate
    from deniable.mechanisms.protocol import Protocol
    from deniable.run.questions import question_of
    from deniable.service.access.identity import Identity
    from deniable.service.rounds import next_round as following
    from deniable.service.rounds import round_task
    from deniable_client.canonical import canonical

    made = choice.make_any()
    if not isinstance(made, Protocol):
        raise ParameterError(f"NAME must be a protocol, got {choice.name!r}.", "A mechanism has one round: task new.")
    with opened(database, config, new=True) as store:
        before = [known_task(store, id, "after") for id in after or []]
        found = following(made, store, [row.id for row, _ in before], datetime.now(UTC))
        if isinstance(found, Estimate):
            shown = question_of(choice.name).show(found, 0.95, "reporters", False)
            table = shares_table(shown.columns, shown.labels, level=0.95, numbers=shown.numbers)
            out.show({"done": True, "estimate": shown.document()}, "; ".join(shown.facts["steps"]) + ".", table)
            return
        last = before[-1][1].task if before else None
        text = question or (last.questions[0].text if last is not None else "")
        require(bool(text), "question", question, "given for the first round")
        given = {"subject": subject, "min_batch": min_batch, "window_days": window_days}
        terms = {name: value for name, value in given.items() if value is not None}
        identity = Identity(store.identity())
        document = round_task(found, identity, text=text, opens=today(), before=last, **terms)
        store.put_task(document["id"], canonical(document))
    told = f"Round {found.number} of {found.of} ({found.name}), for {100 * found.share:g} % of the people."
    facts = {"done": False, "round": found.number, "rounds": found.of, "step": found.name, "share": found.share}
    lines = [f"Task {document['id']}", told, Whole(f"Next: deniable task open {document['id'][:12]}")]
    out.show({**facts, "task": document, "id": document["id"]}, *lines)


# ---- what is there


def listed(out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """List the tasks, with the number of reports that were counted."""
    from deniable_client.task import Task

    with opened(database, config) as store:
        found = [
            _listed(Task.load(row.document), row, sum(tally.n for tally in store.tallies(row.id).values()))
            for row in store.tasks()
        ]
    head = (Column("task"), Column("state"), Column("opens"), Column("last day"), Column("reports", right=True))
    table = [[t["id"][:12], t["state"], t["opens"], t["until"], number(t["reports"]), t["subject"]] for t in found]
    told = Table((*head, Column("about", wrap=True)), table)
    out.show({"tasks": found}, told if found else "There are no tasks yet: deniable task new --help")


def _listed(task: Any, row: TaskRow, reports: int) -> dict[str, Any]:
    from datetime import timedelta

    span = {"opens": str(task.opens), "until": str(task.closes - timedelta(1))}
    return {"id": task.id, "state": row.state, "subject": task.subject, **span, "reports": reports}


def show(id: TaskId, out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Show a task: what it says, its state, and the reports that came in.

    Estimates of windows that are over are in `deniable task export`.
    """
    with opened(database, config) as store:
        row, intake = known_task(store, id)
        found = _windows(store, row, intake)
        rejected = dict(store.rejections(row.id))
    task = intake.task
    counted = [
        {"window": w["window"], "from": w["from"], "to": w["to"], "state": w["state"], "reports": w["reports"]}
        for w in found
    ]
    head = (Column("window", right=True), Column("from"), Column("to"), Column("state"), Column("reports", right=True))
    table = Table(head, [[str(w["window"]), w["from"], w["to"], w["state"], number(w["reports"])] for w in counted])
    refused = Table(
        (Column("rejected because"), Column("reports", right=True)), [[k, number(n)] for k, n in rejected.items()]
    )
    out.show(
        {"id": task.id, "state": row.state, "windows": counted, "rejected": rejected, "task": json.loads(row.document)},
        f"Task {task.id}, {row.state}",
        *_terms(task),
        *([table] if counted else []),
        *([refused] if rejected else []),
    )


def _over(task: Any) -> str:
    """What to say of a task whose last day has passed; nothing if it has not."""
    from datetime import timedelta

    last = task.closes - timedelta(1)
    return f"its last day was {last}: no report will be counted." if last < today() else ""


def known_task(store: Store, id: str, name: str = "ID") -> tuple[TaskRow, Intake]:
    """A task by its id, or by the beginning of it if there is one only."""
    from deniable.service.ingest import Intake

    rows = [row for row in store.tasks() if row.id.startswith(id)] if len(id) >= _LEAST_PREFIX else []
    if len(rows) != 1:
        told = f"{len(rows)} tasks begin" if rows else "no task begins"
        short = f" It takes at least {_LEAST_PREFIX} letters." if len(id) < _LEAST_PREFIX else ""
        found = "it is too short" if short else f"{told} with it"
        raise ParameterError(
            f"{name} must be the id of a task, or how it begins, got {id!r}: {found}.",
            f"`deniable task list` shows them.{short}",
        )
    return rows[0], Intake(rows[0].document)


def _windows(store: Store, row: TaskRow, intake: Intake) -> list[dict[str, Any]]:
    from datetime import UTC, datetime

    from deniable.service.release import windows

    return [window.told(intake.task) for window in windows(store, row, intake, datetime.now(UTC))]


# ---- its state


def opened_now(id: TaskId, out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Open a task: from its first day on, reports are counted."""
    with opened(database, config) as store:
        row, intake = known_task(store, id)
        require(row.state != "closed", "ID", id, "a task that is not closed", "A closed task stays closed.")
        if row.state == "draft":
            store.set_state(row.id, "open")
    first, over = max(today(), intake.task.opens), _over(intake.task)
    told = f"Task {row.id} is open" + (f", but {over}" if over else f": reports are counted from {first} on.")
    out.show({"id": row.id, "state": "open"}, told)


def closed(id: TaskId, out: Output, database: DatabaseUrl = None, config: Config = None) -> None:
    """Close a task for good: no report is counted any more, and its results are published."""
    with opened(database, config) as store:
        row, intake = known_task(store, id)
        for state in {"draft": ("open", "closed"), "open": ("closed",)}.get(row.state, ()):
            store.set_state(row.id, state)
        row, intake = known_task(store, id)
        found = _windows(store, row, intake)
    counted = sum(w["reports"] for w in found)
    told = f"Task {row.id} is closed, with {counted:,} reports."
    shown = [w["window"] for w in found if w["state"] == "published"]
    if shown:
        told += f" Its results: deniable task export {row.id[:12]}"
    else:
        told += f" Nothing is published: no question has the minimum batch of {intake.task.min_batch:,} in any window."
    out.show({"id": row.id, "state": "closed", "reports": counted, "published": shown}, told)


# ---- its results


def export(
    id: TaskId,
    out: Output,
    what: Annotated[
        str, option("--what", "results|tally|reports", "Estimates, or a file for `deniable estimate`.")
    ] = "results",
    question: Annotated[
        str | None, option("--question", "NAME", "Of a tally or of reports; the first question if left out.")
    ] = None,
    target: Annotated[
        str, option("--out", "FILE", "What to write: estimates by its ending, see below; - for standard output.")
    ] = STANDARD,
    aim: Annotated[
        str | None,
        option("--target", "population|reporters", "What intervals of a table are for; the population if left out."),
    ] = None,
    table: Annotated[
        str, option("--table", "|".join(LAYOUTS), "How reports lie in a .parquet file: packed, or one per row.")
    ] = LAYOUTS[0],
    force: Force = False,
    database: DatabaseUrl = None,
    config: Config = None,
) -> None:
    """Write what is published of a task: estimates, or a tally or the reports that were kept.

    Estimates go to a flat table if the file ends in .csv or .parquet, one row for each window, question, group and
    answer (its columns are in docs/formats.md), and whole, as they were published, to .json and standard output.

    Only windows that are published, and never fewer reports than the minimum batch: reports lie in the order of their
    bytes, group by group as published, in a file that only its owner can read, or in a .parquet table. One of one
    report per row also says on which day the window began: `window`.

    Example: deniable task export 3f6a0c --what reports --out week.parquet
    """
    require(what in ("results", "tally", "reports"), "what", what, "results, tally or reports")
    tabled = what == "reports" and is_table(target)
    form = _form(target) if what == "results" else ""
    hint = "Tables are for --what results and --what reports."
    require(what != "tally" or not is_table(target), "out", target, "a file of another name", hint)
    require(aim is None or bool(form), "target", aim, "left out unless estimates go to a .csv or .parquet file")
    require(table == LAYOUTS[0] or tabled, "table", table, "left out unless reports go to a .parquet file")
    require(question is None or what != "results", "question", question, "left out: results are of all questions")
    if not out.as_json:
        out.claim(target, force=force)
    if what != "results" and out.as_json:
        require(target != STANDARD, "out", target, "a file together with --json")
    with opened(database, config) as store:
        row, intake = known_task(store, id)
        document: dict[str, Any]
        if form:
            document = _write_flat(store, row, intake, form, aim or "population", target)
        elif what == "results":
            document = {"id": row.id, "state": row.state, "windows": _windows(store, row, intake)}
            if target != STANDARD or not out.as_json:
                with open_output(target) as file:
                    file.write((_printable(json.dumps(document, indent=1, ensure_ascii=False)) + "\n").encode())
        else:
            n = _write(store, row, intake, what, question, target, table)
            document = {"id": row.id, "what": what, "out": target, "reports": n}
    if out.as_json:
        out.show(document)
    elif target != STANDARD:
        out.note(f"wrote {target}")


def _form(target: str) -> str:
    """The kind of table that a file's ending asks for; nothing for JSON, which has everything as it was published."""
    ending = "" if target == STANDARD else Path(target).suffix.lower().removeprefix(".")
    known = ("csv", "parquet", "json", "")
    require(ending in known, "out", target, "a name that ends in .csv, .parquet or .json")
    return ending if ending in ("csv", "parquet") else ""


def _write_flat(store: Store, row: TaskRow, intake: Intake, form: str, aim: str, target: str) -> dict[str, Any]:
    """Write the flat table of all that is published; what was written."""
    from datetime import UTC, datetime

    from deniable.service.release import windows
    from deniable.service.results.flat import FORMS, flat
    from deniable.service.results.reading import check_target

    rows = flat(intake.task, windows(store, row, intake, datetime.now(UTC)), check_target(aim))
    data = FORMS[form][1](rows)
    with open_output(target) as file:
        file.write(data)
    return {"id": row.id, "what": "results", "out": target, "rows": len(rows)}


def _printable(text: str) -> str:
    """JSON in which characters that would move a cursor or turn the text around are written as their codes."""
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def _write(
    store: Store, row: TaskRow, intake: Intake, what: str, question: str | None, target: str, layout: str
) -> int:
    """Write a tally or reports; how many reports are in it."""
    from datetime import UTC, datetime

    from deniable.collect.codec import dump
    from deniable.service.export import write_reports
    from deniable.service.release import tally_of, windows

    name = intake.task.questions[0].name if question is None else intake.task.question(question).name
    found = windows(store, row, intake, datetime.now(UTC))
    with open_output(target, private=what == "reports") as file:
        if what == "reports":
            n = write_reports(store, intake, found, name, file, layout if is_table(target) else None)
        else:
            tally = tally_of(found, name)
            n = 0 if tally is None else tally.n
            file.write(b"" if tally is None else dump(tally))
        if not n:
            hint = "Windows that are still open, or have fewer reports than the minimum batch, are not written."
            raise ParameterError(f"what must be something that is published, got {what!r}: there is nothing yet.", hint)
    return n


COMMANDS: Mapping[str, Callable[..., int | None]] = {
    "new": new,
    "questionnaire": questionnaire,
    "next": next_round,
    "list": listed,
    "show": show,
    "open": opened_now,
    "close": closed,
    "export": export,
}
"""By their second word."""
