"""QR codes (ISO/IEC 18004) of addresses: bytes, error correction of level M, the smallest of versions 1 to 20.

One kind of content and one level are all that a link needs; the rest of the standard is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from deniable.errors import require

__all__ = ["blocks_of", "corrected", "format_bits", "matrix", "svg", "version_bits"]

Grid = list[list[int]]
_FREE = -1
_BLOCKS = (
    (10, 1, 16, 0), (16, 1, 28, 0), (26, 1, 44, 0), (18, 2, 32, 0), (24, 2, 43, 0),
    (16, 4, 27, 0), (18, 4, 31, 0), (22, 2, 38, 2), (22, 3, 36, 2), (26, 4, 43, 1),
    (30, 1, 50, 4), (22, 6, 36, 2), (22, 8, 37, 1), (24, 4, 40, 5), (24, 5, 41, 5),
    (28, 7, 45, 3), (28, 10, 46, 1), (26, 9, 43, 4), (26, 3, 44, 11), (26, 3, 41, 13),
)  # fmt: skip
"""By version, at level M: correcting bytes of a block, short blocks, their bytes, and blocks with one byte more."""
_CENTRES = (
    (), (6, 18), (6, 22), (6, 26), (6, 30), (6, 34), (6, 22, 38), (6, 24, 42), (6, 26, 46), (6, 28, 50),
    (6, 30, 54), (6, 32, 58), (6, 34, 62), (6, 26, 46, 66), (6, 26, 48, 70), (6, 26, 50, 74), (6, 30, 54, 78),
    (6, 30, 56, 82), (6, 30, 58, 86), (6, 34, 62, 90),
)  # fmt: skip
"""By version: rows and columns in whose crossings small squares lie."""
_MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda i, j: (i + j) % 2 == 0,
    lambda i, j: i % 2 == 0,
    lambda i, j: j % 3 == 0,
    lambda i, j: (i + j) % 3 == 0,
    lambda i, j: (i // 2 + j // 3) % 2 == 0,
    lambda i, j: (i * j) % 2 + (i * j) % 3 == 0,
    lambda i, j: ((i * j) % 2 + (i * j) % 3) % 2 == 0,
    lambda i, j: ((i + j) % 2 + (i * j) % 3) % 2 == 0,
)
_FINDER = ((1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1))
"""What looks like a corner to a reader, and is none."""


# ---- correcting


@cache
def _field() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Powers of 2 in the field of 256 elements (polynomial 0x11D), and logarithms."""
    powers, x = [], 1
    for _ in range(255):
        powers.append(x)
        x = (x << 1) ^ (0x11D if x & 0x80 else 0)
    logs = [0] * 256
    for i, power in enumerate(powers):
        logs[power] = i
    return tuple(powers), tuple(logs)


def _times(a: int, b: int) -> int:
    powers, logs = _field()
    return powers[(logs[a] + logs[b]) % 255] if a and b else 0


@cache
def _generator(count: int) -> tuple[int, ...]:
    found = [1]
    for i in range(count):
        root = _field()[0][i]
        found = [a ^ _times(b, root) for a, b in zip([*found, 0], [0, *found], strict=True)]
    return tuple(found[1:])


def corrected(data: Sequence[int], count: int) -> list[int]:
    """The correcting bytes of a block (Reed and Solomon).

    >>> corrected([32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17], 10)
    [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
    """
    rest = [0] * count
    for byte in data:
        factor = byte ^ rest[0]
        rest = [a ^ _times(factor, g) for a, g in zip([*rest[1:], 0], _generator(count), strict=True)]
    return rest


def blocks_of(version: int) -> tuple[int, list[int]]:
    """Correcting bytes of each block of a version, and data bytes of its blocks."""
    extra, short, size, long = _BLOCKS[version - 1]
    return extra, [size] * short + [size + 1] * long


def _remainder(value: int, polynomial: int, bits: int) -> int:
    found = value << bits
    while found.bit_length() > bits:
        found ^= polynomial << (found.bit_length() - polynomial.bit_length())
    return found


def format_bits(mask: int) -> int:
    """What is written beside the corners: level M and the mask.

    >>> f"{format_bits(0):015b}"
    '101010000010010'
    """
    return (mask << 10 | _remainder(mask, 0b10100110111, 10)) ^ 0b101010000010010


def version_bits(version: int) -> int:
    """What large codes say about their size.

    >>> f"{version_bits(7):018b}"
    '000111110010010100'
    """
    return version << 12 | _remainder(version, 0b1111100100101, 12)


# ---- content


def _bits(data: bytes) -> tuple[int, list[int]]:
    """The version, and all bytes of the code in the order in which they are laid out."""
    for version in range(1, len(_BLOCKS) + 1):
        extra, sizes = blocks_of(version)
        width = 8 if version < 10 else 16
        room = sum(sizes)
        if 4 + width + 8 * len(data) <= 8 * room:
            break
    else:
        require(False, "text", f"{len(data)} bytes", "at most 666 bytes, for a code of version 20")
    text = f"0100{len(data):0{width}b}" + "".join(f"{byte:08b}" for byte in data)
    text += "0" * min(4, 8 * room - len(text))
    text += "0" * (-len(text) % 8)
    filled = [int(text[i : i + 8], 2) for i in range(0, len(text), 8)]
    filled += [(236, 17)[i % 2] for i in range(room - len(filled))]
    parts, at = [], 0
    for size in sizes:
        parts.append(filled[at : at + size])
        at += size
    more = [corrected(part, extra) for part in parts]
    longest = max(sizes)
    laid = [part[i] for i in range(longest) for part in parts if i < len(part)]
    return version, laid + [part[i] for i in range(extra) for part in more]


# ---- layout


def _frame(version: int) -> Grid:
    """Corners, lines and small squares; places for the format are kept, all else is free."""
    size = 17 + 4 * version
    grid = [[_FREE] * size for _ in range(size)]

    def square(row: int, column: int, radius: int) -> None:
        for i in range(max(0, row - radius), min(size, row + radius + 1)):
            for j in range(max(0, column - radius), min(size, column + radius + 1)):
                ring = max(abs(i - row), abs(j - column))
                grid[i][j] = int(ring not in (2, 4) if radius == 4 else ring != 1)

    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        square(row, column, 4)
    for i in range(8, size - 8):
        grid[6][i] = grid[i][6] = 1 - i % 2
    centres = _CENTRES[version - 1]
    for row in centres:
        for column in centres:
            if (row, column) not in {(6, 6), (6, size - 7), (size - 7, 6)}:  # where the corners are
                square(row, column, 2)
    for row, column in (*_format_places(size)[0], *_format_places(size)[1]):
        grid[row][column] = 0
    grid[size - 8][8] = 1
    if version >= 7:
        bits = version_bits(version)
        for i in range(18):
            row, column = i // 3, size - 11 + i % 3
            grid[row][column] = grid[column][row] = bits >> i & 1
    return grid


def _format_places(size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Both places of the format, from its first bit."""
    first = [*((8, j) for j in (0, 1, 2, 3, 4, 5, 7, 8)), *((i, 8) for i in (7, 5, 4, 3, 2, 1, 0))]
    second = [*((size - 1 - i, 8) for i in range(7)), *((8, size - 8 + j) for j in range(8))]
    return first, second


def _way(size: int) -> Iterator[tuple[int, int]]:
    """Up and down in columns of two, from the right, past the line."""
    up = True
    for right in (*range(size - 1, 6, -2), 5, 3, 1):
        for step in range(size):
            row = size - 1 - step if up else step
            yield row, right
            yield row, right - 1
        up = not up


def _penalty(grid: Grid) -> int:
    """How hard a code is to read: runs, blocks, what looks like a corner, and too much of one colour."""
    size, found = len(grid), 0
    columns = [list(column) for column in zip(*grid, strict=True)]
    for line in (*grid, *columns):
        run = 0
        for i, module in enumerate(line):
            run = run + 1 if i and module == line[i - 1] else 1
            found += 3 if run == 5 else int(run > 5)
        found += 40 * sum(tuple(line[i : i + 11]) in _FINDER for i in range(size - 10))
    for i in range(size - 1):
        for j in range(size - 1):
            found += 3 * (grid[i][j] == grid[i][j + 1] == grid[i + 1][j] == grid[i + 1][j + 1])
    dark = sum(map(sum, grid))
    return found + 10 * (abs(20 * dark - 10 * size * size) // (size * size))


def matrix(text: str) -> Grid:
    """The code of a text: rows of 0 and 1, without the quiet zone around it."""
    version, data = _bits(text.encode())
    frame = _frame(version)
    size = len(frame)
    free = [place for place in _way(size) if frame[place[0]][place[1]] == _FREE]
    bits = [byte >> (7 - i) & 1 for byte in data for i in range(8)]
    bits += [0] * (len(free) - len(bits))
    best: tuple[int, Grid] | None = None
    for number, mask in enumerate(_MASKS):
        grid = [list(row) for row in frame]
        for (row, column), bit in zip(free, bits, strict=True):
            grid[row][column] = bit ^ mask(row, column)
        for places in _format_places(size):
            for i, (row, column) in enumerate(places):
                grid[row][column] = format_bits(number) >> (14 - i) & 1
        found = _penalty(grid)
        if best is None or found < best[0]:
            best = found, grid
    assert best is not None
    return best[1]


def svg(text: str, title: str) -> str:
    """A picture of the code, dark on light in every colour scheme, with four modules of quiet around it."""
    grid = matrix(text)
    size = len(grid) + 8
    path = "".join(f"M{j + 4} {i + 4}h1v1h-1z" for i, row in enumerate(grid) for j, module in enumerate(row) if module)
    plain = title.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges" role="img">'
        f'<title>{plain}</title><path fill="#fff" d="M0 0h{size}v{size}H0z"/><path d="{path}"/></svg>'
    )
