"""Arguments of mechanisms as the options of a command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def options_of(arguments: Mapping[str, Any], folder: Path) -> list[Any]:
    """As on a command line; distances, matrices and promises are read from a file."""
    given = dict(arguments)
    for name in ("distances", "matrix"):
        if name in given:
            file = folder / f"{name}.csv"
            file.write_text("\n".join(",".join(map(str, row)) for row in given[name]))
            given[name] = file
    if "promise" in given:
        file = folder / "promise.json"
        file.write_text(json.dumps(given["promise"].to_document()))
        given["promise"] = file
    return [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
