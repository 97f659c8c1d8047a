"""Tallies that nobody can have counted are refused; those that somebody can have are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.limits import REPORTS
from deniable.collect.tally import Tally
from deniable.errors import FormatError
from deniable.run.local import estimate_files, tally_files

GOLDEN = Path(__file__).parents[1] / "golden"
TALLIES = sorted(path.name for path in GOLDEN.glob("*.tally"))
HUGE = 10**18


def stored(name: str) -> tuple[dn.Mechanism, Tally]:
    tally = dn.load((GOLDEN / name).read_bytes())
    assert isinstance(tally, Tally)
    return dn.from_design(tally.design), tally


def altered(tally: Tally, name: str, at: tuple[int, ...], value: int) -> Tally:
    """The same tally with another entry."""
    cells = {key: cell.copy() for key, cell in tally.cells.items()}
    cells[name][at] = value
    return Tally(tally.design, tally.strata, cells, tally.simulated)


def refused(m: dn.Mechanism, tally: Tally, folder: Path, said: str = ".") -> None:
    """By the mechanism, and by the jobs that read files."""
    (folder / "forged").write_bytes(dn.dump(tally))
    jobs: list[Callable[[], Any]] = [
        lambda: m.estimate(tally),
        lambda: tally_files([str(folder / "forged")]),
        lambda: estimate_files([str(folder / "forged")]),
    ]
    for job in jobs:
        with pytest.raises(FormatError, match=said):
            job()


@pytest.mark.parametrize("name", TALLIES)
def test_every_cell_of_every_family_is_bounded(name: str, tmp_path: Path) -> None:
    """The largest and the smallest numbers, and one report more than there are, in each cell and stratum."""
    m, tally = stored(name)
    m.bulk.refuse_impossible(tally.cells)
    for cell, shape in tally.layout.items():
        for stratum in range(shape[0]):
            at = (stratum, *([0] if len(shape) > 1 else []))
            for value in (HUGE, -HUGE, -(2**63), 2**63 - 1):
                refused(m, altered(tally, cell, at, value), tmp_path)
            if cell not in ("n", "sum") and shape[1]:
                refused(m, altered(tally, cell, at, -1), tmp_path, "no .* reports? give")
                refused(
                    m, altered(tally, cell, at, int(tally.cells["n"][stratum]) + 1), tmp_path, "no .* reports? give"
                )


@pytest.mark.parametrize("name", TALLIES)
def test_what_is_counted_has_the_layout_that_is_announced(name: str) -> None:
    m, tally = stored(name)
    none = {f.name: np.empty(f.shape(0), f.dtype) for f in m.fields}
    counted = m.bulk.count(none)
    assert {key: cell.shape for key, cell in sorted(counted.items())} == m.bulk.layout == tally.layout
    assert not any(cell.any() for cell in counted.values())


def test_the_tally_of_the_issue_is_refused(tmp_path: Path) -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    tally = Tally(m.design, m.bulk.strata, {"n": np.array([3]), "support": np.array([[7, -4, HUGE]])})
    refused(m, tally, tmp_path, "'support' has the entry 7, possible is from 0 to 3")
    negative = Tally(m.design, m.bulk.strata, {"n": np.array([-(2**63)]), "support": np.zeros((1, 3), np.int64)})
    refused(m, negative, tmp_path, r"from 0 to 281,474,976,710,656 reports, got n = \[-9223372036854775808\]")
    many = Tally(m.design, m.bulk.strata, {"n": np.array([REPORTS + 1]), "support": np.array([[REPORTS + 1, 0, 0]])})
    refused(m, many, tmp_path, "from 0 to 281,474,976,710,656 reports")
    most = Tally(m.design, m.bulk.strata, {"n": np.array([REPORTS]), "support": np.array([[REPORTS, 0, 0]])})
    assert m.estimate(most).n == REPORTS


WRONG_SUMS = {
    "grr": "support",
    "ss": "support",
    "iss": "support",
    "plh": "support",
    "ssmix": "support",
    "hr": "value",
    "pgr": "value",
    "brr": "value",
    "duchi": "value",
    "pckv-grr": "plus",
    "privkv": "asked",
    "urr": "support",
    "uss": "support",
    "ussmix": "support",
    "uue-levels": "disclosed",
    "upldp": "disclosed",
}
"""Families whose reports add a known number, or at most one, to a cell."""


@pytest.mark.parametrize(("name", "cell"), WRONG_SUMS.items())
def test_sums_that_the_number_of_reports_forbids_are_refused(name: str, cell: str, tmp_path: Path) -> None:
    """Every entry alone is possible: each is the number of reports."""
    m, tally = stored(f"{name}-v1.tally")
    full = {key: part.copy() for key, part in tally.cells.items()}
    stratum = int(np.argmax(full["n"])) if cell != "disclosed" else len(full["n"]) - 1
    full["n"][stratum] += 1
    full[cell][stratum] = full["n"][stratum]
    refused(m, Tally(m.design, tally.strata, full, True), tmp_path, "no .* reports? give")


PAIRS: list[tuple[str, dict[str, tuple[int, int, int]], str]] = [
    ("ks-ue", {"plus": (0, 0, 12), "minus": (0, 0, 1)}, "plus . minus"),
    ("kv-lh", {"plus": (0, 0, 12), "minus": (0, 0, 1)}, "plus . minus"),
    ("privkv", {"plus": (0, 0, 5)}, "more signs than reports that speak of it"),
    ("kv-ss", {"plus": (0, 1, 1), "minus": (0, 4, 1)}, "'minus'"),
    ("uss", {"support": (1, 0, 1)}, "'support'"),
    ("uss", {"disclosed": (0, 0, 1)}, "'disclosed'"),
    ("uhr", {"value": (1, 0, 1)}, "'value'"),
    ("ussmix", {"support": (2, 0, 1)}, "'support'"),
    ("uue-levels", {"support": (1, 0, 1)}, "'support'"),
]
"""What two cells say of the same reports: cell, (stratum, entry, value)."""


@pytest.mark.parametrize(("name", "entries", "said"), PAIRS)
def test_cells_that_contradict_each_other_are_refused(
    name: str, entries: dict[str, tuple[int, int, int]], said: str, tmp_path: Path
) -> None:
    m, tally = stored(f"{name}-v1.tally")
    for cell, (stratum, entry, value) in entries.items():
        tally = altered(tally, cell, (stratum, entry), value)
    refused(m, tally, tmp_path, said)


def test_reports_of_a_size_that_is_never_drawn_are_refused(tmp_path: Path) -> None:
    m = next(m for m in (dn.mechanism("ssmix", epsilon=e / 10, k=10) for e in range(5, 60)) if not m.kernel.coin)
    size = m.bulk.parts[0].kernel.size
    support = np.zeros((2, 10), np.int64)
    support[1, : size + 1] = 1
    refused(m, Tally(m.design, m.bulk.strata, {"n": np.array([0, 1]), "support": support}), tmp_path, "all of them")


def test_other_strata_are_refused(tmp_path: Path) -> None:
    m, tally = stored("uss-v1.tally")
    refused(m, Tally(m.design, ("disclosed", "protected"), tally.cells, True), tmp_path, "strata")


@pytest.mark.parametrize(("name", "case"), [(name, e.small[0]) for name, e in dn.MECHANISMS.items() if e.small])
def test_counts_of_people_and_fakes_are_possible(name: str, case: dict[str, Any]) -> None:
    """200 tallies of each family from real reports: none is refused."""
    m = dn.mechanism(name, **case)
    stream = dn.simulation(14)
    for i in range(200):
        n = 1 + i % 7
        reports = m.privatize_items(np.arange(i, i + n) % m.kernel.k, stream)
        m.bulk.refuse_impossible(m.tally(reports).cells)
