"""The scalar randomisers: the integers that are sampled, their exact likelihood ratio, and one report's bytes.

A kernel is what a device needs and nothing else. The core builds its mechanisms on the same objects, so the
integers of a design have one home.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deniable_client.documents import check_document, fields_of, is_list, read_budgets, read_whole, read_wholes
from deniable_client.errors import FormatError, show
from deniable_client.kernels.contract import AnyKernel, Disclosing, Kernel, check_promise, promised_ratio

if TYPE_CHECKING:
    from deniable_client.kernels.affine import Affine
    from deniable_client.kernels.arc import Arc
    from deniable_client.kernels.basic import Laplace, Mixture, Response, Subset, Unary, Whole
    from deniable_client.kernels.box import Box, Several
    from deniable_client.kernels.channel import Channel
    from deniable_client.kernels.dealt import Dealt
    from deniable_client.kernels.geometry import Hadamard, Projective
    from deniable_client.kernels.interaction import Interaction
    from deniable_client.kernels.keyvalue import Grouped, KeysOnly, OneKey, Pairs, SignedSubset, SignedUnary
    from deniable_client.kernels.keyvalue_seeded import SignedHashing, SignedInterval, ToldKey
    from deniable_client.kernels.lattice import Lattice
    from deniable_client.kernels.metric import Constant, Leaning, Neighbours, Recode, Window, WindowOrBit
    from deniable_client.kernels.personal import Bit, Personal
    from deniable_client.kernels.seeded import Balanced, Hashing, Interval, Wheel
    from deniable_client.kernels.table import Table
    from deniable_client.kernels.utility import Utility, UtilityBudgets, UtilityMixture
    from deniable_client.kernels.windows import Windows

__all__ = [
    "KERNELS",
    "Affine",
    "AnyKernel",
    "Arc",
    "Balanced",
    "Bit",
    "Box",
    "Channel",
    "Constant",
    "Dealt",
    "Disclosing",
    "Grouped",
    "Hadamard",
    "Hashing",
    "Interaction",
    "Interval",
    "Kernel",
    "KeysOnly",
    "Laplace",
    "Lattice",
    "Leaning",
    "Mixture",
    "Neighbours",
    "OneKey",
    "Pairs",
    "Personal",
    "Projective",
    "Recode",
    "Response",
    "Several",
    "SignedHashing",
    "SignedInterval",
    "SignedSubset",
    "SignedUnary",
    "Subset",
    "Table",
    "ToldKey",
    "Unary",
    "Utility",
    "UtilityBudgets",
    "UtilityMixture",
    "Wheel",
    "Whole",
    "Window",
    "WindowOrBit",
    "Windows",
    "check_promise",
    "kernel_from",
    "kernel_to",
    "promised_ratio",
]

_HOMES: Mapping[str, str] = {
    "affine": "Affine",
    "arc": "Arc",
    "basic": "Laplace Mixture Response Subset Unary Whole",
    "box": "Box Several",
    "channel": "Channel",
    "dealt": "Dealt",
    "geometry": "Hadamard Projective",
    "interaction": "Interaction",
    "keyvalue": "Grouped KeysOnly OneKey Pairs SignedSubset SignedUnary",
    "keyvalue_seeded": "SignedHashing SignedInterval ToldKey",
    "lattice": "Lattice",
    "metric": "Constant Leaning Neighbours Recode Window WindowOrBit",
    "personal": "Bit Personal",
    "seeded": "Balanced Hashing Interval Wheel",
    "table": "Table",
    "utility": "Utility UtilityBudgets UtilityMixture",
    "windows": "Windows",
}
"""The classes of each module: it is loaded when one of them is asked for."""
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def _kind(name: str) -> str:
    """The kind of a class: its name in small letters, with hyphens."""
    return "".join(f"-{sign.lower()}" if sign.isupper() else sign for sign in name)[1:]


class _Kernels(Mapping[str, Callable[..., Any]]):
    """Every kernel by its kind; a mixture is a `UtilityMixture` where its parts disclose."""

    _names: Mapping[str, str] = {_kind(name): name for name in _HOME if not name.startswith("Utility")} | {
        "utility": "Utility",
        "utility-levels": "UtilityBudgets",
    }

    def __getitem__(self, kind: str) -> Callable[..., Any]:
        made: Callable[..., Any] = __getattr__(self._names[kind])
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, kind: object) -> bool:
        return kind in self._names


KERNELS: Mapping[str, Callable[..., Any]] = _Kernels()

_SHORT: Mapping[str, str] = {
    "Rows": "tuple[tuple[int, ...], ...]",
    "Budgets": "tuple[tuple[float, ...], ...]",
    "Response": "Kernel",
    "Window": "Kernel",
    "Leaning": "Kernel",
    "tuple[Kernel | Utility, ...]": "tuple[Kernel, ...]",
    "tuple[AnyKernel, ...]": "tuple[Kernel, ...]",
}
"""Types of kernels' fields that are read like another one."""


def kernel_to(kernel: AnyKernel) -> dict[str, Any]:
    """The integers of a kernel as a document; decimal strings, since JSON numbers lose bits in browsers.

    Budgets are numbers, or "inf" for no limit. Kernels inside a kernel become documents inside the document, lists of
    either become lists.

    >>> from deniable_client.kernels import Response
    >>> kernel_to(Response(k=2, keep=2**63))
    {'kind': 'response', 'k': '2', 'keep': '9223372036854775808'}
    """
    names = (f.name for f in fields(kernel))  # type: ignore[arg-type]  # kernels are dataclasses
    return {"kind": kernel.kind} | {name: _to_plain(getattr(kernel, name)) for name in names}


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_plain(v) for v in value]
    if isinstance(value, float):
        return "inf" if value == math.inf else value
    return str(value) if isinstance(value, int) else kernel_to(value)


Shapes = Mapping[str, Mapping[str, Any]]
"""Kinds of kernels that may stand somewhere, each with the shapes that may stand in its fields."""


def kernel_from(document: object, shapes: Shapes | None = None, where: str = "the kernel") -> Any:
    """The inverse of `kernel_to`; `FormatError` for an unknown kind, or fields that do not fit or have other shapes.

    Without `shapes` any kernel may stand anywhere that it can be sampled; designs have a grammar for that.
    """
    if shapes is None and where == "the kernel":
        check_document(document, where)
    kind = document.get("kind") if isinstance(document, Mapping) else None
    allowed = KERNELS if shapes is None else shapes
    if not isinstance(kind, str) or kind not in allowed:
        known = "unknown" if not isinstance(kind, str) or kind not in KERNELS else "not possible here"
        hint = "Upgrade the client." if shapes is None else "The mechanism's name decides which kernels it may have."
        raise FormatError(f"{where}: kernel kind {show(kind)} is {known}; possible are {', '.join(allowed)}.", hint)
    names = _fields(kind)
    given = fields_of(document, f"a {kind} kernel", ("kind", *names))
    inner = dict.fromkeys(names) if shapes is None else shapes[kind]
    parts = {name: _READERS[form](given[name], inner.get(name), f"{name} of {where}") for name, form in names.items()}
    disclosing = kind == "mixture" and any(isinstance(part, Disclosing) for part in parts.values())
    return (__getattr__("UtilityMixture") if disclosing else KERNELS[kind])(**parts)


_PARTS_MAX = 64
"""Kernels in a list of them."""


def _several(read: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """How a list is read whose entries are read so."""

    def each(part: object, shapes: Shapes | None, where: str) -> tuple[Any, ...]:
        if not is_list(part):
            raise FormatError(f"{where} must be a list, got {type(part).__name__}.")
        if read is kernel_from and len(part) > _PARTS_MAX:  # type: ignore[arg-type]  # it is a list
            raise FormatError(f"{where} must have at most {_PARTS_MAX} kernels, got {len(part)}.")  # type: ignore[arg-type]
        return tuple(read(entry, shapes, where) for entry in part)  # type: ignore[attr-defined]

    return each


def _number(part: object, shapes: Shapes | None, where: str) -> int:
    return read_whole(part, where)


def _numbers(part: object, shapes: Shapes | None, where: str) -> tuple[int, ...]:
    return read_wholes(part, where)


def _budgets(part: object, shapes: Shapes | None, where: str) -> tuple[float, ...]:
    return read_budgets(part, where)


_READERS: Mapping[str, Callable[[Any, Any, str], Any]] = {
    "int": _number,
    "tuple[int, ...]": _numbers,
    "tuple[tuple[int, ...], ...]": _several(_numbers),
    "tuple[tuple[float, ...], ...]": _several(_budgets),
    "Kernel": kernel_from,
    "tuple[Kernel, ...]": _several(kernel_from),
}
"""How fields of kernels are read, by their types."""


@cache
def _fields(kind: str) -> Mapping[str, str]:
    """Fields of a kernel and their types."""
    made: Any = KERNELS[kind]
    return {f.name: _SHORT.get(str(f.type), str(f.type)) for f in fields(made)}
