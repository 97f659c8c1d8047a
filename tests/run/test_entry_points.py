"""What people hand in, of whatever library, at every door: the right counts, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.errors import ParameterError
from deniable.run.local import privatize_file, tally_files

pd = pytest.importorskip("pandas", reason="pandas is in the extra test")
duckdb = pytest.importorskip("duckdb", reason="duckdb is in the extra test")

LABELS = ["1", "2", "3", "not said"]
PLAIN = [1, None, 3, 3, 2, None]
TEXT = [None if v is None else str(v) for v in PLAIN]
COUNTS = [1, 1, 2, 2]
NOTHING = float("nan")


def frame(**more: Any) -> dict[str, Any]:
    return {"answer": TEXT, "age": [30, 31, 32, 33, 34, 35], **more}


def relation() -> Any:
    return duckdb.connect().from_arrow(pa.table(frame()))


SERIES: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXT,
    "list of numbers": lambda: PLAIN,
    "tuple": lambda: tuple(TEXT),
    "generator": lambda: (v for v in TEXT),
    "list with NaN": lambda: [NOTHING if v is None else v for v in PLAIN],
    "list with NA": lambda: [pd.NA if v is None else v for v in PLAIN],
    "array of objects": lambda: np.array(TEXT, object),
    "array of floats": lambda: np.array([np.nan if v is None else v for v in PLAIN]),
    "masked array": lambda: np.ma.masked_equal([v or 0 for v in PLAIN], 0),
    "pandas object": lambda: pd.Series(TEXT, dtype=object),
    "pandas float64": lambda: pd.Series(PLAIN, dtype="float64"),
    "pandas Int64": lambda: pd.Series(PLAIN, dtype="Int64"),
    "pandas Float64": lambda: pd.Series(PLAIN, dtype="Float64"),
    "pandas string": lambda: pd.Series(TEXT, dtype="string"),
    "pandas string of Arrow": lambda: pd.Series(TEXT, dtype="string[pyarrow]"),
    "pandas integers of Arrow": lambda: pd.Series(PLAIN, dtype="int64[pyarrow]"),
    "pandas category": lambda: pd.Series(TEXT, dtype="category"),
    "pandas index": lambda: pd.Index(TEXT),
    "pandas array": lambda: pd.array(PLAIN, dtype="Int64"),
    "pandas to_numpy": lambda: pd.Series(PLAIN, dtype="Int64").to_numpy(),
    "pandas, other index": lambda: pd.Series(TEXT, index=[5, 4, 3, 2, 1, 0]),
    "polars String": lambda: pl.Series(TEXT),
    "polars Int64": lambda: pl.Series(PLAIN),
    "polars Categorical": lambda: pl.Series(TEXT, dtype=pl.Categorical),
    "polars Enum": lambda: pl.Series(TEXT, dtype=pl.Enum(LABELS)),
    "Arrow array": lambda: pa.array(TEXT),
    "Arrow integers": lambda: pa.array(PLAIN),
    "Arrow chunks": lambda: pa.chunked_array([TEXT[:2], TEXT[2:]]),
    "Arrow dictionary": lambda: pa.array(TEXT).dictionary_encode(),
}
"""The same six answers, one at a time."""

FRAMES: dict[str, Callable[[], Any]] = {
    "mapping": frame,
    "rows": lambda: [{"answer": v, "age": 30} for v in TEXT],
    "structured array": lambda: np.array([(v, 30) for v in TEXT], [("answer", object), ("age", int)]),
    "pandas": lambda: pd.DataFrame(frame()),
    "pandas, one column": lambda: pd.DataFrame(frame())[["answer"]],
    "polars": lambda: pl.DataFrame(frame()),
    "polars, lazy": lambda: pl.LazyFrame(frame()),
    "Arrow table": lambda: pa.table(frame()),
    "Arrow batch": lambda: pa.RecordBatch.from_pydict(frame()),
    "Arrow reader": lambda: pa.table(frame()).to_reader(),
    "DuckDB": relation,
}
"""The same answers in a column beside another one."""


@cache
def doors() -> dict[str, dn.Mechanism]:
    """A mechanism of each kind that takes values, all of which know the label for missing ones."""
    asked: dict[str, Any] = {"labels": LABELS, "missing": "not said"}
    return {
        "grr": dn.mechanism("grr", epsilon=4.0, **asked),
        "oue": dn.mechanism("oue", epsilon=1.0, **asked),
        "olh": dn.mechanism("olh", epsilon=1.0, **asked),
        "uss": dn.mechanism("uss", epsilon=1.0, sensitive=2, **asked),
        "utility": dn.utility("ss", ["1", "not said"], epsilon=1.0, **asked),
        "pldp": dn.mechanism("pldp", levels=[1.0], **asked),
        "lsrr": dn.mechanism("lsrr", epsilon=1.0, **asked),
    }


@pytest.mark.parametrize("kind", SERIES)
def test_series_of_every_library_are_read_alike(kind: str) -> None:
    """From one seed, the very reports that the plain list of labels gives, at every door."""
    plain = ["not said" if v is None else v for v in TEXT]
    for name, m in doors().items():
        assert np.bincount(m.domain.encode(SERIES[kind](), None)).tolist() == COUNTS
        assert m.privatize(SERIES[kind](), rng=dn.simulation(1)) == m.privatize(plain, rng=dn.simulation(1)), name


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_library_are_read_by_column(kind: str) -> None:
    for name, m in doors().items():
        plain = m.privatize(TEXT, rng=dn.simulation(1))
        assert m.privatize(FRAMES[kind](), column="answer", rng=dn.simulation(1)) == plain, name
    with pytest.raises(ParameterError, match=r"column must be one of .*'answer'.*, got 'anser'.*Did you mean answer"):
        m.privatize(FRAMES[kind](), column="anser")


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind not in ("rows", "pandas, one column")])
def test_frames_are_never_read_by_their_column_names(kind: str) -> None:
    """Also where the names of the columns are labels, and where everything else counts as other."""
    for labels in (["answer", "age"], ["a", "rest"]):
        m = dn.mechanism("grr", epsilon=1.0, labels=labels, other=labels[1])
        with pytest.raises(ParameterError, match=r"values must be one column.*Say which: column='answer'"):
            m.privatize(FRAMES[kind]())


def test_a_frame_of_one_column_needs_no_name() -> None:
    m = doors()["grr"]
    assert m.privatize(FRAMES["pandas, one column"](), rng=dn.simulation(1)) == m.privatize(TEXT, rng=dn.simulation(1))


WRONG: dict[str, tuple[Any, str]] = {
    "set": ({"1", "2"}, "values must be a list.*This is a set"),
    "bytes": (b"12", "values must be a list.*This is bytes"),
    "bytes in a list": ([b"1"], "values must be single ones, got b'1'"),
    "array of bytes": (np.array([b"1"]), "values must be single ones"),
    "rows without column": ([{"answer": "1"}], "values must be single ones.*column=NAME"),
    "nested list": ([["1"], ["2"]], r"values must be single ones, got \['1'\]"),
    "two dimensions": (np.array([["1"], ["2"]]), "one-dimensional"),
    "nothing": ([], "at least one value"),
    "an object": (object(), "values must be a list"),
    "a path": (Path("values.csv"), "values must be a list"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_list_of_values_is_refused(kind: str) -> None:
    """At every door, and though everything that is no label may count as one of them."""
    given, said = WRONG[kind]
    for m in (*doors().values(), dn.mechanism("grr", epsilon=1.0, labels=LABELS, other="3")):
        with pytest.raises(ParameterError, match=said):
            m.privatize(given)


@pytest.mark.parametrize("kind", SERIES)
def test_missing_values_are_refused_by_position_unless_a_label_is_declared(kind: str) -> None:
    with pytest.raises(ParameterError, match=r"at position 1 is missing \(2 of 6\).*missing=LABEL"):
        dn.mechanism("grr", epsilon=1.0, labels=LABELS).privatize(SERIES[kind]())
    if kind not in ("pandas category", "polars Enum", "polars Categorical") and not isinstance(SERIES[kind](), list):
        with pytest.raises(ParameterError, match=r"values must be integers from 0 to 3, .* at position 1 is missing"):
            dn.mechanism("grr", epsilon=1.0, k=4).privatize(SERIES[kind]())


NUMBERS = [0.5, 2.0, 9.5]
NUMERIC: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "array": np.array,
    "pandas float64": lambda x: pd.Series(x, dtype="float64"),
    "pandas Float64": lambda x: pd.Series(x, dtype="Float64"),
    "pandas of Arrow": lambda x: pd.Series(x, dtype="double[pyarrow]"),
    "polars": pl.Series,
    "Arrow": pa.array,
}


@pytest.mark.parametrize("kind", NUMERIC)
@pytest.mark.parametrize("name", ["sw", "pm", "brr", "codebook"])
def test_numbers_of_every_library_are_read_alike(name: str, kind: str) -> None:
    m = dn.mechanism(name, epsilon=1.0, interval=(0, 10))
    assert m.privatize(NUMERIC[kind](NUMBERS), rng=dn.simulation(1)) == m.privatize(NUMBERS, rng=dn.simulation(1))
    with pytest.raises(ParameterError, match=r"values must be numbers.* at position 1"):
        m.privatize(NUMERIC[kind]([0.5, np.nan if kind == "array" else None, 9.5]))


PAIRS = {"user": [1, 1, 2, 3], "key": ["a", "b", "a", None], "value": [1.0, 0.5, -1.0, None]}
PAIR_FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mapping": dict,
    "list of mappings": lambda x: [dict(zip(x, row, strict=True)) for row in zip(*x.values(), strict=True)],
    "pandas": pd.DataFrame,
    "pandas, own dtypes": lambda x: pd.DataFrame(x).convert_dtypes(),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "Arrow": pa.table,
    "DuckDB": lambda x: duckdb.connect().from_arrow(pa.table(x)),
}


@pytest.mark.parametrize("kind", PAIR_FRAMES)
def test_pairs_of_every_library_are_read_alike(kind: str) -> None:
    m = dn.mechanism("kv-ss2", epsilon=1.0, labels=["a", "b"], length=2)
    plain = m.privatize(list(zip(*PAIRS.values(), strict=True)), rng=dn.simulation(1))
    assert m.privatize(PAIR_FRAMES[kind](PAIRS), rng=dn.simulation(1)) == plain
    renamed = PAIR_FRAMES[kind]({f"the {name}": column for name, column in PAIRS.items()})
    names = ("the user", "the key", "the value")
    assert m.privatize(renamed, column=names, rng=dn.simulation(1)) == plain
    with pytest.raises(ParameterError, match=r"the frame has no column 'user'; it has .*column="):
        m.privatize(PAIR_FRAMES[kind]({"who": [1], "key": ["a"], "value": [1.0]}))


@pytest.mark.parametrize("kind", ["mapping", "rows", "pandas", "polars", "polars, lazy", "Arrow table", "DuckDB"])
def test_levels_come_from_a_column_of_the_same_frame(kind: str) -> None:
    m = dn.mechanism("pldp", levels=[1.0, 2.0], level_epsilon=1.0, labels=["a", "b"])
    columns = {"answer": ["a", "b", "b"], "level": [2.0, 1.0, 2.0]}
    plain = m.privatize(columns["answer"], levels=columns["level"], rng=dn.simulation(1))
    made: dict[str, Callable[[], Any]] = {
        "mapping": lambda: columns,
        "rows": lambda: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "polars, lazy": lambda: pl.LazyFrame(columns),
        "Arrow table": lambda: pa.table(columns),
        "DuckDB": lambda: duckdb.connect().from_arrow(pa.table(columns)),
    }
    assert m.privatize(made[kind](), column="answer", levels="level", rng=dn.simulation(1)) == plain
    with pytest.raises(ParameterError, match="column must be given with the name of a column of levels"):
        m.privatize(made[kind](), levels="level")


def test_files_of_every_kind_are_counted_alike(tmp_path: Path) -> None:
    """At epsilon 40 all reports are true, but for a chance below 6 / 10^17."""
    m = dn.mechanism("grr", epsilon=40.0, labels=LABELS, missing="not said")
    pa.parquet.write_table(pa.table(frame()), tmp_path / "a.parquet")
    pd.DataFrame(frame()).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame(frame()).to_csv(tmp_path / "a.csv.gz", index=False)
    pd.DataFrame(frame()).to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    for name in ("a.parquet", "a.csv", "a.csv.gz", "a.tsv"):
        out = tmp_path / f"{name}.reports"
        assert privatize_file(m, str(tmp_path / name), str(out), column="answer") == 6
        assert tally_files([str(out)]).cells["support"].tolist() == [COUNTS]


LABEL_LISTS: dict[str, tuple[Any, str]] = {
    "set": ({"a", "b"}, r"labels must be a list of labels.*sorted\(\.\.\.\)"),
    "number": (5, "labels must be a list of labels, got 5.*k=5"),
    "text": ("ab", "labels must be a list of labels"),
    "mapping": ({"a": 1, "b": 2}, "labels must be a list of labels.*list"),
    "frame": (
        pd.DataFrame({"a": [1], "b": [2]}),
        r"labels must .*, got a pandas DataFrame.*columns, for example \['a'\]",
    ),
    "None": (["a", None], "labels must be text.*got None.*missing=LABEL"),
    "NaN": (["a", NOTHING], "labels must be text.*got nan"),
    "NA": (["a", pd.NA], "labels must be text.*got <NA>"),
    "bytes": (["a", b"b"], "labels must be single texts or numbers, got b'b'"),
    "twice": (["a", "a"], "different from each other"),
    "one": (["a"], "at least 2 labels"),
}


@pytest.mark.parametrize("kind", LABEL_LISTS)
def test_labels_that_are_no_list_are_refused(kind: str) -> None:
    given, said = LABEL_LISTS[kind]
    for make in (
        lambda: dn.mechanism("grr", epsilon=1.0, labels=given),
        lambda: dn.protocol("ks-grr", epsilon=1.0, labels=given, top=1),
        lambda: dn.utility("grr", 1, epsilon=1.0, labels=given),
        lambda: dn.plan(labels=given, n=100, epsilon=1.0),
    ):
        with pytest.raises(ParameterError, match=said):
            make()


@pytest.mark.parametrize(
    "make",
    [list, tuple, np.array, pd.Series, pd.Index, pl.Series, pa.array],
    ids=["list", "tuple", "numpy", "pandas", "index", "polars", "arrow"],
)
def test_labels_come_from_any_list(make: Callable[[list[str]], Any]) -> None:
    assert dn.mechanism("grr", epsilon=1.0, labels=make(["b", "a"])).domain.labels == ("b", "a")


def test_a_number_of_answers_is_no_list_of_labels() -> None:
    with pytest.raises(ParameterError, match=r"k must be an integer >= 2, got \['a', 'b'\].*labels=\[\.\.\.\]"):
        dn.mechanism("grr", epsilon=1.0, k=["a", "b"])  # type: ignore[arg-type]


def test_missing_and_other_are_declared_where_the_mechanism_is_made() -> None:
    m = dn.mechanism("grr", epsilon=1.0, labels=["a", "none", "rest"], missing="none", other="rest")
    assert m.domain.encode(["a", None, "z"]).tolist() == [0, 1, 2]
    assert dn.from_design(m.design) == m
    whole = dn.utility("grr", ["a"], epsilon=1.0, labels=["a", "b"], other="b")
    assert whole.domain.other == "b"
    with pytest.raises(ParameterError, match="missing must be one of the labels, got 'gone'"):
        dn.mechanism("grr", epsilon=1.0, labels=["a", "b"], missing="gone")
    with pytest.raises(ParameterError, match="other must be one of the labels, got 'b'"):
        dn.mechanism("grr", epsilon=1.0, k=3, other="b")
    with pytest.raises(ParameterError, match="other must be left out: numbers have no labels"):
        dn.mechanism("sw", epsilon=1.0, interval=(0, 1), other="b")


@pytest.mark.parametrize("name", ["grr", "kv-ss2"])
@pytest.mark.parametrize("rng", [7, np.random.default_rng(7), np.random.RandomState(7), "7"])
def test_seeds_and_other_generators_are_told_what_to_do(name: str, rng: Any) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=4)
    values = [0, 1] if name == "grr" else [("u", 0, 1.0)]
    with pytest.raises(ParameterError, match=r"rng must be left out.*rng=dn.simulation\((7|seed)\)"):
        m.privatize(values, rng=rng)


def test_protocols_and_populations_take_no_seed_either() -> None:
    protocol = dn.protocol("collaborative", epsilon=1.0, k=10, sensitive=3)
    for run in (
        lambda: protocol.run(np.arange(1000) % 10, 7),  # type: ignore[arg-type]
        lambda: dn.datasets.synthetic("dirichlet", k=4, n=10, rng=7),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError, match=r"rng must be .*simulation\("):
            run()


@pytest.mark.parametrize("given", [None, 3, "file", [1, 2]])
def test_what_is_no_report_is_not_counted(given: Any) -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    with pytest.raises(ParameterError, match=r"reports must be what m.privatize\(values\) gives"):
        m.tally(given)
    with pytest.raises(ParameterError, match=r"tally must be what m.tally\(reports\) gives"):
        m.estimate(given)


TWINS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame([["1", "2"]], columns=["answer", "answer"]),
    "Arrow table": lambda: pa.Table.from_arrays([pa.array(["1"]), pa.array(["2"])], names=["answer", "answer"]),
    "Arrow batch": lambda: pa.record_batch([pa.array(["1"]), pa.array(["2"])], names=["answer", "answer"]),
    "DuckDB": lambda: duckdb.sql("select '1' as answer, '2' as answer"),
}


@pytest.mark.parametrize("library", TWINS)
@pytest.mark.parametrize("column", ["answer", None])
def test_two_columns_of_one_name_are_refused(library: str, column: str | None) -> None:
    m = dn.mechanism("grr", epsilon=1.0, labels=LABELS)
    with pytest.raises(ParameterError, match="columns must have different names, but two are called 'answer'"):
        m.privatize(TWINS[library](), column=column)
