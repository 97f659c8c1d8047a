"""Recipes that are not private as described: the audit refutes each, with the number, and keeps their safe versions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.papers.leaks import (
    LEAKS,
    bounded_noise,
    clipping_by_data,
    interval_by_sign,
    own_window_sizes,
    places,
    region_restriction,
    staircase_as_printed,
)
from tiers import every

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/brr.json").read_text())["ldp"]["own_m_per_row"]


@pytest.mark.parametrize("name", ["region_restriction", "interval_by_sign", "clipping_by_data", "bounded_noise"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_reports_that_rule_values_out_have_no_epsilon_at_all(name: str, epsilon: float) -> None:
    leak = LEAKS[name](epsilon)
    found = dn.audit(leak)
    assert not found.holds
    assert found.exact == math.inf
    assert found.document()["ratio"] == "infinite"
    assert leak.why
    assert leak.instead


def test_within_one_region_the_restricted_release_keeps_its_promise() -> None:
    """What it does have: epsilon among the places of a region, if the region may be known."""
    whole = region_restriction(1.0, (4, 3))
    for own in (whole.laws[:4], whole.laws[4:]):
        part = type(whole)("one region", 1.0, own, "", "")
        assert dn.audit(part).holds


def test_the_sign_can_be_read_off_every_single_report() -> None:
    channel = interval_by_sign(1.0, 5).channel()
    for output, row in zip(channel.outputs, channel.weights, strict=True):
        senders = {x < 5 for x, w in enumerate(row) if w}
        assert senders == {output.startswith("-")}


def test_the_reported_grid_tells_the_raw_norm() -> None:
    channel = clipping_by_data().channel()
    telling = [o for o, row in zip(channel.outputs, channel.weights, strict=True) if sum(w > 0 for w in row) == 1]
    assert set(channel.outputs) - set(telling) == {"0"}


def test_bounded_noise_tells_distant_values_apart_with_certainty() -> None:
    laws = bounded_noise(1.0, steps=20, reach=2).laws
    assert not set(laws[0]) & set(laws[5])
    assert set(laws[0]) & set(laws[4])
    with pytest.raises(ParameterError, match="reach must be between 0 and half of steps"):
        bounded_noise(1.0, steps=4, reach=2)


@pytest.mark.parametrize(("points", "epsilon"), every(3, [(20, 1.0), (100, 1.0), (100, 3.0)]))
def test_own_window_sizes_add_what_the_golden_numbers_say(points: int, epsilon: float) -> None:
    leak = own_window_sizes(epsilon, points)
    golden = GOLDEN[f"N={points},eps={epsilon}"]
    assert f"from {golden['min_m']} to {golden['max_m']} answers" in leak.why
    found = dn.audit(leak)
    assert not found.holds
    assert found.exact == pytest.approx(golden["exact_eps"], abs=1e-9)


@pytest.mark.parametrize(("epsilon", "exact"), [(1.0, 1.6549), (2.0, 3.3052)])
def test_the_staircase_with_c_of_e_to_the_epsilon_leaks_more(epsilon: float, exact: float) -> None:
    """30 places in spirals of 20, 8 and 2; groups by two and one shared levels of the quadtree."""
    assert len(places()) == 30
    found = dn.audit(staircase_as_printed(epsilon))
    assert not found.holds
    assert found.exact == pytest.approx(exact, abs=5e-5)


def test_with_groups_of_equal_sizes_the_same_staircase_is_private() -> None:
    """So the sizes of groups, not the staircase, are at fault: four corners of a square."""
    corners = places((1, 1, 1), ((0, 0), (0, 63), (63, 0)))
    assert dn.audit(staircase_as_printed(1.0, corners, (1,))).holds
