"""The scripts in benchmarks/, as modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("measure", "costs", "growth", "limits", "peers", "places", "walks", "shape", "intervals")


@pytest.fixture(scope="session")
def benchmarks() -> Iterator[dict[str, ModuleType]]:
    """By name; those that need Numba only where it is installed."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    numba = importlib.util.find_spec("numba") is not None
    yield {name: importlib.import_module(name) for name in SCRIPTS if numba or name not in ("limits", "peers")}
    sys.path.remove(str(ROOT / "benchmarks"))
