"""Means of numbers: unbiased and with the stated variance for every value, in fractions; windows; the estimate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.core.grid import Grid
from deniable.errors import MergeError, ParameterError, PrivacyError
from deniable.mechanisms.numeric.base import Duchi, Hybrid, Numeric, Piecewise, SquareWave
from deniable.mechanisms.numeric.estimate import mean_part
from deniable.mechanisms.numeric.laws import Blend, Lean, Sliding, best_blend, best_window, wave_window
from deniable.testing import check_closed_forms
from tiers import every

GRIDS = [Grid.of(0, 1, 2), Grid.of(-3, 5, 3), Grid.of(0, 100, 8, layout="endpoints"), Grid.of(1, 2, 13)]
MAKERS: dict[str, Callable[..., Numeric]] = {
    "sw": SquareWave.optimal,
    "pm": Piecewise.optimal,
    "pm-paper": lambda **given: Piecewise.optimal(window="paper", **given),
    "pm-wide": lambda **given: Piecewise.optimal(m=2 * given["domain"].k, **given),
    "duchi": Duchi,
    "hm": Hybrid.optimal,
    "hm-half": lambda **given: Hybrid(m=given["domain"].k, share=0.5, **given),
}
CASES = [
    pytest.param(make, grid, epsilon, id=f"{name}-{grid.k}-{epsilon:g}")
    for name, make in MAKERS.items()
    for grid in GRIDS
    for epsilon in (1e-6, 0.1, 1.0, 4.0, 30.0)
]


@pytest.mark.parametrize(("make", "grid", "epsilon"), CASES)
def test_every_value_is_estimated_without_bias_and_with_the_stated_variance(
    make: Callable[..., Numeric], grid: Grid, epsilon: float
) -> None:
    """All outputs of the exact channel, in fractions; the best guess under all priors; both variances of the mean."""
    assert "all moments of mean" in check_closed_forms(make(epsilon=epsilon, domain=grid))


@pytest.mark.parametrize(("make", "grid", "epsilon"), CASES)
def test_properties_are_those_of_the_channel(make: Callable[..., Numeric], grid: Grid, epsilon: float) -> None:
    m = make(epsilon=epsilon, domain=grid)
    told, sampled = m.properties(10), m.effective(10)
    channel = m.channel()
    assert told["asr"] == pytest.approx(float(channel.asr()), rel=1e-9)
    close = 1e-9 if epsilon <= 4 else 1e-3  # what 64-bit words leave of rare answers
    for name in ("variance_mean", "variance_worst"):
        assert told[name] == pytest.approx(sampled[name], rel=close)
    assert sampled["variance_worst"] == pytest.approx(float(m.law_exact.worst) * grid.step**2 / 10, rel=1e-12)
    assert told["bits"] == pytest.approx(math.log2(len(channel.outputs)))
    assert told["bytes"] == m.bulk.row_bytes


@pytest.mark.parametrize("k", [2, 3, 5, 16, 64, 300])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 700.0])
def test_the_best_window_is_the_best_of_all(k: int, epsilon: float) -> None:
    worst = [Sliding.ideal(epsilon, k, m).worst for m in range(1, 4 * k)]
    assert Sliding.ideal(epsilon, k, best_window(epsilon, k)).worst == min(worst)


@pytest.mark.parametrize(("epsilon", "k"), every(3, product([0.1, 0.5, 0.8, 1.0, 2.0, 4.0, 8.0], [2, 3, 9, 40])))
def test_the_best_blend_is_the_best_of_all(k: int, epsilon: float) -> None:
    """Against all windows and a thousand shares, and never above the better of its two kinds."""
    bit = Lean.ideal(epsilon, k)

    def worst(m: int, share: float) -> float:
        return Blend(Sliding.ideal(epsilon, k, m), bit, share).worst

    found = worst(*best_blend(epsilon, k))
    shares = np.linspace(0, 1, 1001)
    tried = min(worst(m, share) for m in range(1, 2 * k + 1) for share in shares[:: 1 if k < 9 else 25].tolist())
    assert found <= tried * (1 + 1e-12)
    assert found <= min(bit.worst, Sliding.ideal(epsilon, k, best_window(epsilon, k)).worst) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.8, 1.0, 2.0, 4.0])
def test_the_hybrid_beats_the_papers_and_both_of_its_kinds(epsilon: float) -> None:
    """On [-1, 1]; the paper's hybrid has (s+3)/(3 s (s-1)) + ((e+1)/(e-1))^2/s, s = e^(eps/2) [Wang19]."""
    grid, e, s = Grid.of(-1, 1, 4096), math.exp(epsilon), math.exp(epsilon / 2)
    found = Hybrid.optimal(epsilon=epsilon, domain=grid).properties()["variance_worst"]
    paper = (s + 3) / (3 * s * (s - 1)) + ((e + 1) / (e - 1)) ** 2 / s
    others = [make(epsilon=epsilon, domain=grid).properties()["variance_worst"] for make in (Piecewise.optimal, Duchi)]
    assert found < 0.999 * paper
    assert found < 0.97 * min(others)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0, 8.0])
def test_the_best_window_tends_to_the_root(epsilon: float) -> None:
    e, k = math.exp(epsilon), 1 << 20
    roots = np.roots([e**2, 2 * e, 0.0, -2 * e, -1.0])
    (share,) = [float(r.real) for r in roots if abs(r.imag) < 1e-9 and r.real > 0]
    assert best_window(epsilon, k) == pytest.approx(share * k, rel=1e-4)


def test_the_table_of_variances() -> None:
    """The numbers of docs/maths/numeric.md, section 3, read from the page."""
    page = (Path(__file__).parents[2] / "docs/maths/numeric.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    grid = Grid.of(-1, 1, 1 << 16)
    for row in rows:
        epsilon, *told = map(float, row)
        made = (
            Piecewise.optimal(epsilon=epsilon, domain=grid),
            Piecewise.optimal(epsilon=epsilon, domain=grid, window="paper"),
            Duchi(epsilon=epsilon, domain=grid),
            Hybrid.optimal(epsilon=epsilon, domain=grid),
        )
        for m, cell, text in zip(made, told, row[1:], strict=True):
            digit = 0.5 * 10.0 ** -len(text.partition(".")[2])
            assert m.properties()["variance_worst"] == pytest.approx(cell, abs=1.01 * digit), (epsilon, m.name)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_fine_grids_have_the_variances_of_the_papers(epsilon: float) -> None:
    """On [-1, 1]: the piecewise mechanism's largest variance is 4 s/(3 (s-1)^2) [Wang19], Duchi's ((e+1)/(e-1))^2."""
    s, k = math.exp(epsilon / 2), 1 << 14
    grid = Grid.of(-1, 1, k)
    paper = Piecewise.optimal(epsilon=epsilon, domain=grid, window="paper")
    assert paper.properties()["variance_worst"] == pytest.approx(4 * s / (3 * (s - 1) ** 2), rel=2e-3)
    e = math.exp(epsilon)
    assert Duchi(epsilon=epsilon, domain=grid).properties()["variance_worst"] == pytest.approx(
        ((e + 1) / (e - 1)) ** 2, rel=2e-3
    )


@pytest.mark.parametrize(("epsilon", "gain"), [(1.0, 0.029), (2.0, 0.10), (4.0, 0.32)])
def test_the_best_window_beats_the_papers(epsilon: float, gain: float) -> None:
    grid = Grid.of(-1, 1, 1024)
    best, paper = (Piecewise.optimal(epsilon=epsilon, domain=grid, window=w).properties() for w in ("best", "paper"))
    assert best["variance_worst"] < (1 - gain) * paper["variance_worst"]


@pytest.mark.parametrize(
    ("epsilon", "k", "half"),
    [(1.0, 64, 16), (2.0, 64, 8), (0.1, 1000, 467), (0.5, 1000, 358), (4.0, 1000, 30), (1e-9, 1000, 499)],
)
def test_the_square_wave_is_as_wide_as_its_paper_says(epsilon: float, k: int, half: int) -> None:
    """2 floor(b k) + 1 with b = (eps e - e + 1)/(2 e (e - 1 - eps)), evaluated with 50 digits."""
    assert wave_window(epsilon, k) == 2 * half + 1


def test_the_series_and_the_formula_of_the_width_meet() -> None:
    assert wave_window(0.00999999, 1 << 20) == pytest.approx(wave_window(0.01000001, 1 << 20), abs=4)


def test_formulas_reach_epsilon_700_where_samplers_refuse() -> None:
    for name, make in MAKERS.items():
        m = make(epsilon=700.0, domain=Grid.of(0, 1, 64))
        assert 0 <= m.properties()["variance_mean"] < (0.4 if name in ("pm-wide", "duchi", "hm-half") else 1e-9), name
        assert isinstance(m.refusal, PrivacyError)


def counts_of(m: Numeric, items: list[int], seed: int) -> Tally:
    return m.tally(m.privatize_items(np.array(items), dn.simulation(seed)))


def test_the_mean_is_read_from_the_counts_in_units_of_the_interval() -> None:
    """Against one unbiased number per report, averaged."""
    for make in MAKERS.values():
        m = make(epsilon=1.0, domain=Grid.of(10, 20, 7))
        reports = m.privatize(np.linspace(10, 20, 500), rng=dn.simulation(1))
        law = m.law_exact
        each = [m.grid.at(float(law.unbiased(int(y)))) for y in reports.columns["value"]]
        assert m.unbiased(reports) == pytest.approx(each, rel=1e-12)
        assert m.estimate(m.tally(reports)).value == pytest.approx([np.mean(each)], rel=1e-12)
        with pytest.raises(ParameterError, match="reports of this very design"):
            make(epsilon=1.5, domain=m.domain).unbiased(reports)


@pytest.mark.parametrize("name", ["sw", "pm"])
def test_the_variance_of_the_reporters_mean_is_estimated_without_bias(name: str) -> None:
    """Over all pairs of reports of two people with different values, in floats of exact chances."""
    m = MAKERS[name](epsilon=2.0, domain=Grid.of(0, 1, 5))
    channel, matrix = m.channel(), m.channel().matrix()
    x, other = 0, 3
    told = spread = mean = 0.0
    for a in range(len(channel.outputs)):
        for b in range(len(channel.outputs)):
            chance = matrix[x, a] * matrix[other, b]
            counts = np.bincount([a, b], minlength=len(channel.outputs))
            part = mean_part(m.law_exact, counts, m.grid)
            told += chance * part.reporters
            mean += chance * part.mean
            spread += chance * part.mean**2
    assert mean == pytest.approx((m.grid.at(x) + m.grid.at(other)) / 2, rel=1e-12)
    assert told == pytest.approx(spread - mean**2, rel=1e-9)


@pytest.mark.parametrize("name", list(MAKERS))
def test_the_variance_of_the_populations_mean_is_estimated_without_bias_or_bounded(name: str) -> None:
    """Two people drawn from a population; bits are few here, so that their bound is not tight."""
    m = MAKERS[name](epsilon=2.0, domain=Grid.of(0, 1, 5))
    matrix = m.channel().matrix()
    law = np.array([0.5, 0.2, 0.0, 0.2, 0.1]) @ matrix
    told = spread = mean = 0.0
    for a in range(law.size):
        for b in range(law.size):
            part = mean_part(m.law_exact, np.bincount([a, b], minlength=law.size), m.grid)
            told += law[a] * law[b] * float(part.variance("population")[0])
            mean += law[a] * law[b] * float(part.value[0])
            spread += law[a] * law[b] * float(part.value[0]) ** 2
    assert mean == pytest.approx(float(np.array([0.5, 0.2, 0.0, 0.2, 0.1]) @ m.grid.points), rel=1e-12)
    if name == "duchi":
        assert told >= spread - mean**2
    else:
        assert told == pytest.approx(spread - mean**2, rel=1e-9)


ALPHA = 1e-6
"""False alarm rate of each case of the test below: a normal quantile for runs of 400 means."""


@pytest.mark.stat
@pytest.mark.parametrize("name", list(MAKERS))
def test_intervals_cover_as_often_as_they_say(name: str) -> None:
    """400 collections from one population: 90 % intervals; 80 % or 97 % would be seen (binomial, alpha 1e-6)."""
    from scipy.stats import binom

    m = MAKERS[name](epsilon=1.0, domain=Grid.of(0, 1, 64))
    runs, level, n = 400, 0.9, 600
    population = np.random.default_rng(5).beta(2, 5, n)
    truth = float(m.grid.points[m.domain.encode(population)].mean())
    hits = 0
    for rng in dn.simulation(77).spawn(runs):
        found = m.estimate(m.tally(m.privatize(population, rng=rng))).interval(level)
        hits += bool(found.covers(np.array([truth]))[0])
    low, high = binom.ppf(ALPHA / 2, runs, level), binom.isf(ALPHA / 2, runs, level)
    assert low <= hits <= high
    assert binom.cdf(low - 1, runs, 0.8) > 0.5, "too narrow intervals would be seen"
    assert binom.sf(high, runs, 0.97) > 0.5, "too wide intervals would be seen"


def test_one_report_has_a_finite_spread() -> None:
    for make in MAKERS.values():
        m = make(epsilon=1.0, domain=Grid.of(0, 1, 16))
        found = m.estimate(counts_of(m, [3], 1))
        for target in ("reporters", "population"):
            assert 0 < found.variance(target)[0] < math.inf  # type: ignore[arg-type]
        if not isinstance(m, Duchi):  # values may be as unlike as the interval allows
            most = float(m.law_exact.worst) * m.grid.step**2 + (m.grid.step * (m.k - 1) / 2) ** 2
            assert found.variance("population")[0] == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("name", list(MAKERS))
def test_errors_follow_the_unit_of_the_interval_however_alike_the_values_are(name: str) -> None:
    """The same reports on an interval a hundred times as wide; of some seeds they vary less than equal values do."""
    one, wide = (MAKERS[name](epsilon=1.0, domain=Grid.of(*ends, 64)) for ends in ((0, 1), (10, 110)))
    alike = 0
    for seed in range(6):
        small, large = (m.estimate(counts_of(m, [5] * 40, seed)) for m in (one, wide))
        for target in ("reporters", "population"):
            few, many = (found.interval(0.9, target) for found in (small, large))  # type: ignore[arg-type]
            assert many.low - 10 == pytest.approx(100 * few.low, rel=1e-9, abs=1e-9)
            assert many.high - 10 == pytest.approx(100 * few.high, rel=1e-9, abs=1e-9)
            assert large.variance(target) == pytest.approx(1e4 * small.variance(target), rel=1e-9)  # type: ignore[arg-type]
            alike += any("hardly more" in note for note in few.notes)
    assert alike > 0 or name == "duchi"


def test_the_estimate_is_one_number_with_its_history() -> None:
    m = Piecewise.optimal(epsilon=1.0, domain=Grid.of(0, 100, 1024))
    found = m.estimate(counts_of(m, [5] * 100, 2))
    assert found.labels == ("mean",)
    assert list(found.parts) == ["mean"]
    assert found["mean"].value.shape == (1,)
    assert found.covariance().shape == (1, 1)
    assert found.to_columns()["label"] == ["mean"]
    assert "rounded to 1024 points (by at most 0.0488)" in found.steps[0]
    assert not found.biased
    with pytest.raises(ParameterError, match="Only frequencies sum to 1"):
        found.project()


def test_what_does_not_fit_is_refused() -> None:
    grid = Grid.of(0, 1, 16)
    m = Piecewise.optimal(epsilon=1.0, domain=grid)
    with pytest.raises(ParameterError, match="domain must be a grid of numbers"):
        Piecewise(epsilon=1.0, domain=dn.mechanism("grr", epsilon=1.0, k=4).domain, m=2)
    for bad in (0, 33, 2.0, True):
        with pytest.raises(ParameterError, match="m must be an integer from 1 to twice the number of points, 32"):
            Piecewise(epsilon=1.0, domain=grid, m=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="points must be at most"):
        Duchi(epsilon=1.0, domain=Grid.of(0, 1, (1 << 20) + 1))
    with pytest.raises(ParameterError, match=r"numbers from 0 to 1, got 1\.5 at position 1"):
        m.privatize([0.5, 1.5])
    with pytest.raises(MergeError, match="domain is"):
        m.tally(Piecewise(epsilon=1.0, domain=Grid.of(0, 2, 16), m=m.m).privatize([0.5]))
    with pytest.raises(ParameterError, match="a tally of at least one report"):
        m.estimate(m.empty())
    with pytest.raises(ParameterError, match="coins must be left out: a "):
        m.privatize([0.5], coins=np.array([1], np.uint64))


def test_laws_agree_with_each_other_for_two_points() -> None:
    """With two points and a window of one, both are randomised response."""
    one, two = Sliding.ideal(1.0, 2, 1), Lean.ideal(1.0, 2)
    assert (one.pull, one.shift) == pytest.approx((two.pull, two.shift))
    assert one.worst == pytest.approx(two.worst)


def test_the_population_s_interval_of_few_reports_is_that_of_the_variance_about_the_mean_tested() -> None:
    """With n reports the variance about a mean z standard errors away is n/(n - z^2) times that about the one seen."""
    m = Piecewise.optimal(epsilon=4.0, domain=Grid.of(0, 1, 64))
    found = m.estimate(counts_of(m, list(range(0, 63, 3)), 2))
    assert found.n == 21
    z2 = 1.959963984540054**2
    ends, spread = found.interval(0.95, "population"), float(found.variance("population")[0])
    assert (ends.high - ends.low) / 2 == pytest.approx(math.sqrt(z2 * spread * 21 / (21 - z2)), rel=1e-9)
