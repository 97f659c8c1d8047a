"""Maps of a release: every place, the reports of one place by their chance, and maps with the same scale both ways."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.present.charts import save
from deniable.present.maps import map_chart

pytest.importorskip("altair", reason="charts need the extra: pip install 'deniable[charts]'")
pytest.importorskip("vl_convert", reason="charts need the extra: pip install 'deniable[charts]'")

PLACES = np.array([[60.0, 10.0], [60.5, 10.2], [60.2, 11.0], [60.9, 10.5]])
LAWS = {"brr": [0.4, 0.3, 0.2, 0.1], "codebook": [0.0, 0.75, 0.25, 0.0]}


def spec(**options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"points": PLACES, "panels": LAWS, "own": 2, "title": "Places"} | options
    chart: dict[str, Any] = map_chart(given.pop("points"), given.pop("panels"), **given).to_dict()
    return chart


def marks(panel: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in panel["layer"] if part["mark"]["type"] == kind]


def test_places_beyond_the_map_stand_at_its_edge() -> None:
    """The square map of web tiles ends before the poles, at 85 degrees; all else is where it is."""
    where = dn.Space.places([[90, 0], [-90, 180], [0, -180], [45, 90], [85.06, 10], [85.04, 10]]).coordinates()
    assert where is not None
    assert where[:2].tolist() == [pytest.approx([0, np.pi]), pytest.approx([np.pi, -np.pi])]
    assert where[2] == pytest.approx([-np.pi, 0])
    assert where[3] == pytest.approx([np.pi / 2, np.log(1 + np.sqrt(2))])
    assert where[4, 1] == pytest.approx(np.pi)
    assert where[5, 1] < np.pi - 1e-4


def test_each_panel_has_all_places_and_the_reports_that_can_come() -> None:
    brr, codebook = spec()["concat"]
    for panel, law in ((brr, LAWS["brr"]), (codebook, LAWS["codebook"])):
        ground, reports = (part["data"]["values"] for part in marks(panel, "circle"))
        assert [(row["x"], row["y"]) for row in ground] == [(lon, lat) for lat, lon in PLACES.tolist()]
        assert [row["chance"] for row in reports] == [p for p in law if p > 0]
        (own,) = marks(panel, "point")
        assert own["data"]["values"][0]["place"] == "2"


def test_both_maps_share_one_logarithmic_scale() -> None:
    chart = spec()
    assert chart["resolve"]["scale"] == {"color": "shared", "size": "shared"}
    scales = [marks(panel, "circle")[1]["encoding"]["color"]["scale"] for panel in chart["concat"]]
    assert scales[0] == scales[1]
    assert scales[0]["type"] == "log"
    assert scales[0]["domain"][0] < 0.1 < 0.75 < scales[0]["domain"][1]


def test_a_kilometre_is_as_long_both_ways() -> None:
    panel = spec()["concat"][0]
    degrees = np.ptp(PLACES, axis=0)
    shrink = math.cos(math.radians(float(PLACES[:, 0].mean())))
    assert panel["width"] / panel["height"] == pytest.approx(degrees[1] * shrink / degrees[0])
    flat = spec(globe=False)["concat"][0]
    assert flat["width"] / flat["height"] == pytest.approx(degrees[0] / degrees[1])


def test_a_release_is_a_line_from_the_own_place() -> None:
    brr, codebook = spec(released={"codebook": 1})["concat"]
    assert not marks(brr, "line")
    (line,) = marks(codebook, "line")
    assert [(row["x"], row["y"]) for row in line["data"]["values"]] == [(11.0, 60.2), (10.2, 60.5)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"points": [[1.0, 2.0]]}, "points must be at least 2 pairs"),
        ({"points": [[1.0, math.nan]] * 4}, "points must be at least 2 pairs of finite numbers"),
        ({"own": 4}, "own must be from 0 to 3"),
        ({"panels": {}}, "at least one way"),
        ({"panels": {"brr": [0.5, 0.5]}}, "4 chances"),
        ({"panels": {"brr": [0.5, 0.5, 0.5, 0.5]}}, "whose sum is 1"),
        ({"released": {"other": 1}}, "released must be among brr, codebook"),
        ({"released": {"brr": 9}}, "from 0 to 3"),
        ({"labels": ["a"]}, "one for each of 4 places"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        spec(**options)


def test_it_can_be_written(tmp_path: Path) -> None:
    file = save(map_chart(PLACES, LAWS, own=0, title="Places", released={"brr": 3}), tmp_path / "map.svg")
    assert "chance of report" in file.read_text()
