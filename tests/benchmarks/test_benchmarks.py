"""The mechanics of the benchmarks. No test here measures time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

Modules = dict[str, ModuleType]
ROOT = Path(__file__).resolve().parents[2]


def test_best_is_the_shortest_run_without_the_first(benchmarks: Modules, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, length = [0.0], iter([100.0, 3.0, 2.0, 5.0, 7.0])
    monkeypatch.setattr(benchmarks["measure"].time, "perf_counter", lambda: clock[0])

    def work() -> None:
        clock[0] += next(length)

    assert benchmarks["measure"].best(work, least=2, seconds=9.0) == 2.0
    assert next(length) == 7.0


def test_tables_come_back(benchmarks: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measure = benchmarks["measure"]
    monkeypatch.setattr(measure, "DATA", tmp_path)
    measure.write_csv("x", [{"a": 1, "b": None}, {"a": "two, three", "b": 0.5}])
    assert measure.read_csv("x") == [{"a": "1", "b": ""}, {"a": "two, three", "b": "0.5"}]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponent_of_a_power(benchmarks: Modules, power: float) -> None:
    growth = benchmarks["growth"]
    x = [10.0, 100.0, 1000.0]
    assert growth.exponent(x, [7 * v**power for v in x]) == pytest.approx(power)
    rows = [{"varied": "n", "mechanism": "grr", "n": v, "k": 9, "seconds": v**power, "peak_mib": v} for v in x]
    (found,) = growth.exponents(rows)
    assert found["exponent"] == pytest.approx(power)
    assert (found["from"], found["to"], found["peak_mib"]) == (10, 1000, 1000)


@pytest.mark.parametrize("name", ["grr", "oue", "ss", "olh"])
def test_a_case_counts_every_report(benchmarks: Modules, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`once` makes more reports than fit one part, and asserts itself that all were counted."""
    growth = benchmarks["growth"]
    monkeypatch.setattr(growth, "PART", 1)
    n = growth.dn.mechanism(name, epsilon=1.0, k=64).bulk.block + 5
    found = growth.once(name, n, 64)
    assert found["seconds"] == pytest.approx(found["privatize"] + found["tally"])


@pytest.mark.slow
def test_a_case_in_a_process_of_its_own_tells_its_memory(benchmarks: Modules) -> None:
    found = benchmarks["growth"].apart("grr", 1000, 10)
    assert (found["mechanism"], found["n"], found["k"]) == ("grr", 1000, 10)
    assert 10 < found["peak_mib"] < 2000


def test_every_work_is_compared(benchmarks: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Rows as promised, from given times: ratio is theirs over ours, a share is the limit over ours."""
    pytest.importorskip("numba", reason="the limits need numba: pip install 'deniable[fast]'")
    peers = benchmarks["peers"]
    works = [f"{name} {work}" for name in peers.USERS for work in ("privatize", "tally")]
    limits = dict.fromkeys(["copy", "read", "cipher", "random_bit", "hash"], 0.5)
    monkeypatch.setattr(peers.limits, "measure", lambda: limits)
    monkeypatch.setattr(peers, "ours", lambda name: {f"{name} privatize": 250.0, f"{name} tally": 1000.0})
    rows = [{"work": work, "peer": "other", "theirs": 5000.0} for work in works]
    monkeypatch.setattr(
        peers, "theirs", lambda folder, k=0, *names: [r for r in rows if "olh" in r["work"] or not names]
    )
    times = {"privatize": 25.0, "tally": 2.0, "decode": 6.0, "transforms": 2.0, "bytes": 4}
    monkeypatch.setattr(peers, "affine", lambda k: dict(times))
    found = peers.compare()
    own = [f"affine {work}, k = {k}" for k in ("1,000", "100,000") for work in ("privatize", "tally and decode")]
    assert [row["work"] for row in found["rows"][len(works) :]] == own
    assert [row["ratio"] for row in found["rows"][len(works) :]] == [200.0, 625.0] * 2
    assert [row["limit_share"] for row in found["rows"][len(works) :]] == [8 / 25, 4 / 8] * 2
    assert peers.compare(alone=True)["rows"] == found["rows"][len(works) :]
    monkeypatch.setattr(benchmarks["measure"], "DATA", tmp_path)
    for alone in (False, True, True):
        peers.keep(peers.compare(alone=alone), alone=alone)
    kept = benchmarks["measure"].read_csv("peers")
    assert [row["work"] for row in kept] == works + own
    found["rows"] = found["rows"][: len(works)]
    assert [row["work"] for row in found["rows"]] == works
    assert {row["ratio"] for row in found["rows"]} == {20.0, 5.0}
    shares = {row["work"]: row["limit_share"] for row in found["rows"]}
    assert shares["oue privatize"] == pytest.approx(1000 * 0.5 / 250)
    assert shares["oue tally"] == pytest.approx(125 * 0.5 / 1000)
    assert shares["olh tally"] == pytest.approx(1000 * 0.5 / 1000)
    assert shares["ss privatize"] is None
    assert json.loads(json.dumps(found)) == found


def test_the_results_show_what_the_page_promises(benchmarks: Modules) -> None:
    """Kept results: linear in the number of reports, in little memory, and every work by every library."""
    measure, growth = benchmarks["measure"], benchmarks["growth"]
    found = [row for row in growth.exponents(measure.read_csv("growth")) if row["varied"] == "n"]
    assert {row["mechanism"]: row["to"] for row in found}.items() >= {"grr": 100_000_000, "oue": 10_000_000}.items()
    slack = {"grr": 0.05, "oue": 0.05}  # the largest cases, which last long enough to be timed well
    assert all(abs(row["exponent"] - 1) <= slack.get(row["mechanism"], 0.1) for row in found)
    assert all(row["peak_mib"] < 1000 for row in found)
    works = {(row["work"], row["peer"]) for row in measure.read_csv("peers")}
    assert len(works) == 22
    slow = [row for row in measure.read_csv("peers") if "k = 100,000" in row["work"]]
    assert min(float(row["ratio"]) for row in slow if "tally" in row["work"]) > 1e5
    assert all(float(row["ratio"]) > 10 for row in slow)


def test_the_best_designs_cost_what_is_asked_for_at_most(benchmarks: Modules) -> None:
    """Kept results, every cost once; and a row above either bar is seen."""
    costs = benchmarks["costs"]
    numbers = ("seconds", "seconds_asked", "megabytes", "megabytes_asked")
    kept = [{name: float(row[name] or 0) for name in numbers} for row in benchmarks["measure"].read_csv("costs")]
    assert [row["name"] for row in benchmarks["measure"].read_csv("costs")] == list(costs.COSTS)
    assert not any(map(costs.above, kept))
    assert all(costs.above({**row, "seconds": 1.01 * row["seconds_asked"]}) for row in kept)
    assert sum(costs.above({**row, "megabytes": 2000.0}) for row in kept) == 3


def test_pictures_are_small_and_shown() -> None:
    text = (ROOT / "docs/performance.md").read_text("utf-8")
    pictures = list((ROOT / "docs/data").glob("*.png"))
    assert {path.name for path in pictures} == {"growth-n.png", "growth-k.png"}
    for path in pictures:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 150_000
        assert f"data/{path.name}" in text


@pytest.mark.parametrize("script", ["peers", "growth"])
def test_scripts_explain_themselves(script: str) -> None:
    pytest.importorskip("numba", reason="the limits need numba: pip install 'deniable[fast]'")
    command = [sys.executable, str(ROOT / f"benchmarks/{script}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout


def test_the_codebook_is_best_on_places_and_the_staircase_worst(benchmarks: Modules) -> None:
    for row in benchmarks["measure"].read_csv("places"):
        assert float(row["codebook"]) < float(row["brr"]) < float(row["lsrr calibrated"])
