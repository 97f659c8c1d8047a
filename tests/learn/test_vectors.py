"""Vectors: the budget is divided exactly, few coordinates lose less, and bad data are refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import ParameterError
from deniable.learn import vectors
from deniable.learn.ledger import float_below
from deniable.learn.release import KINDS, Release
from deniable.learn.vectors import VectorRelease, best_coordinates, few_loss, sample_coordinates
from deniable.mechanisms.metric.bipartite import fine_limit, line_min
from deniable.randomness import simulation

GOLDEN = json.loads((Path(__file__).resolve().parents[1] / "golden/brr.json").read_text())["extra"]


def codebook_loss(epsilon: float) -> float:
    return Release("codebook", epsilon).loss


@pytest.mark.parametrize("row", GOLDEN["vector"], ids=lambda row: f"{row['d']}-{row['eps']}")
def test_losses_and_best_numbers_of_coordinates(row: dict[str, float]) -> None:
    width, epsilon = int(row["d"]), row["eps"]
    cases = (("codebook_split", "best_k", "codebook_on_k_rest_median", codebook_loss),)
    cases += (("BRR_split", "BRR_best_k", "BRR_on_k_rest_median", fine_limit),)  # golden: the limit of fine grids
    for split, best, rest, loss in cases:
        assert few_loss(width, width, epsilon, loss) == pytest.approx(row[split], rel=1e-12)
        assert best_coordinates(width, epsilon, loss) == row[best]
        assert few_loss(width, int(row[best]), epsilon, loss) == pytest.approx(row[rest], rel=1e-12)


@pytest.mark.parametrize("row", GOLDEN["scalar_pm1"], ids=lambda row: str(row["eps"]))
def test_loss_of_one_number(row: dict[str, float]) -> None:
    assert 2 * codebook_loss(row["eps"]) == pytest.approx(row["codebook"], rel=1e-12)
    assert row["codebook"] < 2 * Release("brr", row["eps"]).loss < row["BRR"] < row["laplace_truncated"]
    for kind in ("truncated", "clamped"):  # on a grid of 256 points; the golden ones are without a grid
        assert 2 * Release(kind, row["eps"]).loss == pytest.approx(row[f"laplace_{kind}"], rel=2 / 256)


@pytest.mark.parametrize(("points", "own"), [(None, 21), (8, 8)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_algorithm_4_is_the_published_one(epsilon: float, points: int | None, own: int) -> None:
    """Points from end to end, and the m that no value loses by; both differ from those of `brr`."""
    made = Release("alg4", epsilon, points).mechanism
    assert made.domain.points.tolist() == pytest.approx(np.linspace(-1, 1, own).tolist())
    assert made.m == line_min(own, epsilon)
    assert made.domain.points.tolist() != Release("brr", epsilon, own).mechanism.domain.points.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_budgets_sum_exactly_and_every_mechanism_keeps_its_own(kind: str) -> None:
    weights = [1, 2, 0.5, 0, 3.3]
    made = VectorRelease(epsilon=3.7, kind=kind, weights=weights, seed=1).fit(np.zeros((1, 5)))
    assert made.ledger_.total == sum(made.budgets_) == Fraction(3.7)
    spent = [Release(kind, float_below(b)).mechanism.proof.epsilon for b in made.budgets_ if b]
    assert sum(Fraction(e) for e in spent) <= Fraction(3.7)
    assert [b == 0 for b in made.budgets_] == [w == 0 for w in weights]


def test_a_coordinate_without_budget_says_nothing() -> None:
    made = VectorRelease(epsilon=2, weights=[1, 0], low=[0, 10], high=[1, 30], seed=1)
    rows = np.array([[0.3, 11.0], [0.9, 29.0]])
    assert made.fit_transform(rows)[:, 1].tolist() == [20, 20]


@pytest.mark.filterwarnings("ignore::deniable.learn.vectors.NothingReleased")
@pytest.mark.parametrize(
    ("epsilon", "kind", "count"), [(0.25, "brr", 0), (1.0, "codebook", 1), (8.0, "pm", 3), (1.0, "pm", 1)]
)
def test_best_number_is_taken(epsilon: float, kind: str, count: int) -> None:
    made = VectorRelease(epsilon=epsilon, kind=kind, coordinates="best", seed=3)
    rows = np.full((50, 14), 0.125)
    out = made.fit_transform(rows)
    assert made.count_ == count
    assert made.ledger_.total == (Fraction(epsilon) if count else 0)
    assert (np.sum(out != 0.5, axis=1) <= count).all()


@pytest.mark.stat
def test_mean_error_is_the_one_foretold() -> None:
    """Uniform data, 14 coordinates at epsilon 3.5: z-tests at alpha = 1e-6; few coordinates are better, paired."""
    rows = simulation(11).generator().random((20_000, 14))
    errors = {}
    for coordinates, count in (("all", 14), ("best", 1)):
        out = VectorRelease(epsilon=3.5, coordinates=coordinates, seed=12).fit_transform(rows)
        each = np.abs(out - rows).mean(axis=1)
        foretold = few_loss(14, count, 3.5, codebook_loss)
        z = (each.mean() - foretold) / (each.std() / np.sqrt(len(each)))
        assert abs(z) < 4.9
        errors[coordinates] = each
    gain = errors["all"] - errors["best"]
    assert gain.mean() / (gain.std() / np.sqrt(len(gain))) > 4.9


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["pm", "duchi"])
@pytest.mark.parametrize("points", [None, 4])
def test_unbiased_kinds_are_unbiased_between_the_points_of_the_grid_too(kind: str, points: int | None) -> None:
    """z-tests at alpha = 1e-6; the bias that a codebook has would be found, and that of rounding to 4 points."""
    truth = np.array([-1.0, -0.3337, 0.0001, 0.77777, 1.0])
    out = Release(kind, 2.0, points).draw(np.tile(truth, (40_000, 1)), simulation(21))
    error = out.std(axis=0) / 200
    assert (np.abs(out.mean(axis=0) - truth) < 4.9 * error).all()
    bias = Release("codebook", 2.0).mean_of(truth) - truth
    assert np.abs(bias[[0, 3, 4]]).min() > 4.9 * error.max()


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["codebook", "brr"])
def test_the_bias_is_the_one_that_is_stated(kind: str) -> None:
    """z-tests at alpha = 1e-6 of the mean of what is released; it is drawn to the middle."""
    release, truth = Release(kind, 1.0), np.array([-1.0, -0.4, 0.2, 0.9])
    out = release.draw(np.tile(truth, (40_000, 1)), simulation(22))
    assert (np.abs(out.mean(axis=0) - release.mean_of(truth)) < 4.9 * out.std(axis=0) / 200).all()
    assert (np.abs(release.mean_of(truth[[0, 3]])) < 0.6).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [None, 4])
@pytest.mark.parametrize("coordinates", ["all", 2])
def test_what_is_drawn_of_a_row_is_released_on_as_many_points_as_all_of_it(
    kind: str, points: int | None, coordinates: str | int
) -> None:
    """By hand, with the same random numbers: the budget of one coordinate, and as many points as were asked for."""
    rows = np.random.default_rng(8).uniform(-1, 1, (20, 3))
    made = VectorRelease(epsilon=2.0, kind=kind, coordinates=coordinates, points=points, low=-1, high=1).fit(rows)
    (budget,) = set(made.budgets_)
    release, stream, by_hand = Release(kind, float_below(budget), points), simulation(3), np.zeros_like(rows)
    if coordinates in ("all", 3):
        by_hand[:] = release.draw(rows, stream)
    else:
        at = sample_coordinates(20, 3, made.count_, stream)
        np.put_along_axis(by_hand, at, release.draw(np.take_along_axis(rows, at, axis=1), stream), axis=1)
    assert made.release_unit(rows, simulation(3)).tolist() == by_hand.tolist()
    assert (np.count_nonzero(by_hand, axis=1) <= made.count_).all()


@pytest.mark.stat
def test_coordinates_are_drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square of pairs of 5 coordinates at alpha = 1e-6, in several blocks."""
    monkeypatch.setattr(vectors, "_TOGETHER", 5 * 777)
    at = sample_coordinates(20_000, 5, 2, simulation(23))
    assert (at[:, 0] < at[:, 1]).all()
    counts = np.bincount(at[:, 0] * 5 + at[:, 1], minlength=25)
    assert np.count_nonzero(counts) == 10
    assert chisquare(counts[counts > 0]).pvalue > 1e-6
    assert chisquare(np.bincount(sample_coordinates(20_000, 5, 1, simulation(24))[:, 0], minlength=5)).pvalue > 1e-6


@pytest.mark.parametrize(
    ("options", "rows", "words"),
    [
        ({}, [[0.5, float("nan")]], r"X must be finite numbers, got NaN in row 0, column 1"),
        ({}, [0.5, 0.5], r"X must be two-dimensional"),
        ({}, [["a"]], r"X must be an array of numbers"),
        ({}, np.zeros((0, 2)), r"X has 0 sample"),
        ({}, [[0.5, 1.5]], r"X must be within its public bounds, got 1.5 at \(0, 1\)"),
        ({"epsilon": 0}, [[0.5]], r"epsilon must be a finite number > 0"),
        ({"kind": "gauss"}, [[0.5]], r"kind must be one of codebook, brr, alg4, truncated, clamped, pm, duchi"),
        ({"weights": [1.0]}, [[0.5, 0.5]], r"weights must be 2 finite numbers"),
        ({"weights": [1, 1], "coordinates": 1}, [[0.5, 0.5]], r'weights must be given with "all" only'),
        ({"coordinates": 3}, [[0.5, 0.5]], r'coordinates must be "all", "best" or a number from 1 to 2'),
        ({"low": 2}, [[0.5]], r"low must be below high"),
        ({"low": [0, 0, 0]}, [[0.5, 0.5]], r"low must be one number, or one for each of 2"),
        ({"weights": [1, 1e-9]}, [[0.5, 0.5]], r"the smallest share of epsilon must be at least"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, object], rows: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        VectorRelease(**options).fit_transform(rows)  # type: ignore[arg-type]


def test_other_width_than_learned_is_refused_and_clip_is_a_choice() -> None:
    made = VectorRelease(seed=1, clip=True).fit([[0.1, 0.2]])
    with pytest.raises(ParameterError, match="X has 3 features, but VectorRelease is expecting 2 features"):
        made.transform([[0.1, 0.2, 0.3]])
    assert made.transform([[7.0, -7.0]]).shape == (1, 2)
    with pytest.raises(ParameterError, match="has learned nothing yet"):
        VectorRelease().transform([[0.1]])


def test_secure_unless_seeded() -> None:
    rows = np.full((64, 3), 0.4)
    one, two = (VectorRelease(epsilon=1.0).fit_transform(rows) for _ in range(2))
    assert (one != two).any()
    made = [VectorRelease(epsilon=1.0, seed=5) for _ in range(2)]
    assert (made[0].fit_transform(rows) == made[1].fit_transform(rows)).all()
    assert made[0].simulated_
