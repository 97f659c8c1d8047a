"""The scalar randomisers: the integers that are sampled, their exact likelihood ratio, and one report's bytes.

A kernel is what a device needs and nothing else. The core builds its mechanisms on the same objects, so the
integers of a design have one home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from deniable_client.errors import FormatError
from deniable_client.kernels.basic import Response, Subset, Unary
from deniable_client.kernels.contract import Kernel, check_promise
from deniable_client.kernels.geometry import Hadamard, Projective
from deniable_client.kernels.keyvalue import Grouped, KeysOnly, OneKey, Pairs, SignedSubset, SignedUnary
from deniable_client.kernels.keyvalue_seeded import SignedHashing, SignedInterval, ToldKey
from deniable_client.kernels.laplace import Laplace
from deniable_client.kernels.metric import Constant, Neighbours, Recode
from deniable_client.kernels.mixture import Mixture, Whole
from deniable_client.kernels.personal import Bit, Personal
from deniable_client.kernels.seeded import Balanced, Hashing, Interval, Wheel
from deniable_client.kernels.table import Table
from deniable_client.kernels.utility import Utility
from deniable_client.kernels.utility_budgets import UtilityBudgets
from deniable_client.kernels.window import Leaning, Window, WindowOrBit

__all__ = [
    "KERNELS",
    "Balanced",
    "Bit",
    "Constant",
    "Grouped",
    "Hadamard",
    "Hashing",
    "Interval",
    "Kernel",
    "KeysOnly",
    "Laplace",
    "Leaning",
    "Mixture",
    "Neighbours",
    "OneKey",
    "Pairs",
    "Personal",
    "Projective",
    "Recode",
    "Response",
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
    "Wheel",
    "Whole",
    "Window",
    "WindowOrBit",
    "check_promise",
    "kernel_from",
    "kernel_to",
]

KERNELS: Mapping[str, Callable[..., Kernel]] = {
    made.kind: made for made in tuple(globals().values()) if hasattr(made, "kind")
}
"""Every kernel that is imported above, by its kind."""


def kernel_to(kernel: Kernel) -> dict[str, Any]:
    """The integers of a kernel as a document; decimal strings, since JSON numbers lose bits in browsers.

    Kernels inside a kernel become documents inside the document, lists of either become lists.

    >>> kernel_to(Response(k=2, keep=2**63))
    {'kind': 'response', 'k': '2', 'keep': '9223372036854775808'}
    """
    names = (f.name for f in fields(kernel))  # type: ignore[arg-type]  # kernels are dataclasses
    return {"kind": kernel.kind} | {name: _to_plain(getattr(kernel, name)) for name in names}


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_plain(v) for v in value]
    return str(value) if isinstance(value, int) else kernel_to(value)


def kernel_from(document: Mapping[str, object]) -> Kernel:
    """The inverse of `kernel_to`; `FormatError` for an unknown kind or fields that do not fit."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KERNELS:
        raise FormatError(f"kernel kind {kind!r} is unknown; known are {', '.join(KERNELS)}.", "Upgrade the client.")
    names = {f.name for f in fields(KERNELS[kind])}  # type: ignore[arg-type]  # kernels are dataclasses
    given = set(document) - {"kind"}
    if given != names:
        raise FormatError(f"a {kind} kernel has fields {sorted(names)}, got {sorted(given)}.")
    try:
        parts = {name: _from_plain(document[name]) for name in names}
    except ValueError as error:
        raise FormatError(f"a {kind} kernel needs whole numbers: {error}.") from error
    return KERNELS[kind](**parts)


def _from_plain(value: object) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_from_plain(v) for v in value)
    return kernel_from(value) if isinstance(value, Mapping) else int(str(value))
