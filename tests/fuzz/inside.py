"""Random designs that the grammar allows, with numbers of all sizes: small enough to go through all they may send."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any

from deniable_client.errors import DeniableError
from deniable_client.grammar import FORMS
from deniable_client.kernels import kernel_from, promised_ratio

WORD = 1 << 64
EDGES = (1, 2, 3, WORD // 2 - 1, WORD // 2, WORD // 2 + 1, WORD - 2, WORD - 1)
Document = dict[str, Any]


def threshold(rng: Random, own: int = 1, rest: int = 1) -> int:
    """A threshold for `own` favoured answers among others: any likelihood ratio up or down, or an odd number."""
    share = WORD * own // (own + rest)
    way = rng.random()
    if way < 0.7:
        lift = math.exp(rng.choice((1, 1, 1, -1)) * rng.choice((0.1, 1, 3, 8)) * rng.random())
        found = int(WORD * (own * lift / (own * lift + rest))) + rng.randint(-1, 1)
    elif way < 0.8:
        found = share + rng.randint(-2, 2)
    elif way < 0.9:
        found = rng.choice(EDGES)
    else:
        found = rng.choice((rng.randrange(WORD), int(2 ** rng.uniform(0, 64))))
    return min(max(found, 1), WORD - 1)


def two(rng: Random) -> tuple[int, int]:
    """Two thresholds, the larger one first."""
    low, high = sorted((threshold(rng), threshold(rng)))
    return (high, low) if low < high else (high, high - 1) if high > 1 else (2, 1)


def some(rng: Random, *numbers: int) -> str:
    return str(rng.choice(numbers))


# ---- kernels of k values


def _response(rng: Random, k: int) -> Document:
    return {"k": k, "keep": threshold(rng, 1, k - 1)}


def _subset(rng: Random, k: int) -> Document:
    size = rng.randint(1, k - 1)
    return {"k": k, "size": size, "keep": threshold(rng, size, k - size)}


def _box(rng: Random, k: int) -> Document:
    """Few questions, whatever k is: it is their answers together that are gone through."""
    sizes = rng.choice(([2], [4], [2, 2], [2, 3], [3, 2], [2, 2, 2]))
    shape = [rng.randint(1, size - 1) for size in sizes]
    own = math.prod(shape)
    return {"sizes": sizes, "shape": shape, "keep": threshold(rng, own, math.prod(sizes) - own)}


def _several(rng: Random, k: int) -> Document:
    """Few options, whatever k is: it is sets of them that are gone through."""
    options = rng.choice((2, 3, 4))
    ticks = rng.randint(1, options)
    marks = rng.choice((ticks, options))
    size = 1 if marks == options else rng.randint(1, options)
    rest = math.comb(options, size)
    keep = threshold(rng, math.comb(options + marks, size) - rest, rest)
    return {"options": options, "ticks": ticks, "marks": marks, "size": size, "keep": keep}


def _unary(rng: Random, k: int) -> Document:
    keep, flip = two(rng)
    return {"k": k, "keep": keep, "flip": flip}


def _hashing(rng: Random, k: int) -> Document:
    g = rng.randint(2, 5)
    return {"k": k, "g": g, "keep": threshold(rng, 1, g - 1)}


def _balanced(rng: Random, k: int) -> Document:
    g = rng.randint(2, k)
    return {"k": k, "g": g, "keep": threshold(rng, 1, g - 1)}


def _interaction(rng: Random, k: int) -> Document:
    """Two questions, whatever k is: the domain follows the kernel."""
    g = rng.randint(2, 4)
    size = rng.randint(1, g - 1)
    return {"sizes": [2, max(2, k // 2)], "g": g, "size": size, "keep": threshold(rng, size, g - size)}


def _laplace(rng: Random, k: int) -> Document:
    grid = rng.choice((0, 0, 1, 2))
    top, bottom = rng.uniform(0.01, 8).as_integer_ratio()
    reach = (1 << grid) + rng.randint(0, 2)
    return {"k": k, "again": threshold(rng), "grid": grid, "reach": reach, "level_top": top, "level_bottom": bottom}


def _wheel(rng: Random, k: int) -> Document:
    ring = rng.randint(1, 3)
    arc = rng.randint(1, (1 << ring) - 1)
    return {"k": k, "arc": arc, "keep": threshold(rng, arc, (1 << ring) - arc), "ring": ring}


def _hadamard(rng: Random, k: int) -> Document:
    return {"k": k, "keep": threshold(rng)}


def _projective(rng: Random, k: int) -> Document:
    prime = rng.choice((2, 3, 5))
    return {"k": k, "prime": prime, "keep": threshold(rng, 1, prime)}


def _window(rng: Random, k: int) -> Document:
    outputs, tie = rng.randint(2, 6), rng.randint(0, 1)
    m, shift = rng.randint(1, outputs - 1), rng.randint(tie, k - 1)
    keep = threshold(rng, m, outputs - m)
    return {"k": k, "outputs": outputs, "m": m, "shift": shift, "tie": tie, "keep": keep}


def _lattice(rng: Random, k: int) -> Document:
    """Estimates of either sign, half of which are favoured; sometimes with a weight beside its place."""
    count = rng.choice((1, 1, 2))
    sizes = sorted(rng.sample(range(1, 4), count))
    sums, share = [0, *accumulate(sizes)], WORD // count
    most = max(threshold(rng, 1, 1) // count, 1)
    numbers = [-size for size in reversed(sizes)] + sizes
    rows = [[i, count + i] for i in range(count + 1)]
    if rng.random() < 0.1:
        rng.choice(rows).extend([rng.randrange(2 * count), rng.choice((most, share - most))])
    places = [sums[-1] + sums[i] - sums[count - i] for i in range(count + 1)]
    own = {"k": 2 * sums[-1] + 1, "places": places, "values": [number - numbers[0] for number in numbers]}
    low, high = sorted((most, share - most))
    return own | {"least": [low] * (2 * count), "most": [high] * (2 * count), "rows": rows}


def _arc(rng: Random, k: int) -> Document:
    k = max(k, 3)
    size = rng.randint(1, k - 1)
    return {"k": k, "size": size, "keep": threshold(rng, size, k - size)}


def _neighbours(rng: Random, k: int) -> Document:
    outputs = rng.randint(2, 6)
    m = rng.randint(1, outputs - 1)
    near = [sorted(rng.sample(range(outputs), m)) for _ in range(k)]
    return {"outputs": outputs, "neighbours": near, "keep": threshold(rng, m, outputs - m)}


def _size_only(rng: Random, k: int) -> Document:
    return {"k": k}


def _table(rng: Random, k: int) -> Document:
    outputs, spread = rng.randint(2, 5), rng.choice((0.1, 1.0, 4.0))
    rows = []
    for _ in range(k):
        shares = [math.exp(spread * rng.uniform(-1, 1)) for _ in range(outputs)]
        row = [max(1, int(share / sum(shares) * (WORD - outputs))) for share in shares]
        if rng.random() < 0.1:
            row[0] = 1
        row[-1] += WORD - sum(row)
        rows.append(row)
    return {"weights": rows}


def _affine(rng: Random, k: int) -> Document:
    q, roots = rng.choice(
        [(q, roots) for q, roots in ((5, (2, 3)), (7, (3, 5)), (11, (2, 6)), (13, (2, 11))) if q >= k]
    )
    m = rng.choice([m for m in range(1, q) if (q - 1) % m == 0])
    j = rng.randrange(m)
    zero = rng.randint(0, 1) if j else 1
    own = j * (q - 1) // m + zero
    root = rng.choice(roots) if rng.random() < 0.9 else rng.randint(1, q - 1)
    return {"k": k, "q": q, "m": m, "j": j, "zero": zero, "g": root, "keep": threshold(rng, own, q - own)}


def _channel(rng: Random, k: int) -> Document:
    """A table in which some entries are 0, and budgets beside what it has between each two values, or none."""
    rows = _table(rng, k)["weights"]
    for row in rows:
        if rng.random() < 0.4:
            y = rng.randrange(len(row))
            row[(y + 1) % len(row)] += row[y]
            row[y] = 0
    budgets: list[list[Any]] = [[0] * k for _ in rows]
    for x, one in enumerate(rows):
        for z, other in enumerate(rows):
            if x != z:
                free = rng.random() < 0.2 or any(a and not b for a, b in zip(one, other, strict=True))
                told = max([Fraction(1), *(Fraction(a, b) for a, b in zip(one, other, strict=True) if b)])
                tight = 0 if told == 1 else math.log(told) * (1 + 1e-13) + 1e-12
                own = near(rng, told) if told > 1 and rng.random() < 0.05 else tight
                budgets[x][z] = "inf" if free and rng.random() < 0.98 else own
    return {"weights": rows, "budgets": budgets}


def _leaning(rng: Random, k: int) -> Document:
    base = threshold(rng)
    room = (WORD - 1 - base) // (k - 1)
    return {"k": k, "base": base, "slope": rng.choice((1, max(1, room), max(1, int(room * rng.random()))))}


def _recode(rng: Random, k: int) -> Document:
    starts = [0, *sorted(rng.sample(range(1, k), rng.randint(0, k - 1)))]
    base = kernel(rng, {"response": {}}, rng.randint(2, 4))
    return {"k": k, "starts": starts, "codes": [rng.randrange(int(base["k"])) for _ in starts], "base": base}


def _two_parts(rng: Random, k: int, shapes: Mapping[str, Any]) -> Document:
    first = kernel(rng, shapes["first"], k)
    second = kernel(rng, shapes["second"], k)
    if {first["kind"], second["kind"]} == {"utility"}:  # reports of one form
        second = first | {"plain": second["plain"], "base": second["base"] if not first["attach"] else first["base"]}
        if first["base"]:
            inner = kernel(rng, shapes["second"]["utility"]["base"], int(first["base"][0]["k"]))
            second["base"] = [inner]
    return {"first": first, "second": second, "coin": rng.choice((0, threshold(rng), WORD // 2, WORD - 1))}


def _window_or_bit(rng: Random, k: int) -> Document:
    parts = {"window": kernel(rng, {"window": {}}, k), "bit": kernel(rng, {"leaning": {}}, k)}
    return {**parts, "coin": threshold(rng)}


def ranges(rng: Random, k: int, least: int = 0) -> list[int]:
    """Half-open ranges of some of 0..k-1."""
    held = sorted(rng.sample(range(k), rng.randint(least, k)))
    ends: list[int] = []
    for x in held:
        if ends and ends[-1] == x:
            ends[-1] = x + 1
        else:
            ends += [x, x + 1]
    return ends


def count(ends: Sequence[int]) -> int:
    """How many numbers ranges hold."""
    return sum(ends[1::2]) - sum(ends[::2])


def _utility(rng: Random, k: int, shapes: Mapping[str, Any], ends: list[int] | None = None) -> Document:
    ends = ranges(rng, k) if ends is None else ends
    s = count(ends)
    base = [kernel(rng, shapes["base"], s)] if s >= 2 else []
    plain = rng.choice((0, threshold(rng), threshold(rng), threshold(rng))) if s else WORD
    attach = rng.choice((0, 0, threshold(rng))) if s else 0
    return {"k": k, "sensitive": ends, "base": base, "plain": plain, "attach": attach, "blind": rng.randint(0, 1)}


def _utility_levels(rng: Random, k: int) -> Document:
    ends, keep = ranges(rng, min(k, 4), 1), max(threshold(rng), 2)
    flips = [min(threshold(rng), keep - 1) for _ in range(count(ends))]
    if rng.random() < 0.3:
        flips = [rng.choice(flips) for _ in flips]
    return {"k": k, "sensitive": ends, "keep": keep, "flips": flips, "plain": rng.choice((0, threshold(rng)))}


def _bit(rng: Random, k: int) -> Document:
    return {"chances": [threshold(rng) for _ in range(k)]}


def _personal(rng: Random, k: int, shapes: Mapping[str, Any]) -> Document:
    """Levels of one form, each with thresholds of its own, those that tell less first."""
    first = kernel(rng, shapes["data"], min(k, 3))
    if first["kind"] == "utility":
        ends = rng.choice(([0, 2], [1, 3]))
        first = {"kind": "utility", **plain(_utility(rng, 3, shapes["data"]["utility"], ends))}
        first |= {"attach": "0", "blind": "1", "plain": str(threshold(rng))}
    data = [first] + [_like(rng, first) for _ in range(rng.randint(0, 2))]
    data.sort(key=lambda each: math.log(_ratio(each)))
    level = [kernel(rng, shapes["level"], len(data))] if len(data) > 1 and rng.random() < 0.7 else []
    return {"data": data, "level": level}


def _like(rng: Random, given: Document) -> Document:
    """A kernel of the same form with other thresholds."""
    if given["kind"] == "utility":
        return given | {"base": [_like(rng, given["base"][0])], "plain": str(threshold(rng))}
    size = int(given.get("q", given.get("g", given["k"])))
    own = int(given["j"]) * (size - 1) // int(given["m"]) + int(given["zero"]) if "q" in given else 1
    made = given | plain({"keep": threshold(rng, own, size - own)})
    if "flip" in given:
        keep, flip = two(rng)
        made |= plain({"keep": keep, "flip": flip})
    return made


# ---- kernels of pairs


def _pairs(rng: Random, k: int, shapes: Mapping[str, Any]) -> Document:
    """Keys are few, since every set of pairs is gone through."""
    keys = rng.choice((2, 2, 3))
    length = rng.choice((0, 1, 2))
    if rng.random() < 0.02:
        keys = length = 3
    return {"base": kernel(rng, shapes["base"], 2 * (keys + length)), "keys": keys, "length": length}


def _keys_only(rng: Random, k: int, shapes: Mapping[str, Any]) -> Document:
    return {"base": kernel(rng, shapes["base"], k // 2)}


def _signed_unary(rng: Random, k: int) -> Document:
    own, flip = (threshold(rng) // 2 + 1 for _ in range(2))
    return {"keys": k // 2, "own": own, "flip": rng.choice((flip, own)), "other": threshold(rng)}


def _signed_subset(rng: Random, k: int) -> Document:
    size = rng.randint(1, min(k // 2, 3))
    return {"keys": k // 2, "size": size, "keep": threshold(rng, size, k - size)}


def _signed_hashing(rng: Random, k: int) -> Document:
    own, flip = (threshold(rng) // 2 + 1 for _ in range(2))
    return {"keys": k // 2, "g": rng.randint(2, 4), "own": own, "flip": rng.choice((flip, own))}


def _one_key(rng: Random, k: int) -> Document:
    return {"keys": k // 2, "keep": threshold(rng), "flip": threshold(rng)}


def _told_key(rng: Random, k: int) -> Document:
    told = [rng.choice((0, 1, 1 << 31, (1 << 32) - 1, 1 << 32, rng.randrange(1 << 32))) for _ in range(k // 2)]
    return {**_one_key(rng, k), "told": told}


def _windows(rng: Random, k: int) -> Document:
    circle = k + rng.choice((0, 0, 1, 2, 4))
    fitting = [w for w in range(1, k) if circle % w == 0 and circle // w > 1]
    widths = sorted(rng.sample(fitting, rng.randint(1, len(fitting))))
    cells = [circle // w for w in widths]
    sizes = [rng.randint(1, own - 1) for own in cells]
    own = {
        "shifts": [rng.choice((1, w, rng.randint(1, w))) for w in widths],
        "shares": [rng.randint(1, 9) for _ in widths],
    }
    keeps = [threshold(rng, size, count - size) for size, count in zip(sizes, cells, strict=True)]
    return {"k": k, "circle": circle, "widths": widths, **own, "sizes": sizes, "keeps": keeps}


LEAVES: Mapping[str, Callable[[Random, int], Document]] = {
    "response": _response,
    "subset": _subset,
    "interval": _subset,
    "box": _box,
    "several": _several,
    "unary": _unary,
    "hashing": _hashing,
    "balanced": _balanced,
    "interaction": _interaction,
    "laplace": _laplace,
    "wheel": _wheel,
    "hadamard": _hadamard,
    "projective": _projective,
    "window": _window,
    "lattice": _lattice,
    "arc": _arc,
    "neighbours": _neighbours,
    "whole": _size_only,
    "constant": _size_only,
    "table": _table,
    "affine": _affine,
    "channel": _channel,
    "leaning": _leaning,
    "recode": _recode,
    "window-or-bit": _window_or_bit,
    "utility-levels": _utility_levels,
    "bit": _bit,
    "signed-unary": _signed_unary,
    "signed-subset": _signed_subset,
    "signed-interval": _signed_subset,
    "signed-hashing": _signed_hashing,
    "one-key": _one_key,
    "told-key": _told_key,
    "windows": _windows,
}
NODES: Mapping[str, Callable[[Random, int, Mapping[str, Any]], Document]] = {
    "mixture": _two_parts,
    "grouped": _two_parts,
    "utility": _utility,
    "personal": _personal,
    "pairs": _pairs,
    "keys-only": _keys_only,
}


def kernel(rng: Random, shapes: Mapping[str, Any], k: int) -> Document:
    """The document of a random kernel of one of these shapes."""
    kind, k = rng.choice(sorted(shapes)), max(k, 2)
    return {"kind": kind} | plain(NODES[kind](rng, k, shapes[kind]) if kind in NODES else LEAVES[kind](rng, k))


def plain(parts: Any) -> Any:
    """Whole numbers written as text."""
    if isinstance(parts, dict):
        return {name: part if name in ("kind", "budgets") else plain(part) for name, part in parts.items()}
    return [plain(part) for part in parts] if isinstance(parts, list) else str(parts)


# ---- designs


def _ratio(document: Document) -> Any:
    """What the kernel claims, so that an epsilon can be put next to it."""
    try:
        return promised_ratio(kernel_from(document))
    except DeniableError:
        return 1


def near(rng: Random, ratio: Any) -> float:
    """An epsilon beside the logarithm of a claim, above it, below it, or anywhere."""
    claimed = math.log(ratio.numerator) - math.log(ratio.denominator)
    way = rng.random() if claimed > 1e-11 else 1.0
    if way < 0.45:
        for _ in range(rng.randint(0, 3)):
            claimed = math.nextafter(claimed, rng.choice((0.0, 100.0, 100.0)))
        return claimed
    if way < 0.7:
        return claimed * (1 + rng.choice((1e-13, 1e-9, 1e-4, 0.1)))
    return claimed * (1 - rng.choice((1e-13, 1e-9, 1e-4, 0.1))) if way < 0.8 else math.exp(rng.uniform(-3, 3))


def domain(rng: Random, answers: int, name: str) -> Document:
    """One of the ways to say which answers there are; a circle is for directions, and now and then for others."""
    way = rng.random()
    if way < 0.7:
        return {"k": answers}
    labels = {"labels": [f"answer {i}" for i in range(answers)]}
    if way < 0.85:
        chosen = {name: rng.choice(labels["labels"]) for name in ("missing", "other") if rng.random() < 0.5}
        return {**labels, **chosen}
    if answers > 2 and (way > 0.999 or (name == "arc" and way > 0.85)):
        return {"circle": [0, 24], "points": answers}
    ends = {"interval": [0, rng.choice((1, 2.5, 100))], "clip": rng.random() < 0.5}
    if way < 0.9:
        return {**ends, "points": answers, "layout": rng.choice(("midpoints", "endpoints"))}
    if way < 0.95:
        return {**ends, "codes": [ends["interval"][1] * i / answers for i in range(answers)]}
    points = [[i, rng.random()] for i in range(answers)]
    return {"space": rng.choice(("places", "euclidean")), "points": points, **(labels if rng.random() < 0.5 else {})}


def design(rng: Random, name: str | None = None) -> Document:
    """A random design of a mechanism; most of them are well made, and about half keep their promise."""
    name = rng.choice(sorted(FORMS)) if name is None else name
    for _ in range(4):
        made = kernel(rng, FORMS[name].kernel, 2 if name == "she" else rng.choice((2, 2, 3, 3, 4, 5)))
        try:
            claimed = promised_ratio(kernel_from(made))
            break
        except DeniableError:
            claimed = None
    whole = {"mechanism": name, "version": 1, "epsilon": near(rng, claimed or 2)}
    answers = int(made["keys"]) if made["kind"] == "pairs" else answers_of(made)
    params = {}
    for param, rule in FORMS[name].params.items():
        if not param.endswith("?") or (rng.random() < 0.7 and made.get("base", {}).get("kind") != "one-key"):
            check, *words = rule.split()
            if param != "blocks?" or _inner(made)["kind"] == "affine":
                params[param.removesuffix("?")] = PARAMS[check](rng, words, made)
    if made["kind"] == "pairs":
        params |= {"length": int(made["length"])} if made["length"] != "0" else {}
    if made["kind"] == "channel" and rng.random() < 0.95:
        whole["epsilon"] = max(b for row in made["budgets"] for b in row if b != "inf")
    if "levels" in params:
        whole["epsilon"] = max(whole["epsilon"], params["levels"][-1])
    where = domain(rng, answers, name)
    if made["kind"] == "several" and rng.random() < 0.95:
        options = int(made["options"])
        ticks = [f"option {i}" for i in range(options)] if rng.random() < 0.5 else options
        where = {"ticks": ticks, "most": int(made["ticks"])}
    return whole | {"domain": where, "params": params, "kernel": made}


def answers_of(made: Document) -> int:
    """Number of values of a kernel."""
    if "k" in made:
        return int(made["k"])
    if "options" in made:
        options, ticks = int(made["options"]), int(made["ticks"])
        return sum(math.comb(options, size) for size in range(ticks + 1))
    if "sizes" in made:
        return math.prod(map(int, made["sizes"]))
    listed = made.get("weights") or made.get("neighbours")
    return len(listed) if listed else answers_of(made.get("first") or made.get("window") or made["data"][0])


def at(made: Any, path: str) -> Any:
    """What stands at a place in a kernel's document, nothing if there is none."""
    for step in path.split("."):
        if isinstance(made, list):
            made = made[int(step)] if int(step) < len(made) else None
        elif step in ("sensitive", "protected"):
            parts = (made, made.get("first", {}), *made.get("data", ()))
            made = next((part["sensitive"] for part in parts if "sensitive" in part), None)
        elif step == "m" and "neighbours" in made:
            return len(made["neighbours"][0])
        elif step in ("points", "outputs") and "places" in made:
            return len(made["places" if step == "points" else "values"])
        else:
            made = made.get(step) if isinstance(made, dict) else None
    return made


def _whole(rng: Random, words: Sequence[str], made: Document) -> int:
    found = [at(made, path) for path in (words[0].split("|") if words else ()) if path]
    return next((int(number) for number in found if number is not None), rng.randint(0, 5))


def _levels(rng: Random, words: Sequence[str], made: Document) -> list[float]:
    found: list[float] = []
    for data in made["data"]:
        level = near(rng, _ratio(data)) if rng.random() < 0.1 else math.log(_ratio(data)) * (1 + 1e-13) + 1e-15
        found.append(max(level, math.nextafter(found[-1], 100)) if found else level)
    return found


def _budgets(rng: Random, words: Sequence[str], made: Document) -> list[float]:
    """Budgets in a random order, each as large as its answer needs among those."""
    s = len(made["flips"])
    order = [float(rng.randint(1, s)) for _ in range(s)]
    try:
        ratios = kernel_from(made).item_ratios(order)
    except DeniableError:
        return order
    found = [math.log(ratio) * (1 + 1e-13) + 1e-15 for ratio in ratios]
    if rng.random() < 0.5:
        return found
    return [max(f for f, o in zip(found, order, strict=True) if o <= own) for own in order]


def _kind(rng: Random, words: Sequence[str], made: Document) -> str:
    means = dict(word.split(":") for word in words[1:])
    parts = made[words[0]]
    inner = (parts[0]["base"][0] if parts[0]["kind"] == "utility" else parts[0])["kind"] if parts else ""
    return rng.choice([word for word, kind in means.items() if kind == inner] or ["none"])


def _base(rng: Random, words: Sequence[str], made: Document) -> Document | None:
    """The base by name: any mechanism whose grammar has such a kernel."""
    if not made["base"]:
        return None
    inner = made["base"][0]
    name = rng.choice(sorted(name for name, form in FORMS.items() if inner["kind"] in form.kernel and name in _PLAIN))
    params = {}
    for param, rule in FORMS[name].params.items():
        if not param.endswith("?"):
            check, *more = rule.split()
            params[param] = PARAMS[check](rng, more, inner)
    return {"mechanism": name, "params": params}


_OWN = {"utility", "utility-levels", "personal", "pairs", "channel"}
_PLAIN = {name for name, form in FORMS.items() if not _OWN & set(form.kernel)} - {"ussmix"}


def _same(rng: Random, words: Sequence[str], made: Document) -> list[int]:
    """The kernel's numbers; those of blocks stand one by one."""
    path, _, last = words[0].rpartition(".")
    found = [at(made, path)[name] for name in ("q", "m", "j", "zero", "g")] if last == "blocks" else at(made, words[0])
    return [int(n) for n in found or ()]


PARAMS: Mapping[str, Callable[[Random, Sequence[str], Document], Any]] = {
    "certificate": lambda rng, *_: [[rng.randint(-9, 9) for _ in range(5)] for _ in range(rng.randint(0, 2))],
    "multipliers": lambda rng, *_: [[rng.randint(0, 9) for _ in range(4)] for _ in range(rng.randint(0, 2))],
    "whole": _whole,
    "ticks": lambda rng, words, made: int(made["ticks"]),
    "wholes": lambda rng, words, made: [0, 1],
    "share": lambda rng, words, made: int(at(made, words[0])) / WORD,
    "chance": lambda rng, words, made: rng.random(),
    "number": lambda rng, words, made: rng.uniform(0, 2),
    "numbers": lambda rng, words, made: [1 / answers_of(made)] * answers_of(made),
    "rows": lambda rng, words, made: [[float(x == y) for x in range(answers_of(made))] for y in range(2)],
    "texts": lambda rng, words, made: [f"output {y}" for y in range(len(made["weights"][0]))],
    "word": lambda rng, words, made: rng.choice(words),
    "same": _same,
    "range": lambda rng, words, made: rng.choice(([-1, 1], [0, 2.5])),
    "budgets": _budgets,
    "budget": lambda rng, words, made: max((near(rng, _ratio(each)) for each in made["level"]), default=None),
    "levels": _levels,
    "kind": _kind,
    "g": lambda rng, words, made: int(inner["g"]) if (inner := _inner(made))["kind"] == "hashing" else None,
    "base": _base,
}
"""How a parameter that the grammar checks so is filled in."""


def _inner(made: Document) -> Document:
    first: Document = made["data"][0]
    return first["base"][0] if first["kind"] == "utility" else first


def named(document: Document) -> list[int]:
    """The numbers of answers that a well-made design may disclose, which consent is needed for."""

    def tells(part: Document) -> bool:
        if part["kind"] == "mixture":
            return tells(part["first"]) or (part["coin"] != "0" and tells(part["second"]))
        if part["kind"] == "personal":
            return any(tells(each) for each in part["data"])
        return "plain" in part and (part["plain"] != "0" or part.get("attach", "0") != "0")

    made = document["kernel"]
    if made["kind"] == "channel":
        return _beyond(made)
    if not tells(made):
        return []
    ends = [int(end) for end in at(made, "sensitive") or ()]
    held = {x for start, end in zip(ends[::2], ends[1::2], strict=True) for x in range(start, end)}
    return [x for x in range(answers_of(made)) if x not in held]


def _beyond(made: Document) -> list[int]:
    """The values of a channel that an output speaks for by more than by any two values with a limit."""
    rows = [[int(weight) for weight in row] for row in made["weights"]]
    pairs = [(x, z) for x, row in enumerate(made["budgets"]) for z, b in enumerate(row) if b != "inf"]
    found = [(a, b) for x, z in pairs for a, b in zip(rows[x], rows[z], strict=True) if a]
    if not all(b for _, b in found):
        return []  # broken
    most = max(Fraction(a, b) for a, b in found)
    told = ((x, a, b) for x, row in enumerate(rows) for other in rows for a, b in zip(row, other, strict=True))
    return sorted({x for x, a, b in told if a > most * b})
