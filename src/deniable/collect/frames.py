"""What has columns, as a frame of a library that is installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from deniable.errors import MissingExtraError

__all__ = ["Columned", "as_frame"]

_LIBRARIES = ("polars", "pandas")


class Columned(ABC):
    """What has columns, and so becomes a frame; the other functions take what `to_columns` takes."""

    __slots__ = ()

    @abstractmethod
    def to_columns(self, *args: Any, **how: Any) -> dict[str, list[Any]]:
        """The columns as plain lists, by name."""

    def _framed(self, *args: Any, **how: Any) -> Mapping[str, Any]:
        """The columns as frames take them best."""
        return self.to_columns(*args, **how)

    def to_frame(self, *args: Any, **how: Any) -> Any:
        """`to_columns` as a frame of Polars or pandas, whichever is installed (Polars first), else the columns."""
        return as_frame(self._framed(*args, **how))

    def to_pandas(self, *args: Any, **how: Any) -> Any:
        """`to_columns` as a pandas frame."""
        return _as_library("pandas", self._framed(*args, **how))

    def to_polars(self, *args: Any, **how: Any) -> Any:
        """`to_columns` as a Polars frame."""
        return _as_library("polars", self._framed(*args, **how))


def as_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of Polars or pandas, whichever is installed (Polars first), else as they are."""
    for library in _LIBRARIES:
        try:
            module = import_module(library)
        except ImportError:
            continue
        return module.DataFrame(columns)
    return columns


def _as_library(library: str, columns: Mapping[str, Any]) -> Any:
    """Columns as a frame of this library, `pandas` or `polars`; `MissingExtraError` says how to get it."""
    try:
        module = import_module(library)
    except ImportError as error:
        hint = f"Install it with: pip install {library}; or take to_columns(), which needs nothing."
        raise MissingExtraError(f"this needs {library}, which is not installed.", hint) from error
    return module.DataFrame(columns)
