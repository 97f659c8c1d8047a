"""Pictures on pages, by the code that draws for the command line; each is drawn once and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock, Thread

from deniable.collect.codec import load
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MissingExtraError
from deniable.estimate.result import Estimate
from deniable.mechanisms.registry import from_design
from deniable.present.charts import estimate_chart, save
from deniable.run.questions import question_of
from deniable.run.results import Shown

__all__ = ["ALONE", "KINDS", "drawn", "estimate_of", "get_ready", "picture"]

KINDS = {"svg": "image/svg+xml", "png": "image/png"}
ALONE = {"content-security-policy": "default-src 'none'; sandbox"}
"""A picture that is opened as a page of its own can do nothing, whatever is written in it."""
MOST = 40
"""Answers on one chart; the table has all of them."""
_LEVEL = 0.95
_ONE = Lock()
"""One picture is drawn at a time: drawing uses all of a core."""


def estimate_of(tally: Tally, labels: tuple[str, ...] | None) -> Estimate:
    """The estimate of a published tally, with the task's labels."""
    found = from_design(tally.design).estimate(tally)
    return found if labels is None or len(labels) != len(found.labels) else replace(found, labels=labels)


def shown_of(tally: Tally, labels: tuple[str, ...] | None, level: float = _LEVEL) -> Shown:
    """The same with intervals, ready for tables and charts."""
    mechanism = from_design(tally.design).name
    return question_of(mechanism).show(estimate_of(tally, labels), level, "reporters", False)


@cache
def get_ready() -> Thread:
    """Load what draws, in the background and once: an analyst came, and the first picture would wait for it."""
    thread = Thread(target=_first_picture, name="charts")
    thread.start()
    return thread


def _first_picture() -> None:
    try:
        drawn(
            lambda path: save(estimate_chart(("no", "yes"), (0.5, 0.5), (0.4, 0.4), (0.6, 0.6), title=""), path), "svg"
        )
    except MissingExtraError:
        return  # whoever asks for a picture is told


@lru_cache(maxsize=256)
def picture(data: bytes, labels: tuple[str, ...] | None, title: str, kind: str) -> bytes:
    """The chart of a tally, from its bytes."""
    tally = load(data)
    if not isinstance(tally, Tally):
        raise FormatError("there is no tally to draw.")
    shown = shown_of(tally, labels)
    return drawn(lambda path: (shown.top(MOST) if len(shown.labels) > MOST else shown).draw(path, title), kind)


def drawn(draw: Callable[[str], object], kind: str) -> bytes:
    """What is drawn to a file, as bytes."""
    with _ONE, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"chart.{kind}"
        draw(str(path))
        return path.read_bytes()
