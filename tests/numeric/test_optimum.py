"""Means of the least largest variance: bounds, certificates, whole numbers, tampering, estimates, plans, tasks."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.numeric.certificate import Certificate, least_at_centre, least_worst
from deniable.mechanisms.numeric.estimate import mean_part
from deniable.mechanisms.numeric.optimum import Aim, _solve
from deniable.mechanisms.numeric.whole import log_uniform
from deniable_client import Device
from deniable_client.exact import exp_bounds
from deniable_client.kernels import Lattice, kernel_from
from deniable_client.words import ReplayWords

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "means.json").read_text())
WORD = 1 << 64


def om(epsilon: float, **own: Any) -> Any:
    """The best design on [-1, 1]."""
    return dn.mechanism("om", epsilon=epsilon, interval=(-1, 1), **own)


# ---- bounds


def test_closed_forms_are_the_golden_ones() -> None:
    for case in GOLDEN["mean_theorem"]:
        assert least_worst(case["epsilon"]) == pytest.approx(case["least_worst_variance"], rel=1e-12)
    for case in GOLDEN["mean_centre"]:
        assert least_at_centre(case["epsilon"]) == pytest.approx(case["least_variance_at_centre"], rel=1e-12)
    one, two = GOLDEN["mean_thresholds"]
    for limit in (one, two):  # the formulas meet where they change
        assert least_worst(limit - 1e-9) == pytest.approx(least_worst(limit + 1e-9), rel=1e-7)
    assert [round(least_worst(e), 5) for e in (1.5, 2.0, 3.0)] == [1.69138, 0.85735, 0.27026]


def test_certificates_prove_the_golden_bounds() -> None:
    for case in GOLDEN["mean_certificates"]:
        places = [Fraction(x) for x, *_ in case["points"]]
        rows = tuple((x.numerator, x.denominator, *own) for x, (_, *own) in zip(places, case["points"], strict=True))
        assert float(Certificate(rows).bound(case["epsilon"])) == pytest.approx(case["bound"], rel=1e-13)
        lonely = Certificate((*rows, (rows[0][0], *rows[0][1:])), mirrored=False)
        assert lonely.bound(case["epsilon"]) < case["bound"]  # without the mirrors nothing of the kind is proved


def test_a_certificate_is_at_most_what_a_fine_grid_of_estimates_says() -> None:
    """The largest H is found exactly: no estimate of many has a larger one, and one has nearly as large a one."""
    rng, e = Random(4), math.exp(1.0)
    for _ in range(10):
        rows = tuple(
            (x, 4, rng.randint(1, 9), rng.randint(-9, 9), rng.randint(-9, 9)) for x in range(rng.randint(1, 5))
        )
        made = Certificate(rows)
        y = np.linspace(-20, 20, 100_001)
        curves = [(A + B * y - P * y * y) for _, _, P, A, B in made.all_rows()]
        high = max(0.0, sum(np.maximum(g, e * g) for g in curves).max())
        total = sum(A + B * X / D - P * (X / D) ** 2 for X, D, P, A, B in made.all_rows())
        wanted = (total - high) / sum(row[2] for row in made.all_rows())
        assert wanted - 1e-4 <= float(made.bound(1.0)) <= wanted + 1e-12


def test_a_bound_is_proved_for_the_upper_end_of_what_is_known_of_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """e^epsilon is known between two fractions; a larger one allows more, so the larger one counts."""
    rows = ((0, 1, 1, 8, 0), (1, 1, 0, -16, 16))
    exact = {e: Certificate(rows).bound(math.log(e)) for e in (2, 3)}
    assert exact[3] < exact[2]
    monkeypatch.setattr("deniable.mechanisms.numeric.certificate.exp_bounds", lambda _: (Fraction(2), Fraction(3)))
    assert float(Certificate(rows).bound(1.0)) == pytest.approx(float(exact[3]), rel=1e-12)


def test_made_up_people_between_two_places_are_rounded_to_both() -> None:
    """A quarter of the way up a quarter of them go there: the mean of very many is theirs, to four of its errors."""
    m = om(1.0, points=5, fine=2)
    for item in (1, 2, 7):
        counts = np.zeros(m.k, int)
        counts[item] = 10**12
        found = m.estimate(m.simulate_tally(counts, dn.simulation(4)))
        assert found.value == pytest.approx(m.grid.points[[item]], abs=4 * float(found.stderr[0]))
        assert float(found.stderr[0]) < 1e-5


def test_points_that_stand_for_their_mirrors_have_the_weight_of_both() -> None:
    even, turned = Aim(2, np.full(5, 0.2)), Aim(2, np.array([0.1, 0.2, 0.4, 0.2, 0.1]))
    assert even.shares() == pytest.approx([0.2, 0.4, 0.4])
    assert turned.shares() == pytest.approx([0.4, 0.4, 0.2])
    lonely = Aim(1, np.array([0.5, 0.3, 0.2]))
    assert (lonely.mirrored, lonely.points.tolist()) == (False, [-1, 0, 1])
    assert lonely.shares() == pytest.approx([0.5, 0.3, 0.2])


@pytest.mark.parametrize("m", [om(1.0, points=5, fine=2), om(0.3, points=3, fine=1)], ids=["wide", "narrow"])
def test_the_reporters_variance_is_one_that_some_value_has(m: Any) -> None:
    """Whatever came by chance, one report or two: between the least and the largest variance of all values."""
    law, unit = m.law_exact, m.grid.step**2
    least, worst = float(min(law.noises)) * unit, float(law.worst) * unit
    seen = []
    for y in range(law.answers):
        for n in (1, 2):
            part = mean_part(law, n * np.eye(law.answers, dtype=int)[y], m.grid)
            seen.append(n * part.reporters)
    assert least * (1 - 1e-12) <= min(seen) <= max(seen) <= worst * (1 + 1e-12)
    assert law.spread.min() < float(min(law.noises)), "single reports would tell less"


def test_a_certificate_that_proves_nothing_is_refused() -> None:
    for rows in (((0, 1, 0, 5, 0),), ((2, 1, 1, 0, 0),), ((0, 1, -1, 0, 0),), ((0, 0, 1, 0, 0),)):
        with pytest.raises(FormatError, match="certificate"):
            Certificate(rows).bound(1.0)


@pytest.mark.parametrize("epsilon", [pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_program_theorem_and_design_are_in_order(epsilon: float) -> None:
    """A program on 33 points and free estimates is below the theorem, which is below every design."""
    points, estimates = np.arange(17) / 16, np.arange(0, 6 * 16) / 16
    found = _solve(epsilon, points, estimates[estimates <= 5.5 / epsilon**0.8], True, None).least
    assert found <= least_worst(epsilon) * (1 + 3e-4)
    assert found >= least_worst(epsilon) * (1 - 5e-3)
    assert om(epsilon).properties()["variance_mean"] >= least_worst(epsilon)


# ---- designs


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.slow] * (case["epsilon"] > 4), id=f"{case['epsilon']:g}")
        for case in GOLDEN["mean_targets"]
    ],
)
def test_designs_are_as_good_as_they_must_be(case: dict[str, Any]) -> None:
    start = time.process_time()
    m = om(case["epsilon"], points=case["points"])
    took, told = time.process_time() - start, m.properties()
    assert told["variance_mean"] <= case["design_worst_at_most"]
    assert told["bound"] <= case["bound"] * (1 + 1e-6) < told["variance_mean"]
    assert 0 < told["gap"] <= 0.012
    assert told["certificate"]["gap"] == told["gap"]
    assert took < 10  # processor time; a tenth of it on a machine of its own


@pytest.mark.slow
def test_the_ends_of_the_range() -> None:
    for epsilon in (0.01, 8.0):
        m = om(epsilon)
        assert m.properties()["gap"] <= 0.012
        assert m.epsilon_exact <= epsilon
        assert m.bulk.row_bytes == 1
    for epsilon, other in ((0.009, "duchi"), (8.01, "pm")):
        with pytest.raises(ParameterError, match=other):
            om(epsilon)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"points": 8}, "odd"),
        ({"points": 1}, "odd"),
        ({"outputs": 1}, "outputs"),
        ({"outputs": 2}, "best mechanism"),
        ({"objective": "best"}, "objective"),
        ({"prior": "1,2"}, "odd number"),
        ({"prior": "1,nan,1"}, "finite"),
        ({"prior": "1,2,1", "points": 5}, "as many"),
        ({"prior": "1,2,1", "objective": "even"}, "left out"),
        ({"objective": "prior"}, "weights"),
    ],
)
def test_what_cannot_be_is_refused(own: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        om(1.0, **own)


def test_of_very_many_points_some_stand_for_all_in_the_programmes() -> None:
    """What fits a base measure at two points fits it in between: the design is exact and nearer to the bound."""
    said: list[str] = []
    many, usual = om(0.1, points=129, progress=lambda told, _: said.append(told)), om(0.1)
    assert said == ["looking for the best reports: a linear programme of 17 points and 133 estimates"]
    assert many.table.points == 129
    rows = [many.table.row(i) for i in range(129)]
    means = [sum(weight * v for weight, v in zip(row, many.table.values, strict=True)) for row in rows]
    assert np.diff(np.array(means, object)).tolist() == [WORD] * 128, "each point has its own mean, exactly"
    assert 0 < many.properties()["gap"] < usual.properties()["gap"] / 5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_most_points_are_solved_and_proved_near_the_bound(epsilon: float) -> None:
    m = om(epsilon, points=513)
    assert 0 < m.properties()["gap"] < om(epsilon).properties()["gap"] / 3


def test_more_weights_than_a_programme_has_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"at most 65 at epsilon 1 .* Add the weights of neighbours"):
        om(1.0, points=67, objective="even")
    with pytest.raises(ParameterError, match="points must be at most 65"):
        om(1.0, prior=[1] * 67)


def test_other_objectives_are_better_at_what_they_are_for() -> None:
    usual = om(2.0, points=17)
    even, centre = om(2.0, points=17, objective="even"), om(2.0, points=17, objective="centre")
    weights = np.where(np.abs(np.arange(-8, 9)) <= 2, 1.0, 0.0)
    near = om(2.0, prior=weights.tolist())
    noises = {m: np.array([float(v) for v in m.law.noises]) * m.unit for m in (usual, even, centre, near)}
    assert noises[even].mean() < noises[usual].mean()
    assert even.value == pytest.approx(noises[even].mean(), rel=1e-9)
    assert noises[centre][8] < min(noises[m][8] for m in (usual, even, near))
    assert centre.value == pytest.approx(least_at_centre(2.0), rel=5e-3)
    assert near.value == pytest.approx((noises[near] * weights).sum() / weights.sum(), rel=1e-9)
    assert near.value < (noises[usual] * weights).sum() / weights.sum()
    for m in (even, centre, near):
        assert 0 <= m.properties()["gap"] <= 0.03
        assert m.epsilon_exact <= 2.0
    lean = om(1.0, prior=[3, 2, 1, 1, 1])
    assert float(lean.law.noises[0]) < float(lean.law.noises[-1])
    assert dn.from_design(lean.design) == lean
    assert lean.properties()["gap"] >= 0


def test_a_reader_recomputes_the_bound_and_solves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    m = om(2.0, points=9)
    text = json.dumps(m.design)
    monkeypatch.setattr("scipy.optimize.linprog", None)
    again = dn.from_design(json.loads(text))
    assert again == m
    assert again.properties() == m.properties()
    rows = [list(row) for row in m.certificate]
    rows[0][3] += rows[0][2]  # a larger A promises more than it proves
    other = dn.from_design({**m.design, "params": {**m.params, "certificate": rows}})
    assert other.bound <= m.bound


@pytest.mark.parametrize("case", GOLDEN["mean_log_uniform"], ids=lambda c: f"{c['epsilon']:g}-{c['outputs']}")
def test_log_uniform_designs_are_the_golden_ones(case: dict[str, Any]) -> None:
    m = dn.mechanism("lu", epsilon=case["epsilon"], interval=(-1, 1), outputs=case["outputs"])
    assert m.properties()["variance_mean"] == pytest.approx(case["worst"], rel=2e-8)
    if case["grid"]:
        assert m.grid.at(np.array(m.table.places)).tolist() == pytest.approx(case["grid"], abs=1e-8)
        noises = [float(v) * m.unit for v in m.law.noises]
        assert noises == pytest.approx(case["variance_at_grid"], rel=2e-8)
    assert m.properties()["bound"] < m.properties()["variance_mean"]


# ---- the integers


def pairs_of(m: Any, rng: Random, count: int) -> Fraction:
    """The largest ratio of two numbers' reports, of so many random pairs, and with the ends."""
    table, places, worst = m.table, m.table.places, Fraction(1)

    def law(x: int) -> list[Fraction]:
        i = min(next(i for i in range(len(places) - 1, -1, -1) if places[i] <= x), len(places) - 2)
        up = Fraction(x - places[i], places[i + 1] - places[i])
        return [(1 - up) * a + up * b for a, b in zip(table.row(i), table.row(i + 1), strict=True)]

    for _ in range(count):
        one, two = (law(rng.choice((0, m.k - 1, rng.randrange(m.k)))) for _ in range(2))
        worst = max(worst, *(a / b for a, b in zip(one, two, strict=True)))
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_numbers_between_places_stay_within_the_ratio(epsilon: float) -> None:
    m = om(epsilon, points=9 if epsilon < 3 else 33)
    found = pairs_of(m, Random(1), 150)
    assert 1 < found <= m.table.ratio <= exp_bounds(epsilon)[0]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_fifteen_hundred_pairs_stay_within_the_ratio(epsilon: float) -> None:
    m = om(epsilon)
    assert pairs_of(m, Random(2), 500) <= m.table.ratio <= exp_bounds(epsilon)[0]


def test_golden_tables_are_unbiased_and_within_their_ratio() -> None:
    """Tables of somebody else's integers: the kernel takes them where a row has few weights of its own."""
    for case in GOLDEN["mean_tables"]:
        half, estimates = case["points"] // 2, case["estimates"]
        for x, row in enumerate(case["rows_upper_half"]):
            weights = [int(w) for w in row]
            assert sum(weights) == WORD
            assert sum(w * v for w, v in zip(weights, estimates, strict=True)) == x * WORD
        assert (
            om(case["epsilon"], points=case["points"]).properties()["variance_mean"] <= case["worst_variance"] * 1.0001
        )
        assert case["unit"] == f"1/{half}"


def test_a_tampered_table_is_refused_with_its_row_and_mean() -> None:
    m = om(1.0, points=9)
    table, rng = m.table, Random(3)
    for _ in range(12):
        rows = [list(row) for row in table.rows]
        i = rng.randrange(1, 8)
        at = rng.randrange(1, len(rows[i]) // 2 - 1) * 2 + 1
        rows[i][at] -= 1
        rows[i][at + 2] += 1
        with pytest.raises(ParameterError, match=rf"rows\[{i}\] (is biased: the mean|must be weights)"):
            replace(table, rows=tuple(map(tuple, rows)))
        rows[i][at] += 2
        with pytest.raises(ParameterError, match=rf"rows\[{i}\]"):
            replace(table, rows=tuple(map(tuple, rows)))
    other = {**m.design, "kernel": {**m.design["kernel"], "k": str(m.k + 1)}}
    with pytest.raises(FormatError):
        dn.from_design(other)


def test_rows_of_a_table_are_distributions_whatever_their_means() -> None:
    """The output that stands for 0 changes the sum of its row alone."""
    slight, half = 1 << 60, 1 << 63
    rest, rows = half - slight, ((0, 1), (2, 3))
    parts = {"k": 7, "places": (0, 6), "values": (0, 2, 4), "least": (slight, 1, slight), "most": (half, rest, half)}
    assert Lattice(**parts, rows=tuple((*row, 1, rest) for row in rows)).ratio == 8
    for off in (1, slight):
        with pytest.raises(ParameterError, match=r"rows\[0\] must have weights whose sum is 2\*\*64, got"):
            Lattice(**parts, rows=((0, 0, 0, half - off, 1, rest), (2, 3, 1, rest)))


def test_a_device_rounds_first_and_always_draws_two_words() -> None:
    m = om(1.0, points=9)
    device, kernel = Device(m.design), kernel_from(m.design["kernel"])
    for value in (-1.0, 1.0, 0.0, 0.125, 0.3):
        words = ReplayWords([5 << 60, 1 << 63])
        assert len(device.report(value, words=words)) == 1
        with pytest.raises(ParameterError, match="used up"):
            words.word()
    gap = kernel.places[1]
    for x, first, row in ((gap, WORD - 1, 1), (gap + 1, 0, 2), (gap + 1, WORD - 1, 1), (kernel.k - 1, WORD - 1, 8)):
        sums = np.cumsum(np.array(kernel.row(row), object))
        for y in range(kernel.outputs - 1):
            assert kernel.randomise(x, ReplayWords([first, int(sums[y]) - 1])) <= bytes([y])
            assert kernel.randomise(x, ReplayWords([first, int(sums[y])])) > bytes([y])
    with pytest.raises(ParameterError, match="from -1 to 1"):
        device.report(1.0000001)


def test_audits_of_large_tables_are_quick() -> None:
    m = om(4.0)
    assert (m.table.points, m.table.outputs) == (65, 63)
    best = math.inf
    for _ in range(5):
        start = time.process_time()
        made = Lattice(*(getattr(m.table, name) for name in ("k", "places", "values", "least", "most", "rows")))
        assert made.ratio <= exp_bounds(4.0)[0]
        best = min(best, time.process_time() - start)
    assert best < 0.05  # a tenth of it on a machine of its own


def test_bulk_reports_follow_the_rows_at_and_between_places() -> None:
    """Counts of 50,000 reports at three numbers against the law, by chi-square; alpha = 1e-6 in all."""
    from scipy.stats import chi2

    m = om(1.0, points=9)
    for x in (0, m.k // 3, m.k - 1):
        i = min(int(np.searchsorted(m.table.places, x, side="right")) - 1, 7)
        up = (x - m.table.places[i]) / (m.table.places[i + 1] - m.table.places[i])
        law = (1 - up) * m.law.table[i] + up * m.law.table[i + 1]
        reports = m.privatize_items(np.full(50_000, x), dn.simulation(x % 97))
        counts = np.bincount(reports.columns["value"], minlength=m.table.outputs)
        assert chi2.sf(((counts - 50_000 * law) ** 2 / (50_000 * law)).sum(), law.size - 1) > 1e-6 / 3
        wrong = m.law.table[(i + 4) % 9]
        assert chi2.sf(((counts - 50_000 * wrong) ** 2 / (50_000 * wrong)).sum(), law.size - 1) < 1e-12


def test_log_uniform_integers_hold_at_neighbouring_thresholds() -> None:
    kernel = log_uniform(0.5, 8, 257)
    assert kernel.ratio <= exp_bounds(0.5)[0]
    least, most = (tuple(w + by for w in part) for part, by in ((kernel.least, -1), (kernel.most, 1)))
    assert replace(kernel, least=least, most=most).ratio > exp_bounds(0.5)[0]
    with pytest.raises(ParameterError, match="tell them apart"):
        log_uniform(0.5, 64, 65)


# ---- estimates


def test_stated_variances_are_never_too_small_and_hardly_too_large() -> None:
    for epsilon in (0.5, 1.0, 4.0):
        m = om(epsilon)
        true = np.array([float(v) for v in m.law.noises])
        stated = m.law.table @ m.law.spread
        assert (stated >= true * (1 - 1e-12)).all()
        assert (stated <= 1.03 * true).all()
        assert float(m.law.worst) * m.unit == m.properties()["variance_mean"]


@pytest.mark.stat
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(4.0, marks=pytest.mark.slow)])
def test_intervals_cover(epsilon: float) -> None:
    """600 runs of 2,000 people. 95 % intervals: a count outside [543, 589] has probability below 1e-3 at 95 %; ones of
    half the variance cover 83 %, a count of 498, which is far below."""
    m, rng = om(epsilon), dn.simulation(5)
    numbers = np.random.default_rng(1).beta(2, 5, 2000) * 2 - 1
    items = m.domain.encode(numbers)
    truth, reached, narrow = numbers.mean(), 0, 0
    for own in rng.spawn(600):
        cells = m.bulk.simulate_items(items, np.ones(items.size, np.int64), own)
        z = (m.readings @ cells["value"][0]) / items.size
        part = m.parts(dn.Tally(m.design, m.bulk.strata, cells, simulated=True))["mean"]
        assert part.value[0] == pytest.approx(z, abs=1e-9)
        ends = part.interval(0.95, "reporters", False)
        reached += bool(ends.low[0] <= truth <= ends.high[0])
        narrow += bool(abs(z - truth) <= 0.707 * (ends.high[0] - ends.low[0]) / 2)
    assert 543 <= reached <= 589
    assert narrow < 543


def test_a_fit_finds_the_distribution_on_the_places() -> None:
    m = om(4.0, points=33)
    items = m.domain.encode(np.concatenate([np.full(30_000, -0.5), np.full(70_000, 0.5)]))
    fitted = m.fit(m.privatize_items(items, dn.simulation(3)), stderr=None)
    shares = dict(zip((float(label) for label in fitted.labels), fitted.value, strict=True))
    assert sum(share for x, share in shares.items() if abs(x + 0.5) < 0.2) == pytest.approx(0.3, abs=0.05)
    assert sum(share for x, share in shares.items() if abs(x - 0.5) < 0.2) == pytest.approx(0.7, abs=0.05)


# ---- the planner and the collector


def test_the_planner_ranks_om_first_and_says_what_it_costs() -> None:
    for epsilon in (0.25, 1.0):
        found = dn.plan(question="mean", interval=(0, 10), n=1000, epsilon=epsilon)
        first = found.designs[0]
        assert first.name == "om"
        assert {d.name for d in found.designs} >= {"hm", "pm", "duchi", "lu"}
        told = first.document()
        assert told["variance_worst"] * 1000 / 25 == pytest.approx(first.mechanism.properties()["variance_mean"])
        assert 0 <= told["gap"] <= 0.012
        assert 0.5 < told["asr"] < 0.9
        assert told["bytes"] == 1
    poison = {d.name: d.poisoning for d in dn.plan(question="mean", interval=(-1, 1), n=1, epsilon=1.0).designs}
    assert poison["om"] == pytest.approx((2.75 + 1) / 100, abs=2e-3)
    assert poison["duchi"] < poison["om"]
    assert dn.plan(question="mean", interval=(0, 10), n=1000, epsilon=9.0).designs[0].name == "hm"


@pytest.mark.slow
@pytest.mark.turns(5)
@pytest.mark.parametrize("part", range(5))
def test_no_design_is_below_the_bound(part: int) -> None:
    """Random settings: no row's worst variance is below the bound for the part of the interval that its grid spans."""
    rng = Random(f"bound {part}")
    for _ in range(8):
        epsilon, points = math.exp(rng.uniform(math.log(0.02), math.log(4))), rng.choice((5, 9, 64, 1024))
        grid = {"points": points, "layout": rng.choice(("midpoints", "endpoints"))}
        found = dn.plan(question="mean", interval=(-1, 1), n=1, epsilon=epsilon, **grid)
        bound = next(d.mechanism.bound for d in found.designs if d.name == "om")
        for d in found.designs:
            span = 1.0 if grid["layout"] == "endpoints" or d.name in ("om", "lu") else 1 - 1 / points
            if d.name in ("om", "lu") or points >= 64:  # on few points a mechanism need not be unbiased between them
                assert d.variance_worst >= bound * span**2 * (1 - 1e-9), (d.name, epsilon, grid)


@pytest.mark.parametrize("name", ["om", "arc"])
def test_a_task_runs_through_the_collector(name: str) -> None:
    """Devices send, the collector counts and publishes; what no device can have sent is rejected."""
    from deniable.service.tasks import Asked
    from service.calling import Service, item, task_of

    ends = {"om": {"interval": (-1, 1), "points": 9}, "arc": {"interval": (0, 24), "points": 24}}[name]
    m = dn.mechanism(name, epsilon=2.0, **ends)
    service, device = Service(), Device(m.design)
    id = service.add(task_of(Asked(text="When, or how much?", design=m.design), min_batch=5))
    words = Random(7)
    reports = [device.report(0.25, words=ReplayWords(words.getrandbits(64) for _ in range(9))) for _ in range(40)]
    assert service.fates(id, *(item(i, body) for i, body in enumerate(reports))) == ["accepted"] * 40
    assert service.fates(id, item(99, b"\xff")) != ["accepted"]
    service.store.set_state(id, "closed")
    reply = service.get(f"/v1/tasks/{id}/estimate", service.key("analyst"))
    assert reply.status == 200, reply.body
    (window,) = reply.json["windows"]
    found = window["questions"][0]["estimate"]
    rows = dn.Reports.from_rows(m.design, m.fields, reports, simulated=False)
    assert found["value"] == pytest.approx(m.estimate(m.tally(rows)).value.tolist())
    assert found["part"] == "mean"
    assert found["interval"] == list(ends["interval"])
