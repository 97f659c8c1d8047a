"""What people will see of a draft: the survey page itself, without a device behind it, so that nothing can be sent."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any

from deniable.service.access.identity import Identity
from deniable.service.questionnaire.complete import problems
from deniable.service.questionnaire.document import Questionnaire, read
from deniable.service.questionnaire.opening import task_of
from deniable.service.tasks import DEVICE_YEAR
from deniable_client.task import Task

__all__ = ["shown_task"]

_BLANK = "…"
"""What stands where something is not written yet."""


@lru_cache(maxsize=16)
def shown_task(document: bytes, today: date) -> Task | None:
    """The task that a draft would become, as far as it is written; None if there is no question to show.

    Nobody has its key, and no collector takes reports for it.
    """
    asked = _written(read(document))
    if not asked.questions:
        return None
    return Task.load(task_of(asked, Identity(os.urandom(32)), today=today))


def _written(asked: Questionnaire) -> Questionnaire:
    """What is complete of a draft; blanks for what people read and is not there yet."""
    head: dict[str, Any] = {name: getattr(asked, name) or _BLANK for name in ("title", "who", "why")}
    fits = asked.protection * asked.windows <= DEVICE_YEAR
    found = replace(
        asked,
        **head,
        people=asked.people or 1000,
        opens="",
        windows=asked.windows if fits else 1,
        protection=min(asked.protection, DEVICE_YEAR),
    )
    wrong = {fault.where for fault in problems(found)}
    named = {where.split(".")[1] for where in wrong if where.startswith("q.")} if "words" not in wrong else None
    groups = {where.split(".")[1] for where in wrong if where.startswith("g.")}
    tags = {where.split(".")[1] for where in wrong if where.startswith("t.")}
    blank: dict[str, Any] = dict.fromkeys((name for name in head if name in wrong), _BLANK)
    kept = found.asking(item.name for item in found.questions if named is not None and item.name not in named)
    joint = {where for where in wrong if where.startswith("b.") or where == "together"}
    return replace(
        kept,
        **blank,
        together=() if joint else kept.together,
        groups=tuple(group for group in found.groups if group.name not in groups),
        translations={tag: texts for tag, texts in found.translations.items() if tag not in tags},
    )
