"""The test vectors of all other kernels: this client gives them, leaking ones are refused, no kind is forgotten."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable_client.errors import DeniableError, PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.kernels import (
    KERNELS,
    Channel,
    Kernel,
    Personal,
    UtilityBudgets,
    check_promise,
    kernel_from,
    kernel_to,
    promised_ratio,
)
from deniable_client.kernels.utility import check_budgets
from deniable_client.packing import unpack_int
from deniable_client.words import ReplayWords

FOLDER = Path(__file__).parents[2] / "clients" / "vectors"
FILES = (
    "seeded",
    "designs",
    "laplace",
    "mixture",
    "utility",
    "personal",
    "table",
    "window",
    "metric",
    "affine",
    "channel",
    "lattice",
    "arc",
)
FILES += ("box", "interaction", "several", "windows")
CASES = [(name, case) for name in FILES for case in json.loads((FOLDER / f"{name}.json").read_text())["cases"]]
IDS = [f"{name}-{case['kernel']['kind']}-{i}" for i, (name, case) in enumerate(CASES)]


def kinds(document: Any) -> Iterator[str]:
    """The kinds of a kernel's document and of all kernels in it."""
    if isinstance(document, dict):
        yield from [document["kind"]] if "kind" in document else []
        document = list(document.values())
    if isinstance(document, list):
        for part in document:
            yield from kinds(part)


def test_every_kind_of_kernel_has_vectors() -> None:
    """A new kernel needs reports in some file of vectors: add it to clients/vectors/make.py."""
    files = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    cases = [case for file in files for case in file.get("cases", ()) if case.get("reports")]
    assert {kind for case in cases for kind in kinds(case["kernel"])} == set(KERNELS)


def test_personal_levels_have_vectors_over_harmless_values() -> None:
    inner = {part.kind for _, case in CASES for part in getattr(kernel_from(case["kernel"]), "data", ())}
    assert inner == {"response", "hashing", "unary", "affine", "utility"}


def promised(case: dict[str, Any], document: dict[str, Any]) -> Kernel:
    """The kernel, or `PrivacyError` if a device would refuse it."""
    kernel = kernel_from(document)
    check_promise(kernel, exp_bounds(case["epsilon"])[0], case["epsilon"])
    if isinstance(kernel, UtilityBudgets):
        check_budgets(kernel, case["budgets"])
    if isinstance(kernel, Channel):
        kernel.check_promises({})
    return kernel


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_words_become_the_reports(case: dict[str, Any]) -> None:
    kernel = promised(case, case["kernel"])
    assert kernel_to(kernel) == case["kernel"]
    assert kernel.width == case["width"]
    assert promised_ratio(kernel) == Fraction(int(case["ratio"]["numerator"]), int(case["ratio"]["denominator"]))
    for row in case["reports"]:
        words = ReplayWords([int(word, 16) for word in row["words"]])
        chosen = {"level": row["level"]} if isinstance(kernel, Personal) else {}
        report = kernel.randomise(row["value"], words, **chosen)
        assert report.hex() == row["report"]
        assert len(report) == case["width"]
        assert next(words._words, None) is None, "not all words are used"
    assert {0, kernel.k - 1} <= {row["value"] for row in case["reports"]}


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_kernels_that_leak_a_little_more_are_refused(case: dict[str, Any]) -> None:
    if case["leaks"] is None:
        assert promised_ratio(kernel_from(case["kernel"])) == 1
        return
    changed = kernel_from(case["leaks"])  # a kernel in all else
    assert type(changed) is type(kernel_from(case["kernel"]))
    with pytest.raises(PrivacyError, match="no report was made"):
        promised(case, case["leaks"])


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("window", {"name": "brr", "points": 8, "epsilon": 0.5, "size": 4, "tie": "random"}),
        ("window", {"name": "brr", "points": 9, "epsilon": 1.0, "size": 4, "tie": "low"}),
        ("window", {"name": "brr", "points": 9, "epsilon": 1.0, "size": 4, "tie": "high"}),
        ("window", {"name": "sw", "interval": "0,1", "points": 64, "epsilon": 1.0}),
        ("leaning", {"name": "duchi", "interval": "0,1", "points": 1024, "epsilon": 2.0}),
        ("recode", {"name": "codebook", "points": 8, "epsilon": 1.0}),
        ("constant", {"name": "codebook", "points": 7, "epsilon": 0.01}),
    ],
    ids=str,
)
def test_the_collecting_side_reads_the_reports(kind: str, given: dict[str, Any]) -> None:
    m = dn.mechanism(**given)
    case = next(case for _, case in CASES if case["kernel"] == kernel_to(m.kernel))
    assert case["kernel"]["kind"] == kind
    rows = [bytes.fromhex(row["report"]) for row in case["reports"]]
    tally = m.tally(Reports.from_rows(m.design, m.fields, rows, simulated=True))
    counts = tally.cells["value"][0]
    said = [unpack_int(row, len(row)) for row in rows]
    assert counts.tolist() == np.bincount(said, minlength=counts.size).tolist()
    assert tally.n == len(rows)


FIELDS = json.loads((FOLDER / "fields.json").read_text())["cases"]
MADE = runpy.run_path(str(FOLDER / "field_cases.py"))


@pytest.mark.parametrize("case", FIELDS, ids=[f"{case['kernel']['kind']}-{i}" for i, case in enumerate(FIELDS)])
def test_numbers_that_are_changed_in_turn_are_taken_or_not_as_the_vectors_say(case: dict[str, Any]) -> None:
    """And the kernels that they make say of themselves what all clients say: words, widths, work, ratios."""
    kernel, changed, said = case["kernel"], MADE["changed"], MADE["said"]
    assert said(kernel_from(kernel)) == case["said"]
    for field in case["fields"]:
        for value, *wanted in field["taken"]:
            made = kernel_from(changed(kernel, field["place"], value))
            assert not wanted or said(made) == wanted, (field["place"], value)
        for value in field["refused"]:
            with pytest.raises(DeniableError):
                kernel_from(changed(kernel, field["place"], value))


def test_every_kind_of_kernel_has_its_numbers_changed() -> None:
    assert {kind for case in FIELDS for kind in kinds(case["kernel"])} == set(KERNELS)
