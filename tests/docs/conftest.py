"""The scripts of the documentation, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> ModuleType:
    """A script below docs/, without running it."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    return script("generate")


@pytest.fixture(scope="session")
def make_pictures() -> ModuleType:
    pytest.importorskip("altair", reason="charts need: pip install 'deniable[charts]'")
    return script("make_pictures")
