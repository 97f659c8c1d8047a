"""Altered reports through the decoder of the collector, against a check that shares nothing with it.

Bodies of tasks with every mechanism are altered as a hostile or broken client can do it: bytes and bits changed, cut,
lengthened, swapped, drawn at random, taken from other tasks, and left as they were. What the collector takes, the
other check (`tests/service/oracle.py`) must take too, and the other way round.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))

from making import task_document  # noqa: E402
from oracle import body_check  # noqa: E402

import deniable as dn  # noqa: E402
from deniable.collect.reports import Reports  # noqa: E402
from deniable.errors import DeniableError  # noqa: E402
from deniable.service.ingest import Intake  # noqa: E402
from deniable_client.canonical import canonical  # noqa: E402

LOT = 25
"""Bodies of one task that are checked together."""


class Target:
    """A task, with bodies that devices sent, and both checks."""

    def __init__(self, name: str, parts: list[Reports], strata: dict[str, list[str]]) -> None:
        self.name = name
        document = task_document([part.design for part in parts], strata=strata)
        self.intake, self.oracle = Intake(canonical(document)), body_check(document)
        self.width, several = self.intake.task.width, len(parts) > 1
        self.bodies = [
            (bytes([question] * several) + bytes(len(strata)) + part.row(i)).ljust(self.width, b"\0")
            for question, part in enumerate(parts)
            for i in range(len(part))
        ]


def targets() -> Iterator[Target]:
    """A task for every mechanism that devices know, by the reports of the golden files, and tasks with several."""
    found = []
    for path in sorted((ROOT / "tests" / "golden").glob("*.reports")):
        reports = dn.load(path)
        assert isinstance(reports, Reports)
        if "parts" in reports.design:
            continue  # each is a question of its own, as in the tasks with several
        try:
            yield Target(path.stem, [reports], {})
        except DeniableError as error:
            raise RuntimeError(f"{path.name}: {error}") from error
        found.append(reports)
    for start in range(0, len(found) - 3, 3):
        yield Target(f"survey-{start}", found[start : start + 4], {"country": ["DE", "FR", "IT"]})


def altered(target: Target, others: list[bytes], rng: random.Random) -> bytes:
    """A body that was altered in one of many ways."""
    body = bytearray(rng.choice(target.bodies))
    way = rng.randrange(10)
    if way < 3 and body:  # a byte
        body[rng.randrange(len(body))] = rng.randrange(256)
    elif way < 5 and body:  # a bit
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    elif way == 5:  # another length
        body = body[: rng.randrange(len(body) + 1)] if rng.random() < 0.5 else body + rng.randbytes(rng.randrange(1, 9))
    elif way == 6:  # nothing is left of it
        body = bytearray(rng.randbytes(len(body)))
    elif way == 7:  # a border of a type
        body[rng.randrange(len(body)) :] = rng.choice((b"\xff", b"\0", b"\x7f", b"\x80")) * rng.randrange(1, 9)
    elif way == 8:  # of another task
        body = bytearray(rng.choice(others))
    elif len(body) > 1:  # two bytes change places
        i, j = rng.randrange(len(body)), rng.randrange(len(body))
        body[i], body[j] = body[j], body[i]
    return bytes(body)


def mutated(count: int, tell: Callable[[str], None], seed: int = 4) -> Counter[str]:
    """So many altered bodies, of all tasks in turn; what was taken or refused wrongly, crashed, or took long."""
    rng = random.Random(seed)
    found: Counter[str] = Counter(mutated=0, accepted_invalid=0, refused_valid=0, crashes=0, hangs=0)
    every = list(targets())
    others = [body for target in every for body in target.bodies[:2]]
    for target in every:
        target.intake.check(target.bodies)  # compiled and loaded before anything is timed
    rng.shuffle(every)
    turns = cycle(every)
    while found["mutated"] < count:
        target = next(turns)
        bodies = [altered(target, others, rng) for _ in range(min(LOT, count - found["mutated"]))]
        start = time.perf_counter()
        try:
            fine = target.intake.check(bodies).fine.tolist()
        except Exception as error:
            found["crashes"] += 1
            sys.stderr.write(f"\n{target.name}: {error!r}\n")
            fine = [False] * len(bodies)
        found["hangs"] += (time.perf_counter() - start) / len(bodies) > 0.1
        for body, ours in zip(bodies, fine, strict=True):
            theirs = target.oracle(body)
            found["valid"] += theirs
            if ours != theirs:
                found["accepted_invalid" if ours else "refused_valid"] += 1
                if found["accepted_invalid"] + found["refused_valid"] <= 20:
                    sys.stderr.write(f"\n{target.name}: {body.hex()} {'taken' if ours else 'refused'}\n")
        found["mutated"] += len(bodies)
        tell(f"mutated: {found['mutated']:,} of {count:,}, accepted wrongly {found['accepted_invalid']}")
    return found


if __name__ == "__main__":
    counts: dict[str, Any] = dict(mutated(int(sys.argv[1]), lambda text: None))
    print(json.dumps(counts))
