"""Budgets of their own for sensitive items: every pair by enumeration in whole numbers, estimates, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.common import kept
from deniable.mechanisms.utility.budgets import UtilityBudgets, best_flip
from deniable.randomness import simulation
from deniable.testing import check_closed_forms
from deniable_client import Device, explain
from deniable_client.exact import exp_bounds, flip_threshold, log_upper
from deniable_client.kernels import UtilityBudgets as Kernel

WORD = 1 << 64
CASES: list[tuple[tuple[float, ...], int, float | None]] = [
    ((1.0, 1.0, 2.0, 2.0), 2, 0.35),
    ((0.5, 4.0, 1.0), 2, None),
    ((2.0, 0.3, 1.0, 0.3, 5.0), 1, 0.45),
    ((1.0, 1.5, 1.5, 1.5, 1.5), 3, None),
    ((0.7, 0.7, 0.7), 1, None),
    ((3.0, 0.01), 2, 0.499),
    ((1.3,), 2, None),
    ((0.5, 1.0, 8.0), 0, 0.4),
]
ids = [f"{budgets}+{m}-{flip}" for budgets, m, flip in CASES]


def levels(budgets: tuple[float, ...], m: int, flip: float | None = None, **own: Any) -> UtilityBudgets:
    more = own if flip is None else {**own, "flip": flip}
    s = len(budgets)
    made = dn.mechanism("uue-levels", k=s + m, sensitive=s, item_epsilon=budgets, **more)
    assert isinstance(made, UtilityBudgets)
    return made


def likelihoods(kernel: Kernel, y: tuple[int, ...]) -> list[Fraction]:
    """Of one vector of bits, given each value: sensitive ones first, written apart from the code under test."""

    def chance(i: int, own: bool) -> Fraction:
        one = Fraction(kernel.keep if own else kernel.flips[i], WORD)
        return one if y[i] else 1 - one

    s = len(y)
    sensitive = [math.prod((chance(i, i == x) for i in range(s)), start=Fraction(1)) for x in range(s)]
    blind = math.prod((chance(i, False) for i in range(s)), start=Fraction(1))
    return sensitive + [blind * Fraction(WORD - kernel.plain, WORD)] * (kernel.k - s)


def worst(kernel: Kernel, budgets: tuple[float, ...]) -> list[Fraction]:
    """For each sensitive item the largest ratio, both ways, against items of no smaller a budget and harmless ones."""
    s, found = len(budgets), [Fraction(1)] * len(budgets)
    for y in product((0, 1), repeat=s):
        chances = likelihoods(kernel, y)
        for x in range(s):
            for other in range(kernel.k):
                if other != x and (other >= s or budgets[other] >= budgets[x]):
                    pair = chances[x] / chances[other]
                    found[x] = max(found[x], pair, 1 / pair)
    return found


def breaches(kernel: Kernel, budgets: tuple[float, ...]) -> list[tuple[int, int]]:
    """Pairs (x, other) for which some report is beyond the smaller of the two budgets; harmless items have none."""
    s, found = len(budgets), set()
    for y in product((0, 1), repeat=s):
        chances = likelihoods(kernel, y)
        for x in range(kernel.k):
            for other in range(kernel.k):
                limits = [budgets[i] for i in (x, other) if i < s]
                if limits and chances[x] > exp_bounds(min(limits))[0] * chances[other]:
                    found.add((x, other))
    return sorted(found)


@pytest.mark.parametrize(("budgets", "m", "flip"), CASES, ids=ids)
def test_every_pair_keeps_the_smaller_budget(budgets: tuple[float, ...], m: int, flip: float | None) -> None:
    made = levels(budgets, m, flip)
    assert breaches(made.kernel, budgets) == []
    exact = worst(made.kernel, budgets)
    assert list(made.item_ratios) == exact
    assert made.guarantee["items"] == [log_upper(ratio) for ratio in exact]
    assert all(e <= budget for e, budget in zip(made.guarantee["items"], budgets, strict=True))
    assert made.kernel.hidden_ratio == max(worst(made.kernel, (1.0,) * len(budgets)))
    audit = dn.audit(made)
    assert (audit.holds, audit.agrees, audit.promised) == (True, True, max(budgets))


@pytest.mark.parametrize(("budgets", "m", "flip"), [c for c in CASES if c[1]], ids=[i for i in ids if "+0" not in i])
def test_one_step_more_disclosure_would_break_a_budget(budgets: tuple[float, ...], m: int, flip: float | None) -> None:
    made = levels(budgets, m, flip)
    broken = breaches(replace(made.kernel, plain=made.kernel.plain + 1), budgets)
    assert broken
    assert all(x < len(budgets) <= other for x, other in broken)


def test_one_step_less_noise_would_break_a_budget() -> None:
    budgets = (1.0, 2.0, 2.0)
    made = levels(budgets, 1, 0.35)
    a, b, c = made.kernel.flips
    assert breaches(replace(made.kernel, flips=(a, b - 1, c)), budgets) == [(1, 0)]
    least = flip_threshold(1.0, WORD // 2)
    assert levels((1.0, 1.0, 2.0), 1, 1e-3).kernel.flips == (least, least, least)


def test_noise_chosen_for_each_budget_alone_is_not_private() -> None:
    """q = 1/(e^budget + 1) for each item: the pair of a small and a large budget is beyond the small one."""
    budgets = (1.0, 2.0)
    flips = tuple(flip_threshold(budget, WORD // 2) for budget in budgets)
    kernel = Kernel(3, (0, 2), WORD // 2, flips, 0)
    assert breaches(kernel, budgets) == [(0, 1), (1, 0)]


def test_disclosure_of_the_worked_example() -> None:
    """e^budget = 2, 2, 3, 3 and q = .4, .4, .3, .3: z is .375, and .4245 for the branch max P/e^budget itself."""
    limits = (2, 2, 3, 3)
    made = levels(tuple(math.log(e) for e in limits), 2, 0.4)
    assert np.array(made.kernel.flips, float) / WORD == pytest.approx([0.4, 0.4, 0.3, 0.3], rel=1e-12)
    assert made.law.z == pytest.approx(0.375, rel=1e-12)
    assert made.law_effective.z == pytest.approx(0.375, rel=1e-12)
    tight = sum(
        max(chance / e for chance, e in zip(likelihoods(made.kernel, y), limits, strict=False))
        for y in product((0, 1), repeat=4)
    )
    assert float(1 - tight) == pytest.approx(0.4245, abs=5e-5)


@pytest.mark.parametrize(("budgets", "m", "flip"), CASES, ids=ids)
def test_estimates_are_unbiased_with_the_stated_errors(budgets: tuple[float, ...], m: int, flip: float | None) -> None:
    """Means, covariances for both targets and best guesses as conformance looks at them; the summed error."""
    made, s = levels(budgets, m, flip), len(budgets)
    assert "all moments of frequency" in check_closed_forms(made)
    even = np.concatenate([np.full(s, (1 - made.theta) / s), np.full(m, made.theta / max(m, 1))])
    assert made.mse_sum() == pytest.approx(float(np.trace(made.covariance(even))), rel=1e-9)
    assert made.effective()["mse_sum"] == pytest.approx(made.mse_sum(), rel=1e-9)


def test_estimator_reads_the_tally_like_the_formula() -> None:
    made = levels((1.0, 1.0, 2.0, 2.0), 2, 0.35)
    items = np.repeat(np.arange(6), [40, 10, 30, 20, 60, 40])
    tally = made.tally(made.privatize_items(items, simulation(5)))
    protected, told = tally.cells["n"]
    q, z = np.array(made.kernel.flips, float) / WORD, made.kernel.plain / WORD
    own = (tally.cells["support"][0] - q * protected) / (200 * (0.5 - q))
    assert np.allclose(made.estimate(tally).value, [*own, *(tally.cells["disclosed"][1] / (200 * z))], rtol=1e-12)
    assert made.theta_of(tally) == pytest.approx(told / (200 * z), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_equal_budgets_are_unary_encoding_with_one_epsilon(epsilon: float) -> None:
    """A `flip` below what the budget needs means the least one that it allows, 1/(e^epsilon + 1)."""
    made = levels((epsilon,) * 4, 3, 1e-3, theta=0.6)
    plain = dn.mechanism("uue", epsilon=epsilon, k=7, sensitive=4, theta=0.6, p=0.5)
    for name in ("z", "mse", "mse_sum", "asr", "bits", "bytes"):
        assert made.properties()[name] == pytest.approx(plain.properties()[name], rel=1e-9)
    assert made.kernel.plain == plain.kernel.plain  # type: ignore[attr-defined]


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("budgets", [(0.5,) + (1.0,) * 9, (1.0, 1.0, 2.0, 2.0), (1.0, 2.0, 4.0, 4.0)])
def test_chosen_noise_has_the_least_error(budgets: tuple[float, ...], theta: float) -> None:
    low = math.exp(-min(budgets)) / (1 + math.exp(-min(budgets)))
    m = 0 if theta == 0 else 3
    best = levels(budgets, m, theta=theta)
    assert best.flip == best_flip(budgets, theta)
    for place in np.linspace(0, 0.99, 150):
        other = levels(budgets, m, float(low + place * (0.5 - low)), theta=theta)
        assert best.mse_sum() <= other.mse_sum() * (1 + 1e-9)


def test_few_very_sensitive_items_leave_the_others_more_accurate() -> None:
    """One item of ten with half the budget: a fifth less error than if all had it, more than if none had."""
    mixed = levels((0.5,) + (1.0,) * 9, 5, theta=0.5).mse_sum()
    small, large = (levels((e,) * 10, 5, theta=0.5).mse_sum() for e in (0.5, 1.0))
    assert mixed > large
    assert mixed / small == pytest.approx(0.7996, abs=5e-5)


def test_a_design_that_breaks_one_budget_is_refused_everywhere() -> None:
    """The ratio stays within the largest budget, so only the items' own budgets tell."""
    made = levels((1.0, 1.0, 2.0), 2, 0.35)
    wrong = replace(made.kernel, flips=tuple(flip_threshold(1.2, WORD // 2) for _ in range(3)))
    assert wrong.hidden_ratio <= exp_bounds(made.epsilon)[0]
    design = {**made.design, "kernel": {**made.design["kernel"], "flips": [str(flip) for flip in wrong.flips]}}
    assert len(Device(made.design, harmless=explain(made.design).harmless).report(0)) == made.bulk.row_bytes
    with pytest.raises(dn.PrivacyError, match="sensitive value number 0 is promised"):
        Device(design)
    with pytest.raises(dn.FormatError, match="does not agree with itself"):
        dn.from_design(design)
    with pytest.raises(dn.FormatError, match="item_epsilon"):
        Device({**made.design, "params": {}})
    made.__dict__["bulk"] = replace(made.bulk, kernel=wrong)  # as a bug in the calibration would have it
    assert (kept(made), dn.audit(made).holds) == (False, False)
    found = dn.audit(made).pairs[0]
    assert (found.budget, found.kept) == (1.0, False), "the pair that is farthest beyond its budget comes first"
    with pytest.raises(dn.PrivacyError):
        made.privatize_items(np.zeros(3, np.int64), simulation(1))


def test_options_as_text_and_their_refusals() -> None:
    made = dn.mechanism("uue-levels", labels=["a", "b", "c", "d"], sensitive="b,d", item_epsilon="2,0.5")
    assert isinstance(made, UtilityBudgets)
    assert (made.epsilon, made.item_epsilon, made.sensitive) == (2.0, (2.0, 0.5), (1, 2, 3, 4))
    assert dn.from_design(made.design) == made
    given: dict[str, Any] = {"k": 4, "sensitive": 2}
    for wrong, what in (
        ({"item_epsilon": "1"}, "2 numbers"),
        ({"item_epsilon": "1,x"}, "must be numbers"),
        ({"item_epsilon": "1,0"}, "epsilon"),
        ({"item_epsilon": "1,2", "epsilon": 1.5}, "at least the largest of item_epsilon"),
        ({"item_epsilon": "1,2", "flip": 0.5}, "flip"),
        ({"item_epsilon": "", "sensitive": 0}, "item_epsilon"),
    ):
        with pytest.raises(dn.ParameterError, match=what):
            dn.mechanism("uue-levels", **given | wrong)
    far = dn.mechanism("uue-levels", **given, item_epsilon="1,50")
    assert far.refusal is not None
    assert far.properties()["mse"] > 0


def test_impossible_reports_are_refused() -> None:
    made = levels((1.0, 1.0, 2.0), 2, 0.35)
    for told, bits, what in ((1, 1, "not zero"), (0, 8, "after its 3 bits"), (3, 0, "largest possible is 2")):
        columns = {"disclosed": np.array([told], np.uint8), "bits": np.array([[bits]], np.uint8)}
        with pytest.raises(dn.FormatError, match=what):
            made.bulk.count(columns)
