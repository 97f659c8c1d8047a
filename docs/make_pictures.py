"""Draws the pictures of the documentation: python docs/make_pictures.py

Beside each picture lies its Vega-Lite description, from which a test tells whether the picture is up to date.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scipy.stats import binom

import deniable as dn
from deniable.present.charts import caption, estimate_chart, line_chart, save

PICTURES = Path(__file__).resolve().parent / "pictures"
SEED = 7
SIX = ("ss", "oue", "olh", "sue", "blh", "grr")


def adult_education() -> Any:
    """One simulated collection of a real table: estimates, intervals, truth."""
    people = dn.datasets.load("adult-education")
    m = dn.mechanism("ss", epsilon=1.0, labels=people.labels)
    estimate = m.estimate(m.tally(m.privatize_items(people.values(), dn.simulation(SEED))))
    ends = estimate.interval(level=0.95)
    return estimate_chart(
        estimate.labels,
        estimate.value,
        ends.low,
        ends.high,
        title="Education of 32,561 people, from deniable reports",
        subtitle=caption(m.name, epsilon=m.epsilon, n=estimate.n, simulated=estimate.simulated),
        truth=people.frequencies,
    )


def errors() -> Any:
    """The error of a share by epsilon over the least that is possible, for every mechanism without a parameter."""
    rows = []
    for epsilon in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0):
        mse = {name: float(dn.mechanism(name, epsilon=epsilon, k=100).properties(10_000)["mse"]) for name in SIX}
        rows += [{"epsilon": epsilon, "ratio": (mse[name] / mse["ss"]) ** 0.5, "mechanism": name} for name in SIX]
    return line_chart(
        sorted(rows, key=lambda row: SIX.index(row["mechanism"])),
        x="epsilon",
        y="ratio",
        series="mechanism",
        title="Usual error of an estimated share, over that of ss",
        subtitle="100 values, any number of reports, exact closed forms; no mechanism can be below ss",
        x_title="privacy budget ε",
        y_title="standard error / standard error of ss",
        log_y=True,
        reference=1.0,
    )


def planning() -> Any:
    """Every design for one job, with the frontier."""
    return dn.plan(k=100, n=10_000, epsilon=4.0).chart()


EPSILONS = tuple(step / 2 for step in range(13))


def belief() -> Any:
    """How sure an observer can be at most after one report, from what they believed before."""
    rows = [
        {"epsilon": e, "sure": 100 * b * math.exp(e) / (1 - b + b * math.exp(e)), "before": f"{100 * b:g} % before"}
        for b in (0.5, 0.2, 0.05)
        for e in EPSILONS
    ]
    return line_chart(
        rows,
        x="epsilon",
        y="sure",
        series="before",
        title="How sure one report can make an observer, at most",
        subtitle="by what the observer believed before; for every mechanism that keeps its epsilon",
        x_title="privacy budget ε",
        y_title="sure of the answer, %",
    )


def price() -> Any:
    """People that a margin of three points takes, by epsilon."""
    rows = [
        {"epsilon": e, "people": _variance(k, e) * (1.96 / 0.03) ** 2, "answers": f"{k} answers"}
        for k in (256, 16, 2)
        for e in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
    ]
    return line_chart(
        rows,
        x="epsilon",
        y="people",
        series="answers",
        title="People that it takes for a margin of 3 points, 19 times in 20",
        subtitle="subset selection, which has the least error of all; a rare answer",
        x_title="privacy budget ε",
        y_title="people",
        log_y=True,
    )


def _variance(k: int, epsilon: float) -> float:
    """Variance of a share of nobody's answer, from one report."""
    s = dn.mechanism("ss", epsilon=epsilon, k=k).support_effective
    return s.q * (1 - s.q) / s.gap**2


def averaging() -> Any:
    """How often the majority of several reports of one person is right."""
    rows = [
        {"reports": n, "right": 100 * float(binom.sf(n // 2, n, math.exp(e) / (1 + math.exp(e)))), "one": f"ε = {e:g}"}
        for e in (2.0, 1.0, 0.5)
        for n in range(1, 52, 2)
    ]
    return line_chart(
        rows,
        x="reports",
        y="right",
        series="one",
        title="Fresh reports of the same person can be averaged",
        subtitle="how often the majority of yes/no reports is right; one report of each person keeps its promise",
        x_title="reports of one person about the same thing",
        y_title="majority right, %",
    )


CHARTS: dict[str, Callable[[], Any]] = {
    "adult-education": adult_education,
    "averaging": averaging,
    "belief": belief,
    "errors": errors,
    "planning": planning,
    "price": price,
}


def squeezed(png: bytes) -> bytes:
    """The same picture, its pixels compressed as well as zlib can: about a third of the bytes."""
    chunks = list(_chunks(png))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    out = png[:8]
    for kind, body in [chunks[0], (b"IDAT", zlib.compress(pixels, 9)), chunks[-1]]:
        out += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return out


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = 8
    while start < len(png):
        (length,) = struct.unpack_from(">I", png, start)
        yield png[start + 4 : start + 8], png[start + 8 : start + 8 + length]
        start += 12 + length


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, draw in CHARTS.items():
        chart = draw()
        save(chart, PICTURES / f"{name}.json")
        picture = save(chart, PICTURES / f"{name}.png")
        picture.write_bytes(squeezed(picture.read_bytes()))
        print(f"{picture.name}: {picture.stat().st_size:,} bytes")
