"""Every statement of protection is true: its claims hold for the enumerated channel, and its text says them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.core.promise import Promise
from deniable.core.promise.ranges import others
from deniable.core.protection import PAIR, PAIRS, Protection, times, weakest
from deniable.mechanisms.registry import MECHANISMS, PROTOCOLS
from deniable.testing.exact import enumerated
from deniable.testing.statements import check_claims, check_protection

CASES = [(name, case) for name, entry in MECHANISMS.items() for case in (entry.small[0], entry.small[-1])]
"""The claims of all others: test_conformance.py."""
KINDS = {
    **dict.fromkeys(("uss", "ussmix", "uue", "ulh", "uwheel", "upgr", "urr", "urap", "uhr", "utility"), "ULDP"),
    "uue-levels": "ULDP with item budgets",
    "pldp": "PLDP",
    "upldp": "PLDP and ULDP",
}
"""What kind of promise a row makes, where it is not plain LDP."""


def named(x):
    return x if isinstance(x, str) else None


@pytest.mark.parametrize(("name", "case"), CASES, ids=named)
def test_every_claim_of_every_row_holds_and_is_in_the_text(name, case):
    m = dn.mechanism(name, **case)
    told = m.protection
    whole = case.get("sensitive") == case.get("k") and name != "uue-levels"
    pairs = ~np.eye(m.promise.k, dtype=bool)
    between = "promise" in MECHANISMS[name].options and len(set(m.promise.budgets[pairs].tolist())) > 1
    assert told.kind == ("LDP with budgets between answers" if between else "LDP" if whole else KINDS.get(name, "LDP"))
    assert check_protection(m) == f"{told.kind}: {told.text}"
    for fact in facts(told):
        assert fact in told.text, fact


def percent(chance):
    """Three digits, rounded up."""
    step = 10.0 ** (math.floor(math.log10(chance)) - 2)
    return f"{100 * step * math.ceil(chance / step - 1e-12):.3g} %"


def facts(told):
    """What the text must say, from the fields alone."""
    if told.sensitive == ():
        return ["Protects nobody"]
    found = [f"{x:g}" for x in (*told.levels, *told.budgets)]
    found += [] if told.levels or told.budgets else [times(told.epsilon)]
    found += [percent(float(told.disclosed))] if told.disclosed else []
    found += ["Harmless answers are disclosed with a chance"] if told.disclosed else []
    found += ["never disclosed"] if told.disclosed else []
    found += [str(item) for item in told.items]
    found += [times(told.level), times(told.pair)] if len(told.levels) > 1 else []
    found += ["if it discloses nothing"] if len(told.levels) > 1 and told.disclosed else []
    return found + {PAIR: ["pair"], PAIRS: ["set of pairs"]}.get(told.subject, [])


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind != "LDP"])
def test_the_plain_statement_is_found_wrong_for_all_that_promise_less(name):
    """For all but pldp the plain statement is false; pldp's levels promise more to some, and other things to all."""
    m = dn.mechanism(name, **MECHANISMS[name].small[0])
    plain = Protection(promise=Promise.plain(m.epsilon, m.k), epsilon=m.epsilon)
    channels = [m.channel()]
    if name == "pldp":
        check_claims(plain, channels)
    else:
        with pytest.raises(AssertionError, match="no disclosure of a harmless answer alone"):
            check_claims(plain, channels)


def uss():
    return dn.mechanism("uss", epsilon=1.0, k=5, sensitive="1,3")


def only(*ranges):
    """Epsilon 1 to the values of these ranges of 5, strictly."""
    return Promise.by_class(5, (ranges, others(ranges, 5)), (1.0, math.inf), strict=1.0)


def test_the_weakest_of_several_claims_has_the_weakest_promise():
    claims = [Protection(promise=Promise.plain(b, 4), epsilon=b, disclosed=Fraction(1, 2)) for b in (1.0, 3.0, 2.0)]
    found = weakest(claims)
    assert (found.epsilon, found.promise, found.disclosed) == (3.0, Promise.plain(3.0, 4), Fraction(1, 2))
    personal = [dn.mechanism("uss", epsilon=b, k=4, sensitive=2).protection for b in (1.0, 3.0)]
    assert weakest(personal).promise.table[0].max() == 3.0


def test_what_everybody_answers_multiplies_and_what_one_answers_does_not():
    """Over all steps: where everybody is asked in each, budgets add up; else the worst step counts."""
    every, one = dn.protocol("privkvm", epsilon=2.0, k=4, rounds=3), dn.protocol("ks-grr", epsilon=2.0, k=8, top=2)
    for p in (every, one):
        ratios = [step.mechanism.proof.ratio for step in p.outline]
        assert len(ratios) > 1
        assert p.proof.ratio == (math.prod(ratios) if p.repeated else max(ratios))
        assert p.repeated == (p is every)
        assert max(step.mechanism.epsilon for step in p.outline) * 0.9 < p.proof.epsilon <= 2.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"promise": uss().promise.flat(0.99)}, "more than e\\^0.99 times as likely"),
        ({"disclosed": Fraction(1, 10)}, "with a chance of up to 0.1, the channel has 0.46"),
        ({"disclosed": Fraction(1)}, "with a chance of up to 1.0, the channel has 0.46"),
        ({"promise": only(0, 2)}, "no disclosure of a harmless answer alone"),
        ({"promise": only(1, 4)}, "no disclosure of a harmless answer alone"),
        ({"promise": Promise.plain(1.0, 5)}, "no disclosure of a harmless answer alone"),
    ],
)
def test_a_wrong_claim_is_found(wrong, words):
    m = uss()
    check_claims(m.protection, [m.channel()])
    with pytest.raises(AssertionError, match=words):
        check_claims(replace(m.protection, **wrong), [m.channel()])


def test_a_statement_of_another_epsilon_is_found(monkeypatch):
    m = uss()
    loose = replace(m.protection, epsilon=2.0)
    monkeypatch.setattr(type(m), "protection", property(lambda self: loose))
    with pytest.raises(AssertionError, match=r"the statement says epsilon 2\.0, the mechanism 1\.0"):
        check_protection(m)


def test_a_statement_about_another_promise_is_found(monkeypatch):
    m = uss()
    loose = replace(m.protection, promise=m.promise.flat(2.0))
    monkeypatch.setattr(type(m), "protection", property(lambda self: loose))
    with pytest.raises(AssertionError, match="the statement is about <Promise to 5 values in 2 classes: 2"):
        check_protection(m)


def test_wrong_budgets_and_levels_are_found():
    m = dn.mechanism("uue-levels", k=5, sensitive="0,2,4", item_epsilon="0.5,4,1")
    less = dn.mechanism("uue-levels", k=5, sensitive="0,2,4", item_epsilon="0.4,4,1").promise
    with pytest.raises(AssertionError, match="more than e"):
        check_claims(replace(m.protection, promise=less), [m.channel()])
    m = dn.mechanism("pldp", k=4, levels="0.5,1,2", base="sue", level_epsilon=0.5)
    channels = [m.bulk.channel_at(i) for i in range(3)]
    check_claims(m.protection, channels)
    told, levels = m.protection, (0.5, 1.0, 2.0)
    for wrong in (((0.4, 1.0, 2.0), told.level, told.pair), (levels, 0.5, told.pair), (levels, told.level, 2.0)):
        with pytest.raises(AssertionError, match=r"more than e"):
            check_claims(replace(told, promise=Promise.plain(2.0, 4).with_levels(*wrong)), channels)
    with pytest.raises(AssertionError, match="less than e"):
        check_claims(replace(told, promise=Promise.plain(2.0, 4).with_levels(levels, 9.0, 9.0)), channels)
    two = dn.mechanism("pldp", k=4, levels="0.5,1", base="sue", level_epsilon=0.5)
    wide = replace(two.protection, promise=Promise.plain(1.0, 4).with_levels((0.5, 1.0), 9.0, 9.0))
    with pytest.raises(AssertionError, match="less than e"):
        check_claims(wide, [two.bulk.channel_at(i) for i in range(2)])


def test_nothing_sensitive_protects_nobody_and_all_sensitive_is_plain():
    none, every = (dn.mechanism("utility", k=3, sensitive=s, epsilon=1.0) for s in (0, 3))
    assert none.protection.text == "Protects nobody: no answer is sensitive, and every report discloses its answer."
    assert every.protection == Protection(promise=Promise.plain(1.0, 3), epsilon=1.0)
    broken = replace(none.protection, promise=Promise.plain(1.0, 3))
    with pytest.raises(AssertionError, match="rules answers out"):
        check_claims(broken, [none.channel()])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ks-grr", {"k": 4, "top": 2}),
        ("ks-adap", {"k": 4, "top": 2}),
        ("privkvm", {"k": 3, "rounds": 2}),
        ("collaborative", {"k": 5, "sensitive": 2}),
        ("rcf", {"k": 3}),
        ("apldp", {"k": 3}),
    ],
)
def test_protocols_keep_their_statement_in_every_step(name, options):
    """Everybody answers one step, or all of them, whose budgets then add up."""
    p = dn.protocol(name, epsilon=1.0, **options)
    told, spent = p.protection, 0.0
    for step in p.outline:
        m = step.mechanism
        spent = spent + m.epsilon if p.repeated else max(spent, m.epsilon)
        found = enumerated(m)
        if found is not None:
            check_claims(replace(told, promise=m.promise, epsilon=m.epsilon, steps="one"), [found])
    assert spent == pytest.approx(told.epsilon, abs=1e-12)
    assert spent <= told.epsilon
    assert ("every step" if p.repeated else "one step only") in told.text
    named = {"rcf", "apldp", "ppda", "pbp", "auem", "emoa"}
    assert set(PROTOCOLS) == {"ks-grr", "ks-adap", "privkvm", "collaborative", *named}


def test_labels_are_named_and_long_lists_cut():
    told = dn.mechanism("uss", epsilon=1.0, labels=["no", "yes", "often"], sensitive="yes,often").protection
    assert "(yes, often)" in told.text
    many = dn.mechanism("uss", epsilon=1.0, k=50_000, sensitive=40_000).protection
    assert "(0, 1, 2, 3, 4, 5, ...)" in many.text
    assert many.document()["sensitive"] == [0, 40_000]


def test_numbers_are_rounded_against_us():
    assert times(0.1) == "e^0.1 = 1.11 times"
    assert times(math.log(2)) == "e^0.694 = 2.01 times"
    assert times(14.5) == "e^14.5 times"
    some = Promise.by_class(3, ((0, 1), (1, 3)), (1.0, math.inf), strict=1.0)
    told = Protection(promise=some, epsilon=1.0, disclosed=Fraction(1, 3))
    assert "up to 33.4 %" in told.text
    assert told.document()["disclosed"] >= Fraction(1, 3)


def test_beyond_what_can_be_sampled_no_chance_is_claimed_but_1():
    assert "up to 100 %" in dn.mechanism("uss", epsilon=50.0, k=4, sensitive=2).protection.text
