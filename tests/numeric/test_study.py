"""The kept results of benchmarks/numeric.py show what the page says."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from deniable.core.grid import Grid
from deniable.mechanisms.metric.brr import make_brr
from deniable.mechanisms.numeric.base import POINTS_WAVE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def study() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("numeric")
    sys.path.remove(str(ROOT / "benchmarks"))


def found(study: ModuleType) -> dict[tuple[str, float, str], dict[str, float]]:
    rows = importlib.import_module("measure").read_csv("numeric")
    numbers = ("runs", "l1", "w1", "mean", "mean_se", "bias", "bias_se")
    return {(r["data"], float(r["epsilon"]), r["method"]): {n: float(r[n]) for n in numbers} for r in rows}


def test_the_study_is_complete(study: ModuleType) -> None:
    rows = found(study)
    assert {key[:2] for key in rows} == {(d, e) for d in study.POPULATIONS for e in study.EPSILONS}
    assert len({key[2] for key in rows}) == 12
    assert {row["runs"] for row in rows.values()} == {study.RUNS}


def test_distances_are_those_of_an_independent_study(study: ModuleType) -> None:
    """Golden numbers are means of 6 runs of other code, these of 40; both err by some per cent."""
    golden = json.loads((ROOT / "tests/golden/brr.json").read_text())["est"]["L1_W1_meanabs"]
    names = {"grr projected": "GRR norm-sub", "oue projected": "OUE norm-sub", "brr ems": "BRR EMS", "sw ems": "SW EMS"}
    rows, compared = found(study), 0
    for data, other in (("beta(2, 5)", "beta(2,5)"), ("beta(1, 20)", "one-sided(beta 1,20)")):
        for epsilon in study.EPSILONS:
            for own, theirs in names.items():
                wanted = golden[f"{other} eps={epsilon}"][theirs][0]
                assert rows[data, epsilon, own]["l1"] == pytest.approx(wanted, rel=0.2)
                compared += 1
    assert compared == 16


def test_the_square_wave_has_the_best_distribution_but_for_peaks(study: ModuleType) -> None:
    rows = found(study)
    for data, epsilon in {key[:2] for key in rows}:
        own = {m: rows[data, epsilon, m]["w1"] for m in ("grr projected", "oue projected", "brr em", "brr ems")}
        assert min(rows[data, epsilon, m]["w1"] for m in ("sw em", "sw ems")) < min(own.values())


@pytest.mark.parametrize("method", ["sw mean", "pm", "pm, paper's window", "duchi", "hm"])
def test_unbiased_means_show_no_bias(study: ModuleType, method: str) -> None:
    """Six settings, each within 4.5 standard errors of 40 runs (t law: chance below 4e-4 for all six of a method)."""
    for (_, _, name), row in found(study).items():
        if name == method:
            assert abs(row["bias"]) < 4.5 * row["bias_se"]


def test_the_affine_mean_of_moved_windows_is_biased(study: ModuleType) -> None:
    rows = found(study)
    assert rows["beta(1, 20)", 1.0, "brr affine"]["bias"] > 0.1


def test_the_usual_grid_is_never_far_from_the_best(study: ModuleType) -> None:
    by: dict[tuple[str, str], dict[int, float]] = {}
    for row in importlib.import_module("measure").read_csv("numeric-grids"):
        by.setdefault((row["data"], row["epsilon"]), {})[int(row["points"])] = float(row["w1"])
    worst = {p: max(errors[p] / min(errors.values()) for errors in by.values()) for p in study.GRIDS}
    assert min(worst, key=worst.__getitem__) == POINTS_WAVE
    assert worst[512] < 1.35 < max(worst[256], worst[1024]) < 1.54


def test_a_million_reports_take_a_fraction_of_a_second(study: ModuleType) -> None:
    """Kept results, not measured here."""
    rows = importlib.import_module("measure").read_csv("numeric-speed")
    assert {row["mechanism"] for row in rows} == {"brr", "sw", "pm", "duchi", "hm"}
    assert max(int(row["points"]) for row in rows) == 10**9
    assert max(float(row["seconds"]) for row in rows) < 0.2


def test_the_affine_mean_is_exact_in_the_middle(study: ModuleType) -> None:
    m: Any = make_brr(epsilon=2.0, domain=Grid.of(0, 1, 65))
    row = m.channel().matrix()[32]
    assert study.affine_mean(m, row * 1e6) == pytest.approx(0.5, abs=1e-12)
    edge = m.channel().matrix()[0]
    assert study.affine_mean(m, edge * 1e6) > 0.05


def test_made_up_people_are_inside(study: ModuleType) -> None:
    for draw in study.POPULATIONS.values():
        values = draw(np.random.default_rng(1), 5000)
        assert values.shape == (5000,)
        assert 0 <= values.min() < values.max() <= 1
