"""Where files, headers, reports, tallies and coins begin to be refused, and what they are on this side of it."""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect import codec, frames, limits
from deniable.collect.codec import Head, ReportReader, ReportWriter, canonical, columns_in, dump, kind_of, load
from deniable.collect.coins import check_coins, refuse_undealt
from deniable.collect.files import replace_file, replacing
from deniable.collect.limits import check_answers, parse_header
from deniable.collect.parquet import (
    TableReader,
    TableWriter,
    fingerprint,
    head_in,
    metadata_of,
    parse_head,
    write_table,
)
from deniable.collect.reports import (
    BATCHES,
    Field,
    Reports,
    _short,
    batches_of,
    difference,
    join_rows,
    new_id,
    once,
    split_rows,
    title_of,
)
from deniable.collect.tally import Tally, _few, exact_sum

GRR = dn.mechanism("grr", epsilon=1.0, k=10)
IDS = [f"{i:032x}" for i in range(4)]


def reports(n: int = 6, **more: Any) -> Reports:
    return Reports(GRR.design, GRR.fields, {"value": (np.arange(n) % 10).astype(np.uint8)}, **more)


# ---- headers


@pytest.mark.parametrize(("name", "value"), [("DEPTH", 4), ("VALUES", 6)])
def test_a_header_may_be_as_deep_and_as_large_as_the_limit_says(
    name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, name, value)
    if name == "DEPTH":
        good, bad = b'{"a":[[[1]]]}', b'{"a":[[[[1]]]]}'
    else:
        good, bad = b'{"a":[1,2],"b":[3]}', b'{"a":[1,2],"b":[3,4]}'  # the whole, two lists and what commas part
    assert parse_header(good) == json.loads(good)
    with pytest.raises(dn.FormatError, match="nested more than 4 deep" if name == "DEPTH" else "7 values, at most 6"):
        parse_header(bad)
    assert parse_header(b'{"[[[[[[,,,,,,,,": "]]]]"}') == {"[[[[[[,,,,,,,,": "]]]]"}


@pytest.mark.parametrize(
    "text", [b'{"a":NaN}', b'{"a":1e999}', b'{"a":1,"a":2}', b'{"a":"\\ud800"}', b"{", b"\xff", b'{"a":-Infinity}']
)
def test_a_header_that_is_no_plain_json_is_refused(text: bytes) -> None:
    with pytest.raises(dn.FormatError, match="the header is not a JSON text"):
        parse_header(text)
    for other in (b"[]", b"3", b"null"):
        with pytest.raises(dn.FormatError, match="the header is not a JSON object"):
            parse_header(other)
    assert parse_header(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("name", ["k", "points"])
def test_a_file_has_so_many_answers_at_most(name: str) -> None:
    most = limits.ANSWERS
    for design in ({"domain": {name: most + 1}}, {"parts": [{"domain": {name: 2}}, {"domain": {name: most + 1}}]}):
        with pytest.raises(dn.FormatError, match="4,194,305 answers, files may have at most 4,194,304"):
            check_answers(design)
    check_answers({"domain": {name: most}})
    check_answers({"domain": {name: most + 1}, "kernel": {"kind": "lattice"}})
    with pytest.raises(dn.FormatError, match="answers"):
        check_answers({"domain": {name: most + 1}, "kernel": {"kind": "response"}})
    check_answers({"domain": None, "parts": 3})


def test_a_head_of_reports_says_each_field_once() -> None:
    head = Head(GRR.design, GRR.fields, True, IDS[1])
    assert Head.of(head.document()) == head
    assert "id" not in Head(GRR.design, GRR.fields, False).document()
    good = head.document()
    for change, told in (
        ({"fields": [["a", "uint", 1], ["a", "uint", 2]]}, "occurs twice"),
        ({"fields": [["a", "uint", 1], ["b", "uint", 2], ["b", "uint", 2]]}, "occurs twice"),
        ({"fields": []}, "not well formed"),
        ({"fields": [["a", "uint"]]}, "not well formed"),
        ({"fields": [["a", "uint", 0]]}, "not well formed"),
        ({"fields": [["a", "uint", True]]}, "not well formed"),
        ({"fields": [[1, "uint", 1]]}, "not well formed"),
        ({"id": "0" * 31}, "ids of report files are not well formed"),
        ({"id": "0" * 33}, "ids of report files are not well formed"),
        ({"id": "G" * 32}, "ids of report files are not well formed"),
        ({"simulated": 1}, "'simulated' is missing or no bool"),
        ({"design": []}, "'design' is missing or no dict"),
    ):
        with pytest.raises(dn.FormatError, match=told):
            Head.of({**good, **change})


@pytest.mark.parametrize(
    ("kind", "width", "fits"),
    [("uint", w, w in (1, 2, 4, 8)) for w in range(10)] + [("bytes", w, w > 0) for w in (0, 1, 3, 2**32 - 1)]
    + [("bytes", 2**32, False), ("int", 1, False)],
)  # fmt: skip
def test_fields_have_these_widths(kind: str, width: int, fits: bool) -> None:
    if not fits:
        with pytest.raises(dn.FormatError, match="a report field is an unsigned integer"):
            Field("x", kind, width)
        return
    field = Field("x", kind, width)
    assert field.shape(3) == ((3,) if kind == "uint" else (3, width))
    assert field.dtype == np.dtype(f"<u{width}" if kind == "uint" else "u1")


# ---- files of reports


def file_of(parts: list[Reports], id: str = "") -> bytes:
    out = io.BytesIO()
    with ReportWriter(out, GRR.design, GRR.fields, simulated=False, id=id) as writer:
        for part in parts:
            writer.write(part)
        assert writer.total == sum(map(len, parts))
    return out.getvalue()


def test_blocks_are_as_long_as_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    data = file_of([reports(6)])
    monkeypatch.setattr(codec, "BLOCK", 6)
    assert load(data) == reports(6)
    monkeypatch.setattr(codec, "BLOCK", 5)
    with pytest.raises(dn.FormatError, match="a block has 6 reports of 1 bytes each, at most 5 bytes are allowed"):
        load(data)
    monkeypatch.setattr(codec, "BLOCK", 1 << 30)
    monkeypatch.setattr(codec, "BLOCK_WRITTEN", 4)
    sizes = [block.n for block in ReportReader(io.BytesIO(file_of([reports(6), reports(4), reports(1)]))).blocks()]
    assert sizes == [4, 2, 4, 1]
    firsts = [block.first for block in ReportReader(io.BytesIO(file_of([reports(6), reports(4)]))).blocks()]
    assert firsts == [0, 4, 6]
    monkeypatch.setattr(codec, "_ROWS", 4)
    assert [block.n for block in ReportReader(io.BytesIO(dump(reports(9)))).blocks()] == [4, 4, 1]


def test_files_without_an_id_are_told_apart_by_all_that_is_in_them() -> None:
    def content(data: bytes) -> str:
        reader = ReportReader(io.BytesIO(data))
        list(reader)
        return reader.content

    one = file_of([reports(6)])
    other = file_of([Reports(GRR.design, GRR.fields, {"value": np.array([0, 1, 2, 3, 4, 6], np.uint8)})])
    assert content(one) == content(one)
    assert len({content(one), content(other), content(file_of([reports(7)])), content(file_of([reports(5)]))}) == 4
    found = load(one)
    assert isinstance(found, Reports)
    assert (found.sources, found.batches) == ((), (content(one),))
    named = load(file_of([reports(6)], IDS[1]))
    assert isinstance(named, Reports)
    assert (named.sources, named.batches) == ((IDS[1],), (IDS[1],))


@pytest.mark.parametrize("off", [-1, 1])
def test_the_end_mark_must_say_how_many_there_were(off: int) -> None:
    data = file_of([reports(6)])
    with pytest.raises(dn.FormatError, match=f"the end mark says {6 + off} reports, 6 were found"):
        load(data[:-8] + struct.pack("<Q", 6 + off))
    with pytest.raises(dn.FormatError, match="there are bytes after the end mark"):
        load(data + b"\0")
    with pytest.raises(dn.FormatError, match="the end mark is damaged"):
        load(data[:-12] + struct.pack("<I", 1) + data[-8:])
    with pytest.raises(dn.FormatError, match=r"ends inside the end mark: 8 bytes are needed, 7 are there"):
        load(data[:-1])
    damaged = bytearray(data)
    damaged[-17] ^= 1
    with pytest.raises(dn.FormatError, match="the block after report 0 does not match its check sum"):
        load(bytes(damaged))


def test_simulated_reports_are_not_written_into_a_file_that_does_not_say_so() -> None:
    out = io.BytesIO()
    for mine, theirs, fits in ((False, True, False), (True, False, True), (True, True, True), (False, False, True)):
        writer = ReportWriter(out, GRR.design, GRR.fields, simulated=mine)
        if fits:
            writer.write(reports(simulated=theirs))
            continue
        with pytest.raises(dn.MergeError, match="of another design than the file, or simulated while it is not"):
            writer.write(reports(simulated=theirs))
    other = dn.mechanism("grr", epsilon=2.0, k=10)
    with pytest.raises(dn.MergeError, match="of another design"):
        writer.write(Reports(other.design, other.fields, reports().columns))


@pytest.mark.parametrize("start", [b"", b"DNR", b"DNRQ", b"PAR1"])
def test_the_first_four_bytes_say_what_a_file_is(start: bytes) -> None:
    assert (kind_of(b"DNRPx"), kind_of(b"DNTL")) == ("reports", "tally")
    with pytest.raises(dn.FormatError, match="neither reports nor a tally"):
        kind_of(start)


def _tally_file(header: dict[str, Any], payload: bytes, version: int = 1) -> bytes:
    text = canonical(header)
    head = b"DNTL" + bytes([version]) + struct.pack("<I", len(text)) + text + struct.pack("<I", zlib.crc32(text))
    return head + payload + struct.pack("<I", zlib.crc32(payload))


def test_cells_of_a_tally_have_one_shape_each_and_so_many_entries() -> None:
    tally = GRR.tally(reports())
    header = {"design": GRR.design, "strata": ["all"], "cells": [["n", [1]]], "simulated": False}
    payload = struct.pack("<q", 7)
    good = load(_tally_file(header, payload))
    assert isinstance(good, Tally)
    assert good.n == 7
    assert load(dump(tally)) == tally
    for cells, told in (
        ([["n", [1]], ["n", [1]]], "occurs twice"),
        ([["n", [0]]], r"have the shape \[0\]; it is strata, or strata by entries"),
        ([["n", [1, 1, 1]]], r"have the shape \[1, 1, 1\]"),
        ([["n", []]], r"have the shape \[\]"),
        ([["n", [-1]]], "not well formed"),
        ([["n", [True]]], "not well formed"),
        ([["n", 1]], "not well formed"),
        ([["n", [1]], ["x", [1, limits.CELLS]]], "has 8,388,609 cells, at most 8,388,608 are allowed"),
        ([["n", [1, 2]]], "ends inside cell 'n': 16 bytes are needed, 12 are there"),
    ):
        with pytest.raises(dn.FormatError, match=told):
            load(_tally_file({**header, "cells": cells}, payload))
    for version, told in ((2, "has version 2; a tally of its design has 1"), (3, "this program reads 1 and 2")):
        with pytest.raises(dn.FormatError, match=told):
            load(_tally_file(header, payload, version))
    with pytest.raises(dn.FormatError, match="there are bytes after the tally"):
        load(_tally_file(header, payload) + b"\0")


# ---- reports in memory


def test_reports_are_taken_by_numbers_from_both_ends() -> None:
    held = reports(4)
    for i in range(-4, 4):
        assert held[i].columns["value"].tolist() == [i % 4]
    for wrong in (-5, 4):
        with pytest.raises(IndexError, match=f"there are 4 reports, got the index {wrong}"):
            held[wrong]
    assert held[[True, False, False, True]].columns["value"].tolist() == [0, 3]
    assert held[np.array([2, 2])].columns["value"].tolist() == [2, 2]
    assert len(held[[]]) == 0
    for odd in ([0.5], [[0]], "x"):
        with pytest.raises(IndexError, match="reports are taken by a number, a slice, or a list"):
            held[odd]
    assert held[1:3].columns["value"].tolist() == [1, 2]
    assert reports(simulated=True)[:1].simulated
    assert (reports(batches=("x",))[:1].batches, reports(sources=(IDS[0],))[:1].sources) == ((), ())


@pytest.mark.parametrize("marks", [(False, False), (True, False), (False, True), (True, True)])
def test_reports_together_are_simulated_if_any_is(marks: tuple[bool, bool]) -> None:
    one, two = (reports(2, simulated=mark, batches=(str(i),)) for i, mark in enumerate(marks))
    both = one + two
    assert (both.simulated, both.batches) == (any(marks), ("0", "1"))
    assert both.columns["value"].tolist() == [0, 1, 0, 1]
    tallies = GRR.tally(one) + GRR.tally(two)
    assert tallies.simulated == any(marks)
    assert sum([one, two]) == both
    with pytest.raises(dn.MergeError, match="some are in both"):
        one + both
    with pytest.raises(dn.ParameterError, match="parts must be at least one batch of reports"):
        Reports.concat([])


def test_ids_are_once_and_the_last_batches_are_remembered() -> None:
    assert once(("b",), ("a", "c")) == ("a", "b", "c")
    with pytest.raises(dn.MergeError, match=r"the one with the id a is in both"):
        once(("a", "b"), ("a",))
    with pytest.raises(dn.MergeError, match=r"the one with the id a and 2 more is in both"):
        once(("c", "b", "a"), ("a", "b", "c", "d"))
    many = tuple(map(str, range(BATCHES)))
    assert batches_of(many, ("x",)) == (*many[1:], "x")
    assert batches_of(("x",), many) == many
    assert batches_of(many[:-1], ("x",)) == (*many[:-1], "x")
    assert len({new_id() for _ in range(5)}) == 5
    assert all(len(new_id()) == 32 for _ in range(3))


def test_rows_and_columns_are_inverse_and_of_this_width() -> None:
    fields = (Field("a", "uint", 2), Field("b", "bytes", 3), Field("c", "uint", 1))
    table = np.arange(24, dtype=np.uint8).reshape(4, 6)
    columns = split_rows(fields, table)
    assert columns["a"].tolist() == [1 << 8, (7 << 8) + 6, (13 << 8) + 12, (19 << 8) + 18]
    assert columns["b"][1].tolist() == [8, 9, 10]
    assert columns["c"].tolist() == [5, 11, 17, 23]
    assert (join_rows(fields, columns) == table).all()
    made = Reports({"mechanism": "x"}, fields, columns)
    assert (made.row_bytes, made.nbytes, made.row(1)) == (6, 24, bytes(range(6, 12)))
    again = Reports.from_rows(made.design, fields, [made.row(i) for i in range(4)], simulated=True)
    assert again.simulated
    assert (again.columns["b"] == columns["b"]).all()
    with pytest.raises(dn.FormatError, match="report 1 has 5 bytes, this design's reports have 6"):
        Reports.from_rows(made.design, fields, [b"123456", b"12345"], simulated=False)
    block = columns_in(fields, 4, codec.block_of(made))
    assert all((block[name] == columns[name]).all() for name in columns)
    rows = np.asarray(made)
    assert rows["a"].tolist() == columns["a"].tolist()
    assert made.to_columns()["b"][0] == bytes([2, 3, 4])
    assert repr(made) == "<4 reports of x (epsilon = 0), 6 bytes each>"
    assert repr(Reports({"mechanism": "x"}, fields[2:], {"c": columns["c"][:1]}, True)) == (
        "<1 report of x (epsilon = 0), 1 byte each, SIMULATED>"
    )


def test_designs_are_told_and_what_differs_between_them() -> None:
    assert title_of({"mechanism": "x", "epsilon": 0.5, "domain": {"labels": ["a", "b"]}}) == "x (epsilon = 0.5, k = 2)"
    assert title_of({"mechanism": "x", "epsilon": 2, "domain": {"points": 1024}}) == "x (epsilon = 2, k = 1,024)"
    assert title_of({"mechanism": "x", "parts": [1, 2], "params": {"a": True, "b": "s", "c": 1 / 3}}) == (
        "x (epsilon = 0, parts = 2, c = 0.333333)"
    )
    assert difference({"a": 1}, {"a": 1}) == "they are the same"
    assert difference({"a": 1, "kernel": 1}, {"a": 2, "kernel": 2, "b": 3}) == (
        "a is 1 in one and 2 in the other; b is None in one and 3 in the other"
    )
    assert difference({"kernel": 1}, {"kernel": 2}) == "kernel is 1 in one and 2 in the other"
    assert _short("x" * 118) == "'" + "x" * 118 + "'"
    assert _short("x" * 119) == "'" + "x" * 116 + "..."
    assert len(_short("x" * 500)) == 120
    assert len(fingerprint(GRR.design)) == 32


# ---- tallies


def test_sums_are_exact_beyond_64_bits_and_what_does_not_fit_is_refused() -> None:
    top = 2**63 - 1
    for cells in ([top, top, top], [1, 2, 3], [top, 1], [0], [2**53 + 1, 2**53 + 3], [-5, 2]):
        assert exact_sum(np.array(cells)) == sum(cells)
    design = {"mechanism": "x", "epsilon": 1.0}

    def tally(n: int, **more: Any) -> Tally:
        return Tally(design, ("all",), {"n": np.array([n])}, **more)

    assert (tally(top - 1) + tally(1)).n == top
    with pytest.raises(dn.MergeError, match="'n' add up to more than 64 bits hold"):
        tally(top) + tally(1)
    assert (tally(1, sources=("b",)) + tally(2, sources=("a",))).sources == ("a", "b")
    with pytest.raises(dn.MergeError, match="counted twice"):
        tally(1, sources=("a",)) + tally(2, sources=("a",))
    for one, two in ((None, list), (list, None), (list, tuple)):
        assert (tally(1, names=one) + tally(1, names=two)).names == (one or two)
    assert [(tally(1, simulated=a) + tally(1, simulated=b)).simulated for a in (0, 1) for b in (0, 1)] == [0, 1, 1, 1]
    with pytest.raises(dn.MergeError, match="tallies of different designs"):
        tally(1) + Tally({"mechanism": "y"}, ("all",), {"n": np.array([1])})
    assert [_few(np.arange(k)) for k in (0, 5, 6, 7)] == ["[]", "[0 1 2 3 4]", "[0 1 2 3 4 5]", "[0 1 2 3 4 5 ...]"]
    for cells, told in (
        ({"x": np.array([1])}, "a tally needs the cell 'n'"),
        ({"n": np.array([[1]])}, "a tally needs the cell 'n'"),
        ({"n": np.array([1, 2])}, "'n' must be int64 with 1 strata"),
        ({"n": np.array([1.0])}, "'n' must be int64"),
    ):
        with pytest.raises(dn.FormatError, match=told):
            Tally(design, ("all",), cells)


def test_parts_of_a_tally_have_their_own_strata_cells_and_mark() -> None:
    parts = [{"mechanism": "a"}, {"mechanism": "b"}]
    cells = {"n": np.array([3, 4, 5]), "q1/x": np.array([[1, 2]]), "q2/y": np.array([[3], [4]])}
    tally = Tally({"mechanism": "s", "parts": parts}, ("q1/all", "q2/low", "q2/high"), cells, True, names=str.split)
    one, two = tally.parts
    assert (one.design, one.strata, one.n, one.simulated) == (parts[0], ("all",), 3, True)
    assert (two.design, two.strata, two.n, two.simulated) == (parts[1], ("low", "high"), 9, True)
    assert {name: cell.tolist() for name, cell in two.cells.items()} == {"n": [4, 5], "y": [[3], [4]]}
    assert one.names is not None
    assert one.names("x") == ["q1/x"]
    columns = Tally(tally.design, tally.strata, tally.cells, True).to_columns()
    rows = list(zip(columns["stratum"], columns["cell"], columns["label"], columns["count"], strict=True))
    assert rows == [
        ("q1/all", "n", None, 3), ("q1/all", "x", "0", 1), ("q1/all", "x", "1", 2), ("q2/low", "n", None, 4),
        ("q2/low", "y", "0", 3), ("q2/high", "n", None, 5), ("q2/high", "y", "0", 4),
    ]  # fmt: skip
    assert columns["simulated"] == [True] * 7


# ---- coins


def test_coins_are_one_for_each_and_below_their_number() -> None:
    assert check_coins([0, 2**64 - 1], 2).tolist() == [0, 2**64 - 1]
    assert check_coins([2**63 - 1, 2**63, 2**64 - 1, 1], 4).tolist() == [2**63 - 1, 2**63, 2**64 - 1, 1]
    for odd in ([0, 2**64], [2**63, -1], [2**63, 1.0]):
        with pytest.raises(dn.ParameterError, match=r"coins must be 2 whole numbers from 0 to 2\*\*64 - 1"):
            check_coins(odd, 2)
    assert check_coins([0, 4], 2, 5).tolist() == [0, 4]
    assert check_coins(np.zeros(0, np.int64), 0).tolist() == []
    for coins, n, number in (
        ([0, 5], 2, 5), ([0], 2, 5), ([0, 1, 2], 2, 5), ([[0, 1]], 2, 5), ([-1, 0], 2, 5), ([0.0, 1.0], 2, 5),
        (["a"], 1, 5), (3, 1, 5),
    ):  # fmt: skip
        with pytest.raises(dn.ParameterError, match=f"coins must be {n} whole numbers from 0 to 4"):
            check_coins(coins, n, number)
    m = dn.mechanism("olh", epsilon=1.0, k=8)
    held = m.privatize_items(np.arange(6), dn.simulation(1))
    dealt = held.columns["seed"].copy()
    refuse_undealt(held, dealt)
    dealt[[2, 4]] ^= 1
    with pytest.raises(dn.FormatError, match=r"report 2 carries another coin than the one dealt \(2 of 6 do\)"):
        refuse_undealt(held, dealt)
    with pytest.raises(dn.FormatError, match="these reports have no public seed"):
        refuse_undealt(reports(), dealt)


# ---- files, frames


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_interruption_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "x"
    replace_file(path, b"old")

    def stopped() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        stopped()
    assert (os.listdir(tmp_path), path.read_bytes()) == (["x"], b"old")
    with replacing(path, private=True) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        (part,) = [one for one in tmp_path.iterdir() if one != path]
        assert part.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == b"new"


def test_frames_are_of_polars_then_of_pandas_then_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    there: dict[str, Any] = {}

    def imported(name: str) -> Any:
        if name not in there:
            raise ImportError(name)
        return there[name]

    class Library:
        def __init__(self, name: str) -> None:
            self.DataFrame = lambda columns: (name, columns)

    monkeypatch.setattr(frames, "import_module", imported)
    assert frames.as_frame({"a": [1]}) == {"a": [1]}
    there["pandas"] = Library("pandas")
    assert frames.as_frame({"a": [1]}) == ("pandas", {"a": [1]})
    there["polars"] = Library("polars")
    assert frames.as_frame({"a": [1]}) == ("polars", {"a": [1]})
    assert reports(1).to_pandas()[0] == "pandas"
    assert reports(1).to_polars()[0] == "polars"


# ---- tables of reports


@pytest.mark.parametrize("layout", ["rows", "packed"])
def test_tables_are_cut_into_parts_of_so_many_rows(
    tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    for name, value in (("BLOCK_BYTES", 4), ("_GROUP_BLOCKS", 2), ("_GROUP_ROWS", 8)):
        monkeypatch.setattr(f"deniable.collect.parquet.{name}", value)
    head = Head(GRR.design, GRR.fields, False)
    path = str(tmp_path / "t.parquet")
    assert write_table(path, head, [reports(3), reports(3), reports(4), reports(9)], layout=layout) == 19
    reader = TableReader(path)
    sizes = [sum(batch.num_rows for batch in reader.batches(i, reader.schema.names)) for i in range(reader.groups)]
    assert sizes == ([10, 9] if layout == "rows" else [2, 2, 1])
    assert [reader.first_row(i) for i in range(reader.groups)] == ([0, 10] if layout == "rows" else [0, 2, 4])
    assert reader.rows == sum(sizes)
    if layout == "packed":
        held = [n for i in range(reader.groups) for b in reader.batches(i, ["n"]) for n in b.column("n").to_pylist()]
        assert held == [4, 4, 4, 4, 3]
    with pytest.raises(dn.MergeError, match="simulated while it is not"):
        write_table(str(tmp_path / "u.parquet"), head, [reports(1, simulated=True)], layout=layout)
    with pytest.raises(dn.ParameterError, match="layout must be one of packed, rows"):
        TableWriter(io.BytesIO(), head, layout="other")
    with pytest.raises(dn.ParameterError, match="extra must be left out for packed blocks"):
        TableWriter(io.BytesIO(), head, extra=["x"])


def test_the_head_of_a_table_says_whether_files_share_it() -> None:
    head = Head(GRR.design, GRR.fields, True, IDS[2])
    for parts in (False, True):
        text = metadata_of(head, parts=parts).encode()
        assert parse_head(text) == (head, parts)
        assert head_in({b"deniable": text}) == (head, parts)
    assert head_in(None) is None
    assert head_in({}) is None
    known = json.loads(text)
    for version in (0, 2, None):
        with pytest.raises(dn.FormatError, match=r"has version .*, this program reads 1"):
            parse_head(canonical({**known, "version": version}))
    spark = {"fields": [{"name": "other"}, {"name": "report", "metadata": {"deniable": text.decode()}}]}
    key = b"org.apache.spark.sql.parquet.row.metadata"
    assert head_in({key: json.dumps(spark).encode()}) == (head, True)
    assert head_in({key: b'{"fields": []}'}) is None
