"""QR codes: tables and bits of the standard, and a reader that was written apart from the writer."""

from __future__ import annotations

import pytest

from deniable.errors import ParameterError
from deniable.service.sharing.qr import _bits, blocks_of, corrected, format_bits, matrix, svg, version_bits

TOTAL = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466, 532, 581, 655, 733, 815, 901, 991, 1085]
"""Bytes of a code by version (ISO/IEC 18004, table 1)."""
FORMATS = [
    "101010000010010",
    "101000100100101",
    "101111001111100",
    "101101101001011",
    "100010111111001",
    "100000011001110",
    "100111110010111",
    "100101010100000",
]
"""Level M with the masks 0 to 7 (table C.1)."""
LENGTHS = [1, 14, 15, 26, 27, 42, 43, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666]
"""The most bytes of each version at level M, and one more of some (table 7)."""


def test_the_bits_of_the_standard() -> None:
    assert [f"{format_bits(mask):015b}" for mask in range(8)] == FORMATS
    assert [f"{version_bits(v):018b}" for v in (7, 10, 20)] == [
        "000111110010010100",
        "001010010011010011",
        "010100100110100110",
    ]
    for version, total in enumerate(TOTAL, 1):
        extra, sizes = blocks_of(version)
        assert sum(sizes) + extra * len(sizes) == total
    data = [0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11]
    assert corrected(data, 10) == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55]  # annex I, "01234567"


# ---- a reader


def _multiply(a: int, b: int) -> int:
    """In the field of 256 elements, bit by bit."""
    found = 0
    for i in range(8):
        if b >> i & 1:
            found ^= a << i
    for i in range(14, 7, -1):
        if found >> i & 1:
            found ^= 0x11D << (i - 8)
    return found


def _whole(block: list[int], extra: int) -> bool:
    """Whether all syndromes of a block are 0: nothing needs correcting."""
    root = 1
    for _ in range(extra):
        value = 0
        for byte in block:
            value = _multiply(value, root) ^ byte
        if value:
            return False
        root = _multiply(root, 2)
    return True


def _is_function(version: int, size: int, i: int, j: int) -> bool:
    """Whether a module is part of the frame; by distances, as a reader looks at it."""
    if (i < 9 and j < 9) or (i < 9 and j >= size - 8) or (i >= size - 8 and j < 9) or i == 6 or j == 6:
        return True
    if version >= 7 and ((i < 6 and j >= size - 11) or (j < 6 and i >= size - 11)):
        return True
    if version == 1:
        return False
    count = version // 7 + 2
    step = 26 if version == 32 else (version * 4 + count * 2 + 1) // (count * 2 - 2) * 2
    places = [6, *sorted(size - 7 - k * step for k in range(count - 1))]
    ends = {(6, 6), (6, size - 7), (size - 7, 6)}
    return any(abs(i - a) <= 2 and abs(j - b) <= 2 for a in places for b in places if (a, b) not in ends)


MASK = [
    "(i + j) % 2", "i % 2", "j % 3", "(i + j) % 3", "(i // 2 + j // 3) % 2",
    "i * j % 2 + i * j % 3", "(i * j % 2 + i * j % 3) % 2", "((i + j) % 2 + i * j % 3) % 2",
]  # fmt: skip


def read(grid: list[list[int]]) -> bytes:
    """What a code says; an assertion fails where it is not whole."""
    size = len(grid)
    version = (size - 17) // 4
    corner = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        assert ["".join(map(str, row[left : left + 7])) for row in grid[top : top + 7]] == corner
    assert [grid[6][k] for k in range(8, size - 8)] == [(k + 1) % 2 for k in range(8, size - 8)]
    assert grid[size - 8][8] == 1
    first = [grid[8][k] for k in (0, 1, 2, 3, 4, 5, 7, 8)] + [grid[k][8] for k in (7, 5, 4, 3, 2, 1, 0)]
    second = [grid[size - 1 - k][8] for k in range(7)] + grid[8][size - 8 :]
    assert first == second
    mask = compile(MASK[FORMATS.index("".join(map(str, first)))], "mask", "eval")
    bits, column, up = [], size - 1, True
    while column > 0:
        column -= column == 6
        for row in range(size - 1, -1, -1) if up else range(size):
            for j in (column, column - 1):
                if not _is_function(version, size, row, j):
                    bits.append(grid[row][j] ^ (eval(mask, {"i": row, "j": j}) == 0))
        column, up = column - 2, not up
    data = [int("".join(map(str, bits[k : k + 8])), 2) for k in range(0, len(bits) - 7, 8)]
    assert len(data) == TOTAL[version - 1]
    extra, sizes = blocks_of(version)
    blocks: list[list[int]] = [[] for _ in sizes]
    rest = iter(data)
    for k in range(max(sizes)):
        for block, length in zip(blocks, sizes, strict=True):
            if k < length:
                block.append(next(rest))
    content = [byte for block in blocks for byte in block]
    for _ in range(extra):
        for block in blocks:
            block.append(next(rest))
    assert all(_whole(block, extra) for block in blocks)
    text = "".join(f"{byte:08b}" for byte in content)
    width = 8 if version < 10 else 16
    assert text[:4] == "0100"
    length = int(text[4 : 4 + width], 2)
    return bytes(int(text[4 + width + 8 * k :][:8], 2) for k in range(length))


@pytest.mark.parametrize("length", [1, 14, 15, 106, 213])
def test_a_reader_reads_short_ones(length: int) -> None:
    _read_back(length)


@pytest.mark.slow
@pytest.mark.turns(4)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_reader_reads_what_was_written(length: int) -> None:
    """In all versions, at their ends."""
    _read_back(length)


def _read_back(length: int) -> None:
    text = ("https://collect.example.org/t/" + "0123456789abcdef" * 45)[:length]
    grid = matrix(text)
    assert read(grid) == text.encode()
    assert length > 14 or len(grid) == 21


MOST = (14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666)
"""The most bytes of each version at level M, by the standard's table of capacities."""


@pytest.mark.parametrize("version", range(1, 21))
def test_a_text_that_just_fits_gets_no_larger_code(version: int) -> None:
    assert _bits(b"a" * MOST[version - 1])[0] == version
    if version < 20:
        assert _bits(b"a" * (MOST[version - 1] + 1))[0] == version + 1


def test_other_texts_are_other_codes_and_long_ones_are_refused() -> None:
    assert read(matrix("äöü, \u0645")) == "äöü, \u0645".encode()
    assert matrix("a") != matrix("b")
    broken = matrix("a")
    broken[20][20] ^= 1
    with pytest.raises(AssertionError):
        read(broken)
    with pytest.raises(ParameterError, match="666 bytes"):
        matrix("x" * 667)


def test_the_picture_has_quiet_around_it_and_escapes_its_title() -> None:
    text = svg("a", "<b> & c")
    assert 'viewBox="0 0 29 29"' in text
    assert "<title>&lt;b> &amp; c</title>" in text
    assert text.count("h1v1h-1z") == sum(map(sum, matrix("a")))
    assert "M4 4h1" in text
