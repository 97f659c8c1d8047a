"""Deals of a part: kernels, their draws and frames, and designs of parts; `make.py` writes them to `dealt.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

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
    many = tuple(Response.calibrate(0.5, 2) for _ in range(60))
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
        (0.5, Dealt(many, tuple(range(1, 61)))),
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
    return {"about": text + "leaks: the same kernel with a larger ratio, to be refused", "cases": cases}


def records(kernel: Dealt) -> Iterator[list[int]]:
    """The first and the last inputs of all parts, and some in between."""
    yield [0 for _ in kernel.parts]
    yield [part.k - 1 for part in kernel.parts]
    yield [part.k // 2 for part in kernel.parts]
