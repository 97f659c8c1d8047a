"""`python -m deniable`: the same as the command `deniable`."""

from __future__ import annotations

import sys

from deniable.cli import main

if __name__ == "__main__":
    sys.exit(main())
