"""A release, built once for all tests of it, from the last commit; and environments that have nothing else in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 1200
NO_NETWORK = ("[Errno", "Failed to establish", "ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "Read timed out")
"""What pip and npm say when nothing can be fetched; anything else that goes wrong is a fault."""
KEPT = ("PATH", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "DENIABLE_NODE_MODULES")
"""Of this process's environment; with what pip and npm need to find packages."""


def ran(
    *command: str | Path, cwd: Path, more: Mapping[str, str] | None = None, holds: bool = True
) -> subprocess.CompletedProcess[str]:
    """A program in a bare environment; skips the test where something cannot be fetched."""
    told = {
        name: value for name, value in os.environ.items() if name in KEPT or name.lower().startswith(("pip_", "npm_"))
    }
    told |= more or {}
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=told, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode and any(sign in done.stderr for sign in NO_NETWORK):
        pytest.skip("packages cannot be fetched: needs a network, or a folder of packages that pip and npm know")
    if holds:
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def cloned(into: Path, source: Path = ROOT) -> Path:
    """The last commit as a stranger gets it."""
    ran("git", "clone", "--quiet", "--no-hardlinks", source, into, cwd=ROOT)
    return into


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that has built a release into its dist/."""
    for program in ("git", "node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"a release is built with {program}, which is not here")
    if not (ROOT / ".git").exists():
        pytest.skip("a release is built from a commit, and this is no checkout")
    clone = cloned(tmp_path_factory.mktemp("release") / "clone")
    ran(clone / "bin" / "release", cwd=clone)
    return clone


@pytest.fixture(scope="session")
def made(builder: Path) -> Path:
    """The folder of the release."""
    return builder / "dist"


def pythons() -> list[str]:
    """This Python, and the newest other one from 3.12 on that is on the path or where pyenv keeps them."""
    mine = f"{sys.version_info.major}.{sys.version_info.minor}"
    for minor in range(20, 11, -1):
        name = f"python3.{minor}"
        kept = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        for each in [*map(str, kept), *filter(None, [shutil.which(name)])]:
            told = subprocess.run(
                [each, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True
            )
            if told.stdout.strip() == f"3.{minor}" != mine:
                return [sys.executable, each]
    return [sys.executable]


def emptied(folder: Path, python: str) -> Path:
    """A new environment of one Python, without any package but pip; gives its programs."""
    ran(python, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin"
