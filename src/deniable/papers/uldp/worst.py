"""A question of our own to ULDP: what if the share of harmless answers is another than was expected?"""

from __future__ import annotations

from typing import Any

from deniable.core.laws import epsilon_to
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.minimax import worst_error
from deniable.papers.paper import Claims, Context
from deniable.papers.rules import Evidence, Rule, at_most
from deniable.papers.uldp.figures import DATA

__all__ = ["CLAIMS"]

CLAIMS = Claims()
claim = CLAIMS.add

_FEW = {"s=5 d=40": (5, 40, 35 / 40)}
_BUDGETS = (1.0, 2.0, 4.0)


@claim(
    "minimax",
    "uSS for the expected share of harmless answers is near the best where the share turns out to be another one",
    "of our own, after Sec. 5.4",
    "parameters are set for an expected or estimated theta",
    Rule(
        (at_most("*, largest error of uSS over the least possible one", 1.05),),
        (
            at_most(
                "*, largest error of the mixture for the least favourable share over the least possible one", 1.0001
            ),
            at_most("*, largest error of uSS for the least favourable share over the least possible one", 1.05),
        ),
        "it can be far off; chosen for the least favourable share, one size is near the least possible largest error "
        "and two mixed sizes attain it",
        note="the least possible one is for the worst share of harmless answers; [Yoon25] attain it by block designs",
    ),
)
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
