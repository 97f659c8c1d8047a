"""Ideas that are code: followed along all branches where that can be, else measured; never for real reports."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import deniable as dn
from deniable.audit.empirical import measure
from deniable.mechanisms.tracing import UntraceableError, chances_of
from deniable_client import Device

K = 4


def keep(value: int, rng: Any) -> int:
    """Generalised randomised response, as people write it."""
    return value if rng.random() < 0.5 else int(rng.integers(K))


def one(report: Any) -> list[Any]:
    return [report]


def bits(value: int, rng: Any) -> tuple[int, ...]:
    """Unary encoding: bits of all values."""
    found = rng.random(K) < 0.25
    found[value] = rng.random() < 0.5
    return tuple(np.flatnonzero(found).tolist())


def many(value: int, rng: Any) -> tuple[int, ...]:
    """The same with more bits than can be followed."""
    found = rng.random(32) < 0.25
    found[value] = rng.random() < 0.5
    return tuple(np.flatnonzero(found).tolist())


def test_programs_are_followed_exactly() -> None:
    assert chances_of(keep, 1) == {1: Fraction(5, 8), 0: Fraction(1, 8), 2: Fraction(1, 8), 3: Fraction(1, 8)}
    law = chances_of(bits, 0)
    assert sum(law.values()) == 1
    assert len(law) == 16
    assert law[(0,)] == Fraction(1, 2) * Fraction(3, 4) ** 3
    assert chances_of(lambda x, rng: tuple(sorted(rng.choice(3, 2, replace=False).tolist())), 0) == dict.fromkeys(
        [(0, 1), (0, 2), (1, 2)], Fraction(1, 3)
    )
    assert chances_of(lambda x, rng: rng.choice(["a", "b"], p=[0.25, 0.75]), 0) == {
        "a": Fraction(1, 4),
        "b": Fraction(3, 4),
    }

    assert chances_of(lambda x, rng: int(rng.integers(2, 5)), 0) == dict.fromkeys([2, 3, 4], Fraction(1, 3))
    assert chances_of(lambda x, rng: int(rng.integers(-1, 1, endpoint=True)), 0) == dict.fromkeys(
        [-1, 0, 1], Fraction(1, 3)
    )
    rare = chances_of(lambda x, rng: int(rng.choice(3, p=[0.5, 0.0, 0.5])), 0)
    assert rare == {0: Fraction(1, 2), 2: Fraction(1, 2)}, "what never comes is no output"

    def twice(value: int, rng: Any) -> str:
        u = rng.random()
        return "low" if u < 0.25 else "high" if u >= 0.5 else "middle"

    assert chances_of(twice, 0) == {"low": Fraction(1, 4), "high": Fraction(1, 2), "middle": Fraction(1, 4)}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (lambda x, rng: round(rng.normal(), 1), "rng.normal"),
        (lambda x, rng: int(rng.random() * 4), "TypeError"),
        (many, "more than 24 times"),
        (lambda x, rng: [x], "of the type list: tuples can"),
    ],
)
def test_what_cannot_be_followed_says_why(program: Any, told: str) -> None:
    with pytest.raises(UntraceableError, match=told):
        chances_of(program, 0)


def test_a_program_that_is_followed_has_an_exact_channel() -> None:
    m = dn.Mechanism.from_functions(keep, one, k=K, name="mine")
    assert (m.support.p, m.support.q) == (0.625, 0.125)
    assert m.seen.stderr["p"] == 0
    assert m.epsilon == pytest.approx(math.log(5), abs=1e-12)
    found = dn.audit(m)
    assert found.holds
    assert found.proof.method == "enumeration"
    assert not found.vetted
    same = dn.mechanism("grr", epsilon=m.epsilon, k=K)
    assert m.effective(100)["mse"] == pytest.approx(same.effective(100)["mse"])
    assert dn.attack(m, reports=2000).expected.success == pytest.approx(0.625)
    assert dn.audit(dn.Mechanism.from_functions(keep, one, k=K, epsilon=1.0)).holds is False


def test_estimates_are_those_of_the_law() -> None:
    """Two means of 1,000 reports each: 5 standard errors, which a shift of a tenth exceeds."""
    for program in (keep, bits):
        supports = one if program is keep else (lambda report: report)
        m = dn.Mechanism.from_functions(program, supports, k=K)
        reports = m.privatize([0] * 1400 + [1] * 600, rng=dn.simulation(3))
        found = m.estimate(m.tally(reports))
        truth = np.array([0.7, 0.3, 0, 0])
        away = np.abs(found.value - truth) / found.stderr
        assert away.max() < 5
        assert found.simulated
        assert (np.abs(found.value - np.roll(truth, 1)) / found.stderr).max() > 5


def test_what_cannot_be_followed_is_measured() -> None:
    m = dn.Mechanism.from_functions(many, lambda report: report, k=32, epsilon=1.1, trials=6400)
    assert "24 times" in m.untraced
    assert m.epsilon_exact == math.inf
    for name, exact in (("p", 0.5), ("q", 0.25), ("both_one", 0.125), ("both_none", 0.0625)):
        seen, stderr = getattr(m.support, name), m.seen.stderr[name]
        assert 0 < stderr < 0.01
        assert abs(seen - exact) < 6 * stderr
    assert m.effective()["measured"]["reports"] == 6400
    found = dn.audit(m)
    assert not found.holds
    assert not found.refuted
    assert "NOTHING IS PROVED" in found.verdict
    assert 0.6 < found.least < math.log(3)  # the exact epsilon is ln 3
    broken = measure(m, 0.5, reports=2000)
    assert broken.refuted
    assert "BROKEN" in broken.verdict
    assert broken.document()["epsilon_exact"] is None
    with pytest.raises(dn.ParameterError, match=r"epsilon must be given, .* could not be followed: it draws"):
        dn.Mechanism.from_functions(many, lambda report: report, k=32)


@pytest.mark.parametrize(("k", "pairs"), [(2, 2), (3, 6), (5, 6)])
def test_a_bound_is_shared_by_all_pairs_and_both_ends(k: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in a thousand measurements may tell too much: each of the pairs has its part, each end of it a half."""
    from deniable.audit import empirical

    levels: set[float] = set()

    def noted(beta: Any, one: int, two: int, n: int, alpha: float) -> float:
        levels.add(alpha)
        return usual(beta, one, two, n, alpha)

    usual = empirical._bound
    monkeypatch.setattr(empirical, "_bound", noted)
    m = dn.Mechanism.from_functions(lambda x, rng: int(rng.poisson(x)), one, k=k, epsilon=1.0)
    measure(m, 1.0, reports=200)
    assert levels == {1e-3 / pairs}
    assert usual(beta, 50, 0, 100, 0.1) == pytest.approx(
        math.log(beta.ppf(0.05, 50, 51) / beta.ppf(0.95, 1, 100)), rel=1e-12
    )


@pytest.mark.parametrize("held", [0, 1])
def test_programs_that_hold_other_values_are_other_designs(held: int) -> None:
    """What a function holds, its defaults and its constants tell it from others; its name does not."""

    def made(x: int) -> Any:
        return lambda value, rng, least=held: value if rng.random() < 0.5 else max(least, x)

    def design(program: Any, supports: Any = one) -> Any:
        return dn.Mechanism.from_functions(program, supports, k=2, epsilon=9.0).design

    assert design(made(1)) == design(made(1))
    assert design(made(1)) != design(made(0))
    assert design(lambda v, rng: v) != design(lambda v, rng: 1 - v)
    assert design(lambda v, rng, a=held: v) != design(lambda v, rng, a=held + 1: v)
    assert design(lambda v, rng, *, a=held: v) != design(lambda v, rng, *, a=held + 1: v)
    assert design(made(1)) != design(made(1), lambda report: {report})


def test_every_program_is_run_again_often_enough() -> None:
    """With the same draws it must do the same, at least sixteen times for a value; each way is taken again."""
    runs: list[int] = []

    def three(value: int, rng: Any) -> int:
        runs.append(value)
        return int(rng.integers(3))

    chances_of(three, 0)
    assert len(runs) == 3 + 3 * math.ceil(16 / 3)


def test_a_program_that_draws_less_when_it_is_run_again_is_not_followed() -> None:
    """What it gives back may be the same: the ways that it goes are not, so their chances would not sum to 1."""
    calls = itertools.count()

    def tired(value: int, rng: Any) -> int:
        return int(rng.integers(2)) * 0 + int(rng.integers(3)) * 0 if next(calls) < 2 else 0

    with pytest.raises(UntraceableError, match="does not always do the same with the same draws"):
        chances_of(tired, 0)


def test_what_is_drawn_from_elsewhere_is_not_followed() -> None:
    """Its chances would be those of one moment: a program that leaks could look as if it were proved."""
    own = np.random.default_rng(1)
    calls = itertools.count()

    def elsewhere(value: int, rng: Any) -> int:
        return value if own.random() < 0.8 else int(rng.integers(K))

    def changing(value: int, rng: Any) -> int:
        return value if rng.random() < 0.5 or next(calls) > 40 else int(rng.integers(K))

    def more(value: int, rng: Any) -> int:
        return int(rng.integers(K)) if next(calls) % 2 else value

    for program in (elsewhere, changing, more):
        m = dn.Mechanism.from_functions(program, one, k=K, epsilon=1.0)
        assert "all must be drawn from rng" in m.untraced, program
        assert not dn.audit(m).holds


def test_real_reports_are_refused_everywhere() -> None:
    m = dn.Mechanism.from_functions(keep, one, k=K, name="mine")
    for call in (lambda: m.privatize([0]), lambda: m.privatize([0], rng=dn.secure())):
        with pytest.raises(dn.PrivacyError, match="mine is code, of which nothing is proved"):
            call()
    with pytest.raises(dn.FormatError, match="mine \\(code: simulated only\\)"):
        Device(m.design)
    with pytest.raises(dn.FormatError, match="simulated only"):
        dn.from_design(m.design)
    assert not m.vetted
    assert m.design != dn.Mechanism.from_functions(keep, one, k=K, name="other").design


def test_studies_take_code() -> None:
    found = dn.study({"mine": dn.Mechanism.from_functions(keep, one, k=K), "grr": "grr"}, [1.0], n=500, runs=3)
    assert [row["mechanism"] for row in found.rows()] == ["mine", "grr"]
    assert found.rows()[0]["mse_predicted"] == pytest.approx(dn.mechanism("grr", epsilon=math.log(5), k=K).mse(500))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"perturb": 3}, "perturb must be a function"),
        ({"supports": lambda report: [99]}, "supports must give a list of whole numbers from 0 to 3"),
        ({"supports": lambda report: ["a"]}, "supports must give a list of whole numbers"),
        ({"supports": lambda report: 2}, "supports must give a list of whole numbers from 0 to 3"),
        ({"perturb": lambda value: value}, "perturb must be a function of a number .*, got TypeError for the value 0"),
        ({"perturb": lambda value, rng: [value]}, "as they are of the type list: tuples can"),
        ({"supports": lambda report: [0]}, "does not treat all items alike"),
        (
            {"supports": lambda report: range(K)},
            "supports must be items that their own value supports more .* got chan",
        ),
        ({"supports": lambda report: {*range(K)} - {report}}, "their own value .* got chances 0.375 and 0.875"),
        ({"perturb": lambda x, rng: x}, "epsilon must be finite"),
        ({"k": None}, "domain must be given by exactly one of"),
        ({"trials": 3}, "trials must be"),
        ({"name": ""}, "name must be"),
    ],
)
def test_refusals(given: dict[str, Any], told: str) -> None:
    right: dict[str, Any] = {"perturb": keep, "supports": one, "k": K}
    with pytest.raises(dn.ParameterError, match=told):
        _ = dn.Mechanism.from_functions(**{**right, **given}).support  # type: ignore[attr-defined]


def test_measured_items_that_differ_are_refused() -> None:
    def uneven(value: int, rng: Any) -> tuple[int, ...]:
        found = rng.random(32) < np.where(np.arange(32) < 16, 0.1, 0.4)
        found[value] = rng.random() < 0.8
        return tuple(np.flatnonzero(found).tolist())

    m = dn.Mechanism.from_functions(uneven, lambda report: report, k=32, epsilon=1.0, trials=3200)
    with pytest.raises(dn.ParameterError, match="does not treat all items alike"):
        _ = m.support  # type: ignore[attr-defined]


def test_channels_are_attacked() -> None:
    coin = dn.Channel(("no", "yes"), ((3, 1), (1, 3)), 4)
    found = dn.attack(coin, reports=4000, seed=2)
    assert found.expected.success == 0.75
    assert found.expected.blind == 0.5
    assert abs(found.measured - 0.75) < 5 * found.stderr < 0.05
    assert found.document()["mechanism"] == "channel"
    assert dn.attack(coin, prior=[0.9, 0.1]).expected.success == pytest.approx(0.9)
    with pytest.raises(dn.ParameterError, match="attack takes a mechanism or a channel"):
        dn.attack([[1, 0], [0, 1]])  # type: ignore[arg-type]
