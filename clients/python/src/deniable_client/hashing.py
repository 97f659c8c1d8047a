"""The one hash: items to 32-bit values, from a 64-bit seed that every report carries.

h(x) = ((a * mix(x) + b) mod 2**64) >> 32. `mix` is a fixed public bijection of 32-bit integers; (a, b) are
expanded from the seed. For uniform (a, b) the values of two different items are exactly uniform and
independent [Dietz97]: mix(x) != mix(x') differ in 32 bits and 64 - 32 >= 32 bits are kept.
"""

from __future__ import annotations

__all__ = ["ITEMS_MAX", "RANGE_MAX", "bucket", "expand", "hash32", "mix32", "split64"]

ITEMS_MAX = 1 << 32
"""Items are hashed as 32-bit integers."""

RANGE_MAX = 1 << 31
"""Largest range g of `bucket`: with 32-bit hash values every bucket must be non-empty."""

_M32 = (1 << 32) - 1
_M64 = (1 << 64) - 1


def mix32(x: int) -> int:
    """A fixed public bijection of 32-bit integers (xor-shift and odd multiplications)."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _M32
    x = ((x ^ (x >> 15)) * 0x846CA68B) & _M32
    return x ^ (x >> 16)


def _split(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _M64
    return z ^ (z >> 31)


def split64(seed: int, i: int) -> int:
    """The i-th output (from 1) of a splitmix64 started at `seed`: 64-bit numbers that look independent."""
    return _split((seed + i * 0x9E3779B97F4A7C15) & _M64)


def expand(seed: int) -> tuple[int, int]:
    """The two 64-bit coefficients (a, b) of a seed."""
    return split64(seed, 1), split64(seed, 2)


def hash32(seed: int, x: int) -> int:
    """The 32-bit hash value of item `x` under `seed`."""
    a, b = expand(seed)
    return ((a * mix32(x) + b) & _M64) >> 32


def bucket(seed: int, x: int, g: int) -> int:
    """The hash value of `x` brought to {0..g-1} by multiplication: bucket sizes differ by at most one in 2**32."""
    return (hash32(seed, x) * g) >> 32
