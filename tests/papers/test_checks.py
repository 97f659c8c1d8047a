"""The checks that papers share can fail, and the simulation behind them finds what it should."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from deniable.datasets import Population, synthetic
from deniable.mechanisms.frequency.grr import GRR
from deniable.mechanisms.frequency.unary import Unary
from deniable.papers.checks import Agreement, Equation, design, small_designs, small_designs_of
from deniable.papers.montecarlo import Trials, collect_often
from deniable.papers.paper import Context, Paper
from deniable.papers.rules import ALPHA, Verdict, decide
from deniable.papers.runner import PAPERS
from deniable.randomness import simulation

PROTOCOLS = ("grr", "ss", "sue", "oue", "blh", "olh")


@pytest.fixture
def context() -> Context:
    return Context(Paper("toy", "Toy25", "A toy", (), ()))


# Equations


def judge(check: Equation | Agreement, context: Context, claim: str = "eq15") -> Verdict:
    """By the rule of a claim that such a check is made for."""
    return decide(PAPERS["adaptive"].claim(claim).rule, check(context))


def equation(factor: float) -> Equation:
    return Equation("asr", lambda m: factor * m.asr, lambda: [design("grr", k, 1.0) for k in (2, 5)])


def test_a_right_equation_is_reproduced(context: Context) -> None:
    found = judge(equation(1.0), context)
    assert found.verdict == "reproduced"
    assert isinstance(found.measured, dict)
    assert found.measured["settings"] == 2
    assert found.measured["enumerated"] >= 4


def test_a_wrong_equation_is_corrected(context: Context) -> None:
    found = judge(equation(1 + 1e-6), context)
    assert found.verdict == "corrected"
    assert found.note.endswith("; the correct form agrees with all enumerated channels")
    assert isinstance(found.measured, dict)
    assert found.measured["largest relative deviation"] == pytest.approx(1e-6, rel=1e-3)


def test_a_wrong_equation_is_refuted_if_the_closed_form_is_wrong_too(context: Context) -> None:
    shifted = [(m, {name: 1.001 * value for name, value in truth.items()}) for m, truth in small_designs(context, GRR)]
    context._made[small_designs_of, (GRR,)] = shifted, []
    assert judge(equation(1.0), context).verdict == "refuted"


def test_small_designs_are_all_of_a_family_and_enumerated_rightly(context: Context) -> None:
    found = small_designs(context, GRR, Unary)
    assert {m.name for m, _ in found} == {"grr", "ue", "sue", "oue", "aue"}
    half = next(truth for m, truth in found if (m.name, m.k, m.epsilon) == ("grr", 3, 1.0))
    e = math.e
    assert half["asr"] == pytest.approx(e / (e + 2))
    assert half["mse_approx"] == pytest.approx((e + 1) / (e - 1) ** 2)
    assert half["mse_even"] == pytest.approx(half["mse_uneven"])
    assert half["mse_even"] == pytest.approx((2 * (e + 1) + 2 * e) / (3 * (e - 1) ** 2))


# Simulation. Seeds are fixed; the chance of a false alarm is 1e-6 for each of the 12 accepted values, 1.2e-5 in all.


@pytest.fixture(scope="module")
def trials() -> list[Trials]:
    people = synthetic("zipf", k=12, n=2_000)
    return [collect_often(design(name, 12, 1.5), people, 60, simulation(11)) for name in PROTOCOLS]


@pytest.mark.stat
def test_simulation_agrees_with_exact_values_and_rejects_others(trials: list[Trials]) -> None:
    for t in trials:
        assert t.pvalue("mse", t.expected("mse")) > 1e-6
        assert t.pvalue("asr", t.expected("asr")) > 1e-6
        assert t.pvalue("asr", 1.05 * t.expected("asr")) < 1e-6
        assert t.pvalue("mse", 1.6 * t.expected("mse")) < 1e-6
        assert t.pvalue("mse", t.expected("mse") / 1.6) < 1e-6


@pytest.mark.stat
def test_mse_pvalues_are_uniform() -> None:
    """200 p-values of true values; false alarm rate 1e-4. A chi-square law with the wrong spread is found."""
    people = Population("five", tuple("abcde"), np.array([900, 500, 300, 200, 100]))
    m = design("grr", 5, 1.0)
    many = [collect_often(m, people, 2, stream) for stream in simulation(5).spawn(200)]
    values = [t.pvalue("mse", t.expected("mse")) for t in many]
    assert kstest(values, "uniform").pvalue > 1e-4
    doubled = [replace(t, errors=np.repeat(t.errors, 4)) for t in many]
    assert kstest([t.pvalue("mse", t.expected("mse")) for t in doubled], "uniform").pvalue < 1e-4


def test_the_same_stream_gives_the_same_trials() -> None:
    people = synthetic("uniform", k=4, n=500)
    one, two, three = (collect_often(design("olh", 4, 1.0), people, 2, simulation(s)) for s in (1, 1, 2))
    assert (one.errors.tolist(), one.hits) == (two.errors.tolist(), two.hits)
    assert one.errors.tolist() != three.errors.tolist()
    assert one.errors[0] != one.errors[1]
    assert one.guesses == 1000


def test_agreement_is_reproduced_corrected_or_refuted(context: Context, trials: list[Trials]) -> None:
    def verdict(agreement: Agreement) -> str:
        context._made.clear()
        return judge(agreement, context, "fig8-asr" if agreement.printed else "eq3").verdict

    assert verdict(Agreement("asr", lambda _: trials)) == "reproduced"
    assert verdict(Agreement("asr", lambda _: trials, lambda t: t.expected("asr"))) == "reproduced"
    assert verdict(Agreement("asr", lambda _: trials, lambda t: 1.05 * t.expected("asr"))) == "corrected"
    broken = [replace(trials[0], hits=int(1.05 * trials[0].hits)), *trials[1:]]
    assert verdict(Agreement("asr", lambda _: broken)) == "refuted"


def test_agreement_names_who_is_rejected_and_corrects_for_many_tests(context: Context, trials: list[Trials]) -> None:
    def printed(t: Trials) -> float:
        return t.expected("asr") * (1.05 if t.mechanism.name == "olh" else 1)

    found = judge(Agreement("asr", lambda _: trials, printed), context, "fig8-asr")
    assert isinstance(found.measured, dict)
    assert found.measured["printed values rejected"] == "olh epsilon=1.5"
    assert found.measured["exact values rejected"] == "none"
    alone = min(t.pvalue("asr", t.expected("asr")) for t in trials)
    assert found.measured["smallest p-value, exact values"] == min(1.0, 6 * alone)
    assert found.measured["alpha"] == ALPHA == 1e-3
