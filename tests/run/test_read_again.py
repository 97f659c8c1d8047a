"""Files that are counted, written and read again: progress, warnings, ids, streams, strictness, and surveys."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.collect.parquet import write_table
from deniable.plan.survey import survey
from deniable.run import engines, frames, joint
from deniable.run import survey as surveys
from deniable.run.counting import head_of
from deniable.run.describe import describe_protocol, registry_rows
from deniable.run.engines import check_engine, count_with, estimate_with
from deniable.run.files import Chunk, read_values
from deniable.run.inputs import _Rows, read_pairs, with_streams
from deniable.run.layout import Layout
from deniable.run.local import count_files, estimate_tally, spent_before, tally_files, write_tally
from deniable.run.release import release_files
from deniable.run.store import _id, read_design
from deniable.run.studies.people import at_points, check_source, counted, met

GRR = dn.mechanism("grr", epsilon=1.0, k=10)


def table(path: Path, n: int = 40, *, rows: bool = True) -> str:
    write_table(str(path), head_of(GRR), [GRR.privatize_items(np.arange(n) % 10)], layout="rows" if rows else "packed")
    return str(path)


# ---- counting files


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_progress_over_tables_and_report_files_rises_to_the_end(
    tmp_path: Path, order: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("deniable.collect.parquet._GROUP_ROWS", 10)
    for name in ("a.parquet", "b.bin"):
        if name.endswith("bin"):
            dn.save(GRR.privatize_items(np.arange(30) % 10), tmp_path / name)
        else:
            write_table(
                str(tmp_path / name), head_of(GRR), [GRR.privatize_items(np.zeros(10, np.int64))] * 4, layout="rows"
            )
    paths = [str(tmp_path / ("a.parquet", "b.bin")[i]) for i in order]
    seen: list[tuple[int, int | None]] = []
    assert tally_files(paths, progress=lambda *at: seen.append(at)).n == 70
    whole = sum(Path(path).stat().st_size for path in paths)
    done = [at for at, _ in seen]
    assert {total for _, total in seen} == {whole}
    assert done == sorted(done)
    assert done[-1] == whole
    assert all(0 < at <= whole for at in done)
    size, before = (
        Path(tmp_path / "a.parquet").stat().st_size,
        0 if order[0] == 0 else whole - Path(paths[1]).stat().st_size,
    )
    parts = [before + size * i // 5 for i in range(1, 6)]  # four groups, and that there are none yet
    assert [at for at in done if before < at <= before + size][:5] == parts


def test_tallies_of_the_same_counts_are_pointed_out_and_the_same_file_is_refused(tmp_path: Path) -> None:
    tally = GRR.tally(GRR.privatize_items(np.arange(5)))
    for name in "ab":
        write_tally(tally, str(tmp_path / name))
    for name in "cd":
        write_tally(GRR.empty(), str(tmp_path / name))
    one, two, three, four = (str(tmp_path / name) for name in "abcd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tally_files([three, one, four]).n == 5  # nobody is counted twice by two tallies of nobody
    with pytest.warns(UserWarning, match=f"{one} and {two} hold the same counts"):
        assert tally_files([one, two]).n == 10
    with pytest.raises(dn.MergeError, match="this tally was counted already"):
        tally_files([one, str(tmp_path / "." / "a")])
    for files in ([], ["-", "-"]):
        with pytest.raises(dn.ParameterError, match="files must be"):
            tally_files(files)


def test_strictness_reaches_whoever_counts(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    (tmp_path / "d.json").write_text(json.dumps(GRR.design))
    path = str(tmp_path / "t.csv")
    Path(path).write_text("report\nAw==\n\nBB==\n")
    for count in (
        lambda strict: count_with("local", [path], design=GRR.design, strict=strict),
        lambda strict: estimate_with("local", [path], design=GRR.design, strict=strict)[1],
        lambda strict: count_files([path], design=GRR.design, strict=strict),
    ):
        found = count(False)
        assert (found.tally.n, dict(found.skipped)) == (2, {"null": 1})
        assert found.places["null"] == f"{path}, row 2"
        with pytest.raises(dn.FormatError, match="row 2: the report is missing"):
            count(True)
    frame = arrow.table({"report": [b"\3", None, b"\4"], "day": ["a", "b", "a"]})
    with pytest.raises(dn.FormatError, match="row 1: the report is missing"):
        frames.tally(frame, GRR, strict=True)
    rows = frames.estimate(frame, GRR, by="day").to_pylist()
    assert {row["day"] for row in rows} == {"a"}  # of the other day no report counts
    assert {(row["n"], row["skipped"]) for row in rows} == {(2, 0)}
    with pytest.raises(dn.ParameterError, match="the frame has no reports that count"):
        frames.estimate(frame.slice(1, 1), GRR, by="day")


def test_rows_of_a_frame_are_numbered_through_all_its_batches() -> None:
    arrow = pytest.importorskip("pyarrow")
    parts = [arrow.table({"report": [b"\3"] * n}) for n in (3, 4)] + [
        arrow.table({"report": arrow.array([b"\3", None])})
    ]
    whole = arrow.concat_tables(parts)
    assert frames.tally(whole, GRR).places == {"null": "row 8"}
    assert [batch.num_rows for batch in frames._some(whole.to_batches(), 3)] == [3, 3, 1, 2]
    assert [batch.num_rows for batch in frames._some(whole.to_batches(), 4)] == [3, 4, 2]


@pytest.mark.parametrize(
    ("engine", "master", "told"),
    [("cloud", None, "engine must be one of local, spark"), ("local", "local[2]", "master must be left out, unless")],
)
def test_engines_and_masters_are_checked(engine: str, master: str | None, told: str) -> None:
    check_engine("local", None)
    assert engines.ENGINES == ("local", "spark")
    with pytest.raises(dn.ParameterError, match=told):
        check_engine(engine, master)


def test_what_was_spent_before_is_told_of_reports_only(tmp_path: Path) -> None:
    assert spent_before("-") == ""
    assert spent_before(str(tmp_path / "gone")) == ""
    (tmp_path / "x").write_text("a")
    told = spent_before(str(tmp_path / "x"))
    assert told.startswith(f"replacing {tmp_path / 'x'}. If")
    assert told.endswith("a second epsilon; the two add up.")
    dn.save(GRR.privatize_items(np.arange(5)), tmp_path / "r")
    told = spent_before(str(tmp_path / "r"))
    assert "reports of grr (epsilon = 1, k = 10)" in told
    assert "a second epsilon: 1.0 and that of the new ones; the two add up." in told


def test_single_parts_are_estimated_and_methods_are_those_of_the_mechanism() -> None:
    tally = GRR.tally(GRR.privatize_items(np.arange(5)))
    with pytest.raises(dn.ParameterError, match=r"method must be one of .* for reports of grr"):
        estimate_tally(tally, "nothing")
    with pytest.raises(dn.ParameterError, match="these are reports of 3 parts, of which everybody answered one"):
        estimate_tally(SimpleNamespace(design={"parts": [1, 2, 3]}))  # type: ignore[arg-type]


# ---- streams, chunks, pairs


def test_chunks_have_streams_of_their_own_unless_there_is_one_chunk() -> None:
    for count in range(4):
        given = dn.simulation(3)
        found = list(with_streams(range(count), given))
        assert [chunk for chunk, _ in found] == list(range(count))
        if count == 1:
            assert found[0][1] is given
        else:
            own = [stream.draw(64, 1)[0] for stream in dn.simulation(3).spawn(count)]
            assert [stream.draw(64, 1)[0] for _, stream in found] == own


def test_a_row_is_told_by_its_place_in_the_chunk_that_has_it(tmp_path: Path) -> None:
    chunks = [Chunk(("a",) * n, range(at, at + n), "S", "line", "user") for n, at in ((2, 2), (1, 4), (3, 7))]
    rows = _Rows(chunks=chunks)
    assert [rows.place(i) for i in range(6)] == [f"(S, line {i})" for i in (2, 3, 4, 7, 8, 9)]
    (tmp_path / "p.csv").write_text("user,key,value\nu,a,1\nv,b,-1\nu,a,0.5\nv,a,0\nw,,\n")
    domain = dn.Domain.of(["a", "b"])
    with pytest.raises(
        dn.ParameterError, match=r"line 4\) is the second one of its user with the key 'a' \(1 such rows\)"
    ):
        read_pairs(str(tmp_path / "p.csv"), domain, (-1.0, 1.0))
    found = read_pairs(str(tmp_path / "p.csv"), domain, (-1.0, 1.0), duplicates="first")
    f, unit = found.truth(2)
    assert f.tolist() == [2 / 3, 1 / 3]
    assert unit == pytest.approx([0.5, -1.0], abs=1e-6)
    for wrong in ({"duplicates": "last"}, {"columns": ["user", "key"]}):
        with pytest.raises(dn.ParameterError, match=f"{next(iter(wrong))} must be"):
            read_pairs(str(tmp_path / "p.csv"), domain, (-1.0, 1.0), **wrong)  # type: ignore[arg-type]


# ---- things that are kept


def test_reports_of_one_batch_keep_its_id_and_others_get_a_new_one() -> None:
    made = GRR.privatize_items(np.arange(5))
    own = ("a" * 32, "b" * 32)
    for batches, sources, id in (((own[0],), (), own[0]), ((), (own[1],), own[1]), ((own[0],), (own[0],), own[0])):
        assert _id(type(made)(made.design, made.fields, made.columns, False, sources, batches)) == id
    for batches, sources in (((), ()), (own, ()), ((own[0],), (own[1],))):
        found = [_id(type(made)(made.design, made.fields, made.columns, False, sources, batches)) for _ in range(2)]
        assert found[0] != found[1]
        assert not {*found} & {*own}
    assert _id(type(made)(made.design, made.fields, made.columns, True, (), own[:1])) == ""


def test_a_design_is_found_in_what_commands_print(tmp_path: Path) -> None:
    path = tmp_path / "d"
    for document in (GRR.design, {"design": GRR.design, "n": 3}, {"feasible": True, "design": GRR.design}):
        path.write_text(json.dumps(document))
        assert read_design(str(path)) == GRR.design
    for text, told in (
        (json.dumps({"feasible": False, "design": GRR.design}), "this plan has no design: none meets its limits"),
        ("{", "this is not a design: it is not JSON"),
        ('{"design": 3}', "this is not a design: there is none with a kernel in it"),
        ('{"epsilon": 1}', "this is not a design: there is none with a kernel in it"),
    ):
        path.write_text(text)
        with pytest.raises((dn.ParameterError, dn.FormatError), match=told):
            read_design(str(path))


def test_released_values_are_marked_if_any_report_is(tmp_path: Path) -> None:
    near = dn.mechanism("brr", epsilon=1.0, k=6)
    for name, rng in (("s", dn.simulation(1)), ("r", None)):
        (tmp_path / name).write_bytes(dump(near.privatize_items(np.arange(4), rng), id="" if rng else "1" * 32))
    for names, marks in (("s", [True]), ("r", [False]), ("sr", [True, False]), ("rs", [False, True])):
        out = tmp_path / f"{names}.csv"
        m, n, simulated = release_files([str(tmp_path / name) for name in names], str(out))
        assert (m.design, n, simulated) == (near.design, 4 * len(names), any(marks))
        lines = out.read_text().splitlines()
        assert lines[0] == "value,simulated"
        assert [line.rpartition(",")[2] for line in lines[1:]] == [str(mark) for mark in marks for _ in range(4)]
    (tmp_path / "g").write_bytes(dump(GRR.privatize_items(np.arange(3))))
    with pytest.raises(dn.ParameterError, match="single reports of grr say nothing that can be read as a value"):
        release_files([str(tmp_path / "g")], str(tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()


# ---- protocols, people


def test_steps_of_a_protocol_are_for_those_who_take_part_in_them() -> None:
    rows = {row["name"]: row for row in registry_rows()}
    assert {*rows} == {*dn.MECHANISMS, *dn.PROTOCOLS}
    split = dn.protocol("collaborative", epsilon=1.0, k=8, sensitive=[0, 1, 2])
    for p in (split, dn.protocol("ks-grr", epsilon=1.0, k=8, top=2)):
        found = describe_protocol(p, 1000)
        people = [step["people"] for step in found["steps"]]
        assert people == [1000 if p.repeated else step.share * 1000 for step in p.outline]
        for step, told in zip(p.outline, found["steps"], strict=True):
            for key, value in step.mechanism.properties(told["people"]).items():
                assert told[key] == value
        assert (found["n"], found["repeated"], found["shares"]) == (1000, p.repeated, list(p.shares))
        with pytest.raises(dn.ParameterError, match="n must be an integer >= 1"):
            describe_protocol(p, 0)


@pytest.mark.parametrize("n", [None, 6, 3])
def test_people_of_a_file_are_counted_or_scaled_by_largest_remainders(tmp_path: Path, n: int | None) -> None:
    path = str(tmp_path / "v.txt")
    Path(path).write_text("b\na\nb\nb\na\nc\n")
    found = counted(path, n, None, None, Layout())
    assert found.labels == ("a", "b", "c")
    assert found.counts.tolist() == ([2, 3, 1] if n != 3 else [1, 2, 0])  # of 1, 1.5 and 0.5 the first half goes up
    assert found.n == (n or 6)
    assert found.name == (path if n != 3 else f"{path}, scaled to 3")
    other = counted(path, n, dn.Domain.of(["c", "b", "x"], other="x"), None, Layout())
    assert other.labels == ("c", "b", "x")
    if n != 3:
        assert other.counts.tolist() == [1, 3, 2]
    with pytest.raises(dn.ParameterError, match=r"n must be an integer >= 1.*Leave it out for all 6 people"):
        counted(path, 0, None, None, Layout())


def test_missing_values_and_a_single_one_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # errors cut long names off
    path = Path("v.txt")
    for text, told in (
        ("a\n\nb\n", r"data must be a file without missing values, got '.*line 2'"),
        ("a\na\n", "two different"),
    ):
        path.write_text(text)
        with pytest.raises(dn.ParameterError, match=told):
            counted(str(path), None, None, None, Layout())
    for column, layout in (("a", Layout()), (None, Layout(delimiter=";")), (None, Layout(header=False))):
        with pytest.raises(dn.ParameterError, match="must be left out: only a file has columns and a layout"):
            check_source("zipf", column, layout)
        check_source("x.csv", column, layout)


def test_made_up_people_are_ten_thousand_and_a_table_has_its_own() -> None:
    rng = dn.simulation(1)
    people, domain = met("zipf", None, dn.Domain.of(4), None, Layout(), rng)
    assert (people.n, domain.k) == (10_000, 4)
    named, _ = met("zipf", 100, dn.Domain.of(["a", "b"]), None, Layout(), rng)
    assert (named.n, named.labels) == (100, ("a", "b"))
    table_, own = met("bank-job", None, None, None, Layout(), rng)
    assert (table_.n, own.labels) == (45_211, table_.labels)
    assert met("bank-job", 500, None, None, Layout(), rng)[0].n == 500
    given = dn.datasets.Population("P", ("a", "b"), np.array([3, 4]))
    assert met(given, 7, None, None, Layout(), rng)[0].counts.tolist() == [3, 4]
    with pytest.raises(dn.ParameterError, match="n must be left out, or 7, the people that were given"):
        met(given, 8, None, None, Layout(), rng)
    assert at_points("uniform", dn.Domain.of(5), None, None, Layout(), rng).n == 10_000


# ---- surveys in files


def asked(**settings: Any) -> Any:
    return survey({"a": 2, "b": {"labels": ["no", "yes", "often"]}}, epsilon=1.0, **settings)


def test_parts_that_were_dealt_are_numbers_of_parts() -> None:
    made = asked()
    most = len(made.parts) - 1
    assert most == 1

    def read(*cells: object) -> list[int]:
        return surveys._parts(made, Chunk(cells, range(2, 2 + len(cells)), "S", "line"))

    assert read("0", 1, " 1 ") == [0, 1, 1]
    for wrong in ("2", "-1", "", "x", 1.0, None, 2):
        with pytest.raises(dn.ParameterError, match="S, line 3: a part is a number from 0 to 1"):
            read("0", wrong)


def test_lists_stand_in_cells_as_json_or_as_they_are() -> None:
    chunk = Chunk(("",), [7], "S", "row", "films")
    for cell, found in ((None, []), ("", []), ("  ", []), ('[["a", 1]]', [["a", 1]]), ([1], [1]), ((1, 2), [1, 2])):
        assert surveys._listed(cell, chunk, 0) == found
    for wrong in ("{}", "3", "[", "x", 3):
        with pytest.raises(dn.ParameterError, match="S, row 7, column 'films': a list is needed"):
            surveys._listed(wrong, chunk, 0)


def test_a_plan_is_compared_with_what_would_be_another_way() -> None:
    made, compared = surveys.planned({"a": 2, "b": 3}, {"epsilon": 1.0})
    split = survey({"a": 2, "b": 3}, epsilon=1.0, scheme="split")
    assert compared["split"] == split.properties()["mse_sum"]
    assert {*compared} == {"split", "together_from"}
    assert surveys.planned({"a": 2}, {"epsilon": 1.0})[1] == {}
    assert "split" not in surveys.planned({"a": 2, "b": 3}, {"epsilon": 1.0, "scheme": "split"})[1]
    told = surveys.described(made, 1000)
    assert told["people"] == {name: told["shares"][name] * 1000 for name in ("a", "b")}
    assert told["mechanisms"]["a"] == made.questions[0].mechanism.name


def test_a_survey_is_written_and_read_and_its_people_too(tmp_path: Path) -> None:
    made = asked()
    surveys.write_survey(made, str(tmp_path / "s.json"))
    assert surveys.read_survey(str(tmp_path / "s.json")).design() == made.design()
    document = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "t.json").write_text(json.dumps({**document, "survey": 2}))
    with pytest.raises(dn.FormatError, match="this is no survey of version 1"):
        surveys.read_survey(str(tmp_path / "t.json"))
    (tmp_path / "v.csv").write_text("b,x,a\nno,1,1\noften,2,0\nyes,3,1\n")
    people = surveys.read_people(made, str(tmp_path / "v.csv"))
    assert {name: list(map(str, cells)) for name, cells in people.items()} == {
        "a": ["1", "0", "1"], "b": ["no", "often", "yes"]
    }  # fmt: skip
    renamed = surveys.read_people(made, str(tmp_path / "v.csv"), columns=["a", "b"])
    assert renamed == people
    with pytest.raises(dn.ParameterError, match="columns must be 2 names, for a, b"):
        surveys.read_people(made, str(tmp_path / "v.csv"), columns=["a"])
    (tmp_path / "v.csv").write_text("a,b\n")
    with pytest.raises(dn.ParameterError, match="data must be a file with at least one row"):
        surveys.read_people(made, str(tmp_path / "v.csv"))


def test_a_file_of_questions_has_them_alone_or_beside_settings(tmp_path: Path) -> None:
    path = tmp_path / "q"
    cases: dict[str, tuple[Any, Any]] = {
        '{"a": 2, "b": 3}': ({"a": 2, "b": 3}, {}),
        '{"questions": {"a": 2}, "epsilon": 1, "scheme": "one"}': ({"a": 2}, {"epsilon": 1, "scheme": "one"}),
        '{"questions": 5, "b": 2}': ({"questions": 5, "b": 2}, {}),
    }
    for text, found in cases.items():
        path.write_text(text)
        assert surveys.read_questions(str(path)) == found
    for text, told in (
        ('{"questions": {"a": 2}, "level": 1}', "questions must be a file with questions, epsilon"),
        ("[]", "not a mapping"),
    ):
        path.write_text(text)
        with pytest.raises((dn.ParameterError, dn.FormatError), match=told):
            surveys.read_questions(str(path))


@pytest.mark.parametrize(("cells", "known"), [(255, True), (256, True), (257, False)])
def test_the_covariance_of_a_table_is_told_where_its_cells_are_few(cells: int, known: bool) -> None:
    table_: Any = SimpleNamespace(
        value=np.zeros(cells),
        covariance=lambda: np.eye(2),
        n=7,
        simulated=True,
        to_columns=lambda level: {"level": level},
    )
    told: Any = SimpleNamespace(tables={("a", "b"): table_}, tests={("a", "b"): "too few"})
    assert joint._table(told, ("a", "b"), 0.9) == {
        "questions": ["a", "b"], "reports": 7, "simulated": True, "level": 0.9, "target": "population",
        "cells": {"level": 0.9}, "covariance": [[1.0, 0.0], [0.0, 1.0]] if known else None,
        "independence": None, "why": "too few",
    }  # fmt: skip


def test_values_of_a_folder_are_read_in_the_order_of_the_names(tmp_path: Path) -> None:
    for name, text in (("b.csv", "a\n3\n4\n"), ("a.csv", "a\n1\n2\n")):
        (tmp_path / name).write_text(text)
    chunks = list(read_values(str(tmp_path), 10))
    assert [cell for chunk in chunks for cell in chunk.cells] == ["1", "2", "3", "4"]
    assert [chunk.place(1) for chunk in chunks] == [f"{tmp_path / name}, line 3" for name in ("a.csv", "b.csv")]
    (tmp_path / "c.txt").write_text("5\n")
    with pytest.raises(
        dn.ParameterError, match=r"column must be left out, got 'a'\. One value per line has no columns"
    ):
        list(read_values(str(tmp_path), 10, column="a"))
