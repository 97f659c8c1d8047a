"""Every row keeps its promise, by enumeration and by its argument; what is a little sharper than that is broken."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise.judge import Pair, breach, enumerated, proved
from deniable.core.promise.value import Promise
from deniable.mechanisms.common import channels_of, kept
from deniable.mechanisms.registry import MECHANISMS
from tiers import few_of_each

CASES = [(name, case) for name, entry in MECHANISMS.items() for case in entry.small]
LOOSE = {"the", "athe", "uue-levels", "privkv", "codebook", "exponential", "optimal-release"}
"""Rows of which some designs leave more than 3 % of a budget unused: noise that is cut off, bits that share one noise,
a key that has a part of the budget, few outputs, the exponential mechanism as printed, and releases that lose least
without all of a budget."""
SHARPER = 0.97


def told(p: Promise, budget: float, instead: float) -> Promise:
    """The promise with another budget wherever it has this one."""

    def changed(table: Any) -> Any:
        return None if table is None else np.where(table == budget, instead, table)

    return replace(p, table=changed(p.table), strict=changed(p.strict), same=changed(p.same))


def test_there_are_enough_promises_to_sharpen() -> None:
    """Each case has as many as there are budgets: one, or those of its items, or of levels and what is told of them."""
    assert len(CASES) >= 361


@pytest.mark.parametrize(("name", "case"), few_of_each(CASES, lambda case: case[0], (0,), name=str))
def test_the_promise_is_kept_and_three_per_cent_less_is_not(name: str, case: dict[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    p, channels = m.promise, channels_of(m)
    pairs = enumerated(p, channels, m.proof)
    assert breach(pairs) is None
    assert kept(m)
    used: dict[float, float] = {}
    for pair in pairs:
        if pair.likely:
            used[pair.budget] = max(used.get(pair.budget, 0.0), pair.epsilon)
    for budget, exact in used.items():
        assert exact <= budget
        assert breach(enumerated(told(p, budget, exact), channels)) is None
        if exact:
            found = breach(enumerated(told(p, budget, SHARPER * exact), channels))
            assert found is not None
            assert found.budget == SHARPER * exact
        assert name in LOOSE or exact > SHARPER * budget, f"{budget} is promised, {exact} is used"
    for pair in proved(p, m.proof):
        assert pair.kept
        if pair.likely:
            assert pair.epsilon >= used.get(pair.budget, 0.0), f"the argument says less than the channel: {pair}"


@pytest.mark.slow
def test_at_least_380_promises_are_sharpened() -> None:
    """Those of the test before: budgets of which something is used."""
    found = 0
    for name, case in CASES:
        m = dn.mechanism(name, **case)
        pairs = [pair for pair in enumerated(m.promise, channels_of(m)) if pair.epsilon]
        found += len({pair.budget for pair in pairs})
    assert found >= 380


@pytest.mark.parametrize(
    ("name", "options", "field", "budget"),
    [
        ("grr", {"k": 4, "epsilon": 1.0}, "keep", 1.0),
        ("oue", {"k": 4, "epsilon": 2.0}, "flip", 2.0),
        ("uss", {"k": 5, "sensitive": 3, "epsilon": 1.0}, "plain", 1.0),
        ("uue-levels", {"k": 5, "sensitive": 3, "item_epsilon": "0.5,1,1"}, "plain", 0.5),
    ],
)
def test_a_threshold_that_is_too_large_is_found(name: str, options: dict[str, Any], field: str, budget: float) -> None:
    """By a 2**-40-th part of its range, and by one unit where the calibration leaves none."""
    m = dn.mechanism(name, **options)
    less = field == "flip"
    for step, seen in ((1 << 24, True), (0, False)):
        kernel = replace(m.kernel, **{field: getattr(m.kernel, field) + (-step if less else step)})
        wrong = dn.mechanism(name, **options)
        vars(wrong)["bulk"] = replace(m.bulk, kernel=kernel)
        found = breach(enumerated(wrong.promise, channels_of(wrong)))
        assert (found is not None) == seen
        assert kept(wrong) != seen
        assert dn.audit(wrong).holds != seen
        if found is not None:
            assert found.budget == budget
            with pytest.raises(dn.PrivacyError, match="no report was made"):
                wrong.privatize([0, 1], rng=dn.simulation(1))


def test_one_unit_decides() -> None:
    """The largest threshold of randomised response that keeps epsilon, and the next one."""
    m = dn.mechanism("grr", epsilon=1.0, k=2)
    wrong = dn.mechanism("grr", epsilon=1.0, k=2)
    vars(wrong)["bulk"] = replace(m.bulk, kernel=replace(m.kernel, keep=m.kernel.keep + 1))
    assert (kept(m), kept(wrong)) == (True, False)


def test_a_value_at_a_level_has_a_number_of_its_own() -> None:
    p = dn.mechanism("pldp", k=4, levels="0.5,1,2", base="grr", level_epsilon=0.4).promise
    numbers = [p.number((value, level)) for level in (0.5, 1.0, 2.0) for value in range(4)]
    assert numbers == list(range(12))
    assert [p.name(number) for number in (3, 4, 11)] == ["3 at level 0.5", "0 at level 1", "3 at level 2"]
    assert p.between((0, 1.0), (1, 1.0)) == 1.0
    assert p.between((0, 2.0), (1, 2.0)) == 2.0


def test_levels_promise_the_value_the_level_and_both() -> None:
    m = dn.mechanism("upldp", k=5, sensitive=3, levels="0.5,1", base="grr", level_epsilon=0.4)
    p, told = m.promise, m.guarantee
    assert p.between((0, 0.5), (1, 0.5)) == 0.5
    assert p.between((0, 1.0), (4, 1.0)) == 1.0
    assert p.between((4, 1.0), (0, 1.0)) == float("inf"), "a harmless answer may be shown"
    assert p.between((4, 0.5), (4, 1.0)) == told["level"]
    assert p.between((0, 0.5), (1, 1.0)) == told["pair"]
    assert dict(p.parts) == {"level report": 0.4}
    assert p.limit(p.number((4, 1.0)), p.number((0, 1.0))) == 1.0, "in both directions, if nothing is disclosed"
    assert dn.audit(m).pairs[0].kept


def test_a_part_of_a_report_has_a_promise_of_its_own() -> None:
    m = dn.mechanism("pldp", k=4, levels="0.5,1", base="grr", level_epsilon=0.4)
    (part,) = [pair for pair in proved(m.promise, m.proof) if not pair.likely]
    assert (part.output, part.budget, part.kept) == ("the level report", 0.4, True)
    loud = replace(m.proof, parts=(("level report", Fraction(3, 2)),))
    found = breach(proved(m.promise, loud))
    assert isinstance(found, Pair)
    assert str(found) == "the level report: promised 0.4, exact 0.405465"


def test_thousands_of_budgets_are_judged_at_once() -> None:
    m = dn.mechanism("uue-levels", k=600, sensitive=500, item_epsilon=[0.5 + i / 500 for i in range(500)])
    assert kept(m)
    assert len(m.promise.classes) == 501
