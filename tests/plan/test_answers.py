"""What every plan says around its designs: the next command, what is out, what comes closest, numbers for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.core.promise import Promise
from deniable.core.protection import Protection
from deniable.errors import ParameterError
from deniable.plan.answer import Plan, Rejected, check_top, sift
from deniable.plan.prediction import Prediction, command, excess_percent, figure, plain, points
from deniable.plan.request import request
from deniable.plan.scoring import Weights, check_limits, check_weights, missed, misses
from deniable.present.tables import Table


@dataclass(frozen=True, kw_only=True)
class Made(Prediction[Any]):
    """A design with an error, and what a guess is without it."""

    stderr: float = 0.01
    asr: float = 0.5
    blind: float | None = 0.25
    n: int | None = 1000
    told = ("stderr", "asr")


@dataclass(frozen=True, repr=False)
class Some(Plan[Made]):
    """A plan of such designs."""

    def _told(self, best: Made) -> str:
        what, more = self._chosen(best, "has the least error", "stderr")
        return f"{best.title} {what}{self.within}{more}."

    @property
    def columns(self) -> Mapping[str, Callable[[Made], str]]:
        return {"error": lambda d: f"{d.stderr:g}", "excess": lambda d: "-"}

    def chart(self) -> Any:
        raise NotImplementedError


def made(name: str, epsilon: float = 1.0, k: int = 10, **told: Any) -> Made:
    m: Any = SimpleNamespace(
        name=name,
        epsilon=epsilon,
        k=k,
        params=told.pop("params", {}),
        protection=told.pop("protection", Protection(promise=Promise.plain(epsilon, 10), epsilon=epsilon)),
    )
    return Made(mechanism=m, **({"options": {}, "bits": 8.0, "bytes": 1} | told))


def some(
    *designs: Made, out: tuple[Rejected, ...] = (), limits: Mapping[str, float] | None = None, **asked: Any
) -> Some:
    return Some({"k": 10, "epsilon": 1.0} | asked, limits or {}, designs, out)


# ---- the command to type next


@pytest.mark.parametrize(
    ("k", "n", "verb"),
    [
        (10_000, 1_000_000, "simulate"),
        (10_001, 1000, "design"),
        (10, 1_000_001, "design"),
        (10, None, "simulate"),
        (10_001, None, "design"),
    ],
)
def test_what_takes_long_to_simulate_is_shown_instead(k: int, n: int | None, verb: str) -> None:
    people = "" if n is None else f" --n {n}"
    rest = " --data uniform" if verb == "simulate" else ""
    found = some(made("ss", k=k, n=n, options={"size": 3}), k=k)
    assert found.next == f"deniable {verb} ss --epsilon 1 --k {k} --size 3{people}{rest}"


def test_what_no_command_takes_has_no_next_one_and_labels_stand_for_their_number() -> None:
    best = made("ss")
    assert some().next == ""
    assert some(replace(best, options={"promise": {"budgets": []}})).next == ""
    named = Some({"k": 2, "epsilon": 1.0}, {}, (best,), (), labels=("ill", "very well"))
    assert "--labels 'ill,very well'" in named.next
    assert "--k" not in named.next
    assert " --k " not in Some({"epsilon": 1.0}, {}, (best,), ()).next


def test_a_command_is_typed_as_a_shell_reads_it() -> None:
    line = command("design", "uss", {"level_epsilon": 0.1, "clip": True, "size": 3.0, "names": ("a b", "c,d", 1.5)})
    assert line == "deniable design uss --level-epsilon 0.1 --clip --size 3 --names 'a b,\"c,d\",1.5'"


# ---- the answer


def test_the_first_is_advised_by_its_bytes_where_it_has_not_the_least_error() -> None:
    short, best = made("short", stderr=0.0102, bytes=2), made("best", bytes=1250)
    assert some(best, short).message == "best has the least error."
    assert some(replace(short, stderr=0.010005), best).message == "short has the least error."
    told = "short is advised, 2 % above the least, in 2 bytes instead of 1,250 (best)."
    assert some(short, best).message == told
    scored = some(replace(short, score=0.9), best, weights={"asr": 1.0})
    assert scored.message == "short has the lowest chance of a right guess."
    assert (
        some(replace(short, score=0.9), best, weights={"asr": 0.5, "mse": 0.5}).message
        == "short is the best compromise."
    )
    assert some(short, best, weights={"asr": 1.0}).message == told, "weights that no design has a score by"


def test_limits_are_told_in_words() -> None:
    found = some(made("a"), limits={"stderr": 0.02, "asr": 0.75, "bytes": 12})
    assert found.limits_text == "the limits (standard error at most 0.02, best guess at most 0.75, bytes at most 12)"
    assert found.message.endswith(f"within {found.limits_text}.")
    assert (some().limits_text, some().within) == ("the question", "")


def test_if_none_will_do_the_one_that_misses_by_least_is_told() -> None:
    near, far = made("near", stderr=0.03), made("far", stderr=0.05, asr=0.3)
    limits = {"stderr": 0.02, "asr": 0.3}
    out = tuple(Rejected(d.title, "", d) for d in (far, near))
    found = some(out=(Rejected("none", "cannot be made"), *out), limits=limits)
    assert found.nearest() is near
    assert found.message == (
        f"No design meets {found.limits_text}; the closest is near: standard error 0.03 instead of at most 0.02, best "
        "guess 0.5 instead of at most 0.3."
    )
    assert not found.feasible
    assert some(near, out=out, limits=limits).nearest() is None
    assert (
        some(out=(Rejected("none", "x"),), limits=limits).message
        == f"No design meets {found.limits_text}: none can be made."
    )
    wanted = some(out=out, limits=limits, epsilon=None).message
    assert "the closest is near at epsilon 1: " in wanted


@pytest.mark.parametrize(("most", "told"), [(0.24, True), (0.25, True), (0.26, False)])
def test_a_limit_that_not_even_a_blind_guess_keeps_is_told(most: float, told: bool) -> None:
    found = some(out=(Rejected("a", "", made("a")),), limits={"asr": most})
    assert found.message.endswith("Without any report a guess is right 25 % of the time already.") == told
    unknown = some(out=(Rejected("a", "", made("a", blind=None)),), limits={"asr": most})
    assert "Without any report" not in unknown.message


def test_people_are_told_where_the_error_is_all_that_is_missed() -> None:
    def error(m: Any, n: int) -> float:
        return math.sqrt({"a": 9.0, "b": 4.0}[m.name] / n)

    a, b = made("a", stderr=0.3), made("b", stderr=0.2)
    both = some(out=(Rejected("a", "", a), Rejected("b", "", b)), limits={"stderr": 0.01, "asr": 0.6})
    assert both._takes(error) == " That error takes 40,000 people with b."
    dear = some(out=(Rejected("a", "", a), Rejected("b", "", replace(b, asr=0.7))), limits=both.limits)
    assert dear._takes(error) == " That error takes 90,000 people with a."
    assert some(out=(Rejected("b", "", replace(b, asr=0.7)),), limits=both.limits)._takes(error) == ""


# ---- tables


def test_what_is_out_is_listed_up_to_twelve_without_twins() -> None:
    out = tuple(Rejected(f"d{i}", f"reason {i}") for i in range(12))
    twin = Rejected("same", "the same design", twin=True)
    for more, head in (
        ((), "Left out:"),
        ((Rejected("d12", "reason 12"), Rejected("d13", "x")), "Left out (2 more with --json):"),
    ):
        parts = some(made("a", why="W."), out=(*out, twin, *more)).reasons()
        table = parts[-1]
        assert parts[-2] == head
        assert isinstance(table, Table)
        assert [list(row) for row in table.rows] == [[f"d{i}", f"reason {i}"] for i in range(12)]
    assert len(some(made("a"), out=(twin,)).reasons()) == 1


def test_what_is_beaten_is_grouped_by_what_beats_it() -> None:
    a, b = made("a", why="A."), made("b", why="B.", params={"g": 2})
    lost = [
        made("c", beaten_by="a", why="Beaten"),
        made("b", beaten_by="b (g = 2)", why="Beaten, up to half a percent", params={"g": 3}),
        made("d", beaten_by="a", why="Beaten", params={"x": 1}),
        made("c", beaten_by="a", why="Beaten", params={"x": 2}),
    ]
    table, text = some(a, b, *lost).reasons()
    assert isinstance(table, Table)
    assert [list(row) for row in table.rows] == [["a", "A."], ["b (g = 2)", "B."]]
    told = "Not worth a choice, since another design is at least as good in everything, up to half a percent: "
    assert text == told + "a beats c, d; b (g = 2) beats b (g = 3)."
    (_, plain_text) = some(a, lost[0]).reasons()
    assert plain_text == "Not worth a choice, since another design is at least as good in everything: a beats c."


def test_the_score_stands_instead_of_the_excess() -> None:
    found = some(made("a", score=1.23456), made("b", score=None))
    assert list(found.shown) == ["error", "score"]
    assert [found.shown["score"](d) for d in found.designs] == ["1.235", "unknown"]
    assert list(some(made("a")).shown) == ["error", "excess"]
    assert found.legend == "score: the weighted sum, relative to the design of least error."


def test_others_that_protect_differently_are_told_with_six_names_at_most() -> None:
    free = [
        Protection(promise=Promise.by_class(10, ((0, 4), (4, 10)), (e, math.inf), strict=e), epsilon=e)
        for e in (1.0, 1.0, 2.0)
    ]
    lead = made("lead")
    six = [made(f"u{i}", protection=free[0]) for i in range(6)]
    told = some(lead, *six).protection
    assert told[0] == lead.mechanism.protection.text
    assert told[1] == f"Different with u0, u1, u2, u3, u4, u5: {free[0].text}"
    seven = some(lead, *six, made("u6", protection=free[0])).protection
    assert seven[1].startswith("Different with u0, u1, u2, u3, u4, u5 and 1 more: ")
    largest = some(lead, *six, made("u0", epsilon=2.0, protection=free[2])).protection
    assert largest[1].startswith("Different with u0, u1, u2, u3, u4, u5 (told for the largest epsilon among them): ")
    assert "e^2 = 7.39 times" in largest[1]
    assert some().protection == ()


def test_bars_of_a_notebook_are_shares_of_the_largest_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.present import html

    seen: list[Any] = []
    monkeypatch.setattr(html, "parts_html", lambda title, parts, bars: seen.append((title, bars)) or "")
    some(made("a", stderr=0.01), made("b", stderr=0.04), made("c", stderr=math.inf))._repr_html_()
    assert seen == [("Plan", [html.Bar(0.25), html.Bar(1.0), None])]


def test_options_are_told_by_the_names_that_the_asker_has_for_them() -> None:
    found = some(made("a", options={"prior": [0.5], "size": 2})).naming(prior="guess.csv")
    assert found.request["prior"] == "guess.csv"
    assert found.designs[0].options == {"prior": "guess.csv", "size": 2}


# ---- which are within limits


def test_designs_are_sifted_by_limits_and_ranked_by_the_score_then_the_error_then_what_is_between() -> None:
    def refuse() -> Made:
        raise ParameterError("no such thing.", "Hint.")

    a, b, c, d = (
        made(x, stderr=e, asr=g) for x, e, g in (("a", 2.0, 0.1), ("b", 1.0, 0.4), ("c", 4.0, 0.1), ("d", 2.0, 0.1))
    )
    makers = [(x.name, lambda x=x: x) for x in (c, a, d, b)]
    half = Weights("stderr", {"stderr": 0.5, "asr": 0.5})
    found, out = sift([("none", refuse), *makers], {"stderr": 3.0}, half, lambda x: -ord(x.name))
    assert [x.name for x in found] == ["b", "d", "a"]
    assert [x.score for x in found] == pytest.approx([1.0, 1.125, 1.125])
    assert [(o.title, o.reason) for o in out] == [
        ("none", "cannot be made: no such thing."),
        ("c", "standard error 4 instead of at most 3"),
    ]
    assert out[1].design is c
    plainly, _ = sift(makers, {"stderr": 2.0}, Weights("stderr", {"stderr": 1.0}), lambda x: ord(x.name))
    assert [(x.name, x.score) for x in plainly] == [("b", None), ("a", None), ("d", None)], "the limit itself is kept"


def test_limits_are_checked_at_their_ends() -> None:
    assert check_limits({"asr": 1, "stderr": 0.5, "bits": 1e-9}) == {"asr": 1.0, "stderr": 0.5, "bits": 1e-9}
    for name, x, said in (
        ("asr", 1.0001, "max_asr must be at most 1, got 1.0001"),
        ("asr", 0, "max_asr must be a finite number > 0"),
        ("bytes", math.inf, "max_bytes must be a finite number > 0"),
        ("bits", True, "max_bits must be a finite number > 0"),
        ("stderr", 0, "target_error must be a finite number > 0"),
        ("loss", -1, "target_error must be a finite number > 0"),
        ("worst", math.nan, "max_worst must be a finite number > 0"),
    ):
        with pytest.raises(ParameterError, match=said):
            check_limits({name: x})


def test_a_limit_is_met_by_what_is_equal_to_it_and_by_nothing_unknown() -> None:
    design: Any = SimpleNamespace(bits=3.0, asr=0.10000001, work=None, loss=12.3456789)
    limits = {"bits": 3.0, "asr": 0.1, "work": 5.0, "loss": 12.3}
    assert misses(design, limits) == ["asr", "work", "loss"]
    assert missed(design, limits) == (
        "best guess 0.10000001 instead of at most 0.1, work not known, expected loss 12.35 instead of at most 12.3"
    )


@pytest.mark.parametrize(
    ("weight", "weights", "said"),
    [
        (0.5, {"asr": 1}, "weight must be left out if weights are given"),
        (1.01, None, "weight must be from 0 to 1"),
        (-0.01, None, "weight must be from 0 to 1"),
        (None, {"asr": math.inf}, "weights must be numbers >= 0"),
        (None, "asr=1,asr=2", "weights must be names with a number each"),
        (None, {"bytes": 1}, "weights must be named by error, asr, bits, work, poisoning"),
    ],
)
def test_weights_that_say_nothing_clear_are_refused(weight: Any, weights: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        check_weights(weight, weights, "mse")


def test_the_ends_of_a_request_are_given_and_more_is_refused() -> None:
    def asked(n: Any = 10, epsilon: Any = 1.0, targets: Any = None, top: Any = None, **limits: float) -> Any:
        return request(dn.Domain.of(30), n, epsilon, limits, Weights("mse", {"mse": 1.0}), targets, None, {}, top)

    assert [asked(targets=t).targets for t in (None, 1, 29)] == [10, 1, 29]
    assert request(dn.Domain.of(4), 1, 1.0, {}, Weights("mse", {}), None, None, {}, 1).targets == 3
    assert asked(stderr=0.999).target == 0.999
    assert asked(n=None, stderr=0.1).n is None
    for wrong, said in (
        ({"targets": 30}, "targets must be an integer from 1 to 29, got 30"),
        ({"targets": 0}, "targets must be an integer from 1 to 29, got 0"),
        ({"stderr": 1.0}, "target_error must be below 1"),
        ({"n": 0}, "n must be an integer >= 1"),
        ({"top": 0}, "top must be an integer >= 1"),
        ({"n": None}, "two of n, epsilon and target_error must be given, got epsilon"),
        ({"n": None, "epsilon": None, "stderr": 0.1}, "must be given, got target_error"),
        ({"n": None, "epsilon": None}, "must be given, got none"),
    ):
        with pytest.raises(ParameterError, match=said):
            asked(**wrong)
    assert [check_top(top) for top in (None, 1)] == [None, None]  # type: ignore[func-returns-value]
    told = asked(stderr=0.5).document()
    assert told == {
        "k": 30, "n": 10, "epsilon": 1.0, "limits": {"stderr": 0.5}, "weights": {"mse": 1.0}, "targets": 10,
        "prior": "uniform",
    }  # fmt: skip


# ---- numbers


def test_numbers_are_written_with_their_digits() -> None:
    told = [figure(x) for x in (99.96, 100.4, -1234.0, -0.12345, 0.0, 9.999, 1e14, 1e15)]
    assert told == ["100", "100", "-1,230", "-0.123", "0", "10", "100,000,000,000,000", "1e+15"]
    assert [figure(x, 4) for x in (999.96, 12_345.0)] == ["1,000", "12,340"]
    assert [excess_percent(x) for x in (-1e-12, 0.0, 9.99, 10.0, 1e4, 10_001.0)] == [
        "0.0 %", "0.0 %", "999.0 %", "1,000 %", "1,000,000 %", "> 1,000,000 %",
    ]  # fmt: skip
    assert [points(x) for x in (0.0, 0.99901, 0.9999, 1.0, 1.001, 0.00012345)] == [
        "0 pt", "100 pt", "100 pt", "100 pt", "101 pt", "0.0124 pt",
    ]  # fmt: skip
    assert [plain(x) for x in ((1, 2), 0.5, "a", {"b": 1}, None)] == [[1, 2], 0.5, "a", {"b": 1}, "None"]
