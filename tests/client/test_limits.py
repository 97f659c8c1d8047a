"""Parts of a task from the least to the most, each changed alone, as in a table that all clients share."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from deniable_client import FormatError, PrivacyError, Task
from deniable_client.task import seal
from tasks import PRIVATE, vectors

FILE = vectors("limits")
KEY = PRIVATE.public_key().public_bytes_raw().hex()


def changed(case: dict[str, Any], value: object) -> Task:
    """The task with another part."""
    made: Any = copy.deepcopy(FILE["document"]) | case.get("changes", {})
    made["collector"]["key"] = KEY
    part = made
    for step in case["place"][:-1]:
        part = part[step]
    part[case["place"][-1]] = value
    return Task.load(seal(made, PRIVATE.sign))


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: ".".join(map(str, case["place"])))
def test_a_part_of_a_task_is_taken_from_its_least_to_its_most(case: dict[str, Any]) -> None:
    for value in case["taken"]:
        changed(case, value)
    for value in case["refused"]:
        with pytest.raises((FormatError, PrivacyError)):
            changed(case, value)
