"""A client in any language against the vectors: a program that answers questions, a JSON object a line.

What each question asks for, and in which order to build a client, is in docs/howto/conformance.md.
"""

from __future__ import annotations

import json
import queue
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.errors import ParameterError, require
from deniable_client.texts import quoted

__all__ = ["SETS", "Told", "ask_all", "kinds_of", "questions_of", "vectors_in"]

Document = Mapping[str, Any]

_LINE_MAX = 1 << 22
"""Characters of an answer; more is no answer."""
_TOLD_MAX = 160
_KINDS = {"format": "FormatError", "privacy": "PrivacyError", "window": "WindowError"}


@dataclass(frozen=True)
class _Question:
    """What is asked, and what a right answer has in it."""

    about: str
    ask: Document
    want: Document


@dataclass
class Told:
    """What came of one set of questions."""

    name: str
    asked: int = 0
    right: int = 0
    unsupported: int = 0
    wrong: list[str] = field(default_factory=list)
    """The first few wrong answers, in words."""

    @property
    def holds(self) -> bool:
        """Whether all answers were right."""
        return 0 < self.asked == self.right


# ---- what is asked


def vectors_in(folder: Path) -> dict[str, Any]:
    """All files of vectors in a folder, by their names; `ParameterError` if there are none."""
    files = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    if not {"hash", "packing", "tasks"} <= set(files):
        hint = "Give the folder clients/vectors of the source tree of this version."
        raise ParameterError(f"vectors must be a folder with the test vectors, got {quoted(str(folder))}.", hint)
    return files


def questions_of(files: Mapping[str, Any], name: str, kinds: Collection[str] = ()) -> Iterator[_Question]:
    """The questions of one of `SETS`; with `kinds`, of those about a kernel only the ones about these."""
    asked = SETS[name](files)
    return (each for each in asked if kinds_of(each) <= set(kinds)) if kinds else asked


def kinds_of(question: _Question) -> set[str]:
    """The kinds of the kernel that a question is about, and of what that is made of; none for other questions."""
    found, todo = set(), [question.ask.get("kernel")]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            found |= {part["kind"]} if "kind" in part else set()
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return found


def _packing(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["packing"]["bits"]:
        yield _question(f"items {row['items']} of {row['k']}", "bits", row, ("k", "items"), ("bytes", "width"))
    for row in files["packing"]["integers"]:
        about = f"{row['value']} of {row['count']}"
        yield _question(about, "integer", row, ("value", "count"), ("bytes", "width"))


def _hash(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["hash"]["cases"]:
        ask = {"do": "hash", "seed": row["seed"], "item": row["item"], "parts": list(row["buckets"])}
        want = {"hash": row["hash"], "buckets": list(row["buckets"].values())}
        yield _Question(f"item {row['item']} under seed {row['seed']}", ask, want)


def _promise(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["promise"]["cases"]:
        epsilon = row["epsilon"]
        if "bounds" in row:
            low = row["bounds"]["low"]
            yield _Question(f"the lower bound of e^{epsilon}", {"do": "bound", "epsilon": epsilon}, {"low": low})
        else:
            yield _judged(row["kernel"], epsilon, None, kept=row["accept"])


def _kernels(files: Mapping[str, Any]) -> Iterator[_Question]:
    for name, file in files.items():
        if name != "dealt" and _has_reports(file):
            yield from _of_kernels(name, file["cases"])


def _has_reports(file: Any) -> bool:
    cases = file.get("cases")
    return bool(cases) and isinstance(cases, list) and "reports" in cases[0]


def _of_kernels(name: str, cases: Sequence[Document]) -> Iterator[_Question]:
    for i, case in enumerate(cases):
        kernel, epsilon, budgets = case["kernel"], case["epsilon"], case.get("budgets")
        about = f"{name}, case {i}"
        ratio = [case["ratio"]["numerator"], case["ratio"]["denominator"]]
        yield _Question(about, {"do": "kernel", "kernel": kernel}, {"width": case["width"], "ratio": ratio})
        yield _judged(kernel, epsilon, budgets, kept=True)
        if case.get("leaks"):
            yield _judged(case["leaks"], epsilon, budgets, kept=False)
        for j, row in enumerate(case["reports"]):
            ask = {"do": "randomise", "kernel": kernel} | {key: row[key] for key in row if key != "report"}
            yield _Question(f"{about}, report {j}", ask, {"report": row["report"], "used": len(row["words"])})


def _judged(kernel: Document, epsilon: float, budgets: Any, *, kept: bool) -> _Question:
    ask = {"do": "judge", "kernel": kernel, "epsilon": epsilon} | ({"budgets": budgets} if budgets else {})
    about = f"{kernel['kind']} at epsilon {epsilon}, {'kept' if kept else 'broken'}"
    return _Question(about, ask, {"kept": True} if kept else {"error": "PrivacyError"})


def _dealt(files: Mapping[str, Any]) -> Iterator[_Question]:
    yield from _of_kernels("dealt", files["dealt"]["cases"])
    for i, case in enumerate(files["dealt"]["cases"]):
        for row in case["deals"]:
            yield _question(f"deal {i}", "deal", row | {"kernel": case["kernel"]}, ("kernel", "words"), ("part",))
        for row in case["frames"]:
            given = row | {"kernel": case["kernel"]}
            yield _question(f"frame {i}", "frame", given, ("kernel", "part", "report"), ("framed",))


def _canonical(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["canonical"]["numbers"]:
        yield _question(f"the number {row['bits']}", "number", row, ("bits",), ("canonical",))
    for row in files["canonical"]["cases"]:
        yield _question(row["text"][:40], "canonical", row, ("text",), ("canonical",))
    yield from _refused("canonical", files["canonical"]["refused"])


def _signatures(files: Mapping[str, Any]) -> Iterator[_Question]:
    for rows, holds in (("good", True), ("bad", False)):
        for row in files["signatures"][rows]:
            given = row | {"holds": holds}
            yield _question(row["about"], "signature", given, ("key", "message", "signature"), ("holds",))


def _designs(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["hostile"]["good"]:
        given = row | {"epsilon": row["design"]["epsilon"]}
        yield _question(row["about"], "design", given, ("design", "harmless"), ("epsilon",))
    for row in [*files["hostile"]["cases"], *files["dealt"]["refused"]]:
        ask = {"do": "design", "design": row["design"], "harmless": row["harmless"]}
        yield _Question(row["about"], ask, {"error": _KINDS[row["error"]]})


def _sentences(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["dealt"]["good"]:
        yield _question(row["about"], "explain", row, ("design",), ("text", "several"))


def _texts(files: Mapping[str, Any]) -> Iterator[_Question]:
    for row in files["texts"]["texts"]:
        yield _question(ascii(row["text"])[:40], "text", row, ("text",), ("fault", "prose"))
    for row in files["texts"]["labels"]:
        yield _question(ascii(row["labels"])[:40], "labels", row, ("labels",), ("fault", "keys"))


def _tasks(files: Mapping[str, Any]) -> Iterator[_Question]:
    tasks = files["tasks"]
    told = ("id", "width", "question_at", "strata_at", "expires", "questions")
    for row in tasks["good"]:
        given = row | {"text": json.dumps(row["task"]), "id": row["task"]["id"]}
        yield _question(row["about"], "task", given, ("text",), told)
    for row in tasks["spellings"]:
        given = row | {"id": tasks["days"]["task"]["id"]}
        yield _question(row["about"], "task", given, ("text",), ("id",))
    for version in ("days", "days2"):
        text = json.dumps(tasks[version]["task"])
        for row in tasks[version]["cases"]:
            want = {"error": _KINDS[row["error"]]} if "error" in row else {"window": row["window"]}
            yield _Question(
                f"the window of {row['today']}", {"do": "window", "text": text, "today": row["today"]}, want
            )
    yield from _refused("task", tasks["cases"])


def _reports(files: Mapping[str, Any]) -> Iterator[_Question]:
    tasks = {row["about"]: row for row in files["tasks"]["good"]}
    ledger = files["ledger"]
    for row in ledger["derived"]:
        task = tasks[row["task"]]
        given = row | {"key": row["report_key"], "secret": ledger["secret"], "harmless": task["harmless"]}
        given |= {"text": json.dumps(task["task"])}
        asked = ("text", "secret", "harmless", "question", "value", "level", "window", "strata")
        yield _question(row["task"], "report", given, asked, ("answer", "key", "report", "body", "id"))
    for name, question in (("task", "question"), ("task2", "question2")):
        text = json.dumps(ledger["deals"][name])
        for row in ledger["deals"]["cases"]:
            ask = {"do": "dealt", "text": text, "secret": row["secret"]}
            yield _Question("the question that a secret deals", ask, {"question": row[question]})


def _refused(do: str, rows: Sequence[Document]) -> Iterator[_Question]:
    for row in rows:
        text = row["start"] + row["fill"] * row["count"] + row["end"] if "fill" in row else row.get("text")
        given = {"text": text} if text is not None else {"base64": row["base64"]}
        yield _Question(row["about"], {"do": do, **given}, {"error": _KINDS[row["error"]]})


def _question(about: str, do: str, row: Document, asked: Sequence[str], wanted: Sequence[str]) -> _Question:
    return _Question(about, {"do": do} | {key: row[key] for key in asked}, {key: row[key] for key in wanted})


SETS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[_Question]]] = {
    "packing": _packing,
    "hash": _hash,
    "promise": _promise,
    "kernels": _kernels,
    "dealt": _dealt,
    "canonical": _canonical,
    "designs": _designs,
    "signatures": _signatures,
    "texts": _texts,
    "tasks": _tasks,
    "reports": _reports,
    "sentences": _sentences,
}
"""Sets of questions by name, in the order in which a client is best built."""


# ---- asking


class _Program:
    """A client that runs beside us; what it writes is read by a thread, so that silence ends."""

    def __init__(self, command: str, seconds: float) -> None:
        words = shlex.split(command)
        require(bool(words), "command", command, "a program and its arguments, such as 'node conformance.js'")
        self._seconds, self._errors = seconds, tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, encoding="utf-8"
            )
        except OSError as error:
            self._errors.close()
            raise ParameterError(
                f"command {quoted(command)} cannot be run: {error.strerror}.", "See its name and path."
            ) from error
        self._lines: queue.Queue[str] = queue.Queue(16)  # one that never stops writing waits
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError):  # bytes that are no text, or a pipe that was closed: it ends, as an end is
            while line := self._process.stdout.readline(_LINE_MAX):
                self._lines.put(line)
        self._lines.put("")

    def asked(self, ask: Document) -> Any:
        """The answer to a question; `ParameterError` where the program is over or says nothing in time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(ask) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=self._seconds)
        except queue.Empty:
            raise self._lost(f"said nothing for {self._seconds:g} seconds") from None
        except OSError:
            line = ""
        if not line:
            self._process.wait(self._seconds)
            raise self._lost(f"ended with code {self._process.returncode}")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return line

    def _lost(self, what: str) -> ParameterError:
        self._errors.seek(0)
        said = self._errors.read(1 << 20).decode("utf-8", "replace").strip().splitlines()
        last = f" Its last words: {said[-1][:_TOLD_MAX]}" if said else ""
        return ParameterError(f"the client {what}.{last}", "It reads a line and answers with one, for each question.")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        while self._reader.is_alive():
            with suppress(queue.Empty):  # it ends by itself once there is room
                self._lines.get(timeout=0.01)
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(OSError):  # what was not written any more
                if pipe is not None:
                    pipe.close()


def ask_all(
    command: str,
    files: Mapping[str, Any],
    names: Sequence[str] = (),
    *,
    kinds: Collection[str] = (),
    seconds: float = 60,
    shown: Callable[[str, int], None] = lambda name, asked: None,
) -> Iterator[Told]:
    """Put the questions of all sets, or of the named ones, to a program; what came of each set.

    `kinds`: of questions about kernels only those about these. `seconds`: for one answer. `shown` is told of progress.
    `ParameterError` where the program cannot be run, ends or says nothing.
    """
    program = _Program(command, seconds)
    number = 0
    try:
        for name in names or SETS:
            told = Told(name)
            for question in questions_of(files, name, kinds):
                number += 1
                found = program.asked({"n": number, **question.ask})
                told.asked += 1
                _take(told, number, question, found)
                shown(name, told.asked)
            yield told
    finally:
        program.close()


def _take(told: Told, number: int, question: _Question, found: Any) -> None:
    if isinstance(found, dict) and found.get("n") == number:
        fits = all(key in found and _same(found[key], value) for key, value in question.want.items())
        if fits and ("error" in question.want or "error" not in found):
            told.right += 1
            return
        if found.get("error") == "unsupported":
            told.unsupported += 1
            return
        got = {key: found[key] for key in [*question.want, "error"] if key in found}
    else:
        got = found
    if len(told.wrong) < 3:
        told.wrong.append(f"{question.about}: {_short(got)} instead of {_short(question.want)}")


def _same(found: Any, wanted: Any) -> bool:
    """Equal as JSON: a number is no truth value."""
    return json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True) or (
        type(found) in (int, float) and type(wanted) in (int, float) and found == wanted
    )


def _short(part: Any) -> str:
    text = json.dumps(part)
    return text if len(text) <= _TOLD_MAX else f"{text[:_TOLD_MAX]}..."
