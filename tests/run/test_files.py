"""Reading values lazily, and outputs that appear whole or not at all."""

from __future__ import annotations

import io
import os
import sys

import numpy as np
import pytest

from deniable.core.domain import Domain
from deniable.errors import FormatError, ParameterError
from deniable.run import files
from deniable.run.files import encode, open_output, read_labels, read_values, regular_size
from deniable.run.sources import files_of


class Endless(io.RawIOBase):
    """Lines without end."""

    def readable(self):
        return True

    def readinto(self, buffer):
        size = len(buffer) // 2 * 2
        buffer[:size] = b"1\n" * (size // 2)
        return size


def test_reading_is_lazy(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    chunks = read_values("-", 1000)
    for number in range(3):
        chunk = next(chunks)
        assert len(chunk.cells) == 1000
        assert chunk.place(0) == f"standard input, line {1000 * number + 1}"
    chunks.close()
    assert sys.stdin.buffer.read(2) is not None  # still open


def test_chunks_have_the_wanted_size(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("a,b\n" + "".join(f"{i},x\n" for i in range(10)))
    seen = []
    chunks = list(read_values(str(path), 4, column="a", progress=lambda *args: seen.append(args)))
    assert [chunk.cells for chunk in chunks] == [("0", "1", "2", "3"), ("4", "5", "6", "7"), ("8", "9")]
    assert chunks[2].place(1) == f"{path}, line 11"
    assert len(seen) == 3
    assert all(total == path.stat().st_size for _, total in seen)


def test_parquet_cells_keep_their_types(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = str(tmp_path / "v.parquet")
    parquet.write_table(arrow.table({"a": arrow.array([2, None, 0], arrow.int8()), "b": [1.0, 2.0, 3.0]}), path)
    (chunk,) = read_values(path, 10, column="a")
    assert list(chunk.cells) == [2, None, 0]
    with pytest.raises(ParameterError, match="row 2: the value is missing"):
        encode(Domain.of(3), chunk)
    (floats,) = read_values(path, 10, column="b")
    with pytest.raises(ParameterError, match=r"row 1: values must be whole numbers from 0 to 2, got 1\.0\."):
        encode(Domain.of(3), floats)
    labels = Domain.of(["0", "1", "2", "-"], missing="-")
    assert encode(labels, chunk).tolist() == [2, 3, 0]


@pytest.mark.parametrize("text", ["1_0", "0x1", "1e0", "½", "٣", "", "1 2", "9" * 40])
def test_whole_numbers_are_not_guessed(tmp_path, text):
    (tmp_path / "v.csv").write_text(f"a\n{text}\n", "utf-8")
    (chunk,) = read_values(str(tmp_path / "v.csv"), 10)
    with pytest.raises(ParameterError, match="line 2"):
        encode(Domain.of(20), chunk)


def test_spaces_and_signs_of_whole_numbers_are_fine(tmp_path):
    (tmp_path / "v.txt").write_text(" 1\n+2 \n-0\n007\n")
    (chunk,) = read_values(str(tmp_path / "v.txt"), 10)
    assert encode(Domain.of(8), chunk).tolist() == [1, 2, 0, 7]


@pytest.mark.parametrize("bad", range(0, 40, 13))
def test_the_first_bad_value_is_named(tmp_path, bad):
    values = ["a"] * 40
    values[bad] = "b"
    values[39] = "c"
    (tmp_path / "v.txt").write_text("\n".join(values))
    (chunk,) = read_values(str(tmp_path / "v.txt"), 100)
    expected = "c" if bad == 39 else "b"
    with pytest.raises(ParameterError, match=f"line {bad + 1}: .* got '{expected}'"):
        encode(Domain.of(["a", "x"]), chunk)


def test_labels_of_a_file_keep_their_spaces(tmp_path):
    (tmp_path / "l").write_text(" a \nb\r\n", newline="")
    assert read_labels(str(tmp_path / "l")) == [" a ", "b"]


def test_output_appears_when_all_is_written(tmp_path):
    path = tmp_path / "x"
    with open_output(str(path)) as out:
        out.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_output_does_not_appear_after_an_error(tmp_path, error):
    def write():
        with open_output(str(tmp_path / "x")) as out:
            out.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert os.listdir(tmp_path) == []


def test_devices_pipes_and_links_are_written_not_replaced(tmp_path):
    with open_output(os.devnull) as out:
        out.write(b"gone")
    assert not os.path.isfile(os.devnull)
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with open_output(str(tmp_path / "link")) as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_sizes_are_known_of_files_only(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert regular_size(str(tmp_path / "x")) == 5
    assert [regular_size(name) for name in ("-", os.devnull, str(tmp_path / "gone"), str(tmp_path))] == [None] * 4


def test_a_parquet_file_that_is_none(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + bytes(20) + b"PAR1")
    chunks = read_values(str(tmp_path / "x.parquet"), 10)
    with pytest.raises(FormatError, match="is not in the Parquet format, or damaged"):
        next(chunks)


def test_encoding_is_the_domains(tmp_path):
    rng = np.arange(1000) * 7 % 5
    (tmp_path / "v.txt").write_text("\n".join(f"l{i}" for i in rng))
    domain = Domain.of([f"l{i}" for i in range(5)])
    codes = [encode(domain, chunk) for chunk in read_values(str(tmp_path / "v.txt"), 64)]
    assert (np.concatenate(codes) == rng).all()


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2"],
        ["007", "0"],
        ["9" * 18, "1"],
        ["9" * 19, "1"],
        ["1", " 2"],
        ["+1", "-2"],
        ["1", "x"],
        ["1", ""],
        ["1", "1_0"],
        ["1", "\u0663"],
        ["1", "2\u00b2"],
    ],
)
def test_numbers_read_at_once_are_those_read_one_by_one(cells):
    assert list(files._numbers(tuple(cells))) == list(files._numbers(list(cells)))


def test_parquet_chunks_do_not_depend_on_row_groups(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    values = [int(v) for v in np.arange(100) ** 2 % 7]
    values[60] = None
    seen = set()
    for groups in (1, 7, 30, 200):
        path = str(tmp_path / f"{groups}.parquet")
        parquet.write_table(arrow.table({"a": values}), path, row_group_size=groups)
        chunks = list(read_values(path, 30))
        assert [len(chunk.cells) for chunk in chunks] == [30, 30, 30, 10]
        assert chunks[2].place(0) == f"{path}, row 61"
        with pytest.raises(ParameterError, match="row 61: the value is missing"):
            encode(Domain.of(7), chunks[2])
        with pytest.raises(ParameterError, match=r"row 94: values must be whole numbers from 0 to 1, got 4\."):
            encode(Domain.of(2), chunks[3])
        seen.add(tuple(cell for chunk in chunks for cell in chunk.cells))
    assert seen == {tuple(values)}


def test_lines_of_quoted_cells_are_counted(tmp_path):
    (tmp_path / "v.csv").write_text('a,b\n1,"x\ny"\n2,z\n3\n')
    with pytest.raises(FormatError, match=r"line 5: the row has 1 cell, the header has 2\."):
        list(read_values(str(tmp_path / "v.csv"), 10, column="a"))
    chunk = next(read_values(str(tmp_path / "v.csv"), 2, column="a"))
    assert [chunk.place(i).rpartition(" ")[2] for i in range(2)] == ["2", "4"]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_columns_of_a_table_are_whole_however_its_batches_and_the_parts_fall(tmp_path, kind):
    """Nothing is lost or comes twice at the ends of parts and batches, a last part of one row too."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    for rows in (1, 6, 7):
        table = arrow.table({"a": list(range(rows)), "b": [f"x{i}" for i in range(rows)]})
        for batch in (1, 2, 4):
            path = tmp_path / f"{rows}-{batch}.{'parquet' if kind == 'parquet' else 'arrow'}"
            if kind == "parquet":
                parquet.write_table(table, path, row_group_size=batch)
            else:
                with (ipc.new_file if kind == "arrow" else ipc.new_stream)(str(path), table.schema) as out:
                    out.write_table(table, max_chunksize=batch)
            for size in (1, 3, 7, 8):
                parts = list(files.read_columns(str(path), size, ("b", "a")))
                assert [len(part[0].cells) for part in parts] == [size] * (rows // size) + [rows % size] * (
                    rows % size > 0
                )
                assert [cell for _, part in parts for cell in part.cells] == list(range(rows))
                assert [cell for part, _ in parts for cell in part.cells] == [f"x{i}" for i in range(rows)]
                assert [part.place(0) for part, _ in parts][-1].endswith(
                    f"row {(rows - 1) // size * size + 1}, column 'b'"
                )


def test_names_that_are_not_data_are_left_out_of_a_folder_and_progress_goes_on_from_file_to_file(tmp_path):
    for name in ("a.txt", "b.txt", "sub/c.txt", "_SUCCESS.txt", ".hidden.txt", "_logs/d.txt", ".git/e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("one\ntwo\n" if name.strip("./").startswith(("a", "b", "sub")) else "no data\n")
    seen: list[tuple[int, int]] = []
    chunks = list(read_values(str(tmp_path), 1, progress=lambda *told: seen.append(told)))
    assert [cell for chunk in chunks for cell in chunk.cells] == ["one", "two"] * 3
    assert seen == sorted(seen)
    assert seen[-1] == (24, 24)


@pytest.mark.parametrize("above", [".cache/x", "_in", "a/.b/_c"])
def test_a_folder_has_its_files_whatever_the_folders_above_it_are_called(tmp_path, monkeypatch, above):
    """Only names in it and below it say what is no data; however the folder itself is named."""
    folder = tmp_path / above
    for name in ("a.txt", "sub/b.txt", ".git/c.txt", "_logs/d.txt", "sub/_e.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("one\n")
    monkeypatch.chdir(folder)
    for given in (str(folder), f"{folder}/", ".", f"../{folder.name}"):
        found = [os.path.relpath(path, folder) for path in files_of(given)]
        assert found == ["a.txt", os.path.join("sub", "b.txt")]
