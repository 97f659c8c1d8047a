"""The one hash: items to 32-bit values, from a 64-bit seed that every report carries; and a keyed permutation.

h(x) = ((a * mix(x) + b) mod 2**64) >> 32. `mix` is a fixed public bijection of 32-bit integers; (a, b) are
expanded from the seed. For uniform (a, b) the values of two different items are exactly uniform and
independent [Dietz97]: mix(x) != mix(x') differ in 32 bits and 64 - 32 >= 32 bits are kept.

The permutation of {0..k-1} is for balanced hashing: every block of the partition gets its fair share of items. It is
a Feistel network on pairs (left, right) with left < a and right < b, where a is near the square root of k and b is even
(else only half of all permutations could occur); results outside 0..k-1 are permuted again (cycle walking). That it
behaves like a uniformly random permutation is an assumption: tested over all permutations of few items, and for pairs
and triples of many. Privacy does not depend on it.
"""

from __future__ import annotations

from math import isqrt

__all__ = [
    "ITEMS_MAX",
    "RANGE_MAX",
    "bucket",
    "expand",
    "hash32",
    "mix32",
    "permute",
    "rounds",
    "shape",
    "split64",
    "unpermute",
]

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


# ---- the keyed permutation


def rounds(k: int) -> int:
    """Number of rounds: small rectangles mix slowly and need more."""
    return 24 if k < 1024 else 12


def shape(k: int) -> tuple[int, int]:
    """The sides (a, b) of the rectangle that holds 0..k-1."""
    a = isqrt(k - 1) + 1
    b = -(-k // a)
    return a, b + b % 2


def _once(y: int, keys: list[int], a: int, b: int, sign: int) -> int:
    left, right = divmod(y, b)
    for r in range(len(keys))[::sign]:
        if r % 2 == 0:
            left = (left + sign * ((mix32(right ^ keys[r]) * a) >> 32)) % a
        else:
            right = (right + sign * ((mix32(left ^ keys[r]) * b) >> 32)) % b
    return left * b + right


def _walk(seed: int, y: int, k: int, sign: int) -> int:
    keys, (a, b) = [split64(seed, r + 3) >> 32 for r in range(rounds(k))], shape(k)
    while True:
        y = _once(y, keys, a, b, sign)
        if y < k:
            return y


def permute(seed: int, x: int, k: int) -> int:
    """The position of item `x` under the permutation of `seed`."""
    return _walk(seed, x, k, 1)


def unpermute(seed: int, position: int, k: int) -> int:
    """The item at a position: the inverse of `permute`."""
    return _walk(seed, position, k, -1)
