"""Columns as a frame of a library that is installed; what has columns calls this."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from deniable.errors import MissingExtraError

__all__ = ["as_frame", "as_library"]

_LIBRARIES = ("polars", "pandas")


def as_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of Polars or pandas, whichever is installed (Polars first), else as they are."""
    for library in _LIBRARIES:
        try:
            module = import_module(library)
        except ImportError:
            continue
        return module.DataFrame(columns)
    return columns


def as_library(library: str, columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of this library, `pandas` or `polars`; `MissingExtraError` says how to get it."""
    try:
        module = import_module(library)
    except ImportError as error:
        hint = f"Install it with: pip install {library}; or take to_columns(), which needs nothing."
        raise MissingExtraError(f"this needs {library}, which is not installed.", hint) from error
    return module.DataFrame(columns)
