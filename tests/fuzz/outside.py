"""Documents that are no designs, and designs with something changed at random.

`outside` makes documents that the grammar has no place for, so that each of them must be refused, whatever its numbers
are. `mutated` changes a design anywhere: most of these are refused, and those that are not must keep their promise.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from deniable_client.grammar import FORMS
from fuzz.inside import LEAVES, NODES, WORD, Document, answers_of, kernel

KINDS = {**LEAVES, **NODES}
Place = tuple[Any, Any]
"""A mapping or list, and a name or number in it."""

JUNK: tuple[Callable[[Random], Any], ...] = (
    lambda rng: None,
    lambda rng: rng.choice((True, False)),
    lambda rng: rng.choice((0, 1, -1, 2, 10**6, 2**32, 2**53 + 1, 2**63, 2**64, -(2**63), 10**30, 1 << 5000)),
    lambda rng: rng.choice((0.0, -0.0, 0.5, 1e-320, 1e308, -1e308, 1.5, math.inf, -math.inf, math.nan)),
    lambda rng: rng.choice(("", "0", "1", "00", " 1", "1_0", "+1", "-1", "1.0", "1e3", "0x1", "\uff11", "\u0661", "x")),
    lambda rng: str(rng.choice((WORD, WORD - 1, WORD // 2, 2**32, 2**40, 10**39, 10**41, 3, 7))),
    lambda rng: rng.choice(("\ud800", "\0", "\u202e", "a" * 70000, "response", "utility", "kind", "grr")),
    lambda rng: [] if rng.random() < 0.5 else {},
    lambda rng: [rng.choice(JUNK)(rng) for _ in range(rng.randint(1, 3))],
    lambda rng: {rng.choice(("kind", "k", "base", "labels", "x")): rng.choice(JUNK)(rng)},
    lambda rng: deep(rng.choice((13, 50, 400, 3000)), rng),
    lambda rng: rng.choice((b"1", {1, 2}, Decimal(1), Fraction(1, 2), 1j, object(), range(3), Odd(), iter(()))),
)


class Odd:
    """What has no text."""

    def __repr__(self) -> str:
        return "odd \ud800"


def deep(levels: int, rng: Random) -> Any:
    """Lists or mappings within each other."""
    made: Any = "1"
    for _ in range(levels):
        made = [made] if rng.random() < 0.5 else {"base": made}
    return made


def places(part: Any, depth: int = 0) -> Iterator[Place]:
    """Every place in a document that is not too deep in it."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, inner in list(items):
        yield part, name
        if depth < 15:
            yield from places(inner, depth + 1)


def copied(document: Any) -> Any:
    """A copy that can be changed; what has no copy stays."""
    if isinstance(document, dict):
        return {name: copied(part) for name, part in document.items()}
    return [copied(part) for part in document] if isinstance(document, list) else document


# ---- outside the grammar


def _nested(rng: Random, good: Document) -> Document:
    """A kernel where the grammar has no such kind."""
    spots = [*_shapes(good["kernel"], FORMS[good["mechanism"]].kernel, good, "kernel")]
    part, name, allowed = rng.choice(spots)
    kind = rng.choice(sorted(set(KINDS) - set(allowed)))
    k = answers_of(part[name]) if isinstance(part[name], dict) and _sized(part[name]) else 4
    inner = rng.choice([*(form.kernel for form in FORMS.values())])
    shapes = _anywhere(kind, inner)
    part[name] = rng.choice(([part[name]], kernel(rng, shapes, k), kernel(rng, shapes, k)))
    if isinstance(part[name], list) and name == "kernel":
        part[name] = part[name][0] | {"kind": kind}
    return good


def _sized(made: Document) -> bool:
    return bool({"k", "weights", "neighbours"} & set(made))


def _anywhere(kind: str, inner: Mapping[str, Any]) -> Mapping[str, Any]:
    """Shapes of a kind whose parts are anything."""
    fields = {"base": inner, "first": inner, "second": inner, "data": {"response": {}}, "level": {"bit": {}}}
    one = {"response": {}, "subset": {}, "unary": {}}
    return {kind: {name: (one if set(shape) & set(NODES) else shape) for name, shape in fields.items()}}


def _shapes(part: Document, allowed: Mapping[str, Any], holder: Any, name: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Where kernels stand in a design, and which kinds may stand there."""
    yield holder, name, allowed
    for field, shapes in allowed.get(part["kind"], {}).items():
        inner = part[field]
        if isinstance(inner, list):
            for i, each in enumerate(inner):
                yield from _shapes(each, shapes, inner, i)
        else:
            yield from _shapes(inner, shapes, part, field)


def _renamed(rng: Random, good: Document) -> Document:
    """The name of a mechanism that has no such kernel."""
    kind = good["kernel"]["kind"]
    names = [name for name, form in FORMS.items() if kind not in form.kernel]
    good["mechanism"] = rng.choice([*names, *names, "mine", "", "GRR", "grr ", "explicit", None, 3, ["grr"]])
    return good


def _more(rng: Random, good: Document) -> Document:
    """A field too many, or one that must not be left out."""
    parts = [good, good["domain"], good["kernel"], good["params"]]
    parts += [part[name] for part, name in places(good["kernel"]) if isinstance(part[name], dict)]
    part = rng.choice(parts)
    if rng.random() < 0.5 or part is good["params"] or not part:
        part[rng.choice(("more", "ratio", "levels_", " k", "Kind"))] = rng.choice(JUNK)(rng)
        return good
    choices = {"missing", "other"} | ({"labels"} if "space" in part else set())
    del part[rng.choice([name for name in part if name not in choices])]
    return good


def _written(rng: Random, good: Document) -> Document:
    """A number of the kernel that is not written as it should be."""
    numbers = [(p, n) for p, n in places(good["kernel"]) if isinstance(p[n], str) and p[n].isdecimal()]
    part, name = rng.choice(numbers)
    text = part[name]
    odd = [int(text), float(text), " " + text, text + " ", "0" + text, "+" + text, "-" + text, text + ".0", text + "\n"]
    odd += [text[0] + "_" + text, "".join(chr(0xFF10 + int(d)) for d in text), text + "0" * 40, "", None, [text]]
    part[name] = rng.choice([*odd, True, {"kind": text}, text.encode(), hex(int(text))])
    return good


def _counted(rng: Random, good: Document) -> Document:
    """A domain that has another number of answers than the kernel, or is none."""
    k = int(good["kernel"]["keys"]) if good["kernel"]["kind"] == "pairs" else answers_of(good["kernel"])
    labels = [f"a{i}" for i in range(k)]
    good["domain"] = rng.choice(
        (
            {"k": k + 1},
            {"k": k - 1},
            {"k": str(k)},
            {"k": k + 0.5},
            {"k": k, "labels": labels},
            {"k": True},
            {"labels": [*labels, "b"]},
            {"labels": [*labels[:-1], labels[0]]},
            {"labels": [*labels[:-1], ""]},
            {"labels": [*labels[:-1], k]},
            {"labels": "ab"},
            {"labels": labels, "missing": "none"},
            {"interval": [0, 1], "points": k, "layout": "midpoints"},
            {"interval": [1, 0], "points": k, "layout": "midpoints", "clip": True},
            {"interval": [0, 1], "points": k, "layout": "here", "clip": True},
            {"interval": [-1e308, 1e308], "points": k, "layout": "endpoints", "clip": True},
            {"interval": [0, 1], "codes": [0.5] * k, "clip": False},
            {"interval": [0, 1], "codes": list(range(k + 1)), "clip": False},
            {"space": "places", "points": [[0, 0]]},
            {"space": "nowhere", "points": [[0, 0]] * k},
            {"space": "sets", "points": [[0, 0]] * k},
            {},
            [],
        )
    )
    return good


def _told(rng: Random, good: Document) -> Document:
    """A parameter that says something else than the kernel, in kind if not in number."""
    params = good["params"]
    free = {name.removesuffix("?") for name, rule in FORMS[good["mechanism"]].params.items() if rule == "number"}
    names = [name for name in params if name not in free]
    if not names:
        good["params"] = rng.choice(([], None, "x", {"size": 1, "theta_": 2}))
        return good
    name = rng.choice(names)
    said = params[name]
    whole = isinstance(said, int) and not isinstance(said, bool)
    others: list[Any] = [{}, {"a": 1}, "x", [[said]], "1" if whole else b"1", math.nan, -5, object()]
    if whole and name != "size":  # which is free for codebooks
        others += [said + WORD, said + 0.5, True] if said != 1 else [said + WORD]
    params[name] = rng.choice(others)
    return good


def _headed(rng: Random, good: Document) -> Document:
    """Another version, no epsilon, or no design at all."""
    if rng.random() < 0.1:
        return rng.choice((None, [], "x", 3, good["kernel"], good["params"], [good], {"design": good}))
    if rng.random() < 0.5:
        good["version"] = rng.choice((0, 2, -1, "1", 1.5, True, None, [1], 1 << 70))
    else:
        good["epsilon"] = rng.choice((0, -1.0, 41, 701, 1e-13, math.nan, math.inf, "1", None, True, [1.0], 1 << 5000))
    return good


def _deep(rng: Random, good: Document) -> Document:
    """Nesting without end, within anything."""
    part, name = rng.choice([*places(good)])
    part[name] = deep(rng.choice((12, 30, 1000, 20000)), rng)
    return good


WAYS: tuple[Callable[[Random, Document], Any], ...] = (
    _nested,
    _nested,
    _nested,
    _renamed,
    _more,
    _written,
    _counted,
    _told,
    _headed,
    _deep,
)


def outside(rng: Random, good: Document) -> tuple[str, Any]:
    """A document that the grammar has no place for, and which way it was made."""
    way = rng.choice(WAYS)
    return way.__name__.strip("_"), way(rng, copied(good))


# ---- changed at random


def mutated(rng: Random, one: Document, two: Document) -> Any:
    """A design with some places changed: by another number, by junk, or by a part of another design."""
    made = copied(one)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        spots = [*places(made)]
        if not spots:
            return made
        part, name = rng.choice(spots)
        _CHANGES[rng.randrange(len(_CHANGES))](rng, part, name, two)
    return made


def _shifted(rng: Random, part: Any, name: Any, other: Document) -> None:
    """A number nearby."""
    given = part[name]
    if isinstance(given, str) and given.isdecimal() and given.isascii() and len(given) < 45:
        number = int(given) + rng.choice((1, -1, 2, 1 << 32, -(1 << 60)))
        part[name] = str(rng.choice((max(number, 0), max(number, 0), int(given) // 2, int(given) * 2)))
    elif isinstance(given, float):
        part[name] = rng.choice((given * 2, given / 2, math.nextafter(given, 0), math.nextafter(given, 1e300), -given))
    elif isinstance(given, int):
        part[name] = given + rng.choice((1, -1))
    else:
        _junk(rng, part, name, other)


def _junk(rng: Random, part: Any, name: Any, other: Document) -> None:
    part[name] = rng.choice(JUNK)(rng)


def _grafted(rng: Random, part: Any, name: Any, other: Document) -> None:
    """A part of another design, from a place with the same name where there is one."""
    spots = [*places(other)]
    alike = [(p, n) for p, n in spots if n == name]
    source, where = rng.choice(alike or spots)
    part[name] = copied(source[where])


def _dropped(rng: Random, part: Any, name: Any, other: Document) -> None:
    if isinstance(part, list):
        part.insert(name, part[name]) if rng.random() < 0.5 else part.pop(name)
    else:
        part[rng.choice(("x", name * 2 if isinstance(name, str) and len(name) < 99 else "y", 3))] = part.pop(name)


def _swapped(rng: Random, part: Any, name: Any, other: Document) -> None:
    """Two parts in each other's place."""
    names = [*part] if isinstance(part, dict) else [*range(len(part))]
    second = rng.choice(names)
    part[name], part[second] = part[second], part[name]


_CHANGES = (_shifted, _shifted, _shifted, _junk, _grafted, _grafted, _dropped, _swapped)


def shown(document: Any) -> str:
    """A document for a message."""
    try:
        return ascii(copy.copy(document))[:700]
    except Exception as error:
        return f"a document without a text ({error!r})"
