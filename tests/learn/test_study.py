"""The study of learners: its page is made from its numbers, and the examples run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("vectors", "boosting", "gradient_descent", "network", "locations")


@pytest.fixture(scope="module")
def study() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location("study_of_learners", ROOT / "benchmarks/learning.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return module


def test_what_the_page_says_of_trees_is_in_the_numbers(study: ModuleType) -> None:
    """Noise on sums and counts is best everywhere; at epsilon 0.5 staying inside the range is the gain of brr."""
    found = {(r["data"], r["method"], r["epsilon"]): float(r["mean"]) for r in study.read_csv("learning")}
    for data in ("abalone", "bias", "superconduct"):
        for epsilon in ("0.5", "1.0", "2.0", "5.0"):
            each = {method: value for (d, method, e), value in found.items() if (d, e) == (data, epsilon)}
            assert min(each, key=each.__getitem__) == "sums"
        each = {method: value for (d, method, e), value in found.items() if (d, e) == (data, "0.5")}
        gain = each["Laplace"] - each["brr, half"]
        assert each["Laplace"] - min(each["truncated Laplace"], each["clamped Laplace"]) > 0.9 * gain > 0


def test_bounds_are_rounded_outwards(study: ModuleType) -> None:
    low, high = study.outwards(np.array([[0.12, 5.0, -31.0], [0.87, 5.0, 118.0]]))
    assert low == pytest.approx([0.1, 5, -100])
    assert high == pytest.approx([0.9, 6, 200])


def test_area_under_the_curve(study: ModuleType) -> None:
    truth = np.array([True, False, True, False])
    assert study.area(truth, np.array([0.9, 0.1, 0.8, 0.2])) == 1
    assert study.area(truth, np.array([0.5, 0.5, 0.5, 0.5])) == 0.5
    assert study.area(truth, np.array([0.9, 0.1, 0.2, 0.8])) == 0.75


def test_a_part_of_the_study_runs(study: ModuleType) -> None:
    """The made-up part needs no data; one piece of it is enough here."""
    works = list(study.descent())
    chosen = next(w for w in works if (w.data, w.method, w.epsilon) == ("made up", "pm", 4.0))
    assert chosen.score(0) > 0.8
    assert {w.part for part in study.PARTS.values() for w in part()} == set(study.PARTS)


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, f"examples/{name}.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 5


def test_every_example_of_a_learner_is_looked_at() -> None:
    mentioned = (ROOT / "docs/learning.md").read_text("utf-8")
    assert all(f"examples/{name}.py" in mentioned and (ROOT / f"examples/{name}.py").is_file() for name in EXAMPLES)
