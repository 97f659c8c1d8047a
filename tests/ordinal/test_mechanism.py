"""Windows and trees as mechanisms: options, what they refuse, devices, counts, and questions made of them."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.kernels import loops, using
from deniable.mechanisms.ordinal.base import Windows
from deniable.mechanisms.ordinal.rules import circle_of, widths_of
from deniable.testing import StreamWords, law_pvalue
from deniable_client.errors import ParameterError
from deniable_client.kernels import Windows as Kernel
from deniable_client.words import ReplayWords

ALPHA = 1e-4


# ---- what is chosen


@pytest.mark.parametrize(
    ("points", "circle", "widths"),
    [
        (2, 2, (1,)),
        (7, 7, (1,)),
        (8, 8, (1, 2)),
        (64, 64, (1, 2, 4, 8, 16)),
        (100, 100, (1, 2, 4, 10, 20)),
        (101, 102, (1, 2, 3, 6, 17)),
        (4096, 4096, tuple(2**i for i in range(11))),
    ],
)
def test_circles_and_widths(points: int, circle: int, widths: tuple[int, ...]) -> None:
    assert circle_of(points) == circle
    assert widths_of(circle) == widths


@pytest.mark.parametrize("points", [*range(2, 70), 97, 499, 1000])
def test_there_is_a_design_for_every_number_of_points(points: int) -> None:
    """Neighbouring widths are at most three times each other where there are any to choose from."""
    circle = circle_of(points)
    widths = widths_of(circle)
    assert points <= circle <= 1.25 * points + 4
    assert all(circle % w == 0 for w in widths)
    assert all(b <= 3 * a for a, b in zip(widths, [*widths[1:], circle / 4], strict=True))
    divisors = [w for w in range(1, circle // 4 + 1) if circle % w == 0] or [1]
    larger = [[w for w in divisors if w >= 1.5 * a] for a in widths]
    assert larger[-1] == []
    for a, b, own in zip(widths[:-1], widths[1:], larger[:-1], strict=True):
        assert max(b / (2 * a), 2 * a / b) == min(max(w / (2 * a), 2 * a / w) for w in own)
    if points < 40:
        m = dn.mechanism("windows", epsilon=1.0, points=points)
        assert m.epsilon_exact <= 1.0
        assert m.properties()["gap"] > -1e-9


def test_prefixes_are_asked_on_a_larger_circle() -> None:
    wide, usual = (dn.mechanism("windows", epsilon=1.0, points=16, queries=q) for q in ("prefixes", "ranges"))
    assert (wide.circle, usual.circle) == (24, 16)  # type: ignore[attr-defined]
    assert wide.properties()["variance_prefix"] < usual.properties()["variance_prefix"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"points": 1}, "points must be an integer >= 2"),
        ({"points": 16, "widths": "1,3"}, "widths must be divisors of the circle"),
        ({"points": 16, "widths": "2,4"}, "numbers that begin with 1"),
        ({"points": 16, "widths": "1,4,2"}, "divisors of the circle's 16 points that rise"),
        ({"points": 16, "widths": "1,16"}, "widths must be"),
        ({"points": 16, "widths": "1,x"}, "widths must be whole numbers"),
        ({"points": 16, "widths": []}, "widths must be whole numbers"),
        ({"points": 16, "shares": "1,2"}, "shares must be 3 whole numbers"),
        ({"points": 16, "shares": "1,0,1"}, "shares must be whole numbers >= 1"),
        ({"points": 16, "shares": "4294967296,1,1"}, "with a sum of at most"),
        ({"points": 16, "circle": 15}, "circle must be a whole number of at least 16"),
        ({"points": 16, "queries": "sums"}, "queries must be one of ranges, prefixes"),
        ({"points": 1 << 15}, "points must be at most 16,384"),
        ({"points": 4099, "circle": 4100}, "points must be at most 2,048 on a circle"),
        ({"points": 16, "sizes": (16, 1, 1)}, "sizes must be"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.mechanism("windows", epsilon=1.0, **options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fanout": 1}, "fanout must be a whole number from 2"),
        ({"levels": "all"}, "levels must be one of best, equal"),
        ({"levels": "equal", "shares": "1,1,1,1"}, "left out where shares are given"),
        ({"shares": "1,1"}, "shares must be 4 whole numbers"),
    ],
    ids=str,
)
def test_trees_that_do_not_fit_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.mechanism("tree", epsilon=1.0, points=16, **options)


def test_ranges_of_points_are_checked() -> None:
    m = dn.mechanism("windows", epsilon=1.0, points=16)
    assert isinstance(m, Windows)
    assert m.range_variance(0, 16) == 0
    skewed = np.arange(1, 17) / 136
    assert m.range_variance(2, 9, 5, skewed) != pytest.approx(m.range_variance(2, 9, 5), rel=1e-4)
    for start, stop in ((-1, 3), (3, 3), (4, 3), (0, 17), (0.5, 3), (True, 3)):
        with pytest.raises(dn.ParameterError, match="start and stop must be whole numbers"):
            m.range_variance(start, stop)  # type: ignore[arg-type]
    with pytest.raises(dn.ParameterError, match="n must be a number > 0"):
        m.range_variance(0, 3, n=0)


def test_designs_come_back_and_none_that_is_changed() -> None:
    for name in ("windows", "tree"):
        m = dn.mechanism(name, epsilon=1.0, points=12)
        document = json.loads(json.dumps(m.design))
        assert dn.from_design(document) == m
        document["kernel"]["shifts"] = ["1"] * len(m.params["widths"]) if name == "windows" else m.params["widths"]
        document["kernel"]["shifts"] = [str(s) for s in document["kernel"]["shifts"]]
        with pytest.raises(dn.FormatError, match="does not agree with itself"):
            dn.from_design(document)


def test_the_question_makes_its_mechanism() -> None:
    asked = dn.ordinal(["never", "rarely", "often", "always"])
    m = asked.mechanism(0.5)
    assert (m.name, m.epsilon, m.domain.labels) == ("windows", 0.5, ("never", "rarely", "often", "always"))
    assert dn.ordinal(64, queries="prefixes").mechanism(1.0).circle == 96
    assert asked == dn.ordinal(["never", "rarely", "often", "always"])
    with pytest.raises(dn.ParameterError, match="queries must be one of"):
        dn.ordinal(4, queries="all")


# ---- devices and counts


def test_all_short_words_give_the_exact_law() -> None:
    """Words of 3 bits: widths by 1 : 3, both shifts alike, and sets of one cell, the own one by 3/8 and by 5/8.

    Of 8 words 6 draw one of three other cells; sequences with another word there are left out.
    """
    kernel = Kernel(4, 4, (1, 2), (1, 2), (1, 3), (1, 1), (3, 5))
    for x in range(4):
        found: Counter[bytes] = Counter()
        for words in product(range(8), repeat=4):
            try:
                found[kernel.randomise(x, ReplayWords(words, 3))] += 1
            except ParameterError:
                continue  # a word had to be drawn again
        expected = {bytes([0, 0, 1 << cell]): 2 * 8 * (3 * 8 if cell == x else 5 * 2) for cell in range(4)}
        for shift in range(2):
            own = (x + shift) % 4 // 2
            expected |= {bytes([1, shift, 1 << cell]): 6 * 4 * (5 if cell == own else 3) * 8 for cell in range(2)}
        assert found == expected


@pytest.mark.stat
@pytest.mark.parametrize("case", [{"points": 8}, {"points": 6, "circle": 9, "widths": "1,3", "shares": "1,2"}], ids=str)
def test_a_device_follows_the_law_of_the_bulk_sampler(case: dict[str, Any]) -> None:
    """Exact binomial p-values of all classes of reports, alpha 1e-4; a device with 60 % more epsilon is seen."""
    m = dn.mechanism("windows", epsilon=1.0, **case)

    def from_devices(other: dn.Mechanism, seed: int) -> dict[int, Any]:
        words, found = StreamWords(dn.simulation(seed)), {}
        for x in range(m.k):
            rows = [other.kernel.randomise(x, words) for _ in range(1000)]
            found[x] = Reports.from_rows(m.design, m.fields, rows, simulated=True).columns
        return found

    assert law_pvalue(m, from_devices(m, 3)) > ALPHA
    assert law_pvalue(m, from_devices(m.at(1.6), 4)) < ALPHA


def test_blind_reports_support_every_point_alike() -> None:
    """Of a device and in bulk: as often as the cells of a set are of all cells; alpha 1e-6."""
    m = dn.mechanism("windows", epsilon=1.0, points=8)
    bulk: Any = m.bulk
    n = 4_000
    words = StreamWords(dn.simulation(8))
    rows = [m.kernel.blind(words) for _ in range(n)]  # type: ignore[union-attr]
    device = Reports.from_rows(m.design, m.fields, rows, simulated=True).columns
    share = float(m.kernel.share)  # type: ignore[union-attr]
    for columns in (device, bulk.blind(n, dn.simulation(9))):
        hits = bulk.count(columns)["support"].sum(axis=0)
        assert np.abs(hits / n - share).max() < 5.5 * (share * (1 - share) / n) ** 0.5


@pytest.mark.parametrize("name", ["windows", "tree"])
def test_both_loops_count_the_same_and_refuse_the_same(name: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, points=100)
    reports = m.privatize_items(np.arange(700) % 100, dn.simulation(4))
    held = m.bulk.held(reports.columns)  # type: ignore[attr-defined]
    cuts = reports.columns["cut"].astype(np.int64)
    by_hand = np.stack([held[cuts == i].sum(axis=0) for i in range(len(m.bulk.strata))])
    for which in ("reference", "compiled"):
        if which == "compiled":
            pytest.importorskip("numba")
        with using(which):
            found = m.bulk.count(reports.columns)
            np.testing.assert_array_equal(found["support"], by_hand)
            np.testing.assert_array_equal(found["n"], np.bincount(cuts, minlength=len(by_hand)))
            _check_refusals(m, reports)


def _check_refusals(m: dn.Mechanism, reports: Reports) -> None:
    """One report that no device can have sent, among good ones."""
    wide = int(np.flatnonzero(reports.columns["cut"] == len(m.bulk.strata) - 1)[0])
    for name, change in (("cut", 77), ("shift", 255), ("cells", 0), ("cells", 255)):
        columns = {key: column.copy() for key, column in reports.columns.items()}
        columns[name][wide] = change
        possible = m.bulk.possible(columns)
        assert np.flatnonzero(~possible).tolist() == [wide]
        with pytest.raises(dn.FormatError, match="a report"):
            m.bulk.count(columns)
    late = {key: column.copy() for key, column in reports.columns.items()}
    late["cells"][wide, -1] |= 128
    with pytest.raises(dn.FormatError, match="not a set"):
        m.bulk.count(late)
    assert loops() is not None


def test_counts_that_no_reports_give_are_refused() -> None:
    """Each width supports as many points as its cells have; on a larger circle some of them may be no answers."""
    m = dn.mechanism("windows", epsilon=1.0, points=8)
    cells = {name: cell.copy() for name, cell in m.tally(m.privatize_items(np.arange(8))).cells.items()}
    m.bulk.refuse_impossible(cells)
    i = int(np.argmax(cells["n"]))
    cells["support"][i, int(np.argmin(cells["support"][i]))] += 1
    with pytest.raises(dn.FormatError, match=r"no \d reports give these counts"):
        m.bulk.refuse_impossible(cells)


def test_a_deal_may_have_a_part_in_an_order() -> None:
    """As one question of several: its tallies are read as if it had been asked alone."""
    from deniable.mechanisms.dealt.base import dealt

    age, other = dn.mechanism("windows", epsilon=1.0, points=8), dn.mechanism("grr", epsilon=1.0, k=2)
    m = dealt({"age": age, "smokes": other}, shares=[3, 1])
    reports = m.privatize({"age": [0, 7, 3, 2] * 50, "smokes": [1, 0, 0, 1] * 50}, rng=dn.simulation(5))
    found = m.estimate(m.tally(reports))
    assert found["age"].cumulative().value[-1] == pytest.approx(1)
    assert dn.from_design(json.loads(json.dumps(m.design))) == m


def test_sums_of_shares_have_the_variances_of_the_covariance() -> None:
    """Cumulative shares, shares of ranges, and the share of all, which is certain."""
    m = dn.mechanism("windows", epsilon=1.0, points=8)
    part: Any = next(iter(m.estimate(m.tally(m.privatize_items(np.arange(900) % 8, dn.simulation(1)))).parts.values()))
    for target in ("reporters", "population"):
        spread = part.covariance(target)
        assert part.prefix_variance(target)[:-1] == pytest.approx([spread[:i, :i].sum() for i in range(1, 8)], rel=1e-9)
        assert part.prefix_variance(target)[-1] == pytest.approx(0.0, abs=1e-12)
        for start, stop in ((0, 1), (2, 5), (1, 8)):
            assert part.sum_variance(start, stop, target) == pytest.approx(
                spread[start:stop, start:stop].sum(), rel=1e-9
            )
        assert part.sum_variance(0, 8, target) == 0.0
