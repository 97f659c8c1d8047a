"""The loops of `reference`, compiled: the keys of a seed are made once and serve all its positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.types import IntArray, Words
from deniable.kernels.compiled.hashed import mix, split
from deniable.kernels.compiled.jit import compile_loop, inline
from deniable_client.hashing import rounds, shape

__all__ = ["count_places", "walk", "walk_all"]

_BLOCK = 512
"""Positions of a report that go through the rounds together."""


@inline
def _fill(seed: Any, keys: Any) -> None:
    golden = np.uint64(0x9E3779B97F4A7C15)
    z = seed + golden + golden
    for r in range(keys.size):
        z = z + golden
        keys[r] = np.uint32(split(z) >> np.uint64(32))


@inline
def _step(other: Any, key: Any, side: Any) -> Any:
    return np.int64((np.uint64(mix(np.uint32(other) ^ key)) * np.uint64(side)) >> np.uint64(32))


@compile_loop
def _forth(y: Any, keys: Any, a: Any, b: Any, k: Any) -> Any:
    while True:
        left, right = y // b, y % b
        for r in range(0, keys.size, 2):
            left += _step(right, keys[r], a)
            left -= a if left >= a else 0
            right += _step(left, keys[r + 1], b)
            right -= b if right >= b else 0
        y = left * b + right
        if y < k:
            return y


@compile_loop
def _back(y: Any, keys: Any, a: Any, b: Any, k: Any) -> Any:
    while True:
        left, right = y // b, y % b
        for r in range(keys.size - 2, -1, -2):
            right -= _step(left, keys[r + 1], b)
            right += b if right < 0 else 0
            left -= _step(right, keys[r], a)
            left += a if left < 0 else 0
        y = left * b + right
        if y < k:
            return y


def walk(seeds: Words, y: IntArray, k: int, sign: int) -> IntArray:
    out = np.empty(y.size, np.int64)
    _walk(seeds, y.astype(np.int64, copy=False), k, *shape(k), np.empty(rounds(k), np.uint32), sign > 0, out)
    return out


@compile_loop
def _walk(seeds: Any, y: Any, k: Any, a: Any, b: Any, keys: Any, forth: Any, out: Any) -> None:
    for i in range(y.size):
        _fill(seeds[i], keys)
        out[i] = _forth(y[i], keys, a, b, k) if forth else _back(y[i], keys, a, b, k)


def walk_all(seeds: Words, count: int, k: int) -> IntArray:
    out = np.empty((seeds.size, count), np.int64)
    _walk_all(seeds, k, *shape(k), np.empty(rounds(k), np.uint32), out)
    return out


@compile_loop
def _walk_all(seeds: Any, k: Any, a: Any, b: Any, keys: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        _fill(seeds[i], keys)
        for item in range(out.shape[1]):
            out[i, item] = _forth(item, keys, a, b, k)


def count_places(seeds: Words, first: IntArray, length: IntArray, k: int) -> IntArray:
    total = np.zeros(k, np.int64)
    sides = np.empty((2, _BLOCK), np.uint32)
    _count_places(seeds, first, length, k, *shape(k), np.empty(rounds(k), np.uint32), sides, total)
    return total


@compile_loop
def _count_places(
    seeds: Any, first: Any, length: Any, k: Any, a: Any, b: Any, keys: Any, sides: Any, total: Any
) -> None:
    """A block of positions goes through each round together, so that they are handled several at a time."""
    for i in range(seeds.size):
        _fill(seeds[i], keys)
        for start in range(0, length[i], _BLOCK):
            count = min(length[i] - start, _BLOCK)
            left, right = sides[0, :count], sides[1, :count]
            for j in range(count):
                place = first[i] + start + j
                place -= k if place >= k else 0
                left[j], right[j] = place // b, place % b
            for r in range(keys.size - 2, -1, -2):
                _take(right, left, keys[r + 1], np.uint32(b))
                _take(left, right, keys[r], np.uint32(a))
            for j in range(count):
                y = np.int64(left[j]) * b + np.int64(right[j])
                total[y if y < k else _back(y, keys, a, b, k)] += 1


@compile_loop
def _take(value: Any, other: Any, key: Any, side: Any) -> None:
    """One round back for a block: value - step, modulo side."""
    for j in range(value.size):
        step = np.uint32((np.uint64(mix(other[j] ^ key)) * np.uint64(side)) >> np.uint64(32))
        value[j] = np.uint32(value[j] - step + (side if value[j] < step else np.uint32(0)))
