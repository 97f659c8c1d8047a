"""Checks of what AdaptiveLDP says of the trade-off between best guess and error: dominance, frontier, wasted budget."""

from __future__ import annotations

from itertools import product

import numpy as np

from deniable.core.frontier import best_subset_size, frontier_mse
from deniable.mechanisms.frequency.families import FAMILIES
from deniable.papers.adaptive.designs import ORIGIN, TWELVE, points
from deniable.papers.adaptive.equations import LOW, SETTINGS, SMALL, K
from deniable.papers.checks import design, off
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.rules import EXACT

__all__ = ["measures"]

measures = Measures()

_CHECKED = tuple(product(SMALL, LOW))


@measures("frontier")
def frontier(context: Context) -> Evidence:
    """Exact error over the least that any mechanism with the same epsilon and best guess can have, k=100."""
    table = points(context)
    found: dict[str, float] = {}
    for name in ORIGIN:
        made = [table[name, K, epsilon] for epsilon in LOW]
        gaps = {p.epsilon: p.mse / float(frontier_mse(K, p.epsilon, p.asr)) - 1 for p in made}
        found |= {f"{name.upper()} epsilon=4, above the frontier": gaps[4.0]}
        found[f"{name.upper()}, most above it"] = max(gaps.values())
    small = [
        p for p in (table["ass", *at] for at in SETTINGS) if (p.parameter or 0) >= best_subset_size(p.k, p.epsilon)
    ]
    worst = max(off(p.mse, float(frontier_mse(p.k, p.epsilon, p.asr))) for p in small)
    return found | {"ASS of at least the best size": len(small), "largest deviation of these from the frontier": worst}


@measures("closer")
def closer(context: Context) -> Evidence:
    """Whether the distance from the frontier is smaller than that of the known protocol, by pair and budget."""
    table = points(context)

    def gap(name: str, epsilon: float) -> float:
        p = table[name, K, epsilon]
        return p.mse / float(frontier_mse(K, epsilon, p.asr)) - 1

    found: dict[str, float] = {"budgets": len(LOW)}
    for new, known in ORIGIN.items():
        gaps = [(gap(new, epsilon), gap(known, epsilon)) for epsilon in LOW]
        found[f"{new.upper()}: budgets at which it is not closer"] = sum(a >= b - EXACT for a, b in gaps)
        found[f"{new.upper()}: mean distance"] = float(np.mean([a for a, _ in gaps]))
        found[f"{known.upper()}: mean distance"] = float(np.mean([b for _, b in gaps]))
    return found


@measures("none-dominates")
def none_dominates(context: Context) -> Evidence:
    """How often a known protocol beats another one, and how often one and the same has the lowest ASR and MSE."""
    table, known = points(context), [name for name in TWELVE if name not in ORIGIN]

    def beats(one: str, two: str, at: tuple[int, float]) -> bool:
        p, q = table[one, *at], table[two, *at]
        return p.asr <= q.asr and p.mse <= q.mse and (p.asr, p.mse) != (q.asr, q.mse)

    found: dict[str, float] = {"settings": len(SETTINGS)}
    for one in known:
        ahead = {two: sum(beats(one, two, at) for at in SETTINGS) for two in known if two != one}
        found |= {f"settings in which {one.upper()} beats {two.upper()}": n for two, n in ahead.items() if n}
    both = sum(any(all(beats(one, two, at) for two in known if two != one) for one in known) for at in SETTINGS)
    return found | {"settings in which one protocol has the lowest ASR and the lowest MSE": both}


@measures("athe-budget")
def athe_budget(context: Context) -> Evidence:
    """How much of epsilon thresholded reports spend, and whether a unary encoding is better in both respects."""
    found: dict[str, float] = {}
    for epsilon in (1.0, 2.0, 4.0, 8.0, 10.0):
        the, oue = design("the", K, epsilon), design("oue", K, epsilon)
        found[f"epsilon={epsilon:g}, spent"] = the.leak
        found[f"epsilon={epsilon:g}, MSE of THE over that of OUE (Eq. 4)"] = the.mse_approx() / oue.mse_approx()
    logit, table, unary, subsets = np.linspace(0, 20, 4001), points(context), 0, 0
    for k, epsilon in _CHECKED:
        asr, mse = FAMILIES["aue"].objectives(k, epsilon, logit, "exact")
        p = table["athe", k, epsilon]
        unary += bool(((asr < p.asr) & (mse < p.mse)).any())
        subsets += float(frontier_mse(k, epsilon, p.asr)) < p.mse * (1 - EXACT)
    found |= {"settings": len(_CHECKED), "a unary encoding is better than ATHE in ASR and MSE": unary}
    found["mixed subsets have less MSE than ATHE for its ASR"] = subsets
    spent = min(found[f"epsilon={epsilon:g}, spent"] / epsilon for epsilon in (1, 2, 4, 8, 10))
    return found | {"least share of epsilon that is spent": spent}
