"""Charts of laws and of tables: what is drawn, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.papers.charts import Axes, bar_chart, cell_chart, lines

LAW = [{"who": who, "report": y, "chance": 0.1 * y, "high": y == 3} for who in ("GRR", "BRR") for y in (1, 2, 3)]
DOMAINS = {"few": (3, 6), "some": (4, 8), "many": (10, 20)}
TABLE = [{"row": i, "column": j, "text": i * j, "what": "odd" if j % 2 else "even"} for i in (2, 1) for j in (1, 2, 3)]


def bars(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"x": "report", "y": "chance", "panel": "who", "strong": "high", "own": 2, "title": "Laws"}
    return bar_chart(changes.pop("rows", LAW), **(given | changes)).to_dict()


def cells(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"x": "column", "y": "row", "text": "text", "kind": "what", "title": "Table"}
    return cell_chart(changes.pop("rows", TABLE), **(given | changes)).to_dict()


def test_bars_keep_their_order_and_mark_the_own_outcome() -> None:
    chart = bars()
    assert chart["facet"]["sort"] == ["GRR", "BRR"]
    layers = chart["spec"]["layer"]
    assert layers[0]["encoding"]["x"]["sort"] == ["1", "2", "3"]
    values = chart["data"]["values"]
    assert [row["own"] for row in values] == [False, True, False] * 2
    assert [row["strong"] for row in values] == [False, False, True] * 2
    assert chart["title"]["text"] == ["Laws"]


def test_cells_keep_their_order_and_have_a_fill_for_each_kind() -> None:
    chart = cells()
    rect = chart["layer"][0]["encoding"]
    assert rect["y"]["sort"] == ["2", "1"]
    assert rect["fill"]["scale"]["domain"] == ["odd", "even"]
    assert len(rect["fill"]["scale"]["range"]) == 2


@pytest.mark.parametrize("draw", [bars, cells])
def test_rows_without_a_column_are_refused(draw: Any) -> None:
    with pytest.raises(ParameterError, match="without"):
        draw(x="unheard")
    with pytest.raises(ParameterError, match="at least one row"):
        draw(rows=[])


def test_too_many_kinds_are_refused() -> None:
    rows = [{"row": i, "column": 0, "text": "", "what": f"kind {i}"} for i in range(6)]
    with pytest.raises(ParameterError, match="at most 5"):
        cells(rows=rows)


def axis(rows: list[dict[str, Any]], which: str, **more: str) -> dict[str, Any]:
    axes = Axes("k", "error", "method", "data", y_title="error", **more)  # type: ignore[arg-type]
    drawn: Any = lines(axes, "Title", "Note")(rows)
    chart = drawn.to_dict()
    scales = chart.get("resolve", {}).get("scale", {})
    found: dict[str, Any] = chart["spec"]["layer"][-1]["encoding"][which]["axis"]
    return found | {"own": scales.get(which) == "independent"}


def test_a_panel_with_a_scale_of_its_own_has_ticks_of_its_own() -> None:
    rows = [{"data": data, "method": "m", "k": k, "error": k / 100} for data, ks in DOMAINS.items() for k in ks]
    assert axis(rows, "x")["values"] == [3, 4, 6, 8, 10, 20]
    free = axis(rows, "x", free="x")
    assert free["own"]
    assert "values" not in free


def test_ticks_that_are_close_are_told_apart() -> None:
    """Digits by the ticks themselves gave 0.1 for both 0.1 and 0.12."""
    rows = [{"data": "d", "method": "m", "k": 1, "error": y} for y in (0.01, 0.119)]
    assert axis(rows, "y")["format"] == ".6~r"
