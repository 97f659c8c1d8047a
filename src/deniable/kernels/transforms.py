"""Decoding of counted reports: Walsh-Hadamard transform, orthogonal points, arcs of hash values."""

from __future__ import annotations

from functools import cache
from itertools import count

import numpy as np

from deniable.core.types import IntArray, Words
from deniable.errors import InWords, require
from deniable.kernels import loops
from deniable.kernels.geometry import coordinates
from deniable_client.kernels.geometry import is_prime

__all__ = ["count_intervals", "count_orthogonal", "walsh_hadamard"]


def walsh_hadamard(counts: IntArray) -> IntArray:
    """The transform by the Sylvester matrix of a vector whose length is a power of two."""
    ok = counts.size > 0 and counts.size & (counts.size - 1) == 0
    require(ok, "counts", InWords(f"a vector of {counts.size}"), "a vector whose length is a power of two")
    out: IntArray = counts.copy()
    loops().walsh_hadamard(out)
    return out


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    """For each of the k items, how many reports have its hash value in [first, first + length), modulo 2**32."""
    out: IntArray = loops().count_intervals(seeds, first, length, k)
    return out


def count_orthogonal(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    """For each of the first k points of PG(t-1, prime): the sum of `counts` over the points orthogonal to it.

    Pair by pair, or by a transform of all prime**t vectors where that is less work.
    """
    pairs = k * np.count_nonzero(counts)
    if 2 * t * prime ** (t + 1) < pairs:
        return orthogonal_by_transform(counts, prime, t, k)
    out: IntArray = loops().count_orthogonal(counts, prime, t, k)
    return out


def orthogonal_by_transform(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    """`count_orthogonal` by a discrete Fourier transform in whole numbers, modulo a large prime.

    Give every multiple of a point the point's count. The transform at x is then the sum over points y of the count of y
    times prime - 1 if <x, y> = 0, and -1 if not: prime N(x) - n, where N(x) is what is wanted and n the sum of all.
    """
    total = int(counts.sum())
    first, second = _moduli(prime)
    require(0 <= total < first * second, "counts", total, f"of a sum below {first * second}")
    points, wanted = coordinates(np.arange(counts.size), prime, t), coordinates(np.arange(k), prime, t)
    places = prime ** np.arange(t - 1, -1, -1)
    vectors = np.zeros(prime**t, np.int64)
    for factor in range(1, prime):
        vectors[(factor * points % prime) @ places] = counts

    def residues(m: int) -> IntArray:
        at_x = _transform(vectors, prime, t, m)[wanted @ places]
        return np.asarray((at_x + total % m) % m * pow(prime, -1, m) % m)

    out = residues(first)
    if total >= first:
        out += first * ((residues(second) - out) % second * pow(first, -1, second) % second)
    return out


@cache
def _moduli(prime: int) -> tuple[int, int]:
    """Two primes above 2**30, below 2**31, that have roots of unity of order `prime`."""
    step = 2 * prime
    found = (m for m in count(1 + step * ((1 << 30) // step + 1), step) if is_prime(m))
    return next(found), next(found)


def _transform(vectors: IntArray, prime: int, t: int, modulus: int) -> IntArray:
    """Coordinate by coordinate; all products stay below 2**62."""
    root = next(r for r in (pow(b, (modulus - 1) // prime, modulus) for b in count(2)) if r != 1)
    powers = [pow(root, i, modulus) for i in range(prime)]
    out = vectors % modulus
    for axis in range(t):
        old = out.reshape(prime**axis, prime, -1)
        new = np.zeros_like(old)
        for a in range(prime):
            for b in range(prime):
                new[:, a] = (new[:, a] + powers[a * b % prime] * old[:, b]) % modulus
        out = new.reshape(-1)
    return out
