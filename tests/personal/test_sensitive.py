"""Levels that protect sensitive answers only: guarantees by enumeration, laws, estimators, EM against brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import deniable as dn
from deniable.core.channel import Channel
from deniable.core.types import FloatArray
from deniable.estimate.fit import FitOptions
from deniable.mechanisms.personal.base import evidence_of
from deniable.mechanisms.personal.em import UtilityLevelEvidence, fit_levels
from deniable.mechanisms.personal.estimate import UtilityLevelCounts, linear_utility
from deniable.mechanisms.personal.laws import level_leakage
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.sensitive import PersonalUtility
from deniable.mechanisms.personal.sensitive_laws import ideal_utility_guarantee
from deniable.testing import StreamWords
from deniable.testing.sampling import two_sided
from deniable_client import Device, explain
from deniable_client.errors import PrivacyError
from deniable_client.exact import exp_bounds, log_upper
from deniable_client.kernels import Personal as Kernel
from deniable_client.kernels import Utility, kernel_from, kernel_to
from tiers import every

FIVE: list[dict[str, Any]] = [
    {"base": base, "levels": levels, "disclosure": rule, "level_report": report, "sensitive": "1,2,4"}
    for base in ("sue", "oue", "grr", "lh")
    for levels in ("0.5,1,2", "0.1,1")
    for rule, report in (("common", "response"), ("capped", "response"), ("own", "response"), ("common", "bit"))
]
CASES = FIVE + [
    {"base": base, "levels": levels, "disclosure": rule, "level_report": report, "sensitive": "1,3", "k": 4, "g": g}
    for base, g in (("lh", 2), ("lh", 5), ("grr", None), ("oue", None))
    for levels in ("0.2,5", "1,1.1,3")
    for rule, report in (("own", "response"), ("common", "none"))
    if (base, report) != ("grr", "none")
]
BLOCKS = [
    {"base": "affine", "levels": levels, "disclosure": rule, "level_report": report, "sensitive": 5, "k": 7}
    for levels in ("0.5,1,2", "0.2,5")
    for rule, report in (("own", "response"), ("capped", "response"), ("common", "bit"))
]
"""Blocks on seven points, five of which are sensitive values."""
OWN, REST = np.array([0.3, 0.15, 0.05]), np.array([0.35, 0.15])
FREQUENCIES = np.array([0.35, 0.3, 0.15, 0.15, 0.05])
"""Of five items, of which 1, 2 and 4 are sensitive."""
RUNS, PEOPLE = 200, 5000


def made(**given: Any) -> PersonalUtility:
    m = dn.mechanism("upldp", **({"k": 5, "level_epsilon": 0.4, "sensitive": "1,2,4"} | given))
    assert isinstance(m, PersonalUtility)
    return m


def named(case: dict[str, Any]) -> str:
    return "-".join(str(case[name]) for name in ("base", "g", "levels", "disclosure", "level_report") if name in case)


# ---- what is promised


def masses(channel: Channel) -> list[list[Fraction]]:
    return [[Fraction(w, channel.total) for w in row] for row in channel.weights]


def enumerated(m: PersonalUtility) -> tuple[Fraction, Fraction, Fraction]:
    """Largest ratios of whole reports: at one level (nothing disclosed), between levels, between pairs."""
    channels = [m.bulk.channel_at(i) for i in range(len(m.levels))]
    told = channels[0].disclosing
    tables = [masses(channel) for channel in channels]
    data = level = pair = Fraction(0)
    for i, j in product(range(len(m.levels)), repeat=2):
        for o, (one, two) in enumerate(zip(tables[i], tables[j], strict=True)):
            level = max(level, *(a / b for a, b in zip(one, two, strict=True) if b))
            assert all(bool(a) == bool(b) for a, b in zip(one, two, strict=True)), "an output rules a level out"
            if o in told:
                assert sum(map(bool, one)) == 1, "a disclosing output has one possible value"
                pair = max(pair, *(a / b for a, b in zip(one, two, strict=True) if b))
                continue
            most = max(one) / min(two)
            pair = max(pair, most)
            data = max(data, most) if i == j else data
    return data, level, pair


@pytest.mark.parametrize("case", every(4, CASES + BLOCKS, name=named))
def test_guarantee_is_the_enumerated_one(case: dict[str, Any]) -> None:
    m = made(**case)
    found = m.guarantee
    for name, ratio in zip(("data", "level", "pair"), enumerated(m), strict=True):
        want = log_upper(ratio)
        assert found[name] >= want, f"{name} is stated as {found[name]!r}, below the enumerated {want!r}"
        assert found[name] == pytest.approx(want, rel=1e-13), name
    for level, kernel in zip(m.levels, m.kernel.data, strict=True):
        assert kernel.hidden_ratio <= exp_bounds(level)[0], "each level keeps its own promise"
    ideal = ideal_utility_guarantee(m.law, m.base, m.levels, m.one_in, m.level_epsilon or 0.0)
    for name in ("level", "pair"):
        assert ideal[name] >= found[name] * (1 - 1e-12), f"the ideal {name} is no upper bound"


def test_one_chance_for_all_tells_nothing_and_caps_tell_no_more_than_sensitive_reports() -> None:
    levels = ",".join(str(round(0.1 * i, 1)) for i in range(1, 11))
    for base in ("lh", "grr"):
        common, capped, own = (
            made(k=16, sensitive=8, levels=levels, base=base, disclosure=rule) for rule in ("common", "capped", "own")
        )
        assert common.guarantee["disclosure"] == 0
        assert common.guarantee["leakage"] == pytest.approx(level_leakage(base, common.levels, 8, common.g), rel=1e-12)
        assert capped.guarantee["level"] == pytest.approx(common.guarantee["level"], rel=1e-12)
        assert own.guarantee["level"] > 2 * capped.guarantee["level"], "the chances of disclosure tell the level"
        chances = [m.law.blended()[3] for m in (common, capped, own)]
        assert chances[0] < 0.7 * chances[1] < 0.7 * 0.7 * chances[2]


@pytest.mark.parametrize("case", [case for case in FIVE if case["base"] in ("grr", "oue")], ids=named)
def test_the_chance_of_a_disclosure_is_told_at_the_level_that_discloses_most(case: dict[str, Any]) -> None:
    """By the enumerated channel of every level; collector and device tell the same number."""
    m = made(**case)
    chances = []
    for i in range(len(m.levels)):
        channel = m.bulk.channel_at(i)
        chances += [sum(Fraction(channel.weights[o][x], channel.total) for o in channel.disclosing) for x in (0, 3)]
    assert m.protection.disclosed == max(chances) == explain(m.design).chance
    assert (min(chances) == max(chances)) is (case["disclosure"] == "common")


def test_the_transforms_do_not_compose_where_a_level_protects_other_items() -> None:
    m = made(levels="0.5,1", base="grr")
    one, two = m.kernel.data
    assert isinstance(two, Utility)
    with pytest.raises(dn.ParameterError, match="would show the level"):
        Kernel((one, replace(two, sensitive=(0, 3))), m.kernel.level)
    with pytest.raises(dn.ParameterError, match="ruled out by every disclosed value"):
        Kernel((one, replace(two, plain=0)), m.kernel.level)


def test_a_device_checks_every_level_and_reports() -> None:
    m = made(labels=["a", "b", "c", "d", "e"], k=None, sensitive="b,c,e", levels="0.5,1,2", base="oue")
    assert kernel_from(kernel_to(m.kernel)) == m.kernel
    assert dn.from_design(m.design) == m
    device = Device(m.design, harmless=explain(m.design).harmless)
    words = StreamWords(dn.simulation(3))
    rows = [device.report(label, words, level=level) for label in "abcde" for level in m.levels for _ in range(9)]
    assert {len(row) for row in rows} == {m.bulk.row_bytes}
    assert m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=True)).n == len(rows)
    loose = list(m.kernel.data)
    assert isinstance(loose[0], Utility)
    assert isinstance(loose[2], Utility)
    loose[0] = replace(loose[0], plain=loose[2].plain * 2)
    with pytest.raises(PrivacyError, match=r"promises epsilon 0\.5"):
        Device(dict(m.design) | {"kernel": kernel_to(Kernel(tuple(loose), m.kernel.level))})


# ---- laws


@pytest.mark.parametrize("case", FIVE, ids=named)
def test_laws_and_best_guess_are_those_of_the_channel(case: dict[str, Any]) -> None:
    m = made(**case)
    for i, at in enumerate(m.law_effective.levels()):
        channel = m.bulk.channel_at(i)
        assert channel.supported is not None
        table, sets = masses(channel), channel.supported

        def chance(x: int, *items: int, table: Any = table, sets: Any = sets) -> float:
            return float(sum(row[x] for row, held in zip(table, sets, strict=True) if held.issuperset(items)))

        slack = 1e-12 + float(m.bulk.channel_error)
        want = {"p": chance(1, 1), "q": chance(2, 1), "z": chance(0, 0), "r": chance(3, 1)}
        want |= {"one": chance(1, 1, 4), "none": chance(2, 1, 4), "blind": chance(0, 1, 4)}
        for name, value in want.items():
            assert getattr(at, name) == pytest.approx(value, abs=slack), name
    channel = m.bulk.channel_at(len(m.levels) - 1)
    for prior in ([1, 1, 1, 1, 1], [5, 4, 3, 2, 1], [1, 1, 1, 9, 1], [0, 1, 9, 0, 1], [1, 20, 1, 1, 1]):
        shares = [Fraction(x, sum(prior)) for x in prior]
        got = m.guess([float(x) for x in shares]).success
        assert got == pytest.approx(float(channel.asr(shares)), rel=1e-9 + float(m.bulk.channel_error))


@pytest.mark.parametrize("case", FIVE, ids=named)
def test_covariances_have_the_variances_on_their_diagonal(case: dict[str, Any]) -> None:
    m = made(**case, shares="0.7,0.3" if case["levels"] == "0.1,1" else "0.5,0.3,0.2")
    calibrated = case["base"] != "grr" and case["disclosure"] == "common"
    for method in ("auem", "self") if calibrated else ("auem",):
        for target in ("reporters", "population"):
            at: Any = (method, m.base, OWN, REST, 100, target)
            matrix = m.law.covariance(*at)
            both = np.concatenate(m.law.variances(*at))
            assert np.allclose(np.diagonal(matrix), both, rtol=1e-10)
            assert np.linalg.eigvalsh(matrix).min() > -1e-12 * matrix.max()
        if method == "self":
            assert np.abs(m.law.covariance(*at).sum(axis=0)).max() < 1e-12 * matrix.max(), "these sum to 1"


@pytest.mark.parametrize("case", FIVE, ids=named)
def test_the_curves_of_intervals_go_through_the_variances(case: dict[str, Any]) -> None:
    """By the level reports, at every frequency of an item of either kind; and those of plain levels through theirs."""
    m = made(**case)
    plain = dn.mechanism("pldp", k=5, level_epsilon=0.4, **{n: case[n] for n in ("base", "levels", "level_report")})
    assert isinstance(plain, Personal)
    for target in ("reporters", "population"):
        at: Any = ("auem", m.base, OWN, REST, 100, target)
        curves = m.law.curves("auem", float(REST.sum()), 100, target)  # type: ignore[arg-type]
        for (a, b, c), f, true in zip(curves, (OWN, REST), m.law.variances(*at), strict=True):
            assert a + b * f + c * f * f == pytest.approx(true, rel=1e-9)
        a, b, c = plain.law.curve("auem", plain.base, 5, 100, target)  # type: ignore[arg-type]
        true = np.diag(plain.law.covariance("auem", plain.base, FREQUENCIES, 100, target))  # type: ignore[arg-type]
        assert a + b * FREQUENCIES + c * FREQUENCIES**2 == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
def test_without_harmless_people_the_errors_are_those_of_plain_levels(base: str) -> None:
    m = made(levels="0.5,1,2", base=base, shares="0.5,0.3,0.2")
    plain = dn.mechanism("pldp", k=3, levels="0.5,1,2", base=base, level_epsilon=0.4, shares="0.5,0.3,0.2")
    assert isinstance(plain, Personal)
    f = np.array([0.6, 0.3, 0.1])
    for method in ("auem", "self") if base != "grr" else ("auem",):
        for target in ("reporters", "population"):
            at: Any = (method, base, f)
            mine = m.law.covariance(*at, np.zeros(2), 100, target)[:3, :3]
            assert np.allclose(mine, plain.law.covariance(*at, 100, target), rtol=1e-9)  # type: ignore[arg-type]


def test_covariances_of_blocks_know_their_triples() -> None:
    """At one level the estimate is linear in the reports: its covariance by enumeration, 11 of 19 points sensitive."""
    m = PersonalUtility(
        epsilon=1.0, domain=13, levels=(1.0,), sensitive=(0, 11), base="affine", blocks=(19, 6, 2, 1, 2)
    )
    (at,), channel, f = m.law_effective.levels(), m.bulk.channel_at(0), np.arange(1.0, 14) / 91
    chance = np.array(channel.matrix())
    scores = np.zeros((chance.shape[1], 13))
    for o, held in enumerate(channel.supported or ()):
        if o in channel.disclosing:
            scores[o, sorted(held)] = 1 / at.z
            scores[o, :11] = (at.q - at.r) / at.z / (at.p - at.q)
        else:
            scores[o, sorted(held)] = 1 / (at.p - at.q)
    scores[:, :11] -= at.q / (at.p - at.q)
    assert chance @ scores == pytest.approx(np.eye(13), abs=1e-10), "an estimate with a bias"
    true = (scores.T * (f @ chance)) @ scores - np.outer(f, f)
    extra = m.level_counts(m.tally(m.privatize(np.arange(13)))).extra
    given: Any = ("auem", m.base, f[:11], f[11:], 1, "population")
    assert m.law_effective.covariance(*given, extra) == pytest.approx(true, rel=1e-9, abs=1e-12)
    assert np.abs(m.law_effective.covariance(*given) - true).max() > 1e-3, "without the triples it would be off"


# ---- samplers


@pytest.mark.stat
@pytest.mark.parametrize(("rule", "base"), every(5, product(["common", "capped", "own"], ["sue", "oue", "grr", "lh"])))
def test_bulk_and_devices_follow_the_law_at_each_level(base: str, rule: str) -> None:
    """Counts of disclosed and of supported items by level and value, each binomial; false alarm rate 1e-3 for all."""
    m = made(levels="0.5,2", base=base, disclosure=rule, level_epsilon=1.0)
    n, found = 20_000, []
    for (i, level), x in product(enumerate(m.levels), range(m.k)):
        at = m.law_effective.levels()[i]
        bulk = m.privatize(np.full(n, x), levels=level, rng=dn.simulation(100 * i + x))
        words = StreamWords(dn.simulation(500 + 100 * i + x))
        rows = [m.kernel.randomise(x, words, i) for _ in range(n // 20)]
        for reports in (bulk, dn.Reports.from_rows(m.design, m.fields, rows, simulated=True)):
            cells = m.bulk.count(reports.columns)
            seen = np.concatenate([cells["support"].sum(axis=0), cells["disclosed"].sum(axis=0), cells["n"]])
            sensitive = x in (1, 2, 4)
            law = [(at.p if x == y else at.q) if sensitive else at.r for y in (1, 2, 4)]
            law += [at.z if x == y else 0.0 for y in (0, 3)]
            chances = np.array([*law, *m.law_effective.own.channel[i]])
            assert not seen[chances == 0].any(), "an item was disclosed that nobody holds"
            some = chances > 0
            found.append(two_sided(seen[some], len(reports), chances[some]))
    values = np.concatenate(found)
    assert values.min() > 1e-3 / 12 / values.size, "the reports do not follow the law"


def test_the_law_test_has_power_against_another_level() -> None:
    """Reports of the next level are told from a level's own by the same counts."""
    m = made(levels="0.5,2", base="lh", disclosure="capped", level_epsilon=1.0)
    low, high = m.law_effective.levels()
    reports = m.privatize(np.full(20_000, 1), levels=2.0, rng=dn.simulation(1))
    seen = m.bulk.count(reports.columns)["support"].sum(axis=0)[:1]
    assert two_sided(seen, 20_000, np.array([high.p])).min() > 1e-4
    assert two_sided(seen, 20_000, np.array([low.p])).min() < 1e-12


# ---- linear estimates


def people(n: int) -> Any:
    return np.repeat(np.arange(5), np.round(FREQUENCIES * n).astype(int))


@pytest.mark.stat
@pytest.mark.parametrize(
    ("base", "method", "report", "rule"),
    every(
        4,
        [
            ("sue", "auem", "response", "own"),
            ("sue", "self", "none", "common"),
            ("oue", "self", "none", "common"),
            ("oue", "auem", "bit", "common"),
            ("grr", "auem", "response", "capped"),
            ("lh", "auem", "response", "own"),
            ("lh", "self", "none", "common"),
            ("lh", "auem", "bit", "common"),
        ],
    ),
)
def test_first_order_variances_are_the_observed_ones(base: str, method: str, report: str, rule: str) -> None:
    """Interquartile ranges as in test_estimators, and medians within 0.3 standard errors; false alarm rate 1e-3."""
    given = {"level_epsilon": 0.5, "level_report": report, "disclosure": rule, "shares": "0.3,0.7"}
    m = made(levels="1,3", base=base, **given)
    reports = m.privatize_items(np.tile(people(PEOPLE), RUNS), dn.simulation(12))
    values = np.array([m.estimate(reports[i * PEOPLE : (i + 1) * PEOPLE], method).value for i in range(RUNS)])
    own, rest = m.law_effective.variances(method, base, OWN, REST, PEOPLE, "reporters")  # type: ignore[arg-type]
    want = np.sqrt(np.array([rest[0], own[0], own[1], rest[1], own[2]]))
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    z = norm.isf(1e-3 / (8 * 5 * 2 * 2))
    ratio = (high - low) / 1.349 / want
    assert (np.abs(ratio - 1) < z * 1.166 / np.sqrt(RUNS)).all(), ratio
    middle = np.median(values, axis=0) - FREQUENCIES
    assert (np.abs(middle) < (0.3 + z * 1.2533 / np.sqrt(RUNS)) * want).all(), middle / want


def test_forgotten_level_noise_or_credit_would_be_seen() -> None:
    """The variance test's slack is below what either would change."""
    m = made(levels="1,3", base="oue", level_epsilon=0.5, disclosure="own", shares="0.3,0.7")
    slack = norm.isf(1e-3 / 160) * 1.166 / np.sqrt(RUNS)
    noisy = m.law.variances("auem", "oue", OWN, REST, PEOPLE, "reporters")
    public = replace(m.law, own=m.law.own.public())
    quiet = public.variances("auem", "oue", OWN, REST, PEOPLE, "reporters")
    assert np.sqrt(noisy[0][2] / quiet[0][2]) > 1 + slack
    p, q, _, chance = m.law.blended().tolist()
    lost = m.law.credit * float(REST.sum()) * chance / (p - q)
    assert lost > 2 * (0.3 + norm.isf(1e-3 / 160) * 1.2533 / np.sqrt(RUNS)) * np.sqrt(noisy[0].max())


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
def test_all_methods_agree_with_the_truth(base: str) -> None:
    m = made(levels="1,3", base=base, level_epsilon=2.0, disclosure="common")
    reports = m.privatize_items(people(40_000), dn.simulation(5))
    tally = m.tally(reports)
    for method in ("auem", "grouped", "self", "auto") if base != "grr" else ("auem", "grouped", "auto"):
        found = m.estimate(tally, method)
        assert (np.abs(found.value - FREQUENCIES) < 6 * found.stderr).all(), method
        assert np.allclose(np.diagonal(found.covariance()), found.stderr**2, rtol=1e-9)
        if method == "self":
            assert found.value.sum() == pytest.approx(1, abs=1e-6)
    assert "chosen because" in m.estimate(tally).steps[0]


def test_what_cannot_be_estimated_is_refused_with_the_way_out() -> None:
    grr = made(levels="1,3", base="grr")
    with pytest.raises(dn.ParameterError, match="cannot be self-calibrated"):
        grr.estimate(grr.privatize_items(people(4000), dn.simulation(5)), "self")
    own = made(levels="1,3", base="lh", disclosure="own")
    with pytest.raises(dn.ParameterError, match="needs one chance of disclosure"):
        own.estimate(own.privatize_items(people(4000), dn.simulation(5)), "self")
    quiet = made(levels="1,3", base="lh", level_report="none")
    with pytest.raises(dn.ParameterError, match="grouped needs level reports"):
        quiet.estimate(quiet.privatize_items(people(4000), dn.simulation(5)), "grouped")
    with pytest.raises(dn.FormatError, match="field 'value' not zero"):
        grr.bulk.count({"disclosed": np.array([1]), "value": np.array([1]), "level": np.array([0])})


# ---- EM


def likelihoods(m: PersonalUtility, reports: dn.Reports) -> FloatArray:
    """Pr[report | value x, level i] up to a factor of the report, written out: an array of reports, values, levels."""
    law, items = m.law_effective, m.items
    sets = np.unpackbits(m.bases[0].bulk.supported(reports.columns), axis=1, count=m.s, bitorder="little").astype(bool)
    told = m.bulk.told(reports.columns)
    out = np.zeros((len(reports), m.k, len(m.levels)))
    for u, head in enumerate(reports.columns["disclosed"].tolist()):
        for i, at in enumerate(law.levels()):
            heard = law.own.channel[i, told[u]]
            if head:
                out[u, items[1][head - 1], i] = at.z * heard
                continue
            size = {"grr": m.s, "lh": m.g}.get(m.base)
            blind = 1.0 if size else np.prod(np.where(sets[u], at.q, 1 - at.q))
            for rank, x in enumerate(items[0]):
                if size:
                    mass = at.p * size if sets[u, rank] else (1 - at.p) * size / (size - 1)
                else:
                    mass = blind * (at.p / at.q if sets[u, rank] else (1 - at.p) / (1 - at.q))
                out[u, x, i] = mass * heard
            out[u, items[1], i] = (1 - at.z) * blind * heard
    return out


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
@pytest.mark.parametrize("rule", ["common", "own"])
def test_em_steps_and_scores_are_brute_force_ones(base: str, rule: str) -> None:
    m = made(levels="0.5,1,3", base=base, disclosure=rule)
    reports = m.privatize_items(people(400), dn.simulation(9))
    mass = likelihoods(m, reports)
    _, evidence = evidence_of(m, reports)
    f, rho = np.array([0.4, 0.2, 0.2, 0.15, 0.05]), np.array([0.2, 0.3, 0.5])
    joint = mass * f[:, None] * rho
    total = joint.sum(axis=(1, 2), keepdims=True)
    posterior = joint / total
    step = evidence.step(f, rho)
    assert np.allclose(f * step.f, posterior.sum(axis=2).mean(axis=0), rtol=1e-12)
    assert np.allclose(rho * step.rho, posterior.sum(axis=1).mean(axis=0), rtol=1e-12)
    score = np.concatenate([(mass * rho).sum(axis=2), (mass * f[:, None]).sum(axis=1)], axis=1) / total[:, 0]
    assert np.allclose(evidence.scores(f, rho), score.T @ score, rtol=1e-10)
    again = evidence.step(f * step.f, rho * step.rho)
    gain = np.log((mass * (f * step.f)[:, None] * (rho * step.rho)).sum(axis=(1, 2))).sum() - np.log(total).sum()
    assert again.loglik - step.loglik == pytest.approx(gain, rel=1e-9)
    assert gain > 0


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
def test_em_meets_its_certificate(base: str) -> None:
    m = made(levels="0.5,1,3", base=base, level_epsilon=1.0, disclosure="capped")
    reports = m.privatize_items(people(8000), dn.simulation(8))
    tally, evidence = evidence_of(m, reports)
    assert isinstance(evidence, UtilityLevelEvidence)
    found = m.fit(reports)
    assert found.value.sum() == pytest.approx(1, abs=1e-12)
    part, rho, _ = fit_levels(evidence, np.full(3, 1 / 3), FitOptions(stderr=None), origin=np.full(5, 0.2))
    assert 0 <= evidence.n * (evidence.step(part.value, rho).f.max() - 1) <= 0.02
    assert (np.abs(found.value - FREQUENCIES) < 5 * found.stderr).all()
    spread = found.stderr / m.estimate(tally).stderr
    assert ((spread > 0.2) & (spread < 1.3)).all(), spread
    if base == "grr":
        assert np.array_equal(m.fit(tally).value, found.value)
    else:
        blind = m.fit(reports, "em-blind")
        assert (np.abs(blind.value - FREQUENCIES) < 5 * blind.stderr).all()


def test_evenly_spaced_reports_stand_for_all_in_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    m = made(levels="0.5,1,3", base="sue", level_epsilon=1.0)
    mixed = dn.simulation(1).generator().permutation(people(20_000))
    _, evidence = evidence_of(m, m.privatize_items(mixed, dn.simulation(8)))
    whole = evidence.scores(FREQUENCIES, np.full(3, 1 / 3))
    monkeypatch.setattr("deniable.mechanisms.personal.em._SCORED", 5000)
    part = evidence.scores(FREQUENCIES, np.full(3, 1 / 3))
    assert np.abs(part - whole).max() < 0.1 * np.abs(whole).max()
    assert not np.array_equal(part, whole)


def test_groups_without_reports_have_no_weight() -> None:
    """Where nobody reported a level, the others are weighted as if there were no such group."""
    m = made(levels="0.5,1,2", base="sue", level_epsilon=2.0)
    tally = m.tally(m.privatize(people(40_000), levels=np.resize([0.5, 1, 2], 40_000), rng=dn.simulation(3)))
    counts = m.level_counts(tally)
    some = np.array([1, 1, 0])  # the level that tells most
    own = replace(counts, n=counts.n * some, support=counts.support * some[:, None])
    gone = UtilityLevelCounts(own, tally.cells["disclosed"] * some[:, None], m.law_effective, m.items)
    part, _ = linear_utility(gone, "grouped")
    assert part.value.sum() == pytest.approx(1.0, abs=0.2)
    assert abs(part.value - FREQUENCIES).max() < 0.15


# ---- options


def test_pldp_with_sensitive_answers_is_this() -> None:
    given: dict[str, Any] = {"k": 6, "levels": "0.5,1", "level_epsilon": 0.3, "sensitive": 3, "base": "sue"}
    m = dn.mechanism("pldp", **given)
    assert isinstance(m, PersonalUtility)
    assert m == dn.mechanism("upldp", **given)
    assert m.design["mechanism"] == "upldp"
    assert dn.audit(m).holds


TEN = ",".join(str(round(0.1 * i, 1)) for i in range(1, 11))


@pytest.mark.parametrize(("base", "levels"), every(5, product(("lh", "grr", "sue", "oue"), ("0.1,0.4,1", TEN))))
def test_disclosure_is_chosen_for_the_least_error_at_no_more_leak(base: str, levels: str) -> None:
    given: dict[str, Any] = {"k": 16, "sensitive": 8, "levels": levels, "base": base, "level_epsilon": 0.3}
    chosen, common, capped = made(**given), *(made(**given, disclosure=rule) for rule in ("common", "capped"))
    assert chosen.guarantee["level"] <= common.guarantee["level"] * (1 + 1e-12)
    assert chosen.properties()["mse"] <= common.properties()["mse"]
    if capped.guarantee["level"] <= common.guarantee["level"] * (1 + 1e-12):
        assert chosen.properties()["mse"] <= capped.properties()["mse"]


def test_less_error_is_not_bought_with_more_leak() -> None:
    """Most people at a level far above the first: capped chances would help them, and tell who is there."""
    given: dict[str, Any] = {"k": 4, "sensitive": 3, "levels": "0.1,4", "shares": "0.05,0.95", "base": "sue"}
    chosen, capped = made(**given), made(**given, disclosure="capped")
    assert capped.properties()["mse"] < 0.6 * chosen.properties()["mse"]
    assert capped.guarantee["level"] > chosen.guarantee["level"] + 1
    assert chosen.disclosure == "common"


@pytest.mark.slow
def test_disclosure_is_chosen_within_a_leak_budget() -> None:
    levels = TEN
    tight = made(k=16, sensitive=8, levels=levels, level_epsilon=0.3, leak_budget=0.79)
    assert tight.guarantee["level"] <= 0.79
    assert "least error" in (tight.selection or {})["note"]
    with pytest.raises(dn.ParameterError, match=r"leak_budget must be at least 0\.7521"):
        made(k=16, sensitive=8, levels=levels, level_epsilon=0.3, leak_budget=0.5)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"sensitive": 1}, "sensitive must be from 2 to all but one, got 1 of 5 answers"),
        ({"sensitive": 5}, "leave the option out"),
        ({"sensitive": "7"}, "a number from 0 to 5"),
        ({"disclosure": "own", "level_report": "none"}, "disclosure must be common unless level_report is response"),
        ({"disclosure": "capped", "level_report": "bit"}, "the blended chance is not known"),
        ({"disclosure": "always"}, "disclosure must be one of"),
        ({"theta": 1.5}, "theta must be between 0 and 1"),
        ({"levels": "0.5,0.5"}, "different from each other"),
        ({"levels": "0,1"}, "finite numbers > 0"),
    ],
)
def test_wrong_options_are_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(dn.ParameterError) as caught:
        made(**({"levels": "0.5,1"} | given))
    assert text in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
def test_levels_beyond_sampling_have_closed_forms(base: str) -> None:
    for rule in ("common", "capped", "own"):
        m = made(levels="1,600", base=base, disclosure=rule)
        assert m.refusal is not None
        found = m.properties(100)
        assert all(np.isfinite(found[name]) for name in ("mse", "z", "asr"))
        assert 600 <= found["guarantee"]["pair"] < 600 * (m.s + 3)
        assert found["guarantee"]["level"] < 600 * (m.s + 1)


def test_options_of_sensitive_answers_need_them() -> None:
    for name, value in (("theta", 0.5), ("disclosure", "own")):
        with pytest.raises(dn.ParameterError, match=f"{name} must be left out unless some answers are sensitive"):
            dn.mechanism("pldp", k=5, levels="0.5,1", level_epsilon=0.3, **{name: value})


def test_one_level_is_the_plain_transform() -> None:
    m = made(levels="1.5", base="lh", g=4, level_epsilon=None)
    plain = dn.mechanism("utility", base="lh", g=4, epsilon=1.5, k=5, sensitive="1,2,4")
    reports = m.privatize(people(4000), rng=dn.simulation(2))
    own = dn.Reports(plain.design, plain.fields, reports.columns, True)
    assert np.allclose(m.estimate(reports).value, plain.estimate(plain.tally(own)).value, atol=1e-12)
    assert m.guarantee["level"] == m.guarantee["leakage"] == 0
    assert m.guarantee["pair"] == pytest.approx(1.5, rel=1e-14)
