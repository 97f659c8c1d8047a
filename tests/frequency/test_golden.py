"""Closed forms against numbers computed elsewhere with 50 digits, for 40 settings of k and epsilon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core.laws import epsilon_to, hashing

ROWS = json.loads((Path(__file__).parents[1] / "golden" / "frequency.json").read_text())
SETTINGS = [pytest.param(row, id=f"k={row['k']}-epsilon={row['epsilon']}") for row in ROWS]
CLOSE = 1e-12


def make(name: str, row: dict[str, Any], **options: Any) -> Any:
    return dn.mechanism(name, epsilon=row["epsilon"], k=row["k"], **options)


def test_there_are_40_settings() -> None:
    assert len(ROWS) == 40
    assert {row["k"] for row in ROWS} == {2, 5, 25, 100, 1000, 10000}


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue", "blh", "olh"])
@pytest.mark.parametrize("row", SETTINGS)
def test_closed_forms_equal_the_golden_ones(row: dict[str, Any], name: str) -> None:
    m, want = make(name, row), row[name]
    n = 1
    told = m.properties(n)
    found = {"p_star": told["p"], "q_star": told["q"], "mse_approx": told["mse_approx"], "mse_full": told["mse"]}
    assert found == pytest.approx({key: want[key] for key in found}, rel=CLOSE, abs=0)
    assert told["asr"] == pytest.approx(want.get("asr", want.get("asr_exact")), rel=CLOSE, abs=0)
    assert told["mse_sum"] == pytest.approx(row["k"] * want["mse_full"], rel=CLOSE, abs=0)
    assert m.properties(1000)["mse"] == pytest.approx(want["mse_full"] / 1000, rel=CLOSE, abs=0)


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue", "blh", "olh"])
@pytest.mark.parametrize("row", SETTINGS)
def test_what_is_sampled_is_as_good_as_the_golden_ideal(row: dict[str, Any], name: str) -> None:
    m, want = make(name, row), row[name]
    told = m.effective()
    assert told["p"] == pytest.approx(want["p_star"], rel=1e-11, abs=0)
    assert told["q"] == pytest.approx(want["q_star"], rel=1e-11, abs=0)
    assert told["mse"] == pytest.approx(want["mse_full"], rel=1e-9, abs=0)
    assert row["epsilon"] - 1e-12 < told["epsilon"] <= row["epsilon"]


@pytest.mark.parametrize("row", SETTINGS)
def test_parameters_equal_the_golden_ones(row: dict[str, Any]) -> None:
    assert make("ss", row).size == row["ss"]["omega"]
    assert make("ss", row, rounding="best").size == row["ss"]["omega_best_mse_full"]
    assert make("olh", row).g == row["olh"]["g"]
    assert make("blh", row).g == row["blh"]["g"] == 2


@pytest.mark.parametrize("row", SETTINGS)
def test_the_lie_of_hashing_equals_the_golden_one(row: dict[str, Any]) -> None:
    for name in ("blh", "olh"):
        m = make(name, row)
        assert m.support.p_not / (m.g - 1) == pytest.approx(row[name]["q_report"], rel=CLOSE, abs=0)


@pytest.mark.parametrize("row", SETTINGS)
def test_best_range_for_the_approximate_error_equals_the_golden_one(row: dict[str, Any]) -> None:
    """By trying all ranges near e + 1; the golden value minimises the usual approximation, `best` the exact error."""
    w, v = epsilon_to(row["epsilon"])
    centre = round(1 / w) + 1
    near = range(max(2, centre - 3), centre + 4)
    assert min(near, key=lambda g: hashing(w, v, g).mse_approx()) == row["olh"]["g_best_mse_approx"]
    best = make("olh", row, rounding="best")
    assert best.mse() <= make("olh", row).mse() * (1 + CLOSE)
    for g in (best.g - 1, best.g + 1):
        if g >= 2:
            assert best.mse() <= hashing(w, v, g).mse(row["k"]) * (1 + CLOSE)


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue", "blh", "olh"])
def test_formulas_work_up_to_epsilon_700_and_samplers_say_why_they_do_not(name: str) -> None:
    m = dn.mechanism(name, epsilon=700.0, k=10)
    told = m.properties(100)
    for key in ("p", "q", "mse", "asr", "bound"):
        assert 0 < told[key] <= 1, (key, told[key])
    with pytest.raises(dn.PrivacyError, match="epsilon must be at most 40 to draw reports, got 700"):
        m.privatize([1])


def test_ss_is_never_worse_than_any_other_row_in_exact_error() -> None:
    """Subset selection of the best size attains the lower bound [AdaptiveLDP frontier]; nothing goes below it."""
    for row in ROWS:
        bound = make("ss", row, rounding="best").mse()
        for name in ("grr", "ss", "sue", "oue", "blh", "olh"):
            m = make(name, row)
            assert m.mse() >= bound * (1 - CLOSE)
            assert m.properties()["bound"] == pytest.approx(bound, rel=CLOSE)
            assert m.properties()["gap"] == pytest.approx(m.mse() / bound - 1, abs=CLOSE)
