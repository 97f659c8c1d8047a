"""What is shown of estimates and studies, number by number: rows, tables, charts, and files of what is done."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.circle import Circle
from deniable.run.results import Shown, check_chart, check_order, check_table
from deniable.run.studies.direction import _apart, _covers
from deniable.run.studies.keyvalue import _average, _made_up, _top
from deniable.run.studies.study import Study, against, averaged, check_study, repeated
from deniable.run.sweep.compare import compared
from deniable.run.sweep.journal import Done, Journal
from deniable.run.sweep.latex import _cell, table_of
from deniable.run.sweep.metrics import METRICS, metrics_of, number_of
from deniable.run.sweep.result import Sweep

FACTS: dict[str, Any] = {
    "mechanism": "grr", "epsilon": 1.0, "n": 1200, "simulated": False, "steps": ["unbiased"], "biased": False,
    "level": 0.9, "target": "reporters", "simultaneous": False,
}  # fmt: skip


def made(value: list[float], **more: Any) -> Shown:
    columns = {name: np.array(value) + off for name, off in (("value", 0), ("low", -0.1), ("high", 0.1))}
    columns["stderr"] = np.array([0.01 * (i + 1) for i in range(len(value))])
    labels = tuple("abcdefgh"[: len(value)])
    facts = FACTS | {"simulated": more.pop("simulated", False)}
    return Shown(labels, columns, facts, len(labels), **more)


# ---- estimates that are shown


def test_the_largest_are_shown_first_and_equal_ones_in_their_order() -> None:
    shown = made([0.2, 0.3, 0.2, -0.1, 0.3])
    for t, labels in ((1, "b"), (2, "be"), (3, "bea"), (5, "beacd"), (9, "beacd")):
        top = shown.top(t)
        assert "".join(top.labels) == labels
        assert top.total == 5
        for name, column in shown.columns.items():
            assert top.columns[name].tolist() == [column["abcde".index(label)] for label in labels]
    for wrong in (0, -1):
        with pytest.raises(dn.ParameterError, match="top must be an integer >= 1"):
            shown.top(wrong)


def test_rows_and_documents_say_the_same_and_whether_it_is_simulated() -> None:
    for mark in (False, True):
        shown = made([0.2, 0.8], simulated=mark)
        assert [(row["label"], row["value"], row["simulated"]) for row in shown.rows()] == [
            ("a", 0.2, mark),
            ("b", 0.8, mark),
        ]
        document = shown.document()
        assert document["labels"] == ["a", "b"]
        assert document["stderr"] == [0.01, 0.02]
        assert {name: document[name] for name in FACTS} == FACTS | {"simulated": mark}
    for odd in (math.inf, math.nan):
        shown.columns["stderr"][1] = odd
        assert shown.document()["stderr"] == [0.01, None]


def test_files_are_tables_or_documents_by_their_ending(tmp_path: Path) -> None:
    shown = made([0.2, 0.8])
    shown.save(str(tmp_path / "x.csv"))
    shown.save(str(tmp_path / "x.JSON"))
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == "label,value,low,high,stderr,simulated"
    assert json.loads((tmp_path / "x.JSON").read_text()) == shown.document()
    assert check_table("-") == ".csv"
    assert check_table("-", (".tex", ".csv")) == ".tex"
    with pytest.raises(dn.ParameterError, match=r"out must be a name that ends in \.csv or \.json"):
        check_table(str(tmp_path / "x.txt"))
    with pytest.raises(dn.ParameterError, match="chart-order must be one of value, given"):
        check_order("size", "x.svg")
    with pytest.raises(dn.ParameterError, match="chart-order must be given together with --chart"):
        check_order("given", None)
    check_order("given", "x.svg")


def _subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


def test_a_chart_says_what_it_leaves_out_and_what_is_biased(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    shown = made([0.2, 0.3, 0.1])
    assert _subtitle(shown.chart("T")) == "grr · ε = 1 · n = 1,200"
    assert _subtitle(shown.top(2).chart("T")).endswith("n = 1,200 · the 2 largest of 3")
    biased = made([0.2, 0.8], bias=("projected", "shrunken"), simulated=True)
    assert _subtitle(biased.chart("T")) == "grr · ε = 1 · n = 1,200 · simulated · projected, shrunken (biased)"
    assert (biased.projected, shown.projected) == (True, False)
    binned = made([0.2, 0.3, 0.1], drawn=made([0.5, 0.5]))
    drawn, single = (json.dumps(one.chart("T").to_dict()) for one in (binned, binned.top(1)))
    assert '"value": 0.5' in drawn
    assert '"value": 0.5' not in single
    check_chart(str(tmp_path / "x.SVG"))
    for wrong in ("x.txt", "x"):
        with pytest.raises(dn.ParameterError, match="chart-means must be a name that ends in one of"):
            check_chart(str(tmp_path / wrong), "chart-means")


@pytest.mark.parametrize(
    ("rare", "told"),
    [((0, 0, 0), None), ((0, 1, 0), "1 key is too rare to say"), ((1, 0, 1), "2 keys are too rare to say")],
)
def test_means_of_keys_that_are_too_rare_are_counted_not_drawn(
    tmp_path: Path, rare: tuple[int, ...], told: str | None
) -> None:
    pytest.importorskip("altair")
    shown = made([0.2, 0.3, 0.1])
    shown.facts["range"] = [-2.0, 3.0]
    shown.columns.update({"mean": np.array([-1.0, 0.5, 2.0]), "mean_low": np.array([-1.5, 0.0, 1.5])})
    shown.columns.update({"mean_high": np.array([-0.5, 1.0, 2.5]), "too_rare": np.array(rare, bool)})
    shown.draw_means(str(tmp_path / "m.json"), "T")
    text = (tmp_path / "m.json").read_text()
    spec = json.loads(text)
    drawn = [
        row for part in [*spec.get("datasets", {}).values(), spec.get("data", {}).get("values", [])] for row in part
    ]
    assert sorted(row["label"] for row in drawn if "mean" in row or "value" in row) == [
        label for label, out in zip("abc", rare, strict=True) if not out
    ]
    subtitle = " ".join(spec["title"]["subtitle"])
    assert subtitle.endswith(told if told is not None else "n = 1,200")
    shown.columns["too_rare"][:] = True
    with pytest.raises(dn.ParameterError, match="chart_means must be left out: all keys are too rare to say"):
        shown.draw_means(str(tmp_path / "n.json"), "T")
    with pytest.raises(dn.ParameterError, match="chart_means must be left out: there are no means of keys"):
        made([0.2, 0.8]).draw_means(str(tmp_path / "n.json"), "T")


# ---- studies


def test_a_measured_error_stands_beside_the_predicted_one() -> None:
    values = np.array([1.0, 3.0, 8.0])
    stderr = math.sqrt(sum((x - 4) ** 2 for x in values) / 2 / 3)
    assert averaged("mse", values) == {"mse": 4.0, "mse_stderr": pytest.approx(stderr)}
    assert averaged("mse", values[:1]) == {"mse": 1.0, "mse_stderr": None}
    assert against("mse", values, None) == {"mse": 4.0, "mse_predicted": None}
    assert against("mse", values, 8.0) == {
        "mse": 4.0, "mse_predicted": 8.0, "ratio": 0.5, "ratio_stderr": pytest.approx(stderr / 8)
    }  # fmt: skip
    assert against("mse", values * 0, 0.0) == {"mse": 0.0, "mse_predicted": 0.0, "ratio": 1.0, "ratio_stderr": None}
    assert _average([1.0, math.nan, 4.0]) == 2.5
    assert _average([math.nan]) is None


def test_runs_are_the_same_whether_they_are_all_or_some() -> None:
    heard: list[Any] = []

    def one(rng: Any) -> int:
        return int(rng.draw(64, 1)[0])

    every = repeated(one, dn.simulation(3), 5, lambda *at: heard.append(at))
    assert len({*every}) == 5
    assert heard == [(i, 5) for i in range(6)]
    heard.clear()
    some = repeated(one, dn.simulation(3), 5, lambda *at: heard.append(at), range(1, 4))
    assert some == every[1:4]
    assert heard == [(i, 5) for i in range(4)]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((0,), "runs must be an integer >= 1"),
        ((True,), "runs must be an integer >= 1"),
        ((2, 0.95, 0), "n must be an integer >= 1"),
        ((2, 0.0), "level must be between 0 and 1"),
        ((2, 1.0), "level must be between 0 and 1"),
        ((10**5, 0.9, 10**5 + 1), "n and runs must give at most 10,000,000,000 reports, got 10,000,100,000"),
        ((10**10 + 1,), "n and runs must give at most 10,000,000,000 reports"),
    ],
)
def test_studies_that_cannot_be_made_are_refused(given: tuple[Any, ...], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        check_study(*given)
    check_study(10**5, 0.99, 10**5)
    check_study(10**10)


def test_rows_of_a_study_have_the_number_of_their_run() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=2)
    how: dict[str, Any] = {"made": m, "data": "D", "n": 7, "seed": 3, "runs": 2, "measured": {"mse": 0.5}}
    shown = Study(**how, shown=(made([0.1, 0.9]), made([0.2, 0.8])))
    assert [(row["run"], row["label"], row["value"]) for row in shown.rows()] == [
        (1, "a", 0.1), (1, "b", 0.9), (2, "a", 0.2), (2, "b", 0.8)
    ]  # fmt: skip
    numbers = Study(**how, numbers=[{"loss": 1.0}, {"loss": 2.0}])
    assert numbers.rows() == [{"run": 1, "loss": 1.0, "simulated": True}, {"run": 2, "loss": 2.0, "simulated": True}]
    document = shown.document()
    assert document["first"]["value"] == [0.1, 0.9]
    assert not {*FACTS} - {"biased"} & {*document["first"]}
    told = {
        name: document[name] for name in ("mechanism", "epsilon", "data", "k", "n", "runs", "seed", "simulated", "mse")
    }
    assert told == {
        "mechanism": "grr", "epsilon": 1.0, "data": "D", "k": 2, "n": 7, "runs": 2, "seed": 3, "simulated": True,
        "mse": 0.5,
    }  # fmt: skip
    assert "first" not in numbers.document()


@pytest.mark.parametrize(
    ("off", "apart"), [(0, 0), (10, 10), (-10, -10), (350, -10), (-350, 10), (179, 179), (181, -179), (365, 5)]
)
def test_directions_differ_by_the_shorter_way_around(off: float, apart: float) -> None:
    assert _apart(Circle.around(0.0, 360.0, 36), off) == pytest.approx(apart)


@pytest.mark.parametrize(
    ("low", "high", "truth", "held"),
    [
        (10, 20, 10, True), (10, 20, 20, True), (10, 20, 21, False), (10, 20, 9, False), (-10, 20, 355, True),
        (350, 370, 5, True), (350, 370, 15, False), (350, 370, 340, False), (0, 360, 77, True), (-5, 400, 77, True),
    ],
)  # fmt: skip
def test_an_interval_around_the_circle_holds_what_lies_on_any_turn(
    low: float, high: float, truth: float, held: bool
) -> None:
    class Ends:
        pass

    ends: Any = Ends()
    ends.low, ends.high = [low], [high]
    assert _covers(Circle.around(0.0, 360.0, 36), ends, truth) == held


def test_made_up_pairs_lie_around_means_that_fall_from_key_to_key() -> None:
    items = np.repeat(np.arange(5), 200)
    pairs = _made_up(items, 5, dn.simulation(1))
    f, unit = pairs.truth(5)
    assert f.tolist() == [0.2] * 5
    assert unit == pytest.approx(
        [0.8, 0.4, 0.0, -0.4, -0.8], abs=0.04
    )  # 200 values, uniform within 0.2: 6.9 deviations


def test_so_many_keys_are_scored() -> None:
    class Made:
        def __init__(self, k: int, **params: Any) -> None:
            self.k, self.params = k, params

    few, many, own = Made(5), Made(50), Made(50, top=7)
    assert [_top(m, None) for m in (few, many, own)] == [5, 20, 7]  # type: ignore[arg-type]
    assert [_top(few, t) for t in (1, 5)] == [1, 5]  # type: ignore[arg-type]
    for wrong in (0, 6, True, 2.0):
        with pytest.raises(dn.ParameterError, match="top must be an integer from 1 to the number of keys, 5"):
            _top(few, wrong)  # type: ignore[arg-type]


# ---- tables of a sweep


@pytest.mark.parametrize(
    ("value", "stderr", "best", "text"),
    [
        (0.5, None, None, "$0.500$"),
        (0.5, 0.012, 0.5, r"$\mathbf{0.500 \pm 0.012}$"),
        (0.5, 0.012, 0.4, r"$0.500 \pm 0.012$"),
        (0.0123, 0.0012, None, r"$0.0123 \pm 0.0012$"),
        (0.00123, 0.00012, None, r"$(1.23 \pm 0.12) \times 10^{-3}$"),
        (9999.0, 120.0, None, r"$9999 \pm 120$"),
        (12345.0, 120.0, None, r"$(1.234 \pm 0.012) \times 10^{4}$"),
        (12345.0, None, None, r"$1.234 \times 10^{4}$"),
        (-0.00123, None, None, r"$-1.230 \times 10^{-3}$"),
        (0.0, None, 0.0, r"$\mathbf{0.000}$"),
        (123.0, 45.0, None, r"$123 \pm 45$"),
        (None, None, None, "--"),
    ],
)
def test_a_number_for_a_paper_has_two_digits_of_its_standard_error(
    value: float | None, stderr: float | None, best: float | None, text: str
) -> None:
    assert _cell({"mse": value, "mse_stderr": stderr}, "mse", best) == text
    assert _cell(None, "mse", best) == "--"


def sweep(*metrics: str, rows: dict[tuple[str, float], list[dict[str, float | None]]]) -> Sweep:
    closed = {"mse": 0.2, "ndcg": None}
    facts = tuple(
        {
            "mechanism": name,
            "epsilon": e,
            "data": "a_b",
            "k": 4,
            "n": 100,
            "runs": 2,
            "seed": 1,
            "bytes": 1,
            "closed": closed,
        }
        for name, e in rows
    )
    return Sweep(metrics_of(list(metrics), "mse")[0], facts, tuple(tuple(runs) for runs in rows.values()))


def test_the_best_of_each_column_is_bold_and_holes_are_marked() -> None:
    rows: dict[tuple[str, float], list[dict[str, float | None]]] = {
        ("one", 2.0): [{"mse": 0.1, "ndcg": 0.1}, {"mse": 0.3, "ndcg": 0.3}],
        ("one", 1.0): [{"mse": 0.5, "ndcg": 0.5}, {"mse": 0.5, "ndcg": 0.5}],
        ("two", 2.0): [{"mse": 0.4, "ndcg": 0.4}, {"mse": 0.4, "ndcg": None}],
    }
    found = sweep("mse", "ndcg", rows=rows)
    told = {(row["mechanism"], row["epsilon"]): row for row in found.rows()}
    assert told["one", 2.0]["mse"] == pytest.approx(0.2)
    assert told["one", 2.0]["mse_stderr"] == pytest.approx(0.1)
    assert told["one", 2.0]["mse_predicted"] == 0.2
    assert "ndcg_predicted" not in told["one", 2.0]
    assert (told["two", 2.0]["ndcg"], told["two", 2.0]["ndcg_stderr"]) == (None, None)
    lines = table_of(found, METRICS["mse"]).splitlines()
    assert "mechanism & $\\varepsilon = 1$ & $\\varepsilon = 2$ \\\\" in lines
    assert "one & $\\mathbf{0.500}$ & $\\mathbf{0.20 \\pm 0.10}$ \\\\" in lines
    assert "two & -- & $0.400$ \\\\" in lines
    assert any("Mean squared error; a\\_b, $k = 4$, $n = 100$, 2 runs (mean" in line for line in lines)
    more = table_of(
        sweep("ndcg", rows={("one", 1.0): rows["one", 1.0], ("two", 1.0): rows["one", 2.0]}), METRICS["ndcg"]
    )
    assert "one & $\\mathbf{0.500}$ \\\\" in more
    assert "two & $0.20 \\pm 0.10$ \\\\" in more
    every = found.rows(every=True)
    assert [(row["mechanism"], row["epsilon"], row["run"], row["mse"]) for row in every] == [
        ("one", 2.0, 1, 0.1), ("one", 2.0, 2, 0.3), ("one", 1.0, 1, 0.5), ("one", 1.0, 2, 0.5), ("two", 2.0, 1, 0.4),
        ("two", 2.0, 2, 0.4),
    ]  # fmt: skip
    assert all(row["simulated"] is True for row in every + found.rows())
    assert repr(found) == "<Study of a_b: 2 mechanisms, 3 rows, 2 runs each; mse, ndcg>"
    document = found.document()
    assert {name: document[name] for name in ("data", "k", "n", "runs", "seed", "simulated")} == {
        "data": "a_b", "k": 4, "n": 100, "runs": 2, "seed": 1, "simulated": True
    }  # fmt: skip
    text = found.table().render()
    assert "closed form" in text
    assert "not known" in text


def test_bars_of_a_chart_are_intervals_of_the_level_on_both_sides() -> None:
    """Of two runs, Student's quantile with one degree of freedom is tan(pi level / 2)."""
    pytest.importorskip("altair")
    found = sweep("mse", rows={("one", 1.0): [{"mse": 0.1}, {"mse": 0.3}], ("two", 8.0): [{"mse": 0.4}, {"mse": 0.4}]})
    for level in (0.5, 0.9):
        spec = found.plot(level=level).to_dict()
        rows = [row for row in _values(spec) if row.get("series") == "one"]
        times = math.tan(math.pi * level / 2)
        assert rows[0]["high"] == pytest.approx(0.2 + 0.1 * times)
        assert f"with {100 * level:g} % intervals" in " ".join(spec["title"]["subtitle"])
    for wrong in (0, 1):
        with pytest.raises(dn.ParameterError, match="level must be between 0 and 1"):
            found.plot(level=wrong)


def _values(spec: Any) -> list[dict[str, Any]]:
    """All rows of data in a chart."""
    found: list[dict[str, Any]] = []
    if isinstance(spec, dict):
        data = spec.get("data")
        found += data["values"] if isinstance(data, dict) and isinstance(data.get("values"), list) else []
        found += [row for rows in spec.get("datasets", {}).values() for row in rows]
        return found + [row for name, part in spec.items() if name not in ("data", "datasets") for row in _values(part)]
    return [row for part in spec for row in _values(part)] if isinstance(spec, list) else []


def test_metrics_of_the_most_frequent_are_of_twenty_or_of_all() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    for size, top in ((25, 20), (20, 20), (4, 4)):
        value, truth = rng.random(size), rng.random(size)
        for name in ("ndcg", "f1", "ncr"):
            ((one,), _), ((two,), _) = metrics_of(name, "mse"), metrics_of(f"{name}:{top}", "mse")
            assert one.measure(value, truth) == two.measure(value, truth)
    assert metrics_of(None, "loss")[0] == (METRICS["loss"],)
    assert [m.name for m in metrics_of("Best_Guess", "mse")[0]] == ["best guess"]
    assert metrics_of("ndcg:5", "mse")[0][0].about == "NDCG of the 5 most frequent answers"
    assert metrics_of("ndcg:5", "mse")[0][0].more is True
    assert {name for name, m in METRICS.items() if m.more} == {"ndcg", "f1", "ncr"}
    for wrong in ("ndcg:0", "ndcg:", "ndcg:x", "mse:1", "ndcg:-1"):
        with pytest.raises(
            dn.ParameterError, match="metrics must be without a number, or with one of the most frequent"
        ):
            metrics_of(wrong, "mse")
    assert number_of("m", lambda value, truth: math.nan, rng.random(2), rng.random(2)) is None
    for odd in (math.inf, -math.inf):
        with pytest.raises(dn.ParameterError, match="metric m must be a function that gives one number"):
            number_of("m", lambda value, truth, odd=odd: odd, rng.random(2), rng.random(2))  # type: ignore[misc]


# ---- files of what is done


def test_what_is_done_is_kept_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "s"
    one = Done(path, {"seed": 1})
    one.add(0, 2, [{"mse": 0.5}, {"mse": 0.25}], {"bytes": 1})
    one.add(1, 0, [{"mse": 1.0}], {"bytes": 2})
    one.close()
    whole = path.read_bytes()
    assert whole.count(b"\n") == 3
    path.write_bytes(whole + b'{"cell": 3, "fir')
    two = Done(path, {"seed": 1})
    assert two.done == {(0, 2): {"mse": 0.5}, (0, 3): {"mse": 0.25}, (1, 0): {"mse": 1.0}}
    assert two.closed == {0: {"bytes": 1}, 1: {"bytes": 2}}
    assert path.read_bytes() == whole
    two.add(2, 0, [{"mse": 2.0}], {"bytes": 3})
    two.close()
    assert path.read_bytes().splitlines()[:3] == whole.splitlines()
    assert json.loads(path.read_bytes().splitlines()[3])["cell"] == 2
    memory = Done(None, {"seed": 1})
    memory.add(0, 0, [{"mse": 1.0}], {})
    memory.close()
    assert memory.done == {(0, 0): {"mse": 1.0}}


def test_a_file_that_was_made_for_nothing_goes_and_one_that_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "s"
    Done(path, {"seed": 1}).close()
    assert not path.exists()
    path.write_bytes(b"")
    Done(path, {"seed": 1}).close()
    assert path.exists()
    one = Done(path, {"seed": 1})
    one.add(0, 0, [{}], {})
    one.close()
    before = path.read_bytes()
    Done(path, {"seed": 1}).close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"seed": 2, "runs": [1, 2]}, "is of another study: it has seed 1, not 2"),
        ({"seed": 1, "runs": [1, 3]}, r"is of another study: it has runs \[2\], not \[3\]"),
        ({"seed": 1, "runs": [2, 1]}, r"is of another study: it has runs \[1, 2\], not \[2, 1\]"),
        ({"seed": 1}, r"is of another study: it has runs \[1, 2\], not None"),
        ({"seed": 1, "runs": [1, 2], "n": 3}, "is of another study: it has n None, not 3"),
    ],
)
def test_a_file_of_something_else_names_what_differs(tmp_path: Path, asked: dict[str, Any], told: str) -> None:
    path = tmp_path / "s"
    one = Done(path, {"seed": 1, "runs": [1, 2]})
    one.add(0, 0, [{}], {})
    with pytest.raises(dn.ParameterError, match="resume must be a file that no other study writes to"):
        Done(path, {"seed": 1, "runs": [1, 2]})
    one.close()
    before = path.read_bytes()
    with pytest.raises(dn.ParameterError, match=told):
        Done(path, asked)
    assert path.read_bytes() == before
    Done(path, {"seed": 1, "runs": [1, 2]}).close()  # nobody holds it any more


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    for text in ('{"other": 1, "asked": {}}\n', '{"mine": 2, "asked": {}}\n', "[]\n", "x", '{"mine": 1, "asked": 3}\n'):
        path.write_text(text)
        with pytest.raises(dn.FormatError, match="is not the file of a search"):
            Journal(path, "mine", {}, lambda part: None, what="search")
        assert path.read_text() == text
    path.write_text('{"mine": 1, "asked": {}}\n{"a": 1}\n')
    seen: list[Any] = []
    Journal(path, "mine", {}, seen.append).close()
    assert seen == [{"a": 1}]
    monkeypatch.setattr("deniable.run.sweep.journal._LINE", path.stat().st_size)
    Journal(path, "mine", {}, seen.append).close()
    monkeypatch.setattr("deniable.run.sweep.journal._LINE", path.stat().st_size - 1)
    with pytest.raises(dn.FormatError, match="has more than 33 bytes"):
        Journal(path, "mine", {}, seen.append)


# ---- designs side by side


def test_designs_of_one_name_are_numbered_and_errors_are_roots_of_variances() -> None:
    grr, wide = dn.mechanism("grr", epsilon=1.0, k=4), dn.mechanism("grr", epsilon=2.0, k=8)
    mean = dn.mechanism("duchi", epsilon=1.0, interval="0,1")
    near = dn.mechanism("brr", epsilon=1.0, k=6)
    found = compared([("x", grr), ("y", wide), ("x", wide), ("m", mean), ("n", near)], 100)
    rows = found.document()["designs"]
    assert [row["design"] for row in rows] == ["x (1)", "y", "x (3)", "m", "n"]
    for row, m in zip(rows, (grr, wide, wide, mean, near), strict=True):
        known = m.properties(100)
        assert (row["epsilon"], row["k"], row["bytes"]) == (m.epsilon, m.k, known["bytes"])
    assert rows[0]["error"] == pytest.approx(math.sqrt(grr.properties(100)["mse"]))
    assert rows[0]["best_guess"] == pytest.approx(math.e / (math.e + 3))
    assert rows[3]["error"] == pytest.approx(math.sqrt(mean.properties(100)["variance_mean"]))
    assert rows[4]["error"] == near.properties(100)["loss"]
    assert [row["error_is"] for row in rows] == ["std. error"] * 3 + ["std. error of the mean", "mean loss"]
    assert found.document()["n"] == 100
    assert found.document()["forged_share"] == 0.01
    told = found.promises()
    assert sum("x (1)" in line for line in told) == 1
    assert any(line.startswith("y, x (3): ") for line in told)
    heads = [column.title for column in found.table().columns]
    assert heads == ["design", "epsilon", "error", "bytes", "best guess", "forged", "gap"]
    cells = found.table().rows[0]
    assert cells[1:5] == ["1", f"{100 * rows[0]['error']:.3g} points", "1", f"{100 * rows[0]['best_guess']:.2f} %"]
    assert found.table().rows[3][2] == f"{rows[3]['error']:.4g}"
    assert [c.title for c in compared([("x", grr)], 1).table().columns][2] == "std. error"
    with pytest.raises(dn.ParameterError, match="designs must be at least one"):
        compared([], 100)


def test_only_designs_with_errors_of_one_kind_are_drawn() -> None:
    pytest.importorskip("altair")
    grr, near = dn.mechanism("grr", epsilon=1.0, k=4), dn.mechanism("brr", epsilon=1.0, k=6)
    spec = compared([("x", grr), ("y", grr.at(2.0))], 1000).chart().to_dict()
    drawn = [row for row in _values(spec) if row.get("kind") == "design"]
    assert sorted(row["label"] for row in drawn) == ["x", "y"]
    by_label = {row["label"]: row for row in drawn}
    assert by_label["x"]["x"] == pytest.approx(100 * math.e / (math.e + 3))
    assert by_label["x"]["y"] == pytest.approx(math.sqrt(grr.properties(1000)["mse"]))
    assert "n = 1,000" in json.dumps(spec["title"])
    with pytest.raises(dn.ParameterError, match="chart must be of designs whose errors are of one kind"):
        compared([("x", grr), ("y", near)], 1000).chart()
