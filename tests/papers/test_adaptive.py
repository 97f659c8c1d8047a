"""AdaptiveLDP: verdicts by closed forms, the numbers behind them, and the tables of the figures."""

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
from deniable.papers.rules import Verdict
from deniable.papers.runner import PAPERS, reproduce

ROOT = Path(__file__).resolve().parents[2]

SIMULATED = {"eq3", "fig8-mse", "fig8-asr", "fig15-mse", "fig15-asr"}
"""Claims that take many collections; they are in `test_adaptive_simulation`."""

VERDICTS = {
    "reproduced": "eq1 eq6 eq7 eq9 eq11 eq12 eq14 eq16 eq17 eq20 eq21 oue-p fig7-known asr-rises blh-lowest "
    "adaptive-eq1 fig7-adaptive weights ass-cap aue-asr selectors prior-tuned none-dominates",
    "corrected": "eq4 eq8 eq15 ss-size olh-g weight-one asr-domain ss-one grr-ss-highest oue-olh-half mse-free-of-k "
    "inverse she-sum the-after athe-budget aue-grid g-bound asr-orders sandwich frontier elbow hypervolume fig15-n "
    "prior-uniform constants closer aue-gap",
    "refuted": "asr-lower mse-orders aue-order aue-sue alh-asr",
}


@pytest.fixture(scope="module")
def context() -> Context:
    return Context(PAPER, quick=True)


@pytest.fixture(scope="module")
def claims(context: Context) -> dict[str, Verdict]:
    return {claim.id: claim.test(context) for claim in PAPER.claims if claim.id not in SIMULATED}


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


# The claims


@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdicts(claims: dict[str, Verdict], verdict: str) -> None:
    assert {name for name, found in claims.items() if found.verdict == verdict} == set(VERDICTS[verdict].split())


def test_every_claim_has_a_verdict_here_or_by_simulation(claims: dict[str, Verdict]) -> None:
    listed = {name for names in VERDICTS.values() for name in names.split()}
    assert listed | SIMULATED == {claim.id for claim in PAPER.claims}
    assert listed == set(claims)


def test_the_key_is_in_the_bibliography() -> None:
    references = (ROOT / "docs" / "refs.bib").read_text("utf-8")
    assert all(f"{{{paper.key}," in references for paper in PAPERS.values())


@pytest.mark.parametrize(
    ("claim", "number", "value"),
    [
        ("eq4", "oue k=100 epsilon=8, exact/Eq. 4", 8.4),
        ("eq4", "oue k=100 epsilon=10, exact/Eq. 4", 56),
        ("eq4", "oue k=25 epsilon=8, exact/Eq. 4", 31),
        ("eq4", "oue k=25 epsilon=10, exact/Eq. 4", 221),
        ("eq4", "sue k=25 epsilon=10, exact/Eq. 4", 1),
        ("eq8", "k=100 epsilon=4 size=2, printed", -0.000276),
        ("eq8", "k=100 epsilon=4 size=2, correct", 0.0558823),
        ("eq8", "k=100 epsilon=4 size=7, correct", 0.1066417),
        ("eq15", "k=100 epsilon=4 g=56, printed", 0.27897),
        ("eq15", "k=100 epsilon=4 g=56, exact", 0.23379),
        ("ss-size", "k=100 epsilon=4, printed rule", 2),
        ("ss-size", "k=100 epsilon=4, best by Eq. 4", 1),
        ("ss-size", "k=25 epsilon=1, printed rule", 7),
        ("ss-size", "k=25 epsilon=1, best by Eq. 4", 6),
        ("olh-g", "epsilon=0.35, rounded", 2),
        ("olh-g", "epsilon=0.35, best", 3),
        ("olh-g", "epsilon=0.4, best", 3),
        ("oue-p", "k=25 epsilon=4, best p by the exact MSE", 0.644),
        ("oue-p", "k=100 epsilon=4, best p by the exact MSE", 0.5547),
        ("eq17", "k=100 epsilon=4", 0.0739),
        ("eq20", "k=100 epsilon=4, theta", 0.815675788499),
        ("eq20", "k=100 epsilon=4, epsilon that is spent", 2.859),
        ("the-after", "k=100 epsilon=8, raw", 0.413),
        ("the-after", "k=100 epsilon=8, bits", 0.365),
        ("the-after", "k=100 epsilon=10, raw", 0.645),
        ("the-after", "k=100 epsilon=10, bits", 0.526),
        ("oue-olh-half", "oue k=25, limit", 0.52),
        ("oue-olh-half", "olh k=2, limit", 0.75),
        ("fig7-adaptive", "ASS", 7),
        ("fig7-adaptive", "AUE", 0.818),
        ("fig7-adaptive", "ALH", 13),
        ("fig7-adaptive", "ATHE", 0.783),
        ("fig7-adaptive", "AUE, not on a grid", 0.816129138875),
        ("fig7-adaptive", "ATHE, not on a grid", 0.782234150718),
        ("weight-one", "k=100 epsilon=4, ASS by Eq. 4", 1),
        ("weight-one", "k=25 epsilon=1, ASS by Eq. 4", 6),
        ("weight-one", "AUE is another protocol by Eq. 4", 0),
        ("weight-one", "k=100 epsilon=4, AUE by the exact MSE", 0.5547),
        ("aue-grid", "k=100 epsilon=10, p on the grid", 0.5),
        ("aue-grid", "k=100 epsilon=10, sum", 0.2520),
        ("aue-grid", "k=100 epsilon=10, best p", 0.999546),
        ("aue-grid", "k=100 epsilon=10, least sum", 0.1050),
        ("aue-grid", "k=25 epsilon=8, sum", 0.2596),
        ("aue-grid", "k=25 epsilon=8, best p", 0.998258),
        ("aue-grid", "k=25 epsilon=8, least sum", 0.2188),
        ("aue-asr", "largest ASR of AUE (k=25 epsilon=10)", 0.52),
        ("aue-order", "k=25 epsilon=7", 50),
        ("mse-orders", "ASS over SS, Eq. 4 (k=25 epsilon=10)", 3145),
        ("mse-orders", "ALH over OLH, Eq. 4 (k=25 epsilon=10)", 1102),
        ("asr-lower", "k=100 epsilon=1, parameter of ASS", 27),
        ("asr-lower", "k=100 epsilon=1, parameter of SS", 27),
        ("asr-lower", "k=100 epsilon=1, parameter of ALH", 4),
        ("asr-lower", "k=100 epsilon=1, parameter of OLH", 4),
        ("asr-orders", "a blind guess, orders below 1", 4),
        ("athe-budget", "epsilon=1, spent", 0.896),
        ("athe-budget", "epsilon=10, spent", 5.975),
        ("athe-budget", "epsilon=4, MSE of THE over that of OUE (Eq. 4)", 3.75),
        ("athe-budget", "epsilon=10, MSE of THE over that of OUE (Eq. 4)", 63.2),
        ("frontier", "AUE epsilon=4, above the frontier", 1 / (1 - 0.1063) - 1),
        ("frontier", "ALH epsilon=4, above the frontier", 1 / (1 - 0.1056) - 1),
        ("elbow", "AUE, grid up to 0.999999", 0.9949),
        ("elbow", "AUE, grid up to 0.99", 0.9356),
        ("hypervolume", "ASS, area of its own", 1),
        ("hypervolume", "AUE, area of its own", 0.975),
        ("hypervolume", "ALH, area of its own", 3),
        ("hypervolume", "ATHE, area of its own", 0.5),
        ("hypervolume", "AUE, rectangle", 0.813),
        ("prior-uniform", "Zipf 1.2, ASR of SS", 0.491),
        ("prior-uniform", "Zipf 1.2, ASR of ASS", 0.538),
        ("prior-uniform", "Adult age, ASR of SS", 0.418),
        ("prior-uniform", "Adult age, ASR of ASS", 0.284),
        ("prior-tuned", "Zipf 1.2, ASS, ASR", 0.429),
        ("constants", "ASS, corner (1, 5)", 17),
        ("fig15-n", "ASS, n=100", 49),
        ("fig15-n", "ASS, n=10000", 91),
        ("fig15-n", "ASS, n=1000000", 99),
        ("fig15-n", "ASS, n=100, MSE over its least", 19.1),
        ("fig15-n", "AUE, n=100", 0.980),
        ("fig15-n", "ALH, n=100", 2),
        ("fig15-n", "ATHE, n=100", 0.5),
    ],
)
def test_measured_numbers(claims: dict[str, Verdict], claim: str, number: str, value: float) -> None:
    measured = claims[claim].measured
    assert isinstance(measured, dict)
    assert measured[number] == pytest.approx(value, rel=7e-3)


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
