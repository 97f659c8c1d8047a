"""The client is small: its wheel is under 190,000 bytes, and importing it loads next to nothing."""

import base64
import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deniable_client import __version__

CLIENT = Path(__file__).parents[2] / "clients" / "python"
WHEEL_MAX = 190_000
"""All 41 kinds of kernels that a design may have are in it, each with its proof, and what verifies files."""
_HEADERS = 700
"""Bytes of METADATA beside the description, roughly."""


def wheel_size() -> int:
    """Bytes of a wheel that is packed as the build does it, without the build."""
    info = f"deniable_client-{__version__}.dist-info"
    sources = sorted(path for path in (CLIENT / "src").rglob("*") if path.suffix in (".py", ".typed", ".json"))
    parts = {str(path.relative_to(CLIENT / "src")): path.read_bytes() for path in sources}
    parts[f"{info}/METADATA"] = (CLIENT / "pyproject.toml").read_bytes()[:_HEADERS] + (
        CLIENT / "README.md"
    ).read_bytes()
    parts[f"{info}/WHEEL"] = bytes(90)
    parts[f"{info}/entry_points.txt"] = b"[console_scripts]\ndeniable-client = deniable_client.command:main\n"
    for name in ("LICENSE", "NOTICE.md"):
        parts[f"{info}/licenses/{name}"] = (CLIENT / name).read_bytes()
    codes = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode() for name, data in parts.items()}
    record = (f"{name},sha256={codes[name].rstrip('=')},{len(data)}" for name, data in parts.items())
    parts[f"{info}/RECORD"] = "\n".join(record).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in parts.items():
            wheel.writestr(name, data)
    return packed.tell()


def test_the_wheel_is_small() -> None:
    assert wheel_size() < WHEEL_MAX - 500  # what the estimate may be off by


@pytest.mark.slow
def test_the_wheel_that_is_built_is_small(tmp_path: Path) -> None:
    wheels = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling: pip install hatchling")
    built = Path(next(iter(wheels.WheelBuilder(str(CLIENT)).build(directory=str(tmp_path), versions=["standard"]))))
    assert built.stat().st_size < WHEEL_MAX
    assert abs(built.stat().st_size - wheel_size()) < 500


@pytest.mark.parametrize(
    ("code", "kept_out"),
    [
        ("import deniable_client", "typing importlib dataclasses json re decimal fractions unicodedata sqlite3 urllib"),
        ("from deniable_client import Device, Task", "unicodedata sqlite3 urllib argparse"),
        ("from deniable_client import Ledger", "unicodedata sqlite3 urllib argparse"),
    ],
)
def test_parts_of_the_standard_library_are_loaded_when_they_are_used(code: str, kept_out: str) -> None:
    told = f"import sys; {code}; print(*(m for m in {kept_out!r}.split() if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(CLIENT / 'src')!r}); {told}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""
