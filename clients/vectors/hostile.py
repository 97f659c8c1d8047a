"""Documents that a hostile server might send: each must be refused, with the same kind of error, by every client.

`make.py` writes them to `hostile.json`. Most are a good design with one thing changed; some are compositions whose
parts are all fine and whose whole sends values in clear.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from lattice_cases import good_designs, hostile_designs  # it stands beside this file
from rules import good_cases, rule_cases  # it stands beside this file
from texts_cases import LABELS  # so does this
from written_cases import BLOCKS  # and this
from written_cases import hostile as written_cases

from deniable_client.texts import labels_fault

WORD = 1 << 64
FORMAT, PRIVACY = "format", "privacy"
"""A document that is not a design; a design that leaks, or discloses what nobody consented to."""

Case = dict[str, Any]


def design(name: str, epsilon: float, k: int, params: dict[str, Any], kernel: dict[str, Any]) -> dict[str, Any]:
    """A design document."""
    return {
        "mechanism": name,
        "version": 1,
        "epsilon": epsilon,
        "domain": {"k": k},
        "params": params,
        "kernel": kernel,
    }


def response(k: int, keep: int) -> dict[str, Any]:
    """A response kernel."""
    return {"kind": "response", "k": str(k), "keep": str(keep)}


def utility(k: int, sensitive: list[int], base: list[Any], plain: int, attach: int = 0) -> dict[str, Any]:
    """A utility kernel with blind reports."""
    ends = [str(end) for end in sensitive]
    own = {"kind": "utility", "k": str(k), "sensitive": ends, "base": base, "plain": str(plain), "attach": str(attach)}
    return own | {"blind": "1"}


GRR = design("grr", 1.0, 2, {}, response(2, 13485650502877570762))
"""A good design."""

CLEAR = utility(6, [], [], WORD)
"""Every value is sent as it is; its ratio, of reports that disclose nothing, is 1."""

HALF = response(2, 13485650502877570762)
ULDP = design(
    "urr",
    1.0,
    4,
    {"base": {"mechanism": "grr", "params": {}}, "sensitive": [0, 2], "theta": 0.5, "form": "null"},
    utility(4, [0, 2], [HALF], 8524556932045589908),
)
"""A good design that may disclose answers 2 and 3."""


def pairs(base: dict[str, Any], keys: int, length: int) -> dict[str, Any]:
    """A kernel for pairs."""
    return {"kind": "pairs", "base": base, "keys": str(keys), "length": str(length)}


def keys_only(base: dict[str, Any]) -> dict[str, Any]:
    """A kernel on keys."""
    return {"kind": "keys-only", "base": base}


def mixed(first: dict[str, Any], second: dict[str, Any], kind: str = "mixture") -> dict[str, Any]:
    """One of two kernels."""
    return {"kind": kind, "first": first, "second": second, "coin": str(WORD // 2)}


def case(about: str, document: Any, error: str, harmless: list[Any] | None = None) -> Case:
    """A document, what is wrong with it, and how it is refused."""
    return {"about": about, "harmless": harmless, "error": error, "design": document}


def changed(document: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    """A copy with one thing changed."""
    made = copy.deepcopy(document)
    part: Any = made
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return made


def inverted() -> Iterator[Case]:
    """Kernels that slight their own value, under padding: likelihoods are mixed in the other direction."""
    for kind in ("subset", "interval"):
        base = {"kind": kind, "k": "4", "size": "3", "keep": "1"}
        told = {"length": 2, "range": [-1, 1]}
        both = {"mix": 0.5, "key_size": 3, "size": 1, **told}
        signed = {"kind": "signed-subset", "keys": "4", "size": "1", "keep": str(WORD // 4)}
        alone = design("kv-ss", 0.7, 2, both, pairs(mixed(keys_only(base), signed, "grouped"), 2, 2))
        yield case(f"{kind} below its share, in a group", alone, PRIVACY)
        yield case(
            f"{kind} below its share, on keys", design("kv-ss2", 0.7, 2, told, pairs(keys_only(base), 2, 2)), FORMAT
        )
        eight = {"kind": kind, "k": "8", "size": "7", "keep": "1"}
        low = design("kv-ss2", 0.7, 2, {"size": 7, **told}, pairs(eight, 2, 2))
        yield case(f"{kind} below its share, on signed keys", low, PRIVACY)


def disclosing() -> Iterator[Case]:
    """Kernels that disclose, inside others whose ratio would not say so."""
    six = {"sensitive": [0, 6], "theta": 0.5, "form": "null", "base": {"mechanism": "grr", "params": {}}}
    nested = utility(6, [0, 6], [CLEAR], 0)
    yield case("clear inside all-sensitive", design("utility", 0.01, 6, six, nested), FORMAT)
    for name in ("grr", "ss", "uss", "utility", "ussmix", "ssmix", "she"):
        yield case(f"clear as {name}", design(name, 0.01, 6, {}, CLEAR), FORMAT)
        yield case(f"mixture of clear as {name}", design(name, 0.01, 6, {}, mixed(CLEAR, CLEAR)), FORMAT)
    nothing = {"base": None, "sensitive": [], "theta": 0.5, "form": "null"}
    yield case("clear without consent", design("uss", 0.01, 6, nothing, CLEAR), PRIVACY)
    yield case("clear with all consent", design("uss", 1e-12, 6, nothing, CLEAR), PRIVACY, [0, 1, 2, 3, 4, 5])
    yield case(
        "clear, params name all as sensitive", design("uss", 0.01, 6, nothing | {"sensitive": [0, 6]}, CLEAR), FORMAT
    )
    mix = {"size": 1, "share": 0.5, "sensitive": [0, 2], "theta": 0.5}
    subset = {"kind": "subset", "k": "2", "size": "1", "keep": "13485650502877570762"}
    one, two = (utility(4, ends, [subset], 8524556932045589908) for ends in ([0, 2], [2, 4]))
    yield case("mixture of different sensitive sets", design("ussmix", 1.0, 4, mix, mixed(one, two)), FORMAT, [2, 3])
    for kind in ("keys-only", "pairs", "grouped"):
        inner = {"keys-only": keys_only(CLEAR), "pairs": pairs(CLEAR, 3, 0), "grouped": mixed(CLEAR, CLEAR, "grouped")}
        told = {"range": [-1, 1], "mix": 0.5, "key_size": 1, "size": 1}
        whole = inner[kind] if kind == "pairs" else pairs(inner[kind], 3, 0)
        yield case(f"{kind} over clear", design("kv-ss", 0.01, 3, told, whole), FORMAT)
    levels = {"kind": "utility-levels", "k": "3", "sensitive": ["0", "2"], "keep": str(WORD // 2), "plain": "0"}
    levels |= {"flips": [str(WORD // 16), str(WORD // 16)]}
    budgets = {"item_epsilon": [0.1, 0.1], "sensitive": [0, 2], "flip": 0.1, "theta": 0.5}
    yield case("item budgets in a mixture", design("uue-levels", 5.0, 3, budgets, mixed(levels, levels)), FORMAT)
    yield case("item budgets broken", design("uue-levels", 5.0, 3, budgets, levels), PRIVACY)


def consent() -> Iterator[Case]:
    """Designs that disclose, with consent for other answers than those."""
    for harmless in (None, [], [2], [3], [0, 1], [1, 2, 3], [0, 1, 2, 3]):
        yield case(f"consent for {harmless}", ULDP, PRIVACY, harmless)
    yield case("consent that is not needed", GRR, PRIVACY, [0])
    labelled = ULDP | {"domain": {"labels": ["a", "b", "c", "d"]}}
    yield case("consent for other labels", labelled, PRIVACY, ["a", "b"])
    yield case("a duplicate label", ULDP | {"domain": {"labels": ["a", "b", "c", "a"]}}, FORMAT, ["c", "a"])


def numeric() -> Iterator[Case]:
    """Numbers of an interval: consent is for numbers, never for the numbers of answers, which the server chooses."""
    line = {"interval": [0, 1000], "points": 4, "layout": "midpoints", "clip": True}
    steps = {"interval": [0, 1000], "codes": [1, 2, 3, 900], "clip": True}
    for domain, wrong in ((line, [[0, 500]]), (steps, [[0, 2.5]])):
        for harmless in (None, wrong, [[0, 1000]]):
            yield case(f"consent for {harmless} of an interval", ULDP | {"domain": domain}, PRIVACY, harmless)


def untied() -> Iterator[Case]:
    """Name, parameters, labels and kernel that speak of different things."""
    told = changed(ULDP, "params", "sensitive", to=[2, 4])
    yield case("params name other sensitive answers", told, FORMAT, [0, 1])
    yield case("params name no sensitive answers", changed(ULDP, "params", "sensitive", to=[]), FORMAT, [2, 3])
    yield case("another base than the kernel's", changed(ULDP, "params", "base", "mechanism", to="oue"), FORMAT, [2, 3])
    yield case("an unknown base", changed(ULDP, "params", "base", "mechanism", to="mine"), FORMAT, [2, 3])
    subset = {"kind": "subset", "k": "5", "size": "2", "keep": str(WORD // 2)}
    yield case("params say another size", design("ss", 1.0, 5, {"size": 1}, subset), FORMAT)
    yield case("a parameter too many", design("ss", 1.0, 5, {"size": 2, "g": 3}, subset), FORMAT)
    yield case("a parameter too few", design("ss", 1.0, 5, {}, subset), FORMAT)
    yield case("a domain of another size", GRR | {"domain": {"k": 3}}, FORMAT)
    yield case("unknown labels of missing values", GRR | {"domain": {"labels": ["a", "b"], "missing": "c"}}, FORMAT)
    yield case("an unknown field of the domain", GRR | {"domain": {"k": 2, "more": 1}}, FORMAT)
    yield case("an unknown field of the design", GRR | {"more": 1}, FORMAT)
    yield case("an unknown version", GRR | {"version": 2}, FORMAT)
    yield case("an unknown mechanism", GRR | {"mechanism": "mine"}, FORMAT)
    window = {
        "kind": "window",
        "k": "2",
        "outputs": "2",
        "m": "1",
        "shift": "0",
        "tie": "0",
        "keep": str(WORD // 2 + 1),
    }
    numeric = {"mechanism": "sw", "params": {"m": 1}}
    branch = changed(changed(ULDP, "params", "base", to=numeric), "kernel", "base", to=[window])
    yield case("a base without blind reports", branch | {"mechanism": "utility"}, FORMAT, [2, 3])
    asked = {"kind": "one-key", "keys": "3", "keep": str(WORD // 2), "flip": str(WORD // 2)}
    padded = design("privkv", 1.0, 2, {"range": [0, 1], "length": 1}, pairs(asked, 2, 1))
    yield case("padding that no proof is known for", padded, FORMAT)
    data = [response(2, keep) for keep in (18440563046146480800, 9684110003129122816)]
    loose = {"levels": [8.0, 0.1], "base": "grr", "level_epsilon": None, "level_report": "none", "g": None}
    personal = {"kind": "personal", "data": data, "level": []}
    promised = loose | {"levels": [0.1, 8.0], "level_epsilon": 1.0}
    yield case("a promise of no level report", design("pldp", 8.0, 2, promised, personal), FORMAT)
    yield case("the loosest level first", design("pldp", 8.0, 2, loose, personal), FORMAT)
    yield case("levels that are not kept", design("pldp", 8.0, 2, loose | {"levels": [0.1, 8.0]}, personal), PRIVACY)


def work() -> Iterator[Case]:
    """More work than a device can do, and numbers beyond all bounds."""
    bits = {"kind": "unary", "k": str(1 << 32), "keep": str(WORD // 2), "flip": str(WORD // 3)}
    yield case("4 billion bits", design("oue", 1.0, 1 << 32, {"p": 0.5}, bits), FORMAT)
    subset = {"kind": "subset", "k": str(1 << 32), "size": str(1 << 31), "keep": str(WORD // 2)}
    yield case("a set of 2 billion", design("ss", 1.0, 1 << 32, {"size": 1 << 31}, subset), FORMAT)
    noise = {"kind": "laplace", "k": "2", "again": str(WORD - 1), "grid": "0", "reach": "1", "level_top": "1"}
    endless = design("she", 1.0, 2, {"grid": 0, "reach": 1}, noise | {"level_bottom": "1"})
    yield case("noise without end", endless, FORMAT)
    yield case("a level of 400 digits", changed(endless, "kernel", "level_bottom", to="1" + "0" * 400), FORMAT)
    keeps = [WORD // 2 + (i << 50) for i in range(1, 18)]
    told = {"levels": [i / 17 for i in range(1, 18)], "base": "lh", "level_epsilon": None, "level_report": "none"}
    data = [{"kind": "hashing", "k": "2", "g": "2", "keep": str(keep)} for keep in keeps]
    many = design("pldp", 1.0, 2, told | {"g": 2}, {"kind": "personal", "data": data, "level": []})
    yield case("17 levels", many, FORMAT)
    yield case("a digit threshold of nothing", changed(endless, "kernel", "level_top", to="0"), FORMAT)
    deep: Any = response(2, WORD // 2)
    for _ in range(400):
        deep = mixed(deep, response(2, WORD // 2))
    yield case("400 mixtures within each other", design("ssmix", 1.0, 2, {"size": 1, "share": 0.5}, deep), FORMAT)
    lists: Any = []
    for _ in range(400):
        lists = [lists]
    yield case("400 lists within each other", GRR | {"params": {"size": lists}}, FORMAT)
    wide = {"interval": [-1e308, 1e308], "points": 2, "layout": "midpoints", "clip": True}
    near = {"range": [1 << 60, (1 << 60) + 1]}
    pair = design("pckv-grr", 1.0, 2, near, pairs(response(4, WORD // 3), 2, 0))
    yield case("a range whose ends are one float", pair, FORMAT)
    yield case("an interval beyond floats", GRR | {"domain": wide}, FORMAT)
    fine = {"interval": [1e16, 1e16 + 2], "points": 1 << 20, "layout": "midpoints", "clip": True}
    yield case("points that floats cannot tell apart", GRR | {"domain": fine}, FORMAT)
    one = {"kind": "subset", "k": str(1 << 32), "size": "1", "keep": str(1)}
    yield case("a report of half a gigabyte", design("ss", 1.0, 1 << 32, {"size": 1}, one), FORMAT)
    both = {"kind": "box", "sizes": [str(1 << 31), "2"], "shape": ["1", "1"], "keep": "1"}
    told = {"sizes": [1 << 31, 2], "shape": [1, 1]}
    yield case("two questions in a report of a quarter of a gigabyte", design("box", 1.0, 1 << 32, told, both), FORMAT)
    loud = noise | {"again": str(WORD - (1 << 40)), "level_bottom": "1"}
    yield case("noise of 16 million words", design("she", 1.0, 2, {"grid": 0, "reach": 1}, loud), FORMAT)
    bucket = {"kind": "hashing", "k": "20000", "g": "2", "keep": str(WORD // 2)}
    many = {"g": 2, "length": 5000, "range": [-1, 1]}
    yield case("5000 pairs per person", design("kv-olh", 1.0, 5000, many, pairs(bucket, 5000, 5000)), FORMAT)
    steps = {"levels": [0.5 + i / 200 for i in range(65)], "base": "lh", "level_epsilon": None, "g": 2}
    each = {"kind": "personal", "data": [bucket | {"k": "2"}] * 65, "level": []}
    yield case("65 levels", design("pldp", 1.0, 2, steps | {"level_report": "none"}, each), FORMAT)


def numbers() -> Iterator[Case]:
    """Whole numbers written in other ways than the one, and what is no number at all."""
    good = GRR["kernel"]["keep"]
    odd = [" " + good, good + " ", "+" + good, "0" + good, "1_" + good[1:], good + ".0", "1e19", "0x10", "-1", "", "x"]
    odd += [
        "".join(chr(ord("\uff10") + int(digit)) for digit in good),
        "\u0661",
        int(good),
        1.5,
        True,
        None,
        [],
        {},
        ["1"],
    ]
    yield from (case(f"keep is {keep!r}", changed(GRR, "kernel", "keep", to=keep), FORMAT) for keep in odd)
    for epsilon in (0, -1, True, None, "1", [], 701, 10**19):
        yield case(f"epsilon is {epsilon!r}", GRR | {"epsilon": epsilon}, FORMAT)
    yield case("epsilon beyond exact sampling", GRR | {"epsilon": 41}, PRIVACY)
    yield case("a threshold that is never met", changed(GRR, "kernel", "keep", to="0"), FORMAT)
    yield case("a threshold that is always met", changed(GRR, "kernel", "keep", to=str(WORD)), FORMAT)
    yield case("one unit too much", changed(GRR, "kernel", "keep", to=str(int(good) + 1)), PRIVACY)
    yield case("the lie favoured", changed(GRR, "kernel", "keep", to="1"), PRIVACY)


def shapes() -> Iterator[Case]:
    """Parts of another form than the document should have."""
    for part in ("mechanism", "version", "epsilon", "domain", "params", "kernel"):
        yield case(f"no {part}", {name: value for name, value in GRR.items() if name != part}, FORMAT)
        for odd in (None, [], "x", [[1]], 10**17, {"x": {}}):
            yield case(f"{part} is {odd!r}", GRR | {part: odd}, FORMAT)
    for part in ("k", "sensitive", "base", "plain", "attach", "blind"):
        for odd in (None, [], "x", "0", ["1"], [["1"]], {"kind": "utility"}, str(10**39)):
            if ULDP["kernel"][part] != odd and (part, odd) != ("plain", "0"):  # which would disclose nothing
                error = PRIVACY if (part, odd) == ("blind", "0") else FORMAT
                yield case(f"{part} of a utility kernel is {odd!r}", changed(ULDP, "kernel", part, to=odd), error)
    for odd in (None, [], "x", 3, {"kind": "cuckoo"}, {"kind": ["response"]}, {"kind": "response"}):
        yield case(f"the kernel is {odd!r}", GRR | {"kernel": odd}, FORMAT)
    yield case("a lone surrogate", GRR | {"domain": {"labels": ["a", "\ud800"]}}, FORMAT)
    yield case("an empty label", GRR | {"domain": {"labels": ["a", ""]}}, FORMAT)
    for odd in (None, [], "x", 3):
        yield case(f"the design is {odd!r}", odd, FORMAT)


def lookalikes() -> Iterator[Case]:
    """Labels that people cannot see or tell apart."""
    for each in LABELS:
        fault = labels_fault(each) if len(each) == 2 else ""
        if fault:
            yield case(f"labels: {fault}", GRR | {"domain": {"labels": each}}, FORMAT)


def rules() -> Iterator[Case]:
    """Good designs with one thing changed."""
    return (case(*made) for made in rule_cases())


def written() -> Iterator[Case]:
    """Channels that are written down, and affine response."""
    return (case(*made) for made in written_cases())


def _good_means() -> list[Case]:
    return [{"about": about, "harmless": None, "design": document} for about, document in good_designs()]


def exact_means() -> Iterator[Case]:
    """Tables of exact means, and directions."""
    return (case(*made) for made in hostile_designs())


def hostile_vectors() -> dict[str, Any]:
    """All of them, and good designs that most are changes of."""
    parts = (
        inverted,
        disclosing,
        consent,
        numeric,
        untied,
        work,
        numbers,
        shapes,
        lookalikes,
        rules,
        written,
        exact_means,
    )
    text = "each design is refused with an error of this kind, given this consent (null: none); nothing is drawn; "
    made = [made for part in parts for made in part()]
    return {
        "about": text + "those under good are taken, with this consent",
        "good": [*good_cases(), BLOCKS, *_good_means()],
        "cases": made,
    }
