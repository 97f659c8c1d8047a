"""Values that hold arrays: equal if what they tell is, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

__all__ = ["Same", "agree"]


class Same:
    """Equal to another one of its class if all that it `tells` agrees; not hashable, since arrays are not."""

    __slots__ = ()
    tells: ClassVar[tuple[str, ...]]
    """The fields, or properties, that are compared."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(agree(getattr(self, name), getattr(other, name)) for name in self.tells)

    __hash__ = None  # type: ignore[assignment]


def agree(one: Any, two: Any) -> bool:
    """Whether two values are equal: arrays entry by entry (what is not a number equals itself), mappings by name."""
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return np.array_equal(one, two, equal_nan=one.dtype.kind == two.dtype.kind == "f")
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(agree(value, two[name]) for name, value in one.items())
    return bool(one == two)
