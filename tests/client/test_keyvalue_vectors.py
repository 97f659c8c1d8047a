"""The key-value test vectors: this client gives them, devices refuse the leaking ones, and the bulk side reads them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.collect.reports import split_rows
from deniable.core.types import Bytes
from deniable.mechanisms.bulk import SupportBulk
from deniable.mechanisms.frequency.grr import ResponseBulk
from deniable.mechanisms.frequency.local_hashing import HashingBulk
from deniable.mechanisms.frequency.subset import IntervalBulk, SubsetBulk
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.keyvalue.bulk import KeyBulk, OneKeyBulk, OnKeys, SignedSubsetBulk, SignedUnaryBulk
from deniable.mechanisms.keyvalue.seeded_bulk import SignedHashingBulk, SignedIntervalBulk
from deniable_client.errors import PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.hashing import bucket, permute
from deniable_client.kernels import Grouped, Kernel, KeysOnly, Pairs, check_promise, kernel_from
from deniable_client.kernels.keyvalue_seeded import sign_of
from deniable_client.packing import unpack_bits, unpack_int
from deniable_client.words import ReplayWords

FILE = Path(__file__).parents[2] / "clients" / "vectors" / "keyvalue.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"]


def kernel_of(case: dict[str, Any]) -> Pairs:
    kernel = kernel_from(case["kernel"])
    assert isinstance(kernel, Pairs)
    return kernel


def parts(base: Kernel) -> list[Kernel]:
    return [base.first, base.second] if isinstance(base, Grouped) else [base]


def test_every_kind_of_kernel_has_vectors() -> None:
    kinds = {part.kind for case in CASES for part in parts(kernel_of(case).base)}
    kinds |= {part.base.kind for case in CASES for part in parts(kernel_of(case).base) if isinstance(part, KeysOnly)}
    assert kinds == {
        "signed-unary", "subset", "interval", "response", "signed-subset", "signed-interval", "signed-hashing",
        "hashing", "keys-only", "unary", "one-key", "told-key",
    }  # fmt: skip
    assert sum(len(case["reports"]) for case in CASES) >= 200


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kernel']['base']['kind']}-{case['epsilon']}")
def test_words_become_the_reports(case: dict[str, Any]) -> None:
    kernel = kernel_of(case)
    assert kernel.width == case["width"]
    assert kernel.ratio == Fraction(int(case["ratio"]["numerator"]), int(case["ratio"]["denominator"]))
    low = exp_bounds(case["epsilon"])[0]
    check_promise(kernel, low, case["epsilon"])
    with pytest.raises(PrivacyError, match="no report was made"):
        check_promise(kernel_from(case["leaks"]), low, case["epsilon"])
    for row in case["reports"]:
        words = ReplayWords([int(word, 16) for word in row["words"]])
        pairs = [(key, int(value)) for key, value in row["pairs"]]
        assert kernel.randomise(pairs, words).hex() == row["report"]
        assert next(words._words, None) is None, "not all words are used"


BULKS: dict[str, type[KeyBulk[Any]]] = {
    "signed-unary": SignedUnaryBulk,
    "signed-subset": SignedSubsetBulk,
    "signed-interval": SignedIntervalBulk,
    "signed-hashing": SignedHashingBulk,
    "one-key": OneKeyBulk,
    "told-key": OneKeyBulk,
}
PLAIN: dict[str, type[SupportBulk[Any]]] = {
    "subset": SubsetBulk,
    "interval": IntervalBulk,
    "response": ResponseBulk,
    "hashing": HashingBulk,
    "unary": UnaryBulk,
}


def bulk_of(kernel: Any) -> KeyBulk[Any]:
    if kernel.kind in BULKS:
        return BULKS[kernel.kind](kernel)
    signed = kernel.kind in PLAIN
    base = kernel if signed else kernel.base
    return OnKeys.of(PLAIN[base.kind](base), signed=signed)


def signed_keys(kernel: Any, report: bytes) -> set[int]:
    """The signed keys that a report speaks for, read by the client's own functions, one report at a time."""
    if isinstance(kernel, KeysOnly):
        return signed_keys(kernel.base, report)
    kind, d = kernel.kind, getattr(kernel, "keys", 0)
    if kind == "response":
        return {unpack_int(report, len(report))}
    if kind in ("subset", "unary"):
        return set(unpack_bits(report, kernel.k))
    if kind in ("signed-unary", "signed-subset"):
        half = len(report) // 2
        return {*unpack_bits(report[:half], d), *(key + d for key in unpack_bits(report[half:], d))}
    if kind in ("one-key", "told-key"):
        key, said = divmod(unpack_int(report, len(report)), 3)
        return {key + d * (said - 1)} if said else set()
    seed, y = unpack_int(report[:8], 8), unpack_int(report[8:], len(report) - 8)
    if kind == "interval":
        return {x for x in range(kernel.k) if (permute(seed, x, kernel.k) - y) % kernel.k < kernel.size}
    if kind == "hashing":
        return {x for x in range(kernel.k) if bucket(seed, x, kernel.g) == y}
    if kind == "signed-interval":
        inside = [key for key in range(d) if (permute(seed, key, d) - y) % d < kernel.size]
        return {key + d * (y // d ^ sign_of(seed, key)) for key in inside}
    values = {key: bucket(seed, key, 2 * kernel.g) for key in range(d)}
    return {key + d * (values[key] != y) for key in range(d) if values[key] // 2 == y // 2}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kernel']['base']['kind']}-{case['epsilon']}")
def test_the_collecting_side_reads_the_reports(case: dict[str, Any]) -> None:
    base = kernel_of(case).base
    d = base.k // 2
    rows = [bytes.fromhex(row["report"]) for row in case["reports"]]
    for number, kernel in enumerate(parts(base)):
        mine = [row[1:] for row in rows if row[0] == number] if isinstance(base, Grouped) else rows
        mine = [row[: kernel.width] for row in mine]
        bulk = bulk_of(kernel)
        table: Bytes = np.array([list(row) for row in mine], np.uint8).reshape(len(mine), kernel.width)
        cells = bulk.count(split_rows(bulk.fields, table))
        assert (bulk.kernel, bulk.row_bytes) == (kernel, kernel.width)
        wanted = np.zeros(2 * d, np.int64)
        for row in mine:
            wanted[sorted(signed_keys(kernel, row))] += 1
        assert cells["plus"].tolist() == [wanted[:d].tolist()]
        assert cells["minus"].tolist() == [wanted[d:].tolist()]
