"""Charts of laws and of tables: what is drawn, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import ParameterError
from deniable.papers.charts import bar_chart, cell_chart

LAW = [{"who": who, "report": y, "chance": 0.1 * y, "high": y == 3} for who in ("GRR", "BRR") for y in (1, 2, 3)]
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
