"""A keyed permutation of {0..k-1}, for balanced hashing: every block of the partition gets its fair share of items.

A Feistel network on pairs (left, right) with left < a and right < b, where a is near the square root of k and b is even
(else only half of all permutations could occur); results outside 0..k-1 are permuted again (cycle walking). That it
behaves like a uniformly random permutation is an assumption: tested over all permutations of few items, and for pairs
and triples of many. Privacy does not depend on it.
"""

from __future__ import annotations

from math import isqrt

from deniable_client.hashing import mix32, split64

__all__ = ["permute", "rounds", "shape", "unpermute"]


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
