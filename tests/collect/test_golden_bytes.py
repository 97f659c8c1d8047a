"""Files stored once stay readable, mean the same, and are written the same way again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.collect.codec import canonical
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally

FOLDER = Path(__file__).parents[1] / "golden"
RECORD: dict[str, dict[str, Any]] = json.loads((FOLDER / "bytes.json").read_text())
FILES = sorted(RECORD)


def test_every_row_of_the_registry_has_stored_files() -> None:
    """A new mechanism needs them: run `python tests/golden/bytes.py NAME` once and commit what it writes."""
    needed = {f"{name}-v{e.cls.version}.{kind}" for name, e in dn.MECHANISMS.items() for kind in ("reports", "tally")}
    assert needed <= set(FILES)
    assert {path.name for path in FOLDER.glob("*-v*.*")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_loading_gives_what_was_recorded(name: str) -> None:
    found, want = dn.load((FOLDER / name).read_bytes()), RECORD[name]
    assert found.design == want["design"]
    assert found.simulated is want["simulated"] is True
    if name.endswith(".reports"):
        assert isinstance(found, Reports)
        assert [found.row(i).hex() for i in range(len(found))] == want["rows"]
    else:
        assert isinstance(found, Tally)
        assert {cell: values.tolist() for cell, values in found.cells.items()} == want["cells"]


@pytest.mark.parametrize("name", FILES)
def test_dumping_gives_the_same_bytes(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    assert dn.dump(dn.load(data)) == data


@pytest.mark.parametrize("name", FILES)
def test_the_design_is_still_the_one_that_is_made_today(name: str) -> None:
    """The integers of a stored design: had the calibration changed, old reports would be read with other numbers."""
    design = RECORD[name]["design"]
    m = dn.from_design(design)
    assert canonical(m.design) == canonical(design)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".reports")])
def test_stored_reports_tally_to_the_stored_tally(name: str) -> None:
    reports = dn.load((FOLDER / name).read_bytes())
    assert isinstance(reports, Reports)
    m = dn.from_design(reports.design)
    assert dn.dump(m.tally(reports)) == (FOLDER / name.replace(".reports", ".tally")).read_bytes()
    assert m.tally(reports).n == len(reports) == 12


def test_the_script_refuses_to_replace_a_file() -> None:
    before = {name: (FOLDER / name).read_bytes() for name in FILES}
    command = [sys.executable, str(FOLDER / "bytes.py"), "grr"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode != 0
    assert "grr-v1.reports is there already" in found.stderr
    assert {name: (FOLDER / name).read_bytes() for name in FILES} == before
