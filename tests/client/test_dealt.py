"""One public choice of a part: its vectors, its exact law, and that a group of two parts is what it always was."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from deniable_client import Device, Task, explain
from deniable_client.errors import DeniableError, FormatError, ParameterError, PrivacyError
from deniable_client.exact import exp_bounds
from deniable_client.kernels import (
    Dealt,
    Grouped,
    Hashing,
    KeysOnly,
    Mixture,
    Response,
    Table,
    Unary,
    Utility,
    check_promise,
    kernel_from,
    kernel_to,
    promised_ratio,
)
from deniable_client.kernels.keyvalue import signed_subset, subset_of_keys
from deniable_client.words import ReplayWords, Words, happens
from fuzz import inside, outside

WORD = 1 << 64
VECTORS = json.loads((Path(__file__).parents[2] / "clients" / "vectors" / "dealt.json").read_text())
CASES = VECTORS["cases"]


def replayed(row: dict[str, Any]) -> ReplayWords:
    return ReplayWords([int(word, 16) for word in row["words"]])


# ---- vectors


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['kernel']['parts'])} parts, {case['width']} bytes")
def test_words_become_the_reports(case: dict[str, Any]) -> None:
    kernel = kernel_from(case["kernel"])
    assert kernel_to(kernel) == case["kernel"]
    assert kernel.width == case["width"]
    assert promised_ratio(kernel) == Fraction(int(case["ratio"]["numerator"]), int(case["ratio"]["denominator"]))
    for row in case["reports"]:
        words = replayed(row)
        report = kernel.randomise(row["value"], words)
        assert (report.hex(), len(report)) == (row["report"], case["width"])
        assert next(words._words, None) is None, "not all words are used"
        assert report[kernel.parts[report[0]].width + 1 :].strip(b"\0") == b""
    assert {int(row["report"][:2], 16) for row in case["reports"]} >= set(range(min(6, len(kernel.parts))))
    for row in case["deals"]:
        assert kernel.deal(replayed(row)) == row["part"]
    assert {row["part"] for row in case["deals"]} == set(range(len(kernel.parts)))
    for row in case["frames"]:
        assert kernel.frame(row["part"], bytes.fromhex(row["report"])).hex() == row["framed"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['kernel']['parts'])} parts, {case['width']} bytes")
def test_a_part_that_leaks_a_little_more_breaks_the_whole(case: dict[str, Any]) -> None:
    low = exp_bounds(case["epsilon"])[0]
    check_promise(kernel_from(case["kernel"]), low, case["epsilon"])
    with pytest.raises(PrivacyError, match="its dealt kernel has likelihood ratio"):
        check_promise(kernel_from(case["leaks"]), low, case["epsilon"])


# ---- the exact law


def tables(rng: Random) -> Table:
    """A random channel of two or three values, in sixteenths."""
    rows = []
    for _ in range(rng.choice((2, 3))):
        cuts = sorted(rng.sample(range(1, 16), 2))
        rows.append(tuple((b - a) << 60 for a, b in zip((0, *cuts), (*cuts, 16), strict=True)))
    return Table(tuple(rows))


def law(kernel: Dealt) -> list[dict[bytes, Fraction]]:
    """Chances of all reports for every record, from one word of each share and of each sixteenth."""
    total, laws = sum(kernel.shares), []
    for x in range(kernel.k):
        found: dict[bytes, Fraction] = {}
        for share, word in product(range(total), range(16)):
            report = kernel.randomise(x, ReplayWords([(2 * share + 1) * WORD // (2 * total), word << 60]))
            found[report] = found.get(report, Fraction(0)) + Fraction(1, 16 * total)
        laws.append(found)
    return laws


@pytest.mark.parametrize("seed", range(8))
def test_the_ratio_is_that_of_the_worst_part(seed: int) -> None:
    rng = Random(seed)
    count = rng.choice((2, 3))
    kernel = Dealt(tuple(tables(rng) for _ in range(count)), tuple(rng.randint(1, 3) for _ in range(count)))
    laws = law(kernel)
    worst = max(one[report] / two[report] for one, two in product(laws, laws) for report in one)
    assert worst == kernel.hidden_ratio == max(part.ratio for part in kernel.parts)  # type: ignore[union-attr]
    for part, share in enumerate(kernel.shares):
        dealt = sum(chance for report, chance in laws[0].items() if report[0] == part)
        assert dealt == Fraction(share, sum(kernel.shares))


def test_records_are_numbered_and_what_is_disclosed_is_said() -> None:
    open_ = Utility(5, (1, 3), (Response(2, WORD * 3 // 5),), WORD // 4, 0, 1)
    kernel = Dealt((Response(3, WORD * 2 // 5), open_, Response(2, WORD // 2)), (1, 2, 1))
    assert [kernel.record(x) for x in (0, 1, 2, 29)] == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (2, 4, 1)]
    hidden = [x for x in range(kernel.k) if kernel.record(x)[1] in (1, 2)]
    ends = kernel.protected
    assert [x for start, end in zip(ends[::2], ends[1::2], strict=True) for x in range(start, end)] == hidden
    assert kernel.disclosed == Fraction(1, 2) * open_.disclosed == Fraction(1, 8)
    assert kernel.hidden_ratio == open_.hidden_ratio
    words = [WORD // 2, 5]
    assert kernel.randomise(kernel.k - 1, ReplayWords(words)) == kernel.randomise([2, 4, 1], ReplayWords(words))
    with pytest.raises(ParameterError, match="records of the first parts must be at most 65536 to be listed, got 4294"):
        _ = Dealt((Response(2**32, WORD // 2), open_), (1, 1)).protected  # a design from outside may have any number


@pytest.mark.parametrize(
    ("parts", "shares", "words"),
    [
        ((Response(2, 1),), (1,), "number of parts must be an integer from 2 to 255, got 1"),
        ((Response(2, 1),) * 256, (1,) * 256, "number of parts must be an integer from 2 to 255, got 256"),
        ((Response(2, 1),) * 2, (1,), "shares must be one for each of 2 parts"),
        ((Response(2, 1),) * 2, (1, 0), "share must be an integer from 1"),
        ((Response(2, 1),) * 2, (1, True), "share must be an integer from 1"),
        ((Response(2, 1),) * 2, (1, WORD), r"sum of shares must be at most 2\*\*64"),
        ((Response(2, 1), Dealt((Response(2, 1),) * 2, (1, 1))), (1, 1), "kernels that are not dealt themselves"),
    ],
)
def test_what_is_no_deal_is_refused(parts: Any, shares: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Dealt(parts, shares)


def test_values_parts_and_reports_are_checked() -> None:
    kernel = Dealt((Response(2, WORD // 2), Hashing(4, 2, WORD // 2)), (1, 1))
    for wrong in ([0], [0, 0, 0], "01", None, 8, -1, True, [0, 4]):
        with pytest.raises(ParameterError):
            kernel.randomise(wrong, ReplayWords([WORD - 1] * 5))  # type: ignore[arg-type]
    for part, report in ((2, b"1"), (-1, b"1"), (0, b"12"), (1, b"1")):
        with pytest.raises(ParameterError):
            kernel.frame(part, report)
    for wrap in (lambda: Mixture(kernel, kernel, 1), lambda: KeysOnly(kernel), lambda: Grouped(kernel, kernel, 1)):
        with pytest.raises(PrivacyError, match="must not disclose"):
            wrap()  # type: ignore[no-untyped-call]


# ---- designs of parts


@pytest.mark.parametrize("case", VECTORS["good"], ids=lambda case: case["about"])
def test_a_design_of_parts_is_read_by_itself(case: dict[str, Any]) -> None:
    found = explain(case["design"])
    assert (found.epsilon, found.text, found.unread) == (case["epsilon"], case["text"], case["unread"])
    twelve = found.over(12)
    assert twelve.text == case["several"]
    assert [Fraction(each) for each in case["exact"]] == [twelve.ratio, twelve.sure, twelve.named]
    assert found.ratio == max(part.ratio for part in found.parts)
    assert [part.design.name for part in found.parts] == [part["mechanism"] for part in case["design"]["parts"]]
    for harmless in (found.harmless, case["harmless"]):
        device = Device(case["design"], harmless=harmless)
        assert (device.kernel.width, device.epsilon) == (case["width"], case["design"]["epsilon"])
        for row in case["reports"]:
            assert device.report(row["value"], replayed(row)).hex() == row["report"]


@pytest.mark.parametrize("case", VECTORS["refused"], ids=lambda case: case["about"])
def test_a_design_that_deals_wrongly_is_refused_by_kind(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda size: pytest.fail("a word was drawn"))
    with pytest.raises({"format": FormatError, "privacy": PrivacyError}[case["error"]]):
        Device(case["design"], harmless=case["harmless"])


@pytest.mark.parametrize("case", VECTORS["tasks"], ids=lambda case: case["about"])
def test_a_question_of_a_task_asks_for_one_part(case: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="design of q of a task must be without parts"):
        Task.load(case["task"])


def design(*names: str, **more: Any) -> dict[str, Any]:
    """Some of the good designs, dealt."""
    found: dict[str, Any] = {}
    for case in VECTORS["good"]:
        found |= dict(zip(case["about"].split(", "), case["design"]["parts"], strict=True))
    own = [found[name] for name in names]
    return {"mechanism": "dealt", "version": 1, "epsilon": 1, "shares": [1] * len(own), "parts": own} | more


def test_what_is_wrong_with_a_part_names_the_part() -> None:
    good = design("grr", "ss")
    for change, words in (
        ({"version": 2}, r"^part 2: version 2 of ss is unknown"),
        ({"epsilon": 0.3}, r"^part 2: this design promises epsilon 0\.3 but its subset kernel"),
    ):
        with pytest.raises((FormatError, PrivacyError), match=words):
            explain(good | {"parts": [good["parts"][0], good["parts"][1] | change]})


def test_parts_are_so_many_and_so_much_work_at_most() -> None:
    one = design("grr", "ss")["parts"][0]
    most = explain(design("grr", "ss", parts=[one] * 255, shares=[1] * 255))
    assert len(most.parts) == 255
    with pytest.raises(FormatError, match="parts of a design of parts must be a list of 2 to 255 designs"):
        explain(design("grr", "ss", parts=[one] * 256, shares=[1] * 256))
    with pytest.raises(FormatError, match="parts of a design of parts must be designs that have no parts themselves"):
        explain(design("grr", "ss", parts=[one, design("grr", "ss")]))
    own = design("pldp", "grr")["parts"][0]
    many = {"levels": [0.5 + i / 100 for i in range(16)], "level_report": "none", "level_epsilon": None}
    kernel = {"kind": "personal", "level": [], "data": own["kernel"]["data"][:1] * 16}
    levels = own | {"params": own["params"] | many, "kernel": kernel}
    assert len(explain(design("grr", "ss", parts=[levels] * 2)).parts) == 2
    with pytest.raises(FormatError, match="part 20: these designs need more than 2000000 steps to be proved"):
        explain(design("grr", "ss", parts=[levels] * 255, shares=[1] * 255))


def test_whatever_is_changed_nothing_but_a_refusal_comes_of_it() -> None:
    """Random designs dealt, whole or changed anywhere: explained and reported, or refused in words."""
    rng, taken = Random(11), 0
    while taken < 20:
        own = [inside.design(rng) for _ in range(rng.choice((2, 3)))]
        most = max(part["epsilon"] for part in own)
        good = {"mechanism": "dealt", "version": 1, "epsilon": most, "shares": [1] * len(own), "parts": own}
        for document in (good, *(outside.mutated(rng, outside.copied(good), own[0]) for _ in range(3))):
            with suppress(DeniableError):
                found = explain(document)
                assert str(found).startswith("One of ")
                assert found.epsilon <= document["epsilon"]
                device = Device(document, harmless=found.harmless)
                taken += 1
                for value in ([0] * len(own), [[]] * len(own), [0], None, "x"):
                    with suppress(ParameterError):
                        assert len(device.report(value)) == device.kernel.width


def test_values_of_all_parts_are_read_and_one_is_reported() -> None:
    dealt = design("labels", "kv-ss2")
    device = Device(dealt)
    assert device.answer(["a", [(0, -1)]]) == (0, [(0, 0)])
    assert device.known(["a", [[0, -1]]]) == (0, [(0, 0)])
    assert device.known(["a", [[7, 0]]]) is None
    for wrong in (["a"], "ab", ["a", [[0, 0]], 1], {"a": 1}, ["a", 0]):
        with pytest.raises(ParameterError):
            device.report(wrong)
    patient = Device(dealt, stand_in=["b", []])
    assert patient.answer(["a", 0]) == patient.stand_in == (1, [])
    with pytest.raises(ParameterError, match="level must be left out"):
        device.report(["a", []], level=1.0)
    with pytest.raises(ParameterError, match="harmless must be a list of 2 lists of answers"):
        Device(dealt, harmless=[["a"]])


def test_the_chance_that_an_answer_is_named_counts_the_deal() -> None:
    found = explain(design("urr", "grr", shares=[1, 3]))
    assert found.harmless == ((range(2, 4),), ())
    assert found.parts[0].chance == Fraction(1, 4)
    assert found.chance == found.chance_of([2, 0]) == Fraction(1, 16)
    assert found.chance_of([0, 1]) == 0
    assert found.disclosure == f"Question 1: {found.parts[0].disclosure}" in found.text
    with pytest.raises(ParameterError, match="value must be a list of 2 answers, one for each part"):
        found.chance_of(2)


# ---- groups of two


def grouped_report(kernel: Grouped, x: int, words: Words) -> bytes:
    """A report as groups made them before they were deals."""
    second = happens(kernel.coin, words)
    report = (kernel.second if second else kernel.first).randomise(x, words)
    return (bytes([second]) + report).ljust(1 + max(kernel.first.width, kernel.second.width), b"\0")


def test_a_group_is_a_deal_of_two_parts_with_the_same_bytes() -> None:
    rng, seen = Random(5), 0
    for coin in (1, 1 << 62, 3 << 62, WORD - 1):
        signed = signed_subset(1.0, 5, 2, 2)
        for first in (
            KeysOnly(subset_of_keys(1.0, 5, 2, 2)),
            KeysOnly(Unary(7, 1 << 63, 1 << 61)),
            Response(14, 3 << 62),
        ):
            kernel = Grouped(first, signed, coin)
            assert kernel.shares == (WORD - coin, coin)
            assert kernel_from(kernel_to(kernel)) == kernel
            assert kernel.ratio == max(first.ratio, signed.ratio)
            for _ in range(200):
                words = [rng.choice((rng.getrandbits(64), coin - 1, coin)), *(rng.getrandbits(64) for _ in range(40))]
                x = rng.randrange(kernel.k)
                report = kernel.randomise(x, ReplayWords(words))
                assert report == grouped_report(kernel, x, ReplayWords(words))
                seen += 1
    assert seen == 2400
