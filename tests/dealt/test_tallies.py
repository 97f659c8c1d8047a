"""Tallies of parts: they add up in any order to the same bytes, come back from them, and forged ones are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.cli import main
from deniable.collect.tally import Tally
from deniable.core.types import Target
from deniable.errors import DeniableError, FormatError, MergeError, ParameterError
from deniable.mechanisms.dealt.base import Dealt, dealt
from deniable.run.local import estimate_files, privatize_file, tally_files
from fuzz.cases import KINDS, stored
from fuzz.files import reheaded, retold


def survey(epsilon: float = 1.0) -> Dealt:
    """Parts with one stratum and with two, of different sizes."""
    parts = {
        "drink": dn.mechanism("oue", epsilon=epsilon, labels=["tea", "coffee", "water"]),
        "illness": dn.mechanism("uss", epsilon=epsilon, k=9, sensitive=4),
        "age": dn.mechanism("duchi", epsilon=epsilon, interval=(0, 100)),
    }
    return dealt(parts, [3, 2, 1])


def reports_of(m: Dealt, n: int = 120, seed: int = 1) -> dn.Reports:
    people = {"drink": ["tea", "water"] * (n // 2), "illness": np.arange(n) % 9, "age": np.arange(n) % 100}
    return m.privatize(people, rng=dn.simulation(seed))


def tally_of(m: Dealt, n: int = 120) -> Tally:
    return m.tally(reports_of(m, n))


def test_a_tally_has_the_tallies_of_its_parts() -> None:
    m = survey()
    reports = reports_of(m)
    whole, apart = m.tally(reports), m.apart(reports)
    assert whole.strata == ("q1/all", "q2/protected", "q2/disclosed", "q3/all")
    assert whole.n == 120
    assert [part.n for part in whole.parts] == [len(apart[name]) for name in m.names]
    for name, part, own in zip(m.names, whole.parts, m.mechanisms, strict=True):
        assert part == own.tally(apart[name])
        assert part.strata == own.bulk.strata
        own.bulk.refuse_impossible(part.cells)
    assert dn.mechanism("grr", epsilon=1.0, k=2).empty().parts == ()
    assert dict(zip(m.names, whole.parts, strict=True)) == m.apart(whole)


def test_tallies_add_up_in_any_order_to_the_same_bytes() -> None:
    m = survey()
    reports = reports_of(m)
    batches, draw = [m.tally(reports[i : i + 10]) for i in range(0, 120, 10)], random.Random(1)
    whole = dn.dump(m.tally(reports))
    for _ in range(20):
        draw.shuffle(batches)
        assert dn.dump(sum(batches, m.empty())) == whole
    with pytest.raises(MergeError, match="tallies of different designs do not add up: epsilon is"):
        m.tally(reports) + survey(2.0).empty()


def test_a_tally_comes_back_from_its_bytes(tmp_path: Path) -> None:
    m = survey()
    whole = tally_of(m)
    data = dn.dump(whole)
    assert (data[:4], data[4]) == (b"DNTL", 2)
    assert dn.dump(m.mechanisms[0].empty())[4] == 1, "other tallies are of the first version, as ever"
    again = dn.load(data)
    assert isinstance(again, Tally)
    assert again == whole
    assert [part.to_columns() for part in again.parts] == [part.to_columns() for part in whole.parts]
    dn.save(whole, tmp_path / "t.tally")
    dn.save(m, tmp_path / "m.json")
    assert dn.load(tmp_path / "t.tally") == whole
    assert dn.load(tmp_path / "m.json") == m


def test_what_people_see_names_the_parts() -> None:
    whole = tally_of(survey())
    columns = whole.to_columns()
    first = [(s, c, x) for s, c, x in zip(*list(columns.values())[:3], strict=True)][:4]
    assert first == [("q1/all", "n", None), *(("q1/all", "support", x) for x in ("tea", "coffee", "water"))]
    assert sum(count for cell, count in zip(columns["cell"], columns["count"], strict=True) if cell == "n") == 120
    assert "q1/support" in repr(whole)
    assert "q1/support" in whole._repr_html_()
    assert "dealt (epsilon = 1, parts = 3)" in repr(whole)


# ---- forged ones


def cells_of(tally: Tally) -> list[int]:
    return [x for name in sorted(tally.cells) for x in tally.cells[name].ravel().tolist()]


FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a part less": (lambda h: h["design"].update(parts=h["design"]["parts"][:2], shares=[3, 2]), "layout|cells|strata"),
    "no parts": (lambda h: h["design"].update(parts=[]), "version|parts|list of 2"),
    "parts that are none": (lambda h: h["design"].update(parts=7), "'parts' is missing or no list"),
    "parts that are numbers": (lambda h: h["design"].update(parts=[1, 2, 3]), "each is a design"),
    "other strata": (lambda h: h.update(strata=["q1/all", "q1/more", "q2/all", "q3/all"]), "strata"),
    "strata in another order": (lambda h: h.update(strata=h["strata"][::-1]), "strata"),
    "parts exchanged": (lambda h: h["design"].update(parts=h["design"]["parts"][::-1]), "cells|strata"),
    "a plain design": (
        lambda h: h.update(design=h["design"]["parts"][0]),
        "has version 2; a tally of its design has 1",
    ),
    "a cell of no part": (lambda h: h["cells"].append(["q9/support", [1, 0]]), "strata|cells"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_heads_are_refused(name: str, tmp_path: Path) -> None:
    change, words = FORGED[name]
    forged = tmp_path / "forged.tally"
    forged.write_bytes(reheaded(dn.dump(tally_of(survey())), lambda header: change(header)))
    with pytest.raises(FormatError, match=words):
        tally_files([str(forged)])


def test_reports_moved_to_another_part_are_refused(tmp_path: Path) -> None:
    """Every part has its own number of reports: n of one part cannot pay for the counts of another."""
    m = survey()
    whole = tally_of(m)
    n = whole.cells["n"]
    moved = replace(whole, cells={**whole.cells, "n": np.array([n.sum(), *[0] * (n.size - 1)])})
    with pytest.raises(FormatError, match="no 0 reports give these counts"):
        m.estimate(moved)
    path = tmp_path / "moved.tally"
    path.write_bytes(dn.dump(moved))
    with pytest.raises(FormatError, match="no 0 reports give these counts"):
        tally_files([str(path)])


def test_an_older_version_is_refused() -> None:
    data = bytearray(dn.dump(tally_of(survey())))
    data[4] = 1
    with pytest.raises(FormatError, match="has version 1; a tally of its design has 2"):
        dn.load(bytes(data))


def test_forged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Seeded changes of stored files, with check sums put right: none is a fault, and some are read."""
    draw, found = random.Random(7), {"read": 0, "refused": 0}
    files = {name: data for name, data in stored().items() if name.startswith("dealt-")}
    assert len(files) == 2
    for _ in range(150):
        name = draw.choice(sorted(files))
        path = tmp_path / f"forged{Path(name).suffix}"
        path.write_bytes(KINDS[draw.choice(sorted(KINDS))](files[name], draw))
        try:
            tally = tally_files([str(path)])
            dn.from_design(tally.design).estimate(tally)
            found["read"] += 1
        except DeniableError:
            found["refused"] += 1
    assert min(found.values()) > 0, found


def test_every_forged_cell_is_looked_at() -> None:
    """One report more in any entry than there are in its part is refused, whatever the others have."""
    m = survey()
    whole = tally_of(m)
    data, flat = dn.dump(whole), cells_of(whole)
    for i in range(whole.cells["n"].size, len(flat)):
        for value in (-1, 10**18):
            forged = dn.load(retold(data, np.array([*flat[:i], value, *flat[i + 1 :]], "<i8").tobytes()))
            with pytest.raises(FormatError):
                m.estimate(forged)  # type: ignore[arg-type]  # a tally


# ---- estimates


def test_estimates_go_by_the_names_of_parts() -> None:
    m = survey()
    found = m.estimate(tally_of(m, 6000))
    assert list(found) == ["drink", "illness", "age"]
    assert len(found) == 3
    assert found["drink"].labels == ("tea", "coffee", "water")
    assert (found.n, found.simulated, found.design) == (6000, True, m.design)
    assert found["age"] == m.mechanisms[2].estimate(m.apart(tally_of(m, 6000))["age"])
    columns = found.to_columns()
    assert columns["part"] == ["drink"] * 3 + ["illness"] * 9 + ["age"]
    assert columns["label"][:3] == ["tea", "coffee", "water"]
    assert len(found.to_frame()) in (13, len(columns))
    assert columns == found.to_columns(0.95, "reporters") != found.to_columns(0.8, "reporters")
    assert found.to_columns(0.8, "reporters") != found.to_columns(0.8, "population")
    targets: tuple[Target, ...] = ("reporters", "population")
    for level, target in product((0.95, 0.8), targets):
        tables = [found[name].to_columns(level, target) for name in found]
        joined = {column: list(chain.from_iterable(table[column] for table in tables)) for column in tables[0]}
        assert found.to_columns(level, target) == {"part": columns["part"]} | joined
    assert "drink: <Estimate from" in repr(found)
    assert "SIMULATED" in found._repr_html_()
    assert set(m.parts(tally_of(m, 6000))) == {"drink/frequency", "illness/frequency", "age/mean"}
    with pytest.raises(ParameterError, match="part must be one of drink, illness, age, got 'tea'"):
        found["tea"]


def test_a_part_without_reports_is_named() -> None:
    m = survey()
    reports = reports_of(m)
    without = m.tally(reports[reports.columns["part"] != 1])
    with pytest.raises(DeniableError, match=r"^illness: "):
        m.estimate(without)
    each = m.apart(without)
    assert m.mechanisms[0].estimate(each["drink"]).n == each["drink"].n > 0


def test_parts_are_fitted_one_by_one() -> None:
    m = survey()
    reports = reports_of(m, 3000)
    with pytest.raises(ParameterError, match=r"parts are fitted one by one.*m\.apart\(reports\)\['drink'\]"):
        m.fit(reports)
    apart = m.apart(reports)
    assert m.mechanisms[0].fit(apart["drink"]).n == len(apart["drink"])


# ---- files


def test_commands_count_such_files_and_say_why_they_do_not_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    m = survey()
    path, out = str(tmp_path / "r.reports"), str(tmp_path / "t.tally")
    dn.save(reports_of(m), path)
    assert main(["tally", path]) == 0
    shown = capsys.readouterr().out
    assert "coffee" in shown
    assert "sensitive label" in shown
    assert main(["tally", path, "--out", out]) == 0
    assert dn.load(out) == m.tally(reports_of(m))
    capsys.readouterr()
    assert main(["estimate", out]) == 2
    told = capsys.readouterr().err
    assert "these are reports of 3 parts, of which everybody answered one; give those of one part." in told
    assert "dn.from_design(tally.design).estimate(tally)" in told
    with pytest.raises(ParameterError, match="3 parts"):
        estimate_files([path])
    values = tmp_path / "people.csv"
    values.write_text("drink,illness,age\ntea,1,20\n")
    with pytest.raises(
        ParameterError, match="mechanism must be one that takes values or values with levels or key-value"
    ):
        privatize_file(m, str(values), out)
