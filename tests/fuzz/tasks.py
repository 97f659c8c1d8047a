"""Runs altered task documents through the Python and the JavaScript client: the same task, or the same kind of error.

    python tests/fuzz/tasks.py --count 4000 --seed 7 [--json]

prints how many documents were compared and what came of them; the exit code is 1 if the clients differ. `--source
FOLDER` takes another copy of clients/js/src, such as one with a fault in it.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deniable_client.canonical import digest
from deniable_client.errors import DeniableError
from deniable_client.task import Task, signed_part

ROOT = Path(__file__).parents[2]
OTHER = ROOT / "clients" / "js" / "test" / "verdicts.js"
SHOWN = 5
"""Differences that are told in full."""
LONG = 20_000
"""Bytes of a document whose proof would take long."""
DAYS = ("2026-11-15", "2026-11-16", "2026-11-29", "2026-12-14", "2027-01-31", "9999-12-30")
Document = dict[str, Any]

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.5, 0.1, 1e-12, 1e-13, 255, 256, 1000, 1001, 3660, 3661, 10_000, 10**6, 10**9),
    *(2**53 - 1, 2**53, 2**60, 2.0**60, 1e20, 1e21, 1e300, 5e-324, -0.0),
    *(
        "",
        " ",
        "a",
        "q",
        "Q",
        "1",
        "yes",
        "fresh",
        "first",
        "remembered",
        "reports",
        "tally",
        "dealt",
        "not told",
        "en",
        "pt-BR",
        "https://a.example",
        "https://A.example/",
        "day",
        "null",
        "é",
        "e\u0301",
    ),
    *(
        "\u200b",
        "a\u200b",
        "\u3164",
        "\ufeff",
        "\u00a0",
        "\u2028",
        "\x7f",
        "\x00",
        "\U0001f600",
        "\u202e",
        "\ud7a3",
        "\ufdfa",
    ),
    *(
        "x" * 200,
        "x" * 201,
        "\U0001f600" * 200,
        "\U0001f600" * 201,
        "'",
        '"',
        "\\",
        "it's",
        "a\tb",
        "x" * 70 + "\n" * 9,
    ),
    *("2026-11-16", "2026-02-29", "2028-02-29", "0001-01-01", "0000-12-31", "9999-12-31", "2026-11-31", "2026-1-01"),
    *([], {}, [[]], [1], ["a", "b"], {"a": 1}, {"keep": "tally"}, {"task": 1, "subject": 1, "lifetime": 1}),
    *(
        {"keep": "reports", "days": 0},
        {"attempts": 1, "days": 7},
        {"de": {"subject": "a", "questions": [[{"text": "a"}]]}},
        {"opens": "2026-11-16", "days": 1, "count": 1},
        [{"name": "s", "values": ["a", "b"]}],
    ),
)
"""What is put in the place of a part."""

SPELLED: tuple[tuple[bytes, bytes], ...] = (
    *((b"1,", b"1.0,"), (b"1,", b"1e0,"), (b"1,", b"10e-1,"), (b"1,", b"01,"), (b"1,", b"1.,"), (b"1,", b"+1,")),
    *(
        (b"1,", b"1e400,"),
        (b"1,", b"NaN,"),
        (b"1,", b"-Infinity,"),
        (b"1,", b"1" * 400 + b","),
        (b"1,", b"1.0000000000000001,"),
    ),
    *((b"1,", b"0.99999999999999999,"), (b"0,", b"-0,"), (b"0,", b"-0.0e9,"), (b"0,", b"1e-400,")),
    *(
        (b":", b" :\r\n\t "),
        (b":", b":\xc2\xa0"),
        (b":", b":\xe2\x80\xa8"),
        (b",", b" , "),
        (b",", b",,"),
        (b",", b""),
        (b"{", b"{ "),
        (b"{", b"["),
        (b"}", b"}}"),
        (b"]", b",]"),
    ),
    *((b'"s', b'"\\u0073'), (b'"e', b'"\\u0065'), (b'"q', b'"\\ud83d'), (b'"q', b'"\\ud83d\\ude00'), (b'"q', b'"\xff')),
    *(
        (b'"q', b'"\\/'),
        (b'"q', b'"\\x'),
        (b'"q', b'"\t'),
        (b'"q', b'"\xed\xa0\x80'),
        (b'"', b"'"),
        (b" ", b"\xc2\xa0"),
    ),
    *((b'"version":1', b'"version":1,"version":1'), (b'"name"', b'"\\u006eame":"q","name"'), (b'"k"', b'"k":2,"k"')),
    *(
        (b'"subject"', b'"__proto__":1,"subject"'),
        (b'"subject"', b'"constructor":{},"subject"'),
        (b'"share"', b'"length":9,"share"'),
    ),
)
"""Other ways to write something, some of them wrong."""


def good_tasks() -> list[Document]:
    """Tasks of every form and every kind of kernel, as far as they are short."""
    vectors = json.loads((ROOT / "clients" / "vectors" / "tasks.json").read_text("utf-8"))
    return [case["task"] for case in vectors["good"] if len(json.dumps(case["task"])) < LONG]


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a document has parts."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, each in inner:
        yield (*path, name)
        yield from places(each, (*path, name))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    """The part at a place."""
    for step in path:
        document = document[step]
    return document


def replaced(rng: Random, document: Document, others: list[Document]) -> None:
    """Another thing in the place of a part: something odd, or a part of another task."""
    path = rng.choice(list(places(document)))
    donor = rng.choice(others)
    part = rng.choice(ODD) if rng.random() < 0.7 else at(donor, rng.choice(list(places(donor))))
    at(document, path[:-1])[path[-1]] = copy.deepcopy(part)


def removed(rng: Random, document: Document, _: list[Document]) -> None:
    """A part less."""
    path = rng.choice(list(places(document)))
    del at(document, path[:-1])[path[-1]]


def added(rng: Random, document: Document, _: list[Document]) -> None:
    """A part more."""
    holders = [(), *(path for path in places(document) if isinstance(at(document, path), dict | list))]
    holder = at(document, rng.choice(holders))
    if isinstance(holder, list):
        holder.insert(rng.randint(0, len(holder)), copy.deepcopy(rng.choice([*ODD, *holder])))
    else:
        holder[
            rng.choice(
                ["labels", "strata", "collector", "days", "url", "none", "translations", "more", "__proto__", "length"]
            )
        ] = rng.choice(ODD)


def nudged(rng: Random, document: Document, _: list[Document]) -> None:
    """A number that is slightly another one."""
    numbers = [path for path in places(document) if _is_number(at(document, path))]
    path = rng.choice(numbers)
    part = at(document, path)
    if isinstance(part, str):
        changed: Any = str(max(0, int(part) + rng.choice((-1, 1, 10**3, -(10**3), 10**15))))
    else:
        changed = rng.choice((part + 1, part - 1, part / 2, part * 2, part + 1e-9, float(part), -part))
    at(document, path[:-1])[path[-1]] = changed


def reworded(rng: Random, document: Document, _: list[Document]) -> None:
    """Another text in the place of one, such as one that nobody can see, or a very long one."""
    texts = [path for path in places(document) if isinstance(at(document, path), str) and "design" not in path]
    path = rng.choice(texts)
    own = at(document, path)
    signs = "".join(chr(rng.choice((rng.randrange(0x250), rng.randrange(0x2000, 0x2100)))) for _ in range(3))
    at(document, path[:-1])[path[-1]] = rng.choice(
        (*(odd for odd in ODD if isinstance(odd, str)), own + signs, signs, own * 50)
    )


def answered(rng: Random, document: Document, tasks: list[Document]) -> None:
    """Another answer for those who say nothing: one of the labels or numbers, one that a report may name among them."""
    asked = [path for path in places(document) if path[-1] == "none"]
    if not asked:
        replaced(rng, document, tasks)
        return
    path = rng.choice(asked)
    labels = at(document, path[:-1]).get("labels")
    at(document, path[:-1])["none"] = rng.choice([*(labels if isinstance(labels, list) else ()), *range(6), None])


def _is_number(part: Any) -> bool:
    return (isinstance(part, str) and part.isdecimal()) or (
        isinstance(part, int | float) and not isinstance(part, bool)
    )


Change = Callable[[Random, Document, list[Document]], None]
CHANGES: tuple[Change, ...] = (replaced, removed, added, reworded, nudged, nudged, answered)


def flipped(rng: Random, data: bytes) -> bytes:
    """One bit is another one."""
    made = bytearray(data)
    made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def spelled(rng: Random, data: bytes) -> bytes:
    """Something is written in another way."""
    old, new = rng.choice(SPELLED)
    parts = data.split(old)
    if len(parts) == 1:
        return data
    cut = rng.randrange(1, len(parts))
    return old.join(parts[:cut]) + new + old.join(parts[cut:])


def cut(rng: Random, data: bytes) -> bytes:
    """Some bytes are missing, or there twice."""
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((1, 2, 30)))
    return data[:start] + data[start:end] * rng.choice((0, 2)) + data[end:]


WRITINGS = (flipped, spelled, spelled, cut)


PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
"""Signs what was altered."""


def named(document: Document) -> None:
    """The right id and signature for what a document says."""
    signs = document.get("version") == 2 and isinstance(document.get("collector"), dict)
    if signs and len(str(document["collector"].get("key"))) == 64:
        document["collector"]["key"] = PRIVATE.public_key().public_bytes_raw().hex()
    document["id"] = digest({name: part for name, part in document.items() if name not in ("id", "signature")})
    if signs and len(str(document.get("signature"))) == 128:
        document["signature"] = PRIVATE.sign(signed_part(document["id"])).hex()


def altered(rng: Random, tasks: list[Document]) -> tuple[bytes, str | None]:
    """A document, mostly with the right id for what it says now, and the id that is expected of it."""
    document = copy.deepcopy(rng.choice(tasks))
    expect = document["id"] if rng.random() < 0.05 else None
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3))):
        rng.choice(CHANGES)(rng, document, tasks)
    if rng.random() < 0.95 and "id" in document:
        with suppress(DeniableError):  # some have no id, which both have to notice
            named(document)
    data = json.dumps(document, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if rng.random() < 0.25:
        data = rng.choice(WRITINGS)(rng, data)
    return data, expect


def tried(make: Callable[[], Any]) -> Any:
    """What it gives, or the kind of error."""
    try:
        return make()
    except DeniableError as error:
        return {"error": type(error).__name__}


def told(data: bytes, expect: str | None) -> Any:
    """What this client makes of a document."""

    def read() -> Document:
        task = Task.load(data, expect=expect)
        return {
            "id": task.id,
            "width": task.width,
            "closes": task.closes.isoformat(),
            "expires": task.expires.isoformat(),
            "places": [task.question_at, task.strata_at],
            "sending": [task.attempts, task.send_days],
            "keys": [question.key for question in task.questions],
            "windows": [tried(lambda day=day: task.window(date.fromisoformat(day))) for day in DAYS],
            "terms": list(task.terms()),
        }

    return tried(read)


def compare(seed: int, count: int, source: Path | None = None) -> dict[str, Any]:
    """What came of `count` documents, here and there."""
    rng, tasks = Random(seed), good_tasks()
    cases = [altered(rng, tasks) for _ in range(count)]
    lines = [
        json.dumps({"data": base64.b64encode(data).decode(), "expect": expect, "days": DAYS}) for data, expect in cases
    ]
    command = ["node", str(OTHER), *([str(source)] if source else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        outcomes: Counter[str] = Counter()
        shown: list[str] = []
        differences = 0
        for line, (data, expect) in zip(lines, cases, strict=True):
            other.stdin.write(line + "\n")
            other.stdin.flush()
            here = told(data, expect)
            there = json.loads(other.stdout.readline())
            outcomes[here.get("error", "taken")] += 1
            if here != there:
                differences += 1
                shown.append(f"{here!r:.600} here, {there!r:.600} there: {data[:1500]!r}")
        other.stdin.close()
    return {"documents": count, "outcomes": dict(outcomes), "differences": differences, "shown": shown[:SHOWN]}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Task documents in both clients: the same verdicts.")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = compare(given.seed, given.count, given.source)
    print(json.dumps(found) if given.json else json.dumps(found, indent=2))
    return 1 if found["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
