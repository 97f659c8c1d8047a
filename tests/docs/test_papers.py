"""The pages about the papers leave nothing out: every numbered thing has its row, and none is told twice."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from deniable.papers.runner import PAPERS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def numbered(generate: ModuleType) -> ModuleType:
    found: ModuleType = generate.numbered
    return found


@pytest.mark.parametrize("name", PAPERS)
def test_every_numbered_thing_has_its_row(name: str, numbered: ModuleType) -> None:
    paper = PAPERS[name]
    assert numbered.gaps(paper) == []
    assert numbered.needless(paper) == [], "further.toml speaks of what a claim tells, or of what nobody names"
    assert len(numbered.listed(paper)) > 20


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_implemented_or_superseded_names_files_that_exist(name: str, numbered: ModuleType) -> None:
    for row in numbered._further(name).values():
        assert row["state"] in ("implemented", "superseded", "unused")
        assert (row["state"] == "unused") == ("code" not in row) == ("test" not in row), row["what"]
        assert all((ROOT / row[part]).is_file() for part in ("code", "test") if part in row), row["what"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Eq. 12 to 14 and Fig. 3", ["Equation 12", "Equation 13", "Equation 14", "Figure 3"]),
        ("Theorem 1(2), Alg. 3 line 2", ["Theorem 1", "Algorithm 3"]),
        ("Eq. 2 and 3, Sec. 4.1", ["Equation 2", "Equation 3"]),
        ("Eq. (21)", ["Equation 21"]),
        ("Theorem 5.1; App. A.1", ["Theorem 5.1"]),
        ("Sec. VI-B", []),
    ],
)
def test_numbers_are_read(text: str, found: list[str], numbered: ModuleType) -> None:
    assert [str(item) for item in numbered.items(text)] == found


@pytest.mark.parametrize("name", PAPERS)
def test_every_verdict_stands_beside_a_number_that_decides_it(name: str, generate: ModuleType) -> None:
    """A dash would say that nothing was measured. Only standard errors of other numbers are left out."""
    runs = [
        json.loads(file.read_text("utf-8")) for file in sorted(generate.measured.KEPT.glob(f"*/{name}/claims.json"))
    ]
    rows = generate.measured._rows(PAPERS[name], runs)
    assert rows
    assert [row[0] for row in rows if row[2] == "-"] == []
