"""Closed forms of the ULDP mechanisms against numbers of 20 digits that were computed independently, to 1e-10."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core.laws import epsilon_to, hashing, subset, unary, wheel
from deniable.core.support import Support
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.utility.base import Utility
from deniable.mechanisms.utility.bound import best_mixture, best_single, converse, single_mse
from deniable.mechanisms.utility.laws import (
    mapped_disclosure,
    mapped_law,
    mapped_range,
    mapped_share_of,
    mapped_size,
    null_law,
    null_range,
    null_share,
    printed_disclosure,
    printed_range,
    separate_law,
)
from deniable.mechanisms.utility.make import make_utility

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/uldp.json").read_text())
SETTINGS = GOLDEN["settings"]
N = 100_000


def named(case: Mapping[str, Any]) -> str:
    return f"eps={case['eps']}-s={case['s']}-theta={case['theta']}"


every = pytest.mark.parametrize("case", SETTINGS, ids=named)


def assert_same(found: float, golden: str) -> None:
    assert found == pytest.approx(float(golden), rel=1e-10, abs=0)


def made(base: str, case: Mapping[str, Any], form: str = "null", **own: Any) -> Utility:
    """With one harmless item more where nobody has one: theta 0 is a share that can occur."""
    domain = dn.Domain.of(case["s"] + 3)
    return make_utility(
        base, epsilon=case["eps"], domain=domain, sensitive=case["s"], theta=case["theta"], form=form, **own
    )


def parts(case: Mapping[str, Any]) -> tuple[int, float, float, float]:
    return (case["s"], case["theta"], *epsilon_to(case["eps"]))


def mapped(base: Support[float], s: int, attach_or_least: float, w: float, v: float, *, printed: bool = False) -> Any:
    z = printed_disclosure(base, s, attach_or_least) if printed else mapped_disclosure(int(attach_or_least), s, w, v)
    return mapped_law(base, s, z)


@every
def test_subset_selection(case: Mapping[str, Any]) -> None:
    s, theta, w, v = parts(case)
    g, m = case["uSS"], made("ss", case, "glutf")
    assert_same(mapped_size(s, theta, w, v), g["k_real_eq37"])
    assert m.base is not None
    assert m.base.params == {"size": g["k_opt"]}
    law = subset(w, v, s, g["k_opt"])
    f = mapped_share_of(law, s)
    assert_same(f, g["f"])
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(m.law.z, g["z_star"])
    if float(g["z"]):
        assert_same(1 - (1 - m.law.z) / f, g["z"])
    assert_same(m.mse_sum(N), g["mse"])
    assert_same(made("ss", case, size=g["k_opt"]).mse_sum(N), g["mse_disclose_only_same_k"])
    best = made("ss", case)
    assert best.base is not None
    assert best.base.params == {"size": g["k_opt_disclose_only"]}
    assert_same(best.mse_sum(N), g["mse_disclose_only"])
    assert best.mse_sum() == pytest.approx(single_mse(g["k_opt_disclose_only"], s, theta, w, v), rel=1e-12)


@every
def test_unary_encoding(case: Mapping[str, Any]) -> None:
    s, theta, w, v = parts(case)
    g, m = case["uUE"], made("ue", case, "glutf")
    p = float(g["p_opt"])
    assert_same(m.law.base.p, g["p_opt"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(mapped_share_of(m.law.base, s), g["f"])
    assert_same(m.law.z, g["z_star"])
    assert_same(1 - (1 - m.law.z) / mapped_share_of(m.law.base, s), g["z"])
    assert_same(m.mse_sum(N), g["mse"])
    law = unary(p, 1 - p, w, v)
    assert_same(null_law(law, w, v).z, g["z_star_null_branch"])
    assert_same(separate_law(law, law.p * v).mse_sum(s, theta, N), g["mse_null_branch_pure_estimator_same_p"])
    assert_same(null_law(law, w, v).mse_sum(s, theta, N), g["mse_null_branch_disclose_only_same_p"])


@every
def test_local_hashing(case: Mapping[str, Any]) -> None:
    s, theta, w, v = parts(case)
    g = case["uLH"]
    assert_same(printed_range(s, theta, w), g["g_real_eq49"])
    paper = made("lh", case, "paper")
    assert paper.base is not None
    assert paper.base.params == {"g": g["g_opt_paper_mse"]}
    law = hashing(w, v, g["g_opt_paper_mse"])
    assert_same(mapped_share_of(law, s), g["f"])
    assert_same(law.p * v, g["z_paper_INVALID"])
    assert_same(paper.law.z, g["z_star_paper_INVALID"])
    assert_same(paper.mse_sum(N), g["mse_paper_INVALID"])
    assert_same(law.p, g["p_star"])
    assert_same(law.q, g["q_star"])
    safe = mapped(law, s, 1, w, v)
    assert_same(safe.z, g["z_star_safe"])
    assert_same(1 - (1 - safe.z) / mapped_share_of(law, s), g["z_safe_same_g"])
    assert_same(safe.mse_sum(s, theta, N), g["mse_safe_same_g"])
    assert_same(mapped_range(s, theta, w, v), g["g_real_safe"])
    best = made("lh", case, "glutf")
    assert best.base is not None
    assert best.base.params == {"g": g["g_opt_safe"]}
    assert_same(best.mse_sum(N), g["mse_safe"])
    assert_same(mapped_share_of(best.law.base, s), g["f_safe"])


@every
def test_exact_leak_of_printed_hashing(case: Mapping[str, Any]) -> None:
    """The mechanism as sampled, with the audit's own arithmetic."""
    if case["s"] >= 2:
        paper = made("lh", case, "paper", g=case["uLH"]["g_opt_paper_mse"])
        assert_same(dn.audit(paper).exact, case["uLH"]["eps_actual_worst_H_paper"])
        ring = made("wheel", case, "paper", arc=float(case["uWheel"]["l_opt_eq63"]))
        found, golden = dn.audit(ring).exact, float(case["uWheel"]["eps_actual_worst_H_paper"])
        assert found == pytest.approx(golden, rel=1e-7)  # the arc is a multiple of 2**-32


@every
def test_local_hashing_with_the_null_branch(case: Mapping[str, Any]) -> None:
    s, theta, w, v = parts(case)
    g, m = case["uLH"]["null_branch"], made("lh", case)
    assert m.base is not None
    assert m.base.params == {"g": g["g_opt"]}
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(m.law.z, g["z_star"])
    assert_same(m.mse_sum(N), g["mse_disclose_only"])
    law = hashing(w, v, case["uLH"]["g_opt_paper_mse"])
    assert_same(null_law(law, w, v).z, g["z_star_same_g"])
    assert_same(null_law(law, w, v).mse_sum(s, theta, N), g["mse_disclose_only_same_g"])
    assert_same(separate_law(law, law.p * v).mse_sum(s, theta, N), g["mse_pure_estimator_same_g"])


@every
def test_wheel(case: Mapping[str, Any]) -> None:
    s, theta, w, v = parts(case)
    g = case["uWheel"]
    assert_same(1 / printed_range(s, theta, w), g["l_opt_eq63"])
    law = wheel(w, v, float(g["l_opt_eq63"]))
    assert_same(law.p, g["p_star"])
    assert_same(mapped_share_of(law, s), g["f"])
    assert_same(law.p * v, g["z_paper_INVALID"])
    printed = mapped(law, s, law.p * v, w, v, printed=True)
    assert_same(printed.z, g["z_star_paper_INVALID"])
    assert_same(printed.mse_sum(s, theta, N), g["mse_paper_INVALID"])
    safe = mapped(law, s, 1, w, v)
    assert_same(safe.z, g["z_star_safe"])
    assert_same(1 - (1 - safe.z) / mapped_share_of(law, s), g["z_safe"])
    assert_same(safe.mse_sum(s, theta, N), g["mse_safe_same_l"])
    assert_same(null_law(law, w, v).z, g["z_star_null_branch"])
    assert_same(null_law(law, w, v).mse_sum(s, theta, N), g["mse_null_branch_disclose_only_same_l"])


@every
def test_parameters_of_least_error_with_the_null_branch(case: Mapping[str, Any]) -> None:
    s, theta, w, _ = parts(case)
    g = case["null_branch_optimum"]
    bits, ring = made("ue", case), made("wheel", case)
    assert_same(null_share(s, theta, w), g["p_opt_uUE"])
    assert_same(bits.law.base.q, g["q_uUE"])
    assert_same(bits.law.z, g["z_star_uUE"])
    assert_same(null_range(s, theta, w), g["g_real_uLH"])
    assert isinstance(ring.base, Mechanism)
    assert_same(ring.base.params["arc"], g["l_opt_uWheel"])
    assert_same(bits.mse_sum(N), g["mse_uUE"])
    assert_same(ring.mse_sum(N), g["mse_uWheel"])


@every
def test_block_designs_and_baselines(case: Mapping[str, Any]) -> None:
    g, s = case["uHR"], case["s"]
    m = made("hr", case)
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.r, g["r_nonsens"])
    assert_same(m.law.z, g["z_star"])
    assert_same(m.mse_sum(N), g["mse"])
    e, theta = math.exp(case["eps"]), case["theta"]
    closed = s * ((e + 1) / (e - 1)) ** 2 * (1 - theta * (e - 1) / (e + 1)) - (1 - theta) + 2 * theta / (e - 1)
    assert m.mse_sum() == pytest.approx(closed, rel=1e-12)
    g, m = case["uRR"], made("grr", case)
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(m.law.z, g["z_star"])
    assert_same(m.mse_sum(N), g["mse"])
    g, m = case["uRAP"], made("sue", case)
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(m.law.z, g["z_star"])
    assert_same(m.mse_sum(N), g["mse_disclose_only"])
    assert_same(separate_law(m.law.base, m.law.z).mse_sum(s, theta, N), g["mse_pure_estimator"])


@every
def test_projective_geometry(case: Mapping[str, Any]) -> None:
    g = case["uPGR"]
    m = made("pgr", case, prime=g["Q"])
    assert m.base is not None
    assert (m.base.order, m.base.rank) == (g["T"], g["t"])  # type: ignore[attr-defined]
    assert_same(m.law.base.p, g["p_star"])
    assert_same(m.law.base.q, g["q_star"])
    assert_same(m.law.z, g["z_star"])
    assert_same(m.law.r, g["r"])
    assert_same(m.mse_sum(N), g["mse_disclose_only"])
    if case["s"] <= 600:  # the golden search stops at 600
        assert made("pgr", case).base.params == {"prime": g["Q"]}  # type: ignore[union-attr]


@pytest.mark.parametrize("row", GOLDEN["optimum_rows"], ids=named)
def test_optimum_over_all_mechanisms(row: Mapping[str, Any]) -> None:
    """Printed with 7 digits."""
    s, theta, w, v = parts(row)
    best = best_mixture(s, row["m"], theta, w, v)
    assert (best.size, best.weight) == (row["k"], pytest.approx(row["lambda"], abs=6e-5))
    assert best.mse == pytest.approx(row["optimum"], abs=6e-8)
    assert best_single(s, theta, w, v) == row["single_k"]
    assert single_mse(row["single_k"], s, theta, w, v) == pytest.approx(row["single"], abs=6e-8)
    assert converse(s, theta, w, v) == pytest.approx(row["converse"], abs=6e-7)


@pytest.mark.parametrize("setting", sorted(GOLDEN["improvements_n_times_mse"]))
def test_improvements_over_the_paper(setting: str) -> None:
    g = GOLDEN["improvements_n_times_mse"][setting]
    name, eps = setting.split(" eps=")
    s, theta = {"Foursquare": (25, 0.95), "Census": (424, 0.56), "Drug": (3, 0.78), "Normal": (230, 0.77)}[name]
    case = {"eps": float(eps), "s": s, "theta": theta}
    for base, form, key in (("ss", "glutf", "uSS_paper"), ("ss", "null", "uSS_disc"), ("ue", "null", "uUE_null_disc")):
        assert made(base, case, form).mse_sum() == pytest.approx(g[key], rel=1e-10)
    assert made("lh", case).mse_sum() == pytest.approx(g["uLH_null_disc"], rel=1e-10)
    assert made("pgr", case, prime=g["pgr"]["Q"]).mse_sum() == pytest.approx(g["uPGR_disc"], rel=1e-10)
