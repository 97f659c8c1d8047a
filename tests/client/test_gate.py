"""The gate of a device at its limits: what is just allowed passes, one step more does not, and texts round upwards."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable.randomness import simulation
from deniable_client import Device, FormatError, ParameterError, PrivacyError, explain
from deniable_client.device import check_work
from deniable_client.documents import check_document, read_whole
from deniable_client.domains import read_domain
from deniable_client.grammar import read_design
from deniable_client.kernels import (
    Grouped,
    Hashing,
    KeysOnly,
    Mixture,
    Pairs,
    Personal,
    Response,
    Subset,
    Table,
    Unary,
    Utility,
    UtilityBudgets,
    UtilityMixture,
    kernel_from,
    kernel_to,
)

WORD = 1 << 64


# ---- documents


def nested(depth: int) -> dict[str, Any]:
    """A mapping in which lists stand within each other."""
    part: Any = 1
    for _ in range(depth - 1):
        part = [part]
    return {"x": part}


@pytest.mark.parametrize(
    ("most", "beyond", "words"),
    [
        (lambda: nested(12), lambda: nested(13), "nested more than 12 deep"),
        (lambda: {"x": [0] * 528382}, lambda: {"x": [0] * 528383}, "more than 528384 parts"),
        (
            lambda: {"x": [0] * 400000 + [[0] * 128381]},
            lambda: {"x": [0] * 400000 + [[0] * 128382]},
            "more than 528384 parts",
        ),
        (lambda: {"x": "a" * 65536}, lambda: {"x": "a" * 65537}, "a text of 65537 characters"),
        (lambda: {"a" * 65536: 1}, lambda: {"a" * 65537: 1}, "a text of 65537 characters"),
        (lambda: {"": ["a" * 65536] * 256}, lambda: {"x": ["a" * 65536] * 256}, "more than 16777216 characters"),
        (lambda: {"x": 2**64 - 1}, lambda: {"x": 2**64}, "no finite number"),
        (lambda: {"x": -(2**63)}, lambda: {"x": -(2**63) - 1}, "no finite number"),
        (lambda: {"x": 1e308}, lambda: {"x": float("inf")}, "no finite number"),
        (lambda: {"x": "\ud7ff\ue000"}, lambda: {"x": "a\udfff"}, "cannot be stored as UTF-8"),
        (lambda: {"x": True}, lambda: {"x": b"1"}, "no finite number"),
        (lambda: {"1": 1}, lambda: {1: 1}, "a name that is no text"),
    ],
    ids=[
        "depth",
        "parts",
        "spread",
        "text",
        "name",
        "texts",
        "whole",
        "negative",
        "float",
        "surrogate",
        "bytes",
        "names",
    ],
)
def test_documents_are_bounded(most: Any, beyond: Any, words: str) -> None:
    check_document(most())
    with pytest.raises(FormatError, match=words):
        check_document(beyond())


def test_whole_numbers_have_forty_digits_at_most() -> None:
    assert read_whole("9" * 40, "keep") == 10**40 - 1
    for wrong in ("1" + "0" * 40, "00", "1\n", "\u00b2"):
        with pytest.raises(FormatError, match="keep needs whole numbers, written as text in at most 40 digits"):
            read_whole(wrong, "keep")


# ---- work


def budgets(s: int) -> UtilityBudgets:
    return UtilityBudgets(s + 1, (0, s), WORD // 2, (WORD // 4,) * s, 0)


@pytest.mark.parametrize(
    ("most", "beyond", "words"),
    [
        (lambda: Unary(1 << 20, 2, 1), lambda: Unary((1 << 20) + 1, 2, 1), "1048577 random words"),
        (lambda: Subset(1 << 23, 1, 1), lambda: Subset((1 << 23) + 1, 1, 1), "1048577 bytes"),
        (lambda: budgets(1 << 12), lambda: budgets((1 << 12) + 1), "4097 budgets of answers"),
        (
            lambda: Personal((Response(2, 1),) * 16, ()),
            lambda: Personal((Response(2, 1),) * 17, ()),
            "17 levels",
        ),
        (
            lambda: Pairs(Response(1 << 15, 1), 12288, 4096),
            lambda: Pairs(Response(1 << 15, 1), 12287, 4097),
            "4097 pairs per person",
        ),
    ],
    ids=["words", "bytes", "budgets", "levels", "pairs"],
)
def test_work_is_bounded(most: Any, beyond: Any, words: str) -> None:
    check_work(most())
    with pytest.raises(FormatError, match=f"a report of this design needs {words}, more than the "):
        check_work(beyond())


class Counted:
    """Seeded words, counted."""

    bits = 64

    def __init__(self) -> None:
        self.stream, self.used = simulation(11), 0

    def word(self) -> int:
        self.used += 1
        return int(self.stream.draw(64, 1)[0])


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "explicit"])
def test_reports_draw_no_more_words_than_said(name: str) -> None:
    """No word is drawn again but with a chance below 2^-50; only for noise and for points is their number random.

    Their mean over 100 reports (a seeded run) is within 30 % of what is said.
    """
    kernel: Any = dn.mechanism(name, **MECHANISMS[name].small[0]).kernel
    words, most = Counted(), 0
    for i in range(100):
        before = words.used
        kernel.randomise(i % kernel.k, words)
        most = max(most, words.used - before)
    if name in ("she", "pgr", "upgr"):
        assert words.used / 100 <= 1.3 * kernel.words
    else:
        assert most <= kernel.words


# ---- parts that disclose

OPEN = Utility(4, (0, 1), (), WORD // 2, 0, 1)
"""Sends half of its harmless values in clear."""


@pytest.mark.parametrize(
    "wrap",
    [
        lambda: Mixture(OPEN, OPEN, WORD // 2),  # type: ignore[arg-type]
        lambda: Mixture(Response(4, WORD // 2), OPEN, WORD // 2),  # type: ignore[arg-type]
        lambda: KeysOnly(OPEN),  # type: ignore[arg-type]
        lambda: Grouped(OPEN, OPEN, WORD // 2),  # type: ignore[arg-type]
        lambda: Grouped(Response(4, WORD // 2), OPEN, WORD // 2),  # type: ignore[arg-type]
        lambda: Pairs(OPEN, 2, 0),  # type: ignore[arg-type]
        lambda: Utility(5, (0, 4), (OPEN,), 0, 0, 0),  # type: ignore[arg-type]
    ],
)
def test_what_discloses_does_not_stand_inside_what_forgets_it(wrap: Any) -> None:
    with pytest.raises(PrivacyError, match="must not disclose"):
        wrap()


def sensitive_pair(sensitive: tuple[int, ...] = (0, 2), k: int = 202, attach: int = 0, **more: Any) -> Utility:
    base = more.get("base", Subset(2, 1, WORD * 3 // 5))
    return Utility(k, sensitive, (base,), more.get("plain", WORD // 4), attach, more.get("blind", 1))


def test_mixtures_of_kernels_that_disclose_have_one_report_format() -> None:
    """Reports that disclose under one kernel and hide another value under the other would have no ratio."""
    first = sensitive_pair()
    wide = Table(tuple((WORD - 299, *[1] * 299) for _ in range(2)))
    for second, name in (
        (sensitive_pair((1, 3)), "sensitive"),
        (sensitive_pair(k=203), "k"),
        (sensitive_pair(base=wide, blind=0), "width"),
    ):
        with pytest.raises(ParameterError, match=f"^{name} of the kernels in a mixture"):
            UtilityMixture(first, second, WORD // 2)
    taller = sensitive_pair(attach=WORD // 2)
    broader = sensitive_pair(base=wide, blind=0)
    assert taller.width == broader.width
    assert taller.head != broader.head
    with pytest.raises(ParameterError, match="head of the kernels in a mixture"):
        UtilityMixture(taller, broader, WORD // 2)
    for coin in (-1, WORD):
        with pytest.raises(ParameterError, match="coin"):
            UtilityMixture(first, first, coin)
    with pytest.raises(ParameterError, match="both utility kernels, or neither"):
        kernel_from(kernel_to(UtilityMixture(first, first, 1)) | {"second": kernel_to(Response(202, WORD // 2))})


@pytest.mark.parametrize("ranges", [(3, 5), (0, 1, 1, 3), (2, 0), (1, 1), (0, 0, 0, 2), (0, 1, 2), (-2, 0), (0, True)])
def test_protected_answers_are_ranges_in_order(ranges: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="sensitive must be increasing ends of half-open ranges"):
        Utility(4, ranges, (Response(2, WORD // 2),), 0, 0, 1)


def test_parts_of_mixtures_have_one_size_and_one_length() -> None:
    for second, name in ((Response(5, WORD // 2), "k"), (Hashing(4, 2, WORD // 2), "width")):
        with pytest.raises(ParameterError, match=f"^{name} of the kernels in a mixture"):
            Mixture(Response(4, WORD // 2), second, WORD // 2)
    with pytest.raises(ParameterError, match="base must be one kernel on 2 values"):
        Utility(4, (0, 2), (Response(2, WORD // 2),) * 2, 0, 0, 1)


def test_mixtures_of_kernels_that_disclose_say_what_both_do() -> None:
    mild, strong = sensitive_pair(), sensitive_pair(plain=WORD // 2)
    for first, second in ((mild, strong), (strong, mild)):
        mixed = UtilityMixture(first, second, WORD // 4)
        assert mixed.hidden_ratio == strong.hidden_ratio > mild.hidden_ratio
        assert mixed.disclosed == first.disclosed * Fraction(3, 4) + second.disclosed / 4
    assert UtilityMixture(mild, strong, 0).hidden_ratio == mild.hidden_ratio


@pytest.mark.parametrize("inner", [Response(4, WORD // 2), Hashing(4, 2, WORD // 2)])
def test_shapes_are_those_of_parts_too(inner: Any) -> None:
    document = kernel_to(KeysOnly(inner))
    assert kernel_from(document, {"keys-only": {"base": {inner.kind: {}}}}) == KeysOnly(inner)
    for shapes in ({"keys-only": {"base": {"subset": {}}}}, {"keys-only": {"base": {}}}, {inner.kind: {}}):
        with pytest.raises(FormatError, match="is not possible here"):
            kernel_from(document, shapes)
    deep: Any = kernel_to(Response(4, WORD // 2))
    for _ in range(400):
        deep = {"kind": "mixture", "first": deep, "second": kernel_to(Response(4, WORD // 2)), "coin": "1"}
    with pytest.raises(FormatError, match="nested more than 12 deep"):
        kernel_from(deep)
    several = kernel_to(Personal((inner, inner), ()))
    with pytest.raises(FormatError, match=f"kernel kind '{inner.kind}' is not possible here"):
        kernel_from(several, {"personal": {"data": {"unary": {}}, "level": {}}})


# ---- values


def test_numbers_count_as_answers_only_where_they_are() -> None:
    """A text is no number, an answer's number is no label, and what is missing is not what is other."""
    labels = read_domain({"labels": ["a", "b", "c"], "missing": "b", "other": "c"}, 3)
    assert [labels.index(v) for v in ("a", None, "", float("nan"), "x", 0, True)] == [0, 1, 1, 1, 2, 2, 2]
    strict = read_domain({"labels": ["a", "b"], "missing": "b"}, 2)
    assert [strict.index(v) for v in (None, "", float("nan"))] == [1, 1, 1]
    clipped = read_domain({"interval": [0, 1], "points": 4, "layout": "midpoints", "clip": True}, 4)
    assert [clipped.index(v) for v in (-5, 0, 0.25, 0.26, 1, 9)] == [0, 0, 0, 1, 3, 3]
    codes = read_domain({"interval": [0, 1], "codes": [0.2, 0.4, 1], "clip": False}, 3)
    assert [codes.index(v) for v in (0, 0.3, 0.31, 0.7, 0.71, 1)] == [0, 0, 1, 1, 2, 2]
    count = read_domain({"k": 6}, 6)
    assert [count.index(v) for v in (0, 5)] == [0, 5]
    refused = (
        (strict, "x"),
        (clipped, "0.5"),
        (clipped, True),
        (clipped, None),
        (codes, 1.01),
        (count, 6),
        (count, -1),
    )
    for domain, wrong in refused:
        with pytest.raises(ParameterError, match="value"):
            domain.index(wrong)


def test_devices_read_pairs_within_their_range() -> None:
    device = Device(dn.mechanism("kv-ss", epsilon=1.0, k=4, length=2, range=(0, 10)).design)
    assert device.answer([(0, 0), (3, 10)]) == [(0, 0), (3, 1 << 32)]
    patient = Device(dn.mechanism("kv-ss", epsilon=1.0, k=4, length=2).design, stand_in=[])
    assert len(patient.report([(0, 1), (0, 1)])) == patient.kernel.width  # a refusal would tell of the two
    for odd in (float("nan"), float("inf"), 10 + 1e-12):  # nothing is rounded into the range
        with pytest.raises(ParameterError, match="the number of a pair must be from 0 to 10"):
            device.report([(0, odd)])
    for wrong in ([(0, 10.1)], [(0, -0.1)], [(4, 1)], [(0, True)], [(0, 1), (0, 2)], [(0, 1, 2)], "01", [0, 1]):
        with pytest.raises(ParameterError):
            device.report(wrong)


@pytest.mark.parametrize("low", [0, -2.5, 4])
def test_of_what_a_ledger_is_given_pairs_at_both_ends_stay_and_pairs_outside_go(low: float) -> None:
    """One step of a number beyond an end is outside; the other pairs stay, in their places of the range."""
    high = low + 10
    device = Device(dn.mechanism("kv-ss", epsilon=1.0, k=4, length=2, range=(low, high)).design)
    ends, middle = [(0, 0), (3, 1 << 32)], (1, 1 << 31)
    assert device.known([[0, low], [3, high]]) == ends == device.answer([[0, low], [3, high]])
    outside = [math.nextafter(low, -math.inf), math.nextafter(high, math.inf), math.nan, math.inf, -math.inf]
    for wrong in (
        *([2, number] for number in outside),
        [4, low],
        [-1, low],
        [2, True],
        [2, "0"],
        [2],
        [2, low, low],
        2,
    ):
        assert device.known([[1, low + 5], wrong]) == [middle]
        assert device.known([wrong]) is None
    assert device.known([]) == []


def test_levels_and_coins_are_refused_where_there_are_none() -> None:
    plain = Device(dn.mechanism("grr", epsilon=1.0, k=3).design)
    with pytest.raises(ParameterError, match="level must be left out"):
        plain.report(1, level=1.0)
    with pytest.raises(ParameterError, match="coin must be left out"):
        plain.report(1, coin=5)
    own = Device(dn.mechanism("pldp", k=3, levels="0.5,1", level_epsilon=0.5).design)
    with pytest.raises(ParameterError, match=r"level must be one of 0\.5, 1"):
        own.report(1, level=0.75)


# ---- words


def grr(keep: int, k: int = 2, **more: Any) -> dict[str, Any]:
    kernel = {"kind": "response", "k": str(k), "keep": str(keep)}
    start = {"mechanism": "grr", "version": 1, "epsilon": 30, "domain": {"k": k}, "params": {}, "kernel": kernel}
    return start | more


def test_ratios_and_levels_are_rounded_up() -> None:
    """Ratio 2.0000...: log 0.69314718; 10.00..: 2.302585; 1000.0..: 6.907755."""
    for over, under, times, level in (
        (2, 1, "2.01", "0.6932"),
        (10, 1, "10.1", "2.303"),
        (1000, 1, "1001", "6.908"),
        (3, 2, "1.51", "0.4055"),
    ):
        found = explain(grr(WORD * over // (over + under) + 10**4))
        assert f"at most {times} times as likely" in str(found)
        assert f"(epsilon {level})" in str(found)


def uss(plain: int, sensitive: tuple[int, ...] = (1, 3), k: int = 5, **domain: Any) -> dict[str, Any]:
    base = {"mechanism": "grr", "params": {}}
    params = {"base": base, "sensitive": list(sensitive), "theta": 0.5, "form": "null"}
    kernel = kernel_to(Utility(k, sensitive, (Response(2, WORD * 3 // 5),), plain, 0, 1))
    start = {"mechanism": "urr", "version": 1, "epsilon": 40.0, "domain": domain or {"k": k}}
    return start | {"params": params, "kernel": kernel}


def test_explanations_name_the_ranges_and_round_the_chance_up() -> None:
    found = explain(uss(WORD // 4 + 1))
    assert found.disclosed == (0, 1, 3, 5)
    assert found.harmless == (range(1), range(3, 5))
    assert [found.chance_of(x) for x in range(5)] == [found.chance, 0, 0, found.chance, found.chance]
    lines = str(found).splitlines()
    began = "Strong protection: 1 to 2. With such an answer, any report that you send is at most 1.61 times"
    assert lines[0].startswith(began)
    assert lines[2].startswith("Not protected: 0, 3 to 4. The report names such an answer in 25.1 % of the cases;")
    assert "names such an answer in nearly all cases; otherwise" in str(explain(uss(WORD - 10**6)))
    labels = [f"answer {i}" for i in range(20)]
    many = str(explain(uss(WORD // 4, (1, 3), 20, labels=labels)))
    assert "trong protection: 'answer 1', 'answer 2'. With" in many
    assert "'answer 18', 'answer 19'. The report names such an answer in 25.0 % of the cases" in many
    design = dn.mechanism("urr", epsilon=1.0, labels=labels, sensitive=",".join(labels[:18])).design
    assert "'answer 11' and 6 more. With such an answer" in str(explain(design))
    nothing = explain(uss(0))
    assert (nothing.disclosed, nothing.chance, nothing.harmless) == ((), 0, ())
    assert str(nothing).startswith("Every answer has strong protection: ")


def test_explanations_of_levels_round_up_and_say_the_default() -> None:
    design = dn.mechanism("pldp", k=3, levels="0.5,1", level_epsilon=0.25).design
    kernel, text = read_design(design).kernel, str(explain(design))
    own = "epsilon 0.5, strong protection; 1, good protection."
    assert f"You choose how much: {own} The most protective, 0.5, is taken if you do not." in text
    told = [Fraction(part.split()[0]) for part in text.split("at most epsilon ")[1].split(", and ")]
    for number, exact in zip(told, (kernel.level_guarantee, kernel.pair_guarantee), strict=True):
        assert Fraction(exact) <= number <= Fraction(exact) * Fraction(1001, 1000)
    assert "(epsilon 1 at the least protective level)" in text


def test_labels_with_control_signs_are_refused_without_showing_them() -> None:
    with pytest.raises(FormatError, match=r"u001b\[2J. is blank or has a control sign") as caught:
        explain(grr(WORD * 2 // 3, domain={"labels": ["a", "\x1b[2J"], "missing": "\x1b[2J"}))
    assert "\x1b" not in str(caught.value)


def test_consent_may_overlap_and_be_in_any_order() -> None:
    design = uss(WORD // 4)
    for consent in ([4, 0, 3], [range(3, 5), 4, 0, 0], [range(3, 4), range(4, 5), range(1), range(2, 2)]):
        Device(design, harmless=consent)
    Device(uss(WORD // 4, (1, 3), 6), harmless=[range(3, 6), 4, 0])
    with pytest.raises(ParameterError, match="value must be an integer"):
        Device(uss(WORD // 4, (4, 6), 6), harmless=[range(0, 4, 2)])
    for wrong in (
        [0, 3],
        [0, 4],
        [range(5)],
        [0, range(2, 5)],
        [range(1), range(3, 6)],
        [range(-1, 1), 3, 4],
        [],
        None,
    ):
        with pytest.raises(PrivacyError, match="this design may disclose 0, 3 to 4, and consent was given for"):
            Device(design, harmless=wrong)
    with pytest.raises(PrivacyError, match="may disclose none of its answers, and consent was given for 0"):
        Device(uss(0), harmless=[0])
