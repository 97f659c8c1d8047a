"""Pages say, to the last sign, what they said when somebody last read them (`python -m pages.written`)."""

from __future__ import annotations

import re

import pytest

from deniable.service.pages.table import PAGES as ROWS
from pages.written import FOLDER, PAGES, kept

ELSEWHERE = {"/tasks/{id}/events", "/plan/chart.svg", "/t/{id}/qr.svg", "/embed.js", "/r/{id}/{question}.tally"}
"""What no text is: pictures, a stream, a script, a tally."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_it_was_read(name: str) -> None:
    """Numbers, order, words, attributes and headers; whoever changes a page on purpose writes it anew and reads it."""
    assert "\n".join(kept(name)).split("\n") == (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()


def test_every_page_is_among_them() -> None:
    paths = [path.partition("?")[0] for path, _, _ in PAGES.values()]
    patterns = {row.path: re.sub(r"\\{.*?\\}", "[^/]+", re.escape(row.path)) for row in ROWS if row.method == "GET"}
    missing = {path for path, pattern in patterns.items() if not any(re.fullmatch(pattern, each) for each in paths)}
    assert missing == ELSEWHERE
    assert {path.stem for path in FOLDER.glob("*")} == set(PAGES)
