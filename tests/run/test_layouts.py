"""Files by their names: how values lie in them, which files a name stands for, what is written and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.run.files import (
    _numbers,
    check_output,
    csv_bytes,
    encode,
    open_output,
    read_columns,
    read_labels,
    read_space,
    read_values,
    refuse_loss,
)
from deniable.run.forms import ANSWERS, NUMBERS, lines_of, number_of
from deniable.run.layout import Layout
from deniable.run.numbers import Doubt, read_number
from deniable.run.sources import files_of, regular_size, told_of

# ---- names and layouts

KINDS = {
    "a.csv": ("csv", "none", ","),
    "a.CSV": ("csv", "none", ","),
    "a.tsv": ("csv", "none", "\t"),
    "a.tsv.gz": ("csv", "gzip", "\t"),
    "a.csv.BZ2": ("csv", "bzip2", ","),
    "a.txt.xz": ("lines", "xz", ","),
    "a.txt": ("lines", "none", ","),
    "a.parquet": ("parquet", "none", ","),
    "a.feather": ("arrow", "none", ","),
    "a.ipc": ("arrow", "none", ","),
    "a.arrow": ("arrow", "none", ","),
    "-": ("lines", "none", ","),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_name_says_how_a_file_lies(name: str) -> None:
    layout = Layout()
    assert (layout.kind(name), layout.packing(name), layout.separator(name)) == KINDS[name]
    assert layout.names_file(name) == (name != "-")


def test_what_is_said_of_a_layout_wins_over_the_name() -> None:
    assert Layout("lines").kind("a.csv") == "lines"
    assert Layout("csv").kind("a.any") == "csv"
    assert Layout("csv").names_file("zipf")
    assert not Layout().names_file("zipf")
    assert not Layout().names_file("a.bin")
    assert Layout(compression="none").packing("a.csv.gz") == "none"
    assert Layout(compression="xz").packing("-") == "xz"
    assert [Layout(header=False).kind("-"), Layout(delimiter="tab").kind("-")] == ["csv", "csv"]
    signs = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "pipe": "|", "space": " ", ":": ":"}
    for given, sign in signs.items():
        assert Layout(delimiter=given).separator("a.tsv") == sign
    assert Layout.of("csv") == Layout("csv")
    assert Layout.of(Layout(header=False)) == Layout(header=False)


@pytest.mark.parametrize(
    ("given", "codec"),
    [(None, "utf-8-sig"), ("UTF8", "utf-8-sig"), ("utf_8", "utf-8-sig"), ("cp1252", "cp1252"), ("utf-16", "utf-16")],
)
def test_only_utf_8_has_a_mark_that_is_no_part_of_it(given: str | None, codec: str) -> None:
    assert Layout(encoding=given).codec == codec


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"format": "xls"}, "format must be one of"),
        ({"compression": "zip"}, "compression must be one of auto, none, gzip, bzip2, xz"),
        ({"delimiter": ",,"}, "delimiter must be one sign"),
        ({"delimiter": ""}, "delimiter must be one sign"),
        ({"delimiter": "\n"}, "delimiter must be one sign"),
        ({"delimiter": '"'}, "delimiter must be one sign"),
        ({"encoding": "hex"}, "text-encoding must be the name of an encoding of text"),
        ({"encoding": "nothing"}, "text-encoding must be the name of an encoding of text"),
    ],
)
def test_a_layout_that_is_none_is_refused(how: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        Layout(**how)


@pytest.mark.parametrize(
    ("layout", "name", "told"),
    [
        (Layout(delimiter=";"), "a.txt", "delimiter must be left out for the format lines"),
        (Layout(delimiter=";"), "a.parquet", "delimiter must be left out for the format parquet"),
        (Layout(header=False), "a.txt", "no-header must be left out for the format lines"),
        (Layout(encoding="cp1252"), "a.arrow", "text-encoding must be left out for the format arrow"),
        (Layout(compression="gzip"), "a.parquet", "compression must be left out for the format parquet"),
        (Layout(), "a.parquet.gz", "compression must be left out for the format parquet"),
        (Layout(), "a.bin", "format must be given for 'a.bin'"),
        (Layout(), "a", "format must be given for 'a'"),
    ],
)
def test_what_a_format_does_not_have_is_refused(layout: Layout, name: str, told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        layout.kind(name)


def test_what_a_format_has_is_taken() -> None:
    assert Layout(encoding="cp1252", compression="xz").kind("a.txt") == "lines"
    assert Layout(encoding="cp1252", compression="xz", delimiter="|", header=False).kind("a.csv") == "csv"
    assert Layout(compression="none").kind("a.parquet") == "parquet"


def test_compressed_files_are_read_as_what_they_hold(tmp_path: Path) -> None:
    text = b"a;b\n1;x\n2;y\n"
    for suffix, packed in ((".gz", gzip.compress(text)), (".bz2", bz2.compress(text)), (".xz", lzma.compress(text))):
        path = tmp_path / f"v.csv{suffix}"
        path.write_bytes(packed)
        seen: list[Any] = []
        layout = Layout(delimiter="semicolon")
        read = read_values(str(path), 1, column="b", format=layout, progress=lambda *at, seen=seen: seen.append(at))
        assert [chunk.cells for chunk in read] == [("x",), ("y",)]
        assert [total for _, total in seen] == [len(packed)] * 2
        path.write_bytes(packed[:-6])
        with pytest.raises(dn.FormatError, match=r"is not compressed by .*, or damaged"):
            list(read_values(str(path), 1, column="b", format=layout))


def test_rows_and_lines_are_told_by_their_places_across_chunks(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text('a,b\n1,"x\n\ny"\n2,"z"\n3,w\n')
    chunks = [one for one, _ in read_columns(str(tmp_path / "v.csv"), 1, ["a", "b"])]
    assert [chunk.place(0).split(", ")[1] for chunk in chunks] == ["line 2", "line 5", "line 6"]
    (tmp_path / "v.txt").write_text("1\n2\n3\n4\n5\n")
    lines = list(read_values(str(tmp_path / "v.txt"), 2))
    assert [chunk.place(i).rpartition(" ")[2] for chunk in lines for i in range(len(chunk.cells))] == list("12345")
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table({"a": [5, 6, 7, 8, 9]}), tmp_path / "v.parquet")
    seen: list[Any] = []
    tabled = list(read_values(str(tmp_path / "v.parquet"), 2, progress=lambda *at: seen.append(at)))
    places = [chunk.place(i).rpartition(", ")[2] for chunk in tabled for i in range(len(chunk.cells))]
    assert places == [f"row {i}" for i in range(1, 6)]
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_whole_numbers_of_text_are_exact_at_the_ends_of_64_bits() -> None:
    for cell in (2**63 - 1, 2**63, 10**18 - 1, 10**18, 10**19, 10**29, 0, 7):
        assert list(_numbers((str(cell),))) == [cell]
        assert list(_numbers((f"-{cell}", "1"))) == [-cell, 1]
    assert list(_numbers(("9" * 18, "0" * 18))) == [10**18 - 1, 0]
    assert list(_numbers(("1", "", "x", "-0"))) == [1, "", "x", 0]
    assert list(_numbers(["1", 3, None])) == [1, 3, None]
    held = np.array([1, 2])
    assert _numbers(held) is held


# ---- which files a name stands for


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "_m.csv", ".h.csv", "sub/c.csv", "sub/_x.csv", "_done/d.csv", "sub/.tmp/e.csv"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1" * (len(path.name) + len(name)))
    return tmp_path / "data"


def test_a_folder_stands_for_the_data_in_it_and_below(folder: Path) -> None:
    names = [str(Path(path).relative_to(folder)) for path in files_of(str(folder))]
    assert names == ["a.csv", "b.csv", "sub/c.csv"]
    (folder / "one").mkdir()
    with pytest.raises(dn.ParameterError, match="is a folder without any file to read"):
        files_of(str(folder / "one"))


def test_a_pattern_stands_for_the_files_that_fit(folder: Path) -> None:
    def found(pattern: str) -> list[str]:
        return [str(Path(path).relative_to(folder)) for path in files_of(str(folder / pattern))]

    assert found("*.csv") == ["_m.csv", "a.csv", "b.csv"]
    assert found("[ab].csv") == ["a.csv", "b.csv"]
    assert found("**/c.csv") == ["sub/c.csv"]
    (folder / "[ab].csv").write_text("x")
    assert found("[ab].csv") == ["[ab].csv"]  # a file of that very name
    assert found("su*/*") == ["sub/_x.csv", "sub/c.csv"]
    with pytest.raises(dn.ParameterError, match="no file fits the pattern"):
        found("su*")
    assert files_of(str(folder / "gone.csv")) == [str(folder / "gone.csv")]
    assert files_of("-") == ["-"]


def test_progress_goes_on_from_file_to_file(folder: Path) -> None:
    seen: list[Any] = []
    paths, sizes = [], []
    for path, told in told_of(str(folder), lambda *at: seen.append(at)):
        assert told is not None
        paths.append(path)
        sizes.append(regular_size(path) or 0)
        told(1, 2)
        told(2, 2)
        told(3, None)
    assert paths == files_of(str(folder))
    before = [sum(sizes[:i]) for i in range(3)]
    whole = sum(sizes)
    assert seen == [
        at
        for start, size in zip(before, sizes, strict=True)
        for at in ((start + size // 2, whole), (start + size, whole), (start, whole))
    ]
    alone = list(told_of(str(folder / "a.csv"), seen.append))  # type: ignore[arg-type]
    assert alone == [(str(folder / "a.csv"), seen.append)]
    assert [told for _, told in told_of(str(folder), None)] == [None] * 3


def test_only_regular_files_have_a_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert regular_size(str(tmp_path / "a")) == 5
    for other in ("-", str(tmp_path), str(tmp_path / "gone"), "\0", os.devnull):
        assert regular_size(other) is None


# ---- what is written


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("plain", "plain"), ("=1", "'=1"), ("''=1", "'''=1"), ("'a", "'a"), ("-5", "-5"), ("+.5e3", "+.5e3"),
        ("-5x", "'-5x"), ("@a", "'@a"), ("\ta", "'\ta"), ("a,b", '"a,b"'), ('say "a"', '"say ""a"""'), (-1.5, "-1.5"),
        ("a\rb", '"a\rb"'), ("a\nb", '"a\nb"'), ("=a,b", "\"'=a,b\""), (None, ""), (True, "True"), ("", ""),
    ],
)  # fmt: skip
def test_a_cell_is_written_so_that_nothing_is_computed_or_torn(cell: object, text: str) -> None:
    assert csv_bytes([{"x": cell, "y": 1}]) == f"x,y\n{text},1\n".encode()
    if isinstance(cell, str):
        data = io.BytesIO(csv_bytes([{"x": cell, "y": 1}] * 2))
        assert data.getvalue().count(b"x,y") == 1


def test_an_output_is_no_input_by_any_name(tmp_path: Path) -> None:
    path, link, hard = tmp_path / "a", tmp_path / "link", tmp_path / "hard"
    path.write_text("x")
    link.symlink_to(path)
    hard.hardlink_to(path)
    for target, source in product((path, link, hard), repeat=2):
        for force in (False, True):
            with pytest.raises(dn.ParameterError, match="out must be another file than the input"):
                refuse_loss(str(target), ["-", str(tmp_path / "gone"), str(source)], force=force)
    refuse_loss(str(tmp_path / "new"), [str(path)])
    refuse_loss("-", [str(path)])
    refuse_loss(os.devnull, [str(path)])
    refuse_loss(str(path), [str(tmp_path / "gone")], force=True)
    with pytest.raises(dn.ParameterError, match=r"chart must be the name of a new file.* say --yes to replace it"):
        refuse_loss(str(path), name="chart", how="--yes")


def test_an_output_needs_a_folder_that_is_there(tmp_path: Path) -> None:
    check_output("-")
    check_output(str(tmp_path / "a"))
    with pytest.raises(dn.ParameterError, match="chart must be in a folder that exists"):
        check_output(str(tmp_path / "gone" / "a"), "chart")
    with pytest.raises(dn.ParameterError, match="out must be the name of a file"):
        check_output(str(tmp_path))
    with pytest.raises(dn.ParameterError, match="out must be the name of a file"):
        check_output("a\0b")


@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o644)])
def test_only_its_owner_reads_a_private_file_from_the_first_byte_on(tmp_path: Path, private: bool, mode: int) -> None:
    before = os.umask(0o022)
    try:
        with open_output(str(tmp_path / "x"), private=private) as out:
            (part,) = tmp_path.iterdir()
            assert part.stat().st_mode & 0o777 == mode
            out.write(b"x")
        assert (tmp_path / "x").stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)


# ---- labels and places


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\n\nb\n", "free of empty lines, got .*, line 2"),
        ("a\nb\na\n", "differ from each other, got 'a' in the lines 1 and 3"),
        ("a\n", "a file of at least 2 labels, got 1 in"),
        ("", "a file of at least 2 labels, got 0 in"),
    ],
)
def test_a_file_of_labels_has_two_of_them_each_once(
    tmp_path: Path, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # errors cut long names off
    Path("l").write_text(text)
    with pytest.raises(dn.ParameterError, match=told):
        read_labels("l")


SPACES = {
    "0,1\n1,0\n": (2, None),
    "a,b\n0,1\n1,0\n": (2, ("a", "b")),
    "lat,lon\n1,2\n3,4\n5,6\n": (3, None),
    "Longitude , name, LATITUDE, label\n1,x,2,p\n3,y,4,q\n": (2, ("p", "q")),
}


@pytest.mark.parametrize("text", SPACES)
def test_a_space_is_read_by_its_first_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    k, labels = SPACES[text]
    found = read_space(tmp_path / "s.csv")
    assert found.k == k
    assert found.labels == labels


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,1\n", "distances must be a table of at least 2 lines, got 1 lines"),
        ("a,1\n0,1\n1,0\n", "the first line must be numbers, or else labels"),
        ("lat,lon\n1,2\n3\n", "line 3 has 1 cells, the first line has 2"),
        ("lat,lon\n1\n3,4\n", "line 2 has 1 cells, the first line has 2"),
    ],
)
def test_a_space_that_is_none_is_refused_in_its_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(dn.ParameterError, match=told):
        read_space(tmp_path / "s.csv")


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        ("a,b\n1,2\n", None, "column must be given, since .* has the columns a, b"),
        ("a,b\n1,2\n", "c", "column must be one of the columns of .*: a, b"),
        ("a,a\n1,2\n", "a", "column must be a column that occurs once"),
        ("a;b\n1;2\n", None, "Say --delimiter semicolon if it has several"),
        ("a\tb\n1\t2\n", "a", "Say --delimiter tab if that is what stands between"),
        ("a,b\n1,2\n3\n", "a", "line 3: the row has 1 cell, the header has 2"),
        ("a,b\n1,2\n3,4,5\n", "a", "line 3: the row has 3 cells, the header has 2"),
        ("a,b\n1,2\n\n", "a", "line 3: the row has 0 cells, the header has 2"),
        ("", None, "is empty; a CSV file starts with a header row"),
        ('a,b\n1,"2\n', "a", "line 2: this is not well-formed CSV"),
        ('a,b\n1,2\n3,4\n5,"6"x\n', "a", "line 4: this is not well-formed CSV"),
    ],
)
def test_columns_and_rows_that_do_not_fit_are_told(tmp_path: Path, text: str, column: str | None, told: str) -> None:
    (tmp_path / "v.csv").write_text(text)
    with pytest.raises((dn.ParameterError, dn.FormatError), match=told):
        list(read_values(str(tmp_path / "v.csv"), 10, column=column))


def test_a_blank_line_is_an_empty_cell_where_there_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("a\n1\n\n2\n")
    (chunk,) = read_values(str(tmp_path / "v.csv"), 10)
    assert (chunk.cells, list(chunk.places)) == (("1", "", "2"), [2, 3, 4])


def test_without_a_header_columns_have_numbers_and_the_first_row_counts(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("1,x\n2,y\n3,z\n")
    chunks = list(read_values(str(tmp_path / "v.csv"), 2, column="2", format=Layout(header=False)))
    assert [chunk.cells for chunk in chunks] == [("x", "y"), ("z",)]
    assert [list(chunk.places) for chunk in chunks] == [[1, 2], [3]]
    assert [chunk.header for chunk in chunks] == [None, None]
    with pytest.raises(dn.ParameterError, match="columns are named by their numbers, from 1 on"):
        list(read_values(str(tmp_path / "v.csv"), 2, column="0", format=Layout(header=False)))


def test_a_header_that_may_be_a_value_is_asked_about_in_the_first_chunk_only(tmp_path: Path) -> None:
    yes = Domain.of(["no", "yes"])
    (tmp_path / "v.csv").write_text("yes\nno\nyes\n")
    first, second = read_values(str(tmp_path / "v.csv"), 1)
    assert (first.header, second.header) == ("yes", None)
    for domain in (yes, Domain.of(["yes", "x"], other="x")):
        with pytest.raises(dn.ParameterError, match="may be the header or the first value"):
            encode(domain, first)
    assert encode(yes, second).tolist() == [1]
    (named,) = read_values(str(tmp_path / "v.csv"), 9, column="yes")
    assert (named.header, encode(yes, named).tolist()) == (None, [0, 1])


# ---- numbers of people

NUMBERS_READ: dict[str, object] = {
    "5": 5.0, " -5 ": -5.0, "+5": 5.0, "0.125": 0.125, "0,125": 0.125, "00,5": 0.5, ".5": 0.5, "5.": 5.0, "12,5": 12.5,
    "1234.5": 1234.5, "1.000": Doubt("1.000", 1000.0, 1.0), "-1,000": Doubt("-1,000", -1000.0, -1.0),
    "123.456": Doubt("123.456", 123456.0, 123.456), "1234.567": 1234.567, "1.000.000": 1e6, "1,000,000": 1e6,
    "1.000,5": 1000.5, "1,000.5": 1000.5, "1,000,000.25": 1000000.25, "1 000": 1000.0, "1'000'000": 1e6,
    "1’000.5": 1000.5, "1 000,5": 1000.5, "١٢٣": 123.0, "١٬٢٣٤٫٥": 1234.5, "−5": -5.0, "1.00.000": None,
    "10.00": 10.0, "1,00,000": None,
    "1,000.5.5": None, "1.000,5,5": None, "1.0,00": None, "1 00": None, "": None, "-": None, ".": None, "--5": None,
    "5e3": None, "many": None, "1,000.": None, "1'000,5": 1000.5, "1.000'000,5": None, "9" * 40: float("9" * 40),
    "9" * 41: None, "²": None,
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS_READ)
def test_numbers_are_read_as_people_write_them(text: str) -> None:
    assert read_number(text) == NUMBERS_READ[text]


def test_a_page_refuses_numbers_that_are_doubtful_or_too_large() -> None:
    assert number_of("999999999999", "budget") == 10**12 - 1
    assert number_of("-999,999,999,999", "budget") == 1 - 10**12
    for text, told in (
        ("1000000000000", "budget must be a number below 1,000,000,000,000"),
        ("-1000000000000", "budget must be a number below 1,000,000,000,000"),
        ("1.500", "budget can be read as 1,500 or 1.5, got '1.500'"),
        ("x" * 50, f"budget must be a number, got '{'x' * 40}'"),
    ):
        with pytest.raises(dn.ParameterError, match=told):
            number_of(text, "budget")


def test_what_is_filled_in_is_what_the_planner_is_told() -> None:
    assert lines_of(" a \n\n  \r\nb") == ["a", "b"]
    assert NUMBERS.read({"low": "-1,5", "high": "2000"}) == {"interval": "-1.5,2000"}
    told = ANSWERS.read({"answers": "no\nyes\n", "sensitive": ""})
    assert (told["domain"].labels, told["top"], "sensitive" in told) == (("no", "yes"), 6, False)
    assert ANSWERS.read({"answers": "a\nb\nc", "sensitive": "c\n a"})["sensitive"] == "c,a"
    with pytest.raises(dn.ParameterError, match="answers must be at least two, one on each line"):
        ANSWERS.read({"answers": "no\n\n", "sensitive": ""})
    with pytest.raises(dn.ParameterError, match="highest number must be a number, got 'x'"):
        NUMBERS.read({"low": "1", "high": "x"})
