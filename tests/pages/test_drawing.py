"""Drawing that cannot take the service with it: hostile characters, a renderer that dies, hangs or is asked by many."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.present.charts import estimate_chart, save
from deniable.present.clean import clean, clean_all
from deniable.present.renderer import DrawingError
from deniable.service.pages import asking, charts, drawing, survey
from deniable.service.pages.asking import regions
from deniable.service.pages.charts import picture
from deniable.service.pages.drawing import Renderer
from deniable.service.pages.render import refused
from pages.asks import Paged, mechanisms, signed_in, task
from pages.conftest import Shown
from tiers import every, slow

HOSTILE = [
    "\x00",
    "\x02",
    "\x07",
    "\x1b",
    "\x7f",
    "\x9b",
    "\ufffe",
    "\uffff",
    "\ufdd0",
    "\U0001fffe",
    "\ud800",
    "\udfff",
]
"""Characters that XML has no place for, or that steer terminals."""
SPEC = b'{"$schema": "https://vega.github.io/schema/vega-lite/v6.1.0.json", "mark": "bar"}'


def a_tally() -> bytes:
    m = dn.mechanism("grr", epsilon=2.0, labels=["no", "yes"])
    return dump(m.tally(m.privatize_items(np.arange(400) % 2, dn.simulation(1))))


# ---- characters


def test_what_cannot_be_drawn_is_marked_and_the_rest_stays() -> None:
    assert [clean(f"a{bad}b") for bad in HOSTILE] == ["a\ufffdb"] * len(HOSTILE)
    good = "Größe\t≤ 5\r\n日本 \U0001f600 \ue000 \u202e\x7e\xa0"
    assert clean(good) == good
    assert clean_all({"a\x00": ["b\x01", {"c": ("d\x02", 3, None)}]}) == {
        "a\ufffd": ["b\ufffd", {"c": ["d\ufffd", 3, None]}]
    }


@pytest.mark.parametrize("kind", ["svg", "json", *slow(["png", "html"])])
def test_charts_are_drawn_whatever_is_written_in_them(tmp_path: Path, kind: str) -> None:
    """Where this fails, the process that runs the tests is aborted: nothing less happened to a collector."""
    every = "".join(HOSTILE)
    made = estimate_chart((f"no{every}", "yes"), (0.5, 0.5), (0.4, 0.4), (0.6, 0.6), title=f"Sleep{every}?")
    found = save(made, tmp_path / f"chart.{kind}").read_bytes()
    if kind == "svg":
        ElementTree.fromstring(found)
        assert "Sleep\ufffd" in found.decode()


@pytest.mark.parametrize("bad", every(4, ["\x00", "\x1b", "\ufffe", "\ud800"], name=repr))
def test_pictures_on_pages_are_drawn_whatever_is_written_in_them(bad: str) -> None:
    found = asyncio.run(picture(a_tally(), (f"no{bad}", "yes"), f"Sleep{bad}?", "svg"))
    ElementTree.fromstring(found)
    assert "Sleep\ufffd?" in found.decode()


def test_the_planner_draws_whatever_is_written_in_its_form() -> None:
    service = Paged()
    headers = signed_in(service)
    fields = {"text": "\x00\x1b\ufffe", "kind": "shares", "answers": "no\nyes", "people": "1000", "epsilon": "1"}
    reply = service.get(f"/plan/chart.svg?{urlencode(fields)}", headers)
    assert reply.status == 200
    ElementTree.fromstring(reply.body)
    assert service.get(f"/plan?{urlencode(fields)}", headers).status == 200
    wrong = fields | {"answers": "no\x00\x1b\nyes\ufffe\nperhaps", "sensitive": "no\x00\x1b"}
    refused = service.get(f"/plan/chart.svg?{urlencode(wrong)}", headers)
    assert refused.status == 422  # devices would refuse such answers
    assert b"\x00" not in refused.body
    assert b"\x1b" not in refused.body


def test_pages_show_marks_for_what_they_cannot_have() -> None:
    found = refused(404, "a\x00\ud800<b>", "c\ufffe").body
    assert b"\x00" not in found
    assert "a\ufffd\ufffd&lt;b&gt;" in bytes(found).decode()


# ---- the process that draws


def test_one_process_draws_picture_after_picture_and_has_none_of_our_sockets() -> None:
    renderer, ours = Renderer(), socket.create_server(("127.0.0.1", 0))
    ours.set_inheritable(True)  # as a careless library may do
    try:
        assert renderer.pid is None
        assert renderer.draw(SPEC, "svg").startswith(b"<svg")
        first = renderer.pid
        assert renderer.draw(SPEC, "png").startswith(b"\x89PNG")
        assert renderer.pid == first
        files = Path(f"/proc/{first}/fd")
        if files.exists():
            theirs = {os.readlink(entry) for entry in files.iterdir()}
            assert f"socket:[{os.fstat(ours.fileno()).st_ino}]" not in theirs
            assert b"DENIABLE" not in Path(f"/proc/{first}/environ").read_bytes()
    finally:
        renderer.close()
        ours.close()
    assert renderer.pid is None


def test_a_renderer_that_dies_costs_one_picture() -> None:
    renderer = Renderer()
    try:
        renderer.draw(SPEC, "svg")
        first = renderer.pid
        assert first is not None
        os.kill(first, 9)
        assert renderer._process is not None
        renderer._process.wait()
        assert renderer.draw(SPEC, "svg").startswith(b"<svg")  # another one takes over
        second = renderer.pid
        assert second != first
        with pytest.raises(DrawingError, match="cannot be drawn"):
            renderer.draw(b"no chart", "svg")
        assert renderer.pid == second
        assert renderer.draw(SPEC, "svg").startswith(b"<svg")
    finally:
        renderer.close()


def test_a_picture_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen
    command = ["sleep", "600"]  # reads nothing and answers nothing
    monkeypatch.setattr(drawing.subprocess, "Popen", lambda _, **given: real(command, **given))
    renderer = Renderer(seconds=0.1)
    with pytest.raises(DrawingError, match="cannot be drawn"):
        renderer.draw(SPEC, "svg")
    assert renderer.pid is None


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system tells of its processes in /proc")
def test_the_process_that_draws_has_limits_and_ends_with_its_parent() -> None:
    renderer = Renderer()
    renderer.draw(SPEC, "svg")
    process = renderer._process
    assert process is not None
    assert process.stdin is not None
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    for name in ("Max data size", "Max cpu time", "Max core file size"):
        line = next(line for line in limits.splitlines() if line.startswith(name))
        assert "unlimited" not in line.split("  ")[-3:], line
    process.stdin.close()  # as when the parent is killed
    assert process.wait(60) == 0
    assert process.stdout is not None
    process.stdout.close()


def test_a_picture_that_cannot_be_drawn_is_a_problem_and_the_service_goes_on(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> bytes:
        raise DrawingError("this picture cannot be drawn.", "The table has the same numbers.")

    monkeypatch.setattr(charts.RENDERER, "draw", fails)
    reply = shown.service.get(f"/tasks/{shown.ids['list']}/1/q0.png", shown.headers)
    assert reply.status == 500
    assert b"The table has the same numbers" in reply.body
    assert shown.service.get("/healthz").status == 200


# ---- maps


def test_a_page_is_drawn_once_however_many_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = survey.asked

    def slow(given: Any, tag: str) -> Any:
        made.append(given.id)
        time.sleep(0.02)  # long enough for others to ask
        return real(given, tag)

    monkeypatch.setattr(survey, "asked", slow)
    service = Paged()
    id = service.add(task(mechanisms()["places"], "Where?", subject="drawn once"))

    async def many() -> list[Any]:
        return await asyncio.gather(*(service._call("GET", f"/t/{id}", [b""], {}) for _ in range(20)))

    assert {reply.status for reply in asyncio.run(many())} == {200}
    assert made == [id]
    small = service.get(f"/t/{id}", {"accept-encoding": "gzip"})
    assert small.headers["content-encoding"] == "gzip"
    assert made == [id, id]  # compressed it is another page


def test_many_regions_cost_what_their_neighbours_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is counted, not timed: cells are cut by few of the other places."""
    points, cuts = spread(300), [0]
    real = asking._nearer

    def counted(*given: Any) -> Any:
        cuts[0] += 1
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(asking, "_nearer", counted)
        found = regions(points)
    assert cuts[0] < 40 * len(points)
    assert same(found, every_pair(points))


def spread(count: int) -> list[tuple[float, float]]:
    """Points that look random and are the same in every run."""
    return [((i * 0.754877666) % 1.0, (i * 0.569840296) % 1.0) for i in range(1, count + 1)]


def every_pair(points: list[tuple[float, float]]) -> list[tuple[str, tuple[float, float]]]:
    """The regions as they are defined: cut by every other place."""
    placed = asking._placed(points)
    found = []
    for own in placed:
        cell = [(0.0, 0.0), (320.0, 0.0), (320.0, 240.0), (0.0, 240.0)]
        for other in placed:
            if other != own:
                cell = asking._nearer(cell, own, other)
        found.append((asking._path(cell), own))
    return found


def same(found: Any, wanted: Any) -> bool:
    """Whether regions have the same area and place: corners may be listed from another one on."""
    return all(
        a[1] == b[1] and abs(area(a[0]) - area(b[0])) < 0.05 * max(area(b[0]), 1)
        for a, b in zip(found, wanted, strict=True)
    )


def area(path: str) -> float:
    corners = [tuple(map(float, corner.split())) for corner in path.strip("MZ").split("L")]
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2


def test_pictures_of_other_labels_are_other_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "_picture", lambda *given: repr(given).encode())

    async def ask() -> list[bytes]:
        given = [(b"a", ("no", "yes"), "t", "svg"), (b"a", ("nein", "ja"), "t", "svg"), (b"a", None, "u", "svg")]
        return [await picture(*each) for each in given]

    found = asyncio.run(ask())
    assert [b"'no', 'yes'" in found[0], b"'nein', 'ja'" in found[1], b"None" in found[2]] == [True] * 3
