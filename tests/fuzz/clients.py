"""Runs random designs, values and words through the Python and the JavaScript client: same bytes, or the same error.

    python tests/fuzz/clients.py --reports 20000 --leaking 500 --seed 7 [--json]

prints how many cases were compared, by kind of kernel, how many designs leak, and what differs; the exit code is 1 if
anything does. `--source FOLDER` takes another copy of clients/js/src, such as one with a fault in it.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).parents[1]))

from deniable_client import Device, FormatError, PrivacyError, explain
from deniable_client.canonical import parse
from deniable_client.errors import DeniableError
from deniable_client.exact import exp_bounds
from deniable_client.hashing import split64
from deniable_client.kernels import KERNELS, kernel_from, promised_ratio
from fuzz import designs, inside, large, outside, surveys, truth

OTHER = Path(__file__).parents[2] / "clients" / "js" / "test" / "differential.js"
WORD = 1 << 64
BATCH = 60
"""Designs that are sent in one go; the other client works on them while this one does."""
CASES = 110
"""Values and words of a design that is taken."""
SHARES = {"inside": 0.55, "mutated": 0.2, "outside": 0.1, "grown": 0.1, "dealt": 0.05}
SURVEYS = {"survey": 0.8, "damaged survey": 0.2}
SHOWN = 5
"""Differences that are told in full."""
ODD_VALUES: tuple[Any, ...] = (
    None,
    "",
    "nobody",
    "answer 0",
    -1,
    -0.0,
    10**30,
    1.5,
    1e-320,
    True,
    [],
    [[0, "x"]],
    [[0]],
    {},
    "0",
)
EDGES = (0, 1, WORD // 2 - 1, WORD // 2, WORD - 2, WORD - 1)
Job = dict[str, Any]


@dataclass
class Figures:
    """What was compared and what came of it."""

    kinds: Counter[str] = field(default_factory=Counter)
    designs: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    reports: int = 0
    refused_values: int = 0
    leaking: Counter[str] = field(default_factory=Counter)
    leaks_taken: int = 0
    differences: int = 0
    shown: list[str] = field(default_factory=list)

    def differ(self, what: str, here: Any, there: Any, document: Any) -> None:
        """Something that the clients do not agree about."""
        self.differences += 1
        if self.differences <= SHOWN:
            self.shown.append(f"{what}: {here!r:.300} here, {there!r:.600} there: {json.dumps(document):.1500}")

    def told(self) -> dict[str, Any]:
        """As a document."""
        return {
            "reports": self.reports,
            "values refused": self.refused_values,
            "differences": self.differences,
            "designs": dict(self.designs),
            "errors": dict(self.errors),
            "leaking designs": sum(self.leaking.values()),
            "leaking, by who says so": dict(self.leaking),
            "leaking designs taken": self.leaks_taken,
            "reports by kind": dict(sorted(self.kinds.items())),
            "kinds without a report": sorted(set(KERNELS) - set(self.kinds)),
            "shown": self.shown,
        }


class OtherClient:
    """A long-lived Node process."""

    def __init__(self, source: Path | None = None) -> None:
        command = ["node", str(OTHER), *([str(source)] if source else [])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait(60)

    def ask(self, lines: list[str], meanwhile: Callable[[], Any]) -> tuple[Any, list[Any]]:
        """What `meanwhile` gives here, and what the other client answers to each line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        sent = threading.Thread(target=self._send, args=("".join(f"{line}\n" for line in lines),))
        sent.start()
        here = meanwhile()
        there = [json.loads(self._process.stdout.readline()) for _ in lines]
        sent.join()
        return here, there

    def _send(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()


class Drawn:
    """Given words first, then those of a splitmix64; remembers how many were used."""

    bits = 64

    def __init__(self, seed: int, first: list[int]) -> None:
        self.seed, self.first, self.used = seed, first, 0

    def word(self) -> int:
        """The next word."""
        self.used += 1
        given = len(self.first)
        return self.first[self.used - 1] if self.used <= given else split64(self.seed, self.used - given)


# ---- what is asked


def jobs(rng: Random, mechanism: str | None = None, sorts: dict[str, float] = SHARES) -> Iterator[tuple[str, Job]]:
    """Designs of all sorts, for every one of them values and words if it is taken."""
    kept = [inside.design(rng) for _ in range(100)]
    names = list(sorts)
    while True:
        sort = rng.choices(names, list(sorts.values()))[0]
        good = inside.design(rng, mechanism)
        kept[rng.randrange(len(kept))] = good
        document: Any = good
        if sort == "outside":
            document = outside.outside(rng, good)[1]
        elif sort == "mutated":
            document = outside.mutated(rng, good, rng.choice(kept))
        elif sort == "grown":
            document = large.grown(rng, good)
        elif sort in SURVEYS:
            document = surveys.survey(rng)
            document = surveys.damaged(rng, document) if sort != "survey" else document
        elif sort == "dealt":
            document = dealt(rng, [good, *rng.choices(kept, k=rng.choice((1, 1, 2)))])
            document = outside.mutated(rng, document, rng.choice(kept)) if rng.random() < 0.3 else document
        try:
            plain = json.loads(json.dumps(document, allow_nan=False))
        except (TypeError, ValueError, RecursionError):  # no JSON document: texts of bytes, not a number, endless
            continue
        yield sort, job(rng, plain)


def dealt(rng: Random, parts: list[Any]) -> dict[str, Any]:
    """A design of parts, which promises as much as they do; now and then a little less."""
    most = max(part["epsilon"] for part in parts) * (0.99 if rng.random() < 0.05 else 1)
    shares = [rng.choice((1, 2, 7, 1_000_000)) for _ in parts]
    return {"mechanism": "dealt", "version": 1, "epsilon": most, "shares": shares, "parts": parts}


def plain_designs(document: Any) -> list[Any]:
    """The designs that a design is made of."""
    found: list[Any] = document["parts"] if document["mechanism"] == "dealt" else [document]
    return found


def job(rng: Random, document: Any) -> Job:
    """A design with consent, and what is to be reported under it."""
    found: Job = {"design": document, "harmless": None, "cases": []}
    try:
        explanation = explain(read(document))
    except DeniableError:
        found["harmless"] = rng.choice((None, [], [0], ["a"], "a", 3))
        return found
    parts = explanation.parts or (explanation,)
    agreed = [consent(rng, list(part.harmless)) for part in parts]
    found["harmless"] = agreed if explanation.parts else agreed[0]
    device = Device(read(document), harmless=explanation.harmless)
    designs = zip(plain_designs(document), parts, strict=True)
    each = [list(some_values(rng, part, told.design.domain)) for part, told in designs]
    values, cases = [list(record) for record in zip(*(rng.choices(own, k=40) for own in each), strict=True)], CASES
    values = values if explanation.parts else each[0]
    if device.kernel.width > 512:
        cases = 5
    if rng.random() < 0.1:
        found["stand_in"] = rng.choice(values)
    seeded = hasattr(device.kernel, "randomise_dealt")
    kernels = [part["kernel"] for part in plain_designs(document)]
    edges = [int(text) for text in inside_numbers(kernels) if 0 < int(text) < WORD]
    for _ in range(cases):
        found["cases"].append(
            {
                "value": rng.choice(ODD_VALUES) if rng.random() < 0.03 else rng.choice(values),
                "level": _level(rng, device.levels),
                "coin": str(rng.choice((rng.getrandbits(64), 0, WORD - 1, WORD)))
                if rng.random() < (0.2 if seeded else 0.01)
                else None,
                "seed": str(rng.getrandbits(64)),
                "first": [str(each) for each in _first(rng, edges)],
            }
        )
    return found


def _level(rng: Random, levels: tuple[float, ...]) -> Any:
    if not levels or rng.random() < 0.02:
        return None if rng.random() < 0.99 else 0.123
    return rng.choice(levels)


def _first(rng: Random, edges: list[int]) -> list[int]:
    """Words at the thresholds of the kernel, or at the ends, in some places."""
    if rng.random() < 0.5:
        return []
    odd = [*EDGES, *(edge - less for edge in edges for less in (0, 1))]
    return [rng.choice(odd) if rng.random() < 0.6 else rng.getrandbits(64) for _ in range(rng.randint(1, 4))]


def inside_numbers(part: Any) -> Iterator[str]:
    """All numbers of a kernel's document."""
    if isinstance(part, str):
        yield from [part] if part.isdecimal() else []
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from inside_numbers(each)


def consent(rng: Random, harmless: list[Any]) -> Any:
    """The answers that a report may name as JSON has them; now and then others."""
    plain = listed(harmless)
    if rng.random() < 0.97:
        rng.shuffle(plain)
        return plain or (None if rng.random() < 0.5 else [])
    return rng.choice((plain[:-1], [*plain, 0], [*plain, "answer 1"], [[0, 1]], [{"start": 0, "end": 2}], None))


def some_values(rng: Random, design: Any, domain: Any) -> Iterator[Any]:
    """Values that the question has an answer for, near the borders of answers where there are some."""
    yield from designs.values(design)
    pairs = design["kernel"]["kind"] == "pairs"
    single = [rng.randrange(domain.answers) for _ in range(8)]
    if domain.options is not None:
        each = design["domain"]["ticks"]
        each = each if isinstance(each, list) else list(range(each))
        for _ in range(12):
            yield rng.choices((*each, "nobody"), k=rng.randint(0, 3))
        yield from (each, each[0], None, "", {"0": 1}, [None], [[]], [True])
        return
    if domain.labels is not None:
        keys: list[Any] = [domain.labels[i] for i in single] + ["nobody", "somebody", None, ""]
    elif domain.border is not None:
        where = design["domain"]
        low, high = where.get("interval") or where["circle"]
        keys = [rng.uniform(low, high) for _ in range(4)]
        for i in single:
            keys += [
                domain.border(i),
                math.nextafter(domain.border(i), -1e300),
                math.nextafter(domain.border(i), 1e300),
            ]
        keys += [{"odd": "NaN"}, {"odd": "Infinity"}, {"odd": "-Infinity"}, low - 1, high + 1, 1e300]
    else:
        keys = list(single)
    if not pairs:
        yield from keys
        return
    low, high = design["params"]["range"]
    numbers = [
        low,
        high,
        *(rng.uniform(low, high) for _ in range(4)),
        low + (high - low) * (rng.randrange(9) + 0.5) / 2**32,
    ]
    for _ in range(12):
        held = [rng.choice(keys) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
        yield [
            [key, rng.choice((*numbers, high + 1) if rng.random() < 0.1 else numbers)]
            for key in held
            if not isinstance(key, dict)
        ]


# ---- the Python client


def listed(harmless: Any) -> Any:
    """Answers that a report may name as JSON has them."""
    if isinstance(harmless, range):
        return {"start": harmless.start, "end": harmless.stop}
    return [listed(each) for each in harmless] if isinstance(harmless, list | tuple) else harmless


def unlisted(harmless: Any) -> Any:
    """The inverse of `listed`."""
    if isinstance(harmless, dict) and {"start", "end"} <= set(harmless):
        return range(harmless["start"], harmless["end"])
    return [unlisted(each) for each in harmless] if isinstance(harmless, list) else harmless


def read(document: Any) -> Any:
    """A document as it is read from JSON; 1.0 becomes 1."""
    return parse(json.dumps(document))


def plain(value: Any) -> Any:
    """A value as JSON has it, and the numbers that it has not."""
    if isinstance(value, dict) and "odd" in value:
        return float(value["odd"].replace("Infinity", "inf"))
    return parse(json.dumps({"value": value}))["value"]


def _tried(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except DeniableError as error:
        return {"error": type(error).__name__}


def _told(document: Any) -> dict[str, Any]:
    found = explain(read(document))
    chance = found.chance
    parts = {
        "text": str(found),
        "over": found.over(9).text,
        "epsilon": found.epsilon,
        "chance": f"{chance.numerator}/{chance.denominator}",
    }
    return {**parts, "harmless": listed(found.harmless)}


def answered(asked: Job) -> dict[str, Any]:
    """What this client makes of a design, in the form of `differential.js`."""
    told = _tried(lambda: _told(asked["design"]))
    given = unlisted(asked["harmless"])
    more = {"stand_in": plain(asked["stand_in"])} if "stand_in" in asked else {}
    device = _tried(lambda: Device(read(asked["design"]), harmless=given, **more))
    if isinstance(device, dict):
        return {"told": told, "error": device["error"]}
    reports = []
    for case in asked["cases"]:
        words = Drawn(int(case["seed"]), [int(each) for each in case["first"]])
        coin = None if case["coin"] is None else int(case["coin"])
        value, level = plain(case["value"]), case["level"]
        found = _tried(partial(device.report, value, words, coin=coin, level=level))
        reports.append(found["error"] if isinstance(found, dict) else f"{found.hex()} {words.used}")
    return {"told": told, "width": device.kernel.width, "reports": reports}


def _all(batch: list[tuple[str, Job]]) -> list[dict[str, Any]]:
    return [answered(asked) for _, asked in batch]


# ---- comparison


def compare(figures: Figures, sort: str, asked: Job, here: Any, there: Any) -> None:
    """One design with all its cases."""
    figures.designs[f"{sort}, {'refused' if 'error' in here else 'taken'}"] += 1
    if "error" in here:
        figures.errors[here["error"]] += 1
    for part in ("error", "width", "told"):
        if here.get(part) != there.get(part):
            figures.differ(part, here.get(part), there.get(part), asked["design"])
    if "error" in here or "error" in there:
        return
    designs = plain_designs(asked["design"])
    kinds = set(kinds_of([part["kernel"] for part in designs])) | ({"dealt"} if len(designs) > 1 else set())
    for case, mine, theirs in zip(asked["cases"], here["reports"], there["reports"], strict=True):
        if mine != theirs:
            figures.differ("report", mine, theirs, {**case, "design": asked["design"]})
        if mine.endswith("Error"):
            figures.refused_values += 1
        else:
            figures.reports += 1
            figures.kinds.update(kinds)


def kinds_of(part: Any) -> Iterator[str]:
    """All kinds of kernels in a document."""
    if isinstance(part, dict):
        yield part["kind"]
        for each in part.values():
            yield from kinds_of(each)
    elif isinstance(part, list):
        for each in part:
            yield from kinds_of(each)


def run(
    figures: Figures,
    other: OtherClient,
    rng: Random,
    enough: Callable[[], bool],
    mechanism: str | None = None,
    sorts: dict[str, float] = SHARES,
) -> Iterator[None]:
    """Compare batches of designs until it is enough."""
    source = jobs(rng, mechanism, sorts)
    while not enough():
        batch = [next(source) for _ in range(BATCH)]
        lines = [json.dumps(asked) for _, asked in batch]
        here, there = other.ask(lines, partial(_all, batch))
        for (sort, asked), mine, theirs in zip(batch, here, there, strict=True):
            compare(figures, sort, asked, mine, theirs)
        yield


# ---- designs that leak


def leaking(rng: Random) -> Iterator[tuple[str, Job]]:
    """Designs of the right form whose reports tell more than they promise, and who says so."""
    while True:
        good = json.loads(json.dumps(inside.design(rng)))
        try:
            named = explain(good).harmless
        except DeniableError:
            continue
        for _ in range(4):
            document = _worse(rng, good)
            by = leaks(document, rng)
            if by:
                yield by, {"design": document, "harmless": listed(named), "cases": []}


def _worse(rng: Random, good: Any) -> Any:
    """A design with a threshold moved, or with a smaller promise."""
    document = json.loads(json.dumps(good))
    if rng.random() < 0.3:
        document["epsilon"] *= 1 - rng.choice((1e-9, 1e-6, 1e-3, 0.2))
        return document
    spots = [(p, n) for p, n in outside.places(document["kernel"]) if isinstance(p[n], str) and p[n].isdecimal()]
    spots = [(p, n) for p, n in spots if int(p[n]) > 1 << 20]
    if spots:
        part, name = rng.choice(spots)
        step = int(2 ** rng.uniform(0, 62)) * rng.choice((1, -1))
        part[name] = str(min(max(int(part[name]) + step, 1), WORD - 1))
    return document


def leaks(document: Any, rng: Random) -> str:
    """Who says that a design leaks: the reports themselves, gone through exactly, else its likelihood ratio; or nobody.

    Designs that have another form are none that leak.
    """
    try:
        explain(document)
    except FormatError:
        return ""
    except DeniableError:
        pass
    kernel, numbers = kernel_from(document["kernel"]), inside.named(document)
    try:
        seeds = [rng.getrandbits(64) for _ in range(2)]
        return "going through it" if truth.broken(document, kernel, numbers, seeds) else ""
    except truth.TooLargeError:
        return "its ratio" if promised_ratio(kernel) > exp_bounds(document["epsilon"])[0] else ""


def run_leaking(figures: Figures, other: OtherClient, rng: Random, count: int) -> Iterator[None]:
    """So many designs that leak: both clients must refuse each of them."""
    source = leaking(rng)
    while sum(figures.leaking.values()) < count:
        batch = [next(source) for _ in range(min(BATCH, count - sum(figures.leaking.values())))]
        lines = [json.dumps(asked) for _, asked in batch]
        here, there = other.ask(lines, partial(_all, batch))
        for (by, asked), *both in zip(batch, here, there, strict=True):
            figures.leaking[by] += 1
            for found in both:
                if found.get("error") != PrivacyError.__name__:
                    figures.leaks_taken += 1
                    figures.differ("leaking", both[0].get("error"), both[1].get("error"), asked["design"])
        yield


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=20_000, help="reports to compare")
    parser.add_argument("--leaking", type=int, default=200, help="designs that leak")
    parser.add_argument("--seed", type=int, default=1, help="where the random ones begin")
    parser.add_argument("--mechanism", help="designs of this one only")
    parser.add_argument("--surveys", action="store_true", help="surveys of several questions only")
    parser.add_argument("--source", type=Path, help="another copy of clients/js/src")
    parser.add_argument("--until-different", action="store_true", help="stop at the first difference")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    given = parser.parse_args(arguments)
    figures, rng, begin, shown = Figures(), Random(given.seed), time.monotonic(), 0.0

    def enough() -> bool:
        return figures.reports >= given.reports or (given.until_different and figures.differences > 0)

    with OtherClient(given.source) as other:
        for part in (
            run(figures, other, rng, enough, given.mechanism, SURVEYS if given.surveys else SHARES),
            run_leaking(figures, other, rng, given.leaking),
        ):
            for _ in part:
                spent = time.monotonic() - begin
                if spent > shown + 10:
                    shown = spent
                    done = f"{figures.reports} reports, {sum(figures.leaking.values())} leaking designs"
                    print(f"{done}, {spent:.0f} s, {figures.differences} differences", file=sys.stderr)
    told = figures.told()
    if given.json:
        print(json.dumps(told))
    else:
        print("\n".join(f"{name}: {part}" for name, part in told.items()))
    return 1 if figures.differences else 0


if __name__ == "__main__":
    sys.exit(main())
