"""Checks of reports and tallies as things that are sent, stored and added up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from deniable.collect.codec import dump, load
from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.circle import Circle
from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.types import IntArray
from deniable.errors import DeniableError, FormatError, MergeError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Simulation, simulation
from deniable.testing.exact import enumerated, supports_items
from deniable.testing.profiles import distinct
from deniable.testing.sampling import watched_values

__all__ = ["StreamWords", "check_bytes", "check_merge", "check_reports"]


_SCALAR = 1 << 20
"""Values times reports that a device's randomiser, which may look at every value, is asked for."""


class StreamWords:
    """The words that a device's randomiser wants, from a seeded stream: simulation only."""

    bits = 64

    def __init__(self, stream: Simulation) -> None:
        self._stream = stream
        self._words: list[int] = []

    def word(self) -> int:
        """The next word."""
        if not self._words:
            self._words = self._stream.draw(64, 256).tolist()
        return self._words.pop()


def check_merge(m: Mechanism, *, n: int = 200, seed: int = 1) -> str:
    """Tallies add up in any order and grouping to the same bytes; other designs are refused."""
    reports = m.privatize_items(_people(m, n), simulation(seed))
    whole, zero = m.tally(reports), m.empty()
    a, b, c = m.tally(reports[: n // 5]), m.tally(reports[n // 5 : n // 2]), m.tally(reports[n // 2 :])
    ways = {
        "(a + b) + c": (a + b) + c,
        "a + (b + c)": a + (b + c),
        "c + a + b": c + a + b,
        "b + c + a + nothing": b + c + a + zero,
        "nothing + whole": zero + whole,
        "concatenated reports": m.tally(reports[n // 2 :] + reports[: n // 2]),
        "each report alone": _sum_of_singles(m, reports),
    }
    for way, found in ways.items():
        assert dump(found) == dump(whole), f"{way} is not the tally of all reports"
    assert whole.n == n, f"a tally of {n} reports says n = {whole.n}"
    _check_counts(m, reports, whole)
    _check_other_design(m, reports, whole)
    return f"{len(ways)} ways of adding up {n} reports give the same bytes"


def _check_counts(m: Mechanism, reports: Reports, whole: Tally) -> None:
    """What is counted has the announced layout and is possible; one report more than there are is not."""
    found = m.bulk.count(reports.columns)
    layout = {name: cell.shape for name, cell in sorted(found.items())}
    assert layout == m.bulk.layout, f"reports are counted in the cells {layout}, announced are {m.bulk.layout}"
    for tally in (whole, m.tally(reports[:1])):
        m.bulk.refuse_impossible(tally.cells)
    for name, cell in m.bulk.cells.items():
        forged = {**whole.cells, name: whole.cells[name] + (max(map(abs, cell.each)) + 1) * whole.n + 1}
        told = _refusal(partial(m.bulk.refuse_impossible, forged), FormatError)
        assert told is not None, f"counts {name!r} that no reports give are not refused"


def _sum_of_singles(m: Mechanism, reports: Reports) -> Tally:
    total = m.empty()
    for i in range(len(reports)):
        total = total + m.tally(reports[i : i + 1])
    return total


def _check_other_design(m: Mechanism, reports: Reports, whole: Tally) -> None:
    other = m.at(m.epsilon * 1.25)
    wrong: dict[str, Callable[[], object]] = {
        "adding a tally of another design": lambda: whole + other.empty(),
        "tallying reports of another design": lambda: other.tally(reports),
        "estimating a tally of another design": lambda: other.estimate(whole),
    }
    for what, act in wrong.items():
        message = _refusal(act, MergeError)
        assert message is not None, f"{what} is not refused"
        assert "epsilon" in message, f"{what} is refused without naming what differs: {message}"


def _refusal(act: Callable[[], object], kind: type[DeniableError]) -> str | None:
    """What the error of this kind says, or None if there is none."""
    try:
        act()
    except kind as error:
        return str(error)
    return None


def _people(m: Mechanism, n: int) -> IntArray:
    """n values spread over the domain."""
    return np.arange(n, dtype=np.int64) * 7 % m.kernel.k


def check_bytes(m: Mechanism, *, n: int = 50, seed: int = 2) -> str:
    """Reports and tallies come back from their bytes as they were, design and simulation mark included."""
    reports = m.privatize_items(_people(m, n), simulation(seed))
    back = load(dump(reports))
    assert isinstance(back, Reports), "the bytes of reports are not read as reports"
    for name, column in reports.columns.items():
        assert np.array_equal(back.columns[name], column), f"report field {name!r} is not the same after a round trip"
    tally = m.tally(reports)
    again = load(dump(tally))
    assert again == tally, "a tally is not the same after a round trip"
    for what in (reports, tally):
        found = load(dump(what))
        assert found.design == m.design, "the design is not the same after a round trip"
        assert found.simulated, "the mark of simulated data is lost"
        assert dump(found) == dump(what), "a second round trip gives other bytes"
    assert dump(m.tally(back)) == dump(tally), "reports that were stored tally differently"
    return f"{len(dump(reports))} bytes of {n} reports and {len(dump(tally))} bytes of their tally"


def check_reports(m: Mechanism, *, each: int = 20, seed: int = 3) -> str:
    """Reports have one length whatever the value, bulk and device alike; values outside the domain make none."""
    values = watched_values(m.kernel.k)
    each = max(1, min(each, _SCALAR // (m.kernel.k * len(values))))
    words = StreamWords(simulation(seed))
    rows = [m.kernel.randomise(x, words) for x in values for _ in range(each)]
    lengths = {len(row) for row in rows}
    assert lengths == {m.bulk.row_bytes} == {m.kernel.width}, (
        f"a device's reports have {sorted(lengths)} bytes, fields say {m.bulk.row_bytes}, the kernel {m.kernel.width}"
    )
    device = Reports.from_rows(m.design, m.fields, rows, simulated=True)
    assert [device.row(i) for i in range(len(rows))] == rows, "a device's report changes on its way into columns"
    assert m.tally(device).n == len(rows), "reports of a device are not all counted"
    bulk = m.privatize_items(np.repeat(values, each), simulation(seed + 1))
    assert {len(bulk.row(i)) for i in range(len(bulk))} == lengths, "bulk reports have another length"
    if supports_items(m):
        _check_canonical(m, device + bulk)
    _check_outsiders(m, words)
    return f"{m.bulk.row_bytes} bytes for each of {len(values)} values"


def _check_canonical(m: SupportMechanism, reports: Reports) -> None:
    """Reports that support the same items are the same bytes, so that no order or spelling tells the value.

    Where outputs differ in more than the items that they support, as reports with a seed do, this does not apply.
    """
    channel = enumerated(m)
    if channel is None or channel.supported is None or len(set(channel.supported)) < len(channel.outputs):
        return
    spellings = len({reports.row(i) for i in range(len(reports))})
    sets = len(distinct(m.bulk.supported(reports.columns))[0])
    assert spellings == sets, f"{sets} sets of items are spelt in {spellings} ways, which may tell the value"


def _check_outsiders(m: Mechanism, words: StreamWords) -> None:
    most = m.kernel.k
    outsiders: list[Any] = [-1, most, most + 1, 0.5, None]
    for bad in outsiders:
        told = _refusal(partial(m.kernel.randomise, bad, words), DeniableError)
        assert told is not None, f"a device takes the value {bad!r}, which is not one of 0..{most - 1}"
    for bad in _strangers(m.domain):
        told = _refusal(partial(m.privatize, bad), DeniableError)
        assert told is not None, f"privatize takes the value {bad!r}, which is not in the domain"


def _strangers(domain: Domain) -> list[Any]:
    """What is no value of a domain of numbers; labels are looked up, whatever they are."""
    if isinstance(domain, Grid | Codes | Circle):
        wide = domain.high - domain.low
        outside = [] if domain.clip else [domain.low - wide, domain.high + wide]
        return [*outside, math.nan, math.inf, "none", None]
    return [-1, domain.k, domain.k + 1, 0.5, None] if domain.labels is None else []
