"""What was told once, kept as JSON: what is told now must be the same, but for the last digits of numbers.

After a change that is meant: `KEPT=write pytest FILE`, and look at the difference.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["differences"]

_NEAR = 1e-6
"""Share of a number that it may differ by from machine to machine: no mistake is as small."""
_SAME = 1e-12
_DIGITS = 9


def differences(path: Path, found: Mapping[str, Any]) -> list[str]:
    """Where what is found now differs from what the file keeps, in words; nothing is kept that is not found."""
    plain = json.loads(json.dumps(_short(found)))
    if os.environ.get("KEPT") == "write":
        lines = (f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}" for name, part in plain.items())
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return list(_differ("", json.loads(path.read_text()), plain))


def _short(found: Any) -> Any:
    """Numbers with the digits that are compared, and some."""
    if isinstance(found, Mapping):
        return {str(name): _short(each) for name, each in found.items()}
    if isinstance(found, list | tuple):
        return [_short(each) for each in found]
    if isinstance(found, float):
        return float(f"{found:.{_DIGITS}g}") if math.isfinite(found) else str(found)
    return found if found is None or isinstance(found, bool | int | str) else _short(found.tolist())


def _differ(where: str, kept: Any, found: Any) -> Iterator[str]:
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in dict.fromkeys([*kept, *found]):
            if name in kept and name in found:
                yield from _differ(f"{where}/{name}", kept[name], found[name])
            else:
                yield f"{where}/{name}: {'gone' if name in kept else 'new'}"
        if list(kept) != list(found) and kept.keys() == found.keys():
            yield f"{where}: in another order"
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for i, (one, two) in enumerate(zip(kept, found, strict=True)):
            yield from _differ(f"{where}/{i}", one, two)
    elif not _alike(kept, found):
        yield f"{where}: {kept!r} before, {found!r} now"


def _alike(kept: Any, found: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (kept, found))
    return math.isclose(kept, found, rel_tol=_NEAR, abs_tol=_SAME) if numbers else bool(kept == found)
