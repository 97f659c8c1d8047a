"""Interactions: what the law says, against all hashes and all reports; devices and many people alike."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.errors import FormatError, ParameterError
from deniable.mechanisms.survey.effects import Effects, best_buckets, centred, interaction_of
from deniable.mechanisms.survey.interaction import Interaction
from deniable.testing import StreamWords
from deniable_client.kernels import Interaction as Kernel

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tables.json").read_text())["settings"]


def made(sizes: Any, g: int | None = None, size: int | None = None, epsilon: float = 1.0) -> Interaction:
    return Interaction.optimal(epsilon=epsilon, sizes=sizes, g=g, size=size)


def falling(cells: int) -> list[Fraction]:
    return [Fraction(2 * (cells - i), cells * (cells + 1)) for i in range(cells)]


def shares(m: Interaction, f: list[Fraction]) -> list[Fraction]:
    """How often each cell is supported in a population, over all hashes and reports."""
    channel = m.channel()
    told = [sum((w * p for w, p in zip(row, f, strict=True)), Fraction(0)) / channel.total for row in channel.weights]
    held = channel.supported or ()
    return [sum((t for t, own in zip(told, held, strict=True) if x in own), Fraction(0)) for x in range(m.k)]


@pytest.mark.parametrize("case", [row for row in GOLDEN if row["kind"] == "interaction"], ids=lambda c: str(c["sizes"]))
def test_slope_and_variance_are_the_golden_ones(case: dict[str, Any]) -> None:
    told = made(case["sizes"], case["g"], case["size"], case["epsilon"]).properties()
    assert told["slope"] == pytest.approx(case["slope"], rel=1e-10)
    assert told["variance_population"] == pytest.approx(case["n_var_uniform"], rel=1e-10)


@pytest.mark.parametrize(
    ("sizes", "g", "size"), [((2, 2), 2, 1), ((3, 3), 3, 2), ((4, 2), 2, 1), ((3, 2), 2, 1), ((2, 2, 2), 2, 1)], ids=str
)
def test_support_is_linear_in_the_interaction_exactly(sizes: tuple[int, ...], g: int, size: int) -> None:
    """(T2) in fractions: base + slope times what is left of the table after its margins."""
    m = made(sizes, g, size)
    kernel, f = m.bulk.kernel, falling(m.k)
    ratio = kernel.lift
    p = size * ratio / (size * ratio + g - size)
    q = (size - p) / (g - 1)
    scale = Fraction(1)
    for own in kernel.padded:
        scale *= Fraction(own, own - 1)
    slope = (p - q) * Fraction(g - 1, g) * scale
    cells = list(product(*(range(own) for own in sizes)))
    for x, found in zip(cells, shares(m, f), strict=True):
        gamma = Fraction(0)
        for y, share in zip(cells, f, strict=True):
            term = share
            for a, b, own in zip(x, y, kernel.padded, strict=True):
                term *= (1 if a == b else 0) - Fraction(1, own)
            gamma += term
        assert found == Fraction(size, g) + slope * gamma


def test_margins_leave_no_trace() -> None:
    """Two populations with other margins and the same interaction: all hashes with all sets are equally likely."""
    m = made((3, 3), 3, 2)
    table = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]) + 0.02 * np.outer([1, -1, 0], [1, 0, -1])
    margins = np.outer([0.2, 0.3, 0.5], [1 / 3] * 3)
    other = margins + interaction_of(table, (3, 3))
    assert other.min() > 0
    assert np.abs(other.sum(axis=1) - table.sum(axis=1)).max() > 0.25
    laws = [m.channel().matrix().T @ f.reshape(-1) for f in (table, other, margins)]
    assert np.abs(laws[0] - laws[1]).max() < 1e-16
    assert np.abs(laws[0] - laws[2]).max() > 1e-5  # without the interaction the law is another one


def test_the_covariance_is_that_of_all_hashes() -> None:
    """(T5) for filled-up questions and for three buckets and more, where triples of cells count."""
    for sizes, g, size in (((3, 2), 3, 1), ((4, 3), 4, 2), ((3, 3), 2, 1)):
        m = made(sizes, g, size, 2.0)
        f = np.array([float(share) for share in falling(m.k)])
        channel = m.channel()
        held = np.array([[x in own for x in range(m.k)] for own in channel.supported or ()], float)
        true = np.einsum("y,yi,yj->ij", channel.matrix().T @ f, held, held)
        gamma = interaction_of(f.reshape(sizes), m.effects.padded)
        assert np.abs(m.bulk.effects.joint(gamma) - true).max() < 1e-13


def test_cost_is_the_variance_after_centring() -> None:
    for sizes, g, size in (((3, 3), 3, 1), ((3, 2), 2, 1), ((5, 4), 3, 1), ((2, 2, 3), 2, 1)):
        law = Effects.ideal(1.0, sizes, g, size)
        at = np.full(sizes, law.at_uniform)
        share = law.base + law.slope * at.reshape(-1)
        matrix = (law.joint(at) - np.outer(share, share)) / law.slope**2
        inner = centred(centred(matrix, sizes).T, sizes)
        assert law.cost() == pytest.approx(float(np.trace(inner)), rel=1e-12)
        assert np.diag(matrix).sum() == pytest.approx(law.variance() * np.prod(sizes), rel=1e-12)
        assert law.cost() <= law.variance() * np.prod(sizes) * (1 + 1e-12)


def test_the_best_buckets_are_the_best_of_all() -> None:
    """They may be more than the smaller question has answers."""
    assert best_buckets(4.0, (2, 9))[0] == best_buckets(4.0, (9, 2))[0] == 9
    for epsilon, sizes in ((0.5, (4, 6)), (2.0, (9, 5)), (4.0, (7, 7)), (2.0, (5, 7)), (1.0, (3, 2)), (2.0, (2, 3, 5))):
        g, size = best_buckets(epsilon, sizes)
        best = Effects.ideal(epsilon, sizes, g, size).cost()
        every = [Effects.ideal(epsilon, sizes, g, s).cost() for g in range(2, max(sizes) + 1) for s in range(1, g)]
        assert best == pytest.approx(min(every), rel=1e-12)


@pytest.mark.parametrize(
    ("sizes", "g", "size"),
    [((5, 4), 4, 1), ((3, 7), 3, 2), ((2, 3, 4), 2, 1), ((2, 3), 20, 7), ((2, 2), 70, 20)],
    ids=str,
)
def test_devices_and_many_people_send_cells_to_the_same_buckets(sizes: tuple[int, ...], g: int, size: int) -> None:
    m = made(sizes, g, size)
    kernel, rng = m.bulk.kernel, np.random.default_rng(5)
    items, seeds = np.arange(4 * m.k) % m.k, rng.integers(0, 1 << 63, 4 * m.k).astype(np.uint64)
    places = m.bulk.places(items, seeds)
    assert places.tolist() == [kernel.place(int(x), int(coin)) for x, coin in zip(items, seeds, strict=True)]
    words = StreamWords(dn.simulation(3))
    rows = [kernel.randomise(int(x), words) for x in items]
    reports = Reports.from_rows(m.design, m.fields, rows, simulated=True)
    held = m.bulk.members(reports.columns)
    for row, own in zip(rows, held, strict=True):
        coin, bits = int.from_bytes(row[:8], "little"), int.from_bytes(row[8:], "little")
        assert bits.bit_count() == size
        assert own.tolist() == [bool(bits >> kernel.place(x, coin) & 1) for x in range(m.k)]
    assert m.tally(reports).cells["support"][0].tolist() == held.sum(axis=0).tolist()


def test_balanced_hashes_are_balanced() -> None:
    """Every bucket has as many of the filled-up answers, whatever the seed: rows of interactions sum to zero."""
    m = made((6, 4), 2)
    reports = m.privatize_items(np.arange(500) % m.k, dn.simulation(8))
    value = m.estimate(m.tally(reports)).value.reshape(6, 4)
    assert np.abs(value.sum(axis=0)).max() < 1e-12
    assert np.abs(value.sum(axis=1)).max() < 1e-12


def test_reports_of_another_size_are_refused() -> None:
    m = made((3, 3), 3, 1)
    good = m.privatize_items(np.zeros(4, np.int64), dn.simulation(0))
    bad = good.columns["bits"].copy()
    bad[2] = 3
    assert m.bulk.possible({**good.columns, "bits": bad}).tolist() == [True, True, False, True]
    with pytest.raises(FormatError, match="not a set of 1 out of 3 buckets"):
        m.bulk.count({**good.columns, "bits": bad})
    bad[2] = 8
    assert not m.bulk.possible({**good.columns, "bits": bad})[2]


def test_what_cannot_be_is_refused_in_plain_words() -> None:
    cases = (("3", "2 to 8 questions"), ((3, 1), "at least 2 answers"), ((2,) * 9, "2 to 8"), ("a,b", "whole numbers"))
    for sizes, told in cases:
        with pytest.raises(ParameterError, match=told):
            dn.mechanism("interaction", epsilon=1.0, sizes=sizes)
    with pytest.raises(ParameterError, match="at most 1,048,576 cells"):
        made((2000, 2000))
    with pytest.raises(ParameterError, match="needs its own parameter sizes"):
        dn.mechanism("interaction", epsilon=1.0, k=9)
    with pytest.raises(ParameterError, match="g must be an integer from 2 to 4096, got 1"):
        made((3, 3), 1)
    with pytest.raises(ParameterError, match="size must be left out where g is"):
        made((3, 3), None, 1)
    with pytest.raises(ParameterError, match="the 9 cells"):
        Interaction(epsilon=1.0, domain=dn.Domain.of(8), sizes=(3, 3), g=3, size=1)
    m = made((3, 3))
    with pytest.raises(ParameterError, match="say nothing about margins"):
        m.fit(m.privatize([0, 1, 2], rng=dn.simulation(0)))
    with pytest.raises(ParameterError, match="of the same people"):
        m.cell([0, 1], [2])


@pytest.mark.parametrize(
    "given",
    [
        ((3,), 3, 1),
        ((2,) * 9, 2, 1),
        ((3, 1), 3, 1),
        ((1 << 31, 4), 2, 1),
        *(((3, 3), g, 1) for g in (1, 5000)),
        *(((3, 3), 3, size) for size in (0, 3, True)),
    ],
    ids=str,
)
def test_a_kernel_refuses_numbers_that_do_not_fit(given: Any) -> None:
    with pytest.raises(ParameterError, match="must be an integer from"):
        Kernel(*given, 1 << 63)


def test_it_is_large_enough_for_long_lists_of_answers() -> None:
    """Properties up to the largest epsilon that formulas take, and cells beyond what is enumerated."""
    big = made((300, 40), epsilon=2.0)
    told = big.properties(1000)
    assert 0 < told["mse"] < told["variance_population"]
    assert 1 / big.k < told["asr"] < np.e**2 / big.k
    assert made((3, 3), epsilon=300.0).properties()["asr"] <= 1
    assert Kernel.calibrate(1.0, (300, 40), 20, 5).padded == (300, 40)
