"""Estimators of values at hidden levels: identities, moments against simulation, guard, EM and its certificate."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import deniable as dn
from deniable.core.types import FloatArray
from deniable.estimate.em import ConvergenceWarning
from deniable.estimate.fit import FitOptions
from deniable.kernels import using
from deniable.mechanisms.personal.base import evidence_of
from deniable.mechanisms.personal.em import fit_levels
from deniable.mechanisms.personal.estimate import (
    GuardWarning,
    LevelCounts,
    PersonalPart,
    choose,
    choose_utility,
    linear,
    plausible_shares,
)
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import rcf
from tiers import every

RUNS, PEOPLE = 200, 5000
FREQUENCIES = np.array([0.5, 0.25, 0.15, 0.1])


def made(**given: Any) -> Personal:
    m = dn.mechanism("pldp", **given)
    assert isinstance(m, Personal)
    return m


def people(n: int) -> Any:
    return np.repeat(np.arange(4), (FREQUENCIES * n).astype(int))


def test_one_level_is_the_plain_mechanism() -> None:
    for base in ("sue", "oue", "grr", "lh"):
        m = made(k=4, levels="1.5", base=base, **({"g": 4} if base == "lh" else {}))
        plain = m.bases[0]
        reports = m.privatize(people(2000), rng=dn.simulation(2))
        own = dn.Reports(plain.design, plain.fields, reports.columns, True)
        assert np.allclose(m.estimate(reports).value, plain.estimate(plain.tally(own)).value, atol=1e-12)
        assert m.guarantee["level"] == m.guarantee["leakage"] == 0
        assert m.guarantee["pair"] == pytest.approx(1.5, rel=1e-15)


def test_groups_are_public_levels_or_all_alike_in_the_limits() -> None:
    law = made(k=8, levels="0.5,1,2", base="sue", level_epsilon=30.0, shares="0.2,0.3,0.5").law
    assert np.allclose(law.groups(0.1, 100).weights, law.public().groups(0.1, 100).weights, rtol=1e-9)
    faint = made(k=8, levels="0.5,1,2", base="sue", level_epsilon=1e-6, shares="0.2,0.3,0.5").law
    groups = faint.groups(0.1, 100)
    assert np.allclose(groups.weights, groups.share, rtol=1e-5)
    assert groups.variance == pytest.approx(faint.known_shares(0.1, 100), rel=1e-5)


@pytest.mark.parametrize("base", ["sue", "oue", "lh", "grr", "affine"])
@pytest.mark.parametrize("report", ["response", "bit"])
def test_covariances_have_the_moments_on_their_diagonal(base: str, report: str) -> None:
    m = made(k=5, levels="0.5,1,2", base=base, level_epsilon=0.7, level_report=report, shares="0.5,0.3,0.2")
    f = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    for method in ("auem", "self") if base not in ("grr", "affine") else ("auem",):
        kept = m.law.covariance(method, base, f, 100, "reporters")  # type: ignore[arg-type]
        drawn = m.law.covariance(method, base, f, 100, "population")  # type: ignore[arg-type]
        for i, x in enumerate(f.tolist()):
            assert kept[i, i] == pytest.approx(m.moments(x, 100, method).random_levels, rel=1e-11)
            assert drawn[i, i] == pytest.approx(m.moments(x, 100, method).iid, rel=1e-11)
        if method == "self":
            assert np.abs(kept.sum(axis=0)).max() < 1e-12 * kept.max(), "these estimates sum to 1"
        assert np.linalg.eigvalsh(kept).min() > -1e-12 * kept.max()


def estimates(m: Personal, method: str, seed: int) -> FloatArray:
    """Estimates of many collections, drawn at once."""
    reports = m.privatize_items(np.tile(people(PEOPLE), RUNS), dn.simulation(seed))
    return np.array([m.estimate(reports[i * PEOPLE : (i + 1) * PEOPLE], method).value for i in range(RUNS)])


@pytest.mark.stat
@pytest.mark.parametrize(
    ("base", "method", "report"),
    every(
        4,
        [
            ("sue", "auem", "response"),
            ("sue", "auem", "bit"),
            ("sue", "self", "response"),
            ("oue", "self", "none"),
            ("oue", "auem", "response"),
            ("grr", "auem", "response"),
            ("lh", "auem", "bit"),
            ("lh", "self", "none"),
        ],
    ),
)
def test_first_order_variances_are_the_observed_ones(base: str, method: str, report: str) -> None:
    """Interquartile ranges, which the rare small denominators do not move. False alarm rate 1e-3 for all cases.

    An interquartile range of normal numbers over 1.349 has the relative standard error 1.166/sqrt(runs).
    """
    m = made(k=4, levels="0.5,1,3", base=base, level_epsilon=0.6, level_report=report, shares="0.3,0.3,0.4")
    values = estimates(m, method, seed=11)
    want = np.sqrt([m.moments(f, PEOPLE, method, effective=True).random_levels for f in FREQUENCIES])
    if report == "response" and method == "auem":
        assert m.law.gap > 3 * m.law.gap_error(PEOPLE), "this is about estimates above the guard"
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    z = norm.isf(1e-3 / (8 * 4 * 2))
    slack = z * 1.166 / np.sqrt(RUNS)
    ratio = (high - low) / 1.349 / want
    assert (np.abs(ratio - 1) < slack).all(), ratio
    bias = np.array([m.moments(f, PEOPLE, method).bias for f in FREQUENCIES])
    middle = np.median(values, axis=0) - FREQUENCIES
    assert (np.abs(middle) < np.abs(bias) + z * 1.2533 * want / np.sqrt(RUNS)).all(), middle / want


def test_the_variance_test_has_power_against_forgotten_level_noise() -> None:
    """Without the level reports' noise the predicted error would be off by more than the test allows."""
    m = made(k=4, levels="0.5,1,3", base="oue", level_epsilon=0.6, shares="0.3,0.3,0.4")
    moments = m.moments(0.1, PEOPLE)
    slack = norm.isf(1e-3 / 64) * 1.166 / np.sqrt(RUNS)
    assert np.sqrt(moments.random_levels / (moments.random_levels - moments.level)) > 1 + 1.2 * slack


def test_self_calibrated_estimates_sum_to_one() -> None:
    for base in ("sue", "oue", "lh"):
        m = made(k=4, levels="0.5,2", base=base, level_epsilon=0.5)
        found = m.estimate(m.privatize_items(people(4000), dn.simulation(4)), "self")
        assert found.value.sum() == pytest.approx(1, abs=1e-9 if base != "lh" else 1e-6)


def test_a_report_has_the_bits_of_the_data_and_of_the_level() -> None:
    m = made(k=4, levels="0.5,1,2", base="sue", level_epsilon=1.0)
    assert m.bulk.outputs == pytest.approx(4 + np.log2(3))
    assert len(m.channel().outputs) == 3 * 2**4


def test_shares_whose_sum_is_nearly_one_are_brought_to_one() -> None:
    """Written-down decimals; what is off by more is refused."""
    found = made(k=4, levels="0.5,2", level_epsilon=1.0, shares="0.3,0.7000000004")
    assert sum(found.shares or ()) == pytest.approx(1, abs=1e-15)
    assert found.law.mixed().p == pytest.approx(0.3 * found.bases[0].support.p + 0.7 * found.bases[1].support.p)
    with pytest.raises(dn.ParameterError, match="numbers whose sum is 1"):
        made(k=4, levels="0.5,2", level_epsilon=1.0, shares="0.3,0.71")


def test_impossible_methods_are_refused_with_the_way_out() -> None:
    m = made(k=4, levels="0.5,2", base="grr", level_epsilon=0.5)
    reports = m.privatize_items(people(400), dn.simulation(4))
    with pytest.raises(dn.ParameterError, match="cannot be self-calibrated"):
        m.estimate(reports, "self")
    with pytest.raises(dn.ParameterError, match="em-blind is not for base grr"):
        m.fit(reports, "em-blind")
    with pytest.raises(dn.ParameterError, match="level_report must not be none for base grr"):
        made(k=4, levels="0.5,2", base="grr", level_report="none")
    two = made(k=2, levels="0.5,2", base="sue", level_epsilon=0.5)
    with pytest.raises(dn.ParameterError, match="at least 3 for self-calibration"):
        two.estimate(two.privatize_items(np.arange(400) % 2, dn.simulation(1)), "self")
    assert "level reports" in two.estimate(two.privatize_items(np.arange(4000) % 2, dn.simulation(1))).steps[0]
    with pytest.raises(dn.ParameterError, match="method must be auto or one of"):
        m.estimate(reports, "best")
    sue = made(k=4, levels="0.5,2", base="sue", level_epsilon=0.5)
    with pytest.raises(dn.ParameterError, match="Keep the reports"):
        sue.fit(sue.tally(sue.privatize_items(people(400), dn.simulation(4))))


def test_default_is_chosen_with_its_reason() -> None:
    for base, name in (("sue", "self-calibrated"), ("oue", "self-calibrated"), ("grr", "AUEM")):
        m = made(k=16, levels="0.1,0.5,1", base=base, level_epsilon=0.5)
        step = m.estimate(m.privatize_items(np.arange(40_000) % 16, dn.simulation(6))).steps[0]
        assert name in step
        assert "chosen because" in step


def test_the_estimator_of_least_predicted_variance_is_chosen_and_by_how_much_is_told() -> None:
    """For an item of frequency 1/k, by the law of the design; or by variances that are made up."""
    for base, k, level_epsilon in (("sue", 4, 4.0), ("sue", 16, 0.5), ("oue", 4, 0.2), ("lh", 40, 0.5)):
        m = made(k=k, levels="0.5,3", base=base, level_epsilon=level_epsilon, **({"g": 4} if base == "lh" else {}))
        law = m.law_effective
        own, told = law.self_calibrated(base, k, 1 / k, 1000), law.auem(1 / k, 1000)
        assert own.random_levels < told.random_levels
        name, why = choose(base, k, law, 1000)
        much = f"{told.random_levels / own.random_levels:.3g} times less than the other way"
        assert (name, why.endswith(much)) == ("self", True)
    for own_variance, told_variance, chosen in ((2.0, 5.0, "self"), (5.0, 2.0, "auem"), (5.0, 4.9, "auem")):
        moments = {
            "self_calibrated": SimpleNamespace(random_levels=own_variance),
            "auem": SimpleNamespace(random_levels=told_variance),
        }
        calls = {name: lambda *_, its=its: its for name, its in moments.items()}
        made_up: Any = SimpleNamespace(supports=(0.1, 0.2), reported=True, **calls)
        name, why = choose("sue", 5, made_up, 1000)
        what = {"self": "the sum of all support tells", "auem": "the level reports tell"}[chosen]
        ratio = max(own_variance, told_variance) / min(own_variance, told_variance)
        assert name == chosen
        assert why == f"{what} p and q with the least predicted variance, {ratio:.3g} times less than the other way"


def test_with_harmless_items_the_estimator_of_least_summed_variance_is_chosen() -> None:
    """Variances are made up: those of sensitive and of harmless items are summed, for items that are equally common."""
    asked: list[Any] = []

    def law(own: float, told: float, levels: int = 2, reported: bool = True) -> Any:
        def variances(method: str, *given: Any) -> tuple[FloatArray, FloatArray]:
            asked.append(given)
            part = {"self": own, "auem": told}[method]
            return np.array([0.5, part]), np.array([2.0])

        alone = SimpleNamespace(supports=(0.1, 0.2)[:levels], reported=reported)
        return SimpleNamespace(own=alone, slopes=lambda *_: None, variances=variances)

    for own, told, chosen, what, ratio in (
        (1.5, 5.5, "self", "the sum of all support tells", 2),
        (5.5, 1.5, "auem", "the level reports tell", 2),
        (1.5, 1.5, "self", "the sum of all support tells", 1),
    ):
        name, why = choose_utility("sue", law(own, told), 2, 3, 0.4, 1000)
        assert name == chosen
        assert why == f"{what} p and q with {ratio} times less predicted error"
    base, f, rest, n, target = asked[0]
    assert (base, n, target) == ("sue", 1000, "reporters")
    assert f == pytest.approx([0.3, 0.3])
    assert rest == pytest.approx([0.4 / 3] * 3)
    assert choose_utility("sue", law(9, 1, levels=1), 2, 3, 0.4, 1000)[0] == "auem"
    assert choose_utility("sue", law(9, 1, reported=False), 2, 3, 0.4, 1000) == ("self", "no level is reported")


def test_the_guard_warns_and_refuses() -> None:
    m = made(k=4, levels="0.5,3", base="sue", level_epsilon=0.3)
    law, n = m.law_effective, 20_000
    shares = law.unbiased(np.eye(2)[1])

    def counts(share: float) -> LevelCounts:
        """Reported levels from which `share` of the people are estimated to be at the second level."""
        high = (share - shares[0]) / (shares[1] - shares[0])
        told = np.array([round((1 - high) * n), round(high * n)])
        return LevelCounts(told, np.full((2, 4), n // 4), law, "sue")

    gap = law.of("gap")
    at = -gap[0] / (gap[1] - gap[0])
    with pytest.raises(dn.ParameterError, match="must be above 0"):
        linear(counts(at - 0.05), "auem")
    with pytest.warns(GuardWarning, match="far beyond its standard errors"):
        linear(counts(at + 0.02), "auem")


GAPS = {"sue": lambda s: 2 / (s - 2), "oue": lambda s: 1 / (s - 1), "lh": lambda s: 1.0}
"""How fast p - q moves with the number of protected items that a report supports, everybody's being one of s."""


@pytest.mark.parametrize("base", GAPS)
@pytest.mark.parametrize("sensitive", [{}, {"sensitive": 5, "theta": 0.0}], ids=["all", "some"])
def test_the_guard_of_self_calibration_looks_at_the_error_of_what_is_divided_by(
    base: str, sensitive: dict[str, Any]
) -> None:
    """At one level, by the exact channel: what is stated is not below the error, and hardly above it."""
    m: Any = dn.mechanism("pldp", k=6 if sensitive else 5, levels="1", base=base, **sensitive)
    channel, n = m.bulk.channel_at(0), 20_000
    f = np.full(5, 0.2)
    size = np.array([len(held) * (o not in channel.disclosing) for o, held in enumerate(channel.supported)], float)
    law = np.array([f @ np.array(row[:5], float) / channel.total for row in channel.weights])
    deviation = np.sqrt(law @ size**2 - (law @ size) ** 2)
    text = m.estimate(m.tally(m.privatize_items(np.arange(n) % 5, dn.simulation(4))), "self").steps[0]
    stated = float(text.split("with standard error ")[1].split(",")[0].split()[0])
    true = GAPS[base](5) * deviation / np.sqrt(n)
    assert 0.95 * true < stated < 1.5 * true, (stated, true)


# ---- EM


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh", "affine"])
def test_em_meets_its_certificate(base: str) -> None:
    m = made(k=4, levels="0.5,1,3", base=base, level_epsilon=1.0)
    reports = m.privatize_items(people(8000), dn.simulation(8))
    tally, evidence = evidence_of(m, reports)
    found = m.fit(reports)
    assert found.biased
    assert found.value.sum() == pytest.approx(1, abs=1e-12)
    assert "nats below the maximum" in found.steps[0]
    start = np.full(3, 1 / 3)
    part, rho, _ = fit_levels(evidence, start, FitOptions(stderr=None), origin=np.full(4, 0.25))
    assert 0 <= evidence.n * (evidence.step(part.value, rho).f.max() - 1) <= 0.02
    assert np.abs(part.value - found.value).max() < 0.1 * found.stderr.max(), "another start, the same end"
    spread = found.stderr / m.estimate(tally).stderr
    assert ((spread > 0.3) & (spread < 1.3)).all(), spread
    assert np.allclose(found.value, FREQUENCIES, atol=6 * found.stderr.max())


def test_em_variants_and_tallies() -> None:
    m = made(k=4, levels="0.5,3", base="oue", level_epsilon=1.0, shares="0.4,0.6")
    reports = m.privatize_items(people(8000), dn.simulation(8))
    for method in ("em-known", "em-blind"):
        assert np.allclose(m.fit(reports, method).value, FREQUENCIES, atol=0.05)
    assert "0.5: 0.4, 3: 0.6" in m.fit(reports, "em-known").steps[-1]
    grr = made(k=4, levels="0.5,3", base="grr", level_epsilon=1.0)
    reports = grr.privatize_items(people(8000), dn.simulation(8))
    assert np.array_equal(grr.fit(reports).value, grr.fit(grr.tally(reports)).value)
    assert np.array_equal(grr.fit([reports[:100], reports[100:]]).value, grr.fit(reports).value)


def test_em_says_when_it_has_not_converged() -> None:
    m = made(k=4, levels="0.5,3", base="oue", level_epsilon=1.0)
    reports = m.privatize_items(people(8000), dn.simulation(8))
    with pytest.warns(ConvergenceWarning, match="not at the maximum"):
        assert "not at the maximum" in m.fit(reports, max_steps=3, stderr=None).steps[0]


def test_loops_agree() -> None:
    pytest.importorskip("numba")
    m = made(k=19, levels="0.5,1,3", base="sue", level_epsilon=1.0)
    _, evidence = evidence_of(m, m.privatize_items(np.arange(9000) % 19, dn.simulation(8)))
    weights = np.where(np.arange(9000) % 3 == 0, 2.0, 1.0)
    evidence = replace(evidence, weights=weights)
    f, rho = np.arange(1, 20) / 190, np.array([0.2, 0.3, 0.5])
    with using("reference"):
        one = evidence.step(f, rho)
    with using("compiled"):
        two = evidence.step(f, rho)
    assert np.allclose(one.f, two.f, rtol=1e-12)
    assert np.allclose(one.rho, two.rho, rtol=1e-12)
    assert one.loglik == pytest.approx(two.loglik, rel=1e-13)


def test_standard_errors_of_a_share_of_the_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly spaced reports stand for all: the covariance of the scores hardly changes."""
    m = made(k=4, levels="0.5,1,3", base="sue", level_epsilon=1.0)
    _, evidence = evidence_of(
        m, m.privatize_items(dn.simulation(1).generator().permutation(people(20_000)), dn.simulation(8))
    )
    whole = evidence.scores(FREQUENCIES, np.full(3, 1 / 3))
    monkeypatch.setattr("deniable.mechanisms.personal.em._SCORED", 5000)
    part = evidence.scores(FREQUENCIES, np.full(3, 1 / 3))
    assert np.abs(part / whole - 1).max() < 0.1
    assert not np.array_equal(part, whole)


# ---- reconstructions


def test_combinations_are_unbiased_and_by_size_even_if_levels_depend_on_values() -> None:
    m = made(k=4, levels="0.5,2", base="sue", level_epsilon=1.0)
    law, n = m.law, np.array([5000, 15000])
    alike = np.array([s.q + FREQUENCIES * s.gap for s in law.supports]) * n[:, None]
    assert np.allclose(rcf(law, n, alike), FREQUENCIES, atol=1e-12)
    own = np.array([[1.0, 0, 0, 0], [0.1, 0.4, 0.3, 0.2]])  # all people of the first level hold the first value
    depends = np.array([s.q + f * s.gap for s, f in zip(law.supports, own, strict=True)]) * n[:, None]
    truth = (n / n.sum()) @ own
    estimates = np.array([s.unbias(c / m) for s, c, m in zip(law.supports, depends, n, strict=True)])
    assert np.allclose((n / n.sum()) @ estimates, truth, atol=1e-12)
    assert abs(rcf(law, n, depends)[0] - truth[0]) > 0.05


def test_groups_without_reports_have_no_weight() -> None:
    """Where nobody reported a level, the others are weighted as if there were no such group."""
    m = made(k=4, levels="0.5,1,2", base="sue", level_epsilon=2.0)
    tally = m.tally(m.privatize(people(4000), levels=np.resize([0.5, 1, 2], 4000), rng=dn.simulation(3)))
    counts = m.level_counts(tally)
    gone = replace(
        counts, n=np.array([0, *counts.n[1:]]), support=np.array([0 * counts.support[0], *counts.support[1:]])
    )
    part, _ = linear(gone, "grouped")
    assert part.value.sum() == pytest.approx(1.0, abs=0.35)
    assert abs(part.value - FREQUENCIES).max() < 0.25


def test_intervals_are_scaled_by_the_denominator_that_was_estimated() -> None:
    """The variance is that of numerator - f denominator, over the denominator that the estimate was divided by."""
    m = made(k=4, levels="0.5,1,2", base="sue", level_epsilon=0.5)
    counts = m.level_counts(
        m.tally(m.privatize(people(2000), levels=np.resize([0.5, 1, 2], 2000), rng=dn.simulation(5)))
    )
    part, _ = linear(counts, "self")
    gap = 2 - float(counts.share.sum())  # q = (sum - 1)/(k - 2) and p = 1 - q
    law = replace(counts.law, shares=plausible_shares(counts))
    assert abs(law.gap / gap - 1) > 0.01, "the two differ here"
    assert part._scale == pytest.approx(law.gap / gap)
    flat = PersonalPart(np.array([0.4]), lambda _: np.array([[1e-4]]), lambda _: (1e-4, 0.0, 0.0), 1e4, np.array([0.4]))
    usual, wide = (replace(flat, _scale=scale).interval(0.95, "reporters", False) for scale in (1.0, 1.5))
    assert usual.high - usual.low == pytest.approx([2 * 1.959963984540054e-2], rel=1e-9)
    assert wide.high - wide.low == pytest.approx(1.5 * (usual.high - usual.low), rel=1e-9)
