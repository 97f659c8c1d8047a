"""The study of estimators: its page and its advice are made from its numbers, its numbers from its code."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def study() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("estimators")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def rows(study: ModuleType) -> list[Any]:
    return study.read_numbers()


def test_picture_is_made_from_the_numbers(study: ModuleType, rows: list[Any]) -> None:
    pytest.importorskip("altair", reason="charts need: pip install 'deniable[charts]'")
    stored = json.loads(study.PICTURE.with_suffix(".json").read_text("utf-8"))
    assert stored == study.chart(rows).to_dict(), "run: python benchmarks/estimators.py --render"
    assert study.PICTURE.read_bytes().startswith(b"\x89PNG")
    assert study.PICTURE.stat().st_size < 200_000


def test_study_is_whole(study: ModuleType, rows: list[Any]) -> None:
    for name in ("raw", "projected", "em"):
        own = [r for r in rows if r.estimate == name]
        assert len(own) == 32
        assert {r.runs for r in own} == {50}
    assert {r.n for r in rows} == {48_842, 50_000}


def test_numbers_come_out_again(study: ModuleType, rows: list[Any]) -> None:
    """One setting, all 50 runs: the fastest one."""
    setting = next(s for s in study.settings(study.RUNS, 0) if (s.data, s.mechanism, s.epsilon) == ("zipf", "grr", 4.0))
    for found in study.measure(setting):
        stored = study.find(rows, "zipf", "grr", 4.0, found.estimate)
        for what in ("mse", "mse_se", "mae", "worst", "steps"):
            assert getattr(found, what) == pytest.approx(getattr(stored, what), rel=1e-4), (found.estimate, what)


Row = Any
ADVICE: list[tuple[str, Callable[[Row], bool], Callable[[Row], bool]]] = [
    (
        "projection always pays",
        lambda r: r.estimate == "raw",
        lambda r: r.mse_change > 3 * r.mse_change_se,
    ),
    (
        "EM pays at epsilon 4, up to a fifth",
        lambda r: r.estimate == "em" and r.epsilon == 4 and r.mechanism != "grr",
        lambda r: -0.2 < r.mse_change < -0.05 and r.mse_change < -3 * r.mse_change_se,
    ),
    (
        "EM pays a little at epsilon 2",
        lambda r: r.estimate == "em" and r.epsilon == 2 and r.mechanism != "grr",
        lambda r: -0.1 < r.mse_change < 0,
    ),
    (
        "EM hardly matters at epsilon 1 and below",
        lambda r: r.estimate == "em" and r.epsilon <= 1,
        lambda r: abs(r.mse_change) < 0.04,
    ),
    (
        "EM gains little for grr",
        lambda r: r.estimate == "em" and r.mechanism == "grr",
        lambda r: abs(r.mse_change) < 0.04,
    ),
    (
        "count-aware is never worse",
        lambda r: r.estimate == "count-aware projected",
        lambda r: r.mse_change < 3 * r.mse_change_se,
    ),
    (
        "smoothing pays for ages up to epsilon 2",
        lambda r: r.estimate == "ems" and r.epsilon <= 2,
        lambda r: r.mse_change < -0.3,
    ),
    (
        "smoothing does not pay at epsilon 4",
        lambda r: r.estimate == "ems" and r.epsilon == 4,
        lambda r: r.mse_change > 0,
    ),
]


@pytest.mark.parametrize(("which", "holds"), [a[1:] for a in ADVICE], ids=[a[0] for a in ADVICE])
def test_advice_is_what_was_measured(
    which: Callable[[Row], bool], holds: Callable[[Row], bool], rows: list[Any]
) -> None:
    looked_at = [r for r in rows if which(r)]
    assert len(looked_at) >= 4
    assert [r for r in looked_at if not holds(r)] == []
