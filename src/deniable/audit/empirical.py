"""The empirical audit: what reports show about epsilon where nothing is proved. It can refute, never prove."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

from deniable.audit.exact import Audit
from deniable.core.channel import Proof, Witness
from deniable.errors import is_whole, require
from deniable.mechanisms.functions import Functions
from deniable.randomness import simulation

__all__ = ["measure"]

_REPORTS = 10_000
"""Reports of each of the values that are compared."""
_VALUES = 3
"""So many values are compared: the first ones."""
_ALPHA = 1e-3
"""Chance that a bound is wrong."""
_FEW = 1000
"""Different outputs up to which they are looked at one by one."""


@dataclass(frozen=True, slots=True, repr=False)
class Empirical(Audit):
    """What was seen: epsilon is at least `least`, with a confidence; `proof` has the event that shows it."""

    least: float = 0.0
    confidence: float = 1 - _ALPHA
    reports: int = 0
    seed: int = 0

    @property
    def exact(self) -> float:
        """Not known; what is not known is not small."""
        return math.inf

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken, as far as reports can tell."""
        return self.least > self.promised

    @property
    def holds(self) -> bool:
        """Never: reports prove nothing."""
        return False

    @property
    def verdict(self) -> str:
        """In words."""
        sure = f"{100 * self.confidence:g} % sure, from {self.reports:,} simulated reports"
        if self.refuted:
            return f"THE PROMISE IS BROKEN. Epsilon is at least {self.least:.4g}, not {self.promised:g} ({sure})."
        return (
            f"NOTHING IS PROVED. No breach of epsilon {self.promised:g} was seen; epsilon is at least {self.least:.4g} "
            f"({sure}). Code that cannot be enumerated is never proved by reports."
        )

    def __repr__(self) -> str:
        verdict = "is BROKEN" if self.refuted else "is not refuted, and not proved"
        return f"<Audit of {self.name} by reports: the promise {self.promised!r} {verdict}, at least {self.least:.4g}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        from deniable.present.html import facts_html

        facts = {"epsilon is at least": f"{self.least:.4g}", "promised epsilon": repr(self.promised)}
        facts |= {
            "witness": self.proof.witness.output,
            "reports": f"{self.reports:,}, seed {self.seed}",
            "vetted": "no",
        }
        return facts_html(f"{self.name}: {'the promise is BROKEN' if self.refuted else 'nothing is proved'}", facts)

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "mechanism": self.name,
            "epsilon": self.promised,
            "epsilon_exact": None,
            "epsilon_least": self.least,
            "confidence": self.confidence,
            "holds": False,
            "refuted": self.refuted,
            "method": self.proof.method,
            "argument": self.proof.argument,
            "witness": asdict(self.proof.witness),
            "reports": self.reports,
            "seed": self.seed,
            "simulated": True,
            "vetted": self.vetted,
        }


def measure(m: Functions, epsilon: float, *, reports: int = _REPORTS, seed: int = 0) -> Empirical:
    """Look for events that are likelier for one value than e^epsilon times for another.

    Half of the reports choose the event, the others measure it: exact binomial limits, shared by all pairs.
    """
    require(is_whole(reports, 100), "reports", reports, "an integer >= 100")
    generator = simulation(seed).generator()
    values = range(min(m.k, _VALUES))
    outputs = [_kinds(m, [m.perturb(x, generator) for _ in range(reports)], values) for x in values]
    pairs = list(permutations(values, 2))
    found = [(*_pair(outputs, x, z, _ALPHA / len(pairs)), x, z) for x, z in pairs]
    least, event, x, z = max(found, key=lambda each: each[0])
    text = "an event that one half of the reports chose was counted in the other half; nothing is proved"
    proof = Proof(None, "reports", text, Witness(event, x, z))
    return Empirical(
        m.name, epsilon, proof, None, False, least=max(least, 0.0), reports=reports * len(values), seed=seed
    )


def _pair(outputs: Sequence[Sequence[Hashable]], x: int, z: int, alpha: float) -> tuple[float, str]:
    """The lower bound of the log-ratio of the best event for x against z, and the event."""
    from scipy.stats import beta

    half = len(outputs[x]) // 2
    kinds = [outputs[value] for value in (x, z)]
    first = [Counter(kind[:half]) for kind in kinds]
    last = [Counter(kind[half:]) for kind in kinds]
    order = sorted(first[0], key=lambda o: (-(first[0][o] + 0.5) / (first[1][o] + 0.5), str(o)))
    chosen, best, one, two = [order[0]], -math.inf, 0, 0
    for i, output in enumerate(order):  # the most telling ones together, as many as are best on the first half
        one, two = one + first[0][output], two + first[1][output]
        bound = _bound(beta, one, two, half, alpha)
        if bound > best:
            best, chosen = bound, order[: i + 1]
    n = len(outputs[x]) - half
    told = f"report {chosen[0]!r}" if len(chosen) == 1 else f"one of {len(chosen)} reports"
    return _bound(beta, sum(last[0][o] for o in chosen), sum(last[1][o] for o in chosen), n, alpha), told


def _bound(beta: Any, one: int, two: int, n: int, alpha: float) -> float:
    """ln of the least chance of `one` by the largest of `two`, both with Clopper-Pearson limits."""
    low = float(beta.ppf(alpha / 2, one, n - one + 1)) if one else 0.0
    high = float(beta.ppf(1 - alpha / 2, two + 1, n - two)) if two < n else 1.0
    return math.log(low / high) if low > 0 else -math.inf


def _kinds(m: Functions, outputs: Sequence[Hashable], values: Sequence[int]) -> list[Hashable]:
    """The outputs, or where there are too many, which of the compared values they support."""
    if len(set(outputs)) <= _FEW:
        return list(outputs)
    rows = [m.supported(output)[list(values)].tolist() for output in outputs]
    return [tuple(f"{'' if each else 'not '}{x}" for x, each in zip(values, row, strict=True)) for row in rows]
