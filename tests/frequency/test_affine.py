"""`affine`: the law of subset selection by enumeration in fractions, decoding, the choice of numbers, golden numbers.

Blocks are written out by their definition here, and compared with what the library computes by tables and transforms.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.frontier import least_mse
from deniable.core.laws import ratio_to, subset
from deniable.errors import ParameterError
from deniable.estimate.blocks import BlockEvidence
from deniable.estimate.evidence import PackedRows, RowEvidence
from deniable.kernels import reference
from deniable.kernels.cyclotomic import Blocks
from deniable.mechanisms.frequency.affine import Affine
from deniable_client.kernels import Affine as Kernel
from deniable_client.kernels import kernel_from
from deniable_client.kernels.affine import primitive_root
from deniable_client.words import ReplayWords, SystemWords

GOLDEN: dict[str, list[dict[str, Any]]] = json.loads((Path(__file__).parents[1] / "golden/affine.json").read_text())[
    "cases"
]
WORD = 1 << 64
ENUMERATED = [(7, 3, 1, 0), (13, 4, 1, 0), (13, 3, 1, 1), (19, 6, 2, 0), (11, 2, 1, 0)]
ENUMERATED += [(17, 8, 3, 0), (31, 5, 1, 1), (29, 7, 2, 1), (37, 12, 5, 1), (41, 4, 1, 0)]
OWN = [(3, 1, 0, 1), (5, 4, 2, 1), (23, 11, 10, 1), (43, 6, 1, 1), (53, 13, 5, 0)]
"""Ten designs and five more: one class and many, with 0 and without, one point and all but one."""


def sets(q: int, m: int, j: int, zero: int, *, g: int | None = None, unions: Any = None) -> list[frozenset[int]]:
    """All blocks by their definition, in the order of reports; of some unions only, if these are given."""
    root = primitive_root(q) if g is None else g
    found = []
    for i in range(m) if unions is None else unions:
        base = {pow(root, e, q) for e in range(q - 1) if (e - i) % m < j} | ({0} if zero else set())
        found += [frozenset((x + b) % q for x in base) for b in range(q)]
    return found


def incidence(blocks: list[frozenset[int]], q: int) -> Any:
    return np.array([[x in block for x in range(q)] for block in blocks], dtype=np.int64)


def made(q: int, m: int, j: int, zero: int, *, k: int | None = None, epsilon: float = 1.0) -> Affine:
    found = dn.mechanism("affine", k=k or q, epsilon=epsilon, q=q, m=m, j=j, zero=zero)
    assert isinstance(found, Affine)
    return found


def balanced(rows: Any) -> bool:
    """Whether all items are in equally many blocks, and all pairs of items too."""
    both = rows.T @ rows
    return (
        len(set(np.diag(both).tolist())) == 1
        and len({int(both[x, y]) for x, y in combinations(range(len(both)), 2)}) == 1
    )


@pytest.mark.parametrize("numbers", ENUMERATED + OWN, ids=str)
def test_the_law_is_that_of_subset_selection_on_q_points(numbers: tuple[int, ...]) -> None:
    """(A1), (A2): every chance in fractions from the written-out blocks, on all points and on q - 2 of them."""
    q = numbers[0]
    rows = incidence(sets(*numbers), q)
    w = int(rows[0].sum())
    assert balanced(rows)
    for k in {q, max(2, q - 2)}:
        m = made(*numbers, k=k)
        assert (m.points, m.order) == (w, len(rows))
        s, p = m.bulk.support, Fraction(m.bulk.kernel.keep, WORD)
        own, rest = (int(x) for x in m.bulk.kernel.reports)
        assert (s.p, own, rest) == (p, rows[:, 0].sum(), len(rows) - rows[:, 0].sum())
        pair = int(rows[:, 0] @ rows[:, 1])
        assert s.both_one == p * Fraction(pair, own)
        assert s.q == p * Fraction(pair, own) + (1 - p) * Fraction(own - pair, rest)
        assert s == subset(*ratio_to(m.bulk.kernel.ratio), q, w)
        triples = rows.T @ (rows[:, 0] * rows[:, 1]) if q > 3 else np.zeros(q, np.int64)
        none = [p * Fraction(int(t), own) + (1 - p) * Fraction(pair - int(t), rest) for t in triples[2:]]
        assert q == 3 or sum(none) == s.both_none * (q - 2)
        assert (m.bulk.supported({"value": np.arange(len(rows))}) == np.packbits(rows[:, :k], 1, "little")).all()


@pytest.mark.parametrize("case", GOLDEN["enumerated"], ids=lambda case: case["label"])
def test_golden_laws(case: dict[str, Any]) -> None:
    q, w, e = case["q"], case["w"], Fraction(27183, 10000)
    numbers = [int(part.partition("=")[2]) for part in case["label"].split()[:4]]
    law = subset(*ratio_to(e), q, w)
    assert (law.p, law.q, law.both_one) == tuple(Fraction(case[name]) for name in ("p", "Q", "one"))
    assert law.both_none == Fraction(case["none_avg"])
    rows = incidence(sets(*numbers), q)[:, : case["k"]]
    triples = Blocks(*numbers, primitive_root(q)).triples[2:]
    assert (len(rows), len(set(triples.tolist()))) == (case["reports"], case["none_values"])
    covered = Fraction(int(rows.any(axis=1).sum()), len(rows))
    assert covered == Fraction(case["covered"]) == 1 - Fraction(Blocks(*numbers, 2).empty(case["k"]), len(rows))
    high, low = law.p / (len(rows) * Fraction(w, q)), (1 - law.p) / (len(rows) * Fraction(q - w, q))
    best = sum(high if any(row) else low for row in rows.tolist()) / case["k"]
    assert best == Fraction(case["asr"])


@pytest.mark.parametrize("case", GOLDEN["triples"], ids=lambda case: f"q={case['q']}")
def test_golden_triples(case: dict[str, Any]) -> None:
    blocks = Blocks(*(case[name] for name in ("q", "m", "j", "zero")), primitive_root(case["q"]))
    w = blocks.points(0).size
    law = subset(*ratio_to(Fraction(case["ratio"])), blocks.q, w)
    own, rest = blocks.m * w, blocks.m * (blocks.q - w)
    for c, none in case["none_by_c"].items():
        held = int(blocks.triples[int(c)])
        assert law.p * Fraction(held, own) + law.p_not * Fraction(blocks.pairs - held, rest) == Fraction(none)


def test_what_third_values_add_is_known_for_items_that_are_not_all_points() -> None:
    """Only over all points is the mean of `none` (A2): with k = 11 of q = 19 it is another, which covariances know."""
    m = made(19, 6, 2, 1, k=11)
    rows = incidence(sets(19, 6, 2, 1), 19)
    own, rest = m.bulk.kernel.reports
    p, f = m.support.p, np.arange(1.0, 12) / 66
    law = rows.T * (p / own) + (1 - rows.T) * ((1 - p) / rest)  # chance of each report, a row for each value
    joint = np.einsum("x,xr,ri,rj->ij", f, law[:11], rows[:, :11], rows[:, :11])
    means = law[:11] @ rows[:, :11]
    true = (joint - np.einsum("x,xi,xj->ij", f, means, means)) / m.support.gap**2
    assert m.covariance(f) == pytest.approx(true, rel=1e-10)
    even = m.support.covariance(f, 1)
    assert np.abs(even - true).max() > 1e-3  # without the triples it would be off


# ---- what is not balanced


@pytest.mark.parametrize("kept", [(0,), (0, 2), (1, 2, 3)])
def test_a_part_of_the_classes_is_not_balanced(kept: tuple[int, ...]) -> None:
    assert balanced(incidence(sets(13, 4, 1, 0), 13))
    assert not balanced(incidence(sets(13, 4, 1, 0, unions=kept), 13))


def test_half_of_the_classes_is_where_the_others_are_their_mirror_images() -> None:
    """Classes of an odd number of points: -1 is in class m/2, and a block and its mirror image hold as many pairs."""
    assert balanced(incidence(sets(13, 4, 1, 0, unions=(0, 1)), 13))
    assert not balanced(incidence(sets(17, 4, 1, 0, unions=(0, 1)), 17))


@pytest.mark.parametrize("stride", [1, 3])
def test_intervals_and_strides_in_place_of_classes_are_not_balanced(stride: int) -> None:
    """As many blocks, of as many points, moved by as many factors: those are too few for an interval."""
    q, m, w = 13, 4, 3
    factors = [pow(2, i, q) for i in range(m)]
    blocks = [frozenset((a * stride * x + b) % q for x in range(w)) for a in factors for b in range(q)]
    assert {len(block) for block in blocks} == {w}
    assert not balanced(incidence(blocks, q))


def test_powers_of_a_square_are_not_balanced() -> None:
    rows = incidence(sets(13, 4, 1, 0, g=4), 13)
    assert not balanced(rows)
    with pytest.raises(ParameterError, match="primitive root of 13"):
        dn.mechanism("affine", k=13, epsilon=1.0, q=13, m=4, j=1, zero=0, g=4)


# ---- reports and tallies


@pytest.mark.parametrize("case", GOLDEN["device"], ids=lambda case: f"k={case['k']} value={case['value']}")
def test_golden_reports_of_a_device(case: dict[str, Any]) -> None:
    kernel = Kernel(*(case[name] for name in ("k", "q", "m", "j", "zero", "g", "keep")))
    report = kernel.randomise(case["value"], ReplayWords(map(int, case["words"])))
    assert (report.hex(), int.from_bytes(report, "little")) == (case["hex"], case["report"])


@pytest.mark.parametrize("case", GOLDEN["decoding"], ids=lambda case: f"q={case['q']} m={case['m']}")
def test_golden_counts(case: dict[str, Any]) -> None:
    blocks = Blocks(*(case[name] for name in ("q", "m", "j", "zero", "g")))
    cells = np.bincount(case["reports"], minlength=blocks.m * blocks.q).reshape(blocks.m, -1)
    assert blocks.by_point(cells)[: case["k"]].tolist() == case["counts"]


@pytest.mark.parametrize("numbers", ENUMERATED + OWN, ids=str)
def test_decoding_is_counting_one_by_one_and_tallies_add_up(numbers: tuple[int, ...]) -> None:
    m, rng = made(*numbers), np.random.default_rng(numbers)
    rows = incidence(sets(*numbers), numbers[0])
    reports = [rng.integers(0, m.order, 400).astype(m.fields[0].dtype) for _ in range(2)]
    tallies = [m.bulk.count({"value": part}) for part in reports]
    for tally, part in zip(tallies, reports, strict=True):
        assert (m.bulk.support_counts(tally) == rows[part].sum(axis=0)).all()
    both = m.bulk.count({"value": np.concatenate(reports)})
    assert (both["value"] == tallies[0]["value"] + tallies[1]["value"]).all()
    f = rng.random(m.q)
    assert m.bulk.blocks.sum_by_block(f).ravel() == pytest.approx(rows @ f, rel=1e-12)
    for k in (2, m.q - 2, m.q):
        assert m.bulk.blocks.empty(k) == np.count_nonzero(~rows[:, :k].any(axis=1)) if k >= 2 else True


def test_counts_of_any_size_come_back_exactly() -> None:
    """2^48 reports, the most there may be: spread over all blocks, and all in one of them."""
    blocks, rng = Blocks(1013, 11, 3, 0, 3), np.random.default_rng(8)
    cells = rng.integers(0, (1 << 48) // (11 * 1013), (11, 1013))
    held = np.array([[blocks.hold(x, np.arange(11 * 1013)) for x in (0, 1, 512, 1012)]])[0].reshape(4, 11, 1013)
    assert blocks.by_point(cells)[[0, 1, 512, 1012]].tolist() == [int(cells[own].sum()) for own in held]
    one = np.zeros((11, 1013), np.int64)
    one[4, 77] = 1 << 48
    assert blocks.by_point(one).tolist() == [
        (1 << 48) * int(blocks.hold(x, np.array([4 * 1013 + 77]))[0]) for x in range(1013)
    ]


def test_reports_beyond_the_last_block_are_refused() -> None:
    m = dn.mechanism("affine", k=100, epsilon=1.0)
    assert m.order == 5050
    m.bulk.count({"value": np.array([5049], np.uint16)})
    with pytest.raises(dn.FormatError, match="the largest possible is 5049"):
        m.bulk.count({"value": np.array([5050], np.uint16)})


@pytest.mark.parametrize("numbers", [(7, 3, 1, 0), (5, 2, 1, 1), (3, 1, 0, 1)], ids=str)
def test_every_block_that_holds_an_item_comes_of_equally_many_words(numbers: tuple[int, ...]) -> None:
    """All pairs of words of 8 bits, kept and not: words that are drawn again left out, exactly uniform."""
    q, m, j, zero = numbers
    rows, blocks = incidence(sets(*numbers), q), Blocks(*numbers, primitive_root(q))
    grid = np.indices((256, 256)).reshape(2, -1).astype(np.uint8)
    for x, coin in ((x, coin) for x in range(q) for coin in (0, WORD - 1)):
        out, items = np.empty(grid.shape[1], np.uint16), np.full(grid.shape[1], x)
        coins = np.full(grid.shape[1], coin, np.uint64)
        again = reference.block_of(out, items, coins, WORD // 2, grid, blocks.powers, (m, j, zero, 8))
        counts = np.bincount(np.delete(out, again), minlength=m * q)
        expected = rows[:, x] == (coin == 0)
        assert (counts[~expected] == 0).all()
        assert len(set(counts[expected].tolist())) == 1


# ---- fits


@pytest.mark.parametrize("numbers", [(13, 4, 1, 1), (31, 5, 1, 1), (11, 2, 1, 0)], ids=str)
def test_steps_by_transforms_are_those_of_written_out_rows(numbers: tuple[int, ...]) -> None:
    k, rng = numbers[0] - 1, np.random.default_rng(3)
    m = made(*numbers, k=k)
    counts = rng.integers(0, 9, m.order)
    fast = BlockEvidence.of(m.bulk.blocks, counts, m.bulk.odds, k)
    packed = PackedRows.of([m.bulk.supported({"value": np.arange(m.order)})], k, counts)
    slow = RowEvidence(packed, m.bulk.odds, complete=True)
    f = rng.dirichlet(np.ones(k))
    for mine, theirs in zip(fast.step(f), slow.step(f), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-11)
    assert fast.information(f) == pytest.approx(slow.information(f), rel=1e-10)
    assert (fast.n, fast.k, fast.complete) == (slow.n, slow.k, True)
    assert fast.resampled(dn.simulation(4)).n == fast.n


@pytest.mark.slow
def test_fits_and_estimates_of_a_large_domain() -> None:
    """Alpha 1e-4: all 1000 answers within 5.6 of their standard errors, people having 50 of them; and a fit."""
    m = dn.mechanism("affine", k=1000, epsilon=2.0)
    items = np.random.default_rng(5).integers(0, 50, 200_000)
    tally = m.tally(m.privatize_items(items, dn.simulation(6)))
    truth = np.bincount(items, minlength=1000) / items.size
    found = m.estimate(tally)
    assert (np.abs(found.value - truth) <= 5.6 * found.stderr).all()
    assert found.stderr.mean() == pytest.approx((m.mse(items.size)) ** 0.5, rel=0.01)
    wrong = np.roll(truth, 1)
    assert (np.abs(found.value - wrong) > 5.6 * found.stderr)[[0, 50]].all()  # an item further would be seen
    fitted = m.fit(tally, "em", stderr=None)
    assert np.abs(fitted.value - truth).sum() < np.abs(found.value - truth).sum() / 3


# ---- the choice of numbers


@pytest.mark.parametrize("case", GOLDEN["designs"], ids=lambda case: f"k={case['k']} epsilon={case['epsilon']:g}")
def test_golden_designs(case: dict[str, Any]) -> None:
    names = {"q": "q", "m": "m", "j": "j", "zero": "zero", "points": "w", "g": "g", "order": "cells"}
    given = {name: case[name] for name in ("q", "m", "j", "zero")} if case["excess_percent"] > 1 else {}
    m = dn.mechanism("affine", k=case["k"], epsilon=case["epsilon"], **given)
    assert {name: getattr(m, name) for name in names} == {name: case[theirs] for name, theirs in names.items()}
    assert (m.bulk.kernel.keep, m.bulk.kernel.width) == (case["keep"], case["width"])
    told, law = m.properties(), m.support
    near = {"p": law.p, "support_q": law.q, "one": law.both_one, "none_mean": law.both_none, "n_mse": m.mse()}
    for name, value in near.items():
        assert value == pytest.approx(case[name], rel=1e-12), name
    assert 100 * told["gap"] == pytest.approx(case["excess_percent"], abs=1e-9)
    if case["support_q_exact"]:
        assert m.bulk.support.q == Fraction(case["support_q_exact"])
    if case["asr"] is not None:
        assert m.asr == pytest.approx(case["asr"], rel=1e-12)


def test_a_block_may_hold_no_item_where_many_points_are_none() -> None:
    """q - k >= w alone does not make one: at k = 10^4 and epsilon 4 there is none; with half of the points there is."""
    m = dn.mechanism("affine", k=10_000, epsilon=4.0)
    assert m.q - m.k >= m.points
    assert m.covered(m.support) == 1.0
    wide = made(31, 5, 1, 1, k=9)
    rows = incidence(sets(31, 5, 1, 1), 31)[:, :9]
    assert wide.covered(wide.support) == rows.any(axis=1).mean() < 1


@pytest.mark.parametrize(
    ("k", "epsilon", "options", "told"),
    [
        (16, 0.5, {}, "1.1% above the least error. Use ss."),
        (2, 1.0, {}, "Use grr."),
        (50, 4.0, {}, "Use grr."),
        (114, 4.0, {}, "3.6% above the least error. Use ss."),
        (200_000, 4.0, {}, "2.4% above the least error. Use plh."),
        (1000, 1.0, {"cells": 2000}, "at most 2000 reports being allowed. Use plh."),
        (1000, 1.0, {"cells": 500}, "it has no design, at most 500 reports"),
        (1000, 1.0, {"cells": 1 << 24}, "cells must be an integer from 3 to 8388608"),
        (1000, 1.0, {"tolerance": -0.1}, "tolerance must be a number from 0 to 1"),
        (1000, 1.0, {"q": 1013}, "given with m, j, zero"),
        (1000, 1.0, {"q": 1013, "m": 11, "j": 3, "zero": 0, "cells": 9999}, "cells must be left out"),
        (1000, 1.0, {"q": 1013, "m": 11, "j": 3, "zero": 0.5}, "zero must be an integer"),
        (1014, 1.0, {"q": 1013, "m": 11, "j": 3, "zero": 0}, "q must be an integer from 1014"),
    ],
    ids=str,
)
def test_what_others_do_better_is_refused_by_their_name(
    k: int, epsilon: float, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ParameterError) as error:
        dn.mechanism("affine", k=k, epsilon=epsilon, **options)
    assert told in str(error.value)


def test_less_exact_designs_have_fewer_reports() -> None:
    found = [dn.mechanism("affine", k=k, epsilon=1.0, tolerance=0.003) for k in (1000, 16_000)]
    assert [(m.m, m.bulk.row_bytes) for m in found] == [(4, 2), (4, 2)]
    assert all(m.mse() <= 1.003 * least_mse(m.k, 1.0) for m in found)
    few = dn.mechanism("affine", k=1000, epsilon=1.0, cells=10_000)
    assert few.order <= 10_000
    assert dn.mechanism("affine", k=16, epsilon=0.5, tolerance=0.02).q == 17


@pytest.mark.parametrize(("k", "epsilon"), [(65, 0.5), (100, 1.0), (731, 3.0), (400, 0.01), (2000, 8.0)])
def test_no_other_numbers_are_better_by_more_than_the_tolerance(k: int, epsilon: float) -> None:
    """Against a search of its own, one candidate at a time, over all block sizes."""
    m, best = dn.mechanism("affine", k=k, epsilon=epsilon), np.inf
    w, v = np.exp(-epsilon), -np.expm1(-epsilon)
    for q in range(m.k, m.k + 65):
        if q % 2 and all(q % d for d in range(3, int(q**0.5) + 1, 2)):
            sizes = {j * (q - 1) // n + z for n in range(1, q) if (q - 1) % n == 0 for j in range(n) for z in (0, 1)}
            size = np.array(sorted(sizes - {0}), np.float64)
            best = min(best, float(subset(w, v, q, size).mse(k).min()))
    assert best * (1 - 1e-12) <= m.mse() * (1 + 1e-12)
    assert m.mse() <= best * 1.0001
    assert m.mse() >= least_mse(k, epsilon) * (1 - 1e-12)


# ---- cost


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Seconds of processor time, the least of several runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.slow
def test_a_device_takes_20_microseconds_for_a_report_and_5_milliseconds_for_a_proof() -> None:
    m = dn.mechanism("affine", k=700_000, epsilon=1.0)
    kernel, words, document = m.bulk.kernel, SystemWords(), m.design["kernel"]
    assert best_of(5, lambda: [kernel.randomise(5, words) for _ in range(500)]) / 500 < 20e-6
    assert best_of(5, lambda: kernel_from(document).ratio) < 5e-3


@pytest.mark.slow
def test_half_a_million_answers_need_less_than_a_gibibyte() -> None:
    """Making, counting and decoding a million reports, in a process of its own."""
    code = """
        import numpy as np
        import deniable as dn
        from fuzz.memory import largest_memory
        m = dn.mechanism("affine", k=500_000, epsilon=1.0)
        items = np.random.default_rng(1).integers(0, 1000, 1_000_000)
        found = m.estimate(m.tally(m.privatize_items(items, dn.simulation(1))))
        assert abs(found.value[:1000].sum() - 1) < 0.5 > found.stderr[0] * 1000**0.5
        print(largest_memory())
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    used = subprocess.run(run, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert float(used.stdout) < 1 << 10
