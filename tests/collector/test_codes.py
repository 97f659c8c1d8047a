"""How hard a QR code is to read, by the standard's rules written apart; and which mask is taken."""

from __future__ import annotations

import re
from itertools import groupby

import pytest

from deniable.service.sharing import qr
from deniable.service.sharing.qr import _penalty, format_bits, matrix, svg

Grid = list[list[int]]


def runs(grid: Grid) -> int:
    """Five of a colour in a line cost 3, each further one 1."""
    lines = [*grid, *map(list, zip(*grid, strict=True))]
    sizes = [len(list(own)) for line in lines for _, own in groupby(line)]
    return sum(size - 2 for size in sizes if size >= 5)


def blocks(grid: Grid) -> int:
    """Each square of two by two of one colour costs 3."""
    size = range(len(grid) - 1)
    return 3 * sum(len({grid[i + a][j + b] for a in (0, 1) for b in (0, 1)}) == 1 for i in size for j in size)


def corners(grid: Grid) -> int:
    """Each place in a line that looks like a corner, with four light modules on one side, costs 40."""
    lines = ["".join(map(str, line)) for line in (*grid, *zip(*grid, strict=True))]
    return 40 * sum(len(re.findall(f"(?={look})", line)) for line in lines for look in ("10111010000", "00001011101"))


def balance(grid: Grid) -> int:
    """Each whole step of five per cent away from half costs 10."""
    cells = [cell for row in grid for cell in row]
    return 10 * (abs(100 * sum(cells) - 50 * len(cells)) // (5 * len(cells)))


def penalty(grid: Grid) -> int:
    return runs(grid) + blocks(grid) + corners(grid) + balance(grid)


def made(size: int, kind: str) -> Grid:
    """Grids in which one rule or another weighs most."""
    dark = {
        "light": lambda i, j: 0,
        "dark": lambda i, j: 1,
        "board": lambda i, j: (i + j) % 2,
        "rows": lambda i, j: i % 2,
        "columns": lambda i, j: j % 2,
        "five": lambda i, j: j % 10 < 5,
        "six": lambda i, j: i % 12 < 6,
        "pairs": lambda i, j: (i // 2 + j // 2) % 2,
        "corner": lambda i, j: int("0000101110100001011101000010111010000101110100001"[j]),
        "fallen": lambda i, j: int("1011101000010111010000101110100001011101000010111"[i]),
        "mostly": lambda i, j: (i * 7 + j * 3) % 10 < 6,
        "three": lambda i, j: (i * 5 + j) % 4 > 0,
    }[kind]
    return [[int(dark(i, j)) for j in range(size)] for i in range(size)]


KINDS = ["light", "dark", "board", "rows", "columns", "five", "six", "pairs", "corner", "fallen", "mostly", "three"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_of_a_code_follows_the_four_rules(kind: str) -> None:
    for size in (21, 25):
        grid = made(size, kind)
        assert _penalty(grid) == penalty(grid)


def test_each_rule_is_looked_at() -> None:
    for rule in (runs, blocks, corners, balance):
        assert sum(rule(made(21, kind)) > 0 for kind in KINDS) >= 2


@pytest.mark.parametrize("text", ["a", "https://collect.example.org/t/0123456789abcdef", "x" * 106])
def test_the_mask_that_costs_least_is_taken_the_first_of_equal_ones(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mask alone, by the others being dearer; the format says which it is."""
    whole, costs = matrix(text), list[int]()
    size = len(whole)
    for number in range(8):
        asked: list[int] = []

        def cost(grid: Grid, own: int = number, asked: list[int] = asked) -> int:
            asked.append(1)
            return 0 if len(asked) - 1 == own else 1

        with monkeypatch.context() as patch:
            patch.setattr(qr, "_penalty", cost)
            grid = matrix(text)
        first = "".join(str(grid[size - 1 - i][8]) for i in range(7)) + "".join(map(str, grid[8][size - 8 :]))
        assert first == f"{format_bits(number):015b}"
        costs.append(penalty(grid))
        if number == costs.index(min(costs)):
            best = grid
    assert whole == best
    monkeypatch.setattr(qr, "_penalty", lambda grid: 7)
    assert "".join(map(str, matrix(text)[8][size - 8 :])) == f"{format_bits(0):015b}"[7:]


def test_a_picture_draws_each_dark_module_where_it_is() -> None:
    """With four modules of quiet on every side, dark on light, and a title that is text."""
    grid, text = matrix("a"), svg("a", "<&")
    drawn = {(int(row), int(column)) for column, row in re.findall(r"M(\d+) (\d+)h1v1h-1z", text)}
    assert drawn == {(i + 4, j + 4) for i, row in enumerate(grid) for j, dark in enumerate(row) if dark}
    assert '<path fill="#fff" d="M0 0h29v29H0z"/>' in text
    assert "<title>&lt;&amp;</title>" in text
    assert 'role="img"' in text
