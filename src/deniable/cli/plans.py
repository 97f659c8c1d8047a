"""The planner as a command, and what will come of a questionnaire."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from deniable.cli.options import DOMAIN, FILES, Given, argument, option, read_domain
from deniable.cli.output import Output
from deniable.cli.pipeline import Force
from deniable.cli.service import Config, DatabaseUrl, opened, today
from deniable.plan.questions import PLANS, check
from deniable.plan.questions import plan as run
from deniable.plan.scoring import WEIGHED
from deniable.present.export import save
from deniable.run.files import open_output
from deniable.run.layout import STANDARD
from deniable.run.results import check_chart

__all__ = ["ASKED", "plan", "questionnaire"]

_ASKED = "What is asked: shares, keys with values, near answers, a mean."
ASKED: Given = {
    "k": (int, "K", "Number of possible values."),
    "labels": (str, "A,B,...", "The possible values by name."),
    "labels_file": (str, "FILE", "The same from a file, one per line."),
    "n": (int, "N", "Number of reports; left out to find the smallest."),
    "epsilon": (float, "E", "The privacy promise; left out to find the smallest."),
    "target_error": (float, "E", "Largest standard error of a share: 0.01 is a percentage point."),
    "max_asr": (float, "A", "Largest chance that the best guess from a report is right."),
    "max_bits": (float, "B", "Most bits per report."),
    "max_bytes": (int, "B", "Most bytes per report."),
    "max_work": (float, "W", "Most operations of the server per report."),
    "max_poisoning": (
        float,
        "G",
        "Most that 1 % of forged reports may add to the shares of the targets, to the mean or to the loss.",
    ),
    "targets": (int, "R", "Number of values that a forger wants to push up; 10 if left out."),
    "weight": (float, "W", "Weight of the best guess, from 0 to 1; the error, or the loss, has the rest."),
    "weights": (str, "A=W,...", f"Weights of some of {', '.join(WEIGHED)}: error=3,bits=1."),
    "sensitive": (str, "S", "Sensitive values: labels separated by commas, or how many of the first."),
    "top": (int, "T", "Only the best T designs."),
    "chart": (str, "FILE", "Draw the error against the best guess: .html, .png, .svg or .json."),
    "question": (str, "|".join(PLANS), f"{_ASKED}  [default: {next(iter(PLANS))}]"),
    "length": (int, "L", "Key-value: pairs per person to allow for; one each if left out."),
    "interest": (float, "I", "Key-value: weight of frequencies against means; 1 if left out."),
    "points": (int, "N", "Release, mean: points on a line, or in the interval."),
    "interval": (str, "A,B", "Release, mean: lowest and highest number."),
    "distances": (str, "FILE", "Release: a .csv file of losses or places."),
    "promise": (str, "FILE", "Shares, release: a file with the budgets between answers, instead of --epsilon."),
    "force": (bool, None, "Replace a chart that is there already."),
}
"""What the planner may be told; which question takes what is for `PLANS` to say."""


def plan(out: Output, given: Given) -> int:
    """Find the mechanism and its parameters for a job.

    Give two of --n, --epsilon and --target-error. Designs are ranked by their predicted error, or by a weighted sum
    (--weight, --weights) relative to the design of least error; limits leave out those that break them. The exit code
    is 1 if no design meets the limits. With --question key-value give --n and --epsilon: the error is interest^2 F + M,
    those of frequencies and of means, and the best guess is that of a key and of whether its value is high or low. With
    --question release give --epsilon and --points, --interval or --distances: the error is the expected loss of a
    report, which --target-error limits. With --question mean give --interval, --epsilon and --n or --target-error: the
    best guess is that of the half of the interval that a number is in. With --question range the answers are in an
    order, and the error is that of the shares of ranges. --promise FILE (as `deniable promise` reads it) stands for
    --epsilon, and for the answers: shares and near answers are planned for budgets of any kind.

    Example: deniable plan --k 1000 --n 100000 --epsilon 1 --max-bytes 16
    """
    told: dict[str, Any] = dict(given)
    question, chart = told.pop("question", next(iter(PLANS))), told.pop("chart", None)
    out.claim(
        chart, "chart", sources=[told.get(name) for name in ("labels_file", *FILES)], force=told.pop("force", False)
    )
    if chart is not None:
        check_chart(chart)
    check(question, {name: value for name, value in told.items() if name not in DOMAIN})
    if "domain" in PLANS[question].takes and (set(DOMAIN) & set(told) or "promise" not in told):
        told["domain"] = read_domain({name: told.pop(name) for name in DOMAIN if name in told})
    files = {name: told[name] for name in FILES if name in told}
    found = run(question=question, **told | {name: FILES[name](path) for name, path in files.items()})
    found = found.naming(**files) if files else found
    if chart is not None:
        out.note(f"drew {save(found.chart(), chart)}")
    out.show(found.document(), *found.parts())
    return 0 if found.feasible else 1


def questionnaire(
    source: Annotated[str, argument("FILE", "A questionnaire, a file of another tool, or the id of a task.")],
    out: Output,
    target: Annotated[
        str | None, option("--out", "FILE", "Write the questionnaire as JSON; - for standard output.")
    ] = None,
    force: Force = False,
    database: DatabaseUrl = None,
    config: Config = None,
) -> int:
    """Say what will come of a questionnaire, and write it as JSON: also from SurveyJS, from XLSForm, or from a task.

    What cannot be asked under a promise, such as free text, is listed. The exit code is 1 if it cannot be opened yet.

    Example: deniable task questionnaire survey.xlsx --out survey.json
    """
    from deniable.cli.service_tasks import known_task
    from deniable.service.questionnaire.complete import problems
    from deniable.service.questionnaire.document import dumped, written
    from deniable.service.questionnaire.imports import read_file
    from deniable.service.questionnaire.opening import questionnaire_of
    from deniable.service.questionnaire.outlook import outlook
    from deniable.service.questionnaire.telling import in_words, lines

    out.claim(target, sources=[source], force=force)
    left: list[str] = []
    if Path(source).exists() or not source.isalnum():
        asked, left = read_file(source)
    else:
        with opened(database, config) as store:
            asked = questionnaire_of(known_task(store, source)[1].task)
    if target is not None:
        with open_output(target) as file:
            file.write(dumped(asked))
    wrong = [f"{fault.where}: {in_words(fault)}" for fault in problems(asked, today())]
    for part in left:
        out.note(f"not taken over: {part}")
    if target == STANDARD:
        return 1 if wrong else 0
    document = {"questionnaire": written(asked), "left": left, "problems": wrong}
    if wrong:
        out.show(document, "It cannot be opened yet:", *wrong)
        return 1
    found = lines(outlook(asked))
    out.show(document | found, *found["told"], *found["cautions"])
    return 0 if found["possible"] else 1
