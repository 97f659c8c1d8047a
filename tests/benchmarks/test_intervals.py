"""Coverage of every family's intervals, measured as by the benchmark: in settings where earlier ones failed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from scipy.stats import binomtest

import deniable as dn
from tiers import every

Modules = dict[str, ModuleType]
Case = tuple[str, float, int, str, str, str]
LOW = 0.93

WORST: list[tuple[Case, float]] = [
    (("ussmix", 0.5, 100, "", "harmless rare", "reporters"), 0.47),
    (("ussmix", 0.5, 100, "", "harmless rare", "population"), 0.32),
    (("urr", 4.0, 100, "", "sensitive absent", "population"), 0.73),
    (("uss", 4.0, 100, "", "sensitive absent", "population"), 0.75),
    (("upldp", 1.0, 100, "", "harmless rare", "reporters"), 0.39),
    (("upldp", 1.0, 300, "", "harmless rare", "population"), 0.65),
    (("pldp", 1.0, 100, "base lh", "frequent", "reporters"), 0.82),
    (("hm", 4.0, 20, "rare large ones", "mean", "population"), 0.81),
    (("pm", 4.0, 20, "rare large ones", "mean", "population"), 0.81),
    (("uue", 4.0, 100, "", "harmless absent", "reporters"), 0.0),
]
"""Settings, and what value +- z stderr covered there (500 runs, or 1000 for numbers)."""
SLOW = [
    ("blh", 4.0, 300, "", "absent", "reporters"),
    ("hr", 4.0, 300, "", "frequent", "reporters"),
    ("she", 4.0, 100, "", "rare", "population"),
    ("privkv", 0.5, 300, "", "rare", "population"),
    ("geometric", 0.5, 100, "", "rare", "population"),
    ("duchi", 4.0, 100, "rare large ones", "mean", "population"),
    ("kv-ss2", 4.0, 100, "", "frequent", "reporters"),
]


def covered(intervals: ModuleType, case: Case, runs: int) -> dict[str, Any]:
    name, epsilon, n, population, label, target = case
    family = dn.MECHANISMS[name].cls.__module__.split(".")[-2]
    (setting,) = [s for s in intervals.of(family, name, epsilon, n) if s.population == population]
    (row,) = [
        r
        for r in intervals.measure(setting, runs)
        if (r["label"], r["target"]) == (label, target)
        and r["part"] in ("frequency", "mean")[-1 if label == "mean" else 0 :]
    ][:1]
    return dict(row)


@pytest.mark.stat
@pytest.mark.parametrize(("case", "before"), every(4, WORST))
def test_no_interval_covers_below_93_percent(benchmarks: Modules, case: Case, before: float) -> None:
    """300 runs, fixed seed: a coverage of 93 % fails with chance 1e-4 each, 1e-3 in all. What earlier intervals covered
    passes with chance 0.012 at most (82 %), below 1e-6 up to 75 %. Small dips, such as 90 %, are for the slow tier."""
    row = covered(benchmarks["intervals"], case, 300)
    hits = round(row["coverage"] * row["runs"])
    assert row["runs"] + row["refused"] == 300
    assert binomtest(hits, row["runs"], LOW, "less").pvalue > 1e-4, (case, row["coverage"], before)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.turns(4)
@pytest.mark.parametrize("case", [*(case for case, _ in WORST), *SLOW])
def test_no_interval_covers_below_93_percent_in_2000_runs(benchmarks: Modules, case: Case) -> None:
    """About ten seconds each. 93 % fails with chance 1e-4; 90 % passes with chance 0.12, 82 % never (1e-28)."""
    row = covered(benchmarks["intervals"], case, 2000)
    hits = round(row["coverage"] * row["runs"])
    assert binomtest(hits, row["runs"], LOW, "less").pvalue > 1e-4, (case, row["coverage"])


def test_the_kept_table_has_every_mechanism_and_a_note_where_coverage_is_outside(benchmarks: Modules) -> None:
    """Every mechanism that has an unbiased estimate, with 2,000 runs or, measured again, 10,000."""
    rows = benchmarks["measure"].read_csv("coverage")
    without = {"brr", "codebook", "lsrr", "optimal-release"}  # their channels have no inverse at a small epsilon
    assert {r["mechanism"] for r in rows} | without >= {
        n for n, row in dn.MECHANISMS.items() if row.kind == "mechanism"
    }
    assert {r["target"] for r in rows} == {"reporters", "population"}
    whole = {int(r["runs"]) + int(r["refused"]) for r in rows if (r["part"], r["label"]) != ("mean", "rare")}
    assert whole == {2000, 10_000}, "of rare keys those runs count in which somebody has them"
    told, beyond = benchmarks["intervals"].summary(rows)
    assert beyond == 0, told


CELLS = [
    (0.95, 0.0, 2000, "within", False),
    (0.93, 0.0, 2000, "within", False),
    (0.925, 0.49, 2000, "below unflagged", False),
    (0.90, 0.49, 2000, "below unflagged", True),
    (0.925, 0.0, 20_000, "below unflagged", False),
    (0.92, 0.0, 20_000, "below unflagged", True),
    (0.90, 0.5, 2000, "below flagged", True),
    (0.98, 0.0, 2000, "above unflagged", False),
    (0.99, 0.0, 2000, "above unflagged", True),
    (0.99, 1.0, 2000, "above flagged", True),
]


@pytest.mark.parametrize(("coverage", "flagged", "runs", "name", "beyond"), CELLS)
def test_verdict_on_a_cell(
    benchmarks: Modules, coverage: float, flagged: float, runs: int, name: str, beyond: bool
) -> None:
    """93 % in 2,000 runs is 90.5 to 95 % with 99.99 %."""
    row = {"coverage": coverage, "flagged": flagged, "runs": runs}
    assert benchmarks["intervals"].verdict(row) == name
    assert benchmarks["intervals"].beyond_chance(row) == beyond
    assert benchmarks["intervals"].summary([row])[1] == int(beyond and name.endswith("unflagged"))
