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
@pytest.mark.parametrize("case", [*(pytest.param(case, marks=pytest.mark.slow) for case in range(7)), 7])
def test_some(case):
    assert case >= 0

def test_always():
    assert True
"""
INI = """
[pytest]
markers =
    turns(n): each case every n days
    slow: takes long
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
    assert len(everything) == 9
    days = [ran(pytester, "--turn", str(day)) for day in range(20774, 20777)]
    quick = {"test_always", "test_some[7]"}
    assert [len(day - quick) for day in days] in ([3, 2, 2], [2, 3, 2], [2, 2, 3])
    assert all(quick <= day for day in days)
    assert set.union(*days) == everything
    assert sum(len(day - quick) for day in days) == 7
    assert ran(pytester, "--turn", "20777") == days[0]


def test_not_all_tests_begin_on_the_same_day(pytester: pytest.Pytester) -> None:
    """Those with one case each, too: one day would have all of them, and the others none."""
    one = "@pytest.mark.slow\n@pytest.mark.turns(2)\ndef test_{}(): assert True\n"
    here = Path(__file__).parent
    pytester.makepyfile(test_cases="import pytest\n" + "\n".join(map(one.format, range(16))))
    pytester.makefile(".ini", pytest=INI)
    pytester.makeconftest((here / "conftest.py").read_text())
    pytester.makepyfile(tiers=(here / "tiers.py").read_text())
    days = [ran(pytester, "--turn", str(day)) for day in (20774, 20775)]
    assert not days[0] & days[1]
    assert min(map(len, days)) >= 4
    assert sum(map(len, days)) == 16


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
    assert (figures["passed"], figures["failed"], figures["skipped"]) == (8, 1, 1)
    assert list(figures["seconds of files"]) == ["test_cases.py"]


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_test_has_a_limit(slow: bool, request: pytest.FixtureRequest) -> None:
    limit = request.node.get_closest_marker("timeout")
    assert limit is not None
    assert limit.args == (LIMITS[slow],)
