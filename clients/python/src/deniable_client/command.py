"""The command `deniable-client`: read the terms of a task, take part, see what was spent, send, allow, forget."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deniable_client.canonical import BYTES_MAX
from deniable_client.device import plain
from deniable_client.errors import DeniableError, LedgerError, ParameterError, PrivacyError, show
from deniable_client.ledger import Ledger
from deniable_client.ledger.http import fetch
from deniable_client.questions import Question
from deniable_client.task import Task
from deniable_client.telling import say
from deniable_client.texts import printable, quoted

__all__ = ["main"]

_REFUSED, _BAD_USE = 1, 2
_PLACE = re.compile("(.*)/v1/tasks/([0-9a-f]{64})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 1 if something was refused, 2 if it was used wrongly."""
    given = _parser().parse_args(arguments)
    try:
        told, lines = given.run(given)
    except ParameterError as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return _BAD_USE
    except DeniableError as error:
        print(f"refused: {printable(str(error))}", file=sys.stderr)
        return _REFUSED
    except (KeyboardInterrupt, EOFError):
        print(f"\nstopped: {given.so_far}", file=sys.stderr)
        return _REFUSED
    try:
        print(json.dumps(told, indent=2) if given.json else "\n".join(lines), flush=True)
    except BrokenPipeError:  # whoever reads has read enough: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(given.code)


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--ledger", type=Path, metavar="PATH", help=f"file of the ledger (default: {_default()})")
    common.add_argument("--json", action="store_true", help="print data instead of sentences")
    common.set_defaults(so_far="nothing was spent or sent.", code=0)
    parser = argparse.ArgumentParser(
        prog="deniable-client",
        description="Answer questions with reports that can be denied; a ledger keeps what was spent and refuses more.",
        epilog="Ends with 0 if all went well, 1 if something was refused, 2 if the command was used wrongly.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[Any], Any], told: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=told, description=told, parents=[common])
        added.set_defaults(run=run)
        return added

    where = "a file, or an https address such as https://example.org/v1/tasks/ID"
    command("show", _show, "Say what a task asks and promises.").add_argument("task", metavar="TASK", help=where)
    answer = command("answer", _answer, "Take part in a task and answer it; asks on a terminal for what is not given.")
    answer.add_argument("task", metavar="TASK", help=where)
    answer.add_argument("--value", metavar="V", help="the answer: a label, a number, or KEY=NUMBER,KEY=NUMBER")
    answer.add_argument("--none", action="store_true", help="take part, and prefer not to say")
    answer.add_argument("--level", type=float, metavar="L", help="the protection that you choose, if there is a choice")
    answer.add_argument("--agree", nargs="+", metavar="LABEL", help="answers that the report may name")
    answer.add_argument("--stratum", nargs="+", default=[], metavar="NAME=VALUE", help="what is sent openly")
    answer.add_argument("--dealt", metavar="NAME", help="the question that the collector dealt to you")
    answer.add_argument("--url", metavar="URL", help="where to send it (default: where the task is from)")
    answer.add_argument("--send", action="store_true", help="send at once: its arrival tells when you answered")
    command("status", _status, "Say what was asked, what was sent and what is left.")
    allow = command("allow", _allow, "Allow more than the limits: places for collectors, or epsilon for one of them.")
    allow.add_argument("--places", type=int, default=0, metavar="N", help="places for so many collectors more")
    allow.add_argument("--task", metavar="TASK", help=f"a task of the collector: {where}")
    allow.add_argument("--epsilon", type=float, default=0, metavar="E", help="so much more for that collector")
    allow.add_argument("--url", metavar="URL", help="where the task is answered, if its collector signed no address")
    send = command("send", _send, "Send the reports whose random time has come.")
    send.add_argument("--url", metavar="URL", help="where to send those that were answered without an address")
    send.add_argument("--now", action="store_true", help="all that wait: their arrival tells when you answered")
    forget = command("forget", _forget, "Withdraw, and erase what was asked and sent; what was spent stays.")
    one = forget.add_mutually_exclusive_group(required=True)
    one.add_argument("--task", metavar="ID", help="everything about a task")
    one.add_argument("--question", metavar="KEY", help="everything about a question, in all tasks")
    one.add_argument("--all", action="store_true", help="everything")
    told = "Verify a design, task, report file, tally, release or certificate: ids recomputed, promises proved."
    check = command("verify", _verify, told)
    check.add_argument("file", metavar="FILE", help=f"{where}; - for standard input")
    check.add_argument("--diff", metavar="OTHER", help="say what changed from FILE to this one")
    command("export", _export, "Print everything that the ledger has about you, as JSON.")
    return parser


# ---- the commands: each gives data and lines


def _show(given: Any) -> tuple[Any, list[str]]:
    task, _ = _task(given.task)
    told = {"id": task.id, "terms": task.terms(), "task": task.document}
    return told, [f"Task {task.id}", "", *task.terms()]


def _answer(given: Any) -> tuple[Any, list[str]]:
    task, place = _task(given.task)
    ledger = _ledger(given)
    task.window(ledger.today())
    question = ledger.question(task, dealt=given.dealt)
    asks = sys.stdin.isatty() and not given.json
    if asks:
        print("\n".join(task.terms()))
        if input("Take part? [y/N] ").strip().lower() not in ("y", "yes"):
            raise PrivacyError("you do not take part; nothing was spent or sent.")
    elif given.value is None and not given.none:
        hint = "See deniable-client answer --help."
        raise ParameterError("--value or --none must be given where nobody can be asked.", hint)
    agreed = _agreed(question, given.agree, asks)
    strata = _strata(given.stratum)
    if asks:
        strata = ask_strata(task, strata)
    url = given.url or (place if task.url is None else None)
    receipt = ledger.take(task, level=given.level, harmless=agreed, strata=strata, dealt=given.dealt, url=url)
    given.so_far = _SO_FAR.format("without an answer")
    cost = receipt.cost
    value = _value(question, given, asks)
    if value is not None:
        receipt = ledger.answer(task, value, question=question.name)
        given.so_far = _SO_FAR.format("with your answer")
    sent = ledger.flush(task=task) if given.send else None
    told = asdict(receipt) | {"cost": cost, "flush": asdict(sent) if sent else None}
    paid = f"cost epsilon {cost:.12g}" if cost else "cost nothing more: this window was open before"
    said = "" if receipt.answered else " It is that of no answer."
    then = _sent_lines(sent) if sent else ["It waits for its random time; deniable-client send sends what is due."]
    return told, [f"Report {receipt.id} is written down; it {paid}.{said}", question.explanation.unread, *then]


_SO_FAR = (
    "you take part, {}; that is spent, and the report waits. deniable-client send sends it, "
    "deniable-client forget withdraws it."
)


def _value(question: Question, given: Any, asks: bool) -> object:
    """What a person says; None if they prefer not to."""
    if given.none:
        return None
    if given.value is not None:
        return read_value(question, given.value)
    if asks:
        print("\n" + say("question", text=quoted(question.text)))
    return ask_answer(question)


def _status(given: Any) -> tuple[Any, list[str]]:
    told = _ledger(given).overview()
    lines = ["Asked:" if told["asked"] else "Nothing was asked."]
    for task in told["asked"]:
        who = f" by {task['collector']}" if task["collector"] else ""
        lines.append(_shown(f"  {task['task'][:16]} {' / '.join(task['questions'])} (about {task['subject']}{who})"))
    lines.append("Reports: " + ", ".join(f"{count} {state}" for state, count in told["counts"].items()) + ".")
    for report in told["sent"]:
        why = f": {report['reason']}" if report["reason"] else ""
        lines.append(_shown(f"  {report['day']} {report['id']} {report['state']}{why}"))
    if told["lost"]["reports"]:
        lost = f"{told['lost']['reports']} reports, which cost epsilon {told['lost']['epsilon']:.12g}"
        lines.append(f"Not counted, and spent all the same: {lost}.")
    for place in told["places"]:
        who = place["collector"] or "a collector that was forgotten"
        amounts = f"{place['left']:.12g} of {place['most']:.12g} left (spent {place['spent']:.12g}, "
        amounts += f"reserved {place['reserved']:.12g})"
        ends = "ended on" if place["over"] else "until"
        lines.append(printable(f"Place of {who}: {amounts}, {ends} {place['ends']}."))
    left = told["left"]
    lines.append(f"Places for other collectors: {left['places']}; one more on {left['next']}.")
    lines.append(f"Spent in all: epsilon {left['spent']:.12g}.")
    return told, lines


def _allow(given: Any) -> tuple[Any, list[str]]:
    task, place = (None, None) if given.task is None else _task(given.task)
    url = given.url or (place if task is not None and task.url is None else None)
    _ledger(given).allow(places=given.places, task=task, epsilon=given.epsilon, url=url)
    what = [f"{given.places} places more"] * bool(given.places) + [f"epsilon {given.epsilon:.12g} more"] * bool(task)
    return {"places": given.places, "epsilon": given.epsilon}, [f"Allowed: {', '.join(what) or 'nothing more'}."]


def _send(given: Any) -> tuple[Any, list[str]]:
    sent = _ledger(given).flush(given.url, due=not given.now)
    return asdict(sent), _sent_lines(sent)


def _forget(given: Any) -> tuple[Any, list[str]]:
    ledger = _ledger(given)
    known = [task["task"] for task in ledger.overview()["asked"] if given.task and task["task"].startswith(given.task)]
    named = known[0] if len(known) == 1 else given.task
    erased = ledger.forget(named, question=given.question, everything=given.all)
    return {"erased": erased}, [f"Erased {erased} entries. What was spent stays written down."]


def _verify(given: Any) -> tuple[Any, list[str]]:
    from deniable_client.checking import verify_places  # for those who verify

    told, lines, holds = verify_places(given.file, given.diff)
    given.code = 0 if holds else _REFUSED
    return told, list(map(_shown, lines))


def _export(given: Any) -> tuple[Any, list[str]]:
    told = _ledger(given).export()
    return told, [json.dumps(told, indent=2)]


# ---- parts


def _shown(line: str) -> str:
    """A line with words of strangers in it, indented where it is one of several below another."""
    return f"{'  ' * line.startswith('  ')}{printable(line)}"


def _agreed(question: Question, given: Sequence[str] | None, asks: bool) -> Sequence[object] | None:
    """What a person agrees to disclose; `PrivacyError` without consent where it is needed."""
    agreed = ask_consent(question) if asks and not given else read_consent(question, given)
    if question.explanation.harmless and not agreed:
        raise PrivacyError(
            "this report may name your answer, and you did not agree to that; nothing was spent or sent. "
            + question.explanation.disclosure,
            "To agree, list exactly these answers with --agree.",
        )
    return agreed


def _sent_lines(sent: Any) -> list[str]:
    return [f"{sent.sent} sent, {sent.refused} refused, {sent.expired} expired, {sent.waiting} waiting."]


def _task(place: str) -> tuple[Task, str | None]:
    """A task and the collector's address, if it is from there."""
    if place.startswith(("http:", "https:")):
        found = _PLACE.fullmatch(place)
        document = fetch(place, 20, BYTES_MAX)
        return Task.load(document, expect=found[2] if found else None), found[1] if found else None
    try:
        return Task.load(Path(place).read_bytes()), None
    except OSError as error:
        if isinstance(error, DeniableError):
            raise
        raise ParameterError(
            f"TASK {place!r} cannot be read ({error.strerror}).", "Name a file or an address."
        ) from error


def _strata(given: Sequence[str]) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given]
    wrong = [name for name, sign, _ in pairs if not sign]
    if wrong:
        raise ParameterError(f"--stratum must be NAME=VALUE, got {wrong[0]!r}.")
    return {name: text for name, _, text in pairs}


def _default() -> Path:
    """Where the ledger is, if nobody says: below the folder for an application's data."""
    own = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(own) if own else Path.home() / ".local" / "share") / "deniable" / "ledger.db"


def _ledger(given: Any) -> Ledger:
    path = given.ledger or _default()
    if given.ledger is None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"the folder {path.parent} cannot be made ({error.strerror}).", "Use --ledger."
            ) from error
    return Ledger(path)


# ---- answers as people type them, and the questions that a terminal asks for what is not given


_LISTED_MAX = 50
"""Answers that are shown one by one."""


def read_value(question: Question, text: str) -> object:
    """What a text means as an answer: a label, a number, options with semicolons between, or pairs KEY=NUMBER.

    Itself if it means none of them; for options that nothing is ticked if there is nothing in it but spaces or a dash.

    No text is an error: whether a report is sent must not depend on it.
    """
    design = question.explanation.design
    if design.pairs:
        return [_pair(question, part) for part in text.split(",") if part.strip()]
    if design.domain.options is not None:
        parts = [part.strip() for part in text.split(";") if part.strip() not in ("", "-")]
        named = isinstance(question.design["domain"]["ticks"], list)
        return parts if named else [_number(part, int) for part in parts]
    return _plain(question, text)


def _plain(question: Question, text: str) -> object:
    if question.labels is not None:
        return text
    return _number(text, float if question.explanation.design.domain.border is not None else int)


def _pair(question: Question, text: str) -> tuple[object, object]:
    key, _, number = text.rpartition("=")
    return _plain(question, key.strip()), _number(number, float)


def _number(text: str, kind: Callable[[str], float]) -> float | str:
    try:
        return kind(text)
    except ValueError:
        return text


def read_consent(question: Question, given: Sequence[str] | None) -> list[object] | None:
    """The answers that a person agrees to disclose: labels, numbers, or LOW:HIGH for numbers of an interval."""
    if not given:
        return None
    if question.explanation.design.domain.border is None:
        return [_plain(question, text) for text in given]
    pairs = [text.partition(":") for text in given]
    return [(_number(low, float), _number(high, float)) for low, _, high in pairs]


def ask_consent(question: Question) -> Sequence[object] | None:
    """Ask whether the answers that a report may name may be named."""
    harmless = question.explanation.harmless
    if not harmless:
        return None
    print(printable(question.explanation.disclosure))
    agreed = input("Do you agree to that? [y/N] ").strip().lower() in ("y", "yes")
    return harmless if agreed else None


def ask_strata(task: Task, given: Mapping[str, str]) -> dict[str, str]:
    """Ask for the strata that are not given yet."""
    missing = [name for name in task.strata if name not in given]
    return {**given, **{name: _choose(f"{name} (sent openly)", task.strata[name]) for name in missing}}


def ask_answer(question: Question) -> object:
    """Ask for the answer until it is one, or the person prefers not to say: None."""
    pairs, ticks = question.explanation.design.pairs, question.explanation.design.domain.options is not None
    if not pairs and not ticks and question.labels is not None and len(question.labels) <= _LISTED_MAX:
        chosen = _choose("Your answer", (_RATHER_NOT, *question.labels))
        return None if chosen is _RATHER_NOT else chosen
    told = "KEY=NUMBER,KEY=NUMBER" if pairs else "a label" if question.labels else "a number"
    if ticks:
        for option in question.labels or ():
            print(f"  {printable(option)}")
        told = f"at most {question.design['domain']['most']} of these with semicolons between, - for none"
    device = question.device(question.explanation.harmless or None)
    while text := input(f"Your answer (nothing if you {_RATHER_NOT}, else {told}): ").strip():
        value = read_value(question, text)
        if device.known(question.value(plain(value))) is not None:
            return value
        print(f"This question has no answer {show(text)}.")
    return None


_RATHER_NOT = "prefer not to say"


def _choose(what: str, listed: Sequence[str]) -> Any:
    for number, label in enumerate(listed, start=1):
        print(f"  {number}  {printable(label)}")
    while True:
        text = input(f"{what}, 1 to {len(listed)}: ").strip()
        if text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= len(listed):
            return listed[int(text) - 1]
        print(f"Please type a number from 1 to {len(listed)}.")
