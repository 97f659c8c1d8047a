"""The test vectors that all clients share: this client gives them, and the bulk side reads them the same way."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.kernels import hashing as bulk
from deniable.kernels import loops
from deniable.mechanisms.support import SupportMechanism
from deniable_client.errors import FormatError, PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.hashing import bucket, expand, hash32, mix32
from deniable_client.kernels import check_promise, kernel_from
from deniable_client.packing import bits_width, pack_bits, pack_int, uint_width, unpack_bits, unpack_int
from deniable_client.words import ReplayWords

FOLDER = Path(__file__).parents[2] / "clients" / "vectors"
FILES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
KINDS = ["response", "subset", "unary", "hashing"]


def test_the_files_are_there() -> None:
    assert set(FILES) >= {*KINDS, "hash", "packing", "promise"}


@pytest.mark.slow
def test_the_files_are_what_their_script_makes() -> None:
    made = runpy.run_path(str(FOLDER / "make.py"))["every"]()
    assert {name.removesuffix(".json") for name in made if not name.endswith(".js")} == set(FILES)
    for name, text in made.items():
        assert (FOLDER / name).read_text() == text, f"{name} differs from what clients/vectors/make.py gives"


@pytest.mark.parametrize("kind", KINDS)
def test_scalar_randomisers_turn_the_words_into_the_reports(kind: str) -> None:
    count = 0
    for case in FILES[kind]["cases"]:
        kernel = kernel_from(case["kernel"])
        assert kernel.width == case["width"]
        assert kernel.ratio == Fraction(int(case["ratio"]["numerator"]), int(case["ratio"]["denominator"]))
        for row in case["reports"]:
            words = ReplayWords([int(word, 16) for word in row["words"]])
            assert kernel.randomise(row["value"], words).hex() == row["report"]
            assert next(words._words, None) is None, "not all words are used"
            count += 1
    assert count >= 40


def mechanism_of(kind: str, case: dict[str, Any]) -> SupportMechanism:
    """The mechanism with the same integers; epsilon and k give them back."""
    kernel, epsilon = kernel_from(case["kernel"]), case["epsilon"]
    made = {
        "response": lambda: dn.mechanism("grr", epsilon=epsilon, k=kernel.k),
        "subset": lambda: dn.mechanism("ss", epsilon=epsilon, k=kernel.k, size=kernel.size),
        "unary": lambda: dn.mechanism("ue", epsilon=epsilon, k=kernel.k, p=kernel.keep / 2**64),
        "hashing": lambda: dn.mechanism("lh", epsilon=epsilon, k=kernel.k, g=kernel.g),
    }[kind]()
    assert made.kernel == kernel
    return made


def supported(kind: str, case: dict[str, Any], report: bytes) -> list[int]:
    """The items of a report, read by the client's own functions."""
    k = int(case["kernel"]["k"])
    if kind == "response":
        return [unpack_int(report, len(report))]
    if kind == "hashing":
        seed, value, g = unpack_int(report[:8], 8), unpack_int(report[8:], len(report) - 8), int(case["kernel"]["g"])
        return [x for x in range(k) if bucket(seed, x, g) == value]
    return unpack_bits(report, k)


@pytest.mark.parametrize("kind", KINDS)
def test_the_collecting_side_reads_the_reports_of_the_vectors(kind: str) -> None:
    for case in FILES[kind]["cases"]:
        m = mechanism_of(kind, case)
        rows = [bytes.fromhex(row["report"]) for row in case["reports"]]
        reports = Reports.from_rows(m.design, m.fields, rows, simulated=True)
        counts = np.zeros(m.k, np.int64)
        for i, row in enumerate(rows):
            items = supported(kind, case, row)
            counts[items] += 1
            assert m.bulk.supported(reports[i : i + 1].columns).tobytes() == pack_bits(items, m.k)
        assert m.bulk.support_counts(m.tally(reports).cells).tolist() == counts.tolist()


def test_scalar_and_bulk_hash_give_the_vectors() -> None:
    cases = FILES["hash"]["cases"]
    seeds = np.array([int(case["seed"], 16) for case in cases], np.uint64)
    items = np.array([case["item"] for case in cases])
    assert bulk.mix32(items).tolist() == [case["mix"] for case in cases]
    assert bulk.hash_values(seeds, items).tolist() == [case["hash"] for case in cases]
    for case, a, b in zip(cases, *bulk.expand(seeds), strict=True):
        seed, item = int(case["seed"], 16), case["item"]
        assert expand(seed) == (int(case["a"], 16), int(case["b"], 16)) == (int(a), int(b))
        assert (mix32(item), hash32(seed, item)) == (case["mix"], case["hash"])
        for g, y in case["buckets"].items():
            assert bucket(seed, item, int(g)) == y
            assert bulk.bucket(np.array([seed], np.uint64), np.array([item]), int(g)).tolist() == [y]


def test_scalar_and_bulk_packing_give_the_vectors() -> None:
    for case in FILES["packing"]["bits"]:
        k, items, data = case["k"], case["items"], bytes.fromhex(case["bytes"])
        assert pack_bits(items, k) == data
        assert unpack_bits(data, k) == items
        assert bits_width(k) == len(data) == case["width"]
        row = np.frombuffer(data, np.uint8)[None, :]
        assert np.flatnonzero(loops().count_bits(row, k)).tolist() == items
    for case in FILES["packing"]["integers"]:
        value, data = int(case["value"]), bytes.fromhex(case["bytes"])
        assert uint_width(int(case["count"])) == case["width"] == len(data)
        assert pack_int(value, case["width"]) == data
        assert int(np.frombuffer(data, f"<u{case['width']}")[0]) == unpack_int(data, case["width"]) == value


@pytest.mark.parametrize("case", FILES["packing"]["refused"], ids=str)
def test_bytes_that_are_no_report_are_refused(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["bytes"])
    with pytest.raises(FormatError):
        unpack_bits(data, case["k"])
    m = dn.mechanism("oue", epsilon=1.0, k=case["k"])
    with pytest.raises(FormatError):
        m.tally(Reports.from_rows(m.design, m.fields, [data], simulated=True))


def test_promises_are_judged_as_the_vectors_say() -> None:
    judged = {True: 0, False: 0}
    for case in FILES["promise"]["cases"]:
        if "bounds" in case:
            low, high = exp_bounds(case["epsilon"])
            assert [str(v) for v in low.as_integer_ratio()] == case["bounds"]["low"]
            assert [str(v) for v in high.as_integer_ratio()] == case["bounds"]["high"]
            continue
        kernel, bound = kernel_from(case["kernel"]), exp_bounds(case["epsilon"])[0]
        judged[case["accept"]] += 1
        if case["accept"]:
            check_promise(kernel, bound, case["epsilon"])
        else:
            with pytest.raises(PrivacyError, match="no report was made"):
                check_promise(kernel, bound, case["epsilon"])
    assert judged[True] == judged[False] >= 12
