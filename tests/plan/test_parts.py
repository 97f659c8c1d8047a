"""Parts of plans one by one, at every end: searches, promises, merging, tables, charts, and surveys."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size, frontier_mse
from deniable.errors import ParameterError
from deniable.mechanisms.registry import MECHANISMS
from deniable.plan import charts, keyvalue
from deniable.plan.answer import Rejected
from deniable.plan.candidates import Recipe, Wish, _between, _thin, _tuned
from deniable.plan.charts import _by_cost, answer_chart, keyvalue_chart, plan_chart, reason
from deniable.plan.direction import DirectionPlan
from deniable.plan.frequency import FrequencyPlan, FrequencyPrediction, _alike, _check_sampled, _frontier, _Planner
from deniable.plan.keyvalue import KeyValuePlan, KeyValuePrediction
from deniable.plan.mean import MeanPlan, MeanPrediction
from deniable.plan.promised import Promised, arguments, item_promise, smallest_budget
from deniable.plan.range import RangePlan, RangePrediction
from deniable.plan.release import ReleasePlan, ReleasePrediction, _constant
from deniable.plan.request import request
from deniable.plan.scoring import Weights
from deniable.plan.smallest import smallest_epsilon, smallest_n
from deniable.plan.survey import _by_name, _goal, _own_epsilon, _together

INF = math.inf


def mechanism(name: str = "made", epsilon: float = 1.0, **more: Any) -> Any:
    return SimpleNamespace(name=name, epsilon=epsilon, k=more.pop("k", 10), params=more.pop("params", {}), **more)


# ---- searches


@pytest.mark.parametrize("target", [0.1, 0.25, 1.0, 3.0])
@pytest.mark.parametrize("scale", [0.5, 1.0, 7.3])
def test_the_fewest_people_are_the_first_for_whom_the_error_will_do(scale: float, target: float) -> None:
    """Also of errors that do not fall as the root does, for which the guess is far off, on either side."""
    for power in (0.5, 0.25, 0.75):
        found = smallest_n(lambda n, power=power: scale / n**power, target)
        want = next(n for n in range(1, 10**8) if scale / n**power <= target) if (scale / target) ** 4 < 1e4 else found
        assert found == want


def test_the_least_epsilon_is_a_whole_step_and_infinite_errors_are_passed_over() -> None:
    assert smallest_epsilon(lambda e: 0.5, 0.5) == 1e-3, "what is equal to the target meets it"
    assert smallest_epsilon(lambda e: INF if e > 3 else 1 / e, 0.5) == 2.0
    assert smallest_epsilon(lambda e: INF if e > 3 else 1 / e, 0.25) is None
    assert smallest_epsilon(lambda e: INF, 0.5) is None
    assert smallest_epsilon(lambda e: 1 / e, 1 / 1.234567) == 1.234567
    assert smallest_epsilon(lambda e: 1 / e, 1000.0) == 1e-3


# ---- promises


def promised(theta: float | None = None, **said: Any) -> Promised:
    p = dn.promise(**said)
    given = {} if theta is None else {"theta": theta}
    return Promised.of(p, Domain.given(None if p.labels else p.k, p.labels), given)


def test_harmless_answers_share_what_is_said_of_them_and_sensitive_ones_the_rest() -> None:
    some = promised(0.4, item_epsilon=[1, 2, 2], rule="min", labels=list("abcde"), sensitive="b,d,e")
    assert some.prior == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.2])
    few = promised(0.1, item_epsilon=[1, 2], rule="min", labels=list("abcd"), sensitive="b,c")
    assert few.prior == pytest.approx([0.05, 0.45, 0.45, 0.05])
    assert (few._told, few._item_budgets, few.epsilon) == (["b", "c"], "1.0,2.0", 1.0)
    assert promised(epsilon=1, k=4, sensitive=3)._told == 3
    assert promised(epsilon=1, k=4).prior.tolist() == [0.25] * 4
    assert promised(epsilon=1, k=4, sensitive=3).prior.tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("budgets", "told"),
    [
        ([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "2.0,1.0,2.0"),
        ([[0, 1, 2], [1, 0, 1.2], [2, 1.2, 0]], "1.0,1.0,1.2"),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], None),
        ([[0, 0.5, 2, 2], [0.5, 0, 2, 2], [2, 2, 0, 0.5], [2, 2, 0.5, 0]], None),
    ],
)
def test_a_budget_for_each_answer_is_found_where_the_smaller_of_two_is_allowed(budgets: Any, told: str | None) -> None:
    assert promised(budgets=budgets)._item_budgets == told


@pytest.mark.parametrize(
    ("theta", "said"),
    [(0, "a share between 0 and 1"), (1, "a share between 0 and 1"), ("0.5", "a share between 0 and 1")],
)
def test_shares_of_harmless_answers_are_between_none_and_all(theta: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        promised(theta, epsilon=1, k=4, sensitive=2)
    levels = dn.promise(epsilon=1, k=4).with_levels((1.0, 2.0), 1.0, 2.0)
    with pytest.raises(ParameterError, match="promise must be one without levels"):
        Promised.of(levels, Domain.of(4), {})


def test_promises_become_arguments_and_options_become_promises() -> None:
    p = dn.promise(budgets=[[0, "inf"], [0.5, 0]], labels=["a", "b"])
    assert arguments(p) == {"budgets": [[0.0, "inf"], [0.5, 0.0]], "labels": ["a", "b"]}
    assert dn.promise(**arguments(p)) == p
    assert smallest_budget(dn.promise(budgets=[[0, 3, 1], [3, 0, 1], [1, 1, 0]])) == 1.0
    assert item_promise({"item_epsilon": "1,2"}, Domain.of(4)) is None
    assert item_promise({"sensitive": 2}, Domain.of(4)) is None
    made = item_promise({"item_epsilon": "1,2", "sensitive": 2}, Domain.of(4))
    assert made is not None
    assert made.budgets[:2].tolist() == [[0, 1, 1, 1], [1, 0, 2, 2]]


# ---- shares


def shares(name: str = "a", n: int = 1000, **told: Any) -> FrequencyPrediction:
    numbers = {"mse": 1e-4, "asr": 0.5, "blind": 0.1, "bits": 8.0, "bytes": 1, "work": 10.0, "poisoning": 0.02}
    m = told.pop("mechanism", mechanism(name))
    return FrequencyPrediction(mechanism=m, n=n, **({"options": {}} | numbers | told))


class Kind:
    """A kind of mechanism with a name and parameters."""

    def __init__(self, name: str, epsilon: float = 1.0, **params: Any) -> None:
        self.name, self.epsilon, self.k, self.params = name, epsilon, 10, params


def planner(**limits: float) -> _Planner:
    weights = Weights("mse", {"mse": 1.0})
    return _Planner(request(Domain.of(10), 1000, 1.0, limits, weights, None, None, {}, None))


def test_designs_of_one_kind_are_shown_once_if_they_hardly_differ_and_of_two_if_they_are_equal() -> None:
    score = Weights("mse", {"mse": 1.0}).among([])
    first = shares(mechanism=Kind("a"))
    for other, kept in (
        (shares(mechanism=Kind("b"), mse=1.004e-4), 1),
        (shares(mechanism=Kind("b"), mse=1.006e-4), 2),
        (shares(mechanism=mechanism("b"), mse=1.004e-4), 2),
        (shares(mechanism=mechanism("b"), mse=1e-4 * (1 + 5e-10)), 1),
        (shares(mechanism=Kind("b"), n=1001), 2),
        (shares(mechanism=Kind("b", 1.01)), 2),
        (shares(mechanism=Kind("b"), work=None), 2),
    ):
        made = planner()
        assert len(made._merged([first, other], score)) == kept
        assert [(o.title, o.reason, o.twin) for o in made.out] == [("b", "hardly different from a", True)] * (2 - kept)
    assert not _alike(shares(), shares(poisoning=0.0), 0.5)
    tuned, usual = shares(mechanism=Kind("a", g=3), options={"g": 3}), shares(mechanism=Kind("a", g=2), mse=1.001e-4)
    assert planner()._merged([tuned, usual], score) == [usual], "the usual choice, if it is as good"
    assert planner()._merged([usual, tuned], score) == [usual]


def test_a_design_under_two_names_is_one() -> None:
    made = planner()
    one, two, three = (
        shares(mechanism=Kind("a", g=2)),
        shares(mechanism=Kind("b", g=2)),
        shares(mechanism=Kind("a", g=3)),
    )
    again = shares(mechanism=Kind("a", 1.5, g=2))
    assert made._distinct([one, two, three, one, again]) == [one, three, again]
    assert [(o.title, o.reason, o.twin) for o in made.out] == [("b (g = 2)", "the same design as a (g = 2)", True)]


def test_what_is_sampled_may_have_one_per_cent_more_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.plan import frequency

    monkeypatch.setattr(frequency, "SupportMechanism", SimpleNamespace)
    m: Any = SimpleNamespace(k=4, name="made", support_effective=SimpleNamespace(mse=lambda k, n: 1.01 * k / n))
    _check_sampled(m, 4 / 100, 100)
    with pytest.raises(ParameterError, match=r"what made samples has 1\.02 times the ideal error"):
        _check_sampled(m, 4 / 101, 100)


@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 1.0, 10), (9, 0.5, 100), (40, 3.0, 1000)])
def test_the_frontier_begins_at_the_least_error_and_ends_where_nothing_is_told(k: int, epsilon: float, n: int) -> None:
    rows = _frontier(k, epsilon, n)
    assert (rows[0]["size"], rows[0]["share"]) == (best_subset_size(k, epsilon), 0.0)
    assert (rows[-1]["size"], rows[-1]["share"]) == (k - 1, 0.0)
    for row in rows:
        assert row["mse"] == pytest.approx(frontier_mse(k, epsilon, row["asr"], n), rel=1e-9)
        assert row["stderr"] == math.sqrt(row["mse"])
    assert all(one["asr"] > two["asr"] for one, two in pairwise(rows))


def test_what_was_given_and_is_made_no_use_of_is_told_with_the_reason() -> None:
    def made(limits: dict[str, float], top: int | None, *out: Any) -> _Planner:
        weights = Weights("mse", {"mse": 1.0})
        found = _Planner(request(Domain.of(10), 1000, 1.0, limits, weights, None, None, {"sensitive": 2}, top))
        found.out = [Rejected(d.title, "", d) for d in out]
        return found

    some, own = shares("grr"), shares("uss", options={"sensitive": 2})
    told = "Note: no design here makes use of sensitive. Those that do (uss) are left out because they miss the limits."
    assert made({}, None, own)._unused([some]) == (told,)
    assert made({}, None, own, own)._unused([some, own]) == ()
    assert made({}, None, shares("ss"))._unused([some]) == ()
    assert made({}, 1, own)._unused([some]) == (), "others may be further down"
    assert made({}, 2, own)._unused([some]) == (told,)
    assert made({}, None, own)._unused([]) == ()
    dark = shares("upldp", options={"sensitive": 2}, work=None)
    (said,) = made({"work": 5.0}, None, dark)._unused([some])
    assert said.endswith("(upldp) are left out because their work is not known, so they cannot meet a limit on it.")
    assert (
        made({"work": 5.0}, None, dark, own)
        ._unused([some])[0]
        .endswith("(upldp, uss) are left out because they miss the limits.")
    )


def test_tables_of_shares_tell_what_is_looked_for() -> None:
    d = shares(mse=0.000123456, asr=0.12345, bytes=12_345, work=1234.5, poisoning=0.0123, gap=0.5)
    asked: dict[str, Any] = {"k": 10, "n": 1000, "epsilon": 1.0}
    columns = FrequencyPlan(asked, {}, (d,), ()).columns
    assert {name: cell(d) for name, cell in columns.items()} == {
        "error": "1.11 pt", "excess": "50.0 %", "guess": "12.3 %", "bytes": "12,345", "work": "1,234",
        "forged": "1.23 pt",
    }  # fmt: skip
    unknown = shares(work=None, poisoning=None, gap=None)
    assert [columns[name](unknown) for name in ("excess", "work", "forged")] == ["unknown"] * 3
    people = FrequencyPlan(asked | {"n": None}, {"stderr": 0.02}, (shares(n=1234),), ())
    assert people.columns["reports"](people.designs[0]) == "1,234"
    assert people.message == "1,234 reports are enough for a standard error of 0.02 at epsilon 1: a."
    one = FrequencyPlan(asked | {"n": None}, {"stderr": 0.02}, (shares(n=1),), ())
    assert one.message.startswith("1 report is enough")
    least = FrequencyPlan(asked | {"epsilon": None, "n": 1}, {"stderr": 0.02}, (d,), ())
    assert next(iter(least.columns)) == "epsilon"
    assert least.message == "epsilon 1.0 is enough for a standard error of 0.02 with 1 report: a."
    few = FrequencyPlan(
        asked, {"stderr": 0.001}, (), (), d, shares("b", smallest_n=5000), shares("c", mechanism=mechanism("c", 2.5))
    )
    assert few.message.endswith(" That error takes 5,000 reports with b, or epsilon 2.5.")
    assert FrequencyPlan(asked, {"stderr": 0.001}, (), (), d, shares("b", smallest_n=5000)).message.endswith("with b.")


def test_curves_are_looked_at_where_they_are_whole() -> None:
    assert _between(3, 9, True, 100).tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert _between(0, 100, True, 5).tolist() == [0, 25, 50, 75, 100]
    assert _between(0.0, 1.0, False, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert _between(0, 1 << 25, True, 3).tolist() == [0, 1 << 24, 1 << 25]
    assert _thin(np.arange(10), 4).tolist() == [0, 3, 6, 9]
    assert _thin(np.arange(3), 4).tolist() == [0, 1, 2]


def test_only_primes_are_tried_where_a_prime_is_the_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curve is looked at once: between two primes there is nothing closer to the best."""
    seen: list[Any] = []
    entry = MECHANISMS["pgr"]
    traits = replace(entry.traits, curve=lambda *given: seen.append(given) or entry.traits.curve(*given))  # type: ignore[misc]
    recipe = Recipe("pgr", replace(entry, traits=traits), {}, tuned=True)
    wanted = request(Domain.of(300), 1000, 1.0, {}, Weights("mse", {"mse": 1.0}), None, None, {}, None)
    options = _tuned(recipe, 1.0, Wish(wanted, 1000, {}, Weights("mse", {"mse": 1.0}).among([])))
    assert (len(seen), list(options)) == (1, ["prime"])


# ---- numbers, ranges, near answers, pairs


def mean(**told: Any) -> MeanPrediction:
    numbers: dict[str, Any] = {"n": 1000, "variance_mean": 4.0, "variance_worst": 9.0, "asr": 0.75, "blind": 0.5}
    return MeanPrediction(
        mechanism=mechanism(k=64), options={}, bits=8.0, bytes=1, rounding=0.5, **(numbers | {"work": 2.5} | told)
    )


def test_tables_of_means_tell_errors_or_people() -> None:
    asked = {"interval": [0, 100], "n": 1000, "epsilon": 1.0}
    d = mean(poisoning=0.12345)
    cells = {name: cell(d) for name, cell in MeanPlan(asked, {}, (d,), ()).columns.items()}
    assert cells == {"error": "3", "evenly spread": "2", "guess": "75 %", "bytes": "1", "work": "2", "forged": "0.123"}
    few = MeanPlan(asked | {"n": None}, {"stderr": 3.0}, (mean(n=1234),), ())
    cells = {name: cell(few.designs[0]) for name, cell in few.columns.items()}
    assert (cells["people"], cells["evenly spread"]) == ("1,234", "549"), "1234 (2/3)^2, rounded up"
    assert few.message == "1,234 people are enough for a standard error of 3: made."
    round_ = DirectionPlan(asked, {}, (d,), ())
    assert [*round_.columns] == ["error", "all the same", "guess", "bytes", "work", "forged"]
    assert "where the resultant is 0.5" in round_.meanings["error"]
    assert round_.notes == (
        "Errors are for a resultant of 0.5: with half of it they are twice as large, and where no direction prevails "
        "there is none to be found.",
    )
    assert DirectionPlan(asked, {}, (), ()).notes == ()


def test_directions_are_best_known_where_all_are_the_same() -> None:
    """Of a design the variance is that of the smaller resultant, and people are counted for that."""
    found = dn.plan(question="direction", interval=(0, 24), epsilon=2.0, n=400, points=24)
    for d in found.designs:
        assert d.variance_worst == pytest.approx(d.mechanism.variance_at(0.5) / 400)
        assert d.variance_mean == pytest.approx(d.mechanism.variance_at(1.0) / 400)
        assert d.variance_mean < d.variance_worst
        assert d.rounding == 0.5


def ranges(**told: Any) -> RangePrediction:
    numbers: dict[str, Any] = {"n": 1000, "variance_range": 4e-4, "mse": 9e-4, "gap": 0.25, "asr": 0.5, "blind": 0.1}
    return RangePrediction(mechanism=mechanism(), options={}, bits=8.0, bytes=1, **(numbers | {"work": 3.0} | told))


def test_tables_of_ranges_tell_errors_of_ranges_and_of_single_answers() -> None:
    asked = {"k": 10, "n": 1000, "epsilon": 1.0}
    found = RangePlan(asked, {}, (ranges(),), ())
    assert {name: cell(found.designs[0]) for name, cell in found.columns.items()} == {
        "error": "2 pt", "excess": "25.0 %", "answers": "3 pt", "guess": "50 %", "bytes": "1", "work": "3",
    }  # fmt: skip
    assert found.message == "made has the least error: a standard error of 2 percentage points of ranges."
    people = RangePlan(asked | {"n": None}, {"stderr": 0.02}, (ranges(n=2345, work=None),), ())
    assert next(iter(people.columns.items()))[1](people.designs[0]) == "2,345"
    assert people.columns["work"](people.designs[0]) == "unknown"
    assert people.message == "2,345 people are enough for a standard error of 2 percentage points of ranges: made."


def test_what_a_constant_answer_costs() -> None:
    def losses(**own: Any) -> Any:
        return SimpleNamespace(losses=SimpleNamespace(**({"width": None, "line": None} | own)))

    assert _constant(losses(width=10.0)) == 2.5
    for k in (2, 5, 6, 7):
        line = SimpleNamespace(k=k, step=0.5)
        want = min(sum(abs(x - y) for x in range(k)) for y in range(k)) / k * 0.5
        assert _constant(losses(line=line)) == pytest.approx(want)
    table = SimpleNamespace(
        k=2, outputs=3, weights=lambda: np.array([0.5, 0.5]), matrix=lambda: np.array([[0, 1, 4], [6, 3, 0]])
    )
    assert _constant(losses(**vars(table))) == 2.0
    assert _constant(losses(k=1025, outputs=1024)) is None


def near(**told: Any) -> ReleasePrediction:
    m = mechanism(losses=SimpleNamespace(unit="km"), domain=None)
    numbers: dict[str, Any] = {"loss": 2.0, "worst": 3.0, "bound": 1.5, "gap": 1 / 3, "asr": 0.5}
    return ReleasePrediction(mechanism=m, options={}, bits=8.0, bytes=1, **(numbers | told))


def test_tables_of_near_answers_tell_what_is_saved() -> None:
    found = ReleasePlan({"epsilon": 1.0}, {}, (near(constant=4.0, poisoning=0.25),), ())
    (d,) = found.designs
    assert {name: cell(d) for name, cell in found.columns.items()} == {
        "loss": "2", "saved": "50.0 %", "worst": "3", "excess": "33.3 %", "guess": "50 %", "bytes": "1",
        "forged": "0.25",
    }  # fmt: skip
    assert found.message == (
        "made has the least expected loss: 2 km; no mechanism has less than 1.5 km. That is 50 % less than one "
        "constant answer for everybody (4 km)."
    )
    equal = ReleasePlan({"epsilon": 1.0}, {}, (near(constant=2.0, bound=None),), ())
    assert (
        equal.message
        == "made has the least expected loss: 2 km. That is no less than one constant answer for everybody (2 km)."
    )
    worse = ReleasePlan({"epsilon": 1.0}, {}, (near(constant=1.6, bound=None),), ())
    assert worse.message.endswith(" 2 km. That is 25 % more than one constant answer for everybody (1.6 km).")
    dark = ReleasePlan({"epsilon": 1.0}, {}, (near(worst=None, gap=None),), ())
    assert [dark.columns[name](dark.designs[0]) for name in ("saved", "worst", "excess", "forged")] == ["unknown"] * 4
    assert (near(constant=0.0).saved, near(constant=1.0).saved) == (None, -1.0)


def pairs(name: str = "a", **told: Any) -> KeyValuePrediction:
    numbers: dict[str, Any] = {
        "n": 1000,
        "variance": 4e-4,
        "variance_mean": 1e-4,
        "cost": 5e-4,
        "bound": 1e-4,
        "gap": 3.0,
    }
    numbers |= {"asr": 0.5, "blind": 0.05, "work": 10.0, "poisoning": 0.02}
    m = mechanism(name, own_params=told.pop("own", {}))
    return KeyValuePrediction(mechanism=m, bits=8.0, bytes=1, **({"options": {}} | numbers | told))


def test_pairs_are_told_by_the_rarest_key_whose_mean_is_known() -> None:
    """A tenth of a range that is two wide: a share s has the error sqrt(M)/s."""
    d = pairs()
    assert (d.stderr, d.rarest) == (0.02, pytest.approx(0.05))
    asked = {"k": 10, "n": 1000, "epsilon": 1.0, "interest": 2.0, "length": None}
    found = KeyValuePlan(asked, {}, (d, pairs(variance_mean=0.05)), ())
    assert [found.columns["rarest"](each) for each in found.designs] == ["5 %", "none"]
    assert found.message == (
        "a is best for an interest of 2 in frequencies against means: a standard error of 2 percentage points for a "
        "frequency, and of a tenth of the range for the mean of a key that 5 % of the people have."
    )
    for interest, words in ((0.0, "means alone"), (1.0, "frequencies and means equally")):
        assert f" is best for {words}: " in KeyValuePlan(asked | {"interest": interest}, {}, (d,), ()).message
    assert pairs(own={"mix": 0, "key_size": 3, "size": 2}).title == "a (mix = 0, size = 2)"
    assert pairs(own={"mix": 0.5, "key_size": 3}).title == "a (mix = 0.5, key_size = 3)"


def test_two_kinds_of_reports_need_people_for_both() -> None:
    """A chance of one in a million that nobody sends one of them is allowed."""
    wanted = request(Domain.of(10), 100, 1.0, {}, Weights("cost", {"cost": 1.0}), None, None, {}, None)
    for n, least, fine in ((100, 0.13, True), (100, 0.128, False), (1, 1.0, True), (13, 0.66, True), (13, 0.65, False)):
        made = keyvalue._Planner(wanted, n, 1.0, None, 1.0)
        groups: Any = SimpleNamespace(name="m", groups=[SimpleNamespace(share=1.0), SimpleNamespace(share=least)])
        assert ((1 - least) ** n <= 1e-6) == fine
        if fine:
            made._check_groups(groups)
        else:
            with pytest.raises(
                ParameterError, match=f"m has two kinds of reports, and of {n} people nobody might send"
            ):
                made._check_groups(groups)
    few = dn.plan(question="key-value", k=9, n=10, epsilon=1.0, interest=4.0)
    assert {d.options.get("encoding") for d in few.designs if d.name == "kv-ss"} == {None, "cyclic"}
    reach = keyvalue._Planner(wanted, 100, 1.0, 3, 1.0)._reach
    assert (reach("size"), reach("mix")) == ((1, 25), (0.0, pytest.approx(0.98)))
    assert reach("g") == (2, pytest.approx(16 * (math.e + 1)))
    assert keyvalue._Planner(wanted, 100, 30.0, None, 1.0)._reach("g")[1] == pytest.approx(16 * (math.exp(10) + 1))
    assert keyvalue._between(1, 64, True) == [1, 2, 4, 8, 16, 32, 64]
    assert keyvalue._between(0.0, 0.6, False) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


# ---- charts


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    seen: list[Any] = []
    monkeypatch.setattr(charts, "scatter_chart", lambda rows, **how: seen.append((rows, how)))
    return seen


def test_what_another_one_beats_on_both_axes_is_worth_a_choice_for_its_costs() -> None:
    rows = [
        {"kind": kind, "x": x, "y": y}
        for kind, x, y in (("good", 1, 1), ("good", 2, 2), ("plain", 3, 3), ("good", 0.9995, 5), ("good", 2, 1))
    ]
    assert [row["kind"] for row in _by_cost(rows, "x", "y")] == ["good", "cost", "plain", "good", "good"]
    assert reason(shares(beaten_by="b", why="W.")) == {"kind": "plain", "why": "a: W."}


def test_a_chart_of_shares_leaves_out_what_is_far_and_draws_limits_and_frontier(drawn: list[Any]) -> None:
    asked = {"k": 10, "n": 1000, "epsilon": 1.0, "prior": "uniform"}
    made = [shares("a"), shares("b", mse=36e-4), shares("c", mse=36.1e-4)]
    out = (Rejected("d", "too long", shares("d", mse=4e-4)), Rejected("e", "none"))
    found = FrequencyPlan(asked, {"asr": 0.75, "stderr": 0.5, "bytes": 9.0}, tuple(made), out)
    plan_chart(found)
    ((rows, how),) = drawn
    assert [row["label"] for row in rows] == ["a", "b", "d"]
    assert [row["kind"] for row in rows] == ["good", "good", "out"]
    assert (rows[0]["asr"], rows[0]["error"], rows[2]["why"]) == (50.0, pytest.approx(1.0), "d: too long")
    assert how["limits"] == {"x": 75.0, "y": 50.0}
    assert how["line"][0] == {
        "asr": pytest.approx(100 * found.frontier[0]["asr"]), "error": pytest.approx(100 * found.frontier[0]["stderr"]),
    }  # fmt: skip
    assert how["subtitle"] == (
        "ε = 1 · n = 1,000 · a guess without a report is right 10 % of the time · off the chart: c (6.008 points)"
    )
    assert rows[0]["forged"] == "1 % move targets by 2 points"
    plan_chart(FrequencyPlan(asked | {"prior": "given"}, {}, (made[0],), ()))
    assert drawn[1][1]["line"] == [], "the frontier is that of a guesser without prior knowledge"
    plan_chart(FrequencyPlan(asked | {"n": None}, {"stderr": 0.5}, (made[0],), ()))
    assert drawn[2][1]["limits"] == {}, "what is looked for is no line"
    assert drawn[2][1]["subtitle"].startswith("ε = 1 · each with the fewest reports that do · ")
    plan_chart(FrequencyPlan(asked | {"epsilon": None}, {"stderr": 0.5}, (made[0],), ()))
    assert drawn[3][1]["subtitle"].startswith("each with the least ε that does · n = 1,000")
    with pytest.raises(ParameterError, match="There is nothing to draw"):
        plan_chart(FrequencyPlan(asked, {}, (), ()))


def test_a_chart_of_pairs_leaves_out_what_is_far_on_either_axis(drawn: list[Any]) -> None:
    asked = {"k": 10, "n": 1000, "epsilon": 1.0, "interest": 1.0, "length": 2}
    made = (
        pairs("a"), pairs("b", variance=64e-4), pairs("c", variance=64.2e-4), pairs("d", variance_mean=16.1e-4),
        pairs("e", options={"encoding": "cyclic"}),
    )  # fmt: skip
    keyvalue_chart(KeyValuePlan(asked, {}, made, ()))
    ((rows, how),) = drawn
    assert [row["label"] for row in rows] == ["a", "b", "e cyclic"]
    assert (rows[0]["mean"], rows[0]["frequency"]) == (pytest.approx(1.0), pytest.approx(2.0))
    assert how["subtitle"] == (
        "ε = 1 · n = 1,000 · up to 2 pairs per person; the frontier is that of one pair · off the chart: c, d"
    )


def test_axes_of_other_charts_are_what_they_say(drawn: list[Any]) -> None:
    MeanPlan({"interval": [0, 1], "n": 1000, "epsilon": 1.0}, {}, (mean(),), ()).chart()
    RangePlan({"k": 10, "n": None, "epsilon": 1.0}, {}, (ranges(),), ()).chart()
    ReleasePlan({"epsilon": 1.0}, {}, (near(), near(worst=None), near(loss=0.0)), ()).chart()
    (means, how_means), (spans, how_spans), (losses, _) = drawn
    assert (means[0][how_means["x"]], means[0][how_means["y"]]) == (2.0, 3.0)
    assert (spans[0][how_spans["x"]], spans[0][how_spans["y"]]) == (pytest.approx(3.0), pytest.approx(2.0))
    assert (how_means["subtitle"], how_spans["subtitle"]) == ("n = 1,000", "each with the fewest people that do")
    assert [row["expected loss"] for row in losses] == [2.0]
    assert losses[0]["above bound"] == "33.3 %"
    with pytest.raises(ParameterError, match="There is nothing to draw"):
        answer_chart([], x="x", y="y")


# ---- surveys


def test_sets_of_answers_have_labels_up_to_sixty_four() -> None:
    eight, labels = Domain.of([f"a{i}" for i in range(8)]), Domain.of([f"b{i}" for i in range(8)])
    assert _together([eight, labels]).labels_or_numbers[9] == "a1, b1"
    assert _together([eight, Domain.of([f"b{i}" for i in range(9)])]).labels is None
    assert _together([eight, Domain.of(2)]).labels is None
    odd = _together([Domain.of(["a, b", "a"]), Domain.of(["c", "b, c"])])
    assert (odd.k, odd.labels) == (4, None), "a, b, c could be either"


def test_numbers_for_questions_are_read_by_name_or_in_order() -> None:
    names = ("a", "b", "c")
    assert _by_name("weights", names, {"b": 3}) == (1.0, 3.0, 1.0)
    assert _by_name("weights", names, 2) == (2.0, 2.0, 2.0)
    assert _by_name("stderr", names, [1, 2, 3.5]) == (1.0, 2.0, 3.5)
    for what, given, said in (
        ("stderr", {"a": 1, "c": 1}, "stderr must be a number for every question, got none for b"),
        ("weights", {"d": 1}, "weights must be for the questions a, b, c"),
        ("weights", [1, 2], "weights must be 3 numbers, one for each question"),
        ("weights", [1, True, 1], "weights must be numbers"),
        ("weights", [1, math.nan, 1], "weights must be numbers"),
        ("weights", "123", "weights must be numbers"),
    ):
        with pytest.raises(ParameterError, match=said):
            _by_name(what, names, given)
    assert (_goal(names, None, None).weights, _goal(names, None, 0.5).stderr) == ((1.0,) * 3, (0.5,) * 3)
    assert _goal(names, [0, 0, 1], None).weights == (0.0, 0.0, 1.0)
    for weights, stderr in (([0, 0, 0], None), ([INF, 1, 1], None), (None, 0), (None, INF), ([1, 1, 1], 0.1)):
        with pytest.raises(ParameterError):
            _goal(names, weights, stderr)


def test_a_split_budget_is_shared_by_those_that_have_none_of_their_own() -> None:
    made = dn.survey({"a": {"k": 2, "epsilon": 0.25}, "b": 2, "c": 3}, epsilon=1.0, scheme="split")
    assert [q.mechanism.epsilon for q in made.questions] == [0.25, 0.375, 0.375]
    whole = dn.survey({"a": {"k": 2, "epsilon": 0.25}, "b": {"k": 3, "epsilon": 0.75}}, epsilon=1.0, scheme="split")
    assert [q.mechanism.epsilon for q in whole.questions] == [0.25, 0.75]
    for own, said in ((1.0, "1 in all and others without any"), (1.1, "1.1 in all and others without any")):
        with pytest.raises(ParameterError, match=f"at most that of the survey, 1, together, got {said}"):
            dn.survey({"a": {"k": 2, "epsilon": own}, "b": 2}, epsilon=1.0, scheme="split")
    assert [_own_epsilon(x) for x in (2, {"k": 2}, {"epsilon": 0.5}, dn.mechanism("grr", epsilon=2.0, k=2))] == [
        None, None, 0.5, 2.0,
    ]  # fmt: skip
