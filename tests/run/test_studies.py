"""What studies measure is what their own rows say, computed again by hand; people that are made up are as described."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.circle import Circle
from deniable.core.grid import Grid
from deniable.plan.survey import survey
from deniable.run.studies import survey as tried
from deniable.run.studies.direction import simulate_direction
from deniable.run.studies.frequency import simulate
from deniable.run.studies.keyvalue import simulate_keyvalue
from deniable.run.studies.mean import simulate_mean

ASKED: dict[str, Any] = {"n": 300, "runs": 4, "seed": 3, "level": 0.8}


def spread(values: list[float]) -> float:
    """Standard error of a mean."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values))


def covered(columns: Any, truth: str = "truth", low: str = "low", high: str = "high") -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = (columns[low] <= columns[truth]) & (columns[truth] <= columns[high])
    return found


@pytest.mark.parametrize("project", [False, True])
def test_a_study_of_shares_measures_what_its_runs_show(project: bool) -> None:
    make = partial(_mechanism, "ss")
    found = simulate("zipf", make, domain=dn.Domain.of(6), project=project, **ASKED)
    raw = simulate("zipf", make, domain=dn.Domain.of(6), **ASKED)
    m = _mechanism("ss", dn.Domain.of(6))
    columns = [one.columns for one in raw.shown]
    truth = dn.datasets.synthetic("zipf", k=6, n=300).frequencies
    assert all((one["truth"] == truth).all() for one in columns)
    squares = [float(np.mean((one["value"] - truth) ** 2)) for one in columns]
    measured = found.measured
    assert measured["mse"] == pytest.approx(sum(squares) / 4)
    assert measured["mse_predicted"] == pytest.approx(m.effective(300)["mse"])
    assert measured["ratio"] == pytest.approx(measured["mse"] / measured["mse_predicted"])
    assert measured["ratio_stderr"] == pytest.approx(spread(squares) / measured["mse_predicted"])
    largest = [float(np.abs(one["value"] - truth).max()) for one in columns]
    assert measured["max_abs_error"] == pytest.approx(sum(largest) / 4)
    held = [float(covered(one).mean()) for one in columns]
    assert measured["coverage"] == pytest.approx(sum(held) / 4)
    assert measured["coverage_stderr"] == pytest.approx(spread(held))
    shown = [one.columns["value"] for one in found.shown]
    moved = [float(np.mean((value - truth) ** 2)) for value in shown]
    if project:
        assert measured["mse_projected"] == pytest.approx(sum(moved) / 4)
        assert all(abs(value.sum() - 1) < 1e-9 and value.min() >= 0 for value in shown)
    else:
        assert measured["mse_projected"] < measured["mse"]
        assert any(value.min() < 0 for value in shown)
    assert (found.n, found.runs, found.seed, measured["level"]) == (300, 4, 3, 0.8)
    assert len({*squares}) == 4


def _mechanism(name: str, domain: Any = None, **own: Any) -> Any:
    return dn.mechanism(name, epsilon=1.0, domain=domain, **own)


def test_a_study_of_means_measures_what_its_runs_show() -> None:
    make = partial(_mechanism, "duchi", interval="-2,6")
    found = simulate_mean("zipf", make, **ASKED)
    m = make()
    grid, _ = m.coarse
    people = dn.datasets.synthetic("zipf", k=grid.k, n=300)
    truth = float(people.frequencies @ grid.points)
    columns = [one.columns for one in found.shown]
    errors = [float(one["value"][0]) - truth for one in columns]
    measured = found.measured
    assert measured["truth"] == pytest.approx(truth)
    assert measured["interval"] == [-2.0, 6.0]
    assert measured["bias"] == pytest.approx(sum(errors) / 4)
    assert measured["bias_stderr"] == pytest.approx(spread(errors))
    assert measured["mse"] == pytest.approx(sum(x * x for x in errors) / 4)
    held = [float(covered(one)[0]) for one in columns]
    assert measured["coverage"] == sum(held) / 4
    half = float(grid.points[-1] - grid.points[0]) / 2
    scale = half * (math.e + 1) / (math.e - 1)  # a report says one of two ends, so far from the middle of the interval
    variance = float(people.frequencies @ (scale**2 - (grid.points - 2) ** 2)) / 300
    assert measured["mse_predicted"] == pytest.approx(variance, rel=1e-9)
    assert found.document()["k"] == m.k


def test_a_study_of_directions_measures_the_shorter_way_around() -> None:
    name = next(name for name, row in dn.MECHANISMS.items() if row.question == "direction")
    own = {key: value for key, value in dn.MECHANISMS[name].small[0].items() if key != "epsilon"}
    make = partial(_mechanism, name, **own)
    m = make()
    circle = m.circle
    found = simulate_direction("zipf", make, **ASKED)
    people = dn.datasets.synthetic("zipf", k=circle.k, n=300)
    angles = 2 * math.pi * np.arange(circle.k) / circle.k
    x, y = float(people.frequencies @ np.cos(angles)), float(people.frequencies @ np.sin(angles))
    measured, period = found.measured, circle.high - circle.low
    assert measured["resultant"] == pytest.approx(math.hypot(x, y))
    truth = circle.low + math.atan2(y, x) / (2 * math.pi) * period
    assert math.isclose((measured["truth"] - truth + period / 2) % period, period / 2, abs_tol=1e-9)
    errors = [float(one.columns["value"][0]) - measured["truth"] for one in found.shown]
    near = [min((e + turn * period for turn in (-1, 0, 1)), key=abs) for e in errors]
    assert measured["bias"] == pytest.approx(sum(near) / 4)
    assert measured["mse"] == pytest.approx(sum(e * e for e in near) / 4)


def test_a_study_of_keys_measures_frequencies_and_means_of_keys_that_somebody_has() -> None:
    found = simulate_keyvalue("zipf:3", partial(_mechanism, "kv-ss2"), domain=dn.Domain.of(9), **ASKED)
    columns = [one.columns for one in found.shown]
    measured = found.measured
    squares = [float(np.mean((one["value"] - one["truth"]) ** 2)) for one in columns]
    assert measured["mse"] == pytest.approx(sum(squares) / 4)
    held = [float(covered(one).mean()) for one in columns]
    assert measured["coverage"] == pytest.approx(sum(held) / 4)
    truth = columns[0]["truth"]
    assert truth.min() == 0.0  # nobody has the last key
    means = [float(covered(one, "truth_mean", "mean_low", "mean_high")[truth > 0].mean()) for one in columns]
    assert measured["coverage_mean"] == pytest.approx(sum(means) / 4)
    assert (measured["pairs"], measured["top"], found.n) == (300, 9, 300)


# ---- surveys


def test_summaries_leave_out_what_is_too_rare_and_take_roots() -> None:
    rows = np.array(
        [[[4.0, 100.0], [1.0, 50.0], [1.0, 0.0], [0.0, 1.0]], [[16.0, 9.0], [3.0, 4.0], [0.0, 1.0], [0.0, 0.0]]]
    )
    found = tried._summary(rows)
    assert found == {
        "rmse": pytest.approx(math.sqrt((4 + 16 + 9) / 3)),
        "stderr": pytest.approx(math.sqrt((1 + 3 + 4) / 3)),
        "covered": pytest.approx(2 / 3),
        "runs": 2,
        "rare": 1,
    }
    rows[:, 3] = 1.0
    assert tried._summary(rows) == {"rmse": None, "stderr": None, "covered": None, "runs": 2, "rare": 4}
    rows[:, 3] = 0.0
    rows[:, 1] = -1.0
    assert tried._summary(rows)["stderr"] is None


def test_what_is_true_of_people_is_counted_by_hand() -> None:
    grr, numbers = _mechanism("grr", dn.Domain.of(["a", "b", "c"])), _mechanism("duchi", interval="0,10")
    assert tried._truths(grr, ["a", "c", "c", "a"])["frequency"].tolist() == [0.5, 0.0, 0.5]
    assert tried._truths(numbers, [1.0, 2.0, 9.0])["mean"] == pytest.approx([4.0], abs=0.01)
    pairs = _mechanism("kv-ss2", dn.Domain.of(["a", "b", "c"]))
    found = tried._truths(pairs, [[("a", 0.5)], [("a", -1.0), ("b", 1.0)], [], []])
    assert found["frequency"].tolist() == [0.5, 0.25, 0.0]
    assert found["mean"].tolist() == [-0.25, 1.0, 0.0]
    assert tried._truths(pairs, [[], []])["frequency"].tolist() == [0.0] * 3
    circle: Any = SimpleNamespace(takes="values", domain=Circle.around(0.0, 24.0, 24), k=24)
    around = float(tried._truths(circle, [23.0, 1.0, 0.0])["mean"][0])
    assert min(around, 24 - around) == pytest.approx(0.0, abs=1e-9)
    levels: Any = SimpleNamespace(takes="values with levels", domain=dn.Domain.of(2), k=2)
    assert tried._truths(levels, [(0, 1.0), (1, 2.0), (1, 1.0), (1, 1.0)])["frequency"].tolist() == [0.25, 0.75]


def test_first_answers_are_common_and_last_ones_rare() -> None:
    """10,000 people: each share within 5 standard deviations of its own, 0.5 percentage points each."""
    rng = dn.simulation(1)
    shares = np.bincount(tried._falling(4, 10_000, rng), minlength=4) / 10_000
    assert shares == pytest.approx(np.array([12, 6, 4, 3]) / 25, abs=0.025)
    low = tried._numbers(10_000, 6, rng)  # the second smallest of six uniform numbers: the mean is 2 / 7
    assert low.min() >= 0
    assert low.max() <= 1
    assert low.mean() == pytest.approx(2 / 7, abs=0.01)
    assert tried._numbers(10_000, 3, rng).mean() == pytest.approx(0.5, abs=0.015)
    numbers = tried._answers(SimpleNamespace(takes="values", domain=Grid.of(-2.0, 5.0, 8)), 1000, rng)
    assert min(numbers) >= -2
    assert max(numbers) <= 5
    assert np.mean(numbers) == pytest.approx(-2 + 7 * 2 / 7, abs=0.2)
    levels = tried._answers(
        SimpleNamespace(takes="values with levels", domain=dn.Domain.of(3), k=3, levels=(0.5, 2.0)), 5, rng
    )
    assert {level for _, level in levels} == {0.5}


def test_a_survey_that_is_tried_repeats_from_its_seed_and_hears_its_progress() -> None:
    made = survey({"a": 2, "b": 3}, epsilon=2.0)
    people = tried.made_up(made, 40, 5)
    assert {name: len(cells) for name, cells in people.items()} == {"a": 40, "b": 40}
    assert people != tried.made_up(made, 40, 6)
    heard: list[float] = []
    one = tried.simulate(made, people, runs=3, seed=1, progress=heard.append)
    assert heard == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert one == tried.simulate(made, people, runs=3, seed=1)
    assert one != tried.simulate(made, people, runs=3, seed=2)
    assert [*one] == ["a: frequency", "b: frequency"]
    assert {told["runs"] for told in one.values()} == {3}
    with pytest.raises(dn.ParameterError, match="people must be as many answers to every question"):
        tried.simulate(made, {**people, "a": people["a"][1:]}, runs=1)
    for wrong in (0, 100_001, 1.5):
        with pytest.raises(dn.ParameterError, match="runs must be a whole number from 1 to 100,000"):
            tried.simulate(made, people, runs=wrong)  # type: ignore[arg-type]
