"""Pictures on pages, by the code that draws for the command line; each is drawn once and kept."""

from __future__ import annotations

import asyncio
import atexit
import tempfile
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from deniable.collect.codec import load
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MissingExtraError
from deniable.present.charts import estimate_chart, save
from deniable.present.renderer import DrawingError
from deniable.service.limits.flights import Flights
from deniable.service.limits.turns import short_turns
from deniable.service.pages.drawing import Renderer
from deniable.service.results.reading import shown_of

__all__ = ["ALONE", "KINDS", "RENDERER", "drawn", "get_ready", "once", "picture"]

KINDS = {"svg": "image/svg+xml", "png": "image/png"}
ALONE = {"content-security-policy": "default-src 'none'; sandbox"}
"""A picture that is opened as a page of its own can do nothing, whatever is written in it."""
MOST = 40
"""Answers on one chart; the table has all of them."""
RENDERER = Renderer()
"""Draws for all pages."""
atexit.register(RENDERER.close)
_ASIDE = ThreadPoolExecutor(1, thread_name_prefix="pages")
_KEPT: Flights[Hashable, bytes] = Flights(256)
"""Pictures and pages by what is on them."""


@cache
def get_ready() -> Thread:
    """Load what draws, in the background and once: an analyst came, and the first picture would wait for it."""
    thread = Thread(target=_first_picture, name="charts", daemon=True)
    thread.start()
    return thread


def _first_picture() -> None:
    chart = partial(estimate_chart, ("no", "yes"), (0.5, 0.5), (0.4, 0.4), (0.6, 0.6), title="")
    with suppress(MissingExtraError, DrawingError):  # whoever asks for a picture is told
        drawn(lambda path: save(chart(), path), "svg")


async def picture(data: bytes, labels: tuple[str, ...] | None, title: str, kind: str) -> bytes:
    """The chart of a tally, from its bytes."""
    return await once((data, labels, title, kind), _picture, data, labels, title, kind)


async def once(key: Hashable, draw: Callable[..., bytes], *given: Any) -> bytes:
    """What is drawn for a key: once for all who ask, beside the event loop and beside what devices wait for."""

    def in_turns() -> bytes:
        with short_turns():
            return draw(*given)

    async def aside() -> bytes:
        return await asyncio.get_running_loop().run_in_executor(_ASIDE, in_turns)

    return await _KEPT.get((draw, key), aside)


def _picture(data: bytes, labels: tuple[str, ...] | None, title: str, kind: str) -> bytes:
    tally = load(data)
    if not isinstance(tally, Tally):
        raise FormatError("there is no tally to draw.")
    shown = shown_of(tally, labels)
    return drawn(lambda path: (shown.top(MOST) if len(shown.labels) > MOST else shown).draw(path, title), kind)


def drawn(draw: Callable[[str], object], kind: str) -> bytes:
    """What is drawn to a file, as the bytes of a picture.

    Altair looks whether pandas is loaded; half loaded, by a download in another thread, it makes the picture fail.
    """
    with suppress(ImportError):
        import_module("pandas")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chart.json"
        draw(str(path))
        spec = path.read_bytes()
    return RENDERER.draw(spec, kind)
