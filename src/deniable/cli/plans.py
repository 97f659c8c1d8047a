"""The planner as a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from deniable.cli.options import Choice, command, option
from deniable.cli.output import Output
from deniable.core.domain import Domain
from deniable.errors import ParameterError, require
from deniable.mechanisms.entry import KEY_VALUE, MEAN, RELEASE
from deniable.plan.answer import Answer
from deniable.plan.design import Design
from deniable.plan.frequency import Plan
from deniable.plan.frequency import plan as find
from deniable.plan.keyvalue import PairDesign, PairPlan, plan_pairs
from deniable.plan.mean import MeanDesign, plan_means
from deniable.plan.release import ReleaseDesign, plan_release
from deniable.present.tables import Column, Table, number, percent

__all__ = ["plan", "register"]

QUESTIONS = ("frequency", KEY_VALUE, RELEASE, MEAN)
"""What the planner can be asked."""
_MOST_OUT = 12
"""Designs that are out, as many as are told."""


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
    ] = QUESTIONS[0],
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
    domain = {name: x for name, x in (("k", k), ("labels", labels), ("labels_file", labels_file)) if x is not None}
    given: dict[str, Any] = {} if sensitive is None else {"sensitive": sensitive}
    require(question in QUESTIONS, "question", question, f"one of {', '.join(QUESTIONS)}")
    if chart is not None:
        from deniable.run.results import check_chart

        check_chart(chart)
    where = {n: x for n, x in (("points", points), ("interval", interval), ("distances", distances)) if x is not None}
    if question in (RELEASE, MEAN):
        strange: dict[str, Any] = {"max-work": max_work, "max-poisoning": max_poisoning, "targets": targets, **domain}
        strange |= {"weight": weight, "sensitive": sensitive, "length": length, "interest": interest}
        _refuse(question, strange | ({"n": n} if question == RELEASE else {"max-asr": max_asr, "distances": distances}))
        own = {"loss" if question == RELEASE else "stderr": target_error, "bits": max_bits, "bytes": max_bytes}
        own |= {"asr": max_asr}
        most = {name: x for name, x in own.items() if x is not None}
        return _plan_numbers(out, question, where, epsilon, n, most, top, chart)
    _refuse(question, where)
    if question == KEY_VALUE:
        _refuse(question, {"max-asr": max_asr, "weight": weight, "sensitive": sensitive})
        limits = {"stderr": target_error, "bits": max_bits, "bytes": max_bytes, "work": max_work}
        asked: dict[str, Any] = {"n": n, "epsilon": epsilon, "length": length, "targets": targets, "top": top}
        most = {name: x for name, x in (limits | {"poisoning": max_poisoning}).items() if x is not None}
        return _plan_pairs(out, Choice("", epsilon, domain, {}).domain(), asked, interest, most, chart)
    _refuse(question, {"length": length, "interest": interest})
    found = find(
        domain=Choice("", epsilon, domain, {}).domain(),
        n=n,
        epsilon=epsilon,
        target_error=target_error,
        max_asr=max_asr,
        max_bits=max_bits,
        max_bytes=max_bytes,
        max_work=max_work,
        max_poisoning=max_poisoning,
        targets=targets,
        weight=weight,
        given=given,
        top=top,
    )
    if chart is not None:
        from deniable.present.export import save

        out.note(f"drew {save(found.chart(), chart)}")
    out.show(found.document(), *_parts(found))
    return 0 if found.feasible else 1


def _refuse(question: str, given: dict[str, Any]) -> None:
    for name, value in given.items():
        require(value is None, name, value, f"left out for the question {question!r}")


def _plan_pairs(
    out: Output,
    keys: Domain,
    asked: dict[str, Any],
    interest: float | None,
    limits: dict[str, float],
    chart: str | None,
) -> int:
    """The answer to a question about key-value data."""
    for name in ("n", "epsilon"):
        require(asked[name] is not None, name, None, "given for the question 'key-value'")
    found = plan_pairs(domain=keys, interest=1.0 if interest is None else interest, limits=limits, **asked)
    names = ("std. error", "rarest mean", "above bound", "bytes", "operations", "1 % forged")
    return _show(out, found, names, [_pair_cells(d) for d in found.designs], chart)


def _plan_numbers(
    out: Output,
    question: str,
    where: dict[str, Any],
    epsilon: float | None,
    n: int | None,
    limits: dict[str, float],
    top: int | None,
    chart: str | None,
) -> int:
    """The answer to a question about near answers, or about means."""
    if epsilon is None:
        raise ParameterError(f"epsilon must be given for the question {question!r}.", "For example --epsilon 1.")
    if question == RELEASE:
        found = plan_release(epsilon=epsilon, limits=limits, top=top, **where)
        names = ("expected loss", "worst value", "above bound", "best guess", "bytes")
        return _show(out, found, names, [_release_cells(d) for d in found.designs], chart)
    require("interval" in where, "interval", None, "given for the question 'mean'", "For example --interval 0,100.")
    means = plan_means(epsilon=epsilon, n=n, limits=limits, top=top, **where)
    open_n = ("people",) if n is None else ()
    cells = [_mean_cells(d, n is None) for d in means.designs]
    return _show(out, means, (*open_n, "std. error", "evenly spread", "bytes"), cells, chart)


def _show(
    out: Output, found: PairPlan | Answer[Any], names: tuple[str, ...], cells: list[list[str]], chart: str | None
) -> int:
    """The chart if there is one, the answer, the designs with their numbers and reasons, and what is out."""
    if chart is not None:
        from deniable.present.export import save

        require(found.feasible, "chart", chart, "left out: there is no design to draw")
        out.note(f"drew {save(found.chart(), chart)}")
    parts: list[Table | str] = [found.message]
    if found.designs:
        head = (Column("design", wrap=True, most=20), *(Column(name, right=True) for name in names))
        why = Table((Column("design"), Column("why", wrap=True)), [[d.title, d.why] for d in found.designs])
        parts += [Table(head, cells), why]
    if found.out:
        parts += ["Out:", Table((Column("design"), Column("why not", wrap=True)), [list(row) for row in found.out])]
    out.show(found.document(), *parts)
    return 0 if found.feasible else 1


def _release_cells(d: ReleaseDesign) -> list[str]:
    return [
        d.title,
        f"{d.loss:.4g}",
        "unknown" if d.worst is None else f"{d.worst:.4g}",
        "unknown" if d.gap is None else percent(max(d.gap, 0.0), 1),
        f"{100 * d.asr:.3g} %",
        number(d.bytes),
    ]


def _mean_cells(d: MeanDesign, open_n: bool) -> list[str]:
    return [d.title, *[f"{d.n:,}"] * open_n, f"{d.stderr:.4g}", f"{d.stderr_mean:.4g}", number(d.bytes)]


def _pair_cells(d: PairDesign) -> list[str]:
    return [
        d.title,
        f"{100 * d.stderr:.3g} pt",
        f"{100 * d.rarest:.3g} %",
        "unknown" if d.gap is None else percent(max(d.gap, 0.0), 1),
        number(d.bytes),
        number(round(d.work)),
        f"{100 * d.poisoning:,.3g} pt",
    ]


def _parts(p: Plan) -> list[Table | str]:
    """The answer, the designs with their numbers, why each, and what is out."""
    parts: list[Table | str] = [p.message]
    if p.designs:
        parts += [_table(p), _reasons(p)]
    rows = [[o.title, o.reason] for o in p.out if not o.twin]
    if rows:
        more = f" ({len(rows) - _MOST_OUT} more with --json)" if len(rows) > _MOST_OUT else ""
        columns = (Column("design"), Column("why not", wrap=True))
        parts += [f"Out{more}:", Table(columns, rows[:_MOST_OUT])]
    return parts


def _table(p: Plan) -> Table:
    """One row per design, in percentage points; what the request leaves open stands beside it."""
    open_n, open_epsilon = p.request.n is None, p.request.epsilon is None
    head = [Column("design")]
    head += [Column("epsilon", right=True)] * open_epsilon + [Column("reports", right=True)] * open_n
    names = ("std. error", "above bound", "best guess", "bits", "bytes", "operations", "1 % forged")
    head += [Column(name, right=True) for name in names]
    return Table(tuple(head), [_cells(d, open_n, open_epsilon) for d in p.designs])


def _cells(d: Design, open_n: bool, open_epsilon: bool) -> list[str]:
    found = [f"{d.mechanism.epsilon:.6g}"] * open_epsilon + [f"{d.n:,}"] * open_n
    return [
        d.title,
        *found,
        f"{100 * d.stderr:.3g} pt",
        percent(max(d.gap, 0.0), 1),
        f"{100 * d.asr:.3g} %",
        number(round(d.bits, 1)),
        number(d.bytes),
        "unknown" if d.work is None else number(round(d.work)),
        "unknown" if d.poisoning is None else f"{100 * d.poisoning:,.3g} pt",
    ]


def _reasons(p: Plan) -> Table:
    return Table((Column("design"), Column("why", wrap=True)), [[d.title, d.why] for d in p.designs])
