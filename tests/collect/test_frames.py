"""Reports and tallies as frames: fields and cells by name, labels where cells are about answers, strata named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deniable as dn
from deniable.errors import MissingExtraError
from deniable.mechanisms.possible import Entries

LABELS = ["a", "b", "c", "d"]
CASES: dict[str, dict[str, Any]] = {
    "grr": {},
    "olh": {},
    "oue": {},
    "she": {},
    "ssmix": {},
    "hr": {},
    "pgr": {},
    "codebook": {},
    "brr": {},
    "uss": {"sensitive": ["a", "c"]},
    "uhr": {"sensitive": ["a", "c"]},
}


def tallied(name: str) -> tuple[Any, Any]:
    m = dn.mechanism(name, epsilon=1.0, labels=LABELS, **CASES[name])
    reports = m.privatize(LABELS * 25, rng=dn.simulation(3))
    return reports, m.tally(reports)


@pytest.mark.parametrize("name", CASES)
def test_reports_have_a_row_each(name: str) -> None:
    reports, _ = tallied(name)
    frame = reports.to_polars()
    assert frame.columns == [*(f.name for f in reports.fields), "simulated"]
    assert frame.to_dict(as_series=False) == reports.to_columns()
    assert reports.to_pandas().to_dict(orient="list") == reports.to_columns()
    assert isinstance(reports.to_frame(), pl.DataFrame)
    rows = list(zip(*(reports.to_columns()[f.name] for f in reports.fields), strict=True))
    for i in (0, 57):
        parts = [
            x if isinstance(x, bytes) else x.to_bytes(f.width, "little")
            for x, f in zip(rows[i], reports.fields, strict=True)
        ]
        assert b"".join(parts) == reports.row(i)
    assert all(reports.to_columns()["simulated"])
    assert len(reports[:0].to_pandas()) == 0


@pytest.mark.parametrize("name", CASES)
def test_tallies_have_a_row_for_each_count(name: str) -> None:
    _, tally = tallied(name)
    frame = tally.to_polars()
    assert frame.columns == ["stratum", "cell", "label", "count", "simulated"]
    assert frame.to_dict(as_series=False) == tally.to_columns()
    assert len(tally.to_pandas()) == sum(cell.size for cell in tally.cells.values())
    assert frame["simulated"].all()
    for i, stratum in enumerate(tally.strata):
        for cell, counts in tally.cells.items():
            part = frame.filter(stratum=stratum, cell=cell)
            assert part["count"].to_list() == np.ravel(counts[i]).tolist()
            assert (part["label"].to_list() == [None]) == (cell == "n")


@pytest.mark.parametrize(
    ("name", "cell", "labels"),
    [
        ("grr", "support", LABELS),
        ("she", "sum", LABELS),
        ("brr", "value", LABELS),
        ("uss", "support", ["a", "c"]),
        ("uss", "disclosed", ["b", "d"]),
        ("uhr", "value", ["0", "1", "2", "3"]),
        ("pgr", "value", ["0", "1", "2", "3"]),  # codes, of which there happen to be as many as answers
    ],
)
def test_labels_stand_where_cells_are_about_answers(name: str, cell: str, labels: list[str]) -> None:
    _, tally = tallied(name)
    found = tally.to_polars().filter(cell=cell)["label"].to_list()
    assert found == labels * len(tally.strata)
    html = tally._repr_html_()
    assert all(f">{label}<" in html for label in labels)


def test_answers_that_are_some_of_some_have_their_own_names() -> None:
    """Entries about the answers 1 and 3 of those that are 4, 2 and 0, 1 of all: their labels are those of all."""
    inner = Entries("label", [1, 3])
    assert inner.among("sensitive label", [0, 4, 2, 5]).names("abcdef", 2) == ("e", "f")
    assert Entries("label").among("sensitive label", [4, 2]).names("abcdef", 2) == ("e", "c")
    bare = Entries("report", answers=False)
    assert bare.among("sensitive label", [4, 2]).names("abcdef", 2) == ("0", "1")


def test_a_codebook_names_the_answers_it_reports() -> None:
    m = dn.mechanism("codebook", epsilon=1.0, labels=LABELS)
    _, tally = tallied("codebook")
    assert tally.to_polars().filter(cell="value")["label"].to_list() == [LABELS[i] for i in m.params["codes"]]


def test_counts_by_code_are_named_in_files_sums_and_without_a_name_of_their_own(tmp_path: Path) -> None:
    """Whoever makes a tally knows what it counts: a file's, a sum's, and that of a mechanism that nobody registered."""
    m, (_, tally) = dn.mechanism("codebook", epsilon=1.0, labels=LABELS), tallied("codebook")
    named = [LABELS[i] for i in m.params["codes"]]
    kept = dn.load(dn.save(tally, tmp_path / "tally.bin"))
    one = m.tally(m.privatize(LABELS, rng=dn.simulation(4)))
    stranger: Any = type("Stranger", (type(m),), {})(epsilon=1.0, domain=m.domain, codes=m.params["codes"], name="mine")
    for found in (kept, dn.load(dn.dump(tally)), kept + one, one + kept, stranger.empty()):
        assert isinstance(found, dn.Tally)
        assert found.to_polars().filter(cell="value")["label"].to_list() == named


def test_a_tally_of_which_nobody_knows_more_has_numbers() -> None:
    bare = dn.Tally({"domain": {"labels": ["a", "b"]}}, ("all",), {"n": np.array([3]), "value": np.array([[1, 2]])})
    assert bare.to_columns()["label"] == [None, "0", "1"]


def test_answers_of_a_map_and_of_a_grid_are_named() -> None:
    places = dn.Space.vectors([(0, 0), (0, 1), (3, 0)], labels=["a", "b", "c"])
    apart = dn.mechanism("brr", epsilon=1.0, distances=places, size=2)
    assert apart.empty().to_columns()["label"] == [None, "a", "b", "c"]
    near = dn.mechanism("brr", epsilon=1.0, interval=(0, 1), points=4)
    assert near.empty().to_columns()["label"] == [None, "0.125", "0.375", "0.625", "0.875"]


def test_numbers_and_pairs_have_frames() -> None:
    means = dn.mechanism("duchi", epsilon=1.0, interval=(0, 1))
    assert means.tally(means.privatize([0.5] * 9)).to_columns()["label"] == [None, "0", "1"]
    pairs = dn.mechanism("kv-ss", epsilon=1.0, labels=["hats", "shoes"], mix=0.5)
    tally = pairs.tally(pairs.privatize([(i, "hats", 0.5) for i in range(20)]))
    frame = tally.to_pandas()
    assert set(frame["stratum"]) == {"keys", "signed"}
    assert set(frame.loc[frame["cell"] == "plus", "label"]) == {"hats", "shoes"}
    assert not frame["simulated"].any()


def test_libraries_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reports, tally = tallied("olh")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    for what in (reports, tally):
        with pytest.raises(MissingExtraError, match=r"this needs pandas.*pip install pandas; or take to_columns\(\)"):
            what.to_pandas()
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    assert tally.to_frame() == tally.to_columns()
    assert {name: list(column) for name, column in reports.to_frame().items()} == reports.to_columns()
