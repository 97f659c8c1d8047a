"""Verify a design, a task, reports, a tally, a release or a certificate: ids recomputed, promises proved, in words."""

from __future__ import annotations

import binascii
import io
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, BinaryIO

from deniable_client.canonical import BYTES_MAX, digest, parse
from deniable_client.checking.binary import MAGIC, read_binary
from deniable_client.device import explain
from deniable_client.errors import DeniableError, FormatError, show
from deniable_client.exact import exp_bounds, fraction_of, log_upper
from deniable_client.explanation import Explanation
from deniable_client.task import Task

__all__ = ["Verdict", "verify"]

_DIGITS_MAX = 20_000
"""Digits of a fraction that is read."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file is, whether all of it is as it says, and why."""

    kind: str
    holds: bool
    lines: tuple[str, ...]
    """For people."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] | None = None
    """What was read, where it is JSON or has a header."""

    def told(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": self.kind, "holds": self.holds, **self.facts, "lines": list(self.lines)}


def verify(source: bytes | BinaryIO, *, expect: str | None = None) -> Verdict:
    """Check a file from its bytes, or from a stream of them. `expect` is the id that a task should have.

    `FormatError` for what is none of the kinds that are known; what is one of them and is not as it says has a verdict.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    start = stream.read(4)
    if start in MAGIC:
        return _binary(start, stream)
    data = start + stream.read(BYTES_MAX + 1 - len(start))
    document = parse(data, "the file")
    name = _inner(document)
    return _json(document, expect) if name is None else _beside(name, document, _json(document[name], expect))


_TASK = {"signature", "collector", "window", "sending", "min_batch", "questions"}
"""Fields that a task has and nothing else: what has one of them is held against all that a task must have."""
_CLAIMED = ("mechanism", "epsilon", "epsilon_exact", "id")


def _inner(document: Mapping[str, Any]) -> str | None:
    """The name of a task or a design that a command printed together with other things."""
    if "questions" in document:
        return None
    names = ("task",) if _TASK & set(document) else ("task", "design")
    return next((name for name in names if isinstance(document.get(name), Mapping)), None)


def _beside(name: str, document: Mapping[str, Any], found: Verdict) -> Verdict:
    """What stands beside a task or a design must not say something else; what cannot be held against it is named."""
    others = [other for other in document if other != name and other not in _CLAIMED]
    for claim in _CLAIMED if found.holds else ():
        if claim in document and claim in found.facts and document[claim] != found.facts[claim]:
            told = f"beside the {name} the file says {claim} {show(document[claim])}; the {name} has "
            told = f"{told}{show(found.facts[claim])}."
            facts = {"why": told, "error": "FormatError"}
            return Verdict(found.kind, False, (f"This {found.kind} does NOT hold.", told), facts, found.document)
    if not others:
        return found
    lines = (*found.lines, f"Only the {name} was verified, not what stands beside it: {show(sorted(others)[:8])}.")
    return Verdict(found.kind, found.holds, lines, found.facts, found.document)


def _json(document: Mapping[str, Any], expect: str | None) -> Verdict:
    if "questions" in document and "window" in document and "state" in document:
        return _guarded("release", document, lambda: _release(document))
    if isinstance(document.get("windows"), list) and "questions" not in document:
        return _guarded("releases", document, lambda: _releases(document))
    if {"questions", "signature"} & set(document):
        return _guarded("task", document, lambda: _task(document, expect))
    if "mechanism" in document and ("kernel" in document or "parts" in document):
        return _guarded("design", document, lambda: _design(document))
    if {"ratio", "epsilon", "witness"} <= set(document):
        return _guarded("certificate", document, lambda: _certificate(document))
    hint = "Known are designs, tasks, report and tally files, releases and certificates."
    raise FormatError(f"the file is none of what can be verified: it has {show(sorted(document)[:8])}.", hint)


def _guarded(kind: str, document: Mapping[str, Any] | None, check: Any) -> Verdict:
    """The verdict of a check; what it refuses is a verdict, too."""
    try:
        lines, facts = check()
    except DeniableError as error:
        told = (f"This {kind} does NOT hold.", str(error))
        return Verdict(kind, False, told, {"why": error.message, "error": type(error).__name__}, document)
    return Verdict(kind, True, tuple(lines), facts, document)


def _design(document: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    found = explain(document)
    id = digest(document)
    return [f"This design of {document['mechanism']} holds: id {id}.", *_proved(found)], {"id": id, **_facts(found)}


def _proved(found: Explanation) -> list[str]:
    exact = f"exact epsilon {found.epsilon!r}, promised {found.design.epsilon!r}"
    return [f"Its promise is proved from its whole numbers: {exact}.", *found.text.splitlines()]


def _facts(found: Explanation) -> dict[str, Any]:
    return {
        "mechanism": found.design.name,
        "epsilon": found.design.epsilon,
        "epsilon_exact": found.epsilon,
        "ratio": f"{found.ratio.numerator}/{found.ratio.denominator}",
    }


def _task(document: Mapping[str, Any], expect: str | None) -> tuple[list[str], dict[str, Any]]:
    task = Task.load(document, expect=expect)
    signed = "not signed (version 1)" if task.key is None else f"signed by the key {task.key[:16]}..."
    lines = [f"This task holds: its content has the id {task.id}, {signed}."]
    asked = []
    for question in task.questions:
        found = question.explanation
        lines.append(f"{question.name}: exact epsilon {found.epsilon!r}, promised {found.design.epsilon!r}.")
        asked.append({"question": question.name, **_facts(found)})
    facts = {"id": task.id, "version": task.version, "signed": task.key is not None, "questions": asked}
    return [*lines, *task.terms()], facts


def _binary(start: bytes, stream: BinaryIO) -> Verdict:
    kind = MAGIC[start]
    header: dict[str, Any] = {}

    def check() -> tuple[list[str], dict[str, Any]]:
        found = read_binary(start, stream)
        header.update(found.header)
        told = explain(found.header["design"])
        made = "SIMULATED: not private. " if found.header["simulated"] else ""
        lines = [
            f"This {kind} file holds: {found.n:,} reports, all check sums fit. {made}".rstrip(),
            f"Its design has the id {digest(found.header['design'])}.",
            *_proved(told),
        ]
        facts = {"design": digest(found.header["design"]), "reports": found.n, "simulated": found.header["simulated"]}
        return lines, facts | _facts(told)

    verdict = _guarded(f"{kind} file", None, check)
    return Verdict(kind, verdict.holds, verdict.lines, verdict.facts, header or None)


def _release(document: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Counts, tallies and certificates of a window: each tally's design is proved, and must say what was certified."""
    lines = [f"This release holds: window {show(document['window'])} of the task {show(document.get('task'))}."]
    total = 0
    questions = document["questions"]
    if not isinstance(questions, list) or not all(isinstance(each, Mapping) for each in questions):
        raise FormatError("questions of a release must be a list of what is told about each.")
    for told in questions:
        name, reports = told.get("question"), told.get("reports")
        total += reports if isinstance(reports, int) else 0
        if told.get("state") != "published":
            lines.append(f"{show(name)}: nothing is published: {show(told.get('why'))}.")
            continue
        if "tally" not in told:  # as a collector's address tells it
            certified = told.get("privacy")
            if not isinstance(certified, Mapping) or not {"ratio", "epsilon"} <= set(certified):
                raise FormatError(f"the release has no certificate of {show(name)}.")
            exact = _certificate(certified)[1]["epsilon_exact"]
            lines.append(
                f"{show(name)}: {show(reports)} reports; its certificate, exact epsilon {exact!r}, agrees with"
            )
            lines[-1] += " itself. Its tally is not in the file: verify the task, which proves it."
            continue
        found, n = _counted(told)
        if n != reports:
            raise FormatError(f"the release says {show(reports)} reports of {show(name)}; its tally counts {n:,}.")
        _matches(told.get("privacy"), found, name)
        lines.append(f"{show(name)}: {n:,} reports, exact epsilon {found.epsilon!r}, as certified.")
    if total != document.get("reports"):
        raise FormatError(f"the release says {show(document.get('reports'))} reports in all; its parts have {total:,}.")
    return lines, {"task": document.get("task"), "window": document["window"], "reports": total}


def _releases(document: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    lines, windows = [], 0
    for each in document["windows"]:
        inside = each.get("document", each) if isinstance(each, Mapping) else {}
        if isinstance(inside, Mapping) and "questions" in inside:
            lines += _release(inside)[0]
            windows += 1
    if not windows:
        raise FormatError("none of its windows is published: there is nothing to verify.")
    return lines, {"windows": windows}


def _counted(told: Mapping[str, Any]) -> tuple[Explanation, int]:
    try:
        data = b64decode(told["tally"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise FormatError("a published question must have its tally, as base64.") from error
    if data[:4] != b"DNTL":
        raise FormatError("what is published as a tally is none.")
    found = read_binary(b"DNTL", io.BytesIO(data[4:]))
    return explain(found.header["design"]), found.n


def _matches(certified: Any, found: Explanation, name: Any) -> None:
    """What a certificate says must be what its tally's design proves."""
    if not isinstance(certified, Mapping):
        raise FormatError(f"the release has no certificate of {show(name)}.")
    own = _facts(found)
    for part in ("mechanism", "epsilon", "epsilon_exact", "ratio"):
        if certified.get(part) != own[part]:
            raise FormatError(
                f"the certificate of {show(name)} says {part} {show(certified.get(part))}; its tally's design has "
                f"{show(own[part])}."
            )


def _certificate(document: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Its numbers must fit each other: the ratio is within e^epsilon, and the exact epsilon is its logarithm."""
    ratio, epsilon = _fraction(document["ratio"]), document["epsilon"]
    if not isinstance(epsilon, int | float) or isinstance(epsilon, bool) or not 0 < epsilon <= 700:
        raise FormatError(f"epsilon of a certificate must be a number > 0, got {show(epsilon)}.")
    low = exp_bounds(float(epsilon))[0]
    if ratio > low:
        told = f"the ratio {float(ratio):.6g} is above e^{epsilon:g}, {float(low):.6g}"
        raise FormatError(f"the certificate breaks its own promise: {told}.")
    exact = document.get("epsilon_exact")
    if exact != log_upper(ratio):
        raise FormatError(
            f"the exact epsilon of this ratio is {log_upper(ratio)!r}, the certificate says {show(exact)}."
        )
    lines = [
        f"This certificate agrees with itself: the ratio {float(ratio):.6g} is within e^{epsilon:g}, and its exact "
        f"epsilon is {exact!r}.",
        f"It is proved by the task that it names: verify that one, too ({show(document.get('task'))}).",
    ]
    return lines, {"task": document.get("task"), "epsilon": epsilon, "epsilon_exact": exact, "proved": False}


def _fraction(given: Any) -> Fraction:
    try:
        fits = isinstance(given, str) and len(given) <= _DIGITS_MAX
        found = fraction_of(given) if fits else None
    except (ValueError, ZeroDivisionError):
        found = None
    if found is None or found < 1:
        raise FormatError(f"ratio of a certificate must be a fraction >= 1 as text, got {show(given)}.")
    return found
