"""Fuzzes the device: random designs, inside and outside the grammar, against what they really send.

    python tests/fuzz/designs.py --count 200000 --seed 7 [--json]

prints how many designs were tried, accepted, refused; how many of the accepted ones were gone through exactly, and how
many promised more than they keep; raw exceptions; the longest check and the largest memory. The exit code is 1 if
anything was found. A document that ever broke something goes to `corpus/designs.json`, which is replayed first.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import deniable as dn
from deniable_client import Device
from deniable_client.errors import DeniableError
from fuzz import inside, large, outside, truth
from fuzz.memory import largest_memory

CORPUS = Path(__file__).parent / "corpus" / "designs.json"
HOSTILE = Path(__file__).parents[2] / "clients" / "vectors" / "hostile.json"
SECONDS = 2.0
"""A check that takes longer is a fault, in time of this process; the aim is one second, a busy machine takes two."""
CORE_SECONDS = 4.0
"""The same for whoever reads reports, who makes the whole mechanism."""
SHARES = {"inside": 0.06, "mutated": 0.46, "outside": 0.46, "grown": 0.02}
CORE_EVERY = 8
SHOWN = 5
"""Faults of a sort that are told in full."""


@dataclass
class Figures:
    """What was tried and what came of it."""

    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    gone_through: int = 0
    too_large: Counter[str] = field(default_factory=Counter)
    read_by_core: int = 0
    longest: float = 0.0
    longest_core: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def fault(self, what: str, document: Any, more: str = "") -> None:
        """Something that must not happen."""
        self.faults[what] += 1
        if self.faults[what] <= SHOWN:
            self.shown.append(f"{what}: {more} {outside.shown(document)}")

    def told(self) -> dict[str, Any]:
        """As a document."""
        memory = largest_memory()
        return {
            "tried": sum(self.tried.values()),
            "accepted": sum(self.accepted.values()),
            "refused": sum(self.refused.values()),
            "gone through": self.gone_through,
            "too large to go through": sum(self.too_large.values()),
            "read by the core": self.read_by_core,
            "understated": self.faults["understated"],
            "accepted outside the grammar": self.faults["accepted outside the grammar"],
            "raw exceptions": self.faults["raw exception"],
            "answers refused": self.faults["answer refused"],
            "reports of other lengths": self.faults["length"],
            "slow checks": self.faults["slow"],
            "longest check, seconds": round(self.longest, 3),
            "longest check of the core, seconds": round(self.longest_core, 3),
            "largest memory, MiB": round(memory),
            "tried by sort": dict(self.tried),
            "accepted by sort": dict(self.accepted),
            "too large by sort": dict(self.too_large),
            "refused by error": dict(self.refused),
            "faults": self.shown,
        }


class PlainWords:
    """Quick words for reports whose content does not matter."""

    bits = 64

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def word(self) -> int:
        """The next word."""
        return self._rng.getrandbits(64)


def values(design: Mapping[str, Any]) -> list[Any]:
    """Some values that the question has an answer for."""
    where = design["domain"]
    if "ticks" in where:
        each = where["ticks"] if isinstance(where["ticks"], list) else list(range(where["ticks"]))
        return [[], *([option] for option in each[:3]), each[: where["most"]], each[-where["most"] :]]
    if "labels" in where:
        found: list[Any] = list(where["labels"][:3]) + list(where["labels"][-1:])
    elif "interval" in where or "circle" in where:
        low, high = where.get("interval") or where["circle"]
        found = [low, high, low + (high - low) / 3]
    else:
        last = (where["k"] if "k" in where else len(where["points"])) - 1
        found = sorted({0, 1, last // 2, last})
    if design["kernel"]["kind"] != "pairs":
        return found
    ends = design["params"]["range"]
    one = [[(key, end)] for key in found for end in ends]
    several = [[], [(key, ends[0]) for key in dict.fromkeys(found)]]
    return one + (several if design["kernel"]["length"] != "0" and "interval" not in where else [])


ODD_VALUES = (None, "", "nobody", -1, 10**30, 1.5, float("nan"), float("inf"), True, [], [(0, "x")], object(), b"0")


@dataclass
class Fuzzer:
    """Tries designs, one after the other."""

    rng: Random
    figures: Figures = field(default_factory=Figures)
    core: bool = True

    def try_one(self, sort: str, document: Any, harmless: list[Any], numbers: list[int]) -> None:
        """A document with the answers that may be named, as the question has them and by number."""
        figures = self.figures
        figures.tried[sort] += 1
        device = self._check(document, harmless)
        if self.core and (sum(figures.tried.values()) % CORE_EVERY == 0 or sort in ("grown", "heavy")):
            self._read(document)
        if device is None:
            return
        figures.accepted[sort] += 1
        if sort in ("outside", "corpus"):
            figures.fault("accepted outside the grammar", document)
            return
        self._report(device, document)
        try:
            found = truth.broken(document, device.kernel, numbers, [self.rng.getrandbits(64) for _ in range(3)])
        except truth.TooLargeError:
            figures.too_large[sort] += 1
            return
        figures.gone_through += 1
        if found:
            figures.fault("understated", document, found)

    def _check(self, document: Any, harmless: list[Any]) -> Device | None:
        begin = time.process_time()
        try:
            return Device(document, harmless=harmless)
        except DeniableError as error:
            self.figures.refused[type(error).__name__] += 1
        except Exception as error:
            self.figures.fault("raw exception", document, _told(error))
        finally:
            seconds = time.process_time() - begin
            self.figures.longest = max(self.figures.longest, seconds)
            if seconds > SECONDS:
                self.figures.fault("slow", document, f"{seconds:.2f} s")
        return None

    def _read(self, document: Any) -> None:
        """The other side of a report: only errors of ours, in little time."""
        self.figures.read_by_core += 1
        begin = time.process_time()
        try:
            dn.from_design(document)
        except DeniableError:
            pass
        except Exception as error:
            self.figures.fault("raw exception", document, _told(error))
        seconds = time.process_time() - begin
        self.figures.longest_core = max(self.figures.longest_core, seconds)
        if seconds > CORE_SECONDS:
            self.figures.fault("slow", document, f"{seconds:.2f} s in the core")

    def _report(self, device: Device, document: Mapping[str, Any]) -> None:
        """Reports of all values have one length, and what is no value is refused in words."""
        words, good = PlainWords(self.rng), values(document)
        for i, value in enumerate((*good, *ODD_VALUES)):
            for level in device.levels or (None,):
                try:
                    report = device.report(value, words, level=level)
                except DeniableError as error:
                    if i < len(good):
                        self.figures.fault("answer refused", document, f"{value!r}: {error}")
                except Exception as error:
                    self.figures.fault("raw exception", document, f"{value!r}: {_told(error)}")
                else:
                    if len(report) != device.kernel.width:
                        self.figures.fault("length", document, repr(value))


def _told(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error!r:.200} at {Path(last.filename).name}:{last.lineno}"


def consent(design: Mapping[str, Any]) -> tuple[list[Any], list[int]]:
    """What a well-made design may disclose, as the question has it and by number."""
    numbers = inside.named(design)  # type: ignore[arg-type]
    labels = design["domain"].get("labels")
    return ([labels[x] for x in numbers] if labels else list(numbers)), numbers


def stored() -> Iterator[tuple[Any, list[Any]]]:
    """Documents that once broke something, and those of the vectors: each must be refused."""
    for path in (CORPUS, HOSTILE):
        for case in json.loads(path.read_text())["cases"]:
            yield case["design"], case["harmless"] or []


def replay(fuzzer: Fuzzer, *, heavy: bool = True) -> None:
    """Everything that is not random."""
    for document, harmless in stored():
        fuzzer.try_one("corpus", document, harmless, [])
    for _, document, harmless in large.heavy() if heavy else ():
        fuzzer.try_one("heavy", document, harmless, [])


def run(fuzzer: Fuzzer, count: int, shares: Mapping[str, float] = SHARES) -> Iterator[int]:
    """Try so many random documents; tells how many are done now and then."""
    rng, sorts = fuzzer.rng, list(shares)
    kept = [inside.design(rng) for _ in range(200)]
    for done in range(count):
        sort = rng.choices(sorts, list(shares.values()))[0]
        good = inside.design(rng) if sort == "inside" or done % 4 == 0 else rng.choice(kept)
        kept[rng.randrange(len(kept))] = good
        document: Any = good
        if sort == "outside":
            document = outside.outside(rng, good)[1]
        elif sort == "mutated":
            document = outside.mutated(rng, good, rng.choice(kept))
        elif sort == "grown":
            document = large.grown(rng, good)
        harmless, numbers = consent(good)
        if sort == "grown" and numbers and "k" in document["domain"]:
            harmless, numbers = _grown_consent(document), []
        fuzzer.try_one(sort, document, harmless, numbers)
        if done % 1000 == 999:
            yield done + 1


def _grown_consent(document: Mapping[str, Any]) -> list[Any]:
    """All answers that are not sensitive, by ranges."""
    ends = [int(end) for end in inside.at(document["kernel"], "sensitive") or ()]
    edges = [0, *ends, document["domain"]["k"]]
    return [range(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="random documents to try")
    parser.add_argument("--seed", type=int, default=1, help="where they begin")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    given = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    fuzzer = Fuzzer(Random(given.seed))
    begin = time.monotonic()
    replay(fuzzer)
    for done in run(fuzzer, given.count):
        if done % 10_000 == 0:
            faults = sum(fuzzer.figures.faults.values())
            print(f"{done} of {given.count}, {time.monotonic() - begin:.0f} s, {faults} faults", file=sys.stderr)
    figures = fuzzer.figures.told()
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name}: {told}" for name, told in figures.items()))
    return 1 if fuzzer.figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
