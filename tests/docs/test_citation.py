"""How the project is cited and which version it is: every place says the same."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import deniable as dn
import deniable_client

ROOT = Path(__file__).parents[2]


def cited() -> dict[str, str]:
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line[:1].isalpha() and ": " in line)


def test_version_and_title_are_those_of_the_project() -> None:
    lines = cited()
    assert lines["version"] == dn.__version__
    first = (dn.__doc__ or "").splitlines()[0].rstrip(".")
    assert lines["title"].strip('"') == first
    assert lines["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")


def test_all_packages_have_one_version() -> None:
    """The library takes exactly the client that was tested with it, and both clients are told apart by nothing else."""
    assert deniable_client.__version__ == dn.__version__
    assert json.loads((ROOT / "clients/js/package.json").read_text())["version"] == dn.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"deniable-client=={dn.__version__}" in project["dependencies"]
    assert (metadata.version("deniable"), metadata.version("deniable-client")) == (dn.__version__,) * 2, (
        "the packages are installed from an earlier state: run ./bin/test once, it installs them anew"
    )


def test_the_changelog_tells_of_this_version() -> None:
    sections = re.findall(r"^## \[(.+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[:2] == ["Unreleased", dn.__version__]
