"""The wheel has everything that pages need: templates, styles, scripts and the JavaScript client."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
from deniable.service.pages import assets, render
assert assets.__file__.startswith(sys.argv[1]), assets.__file__
print(len(assets.of_page()), assets.base(), render.refused(404, "title", "text").status_code)
"""


@pytest.mark.slow
def test_the_wheel_serves_the_same_files(tmp_path: Path) -> None:
    """Built without a network; read from the wheel's files alone, they have the name that the checkout's have."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("there is no hatchling: pip install hatchling to build the wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "files")
    own = subprocess.run(
        [sys.executable, "-c", CHECK, str(tmp_path / "files")], capture_output=True, text=True, cwd=tmp_path
    )
    assert own.returncode == 0, own.stderr
    from deniable.service.pages import assets

    assert own.stdout.split() == [str(len(assets.of_page())), assets.base(), "404"]
    assert (tmp_path / "files/deniable/service/pages/client/ledger.js").is_file()
