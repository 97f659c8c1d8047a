"""What this machine can do at most: each limit is the unavoidable part of some work, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import best
from numba import njit

from deniable.kernels import loops, parallel, sampling
from deniable.kernels.hashing import mix32
from deniable.randomness import secure

COPIED = 1 << 27
"""Bytes that are copied and read: more than the caches hold."""
LEVELS, WORDS = 8, 1 << 13
"""Bits of 64 random numbers per word that decide nearly all of them; words of answers that are made at a time."""


def on_all_cores(work: Callable[[int], object]) -> float:
    """Seconds for `work` of every thread's number, all of them at once."""
    return best(lambda: parallel.run(work, range(parallel.threads())))


def copy() -> float:
    """Seconds to copy a byte of memory."""
    source, target = np.ones(COPIED, np.uint8), np.empty(COPIED, np.uint8)
    parts = parallel.shares(COPIED)
    return on_all_cores(lambda i: np.copyto(target[parts[i]], source[parts[i]])) / COPIED


def read() -> float:
    """Seconds to read a byte of memory."""
    source = np.ones(COPIED // 8, np.uint64)
    parts = parallel.shares(source.size)
    return on_all_cores(lambda i: np.bitwise_xor.reduce(source[parts[i]])) / COPIED


def cipher() -> float:
    """Seconds for a byte of the secure stream."""
    streams, size, turns = secure().spawn(parallel.threads()), 1 << 16, 100

    def work(i: int) -> None:
        for _ in range(turns):
            streams[i].draw(64, size)

    return on_all_cores(work) / (8 * size * turns * len(streams))


def random_bits() -> float:
    """Seconds for a random bit of any probability: the secure stream for 8 bits of it, and the loop that compares."""
    streams, turns = secure().spawn(parallel.threads()), 100
    pattern = np.array([1, 0, 1, 1, 0, 1, 0, 1], np.bool_)

    def work(i: int) -> None:
        out, lanes = np.empty(WORDS, np.uint64), np.empty(WORDS, np.uint64)
        for _ in range(turns):
            loops().begin(out, lanes, sampling._levels(streams[i], LEVELS, WORDS), pattern)

    return on_all_cores(work) / (64 * WORDS * turns * len(streams))


def hashes() -> float:
    """Seconds for one hash value, in the loop that counts supports but without comparing and counting."""
    reports, k = 20_000, 1000
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 2**64, reports, dtype=np.uint64) for _ in range(2))
    mixed = mix32(np.arange(k)).astype(np.uint32)
    parts = parallel.shares(reports)
    return on_all_cores(lambda i: _hash_all(a[parts[i]], b[parts[i]], mixed)) / (reports * k)


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _hash_all(a: Any, b: Any, mixed: Any) -> Any:
    """All hash values of reports and items, four items at a time; their exclusive or, so that none is left out."""
    out = np.uint64(0)
    for s in range(0, a.size, 1024):
        x, y = a[s : s + 1024], b[s : s + 1024]
        for i in range(0, mixed.size - 3, 4):
            m0, m1 = np.uint64(mixed[i]), np.uint64(mixed[i + 1])
            m2, m3 = np.uint64(mixed[i + 2]), np.uint64(mixed[i + 3])
            for j in range(x.size):
                out ^= (x[j] * m0 + y[j]) ^ (x[j] * m1 + y[j]) ^ (x[j] * m2 + y[j]) ^ (x[j] * m3 + y[j])
    return out


def measure() -> dict[str, float]:
    """All limits, in nanoseconds."""
    kinds = {"copy": copy, "read": read, "cipher": cipher, "random_bit": random_bits, "hash": hashes}
    return {name: limit() * 1e9 for name, limit in kinds.items()}
