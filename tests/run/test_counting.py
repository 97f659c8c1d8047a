"""What lies in batches is counted by groups, and what is not counted has its number, its reason and its place."""

from __future__ import annotations

import io
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import block_of
from deniable.collect.parquet import fingerprint
from deniable.run.columnar import _regroup, table_parts
from deniable.run.counting import REASONS, Counted, Counting, groups_of, head_of, skipped_text

pa = pytest.importorskip("pyarrow")
GRR = dn.mechanism("grr", epsilon=1.0, k=10)
OTHER = dn.mechanism("grr", epsilon=2.0, k=10)
THIRD = dn.mechanism("grr", epsilon=3.0, k=10)


def support(counted: Counted) -> list[int]:
    """How often each value was reported."""
    found: list[int] = counted.tally.cells["support"][0].tolist()
    return found


def one_each(values: Sequence[int]) -> list[int]:
    """The same, by counting."""
    seen = Counter(values)
    return [seen[i] for i in range(10)]


def rows(values: Sequence[int | None]) -> Any:
    return pa.array([None if x is None else bytes([x]) for x in values], pa.binary())


def test_groups_of_two_columns_are_told_apart() -> None:
    """All combinations of texts and of numbers, missing ones too, in any order of rows."""
    keys = list(product(["b", None, "a", "c"], [3, None, 1, 2, 0]))
    order = np.random.Generator(np.random.PCG64(1)).permutation(3 * len(keys))
    given = [keys[i % len(keys)] for i in order]
    batch = pa.record_batch({"x": [x for x, _ in given], "y": [y for _, y in given], "at": list(range(len(given)))})
    found = {key: (at.tolist(), part.column("at").to_pylist()) for key, at, part in groups_of(batch, ["x", "y"])}
    wanted = {key: [i for i, own in enumerate(given) if own == key] for key in keys}
    assert found == {key: (at, at) for key, at in wanted.items()}


def test_no_rows_are_no_group_and_no_columns_are_one() -> None:
    batch = pa.record_batch({"x": [1, 2]})
    assert list(groups_of(batch.slice(0, 0), ["x"])) == []
    ((key, at, part),) = groups_of(batch, [])
    assert (key, at.tolist(), part.num_rows) == ((), [0, 1], 2)


def test_a_batch_that_begins_in_the_middle_of_its_memory_is_counted_from_there() -> None:
    values = [3, 1, None, 4, 1, 5, 9, 2]
    for start, kind in product(range(8), (pa.binary(), pa.large_binary(), pa.binary(1))):
        counting = Counting(GRR)
        counting.add(pa.record_batch({"report": rows(values).cast(kind)}).slice(start, 3))
        part = values[start : start + 3]
        assert support(counting.result()) == one_each([x for x in part if x is not None])
        assert counting.result().skipped == ({"null": 1} if None in part else {})


def test_each_reason_has_its_number_and_its_first_place_by_group() -> None:
    """Two batches, two groups: places are those of the first batch that had such a row."""
    good, long, wrong = b"\x03", b"\x03\x03", b"\x0a"
    one = pa.record_batch({"day": ["a", "b", "a", "b", "a"], "report": [good, None, long, wrong, None]})
    two = pa.record_batch({"day": ["b", "a", "a", "b"], "report": [None, long, wrong, good]})
    counting = Counting(GRR, ["day"])
    counting.add(one, "one {}".format)
    counting.add(two, "two {}".format)
    a, b = counting.result(("a",)), counting.result(("b",))
    assert (a.reports, dict(a.skipped)) == (1, {"impossible": 1, "length": 2, "null": 1})
    assert dict(a.places) == {"null": "one 4", "length": "one 2", "impossible": "two 2"}
    assert (b.reports, dict(b.skipped)) == (1, {"impossible": 1, "null": 2})
    assert dict(b.places) == {"null": "one 1", "impossible": "one 3"}
    assert (a + b).skipped == {"impossible": 2, "length": 2, "null": 3}
    assert list((b + a).skipped) == ["impossible", "length", "null"]
    assert (b + a).places == {"null": "one 1", "impossible": "one 3", "length": "one 2"}
    assert counting.result(("c",)).reports == 0


def test_what_is_not_counted_is_told_in_words() -> None:
    assert skipped_text(Counted(GRR.empty())) == ""
    counted = Counted(GRR.empty(), {"null": 1200, "design": 1}, {"null": "row 7"})
    assert skipped_text(counted) == "not counted: 1,200 missing (first: row 7); 1 of another design"
    assert {*REASONS} == {"null", "length", "impossible", "damaged", "design"}


def test_with_strict_the_first_row_that_does_not_count_is_an_error_at_its_place() -> None:
    for report, told in (
        (None, "row 1: the report is missing."),
        (b"\x01\x01", "row 1: this is a report of another length"),
        (b"\x0a", "row 1: this is a report that no device can have sent"),
    ):
        with pytest.raises(dn.FormatError, match=told):
            Counting(GRR, strict=True).add(pa.record_batch({"report": [b"\x01", report, report]}))


# ---- several designs


def test_rows_of_another_design_are_left_out_by_its_name() -> None:
    names = [fingerprint(m.design) for m in (GRR, OTHER)]
    batch = pa.record_batch({"report": rows([1, 2, 3, 4]), "design": [names[0], names[1], None, names[0]]})
    counting = Counting(GRR)
    counting.add(batch)
    found = counting.result()
    assert support(found) == one_each([1, 4])
    assert (dict(found.skipped), dict(found.places)) == ({"design": 2}, {"design": "row 1"})


def test_designs_go_by_the_values_of_a_column() -> None:
    """Each is told by its own fingerprint, whichever was asked for first, in every batch."""
    made = {"a": GRR, "b": OTHER, "c": THIRD}
    prints = {name: fingerprint(m.design) for name, m in made.items()}
    tasks = ["a", "b", "c", "b", "a", "c"]
    batch = pa.record_batch(
        {"task": tasks, "report": rows([1, 2, 3, 4, 5, 6]), "design": [prints[task] for task in tasks]}
    )
    counting = Counting(made, ["task"])
    counting.add(batch)
    counting.add(batch)
    for name, own in (("a", [1, 5]), ("b", [2, 4]), ("c", [3, 6])):
        found = counting.result((name,))
        assert found.tally.design == made[name].design
        assert support(found) == one_each(own * 2)
        assert found.skipped == {}
    with pytest.raises(dn.ParameterError, match="there is no design for 'd'"):
        counting.result(("d",))
    odd = pa.record_batch({"task": ["a", "d", "d"], "report": rows([1, 2, 3])})
    with pytest.raises(dn.ParameterError, match=r"row 1: there is no design for task = 'd' \(2 rows\)"):
        counting.add(odd)
    for by in ([], ["task", "day"]):
        with pytest.raises(dn.ParameterError, match="by must be one column, where designs go by its values"):
            Counting(made, by)


def test_columns_that_are_not_there_are_named() -> None:
    batch = pa.record_batch({"report": rows([1])})
    with pytest.raises(dn.ParameterError, match="by must be one of the columns report"):
        Counting(GRR, ["day"]).add(batch)
    with pytest.raises(dn.ParameterError, match="column must be one of report"):
        Counting(GRR, column="other").add(batch)
    with pytest.raises(dn.ParameterError, match="reports must be a column of bytes, or of text in base64, got int64"):
        Counting(GRR).add(pa.record_batch({"report": [1, 2]}))


def test_texts_are_read_as_base64_and_others_have_a_wrong_length() -> None:
    texts = [b64encode(b"\x03").decode(), "", None, "!!", b64encode(b"\x04\x05").decode(), "Aw"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        counting = Counting(GRR)
        counting.add(pa.record_batch({"report": pa.array(texts, kind)}))
        found = counting.result()
        assert support(found) == one_each([3])
        assert (dict(found.skipped), found.places["null"]) == ({"null": 2, "length": 3}, "row 1")


# ---- packed blocks


def _packed(blocks: Sequence[tuple[int | None, int | None, bytes | None]], **more: Any) -> Any:
    n, crc, payload = (list(column) for column in zip(*blocks, strict=True))
    kinds = {"n": pa.array(n, pa.int32()), "crc": pa.array(crc, pa.int64()), "payload": pa.array(payload, pa.binary())}
    return pa.record_batch(kinds | more)


def test_blocks_are_counted_whole_or_not_at_all() -> None:
    """A damaged block counts as what its bytes would hold, one of a wrong length as what it claims."""
    reports = GRR.privatize_items(np.array([1, 2, 3] * 10), dn.simulation(1))
    good, wide = block_of(reports), dn.mechanism("oue", epsilon=1.0, k=20)
    held = block_of(wide.privatize_items(np.zeros(5, np.int64), dn.simulation(1)))
    crc = zlib.crc32(good)
    counting = Counting(GRR)
    blocks = [(30, crc, good), (30, crc + 1, good), (29, crc, good), (None, crc, good), (30, None, good)]
    counting.add(_packed([*blocks, (30, crc, None), (0, crc, good), (0, zlib.crc32(b""), b""), (-1, crc, good)]))
    found = counting.result()
    assert found.tally.cells["support"].tolist() == GRR.tally(reports).cells["support"].tolist()
    assert dict(found.skipped) == {"damaged": 30 + 30 + 1 + 30, "length": 29, "null": 3}
    assert dict(found.places) == {"damaged": "row 1", "length": "row 2", "null": "row 3"}
    width = wide.bulk.row_bytes
    assert width == 3
    other = Counting(wide)
    other.add(_packed([(5, 1 + zlib.crc32(held), held), (5, zlib.crc32(held), held)]))
    assert (other.result().reports, dict(other.result().skipped)) == (5, {"damaged": 5})


def test_blocks_of_another_design_count_as_the_reports_in_them() -> None:
    reports = GRR.privatize_items(np.arange(8), dn.simulation(1))
    good = block_of(reports)
    names = pa.array([fingerprint(OTHER.design), fingerprint(GRR.design), None])
    counting = Counting(GRR)
    counting.add(_packed([(8, zlib.crc32(good), good)] * 2 + [(None, zlib.crc32(good), good)], design=names))
    found = counting.result()
    assert (found.reports, dict(found.skipped), found.places["design"]) == (8, {"design": 8 + 1}, "row 0")


def test_what_no_device_can_send_is_found_in_the_middle_of_a_block() -> None:
    for bad in ([0], [7], [3], [2, 3], [0, 4, 7], list(range(8))):
        values = [10 if i in bad else i for i in range(8)]
        block = bytes(values)
        for keep in (False, True):
            counting = Counting(GRR, keep=keep)
            counting.add(_packed([(8, zlib.crc32(block), block)]))
            found, good = counting.result(), [x for x in values if x < 10]
            assert support(found) == one_each(good)
            assert found.skipped == {"impossible": len(bad)}
            kept = [x for part in counting.kept for x in part.columns["value"].tolist()]
            assert kept == (good if keep else [])


def test_the_mark_of_simulated_reports_goes_with_all_that_is_counted() -> None:
    for mark in (False, True):
        counting = Counting(GRR, simulated=mark, keep=True)
        assert counting.result().tally.simulated == mark
        counting.add(pa.record_batch({"report": rows([1, 10, 2])}))
        assert counting.result().tally.simulated == mark
        assert [part.simulated for part in counting.kept] == [mark]
        assert head_of(GRR, simulated=mark, id="0" * 32).simulated == mark


# ---- columns of files, some rows at a time


def test_parts_have_the_wanted_size_however_batches_are_cut() -> None:
    for sizes, size in product(([], [0], [1], [5], [2, 2], [3, 0, 4], [10, 1], [1, 1, 1, 1]), (1, 2, 3, 4, 5)):
        cuts = np.cumsum([0, *sizes])

        def batches(cuts: Any = cuts) -> Iterator[list[Any]]:
            yield from ([np.arange(a, b), -np.arange(a, b)] for a, b in pairwise(cuts))

        parts, total = list(_regroup(batches(), size)), sum(sizes)
        assert [len(one) for one, _ in parts] == [min(size, total - at) for at in range(0, total, size)]
        assert [x for one, _ in parts for x in one.tolist()] == list(range(total))
        assert all((two == -one).all() for one, two in parts)


@pytest.mark.parametrize("kind", ["parquet", "file", "stream"])
def test_columns_are_picked_by_name_and_keep_their_kinds(kind: str) -> None:
    table = pa.table({"a": [1, 2, 3], "b": pa.array([1, None, 3], pa.int8()), "c": ["x", None, "z"]})
    stream = io.BytesIO()
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, stream)
    else:
        with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(stream, table.schema) as out:
            out.write_table(table, max_chunksize=2)
    stream.seek(0)
    seen: list[list[str]] = []

    def pick(names: Sequence[str]) -> list[str]:
        seen.append(list(names))
        return ["c", "b", "a"]

    form = "parquet" if kind == "parquet" else "arrow"
    parts = list(table_parts(stream, "S", form, 2, pick))
    assert seen == [["a", "b", "c"]]
    assert [total for _, total in parts] == [3 if kind == "parquet" else None] * 2
    cells = [[x for columns, _ in parts for x in columns[i].tolist()] for i in range(3)]
    assert cells == [["x", None, "z"], [1, None, 3], [1, 2, 3]]
    assert [columns[2].dtype for columns, _ in parts] == [np.dtype(np.int64)] * 2
    assert all(isinstance(x, int | None) for x in cells[1])
    with pytest.raises(dn.FormatError, match=f"S is not in the {form.title()} format, or damaged"):
        list(table_parts(io.BytesIO(stream.getvalue()[:40]), "S", form, 2, pick))
