"""Good designs of many forms, each with single things changed that break one rule of the grammar or one promise.

`hostile.py` adds the changed ones to its documents. The good ones go with them: a client that refuses everything would
otherwise pass.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import written_cases  # it stands beside this file

WORD = 1 << 64
FORMAT, PRIVACY = "format", "privacy"
Design = dict[str, Any]


def part(share: float) -> str:
    """A threshold."""
    return str(int(share * WORD))


def kernel(kind: str, **fields: Any) -> dict[str, Any]:
    """A kernel; whole numbers are written as text."""
    return {"kind": kind} | {name: str(v) if isinstance(v, int) else v for name, v in fields.items()}


def design(name: str, epsilon: float, k: float, params: Design, own: Design) -> Design:
    """A design document."""
    start = {"mechanism": name, "version": 1, "epsilon": epsilon, "domain": {"k": k}}
    return start | {"params": params, "kernel": own}


def response(k: int, keep: float) -> Design:
    """A response kernel."""
    return kernel("response", k=k, keep=part(keep))


def subset(k: int, size: int, keep: float) -> Design:
    """A subset kernel."""
    return kernel("subset", k=k, size=size, keep=part(keep))


def box(sizes: list[str], shape: list[str], keep: float) -> Design:
    """A kernel of several questions."""
    return kernel("box", sizes=sizes, shape=shape, keep=part(keep))


def several(options: int, ticks: int, marks: int, size: int, keep: float) -> Design:
    """A kernel of ticked options."""
    return kernel("several", options=options, ticks=ticks, marks=marks, size=size, keep=part(keep))


def utility(k: int, sensitive: list[str], base: list[Design], plain: float) -> Design:
    """A utility kernel with blind reports."""
    return kernel("utility", k=k, sensitive=sensitive, base=base, plain=part(plain), attach=0, blind=1)


def pairs(base: Design, keys: int, length: int) -> Design:
    """A kernel for pairs."""
    return kernel("pairs", base=base, keys=keys, length=length)


def mixture(first: Design, second: Design) -> Design:
    """A fair mixture."""
    return kernel("mixture", first=first, second=second, coin=part(0.5))


def _blocks(keep: float) -> Design:
    """An affine kernel on 7 points, in blocks of 2."""
    return kernel("affine", k=5, q=7, m=3, j=1, zero=0, g=3, keep=part(keep))


def changed(document: Design, path: str, to: Any) -> Design:
    """A copy with one thing changed, or added; `path` is its place such as `params.size`."""
    made = copy.deepcopy(document)
    place: Any = made
    *steps, last = (int(step) if step.isdecimal() else step for step in path.split("."))
    for step in steps:
        place = place[step]
    place[last] = to
    return made


TWO = [response(2, 0.6), response(2, 0.7)]
"""Ratios 1.5 and 2.33, within epsilon 0.5 and 1."""
_LEVELS = {"levels": [0.5, 1.0], "base": "grr", "level_epsilon": 0.5, "level_report": "response", "g": None}
_SENSITIVE = {"base": {"mechanism": "grr", "params": {}}, "sensitive": [0, 2], "theta": 0.5, "form": "null"}
_SIZED = _SENSITIVE | {"base": {"mechanism": "ss", "params": {"size": 1}}}
_MIXED = {"size": 1, "share": 0.5, "sensitive": [0, 2], "theta": 0.5}
_PAIRED = {"length": 2, "range": [-1, 1]}
GRR = design("grr", 1.0, 2, {}, response(2, 0.7))
UTILITY = utility(4, ["0", "2"], [response(2, 0.6)], 0.25)
BUDGETS = kernel("utility-levels", k=3, sensitive=["0", "2"], keep=part(0.5), flips=[part(1 / 16)] * 2, plain=0)

GOOD: Mapping[str, tuple[Design, list[Any] | None]] = {
    "grr": (GRR, None),
    "ss": (design("ss", 1.0, 5, {"size": 2}, subset(5, 2, 0.5)), None),
    "whole numbers with a point": (design("ss", 1.0, 5.0, {"size": 2.0}, subset(5, 2, 0.5)), None),
    "oue": (design("oue", 1.0, 3, {"p": 0.5}, kernel("unary", k=3, keep=part(0.5), flip=part(0.3))), None),
    "lh": (design("lh", 1.0, 4, {"g": 2}, kernel("hashing", k=4, g=2, keep=part(0.6))), None),
    "the": (design("the", 1.0, 3, {"theta": 0.9}, kernel("unary", k=3, keep=part(0.5), flip=part(0.3))), None),
    "ssmix": (design("ssmix", 1.0, 5, {"size": 2, "share": 0.5}, mixture(subset(5, 2, 0.5), subset(5, 3, 0.6))), None),
    "codebook": (design("codebook", 1.0, 3, {"size": 1}, kernel("constant", k=3)), None),
    "urr": (design("urr", 1.0, 4, _SENSITIVE, UTILITY), [2, 3]),
    "uss": (design("uss", 1.0, 4, _SIZED, utility(4, ["0", "2"], [subset(2, 1, 0.6)], 0.25)), [2, 3]),
    "urr, base as a design": (
        design("urr", 1.0, 4, _SENSITIVE | {"base": changed(GRR, "kernel", response(2, 0.6))}, UTILITY),
        [2, 3],
    ),
    "one protected answer": (
        design("urr", 1.0, 4, _SENSITIVE | {"base": None, "sensitive": [0, 1]}, utility(4, ["0", "1"], [], 0.5)),
        [range(1, 4)],
    ),
    "ussmix": (
        design(
            "ussmix",
            1.0,
            4,
            _MIXED,
            mixture(
                utility(4, ["0", "2"], [subset(2, 1, 0.6)], 0.25), utility(4, ["0", "2"], [kernel("whole", k=2)], 0.5)
            ),
        ),
        [2, 3],
    ),
    "uue-levels": (
        design(
            "uue-levels",
            5.0,
            3,
            {"item_epsilon": [2.8, 2.8], "sensitive": [0, 2], "flip": 0.1, "theta": 0.5},
            BUDGETS,
        ),
        None,
    ),
    "pldp": (design("pldp", 1.0, 2, _LEVELS, kernel("personal", data=TWO, level=[response(2, 0.6)])), None),
    "pldp, hashing": (
        design(
            "pldp",
            1.0,
            4,
            _LEVELS | {"base": "lh", "g": 2, "level_report": "none", "level_epsilon": None},
            kernel("personal", data=[kernel("hashing", k=4, g=2, keep=part(p)) for p in (0.6, 0.7)], level=[]),
        ),
        None,
    ),
    "pldp, affine": (
        design(
            "pldp",
            1.0,
            5,
            _LEVELS | {"base": "affine", "blocks": [7, 3, 1, 0, 3]},
            kernel("personal", data=[_blocks(p) for p in (0.38, 0.45)], level=[response(2, 0.6)]),
        ),
        None,
    ),
    "upldp": (
        design(
            "upldp",
            1.0,
            4,
            _LEVELS | {"sensitive": [0, 2], "disclosure": "common"},
            kernel("personal", data=[utility(4, ["0", "2"], [base], 0.25) for base in TWO], level=[response(2, 0.6)]),
        ),
        [2, 3],
    ),
    "upldp, affine": (
        design(
            "upldp",
            1.0,
            7,
            _LEVELS | {"base": "affine", "blocks": [7, 3, 1, 0, 3], "sensitive": [0, 5], "disclosure": "common"},
            kernel(
                "personal",
                data=[utility(7, ["0", "5"], [_blocks(p)], 0.15) for p in (0.38, 0.45)],
                level=[response(2, 0.6)],
            ),
        ),
        [5, 6],
    ),
    "kv-ss2": (design("kv-ss2", 1.0, 2, {"size": 2, **_PAIRED}, pairs(subset(8, 2, 0.4), 2, 2)), None),
    "kv-olh": (
        design("kv-olh", 1.0, 2, {"g": 2, **_PAIRED}, pairs(kernel("hashing", k=8, g=2, keep=part(0.6)), 2, 2)),
        None,
    ),
    "privkv": (
        design(
            "privkv",
            1.0,
            2,
            {"told": [1, 2], "range": [-1, 1]},
            pairs(kernel("told-key", keys=2, keep=part(0.55), flip=part(0.45), told=["1", "2"]), 2, 0),
        ),
        None,
    ),
    "windows": (
        design(
            "windows",
            1.0,
            8,
            {"circle": 8, "widths": [1, 2], "shares": [1, 1], "sizes": [2, 1]},
            kernel(
                "windows",
                k=8,
                circle=8,
                widths=["1", "2"],
                shifts=["1", "2"],
                shares=["1", "1"],
                sizes=["2", "1"],
                keeps=[part(0.45)] * 2,
            ),
        ),
        None,
    ),
    "a grid": (
        GRR | {"domain": {"interval": [0, 1], "points": 2, "layout": "midpoints", "clip": False}},
        None,
    ),
    "codes": (GRR | {"domain": {"interval": [0, 1], "codes": [0.2, 0.8], "clip": True}}, None),
    "places": (GRR | {"domain": {"space": "places", "points": [[0, 0], [1, 1]], "labels": ["a", "b"]}}, None),
    "sets": (GRR | {"domain": {"space": "sets", "points": [["a"], ["b", "c"]]}}, None),
    "labels": (GRR | {"domain": {"labels": ["a", "b"], "missing": "a", "other": "b"}}, None),
    **written_cases.GOOD,
    "box": (design("box", 1.0, 12, {"sizes": [4, 3], "shape": [2, 1]}, box(["4", "3"], ["2", "1"], 0.3)), None),
    "several": (
        design("several", 1.0, 0, {"most": 2, "marks": 2, "size": 1}, several(4, 2, 2, 1, 0.5))
        | {"domain": {"ticks": ["a", "b", "c", "d"], "most": 2}},
        None,
    ),
    "several, any number": (
        design("several", 1.0, 0, {"most": 4, "marks": 4, "size": 1}, several(4, 4, 4, 1, 0.7))
        | {"domain": {"ticks": 4, "most": 4}},
        None,
    ),
    "interaction": (
        design(
            "interaction",
            1.0,
            12,
            {"sizes": [4, 3], "g": 4, "size": 1},
            kernel("interaction", sizes=["4", "3"], g=4, size=1, keep=part(0.45)),
        ),
        None,
    ),
}
"""Designs and the consent that they need."""

CHANGES: Mapping[str, Mapping[str, list[Any]]] = {
    "grr": {
        "version": [True],
        "domain.k": [True, 2.5, 1, "2", 1 << 33],
        "domain": [{"labels": ["a", 1]}, {"labels": [["a"], "b"]}, {"labels": []}],
        "kernel.more": ["1"],
        "kernel.kind": ["unary", "hadamard"],
        "kernel.k": [2, "2 ", "1", "02"],
        "params": [{"length": 2}],
    },
    "ss": {"params.size": [True, "2", 3, 2.5, None], "kernel.size": ["3", "0", "5"]},
    "oue": {"params.p": [0.6, 0.500001, -0.5, 1e308, "0.5", None, True], "params.theta": [0.5]},
    "lh": {"params.g": [3, True, None], "kernel.kind": ["balanced"]},
    "the": {"params.theta": ["0.9", None, True, [0.9]]},
    "ssmix": {
        "params.share": [0.51, 0.500001, "0.5"],
        "params.size": [3],
        "kernel.second": [subset(4, 3, 0.6), response(5, 0.3)],
        "kernel.coin": [str(WORD), "-1"],
    },
    "codebook": {"params.size": [1.5, True, "1", -1, None], "params.codes": ["x", [0.5], [-1]]},
    "urr": {
        "params.base": [None, {"mechanism": "grr"}, {"mechanism": "grr", "params": {}, "more": 1}, "grr"],
        "params.base.params": [{"size": 1}],
        "params.base.mechanism": ["hr", "geometric", "urr"],
        "params.theta": [1.5, -0.1, True, "0.5"],
        "params.form": ["mine", None, ["null"]],
        "params.sensitive": [[0, 2, 3, 4], [0, 2.5], [False, 2], ["0", "2"], None, [1, 3]],
        "kernel.sensitive": [["2", "0"], ["0", "5"], ["0", "2", "3"], ["0", "1"], "02"],
        "kernel.base": [[UTILITY], [response(3, 0.5)], [response(2, 0.6)] * 2, [kernel("unary", k=2)]],
        "kernel.blind": ["2"],
        "kernel.attach": [str(WORD)],
        "kernel.plain": [str(WORD)],
    },
    "uss": {"params.base.params.size": [2], "params.base.mechanism": ["she", ["ss"]]},
    "urr, base as a design": {
        "params.base.epsilon": [2.0, 0],
        "params.base.kernel.keep": [part(0.55)],
        "params.base.version": [2],
        "params.base.domain": [{"k": 3}],
        "params.base.more": [1],
    },
    "one protected answer": {"params.base": [{"mechanism": "grr", "params": {}}]},
    "ussmix": {
        "params.sensitive": [[0, 1], [2, 4]],
        "params.share": [0.51],
        "params.size": [2],
        "kernel.second.k": ["5"],
        "kernel.second.sensitive": [["1", "3"]],
        "kernel.second": [subset(4, 1, 0.5)],
    },
    "uue-levels": {
        "params.item_epsilon": [[2.8], [2.8, 0], [2.8, "2.8"], [2.8] * 3, 2.8, None],
        "params.sensitive": [[0, 3]],
        "params.flip": [1.5],
        "kernel.flips": [[part(1 / 16)], [part(1 / 16), part(0.6)], [part(1 / 16), "0"]],
    },
    "pldp": {
        "params.levels": [[1.0, 0.5], [0.5, 0.5], [0.5, 1.5], [0.5], [0.5, "1"], [0, 1.0], [-1, 1.0], None],
        "params.level_epsilon": [None, 0, "0.5", True],
        "params.level_report": ["bit", "none", None],
        "params.base": ["sue", "lh", None],
        "params.g": [2, False],
        "params.blocks": [[7, 3, 1, 0, 3], None],
        "kernel.data": [[TWO[0], response(3, 0.4)], [], [TWO[0]]],
        "kernel.level": [[response(3, 0.4)], [response(2, 0.6)] * 2, [subset(2, 1, 0.6)]],
    },
    "pldp, hashing": {
        "params.g": [3, None, 2.5],
        "params.level_epsilon": ["0.5", [0.5]],
        "params.level_report": ["response"],
        "params.base": ["oue"],
        "kernel.data.1.g": ["3"],
    },
    "pldp, affine": {
        "params.blocks": [[7, 3, 1, 0], [7, 3, 1, 0, 5], [7, 3, 1, 0, "3"], [7, 3, 1, 0, 3, 0], 7, None],
        "params.g": [3, 7],
        "params.base": ["grr", "lh"],
        "kernel.data.1.j": ["2"],
        "kernel.data.1.g": ["5", "2"],
    },
    "upldp": {
        "params.sensitive": [[0, 3], []],
        "params.disclosure": ["mine"],
        "params.base": ["sue"],
        "kernel.data.1.sensitive": [["1", "3"]],
        "kernel.data.1.base": [[UTILITY]],
    },
    "upldp, affine": {
        "params.blocks": [[7, 3, 1, 0], [7, 3, 1, 0, 5], None],
        "params.g": [3],
        "params.base": ["grr"],
        "kernel.data.1.blind": ["0"],
        "kernel.data.1.base.0.j": ["2"],
        "kernel.data.1.base.0.g": ["5", "2"],
        "kernel.data.0.base.0.q": ["5", "8"],
    },
    "kv-ss2": {
        "params.length": [1, True],
        "params.size": [3],
        "params.range": [[1, -1], [0, 0], [-1e308, 1e308], [0], [0, "1"], [0, True], None, [-1, 0, 1]],
        "params.encoding": ["mine", 1],
        "kernel.base.k": ["6"],
        "kernel.length": ["3"],
        "domain.k": [4],
    },
    "kv-olh": {"params.g": [3], "kernel.base.kind": ["balanced"]},
    "privkv": {"params.told": [[1, 3], [1], None, [1.5, 2]], "params.key_epsilon": ["1", None]},
    "windows": {
        "domain.k": [9, 7],
        "params.circle": [9, True, None],
        "params.widths": [[1, 4], [1], [2, 1], None, "12"],
        "params.shares": [[1, 2], [1.5, 1], []],
        "params.sizes": [[1, 1], 2],
        "params.shifts": [[1, 2]],
        "kernel.kind": ["subset", "window", "dealt"],
        "kernel.k": ["9", "7", "1"],
        "kernel.circle": ["7", "9", "0", str(1 << 21)],
        "kernel.widths": [["1", "3"], ["2", "1"], ["0", "2"], ["1", "8"], ["2", "2"], ["1"], [], "12", [["1"], "2"]],
        "kernel.shifts": [["1", "3"], ["0", "2"], ["1"], ["1", "2", "1"]],
        "kernel.shares": [["0", "1"], ["1"], [str(WORD), "1"], ["-1", "1"]],
        "kernel.sizes": [["8", "1"], ["2", "0"], ["2", "4"]],
        "kernel.keeps": [["0", part(0.45)], [part(0.45)], [part(0.45), str(WORD)], None],
    },
    "a grid": {
        "domain.interval": [[1, 0], [0, 0], [1e16, 1e16 + 2], [0], [0, "1"], [0, True], None, [0, 1, 2]],
        "domain.points": [3, "2", True, 2.5, 1],
        "domain.layout": ["middle", None],
        "domain.clip": [1, None, "no"],
        "domain.other": ["a"],
    },
    "codes": {
        "domain.codes": [[0.8, 0.2], [0.2, 0.2], [0.2, 1.5], [-0.5, 0.2], ["a", "b"], [False, True], [0.5], None]
    },
    "places": {
        "domain.space": ["mars", None, ["places"]],
        "domain.points": [[[0, 0]], [["a"], ["b"]], [0, 1], [[0, True], [1, 1]], None, [[0], [1], [2]]],
        "domain.labels": [["a"], ["a", "b", "c"], ["a", "a"], [1, 2], None],
        "domain.missing": ["c"],
    },
    "sets": {"domain.points": [[[1], [2]], [["a"]], ["a", "b"]], "domain.missing": ["a"], "domain.other": ["a"]},
    "labels": {
        "domain.labels": [["a", "b", "b"], ["a"], ["a", 1], "ab"],
        "domain.missing": ["c", None, 0, ["a"]],
        "domain.other": ["c", None, ""],
        "domain.k": [2],
    },
    **written_cases.CHANGES,
    "box": {
        "params.sizes": [[3, 4], [4, 3, 1], [4, "3"], [4, 3.5], 12, None],
        "params.shape": [[1, 2], [2], ["2", "1"], None],
        "kernel.sizes": [["3", "4"], ["12"], ["4", "3", "1"], ["4", "3", "2"], [], "12", ["4", 3], ["0", "3"]],
        "kernel.shape": [["2"], ["2", "3"], ["0", "1"], ["4", "1"], ["2", "1", "1"], [], ["2", "01"], "21"],
        "kernel.keep": ["0", str(WORD), None],
        "kernel.k": ["12"],
        "kernel": [box(["2"] * 33, ["1"] * 33, 0.5), box([str(1 << 17)] * 2, ["1", "1"], 0.5), subset(12, 2, 0.3)],
        "domain.k": [7, 13],
    },
    "several": {
        "params.most": [1, 3, "2", 2.5, None],
        "params.marks": [4, 1, None],
        "params.size": [2, 0, None],
        "params.form": ["padded"],
        "kernel.options": ["5", "1", "0", "65", 4],
        "kernel.ticks": ["1", "0", "5", "4"],
        "kernel.marks": ["1", "3", "4", "0"],
        "kernel.size": ["0", "2", "5"],
        "kernel.keep": ["0", str(WORD), None],
        "kernel.k": ["11"],
        "kernel": [
            subset(11, 1, 0.2),
            several(64, 64, 64, 1, 0.5),
            several(65, 1, 1, 1, 0.5),
            several(64, 4, 4, 40, 0.5),
        ],
        "domain": [{"k": 11}, {"ticks": 10, "most": 1}, {"ticks": 4, "most": 1}, {"ticks": 4}, {"most": 2}],
        "domain.ticks": [["a", "b", "c"], ["a", "b", "c", "c"], 3, 5, 4.5, "abcd", None, [1, 2, 3, 4], ["a"], 1, 65],
        "domain.most": [0, 1, 3, 4, "2", None, 2.5],
        "domain.k": [11],
        "domain.labels": [["a", "b", "c", "d"]],
    },
    "several, any number": {
        "domain": [{"ticks": 15, "most": 1}, {"ticks": 4, "most": 3}, {"k": 16}],
        "kernel.size": ["2"],
        "kernel.marks": ["2", "5"],
        "mechanism": ["grr", "box", "ss"],
    },
    "interaction": {
        "params.sizes": [[3, 4], [12], [4], [4, 3, 1], "4,3", 12, None, [4, True], [4, "3"], [4.5, 3]],
        "params.g": [3, "4", None],
        "params.size": [2, None],
        "params.keep": [1],
        "domain.k": [7, 16],
        "kernel.sizes": [
            ["12"],
            ["3", "4"],
            ["4", "3", "1"],
            ["4", "0"],
            ["2"] * 9,
            ["4294967296"] * 2,
            [],
            "12",
            [4, 3],
        ],
        "kernel.g": ["1", "0", "5", "4097", 4],
        "kernel.size": ["0", "4", "2"],
        "kernel.keep": ["0", str(WORD)],
        "kernel.k": ["12"],
        "kernel.seed": ["1"],
        "kernel.kind": ["subset", "hashing"],
    },
}
"""What a good design may not have instead, or beside: refused for its form."""

LEAKS: Mapping[str, Mapping[str, list[Any]]] = {
    "grr": {"epsilon": [0.8], "kernel.keep": ["1", str(WORD - 1)]},
    "ssmix": {"kernel.second.keep": [part(0.9), "1"], "kernel.first.keep": [part(0.9)]},
    "urr": {"kernel.plain": [part(0.6)], "kernel.base.0.keep": [part(0.8), part(0.1)], "kernel.attach": [part(0.6)]},
    "one protected answer": {"kernel.plain": [part(0.7)]},
    "ussmix": {"kernel.second.plain": [part(0.7)], "kernel.first.base.0.keep": [part(0.8)]},
    "uue-levels": {"params.item_epsilon": [[2.8, 2.7], [2.7, 2.8]], "kernel.plain": [part(0.6)], "epsilon": [2.7]},
    "pldp": {
        "params.levels": [[0.4, 1.0], [0.5, 0.8]],
        "params.level_epsilon": [0.4],
        "kernel.level.0.keep": [part(0.7)],
        "kernel.data.1.keep": [part(0.8)],
    },
    "upldp, affine": {"kernel.data.0.plain": [part(0.3)], "kernel.data.1.base.0.keep": [part(0.6), part(0.1)]},
    "upldp": {"params.levels": [[0.45, 1.0]], "kernel.data.0.plain": [part(0.3)], "kernel.data.1.plain": [part(0.6)]},
    "kv-ss2": {"kernel.base.keep": [part(0.5), part(0.01)]},
    "kv-olh": {"kernel.base.keep": [part(0.8), part(0.2)]},
    "privkv": {"kernel.base.flip": [part(0.1)]},
    **written_cases.LEAKS,
    "box": {"epsilon": [0.7], "kernel.keep": [part(0.36), part(0.06), "1", str(WORD - 1)]},
    "several": {"epsilon": [0.6], "kernel.keep": [part(0.6), part(0.1), "1", str(WORD - 1)]},
    "several, any number": {"epsilon": [0.8], "kernel.keep": [part(0.75), part(0.25), "1", str(WORD - 1)]},
    "interaction": {"kernel.keep": [part(0.48), part(0.05), "1", str(WORD - 1)], "epsilon": [0.5]},
    "windows": {
        "epsilon": [0.5],
        "kernel.keeps": [[part(0.6), part(0.45)], [part(0.45), part(0.6)], [part(0.45), part(0.05)]],
    },
}
"""What makes a good design leak more than it says."""


def good_cases() -> list[dict[str, Any]]:
    """The designs as they are, with their consent."""
    made = []
    for about, (document, harmless) in GOOD.items():
        listed = [n for entry in harmless or () for n in (entry if isinstance(entry, range) else [entry])]
        made.append({"about": about, "harmless": listed or None, "design": document})
    return made


def rule_cases() -> Iterator[tuple[str, Design, str, list[Any] | None]]:
    """Each change alone: what it is, the document, the kind of error, and the consent that the design needs."""
    for case in good_cases():
        for error, changes in ((FORMAT, CHANGES), (PRIVACY, LEAKS)):
            for path, values in changes.get(case["about"], {}).items():
                for value in values:
                    told = f"{case['about']}: {path} is {value!r}"
                    yield told, changed(case["design"], path, value), error, case["harmless"]
