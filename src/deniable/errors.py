"""The errors of the whole project, and the door to optional parts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Real
from types import ModuleType
from typing import Any

from deniable_client.errors import (
    DeniableError,
    EntropyError,
    FormatError,
    MergeError,
    MissingExtraError,
    ParameterError,
    PrivacyError,
    require,
    show,
)

__all__ = [
    "DeniableError",
    "EntropyError",
    "EnumerationError",
    "FormatError",
    "InWords",
    "MergeError",
    "MissingExtraError",
    "ParameterError",
    "PrivacyError",
    "is_number",
    "is_whole",
    "meant",
    "need_extra",
    "require",
    "show",
    "whole",
]

_COMPARED = 1000
"""Names that a wrong one is compared with."""


class EnumerationError(ParameterError):
    """A channel has too many outputs to write them all down; nothing is wrong with it otherwise."""


class InWords(str):
    """What was given, told in words instead of by its value; for `require`, which writes a text in quotation marks.

    >>> require(False, "values", InWords("an array of shape (2, 2)"), "one-dimensional")
    Traceback (most recent call last):
        ...
    deniable_client.errors.ParameterError: values must be one-dimensional, got an array of shape (2, 2).
    """

    __slots__ = ()

    def __getitem__(self, part: Any) -> InWords:
        return InWords(super().__getitem__(part))

    def __repr__(self) -> str:
        return str(self)


def is_whole(value: object, least: float, most: float = math.inf) -> bool:
    """Whether this is an integer, Python's or NumPy's but not a truth value, from `least` to `most`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_number(value: object) -> bool:
    """Whether this is a number, Python's or NumPy's, but not a truth value and no fraction."""
    return isinstance(value, Real) and not isinstance(value, bool | Fraction)


def whole(name: str, value: Any, least: int, most: float = math.inf, need: str = "", hint: str = "") -> int:
    """The integer from `least` to `most` that was given under this name, Python's or NumPy's, as one of Python's."""
    if not is_whole(value, least, most):
        told = f"an integer >= {least}" if most == math.inf else f"an integer from {least} to {most}"
        require(False, name, value, need or told, hint)
    return int(value)


def meant(name: object, known: Iterable[object]) -> str:
    """A hint at the names that come near, or nothing; the first thousand are compared.

    >>> meant("yess", ["no", "yes"])
    'Did you mean yes?'
    """
    from difflib import get_close_matches
    from itertools import islice

    near = get_close_matches(str(name), [str(each) for each in islice(known, _COMPARED)], n=3)
    return f"Did you mean {' or '.join(near)}?" if near else ""


def need_extra(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {module}, which is not installed.", f"Install it with: pip install 'deniable[{extra}]'"
        ) from error
