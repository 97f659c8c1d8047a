"""Made-up cases of Hypothesis are the same in every run, and no clock decides: a test fails for what it found alone.

pytest --hypothesis-profile=search     # other cases each time, to look further
pytest --turn 20774                    # of cases that take turns, those of this day only (tiers.py)
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tiers import waiting

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--turn", type=int, metavar="DAY", help="of cases that take turns only those of this day's number")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases whose turn is on another day."""
    day = config.getoption("--turn")
    late = waiting(items, day) if day is not None else set()
    if late:
        config.hook.pytest_deselected(items=[item for item in items if item in late])
        items[:] = [item for item in items if item not in late]
