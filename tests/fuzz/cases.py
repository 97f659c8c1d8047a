"""Forged files without end: seeded changes of stored ones, of their headers, designs, cells, reports and pages."""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from deniable.collect.codec import canonical
from fuzz.files import body_of, header_of, reheaded, retold

GOLDEN = Path(__file__).parents[1] / "golden"


class Case(NamedTuple):
    """A forged file: how it was made, and its bytes."""

    kind: str
    source: str
    data: bytes


@cache
def stored() -> dict[str, bytes]:
    """The stored files, by name."""
    return {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*-v*.*"))}


@cache
def tables() -> dict[str, bytes]:
    """Small files of values: CSV, lines, and Parquet of several kinds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {
        "v.csv": ("label\n" + 'a\nb\n\'=c\n"d,"\n' * 20).encode(),
        "w.csv": ("user,key,value\n" + "".join(f"u{i},k{i % 3},0.5\n" for i in range(40))).encode(),
        "v.txt": "\n".join(f"{i % 7}" for i in range(60)).encode(),
    }
    columns = {
        "text": pa.array(["a", "b", None, "c" * 40] * 25),
        "whole": pa.array(list(range(100)), pa.int32()),
        "float": pa.array([0.5, -1.5, 2.0, None] * 25),
        "dictionary": pa.array(["x", "y"] * 50).dictionary_encode(),
        "date": pa.array([0, 1, 2, 3] * 25, pa.timestamp("s")),
    }
    for name, column in columns.items():
        for compression in ("none", "snappy", "gzip"):
            out = io.BytesIO()
            pq.write_table(pa.table({"v": column}), out, compression=compression, row_group_size=40)
            found[f"{name}-{compression}.parquet"] = out.getvalue()
    return found


# ---- bytes


def flipped(data: bytes, draw: random.Random) -> bytes:
    """Some bytes altered."""
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        out[draw.randrange(len(out))] = draw.choice((0, 255, 1, draw.randrange(256)))
    return bytes(out)


def cut(data: bytes, draw: random.Random) -> bytes:
    """An end or a piece is missing, or comes twice."""
    a, b = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    return draw.choice((data[:a], data[:a] + data[b:], data[:b] + data[a:], data + data[a:b]))


# ---- documents

WORDS = ("", "grr", "ss", "n", "support", "all", "\x1b[31m", "\ud800", "9" * 30, "-1", "1e5", "0", "٣", " 1", "NaN")
NUMBERS: tuple[float, ...] = (
    -1, 0, 1, 2, 3, 255, 256, 65536, 1 << 22, (1 << 22) + 1, 1 << 27, 1 << 31, 1 << 32, 1 << 63, 1 << 64, 10**30,
    0.5, -0.5, 1e-300, 1e300, 40.0, 700.0,
)  # fmt: skip
FULL = 1 << 64


def odd(draw: random.Random) -> Any:
    """A value that does not belong there."""
    return draw.choice(
        (
            draw.choice(WORDS),
            draw.choice(NUMBERS),
            str(draw.choice((0, 1, 2, FULL, FULL - 1, FULL // 2, draw.randrange(FULL), draw.randrange(1 << 33)))),
            None,
            True,
            [],
            {},
            [draw.choice(NUMBERS)] * draw.randrange(4),
            {draw.choice(WORDS): draw.choice(NUMBERS)},
            nested(draw.choice((2, 20, 40, 360)), draw.random() < 0.5),
        )
    )


def nested(deep: int, lists: bool) -> Any:
    """Things in each other."""
    found: Any = 1
    for _ in range(deep):
        found = [found] if lists else {"base": found}
    return found


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with the key or number of each of its entries."""
    todo = [document]
    while todo:
        here = todo.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        for key in keys:
            yield here, key
            if isinstance(here[key], dict | list):
                todo.append(here[key])


def meddled(document: Any, draw: random.Random) -> Any:
    """The document with some entries altered, left out, doubled or exchanged."""
    out = copy.deepcopy(document)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        here, key = draw.choice(list(places(out)) or [({}, None)])
        if key is None:
            return odd(draw)
        what = draw.random()
        if what < 0.55:
            here[key] = odd(draw)
        elif what < 0.7:
            del here[key]
        elif what < 0.8 and isinstance(here, list):
            here.append(copy.deepcopy(here[key]))
        elif what < 0.9:
            here[key] = nudged(here[key], draw)
        else:
            there, other = draw.choice(list(places(document)))  # what was put in meanwhile may be too deep to copy
            here[key] = copy.deepcopy(there[other])
    return out


def nudged(value: Any, draw: random.Random) -> Any:
    """A number, also in text, that is a little different."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return [value]
    if isinstance(value, str):
        return str(int(value) + draw.choice((-1, 1))) if value.isascii() and value.isdigit() else value + "x"
    return value + draw.choice((-1, 1, 0.5))


def written(document: Any) -> bytes:
    """As JSON, whatever it holds."""
    return json.dumps(document, separators=(",", ":")).encode()


def headers(data: bytes, draw: random.Random) -> bytes:
    """Another header, with the check sum put right."""
    return reheaded(data, lambda header: written(meddled(header, draw)))


def designs(data: bytes, draw: random.Random) -> bytes:
    """Another design, in a header that is right otherwise."""
    return reheaded(data, lambda header: written({**header, "design": meddled(header["design"], draw)}))


def crossed(data: bytes, draw: random.Random) -> bytes:
    """The header of one file before the body of another."""
    other = draw.choice(list(stored().values()))
    return reheaded(other, lambda _: canonical(header_of(data)))


def texts(data: bytes, draw: random.Random) -> bytes:
    """The header's text altered, with the check sum put right."""
    change = draw.choice((flipped, cut))
    return reheaded(data, lambda header: change(canonical(header), draw))


def rewritten(data: bytes, draw: random.Random) -> bytes:
    """Other cells of a tally, or other bytes of reports, with the check sums put right."""
    body = body_of(data)
    if data.startswith(b"DNTL"):
        cells = list(struct.unpack(f"<{(len(body) - 4) // 8}q", body[:-4]))
        for _ in range(draw.choice((1, 2, len(cells)))):
            value = draw.choice((-1, 0, 1, 7, 12, 13, 10**18, (1 << 63) - 1, -(1 << 63), draw.randrange(1 << 40)))
            cells[draw.randrange(len(cells))] = value
        return retold(data, struct.pack(f"<{len(cells)}q", *cells))
    n = draw.choice((1, 12, 12, 12, 0, 1 << 31, draw.randrange(1 << 32)))
    payload = draw.choice((flipped, cut))(body[8:-16], draw)
    end = struct.pack("<IIQ", 0, 0, draw.choice((n, n, 12, 0, (1 << 64) - 1)))
    return data[: len(data) - len(body)] + struct.pack("<II", n, zlib.crc32(payload)) + payload + end


KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    f.__name__: f for f in (flipped, cut, headers, designs, crossed, texts, rewritten)
}
TABLE_KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {f.__name__: f for f in (flipped, cut)}


def forged(seed: int, count: int) -> Iterator[Case]:
    """`count` report and tally files, the same ones for the same seed."""
    draw = random.Random(seed)
    for _ in range(count):
        name, kind = draw.choice(list(stored())), draw.choice(list(KINDS))
        yield Case(kind, name, KINDS[kind](stored()[name], draw))


def forged_tables(seed: int, count: int) -> Iterator[Case]:
    """`count` files of values, the same ones for the same seed."""
    draw = random.Random(seed)
    for _ in range(count):
        name, kind = draw.choice(list(tables())), draw.choice(list(TABLE_KINDS))
        yield Case(kind, name, TABLE_KINDS[kind](tables()[name], draw))
