"""Several questions under one budget: numbers to hold, ways of asking, edges, and the way from answers to estimates."""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.codec import dump
from deniable.collect.codec import load as load_bytes
from deniable.collect.tally import Tally
from deniable.errors import FormatError
from deniable.mechanisms.survey.bounds import simple_bound
from deniable.mechanisms.survey.laws import box_costs, box_information
from deniable.plan.survey import pays_from, restored
from deniable.run.survey import _document
from deniable.testing import StreamWords
from deniable_client import Device, explain

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "questions.json").read_text())["settings"]


def golden(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in GOLDEN if case["kind"] == kind]


def questions(sizes: Sequence[int]) -> dict[str, int]:
    return {f"q{j}": k for j, k in enumerate(sizes)}


def close(found: Any, wanted: Any) -> bool:
    return list(found) == pytest.approx(list(wanted), rel=1e-10)


# ---- numbers to hold


@pytest.mark.parametrize("case", golden("smp"))
def test_one_question_each(case: dict[str, Any]) -> None:
    """Shares, errors and costs to 1e-10; the bound is the larger one of two, so at least the golden one."""
    made = dn.survey(questions(case["sizes"]), epsilon=case["epsilon"], weights=case["weights"], scheme="one")
    told = made.properties()
    assert close([question.cost for question in made.questions], case["one_report"])
    assert close(told["shares"].values(), case["q"])
    assert close(told["mse"].values(), case["n_mse_reporters_uniform"])
    assert told["mse_sum"] == pytest.approx(case["weighted_sum"], rel=1e-10)
    drawn = sum(w * (k - 1) / k**2 for k, w in zip(case["sizes"], case["weights"], strict=True))
    plain = sum(math.sqrt(w) * (k - 1) / k for k, w in zip(case["sizes"], case["weights"], strict=True)) ** 2
    assert plain / simple_bound(case["epsilon"]) - drawn == pytest.approx(case["bound"], rel=1e-10)
    assert case["bound"] * (1 - 1e-12) <= told["bound"] <= told["mse_sum"] * (1 + 1e-12)
    assert 0 <= told["gap"] + 1e-12 <= case["gap"] + 1e-12
    split = dn.survey(questions(case["sizes"]), epsilon=case["epsilon"], scheme="split").properties()
    assert close(split["mse"].values(), case["spl_equal_split"])


@pytest.mark.parametrize("case", golden("box"))
def test_boxes(case: dict[str, Any]) -> None:
    told = dn.mechanism("box", sizes=case["sizes"], shape=case["shape"], epsilon=case["epsilon"]).properties()
    for name, wanted in (("information", "information"), ("p", "p"), ("q", "q"), ("mse", "n_mse")):
        assert close(told[name], case[wanted]), name


def crossing(better: Callable[[float], bool], low: float, high: float) -> float:
    """Where something begins to hold."""
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if better(middle) else (middle, high)
    return high


@pytest.mark.parametrize("case", golden("threshold_spl_beats_smp_yes_no"))
def test_from_where_on_a_split_budget_beats_one_question_each(case: dict[str, Any]) -> None:
    asked = questions([2] * case["d"])

    def better(epsilon: float) -> bool:
        one, split = (dn.survey(asked, epsilon=epsilon, scheme=scheme).properties() for scheme in ("one", "split"))
        return bool(split["mse_sum"] < one["mse_sum"])

    wanted = case["epsilon"]
    assert better(wanted * (1 + 1e-8))
    assert not better(wanted * (1 - 1e-8))
    joint = dn.survey(questions([2] * min(case["d"], 3)), epsilon=wanted)
    assert (
        joint.properties()["mse_sum"]
        < dn.survey(questions([2] * min(case["d"], 3)), epsilon=wanted, scheme="split").properties()["mse_sum"]
    ), "a box beats a split budget where that begins to pay"


@pytest.mark.parametrize("case", golden("threshold_block"))
def test_from_where_on_one_more_yes_no_question_is_asked_together(case: dict[str, Any]) -> None:
    """t and t + 1 questions together tell the same of all of them there: the information of t is t V_j."""

    def better(epsilon: float) -> bool:
        more, less = (sum(box_information(epsilon, (2,) * t, (1,) * t)) for t in (case["block"], case["over"]))
        return more > less

    t = case["over"]
    e = 1 + 2**t * (2 * math.sqrt(t) - math.sqrt(t + 1)) / (math.sqrt(t + 1) - math.sqrt(t))
    assert e == pytest.approx(case["e"], rel=1e-12)
    found = crossing(lambda x: _root_sum(x, t + 1) < _root_sum(x, t), 0.1, 8.0)
    assert found == pytest.approx(case["epsilon"], abs=1e-8)
    assert better(20.0)


def _root_sum(epsilon: float, t: int) -> float:
    """What one of many yes/no questions costs if so many are asked together."""
    return math.sqrt(sum(box_costs(epsilon, (2,) * t, (1,) * t))) / t


def test_from_where_on_asking_together_pays() -> None:
    assert pays_from({"a": 2, "b": 2}) == pytest.approx(1.3424540464535257, abs=2e-6)
    assert pays_from({"a": 3, "b": 3}) == pytest.approx(2.5246, abs=1e-4)
    assert pays_from({"a": 200, "b": 300}) is None
    schemes = {e: dn.survey(questions([2] * 6), epsilon=e).parts for e in (1.0, 2.0, 3.0, 4.0)}
    assert [max(part.count("+") + 1 for part in parts) for parts in schemes.values()] == [1, 2, 3, 3]
    assert len(dn.survey(questions([2] * 8), epsilon=4.2).parts) == 2, "four together"


def test_points_of_a_fine_grid_are_not_listed() -> None:
    """A mechanism for means has up to 2^30 points; their variance is that of numbers at equal distances."""
    tracemalloc.start()
    try:
        (asked,) = dn.survey({"income": {"interval": (0, 100)}}, epsilon=1.0).questions
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < 1 << 27
    (few,) = dn.survey({"age": dn.mechanism("hm", interval=(0, 9), points=10, epsilon=1.0)}).questions
    assert few.spread == pytest.approx(np.var(few.mechanism.domain.points))
    assert asked.k > 1 << 20


# ---- shares and wanted errors


def test_shares_are_the_best_there_are() -> None:
    """No other shares give a smaller weighted sum, and none the wanted errors with fewer people."""
    asked, weights = {"a": 2, "b": 5, "c": 20}, {"a": 3.0, "b": 1.0, "c": 0.5}
    made = dn.survey(asked, epsilon=1.0, weights=weights)
    costs, best = [q.cost for q in made.questions], made.properties()["mse_sum"]
    drawn = sum(weights[q.name] * q.spread for q in made.questions)
    rng = dn.simulation(3).generator()
    for shares in rng.dirichlet([4, 4, 4], 200):
        other = sum(w * c / q for w, c, q in zip(weights.values(), costs, shares, strict=True)) - drawn
        assert other > best
    assert made.alternatives["one"] == pytest.approx(best + drawn)


def test_people_for_wanted_errors() -> None:
    wanted = {"a": 0.01, "b": 0.02}
    made = dn.survey({"a": 2, "b": 8}, epsilon=1.0, stderr=wanted)
    exact = sum(q.cost / wanted[q.name] ** 2 for q in made.questions)
    assert made.needed == math.ceil(exact)
    told = made.properties(made.needed)
    assert told["needed"] == made.needed
    for name, error in told["stderr"].items():
        assert wanted[name] * (1 - 1e-4) < error <= wanted[name]
    fewer = made.properties(made.needed - 2)
    assert all(fewer["stderr"][name] > wanted[name] for name in wanted)
    box = dn.survey({"a": 2, "b": 2}, epsilon=3.0, stderr=0.01)
    assert box.scheme == "box"
    assert (box.needed or 0) < (dn.survey({"a": 2, "b": 2}, epsilon=3.0, stderr=0.01, scheme="one").needed or 0)


def test_parts_are_dealt_by_the_largest_remainders_and_nothing_else() -> None:
    made = dn.survey({"a": 2, "b": 8, "c": 100}, epsilon=1.0)
    for n in (1, 2, 3, 10, 999, 100_000):
        counts = np.bincount(made.assign(n, rng=dn.simulation(n)), minlength=3)
        exact = n * np.array(made.shares)
        assert counts.sum() == n
        assert np.abs(counts - exact).max() < 1
    assert (made.assign(50, rng=dn.simulation(1)) == made.assign(50, rng=dn.simulation(1))).all()
    assert (np.diff(made.assign(500)) < 0).any(), "in a random order"
    with pytest.raises(dn.ParameterError, match="n must be an integer >= 1"):
        made.assign(0)


# ---- the way from answers to estimates


def people(n: int) -> dict[str, Any]:
    rng = dn.simulation(5).generator()
    return {
        "smokes": np.array(["no", "yes"])[rng.integers(0, 2, n)],
        "drinks": np.array(["no", "yes"])[(rng.random(n) < 0.9).astype(int)],
        "age": rng.integers(0, 8, n),
        "income": rng.uniform(0, 5000, n),
    }


ASKED = {"smokes": ["no", "yes"], "drinks": ["no", "yes"], "age": 8, "income": {"interval": (0, 5000)}}


@pytest.mark.parametrize("scheme", ["one", "box", "split"])
def test_every_way_of_asking_finds_the_truth(scheme: str) -> None:
    """Alpha 1e-5 for all numbers together (Bonferroni, normal); errors are those that were predicted."""
    made, frame, n = dn.survey(ASKED, epsilon=2.0, scheme=scheme), people(40_000), 40_000
    numbers = None if scheme == "split" else made.assign(n, rng=dn.simulation(1))
    reports = made.privatize(frame, assigned=numbers, rng=dn.simulation(2))
    found = made.estimate(made.tally(reports))
    assert list(found) == list(ASKED)
    assert found["drinks"].labels == ("no", "yes")
    truth = {
        "smokes": [np.mean(frame["smokes"] == label) for label in ("no", "yes")],
        "drinks": [np.mean(frame["drinks"] == label) for label in ("no", "yes")],
        "age": np.bincount(frame["age"], minlength=8) / n,
        "income": [frame["income"].mean()],
    }
    off = np.concatenate([(e.value - truth[name]) / np.sqrt(e.variance("population")) for name, e in found.items()])
    assert np.abs(off).max() < 5.0
    assert np.abs(off).max() > 0.5
    told = made.properties(n)["stderr"]
    for name in ("smokes", "age"):
        assert np.sqrt(np.mean(found[name].variance("population"))) == pytest.approx(told[name], rel=0.03)
    assert made.estimate(reports)["age"].n == found["age"].n


def test_a_box_is_part_of_the_deal_in_files_too() -> None:
    made = dn.survey(ASKED, epsilon=2.5)
    assert made.parts[0] == "smokes+drinks"
    reports = made.privatize(people(500), rng=dn.simulation(1))
    design = made.design()
    assert dn.from_design(design).design == design
    back = load_bytes(dump(made.tally(reports)))
    assert isinstance(back, Tally)
    assert made.estimate(back)["drinks"].value.tolist() == made.estimate(made.tally(reports))["drinks"].value.tolist()
    assert design["parts"][0]["domain"]["labels"] == ["no, no", "no, yes", "yes, no", "yes, yes"]


def test_devices_answer_a_survey() -> None:
    """A device proves the promise, and its reports are counted like all others."""
    made = dn.survey(ASKED, epsilon=2.5)
    device = Device(made.design())
    rows = [device.report(["yes, no", 3, 1234.5]) for _ in range(40)]
    reports = dn.Reports.from_rows(made.design(), made.mechanism.fields, rows, simulated=False)
    assert made.tally(reports).n == 40
    assert "12.2 times" in str(explain(made.design()))
    assert made.mechanism.kernel.randomise((2, 3, 100), StreamWords(dn.simulation(1)))


def test_groups_with_weights() -> None:
    """Stratified: the sum of W_g value_g, with variances W_g^2 Var_g; more people of a group do not count for more."""
    made, n = dn.survey({"a": 2, "b": 4}, epsilon=2.0, scheme="one"), 4000
    rng = dn.simulation(1).generator()
    frames = {g: {"a": rng.integers(0, 2, n), "b": rng.integers(0, 4, n)} for g in ("north", "south")}
    tallies = {
        g: made.tally(made.privatize(frame, rng=dn.simulation(i))) for i, (g, frame) in enumerate(frames.items())
    }
    each = {group: made.estimate(tally) for group, tally in tallies.items()}
    found = made.pooled(tallies, {"north": 3, "south": 1})
    for name in ("a", "b"):
        north, south = each["north"][name], each["south"][name]
        assert np.allclose(found[name].value, 0.75 * north.value + 0.25 * south.value)
        wanted = 0.75**2 * north.variance("population") + 0.25**2 * south.variance("population")
        assert np.allclose(found[name].variance("population"), wanted)
    assert found.n == 2 * n
    with pytest.raises(dn.ParameterError, match="with a number for the group 'south'"):
        made.pooled(tallies, {"north": 1.0})


@pytest.mark.parametrize("scheme", ["pairs", "effects"])
def test_tables_of_two_questions_beside_others(scheme: str) -> None:
    """Margins of tables are the estimates of their questions; errors are those that were predicted."""
    asked = {"a": ["no", "yes"], "b": 3, "age": dn.ordinal(8), "c": 4}
    made = dn.survey(asked, epsilon=2.0, tables=[("a", "b"), ("c", "b")], scheme=scheme)
    n, rng = 30_000, dn.simulation(4).generator()
    a = rng.integers(0, 2, n)
    frame = {"a": np.array(["no", "yes"])[a], "b": a + rng.integers(0, 2, n), "age": rng.integers(0, 8, n), "c": 3 - a}
    tally = made.tally(made.privatize(frame, assigned=made.assign(n, rng=dn.simulation(1)), rng=dn.simulation(2)))
    found = made.estimate(tally)
    assert list(found) == list(asked)
    told = made.properties(n)
    for name in ("a", "b", "c"):
        predicted = told["stderr"][name] if name != "c" else math.sqrt(told["mse"]["c"] + 1 / (8 * n))
        found_error = math.sqrt(np.mean(found[name].variance("population")))
        assert found_error == pytest.approx(predicted, rel=0.1 if name == "c" else 0.03), "c has two answers of four"
        assert found[name].value.sum() == pytest.approx(1.0)
    table = made.table("a", "b", tally)
    true = [[np.mean((a == i) & (frame["b"] == j)) for j in range(3)] for i in range(2)]
    assert np.abs((table.value - true) / table.stderr).max() < 5
    assert np.allclose(table.value.sum(axis=0), found["b"].value)
    assert made.independence(tally, "b", "a").pvalue < 1e-6
    assert math.fsum(made.shares) == pytest.approx(1.0)
    with pytest.raises(dn.ParameterError, match="a and c have no table: no report is about both"):
        made.table("a", "c", tally)
    with pytest.raises(dn.ParameterError, match="a and age have no table"):
        made.independence("a", "age", tally)
    with pytest.raises(dn.ParameterError, match="two names and a tally, got 2 names and 0 tallies"):
        made.table("a", "b")


def test_tables_alone_are_those_of_their_design() -> None:
    made = dn.survey({"a": 2, "b": 3}, epsilon=1.0, scheme="pairs")
    assert made.parts == ("a x b",)
    assert made.mechanism.k == 6
    told = made.properties()
    assert told["gap"] == pytest.approx(made.properties(7)["gap"])
    assert told["table_sum"] >= told["bound"]
    assert dn.survey({"a": 2, "b": 3}, epsilon=1.0).tables == ()


# ---- promises


def test_the_record_and_one_answer() -> None:
    """Unequal budgets: each answer keeps its own, all of them together the largest; the channel says the same."""
    made = dn.survey({"a": {"k": 2, "epsilon": 0.5}, "b": 3}, epsilon=1.0)
    told = made.guarantee()
    assert (told["record"], told["answers"]) == (1.0, {"a": 0.5, "b": 1.0})
    channel = made.mechanism.channel()
    found = channel.proof().ratio
    assert found is not None
    assert found <= Fraction(math.exp(1.0)) * (1 + Fraction(1, 10**12))
    assert told["record_exact"] == pytest.approx(math.log(found), abs=1e-12)
    one = [
        max(row[3 * a + b] / row[3 * x + b] for row in channel.weights for b in range(3)) for a, x in ((0, 1), (1, 0))
    ]
    assert max(one) == pytest.approx(math.exp(0.5), rel=1e-12)
    box = dn.survey({"a": 2, "b": 2, "c": 2}, epsilon=3.0, scheme="box")
    assert box.mechanism.proof.ratio == box.mechanism.channel().proof().ratio
    split = dn.survey({"a": 2, "b": 3}, epsilon=1.0, scheme="split").guarantee()
    assert split["record"] == 1.0
    assert split["answers"] == {"a": 0.5, "b": 0.5}


# ---- edges


def test_one_question_is_its_mechanism() -> None:
    made = dn.survey({"age": 16}, epsilon=1.0)
    assert made.mechanism == dn.plan(k=16, epsilon=1.0, n=10_000).best.mechanism
    assert made.design() == made.mechanism.design
    assert made.properties()["mse"]["age"] == pytest.approx(made.mechanism.properties()["mse"])
    assert (made.assign(5) == 0).all()
    for given in ({"age": [1, 2, 3]}, [1, 2, 3]):
        reports = made.privatize(given, rng=dn.simulation(1))
        assert made.estimate(made.tally(reports))["age"].n == 3


def test_a_question_that_nobody_is_asked_has_no_number() -> None:
    made = dn.survey({"a": 2, "b": 3, "c": 4}, epsilon=1.0, weights={"b": 0})
    told = made.properties(100)
    assert told["shares"]["b"] == 0.0
    assert told["mse"]["b"] is None
    assert sum(told["shares"].values()) == pytest.approx(1.0)
    found = made.estimate(made.tally(made.privatize({"a": [0, 1] * 50, "c": [3, 1] * 50}, rng=dn.simulation(1))))
    assert (list(found), found.silent) == (["a", "c"], ("b",))
    with pytest.raises(dn.ParameterError, match="b was not asked: no report is about it"):
        found["b"]
    alone = made.privatize({"a": [0] * 20, "c": [3] * 20}, assigned=[1] * 20, rng=dn.simulation(1))
    assert made.estimate(alone).silent == ("a", "b"), "and so it is where nobody happened to be asked"


@pytest.mark.parametrize(
    ("asked", "settings", "told"),
    [
        ({}, {"epsilon": 1}, "questions must be at least one question, got none"),
        ([2, 3], {"epsilon": 1}, "questions must be a mapping from names to questions"),
        ({"a": 1}, {"epsilon": 1}, "a: k must be an integer >= 2"),
        ({"a": 2, "": 3}, {"epsilon": 1}, "questions must be with names that are texts"),
        ({"a": 2}, {}, "epsilon must be given"),
        ({"a": 2, "b": 2}, {"epsilon": 1, "weights": {"a": 0, "b": 0}}, "weights must be above 0 for one at least"),
        ({"a": 2}, {"epsilon": 1, "weights": {"a": -1}}, "weights must be numbers >= 0"),
        ({"a": 2}, {"epsilon": 1, "weights": {"x": 1}}, "weights must be for the questions a"),
        ({"a": 2}, {"epsilon": 1, "weights": [1, 2]}, "weights must be 1 numbers"),
        ({"a": 2}, {"epsilon": 1, "weights": {"a": "x"}}, "weights must be numbers"),
        ({"a": 2}, {"epsilon": 1, "stderr": 0}, "stderr must be numbers > 0"),
        ({"a": 2, "b": 2}, {"epsilon": 1, "stderr": {"a": 0.1}}, "a number for every question, got none for b"),
        ({"a": 2}, {"epsilon": 1, "stderr": 0.1, "weights": 1}, "weights must be left out where stderr is given"),
        ({"a": {"k": 2, "epsilon": 2}}, {"epsilon": 1}, "epsilon of a must be at most that of the survey, 1, got 2"),
        ({"a": {"k": 2, "epsilon": 0.7}, "b": 2}, {"epsilon": 0.5, "scheme": "split"}, "0.7 in all and others"),
        ({f"q{i}": {"k": 2, "epsilon": 0.6} for i in range(2)}, {"epsilon": 1, "scheme": "split"}, "1.2 in all"),
        ({"a": 2}, {"epsilon": 1, "scheme": "boxes"}, "scheme must be one of auto, one, box, pairs"),
        ({"a": 2, "b": {"interval": (0, 1)}}, {"epsilon": 1, "scheme": "box"}, "at least 2 for a box, got 1 that can"),
        ({"a": {"size": 2}}, {"epsilon": 1}, "a: question must have one of mechanism, keys"),
        ({"a": {"k": 2, "colour": 1}}, {"epsilon": 1}, "a: question must be described by k, labels"),
        ({"a": "yes"}, {"epsilon": 1}, "a: question must be a number of answers"),
        ({"a": {"mechanism": "laplace", "points": 4}}, {"epsilon": 1}, "one that tells the error of its estimates"),
        ({"a": 2, "b": 2}, {"epsilon": 1, "tables": [("a", "b")], "scheme": "one"}, "pairs, effects where tables"),
        ({"a": 2, "b": {"interval": (0, 1)}}, {"epsilon": 1, "tables": [("a", "b")]}, "tables must be questions with"),
        ({"a": 2, "b": 2}, {"epsilon": 1, "tables": [("a", "x")]}, "tables must be pairs of two of a"),
        ({"a": 2, "b": 2}, {"epsilon": 1, "tables": [("a", "b")], "stderr": 1}, "stderr must be left out where"),
        ({"a": {"ordinal": 8, "k": 3}}, {"epsilon": 1}, "a: question must be described by ordinal, queries"),
        ({f"q{i}": 2 for i in range(300)}, {"epsilon": 1}, "questions must be at most 255, got 300 of them"),
    ],
)  # fmt: skip
def test_what_is_no_survey_is_refused(asked: Any, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(dn.ParameterError, match=told):
        dn.survey(asked, **settings)


def test_a_split_budget_has_no_design() -> None:
    made = dn.survey({"a": 2, "b": 2}, epsilon=1.0, scheme="split")
    with pytest.raises(dn.ParameterError, match="a split budget is a baseline without a design"):
        made.design()
    with pytest.raises(dn.ParameterError, match="one that deals parts out"):
        made.assign(3)
    with pytest.raises(dn.ParameterError, match="reports must be a mapping with a, b"):
        made.tally({"a": None})


def test_mechanisms_are_kept_as_they_are_given() -> None:
    word, films = dn.mechanism("olh", epsilon=1.0, k=10), dn.mechanism("kv-ss2", epsilon=0.5, k=4)
    made = dn.survey({"word": word, "films": films})
    assert made.mechanisms == (word, films)
    assert (made.epsilon, made.record) == (1.0, 1.0)
    films = dn.mechanism("kv-ss2", epsilon=0.5, k=4, length=2)
    assert dn.survey({"word": word, "films": films}).bound is None, "nothing is known of several pairs a person"
    assert dn.survey({"word": word, "a": 2, "b": 2}, epsilon=3.0).parts == ("word", "a+b")


@pytest.mark.parametrize("name", ["hm", "om", "lu"])
def test_numbers_are_costed_in_their_own_unit(name: str) -> None:
    """The unit of a number changes no share, and its costs are those of the mechanism that is asked."""
    found = []
    for end in (1.0, 5000.0):
        m = dn.mechanism(name, epsilon=1.0, interval=(0, end))
        made = dn.survey({"a": 3, "x": m}, epsilon=1.0)
        found.append(made.properties()["shares"])
        points = m.domain.decode(np.linspace(0, m.k - 1, 1001).astype(np.int64))
        assert made.questions[1].cost == pytest.approx(m.properties(1)["variance_worst"] + np.var(points), rel=2e-3)
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"parts": [[0], [1], [2], []]}, "its parts are not those of its questions"),
        ({"parts": [[0], [0], [2]]}, "its parts are not those of its questions"),
        ({"parts": [[0], [1], [3]]}, "its parts are not those of its questions"),
        ({"parts": [[0], [1], [-1]]}, "its parts are not those of its questions"),
        ({"scheme": "boxes"}, "its parts are not those of its questions"),
        ({"weights": [1.0, 1.0]}, "its parts are not those of its questions"),
        ({"parts": [[0], [1]]}, "its parts are not those of its design"),
        ({"parts": [[0], [2], [1]]}, "a part has other questions than it says"),
        ({"epsilon": 0.999}, "its epsilon is below that of its design, or no number"),
        ({"epsilon": "1"}, "its epsilon is below that of its design, or no number"),
        ({"epsilon": math.inf}, "its epsilon is below that of its design, or no number"),
        ({"epsilon": None}, "its epsilon is below that of its design, or no number"),
        ({"parts": 3}, "the survey is not well formed"),
        ({"questions": {}}, "its parts are not those of its questions"),
    ],
)
def test_a_survey_that_does_not_agree_with_itself_is_refused(change: dict[str, Any], told: str) -> None:
    made = dn.survey({"a": 2, "b": 3, "c": 5}, epsilon=1.0, scheme="one")
    document = _document(made)
    assert restored(document, dn.from_design).design() == made.design()
    assert restored(document, dn.from_design).needed == made.needed
    with pytest.raises(FormatError, match=told):
        restored(document | change, dn.from_design)
