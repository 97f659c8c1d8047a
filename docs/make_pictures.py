"""Draws the pictures of the documentation: python docs/make_pictures.py

Beside each picture lies its Vega-Lite description, from which a test tells whether the picture is up to date.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


CHARTS: dict[str, Callable[[], Any]] = {"adult-education": adult_education, "errors": errors, "planning": planning}


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
