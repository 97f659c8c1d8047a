"""The loops in NumPy. They define the results; `compiled` has the same names and gives the same arrays.

Arrays that a loop changes come first or are said to be changed; nothing here draws randomness: random words come in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.core.types import Bytes, FloatArray, IntArray, UintArray, Words
from deniable.kernels.geometry import coordinates
from deniable.kernels.hashing import bucket, interval_of, interval_rows, mix32, split64
from deniable_client.hashing import rounds, shape

__all__ = [
    "begin",
    "block_of",
    "buckets",
    "compare",
    "count_bits",
    "count_cells",
    "count_hashed",
    "count_intervals",
    "count_orthogonal",
    "count_places",
    "count_values",
    "draw_rows",
    "draw_table",
    "em_levels",
    "near",
    "popcounts",
    "put_bits",
    "respond",
    "scale",
    "settle",
    "unfinished",
    "walk",
    "walk_all",
    "walsh_hadamard",
]

# ---- how often values and bits occur

_ONES = np.uint64(0x0101010101010101)


def count_values(values: NDArray[np.unsignedinteger], k: int) -> IntArray:
    """How often each of 0..k-1 occurs."""
    return np.bincount(values, minlength=k).astype(np.int64)


def count_bits(rows: Bytes, k: int) -> IntArray:
    """How many rows have each of their first k bits set (rows are packed, lowest bit first)."""
    n, width = rows.shape
    lanes = -(-width // 8)
    total = np.zeros((8, lanes * 8), np.int64)
    step = min(255, max(1, n))
    padded = np.zeros((step, lanes * 8), np.uint8)
    for start in range(0, n, step):
        part = rows[start : start + step]
        padded[: len(part), :width] = part
        words = padded[: len(part)].view(np.uint64)
        for bit in range(8):
            sums = ((words >> np.uint64(bit)) & _ONES).sum(axis=0, dtype=np.uint64)
            total[bit] += sums.view(np.uint8)
    return np.ascontiguousarray(total.T).reshape(-1)[:k]


def popcounts(rows: Bytes) -> IntArray:
    """Number of ones in each row."""
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))


def count_cells(
    rows: Bytes, cuts: IntArray, shifts: IntArray, widths: IntArray, circle: int
) -> tuple[IntArray, IntArray]:
    """Where the cells begin that rows are sets of, and the number of cells of each row.

    Row i has a bit for each of the circle/w cells of width w = widths[cuts[i]]; cell c begins at c w - shifts[i] on the
    circle. How often each point is the beginning, a row for each width. Bits after those of the cells do not count.
    """
    starts, sizes = np.zeros((len(widths), circle), np.int64), np.zeros(len(rows), np.int64)
    for i, width in enumerate(widths.tolist()):
        cells = circle // width
        own = np.flatnonzero(cuts == i)
        for at in (own[j : j + _ROWS] for j in range(0, own.size, _ROWS)):
            bits = np.unpackbits(rows[at, : -(-cells // 8)], axis=1, count=cells, bitorder="little")
            row, cell = np.nonzero(bits)
            sizes[at] = bits.sum(axis=1)
            starts[i] += np.bincount((cell * width - shifts[at][row]) % circle, minlength=circle)
    return starts, sizes


_ROWS = 1 << 12
"""Rows whose bits are looked at together."""


# ---- from random words to reports

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def begin(out: Words, lanes: Words, random: Words, pattern: NDArray[np.bool_]) -> None:
    """Compare 64 random numbers per word with a threshold, by their first bits.

    Row i of `random` holds bit i of the random numbers, pattern[i] that of the threshold, highest first. `out` gets 1
    for the numbers known to be less, `lanes` 1 for those that are still undecided: equal to the threshold so far.
    """
    out[:], lanes[:] = 0, _ALL
    _decide(out, lanes, random, pattern)


def unfinished(lanes: Words) -> tuple[IntArray, Words]:
    """The places of the words with undecided lanes, and these lanes."""
    left = np.flatnonzero(lanes)
    return left, lanes[left]


def compare(out: Words, left: IntArray, undecided: Words, random: Words, pattern: NDArray[np.bool_]) -> int:
    """Like `begin` for some further bits of the numbers in the words out[left].

    `left` and `undecided` are changed: the words with undecided lanes come first; returns how many there are.
    """
    n = random.shape[1]
    result, lanes = out[left[:n]], undecided[:n]
    _decide(result, lanes, random, pattern)
    out[left[:n]] = result
    going = np.flatnonzero(lanes)
    left[: going.size], undecided[: going.size] = left[going], lanes[going]
    return int(going.size)


def _decide(result: Words, lanes: Words, random: Words, pattern: NDArray[np.bool_]) -> None:
    """A lane that differs from the threshold's bit is decided: less where that bit is 1."""
    for bits, one in zip(random, pattern.tolist(), strict=True):
        if one:
            result |= lanes & ~bits
            lanes &= bits
        else:
            lanes &= ~bits


def scale(words: UintArray, n: int, bits: int) -> IntArray:
    """floor(word n / 2**bits) of words of at most 32 bits, or -1 where the word is to be drawn again."""
    product = words.astype(np.uint64) * np.uint64(n)
    value = (product >> np.uint64(bits)).astype(np.int64)
    surplus = (1 << bits) % n
    if surplus:
        value[(product & np.uint64((1 << bits) - 1)) < np.uint64(surplus)] = -1
    return value


def respond(out: UintArray, items: IntArray, coins: Words, keep: int, words: UintArray, n: int, bits: int) -> IntArray:
    """Randomised response: out[i] is the item where the coin is below `keep`, else another one, by `scale` of a word.

    Returns the places where a word is to be drawn again.
    """
    lie, number = coins >= np.uint64(keep), scale(words, n, bits)
    out[:] = np.where(lie, number + (number >= items), items)
    return np.flatnonzero(lie & (number < 0))


def near(
    out: UintArray, starts: IntArray, coins: Words, keep: int, words: UintArray, m: int, rest: int, bits: int
) -> IntArray:
    """One of the m numbers from starts[i] on where the coin is below `keep`, else one of the `rest`, by `scale`.

    Returns the places where a word is to be drawn again.
    """
    inside = coins < np.uint64(keep)
    number = np.where(inside, scale(words, m, bits), scale(words, rest, bits))
    out[:] = np.where(inside, number + starts, number + m * (number >= starts))
    return np.flatnonzero(number < 0)


def block_of(
    out: UintArray, items: IntArray, coins: Words, keep: int, words: UintArray, powers: IntArray, shape: tuple[int, ...]
) -> IntArray:
    """A block that holds its item where the coin is below `keep`, else one that does not (`kernels.cyclotomic`).

    `shape` has m, j, zero and the bits of the words, whose two rows choose the union and the point that the item is in
    the unshifted block, by `scale`. Returns the places where words are to be drawn again.
    """
    (m, j, zero, bits), q = shape, powers.size + 1
    step = (q - 1) // m
    own = j * step + zero
    inside = coins < np.uint64(keep)
    union = scale(words[0], m, bits)
    number = np.where(inside, scale(words[1], own, bits), scale(words[1], q - own, bits))
    turn, place = np.divmod(np.maximum(number, 0), step)
    exponent = (union + turn + np.where(inside, 0, j)) % m + m * place
    point = np.where(turn == np.where(inside, j, m - j), 0, powers[exponent])
    out[:] = union * q + (items - point) % q
    return np.flatnonzero((union < 0) | (number < 0))


def settle(
    rows: Bytes, excess: IntArray, pending: IntArray, own: IntArray, words: UintArray, k: int, bits: int
) -> IntArray:
    """Bring the numbers of ones of the pending rows nearer to what they should be.

    Row pending[i] uses words[i] in turn: a word is a position by `scale`, or nothing where it would have to be drawn
    again. The bit there is flipped if that reduces the row's excess of ones; the own bit never is. Changes `rows` and
    `excess`; returns the rows that are still pending.
    """
    for column in words.T:
        at, over = scale(column, k, bits), excess[pending]
        byte, mask = at >> 3, np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
        one = rows[pending, byte] & mask != 0
        change = (over != 0) & (one == (over > 0)) & (at >= 0) & (at != own[pending])
        todo = pending[change]
        rows[todo, byte[change]] ^= mask[change]
        excess[todo] -= np.sign(over[change])
    left: IntArray = pending[excess[pending] != 0]
    return left


def draw_table(words: Words, thresholds: Words) -> IntArray:
    """How many of the thresholds, which ascend, are at most each word: a draw from the law of their differences."""
    return np.searchsorted(thresholds, words, side="right").astype(np.int64)


def put_bits(rows: Bytes, at: IntArray, values: NDArray[np.bool_]) -> None:
    """Set bit at[i] of row i to values[i], in place."""
    where = np.arange(len(rows)), at >> 3
    mask = np.left_shift(np.uint8(1), (at & 7).astype(np.uint8))
    rows[where] = np.where(values, rows[where] | mask, rows[where] & ~mask)


def draw_rows(words: Words, thresholds: Words, items: IntArray) -> IntArray:
    """How many thresholds of row items[i], which ascend, are at most word i. There is at least one in a row.

    Binary search for all words at once: the length halves, and each start moves or not.
    """
    start, length = np.zeros(items.size, np.int64), thresholds.shape[1]
    while length > 1:
        half = length // 2
        start += half * (thresholds[items, start + half - 1] <= words)
        length -= half
    return np.asarray(start + (thresholds[items, start] <= words), np.int64)


# ---- which items reports of the hashing family support

_REPORTS = 1 << 14
"""Reports whose supports are written out at once."""


def buckets(seeds: Words, items: IntArray, g: int) -> IntArray:
    """The bucket 0..g-1 of each item by the hash function of its seed."""
    return bucket(seeds, items, g)


def count_hashed(seeds: Words, values: UintArray, k: int, g: int) -> IntArray:
    """For each of the k items, how many reports (seed, value) have the item in bucket `value` of g.

    Bucket y is an interval of hash values, so one comparison per (report, item) replaces the division.
    """
    return count_intervals(seeds, *interval_of(values, g), k)


def count_intervals(seeds: Words, first: Words, length: Words, k: int) -> IntArray:
    """For each of the k items, how many reports have its hash value in [first, first + length), modulo 2**32.

    Lengths are less than 2**32.
    """
    total = np.zeros(k, np.int64)
    for start in range(0, len(seeds), _REPORTS):
        part = slice(start, start + _REPORTS)
        total += count_bits(interval_rows(seeds[part], first[part], length[part], k), k)
    return total


# ---- the keyed permutation of `deniable_client.hashing`


def walk(seeds: Words, y: IntArray, k: int, sign: int) -> IntArray:
    """Positions of items y (`sign` 1), or items at positions y (`sign` -1), each under its own seed."""
    a, b = shape(k)
    keys = [split64(seeds, r + 3) >> np.uint64(32) for r in range(rounds(k))]
    out = _once(y.astype(np.uint64), keys, a, b, sign)
    pending = np.flatnonzero(out >= np.uint64(k))
    while pending.size:
        out[pending] = _once(out[pending], [key[pending] for key in keys], a, b, sign)
        pending = pending[out[pending] >= np.uint64(k)]
    return out.astype(np.int64)


def walk_all(seeds: Words, count: int, k: int) -> IntArray:
    """Positions of the first `count` items, a row for each seed."""
    every = [walk(seeds, np.full(seeds.size, item), k, 1) for item in range(count)]
    return np.stack(every, axis=1)


def _once(y: Words, keys: list[Words], a: int, b: int, sign: int) -> Words:
    left, right = np.divmod(y, np.uint64(b))
    for r in range(len(keys))[::sign]:
        if r % 2 == 0:
            left = _add(left, right, keys[r], a, sign)
        else:
            right = _add(right, left, keys[r], b, sign)
    return left * np.uint64(b) + right


def _add(value: Words, other: Words, key: Words, side: int, sign: int) -> Words:
    step = (mix32(other ^ key) * np.uint64(side)) >> np.uint64(32)
    total = value + (step if sign > 0 else np.uint64(side) - step)
    return np.where(total >= np.uint64(side), total - np.uint64(side), total)


def count_places(seeds: Words, first: IntArray, length: IntArray, k: int) -> IntArray:
    """For each of the k items, how many reports have it at one of `length` positions from `first` on (a ring of k)."""
    total = np.zeros(k, np.int64)
    for step in range(int(length.max(initial=0))):
        reports = np.flatnonzero(length > step)
        items = walk(seeds[reports], (first[reports] + step) % k, k, -1)
        total += np.bincount(items, minlength=k)
    return total


# ---- decoding and fitting

_PAIRS = 1 << 22
"""Pairs of points whose inner products are taken at once."""


def walsh_hadamard(vector: IntArray | FloatArray) -> None:
    """Transform by the Sylvester matrix, in place; the length is a power of two."""
    step = 1
    while step < vector.size:
        pairs = vector.reshape(-1, 2, step)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        step *= 2


def count_orthogonal(counts: IntArray, prime: int, t: int, k: int) -> IntArray:
    """For each of the first k points of PG(t-1, prime): the sum of `counts` over the points orthogonal to it."""
    seen = np.flatnonzero(counts)
    y, x = coordinates(seen, prime, t), coordinates(np.arange(k), prime, t)
    out = np.zeros(k, np.int64)
    step = max(1, _PAIRS // max(k, 1))
    for start in range(0, seen.size, step):
        part = slice(start, start + step)
        out += (y[part] @ x.T % prime == 0).T.astype(np.int64) @ counts[seen[part]]
    return out


_BITS = 1 << 20
"""Bits of reports that are unpacked at once."""


def em_levels(
    f: FloatArray, rows: Bytes, weights: FloatArray, kinds: IntArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Sums over reports: of (high - low)/likelihood by supported item; of S and of 1 - S over likelihood by class; log.

    They are what a step of expectation maximisation takes over reports of several levels of protection. A report of
    class c (its `kinds`) has likelihood high[c] for the items it supports (its packed bits in `rows`) and low[c] for
    the others; with frequencies f that sum to 1 its likelihood is low + (high - low) S, where S is the frequency of its
    support. It counts `weights` times.
    """
    items, inside, outside, log = np.zeros(f.size), np.zeros(high.size), np.zeros(high.size), 0.0
    step = max(1, _BITS // max(f.size, 1))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        member = np.unpackbits(rows[part], axis=1, count=f.size, bitorder="little").astype(np.float64)
        kind, w = kinds[part], weights[part]
        gain, share = (high - low)[kind], member @ f
        total = low[kind] + gain * share
        log += float(w @ np.log(total))
        each = w / total
        items += (each * gain) @ member
        inside += np.bincount(kind, weights=each * share, minlength=high.size)
        outside += np.bincount(kind, weights=each * (1 - share), minlength=high.size)
    return items, inside, outside, log
