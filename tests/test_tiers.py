"""Cases that take turns: each on its day, all of them in every cycle, and none left out that takes no turns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiers import LIMITS

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.turns(3)
@pytest.mark.parametrize("case", range(7))
def test_some(case):
    assert case >= 0

def test_always():
    assert True
"""
INI = """
[pytest]
markers = turns(n): each case every n days
"""


def ran(pytester: pytest.Pytester, *options: str) -> set[str]:
    done = pytester.runpytest("-v", *options)
    return {line.split(" ")[0].rpartition("::")[2] for line in done.outlines if " PASSED" in line}


def test_each_case_has_its_day(pytester: pytest.Pytester) -> None:
    here = Path(__file__).parent
    pytester.makepyfile(test_cases=TESTS)
    pytester.makefile(".ini", pytest=INI)
    pytester.makeconftest((here / "conftest.py").read_text())
    pytester.makepyfile(tiers=(here / "tiers.py").read_text())
    everything = ran(pytester)
    assert len(everything) == 8
    days = [ran(pytester, "--turn", str(day)) for day in range(20774, 20777)]
    assert [sorted(day - {"test_always"}) for day in days] != [[], [], []]
    assert all("test_always" in day for day in days)
    assert set.union(*days) == everything
    assert sum(len(day) - 1 for day in days) == 7
    assert ran(pytester, "--turn", "20777") == days[0]


def test_figures_of_a_run(pytester: pytest.Pytester) -> None:
    here = Path(__file__).parent
    pytester.makepyfile(
        test_cases=TESTS.replace("case >= 0", "case != 3") + "\n@pytest.mark.skip\ndef test_not(): ...\n"
    )
    pytester.makefile(".ini", pytest=INI)
    pytester.makeconftest((here / "conftest.py").read_text())
    pytester.makepyfile(tiers=(here / "tiers.py").read_text())
    pytester.runpytest("--figures-to", "figures.json")
    figures = json.loads((pytester.path / "figures.json").read_text())
    assert (figures["passed"], figures["failed"], figures["skipped"]) == (7, 1, 1)
    assert list(figures["seconds of files"]) == ["test_cases.py"]


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_test_has_a_limit(slow: bool, request: pytest.FixtureRequest) -> None:
    limit = request.node.get_closest_marker("timeout")
    assert limit is not None
    assert limit.args == (LIMITS[slow],)
