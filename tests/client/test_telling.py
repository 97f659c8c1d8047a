"""Every number and every word about protection is that of the enumerated channel, rounded against us."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core.channel import Channel
from deniable.mechanisms.registry import MECHANISMS
from deniable_client import Device, ParameterError, PrivacyError, Task, explain
from deniable_client.explanation import Explanation
from deniable_client.kernels import Disclosing, kernel_to, promised_ratio
from deniable_client.kernels.basic import Response
from deniable_client.telling import (
    GRADES,
    HARDLY_ANY,
    Telling,
    at_least_once,
    certainty,
    level,
    number,
    percent,
    power,
    times,
)
from optimal.promises import beyond
from tasks import vectors

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js" / "src"
WORD = 1 << 64
WORDS = [
    (570, "very strong protection"),
    (670, "strong protection"),
    (750, "good protection"),
    (900, "limited protection"),
    (983, "little protection (weak)"),
    (1000, "hardly any protection (weak)"),
]
"""What is promised in docs/threat-model.md, by how sure of an answer somebody can become, in thousandths."""


@cache
def _mechanisms() -> list[Any]:
    """Small cases of every row that protect something."""
    found = [dn.mechanism(name, **case) for name, row in MECHANISMS.items() for case in row.small[:4]]
    return [m for m in found if not isinstance(m.kernel, Disclosing) or m.kernel.protected]


@cache
def _small() -> list[tuple[Explanation, Channel, bool]]:
    """Their explanations with their enumerated channels, and whether the columns of these are the answers."""
    found = [
        (explain(m.design), m.channel(), m.bulk.inputs == m.bulk.k == m.design["domain"].get("k"))
        for m in _mechanisms()
    ]
    assert len(found) > 100
    return found


def _sure(channel: Channel, reports: int, epsilon: float) -> Fraction:
    """How sure of a protected answer somebody can become, of it and another one: all sequences of reports."""
    open_ = channel.harmless | {x for x in range(channel.k) if beyond(channel, x, epsilon)}
    best = Fraction(1, 2)
    for rows in product(channel.weights, repeat=reports):
        weights = [_all(columns) for columns in zip(*rows, strict=True)]
        low = min(weights)
        for x, weight in enumerate(weights):
            if weight and x not in open_:
                best = max(best, Fraction(weight, weight + low))
    return best


def _all(columns: tuple[int, ...]) -> int:
    found = 1
    for weight in columns:
        found *= weight
    return found


def _named(channel: Channel, reports: int, epsilon: float) -> Fraction:
    """The largest chance that a report of at least one of several reports of an answer names it."""
    most = Fraction(0)
    for x in range(channel.k):
        open_ = beyond(channel, x, epsilon)
        hidden = sum(row[x] for i, row in enumerate(channel.weights) if i not in open_)
        most = max(most, 1 - Fraction(hidden, channel.total) ** reports)
    return most


def _tenths(text: str) -> Iterator[Fraction]:
    """The percentages of a text."""
    yield from (Fraction(each) / 100 for each in re.findall(r"(\d+\.\d) %", text))


def _check_words(told: Telling, sure: Fraction, named: Fraction) -> None:
    """What stands in the sentences is at least the exact number, and at most a tenth of a percent more."""
    lines = told.text.splitlines()
    assert told.phrase == next(words for most, words in WORDS if 1000 * sure <= most)
    assert told.phrase in lines[0].lower()
    if 1000 * sure > 999:
        assert "practically certain" in lines[1]
    else:
        (shown,) = _tenths(lines[1])
        assert sure <= shown < sure + Fraction(1, 1000)
    if named:
        *_, shown = _tenths(lines[2].replace("nearly all", "100.0 % of"))
        assert named <= shown < named + Fraction(1, 1000)
    assert ("Not protected" in told.text) == bool(named)


def test_sentences_are_those_of_the_enumerated_channel() -> None:
    """One report, for every small case: how sure somebody becomes is reached by a report, and rounded up."""
    for found, channel, answers in _small():
        ratio = channel.proof().ratio
        assert ratio is not None
        told = found.over(1)
        assert told.text == found.text == str(found)
        assert (told.ratio, told.sure) == (ratio, ratio / (1 + ratio))
        if answers:
            epsilon = found.design.epsilon
            assert _sure(channel, 1, epsilon) <= told.sure
            assert _named(channel, 1, epsilon) == told.named
            if not found.disclosed:
                assert _sure(channel, 1, epsilon) == told.sure
        _check_words(told, ratio / (1 + ratio), told.named)


@pytest.mark.parametrize("reports", [2, 3])
def test_so_are_those_of_several_reports(reports: int) -> None:
    """All sequences of reports of small channels: r^T and 1 - (1 - c)^T, to 150 binary digits, and never below."""
    tried = named = 0
    grain = Fraction(1, 1 << 150)
    for found, channel, answers in _small():
        if answers and len(channel.weights) ** reports * channel.k < 2000:
            told, epsilon = found.over(reports), found.design.epsilon
            sure, chance = _sure(channel, reports, epsilon), _named(channel, reports, epsilon)
            assert chance <= told.named <= chance + grain
            assert sure <= told.sure
            if not found.disclosed:
                assert told.sure <= sure + grain
                _check_words(told, sure, chance)
                assert f"your {reports} reports together" in told.text
            tried, named = tried + 1, named + (chance > 0)
    assert tried > 20
    assert named > 3


def test_eight_windows_tell_more_than_one() -> None:
    m = dn.mechanism("uss", epsilon=1.0, labels=["a", "b", "c", "d"], sensitive="c,d")
    found = explain(m.design)
    assert "names such an answer in 46.3 % of the cases" in found.text
    told = found.over(8)
    assert "If you give it in all 8 reports, at least one of them names it in 99.3 % of the cases." in told.text
    assert told.text.startswith("Hardly any protection (weak): 'c', 'd'.")
    assert "(epsilon 8 in all)" in told.text
    assert 1 - (1 - found.chance) ** 8 <= told.named < 1
    assert found.ratio**8 <= told.ratio < found.ratio**8 + Fraction(1, 1 << 150)


@pytest.mark.parametrize("reports", [0, -1, 10_001, 1.0, True, "2", None])
def test_reports_are_counted(reports: Any) -> None:
    found = explain(dn.mechanism("grr", epsilon=1.0, k=2).design)
    with pytest.raises(ParameterError, match="reports must be a whole number from 1 to 10000"):
        found.over(reports)


def test_many_reports_are_told_in_little_time_and_never_below_the_truth() -> None:
    for epsilon in (40.0, 1e-12, 1.0):
        found = explain(dn.mechanism("grr", epsilon=epsilon, k=2).design)
        told = found.over(10_000)
        assert told.sure < 1
        assert told.ratio > 1 + 10_000 * (found.ratio - 1)  # Bernoulli
        (shown,) = re.findall(r"at most ([\d.^]+) times", told.text)
        tens = shown.split("^")
        assert (10 ** int(tens[1]) if len(tens) == 2 else Fraction(shown)) >= told.ratio


def test_what_is_said_is_what_the_vectors_say_word_for_word() -> None:
    """Of designs that everybody takes part in, of one report and of several, and of tasks."""
    told, hostile, dealt, tasks = map(vectors, ("sentences", "hostile", "dealt", "tasks"))
    for row, case in zip(told["designs"], hostile["good"] + dealt["good"] + told["own"], strict=True):
        found = explain(case["design"])
        assert (row["about"], row["epsilon"], row["unread"]) == (case["about"], found.epsilon, found.unread)
        for own in row["over"]:
            over = found.over(own["reports"])
            assert (over.text.split("\n"), over.phrase) == (own["lines"], own["phrase"]), case["about"]
            assert own["sure"] in (str(over.sure), float(over.sure))
            assert own["named"] == float(over.named)
            assert own["levels"] == [words for _, words in found.levels(own["reports"])]
    for row, case in zip(told["tasks"], tasks["good"], strict=True):
        assert (row["about"], row["terms"]) == (case["about"], list(Task.load(case["task"]).terms()))


# ---- words


def test_words_go_by_exact_shares() -> None:
    """At a threshold the better word holds; one part in 2^64 beyond, the other one does."""
    assert [(1000 * most, words) for most, words in GRADES] == WORDS[:-1]
    assert WORDS[-1][1] == HARDLY_ANY
    for (most, words), (_, worse) in pairwise(WORDS):
        keep = WORD * most // 1000
        kept = {0: words, 1: worse}
        for more, right in kept.items():
            kernel = kernel_to(Response(2, keep + more))
            design = {"mechanism": "grr", "version": 1, "epsilon": 9, "domain": {"k": 2}, "params": {}}
            assert explain({**design, "kernel": kernel}).over(1).phrase == right


def test_weak_is_said_of_epsilon_above_2_19() -> None:
    words = {
        e: explain(dn.mechanism("ss", epsilon=e, k=8).design).text for e in (0.28, 0.7, 1.09, 2.19, 2.2, 4.05, 8.0)
    }
    assert [e for e, text in words.items() if "weak" in text] == [2.2, 4.05, 8.0]
    assert "practically certain" in words[8.0]


def test_levels_are_named_by_their_own_ratio() -> None:
    """Level 7.5 of 7.5 and 8 was once called the strongest protection."""
    found = explain(dn.mechanism("pldp", k=3, levels="7.5,8", level_epsilon=0.5).design)
    assert found.levels() == ((7.5, "hardly any protection (weak)"), (8.0, "hardly any protection (weak)"))
    mild = explain(dn.mechanism("upldp", k=5, sensitive=3, levels="0.25,1,2,4", level_epsilon=0.5).design)
    own = [promised_ratio(data) for data in mild.design.kernel.data]
    right = [next(words for most, words in WORDS if 1000 * r / (1 + r) <= most) for r in own]
    assert [words for _, words in mild.levels()] == right
    assert len(set(right)) == 4
    assert next(words for _, words in mild.levels(8)) == "limited protection"
    assert all(words in mild.text for words in right)
    assert explain(dn.mechanism("grr", epsilon=1.0, k=2).design).levels() == ()


def test_large_ratios_are_rounded_up() -> None:
    for exact in (10**15, 10**15 + 1, 2350000000000000001, 10**300):
        shown = times(Fraction(exact))
        assert exact <= 10 ** int(shown.removeprefix("10^")) <= 100 * exact
    assert times(Fraction(10**15) - Fraction(1, 2)) == "1000000000000000"
    assert percent(Fraction(9991, 10000)) == "nearly all cases"


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        ("1", "1.00"), ("3/2", "1.50"), ("1.001", "1.01"), ("9.99", "9.99"), ("9.991", "10.00"), ("10", "10.0"),
        ("10.01", "10.1"), ("99.9", "99.9"), ("99.91", "100.0"), ("100", "100"), ("100.1", "101"),
        ("999999999999999", "999999999999999"), ("1e15", "10^16"), ("1e20", "10^21"),
    ],
)  # fmt: skip
def test_ratios_have_three_digits_up_to_a_thousand_and_are_rounded_up(ratio: str, shown: str) -> None:
    assert times(Fraction(ratio)) == shown


@pytest.mark.parametrize(
    ("epsilon", "reports", "shown"),
    [
        (1.0, 1, "1"), (0.5, 3, "1.5"), (0.1, 1, "0.1001"), (0.1, 12, "1.201"), (2.5, 2, "5"), (12345.0, 1, "12350"),
        (1.234, 1, "1.234"), (1.2345, 1, "1.235"), (0.00012345, 1, "0.0001235"), (3.0, 10_000, "30000"),
        (0.9999, 1, "1"), (9.9991, 1, "10"), (0.25, 1, "0.25"), (40.0, 365, "14600"),
    ],
)  # fmt: skip
def test_levels_have_four_digits_and_are_rounded_up(epsilon: float, reports: int, shown: str) -> None:
    assert level(epsilon, reports) == shown


@pytest.mark.parametrize(
    ("share", "shown"),
    [("0", "0.0"), ("1e-9", "0.1"), ("1/1000", "0.1"), ("1001/1000000", "0.2"), ("1/3", "33.4"), ("999/1000", "99.9")],
)
def test_shares_are_rounded_up_to_a_tenth_of_a_percent(share: str, shown: str) -> None:
    assert percent(Fraction(share)) == f"{shown} % of the cases"
    assert certainty(Fraction(share)) == f"at most {shown} % sure of one of them"


@pytest.mark.parametrize("reports", [1, 2, 3, 7, 12, 100])
def test_powers_are_rounded_against_us_in_the_last_of_192_digits(reports: int) -> None:
    small = Fraction(1, 1 << 176)
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(10**6 + 1, 10**6)):
        assert ratio**reports <= power(ratio, reports) <= ratio**reports * (1 + small)
        assert reports > 1 or power(ratio, reports) == ratio
    for chance in (Fraction(0), Fraction(1), Fraction(1, 3), Fraction(1, 10**6)):
        exact = 1 - (1 - chance) ** reports
        assert exact <= at_least_once(chance, reports) <= exact + small


# ---- what is not protected


def test_a_design_that_protects_nothing_is_refused() -> None:
    """Its integers keep any epsilon, as every report names its answer: no epsilon says anything about it."""
    m = dn.mechanism("urr", epsilon=1e-12, k=3, sensitive=0)
    for refused in (lambda: explain(m.design), lambda: Device(m.design, harmless=range(3))):
        with pytest.raises(PrivacyError, match="this design protects no answer: its reports name them"):
            refused()


def test_ends_of_numbers_that_differ_look_different() -> None:
    """Of numbers near 10^15 that lie apart by an eighth, half of them protected."""
    plain = dn.mechanism("urr", epsilon=1.0, k=8, sensitive=4).design
    domain = {"interval": [1e15, 1e15 + 1], "points": 8, "layout": "midpoints", "clip": True}
    lines = str(explain({**plain, "domain": domain})).splitlines()
    kept, open_ = lines[0].split(". With")[0], lines[2].split(". The")[0]
    assert kept == "Good protection: numbers from 1000000000000000 to 1000000000000000.5"
    assert open_ == "Not protected: numbers from 1000000000000000.5 to 1000000000000001"
    assert [number(x) for x in (-0.0, 0.1, 1e16, 1e-5, 123456.75)] == ["0", "0.1", "1e+16", "1e-05", "123456.75"]


# ---- both clients


def test_the_javascript_client_says_the_same() -> None:
    """Texts and words of levels of every small case, for one report and for many."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node: install version 18 or newer (nodejs.org) to test the JavaScript client")
    counts = (1, 2, 8, 365, 10_000)
    right = [
        [found.over(reports).text, [list(pair) for pair in found.levels(reports)], found.unread]
        for found, _, _ in _small()
        for reports in counts
    ]
    jobs = [[m.design, reports] for m in _mechanisms() for reports in counts]
    code = f"""
        import {{ explain }} from {json.dumps((CLIENT / "index.js").as_uri())};
        import fs from "fs";
        const told = (found, reports) => [found.over(reports).text, found.levels(reports), found.unread];
        const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify(jobs.map(([design, reports]) => told(explain(design), reports))));
    """
    command = [node, "--input-type=module", "-e", code]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == right
