"""Deals of a part: kernels, their draws and frames, and designs of parts; `make.py` writes them to `dealt.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from task_cases import DESIGNS, question, task  # it stands beside this file

from deniable_client import Device, explain
from deniable_client.exact import exp_bounds
from deniable_client.kernels import (
    Dealt,
    Hashing,
    Interval,
    Personal,
    Response,
    Subset,
    Table,
    Unary,
    Utility,
    kernel_to,
    promised_ratio,
)
from deniable_client.words import ReplayWords, below

WORD = 1 << 64


def table(epsilon: float) -> Table:
    """Two values and three outputs."""
    low = exp_bounds(epsilon)[0]
    other = -int(-WORD // (low + 2))
    return Table(((WORD - 2 * other, other, other), (other, other, WORD - 2 * other)))


def dealt_kernels() -> list[tuple[float, Dealt]]:
    """Deals of two and more parts, with reports of different lengths, some that disclose, and levels."""
    levels = Personal((Response.calibrate(0.5, 3), Response.calibrate(1.0, 3)), (Response.calibrate(0.5, 2),))
    named = Utility.null(1.0, 6, (0, 2, 4, 5), (Response.calibrate(1.0, 3),))
    many = tuple(Response.calibrate(0.5, 2) for _ in range(30))
    return [
        (1.0, Dealt((Response.calibrate(1.0, 3), Subset.calibrate(1.0, 5, 2)), (1, 2))),
        (2.0, Dealt((Subset.calibrate(2.0, 20, 3), Response.calibrate(2.0, 4)), (5, 1))),
        (
            2.0,
            Dealt(
                (Response.calibrate(2.0, 4), Unary.calibrate(2.0, 8, WORD // 2), Interval.calibrate(2.0, 9, 2)),
                (3, 1, 2),
            ),
        ),
        (1.0, Dealt((Response.calibrate(1.0, 300), table(1.0), Hashing.calibrate(1.0, 10, 3)), (1, 1, 1))),
        (1.0, Dealt((named, Response.calibrate(1.0, 2)), (1, 1))),
        (1.0, Dealt((levels, Response.calibrate(1.0, 2)), (1_000_000, 999_999))),
        (1.0, Dealt((Response.calibrate(1.0, 2), Response.calibrate(1.0, 2)), (1, WORD - 1))),
        (0.5, Dealt(many, tuple(range(1, 31)))),
    ]


def edges(shares: tuple[int, ...]) -> list[int]:
    """The first and the last word that draw each part, of those that are not drawn again; and one that is, if any."""
    total, found = sum(shares), []

    def drawn(word: int) -> int | None:
        return word * total >> 64 if word * total % WORD >= WORD % total else None

    for start, end in zip((0, *accumulate(shares)), accumulate(shares), strict=False):
        first, last = -(-start * WORD // total), -(-end * WORD // total) - 1
        found += [first if drawn(first) is not None else first + 1, last]
    again = [0] if drawn(0) is None else []
    return [word for word in dict.fromkeys(found) if 0 <= word < WORD and drawn(word) is not None] + again


def deals(kernel: Dealt) -> list[dict[str, Any]]:
    """Words, and the part that they deal."""
    made = []
    for word in edges(kernel.shares):
        given = [word, *[WORD // 2 + 1] * (word == 0 and WORD % sum(kernel.shares) > 0)]
        part = kernel.deal(ReplayWords(given))
        assert below(sum(kernel.shares), ReplayWords(given)) < list(accumulate(kernel.shares))[part]
        made.append({"words": [f"{each:016x}" for each in given], "part": part})
    return made


def dealt_vectors(recorded: Callable[..., Any], leaking: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Kernels with their reports, deals and frames."""
    cases = []
    for number, (epsilon, kernel) in enumerate(dealt_kernels()):
        own, found, reports = kernel_to(kernel), promised_ratio(kernel), []
        for place, record in enumerate(records(kernel)):
            for i, first in enumerate([(), *((word,) for word in edges(kernel.shares)[:12])]):
                words = recorded(10_000 * number + 100 * place + i, first)
                report = kernel.randomise(record, words)
                used = [f"{word:016x}" for word in words.used]
                reports.append({"value": record, "words": used, "report": report.hex()})
        frames = []
        for part, inner in enumerate(kernel.parts):
            report = bytes(range(1, inner.width + 1))
            frames.append({"part": part, "report": report.hex(), "framed": kernel.frame(part, report).hex()})
        ratio = {"numerator": str(found.numerator), "denominator": str(found.denominator)}
        about = {"epsilon": epsilon, "kernel": own, "ratio": ratio, "width": kernel.width, "leaks": leaking(own)}
        cases.append(about | {"reports": reports, "deals": deals(kernel), "frames": frames})
    text = "words are used in order; a value has an input for each part; each report is bytes in hexadecimal; "
    text += "deals: the part that words draw; frames: a part's report as one of the whole; "
    text += "leaks: the same kernel with a larger ratio, to be refused; good: designs of parts, with what is told of "
    text += "one report and of several (exact: their ratio, how sure of an answer they make, how often one is named), "
    text += "and reports of a person's values; refused: designs that are none, or leak"
    text += "; tasks: to be refused, since a question asks for one part"
    made = {"about": text, "cases": cases, "good": list(good_designs(recorded)), "refused": list(refused_designs())}
    return made | {"tasks": list(refused_tasks())}


def records(kernel: Dealt) -> Iterator[list[int]]:
    """The first and the last inputs of all parts, and some in between."""
    yield [0 for _ in kernel.parts]
    yield [part.k - 1 for part in kernel.parts]
    yield [part.k // 2 for part in kernel.parts]


# ---- designs of parts


def parts(*names: str, shares: Any = None, **changes: Any) -> dict[str, Any]:
    """A design that deals some of the good ones."""
    own = [DESIGNS[name]["design"] for name in names]
    made = {"mechanism": "dealt", "version": 1, "epsilon": 1, "shares": shares or [1] * len(own), "parts": own}
    return made | changes


VALUES: dict[str, list[Any]] = {
    "labels": ["a", "else"],
    "a grid": [0.1, 1],
    "kv-ss2": [[], [[0, 0.5], [1, -1]]],
    "privkv": [[[0, 0.5]], [[1, -1]]],
    "places": ["a", "b"],
}
"""What people say, where it is not 0 or 1."""


def good_designs(recorded: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """Designs of parts of many kinds: labels, numbers, pairs, levels, answers that may be named."""
    for number, (names, more) in enumerate(
        (
            (("grr", "ss"), {"shares": [1, 2]}),
            (("grr", "oue", "lh"), {"shares": [3, 1, 2]}),
            (("labels", "a grid"), {"epsilon": 1.5}),
            (("kv-ss2", "privkv", "places"), {"version": 1.0, "shares": [1.0, 1_000_000, 7]}),
            (("urr", "grr"), {}),
            (("uss", "grr", "one protected answer"), {"shares": [1, 1, 2]}),
            (("pldp", "uue-levels"), {"epsilon": 5}),
            (("grr", "grr"), {"epsilon": 1000}),
            (("box", "grr", "ss"), {"shares": [5, 1, 2]}),
        )
    ):
        design = parts(*names, **more)
        found = explain(design)
        harmless = [numbers(part.disclosed) for part in found.parts] if found.harmless else None
        device = Device(design, harmless=found.harmless)
        reports = []
        for place in range(2):
            value = [VALUES.get(name, [0, 1])[place] for name in names]
            for i, word in enumerate(edges(device.kernel.shares)):
                words = recorded(100 * number + 10 * place + i, (word,))
                report = device.report(value, words)
                used = [f"{each:016x}" for each in words.used]
                reports.append({"value": value, "words": used, "report": report.hex()})
        twelve = found.over(12)
        told = {"epsilon": found.epsilon, "text": found.text, "several": twelve.text, "unread": found.unread}
        told["exact"] = [f"{each.numerator}/{each.denominator}" for each in (twelve.ratio, twelve.sure, twelve.named)]
        about = ", ".join(names)
        yield {"about": about, "harmless": harmless, "design": design, **told, "width": device.kernel.width} | {
            "reports": reports
        }


def numbers(ends: tuple[int, ...]) -> list[int] | None:
    """The numbers of half-open ranges; None if there are none."""
    return [x for start, end in zip(ends[::2], ends[1::2], strict=True) for x in range(start, end)] or None


def refused_designs() -> Iterator[dict[str, Any]]:
    """Designs of parts that are none, promise too much, or name answers without consent."""
    good = parts("grr", "grr")
    one = good["parts"][0]
    leaks = one | {"kernel": one["kernel"] | {"keep": "13485650502877570763"}}
    for about, error, changes in (
        ("one part", "format", {"parts": [one], "shares": [1]}),
        ("no parts", "format", {"parts": [], "shares": []}),
        ("parts that are no list", "format", {"parts": one}),
        ("shares that are no list", "format", {"shares": 1}),
        ("fewer shares than parts", "format", {"shares": [1]}),
        ("more shares than parts", "format", {"shares": [1, 1, 1]}),
        ("a share of 0", "format", {"shares": [0, 1]}),
        ("a share below 0", "format", {"shares": [1, -1]}),
        ("a share of a half", "format", {"shares": [0.5, 1]}),
        ("a share that is true", "format", {"shares": [True, 1]}),
        ("a share as text", "format", {"shares": ["1", 1]}),
        ("a share of 1,000,001", "format", {"shares": [1, 1_000_001]}),
        ("another version", "format", {"version": 2}),
        ("a version that is true", "format", {"version": True}),
        ("a domain", "format", {"domain": {"k": 2}}),
        ("a kernel", "format", {"kernel": one["kernel"]}),
        ("params", "format", {"params": {}}),
        ("epsilon 0", "format", {"epsilon": 0}),
        ("epsilon 1001", "format", {"epsilon": 1001}),
        ("epsilon as text", "format", {"epsilon": "1"}),
        ("no epsilon", "format", {"epsilon": None}),
        ("parts in parts", "format", {"parts": [one, good]}),
        ("a part that is no design", "format", {"parts": [one, None]}),
        ("a part that is a kernel", "format", {"parts": [one, one["kernel"]]}),
        ("a part of an unknown mechanism", "format", {"parts": [one, one | {"mechanism": "grrr"}]}),
        ("a part of another version", "format", {"parts": [one, one | {"version": 2}]}),
        ("a part with shares", "format", {"parts": [one, one | {"shares": [1]}]}),
        ("a part with a threshold that always decides", "format", {"parts": [one, kept(one, 1 << 64)]}),
        ("a part with another domain", "format", {"parts": [one, one | {"domain": {"k": 3}}]}),
        ("a part with more epsilon", "privacy", {"epsilon": 0.9}),
        ("a part with more epsilon than 40", "privacy", {"epsilon": 50, "parts": [one, one | {"epsilon": 50}]}),
        ("the first part leaks", "privacy", {"parts": [leaks, one]}),
        ("the second part leaks", "privacy", {"parts": [one, leaks]}),
        ("the second part leaks, within the whole", "privacy", {"epsilon": 40, "parts": [one, leaks]}),
        ("256 parts", "format", {"parts": [one] * 256, "shares": [1] * 256}),
        ("a deal by the answers", "format", {"deal": [[0, 1], [1, 0]]}),
        ("shares by the answers", "format", {"shares": [[1, 2], [2, 1]]}),
        ("two parts of one person", "format", {"parts": [one, [one, one]]}),
    ):
        yield refused(about, error, good | changes)
    for name in ("mechanism", "version", "epsilon", "shares", "parts"):
        yield refused(f"without {name}", "format", {key: part for key, part in good.items() if key != name})
    joint = DESIGNS["box"]["design"]
    more = joint | {"kernel": joint["kernel"] | {"keep": str(int(0.36 * WORD))}}
    yield refused("questions asked together that leak", "privacy", good | {"parts": [one, more]})
    other = joint | {"params": {"sizes": [3, 4], "shape": [1, 2]}}
    yield refused("questions asked together of other sizes", "format", good | {"parts": [one, other]})
    clear = DESIGNS["one protected answer"]["design"]
    kernel = clear["kernel"] | {"sensitive": [], "plain": str(1 << 64)}
    named = clear | {"params": clear["params"] | {"sensitive": []}, "kernel": kernel}
    yield refused("a part that protects no answer", "privacy", good | {"parts": [one, named]}, [None, [0, 1, 2, 3]])
    some = parts("grr", "urr")
    for harmless in (None, [None, None], [None, []], [None, [2]], [[0], [2, 3]], [None, [0, 1, 2, 3]]):
        yield refused(f"consent for {harmless}", "privacy", some, harmless)
    yield refused("consent that is not needed", "privacy", good, [None, [0]])


def kept(design: dict[str, Any], keep: int) -> dict[str, Any]:
    """A design with another threshold."""
    return design | {"kernel": design["kernel"] | {"keep": str(keep)}}


def refused(about: str, error: str, design: Any, harmless: Any = None) -> dict[str, Any]:
    """A document, what is wrong with it, and how it is refused."""
    return {"about": about, "harmless": harmless, "error": error, "design": design}


def refused_tasks() -> Iterator[dict[str, Any]]:
    """Tasks of version 1 with a question about a design of parts."""
    whole = question("q") | {"design": parts("grr", "ss")}
    for about, asked in (("one question", [whole]), ("the second of two", [question("r"), whole])):
        yield {"about": about, "error": "format", "task": task(questions=asked)}
