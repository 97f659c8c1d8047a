"""What becomes of acknowledged reports when machines, disks and processes fail: tests/faults, in full or in short.

python benchmarks/faults.py [--quick] [--part NAME ...] [--json]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1] / "tests" / "faults")

from machines import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
