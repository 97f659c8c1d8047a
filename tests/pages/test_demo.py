"""The demonstration with its collector left open: whoever ends it gets no traceback, and nothing stays behind."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_demonstration_is_kept_until_it_is_ended(tmp_path: Path, by: signal.Signals) -> None:
    command = [sys.executable, "-u", "-m", "deniable", "demo", "--people", "1000", "--out", str(tmp_path), "--keep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = ""
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/t/[0-9a-f]{64}", told)):
            line = process.stdout.readline()
            assert line, told + process.stderr.read()
            told += line
        with urllib.request.urlopen(found[0], timeout=20) as page:
            assert b"What is your job?" in page.read()
        process.send_signal(by)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(found[0], timeout=5)
    kept = (tmp_path / "dashboard.html").read_text("utf-8")
    assert 'src="data:image/svg+xml' in kept
    assert not re.search(r'(?:src|href)="/static', kept)
    assert "<script" not in kept
