"""The channel kernel: every limit between two values in whole numbers, and what is said of values that have none."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

import deniable as dn
from deniable_client import Device, explain
from deniable_client.errors import FormatError, ParameterError, PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Channel, kernel_from, kernel_to
from deniable_client.words import ReplayWords

WORD, HALF = 1 << 64, 1 << 63
INF = math.inf

OPEN = Channel(((HALF, HALF, 0), (HALF // 2, HALF // 2, HALF)), ((0.0, 0.7), (INF, 0.0)))
"""Value 0 is protected; a report for value 1 shows it half of the time."""
BLOCKS = Channel(
    (
        (HALF + (HALF >> 1), HALF >> 1, 0, 0),
        (HALF >> 1, HALF + (HALF >> 1), 0, 0),
        (0, 0, HALF + 1, HALF - 1),
        (0, 0, HALF - 1, HALF + 1),
    ),
    ((0.0, 1.1, INF, INF), (1.1, 0.0, INF, INF), (INF, INF, 0.0, 0.5), (INF, INF, 0.5, 0.0)),
)
"""The block of a value is told, the value in it is not."""


def design(kernel: Channel, labels: str, **params: Any) -> dict[str, Any]:
    """A design of this kernel."""
    told = {"mechanism": "matrix", "version": 1, "epsilon": kernel.limit, "domain": {"labels": list(labels)}}
    return {**told, "params": params, "kernel": kernel_to(kernel)}


def some(rng: random.Random) -> Channel:
    """Any channel of a few values whose limits are as tight as whole numbers allow, some of them infinite."""
    k, outputs = rng.randint(2, 4), rng.randint(2, 5)
    rows = []
    for _ in range(k):
        parts = [rng.choice([0, 1, 1, 2, 5]) for _ in range(outputs)]
        parts[rng.randrange(outputs)] += 3
        row = [WORD * part // sum(parts) for part in parts]
        row[parts.index(max(parts))] += WORD - sum(row)
        rows.append(tuple(row))
    budgets = [[0.0] * k for _ in range(k)]
    for x, z in permutations(range(k), 2):
        ratio = largest(rows[x], rows[z])
        free = ratio is None or rng.random() < 0.3
        budgets[x][z] = INF if free or ratio is None else math.nextafter(math.log(ratio) + 1e-12, INF)
    return Channel(tuple(rows), tuple(map(tuple, budgets)))


def largest(one: tuple[int, ...], other: tuple[int, ...]) -> Fraction | None:
    """The largest ratio of an output for two rows; None: infinite."""
    if any(a and not b for a, b in zip(one, other, strict=True)):
        return None
    return max(Fraction(a, b) for a, b in zip(one, other, strict=True) if b)


def test_the_law_for_all_first_bytes_of_words() -> None:
    """Weights that are multiples of 2^56 are decided by the first byte of a word; what has no weight never comes."""
    bytes_of = [(200, 0, 56), (0, 255, 1)]
    kernel = Channel(tuple(tuple(b << 56 for b in row) for row in bytes_of), ((0.0, INF), (INF, 0.0)))
    for x, row in enumerate(bytes_of):
        found = Counter(kernel.randomise(x, ReplayWords([(b << 56) + 12345]))[0] for b in range(256))
        assert [found[y] for y in range(3)] == list(row)


def test_every_limit_is_the_one_of_the_enumerated_channel() -> None:
    """Over 300 random channels: kept as they are, broken if one weight moves, and told as enumerated."""
    rng, moved = random.Random(7), 0
    for _ in range(300):
        kernel = some(rng)
        assert not list(kernel.breaches())
        k = kernel.k
        pairs = [(x, z) for x, z in permutations(range(k), 2) if kernel.budgets[x][z] < INF]
        found = [largest(kernel.weights[x], kernel.weights[z]) for x, z in pairs]
        hidden = max([Fraction(1), *(ratio for ratio in found if ratio is not None)])
        assert kernel.hidden_ratio == hidden <= exp_bounds(kernel.limit)[0]
        told = [Fraction(0)] * k
        for x, weight in product(range(k), zip(*kernel.weights, strict=True)):
            told[x] += Fraction(weight[x], WORD) if any(weight[x] > hidden * other for other in weight) else 0
        assert kernel.disclosed == max(told)
        ends = kernel.protected
        kept = {x for a, b in zip(ends[::2], ends[1::2], strict=True) for x in range(a, b)}
        assert kept == {x for x in range(k) if not told[x]}
        moved += broken_by_a_unit(kernel)
    assert moved > 150  # the limits were tight: a small move breaks most of them


def broken_by_a_unit(kernel: Channel) -> bool:
    """Whether a share of 1e-9 of an output, moved to where a limit is tight, is noticed, and is a breach indeed."""
    for x, z in permutations(range(kernel.k), 2):
        if kernel.budgets[x][z] == INF:
            continue
        ratios = [Fraction(a, b) if b else 0 for a, b in zip(kernel.weights[x], kernel.weights[z], strict=True)]
        y = ratios.index(max(ratios))
        rows = [list(row) for row in kernel.weights]
        step = rows[x][y] // 10**9 + 2
        source = next((i for i, weight in enumerate(rows[x]) if i != y and weight > step), None)
        if source is None:
            continue
        rows[x][y] += step
        rows[x][source] -= step
        changed = Channel(tuple(map(tuple, rows)), kernel.budgets)
        found = list(changed.breaches())
        for output, one, two in found:
            limit = exp_bounds(changed.budgets[one][two])[0]
            assert changed.weights[one][output] > limit * changed.weights[two][output]
        with pytest.raises(PrivacyError, match=r"value number \d is promised"):
            changed.check_promises({})
        return bool(found)
    return False


def test_the_bound_is_decided_by_its_last_unit() -> None:
    low = exp_bounds(1.0)[0]
    small = -(-WORD * low.denominator // (low.numerator + low.denominator))  # the least share within e^1
    for off, kept in ((0, True), (-1, False)):
        one = small + off
        kernel = Channel(((one, WORD - one), (WORD - one, one)), ((0.0, 1.0), (1.0, 0.0)))
        assert (not list(kernel.breaches())) is kept
    rare = 1 << 60
    most = rare * low.numerator // low.denominator
    for often, kept in ((most, True), (most + 1, False)):  # one weight alone, and no limit the other way
        kernel = Channel(((often, WORD - often), (rare, WORD - rare)), ((0.0, 1.0), (INF, 0.0)))
        assert (not list(kernel.breaches())) is kept


def test_something_by_nothing_is_a_breach_that_is_named() -> None:
    kernel = Channel(((HALF, HALF), (WORD, 0)), ((0.0, 40.0), (INF, 0.0)))
    with pytest.raises(PrivacyError, match=r"value number 0 is promised 40\.0 against number 1.*output 1"):
        _ = kernel.hidden_ratio
    with pytest.raises(PrivacyError, match="value number 0"):
        explain(design(kernel, "ab"))


def test_a_kernel_is_read_as_it_is_written() -> None:
    document = kernel_to(OPEN)
    assert document["budgets"] == [[0.0, 0.7], ["inf", 0.0]]
    assert document["weights"][0] == [str(HALF), str(HALF), "0"]
    assert kernel_from(document) == OPEN


def test_ten_values_with_forty_outputs_are_proved_in_no_time() -> None:
    rng = random.Random(3)
    rows = []
    for _ in range(10):
        row = [rng.randrange(1 << 57, 1 << 58) for _ in range(39)]
        rows.append((*row, WORD - sum(row)))
    kernel = Channel(tuple(rows), tuple(tuple(0.0 if x == z else 3.0 + x / 10 for z in range(10)) for x in range(10)))
    start = time.process_time()
    kernel.check_promises({})
    assert kernel.hidden_ratio > 1
    assert time.process_time() - start < 0.05


def test_what_is_said_where_some_answers_have_no_limit() -> None:
    told = explain(design(OPEN, "ab"))
    assert told.harmless == ("b",)
    assert told.chance == Fraction(1, 2)
    assert told.ratio == 2
    assert "protection: 'a'. With such an answer" in str(told)
    assert "at most 2.00 times as likely" in str(told)
    assert "Not protected against every other answer: 'b'. In 50.0 % of the cases" in str(told)
    assert "own limit: 'a' 0.7, 'b' none." in str(told)
    assert "in 96.9 % of the cases" in told.over(5).text
    assert "without a limit" in told.unread
    with pytest.raises(PrivacyError, match="may disclose 'b'"):
        Device(design(OPEN, "ab"))
    assert len(Device(design(OPEN, "ab"), harmless=["b"]).report("a")) == 1


def test_what_is_said_where_every_answer_has_a_limit_against_some_others_only() -> None:
    told = explain(design(BLOCKS, "abcd"))
    assert told.harmless == ("a", "b", "c", "d")
    assert told.chance == 1
    assert told.ratio == 3
    assert str(told).startswith("Good protection, but only between answers that have a limit")
    assert "In every case the report" in str(told)
    assert "'a' 1.101 or none" in str(told)
    assert "no report names it" not in str(told)


def test_equal_limits_to_all_are_said_as_of_any_other_mechanism() -> None:
    kernel = Channel(((HALF + 1, HALF - 1), (HALF - 1, HALF + 1)), ((0.0, 1.0), (1.0, 0.0)))
    told = explain(design(kernel, "ab"))
    assert told.disclosed == ()
    assert str(told).startswith("Every answer has")
    assert "own limit" not in str(told)


def test_a_limit_that_is_not_used_is_not_a_disclosure() -> None:
    """No limit was asked for, and the channel keeps the largest one all the same: nothing is told of it."""
    kernel = Channel(((HALF + 1, HALF - 1), (HALF - 1, HALF + 1)), ((0.0, 1.0), (INF, 0.0)))
    told = explain(design(kernel, "ab"))
    assert told.disclosed == ()
    assert told.ratio == Fraction(HALF + 1, HALF - 1)


ROWS = ((HALF, HALF), (HALF, HALF))
ONES = ((0.0, 1.0), (1.0, 0.0))


@pytest.mark.parametrize(
    ("weights", "budgets", "said"),
    [
        (((HALF, HALF), (HALF, HALF - 1)), ONES, r"weights\[1\] must be integers whose sum is 2\*\*64"),
        (((HALF, HALF), (WORD + 1, -1)), ONES, r"weights\[1\] must be integers >= 0"),
        (((HALF, HALF), (HALF, HALF, 0)), ONES, "rows of one length"),
        (((WORD,), (WORD,)), ONES, "outputs must be at least 2"),
        (((HALF, HALF), (float(HALF), float(HALF))), ONES, "integers >= 0"),
        (ROWS, ((0.0, 1.0),), "2 rows of 2 budgets"),
        (ROWS, ((0.0, 1.0), (1.0,)), "2 rows of 2 budgets"),
        (ROWS, ((0.0, 1.0), (1.0, 0.5)), r"budgets\[1\]\[1\] must be 0"),
        (ROWS, ((0.0, -1.0), (1.0, 0.0)), r"budgets\[0\]\[1\] must be 0, a number from 1e-12 to 40, or infinite"),
        (ROWS, ((0.0, math.nan), (1.0, 0.0)), r"budgets\[0\]\[1\]"),
        (ROWS, ((0.0, 1e-13), (1.0, 0.0)), r"budgets\[0\]\[1\]"),
        (ROWS, ((0.0, 40.5), (1.0, 0.0)), r"budgets\[0\]\[1\]"),
        (ROWS, ((0.0, 1), (1.0, 0.0)), r"budgets\[0\]\[1\]"),
        ([[HALF, HALF], [HALF, HALF]], ONES, "a tuple of rows"),
        (((HALF, HALF),) * 513, ONES, "at most 262144 budgets"),
    ],
)
def test_what_is_no_channel_is_refused(weights: Any, budgets: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Channel(weights, budgets)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("epsilon", 0.8, "epsilon of matrix must be the largest limit of its kernel, 0.7"),
        ("params", {"prior": [0.5]}, "prior of matrix must be a list of 2 numbers"),
        ("params", {"outputs": ["a", "b", "a"]}, "outputs of matrix must be a list of 3 different names"),
        ("params", {"more": 1}, "'more' is unknown"),
    ],
)
def test_designs_that_do_not_agree_with_their_kernel_are_refused(part: str, value: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        explain({**design(OPEN, "ab"), part: value})


def test_a_design_without_any_limit_is_refused() -> None:
    free = Channel(((WORD, 0), (0, WORD)), ((0.0, INF), (INF, 0.0)))
    assert not free.limited
    assert OPEN.limited
    assert BLOCKS.limited
    with pytest.raises(FormatError, match="largest limit"):
        explain({**design(free, "ab"), "epsilon": 1.0})


def test_more_comparisons_than_a_device_makes_are_refused() -> None:
    kernel = Channel(((HALF, HALF) + (0,) * 127,) * 256, ((0.0,) * 256,) * 256)
    assert kernel.work.number > kernel.work.most
    big = {**design(kernel, "a"), "domain": {"k": 256}, "epsilon": 1.0}
    big["kernel"]["budgets"] = [[0 if x == z else 1 for z in range(256)] for x in range(256)]
    with pytest.raises(FormatError, match="comparisons of values and outputs, more than the 8388608"):
        explain(big)


def test_what_follows_from_budgets_is_told_and_not_the_budgets_alone() -> None:
    """No limit was given from 0 to 2; the two steps by way of 1 make one of 1.25. Sums are rounded up."""
    rows = [[0, 0.5, math.inf], [0.5, 0, 0.75], [0.375, math.inf, 0]]
    m = dn.Mechanism.from_matrix([[4, 3, 3], [3, 4, 3], [3, 3, 4]], promise=dn.promise(budgets=rows))
    assert m.kernel.closed == [[0, 0.5, 1.25], [0.5, 0, 0.75], [0.375, 0.875, 0]]
    assert "Each answer has its own limit: 0 1.25, 1 0.75, 2 0.875." in explain(m.design).text
    assert (m.protection.epsilon, m.epsilon) == (1.25, 0.75)
    assert "e^0.375 = 1.46 times to e^1.25 = 3.5 times" in m.protection.text
    assert "for certain" not in m.protection.text
    budgets = ((0.0, 0.1, math.inf), (math.inf, 0.0, 0.2), (math.inf, math.inf, 0.0))
    third = (1 << 64) // 3
    found = Channel(((third, third, third + 1),) * 3, budgets).closed
    assert found[0] == [0, 0.1, 0.1 + 0.2], "that is more than 0.3 already"
    assert found[2] == [math.inf, math.inf, 0]
    zero = Channel(((third, third, third + 1),) * 2, ((0.0, 0.0), (1.0, 0.0))).closed
    assert zero == [[0, 0], [0, 0]], "a budget of 0 makes two answers one"
