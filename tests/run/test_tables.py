"""Tables of reports: they come back as they were, count as report files do, and what does not count is named."""

from __future__ import annotations

import json
from base64 import b64encode

import numpy as np
import pytest

import deniable as dn
from deniable.collect.parquet import LAYOUTS, TableReader, TableWriter, fingerprint, metadata_of, write_table
from deniable.run.counting import Counting, head_of
from deniable.run.local import count_files, privatize_file, tally_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
GRR = dn.mechanism("grr", epsilon=1.0, k=10)
IDS = [f"{i:032x}" for i in range(9)]


def reports_of(m, n=500):
    return m.privatize_items(np.arange(n) % m.k)


def table(path, m=GRR, layout="packed", id=IDS[0], n=500):
    reports = reports_of(m, n)
    write_table(str(path), head_of(m, id=id), [reports[: n // 3], reports[n // 3 :]], layout=layout)
    return reports


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["grr", "oue", "olh", "uss", "kv-ss2", "sw"])
def test_tables_count_as_their_reports_do(tmp_path, name, layout):
    m = dn.mechanism(name, **dn.MECHANISMS[name].small[0])
    reports = table(tmp_path / "r.parquet", m, layout)
    assert TableReader(str(tmp_path / "r.parquet")).head == head_of(m, id=IDS[0])
    counted = count_files([str(tmp_path)])
    assert dict(counted.skipped) == {}
    assert counted.tally == m.tally(reports)
    assert counted.tally.sources == (IDS[0],)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_parts_of_a_table_begin_where_the_one_before_ends(tmp_path, layout, form, monkeypatch):
    """Rows are named in errors by their place in the whole file, however it is cut into parts."""
    monkeypatch.setattr("deniable.collect.parquet._GROUP_ROWS", 100)
    monkeypatch.setattr("deniable.collect.parquet._GROUP_BLOCKS", 2)
    monkeypatch.setattr("deniable.collect.parquet.BLOCK_BYTES", 50)
    path = tmp_path / f"r.{form}"
    write_table(str(tmp_path / "r.parquet"), head_of(GRR), [reports_of(GRR, 120)] * 3, layout=layout)
    if form == "arrow":
        held = pq.read_table(tmp_path / "r.parquet")
        with pa.ipc.new_file(str(path), held.schema) as out:
            out.write_table(held, max_chunksize=70)
    reader, start = TableReader(str(path)), 0
    assert reader.groups > 1
    for group in range(reader.groups):
        assert reader.first_row(group) == start
        start += sum(batch.num_rows for batch in reader.batches(group, reader.schema.names, 7))
    assert reader.rows == start


def test_a_design_that_is_given_must_be_that_of_the_table(tmp_path):
    """Reports of another epsilon look alike: what the table says of itself counts."""
    path, other = tmp_path / "r.parquet", GRR.at(GRR.epsilon + 1)
    table(path)
    assert TableReader(str(path), head_of(GRR)).head == head_of(GRR, id=IDS[0])
    assert other.fields == GRR.fields
    with pytest.raises(dn.FormatError, match="has reports of another design than the one given"):
        _ = TableReader(str(path), head_of(other)).head


def test_a_copy_is_refused_and_a_pattern_reads_all(tmp_path):
    one, two = table(tmp_path / "a.parquet", id=IDS[0]), table(tmp_path / "b.parquet", layout="rows", id=IDS[1])
    assert count_files([str(tmp_path / "*.parquet")]).tally == GRR.tally(one + two)
    (tmp_path / "c.parquet").write_bytes((tmp_path / "a.parquet").read_bytes())
    with pytest.raises(dn.MergeError, match="counted already"):
        count_files([str(tmp_path)])


def test_what_does_not_count_is_named(tmp_path):
    good, path = bytes([3]), tmp_path / "r.parquet"
    rows = [good, None, b"\x01\x02", bytes([10]), good]
    schema = pa.schema([("report", pa.binary())], metadata=TableReader(made(tmp_path)).schema.metadata)
    pq.write_table(pa.table([rows], schema=schema), path)
    counted = count_files([str(path)])
    assert counted.tally.n == 2
    assert counted.skipped == {"impossible": 1, "length": 1, "null": 1}
    assert counted.places["null"] == f"{path}, row 2"
    assert counted.places["impossible"] == f"{path}, row 4"
    with pytest.raises(dn.FormatError, match="row 2: the report is missing"):
        tally_files([str(path)])


def made(tmp_path):
    path = tmp_path.parent / f"{tmp_path.name}-made.parquet"
    table(path)
    return str(path)


def test_a_damaged_block_is_named(tmp_path):
    held = pq.read_table(made(tmp_path))
    block = bytearray(held.column("payload")[0].as_py())
    block[7] ^= 1
    path = str(tmp_path / "r.parquet")
    pq.write_table(held.set_column(0, "payload", pa.array([bytes(block)])), path)
    counted = count_files([path])
    assert (counted.tally.n, dict(counted.skipped)) == (0, {"damaged": 500})


def test_reports_of_another_design(tmp_path):
    table(tmp_path / "a.parquet")
    table(tmp_path / "b.parquet", dn.mechanism("grr", epsilon=2.0, k=10), id=IDS[1], n=70)
    counted = count_files([str(tmp_path)])
    assert (counted.tally.n, dict(counted.skipped)) == (500, {"design": 70})
    assert "epsilon is 1.0 in one and 2.0 in the other" in counted.places["design"]
    with pytest.raises(dn.MergeError, match="another design"):
        count_files([str(tmp_path)], strict=True)
    own, other = fingerprint(GRR.design), "0" * 32
    counting = Counting(GRR)
    counting.add(pa.record_batch({"report": [b"\x01"] * 4, "design": [own, other, None, own]}))
    assert (counting.result().tally.n, counting.result().skipped) == (2, {"design": 2})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_simulated_reports_go_only_into_tables_that_say_so(tmp_path, layout):
    """Nobody takes them for real ones; what is refused is not in the table, and what comes after it is."""
    made = GRR.privatize_items(np.arange(7) % GRR.k, rng=dn.simulation(1))
    for marked in (False, True):
        path = str(tmp_path / f"{marked}.parquet")
        with TableWriter(path, head_of(GRR, simulated=marked), layout=layout) as table:
            table.write(reports_of(GRR, 5))
            if marked:
                table.write(made)
            else:
                with pytest.raises(dn.MergeError, match="simulated while it is not"):
                    table.write(made)
            with pytest.raises(dn.MergeError, match="of another design than the file"):
                table.write(reports_of(dn.mechanism("grr", epsilon=2.0, k=10), 3))
            table.write(reports_of(GRR, 4))
            assert table.total == 9 + 7 * marked
        counted = count_files([path]).tally
        assert (counted.n, counted.simulated) == (9 + 7 * marked, marked)


def test_text_needs_a_design(tmp_path):
    reports, path = reports_of(GRR, 50), tmp_path / "r.csv"
    path.write_text("report\n" + "".join(b64encode(reports.row(i)).decode() + "\n" for i in range(50)))
    with pytest.raises(dn.FormatError, match="does not say of which design"):
        count_files([str(path)])
    assert count_files([str(path)], design=GRR.design).tally == GRR.tally(reports)


def test_report_and_tally_files_are_known_by_what_they_hold_whatever_their_names_end_in(tmp_path):
    reports = reports_of(GRR, 50)
    for what, name in ((reports, "r.csv"), (GRR.tally(reports), "t.tsv")):
        path = dn.save(what, tmp_path / name)
        assert count_files([str(path)]).tally == GRR.tally(reports)


def test_values_of_arrow_files_and_folders(tmp_path):
    folder = tmp_path / "values"
    folder.mkdir()
    values = pa.table({"answer": [1, 2, 3] * 40})
    with pa.OSFile(str(folder / "a.arrow"), "wb") as out, pa.ipc.new_file(out, values.schema) as writer:
        writer.write_table(values)
    pq.write_table(values, folder / "b.parquet")
    (folder / "c.csv").write_text("answer\n1\n2\n")
    (folder / "_SUCCESS").write_text("not data")
    out = str(tmp_path / "r.parquet")
    assert privatize_file(GRR, str(folder), out, column="answer", layout="rows") == 242
    assert tally_files([out]).n == 242
    with pytest.raises(dn.ParameterError, match="this one holds reports"):
        privatize_file(GRR, out, str(tmp_path / "again.parquet"))


def test_a_header_that_is_not_ours_is_refused(tmp_path):
    known = json.loads(TableReader(made(tmp_path)).schema.metadata[b"deniable"])
    for change in ({"version": 2}, {"fields": [["value", "uint", 3]]}, {"design": None}):
        schema = pa.schema([("report", pa.binary())], metadata={"deniable": json.dumps(known | change)})
        path = str(tmp_path / "r.parquet")
        pq.write_table(pa.table([[b"\x01"]], schema=schema), path)
        with pytest.raises(dn.FormatError):
            count_files([path])


def test_parts_of_one_folder_count_once_each_and_a_copy_of_the_folder_does_not(tmp_path):
    """Files that were written together share an id: the same one in another folder is a copy."""
    whole = reports_of(GRR, 300)
    for folder in ("first", "copy"):
        (tmp_path / folder).mkdir()
        for number in range(3):
            path = str(tmp_path / folder / f"{number}.parquet")
            write_table(path, head_of(GRR, id=IDS[0]), [whole[100 * number : 100 * (number + 1)]])
            found = pq.read_table(path)
            ((name, _),) = [each for each in found.schema.metadata.items() if b'"design"' in each[1]]
            pq.write_table(
                found.replace_schema_metadata({name: metadata_of(head_of(GRR, id=IDS[0]), parts=True)}), path
            )
    assert count_files([str(tmp_path / "first")]).tally.n == 300
    with pytest.raises(dn.MergeError, match="counted already"):
        count_files([str(tmp_path / "first"), str(tmp_path / "copy")])


def test_files_from_a_seed_repeat_byte_for_byte_and_others_do_not(tmp_path):
    (tmp_path / "values").write_text("1\n2\n" * 50)
    made = []
    for number, rng in enumerate((dn.simulation(1), dn.simulation(1), None, None)):
        privatize_file(GRR, str(tmp_path / "values"), str(tmp_path / f"{number}.bin"), format="lines", rng=rng)
        made.append((tmp_path / f"{number}.bin").read_bytes())
    assert made[0] == made[1]
    assert made[2] != made[3]


def test_rows_of_one_person_stay_together_and_parts_of_files_in_their_order():
    """What executors of Spark do, without it: batches end where a person does, tasks hold neighbours."""
    tasks = pytest.importorskip("deniable.run.spark.tasks")
    parts = pytest.importorskip("deniable.run.spark.parts")
    users = ["a", "a", "b", "b", "b", "c", "c"]
    batches = [pa.record_batch({"user": users[i : i + 3], "n": list(range(i, min(i + 3, 7)))}) for i in (0, 3, 6)]
    found = [table.column("user").to_pylist() for table in tasks._whole_people(batches, "user")]
    assert found == [["a", "a"], ["b", "b", "b"], ["c", "c"]]
    for sizes, count in (([1.0, 1.0, 0.0], 2), ([5.0, 1.0, 1.0, 1.0], 3), ([1.0] * 7, 3)):
        shares = parts._shares(list(range(len(sizes))), sizes, count)
        assert [each for share in shares for each in share] == list(range(len(sizes)))
        assert 1 <= len(shares) <= count
