"""Kernels affine and channel: cases at both sides of their limits, and designs of them that must be refused."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from lattice_cases import lattice_kernels

from deniable_client.exact import exp_bounds
from deniable_client.kernels import Affine, Channel, Kernel, kernel_to

WORD = 1 << 64
HALF = 1 << 63
INF = math.inf
FORMAT, PRIVACY = "format", "privacy"


def affine_kernels() -> list[tuple[float, Kernel]]:
    """Few and many classes, with and without 0, all of one union, and reports of one, two and four bytes."""
    shapes = (
        (1.0, 7, 7, 2, 1, 0),
        (2.0, 5, 7, 6, 1, 0),
        (0.5, 13, 13, 3, 1, 1),
        (1.0, 10, 31, 5, 2, 1),
        (3.0, 11, 11, 1, 0, 1),
        (1.0, 250, 251, 2, 1, 0),
        (4.0, 1000, 1021, 102, 1, 1),
    )
    return [(e, Affine.calibrate(e, *shape)) for e, *shape in shapes]


def most(budget: float, weight: int) -> int:
    """The largest weight within a limit against another one."""
    low = exp_bounds(budget)[0]
    return weight * low.numerator // low.denominator


def own_output(epsilon: float, k: int) -> Channel:
    """An output for each value, as likely as one limit for all allows."""
    low = exp_bounds(epsilon)[0]
    other = -int(-WORD // (low + k - 1))
    rows = [[other] * k for _ in range(k)]
    for x in range(k):
        rows[x][x] = WORD - (k - 1) * other
    return Channel(tuple(map(tuple, rows)), square(k, epsilon))


def square(k: int, budget: float) -> tuple[tuple[float, ...], ...]:
    """One budget between any two values."""
    return tuple(tuple(0.0 if x == z else budget for z in range(k)) for x in range(k))


def one_sided(forth: float, back: float) -> Channel:
    """Two values with two budgets, both of which are used up."""
    low, high = float(exp_bounds(forth)[0]), float(exp_bounds(back)[0])
    rare = int(WORD * (high - 1) / (low * high - 1))  # e^forth rare is how often the first value gives its output
    while WORD - rare > most(back, WORD - most(forth, rare)):
        rare -= 1 << 12
    often = most(forth, rare)
    return Channel(((often, WORD - often), (rare, WORD - rare)), ((0.0, forth), (back, 0.0)))


def channel_kernels() -> list[tuple[float, Kernel]]:
    """One limit for all, two of one pair, harmless values, blocks that are told, impossible outputs, many outputs."""
    (own, other), _ = own_output(1.0, 2).weights
    told = Channel(
        (
            (own, other, 0, 0),
            (other, own, 0, 0),
            (other, other, WORD - 2 * other, 0),
            (other, other, 0, WORD - 2 * other),
        ),
        ((0.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0), (INF, INF, 0.0, INF), (INF, INF, INF, 0.0)),
    )
    more = HALF + (HALF >> 1)
    blocks = Channel(
        (
            (more, WORD - more, 0, 0, 0),
            (WORD - more, more, 0, 0, 0),
            (0, 0, 0, HALF + (1 << 40), HALF - (1 << 40)),
            (0, 0, 0, HALF, HALF),
        ),
        (
            (0.0, 1.0986122886681098, INF, INF),
            (1.0986122886681098, 0.0, INF, INF),
            (INF, INF, 0.0, 0.5),
            (INF, INF, 0.5, 0.0),
        ),
    )
    step = WORD // 300
    wide = tuple(step + (1 << 40) * (-1) ** (x + y) for x in range(2) for y in range(299))
    rows = [wide[:299], wide[299:]]
    many = Channel(tuple((*row, WORD - sum(row)) for row in rows), square(2, 0.01))
    kernels = [own_output(1.0, 2), own_output(0.5, 3), one_sided(0.5, 1.5), one_sided(2.0, 0.25), told, blocks, many]
    return [(kernel.limit, kernel) for kernel in kernels]


def unkept(document: dict[str, Any]) -> dict[str, Any]:
    """A channel kernel whose limit that is nearest to being broken is broken, by a single unit."""
    weights, budgets = [list(map(int, row)) for row in document["weights"]], document["budgets"]
    steps = {}
    for x, z in permutations(range(len(weights)), 2):
        if budgets[x][z] != "inf":
            for y, weight in enumerate(weights[z]):
                steps[most(budgets[x][z], weight) - weights[x][y] + 1, x, y] = z
    step, x, y = next(at for at in sorted(steps) if max(w for i, w in enumerate(weights[at[1]]) if i != at[2]) > at[0])
    source = max((w, i) for i, w in enumerate(weights[x]) if i != y)[1]
    weights[x][y] += step
    weights[x][source] -= step
    return document | {"weights": [list(map(str, row)) for row in weights]}


# ---- designs


def design(name: str, epsilon: float, k: int, params: dict[str, Any], kernel: Any) -> dict[str, Any]:
    """A design document of a kernel."""
    own = kernel if isinstance(kernel, dict) else kernel_to(kernel)
    start = {"mechanism": name, "version": 1, "epsilon": epsilon, "domain": {"k": k}}
    return start | {"params": params, "kernel": own}


def affine_design(kernel: Affine, epsilon: float) -> dict[str, Any]:
    """Its design."""
    params = {name: getattr(kernel, name) for name in ("q", "m", "j", "zero", "g")}
    return design("affine", epsilon, kernel.k, params, kernel)


_AFFINE = affine_design(Affine.calibrate(1.0, 10, 31, 5, 2, 1), 1.0)
_PLAIN, _SIDED, _TOLD, _BLOCKS = (kernel for _, kernel in (channel_kernels()[i] for i in (1, 2, 4, 5)))
_RELEASE = {"points": [0, 1, 2], "prior": [0.5, 0.25, 0.25], "loss": 0.5, "bound": 0.5, "blind": 0}
_BASE = {"base": {"mechanism": "affine", "params": {}}, "sensitive": [0, 4], "theta": 0.5, "form": "glutf"}


def _mapped() -> dict[str, Any]:
    """Sensitive values through affine response, harmless ones turned into them."""
    inner = affine_design(Affine.calibrate(0.5, 4, 5, 2, 1, 0), 0.5)
    params = _BASE | {"base": {"mechanism": "affine", "params": inner["params"]}}
    kernel = {"kind": "utility", "k": "6", "sensitive": ["0", "4"], "base": [inner["kernel"]]}
    return design("utility", 1.0, 6, params, kernel | {"plain": str(WORD // 4), "attach": "0", "blind": "0"})


def _mapped_lattice() -> dict[str, Any]:
    """The same through a table for means, which has a field `least` that is not the one of other bases."""
    epsilon, table = min(lattice_kernels(), key=lambda row: row[1].k)
    inner: Any = table
    params = _BASE | {"base": {"mechanism": "lu", "params": {"points": inner.points, "outputs": inner.outputs}}}
    k = inner.k + 2
    kernel = {"kind": "utility", "k": str(k), "sensitive": ["0", str(inner.k)], "base": [kernel_to(inner)]}
    params |= {"sensitive": [0, inner.k]}
    return design("utility", epsilon + 1, k, params, kernel | {"plain": str(WORD // 4), "attach": "0", "blind": "0"})


_LATTICE = _mapped_lattice()
GOOD: dict[str, tuple[dict[str, Any], list[Any] | None]] = {
    "affine": (_AFFINE, None),
    "affine below sensitive answers": (_mapped(), [4, 5]),
    "lattice below sensitive answers": (_LATTICE, [_LATTICE["domain"]["k"] - 2, _LATTICE["domain"]["k"] - 1]),
    "matrix": (design("matrix", 0.5, 3, {"prior": [0.5, 0.25, 0.25], "outputs": ["a", "b", "c"]}, _PLAIN), None),
    "optimal-release": (design("optimal-release", 0.5, 3, _RELEASE, _PLAIN), None),
    "optimal-release, proved": (
        design("optimal-release", 0.5, 3, _RELEASE | {"multipliers": [[0, 1, 0, 5]]}, _PLAIN),
        None,
    ),
    "matrix, two budgets": (design("matrix", 1.5, 2, {}, _SIDED), None),
    "matrix, harmless answers": (design("matrix", 1.0, 4, {}, _TOLD), [2, 3]),
}
"""Designs and the consent that they need."""

BLOCKS: dict[str, Any] = {
    "about": "matrix, blocks",
    "harmless": [0, 1, 2, 3],
    "design": design("matrix", 1.0986122886681098, 4, {}, _BLOCKS),
}
"""A good design that no task can have: none of its answers is protected against all others."""

CHANGES: dict[str, dict[str, list[Any]]] = {
    "affine": {
        "kernel.q": ["33", "30", "2", "8388608", "8388617"],
        "kernel.m": ["4", "0", "31", "270600"],
        "kernel.j": ["5", "6"],
        "kernel.zero": ["2"],
        "kernel.g": ["1", "0", "31", "2", "5", "30"],
        "kernel.k": ["32", "1", "8388609"],
        "kernel.keep": ["0", str(WORD)],
        "params.g": [2, "3", None],
        "params.m": [6],
        "params.q": [37],
        "params.zero": [0, True],
        "params.j": [1],
    },
    "matrix": {
        "epsilon": [0.6, 0.4, 1],
        "params.prior": [[0.5, 0.5], [0.5, 0.25, "0.25"], "x", None, [True, 0, 0]],
        "params.outputs": [["a", "b"], ["a", "b", "a"], ["a", "b", ""], ["a", "b", 3], None],
        "params.more": [1],
        "domain.k": [4],
        "kernel.weights": [[], [[]], "x", None, [["1"]], [[str(WORD)]] * 3, [[str(HALF)] * 2] * 3 + [[str(HALF)] * 2]],
        "kernel.weights.0": [[], [str(HALF)] * 2, [str(HALF), str(HALF - 1), "0"], ["-1", "1", str(WORD)], "x"],
        "kernel.weights.0.0": ["0", "x", 1, None, [], "01"],
        "kernel.weights.1": [[str(WORD), "1", "0"], [str(HALF), str(HALF), "0", "0"]],
        "kernel.budgets": [[], [[0]], None, "inf", [[0, 0.5, 0.5]] * 2, [0, 0.5, 0.5], 0.5, {}],
        "kernel.budgets.0": [[0, 0.5], [0, 0.5, 0.5, 0.5], None, "inf", 0.5],
        "kernel.budgets.0.0": [0.5, "inf", "0", None],
        "kernel.budgets.0.1": [-0.5, "nan", "-inf", "Infinity", "0.5", None, True, 40.5, 1e-13, [], {}, 1e308],
        "kernel.kind": ["table"],
    },
    "optimal-release": {
        "params.points": [["0", 1, 2], [0, 1, 0.5], [0, 1, -1], "x", None, 3],
        "params.case": ["mean", None],
        "params.prior": [[0.5, 0.5]],
        "params.loss": ["0.5", None],
        "params.bound": [[0.5]],
        "params.blind": [0.5, -1],
    },
    "optimal-release, proved": {
        "params.multipliers": [None, 5, "x", [5], [[0, 1, 0]], [[0, 1, 0, -5]], [[0, 1, 0, 0.5]], [[0, 1, 0, 5, 5]]],
        "params.multipliers.0": [[0, 1, 0, 2**54], ["0", 1, 0, 5], [0, 1, None, 5], [0, 1, 0, True]],
    },
    "matrix, two budgets": {"kernel.budgets.1.0": [0.5, "inf", 2], "epsilon": [0.5]},
}
"""What they may not have instead: refused for its form."""

LEAKS: dict[str, dict[str, list[Any]]] = {
    "affine": {
        "kernel.keep": [str(int(_AFFINE["kernel"]["keep"]) + 1), "1", str(WORD - 1)],
        "epsilon": [0.99],
    },
    "affine below sensitive answers": {"kernel.plain": [str(HALF + (HALF >> 1))]},
    "matrix": {"kernel": [unkept(kernel_to(_PLAIN))]},
    "matrix, two budgets": {
        "kernel": [unkept(kernel_to(_SIDED))],
        "kernel.weights": [[[str(HALF), str(HALF)], [str(WORD), "0"]], [["0", str(WORD)], [str(WORD), "0"]]],
        "kernel.budgets.0.1": [0, 0.49],
    },
    "matrix, harmless answers": {
        "kernel": [unkept(kernel_to(_TOLD))],
        "kernel.budgets.0.3": [0.5, 0],
        "kernel.budgets.2.0": [1, 0.5],
        "kernel.budgets.2": [[1, "inf", 0, "inf"], ["inf", "inf", 0, 0.25]],
    },
}
"""What makes them leak more than they say."""


def hostile() -> Iterator[tuple[str, dict[str, Any], str, list[Any] | None]]:
    """Consent for other answers than may be told, and more than a device does; what is in rules comes beside this."""
    told, blocks = GOOD["matrix, harmless answers"][0], BLOCKS["design"]
    for harmless in (None, [], [2], [1, 2, 3], [0, 1, 2, 3]):
        yield f"matrix, consent for {harmless}", told, PRIVACY, harmless
    for harmless in (None, [0, 1], [2, 3]):
        yield f"matrix of blocks, consent for {harmless}", blocks, PRIVACY, harmless
    for x, z, budget in ((0, 2, 1), (3, 0, 0.1), (2, 3, 1e-12)):
        leak = copy.deepcopy(blocks)
        leak["kernel"]["budgets"][x][z] = budget
        yield f"matrix of blocks, budget {budget} between {x} and {z}", leak, PRIVACY, BLOCKS["harmless"]
    clear = {"kind": "channel", "weights": [[str(WORD), "0"], ["0", str(WORD)]], "budgets": [[0, "inf"], ["inf", 0]]}
    for epsilon in (1e-12, 1.0, 40):
        yield f"a table without any limit, epsilon {epsilon}", design("matrix", epsilon, 2, {}, clear), FORMAT, [0, 1]
    nearly = copy.deepcopy(clear)
    nearly["weights"] = [[str(WORD - 1), "1"], ["1", str(WORD - 1)]]
    nearly["budgets"] = [[0, 40], [40, 0]]
    yield "a table that is as good as clear", design("matrix", 40, 2, {}, nearly), PRIVACY, None
    many = {"kind": "channel", "weights": [[str(HALF), str(HALF), *["0"] * 127]] * 256}
    budgets = [[0 if x == z else 1 for z in range(256)] for x in range(256)]
    yield "a table of 8.4 million comparisons", design("matrix", 1, 256, {}, many | {"budgets": budgets}), FORMAT, None
    long = {"kind": "channel", "weights": [[str(HALF), str(HALF)]] * 513, "budgets": [[0, 1], [1, 0]]}
    yield "a table of 513 values", design("matrix", 1, 513, {}, long), FORMAT, None
    for name in ("grr", "utility", "exponential", "affine"):
        yield f"a channel as {name}", design(name, 0.5, 3, {}, _PLAIN), FORMAT, None
    square_root = copy.deepcopy(_AFFINE)
    square_root["kernel"]["g"], square_root["params"]["g"] = "9", 9
    yield "powers of a square", square_root, FORMAT, None
    composite = copy.deepcopy(_AFFINE)
    composite["kernel"]["q"], composite["params"]["q"] = "91", 91
    yield "a field of 91 points", composite, FORMAT, None
    empty = copy.deepcopy(_AFFINE)
    empty["kernel"] |= {"j": "0", "zero": "0"}
    empty["params"] |= {"j": 0, "zero": 0}
    yield "blocks without points", empty, FORMAT, None
