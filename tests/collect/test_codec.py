"""Stored bytes: round trips, and nothing that is cut, altered or unknown is taken for something else."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.collect.codec import ReportReader, ReportWriter, kind_of, read
from deniable.collect.reports import Field, Reports, difference, new_id
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MergeError
from deniable_client.texts import label_key, text_fault
from fuzz.files import reheaded

SETTINGS = settings(deadline=None, derandomize=True, max_examples=60)
SMALL = [(name, case) for name, entry in dn.MECHANISMS.items() for case in entry.small]


def make(name: str, **arguments: Any) -> dn.Mechanism:
    return dn.mechanism(name, **({"epsilon": 1.0, "k": 10} | arguments))


def small(kind: str, name: str = "olh") -> bytes:
    """A small file."""
    m = make(name)
    reports = m.privatize([0, 3, 9], rng=dn.simulation(5))
    return dn.dump(reports if kind == "reports" else m.tally(reports))


def changed(path: list[Any], value: object) -> Callable[[dict[str, Any]], None]:
    """Sets header[path[0]][path[1]]... to a value."""

    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


# ---- round trips


@SETTINGS
@given(st.data())
def test_reports_and_tallies_of_any_mechanism_round_trip(data: st.DataObject) -> None:
    name, case = data.draw(st.sampled_from(SMALL))
    m = dn.mechanism(name, **case)
    values = data.draw(st.lists(st.integers(0, m.k - 1), min_size=1, max_size=30))
    reports = m.privatize_items(np.array(values), dn.simulation(data.draw(st.integers(0, 2**32))))
    back = dn.load(dn.dump(reports))
    assert isinstance(back, Reports)
    assert dn.dump(back) == dn.dump(reports)
    assert [back.row(i) for i in range(len(back))] == [reports.row(i) for i in range(len(reports))]
    tally = m.tally(reports)
    assert dn.load(dn.dump(tally)) == tally
    assert dn.from_design(back.design).design == m.design


_TEXTS = st.text(st.characters(exclude_categories=("C", "M", "Zl", "Zp")), min_size=1)
LABELS = st.lists(
    _TEXTS.map(str.lower).filter(lambda text: not text_fault(text)), min_size=2, max_size=8, unique_by=label_key
)


@SETTINGS
@given(LABELS, st.booleans())
def test_labels_of_any_text_round_trip(labels: list[str], marked: bool) -> None:
    m = dn.mechanism("grr", epsilon=1.0, domain=dn.Domain.of(labels, missing=labels[0] if marked else None))
    back = dn.load(dn.dump(m.empty()))
    assert isinstance(back, Tally)
    again = dn.from_design(back.design)
    assert again.domain.labels == tuple(labels)
    assert again.domain == m.domain


@SETTINGS
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=4), st.booleans())
def test_tallies_of_any_integers_round_trip(cells: list[int], simulated: bool) -> None:
    m = make("grr", k=3)
    tally = Tally(m.design, m.bulk.strata, {"n": np.array(cells[:1]), "support": np.array([cells[1:]])}, simulated)
    back = dn.load(dn.dump(tally))
    assert back == tally
    assert back.simulated is simulated


@SETTINGS
@given(st.lists(st.integers(0, 25), min_size=1, max_size=6))
def test_files_written_block_by_block_read_as_one(sizes: list[int]) -> None:
    m = make("oue")
    parts = [m.privatize_items(np.arange(n) % 10, dn.simulation(i)) for i, n in enumerate(sizes)]
    out = io.BytesIO()
    with ReportWriter(out, m.design, m.fields, simulated=True) as writer:
        for part in parts:
            writer.write(part)
    whole = dn.load(out.getvalue())
    assert isinstance(whole, Reports)
    assert len(whole) == sum(sizes)
    assert dn.dump(m.tally(whole)) == dn.dump(m.tally(Reports.concat(parts)))
    reader = read(io.BytesIO(out.getvalue()))
    assert isinstance(reader, ReportReader)
    assert [len(part) for part in reader] == [n for n in sizes if n]


def test_a_stream_that_gives_few_bytes_at_a_time_is_read_whole() -> None:
    class Trickle(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self._inner = io.BytesIO(data)

        def read(self, size: int = -1) -> bytes:
            return self._inner.read(min(size, 3))

    for kind in ("reports", "tally"):
        found = read(Trickle(small(kind)))  # type: ignore[arg-type]
        assert dn.dump(found if isinstance(found, Tally) else Reports.concat(list(found))) == small(kind)


def test_no_reports_have_bytes_too() -> None:
    m = make("oue")
    none = m.privatize([1], rng=dn.simulation(1))[:0]
    back = dn.load(dn.dump(none))
    assert isinstance(back, Reports)
    assert len(back) == 0
    assert m.tally(back).n == 0


# ---- damage


@pytest.mark.parametrize("kind", ["reports", "tally"])
@pytest.mark.parametrize("name", ["olh", "grr", "ss"])
def test_every_file_that_is_cut_short_is_refused(kind: str, name: str) -> None:
    data = small(kind, name)
    for length in range(len(data)):
        with pytest.raises(FormatError, match=r"the file ends inside|start with|magic|the file is empty"):
            dn.load(data[:length])


@pytest.mark.parametrize("kind", ["reports", "tally"])
@pytest.mark.parametrize("name", ["olh", "grr", "ss"])
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_altered_byte_is_refused(kind: str, name: str, flip: int) -> None:
    """Header, payload, check sums, lengths and end mark: no byte of a file is beyond suspicion."""
    data = small(kind, name)
    taken = []
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= flip
        try:
            dn.load(bytes(damaged))
        except FormatError:
            continue
        taken.append(at)
    assert taken == [], f"bytes at {taken} can be altered without notice"


@pytest.mark.parametrize("kind", ["reports", "tally"])
def test_bytes_at_the_end_are_refused(kind: str) -> None:
    with pytest.raises(FormatError, match="there are bytes after"):
        dn.load(small(kind) + b"\0")


@SETTINGS
@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data: bytes) -> None:
    for start in (b"", b"DNRP\x01", b"DNTL\x01"):
        with pytest.raises(FormatError):
            dn.load(start + data)


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(FormatError, match=r"neither reports nor a tally: they start with b'PK"):
        kind_of(b"PK\x03\x04")
    for kind, newest, known in (("reports", 2, "1"), ("tally", 3, "1 and 2")):
        newer = bytearray(small(kind))
        newer[4] = newest
        told = f"this {kind} file has version {newest}, this program reads {known}. Upgrade"
        with pytest.raises(FormatError, match=told):
            dn.load(bytes(newer))
    with pytest.raises(FormatError, match="this is a tally file, a reports file is needed"):
        ReportReader(io.BytesIO(small("tally")))
    with pytest.raises(FormatError, match="only reports and tallies have bytes, got dict"):
        dn.dump({})  # type: ignore[arg-type]


def test_a_header_of_impossible_length_is_refused_before_it_is_read() -> None:
    with pytest.raises(FormatError, match="the header has 4,294,967,295 bytes, at most"):
        dn.load(b"DNRP\x01\xff\xff\xff\xff")


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["design"], None, "the header's 'design' is missing or no dict"),
        (["simulated"], 1, "the header's 'simulated' is missing or no bool"),
        (["fields"], {}, "the header's 'fields' is missing or no list"),
        (["fields"], [["seed"]], "'fields' are not well formed"),
        (["fields", 0, 1], "float", "a report field is an unsigned integer"),
        (["fields", 0, 2], 3, "a report field is an unsigned integer of 1, 2, 4 or 8 bytes"),
        (["fields", 0, 2], 0, "'fields' are not well formed"),
        (["fields", 0, 2], -8, "'fields' are not well formed"),
        (["fields", 0, 2], 4, "the block after report 0 does not match|ends inside"),
        (["id"], 7, "ids of report files are not well formed"),
        (["id"], "A" * 32, "ids of report files are not well formed"),
    ],
)
def test_report_headers_that_do_not_fit_are_refused(path: list[Any], value: object, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        dn.load(reheaded(small("reports"), changed(path, value)))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["design"], [], "the header's 'design' is missing or no dict"),
        (["strata"], "all", "the header's 'strata' is missing or no list"),
        (["cells"], {}, "the header's 'cells' is missing or no list"),
        (["cells"], [["n", "x"]], "'cells' are not well formed"),
        (["cells"], [["n", [-1]]], "'cells' are not well formed"),
        (["cells"], [["n", [2**40]]], "has 1,099,511,627,776 cells"),
        (["cells"], [["n", [1]]], "do not match|does not match|after the tally"),
        (["cells", 0, 0], "m", "a tally needs the cell 'n'"),
        (["strata"], ["a", "b"], "with 2 strata"),
        (["sources"], "0" * 32, "ids of report files are not well formed"),
        (["sources"], ["0" * 31], "ids of report files are not well formed"),
    ],
)
def test_tally_headers_that_do_not_fit_are_refused(path: list[Any], value: object, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        dn.load(reheaded(small("tally"), changed(path, value)))


def test_ids_come_back_and_without_one_the_bytes_are_as_before() -> None:
    reports, own = dn.load(small("reports")), new_id()
    assert isinstance(reports, dn.Reports)
    assert b'"id"' not in dn.dump(reports)
    reader = read(io.BytesIO(dn.dump(reports, id=own)))
    assert isinstance(reader, ReportReader)
    assert (reader.id, list(reader)) == (own, [reports])
    tally = dn.load(small("tally"))
    assert isinstance(tally, dn.Tally)
    one, two = (replace(tally, sources=(source * 32,)) for source in "ab")
    assert b'"sources"' not in dn.dump(tally)
    assert dn.dump(one + two) == dn.dump(two + one)
    assert dn.load(dn.dump(one + two)).sources == ("a" * 32, "b" * 32)  # type: ignore[union-attr]
    with pytest.raises(dn.MergeError, match="would be counted twice"):
        _ = (one + two) + two


def test_headers_that_are_no_object_are_refused() -> None:
    def file(text: bytes) -> bytes:
        return b"DNTL\x01" + struct.pack("<I", len(text)) + text + struct.pack("<I", zlib.crc32(text))

    for text, says in ((b"[]", "not a JSON object"), (b"{", "not a JSON text"), (b"\xff", "not a JSON text")):
        with pytest.raises(FormatError, match=says):
            dn.load(file(text))
    with pytest.raises(FormatError, match="nested"):
        dn.load(file(b"[" * 100_000))


# ---- forged designs


FORGED: list[tuple[list[Any], object]] = [
    (["epsilon"], 0.5),
    (["epsilon"], 2.0),
    (["kernel", "keep"], "9999999999999999999"),
    (["kernel", "g"], "5"),
    (["params", "g"], 5),
    (["domain", "k"], 11),
    (["version"], 2),
    (["mechanism"], "grr"),
    (["mechanism"], "olhh"),
    (["kernel"], {}),
    (["params"], {}),
    (["params"], {"g": 4, "x": 1}),
    (["params"], None),
    (["domain"], {}),
    (["domain"], None),
    (["epsilon"], "1.0"),
    (["epsilon"], None),
    (["comment"], "hello"),
]


@pytest.mark.parametrize(("path", "value"), FORGED, ids=lambda value: str(value))
def test_a_forged_design_is_refused(path: list[Any], value: object) -> None:
    """With its check sum put right the file loads, but no mechanism is made from the design."""
    forged = dn.load(reheaded(small("reports"), changed(["design", *path], value)))
    with pytest.raises(dn.DeniableError) as caught:
        dn.from_design(forged.design)
    assert isinstance(caught.value, FormatError | dn.ParameterError)
    with pytest.raises(MergeError):
        make("olh").tally(forged)  # type: ignore[arg-type]


def test_a_forged_threshold_is_named() -> None:
    forged = dn.load(reheaded(small("reports"), changed(["design", "kernel", "keep"], "9999999999999999999")))
    with pytest.raises(FormatError, match=r"the design does not agree with itself: kernel is .* in one and .*9999999"):
        dn.from_design(forged.design)


def test_reports_with_other_fields_than_their_design_has_are_refused() -> None:
    m = make("grr", k=10)
    reports = m.privatize([1, 2], rng=dn.simulation(1))
    wide = Reports(m.design, (Field("value", "uint", 2),), {"value": reports.columns["value"].astype("<u2")}, True)
    with pytest.raises(FormatError, match="reports of this design have the fields"):
        m.tally(wide)


def test_a_tally_with_other_cells_than_its_design_has_is_refused() -> None:
    m = make("grr", k=10)
    good = m.tally(m.privatize([1, 2], rng=dn.simulation(1)))
    narrow = Tally(m.design, m.bulk.strata, {"n": np.array([2]), "support": np.array([[1, 1]])}, True)
    empty = Tally(m.design, m.bulk.strata, {"n": np.array([2])}, True)
    for bad in (narrow, empty):
        with pytest.raises(FormatError, match="a tally of this design has the cells"):
            m.estimate(bad)
        with pytest.raises(FormatError, match="a tally is damaged"):
            good + bad


# ---- writing


def test_simulated_reports_do_not_hide_in_a_file_of_real_ones() -> None:
    m = make("grr")
    writer = ReportWriter(io.BytesIO(), m.design, m.fields, simulated=False)
    with pytest.raises(MergeError, match="simulated while it is not"):
        writer.write(m.privatize([1], rng=dn.simulation(1)))
    writer.write(m.privatize([1]))
    with pytest.raises(MergeError, match="of another design than the file"):
        writer.write(make("grr", epsilon=2.0).privatize([1]))


def test_a_file_whose_writing_failed_has_no_end_mark() -> None:
    m, out = make("grr"), io.BytesIO()

    def fail_half_way() -> None:
        with ReportWriter(out, m.design, m.fields, simulated=True) as writer:
            writer.write(m.privatize([1], rng=dn.simulation(1)))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with pytest.raises(FormatError, match="the file ends inside"):
        dn.load(out.getvalue())


def test_difference_names_what_differs() -> None:
    one, two = make("grr").design, make("grr", epsilon=2.0).design
    assert difference(one, two) == "epsilon is 1.0 in one and 2.0 in the other", "not also its integers"
    other = {**one, "kernel": {"kind": "another"}}
    assert difference(one, other).startswith("kernel is "), "where nothing else differs"
    assert difference(one, one) == "they are the same"
