"""A question of our own to ULDP: what if the share of harmless answers is another than was expected?"""

from __future__ import annotations

from typing import Any

from deniable.core.laws import epsilon_to
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.minimax import worst_error
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.uldp.figures import DATA

__all__ = ["MEASURES"]

MEASURES = Measures()
measures = MEASURES.add

_FEW = {"s=5 d=40": (5, 40, 35 / 40)}
_BUDGETS = (1.0, 2.0, 4.0)


@measures("minimax")
def minimax(_: Context) -> Evidence:
    """Largest n MSE over all shares of harmless answers, over the least that any mechanism can have."""
    found: dict[str, float] = {}
    settings = _FEW | {name: (s, d, theta) for name, (_, s, d, theta) in DATA.items()}
    for name, (s, d, theta) in settings.items():
        for epsilon in _BUDGETS:
            at = f"{name} epsilon={epsilon:g}"
            where: dict[str, Any] = {"k": d, "epsilon": epsilon, "sensitive": s}
            usual = worst_error(mechanism("uss", theta=theta, **where))
            single, mixed = (_made(row, where) for row in ("uss", "ussmix"))
            least = least_mse_sum(s, d - s, mixed.theta, *epsilon_to(epsilon))
            found[f"{at}, largest error of uSS"] = usual
            found[f"{at}, least possible largest error"] = least
            over = {"uSS": usual, "uSS for the least favourable share": worst_error(single)}
            over["the mixture for the least favourable share"] = worst_error(mixed)
            found |= {f"{at}, largest error of {of} over the least possible one": x / least for of, x in over.items()}
    return found


def _made(row: str, where: dict[str, Any]) -> Any:
    return mechanism(row, theta="minimax", **where)
