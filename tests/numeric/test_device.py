"""A device reads numbers as the collecting side does, and refuses a design that leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable_client import Device, ParameterError, PrivacyError, ReplayWords

NAMES = ["sw", "pm", "duchi", "hm"]
GRIDS: list[dict[str, Any]] = [
    {"interval": (-1, 1), "points": 5},
    {"interval": (0, 100), "points": 7, "layout": "endpoints"},
    {"interval": (10, 20), "points": 1000, "clip": True},
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_devices_and_collectors_take_numbers_for_the_same_points(name: str, grid: dict[str, Any]) -> None:
    m = dn.mechanism(name, epsilon=2.0, **grid)
    device = Device(m.design)
    low, high = grid["interval"]
    step = (high - low) / grid["points"]
    values = [*np.linspace(low, high, 41).tolist(), low + step, low + step / 2, low + 2 * step]
    for value in values:
        words = [2**62 + 977 * i for i in range(6)]
        item = int(m.domain.encode([value])[0])
        assert device.report(value, ReplayWords(words)) == m.kernel.randomise(item, ReplayWords(words))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [1.5, float("nan"), float("inf"), None, "x"])
def test_numbers_outside_make_no_report(name: str, bad: object) -> None:
    device = Device(dn.mechanism(name, epsilon=1.0, interval=(-1, 1), points=9).design)
    with pytest.raises(ParameterError):
        device.report(bad)


@pytest.mark.parametrize(("name", "field", "more"), [("sw", "keep", 1), ("pm", "keep", 1), ("duchi", "base", -1)])
def test_one_unit_more_is_refused(name: str, field: str, more: int) -> None:
    """At two points the bit's slope has no slack, so that one unit less at the bottom breaks the promise."""
    design = dict(dn.mechanism(name, epsilon=1.0, interval=(-1, 1), points=2).design)
    kernel = dict(design["kernel"])
    kernel[field] = str(int(kernel[field]) + more)
    with pytest.raises(PrivacyError, match="no report was made"):
        Device(design | {"kernel": kernel})
