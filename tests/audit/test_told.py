"""What audits, attacks and checks say and count, by evidence that is made up: every number, at every end."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable import testing
from deniable.audit import fakes, reconstruction
from deniable.audit.empirical import Empirical, _bound, _kinds, _pair, measure
from deniable.audit.exact import Audit
from deniable.audit.fakes import rsfd, rsrfd
from deniable.audit.reconstruction import Attack, attack, check_size
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.guess import Guess
from deniable.core.promise import Promise
from deniable.core.promise.judge import Pair
from deniable.core.protection import Protection
from deniable.errors import ParameterError
from deniable.present import html
from deniable.testing import clients, sampling
from deniable.testing.clients import Told, kinds_of
from deniable.testing.profiles import Profiles, distinct
from deniable.testing.wire import StreamWords, _strangers

PROOF = Proof(Fraction(2), "symmetry", "all alike", Witness("one", 0, 1))


# ---- audits


def made(**more: Any) -> Audit:
    return Audit(**({"name": "m", "promised": 1.0, "proof": PROOF, "enumerated": PROOF, "vetted": True} | more))


def test_an_audit_tells_what_is_spared_and_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(html, "facts_html", lambda title, facts, bar: seen.append((title, facts, bar)) or "")
    kept, broken = made(), made(promised=0.5, broken=Pair("0", "1", 0.5, Fraction(2), "one"), vetted=False)
    exact = kept.exact
    assert exact == pytest.approx(math.log(2))
    assert (kept.document()["spare"], broken.document()["spare"]) == (1.0 - exact, 0.5 - exact)
    for found in (kept, broken):
        found._repr_html_()
    assert [bar for _, _, bar in seen] == [html.Bar(exact), html.Bar(1.0)]
    assert [title for title, _, _ in seen] == ["m: the promise is kept", "m: the promise is BROKEN"]
    assert [facts["vetted"] for _, facts, _ in seen] == ["yes", "no"]
    assert repr(broken) == f"<Audit of m: the promise 0.5 is BROKEN, exact epsilon {exact!r}>"


def test_an_argument_and_an_enumeration_that_differ_are_no_proof() -> None:
    other = replace(PROOF, ratio=Fraction(5, 2), witness=Witness("two", 1, 0))
    odd = made(enumerated=other)
    assert (odd.agrees, odd.holds, odd.exact) == (False, False, pytest.approx(math.log(2.5)))
    assert odd.verdict == "THE PROMISE IS BROKEN."
    assert odd.document()["witness"] == {"output": "two", "likely": 1, "unlikely": 0}
    alone = made(enumerated=None)
    assert (alone.agrees, alone.holds, alone.document()["enumerated"]) == (True, True, None)
    sure = made(proof=replace(PROOF, ratio=None), enumerated=None).document()
    assert (sure["epsilon_exact"], sure["spare"], sure["ratio"]) == (None, None, "infinite")
    told = Protection(promise=Promise.plain(1.0, 4), epsilon=1.0)
    assert made(protection=told).verdict == f"The promise is kept. {told.text}"
    assert made(protection=told, enumerated=other).verdict == f"THE PROMISE IS BROKEN. It was: {told.text}"
    assert made().verdict == "The promise is kept."
    more = made(guarantee={"levels": 2}, own_kept=False).document()
    assert (more["guarantee"], more["budgets_kept"]) == ({"levels": 2}, False)
    assert "guarantee" not in made().document()


def test_a_channel_that_discloses_says_with_what_chance() -> None:
    """The largest one of all harmless inputs: two outputs tell input 2 for sure, one tells input 3."""
    shown = Channel(
        ("a", "b", "c", "d", "e"),
        ((5, 5, 4, 4), (5, 5, 3, 5), (0, 0, 2, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
        10,
        harmless=frozenset({2, 3}),
        disclosing=frozenset({2, 3, 4}),
    )
    found = dn.audit(shown, epsilon=1.0)
    assert found.holds
    assert found.protection is not None
    assert found.protection.disclosed == Fraction(3, 10)
    assert found.protection.sensitive == (0, 2)


# ---- audits by reports


def seen(least: float, promised: float = 1.0) -> Empirical:
    return Empirical("m", promised, PROOF, None, False, least=least, reports=30_000, seed=7)


def test_reports_refute_what_is_above_the_promise_and_prove_nothing() -> None:
    assert [seen(x).refuted for x in (0.9, 1.0, 1.0001)] == [False, False, True]
    assert seen(1.0).verdict == (
        "NOTHING IS PROVED. No breach of epsilon 1 was seen; epsilon is at least 1 (99.9 % sure, from 30,000 simulated "
        "reports). Code that cannot be enumerated is never proved by reports."
    )
    assert seen(1.25).verdict == (
        "THE PROMISE IS BROKEN. Epsilon is at least 1.25, not 1 (99.9 % sure, from 30,000 simulated reports)."
    )
    assert repr(seen(0.5)) == "<Audit of m by reports: the promise 1.0 is not refuted, and not proved, at least 0.5>"
    told = seen(1.25).document()
    assert {name: told[name] for name in ("epsilon_least", "confidence", "holds", "refuted", "reports", "seed")} == {
        "epsilon_least": 1.25, "confidence": 0.999, "holds": False, "refuted": True, "reports": 30_000, "seed": 7,
    }  # fmt: skip
    assert seen(0.1).exact == math.inf


@pytest.mark.parametrize(("one", "two", "n"), [(50, 3, 100), (100, 0, 100), (1, 99, 100), (30, 30, 60)])
def test_a_bound_is_where_both_counts_are_just_rejected(one: int, two: int, n: int) -> None:
    """The least chance under which so many or more are not too many, by the largest under which so few are not."""
    from scipy.optimize import brentq
    from scipy.stats import beta

    ends = (1e-12, 1 - 1e-12)
    least = brentq(lambda p: binom.sf(one - 1, n, p) - 0.01, *ends, xtol=1e-15)
    most = brentq(lambda p: binom.cdf(two, n, p) - 0.01, *ends, xtol=1e-15)
    assert _bound(beta, one, two, n, 0.02) == pytest.approx(math.log(least / most), rel=1e-6)


def test_a_bound_of_nothing_says_nothing() -> None:
    from scipy.stats import beta

    assert _bound(beta, 0, 5, 10, 0.1) == -math.inf
    assert _bound(beta, 5, 10, 10, 0.1) == pytest.approx(math.log(float(beta.ppf(0.05, 5, 6))))


def test_one_half_of_the_reports_chooses_the_event_and_the_other_measures_it() -> None:
    """What is only in the first half counts for nothing; several telling reports are one event."""
    from scipy.stats import beta

    lucky = [["x"] * 50 + ["y"] * 50, ["y"] * 100]
    assert _pair(lucky, 0, 1, 0.01)[0] == -math.inf
    half = ["a", "b"] * 20 + ["c"] * 10
    bound, told = _pair([half + half, ["c"] * 100], 0, 1, 0.01)
    assert (bound, told) == (_bound(beta, 40, 0, 50, 0.01), "one of 2 reports")
    assert _pair([["a"] * 100, ["c"] * 100], 0, 1, 0.01)[1] == "report 'a'"


def test_three_values_are_compared_and_all_their_reports_counted() -> None:
    m: Any = SimpleNamespace(name="code", k=5, perturb=lambda x, rng: (x, int(rng.integers(2))))
    found = measure(m, 1.0, reports=100, seed=3)
    assert (found.reports, found.seed, found.proof.witness.unlikely in (0, 1, 2)) == (300, 3, True)
    assert found.least > 1.0
    two: Any = SimpleNamespace(name="code", k=2, perturb=lambda x, rng: 0)
    same = measure(two, 1.0, reports=100)
    assert (same.reports, same.least, same.refuted) == (200, 0.0, False)
    with pytest.raises(ParameterError, match="reports must be an integer >= 100"):
        measure(m, 1.0, reports=99)


def test_many_kinds_of_reports_are_told_by_the_values_that_they_support() -> None:
    m: Any = SimpleNamespace(supported=lambda output: np.array([output % 2 == 0, True, output > 500]))
    assert _kinds(m, list(range(1000)), range(3)) == list(range(1000))
    many = _kinds(m, list(range(1001)), range(3))
    assert many[:2] == [("0", "1", "not 2"), ("not 0", "1", "not 2")]
    assert len(set(many)) == 4


# ---- recipes


def test_recipes_have_from_two_to_sixty_four_questions() -> None:
    assert rsfd(1.0, (2,) * 64).sizes == (2,) * 64
    assert rsfd(1.0, "3, 10000").sizes == (3, 10_000)
    for wrong in ((2,), (2,) * 65, (1, 2), (2, 10_001), (2, 2.5), "2,x"):
        with pytest.raises(ParameterError, match="sizes must be whole numbers, those of 2 to 64 questions"):
            rsfd(1.0, wrong)
    for wrong, said in (
        ("0.9,0.2;0.5,0.5", "chances > 0 that sum to 1"),
        ("1,0;0.5,0.5", "chances > 0 that sum to 1"),
        ("a;b", "fakes must be chances of answers"),
    ):
        with pytest.raises(ParameterError, match=said):
            rsrfd(1.0, fakes=wrong)
    with pytest.raises(ParameterError, match=r"sizes must be those of the fakes, \(2, 2\), or left out"):
        rsrfd(1.0, sizes=(2, 3))
    assert rsrfd(1.0, sizes="2,2").sizes == (2, 2)
    with pytest.raises(ParameterError, match="fakes must be left out for rsfd-oue-z"):
        fakes.RECIPES["rsfd-oue-z"](fakes="1")


def test_the_witness_of_a_recipe_shares_no_answer_with_the_other() -> None:
    """Inputs are numbered as all sets of answers in their order: the second answer to every question."""
    found = rsfd(1.0, (2, 3, 4)).proof.witness
    assert (found.output, found.likely, found.unlikely) == ("report (0, 0, 0)", 0, 1 * 12 + 1 * 4 + 1)
    assert fakes.RECIPES["rsfd-oue-r"](1.0, (2, 3)).proof.witness.output == "report ({0}, {0})"
    made = rsfd(1.0, (2, 3))
    told = made.document()
    assert (told["sizes"], told["one_answer_holds"]) == ([2, 3], made.one_answer <= 1.0 + 1e-15)
    assert made.ratio == 2 * (made.ratio + 1) / 2 - 1
    assert float(made.ratio) == pytest.approx(2 * (math.e - 1) + 1)


# ---- attacks


def test_an_attack_tells_what_is_expected_and_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=4)
    found = Attack(m, np.full(4, 0.25), Guess(0.36, 0.25), 700, 2500, 9)
    assert (found.measured, found.stderr) == (0.28, pytest.approx(0.6 * 0.8 / 50))
    told = found.document()
    assert (told["gain"], told["lift"]) == (pytest.approx(0.11), pytest.approx(1.44))
    assert told["measured_stderr"] == found.stderr
    assert repr(found) == (
        "<Attack on grr: the best guess of a value is right 36 % of the time, blind 25 %, 700 of 2,500 "
        "simulated ones were>"
    )
    shown: list[Any] = []
    monkeypatch.setattr(html, "facts_html", lambda title, facts, bar: shown.append((facts, bar)) or "")
    found._repr_html_()
    replace(found, reports=0, hits=0)._repr_html_()
    assert shown[0] == (
        {"right with a report": "36 %", "right without one": "25 %", "simulated": "700 of 2,500 reports, seed 9"},
        html.Bar(0.36),
    )
    assert "simulated" not in shown[1][0]
    none = replace(found, reports=0)
    assert (none.measured, none.stderr) == (None, None)
    level = replace(
        found, target="level", expected=SimpleNamespace(success=0.5, blind=0.25, gain=0.25, report=0.4, bound=0.6)
    )  # type: ignore[arg-type]
    assert {name: level.document()[name] for name in ("target", "level_report", "bound")} == {
        "target": "level", "level_report": 0.4, "bound": 0.6,
    }  # fmt: skip


def test_reports_are_attacked_some_at_a_time_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction, "_CELLS", 100)
    heard: list[tuple[int, int | None]] = []
    found = attack(dn.mechanism("grr", epsilon=20.0, k=4), reports=60, progress=lambda *told: heard.append(told))
    assert heard == [(0, 60), (25, 60), (50, 60)]
    assert (found.hits, found.reports) == (60, 60), "at so large an epsilon nobody is missed, in the last part either"


def test_as_many_values_as_can_be_guessed_and_one_more() -> None:
    check_size(SimpleNamespace(name="m", k=1 << 22))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="values of m must be at most 4,194,304 to be guessed, got 4194305"):
        check_size(SimpleNamespace(name="m", k=(1 << 22) + 1))  # type: ignore[arg-type]


def test_values_of_no_chance_are_never_drawn() -> None:
    prior = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    drawn = reconstruction._draw(prior, 400, dn.simulation(1))
    assert set(drawn.tolist()) == {1, 3}
    last: Any = SimpleNamespace(generator=lambda: SimpleNamespace(random=lambda n: np.array([0.0, 0.4999, 0.5, 1.0])))
    assert reconstruction._draw(prior, 4, last).tolist() == [1, 1, 3, 3]
    told = dn.attack(Channel(("a", "b"), ((3, 1), (1, 3)), 4), prior=[0.9, 0.1], reports=10)
    assert told.expected == Guess(pytest.approx(0.9), 0.9)


def test_a_value_is_guessed_from_the_output_of_a_channel_and_from_what_is_known_before() -> None:
    """Where one answer is likely enough it is guessed from both outputs, so exactly those who have it are hit."""
    coin = Channel(("a", "b"), ((3, 1), (1, 3)), 4)
    for prior, value in (((0.9, 0.1), 0), ((0.1, 0.9), 1)):
        people = reconstruction._draw(np.array(prior), 500, dn.simulation(3).spawn(2)[0])
        found = dn.attack(coin, prior=prior, reports=500, seed=3)
        assert found.hits == np.count_nonzero(people == value)
        assert found.measured == found.hits / 500
    sure = Channel(("a", "b", "c"), ((4, 0, 0), (0, 4, 0), (0, 0, 4)), 4)
    assert dn.attack(sure, prior=[0.2, 0.5, 0.3], reports=300).hits == 300, "outputs that leave no doubt"
    blind = Channel(("a", "b"), ((1, 1), (1, 1)), 2)
    assert dn.attack(blind, prior=[0.0, 1.0], reports=300).hits == 300, "a value that everybody has"


# ---- checks


def test_all_of_eight_values_are_watched_and_of_nine_eight() -> None:
    assert sampling.watched_values(8) == list(range(8))
    assert sampling.watched_values(9) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert sampling.watched_values(100, 3) == [0, 50, 99]


@pytest.mark.parametrize(("k", "n"), [(2, 20), (3, 11), (5, 999), (4, 20_000)])
def test_a_skewed_population_has_all_its_people(k: int, n: int) -> None:
    """Half have the first answer and a tenth the last; what does not divide has the first."""
    found = sampling._skewed(k, n)
    assert found.sum() == n
    assert found[-1] == n // 10
    assert (found[1:-1] == (n - n // 2 - n // 10) // max(1, k - 2)).all()
    assert found[0] >= n // 2


def test_two_tails_are_those_of_all_counts() -> None:
    n, p = 9, 0.3
    law = binom.pmf(np.arange(n + 1), n, p)
    found = sampling.two_sided(np.arange(n + 1), n, np.full(n + 1, p))
    want = [min(1.0, 2 * min(law[: c + 1].sum(), law[c:].sum())) for c in range(n + 1)]
    assert found == pytest.approx(want)
    both = np.convolve(binom.pmf(range(4), 3, 0.7), binom.pmf(range(7), 6, 0.2))
    for c in range(10):
        want_one = min(1.0, 2 * min(both[: c + 1].sum(), both[c:].sum()))
        assert sampling._pvalue_of_sum(float(c), 3, 9, 0.7, 0.2) == pytest.approx(want_one)


def test_the_false_alarms_are_shared_and_small_budgets_looked_at_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, int]] = []
    monkeypatch.setattr(testing, "CHECKS", {"own": lambda m, alpha, seed: asked.append((alpha, seed)) or "fine"})
    m: Any = SimpleNamespace(epsilon=0.5, k=3, bulk=SimpleNamespace(row_bytes=1))
    assert testing.conformance(m, alpha=0.03, seed=5) == [("own", "fine")]
    assert asked == [(pytest.approx(0.01), 5)]
    assert [testing._excess(SimpleNamespace(epsilon=e)) for e in (0.1, 0.5, 0.51)] == [1.3, 1.3, 1.1]  # type: ignore[arg-type]
    assert [testing._affordable(m, need) for need in (7.0, 1e12, math.inf)] == [7, (1 << 26) // 3, 100_000]
    long: Any = SimpleNamespace(k=3, bulk=SimpleNamespace(row_bytes=1 << 20))
    assert testing._affordable(long, 1e9) == 256
    for alpha in (0, 1):
        with pytest.raises(ParameterError, match="alpha must be between 0 and 1"):
            testing.conformance(m, alpha=alpha)
    with pytest.raises(ParameterError, match="checks must be among own"):
        testing.conformance(m, checks=["own", "other"])

    def fail(*_: object) -> str:
        raise AssertionError("one thing")

    def crash(*_: object) -> str:
        raise KeyError("two")

    monkeypatch.setattr(testing, "CHECKS", {"a": fail, "b": lambda *_: "fine", "c": crash})
    with pytest.raises(AssertionError, match=r"fails 2 of 3 checks:\n  a: one thing\n  c: KeyError: 'two'"):
        testing.conformance(m)


def test_outputs_that_tell_the_same_are_one_class() -> None:
    channel = Channel(("a", "b", "c", "d", "never"), ((1, 3), (2, 6), (4, 2), (5, 1), (0, 0)), 12)
    found = Profiles.of(channel)
    assert found.likelihood.tolist() == [[pytest.approx(1 / 3), 1.0], [1.0, 0.5], [1.0, 0.2], [0.0, 0.0]]
    assert found.of_output == {"a": 0, "b": 0, "c": 1, "d": 2, "never": 3}
    assert found.chances(channel, 0).tolist() == pytest.approx([3 / 12, 4 / 12, 5 / 12, 0])
    assert found.points_to(0).tolist() == [False, True, True, False]
    rows = np.array([[3], [1], [3], [3], [2]], np.uint8)
    first, counts = distinct(rows)
    assert {rows[i, 0]: int(c) for i, c in zip(first, counts, strict=True)} == {1: 1, 2: 1, 3: 3}
    wide = np.zeros((3, 11), np.uint8)
    wide[1, 10] = 1
    assert sorted(distinct(wide)[1].tolist()) == [1, 2]


def test_strangers_of_a_domain_are_just_beyond_it() -> None:
    assert _strangers(dn.Domain.of(4)) == [-1, 4, 5, 0.5, None]
    assert _strangers(dn.Domain.of(["a", "b"])) == []
    assert _strangers(dn.Grid.of(0, 2, 4))[:2] == [-2.0, 4.0]
    assert len(_strangers(dn.Grid.of(0, 2, 4, clip=True))) == 4, "beyond the ends is what clip allows"
    words = StreamWords(dn.simulation(1))
    drawn = [words.word() for _ in range(300)]
    assert len(set(drawn)) == 300
    assert sorted(drawn[:256]) == sorted(dn.simulation(1).draw(64, 256).tolist())


# ---- clients


def question(**want: Any) -> Any:
    return clients._Question("about this", {"do": "hash"}, want)


def answered(question_: Any, *found: Any) -> Told:
    told = Told("set")
    for number, one in enumerate(found, 1):
        told.asked += 1
        clients._take(told, number, question_, one)
    return told


def test_an_answer_is_right_if_it_has_the_number_and_all_that_is_wanted() -> None:
    want = question(hash=7, buckets=[1, 2])
    right = {"n": 1, "hash": 7, "buckets": [1, 2]}
    assert answered(want, right | {"more": 0}).holds
    for wrong in (
        right | {"n": 2}, right | {"hash": 8}, {"n": 1, "hash": 7}, right | {"error": "x"}, right | {"buckets": [2, 1]},
        right | {"hash": True}, [right], "text", None,
    ):  # fmt: skip
        found = answered(want, wrong)
        assert (found.right, found.holds, len(found.wrong)) == (0, False, 1)
    assert answered(question(hash=1), {"n": 1, "hash": True}).right == 0, "a truth value is no number"
    assert answered(question(hash=1), {"n": 1, "hash": 1.0}).right == 1
    refused = question(error="FormatError")
    assert answered(refused, {"n": 1, "error": "FormatError"}).holds
    assert not answered(refused, {"n": 1, "error": "PrivacyError"}).holds
    unknown = answered(want, {"n": 1, "error": "unsupported"})
    assert (unknown.unsupported, unknown.wrong, unknown.holds) == (1, [], False)
    assert not Told("set").holds, "nothing was asked"


def test_the_first_three_wrong_answers_are_told_and_cut_short() -> None:
    many = answered(question(hash=7), *({"n": i, "hash": i + 100, "x": 1} for i in range(1, 6)))
    assert (many.asked, many.right, len(many.wrong)) == (5, 0, 3)
    assert many.wrong[0] == 'about this: {"hash": 101} instead of {"hash": 7}'
    long = answered(question(hash=7), "x" * 500).wrong[0]
    assert long == f"about this: {json.dumps('x' * 500)[:160]}... instead of " + '{"hash": 7}'
    short = answered(question(hash=7), "x" * 158).wrong[0]
    assert f'"{"x" * 158}" instead' in short


def test_the_kinds_of_a_kernel_are_those_of_all_that_it_is_made_of() -> None:
    made = clients._Question(
        "", {"kernel": {"kind": "a", "parts": [{"kind": "b"}, {"base": {"kind": "c", "n": 1}}]}}, {}
    )
    assert kinds_of(made) == {"a", "b", "c"}
    assert kinds_of(clients._Question("", {"do": "hash"}, {})) == set()
    assert clients._has_reports({"cases": [{"reports": []}]})
    assert not any(clients._has_reports(file) for file in ({}, {"cases": []}, {"cases": {"a": 1}}, {"cases": [{}]}))
