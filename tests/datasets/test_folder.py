"""Tables and images from a folder of the user's."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from deniable.datasets.folder import data_folder, read_images, read_table
from deniable.errors import FormatError, ParameterError


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_tables_are_read_by_name(tmp_path: Path, name: str) -> None:
    text = b"a,b,y\n1,2.5,0\n3,-4,1\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    table = read_table(tmp_path / name)
    assert table.names == ("a", "b", "y")
    assert table.column("b").tolist() == [2.5, -4]
    assert table.without("b").tolist() == [[1, 0], [3, 1]]
    with pytest.raises(ParameterError, match="name must be one of a, b, y, got 'z'"):
        table.column("z")


def test_cells_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,two\n")
    with pytest.raises(FormatError, match=r"t\.csv is not a table of numbers"):
        read_table(tmp_path / "t.csv")


def test_images_come_back_and_cut_ones_are_refused(tmp_path: Path) -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    head = b"\x00\x00\x08\x03" + b"".join(size.to_bytes(4, "big") for size in pixels.shape)
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(head + pixels.tobytes()))
    assert (read_images(path) == pixels).all()
    for bad in (head + pixels.tobytes()[:-1], b"", b"\x00\x00\x09\x03" + head[4:] + pixels.tobytes()):
        path.write_bytes(gzip.compress(bad))
        with pytest.raises(FormatError, match="is not a file of bytes in IDX format"):
            read_images(path)


def test_the_folder_is_given_or_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_DATA", raising=False)
    assert data_folder() is None
    monkeypatch.setenv("DENIABLE_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    with pytest.raises(ParameterError, match="data folder must be a folder that exists"):
        data_folder(tmp_path / "none")


def test_files_of_bytes_are_as_long_as_their_head_says(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    sizes = b"\0\0\0\2\0\0\0\3"
    path.write_bytes(gzip.compress(b"\0\0\x08\2" + sizes + bytes(range(6))))
    assert read_images(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    head = b"\0\0\x08\2" + sizes
    for data in (
        head + bytes(5), head + bytes(7), b"\0\0\x09\2" + sizes + bytes(6), b"\0\0\x08\0\0", b"\0\0\x08",
        b"\0\0\x08\4" + sizes * 2 + bytes(36), b"",
    ):  # fmt: skip
        path.write_bytes(gzip.compress(data))
        with pytest.raises(FormatError, match=r"x\.gz is not a file of bytes in IDX format, or is cut off"):
            read_images(path)
