"""Makes the test vectors: random words -> report bytes for every kernel, the hash, packing, and what must be refused.

`python clients/vectors/make.py` says which files differ from what this code gives; `--write` writes them. A vector that
changes means that clients no longer agree with each other, so look twice. Numbers of 64 bits are written as text, in
decimal (parameters) or as 16 hexadecimal digits (words and seeds), since JSON numbers lose bits in browsers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deniable_client.exact import exp_bounds
from deniable_client.hashing import bucket, expand, hash32, mix32, split64
from deniable_client.kernels import Hashing, Kernel, Response, Subset, Unary, kernel_to
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width

FOLDER = Path(__file__).parent
WORD = 1 << 64
KERNELS: dict[str, list[tuple[float, Kernel]]] = {
    "response": [(e, Response.calibrate(e, k)) for e, k in ((1.0, 2), (0.5, 3), (2.0, 10), (4.0, 256), (1.0, 1000))],
    "subset": [(e, Subset.calibrate(e, k, s)) for e, k, s in ((1.0, 2, 1), (1.0, 5, 2), (0.5, 9, 6), (2.0, 20, 3))],
    "unary": [
        (1.0, Unary.calibrate(1.0, 3, 1 << 63)),
        (2.0, Unary.calibrate(2.0, 8, 1 << 63)),
        (1.0, Unary.calibrate(1.0, 9, 11483024024735916032)),
    ],
    "hashing": [(e, Hashing.calibrate(e, k, g)) for e, k, g in ((1.0, 10, 2), (2.0, 100, 8), (6.0, 1000, 404))],
}


class Recorded:
    """Given words first, then those of a splitmix64; remembers what was used."""

    bits = 64

    def __init__(self, seed: int, first: tuple[int, ...] = ()) -> None:
        self._source = self._all(seed, first)
        self.used: list[int] = []

    @staticmethod
    def _all(seed: int, first: tuple[int, ...]) -> Iterator[int]:
        yield from first
        i = 0
        while True:
            i += 1
            yield split64(seed, i)

    def word(self) -> int:
        """The next word."""
        self.used.append(next(self._source))
        return self.used[-1]


def hexadecimal(number: int) -> str:
    """16 digits."""
    return f"{number:016x}"


def beginnings(kernel: Kernel) -> list[tuple[int, ...]]:
    """First words that decide at a threshold itself, or that have to be drawn again."""
    keep = getattr(kernel, "keep", WORD // 2)
    edges: list[tuple[int, ...]] = [(), (), (keep - 1,), (keep,), (WORD - 1, 0, 0), (WORD - 1, 0, WORD - 1)]
    if kernel.kind == "hashing":
        return [(), (), (1, keep - 1), (WORD - 1, keep), (0, WORD - 1, 0), (0x0123456789ABCDEF, keep, 0, 5)]
    return edges


def reports(kernel: Kernel) -> list[dict[str, Any]]:
    """Reports of the first, a middle and the last value."""
    made = []
    for x in sorted({0, kernel.k // 2, kernel.k - 1}):
        for i, first in enumerate(beginnings(kernel)):
            words = Recorded(1000 * x + i, first)
            report = kernel.randomise(x, words)
            made.append({"value": x, "words": [hexadecimal(w) for w in words.used], "report": report.hex()})
    return made


def kernel_vectors(kind: str) -> dict[str, Any]:
    """Parameters, exact ratio and reports of some kernels of a kind."""
    cases = []
    for epsilon, kernel in KERNELS[kind]:
        ratio = {"numerator": str(kernel.ratio.numerator), "denominator": str(kernel.ratio.denominator)}
        about = {"epsilon": epsilon, "kernel": kernel_to(kernel), "ratio": ratio, "width": kernel.width}
        cases.append(about | {"reports": reports(kernel)})
    return {"about": "words are used in order; each report is bytes in hexadecimal", "cases": cases}


def hash_vectors() -> dict[str, Any]:
    """The hash of items and seeds, step by step."""
    cases = []
    for seed in (0, 1, 0x0123456789ABCDEF, WORD - 1, split64(7, 1)):
        for item in (0, 1, 2, 65535, 65536, (1 << 31) + 5, (1 << 32) - 1):
            a, b = expand(seed)
            value = hash32(seed, item)
            case = {"seed": hexadecimal(seed), "item": item, "mix": mix32(item), "a": hexadecimal(a)}
            buckets = {str(g): bucket(seed, item, g) for g in (2, 3, 56, 1 << 31)}
            cases.append(case | {"b": hexadecimal(b), "hash": value, "buckets": buckets})
    return {"about": "hash = ((a mix(item) + b) mod 2^64) >> 32; bucket = hash g >> 32", "cases": cases}


def packing_vectors() -> dict[str, Any]:
    """Bits and integers as bytes, and bytes that are no report."""
    sets = [(1, [0]), (3, []), (3, [0, 2]), (8, [7]), (9, [0, 8]), (20, [1, 2, 3, 11, 19]), (65, [0, 63, 64])]
    numbers = [(0, 2), (255, 256), (256, 257), (65535, 65536), (1 << 31, 1 << 32), (WORD - 1, WORD)]
    bits = [{"k": k, "items": items, "bytes": pack_bits(items, k).hex(), "width": bits_width(k)} for k, items in sets]
    ints = [
        {"value": str(v), "count": str(c), "width": uint_width(c), "bytes": pack_int(v, uint_width(c)).hex()}
        for v, c in numbers
    ]
    refused = [{"k": 3, "bytes": "08"}, {"k": 3, "bytes": ""}, {"k": 3, "bytes": "0000"}, {"k": 9, "bytes": "0002"}]
    return {
        "about": "lowest bit first; little-endian; padding is zero",
        "bits": bits,
        "integers": ints,
        "refused": refused,
    }


def promise_vectors() -> dict[str, Any]:
    """Designs that keep their promise, and ones that break it by a single unit of 2^-64."""
    cases = []
    for epsilon, kernel in (case for cases_of_kind in KERNELS.values() for case in cases_of_kind):
        good = kernel_to(kernel)
        name, step = ("flip", -1) if "flip" in good else ("keep", 1)
        bad = good | {name: str(int(good[name]) + step)}
        cases.append({"epsilon": epsilon, "kernel": good, "accept": True})
        cases.append({"epsilon": epsilon, "kernel": bad, "accept": False})
    for epsilon in (0.0009765625, 1.0, 39.5):
        low, high = (bound.as_integer_ratio() for bound in exp_bounds(epsilon))
        bounds = {"low": [str(v) for v in low], "high": [str(v) for v in high]}
        cases.append({"epsilon": epsilon, "bounds": bounds})
    return {"about": "accept: the exact ratio is at most the lower bound of e^epsilon", "cases": cases}


def every() -> dict[str, str]:
    """The text of each file, by name."""
    made = {kind: kernel_vectors(kind) for kind in KERNELS}
    made |= {"hash": hash_vectors(), "packing": packing_vectors(), "promise": promise_vectors()}
    return {f"{name}.json": json.dumps(content, indent=1) + "\n" for name, content in made.items()}


def main() -> int:
    """Compare, or write."""
    wanted = every()
    differ = [n for n, text in wanted.items() if not (FOLDER / n).exists() or (FOLDER / n).read_text() != text]
    for name in differ:
        print(f"{name} {'is written' if '--write' in sys.argv else 'differs from what this code gives'}")
        if "--write" in sys.argv:
            (FOLDER / name).write_text(wanted[name])
    return 0 if "--write" in sys.argv or not differ else 1


if __name__ == "__main__":
    sys.exit(main())
