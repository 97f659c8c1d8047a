"""How a page asks for a plan: from the texts that were filled in to what the planner is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.core.domain import Domain
from deniable.errors import ParameterError, require
from deniable.run.numbers import Doubt, read_number

__all__ = ["ANSWERS", "NUMBERS", "Form", "lines_of", "number_of"]

_LARGEST = 10**12
_TOP = 6
"""Designs that are shown of many."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a page asks for one question."""

    kind: str
    """What stands in the field `kind` of the form."""
    read: Callable[[Mapping[str, str]], dict[str, Any]]
    """From the fields to what the plan is told; `ParameterError` in the words of the form."""


def number_of(text: str, name: str) -> float:
    """The number in a field that people know under this name."""
    found = read_number(text)
    if isinstance(found, Doubt):
        either = f"{found.large:,.0f} or {found.small:g}"
        raise ParameterError(f"{name} can be read as {either}, got {text!r}.", "Write it without a point or comma.")
    if found is None:
        raise ParameterError(f"{name} must be a number, got {text[:40]!r}.")
    require(abs(found) < _LARGEST, name, text[:40], f"a number below {_LARGEST:,}")
    return found


def _numbers(fields: Mapping[str, str]) -> dict[str, Any]:
    low, high = (number_of(fields[end], f"{end}est number") for end in ("low", "high"))
    return {"interval": f"{low:g},{high:g}"}


def _answers(fields: Mapping[str, str]) -> dict[str, Any]:
    labels = lines_of(fields["answers"])
    require(len(labels) >= 2, "answers", fields["answers"], "at least two, one on each line")
    told: dict[str, Any] = {"domain": Domain.of(labels), "top": _TOP}
    return told | ({"sensitive": ",".join(lines_of(fields["sensitive"]))} if fields["sensitive"] else {})


def lines_of(text: str) -> list[str]:
    """What stands on the lines of a field, without empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


ANSWERS, NUMBERS = Form("shares", _answers), Form("mean", _numbers)
