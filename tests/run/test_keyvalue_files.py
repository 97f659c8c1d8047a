"""Key-value pairs from files: what is read, what is refused and where, and studies whose formulas hold."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.types import Target
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.keyvalue.base import KeyValue
from deniable.mechanisms.keyvalue.pairs import PairSets
from deniable.run.inputs import read_pairs
from deniable.run.local import estimate_tally, privatize_file, tally_files
from deniable.run.results import Shown
from deniable.run.studies.keyvalue import simulate_keyvalue
from deniable_client.kernels.keyvalue import GRID

LABELS = ("shoes", "hats", "coats")
GOOD = "user,key,value\nann,shoes,4\nbob,hats,2\nann,hats,5\ncyd,,\n"


def written(folder: Path, text: str = GOOD, name: str = "pairs.csv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_rows_become_people_in_the_order_of_their_first_rows(tmp_path: Path) -> None:
    pairs = read_pairs(written(tmp_path), Domain.of(LABELS), (1.0, 5.0))
    assert pairs.offsets.tolist() == [0, 2, 3, 3], "cyd has no pair"
    assert pairs.keys.tolist() == [0, 1, 1]
    assert pairs.values.tolist() == [GRID * 3 // 4, GRID, GRID // 4]


def test_other_columns_numbers_as_keys_and_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = "who,what,x,rating\n7,2,a,1\n8,0,b,-1\n"
    given: dict[str, Any] = {"columns": ("who", "what", "rating")}
    plain = read_pairs(written(tmp_path, text), Domain.of(3), (-1.0, 1.0), **given)
    path = str(tmp_path / "pairs.parquet")
    table = {"who": [7, 8, 9], "what": arrow.array([2, 0, None]), "rating": arrow.array([1.0, -1.0, None])}
    parquet.write_table(arrow.table(table), path)
    stored = read_pairs(path, Domain.of(3), (-1.0, 1.0), **given)
    assert stored.offsets.tolist() == [0, 1, 2, 2]
    assert plain.keys.tolist() == stored.keys.tolist() == [2, 0]
    assert plain.values.tolist() == stored.values.tolist() == [GRID, 0]


BAD_ROWS = {
    "dan,shoes,nan": r"line 6, column 'value': the value must be a number from 1 to 5, got 'nan'",
    "dan,shoes,6": r"line 6, column 'value'.*got '6'",
    "dan,shoes,1_0": r"line 6, column 'value'.*got '1_0'",
    "dan,shoes,": r"line 6, column 'value'.*it is missing",
    "dan,,3": r"line 6, column 'key': the value is missing",
    "dan,socks,3": r"line 6, column 'key': values must be one of the 3 labels .* got 'socks'",
    "ann,hats,1": r"line 6\) is the second one of its user with the key 'hats'",
    ",hats,1": r"the user .*line 6\) is missing",
    "ann,,": r"line 6\) has neither key nor value",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_bad_rows_are_refused_by_line_and_column(tmp_path: Path, row: str) -> None:
    with pytest.raises(ParameterError, match=BAD_ROWS[row]):
        read_pairs(written(tmp_path, f"{GOOD}{row}\n"), Domain.of(LABELS), (1.0, 5.0))


def test_bad_files_are_refused(tmp_path: Path) -> None:
    keys, ends = Domain.of(LABELS), (1.0, 5.0)
    with pytest.raises(FormatError, match="has 2 cells, the header has 3"):
        read_pairs(written(tmp_path, GOOD + "dan,hats\n"), keys, ends)
    with pytest.raises(ParameterError, match="columns must be one of the columns"):
        read_pairs(written(tmp_path), keys, ends, columns=("person", "key", "value"))
    with pytest.raises(ParameterError, match="columns must be different"):
        read_pairs(written(tmp_path), keys, ends, columns=("user", "key", "key"))
    with pytest.raises(ParameterError, match="format must be csv or parquet"):
        read_pairs(written(tmp_path, name="pairs.txt"), keys, ends)
    with pytest.raises(ParameterError, match="has no pairs"):
        read_pairs(written(tmp_path, "user,key,value\n"), keys, ends)
    with pytest.raises(ParameterError, match="duplicates must be one of"):
        read_pairs(written(tmp_path), keys, ends, duplicates="last")


def test_the_first_of_several_values_is_kept_on_request(tmp_path: Path) -> None:
    source = written(tmp_path, GOOD + "ann,hats,1\nann,hats,2\nbob,shoes,1\n")
    pairs = read_pairs(source, Domain.of(LABELS), (1.0, 5.0), duplicates="first")
    assert pairs.offsets.tolist() == [0, 2, 4, 4]
    assert pairs.values.tolist() == [GRID * 3 // 4, GRID, GRID // 4, 0]


def test_chunks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"u{i % 7},{i % 3 if i >= 7 else ''},{1 + i % 5 if i >= 7 else ''}\n" for i in range(7))
    more = "".join(f"v{i // 3},{LABELS[i % 3]},{1 + i % 5}\n" for i in range(30))
    source = written(tmp_path, "user,key,value\n" + rows + more)
    whole = read_pairs(source, Domain.of(LABELS), (1.0, 5.0))
    monkeypatch.setattr("deniable.run.inputs.CHUNK_VALUES", 4)
    parts = read_pairs(source, Domain.of(LABELS), (1.0, 5.0))
    for name in ("offsets", "keys", "values"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()
    assert whole.sizes.tolist() == [0] * 7 + [3] * 10
    with pytest.raises(ParameterError, match=r"line 39, column 'value'"):
        read_pairs(written(tmp_path, "user,key,value\n" + rows + more + "w,hats,9\n"), Domain.of(LABELS), (1.0, 5.0))


def test_frames_with_people_without_pairs() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"user": ["a", "b", "c", "a"], "key": ["x", None, "y", "y"], "value": [1.0, None, 3.0, 4.0]}
    )
    for given in (frame, frame.lazy(), frame.to_arrow(), frame.to_dict(as_series=False)):
        pairs = PairSets.of(given, Domain.of(["x", "y"]), (1.0, 5.0))
        assert pairs.offsets.tolist() == [0, 2, 2, 3]
        assert pairs.keys.tolist() == [0, 1, 1]
    with pytest.raises(ParameterError, match=r"position 2 has neither|other rows"):
        PairSets.of([("a", "x", 1), ("b", "y", 2), ("a", None, None)], Domain.of(["x", "y"]), (1.0, 5.0))
    with pytest.raises(ParameterError, match="user at position 1 is missing"):
        PairSets.of([("a", "x", 1), (None, "y", 2)], Domain.of(["x", "y"]), (1.0, 5.0))


def test_a_file_of_pairs_becomes_reports_that_are_estimated(tmp_path: Path) -> None:
    m = dn.mechanism("kv-ss2", epsilon=3.0, labels=LABELS, range=(1, 5), length=2)
    assert isinstance(m, KeyValue)
    draw = np.random.default_rng(1)
    rows = "".join(f"{i},{LABELS[int(draw.integers(3))]},{int(draw.integers(4, 6))}\n" for i in range(20_000))
    source, target = written(tmp_path, "user,key,value\n" + rows), str(tmp_path / "r.bin")
    pairs = read_pairs(source, m.domain, m.range)
    assert privatize_file(m, source, target, rng=dn.simulation(2)) == 20_000
    found = estimate_tally(tally_files([target]))
    assert np.abs(found.value - pairs.truth(3)[0]).max() < 5 * float(found.stderr.max())
    assert found["mean"].value == pytest.approx([4.5] * 3, abs=0.25)
    assert "more than 2 pairs" in found.steps[-1]
    with pytest.raises(ParameterError, match="several pairs per person"):
        found.project()
    single = dn.mechanism("kv-ss2", epsilon=3.0, labels=LABELS, range=(1, 5))
    with pytest.raises(ParameterError, match="2 of 3 have several or none"):
        privatize_file(single, written(tmp_path), str(tmp_path / "none.bin"))
    assert not (tmp_path / "none.bin").exists()


@pytest.mark.parametrize("target", ["reporters", "population"])
@pytest.mark.parametrize(("level", "simultaneous"), [(0.95, False), (0.95, True), (0.5, False), (0.5, True)])
def test_shown_means_have_the_intervals_that_were_asked_for(level: float, simultaneous: bool, target: Target) -> None:
    """As the shares beside them: at the same level, about the same people, single or simultaneous, as the facts say."""
    m = dn.mechanism("kv-ss2", epsilon=3.0, labels=LABELS, range=(1, 5))
    assert isinstance(m, KeyValue)
    pairs = PairSets.of([(i, LABELS[i % 3], 1.0 + i % 5) for i in range(600)], m.domain, m.range)
    found = m.estimate(m.tally(m.privatize(pairs, rng=dn.simulation(5))))
    shown = Shown.of(found, level=level, target=target, simultaneous=simultaneous)
    parts = {"": found.interval(level, target, simultaneous=simultaneous)}
    parts["mean_"] = found["mean"].interval(level, target, simultaneous=simultaneous)
    for name, ends in parts.items():
        assert shown.columns[f"{name}low"] == pytest.approx(ends.low, rel=1e-12)
        assert shown.columns[f"{name}high"] == pytest.approx(ends.high, rel=1e-12)
    assert (shown.facts["level"], shown.facts["simultaneous"], shown.facts["target"]) == (level, simultaneous, target)
    other = found["mean"].interval(level, target, simultaneous=not simultaneous)
    wide, narrow = (parts["mean_"], other) if simultaneous else (other, parts["mean_"])
    assert (wide.high > narrow.high + 0.01).all()


# ---- studies


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """1,500 people with none to four of ten keys."""
    draw, rows = np.random.default_rng(3), ["user,key,value"]
    for user in range(1500):
        keys = draw.choice(10, size=draw.integers(0, 5), replace=False, p=np.arange(10, 0, -1) / 55)
        rows += [f"{user},{key},{draw.integers(1, 6)}" for key in keys] or [f"{user},,"]
    path = tmp_path_factory.mktemp("study") / "mixed.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


@pytest.mark.stat
@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("kv-ss2", {"length": 2}),
        ("kv-ss", {"length": 3, "mix": 0.4}),
        ("ks-ue", {"length": 1}),
        ("pckv-grr", {"length": 3}),
    ],
)
def test_expected_errors_are_those_of_many_collections(mixed: str, name: str, own: dict[str, Any]) -> None:
    """120 runs: the mean ratio is within 5 standard errors of 1 (false alarm rate 6e-7); the rival is far away."""
    study = simulate_keyvalue(
        mixed,
        lambda keys: dn.mechanism(name, epsilon=2.0, domain=keys, range=(1, 5), **own),
        domain=Domain.of(10),
        runs=120,
        seed=1,
    )
    d = study.document()
    assert abs(d["ratio"] - 1) < 5 * d["ratio_stderr"]
    pairs = read_pairs(mixed, Domain.of(10), (1.0, 5.0))
    no_bias = d["mse_predicted"] - float(np.mean((_expected(pairs, own["length"]) - pairs.truth(10)[0]) ** 2))
    assert own["length"] == 3 or abs(d["mse"] / no_bias - 1) > 5 * d["ratio_stderr"], "the bias of padding is not seen"


def _expected(pairs: PairSets, length: int) -> Any:
    weights = np.repeat(1 / np.maximum(pairs.sizes, length), pairs.sizes)
    return length * np.bincount(pairs.keys, weights, minlength=10) / len(pairs)


def test_made_up_pairs_and_protocols(mixed: str) -> None:
    study = simulate_keyvalue(
        "zipf", lambda keys: dn.mechanism("kv-ss2", epsilon=4.0, domain=keys), domain=Domain.of(12), n=4000, runs=3
    )
    d = study.document()
    assert (d["n"], d["pairs"], d["k"], d["top"]) == (4000, 4000, 12, 12)
    assert d["mse"] == pytest.approx(d["mse_predicted"], rel=1.0)
    assert d["first"]["truth_mean"][0] == pytest.approx(0.8, abs=0.02)
    assert len(study.rows()) == 36
    json.dumps(d, allow_nan=False)
    made = simulate_keyvalue(
        mixed, lambda keys: dn.protocol("ks-adap", epsilon=4.0, labels=keys.labels, top=3, range="1,5"), runs=2
    )
    found = made.document()
    assert (found["top"], found["mse_predicted"], found["k"]) == (3, None, 10)
    assert len(found["first"]["labels"]) == 6
    assert not math.isnan(found["ncr"])
    with pytest.raises(ParameterError, match="n must be left out"):
        simulate_keyvalue(mixed, lambda keys: dn.mechanism("kv-ss2", epsilon=4.0, domain=keys, length=2), n=5)
