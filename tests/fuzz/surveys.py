"""Random surveys as they are made for people: questions of all kinds, alone or together; and ones with a fault."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import deniable as dn

EPSILONS = (0.5, 1.0, 2.0, 3.5)
QUESTIONS: tuple[Any, ...] = (
    2,
    2,
    2,
    3,
    5,
    20,
    ["no", "yes"],
    ["no", "yes"],
    ["never", "rarely", "often"],
    {"interval": (0, 100)},
    {"k": 6, "sensitive": 2},
    {"keys": 3},
    {"several": ["drama", "comedy", "western", "horror"], "most": 2},
    {"several": 5},
)


def survey(rng: Random) -> dict[str, Any]:
    """The design of a random survey, of which few have the same parts; it keeps its promise."""
    asked = {f"q{j}": rng.choice(QUESTIONS) for j in range(rng.randint(2, 6))}
    epsilon = rng.choice(EPSILONS)
    weights = [rng.choice((1.0, 1.0, 3.0, 0.2)) for _ in asked]
    plain = [name for name, given in asked.items() if isinstance(given, int | list)]
    tables = [(plain[0], plain[1])] if len(plain) > 1 and rng.random() < 0.25 else None
    made = dn.survey(asked, epsilon=epsilon, weights=weights, tables=tables)
    found: dict[str, Any] = json.loads(json.dumps(made.design()))
    return found


def damaged(rng: Random, design: dict[str, Any]) -> dict[str, Any]:
    """The same with a fault that must be seen: a part that leaks, a share of 0, too many parts, a rule of the deal."""
    parts, shares = list(design.get("parts", [design])), list(design.get("shares", [1]))
    i = rng.randrange(len(parts))
    way = rng.choice(("leak", "share", "many", "deal", "whole", "twice"))
    if way == "leak":
        parts[i] = parts[i] | {"epsilon": parts[i]["epsilon"] / 2}
    elif way == "share":
        shares[i] = 0
    elif way == "many":
        parts, shares = parts * 256, shares * 256
    elif way == "deal":
        return design | {"deal": [[0, 1]], "parts": parts, "shares": shares}
    elif way == "whole":
        return design | {"epsilon": design["epsilon"] * 0.99}
    else:
        parts[i] = design if "parts" in design else {"mechanism": "dealt", "parts": parts}
    whole = {"mechanism": "dealt", "version": 1, "epsilon": design["epsilon"]}
    return whole | {"shares": shares, "parts": parts}
