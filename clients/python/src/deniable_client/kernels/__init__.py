"""The scalar randomisers: the integers that are sampled, their exact likelihood ratio, and one report's bytes.

A kernel is what a device needs and nothing else. The core builds its mechanisms on the same objects, so the
integers of a design have one home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields

from deniable_client.errors import FormatError
from deniable_client.kernels.basic import Hashing, Response, Subset, Unary
from deniable_client.kernels.contract import Kernel, check_promise
from deniable_client.kernels.designs import Hadamard, Projective
from deniable_client.kernels.laplace import Laplace
from deniable_client.kernels.public import Balanced, Wheel

__all__ = [
    "KERNELS",
    "Balanced",
    "Hadamard",
    "Hashing",
    "Kernel",
    "Laplace",
    "Projective",
    "Response",
    "Subset",
    "Unary",
    "Wheel",
    "check_promise",
    "kernel_from",
    "kernel_to",
]

KERNELS: Mapping[str, Callable[..., Kernel]] = {
    cls.kind: cls for cls in (Response, Subset, Unary, Hashing, Balanced, Wheel, Hadamard, Projective, Laplace)
}


def kernel_to(kernel: Kernel) -> dict[str, str]:
    """The integers of a kernel as a document; decimal strings, since JSON numbers lose bits in browsers.

    >>> kernel_to(Response(k=2, keep=2**63))
    {'kind': 'response', 'k': '2', 'keep': '9223372036854775808'}
    """
    names = (f.name for f in fields(kernel))  # type: ignore[arg-type]  # kernels are dataclasses
    return {"kind": kernel.kind} | {name: str(getattr(kernel, name)) for name in names}


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
        numbers = {name: int(str(document[name])) for name in names}
    except ValueError as error:
        raise FormatError(f"a {kind} kernel needs whole numbers: {error}.") from error
    return KERNELS[kind](**numbers)
