"""AdaptiveLDP: the printed formulas, and the tables of the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.mechanisms.support import SupportMechanism
from deniable.papers import runner
from deniable.papers.adaptive.equations import eq8, eq8_joined, eq15
from deniable.papers.adaptive.paper import PAPER
from deniable.papers.checks import design
from deniable.papers.paper import Context
from deniable.papers.runner import PAPERS, reproduce

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def context() -> Context:
    return Context(PAPER, quick=True)


def lh(k: int, epsilon: float, g: int) -> SupportMechanism:
    return design("lh", k, epsilon, g=g)


# The printed formulas


@pytest.mark.parametrize(
    ("size", "correct", "printed", "joined"),
    [(2, 0.0558823, -0.000276, 0.0858), (7, 0.1066417, -0.00663, 0.1981)],
)
def test_subset_selection_has_another_error_than_printed(
    size: int, correct: float, printed: float, joined: float
) -> None:
    m = design("ss", 100, 4.0, size=size)
    assert m.mse_approx() == pytest.approx(correct, abs=5e-8)
    assert eq8(m) == pytest.approx(printed, abs=5e-6)
    assert eq8_joined(m) == pytest.approx(joined, abs=5e-5)


@pytest.mark.parametrize(
    ("m", "printed", "exact"),
    [
        (lh(100, 4.0, 56), 0.27897, 0.23379),
        (lh(100, 4.0, 100), 0.35546, 0.22773),
        (lh(2, 1.0, 4), 0.4754, 0.6127),
        (lh(2, 8.0, 2982), 0.49999, 0.7498),
    ],
    ids=lambda value: f"k={value.k} g={value.g}" if isinstance(value, SupportMechanism) else None,
)
def test_local_hashing_gives_away_more_or_less_than_printed(m: Any, printed: float, exact: float) -> None:
    assert eq15(m) == pytest.approx(printed, rel=2e-4)
    assert m.asr == pytest.approx(exact, rel=2e-4)


def test_local_hashing_is_well_approximated_for_small_g() -> None:
    assert eq15(lh(100, 4.0, 13)) / lh(100, 4.0, 13).asr == pytest.approx(1.0003, abs=1e-4)


def test_the_key_is_in_the_bibliography() -> None:
    references = (ROOT / "docs" / "refs.bib").read_text("utf-8")
    assert all(f"{{{paper.key}," in references for paper in PAPERS.values())


# The tables behind the figures


def rows_of(context: Context, figure: str, **wanted: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in context.rows(figure) if all(row[name] == value for name, value in wanted.items())]


@pytest.mark.parametrize(
    ("figure", "rows"),
    [
        ("fig1", 4 * 17 * 5),
        ("fig2", 12 * 12 * 32),
        ("fig3", 9 * 12 * 32),
        ("fig4", 2 * 12 * 32),
        ("fig5", 12 * 4 * 17 * 2),
        ("fig10", 12 * 4 * 15 * 2),
        ("fig14", 12 * 4 * 17 * 2),
        ("fig6", 4 * 21 * 2),
        ("fig7", 99 + 100 + 99 + 100 + 8),
        ("fig9a", 2 * 3 * 6 * 20),
        ("fig9b", 2 * 3 * 6 * 20),
    ],
)
def test_tables_have_all_settings(context: Context, figure: str, rows: int) -> None:
    found = context.rows(figure)
    assert len(found) == rows
    assert len({tuple(row) for row in found}) == 1


def test_figure_5_has_printed_and_exact_values(context: Context) -> None:
    printed, exact = (
        rows_of(context, "fig5", protocol="olh", k=100, epsilon=4.0, metrics=which)[0] for which in ("printed", "exact")
    )
    assert printed["asr"] == pytest.approx(0.27897, abs=5e-6)
    assert exact["asr"] == pytest.approx(0.23379, abs=5e-6)
    assert exact["mse"] == pytest.approx(0.0861, abs=5e-5)


def test_no_exact_point_of_figure_1_is_below_the_frontier(context: Context) -> None:
    exact = rows_of(context, "fig1", metrics="exact")
    assert len(exact) == 4 * 17 * 3
    assert all(row["mse"] >= row["least_mse_at_asr"] * (1 - 1e-9) for row in exact)
    mixed = [row for row in exact if row["protocol"] == "ssmix"]
    assert all(row["mse"] == pytest.approx(row["least_mse_at_asr"], rel=1e-9) for row in mixed)
    at_4 = next(row for row in mixed if row["epsilon"] == 4)
    assert (at_4["asr"], at_4["mse"]) == pytest.approx((0.10690, 0.11596), abs=5e-6)
    assert any(row["mse"] > 1.1 * row["least_mse_at_asr"] for row in exact)


def test_figure_7_is_least_where_the_adaptive_protocol_is(context: Context) -> None:
    for name in ("ass", "aue", "alh", "athe"):
        grid, best, known = (
            [row["objective"] for row in rows_of(context, "fig7", protocol=name, what=what)]
            for what in ("grid", "adaptive", "known")
        )
        assert best == [min(grid)]
        assert known[0] > best[0]


@pytest.mark.parametrize(
    ("figure", "protocol", "chosen"),
    [
        ("fig9a", "ass", [7, 7, 62, 9, 7, 7]),
        ("fig9b", "aue", [0.8081, 0.8182, 0.9949, 0.8333, 0.8131, 0.7980]),
        ("fig9a", "alh", [14, 13, 7, 12, 13, 15]),
        ("fig9b", "athe", [0.8081, 0.7828, 0.6515, 0.8182, 0.7929, 0.8182]),
    ],
)
def test_figure_9_has_the_choices_of_six_selectors(
    context: Context, figure: str, protocol: str, chosen: list[float]
) -> None:
    rows = rows_of(context, figure, protocol=protocol, k=100, epsilon=4.0)
    order = ["utopia", "weighted", "elbow", "epsilon-constraint", "hypervolume", "tchebycheff"]
    assert [row["select"] for row in rows] == order
    assert [row["parameter"] for row in rows] == pytest.approx(chosen, abs=6e-5)


def test_figure_9_says_where_a_selector_had_nothing_to_choose_by(context: Context) -> None:
    row = rows_of(context, "fig9a", protocol="ass", k=1000, epsilon=1.0, select="hypervolume")[0]
    assert "utopia chose instead" in row["fallback"]
    assert not rows_of(context, "fig9a", protocol="ass", k=1000, epsilon=4.0, select="hypervolume")[0]["fallback"]


def test_the_figure_alone_tests_only_what_is_read_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without drawing it, which takes long."""
    monkeypatch.setattr(runner, "save", lambda chart, path: path.write_bytes(b"") or path)
    summary = reproduce("adaptive", quick=True, out=tmp_path, figure="7")
    assert [claim["id"] for claim in summary.claims] == ["adaptive-fig7-adaptive"]
    assert [path.name for path in summary.figures[0].files] == ["fig7.csv", "fig7.html", "fig7.png"]
