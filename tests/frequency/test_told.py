"""What is told of frequency oracles and how their parameters are chosen, against short formulas and long searches."""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.core.frontier import least_mse
from deniable.core.laws import balanced, epsilon_to, hashing
from deniable.core.selection import SELECTORS
from deniable.mechanisms.frequency.adaptive import _mixture_at
from deniable.mechanisms.frequency.affine import (
    OutdoneError,
    _candidates,
    _check_cells,
    _check_tolerance,
    _primes,
    best_numbers,
)
from deniable.mechanisms.frequency.costs import pull_noise
from deniable.mechanisms.frequency.curves import _whole, mixture_curve
from deniable.mechanisms.frequency.families import FAMILIES, _largest_range
from deniable.mechanisms.frequency.histogram import SHE, THE
from deniable.mechanisms.frequency.local_hashing import BalancedHashing, HashingBulk, LocalHashing
from deniable.mechanisms.frequency.mixture import check_sizes
from deniable.mechanisms.frequency.noise import check_reach, step_law, variance_of
from deniable.mechanisms.frequency.subset import IntervalSelection, SubsetSelection, check_size
from deniable.mechanisms.frequency.unary import Unary
from deniable.mechanisms.frequency.wheel import Wheel
from deniable.mechanisms.registry import MECHANISMS
from deniable_client.hashing import rounds
from deniable_client.kernels import Hashing, Laplace


def refused(words: str, fine: bool) -> Any:
    return nullcontext() if fine else pytest.raises(dn.ParameterError, match=words)


# ---- what reports cost, and what forged ones do


HELD: dict[str, tuple[dict[str, Any], int]] = {
    "grr": ({}, 1),
    "ss": ({"size": 3}, 3),
    "iss": ({"size": 3}, 3),
    "plh": ({"g": 3}, 4),
    "pgr": ({"prime": 3}, 4),
    "affine": ({"q": 11, "m": 5, "j": 1, "zero": 1}, 3),
    "ue": ({"p": 0.7}, 10),
    "lh": ({"g": 3}, 10),
    "the": ({"threshold": 0.6}, 10),
    "wheel": ({"arc": 0.25}, 10),
    "hr": ({}, 10),
}
"""Of ten answers a report supports at most so many that its forger chooses."""


@pytest.mark.parametrize("name", HELD)
def test_a_forged_report_adds_what_it_supports_less_what_chance_does(name: str) -> None:
    options, most = HELD[name]
    m: Any = dn.mechanism(name, epsilon=1.5, k=10, **options)
    for r in (1, 2, 4, 5, 10):
        expected = (min(r, most) - r * m.support.q) / (m.support.p - m.support.q)
        assert float(MECHANISMS[name].traits.pull(m, r)) == pytest.approx(expected, rel=1e-12)


def test_a_forged_noisy_report_adds_its_reach_to_every_target() -> None:
    m = SHE(epsilon=2.0, domain=Domain.of(4), grid=3, reach=40)
    assert [pull_noise(m, r) for r in (1, 3)] == [5.0, 15.0]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_mixture_of_one_size_lets_a_forger_do_what_that_size_does(size: int) -> None:
    one = dn.mechanism("ss", epsilon=1.5, k=7, size=size)
    same = dn.mechanism("ssmix", epsilon=1.5, k=7, size=size, share=0.0)
    for r in (1, 2, 3, 6, 7):
        wanted = float(MECHANISMS["ss"].traits.pull(one, r))
        assert float(MECHANISMS["ssmix"].traits.pull(same, r)) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "n", "steps"),
    [
        ("grr", {}, 7, 1),
        ("ss", {"size": 3}, 7, 3),
        ("ue", {"p": 0.7}, 7, 3),
        ("the", {}, 7, 3),
        ("ssmix", {"size": 3}, 7, 3),
        ("lh", {"g": 3}, 7, 4 * 20),
        ("wheel", {"arc": 0.25}, 7, 4 * 20),
        ("she", {}, 7, 20),
        ("hr", {}, 8, 1 + 32 * 5 / 8),
        ("plh", {"g": 3}, 7, 7 * 10 * rounds(20)),
        ("iss", {"size": 3}, 7, 3 * 10 * rounds(20)),
        ("affine", {"q": 23, "m": 2, "j": 1, "zero": 0}, 10, 1 + 5 * 46 * math.log2(46) / 10),
        ("pgr", {"prime": 3}, 10, 1 + 20 * 10 / 10),  # ten reports of 40 points
        ("pgr", {"prime": 3}, 1000, 1 + min(20 * 40, 2 * 4 * 3**5) / 1000),
    ],
)
def test_work_is_what_is_done_for_a_report_and_its_part_of_a_release(
    name: str, options: dict[str, Any], n: int, steps: float
) -> None:
    m = dn.mechanism(name, epsilon=1.0, k=20, **options)
    assert float(MECHANISMS[name].traits.work(m, n)) == pytest.approx(steps, rel=1e-12)


# ---- parameters by a rule, and by a search through all of them


def test_a_selector_reads_its_own_options_and_no_others() -> None:
    reads = {
        "weighted": {"weight", "normalize"},
        "tchebycheff": {"weight", "rho", "normalize"},
        "epsilon-constraint": {"limit"},
        "hypervolume": {"reference"},
    }
    given: dict[str, Any] = {"weight": 0.4, "limit": 0.5, "reference": (1, 9), "rho": 1e-3, "normalize": "log"}
    for select in SELECTORS:
        for option, value in given.items():
            with refused(f"{option} must be left out", option in reads.get(select, ())):
                dn.mechanism("ass", epsilon=1.0, k=6, select=select, **{option: value})


def test_a_rule_says_for_how_many_reports_its_choice_is_where_that_matters() -> None:
    raw = dn.mechanism("ass", epsilon=1.0, k=20, normalize="none", n=300).selection
    scaled = dn.mechanism("ass", epsilon=1.0, k=20, normalize="anchor", n=300).selection
    other = dn.mechanism("ass", epsilon=1.0, k=20, select="elbow", n=300).selection
    assert raw is not None
    assert scaled is not None
    assert other is not None
    assert raw["note"] == "raw objectives: the choice is for n = 300 reports and would be another for another n."
    assert scaled["note"] == ""
    assert other["note"] == "elbow reads raw objectives: the choice is for n = 300 reports."
    assert raw["reference"] == [1.0, 1.0]
    known = dn.mechanism("ass", epsilon=1.0, k=4, prior=[0.4, 0.3, 0.2, 0.1])
    assert known.selection is not None
    assert known.selection["prior"] == "given"
    assert known.selection["asr_under_prior"] == pytest.approx(known.guess([0.4, 0.3, 0.2, 0.1]).success, rel=1e-9)


@pytest.mark.parametrize("n", [1, 50])
@pytest.mark.parametrize("weight", [0.0, 0.3, 0.8, 0.99])
@pytest.mark.parametrize("scale", ["none", "anchor"])
def test_the_mixture_of_a_weight_has_the_least_objective(weight: float, n: int, scale: str) -> None:
    """Among 1,000 others; its objective is the weighted sum of its own best guess and error."""
    k, epsilon = 12, 1.0
    m: Any = dn.mechanism("ssmix", epsilon=epsilon, k=k, weight=weight, n=n, normalize=scale)
    least = dn.mechanism("ss", epsilon=epsilon, k=k, rounding="best")
    unit = (least.guess().success, least.properties(n)["mse"]) if scale == "anchor" else (1.0, 1.0)
    told = weight * m.asr / unit[0] + (1 - weight) * m.mse(n) / unit[1]
    assert m.selection["objective"] == pytest.approx(told, rel=1e-9)
    curve = mixture_curve(epsilon, k, np.linspace(1, k - 1e-9, 1000))
    others = weight * curve.asr / unit[0] + (1 - weight) * curve.mse / n / unit[1]
    assert told <= float(others.min()) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("k", "epsilon", "end"), [(100, 1.0, 100), (2, 3.0, 21), (4, 1.0, 4), (9, 700.0, (1 << 31) - 1)]
)
def test_the_authors_range_of_hashing_ends_at_the_domain_or_e_and_one(k: int, epsilon: float, end: int) -> None:
    assert _largest_range(k, epsilon) == end


def test_the_authors_guess_of_hashing_has_buckets_of_one_at_least() -> None:
    g = np.array([2.0, 5.0, 10.0, 20.0, 40.0])
    asr, mse = FAMILIES["alh"].objectives(10, 1.0, g, "paper")
    law = hashing(*epsilon_to(1.0), g)
    assert asr == pytest.approx(law.p / np.array([5, 2, 1, 1, 1]), rel=1e-12)
    assert mse == pytest.approx(law.mse_approx(), rel=1e-12)


def test_sizes_are_listed_one_by_one_and_then_on_a_ladder() -> None:
    assert _whole(1, 20_000).tolist() == list(range(1, 20_001))
    ladder = _whole(2, 100_000)
    assert ladder[:9998].tolist() == list(range(2, 10_000))
    assert ladder[-1] == 100_000
    steps = np.diff(ladder)
    assert steps.min() == 1
    assert (steps <= np.maximum(1, ladder[:-1] // 1000)).all()


def test_a_mixture_on_a_curve_is_a_size_and_the_share_of_the_next() -> None:
    curve = mixture_curve(1.0, 9)
    start = dn.mechanism("ss", epsilon=1.0, k=9, rounding="best").params["size"]
    assert np.asarray(curve.values) == pytest.approx(np.arange(4 * start, 36) / 4)
    assert curve.options(5) == {"size": start + 1, "share": 0.25}
    for i in (0, 3, 5):
        m = dn.mechanism("ssmix", epsilon=1.0, k=9, **curve.options(i))
        told = m.properties()
        assert [curve.mse[i], curve.asr[i], curve.bits[i]] == pytest.approx([told[n] for n in ("mse", "asr", "bits")])


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("k", [2, 3, 5, 12, 40])
def test_best_whole_numbers_are_those_of_a_search_through_all(k: int, epsilon: float) -> None:
    w, v = epsilon_to(epsilon)
    domain = Domain.of(k)
    blocks = [float(balanced(w, v, k, g).mse(k)) if g > 1 else math.inf for g in range(k + 1)]
    g = BalancedHashing.optimal(epsilon=epsilon, domain=domain).g
    assert blocks[g] == min(blocks)
    ranges = {u: float(hashing(w, v, u).mse(k)) for u in range(2, 400)}
    assert ranges[LocalHashing.optimal(epsilon=epsilon, domain=domain, rounding="best").g] == min(ranges.values())
    assert LocalHashing.optimal(epsilon=epsilon, domain=domain).g == round(math.exp(epsilon)) + 1
    share = k / (math.exp(epsilon) + 1)
    assert SubsetSelection.optimal(epsilon=epsilon, domain=domain).size == max(1, round(share))
    sizes = [SubsetSelection(epsilon=epsilon, domain=domain, size=s).mse() for s in range(1, k)]
    for best in (
        SubsetSelection.optimal(epsilon=epsilon, domain=domain, rounding="best"),
        IntervalSelection.optimal(epsilon=epsilon, domain=domain),
    ):
        assert sizes[best.size - 1] == pytest.approx(min(sizes), rel=1e-12)
    paper, wheel = (Wheel.optimal(epsilon=epsilon, domain=domain, rounding=r) for r in ("paper", "best"))  # type: ignore[arg-type]
    assert paper.arc == pytest.approx(1 / (math.exp(epsilon) + 1), rel=1e-12)
    arcs = [Wheel(epsilon=epsilon, domain=domain, arc=wheel.arc * step).mse() for step in (0.99, 1.0, 1.01)]
    assert arcs[1] == min(arcs)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_best_threshold_has_the_least_approximate_error(epsilon: float) -> None:
    best = THE.optimal(epsilon=epsilon, domain=Domain.of(5))
    near = [
        THE(epsilon=epsilon, domain=Domain.of(5), theta=best.theta * step).mse_approx() for step in (0.995, 1, 1.005)
    ]
    assert near[1] == min(near)
    assert 0.5 < best.theta < 1


# ---- affine response


def test_primes_are_the_odd_ones() -> None:
    assert _primes(0, 50) == [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    assert _primes(7, 7) == [7]
    assert _primes(8, 10) == []
    assert _primes(48, 49) == []


@pytest.mark.parametrize(
    ("q", "share", "most"), [(13, 0.27, 12), (13, 0.27, 4), (31, 0.02, 30), (31, 0.6, 100), (7, 0.9, 6)]
)
def test_blocks_near_a_share_are_looked_at_for_every_divisor(q: int, share: float, most: int) -> None:
    found = {tuple(row) for row in _candidates(q, share, most).tolist()}
    for _, m, j, zero in found:
        assert (q - 1) % m == 0
        assert m <= most
        assert 0 <= j < m
        assert j + zero > 0
    assert {m for _, m, _, _ in found} == {m for m in range(1, most + 1) if (q - 1) % m == 0}
    for m in {m for _, m, _, _ in found}:
        every = [(j, zero) for j in range(m) for zero in (0, 1) if j + zero > 0]
        size = {pair: pair[0] * ((q - 1) // m) + pair[1] for pair in every}
        below = [pair for pair in every if size[pair] <= share * q and pair[1] == 0]
        if below:
            best = max(below, key=lambda pair: size[pair])
            assert (q, m, *best) in found


def test_of_designs_within_a_tolerance_the_one_with_fewest_reports_is_taken() -> None:
    k, epsilon = 30, 1.0
    w, v = epsilon_to(epsilon)
    sizes = []
    for tolerance in (0.0, 0.001, 0.01, 0.1):
        numbers = best_numbers(k, w, v, w / (1 + w), lambda law: law.mse(k), tolerance=tolerance)
        assert numbers is not None
        sizes.append(numbers.m * numbers.q)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    few = best_numbers(k, w, v, w / (1 + w), lambda law: law.mse(k), cells=100)
    assert few is not None
    assert few.m * few.q <= 100
    assert best_numbers(k, w, v, w / (1 + w), lambda law: law.mse(k), cells=20) is None


def test_one_per_cent_more_error_than_the_least_is_refused_unless_more_is_tolerated() -> None:
    domain = Domain.of(10)
    m: Any = dn.mechanism("affine", epsilon=2.0, domain=domain, tolerance=0.1)
    assert 0.01 < m.mse() / least_mse(10, 2.0) - 1 <= 0.1
    with pytest.raises(OutdoneError, match="affine is not for 10 answers at this epsilon: its best design is") as found:
        dn.mechanism("affine", epsilon=2.0, domain=domain)
    assert found.value.hint == "Use grr."
    with pytest.raises(OutdoneError, match=r"above the least error, at most 60 reports being allowed\.") as sets:
        dn.mechanism("affine", epsilon=1.0, k=40, cells=60)
    assert sets.value.hint == "Use ss."
    with pytest.raises(OutdoneError, match=r"it has no design, at most 11 reports being allowed\.") as none:
        dn.mechanism("affine", epsilon=0.1, k=1000, cells=11)
    assert none.value.hint == "Use plh."
    assert dn.mechanism("affine", epsilon=9.0, k=5).params["q"] == 5, "randomised response, in other words"


def test_numbers_of_affine_are_given_all_or_none() -> None:
    for cells, fine in ((2, False), (3, True), (2.5, False)):
        with refused("cells must be an integer from 3 to", fine):
            _check_cells(cells)
    for tolerance, fine in ((-0.1, False), (0, True), (1, True), (1.1, False)):
        with refused("tolerance must be a number from 0 to 1", fine):
            _check_tolerance(tolerance)
    whole = {"q": 7, "m": 3, "j": 1, "zero": 0}
    assert dn.mechanism("affine", epsilon=1.0, k=6, **whole).params["g"] == 3, "the least root of 7"
    assert dn.mechanism("affine", epsilon=1.0, k=6, g=5, **whole).params["g"] == 5
    for name in ("cells", "tolerance"):
        with pytest.raises(dn.ParameterError, match=f"{name} must be left out where q is given, got 1"):
            dn.mechanism("affine", epsilon=1.0, k=6, **whole, **{name: 1})
    with pytest.raises(dn.ParameterError, match="numbers must be given with j, zero"):
        dn.mechanism("affine", epsilon=1.0, k=6, q=7, m=3)


def test_blocks_that_hold_no_answer_are_known() -> None:
    """On 13 points with blocks of three, of which four are answers."""
    m: Any = dn.mechanism("affine", epsilon=1.0, k=4, q=13, m=4, j=1, zero=0)
    held = m.channel().supported
    assert held is not None
    assert len(held) == 52
    assert m.covered(m.support) == pytest.approx(1 - sum(not some for some in held) / 52)
    assert 0.5 < m.covered(m.support) < 1
    assert (m.points, m.order) == (3, 52)


# ---- hashing


@pytest.mark.parametrize("g", [2, 3, 5, 1000, 65_537])
def test_answers_meet_as_often_as_shares_of_hash_values_say(g: int) -> None:
    bulk = HashingBulk(Hashing.calibrate(1.0, 5, g))
    small, more = divmod(1 << 32, g)
    meet = Fraction(small, 1 << 32) ** 2 * (g - more) + Fraction(small + 1, 1 << 32) ** 2 * more
    p = bulk.support.p
    other = (1 - p) / (g - 1)
    assert bulk.support.q == other + (p - other) * meet
    assert 0 <= meet - Fraction(1, g) <= bulk.channel_error < Fraction(1, 1 << 40)
    assert g != 1000 or meet - Fraction(1, g) > bulk.channel_error / 2


# ---- histograms


def test_thresholds_go_from_zero_to_one() -> None:
    for theta, fine in ((0, True), (1, True), (-0.01, False), (1.01, False), ("a", False)):
        with refused("threshold must be between 0 and 1", fine):
            dn.mechanism("the", epsilon=1.0, k=3, threshold=theta)


@pytest.mark.parametrize(("grid", "reach"), [(0, 30), (1, 60), (2, 130)])
def test_the_variance_of_noise_is_that_of_its_law(grid: int, reach: int) -> None:
    kernel = Laplace.calibrate(4.0, 2, grid=grid, reach=reach)
    (law, own), total = step_law(kernel)
    assert sum(law.values()) == sum(own.values()) == total
    assert all(law[step] == law[-step] for step in law)
    assert all(
        own[step] == law[step - (1 << grid)] for step in own if 0 < abs(step) < reach and step - (1 << grid) > -reach
    )
    assert own[-reach] < law[reach] < own[reach], "who has the answer is cut off above more often than below"
    mean = Fraction(sum(step * weight for step, weight in own.items()), total << grid)
    assert float(mean) == pytest.approx(1.0, abs=1e-9)
    exact = sum(Fraction(step, 1 << grid) ** 2 * Fraction(weight, total) for step, weight in law.items())
    assert variance_of(kernel) == pytest.approx(float(exact), rel=1e-9)
    assert variance_of(kernel) == pytest.approx(8 / 16, rel=0.5 if grid == 0 else 0.2)


def test_a_reach_cuts_off_nothing_that_is_ever_seen() -> None:
    """At epsilon 2 every unit is e times less likely than the one before: 28 units beyond the own one are enough."""
    for units, fine in ((27, False), (28, False), (30, True)):
        with refused(rf"reach must be many units .* got {units * 4} steps, {units} units", fine):
            check_reach(Laplace.calibrate(2.0, 2, grid=2, reach=units * 4))


def test_numbers_of_noisy_vectors_are_of_one_answer_or_of_all() -> None:
    m = dn.mechanism("she", epsilon=2.0, k=5, grid=4)
    for told, n in ((m.properties(10), 10), (m.effective(10), 10)):
        assert told["mse_sum"] == pytest.approx(5 * told["mse"], rel=1e-12)
        assert told["mse_approx"] == told["mse"]
        assert told["mse"] == pytest.approx(8 / 4 / n, rel=0.01)
    assert m.effective()["step"] == 1 / 16
    assert m.properties(10)["mse"] == 0.2


# ---- sets


@pytest.mark.parametrize(
    ("size", "fine"), [(0, False), (1, True), (4, True), (5, False), (True, False), (2.0, False), (np.int64(2), True)]
)
def test_a_set_has_from_one_to_all_but_one_answer(size: Any, fine: bool) -> None:
    with refused("size must be an integer from 1 to k-1 = 4", fine):
        assert check_size(size, 5) == size


def test_sets_may_be_told_as_intervals() -> None:
    assert type(dn.mechanism("ss", epsilon=1.0, k=6, encoding="interval")) is IntervalSelection
    assert type(dn.mechanism("ss", epsilon=1.0, k=6, size=2, encoding="interval")) is IntervalSelection
    assert type(dn.mechanism("ss", epsilon=1.0, k=6, encoding="bits")) is SubsetSelection
    for k, epsilon in ((100, 4.0), (10, 1.0)):
        assert (
            dn.mechanism("ss", epsilon=epsilon, k=k, encoding="interval").params
            == dn.mechanism("ss", epsilon=epsilon, k=k).params
        )


@pytest.mark.parametrize(
    ("support", "n", "larger", "fine"),
    [
        ([[2, 2, 2], [2, 2, 2]], [3, 2], True, True),
        ([[2, 2, 2], [2, 2, 2]], [3, 2], False, False),
        ([[0, 0, 0], [2, 2, 2]], [0, 2], False, False),
        ([[2, 2, 2], [0, 0, 0]], [3, 0], False, True),
        ([[2, 2, 1], [0, 0, 0]], [3, 0], True, False),
        ([[2, 2, 2], [2, 2, 1]], [3, 2], True, False),
        ([[4, 1, 1], [0, 0, 0]], [3, 0], True, False),
    ],
)
def test_sets_of_two_sizes_have_counts_of_their_own(support: Any, n: Any, larger: bool, fine: bool) -> None:
    with nullcontext() if fine else pytest.raises(dn.FormatError, match="reports give these counts"):
        check_sizes(np.array(support), np.array(n), 2, larger=larger)


def test_ends_of_shares_are_told() -> None:
    for share, fine in ((0, True), (0.999, True), (1, False), (-0.1, False)):
        with refused("share must be from 0 to below 1", fine):
            dn.mechanism("ssmix", epsilon=1.0, k=5, size=2, share=share)
    for arc, fine in ((0, False), (0.001, True), (0.999, True), (1, False)):
        with refused("arc must be between 0 and 1", fine):
            Wheel(epsilon=1.0, domain=Domain.of(3), arc=arc)
    for p, fine in ((0, False), (0.001, True), (0.999, True), (1, False)):
        with refused("p must be between 0 and 1", fine):
            Unary(epsilon=1.0, domain=Domain.of(3), p=p)
    for g, fine in ((1, False), (2, True), (7, True), (8, False)):
        with refused("g must be an integer from 2 to k = 7", fine):
            BalancedHashing(epsilon=1.0, domain=Domain.of(7), g=g)
    for prime, fine in ((2, True), (4, False), (1, False), (7, True), (9, False)):
        with refused("prime must be a prime number", fine):
            dn.mechanism("pgr", epsilon=1.0, k=5, prime=prime)


@pytest.mark.parametrize(
    ("arc", "ring", "steps"),
    [(0.01, 3, 1), (0.25, 3, 2), (0.5, 3, 4), (0.93, 3, 7), (0.99, 3, 7), (0.999999, 16, 65535)],
)
def test_an_arc_is_at_least_a_step_and_at_most_all_but_one(arc: float, ring: int, steps: int) -> None:
    m: Any = dn.mechanism("wheel", epsilon=1.0, k=3, arc=arc, ring=ring)
    assert m.bulk.kernel.arc == steps


# ---- best guesses


@pytest.mark.parametrize(
    ("name", "k", "options"),
    [
        *(("pgr", k, {"prime": prime}) for k, prime in ((3, 2), (3, 3), (4, 5), (6, 5), (5, 3), (8, 7), (9, 3))),
        *(("hr", k, {}) for k in (2, 3, 4)),
        *(("affine", k, {"q": 7, "m": 3, "j": 1, "zero": 0}) for k in (3, 5, 7)),
        *(("affine", k, {"q": 13, "m": 3, "j": 1, "zero": 1}) for k in (4, 9)),
    ],
)
def test_best_guesses_are_those_of_all_reports_also_of_reports_that_support_no_answer(
    name: str, k: int, options: dict[str, Any]
) -> None:
    """The largest joint chance of each report with a value, summed: under even and uneven priors."""
    m: Any = dn.mechanism(name, epsilon=1.0, k=k, **options)
    chances = m.bulk.channel().matrix()
    even, uneven = np.full(k, 1 / k), np.arange(k, 0, -1) / (k * (k + 1) / 2)
    assert m.asr == m.guess().success == pytest.approx((chances * even[:, None]).max(axis=0).sum(), rel=1e-9)
    for prior in (uneven, uneven[::-1]):
        wanted = (chances * prior[:, None]).max(axis=0).sum()
        assert m.guess(prior.tolist()).success == pytest.approx(wanted, rel=1e-9)


# ---- counts that are drawn without reports


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("grr", {}),
        ("ss", {"size": 3}),
        ("ue", {"p": 0.7}),
        ("hr", {}),
        ("pgr", {"prime": 2}),
        ("affine", {"q": 7, "m": 3, "j": 1, "zero": 0}),
    ],
)
def test_simulated_counts_have_the_means_of_reports_with_and_without_a_value(
    name: str, options: dict[str, Any]
) -> None:
    """100,000 people, seed 5: within 6 standard errors of each count (alpha below 1e-7); a swapped p is far off."""
    bulk: Any = dn.mechanism(name, epsilon=1.0, k=6, **options).bulk
    counts, blind = np.array([40_000, 0, 30_000, 5_000, 0, 5_000]), 20_000
    channel = bulk.channel()
    weights = bulk.blind_weights(channel)
    alone = [float(sum(w for w, held in zip(weights, channel.supported, strict=True) if x in held)) for x in range(6)]
    for missing in (0, blind):
        cells = bulk.simulate_counts(counts, dn.simulation(5), missing)
        assert cells["n"].tolist() == [counts.sum() + missing]
        bulk.refuse_impossible(cells)
        seen = bulk.support_counts(cells)
        p, q = float(bulk.support.p), float(bulk.support.q)
        mean = p * counts + q * (counts.sum() - counts) + missing * np.array(alone)
        assert np.abs(seen - mean).max() < 6 * math.sqrt(100_000) / 2


# ---- small print


def test_a_place_of_a_mixture_is_a_size_and_a_share() -> None:
    """A search knows it to about nine digits: nearer to a whole number it is that number."""
    for place, size, share in ((3.0, 3, 0.0), (3.25, 3, 0.25), (2.9999999999, 3, 0.0), (3.0000000001, 3, 0.0)):
        found = _mixture_at(place)
        assert (found.size, found.share) == (size, pytest.approx(share, abs=1e-12))
    assert _mixture_at(3.0005).share == pytest.approx(0.0005)
    assert _mixture_at(2.9995).size == 2


@pytest.mark.parametrize(("k", "shown"), [(2, "10"), (5, "10000"), (6, "100000"), (7, "100000..."), (40, "100000...")])
def test_a_witness_of_bits_shows_six_of_them(k: int, shown: str) -> None:
    assert dn.mechanism("oue", epsilon=1.0, k=k).proof.witness.output == f"report {shown}"


def test_counts_are_drawn_without_reports_where_the_law_can_be_written_out() -> None:
    known = {"grr", "ss", "oue", "hr", "pgr"}
    for name in (*known, "lh", "plh", "iss", "wheel", "she", "ssmix"):
        options: dict[str, Any] = {"g": 3} if name == "lh" else {}
        assert dn.mechanism(name, epsilon=1.0, k=6, **options).bulk.knows_counts == (name in known)
    assert dn.mechanism("affine", epsilon=1.0, k=1000).bulk.knows_counts
    assert not dn.mechanism("affine", epsilon=1.0, k=100_000).bulk.knows_counts


def test_public_seeds_are_as_many_as_there_are_to_be_dealt() -> None:
    m: Any = dn.mechanism("affine", epsilon=1.0, k=6, q=7, m=3, j=1, zero=0)
    assert m.bulk.coins == 3
    reports = m.privatize(np.arange(60) % 6, coins=np.arange(60) % 3, rng=dn.simulation(1))
    assert (np.asarray(reports.columns["value"], np.int64) // 7 == np.arange(60) % 3).all()
    for name in ("lh", "wheel", "plh"):
        options: dict[str, Any] = {"g": 3} if name == "lh" else {}
        made = dn.mechanism(name, epsilon=1.0, k=6, **options)
        assert made.bulk.coins == 1 << 64
    long = dn.mechanism("lh", epsilon=1.0, k=6, g=3)
    people = long.bulk.block + 5
    coins = np.arange(people, dtype=np.uint64)
    assert (
        long.privatize(np.zeros(people, np.int64), coins=coins, rng=dn.simulation(1)).columns["seed"] == coins
    ).all()


def test_noisy_vectors_that_no_device_sends_are_told_from_the_others() -> None:
    """By halves, as a batch is counted or not: whatever stands where, and however many they are."""
    bulk = SHE(epsilon=1.0, domain=Domain.of(2), grid=0, reach=3).bulk
    steps = np.array([[a, b] for a in range(-5, 6) for b in range(-5, 6)])
    columns = {"steps": (steps + (1 << 31)).astype("<u4").view(np.uint8).reshape(-1, 8)}
    for rows in (slice(None), slice(0, 1), slice(60, 61), slice(0, 0), slice(7, 90)):
        found = bulk.possible({"steps": columns["steps"][rows]})
        assert found.tolist() == (np.abs(steps[rows]).max(axis=1) <= 3).tolist()
    assert bulk.steps({"steps": columns["steps"][60:61]}).tolist() == [steps[60].tolist()]


def test_options_on_a_curve_are_plain_numbers() -> None:
    for name, option, kind in (("ss", "size", int), ("lh", "g", int), ("ue", "p", float), ("pgr", "prime", int)):
        curve = MECHANISMS[name].traits.curve
        assert curve is not None
        made = curve(1.0, 6).options(1)
        assert list(made) == [option]
        assert type(made[option]) is kind
        assert dn.mechanism(name, epsilon=1.0, k=6, **made).params[option] == made[option]
