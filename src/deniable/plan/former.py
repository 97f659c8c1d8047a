"""Names of the version before, which `deniable.plan` and its one kind of answer replace; they go with the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.mechanisms.entry import KEY_VALUE, MEAN, RELEASE
from deniable.plan.answer import Plan
from deniable.plan.keyvalue import KeyValuePlan
from deniable.plan.questions import PLANS, plan


def _asking(question: str) -> Callable[..., Plan[Any]]:
    spelt = {column: name for name, column in PLANS[question].limits.items()}

    def former(*, limits: Mapping[str, float] | None = None, **told: Any) -> Plan[Any]:
        most = {spelt.get(column, f"max_{column}"): x for column, x in (limits or {}).items()}
        return plan(question=question, **told | most)

    return former


plan_keyvalue, plan_means, plan_release = map(_asking, (KEY_VALUE, MEAN, RELEASE))
plan_pairs, PairPlan = plan_keyvalue, KeyValuePlan
