"""Makes the test vectors: random words -> report bytes for every kernel, the hash, packing, and what must be refused;
and the JavaScript client's tables of sentences, which both clients have from one file.

`python clients/vectors/make.py` says which files differ from what this code gives; `--write` writes them. A vector that
changes means that clients no longer agree with each other, so look twice. Numbers of 64 bits are written as text, in
decimal (parameters) or as 16 hexadecimal digits (words and seeds), since JSON numbers lose bits in browsers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, product
from pathlib import Path
from typing import Any

from deniable_client.exact import exp_bounds, log_upper
from deniable_client.grammar import FORMS
from deniable_client.hashing import bucket, expand, hash32, mix32, split64
from deniable_client.kernels import (
    Affine,
    Balanced,
    Bit,
    Box,
    Channel,
    Constant,
    Grouped,
    Hadamard,
    Hashing,
    Interaction,
    Interval,
    Kernel,
    KeysOnly,
    Laplace,
    Lattice,
    Leaning,
    Mixture,
    Neighbours,
    OneKey,
    Pairs,
    Personal,
    Projective,
    Recode,
    Response,
    Several,
    SignedHashing,
    SignedInterval,
    SignedUnary,
    Subset,
    Table,
    ToldKey,
    Unary,
    Utility,
    UtilityBudgets,
    Wheel,
    Whole,
    Window,
    WindowOrBit,
    Windows,
    kernel_to,
    promised_ratio,
)
from deniable_client.kernels.keyvalue import response, signed_subset, subset_of_keys, subset_of_signed
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width

FOLDER = Path(__file__).parent
ENGLISH = FOLDER.parent / "python" / "src" / "deniable_client" / "texts" / "english.json"
sys.path.insert(0, str(FOLDER))

# What stands beside this file:
from canonical_cases import canonical_vectors  # noqa: E402
from dealt_cases import dealt_vectors  # noqa: E402
from field_cases import field_vectors  # noqa: E402
from hostile import hostile_vectors  # noqa: E402
from lattice_cases import arc_kernels, lattice_kernels, looser  # noqa: E402
from ledger_cases import ledger_vectors  # noqa: E402
from limit_cases import limit_vectors  # noqa: E402
from sentence_cases import sentence_vectors  # noqa: E402
from signature_cases import signatures_vectors  # noqa: E402
from signed_cases import tasks_vectors  # noqa: E402
from texts_cases import texts_vectors  # noqa: E402
from written_cases import affine_kernels, channel_kernels, unkept  # noqa: E402

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
    about = (
        "accept: the exact ratio is at most the lower bound of e^epsilon; logs: ratios and their logarithms, rounded up"
    )
    return {"about": about, "cases": cases, "logs": list(logarithms())}


def logarithms() -> Iterator[dict[str, Any]]:
    """Ratios at the ends of what is worked out in different ways, and a little beyond each."""
    most = exp_bounds(700.0)[0]
    ends = [
        Fraction(1),
        1 + Fraction(1, 1 << 100),
        Fraction(3),
        Fraction(10**300, 7),
        exp_bounds(1.5)[0],
        most,
        most**2,
    ]
    for end in ends:
        for ratio in (end, end * (1 + Fraction(1, 3 << 100)), end * (1 + Fraction(1, 1 << 52))):
            yield {"ratio": [str(part) for part in ratio.as_integer_ratio()], "log": log_upper(ratio)}


def keyvalue_kernels() -> list[tuple[float, Pairs]]:
    """Key-value kernels of every kind, for one pair per person and for several."""

    def three_way(e: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        return (e + 1) / (2 * (e + 2)), 1 / (e + 2), 2 / (e + 2)

    def interval(made: Subset) -> Interval:
        return Interval(made.k, made.size, made.keep)

    made: list[tuple[float, Pairs]] = []
    for epsilon, keys, length in ((1.0, 5, 0), (2.0, 6, 2)):
        total = keys + length
        signed = SignedUnary.calibrate(epsilon, total, three_way)
        sets, subset = signed_subset(epsilon, keys, length, 2), subset_of_signed(epsilon, keys, length, 3)
        few = subset_of_keys(epsilon, keys, length, 2)
        ring = SignedInterval(sets.keys, sets.size, sets.keep)
        bases: list[Kernel] = [
            signed,
            subset,
            interval(subset),
            response(epsilon, keys, length),
            sets,
            ring,
            SignedHashing.calibrate(epsilon, total, 2, Fraction(3, 2)),
            Hashing.calibrate(epsilon, 2 * total, 4),
            Grouped(KeysOnly(few), sets, 3 << 62),
            Grouped(KeysOnly(interval(few)), ring, 3 << 62),
            Grouped(KeysOnly(Unary.calibrate(epsilon, total, WORD // 2)), signed, 1 << 62),
        ]
        made += [(epsilon, Pairs(base, keys, length)) for base in bases]
    half = exp_bounds(0.5)[0]
    keep, flip = int(WORD * half / (1 + half)), WORD - int(WORD * half / (1 + half))
    told = ToldKey(5, keep, flip, (0, 1 << 30, 1 << 31, 3 << 30, 1 << 32))
    return [*made, (1.0, Pairs(OneKey(5, keep, flip), 5, 0)), (1.0, Pairs(told, 5, 0))]


def keyvalue_vectors() -> dict[str, Any]:
    """Reports for pairs of a key and a value in steps of 2^-32 of its range, and kernels that leak too much."""
    cases = []
    for epsilon, kernel in keyvalue_kernels():
        people: list[list[tuple[int, int]]] = [[(0, 1 << 32)], [(kernel.keys - 1, 1 << 30)]]
        people += [[], [(1, 0), (3, 1 << 31), (4, 1 << 32)]] if kernel.length else [[(2, 0)]]
        reports = []
        for x, pairs in enumerate(people):
            for i in range(3):
                words = Recorded(1000 * x + i)
                report = kernel.randomise(pairs, words)
                given = [[key, str(value)] for key, value in pairs]
                used = [hexadecimal(w) for w in words.used]
                reports.append({"pairs": given, "words": used, "report": report.hex()})
        ratio = {"numerator": str(kernel.ratio.numerator), "denominator": str(kernel.ratio.denominator)}
        about = {"epsilon": epsilon, "kernel": kernel_to(kernel), "ratio": ratio, "width": kernel.width}
        cases.append(about | {"leaks": leaking(kernel_to(kernel)), "reports": reports})
    text = "words are used in order; a pair is a key and its value in steps of 2^-32 of its range, as text; "
    return {"about": text + "leaks: the same kernel with a larger ratio, to be refused", "cases": cases}


def leaking(kernel: dict[str, Any]) -> dict[str, Any]:
    """The kernel with one threshold moved by 2^-20 (2^-3 where not all is spent), so that its ratio is too large."""
    if kernel["kind"] == "lattice":
        return looser(kernel)
    step = 1 << (61 if kernel["kind"] == "one-key" else 44)
    for name, sign in (("own", 1), ("plain", 1), ("keep", 1), ("again", -1), ("base", -1)):
        if isinstance(kernel.get(name), str):
            return kernel | {name: str(int(kernel[name]) + sign * step)}
    for name in ("chances", "data", "parts", "keeps"):
        if name in kernel:
            *rest, last = kernel[name]
            moved = leaking(last) if isinstance(last, dict) else str(int(last) + step)
            return kernel | {name: [*rest, moved]}
    if "budgets" in kernel:
        return unkept(kernel)
    if "weights" in kernel:
        return kernel | {"weights": uneven(kernel["weights"], step)}
    inner = next(name for name in ("base", "window", "second") if name in kernel)
    return kernel | {inner: leaking(kernel[inner])}


def uneven(weights: list[list[str]], step: int) -> list[list[str]]:
    """A table with more weight at the largest entry of the column of largest ratio, and less beside it."""
    columns = [[int(w) for w in column] for column in zip(*weights, strict=True)]
    y = max(range(len(columns)), key=lambda i: Fraction(max(columns[i]), min(columns[i])))
    x = columns[y].index(max(columns[y]))
    made = [list(row) for row in weights]
    for place, sign in ((y, 1), ((y + 1) % len(columns), -1)):
        made[x][place] = str(int(made[x][place]) + sign * step)
    return made


# ---- all other kernels, in files by subject


def seeded_kernels() -> list[tuple[float, Kernel]]:
    """Kernels with a public seed, beside plain hashing."""
    found: list[tuple[float, Kernel]] = [
        (e, Balanced.calibrate(e, k, g)) for e, k, g in ((1.0, 10, 2), (2.0, 100, 7), (1.0, 5, 5))
    ]
    found += [(e, Interval.calibrate(e, k, s)) for e, k, s in ((1.0, 2, 1), (0.5, 9, 6), (2.0, 300, 40))]
    for e, k, arc, ring in ((1.0, 10, 1 << 30, 32), (2.0, 1000, 500_000_001, 32), (1.0, 4, 3, 4)):
        found.append((e, Wheel.calibrate(e, k, arc, ring)))
    return found


def design_kernels() -> list[tuple[float, Kernel]]:
    """Kernels on block designs."""
    found: list[tuple[float, Kernel]] = [(e, Hadamard.calibrate(e, k)) for e, k in ((1.0, 2), (2.0, 7), (1.0, 1000))]
    for e, k, prime in ((1.0, 3, 2), (2.0, 13, 3), (1.5, 300, 5)):
        found.append((e, Projective.calibrate(e, k, prime)))
    return found


def laplace_kernels() -> list[tuple[float, Kernel]]:
    """Noise on a histogram, on a coarse grid, cut off early, and as usual."""
    return [
        (1.0, Laplace.calibrate(1.0, 2, grid=0)),
        (2.0, Laplace.calibrate(2.0, 3, grid=3, reach=20)),
        (0.5, Laplace.calibrate(0.5, 2)),
    ]


def mixture_kernels() -> list[tuple[float, Kernel]]:
    """Two kernels and a coin, and a report that says nothing."""
    found: list[tuple[float, Kernel]] = [
        (e, Mixture(Subset.calibrate(e, k, a), Subset.calibrate(e, k, b), coin))
        for e, k, a, b, coin in ((1.0, 5, 1, 2, 1 << 62), (2.0, 12, 2, 3, 3 << 62))
    ]
    found.append((1.0, Mixture(Whole(6), Subset.calibrate(1.0, 6, 2), (1 << 63) + 12345)))
    return [*found, (1.0, Whole(9))]


def utility_kernels() -> list[tuple[float, Kernel]]:
    """Sensitive and harmless values: blind, beside and mapped reports on several bases, and budgets of their own."""
    some = (0, 2, 4, 6)
    found: list[tuple[float, Kernel]] = []
    for e, base in ((1.0, Response.calibrate(1.0, 4)), (2.0, Subset.calibrate(2.0, 4, 2))):
        found.append((e, Utility.null(e, 9, some, (base,))))
    for e, base in ((1.0, Unary.calibrate(1.0, 4, WORD // 2)), (2.0, Hashing.calibrate(2.0, 4, 3))):
        found.append((e, Utility.separate(e, 9, some, (base,))))
    for e, base in ((1.0, Response.calibrate(1.0, 4)), (2.0, Hashing.calibrate(2.0, 4, 3))):
        found.append((e, Utility.mapped(e, 300, some, (base,), Fraction(1, 2))))
    found.append((1.0, Utility.null(1.0, 3, (1, 2), ())))
    levels = ((0.5, 0.5, 1.0, 2.0), 9, some, 0)
    return [*found, (2.0, UtilityBudgets.calibrate(*levels)), (2.0, UtilityBudgets.calibrate((2.0,), 2, (0, 1), 0))]


def personal_kernels() -> list[tuple[float, Kernel]]:
    """A level that everyone chooses: told by a response, by a bit, or not; with and without harmless values."""
    levels = (0.5, 1.0, 2.0)
    bit = Bit.calibrate(0.5, (Fraction(-1), Fraction(-1, 3), Fraction(1)))
    told = Response.calibrate(1.0, 3)
    some = (0, 2, 4, 5)
    found: list[tuple[float, Kernel]] = [
        (0.5, bit),
        (2.0, Personal(tuple(Response.calibrate(e, 5) for e in levels), (told,))),
        (2.0, Personal(tuple(Hashing.calibrate(e, 300, 4) for e in levels), (bit,))),
        (2.0, Personal(tuple(Unary.calibrate(e, 3, WORD // 2) for e in levels), ())),
    ]
    bases: list[tuple[Kernel, ...]] = [
        tuple(Response.calibrate(e, 3) for e in levels),
        tuple(Hashing.calibrate(e, 3, 2) for e in levels),
    ]
    for channel, data in zip(((told,), ()), bases, strict=True):
        made = (Utility.null(e, 6, some, (base,)) for e, base in zip(levels, data, strict=True))
        found.append((2.0, Personal(tuple(made), channel)))
    found.append((2.0, Personal(tuple(Affine.calibrate(e, 5, 7, 3, 1, 0) for e in levels), (told,))))
    blocks = [Affine.calibrate(e, 3, 5, 2, 1, 0) for e in levels]
    made = (Utility.null(e, 6, some, (base,)) for e, base in zip(levels, blocks, strict=True))
    return [*found, (2.0, Personal(tuple(made), (told,)))]


def table_kernels() -> list[tuple[float, Kernel]]:
    """Channels that are written down: own outputs, and a value in between."""
    found: list[tuple[float, Kernel]] = []
    for e, outputs in ((1.0, 2), (2.0, 3), (0.5, 5)):
        low = exp_bounds(e)[0]
        other = -int(-WORD // (low + outputs - 1))
        own = WORD - (outputs - 1) * other
        rows = [tuple(own if x == y else other for y in range(outputs)) for x in range(outputs)]
        even = (WORD // outputs,) * (outputs - 1)
        found.append((e, Table((*rows, (*even, WORD - sum(even))))))
    return found


def window_kernels() -> list[tuple[float, Kernel]]:
    """Answers near a value in an order, bits that lean with it, and one or the other."""
    shapes = (
        (0.5, (8, 8, 4, 2, 1)),
        (1.0, (9, 9, 4, 2, 0)),
        (1.0, (9, 9, 4, 1, 0)),
        (2.0, (4, 4, 1, 0, 0)),
        (1.0, (64, 96, 33, 0, 0)),
        (2.0, (3, 2, 1, 1, 0)),
        (1.0, (1000, 1000, 378, 189, 1)),
    )
    found: list[tuple[float, Kernel]] = [(e, Window.calibrate(e, *shape)) for e, shape in shapes]
    found += [(e, Leaning.calibrate(e, k)) for e, k in ((1.0, 2), (0.5, 3), (2.0, 1024))]
    for e, k, m, coin in ((2.0, 8, 4, 1 << 62), (4.0, 1000, 200, 3 << 62)):
        pair = (Window.calibrate(e, k, k - 1 + m, m), Leaning.calibrate(e, k))
        found.append((e, WindowOrBit(*pair, coin)))
    return found


def metric_kernels() -> list[tuple[float, Kernel]]:
    """Nearest answers by lists, codes for runs of values, and nothing at all."""
    near = ((0, 1), (0, 1), (1, 2), (2, 3), (2, 3))
    far = ((0, 7, 299), (3, 150, 151), (0, 1, 2))
    return [
        (1.0, Neighbours.calibrate(1.0, near, 4)),
        (2.0, Neighbours.calibrate(2.0, far, 300)),
        (0.5, Neighbours.calibrate(0.5, ((2,), (0,), (1,)), 3)),
        (1.0, Recode(8, (0, 4), (0, 1), Response.calibrate(1.0, 2))),
        (2.0, Recode(10, (0, 1, 5, 8), (2, 0, 2, 1), Response.calibrate(2.0, 3))),
        (1.0, Constant(7)),
    ]


def box_kernels() -> list[tuple[float, Kernel]]:
    """Several questions in one report: yes/no, of unequal sizes, in more than one byte, and one question alone."""
    cases = (
        (2.0, (2, 2), (1, 1)),
        (3.0, (2, 2, 2), (1, 1, 1)),
        (1.0, (4, 3), (2, 1)),
        (0.5, (3, 5, 2), (2, 3, 1)),
        (4.0, (10, 7, 12), (1, 2, 3)),
        (1.0, (9,), (3,)),
    )
    return [(e, Box.calibrate(e, sizes, shape)) for e, sizes, shape in cases]


def several_kernels() -> list[tuple[float, Kernel]]:
    """Ticked options: few and many of them, one and several outputs, dummies and outputs for what is not ticked."""
    cases = (
        (1.0, 4, 2, 2, 1),
        (2.0, 5, 5, 5, 1),
        (0.5, 20, 5, 5, 2),
        (1.0, 60, 3, 3, 6),
        (4.0, 3, 1, 1, 2),
        (1.0, 12, 4, 12, 1),
        (0.5, 32, 32, 32, 1),
        (1.0, 33, 2, 2, 29),
    )
    return [(e, Several.calibrate(e, *numbers)) for e, *numbers in cases]


def interaction_kernels() -> list[tuple[float, Kernel]]:
    """Cells of two and of three questions; numbers of answers that g divides, and others."""
    shapes = (
        (1.0, (3, 3), 3, 1),
        (2.0, (6, 3), 3, 1),
        (0.5, (2, 2), 2, 1),
        (1.0, (5, 300), 4, 2),
        (1.5, (2, 3, 4), 2, 1),
    )
    more = ((0.5, (9, 70), 20, 7), (2.0, (70_000, 3), 9, 1))
    return [(e, Interaction.calibrate(e, sizes, g, size)) for e, sizes, g, size in (*shapes, *more)]


def windows_kernels() -> list[tuple[float, Kernel]]:
    """Cells of several widths on a circle: shifted, standing still, with more points than answers, of one width."""
    shapes = (
        (1.0, (8, 8, (1, 2), (1, 2), (1, 1), (2, 1))),
        (2.0, (6, 9, (1, 3), (1, 3), (5, 2), (1, 1))),
        (0.5, (16, 16, (1, 2, 4), (1, 1, 1), (7, 2, 1), (6, 3, 2))),
        (1.0, (1000, 1024, (1, 4, 256), (1, 4, 256), (2, 1, 2), (275, 69, 1))),
        (1.0, (2, 2, (1,), (1,), (1,), (1,))),
    )
    return [(e, Windows.calibrate(e, *shape)) for e, shape in shapes]


OTHERS = {
    "seeded": seeded_kernels,
    "designs": design_kernels,
    "laplace": laplace_kernels,
    "mixture": mixture_kernels,
    "utility": utility_kernels,
    "personal": personal_kernels,
    "table": table_kernels,
    "window": window_kernels,
    "metric": metric_kernels,
    "affine": affine_kernels,
    "channel": channel_kernels,
    "lattice": lattice_kernels,
    "arc": arc_kernels,
    "box": box_kernels,
    "several": several_kernels,
    "interaction": interaction_kernels,
    "windows": windows_kernels,
}
"""Files of kernels on plain values, beside those of `KERNELS`."""


def numbers(document: Any) -> Iterator[int]:
    """All numbers of a kernel's document, in order."""
    if isinstance(document, str):
        yield from [int(document)] if document.isdecimal() else []
    else:
        for part in document.values() if isinstance(document, dict) else document:
            yield from numbers(part)


def thresholds(kernel: Kernel, x: int, level: int) -> list[int]:
    """Numbers that words are compared with when x is reported."""
    if isinstance(kernel, Table):
        return list(accumulate(kernel.weights[x]))[:-1]
    if isinstance(kernel, Channel):
        found = sorted({total for total in accumulate(kernel.weights[x]) if 0 < total < WORD})
        return found if len(found) < 8 else found[:4] + found[-4:]
    if isinstance(kernel, Lattice):
        return list(accumulate(kernel.row(kernel.points * x // kernel.k)))[:-1]
    parts: list[Kernel] = [kernel.data[level], *kernel.level] if isinstance(kernel, Personal) else [kernel]
    bit = kernel.bit if isinstance(kernel, WindowOrBit) else kernel
    lean = [bit.base + x * bit.slope] if isinstance(bit, Leaning) else []
    found = [number for part in parts for number in numbers(kernel_to(part)) if 1 << 40 <= number < WORD]
    return list(dict.fromkeys(lean + found))


def other_reports(kernel: Kernel) -> list[dict[str, Any]]:
    """Reports of the first, a middle and the last value, at every level if there are some; words at the edges."""
    made: dict[tuple[int, int, tuple[int, ...]], dict[str, Any]] = {}
    levels = range(len(kernel.data)) if isinstance(kernel, Personal) else range(1)
    for x, level in product(sorted({0, kernel.k // 2, kernel.k - 1}), levels):
        fronts = ((0, 0), (WORD - 1, 0)) if isinstance(kernel, Windows) else ((), (0,))
        edges = [(*front, t - below) for t in thresholds(kernel, x, level) for front in fronts for below in (1, 0)]
        for i, first in enumerate([(), (), (WORD - 1, 0, 0), (WORD - 1, 0, WORD - 1), *edges]):
            words = Recorded(1000 * x + 100 * level + i, first)
            chosen = {"level": level} if isinstance(kernel, Personal) else {}
            report = kernel.randomise(x, words, **chosen)
            row = {"value": x, **chosen, "words": [hexadecimal(w) for w in words.used], "report": report.hex()}
            made.setdefault((x, level, tuple(words.used)), row)
    return list(made.values())


def other_vectors(kernels: list[tuple[float, Kernel]]) -> dict[str, Any]:
    """Parameters, exact ratio, reports, and the same kernel leaking too much, unless it tells nothing."""
    cases = []
    for epsilon, kernel in kernels:
        own, found = kernel_to(kernel), promised_ratio(kernel)
        ratio = {"numerator": str(found.numerator), "denominator": str(found.denominator)}
        budgets = {"budgets": [0.5, 0.5, 1.0, 2.0][-kernel.s :]} if isinstance(kernel, UtilityBudgets) else {}
        about = {"epsilon": epsilon, **budgets, "kernel": own, "ratio": ratio, "width": kernel.width}
        cases.append(about | {"leaks": None if found == 1 else leaking(own), "reports": other_reports(kernel)})
    text = "words are used in order; each report is bytes in hexadecimal; a level is the number of the chosen one; "
    return {"about": text + "leaks: the same kernel with a larger ratio, to be refused", "cases": cases}


def grammar_vectors() -> dict[str, Any]:
    """Which kernels a mechanism may have, and how its parameters are checked against them."""
    text = "kinds of kernels by the place where they may stand; rules of parameters: clients/python, grammar.py"
    forms = {name: {"kernel": form.kernel, "params": form.params} for name, form in FORMS.items()}
    return {"about": text, "forms": forms}


def every() -> dict[str, str]:
    """The text of each file, by name."""
    made = {kind: kernel_vectors(kind) for kind in KERNELS}
    made["keyvalue"] = keyvalue_vectors()
    made |= {name: other_vectors(kernels()) for name, kernels in OTHERS.items()}
    made |= {"hash": hash_vectors(), "packing": packing_vectors(), "promise": promise_vectors()}
    made["grammar"] = grammar_vectors()
    texts = {f"{name}.json": json.dumps(content, indent=1) + "\n" for name, content in made.items()}
    made = {"canonical": canonical_vectors(), "tasks": tasks_vectors(), "ledger": ledger_vectors()}
    made["signatures"] = signatures_vectors()
    made["texts"] = texts_vectors()
    made["dealt"] = dealt_vectors(Recorded, leaking)
    made["fields"] = field_vectors()
    made["limits"] = limit_vectors()
    hostile = hostile_vectors()
    made["sentences"] = sentence_vectors(hostile["good"] + made["dealt"]["good"], made["tasks"]["good"])
    texts |= {f"{name}.json": lines(content) for name, content in made.items()}
    return texts | {"hostile.json": lines(hostile, " ")} | sentences()


def sentences() -> dict[str, str]:
    """Modules of the JavaScript client with what the Python client says: one or two texts for each name."""
    found = {}
    for part, texts in json.loads(ENGLISH.read_text("utf-8")).items():
        rows = "".join(f"  {name}: {json.dumps(text, ensure_ascii=False)},\n" for name, text in texts.items())
        head = "/** Written by clients/vectors/make.py from english.json of the Python client. */\n"
        found[f"../js/src/english_{part}.js"] = f"{head}export const {part.upper()} = {{\n{rows}}};\n"
    return found


def lines(content: dict[str, Any], between: str = "\n") -> str:
    """One case a line, since some are nested hundreds deep."""
    parts = []
    for name, part in content.items():
        cases = ",\n".join(json.dumps(case) for case in part) if isinstance(part, list) else ""
        parts.append(f"{json.dumps(name)}: " + (f"[\n{cases}\n]" if cases else json.dumps(part)))
    return "{" + f",{between}".join(parts) + "}\n"


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
