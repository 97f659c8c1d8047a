"""What tests of the JavaScript client need."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

JS = Path(__file__).resolve().parents[2] / "clients" / "js"
NODE_LEAST = 18


@pytest.fixture(scope="session")
def node() -> str:
    """The command of Node."""
    found = shutil.which("node")
    if found is None:
        pytest.skip(
            f"there is no Node: install version {NODE_LEAST} or newer (nodejs.org) to test the JavaScript client"
        )
    return found
