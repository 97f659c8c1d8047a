"""Closed forms of personalised levels against numbers that were computed independently, to 1e-10."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.personal.base import evidence_of as level_evidence_of
from deniable.mechanisms.personal.bulk import log_masses
from deniable.mechanisms.personal.em import LevelEvidence
from deniable.mechanisms.personal.laws import LevelLaw, level_leakage, pair_bound
from deniable.mechanisms.personal.plain import Personal
from deniable.papers.pldp.printed import theorem_53

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/pldp.json").read_text())
SETTINGS = {case["name"]: case for case in GOLDEN["settings"]}
STEPS = {case["name"]: case for case in GOLDEN["em_steps"]}
CLOSE = 1e-10


def base_of(name: str) -> dict[str, Any]:
    """Base and hash range of a name such as krr or lh4."""
    if name.startswith("lh"):
        return {"base": "lh", "g": int(name[2:])}
    return {"base": {"krr": "grr"}.get(name, name)}


def made(case: dict[str, Any]) -> Personal:
    """The mechanism of a case."""
    m = dn.mechanism(
        "pldp",
        k=case["k"],
        levels=case["eps_levels"],
        level_epsilon=case["eps_p"],
        shares=case.get("rho"),
        frequency=case.get("f", 0.0),
        **base_of(case["mechanism"]),
    )
    assert isinstance(m, Personal)
    return m


def assert_near(found: Any, want: Any) -> None:
    assert np.allclose(found, want, rtol=CLOSE, atol=0.0), (found, want)


@pytest.mark.parametrize("effective", [False, True], ids=["ideal", "sampled"])
@pytest.mark.parametrize("name", SETTINGS)
def test_moments_are_the_stored_ones(name: str, effective: bool) -> None:
    case = SETTINGS[name]
    m, f, n = made(case), case["f"], case["N"]
    law: LevelLaw = m.law_effective if effective else m.law
    assert_near(law.of("p"), case["p_level"])
    assert_near(law.of("q"), case["q_level"])
    assert_near([law.p, law.q, law.gap, law.q + f * law.gap], [case[key] for key in ("p_star", "q_star", "D", "A")])
    found = law.auem(f, n)
    names = ("var_data", "var_level", "var_fixed", "var_random_levels", "var_iid", "bias2", "expected")
    ours = (found.data, found.level, found.fixed, found.random_levels, found.iid, found.bias, f + found.bias)
    assert_near(ours, [case[key] for key in names])
    assert_near(law.known_shares(f, n), case["known_rho_var_iid"])
    assert_near(law.public().groups(f, n).variance, case["rcf_var_iid"])
    groups = law.groups(f, n)
    assert_near(groups.variance, case["best_linear_var_iid"])
    if len(case["eps_levels"]) > 1:
        assert_near(groups.weights, case["best_linear_weights"])
        assert_near(groups.share, case["group_fraction"])
        assert_near(groups.p, case["group_p"])
        assert_near(groups.q, case["group_q"])
        assert_near([law.channel[0, 0], law.channel[0, 1]], [case["p_eps_p"], case["q_eps_p"]])
    if "selfcal_var_fixed" in case:
        own = law.self_calibrated(m.base, m.k, f, n)
        assert_near([own.fixed, own.random_levels], [case["selfcal_var_fixed"], case["selfcal_var_random_levels"]])


@pytest.mark.parametrize("name", SETTINGS)
def test_leakage_is_the_stored_one(name: str) -> None:
    case = SETTINGS[name]
    m = made(case)
    leak = level_leakage(m.base, m.levels, m.k, m.g)
    assert leak == pytest.approx(case["worst_level_leak"], rel=CLOSE, abs=1e-14)
    assert m.guarantee["leakage"] == pytest.approx(case["worst_level_leak"], rel=CLOSE, abs=1e-14)
    if len(m.levels) > 1:
        assert pair_bound(m.base, m.levels, m.k, case["eps_p"]) == pytest.approx(case["joint_eps"], rel=CLOSE)
        assert m.guarantee["pair"] <= case["joint_eps"] * (1 + CLOSE)


@pytest.mark.parametrize("name", SETTINGS)
def test_design_has_the_variance_with_levels_drawn(name: str) -> None:
    case = SETTINGS[name]
    assert made(case).properties(case["N"])["variance"] == pytest.approx(case["var_random_levels"], rel=CLOSE)


@pytest.mark.parametrize("name", [n for n, case in SETTINGS.items() if len(case["eps_levels"]) > 1])
def test_printed_theorem_is_the_stored_one(name: str) -> None:
    case = SETTINGS[name]
    parts = theorem_53(made(case).law, case["f"], case["N"])
    assert_near(parts, case["thm53_printed"])
    assert_near((parts[0] + parts[1]) / case["N"] ** 2 + parts[2] + parts[3], case["thm53_rescaled_total"])


# ---- EM


def evidence_of(case: dict[str, Any], m: Personal) -> LevelEvidence:
    """The evidence of a case's reports, made from their sets of items."""
    sets = np.array([report["support"] for report in case["reports"]], np.uint8)
    level = np.array([report["level"] for report in case["reports"]])
    kinds = level * (m.k + 1) + sets.sum(axis=1, dtype=np.int64) if m.base in ("sue", "oue") else level
    high, low, _ = log_masses(m.bases[0].bulk, m.law_effective, blind=False)
    rows = np.packbits(sets, axis=1, bitorder="little")
    return LevelEvidence.of(rows, np.ones(len(rows)), kinds, high, low, m.k)


def brute_force(case: dict[str, Any], m: Personal, f: Any, rho: Any) -> tuple[Any, Any, float]:
    """One EM step over all values and levels, report by report, from the probabilities themselves."""
    law, k, t = m.law_effective, m.k, len(m.levels)
    new_f, new_rho, loglik = np.zeros(k), np.zeros(t), 0.0
    for report in case["reports"]:
        joint = np.zeros((k, t))
        for x in range(k):
            for i, s in enumerate(law.supports):
                z = report["support"]
                if m.base in ("sue", "oue"):
                    bits = [s.p if b == x else s.q for b in range(k)]
                    mass = np.prod([c if z[b] else 1 - c for b, c in enumerate(bits)])
                else:
                    size = k if m.g is None else m.g
                    mass = s.p if z[x] else (1 - s.p) / (size - 1)
                joint[x, i] = f[x] * rho[i] * law.channel[i, report["level"]] * mass
        total = joint.sum()
        loglik += np.log(total)
        new_f += joint.sum(axis=1) / total
        new_rho += joint.sum(axis=0) / total
    n = len(case["reports"])
    return new_f / n, new_rho / n, float(loglik)


@pytest.mark.parametrize("name", STEPS)
def test_em_step_is_the_brute_force_step(name: str) -> None:
    case = STEPS[name]
    m = made(case)
    f, rho = np.array(case["f0"]), np.array(case["rho0"])
    found = evidence_of(case, m).step(f, rho)
    assert_near(f * found.f, case["f1"])
    assert_near(rho * found.rho, case["rho1"])
    assert_near(found.loglik, case["loglik"])
    for ours, theirs in zip((f * found.f, rho * found.rho, found.loglik), brute_force(case, m, f, rho), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-13, atol=0)


@pytest.mark.parametrize("base", ["sue", "oue", "grr", "lh"])
def test_em_steps_from_reports_are_brute_force_steps(base: str) -> None:
    """Reports of the pipeline itself, ten steps on: sums stay 1, the likelihood never falls."""
    m = dn.mechanism("pldp", k=5, levels="0.5,1,3", level_epsilon=0.7, base=base)
    assert isinstance(m, Personal)
    reports = m.privatize_items(np.arange(40) % 5, dn.simulation(3))
    _, evidence = level_evidence_of(m, reports)
    sets = np.unpackbits(m.bases[0].bulk.supported(reports.columns), axis=1, count=5, bitorder="little")
    listed = [{"support": row.tolist(), "level": int(r)} for row, r in zip(sets, reports.columns["level"], strict=True)]
    f, rho, last = np.full(5, 0.2), np.array([0.2, 0.3, 0.5]), -np.inf
    for _ in range(10):
        found = evidence.step(f, rho)
        true = brute_force({"reports": listed}, m, f, rho)
        f, rho = f * found.f, rho * found.rho
        assert np.allclose(f, true[0], rtol=1e-12)
        assert np.allclose(rho, true[1], rtol=1e-12)
        assert found.loglik == pytest.approx(true[2], rel=1e-12)
        assert abs(f.sum() - 1) < 1e-12
        assert abs(rho.sum() - 1) < 1e-12
        assert found.loglik > last
        assert found.f.max() >= 1 - 1e-12
        last = found.loglik
