"""Days are those of UTC: nothing of the collector or of a device asks what day it is where it stands.

Windows, keys and retention count in days, and processes on one database, and devices, are in many time zones. So no
line asks for the local time; whoever needs the time of day has a clock that says UTC, or seconds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = [ROOT / "src/deniable/service", ROOT / "src/deniable/cli", ROOT / "clients/python/src/deniable_client"]
LOCAL = {"today", "localtime", "utcnow", "utcfromtimestamp", "mktime", "ctime"}
"""Calls that speak of the local time, or of UTC without saying so, whatever they are given."""
ZONED = {"now": 0, "fromtimestamp": 1}
"""Calls that speak of the local time unless they are given a zone, at this place or as `tz`."""


def local(source: str) -> Iterator[int]:
    """Lines that ask for the local time."""
    if not any(f".{name}(" in source for name in (*LOCAL, *ZONED)):
        return
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            of, name = node.func.value.id, node.func.attr
            zoned = len(node.args) > ZONED.get(name, 0) or any(word.arg == "tz" for word in node.keywords)
            if of in ("date", "datetime", "time", "system") and (name in LOCAL or (name in ZONED and not zoned)):
                yield node.lineno


def test_nobody_asks_for_the_local_day() -> None:
    files = [path for place in PLACES for path in sorted(place.rglob("*.py"))]
    assert len(files) > 100
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in local(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("date.today()", True),
        ("datetime.now()", True),
        ("datetime.now(UTC)", False),
        ("datetime.now(tz=UTC)", False),
        ("datetime.fromtimestamp(now)", True),
        ("datetime.fromtimestamp(now, UTC)", False),
        ("datetime.utcnow()", True),
        ("time.localtime()", True),
        ("time.gmtime(x)", False),
        ("self.today()", False),
    ],
)
def test_the_local_day_is_recognised(text: str, wrong: bool) -> None:
    assert bool(list(local(text))) is wrong
