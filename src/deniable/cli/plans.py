"""The planner as a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from deniable.cli.options import DOMAIN, command, option, read_domain
from deniable.cli.output import Output
from deniable.errors import require
from deniable.present.export import save
from deniable.run.questions import QUESTIONS
from deniable.run.results import check_chart

__all__ = ["plan", "register"]


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app)(plan)


def plan(
    out: Output,
    k: Annotated[int | None, option("--k", "K", "Number of possible values.")] = None,
    labels: Annotated[str | None, option("--labels", "A,B,...", "The possible values by name.")] = None,
    labels_file: Annotated[str | None, option("--labels-file", "FILE", "The same from a file, one per line.")] = None,
    n: Annotated[int | None, option("--n", "N", "Number of reports; left out to find the smallest.")] = None,
    epsilon: Annotated[
        float | None, option("--epsilon", "E", "The privacy promise; left out to find the smallest.")
    ] = None,
    target_error: Annotated[
        float | None, option("--target-error", "E", "Largest standard error of a share: 0.01 is a percentage point.")
    ] = None,
    max_asr: Annotated[
        float | None, option("--max-asr", "A", "Largest chance that the best guess from a report is right.")
    ] = None,
    max_bits: Annotated[float | None, option("--max-bits", "B", "Most bits per report.")] = None,
    max_bytes: Annotated[int | None, option("--max-bytes", "B", "Most bytes per report.")] = None,
    max_work: Annotated[float | None, option("--max-work", "W", "Most operations of the server per report.")] = None,
    max_poisoning: Annotated[
        float | None,
        option("--max-poisoning", "G", "Most that 1 % of forged reports may add to the shares of the targets."),
    ] = None,
    targets: Annotated[int | None, option("--targets", "R", "Values that a forger pushes; 10 unless given.")] = None,
    weight: Annotated[
        float | None, option("--weight", "W", "Weight of the best guess, from 0 to 1; the error has the rest.")
    ] = None,
    sensitive: Annotated[
        str | None, option("--sensitive", "S", "Sensitive values: a count, or which; others need less protection.")
    ] = None,
    top: Annotated[int | None, option("--top", "T", "Only the best T designs.")] = None,
    chart: Annotated[
        str | None, option("--chart", "FILE", "Draw error against best guess: .html, .png, .svg or .json.")
    ] = None,
    question: Annotated[
        str, option("--question", "|".join(QUESTIONS), "What is asked: shares, keys with values, near answers, a mean.")
    ] = next(iter(QUESTIONS)),
    length: Annotated[
        int | None, option("--length", "L", "Key-value: pairs per person to allow for; one each if left out.")
    ] = None,
    interest: Annotated[
        float | None, option("--interest", "I", "Key-value: weight of frequencies against means; alike if left out.")
    ] = None,
    points: Annotated[
        int | None, option("--points", "N", "Release, mean: points on a line, or in the interval.")
    ] = None,
    interval: Annotated[str | None, option("--interval", "A,B", "Release, mean: lowest and highest number.")] = None,
    distances: Annotated[str | None, option("--distances", "FILE", "Release: a .csv file of losses or places.")] = None,
) -> int:
    """Find the mechanism and its parameters for a job.

    Give two of --n, --epsilon and --target-error. Designs are ranked by their predicted error, or by --weight; limits
    leave out those that break them. The exit code is 1 if no design meets the limits. With --question key-value give
    --n and --epsilon: designs are ranked by interest^2 F + M, the errors of frequencies and of means. With --question
    release give --epsilon and --points, --interval or --distances: designs are ranked by the expected loss of a report,
    which --target-error limits. With --question mean give --interval, --epsilon and --n or --target-error.

    Example: deniable plan --k 1000 --n 100000 --epsilon 1 --max-bytes 16
    """
    given: dict[str, Any] = {
        "k": k,
        "labels": labels,
        "labels_file": labels_file,
        "n": n,
        "epsilon": epsilon,
        "target_error": target_error,
        "max_asr": max_asr,
        "max_bits": max_bits,
        "max_bytes": max_bytes,
        "max_work": max_work,
        "max_poisoning": max_poisoning,
        "targets": targets,
        "weight": weight,
        "sensitive": sensitive,
        "top": top,
        "length": length,
        "interest": interest,
        "points": points,
        "interval": interval,
        "distances": distances,
    }
    require(question in QUESTIONS, "question", question, f"one of {', '.join(QUESTIONS)}")
    if chart is not None:
        check_chart(chart)
    told = {name: value for name, value in given.items() if value is not None}
    if "domain" in QUESTIONS[question].asked:
        told["domain"] = read_domain({name: told.pop(name) for name in DOMAIN if name in told})
    found = QUESTIONS[question].answer(told)
    if chart is not None:
        out.note(f"drew {save(found.chart(), chart)}")
    out.show(found.document(), *found.parts())
    return 0 if found.feasible else 1
