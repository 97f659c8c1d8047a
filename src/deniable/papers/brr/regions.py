"""How BRR divides places into regions: cells of map tiles, by common prefixes of their codes [BRR Fig. 7, LSRR]."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray, IntArray

__all__ = ["halved_regions", "prefix_regions", "tile_codes"]

LEVELS = 23
"""Levels of the tiles; a code has two bits for each of them."""
_BITS = 2 * LEVELS
_POLE = 85.05112878
"""The latitude at which the square map of Mercator ends."""


def tile_codes(points: FloatArray) -> IntArray:
    """Codes of places (latitude, longitude) on Mercator's map: the bits of row and column by turns, coarse ones first.

    >>> [f"{code >> 42:04b}" for code in tile_codes(np.array([[40.7, -74.0], [-33.9, 151.2]])).tolist()]
    ['0011', '1101']
    """
    tall = np.radians(np.clip(points[:, 0], -_POLE, _POLE))
    down = 0.5 - np.arctanh(np.sin(tall)) / (2 * np.pi)
    right = (points[:, 1] + 180) / 360
    cells = [np.clip(np.floor(share * (1 << LEVELS)), 0, (1 << LEVELS) - 1).astype(np.int64) for share in (down, right)]
    codes = np.zeros(len(points), np.int64)
    for level in reversed(range(LEVELS)):
        for cell in cells:
            codes = (codes << 1) | ((cell >> level) & 1)
    return codes


def prefix_regions(codes: IntArray, least: int) -> IntArray:
    """The region of each place as in the published program: the smallest tile with at least so many places.

    Where the tile of one place holds that of another, the larger one is the region of both.
    """
    level = np.zeros(len(codes), np.int64)
    for own in range(LEVELS):
        _, cell, count = np.unique(codes >> (_BITS - 2 * own), return_inverse=True, return_counts=True)
        level[count[cell] >= least] = own
    for own in range(LEVELS):
        cell = np.unique(codes >> (_BITS - 2 * own), return_inverse=True)[1]
        whole = np.isin(cell, cell[level == own])
        level[whole] = own
    names = np.column_stack([level, codes >> (_BITS - 2 * level)])
    return np.asarray(np.unique(names, axis=0, return_inverse=True)[1]).ravel()


def halved_regions(codes: IntArray, losses: FloatArray, count: int, least: int) -> IntArray:
    """So many regions, or fewer: the largest is halved again and again, by the next bit of its codes.

    Fewer than `least` places with a prefix of their own are no region: they join that of the nearest place.
    """
    cells: list[tuple[int, IntArray]] = [(0, np.arange(len(codes)))]
    done: list[IntArray] = []
    lost: list[IntArray] = []
    while cells and len(cells) + len(done) < count:
        cells.sort(key=lambda cell: cell[1].size)
        depth, members = cells.pop()
        if depth == _BITS or members.size < 2 * least:
            done.append(members)
            continue
        upper = ((codes[members] >> (_BITS - 1 - depth)) & 1).astype(bool)
        for part in (members[~upper], members[upper]):
            if part.size >= least:
                cells.append((depth + 1, part))
            else:
                lost.append(part)
    out = np.full(len(codes), -1)
    for number, members in enumerate([*done, *(members for _, members in cells)]):
        out[members] = number
    kept, small = np.flatnonzero(out >= 0), np.concatenate([*lost, np.zeros(0, np.int64)])
    out[small] = out[kept[losses[np.ix_(small, kept)].argmin(axis=1)]]
    return out
