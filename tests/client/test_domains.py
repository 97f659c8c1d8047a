"""Values on a device are read as the collecting side reads them; text is not taken for a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.space import Space
from deniable_client.domains import read_domain
from deniable_client.errors import FormatError, ParameterError


@settings(deadline=None)
@given(
    st.integers(2, 50),
    st.sampled_from(["midpoints", "endpoints"]),
    st.floats(-5, 5),
    st.floats(0.1, 9),
    st.floats(0, 1),
)
def test_numbers_fall_on_the_same_points_of_a_grid(k: int, layout: str, low: float, width: float, share: float) -> None:
    grid = Grid.of(low, low + width, k, layout=layout, clip=True)
    read = read_domain(grid.document(), k).index
    value = low + share * width
    middles = (grid.points[1:] + grid.points[:-1]) / 2
    for each in (value, low - 1, low + width + 1, *middles.tolist()):
        assert read(each) == grid.encode([each])[0]


def test_numbers_fall_on_the_same_codes() -> None:
    codes = Codes.over(0, 1, [0.1, 0.5, 0.6])
    read = read_domain(codes.document(), 3).index
    values = np.linspace(0, 1, 101)
    assert [read(float(v)) for v in values] == codes.encode(values).tolist()
    assert read(0.55) == codes.encode([0.55])[0]


@pytest.mark.parametrize("value", [1.01, -0.01, float("nan"), float("inf"), "0.5", None, True])
def test_numbers_outside_are_refused_unless_clipped(value: Any) -> None:
    read = read_domain(Grid.of(0, 1, 4).document(), 4).index
    with pytest.raises(ParameterError, match=r"value must be a number from 0 to 1.*Nothing is clipped"):
        read(value)


def test_spaces_are_read_by_number_or_label() -> None:
    points = [[0.0, 1.0], [2.0, 3.0]]
    assert read_domain(Space.places(points).document(), 2).index(1) == 1
    assert read_domain(Space.places(points, ["home", "work"]).document(), 2).index("work") == 1
    with pytest.raises(ParameterError, match="'pub' is not one of this question's 2 labels"):
        read_domain(Space.places(points, ["home", "work"]).document(), 2).index("pub")


@pytest.mark.parametrize(
    "document",
    [
        {"interval": [1, 0], "points": 4, "layout": "midpoints", "clip": False},
        {"interval": [0, 1], "points": 4, "layout": "middle", "clip": False},
        {"interval": [0, 1], "points": 4, "layout": "midpoints"},
        {"interval": [0], "points": 4, "layout": "midpoints", "clip": False},
        {"interval": [0, 1], "codes": [0.2, 0.1, 0.3, 0.4], "clip": False},
        {"k": 5},
        {"labels": ["a", "b"]},
        {"labels": [1, 2, 3, 4]},
        {},
    ],
)
def test_domains_that_do_not_fit_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(FormatError):
        read_domain(document, 4)


def test_plain_domains_are_read_as_before() -> None:
    assert read_domain(Domain.of(4).document(), 4).index(3) == 3
    assert read_domain(Domain.of(["a", "b"]).document(), 2).index("b") == 1
    with pytest.raises(ParameterError, match=r"value must be an integer from 0 to 3, got 1\.5"):
        read_domain(Domain.of(4).document(), 4).index(1.5)
