"""Directions: the best arc, the mean direction and its interval, circles on devices and in files."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.circle import Circle
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.numeric.arc import best_arc, least_trace, pull_of
from deniable.testing import check_closed_forms
from deniable_client import Device
from deniable_client.words import ReplayWords

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "means.json").read_text())["circle"]


def arc(epsilon: float = 1.0, points: int = 360, **own: Any) -> Any:
    """Hours of the day."""
    return dn.mechanism("arc", epsilon=epsilon, interval=(0, 24), points=points, **own)


def test_designs_are_the_golden_ones() -> None:
    for case in GOLDEN:
        grid = case["grid_360"]
        assert least_trace(case["epsilon"]) == pytest.approx(case["trace"], rel=1e-9)
        m = arc(case["epsilon"])
        told = m.properties()
        assert m.size == grid["size"]
        assert m.pull == pytest.approx(grid["A"], rel=1e-9)
        assert told["variance_mean"] == pytest.approx(grid["trace"], rel=1e-9)
        assert told["gap"] == 0
        assert told["bound_circle"] == pytest.approx(case["trace"], rel=1e-9)


def test_no_arc_of_directions_is_better() -> None:
    """Of all sets of favoured directions, with any estimate, none has a larger pull: brute force for 7 directions."""
    k, epsilon = 7, 1.3
    e, angles = math.exp(epsilon), 2 * np.pi * np.arange(k) / k
    units = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    best = 0.0
    for size in range(1, k):
        for favoured in combinations(range(k), size):
            law = np.ones(k)
            law[list(favoured)] = e
            best = max(best, float(np.hypot(*(law @ units))) / law.sum())
    size = best_arc(epsilon, k)
    assert pull_of(k, size, size * e / (size * e + k - size)) == pytest.approx(best, rel=1e-12)


def test_reports_tell_the_direction_without_bias() -> None:
    m = arc(2.0, 12)
    rows, total = m.bulk.weights()
    law = np.array([[weight / total for weight in row] for row in rows])
    assert law @ m.readings == pytest.approx(m.circle.coordinates(), abs=1e-12)
    noise = np.einsum("xy,yi,yi->x", law, m.readings, m.readings) - 1
    assert noise == pytest.approx(np.full(12, m.properties()["variance_mean"]), rel=1e-9)


def test_the_mean_direction_crosses_midnight() -> None:
    m = arc(4.0)
    reports = m.privatize([23.0] * 3000 + [1.0] * 3000, rng=dn.simulation(2))
    found = m.estimate(m.tally(reports))
    off = (found.value[0] + 12) % 24 - 12
    assert abs(off) < 0.3
    ends = found.interval()
    assert ends.high[0] - ends.low[0] < 1
    assert ends.low[0] < found.value[0] < ends.high[0]
    assert ends.low[0] < 0 or ends.high[0] > 24
    assert "past the end" in " ".join(ends.notes)
    assert found["resultant"].value[0] == pytest.approx(math.cos(math.pi / 12), abs=0.05)


def test_no_direction_is_said_where_none_prevails() -> None:
    m = arc(1.0)
    found = m.estimate(m.tally(m.privatize([0.0, 6.0, 12.0, 18.0] * 500, rng=dn.simulation(1))))
    ends = found.interval()
    assert ends.high[0] - ends.low[0] == pytest.approx(24, rel=1e-12)
    assert "no direction" in " ".join(ends.notes)


@pytest.mark.stat
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_intervals_of_directions_cover(share: float) -> None:
    """500 runs; 95 % intervals. Fewer than 451 that cover have probability below 1e-4 at 95 %; ones of half the
    variance cover 83 %, which is 415. `share` of the people are anywhere, the others at seven o'clock."""
    m = arc(1.0, 24)
    people = np.full(24, int(20 * share / 0.5) if share else 0)
    people[7] += 1500
    truth, period, reached, narrow = 7.0, 24.0, 0, 0
    for own in dn.simulation(9).spawn(500):
        part = m.parts(m.simulate_tally(people, own))["mean"]
        ends = part.interval(0.95, "reporters", False)
        low, high, value = float(ends.low[0]), float(ends.high[0]), float(part.value[0])
        reached += high - low >= period or (truth - low) % period <= high - low
        off = (value - truth + 12) % 24 - 12
        narrow += abs(off) <= 0.707 * (high - low) / 2
    assert reached >= 451
    assert narrow < 460


@pytest.mark.stat
def test_nothing_is_covered_too_rarely_where_hardly_a_direction_prevails() -> None:
    """The same at a resultant of two standard errors, where the vector may point anywhere; at least 451 of 500."""
    m = arc(1.0, 24)
    people = np.full(24, 40)
    people[7] += 130
    reached = 0
    for own in dn.simulation(3).spawn(500):
        ends = m.parts(m.simulate_tally(people, own))["mean"].interval(0.95, "reporters", False)
        low, high = float(ends.low[0]), float(ends.high[0])
        reached += high - low >= 24 or (7.0 - low) % 24 <= high - low
    assert reached >= 451


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_no_people_with_one_resultant_are_told_worse_than_the_planner_says(epsilon: float) -> None:
    """Two directions on either side of the mean: the farther apart, the nearer to the most that it can be."""
    m = arc(epsilon, 360)
    unit = (24 / (2 * math.pi)) ** 2
    least = []
    for off in (0, 30, 60, 85):
        shares = np.zeros(360)
        shares[[180 - off, 180 + off]] = 0.5 if off else 1.0
        resultant = 1.0 if off == 0 else math.cos(math.radians(off))
        least.append(m.across(shares) * unit / resultant**2 / m.variance_at(resultant))
    assert max(least) <= 1 + 1e-9
    assert max(least[0], least[-1]) > 0.97, "the bound is nearly reached"


@pytest.mark.parametrize(("points", "size"), [(5, 2), (8, 3)])
def test_errors_of_wide_arcs_are_those_of_the_channel(points: int, size: int) -> None:
    """Of arcs of one direction twice the angle is told as well as the angle is; of wider ones worse."""
    m = arc(1.0, points, size=size)
    assert abs(pull_of(points, size, 0.7, 2) - pull_of(points, size, 0.7)) > 0.01
    assert "all moments of mean and resultant" in check_closed_forms(m)


def test_the_spread_of_the_mean_vector_is_that_of_all_reports() -> None:
    """Of people with two opposite directions, by the exact channel; a population's by all pairs of reports."""
    m = arc(1.0, 8, size=3)
    rows, total = m.bulk.weights()
    law = np.array([[weight / total for weight in row] for row in rows])
    f, n = np.array([0.5, 0.1, 0.0, 0.0, 0.3, 0.1, 0.0, 0.0]), 1 << 40
    second = np.einsum("xy,yi,yj->xij", law, m.readings, m.readings)
    mean = law @ m.readings
    own = np.einsum("x,xij->ij", f, second - mean[:, :, None] * mean[:, None, :])
    found = m._vector(np.rint(n * (f @ law)).astype(np.int64))
    assert found.reporters * n == pytest.approx(own, rel=1e-6)
    told = sum(
        (f @ law)[a] * (f @ law)[b] * m._vector(np.bincount([a, b], minlength=8)).population
        for a in range(8)
        for b in range(8)
    )
    whole = np.einsum("x,xij->ij", f, second) - np.outer(f @ mean, f @ mean)
    assert told == pytest.approx(whole / 2, rel=1e-9)


def test_circles_are_read_alike_everywhere() -> None:
    m = arc(1.0, 24)
    device, rng = Device(m.design), np.random.default_rng(5)
    for value in (0.0, 23.49, 23.5, 24.0, 11.5, *rng.uniform(0, 24, 40).tolist()):
        x = int(m.domain.encode([value])[0])
        words = [1 << 62, 1 << 62]
        assert device.report(value, words=ReplayWords(words)) == m.kernel.randomise(x, ReplayWords(words))
    for bad in (-0.1, 24.1, math.nan, "noon", None):
        with pytest.raises(ParameterError):
            device.report(bad)
        with pytest.raises(ParameterError):
            m.domain.encode([bad])
    assert dn.from_design(m.design) == m
    assert Circle.from_circle(m.domain.document()) == m.domain
    with pytest.raises(FormatError):
        Circle.from_circle({"circle": [0], "points": 24})


def test_directions_are_as_far_apart_as_the_shorter_way_around() -> None:
    """23 and 1 o'clock two hours; of five directions none is farther than two steps, whatever the interval."""
    hours = Circle.around(0, 24, 24).distances()
    assert hours[23, 1] == hours[1, 23] == 2
    assert hours[0].tolist() == [*range(13), *range(11, 0, -1)]
    assert Circle.around(-1, 9, 5).distances().tolist() == [
        [0, 2, 4, 4, 2],
        [2, 0, 2, 4, 4],
        [4, 2, 0, 2, 4],
        [4, 4, 2, 0, 2],
        [2, 4, 4, 2, 0],
    ]


@pytest.mark.parametrize(
    ("own", "told"),
    [({"points": 2}, "points"), ({"size": 181}, "size"), ({"size": 0}, "size"), ({"points": 2.5}, "points")],
)
def test_what_is_no_circle_is_refused(own: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        arc(1.0, **own)


def test_the_planner_and_a_study_know_directions() -> None:
    found = dn.plan(question="direction", interval=(0, 24), n=1000, epsilon=1.0)
    assert found.best is not None
    assert found.best.name == "arc"
    need = dn.plan(question="direction", interval=(0, 24), epsilon=1.0, target_error=0.1)
    assert need.best is not None
    assert need.best.stderr <= 0.1 < need.best.stderr * math.sqrt(need.best.n / (need.best.n - 2))
    m = arc(1.0, 24)
    even = np.full(24, 1 / 24) * 0.5 + np.eye(24)[3] * 0.5
    assert m.across(even) / 0.25 <= m.variance_at(0.5) / (24 / (2 * math.pi)) ** 2
    assert m.guess_half().success > 0.5
