"""What a file may ask for is limited, and looked at before anything is done for it."""

from __future__ import annotations

import io
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect import limits
from deniable.collect.codec import ReportWriter, canonical
from deniable.collect.tally import Tally
from deniable.errors import DeniableError, FormatError, MergeError
from deniable.run.local import estimate_files, tally_files
from fuzz.files import reheaded

GOLDEN = Path(__file__).parents[1] / "golden"
LITTLE = 1 << 24
"""Bytes that refusing a file may take."""


@contextmanager
def within(most: int) -> Iterator[None]:
    """No more than so many bytes are held at once."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= most, f"{peak:,} bytes were held"


def grr_of(k: int) -> dict[str, Any]:
    """The design of randomised response over k answers."""
    return dict(dn.mechanism("grr", epsilon=1.0, k=k).design)


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def refused(data: bytes, folder: Path) -> str:
    """What is said against a file, by the library and by a job, in little memory."""
    path = folder / "forged"
    path.write_bytes(data)
    said = []
    for act in (lambda: dn.load(data), lambda: tally_files([str(path)]), lambda: estimate_files([str(path)])):
        with within(LITTLE + 32 * len(data)), pytest.raises(FormatError) as caught:
            act()
        said.append(caught.value.message)
    return said[0]


@pytest.mark.parametrize("k", [limits.ANSWERS + 1, 1 << 27, 1 << 32])
def test_a_small_file_of_a_huge_domain_is_refused_in_little_memory(k: int, tmp_path: Path) -> None:
    """A file of 249 bytes with k = 2^27 took 12.8 GB and 167 s."""
    design = grr_of(k)
    width = dn.mechanism("grr", epsilon=1.0, k=k).bulk.row_bytes

    def change(header: dict[str, Any]) -> None:
        header.update(design=design, fields=[["value", "uint", width]])

    data = golden("grr-v1.reports")
    data = data[: -16 - 12 - 8] + bytes(8) + bytes(8)  # no reports at all
    assert f"{k:,} answers" in refused(reheaded(data, change), tmp_path)


def test_as_many_cells_as_allowed_are_allowed() -> None:
    m = dn.mechanism("uss", epsilon=1.0, k=6, sensitive=2)
    size = sum(cell.size for cell in m.empty().cells.values())
    assert m.empty(most=size) == m.empty()
    with pytest.raises(FormatError, match=f"has {size} cells"):
        m.empty(most=size - 1)


def test_parts_of_a_design_have_no_more_answers_either() -> None:
    few, many = grr_of(limits.ANSWERS), grr_of(limits.ANSWERS + 1)
    limits.check_answers({"parts": [few, few]})
    for parts in ([few, many], [many], [few, {"parts": [many]}]):
        with pytest.raises(FormatError, match=f"{limits.ANSWERS + 1:,} answers"):
            limits.check_answers({"parts": parts})


def test_the_largest_domain_that_is_allowed_is_read(tmp_path: Path) -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=limits.ANSWERS)
    data = dn.dump(m.privatize([0, limits.ANSWERS - 1], rng=dn.simulation(1)))
    (tmp_path / "large").write_bytes(data)
    assert tally_files([str(tmp_path / "large")]).n == 2


def test_what_could_not_be_read_is_not_written() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=limits.ANSWERS + 1)
    with pytest.raises(FormatError, match="answers"):
        ReportWriter(io.BytesIO(), m.design, m.fields, simulated=True)
    with pytest.raises(FormatError, match="answers"):
        dn.dump(m.privatize([1], rng=dn.simulation(1)))


@pytest.mark.parametrize("deep", [limits.DEPTH + 1, 360, 2_000, 100_000])
@pytest.mark.parametrize("pair", ["[]", "{}"])
@pytest.mark.parametrize("name", ["grr-v1.reports", "grr-v1.tally"])
def test_deep_headers_are_refused(deep: int, pair: str, name: str, tmp_path: Path) -> None:
    opening, closing = ('{"a":', "}") if pair == "{}" else ("[", "]")
    text = opening * deep + "1" + closing * deep

    def change(header: dict[str, Any]) -> bytes:
        whole = canonical({**header, "design": "HERE"}).decode()
        return whole.replace('"HERE"', text).encode()

    assert "nested" in refused(reheaded(golden(name), change), tmp_path)


def test_brackets_in_labels_are_not_nesting() -> None:
    labels = ["[" * 100, '{"' * 100, "\\" * 101, '"[']
    m = dn.mechanism("grr", epsilon=1.0, labels=labels)
    back = dn.load(dn.dump(m.empty()))
    assert dn.from_design(back.design).domain.labels == tuple(labels)


MANY = b"[" + b"0," * limits.VALUES + b"0]"
HEADERS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "not a number": (lambda h: canonical({**h, "x": "HERE"}).replace(b'"HERE"', b"NaN"), "not a JSON"),
    "infinity": (lambda h: canonical({**h, "x": "HERE"}).replace(b'"HERE"', b"-Infinity"), "not a JSON"),
    "beyond floats": (lambda h: canonical({**h, "x": "HERE"}).replace(b'"HERE"', b"1e999"), "not a JSON"),
    "many digits": (lambda h: canonical({**h, "x": "HERE"}).replace(b'"HERE"', b"1" * 5000), "not a JSON"),
    "a name twice": (lambda h: canonical(h)[:-1] + b',"simulated":false}', "not a JSON"),
    "no UTF-8": (lambda h: canonical(h).replace(b"grr", b"gr\xff"), "not a JSON"),
    "many values": (
        lambda h: canonical({**h, "x": "HERE"}).replace(b'"HERE"', b"[" + b"0," * limits.VALUES + b"0]"),
        "values",
    ),
    "no fields": (lambda h: {**h, "fields": [], "cells": []}, "fields|cell"),
    "a field twice": (lambda h: {**h, "fields": h.get("fields", []) * 2, "cells": h.get("cells", []) * 2}, "twice"),
    "text as a size": (lambda h: {**h, "fields": [["value", "uint", "1"]], "cells": [["n", ["1"]]]}, "well formed"),
    "a fraction as a size": (
        lambda h: {**h, "fields": [["value", "uint", 1.5]], "cells": [["n", [1.0]]]},
        "well formed",
    ),
    "truth as a size": (lambda h: {**h, "fields": [["value", "uint", True]], "cells": [["n", [True]]]}, "well formed"),
    "a number as a name": (lambda h: {**h, "fields": [[1, "uint", 1]], "cells": [[1, [1]]]}, "well formed"),
}


@pytest.mark.parametrize("name", ["grr-v1.reports", "grr-v1.tally"])
@pytest.mark.parametrize("case", HEADERS)
def test_odd_headers_are_refused(case: str, name: str, tmp_path: Path) -> None:
    change, said = HEADERS[case]
    path = tmp_path / "forged"
    path.write_bytes(reheaded(golden(name), change))
    with pytest.raises(FormatError) as caught:
        tally_files([str(path)])
    assert re.search(said, caught.value.message), caught.value.message


def test_tallies_of_more_cells_than_allowed_are_refused_before_they_are_read(tmp_path: Path) -> None:
    for shape in ([1, limits.CELLS + 1], [1, 10**30], [1, -1], [0, 5], [1] * 60, [2**20, 2**20]):
        data = reheaded(golden("grr-v1.tally"), lambda h, s=shape: {**h, "cells": [["n", [1]], ["support", s]]})
        assert "cells" in refused(data, tmp_path)


def test_a_block_that_is_too_long_is_refused_before_it_is_read(tmp_path: Path) -> None:
    data = reheaded(golden("oue-v1.reports"), lambda h: {**h, "fields": [["bits", "bytes", 1 << 31]]})
    assert "bytes" in refused(data, tmp_path)


@pytest.mark.slow
def test_wide_reports_are_written_in_blocks_that_can_be_read() -> None:
    rows = 40
    m = dn.mechanism("she", epsilon=1.0, k=1 << 18)
    reports = m.privatize(np.zeros(rows, np.int64), rng=dn.simulation(1))
    assert reports.nbytes > limits.BLOCK_WRITTEN
    data = dn.dump(reports)
    back = dn.load(data)
    assert len(back) == rows
    assert dn.dump(back) == data


def test_a_mechanism_of_more_cells_than_a_tally_may_have_is_refused(tmp_path: Path) -> None:
    """The domain is small; what is counted is not."""
    k = limits.ANSWERS
    m = dn.mechanism("hr", epsilon=1.0, k=k)
    assert sum(cell.size for cell in m.bulk.cells.values()) + 1 > limits.CELLS  # with n
    data = dn.dump(m.privatize([1], rng=dn.simulation(1)))
    (tmp_path / "forged").write_bytes(data)
    with within(LITTLE), pytest.raises(FormatError, match="cells"):
        tally_files([str(tmp_path / "forged")])


# ---- sums


def test_sums_that_do_not_fit_are_refused() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    huge = Tally(m.design, m.bulk.strata, {"n": np.array([2**62]), "support": np.array([[2**62, 0, 0]])})
    with pytest.raises(MergeError, match="64 bits"):
        huge + huge
    low = Tally(m.design, m.bulk.strata, {"n": np.array([-(2**63)]), "support": np.array([[0, 0, 0]])})
    with pytest.raises(MergeError, match="64 bits"):
        low + low
    assert (huge + low).cells["n"].tolist() == [2**62 - 2**63]


def test_the_number_of_reports_does_not_wrap_around() -> None:
    m = dn.mechanism("ssmix", epsilon=1.0, k=10)
    most = 2**63 - 1
    tally = Tally(m.design, m.bulk.strata, {"n": np.array([most, most]), "support": np.zeros((2, 10), np.int64)})
    assert tally.n == 2 * most
    with pytest.raises(DeniableError, match="reports"):
        m.estimate(tally)


def test_the_header_limit_is_about_the_length_that_is_claimed(tmp_path: Path) -> None:
    data = golden("grr-v1.tally")
    assert "header" in refused(data[:5] + (limits.HEADER + 1).to_bytes(4, "little") + data[9:], tmp_path)


def test_limits_are_written_down() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for name in ("HEADER", "DEPTH", "VALUES", "ANSWERS", "CELLS", "BLOCK", "REPORTS"):
        value = getattr(limits, name)
        assert f"{value:,}" in page, f"{name} = {value:,} is not on the page"
