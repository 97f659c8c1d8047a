"""The errors of the whole project, and the door to optional parts."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from deniable_client.errors import (
    DeniableError,
    EntropyError,
    FormatError,
    MergeError,
    MissingExtraError,
    ParameterError,
    PrivacyError,
    require,
)

__all__ = [
    "DeniableError",
    "EntropyError",
    "EnumerationError",
    "FormatError",
    "MergeError",
    "MissingExtraError",
    "ParameterError",
    "PrivacyError",
    "need_extra",
    "require",
]


class EnumerationError(ParameterError):
    """A channel has too many outputs to write them all down; nothing is wrong with it otherwise."""


def need_extra(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {module}, which is not installed.",
            f"Install it with: pip install 'deniable[{extra}]'",
        ) from error
