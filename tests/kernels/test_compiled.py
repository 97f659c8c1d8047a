"""The compiled loops give what the NumPy reference gives: the same bytes, or (sums of floats) the same up to 1e-12."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import MissingExtraError
from deniable.kernels import loops, reference, using
from deniable.kernels.cyclotomic import Blocks
from deniable.kernels.sampling import below, bernoulli_bits, near, respond, subset_bits, weighted
from deniable.randomness import simulation
from deniable_client.kernels.geometry import points

pytest.importorskip("numba", reason="the compiled loops need numba: pip install 'deniable[fast]'")
from deniable.kernels import compiled

SEED = 20_240_611


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *key])


def both(call: Callable[[ModuleType], Any]) -> tuple[Any, Any]:
    return call(reference), call(compiled)


def assert_same(one: Any, two: Any) -> None:
    """Equal in type, shape and every byte."""
    if isinstance(one, tuple):
        for a, b in zip(one, two, strict=True):
            assert_same(a, b)
        return
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        np.testing.assert_array_equal(one, two)
        return
    assert one == two


def test_both_sets_have_the_same_names() -> None:
    assert reference.__all__ == compiled.__all__
    assert all(callable(getattr(module, name)) for module in (reference, compiled) for name in module.__all__)


@pytest.mark.parametrize(("dtype", "k"), [(np.uint8, 2), (np.uint8, 256), (np.uint16, 1000), (np.uint32, 70_000)])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 1001])
def test_count_values(dtype: Any, k: int, n: int) -> None:
    values = generator(k, n).integers(0, k, n).astype(dtype)
    assert_same(*both(lambda loop: loop.count_values(values, k)))


WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 31, 63, 64, 125, 126, 300, 2049]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 127, 128, 129, 700])
def test_count_bits_and_popcounts(width: int, n: int) -> None:
    rows = np.frombuffer(generator(width, n).bytes(n * width), np.uint8).reshape(n, width)
    for k in {8 * width, max(1, 8 * width - 5)}:
        assert_same(*both(lambda loop, k=k: loop.count_bits(rows, k)))
    assert_same(*both(lambda loop: loop.popcounts(rows)))


@pytest.mark.parametrize("width", [1, 5, 8])
def test_count_bits_of_more_rows_than_a_counter_holds(width: int) -> None:
    n = 16**4 * (8 // np.gcd(width, 8)) + 1000
    rows = np.full((n, width), 255, np.uint8)
    rows[::3] = np.frombuffer(generator(width).bytes(rows[::3].size), np.uint8).reshape(-1, width)
    assert_same(*both(lambda loop: loop.count_bits(rows, 8 * width)))


def test_rows_need_not_be_contiguous_or_aligned() -> None:
    data = np.frombuffer(generator(1).bytes(3 + 400 * 21), np.uint8)
    for rows in (data[3:].reshape(400, 21), data[3:].reshape(400, 21)[::2], data[3:].reshape(400, 21)[:, 2:15]):
        assert_same(*both(lambda loop, rows=rows: loop.count_bits(rows, 8 * rows.shape[1])))
        assert_same(*both(lambda loop, rows=rows: loop.popcounts(rows)))


@pytest.mark.parametrize(("circle", "widths"), [(2, (1,)), (9, (1, 3)), (24, (1, 2, 8)), (300, (1, 4, 75))])
@pytest.mark.parametrize("n", [0, 1, 500])
def test_count_cells(circle: int, widths: tuple[int, ...], n: int) -> None:
    """Any bits, also after those of the cells."""
    rng, width = generator(circle, n), -(-circle // 8)
    rows = np.frombuffer(rng.bytes(n * width), np.uint8).reshape(n, width)
    cuts = rng.integers(0, len(widths), n)
    shifts = rng.integers(0, np.array(widths)[cuts] if n else 1, n)
    found = both(lambda loop: loop.count_cells(rows, cuts, shifts, np.array(widths), circle))
    assert_same(*found)
    assert found[0][0].sum() == found[0][1].sum()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9, 1000])
@pytest.mark.parametrize("g", [2, 3, 4, 5, 100])
@pytest.mark.parametrize("n", [0, 1, 1024, 9000])
def test_count_hashed(k: int, g: int, n: int) -> None:
    if n * k > 5_000_000:
        n = 1500
    rng = generator(k, g, n)
    seeds, values = rng.integers(0, 2**64, n, dtype=np.uint64), rng.integers(0, g, n).astype(np.uint8)
    assert_same(*both(lambda loop: loop.count_hashed(seeds, values, k, g)))


@pytest.mark.parametrize("n", [0, 1, 2000])
def test_count_intervals_that_go_round_the_ring(n: int) -> None:
    rng = generator(n)
    seeds = rng.integers(0, 2**64, n, dtype=np.uint64)
    first, length = rng.integers(0, 2**32, (2, n), dtype=np.uint64)
    assert_same(*both(lambda loop: loop.count_intervals(seeds, first, length, 77)))


@pytest.mark.parametrize("levels", [1, 2, 5, 8])
@pytest.mark.parametrize("n", [1, 3, 4, 511, 512, 513, 5000])
def test_begin_and_unfinished(levels: int, n: int) -> None:
    rng = generator(levels, n)
    random, pattern = rng.integers(0, 2**64, (levels, n), dtype=np.uint64), rng.random(levels) < 0.5

    def begin(loop: ModuleType) -> tuple[Any, ...]:
        out, lanes = np.empty(n, np.uint64), np.empty(n, np.uint64)
        loop.begin(out, lanes, random, pattern)
        return out, lanes, *loop.unfinished(lanes)

    assert_same(*both(begin))


@pytest.mark.parametrize("levels", [1, 4, 9])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_compare(levels: int, n: int) -> None:
    rng = generator(levels, n)
    random, pattern = rng.integers(0, 2**64, (levels, n), dtype=np.uint64), rng.random(levels) < 0.5
    before, places = rng.integers(0, 2**64, 3 * n, dtype=np.uint64), rng.permutation(3 * n)[:n]
    lanes = rng.integers(0, 2**64, n, dtype=np.uint64) & rng.integers(0, 2**64, n, dtype=np.uint64)

    def compare(loop: ModuleType) -> tuple[Any, ...]:
        out, left, undecided = before.copy(), places.copy(), lanes.copy()
        count = loop.compare(out, left, undecided, random, pattern)
        return out, left[:count], undecided[:count]

    assert_same(*both(compare))


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (16, np.uint16), (32, np.uint32)])
@pytest.mark.parametrize("n", [1, 2, 3, 100, 255, 256])
def test_scale_and_respond(bits: int, dtype: Any, n: int) -> None:
    rng = generator(bits, n)
    words, items = rng.integers(0, 1 << bits, 4000).astype(dtype), rng.integers(0, n + 1, 4000)
    coins = rng.integers(0, 2**64, 4000, dtype=np.uint64)
    assert_same(*both(lambda loop: loop.scale(words, n, bits)))
    keep = 1 << 62

    def answer(loop: ModuleType) -> tuple[Any, ...]:
        out = np.zeros(4000, np.uint16)
        again = loop.respond(out, items, coins, keep, words, n, bits)
        out[again] = 0
        return out, again

    assert_same(*both(answer))

    def answer_near(loop: ModuleType) -> tuple[Any, ...]:
        out = np.zeros(4000, np.uint16)
        again = loop.near(out, items, coins, keep, words, 3, n, bits)
        out[again] = 0
        return out, again

    assert_same(*both(answer_near))


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (32, np.uint32)])
@pytest.mark.parametrize("numbers", [(3, 1, 0, 1, 2), (7, 3, 1, 0, 3), (13, 4, 2, 1, 2), (101, 50, 13, 1, 2)], ids=str)
def test_block_of(bits: int, dtype: Any, numbers: tuple[int, ...]) -> None:
    """Half of the coins keep; words of 8 bits are often drawn again."""
    q, m, j, zero, g = numbers
    rng = generator(bits, *numbers)
    items, coins = rng.integers(0, q, 4000), rng.integers(0, 1 << 63, 4000).astype(np.uint64) << np.uint64(1)
    words = rng.integers(0, 1 << bits, (2, 4000)).astype(dtype)
    powers = Blocks(q, m, j, zero, g).powers

    def answer(loop: ModuleType) -> tuple[Any, ...]:
        out = np.zeros(4000, np.uint16)
        again = loop.block_of(out, items, coins, 1 << 63, words, powers, (m, j, zero, bits))
        out[again] = 0
        return out, again

    assert_same(*both(answer))


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (32, np.uint32)])
@pytest.mark.parametrize("k", [2, 3, 8, 9, 100, 255])
def test_settle_and_put_bits(bits: int, dtype: Any, k: int) -> None:
    rng = generator(bits, k)
    n, width = 300, -(-k // 8)
    start = np.packbits(rng.random((n, k)) < 0.4, axis=1, bitorder="little")
    own, values = rng.integers(0, k, n), rng.random(n) < 0.5
    pending = np.flatnonzero(rng.random(n) < 0.7)
    words = rng.integers(0, 1 << bits, (pending.size, 5)).astype(dtype)
    wanted = rng.integers(0, k, n)

    def settle(loop: ModuleType) -> tuple[Any, ...]:
        rows = start.copy()
        loop.put_bits(rows, own, values)
        excess = loop.popcounts(rows) - wanted
        left = loop.settle(rows, excess, pending, own, words, k, bits)
        return rows, excess, left

    one, two = both(settle)
    assert_same(one, two)
    assert one[0].shape == (n, width)
    assert one[2].size < pending.size


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 8, 100])
def test_draw_table(size: int) -> None:
    rng = generator(size)
    thresholds = np.sort(rng.integers(0, 2**64, size, dtype=np.uint64))
    thresholds[size // 2 :] = np.maximum(thresholds[size // 2 :], thresholds[size // 2] if size else 0)
    words = np.concatenate([rng.integers(0, 2**64, 500, dtype=np.uint64), thresholds, thresholds - np.uint64(1)])
    assert_same(*both(lambda loop: loop.draw_table(words, thresholds)))


@pytest.mark.parametrize("size", [1, 2, 4, 64, 4096, 16_384])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_walsh_hadamard(size: int, kind: Any) -> None:
    vector = generator(size).integers(-1000, 1000, size).astype(kind)

    def transformed(loop: ModuleType) -> Any:
        out = vector.copy()
        loop.walsh_hadamard(out)
        return out

    assert_same(*both(transformed))


@pytest.mark.parametrize(("prime", "t"), [(2, 2), (2, 6), (3, 4), (5, 3), (7, 2), (11, 3)])
def test_count_orthogonal(prime: int, t: int) -> None:
    rng, size = generator(prime, t), points(prime, t)
    counts = rng.integers(0, 10**9, size) * (rng.random(size) < 0.8)
    for k in (2, size // 2 + 2, size):
        assert_same(*both(lambda loop, k=k: loop.count_orthogonal(counts, prime, t, min(k, size))))


@pytest.mark.parametrize("k", [2, 3, 1000])
@pytest.mark.parametrize("g", [2, 7, 1000])
def test_buckets(k: int, g: int) -> None:
    rng = generator(k, g)
    seeds, items = rng.integers(0, 2**64, 1000, dtype=np.uint64), rng.integers(0, k, 1000)
    assert_same(*both(lambda loop: loop.buckets(seeds, items, g)))


@pytest.mark.parametrize("k", [2, 3, 10, 1023, 1024, 1025, 10**6, 2**32])
@pytest.mark.parametrize("sign", [1, -1])
def test_walk(k: int, sign: int) -> None:
    rng = generator(k)
    seeds, items = rng.integers(0, 2**64, 300, dtype=np.uint64), rng.integers(0, k, 300)
    assert_same(*both(lambda loop: loop.walk(seeds, items, k, sign)))


@pytest.mark.parametrize(("k", "n"), [(2, 0), (5, 40), (64, 7), (1100, 3)])
def test_walk_all(k: int, n: int) -> None:
    seeds = generator(k, n).integers(0, 1 << 63, n).astype(np.uint64)
    for count in {1, k // 2 + 1, min(k, 40)}:
        found = both(lambda loop, count=count: loop.walk_all(seeds, count, k))
        assert_same(*found)
        assert all(len(set(row)) == count for row in found[0].tolist())


@pytest.mark.parametrize("n", [0, 1, 200])
@pytest.mark.parametrize("k", [2, 3, 10, 700, 1025])
def test_count_places_that_go_round_the_ring(k: int, n: int) -> None:
    rng = generator(k, n)
    seeds, first = rng.integers(0, 2**64, n, dtype=np.uint64), rng.integers(0, k, n)
    length = rng.integers(0, k + 1, n)
    assert_same(*both(lambda loop: loop.count_places(seeds, first, length, k)))


@pytest.mark.parametrize("k", [2, 7, 8, 100, 1500])
def test_em_sums_agree_up_to_rounding(k: int) -> None:
    rng = generator(k)
    n, f = 700, rng.dirichlet(np.ones(k))
    high, low, kinds = np.array([3.0, 0.2]), np.array([1.0, 0.9]), rng.integers(0, 2, n)
    rows = np.packbits(rng.random((n, k)) < 0.3, axis=1, bitorder="little")
    weights = rng.integers(1, 3, n).astype(float)
    for one, two in zip(*both(lambda loop: loop.em_levels(f, rows, weights, kinds, high, low)), strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-12, atol=0)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    threshold=st.one_of(st.integers(0, 2**64), st.sampled_from([1, 2**63, 2**64 - 1, 3 << 62, 1 << 56])),
    size=st.integers(0, 70_000),
)
def test_same_random_bits_from_the_same_words(seed: int, threshold: int, size: int) -> None:
    drawn = []
    for name in ("reference", "compiled"):
        with using(name):
            stream = simulation(seed)
            drawn.append((bernoulli_bits(stream, threshold, size), stream.draw(64, 1)))
    assert_same(*drawn)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    k=st.one_of(st.integers(2, 20), st.integers(60, 70), st.sampled_from([2, 8, 64, 1000, 1008])),
    n=st.integers(0, 300),
    data=st.data(),
)
def test_same_reports_from_the_same_words(seed: int, k: int, n: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, k - 1))
    rng = generator(seed, k, n)
    own, kept = rng.integers(0, k, n), rng.random(n) < 0.5
    thresholds = np.sort(rng.integers(0, 2**64, k - 1, dtype=np.uint64))
    drawn = []
    for name in ("reference", "compiled"):
        with using(name):
            stream = simulation(seed)
            drawn.append(
                (
                    subset_bits(stream, k, np.full(n, size), own, kept),
                    respond(stream, own, k, 1 << 62, np.uint16),
                    below(stream, k, n),
                    near(stream, np.minimum(own, k - size), size, k, 1 << 62, np.uint16),
                    weighted(stream, thresholds, n),
                    stream.draw(64, 1),
                )
            )
    assert_same(*drawn)


def test_the_set_in_use_can_be_chosen() -> None:
    before = loops()
    with using("reference") as outer:
        assert loops() is outer is reference
        with using("compiled") as inner:
            assert loops() is inner is compiled
        assert loops() is reference
    assert loops() is before


def test_without_numba_the_compiled_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    with pytest.raises(MissingExtraError, match=r"deniable\[fast\]"), using("compiled"):
        pass


@pytest.mark.parametrize("outputs", [2, 3, 7, 64, 513])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_draws_by_row(outputs: int, n: int) -> None:
    rng = generator(outputs, n)
    thresholds = np.sort(rng.integers(0, 1 << 64, (5, outputs - 1), np.uint64, endpoint=False), axis=1)
    items, words = rng.integers(0, 5, n), rng.integers(0, 1 << 64, n, np.uint64, endpoint=False)
    words[: n // 2] = thresholds[items[: n // 2], rng.integers(0, outputs - 1, n // 2)]  # at the borders themselves
    one, two = both(lambda loop: loop.draw_rows(words, thresholds, items))
    assert_same(one, two)
    plain = [int(np.searchsorted(thresholds[x], word, side="right")) for x, word in zip(items, words, strict=True)]
    assert one.tolist() == plain
