"""Why a design: what is a win, what is near it and what is a cost, by designs that are made up for every boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.plan.advice import (
    FEW_FORGERS,
    LITTLE_WORK,
    LOW_GUESS,
    SHORT_REPORTS,
    Aspect,
    advise,
    fewest,
    join,
    least_error,
    relative,
)
from deniable.plan.scoring import Weights


@dataclass(frozen=True)
class Made:
    """A design that is nothing but its numbers."""

    name: str
    stderr: float = 0.01
    asr: float = 0.5
    bytes: int = 8
    work: float | None = 10.0
    poisoning: float | None = 0.02
    bits: float = 60.0
    n: int = 1000
    epsilon: float = 1.0
    score: float | None = None
    why: str = ""
    beaten_by: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} (t)"

    @property
    def mechanism(self) -> Any:
        return SimpleNamespace(epsilon=self.epsilon)


def whys(*designs: Made, **how: Any) -> dict[str, str]:
    return {d.name: d.why for d in advise(designs, **how)}


# ---- which is first

FAR = 1e9
SHORTER = [
    # bytes of the first and of another, how much larger its error is, and whether it goes ahead
    (8, 1, 1.0004, False),
    (9, 1, 1.0004, True),
    (9, 1, 1.0006, False),
    (12, 2, 1.0004, True),
    (11, 2, 1.0004, False),
    (50, 8, 1.0004, True),
    (50, 9, 1.0004, False),
    (51, 8, 1.0004, False),
    (50, 5, 1.004, False),
    (51, 5, 1.004, True),
    (51, 5, 1.006, False),
    (59, 6, 1.004, False),
    (60, 6, 1.004, True),
    (1000, 100, 1.04, False),
    (1001, 100, 1.04, True),
    (1001, 100, 1.06, False),
    (1009, 101, 1.04, False),
    (1010, 101, 1.04, True),
]


@pytest.mark.parametrize(("long", "short", "more", "ahead"), SHORTER)
def test_a_shorter_report_goes_ahead_by_the_bytes_and_by_the_error(
    long: int, short: int, more: float, ahead: bool
) -> None:
    """By shares of least error; where people are looked for or something is weighed, the least is the first."""
    best, other = Made("long", bytes=long), Made("short", bytes=short, stderr=0.01 * more)
    assert [d.name for d in advise([best, other])] == (["short", "long"] if ahead else ["long", "short"])
    assert {d.beaten_by for d in advise([best, other])} == {""}
    weighed = Weights("mse", {"mse": 0.5, "bits": 0.5})
    scored = [replace(best, score=1.0), replace(other, score=1.0001)]
    assert advise(scored, weights=weighed)[0].name == "long"
    counted = [replace(best, n=10_000), replace(other, n=round(10_000 * more))]
    assert (advise(counted, "n")[0].name == "short") == (ahead and long > 1000)


@pytest.mark.parametrize(
    ("first", "other", "ahead"),
    [(10.0, 1000.0, True), (10.0, 1001.0, False), (2000.0, 2000.0, True), (2000.0, 2001.0, False)],
)
def test_a_shorter_report_goes_ahead_unless_it_is_the_slower_one(first: float, other: float, ahead: bool) -> None:
    designs = [Made("long", bytes=40, work=first), Made("short", bytes=2, work=other, stderr=0.010001, asr=0.4)]
    assert advise(designs)[0].name == ("short" if ahead else "long")


def test_of_several_shorter_ones_the_shortest_is_first_and_the_others_keep_their_order() -> None:
    made = [
        Made("a", bytes=40),
        Made("b", bytes=4, stderr=0.010001, asr=0.4),
        Made("c", bytes=2, stderr=0.010002),
        Made("d", bytes=3, stderr=0.010003, work=1.0),
    ]
    assert [d.name for d in advise(made)] == ["c", "a", "b", "d"]


# ---- what is told


def test_what_is_best_near_and_dear_is_told_with_its_numbers() -> None:
    found = whys(
        Made("a", stderr=0.010, asr=0.20, bytes=40, work=1000.0, poisoning=0.05),
        Made("b", stderr=0.0104, asr=0.30, bytes=1, work=1234.0, poisoning=0.02),
        Made("c", stderr=0.020, asr=0.10, bytes=10, work=10.0, poisoning=0.021),
    )
    assert found["a"] == (
        "The least error; the price: the best guess is right 20 % of the time instead of 10 % (c), 40 bytes per report "
        "instead of 1 byte (b) and 1,000 operations per report instead of 10 (c)."
    )
    assert found["b"] == (
        "The shortest reports, the least effect of forged reports and an error 4 % above the least; the price: the "
        "best guess is right 30 % of the time instead of 10 % (c) and 1,234 operations per report instead of 10 (c)."
    )
    assert found["c"] == (
        "The lowest chance to guess an answer from its report, the least work for the server and an effect of forged "
        "reports 5 % above the least; the price: an error 2 times that of a."
    )


def test_what_is_neither_near_nor_dear_is_not_told() -> None:
    found = whys(
        Made("a", stderr=0.01, asr=0.2),
        Made("b", stderr=0.014, asr=0.14),
        Made("c", stderr=0.0149, asr=0.1),
    )
    assert found["b"].startswith("The shortest reports, the least work for the server and ")
    middle = whys(
        Made("a", stderr=0.01, asr=0.2, bytes=9, work=1.0),
        Made("b", stderr=0.014, asr=0.14, bytes=10, work=2.0, poisoning=0.024),
        Made("c", stderr=0.0149, asr=0.1, bytes=11, work=3.0, poisoning=0.03),
    )
    assert middle["b"] == "A middle way; elsewhere little worse than others."


@pytest.mark.parametrize(
    ("what", "small", "silent", "dear"),
    [
        ("bytes", 1, 11, 12),
        ("work", 1.0, 149.0, 150.0),
        ("asr", 0.125, 0.187, 0.1875),
        ("poisoning", 0.02, 0.0299, 0.03),
    ],
)
def test_a_cost_is_told_from_half_as_much_again_on_where_it_matters(
    what: str, small: float, silent: float, dear: float
) -> None:
    """Of a few bytes, or of little work, more is no cost."""
    for value, told in ((silent, False), (dear, True)):
        designs = [Made("best"), replace(Made("other", stderr=0.02), **{what: small})]
        found = whys(replace(designs[0], **{what: value}), designs[1])["best"]
        assert ("the price" in found) == told, (what, value)


def test_near_is_up_to_five_per_cent() -> None:
    for asr, near in ((0.1049, True), (0.1051, False)):
        found = whys(Made("best", asr=asr), Made("other", stderr=0.02, asr=0.1))["best"]
        assert ("a chance to guess an answer 4.9 % above the lowest" in found) == near


def test_what_nobody_knows_nobody_wins_and_one_who_does_not_know_is_told_so() -> None:
    nobody = whys(Made("a", work=None, poisoning=None), Made("b", stderr=0.02, asr=0.1, work=None, poisoning=None))
    assert not any("work" in why or "operations" in why or "forged" in why for why in nobody.values())
    one = whys(Made("a", work=None, poisoning=None), Made("b", stderr=0.02, work=120.0))["a"]
    assert one.endswith(
        "the price: an unknown number of operations per report instead of 120 (b) and an effect of forged reports that "
        "is not known."
    )


# ---- what beats what


@pytest.mark.parametrize(
    ("change", "beaten"),
    [
        ({}, False),
        ({"bytes": 9}, True),
        ({"asr": 0.5 * 1.009}, False),
        ({"asr": 0.5 * 1.02}, True),
        ({"asr": 0.5 * 1.02, "stderr": 0.00999}, False),
        ({"asr": 0.5 * 1.02, "work": 9.96}, True),
        ({"asr": 0.5 * 1.02, "work": 9.9}, False),
        ({"work": None}, True),
    ],
)
def test_a_design_is_beaten_by_one_per_cent_if_nothing_else_speaks_for_it(change: dict[str, Any], beaten: bool) -> None:
    """Up to half a percent of anything but the error may do so: then that is told."""
    found = advise([Made("one"), replace(Made("two"), **change)])
    two = next(d for d in found if d.name == "two")
    assert two.beaten_by == ("one (t)" if beaten else "")
    assert (", up to half a percent:" in two.why) == (change.get("work") == 9.96)


def test_without_the_lead_of_shares_hardly_as_good_does_not_beat() -> None:
    made = [Made("one"), Made("two", asr=0.51, work=9.96)]
    assert [d.beaten_by for d in advise(made, "n")] == ["", ""]
    assert [d.beaten_by for d in advise(made, aspects=(least_error("x"), LOW_GUESS))] == ["", "one (t)"]


def test_the_two_worst_things_are_told_of_what_is_beaten_the_worst_first() -> None:
    found = whys(Made("one"), Made("two", stderr=0.02, asr=0.55, bytes=40, work=30.0, poisoning=0.08), compared="all")
    assert found["two"] == (
        "Beaten by one (t), which is at least as good in all: 40 bytes per report instead of 8 bytes (one) and 1 % of "
        "forged reports add up to 8 points to the targets instead of 2 (one)."
    )


def test_weights_put_the_score_first_and_the_bits_last() -> None:
    made = [Made("a", score=1.0, bits=30.0), Made("b", score=1.02, bits=10.0, stderr=0.02, asr=0.1)]
    assert whys(*made, weights=Weights("mse", {"mse": 0.5, "bits": 0.5}))["b"].startswith("The lowest chance")
    both = whys(*made, weights=Weights("mse", {"mse": 0.5, "bits": 0.5}))
    assert both["a"].startswith("The best score, the least error")
    assert "the fewest bits and a score 2 % above the best; the price" in both["b"]
    assert "bits in a report 3 times that of b" in both["a"]
    assert not any("bits" in why for why in whys(*made, weights=Weights("mse", {"mse": 0.5, "asr": 0.5})).values())
    assert not any("score" in why for why in whys(*made, weights=Weights("mse", {"mse": 1.0})).values())


@pytest.mark.parametrize(
    ("lead", "change", "words"),
    [
        ("n", {"n": 3000}, "3,000 reports instead of 1,000 (a)"),
        ("n", {"n": 1040}, "4 % more reports than the fewest"),
        ("epsilon", {"epsilon": 2.0}, "epsilon 2 instead of 1 (a)"),
        ("epsilon", {"epsilon": 1.03}, "an epsilon 3 % above the least"),
        ("mse", {"stderr": 0.03}, "an error 3 times that of a"),
    ],
)
def test_what_is_looked_for_leads(lead: str, change: dict[str, Any], words: str) -> None:
    found = whys(Made("a"), replace(Made("b", asr=0.2), **change), lead=lead)
    assert words in found["b"]
    assert found["a"].startswith(
        {"n": "The fewest reports", "epsilon": "The least epsilon"}.get(lead, "The least error")
    )


def test_costs_beside_nothing_and_beside_what_is_not_known() -> None:
    aspect = relative(lambda d: d.poisoning, "w", "n", "a cost")
    a, b = Made("a", poisoning=0.25), Made("b", poisoning=0.0)
    assert aspect.cost(a, b) == "a cost of 0.25 instead of that of b"
    assert aspect.cost(a, replace(b, poisoning=None)) == "a cost that is not known, instead of that of b"
    assert aspect.cost(replace(a, poisoning=None), b) == "a cost that is not known, instead of that of b"
    assert aspect.cost(a, replace(b, poisoning=0.1)) == "a cost 2.5 times that of b"
    assert FEW_FORGERS.cost(a, b) == "1 % of forged reports add up to 25 points to the targets instead of 0 (b)"
    assert fewest("people").cost(Made("a", n=12_345), Made("b", n=1)) == "12,345 people instead of 1 (b)"
    assert [aspect.name for aspect in (LOW_GUESS, SHORT_REPORTS, LITTLE_WORK, FEW_FORGERS)] == [
        "guess", "bytes", "work", "forged reports",
    ]  # fmt: skip
    assert Aspect(lambda _: None, "", "", lambda *_: "").of(a) == float("inf")


def test_nothing_to_advise_is_nothing() -> None:
    assert advise([]) == ()
    assert [join(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
