"""Small kernels with each of their numbers changed in turn, for `fields.json`: which are kernels, and what these say of
themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from deniable_client.errors import DeniableError
from deniable_client.kernels import Disclosing, kernel_from, promised_ratio

__all__ = ["changed", "field_vectors", "said"]

WORD = 1 << 64
HALF, FIFTH, MOST = str(WORD // 2), str(WORD // 5), str(3 * WORD // 4)
PAIR, THREE = ({"kind": "response", "k": str(k), "keep": MOST} for k in (2, 3))
SET = {"kind": "subset", "k": "4", "size": "2", "keep": MOST}
OPEN = {
    "kind": "utility",
    "k": "6",
    "sensitive": ["1", "3", "4", "5"],
    "base": [THREE],
    "plain": FIFTH,
    "attach": "0",
    "blind": "1",
}
NEAR = {"kind": "window", "k": "6", "outputs": "8", "m": "3", "shift": "2", "tie": "1", "keep": MOST}
LEAN = {"kind": "leaning", "k": "6", "base": FIFTH, "slope": str(WORD // 10)}
SIXTHS = (
    (WORD // 2, WORD // 4, WORD // 4),
    (WORD // 4, WORD // 2, WORD // 4),
    (WORD // 4, WORD // 4, WORD // 2),
)
ROWS = [list(map(str, row)) for row in SIXTHS]
GRIDS = {
    "kind": "windows",
    "k": "7",
    "circle": "12",
    "widths": ["1", "2", "4"],
    "shifts": ["1", "2", "3"],
    "shares": ["1", "2", "3"],
    "sizes": ["2", "3", "1"],
    "keeps": [MOST] * 3,
}
BITS = {"kind": "signed-unary", "keys": "6", "own": HALF, "flip": FIFTH, "other": FIFTH}
SIGNED = {"kind": "signed-subset", "keys": "5", "size": "2", "keep": MOST}
KERNELS: tuple[dict[str, Any], ...] = (
    PAIR,
    THREE,
    SET,
    {"kind": "unary", "k": "5", "keep": HALF, "flip": FIFTH},
    {"kind": "whole", "k": "9"},
    {"kind": "constant", "k": "3"},
    {"kind": "mixture", "first": SET, "second": SET | {"size": "1"}, "coin": FIFTH},
    {"kind": "mixture", "first": OPEN, "second": OPEN | {"plain": HALF}, "coin": FIFTH},
    {"kind": "laplace", "k": "3", "again": MOST, "grid": "2", "reach": "9", "level_top": "3", "level_bottom": "2"},
    {"kind": "hashing", "k": "9", "g": "3", "keep": MOST},
    {"kind": "balanced", "k": "9", "g": "3", "keep": MOST},
    {"kind": "wheel", "k": "9", "arc": "3", "keep": MOST, "ring": "3"},
    {"kind": "interval", "k": "9", "size": "3", "keep": MOST},
    {"kind": "hadamard", "k": "6", "keep": MOST},
    {"kind": "projective", "k": "6", "prime": "3", "keep": MOST},
    {"kind": "affine", "k": "5", "q": "7", "m": "3", "j": "1", "zero": "1", "g": "3", "keep": MOST},
    {"kind": "affine", "k": "13", "q": "13", "m": "4", "j": "2", "zero": "0", "g": "2", "keep": MOST},
    {"kind": "table", "weights": ROWS},
    {"kind": "lattice", "k": "5", "places": ["0", "4"], "values": ["0", "1"], "least": [FIFTH] * 2, "most": [MOST] * 2,
     "rows": [["0", "0", "0", MOST, "1", str(WORD // 4)], ["0", "0", "0", str(WORD // 4), "1", MOST]]},
    {"kind": "arc", "k": "8", "size": "3", "keep": MOST},
    {"kind": "box", "sizes": ["2", "3", "4"], "shape": ["1", "1", "2"], "keep": HALF},
    {"kind": "several", "options": "5", "ticks": "2", "marks": "2", "size": "2", "keep": MOST},
    {"kind": "several", "options": "4", "ticks": "3", "marks": "4", "size": "1", "keep": MOST},
    {"kind": "interaction", "sizes": ["2", "5"], "g": "4", "size": "2", "keep": MOST},
    {"kind": "neighbours", "outputs": "5", "neighbours": [["0", "2"], ["1", "3"], ["2", "4"]], "keep": MOST},
    {"kind": "recode", "k": "6", "starts": ["0", "2", "5"], "codes": ["2", "0", "1"], "base": THREE},
    NEAR,
    NEAR | {"tie": "0", "shift": "0"},
    LEAN,
    {"kind": "window-or-bit", "window": NEAR, "bit": LEAN, "coin": FIFTH},
    GRIDS,
    OPEN,
    OPEN | {"attach": HALF},
    OPEN | {"base": [SET | {"k": "3", "size": "1"}], "blind": "0", "attach": FIFTH},
    OPEN | {"sensitive": ["2", "3"], "base": []},
    {"kind": "utility-levels", "k": "5", "sensitive": ["0", "2", "3", "4"], "keep": HALF,
     "flips": [FIFTH, str(WORD // 6), str(WORD // 7)], "plain": FIFTH},
    {"kind": "bit", "chances": [FIFTH, HALF, MOST]},
    {"kind": "personal", "data": [THREE | {"keep": HALF}, THREE], "level": [PAIR]},
    {"kind": "personal", "data": [OPEN, OPEN | {"plain": HALF}], "level": [{"kind": "bit", "chances": [FIFTH, HALF]}]},
    {"kind": "pairs", "base": THREE | {"k": "10"}, "keys": "3", "length": "2"},
    {"kind": "pairs", "base": THREE | {"k": "6"}, "keys": "3", "length": "0"},
    {"kind": "pairs", "base": BITS, "keys": "4", "length": "2"},
    {"kind": "pairs", "base": SIGNED, "keys": "3", "length": "2"},
    {"kind": "pairs", "base": {"kind": "keys-only", "base": SET | {"k": "5"}}, "keys": "3", "length": "2"},
    BITS,
    SIGNED,
    {"kind": "signed-interval", "keys": "5", "size": "2", "keep": MOST},
    {"kind": "signed-hashing", "keys": "5", "g": "3", "own": HALF, "flip": FIFTH},
    {"kind": "one-key", "keys": "3", "keep": MOST, "flip": FIFTH},
    {"kind": "told-key", "keys": "3", "keep": MOST, "flip": FIFTH, "told": ["0", str(1 << 31), str(1 << 32)]},
    {"kind": "grouped", "first": {"kind": "keys-only", "base": SET}, "second": SIGNED | {"keys": "4"}, "coin": HALF},
    {"kind": "dealt", "parts": [THREE, OPEN, SET], "shares": ["1", "2", "3"]},
    {"kind": "channel", "weights": ROWS, "budgets": [[0, 0.7, 0.7], [0.7, 0, 0.7], ["inf", 0.7, 0]]},
)  # fmt: skip
ENDS = (8, 64, 255, 1 << 12, 1 << 16, 1 << 20, 1 << 23, 1 << 30, 1 << 31, 1 << 32, WORD)
"""Powers of two and counts at which something ends, for some kernel."""


def changed(kernel: dict[str, Any], place: list[Any], value: str) -> dict[str, Any]:
    """A copy with another number at a place."""
    made: dict[str, Any] = json.loads(json.dumps(kernel))
    part: Any = made
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    return made


def _places(part: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[list[Any], int]]:
    """Where the numbers are that are a kernel's own, and what they are."""
    for name, own in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(own, str) and own.isdecimal():
            yield [*place, name], int(own)
        elif isinstance(own, list) and not any(isinstance(each, dict) for each in own):
            yield from _places(own, (*place, name))


def _values(kernel: dict[str, Any], number: int) -> Iterator[int]:
    """What a number may become: near to it, near to the kernel's others, and near to the ends of all."""
    others = [own for _, own in _places(kernel)]
    others += [sum(others[:2]), 2 * number, number // 2]
    for own in (0, 1, 2, number, *others, *(ENDS if number < 1 << 40 else (WORD,))):
        yield from range(own - 1, own + 2)


def said(kernel: Any) -> list[Any]:
    """What a kernel says of itself."""
    work = getattr(kernel, "work", None)
    told: list[Any] = [kernel.width, kernel.words, work and [work.number, work.most, work.steps]]
    if kernel.kind not in ("pairs", "dealt", "laplace") or kernel.k < 1000:
        try:
            told.append(str(promised_ratio(kernel)))
        except DeniableError as error:
            told.append(type(error).__name__)
    if isinstance(kernel, Disclosing):
        told += [str(kernel.disclosed), list(kernel.protected)]
    return told


def field_vectors() -> dict[str, Any]:
    """For each number of each kernel, with which others it is one, and what it says then; all others are refused."""
    cases = []
    for kernel in KERNELS:
        fields = []
        for place, number in _places(kernel):
            taken, refused = [], []
            for value in sorted({value for value in _values(kernel, number) if value >= 0}):
                try:
                    made = kernel_from(changed(kernel, place, str(value)))
                except DeniableError:
                    refused.append(str(value))
                else:
                    taken.append([str(value), *(said(made) if number < 1 << 40 and value < 70 else [])])
            fields.append({"place": place, "taken": taken, "refused": refused})
        cases.append({"kernel": kernel, "said": said(kernel_from(kernel)), "fields": fields})
    return {
        "about": "numbers of kernels, each changed in turn: those that are taken, and what is said then",
        "cases": cases,
    }
