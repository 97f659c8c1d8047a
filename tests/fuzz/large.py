"""Designs as large as a document may be: little work for whoever sends one, and for whoever checks it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

from deniable_client.errors import DeniableError
from deniable_client.kernels import kernel_from, promised_ratio
from fuzz.inside import WORD, Document, near, plain

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 27, (1 << 31) - 1, 1 << 32, 1 << 40)


def grown(rng: Random, made: Document) -> Document:
    """A design with as many answers as one likes, where its kernel says nothing of each of them."""
    kernel, size = made["kernel"], rng.choice(SIZES)
    own = "keys" if kernel["kind"] == "pairs" else "k"
    few = made["domain"].get("k", 0)
    length = int(kernel.get("length", 0))
    turned = {str(few): size, str(few + length): size + length, str(2 * (few + length)): 2 * (size + length)}
    if own == "k":
        turned = {str(few): size}
    if not few:
        return made

    def grow(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                n: turned.get(v, v) if n in ("k", "keys") and isinstance(v, str) else grow(v) for n, v in part.items()
            }
        return [grow(each) for each in part] if isinstance(part, list) else part

    made = made | {"domain": {"k": size}, "kernel": plain(grow(kernel))}
    try:
        return made | {"epsilon": near(rng, promised_ratio(kernel_from(made["kernel"])))}
    except DeniableError:
        return made


def heavy() -> Iterator[tuple[str, Document, list[Any]]]:
    """The longest lists of every sort that a design may have, each with what it discloses."""

    def whole(name: str, epsilon: float, domain: Document, params: Document, kernel: Document) -> Document:
        head = {"mechanism": name, "version": 1, "epsilon": epsilon, "domain": domain, "params": params}
        return head | {"kernel": {"kind": kernel["kind"], **plain({n: v for n, v in kernel.items() if n != "kind"})}}

    rng = Random(5)
    k = 1 << 18
    labels = [f"l{i}" for i in range(k)]
    response = {"kind": "response", "k": 2, "keep": WORD // 2 + 1}
    said = {"base": {"mechanism": "grr", "params": {}}, "sensitive": [0, 2], "theta": 0.5, "form": "null"}
    half = {"kind": "utility", "k": k, "sensitive": [0, 2], "base": [response], "plain": 1, "attach": 0, "blind": 1}
    yield "many harmless labels", whole("urr", 1.0, {"labels": labels}, said, half), labels[2:]
    for k, outputs in ((2, 1 << 17), (1 << 17, 2), (1 << 9, 1 << 9)):
        share = WORD // outputs
        rows = []
        for _ in range(k):
            row = [share - rng.randrange(share // 8) for _ in range(outputs - 1)]
            rows.append([*row, WORD - sum(row)])
        table = {"kind": "table", "weights": rows}
        yield f"a table of {k} rows", whole("geometric", 8.0, {"k": k}, {}, table), []
        base = {"mechanism": "geometric", "params": {}}
        said = {"base": base, "sensitive": [0, k], "theta": 0.5, "form": "glutf"}
        over = {
            "kind": "utility",
            "k": k + 1,
            "sensitive": [0, k],
            "base": [table],
            "plain": 0,
            "attach": 0,
            "blind": 0,
        }
        yield f"a utility kernel on it, {k}", whole("utility", 8.0, {"k": k + 1}, said, over), []
    for k, m in ((1 << 17, 2), (2, 1 << 17), (1 << 9, 1 << 9)):
        lists = [sorted(rng.sample(range(2 * m), m)) for _ in range(k)]
        kernel = {"kind": "neighbours", "outputs": 2 * m, "neighbours": lists, "keep": WORD * 2 // 3}
        yield f"{k} lists of {m}", whole("brr", 8.0, {"k": k}, {"m": m}, kernel), []
    k = 1 << 18
    ends = list(range(k))
    parts = {"kind": "response", "k": k // 2, "keep": WORD // 2}
    half = {"kind": "utility", "k": k, "sensitive": ends, "base": [parts], "plain": 1, "attach": 0, "blind": 1}
    yield "many ranges", whole("urr", 20.0, {"k": k}, said | {"sensitive": ends}, half), list(range(1, k, 2))
    points = [[i, 0.5] for i in range(1 << 17)]
    kernel = {"kind": "response", "k": 1 << 17, "keep": WORD // 2}
    yield "many points", whole("grr", 20.0, {"space": "places", "points": points}, {}, kernel), []
    codes = {"interval": [0, 1 << 18], "codes": list(range(1 << 18)), "clip": True}
    yield "many codes", whole("grr", 20.0, codes, {}, {**kernel, "k": 1 << 18}), []
    runs = {"kind": "recode", "k": k, "starts": ends, "codes": [i % 2 for i in ends], "base": response}
    yield "many runs", whole("codebook", 1.0, {"k": k}, {"size": 2, "codes": [1] * k}, runs), []
    for t in (64, 65, 1000):
        yield from _levels(rng, t, whole)
    for s in (4096, 5000):
        yield _budgets(rng, s, whole)
    for length in (4096, 5000):
        keys, total = 10_000, 10_000 + length
        for size in (3, 5000):
            subset = {"kind": "subset", "k": total, "size": size, "keep": WORD * size // total + 12345}
            signed = {"kind": "signed-subset", "keys": total, "size": 2, "keep": WORD // total}
            both = {"kind": "grouped", "first": {"kind": "keys-only", "base": subset}, "second": signed, "coin": 1}
            told = {"mix": 0.5, "key_size": size, "size": 2, "length": length, "range": [0, 1]}
            kernel = {"kind": "pairs", "base": both, "keys": keys, "length": length}
            yield f"{length} pairs", whole("kv-ss", 8.0, {"k": keys}, told, kernel), []
    told = {"kind": "told-key", "keys": k, "keep": WORD // 2, "flip": WORD // 3, "told": [7] * k}
    kernel = {"kind": "pairs", "base": told, "keys": k, "length": 0}
    yield "many guesses", whole("privkv", 3.0, {"k": k}, {"range": [0, 1], "told": [7] * k}, kernel), []


def _levels(rng: Random, t: int, whole: Any) -> Iterator[tuple[str, Document, list[Any]]]:
    """Many levels, of which no two are alike."""
    said = {"base": "oue", "level_epsilon": 5.0, "level_report": "response", "g": None}
    level = [{"kind": "response", "k": t, "keep": WORD // 2}]
    keeps = sorted(WORD // 2 + rng.randrange(WORD // 4) for _ in range(t))
    data = [{"kind": "unary", "k": 9, "keep": keep, "flip": WORD // 2 - (keep - WORD // 2) // 2} for keep in keeps]
    levels = [1 + i / t for i in range(t)]
    kernel = {"kind": "personal", "data": data, "level": level}
    yield f"{t} levels", whole("pldp", 3.0, {"k": 9}, said | {"levels": [x + 1 for x in levels]}, kernel), []
    over = [
        {"kind": "utility", "k": 11, "sensitive": [0, 9], "base": [each], "plain": 1 + i, "attach": 0, "blind": 1}
        for i, each in enumerate(data)
    ]
    said |= {"levels": [x + 1 for x in levels], "sensitive": [0, 9], "disclosure": "own"}
    kernel = {"kind": "personal", "data": over, "level": level}
    yield f"{t} levels that disclose", whole("upldp", 3.0, {"k": 11}, said, kernel), [9, 10]


def _budgets(rng: Random, s: int, whole: Any) -> tuple[str, Document, list[Any]]:
    """Many budgets, of which no two are alike."""
    flips = [WORD // 4 + rng.randrange(WORD // 8) for _ in range(s)]
    kernel = {"kind": "utility-levels", "k": s, "sensitive": [0, s], "keep": WORD // 2, "flips": flips, "plain": 0}
    budgets = [math.log(8) + i / s for i in range(s)]
    said = {"item_epsilon": budgets, "sensitive": [0, s], "flip": 0.3, "theta": 0.5}
    return f"{s} budgets", whole("uue-levels", 9.0, {"k": s}, said, kernel), []
