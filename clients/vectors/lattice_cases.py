"""Vectors of tables that are exactly unbiased, and of directions: good kernels, and designs that must be refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from deniable_client.exact import exp_bounds
from deniable_client.kernels import Arc, Kernel, Lattice, kernel_to

WORD = 1 << 64
FORMAT, PRIVACY = "format", "privacy"
Design = dict[str, Any]

BEST = Lattice(
    k=4194305,
    places=(0, 1048576, 2097152, 3145728, 4194304),
    values=(0, 1, 2, 3, 6, 9, 10, 11, 12),
    least=(
        466935801247669440,
        2172815124652487936,
        1192841896313550336,
        1011365372547079168,
        435543657039526912,
        1011365372547079168,
        1192841896313550336,
        2172815124652487936,
        466935801247669440,
    ),
    most=(
        1269263103588504220,
        5906323869943833201,
        3242480450973752457,
        2749176114127437832,
        1183930408431144523,
        2749176114127437832,
        3242480450973752457,
        5906323869943833201,
        1269263103588504220,
    ),
    rows=(
        (1, 3, 0, 1269262474824622023, 3, 2749175426167030143),
        (2, 5, 1, 4222452820762048534, 5, 2749175655953791118),
        (3, 6, 1, 2172815124652487940, 2, 3242479792611608334, 6, 3242479792611608339),
        (4, 7, 3, 2749175655953791118, 7, 4222452820762048534),
        (6, 8, 5, 2749175426167030143, 8, 1269262474824622023),
    ),
)
"""Five points at epsilon 1: some outputs of every row have a weight of their own."""

LOOSE = Lattice(
    k=4194305,
    places=(0, 1048576, 2097152, 3145728, 4194304),
    values=(0, 1, 2, 5, 8, 9, 10),
    least=(
        658597941281322752,
        1704614281571321088,
        1567725558119356160,
        795486664733284352,
        1567725558119356160,
        1704614281571321088,
        658597941281322752,
    ),
    most=(
        2298732686150132202,
        5949688452871336858,
        5471899861014829467,
        2776521278006627977,
        5471899861014829467,
        5949688452871336858,
        2298732686150132202,
    ),
    rows=(
        (1, 2, 0, 2298732158792465587, 2, 5471899016340464819),
        (2, 4, 1, 4339862846944675759, 4, 2836649923609451815, 5, 1704614281571321094),
        (3, 4, 1, 1704614281571321091, 2, 5471899174998817976, 4, 5471899174998817980),
        (3, 5, 1, 1704614281571321094, 2, 2836649923609451815, 5, 4339862846944675759),
        (5, 6, 4, 5471899016340464819, 6, 2298732158792465587),
    ),
)
"""The same at epsilon 1.25."""


def log_uniform(epsilon: float, sizes: tuple[int, ...]) -> Lattice:
    """Estimates of these sizes and either sign, half of them favoured; their number is a power of 2."""
    count, total = len(sizes), sum(sizes)
    share = WORD // count
    slight = -int(-share // (exp_bounds(epsilon)[0] + 1))
    sums = list(accumulate(sizes, initial=0))
    numbers = [-size for size in reversed(sizes)] + list(sizes)
    return Lattice(
        2 * total + 1,
        tuple(total + sums[i] - sums[count - i] for i in range(count + 1)),
        tuple(number - numbers[0] for number in numbers),
        (slight,) * (2 * count),
        (share - slight,) * (2 * count),
        tuple((i, count + i) for i in range(count + 1)),
    )


def lattice_kernels() -> list[tuple[float, Kernel]]:
    """Tables with places at equal and at other distances, and one bit."""
    return [
        (1.0, BEST),
        (0.5, log_uniform(0.5, (1000, 1100, 1250, 1400))),
        (2.0, log_uniform(2.0, (7, 11))),
        (1.0, log_uniform(1.0, (12345,))),
    ]


def arc_kernels() -> list[tuple[float, Kernel]]:
    """Directions: few, some and many."""
    return [
        (e, Arc.calibrate(e, k, size)) for e, k, size in ((1.0, 3, 1), (0.5, 9, 4), (2.0, 360, 111), (4.0, 1000, 60))
    ]


def looser(kernel: dict[str, Any]) -> dict[str, Any]:
    """A table that is as unbiased, with a larger ratio."""
    if any(len(row) > 2 for row in kernel["rows"]):
        return kernel_to(LOOSE)
    step = 1 << 44
    least, most = ([str(int(w) + sign * step) for w in kernel[name]] for name, sign in (("least", -1), ("most", 1)))
    return kernel | {"least": least, "most": most}


# ---- designs that must be refused, and such as must not


def om(kernel: Any = None, **params: Any) -> Design:
    """A good design, or one with another kernel or other parameters."""
    own = kernel_to(BEST) if kernel is None else kernel
    told = {"points": 5, "outputs": len(own["values"]), "objective": "worst", "certificate": []} | params
    grid = {"interval": [-1, 1], "points": int(own["k"]), "layout": "endpoints", "clip": False}
    start = {"mechanism": "om", "version": 1, "epsilon": 1.0, "domain": grid}
    return start | {"params": told, "kernel": own}


def arc(**changes: Any) -> Design:
    """A good design of directions, or one with something else."""
    own = kernel_to(Arc.calibrate(1.0, 24, 9)) | changes.pop("kernel", {})
    start = {"mechanism": "arc", "version": 1, "epsilon": 1.0, "domain": {"circle": [0, 24], "points": 24}}
    return start | {"params": {"size": 9}, "kernel": own} | changes


def _moved(*path: Any, by: int = 0, to: Any = None) -> dict[str, Any]:
    """The kernel of the good table with one number changed."""
    made = copy.deepcopy(kernel_to(BEST))
    part: Any = made
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = str(int(part[path[-1]]) + by) if to is None else to
    return made


def good_designs() -> Iterator[tuple[str, Design]]:
    """Designs that every client takes."""
    yield "om", om()
    yield "om, a certificate", om(certificate=[[0, 4, 5, -6, 7], [1, 4, 5.0, 6, -7]])
    yield "arc", arc()


def _units() -> dict[str, Any]:
    """A row whose sum is right and whose mean is not: one unit goes from one output to another."""
    made = _moved("rows", 1, 3, by=1)
    row = made["rows"][1]
    row[5] = str(int(row[5]) - 1)
    return made


def _stride(by: int) -> dict[str, Any]:
    """Values on another lattice than the rows were made for."""
    made = copy.deepcopy(kernel_to(BEST))
    made["values"] = [str(int(value) * by + (i == 1)) for i, value in enumerate(made["values"])]
    return made


def _huge(places: int, outputs: int) -> dict[str, Any]:
    """More entries than any table has."""
    ones, half = ["1"] * outputs, str(places)
    own = {"kind": "lattice", "k": half, "places": [str(i) for i in range(places)]}
    own |= {"values": [str(i) for i in range(outputs)], "least": ones, "most": ones}
    return own | {"rows": [["0", "0"]] * places}


def hostile_designs() -> Iterator[tuple[str, Design, str]]:
    """Tables that are biased, leak, or are no tables; directions alike."""
    yield "om, a unit moved within a row", om(_units()), FORMAT
    yield "om, a unit more in a row", om(_moved("rows", 2, 3, by=1)), FORMAT
    yield "om, a unit more in the least", om(_moved("least", 3, by=1)), FORMAT
    yield "om, values of stride 3", om(_stride(3)), FORMAT
    yield "om, one value moved", om(_moved("values", 1, by=1)), FORMAT
    yield "om, a place moved", om(_moved("places", 1, by=1)), FORMAT
    yield "om, places that fall", om(_moved("places", 1, to="0")), FORMAT
    yield "om, a last place before the last number", om(_moved("k", by=1)), FORMAT
    yield "om, an output that is none", om(_moved("rows", 0, 2, to="99")), FORMAT
    yield "om, a window beyond the outputs", om(_moved("rows", 0, 1, to="99")), FORMAT
    yield "om, an odd row", om(_moved("rows", 0, to=["0", "1", "2"])), FORMAT
    yield "om, an empty row", om(_moved("rows", 0, to=[])), FORMAT
    yield "om, a weight of 0", om(_moved("least", 0, to="0")), FORMAT
    yield "om, a weight beyond its most", om(_moved("rows", 0, 3, to=str(WORD))), FORMAT
    yield "om, fewer rows than places", om(kernel_to(BEST) | {"rows": kernel_to(BEST)["rows"][1:]}), FORMAT
    yield "om, no places", om(_huge(0, 2), points=0), FORMAT
    yield "om, a huge table", om(_huge(520, 520), points=520), FORMAT
    yield "om, a ratio above e^epsilon", om(kernel_to(LOOSE)), PRIVACY
    yield "om, a promise below its ratio", om() | {"epsilon": 0.999999}, PRIVACY
    yield "om, all rows turned round", om(kernel_to(BEST) | {"rows": kernel_to(BEST)["rows"][::-1]}), FORMAT
    yield "om, another number of points", om(points=7), FORMAT
    yield "om, another number of outputs", om(outputs=3), FORMAT
    yield "om, an unknown objective", om(objective="best"), FORMAT
    yield "om, a certificate of texts", om(certificate=[["0", "1", "2", "3", "4"]]), FORMAT
    yield "om, a certificate of four numbers", om(certificate=[[0, 1, 2, 3]]), FORMAT
    yield "om, a certificate without end", om(certificate=[[0, 1, 2, 3, 4]] * 1025), FORMAT
    yield "om, a table kernel", om(kernel_to(BEST) | {"kind": "table"}), FORMAT
    yield "arc, all directions favoured", arc(kernel={"size": "24"}), FORMAT
    yield "arc, none favoured", arc(kernel={"size": "0"}), FORMAT
    yield "arc, another size", arc(params={"size": 8}), FORMAT
    yield "arc, too much kept", arc(kernel={"keep": str(int(arc()["kernel"]["keep"]) + 1)}), PRIVACY
    own = {"params": {}, "kernel": {"kind": "response", "k": "3", "keep": str(WORD * 2 // 5)}}
    start = {"mechanism": "grr", "version": 1, "epsilon": 1.0}
    yield "grr, a circle", start | {"domain": {"circle": [0, 24], "points": 3}} | own, FORMAT
    yield "arc, a circle of another size", arc(domain={"circle": [0, 24], "points": 25}), FORMAT
    yield "arc, a circle without ends", arc(domain={"circle": [24], "points": 24}), FORMAT
    yield "arc, a circle backwards", arc(domain={"circle": [24, 0], "points": 24}), FORMAT
    yield "arc, a circle of half directions", arc(domain={"circle": [0, 24], "points": 24.5}), FORMAT
    yield "arc, a circle that is cut", arc(domain={"circle": [0, 24], "points": 24, "clip": True}), FORMAT
