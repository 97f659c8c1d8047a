"""What a mechanism is asked beside its law: refusals, sizes of reports, lines, steps of programs and of protocols."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.limits import REPORTS
from deniable.core.codes import Span
from deniable.core.grid import Grid
from deniable.mechanisms.bulk import ENTRIES_MAX, OUTPUTS_MAX, check_outputs, no_ones_after, refuse_values
from deniable.mechanisms.common import channels_of
from deniable.mechanisms.entry import grid
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.framing import log2_sum
from deniable.mechanisms.outputs import (
    COUNTED_MAX,
    MATRIX_MAX,
    TableBulk,
    check_matrix,
    favoured_held,
    favoured_matrix,
    favoured_weights,
    odds_to,
)
from deniable.mechanisms.possible import Cell, Entries, check_reports_of, loosened, nothing
from deniable.mechanisms.protocol import permutation
from deniable.mechanisms.registry import _OPTIONS, MECHANISMS, Option, check_options, entry_of, register, resolved
from deniable.mechanisms.spaces import space_of
from deniable.mechanisms.tracing import UntraceableError, chances_of
from deniable_client.hashing import rounds
from deniable_client.kernels import Table


def told(kind: type[Exception], words: str, fine: bool) -> Any:
    """Nothing, or the refusal with these words."""
    return nullcontext() if fine else pytest.raises(kind, match=words)


# ---- what one hands in


def test_levels_and_coins_are_refused_where_there_are_none() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    with pytest.raises(dn.ParameterError, match=r"grr has one privacy level for all; leave out levels\."):
        m.privatize([0, 1], levels=[1.0, 1.0])
    with pytest.raises(dn.ParameterError, match="coins must be left out: a response kernel has no public seed"):
        m.privatize([0, 1], coins=[0, 1])
    for name in ("she", "lh"):
        options = {"g": 2} if name == "lh" else {}
        with pytest.raises(dn.ParameterError, match="are not drawn without reports: they support items jointly"):
            dn.mechanism(name, epsilon=1.0, k=3, **options).simulate_tally([1, 2, 3], dn.simulation(1))
    with pytest.raises(dn.ParameterError, match="kernel has no reports without a value"):
        dn.mechanism("ssmix", epsilon=1.0, k=4, size=1).bulk.blind(2, dn.simulation(1))


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3, 4], [1, 2, -1], [1.0, 2.0, 3.0], [[1, 2, 3]]])
def test_people_are_counted_by_item(counts: Any) -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    assert m.simulate_tally([0, 2, 3], dn.simulation(1)).n == 5
    with pytest.raises(dn.ParameterError, match="counts must be 3 whole numbers >= 0, one per item"):
        m.simulate_tally(counts, dn.simulation(1))


# ---- how large


@pytest.mark.parametrize(
    ("name", "options", "bits", "size", "work"),
    [
        ("grr", {"k": 300}, math.log2(300), 2, 1.0),
        ("ss", {"k": 20, "size": 3}, math.log2(math.comb(20, 3)), 3, 3.0),
        ("oue", {"k": 17}, 17.0, 3, 3.0),
        ("lh", {"k": 20, "g": 300}, 64 + math.log2(300), 10, 80.0),
        ("plh", {"k": 20, "g": 6}, 64 + math.log2(6), 9, None),
        ("iss", {"k": 300, "size": 2}, 64 + math.log2(300), 10, None),
        ("wheel", {"k": 20, "arc": 0.25}, 96.0, 12, 80.0),
        ("hr", {"k": 20}, 5.0, 1, 1.0),
        ("she", {"k": 20, "grid": 2, "reach": 9}, 20 * math.log2(19), 80, None),
    ],
)
def test_a_report_has_so_many_bits_and_bytes(
    name: str, options: dict[str, Any], bits: float, size: int, work: float | None
) -> None:
    m = dn.mechanism(name, epsilon=1.0, **options)
    found = m.properties()
    assert found["bits"] == pytest.approx(bits, rel=1e-12)
    assert found["bytes"] == m.bulk.row_bytes == size
    assert m.bulk.block == max(64, min(1 << 16, (1 << 20) // size))
    assert work is None or m.bulk.work == work


def test_work_on_permuted_reports_is_that_of_the_places_looked_up() -> None:
    """Ten operations for each round of each place: the largest block, or the set."""
    for k in (20, 1000):
        assert dn.mechanism("plh", epsilon=1.0, k=k, g=6).bulk.work == 10 * rounds(k) * math.ceil(k / 6)
        assert dn.mechanism("iss", epsilon=1.0, k=k, size=7).bulk.work == 10 * rounds(k) * 7


def test_nothing_is_told_of_reports_that_cannot_be_drawn() -> None:
    assert {"bits", "bytes"}.isdisjoint(dn.mechanism("grr", epsilon=100.0, k=3).properties())


@pytest.mark.parametrize(
    ("outputs", "k", "fine"),
    [
        (OUTPUTS_MAX, 1, True),
        (OUTPUTS_MAX + 1, 1, False),
        (1 << 14, 1 << 5, True),
        (1 << 14, 33, False),
        (2, ENTRIES_MAX // 2, True),
        (2, ENTRIES_MAX // 2 + 1, False),
    ],
)
def test_a_channel_has_so_many_outputs_and_entries(outputs: int, k: int, fine: bool) -> None:
    with told(dn.ParameterError, r"outputs, too many to enumerate\.", fine):
        check_outputs(math.log2(outputs), "it", k)


@pytest.mark.parametrize(("k", "outputs", "fine"), [(1 << 12, 1 << 12, True), (1 << 12, (1 << 12) + 1, False)])
def test_a_matrix_has_so_many_entries(k: int, outputs: int, fine: bool) -> None:
    assert MATRIX_MAX == 1 << 24
    with told(dn.ParameterError, f"has {k} x {outputs} entries, too many to write out", fine):
        check_matrix(k, outputs, "it")


def test_numbers_are_below_their_limit_and_the_largest_is_told() -> None:
    refuse_values(np.array([0, 4]), 5, "value")
    refuse_values(np.zeros(0, np.int64), 0, "value")
    with pytest.raises(dn.FormatError, match=r"report field 'value' has the value 5, the largest possible is 4\."):
        refuse_values(np.array([0, 5]), 5, "value")


@pytest.mark.parametrize("k", range(1, 17))
def test_nothing_stands_after_the_last_item(k: int) -> None:
    rows = np.zeros((16, 2), np.uint8)
    for place in range(16):
        rows[place, place // 8] = 1 << place % 8
    rows = rows[:, : -(-k // 8)] if k > 8 else rows[:8, :1]
    assert no_ones_after(rows, k).tolist() == [place < k or place < k - k % 8 for place in range(len(rows))]


def test_the_number_of_reports_of_several_kinds_is_their_sum() -> None:
    for sizes in ((1,), (1, 1), (3, 5, 8), (2, 1000)):
        assert log2_sum([math.log2(size) for size in sizes]) == pytest.approx(math.log2(sum(sizes)), abs=1e-12)
    assert log2_sum([5000.0, 5000.0]) == 5001.0, "no number is written down that is too large"


def test_small_cases_are_every_size_at_three_budgets() -> None:
    assert grid(2, 3, p=0.8) == tuple({"k": k, "epsilon": e, "p": 0.8} for k in (2, 3) for e in (0.1, 1.0, 4.0))


# ---- what is counted


def test_an_empty_tally_has_at_most_so_many_cells() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=9)
    assert m.empty(most=10).n == 0
    assert not m.empty().simulated
    assert m.empty(simulated=True).simulated
    with pytest.raises(dn.FormatError):
        m.empty(most=9)


def test_cells_hold_what_so_many_reports_can_give() -> None:
    cell = Cell(3, (-1, 2), (0, 4))
    for entries, fine in (
        ([-2, 4, 0], True),
        ([-2, -2, 4], True),
        ([4, 4, 0], True),
        ([-3, 4, 4], False),
        ([5, 0, 0], False),
        ([-2, 1, 0], False),
        ([4, 4, 1], False),
    ):
        with told(dn.FormatError, r"no 2 reports give these counts: .* possible is from ", fine):
            cell.check("x", np.array(entries), 2)
    with pytest.raises(dn.FormatError, match=r"'x' has the entry 1, possible is 0\."):
        nothing(2).check("x", np.array([0, 1]), 5)
    nothing(2).check("x", np.array([0, 0]), 5)


def test_where_only_some_reports_add_to_a_cell_it_may_stay_as_it_was() -> None:
    assert loosened(Cell(3, (1, 2), (3, 5))) == Cell(3, (0, 2), (0, 5))
    assert loosened(Cell(3, (-1, 2), (-3, 5))) == Cell(3, (-1, 2), (-3, 5))
    assert loosened(Cell(3, (1, 2))) == Cell(3, (0, 2))


def test_a_tally_has_from_no_to_the_most_reports() -> None:
    for n, fine in (([0], True), ([REPORTS], True), ([REPORTS - 1, 1], True), ([REPORTS, 1], False), ([-1], False)):
        with told(dn.FormatError, f"a tally has from 0 to {REPORTS:,} reports, got n = ", fine):
            check_reports_of(np.array(n))


def test_entries_are_named_by_answers_or_numbers() -> None:
    every, some, numbered = Entries("label"), Entries("sensitive label", [2, 0]), Entries("report", answers=False)
    labels = ("a", "b", "c", "d")
    assert tuple(every.names(labels, 4)) == labels
    assert some.names(labels, 2) == ("c", "a")
    assert numbered.names(labels, 3) == ("0", "1", "2")
    assert list(every.among("own", [1, 3]).items or ()) == [1, 3]
    assert list(some.among("own", [1, 3, 2]).items or ()) == [2, 1]
    assert numbered.among("own", [1]) is numbered


def test_what_is_counted_in_parts_is_what_is_counted_at_once() -> None:
    """Many reports are counted by several threads: every part of them, the last one too."""
    m = dn.mechanism("grr", epsilon=1.0, k=5)
    reports = m.privatize(np.arange(40_000) % 5, rng=dn.simulation(2))
    expected = np.bincount(np.asarray(reports.columns["value"], np.int64), minlength=5)
    assert m.tally(reports).cells["support"].tolist() == [expected.tolist()]


def test_a_tally_of_outputs_that_are_too_many_is_not_begun() -> None:
    class Many(TableBulk):
        @property
        def size(self) -> int:
            return COUNTED_MAX + 1

    kernel = Table.calibrate(1.0, [[0.6, 0.4], [0.4, 0.6]])
    assert TableBulk(kernel).count({"value": np.array([0], np.uint8)})["n"].tolist() == [1]
    assert COUNTED_MAX == 1 << 26
    with pytest.raises(
        dn.ParameterError, match=f"outputs must be at most {COUNTED_MAX} to tally, got {COUNTED_MAX + 1}"
    ):
        Many(kernel).count({"value": np.array([0], np.uint32)})


def test_favoured_outputs_share_their_mass() -> None:
    """Two values, five outputs, two favoured each, one coin or two: rows sum to the whole, odds are as asked for."""
    held = favoured_held(np.array([[0, 1], [3, 4]]), 5)
    assert held.tolist() == [[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]
    keep = 3 << 62  # three quarters
    rows, total = favoured_weights(held, 1, keep, 2)
    chances = [[Fraction(weight, total) for weight in row] for row in rows]
    assert chances[0] == [Fraction(3, 8)] * 2 + [Fraction(1, 12)] * 3
    assert all(sum(row) == 1 for row in chances)
    assert odds_to(Fraction(9, 2)) == (float(Fraction(2, 9)), float(Fraction(7, 9)))
    matrix = favoured_matrix(held, 1, *odds_to(Fraction(9, 2)), 2)
    assert matrix == pytest.approx(np.array([[float(c) for c in row] for row in chances]), rel=1e-14)
    both = held + favoured_held(np.array([[1, 2], [2, 3]]), 5)
    rows, total = favoured_weights(both, 2, keep, 2)
    assert [Fraction(w, total) for w in rows[0]] == [
        Fraction(11, 48),
        Fraction(3, 8),
        Fraction(11, 48),
        Fraction(1, 12),
        Fraction(1, 12),
    ]
    assert favoured_matrix(both, 2, *odds_to(Fraction(9, 2)), 2) == pytest.approx(
        np.array([[w / total for w in row] for row in rows]), rel=1e-14
    )


# ---- tallies and fits


def test_a_tally_of_another_kind_is_not_estimated() -> None:
    m = dn.mechanism("ssmix", epsilon=1.0, k=4, size=1, share=0.5)
    tally = m.tally(m.privatize([0, 1, 2, 3] * 5, rng=dn.simulation(1)))
    assert check_tally(m, tally) is tally
    with pytest.raises(dn.FormatError, match=r"has the strata \('smaller', 'larger'\), got \('larger', 'smaller'\)"):
        check_tally(m, replace(tally, strata=("larger", "smaller")))


def test_nothing_is_fitted_to_no_reports_and_what_is_simulated_stays_so() -> None:
    m = dn.mechanism("oue", epsilon=1.0, k=4)
    for data in ([], m.empty(), [m.privatize([0])][:0]):
        with pytest.raises(dn.DeniableError):
            m.fit(data)
    with pytest.raises(dn.ParameterError, match="data must be reports, batches of reports or a tally"):
        m.fit(7)
    assert m.fit(m.privatize([0, 1, 2, 3] * 5, rng=dn.simulation(1)), stderr=None).simulated
    assert not m.fit(m.privatize([0, 1, 2, 3] * 5), stderr=None).simulated
    both = [m.privatize([0, 1] * 5), m.privatize([2, 3] * 5, rng=dn.simulation(1))]
    assert m.fit(both, stderr=None).simulated
    assert m.fit(both, stderr=None).n == 20


def test_channels_are_those_of_all_levels() -> None:
    m = dn.mechanism("pldp", levels="0.5,1,2", base="grr", k=3, level_epsilon=0.5)
    found = channels_of(m)
    assert [round(channel.proof().epsilon, 6) for channel in found] == [0.5, 1.0, 2.0]
    assert m.channel().proof().epsilon == pytest.approx(2.0), "the worst level stands for all"
    assert len(channels_of(dn.mechanism("grr", epsilon=1.0, k=3))) == 1


# ---- support


@pytest.mark.parametrize("name", ["oue", "the"])
def test_sets_of_independent_bits_have_binomial_sizes(name: str) -> None:
    m: Any = dn.mechanism(name, epsilon=1.0, k=5)
    q = m.support.q
    expected = [math.comb(5, j) * q**j * (1 - q) ** (5 - j) for j in range(6)]
    assert [m.sizes[j] for j in range(6)] == pytest.approx(expected, rel=1e-12)
    assert m.covered(m.support) == pytest.approx(1 - expected[0], rel=1e-12)


def test_blocks_of_two_sizes_are_as_many_as_there_are() -> None:
    m: Any = dn.mechanism("plh", epsilon=1.0, k=11, g=4)
    assert m.sizes == {2: pytest.approx(1 / 4), 3: pytest.approx(3 / 4)}
    assert dn.mechanism("plh", epsilon=1.0, k=12, g=4).sizes == {3: 1.0}  # type: ignore[attr-defined]


def test_without_a_report_the_likeliest_answer_is_guessed() -> None:
    prior = [0.5, 0.3, 0.2]
    for name, options in (("grr", {}), ("ssmix", {"size": 1}), ("she", {}), ("hr", {})):
        m = dn.mechanism(name, epsilon=1.0, k=3, **options)
        assert m.guess(prior).blind == 0.5
        assert m.guess().blind == pytest.approx(1 / 3)


# ---- lines, names, options


def test_a_line_has_six_labels_and_a_table_its_bytes() -> None:
    labels = ["a", "b", "c", "d", "e", "f", "g"]
    assert repr(dn.mechanism("grr", epsilon=1.0, labels=labels[:6])).endswith(": a, b, c, d, e, f>")
    assert repr(dn.mechanism("grr", epsilon=1.0, labels=labels)).endswith(": a, b, c, d, e, f, ...>")
    for k, size in ((3, "1 byte<"), (300, "2 bytes<")):
        assert size in dn.mechanism("grr", epsilon=1.0, k=k)._repr_html_()
    assert "none can be drawn: " in dn.mechanism("grr", epsilon=100.0, k=3)._repr_html_()
    steps = dn.protocol("ks-adap", epsilon=2.0, k=1000, top=20)._repr_html_()
    assert "step 1" in steps
    assert "40 % of the people" in steps


def test_names_are_known_in_any_spelling() -> None:
    for spelt in (" GRR ", "k-rr", "Generalized  Randomized_Response", "RR", "grr"):
        assert resolved(spelt) == "grr"
    assert resolved("no such thing") == "no such thing"


def test_eight_rows_that_have_an_option_are_named_and_others_told() -> None:
    with pytest.raises(dn.ParameterError, match=r"grr has no option 'sensitive'; it has none of its own") as several:
        check_options("grr", {"sensitive": 2})
    assert several.value.hint is not None
    assert several.value.hint.endswith(" and others.")
    assert several.value.hint.count(",") == 7
    with pytest.raises(dn.ParameterError) as few:
        check_options("grr", {"arc": 0.5})
    assert few.value.hint == "Those that have it: wheel, uwheel, utility."


def test_what_a_row_brought_goes_with_it() -> None:
    own = {"colour_of_noise": Option(str, "Which noise.")}
    entry = replace(MECHANISMS["grr"], options=("colour_of_noise",))
    with register("coloured", entry, own):
        assert "colour_of_noise" in _OPTIONS
        assert entry_of("coloured") is entry
    assert "colour_of_noise" not in _OPTIONS
    assert "coloured" not in MECHANISMS
    with register("coloured", entry, own):
        pass


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_only_the_version_at_hand_is_read(version: Any) -> None:
    design = dict(dn.mechanism("grr", epsilon=1.0, k=3).design)
    assert dn.from_design(design).design == design
    with pytest.raises(dn.FormatError, match="version"):
        dn.from_design({**design, "version": version})


def test_a_row_that_was_added_has_its_version_too() -> None:
    with register("dated", replace(MECHANISMS["grr"], summary="as of today")):
        design = dict(dn.mechanism("dated", epsilon=1.0, k=3).design)
        assert dn.from_design(design).name == "dated"
        for version in (0, 2):
            with pytest.raises(dn.FormatError, match=f"version {version} of dated is unknown; this program has 1"):
                dn.from_design({**design, "version": version})


def test_the_paper_s_form_stands_alone() -> None:
    assert dn.mechanism("brr", epsilon=1.0, points=9, form="paper").k == 9
    with pytest.raises(dn.ParameterError, match="rule must be left out with form=paper, got 'min'"):
        dn.mechanism("brr", epsilon=1.0, points=9, form="paper", rule="min")
    with pytest.raises(dn.ParameterError, match="form must be paper"):
        dn.mechanism("brr", epsilon=1.0, points=9, form="other")


def test_a_domain_with_a_distance_is_described_by_its_own_options() -> None:
    assert space_of({}) is None
    options: dict[str, Any] = {"points": 5, "more": 1}
    found = space_of(options)
    assert found is not None
    assert (found.k, options) == (5, {"more": 1})  # type: ignore[union-attr]
    assert space_of({"points": 2}).k == 2  # type: ignore[union-attr]
    with pytest.raises(dn.ParameterError, match="points must be"):
        space_of({"points": 1})
    for name, value in (("clip", True), ("layout", "midpoints")):
        with pytest.raises(dn.ParameterError, match=f"{name} must be left out without an interval"):
            space_of({"points": 5, name: value})
    whole = space_of({"interval": "0,10", "clip": True})
    assert isinstance(whole, Span)
    assert (whole.low, whole.high, whole.clip) == (0.0, 10.0, True)
    made = space_of({"interval": (0, 10), "points": 5, "layout": "endpoints", "clip": True})
    assert isinstance(made, Grid)
    assert (made.k, made.clip) == (5, True)
    with pytest.raises(dn.ParameterError, match="distances must be given alone"):
        space_of({"distances": [[0, 1], [1, 0]], "points": 2})
    with pytest.raises(dn.ParameterError, match="distances must be a Space or a matrix of losses"):
        space_of({"distances": "file.csv"})


# ---- programs


def test_draws_have_the_ways_that_numpy_has() -> None:
    half, third, sixth = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
    cases: list[tuple[Any, dict[Any, Fraction]]] = [
        (lambda x, rng: int(rng.integers(3)), dict.fromkeys(range(3), third)),
        (lambda x, rng: int(rng.integers(2, endpoint=True)), dict.fromkeys(range(3), third)),
        (lambda x, rng: int(rng.integers(1, 3, endpoint=True)), dict.fromkeys((1, 2, 3), third)),
        (
            lambda x, rng: tuple(rng.integers(2, size=2).tolist()),
            dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], half**2),
        ),
        (
            lambda x, rng: tuple(rng.choice(3, 2, replace=False).tolist()),
            dict.fromkeys([(a, b) for a in range(3) for b in range(3) if a != b], sixth),
        ),
        (
            lambda x, rng: tuple(rng.choice(["a", "b"], 2).tolist()),
            dict.fromkeys([(a, b) for a in "ab" for b in "ab"], half**2),
        ),
        (lambda x, rng: rng.choice([5, 6], p=[0.25, 0.75]), {5: Fraction(1, 4), 6: Fraction(3, 4)}),
        (lambda x, rng: rng.choice([5, 6], p=[0.0, 1.0]), {6: Fraction(1)}),
        (lambda x, rng: rng.random() <= 0.25, {True: Fraction(1, 4), False: Fraction(3, 4)}),
        (lambda x, rng: rng.random() > 0.25, {True: Fraction(3, 4), False: Fraction(1, 4)}),
        (lambda x, rng: rng.random() >= 0.25, {True: Fraction(3, 4), False: Fraction(1, 4)}),
        (lambda x, rng: (rng.random() < 1.0, rng.random() < 0.0), {(True, False): Fraction(1)}),
        (lambda x, rng: x, {1: Fraction(1)}),
    ]
    for program, law in cases:
        assert chances_of(program, 1) == law

    def twice(x: int, rng: Any) -> tuple[bool, bool, bool]:
        u = rng.random()
        return u < 0.5, u < 0.5, u < 0.75

    assert chances_of(twice, 0) == {
        (True, True, True): half,
        (False, False, True): Fraction(1, 4),
        (False, False, False): Fraction(1, 4),
    }


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x, rng: rng.normal(), "rng.normal is drawn from and cannot be followed"),
        (
            lambda x, rng: tuple(rng.choice(3, 2, replace=False, p=[0.2, 0.3, 0.5])),
            "without replacement and with chances",
        ),
        (lambda x, rng: int(rng.integers(3, 3)), "ValueError: low >= high"),
        (lambda x, rng: tuple(rng.choice(2) for _ in range(25)), "it draws more than 24 times for one report"),
        (lambda x, rng: [x], "as they are of the type list: tuples can"),
    ],
)
def test_what_is_drawn_otherwise_is_not_followed(program: Any, words: str) -> None:
    with pytest.raises(UntraceableError, match=words):
        chances_of(program, 0)


def test_programs_may_draw_24_times() -> None:
    def first(x: int, rng: Any) -> int:
        return next((i for i in range(24) if rng.choice(2)), 24)

    law = chances_of(first, 0)
    assert law[23] == law[24] == Fraction(1, 2**24)


def keep(value: int, rng: Any) -> int:
    return value if rng.random() < 0.5 else int(rng.integers(4))


def test_a_program_that_is_followed_is_guessed_by_its_chances() -> None:
    """The own value with 5/8, each other with 1/8: at shares 7:1:1:1 the first is always guessed."""
    m = dn.Mechanism.from_functions(keep, lambda report: [report], k=4)
    assert m.guess().success == 0.625
    assert m.guess().blind == 0.25
    found = m.guess([0.7, 0.1, 0.1, 0.1])
    assert found.blind == 0.7
    assert found.success == pytest.approx(0.7, abs=1e-12)
    found = m.guess([0.4, 0.3, 0.2, 0.1])
    assert found.success == pytest.approx(0.4 * 5 / 8 + 0.3 * 5 / 8 + 0.2 * 5 / 8 + 0.1 * 5 / 8, abs=1e-12)
    assert m.properties(50) == m.effective(50)
    assert m.effective(50)["mse_sum"] == pytest.approx(4 * m.effective(50)["mse"])
    assert m.effective(50)["mse"] == pytest.approx(m.effective()["mse"] / 50)
    assert "measured" not in m.effective()
    with pytest.raises(dn.ParameterError, match="coins must be left out"):
        m.privatize_items(np.array([0]), dn.simulation(1), coins=[1])


def test_a_program_that_is_measured_tells_how_often() -> None:
    def noisy(value: int, rng: Any) -> tuple[int, ...]:
        bits = rng.normal(size=4) > 0.5
        bits[value] = rng.normal() > -0.5
        return tuple(np.flatnonzero(bits).tolist())

    m: Any = dn.Mechanism.from_functions(noisy, lambda report: report, k=4, epsilon=2.0, trials=1002)
    assert m.effective()["measured"]["reports"] == 1000, "as many of each value"
    own, other = 0.6914624612740131, 0.3085375387259869  # chances that a normal number is above -1/2, and above 1/2
    for name, exact in (("p", own), ("q", other), ("both_one", own * other), ("both_none", other**2)):
        assert abs(getattr(m.support, name) - exact) < 6 * m.seen.stderr[name] < 0.12
    n = {"p": 1000, "q": 3000, "both_one": 3000, "both_none": 3000}
    for name, trials in n.items():
        share = getattr(m.support, name)
        assert m.seen.stderr[name] == pytest.approx(math.sqrt(share * (1 - share) / trials), rel=1e-12)
    assert m.guess([0.4, 0.3, 0.2, 0.1]).success == 0.4, "nothing is claimed of what is not known"
    assert 0.3 < m.guess().success < 0.5
    with pytest.raises(dn.ParameterError, match="trials must be an integer >= 100"):
        dn.Mechanism.from_functions(noisy, lambda report: report, k=4, epsilon=2.0, trials=99)
    assert dn.Mechanism.from_functions(noisy, lambda report: report, k=4, epsilon=2.0, trials=100).epsilon == 2.0
    with pytest.raises(dn.ParameterError, match="name must be a short text"):
        dn.Mechanism.from_functions(noisy, lambda report: report, k=4, epsilon=2.0, name="n" * 61)


# ---- protocols


def test_people_are_divided_by_the_rounded_ends_of_shares() -> None:
    """1.5 of 15 people would be 2 in the first step, and 40 % of 9 are 4: the ends are rounded, not cut off."""
    p = dn.protocol("rcf", levels="0.5,1,2", shares="0.25,0.5,0.25", k=3)
    for people in (3, 7, 10, 15, 101):
        _, steps, tallies = p.run(np.zeros(people, np.int64), dn.simulation(1))
        ends = [0, *(round(people * c) for c in (0.25, 0.75, 1.0))]
        assert [tally.n for tally in tallies] == [b - a for a, b in pairwise(ends)]
        assert [step.name for step in steps] == ["level 0.5", "level 1", "level 2"]
    with pytest.raises(dn.ParameterError, match="people must be at least 3, one for each step, got 2"):
        p.run(np.zeros(2, np.int64), dn.simulation(1))


class Words:
    """A stream whose words are those that are given, one list after the other."""

    def __init__(self, *words: list[int]) -> None:
        self.words = list(words)

    def draw(self, bits: int, n: int) -> Any:
        assert bits == 64
        assert len(self.words[0]) == n
        return np.array(self.words.pop(0), np.uint64)


def test_an_order_is_that_of_random_words_which_all_differ() -> None:
    assert permutation(Words([30, 10, 20]), 3).tolist() == [1, 2, 0]  # type: ignore[arg-type]
    assert permutation(Words([30, 10, 30], [1, 3, 2]), 3).tolist() == [0, 2, 1]  # type: ignore[arg-type]
    assert permutation(Words([5]), 1).tolist() == [0]  # type: ignore[arg-type]
    assert permutation(Words([]), 0).tolist() == []  # type: ignore[arg-type]
    twice = Words([7, 7], [7, 7], [2, 1])
    assert permutation(twice, 2).tolist() == [1, 0]  # type: ignore[arg-type]
    assert twice.words == []


def test_a_step_and_a_protocol_as_plain_data() -> None:
    p = dn.protocol("rcf", levels="0.5,1", shares="0.25,0.75", k=3)
    assert p.first().document() == {
        "step": "level 0.5",
        "share": 0.25,
        "mechanism": "sue",
        "k": 3,
        "params": p.outline[0].mechanism.params,
    }
    assert p.params == {"levels": [0.5, 1.0], "shares": [0.25, 0.75]}
    assert p.proof.ratio == max(step.mechanism.proof.ratio or 0 for step in p.outline)
    assert p.proof.argument.startswith("everybody answers one step; ")
    assert "for one step" in p.protection.text or p.protection.steps == "one"
    several = dn.protocol("privkvm", epsilon=1.0, k=3, rounds=3)
    ratios = [step.mechanism.proof.ratio or 0 for step in several.outline]
    assert several.repeated
    assert several.proof.ratio == math.prod(ratios, start=Fraction(1))
    assert several.proof.argument.startswith("everybody answers every step, so the ratios multiply; ")
    assert several.protection.steps == "every"


def test_a_run_may_be_taken_up_after_steps_that_are_over() -> None:
    p: Any = dn.protocol("rcf", levels="0.5,1", shares="0.25,0.75", k=3)
    order, people = np.arange(20), np.arange(20) % 3
    _, steps, tallies = p.go_on(people, order, (), dn.simulation(1))
    assert ([step.name for step in steps], [t.n for t in tallies]) == (["level 0.5", "level 1"], [5, 15])
    _, rest, both = p.go_on(people, order, tallies[:1], dn.simulation(1))
    assert ([step.name for step in rest], [t.n for t in both]) == (["level 1"], [5, 15])
    assert both[0] is tallies[0]
