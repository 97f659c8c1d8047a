"""How the project is cited: the version and the title are those that it has."""

from __future__ import annotations

from pathlib import Path

import deniable as dn

ROOT = Path(__file__).parents[2]


def test_version_and_title_are_those_of_the_project() -> None:
    lines = dict(
        line.split(": ", 1)
        for line in (ROOT / "CITATION.cff").read_text().splitlines()
        if line[:1].isalpha() and ": " in line
    )
    assert lines["version"] == dn.__version__
    assert f'version = "{lines["version"]}"' in (ROOT / "pyproject.toml").read_text()
    first = (dn.__doc__ or "").splitlines()[0].rstrip(".")
    assert lines["title"].strip('"') == first
    assert lines["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
