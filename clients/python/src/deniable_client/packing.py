"""One report as bytes of constant length: unsigned integers, little-endian, and bit sets, lowest bit first."""

from __future__ import annotations

from collections.abc import Iterable

from deniable_client.errors import FormatError

__all__ = ["bits_width", "pack_bits", "pack_int", "uint_width", "unpack_bits", "unpack_int"]


def uint_width(count: int) -> int:
    """Bytes (1, 2, 4 or 8) of the smallest unsigned type that holds 0..count-1."""
    return next(width for width in (1, 2, 4, 8) if count <= 1 << (8 * width))


def bits_width(k: int) -> int:
    """Bytes of a set of `k` bits."""
    return (k + 7) // 8


def pack_int(value: int, width: int) -> bytes:
    """An unsigned integer in `width` bytes."""
    return value.to_bytes(width, "little")


def unpack_int(data: bytes, width: int) -> int:
    """The inverse of `pack_int`."""
    if len(data) != width:
        raise FormatError(f"a report field has {len(data)} bytes, {width} are needed.")
    return int.from_bytes(data, "little")


def pack_bits(items: Iterable[int], k: int) -> bytes:
    """A subset of {0..k-1}: item i is bit i % 8 of byte i // 8; the padding is zero."""
    out = bytearray(bits_width(k))
    for i in items:
        out[i >> 3] |= 1 << (i & 7)
    return bytes(out)


def unpack_bits(data: bytes, k: int) -> list[int]:
    """The inverse of `pack_bits`; padding that is not zero is refused."""
    if len(data) != bits_width(k):
        raise FormatError(f"a report of {k} bits has {len(data)} bytes, {bits_width(k)} are needed.")
    number = int.from_bytes(data, "little")
    if number >> k:
        raise FormatError(f"a report of {k} bits has padding that is not zero.")
    return [i for i in range(k) if number >> i & 1]
