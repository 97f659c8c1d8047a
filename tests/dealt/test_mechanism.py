"""One part of several for each person: the channel, the bytes of devices and of many people, and what is promised."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.collect.reports import Reports, join_rows
from deniable.core.channel import Channel
from deniable.core.promise.judge import breach, proved
from deniable.errors import EnumerationError, FormatError, ParameterError
from deniable.mechanisms.dealt.base import Dealt, dealt
from deniable.mechanisms.frequency.grr import GRR
from deniable.randomness import Replay
from deniable.testing import StreamWords, conformance
from deniable_client.words import ReplayWords
from draws import channel as drawn

EXACT = ["rows", "privacy", "protection", "closed_forms", "merge", "bytes", "reports"]


def survey(epsilon: float = 1.0, shares: tuple[int, ...] = (1, 2, 3)) -> Dealt:
    """36 sets of answers: to randomised response, to subset selection, and a number of three."""
    parts = {
        "colour": dn.mechanism("grr", epsilon=epsilon, labels=["red", "green", "blue"]),
        "drink": dn.mechanism("ss", epsilon=epsilon, k=4, size=2),
        "age": dn.mechanism("duchi", epsilon=epsilon, interval=(0, 10), points=3),
    }
    return dealt(parts, shares)


def with_all_kinds() -> Dealt:
    """Parts that disclose, that have levels, and that take pairs."""
    return dealt(
        {
            "illness": dn.mechanism("uss", epsilon=1.0, k=5, sensitive=2),
            "income": dn.mechanism("pldp", base="grr", levels=[0.5, 1.0], shares=[0.5, 0.5], level_epsilon=1.0, k=3),
            "films": dn.mechanism("kv-ss2", epsilon=1.0, k=3, length=2),
        }
    )


# ---- privacy


@pytest.mark.parametrize("shares", [(1, 1, 1), (1, 2, 3), (5, 1, 1_000_000)])
def test_the_channel_is_that_of_a_device(shares: tuple[int, ...]) -> None:
    """Every way in which the words of the kernel can fall, for each of 36 sets of answers, in rationals."""
    m = survey(shares=shares)
    channel = m.channel()
    assert channel.k == m.k == m.bulk.inputs == 36
    for x, answers in enumerate(product(range(3), range(4), range(3))):
        law = drawn(lambda words, answers=answers: m.kernel.randomise(answers, words))
        assert law == drawn(lambda words, x=x: m.kernel.randomise(x, words))
        found = [Fraction(row[x], channel.total) for row in channel.weights]
        assert sorted(found) == sorted(law.values())
        assert len(law) == len(channel.outputs)
    totals = [sum(Fraction(row[0], channel.total) for row in rows) for rows in _by_part(channel)]
    assert totals == [Fraction(share, sum(shares)) for share in shares]


def _by_part(channel: Channel) -> list[list[tuple[int, ...]]]:
    named = list(zip(channel.outputs, channel.weights, strict=True))
    return [[row for name, row in named if name.startswith(f"part {i},")] for i in range(3)]


@pytest.mark.parametrize("budgets", [(1.0, 1.0, 1.0), (0.5, 2.0, 1.0), (3.0, 0.1, 3.0)])
def test_the_worst_part_counts_and_the_promise_is_sharp(budgets: tuple[float, ...]) -> None:
    parts = [m.at(epsilon) for m, epsilon in zip(survey().mechanisms, budgets, strict=True)]
    m = dealt(parts)
    assert m.epsilon == max(budgets)
    assert m.proof.ratio == m.channel().proof().ratio == max(part.proof.ratio or 0 for part in parts)
    found = dn.audit(m)
    assert found.holds
    assert found.agrees
    assert not dn.audit(m, epsilon=m.epsilon * 0.97).holds


def test_every_part_keeps_a_budget_of_its_own() -> None:
    m = dealt([m.at(epsilon) for m, epsilon in zip(survey().mechanisms, (0.5, 2.0, 1.0), strict=True)])
    assert m.promise.between(0, 35) == 2.0
    assert m.promise.parts == {"q1": 0.5, "q2": 2.0, "q3": 1.0}
    told = {pair.output: (pair.budget, pair.ratio) for pair in proved(m.promise, m.proof) if not pair.likely}
    assert told == {f"the {n}": (p.epsilon, p.proof.ratio) for n, p in zip(m.names, m.mechanisms, strict=True)}
    sharper = replace(m.promise, parts={**m.promise.parts, "q1": 0.485})
    found = breach(proved(sharper, m.proof))
    assert found is not None
    assert found.output == "the q1"


def test_where_a_part_discloses_only_reports_that_do_not_are_limited() -> None:
    promise = with_all_kinds().promise
    assert promise.between(0, 1) == math.inf
    assert promise.limit(0, 1) == 1.0


def test_the_witness_attains_the_ratio() -> None:
    m = dealt([dn.mechanism("grr", epsilon=2.0, k=3), *survey().mechanisms])
    channel, witness = m.channel(), m.proof.witness
    row = channel.weights[channel.outputs.index(witness.output)]
    assert Fraction(row[witness.likely], row[witness.unlikely]) == m.proof.ratio


def test_a_part_that_leaks_is_refused() -> None:
    m = survey()
    worse = Dealt(
        epsilon=1.0, mechanisms=(GRR(epsilon=1.0, domain=dn.Domain.of(3)), *m.mechanisms[1:]), shares=(1, 1, 1)
    )
    object.__setattr__(worse.mechanisms[0], "epsilon", 0.5)  # it samples more than it says from here on
    object.__setattr__(worse.mechanisms[0], "proof", m.mechanisms[0].proof)
    with pytest.raises(dn.PrivacyError, match=r"promises epsilon 0\.5 but its exact epsilon"):
        worse.privatize_items(np.zeros((50, 3), np.int64), dn.simulation(1))
    with pytest.raises(ParameterError, match=r"epsilon must be at least the largest of the parts, 1\.0"):
        Dealt(epsilon=0.5, mechanisms=m.mechanisms, shares=(1, 1, 1))


@pytest.mark.parametrize("m", [survey(), survey(0.1, (3, 1, 1)), survey(4.0)], ids=["1", "0.1", "4"])
def test_the_exact_checks_of_all_mechanisms_pass(m: Dealt) -> None:
    found = dict(conformance(m, checks=EXACT))
    assert found["rows"] == "11 outputs sum to 1 for each of 36 values"
    assert "and by enumeration" in found["privacy"]
    assert "set of answers" in found["protection"]
    rest = dict(conformance(m, checks=["sampler", "power", "unbiased"]))
    assert all(told.startswith("does not apply") for told in rest.values()), "told in words, and tried below"


def test_the_best_guess_is_that_of_the_channel() -> None:
    m = survey()
    assert m.guess().success == pytest.approx(float(m.channel().asr()), rel=1e-12)
    priors = {"colour": [0.5, 0.25, 0.25], "drink": [0.125, 0.5, 0.25, 0.125], "age": [0.25, 0.25, 0.5]}
    joint = [Fraction(a * b * c) for a, b, c in product(*priors.values())]
    found = m.guess(priors)
    assert found.success == pytest.approx(float(m.channel().asr(joint)), rel=1e-12)
    assert found.blind == float(max(joint))
    with pytest.raises(ParameterError, match="prior must be a mapping with a prior for each of colour, drink, age"):
        m.guess({"colour": [0.5, 0.25, 0.25]})
    together = [Fraction(1 + i * i % 7, 1) for i in range(m.k)]
    together = [p / sum(together) for p in together]
    assert m.guess([float(p) for p in together]).success == pytest.approx(float(m.channel().asr(together)), rel=1e-12)


def test_what_is_promised_where_parts_promise_different_things() -> None:
    told = with_all_kinds().protection
    assert told.kind == "ULDP or PLDP or LDP"
    assert told.text.startswith("Everybody answers one part only, drawn without looking at any answer")
    assert "illness: Protects the sensitive answers (0, 1)" in told.text
    assert "income: Protects everybody at the level they chose" in told.text
    assert set(told.document()["parts"]) == {"illness", "income", "films"}
    with pytest.raises(EnumerationError, match="leaves those to the others open"):
        dealt([dn.mechanism("urr", epsilon=1.0, k=3, sensitive=1), dn.mechanism("grr", epsilon=1.0, k=2)]).channel()
    assert dn.audit(with_all_kinds()).holds


# ---- devices and many people


def test_many_are_dealt_as_one_is() -> None:
    """The same words give the same parts, those at the ends of ranges and those that are drawn again among them."""
    m, rng = survey(shares=(1, 2, 4)), random.Random(1)
    edges = [(1 << 32) * i // 7 + d for i in range(8) for d in (-1, 0, 1) if 0 <= (1 << 32) * i // 7 + d < 1 << 32]
    words = [*edges, *(rng.getrandbits(32) for _ in range(2000))]
    kernel, replay = m.kernel, ReplayWords(words, 32)
    one_by_one = []
    while len(one_by_one) < 1500:
        one_by_one.append(kernel.deal(replay))  # type: ignore[union-attr]  # a deal
    again = sum(word * 7 % (1 << 32) < (1 << 32) % 7 for word in words[:1600])
    taken = [w for w in words if w * 7 % (1 << 32) >= (1 << 32) % 7][:1500]
    assert again > 0, "no word is drawn again"
    assert m.bulk.deal(1500, Replay(taken, 32)).tolist() == one_by_one


def test_a_report_of_many_is_that_of_a_device() -> None:
    """Byte by byte: the number of the part, the report that the part alone makes of the same stream, zeros."""
    m = survey()
    rows = np.stack([np.arange(600) % 3, np.arange(600) % 4, np.arange(600) % 3], axis=1)
    found = m.privatize_items(rows, dn.simulation(5))
    first, *own = dn.simulation(5).spawn(4)
    numbers = m.bulk.deal(600, first)
    alone = {}
    for i, part in enumerate(m.mechanisms):
        reports = part.privatize_items(rows[numbers == i, i], own[i])
        alone[i] = iter(join_rows(part.fields, reports.columns))
    for at, i in enumerate(numbers.tolist()):
        assert found.row(at) == m.kernel.frame(i, next(alone[i]).tobytes())  # type: ignore[union-attr]  # a deal
    assert {len(found.row(i)) for i in range(600)} == {m.kernel.width}


@pytest.mark.parametrize("at", [2, 3])
def test_every_byte_that_fills_up_a_report_is_looked_at(at: int) -> None:
    """A shorter report ends in zeros: one byte of them that is something else tells more than the report may."""
    m = dealt([dn.mechanism("grr", epsilon=1.0, k=3), dn.mechanism("oue", epsilon=1.0, k=20)])
    reports = m.privatize_items(np.zeros(4, np.int64), dn.simulation(1), coins=[0, 1, 0, 0])
    columns = {name: column.copy() for name, column in reports.columns.items()}
    columns["report"][2, at - 1] = 1
    assert m.bulk.possible(columns).tolist() == [True, True, False, True]
    with pytest.raises(FormatError, match="bytes after its end that are not zero"):
        m.bulk.count(columns)


def test_reports_of_devices_are_counted_like_others() -> None:
    m = survey()
    rows = [m.kernel.randomise([x % 3, x % 4, x % 3], StreamWords(dn.simulation(x))) for x in range(300)]
    device = Reports.from_rows(m.design, m.fields, rows, simulated=True)
    many = m.privatize_items(np.arange(300) % 36, dn.simulation(1))
    assert m.tally(device + many).n == 600
    assert m.tally(device) + m.tally(many) == m.tally(device + many)


@pytest.mark.stat
def test_many_people_follow_the_channel() -> None:
    """Exact binomial tails of all 11 outputs for 4 sets of answers; a false alarm has chance 1e-6 at most."""
    alpha, n, m = 1e-6, 40_000, survey()

    def least(made: Dealt) -> float:
        channel, tails = m.channel(), []
        for x in (0, 13, 22, 35):
            counts = _outputs(m, made.privatize_items(np.full(n, x), dn.simulation(x)))
            for count, row in zip(counts, channel.weights, strict=True):
                p = row[x] / channel.total
                tails.append(2 * min(binom.cdf(count, n, p), binom.sf(count - 1, n, p)))
        return float(min(tails)) * len(tails)

    assert least(m) > alpha
    assert least(m.at(1.1)) < alpha, "ten per cent more epsilon are not seen"
    assert least(survey(shares=(1, 2, 2))) < alpha, "other shares are not seen"


def _outputs(m: Dealt, reports: Reports) -> list[int]:
    """How often each output of the channel was reported, in its order."""
    rows, counts = np.unique(join_rows(reports.fields, reports.columns), axis=0, return_counts=True)
    seen = {row.tobytes(): int(count) for row, count in zip(rows, counts, strict=True)}
    sets = [bytes([1, sum(1 << i for i in held)]) for held in m.mechanisms[1].channel().supported or ()]
    order = [bytes([0, i]) for i in range(3)] + sets + [bytes([2, i]) for i in range(2)]
    assert set(seen) <= set(order)
    return [seen.get(row, 0) for row in order]


# ---- what people hand in


def test_answers_come_by_column_or_in_order() -> None:
    m = survey()
    frame = {"colour": ["red", "blue"] * 50, "drink": [0, 3] * 50, "age": [0.0, 9.0] * 50, "unused": [1, 2] * 50}
    want = m.privatize(frame, rng=dn.simulation(1))
    rows = list(zip(*list(frame.values())[:3], strict=True))
    assert m.privatize(rows, rng=dn.simulation(1)) == want
    renamed = {name.upper(): column for name, column in frame.items()}
    assert m.privatize(renamed, column=["COLOUR", "DRINK", "AGE"], rng=dn.simulation(1)) == want
    pl = pytest.importorskip("polars")
    assert m.privatize(pl.DataFrame(frame), rng=dn.simulation(1)) == want


def test_parts_may_be_dealt_by_the_collector() -> None:
    m = survey()
    coins = np.arange(90) % 3
    reports = m.privatize_items(np.zeros((90, 3), np.int64), dn.simulation(1), coins=coins)
    assert reports.columns["part"].tolist() == coins.tolist()
    for wrong in (coins[:5], coins + 1, -coins, coins * 0.5):
        with pytest.raises(ParameterError, match="coins must be 90 numbers of parts, from 0 to 2"):
            m.privatize_items(np.zeros((90, 3), np.int64), dn.simulation(1), coins=wrong)


def test_parts_for_levels_and_pairs_have_them_in_their_cells() -> None:
    m = with_all_kinds()
    people = {
        "illness": [0, 1, 4] * 40,
        "income": [(0, 0.5), (2, 1.0), (1, 1.0)] * 40,
        "films": [[(0, 1.0)], [], [(1, -1.0), (2, 0.5)]] * 40,
    }
    reports = m.privatize(people, rng=dn.simulation(2))
    assert {name: part.n for name, part in m.apart(m.tally(reports)).items()}.keys() == set(m.names)
    assert m.tally(reports).n == 120
    assert [len(part) for part in m.apart(reports).values()] == [part.n for part in m.tally(reports).parts]
    assert m.estimate(m.tally(reports))["films"].parts.keys() == {"frequency", "mean"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"colour": ["red"], "drink": [0]}, "the frame has no column 'age'"),
        ({"colour": ["red"], "drink": [0], "age": [1, 2]}, r"columns of \[1, 2\] people"),
        ({"colour": ["pink"], "drink": [0], "age": [1]}, "^colour: "),
        ({"colour": ["red"], "drink": [4], "age": [1]}, "^drink: "),
        ([("red", 0)], "rows with 3 answers each"),
        (np.zeros((4, 2)), "with 3 columns"),
        ([], "answers of at least one person"),
        (7, "answers of at least one person"),
        ("red", "answers of at least one person"),
    ],
)
def test_other_data_are_refused_whatever_is_dealt(values: Any, words: str) -> None:
    for seed in range(3):
        with pytest.raises(ParameterError, match=words):
            survey().privatize(values, rng=dn.simulation(seed))


def test_other_ways_of_handing_in_are_refused() -> None:
    m = survey()
    with pytest.raises(ParameterError, match="levels must be left out"):
        m.privatize([("red", 0, 1)], levels=[1.0])
    with pytest.raises(ParameterError, match="3 names of columns, in the order of the parts"):
        m.privatize({"colour": ["red"]}, column="colour")
    for people, words in (
        ({"illness": [0], "income": [1], "films": [[]]}, "income: answers must be pairs of a value and a level"),
        ({"illness": [0], "income": [(1, 1.0)], "films": [["x"]]}, "films: pairs must be a key and a value each"),
    ):
        with pytest.raises(ParameterError, match=words):
            with_all_kinds().privatize(people)


# ---- designs


def test_a_design_has_the_form_of_tasks() -> None:
    m = survey()
    assert m.design == {
        "mechanism": "dealt",
        "version": 1,
        "epsilon": 1.0,
        "shares": [1, 2, 3],
        "parts": [part.design for part in m.mechanisms],
    }
    again = dn.from_design(m.design)
    assert again == m
    assert again.design == m.design
    assert isinstance(again, Dealt)
    assert again.names == ("q1", "q2", "q3")
    assert repr(m) == "<dealt (epsilon = 1, k = 36)>"
    assert "dealt" in m._repr_html_()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no shares": ({"shares": None}, "shares of a design of parts must be a list of 3 whole numbers"),
    "a share of nothing": ({"shares": [1, 0, 1]}, "a share of a design of parts must be a whole number from 1"),
    "half a share": ({"shares": [1, 0.5, 1]}, "a share of a design of parts must be a whole number from 1"),
    "shares of others": ({"shares": [1, 1]}, "shares of a design of parts must be a list of 3 whole numbers"),
    "one part": ({"parts": [survey().mechanisms[0].design], "shares": [1]}, "a list of 2 to 255 designs"),
    "too many parts": ({"parts": [survey().mechanisms[0].design] * 256, "shares": [1] * 256}, "a list of 2 to 255"),
    "parts that are none": ({"parts": [1, 2, 3]}, "^part 1: the design must be a mapping"),
    "parts within parts": ({"parts": [survey().design] * 3}, "designs that have no parts themselves"),
    "a later version": ({"version": 2}, "version 2 of dealt is unknown"),
    "true": ({"version": True}, "version True of dealt is unknown"),
    "too large an epsilon": ({"epsilon": 900.0}, "epsilon"),
    "no epsilon": ({"epsilon": "1"}, "epsilon of a design of parts must be a number"),
    "endless epsilon": ({"epsilon": -1.0}, "epsilon"),
    "more": ({"kernel": {}}, "a design of parts"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_designs_are_refused(name: str) -> None:
    change, words = BAD[name]
    with pytest.raises(FormatError, match=words):
        dn.from_design({**survey().design, **change})


def test_a_design_that_promises_less_than_a_part_is_refused() -> None:
    with pytest.raises(dn.PrivacyError, match=r"a part of the design promises epsilon 1, more than the 0\.5"):
        dn.from_design({**survey().design, "epsilon": 0.5})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([], None, None), "parts must be mechanisms"),
        ((["grr"], None, None), "parts must be mechanisms, got 'grr'"),
        ((survey().mechanisms[:1], None, None), "from 2 to 255 mechanisms"),
        (((survey(), survey()), None, None), "not made of parts themselves"),
        ((survey().mechanisms, (1, 2), None), "shares must be 3 whole numbers"),
        ((survey().mechanisms, (1, 2, 1_000_001), None), "from 1 to 1,000,000"),
        ((survey().mechanisms, None, ("a", "a", "b")), "3 different names"),
        (
            ({"a": survey().mechanisms[0], "b": survey().mechanisms[1]}, None, ("c", "d")),
            "left out where parts are given",
        ),
    ],
)
def test_bad_parts_are_refused(given: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dealt(*given)


# ---- numbers


def test_properties_are_those_of_the_parts_with_their_share_of_the_reports() -> None:
    m = survey(shares=(1, 2, 5))
    told = m.properties(800)
    assert told["shares"] == {"colour": 0.125, "drink": 0.25, "age": 0.625}
    assert told["parts"]["drink"] == m.mechanisms[1].properties(200)
    assert (told["bytes"], told["bits"]) == (m.kernel.width, pytest.approx(np.log2(3 + 6 + 2)))
    assert m.effective(800)["parts"]["age"] == m.mechanisms[2].effective(500)
    assert m.effective()["epsilon"] == m.epsilon_exact


def test_at_another_epsilon_the_budgets_of_parts_keep_their_proportion() -> None:
    m = dealt([m.at(epsilon) for m, epsilon in zip(survey().mechanisms, (0.5, 2.0, 1.0), strict=True)])
    for epsilon in (4.0, 0.2):
        at = m.at(epsilon)
        assert at.epsilon == epsilon
        assert [part.epsilon for part in at.mechanisms] == pytest.approx([epsilon / 4, epsilon, epsilon / 2], rel=1e-12)
        assert (at.shares, at.names) == (m.shares, m.names)


def test_vetted_if_every_part_is() -> None:
    assert survey().vetted
    unsure = survey().mechanisms[0]
    object.__setattr__(unsure, "vetted", False)
    assert not dealt([unsure, *survey().mechanisms[1:]]).vetted
